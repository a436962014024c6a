//! Where speech was interrupted, and every stretch that may have been taken back there.

use super::super::corrections::{self, Marker};
use super::super::draft::Draft;

/// The longest stretch before the interruption that is looked at, in words.
const MAX_REPARANDUM: usize = 14;

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
        let spans = ends.iter().flat_map(|&end| (lowest..=from).map(move |start| (start, end))).filter(|(a, b)| a < b);
        let by_rules = corrections::reparandum(draft, &marker).map(|start| (start, to));
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
