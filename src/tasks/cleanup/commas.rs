//! The few commas that grammar is sure of, in text to which the recogniser gave no marks.
//!
//! Everything else inside a sentence is a matter of sense or style and is left alone: a missing comma is seen as the
//! speaker's, a wrong one as ours.

use super::draft::{Draft, Pause};
use super::lexicon::{is_auxiliary, is_determiner, is_subject, words};
use super::marks::NewMark;
use super::questions::is_tag_question;

/// Proposes commas, in the order of the text.
pub(super) fn propose(draft: &Draft) -> Vec<NewMark> {
    let marked = draft.words.iter().any(|word| word.trail_marks(draft.raw).contains(['.', ',', '?', '!', ';', ':']));
    if !draft.is_english() || marked || draft.preset().final_mark_from.is_none() {
        return vec![];
    }
    let wanted = (0..draft.len()).filter(|&i| {
        let inside = i + 1 < draft.len() && draft.pause(i) == Pause::None && !draft.is_marked_after(i);
        inside
            && (follows_opener(draft, i)
                || precedes_clause(draft, i)
                || precedes_please(draft, i)
                || precedes_tag(draft, i))
    });
    wanted.map(|i| NewMark { after: draft.at(i), text: "," }).collect()
}

/// "Okay, so …", "No, the bus …", "Yes, I did".
fn follows_opener(draft: &Draft, i: usize) -> bool {
    let next = draft.key(i + 1);
    let clause = is_subject(next)
        || words!("i'm i'll i've i'd it's that's we're we'll you're they're there's let's there").contains(next);
    let begins = draft.sentence_start(i) == i;
    begins
        && match draft.key(i) {
            "okay" | "ok" => clause || matches!(next, "so" | "then"),
            "yes" | "yeah" | "oh" => clause || matches!(next, "but" | "and" | "so"),
            // "no one", "no that" may still be a noun phrase.
            "no" => clause || next == "the",
            _ => false,
        }
}

/// "…, but it works": two clauses, each with its subject.
fn precedes_clause(draft: &Draft, i: usize) -> bool {
    let subject = draft.key(i + 2);
    let begins = draft.sentence_start(i) == i;
    !begins
        && draft.key(i + 1) == "but"
        && draft.key_after(i + 1) == subject
        && (is_subject(subject)
            || words!("i'm i'll i've i'd it's that's we're we'll you're they're there's there").contains(subject))
}

/// "Translate this, please" at the end of a sentence of some length.
fn precedes_please(draft: &Draft, i: usize) -> bool {
    let ends = draft.key(i + 1) == "please" && draft.pause(i + 1) == Pause::Strong;
    let said = draft.key(i);
    ends && i >= draft.sentence_start(i) + 2 && !is_auxiliary(said) && !is_determiner(said)
}

/// "…, would you?"
fn precedes_tag(draft: &Draft, i: usize) -> bool {
    let end = i + 2;
    end < draft.len() && draft.pause(end) == Pause::Strong && i > draft.sentence_start(i) && is_tag_question(draft, end)
}
