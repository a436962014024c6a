//! Line breaks that a preset wants and nobody dictated: around a letter's greeting and closing, after a note's sentences.

use super::draft::{Draft, Fate, Pause};
use super::lexicon::{is_auxiliary, is_determiner, is_function_word, is_subject, is_wh, name, words};
use super::marks::{NameCase, NewMark, Tags};
use super::options::Lines;
use super::words::Shape;

/// Which ends of the text a draft has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub first: bool,
    pub last: bool,
}

const LINE: &str = "\n";
const PARAGRAPH: &str = "\n\n";

/// The most words that somebody is named by.
const NAME_WORDS: usize = 4;
/// The most words of a closing.
const CLOSING_WORDS: usize = 9;

/// Words that close a letter whatever follows …
const CLOSINGS: [&[&str]; 17] = [
    &["with", "kind", "regards"],
    &["with", "best", "regards"],
    &["with", "warm", "regards"],
    &["with", "best", "wishes"],
    &["kindest", "regards"],
    &["kind", "regards"],
    &["best", "regards"],
    &["warm", "regards"],
    &["best", "wishes"],
    &["all", "the", "best"],
    &["yours", "sincerely"],
    &["yours", "faithfully"],
    &["yours", "truly"],
    &["sincerely", "yours"],
    &["sincerely"],
    &["respectfully"],
    &["regards"],
];
/// … and words that do so before a name.
const BEFORE_A_NAME: [&[&str]; 14] = [
    &["thanks", "and", "regards"],
    &["see", "you", "tomorrow"],
    &["see", "you", "soon"],
    &["talk", "to", "you", "soon"],
    &["talk", "soon"],
    &["take", "care"],
    &["many", "thanks"],
    &["thanks", "again"],
    &["thanks"],
    &["thank", "you"],
    &["cheers"],
    &["yours"],
    &["best"],
    &["love"],
];

/// Adds to `tags` the breaks that the draft's preset wants, and the marks and names that go with them.
pub(super) fn propose(draft: &Draft, tags: &mut Tags, ends: Ends, cased: bool) {
    match draft.preset().lines {
        Lines::Letter if draft.is_english() => letter(draft, tags, ends),
        Lines::Dictated | Lines::Letter => {}
        Lines::Sentences => sentences(draft, tags, ends, cased),
    }
}

fn sentences(draft: &Draft, tags: &mut Tags, ends: Ends, cased: bool) {
    for i in 0..draft.len().saturating_sub(usize::from(ends.last)) {
        let ended = match mark_after(draft, tags, i) {
            Some(mark) => mark != ",",
            // With a recogniser that writes capitals, a small letter after a full stop says that it was an abbreviation's.
            None => {
                let small = i + 1 < draft.len() && draft.word(i + 1).shape == Shape::Lower;
                draft.pause(i) == Pause::Strong && !(cased && small)
            }
        };
        if ended && let Some(after) = place(draft, i) {
            tags.breaks.push((after, LINE));
        }
    }
}

fn letter(draft: &Draft, tags: &mut Tags, ends: Ends) {
    let greeting = if ends.first { greeting(draft, tags) } else { None };
    let body = greeting.map_or(0, |last| last + 1);
    let closing = if ends.last { closing(draft, tags, body) } else { None };
    if let Some(last) = greeting {
        (0..last).for_each(|i| remove_mark(draft, tags, i));
        set_comma(draft, tags, last);
        name_all(draft, tags, 1, last + 1);
        tags.breaks.extend(place(draft, last).map(|after| (after, PARAGRAPH)));
    }
    let Some((from, named)) = closing else { return };
    let before = from - 1;
    let marked = draft.pause(before) == Pause::Strong || draft.is_marked_after(before);
    if before + 1 > body && !marked && mark_after(draft, tags, before).is_none_or(|mark| mark == ",") {
        set_mark(draft, tags, before, ".");
    }
    (from..draft.len()).for_each(|i| remove_mark(draft, tags, i));
    if before + 1 > body {
        tags.breaks.extend(place(draft, before).map(|after| (after, PARAGRAPH)));
    }
    if named < draft.len() {
        set_comma(draft, tags, named - 1);
        name_all(draft, tags, named, draft.len());
        tags.breaks.extend(place(draft, named - 1).map(|after| (after, LINE)));
    }
}

/// The last live word of the greeting with which the draft begins.
fn greeting(draft: &Draft, tags: &Tags) -> Option<usize> {
    let (is_dear, first) = match (draft.key(0), draft.key(1)) {
        ("dear", _) => (true, 1),
        ("hi" | "hello" | "hey", _) => (false, 1),
        ("good", "morning" | "afternoon" | "evening") => (false, 2),
        _ => return None,
    };
    // "can you", "the report", "I": a clause begins.
    let begins = |i: usize| {
        let key = draft.key(i);
        let stem = key.split(['\'', '’']).next().unwrap_or(key);
        is_subject(stem)
            || is_auxiliary(key) && is_subject(draft.key(i + 1))
            || is_wh(key)
            || is_determiner(key)
            || words!("thanks thank please just here there's here's as after following attached hope let's")
                .contains(key)
    };
    let mut last = first - 1;
    for i in first..draft.len().min(first + NAME_WORDS) {
        if draft.pause(i - 1) != Pause::None || draft.is_marked_after(i - 1) {
            break;
        }
        let key = draft.key(i);
        let everybody = words!("all everyone everybody team folks there both sir madam colleagues friends");
        let somebody = everybody.contains(key) && !is_auxiliary(draft.key(i + 1))
            || is_named(draft, tags, i)
            || words!("mr mrs ms miss dr professor").contains(key) && !is_function_word(draft.key(i + 1))
            || key == "and" && i > first && is_named(draft, tags, i + 1)
            || i == first && !is_function_word(key) && (is_dear || begins(i + 1));
        if !somebody {
            break;
        }
        last = i;
    }
    let named = last >= first;
    let set_off = draft.pause(last) != Pause::None;
    (last + 1 < draft.len() && (named || !is_dear && (set_off || begins(first)))).then_some(last)
}

/// Where the closing with which the draft ends begins, and where the name in it does. The letter's text begins at `body`.
fn closing(draft: &Draft, tags: &Tags, body: usize) -> Option<(usize, usize)> {
    let end = draft.len();
    let greeted = |i: usize| (0..body).any(|k| draft.key(k) == draft.key(i));
    (body.max(end.saturating_sub(CLOSING_WORDS)).max(1)..end).find_map(|from| {
        let said = |phrases: &[&[&str]]| {
            let said = phrases.iter().find(|phrase| draft.says(from, phrase));
            said.map(|phrase| from + phrase.len()).filter(|named| *named <= end && end - named < NAME_WORDS)
        };
        let somebody = |i: usize| !is_function_word(draft.key(i)) && !greeted(i);
        let always = said(&CLOSINGS).filter(|&named| (named..end).all(somebody));
        let signed = |named: &usize| *named < end && (*named..end).all(|i| somebody(i) && is_named(draft, tags, i));
        always.or_else(|| said(&BEFORE_A_NAME).filter(signed)).map(|named| (from, named))
    })
}

/// Whether live word `i` is probably a name.
fn is_named(draft: &Draft, tags: &Tags, i: usize) -> bool {
    if i >= draft.len() || is_function_word(draft.key(i)) {
        return false;
    }
    let tagged = tags.names.binary_search_by_key(&draft.at(i), |(raw, _)| *raw).is_ok();
    tagged || draft.word(i).shape == Shape::Capitalised || name(draft.key(i)).is_some()
}

/// Live words `from..to` are written as names, but for what everybody is called.
fn name_all(draft: &Draft, tags: &mut Tags, from: usize, to: usize) {
    let common = words!(
        "all everyone everybody team folks there both sir madam colleagues friends and morning afternoon evening"
    );
    for i in from..to {
        let raw = draft.at(i);
        if !common.contains(draft.key(i))
            && let Err(at) = tags.names.binary_search_by_key(&raw, |(raw, _)| *raw)
        {
            tags.names.insert(at, (raw, NameCase::Capitalised));
        }
    }
}

/// The raw word after which a break stands that is to follow live word `i`: the last of a dictated mark, or the deleted word
/// that has the mark of the sentence. None where a line ends already.
fn place(draft: &Draft, i: usize) -> Option<usize> {
    let raw = draft.at(i);
    let next = if i + 1 < draft.len() { draft.at(i + 1) } else { draft.words.len() };
    let mut after = raw;
    for k in raw + 1..next {
        match &draft.fates[k] {
            Fate::Mark { last, .. } => after = *last,
            Fate::Drop { .. } if draft.words[k].trail_marks(draft.raw).contains(['.', '?', '!']) => after = k,
            _ => {}
        }
    }
    let until = draft.words.get(next).map_or(draft.words[next - 1].tail, |word| word.lead);
    let broken = draft.raw[draft.words[raw].end..until].contains('\n') || draft.breaks_line_after(i);
    (!broken).then_some(after)
}

/// The mark of the tags after live word `i`.
fn mark_after(draft: &Draft, tags: &Tags, i: usize) -> Option<&'static str> {
    let found = tags.marks.binary_search_by_key(&draft.at(i), |mark| mark.after).ok()?;
    Some(tags.marks[found].text)
}

fn set_mark(draft: &Draft, tags: &mut Tags, i: usize, text: &'static str) {
    let after = draft.at(i);
    match tags.marks.binary_search_by_key(&after, |mark| mark.after) {
        Ok(found) => tags.marks[found].text = text,
        Err(at) => tags.marks.insert(at, NewMark { after, text }),
    }
}

/// A comma after live word `i`, unless a mark was heard or dictated there.
fn set_comma(draft: &Draft, tags: &mut Tags, i: usize) {
    if draft.word(i).trail_marks(draft.raw).is_empty() && !draft.is_marked_after(i) {
        set_mark(draft, tags, i, ",");
    }
}

fn remove_mark(draft: &Draft, tags: &mut Tags, i: usize) {
    let after = draft.at(i);
    tags.marks.retain(|mark| mark.after != after);
}
