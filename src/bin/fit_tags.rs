//! Fits how much the words of a note and a model's scores count towards its intent.
//!
//! ```text
//! npm run fit-tags -- MODEL.gguf [ROWS.jsonl …]
//! ```
//!
//! The rows are those of `tests/data/tasks/tag_more.jsonl` whose `split` begins with `unseen`: no cue was written after
//! seeing them, so that cues get no more weight than they earn on notes of strangers. Each half is first judged by the
//! weights of the other, then all of them give `src/tasks/tag/words/weights.json`. More files add more rows. The same rows
//! and model give the same numbers.

use std::fs;
use std::process::ExitCode;
use std::sync::Arc;

use fairhand::decode::{Scorer, Scoring, Session};
use fairhand::model::{Loader, Model};
use fairhand::tasks::tag::{
    Intent, MAX_NOTE_TOKENS, SURE, WEIGHED, Weights, classes, intent_cues, judge, likeliest, standing,
};
use fairhand::tokenizer::{Special, Tokenizer};
use serde::Deserialize;

const ROWS: &str = "tests/data/tasks/tag_more.jsonl";
const WEIGHTS: &str = "src/tasks/tag/words/weights.json";
const STEPS: usize = 3000;
const RATE: f32 = 0.3;
/// Keeps the biases small: there are more intents than notes of some of them.
const SHRINK: f32 = 0.01;

#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    split: String,
    input: String,
    expected: Expected,
    #[serde(default)]
    accept_intents: Vec<Intent>,
}

#[derive(Deserialize)]
struct Expected {
    intent: Intent,
}

/// What is known of a note, and its intent's place in [`Intent::ALL`].
struct Sample {
    cues: [f32; 6],
    standing: Vec<f32>,
    intent: usize,
    accepted: Vec<usize>,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("give the path of a GGUF file")?;
    let mut rows = read(ROWS)?;
    rows.retain(|row| row.split.starts_with("unseen"));
    for file in arguments {
        rows.extend(read(&file)?);
    }
    let samples = measure(&path, &rows).map_err(|why| why.to_string())?;
    let halves: [Vec<&Sample>; 2] = [0, 1].map(|half| samples.iter().skip(half).step_by(2).collect());
    for (train, test) in [(0, 1), (1, 0)] {
        let weights = fit(&halves[train]);
        println!("half {test}, by the weights of half {train}: {}", right(&halves[test], &weights));
    }
    let all: Vec<&Sample> = samples.iter().collect();
    let weights = fit(&all);
    println!("all by their own weights: {}", right(&all, &weights));
    let cues_alone = Weights { cues: 1.0, model: 0.0, bias: [0.0; 6] };
    println!("all by cues alone: {}", right(&all, &cues_alone));
    let text = serde_json::to_string_pretty(&weights).map_err(|why| why.to_string())?;
    fs::write(WEIGHTS, text + "\n").map_err(|why| format!("{WEIGHTS}: {why}"))
}

fn read(path: &str) -> Result<Vec<Row>, String> {
    let file = fs::read_to_string(path).map_err(|why| format!("{path}: {why}"))?;
    file.lines().map(|line| serde_json::from_str(line).map_err(|why| format!("{path}: {why}"))).collect()
}

/// Scores every note after every class's prefix.
fn measure(path: &str, rows: &[Row]) -> fairhand::Result<Vec<Sample>> {
    let bytes = fs::read(path).unwrap_or_else(|why| panic!("{path}: {why}"));
    let mut loader = Loader::new(Some(bytes.len() as u64));
    loader.push(&bytes)?;
    let (header, model) = loader.finish()?;
    let (model, tokenizer) = (Arc::new(model), Tokenizer::from_metadata(&header.metadata)?);
    let mut scores = vec![vec![]; rows.len()];
    let mut lengths = vec![1; rows.len()];
    for class in classes() {
        let prefix = tokenizer.encode(&class.prefix(), Special::AsText)?;
        let mut session = Session::new(&model, prefix.len() + MAX_NOTE_TOKENS)?;
        for (k, row) in rows.iter().enumerate() {
            let mut note = tokenizer.encode(&format!(" {}", row.input.trim()), Special::AsText)?;
            note.truncate(MAX_NOTE_TOKENS);
            lengths[k] = note.len();
            let (total, back) = score(&model, session, &prefix, note)?;
            scores[k].push(total);
            session = back;
        }
    }
    let place = |intent: &Intent| Intent::ALL.iter().position(|other| other == intent);
    let sample = |(row, (scores, tokens)): (&Row, (&Vec<f32>, usize))| {
        let cues = intent_cues(&row.input);
        let weighed: Vec<_> = scores.iter().zip(cues).map(|(&score, p)| (p >= WEIGHED).then_some(score)).collect();
        Sample {
            cues,
            standing: standing(&weighed, tokens),
            intent: place(&row.expected.intent).unwrap_or(0),
            accepted: row.accept_intents.iter().filter_map(place).collect(),
        }
    };
    Ok(rows.iter().zip(scores.iter().zip(lengths)).map(sample).collect())
}

fn score(model: &Arc<Model>, session: Session, prefix: &[u32], note: Vec<u32>) -> fairhand::Result<(f32, Session)> {
    let mut scorer = Scorer::new(Arc::clone(model), session, prefix, &[note])?;
    while scorer.step()? == Scoring::More {}
    let (scores, session) = scorer.finish()?;
    Ok((scores.totals()[0], session))
}

/// Logistic regression by plain gradient descent: the rows are few, and the sum of losses has one lowest place.
fn fit(samples: &[&Sample]) -> Weights {
    let mut weights = Weights { cues: 0.8, model: 1.0, bias: [0.0; 6] };
    for _ in 0..STEPS {
        let (mut cues, mut model, mut bias) = (0.0, 0.0, [0.0; 6]);
        for sample in samples {
            let judged = judge(sample.cues, &sample.standing, &weights);
            for k in 0..6 {
                let error = judged[k] - f32::from(k == sample.intent);
                cues += error * sample.cues[k].max(1e-4).ln();
                model += error * sample.standing[k];
                bias[k] += error;
            }
        }
        let step = RATE / samples.len() as f32;
        weights.cues -= step * cues;
        weights.model -= step * model;
        for k in 0..6 {
            weights.bias[k] -= step * bias[k] + RATE * SHRINK * weights.bias[k];
        }
    }
    let rounded = |x: f32| (x * 1000.0).round() / 1000.0;
    Weights { cues: rounded(weights.cues), model: rounded(weights.model), bias: weights.bias.map(rounded) }
}

/// How many intents are right, as the package judges: settled by cues where they are sure.
fn right(samples: &[&Sample], weights: &Weights) -> String {
    let is_right = |sample: &&&Sample| {
        let settled = sample.cues.iter().any(|&p| p >= SURE);
        let judged = if settled { sample.cues } else { judge(sample.cues, &sample.standing, weights) };
        let said = likeliest(&judged);
        said == sample.intent || sample.accepted.contains(&said)
    };
    format!("{} of {}", samples.iter().filter(is_right).count(), samples.len())
}
