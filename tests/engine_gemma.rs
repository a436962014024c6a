//! The engine on a second real model, of another family and with another tokenizer: every power ends in its shape.

mod model_support;

use fairhand::completion::{Engine, EngineOptions, Request};
use model_support::gemma_file;
use serde_json::{Value, json};

#[test]
fn gemma_answers_every_task_in_its_shape() {
    let Some(file) = gemma_file() else { return };
    let engine =
        Engine::read(&file, EngineOptions { context_size: Some(2048), ..Default::default() }).expect("the model loads");
    let answer = |request: Value| {
        let request: Request = serde_json::from_value(request).expect("a request");
        let mut job = engine.start(request).expect("the request begins");
        while !job.step(0.0).expect("a step succeeds").done {}
        serde_json::to_value(job.result().expect("a result")).expect("an outcome is JSON")
    };
    let note = "i need to call the dentist tomorrow and then i have to send the invoice to maria";
    let tag = answer(json!({ "task": "tagContent", "text": note }));
    assert!(tag["topic"].as_str().is_some_and(|topic| note.contains(&topic.to_lowercase())), "{tag}");
    assert!(tag["intent"].is_string(), "{tag}");
    let tasks = answer(json!({ "task": "extractTasks", "text": note }));
    assert!(tasks["tasks"].as_array().is_some_and(|tasks| !tasks.is_empty()), "{tasks}");
    let steps = answer(json!({ "task": "decomposeTask", "text": "prepare the quarterly report" }));
    assert!(steps["steps"].as_array().is_some_and(|steps| steps.len() >= 2), "{steps}");
}
