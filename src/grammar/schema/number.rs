//! Numbers within bounds, as texts.
//!
//! A number is written as JSON writes it, without an exponent: an integer part without leading zeros, and perhaps a
//! point and digits. Two such texts are compared digit by digit, so a bound becomes a branch for each of its digits.

use crate::grammar::charset::CharSet;
use crate::grammar::expr::Expr;

/// The most digits that a number without a bound on that side has before the point, so that a model comes to an end.
const MAX_INTEGER_DIGITS: u32 = 18;

/// The most digits after the point, beside those of a bound.
const MAX_FRACTION_DIGITS: u32 = 16;

/// The most digits of a bound, in front of the point and after it.
const MAX_BOUND_DIGITS: usize = 400;

/// A decimal number, exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    negative: bool,
    /// Without leading zeros: empty for zero.
    integer: Vec<u8>,
    /// Without zeros at the end.
    fraction: Vec<u8>,
}

impl Decimal {
    /// Reads a number as JSON writes it; `None` if it is none, or has too many digits.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent: i64 = exponent.parse().ok()?;
        let mut digits: Vec<u8> =
            integer.bytes().chain(fraction.bytes()).map(|digit| digit.wrapping_sub(b'0')).collect();
        if digits.iter().any(|digit| *digit > 9) || exponent.unsigned_abs() as usize > MAX_BOUND_DIGITS {
            return None;
        }
        let mut point = integer.len() as i64 + exponent;
        while point < 0 {
            digits.insert(0, 0);
            point += 1;
        }
        digits.resize(digits.len().max(point as usize), 0);
        let mut fraction = digits.split_off(point as usize);
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        let integer = digits.split_off(zeros);
        while fraction.last() == Some(&0) {
            fraction.pop();
        }
        if integer.len().max(fraction.len()) > MAX_BOUND_DIGITS {
            return None;
        }
        let negative = negative && !(integer.is_empty() && fraction.is_empty());
        Some(Self { negative, integer, fraction })
    }

    pub fn is_integer(&self) -> bool {
        self.fraction.is_empty()
    }

    pub fn is_positive(&self) -> bool {
        !self.negative && (!self.integer.is_empty() || !self.fraction.is_empty())
    }

    /// The number as `units / 10^places`, with as few places as can be; `None` if that is too large.
    pub fn units(&self) -> Option<(i128, u32)> {
        if self.integer.len() + self.fraction.len() > 30 {
            return None;
        }
        let digits = self.integer.iter().chain(&self.fraction);
        let size = digits.fold(0i128, |units, digit| units * 10 + i128::from(*digit));
        Some((if self.negative { -size } else { size }, self.fraction.len() as u32))
    }

    /// Whether the number is a multiple of the step; `None` if they are too large to tell.
    pub fn is_multiple_of(&self, step: &Self) -> Option<bool> {
        let ((units, places), (step, step_places)) = (self.units()?, step.units()?);
        let common = places.max(step_places);
        let units = units.checked_mul(10i128.checked_pow(common - places)?)?;
        let step = step.checked_mul(10i128.checked_pow(common - step_places)?)?;
        units.checked_rem(step).map(|rest| rest == 0)
    }

    /// The number if it is an integer of moderate size.
    pub fn to_i64(&self) -> Option<i64> {
        if !self.is_integer() || self.integer.len() > 18 {
            return None;
        }
        let size = self.integer.iter().fold(0i64, |value, digit| value * 10 + i64::from(*digit));
        Some(if self.negative { -size } else { size })
    }

    pub fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let size = |of: &Self| (of.integer.len(), of.integer.clone(), of.fraction.clone());
        match (self.negative, other.negative) {
            (false, false) => size(self).cmp(&size(other)),
            (true, true) => size(other).cmp(&size(self)),
            (true, false) => std::cmp::Ordering::Less,
            (false, true) => std::cmp::Ordering::Greater,
        }
    }
}

/// An end of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub at: Decimal,
    pub exclusive: bool,
}

/// All numbers between two bounds; only integers if `integers`.
pub(super) fn between(low: Option<&Bound>, high: Option<&Bound>, integers: bool) -> Expr {
    if low.is_none() && high.is_none() {
        let sign = Expr::text("-").optional();
        return Expr::seq([sign, any_integer(), if integers { Expr::empty() } else { any_fraction() }]);
    }
    let zero = Decimal { negative: false, integer: Vec::new(), fraction: Vec::new() };
    let mirrored = |bound: &Bound| Bound { at: Decimal { negative: !bound.at.negative, ..bound.at.clone() }, ..*bound };
    let below_zero = |bound: &Bound| bound.at.negative;
    // Numbers of zero or more: from `low`, or from zero.
    let positive = if high.is_some_and(below_zero) {
        Expr::never()
    } else {
        let from_zero = Bound { at: zero.clone(), exclusive: false };
        let low = low.filter(|low| !below_zero(low)).unwrap_or(&from_zero);
        sizes(low, high, integers)
    };
    // Numbers below zero: the sizes from `-high`, or from just above zero, to `-low`.
    let negative = if low.is_some_and(|low| !below_zero(low)) {
        Expr::never()
    } else {
        let above_zero = Bound { at: zero, exclusive: true };
        let least = high.filter(|high| below_zero(high)).map_or(above_zero, mirrored);
        Expr::seq([Expr::text("-"), sizes(&least, low.map(mirrored).as_ref(), integers)])
    };
    Expr::alt([positive, negative])
}

/// Numbers of zero or more, from `low` to `high`.
fn sizes(low: &Bound, high: Option<&Bound>, integers: bool) -> Expr {
    let Some(high) = high else {
        let digits = (low.at.integer.len() as u32 + 1).max(MAX_INTEGER_DIGITS);
        let above = integers_above(&low.at.integer, digits);
        return Expr::alt([
            Expr::seq([above, if integers { Expr::empty() } else { any_fraction() }]),
            Expr::seq([integer(&low.at.integer), fraction_from(low, integers)]),
        ]);
    };
    match (low.at.integer.len(), &low.at.integer).cmp(&(high.at.integer.len(), &high.at.integer)) {
        std::cmp::Ordering::Greater => Expr::never(),
        std::cmp::Ordering::Equal => Expr::seq([integer(&low.at.integer), fraction_between(low, high, integers)]),
        std::cmp::Ordering::Less => Expr::alt([
            Expr::seq([integer(&low.at.integer), fraction_from(low, integers)]),
            Expr::seq([
                integers_between(&low.at.integer, &high.at.integer),
                if integers { Expr::empty() } else { any_fraction() },
            ]),
            Expr::seq([integer(&high.at.integer), fraction_to(high, integers)]),
        ]),
    }
}

fn digits(range: std::ops::RangeInclusive<u8>) -> Expr {
    Expr::Set(CharSet::new([(u32::from(b'0' + range.start()), u32::from(b'0') + u32::from(*range.end()))]))
}

fn digit_text(digits: &[u8]) -> String {
    digits.iter().map(|digit| char::from(b'0' + digit)).collect()
}

fn any_digits(min: u32, max: u32) -> Expr {
    digits(0..=9).rep(min, Some(max))
}

fn any_integer() -> Expr {
    Expr::alt([Expr::text("0"), Expr::seq([digits(1..=9), any_digits(0, MAX_INTEGER_DIGITS - 1)])])
}

/// Numbers that are no integers.
pub(super) fn fractional() -> Expr {
    let fraction = [Expr::text("."), any_digits(0, MAX_FRACTION_DIGITS - 1), digits(1..=9)];
    Expr::seq([Expr::text("-").optional(), any_integer(), Expr::seq(fraction)])
}

fn any_fraction() -> Expr {
    Expr::seq([Expr::text("."), any_digits(1, MAX_FRACTION_DIGITS)]).optional()
}

fn integer(digits: &[u8]) -> Expr {
    Expr::text(if digits.is_empty() { "0".to_owned() } else { digit_text(digits) })
}

/// Integers above this one of at most `most` digits.
fn integers_above(low: &[u8], most: u32) -> Expr {
    let length = low.len() as u32;
    let longer = match length + 1 {
        next if next > most => Expr::never(),
        next => Expr::seq([digits(1..=9), any_digits(next - 1, most - 1)]),
    };
    Expr::alt([above_of_same_length(low), longer])
}

/// Integers of the same number of digits that are greater.
fn above_of_same_length(low: &[u8]) -> Expr {
    let branch = |place: usize| match low[place] {
        9 => Expr::never(),
        digit => Expr::seq([
            Expr::text(digit_text(&low[..place])),
            digits(digit + 1..=9),
            any_digits((low.len() - place - 1) as u32, (low.len() - place - 1) as u32),
        ]),
    };
    Expr::alt((0..low.len()).map(branch))
}

/// Integers of the same number of digits that are smaller; the first digit is not zero.
fn below_of_same_length(high: &[u8]) -> Expr {
    let branch = |place: usize| {
        let least = u8::from(place == 0);
        match high[place] {
            digit if digit <= least => Expr::never(),
            digit => Expr::seq([
                Expr::text(digit_text(&high[..place])),
                digits(least..=digit - 1),
                any_digits((high.len() - place - 1) as u32, (high.len() - place - 1) as u32),
            ]),
        }
    };
    Expr::alt((0..high.len()).map(branch))
}

/// Integers above one and below the other.
fn integers_between(low: &[u8], high: &[u8]) -> Expr {
    if low.len() < high.len() {
        let lengths = (low.len() + 1..high.len()).map(|length| {
            let rest = (length - 1) as u32;
            Expr::seq([digits(1..=9), any_digits(rest, rest)])
        });
        return Expr::alt([above_of_same_length(low), Expr::alt(lengths), below_of_same_length(high)]);
    }
    let shared = low.iter().zip(high).take_while(|(a, b)| a == b).count();
    if shared == low.len() {
        return Expr::never();
    }
    let (prefix, below_low, above_high) = (digit_text(&low[..shared]), &low[shared..], &high[shared..]);
    let rest = (below_low.len() - 1) as u32;
    let inner = match (below_low[0] + 1, above_high[0] - 1) {
        (from, to) if from <= to => Expr::seq([digits(from..=to), any_digits(rest, rest)]),
        _ => Expr::never(),
    };
    // The first digit is the same as in `low`, and the others are above it; or as in `high`, and they are below it.
    let from_low = Expr::seq([Expr::text(digit_text(&below_low[..1])), above_of_same_length(&below_low[1..])]);
    let to_high = Expr::seq([Expr::text(digit_text(&above_high[..1])), below_fixed(&above_high[1..])]);
    Expr::seq([Expr::text(prefix), Expr::alt([from_low, inner, to_high])])
}

/// Strings of as many digits that are smaller, leading zeros included.
fn below_fixed(high: &[u8]) -> Expr {
    let branch = |place: usize| match high[place] {
        0 => Expr::never(),
        digit => Expr::seq([
            Expr::text(digit_text(&high[..place])),
            digits(0..=digit - 1),
            any_digits((high.len() - place - 1) as u32, (high.len() - place - 1) as u32),
        ]),
    };
    Expr::alt((0..high.len()).map(branch))
}

/// What may follow the integer part of a lower bound.
fn fraction_from(low: &Bound, integers: bool) -> Expr {
    let none = if low.at.fraction.is_empty() && !low.exclusive { Expr::empty() } else { Expr::never() };
    if integers {
        return none;
    }
    Expr::alt([none, Expr::seq([Expr::text("."), digits_from(&low.at.fraction, low.exclusive, true)])])
}

/// Digits of a fraction that is at least `low`; at least one digit if `first`.
fn digits_from(low: &[u8], exclusive: bool, first: bool) -> Expr {
    let Some((digit, rest)) = low.split_first() else {
        return if exclusive {
            let zeros = Expr::text("0").rep(0, Some(MAX_FRACTION_DIGITS));
            Expr::seq([zeros, digits(1..=9), any_digits(0, MAX_FRACTION_DIGITS)])
        } else {
            any_digits(u32::from(first), MAX_FRACTION_DIGITS)
        };
    };
    let above = match digit {
        9 => Expr::never(),
        digit => Expr::seq([digits(digit + 1..=9), any_digits(0, MAX_FRACTION_DIGITS)]),
    };
    Expr::alt([above, Expr::seq([Expr::text(digit_text(&[*digit])), digits_from(rest, exclusive, false)])])
}

/// What may follow the integer part of an upper bound.
fn fraction_to(high: &Bound, integers: bool) -> Expr {
    let none = if high.at.fraction.is_empty() && high.exclusive { Expr::never() } else { Expr::empty() };
    if integers {
        return none;
    }
    Expr::alt([none, Expr::seq([Expr::text("."), digits_to(&high.at.fraction, high.exclusive, true)])])
}

/// Digits of a fraction that is at most `high`; at least one digit if `first`.
fn digits_to(high: &[u8], exclusive: bool, first: bool) -> Expr {
    let Some((digit, rest)) = high.split_first() else {
        return match exclusive {
            true => Expr::never(),
            false => Expr::text("0").rep(u32::from(first), Some(MAX_FRACTION_DIGITS)),
        };
    };
    // What is left of the bound is more than nothing: it has no zeros at its end.
    let none = if first { Expr::never() } else { Expr::empty() };
    let below = match digit {
        0 => Expr::never(),
        digit => Expr::seq([digits(0..=digit - 1), any_digits(0, MAX_FRACTION_DIGITS)]),
    };
    Expr::alt([none, below, Expr::seq([Expr::text(digit_text(&[*digit])), digits_to(rest, exclusive, false)])])
}

/// What may follow an integer part that both bounds have.
fn fraction_between(low: &Bound, high: &Bound, integers: bool) -> Expr {
    let inclusive_low = low.at.fraction.is_empty() && !low.exclusive;
    let none = match (inclusive_low, high.at.fraction.is_empty() && high.exclusive) {
        (true, false) => Expr::empty(),
        _ => Expr::never(),
    };
    if integers {
        return none;
    }
    let (low, high) = ((&low.at.fraction[..], low.exclusive), (&high.at.fraction[..], high.exclusive));
    Expr::alt([none, Expr::seq([Expr::text("."), digits_between(low, high, true)])])
}

fn digits_between(low: (&[u8], bool), high: (&[u8], bool), first: bool) -> Expr {
    let (low_digit, low_rest) = low.0.split_first().map_or((0, &[][..]), |(digit, rest)| (*digit, rest));
    let Some((high_digit, high_rest)) = high.0.split_first() else {
        // Only zeros are left: they are the bound itself, which must then be the lower one, too.
        return match low.0.is_empty() && !low.1 && !high.1 {
            true => Expr::text("0").rep(u32::from(first), Some(MAX_FRACTION_DIGITS)),
            false => Expr::never(),
        };
    };
    // The text may stop here if what is left of the lower bound is nothing, and it is in the range.
    let stop = if !first && low.0.is_empty() && !low.1 { Expr::empty() } else { Expr::never() };
    if low_digit > *high_digit {
        return stop;
    }
    if low_digit == *high_digit {
        let rest = digits_between((low_rest, low.1), (high_rest, high.1), false);
        return Expr::alt([stop, Expr::seq([Expr::text(digit_text(&[low_digit])), rest])]);
    }
    let inner = match (low_digit + 1, high_digit - 1) {
        (from, to) if from <= to => Expr::seq([digits(from..=to), any_digits(0, MAX_FRACTION_DIGITS)]),
        _ => Expr::never(),
    };
    Expr::alt([
        stop,
        Expr::seq([Expr::text(digit_text(&[low_digit])), digits_from(low_rest, low.1, false)]),
        inner,
        Expr::seq([Expr::text(digit_text(&[*high_digit])), digits_to(high_rest, high.1, false)]),
    ])
}
