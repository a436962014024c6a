//! The intent of a note by what explains it best: how likely a model finds the note after being told what kind it is.
//!
//! A small model asked for a label gives the same one nearly always. Asked how likely the *note* is after "Here is a
//! complaint", it knows a good deal. So each intent has a [`Class`], whose [`prefix`](Class::prefix) stays in the cache,
//! and the note's tokens are scored after each. [`Weights`] join these scores with what the words of the note say.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};

/// Beyond so many tokens a note says little new about its intent, and scoring it takes time for each class.
pub const MAX_TOKENS: usize = 20;
/// The most intents that a caller can have told apart: each costs a pass over the note.
pub const MAX_CLASSES: usize = 16;
/// The most characters of a class's name, of its description, and of one of its notes.
const MAX_CHARS: usize = 200;
/// The most notes of a class that go into its prefix.
const MAX_NOTES: usize = 8;

/// A kind of note that is told apart from the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Class {
    /// The word that stands for it in an answer.
    pub name: String,
    /// What such a note is, as in "Here is …".
    pub description: String,
    /// Notes of the kind.
    #[serde(default)]
    pub examples: Vec<String>,
}

impl Class {
    /// What a model reads before the note: the description, the notes, and the beginning of one more. The note follows
    /// after a blank.
    pub fn prefix(&self) -> String {
        let mut prefix = format!("Here is {}.\n\n-", self.description.trim());
        for example in self.examples.iter().take(MAX_NOTES) {
            prefix.push_str(&format!(" {}\n-", example.trim()));
        }
        prefix
    }
}

/// The classes of [`Intent::ALL`], in its order.
pub fn classes() -> &'static [Class] {
    static CLASSES: LazyLock<Vec<Class>> = LazyLock::new(|| {
        let rows = include_str!("words/explanations.txt").lines().filter(|line| !line.starts_with('#'));
        let class = |row: &str| {
            let mut fields = row.split(" | ").map(str::to_owned);
            Some(Class { name: fields.next()?, description: fields.next()?, examples: fields.collect() })
        };
        rows.filter_map(class).collect()
    });
    &CLASSES
}

/// Whether a caller's classes can be told apart.
///
/// # Errors
/// `invalid-argument` for fewer than two or more than [`MAX_CLASSES`], for names that are empty, alike, or hold anything
/// but letters, digits, blanks and hyphens, and for texts that are empty or too long.
pub fn check(classes: &[Class]) -> Result<()> {
    let refuse = |why: String| Err(Error::new(ErrorKind::InvalidArgument, why));
    if !(2..=MAX_CLASSES).contains(&classes.len()) {
        return refuse(format!("{} intents were given: it takes 2 to {MAX_CLASSES}", classes.len()));
    }
    for (i, class) in classes.iter().enumerate() {
        let texts = [&class.name, &class.description].into_iter().chain(&class.examples);
        if texts.clone().any(|text| text.trim().is_empty() || text.chars().count() > MAX_CHARS) {
            return refuse(format!("intent {i} has an empty text, or one of more than {MAX_CHARS} characters"));
        }
        if texts.into_iter().any(|text| text.chars().any(char::is_control)) {
            return refuse(format!("intent {i} has a line break or another control character"));
        }
        if !class.name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')) {
            return refuse(format!(
                "the name of intent {i} has other characters than letters, digits, blanks and hyphens"
            ));
        }
        if classes[..i].iter().any(|other| other.name == class.name) {
            return refuse(format!("intent {i} has the name of an earlier one"));
        }
    }
    Ok(())
}

/// How much the words of a note and a model's scores count, fitted by `npm run fit-tags`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Weights {
    /// Of the logarithm of a probability by [`intent_cues`](super::intent_cues).
    pub cues: f32,
    /// Of a [`standing`].
    pub model: f32,
    /// What is added to each intent of [`Intent::ALL`] where the model was asked.
    pub bias: [f32; 6],
}

impl Weights {
    /// Those of this version.
    pub fn current() -> &'static Self {
        static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| {
            let text = include_str!("words/weights.json");
            serde_json::from_str(text).unwrap_or(Weights { cues: 1.0, model: 1.0, bias: [0.0; 6] })
        });
        &WEIGHTS
    }
}

/// How likely a model finds a text of `tokens` tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Likelihood {
    pub log_probability: f32,
    pub tokens: usize,
}

/// How far the likelihood of one note stands above the mean of all classes after each of them: the difference grows with
/// the length of a text, its worth as evidence with the root of it. A class that was not weighed stands as low as the
/// lowest.
pub fn standing(found: &[Option<Likelihood>]) -> Vec<f32> {
    let known = || found.iter().flatten();
    let lowest =
        known().map(|one| one.log_probability).reduce(f32::min).filter(|lowest| lowest.is_finite()).unwrap_or(0.0);
    let scores: Vec<f32> = found.iter().map(|one| one.map_or(lowest, |one| one.log_probability)).collect();
    let mean = scores.iter().sum::<f32>() / scores.len().max(1) as f32;
    let scale = (known().map(|one| one.tokens).max().unwrap_or(1).max(1) as f32).sqrt();
    scores.iter().map(|score| (score - mean) / scale).collect()
}

/// The probability of each intent of [`Intent::ALL`], by its cues and by its class's [`standing`].
pub fn judge(cues: [f32; 6], standing: &[f32], weights: &Weights) -> [f32; 6] {
    let mut scores = [0.0; 6];
    for (k, score) in scores.iter_mut().enumerate() {
        let stands = standing.get(k).copied().unwrap_or(0.0);
        *score = weights.cues * cues[k].max(1e-4).ln() + weights.model * stands + weights.bias[k];
    }
    let probabilities = softmax(&scores);
    std::array::from_fn(|k| probabilities[k])
}

/// The probability of each of a caller's classes, of whose words nothing is known.
pub fn judge_classes(standing: &[f32], weights: &Weights) -> Vec<f32> {
    softmax(&standing.iter().map(|stands| weights.model * stands).collect::<Vec<_>>())
}

/// The place of the largest probability.
pub fn likeliest(probabilities: &[f32]) -> usize {
    (0..probabilities.len()).max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b])).unwrap_or(0)
}

pub(super) fn softmax(scores: &[f32]) -> Vec<f32> {
    let top = scores.iter().copied().fold(f32::MIN, f32::max);
    let weights: Vec<f32> = scores.iter().map(|score| (score - top).exp()).collect();
    let sum: f32 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Intent;
    use super::*;

    #[test]
    fn every_intent_has_its_class() {
        let names: Vec<_> = classes().iter().map(|class| class.name.as_str()).collect();
        assert_eq!(names, Intent::ALL.map(Intent::as_str));
        check(classes()).expect("they are as a caller's have to be");
        assert!(classes().iter().all(|class| class.prefix().ends_with("\n-") && class.examples.len() == 2));
    }

    #[test]
    fn the_weights_are_read() {
        let weights = Weights::current();
        assert!(weights.cues > 0.0 && weights.model > 0.0, "{weights:?}");
        assert_eq!(serde_json::from_str::<Weights>(include_str!("words/weights.json")).expect("JSON"), *weights);
    }

    #[test]
    fn without_a_model_the_cues_decide() {
        let cues = [0.1, 0.5, 0.1, 0.1, 0.1, 0.1];
        let weights = Weights { cues: 1.0, model: 1.0, bias: [0.0; 6] };
        assert_eq!(likeliest(&judge(cues, &[0.0; 6], &weights)), 1);
        let judged = judge(cues, &[3.0, 0.0, 0.0, 0.0, 0.0, 0.0], &weights);
        assert_eq!(likeliest(&judged), 0);
        assert!((judged.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }

    #[test]
    fn classes_that_cannot_be_told_apart_are_refused() {
        let class = |name: &str, description: &str| Class {
            name: name.into(),
            description: description.into(),
            examples: vec![],
        };
        let good = [class("work", "a note about work"), class("home", "a note about home")];
        check(&good).expect("two classes");
        for bad in [
            vec![],
            vec![class("work", "a note")],
            vec![class("a", "x"), class("a", "y")],
            vec![class("a", ""), class("b", "y")],
            vec![class("a\"", "x"), class("b", "y")],
            vec![class("a", "x\ny"), class("b", "y")],
            (0..17).map(|k| class(&format!("c{k}"), "x")).collect(),
        ] {
            assert_eq!(check(&bad).expect_err("refused").kind(), ErrorKind::InvalidArgument, "{bad:?}");
        }
    }
}
