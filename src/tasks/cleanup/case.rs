//! Upper and lower case.

use super::draft::Draft;
use super::language::Language;
use super::lexicon::{is_function_word, is_number_word, is_weekday, name, words};
use super::marks::NameCase;
use super::repeats::is_sign;
use super::words::{Shape, Word};

/// Whether the recogniser already writes capitals, so that its case is evidence: some word other than "I" has one.
pub(super) fn is_cased(words: &[Word]) -> bool {
    words.iter().any(|word| match word.shape {
        Shape::Capitalised => !matches!(word.key.as_str(), "i" | "i'm" | "i'll" | "i've" | "i'd"),
        Shape::Upper | Shape::Mixed => true,
        _ => false,
    })
}

/// Where a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The first word of a sentence that begins only because of what was dictated or deleted, or because the text does.
    SentenceStart,
    /// The first word after the recogniser's own sentence end.
    AfterRawEnd,
    /// The word after a correction that took back the beginning of its sentence.
    AfterCorrection,
    Inside,
}

/// The word `i` (a raw index) in its right case, if that is another than it has. `tagged` is what it is written as where
/// its surroundings make it a name.
pub(super) fn recase(draft: &Draft, i: usize, place: Place, cased: bool, tagged: Option<NameCase>) -> Option<String> {
    let word = &draft.words[i];
    let text = word.text(draft.raw);
    let marked_up = word.lead_marks(draft.raw).contains(['[', '{', '<']);
    let english = draft.language == Language::English;
    let starts = match place {
        Place::SentenceStart => draft.preset().sentence_case,
        // With a recogniser that writes capitals, a small letter after a full stop says that it was an abbreviation's.
        Place::AfterRawEnd => draft.preset().sentence_case && !cased,
        Place::AfterCorrection | Place::Inside => false,
    };
    if place == Place::AfterCorrection
        && english
        && word.shape == Shape::Capitalised
        && is_function_word(&word.key)
        && !is_first_person(&word.key)
    {
        return Some(lower_first(text));
    }
    if word.shape != Shape::Lower || marked_up {
        return None;
    }
    if english && is_first_person(&word.key) && !is_lone_letter(draft, i) {
        return Some(upper_first(text));
    }
    // A day of the week is a name whoever writes it.
    let base = word.key.strip_suffix("'s").unwrap_or(&word.key);
    if english
        && (!cased || is_weekday(base))
        && let Some(name) = name_of(draft, i)
    {
        return Some(name);
    }
    if let Some(case) = tagged
        && !starts
        && !is_function_word(&word.key)
        && !is_number_word(&word.key)
        && !is_sign(&word.key)
        && !matches!(word.key.as_str(), "oh" | "ok" | "okay" | "yeah")
    {
        return Some(as_name(text, case)).filter(|name| name != text);
    }
    // Dotted and dotless i are two letters in Turkish and Azerbaijani.
    let turkic = draft.options.language.as_deref().is_some_and(|tag| tag.starts_with("tr") || tag.starts_with("az"));
    let upper = (starts && !(turkic && text.starts_with('i'))).then(|| upper_first(text));
    upper.filter(|upper| upper != text)
}

/// The word `i` spelled as the name it is; a possessive keeps its ending.
fn name_of(draft: &Draft, i: usize) -> Option<String> {
    let word = &draft.words[i];
    let text = word.text(draft.raw);
    let base = word.key.strip_suffix("'s").unwrap_or(&word.key);
    // In a program "cd" and "id" are words of their own.
    let spelled = |name: &&str| draft.preset().identifiers && name.chars().all(char::is_uppercase);
    if let Some(name) = name(base).filter(|name| !spelled(name)) {
        // What follows the name in the raw text, byte for byte: "'s" or "’s".
        let ending = text.get(base.len()..)?;
        return Some(format!("{name}{ending}"));
    }
    // "by may", "early march": two months that are also words.
    let dated = |key: &str| words!("by in until till since of next last early late mid during").contains(key);
    if matches!(base, "may" | "march") && i > 0 && dated(&draft.words[i - 1].key) {
        return Some(upper_first(text));
    }
    let is_title = |key: &str| matches!(key, "mr" | "mrs" | "ms" | "dr" | "prof");
    let after_title = i > 0 && is_title(&draft.words[i - 1].key) && !is_function_word(base);
    (is_title(base) || after_title).then(|| upper_first(text))
}

/// `text` as a name: its parts between hyphens each with a capital, or all of it but a possessive ending in capitals.
fn as_name(text: &str, case: NameCase) -> String {
    match case {
        NameCase::Capitalised => text.split('-').map(upper_first).collect::<Vec<_>>().join("-"),
        // The network knows no such letters in abbreviations, and "naïve" is none.
        NameCase::Capitals if !text.is_ascii() && !text.contains('’') => text.to_owned(),
        NameCase::Capitals => {
            let base = text.strip_suffix("'s").or(text.strip_suffix("’s")).unwrap_or(text);
            let upper = base.to_uppercase();
            if upper.to_lowercase() == base { format!("{upper}{}", &text[base.len()..]) } else { text.to_owned() }
        }
    }
}

fn is_first_person(key: &str) -> bool {
    matches!(key, "i" | "i'm" | "i'll" | "i've" | "i'd")
}

/// Whether "i" is a letter among letters: "a i model", "dot your i".
fn is_lone_letter(draft: &Draft, i: usize) -> bool {
    let letter =
        |k: Option<usize>| k.and_then(|k| draft.words.get(k)).is_some_and(|word| word.is_letter() && word.key != "i");
    draft.words[i].key == "i"
        && (letter(i.checked_sub(1)) && letter(Some(i + 1))
            || letter(i.checked_sub(1)) && draft.words[i - 1].key != "a")
}

/// `text` with its first letter in upper case, where that is one letter too and its script begins sentences so.
pub(in crate::tasks) fn upper_first(text: &str) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    let georgian = matches!(first, '\u{10d0}'..='\u{10ff}');
    let mut upper = first.to_uppercase();
    match (upper.next(), upper.next()) {
        // There and back: the micro sign has a capital that is another letter's.
        (Some(letter), None) if !georgian && letter.to_lowercase().eq([first]) => {
            std::iter::once(letter).chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
