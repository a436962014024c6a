//! Phrases of time, as far as they say where a clause begins and what belongs to a task.

use super::clauses::{Pause, Token};
use crate::tasks::cleanup::lexicon::{is_cardinal, is_month, is_ordinal, is_weekday};

/// The end of the phrase of time that begins at token `i`: "tomorrow morning", "on friday", "by the tenth".
pub(in crate::tasks) fn time_phrase(tokens: &[Token], i: usize) -> Option<usize> {
    let key = |k: usize| match k {
        _ if k > i && tokens.get(k - 1).is_none_or(|token| token.pause != Pause::None) => "",
        _ => tokens.get(k).map_or("", |token| token.word.key.as_str()),
    };
    let part = |k: usize| if is_part_of_day(key(k)) { k + 1 } else { k };
    let bare = |k: usize| is_weekday(key(k)) || is_day(key(k));
    match key(i) {
        "on" | "by" | "before" | "until" | "till" | "from" | "after" if bare(i + 1) => Some(part(i + 2)),
        "on" | "by" | "before" | "until" | "after" if key(i + 1) == "the" && is_ordinal(key(i + 2)) => Some(i + 3),
        "on" | "by" | "before" | "in" if is_month(key(i + 1)) => Some(i + 2),
        "at" | "by" | "before" | "around" if is_cardinal(key(i + 1)) || matches!(key(i + 1), "noon" | "midnight") => {
            Some(if matches!(key(i + 2), "o'clock" | "am" | "pm" | "thirty" | "fifteen") { i + 3 } else { i + 2 })
        }
        "in" | "over" | "at" if key(i + 1) == "the" && is_span(key(i + 2)) => Some(i + 3),
        "after" | "before" if matches!(key(i + 1), "work" | "lunch" | "dinner" | "breakfast" | "school" | "bed") => {
            Some(i + 2)
        }
        "later" if key(i + 1) == "this" && is_span(key(i + 2)) => Some(i + 3),
        "later" if key(i + 1) == "today" => Some(i + 2),
        "this" | "next" | "every" if is_weekday(key(i + 1)) || is_span(key(i + 1)) => Some(part(i + 2)),
        "first" if key(i + 1) == "thing" => Some(time_phrase(tokens, i + 2).unwrap_or(i + 2)),
        "at" if key(i + 1) == "some" && key(i + 2) == "point" => Some(i + 3),
        _ if bare(i) => Some(part(i + 1)),
        _ => None,
    }
}

fn is_day(key: &str) -> bool {
    matches!(key, "today" | "tonight" | "tomorrow")
}

fn is_part_of_day(key: &str) -> bool {
    matches!(key, "morning" | "afternoon" | "evening" | "night" | "lunchtime" | "week")
}

fn is_span(key: &str) -> bool {
    is_part_of_day(key)
        || matches!(key, "weekend" | "month" | "year" | "term" | "quarter" | "summer" | "winter" | "autumn" | "spring")
}

/// Whether `a` and `b` are times or numbers of one kind, so that one can correct the other.
pub(super) fn are_alike(a: &str, b: &str) -> bool {
    let kinds = [is_weekday, is_month, is_cardinal, is_ordinal, is_day, is_part_of_day];
    kinds.iter().any(|is_kind| is_kind(a) && is_kind(b))
}
