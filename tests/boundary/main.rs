//! The completion boundary with a scripted model and a clock that is moved by hand: whatever a real model does, it holds.
//! `docs/boundary.md` says which promise each test is for.

mod scripted;

use std::sync::Arc;

use fairhand::completion::{AttemptKind, Engine, Profile, Prompt, PromptDefinition, Provider};
use fairhand::error::Detail;
use fairhand::tokenizer::Role;
use fairhand::{Error, ErrorKind};
use scripted::{Driven, Script, Turn, answer, begin, fails, refused, request};
use serde_json::{Value, json};

fn definition(value: Value) -> PromptDefinition {
    serde_json::from_value(value).expect("a definition")
}

fn profile(value: Value) -> Profile {
    serde_json::from_value(value).expect("a profile")
}

/// A prompt with shared context, material, and what follows it.
fn summary(version: u32) -> Value {
    json!({
        "id": "summary", "version": version,
        "messages": [
            { "role": "system", "content": "Sum up. Tone: {{tone}}." },
            { "role": "user", "content": "Text:\n{{text}}\nContext:{{context}}\nNow sum up." },
        ],
        "inputs": [{ "name": "text" }, { "name": "context", "optional": true }],
        "variables": ["tone"],
        "output": { "schema": { "type": "object", "properties": { "gist": { "type": "string" } }, "required": ["gist"],
                                "additionalProperties": false } },
    })
}

fn ask(text: &str) -> Value {
    json!({ "task": "prompt", "id": "summary", "variables": { "tone": "plain" },
            "inputs": [{ "name": "text", "text": text, "origin": "notes/7" }] })
}

#[track_caller]
fn with(mut value: Value, more: Value) -> Value {
    value.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    value
}

fn with_summary(script: &Arc<Script>) -> Engine {
    let engine = script.engine();
    engine.register_prompt(definition(summary(1))).expect("registers");
    engine
}

const GOOD: &str = r#"{"gist": "all is  well"}"#;
const BAD: &str = r#"{"gist": all is well}"#;

#[test]
fn a_request_names_its_prompt_inputs_variables_profile_and_session() {
    let script = Script::of([GOOD, GOOD]);
    let engine = with_summary(&script);
    engine.register_prompt(definition(summary(2))).expect("registers");
    engine.register_profile(profile(json!({ "name": "short", "maxTokens": 9 }))).expect("registers");
    let outcome =
        answer(&engine, with(ask("It rains."), json!({ "version": 1, "profile": "short", "session": " s-1 " })));
    let messages = script.messages();
    assert_eq!(messages[0].content, "Sum up. Tone: plain.");
    assert_eq!(messages[1].content, "Text:\nIt rains.\nContext: \nNow sum up.");
    assert_eq!(script.questions()[0].max_tokens, 9);
    let provenance = &outcome["provenance"];
    assert_eq!((&provenance["prompt"]["version"], &provenance["profile"]), (&json!(1), &json!("short")));
    assert_eq!(provenance["session"], "s-1");
    assert_eq!(answer(&engine, ask("x"))["provenance"]["prompt"]["version"], 2, "the newest, if none is named");
}

#[test]
fn the_answer_is_the_raw_text_with_identities_and_nothing_else() {
    let script = Script::of([GOOD]);
    let engine = with_summary(&script);
    let outcome = answer(&engine, ask("It rains on the harbour."));
    assert_eq!(outcome["text"], GOOD, "its blanks included: never written anew");
    assert_eq!(outcome["attempts"], 1);
    let provenance = outcome["provenance"].as_object().expect("an object");
    let mut names: Vec<&str> = provenance.keys().map(String::as_str).collect();
    names.sort_unstable();
    let expected = ["grammarDigest", "inputs", "model", "modelDigest", "prompt", "provider", "versions"];
    assert_eq!(names, expected);
    assert_eq!(provenance["model"], "script");
    assert_eq!(provenance["modelDigest"], "digest-of-script");
    assert_eq!(provenance["prompt"]["digest"].as_str().map(str::len), Some(16));
    let all = outcome["provenance"].to_string();
    assert!(!all.contains("rains") && !all.contains("Sum up") && !all.contains("well"), "{all}");
}

#[test]
fn the_boundary_reads_no_meaning_into_a_callers_prompt() {
    // An answer that every task of the crate would object to.
    let script = Script::of(["[\"\", \"\"]"]);
    let engine = script.engine();
    let free = json!({ "id": "free", "version": 1, "messages": [{ "role": "user", "content": "Anything?" }] });
    engine.register_prompt(definition(free)).expect("registers");
    assert_eq!(answer(&engine, json!({ "task": "prompt", "id": "free" }))["text"], "[\"\", \"\"]");
}

#[test]
fn material_keeps_its_origin_and_an_empty_optional_input_is_one_space() {
    let script = Script::of([GOOD, GOOD]);
    let engine = with_summary(&script);
    let inputs = json!({ "inputs": [{ "name": "context", "text": "" },
                                    { "name": "text", "text": "x", "origin": "file:notes/7#2" }] });
    let outcome = answer(&engine, with(ask(""), inputs));
    let origins = json!([{ "name": "context" }, { "name": "text", "origin": "file:notes/7#2" }]);
    assert_eq!(outcome["provenance"]["inputs"], origins);
    assert!(script.messages()[1].content.contains("Context: \n"));
    answer(&engine, ask("x"));
    assert!(script.messages()[1].content.contains("Context: \n"), "left out is as good as empty");
}

#[test]
fn an_unknown_profile_prompt_or_model_fails_before_anything_is_asked() {
    let script = Script::of([]);
    let engine = with_summary(&script);
    engine.register_profile(profile(json!({ "name": "large", "model": "gemma" }))).expect("registers");
    for bad in [
        json!({ "profile": "nobody" }),
        json!({ "profile": "large" }),
        json!({ "id": "nobody" }),
        json!({ "version": 9 }),
    ] {
        assert_eq!(refused(&engine, with(ask("x"), bad.clone())).kind(), ErrorKind::InvalidArgument, "{bad}");
    }
    for names in [vec!["nobody".to_owned()], vec!["large".to_owned()]] {
        assert_eq!(engine.prepare(&names).expect_err("refused").kind(), ErrorKind::InvalidArgument, "{names:?}");
    }
    engine.prepare(&[]).expect("nothing is missing");
    assert_eq!(script.questions().len(), 0);
}

#[test]
fn a_profile_chooses_model_settings_and_limits_and_a_prompt_its_profile() {
    let (first, second) =
        (Script::of([GOOD]), Script::named("second", [GOOD, GOOD].map(|t| Turn::Says(t.into())).into()));
    let engine = with_summary(&first);
    let large = json!({ "name": "large", "model": "gemma", "maxTokens": 70, "sampling": { "temperature": 0.5 } });
    engine.register_profile(profile(large)).expect("registers");
    engine.add_model("gemma", Arc::clone(&second) as Arc<dyn Provider>).expect("joins");
    assert_eq!(engine.add_model("gemma", first.clone()).expect_err("twice").kind(), ErrorKind::InvalidArgument);
    assert_eq!(engine.add_model(" ", first.clone()).expect_err("no name").kind(), ErrorKind::InvalidArgument);
    engine.prepare(&["large".into()]).expect("all is there");
    let outcome = answer(&engine, with(ask("x"), json!({ "profile": "large", "maxTokens": 7 })));
    assert_eq!(outcome["provenance"]["model"], "second");
    let question = second.questions().remove(0);
    assert_eq!((question.max_tokens, question.sampling.temperature), (7, 0.5), "the request's own go first");
    let own = with(summary(3), json!({ "profile": "large" }));
    engine.register_prompt(definition(own)).expect("registers");
    assert_eq!(answer(&engine, ask("x"))["provenance"]["profile"], "large");
    assert_eq!(answer(&engine, with(ask("x"), json!({ "version": 1 })))["provenance"]["model"], "script");
}

#[test]
fn reasoning_is_inherited_replaced_or_cleared() {
    let script = Script::of([GOOD, GOOD, GOOD, GOOD, GOOD]);
    let engine = with_summary(&script);
    engine.register_profile(profile(json!({ "name": "slow", "reasoning": "high" }))).expect("registers");
    for (asked, thinks) in [
        (json!({}), None),
        (json!({ "profile": "slow" }), Some(true)),
        (json!({ "profile": "slow", "reasoning": "none" }), Some(false)),
        (json!({ "profile": "slow", "reasoning": null }), None),
        (json!({ "reasoning": "low" }), Some(true)),
    ] {
        answer(&engine, with(ask("x"), asked.clone()));
        assert_eq!(script.questions().last().expect("asked").thinks, thinks, "{asked}");
    }
}

#[test]
fn the_fingerprint_changes_with_whatever_shapes_an_answer_and_shows_none_of_it() {
    let script = Script::of([]);
    let engine = script.engine();
    let mut seen = vec![engine.fingerprint().expect("a fingerprint")];
    let mut changed = |engine: &Engine, what: &str| {
        let now = engine.fingerprint().expect("a fingerprint");
        assert!(now.len() == 16 && now.bytes().all(|b| b.is_ascii_hexdigit()), "{now}");
        assert!(!seen.contains(&now), "{what} changed nothing");
        seen.push(now);
    };
    engine.register_prompt(definition(summary(1))).expect("registers");
    changed(&engine, "a prompt");
    engine.register_profile(profile(json!({ "name": "large", "model": "gemma" }))).expect("registers");
    changed(&engine, "a profile");
    engine.add_model("gemma", Script::named("second", [].into())).expect("joins");
    changed(&engine, "a model that a profile uses");
    changed(&Script::named("another", [].into()).engine(), "another first model");
    // The same things under the caller's own name for a model, added in another order.
    let other = script.engine();
    other.add_model("g", Script::named("second", [].into())).expect("joins");
    other.register_profile(profile(json!({ "name": "large", "model": "g" }))).expect("registers");
    other.register_prompt(definition(summary(1))).expect("registers");
    assert_eq!(other.fingerprint(), engine.fingerprint());
    let reworded =
        with(summary(1), json!({ "messages": [{ "role": "user", "content": "{{text}}{{context}}{{tone}}" }] }));
    let other = script.engine();
    other.register_prompt(definition(reworded)).expect("registers");
    changed(&other, "a prompt's words");
}

#[test]
fn what_cannot_be_registered_is_refused_and_leaves_nothing_behind() {
    let engine = with_summary(&Script::of([]));
    let before = engine.fingerprint();
    for (bad, kind) in [
        (json!({}), ErrorKind::InvalidArgument), // the same once more
        (json!({ "version": 0 }), ErrorKind::InvalidArgument),
        (json!({ "version": 2, "messages": [] }), ErrorKind::InvalidArgument),
        (json!({ "version": 2, "inputs": [] }), ErrorKind::InvalidArgument),
        (json!({ "version": 2, "output": { "schema": { "type": "nothing" } } }), ErrorKind::InvalidSchema),
        (json!({ "version": 2, "output": { "grammar": "root ::= (" } }), ErrorKind::InvalidGrammar),
        (json!({ "version": 2, "output": { "regex": "(" } }), ErrorKind::InvalidGrammar),
    ] {
        let error = engine.register_prompt(definition(with(summary(1), bad.clone()))).expect_err("refused");
        assert_eq!(error.kind(), kind, "{bad}");
    }
    for bad in [json!({ "name": "" }), json!({ "name": "a", "maxTokens": 0 }), json!({ "name": "a", "timeoutMs": -1 })]
    {
        assert_eq!(engine.register_profile(profile(bad)).expect_err("refused").kind(), ErrorKind::InvalidArgument);
    }
    assert_eq!(engine.fingerprint(), before);
}

#[test]
fn a_form_has_a_digest_and_answers_are_validated_by_it() {
    let engine = with_summary(&Script::of([GOOD, BAD, ""]));
    let digest = answer(&engine, ask("x"))["provenance"]["grammarDigest"].clone();
    assert_eq!(digest.as_str().map(str::len), Some(16));
    for raw in [BAD, ""] {
        let error = fails(&engine, ask("x"));
        assert_eq!(error.kind(), ErrorKind::InvalidStructuredOutput);
        assert_eq!(error.detail(), Some(&Detail::Raw { raw: raw.into(), attempts: 1 }));
        assert!(!error.message().contains("gist"), "no bytes of schema or answer: {error}");
    }
    // A caller's own form, without a registered prompt.
    let engine = Script::of(["12", "x2"]).engine();
    let number = json!({ "task": "complete", "messages": [{ "role": "user", "content": "?" }], "regex": "[0-9]+" });
    assert_eq!(answer(&engine, number.clone())["text"], "12");
    assert_eq!(fails(&engine, number).kind(), ErrorKind::InvalidStructuredOutput);
}

#[test]
fn shared_context_goes_first_then_the_material_then_the_suffix() {
    let script = Script::of([GOOD, GOOD]);
    let engine = with_summary(&script);
    let shared: Vec<String> = ["the first text", "another text altogether"]
        .map(|text| {
            answer(&engine, ask(text));
            let Prompt::Chat { messages, blank } = script.questions().pop().expect("asked").prompt else {
                panic!("a chat")
            };
            let whole = |messages: &[fairhand::tokenizer::Message]| -> String {
                messages.iter().map(|message| message.content.as_str()).collect()
            };
            let (asked, blank) = (whole(&messages), whole(&blank));
            let common = asked.bytes().zip(blank.bytes()).take_while(|(a, b)| a == b).count();
            assert!(asked[common..].starts_with(text), "the material begins where the common part ends");
            assert!(asked.ends_with("\nNow sum up."));
            asked[..common].to_owned()
        })
        .into();
    assert_eq!(shared[0], shared[1], "byte for byte, so that it is read once");
    assert!(shared[0].ends_with("Text:\n"));
}

#[test]
fn nothing_is_repaired_or_retried_unless_it_is_asked_for() {
    let script = Script::of([BAD]);
    let error = fails(&with_summary(&script), ask("x"));
    assert_eq!(error.detail(), Some(&Detail::Raw { raw: BAD.into(), attempts: 1 }));
    assert_eq!(script.questions().len(), 1);
}

#[test]
fn repairs_go_on_with_the_conversation_and_retries_begin_anew() {
    let script = Script::of([BAD, BAD, BAD, BAD, BAD, GOOD]);
    let engine = with_summary(&script);
    let asked = with(ask("It rains."), json!({ "repairs": 1, "retries": 2, "seed": 5, "record": true }));
    let mut job = begin(&engine, asked);
    let outcome = serde_json::to_value(job.finish().expect("the last one is good")).expect("JSON");
    assert_eq!((&outcome["text"], &outcome["attempts"]), (&json!(GOOD), &json!(6)));
    use AttemptKind::{First, Repair, Retry};
    let kinds: Vec<(AttemptKind, u64)> =
        job.job.attempts().iter().map(|attempt| (attempt.kind, attempt.seed)).collect();
    assert_eq!(kinds, [(First, 5), (Repair, 5), (Retry, 6), (Repair, 6), (Retry, 7), (Repair, 7)]);
    let lengths: Vec<usize> = script
        .questions()
        .iter()
        .map(|question| match &question.prompt {
            Prompt::Chat { messages, .. } => messages.len(),
            Prompt::Raw { .. } => 0,
        })
        .collect();
    assert_eq!(lengths, [2, 4, 2, 4, 2, 4], "a retry repeats the whole question and nothing but it");
    let repair = script.messages();
    assert_eq!((repair[2].role, repair[2].content.as_str()), (Role::Assistant, BAD));
    assert_eq!(repair[3].role, Role::User);
    assert!(repair[3].content.contains("not in the form that was asked for"), "{}", repair[3].content);
    assert_eq!(job.job.usage().prompt_tokens, 60, "what every attempt has cost");
}

#[test]
fn an_exhausted_rejection_keeps_the_last_raw_answer_and_is_no_error_of_the_provider() {
    let script = Script::of([BAD, "{}", BAD, "nothing"]);
    let engine = with_summary(&script);
    let mut job = begin(&engine, with(ask("x"), json!({ "repairs": 1, "retries": 1, "record": true })));
    let error = job.finish().expect_err("none is good");
    assert_eq!(error.kind(), ErrorKind::InvalidStructuredOutput);
    assert_eq!(error.detail(), Some(&Detail::Raw { raw: "nothing".into(), attempts: 4 }));
    let recorded: Vec<_> =
        job.job.attempts().iter().map(|attempt| (attempt.response.as_str(), attempt.error)).collect();
    let rejected = Some("invalid-structured-output");
    assert_eq!(recorded, [(BAD, rejected), ("{}", rejected), (BAD, rejected), ("nothing", rejected)]);
    // A failure of the provider is not asked away.
    let script = Script::named("script", [Turn::Breaks("{\"gist\": ".into(), ErrorKind::Internal)].into());
    let engine = with_summary(&script);
    assert_eq!(fails(&engine, with(ask("x"), json!({ "repairs": 3, "retries": 3 }))).kind(), ErrorKind::Internal);
    assert_eq!(script.questions().len(), 1);
}

#[test]
fn a_raw_prompt_is_retried_and_not_repaired() {
    let script = Script::of(["x", "x", "7"]);
    let engine = script.engine();
    let raw = json!({ "task": "complete", "prompt": "A number: ", "regex": "[0-9]+", "repairs": 4, "retries": 2 });
    assert_eq!(answer(&engine, raw)["attempts"], 3);
    assert!(script.questions().iter().all(|q| q.prompt == Prompt::Raw { text: "A number: ".into() }));
}

#[test]
fn numbers_out_of_range_are_refused_before_anything_is_asked() {
    let script = Script::of([]);
    let engine = with_summary(&script);
    for bad in [
        json!({ "maxTokens": 0 }),
        json!({ "retries": 21 }),
        json!({ "repairs": 21 }),
        json!({ "timeoutMs": -1.0 }),
        json!({ "sampling": { "temperature": -1.0 } }),
        json!({ "sampling": { "topK": 0 } }),
        json!({ "sampling": { "topP": 1.5 } }),
        json!({ "session": "s".repeat(201) }),
    ] {
        assert_eq!(refused(&engine, with(ask("x"), bad.clone())).kind(), ErrorKind::InvalidArgument, "{bad}");
    }
    for bad in
        [json!({ "retries": -1 }), json!({ "repairs": 0.5 }), json!({ "seed": "x" }), json!({ "maxTokens": 1.5 })]
    {
        assert!(serde_json::from_value::<fairhand::completion::Request>(with(ask("x"), bad.clone())).is_err(), "{bad}");
    }
    assert_eq!(script.questions().len(), 0);
}

#[test]
fn a_time_limit_counts_from_the_first_step_and_zero_takes_it_away() {
    let words = r#"{"gist": "one two three four five six seven eight"}"#;
    let script = Script::of([words, words, words, words]);
    let engine = with_summary(&script);
    engine.register_profile(profile(json!({ "name": "hasty", "timeoutMs": 50 }))).expect("registers");
    let run = |more: Value, ms_per_step: f64| {
        let mut job = begin(&engine, with(ask("x"), more));
        job.now = 1e9; // waiting before the first step is not the work's
        job.ms_per_step = ms_per_step;
        let result = job.finish();
        (result, job)
    };
    let (late, job) = run(json!({ "profile": "hasty", "record": true }), 20.0);
    let error = late.expect_err("too late");
    assert_eq!((error.kind(), error.detail()), (ErrorKind::Timeout, Some(&Detail::Timeout { timeout_ms: 50.0 })));
    assert_eq!(job.now, 1e9 + 80.0, "seen at the first step after the limit");
    let attempt = &job.job.attempts()[0];
    assert_eq!((attempt.response.as_str(), attempt.error), (r#"{"gist": "one two "#, Some("timeout")));
    assert_eq!((attempt.started_ms, attempt.ended_ms), (0.0, 60.0));
    assert_eq!(job.job.usage().completion_tokens, 3, "what it has cost is known all the same");
    run(json!({ "profile": "hasty" }), 1.0).0.expect("in time");
    run(json!({ "profile": "hasty", "timeoutMs": 0 }), 1000.0).0.expect("zero takes the limit away");
    run(json!({}), 1e6).0.expect("none was set");
}

#[test]
fn rules_have_the_same_time_limit() {
    let engine = Script::of([]).engine();
    let long = "um so the the meeting is on friday ".repeat(20_000);
    let mut job = begin(&engine, json!({ "task": "cleanup", "text": long, "timeoutMs": 10 }));
    job.ms_per_step = 6.0;
    assert_eq!(job.finish().expect_err("too late").kind(), ErrorKind::Timeout);
    assert_eq!(job.job.step(0.0).expect_err("over").kind(), ErrorKind::InvalidArgument);
}

#[test]
fn a_record_holds_prompt_response_and_times_also_of_a_failure() {
    let broken = || Turn::Breaks("{\"gist\": \"half ".into(), ErrorKind::OutOfMemory);
    let script = Script::named("script", [Turn::Says(GOOD.into()), broken()].into());
    let engine = with_summary(&script);
    let mut good = begin(&engine, with(ask("It rains."), json!({ "record": true })));
    good.ms_per_step = 5.0;
    good.finish().expect("it is good");
    let recorded = serde_json::to_value(good.job.attempts()).expect("JSON");
    assert_eq!(recorded[0]["prompt"]["messages"][1]["content"], "Text:\nIt rains.\nContext: \nNow sum up.");
    assert_eq!((&recorded[0]["kind"], &recorded[0]["response"]), (&json!("first"), &json!(GOOD)));
    assert_eq!((&recorded[0]["startedMs"], &recorded[0]["endedMs"]), (&json!(0.0), &json!(25.0)));
    assert!(recorded[0].get("error").is_none());
    let mut bad = begin(&engine, with(ask("It rains."), json!({ "record": true })));
    assert_eq!(bad.finish().expect_err("it breaks").kind(), ErrorKind::OutOfMemory);
    let attempt = &bad.job.attempts()[0];
    assert_eq!((attempt.response.as_str(), attempt.error), ("{\"gist\": \"half ", Some("out-of-memory")));
}

#[test]
fn a_record_of_a_tag_holds_what_was_weighed() {
    let engine = Script::of([]).engine();
    let note = "the window of the shed";
    let mut job = begin(&engine, json!({ "task": "tagContent", "text": note, "record": true }));
    job.finish().expect("a tag");
    assert!(!job.job.attempts().is_empty());
    for attempt in job.job.attempts() {
        let Prompt::Raw { text } = &attempt.prompt else { panic!("a text") };
        assert!(attempt.kind == AttemptKind::Weigh && text.starts_with("Here is ") && text.ends_with(note));
    }
}

#[test]
fn without_a_record_nothing_is_kept() {
    let script = Script::of([BAD, BAD]);
    let mut job = begin(&with_summary(&script), with(ask("It rains."), json!({ "retries": 1 })));
    job.finish().expect_err("not good");
    assert_eq!(job.job.attempts(), []);
}

#[test]
fn failures_are_told_apart() {
    let engine = |turn: Turn| with_summary(&Script::named("script", [turn].into()));
    let says = |text: &str| engine(Turn::Says(text.into()));
    // Construction, preparation, provider, cancellation, invalid output.
    let mut cancelled = begin(&says(GOOD), ask("x"));
    cancelled.step().expect("steps");
    drop(cancelled);
    let kinds: Vec<ErrorKind> = [
        says(GOOD).register_prompt(definition(with(summary(1), json!({ "version": 0 })))).expect_err("refused"),
        says(GOOD).prepare(&["nobody".into()]).expect_err("refused"),
        refused(&says(GOOD), with(ask("x"), json!({ "id": "nobody" }))),
        fails(&engine(Turn::Breaks(String::new(), ErrorKind::CorruptModel)), ask("x")),
        fails(&says(BAD), ask("x")),
    ]
    .iter()
    .map(Error::kind)
    .collect();
    use ErrorKind::{CorruptModel, InvalidArgument, InvalidStructuredOutput};
    assert_eq!(kinds, [InvalidArgument, InvalidArgument, InvalidArgument, CorruptModel, InvalidStructuredOutput]);
}

#[test]
fn examples_have_a_budget_and_the_provenance_says_how_many_were_shown() {
    let steps = r#"["Find the forms","Fill in the forms","Post the forms"]"#;
    let script = Script::of([steps, steps, steps]);
    let engine = script.engine();
    let example = |words: usize| json!({ "input": "word ".repeat(words), "correctedOutput": "done" });
    let ask = |examples: Vec<Value>| json!({ "task": "decomposeTask", "text": "file the forms", "strategy": "free", "examples": examples });
    let shown = |examples| answer(&engine, ask(examples))["provenance"]["examples"].clone();
    assert_eq!(shown(vec![]), Value::Null);
    assert_eq!(shown(vec![example(300), example(400), example(20)]), json!(2), "the second has no room any more");
    let system = &script.messages()[0].content;
    assert!(system.split_whitespace().count() < 512 + 100, "the budget holds");
    assert_eq!(shown(vec![json!({ "input": " ", "correctedOutput": "x" })]), json!(0));
}

/// Secrets and the user's words, planted wherever a request has room for them.
#[test]
fn no_planted_secret_or_text_is_in_an_error_a_provenance_or_a_fingerprint() {
    const SECRET: &str = "sk-planted";
    let text = format!("my own words, {SECRET}");
    let mut said: Vec<String> = vec![];
    for turn in [
        Turn::Says(GOOD.replace("well", SECRET)),
        Turn::Says(format!("{{{text}")),
        Turn::Breaks(text.clone(), ErrorKind::Internal),
    ] {
        let engine = with_summary(&Script::named("script", vec![turn; 4].into()));
        let asked = with(
            ask(&text),
            json!({ "variables": { "tone": text }, "retries": 1, "repairs": 1, "stop": [text], "session": "s-1" }),
        );
        let mut job = Driven::new(engine.start(request(asked.clone())).expect("begins"));
        match job.finish() {
            Ok(outcome) => said.push(serde_json::to_value(outcome).expect("JSON")["provenance"].to_string()),
            Err(error) => said.push(format!("{} {error}", error.code())),
        }
        said.push(format!("{:?}", job.job.attempts()));
        said.push(engine.fingerprint().expect("a fingerprint"));
        for (name, value) in [
            ("id", json!(SECRET)),
            ("profile", json!(SECRET)),
            ("inputs", json!([{ "name": SECRET, "text": text }])),
            ("variables", json!({ SECRET: text, "tone": text })),
            ("session", json!(SECRET.repeat(99))),
        ] {
            let mut bad = asked.clone();
            bad[name] = value;
            said.push(format!("{:?}", refused(&engine, bad)));
        }
        for task in ["extractTasks", "decomposeTask", "tagContent"] {
            let examples = json!([{ "input": text, "correctedOutput": text }]);
            let asked = json!({ "task": task, "text": text, "strategy": "free", "examples": examples, "retries": 0 });
            let asked = request(asked);
            let engine = Script::named("script", [Turn::Says(format!("[{text}"))].into()).engine();
            let error = Driven::new(engine.start(asked).expect("begins")).finish().expect_err("not JSON");
            said.push(format!("{} {error}", error.code()));
        }
    }
    for line in &said {
        assert!(!line.contains("planted") && !line.contains("own words"), "{line}");
    }
    assert!(said.len() > 20);
}

const RAMBLE: &str = "so we could paint it blue or leave it as it is i like the wood what do you think about the price";

/// A model chooses among what the rules spell out, where they are not sure: whatever it says, the words are those that were
/// said, and the result says what is the model's.
#[test]
fn a_cleanup_asks_the_model_what_the_rules_leave_open() {
    let engine = Script::of([]).engine();
    let judged = answer(&engine, json!({ "task": "cleanup", "text": RAMBLE }));
    let rules = answer(&engine, json!({ "task": "cleanup", "text": RAMBLE, "mode": "rules" }));
    assert_eq!((&rules["provenance"]["model"], &judged["provenance"]["model"]), (&Value::Null, &json!("script")));
    assert!(judged["fallback"].is_null() && rules["fallback"].is_null());
    let by = |outcome: &Value, who: &str| {
        let edits = outcome["edits"].as_array().expect("edits");
        edits.iter().filter(|edit| edit["by"] == who).count()
    };
    assert!(by(&judged, "model") > 0 && by(&rules, "model") == 0, "{judged}");
    let bare = |outcome: &Value| outcome["text"].as_str().expect("a text").to_lowercase().replace(['.', ',', '?'], "");
    assert_eq!((bare(&judged).as_str(), bare(&rules).as_str()), (RAMBLE, RAMBLE));
    assert_ne!(judged["text"], rules["text"]);
}

#[test]
fn a_cleanup_reads_no_more_than_it_may_and_counts_it() {
    let engine = Script::of([]).engine();
    let mut job = begin(&engine, json!({ "task": "cleanup", "text": RAMBLE, "maxTokens": 1 }));
    let short = serde_json::to_value(job.finish().expect("rules answer")).expect("JSON");
    let rules = answer(&engine, json!({ "task": "cleanup", "text": RAMBLE, "mode": "rules" }));
    assert_eq!((&short["text"], &short["edits"]), (&rules["text"], &rules["edits"]));
    assert_eq!((&short["fallback"], &short["provenance"]["model"]), (&json!("unfinished"), &Value::Null));
    assert_eq!(job.job.usage().prompt_tokens, 0);

    let mut job = begin(&engine, json!({ "task": "cleanup", "text": RAMBLE, "record": true }));
    job.finish().expect("it is answered");
    assert!(job.job.usage().prompt_tokens > 0 && job.job.usage().completion_tokens == 0);
    let recorded = job.job.attempts();
    assert!(!recorded.is_empty() && recorded.iter().all(|attempt| attempt.kind == AttemptKind::Weigh));
}

/// The time limit takes the model's word away, not the answer.
#[test]
fn a_cleanup_out_of_time_is_the_rules() {
    let engine = Script::of([]).engine();
    let long = [RAMBLE; 40].join(" ");
    let mut job = begin(&engine, json!({ "task": "cleanup", "text": long, "timeoutMs": 100 }));
    job.ms_per_step = 1.0;
    let late = serde_json::to_value(job.finish().expect("rules answer")).expect("JSON");
    assert_eq!(late["fallback"], "unfinished");
    assert_eq!(late["provenance"]["model"], "script");
    let by_model = late["edits"].as_array().expect("edits").iter().filter(|edit| edit["by"] == "model");
    assert!(by_model.count() > 0);
}
