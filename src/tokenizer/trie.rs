//! All tokens of a vocabulary as one flat prefix tree of bytes, and what each subtree consists of.
//!
//! Nodes lie in depth-first order, siblings ascending by byte, so that a walk is a scan with jumps: the next node of a
//! subtree that is worth entering is `node + 1`, and of one that is not, [`TokenTrie::skip`]. Tokens are numbered by
//! *rank*: text tokens sorted by their bytes (equal bytes by id), after them all others by id. The tokens of a subtree
//! are therefore one range of ranks, and a set of tokens is a bit set over ranks in which a subtree is one run of ones.
//!
//! A [`Summary`] tells which kinds of characters the strings of a subtree consist of. A matcher that knows "any text
//! of these kinds is fine here" takes the whole subtree without looking inside; see [`BUCKETS`].

use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::sync::{Arc, Mutex, PoisonError};

use super::{TokenId, Vocabulary};

/// A kind of characters: those whose UTF-8 begins with a byte of this range. Buckets are disjoint.
///
/// Each ASCII mark has one of its own, since grammars tell marks apart; letters are cut where hexadecimal digits end.
/// Of characters beyond ASCII only the lead byte decides, so that a character cut off by the end of its token still
/// has exactly one bucket.
pub type Bucket = RangeInclusive<u8>;

/// All buckets. Bit `i` of a [`Summary`] stands for `BUCKETS[i]`.
pub const BUCKETS: [Bucket; 62] = [
    0x00..=0x08,
    b'\t'..=b'\t',
    b'\n'..=b'\n',
    0x0B..=0x0C,
    b'\r'..=b'\r',
    0x0E..=0x1F,
    b' '..=b' ',
    b'!'..=b'!',
    b'"'..=b'"',
    b'#'..=b'#',
    b'$'..=b'$',
    b'%'..=b'%',
    b'&'..=b'&',
    b'\''..=b'\'',
    b'('..=b'(',
    b')'..=b')',
    b'*'..=b'*',
    b'+'..=b'+',
    b','..=b',',
    b'-'..=b'-',
    b'.'..=b'.',
    b'/'..=b'/',
    b'0'..=b'0',
    b'1'..=b'9',
    b':'..=b':',
    b';'..=b';',
    b'<'..=b'<',
    b'='..=b'=',
    b'>'..=b'>',
    b'?'..=b'?',
    b'@'..=b'@',
    b'A'..=b'F',
    b'G'..=b'Z',
    b'['..=b'[',
    b'\\'..=b'\\',
    b']'..=b']',
    b'^'..=b'^',
    b'_'..=b'_',
    b'`'..=b'`',
    b'a'..=b'f',
    b'g'..=b'z',
    b'{'..=b'{',
    b'|'..=b'|',
    b'}'..=b'}',
    b'~'..=b'~',
    0x7F..=0x7F,
    0xC2..=0xC2, // C1 controls and Latin-1 marks
    0xC3..=0xC3, // Latin-1 letters
    0xC4..=0xC9, // Latin extended
    0xCA..=0xCD,
    0xCE..=0xCF, // Greek
    0xD0..=0xD3, // Cyrillic
    0xD4..=0xDF,
    0xE0..=0xE0, // South Asian
    0xE1..=0xE1,
    0xE2..=0xE2, // general punctuation, arrows, symbols
    0xE3..=0xE3, // CJK marks, kana
    0xE4..=0xE9, // CJK ideographs
    0xEA..=0xED, // Hangul
    0xEE..=0xEF,
    0xF0..=0xF0, // emoji
    0xF1..=0xF4,
];

/// The bit of bytes that are not UTF-8. It is in no set that a matcher asks for.
const ILL_FORMED: u64 = 1 << 63;

/// For each byte that a character may begin with, the bit of its bucket.
static BUCKET_OF: [u64; 256] = {
    let mut of = [ILL_FORMED; 256];
    let mut bit = 0;
    while bit < BUCKETS.len() {
        let mut byte = *BUCKETS[bit].start() as usize;
        while byte <= *BUCKETS[bit].end() as usize {
            of[byte] = 1 << bit;
            byte += 1;
        }
        bit += 1;
    }
    of
};

/// The second byte that may follow a lead byte (Unicode 16.0, table 3-7). Later bytes are always `80..=BF`.
pub const fn second_byte(lead: u8) -> RangeInclusive<u8> {
    match lead {
        0xE0 => 0xA0..=0xBF,
        0xED => 0x80..=0x9F,
        0xF0 => 0x90..=0xBF,
        0xF4 => 0x80..=0x8F,
        _ => 0x80..=0xBF,
    }
}

/// Whether a byte may come in the middle of a character, after the byte before it.
fn follows(before: u8, byte: u8) -> bool {
    match char_len(before) {
        0 | 1 => is_continuation(byte),
        _ => second_byte(before).contains(&byte),
    }
}

/// The length in bytes of a character with that lead byte; 0 if no character begins so.
pub const fn char_len(lead: u8) -> usize {
    match lead {
        0x00..=0x7F => 1,
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 0,
    }
}

pub(crate) const fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// What the strings of a subtree consist of, the byte that leads to its root included; where that is inside of a
/// character, from the beginning of the character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The buckets of all their characters, one bit each.
    pub buckets: u64,
    /// The most characters that one of them has; a cut one counts.
    pub chars: u32,
}

/// All texts below a node whose characters from there on are of some buckets, and the places where others leave them.
#[derive(Debug)]
pub struct Within {
    /// The tokens all of whose further characters are of the buckets, a cut last one included; one bit per rank.
    pub ranks: Arc<[u64]>,
    /// The ranks that the first word of `ranks` comes after, in words.
    pub first_word: usize,
    /// The most further characters that one of them has.
    pub chars: u32,
    exits: Vec<Exit>,
    /// Where the exits by each byte begin, and the end.
    starts: Vec<u32>,
}

/// A node where a character of another kind begins, while all before it are of the buckets.
#[derive(Clone, Copy, Debug)]
pub struct Exit {
    pub node: u32,
    /// The characters between the two nodes.
    pub chars: u32,
}

impl Within {
    /// The exits by a byte.
    pub fn exits(&self, byte: u8) -> &[Exit] {
        let at = usize::from(byte);
        &self.exits[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

/// How many of these are kept. Grammars of a page have a few; each takes a bit per token and some nodes.
const MAX_WITHIN: usize = 64;

/// A node and all that a walk asks about it, side by side in memory.
#[derive(Clone, Copy)]
struct Node {
    buckets: u64,
    /// The first node after its subtree.
    skip: u32,
    /// The first rank in its subtree. Tokens that end at the node come first.
    rank: u32,
    chars: u16,
    /// The number of bytes from the root.
    depth: u16,
    /// The byte that leads to it.
    byte: u8,
    /// Whether it is inside of a character.
    inside: bool,
    /// One more than its number among the wide nodes; 0 if it is none.
    wide: u16,
}

const _: () = assert!(size_of::<Node>() == 24);

impl Node {
    fn new(depth: u16, byte: u8, rank: u32) -> Self {
        Self { buckets: 0, skip: 0, rank, chars: 0, depth, byte, inside: false, wide: 0 }
    }
}

/// The flat prefix tree of a vocabulary. Immutable; one serves all grammars.
pub struct TokenTrie {
    /// Node 0 is the root. After the last one comes one more, whose rank ends the ranges.
    nodes: Vec<Node>,
    /// The children of each wide node, one node after the other, siblings ascending by byte: bytes and nodes.
    child_bytes: Vec<u8>,
    child_nodes: Vec<u32>,
    /// Where the children of each wide node begin, and the end.
    wide: Vec<u32>,
    /// The texts of the text tokens in rank order, one after the other.
    texts: Vec<u8>,
    /// Where the text of rank `i` ends in `texts`.
    text_ends: Vec<u32>,
    longest: usize,
    /// Per rank of a text token, its characters; a cut one at either end counts.
    chars: Vec<u16>,
    /// For each of [`Self::LENGTHS`], the set of tokens with more characters, one bit per rank.
    longer: Vec<Vec<u64>>,
    /// The ranks of tokens with more characters than the last of these.
    longest_tokens: Vec<u32>,
    /// Rank → id, for all tokens.
    ids: Vec<TokenId>,
    /// Id → rank.
    rank_of: Vec<u32>,
    /// The ids that end a generation, ascending.
    end_of_generation: Vec<TokenId>,
    /// Whether a token spells exactly this byte.
    spells: [bool; 256],
    /// What has been asked for, by node and buckets.
    within: Mutex<Vec<(usize, u64, Arc<Within>)>>,
}

impl TokenTrie {
    /// The numbers of characters for which there is a set of all longer tokens; see [`longer_than`](Self::longer_than).
    pub const LENGTHS: RangeInclusive<u32> = 4..=16;

    /// How many children make a node wide.
    const WIDE: usize = 8;

    /// The longest token that takes part, in bytes. A longer one is never allowed by any constraint.
    pub const MAX_TOKEN_BYTES: usize = 1024;

    /// Builds the tree of all tokens that add text. Control tokens, ends of generation and empty ones stay outside.
    pub fn new(vocabulary: &Vocabulary) -> Self {
        let len = vocabulary.len() as TokenId;
        let is_text = |id: &TokenId| {
            let special = vocabulary.is_control(*id) || vocabulary.is_end_of_generation(*id);
            !special && (1..=Self::MAX_TOKEN_BYTES).contains(&vocabulary.bytes(*id).len())
        };
        // The first eight bytes as one number decide nearly every comparison. A stable sort keeps equal bytes in the order of
        // their ids, and is the faster one in a standard library that was built for size.
        let head = |id: TokenId| {
            let bytes = vocabulary.bytes(id);
            let mut head = [0; 8];
            head[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
            u64::from_be_bytes(head)
        };
        let mut texts: Vec<(u64, TokenId)> = (0..len).filter(is_text).map(|id| (head(id), id)).collect();
        texts.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| vocabulary.bytes(a.1).cmp(vocabulary.bytes(b.1))));
        let mut ids: Vec<TokenId> = texts.into_iter().map(|(_, id)| id).collect();
        let texts = ids.len();
        ids.extend((0..len).filter(|id| !is_text(id)));

        let mut trie = Self {
            nodes: vec![Node::new(0, 0, 0)],
            child_bytes: Vec::new(),
            child_nodes: Vec::new(),
            wide: Vec::new(),
            texts: Vec::new(),
            text_ends: Vec::with_capacity(texts),
            longest: 0,
            chars: Vec::with_capacity(texts),
            longer: Vec::new(),
            longest_tokens: Vec::new(),
            rank_of: vec![0; ids.len()],
            ids,
            end_of_generation: vocabulary.end_of_generation().to_vec(),
            spells: [false; 256],
            within: Mutex::default(),
        };
        for (rank, id) in trie.ids.iter().enumerate() {
            trie.rank_of[*id as usize] = rank as u32;
        }
        trie.add_nodes(vocabulary, texts);
        trie.summarise();
        trie.sort_by_length();
        trie.index_children();
        trie
    }

    /// Adds the nodes in depth-first order: of each token, in rank order, those that its predecessor does not share.
    fn add_nodes(&mut self, vocabulary: &Vocabulary, texts: usize) {
        let mut path: Vec<u32> = vec![0];
        let mut previous: &[u8] = &[];
        for rank in 0..texts {
            let bytes = vocabulary.bytes(self.ids[rank]);
            let shared = previous.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            let next = self.nodes.len() as u32;
            for closed in path.drain(shared + 1..) {
                self.nodes[closed as usize].skip = next;
            }
            for (depth, byte) in bytes.iter().enumerate().skip(shared) {
                path.push(self.nodes.len() as u32);
                self.nodes.push(Node::new(depth as u16 + 1, *byte, rank as u32));
            }
            if let [byte] = bytes {
                self.spells[usize::from(*byte)] = true;
            }
            self.longest = self.longest.max(bytes.len());
            self.texts.extend_from_slice(bytes);
            self.text_ends.push(self.texts.len() as u32);
            previous = bytes;
        }
        let end = self.nodes.len() as u32;
        for open in path {
            self.nodes[open as usize].skip = end;
        }
        self.nodes.push(Node { skip: end, ..Node::new(0, 0, texts as u32) });
    }

    /// Lists the children of all nodes that have many.
    fn index_children(&mut self) {
        self.wide.push(0);
        for node in 0..self.nodes() {
            let end = self.skip(node);
            if end - node <= Self::WIDE || self.wide.len() > usize::from(u16::MAX) {
                continue;
            }
            let start = self.child_nodes.len();
            let mut child = node + 1;
            while child < end {
                self.child_nodes.push(child as u32);
                child = self.skip(child);
            }
            if self.child_nodes.len() - start < Self::WIDE {
                self.child_nodes.truncate(start);
                continue;
            }
            self.nodes[node].wide = self.wide.len() as u16;
            self.wide.push(self.child_nodes.len() as u32);
        }
        self.child_bytes = self.child_nodes.iter().map(|child| self.byte(*child as usize)).collect();
    }

    fn sort_by_length(&mut self) {
        let (least, most) = (*Self::LENGTHS.start(), *Self::LENGTHS.end());
        let words = self.tokens().div_ceil(64);
        // First the tokens of each length by themselves, then with all that are longer.
        self.longer = Self::LENGTHS.map(|_| vec![0; words]).collect();
        let mut start = 0;
        for (rank, end) in self.text_ends.iter().enumerate() {
            let text = &self.texts[start as usize..*end as usize];
            start = *end;
            let chars = 1 + text[1..].iter().filter(|byte| !is_continuation(**byte)).count() as u32;
            self.chars.push(chars as u16); // at most MAX_TOKEN_BYTES
            if chars > least {
                self.longer[(chars.min(most + 1) - least - 1) as usize][rank / 64] |= 1 << (rank % 64);
            }
            self.longest_tokens.extend((chars > most).then_some(rank as u32));
        }
        for i in (1..self.longer.len()).rev() {
            let (shorter, longer) = self.longer.split_at_mut(i);
            shorter[i - 1].iter_mut().zip(&longer[0]).for_each(|(word, longer)| *word |= longer);
        }
    }

    /// Fills the summaries from the leaves up: in depth-first order every child comes after its parent.
    fn summarise(&mut self) {
        let nodes = self.nodes();
        // How many bytes the character that a node is part of still needs after it: 0 at a boundary.
        let mut missing = vec![0u8; nodes];
        // The buckets that the byte of a node adds to what is before it.
        let mut own = vec![ILL_FORMED; nodes];
        // The buckets from the beginning of the character that the byte of a node belongs to.
        let mut around = vec![0; nodes];
        let mut parent_of = vec![0u32; nodes];
        let mut path: Vec<u32> = vec![0];
        for node in 1..nodes {
            let depth = self.depth(node);
            path.truncate(depth);
            path.push(node as u32);
            parent_of[node] = path[depth - 1];
            let (parent, byte) = (parent_of[node] as usize, self.byte(node));
            (own[node], missing[node]) = match missing[parent] {
                0 => (BUCKET_OF[usize::from(byte)], (char_len(byte).max(1) - 1) as u8),
                left => {
                    let own = if follows(self.byte(parent), byte) { 0 } else { ILL_FORMED };
                    (own, left - 1)
                }
            };
            around[node] = own[node] | if missing[parent] == 0 { 0 } else { around[parent] };
        }
        // In depth-first order every child comes after its parent: from the last node on, each is complete when it is
        // added to its parent.
        for i in (1..nodes).rev() {
            let Node { buckets, chars, byte, .. } = self.nodes[i];
            let parent = &mut self.nodes[parent_of[i] as usize];
            parent.buckets |= buckets | own[i];
            parent.chars = parent.chars.max(chars + u16::from(!is_continuation(byte)));
            let node = &mut self.nodes[i];
            *node = Node { buckets: buckets | around[i], chars: chars + 1, inside: missing[i] != 0, ..*node };
        }
    }

    /// The number of nodes, the root (node 0) included.
    pub fn nodes(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Whether a node has so many children that one of them is found sooner by [`child`](Self::child) than by going
    /// through them.
    #[inline]
    pub fn is_wide(&self, node: usize) -> bool {
        self.nodes[node].wide != 0
    }

    /// The byte that leads from its parent to this node.
    #[inline]
    pub fn byte(&self, node: usize) -> u8 {
        self.nodes[node].byte
    }

    /// The number of bytes from the root to this node.
    #[inline]
    pub fn depth(&self, node: usize) -> usize {
        usize::from(self.nodes[node].depth)
    }

    /// The first node after this one's subtree.
    #[inline]
    pub fn skip(&self, node: usize) -> usize {
        self.nodes[node].skip as usize
    }

    /// The ranks of the tokens that end at this node: more than one when several ids have the same bytes.
    #[inline]
    pub fn ends(&self, node: usize) -> Range<usize> {
        self.nodes[node].rank as usize..self.nodes[node + 1].rank as usize
    }

    /// The ranks of the tokens that end in the subtree of this node, those that end at it included.
    #[inline]
    pub fn all(&self, node: usize) -> Range<usize> {
        self.nodes[node].rank as usize..self.nodes[self.skip(node)].rank as usize
    }

    #[inline]
    pub fn summary(&self, node: usize) -> Summary {
        let Node { buckets, chars, .. } = self.nodes[node];
        Summary { buckets, chars: chars.into() }
    }

    /// The texts of some buckets below a node that is not inside of a character. Found by a walk at the first time, and
    /// then kept for all grammars.
    pub fn within(&self, node: usize, buckets: u64) -> Arc<Within> {
        let mut known = self.within.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., within)) = known.iter().find(|(top, of, _)| (*top, *of) == (node, buckets)) {
            return within.clone();
        }
        let within = Arc::new(self.find_within(node, buckets));
        if known.len() == MAX_WITHIN {
            known.remove(0);
        }
        known.push((node, buckets, within.clone()));
        within
    }

    fn find_within(&self, top: usize, buckets: u64) -> Within {
        let all = self.all(top);
        let first_word = all.start / 64;
        let mut ranks = vec![0; all.end.div_ceil(64) - first_word];
        let mut insert = |range: Range<usize>| {
            insert_range(&mut ranks, range.start - 64 * first_word..range.end - 64 * first_word);
        };
        let mut exits: Vec<(u8, Exit)> = Vec::new();
        let mut most = 0;
        // By depth, the node and the characters up to it, a cut one included.
        let mut path = vec![(top, 0); self.longest + 1];
        let mut node = top + 1;
        while node < self.skip(top) {
            let (depth, byte) = (self.depth(node), self.byte(node));
            let (parent, before) = path[depth - 1];
            let inside = self.is_inside(parent);
            let summary = self.summary(node);
            if summary.buckets & !buckets == 0 {
                insert(self.all(node));
                most = most.max(before - u32::from(inside) + summary.chars);
                node = self.skip(node);
            } else if inside && !follows(self.byte(parent), byte) {
                node = self.skip(node);
            } else if !inside && BUCKET_OF[usize::from(byte)] & buckets == 0 {
                exits.push((byte, Exit { node: node as u32, chars: before }));
                node = self.skip(node);
            } else {
                let chars = before + u32::from(!inside);
                if !self.ends(node).is_empty() {
                    insert(self.ends(node));
                    most = most.max(chars);
                }
                path[depth] = (node, chars);
                node += 1;
            }
        }
        exits.sort_by_key(|(byte, _)| *byte);
        let starts = (0..=256).map(|byte| exits.partition_point(|(other, _)| usize::from(*other) < byte) as u32);
        let (starts, exits) = (starts.collect(), exits.iter().map(|(_, exit)| *exit).collect());
        Within { ranks: ranks.into(), first_word, chars: most, exits, starts }
    }

    /// Whether a node is inside of a character, so that its summary is of the strings from before that.
    #[inline]
    pub fn is_inside(&self, node: usize) -> bool {
        self.nodes[node].inside
    }

    /// The child of a node by that byte.
    pub fn child(&self, node: usize, byte: u8) -> Option<usize> {
        if let Some(wide) = usize::from(self.nodes[node].wide).checked_sub(1) {
            let of = self.wide[wide] as usize..self.wide[wide + 1] as usize;
            let place = self.child_bytes[of.clone()].binary_search(&byte).ok()?;
            return Some(self.child_nodes[of.start + place] as usize);
        }
        let mut child = node + 1;
        while child < self.skip(node) && self.byte(child) < byte {
            child = self.skip(child);
        }
        (child < self.skip(node) && self.byte(child) == byte).then_some(child)
    }

    /// The length of the longest text of a token, in bytes.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// The characters of the text token of that rank; a cut one at either end counts.
    #[inline]
    pub fn chars(&self, rank: usize) -> u32 {
        self.chars[rank].into()
    }

    /// The set of tokens with more characters, one bit per rank, if the number is one of [`Self::LENGTHS`].
    pub fn longer_than(&self, chars: u32) -> Option<&[u64]> {
        Self::LENGTHS.contains(&chars).then(|| &self.longer[(chars - Self::LENGTHS.start()) as usize][..])
    }

    /// The tokens with more characters than a number that is not below [`Self::LENGTHS`], among some texts.
    pub fn longer_within(&self, chars: u32, within: &Within) -> impl Iterator<Item = usize> {
        let (ranks, first_word) = (&within.ranks, within.first_word);
        let longer = self.longer_than(chars);
        let common = longer.into_iter().flat_map(move |longer| longer[first_word..].iter().zip(&**ranks));
        let common = ones(common.map(|(a, b)| a & b)).map(move |place| 64 * first_word + place);
        let has = move |rank: &usize| {
            let word = (rank / 64).checked_sub(first_word).and_then(|word| ranks.get(word));
            word.is_some_and(|word| word >> (rank % 64) & 1 == 1)
        };
        let longest = longer.is_none().then(|| self.longest_than(chars).filter(has));
        common.chain(longest.into_iter().flatten())
    }

    /// The tokens with more characters than a number that is above [`Self::LENGTHS`].
    pub fn longest_than(&self, chars: u32) -> impl Iterator<Item = usize> {
        self.longest_tokens.iter().map(|rank| *rank as usize).filter(move |rank| self.chars(*rank) > chars)
    }

    /// The number of tokens, those without text included. Ranks and ids are both `0..tokens()`.
    pub fn tokens(&self) -> usize {
        self.ids.len()
    }

    #[inline]
    pub fn id(&self, rank: usize) -> TokenId {
        self.ids[rank]
    }

    /// The rank of a token, `None` if there is no such id.
    #[inline]
    pub fn rank(&self, id: TokenId) -> Option<usize> {
        self.rank_of.get(id as usize).map(|rank| *rank as usize)
    }

    /// What a token adds to a text, if it may be matched as text: empty for control tokens and ends of generation.
    pub fn text(&self, id: TokenId) -> &[u8] {
        match self.rank(id) {
            Some(rank) if rank < self.text_ends.len() => self.text_of_rank(rank),
            _ => &[],
        }
    }

    /// What the text token of that rank adds to a text.
    #[inline]
    pub fn text_of_rank(&self, rank: usize) -> &[u8] {
        let start = if rank == 0 { 0 } else { self.text_ends[rank - 1] };
        &self.texts[start as usize..self.text_ends[rank] as usize]
    }

    /// The ids that end a generation, ascending.
    pub fn end_of_generation(&self) -> &[TokenId] {
        &self.end_of_generation
    }

    /// For each byte, whether a text token spells it alone.
    pub fn spells(&self) -> &[bool; 256] {
        &self.spells
    }
}

/// Sets the bits of a range.
pub(crate) fn insert_range(bits: &mut [u64], range: Range<usize>) {
    if range.is_empty() {
        return;
    }
    let (first, last) = (range.start / 64, (range.end - 1) / 64);
    let head = u64::MAX << (range.start % 64);
    let tail = u64::MAX >> (63 - (range.end - 1) % 64);
    if first == last {
        bits[first] |= head & tail;
    } else {
        bits[first] |= head;
        bits[first + 1..last].fill(u64::MAX);
        bits[last] |= tail;
    }
}

/// The places of the bits that are set, ascending.
pub(crate) fn ones(words: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    words.enumerate().flat_map(|(i, word)| {
        let rest = |word: &u64| Some(word & (word - 1)).filter(|rest| *rest != 0);
        let words = std::iter::successors(Some(word).filter(|word| *word != 0), rest);
        words.map(move |word| 64 * i + word.trailing_zeros() as usize)
    })
}

impl fmt::Debug for TokenTrie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenTrie").field("tokens", &self.tokens()).field("nodes", &self.nodes()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::SpecialTokens;

    fn trie(pieces: &[&[u8]]) -> TokenTrie {
        let pieces: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_vec()).chain([b"end".to_vec()]).collect();
        let eos = pieces.len() as TokenId - 1;
        let special = SpecialTokens { control: vec![("<e>".into(), eos)], eos, ..SpecialTokens::default() };
        TokenTrie::new(&Vocabulary::new(pieces, special).unwrap())
    }

    /// The node that a text leads to.
    fn node(trie: &TokenTrie, text: &[u8]) -> Option<usize> {
        text.iter().try_fold(0, |node, byte| trie.child(node, *byte))
    }

    fn buckets(chars: &str) -> u64 {
        let bit = |c: char| BUCKETS.iter().position(|bucket| bucket.contains(&c.to_string().as_bytes()[0])).unwrap();
        chars.chars().fold(0, |bits, c| bits | 1 << bit(c))
    }

    #[test]
    fn buckets_are_disjoint_and_hold_all_first_bytes() {
        for byte in 0..=255u8 {
            let count = BUCKETS.iter().filter(|bucket| bucket.contains(&byte)).count();
            assert_eq!(count, usize::from(char_len(byte) > 0), "{byte:#x}");
        }
    }

    #[test]
    fn ranks_follow_bytes_and_equal_bytes_are_neighbours() {
        let trie = trie(&[b"b", b"ab", b"a", b"", b"ab", b"abc"]);
        let ids: Vec<TokenId> = (0..trie.tokens()).map(|rank| trie.id(rank)).collect();
        assert_eq!(ids, [2, 1, 4, 5, 0, 3, 6], "text by bytes, then the empty and the control token");
        assert!((0..7).all(|id| trie.id(trie.rank(id).unwrap()) == id));
        assert_eq!(trie.rank(7), None);
        let ab = node(&trie, b"ab").unwrap();
        assert_eq!((trie.ends(ab), trie.all(ab)), (1..3, 1..4));
        assert_eq!((trie.depth(ab), trie.byte(ab), trie.longest()), (2, b'b', 3));
        assert_eq!(node(&trie, b"ac"), None);
        assert_eq!(
            (trie.text(5), trie.text(3), trie.text(6), trie.text(99)),
            (&b"abc"[..], &b""[..], &b""[..], &b""[..])
        );
    }

    #[test]
    fn summaries_tell_what_is_below() {
        let trie = trie(&[b"a", "ab1".as_bytes(), "aé\"".as_bytes(), b"a\xE6\x97", b"a\xE6", b"x\xFFy", b"\xA9z"]);
        let summary = |text: &[u8]| trie.summary(node(&trie, text).unwrap());
        let a = summary(b"a");
        assert_eq!((a.buckets, a.chars), (buckets("ab1é\"日"), 3), "a cut character is of its lead byte's bucket");
        assert_eq!(summary(b"x").buckets & ILL_FORMED, ILL_FORMED, "no text has this byte");
        let cut = summary(b"a\xE6\x97");
        assert_eq!((cut.buckets, cut.chars), (buckets("日"), 1), "inside a character, it is told from before that");
        assert!(trie.is_inside(node(&trie, b"a\xE6").unwrap()) && !trie.is_inside(node(&trie, b"a\xC3\xA9").unwrap()));
    }

    #[test]
    fn texts_of_some_buckets_and_the_ways_out_of_them() {
        let trie = trie(&[b"ab", b"ab1", b"a\"x", b"\"", "é".as_bytes(), b"a\xC3", b"a\xC3z", b"b\xA9", b"1a"]);
        let within = trie.within(0, buckets("aé"));
        let rank_is_in = |rank: &usize| within.ranks[rank / 64] >> (rank % 64) & 1 == 1;
        let tokens: Vec<&[u8]> = (0..trie.tokens()).filter(rank_is_in).map(|rank| trie.text(trie.id(rank))).collect();
        assert_eq!(tokens, [&b"ab"[..], b"a\xC3", "é".as_bytes()], "a cut character may yet be one of them");
        let exits =
            |byte: u8| within.exits(byte).iter().map(|exit| (exit.node as usize, exit.chars)).collect::<Vec<_>>();
        let at = |text: &[u8]| node(&trie, text).unwrap();
        assert_eq!(exits(b'"'), [(at(b"\""), 0), (at(b"a\""), 1)]);
        assert_eq!(exits(b'1'), [(at(b"1"), 0), (at(b"ab1"), 2)]);
        assert_eq!(exits(b'z'), [], "inside of a character there is no way out");
        assert_eq!(within.chars, 2);
    }

    #[test]
    fn single_bytes_are_spelt() {
        let trie = trie(&[b"a", b"bc", b"\0", b"\xC3"]);
        let spelt: Vec<usize> = (0..256).filter(|byte| trie.spells()[*byte]).collect();
        assert_eq!(spelt, [0, usize::from(b'a'), 0xC3]);
    }

    #[test]
    fn a_vocabulary_without_text_has_only_a_root() {
        let trie = trie(&[b""]);
        assert_eq!((trie.nodes(), trie.tokens(), trie.longest()), (1, 2, 0));
        assert_eq!((trie.ends(0), trie.all(0), trie.skip(0)), (0..0, 0..0, 1));
    }
}
