//! The grammar's rooms alone, so that nothing else of the crate has to be built with instrumentation.

#[path = "../src/error.rs"]
pub mod error;
#[path = "../src/grammar/mod.rs"]
pub mod grammar;

#[path = "."]
pub mod tokenizer {
    #[path = "../src/tokenizer/trie.rs"]
    pub mod trie;
    #[path = "../src/tokenizer/vocabulary.rs"]
    mod vocabulary;

    pub use trie::TokenTrie;
    pub use vocabulary::{SpecialTokens, TokenId, Vocabulary};
}

use std::sync::{Arc, LazyLock};

use grammar::{Constraint, Grammar};
use tokenizer::{SpecialTokens, TokenId, TokenTrie, Vocabulary};

/// Every byte, some pieces of several characters and halves of characters, and an end.
static TRIE: LazyLock<Arc<TokenTrie>> = LazyLock::new(|| {
    let longer = ["ab", "aaa", "\": ", "[[", "00", "hello", "é", "日本", "aaaaaaaaaaaaaaaaaaaa"];
    let mut pieces: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    pieces.extend(longer.map(|piece| piece.as_bytes().to_vec()));
    pieces.extend([vec![0xF0, 0x9F], vec![b'a', 0xE6], Vec::new()]);
    let eos = pieces.len() as TokenId - 1;
    let special = SpecialTokens { control: vec![("<e>".into(), eos)], eos, ..SpecialTokens::default() };
    Arc::new(TokenTrie::new(&Vocabulary::new(pieces, special).expect("a sound vocabulary")))
});

/// Follows a grammar along some choices: every allowed token can be pushed, and there always is one.
pub fn follow(grammar: Grammar, choices: &[u8]) {
    let Ok(mut constraint) = Constraint::new(Arc::new(grammar), TRIE.clone()) else { return };
    for choice in choices.iter().take(24) {
        let Ok(mask) = constraint.mask(None).cloned() else { return };
        let allowed: Vec<TokenId> = mask.iter().collect();
        assert!(!allowed.is_empty() && allowed.len() == mask.count());
        let next = allowed[usize::from(*choice) % allowed.len()];
        let other = TokenId::from(*choice);
        assert_eq!(constraint.push(other).is_ok(), mask.allows(other));
        constraint.rollback(usize::from(mask.allows(other)));
        constraint.push(next).expect("an allowed token");
        if constraint.is_finished() {
            return;
        }
    }
}
