//! A session: the tokens that the model has read, and their keys and values.

use crate::error::{Detail, Error, ErrorKind, Result};
use crate::model::{KvCache, Model, Pass, Progress};
use crate::tokenizer::TokenId;

/// Tokens and their [`KvCache`], kept in step. It alone truncates the cache, so that the two cannot drift apart.
///
/// Invariant: `kv.len() <= tokens.len()`; `tokens[..kv.len()]` are the tokens whose keys and values are in `kv`, the
/// rest is still to be read.
pub struct Session {
    tokens: Vec<TokenId>,
    kv: KvCache,
    /// The pass over the tokens that follow `tokens[..kv.len()]`, if one is under way.
    pass: Option<Under>,
}

/// A pass under way.
struct Under {
    pass: Pass,
    tokens: usize,
    steps: usize,
    steps_done: usize,
}

/// The most tokens in one pass. What a pass has computed is lost when work is cancelled inside it, and each pass
/// computes one position's logits whether or not they are wanted: 32 keeps either loss near one per cent of a prompt.
const MAX_PASS: usize = 32;

/// What one [`Session::step`] achieved.
#[derive(Debug)]
pub enum Reading {
    /// There is more to read.
    More,
    /// Everything is read: one logit per id of the vocabulary, for the token after the last one.
    Done(Vec<f32>),
}

impl Session {
    /// An empty session with room for `capacity` tokens; memory is taken as tokens are read.
    ///
    /// # Errors
    /// `out-of-memory` if a cache of that capacity can never be addressed.
    pub fn new(model: &Model, capacity: usize) -> Result<Self> {
        Ok(Self { tokens: Vec::new(), kv: KvCache::new(model.config(), capacity)?, pass: None })
    }

    /// How many leading tokens of `prompt` this session has read already.
    pub fn common_prefix(&self, prompt: &[TokenId]) -> usize {
        self.tokens[..self.kv.len()].iter().zip(prompt).take_while(|(a, b)| a == b).count()
    }

    /// How many tokens the model has read.
    pub fn read(&self) -> usize {
        self.kv.len()
    }

    /// How many tokens' worth of work has been done, the pass under way included: what a progress bar shows.
    pub fn progress(&self) -> usize {
        self.kv.len() + self.pass.as_ref().map_or(0, |under| under.tokens * under.steps_done / under.steps)
    }

    /// How many tokens fit in all.
    pub fn capacity(&self) -> usize {
        self.kv.capacity()
    }

    /// Makes `prompt` the session's text and keeps what it shares with the old one. Returns how many tokens need not
    /// be read again; at least one always must be, since logits are not kept.
    pub fn restart(&mut self, prompt: &[TokenId]) -> usize {
        let kept = self.common_prefix(prompt).min(prompt.len().saturating_sub(1));
        self.pass = None;
        self.kv.truncate(kept);
        self.tokens.clear();
        self.tokens.extend_from_slice(prompt);
        kept
    }

    /// Forgets all but the first `len` tokens that have been read.
    pub fn truncate(&mut self, len: usize) {
        let len = len.min(self.kv.len());
        self.pass = None;
        self.kv.truncate(len);
        self.tokens.truncate(len);
    }

    /// The tokens read and to be read.
    pub fn tokens(&self) -> &[TokenId] {
        &self.tokens
    }

    /// Appends tokens to be read by the following steps.
    ///
    /// # Errors
    /// `context-overflow` if they do not fit; the session is unchanged.
    pub fn extend(&mut self, tokens: &[TokenId]) -> Result<()> {
        let requested = self.tokens.len() + tokens.len();
        if requested > self.capacity() {
            return Err(overflow(requested, self.capacity()));
        }
        self.tokens.extend_from_slice(tokens);
        Ok(())
    }

    /// Bounded work: one step of a pass over the next tokens.
    ///
    /// # Errors
    /// `internal` if nothing is left to read; otherwise the model's.
    pub fn step(&mut self, model: &Model) -> Result<Reading> {
        let mut under = match self.pass.take() {
            Some(under) => under,
            None => self.begin_pass(model)?,
        };
        under.steps_done += 1;
        match under.pass.step(model, &mut self.kv)? {
            Progress::More => self.pass = Some(under),
            Progress::Done(logits) if self.kv.len() == self.tokens.len() => return Ok(Reading::Done(logits)),
            Progress::Done(_) => {}
        }
        Ok(Reading::More)
    }

    fn begin_pass(&self, model: &Model) -> Result<Under> {
        let rest = &self.tokens[self.kv.len()..];
        if rest.is_empty() {
            return Err(Error::new(ErrorKind::Internal, "a session was stepped with nothing left to read"));
        }
        let tokens = rest.len().min(MAX_PASS);
        let pass = Pass::new(&rest[..tokens]);
        Ok(Under { tokens, steps: pass.steps(model).max(1), steps_done: 0, pass })
    }
}

/// The error for `requested` tokens where only `available` fit.
pub fn overflow(requested: usize, available: usize) -> Error {
    Error::new(ErrorKind::ContextOverflow, format!("{requested} tokens are needed and the context holds {available}"))
        .with_detail(Detail::Limit { requested: requested as u64, available: available as u64 })
}
