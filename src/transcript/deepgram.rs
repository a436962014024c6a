//! Deepgram's JSON, by shape. Source: <https://developers.deepgram.com/docs/pre-recorded-audio>.
//!
//! | writer | shape |
//! |---|---|
//! | pre-recorded | `{results: {channels: [{alternatives: [{transcript, words, paragraphs?}], detected_language?}], utterances?}}` |
//! | live, one message a line | `{type: "Results", start, duration, is_final, channel: {alternatives: […]}}`, among others |

use serde_json::Value;

use super::builder::{Builder, Piece, PieceWord};
use super::{Format, NoticeKind, Transcript};

/// The transcript in a file's values, if they have such a shape.
pub(super) fn read(values: &[Value]) -> Option<Transcript> {
    let mut builder = Builder::default();
    let mut language = None;
    match values {
        [recorded] if recorded.pointer("/results/channels").is_some() => {
            let results = &recorded["results"];
            let channels = results["channels"].as_array()?;
            language = channels.iter().find_map(|channel| channel["detected_language"].as_str()).map(str::to_owned);
            match results["utterances"].as_array().filter(|utterances| !utterances.is_empty()) {
                Some(utterances) => utterances.iter().for_each(|it| builder.push(None, piece(it, &it["words"]))),
                None => channels.iter().for_each(|channel| push_best(&mut builder, channel)),
            }
        }
        live => {
            let results: Vec<&Value> =
                live.iter().filter(|message| message.pointer("/channel/alternatives").is_some()).collect();
            if results.is_empty() {
                return None;
            }
            for message in results {
                if message["is_final"] == Value::Bool(false) {
                    builder.notice(None, NoticeKind::Interim);
                    continue;
                }
                push_best(&mut builder, &message["channel"]);
            }
        }
    }
    Some(builder.finish(Format::Deepgram, language))
}

/// Adds the best reading of a channel: its paragraphs' sentences, else its words as one segment.
fn push_best(builder: &mut Builder, channel: &Value) {
    let best = &channel["alternatives"][0];
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let paragraphs = list(&best["paragraphs"]["paragraphs"]);
    if paragraphs.iter().all(|paragraph| list(&paragraph["sentences"]).is_empty()) {
        return builder.push(None, piece(best, &best["words"]));
    }
    for paragraph in &paragraphs {
        for sentence in list(&paragraph["sentences"]) {
            builder.push(None, Piece { speaker: speaker(paragraph), ..piece(&sentence, &Value::Null) });
        }
    }
}

/// `said` has a `transcript` or a `text`, and times of its own or else those of its words.
fn piece(said: &Value, words: &Value) -> Piece {
    let words = words.as_array().map(Vec::as_slice).unwrap_or_default();
    let word = |word: &Value| {
        let text = word["punctuated_word"].as_str().or_else(|| word["word"].as_str())?;
        Some(PieceWord { text: text.to_owned(), start_time: word["start"].as_f64(), end_time: word["end"].as_f64() })
    };
    let words: Vec<PieceWord> = words.iter().filter_map(word).collect();
    let text = said["transcript"].as_str().or_else(|| said["text"].as_str()).unwrap_or_default();
    Piece {
        text: text.to_owned(),
        start_time: said["start"].as_f64().or(words.first().and_then(|word| word.start_time)),
        end_time: said["end"].as_f64().or(words.last().and_then(|word| word.end_time)),
        speaker: speaker(said),
        words,
    }
}

fn speaker(said: &Value) -> Option<String> {
    said["speaker"].as_u64().map(|number| format!("Speaker {number}"))
}
