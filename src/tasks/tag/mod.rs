//! One topic and one intent for a note.
//!
//! [`Intent::ALL`] is the only home of the set of intents: the grammar's rule is made from it.
//!
//! A large model is asked freely, under [`grammar`]. For a small one, rules narrow the question. The intent is what
//! [`explain`]s the note best, together with [`intent_cues`] from what it says; the topic is one of the
//! [`topic_candidates`] in its own words, by rules and model together, or one of the caller's, under [`grammar_of`].

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::prompt::{CONTENT_TAGS, Prompt};
use super::{Message, reader};
use crate::Result;
use crate::error::{Error, ErrorKind};

mod explain;
mod intent;
mod topic;

pub use explain::{
    Class, Likelihood, MAX_CLASSES, MAX_TOKENS as MAX_NOTE_TOKENS, Weights, check as check_classes, classes, judge,
    judge_classes, likeliest, standing,
};
pub use intent::intent_cues;
pub use topic::{
    FEATURES, Proposal, QUESTION_WORDS, SHORTLIST, TOPICS_SHOWN, TOPICS_VERSION, Topic, TopicWeights, first, in_doubt,
    judge_topics, propose_topics, share_of, shortlist, topic_candidates, topic_question, topic_text, topics,
    weigh_topics,
};

/// An intent that is at least so probable by its cues is settled.
pub const SURE: f32 = 0.9;
/// An intent that is less probable by its cues is not weighed: it counts as explaining the note as badly as the worst of
/// those that are.
const WEIGHED: f32 = 0.08;
/// The most intents that are weighed: each costs a pass over the note.
const MOST_WEIGHED: usize = 3;
/// A tag reads so many tokens more than its note has, and no more, whatever it weighs.
const BEYOND: usize = 8;
/// Of a long note the model reads no more than this, so that its tag comes at once too; rules see all of it.
const MOST_READ: usize = 56;

/// Counts up with every change of the classes or of their weights.
pub const INTENTS_VERSION: u32 = 5;

/// The topic of a note without a word that could name anything.
pub const UNTITLED: &str = "untitled";

/// The most topics that a caller can offer.
const MAX_TOPICS: usize = 64;

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

/// What a caller wants of a tag.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct TagOptions {
    /// Intents to tell apart in place of [`Intent::ALL`].
    pub intents: Vec<Class>,
    /// Topics to choose from in place of the note's own words.
    pub topics: Vec<String>,
}

impl TagOptions {
    /// # Errors
    /// `invalid-argument`, as [`check_classes`] for intents; for topics that are too many, empty, alike, longer than 64
    /// bytes, or hold a control character.
    pub fn check(&self) -> Result<()> {
        if !self.intents.is_empty() {
            check_classes(&self.intents)?;
        }
        let refuse = |why: String| Err(Error::new(ErrorKind::InvalidArgument, why));
        if self.topics.len() > MAX_TOPICS {
            return refuse(format!("{} topics were given and {MAX_TOPICS} are the most", self.topics.len()));
        }
        for (i, topic) in self.topics.iter().enumerate() {
            if topic.trim().is_empty() || topic.len() > TOPIC_BYTES || topic.chars().any(char::is_control) {
                return refuse(format!(
                    "topic {i} is empty, longer than {TOPIC_BYTES} bytes, or has a control character"
                ));
            }
            if self.topics[..i].contains(topic) {
                return refuse(format!("topic {i} is the same as an earlier one"));
            }
        }
        Ok(())
    }
}

/// How sure a tag is, both between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Confidence {
    #[serde(serialize_with = "super::cleanup::two_decimals")]
    pub intent: f32,
    #[serde(serialize_with = "super::cleanup::two_decimals")]
    pub topic: f32,
}

/// How many tokens a model may read for the tag of a note of `tokens` tokens, where it has read before what stays the same.
pub fn allowance(tokens: usize) -> usize {
    (tokens + BEYOND).min(MOST_READ)
}

/// Which of [`Intent::ALL`] a model has to weigh for a note with these cues, and how many of the note's tokens after each,
/// if it may read `allowance` tokens. None where the cues settle the intent.
pub fn to_weigh(cues: &[f32; 6], allowance: usize) -> Option<([bool; 6], usize)> {
    if cues.iter().any(|&p| p >= SURE) {
        return None;
    }
    let mut order: Vec<usize> = (0..cues.len()).filter(|&k| cues[k] >= WEIGHED).collect();
    order.sort_by(|&a, &b| cues[b].total_cmp(&cues[a]));
    order.truncate(MOST_WEIGHED);
    // One more is read of each: the last token of the class, which foretells the first of the note.
    let tokens = (allowance / order.len().max(1)).saturating_sub(1).min(MAX_NOTE_TOKENS);
    (order.len() > 1 && tokens > 0).then(|| (std::array::from_fn(|k| order.contains(&k)), tokens))
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

/// The GBNF text of the answers with one of `topics` and with `intent`. For topics of a note's own words and an intent of
/// [`Intent::ALL`] the language is a part of [`grammar`]'s, without a choice of blanks.
pub fn grammar_of(topics: &[String], intent: &str) -> String {
    let topics: Vec<String> = topics.iter().map(|topic| reader::literal(&json_string(topic))).collect();
    let before = reader::literal("{\"topic\":");
    let after = reader::literal(&format!(",\"intent\":{}}}", json_string(intent)));
    format!("root ::= {before} topic {after}\ntopic ::= {}\n", topics.join(" | "))
}

/// The answer of [`grammar_of`] where there is nothing to choose.
pub fn answer_of(topic: &str, intent: &str) -> String {
    format!("{{\"topic\":{},\"intent\":{}}}", json_string(topic), json_string(intent))
}

fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The topic in an answer under [`grammar_of`].
///
/// # Errors
/// [`ErrorKind::InvalidStructuredOutput`](crate::ErrorKind::InvalidStructuredOutput) with the raw answer when it is
/// anything else.
pub fn read_chosen(raw: &str, topics: &[String], intent: &str) -> Result<String> {
    let chosen = topics.iter().find(|topic| answer_of(topic, intent) == raw);
    chosen.cloned().ok_or_else(|| reader::unreadable(raw, "the answer is none of those that were offered"))
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
    fn what_is_weighed_keeps_to_what_may_be_read() {
        let cues = [0.3, 0.25, 0.2, 0.15, 0.05, 0.05];
        for tokens in [0, 1, 4, 24, 60, 400, 20_000] {
            assert!(allowance(tokens) <= MOST_READ.min(tokens + BEYOND));
            let (which, each) = to_weigh(&cues, allowance(tokens)).expect("nothing is settled");
            assert_eq!(which, [true, true, true, false, false, false]);
            assert!(each <= MAX_NOTE_TOKENS && 3 * (each + 1) <= allowance(tokens), "{each} of {tokens}");
        }
        assert_eq!(to_weigh(&[0.95, 0.01, 0.01, 0.01, 0.01, 0.01], allowance(24)), None, "settled");
        assert_eq!(to_weigh(&[0.8, 0.04, 0.04, 0.04, 0.04, 0.04], allowance(24)), None, "no other is in question");
        assert_eq!(to_weigh(&cues, 5), None, "no room");
    }

    #[test]
    fn the_prompt_names_every_intent() {
        for intent in Intent::ALL {
            assert!(CONTENT_TAGS.text.contains(intent.as_str()));
            assert_eq!(serde_json::to_string(&intent).unwrap(), format!("\"{}\"", intent.as_str()));
        }
    }
}
