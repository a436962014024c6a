//! Our greedy tokens against llama.cpp's, on two real models (`tests/oracle/greedy.mjs` made the recordings).
//!
//! Both round activations to 8 bits in every product, and a rounding that tips over early moves all logits of the end.
//! So where llama.cpp's best two tokens are close, a faithful implementation may choose the other one, as llama.cpp
//! itself does when its cache holds f32 in place of f16. What counts as close is therefore not ours to say: it is how far
//! llama.cpp's own variants, fed the same tokens, move the gap between its best two. Over all steps we may move it as far,
//! and no more. At a few steps the gap is far more sensitive than at others; a difference there has to be within what
//! changes that are too small to matter do to our own gap.

mod model_support;

use fairhand::model::{KvCache, Model, Pass};
use model_support::{argmax, gemma_file, load, run, smollm2, smollm2_file};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    variants: Vec<Variant>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Variant {
    gap_shift: GapShift,
    /// One for each step at which this variant's best token is another than the reference's.
    gaps_where_different: Vec<Option<f64>>,
}

/// Quantiles over all steps of how far a variant moves the gap between the reference's best two tokens, in logits.
#[derive(Debug, Deserialize)]
struct GapShift {
    median: f64,
    p95: f64,
    p99: f64,
}

impl GapShift {
    fn of(mut shifts: Vec<f64>) -> Self {
        shifts.sort_by(f64::total_cmp);
        let quantile = |q: f64| shifts[(q * shifts.len() as f64) as usize];
        Self { median: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99) }
    }

    /// The larger of each.
    fn or(self, other: &Self) -> Self {
        let Self { median, p95, p99 } = self;
        Self { median: median.max(other.median), p95: p95.max(other.p95), p99: p99.max(other.p99) }
    }
}

#[derive(Deserialize)]
struct Case {
    prompt: Vec<u32>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    token: u32,
    /// The next best tokens, and how far each lies below the best, in logits.
    runners_up: Vec<(u32, f64)>,
}

/// Allowed over what llama.cpp's variants do to it: their numbers are themselves samples, of two variants.
const MARGIN: f64 = 1.3;

fn golden(json: &str) -> Golden {
    serde_json::from_str(json).expect("a recording")
}

#[test]
fn smollm2_writes_what_it_writes_in_llama_cpp_but_for_the_noise() {
    let golden = golden(include_str!("data/model/smollm2_greedy.json"));
    assert!(golden.cases.len() >= 20 && golden.cases.iter().all(|case| case.steps.len() == 40));
    compare(golden, smollm2(), smollm2_file);
}

#[test]
fn gemma_writes_what_it_writes_in_llama_cpp_but_for_the_noise() {
    let Some(file) = gemma_file() else { return };
    let golden = golden(include_str!("data/model/gemma3_greedy.json"));
    assert!(golden.cases.len() >= 100 && golden.cases.iter().all(|case| case.steps.len() == 12));
    compare(golden, &load(&file), || file.clone());
}

/// Holds a model's choices against a recording. `file` gives the model's bytes, for a closer look where one is needed.
fn compare(golden: Golden, model: &Model, file: impl Fn() -> Vec<u8>) {
    let none = GapShift { median: 0.0, p95: 0.0, p99: 0.0 };
    let noise = golden.variants.iter().fold(none, |noise, variant| noise.or(&variant.gap_shift));
    let own_differences = golden.variants.iter().map(|variant| variant.gaps_where_different.len()).max().unwrap();

    let (mut shifts, mut differences, mut beyond) = (Vec::new(), Vec::new(), 0);
    for (number, case) in golden.cases.iter().enumerate() {
        // One pass over the prompt and llama.cpp's tokens: after each of them, our choice of the next.
        let fed: Vec<u32> = case.steps.iter().map(|step| step.token).collect();
        let tokens = [&case.prompt[..], &fed[..fed.len() - 1]].concat();
        let mut kv = KvCache::new(model.config(), tokens.len()).unwrap();
        let pass = Pass::new(&tokens).chunk(32).logits_from(case.prompt.len() - 1);
        let logits = run(pass, model, &mut kv);

        for (index, (step, logits)) in case.steps.iter().zip(logits.chunks(model.config().vocab_size)).enumerate() {
            let (second, gap) = step.runners_up[0];
            shifts.push((f64::from(logits[step.token as usize] - logits[second as usize]) - gap).abs());
            let ours = argmax(logits);
            if ours == step.token {
                continue;
            }
            let place = format!("prompt {number}, step {index}");
            let known = step.runners_up.iter().find(|(token, _)| *token == ours);
            let Some(&(_, gap)) = known else {
                // Further below the best than the last runner-up, by no one knows how much.
                let (_, least) = step.runners_up[step.runners_up.len() - 1];
                assert!(least <= noise.p99, "{place}: ours is {ours}, more than {least} below llama.cpp's best");
                beyond += 1;
                differences.push((number, format!("{place}: more than {least} logits apart for llama.cpp")));
                continue;
            };
            let mut difference = format!("{place}: {gap} logits apart for llama.cpp");
            if gap > noise.p99 {
                let (mean, deviation) = sensitivity(file(), &tokens[..case.prompt.len() + index], step.token, ours);
                difference += &format!(", and {mean:.3} ± {deviation:.3} for us");
                assert!((mean - gap).abs() <= 3.0 * deviation, "{difference}");
            }
            differences.push((number, difference));
        }
    }

    let steps = shifts.len();
    let shift = GapShift::of(shifts);
    let identical = (0..golden.cases.len()).filter(|case| differences.iter().all(|(number, _)| number != case)).count();
    println!("{} of {steps} steps differ; llama.cpp's variants differ in up to {own_differences}", differences.len());
    println!("{identical} of {} prompts identical in all tokens", golden.cases.len());
    println!("gap moved by {shift:?}; llama.cpp's variants move it by up to {noise:?}");
    differences.iter().for_each(|(_, difference)| println!("  {difference}"));
    assert!(differences.len() as f64 <= MARGIN * own_differences as f64, "{differences:?}");
    let own_beyond = |variant: &Variant| variant.gaps_where_different.iter().filter(|gap| gap.is_none()).count();
    let own_beyond = golden.variants.iter().map(own_beyond).max().unwrap();
    assert!(beyond as f64 <= MARGIN * own_beyond as f64, "{beyond} choices beyond the runners-up: {differences:?}");
    for (ours, theirs) in [(shift.median, noise.median), (shift.p95, noise.p95), (shift.p99, noise.p99)] {
        assert!(ours <= MARGIN * theirs, "gap moved by {shift:?}; llama.cpp's variants move it by up to {noise:?}");
    }
}

/// Mean and standard deviation of our gap between two tokens that may follow `tokens`, under changes too small to matter:
/// the norms' ε, which is there only to keep a division away from zero, is made larger by half a per cent at a time.
fn sensitivity(mut file: Vec<u8>, tokens: &[u32], best: u32, other: u32) -> (f64, f64) {
    const SAMPLES: usize = 10;
    const KEY: &[u8] = b".attention.layer_norm_rms_epsilon";
    let key = file.windows(KEY.len()).position(|window| window == KEY).expect("the file has an epsilon");
    let value = key + KEY.len() + 4..key + KEY.len() + 8; // after the number of its type
    let epsilon = f32::from_le_bytes(*file[value.clone()].first_chunk().expect("a float"));
    let mut gap = |sample: usize| {
        let epsilon = epsilon * (1.0 + 0.005 * sample as f32);
        file[value.clone()].copy_from_slice(&epsilon.to_le_bytes());
        let model = load(&file);
        let mut kv = KvCache::new(model.config(), tokens.len()).unwrap();
        let logits = model.forward(tokens, &mut kv).unwrap();
        f64::from(logits[best as usize] - logits[other as usize])
    };
    let gaps: Vec<f64> = (0..SAMPLES).map(&mut gap).collect();
    let mean = gaps.iter().sum::<f64>() / SAMPLES as f64;
    let variance = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / (SAMPLES - 1) as f64;
    (mean, variance.sqrt())
}

/// What the test above takes for granted: a whole pass chooses what generating token by token chooses.
#[test]
fn generating_token_by_token_gives_the_same_logits() {
    let golden = golden(include_str!("data/model/smollm2_greedy.json"));
    let model = smollm2();
    let case = &golden.cases[0];
    let mut kv = KvCache::new(model.config(), 64).unwrap();
    let mut logits = model.forward(&case.prompt, &mut kv).unwrap();
    let mut generated = Vec::new();
    let mut choices = Vec::new();
    for _ in 0..12 {
        choices.extend_from_slice(&logits);
        generated.push(argmax(&logits));
        logits = model.forward(&generated[generated.len() - 1..], &mut kv).unwrap();
    }
    let tokens = [&case.prompt[..], &generated[..11]].concat();
    let mut kv = KvCache::new(model.config(), 64).unwrap();
    assert!(run(Pass::new(&tokens).logits_from(case.prompt.len() - 1), model, &mut kv) == choices);
}
