//! How much the features of a proposed topic and a model's opinion count.

use std::array;

use fairhand::tasks::tag::{
    FEATURES, Likelihood, Proposal, QUESTION_WORDS, SHORTLIST, TOPICS_SHOWN, TopicWeights, first, in_doubt,
    propose_topics, topic_question, topic_text,
};

use crate::{Row, Weigher, rounded};

const FOLDS: usize = 5;
const STEPS: usize = 1500;
const RATE: f32 = 0.5;
/// Keeps weights small that few rows speak for.
const SHRINK: f32 = 0.003;
/// Brings log-probabilities and numbers of tokens to the size of the features.
const SCALE: f32 = 1.0 / 3.0;
/// More tokens than a topic has.
const TOKENS: usize = 48;

/// The features, a log-probability and a number of tokens.
const SIZE: usize = FEATURES.len() + 2;

/// A note's proposals with what a model thinks of each.
struct Sample<'a> {
    proposals: Vec<(Proposal, Likelihood)>,
    acceptable: &'a [String],
}

/// The weights of rules alone, and those of rules with a model.
type Both = [TopicWeights; 2];

pub fn fit(model: &mut Weigher, rows: &[&Row], blind: &[&Row]) -> fairhand::Result<Both> {
    let samples = measure(model, rows)?;
    let all: Vec<&Sample> = samples.iter().collect();
    let mut hits = [0; 2];
    for fold in 0..FOLDS {
        let others: Vec<&Sample> =
            samples.iter().enumerate().filter(|(i, _)| i % FOLDS != fold).map(|(_, s)| s).collect();
        let weights = descend_both(&others);
        let tested: Vec<&Sample> = samples.iter().skip(fold).step_by(FOLDS).collect();
        hits = add(hits, right(&tested, &weights));
    }
    report("by the weights of others", hits, all.len());
    let weights = descend_both(&all);
    report("by their own weights", right(&all, &weights), all.len());
    let blind = measure(model, blind)?;
    report("that were kept apart", right(&blind.iter().collect::<Vec<_>>(), &weights), blind.len());
    Ok(weights)
}

fn measure<'a>(model: &mut Weigher, rows: &[&'a Row]) -> fairhand::Result<Vec<Sample<'a>>> {
    let measured = |row: &&'a Row| {
        let proposals = propose_topics(&row.input);
        let texts: Vec<String> = proposals.iter().map(|proposal| topic_text(&proposal.name)).collect();
        let found = match texts.is_empty() {
            true => vec![],
            false => {
                model.weigh(&format!("{TOPICS_SHOWN}{}", topic_question(&row.input, QUESTION_WORDS)), &texts, TOKENS)?
            }
        };
        Ok(Sample { proposals: proposals.into_iter().zip(found).collect(), acceptable: &row.expected.topics })
    };
    rows.iter().map(measured).collect()
}

impl Sample<'_> {
    /// Whether a topic is acceptable, singular and plural aside.
    fn accepts(&self, name: &str) -> bool {
        let stems = |name: &str| name.split('-').map(|word| word.trim_end_matches('s').to_owned()).collect::<Vec<_>>();
        self.acceptable.iter().any(|topic| stems(topic) == stems(name))
    }

    /// Those among which a model chooses.
    fn shortlist(&self, rules: &TopicWeights) -> Vec<(Proposal, Likelihood)> {
        let ranked = rules.rank(self.proposals.iter().map(|(proposal, _)| proposal.clone()).collect());
        let found = |name: &str| self.proposals.iter().find(|(proposal, _)| proposal.name == name).cloned();
        ranked.iter().take(SHORTLIST).filter_map(|proposal| found(&proposal.name)).collect()
    }
}

fn descend_both(samples: &[&Sample]) -> Both {
    let vectors = |proposals: &[(Proposal, Likelihood)], sample: &Sample, opinion: bool| {
        let vector = |(proposal, found): &(Proposal, Likelihood)| {
            let opinions = [found.log_probability * SCALE, found.tokens as f32 * SCALE];
            let value = |i: usize| match i.checked_sub(FEATURES.len()) {
                None => proposal.features[i],
                Some(k) => f32::from(u8::from(opinion)) * opinions[k],
            };
            (array::from_fn(value), sample.accepts(&proposal.name))
        };
        proposals.iter().map(vector).collect::<Vec<_>>()
    };
    let rules = descend(&samples.iter().map(|sample| vectors(&sample.proposals, sample, false)).collect::<Vec<_>>());
    let short = |sample: &&Sample| vectors(&sample.shortlist(&rules), sample, true);
    let with_model = descend(&samples.iter().map(short).collect::<Vec<_>>());
    [rules, with_model]
}

/// Of each note, its proposals' numbers and whether each is acceptable → weights under which acceptable ones together are
/// likeliest, by gradient ascent.
fn descend(notes: &[Vec<([f32; SIZE], bool)>]) -> TopicWeights {
    let notes: Vec<_> = notes.iter().filter(|note| note.iter().any(|(_, good)| *good)).collect();
    let mut weights = [0.0_f32; SIZE];
    for _ in 0..STEPS {
        let mut slope = weights.map(|weight| -SHRINK * weight);
        for note in &notes {
            let score = |numbers: &[f32; SIZE]| numbers.iter().zip(weights).map(|(x, w)| x * w).sum::<f32>();
            let scores: Vec<f32> = note.iter().map(|(numbers, _)| score(numbers)).collect();
            let top = scores.iter().copied().fold(f32::MIN, f32::max);
            let shares: Vec<f32> = scores.iter().map(|score| (score - top).exp()).collect();
            let all: f32 = shares.iter().sum();
            let good: f32 = shares.iter().zip(*note).filter(|(_, (_, good))| *good).map(|(share, _)| share).sum();
            for (share, (numbers, is_good)) in shares.iter().zip(*note) {
                let pull = if *is_good { share / good.max(1e-9) } else { 0.0 } - share / all;
                for (slope, number) in slope.iter_mut().zip(numbers) {
                    *slope += pull * number / notes.len() as f32;
                }
            }
        }
        weights.iter_mut().zip(slope).for_each(|(weight, slope)| *weight += RATE * slope);
    }
    let [.., likelihood, tokens] = weights;
    let features = FEATURES.iter().zip(weights).map(|(name, weight)| ((*name).to_owned(), rounded(weight))).collect();
    TopicWeights { features, likelihood: rounded(likelihood * SCALE), tokens: rounded(tokens * SCALE) }
}

/// How many of the notes' topics are acceptable: by rules alone, and with the model where rules leave doubt, as the package
/// judges.
fn right(samples: &[&Sample], [rules, with_model]: &Both) -> [usize; 2] {
    let mut hits = [0; 2];
    for sample in samples {
        let alone = rules.judge(sample.proposals.iter().map(|(proposal, _)| proposal.clone()).collect(), &[]);
        let (proposals, found): (Vec<_>, Vec<_>) = sample.shortlist(rules).into_iter().unzip();
        let together = if in_doubt(&alone) { with_model.judge(proposals, &found) } else { alone.clone() };
        let right = |topics| first(topics).is_some_and(|topic| sample.acceptable.contains(&topic.name));
        hits = add(hits, [usize::from(right(&alone)), usize::from(right(&together))]);
    }
    hits
}

fn add(a: [usize; 2], b: [usize; 2]) -> [usize; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

fn report(which: &str, [rules, together]: [usize; 2], of: usize) {
    println!("topics, those {which}: {rules} of {of} by rules, {together} with the model");
}
