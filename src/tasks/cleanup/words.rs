//! Raw text → words, each with the bytes it came from.
//!
//! A chunk is a run without white space: sentence marks at its edges are its lead and its trail, the rest is the word.
//!
//! ```text
//! raw     …  ("Hello,  …
//! chunk      ^lead     ^tail
//! word         ^start^end
//! ```

/// One word of the raw text. All positions are byte offsets of the whole raw text, at character boundaries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tasks) struct Word {
    /// Where the chunk begins, marks included.
    pub lead: usize,
    /// Where the word itself begins.
    pub start: usize,
    /// Where the word itself ends.
    pub end: usize,
    /// Where the chunk ends, marks included.
    pub tail: usize,
    /// The word in lower case with straight apostrophes: what rules compare.
    pub key: String,
    pub shape: Shape,
}

/// What a word is made of, as far as rules care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tasks) enum Shape {
    /// Letters, perhaps with apostrophes and hyphens, all of them lower case or without case.
    Lower,
    /// The same, the first letter alone upper case.
    Capitalised,
    /// The same, two or more letters and all of them upper case.
    Upper,
    /// The same with capitals inside, such as `iPhone`.
    Mixed,
    /// Has a digit.
    Digits,
    /// Anything else: symbols, emoji, markup, addresses.
    Symbol,
}

impl Word {
    fn new(raw: &str, lead: usize, tail: usize) -> Self {
        let chunk = &raw[lead..tail];
        let core = chunk.trim_matches(is_edge_mark);
        let (start, end) = match core {
            "" => (lead, tail),
            _ => {
                let start = lead + (chunk.len() - chunk.trim_start_matches(is_edge_mark).len());
                (start, start + core.len())
            }
        };
        let text = &raw[start..end];
        Self { lead, start, end, tail, key: text.to_lowercase().replace('’', "'"), shape: Shape::of(text) }
    }

    /// Follows its text, `bytes` of which were removed before it.
    pub fn shift_back(&mut self, bytes: usize) {
        for at in [&mut self.lead, &mut self.start, &mut self.end, &mut self.tail] {
            *at = at.saturating_sub(bytes);
        }
    }

    /// The word as it stands in `raw`.
    pub fn text<'a>(&self, raw: &'a str) -> &'a str {
        &raw[self.start..self.end]
    }

    /// The marks before the word, within its chunk.
    pub fn lead_marks<'a>(&self, raw: &'a str) -> &'a str {
        &raw[self.lead..self.start]
    }

    /// The marks after the word, within its chunk.
    pub fn trail_marks<'a>(&self, raw: &'a str) -> &'a str {
        &raw[self.end..self.tail]
    }

    /// Whether the word is a lone letter.
    pub fn is_letter(&self) -> bool {
        self.key.len() == 1 && self.key.as_bytes()[0].is_ascii_alphabetic()
    }
}

impl Shape {
    fn of(text: &str) -> Self {
        if text.chars().any(char::is_numeric) {
            return Self::Digits;
        }
        let natural = |c: char| c.is_alphabetic() || matches!(c, '\'' | '’' | '-') || is_combining(c);
        if !text.chars().all(natural) || !text.chars().any(char::is_alphabetic) {
            return Self::Symbol;
        }
        let letters = text.chars().filter(|c| c.is_alphabetic()).count();
        let capitals = text.chars().filter(|c| c.is_uppercase()).count();
        let first = text.chars().next().is_some_and(char::is_uppercase);
        match capitals {
            0 => Self::Lower,
            1 if first => Self::Capitalised,
            n if n == letters => Self::Upper,
            _ => Self::Mixed,
        }
    }
}

/// Marks that a chunk sheds at its edges.
fn is_edge_mark(c: char) -> bool {
    matches!(
        c,
        '.' | ','
            | '?'
            | '!'
            | ':'
            | ';'
            | '"'
            | '\''
            | '('
            | ')'
            | '['
            | ']'
            | '-'
            | '“'
            | '”'
            | '‘'
            | '’'
            | '„'
            | '«'
            | '»'
            | '…'
            | '—'
            | '–'
            | '¿'
            | '¡'
            | '。'
            | '、'
            | '，'
            | '？'
            | '！'
            | '：'
            | '；'
            | '؟'
            | '،'
            | '।'
            | '\u{feff}'
    )
}

/// The combining blocks that occur in natural words.
fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{200c}' | '\u{200d}')
}

/// Reads words one after the other; the work of a call is the length of one word.
#[derive(Clone, Debug)]
pub(in crate::tasks) struct Scanner {
    at: usize,
}

impl Scanner {
    pub fn new(at: usize) -> Self {
        Self { at }
    }

    /// Follows a text of which the first `bytes` were removed.
    pub fn back(&mut self, bytes: usize) {
        self.at = self.at.saturating_sub(bytes);
    }

    /// The next word of `raw`, or none at its end.
    pub fn next(&mut self, raw: &str) -> Option<Word> {
        let rest = &raw[self.at..];
        let lead = self.at + (rest.len() - rest.trim_start().len());
        let rest = &raw[lead..];
        let tail = lead + rest.find(char::is_whitespace).unwrap_or(rest.len());
        self.at = tail;
        (lead < tail).then(|| Word::new(raw, lead, tail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(raw: &str) -> Vec<Word> {
        let mut scanner = Scanner::new(0);
        std::iter::from_fn(|| scanner.next(raw)).collect()
    }

    #[test]
    fn marks_at_the_edges_are_no_part_of_a_word() {
        let raw = " (\"Hello,\"  it’s 3.5%… [inst] </s> — ok";
        let parts: Vec<_> = words(raw).iter().map(|w| (w.lead_marks(raw), w.text(raw), w.trail_marks(raw))).collect();
        let expected = [
            ("(\"", "Hello", ",\""),
            ("", "it’s", ""),
            ("", "3.5%", "…"),
            ("[", "inst", "]"),
            ("", "</s>", ""),
            ("", "—", ""),
            ("", "ok", ""),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn shapes() {
        let table = [
            ("hello", Shape::Lower),
            ("Hello", Shape::Capitalised),
            ("I", Shape::Capitalised),
            ("NASA", Shape::Upper),
            ("iPhone", Shape::Mixed),
            ("3rd", Shape::Digits),
            ("user@host", Shape::Symbol),
            ("😀", Shape::Symbol),
            ("well-known", Shape::Lower),
            ("cafe\u{301}", Shape::Lower),
        ];
        for (text, shape) in table {
            assert_eq!(Shape::of(text), shape, "{text}");
        }
    }
}
