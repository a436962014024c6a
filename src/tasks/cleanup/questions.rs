//! How questions open, and what only opens like one.

use super::draft::Draft;
use super::lexicon::{is_auxiliary, is_determiner, is_subject, is_wh, words};

/// A question of more words than this has probably ended before.
const MAX_QUESTION_WORDS: usize = 30;

/// What the first words of a sentence, or a tag at its end, say about its mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// Like a question.
    Asks,
    /// Like a question, and yet none: "was fun yesterday", "what a day".
    Tells,
    /// Like a condition: "had I known …".
    Supposes,
    Other,
}

/// How the sentence of live words `start..=end` opens.
pub(super) fn opening(draft: &Draft, start: usize, end: usize) -> Opening {
    let words = end + 1 - start;
    if words > MAX_QUESTION_WORDS {
        return Opening::Other;
    }
    if words >= 4 && is_tag_question(draft, end) {
        return Opening::Asks;
    }
    let opener = |key: &str| {
        words!(
            "so and but well oh okay ok hey hi hello right now then also or yeah yes no alright actually because \
            please sorry wait anyway hmm just"
        )
        .contains(key)
    };
    let Some(first) = (start..=end).find(|&i| !opener(draft.key(i))) else { return Opening::Other };
    if supposes(draft, first, end) {
        Opening::Supposes
    } else if tells(draft, first) {
        Opening::Tells
    } else if opens_question(draft, first, end) {
        Opening::Asks
    } else {
        Opening::Other
    }
}

/// "Should you need …", "had I known …", "were it up to me …".
fn supposes(draft: &Draft, i: usize, end: usize) -> bool {
    let (first, second, third) = (draft.key(i), draft.key(i + 1), draft.key(i + 2));
    end > i + 2
        && match first {
            "should" => {
                words!("you anyone anybody anything something it there").contains(second)
                    && words!(
                        "need have want wish require decide change feel find get happen be see receive prefer run rain"
                    )
                    .contains(third)
                    && !(second == "it" && third == "be")
            }
            "had" => matches!(second, "i" | "we") && !matches!(third, "a" | "the" | "any" | "to"),
            "were" => matches!(second, "i" | "it" | "we") && matches!(third, "to" | "you" | "up" | "not" | "in"),
            _ => false,
        }
}

/// A sentence without its subject, or an exclamation: "is all I have", "will do", "how to bake".
fn tells(draft: &Draft, i: usize) -> bool {
    let (first, second) = (draft.key(i), draft.key(i + 1));
    match first {
        "what" => matches!(second, "a" | "an"),
        "how" => matches!(second, "to" | "kind" | "nice" | "lovely" | "sweet"),
        "do" | "have" => words!("it this that not me us the a an some your my").contains(second),
        "will" | "can" | "did" | "does" | "would" | "could" | "might" | "must" => {
            words!("do be not love like have need go try never").contains(second)
        }
        "is" | "was" | "were" if is_described(second) => true,
        "is" | "was" | "are" | "were" | "has" | "had" => words!(
            "all what how fun good great nice lovely fine okay ok so really very too just quite pretty busy tired late \
             going thinking hoping wondering wonderful amazing awesome brilliant terrible awful boring hard easy been \
             able about happy glad sad sorry wrong right true"
        )
        .contains(second),
        _ => false,
    }
}

/// Whether `key` looks like an adjective or a participle, with which no question goes on after its verb: "was exhausting".
fn is_described(key: &str) -> bool {
    const ENDINGS: [&str; 8] = ["ing", "ful", "ous", "ive", "able", "ible", "less", "ated"];
    key.len() > 5
        && ENDINGS.iter().any(|ending| key.ends_with(ending))
        && !matches!(
            key,
            "everything" | "anything" | "something" | "nothing" | "parking" | "building" | "training" | "meeting"
        )
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

/// Whether words `end - 1..=end` may be a tag where something has shown that they stand alone: "…, is it".
pub(super) fn is_like_tag(draft: &Draft, end: usize) -> bool {
    is_subject(draft.key(end)) && is_auxiliary(draft.key(end - 1))
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
