//! Every family and format against llama.cpp, on small models of random weights whose logits `tests/oracle/families.mjs`
//! has recorded.

mod model_support;

use candle_core::quantized::GgmlDType;
use model_support::reference::Reference;
use model_support::tiny::recorded;
use model_support::{all_logits, load, rms_difference};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    tokens: Vec<u32>,
    /// Indices of `tokens`.
    after: Vec<usize>,
    models: Vec<Recorded>,
}

#[derive(Deserialize)]
struct Recorded {
    name: String,
    /// For each of `after`, natural logarithms of the probabilities of what follows.
    logits: Vec<Vec<f64>>,
}

/// How far logits may be from llama.cpp's, relative to their spread.
const BOUND: f64 = 1e-2;

/// Where products round activations to 8 bits, ours and llama.cpp's are each off by more than that, each in its own way,
/// on models as narrow as these. Ours may be off from the exact logits by so much more than llama.cpp's.
const MARGIN: f64 = 1.25;

#[test]
fn logits_are_those_of_llama_cpp() {
    let golden: Golden = serde_json::from_str(include_str!("data/model/families.json")).unwrap();
    let models = recorded();
    assert_eq!(golden.models.len(), models.len());
    let mut failures = Vec::new();
    for recorded in &golden.models {
        let (_, tiny) = models.iter().find(|(name, _)| *name == recorded.name).expect("a model of that name");
        let file = tiny.whole_file();
        let ours = all_logits(&load(&file), &golden.tokens);
        let exact = (tiny.dtype != GgmlDType::F32).then(|| Reference::read(&file).logits(&golden.tokens));
        let ours: Vec<f64> =
            golden.after.iter().flat_map(|&after| centred(ours[after].iter().map(|&x| x.into()))).collect();
        let theirs: Vec<f64> = recorded.logits.iter().flat_map(|logits| centred(logits.iter().copied())).collect();
        let apart = distance(&ours, &theirs);
        let from_exact = exact.map(|exact| -> [f64; 2] {
            let exact: Vec<f64> =
                golden.after.iter().flat_map(|&after| centred(exact[after].iter().copied())).collect();
            [&ours, &theirs].map(|logits| distance(logits, &exact))
        });
        println!("{:45} {apart:.1e} apart; ours and theirs from exact: {from_exact:.4?}", recorded.name);
        if !(apart < BOUND || from_exact.is_some_and(|[ours, theirs]| ours <= MARGIN * theirs)) {
            failures.push(format!("{}: {apart:.2e} apart, from exact {from_exact:.4?}", recorded.name));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Without what is the same for all: llama.cpp gives logits only up to a constant.
fn centred(logits: impl Iterator<Item = f64>) -> Vec<f64> {
    let logits: Vec<f64> = logits.collect();
    let mean = logits.iter().sum::<f64>() / logits.len() as f64;
    logits.into_iter().map(|logit| logit - mean).collect()
}

/// Root mean square of the differences, relative to the size of `b`.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    rms_difference(a.iter().copied(), b.iter().copied()) / rms_difference(b.iter().copied(), std::iter::repeat(0.0))
}
