//! Two ways to multiply a run of 32 columns, for eight rows at once.
//!
//! [`Pairs`] takes any weights: two neighbouring columns a step, widened to 16 bits. [`Quads`] takes weights of at most
//! seven bits, four columns a step, where the instruction set multiplies bytes. Both are exact.

use super::activations::Block;
#[cfg(any(target_feature = "relaxed-simd", target_feature = "avx2"))]
use super::lanes::ByteLanes;
use super::lanes::Lanes;
use super::planes::{Nibbles, Plane, Upper, load_upper};

pub(super) trait Dot<L: Lanes> {
    /// One value for each step of a run.
    type Steps<T: Copy>: Copy + AsRef<[T]> + AsMut<[T]>;

    fn steps<T: Copy>(value: T) -> Self::Steps<T>;

    /// Steps in eight columns.
    const PER_PLANE: usize;

    /// Calls `visit(step, words)` for the steps of the eight columns in a plane of nibbles.
    fn nibbles(plane: &Plane, visit: impl FnMut(usize, L::Words));

    /// The same for plane `v` of nibbles with `BITS` more bits above them.
    fn upper<const BITS: usize>(low: &Nibbles, high: &Upper<BITS>, v: usize, visit: impl FnMut(usize, L::Words));

    /// Adds the products of step `step`.
    fn add(acc: L::Ints, weights: L::Words, act: &Block, step: usize) -> L::Ints;
}

/// Step `i` is the columns `2 i` and `2 i + 1`.
pub(super) struct Pairs;

impl<L: Lanes> Dot<L> for Pairs {
    type Steps<T: Copy> = [T; 16];
    const PER_PLANE: usize = 4;

    #[inline(always)]
    fn steps<T: Copy>(value: T) -> [T; 16] {
        [value; 16]
    }

    #[inline(always)]
    fn nibbles(plane: &Plane, mut visit: impl FnMut(usize, L::Words)) {
        let w = L::load(plane);
        visit(0, L::and(w, 0x000f));
        visit(1, L::and(L::shr(w, 4), 0x000f));
        visit(2, L::and(L::shr(w, 8), 0x000f));
        visit(3, L::shr(w, 12));
    }

    #[inline(always)]
    fn upper<const BITS: usize>(low: &Nibbles, high: &Upper<BITS>, v: usize, mut visit: impl FnMut(usize, L::Words)) {
        let high = load_upper::<L, BITS>(high, v);
        <Self as Dot<L>>::nibbles(&low[v], |step, words| {
            let bits = raise::<L>(high, step / 2 * 8 + step % 2 * BITS);
            visit(step, L::or(words, L::and(bits, ((1 << BITS) - 1) << 4)));
        });
    }

    #[inline(always)]
    fn add(acc: L::Ints, weights: L::Words, act: &Block, step: usize) -> L::Ints {
        L::dot_pairs(acc, weights, L::pair(&act.pairs[step]))
    }
}

/// Step `i` is the columns of [`Block::quads`]`[i]`.
#[cfg(any(target_feature = "relaxed-simd", target_feature = "avx2"))]
pub(super) struct Quads;

#[cfg(any(target_feature = "relaxed-simd", target_feature = "avx2"))]
impl<L: ByteLanes> Dot<L> for Quads {
    type Steps<T: Copy> = [T; 8];
    const PER_PLANE: usize = 2;

    #[inline(always)]
    fn steps<T: Copy>(value: T) -> [T; 8] {
        [value; 8]
    }

    #[inline(always)]
    fn nibbles(plane: &Plane, mut visit: impl FnMut(usize, L::Words)) {
        let w = L::load(plane);
        visit(0, L::and(w, 0x0f0f));
        visit(1, L::and(L::shr(w, 4), 0x0f0f));
    }

    #[inline(always)]
    fn upper<const BITS: usize>(low: &Nibbles, high: &Upper<BITS>, v: usize, mut visit: impl FnMut(usize, L::Words)) {
        let high = load_upper::<L, BITS>(high, v);
        <Self as Dot<L>>::nibbles(&low[v], |step, words| {
            let bits = raise::<L>(high, step * BITS);
            visit(step, L::or(words, L::and(bits, (((1 << BITS) - 1) << 4) * 0x0101)));
        });
    }

    #[inline(always)]
    fn add(acc: L::Ints, weights: L::Words, act: &Block, step: usize) -> L::Ints {
        L::dot_quads(acc, weights, L::quad(&act.quads[step]))
    }
}

/// Brings bit `from` of 16 to place 4, above a nibble.
#[inline(always)]
fn raise<L: Lanes>(words: L::Words, from: usize) -> L::Words {
    if from >= 4 { L::shr(words, from as u32 - 4) } else { L::shl(words, 4 - from as u32) }
}
