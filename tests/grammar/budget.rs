//! Guaranteed completion over the vocabularies of real models.

use std::sync::Arc;

use fairhand::grammar::{Constraint, Grammar, json_schema_to_gbnf};
use fairhand::tokenizer::{TokenId, TokenTrie, Tokenizer};
use serde_json::Value;

use super::random::Choices;
use super::smollm2::{SMOLLM2, tokenizer};

/// The grammars of all files of cases that name no tokens, and those of the library: over a hundred.
fn grammars() -> Vec<(String, Arc<Grammar>)> {
    let files =
        [include_str!("../data/grammar/gbnf_cases.json"), include_str!("../data/grammar/json_schema_cases.json")];
    let cases = files.into_iter().flat_map(|text| serde_json::from_str::<Vec<Value>>(text).unwrap());
    let compiled = cases.filter(|case| case["tokens"] != true && case["parse_error"] != true).filter_map(|case| {
        let name = case["name"].as_str().unwrap().to_owned();
        let source = case["grammar"].as_str().map(str::to_owned);
        let source = source.or_else(|| json_schema_to_gbnf(&case["schema"]).ok())?;
        Some((name, Arc::new(Grammar::parse(&source).ok()?)))
    });
    let folder = format!("{}/grammars", env!("CARGO_MANIFEST_DIR"));
    let library = std::fs::read_dir(folder).unwrap().map(|file| {
        let path = file.unwrap().path();
        (path.display().to_string(), Arc::new(Grammar::parse(&std::fs::read_to_string(path).unwrap()).unwrap()))
    });
    compiled.chain(library).collect()
}

/// Tokens drawn at random from the masks always come to an end in a sentence, whatever the budget from the least up.
///
/// `FAIRHAND_RUNS` sets the number of outputs for each grammar, `FAIRHAND_MODELS` names further models whose
/// vocabularies are to be tried, separated by colons. Over ten thousand outputs for each of two vocabularies:
///
/// ```sh
/// FAIRHAND_RUNS=40 FAIRHAND_MODELS=gemma-3-270m-q4_k_m.gguf npm run cargo -- test --release --test grammar budget -- --nocapture
/// ```
#[test]
fn every_budget_is_kept() {
    let runs: usize = std::env::var("FAIRHAND_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(4);
    let (of_smollm2, trie) = &*SMOLLM2;
    complete("SmolLM2", of_smollm2, trie, runs);
    let further = std::env::var("FAIRHAND_MODELS").unwrap_or_default();
    for path in further.split(':').filter(|path| !path.is_empty()) {
        let tokenizer = tokenizer(path.as_ref());
        let trie = Arc::new(TokenTrie::new(tokenizer.vocabulary()));
        complete(path, &tokenizer, &trie, runs);
    }
}

fn complete(model: &str, tokenizer: &Tokenizer, trie: &Arc<TokenTrie>, runs: usize) {
    let vocabulary = tokenizer.vocabulary();
    let mut choices = Choices(5);
    let (mut outputs, mut used, mut tokens, mut pressed) = (0, 0, 0, 0);
    for (name, grammar) in grammars() {
        let mut constraint = match Constraint::new(grammar.clone(), trie.clone()) {
            Ok(constraint) => constraint,
            // Some cases need bytes that this vocabulary does not have.
            Err(error) => {
                assert!(
                    matches!(error.detail(), Some(fairhand::error::Detail::MissingBytes { .. })),
                    "{name}: {error}"
                );
                continue;
            }
        };
        used += 1;
        for run in 0..runs {
            constraint.reset();
            let mut left = constraint.min_tokens().unwrap() + [0, 1, 3, 20][run % 4] * (run / 4 + 1);
            let mut output: Vec<u8> = Vec::new();
            while !constraint.is_finished() {
                let mask = constraint.mask(Some(left)).unwrap();
                // One that is drawn and allowed, or if those are few, one of them.
                let drawn = (0..16).map(|_| choices.below(vocabulary.len()) as TokenId).find(|id| mask.allows(*id));
                let next = drawn.unwrap_or_else(|| {
                    let allowed: Vec<TokenId> = mask.iter().collect();
                    assert!(!allowed.is_empty(), "{name}: a dead end with {left} left after {output:?}");
                    allowed[choices.below(allowed.len())]
                });
                constraint.push(next).unwrap();
                output.extend_from_slice(vocabulary.bytes(next));
                left -= 1;
                tokens += 1;
            }
            assert!(grammar.matches(&output), "{name}: {}", String::from_utf8_lossy(&output));
            pressed += usize::from(constraint.budget_pressed());
            outputs += 1;
        }
    }
    println!("{model}: {outputs} outputs over {used} grammars, {tokens} tokens, {pressed} pressed by their budget");
    assert!(used >= 100 && outputs == used * runs);
}
