//! The scan: from token to token, where does the speaker take something on, and how far does it go?
//!
//! ```text
//! … so um tomorrow i have to send the draft to ana and book a room but the lift …
//!          └ time ┘└─ lead-in ─┘└─ extent ──────┘     └─ next task ┘ └ cut
//! ```
//!
//! An [`Opening`] says how ready the place is for a task without a lead-in: the start of a sentence is, the middle of a
//! narrative is not, and after a task more may follow ("… and book a room").

use std::collections::HashMap;

use super::Candidate;
use super::choice::MAX_TASK_CHARS;
use super::clauses::{Pause, Reader, Token};
use super::cues::{cue_at, is_adverb, phrase_end, skip_nested};
use super::extent::{Extent, extent};
use super::imperative::imperative;
use super::syntax::{Keys, is_connector, is_interjection};
use super::times::time_phrase;
use super::verbs::{has_own_past, is_intransitive, is_remark, is_speech};
use crate::tasks::cleanup::case::upper_first;
use crate::tasks::cleanup::lexicon::{
    self, is_auxiliary, is_determiner, is_function_word, is_number_word, is_pronoun, is_wh,
};
use crate::tasks::cleanup::words::Shape;

/// The words that one [`Proposer::step`] reads, or judges.
const STEP_WORDS: usize = 512;
/// A condition or time that stands further before its task is another clause's.
const MAX_CONTEXT: usize = 14;

/// How ready a place is for a task without a lead-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::tasks) enum Opening {
    /// In the middle of a clause.
    None,
    /// After a comma or an interjection.
    Loose,
    /// At the start of a sentence.
    Start,
    /// After a task, or after what announces a list.
    List,
}

/// A proposal under way, in steps of bounded work.
///
/// # Example
/// ```
/// use fairhand::tasks::extract::Proposer;
///
/// let mut proposer = Proposer::new("lovely day but i need to ring ana about the keys");
/// while proposer.step() {}
/// let candidates = proposer.finish();
/// assert_eq!(candidates[0].task, "Ring Ana about the keys");
/// ```
#[derive(Debug)]
pub struct Proposer {
    raw: String,
    reader: Option<Reader>,
    tokens: Vec<Token>,
    /// The token to judge next, and how ready its place is.
    at: usize,
    opening: Opening,
    /// Everything before this token belongs to earlier tasks or sentences.
    floor: usize,
    /// Every place before this token is as good as a list's: a label announced one.
    label_end: usize,
    /// Where the last clause of condition began.
    condition: Option<usize>,
    /// Up to the next boundary, nothing is meant: a wish, a quotation.
    unreal: bool,
    found: Vec<Found>,
    by_content: HashMap<String, usize>,
}

#[derive(Debug)]
struct Found {
    candidate: Candidate,
    /// The first token after it.
    next: usize,
    /// Taken back, or said twice.
    dropped: bool,
    content: Vec<String>,
}

impl Proposer {
    /// A proposal for `text` that has not begun.
    pub fn new(text: &str) -> Self {
        Self {
            raw: text.to_owned(),
            reader: Some(Reader::new()),
            tokens: vec![],
            at: 0,
            opening: Opening::Start,
            floor: 0,
            label_end: 0,
            condition: None,
            unreal: false,
            found: vec![],
            by_content: HashMap::new(),
        }
    }

    /// Reads or judges some hundred words. Returns whether there is more to do.
    pub fn step(&mut self) -> bool {
        if let Some(mut reader) = self.reader.take() {
            if (0..STEP_WORDS).all(|_| reader.read(&self.raw)) {
                self.reader = Some(reader);
            } else {
                self.tokens = reader.finish();
            }
            return true;
        }
        let stop = self.tokens.len().min(self.at + STEP_WORDS);
        while self.at < stop {
            self.judge();
        }
        self.at < self.tokens.len()
    }

    /// The candidates in the order of the text. What no [`step`](Self::step) has judged is not among them.
    pub fn finish(self) -> Vec<Candidate> {
        self.found.into_iter().filter(|found| !found.dropped).map(|found| found.candidate).collect()
    }

    /// Decides about the token at hand and moves on.
    fn judge(&mut self) {
        let i = self.at;
        self.cross_pause(i);
        if let Some(next) = self.take_back(i) {
            (self.at, self.opening, self.floor) = (next, Opening::List, next);
            return;
        }
        let after_connector = i > 0 && is_connector(Keys(&self.tokens).at(i - 1));
        if let Some(cue) = cue_at(&self.tokens, i, self.opening > Opening::None || after_connector) {
            let trust = if cue.points { self.trust(i, cue.request).or(Some(1.0)) } else { self.trust(i, cue.request) };
            match trust.filter(|_| !self.unreal && !self.tokens[i].question || cue.request) {
                Some(ceiling) => {
                    if self.take(i, cue.end, cue.confidence.min(ceiling), true) {
                        return;
                    }
                    self.pass(cue.end.max(i + 1));
                }
                None => self.pass(cue.end.max(i + 1)),
            }
            return;
        }
        let place = match self.opening {
            _ if i < self.label_end => Opening::List,
            Opening::None if after_connector && self.is_told_as_a_list(i) => Opening::Loose,
            opening => opening,
        };
        let muted = self.unreal || self.tokens[i].quoted || self.tokens[i].question;
        if place > Opening::None
            && !muted
            && let Some(confidence) = imperative(&self.tokens, i, place)
            && self.take(i, i, confidence, false)
        {
            return;
        }
        self.read_on(i, keys_at(&self.tokens, i));
    }

    /// Takes note of the pause before token `i`.
    fn cross_pause(&mut self, i: usize) {
        let Some(before) = i.checked_sub(1).map(|k| &self.tokens[k]) else { return };
        let quoting = is_speech(&before.word.key);
        match before.pause {
            Pause::Strong => {
                self.opening = self.opening.max(Opening::Start);
                self.condition = None;
                self.unreal = false;
                self.floor = i;
            }
            Pause::Colon if quoting => self.unreal = true,
            Pause::Weak if quoting && !(i > 1 && self.tokens[i - 2].word.key == "i") => self.unreal = true,
            Pause::Weak | Pause::Colon => self.opening = self.opening.max(Opening::Loose),
            Pause::None => {}
        }
    }

    /// How much a lead-in at token `i` may be trusted, given what stands before it; none if it commits to nothing.
    fn trust(&self, i: usize, request: bool) -> Option<f32> {
        if self.unreal || (self.tokens[i].question && !request) {
            return None;
        }
        let keys = Keys(&self.tokens);
        let before = if i > 0 && self.tokens[i - 1].pause == Pause::None { keys.at(i - 1) } else { "" };
        let subject = keys.at(i);
        let day = |n: usize| i.checked_sub(n).map_or("", |k| keys.at(k));
        if matches!((day(2), day(1)), ("one" | "some", "day")) || day(1) == "someday" {
            return None;
        }
        let by_subject = subject.starts_with("i") || subject.starts_with("we");
        if by_subject && (is_auxiliary(before) || is_wh(before)) {
            return None;
        }
        match before {
            "if" | "when" | "whenever" | "unless" | "until" | "till" | "before" | "after" | "once" | "while"
            | "because" | "than" | "like" | "whether" | "where" | "as" | "everything" | "things" | "thing" | "all"
            | "place" | "everywhere"
                if by_subject =>
            {
                match before {
                    "because" => Some(0.85),
                    _ => None,
                }
            }
            // "note that I have to", "no scratch that I'll".
            "that"
                if by_subject
                    && i > 1
                    && matches!(
                        keys.at(i - 2),
                        "after" | "down" | "note" | "remember" | "scratch" | "forget" | "strike"
                    ) =>
            {
                Some(1.0)
            }
            "that" if by_subject => Some(0.7),
            "think" | "believe" | "suppose" | "reckon" | "doubt" | "guess"
                if by_subject && (before == "doubt" || i > 1 && keys.at(i - 2) == "don't") =>
            {
                None
            }
            "you" | "he" | "she" | "they" | "never" | "not" | "to" | "always" if !by_subject && !request => None,
            _ if is_speech(before) && !(i > 1 && keys.at(i - 2) == "i") => Some(0.6),
            _ => Some(1.0),
        }
    }

    /// Whether the words from token `i` on take the last task back; where they end.
    fn take_back(&mut self, i: usize) -> Option<usize> {
        let last = self.found.last_mut().filter(|last| !last.dropped && i - last.next.min(i) <= 4)?;
        let end = retraction(&self.tokens, i)?;
        last.dropped = true;
        Some(end)
    }

    /// Writes the task whose verb begins at or after token `verb`, with its lead-in from token `i` on. Returns whether
    /// there was one.
    fn take(&mut self, i: usize, verb: usize, confidence: f32, has_cue: bool) -> bool {
        let not = negation(&self.tokens, verb, has_cue);
        let Some(verb) = first_word(&self.tokens, i, not.map_or(verb, |(_, verb)| verb), has_cue) else { return false };
        let extent = extent(&self.tokens, verb);
        let context = self.context(i, &extent);
        let Extent { parts, next, taken_back, renewed } = extent;
        if parts.is_empty() {
            return false;
        }
        if renewed {
            // "I'll call Marcus, I mean, I'll call Martin": the second stands for the first.
            (self.at, self.opening, self.floor) = (next, Opening::List, next);
            return true;
        }
        let mut some = false;
        for (n, mut part) in parts.into_iter().enumerate() {
            let Some(judged) = judge_content(&self.tokens, &part, confidence, has_cue) else { continue };
            if let Some((not, _)) = not {
                part.insert(0, not);
            }
            if n == 0
                && let Some((from, to)) = context
            {
                part.extend(from..to);
            }
            some = true;
            if !taken_back {
                self.push(&part, i.min(part.iter().copied().min().unwrap_or(i)), judged, next);
            }
        }
        if some || taken_back {
            (self.at, self.opening, self.floor, self.condition) = (next, Opening::List, next, None);
            return true;
        }
        false
    }

    /// The time or condition that was said before the task at token `i` and belongs to it.
    fn context(&self, i: usize, extent: &Extent) -> Option<(usize, usize)> {
        let keys = Keys(&self.tokens);
        if let Some(from) = self.condition.filter(|&from| from >= self.floor && (3..=MAX_CONTEXT).contains(&(i - from)))
        {
            let mut to = i;
            while to > from && (is_connector(keys.at(to - 1)) || is_interjection(keys.at(to - 1))) {
                to -= 1;
            }
            return (to - from >= 3).then_some((from, to));
        }
        let timed = extent.parts.first()?.iter().any(|&k| time_phrase(&self.tokens, k).is_some());
        let from = (self.floor.max(i.saturating_sub(4))..i).find(|&k| {
            let begins = k == self.floor
                || self.tokens[k - 1].pause > Pause::None
                || is_connector(keys.at(k - 1))
                || is_interjection(keys.at(k - 1));
            begins && time_phrase(&self.tokens, k) == Some(i)
        })?;
        (!timed).then_some((from, i))
    }

    /// Whether the words before "then" or "so" at token `i - 1` tell nothing: "first the pharmacy then pick up Leo", and
    /// what follows cannot be the past of its verb.
    fn is_told_as_a_list(&self, i: usize) -> bool {
        let keys = Keys(&self.tokens);
        let from = self.floor.max(i.saturating_sub(12));
        let joined = matches!(keys.at(i - 1), "then" | "so") && has_own_past(keys.at(i));
        let told = |k: usize| {
            let key = keys.at(k);
            matches!(key, "i" | "he" | "she" | "they" | "you" | "it" | "people" | "everyone") || key.contains('\'')
        };
        joined && (keys.at(i - 1) == "so" || !(from..i).any(told))
    }

    /// Adds a task, unless it has been said before.
    fn push(&mut self, part: &[usize], first: usize, confidence: f32, next: usize) {
        let task = spell(&self.raw, &self.tokens, part);
        let content = content_of(&self.tokens, part);
        let last = part.iter().copied().max().unwrap_or(first);
        let (start, end) = (self.tokens[first].word.start, self.tokens[last].word.end);
        let name = content.join(" ");
        let recent = self.found.len().saturating_sub(8)..self.found.len();
        let twin = self.by_content.get(&name).copied().or_else(|| {
            recent.rev().find(|&k| !self.found[k].dropped && is_same_task(&self.found[k].content, &content))
        });
        let candidate = Candidate { task, start, end, confidence };
        if let Some(k) = twin
            && !self.found[k].dropped
        {
            let old = &mut self.found[k];
            let confidence = old.candidate.confidence.max(confidence);
            if content.len() > old.content.len() {
                // The fuller wording stands, in the place of the first; both are its evidence.
                old.candidate = Candidate { start: old.candidate.start, ..candidate };
                old.content = content;
            }
            old.candidate.confidence = confidence;
            old.next = next;
            return;
        }
        self.by_content.insert(name, self.found.len());
        self.found.push(Found { candidate, next, dropped: false, content });
    }

    /// Passes over words that commit to nothing.
    fn pass(&mut self, next: usize) {
        self.at = next;
        self.opening = Opening::None;
    }

    /// Reads token `i` as narrative, or as what leads to a clause.
    fn read_on(&mut self, i: usize, key: String) {
        let key = key.as_str();
        self.at = i + 1;
        let after_connector = i > 0 && is_connector(Keys(&self.tokens).at(i - 1));
        match key {
            "wish" | "imagine" | "suppose" | "pretend" => self.unreal = true,
            "but" | "so" | "anyway" | "oh" => self.unreal = false,
            "if" | "when" | "once" | "unless" if self.opening > Opening::None || after_connector => {
                self.condition = Some(i);
            }
            _ => {}
        }
        if let Some(end) = label(&self.tokens, i, self.opening) {
            (self.at, self.opening, self.label_end) = (end, Opening::List, end + 6);
            return;
        }
        if self.opening > Opening::None
            && let Some(end) = time_phrase(&self.tokens, i)
        {
            self.at = end;
            return;
        }
        if key == "after" && self.tokens.get(i + 1).is_some_and(|token| token.word.key == "that") {
            self.at = i + 2;
            return;
        }
        if is_connector(key) || (is_adverb(key) && self.opening > Opening::None) {
            return;
        }
        if is_interjection(key) {
            self.opening = self.opening.max(Opening::Loose);
            return;
        }
        self.opening = Opening::None;
    }
}

fn keys_at(tokens: &[Token], i: usize) -> String {
    tokens[i].word.key.clone()
}

/// Where the words end that take a task back: "scratch that", "never mind", "I already did".
fn retraction(tokens: &[Token], i: usize) -> Option<usize> {
    const PHRASES: [&[&str]; 14] = [
        &["no", "scratch", "that"],
        &["scratch", "that"],
        &["never", "mind"],
        &["nevermind"],
        &["forget", "that"],
        &["forget", "it"],
        &["no", "forget", "that"],
        &["no", "forget", "it"],
        &["cancel", "that"],
        &["no", "cancel", "that"],
        &["strike", "that"],
        &["don't", "bother"],
        &["ignore", "that"],
        &["that's", "done"],
    ];
    if let Some(end) = PHRASES.iter().find_map(|phrase| phrase_end(tokens, i, phrase)) {
        return Some(end);
    }
    let keys = Keys(tokens);
    if let Some(end) = needless(tokens, i) {
        return Some(end);
    }
    let subject = matches!(keys.at(i), "i" | "i've" | "we" | "we've" | "she" | "he" | "it's" | "that's");
    let done = matches!(keys.at(i + 2), "did" | "done" | "sorted" | "handled" | "have" | "finished");
    (subject && keys.at(i + 1) == "already" && done).then(|| {
        let object = matches!(keys.at(i + 3), "it" | "that" | "so" | "them");
        if object { i + 4 } else { i + 3 }
    })
}

/// The end of the turn at token `i` after which something makes the task needless: "oh wait, Rob did that", "actually no,
/// we have milk".
pub(super) fn needless(tokens: &[Token], i: usize) -> Option<usize> {
    const TURNS: [&[&str]; 6] =
        [&["oh", "wait"], &["no", "wait"], &["wait", "no"], &["actually", "no"], &["oh", "no"], &["actually"]];
    TURNS.iter().find_map(|phrase| phrase_end(tokens, i, phrase).filter(|&end| is_needless(tokens, end)))
}

/// Whether the clause at token `k` says that something is there or done already: "we have milk", "Rob already did that".
fn is_needless(tokens: &[Token], k: usize) -> bool {
    let keys = Keys(tokens);
    let done = |k: usize| {
        let next = if keys.at(k) == "already" { k + 1 } else { k };
        let verb = matches!(
            keys.at(next),
            "did" | "done" | "has" | "have" | "got" | "sorted" | "handled" | "finished" | "took"
        );
        verb && (next > k || matches!(keys.at(next + 1), "that" | "it" | "them" | "plenty" | "enough" | "some"))
    };
    match keys.at(k) {
        "i" | "we" | "she" | "he" | "they" => {
            done(k + 1) || matches!(keys.at(k + 1), "have" | "got") && !matches!(keys.at(k + 2), "to" | "a")
        }
        "i've" | "we've" | "she's" | "he's" | "they've" | "it's" | "that's" => {
            keys.at(k + 1) == "already" || matches!(keys.at(k + 1), "done" | "sorted" | "handled" | "fixed" | "paid")
        }
        _ => super::syntax::is_name(tokens, k) && done(k + 1),
    }
}

/// Where the words end that announce a list: "three things today", "to do", "action items".
fn label(tokens: &[Token], i: usize, opening: Opening) -> Option<usize> {
    let keys = Keys(tokens);
    let noun = |k: usize| {
        matches!(
            keys.at(k),
            "things" | "tasks" | "jobs" | "errands" | "reminders" | "items" | "chores" | "todos" | "to-dos"
        )
    };
    let counted = (is_number_word(keys.at(i)) || matches!(keys.at(i), "few" | "some" | "my" | "couple")) && noun(i + 1);
    let to_do = matches!((keys.at(i + 1), keys.at(i + 2), keys.at(i + 3)), ("to", "do", _) | ("to", "get", "done"));
    let end = match keys.at(i) {
        _ if opening > Opening::None && noun(i) && to_do => {
            let end = if keys.at(i + 2) == "do" { i + 3 } else { i + 4 };
            time_phrase(tokens, end).unwrap_or(end)
        }
        "couple" if keys.at(i + 1) == "of" && noun(i + 2) => i + 3,
        _ if counted => i + 2,
        "todo" | "todos" | "to-do" | "to-dos" => i + 1,
        "to" if keys.at(i + 1) == "do" && (keys.at(i + 2) == "list" || tokens[i + 1].pause > Pause::None) => i + 2,
        // "to do call mum buy stamps", "to do today ring the bank"
        "to" if keys.at(i + 1) == "do" && opening >= Opening::Start => {
            let end = time_phrase(tokens, i + 2).unwrap_or(i + 2);
            imperative(tokens, end, Opening::List)?;
            end
        }
        "action" if matches!(keys.at(i + 1), "item" | "items" | "point" | "points") => i + 2,
        "next" if keys.at(i + 1) == "steps" => i + 2,
        "note" if keys.at(i + 1) == "to" && keys.at(i + 2) == "self" => i + 3,
        "on" if matches!(keys.at(i + 1), "my" | "the" | "our") && list_at(tokens, i + 2).is_some() => {
            let end = list_at(tokens, i + 2).unwrap_or(i + 3);
            let timed = if keys.at(end) == "for" { time_phrase(tokens, end + 1) } else { time_phrase(tokens, end) };
            let end = timed.unwrap_or(end);
            if matches!(keys.at(end), "is" | "are") { end + 1 } else { end }
        }
        "number" | "item" | "point" if is_number_word(keys.at(i + 1)) => i + 2,
        "reminder" | "reminders" | "errands" | "chores" if opening > Opening::None => i + 1,
        "actions" | "tasks" | "task" | "action" if opening > Opening::None && tokens[i].pause == Pause::Colon => i + 1,
        _ => return None,
    };
    Some(if keys.at(end) == "list" { end + 1 } else { end })
}

/// The end of "list", "to-do list", "shopping list" at token `k`.
fn list_at(tokens: &[Token], k: usize) -> Option<usize> {
    let keys = Keys(tokens);
    match (keys.at(k), keys.at(k + 1), keys.at(k + 2)) {
        ("list" | "agenda" | "plate", ..) => Some(k + 1),
        ("to-do" | "todo", "list", _) => Some(k + 2),
        ("to", "do", "list") => Some(k + 3),
        _ => None,
    }
}

/// What is not to be done after the lead-in that ends before token `k`: the token of its "not", and where the verb is.
/// "remind me not to park there", "I promised I would not call".
fn negation(tokens: &[Token], k: usize, has_cue: bool) -> Option<(usize, usize)> {
    let keys = Keys(tokens);
    let not = if is_adverb(keys.at(k)) { k + 1 } else { k };
    let verb = if keys.at(not + 1) == "to" { not + 2 } else { not + 1 };
    let forgets = matches!(keys.at(verb), "forget" | "be");
    (has_cue && keys.at(not) == "not" && !forgets && super::verbs::verb(keys.at(verb)).is_some()).then_some((not, verb))
}

/// The first word of the task after a lead-in, or of an imperative; none if no task can begin there.
fn first_word(tokens: &[Token], i: usize, verb: usize, has_cue: bool) -> Option<usize> {
    if !has_cue {
        return Some(verb);
    }
    let keys = Keys(tokens);
    let first = skip_nested(tokens, verb);
    let token = tokens.get(first)?;
    if (i..first).any(|k| tokens[k].pause == Pause::Strong) {
        return None;
    }
    let key = token.word.key.as_str();
    if matches!(key, "have" | "are" | "am" | "get" | "don't")
        && let Some(make) = (i..first).find(|&k| keys.at(k) == "make" && keys.at(k + 1) == "sure")
        && matches!(keys.at(first - 1), "i" | "we")
    {
        return Some(make);
    }
    let fixed = matches!(keys.at(first + 1), "at" | "in" | "there" | "back" | "ready" | "on" | "home");
    match key {
        "be" => fixed.then_some(first),
        "do" => Some(first),
        "let" if keys.at(first + 1) == "you" => None,
        // "have a look at it", "have a word with her"
        "have"
            if keys.at(first + 1) == "a"
                && matches!(keys.at(first + 2), "look" | "word" | "chat" | "go" | "meeting" | "call") =>
        {
            Some(first)
        }
        _ if is_remark(key) && !(key == "look" && keys.at(first + 1) != "like") => None,
        _ if is_function_word(key) || is_number_word(key) || is_adverb(key) || is_interjection(key) => None,
        _ if key.ends_with("ing") && key.len() > 5 => None,
        _ if !matches!(token.word.shape, Shape::Lower | Shape::Capitalised | Shape::Upper) => None,
        _ => Some(first),
    }
}

/// How sure a task is, given what it consists of; none if it says nothing.
fn judge_content(tokens: &[Token], part: &[usize], confidence: f32, has_cue: bool) -> Option<f32> {
    let keys = Keys(tokens);
    let (&verb, rest) = part.split_first()?;
    let verb = keys.at(verb);
    let weighs = |k: &&usize| {
        let key = keys.at(**k);
        !is_function_word(key) && !is_adverb(key) && time_phrase(tokens, **k).is_none()
    };
    let has_content = rest.iter().any(|k| weighs(&k));
    let person = rest.iter().any(|&k| matches!(keys.at(k), "him" | "her" | "them"));
    let thing = rest.iter().any(|&k| matches!(keys.at(k), "it" | "that" | "this" | "these" | "those" | "one"));
    let light =
        matches!(verb, "do" | "get" | "go" | "make" | "take" | "try" | "see" | "be" | "come" | "keep" | "let" | "put");
    let machine = rest.iter().any(|&k| matches!(keys.at(k), "instruction" | "instructions" | "prompt" | "json"));
    let timed = rest.iter().any(|&k| time_phrase(tokens, k).is_some());
    let someday = rest.windows(2).any(|pair| {
        matches!((keys.at(pair[0]), keys.at(pair[1])), ("one", "day") | ("some", "day" | "point" | "stage" | "time"))
    }) || rest.iter().any(|&k| matches!(keys.at(k), "someday" | "eventually"));
    let vague = matches!(verb, "think" | "be" | "try" | "want" | "keep" | "stop" | "start" | "go");
    if machine {
        return None;
    }
    let ceiling = match () {
        // Some day is no day.
        () if someday => return None,
        () if has_content && vague && has_cue => 0.85,
        () if has_content => 1.0,
        () if person && !light => 0.85,
        // "I have to do it today": what it is was said before.
        () if thing && has_cue && timed => 0.85,
        () if thing && has_cue && !light && super::verbs::verb(verb).is_some() => 0.82,
        () if thing && !light => 0.7,
        () if has_cue && is_intransitive(verb) => 0.9,
        () if has_cue && !light && super::verbs::verb(verb).is_some() && !rest.is_empty() => 0.65,
        () if is_intransitive(verb) => 0.7,
        () => return None,
    };
    Some(confidence.min(ceiling))
}

/// The words by which two tasks are told apart.
fn content_of(tokens: &[Token], part: &[usize]) -> Vec<String> {
    let keys = Keys(tokens);
    part.iter()
        .map(|&k| keys.at(k))
        .enumerate()
        .filter(|(n, key)| *n == 0 || matches!(*key, "him" | "her") || !(is_function_word(key) || is_adverb(key)))
        .map(|(_, key)| key.to_owned())
        .collect()
}

/// Whether two tasks are one: the same verb, and the shorter one's words are all among the longer one's; "pay them" is the
/// paying that was said before.
fn is_same_task(a: &[String], b: &[String]) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short.first() == long.first() && short.iter().all(|word| long.contains(word))
}

/// The task in the speaker's own words: the verb capitalised, names in their case, no final mark.
fn spell(raw: &str, tokens: &[Token], part: &[usize]) -> String {
    let mut task = String::new();
    for (n, &k) in part.iter().enumerate() {
        let word = &tokens[k].word;
        let text = word.text(raw);
        let mut spelled = match word.shape {
            Shape::Lower => match lexicon::name(&word.key) {
                Some(name) => name.to_owned(),
                None if word.key == "i" || word.key.starts_with("i'") => upper_first(text),
                None => text.to_owned(),
            },
            _ => text.to_owned(),
        };
        if word.key.ends_with('s') && word.trail_marks(raw).starts_with(['\'', '’']) && !tokens[k].quoted {
            spelled.push('\'');
        }
        if n == 0 {
            spelled = upper_first(&spelled);
        }
        let comma = word.trail_marks(raw).contains(',') && part.get(n + 1) == Some(&(k + 1));
        let more = task.chars().count() + spelled.chars().count() + 2;
        if more > MAX_TASK_CHARS {
            break;
        }
        if n > 0 {
            task.push(' ');
        }
        task.extend(spelled.chars().filter(|c| !c.is_control()));
        if comma {
            task.push(',');
        }
    }
    let end = task.trim_end_matches(',').len();
    task.truncate(end);
    task
}

/// Whether a noun phrase can begin with `key`, so that the word before it may be a verb.
pub(super) fn opens_object(key: &str) -> bool {
    (is_determiner(key) && !matches!(key, "no" | "what" | "which" | "that"))
        || matches!(key, "him" | "her" | "them" | "it" | "us" | "me")
        || (is_pronoun(key) && matches!(key, "everything" | "everyone" | "something" | "these" | "those"))
}
