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
    /// Sums of a few steps.
    type Sum: Copy;

    /// Steps in the eight columns of a plane.
    const PER_PLANE: usize;

    /// Steps that a [`Dot::Sum`] holds without overflow, for weights of `bits` bits.
    fn capacity(bits: u32) -> usize;

    fn steps<T: Copy>(value: T) -> Self::Steps<T>;

    /// Calls `visit(step, words)` for the steps of a plane of nibbles.
    fn nibbles(plane: &Plane, visit: impl FnMut(usize, L::Words));

    /// The same for plane `v` of nibbles with `BITS` more bits above them.
    fn upper<const BITS: usize>(low: &Nibbles, high: &Upper<BITS>, v: usize, visit: impl FnMut(usize, L::Words));

    fn zero() -> Self::Sum;

    /// Adds the products of step `step` of a run.
    fn add(sum: Self::Sum, weights: L::Words, act: &Block, step: usize) -> Self::Sum;

    /// `acc` plus the sum in each lane.
    fn total(acc: L::Ints, sum: Self::Sum) -> L::Ints;
}

/// Step `i` is the columns `2 i` and `2 i + 1`.
pub(super) struct Pairs;

impl<L: Lanes> Dot<L> for Pairs {
    type Steps<T: Copy> = [T; 16];
    type Sum = L::Ints;
    const PER_PLANE: usize = 4;

    fn capacity(_: u32) -> usize {
        usize::MAX
    }

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
    fn zero() -> L::Ints {
        L::ints(0)
    }

    #[inline(always)]
    fn add(sum: L::Ints, weights: L::Words, act: &Block, step: usize) -> L::Ints {
        L::dot_pairs(sum, weights, L::pair(&act.pairs[step]))
    }

    #[inline(always)]
    fn total(acc: L::Ints, sum: L::Ints) -> L::Ints {
        L::add_ints(acc, sum)
    }
}

/// Step `i` is the columns of [`Block::quads`]`[i]`.
#[cfg(any(target_feature = "relaxed-simd", target_feature = "avx2"))]
pub(super) struct Quads;

#[cfg(any(target_feature = "relaxed-simd", target_feature = "avx2"))]
impl<L: ByteLanes> Dot<L> for Quads {
    type Steps<T: Copy> = [T; 8];
    type Sum = L::Words;
    const PER_PLANE: usize = 2;

    // A step adds two products of a weight below 2^bits and an activation of at most 127 to 16 bits.
    fn capacity(bits: u32) -> usize {
        i16::MAX as usize / (2 * ((1 << bits) - 1) * 127)
    }

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
    fn zero() -> L::Words {
        L::zero()
    }

    #[inline(always)]
    fn add(sum: L::Words, weights: L::Words, act: &Block, step: usize) -> L::Words {
        L::add_words(sum, L::dot_quads(weights, L::quad(&act.quads[step])))
    }

    #[inline(always)]
    fn total(acc: L::Ints, sum: L::Words) -> L::Ints {
        L::dot_pairs(acc, sum, L::pair(&[1, 1]))
    }
}

/// Brings bit `from` of 16 to place 4, above a nibble.
#[inline(always)]
fn raise<L: Lanes>(words: L::Words, from: usize) -> L::Words {
    if from >= 4 { L::shr(words, from as u32 - 4) } else { L::shl(words, 4 - from as u32) }
}
