//! Our greedy tokens against llama.cpp's, for 24 prompts of 40 tokens (`tests/oracle/greedy.mjs` made them).
//!
//! Both round activations to 8 bits in every product, and a rounding that tips over early moves all logits of the end.
//! So where llama.cpp's best two tokens are close, a faithful implementation may choose the other one, as llama.cpp
//! itself does when its cache holds f32 in place of f16. What counts as close is therefore not ours to say: it is how much
//! llama.cpp's own variants, fed the same tokens, move the gap between its best two.

mod model_support;

use fairhand::model::{KvCache, Pass};
use model_support::{argmax, run, smollm2};
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
#[derive(Deserialize)]
struct GapShift {
    p99: f64,
}

#[derive(Deserialize)]
struct Case {
    text: String,
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

#[test]
fn greedy_tokens_are_those_of_llama_cpp_but_for_its_own_noise() {
    let golden: Golden = serde_json::from_str(include_str!("data/model/smollm2_greedy.json")).unwrap();
    assert!(golden.cases.len() >= 20 && golden.cases.iter().all(|case| case.steps.len() == 40));
    let noise = golden.variants.iter().map(|variant| variant.gap_shift.p99).fold(0.0, f64::max);
    let own_differences = golden.variants.iter().map(|variant| variant.gaps_where_different.len()).max().unwrap();

    let model = smollm2();
    let (mut steps, mut differences, mut identical_cases) = (0, Vec::new(), 0);
    for case in &golden.cases {
        // One pass over the prompt and llama.cpp's tokens: after each of them, our choice of the next.
        let fed: Vec<u32> = case.steps.iter().map(|step| step.token).collect();
        let tokens = [&case.prompt[..], &fed[..fed.len() - 1]].concat();
        let mut kv = KvCache::new(model.config(), tokens.len()).unwrap();
        let pass = Pass::new(&tokens).chunk(32).logits_from(case.prompt.len() - 1);
        let logits = run(pass, model, &mut kv);

        let before = differences.len();
        for (index, (step, logits)) in case.steps.iter().zip(logits.chunks(model.config().vocab_size)).enumerate() {
            steps += 1;
            let ours = argmax(logits);
            if ours == step.token {
                continue;
            }
            let gap = step.runners_up.iter().find(|(token, _)| *token == ours).map(|(_, gap)| *gap);
            let place = format!("step {index} after {:?}", case.text);
            match gap {
                Some(gap) if gap <= noise => differences.push((gap, place)),
                Some(gap) => panic!("{place}: ours is {ours}, {gap} below llama.cpp's {} (noise {noise})", step.token),
                None => panic!("{place}: ours is {ours}, not among llama.cpp's best, {}", step.token),
            }
        }
        identical_cases += usize::from(differences.len() == before);
    }

    println!("{identical_cases} of {} prompts identical in all 40 tokens", golden.cases.len());
    println!("{} of {steps} steps differ; llama.cpp's variants differ in up to {own_differences}", differences.len());
    differences.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (gap, place) in &differences {
        println!("  gap {gap:.4} (noise {noise}): {place}");
    }
    assert!(
        differences.len() <= own_differences * 3 / 2,
        "{} of {steps} steps differ from llama.cpp, which differs from itself in at most {own_differences}",
        differences.len()
    );
}

/// What the test above takes for granted: a whole pass chooses what generating token by token chooses.
#[test]
fn generating_token_by_token_gives_the_same_logits() {
    let golden: Golden = serde_json::from_str(include_str!("data/model/smollm2_greedy.json")).unwrap();
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
