//! Fits how much rules and a model's scores count towards a note's intent and towards its topic.
//!
//! ```text
//! npm run fit-tags -- MODEL.gguf
//! ```
//!
//! Intents are fitted on the rows of `tests/data/tasks/tag_spoken.jsonl` with the split `fit`: no cue was written after seeing
//! them, so that cues get no more weight than they earn on notes of strangers. Topics are fitted on these, on those of
//! `tag_fresh.jsonl` with the split `fit`, and on all of `tag_more.jsonl`. The rows with the split `blind` are judged and nothing else.
//! Rows are first judged by the weights of others, then all of them give `src/tasks/tag/words/weights.json` and `topics.json`.
//! The same rows and model give the same numbers.

mod intents;
mod topics;

use std::fs;
use std::process::ExitCode;
use std::sync::Arc;

use fairhand::decode::{Scorer, Scoring, Session};
use fairhand::model::{Loader, Model};
use fairhand::tasks::tag::{Intent, Likelihood};
use fairhand::tokenizer::{Special, Tokenizer};
use serde::{Deserialize, Serialize};

const ROWS: &str = "tests/data/tasks/tag_more.jsonl";
const FRESH_ROWS: &str = "tests/data/tasks/tag_fresh.jsonl";
const SPOKEN_ROWS: &str = "tests/data/tasks/tag_spoken.jsonl";
const WORDS: &str = "src/tasks/tag/words";

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
    topics: Vec<String>,
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
    let path = std::env::args().nth(1).ok_or("give the path of a GGUF file")?;
    let mut model = Weigher::new(&path)?;
    let (rows, fresh, spoken) = (read(ROWS)?, read(FRESH_ROWS)?, read(SPOKEN_ROWS)?);
    let (fit, blind): (Vec<&Row>, Vec<&Row>) = fresh.iter().chain(&spoken).partition(|row| row.split == "fit");
    let unseen: Vec<&Row> = spoken.iter().filter(|row| row.split == "fit").collect();
    let weights = intents::fit(&mut model, &unseen, &blind).map_err(|why| why.to_string())?;
    write("weights.json", &weights)?;
    let training: Vec<&Row> = rows.iter().chain(fit).collect();
    let weights = topics::fit(&mut model, &training, &blind).map_err(|why| why.to_string())?;
    write("topics.json", &weights)
}

fn read(path: &str) -> Result<Vec<Row>, String> {
    let file = fs::read_to_string(path).map_err(|why| format!("{path}: {why}"))?;
    file.lines().map(|line| serde_json::from_str(line).map_err(|why| format!("{path}: {why}"))).collect()
}

fn write(name: &str, weights: &impl Serialize) -> Result<(), String> {
    let text = serde_json::to_string_pretty(weights).map_err(|why| why.to_string())?;
    fs::write(format!("{WORDS}/{name}"), text + "\n").map_err(|why| format!("{name}: {why}"))
}

fn rounded(weight: f32) -> f32 {
    (weight * 1000.0).round() / 1000.0
}

/// A model that says how likely texts are.
struct Weigher {
    model: Arc<Model>,
    tokenizer: Tokenizer,
    /// What was read last; a beginning that is asked for again is not read again.
    session: Option<Session>,
}

impl Weigher {
    fn new(path: &str) -> Result<Self, String> {
        let bytes = fs::read(path).map_err(|why| format!("{path}: {why}"))?;
        let mut loader = Loader::new(Some(bytes.len() as u64));
        let load = |loader: &mut Loader| loader.push(&bytes);
        load(&mut loader).map_err(|why| why.to_string())?;
        let (header, model) = loader.finish().map_err(|why| why.to_string())?;
        let tokenizer = Tokenizer::from_metadata(&header.metadata).map_err(|why| why.to_string())?;
        Ok(Self { model: Arc::new(model), tokenizer, session: None })
    }

    fn count(&self, text: &str) -> fairhand::Result<usize> {
        self.tokenizer.encode(text, Special::AsText).map(|tokens| tokens.len())
    }

    /// How likely each of `texts` is after `beginning`, by its first `most` tokens.
    fn weigh(&mut self, beginning: &str, texts: &[String], most: usize) -> fairhand::Result<Vec<Likelihood>> {
        let encode = |text: &str| self.tokenizer.encode(text, Special::AsText);
        let beginning = encode(beginning)?;
        let first = |text: &String| encode(text).map(|tokens| tokens.into_iter().take(most).collect());
        let texts: Vec<Vec<u32>> = texts.iter().map(first).collect::<fairhand::Result<_>>()?;
        let session = match self.session.take() {
            Some(session) => session,
            None => Session::new(&self.model, 1024)?,
        };
        let mut scorer = Scorer::new(Arc::clone(&self.model), session, &beginning, &texts)?;
        while scorer.step()? == Scoring::More {}
        let (scores, session) = scorer.finish()?;
        self.session = Some(session);
        let likelihood = |(log_probability, text): (f32, &Vec<u32>)| Likelihood { log_probability, tokens: text.len() };
        Ok(scores.totals().into_iter().zip(&texts).map(likelihood).collect())
    }
}
