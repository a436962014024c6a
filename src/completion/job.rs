//! One request under way, in steps of bounded work.

use std::sync::Arc;

use serde::Serialize;

use crate::completion::engine::{Gbnf, Prompt, Shared};
use crate::completion::outcome::{
    CleanupOutcome, CompleteOutcome, DecomposeOutcome, ExtractOutcome, Fallback, InputOrigin, Origin, Outcome,
    PromptIdentity, Provenance, Structured, TagOutcome, TaskItem,
};
use crate::completion::profile;
use crate::completion::registry::Form;
use crate::completion::request::{CleanupMode, GenerationOptions, PromptRequest, Request, Strategy, Task};
use crate::completion::weigh::Weighing;
use crate::decode::{Answer, FinishReason, Generation, Plan, Sampling, Step, Usage};
use crate::error::{Error, ErrorKind, Result};
use crate::tasks::cleanup::{self, Cleaned, Cleaner, CleanupOptions, Decider, Rejection, rewrite};
use crate::tasks::decompose;
use crate::tasks::extract::{self, Candidate, Proposer};
use crate::tasks::prompt::{self, Prompt as PromptFile};
use crate::tasks::reader;
use crate::tasks::tag::{self, Class, Confidence, Intent, Tag, TagOptions, Topic, Weights};
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
    Weigh(Box<Weigh>),
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

/// A note whose intent is being judged, and what its topic will need.
struct Weigh {
    weighing: Weighing,
    note: String,
    wanted: TagOptions,
    options: GenerationOptions,
}

/// A generation, and what to make of its answer.
struct Running {
    generation: Generation,
    reader: Reader,
    origin: Origin,
    grammar_digest: Option<String>,
    /// How many tokens of the prompt are worth keeping.
    prefix: usize,
    /// What to ask again if the answer is of no use.
    again: Option<Again>,
}

/// A question with one try less.
struct Again {
    question: Question,
    options: GenerationOptions,
}

enum Reader {
    Extract,
    /// Holds the candidates among which the model chooses.
    Choose(Vec<Candidate>),
    Decompose,
    /// Holds the best answer so far, with its quality.
    Steps {
        task: String,
        best: Option<(f32, Box<DecomposeOutcome>)>,
    },
    Tag,
    /// Holds the topics among which the model chooses, and the intent.
    Topic {
        topics: Vec<Topic>,
        intent: String,
        confidence: f32,
    },
    Complete,
    /// An answer in a form of its own, which an empty text never has.
    Formed,
    /// Holds the rules' answer, once there is one, against which the model's is checked.
    Rewrite {
        text: String,
        options: CleanupOptions,
        rules: Option<Cleaned>,
    },
}

/// What goes to the model, with the defaults for what the caller's options leave open.
#[derive(Clone)]
struct Question {
    prompt: Prompt,
    grammar: Option<Gbnf>,
    stop: Vec<String>,
    max_tokens: usize,
    sampling: Sampling,
}

/// A question and what to make of its answer.
struct Ask {
    question: Question,
    origin: Origin,
    retries: u32,
    reader: Reader,
}

impl Ask {
    /// A greedy question, asked once, whose answer `reader` reads.
    fn new(prompt: Prompt, reader: Reader, max_tokens: usize) -> Self {
        let question = Question { prompt, grammar: None, stop: vec![], max_tokens, sampling: Sampling::default() };
        Self { question, origin: Origin::default(), retries: 0, reader }
    }

    /// With a prompt of the crate's own.
    fn of(mut self, identity: PromptFile) -> Self {
        self.origin.prompt = Some(identity.into());
        self
    }

    fn under(mut self, grammar: Gbnf) -> Self {
        self.question.grammar = Some(grammar);
        self
    }

    /// Asked again, up to `retries` times, where the answer is of no use.
    fn sampled(mut self, sampling: Sampling, retries: u32) -> Self {
        self.question.sampling = sampling;
        self.retries = retries;
        self
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
                let ask = Ask::new(prompt, Reader::Extract, extract::MAX_TOKENS)
                    .of(prompt::EXTRACT_TASKS)
                    .under(Gbnf::OfCrate(extract::grammar()));
                State::Model(begin(model()?, generation, ask)?)
            }
            Task::DecomposeTask { text, examples, strategy } => {
                decompose::check(&text)?;
                let ask = match strategy {
                    Strategy::Grounded => {
                        let prompt = model()?.chat_prompt(&decompose::guided_messages(&text, &examples))?;
                        Ask::new(prompt, Reader::Steps { task: text, best: None }, decompose::MAX_TOKENS)
                            .under(Gbnf::OfCrate(decompose::guided_grammar()))
                    }
                    Strategy::Free => {
                        let prompt = model()?.chat_prompt(&decompose::messages(&text, &examples))?;
                        Ask::new(prompt, Reader::Decompose, decompose::MAX_TOKENS)
                            .under(Gbnf::OfCrate(decompose::grammar()))
                    }
                };
                let ask = ask.of(prompt::DECOMPOSE_TASK).sampled(DECOMPOSE_SAMPLING, DECOMPOSE_RETRIES);
                State::Model(begin(model()?, generation, ask)?)
            }
            Task::TagContent { text, strategy: Strategy::Grounded, options } => {
                begin_tag(shared.as_ref(), text, options, generation)?
            }
            Task::TagContent { text, strategy: Strategy::Free, .. } => {
                let prompt = model()?.chat_prompt(&tag::messages(&text))?;
                let ask = Ask::new(prompt, Reader::Tag, tag::MAX_TOKENS)
                    .of(prompt::CONTENT_TAGS)
                    .under(Gbnf::OfCrate(tag::grammar()));
                State::Model(begin(model()?, generation, ask)?)
            }
            Task::Prompt(request) => begin_prompt(model()?, request, generation)?,
            Task::Complete { messages, prompt, grammar, schema, regex, stop } => {
                let prompt = match (prompt, &messages[..]) {
                    (Some(prompt), []) => model()?.raw_prompt(&prompt)?,
                    (None, [_, ..]) => model()?.chat_prompt(&messages)?,
                    _ => return Err(Error::new(ErrorKind::InvalidArgument, "give either messages or a prompt")),
                };
                let mut ask = Ask::new(prompt, Reader::Complete, COMPLETE_MAX_TOKENS);
                let mut forms = [grammar.map(Form::Grammar), schema.map(Form::Schema), regex.map(Form::Regex)]
                    .into_iter()
                    .flatten();
                ask.question.grammar = forms.next().map(|form| form.gbnf()).transpose()?.map(Gbnf::OfRequest);
                if forms.next().is_some() {
                    return Err(Error::new(ErrorKind::InvalidArgument, "give one of grammar, schema and regex"));
                }
                ask.question.stop = stop;
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
            State::Weigh(weigh) => self.step_weigh(weigh),
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
        let mut usage = self.usage;
        match &self.state {
            State::Model(running) => usage.add(running.generation.usage()),
            State::Weigh(weigh) => usage.add(weigh.weighing.usage()),
            State::Rules { .. } | State::Propose(_) | State::Done(_) | State::Over => {}
        }
        usage
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

    /// Weighs the note against one intent after the other; what explains it best is its intent.
    fn step_weigh(&mut self, mut weigh: Box<Weigh>) -> Result<StepReport> {
        let shared = self.shared.clone().ok_or_else(needs_model)?;
        match weigh.weighing.step(&shared) {
            Ok(true) => {
                self.state = State::Weigh(weigh);
                return Ok(StepReport::default());
            }
            Ok(false) => {}
            Err(error) => {
                weigh.weighing.cancel(&shared);
                return Err(error);
            }
        }
        let Weigh { weighing, note, wanted, options } = *weigh;
        self.usage.add(weighing.usage());
        let standing = weighing.finish();
        let probabilities = match wanted.intents.is_empty() {
            true => tag::judge(tag::intent_cues(&note), &standing, Weights::current()).to_vec(),
            false => tag::judge_classes(&standing, Weights::current()),
        };
        let classes = if wanted.intents.is_empty() { tag::classes() } else { &wanted.intents };
        let prefixes: Vec<String> = classes.iter().map(Class::prefix).collect();
        let id = if wanted.intents.is_empty() { "tag-intents" } else { "tag-intents-of-caller" };
        let digest = prompt::digest(&prefixes.concat());
        let identity = PromptIdentity { id: id.to_owned(), version: tag::INTENTS_VERSION, digest };
        let origin = Origin { prompt: Some(identity), ..Origin::default() };
        let provenance = Provenance::model(shared.name(), origin, None);
        self.state = begin_topic(Some(&shared), &note, &wanted, &probabilities, provenance, options)?;
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

    /// Reads a finished answer, or asks again where it is of no use and the retries allow it.
    fn conclude(&mut self, running: Running) -> Result<()> {
        let Running { generation, mut reader, origin, grammar_digest, prefix, again } = running;
        let shared = self.shared.clone().ok_or_else(needs_model)?;
        let answer = generation.finish()?;
        self.usage.add(answer.usage);
        let provenance = Provenance::model(shared.name(), origin.clone(), grammar_digest);
        let Answer { text, finish_reason, truncated, session, .. } = answer;
        shared.keep(session, prefix);
        self.state = match (read(&mut reader, text, finish_reason, truncated, provenance), again) {
            (Ok(outcome), _) => State::Done(Box::new(outcome)),
            (Err(error), Some(again)) if error.kind() == ErrorKind::InvalidStructuredOutput => {
                let Again { question, options } = again;
                let ask = Ask { question, origin, retries: 0, reader };
                State::Model(begin(&shared, options, ask)?)
            }
            (Err(error), _) => match reader {
                Reader::Steps { best: Some((quality, outcome)), .. } if quality >= decompose::USABLE => {
                    State::Done(Box::new(Outcome::Decompose(*outcome)))
                }
                _ => return Err(error),
            },
        };
        Ok(())
    }

    fn give_back(&mut self, running: Running) {
        self.usage.add(running.generation.usage());
        if let Some(shared) = &self.shared {
            shared.keep(running.generation.cancel(), running.prefix);
        }
    }
}

/// Makes an outcome of an answer.
///
/// # Errors
/// `invalid-structured-output`, with the answer, if it is not what the reader reads, or not good enough to ask no more.
fn read(
    reader: &mut Reader,
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
        Reader::Steps { task, best } => {
            let steps = decompose::prune(task, decompose::read(&text)?);
            let quality = decompose::quality(task, &steps);
            let error = decompose::unusable(&text);
            let outcome = DecomposeOutcome { steps, answer: structured(text, provenance) };
            if quality < decompose::GOOD {
                if best.as_ref().is_none_or(|(other, _)| *other < quality) {
                    *best = Some((quality, Box::new(outcome)));
                }
                return Err(error);
            }
            Outcome::Decompose(outcome)
        }
        Reader::Tag => {
            let Tag { topic, intent } = tag::read(&text)?;
            let intent = intent.as_str().to_owned();
            Outcome::Tag(TagOutcome { topic, intent, confidence: None, answer: structured(text, provenance) })
        }
        Reader::Topic { topics, intent, confidence } => {
            let names: Vec<String> = topics.iter().map(|topic| topic.name.clone()).collect();
            let topic = tag::read_chosen(&text, &names, intent)?;
            let confidence = Confidence { intent: *confidence, topic: tag::share_of(&topic, topics) };
            Outcome::Tag(TagOutcome {
                topic,
                intent: intent.clone(),
                confidence: Some(confidence),
                answer: structured(text, provenance),
            })
        }
        Reader::Formed if text.trim().is_empty() => return Err(reader::unreadable(&text, "the answer is empty")),
        Reader::Complete | Reader::Formed => {
            Outcome::Complete(CompleteOutcome { text, finish_reason, truncated, provenance })
        }
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
        match (std::mem::replace(&mut self.state, State::Over), &self.shared) {
            (State::Model(running), _) => self.give_back(*running),
            (State::Weigh(mut weigh), Some(shared)) => weigh.weighing.cancel(shared),
            _ => {}
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

/// Begins an answer to a registered prompt.
///
/// # Errors
/// `invalid-argument` for a prompt, version or profile that is not there and for inputs that do not fit.
fn begin_prompt(shared: &Arc<Shared>, request: PromptRequest, options: GenerationOptions) -> Result<State> {
    let PromptRequest { id, version, inputs, variables, profile, session, reasoning, stop } = request;
    let registered = shared.prompt(&id, version)?;
    let profile = profile.as_deref().or(registered.profile()).map(|name| shared.profile(name)).transpose()?;
    let filled = registered.fill(&inputs, &variables)?;
    let setting = reasoning.over(profile.as_ref().and_then(|profile| profile.reasoning.as_deref()));
    let prompt = shared.filled_prompt(&filled, profile::thinks(setting.as_deref()))?;
    let options = profile.as_ref().map_or(options, |profile| profile.under(options));
    let mut ask = Ask::new(prompt, Reader::Complete, COMPLETE_MAX_TOKENS);
    ask.question.stop = stop;
    ask.question.grammar = registered.grammar().map(|grammar| Gbnf::Registered {
        grammar: Arc::clone(grammar),
        digest: registered.grammar_digest().unwrap_or_default(),
    });
    ask.origin = Origin {
        prompt: Some(registered.identity()),
        profile: profile.map(|profile| profile.name),
        session,
        inputs: inputs.into_iter().map(|input| InputOrigin { name: input.name, origin: input.origin }).collect(),
    };
    if registered.grammar().is_some() {
        ask.reader = Reader::Formed;
    }
    Ok(State::Model(begin(shared, options, ask)?))
}

/// The most tokens of a free completion whose caller names no limit.
const COMPLETE_MAX_TOKENS: usize = 256;

/// Greedy decoding of steps by a small model says one thing three times; a little chance helps.
const DECOMPOSE_SAMPLING: Sampling = Sampling { temperature: 0.7, top_k: None, top_p: Some(0.95) };
/// Steps that repeat one another are not good enough, and a few more tries are cheap beside the prompt.
const DECOMPOSE_RETRIES: u32 = 5;

/// Checks what is asked and prepares its generation. The question is kept only where it may have to be asked again.
fn begin(shared: &Arc<Shared>, options: GenerationOptions, ask: Ask) -> Result<Box<Running>> {
    let Ask { question, origin, retries, reader } = ask;
    let retries = options.retries.unwrap_or(retries);
    let again = (retries > 0).then(|| Again {
        question: question.clone(),
        options: GenerationOptions { seed: options.seed.wrapping_add(1), retries: Some(retries - 1), ..options },
    });
    let Question { prompt, grammar, stop, max_tokens, sampling } = question;
    let grammar_digest = grammar.as_ref().map(Gbnf::digest);
    let prefix = prompt.prefix;
    let generation = shared.generation(Plan {
        prompt: prompt.tokens,
        max_tokens: options.max_tokens.unwrap_or(max_tokens),
        sampling: options.sampling.unwrap_or(sampling),
        seed: options.seed,
        constraint: grammar.map(|gbnf| shared.constraint(gbnf)).transpose()?,
        stop,
    })?;
    Ok(Box::new(Running { generation, reader, origin, grammar_digest, prefix, again }))
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
    let ask = Ask::new(prompt, Reader::Choose(candidates), max_tokens)
        .of(prompt::EXTRACT_TASKS)
        .under(Gbnf::OfRequest(grammar));
    begin(shared, options, ask)
}

/// Tokens of a note beyond which its topic has been named, or never will be.
const TOPIC_MATERIAL: usize = 192;

/// Begins a tag: intents are weighed by the model unless the words of the note settle them.
fn begin_tag(
    shared: Option<&Arc<Shared>>,
    note: String,
    wanted: TagOptions,
    options: GenerationOptions,
) -> Result<State> {
    wanted.check()?;
    let prefixes: Vec<Option<String>> = if wanted.intents.is_empty() {
        let cues = tag::intent_cues(&note);
        let settled = cues.iter().any(|&p| p >= tag::SURE) || !note.chars().any(char::is_alphanumeric);
        if settled || shared.is_none() {
            return begin_topic(shared, &note, &wanted, &cues, Provenance::rules(), options);
        }
        let asked = |(class, p): (&Class, f32)| (p >= tag::EXCLUDED).then(|| class.prefix());
        tag::classes().iter().zip(cues).map(asked).collect()
    } else {
        wanted.intents.iter().map(|class| Some(class.prefix())).collect()
    };
    let shared = shared.ok_or_else(needs_model)?;
    let weighing = Weighing::new(shared, prefixes.into_iter(), &note, tag::MAX_NOTE_TOKENS)?;
    Ok(State::Weigh(Box::new(Weigh { weighing, note, wanted, options })))
}

/// With the intent known, the topic: the likeliest of the note's own words, or the model's choice of the caller's.
fn begin_topic(
    shared: Option<&Arc<Shared>>,
    note: &str,
    wanted: &TagOptions,
    probabilities: &[f32],
    provenance: Provenance,
    options: GenerationOptions,
) -> Result<State> {
    let best = tag::likeliest(probabilities);
    let intent = match wanted.intents.get(best) {
        Some(class) => class.name.clone(),
        None => Intent::ALL[best % Intent::ALL.len()].as_str().to_owned(),
    };
    let confidence = probabilities.get(best).copied().unwrap_or(0.0);
    // Of a note's own words the rules' first is right more often than a small model's choice among them; of a caller's
    // topics rules know no more than which are said.
    let own = wanted.topics.is_empty();
    let topics = if own { tag::topics(note) } else { tag::weigh_topics(&wanted.topics, note) };
    if let (Some(shared), false, true) = (shared, own, topics.len() > 1) {
        let prompt = shared.chat_prompt(&tag::messages(shared.beginning(note, TOPIC_MATERIAL / 4)))?;
        let names: Vec<String> = topics.iter().map(|topic| topic.name.clone()).collect();
        let grammar = tag::grammar_of(&names, &intent);
        let max_tokens = shared.count_tokens(&grammar)? + 16;
        let ask = Ask::new(prompt, Reader::Topic { topics, intent, confidence }, max_tokens)
            .of(prompt::CONTENT_TAGS)
            .under(Gbnf::OfRequest(grammar));
        return Ok(State::Model(begin(shared, options, ask)?));
    }
    let topic = tag::first(&topics).map_or(tag::UNTITLED, |topic| topic.name.as_str()).to_owned();
    let answer = Structured { raw: tag::answer_of(&topic, &intent), truncated: false, provenance };
    let confidence = Confidence { intent: confidence, topic: tag::share_of(&topic, &topics) };
    Ok(State::Done(Box::new(Outcome::Tag(TagOutcome { topic, intent, confidence: Some(confidence), answer }))))
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
    begin(shared, options, Ask::new(prompt, reader, max_tokens).of(prompt::CLEANUP))
}

fn needs_model() -> Error {
    Error::new(ErrorKind::InvalidArgument, "this request needs a model; load one first")
}

fn over() -> Error {
    Error::new(ErrorKind::InvalidArgument, "the job has no result to give: it is not done, or it is over")
}
