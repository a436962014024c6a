//! Examples of what one user likes, taught to a model through its system prompt.

use serde::{Deserialize, Serialize};

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
}

/// `base` followed by the usable `examples`, in the caller's order (most recent first is the convention).
///
/// An example without input or without any output is skipped; with none left, `base` comes back unchanged, so that the
/// model is not confused by an empty section.
pub fn build_conditioned_system_prompt(base: &str, examples: &[FeedbackExample]) -> String {
    let mut prompt = base.to_owned();
    let usable = examples.iter().filter(|example| !example.input.trim().is_empty());
    for (i, (example, output)) in usable.filter_map(|e| Some((e, e.good_output()?))).enumerate() {
        if i == 0 {
            prompt.push_str("\n\n");
            prompt.push_str(INTRODUCTION);
        }
        prompt.push_str(&format!("\n- Input: {}\n  Good output: {output}", example.input));
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
}
