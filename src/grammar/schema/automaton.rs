//! Texts that several expressions describe, or do not describe, at once: automata over characters.
//!
//! Each expression becomes a nondeterministic automaton (Thompson's construction). Their product with a counter of
//! characters is explored as far as it can be reached (the subset construction), and what leads to no end is cut off.

use std::collections::{BTreeMap, HashMap};

use super::shape::Counts;
use crate::grammar::charset::CharSet;
use crate::grammar::expr::Expr;

/// The most states of a product.
const MAX_STATES: usize = 8_000;

/// The most states of one expression's automaton: counts are unrolled.
const MAX_PLACES: usize = 20_000;

/// The last code point, and one more.
const BEYOND: u32 = 0x11_0000;

/// Texts that an expression over characters describes, or if negated all others.
#[derive(Clone, Debug)]
pub(super) struct Texts {
    pub content: Expr,
    pub negated: bool,
}

/// A deterministic automaton; it starts in the first state. Without states, no text is accepted.
#[derive(Debug)]
pub(super) struct Automaton {
    pub states: Vec<State>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub accepts: bool,
    /// Disjoint sets of characters, and the state that each leads to.
    pub edges: Vec<(CharSet, u32)>,
}

impl Automaton {
    /// Without the states from which no end can be reached.
    pub fn new(states: Vec<State>) -> Self {
        Self { states: trimmed(states) }
    }
}

/// The automaton of the texts that are in all of these languages and have so many characters; `None` if it is too large.
pub(super) fn intersection(texts: &[Texts], length: Counts) -> Option<Automaton> {
    let languages = texts.iter().map(|texts| Some((Nfa::new(&texts.content)?, texts.negated)));
    product(&languages.collect::<Option<Vec<_>>>()?, length)
}

/// The automaton of the texts that an expression describes and an automaton accepts; `None` if it is too large.
pub(super) fn restricted(automaton: &Automaton, content: &Expr) -> Option<Automaton> {
    product(&[(Nfa::from(automaton), false), (Nfa::new(content)?, false)], Counts::default())
}

fn product(languages: &[(Nfa, bool)], length: Counts) -> Option<Automaton> {
    let count_to = length.max.unwrap_or(length.min);
    let start: Product = (languages.iter().map(|(nfa, _)| nfa.start()).collect(), 0);
    let mut ids = HashMap::from([(start.clone(), 0u32)]);
    let mut products = vec![start];
    let mut states: Vec<State> = Vec::new();
    while let Some((subsets, count)) = products.get(states.len()).cloned() {
        let ends = languages.iter().zip(&subsets).all(|((nfa, negated), subset)| nfa.ends(subset) != *negated);
        let mut state = State { accepts: ends && count >= length.min, edges: Vec::new() };
        if length.max.is_none_or(|max| count < max) {
            let next_count = (count + 1).min(count_to);
            for (targets, ranges) in steps(languages, &subsets) {
                let set = CharSet::new(ranges);
                if set.is_empty() {
                    continue;
                }
                let product = (targets, next_count);
                let id = *ids.entry(product.clone()).or_insert_with(|| {
                    products.push(product);
                    products.len() as u32 - 1
                });
                state.edges.push((set, id));
            }
        }
        states.push(state);
        if products.len() > MAX_STATES {
            return None;
        }
    }
    Some(Automaton::new(states))
}

/// Whether the expression describes the text; `None` if its automaton is too large.
pub(super) fn describes(expr: &Expr, text: &str) -> Option<bool> {
    let nfa = Nfa::new(expr)?;
    let step = |subset: Subset, c: char| nfa.step(&subset, u32::from(c));
    Some(nfa.ends(&text.chars().fold(nfa.start(), step)))
}

/// Places of a nondeterministic automaton, ascending.
type Subset = Vec<u32>;

/// For each language where its automaton may be, and the number of characters so far.
type Product = (Vec<Subset>, u32);

/// Where each character leads: ranges of characters by what they lead to.
fn steps(languages: &[(Nfa, bool)], subsets: &[Subset]) -> BTreeMap<Vec<Subset>, Vec<(u32, u32)>> {
    let mut cuts = vec![0, BEYOND];
    for ((nfa, _), subset) in languages.iter().zip(subsets) {
        let sets = subset.iter().flat_map(|place| &nfa.edges[*place as usize]).map(|(set, _)| set);
        cuts.extend(sets.flat_map(|set| set.ranges()).flat_map(|(low, high)| [*low, high + 1]));
    }
    cuts.sort_unstable();
    cuts.dedup();
    let mut steps: BTreeMap<Vec<Subset>, Vec<(u32, u32)>> = BTreeMap::new();
    for cut in cuts.windows(2) {
        let targets: Vec<Subset> =
            languages.iter().zip(subsets).map(|((nfa, _), subset)| nfa.step(subset, cut[0])).collect();
        let is_dead = languages.iter().zip(&targets).any(|((_, negated), target)| !negated && target.is_empty());
        if !is_dead {
            steps.entry(targets).or_default().push((cut[0], cut[1] - 1));
        }
    }
    steps
}

/// The states from which an end can be reached, numbered anew.
fn trimmed(states: Vec<State>) -> Vec<State> {
    let mut into: Vec<Vec<u32>> = vec![Vec::new(); states.len()];
    for (from, state) in states.iter().enumerate() {
        state.edges.iter().for_each(|(_, to)| into[*to as usize].push(from as u32));
    }
    let mut live = vec![false; states.len()];
    let mut open: Vec<u32> = (0..states.len() as u32).filter(|id| states[*id as usize].accepts).collect();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut live[id as usize], true) {
            open.extend(&into[id as usize]);
        }
    }
    if !live.first().is_some_and(|start| *start) {
        return Vec::new();
    }
    let number: Vec<u32> = live
        .iter()
        .scan(0, |next, live| {
            let id = *next;
            *next += u32::from(*live);
            Some(id)
        })
        .collect();
    let kept = states.into_iter().zip(&live).filter(|(_, live)| **live).map(|(state, _)| state);
    kept.map(|mut state| {
        state.edges.retain(|(_, to)| live[*to as usize]);
        state.edges.iter_mut().for_each(|(_, to)| *to = number[*to as usize]);
        state
    })
    .collect()
}

/// A nondeterministic automaton: it starts in place 0.
#[derive(Debug, Default)]
struct Nfa {
    edges: Vec<Vec<(CharSet, u32)>>,
    empty: Vec<Vec<u32>>,
    end: u32,
}

impl Nfa {
    fn new(expr: &Expr) -> Option<Self> {
        let mut nfa = Self::default();
        let start = nfa.place();
        nfa.end = nfa.add(expr, start)?;
        Some(nfa)
    }

    fn place(&mut self) -> u32 {
        self.edges.push(Vec::new());
        self.empty.push(Vec::new());
        self.edges.len() as u32 - 1
    }

    fn edge(&mut self, from: u32, set: CharSet) -> u32 {
        let to = self.place();
        self.edges[from as usize].push((set, to));
        to
    }

    /// Adds what the expression describes after a place; where it ends.
    fn add(&mut self, expr: &Expr, from: u32) -> Option<u32> {
        if self.edges.len() > MAX_PLACES {
            return None;
        }
        Some(match expr {
            Expr::Text(text) => text.chars().fold(from, |at, c| self.edge(at, CharSet::of([c]))),
            Expr::Set(set) => self.edge(from, set.clone()),
            Expr::Seq(items) => {
                let mut at = from;
                for item in items {
                    at = self.add(item, at)?;
                }
                at
            }
            Expr::Alt(items) => {
                let end = self.place();
                for item in items {
                    let at = self.add(item, from)?;
                    self.empty[at as usize].push(end);
                }
                end
            }
            Expr::Rep(item, min, max) => {
                let mut at = from;
                for _ in 0..*min {
                    at = self.add(item, at)?;
                }
                let end = self.place();
                match max {
                    Some(max) => {
                        for _ in *min..*max {
                            self.empty[at as usize].push(end);
                            at = self.add(item, at)?;
                        }
                        self.empty[at as usize].push(end);
                    }
                    None => {
                        self.empty[at as usize].push(end);
                        let back = self.add(item, end)?;
                        self.empty[back as usize].push(end);
                    }
                }
                end
            }
            Expr::Rule(_) => return None, // expressions over characters have no rules
        })
    }

    /// The places, and those that are reached from them without a character.
    fn closed(&self, places: impl IntoIterator<Item = u32>) -> Subset {
        let mut open: Vec<u32> = places.into_iter().collect();
        let mut subset = Subset::new();
        let mut seen = std::collections::HashSet::new();
        while let Some(place) = open.pop() {
            if seen.insert(place) {
                subset.push(place);
                open.extend(&self.empty[place as usize]);
            }
        }
        subset.sort_unstable();
        subset
    }

    fn start(&self) -> Subset {
        self.closed([0])
    }

    fn step(&self, subset: &Subset, c: u32) -> Subset {
        let edges = subset.iter().flat_map(|place| &self.edges[*place as usize]);
        self.closed(edges.filter(|(set, _)| set.has(c)).map(|(_, to)| *to))
    }

    fn ends(&self, subset: &Subset) -> bool {
        subset.binary_search(&self.end).is_ok()
    }
}

impl From<&Automaton> for Nfa {
    fn from(automaton: &Automaton) -> Self {
        let mut nfa = Self::default();
        automaton.states.iter().for_each(|_| {
            nfa.place();
        });
        nfa.end = nfa.place();
        for (from, state) in automaton.states.iter().enumerate() {
            nfa.edges[from].clone_from(&state.edges);
            nfa.empty[from].extend(state.accepts.then_some(nfa.end));
        }
        nfa
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::regex::{Beside, read};

    fn accepts(automaton: &Automaton, text: &str) -> bool {
        let mut at = match automaton.states.first() {
            Some(_) => 0,
            None => return false,
        };
        for c in text.chars() {
            match automaton.states[at].edges.iter().find(|(set, _)| set.has(u32::from(c))) {
                Some((_, to)) => at = *to as usize,
                None => return false,
            }
        }
        automaton.states[at].accepts
    }

    /// All texts over three characters, of up to five: in the intersection exactly if in each language.
    #[test]
    fn intersections_agree_with_their_parts() {
        let patterns = ["a*b", "[^a]+", "(a|bc){2,3}", "a?b?c?", ".*c", "(ab?)*", ""];
        let texts = (0..=5u32).flat_map(|length| {
            (0..3usize.pow(length)).map(move |mut number| {
                let digit = |_| {
                    let c = ['a', 'b', 'c'][number % 3];
                    number /= 3;
                    c
                };
                (0..length).map(digit).collect::<String>()
            })
        });
        let texts: Vec<String> = texts.collect();
        for (first, a) in patterns.iter().enumerate() {
            for b in &patterns[first..] {
                for (negated, length) in
                    [(false, Counts { min: 0, max: None }), (true, Counts { min: 2, max: Some(4) })]
                {
                    let [a, b] = [a, b].map(|pattern| read(pattern, Beside::Nothing).unwrap());
                    let languages =
                        [Texts { content: a.clone(), negated: false }, Texts { content: b.clone(), negated }];
                    let both = intersection(&languages, length).unwrap();
                    for text in &texts {
                        let count = text.len() as u32;
                        let expected = describes(&a, text).unwrap()
                            && describes(&b, text).unwrap() != negated
                            && count >= length.min
                            && length.max.is_none_or(|max| count <= max);
                        assert_eq!(accepts(&both, text), expected, "{text:?}: {a:?} {b:?} {negated}");
                    }
                }
            }
        }
    }

    #[test]
    fn large_products_are_refused() {
        let content = read("(a|b)*a(a|b){40}", Beside::Nothing).unwrap();
        assert!(intersection(&[Texts { content, negated: false }], Counts { min: 0, max: None }).is_none());
        let content = read("((a{999}){999}){9}", Beside::Nothing).unwrap();
        assert!(describes(&content, "a").is_none());
    }
}
