//! One request under way, in steps of bounded work.

use std::sync::Arc;

use serde::Serialize;

use crate::completion::engine::{Prompt, Shared};
use crate::completion::outcome::{
    CleanupOutcome, CompleteOutcome, DecomposeOutcome, ExtractOutcome, Fallback, Outcome, Provenance, TagOutcome,
};
use crate::completion::request::{CleanupMode, GenerationOptions, Request, Task};
use crate::decode::{Answer, Generation, Plan, Step, Usage};
use crate::error::{Error, ErrorKind, Result};
use crate::tasks::cleanup::{self, Cleaned, Cleaner, CleanupOptions};
use crate::tasks::prompt::Prompt as PromptFile;
use crate::tasks::{decompose, extract, feedback::FeedbackExample, tag};
use crate::tokenizer::{Message, TokenId};

/// A request under way. Dropping it cancels it; what the model has read of the prompt's prefix is kept.
pub struct Job {
    shared: Option<Arc<Shared>>,
    state: State,
    usage: Usage,
}

/// What one [`Job::step`] achieved.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    pub done: bool,
    /// Text that the model has written since the last report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
}

/// How far a phase has come. Only phases with a known end report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    pub phase: Phase,
    pub done: usize,
    /// Bytes of the text in the phase `rules`; tokens of the prompt in `prefill`; the most tokens of the answer in `decode`.
    pub total: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    Rules,
    Prefill,
    Decode,
}

enum State {
    Rules { cleaner: Cleaner, rewrite: Option<Rewrite> },
    Model(Box<Running>),
    Done(Box<Outcome>),
    /// The result has been taken, or a step has failed.
    Over,
}

/// A generation and what to make of its answer.
struct Running {
    generation: Generation,
    prefix: usize,
    max_tokens: usize,
    provenance: Provenance,
    reader: Reader,
}

enum Reader {
    Extract,
    Decompose,
    Tag,
    Complete,
    Rewrite { rules: Cleaned, options: CleanupOptions },
}

/// A free rewrite, planned before the rules run so that it can be refused at once.
struct Rewrite {
    running_from: Planned,
    options: CleanupOptions,
}

/// A checked plan.
struct Planned {
    generation: Generation,
    prefix: usize,
    max_tokens: usize,
    provenance: Provenance,
}
