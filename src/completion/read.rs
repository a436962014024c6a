//! From a finished answer to an outcome: validated whatever the grammar has promised, since a provider may be anything.

use crate::completion::outcome::{
    CleanupOutcome, CompleteOutcome, DecomposeOutcome, ExtractOutcome, Fallback, Outcome, Provenance, Structured,
    TagOutcome, TaskItem,
};
use crate::completion::provider::{CompiledForm, Written};
use crate::decode::FinishReason;
use crate::error::{Error, ErrorKind, Result};
use crate::grammar::Verdict;
use crate::tasks::cleanup::{self, Cleaned, CleanupOptions, Decider, Rejection, rewrite};
use crate::tasks::decompose;
use crate::tasks::extract::{self, Candidate};
use crate::tasks::reader::unreadable;
use crate::tasks::tag::{self, Confidence, Tag, Topic};

/// What to make of an answer.
pub(super) enum Reader {
    Extract,
    /// Holds the candidates among which the model chooses.
    Choose(Vec<Candidate>),
    Decompose,
    /// Holds the steps among which the model chooses.
    KnownSteps(Vec<Candidate>),
    /// Holds the best answer so far, with its quality.
    Steps {
        task: String,
        best: Option<(f32, Box<DecomposeOutcome>)>,
    },
    Tag,
    /// Holds the topics among which the model chooses, and the intent.
    Topic {
        topics: Vec<Topic>,
        intent: String,
        confidence: f32,
    },
    Complete,
    /// An answer in a form of its own.
    Formed(CompiledForm),
    /// Holds the rules' answer, once there is one, against which the model's is checked.
    Rewrite {
        text: String,
        options: CleanupOptions,
        rules: Option<Cleaned>,
    },
}

impl Reader {
    /// Makes an outcome of the answer to the `attempts`th question.
    ///
    /// # Errors
    /// `invalid-structured-output`, with the answer, if it is not what is read here, or not good enough to ask no more.
    pub(super) fn read(&mut self, written: Written, attempts: u32, provenance: Provenance) -> Result<Outcome> {
        let Written { text, finish_reason, truncated } = written;
        let structured = |raw, provenance| Structured { raw, truncated, attempts, provenance };
        Ok(match self {
            Self::Extract => {
                let item = |text| TaskItem { text, evidence: None, by: Decider::Model };
                let tasks = extract::read(&text)?.into_iter().map(item).collect();
                Outcome::Extract(ExtractOutcome { tasks, answer: structured(text, provenance) })
            }
            Self::Choose(candidates) => {
                let tasks = extract::read_chosen(&text, candidates)?.into_iter().map(TaskItem::from).collect();
                Outcome::Extract(ExtractOutcome { tasks, answer: structured(text, provenance) })
            }
            Self::Decompose => {
                let steps = decompose::read(&text)?;
                Outcome::Decompose(DecomposeOutcome { steps, answer: structured(text, provenance) })
            }
            Self::KnownSteps(steps) => {
                let chosen = extract::read_chosen(&text, steps)?;
                let steps = chosen.into_iter().map(|step| step.task).collect();
                Outcome::Decompose(DecomposeOutcome { steps, answer: structured(text, provenance) })
            }
            Self::Steps { task, best } => {
                let steps = decompose::prune(task, decompose::read(&text)?);
                let quality = decompose::quality(task, &steps);
                let error = decompose::unusable(&text);
                let outcome = DecomposeOutcome { steps, answer: structured(text, provenance) };
                if quality < decompose::GOOD {
                    if best.as_ref().is_none_or(|(other, _)| *other < quality) {
                        *best = Some((quality, Box::new(outcome)));
                    }
                    return Err(error);
                }
                Outcome::Decompose(outcome)
            }
            Self::Tag => {
                let Tag { topic, intent } = tag::read(&text)?;
                let intent = intent.as_str().to_owned();
                Outcome::Tag(TagOutcome { topic, intent, confidence: None, answer: structured(text, provenance) })
            }
            Self::Topic { topics, intent, confidence } => {
                let names: Vec<String> = topics.iter().map(|topic| topic.name.clone()).collect();
                let topic = tag::read_chosen(&text, &names, intent)?;
                let confidence = Confidence { intent: *confidence, topic: tag::share_of(&topic, topics) };
                Outcome::Tag(TagOutcome {
                    topic,
                    intent: intent.clone(),
                    confidence: Some(confidence),
                    answer: structured(text, provenance),
                })
            }
            Self::Formed(form) => {
                // A stop text may cut an answer anywhere: that is what it was given for.
                if finish_reason != FinishReason::Stop && form.grammar.judge(text.as_bytes())? != Verdict::Sentence {
                    return Err(unreadable(&text, "the answer is not in the form that was asked for"));
                }
                Outcome::Complete(CompleteOutcome { text, finish_reason, truncated, attempts, provenance })
            }
            Self::Complete => {
                Outcome::Complete(CompleteOutcome { text, finish_reason, truncated, attempts, provenance })
            }
            Self::Rewrite { text: raw, options, rules } => {
                let judged = match finish_reason {
                    FinishReason::Length => Err(Fallback::Unfinished),
                    FinishReason::End | FinishReason::Stop => match cleanup::guard(raw, &text, options)? {
                        None => Ok(()),
                        Some(Rejection::Invented { .. }) => Err(Fallback::InventedWords),
                        Some(Rejection::Dropped { .. }) => Err(Fallback::LostWords),
                    },
                };
                let (cleaned, fallback) = match (judged, rules) {
                    (Ok(()), _) => (rewrite::cleaned(raw, text.trim(), options.level), None),
                    (Err(fallback), Some(rules)) => (rules.clone(), Some(fallback)),
                    (Err(_), None) => return Err(Error::new(ErrorKind::Internal, "a rewrite ended before its rules")),
                };
                Outcome::Cleanup(CleanupOutcome { cleaned, fallback, provenance })
            }
        })
    }

    /// What is left to give when no answer was good and none more is asked for: the best of them, if it is usable.
    pub(super) fn best(self) -> Option<Outcome> {
        match self {
            Self::Steps { best: Some((quality, outcome)), .. } if quality >= decompose::USABLE => {
                Some(Outcome::Decompose(*outcome))
            }
            _ => None,
        }
    }
}
