//! Segments one after the other → one text that they are stretches of.

use super::{Format, Notice, NoticeKind, Segment, TimedWord, Transcript};

/// What a reader found of one segment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Piece {
    pub text: String,
    pub start_time: Option<f64>,
    pub end_time: Option<f64>,
    pub speaker: Option<String>,
    /// In the order of the text.
    pub words: Vec<PieceWord>,
}

/// A timed word: found in the piece's text by what it says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PieceWord {
    pub text: String,
    pub start_time: Option<f64>,
    pub end_time: Option<f64>,
}

#[derive(Debug, Default)]
pub(super) struct Builder {
    text: String,
    segments: Vec<Segment>,
    notices: Vec<Notice>,
}

impl Builder {
    /// The text as it stands, without times.
    pub fn plain(mut self, text: String) -> Transcript {
        if !text.trim().is_empty() {
            let (start, end) = (text.len() - text.trim_start().len(), text.trim_end().len());
            self.segments.push(Segment { start, end, start_time: None, end_time: None, speaker: None, words: vec![] });
        }
        self.text = text;
        self.finish(Format::Text, None)
    }

    pub fn notice(&mut self, line: Option<usize>, kind: NoticeKind) {
        self.notices.push(Notice { line: line.map(|line| u32::try_from(line).unwrap_or(u32::MAX)), kind });
    }

    /// Adds a segment; one without words is only noticed.
    pub fn push(&mut self, line: Option<usize>, piece: Piece) {
        let text = join_lines(&piece.text);
        if text.is_empty() {
            return self.notice(line, NoticeKind::EmptyCue);
        }
        if let Some(last) = self.segments.last() {
            let joint = if last.speaker != piece.speaker {
                "\n\n"
            } else if runs_on(&self.text, &text) {
                ""
            } else {
                " "
            };
            self.text.push_str(joint);
        }
        let start = self.text.len();
        self.text.push_str(&text);
        let words = locate(&piece.words, &text, start);
        let Piece { start_time, end_time, speaker, .. } = piece;
        self.segments.push(Segment { start, end: self.text.len(), start_time, end_time, speaker, words });
    }

    /// Adds all of `other`, after a blank line.
    pub fn append(&mut self, other: Self) {
        if !self.text.is_empty() && !other.text.is_empty() {
            self.text.push_str("\n\n");
        }
        let offset = self.text.len();
        self.text.push_str(&other.text);
        self.segments.extend(other.segments.into_iter().map(|mut segment| {
            segment.start += offset;
            segment.end += offset;
            for word in &mut segment.words {
                word.start += offset;
                word.end += offset;
            }
            segment
        }));
        self.notices.extend(other.notices);
    }

    /// The text so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn finish(self, format: Format, language: Option<String>) -> Transcript {
        let Self { text, segments, notices } = self;
        Transcript { format, text, segments, language, notices }
    }
}

/// The lines of a cue as one line, unless each is what another speaker says: "- Ready?", "- Almost."
fn join_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let turns = lines.iter().filter(|line| begins_turn(line)).count();
    let mut joined = String::with_capacity(text.len());
    for line in lines {
        if !joined.is_empty() {
            joined.push(if turns > 1 && begins_turn(line) { '\n' } else { ' ' });
        }
        joined.push_str(line);
    }
    joined
}

/// Whether a line begins with the dash that captions set before what a speaker says. "-5" is a number.
fn begins_turn(line: &str) -> bool {
    let said = line.strip_prefix(['-', '–', '—', '‐']).map(str::trim_start);
    said.is_some_and(|said| said.starts_with(|c: char| !c.is_ascii_digit() && !matches!(c, '-' | '–' | '—')))
}

/// Whether two stretches of a script without spaces meet.
fn runs_on(before: &str, after: &str) -> bool {
    let spaceless = |c: char| {
        matches!(c, '\u{3000}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
            || matches!(c, '\u{ff00}'..='\u{ff60}')
    };
    before.chars().next_back().is_some_and(spaceless) && after.chars().next().is_some_and(spaceless)
}

/// How far after the last word found the next one is looked for.
const MAX_GAP_BYTES: usize = 256;

/// Finds `words` in `text`, which stands at `offset`; one that is not there is passed over.
fn locate(words: &[PieceWord], text: &str, offset: usize) -> Vec<TimedWord> {
    let mut at = 0;
    let found = words.iter().filter_map(|word| {
        let said = word.text.trim();
        let window = text.floor_char_boundary(at + said.len() + MAX_GAP_BYTES);
        let start = at + text[at..window].find(said).filter(|_| !said.is_empty())?;
        at = start + said.len();
        let (start_time, end_time) = (word.start_time, word.end_time);
        Some(TimedWord { start: offset + start, end: offset + at, start_time, end_time })
    });
    found.collect()
}
