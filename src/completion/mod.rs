//! The application boundary: a request goes in, a job does bounded work, an outcome with its provenance comes out.
//!
//! ```text
//! Request ─▶ Engine::start ─▶ Job::step … ─▶ Outcome
//!            prompt, profile   Provider        reading, provenance
//!            by name           answers
//! ```
//! Time, files, the network and the order of requests are the host's; this room has none of them. The host says what time it is
//! at each step, and may keep a job's attempts for its records.

mod begin;
mod compare;
mod engine;
mod job;
mod judge;
mod loaded;
mod loader;
mod outcome;
mod prefixes;
mod profile;
mod provider;
mod read;
mod registry;
mod request;
mod versions;
mod weigh;

pub use engine::Engine;
pub use job::{Attempt, AttemptKind, Job, Phase, Progress, StepReport, start_without_model};
pub use judge::CLEANUP_MAX_TOKENS;
pub use loader::{EngineOptions, LoadPhase, LoadReport, Loader};
pub use outcome::{
    CleanupOutcome, CompleteOutcome, DecomposeOutcome, Evidence, ExtractOutcome, Fallback, InputOrigin, Origin,
    Outcome, PromptIdentity, Provenance, Structured, TagOutcome, TaskItem,
};
pub use profile::{Profile, Profiles, Reasoning};
pub use provider::{
    Answering, Comparing, CompiledForm, Continuations, Info, ModelInfo, Passage, Prompt, Provider, Question, Weighing,
    Written,
};
pub use registry::{Form, Input, InputDefinition, PromptDefinition, Registry};
pub use request::{CallOptions, CleanupMode, GenerationOptions, PromptRequest, Request, Strategy, Task};
pub use versions::Versions;
