//! [`Lanes`] in AVX2, for native tests and tools: a vector of eight lanes is one `__m256i` or `__m256`.
//!
//! This file exists only in a build whose target features include AVX2, so every intrinsic it calls is one that the
//! machine was promised to have: that is the guarantee behind each `unsafe` here that says "AVX2".

use core::arch::x86_64::*;

use super::dot::Quads;
use super::f16::EXPONENT_GAP;
use super::lanes::{ByteLanes, Lanes, ROWS};

#[derive(Clone, Copy)]
pub struct Avx2;

impl Lanes for Avx2 {
    type Words = __m256i;
    type Ints = __m256i;
    type Floats = __m256;
    type Small = Quads;

    #[inline(always)]
    fn load(bytes: &[u8; 4 * ROWS]) -> __m256i {
        // SAFETY: AVX2; `bytes` is 32 readable bytes, and the load asks for no alignment.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    fn pair(pair: &[i16; 2]) -> __m256i {
        let word = i32::from(pair[0] as u16) | i32::from(pair[1]) << 16;
        // SAFETY: AVX2.
        unsafe { _mm256_set1_epi32(word) }
    }

    #[inline(always)]
    fn and(a: __m256i, mask: u16) -> __m256i {
        // SAFETY: AVX2.
        unsafe { _mm256_and_si256(a, _mm256_set1_epi16(mask as i16)) }
    }

    #[inline(always)]
    fn or(a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: AVX2.
        unsafe { _mm256_or_si256(a, b) }
    }

    #[inline(always)]
    fn shl(a: __m256i, bits: u32) -> __m256i {
        // SAFETY: AVX2.
        unsafe { _mm256_sll_epi16(a, _mm_cvtsi32_si128(bits as i32)) }
    }

    #[inline(always)]
    fn shr(a: __m256i, bits: u32) -> __m256i {
        // SAFETY: AVX2.
        unsafe { _mm256_srl_epi16(a, _mm_cvtsi32_si128(bits as i32)) }
    }

    #[inline(always)]
    fn sar(a: __m256i, bits: u32) -> __m256i {
        // SAFETY: AVX2.
        unsafe { _mm256_sra_epi16(a, _mm_cvtsi32_si128(bits as i32)) }
    }

    #[inline(always)]
    fn zero() -> __m256i {
        Self::ints(0)
    }

    #[inline(always)]
    fn ints(value: i32) -> __m256i {
        // SAFETY: AVX2.
        unsafe { _mm256_set1_epi32(value) }
    }

    #[inline(always)]
    fn widen_i8(values: &[i8; ROWS]) -> __m256i {
        // SAFETY: AVX2; `values` is 8 readable bytes, and the load asks for no alignment.
        unsafe { _mm256_cvtepi8_epi32(_mm_loadl_epi64(values.as_ptr().cast())) }
    }

    #[inline(always)]
    fn dot_pairs(acc: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: AVX2.
        unsafe { _mm256_add_epi32(acc, _mm256_madd_epi16(a, b)) }
    }

    #[inline(always)]
    fn add_ints(a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: AVX2.
        unsafe { _mm256_add_epi32(a, b) }
    }

    #[inline(always)]
    fn mul_ints(a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: AVX2.
        unsafe { _mm256_mullo_epi32(a, b) }
    }

    #[inline(always)]
    fn narrow(a: __m256i) -> [i16; ROWS] {
        let mut out = [0; ROWS];
        // SAFETY: AVX2; `out` is 16 writable bytes, and the store asks for no alignment.
        unsafe {
            let halves = _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256::<1>(a));
            _mm_storeu_si128(out.as_mut_ptr().cast(), halves);
        }
        out
    }

    #[inline(always)]
    fn floats(value: f32) -> __m256 {
        // SAFETY: AVX2.
        unsafe { _mm256_set1_ps(value) }
    }

    #[inline(always)]
    fn floats_from(values: &[f32; ROWS]) -> __m256 {
        // SAFETY: AVX2; `values` is 32 readable bytes, and the load asks for no alignment.
        unsafe { _mm256_loadu_ps(values.as_ptr()) }
    }

    #[inline(always)]
    fn widen_f16(bits: &[u16; ROWS]) -> __m256 {
        // As f16::widen; the mask also clears the copies of the sign that widening put where the exponent goes.
        // SAFETY: AVX2; `bits` is 16 readable bytes, and the load asks for no alignment.
        unsafe {
            let halves = _mm256_cvtepi16_epi32(_mm_loadu_si128(bits.as_ptr().cast()));
            let moved = _mm256_and_si256(_mm256_slli_epi32::<13>(halves), _mm256_set1_epi32(0x8fff_e000_u32 as i32));
            _mm256_mul_ps(_mm256_castsi256_ps(moved), _mm256_set1_ps(EXPONENT_GAP))
        }
    }

    #[inline(always)]
    fn to_floats(a: __m256i) -> __m256 {
        // SAFETY: AVX2.
        unsafe { _mm256_cvtepi32_ps(a) }
    }

    #[inline(always)]
    fn round(a: __m256) -> __m256i {
        // SAFETY: AVX2. The conversion rounds to nearest, ties to even, in the mode that Rust keeps the processor in;
        // it turns a NaN into i32::MIN, which the mask of ordered lanes clears.
        unsafe {
            let ordered = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_ORD_Q>(a, a));
            _mm256_and_si256(_mm256_cvtps_epi32(a), ordered)
        }
    }

    #[inline(always)]
    fn add(a: __m256, b: __m256) -> __m256 {
        // SAFETY: AVX2.
        unsafe { _mm256_add_ps(a, b) }
    }

    #[inline(always)]
    fn mul(a: __m256, b: __m256) -> __m256 {
        // SAFETY: AVX2.
        unsafe { _mm256_mul_ps(a, b) }
    }

    #[inline(always)]
    fn abs(a: __m256) -> __m256 {
        // SAFETY: AVX2.
        unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), a) }
    }

    #[inline(always)]
    fn larger(a: __m256, b: __m256) -> __m256 {
        // SAFETY: AVX2. With its operands in this order the instruction is `b > a ? b : a`.
        unsafe { _mm256_max_ps(b, a) }
    }

    #[inline(always)]
    fn store(a: __m256) -> [f32; ROWS] {
        let mut out = [0.0; ROWS];
        // SAFETY: AVX2; `out` is 32 writable bytes, and the store asks for no alignment.
        unsafe { _mm256_storeu_ps(out.as_mut_ptr(), a) };
        out
    }
}

impl ByteLanes for Avx2 {
    #[inline(always)]
    fn quad(quad: &[i8; 4]) -> __m256i {
        // SAFETY: AVX2.
        unsafe { _mm256_set1_epi32(i32::from_le_bytes(quad.map(|q| q as u8))) }
    }

    #[inline(always)]
    fn dot_quads(w: __m256i, a: __m256i) -> __m256i {
        // SAFETY: AVX2. It would saturate beyond 16 bits, and two products of 127 · 127 are below that.
        unsafe { _mm256_maddubs_epi16(w, a) }
    }

    #[inline(always)]
    fn add_words(a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: AVX2.
        unsafe { _mm256_add_epi16(a, b) }
    }
}
