//! One topic and one intent for a note.
//!
//! [`Intent::ALL`] is the only home of the set of intents: the grammar's rule is made from it.
//!
//! A large model is asked freely, under [`grammar`]. For a small one, rules narrow the question: [`topic_candidates`]
//! from the note's own words, [`intent_cues`] from what it says, and [`grammar_for`] of both.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::prompt::{CONTENT_TAGS, Prompt};
use super::{Message, reader};
use crate::Result;

mod intent;
mod topic;

pub use intent::intent_cues;
pub use topic::topic_candidates;

/// An intent that is at least so probable by its cues is settled.
pub const SURE: f32 = 0.75;
/// An intent that is less probable by its cues is out of the question.
const EXCLUDED: f32 = 0.05;

/// The most tokens that an answer may take. The grammar bounds the topic, so this never cuts a good answer.
pub const MAX_TOKENS: usize = 96;

/// The most hyphen-joined words in a topic.
const TOPIC_WORDS: usize = 3;
/// The most bytes in a topic.
const TOPIC_BYTES: usize = 64;

/// What a note is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Intent {
    Planning,
    Reflection,
    Venting,
    Capture,
    Decision,
    Question,
}

impl Intent {
    /// The closed set, in the order of the grammar.
    pub const ALL: [Self; 6] =
        [Self::Planning, Self::Reflection, Self::Venting, Self::Capture, Self::Decision, Self::Question];

    /// The word that stands for the intent in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::Reflection => "reflection",
            Self::Venting => "venting",
            Self::Capture => "capture",
            Self::Decision => "decision",
            Self::Question => "question",
        }
    }
}

/// A note's topic and intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tag {
    /// One to three lower-case words joined by hyphens.
    pub topic: String,
    pub intent: Intent,
}

/// The conversation that asks for the tag of `note`.
pub fn messages(note: &str) -> Vec<Message> {
    Prompt::ask(CONTENT_TAGS.text.to_owned(), note)
}

/// The GBNF grammar of an answer: the checked-in file with its rule for intents made from [`Intent::ALL`].
pub fn grammar() -> &'static str {
    static GRAMMAR: LazyLock<String> = LazyLock::new(|| {
        let line = |line: &str| match line.split_once("::=") {
            Some((name, _)) if name.trim() == "intent" => format!("{name}::= {}\n", intent_alternatives()),
            _ => format!("{line}\n"),
        };
        FILE.lines().map(line).collect()
    });
    &GRAMMAR
}

const FILE: &str = include_str!("../../../grammars/content-tags.gbnf");

/// `"\"planning\"" | "\"reflection\"" | …`
fn intent_alternatives() -> String {
    Intent::ALL.map(|intent| format!(r#""\"{}\"""#, intent.as_str())).join(" | ")
}

/// The GBNF text of the answers that suit `note`: a topic of its [`topic_candidates`], or any topic where there is none,
/// and an intent that its [`intent_cues`] do not exclude, or the one that they settle. The language is a part of
/// [`grammar`]'s, without a choice of blanks.
pub fn grammar_for(note: &str) -> String {
    let either = |texts: Vec<&str>| {
        let literals: Vec<_> = texts.iter().map(|text| format!(r#""\"{text}\"""#)).collect();
        literals.join(" | ")
    };
    let cues = intent_cues(note);
    let settled = cues.iter().any(|&p| p >= SURE);
    let least = if settled { SURE } else { EXCLUDED };
    let intents =
        Intent::ALL.iter().zip(cues).filter(|(_, p)| *p >= least).map(|(intent, _)| intent.as_str()).collect();
    let topics = topic_candidates(note);
    let topic = match topics.is_empty() {
        true => FILE
            .lines()
            .filter(|line| line.starts_with("topic ") || line.starts_with("more "))
            .collect::<Vec<_>>()
            .join("\n"),
        false => format!("topic ::= {}", either(topics.iter().map(String::as_str).collect())),
    };
    let intent = either(intents);
    format!("root ::= \"{{\\\"topic\\\":\" topic \",\\\"intent\\\":\" intent \"}}\"\n{topic}\nintent ::= {intent}\n")
}

/// The tag in an answer.
///
/// # Errors
/// [`ErrorKind::InvalidStructuredOutput`](crate::ErrorKind::InvalidStructuredOutput) with the raw answer when it is not
/// an object of exactly a topic and an intent, when the intent is not one of [`Intent::ALL`], or when the topic is not
/// one to three lower-case words joined by hyphens.
pub fn read(raw: &str) -> Result<Tag> {
    let tag: Tag = reader::json(raw)?;
    if !is_topic(&tag.topic) {
        return Err(reader::unreadable(raw, "the topic is not one to three lower-case words joined by hyphens"));
    }
    Ok(tag)
}

fn is_topic(topic: &str) -> bool {
    let word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    topic.len() <= TOPIC_BYTES && topic.split('-').count() <= TOPIC_WORDS && topic.split('-').all(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_the_grammar_agrees_with_the_closed_set() {
        assert_eq!(grammar(), FILE, "grammars/content-tags.gbnf is out of step with Intent::ALL");
    }

    #[test]
    fn the_prompt_names_every_intent() {
        for intent in Intent::ALL {
            assert!(CONTENT_TAGS.text.contains(intent.as_str()));
            assert_eq!(serde_json::to_string(&intent).unwrap(), format!("\"{}\"", intent.as_str()));
        }
    }
}
