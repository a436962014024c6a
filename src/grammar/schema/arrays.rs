//! Arrays: items by place, how many, each at most once, one of a kind.

use serde_json::Value;

use super::number::Decimal;
use super::shape::{Counts, Shape, same_value};
use super::values::{in_brackets, literal};
use super::{Converter, Path, Place, refuse};
use crate::error::Result;
use crate::grammar::expr::Expr;

/// The most sets of values that an array with `uniqueItems` may have so far: each becomes a rule.
const MAX_SETS: usize = 4_096;

/// The most integers that are listed to tell that none comes twice.
const MAX_LISTED: i64 = 64;

/// The most items of an array with `contains` and `maxItems`: the item that is asked for may be any of them.
const MAX_CONTAINS: u32 = 64;

impl<'s> Converter<'s> {
    pub(super) fn array(&mut self, shape: &Shape<'s>) -> Result<Expr> {
        if let Some(value) = shape.excluded.iter().find(|value| value.is_array()) {
            return refuse_excluded(shape, value);
        }
        let size = shape.size;
        if size.is_empty() {
            return Ok(Expr::never());
        }
        let length = shape.items.iter().map(|items| items.prefix.len()).max().unwrap_or(0);
        let rest_places = item_places(shape, length);
        if let Some(path) = &shape.unique
            && size.max.is_none_or(|max| max > 1)
        {
            if length > 0 || !shape.contains.is_empty() {
                return refuse(path, "beside prefixItems or contains it cannot be told that no item comes twice");
            }
            return self.unique(&rest_places, size, path);
        }
        let mut prefix = Vec::new();
        for i in 0..length {
            prefix.push(self.all(item_places(shape, i))?);
        }
        let rest = self.all(rest_places.clone())?;
        match &shape.contains[..] {
            [] => Ok(in_brackets(self.sequence(&prefix, &rest, size))),
            [(place, path)] if prefix.is_empty() => {
                let wanted = self.all([rest_places, vec![place.clone()]].concat())?;
                self.containing(&rest, &wanted, size, path)
            }
            [.., (_, path)] => refuse(path, "beside prefixItems or another contains"),
        }
    }

    /// The items of an array: those of the prefix in their places, then any number of the rest.
    fn sequence(&mut self, prefix: &[Expr], rest: &Expr, Counts { min, max }: Counts) -> Expr {
        let length = prefix.len() as u32;
        if prefix.is_empty() {
            let some = several(rest, min, max);
            return if min == 0 { some.optional() } else { some };
        }
        let left = max.map(|max| max.saturating_sub(length));
        let mut tail = after_comma(rest).rep(min.saturating_sub(length), left);
        for (i, item) in prefix.iter().enumerate().rev() {
            let place = i as u32;
            let here = if i == 0 { item.clone() } else { after_comma(item) };
            tail = match max {
                Some(max) if max <= place => Expr::empty(),
                _ if place < min => Expr::seq([here, tail]),
                _ => Expr::seq([here, tail]).optional(),
            };
            tail = self.named("items", tail);
        }
        tail
    }

    /// Arrays of `rest` with at least one that is `wanted`, too.
    fn containing(&mut self, rest: &Expr, wanted: &Expr, size: Counts, path: &Path) -> Result<Expr> {
        let Counts { min, max } = size;
        if max.is_some_and(|max| max > MAX_CONTAINS) || min > MAX_CONTAINS {
            return refuse(path, "beside so many items");
        }
        let before = |least: u32, most: Option<u32>| Expr::seq([rest.clone(), comma()]).rep(least, most);
        let after = |least: u32, most: Option<u32>| after_comma(rest).rep(least, most);
        // By the number of items before the wanted one; without a bound, the last branch stands for all larger ones.
        let branch = |i: u32| {
            let left = (min.saturating_sub(i + 1), max.map(|max| max - i - 1));
            Expr::seq([before(i, Some(i)), wanted.clone(), after(left.0, left.1)])
        };
        let last = min.saturating_sub(1);
        let branches = match max {
            Some(max) => Expr::alt((0..max).map(branch)),
            None => {
                let many = Expr::seq([before(last, None), wanted.clone(), after(0, None)]);
                Expr::alt((0..last).map(branch).chain([many]))
            }
        };
        Ok(in_brackets(self.named("items", branches)))
    }

    /// Arrays of listed values, each at most once: a rule for each set of values that are there.
    fn unique(&mut self, places: &[Place<'s>], size: Counts, path: &Path) -> Result<Expr> {
        let Some(values) = self.listed(places)? else {
            return refuse(path, "only of items that are listed can it be told that none comes twice");
        };
        let count = values.len() as u32;
        let most = size.max.map_or(count, |max| max.min(count));
        let sets = (0..most).try_fold((1usize, 1usize), |(all, of_size), n| {
            // Binomial coefficients: the number of sets of n + 1 values.
            let next = of_size.checked_mul((count - n) as usize)? / (n as usize + 1);
            Some((all.checked_add(next)?, next)).filter(|(all, _)| *all <= MAX_SETS)
        });
        if sets.is_none() || count >= 64 {
            return refuse(path, "too many listed items to tell that none comes twice");
        }
        let kind = self.new_name("unique");
        let rule = |set: u64| format!("{kind}-{set:x}");
        let mut open = vec![0u64];
        let mut seen = std::collections::HashSet::from([0u64]);
        while let Some(set) = open.pop() {
            let used = set.count_ones();
            let mut choices = vec![if used >= size.min { Expr::empty() } else { Expr::never() }];
            for (i, value) in values.iter().enumerate().filter(|(i, _)| used < most && set >> i & 1 == 0) {
                let more = set | 1 << i;
                if seen.insert(more) {
                    open.push(more);
                }
                let item = if used == 0 { literal(value) } else { after_comma(&literal(value)) };
                choices.push(Expr::seq([item, Expr::rule(rule(more))]));
            }
            self.rules.push((rule(set), Expr::alt(choices)));
        }
        match most < size.min {
            true => Ok(Expr::never()),
            false => Ok(in_brackets(Expr::rule(rule(0)))),
        }
    }

    /// All values that are valid at the places, each once, if they are finitely many and few.
    fn listed(&mut self, places: &[Place<'s>]) -> Result<Option<Vec<Value>>> {
        let mut all: Vec<Value> = Vec::new();
        for shape in self.shapes(places)? {
            let candidates = match &shape.values {
                Some(values) => values.iter().map(|value| (*value).clone()).collect(),
                None => match candidates(&shape) {
                    Some(candidates) => candidates,
                    None => return Ok(None),
                },
            };
            for value in candidates {
                if !all.iter().any(|known| same_value(known, &value)) && self.holds(&shape, &value)? {
                    all.push(value);
                }
            }
        }
        Ok(Some(all))
    }
}

/// Values among which all are that have the shape, if it has few kinds of values.
fn candidates(shape: &Shape) -> Option<Vec<Value>> {
    let mut all = Vec::new();
    if shape.has("object") || shape.has("array") || shape.has("string") {
        return None;
    }
    if shape.has("number") {
        let whole = |at: &Decimal| at.to_i64();
        let (low, high) = (shape.low.as_ref()?, shape.high.as_ref()?);
        let (low, high) = (whole(&low.at)?, whole(&high.at)?);
        if !shape.integers || high.checked_sub(low)? >= MAX_LISTED {
            return None;
        }
        all.extend((low..=high).map(Value::from));
    }
    if shape.has("boolean") {
        all.extend([Value::Bool(true), Value::Bool(false)]);
    }
    if shape.has("null") {
        all.push(Value::Null);
    }
    Some(all)
}

/// What must hold of the item at a place.
pub(super) fn item_places<'s>(shape: &Shape<'s>, index: usize) -> Vec<Place<'s>> {
    shape.items.iter().filter_map(|items| items.prefix.get(index).or(items.rest.as_ref())).cloned().collect()
}

pub(super) fn refuse_excluded<T>(shape: &Shape, value: &Value) -> Result<T> {
    let kind = if value.is_array() { "an array" } else { "an object" };
    refuse(&shape.path, &format!("{kind} that is excluded as a whole"))
}

/// At least one item, and at most so many.
fn several(item: &Expr, min: u32, max: Option<u32>) -> Expr {
    match max {
        Some(0) => Expr::empty(),
        max => {
            let more = after_comma(item).rep(min.saturating_sub(1), max.map(|max| max - 1));
            Expr::seq([item.clone(), more])
        }
    }
}

pub(super) fn comma() -> Expr {
    Expr::seq([Expr::text(","), Expr::rule("ws")])
}

pub(super) fn after_comma(item: &Expr) -> Expr {
    Expr::seq([comma(), item.clone()])
}
