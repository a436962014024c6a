//! Topics that a note can have, in its own words.
//!
//! Runs of nouns, and of adjectives before them, are [proposed](propose_topics); each proposal has [`FEATURES`], and the weights that
//! `npm run fit-tags` found for them say how much speaks for it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::explain::{Likelihood, softmax};
use super::is_topic;
use crate::tasks::extract::clauses::{Pause, Reader};

mod features;
mod parts;

pub use features::FEATURES;
use features::{Place, features};
use parts::{Part, part, word_of};

/// Counts up with every change of the lists, of the weights or of the question.
pub const TOPICS_VERSION: u32 = 2;

/// Notes and their topics: what a model reads before the note whose topic it weighs.
pub const TOPICS_SHOWN: &str = include_str!("../words/shown.txt").trim_ascii_end();

/// The share of a topic with which rules alone settle it.
const SETTLED: f32 = 0.5;
/// Among so many topics a model chooses: more of them make it no better.
pub const SHORTLIST: usize = 2;
/// So many words of a note are enough for the choice.
pub const QUESTION_WORDS: usize = 24;
/// The most candidates.
pub(super) const MAX_CANDIDATES: usize = 12;
/// The most words in a topic.
const MAX_WORDS: usize = 3;
/// The most characters in a word of a topic, by the grammar.
const MAX_WORD: usize = 16;
/// Beyond so many bytes a note says nothing new about its topic.
const MAX_BYTES: usize = 16 << 10;

/// A topic that a note can have.
#[derive(Clone, Debug, PartialEq)]
pub struct Topic {
    /// One to three words in small letters, joined by hyphens.
    pub name: String,
    /// How much speaks for it, above 0.
    pub score: f32,
}

/// A topic before it is weighed.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    pub name: String,
    /// In the order of [`FEATURES`]; the mean over all places where the note has these words.
    pub features: [f32; FEATURES.len()],
}

/// The names of [`topics`].
pub fn topic_candidates(text: &str) -> Vec<String> {
    topics(text).into_iter().map(|topic| topic.name).collect()
}

/// The topics that `text` can have, likeliest first, at most twelve: one to three of its own words, in small letters and
/// joined by hyphens. None where no word could name anything, or none is written in a to z.
pub fn topics(text: &str) -> Vec<Topic> {
    judge_topics(ranked(text, MAX_CANDIDATES), &[])
}

/// Those of [`propose_topics`] among which a model has to choose, likeliest by rules first.
pub fn shortlist(text: &str) -> Vec<Proposal> {
    ranked(text, SHORTLIST)
}

fn ranked(text: &str, most: usize) -> Vec<Proposal> {
    let mut proposals = TopicWeights::of_rules().rank(propose_topics(text));
    proposals.truncate(most);
    proposals
}

/// Whether rules alone leave it open which of `topics` it is.
pub fn in_doubt(topics: &[Topic]) -> bool {
    topics.len() > 1 && first(topics).is_some_and(|best| best.score < SETTLED)
}

/// The topics that are proposed, likeliest first, with their shares of 1: by rules, and by how likely a model finds the
/// [text](topic_text) of each after the [question](topic_question), where it was asked.
pub fn judge_topics(proposals: Vec<Proposal>, found: &[Likelihood]) -> Vec<Topic> {
    let weights = if found.is_empty() { TopicWeights::of_rules() } else { TopicWeights::with_model() };
    weights.judge(proposals, found)
}

/// What a model reads after [`TOPICS_SHOWN`] and before a topic: the first `words` words of a note, at most
/// [`QUESTION_WORDS`].
pub fn topic_question(note: &str, words: usize) -> String {
    let words = note.split_whitespace().take(words.min(QUESTION_WORDS)).flat_map(|word| [" ", word]);
    format!("{}\nTopic:", words.collect::<String>())
}

/// What a model is asked to weigh: a topic and the end of its line.
pub fn topic_text(name: &str) -> String {
    format!(" {}\n", name.replace('-', " "))
}

/// Every run of one to three words that could name what `text` is about, in the order in which they come up.
pub fn propose_topics(text: &str) -> Vec<Proposal> {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let mut reader = Reader::new();
    while reader.read(text) {}
    let tokens = reader.finish();
    let parts: Vec<Option<Part>> = (0..tokens.len()).map(|i| part(&tokens, i)).collect();
    let mut proposals: Vec<Proposal> = vec![];
    let mut counts = vec![];
    let mut known = HashMap::<String, usize>::new();
    let mut runs = 0;
    let mut i = 0;
    while i < tokens.len() {
        let start = i;
        while parts.get(i).is_some_and(Option::is_some) && (i == start || tokens[i - 1].pause == Pause::None) {
            i += 1;
        }
        if i == start {
            i += 1;
            continue;
        }
        runs += 1;
        for first in start..i {
            for end in first + 1..=i.min(first + MAX_WORDS) {
                let name = tokens[first..end].iter().map(word_of).collect::<Vec<_>>().join("-");
                if parts[end - 1] != Some(Part::Noun) || !is_name(&name) {
                    continue;
                }
                let place = Place { tokens: &tokens, parts: &parts, first, end, run: start..i, runs };
                let features = features(&place);
                let at = *known.entry(name.clone()).or_insert_with(|| {
                    proposals.push(Proposal { name, features: [0.0; FEATURES.len()] });
                    counts.push(0.0_f32);
                    proposals.len() - 1
                });
                counts[at] += 1.0;
                for (sum, feature) in proposals[at].features.iter_mut().zip(features) {
                    *sum += feature;
                }
            }
        }
    }
    for (proposal, count) in proposals.iter_mut().zip(counts) {
        proposal.features.iter_mut().for_each(|sum| *sum /= count);
        proposal.features[features::AGAIN] = count.ln();
    }
    proposals
}

fn is_name(name: &str) -> bool {
    let letters = name.starts_with(|c: char| c.is_ascii_lowercase());
    letters && name.len() >= 3 && is_topic(name) && name.split('-').all(|word| word.len() <= MAX_WORD)
}

/// How much each feature of a proposal counts, and a model's opinion, fitted by `npm run fit-tags`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopicWeights {
    /// Those of [`FEATURES`], by name; one that is not there counts nothing.
    pub features: BTreeMap<String, f32>,
    /// Of the logarithm of a topic's probability after the note.
    pub likelihood: f32,
    /// Of each token of the topic: longer ones are less likely by that alone.
    pub tokens: f32,
}

impl TopicWeights {
    fn of_rules() -> &'static Self {
        &WEIGHTS[0]
    }

    fn with_model() -> &'static Self {
        &WEIGHTS[1]
    }

    /// How much speaks for `proposal`.
    fn score(&self, proposal: &Proposal, found: Option<&Likelihood>) -> f32 {
        let weight = |name: &str| self.features.get(name).copied().unwrap_or(0.0);
        let rules: f32 = FEATURES.iter().zip(proposal.features).map(|(name, value)| weight(name) * value).sum();
        let opinion = |found: &Likelihood| self.likelihood * found.log_probability + self.tokens * found.tokens as f32;
        rules + found.map_or(0.0, opinion)
    }

    /// `proposals` by what speaks for them without a model, most first.
    pub fn rank(&self, proposals: Vec<Proposal>) -> Vec<Proposal> {
        let scored = |proposal: Proposal| (self.score(&proposal, None), proposal);
        let mut proposals: Vec<(f32, Proposal)> = proposals.into_iter().map(scored).collect();
        proposals.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        proposals.into_iter().map(|(_, proposal)| proposal).collect()
    }

    /// The topics that are proposed with their shares of 1, likeliest first; `found` is in the order of `proposals`, or empty.
    pub fn judge(&self, proposals: Vec<Proposal>, found: &[Likelihood]) -> Vec<Topic> {
        let scores: Vec<f32> = proposals.iter().enumerate().map(|(i, one)| self.score(one, found.get(i))).collect();
        let topic =
            |(proposal, share): (Proposal, f32)| Topic { name: proposal.name, score: share.max(f32::MIN_POSITIVE) };
        let mut topics: Vec<Topic> = proposals.into_iter().zip(softmax(&scores)).map(topic).collect();
        topics.sort_by(|a, b| b.score.total_cmp(&a.score));
        topics
    }
}

/// Of rules alone, and of rules with a model.
static WEIGHTS: LazyLock<[TopicWeights; 2]> = LazyLock::new(|| {
    let none = || TopicWeights { features: BTreeMap::new(), likelihood: 1.0, tokens: 1.0 };
    serde_json::from_str(include_str!("../words/topics.json")).unwrap_or_else(|_| [none(), none()])
});

/// A caller's topics in their order, each with how much the words of `text` speak for it.
pub fn weigh_topics(names: &[String], text: &str) -> Vec<Topic> {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let said: HashSet<String> = words_of(text).collect();
    let score = |name: &String| 0.1 + words_of(name).filter(|word| said.contains(word)).count() as f32;
    names.iter().map(|name| Topic { name: name.clone(), score: score(name) }).collect()
}

fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// The topic for which most speaks, the first of equals.
pub fn first(topics: &[Topic]) -> Option<&Topic> {
    topics.iter().reduce(|best, topic| if topic.score > best.score { topic } else { best })
}

/// What part of all that speaks for any of `topics` speaks for the one called `name`: 0 to 1.
pub fn share_of(name: &str, topics: &[Topic]) -> f32 {
    let all: f32 = topics.iter().map(|topic| topic.score).sum();
    topics.iter().find(|topic| topic.name == name).map_or(0.0, |topic| topic.score / all)
}
