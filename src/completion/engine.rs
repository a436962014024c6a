//! The engine: what answers, and what requests name.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::completion::job::Job;
use crate::completion::loader::{EngineOptions, Loader};
use crate::completion::outcome::PromptIdentity;
use crate::completion::profile::{Profile, Profiles};
use crate::completion::provider::{CompiledForm, Info, Provider};
use crate::completion::registry::{PromptDefinition, Registered, Registry};
use crate::completion::request::Request;
use crate::error::{Error, ErrorKind, Result};
use crate::tasks::{decompose, extract, prompt, tag};

/// One or several models with all that a request can name. Cheap to clone: clones share everything.
#[derive(Clone)]
pub struct Engine {
    /// Who answers where no profile says otherwise.
    provider: Arc<dyn Provider>,
    catalogue: Arc<Catalogue>,
}

/// What requests name.
#[derive(Default)]
struct Catalogue {
    prompts: Mutex<Registry>,
    profiles: Mutex<Profiles>,
    /// Who answers beside the first, by the names that profiles know them by.
    models: Mutex<BTreeMap<String, Arc<dyn Provider>>>,
    /// The crate's own grammars, each compiled when it is first needed.
    forms: Mutex<HashMap<&'static str, CompiledForm>>,
}

/// The most models of an engine beside the first.
const MAX_MODELS: usize = 16;

impl Engine {
    /// An engine in which `provider` answers.
    pub fn new(provider: Arc<dyn Provider>) -> Self {
        Self { provider, catalogue: Arc::default() }
    }

    /// Reads a whole model file that is in memory.
    ///
    /// # Errors
    /// As [`Loader::push`] and [`Loader::finish`].
    pub fn read(bytes: &[u8], options: EngineOptions) -> Result<Self> {
        let mut loader = Loader::new(Some(bytes.len() as u64), options);
        loader.push(bytes)?;
        loader.finish()
    }

    /// The first model.
    pub fn info(&self) -> Info {
        self.provider.info()
    }

    /// How many tokens `text` takes by itself, for the first model.
    ///
    /// # Errors
    /// `tokenizer` if the text cannot be encoded.
    pub fn count_tokens(&self, text: &str) -> Result<usize> {
        self.provider.count_tokens(text)
    }

    /// Adds a model under the name by which profiles know it.
    ///
    /// # Errors
    /// `invalid-argument` for a name that is empty or there already, and for more models than an engine has.
    pub fn add_model(&self, name: &str, provider: Arc<dyn Provider>) -> Result<()> {
        let mut models = lock(&self.catalogue.models);
        let refuse = |why: String| Err(Error::new(ErrorKind::InvalidArgument, why));
        if name.trim().is_empty() {
            return refuse("a model needs a name".into());
        }
        if models.contains_key(name) {
            return refuse("there is a model of that name already".into());
        }
        if models.len() == MAX_MODELS {
            return refuse(format!("there are {MAX_MODELS} models already, which is the most"));
        }
        models.insert(name.to_owned(), provider);
        Ok(())
    }

    /// Adds a prompt of the caller's, for requests to name.
    ///
    /// # Errors
    /// As [`Registry::register`].
    pub fn register_prompt(&self, definition: PromptDefinition) -> Result<PromptIdentity> {
        lock(&self.catalogue.prompts).register(definition)
    }

    /// Adds a profile, for requests and prompts to name. Its model may come later.
    ///
    /// # Errors
    /// As [`Profiles::register`].
    pub fn register_profile(&self, profile: Profile) -> Result<()> {
        lock(&self.catalogue.profiles).register(profile)
    }

    /// Makes sure that every one of `profiles` is there with its model, before any work begins.
    ///
    /// # Errors
    /// `invalid-argument` for a profile that is not there, or whose model is not.
    pub fn prepare(&self, profiles: &[String]) -> Result<()> {
        profiles.iter().try_for_each(|name| self.under(name).map(drop))
    }

    /// A name for everything that shapes an answer: models, crate, rules, prompts, grammars and profiles. It changes when
    /// any of them does, and holds none of their contents.
    ///
    /// # Errors
    /// None that is expected: `internal` if the parts cannot be written as JSON.
    pub fn fingerprint(&self) -> Result<String> {
        let profiles = lock(&self.catalogue.profiles);
        // A model counts by its bytes: what a caller calls it changes no answer.
        let profiles: Vec<(Profile, Option<String>)> = profiles
            .all()
            .map(|profile| {
                let digest = self.model(profile).ok().map(|provider| provider.info().model.digest);
                (Profile { model: None, ..profile.clone() }, digest)
            })
            .collect();
        let own: Vec<_> = [extract::grammar(), decompose::grammar(), decompose::guided_grammar(), tag::grammar()]
            .map(prompt::digest)
            .into();
        let built_in: Vec<String> = prompt::ALL.iter().map(prompt::Prompt::digest).collect();
        let intents: Vec<String> = tag::classes().iter().map(|class| prompt::digest(&class.prefix())).collect();
        let topics = (prompt::digest(tag::TOPICS_SHOWN), tag::TOPICS_VERSION);
        let rules = [tag::INTENTS_VERSION, extract::RULES_VERSION, decompose::RULES_VERSION];
        let schemes = prompt::digest(decompose::SCHEMES);
        let prompts = lock(&self.catalogue.prompts);
        let parts = (
            self.info(),
            intents,
            topics,
            rules,
            schemes,
            tag::Weights::current(),
            built_in,
            own,
            prompts.identities().collect::<Vec<_>>(),
            profiles,
        );
        let whole = serde_json::to_string(&parts)
            .map_err(|_| Error::new(ErrorKind::Internal, "the parts of a fingerprint could not be written as JSON"))?;
        Ok(prompt::digest(&whole))
    }

    /// What the first model has read of prompts' beginnings, with their keys and values, for an engine of another visit:
    /// some megabytes each. It holds prompts and intents, and nothing of any material or example of feedback.
    pub fn prefixes(&self) -> Vec<u8> {
        self.provider.prefixes()
    }

    /// Takes in the [`prefixes`](Self::prefixes) of another visit with the same model and crate: their prompts need not be
    /// read again. Returns how many are there now that were not.
    ///
    /// # Errors
    /// `invalid-argument` for bytes that are damaged, or of another model or version; nothing changes then.
    pub fn take_prefixes(&self, bytes: &[u8]) -> Result<usize> {
        self.provider.take_prefixes(bytes)
    }

    /// Checks a request and begins it. No work is done before [`Job::step`].
    ///
    /// # Errors
    /// `invalid-argument`, `invalid-grammar`, `context-overflow`, `template`, `tokenizer`.
    pub fn start(&self, request: Request) -> Result<Job> {
        Job::start(Some(self), request)
    }

    /// Who answers where no profile says otherwise.
    pub fn provider(&self) -> Arc<dyn Provider> {
        Arc::clone(&self.provider)
    }

    pub(super) fn prompt(&self, id: &str, version: Option<u32>) -> Result<Arc<Registered>> {
        lock(&self.catalogue.prompts).get(id, version)
    }

    /// The profile of that name, and this engine with its model.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub(super) fn under(&self, name: &str) -> Result<(Self, Profile)> {
        let profile = lock(&self.catalogue.profiles).get(name)?.clone();
        let provider = self.model(&profile)?;
        Ok((Self { provider, catalogue: Arc::clone(&self.catalogue) }, profile))
    }

    fn model(&self, profile: &Profile) -> Result<Arc<dyn Provider>> {
        let Some(name) = &profile.model else { return Ok(self.provider()) };
        let missing = || Error::new(ErrorKind::InvalidArgument, "the profile's model is not loaded");
        lock(&self.catalogue.models).get(name).cloned().ok_or_else(missing)
    }

    /// One of the crate's own grammars.
    pub(super) fn form_of_crate(&self, gbnf: &'static str) -> Result<CompiledForm> {
        let mut forms = lock(&self.catalogue.forms);
        if let Some(form) = forms.get(gbnf) {
            return Ok(form.clone());
        }
        let form = CompiledForm::of(gbnf)?;
        forms.insert(gbnf, form.clone());
        Ok(form)
    }
}

/// A poisoned lock only means that another thread panicked between two whole updates: the value is sound.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
