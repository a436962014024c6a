//! The application boundary: a request goes in, a job does bounded work, an outcome with its provenance comes out.
//!
//! Time, files and the network are the host's; this room has none of them.

mod engine;
mod job;
mod outcome;
mod prefixes;
mod profile;
mod queue;
mod registry;
mod request;
mod versions;
mod weigh;

pub use engine::{Engine, EngineOptions, Info, LoadPhase, LoadReport, Loader, ModelInfo};
pub use job::{Job, Phase, Progress, StepReport, start_without_model};
pub use outcome::{
    CleanupOutcome, CompleteOutcome, DecomposeOutcome, Evidence, ExtractOutcome, Fallback, InputOrigin, Origin,
    Outcome, PromptIdentity, Provenance, Structured, TagOutcome, TaskItem,
};
pub use profile::{Profile, Profiles, Reasoning};
pub use queue::{PATIENCE_MS, Priority, Queue, Ticket};
pub use registry::{Form, Input, InputDefinition, PromptDefinition, Registry};
pub use request::{CleanupMode, GenerationOptions, PromptRequest, Request, Strategy, Task};
pub use versions::Versions;
