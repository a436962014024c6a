//! Small questions about the words around a place.

use super::clauses::{Pause, Token};
use crate::tasks::cleanup::lexicon::{self, is_auxiliary, is_determiner, is_function_word, is_preposition};
use crate::tasks::cleanup::words::Shape;

/// Tokens by their keys; beyond the end every key is empty.
#[derive(Clone, Copy)]
pub(in crate::tasks) struct Keys<'a>(pub &'a [Token]);

impl<'a> Keys<'a> {
    pub fn at(self, i: usize) -> &'a str {
        self.0.get(i).map_or("", |token| token.word.key.as_str())
    }
}

/// Words that add a clause to the one before.
pub(super) fn is_connector(key: &str) -> bool {
    matches!(
        key,
        "and" | "then" | "also" | "plus" | "so" | "but" | "next" | "finally" | "lastly" | "afterwards" | "&" | "or"
    ) || matches!(key, "first" | "firstly" | "second" | "secondly" | "third" | "thirdly")
}

/// Words that stand outside every clause.
pub(in crate::tasks) fn is_interjection(key: &str) -> bool {
    matches!(
        key,
        "yeah"
            | "yep"
            | "yes"
            | "okay"
            | "ok"
            | "oh"
            | "anyway"
            | "anyways"
            | "honestly"
            | "alright"
            | "hmm"
            | "hey"
            | "wait"
            | "ah"
            | "ugh"
            | "please"
            | "right"
            | "well"
            | "actually"
            | "now"
            | "nope"
            | "no"
            | "phew"
            | "gosh"
            | "hi"
            | "hello"
            | "otherwise"
            | "basically"
    )
}

/// Words that begin a clause which leans on another.
pub(super) fn is_subordinator(key: &str) -> bool {
    matches!(
        key,
        "that"
            | "what"
            | "if"
            | "when"
            | "before"
            | "after"
            | "where"
            | "how"
            | "why"
            | "than"
            | "until"
            | "till"
            | "once"
            | "whether"
            | "who"
            | "while"
            | "as"
            | "which"
            | "whatever"
            | "unless"
            | "because"
            | "since"
            | "whose"
            | "like"
    )
}

/// Whether token `j` can be a name.
pub(in crate::tasks) fn is_name(tokens: &[Token], j: usize) -> bool {
    tokens.get(j).is_some_and(|token| {
        let word = &token.word;
        (matches!(word.shape, Shape::Capitalised | Shape::Mixed) && !is_function_word(&word.key))
            || lexicon::name(&word.key).is_some()
    })
}

/// Words with a subject and a finite verb in one.
fn is_subject_and_verb(key: &str) -> bool {
    let subject = key.split('\'').next().unwrap_or("");
    key.contains('\'')
        && matches!(
            subject,
            "i" | "you"
                | "he"
                | "she"
                | "it"
                | "we"
                | "they"
                | "that"
                | "there"
                | "here"
                | "who"
                | "what"
                | "let"
                | "everyone"
                | "everything"
                | "nobody"
        )
}

/// Finite verbs that show that the words before them are a subject.
pub(in crate::tasks) fn is_finite(key: &str) -> bool {
    (is_auxiliary(key) && !matches!(key, "do" | "have" | "may"))
        || matches!(
            key,
            "wants"
                | "needs"
                | "keeps"
                | "said"
                | "says"
                | "looks"
                | "sounds"
                | "seems"
                | "feels"
                | "went"
                | "came"
                | "got"
                | "took"
                | "made"
                | "gets"
                | "goes"
                | "comes"
                | "makes"
                | "closes"
                | "opens"
                | "starts"
                | "ends"
                | "broke"
                | "wasn't"
                | "loves"
                | "hates"
                | "likes"
                | "thinks"
                | "knows"
                | "told"
                | "gave"
                | "left"
                | "felt"
                | "blew"
        )
}

/// Whether a clause with a subject of its own begins at token `j`, `verb` being the first word of the task before it.
pub(super) fn opens_clause(tokens: &[Token], j: usize, verb: usize) -> bool {
    let keys = Keys(tokens);
    let (before, key, next) = (if j > 0 { keys.at(j - 1) } else { "" }, keys.at(j), keys.at(j + 1));
    if is_subordinator(before) && before != "that" || (before == "that" && j > 1 && !is_preposition(keys.at(j - 2))) {
        return false;
    }
    let takes_clause = j > verb && super::verbs::takes_clause(keys.at(verb)) && j <= verb + 4;
    if is_subject_and_verb(key) {
        return !takes_clause || matches!(key, "i'll" | "i'm" | "i've");
    }
    // "the book I borrowed": a noun with an article, then a subject with a verb of the past.
    let contact = j >= 2
        && !is_function_word(before)
        && (j.saturating_sub(4)..j - 1).any(|k| is_determiner(keys.at(k)))
        && !is_auxiliary(next)
        && !next.is_empty();
    match key {
        "i" | "he" | "she" | "we" | "they" => return !contact && !takes_clause,
        "it" | "you" | "this" | "there" | "these" | "those" => {
            return is_finite(next) && !is_preposition(before) && !takes_clause;
        }
        "everyone" | "everybody" | "nobody" | "somebody" | "someone" | "people" if j > verb + 1 => {
            return !is_preposition(before) && is_finite(next);
        }
        "what" => return matches!(next, "else" | "a" | "is") && !takes_clause,
        "today" | "tomorrow" | "tonight" => return is_finite(next),
        _ => {}
    }
    let particle = matches!(before, "up" | "out" | "off" | "back" | "down" | "away" | "through");
    let place = j > verb + 1 && !particle && !is_preposition(before) && !is_determiner(before) && !takes_clause;
    if !place {
        return false;
    }
    if is_name(tokens, j) && (is_finite(next) || next == "already") {
        return true;
    }
    is_determiner(key) && subject_is_finite(tokens, j)
}

/// Whether the noun phrase at token `j` is followed by its finite verb.
pub(super) fn subject_is_finite(tokens: &[Token], j: usize) -> bool {
    let keys = Keys(tokens);
    for k in j + 1..j + 5 {
        if tokens.get(k - 1).is_none_or(|token| token.pause > Pause::None) || is_subordinator(keys.at(k)) {
            return false;
        }
        if matches!(keys.at(k), "and" | "or") {
            return false;
        }
        if is_finite(keys.at(k)) {
            return true;
        }
        if is_preposition(keys.at(k)) && k > j + 2 {
            return false;
        }
    }
    false
}

/// Words with which people begin a note before they come to the point.
pub(in crate::tasks) fn is_connector_of_notes(key: &str) -> bool {
    is_interjection(key) || matches!(key, "so" | "and" | "then" | "but" | "just" | "also")
}
