//! What the network looks like: sizes, where each tensor lies, and which rows of the table speak for a word.
//!
//! ```text
//! word ─▶ three table rows, summed                             E
//! layer 1, to the right and to the left: gates of (word, neighbour)   2E → 3H
//! layer 2, the same over both directions of layer 1            2H → 3H
//! boundary ─▶ rightward state of the word before, leftward state of the word after   2H → 4 + 3
//! ```
//! A layer is a gated pooling as in quasi-recurrent networks (Bradbury et al., 2016, "fo-pooling"): all products are over
//! whole texts, and only a weighted mean runs along them.
//!
//! ```text
//! x, f, o = tanh, sigmoid, sigmoid of the three thirds of W·input + b
//! c = f·c' + (1 - f)·x        c' the cell before it, in reading direction
//! h = o·c
//! ```

use std::ops::Range;

/// Table rows that whole words share by hashing, each word having two.
pub const WORD_ROWS: usize = 8192;
/// Table rows that endings of three bytes share.
pub const ENDING_ROWS: usize = 1024;
/// The length of a table row.
pub const E: usize = 48;
/// The cells of a layer, in one direction.
pub const H: usize = 64;
/// The length of the three gates.
pub const GATES: usize = 3 * H;
/// Marks after a word: none, comma, full stop, question mark.
pub const MARKS: usize = 4;
/// How a word that begins no sentence is written: in lower case, with a capital, in capitals.
pub const CASES: usize = 3;
/// The outputs, marks and then cases, padded to one vector.
pub const PADDED: usize = 16;

/// A tensor: where it lies among the parameters, its rows and columns.
#[derive(Clone, Debug)]
pub struct Tensor {
    pub range: Range<usize>,
    pub rows: usize,
    pub columns: usize,
}

/// The tensors in the order in which they are stored.
#[derive(Clone, Debug)]
pub struct Layout {
    /// (WORD_ROWS + ENDING_ROWS, E)
    pub table: Tensor,
    /// For each layer and direction: (inputs, GATES).
    pub gates: [[Tensor; 2]; 2],
    /// For each layer and direction: (1, GATES).
    pub gate_biases: [[Tensor; 2]; 2],
    /// (2H, PADDED)
    pub output: Tensor,
    /// (1, PADDED)
    pub output_bias: Tensor,
    pub len: usize,
}

impl Layout {
    pub fn new() -> Self {
        let mut len = 0;
        let mut next = |rows: usize, columns: usize| {
            let start = len;
            len += rows * columns;
            Tensor { range: start..len, rows, columns }
        };
        let table = next(WORD_ROWS + ENDING_ROWS, E);
        let mut layer = |inputs: usize| {
            let gates = [next(inputs, GATES), next(inputs, GATES)];
            (gates, [next(1, GATES), next(1, GATES)])
        };
        let (first, first_biases) = layer(2 * E);
        let (second, second_biases) = layer(2 * H);
        let (output, output_bias) = (next(2 * H, PADDED), next(1, PADDED));
        Self { table, gates: [first, second], gate_biases: [first_biases, second_biases], output, output_bias, len }
    }

    /// Every tensor, as stored.
    pub fn tensors(&self) -> [&Tensor; 11] {
        let ([a, b], [c, d]) = (&self.gates, &self.gate_biases);
        [&self.table, &a[0], &a[1], &c[0], &c[1], &b[0], &b[1], &d[0], &d[1], &self.output, &self.output_bias]
    }
}

/// The three table rows of a word in lower case. Words with a digit are one word.
pub fn rows_of(key: &str) -> [usize; 3] {
    let key = if key.bytes().any(|b| b.is_ascii_digit()) { "0" } else { key };
    let bytes = key.as_bytes();
    let mut ending = bytes.len().saturating_sub(3);
    while !key.is_char_boundary(ending) {
        ending -= 1;
    }
    [
        hash(bytes, 0) as usize % WORD_ROWS,
        hash(bytes, 0x9e37_79b9) as usize % WORD_ROWS,
        WORD_ROWS + hash(&bytes[ending..], 7) as usize % ENDING_ROWS,
    ]
}

/// FNV-1a from a seeded start, its bits mixed at the end.
fn hash(bytes: &[u8], seed: u32) -> u32 {
    let h = bytes.iter().fold(0x811c_9dc5 ^ seed, |h, &b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    let h = (h ^ (h >> 15)).wrapping_mul(0x2c1b_3c6d);
    h ^ (h >> 12)
}

/// The word beside word `t` of `n` that its gates see in layer 1: the one read before it.
pub fn neighbour(t: usize, n: usize, direction: usize) -> Option<usize> {
    if direction == 0 { t.checked_sub(1) } else { (t + 1 < n).then_some(t + 1) }
}

/// The `step`th word of `n` in reading direction.
pub fn nth(step: usize, n: usize, direction: usize) -> usize {
    if direction == 0 { step } else { n - 1 - step }
}

pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

pub fn tanh(x: f32) -> f32 {
    2.0 * sigmoid(2.0 * x) - 1.0
}

/// e to the power of `x`, off by less than one part in fifty thousand, and the same on every machine: no library's
/// function, which a browser may not have in hardware, and no branch, so that compilers make vectors of it.
fn exp(x: f32) -> f32 {
    let power = (x * std::f32::consts::LOG2_E).clamp(-120.0, 120.0);
    let whole = power.floor();
    let part = power - whole;
    // The series of 2^part, its last two terms bent towards the whole of [0, 1). The weights were fitted with these digits.
    #[allow(clippy::approx_constant)]
    let part = 1.0 + part * (0.693_147 + part * (0.240_227 + part * (0.054_5 + part * 0.012_1)));
    part * f32::from_bits((((whole as i32) + 127) << 23) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activations_are_what_their_names_say() {
        for i in -4_000..=4_000 {
            let x = i as f32 / 200.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 5e-5, "{x}");
            assert!((sigmoid(x) - 1.0 / (1.0 + (-x).exp())).abs() < 1e-4, "{x}");
            assert!((tanh(x) - x.tanh()).abs() < 1e-4, "{x}");
        }
    }

    #[test]
    fn every_word_has_rows() {
        for key in ["", "a", "hello", "e\u{301}", "日本", "42nd", "don't"] {
            let rows = rows_of(key);
            assert!(rows[0] < WORD_ROWS && rows[1] < WORD_ROWS, "{key}");
            assert!((WORD_ROWS..WORD_ROWS + ENDING_ROWS).contains(&rows[2]), "{key}");
        }
        assert_eq!(rows_of("1995"), rows_of("26th"));
    }
}
