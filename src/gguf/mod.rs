//! GGUF bytes, checked before they are used.

mod metadata;

pub use metadata::Metadata;
