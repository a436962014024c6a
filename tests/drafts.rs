//! Drafts change the time that an answer takes, and nothing of the answer.

mod model_support;

use std::sync::Arc;

use fairhand::decode::{Answer, FinishReason, Generation, Plan, Sampler, Sampling, Session, Step};
use fairhand::model::{KvCache, Loader, Model};
use fairhand::tokenizer::{Special, Tokenizer};
use model_support::smollm2_file;
use model_support::tiny::{CONTEXT, recorded};
use proptest::prelude::*;

type Parts = (Arc<Model>, Arc<Tokenizer>);

fn parts(file: &[u8]) -> Parts {
    let (header, model) = Loader::read(file).unwrap();
    (Arc::new(model), Arc::new(Tokenizer::from_metadata(&header.metadata).unwrap()))
}

/// The answer, and how many steps it took.
fn generate((model, tokenizer): &Parts, plan: Plan, context: usize) -> (Answer, usize) {
    let session = Session::new(model, context).unwrap();
    let mut generation = Generation::new(Arc::clone(model), Arc::clone(tokenizer), session, plan).unwrap();
    for steps in 0.. {
        if let Step::Finished(_) = generation.step().unwrap() {
            return (generation.finish().unwrap(), steps);
        }
    }
    unreachable!("an answer ends")
}

/// The slow, obvious way: one token after another. Returns the tokens that were drawn.
fn one_by_one((model, tokenizer): &Parts, plan: &Plan, context: usize) -> Vec<u32> {
    let mut kv = KvCache::new(model.config(), context).unwrap();
    let mut sampler = Sampler::new(plan.seed, plan.sampling).unwrap();
    let mut logits = model.forward(&plan.prompt, &mut kv).unwrap();
    let mut tokens = vec![];
    loop {
        let token = sampler.sample(&logits).unwrap();
        tokens.push(token);
        if tokens.len() == plan.max_tokens || tokenizer.vocabulary().is_end_of_generation(token) {
            return tokens;
        }
        logits = model.forward(&[token], &mut kv).unwrap();
    }
}

fn plan(prompt: Vec<u32>, max_tokens: usize, temperature: f64, seed: u64) -> Plan {
    let sampling = Sampling { temperature, ..Sampling::default() };
    Plan { prompt, max_tokens, sampling, seed, constraint: None, stop: vec![] }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Texts that repeat themselves, in every family and format, greedy and drawn at random.
    #[test]
    fn the_tokens_are_those_of_one_after_another(
        piece in prop::collection::vec(3u32..20, 1..6), repeats in 1usize..6, max_tokens in 1usize..40,
        hot: bool, seed: u64, model in 0..recorded().len(),
    ) {
        let (_, tiny) = &recorded()[model];
        let parts = parts(&tiny.whole_file());
        let prompt = piece.repeat(repeats);
        let plan = || plan(prompt.clone(), max_tokens, if hot { 0.7 } else { 0.0 }, seed);
        let expected = one_by_one(&parts, &plan(), CONTEXT);
        let (answer, _) = generate(&parts, plan(), CONTEXT);
        prop_assert_eq!(answer.usage.completion_tokens, expected.len());
        let text: Vec<u8> = expected.iter().flat_map(|&token| parts.1.vocabulary().bytes(token).to_vec()).collect();
        prop_assert_eq!(&answer.text, &String::from_utf8_lossy(&text));
        // The last token is not read any more.
        let read = [&prompt[..], &expected[..expected.len() - 1]].concat();
        prop_assert_eq!(answer.session.tokens(), &read[..]);
        let ended = parts.1.vocabulary().is_end_of_generation(expected[expected.len() - 1]);
        prop_assert_eq!(answer.finish_reason == FinishReason::End, ended);
    }
}

#[test]
fn a_text_that_is_copied_takes_fewer_passes() {
    let parts = parts(&smollm2_file());
    let line = "The ferry to the island leaves at nine, and the last one back at five past six in the evening.\n";
    let prompt = parts.1.encode(&line.repeat(3), Special::AsText).unwrap();
    let plan = || plan(prompt.clone(), 40, 0.0, 0);
    let expected = one_by_one(&parts, &plan(), 256);
    let (answer, steps) = generate(&parts, plan(), 256);
    assert_eq!(answer.session.tokens()[prompt.len()..], expected[..expected.len() - 1]);
    // A pass takes a step for each layer and one for the head.
    let (layers, chunks) = (parts.0.config().n_layers, prompt.len().div_ceil(16));
    let passes = (steps - layers * chunks) / (layers + 1);
    println!("{} tokens in {passes} passes", expected.len());
    assert!(passes * 2 < expected.len(), "{} tokens in {passes} passes", expected.len());
}

/// What is given back has read the sure tokens only.
#[test]
fn a_cancelled_answer_leaves_no_guess_behind() {
    let parts = parts(&recorded()[0].1.whole_file());
    let prompt = [5, 6, 7].repeat(4);
    let expected = one_by_one(&parts, &plan(prompt.clone(), 24, 0.0, 0), CONTEXT);
    let all = [&prompt[..], &expected[..]].concat();
    for steps in 0..200 {
        let session = Session::new(&parts.0, CONTEXT).unwrap();
        let (model, tokenizer) = (Arc::clone(&parts.0), Arc::clone(&parts.1));
        let mut generation = Generation::new(model, tokenizer, session, plan(prompt.clone(), 24, 0.0, 0)).unwrap();
        for _ in 0..steps {
            generation.step().unwrap();
        }
        let session = generation.cancel();
        assert!(all.starts_with(session.tokens()), "after {steps} steps");
    }
}
