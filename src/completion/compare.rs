//! Scoring passages: how well each goes on from its beginning, all in one pass over the tree of their tokens.

use std::sync::Arc;

use crate::completion::loaded::Loaded;
use crate::completion::provider::{Comparing, Passage};
use crate::decode::{Scorer, Scoring, overflow};
use crate::error::{Error, ErrorKind, Result};
use crate::tokenizer::TokenId;

/// Where every passage begins: the root of the tree.
const ROOT: &str = "\n";
/// The most tokens in all passages together, each counted as often as it is there: what a tree is made of in one step.
const MAX_TOKENS: usize = 1 << 15;

/// Passages being scored. Nothing of them is kept.
pub(super) struct Compare {
    loaded: Arc<Loaded>,
    /// There until the scores are.
    scorer: Option<Scorer>,
    tokens: usize,
    /// For each passage, how many of its tokens come before what is scored.
    starts: Vec<usize>,
    scores: Vec<f32>,
}

impl Compare {
    /// # Errors
    /// `tokenizer`; `context-overflow` where the passages do not fit in the context.
    pub(super) fn new(loaded: Arc<Loaded>, passages: &[Passage]) -> Result<Self> {
        let longest = passages.iter().map(|passage| passage.before.len() + passage.after.len()).max().unwrap_or(0);
        // There is no need to encode what cannot fit.
        loaded.check_bytes(longest)?;
        let mut paths: Vec<Vec<TokenId>> = Vec::with_capacity(passages.len());
        let mut starts: Vec<usize> = Vec::with_capacity(passages.len());
        let mut tokens = 0;
        for (k, passage) in passages.iter().enumerate() {
            // Passages that begin alike stand together.
            let mut path = match k.checked_sub(1) {
                Some(other) if passages[other].before == passage.before => paths[other][..starts[other]].to_vec(),
                _ => loaded.tokens(passage.before)?,
            };
            starts.push(path.len());
            path.extend(loaded.tokens(passage.after)?);
            tokens += path.len();
            if tokens > MAX_TOKENS {
                return Err(overflow(tokens, MAX_TOKENS));
            }
            paths.push(path);
        }
        let (scorer, _) = loaded.scorer(&loaded.tokens(ROOT)?, &paths)?;
        Ok(Self { tokens: scorer.tokens(), loaded, scorer: Some(scorer), starts, scores: vec![] })
    }
}

impl Comparing for Compare {
    fn tokens(&self) -> usize {
        self.tokens
    }

    fn step(&mut self) -> Result<bool> {
        let Some(scorer) = &mut self.scorer else { return Ok(false) };
        if scorer.step()? == Scoring::More {
            return Ok(true);
        }
        if let Some(scorer) = self.scorer.take() {
            let (scores, session) = scorer.finish()?;
            let sum = |(tokens, start): (&Vec<f32>, &usize)| tokens[*start..].iter().sum();
            self.scores = scores.tokens.iter().zip(&self.starts).map(sum).collect();
            self.loaded.keep(session, 0);
        }
        Ok(false)
    }

    fn finish(self: Box<Self>) -> Result<Vec<f32>> {
        match self.scorer {
            None => Ok(self.scores),
            Some(_) => Err(Error::new(ErrorKind::Internal, "passages were asked for before all were scored")),
        }
    }
}
