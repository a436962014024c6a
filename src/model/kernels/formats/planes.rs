//! How the integers of eight rows lie in memory: planes of 32 bytes, four bytes to a lane.
//!
//! Seen as two 16-bit halves `h`, lane `r` of nibble plane `v` holds in the nibbles `m` of half `h`, from the lowest, the
//! weights of row `r` at columns `8 v + 2 m + h`. Shifting the halves right by `4 m` and masking four bits thus leaves the
//! neighbouring columns `8 v + 2 m` and `8 v + 2 m + 1` in a lane, which is what [`Lanes::dot`] multiplies.
//!
//! Formats with five or six bits keep the upper ones in planes of their own. For step `4 v + m` they lie in byte
//! `m / 2` of the half, at a place that grows with `v` and with `m % 2`.

use super::super::lanes::{Lanes, ROWS};

pub(super) type Plane = [u8; 4 * ROWS];

/// The low four bits of 32 columns.
pub(super) type Nibbles = [Plane; 4];

/// Where column `k` lies: plane `v`, nibble `m`, half `h`.
const fn place(k: usize) -> (usize, usize, usize) {
    (k / 8, k % 8 / 2, k % 2)
}

pub(super) fn pack_nibbles(rows: &[[u8; 32]; ROWS]) -> Nibbles {
    let mut planes = [[0; 4 * ROWS]; 4];
    for (r, row) in rows.iter().enumerate() {
        for k in 0..32 {
            let (v, m, h) = place(k);
            planes[v][4 * r + 2 * h + m / 2] |= (row[k] & 15) << (4 * (m % 2));
        }
    }
    planes
}

pub(super) fn nibble(planes: &Nibbles, row: usize, k: usize) -> i32 {
    let (v, m, h) = place(k);
    i32::from(planes[v][4 * row + 2 * h + m / 2] >> (4 * (m % 2)) & 15)
}

/// Bits 4 .. 4 + BITS of 32 columns: one plane of single bits, or two planes of bit pairs.
pub(super) fn pack_upper<const BITS: usize>(rows: &[[u8; 32]; ROWS]) -> [Plane; BITS] {
    let mut planes = [[0; 4 * ROWS]; BITS];
    for (r, row) in rows.iter().enumerate() {
        for k in 0..32 {
            let (v, m, h) = place(k);
            let (plane, shift) = upper_place::<BITS>(v, m);
            planes[plane][4 * r + 2 * h + m / 2] |= (row[k] >> 4 & ((1 << BITS) - 1)) << shift;
        }
    }
    planes
}

pub(super) fn upper<const BITS: usize>(planes: &[Plane; BITS], row: usize, k: usize) -> i32 {
    let (v, m, h) = place(k);
    let (plane, shift) = upper_place::<BITS>(v, m);
    i32::from(planes[plane][4 * row + 2 * h + m / 2] >> shift & ((1 << BITS) - 1)) << 4
}

/// The plane of step `4 v + m`, and the shift within byte `m / 2` of each half.
const fn upper_place<const BITS: usize>(v: usize, m: usize) -> (usize, usize) {
    let index = 2 * v + m % 2;
    (index * BITS / 8, index * BITS % 8)
}

/// Visits the 16 steps of a nibble plane.
#[inline(always)]
pub(super) fn visit_nibbles<L: Lanes>(planes: &Nibbles, mut visit: impl FnMut(usize, L::Pairs)) {
    for (v, plane) in planes.iter().enumerate() {
        let w = L::load(plane);
        visit(4 * v, L::and(w, 15));
        visit(4 * v + 1, L::and(L::shr(w, 4), 15));
        visit(4 * v + 2, L::and(L::shr(w, 8), 15));
        visit(4 * v + 3, L::shr(w, 12));
    }
}

/// Visits the 16 steps of nibbles with `BITS` more bits above them.
#[inline(always)]
pub(super) fn visit_upper<L: Lanes, const BITS: usize>(
    low: &Nibbles,
    high: &[Plane; BITS],
    mut visit: impl FnMut(usize, L::Pairs),
) {
    let high = high.each_ref().map(L::load);
    visit_nibbles::<L>(low, |step, pairs| {
        let (v, m) = (step / 4, step % 4);
        let (plane, shift) = upper_place::<BITS>(v, m);
        let from = (m / 2 * 8 + shift) as u32;
        let bits = if from >= 4 { L::shr(high[plane], from - 4) } else { L::shl(high[plane], 4 - from) };
        visit(step, L::or(pairs, L::and(bits, ((1 << BITS) - 1) << 4)));
    });
}

/// 32 columns of whole bytes: lane `r` of plane `v` holds columns `4 v`, `4 v + 2`, `4 v + 1`, `4 v + 3` of row `r`, so that
/// the low bytes of its halves are one pair of neighbours and the high bytes the next.
pub(super) type Bytes = [Plane; 8];

const BYTE_ORDER: [usize; 4] = [0, 2, 1, 3];

pub(super) fn pack_bytes(rows: &[[u8; 32]; ROWS]) -> Bytes {
    let mut planes = [[0; 4 * ROWS]; 8];
    for (r, row) in rows.iter().enumerate() {
        for k in 0..32 {
            planes[k / 4][4 * r + BYTE_ORDER[k % 4]] = row[k];
        }
    }
    planes
}

pub(super) fn byte(planes: &Bytes, row: usize, k: usize) -> i32 {
    i32::from(planes[k / 4][4 * row + BYTE_ORDER[k % 4]] as i8)
}

/// Visits the 16 steps of signed bytes.
#[inline(always)]
pub(super) fn visit_bytes<L: Lanes>(planes: &Bytes, mut visit: impl FnMut(usize, L::Pairs)) {
    for (v, plane) in planes.iter().enumerate() {
        let w = L::load(plane);
        visit(2 * v, L::sar(L::shl(w, 8), 8));
        visit(2 * v + 1, L::sar(w, 8));
    }
}
