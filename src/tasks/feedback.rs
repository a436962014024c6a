//! Examples of what one user likes, taught to a model through its system prompt.

use serde::{Deserialize, Serialize};

use crate::Result;

const INTRODUCTION: &str = "Here are examples of the style this user prefers, in the user's own words. \
                            Match this style closely when producing your output:";

/// One judged answer of the past.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FeedbackExample {
    /// What the model was given.
    pub input: String,
    /// What the model answered; absent for a correction alone.
    pub original_output: Option<String>,
    /// What the user made of it; absent where the user only approved.
    pub corrected_output: Option<String>,
}

impl FeedbackExample {
    /// The output worth imitating: the user's correction, or else the answer that the user let stand.
    fn good_output(&self) -> Option<&str> {
        let usable = |output: &'_ Option<String>| output.as_ref().is_some_and(|text| !text.trim().is_empty());
        [&self.corrected_output, &self.original_output].into_iter().find(|o| usable(o))?.as_deref()
    }

    /// What a prompt says of it, if it is usable.
    fn shown(&self) -> Option<String> {
        let output = self.good_output()?;
        (!self.input.trim().is_empty()).then(|| format!("\n- Input: {}\n  Good output: {output}", self.input))
    }
}

/// No text of words averages more bytes a token: a longer example need not be counted to be left out.
const MAX_BYTES_PER_TOKEN: usize = 16;

/// Those usable `examples` that fit into `max_tokens` together, in the caller's order. One that does not fit any more is left
/// out, and shorter ones after it may still fit.
///
/// # Errors
/// Those of `count`, which tells how many tokens a text takes.
pub fn within(
    examples: &[FeedbackExample],
    max_tokens: usize,
    count: impl Fn(&str) -> Result<usize>,
) -> Result<Vec<FeedbackExample>> {
    let mut left = max_tokens;
    let mut kept = vec![];
    for example in examples {
        let Some(text) = example.shown() else { continue };
        if text.len() / MAX_BYTES_PER_TOKEN > left {
            continue;
        }
        if let Some(rest) = left.checked_sub(count(&text)?) {
            left = rest;
            kept.push(example.clone());
        }
    }
    Ok(kept)
}

/// `base` followed by the usable `examples`, in the caller's order (most recent first is the convention).
///
/// An example without input or without any output is skipped; with none left, `base` comes back unchanged, so that the
/// model is not confused by an empty section.
pub fn build_conditioned_system_prompt(base: &str, examples: &[FeedbackExample]) -> String {
    let mut prompt = base.to_owned();
    for (i, text) in examples.iter().filter_map(FeedbackExample::shown).enumerate() {
        if i == 0 {
            prompt.push_str("\n\n");
            prompt.push_str(INTRODUCTION);
        }
        prompt.push_str(&text);
    }
    prompt
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(input: &str, original: Option<&str>, corrected: Option<&str>) -> FeedbackExample {
        FeedbackExample {
            input: input.into(),
            original_output: original.map(Into::into),
            corrected_output: corrected.map(Into::into),
        }
    }

    #[test]
    fn nothing_usable_leaves_the_prompt_alone() {
        assert_eq!(build_conditioned_system_prompt("base", &[]), "base");
        let useless = [example("", Some("a"), Some("b")), example("  ", Some("a"), None), example("in", None, None)];
        assert_eq!(build_conditioned_system_prompt("base", &useless), "base");
        assert_eq!(build_conditioned_system_prompt("base", &[example("in", Some(""), Some(" "))]), "base");
    }

    #[test]
    fn corrections_come_first_and_order_is_kept() {
        let examples = [
            example("one", Some("original"), Some("corrected")),
            example("", None, None),
            example("two", Some("kept"), None),
        ];
        let expected = format!(
            "base\n\n{INTRODUCTION}\n- Input: one\n  Good output: corrected\n- Input: two\n  Good output: kept"
        );
        assert_eq!(build_conditioned_system_prompt("base", &examples), expected);
    }

    #[test]
    fn an_empty_correction_falls_back_to_the_original() {
        let prompt = build_conditioned_system_prompt("base", &[example("in", Some("original"), Some(""))]);
        assert!(prompt.ends_with("Good output: original"));
    }

    #[test]
    fn a_budget_keeps_the_order_and_leaves_out_what_does_not_fit() {
        let words = |text: &str| Ok(text.split_whitespace().count());
        let long = "word ".repeat(50);
        let examples = [
            example("first", Some("answer"), None),
            example("", Some("unusable"), None),
            example(&long, Some("answer"), None),
            example("second", Some("answer"), Some("corrected")),
            example("third", Some("answer"), None),
        ];
        let inputs = |max_tokens| {
            let kept = within(&examples, max_tokens, words).unwrap();
            kept.into_iter().map(|example| example.input).collect::<Vec<_>>()
        };
        // Each short one takes six words with what is put around it.
        assert_eq!(inputs(0), [""; 0]);
        assert_eq!(inputs(6), ["first"]);
        assert_eq!(inputs(12), ["first", "second"]);
        assert_eq!(inputs(18), ["first", "second", "third"]);
        assert_eq!(inputs(1000).len(), 4);
        // What is hopelessly long is not even counted.
        let counted = within(&[example(&"x".repeat(1 << 20), Some("y"), None)], 8, |_| panic!("counted"));
        assert_eq!(counted.unwrap(), []);
    }
}
