//! What the tests of the model share. Each test file uses a part of it.
#![allow(dead_code)]

pub mod reference;
pub mod tiny;

use std::path::PathBuf;
use std::sync::OnceLock;

use fairhand::model::{KvCache, KvType, Loader, Model, Pass, Progress};

/// The bytes of SmolLM2-135M-Instruct in Q4_1: the file that `FAIRHAND_MODEL` names, else the one that the set-up puts
/// into the user's cache.
pub fn smollm2_file() -> Vec<u8> {
    let path = std::env::var_os("FAIRHAND_MODEL")
        .map(PathBuf::from)
        .unwrap_or_else(|| in_cache("SmolLM2-135M-Instruct.Q4_1.gguf"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}; run the set-up first", path.display()))
}

/// The bytes of Gemma 3 270M in Q4_K_M, where somebody has put the file into the user's cache: its licence keeps the
/// set-up from fetching it. Tests that want it pass without it, and say so.
pub fn gemma_file() -> Option<Vec<u8>> {
    let path = in_cache("gemma-3-270m-q4_k_m.gguf");
    let file = std::fs::read(&path).ok();
    if file.is_none() {
        println!("skipped: there is no {}", path.display());
    }
    file
}

fn in_cache(name: &str) -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").expect("HOME is set")).join(".cache");
    std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).unwrap_or_else(home).join("fairhand/models").join(name)
}

/// SmolLM2, loaded once for all tests of a file.
pub fn smollm2() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| load(&smollm2_file()))
}

#[track_caller]
pub fn load(file: &[u8]) -> Model {
    Loader::read(file).expect("a sound model").1
}

/// Takes a pass to its end.
#[track_caller]
pub fn run(mut pass: Pass, model: &Model, kv: &mut KvCache) -> Vec<f32> {
    loop {
        match pass.step(model, kv).expect("a step succeeds") {
            Progress::More => {}
            Progress::Done(logits) => return logits,
        }
    }
}

/// The logits of every token, (tokens, vocab_size), from an empty cache.
#[track_caller]
pub fn all_logits(model: &Model, tokens: &[u32]) -> Vec<Vec<f32>> {
    all_logits_with(KvType::default(), model, tokens)
}

pub const KV_TYPES: [KvType; 3] = [KvType::F32, KvType::F16, KvType::Q8_0];

/// [`all_logits`], with a cache of that type.
#[track_caller]
pub fn all_logits_with(kv_type: KvType, model: &Model, tokens: &[u32]) -> Vec<Vec<f32>> {
    let mut kv = KvCache::of_type(kv_type, model.config(), tokens.len()).expect("a cache");
    let logits = run(Pass::new(tokens).logits_from(0), model, &mut kv);
    logits.chunks(model.config().vocab_size).map(<[f32]>::to_vec).collect()
}

pub fn argmax(logits: &[f32]) -> u32 {
    let best = (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
    best.expect("a vocabulary") as u32
}

/// Root mean square of the differences.
pub fn rms_difference(a: impl IntoIterator<Item = f64>, b: impl IntoIterator<Item = f64>) -> f64 {
    let squares: Vec<f64> = a.into_iter().zip(b).map(|(a, b)| (a - b) * (a - b)).collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}
