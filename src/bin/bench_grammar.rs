//! Times masks, compilation and the token trie: `bench_grammar MODEL.gguf WORK.json`. `npm run bench:grammar` runs it.
//!
//! Cuts some documents into the model's tokens, writes them with the vocabulary to `WORK.json` for the same measurement
//! elsewhere, and prints what it measures as one JSON object.

#[path = "../../benches/grammar/measure.rs"]
mod measure;

use std::error::Error;
use std::fs::{self, File};
use std::time::Instant;

use candle_core::quantized::gguf_file::Content;
use fairhand::gguf::Metadata;
use fairhand::tokenizer::{Special, TokenId, Tokenizer};
use measure::{Case, Work};
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, path] = &arguments[..] else {
        eprintln!("Give the path of a model, and of a file to write: bench_grammar MODEL.gguf WORK.json");
        std::process::exit(2);
    };
    let work = work(model)?;
    fs::write(path, serde_json::to_vec(&work)?)?;
    let begun = Instant::now();
    let report = measure::measure(&work, &|| begun.elapsed().as_secs_f64() * 1e6)?;
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}

fn work(model: &str) -> Result<Work, Box<dyn Error>> {
    let metadata = Metadata::new(Content::read(&mut File::open(model)?)?.metadata);
    let tokenizer = Tokenizer::from_metadata(&metadata)?;
    let vocabulary = tokenizer.vocabulary();
    let ids = 0..vocabulary.len() as TokenId;
    let hexadecimal = |id| vocabulary.bytes(id).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let cases: Vec<Value> = serde_json::from_str(include_str!("../../benches/grammar/cases.json"))?;
    let mut documents = Vec::new();
    for case in &cases {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let grammar = match &case["file"] {
            Value::String(file) => fs::read_to_string(format!("{}/{file}", env!("CARGO_MANIFEST_DIR")))?,
            _ => text(&case["grammar"]),
        };
        let cut = |document: &Value| tokenizer.encode(&text(document), Special::AsText);
        let cut: Result<Vec<_>, _> = case["documents"].as_array().into_iter().flatten().map(cut).collect();
        documents.push(Case { name: text(&case["name"]), grammar, documents: cut? });
    }
    Ok(Work {
        pieces: ids.clone().map(hexadecimal).collect(),
        control: ids.filter(|id| vocabulary.is_control(*id) || vocabulary.is_end_of_generation(*id)).collect(),
        eos: vocabulary.eos(),
        cases: documents,
    })
}
