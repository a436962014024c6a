//! Models of a few thousand random weights, as GGUF files, through candle-core's writer.

use std::io::Cursor;

use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};

/// The shape of a tiny llama.
#[derive(Clone, Debug)]
pub struct Tiny {
    pub layers: usize,
    pub width: usize,
    pub heads: usize,
    pub kv_heads: usize,
    pub head_dim: usize,
    pub ffn: usize,
    pub vocab: usize,
    pub rope_dims: usize,
    pub tied: bool,
    pub rope_factors: bool,
    pub dtype: GgmlDType,
    pub seed: u64,
}

impl Default for Tiny {
    fn default() -> Self {
        Self {
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
            dtype: GgmlDType::F32,
            seed: 1,
        }
    }
}

pub const CONTEXT: usize = 256;

impl Tiny {
    pub fn metadata(&self) -> Vec<(&'static str, Value)> {
        let u32 = |value: usize| Value::U32(value as u32);
        vec![
            ("general.architecture", Value::String("llama".into())),
            ("llama.block_count", u32(self.layers)),
            ("llama.embedding_length", u32(self.width)),
            ("llama.attention.head_count", u32(self.heads)),
            ("llama.attention.head_count_kv", u32(self.kv_heads)),
            ("llama.attention.key_length", u32(self.head_dim)),
            ("llama.attention.value_length", u32(self.head_dim)),
            ("llama.feed_forward_length", u32(self.ffn)),
            ("llama.context_length", u32(CONTEXT)),
            ("llama.rope.dimension_count", u32(self.rope_dims)),
            ("llama.rope.freq_base", Value::F32(10_000.0)),
            ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
        ]
    }

    pub fn tensors(&self) -> Vec<(String, QTensor)> {
        let mut random = Random(self.seed);
        let (query_width, kv_width) = (self.heads * self.head_dim, self.kv_heads * self.head_dim);
        let mut tensors = vec![
            ("token_embd.weight".to_owned(), random.matrix(self.vocab, self.width, self.dtype)),
            ("output_norm.weight".to_owned(), random.norm(self.width)),
        ];
        if !self.tied {
            tensors.push(("output.weight".to_owned(), random.matrix(self.vocab, self.width, self.dtype)));
        }
        if self.rope_factors {
            tensors.push(("rope_freqs.weight".to_owned(), random.norm(self.rope_dims / 2)));
        }
        for layer in 0..self.layers {
            let mut push = |name: &str, tensor| tensors.push((format!("blk.{layer}.{name}.weight"), tensor));
            push("attn_norm", random.norm(self.width));
            push("attn_q", random.matrix(query_width, self.width, self.dtype));
            push("attn_k", random.matrix(kv_width, self.width, self.dtype));
            push("attn_v", random.matrix(kv_width, self.width, self.dtype));
            push("attn_output", random.matrix(self.width, query_width, self.dtype));
            push("ffn_norm", random.norm(self.width));
            push("ffn_gate", random.matrix(self.ffn, self.width, self.dtype));
            push("ffn_up", random.matrix(self.ffn, self.width, self.dtype));
            push("ffn_down", random.matrix(self.width, self.ffn, self.dtype));
        }
        tensors
    }

    pub fn file(&self) -> Vec<u8> {
        write(&self.metadata(), &self.tensors())
    }
}

pub fn write(metadata: &[(&str, Value)], tensors: &[(String, QTensor)]) -> Vec<u8> {
    let metadata: Vec<(&str, &Value)> = metadata.iter().map(|(key, value)| (*key, value)).collect();
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

    /// Around 1.
    fn norm(&mut self, n: usize) -> QTensor {
        let values: Vec<f32> = (0..n).map(|_| 1.0 + self.next() / 4.0).collect();
        let tensor = Tensor::from_vec(values, n, &Device::Cpu).expect("a tensor");
        QTensor::quantize(&tensor, GgmlDType::F32).expect("candle-core copies")
    }
}
