//! The versions of everything in the crate that shapes an output.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::tasks::{cleanup, prompt};

/// Versions by name: a caller may key a cache with them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Versions {
    #[serde(rename = "crate")]
    pub krate: &'static str,
    /// The cleanup rules.
    pub rules: &'static str,
    /// Prompt id → version.
    pub prompts: BTreeMap<&'static str, u32>,
}

impl Versions {
    pub fn current() -> Self {
        Self {
            krate: env!("CARGO_PKG_VERSION"),
            rules: cleanup::RULES_VERSION,
            prompts: prompt::ALL.iter().map(|prompt| (prompt.id, prompt.version)).collect(),
        }
    }
}
