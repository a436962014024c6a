//! Results, with where they came from.

use serde::Serialize;

use crate::completion::provider::ModelInfo;
use crate::completion::versions::Versions;
use crate::decode::FinishReason;
use crate::tasks::cleanup::{self, Cleaned, Decider};
use crate::tasks::extract::Candidate;
use crate::tasks::prompt::Prompt;
use crate::tasks::tag::Confidence;

/// The result of a request.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Outcome {
    Cleanup(CleanupOutcome),
    Extract(ExtractOutcome),
    Decompose(DecomposeOutcome),
    Tag(TagOutcome),
    Complete(CompleteOutcome),
}

/// Identities, never contents: what has to be the same for an answer to come out the same.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Provenance {
    pub provider: &'static str,
    /// The name that the model file gives itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Of the model file's bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_digest: Option<String>,
    #[serde(flatten)]
    pub origin: Origin,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grammar_digest: Option<String>,
    pub versions: Versions,
}

/// What was asked, by names.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<PromptIdentity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The caller's own name for a series of requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Where the request's material came from, as the caller said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputOrigin>,
    /// How many of the caller's examples were shown to the model, where some were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InputOrigin {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptIdentity {
    pub id: String,
    pub version: u32,
    pub digest: String,
}

impl From<Prompt> for PromptIdentity {
    fn from(prompt: Prompt) -> Self {
        Self { id: prompt.id.to_owned(), version: prompt.version, digest: prompt.digest() }
    }
}

impl Provenance {
    /// Of an answer by rules alone.
    pub fn rules(origin: Origin) -> Self {
        Self {
            provider: "fairhand",
            model: None,
            model_digest: None,
            origin,
            grammar_digest: None,
            versions: Versions::current(),
        }
    }

    /// Of an answer by a model.
    pub fn model(model: ModelInfo, origin: Origin, grammar_digest: Option<String>) -> Self {
        let ModelInfo { name, digest, .. } = model;
        Self { model: name, model_digest: Some(digest), grammar_digest, ..Self::rules(origin) }
    }
}

/// A cleaned text. Offsets count bytes of the raw text until the binding makes them UTF-16 units.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CleanupOutcome {
    #[serde(flatten)]
    pub cleaned: Cleaned,
    /// Why the rules' answer stands in for the model's, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    pub provenance: Provenance,
}

/// Why the rules answered in a model's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// It held words that were never said.
    InventedWords,
    /// It left out too much of what was said.
    LostWords,
    /// It did not end within the tokens it was given; where it only chooses: within these or the time, and what it has not
    /// been asked is as the rules have it.
    Unfinished,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtractOutcome {
    pub tasks: Vec<TaskItem>,
    #[serde(flatten)]
    pub answer: Structured,
}

/// One action item.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskItem {
    pub text: String,
    /// Where the speaker said so; absent for what a model wrote freely.
    #[serde(flatten)]
    pub evidence: Option<Evidence>,
    /// Who decided that it is a task.
    pub by: Decider,
}

/// A stretch of the raw text. Offsets count bytes until the binding makes them UTF-16 units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    pub start: usize,
    pub end: usize,
    /// How sure the rules are that the speaker took it on, 0 to 1.
    #[serde(serialize_with = "cleanup::two_decimals")]
    pub confidence: f32,
}

impl From<Candidate> for TaskItem {
    fn from(candidate: Candidate) -> Self {
        let Candidate { start, end, confidence, .. } = candidate;
        let by = if candidate.is_sure() { Decider::Rules } else { Decider::Model };
        Self { text: candidate.task, evidence: Some(Evidence { start, end, confidence }), by }
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DecomposeOutcome {
    pub steps: Vec<String>,
    #[serde(flatten)]
    pub answer: Structured,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TagOutcome {
    pub topic: String,
    /// One of the six intents, or the name of one of the caller's.
    pub intent: String,
    /// How sure both are; absent for what a model wrote freely.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    #[serde(flatten)]
    pub answer: Structured,
}

/// What every structured answer carries beside its reading.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Structured {
    /// The answer as it was generated, byte for byte.
    pub raw: String,
    /// The token budget shaped the end of the answer.
    pub truncated: bool,
    /// How often the model was asked for it; zero where rules answered.
    pub attempts: u32,
    pub provenance: Provenance,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompleteOutcome {
    /// The answer as it was generated, byte for byte.
    pub text: String,
    pub finish_reason: FinishReason,
    pub truncated: bool,
    /// How often the model was asked for it.
    pub attempts: u32,
    pub provenance: Provenance,
}
