//! Phrases that only hold the floor.

use super::draft::{Action, Draft, Pause, Proposal};
use super::edit::EditKind;
use super::lexicon::{is_preposition, words};

/// Proposes to delete "you know" where it is set off, or stands between a verb and what belongs to it ("it's basically you
/// know the same thing"), so that it is neither a question nor has an object.
pub(super) fn propose(draft: &Draft) -> Vec<Proposal> {
    if !draft.is_english() {
        return vec![];
    }
    let set_off = |i: usize| {
        i > 0
            && draft.says(i, &["you", "know"])
            && draft.pause(i - 1) == Pause::Weak
            && draft.pause(i + 1) > Pause::None
    };
    let inside = |i: usize| {
        let (before, after) = (draft.key_before(i), draft.key_after(i + 1));
        draft.says(i, &["you", "know"])
            && words!("is was are were it's that's they're basically like just been kind").contains(before)
            && draft.pause_within(i.saturating_sub(1), i + 1) == Pause::None
            && (matches!(after, "a" | "an" | "the" | "really" | "very" | "just") || is_preposition(after))
    };
    (0..draft.len())
        .filter(|&i| set_off(i) || inside(i))
        .map(|i| Proposal {
            first: draft.at(i),
            last: draft.at(i + 1),
            action: Action::Delete,
            kind: EditKind::Discourse,
            confidence: 0.85,
        })
        .collect()
}
