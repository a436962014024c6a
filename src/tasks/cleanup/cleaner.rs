//! A cleanup in steps of bounded work.

use std::collections::VecDeque;

use serde::Serialize;

use super::assemble::{Carry, assemble};
use super::case::{Place, is_cased};
use super::dictionary::Dictionary;
use super::draft::{Draft, Pause, pause_of_trail};
use super::edit::{Decider, Edit, EditKind, apply};
use super::language::Language;
use super::layout::Ends;
use super::lexicon::words;
use super::marks::{NewMark, Surroundings};
use super::options::{CleanupOptions, Level};
use super::repairs::{self, Interrupted, RepairAnswer, RepairQuestion};
use super::witness::{MarkAnswer, MarkQuestion};
use super::words::{Scanner, Word};
use super::{
    RULES_VERSION, commas, corrections, discourse, fillers, fragments, identifiers, layout, marks, noises, numbers,
    repeats, rough, spoken,
};
use crate::Result;

/// A block is cut at the first good place after so many words …
const BLOCK_WORDS: usize = 256;
/// … and at any place after so many.
const MAX_BLOCK_WORDS: usize = 512;
/// A run of one word is not cut before so many.
const MAX_RUN_WORDS: usize = 8_192;
/// In live speech a sentence is settled once so many words have followed it.
const LIVE_WORDS_AFTER: usize = 24;
/// The last block has at least so many words, so that a final mark never comes too late.
const MIN_LAST_WORDS: usize = 32;

/// What a cleanup gives. The raw text stays with the caller: `apply(raw, edits) == text`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cleaned {
    pub text: String,
    /// In the order of the raw text, none overlapping another.
    pub edits: Vec<Edit>,
    pub level: Level,
    pub rules_version: &'static str,
}

/// One cleanup under way: the text is settled block by block, some hundred words a [`step`](Self::step).
///
/// # Example
/// ```
/// use fairhand::tasks::cleanup::{Cleaner, CleanupOptions, apply};
///
/// let raw = "um so the the lid is uh stuck";
/// let mut cleaner = Cleaner::new(raw, &CleanupOptions::default())?;
/// while cleaner.step() {}
/// let cleaned = cleaner.finish();
/// assert_eq!(cleaned.text, "So the lid is stuck.");
/// assert_eq!(apply(raw, &cleaned.edits), cleaned.text);
/// # Ok::<(), fairhand::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cleaner {
    raw: String,
    options: CleanupOptions,
    dictionary: Dictionary,
    /// The language of the caller's tag; without one each block tells its own.
    language: Option<Language>,
    scanner: Scanner,
    /// Words read and not yet settled.
    pending: VecDeque<Word>,
    carry: Carry,
    around: Surroundings,
    /// Everything before this byte of the raw text is settled.
    settled: usize,
    done: bool,
    has_words: bool,
    text: String,
    edits: Vec<Edit>,
    mark_questions: Vec<MarkQuestion>,
    /// None where nobody asks.
    repair_questions: Option<Vec<RepairQuestion>>,
    repair_answers: Vec<RepairAnswer>,
}

impl Cleaner {
    /// A cleanup of `raw` that has not begun.
    ///
    /// # Errors
    /// As [`CleanupOptions::check`].
    pub fn new(raw: &str, options: &CleanupOptions) -> Result<Self> {
        options.check()?;
        Ok(Self {
            raw: raw.to_owned(),
            dictionary: Dictionary::new(&options.dictionary),
            language: options.language.as_deref().map(Language::of_tag),
            options: options.clone(),
            scanner: Scanner::new(0),
            pending: VecDeque::new(),
            carry: Carry { place: Place::SentenceStart, cased: false },
            around: Surroundings::default(),
            settled: 0,
            done: false,
            has_words: false,
            text: String::with_capacity(raw.len()),
            edits: vec![],
            mark_questions: vec![],
            repair_questions: None,
            repair_answers: vec![],
        })
    }

    /// Asks for [`take_repair_questions`](Self::take_repair_questions), which cost time to spell out. To be called before the
    /// first step.
    pub fn asking_about_repairs(mut self) -> Self {
        self.repair_questions = Some(vec![]);
        self
    }

    /// Asks for [`take_mark_questions`](Self::take_mark_questions), which cost time to spell out. To be called before the first
    /// step.
    pub fn asking_about_marks(mut self) -> Self {
        self.around.asks = true;
        self
    }

    /// Lets a model have its say: its answers to the questions of an earlier cleanup of the same text with the same
    /// options. An answer to no question changes nothing. To be called before the first step.
    pub fn with_answers(mut self, mut marks: Vec<MarkAnswer>, mut repairs: Vec<RepairAnswer>) -> Self {
        marks.sort_by_key(|answer| answer.at);
        repairs.sort_by_key(|answer| answer.at);
        (self.around.answers, self.repair_answers) = (marks, repairs);
        self
    }

    /// What a model may be asked about what was taken back in the text settled since the last call, in its order.
    pub fn take_repair_questions(&mut self) -> Vec<RepairQuestion> {
        self.repair_questions.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// What a model may be asked about the marks of the text settled since the last call, in its order.
    pub fn take_mark_questions(&mut self) -> Vec<MarkQuestion> {
        std::mem::take(&mut self.mark_questions)
    }

    /// Settles the next block. Returns whether there is more to do.
    pub fn step(&mut self) -> bool {
        if self.done {
            return false;
        }
        let block = self.next_block();
        let end = self.pending.front().map_or(self.raw.len(), |word| word.lead);
        self.done = self.pending.is_empty();
        self.settle(block, end);
        if self.done && !self.has_words {
            self.drop_leftover_space();
        }
        !self.done
    }

    /// The text as far as it is settled.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The edits as far as the text is settled.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// How many bytes of the raw text are settled, and how many it has.
    pub fn progress(&self) -> (usize, usize) {
        (self.settled, self.raw.len())
    }

    /// Does what is left to do and gives the result.
    pub fn finish(mut self) -> Cleaned {
        while self.step() {}
        Cleaned { text: self.text, edits: self.edits, level: self.options.level, rules_version: RULES_VERSION }
    }

    /// Adds to the raw text of a cleanup that is not done.
    pub(super) fn append(&mut self, segment: &str) {
        let joined = |text: &str, at_end: bool| {
            let edge = if at_end { text.chars().next_back() } else { text.chars().next() };
            edge.is_none_or(char::is_whitespace)
        };
        if !self.raw.is_empty() && !joined(&self.raw, true) && !joined(segment, false) {
            self.raw.push(' ');
        }
        self.raw.push_str(segment);
        self.read_until(usize::MAX);
    }

    /// Settles the first sentence that enough words follow, or a block where no sentence ends; whether it did.
    pub(super) fn settle_early(&mut self) -> bool {
        let words = &self.pending;
        let Some(most) = words.len().checked_sub(LIVE_WORDS_AFTER) else { return false };
        let at_sentence = (1..=most.min(MAX_BLOCK_WORDS)).find(|&i| ends_block(words, i, &self.raw));
        if at_sentence.is_none() && words.len() < MAX_BLOCK_WORDS + MIN_LAST_WORDS {
            return false;
        }
        let block = match at_sentence {
            Some(cut) => self.pending.drain(..cut).collect(),
            None => self.next_block(),
        };
        let end = self.pending.front().map_or(self.raw.len(), |word| word.lead);
        self.settle(block, end);
        true
    }

    /// Gives away the settled text with its edits and how many bytes of the raw text they stand for, and forgets all three.
    pub(super) fn forget_settled(&mut self) -> (String, Vec<Edit>, usize) {
        let bytes = std::mem::take(&mut self.settled);
        self.raw.drain(..bytes);
        self.scanner.back(bytes);
        for word in &mut self.pending {
            word.shift_back(bytes);
        }
        (std::mem::take(&mut self.text), std::mem::take(&mut self.edits), bytes)
    }

    fn settle(&mut self, block: Vec<Word>, end: usize) {
        let language = self.language.unwrap_or_else(|| Language::detect(&block));
        // One word in capitals is enough to show that the recogniser writes them.
        self.carry.cased |= is_cased(&block);
        let mut draft = Draft::new(&self.raw, block, language, &self.options);
        self.dictionary.protect(&mut draft);
        let whole = self.done && !self.has_words && self.settled == 0 && self.options.level == Level::Clean;
        write_whole(&mut draft, whole);
        decide(&mut draft, &self.repair_answers, self.repair_questions.as_mut());
        write_whole(&mut draft, whole);
        let ahead = self.pending.iter().take(Surroundings::WORDS).map(|word| word.key.clone());
        self.around.after = ahead.collect();
        let mut tags = marks::propose(&draft, &self.around, self.done, self.carry.cased);
        let new_marks = &mut tags.marks;
        let free = |comma: &NewMark| !new_marks.iter().any(|mark| mark.after == comma.after);
        let commas: Vec<NewMark> = commas::propose(&draft).into_iter().filter(free).collect();
        new_marks.extend(commas);
        new_marks.extend(numbers::final_mark(&draft));
        new_marks.sort_by_key(|mark| mark.after);
        layout::propose(&draft, &mut tags, Ends { first: !self.has_words, last: self.done }, self.carry.cased);
        self.has_words |= draft.len() > 0;
        self.mark_questions.append(&mut tags.questions);
        self.around.before = said_since_sentence_end(&draft, &tags.marks);
        let written = self.dictionary.propose(&draft);
        draft.accept(written);
        if self.options.level == Level::Clean {
            let named = identifiers::propose(&draft);
            draft.accept(named);
            let written = numbers::propose(&draft);
            draft.accept(written);
        }
        let edits = assemble(&draft, end, &tags, &mut self.carry);

        let mut at = self.settled;
        for edit in &edits {
            self.text.push_str(&self.raw[at..edit.start]);
            self.text.push_str(&edit.replacement);
            at = edit.end;
        }
        self.text.push_str(&self.raw[at..end]);
        self.settled = end;
        self.edits.extend(edits);
    }

    /// The words of the next block; what is pending afterwards belongs to later ones.
    fn next_block(&mut self) -> Vec<Word> {
        self.read_until(MAX_BLOCK_WORDS + MIN_LAST_WORDS);
        if self.pending.len() < MAX_BLOCK_WORDS + MIN_LAST_WORDS {
            return self.pending.drain(..).collect();
        }
        let words = &self.pending;
        let at_sentence = (BLOCK_WORDS..MAX_BLOCK_WORDS).find(|&i| ends_block(words, i, &self.raw));
        let at_clause = || {
            (BLOCK_WORDS..MAX_BLOCK_WORDS)
                .rev()
                .find(|&i| matches!(words[i].key.as_str(), "and" | "but" | "so") && words[i].key != words[i - 1].key)
        };
        let mut cut = at_sentence.or_else(at_clause).unwrap_or(MAX_BLOCK_WORDS);
        // A word said thousands of times is one run.
        while cut < MAX_RUN_WORDS {
            self.read_until(cut + MIN_LAST_WORDS);
            match self.pending.get(cut) {
                Some(word) if word.key == self.pending[cut - 1].key => cut += 1,
                _ => break,
            }
        }
        self.read_until(cut + MIN_LAST_WORDS);
        let cut = if self.pending.len() < cut + MIN_LAST_WORDS { self.pending.len() } else { cut };
        self.pending.drain(..cut).collect()
    }

    fn read_until(&mut self, words: usize) {
        while self.pending.len() < words {
            match self.scanner.next(&self.raw) {
                Some(word) => self.pending.push_back(word),
                None => break,
            }
        }
    }

    /// Where every word was a filler, nothing is left, not even space.
    fn drop_leftover_space(&mut self) {
        if self.edits.is_empty() || !self.text.trim().is_empty() {
            return;
        }
        let mut gaps = vec![];
        let mut at = 0;
        for (start, end) in
            self.edits.iter().map(|edit| (edit.start, edit.end)).chain([(self.raw.len(), self.raw.len())])
        {
            if at < start {
                gaps.push((at, start));
            }
            at = end;
        }
        self.edits.extend(gaps.into_iter().map(|(start, end)| Edit {
            start,
            end,
            original: self.raw[start..end].to_owned(),
            replacement: String::new(),
            kind: EditKind::Layout,
            confidence: 1.0,
            by: Decider::Rules,
        }));
        self.edits.sort_by_key(|edit| (edit.start, edit.end));
        self.text = apply(&self.raw, &self.edits);
    }
}

/// Writes a draft that is one number, date, address or the like in its own form, where it is the `whole` text.
fn write_whole(draft: &mut Draft, whole: bool) {
    let proposal = if whole { numbers::propose_whole(draft) } else { None };
    draft.accept(proposal.into_iter().collect());
}

/// Runs the proposers that the level allows, each on what the earlier ones left.
fn decide(draft: &mut Draft, answers: &[RepairAnswer], questions: Option<&mut Vec<RepairQuestion>>) {
    decide_until_repairs(draft);
    if draft.options.level < Level::Clean {
        return;
    }
    let proposals = corrections::propose(draft);
    draft.accept(proposals);
    if let Some(questions) = questions {
        questions.extend(repairs::questions(draft));
    }
    let proposals = repairs::propose(draft, answers);
    draft.accept(proposals);
    let proposals = rough::propose(draft);
    draft.accept(proposals);
    let proposals = discourse::propose(draft);
    draft.accept(proposals);
    // A correction may have brought two copies together.
    let proposals = repeats::propose(draft);
    draft.accept(proposals);
}

/// The proposers that go before corrections: marks, and what is deleted by its sound alone.
fn decide_until_repairs(draft: &mut Draft) {
    let proposals = spoken::propose(draft);
    draft.accept(proposals);
    if draft.options.level == Level::Verbatim {
        return;
    }
    let proposals = noises::propose(draft);
    draft.accept(proposals);
    // Fillers first: one between two copies hides the repeat.
    let proposals = fillers::propose(draft);
    draft.accept(proposals);
    let proposals = repeats::propose(draft);
    draft.accept(proposals);
    let proposals = fragments::propose(draft);
    draft.accept(proposals);
}

/// All candidates of what was taken back in the first block of `raw`, with their evidence: what the weights are fitted to.
///
/// # Errors
/// As [`CleanupOptions::check`].
pub fn interruptions(raw: &str, options: &CleanupOptions) -> Result<Vec<Interrupted>> {
    let mut cleaner = Cleaner::new(raw, options)?;
    let block = cleaner.next_block();
    let language = cleaner.language.unwrap_or_else(|| Language::detect(&block));
    let mut draft = Draft::new(raw, block, language, options);
    cleaner.dictionary.protect(&mut draft);
    decide_until_repairs(&mut draft);
    let restarts = corrections::propose(&draft);
    draft.accept(restarts);
    Ok(repairs::explained(&draft))
}

/// Whether a block may end before word `i`: a sentence ends there, and what follows does not refer to it.
fn ends_block(words: &VecDeque<Word>, i: usize, raw: &str) -> bool {
    pause_of_trail(&words[i - 1], raw) == Pause::Strong
        && !refers_back(&words[i].key)
        && words[i].key != words[i - 1].key
}

/// The last live words of `draft` that belong to a sentence which `new_marks` and the draft leave open.
fn said_since_sentence_end(draft: &Draft, new_marks: &[NewMark]) -> Vec<String> {
    let ends = |i: usize| {
        let new = new_marks.binary_search_by_key(&draft.at(i), |mark| mark.after).ok();
        new.is_some_and(|at| new_marks[at].text != ",") || i + 1 < draft.len() && draft.pause(i) == Pause::Strong
    };
    let least = draft.len().saturating_sub(Surroundings::WORDS);
    let start = (least..draft.len()).rev().find(|&i| ends(i)).map_or(least, |i| i + 1);
    (start..draft.len()).map(|i| draft.key(i).to_owned()).collect()
}

/// Words that may take back the sentence before them, or name its mark.
fn refers_back(key: &str) -> bool {
    words!(
        "scratch no sorry wait actually i or correction strike oops rather let make comma period full question \
        exclamation new delete um uh er erm quote unquote close"
    )
    .contains(key)
}

/// Cleans `raw` in one go.
///
/// # Errors
/// As [`CleanupOptions::check`].
pub fn clean(raw: &str, options: &CleanupOptions) -> Result<Cleaned> {
    Ok(Cleaner::new(raw, options)?.finish())
}
