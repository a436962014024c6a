//! What a cleanup's rules leave open, put to the model: first what was taken back, then the marks of what is left.
//!
//! ```text
//! rules' answer ─▶ repairs ─▶ marks, as many questions in one pass as may be ─▶ the rules again, with all that was heard
//! ```
//! The model only scores ways to go on that the rules spell out, so that nothing it says can appear in the text. What it
//! may read is bounded; where the bound or the host's time limit strikes, the rest is as the rules have it.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::completion::provider::{Comparing, Passage, Provider};
use crate::decode::Usage;
use crate::error::{ErrorKind, Result};
use crate::tasks::cleanup::{
    Cleaned, Cleaner, CleanupOptions, Decider, Edit, MarkAnswer, MarkQuestion, RepairAnswer, RepairQuestion,
};

/// The most tokens that the model reads for one cleanup where the request names no `maxTokens`.
pub const CLEANUP_MAX_TOKENS: usize = 4_096;
/// The most questions in one pass, so that none takes long.
const AT_ONCE: usize = 24;

/// The questions of one cleanup. The rules' answer is there from the beginning.
pub(super) struct Judging {
    text: String,
    options: CleanupOptions,
    rules: Cleaned,
    stage: Stage,
    /// Works through the text: in the stage of marks for its questions, in the last for the answer.
    cleaner: Cleaner,
    open: VecDeque<Open>,
    asked: Option<Asked>,
    repairs: Vec<RepairAnswer>,
    marks: Vec<MarkAnswer>,
    /// Tokens that may still be read.
    budget: usize,
    usage: Usage,
    /// A question has been left to the rules.
    is_short: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Repairs,
    Marks,
    Last,
}

/// What is asked in one pass: many questions take less time than one after the other, and what their contexts begin with is
/// read once.
enum Open {
    Repairs(Vec<RepairQuestion>),
    Marks(Vec<MarkQuestion>),
}

struct Asked {
    open: Open,
    comparing: Box<dyn Comparing>,
}

/// What a step has come to.
pub(super) enum Judged {
    /// A question has been put.
    Asks,
    More,
    Done,
}

impl Judging {
    /// `repairs` are the questions about `text` under `options`, and `rules` is what the rules make of it.
    ///
    /// # Errors
    /// As [`CleanupOptions::check`].
    pub(super) fn new(
        text: String,
        options: CleanupOptions,
        rules: Cleaned,
        repairs: Vec<RepairQuestion>,
        budget: usize,
    ) -> Result<Self> {
        Ok(Self {
            stage: Stage::Repairs,
            cleaner: Cleaner::new(&text, &options)?,
            open: at_once(repairs.into_iter().filter(RepairQuestion::is_open)).map(Open::Repairs).collect(),
            asked: None,
            repairs: vec![],
            marks: vec![],
            budget,
            usage: Usage::default(),
            is_short: false,
            text,
            options,
            rules,
        })
    }

    /// Bounded work.
    ///
    /// # Errors
    /// The model's.
    pub(super) fn step(&mut self, provider: Arc<dyn Provider>) -> Result<Judged> {
        if let Some(asked) = &mut self.asked {
            if !asked.comparing.step()?
                && let Some(asked) = self.asked.take()
            {
                self.hear(asked)?;
            }
            return Ok(Judged::More);
        }
        if let Some(open) = self.open.pop_front() {
            return self.ask(provider, open);
        }
        let more = self.stage != Stage::Repairs && self.cleaner.step();
        if self.stage == Stage::Marks {
            self.open = at_once(self.cleaner.take_mark_questions().into_iter()).map(Open::Marks).collect();
        }
        match (more, self.stage) {
            (true, _) => {}
            (false, _) if !self.open.is_empty() => {}
            (false, Stage::Repairs) => {
                let cleaner = Cleaner::new(&self.text, &self.options)?.with_answers(vec![], self.repairs.clone());
                self.cleaner = cleaner.asking_about_marks();
                self.stage = Stage::Marks;
            }
            (false, Stage::Marks) => self.conclude()?,
            (false, Stage::Last) => return Ok(Judged::Done),
        }
        Ok(Judged::More)
    }

    /// Asks nothing more: the rules answer the rest.
    ///
    /// # Errors
    /// None that is expected: the options have been checked.
    pub(super) fn stop(&mut self) -> Result<()> {
        if self.stage == Stage::Last {
            return Ok(());
        }
        self.is_short = true;
        self.asked = None;
        self.open.clear();
        self.conclude()
    }

    fn conclude(&mut self) -> Result<()> {
        self.stage = Stage::Last;
        let (marks, repairs) = (self.marks.clone(), self.repairs.clone());
        self.cleaner = Cleaner::new(&self.text, &self.options)?.with_answers(marks, repairs);
        Ok(())
    }

    /// Puts a question, unless it costs more than is left.
    fn ask(&mut self, provider: Arc<dyn Provider>, open: Open) -> Result<Judged> {
        let comparing = match provider.compare(&open.passages()) {
            Ok(comparing) => comparing,
            // A word of a thousand letters is no reason to fail.
            Err(error) if error.kind() == ErrorKind::ContextOverflow => {
                self.is_short = true;
                return Ok(Judged::More);
            }
            Err(error) => return Err(error),
        };
        match self.budget.checked_sub(comparing.tokens()) {
            Some(left) => {
                self.budget = left;
                self.usage.prompt_tokens += comparing.tokens();
                self.asked = Some(Asked { open, comparing });
                Ok(Judged::Asks)
            }
            None => {
                self.stop()?;
                Ok(Judged::More)
            }
        }
    }

    fn hear(&mut self, Asked { open, comparing }: Asked) -> Result<()> {
        let mut scores = comparing.finish()?.into_iter();
        match open {
            Open::Repairs(questions) => {
                self.repairs.extend(questions.iter().map(|question| question.answered(&mut scores)));
            }
            Open::Marks(questions) => {
                self.marks.extend(questions.iter().map(|question| question.answered(&mut scores)));
            }
        }
        Ok(())
    }

    /// What is being asked, as one text; for a host's records.
    pub(super) fn asked(&self) -> String {
        let longest = |open: &Open| {
            let passages = open.passages();
            let longest = passages.iter().max_by_key(|passage| passage.before.len() + passage.after.len());
            longest.map(|passage| [passage.before, passage.after].concat())
        };
        self.asked.as_ref().and_then(|asked| longest(&asked.open)).unwrap_or_default()
    }

    /// How many bytes of the text have been judged, and how many it has.
    pub(super) fn progress(&self) -> (usize, usize) {
        match self.stage {
            Stage::Repairs => (0, self.text.len()),
            Stage::Marks => self.cleaner.progress(),
            Stage::Last => (self.text.len(), self.text.len()),
        }
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// The answer, whether the model was heard for it, and whether a question was left to the rules.
    pub(super) fn finish(self) -> (Cleaned, bool, bool) {
        if self.repairs.is_empty() && self.marks.is_empty() {
            return (self.rules, false, self.is_short);
        }
        let mut cleaned = self.cleaner.finish();
        name_deciders(&mut cleaned.edits, &self.rules.edits);
        (cleaned, true, self.is_short)
    }
}

impl Open {
    /// The questions' candidates, as each reads its scores.
    fn passages(&self) -> Vec<Passage<'_>> {
        let passage = |(before, after)| Passage { before, after };
        match self {
            Self::Repairs(questions) => questions.iter().flat_map(RepairQuestion::passages).map(passage).collect(),
            Self::Marks(questions) => questions.iter().flat_map(MarkQuestion::passages).map(passage).collect(),
        }
    }
}

/// Questions in the groups in which they are asked.
fn at_once<T>(questions: impl Iterator<Item = T>) -> impl Iterator<Item = Vec<T>> {
    let mut questions = questions.peekable();
    std::iter::from_fn(move || questions.peek().is_some().then(|| questions.by_ref().take(AT_ONCE).collect()))
}

/// Says of each edit that the rules alone would not have made that it is the model's. Both lists are in the order of the
/// text.
fn name_deciders(edits: &mut [Edit], by_rules: &[Edit]) {
    let mut by_rules = by_rules.iter().peekable();
    for edit in edits {
        while by_rules.next_if(|other| (other.start, other.end) < (edit.start, edit.end)).is_some() {}
        let alike =
            |other: &&Edit| (other.start, other.end) == (edit.start, edit.end) && other.replacement == edit.replacement;
        if !by_rules.peek().is_some_and(alike) {
            edit.by = Decider::Model;
        }
    }
}
