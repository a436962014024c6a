//! One suite for every format and every instruction set that this build has.

use std::borrow::Cow;

use candle_core::quantized::GgmlDType;
use proptest::prelude::*;

use super::activations::{Activations, BLOCK};
use super::formats::{Format, Q4_0, Q4_1, Q4K, Q5_0, Q5_1, Q5K, Q6K, Q8_0};
use super::lanes::{Lanes, ROWS};
use super::matmul::multiply_panels;
use super::portable::Portable;
use super::scalar;
use super::{Native, Packed, Packer, matmul, matmul_range, matmul_rows};
use crate::error::ErrorKind;

const FORMATS: [GgmlDType; 8] = [
    GgmlDType::Q4_0,
    GgmlDType::Q4_1,
    GgmlDType::Q5_0,
    GgmlDType::Q5_1,
    GgmlDType::Q8_0,
    GgmlDType::Q4K,
    GgmlDType::Q5K,
    GgmlDType::Q6K,
];

/// Where a block keeps its halves.
fn scales_at(dtype: GgmlDType) -> &'static [usize] {
    match dtype {
        GgmlDType::Q4_0 | GgmlDType::Q5_0 | GgmlDType::Q8_0 => &[0],
        GgmlDType::Q6K => &[208],
        _ => &[0, 2],
    }
}

/// Random numbers good enough for weights (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// In -1.0 .. 1.0.
    fn float(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// Blocks of random bits with finite scales of either sign, a few of them zero or subnormal.
fn ggml(dtype: GgmlDType, rows: usize, columns: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed | 1);
    let (weights, size) = scalar::block_size(dtype).expect("a format with a kernel");
    let mut bytes: Vec<u8> = (0..rows * columns / weights * size).map(|_| (random.next() >> 56) as u8).collect();
    for block in bytes.chunks_exact_mut(size) {
        for &at in scales_at(dtype) {
            let exponent = [0, 1, 8, 9, 10, 11, 12, 13][(random.next() >> 61) as usize];
            let half = (random.next() >> 48) as u16 & 0x83ff | exponent << 10;
            block[at..at + 2].copy_from_slice(&half.to_le_bytes());
        }
    }
    bytes
}

/// Blocks of very different magnitude, down to zeros and numbers that are not normal.
fn activations(n: usize, columns: usize, seed: u64) -> Vec<f32> {
    let mut random = Random(seed | 1);
    let mut x = Vec::with_capacity(n * columns);
    for _ in 0..n * columns / BLOCK {
        let magnitude = [0.0, 1e-38, 1e-20, 1e-6, 0.1, 1.0, 30.0, 1000.0][(random.next() >> 61) as usize];
        x.extend((0..BLOCK).map(|_| random.float() * magnitude));
    }
    x
}

fn packed(dtype: GgmlDType, bytes: &[u8], rows: usize, columns: usize) -> Packed {
    Packed::from_ggml(dtype, bytes, rows, columns).expect("sound bytes").expect("a format with a kernel")
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// All products of one format on one instruction set.
fn products<F: Format, L: Lanes>(bytes: &[u8], rows: usize, columns: usize, acts: &Activations) -> Vec<f32> {
    let size = F::SIZE.1;
    let row = columns / F::SIZE.0 * size;
    let zeros = vec![0; row];
    let mut blocks = Vec::new();
    for panel in bytes.chunks(row * ROWS) {
        for at in (0..row).step_by(size) {
            let block = |r: usize| panel.get(r * row..(r + 1) * row).map_or(&zeros[..size], |row| &row[at..at + size]);
            blocks.push(F::pack(std::array::from_fn(block)).expect("finite scales"));
        }
    }
    let mut out = vec![0.0; acts.n() * rows];
    multiply_panels::<F, L>(&blocks, acts, 0..rows.div_ceil(ROWS), &mut |panel, j, values| {
        for (r, value) in values.into_iter().enumerate().take_while(|(r, _)| panel * ROWS + r < rows) {
            out[j * rows + panel * ROWS + r] = value;
        }
    });
    out
}

macro_rules! for_every_format {
    ($check:ident::<$lanes:ty>($($argument:expr),*)) => {
        $check::<Q4_0, $lanes>($($argument),*)?;
        $check::<Q4_1, $lanes>($($argument),*)?;
        $check::<Q5_0, $lanes>($($argument),*)?;
        $check::<Q5_1, $lanes>($($argument),*)?;
        $check::<Q8_0, $lanes>($($argument),*)?;
        $check::<Q4K, $lanes>($($argument),*)?;
        $check::<Q5K, $lanes>($($argument),*)?;
        $check::<Q6K, $lanes>($($argument),*)?;
    };
}

fn equals_the_definition<F: Format, L: Lanes>(
    rows: usize,
    blocks: usize,
    n: usize,
    seed: u64,
) -> Result<(), TestCaseError> {
    let columns = 256 * blocks;
    let bytes = ggml(F::DTYPE, rows, columns, seed);
    let mut acts = Activations::default();
    acts.quantise(&activations(n, columns, seed), n, columns);
    let expected = scalar::defined_product(F::DTYPE, &bytes, &acts).expect("finite scales");
    prop_assert_eq!(bits(&products::<F, L>(&bytes, rows, columns, &acts)), bits(&expected), "{:?}", F::DTYPE);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    // 5 × 256 columns are more than one stretch; 11 activations are two tiles and a rest.
    #[test]
    fn native_equals_the_definition(rows in 1usize..20, blocks in 1usize..=5, n in 0usize..=11, seed: u64) {
        for_every_format!(equals_the_definition::<Native>(rows, blocks, n, seed));
    }

    #[test]
    fn portable_equals_the_definition(rows in 1usize..20, blocks in 1usize..=5, n in 0usize..=11, seed: u64) {
        for_every_format!(equals_the_definition::<Portable>(rows, blocks, n, seed));
    }

    /// Any cut of the bytes gives the same weights, and they are those that the definition reads.
    #[test]
    fn packing_loses_nothing(rows in 0usize..20, blocks in 1usize..=3, cut in 1usize..5000, seed: u64) {
        for dtype in FORMATS {
            let columns = 256 * blocks;
            let bytes = ggml(dtype, rows, columns, seed);
            let mut packer = Packer::new(dtype, rows, columns).expect("a sound shape").expect("a kernel");
            for piece in bytes.chunks(cut) {
                packer.push(piece).expect("sound bytes");
            }
            let packed = packer.finish().expect("all bytes");
            let mut out = vec![0.0; columns];
            for (i, row) in scalar::runs(dtype, &bytes, columns).expect("finite scales").iter().enumerate() {
                packed.row(i, &mut out);
                let expected: Vec<f32> = row.iter().flat_map(|run| (0..BLOCK).map(|k| run.weight(k))).collect();
                prop_assert_eq!(bits(&out), bits(&expected), "{:?} row {}", dtype, i);
            }
        }
    }

    /// Parts of a product are parts of the whole: any range of rows, any choice of rows, any chunk of activations.
    #[test]
    fn parts_equal_the_whole(rows in 1usize..40, n in 1usize..=9, from: prop::sample::Index, to: prop::sample::Index,
                             chosen in prop::collection::vec(any::<prop::sample::Index>(), 0..12), chunk in 1usize..=9, seed: u64) {
        let columns = 512;
        let dtype = FORMATS[seed as usize % FORMATS.len()];
        let w = packed(dtype, &ggml(dtype, rows, columns, seed), rows, columns);
        let x = activations(n, columns, seed);
        let mut acts = Activations::default();
        let mut whole = vec![0.0; n * rows];
        matmul(&w, &x, n, &mut whole, &mut acts);

        let (from, to) = (from.index(rows + 1), to.index(rows + 1));
        let mut out = vec![f32::INFINITY; n * rows];
        matmul_range(&w, &acts, from.min(to)..from.max(to), &mut out);
        for (i, (out, whole)) in out.iter().zip(&whole).enumerate() {
            let within = (from.min(to)..from.max(to)).contains(&(i % rows));
            prop_assert_eq!(out.to_bits(), if within { whole.to_bits() } else { f32::INFINITY.to_bits() });
        }

        let chosen: Vec<u32> = chosen.iter().map(|i| i.index(rows) as u32).collect();
        let mut out = vec![0.0; n * chosen.len()];
        matmul_rows(&w, &acts, &chosen, &mut out);
        let expected: Vec<f32> = (0..n).flat_map(|j| chosen.iter().map(|&r| whole[j * rows + r as usize]).collect::<Vec<_>>()).collect();
        prop_assert_eq!(bits(&out), bits(&expected));

        let mut parts = Vec::new();
        for x in x.chunks(chunk * columns) {
            let n = x.len() / columns;
            let mut out = vec![0.0; n * rows];
            matmul(&w, x, n, &mut out, &mut acts);
            parts.extend(out);
        }
        prop_assert_eq!(bits(&parts), bits(&whole));
    }

    /// Rounding moves a value by at most half a step, and the sums are those of what was rounded.
    #[test]
    fn quantised_activations_are_near(seed: u64) {
        let x = activations(1, 512, seed);
        let mut acts = Activations::default();
        acts.quantise(&x, 1, 512);
        for (block, x) in acts.row(0).iter().zip(x.chunks(BLOCK)) {
            let q = block.pairs.as_flattened();
            for (&q, &x) in q.iter().zip(x) {
                prop_assert!((-127..=127).contains(&q));
                prop_assert!((f32::from(q) * block.scale - x).abs() <= block.scale * 0.5001 + 1e-35, "{x} became {q} × {}", block.scale);
            }
            let sum = |q: &[i16]| q.iter().map(|&q| i32::from(q)).sum::<i32>();
            prop_assert_eq!(block.sums, [sum(&q[..16]), sum(&q[16..])]);
            prop_assert_eq!(block.sum.to_bits(), (block.scale * sum(q) as f32).to_bits());
        }
    }
}

/// candle-core reads the same weights, and a product is as near to the exact one as rounding the activations allows:
/// within `Σ |w| · scale / 2` over the columns, and a little for the order of the float additions.
#[test]
fn candle_agrees() {
    let (rows, columns, n) = (24, 1536, 5);
    for (i, dtype) in FORMATS.into_iter().enumerate() {
        let bytes = ggml(dtype, rows, columns, 77 + i as u64);
        let candle: Vec<f32> =
            match dtype.from_data(Cow::Borrowed(&aligned(&bytes)[..bytes.len()])).dequantize(rows * columns) {
                Ok(candle_core::CpuStorage::F32(values)) => values,
                _ => panic!("candle-core dequantises {dtype:?} to floats"),
            };
        let w = packed(dtype, &bytes, rows, columns);
        let mut row = vec![0.0; columns];
        for (i, candle) in candle.chunks(columns).enumerate() {
            w.row(i, &mut row);
            for (a, b) in row.iter().zip(candle) {
                assert!((a - b).abs() <= 1e-6 * b.abs().max(1e-3), "{dtype:?}: {a} and {b}");
            }
        }

        let x = activations(n, columns, 5);
        let mut acts = Activations::default();
        let mut out = vec![0.0; n * rows];
        matmul(&w, &x, n, &mut out, &mut acts);
        for (at, out) in out.iter().enumerate() {
            let (j, r) = (at / rows, at % rows);
            let (w, x) = (&candle[r * columns..][..columns], &x[j * columns..][..columns]);
            let exact: f64 = w.iter().zip(x).map(|(&w, &x)| f64::from(w) * f64::from(x)).sum();
            let size: f64 = w.iter().zip(x).map(|(&w, &x)| f64::from(w * x).abs()).sum();
            let scale = |k: usize| f64::from(acts.row(j)[k / BLOCK].scale);
            let rounding: f64 = w.iter().enumerate().map(|(k, &w)| f64::from(w).abs() * scale(k) / 2.0).sum();
            let error = (f64::from(*out) - exact).abs();
            assert!(error <= rounding * 1.001 + size * 1e-5, "{dtype:?}: {out} for {exact}, {error} off");
        }
    }
}

/// A copy at an address that suits candle-core's blocks; its length is a multiple of eight.
fn aligned(bytes: &[u8]) -> Box<[u8]> {
    let mut copy = bytes.to_vec();
    copy.resize(bytes.len().next_multiple_of(8), 0);
    // The allocator aligns what is this large to sixteen bytes.
    assert_eq!(copy.as_ptr().align_offset(8), 0);
    copy.into_boxed_slice()
}

#[test]
fn shapes_and_bytes_that_do_not_fit_are_refused() {
    let kind = |result: crate::Result<Option<Packed>>| result.err().map(|error| error.kind());
    let whole = ggml(GgmlDType::Q4_1, 3, 64, 1);
    assert_eq!(kind(Packed::from_ggml(GgmlDType::Q4_1, &whole, 3, 64)), None);
    assert_eq!(kind(Packed::from_ggml(GgmlDType::Q4_1, &whole[1..], 3, 64)), Some(ErrorKind::CorruptModel));
    assert_eq!(kind(Packed::from_ggml(GgmlDType::Q4_1, &whole, 2, 64)), Some(ErrorKind::CorruptModel));
    assert_eq!(kind(Packed::from_ggml(GgmlDType::Q4_1, &whole, 3, 63)), Some(ErrorKind::CorruptModel));
    assert_eq!(kind(Packed::from_ggml(GgmlDType::Q4K, &[], 1, 128)), Some(ErrorKind::CorruptModel));
    assert_eq!(kind(Packed::from_ggml(GgmlDType::Q8_0, &[], usize::MAX, 64)), Some(ErrorKind::CorruptModel));
    assert_eq!(kind(Packed::from_ggml(GgmlDType::Q8_0, &[], 1 << 50, 64)), Some(ErrorKind::OutOfMemory));
    assert!(Packed::from_ggml(GgmlDType::F16, &[], 1, 64).is_ok_and(|packed| packed.is_none()));
}

#[test]
fn scales_that_are_not_finite_are_refused() {
    for dtype in FORMATS {
        for &at in scales_at(dtype) {
            for half in [0x7c00u16, 0xfc00, 0x7e01] {
                let mut bytes = ggml(dtype, 9, 256, 3);
                let last = bytes.len() - scalar::block_size(dtype).expect("a kernel").1;
                bytes[last + at..last + at + 2].copy_from_slice(&half.to_le_bytes());
                let error = Packed::from_ggml(dtype, &bytes, 9, 256).err().expect("an infinite scale is refused");
                assert_eq!(error.kind(), ErrorKind::CorruptModel);
            }
        }
    }
}

#[test]
fn an_infinite_activation_shows_in_the_product() {
    let w = packed(GgmlDType::Q4_1, &ggml(GgmlDType::Q4_1, 8, 64, 9), 8, 64);
    let mut x = vec![1.0; 64];
    x[40] = f32::INFINITY;
    let mut out = vec![0.0; 8];
    matmul(&w, &x, 1, &mut out, &mut Activations::default());
    assert!(out.iter().all(|out| out.is_nan()), "{out:?}");
}

#[test]
fn packed_weights_take_the_room_of_the_file() {
    for dtype in FORMATS {
        let bytes = ggml(dtype, 64, 1024, 2);
        let packed = packed(dtype, &bytes, 64, 1024);
        assert!(packed.bytes() as f64 <= bytes.len() as f64 * 1.03, "{dtype:?}");
    }
}
