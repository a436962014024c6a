//! The intent of a note by what it says: weighed phrases, and the shape of its sentences.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Intent;
use super::explain::softmax;
use crate::tasks::cleanup::lexicon::{is_auxiliary, is_determiner, is_number_word, is_subject, is_weekday, is_wh};
use crate::tasks::extract::clauses::{Pause, Reader, Token};
use crate::tasks::extract::propose;
use crate::tasks::extract::syntax::{Keys, is_connector_of_notes};
use crate::tasks::extract::times::time_phrase;

/// Beyond so many bytes a note says nothing new about its intent.
const MAX_BYTES: usize = 16 << 10;
/// So often, and no more, the same phrase counts.
const MAX_HITS: u32 = 2;
/// Scores are divided by it before they become probabilities: chosen so that confidence meets accuracy on the rows of
/// `tests/data/tasks`.
const TEMPERATURE: f32 = 1.0;

struct Phrase {
    words: Vec<&'static str>,
    at_start: bool,
    intent: usize,
    weight: f32,
    number: usize,
}

static PHRASES: LazyLock<HashMap<&'static str, Vec<Phrase>>> = LazyLock::new(|| {
    let mut phrases = HashMap::<_, Vec<Phrase>>::new();
    let mut number = 0;
    for line in include_str!("words/intents.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.splitn(2, char::is_whitespace);
        let (Some(intent), Some(rest)) = (fields.next(), fields.next()) else { continue };
        let Some(intent) = Intent::ALL.iter().position(|known| known.as_str() == intent) else { continue };
        let Some((weight, list)) = rest.trim().split_once(' ') else { continue };
        let weight = weight.parse().unwrap_or(0.0);
        for phrase in list.split(',').map(str::trim) {
            let at_start = phrase.starts_with('^');
            let words: Vec<_> = phrase.trim_start_matches('^').split(' ').collect();
            phrases.entry(index_of(words[0])).or_default().push(Phrase { words, at_start, intent, weight, number });
            number += 1;
        }
    }
    phrases
});

/// Words with an open end are found by their first three letters.
fn index_of(word: &str) -> &str {
    word.strip_suffix('*').map_or(word, |stem| stem.get(..3).unwrap_or(stem))
}

/// The probability of each intent of [`Intent::ALL`], in its order, by rules about English. They sum to 1; a text that
/// says nothing gives each about a sixth.
pub fn intent_cues(text: &str) -> [f32; 6] {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let mut reader = Reader::new();
    while reader.read(text) {}
    let tokens = reader.finish();
    let mut scores = [0.0; 6];
    score_phrases(&tokens, &mut scores);
    score_shape(text, &tokens, &mut scores);
    let probabilities = softmax(&scores.map(|score| score / TEMPERATURE));
    std::array::from_fn(|k| probabilities[k])
}

fn score_phrases(tokens: &[Token], scores: &mut [f32; 6]) {
    let keys = Keys(tokens);
    let mut hits = HashMap::<usize, u32>::new();
    for i in 0..tokens.len() {
        let start = i == 0 || tokens[i - 1].pause == Pause::Strong;
        let key = keys.at(i);
        let stem = key.get(..3).filter(|stem| *stem != key);
        let near = [Some(key), stem].into_iter().flatten().filter_map(|word| PHRASES.get(word)).flatten();
        for phrase in near {
            let says = phrase.words.iter().enumerate().all(|(n, word)| match word.strip_suffix('*') {
                Some(stem) => keys.at(i + n).starts_with(stem),
                None => keys.at(i + n) == *word,
            });
            let opens = start || (i <= 2 && (0..i).all(|k| is_connector_of_notes(keys.at(k))));
            if says && (!phrase.at_start || opens) {
                let hits = hits.entry(phrase.number).or_default();
                *hits += 1;
                if *hits <= MAX_HITS {
                    scores[phrase.intent] += phrase.weight / *hits as f32;
                }
            }
        }
    }
}

/// What the form of the sentences says, apart from their words.
fn score_shape(text: &str, tokens: &[Token], scores: &mut [f32; 6]) {
    let [planning, reflection, venting, capture, decision, question] = scores;
    let keys = Keys(tokens);
    let n = tokens.len();
    if n == 0 {
        return;
    }
    let mut i = 0;
    while is_connector_of_notes(keys.at(i)) {
        i += 1;
    }
    // A note that begins with a question, or ends in a question mark.
    if is_inverted(tokens, i) {
        *question += 3.0;
    }
    if tokens.iter().any(|token| token.question) {
        *question += 1.6;
    }
    let first_person = tokens.iter().any(|token| {
        let key = &token.word.key;
        matches!(key.as_str(), "i" | "me" | "my" | "we" | "us" | "our")
            || key.starts_with("i'")
            || key.starts_with("we'")
    });
    if !first_person {
        *capture += 1.0;
    }
    // "window is …", "car is parked …": a thing and what is true of it.
    let copula = (i + 1..i + 8).find(|&k| matches!(keys.at(k), "is" | "are"));
    if !first_person && copula.is_some() && !is_inverted(tokens, i) {
        *capture += 0.6;
    }
    let mut times = 0;
    let mut numbers = 0;
    let mut k = 0;
    while k < n {
        match time_phrase(tokens, k) {
            Some(end) => {
                times += 1;
                k = end.max(k + 1);
            }
            None => {
                let digits = keys.at(k).bytes().any(|b| b.is_ascii_digit());
                numbers += usize::from(digits || is_number_word(keys.at(k)) && keys.at(k) != "one");
                times += usize::from(is_weekdays(keys.at(k)));
                k += 1;
            }
        }
    }
    *planning += 0.7 * times.min(4) as f32;
    if times == 0 && !first_person {
        *capture += 0.4 * numbers.min(3) as f32;
        // Little else than numbers.
        *capture += if numbers > 1 && 3 * numbers >= n { 1.2 } else { 0.0 };
    }
    let proposed = propose(text);
    let tasks = proposed.iter().filter(|candidate| candidate.is_sure()).count();
    *planning += 0.8 * tasks.min(3) as f32;
    // "call the plumber": a note that begins with something to do.
    let begins = tokens.get(i).map_or(0, |token| token.word.start);
    if proposed.iter().any(|candidate| candidate.is_sure() && candidate.start <= begins) && !is_inverted(tokens, i) {
        *planning += 1.6;
        *capture -= if first_person { 0.0 } else { 1.0 };
    }
    // "visiting aunt rosa on wednesday", "meeting the bank at ten": what is to come.
    if keys.at(i).ends_with("ing") && keys.at(i).len() > 4 && times > 0 && !first_person {
        *planning += 1.0;
    }
    // "five adults live here five": the end says again what was said, for emphasis.
    let last = keys.at(n - 1);
    if n > 5 && last.len() > 2 && !is_determiner(last) && (i..n - 2).any(|k| keys.at(k) == last) {
        *venting += 0.8;
    }
    // "we are cancelling", "i'm not buying": what is so from now on.
    for k in 0..n {
        let progressive = |k: usize| keys.at(k).ends_with("ing") && keys.at(k).len() > 4;
        match keys.at(k) {
            "i'm" | "we're" if keys.at(k + 1) == "not" && progressive(k + 2) => *decision += 1.6,
            "we're" | "i'm" if progressive(k + 1) && !matches!(keys.at(k + 1), "going" | "losing" | "driving") => {
                *decision += 0.8;
            }
            "we" if keys.at(k + 1) == "are" && progressive(k + 2) => *decision += 0.8,
            "than" => *reflection += 0.4,
            _ => {}
        }
    }
}

/// "wednesdays"
fn is_weekdays(key: &str) -> bool {
    key.strip_suffix('s').is_some_and(is_weekday)
}

/// Whether a clause at token `i` has the order of a question: "how long does", "is the", "can you".
fn is_inverted(tokens: &[Token], i: usize) -> bool {
    let keys = Keys(tokens);
    let (first, next) = (keys.at(i), keys.at(i + 1));
    let subject =
        |key: &str| is_subject(key) || is_determiner(key) || matches!(key, "there" | "anyone" | "it" | "someone");
    if is_auxiliary(first) {
        return subject(next) || !next.is_empty() && !matches!(first, "do" | "have" | "may") && next != "not";
    }
    let contracted = matches!(first, "what's" | "who's" | "where's" | "how's" | "when's");
    let asks = is_wh(first)
        && !matches!((first, next), ("what", "a" | "an" | "i" | "we") | ("when", "i" | "we" | "the") | ("which", "i"))
        && (i + 1..i + 5).any(|k| is_auxiliary(keys.at(k)) || first == "who" || keys.at(k) == "of");
    contracted || asks
}
