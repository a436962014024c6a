//! Fairhand turns what people *said* into what they would have *written*, on the machine where they said it.
//!
//! The crate runs a small quantised language model under a grammar, and gives its callers four powers: clean a
//! transcript, extract tasks, decompose a task, tag a note. It is compiled to WebAssembly and used through the npm
//! package of the same name; everything but the binding runs natively too.
//!
//! # A tour, in the order of the data
//!
//! - [`gguf`]: a model file's bytes, checked before they are used, as they arrive.
//! - [`tokenizer`]: token ids ↔ bytes, and chat templates, from the file's own metadata.
//! - [`grammar`]: what a model may write, as exact sets of tokens.
//! - [`model`]: token ids → logits, in steps of bounded time.
//! - [`decode`]: sessions, sampling, and answers in steps.
//! - [`transcript`]: files of recognised speech → text with times.
//! - [`tasks`]: the four powers without a model: rules, prompts, grammars, readers.
//! - [`completion`]: requests → jobs → outcomes. Start here: [`completion::Engine`].
//!
//! Every fallible function returns [`Error`], whose [`kind`](Error::kind) has a stable code.
//!
//! # Example
//!
//! Cleanup by rules needs no model:
//!
//! ```
//! use fairhand::tasks::cleanup::{CleanupOptions, clean};
//!
//! let cleaned = clean("um so the the meeting is at noon", &CleanupOptions::default())?;
//! assert_eq!(cleaned.text, "So the meeting is at noon.");
//! # Ok::<(), fairhand::Error>(())
//! ```

pub mod completion;
pub mod decode;
pub mod error;
pub mod gguf;
pub mod grammar;
pub mod model;
#[cfg(any(target_arch = "wasm32", test))]
mod shape;
pub mod tasks;
pub mod tokenizer;
pub mod transcript;
pub mod utf16;
#[cfg(target_arch = "wasm32")]
mod wasm;

pub use error::{Error, ErrorKind, Result};
