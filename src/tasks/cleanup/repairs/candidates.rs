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

/// What a repair needs of the words that it would take back.
struct Needs<'a> {
    /// Its words, at most [`MAX_REPAIR`].
    length: usize,
    /// The pronouns in it.
    pronouns: Vec<&'a str>,
    /// Live words before it, the nearest first, and whether each is content that it does not say again.
    before: Vec<(&'a str, bool)>,
}

impl<'a> Needs<'a> {
    /// Of the repair from live word `to` on, with live words `lowest..from` before its marker.
    fn of(draft: &'a Draft, lowest: usize, from: usize, to: usize) -> Self {
        let most = draft.len().min(to + MAX_REPAIR);
        let end = (to..most).find(|&k| draft.pause(k) == Pause::Strong).map_or(most, |k| k + 1);
        let refers = |key: &&str| words!("he she it they him them his their its").contains(key);
        let said: Vec<&str> = (to..end).map(|k| draft.key(k)).collect();
        let content = |key: &str| !is_function_word(key) && key.len() > 2 && !said.contains(&key);
        let before = (lowest..from).rev().map(|i| (draft.key(i), content(draft.key(i)))).collect();
        Self { length: said.len(), pronouns: said.iter().copied().filter(refers).collect(), before }
    }

    /// Whether the repair only makes sense with the last `taken` words before it: it stands for a part of them ("how many
    /// bolts were in each box or rather how many nuts"), or refers to them ("when did the printer break no sorry when was it
    /// bought").
    fn are_in(&self, taken: usize) -> bool {
        let taken = &self.before[..taken.min(self.before.len())];
        let is_new = |pronoun: &&str| !taken.iter().any(|(key, _)| key == pronoun);
        taken.len() >= self.length + ELLIPSIS
            || self.pronouns.iter().any(is_new) && taken.iter().filter(|(_, content)| *content).count() >= NAMED
    }
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
        let needs = Needs::of(draft, lowest, from, to);
        let keeps = |start: usize| marker.whole || start == from || !needs.are_in(from - start);
        let spans = ends.iter().flat_map(|&end| (lowest..=from).map(move |start| (start, end)));
        let spans = spans.filter(|&(start, end)| start < end && keeps(start));
        let by_rules = corrections::reparandum(draft, &marker).map(|start| (start, to));
        // What is left of the sentence would lack what the listener needs: better a repair too many than a fact too few.
        if by_rules.is_some_and(|(start, _)| !keeps(start)) {
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
