//! Which of the words before an interruption are taken back: every possibility is a candidate, evidence weighs them, and a
//! search over the whole stretch picks the best that agree.
//!
//! ```text
//! draft ─▶ interruptions ─▶ candidates with evidence ─▶ weights (and a model's scores) ─▶ search ─▶ proposals
//!
//! what is the capital  no sorry  the name of its king
//! ├───────────────────────────┤                           "the name of its king"
//!         ├───────────────────┤                           "what is the name of its king"
//!             ├───────────────┤                           …
//! ```
//!
//! Keeping everything is always a candidate, with the score 0. The weights are fitted by `npm run fit -- repairs`.

mod candidates;
mod evidence;
mod search;
mod weights;

use serde::Serialize;

use super::draft::{Action, Draft, Proposal};
use super::edit::EditKind;

use search::Least;

pub(super) use candidates::Interruption;

/// Cross-validated on the rows of the fit, 0.6 for all changes 2 rows in 1,000 for the worse; real speech needs more doubt,
/// and what the rules see there less. After a sound or a doubtful marker nothing else is sure enough, unless a model has
/// been heard.
const LEAST: Least = Least { agreed: 0.05, marked: 0.7, judged: 0.6, judged_faint: 0.85 };

/// A place where a speaker may have begun anew, and what may be deleted there; for a model that scores texts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The byte of the raw text at which the marker begins.
    pub at: usize,
    /// The first and the last raw word (counted from 0) that some candidate deletes.
    pub first: usize,
    pub last: usize,
    /// The first candidate keeps everything.
    pub candidates: Vec<Candidate>,
}

/// One answer to a [`Question`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// The words of the sentence as they would stand.
    pub text: String,
    /// The raw words that are deleted, first and last; none where everything is kept.
    pub deletes: Option<(usize, usize)>,
    /// What speaks for and against it, by name.
    pub evidence: Vec<String>,
    /// The probability by evidence alone, 0 to 1.
    pub probability: f32,
    /// What a model judges: how well [`after`](Self::after), the repair's first words, goes on from the words that would
    /// stand before it. The closer the probabilities, the more its word is worth.
    pub before: String,
    pub after: String,
}

/// What a model says to a [`Question`].
#[derive(Clone, Debug, PartialEq)]
pub struct RepairAnswer {
    /// The question's.
    pub at: usize,
    /// For each candidate, the natural logarithm of the probability of its `after` behind its `before`; none for one that
    /// is out of the question.
    pub scores: Vec<Option<f32>>,
}

/// What a model's log-odds against keeping weigh beside the evidence's, and what a deletion has besides. Fitted by `npm run
/// fit -- judge`.
const EVIDENCE: f32 = 0.965;
const MODEL: f32 = 0.115;
const BESIDES: f32 = 0.426;
/// Words before the repair that a question repeats, and of the repair.
const WORDS_BEFORE: usize = 24;
const WORDS_AFTER: usize = 6;

impl RepairAnswer {
    /// For each candidate but the first, what `scores` add to its log-odds against keeping everything.
    fn further_odds(&self, by_evidence: &[f32]) -> Vec<f32> {
        let keep = self.scores.first().copied().flatten();
        let of = |(k, odds): (usize, &f32)| match (keep, self.scores.get(k + 1).copied().flatten()) {
            (Some(keep), Some(score)) => (EVIDENCE - 1.0) * odds + MODEL * (score - keep) + BESIDES,
            _ => 0.0,
        };
        by_evidence.iter().enumerate().map(of).collect()
    }
}

/// Proposes to delete what was taken back. `answers`, in the order of the text, are a model's.
pub(super) fn propose(draft: &Draft, answers: &[RepairAnswer]) -> Vec<Proposal> {
    if !draft.is_english() {
        return vec![];
    }
    let interruptions = candidates::interruptions(draft);
    let scored = interruptions.iter().map(|interruption| {
        let at = draft.word(interruption.from).start;
        let answer = answers.binary_search_by_key(&at, |answer| answer.at).ok().map(|found| &answers[found]);
        search::Scored::new(draft, interruption, answer)
    });
    let scored: Vec<search::Scored> = scored.collect();
    let chosen = search::best(&scored, LEAST);
    let proposals = chosen.into_iter().map(|edge| Proposal {
        first: draft.at(edge.from),
        last: draft.at(edge.to - 1),
        action: Action::Delete,
        kind: EditKind::Correction,
        confidence: edge.probability,
    });
    proposals.collect()
}

/// The open questions of a draft, in its order.
pub(super) fn questions(draft: &Draft) -> Vec<Question> {
    candidates::interruptions(draft).iter().map(|interruption| question(draft, interruption)).collect()
}

fn question(draft: &Draft, interruption: &Interruption) -> Question {
    let scored = search::Scored::new(draft, interruption, None);
    let (start, end) = sentence(draft, interruption);
    let text = |deleted: Option<(usize, usize)>| {
        let kept = (start..end).filter(|i| deleted.is_none_or(|(from, to)| !(from..to).contains(i)));
        kept.map(|i| draft.word(i).text(draft.raw)).collect::<Vec<_>>().join(" ")
    };
    let said = |from: usize, to: usize| (from..to).map(|i| draft.word(i).text(draft.raw)).collect::<Vec<_>>().join(" ");
    let before = |from: usize| said(start.max(from.saturating_sub(WORDS_BEFORE)), from);
    let after = |to: usize| said(to, end.min(to + WORDS_AFTER));
    let keep = Candidate {
        text: text(None),
        deletes: None,
        evidence: vec![],
        probability: scored.keep(),
        before: before(interruption.to),
        after: after(interruption.to),
    };
    let others = scored.edges.iter().map(|edge| Candidate {
        text: text(Some((edge.from, edge.to))),
        deletes: Some((draft.at(edge.from), draft.at(edge.to - 1))),
        evidence: evidence::names(draft, interruption, edge.from, edge.to),
        probability: edge.probability,
        before: before(edge.from),
        after: after(edge.to),
    });
    let candidates: Vec<Candidate> = std::iter::once(keep).chain(others).collect();
    let spans = || candidates.iter().filter_map(|candidate| candidate.deletes);
    let first = spans().map(|(first, _)| first).min().unwrap_or_default();
    let last = spans().map(|(_, last)| last).max().unwrap_or_default();
    Question { at: draft.word(interruption.from).start, first, last, candidates }
}

/// The live words of the sentence around an interruption.
fn sentence(draft: &Draft, interruption: &Interruption) -> (usize, usize) {
    let first = interruption.spans.iter().map(|span| span.0).min().unwrap_or(interruption.from);
    let start = draft.sentence_start(first);
    let last = interruption.to.min(draft.len().saturating_sub(1));
    let end =
        (last..draft.len()).find(|&i| draft.pause(i) == super::draft::Pause::Strong).map_or(draft.len(), |i| i + 1);
    (start, end)
}
