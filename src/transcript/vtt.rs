//! WebVTT: a header, then blocks between blank lines. Source: <https://www.w3.org/TR/webvtt1/>.

use super::builder::Builder;
use super::cue::{Cue, push_all, times};
use super::sniff::fault;
use super::{Format, NoticeKind, Transcript};
use crate::Result;

/// Reads WebVTT.
///
/// # Errors
/// A fault at line 1 without the header; at a block that is neither a cue nor a comment, style or region; at times that
/// cannot be read.
pub(super) fn read(text: &str) -> Result<Transcript> {
    let lines: Vec<(usize, &str)> = text.lines().enumerate().map(|(i, line)| (i + 1, line)).collect();
    let mut blocks = lines.split(|(_, line)| line.is_empty()).filter(|block| !block.is_empty());
    let mut builder = Builder::default();

    let Some(header) = blocks.next().filter(|block| block[0].1.starts_with("WEBVTT")) else {
        return Err(fault(1, 1, "the header is missing", "WEBVTT"));
    };
    let language =
        header[1..].iter().find_map(|(_, line)| line.strip_prefix("Language:")).map(|tag| tag.trim().to_owned());

    let mut cues: Vec<Cue> = vec![];
    // Some writers leave out the blank line after the header.
    let first = header.iter().position(|(_, line)| line.contains("-->")).map(|at| &header[at..]);
    for block in first.into_iter().chain(blocks) {
        let (number, opening) = block[0];
        let is = |word: &str| {
            opening.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', ':']))
        };
        let at = block.iter().take(2).position(|(_, line)| line.contains("-->"));
        let Some(at) = at else {
            if is("NOTE") {
                builder.notice(Some(number), NoticeKind::Comment);
            } else if is("STYLE") || is("REGION") {
                builder.notice(Some(number), NoticeKind::Style);
            } else {
                return Err(fault(number, 1, "a block is no cue", "a cue's times, NOTE, STYLE or REGION"));
            }
            continue;
        };
        if at == 1 && is("NOTE") {
            builder.notice(Some(number), NoticeKind::Comment);
            continue;
        }
        // A line of times inside a block begins a cue although no blank line came before it.
        for &(number, line) in &block[at..] {
            if line.contains("-->") {
                let (start_time, end_time) = times(line, number)?;
                cues.push(Cue { line: number, start_time, end_time, text: vec![] });
            } else if let Some(cue) = cues.last_mut() {
                cue.text.push((number, line));
            }
        }
    }
    push_all(&mut builder, &cues);
    Ok(builder.finish(Format::Vtt, language))
}
