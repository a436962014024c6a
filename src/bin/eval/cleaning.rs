//! Cleanup: how good the answers are by rules alone and by rules and model, beside the raw text.

use std::fs;
use std::path::Path;

use fairhand::completion::{CleanupMode, Engine, Outcome, Request, Task, start_without_model};
use fairhand::tasks::cleanup::{Cleaned, CleanupOptions, EditKind, Level, Preset, apply, clean, interruptions, revert};
use serde_json::{Map, Value, json};

use crate::score::{Row, Score, words};

pub fn print_header() {
    let columns = ["raw", "rules", "model"];
    let groups = [("words exact", 3), ("harm", 2), ("overdel", 2), ("kept", 2), ("marks", 3), ("full stops", 2)];
    let groups = groups.iter().chain(&[("questions", 2), ("case", 3)]);
    print!("{:34} {:6} {:>4} {:>5}", "", "", "", "");
    groups.clone().for_each(|(name, n)| print!(" | {name:<0$}", 7 * n - 1));
    println!(" | tokens");
    print!("{:34} {:6} {:>4} {:>5}", "set", "must", "rows", "reach");
    groups.for_each(|(_, n)| {
        let line: Vec<String> = columns[3 - n..].iter().map(|column| format!("{column:>6}")).collect();
        print!(" | {}", line.join(" "));
    });
    println!(" | per 100 words");
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

/// The rows of a file that are cleanups.
pub struct Set {
    pub rows: Vec<(Row, CleanupOptions)>,
    /// Real speech, word for word.
    are_turns: bool,
}

impl Set {
    pub fn read(path: &Path) -> Result<Self, String> {
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
        Ok(Self { rows, are_turns: turns })
    }

    /// Prints the set's lines, adds its metrics to `all`, and returns how many rows' edits are unsound.
    pub fn report(
        &self,
        name: &str,
        engine: Option<&Engine>,
        all: &mut Map<String, Value>,
        diff: bool,
    ) -> Result<usize, String> {
        let mut scores = [(); 3].map(|()| [(); 3].map(|()| Score::default()));
        let (mut broken, mut reach) = (0, [0_usize; 3]);
        let (mut tokens, mut said) = ([0_usize; 3], [0_usize; 3]);
        for (row, options) in &self.rows {
            let rules = cleaned(None, &row.input, options)?;
            let judged = match engine {
                Some(_) => cleaned(engine, &row.input, options)?,
                None => rules.clone(),
            };
            broken += usize::from(!is_sound(&row.input, &rules.0)) + usize::from(!is_sound(&row.input, &judged.0));
            let stays = row.golds.iter().any(|gold| words(gold) == words(&row.input));
            let half = if stays { 2 } else { 1 };
            let right = |text: &str| row.golds.iter().any(|gold| words(gold) == words(text));
            let within_reach = right(&rules.0.text) || others(&row.input, options).iter().any(|text| right(text));
            for part in [0, half] {
                for (score, text) in scores[part].iter_mut().zip([&row.input, &rules.0.text, &judged.0.text]) {
                    score.add_row(row, text);
                }
                reach[part] += usize::from(within_reach);
                tokens[part] += judged.1;
                said[part] += row.input.split_whitespace().count();
            }
            if diff && !(right(&judged.0.text) && right(&rules.0.text)) {
                println!(
                    "  {}  {}\n     → {}\n     → {}\n     ≠ {}",
                    if stays { "stay  " } else { "change" },
                    row.input,
                    rules.0.text,
                    judged.0.text,
                    row.golds[0]
                );
            }
        }
        let parts = [("", ""), ("_change", "change"), ("_stay", "stay")];
        let mut metrics = Map::new();
        let rounded = |value: f64| json!((value * 10_000.0).round() / 10_000.0);
        for (part, (suffix, must)) in parts.into_iter().enumerate() {
            let rows = scores[part][0].rows();
            if rows == 0 {
                continue;
            }
            let found = scores[part].each_ref().map(Score::metrics);
            let column = |metric: &str, from: usize| {
                let of =
                    |metrics: &Vec<(&str, f64)>| metrics.iter().find(|(name, _)| *name == metric).map_or(0.0, |m| m.1);
                found[from..].iter().map(|metrics| format!("{:6.3}", of(metrics))).collect::<Vec<_>>().join(" ")
            };
            let reach = reach[part] as f64 / rows as f64;
            let cost = 100.0 * tokens[part] as f64 / said[part].max(1) as f64;
            print!("{name:34} {must:6} {rows:4} {reach:5.3} | {}", column("words_exact", 0));
            ["harm", "overdel", "kept"].iter().for_each(|metric| print!(" | {}", column(metric, 1)));
            print!(" | {}", column("punct_F", 0));
            ["punct_stop_F", "punct_question_F"].iter().for_each(|metric| print!(" | {}", column(metric, 1)));
            println!(" | {} | {cost:6.0}", column("case_F", 0));
            let ways = if engine.is_some() { &[(1, "rules_"), (2, "")][..] } else { &[(1, "")] };
            for &(way, prefix) in ways {
                for (metric, value) in &found[way] {
                    metrics.insert(format!("{prefix}{metric}{suffix}"), rounded(*value));
                }
            }
            metrics.insert(format!("reach{suffix}"), rounded(reach));
            for (metric, value) in &found[0] {
                if ["exact", "words_exact", "punct_F", "case_F"].contains(metric) {
                    metrics.insert(format!("raw_{metric}{suffix}"), rounded(*value));
                }
            }
        }
        if self.are_turns {
            self.report_taken_back(name, engine, &mut metrics)?;
        }
        all.insert(name.to_owned(), Value::Object(metrics));
        Ok(broken)
    }

    /// Prints how many words of fluent speech are deleted as if the speaker had taken them back.
    fn report_taken_back(
        &self,
        name: &str,
        engine: Option<&Engine>,
        metrics: &mut Map<String, Value>,
    ) -> Result<(), String> {
        let (mut said, mut deleted) = (0, [0_usize; 2]);
        for (row, options) in &self.rows {
            let options = CleanupOptions { level: Level::Clean, ..options.clone() };
            said += row.input.split_whitespace().count();
            for (deleted, engine) in deleted.iter_mut().zip([None, engine]) {
                let edits = cleaned(engine, &row.input, &options)?.0.edits;
                let taken_back = edits.iter().filter(|edit| edit.kind == EditKind::Correction);
                *deleted += taken_back.map(|edit| edit.original.split_whitespace().count()).sum::<usize>();
            }
        }
        let share = deleted.map(|deleted| deleted as f64 / f64::from(u32::try_from(said).unwrap_or(u32::MAX)).max(1.0));
        println!("{name:34} words taken back at level clean: rules {:.4}, model {:.4}", share[0], share[1]);
        metrics.insert("rules_taken_back".into(), json!(share[0]));
        metrics.insert("taken_back".into(), json!(share[1]));
        Ok(())
    }
}

/// The answer of `engine`, or of the rules alone, and how many tokens were read for it.
pub fn cleaned(engine: Option<&Engine>, text: &str, options: &CleanupOptions) -> Result<(Cleaned, usize), String> {
    let task = Task::Cleanup { text: text.to_owned(), options: options.clone(), mode: CleanupMode::Choose };
    let request = Request { task, call: Default::default(), generation: Default::default() };
    let answered = || {
        let mut job = match engine {
            Some(engine) => engine.start(request)?,
            None => start_without_model(request)?,
        };
        while !job.step(0.0)?.done {}
        Ok((job.result()?, job.usage().prompt_tokens))
    };
    match answered().map_err(|why: fairhand::Error| why.to_string())? {
        (Outcome::Cleanup(outcome), tokens) => Ok((outcome.cleaned, tokens)),
        _ => Err("a cleanup gave something else".into()),
    }
}

/// Whether the edits give the text, and the raw text back.
pub fn is_sound(raw: &str, cleaned: &Cleaned) -> bool {
    apply(raw, &cleaned.edits) == cleaned.text && revert(&cleaned.text, &cleaned.edits).as_deref() == Some(raw)
}
