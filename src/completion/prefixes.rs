//! The sessions between calls: what a prompt's unchanging part has cost once need not be paid again.

use crate::decode::Session;
use crate::tokenizer::TokenId;

/// How many prefixes are kept. The four tasks need one each, and a tag one more for each intent; the rest is room for a
/// caller's own prompts and intents. A prefix of 150 tokens takes about 7 MB with SmolLM2-135M.
const MAX_PREFIXES: usize = 20;

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
}
