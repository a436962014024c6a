//! Phrases that only hold the floor.

use super::draft::{Action, Draft, Pause, Proposal};
use super::edit::EditKind;

/// Proposes to delete "you know" where it is set off, so that it is neither a question nor has an object.
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
    (0..draft.len())
        .filter(|&i| set_off(i))
        .map(|i| Proposal {
            first: draft.at(i),
            last: draft.at(i + 1),
            action: Action::Delete,
            kind: EditKind::Discourse,
            confidence: 0.85,
        })
        .collect()
}
