//! Written forms inside a sentence: strict, since most number words there are words.

use super::super::lexicon::{is_determiner, is_function_word, is_month, is_number_word, words};
use super::Form;
use super::clock::after_or_before;
use super::code::{is_counting, national, network_address_at, pair};
use super::reader::{
    below_hundred, cardinal, digits, is_magnitude, ordinal, ordinal_ending, scale_of, small, spelled_digits,
};

/// Numbers below this stay words in running text.
pub(super) const FIRST_IN_DIGITS: u128 = 11;

/// The form of what begins at the head of `window`, whose words come after `before`. Where a price is named (`priced`), two
/// numbers side by side are no year.
pub(super) fn form(window: &[&str], before: &str, priced: bool) -> Option<Form> {
    address(window, before)
        .or_else(|| located(window))
        .or_else(|| path(window, before))
        .or_else(|| date(window))
        .or_else(|| hash(window, before))
        .or_else(|| coded(window, before))
        .or_else(|| compound(window, before))
        .or_else(|| quantity(window, before, priced))
}

// Addresses

/// The last parts of host names that are said as one word.
const TOP_LEVEL: [&str; 17] =
    ["com", "org", "net", "edu", "gov", "io", "dev", "app", "uk", "de", "fr", "eu", "info", "ca", "ai", "me", "xyz"];

/// "jo dot park at example dot org", "example dot com slash news".
fn address(window: &[&str], before: &str) -> Option<Form> {
    let (local_end, local) = dotted(window);
    if local_end == 0 || is_function_word(window[0]) {
        return None;
    }
    let (used, mut text) = if window.get(local_end) == Some(&"at") {
        let (host_end, host) = dotted(&window[local_end + 1..]);
        let introduced =
            local.contains('.') || matches!(before, "at" | "to" | "is" | "email" | "address" | "mail" | "cc");
        if !is_host(&host) || !introduced {
            return None;
        }
        (local_end + 1 + host_end, format!("{local}@{host}"))
    } else {
        (local_end, Some(local).filter(|host| is_host(host))?)
    };
    let mut used = used;
    while !text.contains('@')
        && window.get(used) == Some(&"slash")
        && window.get(used + 1).is_some_and(|part| is_label(part))
    {
        text.push('/');
        text.push_str(window[used + 1]);
        used += 2;
    }
    Some(Form { used, text })
}

/// The longest `word (dot word)*` at the head of `window`: its length in words, and its text.
fn dotted(window: &[&str]) -> (usize, String) {
    // A recogniser may leave the dots of such a name out.
    if let ["www", name, top, ..] = window
        && is_label(name)
        && TOP_LEVEL.contains(top)
    {
        return (3, format!("www.{name}.{top}"));
    }
    let (mut text, mut used) = match window {
        ["w", "w", "w", "dot", ..] => ("www".to_owned(), 3),
        [first, ..] if is_label(first) => ((*first).to_owned(), 1),
        _ => return (0, String::new()),
    };
    while let [separator, part, ..] = &window[used..] {
        let mark = match *separator {
            "dot" => '.',
            "underscore" => '_',
            _ => break,
        };
        if !is_label(part) {
            break;
        }
        text.push(mark);
        text.push_str(part);
        used += 2;
    }
    (used, text)
}

fn is_label(part: &str) -> bool {
    !part.is_empty() && part != "dot" && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// "https colon slash slash localhost colon three thousand slash docs": after a scheme anything may be a name.
fn located(window: &[&str]) -> Option<Form> {
    let (scheme, mut used) = match window {
        [scheme @ ("http" | "https"), ..] => (*scheme, 1),
        ["h", "t", "t", "p", "s", ..] => ("https", 5),
        ["h", "t", "t", "p", ..] => ("http", 4),
        _ => return None,
    };
    let ["colon", "slash", "slash", rest @ ..] = &window[used..] else { return None };
    let (words, host) = dotted(rest);
    if words == 0 {
        return None;
    }
    used += 3 + words;
    let mut text = format!("{scheme}://{host}");
    if window.get(used) == Some(&"colon")
        && let Some((port, words)) = spoken_number(&window[used + 1..])
    {
        text.push_str(&format!(":{port}"));
        used += 1 + words;
    }
    while window.get(used) == Some(&"slash")
        && let (words, part) = dotted(&window[used + 1..])
        && words > 0
    {
        text.push_str(&format!("/{part}"));
        used += 1 + words;
    }
    Some(Form { used, text })
}

/// "slash etc slash hosts" where a path is to be expected.
fn path(window: &[&str], before: &str) -> Option<Form> {
    let expected = words!(
        "in to from at under into cd ls cat open run edit remove delete create mount path file folder directory named called is"
    );
    if !(before.is_empty() || expected.contains(before)) {
        return None;
    }
    let (mut text, mut used) = (String::new(), 0);
    while window.get(used) == Some(&"slash")
        && let (words, part) = dotted(&window[used + 1..])
        && words > 0
        && part != "slash"
    {
        text.push('/');
        text.push_str(&part);
        used += 1 + words;
    }
    (text.matches('/').count() > 1).then_some(Form { used, text })
}

fn is_host(text: &str) -> bool {
    text.rsplit_once('.').is_some_and(|(name, top)| !name.is_empty() && !name.contains('_') && TOP_LEVEL.contains(&top))
}

// Dates

/// "january fifth", "july twenty sixth twenty fourteen".
fn date(window: &[&str]) -> Option<Form> {
    let month = window.first().filter(|key| is_month(key))?;
    let (day, mut used) = ordinal(&window[1..]).filter(|(day, _)| (1..=31).contains(day))?;
    used += 1;
    let mut text = format!("{}{} {day}", month[..1].to_uppercase(), &month[1..]);
    if let Some((year, words)) = year(&window[used..]) {
        text.push_str(&format!(", {year}"));
        used += words;
    }
    Some(Form { used, text })
}

/// "hash four".
fn hash(window: &[&str], before: &str) -> Option<Form> {
    if window.first() != Some(&"hash") || is_determiner(before) {
        return None;
    }
    let (value, used) = cardinal(&window[1..])?;
    ends_number(window, used + 1).then(|| Form { used: used + 1, text: format!("#{value}") })
}

/// What is named by a number that is read in pieces: "room three oh four", "port eighty eighty", "flight b a two eight
/// six".
fn coded(window: &[&str], before: &str) -> Option<Form> {
    let named = words!(
        "room flight highway route gate bus extension suite apartment port code pin channel terminal platform zip \
        locker unit model serial building bay"
    );
    if let Some((text, used)) = network_address_at(window) {
        return Some(Form { used, text });
    }
    if window.starts_with(&["c", "plus", "plus"]) {
        return Some(Form { used: 3, text: "C++".to_owned() });
    }
    if let Some(form) = part_number(window) {
        return Some(form);
    }
    if !named.contains(before) {
        return None;
    }
    let letters = window.iter().take_while(|key| key.len() == 1 && key.as_bytes()[0].is_ascii_alphabetic()).count();
    // "gate a" and "unit i": a letter alone is written as it was said.
    let (number, words) = spoken_number(&window[letters..]).filter(|(_, words)| letters > 0 || *words > 1)?;
    let used = letters + words;
    let fits = letters <= 3 && number.len() <= 6 && ends_number(window, used) && !is_counting(&number);
    fits.then(|| Form { used, text: format!("{}{number}", window[..letters].concat().to_uppercase()) })
}

/// "four four seven dash b": digits one by one, a hyphen, and one letter or more digits one by one.
fn part_number(window: &[&str]) -> Option<Form> {
    let (number, digits) = spelled_digits(window);
    let rest = window.get(digits..).filter(|_| digits > 1)?;
    let ["dash" | "hyphen", next, after @ ..] = rest else { return None };
    let letter = next.len() == 1 && next.bytes().all(|b| b.is_ascii_alphabetic());
    if letter && after.first().is_none_or(|key| key.len() > 1) {
        return Some(Form { used: digits + 2, text: format!("{number}-{}", next.to_uppercase()) });
    }
    let (second, words) = spelled_digits(&rest[1..]);
    (words > 1 && ends_number(rest, 1 + words))
        .then(|| Form { used: digits + 1 + words, text: format!("{number}-{second}") })
}

/// A number as people read codes: digit by digit, in pairs, or whole.
fn spoken_number(window: &[&str]) -> Option<(String, usize)> {
    let (text, used) = spelled_digits(window);
    if used > 1 {
        return Some((text, used));
    }
    pair(window)
        .or_else(|| elided_hundred(window))
        .or_else(|| cardinal(window).map(|(value, used)| (value.to_string(), used)))
}

/// "a one time thing": a little compound before its noun. "twenty something".
fn compound(window: &[&str], before: &str) -> Option<Form> {
    let [first, second, ..] = window else { return None };
    let tens = small(first).is_some_and(|value| value >= 20);
    if tens && matches!(*second, "something" | "somethings") {
        return Some(Form { used: 2, text: format!("{first}-{second}") });
    }
    let joins = words!("time way off part sided step piece person man").contains(second);
    let noun = window.get(2).is_some_and(|key| !is_function_word(key) && !is_number_word(key));
    (before == "a" && matches!(*first, "one" | "two" | "three") && joins && noun)
        .then(|| Form { used: 2, text: format!("{first}-{second}") })
}

// Quantities

/// Whatever begins with a number word.
fn quantity(window: &[&str], before: &str, priced: bool) -> Option<Form> {
    let first = window.first()?;
    if matches!(*first, "quarter" | "half" | "oh" | "o" | "double" | "triple") {
        return time_to_or_past(window)
            .or_else(|| digit_string(window).filter(|_| !matches!(*first, "quarter" | "half")));
    }
    if !is_number_word(first) || first.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if is_name(window) || is_time_of_day(window, before) {
        return None;
    }
    time(window)
        .or_else(|| time_to_or_past(window))
        .or_else(|| after_noon(window, before))
        .or_else(|| age(window))
        .or_else(|| attributive(window, before))
        .or_else(|| range(window, before))
        .or_else(|| decimal(window, before))
        .or_else(|| resolution(window))
        .or_else(|| digit_string(window))
        .or_else(|| money(window))
        .or_else(|| price(window))
        .or_else(|| decade(window))
        .or_else(|| {
            year(window)
                .filter(|(_, used)| !priced && ends_number(window, *used))
                .map(|(year, used)| Form { used, text: year.to_string() })
        })
        .or_else(|| percentage(window))
        .or_else(|| large_ordinal(window))
        .or_else(|| plain(window, before))
}

/// Names that begin with a number, "twenty one pilots", so that no number is read from them.
fn is_name(window: &[&str]) -> bool {
    const NAMES: [&[&str]; 6] = [
        &["twenty", "one", "pilots"],
        &["fifty", "shades"],
        &["thirty", "seconds", "to", "mars"],
        &["sixteen", "candles"],
        &["twenty", "four", "seven"],
        &["fifty", "fifty"],
    ];
    NAMES.iter().any(|name| window.starts_with(name))
}

/// "at twelve thirty": a time that stays as it was said, and no year.
fn is_time_of_day(window: &[&str], before: &str) -> bool {
    let hour = small(window[0]).is_some_and(|hour| (11..=12).contains(&hour));
    let minutes = minutes(&window[1..]).is_some_and(|(_, used)| ends_number(window, 1 + used));
    let half = window.iter().take(5).any(|key| matches!(*key, "a" | "p" | "am" | "pm" | "a.m" | "p.m"));
    hour && minutes && !half && words!("at until till around about by from to before after").contains(before)
}

/// "at fifteen forty five": the hours of the afternoon by the clock of 24.
fn after_noon(window: &[&str], before: &str) -> Option<Form> {
    let hour = small(window[0]).filter(|hour| before == "at" && (13..=23).contains(hour))?;
    let (minute, used) = minutes(&window[1..])?;
    ends_number(window, 1 + used).then(|| Form { used: 1 + used, text: format!("{hour}:{minute:02}") })
}

/// "a thirty second timeout": a number before the unit that it counts, before a noun. The unit stays as it was said.
fn attributive(window: &[&str], before: &str) -> Option<Form> {
    let (value, used) = cardinal(window).filter(|(value, _)| *value >= FIRST_IN_DIGITS)?;
    let [unit, noun, ..] = &window[used..] else { return None };
    let counted = words!(
        "second minute hour day week month year page mile foot gram kilo litre liter inch word line dollar euro step"
    )
    .contains(unit);
    let noun = !is_function_word(noun) && !is_number_word(noun) && !matches!(*noun, "old" | "olds");
    // "the thirty second floor" is another number.
    let article =
        before == "a" || *unit != "second" && matches!(before, "the" | "this" | "that" | "our" | "my" | "your");
    (article && counted && noun).then(|| Form { used, text: in_words_and_digits(value, &window[..used]) })
}

/// "five to ten percent", "twenty to thirty dollars", "between ten and twenty kilometers", "pages ten to fifteen": both ends alike, where the second
/// is written in digits.
fn range(window: &[&str], before: &str) -> Option<Form> {
    let (mut low, first) = cardinal(window)?;
    let joint = *window.get(first)?;
    if !(matches!(joint, "to" | "or") || joint == "and" && before == "between") {
        return None;
    }
    let (high, second) = cardinal(&window[first + 1..])?;
    let used = first + 1 + second;
    if low >= high || low >= 10_000 {
        return None;
    }
    let counted = words!("pages chapters lines rows rooms slides questions steps verses items").contains(before);
    let (used, sign, ending) = match *window.get(used).unwrap_or(&"") {
        _ if counted && high >= FIRST_IN_DIGITS => (used, "", ""),
        "percent" => (used + 1, "", "%"),
        "dollars" => (used + 1, "$", ""),
        "euros" => (used + 1, "€", ""),
        unit if high >= FIRST_IN_DIGITS && is_measure(unit) => (used, "", ""),
        _ => return None,
    };
    // "ten to twenty thousand dollars": thousands both.
    let thousands = |words: &[&str]| words.last() == Some(&"thousand");
    if !sign.is_empty() && low < 1_000 && thousands(&window[first + 1..][..second]) {
        low *= 1_000;
    }
    let written = if sign.is_empty() { in_words_and_digits } else { amount };
    let (from, to) = (written(low, &window[..first]), written(high, &window[first + 1..][..second]));
    Some(Form { used, text: format!("{sign}{from} {joint} {sign}{to}{ending}") })
}

/// Units of which even small numbers are written in digits.
fn is_measure(key: &str) -> bool {
    words!(
        "kilometers kilometres meters metres centimeters centimetres millimeters millimetres kilograms grams \
        milligrams milliliters millilitres degrees megabytes gigabytes terabytes kilobytes watts volts megahertz"
    )
    .contains(key)
}

/// "three thirty p m", "six p m". The hour alone with "pm" as one word stays: it is already written.
fn time(window: &[&str]) -> Option<Form> {
    let (hour, mut used) = cardinal(&window[..1])?;
    let mut text = hour.to_string();
    if let Some((minute, words)) = minutes(&window[used..]) {
        text.push_str(&format!(":{minute:02}"));
        used += words;
    }
    let half = match &window[used..] {
        [half @ ("a" | "p"), "m", ..] => {
            used += 2;
            half
        }
        ["am" | "a.m", ..] if used > 1 => {
            used += 1;
            "a"
        }
        ["pm" | "p.m", ..] if used > 1 => {
            used += 1;
            "p"
        }
        _ => return None,
    };
    (1..=12).contains(&hour).then(|| Form { used, text: format!("{text} {half}.m.") })
}

/// "ten to eleven p m", "quarter past six a m": with its half of the day it can be nothing else.
fn time_to_or_past(window: &[&str]) -> Option<Form> {
    let half = window.iter().take(7).position(|key| matches!(*key, "am" | "pm" | "a.m" | "p.m"));
    let spelled = || window.iter().take(7).zip(&window[1..]).position(|(a, b)| matches!(*a, "a" | "p") && *b == "m");
    let (at, words) = half.map(|at| (at, 1)).or_else(|| spelled().map(|at| (at, 2)))?;
    // "our one on one to six p m": nobody is that exact unless it is minutes that are named.
    let exact = window[..at].iter().any(|key| matches!(*key, "min" | "mins" | "minute" | "minutes"));
    let (hour, minute) = after_or_before(&window[..at], true).filter(|(_, minute)| exact || minute % 5 == 0)?;
    let half = &window[at][..1];
    Some(Form { used: at + words, text: format!("{hour}:{minute:02} {half}.m.") })
}

/// "thirty", "fifteen", "oh five".
fn minutes(window: &[&str]) -> Option<(u128, usize)> {
    match window {
        ["oh" | "o", digit, ..] => Some((small(digit).filter(|value| *value < 10)?, 2)),
        _ => cardinal(window).filter(|(minute, _)| (10..60).contains(minute)),
    }
}

/// "three year old" as one word; the number in digits from eleven on.
fn age(window: &[&str]) -> Option<Form> {
    let (value, used) = cardinal(window)?;
    let rest = &window[used..];
    let plural = match rest {
        ["year", "old", ..] => "",
        ["year", "olds", ..] => "s",
        _ => return None,
    };
    let number = if value < FIRST_IN_DIGITS { window[..used].join("-") } else { value.to_string() };
    Some(Form { used: used + 2, text: format!("{number}-year-old{plural}") })
}

/// "three point five percent", "two four oh seven point one two three", "version two point ten".
fn decimal(window: &[&str], before: &str) -> Option<Form> {
    let (whole, mut used) = match digits(window) {
        Some((text, used)) if used > 1 => (text, used),
        _ => cardinal(window).map(|(value, used)| (value.to_string(), used))?,
    };
    if window.get(used) != Some(&"point") {
        return None;
    }
    let (fraction, words) = digits(&window[used + 1..]).or_else(|| {
        cardinal(&window[used + 1..]).filter(|(value, _)| *value < 100).map(|(value, used)| (value.to_string(), used))
    })?;
    used += 1 + words;
    let mut text = format!("{whole}.{fraction}");
    // "version three point two point one".
    while window.get(used) == Some(&"point")
        && let Some((part, words)) = digits(&window[used + 1..])
            .or_else(|| cardinal(&window[used + 1..]).map(|(value, used)| (value.to_string(), used)))
    {
        text.push_str(&format!(".{part}"));
        used += 1 + words;
    }
    let percent = window.get(used) == Some(&"percent");
    let scale = window.get(used).filter(|key| matches!(**key, "million" | "billion" | "trillion"));
    // "at one point two people left".
    if window[0] == "one"
        && !percent
        && scale.is_none()
        && matches!(before, "at" | "to" | "that" | "this" | "from" | "some" | "" | "the" | "make" | "made" | "on")
    {
        return None;
    }
    if scale.is_none() && !ends_number(window, used) {
        return None;
    }
    if percent {
        text.push('%');
    }
    if let Some(scale) = scale {
        text.push_str(&format!(" {scale}"));
    }
    Some(Form { used: used + usize::from(percent || scale.is_some()), text })
}

/// Four or more digits one by one: a code or a number to call. Counting up from one is counting.
fn digit_string(window: &[&str]) -> Option<Form> {
    let (text, used) = spelled_digits(window);
    if text.len() < 4 || is_counting(&text) || !ends_number(window, used) {
        return None;
    }
    let text = match text.len() {
        7 => format!("{}-{}", &text[..3], &text[3..]),
        10 => national(&text),
        _ => text,
    };
    Some(Form { used, text })
}

/// "ten eighty p": the lines of a picture.
fn resolution(window: &[&str]) -> Option<Form> {
    let (text, used) = pair(window).or_else(|| elided_hundred(window))?;
    (window.get(used) == Some(&"p") && window.get(used + 1) != Some(&"m"))
        .then(|| Form { used: used + 1, text: format!("{text}p") })
}

/// "five pounds fifty", "twenty dollars", "ten dollars and fifty cents". Pounds alone may be a weight.
fn money(window: &[&str]) -> Option<Form> {
    let (value, used) = cardinal(window)?;
    let (sign, is_weight_too) = match *window.get(used)? {
        "dollars" => ('$', false),
        "euros" => ('€', false),
        "pounds" => ('£', true),
        _ => return None,
    };
    let rest = &window[used + 1..];
    let cents = match rest {
        ["and", rest @ ..] => cardinal(rest)
            .filter(|(_, n)| rest.get(*n).is_some_and(|unit| matches!(*unit, "cents" | "pence")))
            .map(|(value, n)| (value, n + 2)),
        _ => cardinal(rest)
            .filter(|&(value, n)| value >= 10 && ends_number(rest, n))
            .map(|(value, n)| (value, n + usize::from(matches!(rest.get(n), Some(&("cents" | "pence")))))),
    };
    match cents.filter(|(cents, _)| *cents < 100) {
        Some((cents, n)) => {
            Some(Form { used: used + 1 + n, text: format!("{sign}{}.{cents:02}", amount(value, &window[..used])) })
        }
        None if is_weight_too || value <= 1 => None,
        None => {
            let number = amount(value, &window[..used]);
            Some(Form { used: used + 1, text: format!("{sign}{number}") })
        }
    }
}

/// "nineteen ninety nine dollars": two numbers of two digits are the two parts of a price.
fn price(window: &[&str]) -> Option<Form> {
    let (whole, used) = below_hundred(window).filter(|(value, _)| *value >= 10)?;
    let (cents, words) = minutes_or_cents(&window[used..])?;
    let used = used + words;
    let sign = match *window.get(used)? {
        "dollars" => '$',
        "euros" => '€',
        _ => return None,
    };
    Some(Form { used: used + 1, text: format!("{sign}{whole}.{cents:02}") })
}

/// "ninety nine", "oh five".
fn minutes_or_cents(window: &[&str]) -> Option<(u128, usize)> {
    match window {
        ["oh" | "o", digit, ..] => Some((small(digit).filter(|value| *value < 10)?, 2)),
        _ => below_hundred(window).filter(|(value, _)| *value >= 10),
    }
}

/// An amount of money as a sentence has it: from five digits on, in groups of three.
fn amount(value: u128, words: &[&str]) -> String {
    let digits = in_words_and_digits(value, words);
    if digits.len() < 5 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return digits;
    }
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// "seven twenty": a digit and a number of two digits.
pub(super) fn elided_hundred(window: &[&str]) -> Option<(String, usize)> {
    let hundreds = window.first().and_then(|key| small(key)).filter(|value| (1..10).contains(value))?;
    let (rest, used) = below_hundred(&window[1..]).filter(|(value, _)| *value >= 10)?;
    Some(((hundreds * 100 + rest).to_string(), used + 1))
}

/// "nineteen eighties".
pub(super) fn decade(window: &[&str]) -> Option<Form> {
    let century = teen_or_twenty(window.first()?)?;
    let decade = match *window.get(1)? {
        "hundreds" => 0,
        "tens" => 10,
        "twenties" => 20,
        "thirties" => 30,
        "forties" => 40,
        "fifties" => 50,
        "sixties" => 60,
        "seventies" => 70,
        "eighties" => 80,
        "nineties" => 90,
        _ => return None,
    };
    Some(Form { used: 2, text: format!("{}s", century * 100 + decade) })
}

/// "nineteen ninety nine", "twenty twelve", "nineteen oh five", "two thousand and three".
pub(super) fn year(window: &[&str]) -> Option<(u128, usize)> {
    if window.first() == Some(&"two") && window.get(1) == Some(&"thousand") {
        return cardinal(window).filter(|(value, _)| (2000..2100).contains(value));
    }
    let century = teen_or_twenty(window.first()?)?;
    let rest = &window[1..];
    let (short, used) = match rest {
        ["oh" | "o", digit, ..] => (small(digit).filter(|value| *value < 10)?, 2),
        _ => cardinal(rest).filter(|(value, _)| (10..100).contains(value))?,
    };
    Some((century * 100 + short, used + 1))
}

fn teen_or_twenty(key: &str) -> Option<u128> {
    small(key).filter(|value| (11..=20).contains(value))
}

/// "twelve percent".
fn percentage(window: &[&str]) -> Option<Form> {
    let (value, used) = cardinal(window)?;
    (window.get(used) == Some(&"percent")).then(|| Form { used: used + 1, text: format!("{value}%") })
}

/// "twenty first", "one hundred and third"; a single word stays.
fn large_ordinal(window: &[&str]) -> Option<Form> {
    let (value, used) = ordinal(window)?;
    // "twenty second timeout": seconds are counted too.
    let seconds = window[used - 1] == "second" && window.get(used).is_some();
    let compound = used > 1 || window[0].contains('-');
    (compound && !seconds).then(|| Form { used, text: format!("{value}{}", ordinal_ending(value)) })
}

/// A cardinal in running text.
fn plain(window: &[&str], before: &str) -> Option<Form> {
    let (value, used) = cardinal(window)?;
    let after = window.get(used).copied().unwrap_or_default();
    let vague = matches!(after, "something" | "somethings" | "odd" | "ish" | "plus" | "fold" | "winks")
        || before == "a" && used == 1
        || matches!(before, "cloud" | "catch" | "seventh");
    // "ten or twelve", "nine to five": both or neither.
    let paired = |joint: &str| matches!(joint, "or" | "to" | "by" | "and");
    let small_partner = paired(after)
        && window.get(used + 1).is_some_and(|key| small(key).is_some_and(|value| value < FIRST_IN_DIGITS));
    // One word is well written either way, so it stays as it was said, but measures are written in digits.
    let measured = is_measure(after) || matches!(window.get(used..used + 3), Some(["miles", "per" | "an", "hour"]));
    let one_word = used == 1 && !window[0].contains('-') && !measured;
    if value < FIRST_IN_DIGITS || one_word || vague || small_partner || !ends_number(window, used) {
        return None;
    }
    Some(Form { used, text: in_words_and_digits(value, &window[..used]) })
}

/// Digits, with the last word kept where that is a million or more: "30 million".
pub(super) fn in_words_and_digits(value: u128, words: &[&str]) -> String {
    let scale = words.last().filter(|key| is_magnitude(key)).and_then(|key| Some((key, scale_of(key)?)));
    match scale {
        Some((name, scale)) if value.is_multiple_of(scale) => format!("{} {name}", value / scale),
        _ => value.to_string(),
    }
}

/// Whether no further number word follows the first `used`, with which the reading would be another.
fn ends_number(window: &[&str], used: usize) -> bool {
    let next = window.get(used).copied().unwrap_or_default();
    !(is_number_word(next)
        || matches!(next, "oh" | "point") && window.get(used + 1).is_some_and(|key| is_number_word(key)))
        || next == "second" && used > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn writes(said: &str, expected: Option<&str>) {
        let window: Vec<&str> = said.split(' ').collect();
        let form = form(&window, "x", false);
        let written = form.map(|form| [vec![form.text.as_str()], window[form.used..].to_vec()].concat().join(" "));
        assert_eq!(written.as_deref(), expected, "{said}");
    }

    #[test]
    fn forms() {
        let table = [
            ("jo dot park at example dot org", "jo.park@example.org"),
            ("example dot com slash news", "example.com/news"),
            ("january fifth", "January 5"),
            ("july twenty sixth twenty fourteen", "July 26, 2014"),
            ("three thirty p m", "3:30 p.m."),
            ("eleven forty pm", "11:40 p.m."),
            ("nine oh five a m", "9:05 a.m."),
            ("three year old dog", "three-year-old dog"),
            ("forty year olds", "40-year-olds"),
            ("five five five one two three four", "555-1234"),
            ("seven seven zero two", "7702"),
            ("five pounds fifty", "£5.50"),
            ("ten dollars and fifty cents", "$10.50"),
            ("twenty dollars", "$20"),
            ("two million dollars", "$2 million"),
            ("three point five percent", "3.5%"),
            ("two point ten is", "2.10 is"),
            ("two four oh seven point one two three", "2407.123"),
            ("twelve percent", "12%"),
            ("nineteen ninety nine dollars", "$19.99"),
            ("twenty five oh five euros", "€25.05"),
            ("two hundred fifty thousand dollars", "$250,000"),
            ("twelve thousand dollars and fifty cents", "$12,000.50"),
            ("ten to fifty thousand dollars", "$10,000 to $50,000"),
            ("four four seven dash b", "447-B"),
            ("nine oh hyphen one two", "90-12"),
            ("nineteen ninety nine", "1999"),
            ("nineteen oh five", "1905"),
            ("nineteen eighties", "1980s"),
            ("two thousand and three", "2003"),
            ("eight thousand and eighty", "8080"),
            ("two hundred forty-three", "243"),
            ("one hundred and twenty wide", "120 wide"),
            ("thirty billion", "30 billion"),
            ("twenty first", "21st"),
            ("one hundred and third", "103rd"),
            ("forty five second timeout", "45 second timeout"),
            ("hash four", "#4"),
            ("forty two people", "42 people"),
            ("seventy miles per hour", "70 miles per hour"),
            ("sixty miles an hour", "60 miles an hour"),
            ("three point two point one is out", "3.2.1 is out"),
            ("one point five million users", "1.5 million users"),
            ("five to ten percent of them", "5 to 10% of them"),
            ("twenty to thirty dollars", "$20 to $30"),
            ("ten to twenty kilometers", "10 to 20 kilometers"),
            ("one ninety two dot one sixty eight dot one dot ten now", "192.168.1.10 now"),
            ("http colon slash slash localhost colon three thousand slash docs", "http://localhost:3000/docs"),
            ("c plus plus code", "C++ code"),
            ("twenty something", "twenty-something"),
        ];
        for (said, written) in table {
            writes(said, Some(written));
        }
    }

    #[test]
    fn what_stays_words() {
        for said in [
            "one of us",
            "second thought",
            "ten minutes",
            "nine to five",
            "twenty one pilots",
            "five to ten minutes",
            "hundred cookies",
            "six pm",
            "twenty two two",
            "two three-inch bolts",
            "three",
            "fifth of january",
            "seventh heaven",
            "one two three four",
            "five pounds of flour",
            "may five people",
            "dot com",
            "hundreds of people",
            "twelve or ten",
            "first things first",
        ] {
            writes(said, None);
        }
    }
}
