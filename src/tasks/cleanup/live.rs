//! A cleanup of speech that is still going on: segments come one by one, and what is settled never changes.

use super::cleaner::Cleaner;
use super::edit::Edit;
use super::options::CleanupOptions;
use crate::Result;

/// Text that will not change any more.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settled {
    /// What follows the text settled before.
    pub text: String,
    /// The edits that made it, in offsets of all that was pushed.
    pub edits: Vec<Edit>,
}

/// Cleans segments as they arrive, in bounded memory: it keeps only what is not settled.
///
/// The raw text is all segments in a row, with a space between two that have none.
///
/// # Example
/// ```
/// use fairhand::tasks::cleanup::{CleanupOptions, LiveCleaner};
///
/// let mut live = LiveCleaner::new(&CleanupOptions::default())?;
/// let mut text = live.push("um so the lid").text;
/// assert_eq!(live.preview(), "So the lid.");
/// text += &live.push("the lid is stuck").text;
/// text += &live.finish().text;
/// assert_eq!(text, "So the lid is stuck.");
/// # Ok::<(), fairhand::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LiveCleaner {
    cleaner: Cleaner,
    /// Bytes settled and given away.
    offset: usize,
}

impl LiveCleaner {
    /// A cleanup to which nothing was said yet.
    ///
    /// # Errors
    /// As [`CleanupOptions::check`].
    pub fn new(options: &CleanupOptions) -> Result<Self> {
        Ok(Self { cleaner: Cleaner::new("", options)?, offset: 0 })
    }

    /// Adds a segment and gives what it settles, perhaps nothing.
    pub fn push(&mut self, segment: &str) -> Settled {
        self.cleaner.append(segment);
        while self.cleaner.settle_early() {}
        self.take()
    }

    /// What is not settled, as it would be if nothing came after it.
    pub fn preview(&self) -> String {
        self.cleaner.clone().finish().text
    }

    /// Settles the rest.
    pub fn finish(mut self) -> Settled {
        while self.cleaner.step() {}
        self.take()
    }

    fn take(&mut self) -> Settled {
        let (text, mut edits, bytes) = self.cleaner.forget_settled();
        for edit in &mut edits {
            edit.start += self.offset;
            edit.end += self.offset;
        }
        self.offset += bytes;
        Settled { text, edits }
    }
}
