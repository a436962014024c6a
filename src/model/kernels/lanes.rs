//! The vocabulary that every kernel is written in: eight rows side by side, one row a lane.
//!
//! A kernel is generic over [`Lanes`] and is written once; each instruction set spells these words in one file. All of
//! them give the same bits: integer sums are exact, and the float operations are those of IEEE 754 in the order in
//! which the kernel writes them (no fused multiply-add, no reassociation), so a model answers alike on every machine.

use super::dot::Dot;

/// Rows in a panel, and lanes in a vector.
pub(super) const ROWS: usize = 8;

pub(super) trait Lanes: Copy + 'static {
    /// Eight lanes of four bytes: two 16-bit integers, or four of 8 bits.
    type Words: Copy;
    /// Eight 32-bit integers.
    type Ints: Copy;
    /// Eight 32-bit floats.
    type Floats: Copy;
    /// The faster way to multiply weights of seven bits or less.
    type Small: Dot<Self>;

    /// The low byte of an integer comes first.
    fn load(bytes: &[u8; 4 * ROWS]) -> Self::Words;
    /// The same pair in every lane.
    fn pair(pair: &[i16; 2]) -> Self::Words;
    fn and(a: Self::Words, mask: u16) -> Self::Words;
    fn or(a: Self::Words, b: Self::Words) -> Self::Words;
    fn shl(a: Self::Words, bits: u32) -> Self::Words;
    /// Zeros come in from the left.
    fn shr(a: Self::Words, bits: u32) -> Self::Words;
    /// The sign comes in from the left.
    fn sar(a: Self::Words, bits: u32) -> Self::Words;

    fn zero() -> Self::Words;

    fn ints(value: i32) -> Self::Ints;
    fn widen_i8(values: &[i8; ROWS]) -> Self::Ints;
    /// `acc + a.0 * b.0 + a.1 * b.1` in every lane.
    fn dot_pairs(acc: Self::Ints, a: Self::Words, b: Self::Words) -> Self::Ints;
    fn add_ints(a: Self::Ints, b: Self::Ints) -> Self::Ints;
    fn mul_ints(a: Self::Ints, b: Self::Ints) -> Self::Ints;
    /// For magnitudes below 2¹⁵.
    fn narrow(a: Self::Ints) -> [i16; ROWS];

    fn floats(value: f32) -> Self::Floats;
    fn floats_from(values: &[f32; ROWS]) -> Self::Floats;
    /// Widens eight finite half-precision floats.
    fn widen_f16(bits: &[u16; ROWS]) -> Self::Floats;
    fn to_floats(a: Self::Ints) -> Self::Floats;
    /// The nearest integers, ties to even; a NaN gives 0. For magnitudes below 2³¹.
    fn round(a: Self::Floats) -> Self::Ints;
    fn add(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    fn mul(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    fn abs(a: Self::Floats) -> Self::Floats;
    /// `b` where `a < b`, else `a`; so a NaN in `b` never gets through.
    fn larger(a: Self::Floats, b: Self::Floats) -> Self::Floats;
    fn store(a: Self::Floats) -> [f32; ROWS];
}

/// [`Lanes`] that can also multiply bytes.
#[cfg(any(target_feature = "relaxed-simd", target_feature = "avx2"))]
pub(super) trait ByteLanes: Lanes {
    /// The same four bytes in every lane.
    fn quad(quad: &[i8; 4]) -> Self::Words;
    /// `w[0] * a[0] + w[1] * a[1]` and `w[2] * a[2] + w[3] * a[3]` in every lane, as 16-bit integers, the bytes of `w` in
    /// 0..=127 and those of `a` signed.
    fn dot_quads(w: Self::Words, a: Self::Words) -> Self::Words;
    /// Adds 16-bit integers.
    fn add_words(a: Self::Words, b: Self::Words) -> Self::Words;
}
