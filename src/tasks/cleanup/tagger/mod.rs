//! A small recurrent network that says how likely each mark is after each word, and how the word is written.
//!
//! It is fitted on transcripts of English speech by `npm run fit -- marks`; `weights.bin` holds its numbers as bytes.

mod matrix;
mod shape;

use std::sync::OnceLock;

use matrix::add_product;
use shape::{CASES, E, GATES, H, Layout, MARKS, PADDED, Tensor, neighbour, nth, rows_of, sigmoid, tanh};

use crate::error::{Error, ErrorKind, Result};

/// Words read at once. A longer text is read in pieces that overlap, so that time and memory per word are constant …
const PIECE: usize = 256;
/// … by so many words, whose marks are taken from the piece that has more of their surroundings.
const OVERLAP: usize = 32;

/// Log-probabilities for one word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scores {
    /// After it: no mark, a comma, a full stop, a question mark.
    pub marks: [f32; MARKS],
    /// It, unless it begins a sentence: in lower case, with a capital, in capitals.
    pub case: [f32; CASES],
}

/// The scores of each of `keys`, words in lower case; none where there is no network.
pub(super) fn scores(keys: &[&str]) -> Vec<Scores> {
    let Some(network) = network() else { return vec![] };
    let mut scores: Vec<Scores> = Vec::with_capacity(keys.len());
    let mut start = 0;
    while scores.len() < keys.len() {
        let end = (start + PIECE).min(keys.len());
        let piece = network.scores(&keys[start..end]);
        let until = if end == keys.len() { end } else { end - OVERLAP / 2 };
        scores.extend_from_slice(&piece[scores.len() - start..until - start]);
        start = end.saturating_sub(OVERLAP);
    }
    scores
}

/// Natively it is a part of the program. In a browser it is a file beside the module, which two variants of the module
/// share and [`provide`] takes in.
static NETWORK: OnceLock<Network> = OnceLock::new();

fn network() -> Option<&'static Network> {
    #[cfg(not(target_arch = "wasm32"))]
    return Some(NETWORK.get_or_init(|| {
        const FILE: &[u8] = include_bytes!("weights.bin");
        Network::from_bytes(FILE)
    }));
    #[cfg(target_arch = "wasm32")]
    NETWORK.get()
}

/// Takes the network's file in, once for all that this program does; a second time changes nothing.
///
/// # Errors
/// `invalid-argument` if it is not of the layout's size.
pub(super) fn provide(file: Vec<u8>) -> Result<()> {
    let (given, expected) = (file.len(), Network::size());
    if given != expected {
        let message = format!("the network of this version has {expected} bytes, and {given} were given");
        return Err(Error::new(ErrorKind::InvalidArgument, message));
    }
    NETWORK.get_or_init(|| Network::from_bytes(file.leak()));
    Ok(())
}

struct Network {
    layout: Layout,
    /// All parameters but the table.
    parameters: Vec<f32>,
    /// The table as stored, with the scale of each row.
    table: &'static [u8],
    scales: &'static [u8],
}

impl Network {
    /// Bytes of its file.
    fn size() -> usize {
        Layout::new().tensors().into_iter().map(|tensor| tensor.rows * 4 + tensor.range.len()).sum()
    }

    /// `bytes`, as many as [`size`](Self::size) says: for each tensor, the scales of its rows (f32, little-endian), then its
    /// numbers (i8).
    fn from_bytes(bytes: &'static [u8]) -> Self {
        let layout = Layout::new();
        let (scales, rest) = bytes.split_at(layout.table.rows * 4);
        let (table, mut rest) = rest.split_at(layout.table.range.len());
        let mut parameters = Vec::with_capacity(layout.len - table.len());
        for tensor in &layout.tensors()[1..] {
            let (scales, numbers) = rest.split_at(tensor.rows * 4);
            for row in 0..tensor.rows {
                let scale = scale_at(scales, row);
                let row = &numbers[row * tensor.columns..][..tensor.columns];
                parameters.extend(row.iter().map(|&b| f32::from(b as i8) * scale));
            }
            rest = &numbers[tensor.range.len()..];
        }
        Self { layout, parameters, table, scales }
    }

    fn tensor(&self, tensor: &Tensor) -> &[f32] {
        let offset = self.table.len();
        &self.parameters[tensor.range.start - offset..tensor.range.end - offset]
    }

    fn scores(&self, keys: &[&str]) -> Vec<Scores> {
        let n = keys.len();
        let mut words = vec![0.0; n * E]; // (n,E)
        for (word, key) in words.chunks_exact_mut(E).zip(keys) {
            for row in rows_of(key) {
                let scale = scale_at(self.scales, row);
                for (x, &b) in word.iter_mut().zip(&self.table[row * E..][..E]) {
                    *x += f32::from(b as i8) * scale;
                }
            }
        }
        let mut first = vec![0.0; n * 2 * H]; // (n,2H)
        for direction in 0..2 {
            let mut pairs = vec![0.0; n * 2 * E]; // (n,2E)
            for (t, pair) in pairs.chunks_exact_mut(2 * E).enumerate() {
                pair[..E].copy_from_slice(&words[t * E..][..E]);
                if let Some(beside) = neighbour(t, n, direction) {
                    pair[E..].copy_from_slice(&words[beside * E..][..E]);
                }
            }
            self.pool(0, direction, &pairs, &mut first);
        }
        let mut second = vec![0.0; n * 2 * H];
        for direction in 0..2 {
            self.pool(1, direction, &first, &mut second);
        }
        // What has been read up to the boundary, and what is read down to it.
        let mut sides = vec![0.0; n * 2 * H];
        for (t, side) in sides.chunks_exact_mut(2 * H).enumerate() {
            side[..H].copy_from_slice(&second[t * 2 * H..][..H]);
            if t + 1 < n {
                side[H..].copy_from_slice(&second[(t + 1) * 2 * H + H..][..H]);
            }
        }
        let output = self.product(&self.layout.output, &self.layout.output_bias, &sides);
        let scores = |out: &[f32]| Scores { marks: log_softmax(&out[..MARKS]), case: log_softmax(&out[MARKS..]) };
        output.chunks_exact(PADDED).map(scores).collect()
    }

    /// One direction of one layer over `inputs`, into its half of `out` (n,2H).
    fn pool(&self, layer: usize, direction: usize, inputs: &[f32], out: &mut [f32]) {
        let n = out.len() / (2 * H);
        let gates =
            self.product(&self.layout.gates[layer][direction], &self.layout.gate_biases[layer][direction], inputs);
        let mut cells = [0.0_f32; H];
        for step in 0..n {
            let t = nth(step, n, direction);
            let (x, rest) = gates[t * GATES..][..GATES].split_at(H);
            let (keep, open) = rest.split_at(H);
            let out = &mut out[t * 2 * H + direction * H..][..H];
            for j in 0..H {
                let keep = sigmoid(keep[j]);
                cells[j] = keep * cells[j] + (1.0 - keep) * tanh(x[j]);
                out[j] = sigmoid(open[j]) * cells[j];
            }
        }
    }

    /// inputs (n,rows) @ weights (rows,columns) + bias
    fn product(&self, weights: &Tensor, bias: &Tensor, inputs: &[f32]) -> Vec<f32> {
        let n = inputs.len() / weights.rows;
        let mut out = self.tensor(bias).repeat(n);
        let size = (n, weights.rows, weights.columns);
        add_product(&mut out, inputs, (weights.rows, 1), self.tensor(weights), size);
        out
    }
}

fn scale_at(scales: &[u8], row: usize) -> f32 {
    let bytes = &scales[row * 4..][..4];
    f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn log_softmax<const N: usize>(logits: &[f32]) -> [f32; N] {
    let most = logits[..N].iter().copied().fold(f32::MIN, f32::max);
    let sum: f32 = logits[..N].iter().map(|x| (x - most).exp()).sum();
    std::array::from_fn(|k| logits[k] - most - sum.ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_size_is_refused() {
        assert_eq!(include_bytes!("weights.bin").len(), Network::size());
        for size in [0, Network::size() - 1, Network::size() + 1] {
            assert_eq!(provide(vec![0; size]).expect_err("another version's").kind(), ErrorKind::InvalidArgument);
        }
        assert!(provide(include_bytes!("weights.bin").to_vec()).is_ok());
    }
}
