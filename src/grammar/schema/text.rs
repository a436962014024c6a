//! The contents of strings: JSON's escapes around sets of characters, patterns, and names other than some.

use std::collections::BTreeSet;

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

/// One character of the set, as a JSON string has it: each in one way only.
pub(super) fn character(set: &CharSet) -> Expr {
    let special = set.minus(&plain());
    let escaped = special.ranges().iter().flat_map(|(low, high)| *low..=*high).filter_map(char::from_u32).map(|c| {
        let short = ESCAPED.iter().find(|(escaped, _)| *escaped == c);
        Expr::text(short.map_or_else(|| format!("\\u{:04x}", u32::from(c)), |(_, escape)| (*escape).to_owned()))
    });
    let plain = Expr::Set(set.minus(&special));
    Expr::alt(std::iter::once(plain).chain(escaped))
}

/// What a pattern matches, as the content of a JSON string.
pub(super) fn pattern(pattern: &str, path: &Path) -> Result<Expr> {
    match read(pattern, Beside::Anything) {
        Ok(expr) => Ok(encoded(&expr)),
        Err(fault) => refuse(path, &format!("at character {}: expected {}", fault.column, fault.expected)),
    }
}

fn encoded(expr: &Expr) -> Expr {
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
