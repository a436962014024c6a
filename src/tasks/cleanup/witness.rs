//! What a language model may be asked about marks, and how its answers weigh.
//!
//! The network of `tagger` reads what was said; a language model has read far more. Where the network is not sure that
//! there is no mark, a [`MarkQuestion`] spells out the ways to go on. Whoever has a model scores them; nothing here
//! knows one. The weights were fitted by `npm run fit -- witness`.

use super::case::upper_first;

/// When a model is asked about marks, and what it reads for that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asking {
    /// It is not asked where the network gives one way to go on this probability.
    pub sure: f32,
    /// A way to go on with less than this probability is out of the question.
    pub least: f32,
    /// Words that it reads before the first of the questions that share a beginning. Where more words than this lie between
    /// two questions, the second has a beginning of its own.
    pub words_before: usize,
    /// Words that it reads after a boundary, once for each way to go on.
    pub words_after: usize,
}

impl Asking {
    /// Twice as many tokens (0.9, 0.03, 16, 4) bring 0.00 to 0.02 of the marks' F1 on turns of speech.
    pub const USUAL: Self = Self { sure: 0.8, least: 0.1, words_before: 12, words_after: 2 };
}

/// The most words from the first to the last question that share a beginning: what a model reads at once has a bound.
const STRETCH: usize = 96;

/// What the network's and the model's log-probabilities weigh, and what each way has besides.
const NETWORK: f32 = 0.556;
const MODEL: f32 = 0.267;
const BESIDES: [f32; 4] = [-0.6, -0.299, -0.239, 0.501];

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

/// The questions about a stretch of text without a sentence end: `said`, in lower case, with the mark after each word, "" for
/// none, and for its first words the log-probabilities that the network gives the marks after them. `at` tells where a word
/// ends in the raw text.
pub fn mark_questions(
    said: &[&str],
    marks: &[&str],
    scores: &[[f32; 4]],
    at: impl Fn(usize) -> usize,
    asking: &Asking,
) -> Vec<MarkQuestion> {
    let mut questions = vec![];
    // Where the shared beginning starts, and the word of the last question.
    let (mut first, mut last) = (0, None);
    for (i, scores) in scores.iter().enumerate().take(said.len()) {
        let next = &said[i + 1..said.len().min(i + 1 + asking.words_after)];
        let Some(asked) = asked(scores, i + 1 == said.len(), asking) else { continue };
        if last.is_none_or(|last| i - last > asking.words_before) || i - first > STRETCH {
            first = i.saturating_sub(asking.words_before);
        }
        last = Some(i);
        let mark = |k: usize| marks.get(k).copied().unwrap_or_default();
        let ends = |k: usize| matches!(mark(k), "." | "?");
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
        questions.push(MarkQuestion { at: at(i), context, candidates });
    }
    questions
}

/// Which ways to go on a model is asked about, if it is; after the last word a sentence ends.
fn asked(scores: &[f32; 4], is_last: bool, asking: &Asking) -> Option<[bool; 4]> {
    let possible = |k: usize| scores[k] >= asking.least.ln();
    let sure = || scores.iter().any(|score| *score >= asking.sure.ln());
    match is_last {
        true => (possible(QUESTION) && possible(STOP)).then_some([false, false, true, true]),
        false if sure() => None,
        // A question mark is weighed against a full stop.
        false => Some([true, possible(1), possible(STOP) || possible(QUESTION), possible(QUESTION)]),
    }
}

impl MarkQuestion {
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

    fn ask(said: &[&str], marks: &[&str], scores: &[[f32; 4]]) -> Vec<MarkQuestion> {
        mark_questions(said, marks, scores, |word| word, &Asking::USUAL)
    }

    const SURE: [f32; 4] = [-0.01, -5.0, -6.0, -7.0];

    #[test]
    fn a_question_spells_the_ways_to_go_on() {
        let mut scores = [SURE; 4];
        scores[3] = [-1.3; 4];
        let [question] = ask(&SAID, &[",", "", "", ""], &scores).try_into().expect("one is open");
        assert_eq!((question.at, question.context.as_str()), (3, "Yes, I think so"));
        assert_eq!(question.candidates.map(Option::unwrap), [" do you", ", do you", ". Do you", "? Do you"]);
    }

    #[test]
    fn what_is_out_of_the_question_is_not_asked() {
        let asked = |word: usize, scores| {
            let mut all = [SURE; 6];
            all[word] = scores;
            let found = ask(&SAID, &[], &all).pop();
            found.map(|question| question.candidates.map(|candidate| candidate.is_some()))
        };
        assert_eq!(asked(3, SURE), None);
        assert_eq!(asked(3, [-4.0, -0.1, -5.0, -9.0]), None, "a comma is as sure");
        assert_eq!(asked(3, [-0.7, -0.8, -5.0, -9.0]), Some([true, true, false, false]));
        assert_eq!(asked(3, [-0.7, -9.0, -5.0, -2.0]), Some([true, false, true, true]));
        assert_eq!(asked(5, [-0.7, -0.8, -1.0, -2.0]), Some([false, false, true, true]));
        assert_eq!(asked(5, [-0.7, -0.8, -1.0, -5.0]), None);
    }

    /// What a model has read for one question it need not read for the next, unless there is much between them.
    #[test]
    fn questions_share_their_beginning() {
        let said: Vec<String> = (0..60).map(|k| format!("w{k}")).collect();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let mut scores = [SURE; 60];
        for open in [20, 25, 50] {
            scores[open] = [-1.3; 4];
        }
        let questions = ask(&said, &[], &scores);
        let begins = questions.iter().map(|question| question.context.split(' ').next().unwrap());
        assert_eq!(begins.collect::<Vec<_>>(), ["w8", "w8", "w38"]);
        assert!(questions[1].context.starts_with(&questions[0].context));
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
