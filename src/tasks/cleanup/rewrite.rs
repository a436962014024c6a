//! The free rewrite for models large enough to write: its prompt. [`guard`](super::guard()) judges the answer.

use super::options::CleanupOptions;
use crate::tasks::Message;
use crate::tasks::prompt::{CLEANUP, Prompt};

/// The conversation that asks for a rewrite of `raw`.
pub fn messages(raw: &str, options: &CleanupOptions) -> Vec<Message> {
    Prompt::ask(system_prompt(options), raw)
}

/// The cleanup prompt, then the dictionary's suffix, then the preset's.
pub fn system_prompt(options: &CleanupOptions) -> String {
    let mut prompt = CLEANUP.text.to_owned();
    for suffix in [dictionary_suffix(&options.dictionary), options.preset.suffix().to_owned()] {
        if !suffix.is_empty() {
            prompt.push_str("\n\n");
            prompt.push_str(&suffix);
        }
    }
    prompt
}

/// The most tokens that an answer to `raw_tokens` of transcript may take: marks and line breaks make it longer, deletions
/// shorter.
pub const fn max_tokens(raw_tokens: usize) -> usize {
    raw_tokens + raw_tokens / 4 + 16
}

/// The sentence that teaches the dictionary; empty without terms.
fn dictionary_suffix(terms: &[String]) -> String {
    if terms.is_empty() {
        return String::new();
    }
    let terms: Vec<&str> = terms.iter().map(|term| term.trim()).collect();
    format!(
        "Spell these terms exactly so where they were said, and never add them where they were not: {}.",
        terms.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::cleanup::Preset;

    #[test]
    fn suffixes_follow_the_prompt_in_order() {
        assert_eq!(system_prompt(&CleanupOptions::default()), CLEANUP.text);
        let options = CleanupOptions {
            preset: Preset::Email,
            dictionary: vec!["Kubernetes".into(), " Zoë ".into()],
            ..Default::default()
        };
        let prompt = system_prompt(&options);
        let suffix = prompt.strip_prefix(CLEANUP.text).unwrap();
        let terms = suffix.find("Kubernetes, Zoë.").unwrap();
        assert!(terms < suffix.find(Preset::Email.suffix()).unwrap());
    }
}
