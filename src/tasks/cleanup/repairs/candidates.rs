//! Where speech was interrupted, and every stretch that may have been taken back there.

use super::super::corrections::{self, Marker};
use super::super::draft::{Draft, Pause};
use super::super::lexicon::{is_function_word, words};

/// The longest stretch before the interruption that is looked at, in words.
const MAX_REPARANDUM: usize = 14;

/// A repair that is so many words shorter than what it would take back stands for a part of it.
const ELLIPSIS: usize = 2;
/// So many words of a repair are looked at.
const MAX_REPAIR: usize = 16;
/// So many words of content are what a pronoun of the repair may refer to.
const NAMED: usize = 2;

/// Phrases between the marker and the repair: "no sorry, tell me".
const LEADS: [&[&str]; 14] = [
    &["tell", "me"],
    &["just", "tell", "me"],
    &["rather", "tell", "me"],
    &["i", "want", "to", "know"],
    &["i", "wanted", "to", "know"],
    &["i", "wanted", "to", "ask"],
    &["i", "need", "to", "know"],
    &["i", "meant", "to", "ask"],
    &["i", "would", "like", "to", "know"],
    &["what", "i", "want", "to", "know", "is"],
    &["what", "i", "meant", "was"],
    &["let", "me", "ask"],
    &["not", "that"],
    &["that"],
];

/// A place where a speaker may have begun anew.
#[derive(Debug)]
pub(in super::super) struct Interruption {
    /// The first live word of the marker; where there is none, of the repair.
    pub from: usize,
    /// The first live word of the repair.
    pub to: usize,
    pub marker: Marker,
    /// What may be deleted: first live word, and one past the last.
    pub spans: Vec<(usize, usize)>,
    /// What the rules of `corrections` delete.
    pub by_rules: Option<(usize, usize)>,
}

/// Whether the repair from live word `to` on only makes sense with what it would take back, live words `start..from`: it
/// stands for a part of it ("how many bolts were in each box or rather how many nuts"), or refers to it ("when did the
/// printer break no sorry when was it bought").
fn loses_content(draft: &Draft, start: usize, from: usize, to: usize) -> bool {
    let most = draft.len().min(to + MAX_REPAIR);
    let end = (to..most).find(|&k| draft.pause(k) == Pause::Strong).map_or(most, |k| k + 1);
    let (length, rest) = (from - start, end - to);
    if length >= rest + ELLIPSIS {
        return true;
    }
    let refers = |key: &str| words!("he she it they him them his their its").contains(key);
    let mut again = to..end;
    let named = |i: usize| {
        let key = draft.key(i);
        !is_function_word(key) && key.len() > 2 && !(to..end).any(|k| draft.key(k) == key)
    };
    let new_reference = |k: usize| refers(draft.key(k)) && !(start..from).any(|i| draft.key(i) == draft.key(k));
    again.any(new_reference) && (start..from).filter(|&i| named(i)).count() >= NAMED
}

/// The interruptions of a draft, in its order.
pub(super) fn interruptions(draft: &Draft) -> Vec<Interruption> {
    let mut found: Vec<Interruption> = vec![];
    let mut i = 1;
    while i < draft.len() {
        let marked = corrections::marker_at(draft, i).filter(|marker| marker.to < draft.len());
        let Some(marker) = marked else {
            i += 1;
            continue;
        };
        let (from, to) = (marker.from, marker.to);
        let last = from - 1;
        let lowest = draft.sentence_start(last).max(from.saturating_sub(MAX_REPARANDUM));
        let mut ends = vec![to];
        ends.extend(
            LEADS
                .iter()
                .filter(|lead| draft.says(to, lead))
                .map(|lead| to + lead.len())
                .filter(|end| *end < draft.len()),
        );
        let keeps = |start: usize, end: usize| marker.whole || start == from || !loses_content(draft, start, from, end);
        let spans = ends.iter().flat_map(|&end| (lowest..=from).map(move |start| (start, end)));
        let spans = spans.filter(|&(start, end)| start < end && keeps(start, end));
        let by_rules = corrections::reparandum(draft, &marker).map(|start| (start, to));
        // What is left of the sentence would lack what the listener needs: better a repair too many than a fact too few.
        if by_rules.is_some_and(|(start, _)| !keeps(start, to)) {
            i = to.max(i + 1);
            continue;
        }
        // What more likely means something else is a marker only where the rules see a new beginning.
        // "no no no" only says no.
        let insists = draft.key(last) == draft.key(from) && draft.key(from) == "no";
        if (marker.faint && from < to || insists) && by_rules.is_none() {
            i += 1;
            continue;
        }
        found.push(Interruption { from, to, marker, spans: spans.collect(), by_rules });
        i = to.max(i + 1);
    }
    found
}
