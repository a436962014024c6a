//! Chat templates: what Hugging Face's Jinja makes of them, what fails and how, and that no message becomes a control
//! token whatever a template does to it.

use std::fs;
use std::path::PathBuf;

use fairhand::gguf::Metadata;
use fairhand::tokenizer::{ChatTemplate, Message, Rendered, Role, SpecialTokens, TokenId, Vocabulary};
use fairhand::{Error, ErrorKind};
use proptest::prelude::*;
use serde::Deserialize;

const CONTROL: [&str; 6] = ["</s>", "<s>", "<|im_start|>", "<|im_end|>", "[INST]", "<\u{FDD0}>"];

fn vocabulary(control: &[&str]) -> Vocabulary {
    let special = SpecialTokens {
        control: control.iter().map(|text| (*text).to_owned()).zip(0..).collect(),
        ..SpecialTokens::default()
    };
    Vocabulary::new(vec![Vec::new(); control.len().max(1)], special).unwrap()
}

fn template(source: &str) -> Result<ChatTemplate, Error> {
    ChatTemplate::new(source, &vocabulary(&CONTROL), "<s>", "</s>")
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/tokenizer/templates")
}

#[derive(Deserialize)]
struct Case {
    name: String,
    messages: Vec<Message>,
    text: String,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("data/tokenizer/templates.json")).unwrap()
}

#[test]
fn templates_render_as_elsewhere() {
    for Case { name, messages, text } in cases() {
        let source = fs::read_to_string(directory().join(&name)).unwrap();
        assert_eq!(template(&source).unwrap().render(&messages, true).unwrap(), text, "{name}");
    }
}

#[test]
fn bad_templates_fail_as_their_first_line_says() {
    let messages = &cases()[0].messages;
    let mut count = 0;
    for file in fs::read_dir(directory()).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("err_") {
            continue;
        }
        count += 1;
        let source = fs::read_to_string(&path).unwrap();
        let (_, expected) = source.lines().next().unwrap().split_once("expects: ").unwrap();
        let error = template(&source).and_then(|template| template.render(messages, true)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Template, "{name}");
        assert!(error.message().contains(expected.trim_end_matches("#}").trim()), "{name}: {error}");
        assert!(messages.iter().all(|m| !error.message().contains(m.content.trim())), "{name} repeats a message");
    }
    assert!(count >= 9);
}

#[test]
fn the_date_is_the_templates_own() {
    let source = "{% if strftime_now is defined %}{{ strftime_now('%Y') }}{% else %}26 Jul 2024{% endif %}";
    assert_eq!(template(source).unwrap().render(&[], true).unwrap(), "26 Jul 2024");
}

#[test]
fn chatml_stands_in_where_the_vocabulary_has_its_tokens() {
    let metadata = Metadata::default();
    let fallback = ChatTemplate::from_metadata(&metadata, &vocabulary(&CONTROL)).unwrap();
    let messages = [Message::new(Role::System, "Be brief."), Message::new(Role::User, " Hi ")];
    let text = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Hi <|im_end|>\n";
    assert_eq!(fallback.render(&messages, false).unwrap(), text);
    assert_eq!(fallback.render(&messages, true).unwrap(), text.to_owned() + "<|im_start|>assistant\n");

    let error = ChatTemplate::from_metadata(&metadata, &vocabulary(&CONTROL[..3])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Template);
}

#[test]
fn gemmas_own_stands_in_where_the_vocabulary_has_its_tokens() {
    let vocabulary = vocabulary(&["<bos>", "<start_of_turn>", "<end_of_turn>"]);
    let fallback = ChatTemplate::from_metadata(&Metadata::default(), &vocabulary).unwrap();
    let messages = [
        Message::new(Role::System, "Be brief."),
        Message::new(Role::User, " Hi "),
        Message::new(Role::Assistant, "Ho"),
    ];
    let text = "<start_of_turn>user\nBe brief.\n\n Hi <end_of_turn>\n<start_of_turn>model\nHo<end_of_turn>\n";
    assert_eq!(fallback.render(&messages, false).unwrap(), text);
    assert_eq!(
        fallback.render(&messages[1..2], true).unwrap(),
        "<start_of_turn>user\n Hi <end_of_turn>\n<start_of_turn>model\n"
    );
}

#[test]
fn long_templates_are_refused() {
    let error = template(&" ".repeat(300_000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Template);
    assert!(error.detail().is_some());
}

#[test]
fn a_template_that_cuts_into_a_control_tokens_text_fails() {
    let cut = template("{{ messages[0].content[1:4] }}").unwrap();
    assert_eq!(cut.render(&[Message::new(Role::User, "abcdef")], true).unwrap(), "bcd");
    let error = cut.render(&[Message::new(Role::User, "<|im_end|>")], true).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Template);
}

#[test]
fn roles_are_lowercase_json() {
    let message: Message = serde_json::from_str(r#"{"role":"assistant","content":"Hi"}"#).unwrap();
    assert_eq!(message, Message::new(Role::Assistant, "Hi"));
    assert_eq!(serde_json::to_string(&message.role).unwrap(), r#""assistant""#);
    assert!(serde_json::from_str::<Message>(r#"{"role":"tool","content":"Hi"}"#).is_err());
}

/// The control tokens of a rendered text, as an encoder that honours the literal places sees them.
fn control_tokens(rendered: &Rendered) -> Vec<TokenId> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < rendered.text.len() {
        let seen = (0..).zip(CONTROL).find(|(_, text)| {
            let place = at..at + text.len();
            rendered.text.as_bytes()[at..].starts_with(text.as_bytes())
                && !rendered.literal.iter().any(|literal| place.contains(literal))
        });
        at += seen.map_or(1, |(_, text)| text.len());
        found.extend(seen.map(|(id, _)| id));
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The templates put contents beside halves of control tokens and whole ones, trim them, and repeat them.
    #[test]
    fn no_content_makes_a_control_token(
        contents in prop::collection::vec(
            prop::collection::vec(
                prop::sample::select(&["<|im_end|>", "<|", "im_end|>", "|>", "<", ">", "s>", "/s>", "[INST]", " ", "\n", "é", "a", "\u{FDD0}", "\u{FDD1}", "\u{FDD4}", "\u{FDD0}\u{FDD4}\u{FDD1}"][..]),
                0..6,
            ).prop_map(|pieces| pieces.concat()),
            1..4,
        ),
    ) {
        let messages: Vec<Message> = contents.iter().map(|text| Message::new(Role::User, text)).collect();
        let harmless: Vec<Message> = contents.iter().map(|_| Message::new(Role::User, "x")).collect();
        let sources = [
            "{% for m in messages %}<|im_start|>user\n{{ m.content }}<|im_end|>\n{% endfor %}",
            "{% for m in messages %}<s>{{ m.content | trim }}</s>{% endfor %}",
            "{% for m in messages %}<{{ m.content }}>|<|im_{{ m.content }}|>{{ m.content }}end|><|im_end|>{% endfor %}",
        ];
        for source in sources {
            let template = template(source).unwrap();
            let rendered = template.render_marked(&messages, true).unwrap();
            let expected = control_tokens(&template.render_marked(&harmless, true).unwrap());
            prop_assert_eq!(control_tokens(&rendered), expected, "{:?}", rendered);
            prop_assert!(rendered.literal.is_sorted());
            let plain = source.contains("trim") || contents.iter().all(|content| rendered.text.contains(content.as_str()));
            prop_assert!(plain);
        }
    }
}
