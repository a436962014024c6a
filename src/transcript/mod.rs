//! Transcripts as files: plain text, SubRip, WebVTT, the JSON of the Whisper family, of Deepgram and of browsers' speech
//! recognition, read into one shape, changed, and written.
//!
//! ```text
//! bytes ─▶ decode (UTF-8, UTF-16, windows-1252) ─▶ sniff (content, then name)
//!       ─▶ text · srt · vtt · json (whisper · deepgram · web_speech) ─▶ Transcript
//! Transcript ─▶ edited (times follow the words) ─▶ write ─▶ text · srt · vtt · json
//! ```
//!
//! What is no speech (comments, styles, lines that a rolling caption shows again) is left out of the text and listed in
//! [`Transcript::notices`], and so is what had to be put right: a time that cannot be read is left open rather than the words
//! lost. What is no text, or no JSON that a recogniser writes, is an error that says where.

mod builder;
mod cue;
mod deepgram;
mod edited;
mod json;
mod sniff;
mod srt;
mod vtt;
mod web_speech;
mod whisper;
mod windows1252;
mod write;

use serde::Serialize;

use crate::Result;
pub use edited::Change;
pub use sniff::Format;
pub use write::{FileFormat, write};

/// What was said, and where known when and by whom.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    pub format: Format,
    /// All that was said: cues joined by a space, turns of different speakers by a blank line.
    pub text: String,
    /// In the order of the file; each is a stretch of the text, and none overlaps another there. Times may overlap.
    pub segments: Vec<Segment>,
    /// A language code, as the file gives it.
    pub language: Option<String>,
    /// What was left out of the text, or put right in it.
    pub notices: Vec<Notice>,
}

/// A stretch of the text that the file times as one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Segment {
    /// First byte in the text.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// Seconds from the beginning.
    pub start_time: Option<f64>,
    pub end_time: Option<f64>,
    pub speaker: Option<String>,
    /// Its words, as far as the file times them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<TimedWord>,
}

/// A word of a [`Segment`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TimedWord {
    /// First byte in the text.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// Seconds from the beginning.
    pub start_time: Option<f64>,
    pub end_time: Option<f64>,
}

/// Something in the file that is not in the text, or stands there otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// Counts from 1; absent where the format has no lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    pub kind: NoticeKind,
}

/// Why something is not in the text, or stands there otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum NoticeKind {
    /// A comment of the file's author.
    Comment,
    /// A style sheet or a region.
    Style,
    /// A cue without words.
    EmptyCue,
    /// What a recogniser said before it was sure.
    Interim,
    /// A line that a rolling caption shows once more.
    RepeatedLine,
    /// The segments do not spell the file's own full text, which was taken instead, without times.
    SegmentsDisagree,
    /// A time that cannot be read was left open.
    UnreadableTime,
    /// Text that belongs to no cue was kept, without times.
    OutsideCue,
    /// A half character reads as U+FFFD.
    RepairedText,
    /// The bytes are no Unicode, and were read as windows-1252.
    LegacyEncoding,
}

impl Transcript {
    /// Reads a file of any known format. `name` is its file name, where there is one.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument), with the line and column
    /// ([`Detail::Position`](crate::error::Detail::Position)) or, for JSON of an unexpected shape, the path
    /// ([`Detail::Path`](crate::error::Detail::Path)): bytes that are no text, JSON that does not parse or that no recogniser
    /// writes.
    ///
    /// # Example
    /// ```
    /// use fairhand::transcript::Transcript;
    ///
    /// let file = "WEBVTT\n\n00:01.000 --> 00:02.500\n<v Amina>we start at nine\n";
    /// let transcript = Transcript::read(file.as_bytes(), Some("talk.vtt"))?;
    /// assert_eq!(transcript.text, "we start at nine");
    /// assert_eq!(transcript.segments[0].speaker.as_deref(), Some("Amina"));
    /// # Ok::<(), fairhand::Error>(())
    /// ```
    pub fn read(bytes: &[u8], name: Option<&str>) -> Result<Self> {
        let (text, notice) = sniff::decode(bytes)?;
        let mut transcript = match sniff::format(&text, name) {
            Format::Text => builder::Builder::default().plain(text),
            Format::Srt => srt::read(&text),
            Format::Vtt => vtt::read(&text),
            Format::Whisper | Format::WebSpeech | Format::Deepgram => whisper::read(&text)?,
        };
        transcript.notices.extend(notice.map(|kind| Notice { line: None, kind }));
        Ok(transcript)
    }
}
