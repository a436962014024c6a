//! How far a task goes: to the end of its clause, with what was corrected on the way left out.

use super::candidates::{Opening, needless, opens_object};
use super::clauses::{Pause, Token};
use super::cues::{cue_at, is_adverb, phrase_end};
use super::imperative::{Object, imperative, is_verb_like, right_of};
use super::syntax::{
    Keys, is_connector, is_finite, is_interjection, is_name, is_subordinator, opens_clause, subject_is_finite,
};
use super::times::{are_alike, time_phrase};
use super::verbs::{Verb, is_purpose, leads_to_purpose, verb as verb_of};
use crate::tasks::cleanup::lexicon::{
    is_auxiliary, is_conjunction, is_determiner, is_function_word, is_preposition, is_pronoun, is_subject,
};

/// The most words in a task.
const MAX_WORDS: usize = 32;

/// The tokens of a task.
#[derive(Debug, Default)]
pub(super) struct Extent {
    /// The tokens of each task, in the order of speech. More than one where a verb serves several objects.
    pub parts: Vec<Vec<usize>>,
    /// The first token after it all.
    pub next: usize,
    /// Whether the speaker took it back at once.
    pub taken_back: bool,
    /// Whether the speaker began again with another lead-in: the task at `next` stands for this one.
    pub renewed: bool,
}

/// The extent of the task whose first word is token `verb`.
pub(super) fn extent(tokens: &[Token], verb: usize) -> Extent {
    let keys = Keys(tokens);
    let mut part = vec![verb];
    let mut j = verb + 1;
    // The first token of a second object with a time of its own.
    let mut gap = None;
    let done = |part: Vec<usize>, next, gap: Option<usize>| Extent {
        taken_back: is_denied(keys, &part),
        parts: split(tokens, part, gap),
        next,
        ..Extent::default()
    };
    while j < tokens.len() && part.len() < MAX_WORDS {
        let before = &tokens[j - 1];
        if before.pause == Pause::Strong {
            // What takes a task back may stand in the next sentence; the scan sees to that.
            return done(part, j, gap);
        }
        match correction(tokens, &part, j) {
            Some(Correction::TakenBack { next }) => {
                return Extent { parts: vec![part], next, taken_back: true, renewed: false };
            }
            Some(Correction::Renewed { next }) => {
                return Extent { parts: vec![part], next, taken_back: false, renewed: true };
            }
            Some(Correction::Replaced { keep, next }) => {
                part.truncate(keep);
                gap = gap.filter(|&from| part.contains(&from));
                if part.is_empty() {
                    part.push(next);
                    j = next + 1;
                } else {
                    j = next;
                }
                continue;
            }
            None => {}
        }
        if before.pause > Pause::None && !goes_on_after_comma(tokens, j, verb) {
            return done(part, j, gap);
        }
        let key = keys.at(j);
        if key == "and" || key == "or" || key == "&" {
            match after_and(tokens, j, verb) {
                After::End => return done(part, j, gap),
                After::Gap => {
                    gap = gap.or(Some(j + 1));
                    part.push(j);
                    j += 1;
                    continue;
                }
                After::Object(next) => {
                    part.extend(j..next);
                    j = next;
                    continue;
                }
            }
        }
        if ends_before(tokens, &part, j, verb) {
            return done(part, j, gap);
        }
        if !matches!(key, "please" | "basically" | "literally" | "honestly") && !is_slip(tokens, j) {
            part.push(j);
        }
        j += 1;
    }
    done(part, j, gap)
}

/// "text Ben, not Ben": whether the last word takes an earlier one back.
fn is_denied(keys: Keys, part: &[usize]) -> bool {
    let [before @ .., not, word] = part else { return false };
    keys.at(*not) == "not" && before.iter().any(|&k| keys.at(k) == keys.at(*word))
}

/// Whether token `j` repeats the word before it by slip.
fn is_slip(tokens: &[Token], j: usize) -> bool {
    let keys = Keys(tokens);
    keys.at(j) == keys.at(j - 1) && is_function_word(keys.at(j))
}

/// Whether the clause of the task ends before token `j`.
fn ends_before(tokens: &[Token], part: &[usize], j: usize, verb: usize) -> bool {
    let keys = Keys(tokens);
    let (before, key, next) = (keys.at(j - 1), keys.at(j), keys.at(j + 1));
    let subordinate = is_subordinator(before);
    if cue_at(tokens, j, false).is_some() && !subordinate && !is_auxiliary(before) {
        return true;
    }
    let reminder = [&["don't", "let", "me"][..], &["don't", "forget"]];
    if reminder.iter().any(|words| phrase_end(tokens, j, words).is_some()) {
        return true;
    }
    match key {
        "but" | "because" | "cos" | "'cause" | "so" | "though" | "although" | "whereas" | "then" | "also" | "plus"
        | "otherwise" | "which" | "since" => return true,
        "cause" if opens_clause(tokens, j + 1, j) => return true,
        "as" if matches!(next, "i" | "we" | "he" | "she" | "they" | "it's") => return true,
        "right" => return before != "the" && before != "turn" && opens_clause(tokens, j + 1, verb),
        "well" if before == "as" => return false,
        "who" if next == "knows" => return true,
        "no" if opens_object(before) || is_preposition(before) || j == verb + 1 => return false,
        "now" => return opens_clause(tokens, j + 1, verb) || next.is_empty(),
        "actually" | "please" | "basically" | "honestly" => return opens_clause(tokens, j + 1, verb),
        "after" if next == "that" && !opens_clause(tokens, j + 1, verb) => return true,
        _ if is_interjection(key) => return true,
        _ => {}
    }
    if opens_clause(tokens, j, verb) {
        return true;
    }
    // "buy stamps post the parcel": a list without commas.
    let causes = matches!(keys.at(verb), "let" | "help" | "make" | "watch" | "see" | "have");
    let settled = part.len() >= 2 && (!is_function_word(before) || matches!(before, "it" | "them" | "him" | "her"));
    let bare_ok = verb_of(key) == Some(Verb::Clear) && !is_adverb(before);
    // "while I still remember them"
    let told = is_adverb(before) && is_subject(keys.at(j.saturating_sub(2)));
    settled
        && !causes
        && !told
        && !is_name(tokens, j)
        && !is_determiner(keys.at(j.saturating_sub(2))) | is_plural_or_name(tokens, j - 1) | !is_marked_noun(tokens, j)
        && imperative(tokens, j, Opening::List).is_some()
        && (right_of(tokens, j) == Some(Object::Marked) || bare_ok)
}

fn is_plural_or_name(tokens: &[Token], j: usize) -> bool {
    is_name(tokens, j) || Keys(tokens).at(j).ends_with('s')
}

/// Whether token `j` can be a noun whose article stands two words before it: "the garden centre".
fn is_marked_noun(tokens: &[Token], j: usize) -> bool {
    verb_of(Keys(tokens).at(j)) == Some(Verb::Ambiguous) && right_of(tokens, j) != Some(Object::Marked)
}

/// Whether the task goes on at token `j`, after a comma, a dash or a colon.
fn goes_on_after_comma(tokens: &[Token], j: usize, verb: usize) -> bool {
    let keys = Keys(tokens);
    let key = keys.at(j);
    if tokens[j - 1].pause == Pause::Colon {
        return false;
    }
    if is_preposition(key) || time_phrase(tokens, j).is_some() || matches!(key, "if" | "unless" | "when" | "not") {
        return true;
    }
    if matches!(key, "and" | "or") {
        return matches!(after_and(tokens, j, verb), After::Object(_) | After::Gap);
    }
    if is_conjunction(key)
        || is_connector(key)
        || is_interjection(key)
        || cue_at(tokens, j, true).is_some()
        || imperative(tokens, j, Opening::List).is_some()
        || opens_clause(tokens, j, j)
        || matches!(key, "i" | "he" | "she" | "we" | "they" | "it" | "you" | "which" | "who" | "what")
    {
        return false;
    }
    // One more object: a short noun phrase without a verb of its own.
    let run = |&k: &usize| k == j || tokens.get(k - 1).is_some_and(|token| token.pause == Pause::None);
    !(j..j + 4).take_while(run).any(|k| is_finite(keys.at(k)))
}

enum After {
    /// Another clause.
    End,
    /// One more object, or a purpose: the tokens up to this one are the task's.
    Object(usize),
    /// Another object with a time of its own.
    Gap,
}

/// What "and" at token `j` joins to the task.
fn after_and(tokens: &[Token], j: usize, verb: usize) -> After {
    let keys = Keys(tokens);
    let mut k = j + 1;
    loop {
        if is_adverb(keys.at(k)) || matches!(keys.at(k), "then" | "also" | "later" | "finally" | "afterwards") {
            k += 1;
        } else if keys.at(k) == "after" && keys.at(k + 1) == "that" {
            k += 2;
        } else {
            break;
        }
    }
    let timed = time_phrase(tokens, k)
        .filter(|&end| cue_at(tokens, end, true).is_some() || imperative(tokens, end, Opening::List).is_some());
    if k >= tokens.len() || timed.is_some() || cue_at(tokens, k, true).is_some() {
        return After::End;
    }
    if imperative(tokens, k, Opening::List).is_some() || (is_verb_like(tokens, k) && !is_name(tokens, j - 1)) {
        let purpose = k == j + 1 && leads_to_purpose(keys.at(verb)) && is_purpose(keys.at(k));
        return if purpose { After::Object(k + 1) } else { After::End };
    }
    let next = keys.at(k);
    let clause = opens_clause(tokens, k, verb)
        || (is_determiner(next) && subject_is_finite(tokens, k))
        || matches!(next, "i" | "he" | "she" | "we" | "they" | "it" | "you" | "there" | "maybe")
        || is_interjection(next)
        || is_conjunction(next) && !matches!(next, "that")
        || is_finite(next)
        || is_finite(keys.at(k + 1)) && !is_preposition(next);
    if clause || k > j + 1 && !is_determiner(next) {
        return After::End;
    }
    if gapped(tokens, j, k) { After::Gap } else { After::Object(j + 1) }
}

/// Whether both sides of "and" at token `j` end in a time of their own: "the rent on the first and the tax on the third".
fn gapped(tokens: &[Token], j: usize, k: usize) -> bool {
    let keys = Keys(tokens);
    let time_before = (j.saturating_sub(4)..j).any(|n| is_preposition(keys.at(n)) && time_phrase(tokens, n) == Some(j));
    let time_after = (k + 1..k + 6)
        .take_while(|&n| tokens.get(n - 1).is_some_and(|token| token.pause == Pause::None))
        .any(|n| is_preposition(keys.at(n)) && time_phrase(tokens, n).is_some());
    time_before && time_after && time_phrase(tokens, k).is_none() && !is_preposition(keys.at(k))
}

/// One task, or two where the second object has a time of its own; junk at the ends goes.
fn split(tokens: &[Token], part: Vec<usize>, gap: Option<usize>) -> Vec<Vec<usize>> {
    let cut = gap.and_then(|from| part.iter().position(|&k| k == from));
    let parts = match cut {
        Some(cut) => {
            let (first, second) = part.split_at(cut);
            let second: Vec<_> = part[..1].iter().chain(second).copied().collect();
            vec![first.to_vec(), second]
        }
        None => vec![part],
    };
    parts.into_iter().map(|part| trim(tokens, without_lead_in(tokens, part))).collect()
}

/// "Don't let me forget the key" → "Don't forget the key".
fn without_lead_in(tokens: &[Token], mut part: Vec<usize>) -> Vec<usize> {
    let keys = Keys(tokens);
    if part.len() > 3 && (keys.at(part[0]), keys.at(part[1]), keys.at(part[3])) == ("don't", "let", "forget") {
        part.drain(1..3);
    }
    part
}

/// Words that lead to something that did not come.
fn trim(tokens: &[Token], mut part: Vec<usize>) -> Vec<usize> {
    let keys = Keys(tokens);
    // "look into that": what it is was said before.
    let points = part.len() > 2
        && part.last().is_some_and(|&k| keys.at(k) == "that")
        && matches!(keys.at(part[part.len() - 2]), "into" | "with" | "about" | "on" | "at" | "for" | "of");
    while part.len() > 1
        && !points
        && part.last().is_some_and(|&k| {
            let key = keys.at(k);
            (is_determiner(key) && !is_pronoun(key))
                || matches!(key, "and" | "then" | "also" | "plus" | "so" | "but" | "or" | "&")
                || is_interjection(key)
                || is_adverb(key)
                || matches!(
                    key,
                    "too" | "like" | "that" | "i" | "as" | "because" | "to" | "if" | "when" | "while" | "sorry"
                )
        })
        && keys.at(part[part.len() - 1]) != "well"
    {
        part.pop();
    }
    part
}

enum Correction {
    TakenBack {
        next: usize,
    },
    Renewed {
        next: usize,
    },
    /// The first `keep` tokens of the task stand; it goes on at `next`.
    Replaced {
        keep: usize,
        next: usize,
    },
}

/// What a marker at token `j` does to the words of the task before it.
fn correction(tokens: &[Token], part: &[usize], j: usize) -> Option<Correction> {
    const TAKE_BACK: [&[&str]; 11] = [
        &["no", "scratch", "that"],
        &["scratch", "that"],
        &["never", "mind"],
        &["nevermind"],
        &["no", "forget", "that"],
        &["no", "forget", "it"],
        &["forget", "it"],
        &["forget", "that"],
        &["cancel", "that"],
        &["strike", "that"],
        &["no", "never", "mind"],
    ];
    const MARKERS: [&[&str]; 20] = [
        &["oh", "no", "wait"],
        &["oh", "wait", "no"],
        &["no", "wait", "sorry"],
        &["no", "wait"],
        &["wait", "no"],
        &["no", "sorry"],
        &["sorry", "no"],
        &["sorry", "i", "mean"],
        &["no", "i", "mean"],
        &["i", "mean"],
        &["i", "meant"],
        &["no", "actually"],
        &["actually", "no"],
        &["or", "rather"],
        &["no", "make", "that"],
        &["make", "that"],
        &["no", "make", "it"],
        &["sorry"],
        &["actually"],
        &["no"],
    ];
    let keys = Keys(tokens);
    // "actually never mind"
    let lead = if matches!(keys.at(j), "actually" | "oh" | "wait" | "hmm") { j + 1 } else { j };
    if let Some(next) = TAKE_BACK.iter().find_map(|words| phrase_end(tokens, lead, words)) {
        return Some(Correction::TakenBack { next });
    }
    if let Some(next) = needless(tokens, j) {
        return Some(Correction::TakenBack { next });
    }
    let (words, next) = MARKERS.iter().find_map(|words| Some((*words, phrase_end(tokens, j, words)?)))?;
    if next >= tokens.len() {
        return None;
    }
    let firm = !matches!(words, ["no"] | ["sorry"] | ["actually"] | ["i", "mean"]);
    if cue_at(tokens, next, false).is_some() {
        return (firm || words == ["i", "mean"]).then_some(Correction::Renewed { next });
    }
    let first = keys.at(next);
    let alike = |k: &usize| {
        are_alike(keys.at(*k), first)
            || (is_name(tokens, *k) && is_name(tokens, next) && time_phrase(tokens, *k).is_none())
    };
    let keep = part
        .iter()
        .rposition(|&k| keys.at(k) == first)
        .or_else(|| part.iter().rposition(alike))
        .or_else(|| {
            // "buy lemons, sorry, get limes"
            let verb = verb_of(first).is_some() && right_of(tokens, next) == Some(Object::Marked);
            (verb && words != ["no"] && words != ["actually"]).then_some(0)
        })
        .or_else(|| {
            // "with Jo, no, from Ana": one preposition for another.
            let swap = is_preposition(first) && words.len() == 1;
            swap.then(|| part.iter().rposition(|&k| is_preposition(keys.at(k)))).flatten()
        });
    match keep {
        Some(keep) => Some(Correction::Replaced { keep, next }),
        None if firm || matches!(words, ["sorry"] | ["i", "mean"]) => {
            // "the blue sorry the green one" has been found above; here one word stands for the last noun phrase.
            let replaces =
                is_determiner(first).then(|| part.iter().rposition(|&k| is_determiner(keys.at(k)))).flatten();
            let last = part.len().checked_sub(1).filter(|&last| last > 0 && !is_function_word(first));
            let keep = replaces.filter(|&keep| keep > 0).or(last)?;
            let clause = opens_clause(tokens, next, next);
            (!clause).then_some(Correction::Replaced { keep, next })
        }
        None => None,
    }
}
