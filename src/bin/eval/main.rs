//! Prints how good the answers are on every set of a folder: cleanup beside doing nothing; tasks, tags and steps beside
//! rules alone and beside one free call to the model. `reach` is the share of rows whose right answer is among the rules'
//! proposals: what a better choice could give.
//!
//! ```text
//! npm run eval [-- FOLDER [--diff SET]]
//! ```
//!
//! The folder holds `own/*.jsonl` and `third-party/*/*.jsonl`; a row has `input`, `expected` and perhaps `accept`, `keep`,
//! `dictionary` and `language`. The last line is one JSON object `{set: {metric: value}}`. With `--diff` the rows of a set
//! that the rules get wrong are printed.

mod distance;
mod powers;
mod score;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fairhand::tasks::cleanup::{CleanupOptions, Level, Preset, apply, clean, interruptions, revert};
use serde_json::{Map, Value, json};

use powers::Powers;
use score::{Row, Score, words};

const DEFAULT_FOLDER: &str = "../shared/data";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let named = |option: &str| arguments.iter().position(|a| a == option).and_then(|i| arguments.get(i + 1)).cloned();
    let diff = named("--diff");
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
        eprintln!("{} holds no sets: give a folder with own/*.jsonl or third-party/*/*.jsonl", folder.display());
        return ExitCode::FAILURE;
    }

    println!(
        "{:34} {:7} {:>5} | {:>6} {:>6} {:>6} | {:>6} {:>6} {:>7} | {:>6} {:>6} {:>6} {:>6} {:>6} | {:>6} {:>6}",
        "", "", "", "words", "exact", "", "", "", "", "marks", "", ",", ".", "?", "case", ""
    );
    println!(
        "{:34} {:7} {:>5} | {:>6} {:>6} {:>6} | {:>6} {:>6} {:>7} | {:>6} {:>6} {:>6} {:>6} {:>6} | {:>6} {:>6}",
        "set",
        "must",
        "rows",
        "raw",
        "rules",
        "reach",
        "harm",
        "kept",
        "overdel",
        "raw",
        "rules",
        "rules",
        "rules",
        "rules",
        "raw",
        "rules"
    );
    let mut all = Map::new();
    let mut broken = 0;
    let mut others = vec![];
    for path in sets {
        let name = path.strip_prefix(&folder).unwrap_or(&path).with_extension("").display().to_string();
        match Set::read(&path) {
            Ok(set) if set.rows.is_empty() => others.push((name, path)),
            Ok(set) => {
                broken += set.report(&name, &mut all, diff.as_deref() == Some(&name));
            }
            Err(why) => {
                eprintln!("{name}: {why}");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("rows whose edits do not give the text, or the raw text back: {broken}\n");
    if !others.is_empty() {
        let powers = Powers::new(diff);
        for (name, path) in others {
            match powers.report(&name, &path, &mut all) {
                Ok(true) => {}
                Ok(false) => println!("{name:34} has no rows that are known, skipped"),
                Err(why) => {
                    eprintln!("{name}: {why}");
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    println!("{}", Value::Object(all));
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
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

/// The texts that other choices among the proposals for one interruption would give.
fn others(raw: &str, options: &CleanupOptions) -> Vec<String> {
    let chunks: Vec<&str> = raw.split_whitespace().collect();
    let without = |(first, last): (usize, usize)| [&chunks[..first], &chunks[last + 1..]].concat().join(" ");
    let open = interruptions(raw, options).unwrap_or_default();
    let candidates = open.iter().flat_map(|interrupted| &interrupted.question.candidates);
    let texts = candidates.map(|candidate| candidate.deletes.map_or_else(|| raw.to_owned(), without));
    texts.filter_map(|text| Some(clean(&text, options).ok()?.text)).collect()
}

struct Set {
    rows: Vec<(Row, CleanupOptions)>,
}

impl Set {
    fn read(path: &Path) -> Result<Self, String> {
        let file = fs::read_to_string(path).map_err(|why| why.to_string())?;
        let turns = path.components().any(|part| part.as_os_str() == "punctuation");
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let preset = match () {
            () if name.contains("code") => Preset::Code,
            () if name.contains("email") => Preset::Email,
            () => Preset::Default,
        };
        let mut rows = vec![];
        for (i, line) in file.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let value: Value = serde_json::from_str(line).map_err(|why| format!("line {}: {why}", i + 1))?;
            let text = |name: &str| value[name].as_str().map(str::to_owned);
            let list = |name: &str| {
                value[name]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|v| v.as_str().map(str::to_owned))
                    .collect::<Vec<_>>()
            };
            let (Some(input), Some(expected)) = (text("input"), text("expected")) else { continue };
            if !value["generator"].is_null() {
                continue;
            }
            let expected = if expected == "unchanged" { input.clone() } else { expected };
            let golds = [vec![expected], list("accept")].concat();
            let options = CleanupOptions {
                // These turns keep every slip of the speaker: they measure marks and case alone.
                level: if turns { Level::Verbatim } else { Level::default() },
                preset,
                dictionary: list("dictionary"),
                language: text("language").or_else(|| text("lang")).filter(|tag| tag != "auto"),
            };
            let row = Row {
                input,
                golds,
                dictionary: options.dictionary.clone(),
                must_not_contain: list("must_not_contain"),
            };
            rows.push((row, options));
        }
        Ok(Self { rows })
    }

    /// Prints the set's lines, adds its metrics to `all`, and returns how many rows' edits are unsound.
    fn report(&self, name: &str, all: &mut Map<String, Value>, diff: bool) -> usize {
        let [mut raw, mut rules] = [(); 2].map(|()| [(); 3].map(|()| Score::default()));
        let (mut broken, mut reach) = (0, [0_usize; 3]);
        for (row, options) in &self.rows {
            let cleaned = match clean(&row.input, options) {
                Ok(cleaned) => cleaned,
                Err(why) => panic!("{name}: {why}"),
            };
            let sound = apply(&row.input, &cleaned.edits) == cleaned.text
                && revert(&cleaned.text, &cleaned.edits).as_deref() == Some(&row.input);
            broken += usize::from(!sound);
            let stays = row.golds.iter().any(|gold| words(gold) == words(&row.input));
            let half = if stays { 2 } else { 1 };
            let right = |text: &str| row.golds.iter().any(|gold| words(gold) == words(text));
            let within_reach = right(&cleaned.text) || others(&row.input, options).iter().any(|text| right(text));
            for part in [0, half] {
                raw[part].add_row(row, &row.input);
                rules[part].add_row(row, &cleaned.text);
                reach[part] += usize::from(within_reach);
            }
            if diff && !row.golds.iter().any(|gold| words(gold) == words(&cleaned.text)) {
                println!(
                    "  {}  {}\n     → {}\n     ≠ {}",
                    if stays { "stay  " } else { "change" },
                    row.input,
                    cleaned.text,
                    row.golds[0]
                );
            }
        }
        let parts = [("", ""), ("_change", "change"), ("_stay", "stay")];
        let mut metrics = Map::new();
        for (part, (suffix, must)) in parts.into_iter().enumerate() {
            if rules[part].rows() == 0 {
                continue;
            }
            let (before, after) = (raw[part].metrics(), rules[part].metrics());
            let of = |metrics: &[(&str, f64)], name: &str| {
                metrics.iter().find(|(n, _)| *n == name).map_or(0.0, |(_, value)| *value)
            };
            let reach = reach[part] as f64 / rules[part].rows() as f64;
            println!(
                "{name:34} {must:7} {:5} | {:6.3} {:6.3} {reach:6.3} | {:6.3} {:6.3} {:7.4} | {:6.3} {:6.3} {:6.3} {:6.3} {:6.3} | {:6.3} {:6.3}",
                rules[part].rows(),
                of(&before, "words_exact"),
                of(&after, "words_exact"),
                of(&after, "harm"),
                of(&after, "kept"),
                of(&after, "overdel"),
                of(&before, "punct_F"),
                of(&after, "punct_F"),
                of(&after, "punct_comma_F"),
                of(&after, "punct_stop_F"),
                of(&after, "punct_question_F"),
                of(&before, "case_F"),
                of(&after, "case_F"),
            );
            for (metric, value) in &after {
                metrics.insert(format!("{metric}{suffix}"), json!((value * 10_000.0).round() / 10_000.0));
            }
            metrics.insert(format!("reach{suffix}"), json!((reach * 10_000.0).round() / 10_000.0));
            for metric in ["exact", "words_exact", "punct_F", "case_F"] {
                metrics.insert(
                    format!("raw_{metric}{suffix}"),
                    json!((of(&before, metric) * 10_000.0).round() / 10_000.0),
                );
            }
        }
        all.insert(name.to_owned(), Value::Object(metrics));
        broken
    }
}
