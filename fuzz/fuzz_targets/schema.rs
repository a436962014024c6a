#![no_main]

use fairhand_fuzz::error::Detail;
use fairhand_fuzz::grammar::{Grammar, json_schema_to_gbnf};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (text, choices) = data.split_at(data.len() - data.len() / 4);
    let Ok(schema) = serde_json::from_slice(text) else { return };
    match json_schema_to_gbnf(&schema) {
        // What is converted is a grammar that the parser reads; only its size may still be too large.
        Ok(source) => match Grammar::parse(&source) {
            Ok(grammar) => fairhand_fuzz::follow(grammar, choices),
            Err(error) => assert!(Grammar::from_json_schema(&schema).is_err(), "{error}\n{source}"),
        },
        Err(error) => assert!(matches!(error.detail(), Some(Detail::Path { .. })), "{error}"),
    }
});
