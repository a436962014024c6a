//! Files of cases, each judged three ways.

use serde_json::Value;

use super::judge::{Outcome, World, judge_grammar, judge_schema};

fn read(file: &str) -> Vec<Value> {
    let path = format!("{}/tests/data/grammar/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("the file is there")).expect("the file is JSON")
}

#[test]
fn gbnf_cases() {
    let world = World::new();
    let mut deviations = Vec::new();
    for case in read("gbnf_cases.json") {
        let name = case["name"].as_str().expect("a case has a name");
        match judge_grammar(&world, &case) {
            Outcome::Passed => {}
            Outcome::Deviates(reason) => deviations.push((name.to_owned(), reason)),
            Outcome::Failed(failures) => panic!("{name}: {failures:#?}"),
        }
    }
    let expected = [
        ("a later definition replaces an earlier one", "a rule is defined once"),
        ("newline before the definition sign", "line breaks are free, and a byte order mark is skipped"),
        ("newline before a bar at top level", "line breaks are free, and a byte order mark is skipped"),
        ("newline in a sequence at top level", "line breaks are free, and a byte order mark is skipped"),
        ("newline before an operator at top level", "line breaks are free, and a byte order mark is skipped"),
        ("byte order mark", "line breaks are free, and a byte order mark is skipped"),
    ];
    assert_eq!(deviations, expected.map(|(name, reason)| (name.to_owned(), reason)));
}

#[test]
fn more_gbnf_cases() {
    let world = World::new();
    for case in read("gbnf_more_cases.json") {
        assert_eq!(judge_grammar(&world, &case), Outcome::Passed, "{}", case["name"]);
    }
}

#[test]
fn json_schema_cases() {
    let world = World::new();
    for case in read("json_schema_cases.json") {
        assert_eq!(judge_schema(&world, &case), Outcome::Passed, "{}", case["name"]);
    }
}
