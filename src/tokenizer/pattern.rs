//! Patterns over classes of characters: as much of regular expressions as pre-tokenizers need.

use std::ops::Range;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Alternatives, of which the first that matches counts; each is a row of parts.
pub(super) type Pattern = &'static [&'static [Part]];

/// A part of an alternative. It takes as much as it can, and gives back as much as the parts behind it need.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// From `least` to `most` characters of a class.
    Run { class: Class, least: usize, most: usize },
    /// `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d`.
    SmallContraction,
    /// The same in letters of either case; nothing will do where it is `optional`.
    Contraction { optional: bool },
}

/// Characters that have any property of `with` and none of `without`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    with: Properties,
    without: Properties,
}

/// Properties of a character, a bit for each.
pub(super) type Properties = u32;

/// General categories of the Unicode Character Database, by their first letter: `\p{L}`, `\p{M}`, `\p{N}`, `\p{P}`, `\p{S}`.
pub(super) const LETTER: Properties = 1;
pub(super) const MARK: Properties = 1 << 1;
pub(super) const NUMBER: Properties = 1 << 2;
pub(super) const PUNCTUATION: Properties = 1 << 3;
pub(super) const SYMBOL: Properties = 1 << 4;
/// `\s`
pub(super) const WHITE: Properties = 1 << 5;
/// `[\r\n]`
pub(super) const LINE_END: Properties = 1 << 6;
/// The space itself.
pub(super) const SPACE: Properties = 1 << 7;
/// `[a-z]`
pub(super) const SMALL: Properties = 1 << 8;
/// `[A-Z]`
pub(super) const CAPITAL: Properties = 1 << 9;
/// `[0-9]`
pub(super) const DIGIT: Properties = 1 << 10;
/// ``[!-/:-@\[-`{-~]``
pub(super) const ASCII_MARK: Properties = 1 << 11;
/// The solidus.
pub(super) const SLASH: Properties = 1 << 12;
/// The grave accent.
pub(super) const GRAVE: Properties = 1 << 13;
/// `[一-龥぀-ゟ゠-ヿ]`
pub(super) const KANA_OR_HAN: Properties = 1 << 14;
/// `[一-龥ࠀ-一가-퟿]`
pub(super) const CJK: Properties = 1 << 15;
/// What every character has.
const CHARACTER: Properties = 1 << 16;

pub(super) const fn of(with: Properties) -> Class {
    Class { with, without: 0 }
}

pub(super) const fn other_than(without: Properties) -> Class {
    Class { with: CHARACTER, without }
}

pub(super) const fn exactly(count: usize, class: Class) -> Part {
    Part::Run { class, least: count, most: count }
}

pub(super) const fn maybe(class: Class) -> Part {
    Part::Run { class, least: 0, most: 1 }
}

pub(super) const fn some(class: Class) -> Part {
    Part::Run { class, least: 1, most: usize::MAX }
}

pub(super) const fn any(class: Class) -> Part {
    Part::Run { class, least: 0, most: usize::MAX }
}

/// A contraction in letters of either case, at least so many: none or one.
pub(super) const fn contraction(least: usize) -> Part {
    Part::Contraction { optional: least == 0 }
}

pub(super) const fn up_to(most: usize, class: Class) -> Part {
    Part::Run { class, least: 1, most }
}

impl Class {
    pub(super) const fn but(self, without: Properties) -> Self {
        Self { without: self.without | without, ..self }
    }

    fn has(self, c: char) -> bool {
        let properties = match ASCII.get(c as usize) {
            Some(&properties) => properties,
            None => beyond_ascii(c),
        };
        properties & self.with != 0 && properties & self.without == 0
    }
}

/// The first match that is not empty.
pub(super) fn find(pattern: Pattern, text: &str) -> Option<Range<usize>> {
    text.char_indices().find_map(|(start, _)| {
        let rest = &text[start..];
        let end = pattern.iter().find_map(|parts| end_of(parts, rest))?;
        (end > 0).then(|| start..start + end)
    })
}

/// Where a match of the parts at the start of the text ends.
fn end_of(parts: &[Part], text: &str) -> Option<usize> {
    let Some((&part, later)) = parts.split_first() else { return Some(0) };
    let (class, least, most) = match part {
        Part::Run { class, least, most } => (class, least, most),
        Part::SmallContraction => return after(contraction_length(text, |letter| letter)?, later, text),
        Part::Contraction { optional } => {
            let length = contraction_length(text, |letter| letter.to_ascii_lowercase());
            return match length.and_then(|length| after(length, later, text)) {
                None if optional => end_of(later, text),
                end => end,
            };
        }
    };
    let taken = text.chars().take(most).take_while(|&c| class.has(c));
    let (mut count, mut end) = taken.fold((0, 0), |(count, end), c| (count + 1, end + c.len_utf8()));
    while count >= least {
        if let Some(end) = after(end, later, text) {
            return Some(end);
        }
        end -= text[..end].chars().next_back()?.len_utf8();
        count -= 1;
    }
    None
}

fn after(length: usize, later: &[Part], text: &str) -> Option<usize> {
    Some(length + end_of(later, &text[length..])?)
}

/// The length of the contraction at the start of the text.
fn contraction_length(text: &str, fold: fn(u8) -> u8) -> Option<usize> {
    match text.as_bytes() {
        [b'\'', a, ..] if b"stmd".contains(&fold(*a)) => Some(2),
        [b'\'', a, b, ..] if [b"re", b"ve", b"ll"].contains(&&[fold(*a), fold(*b)]) => Some(3),
        _ => None,
    }
}

const ASCII: [Properties; 128] = {
    let mut table = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        table[byte as usize] = CHARACTER
            | match byte {
                b'a'..=b'z' => LETTER | SMALL,
                b'A'..=b'Z' => LETTER | CAPITAL,
                b'0'..=b'9' => NUMBER | DIGIT,
                b' ' => WHITE | SPACE,
                b'\r' | b'\n' => WHITE | LINE_END,
                b'\t' | 0x0B | 0x0C => WHITE,
                b'/' => PUNCTUATION | ASCII_MARK | SLASH,
                b'`' => SYMBOL | ASCII_MARK | GRAVE,
                b'$' | b'+' | b'<' | b'=' | b'>' | b'^' | b'|' | b'~' => SYMBOL | ASCII_MARK,
                b'!'..=b'~' => PUNCTUATION | ASCII_MARK,
                _ => 0,
            };
        byte += 1;
    }
    table
};

fn beyond_ascii(c: char) -> Properties {
    let category = match c.general_category_group() {
        GeneralCategoryGroup::Letter => LETTER,
        GeneralCategoryGroup::Mark => MARK,
        GeneralCategoryGroup::Number => NUMBER,
        GeneralCategoryGroup::Punctuation => PUNCTUATION,
        GeneralCategoryGroup::Symbol => SYMBOL,
        GeneralCategoryGroup::Separator | GeneralCategoryGroup::Other => 0,
    };
    let flag = |is: bool, property| if is { property } else { 0 };
    category
        | CHARACTER
        | flag(c.is_whitespace(), WHITE)
        | flag(matches!(c, '一'..='龥' | '\u{3040}'..='ヿ'), KANA_OR_HAN)
        | flag(matches!(c, '\u{800}'..='龥' | '가'..='\u{D7FF}'), CJK)
}
