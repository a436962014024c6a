//! Formats with one scale, and perhaps a minimum, for each 32 weights.

use candle_core::quantized::GgmlDType;

use super::super::activations::Block;
use super::super::dot::{Dot, Pairs};
use super::super::f16;
use super::super::lanes::{Lanes, ROWS};
use super::super::planes::{self, Bytes, Nibbles, Upper};
use super::super::scalar::Run;
use super::{Format, halves, scaled, stored};

/// `w = d (q - 8)`, `q` in 0..16.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Q4_0 {
    d: [u16; ROWS],
    q: Nibbles,
}

/// `w = d q + m`, `q` in 0..16.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Q4_1 {
    d: [u16; ROWS],
    m: [u16; ROWS],
    q: Nibbles,
}

/// `w = d (q - 16)`, `q` in 0..32.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Q5_0 {
    d: [u16; ROWS],
    high: Upper<1>,
    low: Nibbles,
}

/// `w = d q + m`, `q` in 0..32.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Q5_1 {
    d: [u16; ROWS],
    m: [u16; ROWS],
    high: Upper<1>,
    low: Nibbles,
}

/// `w = d q`, `q` a signed byte.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Q8_0 {
    d: [u16; ROWS],
    q: Bytes,
}

// Packing keeps every byte and adds none.
const _: () = assert!(size_of::<Q4_0>() == ROWS * Q4_0::SIZE.1);
const _: () = assert!(size_of::<Q4_1>() == ROWS * Q4_1::SIZE.1);
const _: () = assert!(size_of::<Q5_0>() == ROWS * Q5_0::SIZE.1);
const _: () = assert!(size_of::<Q5_1>() == ROWS * Q5_1::SIZE.1);
const _: () = assert!(size_of::<Q8_0>() == ROWS * Q8_0::SIZE.1);

fn run(scale: u16, min: Option<u16>, quant: impl Fn(usize) -> i8) -> Run {
    Run { quants: std::array::from_fn(quant), scale: f16::widen(scale), halves: [1; 2], min: min.map(f16::widen) }
}

/// `sum - offset * Σ act`: what the sum would be had `offset` been subtracted from every weight.
#[inline(always)]
fn centred<L: Lanes>(sum: L::Ints, offset: i32, act: &Block) -> L::Ints {
    L::add_ints(sum, L::ints(-offset * (act.sums[0] + act.sums[1])))
}

/// `acc + min * (Σ of the activations)`.
#[inline(always)]
fn raised<L: Lanes>(acc: L::Floats, min: L::Floats, act: &Block) -> L::Floats {
    L::add(acc, L::mul(min, L::floats(act.sum)))
}

impl Format for Q4_0 {
    const DTYPE: GgmlDType = GgmlDType::Q4_0;
    const BITS: u32 = 4;
    type Dot<L: Lanes> = L::Small;
    type Scales<L: Lanes> = L::Floats;

    fn pack(blocks: [&[u8]; ROWS]) -> Option<Self> {
        Some(Self { d: halves(blocks, 0)?, q: planes::pack_nibbles(&stored::<Self, 8>(blocks, 0)?) })
    }

    fn unpack(&self, row: usize, _: usize) -> Run {
        run(self.d[row], None, |k| planes::nibble(&self.q, row, k) - 8)
    }

    #[inline(always)]
    fn weights<L: Lanes>(&self, _: usize, v: usize, visit: impl FnMut(usize, L::Words)) {
        L::Small::nibbles(&self.q[v], visit);
    }

    #[inline(always)]
    fn scales<L: Lanes>(&self, _: usize) -> L::Floats {
        L::widen_f16(&self.d)
    }

    #[inline(always)]
    fn finish<L: Lanes>(d: L::Floats, sums: [L::Ints; 2], act: &Block, acc: L::Floats) -> L::Floats {
        scaled::<L>(acc, centred::<L>(sums[0], 8, act), d, act)
    }
}

impl Format for Q4_1 {
    const DTYPE: GgmlDType = GgmlDType::Q4_1;
    const BITS: u32 = 4;
    type Dot<L: Lanes> = L::Small;
    type Scales<L: Lanes> = [L::Floats; 2];

    fn pack(blocks: [&[u8]; ROWS]) -> Option<Self> {
        let q = planes::pack_nibbles(&stored::<Self, 0>(blocks, 0)?);
        Some(Self { d: halves(blocks, 0)?, m: halves(blocks, 2)?, q })
    }

    fn unpack(&self, row: usize, _: usize) -> Run {
        run(self.d[row], Some(self.m[row]), |k| planes::nibble(&self.q, row, k))
    }

    #[inline(always)]
    fn weights<L: Lanes>(&self, _: usize, v: usize, visit: impl FnMut(usize, L::Words)) {
        L::Small::nibbles(&self.q[v], visit);
    }

    #[inline(always)]
    fn scales<L: Lanes>(&self, _: usize) -> [L::Floats; 2] {
        [L::widen_f16(&self.d), L::widen_f16(&self.m)]
    }

    #[inline(always)]
    fn finish<L: Lanes>([d, m]: [L::Floats; 2], sums: [L::Ints; 2], act: &Block, acc: L::Floats) -> L::Floats {
        raised::<L>(scaled::<L>(acc, sums[0], d, act), m, act)
    }
}

impl Format for Q5_0 {
    const DTYPE: GgmlDType = GgmlDType::Q5_0;
    const BITS: u32 = 5;
    type Dot<L: Lanes> = L::Small;
    type Scales<L: Lanes> = L::Floats;

    fn pack(blocks: [&[u8]; ROWS]) -> Option<Self> {
        let rows = stored::<Self, 16>(blocks, 0)?;
        Some(Self { d: halves(blocks, 0)?, high: planes::pack_upper(&rows), low: planes::pack_nibbles(&rows) })
    }

    fn unpack(&self, row: usize, _: usize) -> Run {
        let quant = |k| planes::nibble(&self.low, row, k) + planes::upper(&self.high, row, k) - 16;
        run(self.d[row], None, quant)
    }

    #[inline(always)]
    fn weights<L: Lanes>(&self, _: usize, v: usize, visit: impl FnMut(usize, L::Words)) {
        L::Small::upper(&self.low, &self.high, v, visit);
    }

    #[inline(always)]
    fn scales<L: Lanes>(&self, _: usize) -> L::Floats {
        L::widen_f16(&self.d)
    }

    #[inline(always)]
    fn finish<L: Lanes>(d: L::Floats, sums: [L::Ints; 2], act: &Block, acc: L::Floats) -> L::Floats {
        scaled::<L>(acc, centred::<L>(sums[0], 16, act), d, act)
    }
}

impl Format for Q5_1 {
    const DTYPE: GgmlDType = GgmlDType::Q5_1;
    const BITS: u32 = 5;
    type Dot<L: Lanes> = L::Small;
    type Scales<L: Lanes> = [L::Floats; 2];

    fn pack(blocks: [&[u8]; ROWS]) -> Option<Self> {
        let rows = stored::<Self, 0>(blocks, 0)?;
        let (high, low) = (planes::pack_upper(&rows), planes::pack_nibbles(&rows));
        Some(Self { d: halves(blocks, 0)?, m: halves(blocks, 2)?, high, low })
    }

    fn unpack(&self, row: usize, _: usize) -> Run {
        let quant = |k| planes::nibble(&self.low, row, k) + planes::upper(&self.high, row, k);
        run(self.d[row], Some(self.m[row]), quant)
    }

    #[inline(always)]
    fn weights<L: Lanes>(&self, _: usize, v: usize, visit: impl FnMut(usize, L::Words)) {
        L::Small::upper(&self.low, &self.high, v, visit);
    }

    #[inline(always)]
    fn scales<L: Lanes>(&self, _: usize) -> [L::Floats; 2] {
        [L::widen_f16(&self.d), L::widen_f16(&self.m)]
    }

    #[inline(always)]
    fn finish<L: Lanes>([d, m]: [L::Floats; 2], sums: [L::Ints; 2], act: &Block, acc: L::Floats) -> L::Floats {
        raised::<L>(scaled::<L>(acc, sums[0], d, act), m, act)
    }
}

impl Format for Q8_0 {
    const DTYPE: GgmlDType = GgmlDType::Q8_0;
    const BITS: u32 = 8;
    type Dot<L: Lanes> = Pairs;
    type Scales<L: Lanes> = L::Floats;

    fn pack(blocks: [&[u8]; ROWS]) -> Option<Self> {
        Some(Self { d: halves(blocks, 0)?, q: planes::pack_bytes(&stored::<Self, 0>(blocks, 0)?) })
    }

    fn unpack(&self, row: usize, _: usize) -> Run {
        run(self.d[row], None, |k| planes::byte(&self.q, row, k))
    }

    #[inline(always)]
    fn weights<L: Lanes>(&self, _: usize, v: usize, visit: impl FnMut(usize, L::Words)) {
        planes::visit_bytes::<L>(&self.q, v, visit);
    }

    #[inline(always)]
    fn scales<L: Lanes>(&self, _: usize) -> L::Floats {
        L::widen_f16(&self.d)
    }

    #[inline(always)]
    fn finish<L: Lanes>(d: L::Floats, sums: [L::Ints; 2], act: &Block, acc: L::Floats) -> L::Floats {
        scaled::<L>(acc, sums[0], d, act)
    }
}
