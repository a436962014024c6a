//! What a model may write: grammars (GBNF), compiled to bytes, as exact sets of allowed tokens.
//!
//! Data flows down this list:
//!
//! | file | holds |
//! |---|---|
//! | [`parse`](self) | text → tree, with the place of every fault |
//! | `ast`, `charset` | the tree; sets of characters |
//! | `check` | faults of whole trees: left recursion, rules that cannot end |
//! | `compile`, `utf8` | tree → program: automata over bytes, joined by calls |
//! | `program`, `distance` | the program, and how far each of its states is from an end |
//! | `matcher`, `run`, `rounds` | bytes against a program; runs of characters that make no difference; counts |
//! | `schema`, `regex`, `expr` | JSON Schema and regular expressions → GBNF |
//! | `learnt`, `mask` | tokens against a matcher: sets of tokens, and what is known of them |
//! | `constraint` | one output: which tokens may come, and which have come |
//!
//! # The language
//!
//! The syntax is in `parse.rs`. All that llama.cpp accepts is accepted and means the same, but for what this table says;
//! [`Dialect::LlamaCpp`] restores the rows marked with a star, to see whether a grammar will do elsewhere.
//!
//! | what | llama.cpp | here | because |
//! |---|---|---|---|
//! | line break before `::=`, `\|`, an operator or the next item * | ends the rule: a fault | free | blanks never break a grammar |
//! | byte order mark * | a fault | skipped | editors put it there |
//! | second definition of a rule * | replaces the first | a fault | it is a mistake |
//! | `_` in names | a fault, against its manual | allowed | the manual |
//! | rule that no text can satisfy | accepted, leads into dead ends | a fault | every allowed token must have a future |
//! | left recursion behind a rule that is empty in two steps | exhausts memory | a fault | it is left recursion |
//! | `()*` | a fault | the empty text | it means something |
//! | `{3,2}` | hangs | a fault | no number is in the range |
//! | `{0,2001}` | no bound at all | at most 2001, up to 1,000,000 | bounds are counted |
//! | counts whose least, or whose product when nested, exceeds 2000 | a fault | a fault | |
//! | `"a"**`, `""*` | faults | faults | nothing new is repeated |
//! | `[]`, `[^]` | the empty text | the empty text | |
//! | NUL in a grammar | ends it | a fault | nothing is ignored silently |
//! | the token of the NUL byte | never allowed | allowed where the byte is | masks are exact |
//! | control tokens | match by their visible text | never match as text | they are not text |
//! | token items in the middle of a token | offered, then refused | only where a token begins | mask and push agree |
//!
//! Limits: [`MAX_TEXT_BYTES`], [`MAX_REPETITIONS`], [`MAX_UPPER_BOUND`], [`MAX_STATES`], [`MAX_EDGES`], 2²⁶ empty steps
//! between states, and a shortest sentence of 16 MiB. Nesting has none. Ambiguity has one where a text is read, not in the
//! grammar: [`MAX_WORK`]; and of a text's readings no more is kept than 2²⁰ places in rules.

mod ast;
mod charset;
mod check;
mod compile;
mod constraint;
mod distance;
mod expr;
mod grouped;
mod learnt;
mod mask;
mod matcher;
mod parse;
mod program;
mod regex;
mod rounds;
mod run;
mod schema;
mod utf8;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Detail, Error, ErrorKind, Result};
use crate::tokenizer::Vocabulary;

pub use compile::{MAX_EDGES, MAX_STATES};
pub use constraint::Constraint;
pub use mask::TokenMask;
pub use matcher::MAX_WORK;
pub use parse::{Dialect, MAX_REPETITIONS, MAX_TEXT_BYTES, MAX_UPPER_BOUND};
pub use schema::json_schema_to_gbnf;

use learnt::Learnt;
use matcher::{DEAD, Matcher};
use program::{INFINITE, MAX_DISTANCE, Program};

/// What each byte of a text that is [judged](Grammar::judge) adds to the work that may be done.
const WORK_PER_BYTE: usize = 1 << 14;

/// A compiled grammar: a set of texts. Immutable; one serves all outputs, vocabularies and threads. What a
/// [`Constraint`] learns about it is kept beside it for the next one.
#[derive(Clone)]
pub struct Grammar(Arc<Shared>);

/// What a text is to a [`Grammar`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is a sentence; it may be the beginning of others, too.
    Sentence,
    /// It is none, but some begin with it.
    Beginning,
    /// No sentence begins with it.
    Nothing,
}

struct Shared {
    program: Arc<Program>,
    /// What the last constraint has learnt, for the next one.
    learnt: Mutex<Option<Box<Learnt>>>,
}

impl Grammar {
    /// Compiles a text of GBNF.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidGrammar`] with the line, the column and what was expected
    /// there ([`Detail::Position`]), or with the limit that the text exceeds
    /// ([`Detail::Limit`]).
    pub fn parse(gbnf: &str) -> Result<Self> {
        Self::parse_as(gbnf, None, Dialect::Free)
    }

    /// Compiles a text of GBNF in a given dialect. `vocabulary` resolves tokens that are named by their text, such as
    /// `<think>`; without one they are a fault.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn parse_as(gbnf: &str, vocabulary: Option<&Vocabulary>, dialect: Dialect) -> Result<Self> {
        let compiled = parse::parse(gbnf, vocabulary, dialect).and_then(|parsed| {
            let facts = check::check(&parsed.ast)?;
            compile(&parsed.ast, &facts, parsed.root)
        });
        compiled.map_err(|fault| fault.in_text(gbnf))
    }

    /// Compiles the JSON texts that are valid against a schema; see [`json_schema_to_gbnf`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidSchema`] with the path of the keyword at fault ([`Detail::Path`]).
    pub fn from_json_schema(schema: &serde_json::Value) -> Result<Self> {
        // What passes the conversion and is refused here refers to itself without an end, or is too large.
        Self::parse(&json_schema_to_gbnf(schema)?).map_err(|error| {
            let message = format!("the schema has no finite grammar: {}", error.message());
            Error::new(ErrorKind::InvalidSchema, message).with_detail(Detail::Path { path: String::new() })
        })
    }

    /// Compiles the texts that a regular expression matches as a whole; see [`regex_to_gbnf`].
    ///
    /// # Errors
    ///
    /// As [`regex_to_gbnf`].
    pub fn from_regex(pattern: &str) -> Result<Self> {
        Self::parse(&regex_to_gbnf(pattern)?)
    }

    /// Whether the whole text is a sentence of the grammar. Items that stand for whole tokens match no text. A text
    /// that cannot be [judged](Self::judge) is not matched.
    pub fn matches(&self, text: &[u8]) -> bool {
        self.judge(text).is_ok_and(|verdict| verdict == Verdict::Sentence)
    }

    /// Whether some sentence of the grammar begins with the text. A text that cannot be [judged](Self::judge) begins none.
    pub fn begins(&self, text: &[u8]) -> bool {
        self.judge(text).is_ok_and(|verdict| verdict != Verdict::Nothing)
    }

    /// What a text is to the grammar.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidGrammar`] with [`Detail::Limit`] if it can be read in so many ways that it would take more
    /// than [`MAX_WORK`] and 16,384 for each byte, or is so deep in rules that keeping its place takes too much memory.
    pub fn judge(&self, text: &[u8]) -> Result<Verdict> {
        let mut matcher = self.matcher();
        let mut configs = [matcher.start()];
        for byte in text {
            matcher.allow(WORK_PER_BYTE);
            if matcher.is_full() {
                matcher.compact(&mut configs);
                if matcher.is_full() {
                    return Err(learnt::too_large());
                }
            }
            configs[0] = matcher.step(configs[0], *byte);
            if matcher.is_exhausted() {
                return Err(learnt::too_ambiguous());
            }
        }
        Ok(match configs[0] {
            DEAD => Verdict::Nothing,
            config if matcher.is_complete(config) => Verdict::Sentence,
            _ => Verdict::Beginning,
        })
    }

    /// The length of the shortest sentence, in bytes; a token item counts as one.
    pub fn min_bytes(&self) -> usize {
        let mut matcher = self.matcher();
        let start = matcher.start();
        matcher.need(start) as usize
    }

    fn program(&self) -> &Arc<Program> {
        &self.0.program
    }

    fn matcher(&self) -> Matcher {
        Matcher::new(self.program().clone(), self.program().distances.clone())
    }

    /// A constraint that panics while it holds the lock leaves nothing half done.
    fn learnt(&self) -> MutexGuard<'_, Option<Box<Learnt>>> {
        self.0.learnt.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of a grammar whose sentences are the texts that a regular expression matches as a whole.
///
/// The language is the regular part of ECMA-262's: characters, `.`, classes, `\d \w \s` and their opposites, escapes,
/// groups, alternatives, quantifiers, and anchors at the ends.
///
/// # Errors
///
/// [`ErrorKind::InvalidGrammar`] with the column at fault and what would have been understood there; look-around, back
/// references, `\b` and `\p{…}` are such faults.
///
/// # Example
///
/// ```
/// use fairhand::grammar::Grammar;
///
/// let grammar = Grammar::from_regex(r"[a-z]+(-\d{2,4})?")?;
/// assert!(grammar.matches(b"note-2026") && !grammar.matches(b"note-1"));
/// # Ok::<(), fairhand::Error>(())
/// ```
pub fn regex_to_gbnf(pattern: &str) -> Result<String> {
    match regex::read(pattern, regex::Beside::Nothing) {
        Ok(expr) => Ok(format!("root ::= {expr}\n")),
        Err(regex::RegexFault { column, expected }) => {
            let message = format!("a regular expression is not understood at character {column}: expected {expected}");
            let detail = Detail::Position { line: 1, column, expected: expected.to_owned() };
            Err(Error::new(ErrorKind::InvalidGrammar, message).with_detail(detail))
        }
    }
}

impl fmt::Debug for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grammar").field("states", &self.program().len()).finish_non_exhaustive()
    }
}

fn compile(ast: &ast::Ast, facts: &check::Facts, root: ast::RuleId) -> Result<Grammar, parse::Fault> {
    let program = compile::compile(ast, facts, root)?;
    let grammar = Grammar(Arc::new(Shared { program: Arc::new(program), learnt: Mutex::new(None) }));
    if grammar.min_bytes() == INFINITE as usize {
        let (shortest, limit) = (u64::from(MAX_DISTANCE) + 1, u64::from(MAX_DISTANCE));
        return Err(parse::Fault::limit(0, "the shortest sentence is too long, in bytes", shortest, limit));
    }
    Ok(grammar)
}
