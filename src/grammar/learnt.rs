//! What is learnt about a grammar over a vocabulary while outputs are made: the masks of configurations, and how many
//! tokens lead to an end.
//!
//! A mask is found by walking the tree of tokens along with the configuration; subtrees all of whose strings are
//! [`Run`](super::run::Run)s are taken whole. Inside of counted repetitions nearly every configuration is new, but it
//! differs from the one with its counts forgotten only in the tokens that begin more rounds than are left. So the
//! walk counts the rounds of each token, and such a configuration's mask is the other's without some long tokens.

use std::ops::Range;
use std::sync::Arc;

use super::distance::distances;
use super::mask::{Ranks, TokenMask};
use super::matcher::{DEAD, MAX_FRAMES, MAX_WORK, Matcher, SetId, Step};
use super::program::{INFINITE, Program};
use super::rounds::Rounds;
use super::run::{MAX_LEAD_IN, Run, leads, takes_all};
use crate::error::{Detail, Error, ErrorKind, Result};
use crate::tokenizer::trie::{is_continuation, ones};
use crate::tokenizer::{TokenId, TokenTrie};

/// The mask of a configuration, and how far its tokens can lead.
struct Memo {
    mask: TokenMask,
    /// The most bytes needed to a sentence after an allowed token.
    need: u32,
    /// The most rounds of forgotten counts that an allowed token begins.
    used: Rounds,
    long: Long,
}

/// Of the tokens that a mask allows, those that may not fit where few rounds are left.
struct Long {
    /// The lanes that go up with every character of a run.
    lanes: u8,
    /// Tokens all of whose characters are such: they begin as many rounds as they have characters.
    pure: Ranks,
    /// Others that begin more than [`MIN_ROOM`] rounds.
    others: Vec<LongToken>,
    /// Whether these are too many to keep, or rounds that do not fit are no proof that a token does not.
    unknown: bool,
}

struct LongToken {
    rank: u32,
    used: Rounds,
    /// Whether there is more than one reading, so that one of them may fit nevertheless.
    ambiguous: bool,
}

/// Where fewer rounds are left than this, the tokens are walked again.
const MIN_ROOM: u32 = *TokenTrie::LENGTHS.start();

/// How many nodes a subtree has that is worth asking for a run: smaller ones are walked sooner.
const MIN_SUBTREE: usize = 8;

/// Where at most so many bytes lead on, their subtrees are looked up; where there are more, a run may be worth taking at
/// once if it is of so many kinds of characters: text, not a choice of marks or digits.
const MAX_FEW: u32 = 24;
const MIN_BUCKETS: u32 = 2;

/// Where at most so many bytes lead on, no run is asked for: that is the middle of a word of the grammar.
const MAX_NARROW: u32 = 4;

/// Below a node of more than this part of the tree, too.
const LARGE_PART: usize = 8;

/// How many tokens that are too long for a run are tried one by one.
const MAX_DOUBTFUL: usize = 1024;

/// The most tokens that are kept as [`Long::others`].
const MAX_LONG: usize = 4096;

/// A place on the way down the tree of tokens.
#[derive(Clone, Copy)]
struct Place {
    config: SetId,
    /// Characters from the root, a cut one included.
    chars: u32,
    used: Rounds,
    ambiguous: bool,
    /// How deep the last place between two characters is: this one, or one above.
    between: usize,
}

/// What is learnt about a grammar over a vocabulary, whatever the output.
pub(super) struct Learnt {
    pub trie: Arc<TokenTrie>,
    pub matcher: Matcher,
    memos: Vec<Memo>,
    /// How much memory they take, in bytes.
    memo_bytes: usize,
    /// Per configuration, one more than the number of its memo; 0 where there is none.
    memo_of: Vec<u32>,
    /// Per configuration, one more than the fewest tokens known to lead to a sentence; 0 where that is not known.
    closing: Vec<u32>,
    /// Classes of bytes with the smallest byte of each that a token spells, ascending by that byte.
    usable: Vec<(u8, u8)>,
    /// The places from the root to a node; with those between two characters what may follow, if that has been asked.
    path: Vec<(Place, Option<Run>)>,
    /// Subtrees still to be walked, with the place before each. Empty between two walks.
    open: Vec<(Place, usize)>,
}

/// How much memory kept masks may take, in bytes.
const MAX_MEMO_BYTES: usize = 16 << 20;

/// The longest shortest text for which [`Constraint::min_tokens`] looks for long tokens, in bytes.
const MAX_CLOSING_BYTES: u32 = 4096;

impl Learnt {
    /// # Errors
    ///
    /// As [`Constraint::new`](super::Constraint::new).
    pub fn new(program: &Arc<Program>, trie: Arc<TokenTrie>) -> Result<Self> {
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
        Ok(Self {
            matcher: Matcher::new(program.clone(), distances),
            trie,
            // Enough for a short output, so that its first masks do not wait for memory.
            memos: Vec::with_capacity(64),
            memo_bytes: 0,
            memo_of: Vec::with_capacity(256),
            closing: Vec::new(),
            usable,
            path: Vec::with_capacity(64),
            open: Vec::with_capacity(64),
        })
    }

    pub fn mask(&self, memo: usize) -> &TokenMask {
        &self.memos[memo].mask
    }

    /// The most bytes needed to a sentence after a token of the mask.
    pub fn need_after(&self, memo: usize) -> u32 {
        self.memos[memo].need
    }

    /// The configuration after a token, by its bytes or by the grammar's token items; [`DEAD`] if it fits neither.
    pub fn after(&mut self, config: SetId, id: TokenId) -> SetId {
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

    /// Before work for an output: forgets what has been learnt once it takes too much memory. Renumbers the
    /// configurations in use.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidGrammar`] with [`Detail::Limit`] if those alone take too much.
    pub fn begin(&mut self, used: &mut [SetId]) -> Result<()> {
        self.matcher.refresh();
        if self.matcher.is_full() {
            self.forget(used);
            if self.matcher.is_full() {
                return Err(too_large());
            }
        } else if self.memo_bytes > MAX_MEMO_BYTES {
            self.forget_masks();
        }
        Ok(())
    }

    /// After work for an output: what was found is right only if this is no error.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidGrammar`] with [`Detail::Limit`] if there was too much work.
    pub fn end(&mut self, used: &mut [SetId]) -> Result<()> {
        if !self.matcher.is_exhausted() {
            return Ok(());
        }
        self.forget(used);
        self.matcher.refresh();
        Err(too_ambiguous())
    }

    /// Forgets all but the configurations in use.
    fn forget(&mut self, used: &mut [SetId]) {
        self.matcher.compact(used);
        self.closing.clear();
        self.forget_masks();
    }

    fn forget_masks(&mut self) {
        self.memos.clear();
        self.memo_bytes = 0;
        self.memo_of.clear();
    }

    /// The memo of a configuration, by number.
    pub fn memo(&mut self, config: SetId) -> usize {
        if let Some(known @ 1..) = self.memo_of.get(config as usize) {
            return *known as usize - 1;
        }
        let (freed, room) = self.matcher.freed(config);
        let memo = match freed == config {
            true => self.found(config),
            false => {
                let free = self.memo(freed);
                match self.memos[free].used.beyond(room) {
                    0 => free,
                    lanes => match self.narrowed(free, config, lanes, room) {
                        Some(memo) => self.keep(memo),
                        None => self.found(config),
                    },
                }
            }
        };
        if self.memo_of.len() <= config as usize {
            self.memo_of.resize(config as usize + 1, 0);
        }
        self.memo_of[config as usize] = memo as u32 + 1;
        memo
    }

    /// Finds the mask of a configuration, without a budget, and keeps it.
    fn found(&mut self, config: SetId) -> usize {
        let mut memo = self.walk(config, u64::MAX);
        if !self.matcher.program().token_edges().is_empty() {
            self.add_token_items(config, &mut memo);
        }
        if self.matcher.is_complete(config) {
            memo.mask.insert_ends();
        }
        self.keep(memo)
    }

    fn keep(&mut self, memo: Memo) -> usize {
        let Memo { mask, long, .. } = &memo;
        self.memo_bytes += size_of::<Memo>() + mask.bytes() + long.pure.bytes() + size_of_val(&long.others[..]);
        self.memos.push(memo);
        self.memos.len() - 1
    }

    /// The memo of a configuration from that of the same without counts: what the room left is too small for is taken
    /// away. `lanes` are those in which some token may begin too many rounds. `None` if that cannot be told.
    fn narrowed(&mut self, free: usize, config: SetId, lanes: u8, room: Rounds) -> Option<Memo> {
        let Memo { mask, long, need, used } = &self.memos[free];
        let left = room.least_in(long.lanes);
        let by_items = !self.matcher.program().token_edges().is_empty();
        let can_be_told = !long.unknown && !by_items && self.matcher.is_even(config);
        if !can_be_told || lanes & !long.lanes != 0 || !(MIN_ROOM..Rounds::MANY - 1).contains(&left) {
            return None;
        }
        let mut mask = mask.bounded(&long.pure, left);
        let mut doubtful = Vec::new();
        for token in long.others.iter().filter(|token| token.used.beyond(room) != 0) {
            mask.ranks.put(token.rank as usize, false);
            doubtful.extend(token.ambiguous.then_some(token.rank as usize));
        }
        let mut memo = Memo { need: *need, used: used.min(room), ..Memo::new(mask) };
        memo.long.unknown = true;
        for rank in doubtful {
            let fits = self.after(config, self.trie.id(rank)) != DEAD;
            memo.mask.ranks.put(rank, fits);
        }
        Some(memo)
    }

    /// Walks the tree of tokens along with the configuration, and takes those that fit by their bytes and leave enough
    /// of the tokens left.
    fn walk(&mut self, config: SetId, left: u64) -> Memo {
        let mut memo = Memo::new(TokenMask::new(&self.trie));
        let start = Place { config, chars: 0, used: Rounds::ZERO, ambiguous: false, between: 0 };
        let bytes = self.matcher.readable(config);
        if count(bytes) <= MAX_FEW {
            self.open(0, &start, bytes);
        } else {
            // Where counts are forgotten in a text, it is worth knowing how many rounds each token begins.
            if self.matcher.free_lanes(config) != 0 {
                let run = self.matcher.run(config);
                memo.long.lanes = run.told.lanes;
                memo.long.unknown = run.told.ambiguous;
            }
            if !self.take_text(0, &start, left, &mut memo) {
                self.open(0, &start, bytes);
            }
        }
        let mut next = 0;
        while let Some((from, top)) = self.open.get(next).copied() {
            next += 1;
            self.follow(from, top, left, &mut memo);
        }
        self.open.clear();
        memo
    }

    /// Opens the subtrees below a node that some bytes lead to.
    fn open(&mut self, node: usize, at: &Place, bytes: [u64; 4]) {
        for byte in ones(bytes.into_iter()) {
            if let Some(child) = self.trie.child(node, byte as u8) {
                self.open.push((*at, child));
            }
        }
    }

    /// Walks a subtree, from the place of its root's parent: along the words of the grammar for as long as they last.
    fn follow(&mut self, mut from: Place, mut node: usize, left: u64, memo: &mut Memo) {
        if left == u64::MAX {
            match self.follow_word(from, node, memo) {
                Some(rest) => (from, node) = rest,
                None => return,
            }
        }
        while !self.trie.is_inside(node) {
            let Some(place) = self.reach(&from, node) else { return };
            let is_leaf = self.trie.skip(node) == node + 1;
            let bytes = if is_leaf { [0; 4] } else { self.matcher.readable(place.config) };
            if count(bytes) > MAX_NARROW {
                break;
            }
            self.take_ends(node, &place, left, memo);
            let Some(byte) = only(bytes) else { return self.open(node, &place, bytes) };
            let Some(child) = self.trie.child(node, byte) else { return };
            (from, node) = (place, child);
        }
        self.walk_below(from, node, left, memo);
    }

    /// Walks a subtree along a word of the grammar, where there is no more to know than which tokens end. Returns where
    /// the word ends, or `None` if the tree does so before.
    fn follow_word(&mut self, mut from: Place, mut node: usize, memo: &mut Memo) -> Option<(Place, usize)> {
        let trie = &*self.trie;
        let Some(mut word) = self.matcher.word(from.config) else { return Some((from, node)) };
        let mut has_moved = false;
        while let Some(next) = self.matcher.along(word).filter(|_| !trie.is_inside(node)) {
            from.chars += u32::from(trie.depth(node) == 1 || !is_continuation(word.byte));
            let ends = trie.ends(node);
            if !ends.is_empty() {
                memo.need = memo.need.max(self.matcher.need_of(next));
                memo.take(ends, &from);
            }
            node = trie.child(node, next.byte)?;
            word = next;
            has_moved = true;
        }
        if has_moved {
            (from.config, from.between) = (self.matcher.config_of(word), trie.depth(node) - 1);
        }
        Some((from, node))
    }

    /// The place at a node, from that at its parent.
    fn reach(&mut self, from: &Place, node: usize) -> Option<Place> {
        let byte = self.trie.byte(node);
        let class = self.matcher.program().classes.class(byte);
        let Step { to: config, told } = self.matcher.step_class(from.config, class);
        if config == DEAD {
            return None;
        }
        let (depth, inside) = (self.trie.depth(node), self.trie.is_inside(node));
        Some(Place {
            config,
            chars: from.chars + u32::from(depth == 1 || !is_continuation(byte)),
            used: from.used.plus(told.rounds()),
            ambiguous: from.ambiguous || told.ambiguous,
            between: if inside { from.between } else { depth },
        })
    }

    /// Takes the tokens that end at a node, if enough is left.
    fn take_ends(&mut self, node: usize, at: &Place, left: u64, memo: &mut Memo) {
        let ends = self.trie.ends(node);
        if !ends.is_empty() && self.fits(at.config, left) {
            memo.need = memo.need.max(self.matcher.need(at.config));
            memo.take(ends, at);
        }
    }

    /// Takes all tokens below a node that go on from its place by a run, however long, and opens the subtrees where
    /// others leave it. If that is not worth it, says so and does nothing.
    fn take_text(&mut self, node: usize, at: &Place, left: u64, memo: &mut Memo) -> bool {
        let run = self.matcher.run(at.config).if_left(left);
        if run.chars <= MAX_LEAD_IN + 1 || run.buckets.count_ones() < MIN_BUCKETS {
            return false;
        }
        let trie = self.trie.clone();
        let within = trie.within(node, run.buckets);
        // Tokens of more characters than the run may have.
        let most = at.chars.saturating_add(run.chars);
        let mut doubtful = Vec::new();
        if run.chars < within.chars {
            doubtful.extend(trie.longer_within(most, &within).take(MAX_DOUBTFUL));
        }
        let used = at.used.plus(Rounds::one_in(run.told.lanes).times(within.chars.min(run.chars)));
        if doubtful.len() == MAX_DOUBTFUL || memo.long.wants(used) && !memo.long.is_pure(at, run) {
            return false;
        }
        memo.mask.ranks.insert_all(&within);
        memo.need = memo.need.max(run.need);
        memo.used = memo.used.max(used);
        if memo.long.wants(used) {
            memo.long.pure.insert_all(&within);
        }
        for rank in doubtful {
            memo.mask.ranks.put(rank, false);
            memo.long.pure.put(rank, false);
            let end = self.along(at, &trie.text_of_rank(rank)[trie.depth(node)..], trie.chars(rank) - at.chars);
            if let Some(end) = end.filter(|end| self.fits(end.config, left)) {
                memo.need = memo.need.max(self.matcher.need(end.config));
                memo.take(rank..rank + 1, &end);
            }
        }
        let mut bytes = [0; 4];
        for lead in leads(&mut self.matcher, at.config, run) {
            bytes.iter_mut().zip(self.matcher.readable(lead)).for_each(|(word, other)| *word |= other);
        }
        for byte in ones(bytes.into_iter()) {
            for exit in within.exits(byte as u8) {
                let top = exit.node as usize;
                let between = trie.depth(top) - 1;
                let text = &trie.text_of_rank(trie.all(top).start)[trie.depth(node)..between];
                if let Some(from) = self.along(at, text, exit.chars) {
                    self.open.push((Place { between, ..from }, top));
                }
            }
        }
        true
    }

    /// The place after some more characters of text.
    fn along(&mut self, from: &Place, text: &[u8], chars: u32) -> Option<Place> {
        let mut place = Place { chars: from.chars + chars, ..*from };
        for byte in text {
            let class = self.matcher.program().classes.class(*byte);
            let Step { to, told } = self.matcher.step_class(place.config, class);
            if to == DEAD {
                return None;
            }
            place.used = place.used.plus(told.rounds());
            place.ambiguous |= told.ambiguous;
            place.config = to;
        }
        Some(place)
    }

    /// Walks a subtree, from the place of its root's parent.
    fn walk_below(&mut self, start: Place, top: usize, left: u64, memo: &mut Memo) {
        let trie = self.trie.clone();
        let run = self.matcher.known_run(start.config).map(|run| run.if_left(left));
        self.path.clear();
        self.path.resize(trie.depth(top), (start, run));
        let mut node = top;
        let end = trie.skip(top);
        while node < end {
            let (depth, summary, skip) = (trie.depth(node), trie.summary(node), trie.skip(node));
            let (from, _) = self.path[depth - 1];
            let (between, run) = self.path[from.between];
            // Where a run is known it decides most subtrees; elsewhere most of them lead nowhere.
            if let Some(run) = run.filter(|run| run.takes(summary)) {
                memo.need = memo.need.max(run.need);
                memo.take_run(trie.all(node), &between, run, summary.chars, &trie);
                node = skip;
                continue;
            }
            let Some(place) = self.reach(&from, node) else {
                node = skip;
                continue;
            };
            let size = skip - node;
            if size > MIN_SUBTREE && run.is_none() && takes_all(&mut self.matcher, between.config, summary.buckets) {
                self.path[from.between].1 = Some(self.matcher.run(between.config).if_left(left));
                continue; // and ask again
            }
            self.take_ends(node, &place, left, memo);
            let mut run = None;
            if !trie.is_inside(node) && size > 1 {
                run = self.matcher.known_run(place.config).map(|run| run.if_left(left));
                let bytes = self.matcher.readable(place.config);
                let is_large = size > trie.nodes() / LARGE_PART;
                let is_few = count(bytes) <= MAX_FEW;
                if is_few && trie.is_wide(node) {
                    self.open(node, &place, bytes);
                    node = skip;
                    continue;
                }
                if !is_few && is_large && self.take_text(node, &place, left, memo) {
                    node = skip;
                    continue;
                }
            }
            node += 1;
            if size > 1 {
                self.path.truncate(depth);
                self.path.push((place, run));
            }
        }
    }

    fn add_token_items(&mut self, config: SetId, memo: &mut Memo) {
        let trie = self.trie.clone();
        for (item, negated) in self.matcher.token_items(config) {
            for rank in 0..trie.tokens() {
                let id = trie.id(rank);
                if (id == item) != negated && trie.end_of_generation().binary_search(&id).is_err() {
                    memo.mask.ranks.put(rank, true);
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
    pub fn mask_within(&mut self, config: SetId, left: u64) -> TokenMask {
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
                    mask.ranks.put(rank, true);
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
    pub fn closing(&mut self, config: SetId) -> u32 {
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
            let shortens = |(_, class): &&(u8, u8)| self.matcher.need_after(at, usize::from(*class)) <= wanted;
            let Some((byte, class)) = self.usable.iter().find(shortens).copied() else { return need };
            let next = self.matcher.step_class(at, usize::from(class)).to;
            debug_assert!(next == DEAD || self.matcher.need(next) == self.matcher.need_after(at, usize::from(class)));
            if next == DEAD {
                return need; // there was too much to do
            }
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

impl Memo {
    fn new(mask: TokenMask) -> Self {
        let long = Long { lanes: 0, pure: mask.ranks.none(), others: Vec::new(), unknown: false };
        Self { mask, need: 0, used: Rounds::ZERO, long }
    }

    /// Adds the tokens that end at a place.
    fn take(&mut self, ranks: Range<usize>, at: &Place) {
        self.mask.ranks.insert_range(ranks.clone());
        self.used = self.used.max(at.used);
        if self.long.wants(at.used) {
            let is_pure = at.used.is(at.chars, self.long.lanes) && !at.ambiguous;
            self.long.add(ranks, is_pure, at.ambiguous, |_| at.used);
        }
    }

    /// Adds the tokens that go on from a place by a run of at most so many characters.
    fn take_run(&mut self, ranks: Range<usize>, at: &Place, run: Run, chars: u32, trie: &TokenTrie) {
        self.mask.ranks.insert_range(ranks.clone());
        let rounds = |chars: u32| at.used.plus(Rounds::one_in(run.told.lanes).times(chars));
        let used = rounds(chars);
        self.used = self.used.max(used);
        if self.long.wants(used) {
            let ambiguous = at.ambiguous || run.told.ambiguous;
            self.long.add(ranks, self.long.is_pure(at, run), ambiguous, |rank| {
                rounds(trie.chars(rank).saturating_sub(at.chars))
            });
        }
    }
}

impl Long {
    /// Whether a token that begins so many rounds is long.
    fn wants(&self, used: Rounds) -> bool {
        self.lanes != 0 && !self.unknown && used.beyond(Rounds::all(MIN_ROOM)) & self.lanes != 0
    }

    /// Whether all that follows a place by a run begins a round with every character, as what is before it does.
    fn is_pure(&self, at: &Place, run: Run) -> bool {
        let ambiguous = at.ambiguous || run.told.ambiguous;
        at.used.is(at.chars, self.lanes) && run.told.lanes & self.lanes == self.lanes && !ambiguous
    }

    fn add(&mut self, ranks: Range<usize>, is_pure: bool, ambiguous: bool, used: impl Fn(usize) -> Rounds) {
        if is_pure {
            self.pure.insert_range(ranks);
        } else if self.others.len() + ranks.len() > MAX_LONG {
            self.unknown = true;
        } else {
            self.others.extend(ranks.map(|rank| LongToken { rank: rank as u32, used: used(rank), ambiguous }));
        }
    }
}

/// The error where a text can be read in so many ways that following them takes too long.
pub(super) fn too_ambiguous() -> Error {
    beyond(MAX_WORK, "the grammar is too ambiguous for this text: following its readings takes too long, in steps")
}

/// The error where the readings of a text are too many, or too deep, to be kept.
pub(super) fn too_large() -> Error {
    beyond(
        MAX_FRAMES,
        "the text is too deep or too ambiguous for the grammar: its readings take too much memory, in places",
    )
}

fn beyond(limit: usize, what: &str) -> Error {
    let detail = Detail::Limit { requested: limit as u64 + 1, available: limit as u64 };
    Error::new(ErrorKind::InvalidGrammar, format!("{what} (at most {limit})")).with_detail(detail)
}

fn count(bytes: [u64; 4]) -> u32 {
    bytes.iter().map(|word| word.count_ones()).sum()
}

/// The byte of a set of one.
fn only(bytes: [u64; 4]) -> Option<u8> {
    let word = bytes.iter().position(|word| *word != 0)?;
    (count(bytes) == 1).then(|| (64 * word) as u8 + bytes[word].trailing_zeros() as u8)
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
