//! Reversible edits: what was changed in the raw text, piece by piece.

use serde::{Serialize, Serializer};

/// What kind of change an [`Edit`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum EditKind {
    /// A sound that fills a pause.
    Filler,
    /// A sound that the recogniser describes in brackets.
    Noise,
    /// A second copy of a word or phrase.
    Repeat,
    /// A word begun and broken off.
    Fragment,
    /// What the speaker took back, with the words that took it back.
    Correction,
    /// A phrase that only holds the floor, such as "you know".
    Discourse,
    /// A dictated mark, line or paragraph.
    SpokenMark,
    /// A mark that was not dictated.
    Mark,
    /// Upper or lower case.
    Case,
    /// A number, date, time, amount, address or identifier in its written form.
    Number,
    /// A spelling from the caller's dictionary.
    Dictionary,
    /// White space.
    Layout,
    /// A stretch that a model wrote anew.
    Rewrite,
}

/// Who decided an [`Edit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Decider {
    /// Rules alone.
    Rules,
    /// A model, held to the words that were said.
    Model,
}

/// One change: the bytes `start..end` of the raw text become `replacement`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Edit {
    /// First byte in the raw text, at a character boundary. Equal to `end` where something is inserted.
    pub start: usize,
    /// The byte after the last, at a character boundary.
    pub end: usize,
    /// The raw text's own `start..end`.
    pub original: String,
    /// What stands there instead; empty where something is deleted.
    pub replacement: String,
    pub kind: EditKind,
    /// How sure the decider was, 0 to 1.
    #[serde(serialize_with = "two_decimals")]
    pub confidence: f32,
    pub by: Decider,
}

/// Writes a confidence as people would: no one means the digits beyond the second, least of all those that an `f32` gains
/// on its way to a double.
pub(crate) fn two_decimals<S: Serializer>(value: &f32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((f64::from(*value) * 100.0).round() / 100.0)
}

/// `raw` with `edits` made: any subset of one result's edits, in their order, is sound.
///
/// An edit that does not fit (it overlaps an earlier one, or its span is not one of `raw`'s) is left out, so that edits
/// of another text do no harm.
pub fn apply<'a>(raw: &str, edits: impl IntoIterator<Item = &'a Edit>) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut at = 0;
    for edit in edits {
        let fits = edit.start >= at && raw.get(edit.start..edit.end) == Some(&edit.original);
        if fits {
            text.push_str(&raw[at..edit.start]);
            text.push_str(&edit.replacement);
            at = edit.end;
        }
    }
    text.push_str(&raw[at..]);
    text
}

/// The raw text that `edits` (all of one result's) made into `text`; none if `text` is not their work.
pub fn revert<'a>(text: &str, edits: impl IntoIterator<Item = &'a Edit>) -> Option<String> {
    let mut raw = String::with_capacity(text.len());
    let mut at = 0_usize;
    for edit in edits {
        let kept = edit.start.checked_sub(raw.len())?;
        raw.push_str(text.get(at..at.checked_add(kept)?)?);
        at += kept;
        raw.push_str(&edit.original);
        at += text.get(at..)?.strip_prefix(&edit.replacement).map(|_| edit.replacement.len())?;
    }
    raw.push_str(text.get(at..)?);
    Some(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(start: usize, original: &str, replacement: &str) -> Edit {
        Edit {
            start,
            end: start + original.len(),
            original: original.into(),
            replacement: replacement.into(),
            kind: EditKind::Mark,
            confidence: 1.0,
            by: Decider::Rules,
        }
    }

    #[test]
    fn apply_and_revert_are_inverse() {
        let raw = "um hello é wörld";
        let edits = [edit(0, "um ", ""), edit(3, "hello", "Hello"), edit(8, "", ","), edit(11, " wörld", "")];
        let text = apply(raw, &edits);
        assert_eq!(text, "Hello, é");
        assert_eq!(revert(&text, &edits).as_deref(), Some(raw));
        assert_eq!(apply(raw, [&edits[1]]), "um Hello é wörld");
    }

    #[test]
    fn edits_of_another_text_change_nothing() {
        assert_eq!(apply("é", &[edit(1, "x", "y"), edit(90, "", "!")]), "é");
        assert_eq!(revert("other", &[edit(0, "um ", "uh ")]), None);
    }
}
