//! Drafts by prompt lookup: where the last few tokens have been there before, what followed them then is guessed to follow
//! again. <https://github.com/apoorvumang/prompt-lookup-decoding>
//!
//! The model reads the guesses in one pass together with the token before them, which costs little more than that token
//! alone, and every guess is then judged by the choice that is made without it: so drafts change the time an answer takes
//! and no token of it.

use crate::tokenizer::TokenId;

/// Tokens that must have been there before: fewer are found too often where nothing is repeated.
const SAME: usize = 3;
/// With the token before them, as many as the kernels multiply at once.
const GUESSES: usize = 3;

/// What may follow `tokens`, `most` at most: what followed their end where it last was there before.
pub(super) fn lookup(tokens: &[TokenId], most: usize) -> &[TokenId] {
    let Some(before) = tokens.len().checked_sub(SAME) else { return &[] };
    let end = &tokens[before..];
    // A match may overlap with the end itself: "ha ha ha ha".
    let found = (0..before).rev().find(|&at| tokens[at..at + SAME] == *end);
    found.map_or(&[], |at| &tokens[at + SAME..tokens.len().min(at + SAME + most.min(GUESSES))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_followed_last_time_is_guessed() {
        let text = [1, 2, 3, 4, 5, 1, 2, 3, 9, 8, 7, 6, 1, 2, 3];
        assert_eq!(lookup(&text, 10), [9, 8, 7], "the later of two, and no more than a few");
        assert_eq!(lookup(&text, 2), [9, 8]);
        assert!(lookup(&text, 0).is_empty());
        assert_eq!(lookup(&[7, 7, 7, 7], 10), [7], "no further than the end");
        for nothing in [&[][..], &[1, 2], &[1, 2, 3], &[1, 2, 3, 4, 5, 2, 3]] {
            assert!(lookup(nothing, 10).is_empty(), "{nothing:?}");
        }
    }
}
