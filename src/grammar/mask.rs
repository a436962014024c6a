//! Sets of tokens.
//!
//! Most masks are either a handful of tokens or all texts of some kind but for a handful, and a mask is made for every
//! state that an output comes to. So a set is bits that others may share, and a short list of what is different.

use std::fmt;
use std::iter::repeat_n;
use std::ops::Range;
use std::sync::Arc;

use crate::tokenizer::trie::{Within, insert_range, ones};
use crate::tokenizer::{TokenId, TokenTrie};

/// A set of tokens: those that may come next.
#[derive(Clone)]
pub struct TokenMask {
    trie: Arc<TokenTrie>,
    /// The set, but for tokens that are too long.
    pub(super) ranks: Ranks,
    /// Of these texts only those of at most so many characters are in the set.
    bounded: Option<(Ranks, u32)>,
}

impl TokenMask {
    pub(super) fn new(trie: &Arc<TokenTrie>) -> Self {
        Self { trie: trie.clone(), ranks: Ranks::none_of(trie.tokens()), bounded: None }
    }

    /// Whether the token is in the set; `false` for an id out of range.
    pub fn allows(&self, id: TokenId) -> bool {
        self.trie.rank(id).is_some_and(|rank| {
            let too_long = |(bounded, most): &(Ranks, u32)| bounded.has(rank) && self.trie.chars(rank) > *most;
            self.ranks.has(rank) && !self.bounded.as_ref().is_some_and(too_long)
        })
    }

    /// The number of tokens in the set.
    pub fn count(&self) -> usize {
        match self.bounded {
            None => self.ranks.count(),
            Some(_) => self.words().iter().map(|word| word.count_ones() as usize).sum(),
        }
    }

    /// The tokens in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = TokenId> {
        let tokens = self.trie.tokens();
        let words = self.words();
        let ids: Vec<TokenId> = if self.count() > tokens / 16 {
            // Looking all of them up is faster than sorting many.
            let has = |id: &TokenId| self.trie.rank(*id).is_some_and(|rank| words[rank / 64] >> (rank % 64) & 1 == 1);
            (0..tokens as TokenId).filter(has).collect()
        } else {
            let mut few: Vec<TokenId> = ones(words.into_iter()).map(|rank| self.trie.id(rank)).collect();
            few.sort_unstable();
            few
        };
        ids.into_iter()
    }

    /// The same set without those of some texts that have more than so many characters.
    pub(super) fn bounded(&self, texts: &Ranks, most: u32) -> Self {
        Self { bounded: Some((texts.clone(), most)), ..self.clone() }
    }

    /// Adds the ends of generation.
    pub(super) fn insert_ends(&mut self) {
        let ends = self.trie.end_of_generation().iter().filter_map(|id| self.trie.rank(*id));
        ends.for_each(|rank| self.ranks.put(rank, true));
    }

    /// The bytes of memory that it takes beside itself, shared ones in equal parts.
    pub(super) fn bytes(&self) -> usize {
        self.ranks.bytes() + self.bounded.as_ref().map_or(0, |(texts, _)| texts.bytes())
    }

    /// One bit per rank.
    fn words(&self) -> Vec<u64> {
        let mut words: Vec<u64> = self.ranks.words().collect();
        if let Some((bounded, most)) = &self.bounded {
            match self.trie.longer_than(*most) {
                Some(longer) => {
                    let too_long = bounded.words().zip(longer).map(|(bounded, longer)| bounded & longer);
                    words.iter_mut().zip(too_long).for_each(|(word, too_long)| *word &= !too_long);
                }
                None => {
                    let too_long = self.trie.longest_than(*most).filter(|rank| bounded.has(*rank));
                    too_long.for_each(|rank| words[rank / 64] &= !(1 << (rank % 64)));
                }
            }
        }
        words
    }
}

impl PartialEq for TokenMask {
    /// Whether both are the same set of the same vocabulary.
    fn eq(&self, other: &Self) -> bool {
        self.words() == other.words()
    }
}

impl fmt::Debug for TokenMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenMask").field("count", &self.count()).finish()
    }
}

/// A set of ranks.
#[derive(Clone, Debug)]
pub(super) struct Ranks {
    /// One bit per rank; those after the last word are zeros.
    bits: Arc<[u64]>,
    /// The ranks that are in the set exactly if `bits` has them not, ascending.
    but: Vec<u32>,
    /// How many ranks there are.
    all: usize,
}

/// How many ranks a set may differ in from its bits, before they are written down anew.
const MAX_BUT: usize = 256;

impl Ranks {
    pub fn none_of(all: usize) -> Self {
        Self { bits: Arc::default(), but: Vec::new(), all }
    }

    /// The empty set of the same ranks.
    pub fn none(&self) -> Self {
        Self::none_of(self.all)
    }

    pub fn has(&self, rank: usize) -> bool {
        self.bit(rank) != self.but.binary_search(&(rank as u32)).is_ok()
    }

    fn bit(&self, rank: usize) -> bool {
        self.bits.get(rank / 64).is_some_and(|word| word >> (rank % 64) & 1 == 1)
    }

    pub fn count(&self) -> usize {
        let bits = self.bits.iter().map(|word| word.count_ones() as usize).sum();
        self.but.iter().fold(bits, |count, rank| if self.bit(*rank as usize) { count - 1 } else { count + 1 })
    }

    /// The set as one bit per rank.
    fn words(&self) -> impl Iterator<Item = u64> {
        let mut but = self.but.iter().peekable();
        let bits = self.bits.iter().copied().chain(repeat_n(0, self.all.div_ceil(64) - self.bits.len()));
        bits.zip(0..).map(move |(mut word, place)| {
            while let Some(rank) = but.next_if(|rank| **rank / 64 == place) {
                word ^= 1 << (rank % 64);
            }
            word
        })
    }

    /// The bytes of memory that it takes beside itself, shared ones in equal parts.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.but[..]) + size_of_val(&self.bits[..]) / Arc::strong_count(&self.bits)
    }

    /// Adds a rank, or takes it away.
    pub fn put(&mut self, rank: usize, is_in: bool) {
        let differs = self.bit(rank) != is_in;
        match self.but.binary_search(&(rank as u32)) {
            Ok(at) if !differs => drop(self.but.remove(at)),
            Err(_) if differs && self.but.len() == MAX_BUT => self.own_bits()[rank / 64] ^= 1 << (rank % 64),
            Err(at) if differs => self.but.insert(at, rank as u32),
            _ => {}
        }
    }

    pub fn insert_range(&mut self, ranks: Range<usize>) {
        if ranks.len() <= MAX_BUT / 8 {
            ranks.for_each(|rank| self.put(rank, true));
        } else {
            insert_range(self.own_bits(), ranks);
        }
    }

    pub fn insert_all(&mut self, within: &Within) {
        if within.first_word == 0 && self.bits.is_empty() && self.but.is_empty() {
            self.bits = within.ranks.clone();
        } else {
            let own = self.own_bits()[within.first_word..].iter_mut();
            own.zip(&*within.ranks).for_each(|(word, other)| *word |= other);
        }
    }

    /// Bits that are the whole set and no one else's.
    fn own_bits(&mut self) -> &mut [u64] {
        let missing = self.all.div_ceil(64) - self.bits.len();
        if missing > 0 {
            self.bits = self.bits.iter().copied().chain(repeat_n(0, missing)).collect();
        }
        let bits = Arc::make_mut(&mut self.bits);
        self.but.drain(..).for_each(|rank| bits[rank as usize / 64] ^= 1 << (rank % 64));
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One rank after the other, and sets that share bits with sets that go on changing.
    #[test]
    fn ranks_are_a_set() {
        const ALL: usize = 5000;
        let mut state = 7u64;
        let mut below = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % limit
        };
        let mut sets = vec![(Ranks::none_of(ALL), vec![false; ALL])];
        for _ in 0..4000 {
            let at = below(sets.len());
            if sets.len() < 6 {
                sets.push(sets[at].clone());
            }
            let (ranks, slow) = &mut sets[at];
            let (start, is_in) = (below(ALL), below(3) > 0);
            if below(8) == 0 {
                let end = (start + below(90)).min(ALL);
                ranks.insert_range(start..end);
                slow[start..end].fill(true);
            } else {
                ranks.put(start, is_in);
                slow[start] = is_in;
            }
        }
        for (ranks, slow) in sets {
            let of: Vec<usize> = (0..ALL).filter(|rank| slow[*rank]).collect();
            assert_eq!((0..ALL).filter(|rank| ranks.has(*rank)).collect::<Vec<_>>(), of);
            assert_eq!((ones(ranks.words()).collect::<Vec<_>>(), ranks.count()), (of.clone(), of.len()));
        }
    }
}
