//! Stop texts: an answer ends before the first of them, also when it arrives in pieces.

use crate::error::{Error, ErrorKind, Result};

/// Lets text through that can no longer be the beginning of a stop text, and holds the rest back.
#[derive(Debug, Default)]
pub struct StopFilter {
    stops: Vec<String>,
    held: String,
}

impl StopFilter {
    /// # Errors
    /// `invalid-argument` for an empty stop text, which would end every answer at once.
    pub fn new(stops: Vec<String>) -> Result<Self> {
        Self::check(&stops)?;
        Ok(Self { stops, held: String::new() })
    }

    /// # Errors
    /// As [`new`](Self::new).
    pub fn check(stops: &[String]) -> Result<()> {
        match stops.iter().any(String::is_empty) {
            true => Err(Error::new(ErrorKind::InvalidArgument, "a stop text is empty")),
            false => Ok(()),
        }
    }

    /// Takes `text` in and returns what is certain, and whether a stop text was met. After that nothing more should be pushed.
    pub fn push(&mut self, text: &str) -> (String, bool) {
        self.held.push_str(text);
        if let Some(at) = self.stops.iter().filter_map(|stop| self.held.find(stop.as_str())).min() {
            self.held.truncate(at);
            return (std::mem::take(&mut self.held), true);
        }
        let keep = self.stops.iter().map(|stop| overlap(&self.held, stop)).max().unwrap_or(0);
        let held = self.held.split_off(self.held.len() - keep);
        (std::mem::replace(&mut self.held, held), false)
    }

    /// What was held back and turned out not to be a stop text.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

/// The length of the longest end of `text` that is a proper beginning of `stop`.
fn overlap(text: &str, stop: &str) -> usize {
    (1..stop.len().min(text.len() + 1))
        .rev()
        .find(|&n| stop.is_char_boundary(n) && text.ends_with(&stop[..n]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(pieces: &[&str], stops: &[&str]) -> (String, bool) {
        let mut filter = StopFilter::new(stops.iter().map(|s| s.to_string()).collect()).expect("valid stops");
        let mut out = String::new();
        for piece in pieces {
            let (text, stopped) = filter.push(piece);
            out.push_str(&text);
            if stopped {
                return (out, true);
            }
        }
        out.push_str(&filter.finish());
        (out, false)
    }

    #[test]
    fn a_stop_text_in_pieces_is_found() {
        assert_eq!(run(&["one ST", "OP two"], &["STOP"]), ("one ".into(), true));
        assert_eq!(run(&["one ST", "AY two"], &["STOP"]), ("one STAY two".into(), false));
        assert_eq!(run(&["a–", "—b"], &["—b", "–x"]), ("a–".into(), true));
    }

    #[test]
    fn an_empty_stop_text_is_refused() {
        assert_eq!(StopFilter::new(vec![String::new()]).expect_err("empty").kind(), ErrorKind::InvalidArgument);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// However the text is cut, the outcome is that of a plain search over the whole.
        #[test]
        fn pieces_do_not_matter(text in "[abé]{0,24}", stop in "[abé]{1,4}", cut in 1usize..5) {
            let chars: Vec<String> = text.chars().map(String::from).collect();
            let pieces: Vec<String> = chars.chunks(cut).map(|c| c.concat()).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let (out, stopped) = run(&pieces, &[&stop]);
            match text.find(&stop) {
                Some(at) => prop_assert_eq!((out.as_str(), stopped), (&text[..at], true)),
                None => prop_assert_eq!((out, stopped), (text, false)),
            }
        }
    }
}
