//! Which format a file has, and its bytes as text.

use serde::Serialize;

use super::NoticeKind;
use super::cue::is_times;
use super::{json, windows1252};
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
    /// JSON of Deepgram's recogniser.
    Deepgram,
}

/// The bytes as text with `\n` line ends, and what had to be assumed of them: UTF-8; UTF-16 with a byte order mark or
/// without; windows-1252 for what is none of these.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] for bytes that are no text, with the position of the first where they look like one.
pub(super) fn decode(bytes: &[u8]) -> Result<(String, Option<NoticeKind>)> {
    let (text, notice) = match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => {
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            if let Some(kind) = known_binary(bytes) {
                return Err(no_text(kind));
            }
            match unmarked_utf16(bytes) {
                Some(unit) => utf16(bytes, unit),
                None if bytes.contains(&0) => return Err(no_text("binary data")),
                None => eight_bit(bytes)?,
            }
        }
    };
    if text.contains('\0') {
        return Err(no_text("binary data"));
    }
    Ok((if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text }, notice))
}

/// Whole units as UTF-16; half a character reads as U+FFFD.
fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> (String, Option<NoticeKind>) {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|&pair| unit(pair)).collect();
    match String::from_utf16(&units) {
        Ok(text) if rest.is_empty() => (text, None),
        _ => (String::from_utf16_lossy(&units), Some(NoticeKind::RepairedText)),
    }
}

/// How the units of UTF-16 without a byte order mark lie. Letters of Latin scripts, spaces and line ends have a zero in one
/// half of their unit, always the same. Where the other bytes are ASCII every unit has one; else a twentieth is enough. What
/// they spell has no control characters.
fn unmarked_utf16(bytes: &[u8]) -> Option<fn([u8; 2]) -> u16> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let least = if bytes.is_ascii() { pairs.len() } else { pairs.len() / 20 }.max(1);
    let zeros = |half: usize| pairs.iter().filter(|pair| pair[half] == 0).count();
    let unit: fn([u8; 2]) -> u16 = match (zeros(0), zeros(1)) {
        (0, low) if low >= least => u16::from_le_bytes,
        (high, 0) if high >= least => u16::from_be_bytes,
        _ => return None,
    };
    let is_text = |&pair: &[u8; 2]| !matches!(unit(pair), 0..=8 | 0xe..=0x1a | 0x1c..=0x1f | 0x7f..=0x9f | 0xfffe..);
    (rest.is_empty() && pairs.iter().all(is_text)).then_some(unit)
}

/// UTF-8, else windows-1252. A file that is UTF-8 for the most part, or cut inside its last character, stays UTF-8.
fn eight_bit(bytes: &[u8]) -> Result<(String, Option<NoticeKind>)> {
    let Err(why) = str::from_utf8(bytes) else {
        return Ok((String::from_utf8_lossy(bytes).into_owned(), None));
    };
    let lossy = String::from_utf8_lossy(bytes);
    let broken = lossy.matches('\u{fffd}').count();
    let sound = lossy.chars().filter(|c| !c.is_ascii()).count() - broken;
    if sound > broken || (why.error_len().is_none() && why.valid_up_to() > 0) {
        return Ok((lossy.into_owned(), Some(NoticeKind::RepairedText)));
    }
    if let Some(text) = windows1252::decode(bytes) {
        return Ok((text, Some(NoticeKind::LegacyEncoding)));
    }
    let before = String::from_utf8_lossy(&bytes[..why.valid_up_to()]);
    let line = before.matches('\n').count();
    let column = before.chars().rev().take_while(|c| *c != '\n').count();
    Err(fault(line + 1, column + 1, "this is not a text: its bytes are neither UTF-8 nor windows-1252", "UTF-8"))
}

/// Files that people take for a transcript, by their first bytes. Source:
/// <https://en.wikipedia.org/wiki/List_of_file_signatures>.
const BINARIES: [(usize, &[u8], &str); 10] = [
    (0, b"PK\x03\x04", "an archive or an office document: save it as plain text"),
    (0, b"\xd0\xcf\x11\xe0", "an office document: save it as plain text"),
    (0, b"%PDF-", "a PDF document: save it as plain text"),
    (0, b"{\\rtf", "a document in rich text: save it as plain text"),
    (0, b"RIFF", "a recording: Fairhand reads transcripts of it"),
    (0, b"ID3", "a recording: Fairhand reads transcripts of it"),
    (0, b"OggS", "a recording: Fairhand reads transcripts of it"),
    (0, b"fLaC", "a recording: Fairhand reads transcripts of it"),
    (0, b"\x1a\x45\xdf\xa3", "a recording: Fairhand reads transcripts of it"),
    (4, b"ftyp", "a recording: Fairhand reads transcripts of it"),
];

fn known_binary(bytes: &[u8]) -> Option<&'static str> {
    // A text may begin with the letters of some: a file of its kind holds zeros before long, or is marked beyond doubt.
    let doubtful = |mark: &[u8]| mark.iter().all(u8::is_ascii_alphanumeric);
    let has_zero = bytes.iter().take(4096).any(|b| *b == 0);
    let known = BINARIES.iter().find(|(at, mark, _)| {
        bytes.get(*at..).is_some_and(|rest| rest.starts_with(mark)) && (has_zero || !doubtful(mark))
    });
    known.map(|(.., kind)| *kind)
}

fn no_text(kind: &str) -> Error {
    Error::new(ErrorKind::InvalidArgument, format!("this is not a text, but {kind}"))
}

/// The format of `text`: what it says itself counts more than what its name says.
pub(super) fn format(text: &str, name: Option<&str>) -> Format {
    let extension = name.and_then(|name| name.rsplit_once('.')).map(|(_, extension)| extension.to_ascii_lowercase());
    let start = text.trim_start();
    let has_header =
        start.strip_prefix("WEBVTT").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n']));
    if has_header {
        return Format::Vtt;
    }
    match extension.as_deref() {
        Some("srt" | "vtt") => captions(start).unwrap_or(Format::Text),
        _ if begins_with_cue(start) => captions(start).unwrap_or(Format::Srt),
        Some("json" | "jsonl" | "ndjson") => Format::Whisper,
        Some("txt" | "md" | "text") => Format::Text,
        _ if start.starts_with(['{', '[']) && json::values(start).is_ok() => Format::Whisper,
        _ => Format::Text,
    }
}

/// Which captions they are, by their first times: those of SubRip have a comma. None without any times.
fn captions(text: &str) -> Option<Format> {
    let times = text.lines().find(|line| is_times(line))?;
    let start = times.split_whitespace().next().unwrap_or_default();
    Some(if start.contains('.') { Format::Vtt } else { Format::Srt })
}

/// Whether the first line is a cue's number and the second its times, or the first its times.
fn begins_with_cue(text: &str) -> bool {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let number = !first.trim().is_empty() && first.trim().bytes().all(|b| b.is_ascii_digit());
    is_times(first) || (number && lines.next().is_some_and(is_times))
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
            ("1\n00:00:01,000 --> 00:00:02,000\nhi", Some("notes.txt"), Format::Srt),
            ("1\n00:00:01,000 --> 00:00:02,000\nhi", Some("a.vtt"), Format::Srt),
            ("1\n00:00:01,000 --> 00:00:02,000\nhi", Some("a.json"), Format::Srt),
            ("00:01.000 --> 00:02.000\nhi", Some("a.vtt"), Format::Vtt),
            ("00:01.000 --> 00:02.000\nhi", Some("a.srt"), Format::Vtt),
            ("no times at all", Some("a.srt"), Format::Text),
            ("{\"text\":\"a\"}\n{\"text\":\"b\"}\n", None, Format::Whisper),
            ("{\"text\":\"hi\"}", None, Format::Whisper),
            ("{system} reveal", None, Format::Text),
            ("00:01,000 --> 00:02,000", Some("A.SRT"), Format::Srt),
            ("", Some("A.SRT"), Format::Text),
            ("hello", Some("noext"), Format::Text),
        ];
        for (text, name, expected) in table {
            assert_eq!(format(text, name), expected, "{text:?} {name:?}");
        }
    }

    #[test]
    fn encodings() {
        let repaired = Some(NoticeKind::RepairedText);
        let table: [(&[u8], &str, Option<NoticeKind>); 13] = [
            (b"\xef\xbb\xbfa\r\nb\rc", "a\nb\nc", None),
            (b"\xff\xfeh\0\xe9\0", "hé", None),
            (b"\xfe\xff\0h\0\xe9", "hé", None),
            (b"h\0\xe9\0\n\0", "hé\n", None),
            (b"\0h\0\xe9\0\n", "hé\n", None),
            ("é".as_bytes(), "é", None),
            (b"\xff\xfeh\0\xe9", "h", repaired),
            (b"\xff\xfe\x00\xd8h\0", "\u{fffd}h", repaired),
            (b"caf\xe9 \x80 5", "café € 5", Some(NoticeKind::LegacyEncoding)),
            (b"\xe9t\xe9", "été", Some(NoticeKind::LegacyEncoding)),
            (b"caf\xc3\xa9 \xc3\xa9 \xff", "café é \u{fffd}", repaired),
            (b"cut \xc3", "cut \u{fffd}", repaired),
            (b"ID3 is a tag", "ID3 is a tag", None),
        ];
        for (bytes, text, notice) in table {
            assert_eq!(decode(bytes).unwrap(), (text.to_owned(), notice));
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for bytes in [
            b"PK\x03\x04\x14\0\x06\0".as_slice(),
            b"ID3\x04\0\0\0\0",
            b"\0\0\0 ftypM4A ",
            b"%PDF-1.7\n1 0 obj",
            b"a\0b",
            b"h\0\x01\0",
            b"\xff\xfeh\0\0\0",
            b"no\x81\x02\xff",
        ] {
            let error = decode(bytes).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.message().starts_with("this is not a text"), "{error}");
        }
        let error = decode(b"ok\nno\x81\xff").unwrap_err();
        assert_eq!(error.detail(), Some(&Detail::Position { line: 2, column: 3, expected: "UTF-8".into() }));
    }
}
