//! Any number of threads gives the same logits, bit for bit. A program of its own: its threads stay.

mod model_support;

use candle_core::quantized::GgmlDType;
use fairhand::model::kernels::pool;
use fairhand::model::{KvCache, Model};
use model_support::tiny::{Tiny, families};
use model_support::{load, smollm2};

/// Logits after a text that is read in one pass, and after each of some single tokens.
fn logits(model: &Model, prompt: usize) -> Vec<Vec<u32>> {
    let vocabulary = model.config().vocab_size as u32;
    let tokens: Vec<u32> = (0..prompt as u32 + 8).map(|i| i * 7919 % vocabulary).collect();
    let mut kv = KvCache::new(model.config(), tokens.len()).unwrap();
    let mut read = |tokens: &[u32]| model.forward(tokens, &mut kv).unwrap().into_iter().map(f32::to_bits).collect();
    let (prompt, singles) = tokens.split_at(prompt);
    let first = read(prompt);
    std::iter::once(first).chain(singles.iter().map(|&token| read(&[token]))).collect()
}

#[test]
fn any_number_of_threads_gives_the_same_logits() {
    let wide = Tiny { width: 256, heads: 8, kv_heads: 2, head_dim: 32, rope_dims: 32, ffn: 512, ..Tiny::default() };
    let quantised = [GgmlDType::Q4_1, GgmlDType::Q5_0, GgmlDType::Q8_0, GgmlDType::Q6K, GgmlDType::F16];
    let tiny: Vec<Model> = quantised
        .map(|dtype| Tiny { dtype, ..wide.clone() })
        .into_iter()
        .chain(families())
        .map(|tiny| load(&tiny.file()))
        .collect();
    let all = || -> Vec<_> { tiny.iter().map(|model| logits(model, 20)).chain([logits(smollm2(), 75)]).collect() };
    assert_eq!(pool::threads(), 1);
    let alone = all();
    for threads in [2, 3, 5] {
        pool::start(threads);
        assert_eq!(pool::threads(), threads);
        for (i, (together, alone)) in all().into_iter().zip(&alone).enumerate() {
            assert!(together == *alone, "model {i} with {threads} threads");
        }
    }
}
