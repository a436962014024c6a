//! The weights of the evidence about what a speaker took back.
//!
//! A candidate's score is the sum of the weights of its evidence, keeping everything has the score 0, and the probability
//! of a candidate is its share among the exponentials of all scores at its interruption. The weights make the right
//! candidates as probable as they can be (Adagrad, with a pull towards 0). Before that it prints what each fifth of the
//! rows gets from the other four, at several least probabilities. The same rows give the same bytes.
//!
//! Rows: `third-party/disfluency/disflqa_train.jsonl`; `own/self_correction.jsonl`; turns of real meetings, whose
//! interruptions are nearly all meant and count as kept; and fluent questions with noise of our own making.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use fairhand::tasks::cleanup::{CleanupOptions, Interrupted, interruptions};
use serde_json::Value;

use crate::distance::distance;

const WEIGHTS: &str = "src/tasks/cleanup/repairs/weights.txt";
const FOLDS: usize = 5;
const PASSES: usize = 14;
const RATE: f32 = 0.25;
/// The pull towards 0, a step.
const PULL: f32 = 2e-6;
/// Evidence seen at fewer interruptions is left out.
const LEAST_SEEN: usize = 4;
/// Weights nearer to 0 are left out of the table.
const LEAST_WEIGHT: f32 = 0.02;

/// One interruption with its right answer.
struct Example {
    row: usize,
    /// For each candidate, its evidence.
    candidates: Vec<Vec<usize>>,
    /// The right one; 0 keeps everything.
    right: usize,
    /// Words wrong after each candidate, and whether none is.
    distances: Vec<usize>,
    raw_distance: usize,
    /// How much it counts.
    weight: f32,
}

pub struct Row {
    pub input: String,
    pub golds: Vec<String>,
    /// How much it counts.
    weight: f32,
}

/// Fits the weights on the rows of `folder` and writes them.
pub fn fit(folder: &Path) -> Result<(), String> {
    let mut rows = read(&folder.join("third-party/disfluency/disflqa_train.jsonl"), 1.0)?;
    let dialogue = rows.len();
    let noisy: Vec<Row> = rows.iter().step_by(2).enumerate().map(|(i, row)| noise(&row.golds[0], i)).collect();
    rows.extend(noisy);
    rows.extend(read(&folder.join("own/self_correction.jsonl"), 3.0)?);
    for set in ["qmsum_ami_turns", "qmsum_committee_turns"] {
        let turns = read(&folder.join(format!("third-party/punctuation/{set}.jsonl")), 0.5)?;
        rows.extend(turns.into_iter().map(|row| Row { golds: vec![row.input.clone()], ..row }));
    }
    let mut names: HashMap<String, usize> = HashMap::new();
    let (mut examples, mut reachable) = (vec![], 0);
    for (i, row) in rows.iter().enumerate() {
        let open = interruptions(&row.input, &CleanupOptions::default()).map_err(|why| why.to_string())?;
        let found: Vec<Example> =
            open.iter().filter_map(|question| example(i, row, question, open.len(), &mut names)).collect();
        reachable += usize::from(i < dialogue && found.iter().any(|example| example.distances.contains(&0)));
        examples.extend(found);
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
    let share = reachable as f64 / dialogue as f64;
    println!(
        "{} rows, {} interruptions; the right answer is a candidate in {share:.3} of the rows of disflqa_train",
        rows.len(),
        examples.len()
    );

    let mut seen = vec![0_usize; names.len()];
    for example in &examples {
        let mut ids: Vec<usize> = example.candidates.iter().flatten().copied().collect();
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter().for_each(|id| seen[id] += 1);
    }
    println!("{:>8} {:>8} {:>8} {:>8}", "least p", "right", "harm", "deleted");
    let thresholds = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
    let mut results = vec![[0_usize; 3]; thresholds.len()];
    let mut total = 0;
    for fold in 0..FOLDS {
        let weights = train(&examples, &seen, |example| example.row % FOLDS != fold);
        let tested: Vec<&Example> = examples.iter().filter(|e| e.row < dialogue && e.row % FOLDS == fold).collect();
        total += (0..dialogue).filter(|row| row % FOLDS == fold).count();
        for (result, least) in results.iter_mut().zip(thresholds) {
            score(&tested, &weights, least, result);
        }
    }
    for (result, least) in results.iter().zip(thresholds) {
        #[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^52")]
        let share = |n: usize| n as f64 / total as f64;
        println!("{least:8.1} {:8.3} {:8.4} {:8.3}", share(result[0]), share(result[1]), share(result[2]));
    }

    let weights = train(&examples, &seen, |_| true);
    let mut lines: Vec<(&str, f32)> = names.iter().map(|(name, &id)| (name.as_str(), weights[id])).collect();
    lines.retain(|(_, weight)| weight.abs() >= LEAST_WEIGHT);
    lines.sort_by_key(|(name, _)| *name);
    let mut table = String::from("# log-odds, evidence: written by `npm run fit -- repairs`\n");
    for (name, weight) in &lines {
        let _ = writeln!(table, "{weight:.2}\t{name}");
    }
    println!("{} weights", lines.len());
    fs::write(WEIGHTS, table).map_err(|why| format!("{WEIGHTS}: {why}"))
}

/// The rows of a set, each of the same `weight`.
pub fn read(path: &Path, weight: f32) -> Result<Vec<Row>, String> {
    let file = fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))?;
    let mut rows = vec![];
    for line in file.lines().filter(|line| !line.trim().is_empty()) {
        let row: Value = serde_json::from_str(line).map_err(|why| format!("{}: {why}", path.display()))?;
        let (Some(input), Some(expected)) = (row["input"].as_str(), row["expected"].as_str()) else { continue };
        let accepted = row["accept"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let golds = std::iter::once(expected).chain(accepted).map(str::to_owned).collect();
        rows.push(Row { input: input.to_owned(), golds, weight });
    }
    Ok(rows)
}

/// A fluent text made disfluent, or one that only looks so and must stay.
fn noise(text: &str, seed: usize) -> Row {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = |salt: usize, below: usize| {
        (seed.wrapping_mul(0x9e37_79b9).wrapping_add(salt * 0x85eb_ca6b) >> 7) % below.max(1)
    };
    let place = 1 + at(1, words.len().saturating_sub(1));
    let place = place.min(words.len());
    let insert = |extra: &[&str]| [&words[..place], extra, &words[place..]].concat().join(" ");
    const MARKERS: [&str; 6] = ["i mean", "no wait", "sorry", "no", "or rather", "wait"];
    let (input, gold) = match seed % 4 {
        // The last words are said again after a marker.
        0 => {
            let from = place.saturating_sub(1 + at(2, 3));
            let again = [&[MARKERS[at(3, MARKERS.len())]], &words[from..place]].concat();
            (insert(&again), text.to_owned())
        }
        // Two texts with a phrase between them that joins and takes nothing back.
        1 => {
            let phrase =
                ["and no one knows", "or not", "and i'm sorry", "but no matter", "as i mean it", "or so they say"];
            let text = insert(&[phrase[at(4, phrase.len())]]);
            (text.clone(), text)
        }
        // A text as it is.
        _ => (text.to_owned(), text.to_owned()),
    };
    Row { input, golds: vec![gold], weight: 0.5 }
}

/// The words of a text as they are compared.
pub fn words(text: &str) -> Vec<String> {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'");
    text.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect()
}

fn example(
    row: usize,
    Row { input, golds, weight }: &Row,
    interrupted: &Interrupted,
    open: usize,
    names: &mut HashMap<String, usize>,
) -> Option<Example> {
    let golds: Vec<Vec<String>> = golds.iter().map(|gold| words(gold)).collect();
    let nearest = |text: &[String]| golds.iter().map(|gold| distance(text, gold)).min().unwrap_or(0);
    let distances: Vec<usize> = interrupted.texts.iter().map(|text| nearest(&words(text))).collect();
    let least = *distances.iter().min()?;
    // Where a row was rewritten or has several interruptions, what comes clearly nearer is right.
    let right = distances.iter().position(|distance| *distance == least)?;
    let clear = least == 0 || right == 0 && open > 1 || least * 3 <= distances[0];
    clear.then(|| Example {
        row,
        candidates: interrupted
            .evidence
            .iter()
            .map(|evidence| {
                let mut id = |name: &String| {
                    let next = names.len();
                    *names.entry(name.clone()).or_insert(next)
                };
                evidence.iter().map(&mut id).collect()
            })
            .collect(),
        right,
        raw_distance: nearest(&words(input)),
        distances,
        weight: *weight,
    })
}

fn train(examples: &[Example], seen: &[usize], used: impl Fn(&Example) -> bool) -> Vec<f32> {
    let mut weights = vec![0.0_f32; seen.len()];
    let mut squares = vec![1e-2_f32; seen.len()];
    let used: Vec<&Example> = examples.iter().filter(|example| used(example)).collect();
    for pass in 0..PASSES {
        // A fixed order that differs from pass to pass: a step that shares no factor with the length.
        let step = (used.len() / 3 + 7 * pass + 1) | 1;
        let step = (step..).find(|step| gcd(*step, used.len()) == 1).unwrap_or(1);
        for n in 0..used.len() {
            let example = used[n * step % used.len()];
            let probabilities = probabilities(&example.candidates, &weights);
            for (c, (evidence, p)) in example.candidates.iter().zip(&probabilities).enumerate() {
                let error = (p - f32::from(u8::from(c == example.right))) * example.weight;
                for &id in evidence.iter().filter(|id| seen[**id] >= LEAST_SEEN) {
                    let gradient = error + PULL * weights[id];
                    squares[id] += gradient * gradient;
                    weights[id] -= RATE * gradient / squares[id].sqrt();
                }
            }
        }
    }
    weights
}

fn probabilities(candidates: &[Vec<usize>], weights: &[f32]) -> Vec<f32> {
    let scores: Vec<f32> = candidates.iter().map(|evidence| evidence.iter().map(|id| weights[*id]).sum()).collect();
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    let total: f32 = scores.iter().map(|score| (score - most).exp()).sum();
    scores.iter().map(|score| (score - most).exp() / total).collect()
}

/// Adds the rows that come out right, those that come out worse than they were, and those that are changed at all.
fn score(examples: &[&Example], weights: &[f32], least: f32, result: &mut [usize; 3]) {
    let mut at = 0;
    while at < examples.len() {
        let row = examples[at].row;
        let of_row: Vec<&&Example> = examples[at..].iter().take_while(|example| example.row == row).collect();
        at += of_row.len();
        let choice = |example: &Example| {
            let probabilities = probabilities(&example.candidates, weights);
            let best =
                (0..probabilities.len()).max_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b])).unwrap_or(0);
            if probabilities[best] >= least { (best, probabilities[best]) } else { (0, 0.0) }
        };
        let chosen = of_row.iter().map(|example| (choice(example), example));
        let Some(((best, _), example)) = chosen
            .max_by(|a, b| (a.0.0 > 0, a.0.1).partial_cmp(&(b.0.0 > 0, b.0.1)).unwrap_or(std::cmp::Ordering::Equal))
        else {
            continue;
        };
        result[0] += usize::from(example.distances[best] == 0);
        result[1] += usize::from(example.distances[best] > example.raw_distance);
        result[2] += usize::from(best > 0);
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
