//! Activations as 8-bit integers, one scale for each 32 columns.

use super::lanes::{Lanes, ROWS};
use super::pool;

/// Columns that share a scale.
pub(super) const BLOCK: usize = 32;

/// 32 quantised activations: `x[k] ≈ scale * q[k]` with `q[k]` in -127..=127.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub(super) struct Block {
    /// `q`, two neighbours together, widened to what a 16-bit dot product takes.
    pub pairs: [[i16; 2]; BLOCK / 2],
    /// `q` again, in the order of a nibble plane's bytes, for what multiplies bytes: quad `2 v + e` holds the columns for
    /// which a nibble plane `v` has its even (`e = 0`) or odd nibbles.
    #[cfg(any(target_feature = "relaxed-simd", target_feature = "avx2"))]
    pub quads: [[i8; 4]; BLOCK / 4],
    pub scale: f32,
    /// `scale * (Σ q)`, for formats with a minimum.
    pub sum: f32,
    /// `Σ q` over the first and over the second 16 columns, for formats with an integer offset.
    pub sums: [i32; 2],
}

/// A matrix of activations (n, columns) in the form that the kernels multiply; made once and used for every weight
/// matrix that reads the same input. Its memory is kept from one use to the next.
///
/// Rounding is the only loss: each value moves by at most half its block's scale, which is the block's largest
/// magnitude over 127. (Blocks without a magnitude of 1e-35 or more become zeros.) What a row becomes depends on that row alone.
#[derive(Default)]
pub struct Activations {
    blocks: Vec<Block>,
    n: usize,
    columns: usize,
}

impl Activations {
    /// Quantises `x` (n, columns), row-major.
    ///
    /// A NaN counts as zero; an infinity makes every product of its block a NaN.
    ///
    /// # Panics
    /// Unless `columns` is a multiple of 32 and `x` holds `n * columns` values.
    pub fn quantise(&mut self, x: &[f32], n: usize, columns: usize) {
        assert!(columns.is_multiple_of(BLOCK) && Some(x.len()) == n.checked_mul(columns), "shape of the activations");
        (self.n, self.columns) = (n, columns);
        let x = x.as_chunks::<BLOCK>().0;
        self.blocks.resize(x.len(), Block::default());
        pool::share_rows(&mut self.blocks, 1, BLOCK, &|first, blocks| {
            for (block, x) in blocks.iter_mut().zip(&x[first..]) {
                *block = quantise_block::<super::Native>(x);
            }
        });
    }

    /// Rows.
    pub fn n(&self) -> usize {
        self.n
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The blocks of row `i`, one for each 32 columns.
    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> &[Block] {
        let width = self.columns / BLOCK;
        &self.blocks[i * width..][..width]
    }
}

fn quantise_block<L: Lanes>(x: &[f32; BLOCK]) -> Block {
    let (parts, _) = x.as_chunks();
    let mut largest = L::floats(0.0);
    for part in parts {
        largest = L::larger(largest, L::abs(L::floats_from(part)));
    }
    let largest = L::store(largest).into_iter().fold(0.0, |a: f32, b| if a < b { b } else { a });
    // The reciprocal of anything smaller could overflow.
    let (scale, inverse) = if largest < 1e-35 { (0.0, 0.0) } else { (largest / 127.0, 127.0 / largest) };

    let mut block = Block { scale, ..Block::default() };
    let (pairs, _) = block.pairs.as_flattened_mut().as_chunks_mut::<ROWS>();
    for (i, (part, pairs)) in parts.iter().zip(pairs).enumerate() {
        let q = L::round(L::mul(L::floats_from(part), L::floats(inverse)));
        *pairs = L::narrow(q);
        block.sums[i / 2] += pairs.iter().map(|&q| i32::from(q)).sum::<i32>();
        #[cfg(any(target_feature = "relaxed-simd", target_feature = "avx2"))]
        {
            // A nibble plane has columns k and k + 4 side by side: see `planes`.
            let bytes: [[i8; 2]; 4] = std::array::from_fn(|k| [pairs[k] as i8, pairs[k + 4] as i8]);
            block.quads[2 * i..][..2].as_flattened_mut().copy_from_slice(bytes.as_flattened());
        }
    }
    block.sum = scale * (block.sums[0] + block.sums[1]) as f32;
    block
}
