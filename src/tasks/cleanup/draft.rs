//! A stretch of words on its way to becoming text: what proposers look at, and where accepted proposals are noted.

use std::ops::Range;

use super::edit::EditKind;
use super::language::Language;
use super::lexicon::words;
use super::options::{CleanupOptions, PresetRules};
use super::spoken::SpokenMark;
use super::words::Word;

/// What becomes of a raw word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fate {
    Keep,
    /// Deleted together with its neighbours of the same `group`.
    Drop {
        group: usize,
        kind: EditKind,
        confidence: f32,
    },
    /// The first word of a dictated mark that ends with the word `last`.
    Mark {
        mark: &'static SpokenMark,
        last: usize,
    },
    /// The first word of a span that is written as `text` and ends with the word `last`.
    Write {
        text: String,
        last: usize,
        kind: EditKind,
        confidence: f32,
    },
    /// A later word of a mark or a written span.
    Joined,
}

/// What a proposer would do with a span of words.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    Delete,
    /// A dictated mark.
    Mark(&'static SpokenMark),
    /// Another way to write what was said.
    Write(String),
}

/// A change that a proposer stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Proposal {
    /// First and last raw word, both included.
    pub first: usize,
    pub last: usize,
    pub action: Action,
    pub kind: EditKind,
    /// 0 to 1.
    pub confidence: f32,
}

/// What separates two live words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pause {
    None,
    /// A comma or its like.
    Weak,
    /// The end of a sentence, of a line, or of the text.
    Strong,
}

/// The words of one block with what has been decided so far.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub raw: &'a str,
    pub words: Vec<Word>,
    pub fates: Vec<Fate>,
    pub language: Language,
    pub options: &'a CleanupOptions,
    /// Words of the dictionary's terms, which no weak evidence may delete.
    pub protected: Vec<bool>,
    /// Raw indices of the words that are kept as they are, in order.
    live: Vec<usize>,
    /// For each live word, what comes between it and the next.
    pauses: Vec<Pause>,
    groups: usize,
}

impl<'a> Draft<'a> {
    pub fn new(raw: &'a str, words: Vec<Word>, language: Language, options: &'a CleanupOptions) -> Self {
        let fates = vec![Fate::Keep; words.len()];
        let protected = vec![false; words.len()];
        let mut draft =
            Self { raw, words, fates, language, options, protected, live: vec![], pauses: vec![], groups: 0 };
        draft.refresh();
        draft
    }

    pub fn preset(&self) -> &'static PresetRules {
        self.options.preset.rules()
    }

    pub fn is_english(&self) -> bool {
        self.language == Language::English
    }

    /// The number of live words. Proposers count these; [`Self::at`] gives the raw index.
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// The raw index of live word `i`.
    pub fn at(&self, i: usize) -> usize {
        self.live[i]
    }

    /// Live word `i`.
    pub fn word(&self, i: usize) -> &Word {
        &self.words[self.live[i]]
    }

    /// The key of live word `i`; empty outside the block.
    pub fn key(&self, i: usize) -> &str {
        self.live.get(i).map_or("", |&raw| &self.words[raw].key)
    }

    /// The key of the live word before `i` in the same sentence; empty if there is none.
    pub fn key_before(&self, i: usize) -> &str {
        match i.checked_sub(1) {
            Some(before) if self.pause(before) < Pause::Strong => self.key(before),
            _ => "",
        }
    }

    /// The key of the live word after `i` in the same sentence; empty if there is none.
    pub fn key_after(&self, i: usize) -> &str {
        if self.pause(i) < Pause::Strong { self.key(i + 1) } else { "" }
    }

    /// What comes after live word `i`.
    pub fn pause(&self, i: usize) -> Pause {
        self.pauses.get(i).copied().unwrap_or(Pause::Strong)
    }

    /// The strongest pause inside live words `from..=to`, the one after `to` not counted.
    pub fn pause_within(&self, from: usize, to: usize) -> Pause {
        (from..to).map(|i| self.pause(i)).max().unwrap_or(Pause::None)
    }

    /// Whether live words from `i` on are `phrase`, with no sentence end inside.
    pub fn says(&self, i: usize, phrase: &[&str]) -> bool {
        phrase.iter().enumerate().all(|(k, key)| self.key(i + k) == *key)
            && self.pause_within(i, i + phrase.len().saturating_sub(1)) < Pause::Strong
    }

    /// Whether a dictated mark comes between live word `i` and the next.
    pub fn is_marked_after(&self, i: usize) -> bool {
        let next = self.live.get(i + 1).copied().unwrap_or(self.words.len());
        (self.at(i)..next).any(|k| matches!(self.fates[k], Fate::Mark { .. }))
    }

    /// Whether the recogniser set any mark of a sentence.
    pub fn has_marks(&self) -> bool {
        self.words.iter().any(|word| word.trail_marks(self.raw).contains(['.', ',', '?', '!', ';', ':']))
    }

    /// How many marks of a sentence the speaker dictated among and after live words `range`.
    pub fn dictated_marks(&self, range: Range<usize>) -> usize {
        let end = self.live.get(range.end).copied().unwrap_or(self.words.len());
        let dictated = |fate: &&Fate| matches!(fate, Fate::Mark { mark, .. } if mark.pause != Pause::None && !mark.text.contains('\n'));
        self.fates[self.at(range.start)..end].iter().filter(dictated).count()
    }

    /// Whether a dictated line or paragraph break comes between live word `i` and the next.
    pub fn breaks_line_after(&self, i: usize) -> bool {
        let next = self.live.get(i + 1).copied().unwrap_or(self.words.len());
        (self.at(i)..next).any(|k| matches!(&self.fates[k], Fate::Mark { mark, .. } if mark.text.contains('\n')))
    }

    /// Whether two line breaks or a paragraph break are dictated after live word `i`.
    pub fn breaks_paragraph_after(&self, i: usize) -> bool {
        let next = self.live.get(i + 1).copied().unwrap_or(self.words.len());
        let breaks = (self.at(i)..next).map(|k| match &self.fates[k] {
            Fate::Mark { mark, .. } => mark.text.matches('\n').count(),
            _ => 0,
        });
        breaks.sum::<usize>() > 1
    }

    /// The first live word of the sentence of live word `i`.
    pub fn sentence_start(&self, i: usize) -> usize {
        (0..i).rev().find(|&k| self.pause(k) == Pause::Strong).map_or(0, |k| k + 1)
    }

    /// Notes `proposals` in order; one that meets a word already spoken for is left out.
    ///
    /// A correction may swallow smaller deletions inside it: what it takes back is taken back as a whole.
    pub fn accept(&mut self, proposals: Vec<Proposal>) {
        for Proposal { first, last, action, kind, confidence } in proposals {
            let swallows = kind == EditKind::Correction;
            let weak = matches!(kind, EditKind::Filler | EditKind::Fragment | EditKind::Discourse);
            let free = |fate: &Fate| match fate {
                Fate::Keep => true,
                Fate::Drop { .. } => swallows,
                _ => false,
            };
            if first > last || last >= self.fates.len() || !self.fates[first..=last].iter().all(free) {
                continue;
            }
            if weak && self.protected[first..=last].contains(&true) {
                continue;
            }
            let bracketed = matches!(kind, EditKind::Correction | EditKind::Noise);
            if action == Action::Delete && !bracketed && self.is_quoted_or_code(first, last) {
                continue;
            }
            match action {
                Action::Delete => {
                    self.groups += 1;
                    self.fates[first..=last].fill(Fate::Drop { group: self.groups, kind, confidence });
                }
                Action::Mark(mark) => {
                    self.fates[first..=last].fill(Fate::Joined);
                    self.fates[first] = Fate::Mark { mark, last };
                }
                Action::Write(text) => {
                    self.fates[first..=last].fill(Fate::Joined);
                    self.fates[first] = Fate::Write { text, last, kind, confidence };
                }
            }
        }
        self.refresh();
    }

    /// Whether quotes, brackets or signs of code touch words `first..=last`: then a sound is meant, or a deletion would
    /// leave half of a pair.
    fn is_quoted_or_code(&self, first: usize, last: usize) -> bool {
        let sign = |c: char| {
            matches!(c, '"' | '“' | '”' | '„' | '«' | '»' | '(' | ')' | '[' | ']' | '{' | '}' | '=' | ';' | '`')
        };
        let (lead, start, tail) = (self.words[first].lead, self.words[first].start, self.words[last].tail);
        self.raw[lead..tail].contains(sign) || self.raw[lead..start].contains(['\'', '‘'])
    }

    /// Brings the live words and their pauses up to date with the fates.
    fn refresh(&mut self) {
        self.live.clear();
        self.pauses.clear();
        let mut pause = Pause::None;
        for (i, word) in self.words.iter().enumerate() {
            let broken = i > 0 && has_line_break(&self.raw[self.words[i - 1].tail..word.lead]);
            if broken {
                pause = Pause::Strong;
            }
            match &self.fates[i] {
                Fate::Keep => {
                    if !self.live.is_empty() {
                        self.pauses.push(pause.max(pause_of_lead(word.lead_marks(self.raw))));
                    }
                    self.live.push(i);
                    pause = pause_of_trail(word, self.raw);
                }
                Fate::Mark { mark, .. } => pause = pause.max(mark.pause),
                Fate::Write { .. } | Fate::Joined => pause = pause.max(pause_of_trail(word, self.raw)),
                // The marks around a filler are as likely its own.
                Fate::Drop { kind, .. } if *kind != EditKind::Correction => {
                    pause = pause.max(pause_of_trail(word, self.raw));
                }
                Fate::Drop { .. } => {}
            }
        }
        if !self.live.is_empty() {
            self.pauses.push(Pause::Strong);
        }
    }
}

/// Whether white space between two words breaks the line twice, so that what follows begins anew. One line break may
/// only be where the text was wrapped.
pub(super) fn has_line_break(space: &str) -> bool {
    if space == " " {
        return false;
    }
    space.matches('\n').count() >= 2 || space.contains(['\u{2029}', '\u{b}', '\u{c}'])
}

/// What the marks after `word` say. The full stop of an abbreviation says nothing.
pub(super) fn pause_of_trail(word: &Word, raw: &str) -> Pause {
    let trail = word.trail_marks(raw);
    if trail.is_empty() {
        return Pause::None;
    }
    let shape_of_abbreviation = trail.starts_with('.') && !trail.starts_with("..") && is_abbreviation(&word.key);
    if trail.contains(['?', '!', '。', '？', '！', '؟', '।']) || (trail.contains('.') && !shape_of_abbreviation) {
        return if trail.contains("..") { Pause::Weak } else { Pause::Strong };
    }
    if trail.contains([',', ';', ':', '—', '–', '…', '-', '，', '、', '：', '；', '،']) {
        Pause::Weak
    } else {
        Pause::None
    }
}

fn pause_of_lead(lead: &str) -> Pause {
    if !lead.is_empty() && lead.contains(['—', '–', '…', '-', '(', '¿', '¡']) {
        Pause::Weak
    } else {
        Pause::None
    }
}

/// Whether a full stop after `key` belongs to it: "e.g.", "Mr.", "B.".
fn is_abbreviation(key: &str) -> bool {
    let single = key.chars().count() == 1 && key != "i";
    single
        || key.contains('.')
        || words!(
            "mr mrs ms dr prof st jr sr vs etc inc ltd co corp dept approx gen col capt lt sgt rev hon vol fig ca \
            cf"
        )
        .contains(key)
}
