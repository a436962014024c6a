//! The sessions between calls: what a prompt's unchanging part has cost once need not be paid again.

use crate::completion::loader::Digest;
use crate::decode::Session;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{KvType, Model};
use crate::tokenizer::TokenId;

/// How many prefixes are kept. The four tasks need one each, and a tag one more for each intent; the rest is room for a
/// caller's own prompts and intents. A prefix of 150 tokens takes about 3.5 MB with SmolLM2-135M.
const MAX_PREFIXES: usize = 20;

/// The first bytes of a pool on its way to another visit.
const MAGIC: &[u8; 8] = b"fairhand";

/// Sessions that hold nothing but a prompt's prefix, the least recently used first.
#[derive(Default)]
pub struct PrefixPool {
    sessions: Vec<Session>,
}

impl PrefixPool {
    /// Takes out the session that has read the longest prefix of `prompt`, if one has read nothing else.
    ///
    /// A session with more than the prefix is no candidate: restarting it would throw away what another prompt needs.
    pub fn take(&mut self, prompt: &[TokenId]) -> Option<Session> {
        let (best, _) = self
            .sessions
            .iter()
            .enumerate()
            .filter(|(_, session)| session.read() > 0 && session.common_prefix(prompt) == session.read())
            .max_by_key(|(_, session)| session.read())?;
        Some(self.sessions.remove(best))
    }

    /// Keeps the first `prefix` tokens of a session for later calls, and forgets the rest: no text of a user's stays.
    pub fn put(&mut self, mut session: Session, prefix: usize) {
        session.truncate(prefix);
        if session.read() == 0 || self.sessions.iter().any(|other| other.tokens() == session.tokens()) {
            return;
        }
        if self.sessions.len() == MAX_PREFIXES {
            self.sessions.remove(0);
        }
        self.sessions.push(session);
    }

    /// The pool as bytes, for another visit with what `key` names. Numbers are little-endian and of 32 bits:
    ///
    /// ```text
    /// MAGIC, key (16 bytes), sessions · { tokens, ids…, bytes, keys and values… }, digest (16 bytes) of all before it
    /// ```
    pub fn to_bytes(&self, key: &str) -> Vec<u8> {
        let mut bytes = [MAGIC, key.as_bytes()].concat();
        bytes.extend((self.sessions.len() as u32).to_le_bytes());
        for session in &self.sessions {
            let (tokens, values) = session.remembered();
            bytes.extend((tokens.len() as u32).to_le_bytes());
            bytes.extend(tokens.iter().flat_map(|token| token.to_le_bytes()));
            bytes.extend((values.len() as u32).to_le_bytes());
            bytes.extend(values);
        }
        let digest = Digest::of(&bytes);
        bytes.extend(digest.as_bytes());
        bytes
    }

    /// Takes in what [`to_bytes`](Self::to_bytes) gave with the same `key`, as far as there is room. Returns how many prefixes are
    /// there now that were not.
    ///
    /// # Errors
    /// `invalid-argument` for bytes that are damaged, or of another key: nothing has been taken in then.
    pub fn take_bytes(
        &mut self,
        key: &str,
        bytes: &[u8],
        (kv_type, model, capacity): (KvType, &Model, usize),
    ) -> Result<usize> {
        let refuse = |why: &str| Error::new(ErrorKind::InvalidArgument, format!("the prefixes cannot be used: {why}"));
        let damaged = || refuse("they are damaged");
        let (mut rest, digest) = bytes.len().checked_sub(16).map(|at| bytes.split_at(at)).ok_or_else(damaged)?;
        if digest != Digest::of(rest).as_bytes() {
            return Err(damaged());
        }
        if rest.strip_prefix(MAGIC).and_then(|rest| rest.strip_prefix(key.as_bytes())).is_none() {
            return Err(refuse("they are of another model or version"));
        }
        rest = &rest[MAGIC.len() + key.len()..];
        let mut restored = vec![];
        for _ in 0..number(&mut rest).ok_or_else(damaged)? {
            let tokens =
                number(&mut rest).and_then(|tokens| take(&mut rest, tokens.checked_mul(4)?)).ok_or_else(damaged)?;
            let tokens: Vec<TokenId> = tokens.as_chunks().0.iter().map(|&token| u32::from_le_bytes(token)).collect();
            let values = number(&mut rest).and_then(|size| take(&mut rest, size)).ok_or_else(damaged)?;
            restored.push(Session::restored(kv_type, model, capacity, tokens, values)?);
        }
        let before = self.sessions.len();
        for session in restored {
            // Not at the cost of what this visit has read.
            if self.sessions.len() < MAX_PREFIXES {
                let read = session.read();
                self.put(session, read);
            }
        }
        Ok(self.sessions.len() - before)
    }
}

fn number(rest: &mut &[u8]) -> Option<usize> {
    let (number, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    usize::try_from(u32::from_le_bytes(*number)).ok()
}

fn take<'a>(rest: &mut &'a [u8], size: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(size)?;
    *rest = after;
    Some(taken)
}
