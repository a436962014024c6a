//! What a caller asks for, as JavaScript hands it over.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::completion::profile::Reasoning;
use crate::completion::registry::Input;
use crate::decode::Sampling;
use crate::error::{Error, ErrorKind, Result};
use crate::tasks::cleanup::CleanupOptions;
use crate::tasks::feedback::FeedbackExample;
use crate::tasks::tag::TagOptions;
use crate::tokenizer::Message;

/// One piece of work: a task, under which names, and how to generate where the task asks the model.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    #[serde(flatten)]
    pub task: Task,
    #[serde(flatten)]
    pub call: CallOptions,
    #[serde(flatten)]
    pub generation: GenerationOptions,
}

/// What a request of any task can say of itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CallOptions {
    /// In place of the prompt's own.
    pub profile: Option<String>,
    /// The caller's own name for a series of requests; it comes back in the provenance.
    pub session: Option<String>,
    pub reasoning: Reasoning,
    /// Whether the job keeps what was asked and answered for [`Job::attempts`](super::Job::attempts).
    pub record: bool,
}

/// The four powers, and the free form beneath them.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "task", rename_all = "camelCase")]
pub enum Task {
    /// Speech into writing, by reversible edits.
    Cleanup {
        text: String,
        #[serde(default)]
        options: CleanupOptions,
        #[serde(default)]
        mode: CleanupMode,
    },
    /// The action items that the speaker committed to.
    ExtractTasks {
        text: String,
        #[serde(default)]
        examples: Vec<FeedbackExample>,
        #[serde(default)]
        strategy: Strategy,
    },
    /// Three to seven steps towards a task.
    DecomposeTask {
        text: String,
        #[serde(default)]
        examples: Vec<FeedbackExample>,
        #[serde(default)]
        strategy: Strategy,
    },
    /// One topic and one intent.
    TagContent {
        text: String,
        #[serde(default)]
        strategy: Strategy,
        #[serde(default)]
        options: TagOptions,
    },
    /// A registered prompt with material in its places.
    Prompt(PromptRequest),
    /// A caller's own messages or prompt, with an optional form of the answer.
    #[serde(rename_all = "camelCase")]
    Complete {
        #[serde(default)]
        messages: Vec<Message>,
        #[serde(default)]
        prompt: Option<String>,
        #[serde(default)]
        grammar: Option<String>,
        #[serde(default)]
        schema: Option<serde_json::Value>,
        #[serde(default)]
        regex: Option<String>,
        #[serde(default)]
        stop: Vec<String>,
    },
}

/// A request by the name of a prompt.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptRequest {
    pub id: String,
    /// The newest where none is named.
    #[serde(default)]
    pub version: Option<u32>,
    #[serde(default)]
    pub inputs: Vec<Input>,
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    #[serde(default)]
    pub stop: Vec<String>,
}

/// Who decides in a cleanup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CleanupMode {
    /// Rules propose reversible edits, and a model that is loaded chooses where they are not sure; it may read `maxTokens`
    /// for that, or [`CLEANUP_MAX_TOKENS`](super::CLEANUP_MAX_TOKENS). Nothing that was not said can appear.
    #[default]
    Choose,
    /// The rules choose alone, whether or not a model is loaded.
    Rules,
    /// The model writes the text anew, for larger models; an answer that invents or loses words is replaced by the rules'.
    Rewrite,
}

/// Where the words of a task or a topic come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Strategy {
    /// From the text: rules propose, and the model chooses where they are not sure. Nothing can be invented. Steps, which
    /// are in no text, come from several tries of which the best is kept.
    #[default]
    Grounded,
    /// From the model, in one free answer of the right shape. For models large enough to be trusted with it.
    Free,
}

/// How to generate. What is absent takes the task's own default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GenerationOptions {
    pub max_tokens: Option<usize>,
    pub seed: u64,
    pub sampling: Option<Sampling>,
    /// How often the whole question is asked again, with the next seed, where its answer cannot be used.
    pub retries: Option<u32>,
    /// How often, within each of those, the model is shown an answer that cannot be used and asked to do better. None
    /// unless asked for; a raw prompt has no conversation to go on with, and is not repaired.
    pub repairs: Option<u32>,
    /// The most milliseconds that the work may take. Zero, or nothing: as long as it takes.
    pub timeout_ms: Option<f64>,
}

/// The most retries, and the most repairs: beyond it, asking again is no use.
const MAX_AGAIN: u32 = 20;

impl GenerationOptions {
    /// # Errors
    /// `invalid-argument` for `maxTokens` of zero, for sampling out of range, for more than twenty retries or repairs,
    /// and for a time limit that is negative or not finite.
    pub fn check(&self) -> Result<()> {
        let refuse = |why: String| Err(Error::new(ErrorKind::InvalidArgument, why));
        if self.max_tokens == Some(0) {
            return refuse("maxTokens must be at least 1".into());
        }
        for (name, times) in [("retries", self.retries), ("repairs", self.repairs)] {
            if times.is_some_and(|times| times > MAX_AGAIN) {
                return refuse(format!("{name} must be at most {MAX_AGAIN}"));
            }
        }
        if self.timeout_ms.is_some_and(|limit| !(limit.is_finite() && limit >= 0.0)) {
            return refuse("timeoutMs must be a finite number of at least 0".into());
        }
        self.sampling.map_or(Ok(()), Sampling::check)
    }
}
