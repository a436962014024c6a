//! Tasks: recall, precision, junk and grounding.

use std::fmt;

use fairhand::tasks::extract::{Candidate, propose};
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    id: String,
    class: String,
    #[serde(default)]
    split: String,
    input: String,
    /// For each task, groups of which each must have a word in the task.
    #[serde(rename = "match")]
    tasks: Vec<Vec<Vec<String>>>,
    must_not_contain: Vec<String>,
}

fn rows(file: &str) -> Vec<Row> {
    file.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn own() -> Vec<Row> {
    rows(include_str!("../data/tasks/extract.jsonl"))
}

fn more(split: &str) -> Vec<Row> {
    rows(include_str!("../data/tasks/extract_more.jsonl")).into_iter().filter(|row| row.split == split).collect()
}

#[derive(Default)]
struct Score {
    expected: usize,
    recalled: usize,
    proposed: usize,
    right: usize,
    quiet: usize,
    noisy: usize,
    faults: Vec<String>,
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected, recalled, proposed, right, quiet, noisy, .. } = self;
        write!(
            f,
            "recall {recalled}/{expected}, precision {right}/{proposed}, junk {noisy}/{quiet}\n{}",
            self.faults.join("\n")
        )
    }
}

/// Each expected task counts once, and each proposed task can meet one.
fn score(rows: &[Row], keep: impl Fn(&Candidate) -> bool) -> Score {
    let mut score = Score::default();
    for row in rows {
        let tasks: Vec<_> = propose(&row.input).into_iter().filter(&keep).map(|c| c.task.to_lowercase()).collect();
        let mut open: Vec<_> = tasks.iter().collect();
        let meets =
            |task: &str, groups: &[Vec<String>]| groups.iter().all(|any| any.iter().any(|word| task.contains(word)));
        let mut recalled = 0;
        for groups in &row.tasks {
            if let Some(at) = open.iter().position(|task| meets(task, groups)) {
                open.remove(at);
                recalled += 1;
            }
        }
        let forbidden = row.must_not_contain.iter().filter(|bad| tasks.iter().any(|task| task.contains(*bad))).count();
        score.expected += row.tasks.len();
        score.recalled += recalled;
        score.proposed += tasks.len();
        score.right += recalled.saturating_sub(forbidden);
        if row.tasks.is_empty() {
            score.quiet += 1;
            score.noisy += usize::from(!tasks.is_empty());
        }
        if recalled < row.tasks.len() || recalled < tasks.len() || forbidden > 0 {
            score.faults.push(format!("{} ({}): {}\n    → {tasks:?}", row.id, row.class, row.input));
        }
    }
    score
}

#[track_caller]
fn at_least(what: &str, part: usize, whole: usize, floor: f64, score: &Score) {
    assert!(part as f64 >= floor * whole as f64, "{what} {part}/{whole} is below {floor}: {score}");
}

#[track_caller]
fn reaches(rows: &[Row], recall: f64, precision: f64, junk: f64) {
    let score = score(rows, Candidate::is_sure);
    println!("{score}");
    at_least("recall", score.recalled, score.expected, recall, &score);
    at_least("precision", score.right, score.proposed, precision, &score);
    at_least("quiet", score.quiet - score.noisy, score.quiet, 1.0 - junk, &score);
}

#[test]
fn sure_tasks_of_the_projects_rows() {
    reaches(&own(), 0.9, 0.9, 0.05);
}

#[test]
fn sure_tasks_of_the_rows_for_tuning() {
    reaches(&more("tune"), 0.85, 0.9, 0.1);
}

#[test]
fn sure_tasks_of_more_rows() {
    reaches(&more("held"), 0.85, 0.85, 0.1);
}
