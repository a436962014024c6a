//! How the integers of eight rows lie in memory: planes of 32 bytes, four bytes to a lane, one lane to a row.
//!
//! Seen as two 16-bit halves `h`, lane `r` of nibble plane `v` holds in the nibbles `m` of half `h`, from the lowest, the
//! weights of row `r` at columns `8 v + 2 m + h`. So the halves, shifted right by `4 m` and masked to four bits, are the
//! neighbouring columns `8 v + 2 m` and `8 v + 2 m + 1`; and the bytes, masked likewise, are the four columns for
//! `m = 0, 2`, which are `8 v` + 0, 4, 1, 5, or shifted by 4 those for `m = 1, 3`, two further.
//!
//! Formats with five or six bits keep the upper ones in planes of their own: those of step `(v, m)` in byte `m / 2` of
//! each half, at a place that grows with `2 v + m % 2`.

use super::lanes::{Lanes, ROWS};

pub(super) type Plane = [u8; 4 * ROWS];

/// The low four bits of 32 columns.
pub(super) type Nibbles = [Plane; 4];

/// The bits 4 .. 4 + `BITS` of 32 columns: one plane for one bit, two for two.
pub(super) type Upper<const BITS: usize> = [Plane; BITS];

/// 32 columns of whole bytes: lane `r` of plane `v` holds columns `4 v`, `4 v + 2`, `4 v + 1`, `4 v + 3` of row `r`, so that
/// the low bytes of its halves are one pair of neighbours and the high bytes the next.
pub(super) type Bytes = [Plane; 8];

/// Where column `k` lies: plane `v`, nibble `m`, half `h`.
const fn place(k: usize) -> (usize, usize, usize) {
    (k / 8, k % 8 / 2, k % 2)
}

/// The plane of a column's upper bits, and the shift within their byte.
const fn upper_place<const BITS: usize>(v: usize, m: usize) -> (usize, usize) {
    let index = 2 * v + m % 2;
    (index * BITS / 8, index * BITS % 8)
}

/// The four bytes of a lane from `BITS` low bits each of eight columns, both steps of a byte side by side.
#[inline(always)]
fn lane<const BITS: usize>(columns: &[u8; 8]) -> [u8; 4] {
    let columns = u64::from_le_bytes(*columns) & (0x0101_0101_0101_0101 * ((1 << BITS) - 1));
    // Bytes 0, 1, 4 and 5 get the column two further above their own.
    let [a, b, _, _, c, d, _, _] = (columns | columns >> (16 - BITS)).to_le_bytes();
    [a, c, b, d]
}

#[inline(always)]
pub(super) fn pack_nibbles(rows: &[[u8; 32]; ROWS]) -> Nibbles {
    let mut planes = [[0; 4 * ROWS]; 4];
    for (r, row) in rows.iter().enumerate() {
        for (plane, columns) in planes.iter_mut().zip(row.as_chunks().0) {
            plane.as_chunks_mut().0[r] = lane::<4>(columns);
        }
    }
    planes
}

pub(super) fn nibble(planes: &Nibbles, row: usize, k: usize) -> i8 {
    let (v, m, h) = place(k);
    (planes[v][4 * row + 2 * h + m / 2] >> (4 * (m % 2)) & 15) as i8
}

#[inline(always)]
pub(super) fn pack_upper<const BITS: usize>(rows: &[[u8; 32]; ROWS]) -> Upper<BITS> {
    let mut planes = [[0; 4 * ROWS]; BITS];
    for (r, row) in rows.iter().enumerate() {
        for (v, columns) in row.as_chunks().0.iter().enumerate() {
            let (plane, shift) = upper_place::<BITS>(v, 0);
            let bytes = lane::<BITS>(&columns.map(|column| column >> 4));
            for (packed, byte) in planes[plane].as_chunks_mut::<4>().0[r].iter_mut().zip(bytes) {
                *packed |= byte << shift;
            }
        }
    }
    planes
}

pub(super) fn upper<const BITS: usize>(planes: &Upper<BITS>, row: usize, k: usize) -> i8 {
    let (v, m, h) = place(k);
    let (plane, shift) = upper_place::<BITS>(v, m);
    ((planes[plane][4 * row + 2 * h + m / 2] >> shift & ((1 << BITS) - 1)) << 4) as i8
}

const BYTE_ORDER: [usize; 4] = [0, 2, 1, 3];

#[inline(always)]
pub(super) fn pack_bytes(rows: &[[u8; 32]; ROWS]) -> Bytes {
    let mut planes = [[0; 4 * ROWS]; 8];
    for (r, row) in rows.iter().enumerate() {
        for (plane, &columns) in planes.iter_mut().zip(row.as_chunks::<4>().0) {
            plane[4 * r..4 * r + 4].copy_from_slice(&BYTE_ORDER.map(|k| columns[k]));
        }
    }
    planes
}

pub(super) fn byte(planes: &Bytes, row: usize, k: usize) -> i8 {
    planes[k / 4][4 * row + BYTE_ORDER[k % 4]] as i8
}

/// Calls `visit(step, words)` for the four pairs of signed bytes in columns `8 v .. 8 v + 8`.
#[inline(always)]
pub(super) fn visit_bytes<L: Lanes>(planes: &Bytes, v: usize, mut visit: impl FnMut(usize, L::Words)) {
    for i in 0..2 {
        let w = L::load(&planes[2 * v + i]);
        visit(2 * i, L::sar(L::shl(w, 8), 8));
        visit(2 * i + 1, L::sar(w, 8));
    }
}

/// The upper bits of columns `8 v .. 8 v + 8`, moved to where they lie for `v = 0`.
#[inline(always)]
pub(super) fn load_upper<L: Lanes, const BITS: usize>(planes: &Upper<BITS>, v: usize) -> L::Words {
    let (plane, shift) = upper_place::<BITS>(v, 0);
    L::shr(L::load(&planes[plane]), shift as u32)
}
