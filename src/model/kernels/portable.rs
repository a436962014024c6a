//! [`Lanes`] in plain Rust: for targets without a file of their own, and a second witness in the tests.

use core::array::from_fn;

use super::dot::Pairs;
use super::f16;
use super::lanes::{Lanes, ROWS};

#[derive(Clone, Copy)]
pub struct Portable;

impl Lanes for Portable {
    type Words = [[i16; 2]; ROWS];
    type Ints = [i32; ROWS];
    type Floats = [f32; ROWS];
    type Small = Pairs;

    #[inline(always)]
    fn load(bytes: &[u8; 4 * ROWS]) -> Self::Words {
        from_fn(|r| from_fn(|h| i16::from_le_bytes([bytes[4 * r + 2 * h], bytes[4 * r + 2 * h + 1]])))
    }

    #[inline(always)]
    fn pair(pair: &[i16; 2]) -> Self::Words {
        [*pair; ROWS]
    }

    #[inline(always)]
    fn and(a: Self::Words, mask: u16) -> Self::Words {
        a.map(|pair| pair.map(|a| a & mask as i16))
    }

    #[inline(always)]
    fn or(a: Self::Words, b: Self::Words) -> Self::Words {
        from_fn(|r| from_fn(|h| a[r][h] | b[r][h]))
    }

    #[inline(always)]
    fn shl(a: Self::Words, bits: u32) -> Self::Words {
        a.map(|pair| pair.map(|a| a << bits))
    }

    #[inline(always)]
    fn shr(a: Self::Words, bits: u32) -> Self::Words {
        a.map(|pair| pair.map(|a| (a as u16 >> bits) as i16))
    }

    #[inline(always)]
    fn sar(a: Self::Words, bits: u32) -> Self::Words {
        a.map(|pair| pair.map(|a| a >> bits))
    }

    #[inline(always)]
    fn zero() -> Self::Words {
        [[0; 2]; ROWS]
    }

    #[inline(always)]
    fn ints(value: i32) -> Self::Ints {
        [value; ROWS]
    }

    #[inline(always)]
    fn widen_i8(values: &[i8; ROWS]) -> Self::Ints {
        values.map(i32::from)
    }

    #[inline(always)]
    fn dot_pairs(acc: Self::Ints, a: Self::Words, b: Self::Words) -> Self::Ints {
        let product = |r: usize, h: usize| i32::from(a[r][h]) * i32::from(b[r][h]);
        from_fn(|r| acc[r] + product(r, 0) + product(r, 1))
    }

    #[inline(always)]
    fn add_ints(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        from_fn(|r| a[r] + b[r])
    }

    #[inline(always)]
    fn mul_ints(a: Self::Ints, b: Self::Ints) -> Self::Ints {
        from_fn(|r| a[r] * b[r])
    }

    #[inline(always)]
    fn narrow(a: Self::Ints) -> [i16; ROWS] {
        a.map(|a| a as i16)
    }

    #[inline(always)]
    fn floats(value: f32) -> Self::Floats {
        [value; ROWS]
    }

    #[inline(always)]
    fn floats_from(values: &[f32; ROWS]) -> Self::Floats {
        *values
    }

    #[inline(always)]
    fn widen_f16(bits: &[u16; ROWS]) -> Self::Floats {
        bits.map(f16::widen)
    }

    #[inline(always)]
    fn to_floats(a: Self::Ints) -> Self::Floats {
        a.map(|a| a as f32)
    }

    #[inline(always)]
    fn round(a: Self::Floats) -> Self::Ints {
        a.map(|a| a.round_ties_even() as i32)
    }

    #[inline(always)]
    fn add(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        from_fn(|r| a[r] + b[r])
    }

    #[inline(always)]
    fn mul(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        from_fn(|r| a[r] * b[r])
    }

    #[inline(always)]
    fn abs(a: Self::Floats) -> Self::Floats {
        a.map(f32::abs)
    }

    #[inline(always)]
    fn larger(a: Self::Floats, b: Self::Floats) -> Self::Floats {
        from_fn(|r| if a[r] < b[r] { b[r] } else { a[r] })
    }

    #[inline(always)]
    fn store(a: Self::Floats) -> [f32; ROWS] {
        a
    }
}
