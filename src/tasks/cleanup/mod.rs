//! Speech into writing: rules propose typed, reversible edits, and nothing that was not said can appear.
//!
//! ```text
//! raw ─▶ words ─▶ proposers ─▶ draft ─▶ tagger ─▶ marks, case ─▶ edits
//! ```
//!
//! `words` gives every word its bytes in the raw text. Each proposer is one file, looks at a `draft` and changes
//! nothing: `spoken` marks, `noises`, `fillers`, `repeats`, `fragments`, `corrections` and the `repairs` that they make
//! likely, `discourse` phrases, the `dictionary`, `numbers`. The draft accepts what the level allows, `assemble` turns decisions into edits, and
//! `cleaner` runs it all block by block. `guard` holds a model's free rewrite to the words that were said.

mod assemble;
pub(super) mod case;
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
mod identifiers;
pub(super) mod language;
mod layout;
pub(super) mod lexicon;
mod live;
mod marks;
mod noises;
mod numbers;
mod options;
mod questions;
mod repairs;
mod repeats;
pub mod rewrite;
mod rough;
mod spoken;
mod tagger;
mod witness;
pub(super) mod words;

pub use cleaner::{Cleaned, Cleaner, clean, interruptions};
pub use edit::{Decider, Edit, EditKind, apply, revert};

pub(crate) use edit::two_decimals;
pub use guard::{Rejection, guard};
pub use live::{LiveCleaner, Settled};
pub use options::{CleanupOptions, Level, Lines, MAX_TERM_BYTES, MAX_TERMS, Preset, PresetRules};
pub use repairs::{Interrupted, RepairAnswer, RepairCandidate, RepairQuestion};

/// Takes in the file of the network that sets marks, where it is not a part of the program: in a browser. A second time
/// changes nothing.
///
/// # Errors
/// `invalid-argument` if it is not the network of this version.
pub fn read_marks_network(file: Vec<u8>) -> crate::error::Result<()> {
    tagger::provide(file)
}
pub use witness::{Asking, MarkAnswer, MarkQuestion, mark_questions};

/// Counts up with every change of what the rules do.
pub const RULES_VERSION: &str = "6";
