//! Prints how good the answers are on every set of a folder: cleanup by rules and by rules and model beside doing nothing;
//! tasks, tags and steps beside rules alone and beside one free call to the model. `reach` is the share of rows whose right
//! answer is among the rules' proposals: what a better choice could give.
//!
//! ```text
//! npm run eval [-- FOLDER [--only PART] [--diff SET] [--injections N]]
//! ```
//!
//! The folder holds `own/*.jsonl` and `third-party/*/*.jsonl`; a row has `input`, `expected` and perhaps `accept`, `keep`,
//! `dictionary` and `language`. The last line is one JSON object `{set: {metric: value}}`: plain names are the package's own
//! way, with the model where there is one, `rules_` is rules alone, `raw_` the text as it was. With `--only` just the sets
//! whose names hold PART are judged; with `--diff` the rows of a set that come out wrong are printed. `--injections` cleans N
//! texts that give orders, those of the folder and others made up, and judges nothing else.

mod cleaning;
mod distance;
mod injections;
mod powers;
mod score;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fairhand::completion::{Engine, EngineOptions};
use serde_json::{Map, Value};

use cleaning::Set;
use powers::Powers;

const DEFAULT_FOLDER: &str = "../shared/data";
/// Of the model's context: more than any row needs.
const CONTEXT: usize = 2048;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(why) => {
            eprintln!("eval: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode, String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let named = |option: &str| arguments.iter().position(|a| a == option).and_then(|i| arguments.get(i + 1)).cloned();
    let (diff, only) = (named("--diff"), named("--only").unwrap_or_default());
    let folder = arguments.first().filter(|a| !a.starts_with("--")).map_or(DEFAULT_FOLDER, String::as_str);
    let folder = PathBuf::from(folder);

    let mut sets = vec![];
    for part in ["own", "third-party"] {
        let found = files_under(&folder.join(part));
        if found.is_empty() {
            println!("{part}: not there, skipped");
        }
        sets.extend(found);
    }
    if sets.is_empty() {
        let folder = folder.display();
        return Err(format!("{folder} holds no sets: give a folder with own/*.jsonl or third-party/*/*.jsonl"));
    }
    let engine = read_model()?;
    if let Some(number) = named("--injections") {
        let number = number.parse().map_err(|_| format!("{number} is no number"))?;
        return injections::judge(&sets, engine.as_ref(), number);
    }

    let mut all = Map::new();
    let mut broken = 0;
    let mut others = vec![];
    cleaning::print_header();
    for path in sets {
        let name = path.strip_prefix(&folder).unwrap_or(&path).with_extension("").display().to_string();
        if !name.contains(&only) {
            continue;
        }
        match Set::read(&path).map_err(|why| format!("{name}: {why}"))? {
            set if set.rows.is_empty() => others.push((name, path)),
            set => broken += set.report(&name, engine.as_ref(), &mut all, diff.as_deref() == Some(&name))?,
        }
    }
    println!("rows whose edits do not give the text, or the raw text back: {broken}\n");
    if !others.is_empty() {
        let powers = Powers::new(engine, diff);
        for (name, path) in others {
            if !powers.report(&name, &path, &mut all).map_err(|why| format!("{name}: {why}"))? {
                println!("{name:34} has no rows that are known, skipped");
            }
        }
    }
    println!("{}", Value::Object(all));
    Ok(if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The model, if there is one: at `FAIRHAND_MODEL`, or in the cache that `npm test` fills.
fn read_model() -> Result<Option<Engine>, String> {
    let var = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = || var("XDG_CACHE_HOME").or_else(|| var("HOME").map(|home| home.join(".cache")));
    let path = var("FAIRHAND_MODEL")
        .or_else(|| cache().map(|cache| cache.join("fairhand/models/SmolLM2-135M-Instruct.Q4_1.gguf")))
        .filter(|path| path.exists());
    let Some(path) = path else {
        println!("no model: rules alone are judged, and steps are skipped");
        return Ok(None);
    };
    let bytes = fs::read(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    let options = EngineOptions { context_size: Some(CONTEXT), ..Default::default() };
    Engine::read(&bytes, options).map(Some).map_err(|why| format!("{}: {why}", path.display()))
}

fn files_under(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .flat_map(|entry| match entry.path() {
            path if path.is_dir() => files_under(&path),
            path if path.extension().is_some_and(|e| e == "jsonl") => vec![path],
            _ => vec![],
        })
        .collect();
    files.sort();
    files
}
