//! Byte-level BPE, the tokenizer model that GGUF calls `gpt2`.
//!
//! Bytes are written as printable characters, a text is cut into words, and within a word the pair of neighbours that
//! the merges list first is joined until no pair is listed. The joining is the `tokenizers` crate's.

use std::collections::HashMap;

use tokenizers::Model;
use tokenizers::models::bpe::{BPE, BpeBuilder, Vocab};

use super::pre_tokenizer::PreTokenizer;
use super::table::TokenTable;
use super::vocabulary::TokenId;
use crate::error::{Error, ErrorKind, Result};
use crate::gguf::Metadata;

/// Words whose tokens are remembered. Speech repeats itself; beyond this the memory costs more than the time.
const CACHED_WORDS: usize = 4096;

#[derive(Debug)]
pub(super) struct ByteLevelBpe {
    model: BPE,
    words: PreTokenizer,
    /// For each byte its character, or nothing where no token spells that byte alone.
    characters: [Option<char>; 256],
}

impl ByteLevelBpe {
    /// # Errors
    ///
    /// [`ErrorKind::Tokenizer`] for a pre-tokenizer that is not known, a file without merges, and a merge that is not
    /// two tokens whose joint text is a token.
    pub(super) fn new(metadata: &Metadata, table: &TokenTable<'_>) -> Result<Self> {
        let words = PreTokenizer::new(metadata.opt_str("tokenizer.ggml.pre")?.unwrap_or("default"))?;
        let merges = metadata
            .opt_strings("tokenizer.ggml.merges")?
            .ok_or_else(|| error("the file has no `tokenizer.ggml.merges`".into()))?;

        let vocab: Vocab =
            table.iter().filter(|(_, _, kind)| kind.is_text()).map(|(id, text, _)| (text.to_owned(), id)).collect();
        let characters = byte_characters().map(|c| Some(c).filter(|c| vocab.contains_key(c.to_string().as_str())));
        let merges = read_merges(&merges, table)?;
        let model = BpeBuilder::new()
            .vocab_and_merges(vocab, merges)
            .cache_capacity(CACHED_WORDS)
            .build()
            .map_err(|_| error("the merges do not fit the tokens".into()))?;
        Ok(Self { model, words, characters })
    }

    pub(super) fn adds_bos(&self) -> bool {
        self.words.adds_bos
    }

    /// Appends the tokens of a text without special tokens. Bytes that no token spells are left out.
    pub(super) fn encode(&self, text: &str, tokens: &mut Vec<TokenId>) -> Result<()> {
        let mut spelt = String::new();
        self.words.words(text, &mut |word| {
            if self.words.ignores_merges {
                let whole: String = word.bytes().map(|byte| BYTE_CHARACTERS[usize::from(byte)]).collect();
                if let Some(id) = self.model.token_to_id(&whole) {
                    tokens.push(id);
                    return Ok(());
                }
            }
            // A byte without a token ends a run: its neighbours must not merge across it.
            for byte in word.bytes() {
                match self.characters[usize::from(byte)] {
                    Some(c) => spelt.push(c),
                    None => self.merge(&mut spelt, tokens)?,
                }
            }
            self.merge(&mut spelt, tokens)
        })
    }

    /// Appends the tokens of a run of characters, and empties it.
    fn merge(&self, spelt: &mut String, tokens: &mut Vec<TokenId>) -> Result<()> {
        let merged = self.model.tokenize(spelt).map_err(|e| Error::new(ErrorKind::Internal, format!("BPE: {e}")))?;
        tokens.extend(merged.iter().map(|token| token.id));
        spelt.clear();
        Ok(())
    }
}

/// Splits each merge, `left right`, and checks it. The first of equal merges counts. Merges of or into a token that is
/// not text are left out, so that no text can turn into a control token.
fn read_merges(merges: &[&str], table: &TokenTable<'_>) -> Result<Vec<(String, String)>> {
    let mut seen = HashMap::with_capacity(merges.len());
    let mut read = Vec::with_capacity(merges.len());
    for (number, merge) in merges.iter().enumerate() {
        // The left part has at least one character, which may be a space.
        let first = merge.chars().next().map_or(0, char::len_utf8);
        let (left, right) = merge[first..]
            .find(' ')
            .map(|at| (&merge[..first + at], &merge[first + at + 1..]))
            .filter(|(_, right)| !right.is_empty())
            .ok_or_else(|| error(format!("merge {number} does not have two parts")))?;
        let joint = [left, right].concat();
        let mut is_text = true;
        for part in [left, right, &joint] {
            let id =
                table.ids.get(part).ok_or_else(|| error(format!("merge {number} needs a token that is not there")))?;
            is_text &= table.kinds[*id as usize].is_text();
        }
        if is_text && seen.insert((left, right), number).is_none() {
            read.push((left.to_owned(), right.to_owned()));
        }
    }
    Ok(read)
}

/// The printable character that stands for each byte in the token texts of byte-level BPE: the byte's own Latin-1
/// character where that is printable, else the next one from U+0100 on. (`bytes_to_unicode` of the GPT-2 release.)
const fn byte_characters() -> [char; 256] {
    let mut characters = ['\0'; 256];
    let mut next = 0x100;
    let mut byte = 0;
    while byte < 256 {
        characters[byte] = if matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) {
            byte as u8 as char
        } else {
            next += 1;
            match char::from_u32(next - 1) {
                Some(c) => c,
                None => unreachable!(),
            }
        };
        byte += 1;
    }
    characters
}

const BYTE_CHARACTERS: [char; 256] = byte_characters();

/// The bytes that a token's text stands for. A text with a character that stands for no byte, which converters let
/// through for tokens added by hand, is taken as it is.
pub(super) fn decode_text(text: &str) -> Vec<u8> {
    // U+0100 + i stands for the i-th byte that is not printable: 00..=20, 7F..=A0, AD.
    let byte = |c: char| match u32::from(c) {
        c @ (0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF) => u8::try_from(c).ok(),
        c @ 0x100..=0x120 => u8::try_from(c - 0x100).ok(),
        c @ 0x121..=0x142 => u8::try_from(c - 0x121 + 0x7F).ok(),
        0x143 => Some(0xAD),
        _ => None,
    };
    text.chars().map(byte).collect::<Option<Vec<u8>>>().unwrap_or_else(|| text.as_bytes().to_vec())
}

fn error(message: String) -> Error {
    Error::new(ErrorKind::Tokenizer, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_character_and_back() {
        let mut seen = std::collections::HashSet::new();
        for (byte, c) in (0u8..=255).zip(BYTE_CHARACTERS) {
            assert!(seen.insert(c) && !c.is_whitespace() && !c.is_control(), "byte {byte} is {c:?}");
            assert_eq!(decode_text(&c.to_string()), [byte]);
        }
        assert_eq!(BYTE_CHARACTERS[usize::from(b' ')], 'Ġ');
        assert_eq!(BYTE_CHARACTERS[0xAD], 'Ń');
    }

    #[test]
    fn text_of_other_characters_is_itself() {
        assert_eq!(decode_text("Ġa"), b" a");
        assert_eq!(decode_text("▁a"), "▁a".as_bytes());
        assert_eq!(decode_text("a b"), b"a b");
    }
}
