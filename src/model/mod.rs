//! The language model: token ids in, logits out.
//!
//! ```text
//! Header ─▶ Config ─┐
//! tensors ──────────┴─▶ Builder ─▶ Model (immutable)
//!                                    │
//!        token ids ─▶ Pass::step() ──┴── KvCache (append, truncate, fork) ─▶ logits
//! ```
//!
//! A [`Model`] is loaded once and never changes. What changes while it runs is in two places: the [`KvCache`], which
//! remembers the tokens so far, and a [`Pass`], which takes new tokens through the layers in steps of bounded time.
//!
//! The forward pass is this crate's own, and not candle-transformers', because sessions need to truncate and fork the
//! cache, and to stop in the middle of a prompt. candle-core still reads, holds, dequantises and multiplies every tensor
//! format that has no kernel of ours.

mod attention;
mod config;
mod forward;
pub mod kernels;
mod kv;
mod layer;
mod layout;
mod math;
mod matrix;
mod memory;
mod rope;
mod tree;
mod weights;

pub use config::{Activation, Architecture, Config, Window};
pub use forward::{Pass, Progress};
pub use kv::{KvCache, KvType};
pub use rope::{Pairing, Rotation, Scaling};
pub use tree::{TokenTree, TreePass, TreeProgress};
pub use weights::{Builder, Model};

/// Reads a model out of a GGUF file, in pieces of any size.
pub type Loader = crate::gguf::Loader<Builder>;
