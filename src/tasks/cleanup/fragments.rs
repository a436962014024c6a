//! Words begun, broken off and begun again.

use super::draft::{Action, Draft, Pause, Proposal};
use super::edit::EditKind;
use super::lexicon::{is_common_word, is_number_word, words};
use super::words::Shape;

/// How many words before the broken-off one may be said again with it: "the inter the interview".
const MAX_RESTARTED: usize = 3;

/// Proposes to delete a broken-off word, with the words before it that are said again.
pub(super) fn propose(draft: &Draft) -> Vec<Proposal> {
    if !draft.is_english() {
        return vec![];
    }
    let mut proposals = vec![];
    for i in 0..draft.len() {
        let Some(restarted) = (0..=MAX_RESTARTED.min(i)).find(|&back| is_broken_off(draft, i, back)) else { continue };
        proposals.push(Proposal {
            first: draft.at(i - restarted),
            last: draft.at(i),
            action: Action::Delete,
            kind: EditKind::Fragment,
            confidence: 0.9,
        });
    }
    proposals
}

/// Whether live word `i` is the beginning of the word that follows it once the `back` words before it are said again.
fn is_broken_off(draft: &Draft, i: usize, back: usize) -> bool {
    let whole = i + 1 + back;
    if whole >= draft.len() || draft.pause_within(i - back, whole) == Pause::Strong {
        return false;
    }
    if !(0..back).all(|k| draft.key(i - back + k) == draft.key(i + 1 + k)) {
        return false;
    }
    let (part, word) = (draft.word(i), draft.word(whole));
    let natural = |shape: Shape| matches!(shape, Shape::Lower | Shape::Capitalised);
    if !natural(part.shape)
        || !(natural(word.shape) || word.shape == Shape::Upper)
        || word.key.len() <= part.key.len()
        || !word.key.starts_with(&part.key)
    {
        return false;
    }
    // "wor- word": the recogniser heard it break off.
    if part.trail_marks(draft.raw).starts_with(['-', '—', '…']) {
        return true;
    }
    if part.key.len() == 1 {
        return is_stray_letter(draft, i - back, i);
    }
    // An apostrophe or "s" more is a form of the same word, not the rest of it.
    let rest = &word.key[part.key.len()..];
    !words!("s es 's d ed ing er ers ly").contains(rest) && !is_common_word(&part.key)
}

/// Whether a consonant is the beginning of a word rather than a name ("plan b because") or part of a spelling.
fn is_stray_letter(draft: &Draft, from: usize, i: usize) -> bool {
    let letter = draft.word(i);
    if letter.shape != Shape::Lower
        || matches!(letter.key.as_str(), "a" | "i" | "o" | "x")
        || !letter.trail_marks(draft.raw).is_empty()
    {
        return false;
    }
    let before = draft.key_before(from);
    let spelled = from > 0 && draft.word(from - 1).is_letter() && !matches!(before, "a" | "i");
    let named = words!(
        "plan vitamin option grade type class section letter hepatitis group team appendix exhibit point item \
        part step level model series version block row seat gate platform building room unit size the capital \
        double generation gen figure table variable column key drive apartment question answer spells spelled"
    )
    .contains(before);
    !spelled && !named && !is_number_word(before)
}
