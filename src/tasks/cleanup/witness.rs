//! What a language model may be asked about marks, and how its answers weigh.
//!
//! The network of `tagger` reads what was said; a language model has read far more. Where the network is not sure that
//! there is no mark, a [`MarkQuestion`] spells out the ways to go on. Whoever has a model scores them; nothing here
//! knows one. The weights were fitted by `npm run fit -- witness`.

use super::case::upper_first;

/// The network's log-probability of no mark from which it is sure: 90 %. Asking more often costs half as much again and
/// changes no score.
const SURE: f32 = -0.105;
/// A mark of which the network's log-probability is below this, 3 %, is out of the question.
const LEAST: f32 = -3.5;
/// The boundaries of so many words are asked about with one beginning, which a model reads once …
const STRIDE: usize = 48;
/// … and which reaches so many words further back.
const CONTEXT_WORDS: usize = 16;
/// Words that a question repeats after the boundary: three to six are as good.
const NEXT_WORDS: usize = 4;

/// What the network's and the model's log-probabilities weigh, and what each way has besides.
const NETWORK: f32 = 0.607;
const MODEL: f32 = 0.274;
const BESIDES: [f32; 4] = [-0.6, -0.173, -0.162, 0.418];

/// The ways to go on after a word.
const MARKS: [&str; 4] = ["", ",", ".", "?"];
const STOP: usize = 2;
const QUESTION: usize = 3;

/// A place where a mark may be missing.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkQuestion {
    /// The byte of the raw text at which the word before it ends.
    pub at: usize,
    /// What comes before, as the rules would write it.
    pub context: String,
    /// How it may go on: with no mark, a comma, a full stop, a question mark; none for what is out of the question. Where
    /// nothing is said any more, only the last two are asked about.
    pub candidates: [Option<String>; 4],
}

/// What a model says to a [`MarkQuestion`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarkAnswer {
    /// The question's.
    pub at: usize,
    /// The natural logarithm of the probability of each candidate after the context; none for what was not asked.
    pub scores: [Option<f32>; 4],
}

/// Each mark's log-odds, none to begin with, when a model has been heard about it; what was not asked about cannot be.
pub(super) fn weigh(network: [f32; 4], model: [Option<f32>; 4]) -> [f32; 4] {
    let Some(first) = model.iter().copied().flatten().next() else { return network };
    std::array::from_fn(|k| match model[k] {
        Some(score) => NETWORK * network[k] + MODEL * (score - first) + BESIDES[k],
        None => f32::NEG_INFINITY,
    })
}

impl MarkQuestion {
    /// The question after word `i` of `said`, in lower case, if there is one to a network that gives the marks the
    /// log-probabilities `scores`; `marks` tells the mark after each word, "" for none, and is read up to `i`. `at` as in
    /// the field.
    pub fn spell(said: &[&str], marks: &[&str], i: usize, at: usize, scores: [f32; 4]) -> Option<Self> {
        let next = &said[i + 1..said.len().min(i + 1 + NEXT_WORDS)];
        let possible = |k: usize| scores[k] >= LEAST;
        let asked: [bool; 4] = match next {
            [] if possible(QUESTION) && possible(STOP) => [false, false, true, true],
            // A question mark is weighed against a full stop.
            [_, ..] if scores[0] < SURE => {
                [true, possible(1), possible(STOP) || possible(QUESTION), possible(QUESTION)]
            }
            _ => return None,
        };
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
        let candidate = |mark: &str| {
            let mut text = mark.to_owned();
            for (k, word) in next.iter().enumerate() {
                text.push(' ');
                push_word(&mut text, word, k == 0 && matches!(mark, "." | "?"));
            }
            text
        };
        let candidates = std::array::from_fn(|k| asked[k].then(|| candidate(MARKS[k])));
        Some(Self { at, context, candidates })
    }

    /// Whether this question goes on from where `other` begins, so that a model need not read that again.
    pub fn goes_on_from(&self, other: &Self) -> bool {
        self.context.starts_with(&other.context)
    }

    /// The texts to be scored: what comes before, and how it goes on.
    pub fn passages(&self) -> impl Iterator<Item = (&str, &str)> {
        self.candidates.iter().flatten().map(|candidate| (self.context.as_str(), candidate.as_str()))
    }

    /// The answer, from the scores of the [`passages`](Self::passages), which it takes.
    pub fn answered(&self, scores: &mut impl Iterator<Item = f32>) -> MarkAnswer {
        let score = |candidate: &Option<String>| if candidate.is_some() { scores.next() } else { None };
        MarkAnswer { at: self.at, scores: self.candidates.each_ref().map(score) }
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

    const SAID: [&str; 6] = ["yes", "i", "think", "so", "do", "you"];

    #[test]
    fn a_question_spells_the_ways_to_go_on() {
        let question = MarkQuestion::spell(&SAID, &[",", "", "", ""], 3, 14, [-1.0; 4]).expect("it is open");
        assert_eq!(question.context, "Yes, I think so");
        assert_eq!(question.candidates.map(Option::unwrap), [" do you", ", do you", ". Do you", "? Do you"]);
    }

    #[test]
    fn what_is_out_of_the_question_is_not_asked() {
        let spell = |i: usize, scores| MarkQuestion::spell(&SAID, &[], i, 14, scores);
        assert_eq!(spell(3, [-0.01, -5.0, -6.0, -7.0]), None);
        let asked = |question: MarkQuestion| question.candidates.map(|candidate| candidate.is_some());
        assert_eq!(spell(3, [-0.7, -0.8, -5.0, -9.0]).map(asked), Some([true, true, false, false]));
        assert_eq!(spell(3, [-0.7, -9.0, -5.0, -3.0]).map(asked), Some([true, false, true, true]));
        assert_eq!(spell(5, [-0.7, -0.8, -1.0, -3.0]).map(asked), Some([false, false, true, true]));
        assert_eq!(spell(5, [-0.7, -0.8, -1.0, -5.0]), None);
    }

    #[test]
    fn a_model_that_is_as_sure_of_all_changes_no_order() {
        let network = [-0.2, -3.2, -3.0, -4.0];
        let heard = weigh(network, [Some(-9.0); 4]);
        assert!(heard[0] > heard[3]);
        assert_eq!(weigh(network, [None; 4]), network);
        assert_eq!(weigh(network, [Some(-1.0), None, None, Some(-2.0)])[1], f32::NEG_INFINITY);
    }
}
