//! Transcripts as files again: plain text, SubRip, WebVTT, and JSON as Whisper writes it.

use serde_json::{Value, json};

use super::{Segment, Transcript};
use crate::{Error, ErrorKind, Result};

/// A format that transcripts are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Turns in paragraphs, with their speakers where the file names them.
    Text,
    Srt,
    Vtt,
    /// `{text, language, segments: [{id, start, end, text, speaker, words}]}`, as openai-whisper and WhisperX write it.
    Json,
}

/// How long a cue stands whose end nobody knows: seconds a character, and no less than one second.
const SECONDS_A_CHARACTER: f64 = 0.06;

/// `transcript` as a file.
///
/// Times that are missing are put between their neighbours, and a time that runs backwards waits for the one before: in
/// what is written, starts never go down and no end is before its start.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`] where captions are asked for and no segment has a time.
///
/// # Example
/// ```
/// use fairhand::transcript::{FileFormat, Transcript, write};
///
/// let file = "1\n00:00:01,000 --> 00:00:02,500\nwe start at nine\n";
/// let transcript = Transcript::read(file.as_bytes(), None)?;
/// let captions = write(FileFormat::Vtt, &transcript)?;
/// assert_eq!(captions, "WEBVTT\n\n00:00:01.000 --> 00:00:02.500\nwe start at nine\n");
/// # Ok::<(), fairhand::Error>(())
/// ```
pub fn write(format: FileFormat, transcript: &Transcript) -> Result<String> {
    let captions = matches!(format, FileFormat::Srt | FileFormat::Vtt);
    let timed = transcript.segments.iter().any(|segment| segment.start_time.is_some() || segment.end_time.is_some());
    if captions && !timed && !transcript.segments.is_empty() {
        return Err(Error::new(ErrorKind::InvalidArgument, "captions need times, and the transcript has none"));
    }
    let times = times(transcript);
    Ok(match format {
        FileFormat::Text => text(transcript),
        FileFormat::Srt => srt(transcript, &times),
        FileFormat::Vtt => vtt(transcript, &times),
        FileFormat::Json => json(transcript, &times),
    })
}

/// Start and end of each segment, in seconds, in order.
fn times(transcript: &Transcript) -> Vec<(f64, f64)> {
    let sound = |time: Option<f64>| time.filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
    let segments = &transcript.segments;
    let mut times: Vec<(f64, f64)> = vec![];
    for (i, segment) in segments.iter().enumerate() {
        let (earliest, before) = times.last().map_or((0.0, 0.0), |last| (last.0, last.1));
        let start = sound(segment.start_time).unwrap_or(before).max(earliest);
        #[expect(clippy::cast_precision_loss, reason = "a segment is far shorter than 2^52 bytes")]
        let guess = start + ((segment.end - segment.start) as f64 * SECONDS_A_CHARACTER).max(1.0);
        let next = segments[i + 1..].iter().find_map(|segment| sound(segment.start_time)).filter(|next| *next > start);
        let end = sound(segment.end_time).unwrap_or_else(|| next.map_or(guess, |next| guess.min(next)));
        times.push((start, end.max(start)));
    }
    times
}

fn said<'a>(transcript: &'a Transcript, segment: &Segment) -> &'a str {
    transcript.text.get(segment.start..segment.end).unwrap_or_default()
}

fn text(transcript: &Transcript) -> String {
    if transcript.segments.iter().all(|segment| segment.speaker.is_none()) {
        let text = transcript.text.trim_end();
        return if text.is_empty() { String::new() } else { format!("{text}\n") };
    }
    let mut out = String::new();
    let mut before: Option<&Segment> = None;
    for segment in &transcript.segments {
        let same = before.is_some_and(|before| before.speaker == segment.speaker);
        match (&segment.speaker, same) {
            (_, true) => out.push(' '),
            (speaker, false) => {
                if before.is_some() {
                    out.push_str("\n\n");
                }
                if let Some(speaker) = speaker {
                    out.push_str(&format!("[{}]: ", label(speaker)));
                }
            }
        }
        out.push_str(said(transcript, segment));
        before = Some(segment);
    }
    out.push('\n');
    out
}

fn srt(transcript: &Transcript, times: &[(f64, f64)]) -> String {
    let cues = transcript.segments.iter().zip(times).enumerate().map(|(i, (segment, (start, end)))| {
        let speaker = segment.speaker.as_ref().map(|speaker| format!("[{}]: ", label(speaker))).unwrap_or_default();
        let text = lines(said(transcript, segment));
        format!("{}\n{} --> {}\n{speaker}{text}\n", i + 1, clock(*start, ','), clock(*end, ','))
    });
    cues.collect::<Vec<_>>().join("\n")
}

fn vtt(transcript: &Transcript, times: &[(f64, f64)]) -> String {
    let mut out = "WEBVTT\n".to_owned();
    if let Some(language) = transcript.language.as_ref().filter(|tag| !tag.contains(char::is_control)) {
        out.push_str(&format!("Language: {language}\n"));
    }
    for (segment, (start, end)) in transcript.segments.iter().zip(times) {
        let voice =
            segment.speaker.as_ref().map(|speaker| format!("<v {}>", escape(&label(speaker)))).unwrap_or_default();
        let text = escape(&lines(said(transcript, segment)));
        out.push_str(&format!("\n{} --> {}\n{voice}{text}\n", clock(*start, '.'), clock(*end, '.')));
    }
    out
}

fn json(transcript: &Transcript, times: &[(f64, f64)]) -> String {
    let timed = |start: Option<f64>, end: Option<f64>| start.is_some() || end.is_some();
    let segments = transcript.segments.iter().zip(times).enumerate().map(|(i, (segment, (start, end)))| {
        let mut value = json!({"id": i});
        if timed(segment.start_time, segment.end_time) {
            value["start"] = json!(thousandths(*start));
            value["end"] = json!(thousandths(*end));
        }
        value["text"] = json!(said(transcript, segment));
        if let Some(speaker) = &segment.speaker {
            value["speaker"] = json!(speaker);
        }
        if !segment.words.is_empty() {
            value["words"] = words(transcript, segment);
        }
        value
    });
    let mut value = json!({"text": transcript.text, "segments": segments.collect::<Vec<_>>()});
    if let Some(language) = &transcript.language {
        value["language"] = json!(language);
    }
    format!("{value:#}\n")
}

/// The words of a segment, their starts never going down.
fn words(transcript: &Transcript, segment: &Segment) -> Value {
    let mut earliest = 0.0_f64;
    let words = segment.words.iter().map(|word| {
        let mut value = json!({"word": transcript.text.get(word.start..word.end).unwrap_or_default()});
        let sound = |time: Option<f64>, least: f64| {
            time.filter(|seconds| seconds.is_finite()).map(|seconds| seconds.max(least))
        };
        if let Some(start) = sound(word.start_time, earliest) {
            value["start"] = json!(thousandths(start));
            earliest = start;
        }
        if let Some(end) = sound(word.end_time, earliest) {
            value["end"] = json!(thousandths(end));
        }
        value
    });
    words.collect()
}

fn thousandths(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

/// `HH:MM:SS` and thousandths.
fn clock(seconds: f64, mark: char) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and a cast saturates")]
    let total = (seconds * 1000.0).round() as u64;
    let (hours, minutes) = (total / 3_600_000, total / 60_000 % 60);
    format!("{hours:02}:{minutes:02}:{:02}{mark}{:03}", total / 1000 % 60, total % 1000)
}

/// The lines of a cue: no blank one, which would end it, and no arrow, which would begin another.
fn lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("\n").replace("-->", "→")
}

/// A speaker's name on one line, without the bracket that ends a label.
fn label(speaker: &str) -> String {
    speaker.split(|c: char| c.is_control() || matches!(c, '[' | ']')).collect::<Vec<_>>().join(" ").trim().to_owned()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::{Format, TimedWord};
    use super::*;

    fn segment(start: usize, end: usize, start_time: Option<f64>, end_time: Option<f64>) -> Segment {
        Segment { start, end, start_time, end_time, speaker: None, words: vec![] }
    }

    fn transcript(text: &str, segments: Vec<Segment>) -> Transcript {
        Transcript { format: Format::Whisper, text: text.into(), segments, language: None, notices: vec![] }
    }

    #[test]
    fn times_that_are_missing_or_run_backwards() {
        let of = |given: &[(Option<f64>, Option<f64>)]| {
            let text = "a".repeat(10 * given.len());
            let segments = given.iter().enumerate().map(|(i, (a, b))| segment(10 * i, 10 * i + 10, *a, *b)).collect();
            times(&transcript(&text, segments))
        };
        assert_eq!(of(&[(Some(1.0), Some(2.0)), (Some(0.5), Some(0.7))]), [(1.0, 2.0), (1.0, 1.0)]);
        assert_eq!(
            of(&[(Some(1.0), None), (None, None), (Some(9.0), Some(10.0))]),
            [(1.0, 2.0), (2.0, 3.0), (9.0, 10.0)]
        );
        assert_eq!(of(&[(Some(f64::NAN), Some(3.0)), (Some(2.0), Some(-1.0))]), [(0.0, 3.0), (2.0, 3.0)]);
    }

    #[test]
    fn captions_read_back() {
        let mut first = segment(0, 13, Some(0.5), Some(3661.25));
        first.speaker = Some("Ada [x]".into());
        let written = transcript("a < b --> c & d. fine", vec![first, segment(17, 21, Some(3662.0), Some(3663.0))]);
        let srt = write(FileFormat::Srt, &written).unwrap();
        assert!(srt.starts_with("1\n00:00:00,500 --> 01:01:01,250\n[Ada  x]: a < b → c &\n\n2\n"), "{srt}");
        let vtt = write(FileFormat::Vtt, &written).unwrap();
        assert!(vtt.contains("<v Ada  x>a &lt; b → c &amp;\n"), "{vtt}");
        for file in [srt, vtt] {
            let read = Transcript::read(file.as_bytes(), None).unwrap();
            assert_eq!(read.segments.len(), 2);
            assert_eq!(read.segments[0].end_time, Some(3661.25));
            assert_eq!(&read.text[read.segments[1].start..], "fine");
        }
    }

    #[test]
    fn json_reads_back_with_its_words() {
        let mut only = segment(0, 5, Some(0.0), Some(1.0));
        only.words = vec![
            TimedWord { start: 0, end: 2, start_time: Some(0.4), end_time: Some(0.3) },
            TimedWord { start: 3, end: 5, start_time: Some(0.1), end_time: None },
        ];
        let file = write(FileFormat::Json, &transcript("so we", vec![only])).unwrap();
        let words = &Transcript::read(file.as_bytes(), None).unwrap().segments[0].words;
        assert_eq!((words[0].start_time, words[0].end_time), (Some(0.4), Some(0.4)));
        assert_eq!((words[1].start_time, words[1].end_time), (Some(0.4), None));
    }

    #[test]
    fn captions_need_times() {
        let plain = transcript("hello", vec![segment(0, 5, None, None)]);
        assert_eq!(write(FileFormat::Srt, &plain).unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert_eq!(write(FileFormat::Text, &plain).unwrap(), "hello\n");
        assert_eq!(write(FileFormat::Vtt, &transcript("", vec![])).unwrap(), "WEBVTT\n");
    }
}
