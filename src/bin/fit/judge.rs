//! How much a language model's word weighs when it judges what a speaker took back: the numbers in `cleanup::repairs`.

use std::path::Path;

use fairhand::tasks::cleanup::{CleanupOptions, Interrupted, clean, interruptions};

use crate::asked::Asked;
use crate::distance::distance;
use crate::repairs::{Row, read, words};

/// Of the evidence's log-odds, of the model's, and besides for any deletion.
type Weights = [f64; 3];

const ALONE: Weights = [1.0, 0.0, 0.0];
const DESCENTS: usize = 3_000;
const RATE: f64 = 0.1;

/// One interruption. Of each candidate: the evidence's log-odds against keeping, the model's, and the words then wrong.
struct Example {
    candidates: Vec<(f64, f64, usize)>,
    raw: usize,
    /// Words wrong in the rules' answer.
    rules: usize,
}

/// Asks the model in the file `model` about every `stride`th row of Disfl-QA, fits the weights to its training rows and
/// prints what they give to its development rows.
pub fn fit(folder: &Path, model: &Path, stride: usize) -> Result<(), String> {
    let say = |why: fairhand::Error| why.to_string();
    let mut model = Asked::read(model)?;
    let mut sets = vec![];
    for (set, stride) in [("disflqa_train", stride), ("disflqa_dev", stride.div_ceil(4))] {
        let rows = read(&folder.join(format!("third-party/disfluency/{set}.jsonl")), 1.0)?;
        let mut examples = vec![];
        let mut count = 0;
        for row in rows.iter().step_by(stride) {
            count += 1;
            let options = CleanupOptions::default();
            let rules = clean(&row.input, &options).map_err(say)?.text;
            let open = interruptions(&row.input, &options).map_err(say)?;
            let [interrupted] = &open[..] else { continue };
            let scores = model.scores(interrupted.question.passages())?;
            let answer = interrupted.question.answered(&mut scores.into_iter());
            examples.push(example(row, interrupted, &answer.scores, &rules));
        }
        sets.push((examples, count));
    }
    println!("{model}");
    let weights = descend(&sets[0].0);
    let [evidence, of_model, besides] = weights;
    println!("EVIDENCE {evidence:.3}  MODEL {of_model:.3}  BESIDES {besides:.3}");
    for (name, (examples, rows)) in ["train", "dev"].iter().zip(&sets) {
        let share = |n: usize| n as f64 / *rows as f64;
        let right = examples.iter().filter(|example| example.rules == 0).count();
        let worse = examples.iter().filter(|example| example.rules > example.raw).count();
        println!(
            "{name}: rules {:.3}, harm {:.4}; within reach {:.3}",
            share(right),
            share(worse),
            share(examples.iter().filter(|e| e.candidates.iter().any(|c| c.2 == 0)).count())
        );
        for (who, weights) in [("evidence", &ALONE), ("with model", &weights)] {
            for least in [0.4, 0.5, 0.6, 0.7, 0.8, 0.9] {
                let found: Vec<usize> = examples.iter().map(|example| choose(example, weights, least)).collect();
                let right = found.iter().filter(|wrong| **wrong == 0).count();
                let worse = found.iter().zip(examples).filter(|(wrong, example)| **wrong > example.raw).count();
                println!("  {who:10} p >= {least}: right {:.3}, harm {:.4}", share(right), share(worse));
            }
        }
    }
    Ok(())
}

fn example(
    row: &Row,
    Interrupted { question, texts, .. }: &Interrupted,
    scores: &[Option<f32>],
    rules: &str,
) -> Example {
    let wrong = |text: &str| {
        let said = words(text);
        row.golds.iter().map(|gold| distance(&said, &words(gold))).min().unwrap_or(0)
    };
    let keep = f64::from(question.candidates[0].probability.max(1e-6)).ln();
    let kept = f64::from(scores[0].unwrap_or(0.0));
    let candidates = question.candidates.iter().zip(texts).zip(scores).filter_map(|((candidate, text), score)| {
        let odds = f64::from(candidate.probability.max(1e-6)).ln() - keep;
        Some((odds, f64::from((*score)?) - kept, wrong(text)))
    });
    Example { candidates: candidates.collect(), raw: wrong(&row.input), rules: wrong(rules) }
}

fn odds(candidate: &(f64, f64, usize), k: usize, weights: &Weights) -> f64 {
    if k == 0 { 0.0 } else { weights[0] * candidate.0 + weights[1] * candidate.1 + weights[2] }
}

fn probabilities(example: &Example, weights: &Weights) -> Vec<f64> {
    let odds: Vec<f64> = example.candidates.iter().enumerate().map(|(k, c)| odds(c, k, weights)).collect();
    let most = odds.iter().copied().fold(f64::MIN, f64::max);
    let total: f64 = odds.iter().map(|odds| (odds - most).exp()).sum();
    odds.iter().map(|odds| (odds - most).exp() / total).collect()
}

/// The words that are wrong in the best candidate, or in the raw text where it is not probable enough.
fn choose(example: &Example, weights: &Weights, least: f64) -> usize {
    let probabilities = probabilities(example, weights);
    let best = (0..probabilities.len()).max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b])).unwrap_or(0);
    example.candidates[if probabilities[best] >= least { best } else { 0 }].2
}

/// Logistic regression on the examples that have a right candidate, by plain descent from the evidence alone.
fn descend(examples: &[Example]) -> Weights {
    let mut weights = ALONE;
    let fit = |example: &&Example| {
        let least = example.candidates.iter().map(|candidate| candidate.2).min();
        least.is_some_and(|least| least == 0 || least * 3 <= example.candidates[0].2)
    };
    let used: Vec<&Example> = examples.iter().filter(fit).collect();
    for _ in 0..DESCENTS {
        let mut gradient = [0.0; 3];
        for example in &used {
            let least = example.candidates.iter().map(|candidate| candidate.2).min();
            let right = example.candidates.iter().position(|candidate| Some(candidate.2) == least).unwrap_or(0);
            for (k, (candidate, p)) in
                example.candidates.iter().zip(probabilities(example, &weights)).enumerate().skip(1)
            {
                let d = p - f64::from(u8::from(k == right));
                gradient[0] += d * candidate.0;
                gradient[1] += d * candidate.1;
                gradient[2] += d;
            }
        }
        for (weight, d) in weights.iter_mut().zip(gradient) {
            *weight -= RATE * d / used.len().max(1) as f64 / 8.0;
        }
    }
    weights
}
