//! Strings: what patterns, formats and lengths say together.

use serde_json::Value;

use super::automaton::{Automaton, Texts, intersection};
use super::shape::Shape;
use super::{Converter, Path, refuse, text};
use crate::error::Result;
use crate::grammar::expr::Expr;

impl<'s> Converter<'s> {
    pub(super) fn string(&mut self, shape: &Shape<'s>) -> Result<Expr> {
        if let Some(path) = &shape.unknown_format {
            return refuse(path, "a format that is not known");
        }
        let excluded = shape.excluded.iter().filter_map(|value| value.as_str()).map(Expr::text);
        let excluded = Expr::alt(excluded);
        let mut texts = shape.texts.clone();
        if !excluded.is_never() {
            texts.push(Texts { content: excluded, negated: true });
        }
        self.text(&texts, shape)
    }

    /// Strings whose content is in all of the languages, and has the shape's length.
    pub(super) fn text(&mut self, texts: &[Texts], shape: &Shape<'s>) -> Result<Expr> {
        let length = shape.length;
        if length.is_empty() {
            return Ok(Expr::never());
        }
        match texts {
            [] if length == Default::default() => return Ok(Expr::rule("string")),
            [] => return Ok(quoted(Expr::rule("char").rep(length.min, length.max))),
            [Texts { content, negated: false }] => {
                let lengths = text::lengths(content);
                let always = lengths.min >= length.min
                    && length.max.is_none_or(|max| lengths.max.is_some_and(|longest| longest <= max));
                if always {
                    let content = quoted(text::encoded(content));
                    return Ok(self.named("text", content));
                }
                // The most common case of all: characters of one kind, so many of them.
                if let Expr::Rep(item, min, max) = content
                    && let Expr::Set(set) = &**item
                {
                    let (min, max) = (length.min.max(*min), length.max.into_iter().chain(*max).min());
                    let content = match max {
                        Some(max) if max < min => Expr::never(),
                        max => text::character(set).rep(min, max),
                    };
                    return Ok(quoted(content));
                }
            }
            _ => {}
        }
        match intersection(texts, length) {
            Some(automaton) => Ok(self.automaton("text", &automaton, true)),
            None => refuse(&shape.path, "patterns, formats and lengths that are too much together"),
        }
    }

    /// A rule for each state; as the content of a JSON string if `quoted`.
    pub(super) fn automaton(&mut self, kind: &str, automaton: &Automaton, quoted: bool) -> Expr {
        if automaton.states.is_empty() {
            return Expr::never();
        }
        let kind = self.new_name(kind);
        let quote = if quoted { Expr::text("\"") } else { Expr::empty() };
        let state_rule = |id: u32| format!("{kind}-{id}");
        for (id, state) in automaton.states.iter().enumerate() {
            let end = if state.accepts { quote.clone() } else { Expr::never() };
            let edges = state.edges.iter().map(|(set, to)| {
                let character = if quoted { text::character(set) } else { Expr::Set(set.clone()) };
                Expr::seq([character, Expr::rule(state_rule(*to))])
            });
            let rule = Expr::alt(std::iter::once(end).chain(edges));
            self.rules.push((state_rule(id as u32), rule));
        }
        Expr::seq([quote, Expr::rule(state_rule(0))])
    }

    /// Whether a text has what a shape says about strings.
    pub(super) fn text_holds(&self, shape: &Shape<'s>, text: &str) -> Result<bool> {
        if let Some(path) = &shape.unknown_format {
            return refuse(path, "a format that is not known");
        }
        let is_listed = |values: &[&Value]| values.iter().any(|value| value.as_str() == Some(text));
        if !shape.length.contains(text.chars().count()) || is_listed(&shape.excluded) {
            return Ok(false);
        }
        for texts in &shape.texts {
            if describes(&texts.content, text, &shape.path)? == texts.negated {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether an expression over characters describes the text.
pub(super) fn describes(content: &Expr, text: &str, path: &Path) -> Result<bool> {
    match super::automaton::describes(content, text) {
        Some(found) => Ok(found),
        None => refuse(path, "a pattern that is too large"),
    }
}

fn quoted(content: Expr) -> Expr {
    Expr::seq([Expr::text("\""), content, Expr::text("\"")])
}
