#![no_main]

use fairhand_fuzz::grammar::{Dialect, Grammar};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (text, choices) = data.split_at(data.len() - data.len() / 4);
    let Ok(text) = std::str::from_utf8(text) else { return };
    let _ = Grammar::parse_as(text, None, Dialect::LlamaCpp);
    if let Ok(grammar) = Grammar::parse(text) {
        let _ = grammar.matches(choices);
        fairhand_fuzz::follow(grammar, choices);
    }
});
