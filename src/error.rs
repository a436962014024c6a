//! The one error type of the crate: a public kind with a stable code, and numbers a program can act on.
//!
//! Messages and details never hold the user's text: they are safe to log. The only exception is
//! [`Detail::Raw`], which carries a model's unusable output because the caller asked for that output.

use std::fmt;

use serde::Serialize;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, as a caller would tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The caller cancelled.
    Aborted,
    /// The work's own time limit passed.
    Timeout,
    /// The file is not a GGUF, is cut short, or contradicts itself.
    CorruptModel,
    /// A sound GGUF of an architecture that this build does not run.
    UnsupportedModel,
    /// A sound GGUF with a tensor format that this build does not multiply.
    UnsupportedQuant,
    /// The model or the context does not fit in memory.
    OutOfMemory,
    /// The prompt and the requested answer do not fit in the context.
    ContextOverflow,
    /// A GBNF text that does not parse, or that no text could satisfy.
    InvalidGrammar,
    /// A JSON Schema that cannot be turned into an exact grammar.
    InvalidSchema,
    /// The model's answer was empty or unreadable; the answer is kept in [`Detail::Raw`].
    InvalidStructuredOutput,
    /// The chat template does not parse or fails while rendering.
    Template,
    /// The tokenizer in the file is of a kind that this build does not know, or is inconsistent.
    Tokenizer,
    /// A request that can never work, whatever the model.
    InvalidArgument,
    /// A fault of this crate's own.
    Internal,
}

impl ErrorKind {
    /// The stable code that JavaScript sees. Codes are never renamed or reused.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Aborted => "aborted",
            Self::Timeout => "timeout",
            Self::CorruptModel => "corrupt-model",
            Self::UnsupportedModel => "unsupported-model",
            Self::UnsupportedQuant => "unsupported-quant",
            Self::OutOfMemory => "out-of-memory",
            Self::ContextOverflow => "context-overflow",
            Self::InvalidGrammar => "invalid-grammar",
            Self::InvalidSchema => "invalid-schema",
            Self::InvalidStructuredOutput => "invalid-structured-output",
            Self::Template => "template",
            Self::Tokenizer => "tokenizer",
            Self::InvalidArgument => "invalid-argument",
            Self::Internal => "internal",
        }
    }
}

/// The numbers and places behind an error, for programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Detail {
    /// A place in a text that the caller wrote. Line and column count from 1; the column counts characters.
    Position { line: u32, column: u32, expected: String },
    /// A JSON pointer into a schema that the caller wrote.
    Path { path: String },
    /// A limit and what was asked of it, in the unit that the message names.
    Limit { requested: u64, available: u64 },
    /// A time limit that has passed.
    Timeout { timeout_ms: f64 },
    /// Bytes that a grammar can need and that no token of the vocabulary spells.
    MissingBytes { missing_bytes: Vec<u8> },
    /// A model's output that could not be used, the last of so many.
    Raw { raw: String, attempts: u32 },
}

/// An error: its kind, a sentence for people, and where useful a [`Detail`] for programs.
#[derive(Clone, Debug, PartialEq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq)]
struct Inner {
    kind: ErrorKind,
    message: String,
    detail: Option<Detail>,
}

impl Error {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), detail: None }))
    }

    #[must_use]
    pub fn with_detail(mut self, detail: Detail) -> Self {
        self.0.detail = Some(detail);
        self
    }

    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    pub fn message(&self) -> &str {
        &self.0.message
    }

    pub fn detail(&self) -> Option<&Detail> {
        self.0.detail.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.message())
    }
}

impl std::error::Error for Error {}
