//! How far every state is from the end of its rule.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::grouped::Grouped;
use super::program::{ACCEPT, INFINITE, MAX_DISTANCE, Program};

/// Per state, the fewest bytes (or single tokens) that lead to an end of its rule or round, if only bytes in `usable`
/// can be read; [`INFINITE`] where there is no way.
///
/// Knuth's generalisation of Dijkstra's algorithm: a rule's value is the distance of its entry, and a call costs the
/// rule's value and the distance from where it comes back (D. Knuth, "A generalization of Dijkstra's algorithm", 1977).
pub(super) fn distances(program: &Program, usable: &[bool; 256]) -> Vec<u32> {
    let states = program.len() as usize;
    let into = Incoming::of(program, usable);
    let mut distances = vec![INFINITE; states];
    let mut values = vec![INFINITE; program.rules().len()];
    // Nodes of the search: states, and behind them rules.
    let mut open = BinaryHeap::new();
    open.push(Reverse((0, ACCEPT as usize)));
    open.extend((0..states).filter(|state| program.state(*state as u32).ends).map(|state| Reverse((0, state))));
    for (rule, counter) in program.rules().iter().enumerate().filter_map(|(rule, r)| Some((rule, r.counter?))) {
        if counter.min == 0 {
            open.push(Reverse((0, states + rule)));
        }
    }
    let mut entered = vec![Vec::new(); states];
    for (rule, of) in program.rules().iter().enumerate() {
        entered[of.entry as usize].push(rule);
    }
    while let Some(Reverse((distance, node))) = open.pop() {
        let settled = if node < states { &mut distances[node] } else { &mut values[node - states] };
        if *settled != INFINITE || distance > MAX_DISTANCE {
            continue;
        }
        *settled = distance;
        if node < states {
            open.extend(into.steps(node).iter().map(|from| Reverse((distance + 1, *from as usize))));
            for (from, rule) in into.backs(node).iter().filter(|(_, rule)| values[*rule as usize] != INFINITE) {
                open.push(Reverse((distance + values[*rule as usize], *from as usize)));
            }
            for rule in &entered[node] {
                let rounds = program.rule(*rule as u32).counter.map_or(1, |counter| counter.min);
                open.push(Reverse((distance.saturating_mul(rounds), states + rule)));
            }
        } else {
            for (from, back) in
                into.calls(node - states).iter().filter(|(_, back)| distances[*back as usize] != INFINITE)
            {
                open.push(Reverse((distance + distances[*back as usize], *from as usize)));
            }
        }
    }
    distances
}

/// The edges of a program, backwards.
struct Incoming {
    /// Per state, the states that reach it by a usable byte or a token.
    steps: Grouped<u32>,
    /// Per state, the calls that come back to it: the state they are made in, and the rule.
    backs: Grouped<(u32, u32)>,
    /// Per rule, its calls: the state they are made in, and where they come back to.
    calls: Grouped<(u32, u32)>,
}

impl Incoming {
    fn of(program: &Program, usable: &[bool; 256]) -> Self {
        let mut steps = Vec::new();
        let mut backs = Vec::new();
        let mut calls = Vec::new();
        for from in 0..program.len() {
            for edge in program.bytes(from) {
                if usable[usize::from(edge.low)..=usize::from(edge.high)].contains(&true) {
                    steps.push((edge.target, from));
                }
            }
            steps.extend(program.tokens(from).iter().map(|edge| (edge.target, from)));
            backs.extend(program.calls(from).iter().map(|call| (call.back, (from, call.rule))));
            calls.extend(program.calls(from).iter().map(|call| (call.rule, (from, call.back))));
        }
        let states = program.len() as usize;
        Self {
            steps: Grouped::of(states, steps),
            backs: Grouped::of(states, backs),
            calls: Grouped::of(program.rules().len(), calls),
        }
    }

    fn steps(&self, state: usize) -> &[u32] {
        self.steps.group(state)
    }

    fn backs(&self, state: usize) -> &[(u32, u32)] {
        self.backs.group(state)
    }

    fn calls(&self, rule: usize) -> &[(u32, u32)] {
        self.calls.group(rule)
    }
}
