//! What can be seen of a proposed topic where it stands.

use std::ops::Range;

use super::parts::{Listed, Part, listed, word_of};
use crate::tasks::cleanup::lexicon::{
    is_auxiliary, is_common_word, is_conjunction, is_determiner, is_function_word, is_preposition, is_wh, name,
};
use crate::tasks::extract::clauses::{Pause, Token};
use crate::tasks::extract::syntax::{Keys, is_finite};
use crate::tasks::extract::verbs::verb;

/// What each feature is called where its weight is kept.
pub const FEATURES: [&str; 38] = [
    "two words",
    "three words",
    "early",
    "first run",
    "clauses before",
    "after a",
    "after the",
    "after an owner",
    "unmarked",
    "after about, for, of",
    "after a preposition of place",
    "after with",
    "object of a verb",
    "before a finite verb",
    "subject of a question",
    "whole run",
    "head of a run",
    "modifier in a run",
    "begins with an adjective",
    "run without its adjective",
    "gerund",
    "begins with a gerund",
    "a person's name",
    "what a note is",
    "ends with what a note is",
    "vague",
    "a time",
    "a person",
    "short and common",
    "length",
    "again",
    "plural",
    "formed noun",
    "also a verb",
    "last run",
    "in a clause that leans",
    "after what a note is",
    "compound of two nouns",
];

/// The place of "again" among [`FEATURES`]: it is known when all places are.
pub(super) const AGAIN: usize = 30;

/// A run of words that could be a topic.
pub(super) struct Place<'a> {
    pub tokens: &'a [Token],
    pub parts: &'a [Option<Part>],
    pub first: usize,
    pub end: usize,
    /// All the words around it that could be part of it.
    pub run: Range<usize>,
    /// How many runs there are up to this one.
    pub runs: usize,
}

pub(super) fn features(place: &Place) -> [f32; FEATURES.len()] {
    let Place { tokens, parts, first, end, ref run, runs } = *place;
    let keys = Keys(tokens);
    let before = |n: usize| first.checked_sub(n).map_or("", |i| keys.at(i));
    // The word before the whole run tells how it is used; its determiner is looked through.
    let announced = |n: usize| run.start.checked_sub(n).map_or("", |i| keys.at(i));
    let determiner = is_determiner(announced(1)) && !announced(1).ends_with("'s");
    let relation = if determiner { announced(2) } else { announced(1) };
    let next = if tokens[end - 1].pause > Pause::None { "" } else { keys.at(end) };
    let size = end - first;
    let head = word_of(&tokens[end - 1]);
    let one = size == 1;
    let noun = |i: usize| parts[i] == Some(Part::Noun);
    let is = |part: Listed, word: &str| listed(word) == Some(part);
    let clauses = (1..=first).filter(|&i| opens_clause(keys.at(i)) || tokens[i - 1].pause == Pause::Strong).count();
    let leans = (0..first).rev().take_while(|&i| first - i < 6 && tokens[i].pause < Pause::Strong);
    let asked = run.start >= 1 && {
        let at = run.start - 1 - usize::from(determiner).min(run.start - 1);
        is_auxiliary(keys.at(at)) && (at == 0 || is_wh(keys.at(at - 1)) || is_conjunction(keys.at(at - 1)))
    };
    let flags = [
        size == 2,
        size == 3,
        false,
        runs == 1,
        false,
        matches!(before(1), "a" | "an" | "another"),
        matches!(before(1), "the" | "this" | "that" | "these" | "those"),
        matches!(before(1), "my" | "our" | "your" | "his" | "her" | "their") || before(1).ends_with("'s"),
        !determiner,
        matches!(relation, "about" | "for" | "of" | "re" | "on"),
        matches!(
            relation,
            "in" | "at" | "from" | "to" | "into" | "by" | "near" | "behind" | "under" | "over" | "through"
        ),
        matches!(relation, "with" | "without" | "like" | "than" | "as"),
        !relation.is_empty() && !is_function_word(relation),
        end == run.end && (is_finite(next) || is_auxiliary(next)),
        asked,
        first == run.start && end == run.end,
        one && end == run.end && run.len() > 1 && noun(end - 2),
        end < run.end && noun(end),
        !noun(first),
        noun(first) && first > run.start && !noun(first - 1),
        one && head.ends_with("ing"),
        !one && word_of(&tokens[first]).ends_with("ing"),
        (first..end).any(|i| name(word_of(&tokens[i])).is_some_and(|name| name.len() > 3)),
        one && is(Listed::Kind, head),
        !one && is(Listed::Kind, head),
        is(Listed::Vague, head),
        (first..end).any(|i| is(Listed::Time, word_of(&tokens[i]))),
        one && is(Listed::Person, head),
        one && is_common_word(head) && head.len() < 5,
        false,
        false,
        head.ends_with('s') && !head.ends_with("ss"),
        ["tion", "ment", "ness", "ity", "ship", "ance", "ence", "ture", "logy"].iter().any(|end| head.ends_with(end)),
        one && (verb(head).is_some() || head.strip_suffix('s').is_some_and(|stem| verb(stem).is_some())),
        !(run.end..tokens.len()).any(|i| parts[i].is_some()),
        leans
            .into_iter()
            .any(|i| matches!(keys.at(i), "because" | "if" | "when" | "that" | "which" | "who" | "while" | "where")),
        is(Listed::Kind, announced(1)) || is_preposition(announced(1)) && is(Listed::Kind, announced(2)),
        size == 2
            && noun(first)
            && !matches!(listed(head), Some(Listed::Vague | Listed::Time | Listed::Person))
            && !matches!(listed(word_of(&tokens[first])), Some(Listed::Time | Listed::Person)),
    ];
    let mut features = flags.map(|flag| f32::from(u8::from(flag)));
    features[2] = 1.0 - first as f32 / tokens.len() as f32;
    features[4] = clauses.min(4) as f32 / 4.0;
    features[29] = head.len().min(12) as f32 / 12.0;
    features
}

/// Words after which something else begins.
fn opens_clause(key: &str) -> bool {
    is_conjunction(key) || matches!(key, "before" | "after" | "until" | "which" | "who" | "that" | "than")
}
