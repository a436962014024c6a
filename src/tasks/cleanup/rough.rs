//! Rough copies: a speaker begins a phrase, breaks off without a word and says it otherwise.
//!
//! | said | kept |
//! |---|---|
//! | compare it with pt with python | with python |
//! | in the in a drawer | in a drawer |
//! | i was i am going | i am going |
//! | paint the hall the kitchen by may | the kitchen |
//! | the side wide extension, site wide extension | site wide extension |
//!
//! Nothing announces the change, so each form is narrow, and what might be a list, an apposition or two objects stays.

use super::corrections::taken_back;
use super::draft::{Draft, Pause, Proposal};
use super::lexicon::{
    is_auxiliary, is_common_word, is_conjunction, is_function_word, is_number_word, is_preposition, is_subject, words,
};
use super::words::Shape;

/// Proposes to delete the first of two rough copies.
pub(super) fn propose(draft: &Draft) -> Vec<Proposal> {
    taken_back(draft, |draft, i| {
        let forms = [broken_name, little_words, subject_and_verb, near_copy, noun_phrase];
        let length = forms.iter().find_map(|form| form(draft, i))?;
        Some((i, i + length, 0.8))
    })
}

/// "with pt with python": a few letters of a word that begins alike.
fn broken_name(draft: &Draft, i: usize) -> Option<usize> {
    let (part, whole) = (draft.key(i + 1), draft.key(i + 3));
    let opens = |key: &str| is_preposition(key) || is_article(key);
    let fits = flows(draft, i, 4)
        && draft.key(i) == draft.key(i + 2)
        && opens(draft.key(i))
        && (1..=3).contains(&part.len())
        && whole.len() > part.len() + 1
        && whole.chars().next() == part.chars().next()
        && !is_common_word(part)
        && !is_function_word(part)
        && !is_number_word(part)
        && draft.word(i + 1).shape != Shape::Digits;
    fits.then_some(2)
}

/// "in the in a", "just for just to": a little word again, with another of the same kind after it.
fn little_words(draft: &Draft, i: usize) -> Option<usize> {
    let (first, old, new) = (draft.key(i), draft.key(i + 1), draft.key(i + 3));
    let alike = |kind: fn(&str) -> bool| kind(old) && kind(new);
    let fits = flows(draft, i, 4)
        && first == draft.key(i + 2)
        && old != new
        && (is_preposition(first) || matches!(first, "just" | "and" | "but" | "because"))
        && (alike(is_preposition) || alike(is_article))
        && i + 4 < draft.len();
    fits.then_some(2)
}

/// "i was i am going": at the beginning of a clause.
fn subject_and_verb(draft: &Draft, i: usize) -> Option<usize> {
    let (subject, old, new) = (draft.key(i), draft.key(i + 1), draft.key(i + 3));
    let before = draft.key_before(i);
    let fits = flows(draft, i, 5)
        && is_subject(subject)
        && subject == draft.key(i + 2)
        && (is_auxiliary(old) && is_auxiliary(new))
        && old != new
        && (before.is_empty() || matches!(before, "and" | "but" | "so" | "because"));
    fits.then_some(2)
}

/// "side wide extension, site wide extension": three words and more, of which one was heard in another way.
fn near_copy(draft: &Draft, i: usize) -> Option<usize> {
    (3..=6).rev().find(|&length| {
        let pairs = || (0..length).map(|k| (draft.key(i + k), draft.key(i + length + k)));
        i + 2 * length <= draft.len()
            && draft.pause_within(i, i + 2 * length - 1) < Pause::Strong
            && pairs().filter(|(old, new)| old != new).count() == 1
            && pairs().all(|(old, new)| old == new || is_misheard(old, new))
            && pairs().any(|(old, new)| old == new && !is_function_word(old))
    })
}

/// Whether two words of some length differ in one letter. Numbers, and words of one kind such as "hers" and "here", are
/// meant to differ.
fn is_misheard(old: &str, new: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let same_start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let same_end = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let longest = a.len().max(b.len());
    longest >= 4
        && a.len().abs_diff(b.len()) <= 1
        && same_start + same_end + 1 >= longest
        && same_start > 0
        && !is_function_word(old)
        && !is_function_word(new)
        && !is_number_word(old)
        && !is_number_word(new)
}

/// "paint the hall the kitchen by may": one noun for another, where neither a list nor two objects nor a clause can be
/// meant.
fn noun_phrase(draft: &Draft, i: usize) -> Option<usize> {
    let (article, old, new, after) = (draft.key(i), draft.key(i + 1), draft.key(i + 3), draft.key_after(i + 3));
    let before = draft.key_before(i);
    let noun = |key: &str| key.len() > 2 && !is_function_word(key) && !is_number_word(key) && !key.ends_with("ly");
    let ends = is_preposition(after) && !matches!(after, "of" | "like" | "than") || after == "to";
    let fits = flows(draft, i, 4)
        && i > 0
        && article == draft.key(i + 2)
        && matches!(article, "the" | "my" | "our" | "your" | "his" | "her" | "their")
        && old != new
        && noun(old)
        && noun(new)
        && ends
        && !before.is_empty()
        && !is_function_word(before)
        && !is_conjunction(before)
        && !takes_two_objects(before)
        && !old.ends_with("er")
        && !lists_on(draft, i + 4);
    fits.then_some(2)
}

/// Whether the rest of the sentence is a list: "… and the garden".
fn lists_on(draft: &Draft, i: usize) -> bool {
    (i..draft.len().min(i + 6))
        .take_while(|&k| draft.pause(k - 1) < Pause::Strong)
        .any(|k| matches!(draft.key(k), "and" | "or"))
}

/// Verbs with a person and a thing: "give the dog the bone".
fn takes_two_objects(verb: &str) -> bool {
    let base = ["ing", "ed", "s", "d"].iter().find_map(|ending| verb.strip_suffix(ending)).unwrap_or(verb);
    let holds = |key: &str| {
        words!(
            "give gave given show shown tell told send sent buy bought teach taught offer hand ask bring brought make made \
            call name owe lend lent read write wrote pay paid cost save wish consider elect get got find found cook serve \
            pass promise feed fed leave left deny grant throw threw assign award book do did order play sing sell sold the"
        )
        .contains(key)
    };
    holds(verb) || holds(base)
}

fn is_article(key: &str) -> bool {
    matches!(key, "a" | "an" | "the" | "my" | "your" | "our" | "his" | "their" | "this")
}

/// Whether `length` live words from `i` on have no pause between them.
fn flows(draft: &Draft, i: usize, length: usize) -> bool {
    i + length <= draft.len() && draft.pause_within(i, i + length - 1) == Pause::None
}

#[cfg(test)]
mod tests {
    use crate::tasks::cleanup::{CleanupOptions, clean};

    #[test]
    fn the_first_of_two_rough_copies_goes() {
        let table = [
            ("compare it with pt with python", "Compare it with Python."),
            ("it is in the in a drawer somewhere", "It is in a drawer somewhere."),
            ("that is just for just to be safe", "That is just to be safe."),
            ("i was i am going home now", "I am going home now."),
            ("we can paint the hall the kitchen by may", "We can paint the kitchen by May."),
            ("Ask about the side wide extension, side wise extension.", "Ask about the side wise extension."),
        ];
        for (raw, text) in table {
            assert_eq!(clean(raw, &CleanupOptions::default()).unwrap().text, text, "{raw}");
        }
    }

    #[test]
    fn what_may_be_meant_stays() {
        for text in [
            "Give the dog the bone to chew.",
            "The day the earth stood still.",
            "I called my mum my dad and my sister.",
            "The sooner the better for us.",
            "He went from door to door.",
            "It is what it is and it was fun.",
            "Show the team the plan for May.",
            "Take line four one, line four two.",
        ] {
            assert_eq!(clean(text, &CleanupOptions::default()).unwrap().text, text);
        }
    }
}
