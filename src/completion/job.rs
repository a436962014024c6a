//! One request under way, in steps of bounded work.

use std::sync::Arc;

use serde::Serialize;

use crate::completion::engine::{Prompt, Shared};
use crate::completion::outcome::{
    CleanupOutcome, CompleteOutcome, DecomposeOutcome, ExtractOutcome, Fallback, Outcome, Provenance, Structured,
    TagOutcome, TaskItem,
};
use crate::completion::request::{CleanupMode, GenerationOptions, Request, Task};
use crate::decode::{Answer, FinishReason, Generation, Plan, Step, Usage};
use crate::error::{Error, ErrorKind, Result};
use crate::tasks::cleanup::{self, Cleaned, Cleaner, CleanupOptions, Rejection, rewrite};
use crate::tasks::prompt::{self, Prompt as PromptFile};
use crate::tasks::tag::{self, Tag};
use crate::tasks::{decompose, extract};

/// A request under way. Dropping it cancels it; what the model has read of the prompt's prefix is kept.
pub struct Job {
    shared: Option<Arc<Shared>>,
    state: State,
    usage: Usage,
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
    /// Bytes of the text in the phase `rules`; tokens of the prompt in `prefill`; the most tokens of the answer in `decode`.
    pub total: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    Rules,
    Prefill,
    Decode,
}

enum State {
    Rules {
        cleaner: Cleaner,
        rewrite: Option<Box<Running>>,
    },
    Model(Box<Running>),
    Done(Box<Outcome>),
    /// The result has been taken, or a step has failed.
    Over,
}

/// A generation, and what to make of its answer.
struct Running {
    generation: Generation,
    /// Leading tokens of the prompt worth keeping for the next call.
    prefix: usize,
    max_tokens: usize,
    provenance: Provenance,
    reader: Reader,
}

enum Reader {
    Extract,
    Decompose,
    Tag,
    Complete,
    /// Holds the rules' answer, once there is one, against which the model's is checked.
    Rewrite {
        text: String,
        options: CleanupOptions,
        rules: Option<Cleaned>,
    },
}

/// What to ask the model for: everything but the caller's generation options.
struct Ask<'a> {
    prompt: Prompt,
    identity: Option<PromptFile>,
    grammar: Option<&'a str>,
    stop: Vec<String>,
    default_max_tokens: usize,
    reader: Reader,
}

impl Job {
    /// Checks `request` and begins it. Without `shared`, only what needs no model can begin.
    pub(super) fn start(shared: Option<Arc<Shared>>, request: Request) -> Result<Self> {
        let Request { task, generation } = request;
        let model = || shared.as_ref().ok_or_else(needs_model);
        let state = match task {
            Task::Cleanup { text, options, mode } => {
                let cleaner = Cleaner::new(&text, &options)?;
                let rewrite = match mode {
                    CleanupMode::Choose => None,
                    CleanupMode::Rewrite => Some(begin_rewrite(model()?, text, options, generation)?),
                };
                State::Rules { cleaner, rewrite }
            }
            Task::ExtractTasks { text, examples } => State::Model(begin(
                model()?,
                generation,
                Ask {
                    prompt: model()?.chat_prompt(&extract::messages(&text, &examples))?,
                    identity: Some(prompt::EXTRACT_TASKS),
                    grammar: Some(extract::grammar()),
                    stop: Vec::new(),
                    default_max_tokens: extract::MAX_TOKENS,
                    reader: Reader::Extract,
                },
            )?),
            Task::DecomposeTask { text, examples } => State::Model(begin(
                model()?,
                generation,
                Ask {
                    prompt: model()?.chat_prompt(&decompose::messages(&text, &examples))?,
                    identity: Some(prompt::DECOMPOSE_TASK),
                    grammar: Some(decompose::grammar()),
                    stop: Vec::new(),
                    default_max_tokens: decompose::MAX_TOKENS,
                    reader: Reader::Decompose,
                },
            )?),
            Task::TagContent { text } => State::Model(begin(
                model()?,
                generation,
                Ask {
                    prompt: model()?.chat_prompt(&tag::messages(&text))?,
                    identity: Some(prompt::CONTENT_TAGS),
                    grammar: Some(tag::grammar()),
                    stop: Vec::new(),
                    default_max_tokens: tag::MAX_TOKENS,
                    reader: Reader::Tag,
                },
            )?),
            Task::Complete { messages, prompt, grammar, stop } => State::Model(begin(
                model()?,
                generation,
                Ask {
                    prompt: match (prompt, &messages[..]) {
                        (Some(prompt), []) => model()?.raw_prompt(&prompt)?,
                        (None, [_, ..]) => model()?.chat_prompt(&messages)?,
                        _ => return Err(Error::new(ErrorKind::InvalidArgument, "give either messages or a prompt")),
                    },
                    identity: None,
                    grammar: grammar.as_deref(),
                    stop,
                    default_max_tokens: COMPLETE_MAX_TOKENS,
                    reader: Reader::Complete,
                },
            )?),
        };
        Ok(Self { shared, state, usage: Usage::default() })
    }

    /// Bounded work: well under 100 ms on any machine that can run the model at all.
    ///
    /// # Errors
    /// The model's errors, `invalid-structured-output` with the raw answer, or `invalid-argument` for a job that is over.
    /// After an error the job is over; the engine is not.
    pub fn step(&mut self) -> Result<StepReport> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Rules { cleaner, rewrite } => self.step_rules(cleaner, rewrite),
            State::Model(running) => self.step_model(running),
            State::Done(outcome) => {
                self.state = State::Done(outcome);
                Ok(StepReport { done: true, ..StepReport::default() })
            }
            State::Over => Err(over()),
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
        match &self.state {
            State::Model(running) => running.generation.usage(),
            _ => self.usage,
        }
    }

    fn step_rules(&mut self, mut cleaner: Cleaner, rewrite: Option<Box<Running>>) -> Result<StepReport> {
        let more = cleaner.step();
        let (done, total) = cleaner.progress();
        if more {
            self.state = State::Rules { cleaner, rewrite };
        } else {
            let cleaned = cleaner.finish();
            self.state = match rewrite {
                Some(mut running) => {
                    if let Reader::Rewrite { rules, .. } = &mut running.reader {
                        *rules = Some(cleaned);
                    }
                    State::Model(running)
                }
                None => State::Done(Box::new(Outcome::Cleanup(CleanupOutcome {
                    cleaned,
                    fallback: None,
                    provenance: Provenance::rules(),
                }))),
            };
        }
        Ok(StepReport {
            done: matches!(self.state, State::Done(_)),
            text: None,
            progress: Some(Progress { phase: Phase::Rules, done, total }),
        })
    }

    fn step_model(&mut self, mut running: Box<Running>) -> Result<StepReport> {
        let step = match running.generation.step() {
            Ok(step) => step,
            Err(error) => {
                self.give_back(*running);
                return Err(error);
            }
        };
        let decoded = running.generation.usage().completion_tokens;
        let decode = Progress { phase: Phase::Decode, done: decoded, total: running.max_tokens };
        let (text, progress) = match step {
            Step::Prefill { read, total } => (None, Progress { phase: Phase::Prefill, done: read, total }),
            Step::Decode => (None, decode),
            Step::Text(text) => (Some(text), decode),
            Step::Finished(_) => {
                self.conclude(*running)?;
                return Ok(StepReport { done: true, text: None, progress: Some(decode) });
            }
        };
        self.state = State::Model(running);
        Ok(StepReport { done: false, text, progress: Some(progress) })
    }

    /// Reads a finished answer.
    fn conclude(&mut self, running: Running) -> Result<()> {
        let Running { generation, prefix, provenance, reader, .. } = running;
        let answer = generation.finish()?;
        self.usage = answer.usage;
        let Answer { text, finish_reason, truncated, session, .. } = answer;
        if let Some(shared) = &self.shared {
            shared.keep(session, prefix);
        }
        let structured = |raw| Structured { raw, truncated, provenance: provenance.clone() };
        let outcome = match reader {
            Reader::Extract => {
                let tasks = extract::read(&text)?.into_iter().map(|text| TaskItem { text }).collect();
                Outcome::Extract(ExtractOutcome { tasks, answer: structured(text) })
            }
            Reader::Decompose => {
                let steps = decompose::read(&text)?;
                Outcome::Decompose(DecomposeOutcome { steps, answer: structured(text) })
            }
            Reader::Tag => {
                let Tag { topic, intent } = tag::read(&text)?;
                Outcome::Tag(TagOutcome { topic, intent, answer: structured(text) })
            }
            Reader::Complete => Outcome::Complete(CompleteOutcome { text, finish_reason, truncated, provenance }),
            Reader::Rewrite { text: raw, options, rules } => {
                let rules = rules.ok_or_else(|| Error::new(ErrorKind::Internal, "a rewrite ended before its rules"))?;
                let judged = match finish_reason {
                    FinishReason::Length => Err(Fallback::Unfinished),
                    FinishReason::End | FinishReason::Stop => match cleanup::guard(&raw, &text, &options)? {
                        None => Ok(()),
                        Some(Rejection::Invented { .. }) => Err(Fallback::InventedWords),
                        Some(Rejection::Dropped { .. }) => Err(Fallback::LostWords),
                    },
                };
                let (cleaned, fallback) = match judged {
                    Ok(()) => (rewrite::cleaned(&raw, text.trim(), options.level), None),
                    Err(fallback) => (rules, Some(fallback)),
                };
                Outcome::Cleanup(CleanupOutcome { cleaned, fallback, provenance })
            }
        };
        self.state = State::Done(Box::new(outcome));
        Ok(())
    }

    fn give_back(&mut self, running: Running) {
        self.usage = running.generation.usage();
        if let Some(shared) = &self.shared {
            shared.keep(running.generation.cancel(), running.prefix);
        }
    }
}

/// A job that is dropped half-way is cancelled; its prompt's prefix is kept.
impl Drop for Job {
    fn drop(&mut self) {
        if let State::Model(running) = std::mem::replace(&mut self.state, State::Over) {
            self.give_back(*running);
        }
    }
}

/// Begins work that needs no model.
///
/// # Errors
/// `invalid-argument` for a request that needs one, and for options out of range.
pub fn start_without_model(request: Request) -> Result<Job> {
    Job::start(None, request)
}

/// The most tokens of a free completion whose caller names no limit.
const COMPLETE_MAX_TOKENS: usize = 256;

fn begin(shared: &Arc<Shared>, options: GenerationOptions, ask: Ask) -> Result<Box<Running>> {
    let Ask { prompt, identity, grammar, stop, default_max_tokens, reader } = ask;
    let max_tokens = options.max_tokens.unwrap_or(default_max_tokens);
    let constraint = grammar.map(|gbnf| shared.constraint(gbnf)).transpose()?;
    let provenance = Provenance::model(shared.name(), identity, grammar);
    let plan =
        Plan { prompt: prompt.tokens, max_tokens, sampling: options.sampling, seed: options.seed, constraint, stop };
    let generation = shared.generation(plan)?;
    Ok(Box::new(Running { generation, prefix: prompt.prefix, max_tokens, provenance, reader }))
}

fn begin_rewrite(
    shared: &Arc<Shared>,
    text: String,
    cleanup: CleanupOptions,
    options: GenerationOptions,
) -> Result<Box<Running>> {
    let prompt = shared.chat_prompt(&rewrite::messages(&text, &cleanup))?;
    let default_max_tokens = rewrite::max_tokens(shared.count_tokens(&text)?);
    let reader = Reader::Rewrite { text, options: cleanup, rules: None };
    begin(
        shared,
        options,
        Ask { prompt, identity: Some(prompt::CLEANUP), grammar: None, stop: Vec::new(), default_max_tokens, reader },
    )
}

fn needs_model() -> Error {
    Error::new(ErrorKind::InvalidArgument, "this request needs a model; load one first")
}

fn over() -> Error {
    Error::new(ErrorKind::InvalidArgument, "the job has no result to give: it is not done, or it is over")
}
