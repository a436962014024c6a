//! Tokens against a matcher: which may come next, and which of them leave enough of a budget to finish.

use std::fmt;
use std::sync::Arc;

use super::Grammar;
use super::distance::distances;
use super::matcher::{DEAD, Matcher, SetId};
use super::program::{INFINITE, Program};
use crate::error::{Detail, Error, ErrorKind, Result};
use crate::tokenizer::trie::is_continuation;
use crate::tokenizer::{TokenId, TokenTrie};

/// A set of tokens: those that may come next.
#[derive(Clone)]
pub struct TokenMask {
    trie: Arc<TokenTrie>,
    /// One bit per rank.
    bits: Vec<u64>,
}

impl TokenMask {
    fn new(trie: &Arc<TokenTrie>) -> Self {
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
        (0..self.trie.tokens() as TokenId).filter(|id| self.allows(*id))
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

    fn has(&self, rank: usize) -> bool {
        self.bits[rank / 64] >> (rank % 64) & 1 == 1
    }

    /// Adds the ends of generation.
    fn insert_ends(&mut self) {
        let trie = self.trie.clone();
        trie.end_of_generation().iter().filter_map(|id| trie.rank(*id)).for_each(|rank| self.insert(rank));
    }

    fn insert(&mut self, rank: usize) {
        self.bits[rank / 64] |= 1 << (rank % 64);
    }

    fn insert_range(&mut self, ranks: std::ops::Range<usize>) {
        if ranks.is_empty() {
            return;
        }
        let (first, last) = (ranks.start / 64, (ranks.end - 1) / 64);
        let head = u64::MAX << (ranks.start % 64);
        let tail = u64::MAX >> (63 - (ranks.end - 1) % 64);
        if first == last {
            self.bits[first] |= head & tail;
        } else {
            self.bits[first] |= head;
            self.bits[first + 1..last].fill(u64::MAX);
            self.bits[last] |= tail;
        }
    }

    fn clear(&mut self) {
        self.bits.fill(0);
    }
}

impl fmt::Debug for TokenMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenMask").field("count", &self.count()).finish()
    }
}

/// The mask of a configuration, and how far its tokens can lead.
struct Memo {
    mask: TokenMask,
    /// The most characters that an allowed token ends within.
    chars: u32,
    /// The most bytes needed to a sentence after an allowed token.
    need: u32,
}

/// How much memory kept masks may take, in bytes.
const MAX_MEMO_BYTES: usize = 16 << 20;

/// The longest shortest text for which [`Constraint::min_tokens`] looks for long tokens, in bytes.
const MAX_CLOSING_BYTES: u32 = 4096;

/// The longest text that [`Constraint::forced`] returns, in bytes.
const MAX_FORCED_BYTES: usize = 4096;

/// A subtree of fewer nodes than this is walked rather than asked about as a whole.
const MIN_BULK_NODES: usize = 4;

/// A grammar over one output: says before each token which tokens may come, and takes the one that was chosen.
///
/// The promise: as long as every token pushed was allowed by the mask before it, there is a way to a sentence of the
/// grammar. With a budget of tokens, there is a way within the budget: if at the start `tokens_left >= min_tokens()`,
/// and each further mask is asked for with one token less, then every mask has a token and the last one ends.
///
/// What a constraint learns about its grammar it keeps: [`reset`](Self::reset) one for the next output rather than
/// making another.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
///
/// use fairhand::grammar::{Constraint, Grammar};
/// use fairhand::tokenizer::{SpecialTokens, TokenTrie, Vocabulary};
///
/// let pieces = ["a", "b", "ab", ""].map(|piece| piece.as_bytes().to_vec());
/// let special = SpecialTokens { control: vec![("<eos>".into(), 3)], eos: 3, ..SpecialTokens::default() };
/// let trie = Arc::new(TokenTrie::new(&Vocabulary::new(pieces.into(), special)?));
///
/// let grammar = Arc::new(Grammar::parse(r#"root ::= "a" "b"+"#)?);
/// let mut constraint = Constraint::new(grammar, trie)?;
/// assert_eq!(constraint.mask(None).iter().collect::<Vec<_>>(), [0, 2]);
/// constraint.push(2)?;
/// assert_eq!(constraint.mask(None).iter().collect::<Vec<_>>(), [1, 3]);
/// constraint.push(3)?;
/// assert!(constraint.is_finished());
/// # Ok::<(), fairhand::Error>(())
/// ```
pub struct Constraint {
    trie: Arc<TokenTrie>,
    matcher: Matcher,
    /// The configuration before the first token and after each.
    history: Vec<SetId>,
    finished: bool,
    memos: Vec<Memo>,
    /// Per configuration, one more than the number of its memo; 0 where there is none.
    memo_of: Vec<u32>,
    /// Per configuration, one more than the fewest tokens known to lead to a sentence; 0 where that is not known.
    closing: Vec<u32>,
    /// Classes of bytes with the smallest byte of each that a token spells, ascending by that byte.
    usable: Vec<(u8, u8)>,
    /// The mask that was last asked for with a pressing budget, or after the end.
    scratch: TokenMask,
    pressed: bool,
    path: Vec<(SetId, u32)>,
}

impl Constraint {
    /// # Errors
    ///
    /// [`ErrorKind::InvalidGrammar`] with [`Detail::MissingBytes`] if some text of the grammar can only be finished
    /// with bytes that no token spells alone, or with [`Detail::Limit`] if a token item names an id that the
    /// vocabulary does not have.
    pub fn new(grammar: Arc<Grammar>, trie: Arc<TokenTrie>) -> Result<Self> {
        let program = grammar.program();
        if let Some(id) = program.token_edges().iter().map(|edge| edge.id).max().filter(|id| trie.rank(*id).is_none()) {
            let detail = Detail::Limit { requested: id.into(), available: trie.tokens() as u64 };
            let message = format!("a token item names id {id} of a vocabulary of {}", trie.tokens());
            return Err(Error::new(ErrorKind::InvalidGrammar, message).with_detail(detail));
        }
        let distances = distances_within(program, trie.spells())?;
        let mut usable: Vec<(u8, u8)> = Vec::new();
        for byte in (0..=255u8).filter(|byte| trie.spells()[usize::from(*byte)]) {
            let class = program.classes.class(byte) as u8;
            if usable.iter().all(|(_, other)| *other != class) {
                usable.push((byte, class));
            }
        }
        let mut matcher = Matcher::new(program.clone(), distances);
        let start = matcher.start();
        Ok(Self {
            scratch: TokenMask::new(&trie),
            trie,
            matcher,
            history: vec![start],
            finished: false,
            memos: Vec::new(),
            memo_of: Vec::new(),
            closing: Vec::new(),
            usable,
            pressed: false,
            path: Vec::new(),
        })
    }

    fn config(&self) -> SetId {
        self.history[self.history.len() - 1] // never empty: rollback leaves the first
    }

    /// The exact set of tokens that may come next: those after which some sentence of the grammar can still be
    /// reached, and the ends of generation if the output is a sentence. Empty once finished.
    ///
    /// With `tokens_left`, the number of tokens that may still be pushed (the end included): only those after which a
    /// sentence and an end fit into what is left then. Can be empty only if `tokens_left < min_tokens()`.
    pub fn mask(&mut self, tokens_left: Option<usize>) -> &TokenMask {
        self.make_room();
        if self.finished {
            self.scratch.clear();
            return &self.scratch;
        }
        let config = self.config();
        let memo = self.memo(config);
        let left = tokens_left.map_or(u64::MAX, |left| left as u64);
        if u64::from(self.memos[memo].need) + 2 <= left {
            return &self.memos[memo].mask;
        }
        self.scratch = self.mask_within(config, left);
        self.pressed |= self.scratch.bits != self.memos[memo].mask.bits;
        &self.scratch
    }

    /// Whether a budget has kept any token out of a mask of this output.
    pub fn budget_pressed(&self) -> bool {
        self.pressed
    }

    /// Takes the next token. An end of generation finishes the output.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] if the token does not fit, or the output is finished; nothing has changed then.
    pub fn push(&mut self, id: TokenId) -> Result<()> {
        self.make_room();
        if self.finished {
            return Err(Error::new(ErrorKind::InvalidArgument, format!("token {id} after the end of the output")));
        }
        let config = self.config();
        let next = match self.trie.end_of_generation().binary_search(&id) {
            Ok(_) if self.matcher.is_complete(config) => {
                self.finished = true;
                config
            }
            Ok(_) => DEAD,
            Err(_) => self.after(config, id),
        };
        if next == DEAD {
            return Err(Error::new(ErrorKind::InvalidArgument, format!("token {id} does not fit the grammar here")));
        }
        self.history.push(next);
        Ok(())
    }

    /// Takes back the last `tokens` tokens, an end included. Taking back more than were pushed takes back all.
    pub fn rollback(&mut self, tokens: usize) {
        if tokens > 0 {
            self.finished = false;
        }
        self.history.truncate(self.history.len().saturating_sub(tokens).max(1));
    }

    /// Begins a new output. What has been learnt about the grammar is kept.
    pub fn reset(&mut self) {
        self.history.truncate(1);
        self.finished = false;
        self.pressed = false;
    }

    /// Whether the output so far is a sentence of the grammar.
    pub fn is_complete(&self) -> bool {
        self.matcher.is_complete(self.config())
    }

    /// Whether an end of generation has been pushed.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// The number of tokens, the end included, in which the output can be finished from here: 0 once finished. The
    /// smallest budget that [`mask`](Self::mask) can keep; some other text may be shorter in tokens, but not in bytes.
    pub fn min_tokens(&mut self) -> usize {
        if self.finished {
            return 0;
        }
        let config = self.config();
        self.closing(config) as usize + 1
    }

    /// The text that every continuation from here begins with. Whole characters: a common beginning of several
    /// characters is not text yet. Empty where the output may end. At most 4,096 bytes.
    pub fn forced(&mut self) -> Vec<u8> {
        let mut forced = Vec::new();
        if self.finished {
            return forced;
        }
        let mut config = self.config();
        while forced.len() < MAX_FORCED_BYTES {
            let Some(byte) = self.matcher.only_byte(config) else { break };
            forced.push(byte);
            config = self.matcher.step(config, byte);
        }
        let whole = std::str::from_utf8(&forced).map_or_else(|fault| fault.valid_up_to(), str::len);
        // An output that was cut inside a character is forced to finish it first.
        let rest_of_character = forced.iter().take_while(|byte| is_continuation(**byte)).count();
        if rest_of_character == 0 {
            forced.truncate(whole);
        }
        forced
    }

    /// The configuration after a token, by its bytes or by the grammar's token items; [`DEAD`] if it fits neither.
    fn after(&mut self, config: SetId, id: TokenId) -> SetId {
        let matcher = &mut self.matcher;
        let by_bytes = match self.trie.text(id) {
            [] => DEAD,
            text => text.iter().fold(config, |config, byte| matcher.step(config, *byte)),
        };
        if matcher.program().token_edges().is_empty() || self.trie.rank(id).is_none() {
            return by_bytes;
        }
        let by_items = matcher.step_token(config, id);
        matcher.union(by_bytes, by_items)
    }

    /// Forgets what has been learnt once it takes too much memory.
    fn make_room(&mut self) {
        let bytes_per_memo = self.scratch.bits.len() * 8;
        if self.matcher.is_full() {
            self.matcher.compact(&mut self.history);
            self.closing.clear();
        } else if self.memos.len() * bytes_per_memo <= MAX_MEMO_BYTES {
            return;
        }
        self.memos.clear();
        self.memo_of.clear();
    }

    /// The memo of a configuration, by number.
    ///
    /// Where the counts that the configuration holds are too far from their bounds to matter within one token, the
    /// mask is that of the configuration without them.
    fn memo(&mut self, config: SetId) -> usize {
        let (freed, room) = self.matcher.freed(config);
        if freed != config {
            let memo = self.own_memo(freed);
            if self.memos[memo].chars <= room {
                return memo;
            }
        }
        self.own_memo(config)
    }

    fn own_memo(&mut self, config: SetId) -> usize {
        if let Some(known @ 1..) = self.memo_of.get(config as usize) {
            return *known as usize - 1;
        }
        let memo = self.fill(config);
        self.memos.push(memo);
        if self.memo_of.len() <= config as usize {
            self.memo_of.resize(config as usize + 1, 0);
        }
        self.memo_of[config as usize] = self.memos.len() as u32;
        self.memos.len() - 1
    }

    /// The mask of a configuration, without a budget.
    fn fill(&mut self, config: SetId) -> Memo {
        let mut memo = self.walk(config, u64::MAX);
        self.add_token_items(config, &mut memo);
        if self.matcher.is_complete(config) {
            memo.mask.insert_ends();
        }
        memo
    }

    /// Walks the tree of tokens along with the configuration, and takes those that fit by their bytes and leave enough
    /// of the tokens left.
    fn walk(&mut self, config: SetId, left: u64) -> Memo {
        let trie = self.trie.clone();
        let mut memo = Memo { mask: TokenMask::new(&trie), chars: 0, need: 0 };
        for (byte, top) in trie.tops() {
            // Most bytes lead nowhere: tell that before the tree is touched.
            if self.matcher.step(config, *byte) == DEAD {
                continue;
            }
            self.path.clear();
            self.path.push((config, 0));
            let mut node = *top as usize;
            let end = trie.skip(node);
            while node < end {
                let (depth, byte) = (trie.depth(node), trie.byte(node));
                let (parent, chars) = self.path[depth - 1];
                let next = self.matcher.step(parent, byte);
                let skip = trie.skip(node);
                if next == DEAD {
                    node = skip;
                    continue;
                }
                let chars = chars + u32::from(depth == 1 || !is_continuation(byte));
                let ends = trie.ends(node);
                if !ends.is_empty() && self.fits(next, left) {
                    memo.mask.insert_range(ends);
                    memo.chars = memo.chars.max(chars);
                    memo.need = memo.need.max(self.matcher.need(next));
                }
                if skip - node > MIN_BULK_NODES {
                    let (run, below) = (self.matcher.run(next), trie.summary(node));
                    let alive = below.buckets & !run.buckets == 0 && u32::from(below.chars) <= run.chars;
                    if alive && u64::from(run.need) + 2 <= left {
                        memo.mask.insert_range(trie.below(node));
                        memo.chars = memo.chars.max(chars + u32::from(below.chars));
                        memo.need = memo.need.max(run.need);
                        node = skip;
                        continue;
                    }
                }
                self.path.truncate(depth);
                self.path.push((next, chars));
                node += 1;
            }
        }
        memo
    }

    fn add_token_items(&mut self, config: SetId, memo: &mut Memo) {
        let trie = self.trie.clone();
        for (item, negated) in self.matcher.token_items(config) {
            for rank in 0..trie.tokens() {
                let id = trie.id(rank);
                if (id == item) != negated && trie.end_of_generation().binary_search(&id).is_err() {
                    memo.mask.insert(rank);
                }
            }
            // What comes after depends on the token only by whether it is one that the grammar names.
            let named: Vec<TokenId> = self.matcher.program().token_edges().iter().map(|edge| edge.id).collect();
            let unnamed = (0..trie.tokens() as TokenId).find(|id| !named.contains(id));
            for id in named.into_iter().chain(unnamed) {
                let next = self.matcher.step_token(config, id);
                if next != DEAD {
                    memo.need = memo.need.max(self.matcher.need(next));
                }
            }
        }
    }

    /// The tokens after which a sentence and an end fit into the tokens left.
    fn mask_within(&mut self, config: SetId, left: u64) -> TokenMask {
        let mut mask = if self.matcher.program().token_edges().is_empty() {
            self.walk(config, left).mask
        } else {
            self.one_by_one(config, left)
        };
        if self.matcher.is_complete(config) && left > 0 {
            mask.insert_ends();
        }
        mask
    }

    /// The same where token items may come in between: each token is tried.
    fn one_by_one(&mut self, config: SetId, left: u64) -> TokenMask {
        let mut mask = TokenMask::new(&self.trie);
        for rank in 0..self.trie.tokens() {
            let id = self.trie.id(rank);
            if self.trie.end_of_generation().binary_search(&id).is_err() {
                let next = self.after(config, id);
                if next != DEAD && self.fits(next, left) {
                    mask.insert(rank);
                }
            }
        }
        mask
    }

    /// Whether after this token and the configuration it leads to, a sentence and an end fit into the tokens left.
    fn fits(&mut self, next: SetId, left: u64) -> bool {
        u64::from(self.matcher.need(next)) + 2 <= left || u64::from(self.closing(next)) + 2 <= left
    }

    /// The fewest tokens that spell the first of the shortest texts to a sentence.
    ///
    /// The shortest texts are compared in bytes and the first of them is taken, so that after any beginning of it the
    /// same choice gives the rest of it; and the rest of a shortest spelling is the shortest spelling of the rest. So
    /// from every configuration that needs `n` tokens, some token leads to one that needs `n - 1`.
    fn closing(&mut self, config: SetId) -> u32 {
        let need = self.matcher.need(config);
        if need == 0 || need > MAX_CLOSING_BYTES || !self.matcher.program().token_edges().is_empty() {
            return need; // bytes are tokens, too
        }
        if let Some(known) = self.known_closing(config) {
            return known;
        }
        // The text, as far as the spelling of its unknown part can depend on it: what is known of one place is known
        // of all later ones.
        let mut text = Vec::new();
        let mut configs = vec![config];
        let mut known_bytes = 0;
        while known_bytes < self.trie.longest() {
            let at = configs[text.len()];
            let Some(wanted) = self.matcher.need(at).checked_sub(1) else { break };
            let mut step = |(byte, class): &(u8, u8)| {
                let next = self.matcher.step_class(at, usize::from(*class));
                (next != DEAD && self.matcher.need(next) <= wanted).then_some((*byte, next))
            };
            let Some((byte, next)) = self.usable.iter().find_map(&mut step) else { return need };
            text.push(byte);
            configs.push(next);
            known_bytes += usize::from(self.known_closing(next).is_some());
        }
        // tokens[i]: the fewest tokens that spell the text from byte i on.
        let mut tokens = vec![0u32; text.len() + 1];
        for start in (0..=text.len()).rev() {
            if let Some(known) = self.known_closing(configs[start]) {
                tokens[start] = known;
                continue;
            }
            if start == text.len() {
                continue; // the end of the text
            }
            tokens[start] = tokens[start + 1] + 1;
            let mut node = 0;
            for end in start..text.len() {
                let Some(child) = self.trie.child(node, text[end]) else { break };
                node = child;
                if !self.trie.ends(node).is_empty() {
                    tokens[start] = tokens[start].min(tokens[end + 1] + 1);
                }
            }
            self.learn_closing(configs[start], tokens[start]);
        }
        tokens[0]
    }

    fn known_closing(&self, config: SetId) -> Option<u32> {
        self.closing.get(config as usize)?.checked_sub(1)
    }

    fn learn_closing(&mut self, config: SetId, tokens: u32) {
        if self.closing.len() <= config as usize {
            self.closing.resize(config as usize + 1, 0);
        }
        self.closing[config as usize] = tokens + 1;
    }
}

impl fmt::Debug for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tokens = self.history.len() - 1;
        f.debug_struct("Constraint").field("tokens", &tokens).field("finished", &self.finished).finish_non_exhaustive()
    }
}

/// The distances of a program where only some bytes can be read.
fn distances_within(program: &Arc<Program>, spells: &[bool; 256]) -> Result<Arc<[u32]>> {
    let lacks = |state: u32| program.bytes(state).iter().any(|e| spells[e.low.into()..=e.high.into()].contains(&false));
    if !(0..program.len()).any(lacks) {
        return Ok(program.distances.clone());
    }
    let distances = distances(program, spells);
    let mut missing = [false; 256];
    for state in 0..program.len() {
        if distances[state as usize] == INFINITE && program.distances[state as usize] != INFINITE {
            for edge in program.bytes(state) {
                (edge.low..=edge.high).for_each(|byte| missing[usize::from(byte)] |= !spells[usize::from(byte)]);
            }
        }
    }
    let missing_bytes: Vec<u8> = (0..=255).filter(|byte| missing[usize::from(*byte)]).collect();
    if missing_bytes.is_empty() {
        return Ok(distances.into());
    }
    let message = format!("the vocabulary has no token for {} bytes that the grammar needs", missing_bytes.len());
    Err(Error::new(ErrorKind::InvalidGrammar, message).with_detail(Detail::MissingBytes { missing_bytes }))
}
