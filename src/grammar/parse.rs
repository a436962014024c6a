//! GBNF text → tree.
//!
//! ```text
//! grammar      = { rule }
//! rule         = name "::=" alternatives
//! alternatives = sequence { "|" sequence }              any sequence may be empty
//! sequence     = { item { repeat } }
//! item         = literal | class | "." | name | token | "(" alternatives ")"
//! literal      = '"' { character | escape } '"'
//! class        = "[" [ "^" ] { member [ "-" member ] } "]"
//! token        = [ "!" ] "<" ( "[" number "]" | text ) ">"
//! repeat       = "*" | "+" | "?" | "{" number [ "," [ number ] ] "}"
//! escape       = "\" ( "x" 2 hex | "u" 4 hex | "U" 8 hex | one of t r n \ " [ ] - )
//! name         = one or more of A-Z a-z 0-9 - _
//! ```
//!
//! Spaces, tabs, line breaks and comments (`#` to the end of the line) may stand between any two of these. A rule ends
//! where a line begins with `name ::=`. One pass with a stack of open groups: no text can nest too deep.

use std::collections::HashMap;

use super::ast::{Ast, NodeId, RuleId};
use super::charset::CharSet;
use crate::error::{Detail, Error, ErrorKind, Result};
use crate::tokenizer::{TokenId, Vocabulary};

/// The longest text of a grammar, in bytes. Ours have hundreds; a schema's can have thousands.
pub const MAX_TEXT_BYTES: usize = 4 << 20;

/// The most often that an item can be required, and the most that the counts of nested repetitions can multiply to.
/// llama.cpp has the same limit. An upper bound may be larger, since it is counted instead of copied.
pub const MAX_REPETITIONS: u32 = 2000;

/// The largest upper bound of a repetition.
pub const MAX_UPPER_BOUND: u32 = 1_000_000;

/// Which texts are grammars, where engines differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Line breaks are free everywhere; a byte order mark is skipped; a rule is defined once.
    #[default]
    Free,
    /// As llama.cpp: outside of parentheses a line break ends the rule unless it follows `::=` or `|`; a byte order
    /// mark is a fault; a later definition of a rule replaces the earlier one.
    LlamaCpp,
}

/// What is wrong with a grammar, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// In bytes from the start of the text.
    pub at: usize,
    pub expected: String,
    pub message: &'static str,
    pub limit: Option<(u64, u64)>,
}

impl Fault {
    pub fn new(at: usize, message: &'static str, expected: impl Into<String>) -> Self {
        Self { at, expected: expected.into(), message, limit: None }
    }

    pub fn limit(at: usize, message: &'static str, requested: u64, available: u64) -> Self {
        Self { at, expected: String::new(), message, limit: Some((requested, available)) }
    }

    /// The fault as an error with line and column in that text.
    pub fn in_text(self, text: &str) -> Error {
        let (line, column) = position(text, self.at);
        if let Some((requested, available)) = self.limit {
            let message = self.message;
            let message = format!("{message} at line {line}, column {column}: {requested}, at most {available}");
            return Error::new(ErrorKind::InvalidGrammar, message).with_detail(Detail::Limit { requested, available });
        }
        let message = format!("{} at line {line}, column {column}: expected {}", self.message, self.expected);
        let detail = Detail::Position { line, column, expected: self.expected };
        Error::new(ErrorKind::InvalidGrammar, message).with_detail(detail)
    }
}

/// Line and column, from 1, of a byte offset. A line ends with LF, CR or both; the column counts characters.
fn position(text: &str, at: usize) -> (u32, u32) {
    let before = text.get(..at).unwrap_or(text);
    let bytes = before.as_bytes();
    let ends_line = |i: usize| bytes[i] == b'\n' || (bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n'));
    let breaks = (0..bytes.len()).filter(|i| ends_line(*i));
    let (count, start) = breaks.fold((0, 0), |(count, _), i| (count + 1, i + 1));
    (count + 1, before[start..].chars().count() as u32 + 1)
}

/// A parsed text: the tree, and the rule that generation starts from.
#[derive(Debug)]
pub(super) struct Parsed {
    pub ast: Ast,
    pub root: RuleId,
}

/// Parses a text.
///
/// `vocabulary` resolves tokens named by their text, such as `<think>`; without it they are refused.
pub(super) fn parse(text: &str, vocabulary: Option<&Vocabulary>, dialect: Dialect) -> Result<Parsed, Fault> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(Fault::limit(0, "the grammar is too long, in bytes", text.len() as u64, MAX_TEXT_BYTES as u64));
    }
    let (counts, names, named) = (HashMap::new(), HashMap::new(), HashMap::new());
    Parser { text, at: 0, dialect, vocabulary, ast: Ast::default(), counts, names, named }.grammar()
}

struct Parser<'t> {
    text: &'t str,
    /// The next unread byte; always at a character boundary.
    at: usize,
    dialect: Dialect,
    vocabulary: Option<&'t Vocabulary>,
    ast: Ast,
    /// What the counts inside a node multiply to, where that is not 1.
    counts: HashMap<NodeId, u32>,
    names: HashMap<&'t str, Name>,
    /// Tokens that have been named by their text: to find one may take a look at the whole vocabulary.
    named: HashMap<&'t str, TokenId>,
}

struct Name {
    rule: RuleId,
    first_use: usize,
    defined: bool,
}

/// An open group, or the rule itself.
struct Level {
    opened_at: usize,
    alternatives: Vec<NodeId>,
    sequence: Vec<NodeId>,
    last: Last,
    counts: u32,
}

/// What the item before the reading position is to an operator that follows.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    /// There is none, or it is an empty literal or class.
    Nothing,
    Item,
    /// An item with an operator that allows none of it.
    Optional,
}

impl Level {
    fn new(opened_at: usize) -> Self {
        Self { opened_at, alternatives: Vec::new(), sequence: Vec::new(), last: Last::Nothing, counts: 1 }
    }
}

const ITEM: &str = "a literal, a class, a rule name, a token, '.', '(', '|' or the next rule";

impl<'t> Parser<'t> {
    fn grammar(mut self) -> Result<Parsed, Fault> {
        if self.dialect == Dialect::Free {
            self.eat("\u{FEFF}");
        }
        self.skip_blank(true);
        while self.at < self.text.len() {
            self.rule()?;
            self.skip_blank(true);
        }
        let undefined = self.names.values().filter(|name| !name.defined).map(|name| name.first_use).min();
        if let Some(at) = undefined {
            return Err(Fault::new(at, "this rule is not defined", "the name of a rule with a definition"));
        }
        match self.names.get("root") {
            Some(root) => Ok(Parsed { root: root.rule, ast: self.ast }),
            None => Err(Fault::new(self.at, "there is no rule to start from", "a rule named root")),
        }
    }

    fn rule(&mut self) -> Result<(), Fault> {
        let at = self.at;
        let name = self.name().ok_or_else(|| Fault::new(at, "this is not a rule", "the name of a rule"))?;
        self.skip_blank(self.dialect == Dialect::Free);
        if !self.eat("::=") {
            return Err(Fault::new(self.at, "a rule without a definition", "'::='"));
        }
        let rule = self.rule_named(name, at);
        let entry = self.names.get_mut(name).expect("rule_named has made the entry");
        let repeated = std::mem::replace(&mut entry.defined, true);
        if repeated && self.dialect == Dialect::Free {
            return Err(Fault::new(at, "this rule is already defined", "a name that is not taken"));
        }
        self.ast.locate(rule, at);
        self.skip_free_break();
        let body = self.alternatives()?;
        self.ast.define(rule, body);
        Ok(())
    }

    /// Reads alternatives up to the end of the rule.
    fn alternatives(&mut self) -> Result<NodeId, Fault> {
        let mut level = Level::new(self.at);
        let mut outer: Vec<Level> = Vec::new();
        loop {
            let grouped = !outer.is_empty();
            let line_break = self.skip_blank(grouped || self.dialect == Dialect::Free);
            let at = self.at;
            let Some(next) = self.peek() else {
                if grouped {
                    return Err(Fault::new(level.opened_at, "a group without an end", "')' after it"));
                }
                return Ok(self.close(level));
            };
            match next {
                '|' => {
                    self.at += 1;
                    self.skip_free_break();
                    self.end_sequence(&mut level);
                }
                '(' => {
                    self.at += 1;
                    outer.push(std::mem::replace(&mut level, Level::new(at)));
                }
                ')' => {
                    let Some(parent) = outer.pop() else {
                        return Err(Fault::new(at, "a parenthesis that nothing opened", ITEM));
                    };
                    self.at += 1;
                    let closed = std::mem::replace(&mut level, parent);
                    let counts = closed.counts;
                    let node = self.close(closed);
                    self.push(&mut level, node, counts);
                }
                '*' | '+' | '?' | '{' => self.repeat(&mut level)?,
                '"' => {
                    let node = self.literal()?;
                    self.push_unless_empty(&mut level, node);
                }
                '[' => {
                    let node = self.class()?;
                    self.push_unless_empty(&mut level, node);
                }
                '.' => {
                    self.at += 1;
                    let node = self.ast.set(CharSet::any());
                    self.push(&mut level, node, 1);
                }
                '<' | '!' => {
                    let node = self.token()?;
                    self.push(&mut level, node, 1);
                }
                '\n' | '\r' => return Ok(self.close(level)), // skipped above unless it ends the rule
                _ => {
                    let Some(name) = self.name() else {
                        let expected = if grouped { "an item, '|' or ')'" } else { ITEM };
                        return Err(Fault::new(at, "this does not belong into a rule", expected));
                    };
                    if line_break && !grouped && self.before_definition() {
                        self.at = at;
                        return Ok(self.close(level));
                    }
                    let rule = self.rule_named(name, at);
                    let node = self.ast.reference(rule);
                    self.push(&mut level, node, 1);
                }
            }
        }
    }

    fn push(&mut self, level: &mut Level, node: NodeId, counts: u32) {
        level.sequence.push(node);
        level.last = Last::Item;
        if counts > 1 {
            self.counts.insert(node, counts);
        }
        level.counts = level.counts.max(counts);
    }

    /// An empty literal or class adds nothing, not even something to repeat.
    fn push_unless_empty(&mut self, level: &mut Level, node: Option<NodeId>) {
        match node {
            Some(node) => self.push(level, node, 1),
            None => level.last = Last::Nothing,
        }
    }

    fn end_sequence(&mut self, level: &mut Level) {
        let sequence = self.ast.seq(&level.sequence);
        level.alternatives.push(sequence);
        level.sequence.clear();
        level.last = Last::Nothing;
    }

    fn close(&mut self, mut level: Level) -> NodeId {
        self.end_sequence(&mut level);
        self.ast.alt(&level.alternatives)
    }

    /// Reads an operator and applies it to the last item.
    fn repeat(&mut self, level: &mut Level) -> Result<(), Fault> {
        let at = self.at;
        let (min, max) = match self.next() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            _ => self.counts()?,
        };
        let (Some(child), true) = (level.sequence.last_mut(), level.last != Last::Nothing) else {
            return Err(Fault::new(at, "nothing to repeat", ITEM));
        };
        if level.last == Last::Optional && max.is_none() {
            let message = "an item that may be absent is repeated without bound";
            return Err(Fault::new(at, message, "one operator instead of two"));
        }
        // As llama.cpp counts: an upper bound beyond the limit weighs nothing by itself.
        let weight = max.filter(|max| *max <= MAX_REPETITIONS).unwrap_or(min).max(1);
        let product = weight.saturating_mul(self.counts.get(child).copied().unwrap_or(1));
        let widest = u64::from(min.max(product));
        if widest > u64::from(MAX_REPETITIONS) {
            return Err(Fault::limit(at, "too many repetitions", widest, u64::from(MAX_REPETITIONS)));
        }
        *child = self.ast.rep(*child, min, max);
        if product > 1 {
            self.counts.insert(*child, product);
            level.counts = level.counts.max(product);
        }
        level.last = if min == 0 { Last::Optional } else { Last::Item };
        Ok(())
    }

    /// Reads `m}`, `m,}` or `m,n}` after the opening brace.
    fn counts(&mut self) -> Result<(u32, Option<u32>), Fault> {
        self.skip_blank(true);
        let min = self.number()?;
        self.skip_blank(true);
        let mut max = Some(min);
        if self.eat(",") {
            self.skip_blank(true);
            let at = self.at;
            max = if self.peek() == Some('}') { None } else { Some(self.number()?) };
            self.skip_blank(true);
            if max.is_some_and(|max| max < min) {
                return Err(Fault::new(at, "the most is below the least", format!("a number from {min}")));
            }
        }
        match self.eat("}") {
            true => Ok((min, max)),
            false => Err(Fault::new(self.at, "an unfinished repetition", "',' or '}'")),
        }
    }

    fn number(&mut self) -> Result<u32, Fault> {
        let at = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(Fault::new(at, "an unfinished number", "a number"));
        }
        match digits.parse::<u32>() {
            Ok(number) if number <= MAX_UPPER_BOUND => Ok(number),
            number => {
                let number = number.map_or(u64::from(u32::MAX), u64::from);
                Err(Fault::limit(at, "this number is too large", number, u64::from(MAX_UPPER_BOUND)))
            }
        }
    }

    /// Reads a literal; `None` if it is empty.
    fn literal(&mut self) -> Result<Option<NodeId>, Fault> {
        let opened = self.at;
        self.at += 1;
        let mut text = String::new();
        let mut possible = true;
        let mut empty = true;
        while !self.eat("\"") {
            let code = self.character(opened, "a literal without an end", "'\"'")?;
            empty = false;
            match char::from_u32(code) {
                Some(c) => text.push(c),
                None => possible = false, // a surrogate or a number beyond Unicode: no text holds it
            }
        }
        let node = if possible { self.ast.literal(&text) } else { self.ast.never() };
        Ok((!empty).then_some(node))
    }

    /// Reads a class; `None` if it is `[]` or `[^]`, which llama.cpp reads as the empty text.
    fn class(&mut self) -> Result<Option<NodeId>, Fault> {
        const UNCLOSED: &str = "a class without an end";
        let opened = self.at;
        self.at += 1;
        let negated = self.eat("^");
        let mut ranges = Vec::new();
        while !self.eat("]") {
            let low = self.character(opened, UNCLOSED, "']'")?;
            let rest = &self.text.as_bytes()[self.at..];
            let is_range = rest.first() == Some(&b'-') && rest.get(1).is_some_and(|next| *next != b']');
            let high = if is_range {
                self.at += 1;
                self.character(opened, UNCLOSED, "']'")?
            } else {
                low
            };
            ranges.push((low, high));
        }
        if ranges.is_empty() {
            return Ok(None);
        }
        let set = CharSet::new(ranges);
        Ok(Some(self.ast.set(if negated { set.complement() } else { set })))
    }

    /// Reads a character of a literal or class, escaped or not.
    fn character(&mut self, opened: usize, unclosed: &'static str, expected: &'static str) -> Result<u32, Fault> {
        let at = self.at;
        let digits = match self.next() {
            None => return Err(Fault::new(opened, unclosed, expected)),
            Some('\\') => match self.next() {
                Some('x') => 2,
                Some('u') => 4,
                Some('U') => 8,
                Some('t') => return Ok(u32::from('\t')),
                Some('r') => return Ok(u32::from('\r')),
                Some('n') => return Ok(u32::from('\n')),
                Some(c @ ('\\' | '"' | '[' | ']' | '-')) => return Ok(u32::from(c)),
                _ => {
                    let expected = "one of \\x \\u \\U \\t \\r \\n \\\\ \\\" \\[ \\] \\-";
                    return Err(Fault::new(at, "an unknown escape", expected));
                }
            },
            Some(c) => return Ok(u32::from(c)),
        };
        let hex = self.text.as_bytes().get(self.at..self.at + digits);
        let hex = hex.filter(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        let Some(hex) = hex.and_then(|hex| std::str::from_utf8(hex).ok()) else {
            return Err(Fault::new(at, "an unfinished escape", format!("{digits} hexadecimal digits")));
        };
        self.at += digits;
        Ok(u32::from_str_radix(hex, 16).unwrap_or(u32::MAX)) // eight hexadecimal digits always fit
    }

    fn token(&mut self) -> Result<NodeId, Fault> {
        let negated = self.eat("!");
        let at = self.at;
        if !self.eat("<") {
            return Err(Fault::new(at, "a negation without a token", "'<'"));
        }
        let id = if self.eat("[") {
            let number_at = self.at;
            let digits = self.take_while(|c| c.is_ascii_digit());
            let id = digits.parse().map_err(|_| Fault::new(number_at, "this is not a token id", "a token id"))?;
            if !self.eat("]>") {
                return Err(Fault::new(self.at, "an unfinished token", "']>'"));
            }
            id
        } else {
            self.take_while(|c| !matches!(c, '>' | '\n' | '\r'));
            if !self.eat(">") {
                return Err(Fault::new(self.at, "an unfinished token", "'>'"));
            }
            self.token_named(&self.text[at..self.at]).ok_or_else(|| {
                Fault::new(at, "this is not the text of one token", "the text of a token of the model")
            })?
        };
        Ok(self.ast.token(id, negated))
    }

    /// The token of that text, angle brackets included.
    fn token_named(&mut self, text: &'t str) -> Option<TokenId> {
        if let Some(known) = self.named.get(text) {
            return Some(*known);
        }
        let vocabulary = self.vocabulary?;
        let spelt = || (0..vocabulary.len() as TokenId).find(|id| vocabulary.bytes(*id) == text.as_bytes());
        let id = vocabulary.special(text).or_else(spelt)?;
        self.named.insert(text, id);
        Some(id)
    }

    fn rule_named(&mut self, name: &'t str, at: usize) -> RuleId {
        let ast = &mut self.ast;
        let new = || Name { rule: ast.rule_named_at(at), first_use: at, defined: false };
        self.names.entry(name).or_insert_with(new).rule
    }

    fn name(&mut self) -> Option<&'t str> {
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        (!name.is_empty()).then_some(name)
    }

    /// Whether `::=` comes next, after blanks. Reads nothing.
    fn before_definition(&mut self) -> bool {
        let at = self.at;
        self.skip_blank(true);
        let found = self.text[self.at..].starts_with("::=");
        self.at = at;
        found
    }

    /// Skips spaces, comments and, if asked to, line breaks. Whether a line break was skipped.
    fn skip_blank(&mut self, line_breaks: bool) -> bool {
        let bytes = self.text.as_bytes();
        let mut skipped = false;
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b' ' | b'\t' => self.at += 1,
                b'\n' | b'\r' if line_breaks => {
                    self.at += 1;
                    skipped = true;
                }
                b'#' => {
                    let line = bytes[self.at..].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
                    self.at = line.map_or(bytes.len(), |length| self.at + length);
                }
                _ => break,
            }
        }
        skipped
    }

    /// Skips the line breaks after `::=` and `|` that do not end a rule in llama.cpp's dialect. In ours any may: what
    /// follows tells.
    fn skip_free_break(&mut self) {
        if self.dialect == Dialect::LlamaCpp {
            self.skip_blank(true);
        }
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = &self.text[self.at..];
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn eat(&mut self, expected: &str) -> bool {
        let found = self.text[self.at..].starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }
}
