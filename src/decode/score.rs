//! Log-probabilities of candidates: how well each of many texts continues what a session has read.
//!
//! ```text
//! read the prefix up to its last token       (all but what the session has read already)
//! one pass over the tree of the candidates   (model::TreePass)
//! ```

use std::sync::Arc;

use crate::decode::session::{Reading, Session};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Model, TokenTree, TreePass, TreeProgress};
use crate::tokenizer::TokenId;

/// Candidates under way. It owns its session until [`finish`](Self::finish) or [`cancel`](Self::cancel) gives it back.
pub struct Scorer {
    model: Arc<Model>,
    session: Session,
    pass: TreePass,
    /// For each candidate its tokens' nodes in the tree.
    paths: Vec<Vec<u32>>,
    /// For each node, once the pass is done.
    scores: Option<Vec<f32>>,
}

/// What one [`Scorer::step`] achieved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scoring {
    /// There is more to do.
    More,
    /// Everything is scored; call [`Scorer::finish`].
    Done,
}

/// How likely each candidate is, token by token.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// For each candidate, for each of its tokens, the natural logarithm of its probability, over the whole vocabulary,
    /// after the prefix and the candidate's tokens before it.
    pub tokens: Vec<Vec<f32>>,
}

impl Scores {
    /// The natural logarithm of each candidate's probability after the prefix: the sum over its tokens. An empty
    /// candidate has 0.
    pub fn totals(&self) -> Vec<f32> {
        let total = |tokens: &Vec<f32>| tokens.iter().map(|&score| f64::from(score)).sum::<f64>() as f32;
        self.tokens.iter().map(total).collect()
    }
}

impl Scorer {
    /// Begins to score `candidates` as continuations of `prefix`; no work is done before [`step`](Self::step).
    ///
    /// Candidates may share beginnings, which then cost once, and may be alike or empty. How the prefix and the candidates
    /// are cut into tokens is the caller's: a candidate is scored as the tokens that it is given as.
    ///
    /// # Errors
    /// - `invalid-argument`: an empty prefix, or more different tokens than a tree holds (with both numbers).
    /// - `context-overflow`: prefix and longest candidate do not fit (with both numbers).
    pub fn new(
        model: Arc<Model>,
        mut session: Session,
        prefix: &[TokenId],
        candidates: &[Vec<TokenId>],
    ) -> Result<Self> {
        let Some((&last, before)) = prefix.split_last() else {
            return Err(Error::new(ErrorKind::InvalidArgument, "candidates need a text to continue"));
        };
        let longest = candidates.iter().map(Vec::len).max().unwrap_or(0);
        session.check_room(prefix.len() + longest)?;
        let mut tree = TokenTree::new(last);
        let paths = candidates.iter().map(|candidate| tree.insert(candidate)).collect::<Result<_>>()?;
        session.adopt(before);
        Ok(Self { model, session, pass: TreePass::new(&tree), paths, scores: None })
    }

    /// How many tokens the model has to read for the scores, what the session has read already left out.
    pub fn tokens(&self) -> usize {
        self.session.unread() + self.pass.tokens()
    }

    /// Bounded work: one step of the model.
    ///
    /// # Errors
    /// The model's. After an error the scorer can only be cancelled.
    pub fn step(&mut self) -> Result<Scoring> {
        if self.session.unread() > 0 {
            let (Reading::More | Reading::Done(_)) = self.session.step(&self.model)?;
            return Ok(Scoring::More);
        }
        if self.scores.is_none()
            && let TreeProgress::Done(scores) = self.session.step_tree(&self.model, &mut self.pass)?
        {
            self.scores = Some(scores);
        }
        Ok(if self.scores.is_some() { Scoring::Done } else { Scoring::More })
    }

    /// The scores, once a step has said [`Scoring::Done`], and the session, which has read the prefix but for its last
    /// token.
    ///
    /// # Errors
    /// `internal` before that.
    pub fn finish(self) -> Result<(Scores, Session)> {
        let early = || Error::new(ErrorKind::Internal, "candidates were asked for before all were scored");
        let scores = self.scores.ok_or_else(early)?;
        let of_path = |path: &Vec<u32>| path.iter().map(|&node| scores[node as usize]).collect();
        Ok((Scores { tokens: self.paths.iter().map(of_path).collect() }, self.session))
    }

    /// Gives the session back, with what has been read so far.
    pub fn cancel(self) -> Session {
        self.session
    }
}
