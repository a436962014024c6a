//! What a caller asks for, as JavaScript hands it over.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::completion::profile::Reasoning;
use crate::completion::registry::Input;
use crate::decode::Sampling;
use crate::tasks::cleanup::CleanupOptions;
use crate::tasks::feedback::FeedbackExample;
use crate::tasks::tag::TagOptions;
use crate::tokenizer::Message;

/// One piece of work: a task, and how to generate where the task asks the model.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    #[serde(flatten)]
    pub task: Task,
    #[serde(flatten)]
    pub generation: GenerationOptions,
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
    /// In place of the prompt's own.
    #[serde(default)]
    pub profile: Option<String>,
    /// The caller's own name for a series of requests; it comes back in the provenance.
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub reasoning: Reasoning,
    #[serde(default)]
    pub stop: Vec<String>,
}

/// Who decides in a cleanup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CleanupMode {
    /// Rules propose reversible edits. Nothing that was not said can appear.
    #[default]
    Choose,
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
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GenerationOptions {
    pub max_tokens: Option<usize>,
    pub seed: u64,
    pub sampling: Option<Sampling>,
    /// How often an answer that cannot be read is asked for again, whole, with the next seed.
    pub retries: Option<u32>,
}
