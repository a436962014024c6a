//! Numbers, dates, times, amounts and addresses in their written form, where nothing else can be meant.
//!
//! A number of one word stays a word in running text, and so do "one of us", "a hundred cookies", "twenty something".
//! Read at each word, the first form that fits wins:
//!
//! | said | written |
//! |---|---|
//! | jo dot park at example dot org | jo.park@example.org |
//! | january fifth twenty twelve | January 5, 2012 |
//! | three thirty p m | 3:30 p.m. |
//! | a three year old | a three-year-old |
//! | five five five one two three four | 555-1234 |
//! | five pounds fifty; twenty dollars | £5.50; $20 |
//! | three point five percent | 3.5% |
//! | nineteen ninety nine; the nineteen eighties | 1999; the 1980s |
//! | eight thousand and eighty; thirty million | 8080; 30 million |
//! | twenty first | 21st |
//!
//! Inside a sentence money has its thousands apart ("$250,000"), alone it is as a field takes it ("$250000"). `pairs` sees to
//! it that numbers and times side by side are written alike.
//!
//! French has a reader of its own, `french`.

mod address;
mod amount;
mod clock;
mod code;
pub(super) mod french;
mod pairs;
mod phrase;
mod reader;
mod units;
mod whole;

use super::draft::{Action, Draft, Fate, Pause, Proposal};
use super::edit::EditKind;
use super::language::Language;
use super::lexicon::{is_number_word, words};
use super::marks::NewMark;

/// The most words that one form may take inside a sentence …
const MAX_WORDS: usize = 16;
/// … and where it is all that was said.
const MAX_WHOLE_WORDS: usize = 64;

/// A written form for the first `used` words of a window.
#[derive(Debug, PartialEq)]
struct Form {
    used: usize,
    text: String,
}

/// Proposes the written form of a draft that is a number, a date, an address or the like and nothing else.
pub(super) fn propose_whole(draft: &Draft) -> Option<Proposal> {
    let last = draft.len().checked_sub(1).filter(|last| *last < MAX_WHOLE_WORDS)?;
    let in_one_piece = draft.at(last) - draft.at(0) == last && draft.pause_within(0, last) == Pause::None;
    if !draft.is_english() || !in_one_piece {
        return None;
    }
    let said: Vec<whole::Said> =
        (0..=last).map(|i| whole::Said { key: draft.key(i), text: draft.word(i).text(draft.raw) }).collect();
    let text = whole::form(&said)?;
    let (first, last) = (draft.at(0), draft.at(last));
    Some(Proposal { first, last, action: Action::Write(text), kind: EditKind::Number, confidence: 0.9 })
}

/// The mark after a draft that is one written form: a full stop where words end it ("70 mph."), none after a bare figure or
/// an address, which may be meant for a field.
pub(super) fn final_mark(draft: &Draft) -> Option<NewMark> {
    let wanted = draft.len() == 0 && draft.preset().final_mark_from == Some(1);
    let written = draft.fates.iter().enumerate().filter(|_| wanted).find_map(|(i, fate)| match fate {
        Fate::Write { text, last, kind: EditKind::Number, .. } => Some((i, text, *last)),
        _ => None,
    });
    let (_, _, after) = written.filter(|(i, text, last)| {
        let all =
            draft.fates[..*i].iter().chain(&draft.fates[last + 1..]).all(|fate| matches!(fate, Fate::Drop { .. }));
        let bare = draft.words[*last].trail_marks(draft.raw).is_empty();
        all && bare && text.contains(' ') && text.ends_with(char::is_alphabetic)
    })?;
    Some(NewMark { after, text: "." })
}

/// Proposes written forms.
pub(super) fn propose(draft: &Draft) -> Vec<Proposal> {
    match draft.language {
        Language::English => {}
        Language::French => return french::propose(draft, |i| window(draft, i)),
        _ => return vec![],
    }
    let mut proposals = vec![];
    let mut i = 0;
    while i < draft.len() {
        let window = window(draft, i);
        let before = draft.key_before(i);
        match phrase::form(&window, before, is_priced(draft, i)) {
            Some(Form { used, text }) if used > 0 => {
                let text = if is_social_number(draft, i, &text) { grouped(&text) } else { text };
                let (first, last) = (draft.at(i), draft.at(i + used - 1));
                proposals.push(Proposal {
                    first,
                    last,
                    action: Action::Write(text),
                    kind: EditKind::Number,
                    confidence: 0.9,
                });
                i += used;
            }
            // A run of number words that makes no form stays whole: "twenty two two".
            _ => {
                i +=
                    1 + window.iter().skip(1).take_while(|key| is_number_word(window[0]) && is_number_word(key)).count()
            }
        }
    }
    pairs::align(draft, &mut proposals);
    proposals
}

/// Whether what is said at live word `i` is a price: something costs so much.
fn is_priced(draft: &Draft, i: usize) -> bool {
    let named = words!(
        "cost costs costing price prices priced pay pays paid paying charge charges charged worth sell sells selling sold fee \
        fare rent bill spend spent tip"
    );
    let dated = words!("in since until till by during from of after before year");
    let near = draft.sentence_start(i).max(i.saturating_sub(4))..i;
    !dated.contains(draft.key_before(i)) && near.into_iter().any(|k| named.contains(draft.key(k)))
}

/// Whether nine digits at live word `i` are a number of the American social security, as what comes before says.
fn is_social_number(draft: &Draft, i: usize, text: &str) -> bool {
    let named = |k: usize| matches!(draft.key(k), "ssn" | "social");
    text.len() == 9 && text.bytes().all(|b| b.is_ascii_digit()) && (i.saturating_sub(5)..i).any(named)
}

/// Nine digits as they stand on the card.
fn grouped(digits: &str) -> String {
    format!("{}-{}-{}", &digits[..3], &digits[3..5], &digits[5..])
}

/// The keys from live word `i` on that stand in one piece: next to each other in the raw text, with no mark between.
fn window<'d>(draft: &'d Draft, i: usize) -> Vec<&'d str> {
    let end = (i + 1..draft.len().min(i + MAX_WORDS))
        .find(|&k| draft.at(k) != draft.at(k - 1) + 1 || draft.pause(k - 1) > Pause::None)
        .unwrap_or(draft.len().min(i + MAX_WORDS));
    (i..end).map(|k| draft.key(k)).collect()
}
