//! The JavaScript binding: translation and nothing else.
//!
//! - Rust values become plain objects; [`Error`] becomes an `Error` object with `code`, `message` and `detail`.
//! - Byte offsets into a text become UTF-16 offsets, JavaScript's own unit.
//! - A panic cannot be caught on this target: the hook names the place (never the message, which can quote the user's
//!   text) on the console, the call traps, and whoever drives the module has to replace the instance.

use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use crate::completion::{self, Outcome, Request, Task};
use crate::error::{Error, ErrorKind, Result};
#[cfg(target_feature = "atomics")]
use crate::model::kernels::pool;
use crate::shape::without_values;
use crate::tasks::cleanup;
use crate::transcript::Transcript;
use crate::utf16::Utf16Offsets;

#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(|| "an unknown place".into(), ToString::to_string);
        web_sys::console::error_1(&format!("fairhand: internal fault at {place}").into());
    }));
}

/// Takes a GGUF file in, piece by piece, and becomes an [`Engine`].
#[wasm_bindgen]
pub struct ModelLoader {
    loader: completion::Loader,
}

#[wasm_bindgen]
impl ModelLoader {
    /// `totalBytes` is the file's size where it is known; `options` is `{ contextSize?: number, kvCache?: 'f32' | 'f16' | 'q8_0' }`.
    #[wasm_bindgen(constructor)]
    pub fn new(total_bytes: Option<f64>, options: JsValue) -> Result<ModelLoader, JsValue> {
        let total = total_bytes.map(|n| n as u64);
        Ok(Self { loader: completion::Loader::new(total, from_js_or_default(options)?) })
    }

    /// Takes the next bytes in. Returns `{ phase, loaded, total }`.
    pub fn push(&mut self, chunk: &[u8]) -> Result<JsValue, JsValue> {
        to_js(&self.loader.push(chunk).map_err(error_to_js)?)
    }

    /// Consumes the loader, whose bytes must be complete.
    pub fn finish(self) -> Result<Engine, JsValue> {
        Ok(Engine { engine: self.loader.finish().map_err(error_to_js)? })
    }

    /// As [`finish`](Self::finish), for a model that joins an engine under a name that profiles know.
    pub fn join(self, engine: &Engine, name: &str) -> Result<(), JsValue> {
        self.loader.join(&engine.engine, name).map_err(error_to_js)
    }
}

/// A loaded model.
#[wasm_bindgen]
pub struct Engine {
    engine: completion::Engine,
}

#[wasm_bindgen]
impl Engine {
    /// What is loaded: model, sizes, versions.
    pub fn info(&self) -> Result<JsValue, JsValue> {
        to_js(&self.engine.info())
    }

    /// How many tokens `text` takes, without a chat template around it.
    #[wasm_bindgen(js_name = countTokens)]
    pub fn count_tokens(&self, text: &str) -> Result<usize, JsValue> {
        self.engine.count_tokens(text).map_err(error_to_js)
    }

    /// Adds a prompt for requests to name; returns its id, version and digest.
    #[wasm_bindgen(js_name = registerPrompt)]
    pub fn register_prompt(&self, definition: JsValue) -> Result<JsValue, JsValue> {
        to_js(&self.engine.register_prompt(from_js(definition)?).map_err(error_to_js)?)
    }

    /// Adds a profile for requests and prompts to name.
    #[wasm_bindgen(js_name = registerProfile)]
    pub fn register_profile(&self, profile: JsValue) -> Result<(), JsValue> {
        self.engine.register_profile(from_js(profile)?).map_err(error_to_js)
    }

    /// Makes sure that every profile of a list of names is there with its model.
    pub fn prepare(&self, profiles: JsValue) -> Result<(), JsValue> {
        self.engine.prepare(&from_js::<Vec<String>>(profiles)?).map_err(error_to_js)
    }

    /// A name for everything that shapes an answer.
    pub fn fingerprint(&self) -> Result<String, JsValue> {
        self.engine.fingerprint().map_err(error_to_js)
    }

    /// What has been read of prompts' beginnings, for an engine of another visit.
    pub fn prefixes(&self) -> Vec<u8> {
        self.engine.prefixes()
    }

    /// Takes in the `prefixes` of another visit; returns how many are there now that were not.
    #[wasm_bindgen(js_name = takePrefixes)]
    pub fn take_prefixes(&self, bytes: &[u8]) -> Result<usize, JsValue> {
        self.engine.take_prefixes(bytes).map_err(error_to_js)
    }

    /// Checks a request and begins it; no work is done before [`Job::step`].
    pub fn start(&self, request: JsValue) -> Result<Job, JsValue> {
        Job::begin(request, |request| self.engine.start(request))
    }
}

/// Work under way. Freeing it before its end cancels it.
#[wasm_bindgen]
pub struct Job {
    job: completion::Job,
    /// The text to whose characters a result's offsets refer; empty where it has none.
    raw: String,
}

#[wasm_bindgen]
impl Job {
    /// Bounded work, at the time `now` in milliseconds from any beginning. Returns `{ done, text?, progress? }`.
    pub fn step(&mut self, now: f64) -> Result<JsValue, JsValue> {
        to_js(&self.job.step(now).map_err(error_to_js)?)
    }

    /// The result, once a step has said `done`. It can be taken once.
    pub fn result(&mut self) -> Result<JsValue, JsValue> {
        let mut outcome = self.job.result().map_err(error_to_js)?;
        let mut offsets = Utf16Offsets::new(&self.raw);
        match &mut outcome {
            Outcome::Cleanup(cleanup) => {
                for edit in &mut cleanup.cleaned.edits {
                    (edit.start, edit.end) = (offsets.at(edit.start), offsets.at(edit.end));
                }
            }
            Outcome::Extract(extract) => {
                for evidence in extract.tasks.iter_mut().filter_map(|task| task.evidence.as_mut()) {
                    (evidence.start, evidence.end) = (offsets.at(evidence.start), offsets.at(evidence.end));
                }
            }
            Outcome::Decompose(_) | Outcome::Tag(_) | Outcome::Complete(_) => {}
        }
        to_js(&outcome)
    }

    /// What was asked of the model and answered so far, if the request has `record: true`.
    pub fn attempts(&self) -> Result<JsValue, JsValue> {
        to_js(&self.job.attempts())
    }

    /// Token counts so far.
    pub fn usage(&self) -> Result<JsValue, JsValue> {
        to_js(&self.job.usage())
    }
}

impl Job {
    fn begin(request: JsValue, start: impl FnOnce(Request) -> Result<completion::Job>) -> Result<Self, JsValue> {
        let request: Request = from_js(request)?;
        let raw = match &request.task {
            Task::Cleanup { text, .. } | Task::ExtractTasks { text, .. } => text.clone(),
            Task::DecomposeTask { .. } | Task::TagContent { .. } | Task::Prompt(_) | Task::Complete { .. } => {
                String::new()
            }
        };
        Ok(Self { job: start(request).map_err(error_to_js)?, raw })
    }
}

/// Begins work that needs no model: a cleanup by rules.
#[wasm_bindgen(js_name = startCleanup)]
pub fn start_cleanup(request: JsValue) -> Result<Job, JsValue> {
    Job::begin(request, completion::start_without_model)
}

/// Reads a transcript file, as text or as bytes: plain text, SRT, WebVTT, or one of Whisper's JSON shapes.
#[wasm_bindgen(js_name = readTranscript)]
pub fn read_transcript(file: JsValue, name: Option<String>) -> Result<JsValue, JsValue> {
    let bytes = match file.as_string() {
        Some(text) => text.into_bytes(),
        None => js_sys::Uint8Array::new(&file).to_vec(),
    };
    let mut transcript = Transcript::read(&bytes, name.as_deref()).map_err(error_to_js)?;
    let mut offsets = Utf16Offsets::new(&transcript.text);
    for segment in &mut transcript.segments {
        segment.start = offsets.at(segment.start);
        for word in &mut segment.words {
            (word.start, word.end) = (offsets.at(word.start), offsets.at(word.end));
        }
        segment.end = offsets.at(segment.end);
    }
    to_js(&transcript)
}

/// Reads the network that sets marks, `marks.bin` of this package. Without it there are none but the dictated ones.
#[wasm_bindgen(js_name = readMarksNetwork)]
pub fn read_marks_network(file: Vec<u8>) -> Result<(), JsValue> {
    cleanup::read_marks_network(file).map_err(error_to_js)
}

/// Makes this worker one of the threads that products are shared by. It never returns: its host ends the worker.
#[cfg(target_feature = "atomics")]
#[wasm_bindgen]
pub fn serve() {
    pool::serve();
}

/// Threads that products are shared by, the engine's own included.
#[cfg(target_feature = "atomics")]
#[wasm_bindgen]
pub fn threads() -> usize {
    pool::threads()
}

/// The versions of the crate and of everything in it that shapes an output.
#[wasm_bindgen]
pub fn version() -> Result<JsValue, JsValue> {
    to_js(&completion::Versions::current())
}

fn to_js<T: Serialize>(value: &T) -> Result<JsValue, JsValue> {
    value
        .serialize(&serde_wasm_bindgen::Serializer::json_compatible())
        .map_err(|_| error_to_js(Error::new(ErrorKind::Internal, "a result could not be handed to JavaScript")))
}

fn from_js<T: DeserializeOwned>(value: JsValue) -> Result<T, JsValue> {
    serde_wasm_bindgen::from_value(value).map_err(|error| {
        let why = without_values(&error.to_string());
        let message = format!("the request is not of the documented shape: {why}");
        error_to_js(Error::new(ErrorKind::InvalidArgument, message))
    })
}

fn from_js_or_default<T: DeserializeOwned + Default>(value: JsValue) -> Result<T, JsValue> {
    if value.is_undefined() || value.is_null() { Ok(T::default()) } else { from_js(value) }
}

fn error_to_js(error: Error) -> JsValue {
    let js = js_sys::Error::new(error.message());
    let set = |key: &str, value: &JsValue| {
        // Setting a property of a fresh `Error` cannot fail: it is extensible and has no setters of ours.
        let _ = js_sys::Reflect::set(&js, &key.into(), value);
    };
    set("code", &error.code().into());
    if let Some(detail) = error.detail() {
        set("detail", &detail.serialize(&serde_wasm_bindgen::Serializer::json_compatible()).unwrap_or(JsValue::NULL));
    }
    js.into()
}
