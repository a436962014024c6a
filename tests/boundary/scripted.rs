//! A provider that answers by a script, and a clock that stands until it is moved.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use fairhand::completion::{
    Answering, Comparing, Continuations, Engine, Info, Job, ModelInfo, Outcome, Passage, Prompt, Provider, Question,
    Request, StepReport, Versions, Weighing, Written,
};
use fairhand::decode::{FinishReason, Step, Usage};
use fairhand::tasks::tag::Likelihood;
use fairhand::tokenizer::Message;
use fairhand::{Error, ErrorKind, Result};
use serde_json::Value;

/// What the model does when it is asked next.
#[derive(Clone, Debug)]
pub enum Turn {
    /// Writes the text, a word a step.
    Says(String),
    /// Writes the text and then fails.
    Breaks(String, ErrorKind),
}

/// Answers the questions in the order of its turns, and remembers them.
pub struct Script {
    name: String,
    turns: Mutex<VecDeque<Turn>>,
    questions: Mutex<Vec<Question>>,
    /// What a weighing finds.
    standing: Vec<f32>,
}

impl Script {
    pub fn of<const N: usize>(turns: [&str; N]) -> Arc<Self> {
        Self::named("script", turns.map(|text| Turn::Says(text.to_owned())).into())
    }

    pub fn named(name: &str, turns: VecDeque<Turn>) -> Arc<Self> {
        let standing = vec![0.0, 0.0, 0.0, 3.0, 0.0, 0.0];
        Arc::new(Self { name: name.to_owned(), turns: Mutex::new(turns), questions: Mutex::default(), standing })
    }

    pub fn engine(self: &Arc<Self>) -> Engine {
        Engine::new(Arc::clone(self) as Arc<dyn Provider>)
    }

    pub fn questions(&self) -> Vec<Question> {
        self.questions.lock().expect("no test panics here").clone()
    }

    /// The messages of the last question.
    pub fn messages(&self) -> Vec<Message> {
        match self.questions().pop().expect("something was asked").prompt {
            Prompt::Chat { messages, .. } => messages,
            Prompt::Raw { .. } => panic!("a raw prompt has no messages"),
        }
    }
}

impl Provider for Script {
    fn info(&self) -> Info {
        let model = ModelInfo {
            name: Some(self.name.clone()),
            digest: format!("digest-of-{}", self.name),
            architecture: "script",
            layers: 0,
            vocabulary: 0,
            weight_bytes: 0,
        };
        Info { model, context_size: 2048, versions: Versions::current() }
    }

    /// A token a word.
    fn count_tokens(&self, text: &str) -> Result<usize> {
        Ok(text.split_whitespace().count())
    }

    fn answer(self: Arc<Self>, question: &Question) -> Result<Box<dyn Answering>> {
        self.questions.lock().expect("no test panics here").push(question.clone());
        let turn = self.turns.lock().expect("no test panics here").pop_front().expect("the script goes on");
        let (text, breaks) = match turn {
            Turn::Says(text) => (text, None),
            Turn::Breaks(text, kind) => (text, Some(kind)),
        };
        let left = text.split_inclusive(' ').map(str::to_owned).collect();
        Ok(Box::new(Writing { text, left, breaks, written: 0, max_tokens: question.max_tokens }))
    }

    fn weigh(self: Arc<Self>, asked: &[Option<Continuations>]) -> Result<Box<dyn Weighing>> {
        let alike = |(asked, &log_probability): (&Option<Continuations>, &f32)| {
            let texts = asked.iter().flat_map(|asked| &asked.texts);
            texts.map(|_| Likelihood { log_probability, tokens: 1 }).collect()
        };
        Ok(Box::new(Weighed { left: asked.len(), found: asked.iter().zip(&self.standing).map(alike).collect() }))
    }

    /// What goes on with a full stop is likely, and all else alike.
    fn compare(self: Arc<Self>, passages: &[Passage]) -> Result<Box<dyn Comparing>> {
        let score = |passage: &Passage| if passage.after.starts_with('.') { 0.0 } else { -50.0 };
        Ok(Box::new(Compared { left: passages.len(), scores: passages.iter().map(score).collect() }))
    }
}

struct Writing {
    text: String,
    left: VecDeque<String>,
    breaks: Option<ErrorKind>,
    written: usize,
    max_tokens: usize,
}

impl Answering for Writing {
    fn step(&mut self) -> Result<Step> {
        match (self.left.pop_front(), self.breaks) {
            (Some(piece), _) => {
                self.written += 1;
                Ok(Step::Text(piece))
            }
            (None, Some(kind)) => Err(Error::new(kind, "the script breaks here")),
            (None, None) => Ok(Step::Finished(FinishReason::End)),
        }
    }

    fn usage(&self) -> Usage {
        Usage { prompt_tokens: 10, completion_tokens: self.written, ..Usage::default() }
    }

    fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        Ok(Written { text: self.text, finish_reason: FinishReason::End, truncated: false })
    }
}

struct Weighed {
    left: usize,
    found: Vec<Vec<Likelihood>>,
}

impl Weighing for Weighed {
    fn step(&mut self) -> Result<bool> {
        self.left = self.left.saturating_sub(1);
        Ok(self.left > 0)
    }

    fn usage(&self) -> Usage {
        Usage { prompt_tokens: 5, ..Usage::default() }
    }

    fn finish(self: Box<Self>) -> Vec<Vec<Likelihood>> {
        self.found
    }
}

/// Takes a step and a token a passage.
struct Compared {
    left: usize,
    scores: Vec<f32>,
}

impl Comparing for Compared {
    fn tokens(&self) -> usize {
        self.scores.len()
    }

    fn step(&mut self) -> Result<bool> {
        self.left = self.left.saturating_sub(1);
        Ok(self.left > 0)
    }

    fn finish(self: Box<Self>) -> Result<Vec<f32>> {
        Ok(self.scores)
    }
}

/// A job with a clock that is moved by hand, a little with each step.
pub struct Driven {
    pub job: Job,
    pub now: f64,
    pub ms_per_step: f64,
}

impl Driven {
    pub fn new(job: Job) -> Self {
        Self { job, now: 1_000.0, ms_per_step: 0.0 }
    }

    pub fn step(&mut self) -> Result<StepReport> {
        let report = self.job.step(self.now);
        self.now += self.ms_per_step;
        report
    }

    pub fn finish(&mut self) -> Result<Outcome> {
        while !self.step()?.done {}
        self.job.result()
    }
}

pub fn request(value: Value) -> Request {
    serde_json::from_value(value).expect("a request")
}

#[track_caller]
pub fn begin(engine: &Engine, value: Value) -> Driven {
    Driven::new(engine.start(request(value)).expect("the request begins"))
}

/// The outcome as JavaScript sees it.
#[track_caller]
pub fn answer(engine: &Engine, value: Value) -> Value {
    serde_json::to_value(begin(engine, value).finish().expect("the request ends well")).expect("an outcome is JSON")
}

#[track_caller]
pub fn refused(engine: &Engine, value: Value) -> Error {
    engine.start(request(value)).err().expect("the request is refused")
}

#[track_caller]
pub fn fails(engine: &Engine, value: Value) -> Error {
    begin(engine, value).finish().expect_err("the request fails")
}
