//! The written form of an utterance that is one phrase with a form of its own: free, since nothing else is said.
//!
//! | said | written |
//! |---|---|
//! | quarter to twelve; seven a m e s t | 11:45; 07:00 a.m. est |
//! | the twenty fifth of july twenty twelve | 25 July 2012 |
//! | twenty point five o six dollars | $20.506 |
//! | minus sixty six kilograms; fifty six per square kilometer | -66 kg; 56 /km² |
//! | one hundred sixty four point five eight thousand | 164.58 thousand |
//! | plus forty four one two three … | +44 123-123-5678 |
//! | a b three hyphen s d d at g mail dot com | ab3-sdd@gmail.com |
//! | x three eighty six | x386 |
//! | eleven hundred twenty first | 1121st |
//! | two thirds; two and a half | 2/3; 2 1/2 |

use super::super::case::upper_first;
use super::super::lexicon::is_function_word;
use super::address::address;
use super::amount::{decimal, measure, money};
use super::clock::{date, time};
use super::code::{serial, telephone};
use super::phrase::{decade, elided_hundred};
use super::reader::{cardinal, ordinal, ordinal_ending};

/// One word of an utterance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    pub key: &'a str,
    pub text: &'a str,
}

/// Numbers up to this stay a word even alone.
const LAST_IN_WORDS: u128 = 12;

/// The written form of all of `said`.
pub(super) fn form(said: &[Said]) -> Option<String> {
    let keys: Vec<&str> = said.iter().map(|word| word.key).collect();
    title(said)
        .or_else(|| time(said))
        .or_else(|| date(said))
        .or_else(|| decade(&keys).filter(|form| form.used == keys.len()).map(|form| form.text))
        .or_else(|| money(&keys))
        .or_else(|| measure(&keys))
        .or_else(|| decimal(&keys))
        .or_else(|| telephone(&keys))
        .or_else(|| address(said))
        .or_else(|| serial(said))
        .or_else(|| whole_ordinal(&keys))
        .or_else(|| fraction(&keys))
        .or_else(|| whole_number(&keys))
}

/// "mister dao", "saint george"; names that are said otherwise than written.
fn title(said: &[Said]) -> Option<String> {
    let keys: Vec<&str> = said.iter().map(|word| word.key).collect();
    if let ["s", "and", "p", rest @ ..] = &keys[..] {
        let (value, used) = cardinal(rest)?;
        return (used == rest.len()).then(|| format!("S&P {value}"));
    }
    if let ["seven", "eleven", rest @ ("store" | "stores")] = &keys[..] {
        return Some(format!("7-Eleven {rest}"));
    }
    let [first, names @ ..] = said else { return None };
    let short = match first.key {
        "mister" => "mr.",
        "misses" | "missus" => "mrs.",
        "doctor" => "dr.",
        "saint" => "st.",
        _ => return None,
    };
    let named =
        (1..=3).contains(&names.len()) && names.iter().all(|name| !is_function_word(name.key) && name.key.len() > 1);
    let capital = first.text.starts_with(char::is_uppercase);
    let names: Vec<&str> = names.iter().map(|name| name.text).collect();
    named.then(|| format!("{} {}", if capital { upper_first(short) } else { short.to_owned() }, names.join(" ")))
}

fn whole_ordinal(keys: &[&str]) -> Option<String> {
    let (value, used) = ordinal(keys)?;
    (used == keys.len()).then(|| format!("{value}{}", ordinal_ending(value)))
}

/// "two thirds", "three quarters", "two and a half".
fn fraction(keys: &[&str]) -> Option<String> {
    if let [whole @ .., "and", "a", part @ ("half" | "quarter" | "third")] = keys {
        let (value, used) = cardinal(whole)?;
        let below = match *part {
            "half" => 2,
            "third" => 3,
            _ => 4,
        };
        return (used == whole.len()).then(|| format!("{value} 1/{below}"));
    }
    let (above, used) = cardinal(keys)?;
    let [part] = keys[used..] else { return None };
    let below = match part {
        "half" | "halves" => 2,
        "quarter" | "quarters" => 4,
        _ => ordinal(&[part.strip_suffix('s')?]).map(|(value, _)| value).filter(|value| *value > 2)?,
    };
    Some(format!("{above}/{below}"))
}

fn whole_number(keys: &[&str]) -> Option<String> {
    let (sign, digits) = match keys {
        ["minus" | "negative", rest @ ..] => ("-", rest),
        _ => ("", keys),
    };
    // "nine eighty"
    if let Some((text, _)) = elided_hundred(digits).filter(|(_, used)| *used == digits.len()) {
        return Some(format!("{sign}{text}"));
    }
    let (value, used) = cardinal(digits)?;
    let written = used == digits.len() && (value > LAST_IN_WORDS || !sign.is_empty());
    written.then(|| format!("{sign}{value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn writes(said: &str, expected: Option<&str>) {
        let lower = said.to_lowercase();
        let words: Vec<Said> = lower.split(' ').zip(said.split(' ')).map(|(key, text)| Said { key, text }).collect();
        assert_eq!(form(&words).as_deref(), expected, "{said}");
    }

    #[test]
    fn forms() {
        let table = [
            ("quarter to twelve", "11:45"),
            ("half past nine", "09:30"),
            ("twenty five past four", "04:25"),
            ("one min to three p m", "02:59 p.m."),
            ("Six A M C S T", "06:00 A.M. CST"),
            ("five nineteen", "05:19"),
            ("three o'clock", "03:00"),
            ("the twenty third of june twenty eleven", "23 June 2011"),
            ("march the fourth", "March 4"),
            ("october nineteen oh seven", "October 1907"),
            ("friday may sixth", "Friday, May 6"),
            ("forty four b c", "44 BC"),
            ("q three twenty twenty", "Q3 2020"),
            ("seventeen eighties", "1780s"),
            ("three point two million", "3.2 million"),
            ("point oh four", ".04"),
            ("minus seventy", "-70"),
            ("thirteen hundred and six", "1306"),
            ("two crore five lakh", "20500000"),
            ("nine eighty", "980"),
            ("twelve dollars and five cents", "$12.05"),
            ("one twenty dollars", "$120"),
            ("six billion yen", "¥6 billion"),
            ("three million yuan", "3 million yuan"),
            ("one cent", "$0.01"),
            ("eighty six percent", "86 %"),
            ("four cubic centimeters", "4 cm³"),
            ("thirty second", "32nd"),
            ("seven thousand and first", "7001st"),
            ("nine one zero five five five two six six one", "910-555-2661"),
            ("one eight hundred five five five two six six one", "1 800-555-2661"),
            ("plus three three one two three four five six seven eight nine oh", "+33 123-456-7890"),
            ("ten dot one twenty dot oh dot double two", "10.120.0.22"),
            ("k t seven double four", "kt744"),
            ("r t x thirty ninety", "RTX 3090"),
            ("m dot lee four at p o s t dot org", "m.lee4@post.org"),
            ("kim at hot mail dot com", "kim@hotmail.com"),
            ("h t t p s colon slash slash w w w dot w i k i dot net slash a b", "https://www.wiki.net/ab"),
            ("mister Okafor", "mr. Okafor"),
            ("two thirds", "2/3"),
            ("six and a half", "6 1/2"),
        ];
        for (said, written) in table {
            writes(said, Some(written));
        }
    }

    #[test]
    fn what_stays() {
        for said in [
            "nine to five",
            "twelve",
            "one of us",
            "one two three",
            "one dollars",
            "a ten",
            "meet me at example dot com",
            "doctor who are you",
            "the one and only",
            "point taken",
            "may",
            "second to none",
            "three dot two",
            "half past",
            "ten to",
            "",
        ] {
            writes(said, None);
        }
    }
}
