//! How much a language model's word weighs beside the network's: the numbers in `cleanup::witness`.

use std::path::Path;

use fairhand::tasks::cleanup::{MarkQuestion, is_open};

use crate::asked::Asked;
use crate::corpus::Row;
use crate::shape::MARKS;

/// Of the network's log-probabilities, of the model's log-odds, and besides for comma, full stop and question mark.
type Weights = [f64; 5];

/// The network alone.
const NETWORK: Weights = [1.0, 0.0, 0.0, 0.0, 0.0];
const FOLDS: usize = 5;
const DESCENTS: usize = 2_000;
const RATE: f64 = 0.2;

/// One boundary that a model was asked about.
struct Example {
    turn: usize,
    network: [f64; MARKS],
    model: [f64; MARKS],
    right: usize,
}

/// What is known of one turn: `scores` of the network for each word, and the `marks` that are right.
pub struct Known {
    pub scores: Vec<[f32; MARKS]>,
    pub marks: Vec<u8>,
}

/// Asks the model in the file `model` about every `stride`th of `rows`, and prints the weights that suit its answers, with
/// the F1 of all marks that they give turns which they were not fitted to.
pub fn fit(rows: &[Row], known: &[Known], model: &Path, stride: usize) -> Result<(), String> {
    let mut model = Asked::read(model)?;
    let mut examples = vec![];
    let mut totals = vec![0; rows.len()];
    for (turn, (row, known)) in rows.iter().zip(known).enumerate().step_by(stride) {
        let lower = row.input.to_lowercase();
        let said: Vec<&str> = lower.split_whitespace().collect();
        if said.len() != known.marks.len() {
            continue;
        }
        totals[turn] = known.marks.iter().filter(|mark| **mark > 0).count() - 1;
        // What the network alone would write is what a question has before it.
        let marks: Vec<&str> = known.scores.iter().map(likeliest).collect();
        // The last mark stands in any case.
        for word in (0..said.len() - 1).filter(|&word| is_open(&known.scores[word])) {
            let question = MarkQuestion::spell(&said, &marks, word, word, known.scores[word]);
            let scores = question.answered(&mut model.scores(question.passages())?.into_iter()).scores;
            examples.push(Example {
                turn,
                network: known.scores[word].map(f64::from),
                model: scores.map(|score| f64::from(score - scores[0])),
                right: usize::from(known.marks[word]),
            });
        }
    }
    println!("{} questions about {} turns", examples.len(), rows.len().div_ceil(stride));
    let mut found = vec![];
    for fold in 0..FOLDS {
        let in_fold = |example: &&Example| example.turn / stride % FOLDS == fold;
        let given: Vec<&Example> = examples.iter().filter(|example| !in_fold(example)).collect();
        let weights = descend(&given);
        found.extend(examples.iter().filter(in_fold).map(|example| (example, choice(example, &weights))));
    }
    let alone: Vec<_> = examples.iter().map(|example| (example, choice(example, &NETWORK))).collect();
    let total = totals.iter().sum();
    println!("the network alone   {}", f1(&alone, total));
    println!("cross-validation    {}", f1(&found, total));
    let [network, model, besides @ ..] = descend(&examples.iter().collect::<Vec<_>>());
    println!("NETWORK {network:.3}  MODEL {model:.3}  BESIDES {besides:.3?}");
    Ok(())
}

fn likeliest(scores: &[f32; MARKS]) -> &'static str {
    let best = (0..MARKS).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0);
    ["", ",", ".", "?"][best]
}

fn log_odds(example: &Example, weights: &Weights) -> [f64; MARKS] {
    std::array::from_fn(|mark| {
        let besides = if mark == 0 { 0.0 } else { weights[1 + mark] };
        weights[0] * example.network[mark] + weights[1] * example.model[mark] + besides
    })
}

fn choice(example: &Example, weights: &Weights) -> usize {
    let odds = log_odds(example, weights);
    (0..MARKS).max_by(|&a, &b| odds[a].total_cmp(&odds[b])).unwrap_or(0)
}

/// Multinomial logistic regression, by plain descent from the network alone.
fn descend(examples: &[&Example]) -> Weights {
    let mut weights = NETWORK;
    for _ in 0..DESCENTS {
        let mut gradient = [0.0; 5];
        for example in examples {
            let odds = log_odds(example, &weights);
            let most = odds.iter().copied().fold(f64::MIN, f64::max);
            let powers = odds.map(|odds| (odds - most).exp());
            let sum: f64 = powers.iter().sum();
            for mark in 0..MARKS {
                let d = powers[mark] / sum - f64::from(mark == example.right);
                gradient[0] += d * example.network[mark];
                gradient[1] += d * example.model[mark];
                if mark > 0 {
                    gradient[1 + mark] += d;
                }
            }
        }
        for (weight, d) in weights.iter_mut().zip(gradient) {
            *weight -= RATE * d / examples.len() as f64 / 4.0;
        }
    }
    weights
}

/// F1 of comma, full stop, question mark and all; marks where nothing was asked count as missed, of `total` inside turns.
fn f1(found: &[(&Example, usize)], total: usize) -> String {
    let f1 = |wanted: fn(usize, usize) -> bool, mark: usize, missed: usize| {
        let count = |test: &dyn Fn(usize, usize) -> bool| {
            found.iter().filter(|(example, choice)| test(*choice, example.right)).count()
        };
        let hits = count(&|a, b| a == b && wanted(a, mark));
        let extras = count(&|a, b| a != b && wanted(a, mark));
        let misses = count(&|a, b| a != b && wanted(b, mark)) + missed;
        2.0 * hits as f64 / (2 * hits + extras + misses).max(1) as f64
    };
    let asked = found.iter().filter(|(example, _)| example.right > 0).count();
    let one: fn(usize, usize) -> bool = |a, mark| a == mark;
    let any: fn(usize, usize) -> bool = |a, _| a > 0;
    let [comma, stop, question] = [1, 2, 3].map(|mark| f1(one, mark, 0));
    format!(
        ", {comma:.3}  . {stop:.3}  ? {question:.3}  all {:.3} (inside turns)",
        f1(any, 0, total.saturating_sub(asked))
    )
}
