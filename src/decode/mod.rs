//! Decoding: sessions, sampling, generations and scores of candidates, in steps of bounded work, without input, output or a clock.

mod draft;
mod generation;
mod sampler;
mod score;
mod session;
mod stop;

pub use generation::{Answer, FinishReason, Generation, Plan, Step, Usage};
pub use sampler::{Sampler, Sampling};
pub use score::{Scorer, Scores, Scoring};
pub use session::{Reading, Session};

pub(crate) use session::overflow;
