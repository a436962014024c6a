//! The caller's spellings: words that sound or look like a term are written as the term.

use std::collections::HashMap;

use super::draft::{Action, Draft, Pause, Proposal};
use super::edit::EditKind;
use super::lexicon::is_common_word;

/// The most spoken words that one term may have been heard as.
pub(super) const MAX_HEARD: usize = 5;
/// Terms of at least so many letters are also found with one letter wrong.
const MIN_NEAR_LETTERS: usize = 6;

/// Terms by what they sound like.
#[derive(Clone, Debug, Default)]
pub(super) struct Dictionary {
    terms: Vec<String>,
    /// Letters and digits of a term in lower case → term.
    exact: HashMap<String, usize>,
    /// The same with one letter left out → terms. Two words that differ in one letter share such a form.
    near: HashMap<String, Vec<usize>>,
}

impl Dictionary {
    pub fn new(terms: &[String]) -> Self {
        let mut dictionary = Self::default();
        for term in terms {
            let term = term.trim();
            let letters = letters_of(&in_words(term));
            // A lone letter is said for many other reasons.
            if letters.chars().count() < 2 || dictionary.exact.contains_key(&letters) {
                continue;
            }
            let id = dictionary.terms.len();
            if letters.chars().count() >= MIN_NEAR_LETTERS {
                dictionary.near.entry(letters.clone()).or_default().push(id);
                for form in without_one(&letters) {
                    dictionary.near.entry(form).or_default().push(id);
                }
            }
            dictionary.exact.insert(letters, id);
            dictionary.terms.push(term.to_owned());
        }
        dictionary
    }

    /// Marks the words of terms, so that no weak evidence deletes them.
    pub fn protect(&self, draft: &mut Draft) {
        let spans: Vec<_> = self.matches(draft).map(|(from, to, ..)| (draft.at(from), draft.at(to))).collect();
        for (first, last) in spans {
            draft.protected[first..=last].fill(true);
        }
    }

    /// Proposes the right spelling of every term that was said.
    pub fn propose(&self, draft: &Draft) -> Vec<Proposal> {
        let matches = self.matches(draft).filter_map(|(from, to, id, confidence)| {
            let (first, last) = (draft.at(from), draft.at(to));
            // A possessive keeps its ending.
            let text = draft.words[last].text(draft.raw);
            let ending = ["'s", "’s"].into_iter().find(|ending| text.ends_with(ending)).unwrap_or_default();
            let term = &self.terms[id];
            let ending = if term.ends_with(ending) { "" } else { ending };
            let written = format!("{term}{ending}");
            let said = &draft.raw[draft.words[first].start..draft.words[last].end];
            (said != written).then_some(Proposal {
                first,
                last,
                action: Action::Write(written),
                kind: EditKind::Dictionary,
                confidence,
            })
        });
        matches.collect()
    }

    /// First and last live word, term and confidence of each match, left to right, the longest at each place.
    fn matches(&self, draft: &Draft) -> impl Iterator<Item = (usize, usize, usize, f32)> {
        let mut i = 0;
        std::iter::from_fn(move || {
            while !self.terms.is_empty() && i < draft.len() {
                let from = i;
                i += 1;
                if let Some((to, id, confidence)) = self.match_at(draft, from) {
                    i = to + 1;
                    return Some((from, to, id, confidence));
                }
            }
            None
        })
    }

    fn match_at(&self, draft: &Draft, from: usize) -> Option<(usize, usize, f32)> {
        let mut heard = String::new();
        let mut best = None;
        for to in from..draft.len().min(from + MAX_HEARD) {
            // Contiguous in the raw text, and no mark inside.
            if to > from && (draft.at(to) != draft.at(to - 1) + 1 || draft.pause(to - 1) > Pause::None) {
                break;
            }
            let key = draft.key(to);
            heard.push_str(&letters_of(key.strip_suffix("'s").unwrap_or(key)));
            if let Some(&id) = self.exact.get(&heard) {
                best = Some((to, id, 0.98));
            } else if let Some(id) = self.near(&heard).filter(|_| best.is_none() && (to > from || !is_common_word(key)))
            {
                best = Some((to, id, 0.85));
            }
        }
        best
    }

    /// The one term that differs from `heard` by a letter; none if several do.
    fn near(&self, heard: &str) -> Option<usize> {
        let length = heard.chars().count();
        if !(MIN_NEAR_LETTERS - 1..=40).contains(&length) {
            return None;
        }
        let mut found = None;
        for form in without_one(heard).chain([heard.to_owned()]) {
            for &id in self.near.get(&form).into_iter().flatten() {
                let term = letters_of(&self.terms[id]);
                let plausible = term.chars().next() == heard.chars().next()
                    && !is_inflection(&term, heard)
                    && !is_inflection(heard, &term);
                match found {
                    _ if !plausible => {}
                    Some(other) if other != id => return None,
                    _ => found = Some(id),
                }
            }
        }
        found
    }
}

/// Whether `longer` is `word` with an ending, so that it is a form and not a misspelling.
fn is_inflection(word: &str, longer: &str) -> bool {
    longer.strip_prefix(word).is_some_and(|ending| matches!(ending, "s" | "d" | "r" | "y"))
}

/// A term with the signs that have a name said by it: "C++" is "C plus plus".
fn in_words(term: &str) -> String {
    let mut words = String::with_capacity(term.len());
    let last = term.chars().count().saturating_sub(1);
    for (i, c) in term.chars().enumerate() {
        match c {
            '+' => words.push_str("plus"),
            '#' => words.push_str("sharp"),
            '&' => words.push_str("and"),
            '.' if i < last => words.push_str("dot"),
            _ => words.push(c),
        }
    }
    words
}

fn letters_of(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// `word` with each of its letters left out in turn.
fn without_one(word: &str) -> impl Iterator<Item = String> {
    word.char_indices().map(move |(at, c)| [&word[..at], &word[at + c.len_utf8()..]].concat())
}
