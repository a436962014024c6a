//! Facts about a tree that hold for every text, and the faults that only show in the whole of it.
//!
//! All of it is linear in the size of the tree and free of recursion.

use super::ast::{Ast, Node, NodeId, RuleId};
use super::grouped::Grouped;
use super::parse::Fault;

/// What [`check`] finds out about a sound tree.
#[derive(Debug)]
pub(super) struct Facts {
    /// Per node: whether it matches the empty text.
    pub nullable: Vec<bool>,
    /// The rules from which no cycle of references can be reached: callees before their callers.
    pub acyclic: Vec<RuleId>,
}

/// Refuses rules that no text can satisfy and rules that call themselves before they have read anything.
pub(super) fn check(ast: &Ast) -> Result<Facts, Fault> {
    let links = Links::of(ast);
    let productive = links.least_fixpoint(ast, |node| match node {
        Node::Set(set) => !ast.sets()[*set as usize].is_empty(),
        Node::Empty | Node::Literal { .. } | Node::Token { .. } => true,
        _ => false,
    });
    if let Some(rule) = ast.rules().iter().find(|rule| !productive[rule.body.index()]) {
        let message = "no text can satisfy this rule";
        return Err(Fault::new(rule.at, message, "an alternative that comes to an end"));
    }
    let nullable = links.least_fixpoint(ast, |node| matches!(node, Node::Empty));
    let begins = |rule: RuleId| references(ast, rule, |children| leading(children, &nullable));
    if let Err(rule) = callees_first(ast, begins) {
        let message = "this rule calls itself before it has read anything (left recursion)";
        return Err(Fault::new(ast.rule(rule).at, message, "an item before the call, or a repetition instead of it"));
    }
    Ok(Facts { nullable, acyclic: acyclic(ast) })
}

/// Who uses a node: its parents, and for the body of a rule all references to the rule.
struct Links(Grouped<usize>);

impl Links {
    fn of(ast: &Ast) -> Self {
        let mut users = Vec::new();
        for (user, node) in ast.nodes().iter().enumerate() {
            match node {
                Node::Ref(rule) => users.push((ast.rule(*rule).body.index() as u32, user)),
                _ => users.extend(ast.children(node).iter().map(|child| (child.index() as u32, user))),
            }
        }
        Self(Grouped::of(ast.nodes().len(), users))
    }

    /// The least assignment in which a leaf holds if `leaf` says so, an alternation or reference holds if one thing it
    /// uses does, a sequence if all do, and a repetition if its child does or may be absent.
    fn least_fixpoint(&self, ast: &Ast, leaf: impl Fn(&Node) -> bool) -> Vec<bool> {
        let missing = |node: &Node| match node {
            Node::Seq { start, end } => end - start,
            Node::Rep { min: 0, .. } => 0,
            Node::Alt { .. } | Node::Rep { .. } | Node::Ref(_) => 1,
            leaf_node => u32::from(!leaf(leaf_node)),
        };
        let mut missing: Vec<u32> = ast.nodes().iter().map(missing).collect();
        let mut holds: Vec<bool> = missing.iter().map(|count| *count == 0).collect();
        let mut ready: Vec<usize> = (0..holds.len()).filter(|node| holds[*node]).collect();
        while let Some(node) = ready.pop() {
            for user in self.0.group(node).iter().copied() {
                missing[user] = missing[user].saturating_sub(1);
                if missing[user] == 0 && !std::mem::replace(&mut holds[user], true) {
                    ready.push(user);
                }
            }
        }
        holds
    }
}

/// The children of a sequence that can stand at the beginning of its text.
fn leading<'a>(children: &'a [NodeId], nullable: &[bool]) -> &'a [NodeId] {
    let first = children.iter().position(|child| !nullable[child.index()]);
    &children[..first.map_or(children.len(), |first| first + 1)]
}

/// The rules that a rule refers to; of a sequence, only in the children that `within` leaves.
fn references<'a>(ast: &'a Ast, rule: RuleId, within: impl Fn(&'a [NodeId]) -> &'a [NodeId]) -> Vec<RuleId> {
    let mut rules = Vec::new();
    let mut open = vec![ast.rule(rule).body];
    while let Some(node) = open.pop() {
        match ast.node(node) {
            Node::Ref(rule) => rules.push(*rule),
            node @ Node::Seq { .. } => open.extend(within(ast.children(node))),
            node => open.extend(ast.children(node)),
        }
    }
    rules
}

/// Visits all rules along their edges, callees first; fails with a rule that is on a cycle.
fn callees_first(ast: &Ast, callees: impl Fn(RuleId) -> Vec<RuleId>) -> Result<(), RuleId> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; ast.rules().len()];
    for rule in (0..states.len() as u32).map(RuleId) {
        if states[rule.index()] != State::New {
            continue;
        }
        states[rule.index()] = State::Open;
        let mut path = vec![(rule, callees(rule))];
        while let Some((rule, open)) = path.last_mut() {
            match open.pop() {
                None => {
                    states[rule.index()] = State::Done;
                    path.pop();
                }
                Some(callee) => match states[callee.index()] {
                    State::New => {
                        states[callee.index()] = State::Open;
                        path.push((callee, callees(callee)));
                    }
                    State::Open => return Err(callee),
                    State::Done => {}
                },
            }
        }
    }
    Ok(())
}

/// The rules from which no cycle can be reached, callees first (Kahn's algorithm).
fn acyclic(ast: &Ast) -> Vec<RuleId> {
    let mut callers: Vec<Vec<RuleId>> = vec![Vec::new(); ast.rules().len()];
    let mut open: Vec<usize> = vec![0; ast.rules().len()];
    for rule in (0..open.len() as u32).map(RuleId) {
        let callees = references(ast, rule, |children| children);
        open[rule.index()] = callees.len();
        callees.iter().for_each(|callee| callers[callee.index()].push(rule));
    }
    let mut order: Vec<RuleId> = (0..open.len() as u32).map(RuleId).filter(|rule| open[rule.index()] == 0).collect();
    let mut next = 0;
    while next < order.len() {
        for caller in &callers[order[next].index()] {
            open[caller.index()] -= 1;
            if open[caller.index()] == 0 {
                order.push(*caller);
            }
        }
        next += 1;
    }
    order
}
