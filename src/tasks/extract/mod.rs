//! The action items that a speaker committed to.
//!
//! Two ways lead to them. A large model is asked freely ([`messages`], [`grammar`], [`read`]). For a small one, rules
//! [`propose`] tasks in the speaker's own words, and the model at most chooses among them ([`grammar_of`],
//! [`read_chosen`]): whatever it writes is grounded.
//!
//! ```text
//! raw ─▶ clauses ─▶ candidates ─▶ choice
//!        tokens     cues, imperatives, extent
//! ```

use serde::Serialize;

use super::feedback::{FeedbackExample, build_conditioned_system_prompt};
use super::prompt::{EXTRACT_TASKS, Prompt};
use super::{Message, reader};
use crate::Result;

mod candidates;
mod choice;
pub(super) mod clauses;
pub(super) mod cues;
mod extent;
pub(super) mod imperative;
pub(super) mod syntax;
pub(super) mod times;
pub(super) mod verbs;

pub use candidates::Proposer;
pub use choice::{grammar_of, read_chosen};

/// Counts up with every change of the rules.
pub const RULES_VERSION: u32 = 2;

/// The most tokens that an answer may take: some thirty short items.
pub const MAX_TOKENS: usize = 512;

/// From this confidence on, a candidate is a task without anybody's judgement.
pub const SURE: f32 = 0.8;

/// A clause by which the speaker may have taken something on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// An imperative in the speaker's own words: every word stands in the evidence, upper and lower case aside.
    pub task: String,
    /// Where the evidence begins, in bytes of the raw text.
    pub start: usize,
    /// Where the evidence ends, in bytes of the raw text.
    pub end: usize,
    /// Between 0 and 1.
    pub confidence: f32,
}

impl Candidate {
    /// Whether the rules are certain of it.
    pub fn is_sure(&self) -> bool {
        self.confidence >= SURE
    }
}

/// The tasks that `text` may speak of, in its order, without second copies. The rules know English; of other languages
/// nothing is proposed. The work is linear in the text; [`Proposer`] does it in bounded steps.
pub fn propose(text: &str) -> Vec<Candidate> {
    let mut proposer = Proposer::new(text);
    while proposer.step() {}
    proposer.finish()
}

/// The conversation that asks for the action items of `transcript`, in the style of `examples`.
pub fn messages(transcript: &str, examples: &[FeedbackExample]) -> Vec<Message> {
    Prompt::ask(build_conditioned_system_prompt(EXTRACT_TASKS.text, examples), transcript)
}

/// The GBNF grammar of a free answer: an array of any number of strings.
pub const fn grammar() -> &'static str {
    include_str!("../../../grammars/optional-task-array.gbnf")
}

/// The tasks in a free answer, trimmed, in order, without empty ones and second copies. None is a fair answer.
///
/// # Errors
/// [`ErrorKind::InvalidStructuredOutput`](crate::ErrorKind::InvalidStructuredOutput) with the raw answer when it is not
/// a JSON array of strings.
pub fn read(raw: &str) -> Result<Vec<String>> {
    reader::strings(raw)
}
