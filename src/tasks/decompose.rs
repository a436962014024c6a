//! Three to seven small steps towards a task.

use std::ops::RangeInclusive;

use super::feedback::{FeedbackExample, build_conditioned_system_prompt};
use super::prompt::{DECOMPOSE_TASK, Prompt};
use super::{Message, reader};
use crate::Result;

/// How many steps an answer has.
pub const STEPS: RangeInclusive<usize> = 3..=7;

/// The most tokens that an answer may take: seven sentences of some thirty tokens.
pub const MAX_TOKENS: usize = 256;

/// The conversation that asks for steps towards `task`, in the style of `examples`.
pub fn messages(task: &str, examples: &[FeedbackExample]) -> Vec<Message> {
    Prompt::ask(build_conditioned_system_prompt(DECOMPOSE_TASK.text, examples), task)
}

/// The GBNF grammar of an answer: an array of three to seven strings.
pub const fn grammar() -> &'static str {
    include_str!("../../grammars/task-array.gbnf")
}

/// The steps in an answer, trimmed and in order.
///
/// # Errors
/// [`ErrorKind::InvalidStructuredOutput`](crate::ErrorKind::InvalidStructuredOutput) with the raw answer when it is not
/// a JSON array of strings, or when it has too few or too many [`STEPS`] once empty ones and second copies are dropped:
/// a list is never padded.
pub fn read(raw: &str) -> Result<Vec<String>> {
    let steps = reader::strings(raw)?;
    if !STEPS.contains(&steps.len()) {
        let (fewest, most) = (STEPS.start(), STEPS.end());
        return Err(reader::unreadable(raw, format!("{} distinct steps, not {fewest} to {most}", steps.len())));
    }
    Ok(steps)
}
