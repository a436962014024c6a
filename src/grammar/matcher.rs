//! Bytes against a program: a deterministic automaton, made while it runs, whose states are whole parser states.
//!
//! ```text
//! configuration = set of frames        what may come next, over all ways to read the text so far
//! frame         = (set of frames to return to, state, counts)
//! ```
//!
//! Both kinds of set are the same thing, and equal sets are stored once, so a set is a number: the stack is a graph
//! shared by all readings (a graph-structured stack *by value*), ambiguity cannot multiply it, and equal contexts at
//! different places of the text are the same configuration. A byte leads from configuration to configuration; the
//! answer is kept in a row of a table, so the second time it costs one load.
//!
//! The real code adds to that picture:
//! - A rule is entered once for each configuration, with all its callers in one set. Rules are entered in an order in
//!   which callers come first, so that the set is complete; left recursion is refused, so there is such an order.
//! - A call that is the last thing its rule does returns to the rule's own callers: right recursion does not grow.
//! - A frame in a counted repetition counts its rounds. Readings that differ in nothing but their number are one frame
//!   with a range of counts (a counting set), so that an ambiguous text has as many frames as places, not as numbers.
//! - Rounds and rules end in the order of what they return to, latest first: so each set is returned to once a byte.
//! - In [`freed`](Matcher::freed) configurations, counts that may
//!   go up and may stop are forgotten: most positions in a counted text then are one. Every step from such a
//!   configuration says which repetitions it begins a round of, so that a reader who adds them up can tell whether the
//!   text would have fitted into the counts that were forgotten.
//! - Each set knows the fewest bytes to the end of the text ([`need`](Matcher::need)).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hasher;
use std::sync::Arc;

use super::program::{ACCEPT, ByteEdge, Counter, INFINITE, MAX_DISTANCE, Program, StateId};
use super::rounds::Rounds;
use super::run::Run;
use crate::tokenizer::TokenId;
use crate::tokenizer::trie::insert_range;

/// The number of a set of frames.
pub(super) type SetId = u32;

/// The configuration without a future: no text from here is a sentence.
pub(super) const DEAD: SetId = 0;

/// What the frames of the outermost rule return to: the end of the text.
const BOTTOM: SetId = 1;

/// The count of a repetition that is far enough from its bounds to be treated as unbounded.
const FREE: u32 = u32::MAX;

/// The table has no answer yet.
const UNKNOWN: SetId = SetId::MAX;
const NO_ROW: u32 = u32::MAX;

/// How much may be in use: 16 bytes for a frame. In use are an output's readings in all places that can be gone back to.
/// What else is remembered is forgotten once all of it is more than this, or than twice what is in use: so forgetting
/// takes no more time than remembering did.
pub(super) const MAX_FRAMES: usize = 1 << 20;
/// And 8 bytes for an entry of the table.
const MAX_ENTRIES: usize = 1 << 21;

/// How much work is done for one mask or one token, in frames and entries made: about a second's, and at most 128 MB.
/// Where a text can be read in very many ways at once, this ends it.
pub const MAX_WORK: usize = 1 << 23;

/// A call in last place is forgotten only if there are at most this many places to return to instead, lest copies of
/// them add up to the square of the depth.
const MAX_TAIL_FRAMES: usize = 32;

/// The place in a rule of one reading, or of several that differ only in a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Frame {
    /// Where to go on after the rule: a set that is older than all sets with this frame.
    below: SetId,
    state: StateId,
    /// The fewest and the most finished rounds, and all numbers between, where the rule is a counted repetition; else 0.
    least: u32,
    most: u32,
}

impl Frame {
    const END: Self = Self::of(ACCEPT, DEAD);

    const fn of(state: StateId, below: SetId) -> Self {
        Self { below, state, least: 0, most: 0 }
    }

    fn is_free(&self) -> bool {
        self.most == FREE
    }

    /// Takes the counts of one that is not greater, if the two together have no gap.
    fn join(&mut self, smaller: &Self) -> bool {
        let same = (self.below, self.state) == (smaller.below, smaller.state);
        let joins = same && smaller.most.saturating_add(1) >= self.least;
        if joins {
            (self.least, self.most) = (smaller.least, self.most.max(smaller.most));
        }
        joins
    }
}

/// A place in a text where there is one reading and one byte to go on by: inside a word of the grammar. Most of these are
/// passed in the middle of a token, and never are a configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    frame: Frame,
    pub byte: u8,
    target: StateId,
}

/// Sorts frames and joins what can be joined, so that equal sets are equal lists.
fn tidy(frames: &mut Vec<Frame>) {
    frames.sort_unstable();
    frames.dedup_by(|next, frame| {
        let joins = next.join(frame);
        if joins {
            *frame = *next;
        }
        joins
    });
}

/// What is known of a set from the moment it is stored.
#[derive(Clone, Copy, Debug)]
struct Facts {
    start: u32,
    len: u32,
    need: u32,
    /// The set with counts forgotten; often the set itself.
    freed: SetId,
    /// The rounds that the forgotten counts have left; the fewest where there are several in a lane.
    room: Rounds,
    /// Whether all in a lane have the same left.
    even: bool,
    /// The lanes of counts that are forgotten in this set itself, as a bit set.
    free_lanes: u8,
    /// Where its row in the table is, or [`NO_ROW`], and the classes of bytes that the row is of. Others lead nowhere.
    row: u32,
    first: u8,
    last: u8,
}

const _: () = assert!(size_of::<Facts>() == 32);

impl Facts {
    /// Where in the table the step by a class is, if it may lead anywhere.
    #[inline]
    fn entry(&self, class: usize) -> Option<usize> {
        (self.first.into()..=self.last.into())
            .contains(&class)
            .then(|| self.row as usize + class - usize::from(self.first))
    }

    fn bound(&mut self, room: Rounds, even: bool) {
        self.even &= even && room.agrees(self.room);
        self.room = self.room.min(room);
    }
}

/// An entry of the table: where a byte leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub to: SetId,
    pub told: Told,
}

impl Step {
    const UNKNOWN: Self = Self { to: UNKNOWN, told: Told::NOTHING };
    const DEAD: Self = Self { to: DEAD, told: Told::NOTHING };
}

/// What a step tells beside the configuration it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// The lanes of forgotten counts that go up by one, as a bit set.
    pub lanes: u8,
    /// Whether there is more than one reading, or a round is counted that need not have begun: then rounds that do not
    /// fit are no proof that the text does not.
    pub ambiguous: bool,
    /// Whether counts that share a lane go up at once: then their sum may be more than the lane tells.
    pub crowded: bool,
}

impl Told {
    pub const NOTHING: Self = Self { lanes: 0, ambiguous: false, crowded: false };

    /// What is told by two steps, one after the other.
    pub fn and(self, other: Self) -> Self {
        Self {
            lanes: self.lanes | other.lanes,
            ambiguous: self.ambiguous || other.ambiguous,
            crowded: self.crowded || other.crowded,
        }
    }

    /// What is told by one of two steps.
    pub fn or(self, other: Self) -> Self {
        let both = self.and(other);
        Self { ambiguous: both.ambiguous || self.lanes != other.lanes, ..both }
    }

    /// The rounds of the step.
    pub fn rounds(self) -> Rounds {
        if self.crowded { Rounds::all(Rounds::MANY) } else { Rounds::one_in(self.lanes) }
    }

    fn round(&mut self, counter: Counter) {
        self.crowded |= self.lanes >> counter.lane & 1 == 1;
        self.lanes |= 1 << counter.lane;
    }
}

/// The tables of one run. Grows as it reads; [`Matcher::compact`] forgets what is no longer needed.
#[derive(Debug)]
pub(super) struct Matcher {
    program: Arc<Program>,
    /// As in the program, or longer where the vocabulary lacks bytes.
    distances: Arc<[u32]>,
    frames: Vec<Frame>,
    sets: Vec<Facts>,
    /// How many frames were in use when it was last asked.
    in_use: usize,
    /// Hash table of set numbers (open addressing; its length is a power of two).
    index: Vec<SetId>,
    /// The rows, one after the other.
    table: Vec<Step>,
    runs: Vec<Option<Run>>,
    /// Empty between two steps; their memory is used again.
    kernel: Vec<Frame>,
    closed: Vec<Frame>,
    callers: Vec<Frame>,
    calls: Calls,
    /// What is left of [`MAX_WORK`]. At 0 every new step leads nowhere, and what is learnt from that is wrong.
    work: usize,
}

impl Matcher {
    pub fn new(program: Arc<Program>, distances: Arc<[u32]>) -> Self {
        let mut matcher = Self {
            program,
            distances,
            // Enough for a small grammar, so that its first masks do not wait for memory.
            frames: Vec::with_capacity(256),
            sets: Vec::with_capacity(128),
            in_use: 0,
            index: vec![UNKNOWN; 256],
            table: Vec::with_capacity(256),
            runs: Vec::new(),
            kernel: Vec::with_capacity(16),
            closed: Vec::with_capacity(16),
            callers: Vec::with_capacity(16),
            calls: BinaryHeap::with_capacity(16),
            work: MAX_WORK,
        };
        matcher.clear();
        matcher
    }

    fn clear(&mut self) {
        self.frames.clear();
        self.sets.clear();
        self.index.fill(UNKNOWN);
        self.table.clear();
        self.runs.clear();
        let dead = self.intern(&[]);
        let bottom = self.intern(&[Frame::END]);
        debug_assert_eq!((dead, bottom), (DEAD, BOTTOM));
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Allows for another [`MAX_WORK`].
    pub fn refresh(&mut self) {
        self.work = MAX_WORK;
    }

    /// Allows for some more work, if there is any left.
    pub fn allow(&mut self, work: usize) {
        if !self.is_exhausted() {
            self.work = MAX_WORK.min(self.work + work);
        }
    }

    /// Whether there was more to do than [`MAX_WORK`] since the last [`refresh`](Self::refresh). Nothing that has been
    /// found since then can be trusted: all must be forgotten by [`compact`](Self::compact).
    pub fn is_exhausted(&self) -> bool {
        self.work == 0
    }

    fn spend(&mut self, work: usize) {
        self.work = self.work.saturating_sub(work);
    }

    /// The configuration before the first byte.
    pub fn start(&mut self) -> SetId {
        let root = self.program.rule(Program::ROOT);
        self.calls.push((Reverse(root.order), Program::ROOT, Frame::END));
        let mut frames = Vec::new();
        if self.program.state(root.entry).ends {
            frames.push(Frame::END);
        }
        self.enter(&mut frames)
    }

    /// The configuration after one more byte.
    #[inline]
    pub fn step(&mut self, from: SetId, byte: u8) -> SetId {
        self.step_class(from, self.program.classes.class(byte)).to
    }

    /// Where one more byte of that class leads.
    #[inline]
    pub fn step_class(&mut self, from: SetId, class: usize) -> Step {
        let facts = &self.sets[from as usize];
        if facts.row != NO_ROW {
            let known = facts.entry(class).map_or(Step::DEAD, |entry| self.table[entry]);
            if known.to != UNKNOWN {
                return known;
            }
        }
        self.compute(from, class)
    }

    #[cold]
    fn compute(&mut self, from: SetId, class: usize) -> Step {
        if self.is_exhausted() {
            return Step::DEAD;
        }
        self.add_row(from);
        let Some(entry) = self.sets[from as usize].entry(class) else { return Step::DEAD };
        if self.table[entry].to != UNKNOWN {
            return self.table[entry];
        }
        let byte = self.program.classes.representative(class);
        let mut kernel = std::mem::take(&mut self.kernel);
        let mut told = Told::NOTHING;
        for frame in self.frames(from) {
            for edge in self.program.bytes(frame.state) {
                if edge.low <= byte && byte <= edge.high {
                    told.ambiguous |= !kernel.is_empty();
                    kernel.push(Frame { state: edge.target, ..*frame });
                    if frame.is_free()
                        && let Some(counter) = self.begins_round(frame)
                    {
                        told.round(counter);
                    }
                }
            }
        }
        let to = match kernel[..] {
            [frame] if self.program.is_plain(frame.state) => self.intern(&[frame]),
            _ => self.close(&mut kernel, &mut told),
        };
        kernel.clear();
        self.kernel = kernel;
        self.table[entry] = Step { to, told };
        self.table[entry]
    }

    /// The counter of a round that begins with the byte that the frame reads next. Where a round begins with a call,
    /// it counts from the end of the round before it instead.
    fn begins_round(&self, frame: &Frame) -> Option<Counter> {
        let rule = self.program.rule(self.program.state(frame.state).rule);
        rule.counter.filter(|_| frame.state == rule.entry && self.program.calls(rule.entry).is_empty())
    }

    /// Makes room for the steps from a configuration, if there is none. Where a class leads nowhere, as most do, that is
    /// told at once.
    fn add_row(&mut self, config: SetId) {
        let Facts { start, len, row: NO_ROW, .. } = self.sets[config as usize] else { return };
        let frames = &self.frames[start as usize..(start + len) as usize];
        // The smallest byte of a class is read by an edge of each target that its other bytes lead to.
        let read = |edge: &ByteEdge| self.program.classes.beginning_in(edge.low, edge.high);
        let (mut first, mut end) = (usize::MAX, 0);
        for frame in frames {
            for edge in self.program.bytes(frame.state) {
                let classes = read(edge);
                (first, end) = (first.min(classes.start), end.max(classes.end));
            }
        }
        let row = self.table.len();
        let facts = &mut self.sets[config as usize];
        facts.row = row as u32;
        if end == 0 {
            return; // nothing can be read
        }
        (facts.first, facts.last) = (first as u8, (end - 1) as u8);
        self.table.resize(row + end - first, Step::DEAD);
        self.work = self.work.saturating_sub((end - first + len as usize) / 2);
        for frame in frames {
            for edge in self.program.bytes(frame.state) {
                let classes = read(edge);
                self.table[row + classes.start - first..row + classes.end - first].fill(Step::UNKNOWN);
            }
        }
    }

    /// The bytes that may be readable from there, as a bit set.
    pub fn readable(&self, config: SetId) -> [u64; 4] {
        let mut bytes = [0; 4];
        for frame in self.frames(config) {
            for edge in self.program.bytes(frame.state) {
                insert_range(&mut bytes, edge.low.into()..usize::from(edge.high) + 1);
            }
        }
        bytes
    }

    /// The configuration after that token by the grammar's token items alone, not by its bytes.
    pub fn step_token(&mut self, from: SetId, id: TokenId) -> SetId {
        if self.is_exhausted() {
            return DEAD;
        }
        let program = self.program.clone();
        let mut kernel = Vec::new();
        for frame in self.frames(from) {
            for edge in program.tokens(frame.state) {
                if (edge.id == id) != edge.negated {
                    kernel.push(Frame { state: edge.target, ..*frame });
                }
            }
        }
        self.close(&mut kernel, &mut { Told::NOTHING })
    }

    /// The token items that may come next, as ids with "any other" flags.
    pub fn token_items(&self, config: SetId) -> Vec<(TokenId, bool)> {
        let edges = self.frames(config).iter().flat_map(|frame| self.program.tokens(frame.state));
        let mut items: Vec<_> = edges.map(|edge| (edge.id, edge.negated)).collect();
        items.sort_unstable();
        items.dedup();
        items
    }

    /// The configuration in which both may go on.
    pub fn union(&mut self, a: SetId, b: SetId) -> SetId {
        if a == DEAD || b == DEAD || a == b {
            return a.max(b);
        }
        let mut frames = [self.frames(a), self.frames(b)].concat();
        tidy(&mut frames);
        self.intern(&frames)
    }

    /// Whether the text so far is a sentence.
    pub fn is_complete(&self, config: SetId) -> bool {
        self.frames(config).first().is_some_and(|frame| frame.state == ACCEPT)
    }

    /// The fewest bytes (or single tokens) from here to a sentence.
    #[inline]
    pub fn need(&self, config: SetId) -> u32 {
        self.sets[config as usize].need
    }

    /// What [`need`](Self::need) would be after one more byte of that class: to be told without taking the step, which is
    /// more work where there are many readings.
    pub fn need_after(&self, config: SetId, class: usize) -> u32 {
        let byte = self.program.classes.representative(class);
        let frames = self.frames(config).iter();
        let after = frames.flat_map(|frame| {
            let edges = self.program.bytes(frame.state).iter().filter(|edge| edge.low <= byte && byte <= edge.high);
            edges.map(|edge| Frame { state: edge.target, ..*frame })
        });
        after.map(|frame| self.frame_need(&frame)).min().unwrap_or(INFINITE)
    }

    /// The same configuration with counts forgotten, and the rounds after which it would no longer be the same.
    #[inline]
    pub fn freed(&self, config: SetId) -> (SetId, Rounds) {
        let facts = self.sets[config as usize];
        (facts.freed, facts.room)
    }

    /// Whether a text that begins more rounds than there are left cannot be read in another way that begins fewer.
    pub fn is_even(&self, config: SetId) -> bool {
        self.sets[config as usize].even
    }

    /// The lanes of counts that are already forgotten in a configuration, as a bit set.
    pub fn free_lanes(&self, config: SetId) -> u8 {
        self.sets[config as usize].free_lanes
    }

    /// The byte that comes next, if only one can.
    pub fn only_byte(&self, config: SetId) -> Option<u8> {
        let mut only = None;
        for frame in self.frames(config) {
            if frame.state == ACCEPT || !self.program.tokens(frame.state).is_empty() {
                return None;
            }
            for edge in self.program.bytes(frame.state) {
                if edge.low != edge.high || only.is_some_and(|byte| byte != edge.low) {
                    return None;
                }
                only = Some(edge.low);
            }
        }
        only
    }

    /// The place inside a word of the grammar, if the configuration is no more than that.
    #[inline]
    pub fn word(&self, config: SetId) -> Option<Word> {
        match self.frames(config) {
            [frame] => self.word_of(*frame),
            _ => None,
        }
    }

    /// The place after the byte of the word, if the word goes on there.
    #[inline]
    pub fn along(&self, word: Word) -> Option<Word> {
        self.word_of(Frame { state: word.target, ..word.frame })
    }

    fn word_of(&self, frame: Frame) -> Option<Word> {
        let program = &*self.program;
        match program.bytes(frame.state) {
            [edge] if edge.low == edge.high && program.is_word(frame.state) && !frame.is_free() => {
                Some(Word { frame, byte: edge.low, target: edge.target })
            }
            _ => None,
        }
    }

    /// The fewest bytes (or single tokens) from there to a sentence.
    pub fn need_of(&self, word: Word) -> u32 {
        self.frame_need(&word.frame)
    }

    /// The configuration that is no more than that place.
    pub fn config_of(&mut self, word: Word) -> SetId {
        self.intern(&[word.frame])
    }

    /// How a text of some kinds of characters fares from here, if that has been found.
    #[inline]
    pub fn known_run(&self, config: SetId) -> Option<Run> {
        *self.runs.get(config as usize)?
    }

    /// How a text of some kinds of characters fares from here.
    pub fn run(&mut self, config: SetId) -> Run {
        if let Some(run) = self.known_run(config) {
            return run;
        }
        let run = super::run::find(self, config);
        if self.runs.len() < self.sets.len() {
            self.runs.resize(self.sets.len(), None);
        }
        self.runs[config as usize] = Some(run);
        run
    }

    fn frames(&self, set: SetId) -> &[Frame] {
        let Facts { start, len, .. } = self.sets[set as usize];
        &self.frames[start as usize..(start + len) as usize]
    }

    /// Ends rules and rounds that can end in these frames, then enters the rules that are called.
    ///
    /// No frame here is in a rule that was entered at this very place: a call of a rule that matches the empty text is
    /// an empty step of the program as well.
    fn close(&mut self, kernel: &mut Vec<Frame>, told: &mut Told) -> SetId {
        let mut closed = std::mem::take(&mut self.closed);
        let mut open = BinaryHeap::from(std::mem::take(kernel));
        let mut work = 0;
        let mut left = DEAD;
        while let Some(mut frame) = open.pop() {
            while open.peek().is_some_and(|next| frame.join(next)) {
                open.pop();
            }
            closed.push(frame);
            self.call_from(frame);
            let program = &*self.program;
            let state = program.state(frame.state);
            if !state.ends {
                continue;
            }
            let rule = program.rule(state.rule);
            let mut leaves = true;
            if let Some(counter) = rule.counter {
                let (again, enough) = next_round(counter, frame);
                leaves = enough;
                if let Some(again) = again {
                    let again = Frame { state: rule.entry, ..again };
                    if again.is_free() && self.begins_round(&again).is_none() {
                        told.round(counter);
                        told.ambiguous = true; // nothing has to come of the new round
                    }
                    open.push(again);
                }
            }
            // All frames that go on there come one after the other, and what they go on to comes later.
            if leaves && frame.below != left {
                left = frame.below;
                let back = self.frames(left);
                work += back.len();
                open.extend(back);
            }
        }
        self.spend(work + closed.len());
        let set = self.enter(&mut closed);
        closed.clear();
        self.closed = closed;
        *kernel = open.into_vec();
        set
    }

    /// Notes the calls from a frame. A call goes on at its frame, or where the frame's rule goes on if the call is the
    /// last thing in it.
    fn call_from(&mut self, frame: Frame) {
        let program = &*self.program;
        for call in program.calls(frame.state) {
            let order = Reverse(program.rule(call.rule).order);
            let Facts { start, len, .. } = self.sets[frame.below as usize];
            if program.is_tail(call.back) && len as usize <= MAX_TAIL_FRAMES {
                let below = &self.frames[start as usize..(start + len) as usize];
                self.calls.extend(below.iter().map(|back| (order, call.rule, *back)));
            } else {
                self.calls.push((order, call.rule, Frame { state: call.back, ..frame }));
            }
        }
    }

    /// Enters the rules that are called, and those that they call, and stores the configuration.
    fn enter(&mut self, config: &mut Vec<Frame>) -> SetId {
        let mut callers = std::mem::take(&mut self.callers);
        while let Some((order, rule, frame)) = self.calls.pop() {
            callers.clear();
            callers.push(frame);
            while let Some((.., frame)) = self.calls.peek().filter(|(other, ..)| *other == order) {
                callers.push(*frame);
                self.calls.pop();
            }
            self.spend(callers.len());
            tidy(&mut callers);
            let below = self.intern(&callers);
            let entered = Frame::of(self.program.rule(rule).entry, below);
            config.push(entered);
            self.call_from(entered);
        }
        self.callers = callers;
        config.retain(|frame| self.program.reads(frame.state));
        tidy(config);
        self.intern(config)
    }

    /// The number of a set; `frames` is [`tidy`].
    fn intern(&mut self, frames: &[Frame]) -> SetId {
        let mask = self.index.len() - 1;
        let mut slot = hash(frames) & mask;
        loop {
            match self.index[slot] {
                UNKNOWN => break,
                set if self.frames(set) == frames => return set,
                _ => slot = (slot + 1) & mask,
            }
        }
        let set = self.sets.len() as SetId;
        self.index[slot] = set;
        let (facts, counts) = self.facts(set, frames);
        self.frames.extend_from_slice(frames);
        self.sets.push(facts);
        self.spend(frames.len());
        if 2 * self.sets.len() > self.index.len() {
            self.grow_index();
        }
        if counts {
            let mut freed = Vec::with_capacity(frames.len());
            frames.iter().for_each(|frame| self.free(*frame, &mut freed));
            tidy(&mut freed);
            self.sets[set as usize].freed = self.intern(&freed);
        }
        set
    }

    fn grow_index(&mut self) {
        let mut index = vec![UNKNOWN; 2 * self.index.len()];
        let mask = index.len() - 1;
        for set in 0..self.sets.len() as SetId {
            let mut slot = hash(self.frames(set)) & mask;
            while index[slot] != UNKNOWN {
                slot = (slot + 1) & mask;
            }
            index[slot] = set;
        }
        self.index = index;
    }

    /// What is known of a new set, and whether there are counts to be forgotten, here or below: those that have enough
    /// rounds.
    fn facts(&self, set: SetId, frames: &[Frame]) -> (Facts, bool) {
        let (start, len) = (self.frames.len() as u32, frames.len() as u32);
        let (need, room) = (INFINITE, Rounds::UNBOUNDED);
        let mut facts =
            Facts { start, len, need, freed: set, room, even: true, free_lanes: 0, row: NO_ROW, first: 1, last: 0 };
        let mut counts = false;
        for frame in frames {
            if frame.state == ACCEPT {
                facts.need = 0;
                continue;
            }
            let below = &self.sets[frame.below as usize];
            counts |= below.freed != frame.below;
            facts.free_lanes |= below.free_lanes;
            facts.bound(below.room, below.even);
            let rule = self.program.rule(self.program.state(frame.state).rule);
            if let Some(Counter { min, max, lane }) = rule.counter {
                if frame.is_free() {
                    facts.free_lanes |= 1 << lane;
                }
                if let Some(max) = max.filter(|_| (min..FREE).contains(&frame.most)) {
                    let begun = u32::from(self.begins_round(frame).is_none());
                    let even = frame.least.max(min) == frame.most;
                    facts.bound(Rounds::at_most(lane, max.saturating_sub(frame.most + begun)), even);
                    counts = true;
                }
            }
            facts.need = facts.need.min(self.frame_need(frame));
        }
        (facts, counts)
    }

    /// The fewest bytes (or single tokens) from a frame to a sentence.
    fn frame_need(&self, frame: &Frame) -> u32 {
        if frame.state == ACCEPT {
            return 0;
        }
        let need = self.distances[frame.state as usize].saturating_add(self.sets[frame.below as usize].need);
        let rule = self.program.rule(self.program.state(frame.state).rule);
        let rounds = rule.counter.map_or(0, |counter| counter.min.saturating_sub(frame.most.saturating_add(1)));
        match need.saturating_add(rounds.saturating_mul(self.distances[rule.entry as usize])) {
            need @ ..=MAX_DISTANCE => need,
            _ => INFINITE,
        }
    }

    /// The frame with its counts forgotten where they may go up and may stop: a free one, and one with what is left.
    fn free(&self, frame: Frame, freed: &mut Vec<Frame>) {
        if frame.state == ACCEPT {
            return freed.push(frame);
        }
        let mut frame = Frame { below: self.sets[frame.below as usize].freed, ..frame };
        if let Some(Counter { min, max: Some(_), .. }) = self.program.counter(frame.state)
            && frame.most >= min
        {
            freed.push(Frame { least: FREE, most: FREE, ..frame });
            if frame.least >= min {
                return;
            }
            frame.most = min - 1;
        }
        freed.push(frame);
    }

    /// Whether enough has been remembered to call [`compact`](Self::compact), or right after that, whether more is in
    /// use than may be.
    pub fn is_full(&self) -> bool {
        let enough = MAX_FRAMES.max(2 * self.in_use);
        self.in_use > MAX_FRAMES || self.frames.len() > enough || self.table.len() > MAX_ENTRIES
    }

    /// Forgets everything but these configurations and what they return to. Renumbers them. Counts as no work.
    pub fn compact(&mut self, used: &mut [SetId]) {
        let work = self.work;
        let (frames, sets) = (std::mem::take(&mut self.frames), std::mem::take(&mut self.sets));
        let frames_of = |set: SetId| {
            let Facts { start, len, .. } = sets[set as usize];
            &frames[start as usize..(start + len) as usize]
        };
        // A set is stored after all sets below it: one pass down marks, one pass up copies.
        let mut live = vec![false; sets.len()];
        used.iter().for_each(|set| live[*set as usize] = true);
        for set in (0..sets.len()).rev() {
            if live[set] {
                frames_of(set as SetId).iter().for_each(|frame| live[frame.below as usize] = true);
            }
        }
        self.clear();
        let mut renamed = vec![DEAD; sets.len()];
        for set in 0..sets.len() {
            if live[set] {
                let below = |frame: &Frame| Frame { below: renamed[frame.below as usize], ..*frame };
                let mut copy: Vec<Frame> = frames_of(set as SetId).iter().map(below).collect();
                copy.sort_unstable();
                renamed[set] = self.intern(&copy);
            }
        }
        used.iter_mut().for_each(|set| *set = renamed[*set as usize]);
        self.in_use = self.frames.len();
        self.work = work;
    }
}

/// After a round: the counts with which the next begins, if there may be one, and whether there have been enough.
fn next_round(Counter { min, max, .. }: Counter, frame: Frame) -> (Option<Frame>, bool) {
    if frame.is_free() {
        return (Some(frame), true);
    }
    let (least, most) = (frame.least + 1, frame.most + 1);
    let again = match max {
        Some(max) => (least < max).then(|| Frame { least, most: most.min(max - 1), ..frame }),
        // Beyond the minimum there is nothing to count.
        None => Some(Frame { least: least.min(min), most: most.min(min), ..frame }),
    };
    (again, most >= min)
}

/// Calls still to be made, callers first: by the place of the rule in their order, the rule, and where to go on after it.
type Calls = BinaryHeap<(Reverse<u32>, u32, Frame)>;

/// Multiply and rotate: of small numbers that no one chooses against us.
#[derive(Default)]
pub(super) struct SmallHasher(u64);

impl Hasher for SmallHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x51_7C_C1_B7_27_22_0A_95);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

fn hash(frames: &[Frame]) -> usize {
    let mut hasher = SmallHasher::default();
    for frame in frames {
        hasher.write_u64(u64::from(frame.below) << 32 | u64::from(frame.state));
        hasher.write_u64(u64::from(frame.least) << 32 | u64::from(frame.most));
    }
    hasher.finish() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::Grammar;

    fn matcher(grammar: &str) -> Matcher {
        let program = Grammar::parse(grammar).unwrap().program().clone();
        let distances = program.distances.clone();
        Matcher::new(program, distances)
    }

    #[test]
    fn equal_contexts_are_one_configuration() {
        let mut matcher = matcher("root ::= \"[\" (string (\",\" string)*)? \"]\"\nstring ::= \"'\" [a-z]* \"'\"");
        let start = matcher.start();
        let after = |matcher: &mut Matcher, text: &str| text.bytes().fold(start, |at, byte| matcher.step(at, byte));
        assert_eq!(after(&mut matcher, "['a"), after(&mut matcher, "['abc"));
        assert_eq!(after(&mut matcher, "['a','b"), after(&mut matcher, "['a','b','c"));
        assert_eq!(after(&mut matcher, "['a'a"), DEAD);
    }

    /// Before the first round of a repetition and after each, the same may come.
    #[test]
    fn a_repetition_is_one_place() {
        let mut matcher = matcher("root ::= \"'\" ([a-z] | \"\\\\\" [nt])* \"'\"");
        let start = matcher.start();
        let after = |matcher: &mut Matcher, text: &str| text.bytes().fold(start, |at, byte| matcher.step(at, byte));
        assert_eq!(after(&mut matcher, "'"), after(&mut matcher, "'a"));
        assert_eq!(after(&mut matcher, "'"), after(&mut matcher, "'\\n"));
    }

    #[test]
    fn right_recursion_does_not_grow() {
        let mut matcher = matcher("root ::= \"a\" root | \"b\"");
        let mut config = matcher.start();
        for _ in 0..3 {
            config = matcher.step(config, b'a');
        }
        let sets = matcher.sets.len();
        for _ in 0..1000 {
            config = matcher.step(config, b'a');
        }
        assert_eq!(matcher.sets.len(), sets);
    }

    #[test]
    fn far_counts_are_forgotten() {
        let mut matcher = matcher("root ::= [a-z]{2,500} \".\"");
        let mut config = matcher.start();
        let mut seen = Vec::new();
        for _ in 0..490 {
            config = matcher.step(config, b'x');
            seen.push(matcher.freed(config));
        }
        assert!(seen[1..].iter().all(|(freed, _)| *freed == seen[1].0));
        assert_ne!(seen[0].0, seen[1].0, "the least number is not reached yet");
        let left = |at: usize| seen[at].1.in_lane(0);
        assert_eq!((left(1), left(299), left(489)), (126, 126, 10), "so many more rounds do not reach the bound");
    }

    /// Forgetting everything between any two bytes changes nothing.
    #[test]
    fn compaction_keeps_what_is_used() {
        let grammar = "root ::= \"(\" root{0,3} \")\" | [a-z]{2,40} \"!\"?";
        let text = b"((abc!de)(xyzxyzxyz(ab)))";
        let (mut kept, mut compacted) = (matcher(grammar), matcher(grammar));
        let mut config = kept.start();
        let mut history = vec![compacted.start()];
        for byte in text {
            config = kept.step(config, *byte);
            let next = compacted.step(history[history.len() - 1], *byte);
            history.push(next);
            compacted.compact(&mut history);
            let last = history[history.len() - 1];
            assert_eq!(kept.need(config), compacted.need(last));
            assert_eq!(kept.is_complete(config), compacted.is_complete(last));
        }
        assert!(kept.is_complete(config));
        // What came before can still be gone on from.
        let again = text[7..].iter().fold(history[7], |at, byte| compacted.step(at, *byte));
        assert!(compacted.is_complete(again));
    }
}
