//! One style for numbers that belong together, where each alone would be written another way.
//!
//! | alone | together |
//! |---|---|
//! | twelve or 24 months | 12 or 24 months |
//! | two or 24 people | two or twenty four people |
//! | nine am, 3:30 p.m. | 9 a.m., 3:30 p.m. |

use super::super::draft::{Action, Draft, Pause, Proposal};
use super::super::edit::EditKind;
use super::super::lexicon::{is_cardinal, is_subject};
use super::super::words::Shape;
use super::phrase::FIRST_IN_DIGITS;
use super::reader::cardinal;

/// Brings the proposals for a draft, in its order, into one style.
pub(super) fn align(draft: &Draft, proposals: &mut Vec<Proposal>) {
    let mut i = 1;
    while i + 1 < draft.len() {
        if matches!(draft.key(i), "or" | "to") && draft.pause_within(i - 1, i + 1) == Pause::None {
            align_pair(draft, i, proposals);
        }
        i += 1;
    }
    let is_time = |text: &str| text.ends_with(" a.m.") || text.ends_with(" p.m.");
    if proposals.iter().any(|proposal| matches!(&proposal.action, Action::Write(text) if is_time(text))) {
        proposals.extend((0..draft.len()).filter_map(|i| hour(draft, i)));
    }
    proposals.sort_by_key(|proposal| proposal.first);
}

/// The numbers on both sides of live word `joint`.
fn align_pair(draft: &Draft, joint: usize, proposals: &mut Vec<Proposal>) {
    let (next, last) = (draft.at(joint + 1), draft.at(joint - 1));
    let in_words = |key: &str| is_cardinal(key) && !key.starts_with(|c: char| c.is_ascii_digit());
    let from = (0..joint).rev().take_while(|&k| in_words(draft.key(k)) && draft.pause(k) == Pause::None).last();
    let spoken_for = |raw: usize| proposals.iter().any(|proposal| (proposal.first..=proposal.last).contains(&raw));
    let Some(from) = from.filter(|_| !spoken_for(last)) else { return };
    let keys: Vec<&str> = (from..joint).map(|k| draft.key(k)).collect();
    let Some((value, _)) = cardinal(&keys).filter(|(_, used)| *used == keys.len()) else { return };
    let said_in_digits = draft.word(joint + 1).shape == Shape::Digits && is_cardinal(draft.key(joint + 1));
    let is_figure = |proposal: &Proposal| {
        let bare = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        proposal.first == next && matches!(&proposal.action, Action::Write(text) if bare(text))
    };
    let written = proposals.iter().position(is_figure);
    if said_in_digits || written.is_some() && value >= FIRST_IN_DIGITS {
        proposals.push(number(draft.at(from), last, value.to_string()));
    } else if let Some(written) = written {
        proposals.remove(written);
    }
}

/// The hour at live word `i`, said with its half of the day as one word.
fn hour(draft: &Draft, i: usize) -> Option<Proposal> {
    let half = match draft.key_after(i) {
        "am" if !is_subject(draft.key(i + 2)) => 'a',
        "pm" => 'p',
        _ => return None,
    };
    let (hour, _) = cardinal(&[draft.key(i)]).filter(|(hour, _)| (1..=12).contains(hour))?;
    let near = draft.at(i) + 1 == draft.at(i + 1) && draft.pause(i) == Pause::None;
    near.then(|| number(draft.at(i), draft.at(i + 1), format!("{hour} {half}.m.")))
}

fn number(first: usize, last: usize, text: String) -> Proposal {
    Proposal { first, last, action: Action::Write(text), kind: EditKind::Number, confidence: 0.9 }
}
