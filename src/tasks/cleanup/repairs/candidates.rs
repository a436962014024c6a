//! Where speech was interrupted, and every stretch that may have been taken back there.

use super::super::corrections::{self, Marker};
use super::super::draft::{Draft, Pause};
use super::super::lexicon::{
    is_auxiliary, is_conjunction, is_determiner, is_function_word, is_month, is_number_word, is_preposition,
    is_pronoun, is_subject, is_weekday, is_wh, words,
};
use super::super::words::Shape;

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
    /// It is a time or a place that takes no preposition.
    is_adverb: bool,
    /// Its last word is "it": an object.
    ends_with_it: bool,
    /// Live words before it, the nearest first, and whether each is content that it does not say again.
    before: Vec<(&'a str, bool)>,
}

impl<'a> Needs<'a> {
    /// Of the repair from live word `to` on, with live words `lowest..from` before its marker.
    fn of(draft: &'a Draft, lowest: usize, from: usize, to: usize) -> Self {
        let most = draft.len().min(to + MAX_REPAIR);
        let end = (to..most).find(|&k| draft.pause(k) == Pause::Strong).map_or(most, |k| k + 1);
        let refers = |key: &&str| words!("he she it they them him his their its both these those ones").contains(key);
        let mut said: Vec<&str> = (to..end).map(|k| draft.key(k)).collect();
        let content = |key: &str| !is_function_word(key) && key.len() > 2 && !said.contains(&key);
        let before: Vec<(&str, bool)> = (lowest..from).rev().map(|i| (draft.key(i), content(draft.key(i)))).collect();
        let pronouns = said.iter().copied().filter(refers).collect();
        let is_adverb = is_adverb(draft.key(to));
        let ends_with_it = said.len() > 1 && said.last() == Some(&"it");
        // "combs not statocysts": what it is not stands for no word.
        let denied =
            |k: usize| said[k] == "not" && said.get(k + 1).is_some_and(|key| before.iter().any(|(old, _)| old == key));
        if let Some(not) = (1..said.len()).find(|&k| denied(k)) {
            said.truncate(not);
        }
        Self { length: said.len(), pronouns, is_adverb, ends_with_it, before }
    }

    /// Whether the repair only makes sense with the last `taken` words before it: it stands for a part of them ("how many
    /// bolts were in each box or rather how many nuts"), or refers to them ("when did the printer break no sorry when was it
    /// bought").
    fn are_in(&self, taken: usize) -> bool {
        let taken = &self.before[..taken.min(self.before.len())];
        let is_new = |pronoun: &&&str| !taken.iter().any(|(key, _)| key == *pronoun);
        // "expand the yards or rather connect them": an object may well be one word.
        let named = |pronoun: &str| match pronoun {
            "them" | "him" | "those" | "these" | "both" => 1,
            "it" if self.ends_with_it => 1,
            _ => NAMED,
        };
        let content = taken.iter().filter(|(_, content)| *content).count();
        // "increased based on or rather decreased": one word stands for one of its kind.
        let phrase = taken.len() == ELLIPSIS
            && self.length == 1
            && !self.is_adverb
            && taken.iter().any(|(key, _)| is_preposition(key) || is_conjunction(key) || is_auxiliary(key));
        taken.len() >= self.length + ELLIPSIS
            || phrase
            || self.pronouns.iter().filter(is_new).any(|pronoun| content >= named(pronoun))
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
        if goes_on(draft, &marker) {
            i = to.max(i + 1);
            continue;
        }
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
        // "scratch that" takes back all; "scratch that I mean" says instead of what.
        let whole = marker.whole && !matches!(draft.key(to - 1), "mean" | "meant");
        let lacks = |start: usize| {
            needs.are_in(from - start) || breaks_clause(draft, start, to) || loses(draft, start, from, to)
        };
        let keeps = |start: usize| whole || start == from || !lacks(start);
        let spans = ends.iter().flat_map(|&end| (lowest..=from).map(move |start| (start, end)));
        let spans = spans.filter(|&(start, end)| start < end && keeps(start));
        let by_rules = corrections::reparandum(draft, &marker).map(|start| {
            // "on monday no tomorrow": such a time takes no preposition.
            let joined = start > lowest && matches!(draft.key(start - 1), "on" | "at" | "in");
            (if is_adverb(draft.key(to)) && joined { start - 1 } else { start }, to)
        });
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

/// Words of a repair among which its verb is looked for.
const MAX_SUBJECT: usize = 5;
/// Words before a "no" among which another one makes the two a list.
const NEAR: usize = 6;

/// Whether what follows `marker` goes on with the sentence, whatever the words before.
fn goes_on(draft: &Draft, marker: &Marker) -> bool {
    let &Marker { from, to, .. } = marker;
    let (start, repair) = (draft.sentence_start(from - 1), draft.key(to));
    let said = |key: &str| (start..from).any(|i| draft.key(i) == key);
    // "no to the offer no to the job", "no milk no bread".
    let content = |key: &str| !is_function_word(key);
    let alike = |i: usize| draft.key(i + 1) == repair || content(draft.key(i + 1)) && content(repair);
    let denies = |i: usize| {
        let begins = i == start && alike(i)
            || i > start && !is_determiner(draft.key(i - 1)) && corrections::is_after_no(draft.key(i - 1));
        draft.key(i) == "no" && i + 1 < from && begins
    };
    let lists = to == from + 1
        && draft.key(from) == "no"
        && draft.pause(from) == Pause::None
        && !(is_weekday(repair) || is_month(repair) || is_number_word(repair) || is_wh(repair))
        && (start.max(from.saturating_sub(NEAR))..from).any(denies);
    // "buy milk I mean if you have time": unless there was an "if" before, or it asks.
    let asks = is_wh(repair) && is_auxiliary(draft.key(to + 1));
    let adds = draft.says(from, &["i", "mean"])
        && to == from + 2
        && (is_conjunction(repair) || matches!(repair, "unless" | "until" | "once" | "only"))
        && !(said(repair) || asks);
    // "wrong I mean not wrong but misleading".
    let contrasts = repair == "not" && (to + 1..to + MAX_SUBJECT).any(|i| draft.key(i) == "but");
    lists || adds || contrasts
}

/// Whether a sentence that goes on with live word `to` in place of what begins at live word `start` would be none: a unit
/// without its number's sense ("a hundred [percent wrong] …"), or a second verb for an object ("I want [the red one no] the
/// blue one was right").
fn breaks_clause(draft: &Draft, start: usize, to: usize) -> bool {
    let before = draft.key_before(start);
    let is_unit =
        |key: &str| matches!(key, "percent" | "dollars" | "euros" | "pounds" | "cents" | "hundred" | "thousand");
    if is_number_word(before) && is_unit(draft.key(start)) && !is_unit(draft.key(to)) && !is_number_word(draft.key(to))
    {
        return true;
    }
    let joins = |key: &str| {
        is_conjunction(key)
            || is_preposition(key)
            || is_wh(key)
            || is_pronoun(key)
            || is_auxiliary(key)
            || takes_clause(key)
    };
    if before.is_empty() || joins(before) || !is_determiner(draft.key(to)) || is_pronoun(draft.key(to)) {
        return false;
    }
    let subject = (draft.sentence_start(start)..start - 1).any(|i| is_subject(draft.key(i)));
    let mut rest = (to + 1..draft.len().min(to + 1 + MAX_SUBJECT)).take_while(|&i| draft.pause(i - 1) < Pause::Strong);
    let verb =
        rest.find(|&i| is_auxiliary(draft.key(i)) || is_wh(draft.key(i)) || matches!(draft.key(i), "that" | "and"));
    subject && verb.is_some_and(|i| is_auxiliary(draft.key(i)))
}

/// Times and places that take no preposition.
fn is_adverb(key: &str) -> bool {
    words!("today tomorrow tonight yesterday home here there").contains(key)
}

/// Whether a sentence that goes on with live word `to` in place of `start..from` would lack what only those said.
fn loses(draft: &Draft, start: usize, from: usize, to: usize) -> bool {
    let most = draft.len().min(to + MAX_REPAIR);
    let end = (to..most).find(|&k| draft.pause(k) == Pause::Strong).map_or(most, |k| k + 1);
    let said = |key: &str| (to..end).any(|k| draft.key(k) == key);
    let (first, repair, last) = (draft.key(start), draft.key(to), draft.key(end - 1));
    let sentence = draft.sentence_start(start);
    // "when does the small office open make that the large office": the verb came after what is replaced.
    let again = (start..from).rev().find(|&i| draft.key(i) == last && !is_function_word(last));
    let tail = again.is_some_and(|i| i + 1 < from && (i + 1..from).all(|k| !said(draft.key(k))));
    // "is a duty sorry not a duty".
    let verb = repair == "not" && is_auxiliary(first) && !said(first);
    // "in the United States no tell me when": half of a name.
    let capital = |i: usize| draft.word(i).shape == Shape::Capitalised;
    let name = start > sentence + 1
        && capital(start - 1)
        && capital(start)
        && draft.pause(start - 1) == Pause::None
        && draft.word(to).shape == Shape::Lower;
    // "in cases [of shared I mean] open access". A time or a place needs no preposition.
    let adverb = words!(
        "home here there today tomorrow tonight yesterday next last this every now later outside inside upstairs \
        downstairs abroad online"
    );
    let joins = is_preposition(repair) || is_wh(repair) || is_conjunction(repair) || adverb.contains(repair);
    let preposition = start > sentence && from - start > 1 && is_preposition(first) && !joins && !said(first);
    tail || verb || name || preposition
}

/// Verbs and the like after which a clause may stand without "that".
fn takes_clause(key: &str) -> bool {
    words!(
        "think thinks thought guess know knows knew say says said hope hopes hoped believe believes feel feels felt hear \
        heard see saw find found sure suppose bet wish tell told mean means ask asked wonder"
    )
    .contains(key)
}
