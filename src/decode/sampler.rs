//! From logits to a token: candle-transformers' ways of sampling, over the tokens that may be drawn.
//!
//! Its `LogitsProcessor` is the witness of the tests and not what runs: it takes a tensor, and with tensors comes every
//! operation on every type of element, a fifth of the module that a browser downloads.

use candle_transformers::generation::Sampling as Method;
use rand::SeedableRng;
use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;
use rand::rngs::StdRng;
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::tokenizer::TokenId;

/// How a token is drawn. The default is greedy: the most likely token, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Sampling {
    /// Divides the logits before the softmax. Zero, the default, is greedy and ignores the two limits below.
    pub temperature: f64,
    /// Draw among the `k` most likely tokens only.
    pub top_k: Option<usize>,
    /// Draw among the smallest set of tokens whose probabilities sum to `p`.
    pub top_p: Option<f64>,
}

impl Sampling {
    /// # Errors
    /// `invalid-argument` for a temperature that is negative or not finite, a `top_k` of zero, or a `top_p` outside (0, 1].
    pub fn check(self) -> Result<()> {
        self.method().map(|_| ())
    }

    fn method(self) -> Result<Method> {
        let invalid = |message: &str| Err(Error::new(ErrorKind::InvalidArgument, message));
        if !self.temperature.is_finite() || self.temperature < 0.0 {
            return invalid("temperature must be a finite number of at least 0");
        }
        if self.top_k == Some(0) {
            return invalid("topK must be at least 1");
        }
        if self.top_p.is_some_and(|p| !(p > 0.0 && p <= 1.0)) {
            return invalid("topP must be above 0 and at most 1");
        }
        let temperature = self.temperature;
        if temperature == 0.0 {
            return Ok(Method::ArgMax);
        }
        Ok(match (self.top_k, self.top_p) {
            (None, None) => Method::All { temperature },
            (Some(k), None) => Method::TopK { k, temperature },
            (None, Some(p)) => Method::TopP { p, temperature },
            (Some(k), Some(p)) => Method::TopKThenTopP { k, p, temperature },
        })
    }
}

/// Draws tokens; the same seed, options, masks and logits give the same tokens.
pub struct Sampler {
    method: Method,
    rng: StdRng,
}

impl Sampler {
    /// # Errors
    /// `invalid-argument` for options out of range; see [`Sampling`].
    pub fn new(seed: u64, sampling: Sampling) -> Result<Self> {
        Ok(Self { method: sampling.method()?, rng: StdRng::seed_from_u64(seed) })
    }

    /// Draws one of `logits`, one for each id of the vocabulary.
    ///
    /// # Errors
    /// `corrupt-model` if none is finite: the weights hold NaN or infinities.
    pub fn sample(&mut self, logits: &[f32]) -> Result<TokenId> {
        self.choose((0..).zip(logits.iter().copied()))
    }

    /// Draws one of `ids`, of which `logits` are: the same as from the logits of all tokens if those of all others were
    /// negative infinity.
    ///
    /// # Errors
    /// As [`sample`](Self::sample).
    pub fn sample_among(&mut self, ids: &[TokenId], logits: &[f32]) -> Result<TokenId> {
        self.choose(ids.iter().copied().zip(logits.iter().copied()))
    }

    /// Only what may be drawn goes in, so that a sort or a softmax costs no more than that.
    fn choose(&mut self, candidates: impl Iterator<Item = Candidate>) -> Result<TokenId> {
        let nothing = || Error::new(ErrorKind::CorruptModel, "the model gave no finite score for any allowed token");
        let candidates = candidates.filter(|(_, logit)| logit.is_finite());
        if matches!(self.method, Method::ArgMax) {
            return largest(candidates).ok_or_else(nothing);
        }
        let candidates: Vec<Candidate> = candidates.collect();
        match candidates[..] {
            [] => Err(nothing()),
            // A forced choice must not advance the random numbers by less than a free one would: it draws nothing either way.
            [(only, _)] => Ok(only),
            _ => self.draw(candidates),
        }
    }

    fn draw(&mut self, mut candidates: Vec<Candidate>) -> Result<TokenId> {
        let (temperature, k, p) = match self.method {
            Method::All { temperature } => (temperature, None, None),
            Method::TopK { k, temperature } => (temperature, Some(k), None),
            Method::TopP { p, temperature } => (temperature, None, Some(p)),
            Method::TopKThenTopP { k, p, temperature } => (temperature, Some(k), Some(p)),
            Method::ArgMax | Method::GumbelSoftmax { .. } => {
                return Err(Error::new(ErrorKind::Internal, "no option asks for this method"));
            }
        };
        soften(&mut candidates, temperature as f32);
        if let Some(k) = k.filter(|&k| k < candidates.len()) {
            candidates.select_nth_unstable_by(k, by_probability);
            candidates.truncate(k);
        }
        if let Some(p) = p.filter(|&p| p < candidates.iter().map(|(_, probability)| f64::from(*probability)).sum()) {
            keep_nucleus(&mut candidates, p as f32);
        }
        let weights = WeightedIndex::new(candidates.iter().map(|(_, probability)| probability))
            .map_err(|_| Error::new(ErrorKind::CorruptModel, "the model's scores leave nothing to draw from"))?;
        Ok(candidates[weights.sample(&mut self.rng)].0)
    }
}

/// A token, and its logit or its probability.
type Candidate = (TokenId, f32);

/// The one with the largest logit; the first of equals.
fn largest(candidates: impl Iterator<Item = Candidate>) -> Option<TokenId> {
    candidates.reduce(|best, candidate| if candidate.1 > best.1 { candidate } else { best }).map(|(id, _)| id)
}

/// Logits to probabilities: `exp((x − max) / temperature)`, divided by their sum.
fn soften(candidates: &mut [Candidate], temperature: f32) {
    let max = candidates.iter().map(|(_, logit)| logit / temperature).fold(f32::NEG_INFINITY, f32::max);
    for (_, value) in candidates.iter_mut() {
        *value = (*value / temperature - max).exp();
    }
    let sum: f32 = candidates.iter().map(|(_, value)| value).sum();
    for (_, value) in candidates.iter_mut() {
        *value /= sum;
    }
}

/// The most probable first.
fn by_probability(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    b.1.total_cmp(&a.1)
}

/// Makes impossible what is not among the most probable candidates that sum to `p` (at least the first of them stays).
/// <https://arxiv.org/abs/1904.09751>
fn keep_nucleus(candidates: &mut [Candidate], p: f32) {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by(|&i, &j| by_probability(&candidates[i], &candidates[j]));
    let mut sum = 0.0;
    for i in order {
        if sum >= p {
            candidates[i].1 = 0.0;
        } else {
            sum += candidates[i].1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(sampling: Sampling, seed: u64, logits: &[f32], n: usize) -> Vec<TokenId> {
        let mut sampler = Sampler::new(seed, sampling).expect("valid options");
        (0..n).map(|_| sampler.sample(logits).expect("a token")).collect()
    }

    #[test]
    fn greedy_takes_the_largest_logit() {
        assert_eq!(draw(Sampling::default(), 0, &[0.5, 2.0, -1.0, 1.9], 3), [1, 1, 1]);
    }

    #[test]
    fn non_finite_logits_are_never_drawn() {
        assert_eq!(draw(Sampling::default(), 0, &[f32::NAN, 1.0, f32::INFINITY], 1), [1]);
        let mut sampler = Sampler::new(0, Sampling::default()).expect("valid options");
        let error = sampler.sample(&[f32::NAN, f32::NEG_INFINITY]).expect_err("nothing to draw");
        assert_eq!(error.kind(), ErrorKind::CorruptModel);
    }

    #[test]
    fn a_draw_among_some_is_a_draw_with_the_others_ruled_out() {
        let (ids, logits) = ([1, 4, 6], [0.3, 0.9, 0.5]);
        let mut masked = [f32::NEG_INFINITY; 8];
        ids.iter().zip(logits).for_each(|(&id, logit)| masked[id as usize] = logit);
        for sampling in [
            Sampling::default(),
            Sampling { temperature: 0.7, ..Sampling::default() },
            Sampling { temperature: 1.3, top_k: Some(2), top_p: Some(0.9) },
        ] {
            let mut sampler = Sampler::new(9, sampling).expect("valid options");
            let among: Vec<_> = (0..64).map(|_| sampler.sample_among(&ids, &logits).expect("a token")).collect();
            assert_eq!(among, draw(sampling, 9, &masked, 64));
        }
    }

    #[test]
    fn one_seed_gives_one_sequence() {
        let sampling = Sampling { temperature: 1.0, ..Sampling::default() };
        let logits = [1.0, 1.1, 0.9, 1.05];
        assert_eq!(draw(sampling, 7, &logits, 32), draw(sampling, 7, &logits, 32));
        assert_ne!(draw(sampling, 7, &logits, 32), draw(sampling, 8, &logits, 32));
    }

    #[test]
    fn every_method_draws_what_candle_draws() {
        use candle_core::{Device, Tensor};
        use candle_transformers::generation::LogitsProcessor;

        for n in [2usize, 5, 60, 700] {
            let logits: Vec<f32> = (0..n).map(|i| ((i * 7919) % 1009) as f32 / 100.0).collect();
            let tensor = Tensor::from_vec(logits.clone(), n, &Device::Cpu).expect("a vector");
            for temperature in [0.0, 0.4, 1.0, 2.5] {
                for (top_k, top_p) in
                    [(None, None), (Some(3), None), (None, Some(0.7)), (Some(40), Some(0.9)), (Some(1), Some(1.0))]
                {
                    let sampling = Sampling { temperature, top_k, top_p };
                    let mut witness = LogitsProcessor::from_sampling(11, sampling.method().expect("valid options"));
                    let expected: Vec<u32> = (0..50).map(|_| witness.sample(&tensor).expect("a token")).collect();
                    assert_eq!(draw(sampling, 11, &logits, 50), expected, "{n} tokens, {sampling:?}");
                }
            }
        }
    }

    #[test]
    fn limits_cut_the_tail() {
        let logits = [3.0, 2.9, -2.0, -2.1];
        for sampling in [
            Sampling { temperature: 1.0, top_k: Some(2), top_p: None },
            Sampling { temperature: 1.0, top_k: None, top_p: Some(0.9) },
            Sampling { temperature: 1.0, top_k: Some(3), top_p: Some(0.9) },
        ] {
            let drawn = draw(sampling, 3, &logits, 200);
            assert!(drawn.iter().all(|&id| id < 2), "{sampling:?} drew from the tail");
            assert!(drawn.contains(&0) && drawn.contains(&1), "{sampling:?} never varied");
        }
    }

    #[test]
    fn options_out_of_range_are_refused() {
        for sampling in [
            Sampling { temperature: -1.0, ..Sampling::default() },
            Sampling { temperature: f64::NAN, ..Sampling::default() },
            Sampling { temperature: 1.0, top_k: Some(0), top_p: None },
            Sampling { temperature: 1.0, top_k: None, top_p: Some(0.0) },
            Sampling { temperature: 1.0, top_k: None, top_p: Some(1.5) },
        ] {
            let error = Sampler::new(0, sampling).err().expect("out of range");
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
    }
}
