//! JSON of the Whisper family, by shape:
//!
//! | writer | shape |
//! |---|---|
//! | openai-whisper, OpenAI's API | `{text, segments: [{start, end, text, words?}], language, words?}` |
//! | faster-whisper | the same segments, also as a bare array or one a line; its named tuples as `[…, start, end, text, …]` |
//! | WhisperX | the same, with `speaker` on segments and words; a word may lack times |
//! | whisper.cpp | `{result: {language}, transcription: [{offsets: {from, to}, text, speaker?}]}`, milliseconds |
//! | transformers.js | `{text, chunks: [{text, timestamp: [start, end]}]}`, perhaps a chunk a word, perhaps in an array |
//!
//! A time that is none is noticed and left open: the words count more.

use serde_json::Value;

use super::builder::{Builder, Piece, PieceWord};
use super::cue::{labelled, seconds};
use super::{Format, Notice, NoticeKind, Transcript, deepgram, json, web_speech};
use crate::error::Detail;
use crate::{Error, ErrorKind, Result};

/// Reads JSON of any of the shapes.
///
/// # Errors
/// A fault with line and column when it is no JSON, with a path when it has no such shape or no text where one belongs.
pub(super) fn read(text: &str) -> Result<Transcript> {
    let (mut values, repaired) = json::values(text)?;
    let mut transcript = if let Some(transcript) = deepgram::read(&values) {
        transcript
    } else {
        let value = if values.len() == 1 { values.remove(0) } else { Value::Array(values) };
        web_speech::read(&value).map_or_else(|| read_value(&value), Ok)?
    };
    if repaired {
        transcript.notices.push(Notice { line: None, kind: NoticeKind::RepairedText });
    }
    Ok(transcript)
}

fn read_value(value: &Value) -> Result<Transcript> {
    let root = At { value, path: String::new() };
    let mut builder = Builder::default();
    let mut language = None;
    let results = match root.items() {
        // An array of segments, or of results; or faster-whisper's pair of the segments and what else it knows.
        Some(mut items) => match &items[..] {
            [segments, about] if segments.items().is_some_and(|items| items.iter().all(At::is_segment)) => {
                let tag = about.value.get("language").or_else(|| about.value.get(0));
                language = tag.and_then(Value::as_str).map(str::to_owned);
                push_segments(&mut builder, segments.array()?, &[])?;
                vec![]
            }
            _ if items.iter().any(At::is_segment) => {
                push_segments(&mut builder, items, &[])?;
                vec![]
            }
            _ => std::mem::take(&mut items),
        },
        None => vec![root],
    };
    for result in results {
        push_result(&mut builder, &result)?;
        let tag = result.get("language").or_else(|| result.get("result")?.get("language"));
        language = language.or(tag.and_then(|tag| tag.value.as_str().map(str::to_owned)));
    }
    Ok(builder.finish(Format::Whisper, language))
}

/// A value and where it stands.
struct At<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> At<'a> {
    /// The field `name`, unless it is absent or null.
    fn get(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        Some(Self { value, path: format!("{}/{name}", self.path) })
    }

    fn items(&self) -> Option<Vec<Self>> {
        let items = self.value.as_array()?.iter().enumerate();
        Some(items.map(|(i, value)| Self { value, path: format!("{}/{i}", self.path) }).collect())
    }

    fn fault(&self, expected: &str) -> Error {
        let place = if self.path.is_empty() { String::new() } else { format!(" at {:?}", self.path) };
        let message = format!("the transcript should have {expected}{place}");
        Error::new(ErrorKind::InvalidArgument, message).with_detail(Detail::Path { path: self.path.clone() })
    }

    fn string(&self) -> Result<&'a str> {
        self.value.as_str().ok_or_else(|| self.fault("a string"))
    }

    fn array(&self) -> Result<Vec<Self>> {
        self.items().ok_or_else(|| self.fault("an array"))
    }

    /// Whether it is a stretch of text with times of its own, or a named tuple of one.
    fn is_segment(&self) -> bool {
        self.value.get("start").is_some() || self.tuple().is_some()
    }

    /// The place of the text in a named tuple: it follows a start and an end.
    fn tuple(&self) -> Option<usize> {
        let items = self.value.as_array()?;
        let at = items.iter().position(Value::is_string).filter(|at| *at >= 2)?;
        let is_time = |value: &Value| value.is_number() || value.is_null();
        (is_time(&items[at - 2]) && is_time(&items[at - 1])).then_some(at)
    }

    /// Seconds, in whatever way they are written. What is there and is no time is noticed.
    fn seconds(&self, builder: &mut Builder) -> Option<f64> {
        let time = match self.value {
            Value::String(text) => {
                text.trim().parse().ok().filter(|time: &f64| time.is_finite()).or_else(|| seconds(text.trim()))
            }
            value => value.as_f64(),
        };
        if time.is_none() && !self.value.is_null() {
            builder.notice(None, NoticeKind::UnreadableTime);
        }
        time
    }

    /// The field `name` as [`seconds`](Self::seconds).
    fn time(&self, name: &str, builder: &mut Builder) -> Option<f64> {
        self.get(name)?.seconds(builder)
    }
}

fn push_result(builder: &mut Builder, result: &At) -> Result<()> {
    let full = result.get("text").map(|text| text.string()).transpose()?;
    let mut timed = Builder::default();
    if let Some(segments) = result.get("segments") {
        let words = result.get("words").map(|words| words.array()).transpose()?.unwrap_or_default();
        push_segments(&mut timed, segments.array()?, &words)?;
    } else if let Some(segments) = result.get("transcription").filter(|at| at.value.is_array()) {
        push_segments(&mut timed, segments.array()?, &[])?;
    } else if let Some(chunks) = result.get("chunks") {
        push_chunks(&mut timed, chunks.array()?)?;
    } else if full.is_none() {
        return Err(result.fault("text, segments, transcription or chunks"));
    }
    match full {
        // Words of a language without spaces, or another spacing, are no disagreement.
        Some(full) if letters(full) != letters(timed.text()) => {
            if !timed.text().is_empty() {
                builder.notice(None, NoticeKind::SegmentsDisagree);
            }
            let mut whole = Builder::default();
            whole.push(None, Piece { text: full.to_owned(), ..Piece::default() });
            builder.append(whole);
        }
        _ => builder.append(timed),
    }
    Ok(())
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Segments with `start`, `end` and `text`, or whisper.cpp's with offsets, or named tuples. `words` are those of all
/// segments together.
fn push_segments(builder: &mut Builder, segments: Vec<At>, words: &[At]) -> Result<()> {
    let mut words = words.iter().peekable();
    for segment in segments {
        if let Some(at) = segment.tuple() {
            push_tuple(builder, &segment, at);
            continue;
        }
        let text = segment.get("text").map(|text| text.string()).transpose()?;
        let offsets = segment.get("offsets");
        let mut time = |name: &str, offset: &str| {
            let milliseconds = |offsets: &At| offsets.get(offset)?.value.as_f64();
            segment.time(name, builder).or_else(|| offsets.as_ref().and_then(milliseconds).map(|ms| ms / 1000.0))
        };
        let (start_time, end_time) = (time("start", "from"), time("end", "to"));
        let mut piece = Piece { start_time, end_time, ..Piece::default() };
        for word in segment.get("words").map(|words| words.array()).transpose()?.unwrap_or_default() {
            piece.words.extend(read_word(&word, builder));
        }
        let begins_inside = |word: &At| {
            let start = word.get("start").and_then(|start| start.value.as_f64());
            end_time.is_none_or(|end| start < Some(end))
        };
        while let Some(word) = words.next_if(|word| begins_inside(word)) {
            piece.words.extend(read_word(word, builder));
        }
        piece.text = text.map_or_else(|| spelled(&piece.words), str::to_owned);
        piece.speaker =
            segment.get("speaker").map(|at| at.value.as_str().map_or_else(|| at.value.to_string(), str::to_owned));
        if piece.speaker.is_none()
            && let Some((speaker, rest)) = labelled(&piece.text)
        {
            (piece.speaker, piece.text) = (Some(speaker), rest);
        }
        builder.push(None, piece);
    }
    Ok(())
}

/// A named tuple of faster-whisper whose text is at `at`: the times stand before it, the words somewhere after it.
fn push_tuple(builder: &mut Builder, segment: &At, at: usize) {
    let time = |value: &Value, i: usize| value.get(i).and_then(Value::as_f64);
    let text = |value: &Value, i: usize| value.get(i).and_then(Value::as_str).unwrap_or_default().to_owned();
    let lists = segment.value.as_array().into_iter().flatten().filter_map(Value::as_array);
    let word = |word: &Value| {
        word.get(2)?.as_str()?;
        Some(PieceWord { text: text(word, 2), start_time: time(word, 0), end_time: time(word, 1) })
    };
    let words = lists.flatten().filter_map(word).collect();
    let (start_time, end_time) = (time(segment.value, at - 2), time(segment.value, at - 1));
    builder.push(None, Piece { text: text(segment.value, at), start_time, end_time, speaker: None, words });
}

/// The text of words that bring their own spaces, or need one.
fn spelled(words: &[PieceWord]) -> String {
    let gap = if words.iter().any(|word| word.text.starts_with(' ')) { "" } else { " " };
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(gap)
}

/// A word with its times; none for what has no text, whose segment says it all the same.
fn read_word(word: &At, builder: &mut Builder) -> Option<PieceWord> {
    let text = word.get("word").or_else(|| word.get("text"))?.value.as_str()?;
    let (start_time, end_time) = (word.time("start", builder), word.time("end", builder));
    Some(PieceWord { text: text.to_owned(), start_time, end_time })
}

/// The chunks of transformers.js. If each holds one word, they are the words of one segment.
fn push_chunks(builder: &mut Builder, chunks: Vec<At>) -> Result<()> {
    let mut pieces = vec![];
    for chunk in chunks {
        let text = chunk.get("text").ok_or_else(|| chunk.fault("a text"))?.string()?;
        let times = chunk.get("timestamp").and_then(|times| times.items()).unwrap_or_default();
        let mut time = |i: usize| times.get(i)?.seconds(builder);
        let (start_time, end_time) = (time(0), time(1));
        pieces.push(Piece { text: text.to_owned(), start_time, end_time, ..Piece::default() });
    }
    let one_word = |piece: &Piece| piece.text.split_whitespace().count() <= 1;
    if pieces.len() > 1 && pieces.iter().all(one_word) {
        let word = |piece: &Piece| PieceWord {
            text: piece.text.clone(),
            start_time: piece.start_time,
            end_time: piece.end_time,
        };
        let whole = Piece {
            text: pieces.iter().map(|piece| piece.text.as_str()).collect(),
            start_time: pieces.iter().find_map(|piece| piece.start_time),
            end_time: pieces.iter().rev().find_map(|piece| piece.end_time),
            speaker: None,
            words: pieces.iter().map(word).collect(),
        };
        builder.push(None, whole);
        return Ok(());
    }
    for piece in pieces {
        builder.push(None, piece);
    }
    Ok(())
}
