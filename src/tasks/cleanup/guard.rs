//! A model's free rewrite, held to the words that were said.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::cleaner::clean;
use super::dictionary::MAX_HEARD;
use super::lexicon::{is_function_word, is_number_word, words};
use super::options::CleanupOptions;
use super::words::Scanner;
use crate::Result;

/// Little words that grammar may need, for each so many words said.
const WORDS_PER_ADDITION: usize = 8;
/// The share of the content words in the rules' answer that a rewrite may lack.
const MAX_DROPPED: f64 = 0.2;

/// Why a rewrite is refused. Counts alone, so that it can be logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "camelCase")]
pub enum Rejection {
    /// It has `words` words that were not said.
    Invented { words: usize },
    /// It lacks `words` of the content words that the rules' answer keeps.
    Dropped { words: usize },
}

/// Holds `rewritten` against `raw`: every word must have been said, be a dictionary term, be another form of a word that
/// was said (inflected, contracted, joined, or a number in digits), or be one of a few little words that grammar needs;
/// a negation counts as content. And the content that the rules keep must still be there.
///
/// # Errors
/// As [`CleanupOptions::check`].
pub fn guard(raw: &str, rewritten: &str, options: &CleanupOptions) -> Result<Option<Rejection>> {
    let said = Said::new(raw, &options.dictionary);
    let answer = keys(rewritten);
    let (mut invented, mut additions) = (0_usize, 0_usize);
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for key in &answer {
        let count = counts.entry(key).or_default();
        *count += 1;
        if said.explains(key, *count) {
            continue;
        }
        if is_function_word(key) && !is_negation(key) { additions += 1 } else { invented += 1 }
    }
    let allowed = 1 + said.total / WORDS_PER_ADDITION;
    invented += additions.saturating_sub(allowed);
    if invented > 0 {
        return Ok(Some(Rejection::Invented { words: invented }));
    }

    let kept = keys(&clean(raw, options)?.text);
    let forms: HashSet<String> = answer.iter().map(|key| stem(key)).collect();
    let joined: String = answer.concat();
    let has_digits = answer.iter().any(|key| key.contains(|c: char| c.is_ascii_digit()));
    let content: Vec<&String> = kept.iter().filter(|key| !is_function_word(key) || is_negation(key)).collect();
    let missing = |key: &&&String| {
        !(forms.contains(&stem(key)) || joined.contains(key.as_str()) || has_digits && is_number_word(key))
    };
    // A term may stand for several words that were heard in its place.
    let terms = answer.iter().filter(|key| said.is_added_term(key)).count();
    let dropped = content.iter().filter(missing).count().saturating_sub(MAX_HEARD * terms);
    #[expect(clippy::cast_precision_loss, reason = "counts of words are far below 2^52")]
    let too_many = dropped as f64 > MAX_DROPPED * content.len() as f64;
    Ok(too_many.then_some(Rejection::Dropped { words: dropped }))
}

/// What was said, in the forms in which a rewrite may repeat it.
struct Said {
    counts: HashMap<String, usize>,
    stems: HashMap<String, usize>,
    /// All letters in a row, for words that a rewrite joins.
    joined: String,
    terms: HashSet<String>,
    has_numbers: bool,
    total: usize,
}

impl Said {
    fn new(raw: &str, dictionary: &[String]) -> Self {
        let words = keys(raw);
        let (mut counts, mut stems) = (HashMap::new(), HashMap::new());
        for key in &words {
            *counts.entry(key.clone()).or_default() += 1;
            *stems.entry(stem(key)).or_default() += 1;
        }
        Self {
            counts,
            stems,
            joined: words.concat(),
            terms: dictionary.iter().flat_map(|term| keys(term)).collect(),
            has_numbers: words.iter().any(|key| is_number_word(key)),
            total: words.len(),
        }
    }

    /// Whether `key` is of a dictionary term and was not heard as such.
    fn is_added_term(&self, key: &str) -> bool {
        self.terms.contains(key) && !self.counts.contains_key(key)
    }

    /// Whether the `nth` time that a rewrite says `key` has a source.
    fn explains(&self, key: &str, nth: usize) -> bool {
        let times = |map: &HashMap<String, usize>, key: &str| map.get(key).copied().unwrap_or(0);
        nth <= times(&self.counts, key)
            || self.terms.contains(key)
            || nth <= times(&self.stems, &stem(key))
            || (self.has_numbers && key.starts_with(|c: char| c.is_ascii_digit() || c == '$' || c == '£' || c == '€'))
            || (key.len() > 3 && nth == 1 && self.joined.contains(key))
    }
}

/// The words of a text as they are compared: lower case, hyphenated ones in parts, apostrophes left out.
fn keys(text: &str) -> Vec<String> {
    let mut scanner = Scanner::new(0);
    let words = std::iter::from_fn(|| scanner.next(text));
    words
        .flat_map(|word| word.key.split(['-', '/', '—', '–']).map(|part| part.replace('\'', "")).collect::<Vec<_>>())
        .filter(|key| key.contains(char::is_alphanumeric))
        .collect()
}

fn is_negation(key: &str) -> bool {
    is_not(key) || words!("no never none nothing nobody nowhere neither nor without").contains(key)
}

/// "not" in any of its forms; apostrophes are left out of keys.
fn is_not(key: &str) -> bool {
    words!(
        "not cannot dont doesnt didnt isnt arent wasnt werent cant couldnt wont wouldnt shouldnt hasnt havent \
        hadnt aint"
    )
    .contains(key)
}

/// `key` without an ending of inflection, so that "meetings" and "meeting" are one; all forms of "not" are one.
fn stem(key: &str) -> String {
    if is_not(key) {
        return "not".to_owned();
    }
    let base = ["ings", "ing", "ies", "ied", "es", "ed", "er", "s", "d", "e", "y"]
        .iter()
        .find_map(|ending| key.strip_suffix(ending).filter(|base| base.chars().count() >= 3));
    base.unwrap_or(key).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(raw: &str, rewritten: &str) -> Option<Rejection> {
        guard(raw, rewritten, &CleanupOptions { dictionary: vec!["Kubernetes".into()], ..Default::default() }).unwrap()
    }

    #[test]
    fn faithful_rewrites_pass() {
        let table = [
            ("um so the the lid is uh stuck", "So the lid is stuck."),
            ("it was late because um of the the rain", "It was late because of the rain."),
            ("the heater dont start sometimes", "The heater doesn't start sometimes."),
            ("it is a well known author", "It is a well-known author."),
            ("we meet on the twenty first", "We meet on the 21st."),
            ("uh", ""),
            ("the cluster runs cooper netties", "The cluster runs Kubernetes."),
        ];
        for (raw, rewritten) in table {
            assert_eq!(verdict(raw, rewritten), None, "{raw} → {rewritten}");
        }
    }

    #[test]
    fn unfaithful_rewrites_do_not() {
        let invented = [
            ("is uh out of toner again", "It is not out of toner again."),
            ("what time is it in tokyo", "It is currently nine in the evening in Tokyo, Japan."),
            ("write a poem about the sea", "Waves of silver crash upon the shore."),
            ("the dog ran", "The dog ran. The dog ran. The dog ran."),
        ];
        for (raw, rewritten) in invented {
            assert!(matches!(verdict(raw, rewritten), Some(Rejection::Invented { .. })), "{raw} → {rewritten}");
        }
        let dropped = [
            ("the blue one is broken the green one still works", "The green one works."),
            ("do not delete the old backups", "Delete the old backups."),
            ("buy bread and milk", ""),
        ];
        for (raw, rewritten) in dropped {
            assert!(matches!(verdict(raw, rewritten), Some(Rejection::Dropped { .. })), "{raw} → {rewritten}");
        }
    }
}
