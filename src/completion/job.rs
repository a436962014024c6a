//! One request under way, in steps of bounded work.

use std::sync::Arc;

use serde::Serialize;

use crate::completion::engine::{Gbnf, Prompt, Shared};
use crate::completion::outcome::{
    CleanupOutcome, CompleteOutcome, DecomposeOutcome, ExtractOutcome, Fallback, Outcome, Provenance, Structured,
    TagOutcome, TaskItem,
};
use crate::completion::request::{CleanupMode, GenerationOptions, Request, Strategy, Task};
use crate::decode::{Answer, FinishReason, Generation, Plan, Sampling, Step, Usage};
use crate::error::{Error, ErrorKind, Result};
use crate::tasks::cleanup::{self, Cleaned, Cleaner, CleanupOptions, Decider, Rejection, rewrite};
use crate::tasks::decompose;
use crate::tasks::extract::{self, Candidate, Proposer};
use crate::tasks::prompt::{self, Prompt as PromptFile};
use crate::tasks::tag::{self, Tag};
use crate::tokenizer::Message;

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
        cleaner: Box<Cleaner>,
        rewrite: Option<Box<Running>>,
    },
    Propose(Box<Propose>),
    Model(Box<Running>),
    Done(Box<Outcome>),
    /// The result has been taken, or a step has failed.
    Over,
}

/// Tasks being proposed, and what the model needs if it has to choose among them.
struct Propose {
    proposer: Proposer,
    messages: Vec<Message>,
    options: GenerationOptions,
}

/// A generation, and what to make of its answer.
struct Running {
    generation: Generation,
    /// What was asked, in case it has to be asked again.
    ask: Ask,
    options: GenerationOptions,
    retries_left: u32,
}

enum Reader {
    Extract,
    /// Holds the candidates among which the model chooses.
    Choose(Vec<Candidate>),
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

/// What to ask the model for, with the defaults for what the caller's options leave open.
struct Ask {
    prompt: Prompt,
    identity: Option<PromptFile>,
    grammar: Option<Gbnf>,
    stop: Vec<String>,
    max_tokens: usize,
    sampling: Sampling,
    retries: u32,
    reader: Reader,
}

impl Ask {
    /// A greedy question, asked once, whose answer `reader` reads.
    fn new(prompt: Prompt, reader: Reader, max_tokens: usize) -> Self {
        Self {
            prompt,
            identity: None,
            grammar: None,
            stop: Vec::new(),
            max_tokens,
            sampling: Sampling::default(),
            retries: 0,
            reader,
        }
    }
}

impl Job {
    /// Checks `request` and begins it. Without `shared`, only what needs no model can begin.
    pub(super) fn start(shared: Option<Arc<Shared>>, request: Request) -> Result<Self> {
        let Request { task, generation } = request;
        let model = || shared.as_ref().ok_or_else(needs_model);
        let state = match task {
            Task::Cleanup { text, options, mode } => {
                let cleaner = Box::new(Cleaner::new(&text, &options)?);
                let rewrite = match mode {
                    CleanupMode::Choose => None,
                    CleanupMode::Rewrite => Some(begin_rewrite(model()?, text, options, generation)?),
                };
                State::Rules { cleaner, rewrite }
            }
            Task::ExtractTasks { text, examples, strategy: Strategy::Grounded } => State::Propose(Box::new(Propose {
                proposer: Proposer::new(&text),
                messages: extract::messages(&text, &examples),
                options: generation,
            })),
            Task::ExtractTasks { text, examples, strategy: Strategy::Free } => {
                let prompt = model()?.chat_prompt(&extract::messages(&text, &examples))?;
                let ask = Ask {
                    identity: Some(prompt::EXTRACT_TASKS),
                    grammar: Some(Gbnf::OfCrate(extract::grammar())),
                    ..Ask::new(prompt, Reader::Extract, extract::MAX_TOKENS)
                };
                State::Model(begin(model()?, generation, ask)?)
            }
            Task::DecomposeTask { text, examples } => {
                let prompt = model()?.chat_prompt(&decompose::messages(&text, &examples))?;
                let ask = Ask {
                    identity: Some(prompt::DECOMPOSE_TASK),
                    grammar: Some(Gbnf::OfCrate(decompose::grammar())),
                    sampling: DECOMPOSE_SAMPLING,
                    retries: DECOMPOSE_RETRIES,
                    ..Ask::new(prompt, Reader::Decompose, decompose::MAX_TOKENS)
                };
                State::Model(begin(model()?, generation, ask)?)
            }
            Task::TagContent { text, strategy } => {
                let prompt = model()?.chat_prompt(&tag::messages(&text))?;
                let grammar = match strategy {
                    Strategy::Grounded => Gbnf::OfRequest(tag::grammar_for(&text)),
                    Strategy::Free => Gbnf::OfCrate(tag::grammar()),
                };
                let ask = Ask {
                    identity: Some(prompt::CONTENT_TAGS),
                    grammar: Some(grammar),
                    ..Ask::new(prompt, Reader::Tag, tag::MAX_TOKENS)
                };
                State::Model(begin(model()?, generation, ask)?)
            }
            Task::Complete { messages, prompt, grammar, stop } => {
                let prompt = match (prompt, &messages[..]) {
                    (Some(prompt), []) => model()?.raw_prompt(&prompt)?,
                    (None, [_, ..]) => model()?.chat_prompt(&messages)?,
                    _ => return Err(Error::new(ErrorKind::InvalidArgument, "give either messages or a prompt")),
                };
                let ask = Ask {
                    grammar: grammar.map(Gbnf::OfRequest),
                    stop,
                    ..Ask::new(prompt, Reader::Complete, COMPLETE_MAX_TOKENS)
                };
                State::Model(begin(model()?, generation, ask)?)
            }
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
            State::Propose(propose) => self.step_propose(propose),
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
            State::Model(running) => {
                let mut usage = self.usage;
                usage.add(running.generation.usage());
                usage
            }
            _ => self.usage,
        }
    }

    fn step_rules(&mut self, mut cleaner: Box<Cleaner>, rewrite: Option<Box<Running>>) -> Result<StepReport> {
        let more = cleaner.step();
        let (done, total) = cleaner.progress();
        if more {
            self.state = State::Rules { cleaner, rewrite };
        } else {
            let cleaned = cleaner.finish();
            self.state = match rewrite {
                Some(mut running) => {
                    if let Reader::Rewrite { rules, .. } = &mut running.ask.reader {
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
            done: self.is_done(),
            text: None,
            progress: Some(Progress { phase: Phase::Rules, done, total }),
        })
    }

    /// Proposes tasks; where rules are not sure of all of them, the model chooses next.
    fn step_propose(&mut self, mut propose: Box<Propose>) -> Result<StepReport> {
        if propose.proposer.step() {
            self.state = State::Propose(propose);
            return Ok(StepReport::default());
        }
        let Propose { proposer, messages, options } = *propose;
        let candidates = proposer.finish();
        self.state = match &self.shared {
            Some(shared) if !candidates.iter().all(Candidate::is_sure) => {
                match begin_choice(shared, &messages, options, candidates.clone()) {
                    Ok(running) => State::Model(running),
                    // Hours of speech: the rules answer alone rather than not at all.
                    Err(error) if error.kind() == ErrorKind::ContextOverflow => sure_tasks(candidates),
                    Err(error) => return Err(error),
                }
            }
            _ => sure_tasks(candidates),
        };
        Ok(StepReport { done: self.is_done(), ..StepReport::default() })
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
        let decode = Progress { phase: Phase::Decode, done: decoded, total: running.generation.max_tokens() };
        let (text, progress) = match step {
            Step::Prefill { read, total } => (None, Progress { phase: Phase::Prefill, done: read, total }),
            Step::Decode => (None, decode),
            Step::Text(text) => (Some(text), decode),
            Step::Finished(_) => {
                self.conclude(*running)?;
                return Ok(StepReport { done: self.is_done(), text: None, progress: Some(decode) });
            }
        };
        self.state = State::Model(running);
        Ok(StepReport { done: false, text, progress: Some(progress) })
    }

    fn is_done(&self) -> bool {
        matches!(self.state, State::Done(_))
    }

    /// Reads a finished answer, or asks again where it cannot be read and the retries allow it.
    fn conclude(&mut self, running: Running) -> Result<()> {
        let Running { generation, ask, options, retries_left } = running;
        let shared = self.shared.clone().ok_or_else(needs_model)?;
        let answer = generation.finish()?;
        self.usage.add(answer.usage);
        let provenance = Provenance::model(shared.name(), ask.identity, ask.grammar.as_ref().map(Gbnf::text));
        let Answer { text, finish_reason, truncated, session, .. } = answer;
        shared.keep(session, ask.prompt.prefix);
        match read(&ask.reader, text, finish_reason, truncated, provenance) {
            Ok(outcome) => self.state = State::Done(Box::new(outcome)),
            Err(error) if retries_left > 0 && error.kind() == ErrorKind::InvalidStructuredOutput => {
                let options = GenerationOptions {
                    seed: options.seed.wrapping_add(1),
                    retries: Some(retries_left - 1),
                    ..options
                };
                self.state = State::Model(begin(&shared, options, ask)?);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn give_back(&mut self, running: Running) {
        self.usage.add(running.generation.usage());
        if let Some(shared) = &self.shared {
            shared.keep(running.generation.cancel(), running.ask.prompt.prefix);
        }
    }
}

/// Makes an outcome of an answer.
///
/// # Errors
/// `invalid-structured-output`, with the answer, if it is not what the reader reads.
fn read(
    reader: &Reader,
    text: String,
    finish_reason: FinishReason,
    truncated: bool,
    provenance: Provenance,
) -> Result<Outcome> {
    let structured = |raw, provenance| Structured { raw, truncated, provenance };
    Ok(match reader {
        Reader::Extract => {
            let item = |text| TaskItem { text, evidence: None, by: Decider::Model };
            let tasks = extract::read(&text)?.into_iter().map(item).collect();
            Outcome::Extract(ExtractOutcome { tasks, answer: structured(text, provenance) })
        }
        Reader::Choose(candidates) => {
            let tasks = extract::read_chosen(&text, candidates)?.into_iter().map(TaskItem::from).collect();
            Outcome::Extract(ExtractOutcome { tasks, answer: structured(text, provenance) })
        }
        Reader::Decompose => {
            let steps = decompose::read(&text)?;
            Outcome::Decompose(DecomposeOutcome { steps, answer: structured(text, provenance) })
        }
        Reader::Tag => {
            let Tag { topic, intent } = tag::read(&text)?;
            Outcome::Tag(TagOutcome { topic, intent, answer: structured(text, provenance) })
        }
        Reader::Complete => Outcome::Complete(CompleteOutcome { text, finish_reason, truncated, provenance }),
        Reader::Rewrite { text: raw, options, rules } => {
            let judged = match finish_reason {
                FinishReason::Length => Err(Fallback::Unfinished),
                FinishReason::End | FinishReason::Stop => match cleanup::guard(raw, &text, options)? {
                    None => Ok(()),
                    Some(Rejection::Invented { .. }) => Err(Fallback::InventedWords),
                    Some(Rejection::Dropped { .. }) => Err(Fallback::LostWords),
                },
            };
            let (cleaned, fallback) = match (judged, rules) {
                (Ok(()), _) => (rewrite::cleaned(raw, text.trim(), options.level), None),
                (Err(fallback), Some(rules)) => (rules.clone(), Some(fallback)),
                (Err(_), None) => return Err(Error::new(ErrorKind::Internal, "a rewrite ended before its rules")),
            };
            Outcome::Cleanup(CleanupOutcome { cleaned, fallback, provenance })
        }
    })
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

/// Greedy decoding of steps by a small model says one thing three times; a little chance helps.
const DECOMPOSE_SAMPLING: Sampling = Sampling { temperature: 0.7, top_k: None, top_p: Some(0.95) };
/// Steps that repeat one another are refused, and a few more tries are cheap beside the prompt.
const DECOMPOSE_RETRIES: u32 = 3;

/// Checks what is asked and prepares its generation.
fn begin(shared: &Arc<Shared>, options: GenerationOptions, ask: Ask) -> Result<Box<Running>> {
    let constraint = ask.grammar.clone().map(|gbnf| shared.constraint(gbnf)).transpose()?;
    let generation = shared.generation(Plan {
        prompt: ask.prompt.tokens.clone(),
        max_tokens: options.max_tokens.unwrap_or(ask.max_tokens),
        sampling: options.sampling.unwrap_or(ask.sampling),
        seed: options.seed,
        constraint,
        stop: ask.stop.clone(),
    })?;
    let retries_left = options.retries.unwrap_or(ask.retries);
    Ok(Box::new(Running { generation, ask, options, retries_left }))
}

fn begin_choice(
    shared: &Arc<Shared>,
    messages: &[Message],
    options: GenerationOptions,
    candidates: Vec<Candidate>,
) -> Result<Box<Running>> {
    let prompt = shared.chat_prompt(messages)?;
    let grammar = extract::grammar_of(&candidates);
    // Room for every candidate with its quotes and comma: the choice must not hang on a budget.
    let max_tokens = shared.count_tokens(&grammar)? + 16;
    let ask = Ask {
        identity: Some(prompt::EXTRACT_TASKS),
        grammar: Some(Gbnf::OfRequest(grammar)),
        ..Ask::new(prompt, Reader::Choose(candidates), max_tokens)
    };
    begin(shared, options, ask)
}

/// The outcome where rules decide alone: what they are sure of.
fn sure_tasks(candidates: Vec<Candidate>) -> State {
    let tasks: Vec<TaskItem> = candidates.into_iter().filter(Candidate::is_sure).map(TaskItem::from).collect();
    let texts: Vec<&str> = tasks.iter().map(|task| task.text.as_str()).collect();
    let raw = serde_json::Value::from(texts).to_string();
    let answer = Structured { raw, truncated: false, provenance: Provenance::rules() };
    State::Done(Box::new(Outcome::Extract(ExtractOutcome { tasks, answer })))
}

fn begin_rewrite(
    shared: &Arc<Shared>,
    text: String,
    cleanup: CleanupOptions,
    options: GenerationOptions,
) -> Result<Box<Running>> {
    let prompt = shared.chat_prompt(&rewrite::messages(&text, &cleanup))?;
    let max_tokens = rewrite::max_tokens(shared.count_tokens(&text)?);
    let reader = Reader::Rewrite { text, options: cleanup, rules: None };
    begin(shared, options, Ask { identity: Some(prompt::CLEANUP), ..Ask::new(prompt, reader, max_tokens) })
}

fn needs_model() -> Error {
    Error::new(ErrorKind::InvalidArgument, "this request needs a model; load one first")
}

fn over() -> Error {
    Error::new(ErrorKind::InvalidArgument, "the job has no result to give: it is not done, or it is over")
}
