//! A session: the tokens that the model has read, and their keys and values.

use crate::error::{Error, ErrorKind, Result};
use crate::model::{KvCache, Model, Pass, Progress};
use crate::tokenizer::TokenId;

/// Tokens and their [`KvCache`], kept in step. It alone truncates the cache, so that the two cannot drift apart.
///
/// Invariant: `kv.len() <= tokens.len()`; `tokens[..kv.len()]` are the tokens whose keys and values are in `kv`, the
/// rest is still to be read.
pub struct Session {
    tokens: Vec<TokenId>,
    kv: KvCache,
    /// The pass over `tokens[kv.len()..][..chunk]`, if one is under way.
    pass: Option<Pass>,
}

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

    /// Bounded work: one step of one pass over at most [`Pass::CHUNK`] tokens.
    ///
    /// # Errors
    /// `internal` if nothing is left to read; otherwise the model's.
    pub fn step(&mut self, model: &Model) -> Result<Reading> {
        let start = self.kv.len();
        let pass = match &mut self.pass {
            Some(pass) => pass,
            none => {
                let rest = &self.tokens[start..];
                if rest.is_empty() {
                    return Err(Error::new(ErrorKind::Internal, "a session was stepped with nothing left to read"));
                }
                none.insert(Pass::new(&rest[..rest.len().min(Pass::CHUNK)]))
            }
        };
        match pass.step(model, &mut self.kv) {
            Ok(Progress::More) => Ok(Reading::More),
            Ok(Progress::Done(logits)) => {
                self.pass = None;
                Ok(if self.kv.len() == self.tokens.len() { Reading::Done(logits) } else { Reading::More })
            }
            Err(error) => {
                self.pass = None;
                Err(error)
            }
        }
    }
}

/// The error for `requested` tokens where only `available` fit.
pub fn overflow(requested: usize, available: usize) -> Error {
    Error::new(
        ErrorKind::ContextOverflow,
        format!("{requested} tokens are needed and the context holds {available}"),
    )
    .with_detail(crate::error::Detail::Limit { requested: requested as u64, available: available as u64 })
}
