//! French numbers: "deux cent cinquante mille" → 250000, "le vingtième étage" → le 20e étage, "trois virgule cinq" → 3,5.
//!
//! Up to ten a number stays a word, and so does a run of numbers that is no number: "quatre-vingt six six".

use super::super::draft::Draft;
use super::super::draft::{Action, Proposal};
use super::super::edit::EditKind;

/// Numbers below this stay words.
const FIRST_IN_DIGITS: u128 = 11;

const UNITS: [&str; 17] = [
    "zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze", "treize",
    "quatorze", "quinze", "seize",
];
const TENS: [(&str, u128); 9] = [
    ("vingt", 20),
    ("trente", 30),
    ("quarante", 40),
    ("cinquante", 50),
    ("soixante", 60),
    ("septante", 70),
    ("huitante", 80),
    ("octante", 80),
    ("nonante", 90),
];

/// Proposes written forms for the words of `draft`; `window` gives the keys from a live word on that stand in one piece.
pub(super) fn propose<'d>(draft: &'d Draft, window: impl Fn(usize) -> Vec<&'d str>) -> Vec<Proposal> {
    let mut proposals = vec![];
    let mut i = 0;
    while i < draft.len() {
        let window = window(i);
        let Some((text, used)) = form(&window) else {
            i += window.iter().take_while(|key| is_number_word(key)).count().max(1);
            continue;
        };
        let (first, last) = (draft.at(i), draft.at(i + used - 1));
        let action = Action::Write(text);
        proposals.push(Proposal { first, last, action, kind: EditKind::Number, confidence: 0.9 });
        i += used;
    }
    proposals
}

/// Whether all of `key`'s parts are number words; "un" and "une" are articles.
pub(in super::super) fn is_number_word(key: &str) -> bool {
    !matches!(key, "un" | "une") && key.split('-').all(|part| is_part(part) || part == "et")
}

fn is_part(part: &str) -> bool {
    unit(part).is_some() || tens(part).is_some() || scale(part).is_some() || matches!(part, "cent" | "cents")
}

/// The written form at the head of `window`, and how many words it takes.
fn form(window: &[&str]) -> Option<(String, usize)> {
    let parts: Vec<&str> = window.iter().flat_map(|key| key.split('-')).collect();
    // How many words the first so many parts are, if they end where a word ends.
    let words = |parts: usize| {
        let mut ends = window.iter().scan(0, |sum, key| {
            *sum += key.split('-').count();
            Some(*sum)
        });
        ends.position(|end| end == parts).map(|at| at + 1)
    };
    if let Some((value, used)) = ordinal(&parts) {
        return Some((format!("{value}e"), words(used)?)).filter(|_| value >= FIRST_IN_DIGITS);
    }
    let (value, used) = cardinal(&parts)?;
    if let Some(&"virgule") = parts.get(used)
        && let Some((fraction, more)) = cardinal(&parts[used + 1..])
    {
        return Some((format!("{value},{fraction}"), words(used + 1 + more)?));
    }
    let goes_on = parts.get(used).is_some_and(|part| is_part(part) && !matches!(*part, "un" | "une"));
    Some((value.to_string(), words(used)?)).filter(|_| value >= FIRST_IN_DIGITS && !goes_on)
}

/// The longest cardinal at the head of `parts`.
fn cardinal(parts: &[&str]) -> Option<(u128, usize)> {
    let (mut total, mut used, mut least) = (0, 0, u128::MAX);
    loop {
        let below = below_thousand(&parts[used..]);
        let (count, words) = below.unwrap_or((1, 0));
        match parts.get(used + words).and_then(|part| scale(part)) {
            // "mille" needs no number before it, "million" does.
            Some(scale) if scale < least && (words > 0 || scale == 1_000) => {
                total += count * scale;
                used += words + 1;
                least = scale;
            }
            _ => {
                let (count, words) = below.unwrap_or((0, 0));
                return (used + words > 0).then_some((total + count, used + words));
            }
        }
    }
}

fn below_thousand(parts: &[&str]) -> Option<(u128, usize)> {
    let is_hundred = |at: usize| matches!(parts.get(at), Some(&("cent" | "cents")));
    let (hundreds, used) = match unit(parts.first()?).filter(|value| (2..10).contains(value)) {
        Some(value) if is_hundred(1) => (value, 2),
        _ if is_hundred(0) => (1, 1),
        _ => return below_hundred(parts),
    };
    let (rest, words) = below_hundred(&parts[used..]).unwrap_or((0, 0));
    Some((hundreds * 100 + rest, used + words))
}

fn below_hundred(parts: &[&str]) -> Option<(u128, usize)> {
    let first = *parts.first()?;
    let (base, used) = match (first, parts.get(1)) {
        ("quatre", Some(&("vingt" | "vingts"))) => (80, 2),
        _ => match tens(first) {
            Some(value) => (value, 1),
            None => return teen_or_unit(parts),
        },
    };
    let rest = &parts[used..];
    let (rest, joint) = match rest {
        ["et", rest @ ..] => (rest, 1),
        rest => (rest, 0),
    };
    // "soixante et onze" and "quatre-vingt-dix-sept" go on to nineteen.
    let most = if matches!(base, 60 | 80) { 19 } else { 9 };
    match teen_or_unit(rest) {
        Some((1 | 11, words)) if joint == 0 && base != 80 && words > 0 => Some((base, used)),
        Some((value, words)) if (1..=most).contains(&value) && (joint == 0 || matches!(value, 1 | 11)) => {
            Some((base + value, used + joint + words))
        }
        _ => Some((base, used)),
    }
}

fn teen_or_unit(parts: &[&str]) -> Option<(u128, usize)> {
    let first = parts.first()?;
    let value = unit(first)?;
    let next = parts.get(1).and_then(|part| unit(part)).filter(|next| (7..10).contains(next));
    match next {
        Some(next) if value == 10 => Some((10 + next, 2)),
        _ => Some((value, 1)),
    }
}

/// "vingtième", "vingt et unième", "deux centième".
fn ordinal(parts: &[&str]) -> Option<(u128, usize)> {
    let at = parts.iter().take(8).position(|part| part.ends_with("ième"))?;
    let stem = parts[at].strip_suffix("ième")?;
    let stem = match stem {
        "cinqu" => "cinq",
        "neuv" => "neuf",
        "un" | "deux" | "trois" | "six" | "sept" | "huit" | "dix" | "vingt" | "cent" => stem,
        _ => &format!("{stem}e"),
    };
    let spelled: Vec<&str> = parts[..at].iter().copied().chain([stem]).collect();
    cardinal(&spelled).filter(|(_, used)| *used == spelled.len()).map(|(value, _)| (value, at + 1))
}

fn unit(part: &str) -> Option<u128> {
    let part = if part == "une" { "un" } else { part };
    UNITS.iter().position(|unit| *unit == part).map(|at| at as u128)
}

fn tens(part: &str) -> Option<u128> {
    TENS.iter().find(|(name, _)| *name == part).map(|(_, value)| *value)
}

fn scale(part: &str) -> Option<u128> {
    match part {
        "mille" => Some(1_000),
        "million" | "millions" => Some(1_000_000),
        "milliard" | "milliards" => Some(1_000_000_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn writes(said: &str, expected: Option<&str>) {
        let window: Vec<&str> = said.split(' ').collect();
        let written = form(&window).map(|(text, used)| [&[text.as_str()], &window[used..]].concat().join(" "));
        assert_eq!(written.as_deref(), expected, "{said}");
    }

    #[test]
    fn forms() {
        let table = [
            ("vingt-deux chaises", "22 chaises"),
            ("trente et un jours", "31 jours"),
            ("soixante-quinze pages", "75 pages"),
            ("soixante et onze pages", "71 pages"),
            ("quatre-vingts pages", "80 pages"),
            ("quatre-vingt-un pages", "81 pages"),
            ("quatre vingt douze pages", "92 pages"),
            ("cent pages", "100 pages"),
            ("deux cents pages", "200 pages"),
            ("trois cent douze pages", "312 pages"),
            ("mille deux cents", "1200"),
            ("deux mille dix-neuf", "2019"),
            ("cinq millions de pages", "5000000 de pages"),
            ("douze pages", "12 pages"),
            ("nonante-neuf", "99"),
            ("vingt et unième étage", "21e étage"),
            ("trentième page", "30e page"),
            ("trois virgule cinq", "3,5"),
        ];
        for (said, written) in table {
            writes(said, Some(written));
        }
    }

    #[test]
    fn what_stays_words() {
        for said in
            ["deux pages", "une page", "dix pages", "troisième page", "centaines", "vingt six six", "page vingt"]
        {
            writes(said, None);
        }
    }
}
