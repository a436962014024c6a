//! Words and phrases said twice by slip, and those that are meant twice.

use super::draft::{Action, Draft, Pause, Proposal};
use super::edit::EditKind;
use super::language::Language;
use super::lexicon::{is_conjunction, is_function_word, is_number_word, is_preposition, is_subject, is_wh, words};
use super::words::Shape;

/// The longest phrase that is looked at.
const MAX_PHRASE: usize = 6;
/// So many copies in a row are the recogniser's loop, whatever the words …
const LOOP: usize = 6;
/// … and so many of a phrase.
const PHRASE_LOOP: usize = 4;

/// Proposes to delete the later copies of what was repeated; what follows the last copy stays with the first.
pub(super) fn propose(draft: &Draft) -> Vec<Proposal> {
    let mut proposals = vec![];
    let mut i = 0;
    while i < draft.len() {
        let Some((phrase, copies)) = repeat_at(draft, i) else {
            i += 1;
            continue;
        };
        for copy in 1..copies {
            let from = i + copy * phrase;
            proposals.push(Proposal {
                first: draft.at(from),
                last: draft.at(from + phrase - 1),
                action: Action::Delete,
                kind: EditKind::Repeat,
                confidence: if phrase > 1 { 0.95 } else { 0.9 },
            });
        }
        i += phrase * copies;
    }
    proposals
}

/// The length of the phrase that begins at live word `i` and is said again right away by slip, and its copies in all.
fn repeat_at(draft: &Draft, i: usize) -> Option<(usize, usize)> {
    (1..=MAX_PHRASE).rev().find_map(|phrase| {
        let same = |copy: usize| (0..phrase).all(|k| draft.key(i + k) == draft.key(i + copy * phrase + k));
        let fits = |copy: usize| i + (copy + 1) * phrase <= draft.len();
        let copies = 1 + (1..).take_while(|&copy| fits(copy) && same(copy)).count();
        // What is itself a repeat is seen as one of its part: "thank you thank you thank you".
        let period = |part: usize| (part..phrase).all(|k| draft.key(i + k) == draft.key(i + k - part));
        let whole = || !(1..phrase).any(|part| phrase % part == 0 && period(part));
        (copies > 1 && whole() && is_slip(draft, i, phrase, copies)).then_some((phrase, copies))
    })
}

fn is_slip(draft: &Draft, i: usize, phrase: usize, copies: usize) -> bool {
    let keys: Vec<&str> = (i..i + phrase).map(|k| draft.key(k)).collect();
    if keys.iter().all(|key| is_number_word(key) || is_sign(key) || matches!(*key, "oh" | "point"))
        || (i..i + phrase).all(|k| is_spelled(draft, k, phrase))
    {
        return false;
    }
    // "get user open paren user id": nobody stutters across a dictated mark.
    if (i..i + copies * phrase - 1).any(|k| draft.is_marked_after(k)) {
        return false;
    }
    // "la la la la la la" is a song.
    let most = match phrase {
        _ if keys.iter().all(|key| is_doubled(key)) => 4 * LOOP,
        1 => LOOP,
        _ => PHRASE_LOOP,
    };
    if copies >= most {
        return keys.iter().any(|key| key.chars().any(char::is_alphabetic));
    }
    if draft.pause_within(i, i + copies * phrase - 1) == Pause::Strong {
        return false;
    }
    if draft.language != Language::English {
        return keys.iter().all(|key| draft.language.is_stutter(key));
    }
    // Whole lines that are alike are a list or a verse.
    if begins_line(draft, i) && begins_line(draft, i + phrase) {
        return false;
    }
    // "Will Will come", "New York New York": inside a sentence a capital says that it is a name. "So So if" is none.
    let little = |key: &str| is_function_word(key) && !matches!(key, "will" | "may");
    let name = |k: usize| draft.word(k).shape == Shape::Capitalised && !little(draft.key(k));
    if (i + 1..i + 2 * phrase).all(name) {
        return false;
    }
    if phrase == 1 {
        return is_word_slip(draft, i, copies);
    }
    // "if we go, we go": the comma ends the condition.
    let comma = draft.pause(i + phrase - 1) == Pause::Weak;
    let condition =
        matches!(draft.key_before(i), "if" | "when" | "because" | "since" | "once" | "while" | "as" | "whether");
    !(comma && condition) && is_phrase_slip(draft, i, &keys)
}

/// Whether live word `k` is the first of the raw text or of one of its lines.
fn begins_line(draft: &Draft, k: usize) -> bool {
    let before = draft.raw[..draft.word(k).lead].trim_end_matches([' ', '\t', '\r']);
    before.is_empty() || before.ends_with('\n')
}

/// Whether live word `k` is a letter being spelled: "s double t", "A A batteries".
fn is_spelled(draft: &Draft, k: usize, phrase: usize) -> bool {
    let word = draft.word(k);
    let slip = phrase == 1 && (word.key == "i" || (word.key == "a" && word.shape == Shape::Lower));
    (word.is_letter() && !slip) || word.shape == Shape::Symbol || word.shape == Shape::Digits
}

fn is_word_slip(draft: &Draft, i: usize, copies: usize) -> bool {
    let (before, key, after) = (draft.key_before(i), draft.key(i), draft.key_after(i + copies - 1));
    // "So so if …" opens a sentence twice; "so so tired" does not.
    let opens_twice = key == "so" && before.is_empty() && is_function_word(after);
    if (is_emphatic(key) || is_doubled(key)) && !opens_twice {
        return false;
    }
    if draft.language.is_filler(key) {
        return true;
    }
    let comma = draft.pause_within(i, i + copies - 1) > Pause::None;
    let clause_begins = before.is_empty()
        || is_conjunction(before)
        || is_wh(before)
        || matches!(before, "think" | "yeah" | "okay" | "know" | "mean" | "to");
    match key {
        // "when I see it it looks fine": a clause ends and another begins.
        "it" | "you" | "this" | "them" | "us" | "me" | "him" => clause_begins || copies > 2,
        // "he gave her her book", "I know that that is so", "he had had enough".
        "her" | "that" | "had" => copies > 2,
        "do" => clause_begins && is_subject(after) || copies > 2,
        // "what it is is a problem", "the thing is is that we lost"
        "is" => !has_clause_for_subject(draft, i) || copies > 2,
        "was" => !asks_before(draft, i) || copies > 2,
        // "will will be there" is about Will; "he can can the beans", "that will will the whole estate to her"
        "can" | "will" | "might" | "must" => is_subject(after) || is_subject(before) && is_bare(after) || copies > 2,
        // "log in in the morning", "come on on Monday": a particle and a preposition.
        "in" | "on" | "up" | "out" | "off" | "over" | "down" | "back" => !is_phrasal(before) || copies > 2,
        // "who did we refuse help to, to win the vote?"
        "to" if comma => copies > 2,
        _ if is_function_word(key) => true,
        // A comma between content words is emphasis: "a long, long road". A name may be doubled: "Duran Duran".
        _ => !comma && draft.word(i + 1).shape != Shape::Capitalised && !(copies > 2 && after.is_empty()),
    }
}

/// Whether a word that asks comes before live word `i` in its sentence, not long before.
fn asks_before(draft: &Draft, i: usize) -> bool {
    (draft.sentence_start(i)..i).rev().take(8).any(|k| is_wh(draft.key(k)) || draft.key(k) == "what's")
}

/// Whether the subject of the "is" at live word `i` may be a clause with that verb of its own: "what it is", "the thing is".
fn has_clause_for_subject(draft: &Draft, i: usize) -> bool {
    let noun = words!("thing point problem question issue truth fact reason trouble difference idea");
    asks_before(draft, i) || noun.contains(draft.key_before(i)) || draft.key_before(i) == "all"
}

/// Verbs that often come after an auxiliary.
fn is_bare(key: &str) -> bool {
    words!(
        "be have not do go come need see get send call take make try help also just never always still only probably \
        really find give tell say know want think start look work ask use"
    )
    .contains(key)
}

/// Verbs that take a particle.
fn is_phrasal(before: &str) -> bool {
    words!(
        "log logged come came coming go went going sign signed check checked turn turned get got put move moved \
        walk walked hand handed bring brought it them that drop dropped fill filled keep kept carry carried hold \
        held set"
    )
    .contains(before)
}

/// Words that people double for emphasis.
fn is_emphatic(key: &str) -> bool {
    words!(
        "very really so too no not yes yeah yep nope okay ok right well now there never many much more long far big \
        little old deep hard slow slowly please wait stop go come good great nice sorry quick easy hot cold \
        super way always again hello hey hi oh mine sure look run help thanks quite pretty tiny huge fast bad \
        sad true real work home love money"
    )
    .contains(key)
}

/// Names of signs of which two in a row are another: "dash dash", "equals equals".
pub(super) fn is_sign(key: &str) -> bool {
    words!(
        "dash hyphen minus equal equals plus dot slash backslash colon pipe ampersand asterisk star underscore tilde hash \
        percent bang caret dollar backtick"
    )
    .contains(key)
}

/// Words whose double is a word of its own.
fn is_doubled(key: &str) -> bool {
    words!(
        "bye blah ha haha hee ho knock tut hear chop night la na boo choo cha win yada pom bora duran walla baden \
        pago yo tick tsk nom beep ding bang woof quack meow wee din aye goody"
    )
    .contains(key)
}

fn is_phrase_slip(draft: &Draft, i: usize, keys: &[&str]) -> bool {
    let meant = |key: &&str| is_emphatic(key) || is_doubled(key) || is_number_word(key);
    if keys.iter().all(meant) {
        return false;
    }
    match keys {
        // "more and more and more", "step by step by step", "day after day after day".
        [a, b] | [b, a]
            if matches!(*a, "and" | "by" | "after" | "or" | "to") && !is_function_word(b) && !is_preposition(b) =>
        {
            return false;
        }
        ["thank", "you"]
        | ["come", "on"]
        | ["i", "know"]
        | ["let's", "go"]
        | ["oh", "no"]
        | ["oh", "my"]
        | ["go", "on"]
        | ["all", "right"] => return false,
        // "whatever we do we do it together".
        _ if matches!(draft.key_before(i), "whatever" | "wherever" | "whenever" | "whoever" | "however" | "than") => {
            return false;
        }
        _ => {}
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::draft::Draft;
    use super::super::words::Scanner;
    use super::*;
    use crate::tasks::cleanup::CleanupOptions;

    #[track_caller]
    fn deletes(raw: &str, expected: &[&str]) {
        let mut scanner = Scanner::new(0);
        let words = std::iter::from_fn(|| scanner.next(raw)).collect();
        let options = CleanupOptions::default();
        let draft = Draft::new(raw, words, Language::English, &options);
        let deleted: Vec<_> =
            propose(&draft).iter().map(|p| &raw[draft.words[p.first].start..draft.words[p.last].end]).collect();
        assert_eq!(deleted, expected, "{raw}");
    }

    #[test]
    fn slips_go() {
        deletes("i i i would rather walk", &["i", "i"]);
        deletes("we should we should call about the the boiler", &["we should", "the"]);
        deletes("it it shouldn't", &["it"]);
        deletes("a word said again again again again again again", &["again"; 5]);
    }

    #[test]
    fn what_is_meant_twice_stays() {
        for raw in [
            "it was very very long",
            "he had had enough",
            "i think that that plan works",
            "when i see it it looks fine",
            "the pin is two two nine",
            "it takes A A batteries",
            "log in in the morning",
            "more and more and more",
            "bye bye see you",
            "I go. I go home",
            "tomorrow Will Will come",
            "we like New York New York",
            "he can can the beans",
            "la la la la la la la",
            "zero zero zero zero zero zero zero",
        ] {
            deletes(raw, &[]);
        }
    }
}
