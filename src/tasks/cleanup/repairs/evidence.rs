//! What speaks for or against deleting a stretch, as names that the table of weights knows.

use std::fmt::Write;

use super::super::draft::{Draft, Pause};
use super::super::lexicon::{
    is_auxiliary, is_conjunction, is_determiner, is_function_word, is_month, is_number_word, is_preposition,
    is_pronoun, is_subject, is_weekday, is_wh, words,
};
use super::super::words::Shape;
use super::candidates::Interruption;

/// Calls `see` with the name of each piece of evidence about deleting live words `from..to` at `interruption`.
pub(super) fn each(draft: &Draft, interruption: &Interruption, from: usize, to: usize, mut see: impl FnMut(&str)) {
    let mut name = String::with_capacity(48);
    let mut emit = |arguments: std::fmt::Arguments| {
        name.clear();
        // Writing to a string cannot fail.
        let _ = name.write_fmt(arguments);
        see(&name);
    };
    let Interruption { from: marker_from, to: marker_to, marker, by_rules, .. } = interruption;
    let (last, length) = (marker_from - 1, marker_from - from);
    let start = draft.sentence_start(from);
    let class = |i: usize| class(draft, i);
    let before = if from > start { class(from - 1) } else { "^" };
    let kind = match marker {
        marker if marker.faint => "faint",
        marker if marker.weight >= 3 => "strong",
        _ => "marked",
    };
    let size = match length {
        0..=4 => length,
        5..=6 => 5,
        7..=9 => 7,
        _ => 10,
    };
    let rest = (to..draft.len()).take_while(|&k| k == to || draft.pause(k - 1) < Pause::Strong).count();
    let (first, repair) = (draft.key(from), draft.key(to));

    emit(format_args!("kind={kind}"));
    if marker_from < marker_to {
        let said: Vec<&str> = (*marker_from..*marker_to).map(|i| draft.key(i)).collect();
        emit(format_args!("marker={}", said.join("_")));
        if length == 0 {
            emit(format_args!("alone={}", said.join("_")));
        }
    }
    if *marker_to < to {
        emit(format_args!("lead={}", draft.key(*marker_to)));
    }
    if draft.pause(last) == Pause::Strong {
        emit(format_args!("crosses {kind}"));
    }
    emit(format_args!("size={size} {kind}"));
    if length == 0 {
        emit(format_args!("join={}>{}", class(last), class(to)));
        return;
    }
    match by_rules {
        Some(span) if *span == (from, to) => emit(format_args!("rules=this {kind}")),
        Some(_) => emit(format_args!("rules=other")),
        None => emit(format_args!("rules=none")),
    }
    let opens = from == start;
    if opens {
        emit(format_args!("opens {kind}"));
        emit(format_args!("opens>{}", class(to)));
    }
    if first == repair {
        let content = if is_function_word(first) { "little" } else { "content" };
        emit(format_args!("same {content}"));
        let second = from + 1 < *marker_from && draft.key(from + 1) == draft.key(to + 1);
        emit(format_args!("same {} {}", class(from), second));
        let nearest = (from + 1..*marker_from).all(|i| draft.key(i) != repair);
        emit(format_args!("same nearest={nearest}"));
    }
    emit(format_args!("pair={}>{}", class(from), class(to)));
    emit(format_args!("join={before}>{}", class(to)));
    emit(format_args!("end={}>{}", class(last), class(to)));
    if from > start && is_function_word(draft.key(from - 1)) && is_function_word(repair) {
        emit(format_args!("seam={}>{repair}", draft.key(from - 1)));
    }
    if class(from) == class(to) {
        let nearest = (from + 1..*marker_from).all(|i| class(i) != class(to));
        emit(format_args!("alike {} nearest={nearest}", class(to)));
    }
    // What the repair says again.
    let window = to..draft.len().min(to + length + 2);
    let shared = (from..*marker_from).filter(|&i| window.clone().any(|k| draft.key(k) == draft.key(i)));
    let (little, content) =
        shared.fold(
            (0, 0),
            |(little, content), i| {
                if is_function_word(draft.key(i)) { (little + 1, content) } else { (little, content + 1) }
            },
        );
    emit(format_args!("shared={} of {size}", (little + content).min(3)));
    emit(format_args!("shared content={}", content.min(2)));
    if let Some(k) = (0..4).find(|&k| to + k < draft.len() && draft.key(to + k) == draft.key(last)) {
        emit(format_args!("meets={k} {}", k + 1 == length));
    }
    emit(format_args!("rest={} {}", rest.min(6), if rest < length { "short" } else { "long" }));
    let (old, new) = (draft.word(from).shape, draft.word(to).shape);
    let capital = |shape: Shape| matches!(shape, Shape::Capitalised | Shape::Upper | Shape::Mixed);
    if !opens {
        emit(format_args!("case={}>{}", capital(old), capital(new)));
    }
    let asks = (from..*marker_from).any(|i| is_wh(draft.key(i)));
    let asks_anew = (to..draft.len().min(to + 4)).any(|i| is_wh(draft.key(i)));
    emit(format_args!("asks={asks}>{asks_anew} {opens}"));
    if length == 1 || *marker_to == to {
        let alike = common_prefix(draft.key(last), repair);
        if alike >= 3 && draft.key(last) != repair {
            emit(format_args!("prefix last"));
        }
        if common_prefix(first, repair) >= 3 && first != repair {
            emit(format_args!("prefix first"));
        }
    }
}

/// The names of all evidence, in order.
pub(super) fn names(draft: &Draft, interruption: &Interruption, from: usize, to: usize) -> Vec<String> {
    let mut names = vec![];
    each(draft, interruption, from, to, |name| names.push(name.to_owned()));
    names
}

fn common_prefix(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// A rough part of speech.
fn class(draft: &Draft, i: usize) -> &'static str {
    let key = draft.key(i);
    match key {
        "" => "$",
        _ if is_wh(key) => "wh",
        _ if is_auxiliary(key) => "aux",
        _ if is_subject(key) => "subject",
        _ if is_determiner(key) => "det",
        _ if is_preposition(key) => "prep",
        _ if is_pronoun(key) => "pronoun",
        _ if is_conjunction(key) => "conj",
        _ if is_weekday(key) || is_month(key) => "day",
        _ if is_number_word(key) || draft.word(i).shape == Shape::Digits => "number",
        _ if words!("not never be been being just only also very more most").contains(key) => "adverb",
        _ if draft.word(i).shape != Shape::Lower => "name",
        _ if key.ends_with("ly") => "adverb",
        _ if key.ends_with("ing") => "ing",
        _ if key.ends_with("ed") => "ed",
        _ if key.ends_with('s') => "plural",
        _ => "word",
    }
}
