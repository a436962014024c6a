//! How much the words of a note and a model's scores count towards its intent.

use fairhand::tasks::tag::{
    Intent, Likelihood, Weights, allowance, classes, intent_cues, judge, likeliest, standing, to_weigh,
};

use crate::{Row, Weigher, rounded};

const STEPS: usize = 3000;
const RATE: f32 = 0.3;
/// Keeps the biases small: there are more intents than notes of some of them.
const SHRINK: f32 = 0.01;

/// Which intents are weighed, and with how many tokens.
type Weighed = ([bool; 6], usize);

/// What is known of a note, and its intent's place in [`Intent::ALL`].
struct Sample {
    cues: [f32; 6],
    /// None where the cues settle the intent.
    standing: Option<Vec<f32>>,
    intent: usize,
    accepted: Vec<usize>,
}

pub fn fit(model: &mut Weigher, rows: &[&Row], blind: &[&Row]) -> fairhand::Result<Weights> {
    let samples = measure(model, rows)?;
    let halves: [Vec<&Sample>; 2] = [0, 1].map(|half| samples.iter().skip(half).step_by(2).collect());
    for (train, test) in [(0, 1), (1, 0)] {
        let weights = descend(&halves[train]);
        println!("intents, half {test}, by the weights of half {train}: {}", right(&halves[test], &weights));
    }
    let all: Vec<&Sample> = samples.iter().collect();
    let weights = descend(&all);
    println!("intents, all by their own weights: {}", right(&all, &weights));
    let cues_alone = Weights { cues: 1.0, model: 0.0, bias: [0.0; 6] };
    println!("intents, all by cues alone: {}", right(&all, &cues_alone));
    let blind = measure(model, blind)?;
    let blind: Vec<&Sample> = blind.iter().collect();
    println!("intents, those kept apart: {}, by cues alone: {}", right(&blind, &weights), right(&blind, &cues_alone));
    Ok(weights)
}

/// Weighs every note after each class's prefix that the package would put it behind, and as much of it.
fn measure(model: &mut Weigher, rows: &[&Row]) -> fairhand::Result<Vec<Sample>> {
    let mut asked: Vec<([f32; 6], Option<Weighed>, String)> = vec![];
    for row in rows {
        let note = format!(" {}", row.input.trim());
        let cues = intent_cues(&row.input);
        asked.push((cues, to_weigh(&cues, allowance(model.count(row.input.trim())?)), note));
    }
    let mut found: Vec<Vec<Option<Likelihood>>> = vec![vec![]; rows.len()];
    for (k, class) in classes().iter().enumerate() {
        for ((_, weighed, note), found) in asked.iter().zip(&mut found) {
            found.push(match weighed {
                Some((which, tokens)) if which[k] => {
                    model.weigh(&class.prefix(), std::slice::from_ref(note), *tokens)?.into_iter().next()
                }
                _ => None,
            });
        }
    }
    let place = |intent: &Intent| Intent::ALL.iter().position(|other| other == intent);
    let mut samples = vec![];
    for ((row, (cues, weighed, _)), found) in rows.iter().zip(&asked).zip(&found) {
        samples.push(Sample {
            cues: *cues,
            standing: weighed.map(|_| standing(found)),
            intent: place(&row.expected.intent).unwrap_or(0),
            accepted: row.accept_intents.iter().filter_map(place).collect(),
        });
    }
    Ok(samples)
}

/// Logistic regression by plain gradient descent, over what the cues leave open: the rows are few, and the sum of losses has
/// one lowest place.
fn descend(samples: &[&Sample]) -> Weights {
    let open: Vec<_> = samples.iter().filter_map(|sample| Some((sample, sample.standing.as_ref()?))).collect();
    let mut weights = Weights { cues: 0.8, model: 1.0, bias: [0.0; 6] };
    for _ in 0..STEPS {
        let (mut cues, mut model, mut bias) = (0.0, 0.0, [0.0; 6]);
        for (sample, standing) in &open {
            let judged = judge(sample.cues, standing, &weights);
            for k in 0..6 {
                let error = judged[k] - f32::from(k == sample.intent);
                cues += error * sample.cues[k].max(1e-4).ln();
                model += error * standing[k];
                bias[k] += error;
            }
        }
        let step = RATE / open.len().max(1) as f32;
        weights.cues -= step * cues;
        weights.model -= step * model;
        for k in 0..6 {
            weights.bias[k] -= step * bias[k] + RATE * SHRINK * weights.bias[k];
        }
    }
    Weights { cues: rounded(weights.cues), model: rounded(weights.model), bias: weights.bias.map(rounded) }
}

/// How many intents are right, as the package judges: settled by cues where they are sure.
fn right(samples: &[&Sample], weights: &Weights) -> String {
    let is_right = |sample: &&&Sample| {
        let judged = match &sample.standing {
            Some(standing) => judge(sample.cues, standing, weights),
            None => sample.cues,
        };
        let said = likeliest(&judged);
        said == sample.intent || sample.accepted.contains(&said)
    };
    format!("{} of {}", samples.iter().filter(is_right).count(), samples.len())
}
