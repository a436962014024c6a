//! One generation: a prompt goes in, and steps of bounded work bring out tokens until the answer ends.
//!
//! ```text
//! read the prompt            (all but what the session has read already)
//! loop
//!   logits  := the model, after the last token
//!   token   := sample(logits, grammar mask within the budget)
//!   stop if the token ends the answer, or the budget is spent
//!   append the token, and whatever text the grammar forces after it, to the session
//! ```
//! What the code adds: where a text seems to be repeated, several tokens are read at once and judged one after the other
//! (see [`draft`](super::draft)); stop strings are held back until they cannot begin any more, characters are given out whole, and
//! a cancelled generation gives its session back in a usable state.

use std::sync::Arc;

use serde::Serialize;

use crate::decode::draft;
use crate::decode::sampler::{Sampler, Sampling};
use crate::decode::session::{self, Reading, Session};
use crate::decode::stop::StopFilter;
use crate::error::{Detail, Error, ErrorKind, Result};
use crate::grammar::Constraint;
use crate::model::Model;
use crate::tokenizer::{Special, StreamDecoder, TokenId, Tokenizer};

/// The head is computed for the allowed tokens alone where they are at most this part of the vocabulary. A kernel
/// computes eight neighbours for the price of one, so scattered tokens may cost up to eight times their number.
const FEW: usize = 16;

/// What to generate.
pub struct Plan {
    /// The whole prompt, control tokens included.
    pub prompt: Vec<TokenId>,
    /// The most tokens the answer may have, its end token included.
    pub max_tokens: usize,
    pub sampling: Sampling,
    pub seed: u64,
    /// Keeps the answer inside a grammar; it then always ends as a complete sentence of it.
    pub constraint: Option<Constraint>,
    /// The answer ends before the first of these texts.
    pub stop: Vec<String>,
}

impl Plan {
    /// Whether the plan can succeed in a context of `capacity` tokens, before any work is done.
    ///
    /// # Errors
    /// - `invalid-argument`: an empty prompt, `max_tokens` of zero, sampling options out of range, an empty stop text,
    ///   or a `max_tokens` in which no sentence of the grammar fits (with the number needed).
    /// - `context-overflow`: prompt and answer do not fit (with both numbers).
    pub fn check(&mut self, capacity: usize) -> Result<()> {
        if self.prompt.is_empty() {
            return Err(Error::new(ErrorKind::InvalidArgument, "the prompt is empty"));
        }
        if self.max_tokens == 0 {
            return Err(Error::new(ErrorKind::InvalidArgument, "maxTokens must be at least 1"));
        }
        let requested = self.prompt.len().saturating_add(self.max_tokens);
        if requested > capacity {
            return Err(session::overflow(requested, capacity));
        }
        if let Some(constraint) = &mut self.constraint {
            let needed = constraint.min_tokens()?;
            if needed > self.max_tokens {
                let message = format!(
                    "the shortest answer in the grammar needs {needed} tokens and maxTokens is {}",
                    self.max_tokens
                );
                return Err(Error::new(ErrorKind::InvalidArgument, message)
                    .with_detail(Detail::Limit { requested: needed as u64, available: self.max_tokens as u64 }));
            }
        }
        StopFilter::check(&self.stop)?;
        self.sampling.check()
    }
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    /// The model ended it, or the grammar left nothing to add.
    End,
    /// A stop text came up.
    Stop,
    /// `max_tokens` was reached. Under a grammar the answer is complete all the same.
    Length,
}

/// Token counts of one generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    pub prompt_tokens: usize,
    /// Prompt tokens that an earlier call had read.
    pub cached_tokens: usize,
    /// Tokens of the answer, forced ones included.
    pub completion_tokens: usize,
    /// Tokens that the grammar dictated, so that the model was not asked.
    pub forced_tokens: usize,
}

impl Usage {
    /// Adds another generation's counts.
    pub fn add(&mut self, other: Self) {
        self.prompt_tokens += other.prompt_tokens;
        self.cached_tokens += other.cached_tokens;
        self.completion_tokens += other.completion_tokens;
        self.forced_tokens += other.forced_tokens;
    }
}

/// What one [`Generation::step`] achieved.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Part of the prompt was read: `read` of `total` tokens are behind us.
    Prefill { read: usize, total: usize },
    /// Part of a token was computed, or a token whose text is not yet whole.
    Decode,
    /// New text, to be appended to what came before.
    Text(String),
    /// The answer is complete; call [`Generation::finish`].
    Finished(FinishReason),
}

/// An answer under way. It owns its session until [`finish`](Self::finish) or [`cancel`](Self::cancel) gives it back.
pub struct Generation {
    model: Arc<Model>,
    tokenizer: Arc<Tokenizer>,
    session: Session,
    sampler: Sampler,
    constraint: Option<Constraint>,
    filter: StopFilter,
    decoder: StreamDecoder,
    max_tokens: usize,
    text: String,
    usage: Usage,
    finished: Option<FinishReason>,
    /// What the grammar allows after the tokens so far, once that is known; ascending.
    allowed: Option<Arc<[TokenId]>>,
    /// Whether only the logits of `allowed` were asked for.
    asked: bool,
    /// The budget, not the model, decided at least one token.
    pressed: bool,
}

/// A finished answer.
pub struct Answer {
    pub text: String,
    pub finish_reason: FinishReason,
    /// `max_tokens` was so near that it shaped the end of the answer.
    pub truncated: bool,
    pub usage: Usage,
    pub session: Session,
}

impl Generation {
    /// Begins an answer; no work is done before [`step`](Self::step).
    ///
    /// # Errors
    /// As [`Plan::check`] for the session's capacity.
    pub fn new(model: Arc<Model>, tokenizer: Arc<Tokenizer>, mut session: Session, mut plan: Plan) -> Result<Self> {
        plan.check(session.capacity())?;
        let Plan { prompt, max_tokens, sampling, seed, constraint, stop } = plan;
        let cached_tokens = session.restart(&prompt);
        Ok(Self {
            model,
            tokenizer,
            session,
            sampler: Sampler::new(seed, sampling)?,
            constraint,
            filter: StopFilter::new(stop)?,
            decoder: StreamDecoder::default(),
            max_tokens,
            text: String::new(),
            usage: Usage { prompt_tokens: prompt.len(), cached_tokens, ..Usage::default() },
            finished: None,
            allowed: None,
            asked: false,
            pressed: false,
        })
    }

    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The most tokens that the answer may have.
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// Bounded work: one step of the model, and when that completes the logits, one token.
    ///
    /// # Errors
    /// The model's, and `corrupt-model` if its scores are not numbers. After an error the generation can only be cancelled.
    pub fn step(&mut self) -> Result<Step> {
        if let Some(reason) = self.finished {
            return Ok(Step::Finished(reason));
        }
        self.ask()?;
        match self.session.step(&self.model)? {
            Reading::More if self.usage.completion_tokens == 0 => {
                Ok(Step::Prefill { read: self.session.progress(), total: self.usage.prompt_tokens })
            }
            Reading::More => Ok(Step::Decode),
            Reading::Done(logits) => self.choose(&logits),
        }
    }

    /// Before a reading begins, finds out what the grammar allows after it: where that is little, the model need not
    /// score the rest of the vocabulary.
    fn ask(&mut self) -> Result<()> {
        let (None, Some(constraint)) = (&self.allowed, &mut self.constraint) else { return Ok(()) };
        let mask = constraint.mask(Some(self.max_tokens - self.usage.completion_tokens))?;
        let vocab_size = self.model.config().vocab_size;
        let allowed: Arc<[TokenId]> = mask.iter().take_while(|&id| (id as usize) < vocab_size).collect();
        self.asked = allowed.len() <= vocab_size / FEW;
        if self.asked {
            self.session.ask(Arc::clone(&allowed));
        }
        self.allowed = Some(allowed);
        self.pressed |= constraint.budget_pressed();
        Ok(())
    }

    /// Draws the next token and takes it in; where the reading held guesses, goes on for as long as they were right.
    fn choose(&mut self, logits: &[f32]) -> Result<Step> {
        let guesses = self.session.guesses().to_vec();
        let mut text = String::new();
        for (i, logits) in logits.chunks_exact(logits.len() / (guesses.len() + 1)).enumerate() {
            let token = self.draw(logits)?;
            let mut fresh = vec![token];
            if let Some(reason) = self.take(&mut fresh, &mut text)? {
                self.session.settle(i);
                return Ok(self.end(reason, text));
            }
            if guesses.get(i) != Some(&token) {
                self.session.settle(i);
                self.session.extend(&fresh)?;
                break;
            }
        }
        // Under a grammar what can be known in advance is forced already.
        if self.constraint.is_none() {
            let left = self.max_tokens - self.usage.completion_tokens;
            let guesses = draft::lookup(self.session.tokens(), left - 1).to_vec();
            self.session.guess(&guesses);
        }
        self.text.push_str(&text);
        Ok(if text.is_empty() { Step::Decode } else { Step::Text(text) })
    }

    fn draw(&mut self, logits: &[f32]) -> Result<TokenId> {
        match self.allowed.take() {
            None => self.sampler.sample(logits),
            Some(allowed) if self.asked => self.sampler.sample_among(&allowed, logits),
            Some(allowed) => {
                let logits: Vec<f32> = allowed.iter().map(|&id| logits[id as usize]).collect();
                self.sampler.sample_among(&allowed, &logits)
            }
        }
    }

    /// Takes the token of `fresh` in, adds those that the grammar forces after it, and puts what can be given out of their
    /// text at the end of `text`. Returns why the answer ends, if it does.
    fn take(&mut self, fresh: &mut Vec<TokenId>, text: &mut String) -> Result<Option<FinishReason>> {
        let token = fresh[0];
        if let Some(constraint) = &mut self.constraint {
            constraint.push(token)?;
        }
        self.usage.completion_tokens += 1;
        if self.tokenizer.vocabulary().is_end_of_generation(token) {
            return Ok(Some(FinishReason::End));
        }
        self.append_forced(fresh)?;
        let bytes = fresh.iter().map(|&token| self.decoder.push(self.tokenizer.vocabulary().bytes(token)));
        let (ready, stopped) = self.filter.push(&bytes.collect::<String>());
        text.push_str(&ready);
        Ok(if stopped {
            Some(FinishReason::Stop)
        } else if self.only_the_end_is_left()? {
            Some(FinishReason::End)
        } else {
            (self.usage.completion_tokens >= self.max_tokens).then_some(FinishReason::Length)
        })
    }

    /// Pushes the text that the grammar forces next, as the tokens a tokenizer would make of it, so that the model sees
    /// a split that it knows. The last of them is held back: what follows might belong to the same token.
    fn append_forced(&mut self, fresh: &mut Vec<TokenId>) -> Result<()> {
        let Some(constraint) = &mut self.constraint else { return Ok(()) };
        let bytes = constraint.forced()?;
        let Ok(text) = std::str::from_utf8(&bytes) else { return Ok(()) };
        if text.is_empty() {
            return Ok(());
        }
        let tokens = self.tokenizer.encode(text, Special::AsText)?;
        for &token in &tokens[..tokens.len().saturating_sub(1)] {
            if self.usage.completion_tokens >= self.max_tokens || constraint.push(token).is_err() {
                break;
            }
            if self.usage.completion_tokens + 1 + constraint.min_tokens()? > self.max_tokens {
                constraint.rollback(1);
                break;
            }
            self.usage.completion_tokens += 1;
            self.usage.forced_tokens += 1;
            fresh.push(token);
        }
        Ok(())
    }

    /// Whether the grammar allows nothing but an end, which then need not be asked of the model.
    fn only_the_end_is_left(&mut self) -> Result<bool> {
        let Some(constraint) = &mut self.constraint else { return Ok(false) };
        let ends = self.tokenizer.vocabulary().end_of_generation().len();
        Ok(constraint.is_complete() && constraint.mask(None)?.count() <= ends)
    }

    /// Ends the answer with its last `text`. Where there is any, this step reports it and the next one the end.
    fn end(&mut self, reason: FinishReason, mut text: String) -> Step {
        text.push_str(&self.filter.push(&self.decoder.finish()).0);
        if reason != FinishReason::Stop {
            text.push_str(&self.filter.finish());
        }
        self.text.push_str(&text);
        self.finished = Some(reason);
        if text.is_empty() { Step::Finished(reason) } else { Step::Text(text) }
    }

    /// The answer, once a step has said [`Step::Finished`].
    ///
    /// # Errors
    /// `internal` before that.
    pub fn finish(self) -> Result<Answer> {
        let early = || Error::new(ErrorKind::Internal, "a generation was finished before its end");
        let finish_reason = self.finished.ok_or_else(early)?;
        let truncated = self.pressed || finish_reason == FinishReason::Length;
        Ok(Answer { text: self.text, finish_reason, truncated, usage: self.usage, session: self.session })
    }

    /// Gives the session back, with what has been read so far.
    pub fn cancel(mut self) -> Session {
        self.session.settle(0);
        self.session
    }
}
