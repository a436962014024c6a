//! Half-precision scales.

/// 2¹¹²: what a half's exponent lacks when its bits are moved to a float's places unchanged.
pub(super) const EXPONENT_GAP: f32 = f32::from_bits((127 + 112) << 23);

/// Widens a finite half, subnormal ones included.
#[inline(always)]
pub(in crate::model) fn widen(bits: u16) -> f32 {
    let bits = u32::from(bits);
    f32::from_bits((bits & 0x8000) << 16 | (bits & 0x7fff) << 13) * EXPONENT_GAP
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
    fn infinities_and_nans_are_told_apart() {
        for bits in [0x7c00u16, 0xfc00, 0x7e00, 0x7c01] {
            assert_eq!(finite(&bits.to_le_bytes(), 0), None);
        }
    }
}
