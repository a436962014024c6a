//! Scoring a note after each of several prefixes: which of them explains it best.

use std::sync::Arc;

use crate::completion::engine::Shared;
use crate::decode::{Scorer, Scoring, Usage};
use crate::error::Result;
use crate::tasks::tag::standing;
use crate::tokenizer::TokenId;

/// A note being scored after one prefix and the next. The prefixes stay in the engine's pool.
pub(super) struct Weighing {
    note: Vec<TokenId>,
    /// None for a prefix that is out of the question and is not read.
    prefixes: Vec<Option<Vec<TokenId>>>,
    scores: Vec<Option<f32>>,
    scorer: Option<Scorer>,
    usage: Usage,
}

impl Weighing {
    /// Nothing is read before [`step`](Self::step). A note's first `max_tokens` tokens are scored.
    ///
    /// # Errors
    /// `tokenizer`.
    pub(super) fn new(
        shared: &Shared,
        prefixes: impl Iterator<Item = Option<String>>,
        note: &str,
        max_tokens: usize,
    ) -> Result<Self> {
        let prefixes =
            prefixes.map(|prefix| prefix.map(|text| shared.tokens(&text)).transpose()).collect::<Result<_>>()?;
        // The blank belongs to the note's first word, as tokenizers have it.
        let mut note = shared.tokens(&format!(" {}", shared.beginning(note, max_tokens).trim()))?;
        note.truncate(max_tokens);
        Ok(Self { note, prefixes, scores: vec![], scorer: None, usage: Usage::default() })
    }

    /// Bounded work. Returns whether there is more.
    ///
    /// # Errors
    /// The model's, and `context-overflow` for a context in which prefix and note do not fit.
    pub(super) fn step(&mut self, shared: &Arc<Shared>) -> Result<bool> {
        let Some(prefix) = self.prefixes.get(self.scores.len()) else { return Ok(false) };
        let Some(prefix) = prefix else {
            self.scores.push(None);
            return Ok(true);
        };
        let scorer = match &mut self.scorer {
            Some(scorer) => scorer,
            None => {
                let (scorer, cached) = shared.scorer(prefix, std::slice::from_ref(&self.note))?;
                self.usage.prompt_tokens += prefix.len() + self.note.len();
                self.usage.cached_tokens += cached;
                self.scorer.insert(scorer)
            }
        };
        if scorer.step()? == Scoring::Done
            && let Some(scorer) = self.scorer.take()
        {
            let (scores, session) = scorer.finish()?;
            self.scores.push(scores.totals().first().copied());
            let read = session.read();
            shared.keep(session, read);
        }
        Ok(self.scores.len() < self.prefixes.len())
    }

    /// For each prefix, how far the note's score after it stands above the mean; one that was out of the question stands
    /// as low as the lowest.
    pub(super) fn finish(self) -> Vec<f32> {
        let lowest = self.scores.iter().flatten().copied().fold(f32::INFINITY, f32::min);
        let lowest = if lowest.is_finite() { lowest } else { 0.0 };
        let scores: Vec<f32> = self.scores.iter().map(|score| score.unwrap_or(lowest)).collect();
        standing(&scores, self.note.len())
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// Gives back what has been read of a prefix.
    pub(super) fn cancel(&mut self, shared: &Shared) {
        if let Some(scorer) = self.scorer.take() {
            let session = scorer.cancel();
            let read = session.read();
            shared.keep(session, read);
        }
    }
}
