//! Half-precision scales.

/// 2¹¹²: what a half's exponent lacks when its bits are moved to a float's places unchanged.
pub(super) const EXPONENT_GAP: f32 = f32::from_bits((127 + 112) << 23);

/// Widens a finite half, subnormal ones included.
#[inline(always)]
pub(in crate::model) fn widen(bits: u16) -> f32 {
    let bits = u32::from(bits);
    f32::from_bits((bits & 0x8000) << 16 | (bits & 0x7fff) << 13) * EXPONENT_GAP
}

/// The half nearest to a number, the even one of two; the largest one for what is beyond it. Below 2⁻¹⁴, where halves are
/// subnormal, the number is first rounded to 2⁻³⁷.
#[inline(always)]
pub(in crate::model) fn narrow(value: f32) -> u16 {
    // With a half's exponent in place, and what a subnormal half has no bits for shifted out; then to 11 bits.
    let moved = (value.clamp(-65504.0, 65504.0) * (1.0 / EXPONENT_GAP)).to_bits();
    let (sign, magnitude) = (moved >> 16 & 0x8000, moved & 0x7fff_ffff);
    (sign | (magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13) as u16
}

/// The little-endian half at `bytes[at..at + 2]`, unless it is infinite or a NaN.
pub(super) fn finite(bytes: &[u8], at: usize) -> Option<u16> {
    let bits = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    (bits & 0x7c00 != 0x7c00).then_some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_half_widens_exactly() {
        for bits in 0..=u16::MAX {
            let Some(bits) = finite(&bits.to_le_bytes(), 0) else { continue };
            let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
            let magnitude = match exponent {
                0 => fraction * 2f64.powi(-24),
                _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
            };
            let value = if bits >> 15 == 1 { -magnitude } else { magnitude };
            assert_eq!(f64::from(widen(bits)).to_bits(), value.to_bits(), "{bits:#06x}");
        }
    }

    #[test]
    fn a_number_narrows_to_the_nearest_half() {
        for bits in (0..0x7bff).flat_map(|bits: u16| [bits, bits | 0x8000]) {
            let (low, high) = (widen(bits), widen(bits + 1));
            assert_eq!(narrow(low), bits);
            let middle = (low + high) / 2.0;
            assert_eq!(narrow(middle), bits + (bits & 1), "ties to even: {middle}");
            if bits & 0x7c00 == 0 {
                continue; // a neighbour of the middle is rounded to it
            }
            let (inner, outer) = if low < high {
                (middle.next_down(), middle.next_up())
            } else {
                (middle.next_up(), middle.next_down())
            };
            assert_eq!((narrow(inner), narrow(outer)), (bits, bits + 1), "{middle}");
        }
        for (beyond, largest) in [(65520.0, 0x7bff), (f32::INFINITY, 0x7bff), (f32::NEG_INFINITY, 0xfbff)] {
            assert_eq!(narrow(beyond), largest);
        }
    }

    #[test]
    fn infinities_and_nans_are_told_apart() {
        for bits in [0x7c00u16, 0xfc00, 0x7e00, 0x7c01] {
            assert_eq!(finite(&bits.to_le_bytes(), 0), None);
        }
    }
}
