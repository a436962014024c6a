//! How much a language model's word weighs beside the network's: the numbers in `cleanup::witness`.

use std::path::Path;

use fairhand::tasks::cleanup::MarkQuestion;

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

/// The network alone.
const NETWORK: Weights = Weights { network: 1.0, model: 0.0, besides: [0.0; MARKS] };
const FOLDS: usize = 5;
const DESCENTS: usize = 2_000;
const RATE: f64 = 0.2;
/// No mark is what people leave out most: F1 gains where its log-odds are lowered by one of these.
const DOUBTS: [f64; 4] = [0.0, 0.2, 0.4, 0.6];

/// One boundary.
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

/// Asks the model in the file `model` about every `stride`th of `rows`, and prints the weights that suit its answers, with
/// the F1 of the marks that they give turns which they were not fitted to.
pub fn fit(rows: &[Row], known: &[Known], model: &Path, stride: usize) -> Result<(), String> {
    let mut model = Asked::read(model)?;
    let mut examples = vec![];
    let mut words = 0;
    for (turn, (row, known)) in rows.iter().zip(known).enumerate().step_by(stride) {
        let lower = row.input.to_lowercase();
        let said: Vec<&str> = lower.split_whitespace().collect();
        if said.len() == known.marks.len() {
            words += said.len();
            examples.extend(ask(turn, &said, known, &mut model)?);
        }
    }
    println!(
        "{model}, {:.0} for 100 words",
        100.0 * model.tokens() as f64 / f64::from(u32::try_from(words).unwrap_or(1))
    );
    let mut found = vec![];
    for fold in 0..FOLDS {
        let in_fold = |example: &&Example| example.turn / stride % FOLDS == fold;
        let given: Vec<&Example> = examples.iter().filter(|example| !in_fold(example)).collect();
        let weights = best(&given);
        found.extend(examples.iter().filter(in_fold).map(|example| (example, choice(example, &weights))));
    }
    let all: Vec<&Example> = examples.iter().collect();
    let alone: Vec<_> = all.iter().map(|example| (*example, choice(example, &NETWORK))).collect();
    let mut sets: Vec<&str> = rows.iter().map(|row| row.set.as_str()).collect();
    sets.dedup();
    for (who, found) in [("the network alone", &alone), ("cross-validation", &found)] {
        println!("{who}");
        for set in sets.iter().copied().chain(["together"]) {
            let of_set = |example: &Example| set == "together" || rows[example.turn].set == set;
            let of_set: Vec<_> = found.iter().filter(|(example, _)| of_set(example)).copied().collect();
            println!("  {set:24} {}", f1_of_each(&of_set));
        }
    }
    let Weights { network, model, besides } = best(&all);
    println!("NETWORK {network:.3}  MODEL {model:.3}  BESIDES {besides:.3?}");
    Ok(())
}

/// Every boundary of a turn, with the model's word where it is open.
fn ask(turn: usize, said: &[&str], known: &Known, model: &mut Asked) -> Result<Vec<Example>, String> {
    // What the network alone would write is what a question has before it.
    let marks: Vec<&str> = known.scores.iter().map(|scores| ["", ",", ".", "?"][likeliest(scores)]).collect();
    let spell = |word: usize| MarkQuestion::spell(said, &marks, word, word, known.scores[word]);
    let questions: Vec<MarkQuestion> = (0..said.len()).filter_map(spell).collect();
    let mut answers = vec![];
    for group in questions.chunk_by(|one, next| next.goes_on_from(one)) {
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
    if example.model.iter().all(Option::is_none) || weights.model == 0.0 {
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
        let found: Vec<_> = examples.iter().map(|example| (*example, choice(example, weights))).collect();
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
fn f1(found: &[(&Example, usize)], wanted: impl Fn(usize) -> bool) -> f64 {
    let count = |test: &dyn Fn(usize, usize) -> bool| {
        found.iter().filter(|(example, choice)| test(*choice, example.right)).count()
    };
    let hits = count(&|a, b| a == b && wanted(a));
    let extras = count(&|a, b| a != b && wanted(a));
    let misses = count(&|a, b| a != b && wanted(b));
    2.0 * hits as f64 / (2 * hits + extras + misses).max(1) as f64
}

fn f1_of_each(found: &[(&Example, usize)]) -> String {
    let [comma, stop, question] = [1, 2, 3].map(|mark| f1(found, |other| other == mark));
    format!(", {comma:.3}  . {stop:.3}  ? {question:.3}  all {:.3}", f1(found, |mark| mark > 0))
}
