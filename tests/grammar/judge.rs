//! Cases judged three ways: by the naive recogniser, by the engine over bytes, and by tokens through the mask.

use std::sync::Arc;

use fairhand::grammar::{Constraint, Dialect, Grammar, json_schema_to_gbnf};
use fairhand::tokenizer::{SpecialTokens, TokenId, TokenTrie, Vocabulary};
use serde_json::Value;

use super::naive::{Input, Naive};

/// What a case came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    /// The engine differs from llama.cpp on purpose, for this reason.
    Deviates(&'static str),
    Failed(Vec<String>),
}

/// A small vocabulary: every byte, pieces of several characters, halves of characters, and control tokens.
pub struct World {
    pub trie: Arc<TokenTrie>,
    pub vocabulary: Vocabulary,
}

impl World {
    /// The ids below this are control tokens, [`Self::EOS`] is the last of them.
    pub const CONTROL: TokenId = 64;
    pub const EOS: TokenId = 63;

    pub fn new() -> Self {
        const PIECES: [&str; 40] = [
            "aa", "ab", "aaa", "abc", "ba", "bc", "xx", "xxx", "()", "((", "))", "[[", "]]", "[]", "{}", "{\"", "\":",
            "\": ", "\", \"", ", ", "\"}", "\"]", "true", "null", "12", "00", "000", "  ", ". ", "- ", "the", "ing",
            "hello", "work", "é", "日本", "日", "😀", "\n\n", "\\\"",
        ];
        let mut pieces = vec![Vec::new(); Self::CONTROL as usize];
        pieces.extend((0..=255u8).map(|byte| vec![byte]));
        pieces.extend(PIECES.map(|piece| piece.as_bytes().to_vec()));
        pieces.extend([vec![0xF0, 0x9F], vec![0x98, 0x80], vec![b'a', 0xE6], vec![0xA5, b'"'], vec![0xF0, 0x9F, 0x98]]);
        let control = (0..Self::CONTROL).map(|id| (format!("<|{id}|>"), id)).collect();
        let special = SpecialTokens { control, eos: Self::EOS, ..SpecialTokens::default() };
        let vocabulary = Vocabulary::new(pieces, special).expect("a sound vocabulary");
        Self { trie: Arc::new(TokenTrie::new(&vocabulary)), vocabulary }
    }

    /// Cuts a text into tokens: of those that fit, `choose` takes one given their number, longest last.
    pub fn tokens(&self, text: &[u8], mut choose: impl FnMut(usize) -> usize) -> Vec<TokenId> {
        let mut tokens = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let mut fitting: Vec<TokenId> = (0..self.vocabulary.len() as TokenId)
                .filter(|id| {
                    !self.vocabulary.bytes(*id).is_empty() && text[at..].starts_with(self.vocabulary.bytes(*id))
                })
                .collect();
            fitting.sort_by_key(|id| self.vocabulary.bytes(*id).len());
            let token = fitting[choose(fitting.len())];
            at += self.vocabulary.bytes(token).len();
            tokens.push(token);
        }
        tokens
    }
}

/// Judges a case of a file like `gbnf_cases.json`.
pub fn judge_grammar(world: &World, case: &Value) -> Outcome {
    let text = case["grammar"].as_str().unwrap_or_default();
    let refused = case["parse_error"] == true;
    let portable = Grammar::parse_as(text, None, Dialect::LlamaCpp);
    let free = Grammar::parse_as(text, None, Dialect::Free);
    let policy = ["quirk", "limit", "left_recursion", "llama_cpp"].iter().any(|mark| case[*mark] == Value::Bool(true));
    match (portable, free) {
        (Err(_), Err(_)) if refused => Outcome::Passed,
        (Err(_), Ok(_)) if refused => Outcome::Deviates("line breaks are free, and a byte order mark is skipped"),
        (Ok(_), _) if refused && policy => Outcome::Deviates("a policy of llama.cpp's that is not ours"),
        (Ok(_), _) if refused => Outcome::Failed(vec!["the grammar is accepted".into()]),
        (Err(_), _) if policy => Outcome::Deviates("a policy of llama.cpp's that is not ours"),
        (Err(error), _) => Outcome::Failed(vec![format!("the grammar is refused: {error}")]),
        (Ok(grammar), free) => {
            let mut failures = judge_texts(world, &Arc::new(grammar), text, case);
            match free {
                Ok(grammar) => failures.extend(judge_texts(world, &Arc::new(grammar), text, case)),
                Err(_) if failures.is_empty() => return Outcome::Deviates("a rule is defined once"),
                Err(_) => {}
            }
            if failures.is_empty() { Outcome::Passed } else { Outcome::Failed(failures) }
        }
    }
}

/// Judges a case of a file like `json_schema_cases.json`.
pub fn judge_schema(world: &World, case: &Value) -> Outcome {
    let source = match json_schema_to_gbnf(&case["schema"]) {
        Ok(source) => source,
        Err(error) => return Outcome::Failed(vec![format!("the schema is refused: {error} ({:?})", error.detail())]),
    };
    let failures = match Grammar::parse(&source) {
        Ok(grammar) => judge_texts(world, &Arc::new(grammar), &source, case),
        Err(error) => vec![format!("the schema's grammar is refused: {error}")],
    };
    if failures.is_empty() { Outcome::Passed } else { Outcome::Failed(failures) }
}

/// Holds the texts of a case against a grammar and its source.
pub fn judge_texts(world: &World, grammar: &Arc<Grammar>, source: &str, case: &Value) -> Vec<String> {
    let Some(naive) = Naive::parse(source) else { return vec!["the judge cannot read the grammar".into()] };
    let mut constraint = match Constraint::new(grammar.clone(), world.trie.clone()) {
        Ok(constraint) => constraint,
        Err(error) => return vec![format!("no constraint: {error}")],
    };
    let mut failures = Vec::new();
    for (list, accepted, viable) in
        [("accepts", Some(true), Some(true)), ("rejects", Some(false), None), ("incomplete", Some(false), Some(true))]
    {
        for text in case[list].as_array().into_iter().flatten() {
            let items = items(world, text);
            let verdicts = [
                ("naive", by_naive(&naive, world, &items)),
                ("bytes", by_bytes(grammar, &items)),
                ("short tokens", by_tokens(&mut constraint, world, &items, |_| 0)),
                ("long tokens", by_tokens(&mut constraint, world, &items, |count| count - 1)),
            ];
            for (judge, verdict) in verdicts {
                let Some((is_accepted, is_viable)) = verdict else { continue };
                if accepted.is_some_and(|accepted| accepted != is_accepted)
                    || viable.is_some_and(|viable| viable != is_viable)
                {
                    failures.push(format!("{list} {text}: {judge} says accepted {is_accepted}, viable {is_viable}"));
                }
            }
        }
    }
    failures
}

/// A text, or a token by its id.
enum Piece {
    Text(String),
    Token(TokenId),
}

fn items(_world: &World, text: &Value) -> Vec<Piece> {
    let piece = |piece: &Value| match piece {
        Value::Number(id) => Piece::Token(id.as_u64().unwrap_or(u64::MAX) as TokenId),
        other => Piece::Text(other.as_str().unwrap_or_default().to_owned()),
    };
    match text {
        Value::Array(pieces) => pieces.iter().map(piece).collect(),
        other => vec![piece(other)],
    }
}

fn by_naive(naive: &Naive, world: &World, items: &[Piece]) -> Option<(bool, bool)> {
    let input = match items {
        [Piece::Text(text)] => Input::text(text),
        _ => {
            let mut tokens = Vec::new();
            for item in items {
                match item {
                    Piece::Token(id) => tokens.push(*id),
                    Piece::Text(text) => tokens.extend(world.tokens(text.as_bytes(), |_| 0)),
                }
            }
            let text = |id: &TokenId| (*id, std::str::from_utf8(world.vocabulary.bytes(*id)).unwrap_or_default());
            Input::tokens(tokens.iter().map(text))
        }
    };
    let verdict = naive.judge(&input);
    Some((verdict.accepted, verdict.viable))
}

fn by_bytes(grammar: &Grammar, items: &[Piece]) -> Option<(bool, bool)> {
    let [Piece::Text(text)] = items else { return None };
    Some((grammar.matches(text.as_bytes()), grammar.begins(text.as_bytes())))
}

/// Through masks: each token must be in the mask exactly if it can be pushed. `None` if a limit is reached.
pub fn by_tokens(
    constraint: &mut Constraint,
    world: &World,
    items: &[impl AsPiece],
    mut choose: impl FnMut(usize) -> usize,
) -> Option<(bool, bool)> {
    constraint.reset();
    for item in items {
        let tokens = match item.as_piece() {
            Ok(id) => vec![id],
            Err(text) => world.tokens(text, &mut choose),
        };
        for token in tokens {
            let allowed = constraint.mask(None).ok()?.allows(token);
            let pushed = constraint.push(token).is_ok();
            assert_eq!(allowed, pushed, "mask and push disagree about token {token}");
            if !pushed {
                return Some((false, false));
            }
        }
    }
    let accepted = constraint.mask(None).ok()?.allows(World::EOS);
    assert_eq!(accepted, constraint.is_complete());
    Some((accepted, true))
}

/// A token or a text.
pub trait AsPiece {
    fn as_piece(&self) -> Result<TokenId, &[u8]>;
}

impl AsPiece for Piece {
    fn as_piece(&self) -> Result<TokenId, &[u8]> {
        match self {
            Self::Token(id) => Ok(*id),
            Self::Text(text) => Err(text.as_bytes()),
        }
    }
}

impl AsPiece for &[u8] {
    fn as_piece(&self) -> Result<TokenId, &[u8]> {
        Err(self)
    }
}
