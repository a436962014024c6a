//! How each task begins: what is settled by the request's names, and the first question.

use std::collections::BTreeMap;

use crate::completion::engine::Engine;
use crate::completion::job::{AfterRules, AfterWeighing, AttemptKind, OpenTopic, Propose, Running, State, Weigh};
use crate::completion::judge::CLEANUP_MAX_TOKENS;
use crate::completion::outcome::{
    ExtractOutcome, InputOrigin, Origin, Outcome, PromptIdentity, Provenance, Structured, TagOutcome, TaskItem,
};
use crate::completion::profile;
use crate::completion::provider::{Answering, CompiledForm, Continuations, Prompt, Question};
use crate::completion::read::Reader;
use crate::completion::registry::{Filled, Form, Input, Registered};
use crate::completion::request::{CallOptions, CleanupMode, GenerationOptions, Request, Strategy, Task};
use crate::decode::Sampling;
use crate::error::{Error, ErrorKind, Result};
use crate::tasks::cleanup::{Cleaner, CleanupOptions, rewrite};
use crate::tasks::decompose;
use crate::tasks::extract::{self, Candidate, Proposer};
use crate::tasks::feedback::{self, FeedbackExample};
use crate::tasks::prompt::{self, REPAIR};
use crate::tasks::tag::{self, Class, Confidence, Intent, Likelihood, TagOptions, Topic, Weights};
use crate::tokenizer::{Message, Role};

/// What a request has settled before its task begins.
pub(super) struct Context {
    /// With the model of the request's profile; none where no model is loaded.
    engine: Option<Engine>,
    pub(super) options: GenerationOptions,
    thinks: Option<bool>,
    origin: Origin,
}

/// A question, what to make of its answer, and how often it may be asked.
pub(super) struct Ask {
    question: Question,
    pub(super) reader: Reader,
    pub(super) origin: Origin,
    retries: u32,
    /// Of each try.
    repairs: u32,
    /// Of this try: what was asked before the first repair, and how many repairs are left.
    unrepaired: Option<Prompt>,
    repairs_left: u32,
}

/// The most tokens of a free completion whose caller names no limit.
const COMPLETE_MAX_TOKENS: usize = 256;

/// Greedy decoding of steps by a small model says one thing three times; a little chance helps.
const DECOMPOSE_SAMPLING: Sampling = Sampling { temperature: 0.7, top_k: None, top_p: Some(0.95) };
/// Steps that repeat one another are not good enough, and a few more tries are cheap beside the prompt.
const DECOMPOSE_RETRIES: u32 = 8;

/// The most tokens of a caller's examples; and never more than a quarter of the context, which is for the material.
const EXAMPLES_MAX_TOKENS: usize = 512;

/// The most characters in the name of a session.
const MAX_SESSION: usize = 200;

/// Tokens of a note beyond which its topic has been named, or never will be.
const TOPIC_MATERIAL: usize = 192;
/// English takes about four bytes a token.
const BYTES_PER_TOKEN: usize = 4;
/// Fewer words of a note do not help a model to choose its topic.
const QUESTION_LEAST_WORDS: usize = 8;
/// More tokens than a topic has.
const TOPIC_TOKENS: usize = 48;

/// Checks `request` and begins it. Without `engine`, only what needs no model can begin.
pub(super) fn begin(engine: Option<&Engine>, request: Request) -> Result<(Context, State)> {
    let Request { task, call, generation } = request;
    generation.check()?;
    let registered = match (&task, engine) {
        (Task::Prompt(asked), Some(engine)) => Some(engine.prompt(&asked.id, asked.version)?),
        _ => None,
    };
    let context = Context::new(engine, call, generation, registered.as_deref().and_then(Registered::profile))?;
    let state = match task {
        Task::Cleanup { text, options, mode } => {
            let cleaner = Cleaner::new(&text, &options)?;
            let (cleaner, next) = match mode {
                CleanupMode::Choose if engine.is_some() => {
                    let max_tokens = context.options.max_tokens.unwrap_or(CLEANUP_MAX_TOKENS);
                    (cleaner.asking_about_repairs(), AfterRules::Judge { text, options, max_tokens })
                }
                CleanupMode::Choose | CleanupMode::Rules => (cleaner, AfterRules::Nothing),
                CleanupMode::Rewrite => (cleaner, AfterRules::Rewrite(context.rewrite(text, options)?)),
            };
            State::Rules { cleaner: Box::new(cleaner), next }
        }
        Task::ExtractTasks { text, examples, strategy: Strategy::Grounded } => {
            State::Propose(Box::new(Propose { proposer: Proposer::new(&text), text, examples }))
        }
        Task::ExtractTasks { text, examples, strategy: Strategy::Free } => {
            let (examples, origin) = context.examples(&examples)?;
            let form = context.engine()?.form_of_crate(extract::grammar())?;
            let prompt = Prompt::conditioned(extract::messages(&text, &examples), extract::messages(&text, &[]));
            let ask = context.ask(prompt, Reader::Extract, extract::MAX_TOKENS).under(form).from(origin);
            State::Model(context.start(ask.of(prompt::EXTRACT_TASKS.into()))?)
        }
        Task::DecomposeTask { text, examples, strategy } => {
            decompose::check(&text)?;
            let (examples, origin) = context.examples(&examples)?;
            let engine = context.engine()?;
            // Examples show a style, which steps that are made beforehand do not have.
            let known = (strategy == Strategy::Grounded && examples.is_empty()).then(|| decompose::known_steps(&text));
            if let Some(steps) = known.flatten() {
                let running = context.choose_steps(&text, steps, origin)?;
                return Ok((context, State::Model(running)));
            }
            let ([messages, plain], form, reader) = match strategy {
                Strategy::Grounded => (
                    [&examples[..], &[]].map(|shown| decompose::guided_messages(&text, shown)),
                    engine.form_of_crate(decompose::guided_grammar())?,
                    Reader::Steps { task: text, best: None },
                ),
                Strategy::Free => (
                    [&examples[..], &[]].map(|shown| decompose::messages(&text, shown)),
                    engine.form_of_crate(decompose::grammar())?,
                    Reader::Decompose,
                ),
            };
            let ask = context
                .ask(Prompt::conditioned(messages, plain), reader, decompose::MAX_TOKENS)
                .under(form)
                .from(origin)
                .of(prompt::DECOMPOSE_TASK.into())
                .sampled(DECOMPOSE_SAMPLING, DECOMPOSE_RETRIES);
            State::Model(context.start(ask)?)
        }
        Task::TagContent { text, strategy: Strategy::Grounded, options } => context.tag(text, options)?,
        Task::TagContent { text, strategy: Strategy::Free, .. } => {
            let form = context.engine()?.form_of_crate(tag::grammar())?;
            let ask = context.ask(Prompt::chat(tag::messages(&text)), Reader::Tag, tag::MAX_TOKENS).under(form);
            State::Model(context.start(ask.of(prompt::CONTENT_TAGS.into()))?)
        }
        Task::Prompt(asked) => {
            let registered = registered.ok_or_else(needs_model)?;
            State::Model(context.registered(&registered, asked.inputs, &asked.variables, asked.stop)?)
        }
        Task::Complete { messages, prompt, grammar, schema, regex, stop } => {
            let prompt = match (prompt, &messages[..]) {
                (Some(text), []) => Prompt::Raw { text },
                (None, [_, ..]) => Prompt::chat(messages),
                _ => return Err(Error::new(ErrorKind::InvalidArgument, "give either messages or a prompt")),
            };
            let mut forms =
                [grammar.map(Form::Grammar), schema.map(Form::Schema), regex.map(Form::Regex)].into_iter().flatten();
            let form = forms.next().map(|form| form.compile()).transpose()?;
            if forms.next().is_some() {
                return Err(Error::new(ErrorKind::InvalidArgument, "give one of grammar, schema and regex"));
            }
            let mut ask = context.ask(prompt, Reader::Complete, COMPLETE_MAX_TOKENS).formed(form);
            ask.question.stop = stop;
            State::Model(context.start(ask)?)
        }
    };
    Ok((context, state))
}

impl Context {
    /// # Errors
    /// `invalid-argument` for a profile that is not there, or whose model is not, and for a session with a name too long.
    fn new(
        engine: Option<&Engine>,
        call: CallOptions,
        options: GenerationOptions,
        of_prompt: Option<&str>,
    ) -> Result<Self> {
        let CallOptions { profile, session, reasoning, .. } = call;
        let (engine, profile) = match (profile.as_deref().or(of_prompt), engine) {
            (None, engine) => (engine.cloned(), None),
            (Some(name), Some(engine)) => {
                let (engine, profile) = engine.under(name)?;
                (Some(engine), Some(profile))
            }
            (Some(_), None) => return Err(needs_model()),
        };
        let session = session.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        if session.as_ref().is_some_and(|name| name.chars().count() > MAX_SESSION) {
            let message = format!("a session's name has at most {MAX_SESSION} characters");
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        }
        let setting = reasoning.over(profile.as_ref().and_then(|profile| profile.reasoning.as_deref()));
        Ok(Self {
            engine,
            thinks: profile::thinks(setting.as_deref()),
            options: profile.as_ref().map_or(options, |profile| profile.under(options)),
            origin: Origin { profile: profile.map(|profile| profile.name), session, ..Origin::default() },
        })
    }

    /// # Errors
    /// `invalid-argument` where no model is loaded.
    pub(super) fn engine(&self) -> Result<&Engine> {
        self.engine.as_ref().ok_or_else(needs_model)
    }

    /// What was asked, by names, so far as it does not hang on the task.
    pub(super) fn origin(&self) -> Origin {
        self.origin.clone()
    }

    /// A greedy question, asked once, whose answer `reader` reads.
    fn ask(&self, prompt: Prompt, reader: Reader, max_tokens: usize) -> Ask {
        let question = Question {
            prompt,
            thinks: self.thinks,
            form: None,
            stop: vec![],
            max_tokens,
            sampling: Sampling::default(),
            seed: self.options.seed,
        };
        Ask { question, reader, origin: self.origin.clone(), retries: 0, repairs: 0, unrepaired: None, repairs_left: 0 }
    }

    /// Begins a question, with the request's options where it has any.
    ///
    /// # Errors
    /// As [`Provider::answer`](crate::completion::Provider::answer).
    fn start(&self, mut ask: Ask) -> Result<Box<Running>> {
        let GenerationOptions { max_tokens, sampling, retries, repairs, .. } = self.options;
        ask.question.max_tokens = max_tokens.unwrap_or(ask.question.max_tokens);
        ask.question.sampling = sampling.unwrap_or(ask.question.sampling);
        ask.retries = retries.unwrap_or(ask.retries);
        ask.repairs = repairs.unwrap_or(0);
        ask.repairs_left = ask.repairs;
        self.run(ask, AttemptKind::First)
    }

    /// Begins a question as it stands.
    ///
    /// # Errors
    /// As [`Provider::answer`](crate::completion::Provider::answer).
    pub(super) fn run(&self, ask: Ask, kind: AttemptKind) -> Result<Box<Running>> {
        let answering: Box<dyn Answering> = self.engine()?.provider().answer(&ask.question)?;
        Ok(Box::new(Running { answering, ask, kind, noted: false }))
    }

    /// Those of a caller's examples for which there is room, and the origin of an answer that they shape.
    fn examples(&self, examples: &[FeedbackExample]) -> Result<(Vec<FeedbackExample>, Origin)> {
        let provider = self.engine()?.provider();
        let budget = EXAMPLES_MAX_TOKENS.min(provider.info().context_size / 4);
        let kept = feedback::within(examples, budget, |text| provider.count_tokens(text))?;
        let shown = (!examples.is_empty()).then_some(kept.len());
        Ok((kept, Origin { examples: shown, ..self.origin.clone() }))
    }

    /// Begins an answer to a registered prompt.
    ///
    /// # Errors
    /// `invalid-argument` for inputs and variables that do not fit.
    fn registered(
        &self,
        registered: &Registered,
        inputs: Vec<Input>,
        variables: &BTreeMap<String, String>,
        stop: Vec<String>,
    ) -> Result<Box<Running>> {
        let Filled { messages, blank } = registered.fill(&inputs, variables)?;
        let mut ask = self
            .ask(Prompt::Chat { messages, blank }, Reader::Complete, COMPLETE_MAX_TOKENS)
            .formed(registered.form().cloned())
            .of(registered.identity());
        ask.question.stop = stop;
        ask.origin.inputs =
            inputs.into_iter().map(|input| InputOrigin { name: input.name, origin: input.origin }).collect();
        self.start(ask)
    }

    fn rewrite(&self, text: String, options: CleanupOptions) -> Result<Box<Running>> {
        let prompt = Prompt::chat(rewrite::messages(&text, &options));
        let max_tokens = rewrite::max_tokens(self.engine()?.count_tokens(&text)?);
        let reader = Reader::Rewrite { text, options, rules: None };
        self.start(self.ask(prompt, reader, max_tokens).of(prompt::CLEANUP.into()))
    }

    /// The model chooses among proposed tasks, where there is one and the rules are not sure of all.
    pub(super) fn choose(&self, text: &str, examples: &[FeedbackExample], candidates: Vec<Candidate>) -> Result<State> {
        if self.engine.is_none() || candidates.iter().all(Candidate::is_sure) {
            return Ok(self.sure_tasks(candidates));
        }
        match self.choice(text, examples, candidates.clone()) {
            Ok(running) => Ok(State::Model(running)),
            // Hours of speech: the rules answer alone rather than not at all.
            Err(error) if error.kind() == ErrorKind::ContextOverflow => Ok(self.sure_tasks(candidates)),
            Err(error) => Err(error),
        }
    }

    fn choice(&self, text: &str, examples: &[FeedbackExample], candidates: Vec<Candidate>) -> Result<Box<Running>> {
        let (examples, origin) = self.examples(examples)?;
        let prompt = Prompt::conditioned(extract::messages(text, &examples), extract::messages(text, &[]));
        let grammar = extract::grammar_of(&candidates);
        // Room for every candidate with its quotes and comma: the choice must not hang on a budget.
        let max_tokens = self.engine()?.count_tokens(&grammar)? + 16;
        let ask = self.ask(prompt, Reader::Choose(candidates), max_tokens);
        self.start(ask.under(CompiledForm::of(&grammar)?).from(origin).of(prompt::EXTRACT_TASKS.into()))
    }

    /// The model chooses among the steps of a task whose kind is known.
    fn choose_steps(&self, task: &str, steps: Vec<Candidate>, origin: Origin) -> Result<Box<Running>> {
        let prompt = Prompt::chat(decompose::guided_messages(task, &[]));
        let grammar = extract::grammar_of(&steps);
        let max_tokens = self.engine()?.count_tokens(&grammar)? + 16;
        let ask = self.ask(prompt, Reader::KnownSteps(steps), max_tokens).under(CompiledForm::of(&grammar)?);
        self.start(ask.from(origin).of(prompt::DECOMPOSE_TASK.into()))
    }

    /// The outcome where rules decide alone: what they are sure of.
    fn sure_tasks(&self, candidates: Vec<Candidate>) -> State {
        let tasks: Vec<TaskItem> = candidates.into_iter().filter(Candidate::is_sure).map(TaskItem::from).collect();
        let texts: Vec<&str> = tasks.iter().map(|task| task.text.as_str()).collect();
        let raw = serde_json::Value::from(texts).to_string();
        let answer = by_rules(raw, Provenance::rules(self.origin.clone()));
        State::Done(Box::new(Outcome::Extract(ExtractOutcome { tasks, answer })))
    }

    /// Begins a tag: intents are weighed by the model unless the words of the note settle them.
    fn tag(&self, note: String, wanted: TagOptions) -> Result<State> {
        wanted.check()?;
        // The blank belongs to the note's first word, as tokenizers have it.
        let text = format!(" {}", note.trim());
        let (classes, max_tokens) = if wanted.intents.is_empty() {
            let cues = tag::intent_cues(&note);
            let open = match &self.engine {
                Some(_) if note.chars().any(char::is_alphanumeric) => tag::to_weigh(&cues, self.allowance(&note)?),
                _ => None,
            };
            let Some((open, tokens)) = open else {
                return self.topic(&note, &wanted, &cues, 0, Provenance::rules(self.origin.clone()));
            };
            (tag::classes().iter().zip(open).map(|(class, open)| open.then_some(class)).collect(), tokens)
        } else {
            (wanted.intents.iter().map(Some).collect::<Vec<_>>(), tag::MAX_NOTE_TOKENS)
        };
        let asked = classes.into_iter().map(|class| {
            let (kept, texts) = (class?.prefix(), vec![text.clone()]);
            Some(Continuations { kept, material: String::new(), texts, max_tokens })
        });
        self.weigh(asked.collect(), AfterWeighing::Intent { note, wanted: wanted.clone() })
    }

    /// How many tokens may be read for the tag of a note.
    fn allowance(&self, note: &str) -> Result<usize> {
        Ok(tag::allowance(self.engine()?.count_tokens(beginning(note))?))
    }

    fn weigh(&self, asked: Vec<Option<Continuations>>, next: AfterWeighing) -> Result<State> {
        let weighing = self.engine()?.provider().weigh(&asked)?;
        Ok(State::Weigh(Box::new(Weigh { weighing, asked, next, noted: false })))
    }

    /// The intent that the weighing speaks for, and then the topic.
    pub(super) fn weighed(&self, found: Vec<Vec<Likelihood>>, note: &str, wanted: &TagOptions) -> Result<State> {
        let found: Vec<Option<Likelihood>> = found.iter().map(|of_class| of_class.first().copied()).collect();
        let read = found.iter().flatten().map(|one| one.tokens + 1).sum();
        let standing = tag::standing(&found);
        let own = wanted.intents.is_empty();
        let probabilities = match own {
            true => tag::judge(tag::intent_cues(note), &standing, Weights::current()).to_vec(),
            false => tag::judge_classes(&standing, Weights::current()),
        };
        let (id, classes) = match own {
            true => ("tag-intents", tag::classes()),
            false => ("tag-intents-of-caller", &wanted.intents[..]),
        };
        let prefixes: Vec<String> = classes.iter().map(Class::prefix).collect();
        let digest = prompt::digest(&prefixes.concat());
        let identity = PromptIdentity { id: id.to_owned(), version: tag::INTENTS_VERSION, digest };
        let provenance = self.by_model(identity)?;
        self.topic(note, wanted, &probabilities, read, provenance)
    }

    /// Of what a model weighed.
    fn by_model(&self, prompt: PromptIdentity) -> Result<Provenance> {
        let origin = Origin { prompt: Some(prompt), ..self.origin.clone() };
        Ok(Provenance::model(self.engine()?.info().model, origin, None))
    }

    /// With the intent known, the topic: of the note's own words by rules, where they leave little doubt, else by rules and
    /// model together, if what has been `read` for the intent leaves enough to read; of the caller's the model's choice,
    /// since rules know no more than which are said.
    fn topic(
        &self,
        note: &str,
        wanted: &TagOptions,
        probabilities: &[f32],
        read: usize,
        provenance: Provenance,
    ) -> Result<State> {
        let best = tag::likeliest(probabilities);
        let intent = match wanted.intents.get(best) {
            Some(class) => class.name.clone(),
            None => Intent::ALL[best % Intent::ALL.len()].as_str().to_owned(),
        };
        let confidence = probabilities.get(best).copied().unwrap_or(0.0);
        let own = wanted.topics.is_empty();
        let topics = if own { tag::topics(note) } else { tag::weigh_topics(&wanted.topics, note) };
        match &self.engine {
            Some(engine) if !own && topics.len() > 1 => {
                let names: Vec<String> = topics.iter().map(|topic| topic.name.clone()).collect();
                let grammar = tag::grammar_of(&names, &intent);
                let max_tokens = engine.count_tokens(&grammar)? + 16;
                let reader = Reader::Topic { topics, intent, confidence };
                let ask = self.ask(Prompt::chat(tag::messages(beginning(note))), reader, max_tokens);
                let ask = ask.under(CompiledForm::of(&grammar)?).of(prompt::CONTENT_TAGS.into());
                Ok(State::Model(self.start(ask)?))
            }
            Some(engine) if own && tag::in_doubt(&topics) => {
                let proposals = tag::shortlist(note);
                let texts: Vec<String> = proposals.iter().map(|proposal| tag::topic_text(&proposal.name)).collect();
                let count = |text: &str| engine.count_tokens(text);
                let whole = count(&tag::topic_question(note, tag::QUESTION_WORDS))? + count(&texts.concat())?;
                // A word is a token or more.
                let excess = (whole + read).saturating_sub(self.allowance(note)?);
                let words = note.split_whitespace().count().min(tag::QUESTION_WORDS).saturating_sub(excess);
                if words < QUESTION_LEAST_WORDS {
                    return Ok(tagged(&topics, intent, confidence, provenance));
                }
                let (kept, material) = (tag::TOPICS_SHOWN.to_owned(), tag::topic_question(note, words));
                let asked = Continuations { kept, material, texts, max_tokens: TOPIC_TOKENS };
                let open = OpenTopic { proposals, intent, confidence, provenance };
                self.weigh(vec![Some(asked)], AfterWeighing::Topic(Box::new(open)))
            }
            _ => Ok(tagged(&topics, intent, confidence, provenance)),
        }
    }

    /// The topic for which rules and model speak together; rules alone where nothing was `found`.
    pub(super) fn weighed_topic(&self, open: OpenTopic, found: Vec<Vec<Likelihood>>) -> Result<State> {
        let OpenTopic { proposals, intent, confidence, provenance } = open;
        let found = found.into_iter().next().unwrap_or_default();
        let topics = tag::judge_topics(proposals, &found);
        // An intent that a model weighed has told already which one it was.
        let provenance = match provenance.model_digest {
            None if !found.is_empty() => {
                let (id, digest) = ("tag-topics".to_owned(), prompt::digest(tag::TOPICS_SHOWN));
                self.by_model(PromptIdentity { id, version: tag::TOPICS_VERSION, digest })?
            }
            _ => provenance,
        };
        Ok(tagged(&topics, intent, confidence, provenance))
    }
}

/// As much of a note as can matter to its tag.
fn beginning(note: &str) -> &str {
    &note[..note.floor_char_boundary(TOPIC_MATERIAL * BYTES_PER_TOKEN)]
}

fn tagged(topics: &[Topic], intent: String, confidence: f32, provenance: Provenance) -> State {
    let topic = tag::first(topics).map_or(tag::UNTITLED, |topic| topic.name.as_str()).to_owned();
    let answer = by_rules(tag::answer_of(&topic, &intent), provenance);
    let confidence = Confidence { intent: confidence, topic: tag::share_of(&topic, topics) };
    State::Done(Box::new(Outcome::Tag(TagOutcome { topic, intent, confidence: Some(confidence), answer })))
}

fn by_rules(raw: String, provenance: Provenance) -> Structured {
    Structured { raw, truncated: false, attempts: 0, provenance }
}

impl Ask {
    pub(super) fn question(&self) -> &Question {
        &self.question
    }

    fn of(mut self, prompt: PromptIdentity) -> Self {
        self.origin.prompt = Some(prompt);
        self
    }

    fn from(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    fn under(mut self, form: CompiledForm) -> Self {
        self.question.form = Some(form);
        self
    }

    /// Held to a caller's form, if there is one, and validated against it.
    fn formed(mut self, form: Option<CompiledForm>) -> Self {
        if let Some(form) = &form {
            self.reader = Reader::Formed(form.clone());
        }
        self.question.form = form;
        self
    }

    /// Asked again, up to `retries` times, where the answer is of no use.
    fn sampled(mut self, sampling: Sampling, retries: u32) -> Self {
        self.question.sampling = sampling;
        self.retries = retries;
        self
    }

    /// Turns to what is asked after an answer that cannot be used: first for a repair of it in the same conversation, then
    /// anew with the next seed, as often as the numbers allow. None when there is nothing more to ask.
    pub(super) fn turn(&mut self, raw: &str, reason: &str) -> Option<AttemptKind> {
        if self.repairs_left > 0
            && let Prompt::Chat { messages, .. } = &self.question.prompt
        {
            let repair =
                [Message::new(Role::Assistant, raw), Message::new(Role::User, REPAIR.text.replace("{reason}", reason))];
            let messages = messages.iter().cloned().chain(repair).collect();
            let asked = self.question.prompt.with(messages);
            let before = std::mem::replace(&mut self.question.prompt, asked);
            self.unrepaired.get_or_insert(before);
            self.repairs_left -= 1;
            return Some(AttemptKind::Repair);
        }
        self.retries = self.retries.checked_sub(1)?;
        self.repairs_left = self.repairs;
        if let Some(prompt) = self.unrepaired.take() {
            self.question.prompt = prompt;
        }
        self.question.seed = self.question.seed.wrapping_add(1);
        Some(AttemptKind::Retry)
    }
}

fn needs_model() -> Error {
    Error::new(ErrorKind::InvalidArgument, "this request needs a model; load one first")
}
