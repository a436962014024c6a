//! E-mail and web addresses, as all that was said: every word between two signs runs together.

use super::super::lexicon::is_function_word;
use super::reader::{digit_of, small};
use super::whole::Said;

/// All of `said` as an address.
pub(super) fn address(said: &[Said]) -> Option<String> {
    let mut text = String::new();
    // How many words since the last sign, and whether one of them is longer than a letter or a digit.
    let (mut parts, mut long) = (0, 0);
    let (mut at_sign, mut dots) = (None, 0);
    let mut i = 0;
    while i < said.len() {
        let word = &said[i];
        let keys: Vec<&str> = said[i..].iter().take(3).map(|word| word.key).collect();
        let (sign, used) = match keys[..] {
            ["colon", "slash", "slash"] => ("://", 3),
            ["at", ..] | ["@", ..] if at_sign.is_none() && parts > 0 => ("@", 1),
            ["dot", ..] | ["point", ..] => (".", 1),
            ["hyphen" | "dash" | "minus", ..] => ("-", 1),
            ["underscore", ..] => ("_", 1),
            ["slash", ..] | ["forward", "slash", ..] => ("/", keys.iter().position(|key| *key == "slash")? + 1),
            ["plus", ..] if at_sign.is_none() => ("+", 1),
            ["colon", ..] if dots > 0 => (":", 1),
            _ => ("", 1),
        };
        if sign.is_empty() {
            let digit = digit_of(word.key).filter(|_| !matches!(word.key, "o")).map(String::from);
            let number = || small(word.key).map(|value| value.to_string());
            let part = digit.or_else(number).unwrap_or_else(|| word.text.to_owned());
            if !part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_')) {
                return None;
            }
            long += usize::from(part.len() > 1);
            // Two words in a row are no label, and neither is a little word: "look at gmail dot com".
            if at_sign.is_none() && long > 1 || parts > 0 && part.len() > 1 && is_function_word(word.key) {
                return None;
            }
            dots += part.matches('.').count();
            text.push_str(&part);
            parts += 1;
        } else {
            if parts == 0 && sign != "/" {
                return None;
            }
            if sign == "@" {
                at_sign = Some(text.len());
                dots = 0;
            }
            dots += usize::from(sign == ".");
            text.push_str(sign);
            (parts, long) = (0, 0);
        }
        i += used;
    }
    let host = match at_sign {
        Some(at) => &text[at + 1..],
        None => text.split_once("://").map_or(text.as_str(), |(_, host)| host),
    };
    let host = host.split('/').next().unwrap_or_default();
    let top = host.rsplit_once('.').map(|(_, top)| top)?;
    // After a scheme anything may be a name; without one a number is a decimal or a version.
    let sound = parts > 0 && !top.is_empty() && (text.contains("://") || top.bytes().all(|b| b.is_ascii_alphabetic()));
    // "five point two", "three dot three": numbers with a point are something else.
    let has_letters = host.bytes().any(|b| b.is_ascii_alphabetic());
    let local_ok = at_sign.is_none_or(|at| at > 0 && !is_sentence(said));
    (sound && dots > 0 && has_letters && local_ok).then_some(text)
}

/// Whether the words before "at" are a clause: "meet me at example dot com".
fn is_sentence(said: &[Said]) -> bool {
    let local: Vec<&str> = said.iter().map(|word| word.key).take_while(|key| *key != "at").collect();
    local.len() == 1 && local[0].len() > 1 && is_function_word(local[0])
}
