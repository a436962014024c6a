//! The compiled form: for each rule an automaton over bytes, joined by calls (a recursive transition network).

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::run::Spelling;
use crate::tokenizer::TokenId;

/// The index of a state.
pub(super) type StateId = u32;

/// The state of a finished text. It has no edges.
pub(super) const ACCEPT: StateId = 0;

/// A distance that no text reaches.
pub(super) const INFINITE: u32 = u32::MAX;

/// The shortest text that a place in a grammar may need, in bytes. What needs more counts as impossible.
pub(super) const MAX_DISTANCE: u32 = 1 << 24;

/// Reads a byte in `low..=high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ByteEdge {
    pub target: StateId,
    pub low: u8,
    pub high: u8,
}

/// Reads what a rule matches, and goes on at `back`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Call {
    pub rule: u32,
    pub back: StateId,
}

/// Reads one whole token: the one named, or if negated any other that does not end a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct TokenEdge {
    pub target: StateId,
    pub id: TokenId,
    pub negated: bool,
}

/// Bounds of a counted repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counter {
    pub min: u32,
    pub max: Option<u32>,
    /// Where its rounds are counted; see [`Rounds`](super::rounds::Rounds).
    pub lane: u32,
}

/// A rule, or a counted repetition: its body is then what is repeated, and a frame in it counts the finished rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// Where its automaton begins. No edge leads back to it.
    pub entry: StateId,
    pub counter: Option<Counter>,
    /// Its place in an order in which every rule comes before those that it may call before reading a byte.
    pub order: u32,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    pub rule: u32,
    /// Whether the rule (or the round of a repetition) may end here.
    pub ends: bool,
    bytes: u32,
    calls: u32,
    tokens: u32,
}

/// A compiled grammar. Immutable.
#[derive(Debug)]
pub(super) struct Program {
    /// One more than there are states; the last only closes the ranges of edges.
    states: Vec<State>,
    bytes: Vec<ByteEdge>,
    calls: Vec<Call>,
    tokens: Vec<TokenEdge>,
    rules: Vec<Rule>,
    pub classes: Classes,
    /// Per bucket of characters, its spellings in classes of bytes.
    pub spellings: Vec<Vec<Spelling>>,
    /// Per state, the fewest bytes (or single tokens) from here to an end of its rule or round.
    pub distances: Arc<[u32]>,
}

/// All edges of one state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Edges {
    pub bytes: Vec<ByteEdge>,
    pub calls: Vec<Call>,
    pub tokens: Vec<TokenEdge>,
}

impl State {
    pub fn new(rule: u32, ends: bool) -> Self {
        Self { rule, ends, ..Self::default() }
    }
}

impl Program {
    /// The rule that a text is made from.
    pub const ROOT: u32 = 0;

    /// Joins states with their edges; `states[0]` is [`ACCEPT`]. Edges from which no end can be reached are dropped.
    pub fn new(states: Vec<(State, Edges)>, rules: Vec<Rule>) -> Self {
        let mut program = Self {
            states: Vec::with_capacity(states.len() + 1),
            bytes: Vec::new(),
            calls: Vec::new(),
            tokens: Vec::new(),
            rules,
            classes: Classes::default(),
            spellings: Vec::new(),
            distances: Arc::new([]),
        };
        for (state, edges) in &states {
            program.add(*state, edges);
        }
        program.add(State::default(), &Edges::default());
        program.distances = super::distance::distances(&program, &[true; 256]).into();
        program.prune();
        program.sort_rules();
        program.classes = Classes::of(&program);
        program.spellings = super::run::spellings(&program.classes);
        program
    }

    fn add(&mut self, state: State, edges: &Edges) {
        let (bytes, calls, tokens) = (self.bytes.len() as u32, self.calls.len() as u32, self.tokens.len() as u32);
        self.states.push(State { bytes, calls, tokens, ..state });
        self.bytes.extend_from_slice(&edges.bytes);
        self.calls.extend_from_slice(&edges.calls);
        self.tokens.extend_from_slice(&edges.tokens);
    }

    fn prune(&mut self) {
        let distances = self.distances.clone();
        let rules = &self.rules;
        let alive = |state: StateId| distances[state as usize] != INFINITE;
        let callable = |rule: u32| {
            let Rule { entry, counter, .. } = rules[rule as usize];
            counter.is_some_and(|counter| counter.min == 0) || alive(entry)
        };
        let mut pruned = Self {
            states: Vec::with_capacity(self.states.len()),
            bytes: Vec::new(),
            calls: Vec::new(),
            tokens: Vec::new(),
            rules: Vec::new(),
            classes: Classes::default(),
            spellings: Vec::new(),
            distances: Arc::new([]),
        };
        for state in 0..self.len() {
            let edges = Edges {
                bytes: self.bytes(state).iter().filter(|edge| alive(edge.target)).copied().collect(),
                calls: self
                    .calls(state)
                    .iter()
                    .filter(|call| alive(call.back) && callable(call.rule))
                    .copied()
                    .collect(),
                tokens: self.tokens(state).iter().filter(|edge| alive(edge.target)).copied().collect(),
            };
            pruned.add(self.states[state as usize], &edges);
        }
        pruned.add(State::default(), &Edges::default());
        (self.states, self.bytes, self.calls, self.tokens) = (pruned.states, pruned.bytes, pruned.calls, pruned.tokens);
    }

    /// Numbers the rules so that each comes before those that it may call before it has read anything. There is no
    /// cycle among them: left recursion has been refused.
    fn sort_rules(&mut self) {
        let leading = |rule: u32| self.calls(self.rules[rule as usize].entry);
        let mut order = Vec::with_capacity(self.rules.len());
        let mut seen = vec![false; self.rules.len()];
        for rule in 0..self.rules.len() as u32 {
            let mut path = Vec::new();
            if !std::mem::replace(&mut seen[rule as usize], true) {
                path.push((rule, 0));
            }
            while let Some((rule, next)) = path.last_mut() {
                let Some(call) = leading(*rule).get(*next) else {
                    order.push(*rule);
                    path.pop();
                    continue;
                };
                *next += 1;
                if !std::mem::replace(&mut seen[call.rule as usize], true) {
                    path.push((call.rule, 0));
                }
            }
        }
        for (place, rule) in order.iter().rev().enumerate() {
            self.rules[*rule as usize].order = place as u32;
        }
    }

    /// The number of states.
    pub fn len(&self) -> StateId {
        self.states.len() as StateId - 1
    }

    #[inline]
    pub fn state(&self, state: StateId) -> State {
        self.states[state as usize]
    }

    #[inline]
    pub fn bytes(&self, state: StateId) -> &[ByteEdge] {
        &self.bytes[self.range(state, |state| state.bytes)]
    }

    #[inline]
    pub fn calls(&self, state: StateId) -> &[Call] {
        &self.calls[self.range(state, |state| state.calls)]
    }

    #[inline]
    pub fn tokens(&self, state: StateId) -> &[TokenEdge] {
        &self.tokens[self.range(state, |state| state.tokens)]
    }

    #[inline]
    fn range(&self, state: StateId, start: impl Fn(&State) -> u32) -> Range<usize> {
        start(&self.states[state as usize]) as usize..start(&self.states[state as usize + 1]) as usize
    }

    #[inline]
    pub fn rule(&self, rule: u32) -> Rule {
        self.rules[rule as usize]
    }

    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The counter of the repetition that this state is part of.
    #[inline]
    pub fn counter(&self, state: StateId) -> Option<Counter> {
        self.rules[self.states[state as usize].rule as usize].counter
    }

    /// Whether anything can be read here, or the text is finished: a frame in any other state has no future of its own.
    #[inline]
    pub fn reads(&self, state: StateId) -> bool {
        state == ACCEPT || !self.bytes(state).is_empty() || !self.tokens(state).is_empty()
    }

    /// Whether bytes are all there is: no rule is called or ends here.
    #[inline]
    pub fn is_plain(&self, state: StateId) -> bool {
        !self.state(state).ends && self.calls(state).is_empty() && !self.bytes(state).is_empty()
    }

    /// Whether one byte after the other is read here and that is all.
    #[inline]
    pub fn is_word(&self, state: StateId) -> bool {
        self.is_plain(state) && self.tokens(state).is_empty()
    }

    /// Whether a call that comes back here is the last thing its rule does.
    #[inline]
    pub fn is_tail(&self, back: StateId) -> bool {
        let plain = self.state(back).ends && !self.reads(back) && self.calls(back).is_empty();
        plain && self.counter(back).is_none()
    }

    /// All token edges of the grammar.
    pub fn token_edges(&self) -> &[TokenEdge] {
        &self.tokens
    }
}

/// Bytes that no edge of a grammar tells apart, as classes; the smallest byte of each ascends with its number.
#[derive(Debug, Default)]
pub(super) struct Classes {
    of: Vec<u8>,
    representatives: Vec<u8>,
    /// For each number up to 256, how many classes have a smaller byte.
    before: Vec<u16>,
}

impl Classes {
    fn of(program: &Program) -> Self {
        let mut sets: HashSet<Vec<(u8, u8)>> = HashSet::new();
        for state in 0..program.len() {
            // Edges of a state are sorted by target.
            for edges in program.bytes(state).chunk_by(|a, b| a.target == b.target) {
                let ranges: Vec<(u8, u8)> = edges.iter().map(|edge| (edge.low, edge.high)).collect();
                if !sets.contains(&ranges) {
                    sets.insert(ranges);
                }
            }
        }
        // Split every class into what is inside and outside of each set.
        let mut of = vec![0u8; 256];
        let mut count = 1usize;
        for ranges in sets {
            let mut inside = [false; 256];
            ranges.iter().for_each(|(low, high)| inside[usize::from(*low)..=usize::from(*high)].fill(true));
            let mut outside_of = [false; 256];
            (0..256).filter(|byte| !inside[*byte]).for_each(|byte| outside_of[usize::from(of[byte])] = true);
            let mut split = [None; 256];
            for byte in (0..256).filter(|byte| inside[*byte]) {
                let class = usize::from(of[byte]);
                if outside_of[class] {
                    of[byte] = *split[class].get_or_insert_with(|| {
                        count += 1;
                        (count - 1) as u8 // at most 256 classes of 256 bytes
                    });
                }
            }
        }
        // Numbered in the order of their smallest bytes.
        let mut number = vec![None; count];
        let mut representatives = Vec::with_capacity(count);
        for (byte, class) in (0..=255u8).zip(&mut of) {
            *class = *number[usize::from(*class)].get_or_insert_with(|| {
                representatives.push(byte);
                (representatives.len() - 1) as u8
            });
        }
        let before = |byte: u16| representatives.partition_point(|other| u16::from(*other) < byte) as u16;
        let before = (0..=256).map(before).collect();
        Self { of, representatives, before }
    }

    /// The classes whose smallest bytes are in a range.
    #[inline]
    pub fn beginning_in(&self, low: u8, high: u8) -> Range<usize> {
        self.before[usize::from(low)].into()..self.before[usize::from(high) + 1].into()
    }

    #[inline]
    pub fn class(&self, byte: u8) -> usize {
        usize::from(self.of[usize::from(byte)])
    }

    /// The smallest byte of a class.
    #[inline]
    pub fn representative(&self, class: usize) -> u8 {
        self.representatives[class]
    }
}
