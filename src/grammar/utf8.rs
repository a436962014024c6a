//! Code points → byte ranges.

/// The bytes of some characters: every choice of one byte from each range is one of them, and nothing else is.
pub(super) type ByteRanges = Vec<(u8, u8)>;

/// Cuts a set of scalar values into sequences of byte ranges that together spell exactly its members.
///
/// A range of code points is cut where the encoded length changes, and then where a continuation byte would not run
/// over all of `80..=BF` although a byte before it varies.
pub(super) fn byte_ranges(ranges: &[(u32, u32)]) -> Vec<ByteRanges> {
    const LAST_OF_LENGTH: [u32; 4] = [0x7F, 0x7FF, 0xFFFF, 0x10_FFFF];
    let mut sequences = Vec::new();
    let mut open: Vec<(u32, u32)> = ranges.iter().rev().copied().collect();
    'next: while let Some((low, high)) = open.pop() {
        if low > high {
            continue;
        }
        for last in LAST_OF_LENGTH {
            if low <= last && last < high {
                open.extend([(last + 1, high), (low, last)]);
                continue 'next;
            }
        }
        let length = 1 + LAST_OF_LENGTH.iter().filter(|last| **last < low).count();
        for continuation in (1..length).rev() {
            let below = (1u32 << (6 * continuation)) - 1; // the bits of the last `continuation` bytes
            if low & !below != high & !below {
                if low & below != 0 {
                    open.extend([((low | below) + 1, high), (low, low | below)]);
                    continue 'next;
                }
                if high & below != below {
                    open.extend([(high & !below, high), (low, (high & !below) - 1)]);
                    continue 'next;
                }
            }
        }
        sequences.push(encode(low, length).into_iter().zip(encode(high, length)).take(length).collect());
    }
    sequences
}

/// UTF-8, by the bits: Unicode 16.0, table 3-6.
fn encode(code: u32, length: usize) -> [u8; 4] {
    let tail = |shift: u32| 0x80 | (code >> shift & 0x3F) as u8;
    match length {
        1 => [code as u8, 0, 0, 0],
        2 => [0xC0 | (code >> 6) as u8, tail(0), 0, 0],
        3 => [0xE0 | (code >> 12) as u8, tail(6), tail(0), 0],
        _ => [0xF0 | (code >> 18) as u8, tail(12), tail(6), tail(0)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::charset::CharSet;

    fn spells(sequences: &[ByteRanges], bytes: &[u8]) -> bool {
        let fits = |(byte, (low, high)): (&u8, &(u8, u8))| low <= byte && byte <= high;
        sequences.iter().any(|ranges| ranges.len() == bytes.len() && bytes.iter().zip(ranges).all(fits))
    }

    #[test]
    fn exactly_the_members_are_spelt() {
        let edges =
            [0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xCFFF, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF, 0x10FFFF];
        for low in edges {
            for high in edges {
                let set = CharSet::new([(low, high), (0x20AC, 0x20AC)]);
                let sequences = byte_ranges(set.ranges());
                let near =
                    edges.iter().flat_map(|edge| edge.saturating_sub(2)..edge + 3).chain([0x20AB, 0x20AC, 0x20AD]);
                for c in near.filter_map(char::from_u32) {
                    let spelt = spells(&sequences, c.encode_utf8(&mut [0; 4]).as_bytes());
                    assert_eq!(spelt, set.contains(c), "{c:?} in {low:X}..={high:X}");
                }
            }
        }
    }

    #[test]
    fn the_whole_of_unicode_is_nine_sequences() {
        let sequences = byte_ranges(CharSet::any().ranges());
        assert_eq!(sequences.len(), 9, "table 3-7 has nine rows");
    }
}
