//! The vocabulary that every kernel is written in: eight rows side by side, one row a lane.
//!
//! A kernel is generic over [`Lanes`] and is written once; each instruction set spells these words in one file. All of
//! them give the same bits: integer sums are exact, and the float operations are those of IEEE 754 in the order in
//! which the kernel writes them (no fused multiply-add, no reassociation), so a model answers alike on every machine.

/// Rows in a panel, and lanes in a vector.
pub(super) const ROWS: usize = 8;

pub(super) trait Lanes: Copy + 'static {
    /// Eight lanes of two 16-bit integers.
    type Pairs: Copy;
    /// Eight 32-bit integers.
    type Ints: Copy;
    /// Eight 32-bit floats.
    type Floats: Copy;

    /// Four bytes a lane, as two little-endian 16-bit integers.
    fn load(bytes: &[u8; 4 * ROWS]) -> Self::Pairs;
    /// The same pair in every lane.
    fn pair(pair: &[i16; 2]) -> Self::Pairs;
    fn and(a: Self::Pairs, mask: u16) -> Self::Pairs;
    fn or(a: Self::Pairs, b: Self::Pairs) -> Self::Pairs;
    fn shl(a: Self::Pairs, bits: u32) -> Self::Pairs;
    /// Zeros come in from the left.
    fn shr(a: Self::Pairs, bits: u32) -> Self::Pairs;
    /// The sign comes in from the left.
    fn sar(a: Self::Pairs, bits: u32) -> Self::Pairs;

    fn ints(value: i32) -> Self::Ints;
    fn widen_i8(values: &[i8; ROWS]) -> Self::Ints;
    /// `acc + a.0 * b.0 + a.1 * b.1` in every lane.
    fn dot(acc: Self::Ints, a: Self::Pairs, b: Self::Pairs) -> Self::Ints;
    fn add_ints(a: Self::Ints, b: Self::Ints) -> Self::Ints;
    fn mul_ints(a: Self::Ints, b: Self::Ints) -> Self::Ints;
    fn store_ints(a: Self::Ints) -> [i32; ROWS];

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
