//! A transcript after changes to its text: every word that is left keeps the time of what it was made from.

use super::{Segment, TimedWord, Transcript};

/// One change: the bytes `start..end` of the text become `replacement`. `start == end` inserts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    /// First byte, at a character boundary.
    pub start: usize,
    /// The byte after the last, at a character boundary.
    pub end: usize,
    pub replacement: &'a str,
}

impl Transcript {
    /// The transcript with `changes` made, which are in order and do not overlap; one that does not fit is left out.
    ///
    /// A word that was replaced together with others has the time from the first of them to the last. What was deleted is
    /// gone, with a segment of which nothing is left.
    pub fn edited<'a>(&self, changes: impl IntoIterator<Item = Change<'a>>) -> Self {
        let mut text = String::with_capacity(self.text.len());
        let mut spans: Vec<Span> = vec![];
        let mut at = 0;
        for change in changes {
            if change.start < at || self.text.get(change.start..change.end).is_none() {
                continue;
            }
            text.push_str(&self.text[at..change.start]);
            let new_start = text.len();
            text.push_str(change.replacement);
            spans.push(Span { start: change.start, end: change.end, new_start, new_end: text.len() });
            at = change.end;
        }
        text.push_str(&self.text[at..]);

        let moved = Moved { spans: &spans };
        let mut segments = vec![];
        let mut least = 0;
        for segment in &self.segments {
            let (start, end) = trimmed(&text, moved.start(segment.start).max(least), moved.end(segment.end));
            if start >= end {
                continue;
            }
            least = end;
            let words = words(&text[start..end], start, &segment.words, &moved);
            segments.push(Segment { start, end, words, ..segment.clone() });
        }
        Self { text, segments, ..self.clone() }
    }
}

/// A change, and where its replacement stands.
struct Span {
    start: usize,
    end: usize,
    new_start: usize,
    new_end: usize,
}

/// Where places of the old text are in the new one.
struct Moved<'a> {
    spans: &'a [Span],
}

impl Moved<'_> {
    /// Where what begins at `at` begins now. Inside a change that is after its replacement, which belongs to what begins
    /// before.
    fn start(&self, at: usize) -> usize {
        let n = self.spans.partition_point(|span| span.start < at || span.end == at && span.start == at);
        match n.checked_sub(1).map(|n| &self.spans[n]) {
            Some(span) if at < span.end => span.new_end,
            Some(span) => at - span.end + span.new_end,
            None => at,
        }
    }

    /// Where what ends at `at` ends now: after what was put there.
    fn end(&self, at: usize) -> usize {
        let n = self.spans.partition_point(|span| span.start < at);
        match self.spans.get(n) {
            Some(span) if span.start == at => span.new_end,
            _ => self.start(at),
        }
    }

    /// Where the word `start..end` is now; none if it is gone. Words of one change share its replacement.
    fn word(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let n = self.spans.partition_point(|span| span.end <= start);
        let inside = self.spans[n..].iter().take_while(|span| span.start < end).find(|span| span.start < span.end);
        match inside {
            // A change of its first letters, or of a part of it, leaves the word one.
            Some(span) if span.start <= start && end <= span.end => {
                (span.new_start < span.new_end).then_some((span.new_start, span.new_end))
            }
            _ => {
                let (from, to) = (self.before(start), self.start(end));
                (from < to).then_some((from, to))
            }
        }
    }

    /// As `start`, but a change that holds `at` gives the beginning of its replacement.
    fn before(&self, at: usize) -> usize {
        let n = self.spans.partition_point(|span| span.end <= at);
        match self.spans.get(n) {
            Some(span) if span.start <= at => span.new_start,
            _ => self.start(at),
        }
    }
}

/// `start..end` without white space at its edges.
fn trimmed(text: &str, start: usize, end: usize) -> (usize, usize) {
    let Some(inside) = text.get(start..end) else { return (start, start) };
    let start = start + (inside.len() - inside.trim_start().len());
    (start, start + inside.trim().len())
}

/// The words of `text`, which stands at `offset`, with the times of the old words that are there now.
fn words(text: &str, offset: usize, old: &[TimedWord], moved: &Moved) -> Vec<TimedWord> {
    if old.is_empty() {
        return vec![];
    }
    let sources: Vec<(usize, usize, &TimedWord)> =
        old.iter().filter_map(|word| moved.word(word.start, word.end).map(|(start, end)| (start, end, word))).collect();
    let mut words = vec![];
    let mut first = 0;
    for token in text.split_whitespace() {
        let start = offset + (token.as_ptr() as usize - text.as_ptr() as usize);
        let end = start + token.len();
        while sources.get(first).is_some_and(|(_, source_end, _)| *source_end <= start) {
            first += 1;
        }
        let of_token =
            || sources[first..].iter().take_while(|(source_start, ..)| *source_start < end).map(|(.., word)| *word);
        let start_time = of_token().find_map(|word| word.start_time);
        let end_time = of_token().filter_map(|word| word.end_time).last();
        if of_token().next().is_some() {
            words.push(TimedWord { start, end, start_time, end_time });
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript() -> Transcript {
        let json = br#"{"segments":[
            {"start":0,"end":2,"text":"um so twenty","words":[{"word":"um","start":0,"end":0.4},{"word":"so","start":0.5,"end":0.9},{"word":"twenty","start":1,"end":2}]},
            {"start":2,"end":3,"text":"two people","words":[{"word":"two","start":2,"end":2.3},{"word":"people","start":2.4,"end":3}]},
            {"start":3,"end":4,"text":"uh","words":[{"word":"uh","start":3,"end":4}]}]}"#;
        Transcript::read(json, None).unwrap()
    }

    #[test]
    fn words_keep_the_time_of_their_source() {
        let raw = transcript();
        assert_eq!(raw.text, "um so twenty two people uh");
        let change = |start, end, replacement| Change { start, end, replacement };
        let edited = raw.edited([change(0, 3, ""), change(3, 5, "So"), change(6, 16, "22"), change(23, 26, ".")]);
        assert_eq!(edited.text, "So 22 people.");
        let times: Vec<_> = edited
            .segments
            .iter()
            .map(|s| {
                let words: Vec<_> = s
                    .words
                    .iter()
                    .map(|w| (&edited.text[w.start..w.end], w.start_time.unwrap(), w.end_time.unwrap()))
                    .collect();
                (&edited.text[s.start..s.end], words)
            })
            .collect();
        assert_eq!(times[0], ("So 22", vec![("So", 0.5, 0.9), ("22", 1.0, 2.0)]));
        assert_eq!(times[1].0, "people.");
        assert_eq!(times[1].1, [("people.", 2.4, 3.0)]);
        assert_eq!(times.len(), 2);
    }

    #[test]
    fn changes_that_do_not_fit_are_left_out() {
        let raw = transcript();
        let edited = raw
            .edited([Change { start: 20, end: 400, replacement: "x" }, Change { start: 3, end: 2, replacement: "" }]);
        assert_eq!(edited.text, raw.text);
        assert_eq!(edited.segments, raw.segments);
    }
}
