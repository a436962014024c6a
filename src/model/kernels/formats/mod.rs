//! The packed form of each ggml format: the blocks of eight rows, interleaved.
//!
//! A packed block holds the same bits as the eight blocks it was made of, ordered so that one load brings the weights
//! of all eight rows, one row a lane, with what is to be multiplied together already side by side.

mod k;
mod legacy;

use candle_core::quantized::GgmlDType;

pub(super) use self::k::{Q4K, Q5K, Q6K};
pub(super) use self::legacy::{Q4_0, Q4_1, Q5_0, Q5_1, Q8_0};
use super::activations::Block;
use super::dot::Dot;
use super::lanes::{Lanes, ROWS};
use super::scalar::{self, Run};

/// One block of each of eight rows. A block is one or more runs of 32 columns; `run` counts them.
pub(super) trait Format: Copy + 'static {
    const DTYPE: GgmlDType;
    /// Columns and ggml bytes in one row's block.
    const SIZE: (usize, usize) = match scalar::block_size(Self::DTYPE) {
        Some(size) => size,
        None => panic!("a packed format is one that scalar.rs defines"),
    };
    const RUNS: usize = Self::SIZE.0 / super::activations::BLOCK;
    /// Bits of an integer weight as it is stored.
    const BITS: u32;
    /// Whether the two halves of a run have scales of their own, so that their sums are wanted apart.
    const SPLIT: bool = false;

    /// How this format's integers are multiplied.
    type Dot<L: Lanes>: Dot<L>;

    /// The scales of one run, ready to multiply.
    type Scales<L: Lanes>: Copy;

    /// Interleaves the ggml blocks of eight rows. `None` if a scale is not finite.
    fn pack(blocks: [&[u8]; ROWS]) -> Option<Self>;

    /// What [`scalar::decode`] would read from the block of `row`.
    fn unpack(&self, row: usize, run: usize) -> Run;

    /// Calls `visit(step, words)` for each step of columns `8 v .. 8 v + 8` of a run, the steps counting from 0: its
    /// integers as they are stored, an offset not yet subtracted.
    fn weights<L: Lanes>(&self, run: usize, v: usize, visit: impl FnMut(usize, L::Words));

    fn scales<L: Lanes>(&self, run: usize) -> Self::Scales<L>;

    /// Adds a run's products to `acc`. `sums` are those of `weights` with `act`: over the first and over the second 16
    /// columns if the format is split, else over all 32 and zero.
    fn finish<L: Lanes>(scales: Self::Scales<L>, sums: [L::Ints; 2], act: &Block, acc: L::Floats) -> L::Floats;
}

/// The quants of eight rows' blocks with `OFFSET` added back, as they were stored.
#[inline(always)]
fn stored<F: Format, const OFFSET: i8>(blocks: [&[u8]; ROWS], run: usize) -> Option<[[u8; 32]; ROWS]> {
    let mut rows = [[0; 32]; ROWS];
    for (row, block) in rows.iter_mut().zip(blocks) {
        *row = scalar::decode(F::DTYPE, block, run)?.quants.map(|quant| (quant + OFFSET) as u8);
    }
    Some(rows)
}

/// The halves at byte `at` of eight blocks.
#[inline(always)]
fn halves(blocks: [&[u8]; ROWS], at: usize) -> Option<[u16; ROWS]> {
    let mut out = [0; ROWS];
    for (out, block) in out.iter_mut().zip(blocks) {
        *out = super::f16::finite(block, at)?;
    }
    Some(out)
}

/// `acc + sum * d * act.scale`.
#[inline(always)]
fn scaled<L: Lanes>(acc: L::Floats, sum: L::Ints, d: L::Floats, act: &Block) -> L::Floats {
    L::add(acc, L::mul(L::mul(L::to_floats(sum), d), L::floats(act.scale)))
}
