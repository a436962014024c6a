//! The seam between the boundary and whoever answers: a model of this crate, or in tests a script.
//!
//! A provider gets a [`Question`] whole and gives its answer in steps of bounded work. It knows nothing of tasks, of
//! retries or of time; what it has read of a prompt it may keep for the next one that begins alike.

use std::sync::Arc;

use serde::Serialize;

use crate::completion::versions::Versions;
use crate::decode::{FinishReason, Sampling, Step, Usage};
use crate::error::{Error, ErrorKind, Result};
use crate::grammar::Grammar;
use crate::tasks::prompt::digest;
use crate::tasks::tag::Likelihood;
use crate::tokenizer::Message;

/// Answers questions.
pub trait Provider: Send + Sync {
    /// What answers.
    fn info(&self) -> Info;

    /// How many tokens `text` takes by itself.
    ///
    /// # Errors
    /// `tokenizer` if the text cannot be encoded.
    fn count_tokens(&self, text: &str) -> Result<usize>;

    /// Begins an answer; no work is done before [`Answering::step`].
    ///
    /// # Errors
    /// `invalid-argument`, `invalid-grammar`, `context-overflow`, `template`, `tokenizer`.
    fn answer(self: Arc<Self>, question: &Question) -> Result<Box<dyn Answering>>;

    /// Begins to weigh how likely each text is as a continuation; what is absent is out of the question and costs nothing.
    ///
    /// # Errors
    /// `tokenizer`.
    fn weigh(self: Arc<Self>, asked: &[Option<Continuations>]) -> Result<Box<dyn Weighing>>;

    /// Begins to score how well each passage goes on. What several have in common at their beginnings is read once.
    ///
    /// # Errors
    /// `tokenizer`; `context-overflow` where they are too long to be read together.
    fn compare(self: Arc<Self>, passages: &[Passage]) -> Result<Box<dyn Comparing>>;

    /// What has been read of prompts' beginnings, for another visit; nothing where nothing is kept.
    fn prefixes(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Takes in the [`prefixes`](Self::prefixes) of another visit. Returns how many there are more now.
    ///
    /// # Errors
    /// `invalid-argument` for what are no prefixes of this provider.
    fn take_prefixes(&self, bytes: &[u8]) -> Result<usize> {
        match bytes {
            [] => Ok(0),
            _ => Err(Error::new(ErrorKind::InvalidArgument, "nothing is kept of prompts here")),
        }
    }
}

/// An answer under way. Dropping it cancels it.
pub trait Answering: Send {
    /// Bounded work.
    ///
    /// # Errors
    /// The provider's own; the answer is then lost.
    fn step(&mut self) -> Result<Step>;

    /// Token counts so far.
    fn usage(&self) -> Usage;

    /// The most tokens that the answer may have.
    fn max_tokens(&self) -> usize;

    /// The answer, once a step has said [`Step::Finished`].
    ///
    /// # Errors
    /// `internal` before that.
    fn finish(self: Box<Self>) -> Result<Written>;
}

/// Texts to weigh as what may come next.
#[derive(Clone, Debug, PartialEq)]
pub struct Continuations {
    /// What is read first. It holds nothing of a request's, and is worth keeping for the next one.
    pub kept: String,
    /// What is read after it.
    pub material: String,
    pub texts: Vec<String>,
    /// How many tokens of each text count.
    pub max_tokens: usize,
}

/// Continuations being weighed. Dropping it cancels it.
pub trait Weighing: Send {
    /// Bounded work. Returns whether there is more.
    ///
    /// # Errors
    /// The provider's own.
    fn step(&mut self) -> Result<bool>;

    /// Token counts so far.
    fn usage(&self) -> Usage;

    /// How likely each text of each [`Continuations`] is; nothing for those that were absent.
    fn finish(self: Box<Self>) -> Vec<Vec<Likelihood>>;
}

/// A text, and how it may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage<'a> {
    pub before: &'a str,
    pub after: &'a str,
}

/// Passages being scored. Dropping it cancels it.
pub trait Comparing: Send {
    /// How many tokens are read for the scores.
    fn tokens(&self) -> usize;

    /// Bounded work. Returns whether there is more.
    ///
    /// # Errors
    /// The provider's own.
    fn step(&mut self) -> Result<bool>;

    /// For each passage the natural logarithm of the probability of its `after` behind its `before`, once a step has said
    /// that there is no more.
    ///
    /// # Errors
    /// `internal` before that.
    fn finish(self: Box<Self>) -> Result<Vec<f32>>;
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    pub prompt: Prompt,
    /// The setting of the chat template's switch for thinking, if it has one; none leaves the template's own habit.
    pub thinks: Option<bool>,
    /// What the answer is held to.
    pub form: Option<CompiledForm>,
    /// Texts that end the answer and are no part of it.
    pub stop: Vec<String>,
    pub max_tokens: usize,
    pub sampling: Sampling,
    pub seed: u64,
}

/// The text of a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Prompt {
    /// Messages for the model's own template. What they have in common with `blank`, the same without the request's
    /// material, is worth keeping for the next question.
    Chat {
        messages: Vec<Message>,
        #[serde(skip)]
        blank: Vec<Message>,
    },
    /// A text as it stands, in which control tokens can be spelled. All of it is material.
    Raw { text: String },
}

/// A grammar ready for use, and the digest of its text.
#[derive(Clone, Debug)]
pub struct CompiledForm {
    pub grammar: Arc<Grammar>,
    pub digest: String,
}

/// A finished answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    pub text: String,
    pub finish_reason: FinishReason,
    /// The most tokens were so near that they shaped the end of the answer.
    pub truncated: bool,
}

/// What is loaded.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Info {
    pub model: ModelInfo,
    /// The most tokens that prompt and answer may have together.
    pub context_size: usize,
    pub versions: Versions,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    /// The name that the file gives itself.
    pub name: Option<String>,
    /// Of the file's bytes.
    pub digest: String,
    pub architecture: &'static str,
    pub layers: usize,
    pub vocabulary: usize,
    /// Bytes of weights in the file.
    pub weight_bytes: u64,
}

impl Prompt {
    /// A chat whose last message carries the material.
    pub fn chat(messages: Vec<Message>) -> Self {
        let plain = messages.clone();
        Self::conditioned(messages, plain)
    }

    /// The chat `plain`, whose last message carries the material, with a user's examples: they are read anew each time, since
    /// nothing of a user's is kept.
    pub fn conditioned(messages: Vec<Message>, plain: Vec<Message>) -> Self {
        let mut blank = plain;
        if let Some(last) = blank.last_mut() {
            last.content.clear();
        }
        Self::Chat { messages, blank }
    }

    /// A chat that goes on as `messages`, with as much of it worth keeping.
    pub(super) fn with(&self, messages: Vec<Message>) -> Self {
        match self {
            Self::Chat { blank, .. } => Self::Chat { messages, blank: blank.clone() },
            Self::Raw { .. } => Self::chat(messages),
        }
    }
}

impl CompiledForm {
    /// # Errors
    /// `invalid-grammar`.
    pub fn of(gbnf: &str) -> Result<Self> {
        Ok(Self { grammar: Arc::new(Grammar::parse(gbnf)?), digest: digest(gbnf) })
    }
}
