//! Times masks and compilation: `bench_grammar VOCABULARY.hex`, one token's bytes in hexadecimal a line (empty: control).
//!
//! For each grammar: the time to compile it, to make a constraint, and per step of some documents the time of the mask,
//! fresh (nothing is known of the grammar) and reused. Every mask is checked to allow the step's token.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fairhand::grammar::{Constraint, Grammar};
use fairhand::tokenizer::{SpecialTokens, TokenId, TokenTrie, Vocabulary};

const STRING: &str = r#"string ::= "\"" char* "\""
char ::= [^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})
"#;

const REPEATS: usize = 9;

fn main() -> fairhand::Result<()> {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("Give the path of a vocabulary: one token's bytes in hexadecimal a line.");
        std::process::exit(2);
    };
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| {
        eprintln!("{path}: {error}");
        std::process::exit(2);
    });
    let mut pieces: Vec<Vec<u8>> = text.lines().map(bytes).collect();
    let eos = pieces.len() as TokenId;
    pieces.push(Vec::new());
    let special = SpecialTokens { control: vec![("<eos>".into(), eos)], eos, ..SpecialTokens::default() };
    let vocabulary = Vocabulary::new(pieces, special)?;
    let begun = Instant::now();
    let trie = Arc::new(TokenTrie::new(&vocabulary));
    println!("{} tokens, trie of {} nodes in {:.1?}", trie.tokens(), trie.nodes(), begun.elapsed());

    let object = format!(
        "root ::= \"{{\" ws \"\\\"topic\\\":\" ws string \",\" ws \"\\\"intent\\\":\" ws string ws \"}}\"\n{STRING}ws ::= \" \"?"
    );
    let array = format!("root ::= \"[\" ws (string (\",\" ws string)*)? ws \"]\"\n{STRING}ws ::= \" \"?");
    let counted = "root ::= \"{\\\"topic\\\": \" s \"}\"\ns ::= \"\\\"\" c{1,80} \"\\\"\"\nc ::= [^\"\\\\\\x00-\\x1f] | \"\\\\\" [\"\\\\nt]";
    let tags = "{\"topic\": \"interview-prep-notes\", \"intent\": \"planning\"}";
    let tasks = "[\"Call the plumber about the kitchen\", \"Send the quarterly budget to Anna\", \"Book a table for six on Friday\"]";
    let cases: [(&str, &str, &str); 7] = [
        (
            "object",
            &object,
            "{\"topic\": \"Quarterly budget review with finance\", \"intent\": \"schedule a follow-up meeting\"}",
        ),
        ("array of strings", &array, tasks),
        (
            "generic JSON",
            include_str!("../../grammars/json.gbnf"),
            "{\"name\": \"Kitchen\", \"rooms\": [1, 2.5, {\"tiles\": null}], \"done\": true, \"note\": \"caf\\u00e9 ☕\"}",
        ),
        ("counted string", counted, "{\"topic\": \"a review of the quarterly budget with the finance team\"}"),
        ("content-tags", include_str!("../../grammars/content-tags.gbnf"), tags),
        ("task-array", include_str!("../../grammars/task-array.gbnf"), tasks),
        ("optional-task-array", include_str!("../../grammars/optional-task-array.gbnf"), tasks),
    ];
    for (name, source, document) in cases {
        let compile =
            median((0..REPEATS).map(|_| time(|| Grammar::parse(source).map(drop))).collect::<Result<_, _>>()?);
        let grammar = Arc::new(Grammar::parse(source)?);
        let tokens = tokens(&trie, document.as_bytes());
        let mut fresh = vec![Vec::new(); tokens.len()];
        let mut reused = vec![Vec::new(); tokens.len()];
        let mut made = Vec::new();
        for _ in 0..REPEATS {
            let begun = Instant::now();
            let mut constraint = Constraint::new(grammar.clone(), trie.clone())?;
            made.push(begun.elapsed());
            for times in [&mut fresh, &mut reused] {
                constraint.reset();
                for (step, token) in tokens.iter().enumerate() {
                    let begun = Instant::now();
                    let mask = constraint.mask(None);
                    times[step].push(begun.elapsed());
                    assert!(mask.allows(*token), "{name}: step {step}");
                    constraint.push(*token)?;
                }
                assert!(constraint.is_complete(), "{name}");
            }
        }
        let (fresh, reused) = (quantiles(fresh), quantiles(reused));
        println!(
            "{name:<20} compile {compile:>9.1?}  new {:>8.1?}  fresh p50 {:>8.2?} p99 {:>8.2?}  reused p50 {:>6.0?} p99 {:>6.0?}",
            median(made),
            fresh.0,
            fresh.1,
            reused.0,
            reused.1
        );
    }
    Ok(())
}

fn bytes(line: &str) -> Vec<u8> {
    let digit = |c: u8| (c as char).to_digit(16).unwrap_or(0) as u8;
    line.as_bytes().chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// The longest token that fits, again and again.
fn tokens(trie: &TokenTrie, text: &[u8]) -> Vec<TokenId> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (mut node, mut longest) = (0, None);
        for (length, byte) in text[at..].iter().enumerate() {
            let Some(child) = trie.child(node, *byte) else { break };
            node = child;
            if !trie.ends(node).is_empty() {
                longest = Some((trie.id(trie.ends(node).start), length + 1));
            }
        }
        let (token, length) = longest.expect("every byte of the documents has a token");
        tokens.push(token);
        at += length;
    }
    tokens
}

fn time<E>(work: impl FnOnce() -> Result<(), E>) -> Result<Duration, E> {
    let begun = Instant::now();
    work().map(|()| begun.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Of each step the median; of these, the 50th and the 99th percentile.
fn quantiles(steps: Vec<Vec<Duration>>) -> (Duration, Duration) {
    let mut medians: Vec<Duration> = steps.into_iter().map(median).collect();
    medians.sort_unstable();
    (medians[medians.len() / 2], medians[(medians.len() - 1) * 99 / 100])
}
