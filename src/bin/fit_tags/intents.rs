//! How much the words of a note and a model's scores count towards its intent.

use fairhand::tasks::tag::{
    Intent, Likelihood, MAX_NOTE_TOKENS, SURE, WEIGHED, Weights, classes, intent_cues, judge, likeliest, standing,
};

use crate::{Row, Weigher, rounded};

const STEPS: usize = 3000;
const RATE: f32 = 0.3;
/// Keeps the biases small: there are more intents than notes of some of them.
const SHRINK: f32 = 0.01;

/// What is known of a note, and its intent's place in [`Intent::ALL`].
struct Sample {
    cues: [f32; 6],
    standing: Vec<f32>,
    intent: usize,
    accepted: Vec<usize>,
}

pub fn fit(model: &mut Weigher, rows: &[&Row]) -> fairhand::Result<Weights> {
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
    Ok(weights)
}

/// Weighs every note after every class's prefix.
fn measure(model: &mut Weigher, rows: &[&Row]) -> fairhand::Result<Vec<Sample>> {
    let mut found: Vec<Vec<Likelihood>> = vec![vec![]; rows.len()];
    for class in classes() {
        for (row, found) in rows.iter().zip(&mut found) {
            found.extend(model.weigh(&class.prefix(), &[format!(" {}", row.input.trim())], MAX_NOTE_TOKENS)?);
        }
    }
    let place = |intent: &Intent| Intent::ALL.iter().position(|other| other == intent);
    let sample = |(row, found): (&&Row, &Vec<Likelihood>)| {
        let cues = intent_cues(&row.input);
        let weighed: Vec<_> = found.iter().zip(cues).map(|(&found, p)| (p >= WEIGHED).then_some(found)).collect();
        Sample {
            cues,
            standing: standing(&weighed),
            intent: place(&row.expected.intent).unwrap_or(0),
            accepted: row.accept_intents.iter().filter_map(place).collect(),
        }
    };
    Ok(rows.iter().zip(&found).map(sample).collect())
}

/// Logistic regression by plain gradient descent: the rows are few, and the sum of losses has one lowest place.
fn descend(samples: &[&Sample]) -> Weights {
    let mut weights = Weights { cues: 0.8, model: 1.0, bias: [0.0; 6] };
    for _ in 0..STEPS {
        let (mut cues, mut model, mut bias) = (0.0, 0.0, [0.0; 6]);
        for sample in samples {
            let judged = judge(sample.cues, &sample.standing, &weights);
            for k in 0..6 {
                let error = judged[k] - f32::from(k == sample.intent);
                cues += error * sample.cues[k].max(1e-4).ln();
                model += error * sample.standing[k];
                bias[k] += error;
            }
        }
        let step = RATE / samples.len() as f32;
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
        let settled = sample.cues.iter().any(|&p| p >= SURE);
        let judged = if settled { sample.cues } else { judge(sample.cues, &sample.standing, weights) };
        let said = likeliest(&judged);
        said == sample.intent || sample.accepted.contains(&said)
    };
    format!("{} of {}", samples.iter().filter(is_right).count(), samples.len())
}
