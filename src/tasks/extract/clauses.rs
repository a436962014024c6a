//! Raw text → tokens: words with the pause after them, and whether they can open a clause of the speaker's own.

use crate::tasks::cleanup::language::Language;
use crate::tasks::cleanup::words::{Scanner, Shape, Word};

/// A quotation longer than so many words is a forgotten quote mark.
const MAX_QUOTED: usize = 60;

/// What stands between a word and the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tasks) enum Pause {
    None,
    /// A comma, a dash or a bracket.
    Weak,
    Colon,
    /// The end of a sentence or of a line.
    Strong,
}

/// A word that was meant: fillers, bullets and lone marks are gone.
#[derive(Clone, Debug)]
pub(in crate::tasks) struct Token {
    pub word: Word,
    pub pause: Pause,
    /// Inside quote marks.
    pub quoted: bool,
    /// In a sentence that ends in a question mark.
    pub question: bool,
}

/// Reads tokens one after the other.
#[derive(Debug)]
pub(in crate::tasks) struct Reader {
    scanner: Scanner,
    tokens: Vec<Token>,
    /// Where the last read chunk ended.
    tail: usize,
    /// The first token of the sentence being read.
    sentence: usize,
    /// The first token after an opening quote mark that has not been closed.
    quote: Option<usize>,
}

impl Reader {
    pub fn new() -> Self {
        Self { scanner: Scanner::new(0), tokens: vec![], tail: 0, sentence: 0, quote: None }
    }

    /// Reads the next word of `raw`. Returns whether there was one.
    pub fn read(&mut self, raw: &str) -> bool {
        let Some(word) = self.scanner.next(raw) else { return false };
        let fresh_line = raw[self.tail..word.lead].contains('\n') || self.tail == 0;
        self.tail = word.tail;
        if fresh_line {
            self.pause(Pause::Strong);
        }
        let (lead, trail) = (word.lead_marks(raw), word.trail_marks(raw));
        if lead.contains(['(', '[', '—', '–']) {
            self.pause(Pause::Weak);
        }
        if word.shape == Shape::Symbol && !word.key.chars().any(char::is_alphanumeric) {
            // A dash, a bullet, an emoji.
            self.pause(if fresh_line { Pause::Strong } else { Pause::Weak });
            return true;
        }
        let numbering = fresh_line
            && word.key.len() <= 2
            && word.key.bytes().all(|b| b.is_ascii_digit())
            && trail.starts_with(['.', ')']);
        if numbering {
            return true;
        }
        if lead.contains(['"', '“', '„', '«']) && self.quote.is_none() {
            self.quote = Some(self.tokens.len());
        }
        let pause = pause_of(&word, trail);
        let (asks, closes) = (trail.contains('?'), trail.contains(['"', '”', '»', '“']));
        if !Language::English.is_filler(&word.key) {
            self.tokens.push(Token { word, pause: Pause::None, quoted: false, question: false });
        }
        if closes
            && let Some(from) = self.quote.take()
            && self.tokens.len() - from <= MAX_QUOTED
        {
            self.tokens[from..].iter_mut().for_each(|token| token.quoted = true);
        }
        if asks {
            let from = self.sentence.min(self.tokens.len());
            self.tokens[from..].iter_mut().for_each(|token| token.question = true);
        }
        self.pause(pause);
        true
    }

    /// All tokens, once there is nothing left to read.
    pub fn finish(self) -> Vec<Token> {
        self.tokens
    }

    /// Notes a pause after the last token.
    fn pause(&mut self, pause: Pause) {
        if let Some(last) = self.tokens.last_mut() {
            last.pause = last.pause.max(pause);
        }
        if pause == Pause::Strong {
            self.sentence = self.tokens.len();
        }
    }
}

fn pause_of(word: &Word, trail: &str) -> Pause {
    let abbreviation = matches!(
        word.key.as_str(),
        "mr" | "mrs" | "ms" | "dr" | "prof" | "st" | "vs" | "e.g" | "i.e" | "a.m" | "p.m" | "approx" | "no"
    ) && trail == "."
        && word.key != "no";
    match trail {
        _ if abbreviation => Pause::None,
        _ if trail.contains(['.', '?', '!', ';', '…', '。', '？', '！']) => Pause::Strong,
        _ if trail.contains(':') => Pause::Colon,
        _ if trail.contains([',', '—', '–', ')', ']', '、', '，']) => Pause::Weak,
        _ => Pause::None,
    }
}
