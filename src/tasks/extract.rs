//! The action items that a speaker committed to.

use super::feedback::{FeedbackExample, build_conditioned_system_prompt};
use super::prompt::{EXTRACT_TASKS, Prompt};
use super::{Message, reader};
use crate::Result;

/// The most tokens that an answer may take: some thirty short items.
pub const MAX_TOKENS: usize = 512;

/// The conversation that asks for the action items of `transcript`, in the style of `examples`.
pub fn messages(transcript: &str, examples: &[FeedbackExample]) -> Vec<Message> {
    Prompt::ask(build_conditioned_system_prompt(EXTRACT_TASKS.text, examples), transcript)
}

/// The GBNF grammar of an answer: an array of any number of strings.
pub const fn grammar() -> &'static str {
    include_str!("../../grammars/optional-task-array.gbnf")
}

/// The tasks in an answer, trimmed, in order, without empty ones and second copies. None is a fair answer.
///
/// # Errors
/// [`ErrorKind::InvalidStructuredOutput`](crate::ErrorKind::InvalidStructuredOutput) with the raw answer when it is not
/// a JSON array of strings.
pub fn read(raw: &str) -> Result<Vec<String>> {
    reader::strings(raw)
}
