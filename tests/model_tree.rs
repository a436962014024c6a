//! Scores of many candidates in one pass: the numbers that one candidate after another gives, bit for bit.

mod model_support;

use std::sync::{Arc, OnceLock};

use candle_core::quantized::GgmlDType;
use fairhand::ErrorKind;
use fairhand::decode::{Scorer, Scores, Scoring, Session};
use fairhand::error::Detail;
use fairhand::model::{KvCache, KvType, Model, Pass};
use model_support::tiny::{CONTEXT, Tiny, families};
use model_support::{KV_TYPES, load, run};
use proptest::prelude::*;

/// Scores `candidates` with a session that has read `read` already.
fn score(model: &Arc<Model>, read: &[u32], prefix: &[u32], candidates: &[Vec<u32>]) -> Scores {
    score_with(KvType::default(), model, read, prefix, candidates)
}

fn score_with(kv_type: KvType, model: &Arc<Model>, read: &[u32], prefix: &[u32], candidates: &[Vec<u32>]) -> Scores {
    let mut session = Session::of_type(kv_type, model, model.config().context_length.min(CONTEXT)).unwrap();
    if !read.is_empty() {
        session.restart(read);
        while session.read() < read.len() {
            session.step(model).unwrap();
        }
    }
    let mut scorer = Scorer::new(Arc::clone(model), session, prefix, candidates).unwrap();
    while scorer.step().unwrap() == Scoring::More {}
    let (scores, session) = scorer.finish().unwrap();
    assert_eq!(session.tokens(), &prefix[..prefix.len() - 1]);
    scores
}

/// The slow, obvious way: each candidate fed by itself, behind the prefix.
fn one_by_one(kv_type: KvType, model: &Model, prefix: &[u32], candidates: &[Vec<u32>]) -> Vec<Vec<f32>> {
    let score = |candidate: &Vec<u32>| {
        if candidate.is_empty() {
            return Vec::new();
        }
        let tokens = [prefix, &candidate[..candidate.len() - 1]].concat();
        let mut kv = KvCache::of_type(kv_type, model.config(), tokens.len()).unwrap();
        let logits = run(Pass::new(&tokens).logits_from(prefix.len() - 1), model, &mut kv);
        let positions = logits.chunks(model.config().vocab_size).zip(candidate);
        positions.map(|(logits, &token)| log_softmax(logits, token)).collect()
    };
    candidates.iter().map(score).collect()
}

fn log_softmax(logits: &[f32], token: u32) -> f32 {
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f64 = logits.iter().map(|&logit| f64::from(logit - max).exp()).sum();
    (f64::from(logits[token as usize]) - f64::from(max) - total.ln()) as f32
}

/// Logits are the same to the last bit; the sum over the vocabulary is taken in another way here, within 1e-6 of it.
#[track_caller]
fn assert_same(scores: &Scores, expected: &[Vec<f32>], whose: &str) {
    assert_eq!(scores.tokens.len(), expected.len());
    for (ours, theirs) in scores.tokens.iter().zip(expected) {
        assert_eq!(ours.len(), theirs.len());
        for (ours, theirs) in ours.iter().zip(theirs) {
            assert!((ours - theirs).abs() <= 2e-6 * theirs.abs().max(1.0), "{whose}: {ours} and not {theirs}");
        }
    }
    for (total, tokens) in scores.totals().into_iter().zip(expected) {
        assert!((total - tokens.iter().sum::<f32>()).abs() <= 1e-5 * total.abs().max(1.0));
    }
}

/// Each family, each format of weights, and a cache in the middle of a panel.
fn models() -> &'static [Arc<Model>] {
    static MODELS: OnceLock<Vec<Arc<Model>>> = OnceLock::new();
    MODELS.get_or_init(|| {
        let wide = Tiny { width: 64, head_dim: 16, rope_dims: 16, ..Tiny::default() };
        let formats = [GgmlDType::Q4_1, GgmlDType::Q8_0, GgmlDType::F16].map(|dtype| Tiny { dtype, ..wide.clone() });
        families().into_iter().chain(formats).map(|tiny| Arc::new(load(&tiny.file()))).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_gives_the_scores_of_one_candidate_after_another(
        which in 0..9usize,
        kv_type in 0..3usize,
        read in prop::collection::vec(0u32..3, 0..50),
        prefix in prop::collection::vec(0u32..3, 1..50),
        // Few different tokens, so that candidates share beginnings of any length.
        candidates in prop::collection::vec(prop::collection::vec(0u32..3, 0..20), 0..12),
    ) {
        let model = &models()[which];
        let kv_type = KV_TYPES[kv_type];
        let scores = score_with(kv_type, model, &read, &prefix, &candidates);
        assert_same(&scores, &one_by_one(kv_type, model, &prefix, &candidates), model.config().architecture.name());
    }

    /// What "bit for bit" means: the same candidate scores the same whatever stands beside it, and wherever it is cut.
    #[test]
    fn a_candidate_scores_the_same_in_any_company(
        which in 0..9usize,
        prefix in prop::collection::vec(0u32..5, 1..40),
        candidate in prop::collection::vec(0u32..5, 1..20),
        others in prop::collection::vec(prop::collection::vec(0u32..5, 0..20), 0..20),
        moved in 0..20usize,
    ) {
        let model = &models()[which];
        let alone = score(model, &[], &prefix, std::slice::from_ref(&candidate));
        let together = score(model, &prefix, &prefix, &[others, vec![candidate.clone()]].concat());
        prop_assert_eq!(&together.tokens[together.tokens.len() - 1], &alone.tokens[0]);

        let (more, rest) = candidate.split_at(moved.min(candidate.len() - 1));
        let behind = score(model, &[], &[&prefix, more].concat(), &[rest.to_vec()]);
        prop_assert_eq!(&behind.tokens[0][..], &alone.tokens[0][more.len()..]);
    }
}

#[test]
fn the_real_model_agrees() {
    let prefix = [504, 3575, 282]; // "The capital of"
    let candidates: Vec<Vec<u32>> =
        vec![vec![4649, 314, 7042], vec![4649, 314, 504], vec![4649], vec![], vec![1797, 1918, 553, 253]];
    let model = smollm2();
    let scores = score(model, &[], &prefix, &candidates);
    assert_same(&scores, &one_by_one(KvType::default(), model, &prefix, &candidates), "SmolLM2");
    let totals = scores.totals();
    assert!(totals[0] > totals[1] && totals[3] == 0.0, "{totals:?}");
}

fn smollm2() -> &'static Arc<Model> {
    static MODEL: OnceLock<Arc<Model>> = OnceLock::new();
    MODEL.get_or_init(|| Arc::new(load(&model_support::smollm2_file())))
}

#[test]
fn what_cannot_be_scored_is_refused() {
    let model = &models()[0];
    let session = |capacity| Session::new(model, capacity).unwrap();
    let new = |capacity, prefix: &[u32], candidates: &[Vec<u32>]| {
        Scorer::new(Arc::clone(model), session(capacity), prefix, candidates)
    };
    assert_eq!(new(9, &[], &[vec![1]]).err().unwrap().kind(), ErrorKind::InvalidArgument);

    let error = new(9, &[1, 2, 3], &[vec![1], vec![1; 7]]).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::ContextOverflow);
    assert_eq!(error.detail(), Some(&Detail::Limit { requested: 10, available: 9 }));
    assert!(new(9, &[1, 2, 3], &[vec![1; 6]]).is_ok());

    let early = new(9, &[1, 2], &[vec![1]]).unwrap().finish().err().unwrap();
    assert_eq!(early.kind(), ErrorKind::Internal);

    for (prefix, candidate) in [([1, 50], vec![1]), ([1, 2], vec![50]), ([1, 2], vec![1, 50, 1])] {
        let mut scorer = new(9, &prefix, &[candidate]).unwrap();
        let error = loop {
            match scorer.step() {
                Ok(Scoring::More) => {}
                Ok(Scoring::Done) => panic!("a token outside the vocabulary was scored"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert_eq!(scorer.cancel().read(), 1);
    }
}

/// A session that is cancelled in the middle goes on as if nothing had been.
#[test]
fn a_cancelled_scorer_leaves_no_trace() {
    let model = &models()[3];
    let prefix: Vec<u32> = (0..40).map(|i| i % 7).collect();
    let candidates: Vec<Vec<u32>> = (0..5).map(|i| vec![i, 1, 2, i]).collect();
    let expected = score(model, &[], &prefix, &candidates);
    for steps in [0, 1, 5, 12, 18] {
        let session = Session::new(model, CONTEXT).unwrap();
        let mut scorer = Scorer::new(Arc::clone(model), session, &prefix, &candidates).unwrap();
        for _ in 0..steps {
            scorer.step().unwrap();
        }
        let session = scorer.cancel();
        let mut scorer = Scorer::new(Arc::clone(model), session, &prefix, &candidates).unwrap();
        while scorer.step().unwrap() == Scoring::More {}
        assert_eq!(scorer.finish().unwrap().0, expected, "after {steps} steps");
    }
}
