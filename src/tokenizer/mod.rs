//! Token ids ↔ bytes, text → ids, and the chat template, all from a GGUF's own metadata.

pub(crate) mod trie;
mod vocabulary;

pub use trie::TokenTrie;
pub use vocabulary::{MAX_TOKENS, MAX_TOTAL_BYTES, SpecialTokens, TokenId, Vocabulary};
