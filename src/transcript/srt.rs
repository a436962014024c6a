//! SubRip: a number, a line of times, lines of text, a blank line.

use super::builder::Builder;
use super::cue::{Cue, push_all, times};
use super::sniff::fault;
use super::{Format, Transcript};
use crate::Result;

/// Reads SubRip. The number may be absent, and a cue's text may have blank lines: a line of times begins a cue.
///
/// # Errors
/// A fault at the line of times that cannot be read, or of text before the first cue.
pub(super) fn read(text: &str) -> Result<Transcript> {
    let lines: Vec<(usize, &str)> = text.lines().enumerate().map(|(i, line)| (i + 1, line)).collect();
    let mut cues: Vec<Cue> = vec![];
    for (i, &(number, line)) in lines.iter().enumerate() {
        if line.contains("-->") {
            let (start_time, end_time) = times(line, number)?;
            cues.push(Cue { line: number, start_time, end_time, text: vec![] });
        } else if is_index(line) && lines.get(i + 1).is_some_and(|(_, next)| next.contains("-->"))
            || line.trim().is_empty()
        {
            // The number of the next cue, or a blank line.
        } else if let Some(cue) = cues.last_mut() {
            cue.text.push((number, line));
        } else {
            return Err(fault(number, 1, "there is text before the first cue", "a cue's number or times"));
        }
    }
    let mut builder = Builder::default();
    push_all(&mut builder, &cues);
    Ok(builder.finish(Format::Srt, None))
}

fn is_index(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit())
}
