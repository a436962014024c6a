//! Tags: intents by cues, topics among candidates, and the grammar made of both.

use fairhand::grammar::Grammar;
use fairhand::tasks::tag::{self, Intent, answer_of, grammar_of, intent_cues, topic_candidates};
use serde::Deserialize;

#[derive(Clone, Deserialize)]
struct Row {
    id: String,
    #[serde(default)]
    split: String,
    input: String,
    expected: Expected,
    #[serde(default)]
    accept_intents: Vec<Intent>,
}

#[derive(Clone, Deserialize)]
struct Expected {
    intent: Intent,
    topics: Vec<String>,
}

fn rows(file: &str) -> Vec<Row> {
    file.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn own() -> Vec<Row> {
    rows(include_str!("../data/tasks/tag.jsonl"))
}

fn more(split: &str) -> Vec<Row> {
    rows(include_str!("../data/tasks/tag_more.jsonl")).into_iter().filter(|row| row.split == split).collect()
}

fn likeliest(cues: [f32; 6]) -> (Intent, f32) {
    let best = (0..6).max_by(|&a, &b| cues[a].total_cmp(&cues[b])).unwrap();
    (Intent::ALL[best], cues[best])
}

/// Asserts the shares of notes whose likeliest intent is right, whose settled intent is right, and whose topics hold an
/// acceptable one, and have one first.
#[track_caller]
fn reaches(rows: &[Row], intent: f64, settled: f64, topic: f64, first_topic: f64) {
    let (mut right, mut sure, mut sure_right, mut topical, mut first) = (0, 0, 0, 0, 0);
    let mut faults = String::new();
    for row in rows {
        let (said, confidence) = likeliest(intent_cues(&row.input));
        let ok = said == row.expected.intent || row.accept_intents.contains(&said);
        right += usize::from(ok);
        sure += usize::from(confidence >= tag::SURE);
        sure_right += usize::from(confidence >= tag::SURE && ok);
        let topics = topic_candidates(&row.input);
        let found = topics.iter().any(|topic| row.expected.topics.contains(topic));
        topical += usize::from(found);
        first += usize::from(topics.first().is_some_and(|topic| row.expected.topics.contains(topic)));
        if !ok {
            faults += &format!("{} {:?}: {said:?} {confidence:.2} {}\n", row.id, row.expected.intent, row.input);
        }
        if !found {
            faults += &format!("{} {:?}: {topics:?} {}\n", row.id, row.expected.topics, row.input);
        }
    }
    let n = rows.len();
    println!("intent {right}/{n}, settled {sure_right}/{sure}, topic {topical}/{n}, first topic {first}/{n}\n{faults}");
    assert!(right as f64 >= intent * n as f64, "intent {right}/{n}\n{faults}");
    assert!(sure_right as f64 >= settled * sure as f64, "settled {sure_right}/{sure}\n{faults}");
    assert!(topical as f64 >= topic * n as f64, "topic {topical}/{n}\n{faults}");
    assert!(first as f64 >= first_topic * n as f64, "first topic {first}/{n}\n{faults}");
}

#[test]
fn the_projects_rows() {
    reaches(&own(), 0.75, 0.85, 0.65, 0.5);
}

#[test]
fn rows_for_tuning() {
    reaches(&more("tune"), 0.75, 0.85, 0.9, 0.75);
}

#[test]
fn more_rows() {
    reaches(&more("held"), 0.65, 0.75, 0.9, 0.75);
}

#[test]
fn the_grammar_of_a_note_is_a_part_of_the_general_one() {
    let general = Grammar::parse(tag::grammar()).unwrap();
    for row in own().iter().chain(&more("tune")).chain(&more("held")) {
        let (topics, intent) = (topic_candidates(&row.input), row.expected.intent.as_str());
        let text = grammar_of(&topics, intent);
        let grammar = Grammar::parse(&text).unwrap();
        for topic in &topics {
            let answer = answer_of(topic, intent);
            assert!(general.matches(answer.as_bytes()) && grammar.matches(answer.as_bytes()), "{answer}");
            assert_eq!(tag::read(&answer).unwrap().topic, *topic);
            assert_eq!(tag::read_chosen(&answer, &topics, intent).unwrap(), *topic);
            assert!(!grammar.matches(format!(r#"{{"topic": "{topic}","intent":"{intent}"}}"#).as_bytes()), "a blank");
        }
        assert!(!grammar.begins(br#"{"topic":"zzz-not-there"#), "{text}");
    }
}

#[test]
fn a_callers_topics_may_hold_anything() {
    let topics = ["say \"hi\"", "back\\slash", "größe", "日本"].map(str::to_owned);
    let grammar = Grammar::parse(&grammar_of(&topics, "my intent")).unwrap();
    for topic in &topics {
        let answer = answer_of(topic, "my intent");
        assert!(grammar.matches(answer.as_bytes()), "{answer}");
        assert_eq!(tag::read_chosen(&answer, &topics, "my intent").unwrap(), *topic);
    }
    assert_eq!(tag::read_chosen("{}", &topics, "my intent").unwrap_err().code(), "invalid-structured-output");
}

#[test]
fn options_that_cannot_work_are_refused() {
    let topics = |topics: &[&str]| tag::TagOptions {
        topics: topics.iter().map(|topic| (*topic).to_owned()).collect(),
        ..Default::default()
    };
    topics(&["work", "home"]).check().unwrap();
    for bad in [&[""][..], &["a\nb"], &["a", "a"], &["x".repeat(65).as_str()], &["a"; 65]] {
        assert_eq!(topics(bad).check().unwrap_err().code(), "invalid-argument", "{bad:?}");
    }
}

#[test]
fn without_a_word_of_its_own_a_note_has_no_topic() {
    for note in ["", "   \n", "…", "мы поедем завтра", "um uh", "😀"] {
        assert!(topic_candidates(note).is_empty(), "{note}");
        assert!((intent_cues(note).iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }
}

/// No cue was written after seeing these: what they say alone, before a model weighs the notes.
#[test]
fn unseen_rows() {
    for split in ["unseen-a", "unseen-b"] {
        reaches(&more(split), 0.5, 0.5, 0.9, 0.7);
    }
}

/// In many registers. Cues were written with those of the split `tune` in sight, and none after seeing those of `style`.
#[test]
fn rows_as_strangers_say_them() {
    let rows = rows(include_str!("../data/tasks/tag_strangers.jsonl"));
    let of = |split: &str| rows.iter().filter(|row| row.split == split).cloned().collect::<Vec<_>>();
    reaches(&of("tune"), 0.9, 0.95, 0.85, 0.7);
    reaches(&of("style"), 0.72, 0.8, 0.5, 0.38);
}

#[test]
fn fresh_rows() {
    reaches(&more("fresh"), 0.85, 0.9, 0.85, 0.7);
}

/// Neither a cue nor a weight of topics has been chosen after seeing those of the split `blind`.
#[test]
fn rows_kept_apart() {
    let rows = rows(include_str!("../data/tasks/tag_fresh.jsonl"));
    for split in ["fit", "blind"] {
        let rows: Vec<Row> = rows.iter().filter(|row| row.split == split).cloned().collect();
        reaches(&rows, 0.6, 0.6, 0.95, 0.75);
    }
}
