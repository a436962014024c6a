//! Token ids and the bytes they stand for.

use std::collections::HashMap;

use crate::error::{Error, ErrorKind, Result};

/// The number of a token: its row in the embedding matrix, its column in the logits.
pub type TokenId = u32;

/// The most tokens a vocabulary may have. The largest ones in use have 262,144; the limit keeps a lying file from
/// sizing our tables.
pub const MAX_TOKENS: usize = 1 << 20;

/// The most bytes that all tokens together may spell. The largest vocabularies in use need about 2 MB.
pub const MAX_TOTAL_BYTES: usize = 64 << 20;

/// The tokens of a vocabulary that do something instead of spelling text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpecialTokens {
    /// Control tokens with the text that names them in a template, such as `<|im_start|>`.
    pub control: Vec<(String, TokenId)>,
    /// Put before a whole text, where the model has been trained so.
    pub bos: Option<TokenId>,
    /// The end that the model writes.
    pub eos: TokenId,
    /// Further tokens after which a generation is over, such as `<|im_end|>` beside `<|endoftext|>`. [`Self::eos`] need
    /// not be repeated here.
    pub end_of_generation: Vec<TokenId>,
}

/// Token ids and the bytes they add to a text. Immutable.
///
/// # What a token's bytes are
///
/// [`bytes`](Self::bytes) is exactly what the token adds to the generated text, with every encoding of the file undone
/// (byte-level BPE's printable stand-ins, SentencePiece's `▁` and `<0x0A>`):
///
/// - The concatenation of the bytes of all tokens of an output *is* the output. Bytes of one token need not be valid
///   UTF-8: a character may be split over several tokens, and a token may end one character and begin the next.
/// - Tokens that add nothing have **empty** bytes: control tokens (`<|im_end|>`), the unknown token, unused rows.
///   A constraint must never allow an empty token other than an end, or a generation could go on forever.
/// - The token of the NUL byte has the bytes `[0]`, which are not empty. No byte is special.
/// - Several tokens may have the same bytes (a byte token `<0x41>` beside the letter `A`). Ids, not bytes, are identity.
/// - There need not be a token for each of the 256 bytes; see [`spells`](Self::spells). SmolLM2's vocabulary has
///   none for six control characters, nor for the bytes that begin U+40000 to U+BFFFF.
/// - An id out of range has empty bytes and is not a control token, so that no lookup can panic.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    /// The bytes of all tokens, one after the other.
    bytes: Vec<u8>,
    /// Where token `i` ends in `bytes`; it begins where token `i - 1` ends.
    ends: Vec<u32>,
    control: Vec<bool>,
    by_text: HashMap<String, TokenId>,
    bos: Option<TokenId>,
    eos: TokenId,
    end_of_generation: Vec<TokenId>,
}

impl Vocabulary {
    /// A vocabulary in which token `i` adds `pieces[i]` to a text. Pieces of control tokens are taken as empty.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Tokenizer`] if there is no token, if there are more than [`MAX_TOKENS`] tokens or
    /// [`MAX_TOTAL_BYTES`] bytes, if an id in `special` is out of range, or if two control tokens share a text.
    ///
    /// # Example
    ///
    /// ```
    /// use fairhand::tokenizer::{SpecialTokens, Vocabulary};
    ///
    /// let pieces = ["a", "b", "ab", ""].map(|piece| piece.as_bytes().to_vec());
    /// let special = SpecialTokens { control: vec![("<eos>".into(), 3)], eos: 3, ..SpecialTokens::default() };
    /// let vocabulary = Vocabulary::new(pieces.into(), special)?;
    /// assert_eq!(vocabulary.bytes(2), b"ab");
    /// assert_eq!(vocabulary.special("<eos>"), Some(3));
    /// assert!(vocabulary.is_control(3) && vocabulary.is_end_of_generation(3));
    /// # Ok::<(), fairhand::Error>(())
    /// ```
    pub fn new(pieces: Vec<Vec<u8>>, special: SpecialTokens) -> Result<Self> {
        let len = pieces.len();
        if len == 0 || len > MAX_TOKENS {
            return Err(error(format!("a vocabulary of {len} tokens (from 1 to {MAX_TOKENS} are allowed)")));
        }
        let in_range = |id: TokenId, what: &str| match (id as usize) < len {
            true => Ok(id),
            false => Err(error(format!("the {what} token {id} is not one of the vocabulary's {len} tokens"))),
        };

        let mut control = vec![false; len];
        let mut by_text = HashMap::with_capacity(special.control.len());
        for (text, id) in special.control {
            control[in_range(id, "control")? as usize] = true;
            if let Some(other) = by_text.insert(text, id) {
                return Err(error(format!("control tokens {other} and {id} have the same text")));
            }
        }

        let total = pieces.iter().zip(&control).filter(|(_, control)| !**control).map(|(p, _)| p.len()).sum::<usize>();
        if total > MAX_TOTAL_BYTES {
            return Err(error(format!("tokens of {total} bytes together (at most {MAX_TOTAL_BYTES} are allowed)")));
        }
        let mut bytes = Vec::with_capacity(total);
        let mut ends = Vec::with_capacity(len);
        for (piece, control) in pieces.iter().zip(&control) {
            if !control {
                bytes.extend_from_slice(piece);
            }
            ends.push(bytes.len() as u32); // at most MAX_TOTAL_BYTES
        }

        let bos = special.bos.map(|id| in_range(id, "beginning-of-text")).transpose()?;
        let eos = in_range(special.eos, "end-of-text")?;
        let mut end_of_generation = vec![eos];
        for id in special.end_of_generation {
            end_of_generation.push(in_range(id, "end-of-generation")?);
        }
        end_of_generation.sort_unstable();
        end_of_generation.dedup();

        Ok(Self { bytes, ends, control, by_text, bos, eos, end_of_generation })
    }

    /// The number of tokens; ids are `0..len()`.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// What the token adds to a text; see the type's documentation. Empty for an id out of range.
    pub fn bytes(&self, id: TokenId) -> &[u8] {
        let id = id as usize;
        let Some(&end) = self.ends.get(id) else { return &[] };
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.bytes[start as usize..end as usize]
    }

    /// Whether the token does something instead of spelling text. User text never encodes to such a token.
    pub fn is_control(&self, id: TokenId) -> bool {
        self.control.get(id as usize).copied().unwrap_or(false)
    }

    /// The control token of that text, such as `<|im_start|>`.
    pub fn special(&self, text: &str) -> Option<TokenId> {
        self.by_text.get(text).copied()
    }

    /// All control tokens with their texts, in no particular order.
    pub fn specials(&self) -> impl Iterator<Item = (&str, TokenId)> + Clone {
        self.by_text.iter().map(|(text, id)| (text.as_str(), *id))
    }

    pub fn bos(&self) -> Option<TokenId> {
        self.bos
    }

    pub fn eos(&self) -> TokenId {
        self.eos
    }

    /// The tokens after which a generation is over, [`eos`](Self::eos) among them: ascending, without repeats.
    pub fn end_of_generation(&self) -> &[TokenId] {
        &self.end_of_generation
    }

    pub fn is_end_of_generation(&self, id: TokenId) -> bool {
        self.end_of_generation.binary_search(&id).is_ok()
    }

    /// For each byte, whether some token spells that byte alone. A text of other bytes may have no encoding.
    pub fn spells(&self) -> [bool; 256] {
        let mut spells = [false; 256];
        for id in 0..self.len() as TokenId {
            if let [byte] = self.bytes(id) {
                spells[usize::from(*byte)] = true;
            }
        }
        spells
    }
}

fn error(message: String) -> Error {
    Error::new(ErrorKind::Tokenizer, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(texts: &[&str]) -> Vec<Vec<u8>> {
        texts.iter().map(|text| text.as_bytes().to_vec()).collect()
    }

    fn special(control: &[(&str, TokenId)], eos: TokenId) -> SpecialTokens {
        let control = control.iter().map(|(text, id)| ((*text).to_owned(), *id)).collect();
        SpecialTokens { control, eos, ..SpecialTokens::default() }
    }

    #[test]
    fn bytes_are_those_of_the_pieces() {
        let vocabulary = Vocabulary::new(pieces(&["", "a", "\0", "<e>", "bcd"]), special(&[("<e>", 3)], 3)).unwrap();
        let all: Vec<&[u8]> = (0..6).map(|id| vocabulary.bytes(id)).collect();
        assert_eq!(all, [&b""[..], b"a", b"\0", b"", b"bcd", b""]);
        assert_eq!(vocabulary.len(), 5);
    }

    #[test]
    fn control_is_known_by_id_and_text() {
        let vocabulary = Vocabulary::new(pieces(&["a", "<e>", "<e>"]), special(&[("<e>", 2)], 2)).unwrap();
        assert_eq!([0, 1, 2, 3, u32::MAX].map(|id| vocabulary.is_control(id)), [false, false, true, false, false]);
        assert_eq!(vocabulary.special("<e>"), Some(2));
        assert_eq!(vocabulary.special("a"), None);
        assert_eq!(vocabulary.specials().collect::<Vec<_>>(), [("<e>", 2)]);
    }

    #[test]
    fn ends_are_sorted_and_hold_eos() {
        let special = SpecialTokens { eos: 1, bos: Some(0), end_of_generation: vec![2, 0, 2], ..Default::default() };
        let vocabulary = Vocabulary::new(pieces(&["a", "b", "c", "d"]), special).unwrap();
        assert_eq!(vocabulary.end_of_generation(), [0, 1, 2]);
        assert!(vocabulary.is_end_of_generation(1) && !vocabulary.is_end_of_generation(3));
        assert_eq!((vocabulary.bos(), vocabulary.eos()), (Some(0), 1));
    }

    #[test]
    fn spells_counts_single_bytes_only() {
        let vocabulary = Vocabulary::new(pieces(&["a", "bc", "\0", "é"]), special(&[], 0)).unwrap();
        let spelt: Vec<usize> = (0..256).filter(|byte| vocabulary.spells()[*byte]).collect();
        assert_eq!(spelt, [0, usize::from(b'a')]);
    }

    #[test]
    fn inconsistent_parts_are_refused() {
        let bos = SpecialTokens { bos: Some(9), ..Default::default() };
        let end = SpecialTokens { end_of_generation: vec![2], ..Default::default() };
        let cases = [
            (pieces(&[]), special(&[], 0)),
            (pieces(&["a", "b"]), special(&[], 2)),
            (pieces(&["a", "b"]), special(&[("<e>", 2)], 0)),
            (pieces(&["a", "b"]), special(&[("<e>", 0), ("<e>", 1)], 0)),
            (pieces(&["a", "b"]), bos),
            (pieces(&["a", "b"]), end),
            (vec![Vec::new(); MAX_TOKENS + 1], special(&[], 0)),
        ];
        for (pieces, special) in cases {
            assert_eq!(Vocabulary::new(pieces, special).unwrap_err().kind(), ErrorKind::Tokenizer);
        }
    }
}
