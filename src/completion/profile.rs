//! Profiles: named settings of how to generate.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use crate::completion::request::GenerationOptions;
use crate::decode::Sampling;
use crate::error::{Error, ErrorKind, Result};

/// The most profiles.
const MAX_PROFILES: usize = 256;

/// Who answers, how to generate and within which limits, under a name. What is absent is left to the task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Profile {
    pub name: String,
    /// The name of one of the engine's models; absent for the first.
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub max_tokens: Option<usize>,
    #[serde(default)]
    pub sampling: Option<Sampling>,
    #[serde(default)]
    pub retries: Option<u32>,
    #[serde(default)]
    pub repairs: Option<u32>,
    #[serde(default)]
    pub timeout_ms: Option<f64>,
    /// For models whose chat template has a switch for thinking: `none` turns it off, anything else on.
    #[serde(default)]
    pub reasoning: Option<String>,
}

/// What a request says about reasoning: the profile's setting stands, another one takes its place, or there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reasoning {
    /// The field is absent.
    #[default]
    Inherit,
    /// The field is a text.
    Replace(String),
    /// The field is null, or an empty text.
    Clear,
}

impl<'de> Deserialize<'de> for Reasoning {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Ok(match Option::<String>::deserialize(deserializer)? {
            Some(setting) if !setting.is_empty() => Self::Replace(setting),
            _ => Self::Clear,
        })
    }
}

impl Reasoning {
    /// The setting that holds, given the profile's.
    pub fn over(&self, profile: Option<&str>) -> Option<String> {
        match self {
            Self::Inherit => profile.map(str::to_owned),
            Self::Replace(setting) => Some(setting.clone()),
            Self::Clear => None,
        }
    }
}

/// Whether a model should think, for its template; none leaves the template's own habit.
pub fn thinks(setting: Option<&str>) -> Option<bool> {
    setting.map(|setting| setting != "none")
}

impl Profile {
    /// `options` with this profile's settings where they say nothing. A limit of zero says that there is none.
    pub fn under(&self, options: GenerationOptions) -> GenerationOptions {
        GenerationOptions {
            max_tokens: options.max_tokens.or(self.max_tokens),
            sampling: options.sampling.or(self.sampling),
            retries: options.retries.or(self.retries),
            repairs: options.repairs.or(self.repairs),
            timeout_ms: options.timeout_ms.or(self.timeout_ms),
            ..options
        }
    }
}

/// Profiles by name.
#[derive(Debug, Default)]
pub struct Profiles {
    profiles: BTreeMap<String, Profile>,
}

impl Profiles {
    /// # Errors
    /// `invalid-argument` for an empty name or one that is there already, and for numbers out of range.
    pub fn register(&mut self, profile: Profile) -> Result<()> {
        let refuse = |why: String| Err(Error::new(ErrorKind::InvalidArgument, why));
        if profile.name.trim().is_empty() {
            return refuse("a profile needs a name".into());
        }
        if self.profiles.contains_key(&profile.name) {
            return refuse("there is a profile of that name already".into());
        }
        if self.profiles.len() == MAX_PROFILES {
            return refuse(format!("there are {MAX_PROFILES} profiles already, which is the most"));
        }
        profile.under(GenerationOptions::default()).check()?;
        self.profiles.insert(profile.name.clone(), profile);
        Ok(())
    }

    /// # Errors
    /// `invalid-argument` for a name that is not there.
    pub fn get(&self, name: &str) -> Result<&Profile> {
        let missing = || Error::new(ErrorKind::InvalidArgument, "there is no profile of that name");
        self.profiles.get(name).ok_or_else(missing)
    }

    /// Every profile, by name.
    pub fn all(&self) -> impl Iterator<Item = &Profile> {
        self.profiles.values()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn profile(value: Value) -> Profile {
        serde_json::from_value(value).expect("a profile")
    }

    #[test]
    fn profiles_fill_what_a_request_leaves_open() {
        let careful = profile(json!({ "name": "careful", "maxTokens": 40, "retries": 2, "timeoutMs": 500 }));
        let asked = GenerationOptions { max_tokens: Some(8), timeout_ms: Some(0.0), ..Default::default() };
        let options = careful.under(asked);
        assert_eq!((options.max_tokens, options.retries, options.repairs), (Some(8), Some(2), None));
        assert_eq!(options.timeout_ms, Some(0.0), "zero takes the profile's limit away");
    }

    #[test]
    fn profiles_that_cannot_work_are_refused_before_any_work() {
        let mut profiles = Profiles::default();
        profiles.register(profile(json!({ "name": "careful", "model": "SmolLM2" }))).expect("registers");
        for bad in [
            json!({ "name": "careful" }),
            json!({ "name": " " }),
            json!({ "name": "none", "maxTokens": 0 }),
            json!({ "name": "wild", "sampling": { "temperature": -1.0 } }),
            json!({ "name": "hasty", "timeoutMs": -1.0 }),
            json!({ "name": "stubborn", "retries": 1000 }),
            json!({ "name": "stubborn", "repairs": 1000 }),
        ] {
            assert_eq!(profiles.register(profile(bad)).expect_err("refused").kind(), ErrorKind::InvalidArgument);
        }
        assert!(serde_json::from_value::<Profile>(json!({ "name": "negative", "maxTokens": -1 })).is_err());
        profiles.get("careful").expect("is there");
        assert_eq!(profiles.get("unknown").expect_err("unknown").kind(), ErrorKind::InvalidArgument);
        assert_eq!(profiles.all().count(), 1);
    }

    #[test]
    fn reasoning_has_three_states() {
        #[derive(Deserialize)]
        struct Asked {
            #[serde(default)]
            reasoning: Reasoning,
        }
        for (asked, holds) in [
            (json!({}), Some("low")),
            (json!({ "reasoning": "high" }), Some("high")),
            (json!({ "reasoning": null }), None),
            (json!({ "reasoning": "" }), None),
        ] {
            let asked: Asked = serde_json::from_value(asked).expect("a request");
            assert_eq!(asked.reasoning.over(Some("low")).as_deref(), holds);
        }
        assert_eq!([thinks(None), thinks(Some("none")), thinks(Some("high"))], [None, Some(false), Some(true)]);
    }
}
