//! A loaded model as a [`Provider`]: prompts become tokens, and what has been read of them is kept.

use std::sync::{Arc, Mutex};

use crate::completion::compare::Compare;
use crate::completion::engine::lock;
use crate::completion::loader::EngineOptions;
use crate::completion::prefixes::PrefixPool;
use crate::completion::provider::{
    Answering, Comparing, Continuations, Info, ModelInfo, Passage, Prompt, Provider, Question, Weighing, Written,
};
use crate::completion::versions::Versions;
use crate::completion::weigh::Weigh;
use crate::decode::{Answer, Generation, Plan, Scorer, Session, Step, Usage, overflow};
use crate::error::{Error, ErrorKind, Result};
use crate::gguf::{Assemble, Header, TensorInfo};
use crate::grammar::Constraint;
use crate::model::{self, KvType, Model};
use crate::tasks::prompt::digest;
use crate::tokenizer::{ChatTemplate, Message, Special, TokenId, TokenTrie, Tokenizer};

/// Loaded once and immutable, but for the sessions kept between calls.
pub(super) struct Loaded {
    model: Arc<Model>,
    tokenizer: Arc<Tokenizer>,
    template: ChatTemplate,
    trie: Arc<TokenTrie>,
    info: Info,
    kv_type: KvType,
    prefixes: Mutex<PrefixPool>,
}

/// What a file says before its weights.
pub(super) struct Language {
    tokenizer: Tokenizer,
    template: ChatTemplate,
    trie: TokenTrie,
    name: Option<String>,
    weight_bytes: u64,
}

/// A model and its language as their bytes arrive. The language is set up with the header: a file of no use is refused
/// before its weights travel, and the memory that reading it took serves them.
pub(super) struct Assembly {
    language: Language,
    model: model::Builder,
}

impl Assemble for Assembly {
    type Output = (Language, Model);

    fn begin(header: &mut Header) -> Result<Self> {
        let model = model::Builder::begin(header)?;
        let tokenizer = Tokenizer::from_metadata(&header.metadata)?;
        let language = Language {
            template: ChatTemplate::from_metadata(&header.metadata, tokenizer.vocabulary())?,
            trie: TokenTrie::new(tokenizer.vocabulary()),
            tokenizer,
            name: header.metadata.opt_str("general.name")?.map(str::to_owned),
            weight_bytes: header.tensors.iter().map(|tensor| tensor.size as u64).sum(),
        };
        header.metadata.forget("tokenizer.");
        Ok(Self { language, model })
    }

    fn tensor(&mut self, info: &TensorInfo, offset: usize, bytes: &[u8]) -> Result<()> {
        self.model.tensor(info, offset, bytes)
    }

    fn finish(self) -> Result<Self::Output> {
        Ok((self.language, self.model.finish()?))
    }
}

/// No text of words averages more bytes a token, in any vocabulary in use; only runs of one character do.
pub(super) const MAX_BYTES_PER_TOKEN: usize = 16;

/// For an estimate of a text that is not worth encoding. English takes about four bytes a token.
const TYPICAL_BYTES_PER_TOKEN: usize = 4;

/// A prompt, and how many of its leading tokens do not depend on the request's material.
struct Encoded {
    tokens: Vec<TokenId>,
    prefix: usize,
}

impl Loaded {
    pub(super) fn new(language: Language, model: Model, options: EngineOptions, digest: String) -> Result<Self> {
        let Language { tokenizer, template, trie, name, weight_bytes } = language;
        let vocabulary = tokenizer.vocabulary().len();
        let config = model.config();
        if vocabulary > config.vocab_size {
            let message = format!("the tokenizer has {vocabulary} tokens and the model scores {}", config.vocab_size);
            return Err(Error::new(ErrorKind::CorruptModel, message));
        }
        let trained = config.context_length;
        let context_size = match options.context_size {
            Some(0) => return Err(Error::new(ErrorKind::InvalidArgument, "contextSize must be at least 1")),
            Some(size) => size.min(trained),
            None => trained,
        };
        let architecture = config.architecture.name();
        let about = ModelInfo { name, digest, architecture, layers: config.n_layers, vocabulary, weight_bytes };
        Ok(Self {
            template,
            trie: Arc::new(trie),
            tokenizer: Arc::new(tokenizer),
            model: Arc::new(model),
            info: Info { model: about, context_size, versions: Versions::current() },
            kv_type: options.kv_cache,
            prefixes: Mutex::default(),
        })
    }

    /// # Errors
    /// `context-overflow`, with an estimate, for so many bytes that they cannot fit: encoding hours of speech only to refuse
    /// it would keep a cancel waiting.
    pub(super) fn check_bytes(&self, bytes: usize) -> Result<()> {
        if bytes / MAX_BYTES_PER_TOKEN > self.info.context_size {
            return Err(overflow(bytes / TYPICAL_BYTES_PER_TOKEN, self.info.context_size));
        }
        Ok(())
    }

    /// # Errors
    /// `template`, `tokenizer`; as [`check_bytes`](Self::check_bytes).
    fn encode(&self, prompt: &Prompt, thinks: Option<bool>) -> Result<Encoded> {
        let bytes: usize = match prompt {
            Prompt::Chat { messages, .. } => messages.iter().map(|message| message.content.len()).sum(),
            Prompt::Raw { text } => text.len(),
        };
        self.check_bytes(bytes)?;
        match prompt {
            // Control tokens that a caller's own text spells out are control tokens.
            Prompt::Raw { text } => Ok(Encoded { tokens: self.tokenizer.encode(text, Special::Parse)?, prefix: 0 }),
            Prompt::Chat { messages, blank } => {
                let template = match thinks {
                    None => &self.template,
                    Some(_) => &self.template.thinking(thinks),
                };
                let encode = |messages: &[Message]| self.tokenizer.encode_chat(template, messages);
                let (tokens, blank) = (encode(messages)?, encode(blank)?);
                let prefix = tokens.iter().zip(&blank).take_while(|(a, b)| a == b).count();
                Ok(Encoded { tokens, prefix })
            }
        }
    }

    /// What keys and values hang on: another model, another version of the forward pass, or another type has others.
    fn prefix_key(&self) -> String {
        digest(&format!("{} {} {}", self.info.model.digest, self.info.versions.krate, self.kv_type.name()))
    }

    /// A session that has read a beginning of `prompt`, or a new one.
    fn session(&self, prompt: &[TokenId]) -> Result<Session> {
        match lock(&self.prefixes).take(prompt) {
            Some(session) => Ok(session),
            None => Session::of_type(self.kv_type, &self.model, self.info.context_size),
        }
    }

    /// A scorer of `candidates` after `prefix`, and how many tokens of the prefix need not be read again.
    pub(super) fn scorer(&self, prefix: &[TokenId], candidates: &[Vec<TokenId>]) -> Result<(Scorer, usize)> {
        let session = self.session(prefix)?;
        let cached = session.common_prefix(prefix);
        Ok((Scorer::new(Arc::clone(&self.model), session, prefix, candidates)?, cached))
    }

    /// The tokens of a plain text.
    pub(super) fn tokens(&self, text: &str) -> Result<Vec<TokenId>> {
        self.tokenizer.encode(text, Special::AsText)
    }

    /// Keeps what a session has read of the first `prefix` tokens.
    pub(super) fn keep(&self, session: Session, prefix: usize) {
        lock(&self.prefixes).put(session, prefix);
    }
}

impl Provider for Loaded {
    fn info(&self) -> Info {
        self.info.clone()
    }

    fn count_tokens(&self, text: &str) -> Result<usize> {
        Ok(self.tokens(text)?.len())
    }

    fn answer(self: Arc<Self>, question: &Question) -> Result<Box<dyn Answering>> {
        let Question { prompt, thinks, form, stop, max_tokens, sampling, seed } = question;
        let Encoded { tokens, prefix } = self.encode(prompt, *thinks)?;
        let constraint =
            form.as_ref().map(|form| Constraint::new(Arc::clone(&form.grammar), Arc::clone(&self.trie))).transpose()?;
        let mut plan = Plan {
            prompt: tokens,
            max_tokens: *max_tokens,
            sampling: *sampling,
            seed: *seed,
            constraint,
            stop: stop.clone(),
        };
        // Checked before a kept session is taken out, since a refused plan would lose it.
        plan.check(self.info.context_size)?;
        let session = self.session(&plan.prompt)?;
        let generation = Generation::new(Arc::clone(&self.model), Arc::clone(&self.tokenizer), session, plan)?;
        Ok(Box::new(Writing { generation: Some(generation), prefix, loaded: self }))
    }

    fn weigh(self: Arc<Self>, asked: &[Option<Continuations>]) -> Result<Box<dyn Weighing>> {
        Ok(Box::new(Weigh::new(self, asked)?))
    }

    fn compare(self: Arc<Self>, passages: &[Passage]) -> Result<Box<dyn Comparing>> {
        Ok(Box::new(Compare::new(self, passages)?))
    }

    fn prefixes(&self) -> Vec<u8> {
        lock(&self.prefixes).to_bytes(&self.prefix_key())
    }

    fn take_prefixes(&self, bytes: &[u8]) -> Result<usize> {
        lock(&self.prefixes).take_bytes(&self.prefix_key(), bytes, (self.kv_type, &self.model, self.info.context_size))
    }
}

/// A generation whose session goes back to the pool, however it ends.
struct Writing {
    loaded: Arc<Loaded>,
    /// There until the answer is finished.
    generation: Option<Generation>,
    /// How many tokens of the prompt are worth keeping.
    prefix: usize,
}

fn over() -> Error {
    Error::new(ErrorKind::Internal, "an answer was stepped after its end")
}

impl Answering for Writing {
    fn step(&mut self) -> Result<Step> {
        self.generation.as_mut().ok_or_else(over)?.step()
    }

    fn usage(&self) -> Usage {
        self.generation.as_ref().map(Generation::usage).unwrap_or_default()
    }

    fn max_tokens(&self) -> usize {
        self.generation.as_ref().map_or(0, Generation::max_tokens)
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        let generation = self.generation.take().ok_or_else(over)?;
        let Answer { text, finish_reason, truncated, session, .. } = generation.finish()?;
        self.loaded.keep(session, self.prefix);
        Ok(Written { text, finish_reason, truncated })
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        if let Some(generation) = self.generation.take() {
            self.loaded.keep(generation.cancel(), self.prefix);
        }
    }
}
