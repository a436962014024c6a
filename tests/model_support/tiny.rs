//! Models of a few thousand random weights, as GGUF files, through candle-core's writer.

use std::io::Cursor;

use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};

/// The shape of a tiny model.
#[derive(Clone, Debug)]
pub struct Tiny {
    /// What `general.architecture` names.
    pub family: &'static str,
    pub layers: usize,
    pub width: usize,
    pub heads: usize,
    pub kv_heads: usize,
    pub head_dim: usize,
    pub ffn: usize,
    pub vocab: usize,
    pub rope_dims: usize,
    pub tied: bool,
    /// RoPE's factors come with the file: those that the family knows.
    pub rope_factors: bool,
    /// Biases on queries, keys, values and attention's output, where the family leaves that open.
    pub biases: bool,
    /// Gemma's and Phi's sliding window.
    pub window: usize,
    /// LFM's layers that attend; the others convolve.
    pub attending: Vec<usize>,
    /// Further metadata, by its name below the family's.
    pub keys: Vec<(&'static str, Value)>,
    pub dtype: GgmlDType,
    pub seed: u64,
}

impl Default for Tiny {
    fn default() -> Self {
        Self {
            family: "llama",
            layers: 2,
            width: 32,
            heads: 4,
            kv_heads: 2,
            head_dim: 8,
            ffn: 64,
            vocab: 50,
            rope_dims: 8,
            tied: true,
            rope_factors: false,
            biases: false,
            window: 5,
            attending: vec![1, 3],
            keys: Vec::new(),
            dtype: GgmlDType::F32,
            seed: 1,
        }
    }
}

pub const CONTEXT: usize = 256;

/// Positions under the kernel of LFM's convolutions.
const KERNEL: usize = 3;

/// Tokens of [`tokenizer`].
pub const VOCABULARY: usize = 264;

/// What llama.cpp wants to know of tokens before it runs a model: SentencePiece with little more than one for each byte.
pub fn tokenizer() -> Vec<(String, Value)> {
    let strings = |texts: Vec<String>| Value::Array(texts.into_iter().map(Value::String).collect());
    let (control, byte, normal) = (3, 6, 1);
    let names = ["<unk>", "<s>", "</s>"].map(String::from).into_iter();
    let bytes = (0..256).map(|byte| format!("<0x{byte:02X}>"));
    let texts: Vec<String> = names.chain(bytes).chain(["▁", "a", "b", "c", "d"].map(String::from)).collect();
    let kinds = |id: usize| [2, control, control].get(id).copied().unwrap_or(if id < 259 { byte } else { normal });
    vec![
        ("tokenizer.ggml.model".into(), Value::String("llama".into())),
        ("tokenizer.ggml.scores".into(), Value::Array((0..texts.len()).map(|id| Value::F32(-(id as f32))).collect())),
        ("tokenizer.ggml.token_type".into(), Value::Array((0..texts.len()).map(|id| Value::I32(kinds(id))).collect())),
        ("tokenizer.ggml.tokens".into(), strings(texts)),
        ("tokenizer.ggml.bos_token_id".into(), Value::U32(1)),
        ("tokenizer.ggml.eos_token_id".into(), Value::U32(2)),
        ("tokenizer.ggml.unknown_token_id".into(), Value::U32(0)),
    ]
}

/// The models that `tests/data/model/families.json` holds llama.cpp's logits of, by name: each family, each way to scale
/// RoPE, and each format.
pub fn recorded() -> Vec<(String, Tiny)> {
    let wide = Tiny { width: 64, head_dim: 16, rope_dims: 16, ffn: 96, vocab: VOCABULARY, ..Tiny::default() };
    let text = |value: &str| Value::String(value.into());
    let scaling = |kind: &str, further: &[(&'static str, Value)]| {
        [&[("rope.scaling.type", text(kind)), ("rope.scaling.factor", Value::F32(4.0))], further].concat()
    };
    let original = |tokens: u32| ("rope.scaling.original_context_length", Value::U32(tokens));
    let yarn = scaling("yarn", &[original(64)]);
    let phi = Tiny { family: "phi3", window: 300, rope_factors: true, tied: false, ..wide.clone() };
    let mut models = vec![
        ("llama", wide.clone()),
        ("llama, biases", Tiny { biases: true, tied: false, ..wide.clone() }),
        ("llama, llama3's factors", Tiny { rope_factors: true, ..wide.clone() }),
        ("llama, linear", Tiny { keys: scaling("linear", &[]), ..wide.clone() }),
        ("llama, yarn", Tiny { keys: yarn.clone(), ..wide.clone() }),
        ("qwen2", Tiny { family: "qwen2", ..wide.clone() }),
        ("qwen2, yarn", Tiny { family: "qwen2", keys: yarn, ..wide.clone() }),
        ("qwen3", Tiny { family: "qwen3", tied: false, ..wide.clone() }),
        ("gemma3", Tiny { family: "gemma3", layers: 8, ..wide.clone() }),
        ("smollm3", Tiny { family: "smollm3", layers: 5, ..wide.clone() }),
        ("lfm2", Tiny { family: "lfm2", layers: 5, ..wide.clone() }),
        ("phi3", Tiny { rope_factors: false, ..phi.clone() }),
        ("phi3, short factors", Tiny { keys: vec![original(4096)], ..phi.clone() }),
        ("phi3, long factors, part of a head turned", Tiny { keys: vec![original(16)], rope_dims: 12, ..phi.clone() }),
    ]
    .into_iter()
    .map(|(name, tiny)| (name.to_owned(), tiny))
    .collect::<Vec<_>>();

    let large = Tiny { width: 256, head_dim: 64, rope_dims: 64, ffn: 256, ..wide.clone() };
    use GgmlDType::{BF16, F16, Q2K, Q3K, Q4_0, Q4_1, Q4K, Q5_0, Q5_1, Q5K, Q6K, Q8_0};
    for dtype in [F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2K, Q3K, Q4K, Q5K, Q6K] {
        let shape = if dtype.block_size() == 256 { &large } else { &wide };
        models.push((format!("llama in {dtype:?}"), Tiny { dtype, ..shape.clone() }));
    }
    for family in ["gemma3", "lfm2", "phi3", "qwen3"] {
        let (dtype, window) = (Q4_0, 300);
        models.push((format!("{family} in {dtype:?}"), Tiny { family, dtype, window, ..wide.clone() }));
    }
    models
}

/// One tiny model of each family, with what sets the family apart.
pub fn families() -> Vec<Tiny> {
    let plain = Tiny::default();
    vec![
        Tiny { rope_factors: true, biases: true, ..plain.clone() },
        Tiny { family: "qwen2", ..plain.clone() },
        Tiny { family: "qwen3", head_dim: 16, rope_dims: 16, tied: false, ..plain.clone() },
        Tiny { family: "gemma3", layers: 7, ..plain.clone() },
        Tiny { family: "smollm3", layers: 5, ..plain.clone() },
        Tiny { family: "lfm2", layers: 5, ..plain.clone() },
        Tiny { family: "phi3", rope_dims: 6, rope_factors: true, tied: false, window: 300, ..plain },
    ]
}

impl Tiny {
    pub fn metadata(&self) -> Vec<(String, Value)> {
        let u32 = |value: usize| Value::U32(value as u32);
        let mut keys = vec![
            ("block_count", u32(self.layers)),
            ("embedding_length", u32(self.width)),
            ("attention.head_count", u32(self.heads)),
            ("attention.head_count_kv", self.head_count_kv()),
            ("attention.key_length", u32(self.head_dim)),
            ("attention.value_length", u32(self.head_dim)),
            ("feed_forward_length", u32(self.ffn)),
            ("context_length", u32(CONTEXT)),
            ("rope.dimension_count", u32(self.rope_dims)),
            ("rope.freq_base", Value::F32(10_000.0)),
            ("attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
        ];
        if matches!(self.family, "gemma3" | "phi3") {
            keys.push(("attention.sliding_window", u32(self.window)));
        }
        if self.family == "phi3" {
            keys.push(("rope.scaling.attn_factor", Value::F32(1.25)));
        }
        if self.family == "gemma3" {
            keys.push(("rope.scaling.type", Value::String("linear".into())));
            keys.push(("rope.scaling.factor", Value::F32(2.0)));
        }
        if self.family == "lfm2" {
            keys.push(("shortconv.l_cache", u32(KERNEL)));
        }
        keys.extend(self.keys.iter().cloned());
        let below = keys.into_iter().map(|(key, value)| (format!("{}.{key}", self.family), value));
        std::iter::once(("general.architecture".to_owned(), Value::String(self.family.into()))).chain(below).collect()
    }

    fn output_norm(&self) -> &'static str {
        if self.family == "lfm2" { "token_embd_norm.weight" } else { "output_norm.weight" }
    }

    fn head_count_kv(&self) -> Value {
        let of_layer = |layer: usize| if self.attends(layer) { self.kv_heads } else { 0 };
        match self.family {
            "lfm2" => Value::Array((0..self.layers).map(|layer| Value::U32(of_layer(layer) as u32)).collect()),
            _ => Value::U32(self.kv_heads as u32),
        }
    }

    fn attends(&self, layer: usize) -> bool {
        self.family != "lfm2" || self.attending.contains(&layer)
    }

    pub fn tensors(&self) -> Vec<(String, QTensor)> {
        let mut random = Random(self.seed);
        let (query_width, kv_width) = (self.heads * self.head_dim, self.kv_heads * self.head_dim);
        let mut tensors = vec![
            ("token_embd.weight".to_owned(), random.matrix(self.vocab, self.width, self.dtype)),
            (self.output_norm().to_owned(), random.norm(self.width)),
        ];
        if !self.tied {
            tensors.push(("output.weight".to_owned(), random.matrix(self.vocab, self.width, self.dtype)));
        }
        if self.rope_factors {
            let names: &[&str] =
                if self.family == "phi3" { &["rope_factors_long", "rope_factors_short"] } else { &["rope_freqs"] };
            for name in names {
                tensors.push((format!("{name}.weight"), random.norm(self.rope_dims / 2)));
            }
        }
        for layer in 0..self.layers {
            let mut push = |name: &str, tensor| tensors.push((format!("blk.{layer}.{name}"), tensor));
            push("attn_norm.weight", random.norm(self.width));
            if !self.attends(layer) {
                push("shortconv.in_proj.weight", random.matrix(3 * self.width, self.width, self.dtype));
                push("shortconv.conv.weight", random.matrix(self.width, KERNEL, GgmlDType::F32));
                push("shortconv.out_proj.weight", random.matrix(self.width, self.width, self.dtype));
            } else if self.family == "phi3" {
                push("attn_qkv.weight", random.matrix(query_width + 2 * kv_width, self.width, self.dtype));
            } else {
                for (name, rows) in [("attn_q", query_width), ("attn_k", kv_width), ("attn_v", kv_width)] {
                    push(&format!("{name}.weight"), random.matrix(rows, self.width, self.dtype));
                    if self.biases || self.family == "qwen2" {
                        push(&format!("{name}.bias"), random.bias(rows));
                    }
                }
            }
            if matches!(self.family, "qwen3" | "gemma3" | "lfm2") && self.attends(layer) {
                push("attn_q_norm.weight", random.norm(self.head_dim));
                push("attn_k_norm.weight", random.norm(self.head_dim));
            }
            if self.attends(layer) {
                push("attn_output.weight", random.matrix(self.width, query_width, self.dtype));
            }
            if self.biases {
                push("attn_output.bias", random.bias(self.width));
            }
            push("ffn_norm.weight", random.norm(self.width));
            if self.family == "phi3" {
                push("ffn_up.weight", random.matrix(2 * self.ffn, self.width, self.dtype));
            } else {
                push("ffn_gate.weight", random.matrix(self.ffn, self.width, self.dtype));
                push("ffn_up.weight", random.matrix(self.ffn, self.width, self.dtype));
            }
            push("ffn_down.weight", random.matrix(self.width, self.ffn, self.dtype));
            if self.family == "gemma3" {
                push("post_attention_norm.weight", random.norm(self.width));
                push("post_ffw_norm.weight", random.norm(self.width));
            }
        }
        tensors
    }

    pub fn file(&self) -> Vec<u8> {
        write(&self.metadata(), &self.tensors())
    }

    /// The file with a tokenizer, which other programs want.
    pub fn whole_file(&self) -> Vec<u8> {
        write(&[self.metadata(), tokenizer()].concat(), &self.tensors())
    }
}

pub fn write(metadata: &[(String, Value)], tensors: &[(String, QTensor)]) -> Vec<u8> {
    let metadata: Vec<(&str, &Value)> = metadata.iter().map(|(key, value)| (key.as_str(), value)).collect();
    let tensors: Vec<(&str, &QTensor)> = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
    let mut file = Cursor::new(Vec::new());
    gguf_file::write(&mut file, &metadata, &tensors).expect("candle-core writes to memory");
    file.into_inner()
}

/// Random numbers that are the same everywhere: SplitMix64.
struct Random(u64);

impl Random {
    /// Uniform in [-1, 1).
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    /// Scaled so that products keep the size of their vectors, more or less.
    fn matrix(&mut self, rows: usize, columns: usize, dtype: GgmlDType) -> QTensor {
        let scale = 2.0 / (columns as f32).sqrt();
        let values: Vec<f32> = (0..rows * columns).map(|_| self.next() * scale).collect();
        let tensor = Tensor::from_vec(values, (rows, columns), &Device::Cpu).expect("a tensor");
        QTensor::quantize(&tensor, dtype).expect("candle-core quantises")
    }

    fn bias(&mut self, n: usize) -> QTensor {
        self.vector(n, 0.0, 0.5)
    }

    /// Around 1.
    fn norm(&mut self, n: usize) -> QTensor {
        self.vector(n, 1.0, 0.25)
    }

    fn vector(&mut self, n: usize, around: f32, by: f32) -> QTensor {
        let values: Vec<f32> = (0..n).map(|_| around + self.next() * by).collect();
        let tensor = Tensor::from_vec(values, n, &Device::Cpu).expect("a tensor");
        QTensor::quantize(&tensor, GgmlDType::F32).expect("candle-core copies")
    }
}
