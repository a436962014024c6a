//! Placeholder tour; see ARCHITECTURE.md.

pub mod completion;
pub mod decode;
pub mod error;
pub mod gguf;
pub mod grammar;
pub mod model;
pub mod tasks;
pub mod tokenizer;
pub mod transcript;
pub mod utf16;

pub use error::{Error, ErrorKind, Result};
