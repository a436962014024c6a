//! Cutting a text at the tokens that are found by their text before anything else happens.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::table::{Kind, TokenTable};
use super::vocabulary::TokenId;
use crate::error::{Error, ErrorKind, Result};

/// The longest text of a special token, in bytes. Real ones are under 100; the limit bounds the work for each byte of a
/// text.
const MAX_LENGTH: usize = 256;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(Range<usize>),
    Token(TokenId),
}

/// The special tokens of a vocabulary, by their texts: control and unknown tokens, and user-defined ones.
///
/// Longer texts are looked for first, over the whole text, then shorter ones in what is left: llama.cpp's order. It
/// shows where two texts overlap, such as runs of line ends.
#[derive(Debug)]
pub(super) struct Specials {
    /// By length of text in bytes, which is never 0.
    by_length: BTreeMap<usize, Group>,
}

#[derive(Debug, Default)]
struct Group {
    /// Token, and whether it is a control or unknown token, by text.
    tokens: HashMap<Box<[u8]>, (TokenId, bool)>,
    /// The bytes that a text of the group starts with: most places are ruled out by one look.
    starts: Starts,
    /// Whether one of the tokens is user-defined, so that the group matters for plain text too.
    has_user_defined: bool,
}

#[derive(Debug)]
struct Starts([bool; 256]);

impl Default for Starts {
    fn default() -> Self {
        Self([false; 256])
    }
}

impl Specials {
    /// # Errors
    ///
    /// [`ErrorKind::Tokenizer`] for a special token whose text is longer than [`MAX_LENGTH`].
    pub(super) fn new(table: &TokenTable<'_>) -> Result<Self> {
        let mut by_length: BTreeMap<usize, Group> = BTreeMap::new();
        for (id, text, kind) in table.iter() {
            if !matches!(kind, Kind::Control | Kind::Unknown | Kind::UserDefined) {
                continue;
            }
            let text = text.as_bytes();
            if text.len() > MAX_LENGTH {
                let message = format!("special token {id} has {} bytes (at most {MAX_LENGTH} are allowed)", text.len());
                return Err(Error::new(ErrorKind::Tokenizer, message));
            }
            let user_defined = kind == Kind::UserDefined;
            let group = by_length.entry(text.len()).or_default();
            group.tokens.insert(text.into(), (id, !user_defined));
            group.starts.0[usize::from(text[0])] = true;
            group.has_user_defined |= user_defined;
        }
        Ok(Self { by_length })
    }

    /// Cuts the text. A control token is only seen where `control` says so of its place in the text.
    pub(super) fn cut(&self, text: &str, control: Option<&dyn Fn(Range<usize>) -> bool>) -> Vec<Part> {
        let mut parts = Vec::new();
        if !text.is_empty() {
            parts.push(Part::Text(0..text.len()));
        }
        for (&length, group) in self.by_length.iter().rev() {
            if control.is_none() && !group.has_user_defined {
                continue;
            }
            let mut cut = Vec::with_capacity(parts.len());
            for part in parts {
                match part {
                    Part::Text(range) => group.cut(text.as_bytes(), range, length, control, &mut cut),
                    token => cut.push(token),
                }
            }
            parts = cut;
        }
        parts
    }
}

impl Group {
    /// Appends the parts of one range of the text, in which tokens have `length` bytes.
    fn cut(
        &self,
        text: &[u8],
        range: Range<usize>,
        length: usize,
        control: Option<&dyn Fn(Range<usize>) -> bool>,
        parts: &mut Vec<Part>,
    ) {
        let mut from = range.start;
        let mut at = range.start;
        while at + length <= range.end {
            let place = at..at + length;
            let token = Some(&text[place.clone()])
                .filter(|bytes| self.starts.0[usize::from(bytes[0])])
                .and_then(|bytes| self.tokens.get(bytes))
                .filter(|(_, is_control)| !is_control || control.is_some_and(|allowed| allowed(place.clone())));
            let Some((id, _)) = token else {
                at += 1;
                continue;
            };
            if from < at {
                parts.push(Part::Text(from..at));
            }
            parts.push(Part::Token(*id));
            at = place.end;
            from = at;
        }
        if from < range.end {
            parts.push(Part::Text(from..range.end));
        }
    }
}
