//! Decisions about words → edits of the raw text.
//!
//! ```text
//! for each raw word, left to right:
//!     kept       its case, and a new mark after it
//!     written    its span becomes the written form
//!     mark       the words, with the space and the recogniser's mark before them, become the mark
//!     dropped    the word goes with the space before it; at the start of a line or text, with the space after it
//! ```
//!
//! Edits never overlap, so each can be undone alone.

use super::case::{Place, recase, upper_first};
use super::draft::{Draft, Fate, Pause, has_line_break, pause_of_trail};
use super::edit::{Decider, Edit, EditKind};
use super::lexicon::words;
use super::marks::{NameCase, Tags};
use super::spoken::SpokenMark;
use super::words::Shape;

/// What one block leaves to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Carry {
    pub place: Place,
    /// Whether the recogniser writes capitals.
    pub cased: bool,
}

/// The edits of a draft. `end` is where the next block begins, or the end of the text.
pub(super) fn assemble(draft: &Draft, end: usize, tags: &Tags, carry: &mut Carry) -> Vec<Edit> {
    let cursor = draft.words.first().map_or(end, |word| word.lead);
    let mut assembler = Assembler { draft, end, tags, cased: carry.cased, place: carry.place, cursor, edits: vec![] };
    let mut i = 0;
    while i < draft.words.len() {
        i = match &draft.fates[i] {
            Fate::Keep => assembler.keep(i),
            Fate::Write { text, last, kind, confidence } => assembler.write(i, *last, text, *kind, *confidence),
            Fate::Mark { mark, last } => assembler.mark(i, *last, mark),
            Fate::Drop { .. } => assembler.drop_run(i),
            Fate::Joined => i + 1,
        };
    }
    carry.place = assembler.place;
    assembler.edits
}

struct Assembler<'a, 'b> {
    draft: &'b Draft<'a>,
    end: usize,
    tags: &'b Tags,
    cased: bool,
    /// Where the next word stands.
    place: Place,
    /// The end of the last edit.
    cursor: usize,
    edits: Vec<Edit>,
}

impl Assembler<'_, '_> {
    fn push(&mut self, start: usize, end: usize, replacement: &str, kind: EditKind, confidence: f32) {
        let start = start.max(self.cursor);
        let end = end.max(start);
        let original = &self.draft.raw[start..end];
        self.cursor = end;
        if original != replacement {
            self.edits.push(Edit {
                start,
                end,
                original: original.to_owned(),
                replacement: replacement.to_owned(),
                kind,
                confidence,
                by: Decider::Rules,
            });
        }
    }

    fn keep(&mut self, i: usize) -> usize {
        let word = &self.draft.words[i];
        if i > 0 && self.place == Place::Inside && has_line_break(self.space_before(i)) {
            self.place = Place::AfterRawEnd;
        }
        if let Some(text) = recase(self.draft, i, self.place, self.cased, self.name_case(i)) {
            self.push(word.start, word.end, &text, EditKind::Case, 0.95);
        }
        let bare = word.shape == Shape::Symbol && !word.key.contains(char::is_alphanumeric);
        if !bare {
            self.place = Place::Inside;
        }
        self.after_word(i);
        i + 1
    }

    fn write(&mut self, i: usize, last: usize, text: &str, kind: EditKind, confidence: f32) -> usize {
        let (start, end) = (self.draft.words[i].start, self.draft.words[last].end);
        // Where a sentence begins, what is written begins with a capital too.
        let starts =
            self.place == Place::SentenceStart && self.draft.preset().sentence_case && kind == EditKind::Number;
        let said_in_words = text.starts_with(|c: char| c.is_lowercase())
            && !text.contains(|c: char| matches!(c, '@' | '.') || c.is_ascii_digit());
        let text = if starts && said_in_words { upper_first(text) } else { text.to_owned() };
        self.push(start, end, &text, kind, confidence);
        self.place = Place::Inside;
        // "3:30 p.m." has the full stop of its sentence.
        if text.ends_with('.') && self.new_mark_after(last) == Some(".") {
            self.place = Place::SentenceStart;
            self.break_line(last, self.draft.words[last].tail);
        } else {
            self.after_word(last);
        }
        last + 1
    }

    /// A new mark after word `i`, and what the raw marks there mean for the next word.
    fn after_word(&mut self, i: usize) {
        let word = &self.draft.words[i];
        if let Some(mark) = self.new_mark_after(i) {
            // A comma before a deleted filler gives way; brackets and quotes stay before the mark.
            let start = if word.trail_marks(self.draft.raw) == "," { word.end } else { word.tail };
            self.push(start, word.tail, mark, EditKind::Mark, 0.8);
            if mark != "," {
                self.place = Place::SentenceStart;
            }
        } else if pause_of_trail(word, self.draft.raw) == Pause::Strong {
            self.place = Place::AfterRawEnd;
        }
        self.break_line(i, word.tail);
    }

    /// The line break after word `i`, if there is to be one, in place of the space from byte `from` on.
    fn break_line(&mut self, i: usize, from: usize) {
        if let Ok(at) = self.tags.breaks.binary_search_by_key(&i, |(after, _)| *after) {
            self.push(from, self.next_lead(i), self.tags.breaks[at].1, EditKind::Layout, 0.8);
            self.place = Place::SentenceStart;
        }
    }

    fn mark(&mut self, i: usize, last: usize, mark: &SpokenMark) -> usize {
        let words = &self.draft.words;
        let before = i.checked_sub(1);
        // The recogniser's comma before a closing quote is the pause that dictating takes.
        let commas = |b: usize| mark.closes() && words[b].trail_marks(self.draft.raw) == ",";
        let absorbed = before.is_some_and(|b| (mark.absorbs || commas(b)) && self.has_plain_trail(b));
        let start = match before {
            Some(b) if mark.left && absorbed => words[b].end,
            Some(b) if mark.left => words[b].tail,
            _ => words[i].lead,
        };
        // What follows a closing quote in the recogniser's text follows the mark too.
        let end = match (mark.right, mark.closes() && pause_of_trail(&words[last], self.draft.raw) == Pause::Strong) {
            (true, _) => self.next_lead(last),
            (false, true) => words[last].end,
            (false, false) => words[last].tail,
        };
        self.push(start, end, mark.text, EditKind::SpokenMark, 0.95);
        if mark.pause == Pause::Strong {
            self.place = Place::SentenceStart;
        }
        if let Some(text) = self.new_mark_after(last) {
            self.push(end, end, text, EditKind::Mark, 0.8);
            self.place = Place::SentenceStart;
        }
        if !mark.right {
            self.break_line(last, end);
        }
        last + 1
    }

    /// Deletes the run of dropped words that begins at `i`; each group is one edit.
    fn drop_run(&mut self, i: usize) -> usize {
        let draft = self.draft;
        let words = &draft.words;
        let until = (i..words.len()).find(|&k| !matches!(draft.fates[k], Fate::Drop { .. })).unwrap_or(words.len());
        let space_taken = self.cursor == words[i].lead;
        // The recogniser began the sentence with what goes.
        if self.place == Place::AfterRawEnd && words[i].shape == Shape::Capitalised {
            self.place = Place::SentenceStart;
        }
        let leads_line = i == 0 || space_taken || self.space_before(i).contains('\n');
        let (trail_stays, from) = if leads_line { (false, words[i].lead) } else { self.tail_of_run(i, until) };

        let mut from = from;
        let mut k = i;
        while k < until {
            let Fate::Drop { group, kind, confidence } = draft.fates[k] else { break };
            let same = |fate: &Fate| matches!(fate, Fate::Drop { group: other, .. } if *other == group);
            let last = (k..until).take_while(|&m| same(&draft.fates[m])).last().unwrap_or(k);
            let to = match (leads_line, trail_stays && last + 1 == until) {
                (true, _) => self.next_lead(last),
                (false, true) => words[last].end,
                (false, false) => words[last].tail,
            };
            self.push(from, to, "", kind, confidence);
            from = to;
            if kind == EditKind::Correction && self.place == Place::Inside {
                self.place = Place::AfterCorrection;
            }
            k = last + 1;
        }
        if trail_stays && pause_of_trail(&words[until - 1], draft.raw) == Pause::Strong {
            self.place = Place::AfterRawEnd;
        }
        self.break_line(until - 1, words[until - 1].tail);
        until
    }

    /// For the run of dropped words `i..until` inside a line: whether the marks after its last word stay, and where the
    /// deletion begins.
    fn tail_of_run(&self, i: usize, until: usize) -> (bool, usize) {
        let draft = self.draft;
        let (before, last) = (i - 1, until - 1);
        let kind = match draft.fates[last] {
            Fate::Drop { kind, .. } => kind,
            _ => EditKind::Filler,
        };
        let trail = |k: usize| draft.words[k].trail_marks(draft.raw);
        let strong = |k: usize| pause_of_trail(&draft.words[k], draft.raw) == Pause::Strong;
        let kept_word = matches!(draft.fates[before], Fate::Keep | Fate::Write { .. } | Fate::Joined);
        let meets_mark = matches!(draft.fates.get(until), Some(Fate::Mark { mark, .. }) if mark.absorbs);
        let stays = !strong(before)
            && !meets_mark
            && match kind {
                EditKind::Correction => false,
                EditKind::Repeat => !trail(last).is_empty(),
                _ => strong(last),
            };
        // ", um," between two parts of one sentence: both commas are the filler's, unless an opening word has the first.
        let paired = !trail(last).is_empty() && !opens_sentence(&draft.words[before].key);
        let absorbs = kept_word
            && trail(before) == ","
            && self.new_mark_after(before).is_none()
            && (stays || meets_mark || kind == EditKind::Repeat || (kind != EditKind::Correction && paired));
        (stays, if absorbs { draft.words[before].end } else { draft.words[before].tail })
    }

    fn new_mark_after(&self, i: usize) -> Option<&'static str> {
        let at = self.tags.marks.binary_search_by_key(&i, |mark| mark.after).ok()?;
        Some(self.tags.marks[at].text)
    }

    fn name_case(&self, i: usize) -> Option<NameCase> {
        let at = self.tags.names.binary_search_by_key(&i, |(name, _)| *name).ok()?;
        Some(self.tags.names[at].1)
    }

    /// Whether the recogniser put nothing but marks of its own after a kept word.
    fn has_plain_trail(&self, i: usize) -> bool {
        let word = &self.draft.words[i];
        let plain = |c: char| matches!(c, ',' | '.' | '?' | '!' | ':' | ';' | '…');
        matches!(self.draft.fates[i], Fate::Keep | Fate::Write { .. } | Fate::Joined)
            && word.start < word.end
            && word.trail_marks(self.draft.raw).chars().all(plain)
            && self.new_mark_after(i).is_none()
    }

    fn space_before(&self, i: usize) -> &str {
        &self.draft.raw[self.draft.words[i - 1].tail..self.draft.words[i].lead]
    }

    /// Where the word after `i` begins; at the end of the text, where `i` itself ends.
    fn next_lead(&self, i: usize) -> usize {
        match self.draft.words.get(i + 1) {
            Some(next) => next.lead,
            None if self.end < self.draft.raw.len() => self.end,
            None => self.draft.words[i].tail,
        }
    }
}

/// Words that a comma often sets off at the start of a sentence.
fn opens_sentence(key: &str) -> bool {
    words!("well so okay ok yes no yeah oh right sure now anyway first also hi hello hey thanks").contains(key)
}
