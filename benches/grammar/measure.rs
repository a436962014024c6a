//! Times masks, compilation and the token trie, natively and in WebAssembly alike.
//!
//! A browser's clock has steps of microseconds and a mask takes less, so each step of a document is taken by several
//! constraints in a row between two looks at the clock. *Fresh*: each of them has a grammar of its own that was just
//! compiled, so that nothing is known yet. *Reused*: the grammar has already served the document once.

use std::sync::Arc;

use fairhand::grammar::{Constraint, Grammar};
use fairhand::tokenizer::{SpecialTokens, TokenId, TokenTrie, Vocabulary};
use serde::{Deserialize, Serialize};

/// Constraints that take a step together. By so many a clock with steps of 5 µs tells a mask to a twelfth of one; and
/// what each of them knows lies apart from the others', so that little of it is in the processor's nearest cache.
const BATCH: usize = 64;

/// How often everything is measured; of each step the median counts.
const REPEATS: usize = 9;

/// What is to be measured: a vocabulary, and documents cut into its tokens.
#[derive(Deserialize, Serialize)]
pub struct Work {
    /// Per token its bytes in hexadecimal; empty for a control token.
    pub pieces: Vec<String>,
    pub control: Vec<TokenId>,
    pub eos: TokenId,
    pub cases: Vec<Case>,
}

/// A grammar and some of its sentences.
#[derive(Deserialize, Serialize)]
pub struct Case {
    pub name: String,
    pub grammar: String,
    pub documents: Vec<Vec<TokenId>>,
}

/// Times in microseconds.
#[derive(Serialize)]
pub struct Report {
    pub tokens: usize,
    pub nodes: usize,
    pub trie: f64,
    pub rows: Vec<Row>,
}

#[derive(Serialize)]
pub struct Row {
    pub name: String,
    pub steps: usize,
    pub compile: f64,
    pub fresh: Quantiles,
    pub reused: Quantiles,
}

/// Of the medians of all steps.
#[derive(Serialize)]
pub struct Quantiles {
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
}

/// Measures everything, by a clock in microseconds. Every mask is checked to allow the step's token.
pub fn measure(work: &Work, clock: &dyn Fn() -> f64) -> fairhand::Result<Report> {
    let vocabulary = vocabulary(work)?;
    let trie = Arc::new(TokenTrie::new(&vocabulary));
    let build = (0..REPEATS).map(|_| time(clock, || std::hint::black_box(TokenTrie::new(&vocabulary))).0);
    let build = median(build.collect());
    let rows: fairhand::Result<Vec<Row>> = work.cases.iter().map(|case| row(case, &trie, clock)).collect();
    Ok(Report { tokens: trie.tokens(), nodes: trie.nodes(), trie: build, rows: rows? })
}

fn row(case: &Case, trie: &Arc<TokenTrie>, clock: &dyn Fn() -> f64) -> fairhand::Result<Row> {
    let mut compile = Vec::new();
    let (mut fresh, mut reused) = (Vec::new(), Vec::new());
    for document in &case.documents {
        let (mut fresh_steps, mut reused_steps) = (vec![Vec::new(); document.len()], vec![Vec::new(); document.len()]);
        for _ in 0..REPEATS {
            let mut batch = Vec::new();
            let (taken, grammars) =
                time(clock, || (0..BATCH).map(|_| Grammar::parse(&case.grammar)).collect::<Vec<_>>());
            compile.push(taken / BATCH as f64);
            for grammar in grammars {
                batch.push(Constraint::new(Arc::new(grammar?), trie.clone())?);
            }
            take(&mut batch, document, &mut fresh_steps, clock, &case.name)?;
            batch.iter_mut().for_each(Constraint::reset);
            take(&mut batch, document, &mut reused_steps, clock, &case.name)?;
        }
        fresh.extend(fresh_steps.into_iter().map(median));
        reused.extend(reused_steps.into_iter().map(median));
    }
    let steps = fresh.len();
    Ok(Row {
        name: case.name.clone(),
        steps,
        compile: median(compile),
        fresh: quantiles(fresh),
        reused: quantiles(reused),
    })
}

/// Takes all steps of a document, and adds the time of each step's mask.
fn take(
    batch: &mut [Constraint],
    document: &[TokenId],
    times: &mut [Vec<f64>],
    clock: &dyn Fn() -> f64,
    name: &str,
) -> fairhand::Result<()> {
    for (step, token) in document.iter().enumerate() {
        let (taken, allowed) = time(clock, || {
            batch.iter_mut().filter_map(|c| c.mask(None).is_ok_and(|mask| mask.allows(*token)).then_some(())).count()
        });
        assert_eq!(allowed, batch.len(), "{name}: step {step}");
        times[step].push(taken / batch.len() as f64);
        for constraint in batch.iter_mut() {
            constraint.push(*token)?;
        }
    }
    assert!(batch.iter().all(Constraint::is_complete), "{name}");
    Ok(())
}

fn vocabulary(work: &Work) -> fairhand::Result<Vocabulary> {
    let pieces = work.pieces.iter().map(|piece| bytes(piece)).collect();
    let control = work.control.iter().map(|id| (id.to_string(), *id)).collect();
    Vocabulary::new(pieces, SpecialTokens { control, eos: work.eos, ..SpecialTokens::default() })
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digit = |c: u8| (c as char).to_digit(16).unwrap_or(0) as u8;
    hexadecimal.as_bytes().chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

fn time<T>(clock: &dyn Fn() -> f64, work: impl FnOnce() -> T) -> (f64, T) {
    let begun = clock();
    let result = work();
    (clock() - begun, result)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

fn quantiles(mut steps: Vec<f64>) -> Quantiles {
    steps.sort_unstable_by(f64::total_cmp);
    let at = |part: usize| steps[((steps.len() - 1) * part).div_ceil(100)];
    Quantiles { p50: at(50), p99: at(99), max: at(100) }
}
