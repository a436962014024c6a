//! How a cache's numbers are stored.
//!
//! A *panel* is what attention reads at once: [`PANEL`] positions of one head's keys, (head_dim, PANEL), or of its values,
//! (head_dim / TILE, PANEL, TILE), with a narrower tile at the end if need be. Each type of words keeps that order.

use serde::Deserialize;

use super::{PANEL, TILE};
use crate::model::kernels::{narrow_f16, widen_f16};

/// The type of a cache's numbers. What a token has left there is rounded once, when it is stored: so an answer depends on the
/// type, and still not on the way in which its tokens were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KvType {
    /// 4 bytes a number.
    F32,
    /// 2 bytes a number, of 11 significant bits.
    #[default]
    F16,
    /// 1⅛ bytes a number: 8 bits each, and a scale for the [`GROUP`] neighbours that share one.
    Q8_0,
}

impl KvType {
    /// As options spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Q8_0 => "q8_0",
        }
    }

    /// Rounds what a cache of this type would store of some heads, (heads, head_dim).
    pub(in crate::model) fn round(self, values: &mut [f32], head_dim: usize) {
        match self {
            Self::F32 => {}
            Self::F16 => values.iter_mut().for_each(|value| *value = widen_f16(narrow_f16(*value))),
            Self::Q8_0 => {
                for group in values.chunks_exact_mut(head_dim).flat_map(|head| head.chunks_mut(GROUP)) {
                    let scale = scale_of(group);
                    group.iter_mut().for_each(|value| *value = f32::from(quantise(*value, scale)) * scale);
                }
            }
        }
    }
}

/// Neighbours in a head that share a scale; a head may end in a smaller group. As in ggml's format of that name.
const GROUP: usize = 32;

/// Keys or values?
#[derive(Clone, Copy)]
pub(super) enum Half {
    Keys,
    Values,
}

/// The numbers of some panels, one panel after another.
#[derive(Clone)]
pub(super) enum Words {
    F32(Vec<f32>),
    F16(Vec<u16>),
    /// The scales of a panel are of shape (groups, PANEL).
    Q8_0 {
        quants: Vec<i8>,
        scales: Vec<f32>,
    },
}

impl Words {
    /// Zeros. `None` if there is no room.
    pub(super) fn new(kv_type: KvType, panels: usize, head_dim: usize) -> Option<Self> {
        let size = panels.checked_mul(PANEL)?.checked_mul(head_dim)?;
        Some(match kv_type {
            KvType::F32 => Self::F32(zeros(size)?),
            KvType::F16 => Self::F16(zeros(size)?),
            KvType::Q8_0 => {
                Self::Q8_0 { quants: zeros(size)?, scales: zeros(panels * PANEL * head_dim.div_ceil(GROUP))? }
            }
        })
    }

    /// Stores one position's numbers of one head, (head_dim).
    pub(super) fn write(&mut self, panel: usize, half: Half, lane: usize, head: &[f32]) {
        match self {
            Self::F32(words) => scatter(panel_of(words, panel, head.len()), half, lane, head.iter().copied()),
            Self::F16(words) => {
                scatter(panel_of(words, panel, head.len()), half, lane, head.iter().copied().map(narrow_f16));
            }
            Self::Q8_0 { quants, scales } => {
                let of_groups = head.chunks(GROUP).map(|group| (group, scale_of(group)));
                let scales = panel_of(scales, panel, head.len().div_ceil(GROUP));
                for (row, (_, scale)) in scales.chunks_exact_mut(PANEL).zip(of_groups.clone()) {
                    row[lane] = scale;
                }
                let words = of_groups.flat_map(|(group, scale)| group.iter().map(move |&value| quantise(value, scale)));
                scatter(panel_of(quants, panel, head.len()), half, lane, words);
            }
        }
    }

    /// A panel's numbers: where they lie, or put into `spare`.
    pub(super) fn read<'a>(&'a self, panel: usize, half: Half, head_dim: usize, spare: &'a mut Vec<f32>) -> &'a [f32] {
        if let Self::F32(words) = self {
            return &words[panel * PANEL * head_dim..][..PANEL * head_dim];
        }
        spare.clear();
        self.extend(panel, half, head_dim, spare);
        spare
    }

    /// Appends a panel's numbers to `out`.
    pub(super) fn extend(&self, panel: usize, half: Half, head_dim: usize, out: &mut Vec<f32>) {
        let range = panel * PANEL * head_dim..(panel + 1) * PANEL * head_dim;
        match self {
            Self::F32(words) => out.extend_from_slice(&words[range]),
            Self::F16(words) => out.extend(words[range].iter().map(|&bits| widen_f16(bits))),
            Self::Q8_0 { quants, scales } => {
                let groups = head_dim.div_ceil(GROUP);
                let scales = scales[panel * groups * PANEL..][..groups * PANEL].as_chunks::<PANEL>().0;
                match half {
                    Half::Keys => {
                        for (i, keys) in quants[range].as_chunks::<PANEL>().0.iter().enumerate() {
                            let scales = &scales[i / GROUP];
                            let key: [f32; PANEL] = std::array::from_fn(|lane| f32::from(keys[lane]) * scales[lane]);
                            out.extend_from_slice(&key);
                        }
                    }
                    Half::Values => {
                        for (tile, values) in quants[range].chunks(PANEL * TILE).enumerate() {
                            let lanes = values.chunks_exact(values.len() / PANEL);
                            for (values, scale) in lanes.zip(&scales[tile * TILE / GROUP]) {
                                out.extend(values.iter().map(|&value| f32::from(value) * scale));
                            }
                        }
                    }
                }
            }
        }
    }

    /// Puts one position's numbers out of a panel of values into `out`, (head_dim).
    pub(super) fn read_values(&self, panel: usize, lane: usize, out: &mut [f32]) {
        let head_dim = out.len();
        let range = panel * PANEL * head_dim..(panel + 1) * PANEL * head_dim;
        match self {
            Self::F32(words) => gather(&words[range], lane, out, |_, word| word),
            Self::F16(words) => gather(&words[range], lane, out, |_, bits| widen_f16(bits)),
            Self::Q8_0 { quants, scales } => {
                let scales = &scales[panel * head_dim.div_ceil(GROUP) * PANEL..];
                gather(&quants[range], lane, out, |i, word| f32::from(word) * scales[i / GROUP * PANEL + lane]);
            }
        }
    }

    /// The words, little-endian.
    pub(super) fn to_bytes(&self, out: &mut Vec<u8>) {
        match self {
            Self::F32(words) => out.extend(words.iter().flat_map(|word| word.to_le_bytes())),
            Self::F16(words) => out.extend(words.iter().flat_map(|word| word.to_le_bytes())),
            Self::Q8_0 { quants, scales } => {
                out.extend(quants.iter().map(|&word| word as u8));
                out.extend(scales.iter().flat_map(|word| word.to_le_bytes()));
            }
        }
    }

    /// Takes the words from [`to_bytes`](Self::to_bytes). `None` if there are too few; what is left over stays in `bytes`.
    pub(super) fn fill(&mut self, bytes: &mut &[u8]) -> Option<()> {
        match self {
            Self::F32(words) => fill(words, bytes, f32::from_le_bytes),
            Self::F16(words) => fill(words, bytes, u16::from_le_bytes),
            Self::Q8_0 { quants, scales } => {
                fill(quants, bytes, |[byte]| byte as i8)?;
                fill(scales, bytes, f32::from_le_bytes)
            }
        }
    }
}

fn zeros<T: Copy + Default>(size: usize) -> Option<Vec<T>> {
    let mut words = Vec::new();
    words.try_reserve_exact(size).ok()?;
    words.resize(size, T::default());
    Some(words)
}

fn fill<T, const N: usize>(words: &mut [T], bytes: &mut &[u8], from: impl Fn([u8; N]) -> T) -> Option<()> {
    let (ours, rest) = bytes.split_at_checked(words.len() * N)?;
    *bytes = rest;
    for (word, bytes) in words.iter_mut().zip(ours.as_chunks::<N>().0) {
        *word = from(*bytes);
    }
    Some(())
}

/// Panel `index` of panels with `rows` rows.
fn panel_of<T>(words: &mut [T], index: usize, rows: usize) -> &mut [T] {
    &mut words[index * PANEL * rows..][..PANEL * rows]
}

/// Puts one position's numbers at their places in a panel.
pub(super) fn scatter<T>(panel: &mut [T], half: Half, lane: usize, mut head: impl Iterator<Item = T>) {
    match half {
        Half::Keys => {
            for (slots, word) in panel.chunks_exact_mut(PANEL).zip(head) {
                slots[lane] = word;
            }
        }
        Half::Values => {
            for tile in panel.chunks_mut(PANEL * TILE) {
                let width = tile.len() / PANEL;
                for (slot, word) in tile[lane * width..][..width].iter_mut().zip(&mut head) {
                    *slot = word;
                }
            }
        }
    }
}

/// Takes one position's numbers from their places in a panel of values; `number` is given each one's index and word.
fn gather<T: Copy>(panel: &[T], lane: usize, out: &mut [f32], number: impl Fn(usize, T) -> f32) {
    for (tile, (words, out)) in panel.chunks(PANEL * TILE).zip(out.chunks_mut(TILE)).enumerate() {
        for (i, (out, &word)) in out.iter_mut().zip(&words[lane * (words.len() / PANEL)..]).enumerate() {
            *out = number(tile * TILE + i, word);
        }
    }
}

/// The scale of a group: its largest magnitude over 127, rounded up to 16 significant bits, with which the product with 127
/// is exact, so that what was rounded once is rounded to itself.
fn scale_of(group: &[f32]) -> f32 {
    let largest = group.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
    f32::from_bits((largest.min(f32::MAX / 2.0) / 127.0).to_bits().wrapping_add(0xff) & !0xff)
}

fn quantise(value: f32, scale: f32) -> i8 {
    if scale < f32::MIN_POSITIVE { 0 } else { (value / scale).round_ties_even() as i8 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TYPES: [KvType; 3] = [KvType::F32, KvType::F16, KvType::Q8_0];

    #[test]
    fn options_spell_types_by_name() {
        for kv_type in TYPES {
            assert_eq!(serde_json::from_value::<KvType>(kv_type.name().into()).unwrap(), kv_type);
        }
        assert!(serde_json::from_value::<KvType>("q4_0".into()).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// What is read is what was written, rounded once, at every place; and near what was written.
        #[test]
        fn words_hold_what_rounding_gives(
            head_dim in 1usize..100,
            seed in 0u32..1000,
            exponent in -20i32..10,
        ) {
            let head: Vec<f32> = (0..head_dim as u32)
                .map(|i| ((i + 1).wrapping_mul(seed.wrapping_mul(2_654_435_761) | 1) as i32 as f32) * 2f32.powi(exponent - 31))
                .collect();
            for kv_type in TYPES {
                let mut rounded = head.clone();
                kv_type.round(&mut rounded, head_dim);
                let largest = head.iter().fold(0.0f32, |a, b| a.max(b.abs()));
                let far = match kv_type {
                    KvType::F32 => 0.0,
                    KvType::F16 => largest / 2048.0 + 2f32.powi(-25),
                    KvType::Q8_0 => largest / 253.0,
                };
                for (a, b) in head.iter().zip(&rounded) {
                    prop_assert!((a - b).abs() <= far, "{} {a} {b}", kv_type.name());
                }
                let mut twice = rounded.clone();
                kv_type.round(&mut twice, head_dim);
                prop_assert_eq!(&twice, &rounded);

                for (half, lane) in [(Half::Keys, 0), (Half::Keys, 9), (Half::Values, 3), (Half::Values, PANEL - 1)] {
                    let mut words = Words::new(kv_type, 3, head_dim).unwrap();
                    words.write(1, half, lane, &head);
                    let mut bytes = vec![];
                    words.to_bytes(&mut bytes);
                    let mut again = Words::new(kv_type, 3, head_dim).unwrap();
                    prop_assert!(again.fill(&mut &bytes[1..]).is_none());
                    let mut rest = &bytes[..];
                    again.fill(&mut rest).unwrap();
                    prop_assert!(rest.is_empty());
                    let mut expected = vec![0.0; PANEL * head_dim];
                    scatter(&mut expected, half, lane, rounded.iter().copied());
                    if let Half::Values = half {
                        let mut read = vec![7.0; head_dim];
                        words.read_values(1, lane, &mut read);
                        prop_assert_eq!(&read, &rounded);
                    }
                    for (panel, expected) in [(0, vec![0.0; PANEL * head_dim]), (1, expected)] {
                        for words in [&words, &again] {
                            let mut spare = vec![7.0];
                            prop_assert_eq!(words.read(panel, half, head_dim, &mut spare), &expected[..]);
                        }
                    }
                }
            }
        }
    }
}
