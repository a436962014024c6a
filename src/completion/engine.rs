//! The engine: what is loaded once and never changes, and the sessions kept between calls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::completion::job::Job;
use crate::completion::outcome::PromptIdentity;
use crate::completion::prefixes::PrefixPool;
use crate::completion::profile::{Profile, Profiles};
use crate::completion::registry::{Filled, PromptDefinition, Registered, Registry};
use crate::completion::request::Request;
use crate::completion::versions::Versions;
use crate::decode::{Generation, Plan, Scorer, Session, overflow};
use crate::error::{Error, ErrorKind, Result};
use crate::gguf;
use crate::grammar::{Constraint, Grammar};
use crate::model::{self, Model};
use crate::tasks::{decompose, extract, prompt, tag};
use crate::tokenizer::{ChatTemplate, Message, Special, TokenId, TokenTrie, Tokenizer};

/// How a model is set up.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EngineOptions {
    /// The most tokens that prompt and answer may have together. The default, and the most, is what the model was
    /// trained for. Memory is taken as tokens are read, not in advance.
    pub context_size: Option<usize>,
}

/// Reads a GGUF file as its bytes arrive, and becomes an [`Engine`].
pub struct Loader {
    loader: model::Loader,
    options: EngineOptions,
}

/// How far loading has come, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadReport {
    pub phase: LoadPhase,
    pub loaded: u64,
    pub total: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadPhase {
    /// The header is not complete yet.
    Parse,
    /// Tensors are being taken in.
    Weights,
}

impl Loader {
    /// Starts at the first byte of a file of `total` bytes, if that is known.
    pub fn new(total: Option<u64>, options: EngineOptions) -> Self {
        Self { loader: model::Loader::new(total), options }
    }

    /// Takes the next bytes in, in pieces of any size.
    ///
    /// # Errors
    /// `corrupt-model`, `unsupported-model`, `unsupported-quant`, `out-of-memory`; the loader is of no use afterwards.
    pub fn push(&mut self, bytes: &[u8]) -> Result<LoadReport> {
        let progress = self.loader.push(bytes)?;
        let phase = if self.loader.header().is_some() { LoadPhase::Weights } else { LoadPhase::Parse };
        Ok(LoadReport { phase, loaded: progress.received, total: progress.total })
    }

    /// Ends the file and sets up tokenizer, template and token trie.
    ///
    /// # Errors
    /// As [`push`](Self::push); `tokenizer` or `template` for a file whose tokenizer or chat template is of no use.
    pub fn finish(self) -> Result<Engine> {
        let (header, model) = self.loader.finish()?;
        Engine::new(&header, model, self.options)
    }
}

/// A loaded model with all that a request needs. Cheap to clone: clones share everything.
#[derive(Clone)]
pub struct Engine {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    model: Arc<Model>,
    tokenizer: Arc<Tokenizer>,
    template: ChatTemplate,
    trie: Arc<TokenTrie>,
    context_size: usize,
    name: Option<String>,
    weight_bytes: u64,
    grammars: Mutex<HashMap<&'static str, Arc<Grammar>>>,
    prefixes: Mutex<PrefixPool>,
    prompts: Mutex<Registry>,
    profiles: Mutex<Profiles>,
}

/// What is loaded.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Info {
    pub model: ModelInfo,
    /// The most tokens that prompt and answer may have together.
    pub context_size: usize,
    pub versions: Versions,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    /// The name that the file gives itself.
    pub name: Option<String>,
    pub architecture: &'static str,
    pub layers: usize,
    pub vocabulary: usize,
    /// Bytes of weights in the file.
    pub weight_bytes: u64,
}

/// A prompt, and how many of its leading tokens do not depend on the request's material.
#[derive(Clone)]
pub(super) struct Prompt {
    pub(super) tokens: Vec<TokenId>,
    pub(super) prefix: usize,
}

/// A grammar's text, and how long it is worth keeping compiled.
#[derive(Clone)]
pub(super) enum Gbnf {
    /// One of the crate's own.
    OfCrate(&'static str),
    /// Written by a caller, or made from a user's words.
    OfRequest(String),
    /// Compiled when its prompt was registered.
    Registered { grammar: Arc<Grammar>, digest: String },
}

impl Gbnf {
    pub(super) fn digest(&self) -> String {
        match self {
            Self::OfCrate(text) => prompt::digest(text),
            Self::OfRequest(text) => prompt::digest(text),
            Self::Registered { digest, .. } => digest.clone(),
        }
    }
}

/// No text of words averages more bytes a token, in any vocabulary in use; only runs of one character do.
const MAX_BYTES_PER_TOKEN: usize = 16;

/// For an estimate of a text that is not worth encoding. English takes about four bytes a token.
const TYPICAL_BYTES_PER_TOKEN: usize = 4;

impl Engine {
    fn new(header: &gguf::Header, model: Model, options: EngineOptions) -> Result<Self> {
        let tokenizer = Tokenizer::from_metadata(&header.metadata)?;
        let vocabulary = Arc::clone(tokenizer.vocabulary());
        let config = model.config();
        if vocabulary.len() > config.vocab_size {
            let message =
                format!("the tokenizer has {} tokens and the model scores {}", vocabulary.len(), config.vocab_size);
            return Err(Error::new(ErrorKind::CorruptModel, message));
        }
        let trained = config.context_length;
        let context_size = match options.context_size {
            Some(0) => return Err(Error::new(ErrorKind::InvalidArgument, "contextSize must be at least 1")),
            Some(size) => size.min(trained),
            None => trained,
        };
        Ok(Self {
            shared: Arc::new(Shared {
                template: ChatTemplate::from_metadata(&header.metadata, &vocabulary)?,
                trie: Arc::new(TokenTrie::new(&vocabulary)),
                tokenizer: Arc::new(tokenizer),
                model: Arc::new(model),
                context_size,
                name: header.metadata.opt_str("general.name")?.map(str::to_owned),
                weight_bytes: header.tensors.iter().map(|tensor| tensor.size as u64).sum(),
                grammars: Mutex::default(),
                prefixes: Mutex::default(),
                prompts: Mutex::default(),
                profiles: Mutex::default(),
            }),
        })
    }

    /// Reads a whole file that is in memory.
    ///
    /// # Errors
    /// As [`Loader::push`] and [`Loader::finish`].
    pub fn read(bytes: &[u8], options: EngineOptions) -> Result<Self> {
        let mut loader = Loader::new(Some(bytes.len() as u64), options);
        loader.push(bytes)?;
        loader.finish()
    }

    pub fn info(&self) -> Info {
        let shared = &self.shared;
        let config = shared.model.config();
        Info {
            model: ModelInfo {
                name: shared.name.clone(),
                architecture: config.architecture.name(),
                layers: config.n_layers,
                vocabulary: shared.tokenizer.vocabulary().len(),
                weight_bytes: shared.weight_bytes,
            },
            context_size: shared.context_size,
            versions: Versions::current(),
        }
    }

    /// How many tokens `text` takes by itself.
    ///
    /// # Errors
    /// `tokenizer` if the text cannot be encoded.
    pub fn count_tokens(&self, text: &str) -> Result<usize> {
        self.shared.count_tokens(text)
    }

    /// Adds a prompt of the caller's, for requests to name.
    ///
    /// # Errors
    /// As [`Registry::register`].
    pub fn register_prompt(&self, definition: PromptDefinition) -> Result<PromptIdentity> {
        lock(&self.shared.prompts).register(definition)
    }

    /// Adds a profile, for requests and prompts to name.
    ///
    /// # Errors
    /// As [`Profiles::register`].
    pub fn register_profile(&self, profile: Profile) -> Result<()> {
        lock(&self.shared.profiles).register(profile)
    }

    /// Makes sure that every one of `profiles` is there and suits the model, before any work begins.
    ///
    /// # Errors
    /// `invalid-argument`, as [`Profiles::get`].
    pub fn prepare(&self, profiles: &[String]) -> Result<()> {
        profiles.iter().try_for_each(|name| self.shared.profile(name).map(drop))
    }

    /// A name for everything that shapes an answer: model, crate, rules, prompts, grammars and profiles. It changes when
    /// any of them does, and holds none of their contents.
    ///
    /// # Errors
    /// None that is expected: `internal` if the parts cannot be written as JSON.
    pub fn fingerprint(&self) -> Result<String> {
        let prompts = lock(&self.shared.prompts);
        let profiles = lock(&self.shared.profiles);
        let own: Vec<_> = [extract::grammar(), decompose::grammar(), decompose::guided_grammar(), tag::grammar()]
            .map(prompt::digest)
            .into();
        let built_in: Vec<String> = prompt::ALL.iter().map(prompt::Prompt::digest).collect();
        let intents: Vec<String> = tag::classes().iter().map(|class| prompt::digest(&class.prefix())).collect();
        let parts = (
            self.info(),
            intents,
            tag::Weights::current(),
            built_in,
            own,
            prompts.identities().collect::<Vec<_>>(),
            profiles.all().collect::<Vec<_>>(),
        );
        let whole = serde_json::to_string(&parts)
            .map_err(|_| Error::new(ErrorKind::Internal, "the parts of a fingerprint could not be written as JSON"))?;
        Ok(prompt::digest(&whole))
    }

    /// Checks a request and begins it. No work is done before [`Job::step`].
    ///
    /// # Errors
    /// `invalid-argument`, `invalid-grammar`, `context-overflow`, `template`, `tokenizer`.
    pub fn start(&self, request: Request) -> Result<Job> {
        Job::start(Some(Arc::clone(&self.shared)), request)
    }
}

impl Shared {
    /// A chat as tokens, ending where the assistant's answer begins.
    ///
    /// # Errors
    /// `template`, `tokenizer`; `context-overflow`, with an estimate, for texts that are hopelessly long: encoding hours
    /// of speech only to refuse it would keep a cancel waiting.
    pub(super) fn chat_prompt(&self, messages: &[Message]) -> Result<Prompt> {
        // The last message carries the material; what a chat with an empty one shares with this one is the prefix.
        let mut blank = messages.to_vec();
        if let Some(last) = blank.last_mut() {
            last.content.clear();
        }
        self.prompt_beside(&self.template, messages, &blank)
    }

    /// A registered prompt as tokens. `thinks` sets the template's switch for thinking, if it has one.
    ///
    /// # Errors
    /// As [`chat_prompt`](Self::chat_prompt).
    pub(super) fn filled_prompt(&self, filled: &Filled, thinks: Option<bool>) -> Result<Prompt> {
        self.prompt_beside(&self.template.thinking(thinks), &filled.messages, &filled.blank)
    }

    /// A chat as tokens, of which those that it shares with `blank` are the prefix.
    fn prompt_beside(&self, template: &ChatTemplate, messages: &[Message], blank: &[Message]) -> Result<Prompt> {
        let bytes: usize = messages.iter().map(|message| message.content.len()).sum();
        if bytes / MAX_BYTES_PER_TOKEN > self.context_size {
            return Err(overflow(bytes / TYPICAL_BYTES_PER_TOKEN, self.context_size));
        }
        let tokens = self.tokenizer.encode_chat(template, messages)?;
        let blank = self.tokenizer.encode_chat(template, blank)?;
        let prefix = tokens.iter().zip(&blank).take_while(|(a, b)| a == b).count();
        Ok(Prompt { tokens, prefix })
    }

    pub(super) fn prompt(&self, id: &str, version: Option<u32>) -> Result<Arc<Registered>> {
        lock(&self.prompts).get(id, version)
    }

    pub(super) fn profile(&self, name: &str) -> Result<Profile> {
        lock(&self.profiles).get(name, self.name()).cloned()
    }

    /// A caller's own prompt. Control tokens that it spells out are control tokens. All of it is material, so none of
    /// it is kept for later calls.
    pub(super) fn raw_prompt(&self, text: &str) -> Result<Prompt> {
        if text.len() / MAX_BYTES_PER_TOKEN > self.context_size {
            return Err(overflow(text.len() / TYPICAL_BYTES_PER_TOKEN, self.context_size));
        }
        Ok(Prompt { tokens: self.tokenizer.encode(text, Special::Parse)?, prefix: 0 })
    }

    /// A fresh run of a grammar. The crate's own are compiled once and kept; one made for a request, which may hold the
    /// user's words, goes with it.
    pub(super) fn constraint(&self, gbnf: Gbnf) -> Result<Constraint> {
        let grammar = match gbnf {
            Gbnf::OfRequest(text) => Arc::new(Grammar::parse(&text)?),
            Gbnf::Registered { grammar, .. } => grammar,
            Gbnf::OfCrate(text) => {
                let mut grammars = lock(&self.grammars);
                match grammars.get(text) {
                    Some(grammar) => Arc::clone(grammar),
                    None => {
                        let grammar = Arc::new(Grammar::parse(text)?);
                        grammars.insert(text, Arc::clone(&grammar));
                        grammar
                    }
                }
            }
        };
        Constraint::new(grammar, Arc::clone(&self.trie))
    }

    /// A generation on a session that has read a prefix of the prompt, or on a new one.
    pub(super) fn generation(&self, mut plan: Plan) -> Result<Generation> {
        // Checked before a kept session is taken out, since a refused plan would lose it.
        plan.check(self.context_size)?;
        let session = match lock(&self.prefixes).take(&plan.prompt) {
            Some(session) => session,
            None => Session::new(&self.model, self.context_size)?,
        };
        Generation::new(Arc::clone(&self.model), Arc::clone(&self.tokenizer), session, plan)
    }

    /// A scorer of `candidates` on a session that has read a beginning of `prefix`, or on a new one, and how many tokens
    /// of the prefix need not be read again.
    pub(super) fn scorer(&self, prefix: &[TokenId], candidates: &[Vec<TokenId>]) -> Result<(Scorer, usize)> {
        let session = match lock(&self.prefixes).take(prefix) {
            Some(session) => session,
            None => Session::new(&self.model, self.context_size)?,
        };
        let cached = session.common_prefix(prefix);
        Ok((Scorer::new(Arc::clone(&self.model), session, prefix, candidates)?, cached))
    }

    pub(super) fn count_tokens(&self, text: &str) -> Result<usize> {
        Ok(self.tokens(text)?.len())
    }

    /// The tokens of a plain text.
    pub(super) fn tokens(&self, text: &str) -> Result<Vec<TokenId>> {
        self.tokenizer.encode(text, Special::AsText)
    }

    /// So much of `text` that its first `tokens` tokens are in it: there is no need to encode hours of speech for them.
    pub(super) fn beginning<'a>(&self, text: &'a str, tokens: usize) -> &'a str {
        &text[..text.floor_char_boundary(tokens.saturating_mul(MAX_BYTES_PER_TOKEN))]
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(super) fn keep(&self, session: Session, prefix: usize) {
        lock(&self.prefixes).put(session, prefix);
    }
}

/// A poisoned lock only means that another thread panicked between two whole updates: the value is sound.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
