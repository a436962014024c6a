//! Topics that a note can have, in its own words.

use std::collections::{HashMap, HashSet};

use super::is_topic;
use crate::tasks::cleanup::lexicon::{
    is_determiner, is_function_word, is_month, is_number_word, is_preposition, is_subject, is_weekday, is_wh,
};
use crate::tasks::cleanup::words::Shape;
use crate::tasks::extract::clauses::{Pause, Reader, Token};
use crate::tasks::extract::cues::is_adverb;
use crate::tasks::extract::imperative::{Object, right_of};
use crate::tasks::extract::syntax::{Keys, is_finite, is_interjection, is_name};
use crate::tasks::extract::verbs::{Verb, is_remark, is_speech, verb};

/// The most candidates.
pub(super) const MAX_CANDIDATES: usize = 12;
/// The most characters in a word of a topic, by the grammar.
const MAX_WORD: usize = 16;
/// Beyond so many bytes a note says nothing new about its topic.
const MAX_BYTES: usize = 64 << 10;

/// A topic that a note can have.
#[derive(Clone, Debug, PartialEq)]
pub struct Topic {
    /// One to three words in small letters, joined by hyphens.
    pub name: String,
    /// How much speaks for it, above 0.
    pub score: f32,
}

/// The names of [`topics`].
pub fn topic_candidates(text: &str) -> Vec<String> {
    topics(text).into_iter().map(|topic| topic.name).collect()
}

/// The topics that `text` can have, likeliest first, at most twelve: one to three of its own words, in small letters and
/// joined by hyphens. None where no word could name anything, or none is written in a to z.
pub fn topics(text: &str) -> Vec<Topic> {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let mut reader = Reader::new();
    while reader.read(text) {}
    let tokens = reader.finish();
    let mut tally = Tally::default();
    let mut run: Vec<(String, f32)> = vec![];
    for i in 0..tokens.len() {
        match weight(&tokens, i) {
            Some(weight) => run.push((word_of(&tokens[i]), weight)),
            None => tally.close(&mut run, i, tokens.len()),
        }
        if tokens[i].pause > Pause::None {
            tally.close(&mut run, i, tokens.len());
        }
    }
    tally.close(&mut run, tokens.len(), tokens.len());
    tally.best()
}

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

/// Topics by score.
#[derive(Debug, Default)]
struct Tally {
    scores: HashMap<String, f32>,
    /// In the order of the note, so that equals keep it.
    order: Vec<String>,
}

impl Tally {
    /// Counts the words of a finished run of content words, and the compounds that they form.
    fn close(&mut self, run: &mut Vec<(String, f32)>, end: usize, len: usize) {
        // What a note is about tends to come up early.
        let early = 1.4 * (1.0 - end as f32 / (len + 1) as f32);
        for (n, (word, weight)) in run.iter().enumerate() {
            // The last word of a compound is its head: "break clause" is a clause.
            let head = if n + 1 == run.len() { 0.3 } else { 0.0 };
            self.add(word.clone(), weight + head + early);
        }
        for size in 2..=3 {
            for words in run.windows(size) {
                let name = words.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>().join("-");
                let mean = words.iter().map(|(_, weight)| weight).sum::<f32>() / size as f32;
                self.add(name, mean + early + if size == 2 { 0.2 } else { -0.4 });
            }
        }
        run.clear();
    }

    fn add(&mut self, topic: String, score: f32) {
        if topic.len() < 3 || !is_topic(&topic) || topic.split('-').any(|word| word.len() > MAX_WORD) {
            return;
        }
        if !topic.starts_with(|c: char| c.is_ascii_lowercase()) {
            return;
        }
        let order = &mut self.order;
        *self.scores.entry(topic).or_insert_with_key(|topic| {
            order.push(topic.clone());
            0.0
        }) += score;
    }

    fn best(self) -> Vec<Topic> {
        let Self { scores, order } = self;
        let score = |name: &String| scores.get(name).copied().unwrap_or(0.0).max(0.05);
        let mut topics: Vec<_> = order.into_iter().map(|name| Topic { score: score(&name), name }).collect();
        topics.sort_by(|a, b| b.score.total_cmp(&a.score));
        topics.truncate(MAX_CANDIDATES);
        topics
    }
}

/// The word of a topic that token stands for.
fn word_of(token: &Token) -> String {
    let key = token.word.key.as_str();
    key.strip_suffix("'s").unwrap_or(key).to_owned()
}

/// How much token `i` looks like the name of a thing; none if it does not.
fn weight(tokens: &[Token], i: usize) -> Option<f32> {
    let keys = Keys(tokens);
    let key = keys.at(i);
    let word = word_of(&tokens[i]);
    let natural = matches!(tokens[i].word.shape, Shape::Lower | Shape::Capitalised | Shape::Upper | Shape::Mixed);
    let plain = natural && !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphabetic());
    let refused = !plain
        || word.len() < 2
        || key.contains('\'') && !key.ends_with("'s")
        || is_function_word(&word)
        || is_function_word(key) && !key.ends_with("'s")
        || is_adverb(key)
        || is_interjection(key)
        || is_number_word(key)
        || is_weekday(key)
        || is_month(key)
        || is_finite(key)
        || is_speech(key)
        || is_remark(key)
        || is_vague(key)
        || (key.ends_with("ly") && key.len() > 4);
    if refused {
        return None;
    }
    let (before, two_before, next) =
        (if i > 0 { keys.at(i - 1) } else { "" }, if i > 1 { keys.at(i - 2) } else { "" }, keys.at(i + 1));
    let marked = is_determiner(before) || is_determiner(two_before) && !is_function_word(before);
    let subject = matches!(
        before,
        "i" | "we" | "you" | "they" | "he" | "she" | "to" | "i'll" | "we'll" | "don't" | "didn't" | "can't" | "not"
    );
    let verbal = (verb(key).is_some() && right_of(tokens, i) == Some(Object::Marked) || verb(key) == Some(Verb::Clear))
        && !marked;
    if subject && !marked && (verb(key).is_some() || !is_preposition(next)) && before != "to" || verbal {
        return None;
    }
    if before == "to"
        && !matches!(two_before, "trip" | "next" | "according" | "back" | "move")
        && (verb(key).is_some() || next == "the")
    {
        return None;
    }
    let mut weight = 1.0;
    if marked {
        weight += 0.8;
    }
    if matches!(before, "about" | "of" | "for") || matches!(two_before, "about" | "of" | "for") && is_determiner(before)
    {
        weight += 0.4;
    }
    if i == 0 || is_name_of_kind(key) {
        weight += 0.6;
    }
    if key.ends_with("ed") && key.len() > 3 {
        weight -= 0.8;
    }
    // "who pays", "what happens": what somebody does.
    let does = key.strip_suffix('s').is_some_and(|stem| verb(stem) == Some(Verb::Clear));
    if does && (is_wh(before) || is_subject(before) || is_name(tokens, i.wrapping_sub(1))) {
        return None;
    }
    if key.ends_with("ing") && !marked {
        weight -= 0.2;
    }
    if matches!(tokens[i].word.shape, Shape::Upper | Shape::Mixed) {
        weight += 0.3;
    }
    Some(weight)
}

/// Words that say what kind of note it is.
fn is_name_of_kind(key: &str) -> bool {
    matches!(
        key,
        "idea" | "quote" | "recipe" | "lyric" | "book" | "film" | "password" | "budget" | "trip" | "plan" | "meeting"
    )
}

/// Words that name nothing in particular.
fn is_vague(key: &str) -> bool {
    matches!(
        key,
        "thing"
            | "things"
            | "time"
            | "times"
            | "day"
            | "days"
            | "week"
            | "weeks"
            | "month"
            | "months"
            | "year"
            | "years"
            | "way"
            | "ways"
            | "lot"
            | "lots"
            | "bit"
            | "part"
            | "today"
            | "tomorrow"
            | "tonight"
            | "yesterday"
            | "morning"
            | "afternoon"
            | "evening"
            | "night"
            | "hour"
            | "hours"
            | "minute"
            | "minutes"
            | "moment"
            | "stuff"
            | "kind"
            | "sort"
            | "next"
            | "last"
            | "first"
            | "second"
            | "third"
            | "final"
            | "new"
            | "old"
            | "good"
            | "great"
            | "bad"
            | "big"
            | "small"
            | "more"
            | "less"
            | "much"
            | "many"
            | "most"
            | "least"
            | "few"
            | "own"
            | "same"
            | "other"
            | "better"
            | "best"
            | "worse"
            | "worst"
            | "right"
            | "wrong"
            | "sure"
            | "going"
            | "gone"
            | "being"
            | "having"
            | "doing"
            | "getting"
            | "making"
            | "thinking"
            | "saying"
            | "think"
            | "know"
            | "feel"
            | "want"
            | "need"
            | "really"
            | "very"
            | "too"
            | "still"
            | "again"
            | "always"
            | "never"
            | "ever"
            | "only"
            | "even"
            | "back"
            | "up"
            | "down"
            | "out"
            | "off"
            | "away"
            | "here"
            | "now"
            | "soon"
            | "later"
            | "early"
            | "late"
            | "long"
            | "short"
            | "done"
            | "made"
            | "got"
            | "get"
            | "gets"
            | "became"
            | "found"
            | "saw"
            | "seen"
            | "learned"
            | "learnt"
            | "taught"
            | "realise"
            | "realised"
            | "realize"
            | "realized"
            | "notice"
            | "noticed"
            | "looking"
            | "hindsight"
            | "nobody"
            | "somebody"
            | "anyone"
            | "someone"
            | "everybody"
            | "anybody"
            | "anything"
            | "else"
            | "maybe"
            | "perhaps"
            | "tells"
            | "tell"
            | "works"
            | "stays"
            | "takes"
            | "goes"
            | "comes"
            | "mentioned"
            | "decided"
            | "agreed"
            | "chose"
            | "because"
            | "thank"
            | "god"
            | "sick"
            | "so"
            | "such"
            | "quite"
            | "rather"
            | "instead"
            | "yet"
            | "once"
            | "twice"
            | "ago"
            | "wish"
            | "hope"
            | "guess"
            | "wonder"
            | "used"
            | "keep"
            | "keeps"
            | "give"
            | "gives"
            | "stop"
            | "stops"
            | "start"
            | "starts"
            | "question"
            | "reason"
            | "point"
            | "sense"
            | "side"
            | "end"
            | "half"
            | "couple"
            | "rest"
            | "inside"
            | "outside"
            | "beginning"
            | "middle"
            | "words"
            | "word"
            | "code"
            | "mind"
            | "signs"
            | "sign"
            | "number"
            | "numbers"
            | "people"
            | "person"
            | "man"
            | "woman"
            | "place"
            | "whenever"
            | "whatever"
            | "straight"
            | "hard"
            | "busy"
            | "funny"
            | "proud"
            | "clear"
            | "simple"
            | "full"
            | "empty"
            | "close"
            | "closer"
            | "smaller"
            | "bigger"
            | "larger"
            | "older"
            | "younger"
            | "slower"
            | "faster"
            | "cheaper"
            | "easier"
            | "harder"
            | "news"
            | "happens"
            | "happen"
            | "died"
            | "ones"
            | "fine"
            | "total"
            | "size"
            | "steps"
            | "step"
            | "fact"
            | "case"
            | "problem"
            | "issue"
            | "answer"
            | "style"
            | "level"
            | "amount"
            | "line"
            | "piece"
            | "pieces"
    )
}
