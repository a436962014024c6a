//! Single values: how they are written, and whether they are valid.

use serde_json::Value;

use super::arrays::{after_comma, item_places};
use super::shape::{KINDS, Shape, same_value};
use super::{Converter, Place};
use crate::error::Result;
use crate::grammar::expr::Expr;

impl<'s> Converter<'s> {
    /// Whether a value is valid at all places.
    fn valid(&self, places: &[Place<'s>], value: &Value) -> Result<bool> {
        for shape in self.shapes(places)? {
            if self.holds(&shape, value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a value has a shape, as the specification says: objects are open unless they are closed.
    pub(super) fn holds(&self, shape: &Shape<'s>, value: &Value) -> Result<bool> {
        let is_among = |values: &[&Value]| values.iter().any(|listed| same_value(listed, value));
        if !shape.kinds[kind(value)]
            || is_among(&shape.excluded)
            || shape.values.as_ref().is_some_and(|values| !is_among(values))
        {
            return Ok(false);
        }
        match value {
            Value::Null | Value::Bool(_) => Ok(true),
            Value::Number(number) => self.number_holds(shape, number),
            Value::String(text) => self.text_holds(shape, text),
            Value::Array(items) => self.array_holds(shape, items),
            Value::Object(members) => {
                let has_required = shape.required.iter().all(|(name, _)| members.contains_key(*name));
                if !has_required || !shape.members.contains(members.len()) {
                    return Ok(false);
                }
                for (name, value) in members {
                    match self.member_places(shape, name)? {
                        Some(places) if self.valid(&places, value)? => {}
                        _ => return Ok(false),
                    }
                }
                Ok(true)
            }
        }
    }

    fn array_holds(&self, shape: &Shape<'s>, items: &[Value]) -> Result<bool> {
        let is_repeated = |i: usize| items[..i].iter().any(|before| same_value(before, &items[i]));
        if !shape.size.contains(items.len()) || (shape.unique.is_some() && (0..items.len()).any(is_repeated)) {
            return Ok(false);
        }
        for (i, item) in items.iter().enumerate() {
            if !self.valid(&item_places(shape, i), item)? {
                return Ok(false);
            }
        }
        for (place, _) in &shape.contains {
            let mut found = false;
            for item in items {
                found = found || self.valid(std::slice::from_ref(place), item)?;
            }
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The place of the value's kind in [`KINDS`].
fn kind(value: &Value) -> usize {
    let name = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    KINDS.iter().position(|kind| *kind == name).unwrap_or(0)
}

/// A value as the only text that stands for it: JSON with bounded blanks.
pub(super) fn literal(value: &Value) -> Expr {
    let separated = |items: Vec<Expr>| {
        Expr::seq(items.into_iter().enumerate().map(|(i, item)| if i == 0 { item } else { after_comma(&item) }))
    };
    match value {
        Value::Array(items) => in_brackets(separated(items.iter().map(literal).collect())),
        Value::Object(members) if members.is_empty() => in_braces(Expr::empty()),
        Value::Object(members) => {
            let pair = |(name, value): (&String, &Value)| {
                Expr::seq([literal(&Value::from(name.as_str())), Expr::rule("colon"), literal(value)])
            };
            in_braces(Expr::seq([separated(members.iter().map(pair).collect()), Expr::rule("ws")]))
        }
        scalar => Expr::text(scalar.to_string()),
    }
}

pub(super) fn in_brackets(items: Expr) -> Expr {
    let ws = || Expr::rule("ws");
    let body = if items == Expr::empty() { ws() } else { Expr::seq([ws(), items, ws()]) };
    Expr::seq([Expr::text("["), body, Expr::text("]")])
}

pub(super) fn in_braces(members: Expr) -> Expr {
    Expr::seq([Expr::text("{"), Expr::rule("ws"), members, Expr::text("}")])
}
