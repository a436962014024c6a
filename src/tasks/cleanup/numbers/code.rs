//! Numbers that name something: telephone numbers, cards, network addresses, serials. Their digits are read one by one.

use super::reader::{below_hundred, cardinal, small, spelled_digits};
use super::whole::Said;

/// All of `keys` as digits in the groups of a telephone number, a card or the like.
pub(super) fn telephone(keys: &[&str]) -> Option<String> {
    if let Some(text) = network_address(keys) {
        return Some(text);
    }
    if let Some(rest) = keys.strip_prefix(&["plus"]) {
        return international(rest);
    }
    let (digits, used) = toll_free(keys);
    if used < keys.len() || digits.len() < 3 || is_counting(&digits) {
        return None;
    }
    let group = |sizes: &[usize]| {
        let mut at = 0;
        let groups: Vec<&str> = sizes
            .iter()
            .map(|size| {
                at += size;
                &digits[at - size..at]
            })
            .collect();
        groups.join(" ")
    };
    Some(match digits.len() {
        7 => format!("{}-{}", &digits[..3], &digits[3..]),
        10 => national(&digits),
        11 => format!("{} {}", &digits[..1], national(&digits[1..])),
        14 => group(&[4, 6, 4]),
        15 => group(&[4, 6, 5]),
        16 => group(&[4, 4, 4, 4]),
        17 => group(&[3, 4, 6, 4]),
        _ => digits,
    })
}

/// Digits one by one, with the area code as a round number: "one eight hundred five five five …".
fn toll_free(keys: &[&str]) -> (String, usize) {
    let Some(at) = keys.iter().take(3).position(|key| *key == "hundred") else { return spelled_digits(keys) };
    let (head, _) = spelled_digits(&keys[..at]);
    let (tail, used) = spelled_digits(&keys[at + 1..]);
    if head.len() == at && tail.len() == 7 { (format!("{head}00{tail}"), at + 1 + used) } else { (String::new(), 0) }
}

pub(super) fn national(digits: &str) -> String {
    format!("{}-{}-{}", &digits[..3], &digits[3..6], &digits[6..])
}

/// "forty four one two three …", after "plus".
fn international(keys: &[&str]) -> Option<String> {
    let (code, used) = match below_hundred(keys).filter(|(value, _)| *value >= 10) {
        Some((value, used)) => (value.to_string(), used),
        None => (String::new(), 0),
    };
    let (digits, more) = spelled_digits(&keys[used..]);
    let all = code + &digits;
    let split = all.len().checked_sub(10).filter(|n| (1..=3).contains(n))?;
    (used + more == keys.len()).then(|| format!("+{} {}", &all[..split], national(&all[split..])))
}

/// Whether digits only count up from one, as people do aloud.
pub(super) fn is_counting(digits: &str) -> bool {
    "123456789".starts_with(digits)
}

/// The network address at the head of `window`, and how many words it takes.
pub(super) fn network_address_at(window: &[&str]) -> Option<(String, usize)> {
    let third = window.iter().enumerate().filter(|(_, key)| **key == "dot").nth(2)?.0;
    let used =
        (third + 2..=window.len().min(third + 4)).rev().find(|&end| network_address(&window[..end]).is_some())?;
    Some((network_address(&window[..used])?, used))
}

/// Four numbers up to 255 between dots.
fn network_address(keys: &[&str]) -> Option<String> {
    let parts: Vec<&[&str]> = keys.split(|key| *key == "dot").collect();
    if parts.len() != 4 {
        return None;
    }
    let numbers = parts.iter().map(|part| number_in_pieces(part).filter(|text| text.len() <= 3));
    Some(numbers.collect::<Option<Vec<_>>>()?.join("."))
}

/// "one two three", "double five", "forty five", "one twenty three".
fn number_in_pieces(keys: &[&str]) -> Option<String> {
    let (digits, used) = spelled_digits(keys);
    let rest = &keys[used..];
    if rest.is_empty() {
        return (used > 0).then_some(digits);
    }
    let (value, words) = cardinal(rest)?;
    (words == rest.len() && value < 1000).then(|| format!("{digits}{value}"))
}

/// All of `said` as letters and numbers that run together: "a b nine", "five w k r a three one", "x three eighty six". An
/// acronym and a whole number stay two words: "l g a eleven fifty".
pub(super) fn serial(said: &[Said]) -> Option<String> {
    let keys: Vec<&str> = said.iter().map(|word| word.key).collect();
    let letters = keys.iter().take_while(|key| is_letter(key)).count();
    if letters >= 3 && letters < keys.len() {
        let (number, used) = pair(&keys[letters..])
            .or_else(|| cardinal(&keys[letters..]).map(|(value, used)| (value.to_string(), used)))?;
        if letters + used == keys.len() && number.len() > 2 {
            return Some(format!("{} {number}", keys[..letters].concat().to_uppercase()));
        }
    }
    let (mut text, mut has_letter, mut has_digit) = (String::new(), false, false);
    let mut i = 0;
    while i < said.len() {
        let word = &said[i];
        let (digits, used) = spelled_digits(&keys[i..]);
        // "o" beside letters is one of them.
        let digit = used > 0 && (word.key != "o" || has_digit);
        if digit {
            text.push_str(&digits);
            i += used;
            has_digit = true;
        } else if is_letter(word.key) {
            text.push_str(word.text);
            i += 1;
            has_letter = true;
        } else {
            let (value, used) = below_hundred(&keys[i..])?;
            text.push_str(&value.to_string());
            i += used;
            has_digit = true;
        }
    }
    // "a five", "i ten": an article or a pronoun and a number.
    let bare = keys.iter().filter(|key| is_letter(key)).count() == 1 && matches!(keys[0], "a" | "i");
    (has_letter && has_digit && !bare && keys.len() > 1).then_some(text)
}

/// "eleven fifty", "ten eighty": two numbers of two digits.
pub(super) fn pair(keys: &[&str]) -> Option<(String, usize)> {
    let first = small(keys.first()?).filter(|value| *value >= 10)?;
    let (second, used) = below_hundred(&keys[1..]).filter(|(value, _)| *value >= 10)?;
    Some((format!("{first}{second}"), used + 1))
}

fn is_letter(key: &str) -> bool {
    key.len() == 1 && key.as_bytes()[0].is_ascii_alphabetic()
}
