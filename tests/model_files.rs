//! Model files that are not what they should be: each gets its typed error, and none upsets the engine.

mod gguf_support;
mod model_support;

use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::Value;
use fairhand::ErrorKind::{self, CorruptModel, UnsupportedModel};
use fairhand::gguf::Header;
use fairhand::model::{Builder, KvCache, Loader, Model};
use gguf_support::load_in_pieces;
use model_support::tiny::{Tiny, families, write};
use proptest::prelude::*;

type Metadata = Vec<(String, Value)>;

/// Tiny's metadata with one pair set anew.
fn with(key: &str, value: Value) -> Metadata {
    let mut metadata = without(key);
    metadata.push((key.to_owned(), value));
    metadata
}

fn without(key: &str) -> Metadata {
    Tiny::default().metadata().into_iter().filter(|(name, _)| name != key).collect()
}

fn load(metadata: &Metadata) -> fairhand::Result<(Header, Model)> {
    Loader::read(&write(metadata, &Tiny::default().tensors()))
}

#[test]
fn metadata_that_is_wrong_or_not_implemented_is_refused_by_name() {
    let text = |value: &str| Value::String(value.into());
    let cases: Vec<(Metadata, ErrorKind, &str)> = vec![
        (with("general.architecture", text("mamba")), UnsupportedModel, "`mamba`"),
        (with("general.architecture", text("")), UnsupportedModel, "``"),
        (with("general.architecture", Value::U32(1)), CorruptModel, "`general.architecture` is not a string"),
        (without("general.architecture"), CorruptModel, "no `general.architecture`"),
        (without("llama.block_count"), CorruptModel, "no `llama.block_count`"),
        (without("llama.context_length"), CorruptModel, "no `llama.context_length`"),
        (without("llama.attention.layer_norm_rms_epsilon"), CorruptModel, "rms_epsilon"),
        (with("llama.block_count", Value::U32(0)), CorruptModel, "`llama.block_count` is 0"),
        (with("llama.block_count", Value::U32(3)), CorruptModel, "no tensor `blk.2.attn_norm.weight`"),
        (with("llama.block_count", Value::U32(1)), UnsupportedModel, "`blk.1.attn_k.weight`, which this build"),
        (with("llama.block_count", Value::U32(u32::MAX)), CorruptModel, "4294967295"),
        (with("llama.block_count", Value::I32(-1)), CorruptModel, "not an unsigned integer"),
        (with("llama.embedding_length", Value::U32(64)), CorruptModel, "`token_embd.weight` has the shape [50, 32]"),
        (with("llama.feed_forward_length", Value::U32(65)), CorruptModel, "`blk.0.ffn_down.weight`"),
        (with("llama.attention.head_count", Value::U32(8)), CorruptModel, "`blk.0.attn_output.weight`"),
        (with("llama.attention.head_count_kv", Value::U32(3)), CorruptModel, "4 attention heads cannot share 3"),
        (with("llama.attention.head_count_kv", Value::U32(1)), CorruptModel, "`blk.0.attn_k.weight`"),
        (
            with("llama.attention.head_count_kv", Value::Array(vec![Value::U32(2); 2])),
            UnsupportedModel,
            "different `llama.attention.head_count_kv` in each layer",
        ),
        (with("llama.attention.head_count", Value::U32(1 << 22)), CorruptModel, "too large"),
        (with("llama.attention.value_length", Value::U32(4)), UnsupportedModel, "values of another length"),
        (with("llama.rope.dimension_count", Value::U32(7)), CorruptModel, "RoPE cannot turn 7"),
        (with("llama.rope.dimension_count", Value::U32(10)), CorruptModel, "RoPE cannot turn 10"),
        (with("llama.rope.freq_base", Value::F32(0.0)), CorruptModel, "`llama.rope.freq_base` is 0"),
        (with("llama.rope.freq_base", Value::F32(f32::NAN)), CorruptModel, "is NaN"),
        (with("llama.rope.scaling.type", text("dynamic")), UnsupportedModel, "type` to `dynamic`"),
        (with("llama.rope.scaling.factor", Value::F32(-4.0)), CorruptModel, "`llama.rope.scaling.factor` is -4"),
        (with("llama.rope.scaling.yarn_log_multiplier", Value::F32(1.0)), UnsupportedModel, "yarn_log_multiplier`"),
        (with("llama.attention.sliding_window", Value::U32(9)), UnsupportedModel, "`llama.attention.sliding_window`"),
        (with("llama.final_logit_softcapping", Value::F32(30.0)), UnsupportedModel, "`llama.final_logit_softcapping`"),
        (with("llama.expert_count", Value::U32(8)), UnsupportedModel, "`llama.expert_count`"),
        (with("llama.attention.causal", Value::Bool(false)), UnsupportedModel, "`llama.attention.causal`"),
    ];
    for (metadata, kind, part) in cases {
        let Err(error) = load(&metadata) else { panic!("accepted: {part}") };
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(part), "{error}, not {part}");
    }
}

#[test]
fn metadata_that_changes_nothing_is_accepted() {
    for metadata in [
        with("llama.rope.scaling.type", Value::String("none".into())),
        with("llama.rope.scaling.factor", Value::F32(1.0)),
        with("llama.expert_count", Value::U32(0)),
        without("llama.rope.freq_base"), // 10,000 by default
        without("llama.attention.key_length"),
        without("llama.rope.dimension_count"),
        with("llama.attention.head_count", Value::U8(4)),
    ] {
        load(&metadata).unwrap();
    }
}

#[test]
fn tensors_that_are_missing_or_unknown_are_refused_by_name() {
    for tiny in families() {
        let tiny = Tiny { tied: true, biases: false, ..tiny };
        for (index, (name, _)) in tiny.tensors().iter().enumerate().filter(|(_, (name, _))| name != "rope_freqs.weight")
        {
            let mut tensors = tiny.tensors();
            tensors.remove(index);
            let error = Loader::read(&write(&tiny.metadata(), &tensors)).err().unwrap();
            assert_eq!(error.kind(), CorruptModel);
            assert!(error.message().contains(name.as_str()), "{}: {error}", tiny.family);
        }
    }

    let tiny = Tiny::default();
    let mut tensors = tiny.tensors();
    let (_, bias) = tiny.tensors().remove(1);
    tensors.push(("blk.0.ffn_up.bias".into(), bias));
    let error = Loader::read(&write(&tiny.metadata(), &tensors)).err().unwrap();
    assert_eq!(error.kind(), UnsupportedModel);
    assert!(error.message().contains("`blk.0.ffn_up.bias`"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bytes changed anywhere, most often in the header, and a file cut anywhere: a typed error, or a model that runs to
    /// numbers without a fault (not of use, of course: weights are not checked by a sum).
    #[test]
    fn a_damaged_file_is_refused_or_runs(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        in_header in prop::bool::weighted(0.8),
        cut in prop::option::weighted(0.1, any::<prop::sample::Index>()),
        quantised: bool,
        sizes in prop::collection::vec(1usize..5000, 1..5),
    ) {
        let dtype = if quantised { GgmlDType::Q4_1 } else { GgmlDType::F32 };
        let mut file = Tiny { dtype, ..Tiny::default() }.file();
        let end = if in_header { 2000 } else { file.len() };
        for (at, byte) in damage {
            *at.get_mut(&mut file[..end]) = byte;
        }
        if let Some(cut) = cut {
            file.truncate(cut.index(file.len()));
        }
        match load_in_pieces::<Builder>(&file, Some(file.len() as u64), &sizes) {
            Ok((_, model)) => {
                let mut kv = KvCache::new(model.config(), model.config().context_length.min(8)).unwrap();
                let logits = model.forward(&[1, 2, 3, 1, 2, 3][..kv.capacity().min(6)], &mut kv).unwrap();
                prop_assert_eq!(logits.len(), model.config().vocab_size);
            }
            Err(error) => prop_assert!(
                matches!(error.code(), "corrupt-model" | "unsupported-model" | "unsupported-quant"),
                "{}", error
            ),
        }
    }
}
