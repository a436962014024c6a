//! A grammar as a tree: what a text of GBNF, a JSON Schema or a regular expression is turned into first.

use std::collections::HashMap;

use super::charset::CharSet;
use crate::tokenizer::TokenId;

/// The index of a node. Children are made before their parents, so a child's index is the smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeId(u32);

/// The index of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RuleId(pub(super) u32);

/// What a node matches. Ranges point into [`Ast`]'s lists.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// The empty text.
    Empty,
    /// These bytes, which are whole characters.
    Literal { start: u32, end: u32 },
    /// One character of the set (an index of [`Ast::sets`]).
    Set(u32),
    /// All children, one after the other.
    Seq { start: u32, end: u32 },
    /// One of the children.
    Alt { start: u32, end: u32 },
    /// The child at least `min` times, and at most `max` times if there is a `max`.
    Rep { child: NodeId, min: u32, max: Option<u32> },
    /// What the rule matches.
    Ref(RuleId),
    /// One whole token: this one, or if negated any other that does not end a generation.
    Token { id: TokenId, negated: bool },
}

/// A named rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub body: NodeId,
    /// Where its name stands in the text it was read from, in bytes.
    pub at: usize,
}

/// Rules over an arena of nodes. Nothing here is recursive, so that no text can nest too deep for it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ast {
    nodes: Vec<Node>,
    children: Vec<NodeId>,
    bytes: Vec<u8>,
    sets: Vec<CharSet>,
    set_ids: HashMap<CharSet, u32>,
    rules: Vec<Rule>,
}

impl Ast {
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.rules[id.0 as usize]
    }

    pub fn sets(&self) -> &[CharSet] {
        &self.sets
    }

    pub fn literal_bytes(&self, start: u32, end: u32) -> &[u8] {
        &self.bytes[start as usize..end as usize]
    }

    /// The children of a sequence, an alternation or a repetition.
    pub fn children<'a>(&'a self, node: &'a Node) -> &'a [NodeId] {
        match node {
            Node::Seq { start, end } | Node::Alt { start, end } => &self.children[*start as usize..*end as usize],
            Node::Rep { child, .. } => std::slice::from_ref(child),
            _ => &[],
        }
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub fn empty(&mut self) -> NodeId {
        self.add(Node::Empty)
    }

    pub fn literal(&mut self, text: &str) -> NodeId {
        if text.is_empty() {
            return self.empty();
        }
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text.as_bytes());
        self.add(Node::Literal { start, end: self.bytes.len() as u32 })
    }

    pub fn set(&mut self, set: CharSet) -> NodeId {
        let next = self.sets.len() as u32;
        let id = *self.set_ids.entry(set).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            next
        });
        self.add(Node::Set(id))
    }

    /// A node that no text matches.
    pub fn never(&mut self) -> NodeId {
        self.set(CharSet::default())
    }

    pub fn seq(&mut self, items: &[NodeId]) -> NodeId {
        match items {
            [] => self.empty(),
            [item] => *item,
            _ => {
                let (start, end) = self.add_children(items);
                self.add(Node::Seq { start, end })
            }
        }
    }

    /// One of the alternatives; of none, a node that no text matches.
    pub fn alt(&mut self, alternatives: &[NodeId]) -> NodeId {
        match alternatives {
            [] => self.never(),
            [alternative] => *alternative,
            _ => {
                let (start, end) = self.add_children(alternatives);
                self.add(Node::Alt { start, end })
            }
        }
    }

    pub fn rep(&mut self, child: NodeId, min: u32, max: Option<u32>) -> NodeId {
        match (min, max) {
            (_, Some(0)) => self.empty(),
            (1, Some(1)) => child,
            _ => self.add(Node::Rep { child, min, max }),
        }
    }

    pub fn reference(&mut self, rule: RuleId) -> NodeId {
        self.add(Node::Ref(rule))
    }

    pub fn token(&mut self, id: TokenId, negated: bool) -> NodeId {
        self.add(Node::Token { id, negated })
    }

    /// A new rule that matches nothing until it is [defined](Self::define).
    pub fn rule_named_at(&mut self, at: usize) -> RuleId {
        let body = self.never();
        self.rules.push(Rule { body, at });
        RuleId(self.rules.len() as u32 - 1)
    }

    pub fn define(&mut self, rule: RuleId, body: NodeId) {
        self.rules[rule.0 as usize].body = body;
    }

    pub fn locate(&mut self, rule: RuleId, at: usize) {
        self.rules[rule.0 as usize].at = at;
    }

    fn add_children(&mut self, items: &[NodeId]) -> (u32, u32) {
        let start = self.children.len() as u32;
        self.children.extend_from_slice(items);
        (start, self.children.len() as u32)
    }
}

impl NodeId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl RuleId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
