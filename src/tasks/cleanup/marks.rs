//! Marks at the ends of lines and of the text, where none was dictated.

use super::draft::{Draft, Fate, Pause, pause_of_trail};
use super::lexicon::{is_auxiliary, is_determiner, is_subject, is_wh, words};

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
        if words >= wanted
            && !greets
            && (broken || ends_text)
            && let Some(after) = unmarked_end(draft, i)
        {
            marks.extend(mark_after(draft, i).map(|text| NewMark { after, text }));
        }
        line = i + 1;
        lines += 1;
    }
    marks
}

fn is_greeting(key: &str) -> bool {
    words!("dear hi hello hey kind best regards yours sincerely cheers warm many thanks").contains(key)
}

/// The raw word after which a mark would stand: live word `i`, or the dictated bracket or quote that closes after it.
/// None where the line has its mark already.
fn unmarked_end(draft: &Draft, i: usize) -> Option<usize> {
    let first = draft.at(i);
    let next = if i + 1 < draft.len() { draft.at(i + 1) } else { draft.words.len() };
    let strong = |k: usize| pause_of_trail(&draft.words[k], draft.raw) == Pause::Strong;
    let mut after = first;
    for k in first + 1..next {
        match &draft.fates[k] {
            Fate::Mark { mark, last } if mark.closes() && !strong(*last) => after = *last,
            Fate::Mark { mark, .. } if mark.text.contains('\n') => {}
            // What a deleted filler leaves behind: "we left um." keeps its mark.
            Fate::Mark { .. } => return None,
            Fate::Drop { .. } if strong(k) => return None,
            _ => {}
        }
    }
    let closes_bracket = |c: char| matches!(c, ']' | ')' | '"' | '”' | '\'' | '’');
    let bare = draft.words[first].trail_marks(draft.raw).trim_matches(closes_bracket);
    let dropped = matches!(draft.fates.get(first + 1), Some(Fate::Drop { .. })) && first + 1 < next;
    (bare.is_empty() || dropped && bare == ",").then_some(after)
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
        words!(
            "so and but well oh okay ok hey hi hello right now then also or yeah yes no alright actually because \
            please sorry wait anyway hmm just"
        )
        .contains(key)
    };
    let first = (start..=end).find(|&i| !opener(draft.key(i)));
    first.is_some_and(|first| opens_question(draft, first, end))
}

/// "…, would you", "…, isn't it".
pub(super) fn is_tag_question(draft: &Draft, end: usize) -> bool {
    let auxiliary = draft.key(end - 1);
    let before = draft.key(end - 2);
    is_subject(draft.key(end))
        && is_auxiliary(auxiliary)
        && (auxiliary.ends_with("n't") || matches!(auxiliary, "would" | "will" | "could" | "can" | "shall"))
        && !is_subject(before)
        && !words!("as than so if what that neither nor how where whatever and or but").contains(before)
}

/// Whether the words from `i` on open a question.
fn opens_question(draft: &Draft, i: usize, end: usize) -> bool {
    let next = |k: usize| if i + k <= end { draft.key(i + k) } else { "" };
    let (first, second, third) = (next(0), next(1), next(2));
    let contracted =
        |key: &str| words!("what's who's where's how's when's why's what're where're who'll what'll").contains(key);
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
                        || words!("many much long far often about come old big soon").contains(second)
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
            is_subject(second) && second != "it"
                || matches!(second, "these" | "those" | "people" | "they" | "we")
                || first == "have" && matches!(second, "any" | "all")
        }
        "must" | "may" | "shall" => is_subject(second),
        _ => {
            is_subject(second)
                || is_determiner(second)
                || words!("there not everyone everybody someone somebody anyone anybody people nobody").contains(second)
                || (!second.is_empty()
                    && !is_auxiliary(second)
                    && !matches!(second, "be" | "been" | "do" | "not")
                    && end > i + 1)
        }
    }
}
