//! Judges files of cases: `cases FILE…`, or makes up cases until some time is over: `cases hunt SECONDS [SEED]`.
//!
//! Files are in the format of `tests/data/grammar/gbnf_cases.json`,
//! `json_schema_cases.json` or `mask_oracle.json`.
//!
//! Each case is judged three ways that have to agree: by a naive recogniser that shares no code with the engine, by the
//! engine over bytes, and by tokens through the mask; the oracle's by the masks of the default model's vocabulary.
//! Prints each failure with the case's name, and each deviation from llama.cpp with its reason; closes with
//! `N passed, N failed`.

mod hunt;
#[path = "../../../tests/grammar/judge.rs"]
mod judge;
#[path = "../../../tests/grammar/naive.rs"]
mod naive;
#[path = "../../../tests/grammar/oracle.rs"]
mod oracle;
#[path = "../../../tests/grammar/smollm2.rs"]
mod smollm2;

use std::process::ExitCode;

use judge::{Outcome, World, judge_grammar, judge_schema};
use serde_json::Value;

fn main() -> ExitCode {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        eprintln!("Give the paths of one or more files of cases: npm run cases -- FILE… (or: hunt SECONDS [SEED])");
        return ExitCode::from(2);
    }
    // The naive recogniser is recursive, and some cases nest deep.
    let judge = std::thread::Builder::new().stack_size(512 << 20).spawn(move || match &files[..] {
        [verb, numbers @ ..] if verb == "hunt" => hunt::hunt(numbers),
        files => judge_files(files),
    });
    match judge.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        _ => ExitCode::FAILURE,
    }
}

fn judge_files(files: &[String]) -> ExitCode {
    let world = World::new();
    let (mut passed, mut failed) = (0, 0);
    for file in files {
        let cases = match read(file) {
            Ok(cases) => cases,
            Err(error) => {
                eprintln!("{file}: {error}");
                return ExitCode::from(2);
            }
        };
        for case in &cases {
            let name = case["name"].as_str().unwrap_or("a case without a name");
            let outcome = match case {
                case if case.get("docs").is_some() => {
                    let (tokenizer, trie) = &*smollm2::SMOLLM2;
                    oracle::judge_masks(tokenizer.vocabulary(), trie, case).0
                }
                case if case.get("schema").is_some() => judge_schema(&world, case),
                case if case.get("grammar").is_some() => judge_grammar(&world, case),
                _ => Outcome::Failed(vec!["the case has neither a grammar nor a schema".into()]),
            };
            match outcome {
                Outcome::Passed => passed += 1,
                Outcome::Deviates(reason) => {
                    println!("deviates: {name}: {reason}");
                    passed += 1;
                }
                Outcome::Failed(failures) => {
                    failures.iter().for_each(|failure| println!("failed: {name}: {failure}"));
                    failed += 1;
                }
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn read(file: &str) -> Result<Vec<Value>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    match serde_json::from_str(&text).map_err(|error| error.to_string())? {
        Value::Array(cases) => Ok(cases),
        // The oracle has its cases beside what was measured.
        Value::Object(mut file) => match file.remove("grammars") {
            Some(Value::Array(cases)) => Ok(cases),
            _ => Err("there is no list of cases".into()),
        },
        _ => Err("there is no list of cases".into()),
    }
}
