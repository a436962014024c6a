//! Extract, decompose and tag: what is asked, and what is read from answers good and bad.

use fairhand::ErrorKind;
use fairhand::error::Detail;
use fairhand::tasks::cleanup::{CleanupOptions, rewrite};
use fairhand::tasks::feedback::FeedbackExample;
use fairhand::tasks::prompt::{self, Prompt};
use fairhand::tasks::tag::{Intent, Tag};
use fairhand::tasks::{Message, decompose, extract, tag};
use proptest::prelude::*;

fn roles_and_text(messages: &[Message]) -> String {
    serde_json::to_string(messages).unwrap()
}

#[test]
fn every_task_asks_with_its_prompt_and_then_the_material() {
    let cases: [(Prompt, Vec<Message>); 4] = [
        (prompt::EXTRACT_TASKS, extract::messages("the material", &[])),
        (prompt::DECOMPOSE_TASK, decompose::messages("the material", &[])),
        (prompt::CONTENT_TAGS, tag::messages("the material")),
        (prompt::CLEANUP, rewrite::messages("the material", &CleanupOptions::default())),
    ];
    for (prompt, messages) in cases {
        assert_eq!(messages.len(), 2);
        assert_eq!(messages[0].content, prompt.text);
        assert_eq!(messages[1].content, "the material");
        let json = roles_and_text(&messages);
        assert!(json.find("\"system\"") < json.find("\"user\""), "{json}");
    }
}

#[test]
fn examples_condition_extract_and_decompose() {
    let examples: Vec<FeedbackExample> = serde_json::from_str(
        r#"[{"input": "in", "originalOutput": "original", "correctedOutput": "corrected"}, {"input": "unused"}]"#,
    )
    .unwrap();
    for messages in [extract::messages("x", &examples), decompose::messages("x", &examples)] {
        assert!(messages[0].content.ends_with("- Input: in\n  Good output: corrected"));
    }
}

#[test]
fn tasks_are_read_trimmed_and_once() {
    let table: [(&str, &[&str]); 5] = [
        ("[]", &[]),
        (" [ ] \n", &[]),
        (r#"["Call the dentist"]"#, &["Call the dentist"]),
        (r#"[" Call Zoë ", "", "call zoë", "Buy \"stamps\""]"#, &["Call Zoë", "Buy \"stamps\""]),
        (r#"["caf\u00e9"]"#, &["café"]),
    ];
    for (raw, expected) in table {
        assert_eq!(extract::read(raw).unwrap(), expected, "{raw}");
    }
}

#[test]
fn steps_are_three_to_seven() {
    let steps = |n: usize| serde_json::to_string(&(0..n).map(|i| format!("Step {i}")).collect::<Vec<_>>()).unwrap();
    for n in 3..=7 {
        assert_eq!(decompose::read(&steps(n)).unwrap().len(), n);
    }
    for raw in [steps(0), steps(2), steps(8), r#"["a", "A", "b", ""]"#.into()] {
        assert_unreadable(decompose::read(&raw), &raw);
    }
}

#[test]
fn tags() {
    let table = [
        (r#"{"topic":"grant-application","intent":"planning"}"#, "grant-application", Intent::Planning),
        (" {\n\"topic\": \"rent\" , \"intent\": \"question\" } ", "rent", Intent::Question),
        (r#"{"intent":"venting","topic":"q3-review-notes"}"#, "q3-review-notes", Intent::Venting),
    ];
    for (raw, topic, intent) in table {
        assert_eq!(tag::read(raw).unwrap(), Tag { topic: topic.into(), intent }, "{raw}");
    }
    let bad = [
        r#"{"topic":"rent","intent":"Planning"}"#,
        r#"{"topic":"rent","intent":"musing"}"#,
        r#"{"topic":"","intent":"planning"}"#,
        r#"{"topic":"a-b-c-d","intent":"planning"}"#,
        r#"{"topic":"-rent","intent":"planning"}"#,
        r#"{"topic":"Rent","intent":"planning"}"#,
        r#"{"topic":"the rent","intent":"planning"}"#,
        r#"{"topic":"rent","intent":"planning","more":1}"#,
        r#"{"topic":"rent"}"#,
    ];
    for raw in bad {
        assert_unreadable(tag::read(raw), raw);
    }
    assert_unreadable(tag::read(&format!(r#"{{"topic":"{}","intent":"planning"}}"#, "x".repeat(200))), "xxx");
}

#[test]
fn the_tag_serialises_as_it_was_asked_for() {
    let raw = r#"{"topic":"rent","intent":"decision"}"#;
    assert_eq!(serde_json::to_string(&tag::read(raw).unwrap()).unwrap(), raw);
}

#[test]
fn every_intent_of_the_grammar_is_read_and_none_else() {
    let rule = tag::grammar().lines().find(|line| line.starts_with("intent")).unwrap();
    let (_, alternatives) = rule.split_once("::=").unwrap();
    let spelled: Vec<String> =
        alternatives.split('|').map(|literal| serde_json::from_str::<String>(literal.trim()).unwrap()).collect();
    let read =
        spelled.iter().map(|quoted| tag::read(&format!(r#"{{"topic":"rent","intent":{quoted}}}"#)).unwrap().intent);
    assert_eq!(read.collect::<Vec<_>>(), Intent::ALL);
}

#[test]
fn no_json_is_an_error_that_keeps_the_answer() {
    for raw in ["", " ", "null", "{}", "[1]", "[\"cut sho", "Sure! Here is a list.", "[\"a\"] and more", "\"a\""] {
        assert_unreadable(extract::read(raw), raw);
        assert_unreadable(decompose::read(raw), raw);
        assert_unreadable(tag::read(raw), raw);
    }
}

#[track_caller]
fn assert_unreadable<T: std::fmt::Debug>(read: fairhand::Result<T>, raw: &str) {
    let error = read.expect_err(raw);
    assert_eq!(error.kind(), ErrorKind::InvalidStructuredOutput, "{raw}");
    assert!(matches!(error.detail(), Some(Detail::Raw { raw: kept, .. }) if kept.contains(raw)), "{raw}: {error:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn readers_take_any_text(raw in "\\PC{0,60}") {
        let _ = (extract::read(&raw).is_ok(), decompose::read(&raw).is_ok(), tag::read(&raw).is_ok());
    }

    #[test]
    fn what_is_written_is_read(items in prop::collection::vec("[A-Za-zé\"\\\\\n ]{1,12}", 0..6)) {
        let read = extract::read(&serde_json::to_string(&items).unwrap()).unwrap();
        prop_assert!(read.iter().all(|item| items.iter().any(|given| given.trim() == item)));
        prop_assert!(items.iter().all(|given| given.trim().is_empty() || read.iter().any(|item| item.to_lowercase() == given.trim().to_lowercase())));
    }
}
