//! How much a language model's word weighs beside the network's: the numbers in `cleanup::witness`.

use std::path::Path;

use fairhand::tasks::cleanup::{Asking, MarkQuestion, mark_questions};

use crate::asked::Asked;
use crate::corpus::Row;
use crate::shape::MARKS;

/// Of the network's log-probabilities, of the model's, and besides for each way to go on.
#[derive(Clone, Copy)]
struct Weights {
    network: f64,
    model: f64,
    besides: [f64; MARKS],
}

impl Example {
    fn is_asked(&self) -> bool {
        self.model.iter().any(Option::is_some)
    }
}

/// The network alone.
const NETWORK: Weights = Weights { network: 1.0, model: 0.0, besides: [0.0; MARKS] };
const FOLDS: usize = 5;
/// Questions in one pass.
const AT_ONCE: usize = 24;
const DESCENTS: usize = 2_000;
const RATE: f64 = 0.2;
/// No mark is what people leave out most: F1 gains where its log-odds are lowered by one of these.
const DOUBTS: [f64; 4] = [0.0, 0.2, 0.4, 0.6];

/// Other manners of asking than the usual one, for comparison: dearer and cheaper.
const OTHERS: [Asking; 4] = [
    Asking { sure: 0.9, least: 0.03, words_before: 16, words_after: 4 },
    Asking { sure: 0.9, least: 0.03, words_before: 16, words_after: 2 },
    Asking { sure: 0.7, ..Asking::USUAL },
    Asking { words_after: 1, ..Asking::USUAL },
];

/// One boundary.
#[derive(Clone, Copy)]
struct Example {
    turn: usize,
    network: [f64; MARKS],
    /// None of what the model was not asked about.
    model: [Option<f64>; MARKS],
    right: usize,
    /// Nothing is said after it.
    is_last: bool,
}

/// What is known of one turn: `scores` of the network for each word, and the `marks` that are right.
pub struct Known {
    pub scores: Vec<[f32; MARKS]>,
    pub marks: Vec<u8>,
}

/// Turns of speech, and what is known of each.
pub struct Turns {
    pub rows: Vec<Row>,
    pub known: Vec<Known>,
}

/// Asks the model in the file `model` about every `stride`th of `turns` in several manners, and prints for each what it costs,
/// the F1 of the marks that it gives turns to which nothing was fitted, those of `turns` in cross-validation and `fresh` ones,
/// and the weights that suit its answers.
pub fn fit(turns: &Turns, fresh: &Turns, model: &Path, stride: usize) -> Result<(), String> {
    let mut model = Asked::read(model)?;
    for asking in [&[Asking::USUAL][..], &OTHERS].concat() {
        let before = model.tokens();
        let (examples, words) = ask_all(turns, stride, &asking, &mut model)?;
        let for_hundred = |n: usize| 100.0 * n as f64 / words.max(1) as f64;
        let tokens = for_hundred(model.tokens() - before);
        let questions = for_hundred(examples.iter().filter(|example| example.is_asked()).count());
        println!("{asking:?}: {tokens:.0} tokens and {questions:.1} questions for 100 words");
        let (fresh, _) = ask_all(fresh, 1, &asking, &mut model)?;
        let weights = best(&examples.iter().collect::<Vec<_>>());
        let chosen = |examples: &[Example], weights: &Weights| -> Vec<(Example, usize)> {
            examples.iter().map(|example| (*example, choice(example, weights))).collect()
        };
        let mut validated = vec![];
        for fold in 0..FOLDS {
            let (held, given): (Vec<Example>, Vec<Example>) =
                examples.iter().partition(|example| example.turn / stride % FOLDS == fold);
            validated.extend(chosen(&held, &best(&given.iter().collect::<Vec<_>>())));
        }
        print_scores("the network alone", turns, &chosen(&examples, &NETWORK), &chosen(&fresh, &NETWORK));
        print_scores("with the model", turns, &validated, &chosen(&fresh, &weights));
        let Weights { network, model, besides } = weights;
        println!("  NETWORK {network:.3}  MODEL {model:.3}  BESIDES {besides:.3?}");
    }
    Ok(())
}

/// The scores of each set of `turns`, and of fresh ones.
fn print_scores(who: &str, turns: &Turns, found: &[(Example, usize)], fresh: &[(Example, usize)]) {
    println!("  {who}");
    let set_of = |example: &Example| turns.rows[example.turn].set.as_str();
    let mut sets: Vec<&str> = turns.rows.iter().map(|row| row.set.as_str()).collect();
    sets.dedup();
    for set in sets {
        let of_set: Vec<_> = found.iter().filter(|(example, _)| set_of(example) == set).copied().collect();
        println!("    {set:24} {}", f1_of_each(&of_set));
    }
    println!("    {:24} {}", "fresh", f1_of_each(fresh));
}

/// Every boundary of every `stride`th turn, and how many words they have.
fn ask_all(turns: &Turns, stride: usize, asking: &Asking, model: &mut Asked) -> Result<(Vec<Example>, usize), String> {
    let (mut examples, mut words) = (vec![], 0);
    for (turn, (row, known)) in turns.rows.iter().zip(&turns.known).enumerate().step_by(stride) {
        let lower = row.input.to_lowercase();
        let said: Vec<&str> = lower.split_whitespace().collect();
        if said.len() == known.marks.len() {
            words += said.len();
            examples.extend(ask(turn, &said, known, asking, model)?);
        }
    }
    Ok((examples, words))
}

/// Every boundary of a turn, with the model's word where it is open.
fn ask(turn: usize, said: &[&str], known: &Known, asking: &Asking, model: &mut Asked) -> Result<Vec<Example>, String> {
    // What the network alone would write is what a question has before it.
    let marks: Vec<&str> = known.scores.iter().map(|scores| ["", ",", ".", "?"][likeliest(scores)]).collect();
    let questions = mark_questions(said, &marks, &known.scores, |word| word, asking);
    let mut answers = vec![];
    for group in questions.chunks(AT_ONCE) {
        let mut scores = model.scores(group.iter().flat_map(MarkQuestion::passages))?.into_iter();
        answers.extend(group.iter().map(|question| question.answered(&mut scores)));
    }
    let example = |word: usize| {
        let found = answers.binary_search_by_key(&word, |answer| answer.at);
        let scores = found.map_or([None; MARKS], |found| answers[found].scores);
        let first = scores.iter().copied().flatten().next().unwrap_or_default();
        Example {
            turn,
            network: known.scores[word].map(f64::from),
            model: scores.map(|score| score.map(|score| f64::from(score - first))),
            right: usize::from(known.marks[word]),
            is_last: word + 1 == said.len(),
        }
    };
    Ok((0..said.len()).map(example).collect())
}

fn likeliest(scores: &[f32; MARKS]) -> usize {
    (0..MARKS).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0)
}

/// The network's log-probabilities where the model was not asked.
fn log_odds(example: &Example, weights: &Weights) -> [f64; MARKS] {
    if !example.is_asked() || weights.model == 0.0 {
        return example.network;
    }
    std::array::from_fn(|mark| match example.model[mark] {
        Some(model) => weights.network * example.network[mark] + weights.model * model + weights.besides[mark],
        None => f64::NEG_INFINITY,
    })
}

/// After the last word, a sentence ends.
fn choice(example: &Example, weights: &Weights) -> usize {
    let odds = log_odds(example, weights);
    let from = if example.is_last { 2 } else { 0 };
    (from..MARKS).max_by(|&a, &b| odds[a].total_cmp(&odds[b])).unwrap_or(0)
}

/// The weights that explain the examples, with the doubt about no mark that gives most F1.
fn best(examples: &[&Example]) -> Weights {
    let weights = descend(examples);
    let doubted = |doubt: f64| {
        let mut weights = weights;
        weights.besides[0] = -doubt;
        weights
    };
    let f1_of = |weights: &Weights| {
        let found: Vec<_> = examples.iter().map(|example| (**example, choice(example, weights))).collect();
        f1(&found, |mark| mark > 0)
    };
    let best = DOUBTS.into_iter().map(doubted).max_by(|a, b| f1_of(a).total_cmp(&f1_of(b)));
    best.unwrap_or(weights)
}

/// Multinomial logistic regression on what the model was asked about, by plain descent from the network alone.
fn descend(examples: &[&Example]) -> Weights {
    let asked: Vec<&&Example> = examples.iter().filter(|example| example.model[example.right].is_some()).collect();
    let mut weights = Weights { model: 0.1, ..NETWORK };
    for _ in 0..DESCENTS {
        let (mut network, mut model, mut besides) = (0.0, 0.0, [0.0; MARKS]);
        for example in &asked {
            let odds = log_odds(example, &weights);
            let most = odds.iter().copied().fold(f64::MIN, f64::max);
            let powers = odds.map(|odds| (odds - most).exp());
            let sum: f64 = powers.iter().sum();
            for (mark, score) in example.model.iter().enumerate() {
                let Some(score) = score else { continue };
                let d = powers[mark] / sum - f64::from(mark == example.right);
                network += d * example.network[mark];
                model += d * score;
                if mark > 0 {
                    besides[mark] += d;
                }
            }
        }
        let rate = RATE / asked.len().max(1) as f64 / 4.0;
        weights.network -= rate * network;
        weights.model -= rate * model;
        weights.besides.iter_mut().zip(besides).for_each(|(weight, d)| *weight -= rate * d);
    }
    weights
}

/// F1 of the marks that are `wanted`.
fn f1(found: &[(Example, usize)], wanted: impl Fn(usize) -> bool) -> f64 {
    let count = |test: &dyn Fn(usize, usize) -> bool| {
        found.iter().filter(|(example, choice)| test(*choice, example.right)).count()
    };
    let hits = count(&|a, b| a == b && wanted(a));
    let extras = count(&|a, b| a != b && wanted(a));
    let misses = count(&|a, b| a != b && wanted(b));
    2.0 * hits as f64 / (2 * hits + extras + misses).max(1) as f64
}

fn f1_of_each(found: &[(Example, usize)]) -> String {
    let [comma, stop, question] = [1, 2, 3].map(|mark| f1(found, |other| other == mark));
    format!(", {comma:.3}  . {stop:.3}  ? {question:.3}  all {:.3}", f1(found, |mark| mark > 0))
}
