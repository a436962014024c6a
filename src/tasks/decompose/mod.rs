//! Three to seven small steps towards a task.
//!
//! Of many tasks it is known how they are done: [`known_steps`] tells their kind, and the model chooses among steps that are
//! right by construction. For others it has to write. A small model asked once repeats itself, comments or drifts; so it is
//! shown two answers, held to a grammar in which every step begins with a verb and stays short, and asked a few times;
//! [`quality`] says which answer is worth keeping, and whether any is. A larger model can be asked freely.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use super::cleanup::case::upper_first;
use super::cleanup::lexicon::{is_determiner, is_function_word, is_subject};
use super::extract::verbs::{self, Verb};
use super::feedback::{FeedbackExample, build_conditioned_system_prompt};
use super::prompt::{DECOMPOSE_TASK, Prompt};
use super::{Message, Role, reader};
use crate::Result;
use crate::error::{Error, ErrorKind};

mod schemes;

pub use schemes::{TEXT as SCHEMES, steps as known_steps};

/// Counts up with every change of how a task's kind is told, or of how answers are judged.
pub const RULES_VERSION: u32 = 1;

/// How many steps an answer has.
pub const STEPS: RangeInclusive<usize> = 3..=7;

/// The most tokens that an answer may take: seven sentences of some thirty tokens.
pub const MAX_TOKENS: usize = 256;

/// An answer of this [`quality`] is kept at once.
pub const GOOD: f32 = 0.9;
/// An answer of less [`quality`] is no answer.
pub const USABLE: f32 = 0.5;
/// Two steps that share more of their words than this say the same.
const ALIKE: f32 = 0.6;
/// The most words in a step that is short.
const SHORT_WORDS: usize = 12;

/// Verbs with which a model begins a remark, and no step.
const COMMENTS: [&str; 2] = ["note", "remember"];

/// Tasks and good steps towards them, which show a model the form. None of their words may come back in an answer to
/// another task.
const SHOWN: [(&str, [&str; 4]); 2] = [
    (
        "plant an apple tree",
        ["Buy a young apple tree", "Dig a wide hole", "Set the tree in the hole", "Water the roots well"],
    ),
    (
        "write a thank-you letter",
        ["Find paper and a pen", "List three things to thank for", "Write the letter", "Post it at the corner"],
    ),
];

/// The conversation that asks a model freely for steps towards `task`, in the style of `examples`.
pub fn messages(task: &str, examples: &[FeedbackExample]) -> Vec<Message> {
    Prompt::ask(build_conditioned_system_prompt(DECOMPOSE_TASK.text, examples), task)
}

/// The conversation that shows a small model what is wanted and asks it for steps towards `task`.
pub fn guided_messages(task: &str, examples: &[FeedbackExample]) -> Vec<Message> {
    let mut messages = Prompt::ask(build_conditioned_system_prompt(DECOMPOSE_TASK.text, examples), task);
    let shown = SHOWN.iter().flat_map(|(task, steps)| {
        let answer = format!("[\"{}\"]", steps.join("\", \""));
        [(Role::User, (*task).to_owned()), (Role::Assistant, answer)]
    });
    messages.splice(1..1, shown.map(|(role, content)| Message { role, content }));
    messages
}

/// The GBNF grammar of a free answer: an array of three to seven strings.
pub const fn grammar() -> &'static str {
    include_str!("../../../grammars/task-array.gbnf")
}

/// The GBNF grammar of a guided answer: three to seven short steps, each beginning with a verb of doing.
pub fn guided_grammar() -> &'static str {
    static GRAMMAR: LazyLock<String> = LazyLock::new(|| {
        let doing = verbs::all().into_iter().filter(|verb| !COMMENTS.contains(verb));
        let verbs: Vec<String> = doing.map(|verb| format!("\"{}\"", upper_first(verb))).collect();
        let line = |line: &str| match line.strip_prefix("verb ::= ") {
            Some(_) => format!("verb ::= {}\n", verbs.join(" | ")),
            None => format!("{line}\n"),
        };
        include_str!("../../../grammars/steps.gbnf").lines().map(line).collect()
    });
    &GRAMMAR
}

/// # Errors
/// `invalid-argument` for a task without a letter: nothing could be a step towards it.
pub fn check(task: &str) -> Result<()> {
    match task.chars().any(char::is_alphabetic) {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::InvalidArgument, "the task to decompose has no words")),
    }
}

/// The steps in an answer, trimmed and in order.
///
/// # Errors
/// [`ErrorKind::InvalidStructuredOutput`](crate::ErrorKind::InvalidStructuredOutput) with the raw answer when it is not
/// a JSON array of strings, or when it has too few or too many [`STEPS`] once empty ones and second copies are dropped:
/// a list is never padded.
pub fn read(raw: &str) -> Result<Vec<String>> {
    let steps = reader::strings(raw)?;
    if !STEPS.contains(&steps.len()) {
        let (fewest, most) = (STEPS.start(), STEPS.end());
        return Err(reader::unreadable(raw, format!("{} distinct steps, not {fewest} to {most}", steps.len())));
    }
    Ok(steps)
}

/// The error for answers of which none is usable, with the last one kept.
pub fn unusable(raw: &str) -> Error {
    reader::unreadable(raw, "no answer held usable steps")
}

/// `steps` without those that say what an earlier one says, what the task says, or what the model was shown, and without
/// those that stop in the middle.
pub fn prune(task: &str, steps: Vec<String>) -> Vec<String> {
    let task_words = content(&words_of(task));
    let mut kept: Vec<(String, Vec<String>)> = vec![];
    for step in steps {
        let words = words_of(&step);
        let told = kept.iter().any(|(_, other)| shared(&words, other) > ALIKE);
        if !told && !is_shown(&words) && !is_cut(&words) && shared(&content(&words), &task_words) <= 0.99 {
            kept.push((step, words));
        }
    }
    kept.into_iter().map(|(step, _)| step).collect()
}

/// How good `steps` are as steps towards `task`, 0 to 1: distinct, short, imperative, and about it.
pub fn quality(task: &str, steps: &[String]) -> f32 {
    if !STEPS.contains(&steps.len()) {
        return 0.0;
    }
    let words: Vec<Vec<String>> = steps.iter().map(|step| words_of(step)).collect();
    let task_words = content(&words_of(task));
    let mut quality = 1.0_f32;
    for (i, step) in words.iter().enumerate() {
        let imperative = step.first().is_some_and(|word| verbs::verb(word).is_some());
        quality -= if imperative { 0.0 } else { 0.2 };
        quality -= if (2..=SHORT_WORDS).contains(&step.len()) { 0.0 } else { 0.15 };
        // "Release date" names a thing.
        let names = step.len() == 2 && step.first().is_some_and(|word| verbs::verb(word) == Some(Verb::Ambiguous));
        quality -= if names { 0.1 } else { 0.0 };
        quality -= if is_cut(step) { 0.3 } else { 0.0 };
        let nearest = words[..i].iter().map(|other| shared(step, other)).fold(0.0, f32::max);
        quality -= if nearest > ALIKE { 0.6 } else { 0.3 * (nearest - 0.3).max(0.0) };
        // The task itself is no step towards it.
        quality -= if shared(&content(step), &task_words) > 0.99 { 0.15 } else { 0.0 };
        // Beginning every step with the same verb is a list of one thing.
        quality -= if i > 1 && step.first() == words[i - 1].first() { 0.1 } else { 0.0 };
        quality -= if is_shown(step) { 0.5 } else { 0.0 };
    }
    let all: Vec<String> = words.concat();
    let kin = task_words.iter().filter(|word| all.iter().any(|other| is_kin(word, other))).count();
    quality -= match () {
        () if task_words.is_empty() => 0.0,
        () if kin == 0 => 0.6,
        // Of all that the task names, the steps should name the most.
        () if 2 * kin < task_words.len() => 0.25,
        () if !task_words.iter().any(|word| all.contains(word)) => 0.15,
        () => 0.0,
    };
    quality.clamp(0.0, 1.0)
}

fn is_shown(step: &[String]) -> bool {
    SHOWN.iter().any(|(_, shown)| shown.iter().any(|shown| words_of(shown) == *step))
}

/// Whether a step stops before it is said: after a word that needs another, or where the grammar allows no more.
fn is_cut(step: &[String]) -> bool {
    let open = |word: &String| {
        let word = word.as_str();
        is_determiner(word) && !matches!(word, "this" | "that" | "these" | "those" | "all" | "both" | "each" | "her")
            || matches!(word, "but" | "so" | "because" | "if" | "when" | "while")
            || is_subject(word) && !matches!(word, "you" | "it")
            || matches!(word, "to" | "of" | "for" | "with" | "from" | "at" | "into" | "by" | "about" | "and" | "or")
            || matches!(
                word,
                "very" | "such" | "your" | "their" | "is" | "are" | "was" | "be" | "that's" | "as" | "than"
            )
    };
    step.len() >= SHORT_WORDS || step.last().is_some_and(open)
}

fn words_of(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn content(words: &[String]) -> Vec<String> {
    words.iter().filter(|word| !is_function_word(word)).cloned().collect()
}

/// The words that two texts share, as a part of all their different words.
fn shared(a: &[String], b: &[String]) -> f32 {
    let (a, b): (HashSet<_>, HashSet<_>) = (a.iter().collect(), b.iter().collect());
    let all = a.union(&b).count();
    if all == 0 { 0.0 } else { a.intersection(&b).count() as f32 / all as f32 }
}

/// Whether two words are forms of one: alike, or with a long common beginning.
fn is_kin(a: &str, b: &str) -> bool {
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    a == b || common >= 4 && common + 3 >= a.chars().count().max(b.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::Grammar;

    fn steps(steps: &[&str]) -> Vec<String> {
        steps.iter().map(|step| (*step).to_owned()).collect()
    }

    #[test]
    fn good_steps_are_good_and_others_are_not() {
        let task = "clean the garage";
        let good = ["Sort the boxes", "Sweep the garage floor", "Take the rubbish to the tip"];
        assert!(quality(task, &steps(&good)) >= GOOD);
        for bad in [
            &["Sort the boxes", "Sort the boxes now", "Sort all the boxes"][..],
            &["Boil the eggs", "Chop the onions", "Serve with bread"],
            &["The garage is big", "It has boxes", "You are done"],
            &["Sweep the garage", "Done"],
            &["Dig a wide hole", "Water the roots well", "Sweep the garage"],
        ] {
            assert!(quality(task, &steps(bad)) < USABLE, "{bad:?}: {}", quality(task, &steps(bad)));
        }
    }

    #[test]
    fn a_step_that_stops_in_the_middle_is_dropped() {
        for cut in [
            "Sort the",
            "Ask for help with",
            "Sweep the floor and",
            "Put the boxes in the corner of the garage and sweep the floor",
        ] {
            assert_eq!(prune("clean the garage", steps(&["Open the door", cut])), ["Open the door"], "{cut}");
            assert!(
                quality("clean the garage", &steps(&["Sort the boxes", cut, "Wash the garage floor"])) < GOOD,
                "{cut}"
            );
        }
        for whole in ["Turn the light on", "Throw it all away", "Put everything in", "Ask her", "Sort this"] {
            assert_eq!(prune("clean the garage", steps(&[whole])), [whole]);
        }
    }

    #[test]
    fn what_is_told_twice_is_told_once() {
        let told = ["Sort the boxes", "Clean the garage", "Sort the boxes now", "Dig a wide hole", "Sweep the floor"];
        assert_eq!(prune("clean the garage", steps(&told)), ["Sort the boxes", "Sweep the floor"]);
    }

    #[test]
    fn the_guided_grammar_is_a_part_of_the_free_one() {
        let (guided, free) = (Grammar::parse(guided_grammar()).unwrap(), Grammar::parse(grammar()).unwrap());
        for (_, shown) in SHOWN {
            let answer = format!("[\"{}\"]", shown.join("\", \""));
            assert!(guided.matches(answer.as_bytes()) && free.matches(answer.as_bytes()), "{answer}");
            assert_eq!(read(&answer).unwrap().len(), 4);
        }
        for outside in [
            r#"["Buy milk", "Buy eggs"]"#,
            r#"["The milk", "Buy eggs", "Buy it all"]"#,
            r#"["1. Buy milk", "Buy eggs", "Buy it all"]"#,
            r#"["Buy", "Buy eggs", "Buy it all"]"#,
        ] {
            assert!(!guided.matches(outside.as_bytes()), "{outside}");
        }
    }

    #[test]
    fn a_task_without_words_is_refused() {
        for task in ["", "  \n", "123", "?!", "😀"] {
            assert_eq!(check(task).unwrap_err().kind(), ErrorKind::InvalidArgument, "{task:?}");
        }
        check("aufräumen").unwrap();
    }
}
