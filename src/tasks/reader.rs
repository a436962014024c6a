//! Reading a model's JSON, and writing what it may hold into a grammar. A grammar makes most faults impossible; a reader trusts nobody and checks anyway.

use std::collections::HashSet;

use serde::de::DeserializeOwned;

use crate::{Error, ErrorKind, Result, error::Detail};

/// The JSON value that `raw` spells, and nothing after it.
///
/// # Errors
/// [`ErrorKind::InvalidStructuredOutput`] with the raw text when it is no such JSON.
pub(super) fn json<T: DeserializeOwned>(raw: &str) -> Result<T> {
    // serde's own message can quote the text, which must stay out of messages.
    serde_json::from_str(raw).map_err(|_| unreadable(raw, "the answer is not the JSON that was asked for"))
}

/// An array of strings, trimmed, without the empty ones and without second copies (upper and lower case are one).
///
/// # Errors
/// As [`json`].
pub(super) fn strings(raw: &str) -> Result<Vec<String>> {
    let mut seen = HashSet::new();
    let items: Vec<String> = json(raw)?;
    Ok(items
        .into_iter()
        .map(|item| item.trim().to_owned())
        .filter(|item| !item.is_empty() && seen.insert(item.to_lowercase()))
        .collect())
}

/// The error for an answer that cannot be used, with the answer kept.
pub(crate) fn unreadable(raw: &str, why: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidStructuredOutput, why).with_detail(Detail::Raw { raw: raw.to_owned(), attempts: 1 })
}

/// `text` as a GBNF literal.
pub(super) fn literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 8);
    literal.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            c => literal.push(c),
        }
    }
    literal.push('"');
    literal
}
