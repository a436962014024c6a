//! Sounds that fill pauses.

use super::draft::{Action, Draft, Pause, Proposal};
use super::edit::EditKind;
use super::language::Language;
use super::lexicon::{is_auxiliary, is_conjunction, is_determiner, is_preposition, is_pronoun, words};
use super::words::Shape;

/// Proposes to delete fillers of the draft's language.
pub(super) fn propose(draft: &Draft) -> Vec<Proposal> {
    let fillers = (0..draft.len()).filter(|&i| draft.language.is_filler(draft.key(i)) && !is_meant(draft, i));
    fillers
        .map(|i| Proposal {
            first: draft.at(i),
            last: draft.at(i),
            action: Action::Delete,
            kind: EditKind::Filler,
            confidence: 0.98,
        })
        .collect()
}

/// Whether the sound at live word `i` is a word after all.
fn is_meant(draft: &Draft, i: usize) -> bool {
    if draft.language != Language::English {
        return false;
    }
    let (before, key, after) = (draft.key_before(i), draft.key(i), draft.key_after(i));
    // "the ER", "UM" among words in lower case is an abbreviation; in a text all in capitals it is not.
    let shouted = |k: usize| draft.word(k).shape == Shape::Upper;
    if draft.word(i).shape == Shape::Upper && !(i > 0 && shouted(i - 1)) && !(i + 1 < draft.len() && shouted(i + 1)) {
        return true;
    }
    match key {
        "uh" | "um" if matches!(after, "huh" | "oh" | "uh") && after != key => return key == "uh" && after != "um",
        "er" if matches!(before, "the" | "an") => {
            return after.is_empty() || words!("was is and with doctor nurse room visit for").contains(after);
        }
        // "to err is human", "we all err", "the err in the code", "err on the side of caution"; "the err box" is none.
        "err" => {
            let noun = is_determiner(before) && !is_pronoun(before) && (after.is_empty() || goes_on_after_noun(after));
            let verb = is_modal(before) && after.is_empty() || before == "all" && after.is_empty();
            return before == "to" || noun || verb || draft.says(i, &["err", "on", "the", "side"]);
        }
        _ => {}
    }
    // "he said um on the record": the sound is quoted. "he said um we should go" is not.
    let quotes = words!("said say says saying word words an your every").contains(before);
    let quoted = (after.is_empty() && draft.pause(i) == Pause::Strong && i + 1 < draft.len())
        || is_preposition(after)
        || matches!(after, "a" | "and" | "too" | "every");
    (quotes && quoted && !is_conjunction(before)) || matches!(after, "s" | "sound" | "sounds")
}

/// Words before which a noun has ended.
fn goes_on_after_noun(key: &str) -> bool {
    is_preposition(key) || is_auxiliary(key) || is_conjunction(key)
}

fn is_modal(key: &str) -> bool {
    matches!(key, "can" | "may" | "might" | "could" | "will" | "would" | "must" | "should" | "shall")
}
