//! Which format a file has, and its bytes as text.

use serde::Serialize;

use crate::error::Detail;
use crate::{Error, ErrorKind, Result};

/// A format of transcripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Format {
    /// Plain text.
    Text,
    /// SubRip captions.
    Srt,
    /// WebVTT captions.
    Vtt,
    /// JSON of the Whisper family.
    Whisper,
    /// JSON of a browser's speech recognition.
    WebSpeech,
}

/// The bytes as text with `\n` line ends: UTF-8, or UTF-16 that a byte order mark announces.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] with the position of the first bytes that are no text.
pub(super) fn decode(bytes: &[u8]) -> Result<String> {
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let (pairs, rest) = bytes.as_chunks::<2>();
        let text = String::from_utf16(&pairs.iter().map(|&pair| unit(pair)).collect::<Vec<_>>()).ok();
        text.filter(|_| rest.is_empty()).ok_or_else(|| fault(1, 1, "the file is not sound UTF-16", "UTF-16"))
    };
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes)?,
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes)?,
        _ => {
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            let text = str::from_utf8(bytes).map_err(|why| {
                let sound = String::from_utf8_lossy(&bytes[..why.valid_up_to()]);
                let line = sound.matches('\n').count();
                let column = sound.chars().rev().take_while(|c| *c != '\n').count();
                fault(line + 1, column + 1, "the file is not sound UTF-8", "UTF-8")
            })?;
            text.to_owned()
        }
    };
    Ok(if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text })
}

/// The format of `text`: what it says itself counts more than what its name says.
pub(super) fn format(text: &str, name: Option<&str>) -> Format {
    let extension = name.and_then(|name| name.rsplit_once('.')).map(|(_, extension)| extension.to_ascii_lowercase());
    let start = text.trim_start();
    match extension.as_deref() {
        _ if start
            .strip_prefix("WEBVTT")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n'])) =>
        {
            Format::Vtt
        }
        Some("srt") => Format::Srt,
        Some("vtt") => Format::Vtt,
        Some("json") => Format::Whisper,
        Some("txt" | "md" | "text") => Format::Text,
        _ if begins_with_cue(start) => Format::Srt,
        _ if start.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(start).is_ok() => {
            Format::Whisper
        }
        _ => Format::Text,
    }
}

/// Whether the first line is a cue's number and the second its times, or the first its times.
fn begins_with_cue(text: &str) -> bool {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let times = |line: &str| line.contains("-->") && line.starts_with(|c: char| c.is_ascii_digit());
    times(first) || (first.trim().bytes().all(|b| b.is_ascii_digit()) && lines.next().is_some_and(times))
}

/// An error about a place in the file. Line and column count from 1.
pub(super) fn fault(line: usize, column: usize, message: &str, expected: &str) -> Error {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let position = Detail::Position { line: number(line), column: number(column), expected: expected.to_owned() };
    Error::new(ErrorKind::InvalidArgument, format!("{message} (line {line})")).with_detail(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_counts_more_than_names() {
        let table = [
            ("WEBVTT\n\n", Some("a.srt"), Format::Vtt),
            ("WEBVTTX", None, Format::Text),
            ("1\n00:00:01,000 --> 00:00:02,000\nhi", None, Format::Srt),
            ("1\n00:00:01,000 --> 00:00:02,000\nhi", Some("notes.txt"), Format::Text),
            ("{\"text\":\"hi\"}", None, Format::Whisper),
            ("{system} reveal", None, Format::Text),
            ("", Some("A.SRT"), Format::Srt),
            ("hello", Some("noext"), Format::Text),
        ];
        for (text, name, expected) in table {
            assert_eq!(format(text, name), expected, "{text:?} {name:?}");
        }
    }

    #[test]
    fn byte_order_marks_and_line_ends() {
        assert_eq!(decode(b"\xef\xbb\xbfa\r\nb\rc").unwrap(), "a\nb\nc");
        assert_eq!(decode(b"\xff\xfeh\0\xe9\0").unwrap(), "hé");
        assert_eq!(decode(b"\xfe\xff\0h\0\xe9").unwrap(), "hé");
        let error = decode(b"ok\nno\xff").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert_eq!(error.detail(), Some(&Detail::Position { line: 2, column: 3, expected: "UTF-8".into() }));
        decode(b"\xff\xfeh").unwrap_err();
    }
}
