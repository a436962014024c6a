//! Speech into writing: rules propose typed, reversible edits, and nothing that was not said can appear.
//!
//! ```text
//! raw ─▶ words ─▶ proposers ─▶ draft ─▶ tagger ─▶ marks, case ─▶ edits
//! ```
//!
//! `words` gives every word its bytes in the raw text. Each proposer is one file, looks at a `draft` and changes
//! nothing: `spoken` marks, `fillers`, `repeats`, `fragments`, `corrections`, `discourse` phrases, the
//! `dictionary`, `numbers`. The draft accepts what the level allows, `assemble` turns decisions into edits, and
//! `cleaner` runs it all block by block. `guard` holds a model's free rewrite to the words that were said.

mod assemble;
mod case;
mod cleaner;
mod commas;
mod corrections;
mod dictionary;
mod discourse;
mod draft;
mod edit;
mod fillers;
mod fragments;
mod guard;
pub(super) mod language;
pub(super) mod lexicon;
mod marks;
mod numbers;
mod options;
mod questions;
mod repeats;
pub mod rewrite;
mod spoken;
mod tagger;
pub(super) mod words;

pub use cleaner::{Cleaned, Cleaner, clean};
pub use edit::{Decider, Edit, EditKind, apply, revert};

pub(crate) use edit::two_decimals;
pub use guard::{Rejection, guard};
pub use options::{CleanupOptions, Level, MAX_TERM_BYTES, MAX_TERMS, Preset, PresetRules};

/// Counts up with every change of what the rules do.
pub const RULES_VERSION: &str = "2";
