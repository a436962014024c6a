//! Sets of tokens.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::tokenizer::trie::{insert_all, insert_range, ones};
use crate::tokenizer::{TokenId, TokenTrie};

/// A set of tokens: those that may come next.
#[derive(Clone)]
pub struct TokenMask {
    trie: Arc<TokenTrie>,
    /// One bit per rank.
    bits: Vec<u64>,
}

impl TokenMask {
    pub(super) fn new(trie: &Arc<TokenTrie>) -> Self {
        Self { trie: trie.clone(), bits: vec![0; trie.tokens().div_ceil(64)] }
    }

    /// Whether the token is in the set; `false` for an id out of range.
    pub fn allows(&self, id: TokenId) -> bool {
        self.trie.rank(id).is_some_and(|rank| self.has(rank))
    }

    /// The number of tokens in the set.
    pub fn count(&self) -> usize {
        self.bits.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The tokens in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = TokenId> {
        let tokens = self.trie.tokens();
        let ids: Vec<TokenId> = if self.count() > tokens / 16 {
            // Looking all of them up is faster than sorting many.
            (0..tokens as TokenId).filter(|id| self.allows(*id)).collect()
        } else {
            let mut few: Vec<TokenId> = self.ranks().map(|rank| self.trie.id(rank)).collect();
            few.sort_unstable();
            few
        };
        ids.into_iter()
    }

    /// Sets the logits of all other tokens to negative infinity. `logits[id]` belongs to token `id`; logits beyond the
    /// vocabulary (padding of the model's head) are among the others.
    pub fn apply(&self, logits: &mut [f32]) {
        for (id, logit) in logits.iter_mut().enumerate() {
            if !self.allows(id as TokenId) {
                *logit = f32::NEG_INFINITY;
            }
        }
    }

    fn ranks(&self) -> impl Iterator<Item = usize> {
        ones(self.bits.iter().copied())
    }

    /// The same set without the ranks that both of these sets hold.
    pub(super) fn without_common(&self, a: &[u64], b: &[u64]) -> Self {
        let bits = self.bits.iter().zip(a).zip(b).map(|((own, a), b)| own & !(a & b)).collect();
        Self { trie: self.trie.clone(), bits }
    }

    pub(super) fn remove(&mut self, rank: usize) {
        self.bits[rank / 64] &= !(1 << (rank % 64));
    }

    pub(super) fn same_as(&self, other: &Self) -> bool {
        self.bits == other.bits
    }

    pub(super) fn has(&self, rank: usize) -> bool {
        self.bits[rank / 64] >> (rank % 64) & 1 == 1
    }

    /// Adds the ends of generation.
    pub(super) fn insert_ends(&mut self) {
        let trie = self.trie.clone();
        trie.end_of_generation().iter().filter_map(|id| trie.rank(*id)).for_each(|rank| self.insert(rank));
    }

    pub(super) fn insert(&mut self, rank: usize) {
        self.bits[rank / 64] |= 1 << (rank % 64);
    }

    pub(super) fn insert_range(&mut self, ranks: Range<usize>) {
        insert_range(&mut self.bits, ranks);
    }

    /// Adds the ranks of a bit set that begins at some word.
    pub(super) fn insert_all(&mut self, first_word: usize, ranks: &[u64]) {
        insert_all(&mut self.bits, first_word, ranks);
    }

    pub(super) fn clear(&mut self) {
        self.bits.fill(0);
    }
}

impl fmt::Debug for TokenMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenMask").field("count", &self.count()).finish()
    }
}
