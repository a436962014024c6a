//! Numbers: what bounds, steps and excluded values say together.

use super::automaton::restricted;
use super::number::{Bound, Decimal, between, fractional};
use super::shape::Shape;
use super::steps::multiples;
use super::{Converter, refuse};
use crate::error::Result;
use crate::grammar::expr::Expr;

impl<'s> Converter<'s> {
    pub(super) fn number(&mut self, shape: &Shape<'s>) -> Result<Expr> {
        let excluded = excluded(shape);
        let is_bounded = shape.low.is_some() || shape.high.is_some() || !excluded.is_empty();
        if let Some(path) = &shape.fractions {
            return match () {
                () if shape.integers => Ok(Expr::never()),
                () if is_bounded || !shape.steps.is_empty() => {
                    refuse(path, "numbers that are no integers, beside bounds or steps")
                }
                () => Ok(fractional()),
            };
        }
        let within =
            Expr::alt(ranges(shape, excluded).map(|(low, high)| between(low.as_ref(), high.as_ref(), shape.integers)));
        if let Some((_, path)) = shape.steps.first() {
            let Some((units, places)) = common_step(shape) else {
                return refuse(path, "steps that are too large or too small");
            };
            // An integer that is a multiple of 0.5 is any integer, and so on: bounds tell integers.
            let Some(steps) = multiples(units, places) else { return refuse(path, "a step of too many digits") };
            let automaton =
                if is_bounded || (shape.integers && places > 0) { restricted(&steps, &within) } else { Some(steps) };
            return match automaton {
                Some(automaton) => Ok(self.automaton("multiple", &automaton, false)),
                None => refuse(path, "a step and bounds that are too much together"),
            };
        }
        match is_bounded {
            true => Ok(self.named("number", within)),
            false => Ok(Expr::rule(if shape.integers { "integer" } else { "number" })),
        }
    }

    /// Whether a number has what a shape says about numbers.
    pub(super) fn number_holds(&self, shape: &Shape<'s>, number: &serde_json::Number) -> Result<bool> {
        let Some(number) = Decimal::parse(&number.to_string()) else {
            return refuse(&shape.path, "a listed number of too many digits");
        };
        for (step, path) in &shape.steps {
            match number.is_multiple_of(step) {
                Some(true) => {}
                Some(false) => return Ok(false),
                None => return refuse(path, "a listed number of too many digits"),
            }
        }
        let above = |low: &Bound| match number.cmp(&low.at) {
            std::cmp::Ordering::Equal => !low.exclusive,
            order => order == std::cmp::Ordering::Greater,
        };
        let below = |high: &Bound| match number.cmp(&high.at) {
            std::cmp::Ordering::Equal => !high.exclusive,
            order => order == std::cmp::Ordering::Less,
        };
        Ok(shape.low.as_ref().is_none_or(above)
            && shape.high.as_ref().is_none_or(below)
            && (!shape.integers || number.is_integer())
            && (shape.fractions.is_none() || !number.is_integer())
            && !excluded(shape).contains(&number))
    }
}

fn excluded(shape: &Shape) -> Vec<Decimal> {
    let numbers = shape.excluded.iter().filter(|value| value.is_number());
    let mut excluded: Vec<Decimal> = numbers.filter_map(|value| Decimal::parse(&value.to_string())).collect();
    excluded.sort_by(Decimal::cmp);
    excluded.dedup();
    excluded
}

/// The ranges that excluded values leave between the bounds.
fn ranges(shape: &Shape, excluded: Vec<Decimal>) -> impl Iterator<Item = (Option<Bound>, Option<Bound>)> {
    let is_below = |at: &Decimal, bound: &Bound| at.cmp(&bound.at) == std::cmp::Ordering::Less;
    let inside = |at: &Decimal| {
        shape.low.as_ref().is_none_or(|low| !is_below(at, low))
            && shape.high.as_ref().is_none_or(|high| high.at.cmp(at) != std::cmp::Ordering::Less)
    };
    let cuts: Vec<Bound> = excluded.into_iter().filter(inside).map(|at| Bound { at, exclusive: true }).collect();
    let lows: Vec<Option<Bound>> = std::iter::once(shape.low.clone()).chain(cuts.iter().cloned().map(Some)).collect();
    let highs = cuts.into_iter().map(Some).chain([shape.high.clone()]);
    lows.into_iter().zip(highs.collect::<Vec<_>>())
}

/// The least common multiple of the steps, as `units / 10^places`.
fn common_step(shape: &Shape) -> Option<(u64, u32)> {
    let steps: Vec<(i128, u32)> = shape.steps.iter().map(|(step, _)| step.units()).collect::<Option<_>>()?;
    let places = steps.iter().map(|(_, places)| *places).max()?;
    let mut common: i128 = 1;
    for (units, own) in steps {
        let units = units.checked_mul(10i128.checked_pow(places - own)?)?;
        let (mut a, mut b) = (common, units);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        common = (common / a).checked_mul(units)?;
    }
    // 10 units of a place are one of the place before it.
    let mut places = places;
    while places > 0 && common % 10 == 0 {
        (common, places) = (common / 10, places - 1);
    }
    Some((u64::try_from(common).ok()?, places))
}
