//! Rotary position embedding: each pair of a head's values turns by an angle that grows with the position.
//! <https://arxiv.org/abs/2104.09864>

use super::Config;

/// Cosines and sines for some positions in a row, of shape (positions, pairs).
pub(super) struct Rope {
    pairs: usize,
    cos: Vec<f32>,
    sin: Vec<f32>,
}

impl Rope {
    /// Angles for positions `start..start + n`. `factors`, of one per pair, divide the frequencies (Llama 3's
    /// `rope_freqs.weight`).
    pub(super) fn new(config: &Config, factors: Option<&[f32]>, start: usize, n: usize) -> Self {
        let pairs = config.rope_dims / 2;
        // In f64: at position 8,000 an f32 angle would be off by up to half a thousandth of a radian.
        let frequency = |pair: usize| {
            let factor = factors.map_or(1.0, |factors| f64::from(factors[pair]));
            f64::from(config.rope_base).powf(-2.0 * pair as f64 / config.rope_dims as f64) / factor
        };
        let frequencies: Vec<f64> = (0..pairs).map(frequency).collect();
        let angles = || (start..start + n).flat_map(|position| frequencies.iter().map(move |f| position as f64 * f));
        Self {
            pairs,
            cos: angles().map(|angle| angle.cos() as f32).collect(),
            sin: angles().map(|angle| angle.sin() as f32).collect(),
        }
    }

    /// Turns `heads`, of shape (heads, head_dim), as the token in row `row` of this table.
    ///
    /// A pair is two neighbours: files of the llama architecture have their query and key rows permuted so that this is
    /// right (the original model pairs a value with the one half a head further).
    pub(super) fn turn(&self, row: usize, head_dim: usize, heads: &mut [f32]) {
        let cos = &self.cos[row * self.pairs..][..self.pairs];
        let sin = &self.sin[row * self.pairs..][..self.pairs];
        for head in heads.chunks_exact_mut(head_dim) {
            for (pair, (cos, sin)) in head.as_chunks_mut::<2>().0.iter_mut().zip(cos.iter().zip(sin)) {
                let [x, y] = *pair;
                *pair = [x * cos - y * sin, x * sin + y * cos];
            }
        }
    }
}
