//! One request under way, in steps of bounded work.

use serde::Serialize;

use crate::completion::begin::{Ask, Context, begin};
use crate::completion::engine::Engine;
use crate::completion::judge::{Judged, Judging};
use crate::completion::outcome::{CleanupOutcome, Fallback, Outcome, Provenance};
use crate::completion::provider::{Answering, Continuations, Prompt, Weighing};
use crate::completion::read::Reader;
use crate::completion::request::Request;
use crate::decode::{Step, Usage};
use crate::error::{Detail, Error, ErrorKind, Result};
use crate::tasks::cleanup::{Cleaner, CleanupOptions};
use crate::tasks::extract::Proposer;
use crate::tasks::feedback::FeedbackExample;
use crate::tasks::tag::{Proposal, TagOptions};

/// A request under way. Dropping it cancels it; what the model has read of the prompt's prefix is kept.
pub struct Job {
    context: Context,
    state: State,
    usage: Usage,
    clock: Clock,
    /// How often a model has been asked to write.
    asked: u32,
    /// None unless the request wants a record.
    attempts: Option<Vec<Attempt>>,
}

/// What one [`Job::step`] achieved.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    pub done: bool,
    /// Text that the model has written since the last report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
}

/// How far a phase has come. Only phases with a known end report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    pub phase: Phase,
    pub done: usize,
    /// Bytes of the text in the phases `rules` and `judge`; tokens of the prompt in `prefill`; the most tokens of the answer in `decode`.
    pub total: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    Rules,
    /// The model chooses where the rules are not sure.
    Judge,
    Prefill,
    Decode,
}

/// What was asked of a model and what it answered, for a host's own records: it holds the user's text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    pub kind: AttemptKind,
    pub prompt: Prompt,
    pub seed: u64,
    /// What was written, to the end or until something ended it.
    pub response: String,
    /// The code of the error that ended it, or for which the answer was not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'static str>,
    /// Milliseconds after the job's first step.
    pub started_ms: f64,
    pub ended_ms: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum AttemptKind {
    First,
    /// The whole question again, with another seed.
    Retry,
    /// The same conversation, with the answer that could not be used and the reason.
    Repair,
    /// A text weighed as a continuation of another; nothing is written.
    Weigh,
}

pub(super) enum State {
    Rules {
        cleaner: Box<Cleaner>,
        next: AfterRules,
    },
    Judge(Box<Judging>),
    Propose(Box<Propose>),
    Weigh(Box<Weigh>),
    Model(Box<Running>),
    Done(Box<Outcome>),
    /// The result has been taken, or a step has failed.
    Over,
}

/// What follows a cleanup by rules.
pub(super) enum AfterRules {
    Nothing,
    /// The model chooses where the rules are not sure, and may read so many tokens for that.
    Judge {
        text: String,
        options: CleanupOptions,
        max_tokens: usize,
    },
    Rewrite(Box<Running>),
}

/// Tasks being proposed, and what the model needs if it has to choose among them.
pub(super) struct Propose {
    pub(super) proposer: Proposer,
    pub(super) text: String,
    pub(super) examples: Vec<FeedbackExample>,
}

/// A tag that waits for what a model finds likely.
pub(super) struct Weigh {
    pub(super) weighing: Box<dyn Weighing>,
    pub(super) asked: Vec<Option<Continuations>>,
    pub(super) next: AfterWeighing,
    pub(super) noted: bool,
}

/// What a weighing is for.
pub(super) enum AfterWeighing {
    /// The intent, and what the topic will need.
    Intent {
        note: String,
        wanted: TagOptions,
    },
    Topic(Box<OpenTopic>),
}

/// A topic that rules leave in doubt, and the rest of its tag.
pub(super) struct OpenTopic {
    pub(super) proposals: Vec<Proposal>,
    pub(super) intent: String,
    pub(super) confidence: f32,
    pub(super) provenance: Provenance,
}

/// An answer under way, and what was asked for it.
pub(super) struct Running {
    pub(super) answering: Box<dyn Answering>,
    pub(super) ask: Ask,
    pub(super) kind: AttemptKind,
    /// Whether it has been counted: it is with its first step.
    pub(super) noted: bool,
}

/// The host's time, in milliseconds from any beginning.
struct Clock {
    /// Of the first step.
    started: Option<f64>,
    limit: Option<f64>,
    now: f64,
}

impl Clock {
    fn elapsed(&self) -> f64 {
        self.now - self.started.unwrap_or(self.now)
    }

    /// # Errors
    /// `timeout`, with the limit, once it has passed.
    fn turn(&mut self, now: f64) -> Result<()> {
        self.started.get_or_insert(now);
        self.now = now;
        match self.limit {
            Some(limit) if limit > 0.0 && self.elapsed() >= limit => {
                let message = format!("the work took longer than {limit} ms");
                Err(Error::new(ErrorKind::Timeout, message).with_detail(Detail::Timeout { timeout_ms: limit }))
            }
            _ => Ok(()),
        }
    }
}

impl Job {
    /// Checks `request` and begins it. Without `engine`, only what needs no model can begin.
    pub(super) fn start(engine: Option<&Engine>, request: Request) -> Result<Self> {
        let attempts = request.call.record.then(Vec::new);
        let (context, state) = begin(engine, request)?;
        let clock = Clock { started: None, limit: context.options.timeout_ms, now: 0.0 };
        Ok(Self { context, state, usage: Usage::default(), clock, asked: 0, attempts })
    }

    /// Bounded work: well under 100 ms on any machine that can run the model at all. `now` is the time in milliseconds
    /// from any beginning; the request's time limit counts from the first step. When it strikes where a model only chooses
    /// among what rules propose, the rules answer the rest.
    ///
    /// # Errors
    /// `timeout`; the model's errors; `invalid-structured-output` with the last raw answer, when all that may be asked has
    /// been; `invalid-argument` for a job that is over. After an error the job is over; the engine is not.
    pub fn step(&mut self, now: f64) -> Result<StepReport> {
        let report = self.advance(now);
        if let (Err(error), Some(attempt)) = (&report, self.attempts.as_mut().and_then(|all| all.last_mut())) {
            attempt.error = Some(error.code());
        }
        report
    }

    fn advance(&mut self, now: f64) -> Result<StepReport> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Done(outcome) => {
                self.state = State::Done(outcome);
                Ok(StepReport { done: true, ..StepReport::default() })
            }
            State::Over => Err(over()),
            mut state => {
                match (self.clock.turn(now), &mut state) {
                    (Ok(()), _) => {}
                    (Err(_), State::Judge(judging)) => judging.stop()?,
                    (Err(error), _) => {
                        self.count(&state);
                        return Err(error);
                    }
                }
                match state {
                    State::Rules { cleaner, next } => self.step_rules(cleaner, next),
                    State::Judge(judging) => self.step_judge(judging),
                    State::Propose(propose) => self.step_propose(propose),
                    State::Weigh(weigh) => self.step_weigh(weigh),
                    State::Model(running) => self.step_model(running),
                    State::Done(_) | State::Over => Err(over()),
                }
            }
        }
    }

    /// The result. It can be taken once, after a step has said `done`.
    ///
    /// # Errors
    /// `invalid-argument` before the end, and when it has been taken.
    pub fn result(&mut self) -> Result<Outcome> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Done(outcome) => Ok(*outcome),
            other => {
                self.state = other;
                Err(over())
            }
        }
    }

    /// Token counts so far; zeros where no model is at work.
    pub fn usage(&self) -> Usage {
        let mut usage = self.usage;
        usage.add(usage_of(&self.state));
        usage
    }

    /// What was asked and answered so far, where the request wanted a record; else nothing, whatever happened.
    pub fn attempts(&self) -> &[Attempt] {
        self.attempts.as_deref().unwrap_or_default()
    }

    fn step_rules(&mut self, mut cleaner: Box<Cleaner>, next: AfterRules) -> Result<StepReport> {
        let more = cleaner.step();
        let (done, total) = cleaner.progress();
        if more {
            self.state = State::Rules { cleaner, next };
        } else {
            let questions = cleaner.take_repair_questions();
            let cleaned = cleaner.finish();
            self.state = match next {
                AfterRules::Rewrite(mut running) => {
                    if let Reader::Rewrite { rules, .. } = &mut running.ask.reader {
                        *rules = Some(cleaned);
                    }
                    State::Model(running)
                }
                AfterRules::Judge { text, options, max_tokens } => {
                    State::Judge(Box::new(Judging::new(text, options, cleaned, questions, max_tokens)?))
                }
                AfterRules::Nothing => {
                    let provenance = Provenance::rules(self.context.origin());
                    let outcome = CleanupOutcome { cleaned, fallback: None, provenance };
                    State::Done(Box::new(Outcome::Cleanup(outcome)))
                }
            };
        }
        let progress = Progress { phase: Phase::Rules, done, total };
        Ok(StepReport { done: self.is_done(), text: None, progress: Some(progress) })
    }

    /// Asks the model what the rules leave open.
    fn step_judge(&mut self, mut judging: Box<Judging>) -> Result<StepReport> {
        let engine = self.context.engine()?.clone();
        let judged = judging.step(engine.provider());
        let model = || engine.info().model;
        let (done, total) = judging.progress();
        match judged {
            Ok(Judged::Asks) => self.note(AttemptKind::Weigh, 0, || Prompt::Raw { text: judging.asked() }),
            Ok(Judged::More) => self.end_attempts(),
            Ok(Judged::Done) => {
                self.usage.add(judging.usage());
                let (cleaned, heard, unfinished) = judging.finish();
                let provenance = match heard {
                    true => Provenance::model(model(), self.context.origin(), None),
                    false => Provenance::rules(self.context.origin()),
                };
                let fallback = unfinished.then_some(Fallback::Unfinished);
                self.state = State::Done(Box::new(Outcome::Cleanup(CleanupOutcome { cleaned, fallback, provenance })));
                return Ok(StepReport { done: true, ..StepReport::default() });
            }
            Err(error) => {
                self.usage.add(judging.usage());
                return Err(error);
            }
        }
        self.state = State::Judge(judging);
        let progress = Progress { phase: Phase::Judge, done, total };
        Ok(StepReport { progress: Some(progress), ..StepReport::default() })
    }

    /// Proposes tasks; where rules are not sure of all of them, the model chooses next.
    fn step_propose(&mut self, mut propose: Box<Propose>) -> Result<StepReport> {
        if propose.proposer.step() {
            self.state = State::Propose(propose);
            return Ok(StepReport::default());
        }
        let Propose { proposer, text, examples } = *propose;
        self.state = self.context.choose(&text, &examples, proposer.finish())?;
        Ok(StepReport { done: self.is_done(), ..StepReport::default() })
    }

    /// Weighs the note after one intent and the next, or topics after the note.
    fn step_weigh(&mut self, mut weigh: Box<Weigh>) -> Result<StepReport> {
        if !weigh.noted {
            weigh.noted = true;
            for Continuations { kept, material, texts, .. } in weigh.asked.iter().flatten() {
                for text in texts {
                    self.note(AttemptKind::Weigh, 0, || Prompt::Raw { text: format!("{kept}{material}{text}") });
                }
            }
        }
        let more = weigh.weighing.step();
        self.end_attempts();
        if let Ok(true) = more {
            self.state = State::Weigh(weigh);
            return Ok(StepReport::default());
        }
        let Weigh { weighing, next, .. } = *weigh;
        self.usage.add(weighing.usage());
        self.state = match (more, next) {
            (Ok(_), AfterWeighing::Intent { note, wanted }) => {
                self.context.weighed(weighing.finish(), &note, &wanted)?
            }
            (Ok(_), AfterWeighing::Topic(topic)) => self.context.weighed_topic(*topic, weighing.finish())?,
            // A small context: the rules answer alone rather than not at all.
            (Err(error), AfterWeighing::Topic(topic)) if error.kind() == ErrorKind::ContextOverflow => {
                self.context.weighed_topic(*topic, vec![])?
            }
            (Err(error), _) => return Err(error),
        };
        Ok(StepReport { done: self.is_done(), ..StepReport::default() })
    }

    fn step_model(&mut self, mut running: Box<Running>) -> Result<StepReport> {
        if !running.noted {
            running.noted = true;
            self.asked += 1;
            let question = running.ask.question();
            self.note(running.kind, question.seed, || question.prompt.clone());
        }
        let step = match running.answering.step() {
            Ok(step) => step,
            Err(error) => {
                self.usage.add(running.answering.usage());
                return Err(error);
            }
        };
        self.end_attempts();
        let decoded = running.answering.usage().completion_tokens;
        let decode = Progress { phase: Phase::Decode, done: decoded, total: running.answering.max_tokens() };
        let (text, progress) = match step {
            Step::Prefill { read, total } => (None, Progress { phase: Phase::Prefill, done: read, total }),
            Step::Decode => (None, decode),
            Step::Text(text) => (Some(text), decode),
            Step::Finished(_) => {
                self.conclude(*running)?;
                return Ok(StepReport { done: self.is_done(), text: None, progress: Some(decode) });
            }
        };
        if let (Some(text), Some(attempt)) = (&text, self.attempts.as_mut().and_then(|all| all.last_mut())) {
            attempt.response.push_str(text);
        }
        self.state = State::Model(running);
        Ok(StepReport { done: false, text, progress: Some(progress) })
    }

    /// Reads a finished answer, or asks again where it is of no use and the request's numbers allow it.
    fn conclude(&mut self, running: Running) -> Result<()> {
        let Running { answering, mut ask, .. } = running;
        self.usage.add(answering.usage());
        let written = answering.finish()?;
        let model = self.context.engine()?.provider().info().model;
        let grammar_digest = ask.question().form.as_ref().map(|form| form.digest.clone());
        let provenance = Provenance::model(model, ask.origin.clone(), grammar_digest);
        let raw = written.text.clone();
        let error = match ask.reader.read(written, self.asked, provenance) {
            Ok(outcome) => {
                self.state = State::Done(Box::new(outcome));
                return Ok(());
            }
            Err(error) if error.kind() == ErrorKind::InvalidStructuredOutput => error,
            Err(error) => return Err(error),
        };
        if let Some(attempt) = self.attempts.as_mut().and_then(|all| all.last_mut()) {
            attempt.error = Some(error.code());
        }
        self.state = match ask.turn(&raw, error.message()) {
            Some(kind) => State::Model(self.context.run(ask, kind)?),
            None => match ask.reader.best() {
                Some(outcome) => State::Done(Box::new(outcome)),
                None => return Err(error.with_detail(Detail::Raw { raw, attempts: self.asked })),
            },
        };
        Ok(())
    }

    fn note(&mut self, kind: AttemptKind, seed: u64, prompt: impl FnOnce() -> Prompt) {
        let at = self.clock.elapsed();
        if let Some(attempts) = &mut self.attempts {
            let response = String::new();
            attempts.push(Attempt {
                kind,
                prompt: prompt(),
                seed,
                response,
                error: None,
                started_ms: at,
                ended_ms: at,
            });
        }
    }

    fn end_attempts(&mut self) {
        let at = self.clock.elapsed();
        for attempt in self.attempts.iter_mut().flat_map(|all| all.last_mut()) {
            attempt.ended_ms = at;
        }
    }

    /// Counts what a state has cost that is about to be dropped.
    fn count(&mut self, state: &State) {
        self.usage.add(usage_of(state));
        self.end_attempts();
    }

    fn is_done(&self) -> bool {
        matches!(self.state, State::Done(_))
    }
}

fn usage_of(state: &State) -> Usage {
    match state {
        State::Model(running) => running.answering.usage(),
        State::Weigh(weigh) => weigh.weighing.usage(),
        State::Judge(judging) => judging.usage(),
        State::Rules { .. } | State::Propose(_) | State::Done(_) | State::Over => Usage::default(),
    }
}

/// Begins work that needs no model.
///
/// # Errors
/// `invalid-argument` for a request that needs one, and for options out of range.
pub fn start_without_model(request: Request) -> Result<Job> {
    Job::start(None, request)
}

fn over() -> Error {
    Error::new(ErrorKind::InvalidArgument, "the job has no result to give: it is not done, or it is over")
}
