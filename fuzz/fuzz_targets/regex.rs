#![no_main]

use fairhand_fuzz::grammar::{Grammar, regex_to_gbnf};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (text, choices) = data.split_at(data.len() - data.len() / 4);
    let Ok(text) = std::str::from_utf8(text) else { return };
    if let Ok(source) = regex_to_gbnf(text)
        && let Ok(grammar) = Grammar::parse(&source)
    {
        fairhand_fuzz::follow(grammar, choices);
    }
});
