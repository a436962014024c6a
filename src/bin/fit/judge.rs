//! How much a language model's word weighs when it judges what a speaker took back: the numbers in `cleanup::repairs`.

use std::path::Path;

use fairhand::tasks::cleanup::{CleanupOptions, Interrupted, interruptions};

use crate::asked::Asked;
use crate::distance::distance;
use crate::repairs::{read, words};

/// Of the evidence's log-odds, of the model's, and besides for any deletion.
type Weights = [f64; 3];

const ALONE: Weights = [1.0, 0.0, 0.0];
const DESCENTS: usize = 3_000;
const RATE: f64 = 0.1;

/// How probable what the rules delete too must be, as in `cleanup::repairs`.
const AGREED: f64 = 0.05;
const LEAST: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95];
/// How probable the likeliest candidate may be by evidence alone where the model is asked; 0 never asks.
const SURE: [f64; 8] = [0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0];
/// Of [`LEAST`], for the candidates that the model was asked about, and for others.
const JUDGED: f64 = 0.6;
const MARKED: f64 = 0.7;

/// One interruption.
struct Example {
    /// The first keeps everything.
    candidates: Vec<Candidate>,
    is_marked: bool,
    /// The evidence's probability of the likeliest.
    most: f64,
    /// What the model reads for it.
    tokens: usize,
}

struct Candidate {
    /// The evidence's log-odds against keeping, and the model's.
    evidence: f64,
    model: f64,
    /// Words wrong in the text.
    wrong: usize,
    /// The rules choose it.
    is_rules: bool,
}

/// Interruptions, and of how many rows with how many words they are.
struct Examples {
    name: &'static str,
    examples: Vec<Example>,
    rows: usize,
    words: usize,
}

/// Asks the model in the file `model` about every `stride`th row of Disfl-QA and of real turns, fits the weights to the
/// training rows, and prints what they give to the others: how many rows of Disfl-QA come out right and how many worse than
/// they were, and how many words of the turns, nearly all meant, are deleted.
pub fn fit(folder: &Path, model: &Path, stride: usize) -> Result<(), String> {
    let mut model = Asked::read(model)?;
    let sets = [
        ("train", "disfluency/disflqa_train", stride),
        ("dev", "disfluency/disflqa_dev", stride.div_ceil(4)),
        ("turns", "punctuation/qmsum_ami_turns", 1),
        ("turns", "punctuation/qmsum_committee_turns", 1),
    ];
    let mut all = vec![];
    for (name, set, stride) in sets {
        let rows = read(&folder.join(format!("third-party/{set}.jsonl")), 1.0)?;
        let mut of_set = Examples { name, examples: vec![], rows: 0, words: 0 };
        for row in rows.iter().step_by(stride) {
            of_set.rows += 1;
            of_set.words += words(&row.input).len();
            let open = interruptions(&row.input, &CleanupOptions::default()).map_err(|why| why.to_string())?;
            // What is right of two is not told apart.
            if name != "turns" && open.len() != 1 {
                continue;
            }
            for interrupted in &open {
                let before = model.tokens();
                let scores = model.scores(interrupted.question.passages())?;
                let answer = interrupted.question.answered(&mut scores.into_iter());
                let golds: &[String] = if name == "turns" { &interrupted.texts[..1] } else { &row.golds };
                let tokens = model.tokens() - before;
                of_set.examples.push(Example { tokens, ..example(golds, interrupted, &answer.scores) });
            }
        }
        all.push(of_set);
    }
    println!("{model}");
    let weights = descend(&all[0].examples);
    let [evidence, of_model, besides] = weights;
    println!("EVIDENCE {evidence:.3}  MODEL {of_model:.3}  BESIDES {besides:.3}");
    for marked in [true, false] {
        println!("{}", if marked { "after a marker of words" } else { "after a sound or a doubtful marker" });
        for (who, weights) in [("evidence", &ALONE), ("with model", &weights)] {
            for least in LEAST {
                print!("  {who:10} p >= {least:4}:");
                all.iter().for_each(|set| print!("  {}", set.line(marked, |_| (weights, least))));
                println!();
            }
        }
    }
    println!("asked after a marker of words where no candidate is as probable as …");
    for sure in SURE {
        print!("  {sure:4}:");
        let open = |example: &Example| example.most < sure;
        for set in &all {
            let tokens: usize = set.examples.iter().filter(|e| e.is_marked && open(e)).map(|e| e.tokens).sum();
            let line = set.line(true, |example| if open(example) { (&weights, JUDGED) } else { (&ALONE, MARKED) });
            print!("  {line} {:.1} tokens for 100 words", 100.0 * tokens as f64 / set.words.max(1) as f64);
        }
        println!();
    }
    Ok(())
}

impl Examples {
    /// What `way`, the weights and the least probability for each, gives to the interruptions that are `marked`, or to those
    /// that are not.
    fn line<'a>(&self, marked: bool, way: impl Fn(&Example) -> (&'a Weights, f64)) -> String {
        let of_kind = self.examples.iter().filter(|example| example.is_marked == marked);
        let found: Vec<(usize, usize)> =
            of_kind.map(|example| (choose(example, way(example)), example.candidates[0].wrong)).collect();
        let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        match self.name {
            "turns" => {
                let deleted = found.iter().map(|(wrong, _)| wrong).sum();
                format!("{} {:.4} deleted", self.name, share(deleted, self.words))
            }
            name => {
                let right = found.iter().filter(|(wrong, _)| *wrong == 0).count();
                let worse = found.iter().filter(|(wrong, raw)| wrong > raw).count();
                format!("{name} {:.3} right {:.4} worse", share(right, self.rows), share(worse, self.rows))
            }
        }
    }
}

fn example(golds: &[String], interrupted: &Interrupted, scores: &[Option<f32>]) -> Example {
    let Interrupted { question, texts, evidence } = interrupted;
    let wrong = |text: &str| {
        let said = words(text);
        golds.iter().map(|gold| distance(&said, &words(gold))).min().unwrap_or(0)
    };
    let keep = f64::from(question.candidates[0].probability.max(1e-6)).ln();
    let kept = f64::from(scores[0].unwrap_or(0.0));
    let candidate = |(k, score): (usize, &Option<f32>)| {
        Some(Candidate {
            evidence: f64::from(question.candidates[k].probability.max(1e-6)).ln() - keep,
            model: f64::from((*score)?) - kept,
            wrong: wrong(&texts[k]),
            is_rules: evidence[k].iter().any(|name| name.starts_with("rules=this")),
        })
    };
    let candidates = scores.iter().enumerate().filter_map(candidate).collect();
    let most = question.candidates.iter().map(|candidate| f64::from(candidate.probability)).fold(0.0, f64::max);
    Example { candidates, is_marked: question.is_marked, most, tokens: 0 }
}

fn odds(candidate: &Candidate, k: usize, weights: &Weights) -> f64 {
    if k == 0 { 0.0 } else { weights[0] * candidate.evidence + weights[1] * candidate.model + weights[2] }
}

fn probabilities(example: &Example, weights: &Weights) -> Vec<f64> {
    let odds: Vec<f64> = example.candidates.iter().enumerate().map(|(k, c)| odds(c, k, weights)).collect();
    let most = odds.iter().copied().fold(f64::MIN, f64::max);
    let total: f64 = odds.iter().map(|odds| (odds - most).exp()).sum();
    odds.iter().map(|odds| (odds - most).exp() / total).collect()
}

/// The words that are wrong in the best candidate of those that are probable enough.
fn choose(example: &Example, (weights, least): (&Weights, f64)) -> usize {
    let probabilities = probabilities(example, weights);
    let enough = |k: usize| k == 0 || probabilities[k] >= if example.candidates[k].is_rules { AGREED } else { least };
    let deletes = (1..probabilities.len()).filter(|&k| enough(k));
    let best = deletes.max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b])).unwrap_or(0);
    example.candidates[best].wrong
}

/// Logistic regression on the examples that have a right candidate, by plain descent from the evidence alone.
fn descend(examples: &[Example]) -> Weights {
    let mut weights = ALONE;
    let fit = |example: &&Example| {
        let least = example.candidates.iter().map(|candidate| candidate.wrong).min();
        least.is_some_and(|least| least == 0 || least * 3 <= example.candidates[0].wrong)
    };
    let used: Vec<&Example> = examples.iter().filter(fit).collect();
    for _ in 0..DESCENTS {
        let mut gradient = [0.0; 3];
        for example in &used {
            let least = example.candidates.iter().map(|candidate| candidate.wrong).min();
            let right = example.candidates.iter().position(|candidate| Some(candidate.wrong) == least).unwrap_or(0);
            for (k, (candidate, p)) in
                example.candidates.iter().zip(probabilities(example, &weights)).enumerate().skip(1)
            {
                let d = p - f64::from(u8::from(k == right));
                gradient[0] += d * candidate.evidence;
                gradient[1] += d * candidate.model;
                gradient[2] += d;
            }
        }
        for (weight, d) in weights.iter_mut().zip(gradient) {
            *weight -= RATE * d / used.len().max(1) as f64 / 8.0;
        }
    }
    weights
}
