//! The slow, obvious forward pass: every weight dequantised, every number an f64, no cache, no chunks, nothing skipped.
//! It is the judge of the fast one.

use std::borrow::Cow;
use std::collections::HashMap;

use candle_core::CpuStorage;
use fairhand::Result;
use fairhand::gguf::{Assemble, Header, Loader, TensorInfo};
use fairhand::model::{Architecture, Config, Scaling};

pub struct Reference {
    config: Config,
    tensors: HashMap<String, Vec<f32>>,
    /// The bytes so far of the tensor that is arriving.
    arriving: Vec<u8>,
}

impl Assemble for Reference {
    type Output = Self;

    fn begin(header: &mut Header) -> Result<Self> {
        Ok(Self { config: Config::from_header(header)?, tensors: HashMap::new(), arriving: Vec::new() })
    }

    fn tensor(&mut self, info: &TensorInfo, _: usize, bytes: &[u8]) -> Result<()> {
        self.arriving.extend_from_slice(bytes);
        if self.arriving.len() < info.size {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.arriving);
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
        let config = &self.config;
        let &Config { n_layers, width, ffn_width, .. } = config;
        let family = config.architecture;
        let gemma = family == Architecture::Gemma3;
        let epsilon = f64::from(config.norm_epsilon);
        let embedding = self.tensor("token_embd.weight");
        let embedding_scale = if gemma { (width as f64).sqrt() } else { 1.0 };
        let row = |token: u32| &embedding[token as usize * width..][..width];
        let mut hidden: Vec<Vec<f64>> =
            tokens.iter().map(|&token| row(token).iter().map(|&x| f64::from(x) * embedding_scale).collect()).collect();

        for layer in 0..n_layers {
            let optional = |name: &str| self.tensors.get(&format!("blk.{layer}.{name}"));
            let weight = |name: &str| self.tensor(&format!("blk.{layer}.{name}.weight"));
            let normed: Vec<_> = hidden.iter().map(|h| norm(h, weight("attn_norm"), epsilon)).collect();
            let updates = match optional("shortconv.conv.weight") {
                Some(kernel) => self.convolve(layer, kernel, &normed),
                None => self.attend(layer, &normed),
            };

            for (hidden, mut update) in hidden.iter_mut().zip(updates) {
                if gemma {
                    update = norm(&update, weight("post_attention_norm"), epsilon);
                }
                add(hidden, &update);

                let normed = norm(hidden, weight("ffn_norm"), epsilon);
                let (gate, up) = match family {
                    Architecture::Phi3 => {
                        let mut both = multiply(weight("ffn_up"), &normed);
                        let up = both.split_off(ffn_width);
                        (both, up)
                    }
                    _ => (multiply(weight("ffn_gate"), &normed), multiply(weight("ffn_up"), &normed)),
                };
                let activation = |x: f64| match gemma {
                    true => {
                        let root = (2.0 / std::f64::consts::PI).sqrt();
                        x / 2.0 * (1.0 + (root * (x + 0.044715 * x.powi(3))).tanh())
                    }
                    false => x / (1.0 + (-x).exp()),
                };
                let gated: Vec<f64> = gate.iter().zip(&up).map(|(&gate, up)| activation(gate) * up).collect();
                let mut update = multiply(weight("ffn_down"), &gated);
                if gemma {
                    update = norm(&update, weight("post_ffw_norm"), epsilon);
                }
                add(hidden, &update);
            }
        }

        let head = self.tensors.get("output.weight").map_or(embedding, Vec::as_slice);
        let output_norm = match family {
            Architecture::Lfm2 => self.tensor("token_embd_norm.weight"),
            _ => self.tensor("output_norm.weight"),
        };
        hidden.iter().map(|h| multiply(head, &norm(h, output_norm, epsilon))).collect()
    }

    /// What attention makes of every token's vector.
    fn attend(&self, layer: usize, normed: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let config = &self.config;
        let &Config { width, n_heads, n_kv_heads, head_dim, .. } = config;
        let (family, epsilon) = (config.architecture, f64::from(config.norm_epsilon));
        let optional = |name: &str| self.tensors.get(&format!("blk.{layer}.{name}"));
        let weight = |name: &str| self.tensor(&format!("blk.{layer}.{name}.weight"));

        // Queries, keys and values from one matrix, or from three.
        let (query_width, kv_width) = (n_heads * head_dim, n_kv_heads * head_dim);
        let matrix = |name: &str, first: usize, rows: usize| match family {
            Architecture::Phi3 => &weight("attn_qkv")[first * width..(first + rows) * width],
            _ => weight(name),
        };
        let heads_of = |name: &str, first: usize, rows: usize| -> Vec<Vec<Vec<f64>>> {
            let of_token = |x: &Vec<f64>| {
                let mut values = multiply(matrix(name, first, rows), x);
                if let Some(bias) = optional(&format!("{name}.bias")) {
                    values.iter_mut().zip(bias).for_each(|(value, &bias)| *value += f64::from(bias));
                }
                let heads = values.chunks(head_dim);
                heads
                    .map(|head| match optional(&format!("{name}_norm.weight")) {
                        Some(weight) => norm(head, weight, epsilon),
                        None => head.to_vec(),
                    })
                    .collect()
            };
            normed.iter().map(of_token).collect()
        };
        let turned = |tokens: Vec<Vec<Vec<f64>>>| -> Vec<Vec<Vec<f64>>> {
            let token = |(position, heads): (usize, Vec<Vec<f64>>)| {
                heads.iter().map(|head| self.turn(head, position, layer)).collect()
            };
            tokens.into_iter().enumerate().map(token).collect()
        };
        let queries = turned(heads_of("attn_q", 0, query_width));
        let keys = turned(heads_of("attn_k", query_width, kv_width));
        let values = heads_of("attn_v", query_width + kv_width, kv_width);
        let local = match family {
            Architecture::Gemma3 => layer % 6 != 5,
            _ => true,
        };

        let mut updates = Vec::new();
        for position in 0..normed.len() {
            let first = match config.window {
                Some(window) if local => (position + 1).saturating_sub(window.length),
                _ => 0,
            };
            let mut attended = Vec::new();
            for head in 0..n_heads {
                let kv_head = head / (n_heads / n_kv_heads);
                let query = &queries[position][head];
                let score = |earlier: usize| dot(query, &keys[earlier][kv_head]) / (head_dim as f64).sqrt();
                let powers: Vec<f64> = (first..=position).map(|earlier| score(earlier).exp()).collect();
                let total: f64 = powers.iter().sum();
                attended.extend((0..head_dim).map(|i| {
                    let value = |earlier: usize| powers[earlier - first] / total * values[earlier][kv_head][i];
                    (first..=position).map(value).sum::<f64>()
                }));
            }
            let mut update = multiply(weight("attn_output"), &attended);
            if let Some(bias) = optional("attn_output.bias") {
                update.iter_mut().zip(bias).for_each(|(value, &bias)| *value += f64::from(bias));
            }
            updates.push(update);
        }
        updates
    }

    /// What a convolution over the last few tokens makes of every token's vector.
    fn convolve(&self, layer: usize, kernel: &[f32], normed: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let width = self.config.width;
        let length = kernel.len() / width;
        let weight = |name: &str| self.tensor(&format!("blk.{layer}.shortconv.{name}.weight"));
        let gates: Vec<_> = normed.iter().map(|x| multiply(weight("in_proj"), x)).collect();
        let of_position = |position: usize| -> Vec<f64> {
            let channel = |i: usize| {
                let product = |earlier: usize| gates[earlier][i] * gates[earlier][2 * width + i];
                let weight = |back: usize| f64::from(kernel[i * length + length - 1 - back]);
                let sum: f64 = (0..length.min(position + 1)).map(|back| weight(back) * product(position - back)).sum();
                sum * gates[position][width + i]
            };
            multiply(weight("out_proj"), &(0..width).map(channel).collect::<Vec<_>>())
        };
        (0..normed.len()).map(of_position).collect()
    }

    /// RoPE. How its angles come about under each scaling is tested by itself and held against llama.cpp; here stands
    /// the plain formula.
    fn turn(&self, head: &[f64], position: usize, layer: usize) -> Vec<f64> {
        let rotation = &self.config.rotation;
        let mut turned = head.to_vec();
        let without = self.config.architecture == Architecture::SmolLm3 && layer % 4 == 3;
        if without {
            return turned;
        }
        let local = self.config.architecture == Architecture::Gemma3 && layer % 6 != 5;
        let base = if local { 10_000.0 } else { f64::from(rotation.base) };
        let stretch = match rotation.scaling {
            Scaling::Linear { factor } if !local => f64::from(factor),
            _ => 1.0,
        };
        for pair in 0..rotation.dims / 2 {
            let exponent = -2.0 * pair as f64 / rotation.dims as f64;
            let factors = self.tensors.get("rope_freqs.weight").or(self.tensors.get("rope_factors_short.weight"));
            let factor = factors.map_or(1.0, |factors| f64::from(factors[pair]));
            let angle = position as f64 * base.powf(exponent) / factor / stretch;
            let (first, second) = match self.config.architecture {
                Architecture::Llama | Architecture::SmolLm3 => (2 * pair, 2 * pair + 1),
                _ => (pair, pair + rotation.dims / 2),
            };
            let (x, y) = (head[first], head[second]);
            let magnitude = f64::from(rotation.magnitude);
            turned[first] = (x * angle.cos() - y * angle.sin()) * magnitude;
            turned[second] = (x * angle.sin() + y * angle.cos()) * magnitude;
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
