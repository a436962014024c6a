//! The "k-quants": blocks of 256 weights, eight runs of 32 with small integer scales of their own.

use candle_core::quantized::GgmlDType;

use super::super::activations::Block;
use super::super::dot::Dot;
use super::super::f16;
use super::super::lanes::{Lanes, ROWS};
use super::super::planes::{self, Nibbles, Upper};
use super::super::scalar::{self, Run};
use super::{Format, halves, scaled, stored};

/// Runs in a block.
const RUNS: usize = 8;

/// The scales that Q4_K and Q5_K share, the 6-bit ones widened to a byte each.
#[derive(Clone, Copy)]
#[repr(C)]
struct Scales {
    d: [u16; ROWS],
    dmin: [u16; ROWS],
    scale: [[i8; ROWS]; RUNS],
    min: [[i8; ROWS]; RUNS],
}

/// `w = d scale[run] q - dmin min[run]`, `q` in 0..16.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Q4K {
    scales: Scales,
    q: [Nibbles; RUNS],
}

/// `w = d scale[run] q - dmin min[run]`, `q` in 0..32.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Q5K {
    scales: Scales,
    high: [Upper<1>; RUNS],
    low: [Nibbles; RUNS],
}

/// `w = d scale[k / 16] (q - 32)`, `q` in 0..64.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Q6K {
    d: [u16; ROWS],
    scale: [[[i8; ROWS]; 2]; RUNS],
    high: [Upper<2>; RUNS],
    low: [Nibbles; RUNS],
}

// The widened scales cost four bytes in 144 and in 176.
const _: () = assert!(size_of::<Q4K>() == ROWS * (Q4K::SIZE.1 + 4));
const _: () = assert!(size_of::<Q5K>() == ROWS * (Q5K::SIZE.1 + 4));
const _: () = assert!(size_of::<Q6K>() == ROWS * Q6K::SIZE.1);

impl Scales {
    fn pack(blocks: [&[u8]; ROWS]) -> Option<Self> {
        let mut scales =
            Self { d: halves(blocks, 0)?, dmin: halves(blocks, 2)?, scale: [[0; ROWS]; RUNS], min: [[0; ROWS]; RUNS] };
        for (r, block) in blocks.iter().enumerate() {
            for run in 0..RUNS {
                let (scale, min) = scalar::scale_and_min(&block[4..16], run);
                (scales.scale[run][r], scales.min[run][r]) = (scale as i8, min as i8);
            }
        }
        Some(scales)
    }

    fn unpack(&self, row: usize, run: usize, quant: impl Fn(usize) -> i8) -> Run {
        let scale = f16::widen(self.d[row]) * f32::from(self.scale[run][row]);
        let min = -(f16::widen(self.dmin[row]) * f32::from(self.min[run][row]));
        Run { quants: std::array::from_fn(quant), scale, halves: [1; 2], min: Some(min) }
    }

    /// The scale of the products and what is to be subtracted, both as real numbers.
    #[inline(always)]
    fn load<L: Lanes>(&self, run: usize) -> [L::Floats; 2] {
        let real = |d, small| L::mul(L::widen_f16(d), L::to_floats(L::widen_i8(small)));
        [real(&self.d, &self.scale[run]), real(&self.dmin, &self.min[run])]
    }
}

#[inline(always)]
fn finish_lowered<L: Lanes>([d, min]: [L::Floats; 2], sum: L::Ints, act: &Block, acc: L::Floats) -> L::Floats {
    L::add(scaled::<L>(acc, sum, d, act), L::mul(min, L::floats(-act.sum)))
}

impl Format for Q4K {
    const DTYPE: GgmlDType = GgmlDType::Q4K;
    const BITS: u32 = 4;
    type Dot<L: Lanes> = L::Small;
    type Scales<L: Lanes> = [L::Floats; 2];

    fn pack(blocks: [&[u8]; ROWS]) -> Option<Self> {
        let mut packed = Self { scales: Scales::pack(blocks)?, q: [[[0; 4 * ROWS]; 4]; RUNS] };
        for run in 0..RUNS {
            packed.q[run] = planes::pack_nibbles(&stored::<Self, 0>(blocks, run)?);
        }
        Some(packed)
    }

    fn unpack(&self, row: usize, run: usize) -> Run {
        self.scales.unpack(row, run, |k| planes::nibble(&self.q[run], row, k))
    }

    #[inline(always)]
    fn weights<L: Lanes>(&self, run: usize, v: usize, visit: impl FnMut(usize, L::Words)) {
        L::Small::nibbles(&self.q[run][v], visit);
    }

    #[inline(always)]
    fn scales<L: Lanes>(&self, run: usize) -> [L::Floats; 2] {
        self.scales.load::<L>(run)
    }

    #[inline(always)]
    fn finish<L: Lanes>(scales: [L::Floats; 2], sums: [L::Ints; 2], act: &Block, acc: L::Floats) -> L::Floats {
        finish_lowered::<L>(scales, sums[0], act, acc)
    }
}

impl Format for Q5K {
    const DTYPE: GgmlDType = GgmlDType::Q5K;
    const BITS: u32 = 5;
    type Dot<L: Lanes> = L::Small;
    type Scales<L: Lanes> = [L::Floats; 2];

    fn pack(blocks: [&[u8]; ROWS]) -> Option<Self> {
        let (high, low) = ([[[0; 4 * ROWS]; 1]; RUNS], [[[0; 4 * ROWS]; 4]; RUNS]);
        let mut packed = Self { scales: Scales::pack(blocks)?, high, low };
        for run in 0..RUNS {
            let rows = stored::<Self, 0>(blocks, run)?;
            (packed.high[run], packed.low[run]) = (planes::pack_upper(&rows), planes::pack_nibbles(&rows));
        }
        Some(packed)
    }

    fn unpack(&self, row: usize, run: usize) -> Run {
        let (low, high) = (&self.low[run], &self.high[run]);
        self.scales.unpack(row, run, |k| planes::nibble(low, row, k) + planes::upper(high, row, k))
    }

    #[inline(always)]
    fn weights<L: Lanes>(&self, run: usize, v: usize, visit: impl FnMut(usize, L::Words)) {
        L::Small::upper(&self.low[run], &self.high[run], v, visit);
    }

    #[inline(always)]
    fn scales<L: Lanes>(&self, run: usize) -> [L::Floats; 2] {
        self.scales.load::<L>(run)
    }

    #[inline(always)]
    fn finish<L: Lanes>(scales: [L::Floats; 2], sums: [L::Ints; 2], act: &Block, acc: L::Floats) -> L::Floats {
        finish_lowered::<L>(scales, sums[0], act, acc)
    }
}

impl Format for Q6K {
    const DTYPE: GgmlDType = GgmlDType::Q6K;
    const BITS: u32 = 6;
    const SPLIT: bool = true;
    type Dot<L: Lanes> = L::Small;
    type Scales<L: Lanes> = (L::Floats, [L::Ints; 2]);

    fn pack(blocks: [&[u8]; ROWS]) -> Option<Self> {
        let (high, low) = ([[[0; 4 * ROWS]; 2]; RUNS], [[[0; 4 * ROWS]; 4]; RUNS]);
        let mut packed = Self { d: halves(blocks, 208)?, scale: [[[0; ROWS]; 2]; RUNS], high, low };
        for run in 0..RUNS {
            let rows = stored::<Self, 32>(blocks, run)?;
            (packed.high[run], packed.low[run]) = (planes::pack_upper(&rows), planes::pack_nibbles(&rows));
            packed.scale[run] = std::array::from_fn(|h| blocks.map(|block| block[192 + 2 * run + h] as i8));
        }
        Some(packed)
    }

    fn unpack(&self, row: usize, run: usize) -> Run {
        let quant = |k| planes::nibble(&self.low[run], row, k) + planes::upper(&self.high[run], row, k) - 32;
        let halves = self.scale[run].map(|scale| i32::from(scale[row]));
        Run { quants: std::array::from_fn(quant), scale: f16::widen(self.d[row]), halves, min: None }
    }

    #[inline(always)]
    fn weights<L: Lanes>(&self, run: usize, v: usize, visit: impl FnMut(usize, L::Words)) {
        L::Small::upper(&self.low[run], &self.high[run], v, visit);
    }

    #[inline(always)]
    fn scales<L: Lanes>(&self, run: usize) -> (L::Floats, [L::Ints; 2]) {
        (L::widen_f16(&self.d), self.scale[run].each_ref().map(L::widen_i8))
    }

    #[inline(always)]
    fn finish<L: Lanes>(
        (d, scale): (L::Floats, [L::Ints; 2]),
        sums: [L::Ints; 2],
        act: &Block,
        acc: L::Floats,
    ) -> L::Floats {
        let half = |h: usize| L::mul_ints(scale[h], L::add_ints(sums[h], L::ints(-32 * act.sums[h])));
        scaled::<L>(acc, L::add_ints(half(0), half(1)), d, act)
    }
}
