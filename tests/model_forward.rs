//! The forward pass and its cache, on models of a few thousand random weights.

mod model_support;

use std::sync::OnceLock;

use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::{Content, Value};
use candle_core::{Device, IndexOp, Tensor};
use candle_transformers::models::quantized_llama::ModelWeights;
use fairhand::ErrorKind;
use fairhand::error::Detail;
use fairhand::model::{KvCache, KvType, Model, Pass, Progress};
use model_support::reference::Reference;
use model_support::tiny::{CONTEXT, Tiny, families};
use model_support::{KV_TYPES, all_logits, all_logits_with, load, rms_difference, run};
use proptest::prelude::*;

const TOKENS: [u32; 12] = [3, 1, 4, 1, 5, 9, 2, 6, 49, 0, 5, 3];

fn shapes() -> Vec<Tiny> {
    let plain = Tiny::default();
    vec![
        Tiny { heads: 1, kv_heads: 1, head_dim: 32, rope_dims: 32, ..plain.clone() },
        Tiny { heads: 4, kv_heads: 4, ..plain.clone() },
        Tiny { heads: 6, kv_heads: 2, tied: false, ..plain.clone() }, // heads wider together than the model
        Tiny { head_dim: 20, rope_dims: 12, ..plain.clone() }, // RoPE turns a part; no multiple of a SIMD register
        Tiny { layers: 5, kv_heads: 1, vocab: 51, ..plain.clone() },
        Tiny { rope_factors: true, tied: false, ..plain.clone() },
        Tiny { keys: vec![("rope.scaling.factor", Value::F32(4.0))], ..plain.clone() },
        Tiny { family: "phi3", window: 3, ..plain.clone() },
        plain,
    ]
    .into_iter()
    .chain(families())
    .collect()
}

#[test]
fn the_slow_reference_agrees_on_every_shape() {
    for tiny in shapes() {
        let file = tiny.file();
        let (fast, slow) =
            (all_logits_with(KvType::F32, &load(&file), &TOKENS), Reference::read(&file).logits(&TOKENS));
        for (position, (fast, slow)) in fast.iter().zip(&slow).enumerate() {
            let error = rms_difference(fast.iter().map(|&x| f64::from(x)), slow.iter().copied());
            assert!(error < 2e-6, "{tiny:?}: off by {error:e} at position {position}");
        }
    }
}

#[test]
fn the_slow_reference_agrees_in_every_tensor_format() {
    // Formats of 32 weights a block take rows of any multiple of 32, and the K-quants of 256. Activations are rounded to
    // 8 bits in products, which is where nearly all of the difference comes from.
    let small = Tiny { width: 64, heads: 4, head_dim: 16, rope_dims: 16, ffn: 128, ..Tiny::default() };
    let large = Tiny { width: 256, heads: 4, head_dim: 64, rope_dims: 64, ffn: 256, ..Tiny::default() };
    use GgmlDType::*;
    for (dtype, bound) in [
        (F16, 2e-6),
        (BF16, 2e-6),
        (Q8_0, 0.03),
        (Q4_0, 0.03),
        (Q4_1, 0.03),
        (Q5_0, 0.03),
        (Q5_1, 0.03),
        (Q2K, 0.03),
        (Q3K, 0.03),
        (Q4K, 0.03),
        (Q5K, 0.03),
        (Q6K, 0.03),
    ] {
        let shape = if dtype.block_size() == 256 { &large } else { &small };
        let file = Tiny { dtype, ..shape.clone() }.file();
        let (fast, slow) =
            (all_logits_with(KvType::F32, &load(&file), &TOKENS), Reference::read(&file).logits(&TOKENS));
        let error = rms_difference(fast.concat().into_iter().map(f64::from), slow.concat());
        let size = rms_difference(slow.concat(), std::iter::repeat(0.0));
        assert!(error < bound * size, "{dtype:?}: off by {error:.2e}, logits of size {size:.2e}");
    }
}

#[test]
fn candle_transformers_agrees() {
    // Its heads must divide the width, and it knows no RoPE factors.
    let plain = Tiny::default();
    for tiny in [Tiny { heads: 4, kv_heads: 1, tied: false, ..plain.clone() }, plain] {
        let file = tiny.file();
        let mut reader = std::io::Cursor::new(&file);
        let content = Content::read(&mut reader).unwrap();
        let mut witness = ModelWeights::from_gguf(content, &mut reader, &Device::Cpu).unwrap();
        let ours = all_logits_with(KvType::F32, &load(&file), &TOKENS);
        // First a prompt, then token by token.
        let mut feed = |from: usize, to: usize| -> Vec<f32> {
            let input = Tensor::new(&TOKENS[from..to], &Device::Cpu).unwrap().unsqueeze(0).unwrap();
            witness.forward(&input, from).unwrap().i(0).unwrap().to_vec1().unwrap()
        };
        for (from, to) in [(0, 8), (8, 9), (9, 10), (10, 11), (11, 12)] {
            let theirs = feed(from, to);
            let error = rms_difference(theirs.into_iter().map(f64::from), ours[to - 1].iter().map(|&x| f64::from(x)));
            assert!(error < 1e-5, "{tiny:?}: off by {error:e} at position {}", to - 1);
        }
    }
}

/// A model in the format that the product runs.
fn quantised() -> Model {
    load(&Tiny { width: 64, head_dim: 16, rope_dims: 16, dtype: GgmlDType::Q4_1, ..Tiny::default() }.file())
}

/// One of each family, and one in the format that the product runs.
fn models() -> &'static [Model] {
    static MODELS: OnceLock<Vec<Model>> = OnceLock::new();
    MODELS
        .get_or_init(|| families().iter().map(|tiny| load(&tiny.file())).chain(std::iter::once(quantised())).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    /// The invariant that prefix reuse, speculation and cancelling rest on: bit for bit, however the tokens are cut into
    /// passes, and each pass into steps.
    #[test]
    fn any_chunking_gives_the_logits_of_one_prefill(
        tokens in prop::collection::vec(0u32..50, 1..40),
        cuts in prop::collection::vec((1usize..40, 1usize..12), 1..40),
        which in 0..7usize,
        kv_type in 0..3usize,
    ) {
        let (model, kv_type) = (&models()[which], KV_TYPES[kv_type]);
        let whole = all_logits_with(kv_type, model, &tokens);

        let mut kv = KvCache::of_type(kv_type, model.config(), CONTEXT).unwrap();
        let mut pieces = Vec::new();
        for (length, chunk) in cuts.iter().cycle() {
            let start = kv.len();
            if start == tokens.len() {
                break;
            }
            let piece = &tokens[start..tokens.len().min(start + length)];
            let pass = Pass::new(piece).chunk(*chunk).logits_from(0);
            let expected_steps = pass.steps(model);
            let (logits, steps) = run_counting(pass, model, &mut kv);
            prop_assert_eq!(steps, expected_steps);
            pieces.extend(logits.chunks(model.config().vocab_size).map(<[f32]>::to_vec));
        }
        prop_assert_eq!(pieces, whole);
    }

    /// Truncating takes back tokens without a trace, whatever was fed in between.
    #[test]
    fn truncating_and_feeding_again_equals_a_fresh_start(
        kept in prop::collection::vec(0u32..50, 0..20),
        dropped in prop::collection::vec(0u32..50, 1..100),
        fed in prop::collection::vec(0u32..50, 1..20),
    ) {
        let model = load(&Tiny::default().file());
        let mut kv = KvCache::new(model.config(), CONTEXT).unwrap();
        model.forward(&[&kept[..], &dropped[..]].concat(), &mut kv).unwrap();
        kv.truncate(kept.len());
        prop_assert_eq!(kv.len(), kept.len());
        let again = model.forward(&fed, &mut kv).unwrap();

        let mut fresh = KvCache::new(model.config(), CONTEXT).unwrap();
        prop_assert_eq!(again, model.forward(&[&kept[..], &fed[..]].concat(), &mut fresh).unwrap());
    }

    #[test]
    fn a_fork_and_its_origin_do_not_see_each_other(
        shared in prop::collection::vec(0u32..50, 1..70),
        left in prop::collection::vec(0u32..50, 1..70),
        right in prop::collection::vec(0u32..50, 1..70),
    ) {
        let model = load(&Tiny::default().file());
        let mut origin = KvCache::new(model.config(), CONTEXT).unwrap();
        model.forward(&shared, &mut origin).unwrap();
        let mut fork = origin.fork();
        let lefts = model.forward(&left, &mut origin).unwrap();
        let rights = model.forward(&right, &mut fork).unwrap();
        prop_assert_eq!((origin.len(), fork.len()), (shared.len() + left.len(), shared.len() + right.len()));

        for (suffix, logits) in [(&left, lefts), (&right, rights)] {
            let mut fresh = KvCache::new(model.config(), CONTEXT).unwrap();
            prop_assert_eq!(logits, model.forward(&[&shared[..], &suffix[..]].concat(), &mut fresh).unwrap());
        }
    }

    /// A cancel between any two steps leaves the cache as it was before the pass.
    #[test]
    fn a_dropped_pass_leaves_no_trace(steps in 0usize..9, abandoned in prop::collection::vec(0u32..50, 10..30)) {
        let model = load(&Tiny::default().file());
        let mut kv = KvCache::new(model.config(), CONTEXT).unwrap();
        model.forward(&TOKENS, &mut kv).unwrap();
        let mut pass = Pass::new(&abandoned);
        for _ in 0..steps.min(pass.steps(&model) - 1) {
            prop_assert_eq!(pass.step(&model, &mut kv), Ok(Progress::More));
        }
        drop(pass);
        prop_assert_eq!(kv.len(), TOKENS.len());
        let after = model.forward(&[7, 8], &mut kv).unwrap();

        let mut fresh = KvCache::new(model.config(), CONTEXT).unwrap();
        model.forward(&TOKENS, &mut fresh).unwrap();
        prop_assert_eq!(after, model.forward(&[7, 8], &mut fresh).unwrap());
    }
}

#[test]
fn a_fork_in_the_middle_of_a_pass_has_none_of_it() {
    let model = load(&Tiny::default().file());
    let new = || KvCache::new(model.config(), CONTEXT).unwrap();
    let mut kv = new();
    model.forward(&TOKENS, &mut kv).unwrap();
    let mut pass = Pass::new(&[7, 8, 9]);
    assert_eq!(pass.step(&model, &mut kv), Ok(Progress::More));
    let mut fork = kv.fork();
    let forked = model.forward(&[1, 2], &mut fork).unwrap();
    let passed = run(pass, &model, &mut kv);

    let fresh = |suffix: &[u32]| model.forward(&[&TOKENS[..], suffix].concat(), &mut new()).unwrap();
    assert_eq!(forked, fresh(&[1, 2]));
    assert_eq!(passed, fresh(&[7, 8, 9]));
}

fn run_counting(mut pass: Pass, model: &Model, kv: &mut KvCache) -> (Vec<f32>, usize) {
    for steps in 1.. {
        if let Progress::Done(logits) = pass.step(model, kv).unwrap() {
            return (logits, steps);
        }
    }
    unreachable!("counting has no end")
}

#[test]
fn the_last_position_alone_is_the_last_of_all() {
    let model = load(&Tiny::default().file());
    let last = model.forward(&TOKENS, &mut KvCache::new(model.config(), CONTEXT).unwrap()).unwrap();
    assert_eq!(last, *all_logits(&model, &TOKENS).last().unwrap());

    let mut kv = KvCache::new(model.config(), CONTEXT).unwrap();
    let from_five = run(Pass::new(&TOKENS).logits_from(5), &model, &mut kv);
    assert_eq!(from_five, all_logits(&model, &TOKENS)[5..].concat());
}

#[test]
fn rows_of_the_head_are_those_of_the_whole() {
    for model in models() {
        let whole = all_logits(model, &TOKENS);
        for rows in [&[][..], &[7], &[0, 1, 2, 9, 48, 49], &[30, 3, 30]] {
            let mut kv = KvCache::new(model.config(), CONTEXT).unwrap();
            let some = run(Pass::new(&TOKENS).logits_from(9).rows(rows.into()), model, &mut kv);
            let expected = whole[9..].iter().flat_map(|logits| rows.iter().map(|&row| logits[row as usize]));
            assert_eq!(some, expected.collect::<Vec<f32>>());
            assert_eq!(kv.len(), TOKENS.len());
        }
    }
}

#[test]
fn a_pass_without_logits_leaves_the_same_cache() {
    for model in models() {
        let mut kv = KvCache::new(model.config(), CONTEXT).unwrap();
        let (logits, steps) = run_counting(Pass::new(&TOKENS).without_logits(), model, &mut kv);
        assert_eq!((logits.len(), steps), (0, Pass::new(&TOKENS).without_logits().steps(model)));
        let after = model.forward(&[7, 8], &mut kv).unwrap();
        assert_eq!(after, *all_logits(model, &[&TOKENS[..], &[7, 8]].concat()).last().unwrap());
    }
}

#[test]
fn the_cache_refuses_what_does_not_fit() {
    let model = load(&Tiny::default().file());
    let beyond = KvCache::new(model.config(), CONTEXT + 1).err().unwrap();
    assert_eq!(beyond.kind(), ErrorKind::ContextOverflow);
    assert_eq!(KvCache::new(model.config(), 0).err().unwrap().kind(), ErrorKind::InvalidArgument);

    let mut kv = KvCache::new(model.config(), 14).unwrap();
    model.forward(&TOKENS, &mut kv).unwrap();
    let error = model.forward(&[1, 2, 3], &mut kv).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ContextOverflow);
    assert_eq!(error.detail(), Some(&Detail::Limit { requested: 15, available: 14 }));
    assert_eq!(kv.len(), 12);
    model.forward(&[1, 2], &mut kv).unwrap(); // what fits still does
    assert_eq!((kv.len(), kv.capacity()), (14, 14));
    kv.truncate(100); // nothing to take back
    assert_eq!(kv.len(), 14);
}

#[test]
fn a_pass_refuses_what_makes_no_sense() {
    let model = load(&Tiny::default().file());
    let mut kv = KvCache::new(model.config(), CONTEXT).unwrap();
    let mut refused = |mut pass: Pass| pass.step(&model, &mut kv).unwrap_err().kind();
    assert_eq!(refused(Pass::new(&[])), ErrorKind::InvalidArgument);
    assert_eq!(refused(Pass::new(&[50])), ErrorKind::InvalidArgument); // the vocabulary ends at 49
    assert_eq!(refused(Pass::new(&[u32::MAX])), ErrorKind::InvalidArgument);
    assert_eq!(refused(Pass::new(&[1, 2]).logits_from(3)), ErrorKind::InvalidArgument);
    assert_eq!(refused(Pass::new(&[1, 2]).rows([3, 50].into())), ErrorKind::InvalidArgument);
    assert!(kv.is_empty());
}

#[test]
fn a_pass_does_not_go_on_with_a_cache_that_changed() {
    let model = load(&Tiny::default().file());
    let begun = |kv: &mut KvCache| {
        let mut pass = Pass::new(&[1, 2, 3]);
        assert_eq!(pass.step(&model, kv), Ok(Progress::More));
        pass
    };
    let new = || KvCache::new(model.config(), CONTEXT).unwrap();
    type Change = fn(&Model, &mut KvCache);
    let changes: [(&str, Change); 4] = [
        ("truncated", |_, kv| kv.truncate(0)),
        ("forked into its place", |_, kv| *kv = kv.fork()),
        ("used by a whole pass", |model, kv| drop(model.forward(&[4], kv).unwrap())),
        ("used by another pass begun", |model, kv| drop(Pass::new(&[4]).step(model, kv).unwrap())),
    ];
    for (what, change) in changes {
        let mut kv = new();
        let mut pass = begun(&mut kv);
        change(&model, &mut kv);
        let error = pass.step(&model, &mut kv).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{what}");
        assert_eq!(pass.step(&model, &mut kv).unwrap_err().kind(), ErrorKind::InvalidArgument, "{what}: stays over");
    }

    let mut kv = new();
    let mut finished = Pass::new(&[1]);
    while finished.step(&model, &mut kv).unwrap() == Progress::More {}
    assert_eq!(finished.step(&model, &mut kv).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

/// A type with fewer bits gives other logits, and only so far from those of f32, relative to their size. With weights of
/// floats: where activations are rounded to 8 bits, any change is lost in what that changes.
#[test]
fn each_type_of_cache_is_as_near_as_its_bits() {
    let size = |logits: &[f32]| rms_difference(logits.iter().map(|&x| f64::from(x)), std::iter::repeat(0.0));
    for model in families().into_iter().map(|tiny| load(&tiny.file())) {
        let model = &model;
        let exact = all_logits_with(KvType::F32, model, &TOKENS).concat();
        for (kv_type, near) in [(KvType::F16, 2e-3), (KvType::Q8_0, 2e-2)] {
            let ours = all_logits_with(kv_type, model, &TOKENS).concat();
            let error = rms_difference(ours.iter().map(|&x| f64::from(x)), exact.iter().map(|&x| f64::from(x)));
            assert!(error > 0.0 && error < near * size(&exact), "{}: {error} of {}", kv_type.name(), size(&exact));
        }
    }
}
