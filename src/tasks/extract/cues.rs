//! What speakers say when they take something on.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::clauses::{Pause, Token};
use super::verbs::{is_remark, is_speech};

/// A lead-in that was found: the task begins after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cue {
    /// The first token after the lead-in.
    pub end: usize,
    pub confidence: f32,
    /// Whether the phrase speaks of itself ("remind me to"), so that a question mark changes nothing.
    pub request: bool,
    /// Whether the phrase points at the task: "what I have to do first is".
    pub points: bool,
}

/// Lead-ins with the speaker as the subject or the addressee: they count wherever they stand.
const ANYWHERE: &[(f32, &str)] = &[
    (0.93, "i need to|i have to|i've got to|i got to|i gotta|i've gotta|i must|i had better|i'd better|i better"),
    (0.93, "we need to|we have to|we've got to|we gotta|we must|we'd better|we better"),
    (0.95, "remind me to|remind myself to|remind us to|don't let me forget to|don't forget to|do not forget to"),
    (0.92, "i'll|i will|i shall|i'm going to|i'm gonna|i am going to|i'm gonna have to|i'll have to|i'll need to"),
    (0.84, "we'll|we will|we shall|we're going to|we're gonna|we are going to|let's|let us"),
    (
        0.93,
        "i can't forget to|i mustn't forget to|i must not forget to|let me not forget to|help me remember to|i'd best|i had best",
    ),
    (
        0.9,
        "i still have to|i still need to|i've still got to|i've still to|i have yet to|i've yet to|i owe it to myself to",
    ),
    (
        0.88,
        "i promised myself to|i promised myself i would|i promised myself i'd|i promised myself i'll|i swore i'd|i swore i would",
    ),
    (
        0.88,
        "i told myself i'd|i told myself i would|i signed up to|i've signed up to|i said yes to|it's my turn to|i'm down to",
    ),
    (0.92, "i promised to|i've promised to|i agreed to|i've agreed to|i offered to|i volunteered to|i committed to"),
    (0.88, "i promised i'd|i promised i would|i promised i'll|i promised that i would|i promised that i'd"),
    (0.88, "i said i'd|i said i would|i said i'll|i said that i'd|i said that i would|i said i will|i agreed i'd"),
    (0.84, "i'm supposed to|i'm meant to|i am supposed to|i am meant to|i'm due to|i plan to|i intend to"),
    (0.84, "it's my job to|it's up to me to|it's on me to|my job is to|the plan is to|the next step is to"),
    (0.84, "next step is to|first step is to|the first step is to|first thing is to|the first thing is to"),
    (0.92, "add a task to|add a reminder to|add a to-do to|create a task to|create a reminder to|set a reminder to"),
    (0.92, "set an alarm to|make a note to|add a note to|leave me a note to|put it on my list to"),
    (0.93, "what i need is to|what we need is to|all i need is to|what i want is to"),
    (0.93, "i do need to|i do have to|we do need to|we do have to"),
    // Said to whoever reads the note, as something to do.
    (0.88, "can you please|could you please|would you please|will you please|please can you|please could you"),
    (
        0.86,
        "can someone please|can somebody please|could someone please|could somebody please|can we please|please will you",
    ),
    (0.92, "i want to make sure i|i want to make sure we|i wanna make sure i|we want to make sure we"),
    (0.92, "i need to be sure to|make sure to|make sure i|make sure we|make sure that i|make sure that we|be sure to"),
    (0.7, "i should|i ought to|we should|we ought to|i'm planning to|i'm hoping to|i hope to|i aim to"),
    (0.6, "i want to|we want to"),
    (0.6, "asked me to|told me to|wants me to|needs me to|want me to|need me to|i was asked to|i've been asked to"),
];

/// Lead-ins without a subject: they count where a clause begins.
const AT_START: &[(f32, &str)] = &[
    (0.86, "let me"),
    (0.9, "need to|have to|got to|gotta|must|remember to|note to self to|reminder to"),
    (0.82, "gonna|going to|better|needs must|still to do"),
    (0.66, "should|ought to|time to|it's time to|maybe i'll|perhaps i'll"),
];

/// Lead-ins within a task, after the first: "I need to remember to …".
const NESTED: &[&str] = &[
    "remember to",
    "make sure to",
    "make sure i",
    "make sure we",
    "make sure that i",
    "make sure that we",
    "be sure to",
    "try to",
    "try and",
    "remind myself to",
    "not forget to",
    "make a note to",
    "have to",
    "need to",
    "go ahead and",
    "not let myself forget to",
    "go and",
    "get round to",
    "get around to",
    "remind me to",
    "note to self to",
    "finally",
    "quickly",
    "first",
    "to",
];

type Table = HashMap<&'static str, Vec<(Vec<&'static str>, f32)>>;

fn table(lists: &[(f32, &'static str)]) -> Table {
    let mut table = Table::new();
    for (confidence, phrases) in lists {
        for phrase in phrases.split('|') {
            let words: Vec<_> = phrase.split(' ').collect();
            table.entry(words[0]).or_default().push((words, *confidence));
        }
    }
    table.values_mut().for_each(|phrases| phrases.sort_by_key(|(words, _)| std::cmp::Reverse(words.len())));
    table
}

static CUES: LazyLock<Table> = LazyLock::new(|| table(ANYWHERE));
static START_CUES: LazyLock<Table> = LazyLock::new(|| table(AT_START));

/// The lead-in that begins at token `i`; `start` tells whether a clause begins there.
pub(super) fn cue_at(tokens: &[Token], i: usize, start: bool) -> Option<Cue> {
    let first = tokens.get(i)?;
    if first.quoted {
        return None;
    }
    let find = |table: &Table| {
        let phrases = table.get(first.word.key.as_str())?;
        phrases.iter().find_map(|(words, confidence)| Some((phrase_end(tokens, i, words)?, *confidence)))
    };
    let (end, mut confidence) =
        find(&CUES).or_else(|| promise(tokens, i)).or_else(|| start.then(|| find(&START_CUES)).flatten())?;
    let key = |k: usize| tokens[k].word.key.as_str();
    let hedged = (i..end).any(|k| matches!(key(k), "probably" | "maybe" | "perhaps" | "possibly" | "might"));
    let before = if i > 0 && tokens[i - 1].pause != Pause::Strong { key(i - 1) } else { "" };
    if hedged || matches!(before, "maybe" | "perhaps" | "possibly" | "probably") {
        confidence = confidence.min(0.66);
    }
    let mut points = end;
    if key_or_none(tokens, end) == "do" {
        points += 1;
        if matches!(key_or_none(tokens, points), "first" | "next" | "now" | "today" | "tomorrow") {
            points += 1;
        }
    }
    // "… do before the holiday is": a time may stand between, another clause may not.
    let is = (points > end).then(|| (points..points + MAX_POINTING).find(|&k| !goes_on_to_point(tokens, k))).flatten();
    let points = is.is_some_and(|k| key_or_none(tokens, k) == "is");
    let end = is.filter(|_| points).map_or(end, |is| is + 1);
    let asks = (i..end).any(|k| key(k) == "please");
    let request = asks || matches!(key(i), "remind" | "don't" | "add" | "set" | "create");
    if key(i) == "let" && key(i + 1) == "me" && !offers(key_or_none(tokens, end)) {
        return None;
    }
    Some(Cue { end, confidence, request, points })
}

/// Whether who says "let me" before `verb` takes something on: "let me check", and not "let me tell you".
fn offers(verb: &str) -> bool {
    let speaks = is_speech(verb) || is_remark(verb) && verb != "look";
    super::verbs::verb(verb).is_some()
        && !speaks
        && !matches!(
            verb,
            "tell"
                | "go"
                | "be"
                | "put"
                | "start"
                | "finish"
                | "try"
                | "show"
                | "keep"
                | "introduce"
                | "begin"
                | "do"
                | "make"
                | "come"
                | "leave"
                | "use"
                | "help"
                | "thank"
                | "congratulate"
                | "ask"
                | "warn"
                | "remind"
                | "read"
                | "add"
                | "take"
        )
}

/// The most words between "what I have to do" and its "is".
const MAX_POINTING: usize = 7;

/// Whether token `k` can stand between "what I have to do" and "is".
fn goes_on_to_point(tokens: &[Token], k: usize) -> bool {
    let key = key_or_none(tokens, k);
    let ends = matches!(key, "" | "is" | "and" | "but" | "so" | "because" | "i" | "he" | "she" | "they" | "we" | "you");
    !ends && tokens.get(k).is_some_and(|token| token.pause != Pause::Strong)
}

fn key_or_none(tokens: &[Token], k: usize) -> &str {
    tokens.get(k).map_or("", |token| token.word.key.as_str())
}

/// "I promised Ana (that) I would", "I told them I'd", "I said to Ana that I would", "I promised the school to".
fn promise(tokens: &[Token], i: usize) -> Option<(usize, f32)> {
    let key = |k: usize| tokens.get(k).map_or("", |token| token.word.key.as_str());
    let verb = match key(i) {
        "i" => i + 1,
        "i've" => i + 1,
        _ => return None,
    };
    let first = match (key(verb), key(verb + 1)) {
        ("promised" | "told" | "assured", _) => verb + 1,
        ("said", "to") => verb + 2,
        _ => return None,
    };
    for k in first..first + 5 {
        if tokens.get(k - 1)?.pause == Pause::Strong {
            return None;
        }
        match (key(k), key(k + 1)) {
            ("i'd" | "i'll", _) => return Some((k + 1, 0.88)),
            ("i", "would" | "will") => return Some((k + 2, 0.88)),
            ("to", _) if key(verb) == "promised" => return Some((k + 1, 0.86)),
            ("to" | "i" | "that's" | "and", _) => return None,
            _ => {}
        }
    }
    None
}

/// The first token after the lead-ins that begin at `i` inside a task.
pub(super) fn skip_nested(tokens: &[Token], mut i: usize) -> usize {
    loop {
        let nested = NESTED.iter().find_map(|phrase| {
            let words: Vec<_> = phrase.split(' ').collect();
            phrase_end(tokens, i, &words)
        });
        match nested {
            Some(end) => i = end,
            None if tokens.get(i).is_some_and(|token| is_adverb(&token.word.key)) => i += 1,
            None => return i,
        }
    }
}

/// Where the phrase that begins at token `i` ends; adverbs may stand inside.
pub(super) fn phrase_end(tokens: &[Token], i: usize, words: &[&str]) -> Option<usize> {
    let mut at = i;
    for (n, word) in words.iter().enumerate() {
        if n > 0 {
            while tokens.get(at).is_some_and(|token| is_adverb(&token.word.key) && token.word.key != *word) {
                at += 1;
            }
            if tokens[at - 1].pause == Pause::Strong {
                return None;
            }
        }
        if tokens.get(at)?.word.key != *word {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// Adverbs that may stand inside a lead-in or before the verb.
pub(in crate::tasks) fn is_adverb(key: &str) -> bool {
    matches!(
        key,
        "really"
            | "still"
            | "also"
            | "just"
            | "definitely"
            | "probably"
            | "actually"
            | "absolutely"
            | "seriously"
            | "maybe"
            | "perhaps"
            | "possibly"
            | "totally"
            | "basically"
            | "personally"
            | "urgently"
            | "desperately"
            | "please"
            | "literally"
            | "simply"
            | "only"
    )
}
