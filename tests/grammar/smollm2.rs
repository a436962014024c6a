//! The vocabulary of the default model.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use candle_core::quantized::gguf_file::Content;
use fairhand::gguf::Metadata;
use fairhand::tokenizer::{TokenTrie, Tokenizer};

/// The tokenizer and the token trie of SmolLM2-135M-Instruct.
pub static SMOLLM2: LazyLock<(Tokenizer, Arc<TokenTrie>)> = LazyLock::new(|| {
    let path = std::env::var_os("FAIRHAND_MODEL").map(PathBuf::from).unwrap_or_else(|| {
        let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")).unwrap_or_default();
        let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from);
        cache.join("fairhand/models/SmolLM2-135M-Instruct.Q4_1.gguf")
    });
    let tokenizer = tokenizer(&path);
    let trie = Arc::new(TokenTrie::new(tokenizer.vocabulary()));
    (tokenizer, trie)
});

/// The tokenizer of a model's file.
pub fn tokenizer(path: &Path) -> Tokenizer {
    let mut file = File::open(path).unwrap_or_else(|e| panic!("{}: {e}; run the set-up first", path.display()));
    let metadata = Metadata::new(Content::read(&mut file).expect("a sound file").metadata);
    Tokenizer::from_metadata(&metadata).expect("a tokenizer that is known")
}
