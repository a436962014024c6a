//! JSON as recognisers write it: one value, or one a line; with what Python and JavaScript put into it although it is none.

use serde_json::{Deserializer, Value};

use super::sniff::fault;
use crate::Result;

/// The values of a file, and whether half a character in it was put right.
///
/// # Errors
/// A fault with line and column when it is no JSON.
pub(super) fn values(text: &str) -> Result<(Vec<Value>, bool)> {
    let read = |text: &str| Deserializer::from_str(text).into_iter().collect::<serde_json::Result<Vec<Value>>>();
    let (values, repaired) = match read(text) {
        Ok(values) => (values, false),
        Err(_) => {
            let (text, repaired) = mended(text);
            let values =
                read(&text).map_err(|why| fault(why.line(), why.column(), "the file is not sound JSON", "JSON"))?;
            (values, repaired)
        }
    };
    if values.is_empty() {
        return Err(fault(1, 1, "the file is not sound JSON", "JSON"));
    }
    Ok((values, repaired))
}

/// `text` with `null` for numbers that are none, as Python writes them, and with U+FFFD for half characters, as JavaScript
/// writes a text that was cut inside one; and whether there were any of those. Lines and columns stay.
fn mended(text: &str) -> (String, bool) {
    let mut out = String::with_capacity(text.len());
    let (mut inside, mut repaired) = (false, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        match c {
            '"' => inside = !inside,
            '\\' if inside => match surrogate(rest) {
                Some(0xd800..0xdc00) if rest.get(6..).and_then(surrogate).is_some_and(|low| low >= 0xdc00) => {
                    length = 12
                }
                Some(_) => {
                    repaired = true;
                    out.push_str("\\ufffd");
                    rest = &rest[6..];
                    continue;
                }
                None => length += rest[1..].chars().next().map_or(0, char::len_utf8),
            },
            'N' | 'I' | '-' if !inside => {
                if let Some(word) = ["NaN", "Infinity", "-Infinity"].iter().find(|word| rest.starts_with(**word)) {
                    out.push_str("null");
                    rest = &rest[word.len()..];
                    continue;
                }
            }
            _ => {}
        }
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    (out, repaired)
}

/// The half of a character that `text` begins with as `\udXXX`.
fn surrogate(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let unit = digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok()).flatten()?;
    (0xd800..0xe000).contains(&unit).then_some(unit)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_and_what_is_mended() {
        let table = [
            (r#"{"a": 1}"#, vec![json!({"a": 1})], false),
            ("{\"a\": 1}\n{\"a\": 2}\n", vec![json!({"a": 1}), json!({"a": 2})], false),
            (r#"["a\ud800b"]"#, vec![json!(["a\u{fffd}b"])], true),
            (r#"["\udc00\ud83d\ude00\ud800\n\\ud800"]"#, vec![json!(["\u{fffd}😀\u{fffd}\n\\ud800"])], true),
            (r#"["NaN", NaN, -Infinity, Infinity, -1]"#, vec![json!(["NaN", null, null, null, -1])], false),
        ];
        for (text, expected, repaired) in table {
            assert_eq!(values(text).unwrap(), (expected, repaired), "{text}");
        }
        for (text, line) in [("", 1), ("{\"a\": 1}\n{\"a\": ", 2), ("[NaN\n}", 2), ("\"\\ud8", 1), ("\"\\ud800\\u", 1)]
        {
            let error = values(text).unwrap_err();
            assert!(error.message().ends_with(&format!("(line {line})")), "{text}: {error}");
        }
    }
}
