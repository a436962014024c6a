//! Bytes of tokens in, whole characters out.

/// Turns the bytes of one token after another into text. A character that is split over tokens comes out with the token
/// that completes it.
///
/// Bytes that can never become a character come out as U+FFFD, one for each longest beginning of a character, as
/// [`String::from_utf8_lossy`] would have it for the whole output.
///
/// # Example
///
/// ```
/// use fairhand::tokenizer::StreamDecoder;
///
/// let mut decoder = StreamDecoder::default();
/// let pieces: [&[u8]; 3] = [b"a\xF0\x9F", b"\x8C", b"\xB1!"];
/// assert_eq!(pieces.map(|bytes| decoder.push(bytes)), ["a", "", "🌱!"]);
/// assert_eq!(decoder.finish(), "");
/// ```
#[derive(Clone, Debug, Default)]
pub struct StreamDecoder {
    /// The beginning of a character: at most three bytes between calls.
    pending: Vec<u8>,
}

impl StreamDecoder {
    /// Adds bytes, and gives the text that is now certain.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let mut text = String::new();
        let mut rest = self.pending.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    rest = &[];
                    break;
                }
                Err(e) => {
                    let (valid, after) = rest.split_at(e.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    rest = after;
                    let Some(invalid) = e.error_len() else { break };
                    text.push(char::REPLACEMENT_CHARACTER);
                    rest = &rest[invalid..];
                }
            }
        }
        self.pending = rest.to_vec();
        text
    }

    /// Ends the output: what is left of a character comes out as U+FFFD. The decoder is then as new.
    pub fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.pending)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_cutting_gives_the_lossy_text_of_the_whole(
            bytes in prop_oneof![
                any::<Vec<u8>>(),
                any::<String>().prop_map(String::into_bytes),
                prop::collection::vec(prop::sample::select(&b"a\x80\xBF\xC3\xA9\xE2\x82\xAC\xF0\x9F\x8C\xB1\xED\xF4\xFF"[..]), 0..40),
            ],
            sizes in prop::collection::vec(0usize..5, 0..80),
        ) {
            let mut decoder = StreamDecoder::default();
            let mut text = String::new();
            let mut rest = bytes.as_slice();
            for size in sizes {
                let (chunk, after) = rest.split_at(size.min(rest.len()));
                text += &decoder.push(chunk);
                prop_assert!(decoder.pending.len() <= 3);
                rest = after;
            }
            text += &decoder.push(rest);
            text += &decoder.finish();
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
            prop_assert_eq!(decoder.finish(), "");
        }
    }
}
