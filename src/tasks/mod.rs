//! What Fairhand does with a text, apart from any model: prompts, grammars, result types and readers.
//!
//! | task | rules | model |
//! |---|---|---|
//! | [`cleanup`] | speech into writing, as reversible edits | an optional free rewrite, held to the words that were said |
//! | [`extract`] | reading the answer | the action items of a transcript |
//! | [`decompose`] | reading the answer | three to seven steps towards a task |
//! | [`tag`] | reading the answer | one topic and one intent |
//!
//! Everything here is a pure function of its input. A task knows the messages to send, the grammar that bounds the
//! answer and how to read it; it does not know who generates.

pub mod cleanup;
pub mod decompose;
pub mod extract;
pub mod feedback;
pub mod prompt;
pub(crate) mod reader;
pub mod tag;

pub use crate::tokenizer::{Message, Role};
