//! Prints what cleanup by rules costs: milliseconds for 100 words, and how much a word of two hours of speech costs beside
//! one of five minutes.
//!
//! ```text
//! npm run bench:cleanup
//! ```

use std::process::ExitCode;
use std::time::{Duration, Instant};

use fairhand::tasks::cleanup::{CleanupOptions, clean};

/// Words that people say in a minute.
const WORDS_PER_MINUTE: usize = 150;
/// What a word of a long text may cost beside one of a short text.
const MOST: f64 = 1.2;
const ROUNDS: usize = 5;
const TURNS: &str = include_str!("../../tests/data/turns.txt");

fn main() -> ExitCode {
    // As a recogniser without marks hears it, with what speech has besides.
    let spoken = TURNS.to_lowercase().replace(['.', ',', '?'], "").replace(" the ", " the um the ").replace('\n', " ");
    let words: Vec<&str> = spoken.split_whitespace().collect();
    let text =
        |minutes: usize| words.iter().copied().cycle().take(minutes * WORDS_PER_MINUTE).collect::<Vec<_>>().join(" ");
    let hundred = words[..100].join(" ");
    let (short, long) = (text(5), text(120));
    let per_word = |text: &str| fastest(text).as_secs_f64() / text.split(' ').count() as f64;
    // The first cleanup reads the tables.
    fastest(&hundred);
    println!("100 words: {:.2} ms", fastest(&hundred).as_secs_f64() * 1e3);
    let (of_short, of_long) = (per_word(&short), per_word(&long));
    let ratio = of_long / of_short;
    println!("a word of 5 minutes: {:.2} us, of 2 hours: {:.2} us, ratio {ratio:.2}", of_short * 1e6, of_long * 1e6);
    if ratio <= MOST { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The fastest of some rounds: the others say what else the machine did.
fn fastest(text: &str) -> Duration {
    let round = |_| {
        let start = Instant::now();
        let cleaned = clean(text, &CleanupOptions::default()).expect("the default options are sound");
        assert!(!cleaned.text.is_empty());
        start.elapsed()
    };
    (0..ROUNDS).map(round).min().unwrap_or_default()
}
