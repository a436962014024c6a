//! The best set of candidates that do not overlap.

use super::super::draft::Draft;
use super::candidates::Interruption;
use super::{RepairAnswer, evidence, weights};

/// A stretch of live words that may be deleted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Edge {
    pub from: usize,
    pub to: usize,
    /// Among all candidates of its interruption, keeping everything included.
    pub probability: f32,
}

/// The candidates of one interruption.
#[derive(Debug)]
pub(super) struct Scored {
    /// What the rules delete.
    pub by_rules: Option<(usize, usize)>,
    /// After a marker that says what it is.
    pub is_marked: bool,
    /// A model has been heard.
    pub is_judged: bool,
    pub edges: Vec<Edge>,
}

impl Scored {
    /// Weighs the evidence, and what a model said to the question if it was asked.
    pub fn new(draft: &Draft, interruption: &Interruption, answer: Option<&RepairAnswer>) -> Self {
        let mut log_odds: Vec<f32> = interruption
            .spans
            .iter()
            .map(|&(from, to)| {
                let mut sum = 0.0;
                evidence::each(draft, interruption, from, to, |name| sum += weights::of(name));
                sum
            })
            .collect();
        if let Some(answer) = answer {
            let further = answer.further_odds(&log_odds);
            log_odds.iter_mut().zip(further).for_each(|(sum, more)| *sum += more);
        }
        let most = log_odds.iter().copied().fold(0.0, f32::max);
        let total: f32 = (-most).exp() + log_odds.iter().map(|sum| (sum - most).exp()).sum::<f32>();
        let edges = interruption.spans.iter().zip(&log_odds).map(|(&(from, to), sum)| Edge {
            from,
            to,
            probability: (sum - most).exp() / total,
        });
        let is_marked = !interruption.marker.faint && interruption.marker.weight >= 2;
        Self { by_rules: interruption.by_rules, is_marked, is_judged: answer.is_some(), edges: edges.collect() }
    }

    /// The probability that nothing was taken back.
    pub fn keep(&self) -> f32 {
        (1.0 - self.edges.iter().map(|edge| edge.probability).sum::<f32>()).max(0.0)
    }
}

/// How probable an edge must be before anything is deleted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    /// For what the rules delete too: they are right more often than real speech is like the rows of the fit.
    pub agreed: f32,
    /// For anything else after a marker of words.
    pub marked: f32,
    /// For anything else after a marker of words, where a model was asked. After a sound or a doubtful marker nothing else
    /// is sure enough, and no model is asked.
    pub judged: f32,
}

/// The edges of the path with the greatest sum of log-odds, each as probable as `least` asks, in order.
///
/// The lattice has a node before each word; an edge deletes a stretch, and keeping a word costs nothing.
pub(super) fn best(scored: &[Scored], least: Least) -> Vec<Edge> {
    let mut edges: Vec<(Edge, f32)> = scored
        .iter()
        .flat_map(|scored| {
            let keep = scored.keep().max(f32::MIN_POSITIVE);
            let probable = scored.edges.iter().filter(move |edge| {
                edge.probability
                    >= match scored.by_rules {
                        Some(span) if span == (edge.from, edge.to) => least.agreed,
                        _ if scored.is_judged && scored.is_marked => least.judged,
                        _ if scored.is_marked => least.marked,
                        _ => f32::INFINITY,
                    }
            });
            probable.map(move |edge| (*edge, (1.0 + edge.probability / keep).ln()))
        })
        .collect();
    edges.sort_by_key(|(edge, _)| (edge.to, edge.from));
    // Best sum of the first n edges, and the edge that it takes last.
    let mut sums = vec![0.0_f32];
    let mut takes = vec![];
    for (n, (edge, gain)) in edges.iter().enumerate() {
        let before = edges[..n].partition_point(|(other, _)| other.to <= edge.from);
        let with = sums[before] + gain;
        takes.push((with > sums[n]).then_some(before));
        sums.push(with.max(sums[n]));
    }
    let mut chosen = vec![];
    let mut n = edges.len();
    while n > 0 {
        match takes[n - 1] {
            Some(before) => {
                chosen.push(edges[n - 1].0);
                n = before;
            }
            None => n -= 1,
        }
    }
    chosen.reverse();
    chosen
}
