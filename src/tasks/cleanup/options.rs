//! What a caller may choose about a cleanup.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind, Result, error::Detail};

/// The most terms in a dictionary.
pub const MAX_TERMS: usize = 1_000;
/// The most bytes in one term.
pub const MAX_TERM_BYTES: usize = 100;

/// How far a cleanup goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    /// Every word stays; case, marks and dictated marks only.
    Verbatim,
    /// Also without fillers, stutters and broken-off words.
    Light,
    /// Also without what the speaker took back, and with numbers written as numbers.
    #[default]
    Clean,
}

/// What a text is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Preset {
    #[default]
    Default,
    /// A greeting and a closing on lines of their own.
    Email,
    /// A sentence a line; one of a few words gets no final mark.
    Notes,
    /// Dictated code: no sentence case and no final mark.
    Code,
}

/// Line breaks that a preset sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Lines {
    /// Those that were dictated, and no others.
    #[default]
    Dictated,
    /// Around a greeting and a closing that were spoken.
    Letter,
    /// After every sentence.
    Sentences,
}

/// What a [`Preset`] changes: an object of `presets.json`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PresetRules {
    /// The first word of a sentence begins with a capital.
    pub sentence_case: bool,
    /// The least words that the last line needs to get a final mark; none where it never gets one.
    pub final_mark_from: Option<usize>,
    /// Which line breaks are set.
    pub lines: Lines,
    /// "a class called audio recorder" names an identifier, also where no programming language is mentioned.
    pub identifiers: bool,
    /// The sentence that the preset adds to the cleanup prompt; empty for none.
    pub suffix: String,
}

static PRESETS: LazyLock<HashMap<Preset, PresetRules>> = LazyLock::new(|| {
    // The file is a part of the program, and a test reads every preset of it.
    serde_json::from_str(include_str!("presets.json")).unwrap_or_default()
});

impl Preset {
    pub const ALL: [Self; 4] = [Self::Default, Self::Email, Self::Notes, Self::Code];

    /// The preset as rules see it.
    pub fn rules(self) -> &'static PresetRules {
        static PLAIN: PresetRules = PresetRules {
            sentence_case: true,
            final_mark_from: Some(1),
            lines: Lines::Dictated,
            identifiers: false,
            suffix: String::new(),
        };
        PRESETS.get(&self).unwrap_or(&PLAIN)
    }

    /// The sentence that the preset adds to the cleanup prompt; empty for the default.
    pub fn suffix(self) -> &'static str {
        &self.rules().suffix
    }
}

/// The choices of one cleanup.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CleanupOptions {
    pub level: Level,
    pub preset: Preset,
    /// Terms with their right spelling, such as `Kubernetes` or `Amina Okafor`.
    pub dictionary: Vec<String>,
    /// A BCP 47 tag such as `en-GB`; when absent, the text's own words tell.
    pub language: Option<String>,
}

impl CleanupOptions {
    /// Checks what a caller wrote.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for a dictionary of more than [`MAX_TERMS`] terms (with [`Detail::Limit`]), a term
    /// that is blank, has a line break or takes more than [`MAX_TERM_BYTES`], and a language that is no tag.
    pub fn check(&self) -> Result<()> {
        let invalid = |message: &str| Error::new(ErrorKind::InvalidArgument, message);
        let limit = |requested: usize, available: usize| Detail::Limit {
            requested: requested as u64,
            available: available as u64,
        };
        if self.dictionary.len() > MAX_TERMS {
            return Err(invalid("too many dictionary terms").with_detail(limit(self.dictionary.len(), MAX_TERMS)));
        }
        for term in &self.dictionary {
            if term.len() > MAX_TERM_BYTES {
                return Err(
                    invalid("a dictionary term has too many bytes").with_detail(limit(term.len(), MAX_TERM_BYTES))
                );
            }
            if term.trim().is_empty() || term.contains(char::is_control) {
                return Err(invalid("a dictionary term is blank or has control characters"));
            }
        }
        let is_tag = |tag: &str| {
            let mut subtags = tag.split(['-', '_']);
            subtags.next().is_some_and(|s| (2..=8).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_alphabetic()))
                && subtags.all(|s| (1..=8).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_alphanumeric()))
        };
        match &self.language {
            Some(tag) if !is_tag(tag) => Err(invalid("the language is not a tag such as \"en\" or \"pt-BR\"")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_read_as_javascript_writes_them() {
        let options: CleanupOptions =
            serde_json::from_str(r#"{"level":"light","preset":"email","dictionary":["Zoë"],"language":"pt-BR"}"#)
                .unwrap();
        assert_eq!((options.level, options.preset), (Level::Light, Preset::Email));
        options.check().unwrap();
        assert_eq!(serde_json::from_str::<CleanupOptions>("{}").unwrap(), CleanupOptions::default());
    }

    #[test]
    fn every_preset_is_in_the_file() {
        let file: HashMap<Preset, PresetRules> = serde_json::from_str(include_str!("presets.json")).unwrap();
        assert!(Preset::ALL.iter().all(|preset| file.get(preset) == Some(preset.rules())));
        assert_eq!(file.len(), Preset::ALL.len());
        assert!(!Preset::Code.rules().sentence_case && Preset::Notes.rules().final_mark_from == Some(4));
    }

    #[test]
    fn nonsense_is_refused() {
        let with_term = |term: &str| CleanupOptions { dictionary: vec![term.into()], ..Default::default() };
        let with_language = |tag: &str| CleanupOptions { language: Some(tag.into()), ..Default::default() };
        let too_many = CleanupOptions { dictionary: vec!["x".into(); MAX_TERMS + 1], ..Default::default() };
        let bad = [
            too_many,
            with_term(" "),
            with_term("a\nb"),
            with_term(&"x".repeat(101)),
            with_language(""),
            with_language("e n"),
        ];
        for options in bad {
            assert_eq!(options.check().unwrap_err().kind(), ErrorKind::InvalidArgument, "{options:?}");
        }
    }
}
