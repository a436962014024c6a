//! Steps that are right by construction: how tasks of one kind are done, filled with the words of the task at hand.
//!
//! A small model that writes steps drifts, repeats itself and stops in the middle. What kind of task it is, and what it is
//! about, rules can tell from its verb and its nouns; `schemes.txt` has the steps of each kind. Some of them are always
//! right, of the others the model takes those that fit. A task of no kind that is known here is the model's to write.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::cleanup::case::upper_first;
use super::super::cleanup::lexicon::{
    self, is_auxiliary, is_conjunction, is_determiner, is_function_word, is_preposition, is_wh,
};
use super::super::extract::Candidate;
use super::super::extract::clauses::{Pause, Reader, Token};
use super::super::extract::cues::is_adverb;
use super::super::extract::syntax::Keys;
use super::super::extract::times::time_phrase;

/// The kinds of tasks and their steps, as they are written down.
pub const TEXT: &str = include_str!("schemes.txt");

/// More words are no name of a thing.
const MAX_OBJECT: usize = 7;
/// The most words of a task that a step repeats whole.
const MAX_TASK: usize = 8;
/// How sure a step is that is always one, and one that the model may take.
const ALWAYS: f32 = 1.0;
const PERHAPS: f32 = 0.5;

/// A kind of task, and how it is done.
#[derive(Debug, Default)]
struct Scheme {
    both: Vec<(Vec<&'static str>, Vec<&'static str>)>,
    with: Vec<(Vec<&'static str>, Vec<&'static str>)>,
    nouns: Vec<&'static str>,
    verbs: Vec<&'static str>,
    some: Vec<&'static str>,
    steps: Vec<(bool, &'static str)>,
}

static SCHEMES: LazyLock<Vec<Scheme>> = LazyLock::new(|| {
    let mut schemes: Vec<Scheme> = vec![];
    for line in TEXT.lines() {
        let Some((kind, rest)) = line.split_once(' ') else { continue };
        let words = |list: &'static str| list.split_ascii_whitespace().collect::<Vec<_>>();
        if kind == "=" {
            schemes.push(Scheme::default());
        }
        let Some(scheme) = schemes.last_mut() else { continue };
        match kind {
            "both" | "with" => {
                let (verbs, nouns) = rest.split_once('|').unwrap_or((rest, ""));
                let pairs = if kind == "both" { &mut scheme.both } else { &mut scheme.with };
                pairs.push((words(verbs), words(nouns)));
            }
            "noun" => scheme.nouns.extend(words(rest)),
            "verb" => scheme.verbs.extend(words(rest)),
            "some" => scheme.some.extend(words(rest)),
            "!" | "?" => scheme.steps.push((kind == "!", rest)),
            _ => {}
        }
    }
    schemes
});

/// Every verb with which a task of a known kind can begin.
static VERBS: LazyLock<HashMap<&'static str, ()>> = LazyLock::new(|| {
    let of = |scheme: &'static Scheme| {
        let both = scheme.both.iter().chain(&scheme.with).flat_map(|(verbs, _)| verbs);
        both.chain(&scheme.verbs).chain(&scheme.some).map(|verb| (*verb, ())).collect::<Vec<_>>()
    };
    SCHEMES.iter().flat_map(of).collect()
});

/// What rules see of a task.
#[derive(Debug, PartialEq)]
struct Parsed {
    verbs: Vec<String>,
    /// The words that name what it is about, with their determiner, as they are spelled.
    object: Vec<String>,
    /// The word that says what kind of thing it is.
    head: String,
    /// Every word of the task.
    words: Vec<String>,
    about: Option<String>,
    task: String,
}

/// The steps of a task whose kind is known, in their order: those that are [sure](Candidate::is_sure) are always among
/// them, of the others a model chooses. None for a task of another kind, or of more than one.
pub fn steps(task: &str) -> Option<Vec<Candidate>> {
    let parsed = parse(task)?;
    let best = SCHEMES.iter().map(|scheme| (scheme.fits(&parsed), scheme)).filter(|(fit, _)| *fit > 0);
    // Of equals the first.
    let (_, scheme) = best.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
    let step = |(always, text): &(bool, &str)| {
        let task = upper_first(&fill(text, &parsed)?);
        Some(Candidate { task, start: 0, end: 0, confidence: if *always { ALWAYS } else { PERHAPS } })
    };
    Some(scheme.steps.iter().filter_map(step).collect())
}

impl Scheme {
    /// How well the scheme fits a task; 0 if not at all.
    fn fits(&self, task: &Parsed) -> u8 {
        let has_verb = |verbs: &[&str]| task.verbs.iter().any(|verb| verbs.contains(&&**verb));
        let is_one = |word: &str, nouns: &[&str]| forms(word).any(|form| nouns.contains(&&*form));
        // "my half of the report": either may say what it is.
        let last = task.object.last().map(|word| word.to_lowercase()).unwrap_or_default();
        let is_head = |nouns: &[&str]| is_one(&task.head, nouns) || is_one(&last, nouns);
        let named = |nouns: &[&str]| task.words.iter().any(|word| is_one(word, nouns));
        let both = self.both.iter().any(|(verbs, nouns)| has_verb(verbs) && is_head(nouns));
        let with = self.with.iter().any(|(verbs, nouns)| has_verb(verbs) && named(nouns));
        match () {
            () if both => 5,
            () if with => 4,
            () if is_head(&self.nouns) => 3,
            () if has_verb(&self.verbs) => 2,
            () if has_verb(&self.some) && task.is_indefinite() => 2,
            () => 0,
        }
    }
}

/// A word, and what it is in the singular.
fn forms(word: &str) -> impl Iterator<Item = String> {
    let ending = |end: &str, put: &str| word.strip_suffix(end).map(|stem| format!("{stem}{put}"));
    [Some(word.to_owned()), ending("s", ""), ending("es", ""), ending("ies", "y"), ending("'s", "")]
        .into_iter()
        .flatten()
}

impl Parsed {
    fn is_indefinite(&self) -> bool {
        self.object.first().is_some_and(|word| matches!(&*word.to_lowercase(), "a" | "an" | "some" | "another" | "new"))
    }

    /// The thing as one that is known.
    fn the(&self) -> String {
        let known = |word: &str| matches!(&*word.to_lowercase(), "a" | "an" | "some" | "another" | "any");
        match self.object.split_first() {
            Some((first, rest)) if known(first) => format!("the {}", rest.join(" ")),
            _ => self.object.join(" "),
        }
    }

    /// The pronoun that stands for it.
    fn it(&self) -> &'static str {
        let first = self.object.first().map(|word| word.to_lowercase()).unwrap_or_default();
        let single = matches!(&*first, "a" | "an" | "this" | "that" | "another");
        let plural = self.head.ends_with('s') && !["ss", "us", "is"].iter().any(|end| self.head.ends_with(end));
        if !single && (plural || matches!(&*self.head, "people" | "children" | "kids")) { "them" } else { "it" }
    }
}

/// `step` with its slots filled; none if the task has nothing for one of them.
fn fill(step: &str, task: &Parsed) -> Option<String> {
    let mut text = step.replace("{the}", &task.the()).replace("{it}", task.it());
    if text.contains("{task}") {
        text = text.replace("{task}", &task.task);
    }
    if text.contains("{about}") {
        text = text.replace("{about}", task.about.as_deref()?);
    }
    Some(text)
}

/// What `task` says is to be done, and to what. None where no verb of a scheme begins it, where it names nothing, and where
/// it asks for two things.
fn parse(task: &str) -> Option<Parsed> {
    let mut reader = Reader::new();
    while reader.read(task) {}
    let tokens = reader.finish();
    let keys = Keys(&tokens);
    let is_verb = |i: usize| VERBS.contains_key(keys.at(i));
    let at = (0..tokens.len()).find(|&i| is_verb(i) && !is_noun_there(keys, i))?;
    let mut verbs = vec![keys.at(at).to_owned()];
    let mut i = at + 1;
    while matches!(keys.at(i), "and" | "or") && is_verb(i + 1) {
        verbs.push(keys.at(i + 1).to_owned());
        i += 2;
    }
    let begin = object_begin(&tokens, i);
    let end = object_end(&tokens, begin);
    // What follows after "and" is another task, if a verb of doing begins it.
    let second = (end..tokens.len()).any(|k| {
        let joined = matches!(keys.at(k), "and" | "then") || tokens[k].pause > Pause::None;
        joined && is_verb(k + 1) && (is_determiner(keys.at(k + 2)) || lexicon::is_pronoun(keys.at(k + 2)))
    });
    if second {
        return None;
    }
    let spelled = |range: std::ops::Range<usize>| range.map(|k| spell(task, &tokens[k])).collect::<Vec<_>>();
    let object = spelled(begin..end);
    let head = (begin..end).take_while(|&k| keys.at(k) != "of").last().map(|k| keys.at(k).to_owned())?;
    let says =
        |key: &str| !is_function_word(key) && !is_adverb(key) && !matches!(key, "more" | "less" | "much" | "better");
    let names = (begin..end).any(|k| says(keys.at(k)));
    if !names || object.len() > MAX_OBJECT || object.concat().chars().any(|c| c == '"' || c == '\\' || c.is_control()) {
        return None;
    }
    let about = (end..tokens.len()).find(|&k| matches!(keys.at(k), "about" | "for" | "regarding")).map(|k| {
        let stop = object_end(&tokens, k + 1);
        spelled(k + 1..stop).join(" ")
    });
    let whole = spelled(at..tokens.len().min(at + MAX_TASK));
    Some(Parsed {
        verbs,
        object,
        head,
        words: tokens[at + 1..].iter().map(|token| token.word.key.clone()).collect(),
        about: about.filter(|about| !about.is_empty()),
        task: lower_first(&whole.join(" ")),
    })
}

/// Whether a word that can be a verb is none where it stands: after a determiner, a preposition or an adjective's noun.
fn is_noun_there(keys: Keys, i: usize) -> bool {
    let before = if i > 0 { keys.at(i - 1) } else { "" };
    is_determiner(before) || is_preposition(before) && before != "to"
}

/// Where what the verb before token `i` is done to begins: after particles and the preposition that the verb takes.
fn object_begin(tokens: &[Token], mut i: usize) -> usize {
    let keys = Keys(tokens);
    let particle = |key: &str| {
        matches!(
            key,
            "up" | "out" | "off" | "back" | "down" | "away" | "through" | "over" | "round" | "around" | "ready"
        )
    };
    while particle(keys.at(i)) || is_adverb(keys.at(i)) {
        i += 1;
    }
    if is_preposition(keys.at(i)) || matches!(keys.at(i), "for" | "to" | "on" | "in" | "with" | "about" | "into") {
        i += 1;
    }
    // "find out why the page is slow"
    if is_wh(keys.at(i)) {
        i += 1;
    }
    i
}

/// Where the name of a thing that begins at token `i` ends.
fn object_end(tokens: &[Token], i: usize) -> usize {
    let keys = Keys(tokens);
    let mut k = i;
    while k < tokens.len() {
        let key = keys.at(k);
        let ends = is_preposition(key) && key != "of"
            || is_auxiliary(key)
            || is_conjunction(key)
            || is_wh(key)
            || matches!(key, "that" | "to" | "for" | "ready" | "because" | "until" | "before" | "after" | "so" | "by")
                && k > i
            || k > i && time_phrase(tokens, k).is_some() && k + 1 >= tokens.len().min(k + 2)
            || k > i && matches!(key, "today" | "tomorrow" | "tonight" | "this" | "next");
        if ends {
            break;
        }
        k += 1;
        if tokens[k - 1].pause > Pause::None {
            break;
        }
    }
    k
}

fn spell(task: &str, token: &Token) -> String {
    match lexicon::name(&token.word.key) {
        Some(name) => name.to_owned(),
        None => token.word.text(task).to_owned(),
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::super::super::extract::verbs::verb;
    use super::super::{ALIKE, STEPS, shared, words_of};
    use super::*;

    fn texts(task: &str) -> Vec<String> {
        steps(task).unwrap_or_else(|| panic!("{task}: no scheme")).into_iter().map(|step| step.task).collect()
    }

    /// As many as there may be, short, and no two alike.
    #[track_caller]
    fn assert_good(steps: &[String]) {
        assert!(STEPS.contains(&steps.len()), "{steps:?}");
        let words: Vec<_> = steps.iter().map(|step| words_of(step)).collect();
        for (i, step) in words.iter().enumerate() {
            assert!((2..=16).contains(&step.len()), "{}", steps[i]);
            assert!(words[..i].iter().all(|other| shared(step, other) <= ALIKE), "{steps:?}");
        }
    }

    #[test]
    fn every_scheme_gives_good_steps_whatever_the_model_takes() {
        for scheme in SCHEMES.iter() {
            let thing = Parsed {
                verbs: vec![],
                object: vec!["the".into(), "thing".into()],
                head: "thing".into(),
                words: vec![],
                about: Some("the noise".into()),
                task: "do the thing".into(),
            };
            let fill = |(_, step): &(bool, &str)| fill(step, &thing).expect("every slot has something");
            let all: Vec<String> = scheme.steps.iter().map(fill).collect();
            let sure: Vec<String> = scheme.steps.iter().filter(|(always, _)| *always).map(fill).collect();
            for steps in [&all, &sure] {
                assert_good(steps);
                assert!(steps.iter().any(|step| step.contains("the thing")), "{steps:?}");
            }
            for step in &all {
                let first = step.split(' ').next().unwrap_or_default().to_lowercase();
                assert!(verb(first.trim_end_matches(',')).is_some(), "{step}");
                assert!(!step.contains(['{', '}', '"', '\\']) && !step.ends_with(['.', ',']), "{step}");
            }
        }
    }

    #[test]
    fn slots_are_filled_with_the_words_of_the_task() {
        for (task, the, it) in [
            ("fix the squeaky door", "the squeaky door", "it"),
            ("I need to sell some old chairs on saturday", "the old chairs", "them"),
            ("please translate a brochure into spanish", "the brochure", "it"),
            ("write my half of the group report", "my half of the group report", "it"),
            ("prepare the monday team meeting", "the Monday team meeting", "it"),
            ("find out why checkout is slow", "checkout", "it"),
            ("apply for a library card", "the library card", "it"),
            ("clean and paint the fence before winter", "the fence", "it"),
            ("Book a table for six tomorrow", "the table", "it"),
        ] {
            let parsed = parse(task).unwrap_or_else(|| panic!("{task}: not parsed"));
            assert_eq!((parsed.the().as_str(), parsed.it()), (the, it), "{task}");
        }
    }

    #[test]
    fn rows_as_strangers_say_them_are_of_a_known_kind() {
        let rows = [
            include_str!("../../../tests/data/tasks/decompose_strangers.jsonl"),
            include_str!("../../../tests/data/tasks/decompose_fresh.jsonl"),
        ];
        let (mut known, mut all) = (0, 0);
        for row in rows.into_iter().flat_map(str::lines) {
            let row: serde_json::Value = serde_json::from_str(row).expect("JSON");
            let task = row["input"].as_str().expect("a task");
            all += 1;
            if let Some(steps) = steps(task) {
                let texts: Vec<String> = steps.into_iter().map(|step| step.task).collect();
                assert_good(&texts);
                known += 1;
            }
        }
        assert!(known * 10 >= all * 9, "{known} of {all}");
    }

    #[test]
    fn what_is_of_no_kind_or_of_two_is_left_to_the_model() {
        for task in [
            "be happy",
            "aufräumen",
            "get over it",
            "the garage",
            "buy the milk and call the bank",
            "read more",
            "settle the dispute",
            "prepare the house for guests",
        ] {
            assert_eq!(steps(task), None, "{task}");
        }
    }

    #[test]
    fn kinds_are_told_by_verb_and_noun() {
        for (task, begins) in [
            ("get the cat to the vet", "Call the vet"),
            ("fix my sleep", "Write down how things are now"),
            ("find a dentist near work", "Write down what matters most"),
            ("get a lamp", "Write down what the lamp must do"),
            ("fix the crash on the login page", "Write down the steps that lead to the crash"),
            ("fix the crack in the wall", "Look closely at the crack"),
            ("write a speech for my sister's wedding", "Write in one sentence what the speech"),
            ("plan my sister's wedding", "Choose a date"),
            ("clean the garage", "Set a timer"),
            ("clean the oven", "Get water"),
        ] {
            assert!(texts(task)[0].starts_with(begins), "{task}: {:?}", texts(task));
        }
    }
}
