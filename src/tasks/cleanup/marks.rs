//! Marks that nobody dictated: at the ends of lines and of the text, and, in English text that has hardly any, inside.
//! Names that a recogniser without capitals left in lower case come along, since the same network tells both.

use super::draft::{Draft, Fate, Pause, pause_of_trail};
use super::lexicon::words;
use super::questions::{Opening, is_like_tag, opening};
use super::tagger::{self, Scores};
use super::witness::{self, Asking, MarkAnswer, MarkQuestion};

/// The log-odds from which a sentence is taken for a question that opens like one, and one that does not.
const LEAST_ODDS: (f32, f32) = (-1.5, 1.0);
/// The log-probability of lower case below which a word is taken for a name: that of one in five.
const MOST_LOWER: f32 = -1.6;
/// A text of so few words is more often one sentence than a turn in a talk is …
const NOTE_WORDS: usize = 12;
/// … so a mark inside needs log-odds like these against none.
const NOTE_ODDS: f32 = 1.0;
/// Who dictates marks leaves none out that matter, unless there is one for so many words only: then they were an afterthought.
const DICTATED_WORDS: usize = 24;
/// The words before the end of a marked text that are enough to tell its last mark.
const FINAL_WORDS: usize = 64;

/// A mark to be set after a raw word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NewMark {
    /// The raw index of the word.
    pub after: usize,
    pub text: &'static str,
}

/// How a name is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameCase {
    Capitalised,
    Capitals,
}

/// What the network says about a draft.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tags {
    /// In the order of their words.
    pub marks: Vec<NewMark>,
    /// Raw indices of names, in order.
    pub names: Vec<(usize, NameCase)>,
    /// Line breaks after raw words, in order.
    pub breaks: Vec<(usize, &'static str)>,
    /// What a model may be asked; only where the caller wants to know.
    pub questions: Vec<MarkQuestion>,
}

/// What is known beside a draft: the words on both sides, in lower case, as far as they matter for its marks, and what a
/// model said about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Surroundings {
    /// What was said since the last sentence end.
    pub before: Vec<String>,
    /// What is said next; empty where the text ends with the draft.
    pub after: Vec<String>,
    /// What a model has said, in the order of the text.
    pub answers: Vec<MarkAnswer>,
    /// Whether questions are wanted.
    pub asks: bool,
}

impl Surroundings {
    /// More words on a side change nothing any more.
    pub const WORDS: usize = 32;
}

/// The marks of a draft and, unless the recogniser writes capitals (`cased`), its names.
pub(super) fn propose(draft: &Draft, around: &Surroundings, ends_text: bool, cased: bool) -> Tags {
    let mut tags = Tags::default();
    if draft.preset().final_mark_from.is_none() {
        return tags;
    }
    let unmarked = draft.is_english() && !draft.has_marks();
    let reads = unmarked || draft.is_english() && !cased;
    let dictates = draft.len() > 0 && draft.dictated_marks(0..draft.len()) > 0;
    let (marks, questions) = (&mut tags.marks, &mut tags.questions);
    let (mut start, mut line, mut lines) = (0, 0, 0);
    for end in 0..draft.len() {
        let ends_draft = end + 1 == draft.len();
        let broken = draft.breaks_line_after(end);
        if !broken && !ends_draft && draft.pause(end) < Pause::Strong {
            continue;
        }
        let open = ends_draft && !broken && !ends_text;
        let dictated = draft.dictated_marks(start..end + 1).max(1);
        let bare = unmarked && (!dictates || end + 1 - start >= DICTATED_WORDS * dictated);
        let scores = if reads { read(draft, around, start, end, open) } else { vec![] };
        if !cased {
            let names = (start..=end).zip(&scores).filter_map(|(i, scores)| Some((draft.at(i), name_case(scores)?)));
            tags.names.extend(names);
        }
        // "Dear Mr Brown" on its own line is to stay whole.
        let whole = broken && is_greeting(draft.key(start));
        let mut texts = if bare && !whole && !scores.is_empty() {
            inside(draft, start, end, open, dictates, &scores)
        } else {
            vec![]
        };
        if around.asks && bare {
            let said: Vec<&str> = (start..=end).map(|i| draft.key(i)).chain(after_words(around, open)).collect();
            let marks: Vec<&str> = texts.iter().map(|text| text.unwrap_or_default()).collect();
            let scores: Vec<[f32; 4]> = scores.iter().map(|scores| scores.marks).collect();
            let at = |k: usize| draft.word(start + k).end;
            questions.extend(witness::mark_questions(&said, &marks, &scores, at, &Asking::USUAL));
        }
        let last = texts.pop();
        let inner = (start..end).zip(texts).filter(|&(i, _)| !draft.is_marked_after(i));
        marks.extend(inner.filter_map(|(i, text)| Some(NewMark { after: draft.at(i), text: text? })));
        let after = match (open, broken || ends_draft) {
            (true, _) => last.is_some().then(|| draft.at(end)),
            (false, true) if ends_line(draft, line, end, lines) => unmarked_end(draft, end),
            _ => None,
        };
        if let Some(after) = after
            && let Some(text) = last.unwrap_or_else(|| final_mark(draft, end))
        {
            marks.push(NewMark { after, text });
        }
        if broken {
            line = end + 1;
            lines += 1;
        }
        start = end + 1;
    }
    tags
}

/// The scores of live words `start..=end`, a stretch without a sentence end. Where it is `open`, what it says goes on
/// after the draft.
fn read(draft: &Draft, around: &Surroundings, start: usize, end: usize, open: bool) -> Vec<Scores> {
    let before = if start == 0 { around.before.as_slice() } else { &[] };
    let said = (start..=end).map(|i| draft.key(i));
    let keys: Vec<&str> = before.iter().map(String::as_str).chain(said).chain(after_words(around, open)).collect();
    let mut scores = tagger::scores(&keys);
    if scores.is_empty() {
        return scores;
    }
    scores.truncate(before.len() + end + 1 - start);
    let mut scores = scores.split_off(before.len());
    for (i, scores) in (start..=end).zip(&mut scores) {
        let at = draft.word(i).end;
        if let Ok(found) = around.answers.binary_search_by_key(&at, |answer| answer.at) {
            scores.marks = witness::weigh(scores.marks, around.answers[found].scores);
        }
    }
    scores
}

/// What is said after a stretch that is `open`.
fn after_words(around: &Surroundings, open: bool) -> impl Iterator<Item = &str> {
    around.after.iter().filter(move |_| open).map(String::as_str)
}

/// The mark after each of live words `start..=end`; their last is the end of a sentence unless the stretch is `open`. Doubts
/// count where the speaker `dictates` marks, and in a note.
fn inside(
    draft: &Draft,
    start: usize,
    end: usize,
    open: bool,
    dictates: bool,
    scores: &[Scores],
) -> Vec<Option<&'static str>> {
    let mut texts = vec![None; end + 1 - start];
    let wary = dictates || !open && texts.len() < NOTE_WORDS;
    let mut sentence = start;
    for (i, scores) in (start..=end).zip(scores) {
        let last = i == end && !open;
        let doubtful = || scores.marks[1..].iter().all(|mark| mark - scores.marks[0] < NOTE_ODDS);
        let bare_next = || !draft.key(i + 1).contains(char::is_alphanumeric);
        if !ends_in_cased_script(draft.key(i)) || !last && (wary && doubtful() || bare_next()) {
            continue;
        }
        let text = match likeliest(scores) {
            None | Some(",") if !last => likeliest(scores),
            likeliest => match opening(draft, sentence, i) {
                // "Should you need anything, …"
                Opening::Supposes if !last && likeliest == Some("?") => Some(","),
                opening => Some(sentence_end(scores, opening)),
            },
        };
        if !matches!(text, None | Some(",")) {
            // "…, aren't you?"
            if i == sentence + 1 && sentence > start && is_like_tag(draft, i) {
                texts[sentence - 1 - start] = Some(",");
            }
            sentence = i + 1;
        }
        texts[i - start] = text;
    }
    texts
}

/// How a word is written inside a sentence, where that is probably not in lower case.
fn name_case(scores: &Scores) -> Option<NameCase> {
    let [lower, capitalised, capitals] = scores.case;
    match lower < MOST_LOWER {
        true if capitals > capitalised => Some(NameCase::Capitals),
        true => Some(NameCase::Capitalised),
        false => None,
    }
}

fn likeliest(scores: &Scores) -> Option<&'static str> {
    let best = (0..scores.marks.len()).max_by(|&a, &b| scores.marks[a].total_cmp(&scores.marks[b]))?;
    [None, Some(","), Some("."), Some("?")][best]
}

/// The mark at the end of a sentence: its words weigh, and so does how it opens.
fn sentence_end(scores: &Scores, opening: Opening) -> &'static str {
    let [.., stop, question] = scores.marks;
    let least = match opening {
        Opening::Asks => LEAST_ODDS.0,
        Opening::Other => LEAST_ODDS.1,
        Opening::Tells | Opening::Supposes => return ".",
    };
    if question - stop > least { "?" } else { "." }
}

/// Whether live words `line..=i`, a dictated line or the last one, are to end like a sentence. `lines` came before.
fn ends_line(draft: &Draft, line: usize, i: usize, lines: usize) -> bool {
    let least = draft.preset().final_mark_from.unwrap_or(usize::MAX);
    let broken = draft.breaks_line_after(i);
    // A line of a few words among dictated line breaks is an item, a greeting or a signature.
    let wanted = match (broken, lines) {
        (true, _) if draft.breaks_paragraph_after(i) => 3,
        (true, _) => 4,
        (false, 0) => least,
        (false, _) => least.max(4),
    };
    i + 1 - line >= wanted && !(broken && is_greeting(draft.key(line)))
}

fn is_greeting(key: &str) -> bool {
    words!("dear hi hello hey kind best regards yours sincerely cheers warm many thanks").contains(key)
}

/// The raw word after which a mark would stand: live word `i`, or the dictated bracket or quote that closes after it.
/// None where the line has its mark already.
fn unmarked_end(draft: &Draft, i: usize) -> Option<usize> {
    let first = draft.at(i);
    let next = if i + 1 < draft.len() { draft.at(i + 1) } else { draft.words.len() };
    let strong = |k: usize| pause_of_trail(&draft.words[k], draft.raw) == Pause::Strong;
    let mut after = first;
    for k in first + 1..next {
        match &draft.fates[k] {
            Fate::Mark { mark, last } if mark.closes() && !strong(*last) => after = *last,
            Fate::Mark { mark, .. } if mark.text.contains('\n') => {}
            // What a deleted filler leaves behind: "we left um." keeps its mark.
            Fate::Mark { .. } => return None,
            Fate::Drop { .. } if strong(k) => return None,
            _ => {}
        }
    }
    let closes_bracket = |c: char| matches!(c, ']' | ')' | '"' | '”' | '\'' | '’');
    let bare = draft.words[first].trail_marks(draft.raw).trim_matches(closes_bracket);
    let dropped = matches!(draft.fates.get(first + 1), Some(Fate::Drop { .. })) && first + 1 < next;
    (bare.is_empty() || dropped && bare == ",").then_some(after)
}

/// The mark after live word `end`, where the text before it has its marks; none where only a guess is possible.
fn final_mark(draft: &Draft, end: usize) -> Option<&'static str> {
    if !ends_in_cased_script(draft.key(end)) {
        return None;
    }
    let start = draft.sentence_start(end);
    if !draft.is_english() {
        return (!draft.language.is_interrogative(draft.key(start))).then_some(".");
    }
    let from = start.max((end + 1).saturating_sub(FINAL_WORDS));
    let keys: Vec<&str> = (from..=end).map(|i| draft.key(i)).collect();
    let opening = opening(draft, start, end);
    Some(match tagger::scores(&keys).last() {
        Some(scores) => sentence_end(scores, opening),
        // No network: the opening alone tells.
        None if opening == Opening::Asks => "?",
        None => ".",
    })
}

/// Whether the script of `key` ends its sentences with "." or "?": Latin, Greek, Cyrillic and their like have two cases.
fn ends_in_cased_script(key: &str) -> bool {
    let last = key.chars().rfind(|c| c.is_alphanumeric());
    last.is_some_and(|c| c.is_lowercase() || c.is_numeric()) || key.ends_with(['%', '>', '}', '/'])
}
