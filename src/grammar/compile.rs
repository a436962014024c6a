//! Tree → program.
//!
//! 1. Every rule that no cycle can be reached from is copied into its callers, if that is small or happens once; the
//!    others stay rules of their own that are called.
//! 2. A repetition is unrolled while that is small; a larger one becomes a rule with a counter.
//! 3. Sets of characters become byte ranges that share their ends, so that a cut character needs no special case.
//! 4. Empty steps are removed. A call of a rule that matches the empty text is an empty step, too: after this no rule
//!    ever has to be left at the place where it was entered.
//! 5. States from which the same is read are joined, so that a repetition is the same place before its first round and
//!    after each: whatever is learnt of one is then known of the other.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::ast::{Ast, Node, NodeId, RuleId};
use super::check::Facts;
use super::grouped::Grouped;
use super::matcher::SmallHasher;
use super::parse::Fault;
use super::program::{ByteEdge, Call, Counter, Edges, Program, Rule, State, StateId, TokenEdge};
use super::rounds::Rounds;
use super::utf8::{ByteRanges, byte_ranges};

/// The most states that a grammar may be compiled to: about 30 MB. Ours have hundreds.
pub const MAX_STATES: usize = 1 << 20;

/// The most edges that a grammar may be compiled to: about 50 MB.
pub const MAX_EDGES: usize = 1 << 22;

/// The most empty steps that are followed to remove them: half a second's work. Ours have hundreds.
const MAX_EMPTY_STEPS: usize = 1 << 26;

/// A rule that weighs at most this is copied wherever it is used; about one string of JSON.
const INLINE_WEIGHT: u32 = 64;

/// A counted repetition is unrolled if there are at most so many copies,
const UNROLL_COPIES: u32 = 4;
/// and they weigh at most this.
const UNROLL_WEIGHT: u32 = 64;

/// How often states are compared: after each time there may be new equals one step before those that were joined.
const JOINING_PASSES: usize = 4;

/// Compiles a tree that has been checked.
pub(super) fn compile(ast: &Ast, facts: &Facts, root: RuleId) -> Result<Program, Fault> {
    let mut builder = Builder::new(ast, facts);
    builder.called(root);
    while let Some((node, from, to)) = builder.open.pop() {
        builder.emit(node, from, to);
        if builder.rule_of.len() > MAX_STATES {
            let states = builder.rule_of.len() as u64;
            return Err(Fault::limit(0, "the grammar is too large, in states", states, MAX_STATES as u64));
        }
    }
    builder.finish()
}

/// A rule while it is built: a node between two states.
struct Draft {
    entry: StateId,
    exit: StateId,
    counter: Option<Counter>,
}

struct Builder<'a> {
    ast: &'a Ast,
    facts: &'a Facts,
    /// Per rule of the tree, whether it is copied into its callers.
    inline: Vec<bool>,
    /// Per node, about how many states it becomes.
    weights: Vec<u32>,
    drafts: Vec<Draft>,
    draft_of: HashMap<RuleId, u32>,
    draft_of_repetition: HashMap<NodeId, u32>,
    /// Nodes still to be put between two states.
    open: Vec<(NodeId, StateId, StateId)>,
    /// Per state, the draft it belongs to.
    rule_of: Vec<u32>,
    empty: Vec<(StateId, StateId)>,
    bytes: Vec<(StateId, ByteEdge)>,
    calls: Vec<(StateId, Call)>,
    tokens: Vec<(StateId, TokenEdge)>,
    sequences: HashMap<u32, Vec<ByteRanges>>,
}

impl<'a> Builder<'a> {
    fn new(ast: &'a Ast, facts: &'a Facts) -> Self {
        let mut builder = Self {
            ast,
            facts,
            inline: vec![false; ast.rules().len()],
            weights: vec![0; ast.nodes().len()],
            drafts: Vec::new(),
            draft_of: HashMap::new(),
            draft_of_repetition: HashMap::new(),
            open: Vec::new(),
            rule_of: Vec::new(),
            empty: Vec::new(),
            bytes: Vec::new(),
            calls: Vec::new(),
            tokens: Vec::new(),
            sequences: HashMap::new(),
        };
        builder.weigh();
        builder
    }

    /// Weighs all nodes and decides which rules are copied, callees before callers.
    fn weigh(&mut self) {
        let mut uses = vec![0u32; self.ast.rules().len()];
        for node in self.ast.nodes() {
            if let Node::Ref(rule) = node {
                uses[rule.index()] += 1;
            }
        }
        for rule in &self.facts.acyclic {
            let weight = self.weigh_below(self.ast.rule(*rule).body);
            self.inline[rule.index()] = uses[rule.index()] <= 1 || weight <= INLINE_WEIGHT;
        }
        for rule in self.ast.rules() {
            self.weigh_below(rule.body);
        }
    }

    fn weigh_below(&mut self, root: NodeId) -> u32 {
        let mut open = vec![(root, false)];
        while let Some((id, children_done)) = open.pop() {
            let node = self.ast.node(id);
            if !children_done {
                if self.weights[id.index()] == 0 {
                    open.push((id, true));
                    open.extend(self.ast.children(node).iter().map(|child| (*child, false)));
                }
                continue;
            }
            let of_children = |weights: &[u32]| {
                let all = self.ast.children(node).iter().map(|child| weights[child.index()]);
                all.fold(0u32, u32::saturating_add)
            };
            self.weights[id.index()] = match node {
                Node::Empty | Node::Token { .. } => 1,
                Node::Literal { start, end } => end - start,
                Node::Set(set) => 2 * self.ast.sets()[*set as usize].ranges().len() as u32 + 1,
                Node::Seq { .. } | Node::Alt { .. } => of_children(&self.weights).max(1),
                Node::Rep { child, min, max } => {
                    let weight = self.weights[child.index()];
                    unrolled_weight(weight, *min, *max).unwrap_or(1)
                }
                Node::Ref(rule) if self.inline[rule.index()] => self.weights[self.ast.rule(*rule).body.index()],
                Node::Ref(_) => 1,
            };
        }
        self.weights[root.index()]
    }

    fn new_state(&mut self, rule: u32) -> StateId {
        self.rule_of.push(rule);
        self.rule_of.len() as StateId - 1
    }

    fn new_draft(&mut self, body: NodeId, counter: Option<Counter>) -> u32 {
        let rule = self.drafts.len() as u32;
        let (entry, exit) = (self.new_state(rule), self.new_state(rule));
        self.drafts.push(Draft { entry, exit, counter });
        self.open.push((body, entry, exit));
        rule
    }

    /// The draft of a rule that is called.
    fn called(&mut self, rule: RuleId) -> u32 {
        if let Some(draft) = self.draft_of.get(&rule) {
            return *draft;
        }
        let draft = self.new_draft(self.ast.rule(rule).body, None);
        self.draft_of.insert(rule, draft);
        draft
    }

    /// The draft of a counted repetition. If its body can be empty, then so can each round that must be there: only
    /// rounds that read something are counted, and none of them is required.
    fn counted(&mut self, node: NodeId, child: NodeId, min: u32, max: Option<u32>) -> (u32, bool) {
        let min = if self.facts.nullable[child.index()] { 0 } else { min };
        if let Some(draft) = self.draft_of_repetition.get(&node) {
            return (*draft, min == 0);
        }
        let lane = self.draft_of_repetition.len() as u32 % Rounds::LANES;
        let draft = self.new_draft(child, Some(Counter { min, max, lane }));
        self.draft_of_repetition.insert(node, draft);
        (draft, min == 0)
    }

    fn call(&mut self, from: StateId, to: StateId, rule: u32, nullable: bool) {
        self.calls.push((from, Call { rule, back: to }));
        if nullable {
            self.empty.push((from, to));
        }
    }

    /// Puts a node between two states.
    fn emit(&mut self, id: NodeId, from: StateId, to: StateId) {
        let rule = self.rule_of[from as usize];
        let node = self.ast.node(id);
        match *node {
            Node::Empty => self.empty.push((from, to)),
            Node::Literal { start, end } => {
                let bytes = self.ast.literal_bytes(start, end);
                let mut at = from;
                for (i, byte) in bytes.iter().enumerate() {
                    let target = if i + 1 == bytes.len() { to } else { self.new_state(rule) };
                    self.bytes.push((at, ByteEdge { low: *byte, high: *byte, target }));
                    at = target;
                }
            }
            Node::Set(set) => self.emit_set(set, from, to),
            Node::Seq { .. } => {
                let children = self.ast.children(node);
                let mut at = from;
                for (i, child) in children.iter().enumerate() {
                    let target = if i + 1 == children.len() { to } else { self.new_state(rule) };
                    self.open.push((*child, at, target));
                    at = target;
                }
            }
            Node::Alt { .. } => self.open.extend(self.ast.children(node).iter().map(|child| (*child, from, to))),
            Node::Rep { child, min, max } => {
                if unrolled_weight(self.weights[child.index()], min, max).is_some() {
                    self.unroll(child, min, max, from, to);
                } else {
                    let (draft, nullable) = self.counted(id, child, min, max);
                    self.call(from, to, draft, nullable);
                }
            }
            Node::Ref(callee) => {
                let body = self.ast.rule(callee).body;
                if self.inline[callee.index()] {
                    self.open.push((body, from, to));
                } else {
                    let draft = self.called(callee);
                    self.call(from, to, draft, self.facts.nullable[body.index()]);
                }
            }
            Node::Token { id, negated } => self.tokens.push((from, TokenEdge { target: to, id, negated })),
        }
    }

    fn unroll(&mut self, child: NodeId, min: u32, max: Option<u32>, from: StateId, to: StateId) {
        let rule = self.rule_of[from as usize];
        let mut at = from;
        let required = if max.is_none() { min.saturating_sub(1) } else { min };
        for _ in 0..required {
            let next = self.new_state(rule);
            self.open.push((child, at, next));
            at = next;
        }
        match max {
            Some(max) => {
                for _ in min..max {
                    let next = self.new_state(rule);
                    self.empty.push((at, to));
                    self.open.push((child, at, next));
                    at = next;
                }
                self.empty.push((at, to));
            }
            // The last required round loops; both of its ends are new, so that nothing else is drawn into the loop.
            None => {
                let (first, last) = (self.new_state(rule), self.new_state(rule));
                self.open.push((child, first, last));
                self.empty.extend([(at, first), (last, first), (last, to)]);
                if min == 0 {
                    self.empty.push((at, to));
                }
            }
        }
    }

    fn emit_set(&mut self, set: u32, from: StateId, to: StateId) {
        let rule = self.rule_of[from as usize];
        let ast = self.ast;
        let sequences = self.sequences.remove(&set).unwrap_or_else(|| byte_ranges(ast.sets()[set as usize].ranges()));
        // States that read a given range and then go to a given state: ends of sequences are shared.
        let mut shared: HashMap<(u8, u8, StateId), StateId> = HashMap::new();
        for ranges in &sequences {
            let mut target = to;
            for (low, high) in ranges[1..].iter().rev() {
                target = *shared.entry((*low, *high, target)).or_insert_with(|| {
                    let state = self.new_state(rule);
                    self.bytes.push((state, ByteEdge { low: *low, high: *high, target }));
                    state
                });
            }
            self.bytes.push((from, ByteEdge { low: ranges[0].0, high: ranges[0].1, target }));
        }
        self.sequences.insert(set, sequences);
    }

    /// Removes empty steps, and with them the states that only they lead to.
    fn finish(self) -> Result<Program, Fault> {
        let states = self.rule_of.len();
        let steps_back = self.bytes.iter().map(|(_, edge)| edge.target);
        let calls_back = self.calls.iter().map(|(_, call)| call.back);
        let tokens_back = self.tokens.iter().map(|(_, edge)| edge.target);
        let entries = self.drafts.iter().map(|draft| draft.entry);
        let mut kept = vec![false; states];
        entries.chain(steps_back).chain(calls_back).chain(tokens_back).for_each(|state| kept[state as usize] = true);
        // New numbers; 0 is the accepting state.
        let mut number = vec![0; states];
        let mut count = 0;
        for state in (0..states).filter(|state| kept[*state]) {
            count += 1;
            number[state] = count;
        }

        let empty = Grouped::of(states, self.empty);
        let bytes = Grouped::of(states, self.bytes);
        let calls = Grouped::of(states, self.calls);
        let tokens = Grouped::of(states, self.tokens);
        let mut exits = vec![false; states];
        self.drafts.iter().for_each(|draft| exits[draft.exit as usize] = true);
        let mut round_entries = vec![false; states];
        let counted = self.drafts.iter().filter(|draft| draft.counter.is_some());
        counted.for_each(|draft| round_entries[draft.entry as usize] = true);

        let mut compiled = vec![(State::default(), Edges::default())];
        let mut edge_count = 0;
        let mut empty_steps = 0;
        let mut visited = vec![0; states];
        for state in (0..states).filter(|state| kept[*state]) {
            let mut edges = Edges::default();
            let mut ends = false;
            let mut open = vec![state as StateId];
            while let Some(at) = open.pop() {
                let at = at as usize;
                if std::mem::replace(&mut visited[at], number[state]) == number[state] {
                    continue;
                }
                ends |= exits[at];
                open.extend_from_slice(empty.group(at));
                empty_steps += empty.group(at).len();
                let step = |edge: &ByteEdge| ByteEdge { target: number[edge.target as usize], ..*edge };
                let call = |call: &Call| Call { back: number[call.back as usize], ..*call };
                let token = |edge: &TokenEdge| TokenEdge { target: number[edge.target as usize], ..*edge };
                edges.bytes.extend(bytes.group(at).iter().map(step));
                edges.calls.extend(calls.group(at).iter().map(call));
                edges.tokens.extend(tokens.group(at).iter().map(token));
                let reached = edges.bytes.len() + edges.calls.len() + edges.tokens.len();
                if edge_count + reached > MAX_EDGES {
                    let edges = (edge_count + reached) as u64;
                    return Err(Fault::limit(0, "the grammar is too large, in edges", edges, MAX_EDGES as u64));
                }
                if empty_steps > MAX_EMPTY_STEPS {
                    let (steps, limit) = (empty_steps as u64, MAX_EMPTY_STEPS as u64);
                    return Err(Fault::limit(0, "the grammar is too large, in empty steps", steps, limit));
                }
            }
            tidy(&mut edges);
            edge_count += edges.bytes.len() + edges.calls.len() + edges.tokens.len();
            // A round that reads nothing is none: at its very beginning no round ends.
            ends &= !round_entries[state];
            compiled.push((State::new(self.rule_of[state], ends), edges));
        }
        let rule = |draft: &Draft| Rule { entry: number[draft.entry as usize], counter: draft.counter, order: 0 };
        let mut rules: Vec<Rule> = self.drafts.iter().map(rule).collect();
        for _ in 0..JOINING_PASSES {
            if !join_equal(&mut compiled, &mut rules) {
                break;
            }
        }
        Ok(Program::new(compiled, rules))
    }
}

/// What a repetition weighs if it is unrolled, `None` if it should be counted instead.
fn unrolled_weight(child: u32, min: u32, max: Option<u32>) -> Option<u32> {
    let copies = max.unwrap_or(min.max(1));
    let weight = child.saturating_mul(copies);
    (copies <= 1 || (copies <= UNROLL_COPIES && weight <= UNROLL_WEIGHT)).then_some(weight)
}

/// Joins the states of a rule that have the same edges. The accepting state and the entries of rules, which mark the
/// beginning of a round, stay apart. Returns whether there were any.
fn join_equal(states: &mut Vec<(State, Edges)>, rules: &mut [Rule]) -> bool {
    let mut apart = vec![false; states.len()];
    apart[0] = true;
    rules.iter().for_each(|rule| apart[rule.entry as usize] = true);
    let mut number = Vec::with_capacity(states.len());
    let mut first: HashMap<_, StateId, BuildHasherDefault<SmallHasher>> = HashMap::default();
    let mut kept = Vec::with_capacity(states.len());
    for (i, (state, edges)) in states.iter().enumerate() {
        let new = kept.len() as StateId;
        number.push(if apart[i] { new } else { *first.entry((state.rule, state.ends, edges)).or_insert(new) });
        if number[i] == new {
            kept.push(i);
        }
    }
    if kept.len() == states.len() {
        return false;
    }
    *states = kept.into_iter().map(|i| (states[i].0, std::mem::take(&mut states[i].1))).collect();
    for (_, edges) in states {
        edges.bytes.iter_mut().for_each(|edge| edge.target = number[edge.target as usize]);
        edges.calls.iter_mut().for_each(|call| call.back = number[call.back as usize]);
        edges.tokens.iter_mut().for_each(|edge| edge.target = number[edge.target as usize]);
        tidy(edges);
    }
    rules.iter_mut().for_each(|rule| rule.entry = number[rule.entry as usize]);
    true
}

/// Sorts the edges of a state by target, without repeats and with touching ranges joined.
fn tidy(edges: &mut Edges) {
    edges.bytes.sort_unstable();
    edges.bytes.dedup_by(|next, edge| {
        let joins = next.target == edge.target && u16::from(next.low) <= u16::from(edge.high) + 1;
        if joins {
            edge.high = edge.high.max(next.high);
        }
        joins
    });
    edges.calls.sort_unstable();
    edges.calls.dedup();
    edges.tokens.sort_unstable();
    edges.tokens.dedup();
}
