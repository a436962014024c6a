//! Names of things in programs: "a python function called read config" → read_config.
//!
//! | named | written |
//! |---|---|
//! | a class, struct, type, interface, enum, component | `AudioRecorder` |
//! | a constant | `DEFAULT_TIMEOUT` |
//! | else, with a language that writes so | `max_retries` |
//! | else | `retryCount` |
//!
//! A name is two to four words after "called" or "named". Where no programming language is mentioned, only the preset for
//! code takes it for an identifier, and words that name other things too ("a method called …") never are.

use super::draft::{Action, Draft, Pause, Proposal};
use super::edit::EditKind;
use super::language::Language;
use super::lexicon::{is_auxiliary, is_conjunction, is_determiner, is_preposition, is_subject, is_wh, words};
use super::words::Shape;

const MAX_NAME: usize = 4;

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Pascal,
    Screaming,
    Snake,
    Camel,
}

/// Proposes identifiers.
pub(super) fn propose(draft: &Draft) -> Vec<Proposal> {
    let known = matches!(draft.language, Language::English | Language::French);
    if !known {
        return vec![];
    }
    let mut proposals = vec![];
    let mut i = 0;
    while i < draft.len() {
        let Some((start, style)) = naming(draft, i) else {
            i += 1;
            continue;
        };
        let end = name_end(draft, start);
        i = end.max(i + 1);
        if (2..=MAX_NAME).contains(&(end - start)) {
            let words: Vec<&str> = (start..end).map(|k| draft.key(k)).collect();
            proposals.push(Proposal {
                first: draft.at(start),
                last: draft.at(end - 1),
                action: Action::Write(written(&words, style)),
                kind: EditKind::Number,
                confidence: 0.85,
            });
        }
    }
    proposals
}

/// Where a name begins that is given at live word `i`, and how such a name is written.
fn naming(draft: &Draft, i: usize) -> Option<(usize, Style)> {
    let english = draft.is_english();
    // "call it max retries in python", "appelle ça …"
    let calls = if english { draft.says(i, &["call", "it"]) } else { draft.says(i, &["appelle", "ça"]) };
    if calls {
        return Some((i + 2, if language_of_sentence(draft, i)? { Style::Snake } else { Style::Camel }));
    }
    let named = match draft.key(i) {
        "called" | "named" if english => i + 1,
        "appelée" | "appelé" | "nommée" | "nommé" if !english => i + 1,
        "qui" if draft.says(i, &["qui", "s'appelle"]) => i + 2,
        _ => return None,
    };
    // The thing may have its language after it: "une constante python qui s'appelle".
    let thing = (1..=2).find_map(|back| kind_of(draft.key(i.checked_sub(back)?)))?;
    let (style, only_in_programs) = thing;
    let snake = language_of_sentence(draft, i);
    let wanted = snake.is_some() || draft.preset().identifiers && only_in_programs;
    let style = style.unwrap_or(if snake == Some(true) { Style::Snake } else { Style::Camel });
    wanted.then_some((named, style))
}

/// How things of a kind are written where that does not depend on the language, and whether the word is said of little
/// else than programs.
fn kind_of(key: &str) -> Option<(Option<Style>, bool)> {
    match key {
        "class" | "struct" | "interface" | "enum" | "component" | "classe" | "structure" => {
            Some((Some(Style::Pascal), true))
        }
        "type" | "trait" => Some((Some(Style::Pascal), false)),
        "constant" | "constante" => Some((Some(Style::Screaming), true)),
        "function" | "variable" | "parameter" | "argument" | "fonction" | "paramètre" => Some((None, true)),
        "method" | "property" | "field" | "helper" | "module" | "getter" | "hook" | "méthode" => Some((None, false)),
        _ => None,
    }
}

/// Whether the programming language that the sentence mentions writes names with underscores; none if it mentions none.
fn language_of_sentence(draft: &Draft, i: usize) -> Option<bool> {
    let start = draft.sentence_start(i);
    let end = (i..draft.len()).find(|&k| draft.pause(k) == Pause::Strong).unwrap_or(draft.len());
    (start..=end).find_map(|k| match draft.key(k) {
        "python" | "rust" | "ruby" | "julia" | "erlang" | "elixir" | "sql" | "bash" => Some(true),
        "typescript" | "javascript" | "java" | "kotlin" | "swift" | "php" | "golang" | "scala" | "dart" | "react" => {
            Some(false)
        }
        _ => None,
    })
}

/// One past the last word of the name that begins at live word `start`; `start` itself where none does.
fn name_end(draft: &Draft, start: usize) -> usize {
    let part = |k: usize| {
        let key = draft.key(k);
        draft.word(k).shape == Shape::Lower
            && !key.contains(['\'', '-'])
            && !(is_preposition(key) && !(draft.language == Language::French && key == "de"))
            && !(is_conjunction(key) || is_determiner(key) || is_subject(key) || is_wh(key))
            && (!is_auxiliary(key) || k == start && matches!(key, "is" | "has" | "can" | "do"))
            && !words!(
                "returns return takes et qui dans pour en avec sur below above here there now please instead not"
            )
            .contains(key)
    };
    let mut end = start;
    while end < draft.len() && part(end) {
        end += 1;
        if draft.pause(end - 1) > Pause::None {
            break;
        }
    }
    end
}

fn written(words: &[&str], style: Style) -> String {
    match style {
        Style::Snake => words.join("_"),
        Style::Screaming => words.join("_").to_uppercase(),
        Style::Pascal => words.iter().map(|word| super::case::upper_first(word)).collect(),
        Style::Camel => {
            let later = words[1..].iter().map(|word| super::case::upper_first(word));
            std::iter::once(words[0].to_owned()).chain(later).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tasks::cleanup::{CleanupOptions, Preset, clean};

    #[test]
    fn names_in_programs() {
        let table = [
            ("write a class called tide table", "write a class called TideTable"),
            ("a constant named max open files", "a constant named MAX_OPEN_FILES"),
            (
                "a rust function called parse header that returns a tuple",
                "a rust function called parse_header that returns a tuple",
            ),
            (
                "a variable called row count and a struct called page cache",
                "a variable called rowCount and a struct called PageCache",
            ),
            ("call it load pages in ruby", "call it load_pages in ruby"),
            ("a method called slow breathing for that", "a method called slow breathing for that"),
            ("a function called by the scheduler", "a function called by the scheduler"),
            ("a variable called count", "a variable called count"),
        ];
        for (raw, text) in table {
            let options = CleanupOptions { preset: Preset::Code, language: Some("en".into()), ..Default::default() };
            assert_eq!(clean(raw, &options).unwrap().text, text, "{raw}");
        }
        let options = CleanupOptions::default();
        let plain = clean("it was a class called river ecology", &options).unwrap().text;
        assert_eq!(plain, "It was a class called river ecology.");
        let sure = clean("we need a typescript function called load pages", &options).unwrap().text;
        assert_eq!(sure, "We need a TypeScript function called loadPages.");
    }
}
