//! Results of a browser's speech recognition: `[{transcript, confidence, isFinal}]`, or the event's own lists of lists,
//! `{results: [{isFinal, 0: {transcript}}]}`. Source: <https://webaudio.github.io/web-speech-api/>.

use serde_json::Value;

use super::builder::{Builder, Piece};
use super::{Format, NoticeKind, Transcript};

/// The results in `value`, if it has such a shape. Interim results are left out: a final one says them again.
pub(super) fn read(value: &Value) -> Option<Transcript> {
    let results = value.get("results").unwrap_or(value).as_array()?;
    let mut builder = Builder::default();
    for result in results {
        let best = result.get("transcript").map(|_| result).or_else(|| result.get(0)).or_else(|| result.get("0"))?;
        let text = best.get("transcript")?.as_str()?;
        if result.get("isFinal").and_then(Value::as_bool) == Some(false) {
            builder.notice(None, NoticeKind::Interim);
        } else {
            let seconds = |name: &str| result.get(name).and_then(Value::as_f64);
            let piece = Piece {
                text: text.to_owned(),
                start_time: seconds("start"),
                end_time: seconds("end"),
                ..Piece::default()
            };
            builder.push(None, piece);
        }
    }
    (!results.is_empty()).then(|| builder.finish(Format::WebSpeech, None))
}
