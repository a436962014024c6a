//! What a language model may be asked about marks, and how its answers weigh.
//!
//! The network of `tagger` reads what was said; a language model has read far more. Where the network is not sure that
//! there is no mark, a [`MarkQuestion`] spells out the four ways to go on. Whoever has a model scores them; nothing here
//! knows one. The weights were fitted by `npm run fit -- witness`.

use super::case::upper_first;

/// The network's log-probability of no mark from which it is sure: 98 %.
const SURE: f32 = -0.0202;
/// The boundaries of so many words are asked about with one beginning, which a model reads once …
const STRIDE: usize = 48;
/// … and which reaches so many words further back.
const CONTEXT_WORDS: usize = 16;
/// Words that a question repeats after the boundary.
const NEXT_WORDS: usize = 6;

/// What the network's and the model's log-probabilities weigh, and what each mark has besides.
const NETWORK: f32 = 0.641;
const MODEL: f32 = 0.253;
const BESIDES: [f32; 4] = [0.0, -0.138, -0.066, -0.034];

/// A place between two words where a mark may be missing.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkQuestion {
    /// The byte of the raw text at which the word before it ends.
    pub at: usize,
    /// The natural logarithm of the probability that the network gives each candidate: the closer, the more a model's
    /// word is worth.
    pub scores: [f32; 4],
    /// What comes before, as the rules would write it.
    pub context: String,
    /// How it may go on: with no mark, a comma, a full stop, a question mark.
    pub candidates: [String; 4],
}

/// What a model says to a [`MarkQuestion`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarkAnswer {
    /// The question's.
    pub at: usize,
    /// The natural logarithm of the probability of each candidate after the context.
    pub scores: [f32; 4],
}

/// Whether a boundary is worth a question: the network's `scores` leave more than one chance in fifty of a mark.
pub fn is_open(scores: &[f32; 4]) -> bool {
    scores[0] < SURE
}

/// The marks' log-odds when the model has been heard.
pub(super) fn weigh(network: [f32; 4], model: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|k| NETWORK * network[k] + MODEL * (model[k] - model[0]) + BESIDES[k])
}

impl MarkQuestion {
    /// The texts to be scored: what comes before, and how it goes on.
    pub fn passages(&self) -> impl Iterator<Item = (&str, &str)> {
        self.candidates.iter().map(|candidate| (self.context.as_str(), candidate.as_str()))
    }

    /// The answer, from the scores of the [`passages`](Self::passages), which it takes.
    pub fn answered(&self, scores: &mut impl Iterator<Item = f32>) -> MarkAnswer {
        MarkAnswer { at: self.at, scores: std::array::from_fn(|_| scores.next().unwrap_or(0.0)) }
    }

    /// The question after word `i` of `said`, in lower case; `marks` tells the mark after each word, "" for none, and is
    /// read up to `i`. `at` and `scores` as in the fields.
    pub fn spell(said: &[&str], marks: &[&str], i: usize, at: usize, scores: [f32; 4]) -> Self {
        let mark = |k: usize| marks.get(k).copied().unwrap_or_default();
        let ends = |k: usize| matches!(mark(k), "." | "?");
        let first = (i / STRIDE * STRIDE).saturating_sub(CONTEXT_WORDS);
        let mut context = String::new();
        for k in first..=i {
            if k > first {
                context.push(' ');
            }
            push_word(&mut context, said[k], k.checked_sub(1).is_none_or(ends));
            if k < i {
                context.push_str(mark(k));
            }
        }
        let next = &said[i + 1..said.len().min(i + 1 + NEXT_WORDS)];
        let candidates = ["", ",", ".", "?"].map(|mark| {
            let mut text = mark.to_owned();
            for (k, word) in next.iter().enumerate() {
                text.push(' ');
                push_word(&mut text, word, k == 0 && matches!(mark, "." | "?"));
            }
            text
        });
        Self { at, scores, context, candidates }
    }
}

fn push_word(text: &mut String, word: &str, begins: bool) {
    let first_person = matches!(word, "i" | "i'm" | "i'll" | "i've" | "i'd");
    if begins || first_person {
        text.push_str(&upper_first(word));
    } else {
        text.push_str(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_spells_the_four_ways_to_go_on() {
        let said = ["yes", "i", "think", "so", "do", "you"];
        let question = MarkQuestion::spell(&said, &[",", "", "", ""], 3, 14, [-1.0; 4]);
        assert_eq!(question.context, "Yes, I think so");
        assert_eq!(question.candidates, [" do you", ", do you", ". Do you", "? Do you"]);
    }

    #[test]
    fn a_model_that_is_as_sure_of_all_changes_no_order() {
        let network = [-0.7, -1.2, -2.0, -4.0];
        let heard = weigh(network, [-9.0; 4]);
        assert!(heard[0] > heard[3]);
    }
}
