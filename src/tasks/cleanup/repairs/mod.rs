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

use super::draft::{Action, Draft, Proposal};
use super::edit::EditKind;

use search::Least;

pub(super) use candidates::Interruption;

/// Cross-validated on the rows of the fit, 0.6 for all changes 2 rows in 1,000 for the worse; real speech needs more doubt,
/// and what the rules see there less. With a model 0.8 keeps the meant words that it would delete below 5 in 1,000.
const LEAST: Least = Least { agreed: 0.05, marked: 0.7, judged: 0.8 };

/// A candidate less probable than this by evidence is out of the question, and a model is not asked about it.
const LEAST_ASKED: f32 = 0.01;
/// Where a candidate is more probable than this, no model need be asked.
const SURE: f32 = 0.7;

/// A place where a speaker may have begun anew, and what may be deleted there: for a model that scores texts.
#[derive(Clone, Debug, PartialEq)]
pub struct RepairQuestion {
    /// The byte of the raw text at which the marker begins.
    pub at: usize,
    /// Whether the marker is one of words that say what they are; after anything else real speech mostly goes on.
    pub is_marked: bool,
    /// The first candidate keeps everything.
    pub candidates: Vec<RepairCandidate>,
}

/// One answer to a [`RepairQuestion`].
#[derive(Clone, Debug, PartialEq)]
pub struct RepairCandidate {
    /// The raw words (counted from 0) that are deleted, first and last; none where everything is kept.
    pub deletes: Option<(usize, usize)>,
    /// By evidence alone, 0 to 1.
    pub probability: f32,
    /// What a model judges: how well `after`, the repair's first words, goes on from `before`, the words that would stand
    /// before it. Both are empty for a candidate that is out of the question.
    pub before: String,
    pub after: String,
}

/// What a model says to a [`RepairQuestion`].
#[derive(Clone, Debug, PartialEq)]
pub struct RepairAnswer {
    /// The question's.
    pub at: usize,
    /// For each candidate, the natural logarithm of the probability of its `after` behind its `before`; none for one that
    /// is out of the question.
    pub scores: Vec<Option<f32>>,
}

/// A question with all that its candidates are: what weights are fitted to.
#[derive(Clone, Debug, PartialEq)]
pub struct Interrupted {
    pub question: RepairQuestion,
    /// For each candidate, the words of the sentence as they would stand.
    pub texts: Vec<String>,
    /// For each candidate, what speaks for and against it, by name.
    pub evidence: Vec<Vec<String>>,
}

/// What a model's log-odds against keeping weigh beside the evidence's, and what a deletion has besides. Fitted by `npm run
/// fit -- judge`.
const EVIDENCE: f32 = 0.916;
const MODEL: f32 = 0.130;
const BESIDES: f32 = 0.418;
/// Words that a question repeats before the first that may be deleted, and of the repair.
const WORDS_BEFORE: usize = 8;
const WORDS_AFTER: usize = 4;

impl RepairQuestion {
    /// Whether a model's word can be worth its cost.
    pub fn is_open(&self) -> bool {
        self.is_marked && self.candidates.iter().all(|candidate| candidate.probability < SURE)
    }

    /// The texts to be scored: what comes before, and how it goes on.
    pub fn passages(&self) -> impl Iterator<Item = (&str, &str)> {
        let asked = self.candidates.iter().filter(|candidate| candidate.is_asked());
        asked.map(|candidate| (candidate.before.as_str(), candidate.after.as_str()))
    }

    /// The answer, from the scores of the [`passages`](Self::passages), which it takes.
    pub fn answered(&self, scores: &mut impl Iterator<Item = f32>) -> RepairAnswer {
        let score = |candidate: &RepairCandidate| if candidate.is_asked() { scores.next() } else { None };
        RepairAnswer { at: self.at, scores: self.candidates.iter().map(score).collect() }
    }
}

impl RepairCandidate {
    fn is_asked(&self) -> bool {
        !self.after.is_empty()
    }
}

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

/// The questions about a draft, in its order.
pub(super) fn questions(draft: &Draft) -> Vec<RepairQuestion> {
    if !draft.is_english() {
        return vec![];
    }
    candidates::interruptions(draft).iter().map(|interruption| question(draft, interruption)).collect()
}

/// The questions about a draft with all that their candidates are.
pub(super) fn explained(draft: &Draft) -> Vec<Interrupted> {
    if !draft.is_english() {
        return vec![];
    }
    candidates::interruptions(draft).iter().map(|interruption| explain(draft, interruption)).collect()
}

fn question(draft: &Draft, interruption: &Interruption) -> RepairQuestion {
    let scored = search::Scored::new(draft, interruption, None);
    let (start, end) = sentence(draft, interruption);
    let said = |from: usize, to: usize| (from..to).map(|i| draft.word(i).text(draft.raw)).collect::<Vec<_>>().join(" ");
    let asked = |probability: f32| probability >= LEAST_ASKED;
    let lowest = scored.edges.iter().filter(|edge| asked(edge.probability)).map(|edge| edge.from).min();
    // All begin with the same word, so that a model reads it once.
    let first = start.max(lowest.unwrap_or(interruption.from).saturating_sub(WORDS_BEFORE));
    let candidate = |deleted: Option<(usize, usize)>, probability: f32| {
        let (from, to) = deleted.unwrap_or((interruption.to, interruption.to));
        let (before, after) = match deleted.is_none() || asked(probability) {
            true => (said(first, from), said(to, end.min(to + WORDS_AFTER))),
            false => (String::new(), String::new()),
        };
        let space = if before.is_empty() { "" } else { " " };
        let deletes = deleted.map(|(from, to)| (draft.at(from), draft.at(to - 1)));
        RepairCandidate { deletes, probability, before, after: format!("{space}{after}") }
    };
    let others = scored.edges.iter().map(|edge| candidate(Some((edge.from, edge.to)), edge.probability));
    let candidates = std::iter::once(candidate(None, scored.keep())).chain(others).collect();
    RepairQuestion { at: draft.word(interruption.from).start, is_marked: scored.is_marked, candidates }
}

fn explain(draft: &Draft, interruption: &Interruption) -> Interrupted {
    let (start, end) = sentence(draft, interruption);
    let text = |deleted: Option<(usize, usize)>| {
        let kept = (start..end).filter(|i| deleted.is_none_or(|(from, to)| !(from..to).contains(i)));
        kept.map(|i| draft.word(i).text(draft.raw)).collect::<Vec<_>>().join(" ")
    };
    let spans = || interruption.spans.iter().copied();
    let evidence = |(from, to)| evidence::names(draft, interruption, from, to);
    Interrupted {
        question: question(draft, interruption),
        texts: std::iter::once(None).chain(spans().map(Some)).map(text).collect(),
        evidence: std::iter::once(vec![]).chain(spans().map(evidence)).collect(),
    }
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
