//! The free rewrite for models large enough to write: its prompt, and its answer as edits. [`guard`](super::guard())
//! judges the answer.

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::RULES_VERSION;
use super::cleaner::Cleaned;
use super::edit::{Decider, Edit, EditKind};
use super::options::{CleanupOptions, Level};
use crate::tasks::Message;
use crate::tasks::prompt::{CLEANUP, Prompt};

/// The conversation that asks for a rewrite of `raw`.
pub fn messages(raw: &str, options: &CleanupOptions) -> Vec<Message> {
    Prompt::ask(system_prompt(options), raw)
}

/// The cleanup prompt, then the dictionary's suffix, then the preset's.
pub fn system_prompt(options: &CleanupOptions) -> String {
    let mut prompt = CLEANUP.text.to_owned();
    for suffix in [dictionary_suffix(&options.dictionary), options.preset.suffix().to_owned()] {
        if !suffix.is_empty() {
            prompt.push_str("\n\n");
            prompt.push_str(&suffix);
        }
    }
    prompt
}

/// The most tokens that an answer to `raw_tokens` of transcript may take: marks and line breaks make it longer, deletions
/// shorter.
pub const fn max_tokens(raw_tokens: usize) -> usize {
    raw_tokens + raw_tokens / 4 + 16
}

/// A rewrite that has passed the guard, as edits of the words in which it differs from `raw`.
pub fn cleaned(raw: &str, rewritten: &str, level: Level) -> Cleaned {
    let (before, after) = (pieces(raw), pieces(rewritten));
    let mut edits = Vec::new();
    let mut start = 0;
    for op in capture_diff_slices(Algorithm::Myers, &before, &after) {
        let original = before[op.old_range()].concat();
        let end = start + original.len();
        if op.tag() != DiffTag::Equal {
            edits.push(Edit {
                start,
                end,
                original,
                replacement: after[op.new_range()].concat(),
                kind: EditKind::Rewrite,
                confidence: REWRITE_CONFIDENCE,
                by: Decider::Model,
            });
        }
        start = end;
    }
    Cleaned { text: rewritten.to_owned(), edits, level, rules_version: RULES_VERSION }
}

/// Nothing is known of a free rewrite but that the guard let it through.
const REWRITE_CONFIDENCE: f32 = 0.5;

/// The words of a text and the white space between them, in turn.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let blank = first.is_whitespace();
        let end = rest.find(|c: char| c.is_whitespace() != blank).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// The sentence that teaches the dictionary; empty without terms.
fn dictionary_suffix(terms: &[String]) -> String {
    if terms.is_empty() {
        return String::new();
    }
    let terms: Vec<&str> = terms.iter().map(|term| term.trim()).collect();
    format!(
        "Spell these terms exactly so where they were said, and never add them where they were not: {}.",
        terms.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::cleanup::{Preset, apply, revert};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_rewrite_can_be_undone(raw in "( |a|bé|\\n|😀|um ){0,20}", rewritten in "( |a|bé|\\n|😀|, ){0,20}") {
            let cleaned = cleaned(&raw, &rewritten, Level::Clean);
            prop_assert_eq!(apply(&raw, &cleaned.edits), rewritten.clone());
            prop_assert_eq!(revert(&rewritten, &cleaned.edits), Some(raw));
        }
    }

    #[test]
    fn words_that_stay_are_no_edits() {
        let cleaned = cleaned("so um the lid is stuck", "So the lid is stuck.", Level::Clean);
        let edits: Vec<_> = cleaned.edits.iter().map(|e| (e.original.as_str(), e.replacement.as_str())).collect();
        assert_eq!(edits, [("so um", "So"), ("stuck", "stuck.")]);
    }

    #[test]
    fn suffixes_follow_the_prompt_in_order() {
        assert_eq!(system_prompt(&CleanupOptions::default()), CLEANUP.text);
        let options = CleanupOptions {
            preset: Preset::Email,
            dictionary: vec!["Kubernetes".into(), " Zoë ".into()],
            ..Default::default()
        };
        let prompt = system_prompt(&options);
        let suffix = prompt.strip_prefix(CLEANUP.text).unwrap();
        let terms = suffix.find("Kubernetes, Zoë.").unwrap();
        assert!(terms < suffix.find(Preset::Email.suffix()).unwrap());
    }
}
