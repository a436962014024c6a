//! A language model that is asked about passages, just as a cleanup asks it.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use fairhand::completion::{Engine, EngineOptions, Passage, Provider};

/// Tokens of a question at most.
const CONTEXT: usize = 1024;

/// A model, and what asking it has cost.
pub struct Asked {
    provider: Arc<dyn Provider>,
    questions: usize,
    tokens: usize,
}

impl Asked {
    /// The model in the file `path`.
    pub fn read(path: &Path) -> Result<Self, String> {
        let say = |why: &dyn fmt::Display| format!("{}: {why}", path.display());
        let bytes = std::fs::read(path).map_err(|why| say(&why))?;
        let options = EngineOptions { context_size: Some(CONTEXT), ..Default::default() };
        let engine = Engine::read(&bytes, options).map_err(|why| say(&why))?;
        Ok(Self { provider: engine.provider(), questions: 0, tokens: 0 })
    }

    /// How many tokens the model has read.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// How well each passage goes on, asked at once.
    pub fn scores<'a>(&mut self, passages: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Vec<f32>, String> {
        let passages: Vec<Passage> = passages.map(|(before, after)| Passage { before, after }).collect();
        let scores = || {
            let mut comparing = Arc::clone(&self.provider).compare(&passages)?;
            while comparing.step()? {}
            Ok((comparing.tokens(), comparing.finish()?))
        };
        let (tokens, scores) = scores().map_err(|why: fairhand::Error| why.to_string())?;
        self.tokens += tokens;
        self.questions += 1;
        Ok(scores)
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} times asked, {} tokens each", self.questions, self.tokens / self.questions.max(1))
    }
}
