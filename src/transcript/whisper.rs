//! JSON of the Whisper family, by shape:
//!
//! | writer | shape |
//! |---|---|
//! | openai-whisper, OpenAI's API | `{text, segments: [{start, end, text, words?}], language, words?}` |
//! | faster-whisper | the same segments, also as a bare array |
//! | WhisperX | the same, with `speaker` on segments and words; a word may lack times |
//! | whisper.cpp | `{result: {language}, transcription: [{offsets: {from, to}, text, speaker?}]}`, milliseconds |
//! | transformers.js | `{text, chunks: [{text, timestamp: [start, end]}]}`, perhaps a chunk a word, perhaps in an array |

use serde_json::Value;

use super::builder::{Builder, Piece, PieceWord};
use super::cue::labelled;
use super::sniff::fault;
use super::{Format, NoticeKind, Transcript, web_speech};
use crate::error::Detail;
use crate::{Error, ErrorKind, Result};

/// Reads JSON of any of the shapes.
///
/// # Errors
/// A fault with line and column when it is no JSON, with a path when it has no such shape or a value of the wrong kind.
pub(super) fn read(text: &str) -> Result<Transcript> {
    let value: Value = serde_json::from_str(text)
        .map_err(|why| fault(why.line(), why.column(), "the file is not sound JSON", "JSON"))?;
    if let Some(transcript) = web_speech::read(&value) {
        return Ok(transcript);
    }
    let root = At { value: &value, path: String::new() };
    let mut builder = Builder::default();
    let mut language = None;
    let results = match root.items() {
        // An array of segments, or of results.
        Some(items) if items.iter().all(|item| item.get("start").is_some()) => {
            push_segments(&mut builder, items, &[])?;
            vec![]
        }
        Some(items) => items,
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
        let message = format!("the transcript should have {expected} at {:?}", self.path);
        Error::new(ErrorKind::InvalidArgument, message).with_detail(Detail::Path { path: self.path.clone() })
    }

    fn string(&self) -> Result<&'a str> {
        self.value.as_str().ok_or_else(|| self.fault("a string"))
    }

    fn array(&self) -> Result<Vec<Self>> {
        self.items().ok_or_else(|| self.fault("an array"))
    }

    /// Seconds, or none where the field is absent or null.
    fn time(&self, name: &str) -> Result<Option<f64>> {
        self.get(name).map(|at| at.value.as_f64().ok_or_else(|| at.fault("a number"))).transpose()
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

/// Segments with `start`, `end` and `text`, or whisper.cpp's with offsets. `words` are those of all segments together.
fn push_segments(builder: &mut Builder, segments: Vec<At>, words: &[At]) -> Result<()> {
    let mut words = words.iter().peekable();
    for segment in segments {
        let text = segment.get("text").ok_or_else(|| segment.fault("a text"))?.string()?;
        let milliseconds = |name: &str| -> Result<Option<f64>> {
            Ok(segment.get("offsets").map(|offsets| offsets.time(name)).transpose()?.flatten().map(|ms| ms / 1000.0))
        };
        let start_time = segment.time("start")?.or(milliseconds("from")?);
        let end_time = segment.time("end")?.or(milliseconds("to")?);
        let mut piece = Piece { text: text.to_owned(), start_time, end_time, ..Piece::default() };
        piece.speaker =
            segment.get("speaker").map(|at| at.value.as_str().map_or_else(|| at.value.to_string(), str::to_owned));
        if piece.speaker.is_none()
            && let Some((speaker, rest)) = labelled(&piece.text)
        {
            (piece.speaker, piece.text) = (Some(speaker), rest);
        }
        for word in segment.get("words").map(|words| words.array()).transpose()?.unwrap_or_default() {
            piece.words.push(read_word(&word)?);
        }
        while let Some(word) =
            words.next_if(|word| word.time("start").is_ok_and(|start| end_time.is_none_or(|end| start < Some(end))))
        {
            piece.words.push(read_word(word)?);
        }
        builder.push(None, piece);
    }
    Ok(())
}

fn read_word(word: &At) -> Result<PieceWord> {
    let text = word.get("word").or_else(|| word.get("text")).ok_or_else(|| word.fault("a word"))?.string()?;
    Ok(PieceWord { text: text.to_owned(), start_time: word.time("start")?, end_time: word.time("end")? })
}

/// The chunks of transformers.js. If each holds one word, they are the words of one segment.
fn push_chunks(builder: &mut Builder, chunks: Vec<At>) -> Result<()> {
    let mut pieces = vec![];
    for chunk in chunks {
        let text = chunk.get("text").ok_or_else(|| chunk.fault("a text"))?.string()?;
        let times = chunk.get("timestamp").ok_or_else(|| chunk.fault("a timestamp"))?;
        let time = |i: usize| match times.value.get(i) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or_else(|| times.fault("two numbers")),
        };
        pieces.push(Piece { text: text.to_owned(), start_time: time(0)?, end_time: time(1)?, ..Piece::default() });
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
