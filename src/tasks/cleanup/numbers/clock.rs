//! Times of day and dates, as all that was said.

use super::super::lexicon::{is_month, is_weekday};
use super::phrase::year;
use super::reader::{below_hundred, cardinal, ordinal, small};
use super::whole::Said;

/// All of `said` as a time of day, the hour in two digits.
pub(super) fn time(said: &[Said]) -> Option<String> {
    let keys: Vec<&str> = said.iter().map(|word| word.key).collect();
    // A zone is three letters: "e s t".
    let zone = match keys[..] {
        [.., a, b, c] if is_zone(&[a, b, c].concat()) => 3,
        [.., zone] if is_zone(zone) => 1,
        _ => 0,
    };
    let (clock, zone) = said.split_at(said.len() - zone);
    let keys = &keys[..clock.len()];
    let (keys, half) = match keys {
        [rest @ .., half @ ("a" | "p"), "m"] => (rest, Some(*half)),
        [rest @ .., "am" | "a.m"] => (rest, Some("a")),
        [rest @ .., "pm" | "p.m"] => (rest, Some("p")),
        _ => (keys, None),
    };
    let exact = half.is_some() || !zone.is_empty();
    let (hour, minute) = after_or_before(keys, exact).or_else(|| plain(keys, exact))?;
    let mut text = format!("{hour:02}:{minute:02}");
    if let Some(half) = half {
        let shouted = said[keys.len()].text.starts_with(char::is_uppercase);
        let half = format!(" {half}.m.");
        text.push_str(&if shouted { half.to_uppercase() } else { half });
    }
    if !zone.is_empty() {
        text.push(' ');
        zone.iter().for_each(|word| text.push_str(word.text));
    }
    Some(text)
}

fn is_zone(letters: &str) -> bool {
    matches!(
        letters,
        "est"
            | "edt"
            | "cst"
            | "cdt"
            | "mst"
            | "mdt"
            | "pst"
            | "pdt"
            | "gmt"
            | "utc"
            | "cet"
            | "cest"
            | "bst"
            | "ist"
            | "jst"
    )
}

/// "quarter past one", "ten to eleven" where the clock is surely meant, "five minutes past seven".
pub(super) fn after_or_before(keys: &[&str], exact: bool) -> Option<(u128, u128)> {
    let keys = keys.strip_prefix(&["a"]).unwrap_or(keys);
    let (minutes, used, named) = match keys {
        ["quarter", ..] => (15, 1, true),
        ["half", ..] => (30, 1, true),
        _ => {
            let (minutes, used) = below_hundred(keys).filter(|(value, _)| (1..60).contains(value))?;
            let named = matches!(keys.get(used), Some(&("min" | "mins" | "minute" | "minutes")));
            (minutes, used + usize::from(named), named)
        }
    };
    let past = match *keys.get(used)? {
        "past" | "after" => true,
        "to" | "till" | "before" | "of" if minutes != 30 => false,
        _ => return None,
    };
    let hour = whole_hour(&keys[used + 1..])?;
    if !(named || exact || past && minutes % 5 == 0) {
        return None;
    }
    Some(if past { (hour, minutes) } else { (if hour == 1 { 12 } else { hour - 1 }, 60 - minutes) })
}

/// "eight forty", "eight o six", "three o'clock"; the hour alone where what follows says that it is one.
fn plain(keys: &[&str], exact: bool) -> Option<(u128, u128)> {
    if let [hour, "o'clock" | "oclock"] | [hour, "o", "clock"] = keys {
        return Some((whole_hour(&[hour])?, 0));
    }
    let hour = small(keys.first()?).filter(|hour| (1..=24).contains(hour))?;
    let minute = match &keys[1..] {
        [] if exact => 0,
        ["oh" | "o" | "zero", digit] => small(digit).filter(|minute| *minute < 10)?,
        ["hundred"] if exact => 0,
        rest => {
            let (minute, used) = below_hundred(rest)?;
            (used == rest.len() && (10..60).contains(&minute)).then_some(minute)?
        }
    };
    // "eleven fifty five" is a year before it is a time; a day has no hour after twelve.
    (hour < 11 || hour == 12 && minute % 15 == 0 || exact && hour <= 12).then_some((hour, minute))
}

fn whole_hour(keys: &[&str]) -> Option<u128> {
    let keys = keys.strip_suffix(&["o'clock"]).unwrap_or(keys);
    match keys {
        [hour] => small(hour).filter(|hour| (1..=12).contains(hour)),
        _ => None,
    }
}

/// All of `said` as a date, a year or a decade.
pub(super) fn date(said: &[Said]) -> Option<String> {
    let keys: Vec<&str> = said.iter().map(|word| word.key).collect();
    if let [day, ..] = keys[..]
        && is_weekday(day)
        && keys.len() > 1
    {
        return Some(format!("{}, {}", capital(day), date(&said[1..])?));
    }
    if let ["q", quarter, rest @ ..] = &keys[..]
        && let Some((quarter, (year, used))) = small(quarter).zip(year(rest))
        && (1..=4).contains(&quarter)
        && used == rest.len()
    {
        return Some(format!("Q{quarter} {year}"));
    }
    // "forty four b c", "ten sixty six a d".
    let (keys, era) = match &keys[..] {
        [rest @ .., "a", "d"] => (rest, " AD"),
        [rest @ .., "b", "c"] => (rest, " BC"),
        [rest @ .., "b", "c", "e"] => (rest, " BCE"),
        [rest @ .., "c", "e"] => (rest, " CE"),
        keys => (keys, ""),
    };
    if !era.is_empty() {
        let (value, used) = year(keys).or_else(|| cardinal(keys))?;
        return (used == keys.len()).then(|| format!("{value}{era}"));
    }
    day_and_month(keys).or_else(|| month_first(keys)).or_else(|| {
        let (value, used) = year(keys)?;
        (used == keys.len()).then(|| value.to_string())
    })
}

/// "the twenty fifth of july twenty twelve". A day of one digit without a year may be a name: "the fourth of july".
fn day_and_month(keys: &[&str]) -> Option<String> {
    let rest = keys.strip_prefix(&["the"]).unwrap_or(keys);
    let (day, used) = ordinal(rest).filter(|(day, _)| (1..=31).contains(day))?;
    let rest = &rest[used..];
    let rest = rest.strip_prefix(&["of"]).unwrap_or(rest);
    let month = rest.first().filter(|key| is_month(key))?;
    let text = format!("{day} {}", capital(month));
    match &rest[1..] {
        [] => (day >= 10).then_some(text),
        rest => {
            let (year, used) = year(rest).filter(|(_, used)| *used == rest.len())?;
            (used > 0).then(|| format!("{text} {year}"))
        }
    }
}

/// "july twenty fifth twenty twelve", "june thirty", "july two thousand twelve", "july fifteen o six".
fn month_first(keys: &[&str]) -> Option<String> {
    let month = keys.first().filter(|key| is_month(key))?;
    let month = capital(month);
    let rest = &keys[1..];
    if let Some((year, _)) = year(rest).filter(|(_, used)| *used == rest.len()) {
        return Some(format!("{month} {year}"));
    }
    let rest = rest.strip_prefix(&["the"]).unwrap_or(rest);
    let (day, used) = ordinal(rest).or_else(|| below_hundred(rest)).filter(|(day, _)| (1..=31).contains(day))?;
    match &rest[used..] {
        [] => Some(format!("{month} {day}")),
        rest => {
            let (year, used) = year(rest)?;
            (used == rest.len()).then(|| format!("{month} {day}, {year}"))
        }
    }
}

fn capital(word: &str) -> String {
    super::super::case::upper_first(word)
}
