//! Token ids ↔ bytes, text → ids, and the chat template, all from a GGUF's own metadata.
//!
//! ```text
//! metadata ─▶ table ─┬─▶ vocabulary ─────────────▶ everything that needs a token's bytes
//!                    ├─▶ specials ─┐
//!                    └─▶ bpe | spm ┴─▶ Tokenizer ─▶ ids
//! metadata ─▶ chat ──▶ text with the places that users wrote ─┘
//! ```
//!
//! - `table` reads the token table and trusts nothing in it.
//! - [`Vocabulary`] is what is left of it for the rest of the crate.
//! - `specials` cuts a text at control and user-defined tokens.
//! - `bpe` (with `pre_tokenizer`, a table of the kinds, and `pattern`, which matches them) and `spm` turn what is between into ids.
//! - [`ChatTemplate`] renders messages, and keeps what users wrote apart from what the template wrote.
//! - [`StreamDecoder`] turns the bytes of one token after another into text.
//! - [`TokenTrie`] lays the vocabulary out for a constraint to walk.

mod bpe;
mod chat;
mod pattern;
mod pre_tokenizer;
mod specials;
mod spm;
mod stream;
mod table;
pub(crate) mod trie;
mod vocabulary;

use std::ops::Range;
use std::sync::Arc;

pub use chat::{ChatTemplate, Message, Rendered, Role};
pub use stream::StreamDecoder;
pub use trie::TokenTrie;
pub use vocabulary::{MAX_TOKENS, MAX_TOTAL_BYTES, SpecialTokens, TokenId, Vocabulary};

use crate::error::{Error, ErrorKind, Result};
use crate::gguf::{Metadata, shown};
use bpe::ByteLevelBpe;
use specials::{Part, Specials};
use spm::SentencePiece;
use table::TokenTable;

/// What the text of a control token means in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// Nothing: it is text like any other, and no control token comes out. For everything that a user wrote.
    AsText,
    /// The control token. For text that the program or a template wrote.
    Parse,
}

/// Text to token ids and back, as the model was trained. Immutable.
///
/// The ids are those that llama.cpp gives for the same file, with two exceptions that keep a user's text from steering
/// the model: [`Special::AsText`] never yields a control token, even where a file's merges spell one, and never a row
/// that the file calls unused.
#[derive(Debug)]
pub struct Tokenizer {
    vocabulary: Arc<Vocabulary>,
    specials: Specials,
    model: Model,
    adds_bos: bool,
}

#[derive(Debug)]
enum Model {
    Bpe(Box<ByteLevelBpe>),
    SentencePiece(Box<SentencePiece>),
}

impl Tokenizer {
    /// Builds the tokenizer that a file describes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Tokenizer`] if the file's kind of tokenizer or pre-tokenizer is not known (the message names it), or
    /// if its parts contradict one another: arrays of different lengths, ids out of range, repeated tokens, merges of
    /// tokens that are not there, no end-of-text token. [`ErrorKind::CorruptModel`] if a value has the wrong type.
    pub fn from_metadata(metadata: &Metadata) -> Result<Self> {
        let kind = metadata
            .opt_str("tokenizer.ggml.model")?
            .ok_or_else(|| Error::new(ErrorKind::Tokenizer, "the file has no `tokenizer.ggml.model`"))?;
        let table;
        let (vocabulary, model, adds_bos) = match kind {
            "gpt2" => {
                table = TokenTable::read(metadata)?;
                let model = ByteLevelBpe::new(metadata, &table)?;
                let adds_bos = model.adds_bos();
                (table.vocabulary(bpe::decode_text)?, Model::Bpe(Box::new(model)), adds_bos)
            }
            "llama" => {
                table = TokenTable::read(metadata)?;
                let vocabulary = table.vocabulary(spm::decode_text)?;
                let model = SentencePiece::new(metadata, &table, &vocabulary)?;
                (vocabulary, Model::SentencePiece(Box::new(model)), true)
            }
            other => {
                return Err(Error::new(
                    ErrorKind::Tokenizer,
                    format!("the tokenizer model `{}` is not known", shown(other)),
                ));
            }
        };
        let adds_bos = metadata.opt_bool("tokenizer.ggml.add_bos_token")?.unwrap_or(adds_bos);
        if adds_bos && vocabulary.bos().is_none() {
            return Err(Error::new(ErrorKind::Tokenizer, "texts start with a token that the file does not name"));
        }
        Ok(Self { vocabulary: Arc::new(vocabulary), specials: Specials::new(&table)?, model, adds_bos })
    }

    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Whether the model expects [`Vocabulary::bos`] before a whole text. [`encode`](Self::encode) leaves that to its
    /// caller, who knows where a text begins; [`encode_chat`](Self::encode_chat) sees to it.
    pub fn adds_bos(&self) -> bool {
        self.adds_bos
    }

    /// The tokens of a text, in time and memory proportional to its length.
    ///
    /// Bytes for which a byte-level vocabulary has no token are left out; see [`Vocabulary::spells`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`] if the BPE implementation fails, for which no text is known.
    pub fn encode(&self, text: &str, special: Special) -> Result<Vec<TokenId>> {
        match special {
            Special::AsText => self.encode_where(text, None),
            Special::Parse => self.encode_where(text, Some(&|_| true)),
        }
    }

    /// The tokens of a conversation up to where the assistant's next message begins.
    ///
    /// What the template wrote may hold control tokens; a message's content never becomes one, not even together with
    /// the template's text around it. Apart from that the tokens are those of the whole rendered text, so a piece may
    /// span the border between the two, as the model saw it in training.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Template`] if the template fails; see [`ChatTemplate::render`].
    pub fn encode_chat(&self, template: &ChatTemplate, messages: &[Message]) -> Result<Vec<TokenId>> {
        let Rendered { text, literal } = template.render_marked(messages, true)?;
        let allowed = |place: Range<usize>| {
            let next = literal.partition_point(|at| *at < place.start);
            literal.get(next).is_none_or(|at| *at >= place.end)
        };
        let mut tokens = self.encode_where(&text, Some(&allowed))?;
        if let Some(bos) = self.vocabulary.bos().filter(|bos| self.adds_bos && tokens.first() != Some(bos)) {
            tokens.insert(0, bos);
        }
        Ok(tokens)
    }

    fn encode_where(&self, text: &str, control: Option<&dyn Fn(Range<usize>) -> bool>) -> Result<Vec<TokenId>> {
        let mut tokens = Vec::with_capacity(text.len() / 4);
        let mut first = true;
        for part in self.specials.cut(text, control) {
            match part {
                Part::Token(id) => {
                    tokens.push(id);
                    first = true;
                }
                Part::Text(range) => {
                    match &self.model {
                        Model::Bpe(model) => model.encode(&text[range], &mut tokens)?,
                        Model::SentencePiece(model) => model.encode(&text[range], first, &mut tokens),
                    }
                    first = false;
                }
            }
        }
        Ok(tokens)
    }

    /// The text of a whole sequence of tokens. Control tokens add nothing; bytes that are no UTF-8 come out as U+FFFD.
    ///
    /// A space that the tokenizer put before a text is taken off again.
    pub fn decode(&self, tokens: &[TokenId]) -> String {
        let bytes: Vec<u8> = tokens.iter().flat_map(|id| self.vocabulary.bytes(*id)).copied().collect();
        let adds_space = matches!(&self.model, Model::SentencePiece(model) if model.adds_space());
        let starts_with_text = tokens.first().is_some_and(|id| !self.vocabulary.is_control(*id));
        let bytes = match bytes.strip_prefix(b" ") {
            Some(rest) if adds_space && starts_with_text => rest,
            _ => &bytes,
        };
        String::from_utf8_lossy(bytes).into_owned()
    }
}
