//! Marks at the ends of lines and of the text, where none was dictated.

use super::draft::{Draft, Fate, Pause, pause_of_trail};
use super::lexicon::{is_auxiliary, is_determiner, is_subject, is_wh};

/// A question of more words than this has probably ended before.
const MAX_QUESTION_WORDS: usize = 30;

/// A mark to be set after a raw word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NewMark {
    /// The raw index of the word.
    pub after: usize,
    pub text: &'static str,
}

/// The marks that the ends of dictated lines ask for and, where the text ends with the draft, the end of the text.
/// None where there should be none, or where only a guess is possible.
pub(super) fn propose(draft: &Draft, ends_text: bool) -> Vec<NewMark> {
    let Some(least) = draft.preset().final_mark_from else { return vec![] };
    let mut marks = vec![];
    let (mut line, mut lines) = (0, 0);
    for i in 0..draft.len() {
        let (broken, ends) = (draft.breaks_line_after(i), i + 1 == draft.len());
        if !broken && !ends {
            continue;
        }
        let words = i + 1 - line;
        // A line of a few words among dictated line breaks is an item, a greeting or a signature.
        let wanted = match (broken, lines) {
            (true, _) if draft.breaks_paragraph_after(i) => 3,
            (true, _) => 4,
            (false, 0) => least,
            (false, _) => least.max(4),
        };
        let greets = broken && is_greeting(draft.key(line));
        if words >= wanted && !greets && (broken || ends_text) && is_unmarked(draft, i) {
            marks.extend(mark_after(draft, i).map(|text| NewMark { after: draft.at(i), text }));
        }
        line = i + 1;
        lines += 1;
    }
    marks
}

fn is_greeting(key: &str) -> bool {
    matches!(
        key,
        "dear"
            | "hi"
            | "hello"
            | "hey"
            | "kind"
            | "best"
            | "regards"
            | "yours"
            | "sincerely"
            | "cheers"
            | "warm"
            | "many"
            | "thanks"
    )
}

/// Whether nothing but deleted words and line breaks stands after live word `i`.
fn is_unmarked(draft: &Draft, i: usize) -> bool {
    let raw = draft.at(i);
    let closes_bracket = |c: char| matches!(c, ']' | ')' | '"' | '”' | '\'' | '’');
    let bare = draft.words[raw].trail_marks(draft.raw).trim_matches(closes_bracket);
    let next = if i + 1 < draft.len() { draft.at(i + 1) } else { draft.words.len() };
    let between = raw + 1..next;
    let dictated =
        between.clone().any(|k| matches!(&draft.fates[k], Fate::Mark { mark, .. } if !mark.text.contains('\n')));
    let deleted = between.clone().next().is_some_and(|k| matches!(draft.fates[k], Fate::Drop { .. }));
    // What a deleted filler leaves behind: "we left um." keeps its mark.
    let kept = between.clone().any(|k| {
        pause_of_trail(&draft.words[k], draft.raw) == Pause::Strong && matches!(draft.fates[k], Fate::Drop { .. })
    });
    !dictated && !kept && (bare.is_empty() || deleted && bare == ",")
}

fn mark_after(draft: &Draft, i: usize) -> Option<&'static str> {
    if !ends_in_cased_script(draft.key(i)) {
        return None;
    }
    let start = draft.sentence_start(i);
    if !draft.is_english() {
        return (!draft.language.is_interrogative(draft.key(start))).then_some(".");
    }
    Some(if is_question(draft, start, i) { "?" } else { "." })
}

/// Whether the script of `key` ends its sentences with "." or "?": Latin, Greek, Cyrillic and their like have two cases.
fn ends_in_cased_script(key: &str) -> bool {
    let last = key.chars().rfind(|c| c.is_alphanumeric());
    last.is_some_and(|c| c.is_lowercase() || c.is_numeric()) || key.ends_with(['%', '>', '}', '/'])
}

/// Whether the sentence of live words `start..=end` asks.
pub(super) fn is_question(draft: &Draft, start: usize, end: usize) -> bool {
    let words = end + 1 - start;
    if words > MAX_QUESTION_WORDS {
        return false;
    }
    if words >= 4 && is_tag_question(draft, end) {
        return true;
    }
    let opener = |key: &str| {
        matches!(
            key,
            "so" | "and"
                | "but"
                | "well"
                | "oh"
                | "okay"
                | "ok"
                | "hey"
                | "hi"
                | "hello"
                | "right"
                | "now"
                | "then"
                | "also"
                | "or"
                | "yeah"
                | "yes"
                | "no"
                | "alright"
                | "actually"
                | "because"
                | "please"
                | "sorry"
                | "wait"
                | "anyway"
                | "hmm"
                | "just"
        )
    };
    let first = (start..=end).find(|&i| !opener(draft.key(i)));
    first.is_some_and(|first| opens_question(draft, first, end))
}

/// "…, would you", "…, isn't it".
fn is_tag_question(draft: &Draft, end: usize) -> bool {
    let auxiliary = draft.key(end - 1);
    let before = draft.key(end - 2);
    is_subject(draft.key(end))
        && is_auxiliary(auxiliary)
        && (auxiliary.ends_with("n't") || matches!(auxiliary, "would" | "will" | "could" | "can" | "shall"))
        && !is_subject(before)
        && !matches!(
            before,
            "as" | "than"
                | "so"
                | "if"
                | "what"
                | "that"
                | "neither"
                | "nor"
                | "how"
                | "where"
                | "whatever"
                | "and"
                | "or"
                | "but"
        )
}

/// Whether the words from `i` on open a question.
fn opens_question(draft: &Draft, i: usize, end: usize) -> bool {
    let next = |k: usize| if i + k <= end { draft.key(i + k) } else { "" };
    let (first, second, third) = (next(0), next(1), next(2));
    let contracted = |key: &str| {
        matches!(
            key,
            "what's"
                | "who's"
                | "where's"
                | "how's"
                | "when's"
                | "why's"
                | "what're"
                | "where're"
                | "who'll"
                | "what'll"
        )
    };
    if contracted(first) {
        return true;
    }
    if is_wh(first) {
        return match first {
            "what" | "which" | "whose" => {
                if second == "if" || second == "about" {
                    return end >= i + 2;
                }
                // "what a view": an exclamation. "what he said": a statement.
                if matches!(second, "a" | "an") || is_subject(second) || is_determiner(second) && first == "what" {
                    return false;
                }
                is_auxiliary(second)
                    || (2..=7).any(|k| is_auxiliary(next(k)) && !is_subject(next(k - 1)))
                    || second.is_empty()
                    || first == "which" && !third.is_empty()
            }
            "who" | "whom" => {
                !is_subject(second) && !matches!(second, "knows" | "knew" | "cares")
                    || matches!(second, "knows") && end > i + 1
            }
            "how" => {
                second != "to"
                    && !is_subject(second)
                    && !is_determiner(second)
                    && (is_auxiliary(second)
                        || matches!(
                            second,
                            "many" | "much" | "long" | "far" | "often" | "about" | "come" | "old" | "big" | "soon"
                        )
                        || is_auxiliary(third)
                        || second.is_empty())
            }
            "why" => !is_subject(second) && !is_determiner(second),
            "when" | "where" => is_auxiliary(second) || second.is_empty() || second == "exactly",
            _ => false,
        };
    }
    if !is_auxiliary(first) {
        return matches!(
            (first, second),
            ("any", "idea" | "chance" | "thoughts" | "questions" | "news" | "update" | "updates")
        );
    }
    match first {
        // "do me a favour", "have a nice day", "may the best one win", "will" and "might" as nouns.
        "do" | "have" | "don't" => {
            is_subject(second)
                || matches!(second, "these" | "those" | "people" | "they" | "we")
                || first == "have" && matches!(second, "any" | "all")
        }
        "must" | "may" | "shall" => is_subject(second),
        _ => {
            is_subject(second)
                || is_determiner(second)
                || matches!(
                    second,
                    "there"
                        | "not"
                        | "everyone"
                        | "everybody"
                        | "someone"
                        | "somebody"
                        | "anyone"
                        | "anybody"
                        | "people"
                        | "nobody"
                )
                || (!second.is_empty()
                    && !is_auxiliary(second)
                    && !matches!(second, "be" | "been" | "do" | "not")
                    && end > i + 1)
        }
    }
}
