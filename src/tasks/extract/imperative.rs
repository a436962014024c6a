//! Clauses that begin with the verb: "post the parcel".

use super::candidates::{Opening, opens_object};
use super::clauses::{Pause, Token};
use super::cues::{is_adverb, phrase_end};
use super::syntax::{Keys, is_connector, is_finite, is_name, is_subordinator, subject_is_finite};
use super::times::time_phrase;
use super::verbs::{Verb, is_intransitive, takes, verb};
use crate::tasks::cleanup::lexicon::{
    is_auxiliary, is_conjunction, is_determiner, is_function_word, is_number_word, is_preposition, is_subject,
};
use crate::tasks::cleanup::words::Shape;

/// Phrases that only look like a task.
const IDIOMS: [&[&str]; 24] = [
    &["make", "me"],
    &["makes", "me"],
    &["let", "me"],
    &["let's", "see"],
    &["make", "sense"],
    &["take", "care"],
    &["take", "it", "easy"],
    &["come", "on"],
    &["go", "figure"],
    &["see", "you"],
    &["keep", "in", "mind"],
    &["give", "me", "a", "break"],
    &["tell", "me"],
    &["thank", "god"],
    &["thank", "you"],
    &["thank", "goodness"],
    &["bring", "it", "on"],
    &["watch", "out"],
    &["get", "this"],
    &["get", "over"],
    &["look", "at", "that"],
    &["do", "you"],
    &["do", "we"],
    &["do", "i"],
];

/// How sure it is that token `i` begins a task by its verb; none if it does not.
pub(super) fn imperative(tokens: &[Token], i: usize, place: Opening) -> Option<f32> {
    let keys = Keys(tokens);
    let token = tokens.get(i)?;
    if token.quoted || token.question || IDIOMS.iter().any(|idiom| phrase_end(tokens, i, idiom).is_some()) {
        return None;
    }
    let forget = [&["don't", "forget"][..], &["don't", "let", "me", "forget"]];
    if let Some(end) = forget.iter().find_map(|words| phrase_end(tokens, i, words)) {
        let object = opens_object(keys.at(end)) || is_name(tokens, end) || keys.at(end) == "about";
        return object.then_some(0.82);
    }
    let key = token.word.key.as_str();
    // "have someone look at the lift"
    if key == "have" && matches!(keys.at(i + 1), "someone" | "somebody") && place >= Opening::Start {
        return Some(0.84);
    }
    let kind = match verb(key) {
        Some(kind) => kind,
        None if place == Opening::List
            && i > 0
            && matches!(keys.at(i - 1), "and" | "then")
            && is_verb_like(tokens, i) =>
        {
            Verb::Clear
        }
        None => return None,
    };
    if token.word.shape == Shape::Capitalised && place == Opening::None {
        return None;
    }
    if token.pause != Pause::None || i + 1 >= tokens.len() {
        return (is_intransitive(key) && place == Opening::List).then_some(0.8);
    }
    if key == "make" && keys.at(i + 1) == "sure" {
        return Some(0.86);
    }
    let object = right_of(tokens, i)?;
    let confidence = match (kind, object, place) {
        (_, _, Opening::None) => return None,
        (Verb::Clear, Object::Marked, Opening::Start) => 0.88,
        (Verb::Clear, Object::Bare, Opening::Start) => 0.84,
        (Verb::Clear, Object::Marked, Opening::List) => 0.9,
        (Verb::Clear, Object::Bare, Opening::List) => 0.86,
        (Verb::Clear, Object::Marked, Opening::Loose) => 0.8,
        (Verb::Clear, Object::Bare, Opening::Loose) => 0.65,
        (Verb::Ambiguous, Object::Marked, Opening::Start) => 0.84,
        (Verb::Ambiguous, Object::Marked, Opening::List) => 0.86,
        (Verb::Ambiguous, Object::Marked, Opening::Loose) => 0.75,
        (Verb::Ambiguous, Object::Bare, Opening::List) => 0.8,
        (Verb::Ambiguous, Object::Bare, Opening::Start) => 0.7,
        (Verb::Ambiguous, Object::Bare, Opening::Loose) => return None,
    };
    Some(confidence)
}

/// What stands right of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tasks) enum Object {
    /// An article, a pronoun, a name, a particle: the word before it is a verb.
    Marked,
    /// A plain noun: the word before it may be part of its name.
    Bare,
}

/// What kind of object follows the verb at token `i`; none if the word is no verb there.
pub(in crate::tasks) fn right_of(tokens: &[Token], i: usize) -> Option<Object> {
    let keys = Keys(tokens);
    let key = keys.at(i);
    let mut k = i + 1;
    while is_adverb(keys.at(k)) {
        k += 1;
    }
    let next = keys.at(k);
    if takes(key, next) {
        return Some(Object::Marked);
    }
    if next == "and" {
        // "wash and iron the shirts"
        return (verb(keys.at(k + 1)).is_some() && opens_object(keys.at(k + 2))).then_some(Object::Marked);
    }
    // "water the colour of steel", "the size of": a measure of something, not an object.
    if next == "the"
        && matches!(keys.at(k + 1), "colour" | "color" | "size" | "shape" | "kind")
        && keys.at(k + 2) == "of"
    {
        return None;
    }
    if opens_object(next) {
        let subject = is_determiner(next) && subject_is_finite(tokens, k);
        return (!subject || super::verbs::takes_clause(key)).then_some(Object::Marked);
    }
    let particle = matches!(next, "up" | "off" | "out" | "back" | "away" | "down" | "through" | "round" | "together");
    let goes_on = !keys.at(k + 1).is_empty() && !is_auxiliary(keys.at(k + 1));
    if particle || (matches!(next, "in" | "over" | "on") && opens_object(keys.at(k + 1)) && is_phrasal(key, next)) {
        return goes_on.then_some(Object::Marked);
    }
    if super::verbs::takes_clause(key)
        && matches!(next, "if" | "whether" | "what" | "when" | "how" | "where" | "which" | "that")
    {
        return Some(Object::Marked);
    }
    let refused = is_auxiliary(next)
        || is_subject(next)
        || is_preposition(next)
        || is_conjunction(next)
        || is_connector(next)
        || is_subordinator(next)
        || next.is_empty();
    if refused {
        return None;
    }
    // "text messages from him always make me laugh"
    if (k..k + 6).any(|n| matches!(keys.at(n), "always" | "never" | "usually" | "often" | "sometimes")) {
        return None;
    }
    // "book sales are up", "water levels dropped"
    let finite = (k..k + 3).any(|n| {
        let word = keys.at(n);
        let before_ok = n == k || !is_subordinator(keys.at(n - 1));
        before_ok && (is_finite(word) || (word.ends_with("ed") && word.len() > 4 && n > k))
    });
    let stops = (k..k + 3).take_while(|&n| tokens.get(n).is_some_and(|t| t.pause == Pause::None)).count();
    if finite && !(is_name(tokens, k) && stops == 0) {
        return None;
    }
    if is_name(tokens, k) || is_number_word(next) {
        return Some(Object::Marked);
    }
    if time_phrase(tokens, k).is_some() || is_function_word(next) {
        return None;
    }
    Some(Object::Bare)
}

fn is_phrasal(verb: &str, particle: &str) -> bool {
    match particle {
        "in" => matches!(verb, "hand" | "fill" | "put" | "bring" | "take" | "send" | "plug" | "call"),
        "over" => matches!(verb, "hand" | "go" | "look" | "take"),
        "on" => matches!(verb, "put" | "turn" | "switch" | "check" | "follow"),
        _ => false,
    }
}

/// Whether the word at token `k`, after "and" inside a task, is a verb with its object although it is no verb of the
/// list: "… and varnish the table".
pub(super) fn is_verb_like(tokens: &[Token], k: usize) -> bool {
    let keys = Keys(tokens);
    let key = keys.at(k);
    let formed = ["s", "ing", "ed", "ly"].iter().any(|end| key.ends_with(end)) && !key.ends_with("ss");
    let plain = tokens.get(k).is_some_and(|token| token.word.shape == Shape::Lower && token.pause == Pause::None);
    plain
        && !formed
        && !is_function_word(key)
        && !is_number_word(key)
        && !is_name(tokens, k)
        && opens_object(keys.at(k + 1))
        && !(is_determiner(keys.at(k + 1)) && subject_is_finite(tokens, k + 1))
}
