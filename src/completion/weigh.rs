//! Weighing texts as continuations: of one beginning after the other, whose unchanging part stays in the model's pool.

use std::sync::Arc;

use crate::completion::loaded::{Loaded, MAX_BYTES_PER_TOKEN};
use crate::completion::provider::{Continuations, Weighing};
use crate::decode::{Scorer, Scoring, Session, Usage};
use crate::error::Result;
use crate::tasks::tag::Likelihood;
use crate::tokenizer::TokenId;

pub(super) struct Weigh {
    loaded: Arc<Loaded>,
    /// None for what is out of the question and is not read.
    asked: Vec<Option<Encoded>>,
    found: Vec<Vec<Likelihood>>,
    scorer: Option<Scorer>,
    usage: Usage,
}

/// [`Continuations`] in tokens.
struct Encoded {
    beginning: Vec<TokenId>,
    /// How many tokens of the beginning hold nothing of the request's.
    kept: usize,
    texts: Vec<Vec<TokenId>>,
}

impl Encoded {
    /// # Errors
    /// `tokenizer`.
    fn new(loaded: &Loaded, asked: &Continuations) -> Result<Self> {
        let kept = loaded.tokens(&asked.kept)?;
        let beginning = loaded.tokens(&format!("{}{}", asked.kept, asked.material))?;
        let kept = kept.iter().zip(&beginning).take_while(|(a, b)| a == b).count();
        let encode = |text: &String| {
            // There is no need to encode hours of speech for the first tokens of it.
            let start = text.floor_char_boundary(asked.max_tokens.saturating_mul(MAX_BYTES_PER_TOKEN));
            let mut tokens = loaded.tokens(&text[..start])?;
            tokens.truncate(asked.max_tokens);
            Ok(tokens)
        };
        Ok(Self { beginning, kept, texts: asked.texts.iter().map(encode).collect::<Result<_>>()? })
    }
}

impl Weigh {
    /// # Errors
    /// `tokenizer`.
    pub(super) fn new(loaded: Arc<Loaded>, asked: &[Option<Continuations>]) -> Result<Self> {
        let encode =
            |asked: &Option<Continuations>| asked.as_ref().map(|asked| Encoded::new(&loaded, asked)).transpose();
        let asked = asked.iter().map(encode).collect::<Result<_>>()?;
        Ok(Self { loaded, asked, found: vec![], scorer: None, usage: Usage::default() })
    }

    /// Keeps what a session has read of the beginning that is being weighed, and nothing of the request's.
    fn keep(&self, session: Session) {
        let kept = self.asked.get(self.found.len()).and_then(Option::as_ref).map_or(0, |asked| asked.kept);
        let read = session.read();
        self.loaded.keep(session, kept.min(read));
    }
}

impl Weighing for Weigh {
    /// # Errors
    /// The model's, and `context-overflow` for a context in which a beginning and its texts do not fit.
    fn step(&mut self) -> Result<bool> {
        let Some(asked) = self.asked.get(self.found.len()) else { return Ok(false) };
        let Some(Encoded { beginning, texts, .. }) = asked else {
            self.found.push(vec![]);
            return Ok(true);
        };
        let scorer = match &mut self.scorer {
            Some(scorer) => scorer,
            None => {
                let (scorer, cached) = self.loaded.scorer(beginning, texts)?;
                self.usage.prompt_tokens += beginning.len() + texts.iter().map(Vec::len).sum::<usize>();
                self.usage.cached_tokens += cached;
                self.scorer.insert(scorer)
            }
        };
        if scorer.step()? == Scoring::Done
            && let Some(scorer) = self.scorer.take()
        {
            let lengths = texts.iter().map(Vec::len);
            let (scores, session) = scorer.finish()?;
            let likelihood = |(log_probability, tokens)| Likelihood { log_probability, tokens };
            let found = scores.totals().into_iter().zip(lengths).map(likelihood).collect();
            self.keep(session);
            self.found.push(found);
        }
        Ok(self.found.len() < self.asked.len())
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn finish(mut self: Box<Self>) -> Vec<Vec<Likelihood>> {
        std::mem::take(&mut self.found)
    }
}

/// What has been read of a beginning stays.
impl Drop for Weigh {
    fn drop(&mut self) {
        if let Some(scorer) = self.scorer.take() {
            self.keep(scorer.cancel());
        }
    }
}
