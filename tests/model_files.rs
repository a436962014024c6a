//! Model files that are not what they should be: each gets its typed error, and none upsets the engine.

mod gguf_support;
mod model_support;

use candle_core::quantized::GgmlDType;
use candle_core::quantized::gguf_file::Value;
use fairhand::ErrorKind::{self, CorruptModel, UnsupportedModel};
use fairhand::error::Detail;
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
fn lists_of_heads_that_make_no_sense_are_refused_by_name() {
    let tiny = Tiny { family: "lfm2", layers: 5, ..Tiny::default() };
    let heads = |counts: &[u32]| Value::Array(counts.iter().map(|&heads| Value::U32(heads)).collect());
    let key = "lfm2.attention.head_count_kv";
    for (name, value, kind, part) in [
        (key, heads(&[0, 2, 0, 2]), CorruptModel, "no list of 5 numbers"),
        (key, heads(&[]), CorruptModel, "no list of 5 numbers"),
        (key, Value::Array(vec![Value::I32(-2); 5]), CorruptModel, "no list of 5 numbers"),
        (key, Value::Array(vec![Value::String("2".into()); 5]), CorruptModel, "no list of 5 numbers"),
        (key, heads(&[0; 5]), UnsupportedModel, "no layer that attends"),
        (key, heads(&[0, 2, 0, 1, 0]), UnsupportedModel, "different `lfm2.attention.head_count_kv` in each layer"),
        (key, heads(&[2, 2, 0, 2, 0]), CorruptModel, "no tensor `blk.0.attn_output.weight`"),
        (key, heads(&[0, 2, 0, 0, 0]), CorruptModel, "no tensor `blk.3.shortconv.in_proj.weight`"),
        (key, heads(&[0, 3, 0, 3, 0]), CorruptModel, "4 attention heads cannot share 3"),
        (key, Value::U32(2), CorruptModel, "no tensor `blk.0.attn_output.weight`"),
        ("lfm2.shortconv.l_cache", Value::U32(0), CorruptModel, "`lfm2.shortconv.l_cache` is 0"),
        ("lfm2.shortconv.l_cache", Value::U32(4), CorruptModel, "`blk.0.shortconv.conv.weight` has the shape [32, 3]"),
    ] {
        let metadata = tiny.metadata().into_iter().filter(|(other, _)| other != name);
        let metadata: Metadata = metadata.chain([(name.to_owned(), value)]).collect();
        let Err(error) = Loader::read(&write(&metadata, &tiny.tensors())) else { panic!("accepted: {part}") };
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

#[test]
fn a_file_cut_anywhere_is_refused_with_both_numbers() {
    let file = Tiny { dtype: GgmlDType::Q4_1, ..Tiny::default() }.file();
    for end in (0..file.len()).step_by(97) {
        let mut loader = Loader::new(None);
        let error = loader.push(&file[..end]).and_then(|_| loader.finish().map(drop)).expect_err("cut short");
        assert_eq!(error.kind(), CorruptModel, "cut at {end}: {error}");
        let Some(&Detail::Limit { requested, available }) = error.detail() else { panic!("cut at {end}: {error}") };
        assert!(requested > available && available == end as u64, "cut at {end}: {error}");
    }
}

#[test]
fn tensors_that_have_changed_places_are_refused_by_name() {
    let tiny = Tiny { ffn: 96, ..Tiny::default() };
    for (one, other) in
        [("token_embd", "output_norm"), ("blk.0.attn_q", "blk.0.attn_k"), ("blk.1.ffn_up", "blk.0.ffn_down")]
    {
        let mut tensors = tiny.tensors();
        let at = |name: &str| tensors.iter().position(|(tensor, _)| *tensor == format!("{name}.weight")).unwrap();
        let (i, j) = (at(one), at(other));
        (tensors[i].0, tensors[j].0) = (tensors[j].0.clone(), tensors[i].0.clone());
        let error = Loader::read(&write(&tiny.metadata(), &tensors)).err().unwrap();
        assert_eq!(error.kind(), CorruptModel);
        assert!([one, other].iter().any(|name| error.message().contains(name)), "{error}");
    }
}

/// A scale, or a weight of the formats without, that is not finite would make every answer nonsense without a word.
#[test]
fn weights_that_are_not_finite_are_refused_by_name() {
    use GgmlDType::*;
    // Where a half lies in a block; floats end with their exponent.
    let formats: [(GgmlDType, &[usize]); 13] = [
        (F32, &[2]),
        (F16, &[0]),
        (BF16, &[0]),
        (Q4_0, &[0]),
        (Q4_1, &[0, 2]),
        (Q5_0, &[0]),
        (Q5_1, &[0, 2]),
        (Q8_0, &[0]),
        (Q2K, &[80, 82]),
        (Q3K, &[108]),
        (Q4K, &[0, 2]),
        (Q5K, &[0, 2]),
        (Q6K, &[208]),
    ];
    for (dtype, halves) in formats {
        let tiny = Tiny { width: 256, head_dim: 64, rope_dims: 64, ffn: 256, dtype, ..Tiny::default() };
        let sound = tiny.file();
        let (header, _) = Loader::read(&sound).unwrap();
        for name in ["blk.1.ffn_down.weight", "token_embd.weight"] {
            let tensor = header.tensor(name).unwrap();
            for (&half, bits) in halves.iter().zip([0x7f80u16, 0xffff].iter().cycle()) {
                let mut file = sound.clone();
                let block = tensor.start as usize + 3 * dtype.type_size();
                let bits = if matches!(dtype, F16) || dtype.block_size() > 1 { bits | 0x7c00 } else { *bits };
                file[block + half..block + half + 2].copy_from_slice(&bits.to_le_bytes());
                let error =
                    Loader::read(&file).err().unwrap_or_else(|| panic!("{dtype:?} with {bits:#x} was accepted"));
                assert_eq!(error.kind(), CorruptModel);
                assert!(error.message().contains(name), "{error}");
            }
        }
    }
    let mut file = Tiny::default().file();
    let (header, _) = Loader::read(&file).unwrap();
    let start = header.tensor("blk.0.attn_norm.weight").unwrap().start as usize;
    file[start..start + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(Loader::read(&file).err().unwrap().kind(), CorruptModel);
}

/// Before anything is taken: the header alone is enough to refuse.
#[test]
fn a_model_larger_than_memory_is_refused_with_both_numbers() {
    let mut metadata = with("llama.embedding_length", Value::U32(1 << 20));
    metadata.retain(|(key, _)| key != "llama.feed_forward_length" && key != "llama.block_count");
    metadata.push(("llama.feed_forward_length".into(), Value::U32(1 << 23)));
    metadata.push(("llama.block_count".into(), Value::U32(1)));
    let (width, ffn, query, kv) = (1 << 20, 1 << 23, 32, 16);
    let shapes: [(&str, &[u64]); 11] = [
        ("token_embd.weight", &[width, 50]),
        ("output_norm.weight", &[width]),
        ("blk.0.attn_norm.weight", &[width]),
        ("blk.0.attn_q.weight", &[width, query]),
        ("blk.0.attn_k.weight", &[width, kv]),
        ("blk.0.attn_v.weight", &[width, kv]),
        ("blk.0.attn_output.weight", &[query, width]),
        ("blk.0.ffn_norm.weight", &[width]),
        ("blk.0.ffn_gate.weight", &[width, ffn]),
        ("blk.0.ffn_up.weight", &[width, ffn]),
        ("blk.0.ffn_down.weight", &[ffn, width]),
    ];
    // candle-core's writer wants the tensors themselves, which nobody has; so their descriptions are written here.
    let mut header = write(&metadata, &[]);
    header[8..16].copy_from_slice(&(shapes.len() as u64).to_le_bytes());
    header.truncate(header_end(&header));
    let mut start = 0u64;
    for (name, dims) in shapes {
        header.extend((name.len() as u64).to_le_bytes());
        header.extend(name.as_bytes());
        header.extend((dims.len() as u32).to_le_bytes());
        dims.iter().for_each(|dim| header.extend(dim.to_le_bytes()));
        header.extend(0u32.to_le_bytes()); // F32
        header.extend(start.to_le_bytes());
        start += dims.iter().product::<u64>() * 4;
    }
    let mut loader = Loader::new(None);
    let error = loader.push(&header).and_then(|_| loader.finish().map(drop)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
    let Some(&Detail::Limit { requested, available }) = error.detail() else { panic!("no numbers: {error}") };
    assert!(requested == start && available < requested, "{error}");
}

/// Where the key-value pairs of a file without tensors end: what follows is padding.
fn header_end(file: &[u8]) -> usize {
    match fairhand::gguf::scan(&[&file[..8], &[0; 8], &file[16..]].concat(), None).unwrap() {
        fairhand::gguf::Scan::Header(header) => header.len as usize,
        fairhand::gguf::Scan::NeedMore(_) => panic!("a whole header"),
    }
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
        convolves: bool,
        sizes in prop::collection::vec(1usize..5000, 1..5),
    ) {
        let dtype = if quantised { GgmlDType::Q4_1 } else { GgmlDType::F32 };
        let family = if convolves { "lfm2" } else { "llama" };
        let mut file = Tiny { dtype, family, ..Tiny::default() }.file();
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
                // A damaged shape may leave a small vocabulary, which by itself is sound.
                let tokens = [1, 2, 3, 1, 2, 3].map(|token| token % model.config().vocab_size as u32);
                let logits = model.forward(&tokens[..kv.capacity().min(6)], &mut kv).unwrap();
                prop_assert_eq!(logits.len(), model.config().vocab_size);
            }
            Err(error) => prop_assert!(
                matches!(error.code(), "corrupt-model" | "unsupported-model" | "unsupported-quant"),
                "{}", error
            ),
        }
    }
}
