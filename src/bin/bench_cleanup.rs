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
const ROUNDS: usize = 9;
const SHORT: usize = 5;
const LONG: usize = 120;
const TURNS: &str = include_str!("../../tests/data/turns.txt");

fn main() -> ExitCode {
    // As a recogniser without marks hears it, with what speech has besides.
    let spoken = TURNS.to_lowercase().replace(['.', ',', '?'], "").replace(" the ", " the um the ").replace('\n', " ");
    let words: Vec<&str> = spoken.split_whitespace().collect();
    let text =
        |minutes: usize| words.iter().copied().cycle().take(minutes * WORDS_PER_MINUTE).collect::<Vec<_>>().join(" ");
    let hundred = words[..100].join(" ");
    let (short, long) = (text(SHORT), text(LONG));
    // The first cleanup reads the tables.
    time(&hundred, 1);
    let fastest = (0..ROUNDS).map(|_| time(&hundred, 1)).min().unwrap_or_default();
    println!("100 words: {:.2} ms", fastest.as_secs_f64() * 1e3);

    // The same number of words in turns, since a machine is not equally fast all the time.
    let round = |_| (time(&short, LONG / SHORT).as_secs_f64(), time(&long, 1).as_secs_f64());
    let mut rounds: Vec<(f64, f64)> = (0..ROUNDS).map(round).collect();
    rounds.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let (of_short, of_long) = rounds[ROUNDS / 2];
    let (ratio, words) = (of_long / of_short, (LONG * WORDS_PER_MINUTE) as f64);
    println!(
        "a word of {SHORT} minutes: {:.2} us, of {LONG}: {:.2} us, ratio {ratio:.2} (the median of {ROUNDS} rounds)",
        of_short / words * 1e6,
        of_long / words * 1e6
    );
    if ratio <= MOST { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How long it takes to clean a text so many times.
fn time(text: &str, times: usize) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        let cleaned = clean(text, &CleanupOptions::default()).expect("the default options are sound");
        assert!(!cleaned.text.is_empty());
    }
    start.elapsed()
}
