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
//! | `matcher`, `run` | bytes against a program; runs of characters that make no difference |
//! | `mask` | tokens against a matcher: the only file that knows tokens |

mod ast;
mod charset;
mod check;
mod compile;
mod distance;
mod grouped;
mod mask;
mod matcher;
mod parse;
mod program;
mod run;
mod utf8;

use std::fmt;
use std::sync::Arc;

use crate::error::Result;
use crate::tokenizer::Vocabulary;

pub use compile::{MAX_EDGES, MAX_STATES};
pub use mask::{Constraint, TokenMask};
pub use parse::{Dialect, MAX_REPETITIONS, MAX_TEXT_BYTES, MAX_UPPER_BOUND};

use matcher::{DEAD, Matcher};
use program::{INFINITE, MAX_DISTANCE, Program};

/// A compiled grammar: a set of texts. Immutable; one serves all outputs, vocabularies and threads.
#[derive(Clone)]
pub struct Grammar(Arc<Program>);

impl Grammar {
    /// Compiles a text of GBNF.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidGrammar`](crate::ErrorKind::InvalidGrammar) with the line, the column and what was expected
    /// there ([`Detail::Position`](crate::error::Detail::Position)), or with the limit that the text exceeds
    /// ([`Detail::Limit`](crate::error::Detail::Limit)).
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

    /// Whether the whole text is a sentence of the grammar. Items that stand for whole tokens match no text.
    pub fn matches(&self, text: &[u8]) -> bool {
        let (matcher, config) = self.read(text);
        matcher.is_complete(config)
    }

    /// Whether some sentence of the grammar begins with the text.
    pub fn begins(&self, text: &[u8]) -> bool {
        self.read(text).1 != DEAD
    }

    /// The length of the shortest sentence, in bytes; a token item counts as one.
    pub fn min_bytes(&self) -> usize {
        let mut matcher = Matcher::new(self.0.clone(), self.0.distances.clone());
        let start = matcher.start();
        matcher.need(start) as usize
    }

    fn read(&self, text: &[u8]) -> (Matcher, matcher::SetId) {
        let mut matcher = Matcher::new(self.0.clone(), self.0.distances.clone());
        let mut configs = [matcher.start()];
        for byte in text {
            if matcher.is_full() {
                matcher.compact(&mut configs);
            }
            configs[0] = matcher.step(configs[0], *byte);
        }
        (matcher, configs[0])
    }

    fn program(&self) -> &Arc<Program> {
        &self.0
    }
}

impl fmt::Debug for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grammar").field("states", &self.0.len()).finish_non_exhaustive()
    }
}

fn compile(ast: &ast::Ast, facts: &check::Facts, root: ast::RuleId) -> Result<Grammar, parse::Fault> {
    let program = compile::compile(ast, facts, root)?;
    let grammar = Grammar(Arc::new(program));
    if grammar.min_bytes() == INFINITE as usize {
        let (shortest, limit) = (u64::from(MAX_DISTANCE) + 1, u64::from(MAX_DISTANCE));
        return Err(parse::Fault::limit(0, "the shortest sentence is too long, in bytes", shortest, limit));
    }
    Ok(grammar)
}
