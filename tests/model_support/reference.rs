//! The slow, obvious forward pass: every weight dequantised, every number an f64, no cache, no chunks, nothing skipped.
//! It is the judge of the fast one.

use std::borrow::Cow;
use std::collections::HashMap;

use candle_core::CpuStorage;
use fairhand::Result;
use fairhand::gguf::{Assemble, Header, Loader, TensorInfo};
use fairhand::model::Config;

pub struct Reference {
    config: Config,
    tensors: HashMap<String, Vec<f32>>,
}

impl Assemble for Reference {
    type Output = Self;

    fn begin(header: &Header) -> Result<Self> {
        Ok(Self { config: Config::from_header(header)?, tensors: HashMap::new() })
    }

    fn tensor(&mut self, info: &TensorInfo, bytes: &[u8]) -> Result<()> {
        let aligned: Vec<u64> = bytes
            .chunks(8)
            .map(|chunk| chunk.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
            .collect();
        let aligned: Vec<[u8; 8]> = aligned.into_iter().map(u64::to_le_bytes).collect();
        let elements = info.dims.iter().product();
        let values = info.dtype.from_data(Cow::Borrowed(&aligned.as_flattened()[..bytes.len()])).dequantize(elements);
        let Ok(CpuStorage::F32(values)) = values else { panic!("{} does not dequantise to f32", info.name) };
        self.tensors.insert(info.name.clone(), values);
        Ok(())
    }

    fn finish(self) -> Result<Self> {
        Ok(self)
    }
}

impl Reference {
    pub fn read(file: &[u8]) -> Self {
        Loader::<Self>::read(file).expect("a sound model").1
    }

    fn tensor(&self, name: &str) -> &[f32] {
        &self.tensors[name]
    }

    /// The logits of every token, (tokens, vocab_size).
    pub fn logits(&self, tokens: &[u32]) -> Vec<Vec<f64>> {
        let Config { n_layers, width, n_heads, n_kv_heads, head_dim, norm_epsilon, .. } = self.config;
        let epsilon = f64::from(norm_epsilon);
        let embedding = self.tensor("token_embd.weight");
        let row = |token: u32| &embedding[token as usize * width..][..width];
        let mut hidden: Vec<Vec<f64>> =
            tokens.iter().map(|&token| row(token).iter().map(|&x| f64::from(x)).collect()).collect();

        for layer in 0..n_layers {
            let weight = |name: &str| self.tensor(&format!("blk.{layer}.{name}.weight"));
            let normed: Vec<_> = hidden.iter().map(|h| norm(h, weight("attn_norm"), epsilon)).collect();
            let heads_of = |name: &str| -> Vec<Vec<Vec<f64>>> {
                let heads = |x: &Vec<f64>| multiply(weight(name), x).chunks(head_dim).map(<[f64]>::to_vec).collect();
                normed.iter().map(heads).collect()
            };
            let turned = |tokens: Vec<Vec<Vec<f64>>>| -> Vec<Vec<Vec<f64>>> {
                let token = |(position, heads): (usize, Vec<Vec<f64>>)| {
                    heads.iter().map(|head| self.turn(head, position)).collect()
                };
                tokens.into_iter().enumerate().map(token).collect()
            };
            let (queries, keys, values) = (turned(heads_of("attn_q")), turned(heads_of("attn_k")), heads_of("attn_v"));

            for (position, hidden) in hidden.iter_mut().enumerate() {
                let mut attended = Vec::new();
                for head in 0..n_heads {
                    let kv_head = head / (n_heads / n_kv_heads);
                    let query = &queries[position][head];
                    let score = |earlier: usize| dot(query, &keys[earlier][kv_head]) / (head_dim as f64).sqrt();
                    let powers: Vec<f64> = (0..=position).map(|earlier| score(earlier).exp()).collect();
                    let total: f64 = powers.iter().sum();
                    attended.extend((0..head_dim).map(|i| {
                        (0..=position).map(|earlier| powers[earlier] / total * values[earlier][kv_head][i]).sum::<f64>()
                    }));
                }
                add(hidden, &multiply(weight("attn_output"), &attended));

                let normed = norm(hidden, weight("ffn_norm"), epsilon);
                let (gate, up) = (multiply(weight("ffn_gate"), &normed), multiply(weight("ffn_up"), &normed));
                let gated: Vec<f64> = gate.iter().zip(&up).map(|(g, u)| g / (1.0 + (-g).exp()) * u).collect();
                add(hidden, &multiply(weight("ffn_down"), &gated));
            }
        }

        let head = self.tensors.get("output.weight").map_or(embedding, Vec::as_slice);
        hidden.iter().map(|h| multiply(head, &norm(h, self.tensor("output_norm.weight"), epsilon))).collect()
    }

    /// RoPE with neighbouring values as pairs.
    fn turn(&self, head: &[f64], position: usize) -> Vec<f64> {
        let mut turned = head.to_vec();
        for pair in 0..self.config.rope_dims / 2 {
            let exponent = -2.0 * pair as f64 / self.config.rope_dims as f64;
            let factor = self.tensors.get("rope_freqs.weight").map_or(1.0, |factors| f64::from(factors[pair]));
            let angle = position as f64 * f64::from(self.config.rope_base).powf(exponent) / factor;
            let (x, y) = (head[2 * pair], head[2 * pair + 1]);
            turned[2 * pair] = x * angle.cos() - y * angle.sin();
            turned[2 * pair + 1] = x * angle.sin() + y * angle.cos();
        }
        turned
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(a: &mut [f64], b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
}

fn norm(x: &[f64], weight: &[f32], epsilon: f64) -> Vec<f64> {
    let root = (dot(x, x) / x.len() as f64 + epsilon).sqrt();
    x.iter().zip(weight).map(|(x, &weight)| x / root * f64::from(weight)).collect()
}

/// `matrix` (rows, x.len()) · `x`
fn multiply(matrix: &[f32], x: &[f64]) -> Vec<f64> {
    matrix.chunks(x.len()).map(|row| row.iter().zip(x).map(|(&w, x)| f64::from(w) * x).sum()).collect()
}
