//! Sets of Unicode scalar values.

use std::fmt;

/// The last code point.
const MAX: u32 = 0x10_FFFF;
/// Code points that no UTF-8 text holds.
const SURROGATES: (u32, u32) = (0xD800, 0xDFFF);

/// A set of Unicode scalar values: inclusive ranges, ascending, disjoint, never touching. Surrogates and numbers above
/// U+10FFFF are never members, since no text holds them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CharSet(Vec<(u32, u32)>);

impl CharSet {
    /// The set of all members of some inclusive ranges, in any order. A range whose end is below its start is empty.
    pub fn new(ranges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut all: Vec<(u32, u32)> = Vec::new();
        for (low, high) in ranges {
            let high = high.min(MAX);
            all.extend([(low, high.min(SURROGATES.0 - 1)), (low.max(SURROGATES.1 + 1), high)]);
        }
        all.retain(|(low, high)| low <= high);
        all.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(all.len());
        for (low, high) in all {
            match merged.last_mut() {
                Some(last) if low <= last.1 + 1 => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        Self(merged)
    }

    pub fn any() -> Self {
        Self::new([(0, MAX)])
    }

    pub fn of(chars: impl IntoIterator<Item = char>) -> Self {
        Self::new(chars.into_iter().map(|c| (c.into(), c.into())))
    }

    pub fn range(low: char, high: char) -> Self {
        Self::new([(low.into(), high.into())])
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges, ascending and disjoint.
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }

    /// Whether the set has the character of that number.
    pub fn has(&self, c: u32) -> bool {
        let at = self.0.partition_point(|(_, high)| *high < c);
        self.0.get(at).is_some_and(|(low, _)| *low <= c)
    }

    #[cfg(test)]
    pub fn contains(&self, c: char) -> bool {
        self.has(u32::from(c))
    }

    #[must_use]
    pub fn complement(&self) -> Self {
        let mut gaps = Vec::with_capacity(self.0.len() + 1);
        let mut next = 0;
        for (low, high) in &self.0 {
            if next < *low {
                gaps.push((next, low - 1));
            }
            next = high + 1;
        }
        gaps.push((next, MAX));
        Self::new(gaps)
    }

    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::new(self.0.iter().chain(&other.0).copied())
    }

    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.complement().union(other).complement()
    }
}

impl fmt::Display for CharSet {
    /// The set as a class of GBNF.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("[b-a]"); // `[]` is the empty text
        }
        f.write_str("[")?;
        for (low, high) in &self.0 {
            for (bound, dash) in [(low, ""), (high, "-")] {
                if dash == "-" && low == high {
                    continue;
                }
                match char::from_u32(*bound) {
                    Some(c) if c.is_ascii_alphanumeric() => write!(f, "{dash}{c}")?,
                    _ => write!(f, "{dash}\\U{bound:08X}")?,
                }
            }
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_sorted_and_merged() {
        let set = CharSet::new([(0x62, 0x63), (0x61, 0x61), (0x70, 0x60), (0x65, 0x65)]);
        assert_eq!(set.ranges(), [(0x61, 0x63), (0x65, 0x65)]);
    }

    #[test]
    fn surrogates_are_never_members() {
        assert_eq!(CharSet::any().ranges(), [(0, 0xD7FF), (0xE000, MAX)]);
        assert!(CharSet::new([(0xD800, 0xDFFF), (MAX + 1, u32::MAX)]).is_empty());
    }

    #[test]
    fn complement_is_an_involution() {
        for set in
            [CharSet::any(), CharSet::default(), CharSet::of(['a', 'z', '\0']), CharSet::range('é', '\u{10FFFF}')]
        {
            assert_eq!(set.complement().complement(), set);
            assert_eq!(set.union(&set.complement()), CharSet::any());
            assert!(set.minus(&set).is_empty());
        }
    }
}
