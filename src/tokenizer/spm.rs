//! SentencePiece BPE, the tokenizer model that GGUF calls `llama`.
//!
//! Spaces are written `▁`, a text starts as its characters, and the two neighbours whose joint text is the token with
//! the highest score are joined, the leftmost first, until no joint text is a token. A character that is no token is
//! written as its bytes.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use super::table::{Kind, TokenTable};
use super::vocabulary::{TokenId, Vocabulary};
use crate::error::{Error, ErrorKind, Result};
use crate::gguf::Metadata;

const SPACE: &str = "▁";

#[derive(Debug)]
pub(super) struct SentencePiece {
    /// Normal tokens by their text, with their scores.
    pieces: HashMap<Box<str>, (TokenId, f32)>,
    /// The longest of those texts, in bytes.
    longest: usize,
    bytes: [TokenId; 256],
    /// Whether a text that follows nothing, or a special token, gets a space in front.
    adds_space: bool,
}

impl SentencePiece {
    /// # Errors
    ///
    /// [`ErrorKind::Tokenizer`] for a file without scores, or without a token for each byte.
    pub(super) fn new(metadata: &Metadata, table: &TokenTable<'_>, vocabulary: &Vocabulary) -> Result<Self> {
        let scores = table.scores.as_ref().ok_or_else(|| error("the file has no `tokenizer.ggml.scores`".into()))?;
        let mut pieces: HashMap<Box<str>, _> = HashMap::new();
        let mut bytes = [None; 256];
        for (id, text, kind) in table.iter() {
            match (kind, vocabulary.bytes(id)) {
                (Kind::Normal | Kind::UserDefined, _) => {
                    pieces.insert(text.into(), (id, scores[id as usize] + 0.0)); // -0.0 becomes 0.0, its equal
                }
                (Kind::Byte, [byte]) => bytes[usize::from(*byte)] = Some(id),
                _ => {}
            }
        }
        if let Some(byte) = bytes.iter().position(Option::is_none) {
            return Err(error(format!("no token stands for the byte {byte:#04X}")));
        }
        let longest = pieces.keys().map(|text| text.len()).max().unwrap_or(0);
        let bytes = bytes.map(Option::unwrap_or_default); // each is there
        let adds_space = metadata.opt_bool("tokenizer.ggml.add_space_prefix")?.unwrap_or(true);
        Ok(Self { pieces, longest, bytes, adds_space })
    }

    pub(super) fn adds_space(&self) -> bool {
        self.adds_space
    }

    /// Appends the tokens of a text without special tokens.
    ///
    /// `first`: whether the text follows nothing or a special token.
    pub(super) fn encode(&self, text: &str, first: bool, tokens: &mut Vec<TokenId>) {
        let mut escaped = text.replace(' ', SPACE);
        if first && self.adds_space {
            escaped.insert_str(0, SPACE);
        }
        for symbol in self.merge(&escaped) {
            match self.pieces.get(symbol) {
                Some((id, _)) => tokens.push(*id),
                None => tokens.extend(symbol.bytes().map(|byte| self.bytes[usize::from(byte)])),
            }
        }
    }

    /// Cuts the text into symbols, each a token or a single character.
    fn merge<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let mut symbols: Vec<Symbol> = text
            .char_indices()
            .enumerate()
            .map(|(index, (start, c))| Symbol {
                start,
                end: start + c.len_utf8(),
                previous: index.checked_sub(1),
                next: Some(index + 1),
            })
            .collect();
        if let Some(last) = symbols.last_mut() {
            last.next = None;
        }

        let mut queue = BinaryHeap::new();
        for right in 1..symbols.len() {
            self.consider(text, &symbols, Some(right - 1), Some(right), &mut queue);
        }
        while let Some(pair) = queue.pop() {
            let (left, right) = (symbols[pair.left], symbols[pair.right]);
            // A symbol that has been joined to its left neighbour is empty; one that has grown makes old pairs stale.
            if left.is_empty() || right.is_empty() || right.end - left.start != pair.len {
                continue;
            }
            symbols[pair.left].end = right.end;
            symbols[pair.left].next = right.next;
            symbols[pair.right].start = right.end;
            if let Some(next) = right.next {
                symbols[next].previous = Some(pair.left);
            }
            self.consider(text, &symbols, left.previous, Some(pair.left), &mut queue);
            self.consider(text, &symbols, Some(pair.left), right.next, &mut queue);
        }
        symbols.into_iter().filter(|symbol| !symbol.is_empty()).map(|symbol| &text[symbol.start..symbol.end])
    }

    /// Queues two neighbours if their joint text is a token.
    fn consider(
        &self,
        text: &str,
        symbols: &[Symbol],
        left: Option<usize>,
        right: Option<usize>,
        queue: &mut BinaryHeap<Pair>,
    ) {
        let (Some(left), Some(right)) = (left, right) else { return };
        let (start, end) = (symbols[left].start, symbols[right].end);
        let len = end - start;
        if len > self.longest {
            return;
        }
        if let Some((_, score)) = self.pieces.get(&text[start..end]) {
            queue.push(Pair { score: *score, left, right, len });
        }
    }
}

/// A part of the text, and its neighbours by index.
#[derive(Clone, Copy, Debug)]
struct Symbol {
    start: usize,
    end: usize,
    previous: Option<usize>,
    next: Option<usize>,
}

impl Symbol {
    fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

/// Two neighbours that may be joined. Greater is sooner: the higher score, then the place further left.
#[derive(Clone, Copy, Debug)]
struct Pair {
    score: f32,
    left: usize,
    right: usize,
    /// The bytes of both when they were queued.
    len: usize,
}

impl Ord for Pair {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.left.cmp(&self.left))
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Pair {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Pair {}

/// The bytes that a normal token's text stands for.
pub(super) fn decode_text(text: &str) -> Vec<u8> {
    text.replace(SPACE, " ").into_bytes()
}

fn error(message: String) -> Error {
    Error::new(ErrorKind::Tokenizer, message)
}
