//! WebVTT: a header, then blocks between blank lines. Source: <https://www.w3.org/TR/webvtt1/>.

use super::builder::Builder;
use super::cue::{Cue, is_times, push_all};
use super::{Format, NoticeKind, Transcript};

/// Reads WebVTT. The header may be absent; a block that is neither a cue nor a comment, style or region is kept without
/// times.
pub(super) fn read(text: &str) -> Transcript {
    let lines: Vec<(usize, &str)> = text.lines().enumerate().map(|(i, line)| (i + 1, line)).collect();
    let blocks = lines.split(|(_, line)| line.is_empty()).filter(|block| !block.is_empty());
    let mut builder = Builder::default();
    let mut language = None;

    let mut cues: Vec<Cue> = vec![];
    for mut block in blocks {
        let (number, opening) = block[0];
        if number == 1 && opening.starts_with("WEBVTT") {
            let tag = block[1..].iter().find_map(|(_, line)| line.strip_prefix("Language:"));
            language = tag.map(|tag| tag.trim().to_owned());
            // Some writers leave out the blank line after the header.
            let Some(first) = block.iter().position(|(_, line)| is_times(line)) else { continue };
            block = &block[first..];
        }
        let is = |word: &str| {
            opening.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', ':']))
        };
        let at = block.iter().take(2).position(|(_, line)| is_times(line));
        let Some(at) = at.filter(|at| *at == 0 || !is("NOTE")) else {
            if is("NOTE") {
                builder.notice(Some(number), NoticeKind::Comment);
            } else if is("STYLE") || is("REGION") {
                builder.notice(Some(number), NoticeKind::Style);
            } else {
                builder.notice(Some(number), NoticeKind::OutsideCue);
                cues.push(Cue { line: number, text: block.to_vec(), ..Cue::default() });
            }
            continue;
        };
        // A line of times inside a block begins a cue although no blank line came before it.
        for &(number, line) in &block[at..] {
            if let Some(cue) = Cue::begin(line, number, &mut builder) {
                cues.push(cue);
            } else if let Some(cue) = cues.last_mut() {
                cue.text.push((number, line));
            }
        }
    }
    push_all(&mut builder, &cues);
    builder.finish(Format::Vtt, language)
}
