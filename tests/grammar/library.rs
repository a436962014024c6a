//! The grammars in `grammars/`.

use std::sync::Arc;

use fairhand::grammar::{Constraint, Grammar};
use fairhand::tokenizer::TokenId;
use serde_json::Value;

use super::judge::{World, judge_texts};
use super::random::Choices;

fn text(path: &str) -> String {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn every_file_has_cases_and_keeps_them() {
    let world = World::new();
    let cases: Vec<Value> = serde_json::from_str(include_str!("../data/grammar/library_cases.json")).unwrap();
    let mut tested: Vec<String> = Vec::new();
    for case in &cases {
        let file = case["file"].as_str().unwrap();
        let source = text(&format!("grammars/{file}"));
        let grammar = Arc::new(Grammar::parse(&source).unwrap_or_else(|error| panic!("{file}: {error}")));
        let failures = judge_texts(&world, &grammar, &source, case);
        assert!(failures.is_empty(), "{file}: {failures:#?}");
        tested.push(file.to_owned());
    }
    let folder = format!("{}/grammars", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = files.filter(|file| file.ends_with(".gbnf")).collect();
    files.sort();
    tested.sort();
    assert_eq!(files, tested);
}

/// One sentence, at random and within a budget.
pub fn sample(constraint: &mut Constraint, world: &World, choices: &mut Choices, spare: usize) -> Vec<u8> {
    constraint.reset();
    let mut left = constraint.min_tokens().unwrap() + spare;
    let mut output = Vec::new();
    while !constraint.is_finished() {
        let allowed: Vec<TokenId> = constraint.mask(Some(left)).unwrap().iter().collect();
        let next = allowed[choices.below(allowed.len())];
        constraint.push(next).unwrap();
        output.extend_from_slice(world.vocabulary.bytes(next));
        left -= 1;
    }
    output
}

/// What the tasks may write, the grammars that this project grew from would have let through, too.
#[test]
fn tasks_stay_inside_the_grammars_they_grew_from() {
    let world = World::new();
    for file in ["content-tags.gbnf", "task-array.gbnf", "optional-task-array.gbnf"] {
        let seed = Grammar::parse(&text(&format!("tests/data/grammar/seed/{file}"))).unwrap();
        let ours = Arc::new(Grammar::parse(&text(&format!("grammars/{file}"))).unwrap());
        let mut constraint = Constraint::new(ours, world.trie.clone()).unwrap();
        let mut choices = Choices(7);
        for run in 0..400 {
            let output = sample(&mut constraint, &world, &mut choices, run % 120);
            assert!(seed.matches(&output), "{file}: {}", String::from_utf8_lossy(&output));
            serde_json::from_slice::<Value>(&output).unwrap_or_else(|error| panic!("{file}: {error}"));
        }
    }
}

#[test]
fn json_is_json() {
    let world = World::new();
    let grammar = Arc::new(Grammar::parse(&text("grammars/json.gbnf")).unwrap());
    let mut constraint = Constraint::new(grammar, world.trie.clone()).unwrap();
    let mut choices = Choices(11);
    for run in 0..400 {
        let output = sample(&mut constraint, &world, &mut choices, run % 60);
        // Numbers beyond a double's range are JSON, but not to this reader.
        if let Err(error) = serde_json::from_slice::<Value>(&output) {
            assert!(error.to_string().contains("out of range"), "{error}: {}", String::from_utf8_lossy(&output));
        }
    }
}
