//! Number words → numbers.

use super::super::lexicon::is_ordinal;

/// A number, and how many words it took.
pub(super) type Reading = (u128, usize);

/// The longest cardinal at the head of `window`.
pub(super) fn cardinal(window: &[&str]) -> Option<Reading> {
    let (mut total, mut group, mut least_scale) = (0_u128, None::<u128>, u128::MAX);
    let mut used = 0;
    while let Some(key) = window.get(used) {
        if let Some((value, words)) = below_hundred(&window[used..]) {
            match group {
                None => group = Some(value),
                Some(hundreds) if hundreds >= 100 && hundreds % 100 == 0 => group = Some(hundreds + value),
                Some(_) => break,
            }
            used += words;
        } else if *key == "hundred" {
            match group {
                Some(count) if (1..100).contains(&count) => group = Some(count * 100),
                _ => break,
            }
            used += 1;
        } else if let Some(scale) = scale_of(key) {
            match group {
                Some(count) if count > 0 && scale < least_scale => total += count * scale,
                _ => break,
            }
            (group, least_scale) = (None, scale);
            used += 1;
        } else if *key == "and" {
            // "two hundred and forty", "eight thousand and eighty".
            let after_unit = used > 0 && (window[used - 1] == "hundred" || scale_of(window[used - 1]).is_some());
            if !after_unit || below_hundred(&window[used + 1..]).is_none() {
                break;
            }
            used += 1;
        } else {
            break;
        }
    }
    (used > 0).then(|| (total + group.unwrap_or(0), used))
}

/// "forty two", "forty-two", "twelve", "zero".
pub(super) fn below_hundred(window: &[&str]) -> Option<Reading> {
    let key = window.first()?;
    if let Some((tens, units)) = key.split_once('-') {
        let (tens, units) = (small(tens)?, small(units)?);
        return (tens >= 20 && (1..10).contains(&units)).then_some((tens + units, 1));
    }
    let value = small(key)?;
    let units = window.get(1).and_then(|key| small(key)).filter(|units| (1..10).contains(units));
    match units {
        Some(units) if value >= 20 => Some((value + units, 2)),
        _ => Some((value, 1)),
    }
}

/// The ordinal at the head of `window`.
pub(super) fn ordinal(window: &[&str]) -> Option<Reading> {
    let one = |key: &str| -> Option<u128> {
        if let Some((tens, units)) = key.split_once('-') {
            return Some(small(tens).filter(|tens| *tens >= 20)? + small_ordinal(units).filter(|units| *units < 10)?);
        }
        small_ordinal(key)
    };
    let first = window.first()?;
    if is_ordinal(first) || *first == "zeroth" {
        return one(first).map(|value| (value, 1));
    }
    let (value, used) = cardinal(window)?;
    // "one hundred and third".
    let used = used + usize::from(value % 100 == 0 && window.get(used) == Some(&"and"));
    let key = window.get(used)?;
    // "one hundredth", "twenty five thousandth".
    if let Some(scale) =
        key.strip_suffix("th").and_then(|scale| if scale == "hundred" { Some(100) } else { scale_of(scale) })
    {
        return (value > 0 && value < scale).then_some((value * scale, used + 1));
    }
    let last = one(key)?;
    let fits = (value % 100 == 0 && value > 0 && last < 100) || (value % 10 == 0 && value % 100 >= 20 && last < 10);
    fits.then_some((value + last, used + 1))
}

pub(super) fn ordinal_ending(value: u128) -> &'static str {
    match (value % 100, value % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    }
}

/// Digits said one by one, at least one, and how many words they took; none if the first is "oh".
pub(super) fn digits(window: &[&str]) -> Option<(String, usize)> {
    let text: String = window.iter().map_while(|key| digit_of(key)).collect();
    let used = text.len();
    (used > 0 && !matches!(window[0], "oh" | "o")).then_some((text, used))
}

/// Digits said one by one, also doubled and tripled, whatever the first: "oh two double four".
pub(super) fn spelled_digits(window: &[&str]) -> (String, usize) {
    let (mut text, mut used) = (String::new(), 0);
    while let Some(key) = window.get(used) {
        let times = match *key {
            "double" => 2,
            "triple" => 3,
            _ => 1,
        };
        let words = if times > 1 { 2 } else { 1 };
        let Some(digit) = window.get(used + words - 1).and_then(|key| digit_of(key)) else { break };
        text.extend(std::iter::repeat_n(digit, times));
        used += words;
    }
    (text, used)
}

pub(super) fn digit_of(key: &str) -> Option<char> {
    match key {
        "oh" | "o" => Some('0'),
        _ => small(key).and_then(|value| char::from_digit(u32::try_from(value).ok()?, 10)),
    }
}

/// "zero" to "ninety", one word.
pub(super) fn small(key: &str) -> Option<u128> {
    const UNITS: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let unit = UNITS.iter().position(|unit| *unit == key).map(|at| at as u128);
    unit.or_else(|| TENS.iter().position(|tens| *tens == key).map(|at| (at as u128 + 2) * 10))
}

pub(super) fn small_ordinal(key: &str) -> Option<u128> {
    const UNITS: [&str; 20] = [
        "zeroth",
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
        "twelfth",
        "thirteenth",
        "fourteenth",
        "fifteenth",
        "sixteenth",
        "seventeenth",
        "eighteenth",
        "nineteenth",
    ];
    const TENS: [&str; 8] =
        ["twentieth", "thirtieth", "fortieth", "fiftieth", "sixtieth", "seventieth", "eightieth", "ninetieth"];
    let unit = UNITS.iter().position(|unit| *unit == key).map(|at| at as u128);
    unit.or_else(|| TENS.iter().position(|tens| *tens == key).map(|at| (at as u128 + 2) * 10))
}

pub(super) fn scale_of(key: &str) -> Option<u128> {
    let exponent = match key {
        "thousand" => 3,
        "lakh" => 5,
        "million" => 6,
        "crore" => 7,
        "billion" => 9,
        "trillion" => 12,
        "quadrillion" => 15,
        "quintillion" => 18,
        "sextillion" => 21,
        _ => return None,
    };
    Some(10_u128.pow(exponent))
}

/// Scales that stay a word after digits: "30 million".
pub(super) fn is_magnitude(key: &str) -> bool {
    !matches!(key, "thousand" | "lakh" | "crore") && scale_of(key).is_some()
}
