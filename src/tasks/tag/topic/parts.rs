//! Which words of a note can be in a topic, and as what.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::tasks::cleanup::lexicon::{
    is_auxiliary, is_conjunction, is_determiner, is_function_word, is_month, is_number_word, is_preposition,
    is_pronoun, is_subject, is_weekday, is_wh,
};
use crate::tasks::cleanup::words::Shape;
use crate::tasks::extract::clauses::{Pause, Token};
use crate::tasks::extract::cues::is_adverb;
use crate::tasks::extract::imperative::{Object, right_of};
use crate::tasks::extract::syntax::{Keys, is_finite, is_interjection};
use crate::tasks::extract::verbs::{Verb, is_remark, is_speech, verb};

/// What the lists say of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    Never,
    Adjective,
    Vague,
    Time,
    Kind,
    Person,
    Noun,
}

static LISTS: LazyLock<HashMap<&'static str, Listed>> = LazyLock::new(|| {
    let lines = include_str!("../words/parts.txt").lines().filter(|line| !line.starts_with('#'));
    let mut lists = HashMap::new();
    for line in lines {
        let Some((part, words)) = line.split_once(' ') else { continue };
        let listed = match part {
            "never" => Listed::Never,
            "adjective" => Listed::Adjective,
            "vague" => Listed::Vague,
            "time" => Listed::Time,
            "kind" => Listed::Kind,
            "person" => Listed::Person,
            _ => Listed::Noun,
        };
        for word in words.split_ascii_whitespace() {
            lists.entry(word).or_insert(listed);
        }
    }
    lists
});

pub(super) fn listed(word: &str) -> Option<Listed> {
    LISTS.get(word).copied()
}

/// What a word can be in a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Noun,
    /// Only before a noun.
    Adjective,
}

/// The word of a topic that token stands for.
pub(super) fn word_of(token: &Token) -> &str {
    let key = token.word.key.as_str();
    key.strip_suffix("'s").unwrap_or(key)
}

/// What token `i` can be in a topic; none where it is part of none.
pub(super) fn part(tokens: &[Token], i: usize) -> Option<Part> {
    let keys = Keys(tokens);
    let (key, word) = (keys.at(i), word_of(tokens.get(i)?));
    let natural = matches!(tokens[i].word.shape, Shape::Lower | Shape::Capitalised | Shape::Upper | Shape::Mixed);
    let plain = natural && word.len() > 1 && word.bytes().all(|b| b.is_ascii_alphabetic());
    if !plain || is_empty(key) || is_empty(word) || is_verb(tokens, i) {
        return None;
    }
    let last = tokens[i].pause > Pause::None;
    let before_noun = !last && !is_empty(keys.at(i + 1)) && !keys.at(i + 1).is_empty();
    match listed(word) {
        // "the flat by the park", and not "the flat roof".
        Some(Listed::Adjective) if is_also_noun(word) && !before_noun && is_marked(keys, i) => Some(Part::Noun),
        Some(Listed::Adjective) => Some(Part::Adjective),
        Some(Listed::Never) => (before_noun && is_participle(word) && is_marked(keys, i)).then_some(Part::Adjective),
        None if is_adjective(word) => Some(Part::Adjective),
        // "the shared folder", and not "the warranty ended".
        None if is_participle(word) => (before_noun && is_marked(keys, i)).then_some(Part::Adjective),
        _ => Some(Part::Noun),
    }
}

/// Words without content.
fn is_empty(key: &str) -> bool {
    is_function_word(key) && !(is_determiner(key) && key.ends_with("'s"))
        || is_adverb(key)
        || is_interjection(key) && listed(key).is_none()
        || is_number_word(key)
        || is_weekday(key)
        || is_month(key)
        || is_finite(key)
        || is_speech(key) && listed(key) != Some(Listed::Kind)
        || is_remark(key)
        || key.contains('\'') && !key.ends_with("'s")
        || key.len() > 4 && key.ends_with("ly") && listed(key) != Some(Listed::Noun)
}

/// Adjectives that name a thing by themselves.
fn is_also_noun(word: &str) -> bool {
    matches!(word, "flat" | "cold" | "double" | "local" | "medical" | "mobile" | "original" | "spare" | "public")
}

fn is_participle(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ed") && !word.ends_with("eed")
        || matches!(word, "broken" | "lost" | "written" | "missing")
}

fn is_adjective(word: &str) -> bool {
    let long = word.len() > 5;
    let ends = ["ful", "less", "ous", "able", "ible", "ional", "ical", "ish"].iter().any(|end| word.ends_with(end));
    let compared = ["er", "est"].iter().filter_map(|end| word.strip_suffix(end)).any(|stem| {
        let doubled = stem.len() > 3 && stem.as_bytes()[stem.len() - 1] == stem.as_bytes()[stem.len() - 2];
        let forms = [stem.to_owned(), format!("{stem}e"), stem.replace('i', "y")];
        let shorter = if doubled { Some(stem[..stem.len() - 1].to_owned()) } else { None };
        forms.into_iter().chain(shorter).any(|form| listed(&form) == Some(Listed::Adjective))
    });
    long && ends
        && !matches!(word, "english" | "spanish" | "finish" | "cable" | "table" | "vegetable" | "radish" | "dishes")
        || compared
}

/// Whether token `i` stands after a word that announces a noun.
pub(super) fn is_marked(keys: Keys, i: usize) -> bool {
    i > 0 && is_determiner(keys.at(i - 1))
        || i > 1 && is_determiner(keys.at(i - 2)) && !is_function_word(keys.at(i - 1))
}

/// Whether token `i` is what somebody does.
fn is_verb(tokens: &[Token], i: usize) -> bool {
    let keys = Keys(tokens);
    let key = keys.at(i);
    let (before, two_before, next) =
        (if i > 0 { keys.at(i - 1) } else { "" }, if i > 1 { keys.at(i - 2) } else { "" }, keys.at(i + 1));
    let next = if tokens[i].pause > Pause::None { "" } else { next };
    let marked = is_marked(keys, i);
    let subject = is_subject(before)
        || before.ends_with("n't")
        || matches!(
            before,
            "who" | "not" | "i'll" | "we'll" | "they'll" | "you'll" | "he'll" | "she'll" | "i'd" | "we'd"
        )
        || is_auxiliary(before) && is_subject(two_before);
    if !marked && subject && (verb(key).is_some() || !is_preposition(next) || key.ends_with('s')) {
        return true;
    }
    if !marked && before == "to" && !matches!(two_before, "trip" | "next" | "according" | "back" | "move") {
        return verb(key).is_some() || is_determiner(next) || is_pronoun(next);
    }
    // "keeping the piano" after "are", "i'm".
    let progressive = key.ends_with("ing") && key.len() > 4;
    if progressive
        && (matches!(before, "is" | "are" | "am" | "was" | "were" | "be" | "been")
            || before.ends_with("'re")
            || before == "i'm")
    {
        return true;
    }
    let object = is_determiner(next) && !next.ends_with("'s") || is_pronoun(next);
    let after_noun = i > 0
        && tokens[i - 1].pause == Pause::None
        && !is_empty(before)
        && !matches!(listed(before), Some(Listed::Adjective | Listed::Never));
    let doubtful = after_noun || listed(key) == Some(Listed::Kind);
    let does = match verb(key) {
        Some(Verb::Clear) => true,
        // "book to look up" and "meal plan monday" name things; "book the train" is something to do.
        Some(Verb::Ambiguous) => right_of(tokens, i) == Some(Object::Marked) && (object || !doubtful),
        None => false,
    };
    if does && !marked {
        return true;
    }
    if !after_noun {
        return false;
    }
    // "the landlord put the rent up", "this laptop updates itself": after its noun, before its object.
    if object && !progressive {
        return true;
    }
    // "the team speaks up", "a flow leaks when": the stem is a verb, and the noun before it is one thing.
    let third = key.strip_suffix('s').is_some_and(|stem| match verb(stem) {
        Some(Verb::Clear) => true,
        _ => listed(stem) == Some(Listed::Never),
    });
    if third && !before.ends_with('s') {
        return true;
    }
    is_asked(tokens, i, next)
}

/// Whether token `i` is the verb of "does the pharmacy shut on", "can the lemon tree stay on": the last word of what comes
/// after the auxiliary.
fn is_asked(tokens: &[Token], i: usize, next: &str) -> bool {
    let keys = Keys(tokens);
    let goes_on =
        !next.is_empty() && !is_function_word(next) && !is_adverb(next) && listed(next) != Some(Listed::Never);
    if goes_on || matches!(next, "of" | "and" | "or") || is_auxiliary(next) {
        return false;
    }
    let mut k = i;
    while k > 0 && i - k < 4 && !is_auxiliary(keys.at(k)) {
        k -= 1;
    }
    let asks = matches!(
        keys.at(k),
        "do" | "does" | "did" | "can" | "could" | "will" | "would" | "should" | "may" | "might" | "must"
    );
    let opens = k == 0 || is_wh(keys.at(k - 1)) || is_conjunction(keys.at(k - 1)) || k > 1 && is_wh(keys.at(k - 2));
    asks && opens && is_determiner(keys.at(k + 1)) && i > k + 2 && !(k + 2..i).any(|j| is_function_word(keys.at(j)))
}
