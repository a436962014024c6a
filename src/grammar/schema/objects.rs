//! Objects: properties by name and by pattern, required ones, how many.

use serde_json::Value;

use super::arrays::{after_comma, comma, refuse_excluded};
use super::automaton::Texts;
use super::shape::{Counts, Properties, Shape};
use super::strings::describes;
use super::values::{in_braces, literal};
use super::{Converter, Place, refuse, text};
use crate::error::Result;
use crate::grammar::expr::Expr;

/// The most patterns that names may match: each set of them becomes a kind of property.
const MAX_PATTERNS: usize = 5;

/// The most properties times the number of them that may be asked for.
const MAX_COUNTED: usize = 20_000;

/// A property with a name: how it is written, and whether it must be there.
type Member = (Expr, bool);

impl<'s> Converter<'s> {
    pub(super) fn object(&mut self, shape: &Shape<'s>) -> Result<Expr> {
        if let Some(value) = shape.excluded.iter().find(|value| value.is_object()) {
            return refuse_excluded(shape, value);
        }
        if shape.members.is_empty() {
            return Ok(Expr::never());
        }
        let is_closed = is_closed(shape);
        let mut names: Vec<&'s str> = Vec::new();
        let named = shape.properties.iter().flat_map(|group| group.named.iter().map(|(name, _)| *name));
        for name in named.chain(shape.required.iter().map(|(name, _)| *name)).chain(shape.forbidden.iter().copied()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut members: Vec<Member> = Vec::new();
        for name in &names {
            let required = shape.required.iter().any(|(required, _)| required == name);
            let value = match self.member_places(shape, name)? {
                Some(places) if !is_closed || is_mentioned(shape, name)? => self.all(places)?,
                _ => Expr::never(),
            };
            if value.is_never() && required {
                return Ok(Expr::never());
            }
            if !value.is_never() {
                members.push((pair(literal(&Value::from(*name)), value), required));
            }
        }
        let extra = self.extra(shape, &names, is_closed)?;
        let required = members.iter().filter(|(_, required)| *required).count() as u32;
        let must = members.len() as u32 + u32::from(!extra.is_never());
        let Counts { min, max } = shape.members;
        if max.is_some_and(|max| max < required) || (min > must && extra.is_never()) {
            return Ok(Expr::never());
        }
        if min > must {
            // A name can come twice, and then counts once.
            return refuse(&shape.path.key("minProperties"), "more than one property without a name is asked for");
        }
        if members.is_empty() && extra == pair(Expr::rule("string"), Expr::rule("any")) && (min, max) == (0, None) {
            return Ok(Expr::rule("object"));
        }
        self.members(members, &extra, shape)
    }

    /// Properties without a name of their own: one expression for all of them.
    fn extra(&mut self, shape: &Shape<'s>, names: &[&str], is_closed: bool) -> Result<Expr> {
        let patterns: Vec<(usize, &Expr, &Place<'s>)> = (shape.properties.iter().enumerate())
            .flat_map(|(i, group)| group.patterns.iter().map(move |(pattern, place)| (i, pattern, place)))
            .collect();
        if patterns.len() > MAX_PATTERNS {
            return refuse(&shape.path.key("patternProperties"), "too many patterns together");
        }
        let mut kinds = Vec::new();
        for matched in 0..1usize << patterns.len() {
            if matched == 0 && is_closed {
                continue;
            }
            let is_matched = |i: usize| matched >> i & 1 == 1;
            let mut places = Vec::new();
            for (group_index, group) in shape.properties.iter().enumerate() {
                let own = patterns.iter().enumerate().filter(|(i, of)| of.0 == group_index && is_matched(*i));
                let own: Vec<Place<'s>> = own.map(|(_, of)| of.2.clone()).collect();
                match (own.is_empty(), &group.additional) {
                    (true, Some(additional)) => places.push(additional.clone()),
                    _ => places.extend(own),
                }
            }
            let value = self.all(places)?;
            if value.is_never() {
                continue;
            }
            let mut texts: Vec<Texts> = patterns
                .iter()
                .enumerate()
                .map(|(i, of)| Texts { content: of.1.clone(), negated: !is_matched(i) })
                .collect();
            if texts.is_empty() && shape.names.is_empty() && !names.is_empty() {
                let name = text::other_names(names);
                kinds.push(pair(self.named("name", name), value));
                continue;
            }
            if !names.is_empty() {
                texts.push(Texts { content: Expr::alt(names.iter().copied().map(Expr::text)), negated: true });
            }
            let name = self.names(shape, &texts, names)?;
            kinds.push(pair(name, value));
        }
        let extra = Expr::alt(kinds);
        if extra == pair(Expr::rule("string"), Expr::rule("any")) {
            return Ok(extra);
        }
        Ok(self.named("extra", extra))
    }

    /// Names that are in all of the languages, and valid against `propertyNames`.
    fn names(&mut self, shape: &Shape<'s>, texts: &[Texts], others: &[&str]) -> Result<Expr> {
        let mut alternatives = Vec::new();
        for of_name in self.shapes(&shape.names)? {
            if !of_name.has("string") {
                continue;
            }
            let Some(values) = &of_name.values else {
                let texts = [&of_name.texts[..], texts].concat();
                let name = Shape { texts, ..of_name };
                alternatives.push(self.string(&name)?);
                continue;
            };
            for name in values.iter().filter_map(|value| value.as_str()).filter(|name| !others.contains(name)) {
                let mut fits = self.text_holds(&of_name, name)?;
                for texts in texts {
                    fits &= describes(&texts.content, name, &shape.path)? != texts.negated;
                }
                if fits {
                    alternatives.push(literal(&Value::from(name)));
                }
            }
        }
        let names = Expr::alt(alternatives);
        Ok(self.named("name", names))
    }

    /// From the last property to the first, what may follow when so many are there already.
    fn members(&mut self, members: Vec<Member>, extra: &Expr, shape: &Shape<'s>) -> Result<Expr> {
        let Counts { min, max } = shape.members;
        // Beyond this number of properties, one more makes no difference.
        let top = min.max(max.map_or(0, |max| max.min(members.len() as u32 + 1))).max(1);
        if members.len().max(1) * top as usize > MAX_COUNTED {
            return refuse(&shape.path.key("maxProperties"), "so many properties cannot be counted");
        }
        let mut after: Vec<Expr> = (0..=top).map(|count| self.closing(extra, count, shape.members)).collect();
        for (member, required) in members.into_iter().rev() {
            let before = (0..=top).map(|count| {
                let member = if count == 0 { member.clone() } else { after_comma(&member) };
                let taken = match max {
                    Some(max) if count >= max => Expr::never(),
                    _ => Expr::seq([member, after[top.min(count + 1) as usize].clone()]),
                };
                let skipped = if required { Expr::never() } else { after[count as usize].clone() };
                Expr::alt([taken, skipped])
            });
            let before: Vec<Expr> = before.collect();
            after = before.into_iter().map(|expr| self.named("rest", expr)).collect();
        }
        match after[0].is_never() {
            true => Ok(Expr::never()),
            false => Ok(in_braces(after[0].clone())),
        }
    }

    /// The end of an object in which so many properties are: further ones without a name, and a blank.
    fn closing(&mut self, extra: &Expr, count: u32, Counts { min, max }: Counts) -> Expr {
        let (need, most) = (min.saturating_sub(count), max.map(|max| max.saturating_sub(count)));
        // A name can come twice, and then counts once: only the first is sure to count.
        let end = match (count, need) {
            (_, 2..) => Expr::never(),
            (0, need) => {
                let more = Expr::seq([comma(), extra.clone()]).rep(0, most.map(|most| most.saturating_sub(1)));
                let some =
                    if most == Some(0) { Expr::never() } else { Expr::seq([extra.clone(), more, Expr::rule("ws")]) };
                if need == 0 { some.optional() } else { some }
            }
            (_, need) => {
                let more = Expr::seq([comma(), extra.clone()]).rep(need, most);
                Expr::seq([more, Expr::rule("ws")])
            }
        };
        self.named("rest", end)
    }

    /// What must hold of the property of a name; `None` if there must be none.
    pub(super) fn member_places(&self, shape: &Shape<'s>, name: &str) -> Result<Option<Vec<Place<'s>>>> {
        if shape.forbidden.contains(&name) {
            return Ok(None);
        }
        let value = Value::from(name);
        let named = self.shapes(&shape.names)?;
        let mut is_valid = shape.names.is_empty();
        for shape in &named {
            is_valid = is_valid || self.holds(shape, &value)?;
        }
        if !is_valid {
            return Ok(None);
        }
        let mut places = Vec::new();
        for group in &shape.properties {
            let before = places.len();
            places.extend(group.named.iter().filter(|(known, _)| *known == name).map(|(_, place)| place.clone()));
            for (pattern, place) in &group.patterns {
                if describes(pattern, name, &place.path)? {
                    places.push(place.clone());
                }
            }
            if places.len() == before {
                places.extend(group.additional.clone());
            }
        }
        Ok(Some(places))
    }
}

/// Whether only properties that are mentioned may be there: as in llama.cpp, where there are `properties` and nothing is
/// said about others.
fn is_closed(shape: &Shape) -> bool {
    let mut groups = shape.properties.iter().filter(|group| !group.open).peekable();
    let says = |group: &Properties| !group.named.is_empty();
    groups.clone().any(says) && groups.all(|group| group.additional.is_none())
}

fn is_mentioned(shape: &Shape, name: &str) -> Result<bool> {
    if shape.required.iter().any(|(required, open)| *required == name && !open) {
        return Ok(true);
    }
    for group in shape.properties.iter().filter(|group| !group.open) {
        if group.named.iter().any(|(known, _)| *known == name) {
            return Ok(true);
        }
        for (pattern, _) in &group.patterns {
            if describes(pattern, name, &shape.path)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn pair(name: Expr, value: Expr) -> Expr {
    Expr::seq([name, Expr::rule("colon"), value])
}
