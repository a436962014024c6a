//! A session: the tokens that the model has read, and their keys and values.

use std::sync::Arc;

use crate::error::{Detail, Error, ErrorKind, Result};
use crate::model::{KvCache, KvType, Model, Pass, Progress, TreePass, TreeProgress};
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
    /// What is wanted once everything is read.
    wanted: Wanted,
    /// How many of the last tokens are [guesses](Session::guess).
    guesses: usize,
}

/// Logits that a reading ends with.
#[derive(Clone)]
enum Wanted {
    All,
    Of(Arc<[TokenId]>),
    None,
}

/// A pass under way.
struct Under {
    pass: Pass,
    tokens: usize,
    steps: usize,
    steps_done: usize,
}

/// The most tokens in one pass: what a pass has computed is lost when work is cancelled inside it.
const MAX_PASS: usize = 32;

/// What one [`Session::step`] achieved.
#[derive(Debug)]
pub enum Reading {
    /// There is more to read.
    More,
    /// Everything is read: logits for the token after the last one, one for each id of the vocabulary, or for each that
    /// was [asked](Session::ask) for. With [guesses](Session::guess), of shape (guesses + 1, …): those after the last token
    /// that is none, and after each guess.
    Done(Vec<f32>),
}

impl Session {
    /// An empty session with room for `capacity` tokens; memory is taken as tokens are read.
    ///
    /// # Errors
    /// `out-of-memory` if a cache of that capacity can never be addressed.
    pub fn new(model: &Model, capacity: usize) -> Result<Self> {
        Self::of_type(KvType::default(), model, capacity)
    }

    /// As [`new`](Self::new), with a cache of that type.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_type(kv_type: KvType, model: &Model, capacity: usize) -> Result<Self> {
        Ok(Self {
            tokens: Vec::new(),
            kv: KvCache::of_type(kv_type, model.config(), capacity)?,
            pass: None,
            wanted: Wanted::All,
            guesses: 0,
        })
    }

    /// What has been read, for [`restored`](Self::restored): the tokens, and their keys and values.
    pub(crate) fn remembered(&self) -> (&[TokenId], Vec<u8>) {
        (&self.tokens[..self.kv.len()], self.kv.to_bytes())
    }

    /// A session that has read `tokens`, with the keys and values that it had [`remembered`](Self::remembered).
    ///
    /// # Errors
    /// `context-overflow`, `out-of-memory`; `invalid-argument` for values that are not those of the tokens.
    pub(crate) fn restored(
        kv_type: KvType,
        model: &Model,
        capacity: usize,
        tokens: Vec<TokenId>,
        values: &[u8],
    ) -> Result<Self> {
        let kv = KvCache::from_bytes(kv_type, model.config(), capacity, tokens.len(), values)?;
        Ok(Self { tokens, kv, pass: None, wanted: Wanted::All, guesses: 0 })
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
        self.replace(kept, prompt);
        kept
    }

    /// Makes `text` the session's text and keeps all that it shares with the old one. Reading the rest ends without
    /// logits.
    pub(super) fn adopt(&mut self, text: &[TokenId]) {
        self.replace(self.common_prefix(text), text);
        self.wanted = Wanted::None;
    }

    fn replace(&mut self, kept: usize, text: &[TokenId]) {
        self.pass = None;
        self.wanted = Wanted::All;
        self.guesses = 0;
        self.kv.truncate(kept);
        self.tokens.clear();
        self.tokens.extend_from_slice(text);
    }

    /// Wants the logits of these tokens alone, in this order, at the end of the reading that is about to begin.
    pub(super) fn ask(&mut self, tokens: Arc<[TokenId]>) {
        self.wanted = Wanted::Of(tokens);
    }

    /// How many tokens are still to be read.
    pub(super) fn unread(&self) -> usize {
        self.tokens.len() - self.kv.len()
    }

    /// # Errors
    /// `context-overflow`, with both numbers, if a text of `tokens` does not fit.
    pub(super) fn check_room(&self, tokens: usize) -> Result<()> {
        if tokens > self.capacity() { Err(overflow(tokens, self.capacity())) } else { Ok(()) }
    }

    /// One step of a pass over texts that continue this one, all of which is read.
    ///
    /// # Errors
    /// The model's.
    pub(super) fn step_tree(&self, model: &Model, pass: &mut TreePass) -> Result<TreeProgress> {
        pass.step(model, &self.kv)
    }

    /// Forgets all but the first `len` tokens that have been read.
    pub fn truncate(&mut self, len: usize) {
        let len = len.min(self.kv.len());
        self.pass = None;
        self.guesses = 0;
        self.kv.truncate(len);
        self.tokens.truncate(len);
    }

    /// Appends tokens that may turn out wrong, to be read together with those before them. There must be one to be read,
    /// and room: guesses are no reason for an error. [`settle`](Self::settle) ends them.
    pub(super) fn guess(&mut self, tokens: &[TokenId]) {
        self.tokens.extend_from_slice(tokens);
        self.guesses = tokens.len();
    }

    /// The guesses, if any.
    pub(super) fn guesses(&self) -> &[TokenId] {
        &self.tokens[self.tokens.len() - self.guesses..]
    }

    /// Keeps the first `right` of the guesses, and forgets the others.
    pub(super) fn settle(&mut self, right: usize) {
        if self.guesses > 0 {
            self.truncate(self.tokens.len() - self.guesses + right);
        }
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
        self.check_room(self.tokens.len() + tokens.len())?;
        self.tokens.extend_from_slice(tokens);
        self.wanted = Wanted::All;
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
        // Guesses are read in one pass with the token before them.
        let together = self.guesses + 1;
        let tokens = if rest.len() <= MAX_PASS { rest.len() } else { MAX_PASS.min(rest.len() - together) };
        let pass = Pass::new(&rest[..tokens]);
        let pass = match &self.wanted {
            Wanted::All if tokens == rest.len() => pass.logits_from(tokens - together),
            Wanted::Of(asked) if tokens == rest.len() => pass.rows(Arc::clone(asked)),
            Wanted::All | Wanted::Of(_) | Wanted::None => pass.without_logits(),
        };
        Ok(Under { tokens, steps: pass.steps(model).max(1), steps_done: 0, pass })
    }
}

/// The error for `requested` tokens where only `available` fit.
pub fn overflow(requested: usize, available: usize) -> Error {
    Error::new(ErrorKind::ContextOverflow, format!("{requested} tokens are needed and the context holds {available}"))
        .with_detail(Detail::Limit { requested: requested as u64, available: available as u64 })
}
