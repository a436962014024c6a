//! Results, with where they came from.

use serde::Serialize;

use crate::completion::versions::Versions;
use crate::decode::FinishReason;
use crate::tasks::cleanup::{self, Cleaned, Decider};
use crate::tasks::extract::Candidate;
use crate::tasks::prompt::{self, Prompt};
use crate::tasks::tag::Intent;

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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<PromptIdentity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grammar_digest: Option<String>,
    pub versions: Versions,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptIdentity {
    pub id: &'static str,
    pub version: u32,
    pub digest: String,
}

impl Provenance {
    /// Of an answer by rules alone.
    pub fn rules() -> Self {
        Self { provider: "fairhand", model: None, prompt: None, grammar_digest: None, versions: Versions::current() }
    }

    /// Of an answer by a model.
    pub fn model(name: Option<&str>, prompt: Option<Prompt>, grammar: Option<&str>) -> Self {
        Self {
            model: name.map(str::to_owned),
            prompt: prompt.map(|p| PromptIdentity { id: p.id, version: p.version, digest: p.digest() }),
            grammar_digest: grammar.map(prompt::digest),
            ..Self::rules()
        }
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

/// Why a free rewrite was not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// It held words that were never said.
    InventedWords,
    /// It left out too much of what was said.
    LostWords,
    /// It did not end within the tokens it was given.
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
    pub intent: Intent,
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
    pub provenance: Provenance,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompleteOutcome {
    pub text: String,
    pub finish_reason: FinishReason,
    pub truncated: bool,
    pub provenance: Provenance,
}
