//! Windows-1252, the single-byte encoding of older editors in the West, and of what they call Latin-1. Source:
//! <https://encoding.spec.whatwg.org/windows-1252.html>.

/// What the bytes 0x80 to 0x9f say; U+FFFD where the encoding has nothing.
const HIGH: [char; 32] = [
    '€', '\u{fffd}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{fffd}', 'Ž', '\u{fffd}', '\u{fffd}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{fffd}', 'ž', 'Ÿ',
];

/// The text, or none for bytes that the encoding does not have or that no text holds.
pub(super) fn decode(bytes: &[u8]) -> Option<String> {
    let character = |&byte: &u8| match byte {
        b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | 0x1a | 0x1b | 0x20..=0x7e | 0xa0..=0xff => Some(char::from(byte)),
        0x80..=0x9f => Some(HIGH[usize::from(byte - 0x80)]).filter(|c| *c != '\u{fffd}'),
        _ => None,
    };
    bytes.iter().map(character).collect()
}
