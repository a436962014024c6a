//! The tensors that a model file must have, and their shapes.

use std::collections::HashMap;

use super::{Architecture, Config};
use crate::error::{Error, ErrorKind, Result};
use crate::gguf::{Header, TensorInfo, shown};

pub(super) const EMBEDDING: &str = "token_embd.weight";
const OUTPUT_NORM: &str = "output_norm.weight";
/// The same in LFM's files.
const OUTPUT_NORM_LFM: &str = "token_embd_norm.weight";
/// Absent where the embedding is used a second time, as the output head ("tied").
pub(super) const HEAD: &str = "output.weight";
/// Divisors of RoPE's frequencies, for any context, and for short and long ones; optional.
pub(super) const ROPE_FACTORS: &str = "rope_freqs.weight";
pub(super) const ROPE_FACTORS_SHORT: &str = "rope_factors_short.weight";
pub(super) const ROPE_FACTORS_LONG: &str = "rope_factors_long.weight";

pub(super) const ATTENTION_NORM: &str = "attn_norm.weight";
pub(super) const QUERY: &str = "attn_q.weight";
pub(super) const KEY: &str = "attn_k.weight";
pub(super) const VALUE: &str = "attn_v.weight";
/// The three above, one below the other.
const QUERY_KEY_VALUE: &str = "attn_qkv.weight";
pub(super) const QUERY_BIAS: &str = "attn_q.bias";
pub(super) const KEY_BIAS: &str = "attn_k.bias";
pub(super) const VALUE_BIAS: &str = "attn_v.bias";
pub(super) const QUERY_NORM: &str = "attn_q_norm.weight";
pub(super) const KEY_NORM: &str = "attn_k_norm.weight";
pub(super) const ATTENTION_OUTPUT: &str = "attn_output.weight";
pub(super) const ATTENTION_OUTPUT_BIAS: &str = "attn_output.bias";
pub(super) const ATTENTION_POST_NORM: &str = "post_attention_norm.weight";
/// A token's input, and what goes before and after the kernel, one below the other.
pub(super) const CONVOLUTION_INPUT: &str = "shortconv.in_proj.weight";
pub(super) const CONVOLUTION_KERNEL: &str = "shortconv.conv.weight";
pub(super) const CONVOLUTION_OUTPUT: &str = "shortconv.out_proj.weight";
pub(super) const FFN_NORM: &str = "ffn_norm.weight";
pub(super) const GATE: &str = "ffn_gate.weight";
/// In Phi's files the gate comes first in the same tensor.
pub(super) const UP: &str = "ffn_up.weight";
pub(super) const DOWN: &str = "ffn_down.weight";
pub(super) const FFN_POST_NORM: &str = "post_ffw_norm.weight";

/// The full name of a layer's tensor.
pub(super) fn in_layer(layer: usize, name: &str) -> String {
    format!("blk.{layer}.{name}")
}

/// The full name of the norm before the head.
pub(super) fn output_norm(config: &Config) -> &'static str {
    if config.architecture == Architecture::Lfm2 { OUTPUT_NORM_LFM } else { OUTPUT_NORM }
}

/// Whether a tensor of two dimensions is used as numbers one by one, not in products with vectors.
pub(super) fn is_kernel(name: &str) -> bool {
    name.ends_with(CONVOLUTION_KERNEL)
}

/// The matrices that a file's matrix holds one below the other, by full name and with their rows, if it holds several.
pub(super) fn parts(config: &Config, name: &str) -> Option<Vec<(String, usize)>> {
    let fused = config.architecture == Architecture::Phi3;
    let (layer, tensor) = name.strip_prefix("blk.")?.split_once('.')?;
    let (query_width, kv_width, ffn_width) = (config.query_width(), config.kv_width(), config.ffn_width);
    let parts = match tensor {
        QUERY_KEY_VALUE if fused => vec![(QUERY, query_width), (KEY, kv_width), (VALUE, kv_width)],
        UP if fused => vec![(GATE, ffn_width), (UP, ffn_width)],
        _ => return None,
    };
    Some(parts.into_iter().map(|(part, rows)| (format!("blk.{layer}.{part}"), rows)).collect())
}

/// Whether a file must have a tensor.
#[derive(Clone, Copy, PartialEq)]
enum Need {
    Required,
    Optional,
}
use Need::{Optional, Required};

/// Checks that the file has every tensor that the model needs, in its right shape, and none that would be ignored.
///
/// # Errors
/// `corrupt-model` for a missing tensor or a wrong shape; `unsupported-model` for a tensor that the forward pass has no
/// use for, since the model was meant to compute something with it.
pub(super) fn check(config: &Config, header: &Header) -> Result<()> {
    let mut unseen: HashMap<&str, &TensorInfo> =
        header.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    let mut expect = |name: &str, dims: &[usize], need: Need| match unseen.remove(name) {
        Some(tensor) if tensor.dims == dims => Ok(()),
        Some(tensor) => {
            Err(corrupt(format!("tensor `{name}` has the shape {:?}, and the metadata makes it {dims:?}", tensor.dims)))
        }
        None if need == Required => Err(corrupt(format!("the model has no tensor `{name}`"))),
        None => Ok(()),
    };

    let (width, vocab_size, pairs) = (config.width, config.vocab_size, config.rotation.dims / 2);
    expect(EMBEDDING, &[vocab_size, width], Required)?;
    expect(output_norm(config), &[width], Required)?;
    expect(HEAD, &[vocab_size, width], Optional)?;
    match config.architecture {
        Architecture::Phi3 => {
            let long = if header.tensor(ROPE_FACTORS_SHORT).is_some() { Required } else { Optional };
            let short = if header.tensor(ROPE_FACTORS_LONG).is_some() { Required } else { Optional };
            expect(ROPE_FACTORS_LONG, &[pairs], long)?;
            expect(ROPE_FACTORS_SHORT, &[pairs], short)?;
        }
        Architecture::Gemma3 | Architecture::Lfm2 => {}
        _ => expect(ROPE_FACTORS, &[pairs], Optional)?,
    }
    for layer in 0..config.n_layers {
        for (name, dims, need) in of_layer(config, layer) {
            expect(&in_layer(layer, name), &dims, need)?;
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

/// The tensors of a layer.
fn of_layer(config: &Config, layer: usize) -> Vec<(&'static str, Vec<usize>, Need)> {
    let &Config { width, ffn_width, .. } = config;
    let mut tensors = vec![
        (ATTENTION_NORM, vec![width], Required),
        (FFN_NORM, vec![width], Required),
        (DOWN, vec![width, ffn_width], Required),
    ];
    if config.architecture == Architecture::Phi3 {
        tensors.push((UP, vec![2 * ffn_width, width], Required));
    } else {
        tensors.push((GATE, vec![ffn_width, width], Required));
        tensors.push((UP, vec![ffn_width, width], Required));
    }
    if config.architecture == Architecture::Gemma3 {
        tensors.push((ATTENTION_POST_NORM, vec![width], Required));
        tensors.push((FFN_POST_NORM, vec![width], Required));
    }
    match config.convolution_of(layer) {
        None => tensors.extend(of_attention(config)),
        Some(length) => tensors.extend([
            (CONVOLUTION_INPUT, vec![3 * width, width], Required),
            (CONVOLUTION_KERNEL, vec![width, length], Required),
            (CONVOLUTION_OUTPUT, vec![width, width], Required),
        ]),
    }
    tensors
}

/// The tensors of a layer's attention.
fn of_attention(config: &Config) -> Vec<(&'static str, Vec<usize>, Need)> {
    let &Config { width, head_dim, .. } = config;
    let (query_width, kv_width) = (config.query_width(), config.kv_width());
    let mut tensors =
        vec![(ATTENTION_OUTPUT, vec![width, query_width], Required), (ATTENTION_OUTPUT_BIAS, vec![width], Optional)];
    if config.architecture == Architecture::Phi3 {
        tensors.push((QUERY_KEY_VALUE, vec![query_width + 2 * kv_width, width], Required));
    } else {
        let bias = if config.architecture == Architecture::Qwen2 { Required } else { Optional };
        tensors.push((QUERY, vec![query_width, width], Required));
        tensors.push((KEY, vec![kv_width, width], Required));
        tensors.push((VALUE, vec![kv_width, width], Required));
        tensors.push((QUERY_BIAS, vec![query_width], bias));
        tensors.push((KEY_BIAS, vec![kv_width], bias));
        tensors.push((VALUE_BIAS, vec![kv_width], bias));
    }
    if matches!(config.architecture, Architecture::Qwen3 | Architecture::Gemma3 | Architecture::Lfm2) {
        tensors.push((QUERY_NORM, vec![head_dim], Required));
        tensors.push((KEY_NORM, vec![head_dim], Required));
    }
    tensors
}

fn corrupt(message: String) -> Error {
    Error::new(ErrorKind::CorruptModel, message)
}
