//! Scoring a note after each of several prefixes: which of them explains it best.

use std::sync::Arc;

use crate::completion::loaded::{Loaded, MAX_BYTES_PER_TOKEN};
use crate::completion::provider::Weighing;
use crate::decode::{Scorer, Scoring, Session, Usage};
use crate::error::Result;
use crate::tasks::tag::{MAX_NOTE_TOKENS, standing};
use crate::tokenizer::TokenId;

/// A note being scored after one prefix and the next. The prefixes stay in the model's pool.
pub(super) struct Weigh {
    loaded: Arc<Loaded>,
    note: Vec<TokenId>,
    /// None for a prefix that is out of the question and is not read.
    prefixes: Vec<Option<Vec<TokenId>>>,
    scores: Vec<Option<f32>>,
    scorer: Option<Scorer>,
    usage: Usage,
}

impl Weigh {
    /// # Errors
    /// `tokenizer`.
    pub(super) fn new(loaded: Arc<Loaded>, note: &str, prefixes: &[Option<String>]) -> Result<Self> {
        let tokens = |prefix: &Option<String>| prefix.as_ref().map(|text| loaded.tokens(text)).transpose();
        let prefixes = prefixes.iter().map(tokens).collect::<Result<_>>()?;
        // There is no need to encode hours of speech for the first tokens of it.
        let beginning = &note[..note.floor_char_boundary(MAX_NOTE_TOKENS * MAX_BYTES_PER_TOKEN)];
        // The blank belongs to the note's first word, as tokenizers have it.
        let mut note = loaded.tokens(&format!(" {}", beginning.trim()))?;
        note.truncate(MAX_NOTE_TOKENS);
        Ok(Self { loaded, note, prefixes, scores: vec![], scorer: None, usage: Usage::default() })
    }

    fn keep(&self, session: Session) {
        let read = session.read();
        self.loaded.keep(session, read);
    }
}

impl Weighing for Weigh {
    /// # Errors
    /// The model's, and `context-overflow` for a context in which prefix and note do not fit.
    fn step(&mut self) -> Result<bool> {
        let Some(prefix) = self.prefixes.get(self.scores.len()) else { return Ok(false) };
        let Some(prefix) = prefix else {
            self.scores.push(None);
            return Ok(true);
        };
        let scorer = match &mut self.scorer {
            Some(scorer) => scorer,
            None => {
                let (scorer, cached) = self.loaded.scorer(prefix, std::slice::from_ref(&self.note))?;
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
            self.keep(session);
        }
        Ok(self.scores.len() < self.prefixes.len())
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn finish(self: Box<Self>) -> Vec<f32> {
        standing(&self.scores, self.note.len())
    }
}

/// What has been read of a prefix stays.
impl Drop for Weigh {
    fn drop(&mut self) {
        if let Some(scorer) = self.scorer.take() {
            self.keep(scorer.cancel());
        }
    }
}
