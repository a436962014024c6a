//! The token table of a GGUF file, checked: texts, kinds, scores, and which tokens end a generation.
//!
//! Everything here comes from a file that nobody vouches for, so each length is compared and each id looked up before
//! it is used. Keys and their meaning: the GGUF specification's section "Tokenizer".

use std::collections::HashMap;

use super::vocabulary::{MAX_TOKENS, SpecialTokens, TokenId, Vocabulary};
use crate::error::{Error, ErrorKind, Result};
use crate::gguf::Metadata;

/// What a token is for (`tokenizer.ggml.token_type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A piece of text, in the encoding of the tokenizer's model.
    Normal,
    /// Stands for what has no encoding.
    Unknown,
    /// Does something; never part of a text.
    Control,
    /// A piece of text that was added by hand: cut out of a text before anything else happens to it.
    UserDefined,
    /// A row without a use.
    Unused,
    /// One byte, written `<0x0A>`.
    Byte,
}

impl Kind {
    fn new(token_type: i64) -> Option<Self> {
        Some(match token_type {
            1 => Self::Normal,
            2 => Self::Unknown,
            3 => Self::Control,
            4 => Self::UserDefined,
            0 | 5 => Self::Unused,
            6 => Self::Byte,
            _ => return None,
        })
    }

    /// Whether the token can stand in a text that a user wrote.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Normal | Self::UserDefined | Self::Byte)
    }
}

/// Tokens that end a generation wherever they occur, by the names that models give them. The list is llama.cpp's, so
/// that both stop at the same place.
const ENDS: [&str; 22] = [
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<｜end▁of▁sentence｜>",
    "[e~[",
];

/// Tokens that lay out code for fill-in-the-middle and that llama.cpp also counts as ends: the metadata key that names
/// one, and the texts to look for, the first that there is, when the file has no such key.
const FILL_IN_ENDS: [(&str, &[&str]); 3] = [
    ("tokenizer.ggml.fim_pad_token_id", &["<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"]),
    ("tokenizer.ggml.fim_rep_token_id", &["<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"]),
    ("tokenizer.ggml.fim_sep_token_id", &["<|file_sep|>"]),
];

/// A checked token table.
#[derive(Debug)]
pub(super) struct TokenTable<'a> {
    pub(super) texts: Vec<&'a str>,
    pub(super) kinds: Vec<Kind>,
    /// One score a token, where the file has them.
    pub(super) scores: Option<Vec<f32>>,
    pub(super) ids: HashMap<&'a str, TokenId>,
    pub(super) bos: Option<TokenId>,
    pub(super) eos: TokenId,
    pub(super) end_of_generation: Vec<TokenId>,
}

impl<'a> TokenTable<'a> {
    /// # Errors
    ///
    /// [`ErrorKind::Tokenizer`] for arrays of different lengths, a repeated text, an unknown token type, an id out of
    /// range, or no end-of-text token; [`ErrorKind::CorruptModel`] for a value of the wrong type.
    pub(super) fn read(metadata: &'a Metadata) -> Result<Self> {
        let texts = metadata
            .opt_strings("tokenizer.ggml.tokens")?
            .ok_or_else(|| error("the file has no `tokenizer.ggml.tokens`".into()))?;
        let len = texts.len();
        if len == 0 || len > MAX_TOKENS {
            return Err(error(format!("a vocabulary of {len} tokens (from 1 to {MAX_TOKENS} are allowed)")));
        }
        let same_length = |what: &str, n: usize| match n == len {
            true => Ok(()),
            false => Err(error(format!("{n} token {what} for {len} tokens"))),
        };

        let mut ids = HashMap::with_capacity(len);
        for (id, text) in (0..).zip(&texts) {
            // Converters pad with empty texts: rows that no text can name.
            if !text.is_empty()
                && let Some(other) = ids.insert(*text, id)
            {
                return Err(error(format!("tokens {other} and {id} have the same text")));
            }
        }

        let kinds = match metadata.opt_ints("tokenizer.ggml.token_type")? {
            None => vec![Kind::Normal; len],
            Some(types) => {
                same_length("types", types.len())?;
                let known = |t: &i64| Kind::new(*t).ok_or_else(|| error(format!("unknown token type {t}")));
                types.iter().map(known).collect::<Result<_>>()?
            }
        };
        let scores = metadata.opt_f32s("tokenizer.ggml.scores")?;
        if let Some(scores) = &scores {
            same_length("scores", scores.len())?;
            if let Some(id) = scores.iter().position(|score| score.is_nan()) {
                return Err(error(format!("the score of token {id} is not a number")));
            }
        }

        let bos = id(metadata, "tokenizer.ggml.bos_token_id", len)?;
        let eos = id(metadata, "tokenizer.ggml.eos_token_id", len)?
            .ok_or_else(|| error("the file has no `tokenizer.ggml.eos_token_id`".into()))?;
        let mut table = Self { texts, kinds, scores, ids, bos, eos, end_of_generation: Vec::new() };
        table.find_ends(metadata)?;
        Ok(table)
    }

    /// Collects the tokens that end a generation. One that is found by its name is made a control token even if the
    /// file calls it text: converters get that wrong.
    fn find_ends(&mut self, metadata: &Metadata) -> Result<()> {
        let len = self.texts.len();
        let mut named: Vec<TokenId> = ENDS.iter().filter_map(|text| self.ids.get(text).copied()).collect();
        for (key, texts) in FILL_IN_ENDS {
            match id(metadata, key, len)? {
                Some(id) => self.end_of_generation.push(id),
                None => named.extend(texts.iter().find_map(|text| self.ids.get(text).copied())),
            }
        }
        for id in &named {
            self.kinds[*id as usize] = Kind::Control;
        }
        self.end_of_generation.extend(named);
        self.end_of_generation.push(self.eos);
        self.end_of_generation.extend(id(metadata, "tokenizer.ggml.eot_token_id", len)?);
        self.end_of_generation.extend(id(metadata, "tokenizer.ggml.eom_token_id", len)?);

        // In two families one of the names above opens a part of the answer instead of ending it.
        let has = |text: &str| self.ids.contains_key(text);
        let calls = has("<|call|>") || has("<|calls|>");
        let not_an_end = [
            ("<|end|>", calls && (has("<|return|>") && has("<|call|>") || has("<|flush|>")), Kind::UserDefined),
            ("</s>", has("<|tool_response>"), Kind::Normal),
        ];
        for (text, applies, kind) in not_an_end {
            if let Some(&id) = self.ids.get(text).filter(|_| applies) {
                self.end_of_generation.retain(|end| *end != id);
                self.kinds[id as usize] = kind;
            }
        }
        Ok(())
    }

    /// The tokens that have a use, with their texts and kinds. Rows with an empty text have none.
    pub(super) fn iter(&self) -> impl Iterator<Item = (TokenId, &'a str, Kind)> {
        let rows = self.texts.iter().zip(&self.kinds);
        (0..).zip(rows).filter(|(_, (text, _))| !text.is_empty()).map(|(id, (text, kind))| (id, *text, *kind))
    }

    /// The vocabulary, given how the tokenizer's model writes the bytes of a normal token.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Tokenizer`] for a byte token that is not written `<0x0A>`, and those of [`Vocabulary::new`].
    pub(super) fn vocabulary(&self, normal_bytes: impl Fn(&str) -> Vec<u8>) -> Result<Vocabulary> {
        let mut pieces = vec![Vec::new(); self.texts.len()];
        let mut control = Vec::new();
        for (id, text, kind) in self.iter() {
            match kind {
                Kind::Normal => pieces[id as usize] = normal_bytes(text),
                Kind::UserDefined => pieces[id as usize] = text.as_bytes().to_vec(),
                Kind::Byte => {
                    let byte = byte_token(text).ok_or_else(|| error(format!("byte token {id} names no byte")))?;
                    pieces[id as usize] = vec![byte];
                }
                Kind::Control | Kind::Unknown => control.push((text.to_owned(), id)),
                Kind::Unused => {}
            }
        }
        let end_of_generation = self.end_of_generation.clone();
        Vocabulary::new(pieces, SpecialTokens { control, bos: self.bos, eos: self.eos, end_of_generation })
    }
}

/// The byte that `<0x0A>` names.
fn byte_token(text: &str) -> Option<u8> {
    let hex = text.strip_prefix("<0x")?.strip_suffix('>')?;
    let two_digits = hex.len() == 2 && hex.bytes().all(|b| b.is_ascii_hexdigit());
    two_digits.then(|| u8::from_str_radix(hex, 16).ok()).flatten()
}

/// The id under `key`, if the file has one.
fn id(metadata: &Metadata, key: &str, len: usize) -> Result<Option<TokenId>> {
    match metadata.opt_usize(key)? {
        None => Ok(None),
        Some(id) if id < len => Ok(Some(id as TokenId)),
        Some(id) => Err(error(format!("`{key}` is {id}, which is not one of the {len} tokens"))),
    }
}

fn error(message: String) -> Error {
    Error::new(ErrorKind::Tokenizer, message)
}
