//! SubRip: a number, a line of times, lines of text, a blank line.

use super::builder::Builder;
use super::cue::{Cue, is_times, push_all};
use super::{Format, NoticeKind, Transcript};

/// Reads SubRip. The number may be absent, and a cue's text may have blank lines: a line of times begins a cue. Text before
/// the first one is kept without times.
pub(super) fn read(text: &str) -> Transcript {
    let lines: Vec<(usize, &str)> = text.lines().enumerate().map(|(i, line)| (i + 1, line)).collect();
    let mut builder = Builder::default();
    let mut cues: Vec<Cue> = vec![];
    for (i, &(number, line)) in lines.iter().enumerate() {
        if let Some(cue) = Cue::begin(line, number, &mut builder) {
            cues.push(cue);
        } else if is_index(line) && lines.get(i + 1).is_some_and(|(_, next)| is_times(next)) || line.trim().is_empty() {
            // The number of the next cue, or a blank line.
        } else if let Some(cue) = cues.last_mut() {
            cue.text.push((number, line));
        } else {
            builder.notice(Some(number), NoticeKind::OutsideCue);
            cues.push(Cue { line: number, text: vec![(number, line)], ..Cue::default() });
        }
    }
    push_all(&mut builder, &cues);
    builder.finish(Format::Srt, None)
}

fn is_index(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit())
}
