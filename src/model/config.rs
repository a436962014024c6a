//! The numbers that say what a model computes, out of a GGUF header.

use candle_core::quantized::gguf_file::Value;

use super::layout;
use crate::error::{Error, ErrorKind, Result};
use crate::gguf::{Header, Metadata, shown};

/// The kinds of model that the forward pass computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// Llama and everything that is converted as one: SmolLM2, TinyLlama, Mistral 7B.
    Llama,
}

impl Architecture {
    /// The name in `general.architecture`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Llama => "llama",
        }
    }
}

/// A model's shape and constants. Every size agrees with the shapes of the file's tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub architecture: Architecture,
    /// Layers, each of attention and a feed-forward network.
    pub n_layers: usize,
    /// Length of a token's vector between layers.
    pub width: usize,
    /// Query heads.
    pub n_heads: usize,
    /// Key and value heads; each serves `n_heads / n_kv_heads` query heads.
    pub n_kv_heads: usize,
    /// Length of one head's query, key or value.
    pub head_dim: usize,
    /// Length of a token's vector inside the feed-forward network.
    pub ffn_width: usize,
    /// Tokens in the vocabulary, and so logits for one position.
    pub vocab_size: usize,
    /// Positions that the model was trained for.
    pub context_length: usize,
    /// Added to the mean square before the root in RMS norm.
    pub norm_epsilon: f32,
    /// RoPE's base: pair `i` of a head turns by `position · base^(−2i / rope_dims)` radians.
    pub rope_base: f32,
    /// How many of a head's values RoPE turns; an even number.
    pub rope_dims: usize,
}

/// Says whether a key's value leaves the computation as it is.
type Harmless = fn(&Value) -> bool;

/// Keys, below the architecture's name, that change the computation in a way that is not implemented here.
const NOT_IMPLEMENTED: [(&str, Harmless); 9] = [
    ("expert_count", is_zero),
    ("rope.scaling.type", |value| matches!(value, Value::String(kind) if kind == "none")),
    ("rope.scaling.factor", is_zero_or_one),
    ("rope.scale_linear", is_zero_or_one),
    ("attention.causal", |value| matches!(value, Value::Bool(true))),
    ("attention.scale", is_zero),
    ("attention.max_alibi_bias", is_zero),
    ("attention.clamp_kqv", is_zero),
    ("logit_scale", is_zero_or_one),
];

impl Config {
    /// # Errors
    /// `unsupported-model` for an architecture, or a variation of a known one, that is not implemented, by its name;
    /// `corrupt-model` for sizes that are missing or contradict each other.
    pub fn from_header(header: &Header) -> Result<Self> {
        let metadata = &header.metadata;
        let name = metadata.str("general.architecture")?;
        let architecture = match name {
            "llama" => Architecture::Llama,
            _ => return Err(unsupported(format!("the model architecture `{}` is not supported", shown(name)))),
        };
        for (key, harmless) in NOT_IMPLEMENTED {
            let key = format!("{name}.{key}");
            if metadata.get(&key).is_some_and(|value| !harmless(value)) {
                return Err(unsupported(format!("the model sets `{key}`, which is not supported")));
            }
        }
        let sizes = Sizes { metadata, architecture: name };

        let width = sizes.required("embedding_length")?;
        let n_heads = sizes.required("attention.head_count")?;
        let n_kv_heads = sizes.optional("attention.head_count_kv")?.unwrap_or(n_heads);
        if !n_heads.is_multiple_of(n_kv_heads) {
            return Err(corrupt(format!("{n_heads} attention heads cannot share {n_kv_heads} key and value heads")));
        }
        let head_dim = match sizes.optional("attention.key_length")? {
            Some(head_dim) => head_dim,
            None if width.is_multiple_of(n_heads) => width / n_heads,
            None => return Err(corrupt(format!("{n_heads} attention heads do not divide a width of {width}"))),
        };
        if sizes.optional("attention.value_length")?.is_some_and(|length| length != head_dim) {
            return Err(unsupported("values of another length than keys in attention are not supported"));
        }
        if n_heads.checked_mul(head_dim).is_none_or(|query_width| query_width > Sizes::LARGEST) {
            return Err(corrupt(format!("{n_heads} attention heads of length {head_dim} are too large")));
        }
        let rope_dims = sizes.optional("rope.dimension_count")?.unwrap_or(head_dim);
        if rope_dims > head_dim || !rope_dims.is_multiple_of(2) {
            return Err(corrupt(format!("RoPE cannot turn {rope_dims} of a head's {head_dim} values")));
        }

        let embedding = header.tensor(layout::EMBEDDING).map(|tensor| tensor.dims.as_slice());
        let Some(&[vocab_size, _]) = embedding else {
            return Err(corrupt(format!("the model has no matrix `{}`", layout::EMBEDDING)));
        };

        let config = Self {
            architecture,
            n_layers: sizes.required("block_count")?,
            width,
            n_heads,
            n_kv_heads,
            head_dim,
            ffn_width: sizes.required("feed_forward_length")?,
            vocab_size,
            context_length: sizes.required("context_length")?,
            norm_epsilon: sizes.float("attention.layer_norm_rms_epsilon", None, |epsilon| epsilon >= 0.0)?,
            // The default of files that were converted before the key existed.
            rope_base: sizes.float("rope.freq_base", Some(10_000.0), |base| base > 0.0)?,
            rope_dims,
        };
        layout::check(&config, header)?;
        Ok(config)
    }

    /// Length of all query heads of a token together.
    pub fn query_width(&self) -> usize {
        self.n_heads * self.head_dim
    }

    /// Length of all key heads, or all value heads, of a token together.
    pub fn kv_width(&self) -> usize {
        self.n_kv_heads * self.head_dim
    }
}

/// Sizes below one architecture's name.
struct Sizes<'a> {
    metadata: &'a Metadata,
    architecture: &'a str,
}

impl Sizes<'_> {
    /// Far above the sizes of any model that fits in memory, and far below an overflow.
    const LARGEST: usize = 1 << 24;

    fn optional(&self, key: &str) -> Result<Option<usize>> {
        let key = format!("{}.{key}", self.architecture);
        if let Some(Value::Array(_)) = self.metadata.get(&key) {
            return Err(unsupported(format!(
                "the model has a different `{key}` in each layer, which is not supported"
            )));
        }
        match self.metadata.opt_usize(&key)? {
            Some(size) if size == 0 || size > Self::LARGEST => {
                Err(corrupt(format!("the GGUF metadata's `{key}` is {size}, not 1 to {}", Self::LARGEST)))
            }
            size => Ok(size),
        }
    }

    fn required(&self, key: &str) -> Result<usize> {
        let missing = || corrupt(format!("the GGUF metadata has no `{}.{key}`", self.architecture));
        self.optional(key)?.ok_or_else(missing)
    }

    fn float(&self, key: &str, default: Option<f32>, sound: fn(f32) -> bool) -> Result<f32> {
        let key = format!("{}.{key}", self.architecture);
        let value = match (self.metadata.opt_f32(&key)?, default) {
            (Some(value), _) | (None, Some(value)) => value,
            (None, None) => return Err(corrupt(format!("the GGUF metadata has no `{key}`"))),
        };
        if !value.is_finite() || !sound(value) {
            return Err(corrupt(format!("the GGUF metadata's `{key}` is {value}")));
        }
        Ok(value)
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::F32(v) => Some(f64::from(*v)),
        Value::F64(v) => Some(*v),
        Value::U32(v) => Some(f64::from(*v)),
        Value::I32(v) => Some(f64::from(*v)),
        Value::U16(v) => Some(f64::from(*v)),
        Value::U8(v) => Some(f64::from(*v)),
        Value::U64(v) => Some(*v as f64),
        _ => None,
    }
}

fn is_zero(value: &Value) -> bool {
    number(value) == Some(0.0)
}

fn is_zero_or_one(value: &Value) -> bool {
    is_zero(value) || number(value) == Some(1.0)
}

fn corrupt(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::CorruptModel, message)
}

fn unsupported(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::UnsupportedModel, message)
}
