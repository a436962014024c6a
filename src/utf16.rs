//! Byte offsets into a text as UTF-16 offsets, JavaScript's own unit.

/// Turns byte offsets into UTF-16 offsets, in one pass over the text: it takes ascending offsets, and starts over where
/// one is smaller than the last.
#[derive(Debug)]
pub struct Utf16Offsets<'a> {
    text: &'a str,
    byte: usize,
    utf16: usize,
}

impl<'a> Utf16Offsets<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, byte: 0, utf16: 0 }
    }

    /// The UTF-16 offset of the character that begins at `byte`. An offset inside a character counts as that
    /// character's end, one beyond the text as the text's end.
    pub fn at(&mut self, byte: usize) -> usize {
        if byte < self.byte {
            (self.byte, self.utf16) = (0, 0);
        }
        for character in self.text[self.byte..].chars() {
            if self.byte >= byte {
                break;
            }
            self.byte += character.len_utf8();
            self.utf16 += character.len_utf16();
        }
        self.utf16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn agrees_with_counting_from_the_start(text in "\\PC{0,40}", order in proptest::collection::vec(0usize..60, 0..12)) {
            let mut offsets = Utf16Offsets::new(&text);
            for byte in order {
                let mut end = byte.min(text.len());
                while !text.is_char_boundary(end) {
                    end += 1;
                }
                prop_assert_eq!(offsets.at(byte), text[..end].encode_utf16().count());
            }
        }
    }
}
