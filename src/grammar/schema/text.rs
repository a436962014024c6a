//! The contents of strings: JSON's escapes around sets of characters, patterns, and names other than some.

use std::collections::BTreeSet;

use serde_json::Value;

use super::shape::Counts;
use super::{Path, refuse};
use crate::error::Result;
use crate::grammar::charset::CharSet;
use crate::grammar::expr::Expr;
use crate::grammar::regex::{Beside, read};

/// The characters that JSON writes with an escape of two characters.
const ESCAPED: [(char, &str); 7] =
    [('"', "\\\""), ('\\', "\\\\"), ('\u{8}', "\\b"), ('\u{C}', "\\f"), ('\n', "\\n"), ('\r', "\\r"), ('\t', "\\t")];

/// Characters that stand for themselves in a JSON string.
fn plain() -> CharSet {
    CharSet::range('\0', '\u{1F}').union(&CharSet::of(['"', '\\'])).complement()
}

/// One character of the set, as a JSON string has it: each in one way only, unless it may be any.
pub(super) fn character(set: &CharSet) -> Expr {
    if *set == CharSet::any() {
        return Expr::rule("char");
    }
    let special = set.minus(&plain());
    let escaped = special.ranges().iter().flat_map(|(low, high)| *low..=*high).filter_map(char::from_u32).map(|c| {
        let short = ESCAPED.iter().find(|(escaped, _)| *escaped == c);
        Expr::text(short.map_or_else(|| format!("\\u{:04x}", u32::from(c)), |(_, escape)| (*escape).to_owned()))
    });
    let plain = Expr::Set(set.minus(&special));
    Expr::alt(std::iter::once(plain).chain(escaped))
}

/// What the value of a `pattern` matches, in characters.
pub(super) fn pattern(value: &Value, path: &Path) -> Result<Expr> {
    match value.as_str() {
        Some(pattern) => pattern_text(pattern, path),
        None => refuse(path, "a pattern is a text"),
    }
}

/// What a pattern matches, in characters.
pub(super) fn pattern_text(pattern: &str, path: &Path) -> Result<Expr> {
    match read(pattern, Beside::Anything) {
        Ok(expr) => Ok(expr),
        Err(fault) => refuse(path, &format!("at character {}: expected {}", fault.column, fault.expected)),
    }
}

/// The least and the most characters of the texts of an expression over characters.
pub(super) fn lengths(expr: &Expr) -> Counts {
    let sum = |a: Option<u32>, b: Option<u32>| a?.checked_add(b?);
    match expr {
        Expr::Text(text) => {
            let count = text.chars().count() as u32;
            Counts { min: count, max: Some(count) }
        }
        Expr::Set(_) => Counts { min: 1, max: Some(1) },
        Expr::Seq(items) => items.iter().map(lengths).fold(Counts { min: 0, max: Some(0) }, |all, item| Counts {
            min: all.min.saturating_add(item.min),
            max: sum(all.max, item.max),
        }),
        Expr::Alt(items) => items
            .iter()
            .map(lengths)
            .reduce(|a, b| Counts { min: a.min.min(b.min), max: a.max.zip(b.max).map(|(a, b)| a.max(b)) })
            .unwrap_or_default(),
        Expr::Rep(item, min, max) => {
            let item = lengths(item);
            let most = item.max.zip(*max).and_then(|(each, times)| each.checked_mul(times));
            Counts { min: item.min.saturating_mul(*min), max: most }
        }
        Expr::Rule(_) => Counts::default(),
    }
}

/// An expression over characters as the content of a JSON string.
pub(super) fn encoded(expr: &Expr) -> Expr {
    match expr {
        Expr::Text(text) => Expr::seq(text.chars().map(|c| character(&CharSet::of([c])))),
        Expr::Set(set) => character(set),
        Expr::Seq(items) => Expr::seq(items.iter().map(encoded)),
        Expr::Alt(items) => Expr::alt(items.iter().map(encoded)),
        Expr::Rep(item, min, max) => encoded(item).rep(*min, *max),
        Expr::Rule(name) => Expr::rule(name),
    }
}

/// All strings but these, quoted.
pub(super) fn other_names(names: &[&str]) -> Expr {
    let names: Vec<Vec<char>> = names.iter().map(|name| name.chars().collect()).collect();
    let suffixes: Vec<&[char]> = names.iter().map(Vec::as_slice).collect();
    Expr::seq([Expr::text("\""), other_than(&suffixes), Expr::text("\"")])
}

/// All texts but these: those that leave the tree of them at some character, and those that end inside of it.
fn other_than(names: &[&[char]]) -> Expr {
    let any = || character(&CharSet::any()).rep(0, None);
    let firsts: BTreeSet<char> = names.iter().filter_map(|name| name.first().copied()).collect();
    let end = if names.iter().any(|name| name.is_empty()) { Expr::never() } else { Expr::empty() };
    let leaves = character(&CharSet::of(firsts.iter().copied()).complement());
    let stays = firsts.iter().map(|first| {
        let rest: Vec<&[char]> =
            names.iter().filter(|name| name.first() == Some(first)).map(|name| &name[1..]).collect();
        Expr::seq([character(&CharSet::of([*first])), other_than(&rest)])
    });
    Expr::alt([end, Expr::seq([leaves, any()])].into_iter().chain(stays))
}
