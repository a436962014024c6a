//! The definition: what the blocks of each ggml format mean, and what a product with quantised activations is, one
//! weight at a time. Packing reads ggml's bytes through [`decode`]; the tests hold every kernel to [`defined_product`], bit for bit.
//!
//! The formats are those of ggml's `ggml-quants.c`. All numbers are little-endian; `d`, `m` are halves.

use candle_core::quantized::GgmlDType;

use super::activations::{Activations, BLOCK, Block};
use super::f16;

/// 32 neighbouring weights of one row: `w[k] = scale * halves[k / 16] * quants[k] + min`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    pub quants: [i8; BLOCK],
    pub scale: f32,
    /// Integer scales of the first and the second 16 weights; 1 in formats without.
    pub halves: [i32; 2],
    /// `None` in formats that are symmetric around zero.
    pub min: Option<f32>,
}

impl Run {
    pub(super) fn weight(&self, k: usize) -> f32 {
        let product = self.scale * self.halves[k / 16] as f32 * f32::from(self.quants[k]);
        self.min.map_or(product, |min| product + min)
    }
}

/// Weights and bytes in one block of a row, for the formats that have a kernel.
pub(super) const fn block_size(dtype: GgmlDType) -> Option<(usize, usize)> {
    Some(match dtype {
        GgmlDType::Q4_0 => (32, 18),
        GgmlDType::Q4_1 => (32, 20),
        GgmlDType::Q5_0 => (32, 22),
        GgmlDType::Q5_1 => (32, 24),
        GgmlDType::Q8_0 => (32, 34),
        GgmlDType::Q4K => (256, 144),
        GgmlDType::Q5K => (256, 176),
        GgmlDType::Q6K => (256, 210),
        _ => return None,
    })
}

/// Reads weights `32 * sub .. 32 * sub + 32` of one block. `None` if a scale is not finite, or for a format without a
/// kernel.
#[inline(always)]
pub(super) fn decode(dtype: GgmlDType, block: &[u8], sub: usize) -> Option<Run> {
    let half = |at: usize| f16::finite(block, at).map(f16::widen);
    let plain = |quants, scale, min| Run { quants, scale, halves: [1; 2], min };
    Some(match dtype {
        // d, 16 bytes of nibbles
        GgmlDType::Q4_0 => plain(less(nibbles(&block[2..18]), 8), half(0)?, None),
        // d, m, 16 bytes of nibbles
        GgmlDType::Q4_1 => plain(nibbles(&block[4..20]), half(0)?, Some(half(2)?)),
        // d, 32 fifth bits, 16 bytes of nibbles
        GgmlDType::Q5_0 => plain(less(fifth(nibbles(&block[6..22]), &block[2..6]), 16), half(0)?, None),
        // d, m, 32 fifth bits, 16 bytes of nibbles
        GgmlDType::Q5_1 => plain(fifth(nibbles(&block[8..24]), &block[4..8]), half(0)?, Some(half(2)?)),
        // d, 32 signed bytes
        GgmlDType::Q8_0 => plain(bytes(&block[2..34], |byte| byte), half(0)?, None),
        // d, dmin, 12 bytes of 6-bit scales and minima, then 32 bytes of nibbles for every two runs
        GgmlDType::Q4K => {
            let (scale, min) = scale_and_min(&block[4..16], sub);
            let quants = bytes(&block[16 + sub / 2 * 32..][..32], |byte| byte >> (sub % 2 * 4) & 15);
            plain(quants, half(0)? * f32::from(scale), Some(-(half(2)? * f32::from(min))))
        }
        // As Q4_K, with 32 bytes between, of which bit `sub` is the fifth bit
        GgmlDType::Q5K => {
            let (scale, min) = scale_and_min(&block[4..16], sub);
            let low = bytes(&block[48 + sub / 2 * 32..][..32], |byte| byte >> (sub % 2 * 4) & 15);
            let high = bytes(&block[16..48], |byte| (byte >> sub & 1) << 4);
            plain(join(low, high), half(0)? * f32::from(scale), Some(-(half(2)? * f32::from(min))))
        }
        // 128 bytes of nibbles, 64 bytes of bit pairs above them, 16 signed scales, d
        GgmlDType::Q6K => {
            let (group, part) = (sub / 4, sub % 4);
            let low = bytes(&block[64 * group + 32 * (part % 2)..][..32], |byte| byte >> (part / 2 * 4) & 15);
            let high = bytes(&block[128 + 32 * group..][..32], |byte| (byte >> (2 * part) & 3) << 4);
            let halves = [0, 1].map(|h| i32::from(block[192 + 2 * sub + h] as i8));
            Run { quants: less(join(low, high), 32), scale: half(208)?, halves, min: None }
        }
        _ => return None,
    })
}

/// Two weights in each of 16 bytes: the first 16 weights in the low nibbles.
#[inline(always)]
fn nibbles(packed: &[u8]) -> [i8; BLOCK] {
    let mut quants = [0; BLOCK];
    for k in 0..16 {
        quants[k] = (packed[k] & 15) as i8;
        quants[k + 16] = (packed[k] >> 4) as i8;
    }
    quants
}

/// One weight out of each of 32 bytes.
#[inline(always)]
fn bytes(packed: &[u8], quant: impl Fn(u8) -> u8) -> [i8; BLOCK] {
    std::array::from_fn(|k| quant(packed[k]) as i8)
}

/// Adds bit `k` of 32, as 16, to weight `k`.
#[inline(always)]
fn fifth(quants: [i8; BLOCK], bits: &[u8]) -> [i8; BLOCK] {
    std::array::from_fn(|k| quants[k] | ((bits[k / 8] >> (k % 8) & 1) << 4) as i8)
}

#[inline(always)]
fn join(low: [i8; BLOCK], high: [i8; BLOCK]) -> [i8; BLOCK] {
    std::array::from_fn(|k| low[k] | high[k])
}

#[inline(always)]
fn less(quants: [i8; BLOCK], offset: i8) -> [i8; BLOCK] {
    quants.map(|quant| quant - offset)
}

/// The 6-bit scale and minimum of run `sub` out of the 12 bytes that hold eight of each: those of the first four runs
/// fill the low six bits of bytes 0 to 3 and 4 to 7, whose top two bits complete the nibbles in bytes 8 to 11.
#[inline(always)]
pub(super) fn scale_and_min(packed: &[u8], sub: usize) -> (u8, u8) {
    if sub < 4 {
        (packed[sub] & 63, packed[sub + 4] & 63)
    } else {
        (packed[sub + 4] & 15 | packed[sub - 4] >> 6 << 4, packed[sub + 4] >> 4 | packed[sub] >> 6 << 4)
    }
}

/// The runs of a tensor's rows, of `columns` weights each. `None` as for [`decode`].
pub(super) fn runs(dtype: GgmlDType, bytes: &[u8], columns: usize) -> Option<Vec<Vec<Run>>> {
    let (weights, size) = block_size(dtype)?;
    let row = |row: &[u8]| {
        let run = |b: usize| decode(dtype, &row[b * BLOCK / weights * size..][..size], b % (weights / BLOCK));
        (0..columns / BLOCK).map(run).collect()
    };
    bytes.chunks_exact(columns / weights * size).map(row).collect()
}

/// What [`matmul`](super::matmul) is held to, from ggml's own bytes: `acts` (n, columns) times the transpose of a tensor
/// (rows, columns) gives (n, rows). Slow; for tests and benchmarks. `None` if a scale is not finite, or for a format
/// without a kernel.
pub fn defined_product(dtype: GgmlDType, bytes: &[u8], acts: &Activations) -> Option<Vec<f32>> {
    let rows = runs(dtype, bytes, acts.columns())?;
    Some((0..acts.n()).flat_map(|j| rows.iter().map(move |row| dot(row, acts.row(j)))).collect())
}

/// One row times one row of activations.
fn dot(row: &[Run], acts: &[Block]) -> f32 {
    let mut acc = 0.0;
    for (run, act) in row.iter().zip(acts) {
        let q = act.pairs.as_flattened();
        let half = |h: usize| (16 * h..16 * h + 16).map(|k| i32::from(run.quants[k]) * i32::from(q[k])).sum::<i32>();
        let sum = run.halves[0] * half(0) + run.halves[1] * half(1);
        acc += sum as f32 * run.scale * act.scale;
        if let Some(min) = run.min {
            acc += min * act.sum;
        }
    }
    acc
}
