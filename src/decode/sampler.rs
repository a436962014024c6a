//! From logits to a token: candle-transformers' `LogitsProcessor` over the tokens that may be drawn.

use candle_core::{Device, Tensor};
use candle_transformers::generation::{LogitsProcessor, Sampling as CandleSampling};
use serde::Deserialize;

use crate::error::{Error, ErrorKind, Result};
use crate::tokenizer::TokenId;

/// How a token is drawn. The default is greedy: the most likely token, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
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
        self.to_candle().map(|_| ())
    }

    fn to_candle(self) -> Result<CandleSampling> {
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
            return Ok(CandleSampling::ArgMax);
        }
        Ok(match (self.top_k, self.top_p) {
            (None, None) => CandleSampling::All { temperature },
            (Some(k), None) => CandleSampling::TopK { k, temperature },
            (None, Some(p)) => CandleSampling::TopP { p, temperature },
            (Some(k), Some(p)) => CandleSampling::TopKThenTopP { k, p, temperature },
        })
    }
}

/// Draws tokens; the same seed, options, masks and logits give the same tokens.
pub struct Sampler {
    processor: LogitsProcessor,
}

impl Sampler {
    /// # Errors
    /// `invalid-argument` for options out of range; see [`Sampling`].
    pub fn new(seed: u64, sampling: Sampling) -> Result<Self> {
        Ok(Self { processor: LogitsProcessor::from_sampling(seed, sampling.to_candle()?) })
    }

    /// Draws one of `logits`, one for each id of the vocabulary.
    ///
    /// # Errors
    /// `corrupt-model` if none is finite: the weights hold NaN or infinities.
    pub fn sample(&mut self, logits: &[f32]) -> Result<TokenId> {
        self.draw((0..).zip(logits.iter().copied()))
    }

    /// Draws one of `ids`, of which `logits` are: the same as from the logits of all tokens if those of all others were
    /// negative infinity.
    ///
    /// # Errors
    /// As [`sample`](Self::sample).
    pub fn sample_among(&mut self, ids: &[TokenId], logits: &[f32]) -> Result<TokenId> {
        self.draw(ids.iter().copied().zip(logits.iter().copied()))
    }

    /// Only what may be drawn goes in, so that a sort or a softmax costs no more than that.
    fn draw(&mut self, candidates: impl Iterator<Item = (TokenId, f32)>) -> Result<TokenId> {
        let (ids, values): (Vec<TokenId>, Vec<f32>) = candidates.filter(|(_, logit)| logit.is_finite()).unzip();
        match ids[..] {
            [] => Err(Error::new(ErrorKind::CorruptModel, "the model gave no finite score for any allowed token")),
            // A forced choice must not advance the random numbers by less than a free one would: it draws nothing either way.
            [only] => Ok(only),
            _ => {
                let count = values.len();
                let values = Tensor::from_vec(values, count, &Device::Cpu).map_err(internal)?;
                let index = self.processor.sample(&values).map_err(internal)?;
                ids.get(index as usize)
                    .copied()
                    .ok_or_else(|| Error::new(ErrorKind::Internal, "the sampler drew an index outside its input"))
            }
        }
    }
}

fn internal(error: candle_core::Error) -> Error {
    Error::new(ErrorKind::Internal, format!("sampling failed: {error}"))
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
