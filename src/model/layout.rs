//! The tensors that a model file must have, and their shapes.

use std::collections::HashMap;

use super::Config;
use crate::error::{Error, ErrorKind, Result};
use crate::gguf::{Header, TensorInfo, shown};

pub(super) const EMBEDDING: &str = "token_embd.weight";
pub(super) const OUTPUT_NORM: &str = "output_norm.weight";
/// Absent where the embedding is used a second time, as the output head ("tied").
pub(super) const HEAD: &str = "output.weight";
/// Divisors of RoPE's frequencies; optional.
pub(super) const ROPE_FACTORS: &str = "rope_freqs.weight";

pub(super) const ATTENTION_NORM: &str = "attn_norm.weight";
pub(super) const QUERY: &str = "attn_q.weight";
pub(super) const KEY: &str = "attn_k.weight";
pub(super) const VALUE: &str = "attn_v.weight";
pub(super) const ATTENTION_OUTPUT: &str = "attn_output.weight";
pub(super) const FFN_NORM: &str = "ffn_norm.weight";
pub(super) const GATE: &str = "ffn_gate.weight";
pub(super) const UP: &str = "ffn_up.weight";
pub(super) const DOWN: &str = "ffn_down.weight";

/// The full name of a layer's tensor.
pub(super) fn in_layer(layer: usize, name: &str) -> String {
    format!("blk.{layer}.{name}")
}

/// Checks that the file has every tensor that the model needs, in its right shape, and none that would be ignored.
///
/// # Errors
/// `corrupt-model` for a missing tensor or a wrong shape; `unsupported-model` for a tensor that the forward pass has no
/// use for, since the model was meant to compute something with it.
pub(super) fn check(config: &Config, header: &Header) -> Result<()> {
    let mut unseen: HashMap<&str, &TensorInfo> =
        header.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    let mut expect = |name: &str, dims: &[usize], required: bool| match unseen.remove(name) {
        Some(tensor) if tensor.dims == dims => Ok(()),
        Some(tensor) => Err(Error::new(
            ErrorKind::CorruptModel,
            format!("tensor `{name}` has the shape {:?}, and the metadata makes it {dims:?}", tensor.dims),
        )),
        None if required => Err(Error::new(ErrorKind::CorruptModel, format!("the model has no tensor `{name}`"))),
        None => Ok(()),
    };

    let &Config { width, ffn_width, vocab_size, .. } = config;
    let (query_width, kv_width) = (config.query_width(), config.kv_width());
    expect(EMBEDDING, &[vocab_size, width], true)?;
    expect(OUTPUT_NORM, &[width], true)?;
    expect(HEAD, &[vocab_size, width], false)?;
    expect(ROPE_FACTORS, &[config.rope_dims / 2], false)?;
    for layer in 0..config.n_layers {
        for (name, dims) in [
            (ATTENTION_NORM, &[width][..]),
            (QUERY, &[query_width, width]),
            (KEY, &[kv_width, width]),
            (VALUE, &[kv_width, width]),
            (ATTENTION_OUTPUT, &[width, query_width]),
            (FFN_NORM, &[width]),
            (GATE, &[ffn_width, width]),
            (UP, &[ffn_width, width]),
            (DOWN, &[width, ffn_width]),
        ] {
            expect(&in_layer(layer, name), dims, true)?;
        }
    }

    match unseen.keys().min() {
        None => Ok(()),
        Some(name) => {
            let message = format!("the model has a tensor `{}`, which this build has no use for", shown(name));
            Err(Error::new(ErrorKind::UnsupportedModel, message))
        }
    }
}
