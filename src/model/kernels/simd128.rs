//! [`Lanes`] in WebAssembly SIMD: a vector of eight lanes is two `v128`.

use core::arch::wasm32::*;

use super::f16::EXPONENT_GAP;
use super::lanes::{Lanes, ROWS};

#[derive(Clone, Copy)]
pub struct Simd128;

#[derive(Clone, Copy)]
pub struct Wide(v128, v128);

impl Wide {
    #[inline(always)]
    fn map(self, f: impl Fn(v128) -> v128) -> Self {
        Self(f(self.0), f(self.1))
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(v128, v128) -> v128) -> Self {
        Self(f(self.0, other.0), f(self.1, other.1))
    }

    #[inline(always)]
    fn splat(value: v128) -> Self {
        Self(value, value)
    }

    #[inline(always)]
    fn load<T>(values: &[T; ROWS]) -> Self {
        const { assert!(size_of::<[T; ROWS]>() == 32) };
        let at = values.as_ptr().cast::<v128>();
        // SAFETY: the assertion makes `values` 32 readable bytes, and v128_load asks for no alignment.
        unsafe { Self(v128_load(at), v128_load(at.add(1))) }
    }

    /// Two vectors of four lanes from one of eight narrow ones.
    #[inline(always)]
    fn widen(narrow: v128) -> Self {
        Self(i32x4_extend_low_i16x8(narrow), i32x4_extend_high_i16x8(narrow))
    }
}

impl Lanes for Simd128 {
    type Words = Wide;
    type Ints = Wide;
    type Floats = Wide;
    #[cfg(not(target_feature = "relaxed-simd"))]
    type Small = super::dot::Pairs;
    #[cfg(target_feature = "relaxed-simd")]
    type Small = super::dot::Quads;

    #[inline(always)]
    fn load(bytes: &[u8; 4 * ROWS]) -> Wide {
        let (lanes, _) = bytes.as_chunks::<4>();
        Wide::load::<[u8; 4]>(lanes.first_chunk().expect("32 bytes are eight lanes"))
    }

    #[inline(always)]
    fn pair(pair: &[i16; 2]) -> Wide {
        // SAFETY: `pair` is 4 readable bytes, and the load asks for no alignment.
        Wide::splat(unsafe { v128_load32_splat(pair.as_ptr().cast()) })
    }

    #[inline(always)]
    fn and(a: Wide, mask: u16) -> Wide {
        a.map(|a| v128_and(a, u16x8_splat(mask)))
    }

    #[inline(always)]
    fn or(a: Wide, b: Wide) -> Wide {
        a.zip(b, |a, b| v128_or(a, b))
    }

    #[inline(always)]
    fn shl(a: Wide, bits: u32) -> Wide {
        a.map(|a| i16x8_shl(a, bits))
    }

    #[inline(always)]
    fn shr(a: Wide, bits: u32) -> Wide {
        a.map(|a| u16x8_shr(a, bits))
    }

    #[inline(always)]
    fn sar(a: Wide, bits: u32) -> Wide {
        a.map(|a| i16x8_shr(a, bits))
    }

    #[inline(always)]
    fn zero() -> Wide {
        Self::ints(0)
    }

    #[inline(always)]
    fn ints(value: i32) -> Wide {
        Wide::splat(i32x4_splat(value))
    }

    #[inline(always)]
    fn widen_i8(values: &[i8; ROWS]) -> Wide {
        // SAFETY: `values` is 8 readable bytes, and the load asks for no alignment.
        Wide::widen(unsafe { i16x8_load_extend_i8x8(values.as_ptr()) })
    }

    #[inline(always)]
    fn dot_pairs(acc: Wide, a: Wide, b: Wide) -> Wide {
        Self::add_ints(acc, a.zip(b, |a, b| i32x4_dot_i16x8(a, b)))
    }

    #[inline(always)]
    fn add_ints(a: Wide, b: Wide) -> Wide {
        a.zip(b, |a, b| i32x4_add(a, b))
    }

    #[inline(always)]
    fn mul_ints(a: Wide, b: Wide) -> Wide {
        a.zip(b, |a, b| i32x4_mul(a, b))
    }

    #[inline(always)]
    fn narrow(a: Wide) -> [i16; ROWS] {
        let mut out = [0; ROWS];
        // SAFETY: `out` is 16 writable bytes, and v128_store asks for no alignment.
        unsafe { v128_store(out.as_mut_ptr().cast(), i16x8_narrow_i32x4(a.0, a.1)) };
        out
    }

    #[inline(always)]
    fn floats(value: f32) -> Wide {
        Wide::splat(f32x4_splat(value))
    }

    #[inline(always)]
    fn floats_from(values: &[f32; ROWS]) -> Wide {
        Wide::load(values)
    }

    #[inline(always)]
    fn widen_f16(bits: &[u16; ROWS]) -> Wide {
        // SAFETY: `bits` is 16 readable bytes, and v128_load asks for no alignment.
        let halves = unsafe { v128_load(bits.as_ptr().cast()) };
        // As f16::widen; the mask also clears the copies of the sign that widening put where the exponent goes.
        Wide::widen(halves).map(|half| {
            let moved = v128_and(i32x4_shl(half, 13), u32x4_splat(0x8fff_e000));
            f32x4_mul(moved, f32x4_splat(EXPONENT_GAP))
        })
    }

    #[inline(always)]
    fn to_floats(a: Wide) -> Wide {
        a.map(|a| f32x4_convert_i32x4(a))
    }

    #[inline(always)]
    fn round(a: Wide) -> Wide {
        a.map(|a| i32x4_trunc_sat_f32x4(f32x4_nearest(a)))
    }

    #[inline(always)]
    fn add(a: Wide, b: Wide) -> Wide {
        a.zip(b, |a, b| f32x4_add(a, b))
    }

    #[inline(always)]
    fn mul(a: Wide, b: Wide) -> Wide {
        a.zip(b, |a, b| f32x4_mul(a, b))
    }

    #[inline(always)]
    fn abs(a: Wide) -> Wide {
        a.map(|a| f32x4_abs(a))
    }

    #[inline(always)]
    fn larger(a: Wide, b: Wide) -> Wide {
        a.zip(b, |a, b| f32x4_pmax(a, b))
    }

    #[inline(always)]
    fn store(a: Wide) -> [f32; ROWS] {
        let mut out = [0.0; ROWS];
        let at = out.as_mut_ptr().cast::<v128>();
        // SAFETY: `out` is 32 writable bytes, and v128_store asks for no alignment.
        unsafe {
            v128_store(at, a.0);
            v128_store(at.add(1), a.1);
        }
        out
    }
}

#[cfg(target_feature = "relaxed-simd")]
impl super::lanes::ByteLanes for Simd128 {
    #[inline(always)]
    fn quad(quad: &[i8; 4]) -> Wide {
        // SAFETY: `quad` is 4 readable bytes, and the load asks for no alignment.
        Wide::splat(unsafe { v128_load32_splat(quad.as_ptr().cast()) })
    }

    #[inline(always)]
    fn dot_quads(w: Wide, a: Wide) -> Wide {
        // What engines may do differently concerns bytes of the second operand above 127, and weights have none: the
        // result is exact everywhere.
        //
        // `i32x4_relaxed_dot_i8x16_i7x16_add` would be one instruction on processors that have it, and is five on those
        // that do not, most of today's: this one and an addition are two there.
        a.zip(w, |a, w| i16x8_relaxed_dot_i8x16_i7x16(a, w))
    }

    #[inline(always)]
    fn add_words(a: Wide, b: Wide) -> Wide {
        a.zip(b, |a, b| i16x8_add(a, b))
    }
}
