//! The numbers that say what a model computes, out of a GGUF header.

use candle_core::quantized::gguf_file::Value;

use super::layout;
use super::rope::{Pairing, Rotation, Scaling};
use crate::error::{Error, ErrorKind, Result};
use crate::gguf::{Header, Metadata, shown};

/// The families of models that the forward pass computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// Llama and everything that is converted as one: SmolLM2, TinyLlama, Llama 3.2, Mistral 7B.
    Llama,
    /// Qwen 2 and 2.5: biases on queries, keys and values.
    Qwen2,
    /// Qwen 3: a norm over each query and key.
    Qwen3,
    /// Gemma 3: norms before and after each part, most layers see a window only.
    Gemma3,
    /// SmolLM 3: every fourth layer without positions.
    SmolLm3,
    /// Phi 3, 3.5 and 4 mini: fused matrices, RoPE with factors for long contexts.
    Phi3,
    /// LFM 2: most layers convolve the last few tokens where the others attend.
    Lfm2,
}

impl Architecture {
    const ALL: [Self; 7] = [Self::Llama, Self::Qwen2, Self::Qwen3, Self::Gemma3, Self::SmolLm3, Self::Phi3, Self::Lfm2];

    /// The name in `general.architecture`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
            Self::Gemma3 => "gemma3",
            Self::SmolLm3 => "smollm3",
            Self::Phi3 => "phi3",
            Self::Lfm2 => "lfm2",
        }
    }

    /// Which two values of a head RoPE turns together. Converters permute the rows of Llama's (and SmolLM 3's) queries and
    /// keys so that they are neighbours; the other families' are as trained.
    const fn pairing(self) -> Pairing {
        match self {
            Self::Llama | Self::SmolLm3 => Pairing::Neighbours,
            Self::Qwen2 | Self::Qwen3 | Self::Gemma3 | Self::Phi3 | Self::Lfm2 => Pairing::Halves,
        }
    }
}

/// The function inside the gate of the feed-forward network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `x / (1 + exp(−x))`
    Silu,
    /// `x · Φ(x)` for the normal distribution's `Φ`, by its approximation with a tanh.
    Gelu,
}

/// Layers that see no further back than a window: all but each `every`-th, counted from one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Positions that a token sees, itself included.
    pub length: usize,
    /// One means that every layer has the window.
    pub every: usize,
    /// RoPE's base in these layers, which have no scaling.
    pub rope_base: Option<f32>,
}

/// Layers that convolve where others attend.
#[derive(Clone, Debug, PartialEq)]
pub struct Convolution {
    /// Positions under the kernel: a token's own and those before it.
    pub length: usize,
    /// For each layer whether it convolves.
    pub layers: Vec<bool>,
}

/// A model's shape and constants. Every size agrees with the shapes of the file's tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub architecture: Architecture,
    /// Layers, each of attention, or a convolution, and a feed-forward network.
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
    /// What a token's embedding is multiplied by.
    pub embedding_scale: f32,
    /// What products of queries and keys are multiplied by before the softmax.
    pub attention_scale: f32,
    pub activation: Activation,
    pub rotation: Rotation,
    /// `Some` where not every layer sees everything.
    pub window: Option<Window>,
    /// Each so-manieth layer, counted from one, goes without RoPE.
    pub no_rope_every: Option<usize>,
    /// `Some` where not every layer attends.
    pub convolution: Option<Convolution>,
}

/// Says whether a key's value leaves the computation as it is.
type Harmless = fn(&Value) -> bool;

/// Keys, below the architecture's name, that change the computation in a way that is not implemented here.
const NOT_IMPLEMENTED: [(&str, Harmless); 13] = [
    ("expert_count", is_zero),
    ("rope.scale_linear", is_zero_or_one),
    ("rope.scaling.yarn_log_multiplier", is_zero),
    ("rope.dimension_sections", never),
    ("attention.causal", |value| matches!(value, Value::Bool(true))),
    ("attention.max_alibi_bias", is_zero),
    ("attention.clamp_kqv", is_zero),
    ("attention.temperature_scale", is_zero),
    ("attention.output_scale", is_zero_or_one),
    ("attn_logit_softcapping", is_zero),
    ("final_logit_softcapping", is_zero),
    ("logit_scale", is_zero_or_one),
    ("residual_scale", is_zero_or_one),
];

impl Config {
    /// # Errors
    /// `unsupported-model` for an architecture, or a variation of a known one, that is not implemented, by its name;
    /// `corrupt-model` for sizes that are missing or contradict each other.
    pub fn from_header(header: &Header) -> Result<Self> {
        let metadata = &header.metadata;
        let name = metadata.str("general.architecture")?;
        let Some(architecture) = Architecture::ALL.into_iter().find(|architecture| architecture.name() == name) else {
            return Err(unsupported(format!("the model architecture `{}` is not supported", shown(name))));
        };
        for (key, harmless) in NOT_IMPLEMENTED {
            let key = format!("{name}.{key}");
            if metadata.get(&key).is_some_and(|value| !harmless(value)) {
                return Err(unsupported(format!("the model sets `{key}`, which is not supported")));
            }
        }
        let keys = Keys { metadata, architecture: name };

        let width = keys.size("embedding_length")?;
        let n_heads = keys.size("attention.head_count")?;
        let n_layers = keys.size("block_count")?;
        let (n_kv_heads, convolution) = match architecture {
            Architecture::Lfm2 => keys.kv_heads_where_attending(n_layers)?,
            _ => (keys.opt_size("attention.head_count_kv")?.unwrap_or(n_heads), None),
        };
        if !n_heads.is_multiple_of(n_kv_heads) {
            return Err(corrupt(format!("{n_heads} attention heads cannot share {n_kv_heads} key and value heads")));
        }
        let head_dim = match keys.opt_size("attention.key_length")? {
            Some(head_dim) => head_dim,
            None if width.is_multiple_of(n_heads) => width / n_heads,
            None => return Err(corrupt(format!("{n_heads} attention heads do not divide a width of {width}"))),
        };
        if keys.opt_size("attention.value_length")?.is_some_and(|length| length != head_dim) {
            return Err(unsupported("values of another length than keys in attention are not supported"));
        }
        if n_heads.checked_mul(head_dim).is_none_or(|query_width| query_width > Keys::LARGEST) {
            return Err(corrupt(format!("{n_heads} attention heads of length {head_dim} are too large")));
        }

        if convolution.is_some() && !width.is_multiple_of(head_dim) {
            return Err(unsupported(format!(
                "convolutions of {width} values, beside heads of {head_dim}, are not supported"
            )));
        }

        let embedding = header.tensor(layout::EMBEDDING).map(|tensor| tensor.dims.as_slice());
        let Some(&[vocab_size, _]) = embedding else {
            return Err(corrupt(format!("the model has no matrix `{}`", layout::EMBEDDING)));
        };

        let context_length = keys.size("context_length")?;
        let gemma = architecture == Architecture::Gemma3;
        let attention_scale = match keys.opt_float("attention.scale", |scale| scale >= 0.0)? {
            Some(scale) if scale > 0.0 => scale,
            // Gemma 3 27B, the one of 62 layers, divides by another root: gemma_pytorch's `query_pre_attn_scalar`.
            _ if gemma && n_layers == 62 => 1.0 / (width as f32 / n_heads as f32).sqrt(),
            _ => 1.0 / (head_dim as f32).sqrt(),
        };
        let config = Self {
            architecture,
            n_layers,
            width,
            n_heads,
            n_kv_heads,
            head_dim,
            ffn_width: keys.size("feed_forward_length")?,
            vocab_size,
            context_length,
            norm_epsilon: keys.float("attention.layer_norm_rms_epsilon", |epsilon| epsilon >= 0.0)?,
            embedding_scale: if gemma { (width as f32).sqrt() } else { 1.0 },
            attention_scale,
            activation: if gemma { Activation::Gelu } else { Activation::Silu },
            rotation: keys.rotation(architecture.pairing(), head_dim, context_length)?,
            window: keys.window(architecture)?,
            no_rope_every: (architecture == Architecture::SmolLm3).then_some(4),
            convolution,
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

    /// The window of a layer that has one.
    pub fn window_of(&self, layer: usize) -> Option<Window> {
        self.window.filter(|window| window.every == 1 || !(layer + 1).is_multiple_of(window.every))
    }

    /// The length of the kernel of a layer that convolves.
    pub fn convolution_of(&self, layer: usize) -> Option<usize> {
        self.convolution.as_ref().filter(|convolution| convolution.layers[layer]).map(|convolution| convolution.length)
    }

    /// Whether a layer turns its queries and keys.
    pub fn has_rope(&self, layer: usize) -> bool {
        self.no_rope_every.is_none_or(|every| !(layer + 1).is_multiple_of(every))
    }
}

/// Values below one architecture's name.
struct Keys<'a> {
    metadata: &'a Metadata,
    architecture: &'a str,
}

impl Keys<'_> {
    /// Far above the sizes of any model that fits in memory, and far below an overflow.
    const LARGEST: usize = 1 << 24;

    /// A size of at least one that is the same in each layer.
    fn opt_size(&self, key: &str) -> Result<Option<usize>> {
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

    /// Key and value heads of the layers that attend, by a list with zero for each layer that convolves.
    fn kv_heads_where_attending(&self, n_layers: usize) -> Result<(usize, Option<Convolution>)> {
        const KEY: &str = "attention.head_count_kv";
        let key = format!("{}.{KEY}", self.architecture);
        let Some(Value::Array(counts)) = self.metadata.get(&key) else { return Ok((self.size(KEY)?, None)) };
        let counts: Option<Vec<usize>> = counts.iter().map(count).collect();
        let Some(counts) = counts.filter(|counts| counts.len() == n_layers) else {
            return Err(corrupt(format!("the GGUF metadata's `{key}` is no list of {n_layers} numbers of heads")));
        };
        let mut attending = counts.iter().copied().filter(|&heads| heads != 0);
        let Some(n_kv_heads) = attending.next().filter(|&heads| heads <= Self::LARGEST) else {
            return Err(unsupported(format!(
                "the model's `{key}` names no layer that attends, which is not supported"
            )));
        };
        if attending.any(|heads| heads != n_kv_heads) {
            return Err(unsupported(format!(
                "the model has a different `{key}` in each layer, which is not supported"
            )));
        }
        let layers: Vec<bool> = counts.iter().map(|&heads| heads == 0).collect();
        let length = if layers.contains(&true) { Some(self.size("shortconv.l_cache")?) } else { None };
        Ok((n_kv_heads, length.map(|length| Convolution { length, layers })))
    }

    fn size(&self, key: &str) -> Result<usize> {
        self.opt_size(key)?.ok_or_else(|| self.missing(key))
    }

    fn opt_float(&self, key: &str, sound: fn(f32) -> bool) -> Result<Option<f32>> {
        let key = format!("{}.{key}", self.architecture);
        match self.metadata.opt_f32(&key)? {
            Some(value) if !value.is_finite() || !sound(value) => {
                Err(corrupt(format!("the GGUF metadata's `{key}` is {value}")))
            }
            value => Ok(value),
        }
    }

    fn float(&self, key: &str, sound: fn(f32) -> bool) -> Result<f32> {
        self.opt_float(key, sound)?.ok_or_else(|| self.missing(key))
    }

    fn missing(&self, key: &str) -> Error {
        corrupt(format!("the GGUF metadata has no `{}.{key}`", self.architecture))
    }

    fn rotation(&self, pairing: Pairing, head_dim: usize, context_length: usize) -> Result<Rotation> {
        let dims = self.opt_size("rope.dimension_count")?.unwrap_or(head_dim);
        if dims > head_dim || !dims.is_multiple_of(2) {
            return Err(corrupt(format!("RoPE cannot turn {dims} of a head's {head_dim} values")));
        }
        // The default of files that were converted before the key existed.
        let base = self.opt_float("rope.freq_base", |base| base > 0.0)?.unwrap_or(10_000.0);
        let factor = self.opt_float("rope.scaling.factor", |factor| factor >= 0.0)?.filter(|&factor| factor > 0.0);
        let original_context = self.opt_size("rope.scaling.original_context_length")?.unwrap_or(context_length);
        let magnitude = self.opt_float("rope.scaling.attn_factor", |factor| factor > 0.0)?.unwrap_or(1.0);

        let key = format!("{}.rope.scaling.type", self.architecture);
        let scaling = match (self.metadata.opt_str(&key)?, factor) {
            // A factor without a type is from files that were converted before the type existed: all of them linear.
            (None | Some("linear"), Some(factor)) => Scaling::Linear { factor },
            (Some("yarn"), Some(factor)) => Scaling::Yarn {
                factor,
                original_context,
                ramp: self.opt_float("rope.scaling.yarn_ext_factor", |mix| (0.0..=1.0).contains(&mix))?.unwrap_or(1.0),
                fast: self.opt_float("rope.scaling.yarn_beta_fast", |beta| beta > 0.0)?.unwrap_or(32.0),
                slow: self.opt_float("rope.scaling.yarn_beta_slow", |beta| beta > 0.0)?.unwrap_or(1.0),
            },
            // Phi's files bring the divisors as tensors.
            (Some("longrope"), factor) if factor.is_none_or(|factor| factor == 1.0) => Scaling::None,
            (Some("none"), _) | (None | Some("linear" | "yarn"), None) => Scaling::None,
            (Some(other), _) => {
                return Err(unsupported(format!(
                    "the model sets `{key}` to `{}`, which is not supported",
                    shown(other)
                )));
            }
        };
        Ok(Rotation { base, dims, pairing, scaling, original_context, magnitude })
    }

    fn window(&self, architecture: Architecture) -> Result<Option<Window>> {
        const LENGTH: &str = "attention.sliding_window";
        let length = match self.metadata.opt_usize(&format!("{}.{LENGTH}", self.architecture))? {
            None | Some(0) => None,
            Some(_) => self.opt_size(LENGTH)?,
        };
        match (architecture, length) {
            (Architecture::Gemma3, None) => Err(self.missing(LENGTH)),
            (Architecture::Gemma3, Some(length)) => {
                let every = self.opt_size("attention.sliding_window_pattern")?.unwrap_or(6);
                let rope_base = self.opt_float("rope.freq_base_swa", |base| base > 0.0)?.unwrap_or(10_000.0);
                Ok(Some(Window { length, every, rope_base: Some(rope_base) }))
            }
            (Architecture::Phi3, Some(length)) => Ok(Some(Window { length, every: 1, rope_base: None })),
            (_, Some(_)) => {
                Err(unsupported(format!("the model sets `{}.{LENGTH}`, which is not supported", self.architecture)))
            }
            (_, None) => Ok(None),
        }
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

/// A whole number that is not negative.
fn count(value: &Value) -> Option<usize> {
    number(value).filter(|&value| value >= 0.0 && value.fract() == 0.0).map(|value| value as usize)
}

fn is_zero(value: &Value) -> bool {
    number(value) == Some(0.0)
}

fn never(_: &Value) -> bool {
    false
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
