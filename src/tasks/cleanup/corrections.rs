//! What a speaker takes back, where a marker says so: "tuesday no wait wednesday".
//!
//! ```text
//! let's meet  tuesday      no wait   wednesday
//!             reparandum   marker    repair
//! ```
//!
//! A marker is a run of cues, each with a weight. How far back the reparandum goes is read off the repair: it begins with
//! the same word, asks another question, or is of the same class (a number, a day, a name, an article). Where nothing
//! tells, nothing is taken back: the weaker the marker, the stronger the evidence that it needs.

use super::draft::{Action, Draft, Fate, Pause, Proposal};
use super::edit::EditKind;
use super::lexicon::{
    holds, is_auxiliary, is_colour, is_conjunction, is_determiner, is_function_word, is_month, is_number_word,
    is_preposition, is_pronoun, is_subject, is_weekday, is_wh, words,
};
use super::words::Shape;

/// The longest reparandum, in words.
const MAX_REPARANDUM: usize = 12;
/// The longest beginning that "let me start again" takes back.
const MAX_RESTART: usize = 25;

/// A phrase that takes back what came before, and how surely it does: 1 is a word of many other uses, 3 needs no help.
struct Cue {
    phrase: &'static [&'static str],
    weight: u8,
    /// Words before it with which it means something else.
    not_after: &'static str,
    /// Words after it with which it means something else.
    not_before: &'static str,
}

const fn cue(phrase: &'static [&'static str], weight: u8, not_after: &'static str, not_before: &'static str) -> Cue {
    Cue { phrase, weight, not_after, not_before }
}

/// Longer phrases come before their beginnings.
static CUES: [Cue; 41] = [
    cue(&["i", "meant", "to", "say"], 3, "", ""),
    cue(&["i", "meant", "to", "ask"], 3, "", ""),
    cue(&["i", "should", "say"], 3, "what think", "that something"),
    cue(&["let", "me", "rephrase", "that"], 3, "", ""),
    cue(&["let", "me", "rephrase"], 3, "", ""),
    cue(&["let", "me", "ask"], 1, "", "you him her them a the"),
    cue(&["here's", "the", "thing"], 1, "", ""),
    cue(&["scratch", "that"], 3, SAID_TO_DO, "off out from itch surface one and"),
    cue(&["strike", "that"], 1, SAID_TO_DO, "off out from balance chord pose"),
    cue(
        &["make", "that"],
        2,
        "to please can could will would you we they i and not don't should must might let's",
        "appointment call happen work clear decision change mistake a easier easy possible up into available could can was \
        is are will would may might",
    ),
    cue(&["i", "mean"], 2, "what which do did know if how that's whatever as", "it that to business well by what"),
    cue(&["i", "meant"], 3, "what which that's how as is", "it that to well for by what"),
    cue(&["i", "guess"], 1, "what so", "so that it we i"),
    cue(&["hold", "on"], 2, "to please and can you the my a his her", "to for a the tight one"),
    cue(&["wait", "a", "minute"], 3, "to please just and can could you", "or and for before then"),
    cue(&["wait", "a", "second"], 3, "to please just and can could you", "or and for before then"),
    cue(&["never", "mind"], 1, "", "the that about a if"),
    cue(&["better", "yet"], 1, "", ""),
    cue(&["excuse", "me"], 1, "to please", "for while if"),
    cue(&["pardon", "me"], 1, "to please", "for while if"),
    cue(&["my", "mistake"], 3, "was is by of made about for admit fix", "was is and in of"),
    cue(&["my", "bad"], 2, "was is of in with for and", "mood day knee back luck habits habit news"),
    cue(
        &["correction"],
        3,
        "a the this that every no of for with price market error one any my your colour color self",
        "of to fluid in for is was made needed",
    ),
    cue(
        &["wait"],
        2,
        "to please can't cannot and you must should i we they can will just let's long the a don't didn't could \
        would he she i'll we'll never short not",
        "for until till and a to time times list there here in on while before longer your outside",
    ),
    cue(
        &["sorry"],
        2,
        "i'm am is are was were so very really feel felt be been say said says saying feeling terribly we're \
        he's she's they're not too truly a the you're it's",
        "for about to that if state but",
    ),
    cue(&["i'm", "sorry"], 0, "", "for about to that if but i you he she we they it"),
    cue(&["oops"], 2, "an the said big", ""),
    cue(
        &["rather"],
        2,
        "would i'd we'd you'd they'd he'd she'd but much is was are were am a the be been seems feel had it's \
        i'm he's she's or not",
        "than not",
    ),
    cue(&["nope"], 2, "said a", ""),
    cue(
        &["no"],
        1,
        NO_AFTER,
        "longer one more matter idea doubt problem way need other such less better worse sense reason chance \
        time point good big thanks thank fewer use and or later sooner earlier nothing never nobody not new \
        yes more clue shame doubt wonder kidding joke man",
    ),
    cue(
        &["actually"],
        1,
        "is was are were am can could do does did has have had i we they you he she it who that to i'm it's \
        what will would not and but so because",
        "",
    ),
    cue(&["tell", "me"], 1, "to please can could would will don't didn't and you they must let not everything", ""),
    cue(&["just", "tell", "me"], 1, "", ""),
    cue(&["first", "tell", "me"], 1, "", ""),
    cue(&["instead"], 1, "and but me him her us them you it this that", "of"),
    cue(&["oh"], 0, "and but said zero point", "well my boy god yes yeah i right dear he she we they"),
    cue(
        &["well"],
        0,
        "as very so too pretty quite really going went goes is was be not feel it them all might may oil the a \
        doing works",
        "known done past before after being and",
    ),
    cue(&["or"], 1, "", ""),
    cue(&["nah"], 1, "said", ""),
    cue(&["more", "like"], 0, "look looks looked is was are sound sounds be feel feels", ""),
    cue(&["that", "is"], 0, "", ""),
];

/// Words after which a verb is the sentence's own: "please scratch that", "and scratch that off the list".
const SAID_TO_DO: &str =
    "to please can could should and you we they i let's must don't not will would just they'll i'll we'll";

/// Words after which "no" is a determiner, an answer that is reported, or part of a phrase.
const NO_AFTER: &str = "say said says saying have has had having is are was were there's with of got get gets make makes made \
        see saw in by at under to for on be been and but so yes or it's that's he's she's they're i'm we're if \
        why because that than from need needs take takes give gives show shows leave leaves find finds found \
        know want absolutely definitely oh big a the this as through i've we've they've you've contains \
        contain means mean think hear heard almost practically virtually do did does will would can could \
        ain't vote votes voted";

/// Whether "no" after `key` says that there is none, or that somebody refused.
pub(super) fn is_after_no(key: &str) -> bool {
    holds(NO_AFTER, key)
}

/// A run of cues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marker {
    /// The live words of the run.
    pub from: usize,
    /// One past the last; the repair begins here.
    pub to: usize,
    /// The sum of the cues' weights, and 1 more where pauses set the run off.
    pub weight: u8,
    /// It takes back a whole sentence, whatever the repair: "scratch that".
    pub whole: bool,
    /// Only a filler, or a cue that more likely means something else: nothing but a new beginning makes it a marker.
    pub faint: bool,
}

/// Proposes to delete what a speaker announces to say again from the beginning of the sentence.
pub(super) fn propose(draft: &Draft) -> Vec<Proposal> {
    taken_back(draft, restart_at)
}

/// What is taken back: from one word to before another, and how sure that is.
pub(super) type TakenBack = (usize, usize, f32);

/// Proposes to delete what `find` finds at a word of an English text. The search goes on behind it.
pub(super) fn taken_back(draft: &Draft, find: fn(&Draft, usize) -> Option<TakenBack>) -> Vec<Proposal> {
    if !draft.is_english() {
        return vec![];
    }
    let mut proposals = vec![];
    let mut i = 0;
    while i < draft.len() {
        let Some((from, to, confidence)) = find(draft, i).filter(|(from, to, _)| from < to) else {
            i += 1;
            continue;
        };
        let (first, last) = (draft.at(from), draft.at(to - 1));
        proposals.push(Proposal { first, last, action: Action::Delete, kind: EditKind::Correction, confidence });
        i = to.max(i + 1);
    }
    proposals
}

/// "let me start again": the beginning of the sentence is taken back. Gives its first word and the repair's.
fn restart_at(draft: &Draft, i: usize) -> Option<TakenBack> {
    const PHRASES: [&[&str]; 6] = [
        &["let", "me", "start", "again"],
        &["let", "me", "start", "over"],
        &["let", "me", "try", "again"],
        &["let", "me", "try", "that", "again"],
        &["let", "me", "say", "that", "again"],
        &["let", "me", "start", "that", "again"],
    ];
    if draft.key(i) != "let" {
        return None;
    }
    let phrase = PHRASES.iter().find(|phrase| draft.says(i, phrase))?;
    let to = i + phrase.len();
    let mut from = i;
    while from > 0
        && matches!(draft.key(from - 1), "actually" | "no" | "wait" | "sorry" | "okay" | "well" | "oh" | "so")
        && draft.pause(from - 1) < Pause::Strong
    {
        from -= 1;
    }
    // "let me start again" as its own sentence takes back the one before.
    let start =
        draft.sentence_start(from.saturating_sub(usize::from(from > 0 && draft.pause(from - 1) == Pause::Strong)));
    if to >= draft.len() || from == start || from - start > MAX_RESTART {
        return None;
    }
    Some((start, to, 0.9))
}

/// The run of cues that begins at live word `i`.
pub(super) fn marker_at(draft: &Draft, i: usize) -> Option<Marker> {
    if i == 0 {
        return None;
    }
    let (mut to, mut weight, mut cues, mut whole, mut doubtful) = (i, 0, 0, false, false);
    while to < draft.len() {
        let Some(cue) = cue_at(draft, to) else { break };
        let end = to + cue.phrase.len();
        let goes_on = cue_at(draft, end).is_some_and(|next| next.weight > 0);
        // "oh" and "well" say nothing alone, but "oh no" does.
        if cues == 0 && cue.weight == 0 && !goes_on {
            break;
        }
        // Inside a run the cue before it is no context, and neither is what a pause sets off.
        let (before, after) = (draft.key_before(to), draft.key_after(end - 1));
        let heard_apart = draft.pause(to - 1) == Pause::Weak && !is_verb_of_speech(before);
        let defines = matches!(cue.phrase, ["i", "mean" | "meant"]) && defines_a_word(draft, to);
        let means_else = cues == 0 && (!heard_apart && holds(cue.not_after, before) || defines);
        // "to john sorry to jane", "ten minutes no more like twenty"
        let regret = after == "to"
            && words!("bother hear say interrupt disturb be see keep ask trouble miss disappoint inform learn have")
                .contains(draft.key(end + 1));
        let again = is_preposition(after) && !regret && to >= 2 && draft.key(to - 2) == after;
        let nearer = after == "more" && draft.key(end + 1) == "like";
        // "where can oops I mean what does it weigh"
        let asks = cues > 0 && is_wh(after) && (draft.sentence_start(i - 1)..i).take(2).any(|k| is_wh(draft.key(k)));
        doubtful |= means_else || holds(cue.not_before, after) && !(goes_on || again || nearer || asks);
        if doubtful && cues > 0 {
            doubtful = false;
            break;
        }
        // Workers strike a factory; nobody scratches one. A pause tells the two apart.
        let pauses = draft.pause(to - 1).max(draft.pause(end - 1)) > Pause::None;
        whole |= cue.phrase[0] == "scratch" || cue.phrase[0] == "strike" && pauses;
        weight += cue.weight;
        cues += 1;
        to = end;
        if doubtful || draft.pause(to - 1) == Pause::Strong {
            break;
        }
    }
    if cues == 1 && draft.says(i, &["i", "mean"]) && explains(draft, i, to) {
        return None;
    }
    if cues == 1 && words!("no nope nah").contains(draft.key(i)) && answers(draft, i, to) {
        return None;
    }
    // "before we close er tell me a joke" asks for one.
    if cues == 1 && draft.says(i, &["tell", "me"]) && !is_wh(draft.key(to)) {
        return None;
    }
    let filler_before = follows_filler(draft, i);
    let alone = cues == 1 && draft.key(i) == "or";
    if cues == 0 || alone && !doubtful {
        let (to, bare) = if alone { (to, !follows_filler(draft, to)) } else { (i, !filler_before) };
        // "or" alone joins alternatives, unless the first one was cut off.
        let cut_off = alone && is_cut_off(draft.key(i - 1));
        return (!bare || cut_off).then_some(Marker { from: i, to, weight: 1, whole: false, faint: true });
    }
    let set_off = draft.pause(i - 1) == Pause::Weak && draft.pause(to - 1) == Pause::Weak;
    weight += u8::from(set_off) + u8::from(filler_before || follows_filler(draft, to));
    Some(Marker { from: i, to, weight, whole, faint: doubtful })
}

/// "By a sprint I mean two weeks of work."
fn defines_a_word(draft: &Draft, i: usize) -> bool {
    let start = draft.sentence_start(i);
    (start..i).rev().take(6).any(|k| draft.key(k) == "by")
}

/// Whether "I mean", live words `from..to`, only opens what explains the clause before it: "this afternoon I mean if you have
/// the time", "it's small I mean it's really tiny".
fn explains(draft: &Draft, from: usize, to: usize) -> bool {
    let (last, first, second) = (draft.key(from - 1), draft.key(to), draft.key(to + 1));
    let joins =
        |key: &str| words!("if because since although though unless until whereas whenever cause").contains(key);
    if is_cut_off(last) || is_preposition(last) || joins(last) || is_conjunction(last) {
        return false;
    }
    let doubles = words!("really very quite pretty so too absolutely totally completely extremely").contains(first);
    let begins = words!("when while where as").contains(first) && (is_subject(second) || is_determiner(second));
    let stem = first.split(['\'', '’']).next().unwrap_or(first);
    let is_clause = is_subject(stem) || words!("there there's that's here's let's").contains(first);
    // "he went to paris I mean he went to london", "we should I mean we could", "if you come I mean if you can come": what says
    // the same again is a repair.
    let start = draft.sentence_start(from - 1).max(from.saturating_sub(MAX_REPARANDUM));
    let again = |k: usize| draft.key(k) == first && (from - k <= 2 || k + 1 < from && draft.key(k + 1) == second);
    (doubles || joins(first) || begins || is_clause && !second.is_empty()) && (doubles || !(start..from).any(again))
}

/// Whether "no", live words `from..to`, answers the question before it: "can we park here no you can't park here".
fn answers(draft: &Draft, from: usize, to: usize) -> bool {
    let stem = draft.key(to).split(['\'', '’']).next().unwrap_or_default();
    let asks = is_auxiliary(draft.key(draft.sentence_start(from - 1)));
    asks && (is_subject(stem) || stem == "there") && !is_cut_off(draft.key(from - 1))
}

/// The cue that is said at live word `i`.
fn cue_at(draft: &Draft, i: usize) -> Option<&'static Cue> {
    let key = draft.key(i);
    CUES.iter().find(|cue| cue.phrase[0] == key && draft.says(i, cue.phrase))
}

fn is_verb_of_speech(key: &str) -> bool {
    words!("say said says saying answered replied asked like went").contains(key)
}

/// Whether a clause cannot end with `key`.
fn is_cut_off(key: &str) -> bool {
    is_auxiliary(key)
        || is_wh(key)
        || is_determiner(key) && !is_pronoun(key)
        || matches!(key, "of" | "from" | "into" | "with")
}

/// Whether a deleted filler stands between live word `i - 1` and live word `i`.
fn follows_filler(draft: &Draft, i: usize) -> bool {
    if i == 0 || i >= draft.len() {
        return false;
    }
    (draft.at(i - 1) + 1..draft.at(i)).any(|k| matches!(draft.fates[k], Fate::Drop { kind: EditKind::Filler, .. }))
}

/// The first word of what `marker` takes back.
pub(super) fn reparandum(draft: &Draft, marker: &Marker) -> Option<usize> {
    let &Marker { from, to, weight, .. } = marker;
    let crosses = draft.pause(from - 1) == Pause::Strong;
    let start = draft.sentence_start(from - 1);
    let lowest = start.max(from.saturating_sub(MAX_REPARANDUM));
    if to >= draft.len() || start >= from {
        return None;
    }
    let repair = draft.key(to);
    // After the end of a sentence only a fragment can be a repair, unless the marker needs no help.
    if crosses && weight < 3 && !is_fragment(draft, to) {
        return None;
    }
    let evidence = [same_class, same_question, same_word, same_ending, same_part_of_speech, same_kind_of_name];
    if let Some(found) = evidence.iter().find_map(|find| find(draft, lowest, marker)) {
        return Some(found);
    }
    if marker.faint {
        return None;
    }
    let content = |key: &str| !is_function_word(key) && !is_number_word(key);
    // "scratch that" takes back the sentence, unless a word or two replace only its end.
    let rest = to_sentence_end(draft, to);
    if marker.whole && from - start <= MAX_REPARANDUM && (crosses || rest + 2 > from - start) {
        return Some(start);
    }
    // Nothing tells how far back: the word before, if both are content. A weaker marker needs a little word before it.
    let one_word = weight >= 3
        || weight == 2
            && from >= 2
            && draft.key(from) != "i"
            && (is_cut_off(draft.key(from - 2)) || is_preposition(draft.key(from - 2)));
    let replaces_word = one_word && !crosses && content(draft.key(from - 1)) && content(repair) && from > lowest;
    replaces_word.then(|| from - 1)
}

/// How many words there are from live word `i` to the end of its sentence, `i` included.
fn to_sentence_end(draft: &Draft, i: usize) -> usize {
    (i..draft.len()).take_while(|&k| k == i || draft.pause(k - 1) < Pause::Strong).count()
}

/// Whether the sentence that begins at live word `i` is a few words without a verb that shows.
fn is_fragment(draft: &Draft, i: usize) -> bool {
    let end = (i..draft.len()).take(6).find(|&k| draft.pause(k) == Pause::Strong);
    end.is_some_and(|end| (i..=end).all(|k| !is_auxiliary(draft.key(k)) && !is_subject(draft.key(k))))
}

/// A number for a number, a day for a day, a month for a month, a colour for a colour.
fn same_class(draft: &Draft, lowest: usize, marker: &Marker) -> Option<usize> {
    if marker.faint {
        return None;
    }
    let &Marker { from, to, .. } = marker;
    let last = from - 1;
    // "ten minutes no more like twenty": the unit may be left out.
    let nearer = draft.says(to, &["more", "like"]);
    let to = if nearer { to + 2 } else { to };
    let (before, repair) = (draft.key(last), draft.key(to));
    if is_weekday(before) && is_weekday(repair) || is_month(before) && is_month(repair) && before != "may" {
        return Some(last);
    }
    if is_colour(before) && is_colour(repair) {
        return Some(last);
    }
    let is_part = |key: &str| is_number_word(key) || matches!(key, "oh" | "point" | "half" | "quarter" | "past");
    let is_time = matches!(repair, "quarter" | "half") && matches!(draft.key(to + 1), "past" | "to")
        || repair == "noon"
        || repair == "midnight";
    if !(is_number_word(repair) || is_time) {
        return None;
    }
    // "two litres no three litres": the unit stands between.
    let same_unit = draft.key(last) == draft.key(to + 1) || nearer && draft.key_after(to).is_empty();
    let unit = usize::from(!is_number_word(before) && same_unit && last > lowest);
    let mut first = last - unit;
    if !is_number_word(draft.key(first)) {
        return None;
    }
    while first > lowest && is_part(draft.key(first - 1)) && draft.pause(first - 1) == Pause::None {
        first -= 1;
    }
    Some(first)
}

/// A question for a question: "When was no what is the name of …".
fn same_question(draft: &Draft, lowest: usize, marker: &Marker) -> Option<usize> {
    let &Marker { from, to, weight, faint, .. } = marker;
    let asks_at = |i: usize| is_wh(draft.key(i)) || is_preposition(draft.key(i)) && is_wh(draft.key(i + 1));
    if !asks_at(to) || matches!(draft.key(to + 1), "" | "i" | "ever") {
        return None;
    }
    let start = draft.sentence_start(from - 1);
    // "What park covers … no what tree?" means a part of the question: how much cannot be told.
    if to_sentence_end(draft, to) < 4.min(from - start) {
        return None;
    }
    let opens = asks_at(start) || is_auxiliary(draft.key(start));
    // "how are you um what time is it": two questions, unless the first is a beginning alone ("what chess uh who").
    let noun = matches!(draft.key(start), "what" | "which" | "how") && !is_auxiliary(draft.key(start + 1));
    let begun = is_cut_off(draft.key(from - 1)) || from - start <= 3 && noun;
    let near = if faint { from - start <= 4 && begun } else { from - start <= MAX_REPARANDUM };
    // "in which or rather what conditions": the preposition stays.
    let fronted = is_preposition(draft.key(start)) && is_wh(draft.key(start + 1));
    if fronted && from == start + 2 && is_wh(draft.key(to)) {
        return Some(start + 1);
    }
    if opens && near && start >= lowest {
        return Some(start);
    }
    let nearest = (lowest..from).rev().find(|&i| is_wh(draft.key(i)) && draft.key(i) != "which");
    nearest.filter(|&i| weight >= 2 && !faint && from - i <= 6)
}

/// The repair begins with a word of the reparandum: "i'll call marcus i mean i'll call martin".
fn same_word(draft: &Draft, lowest: usize, marker: &Marker) -> Option<usize> {
    let &Marker { from, to, weight, faint, .. } = marker;
    let (first, second) = (draft.key(to), draft.key(to + 1));
    // "of flight no of force".
    if !faint && from >= lowest + 2 && is_preposition(first) && draft.key(from - 2) == first {
        return Some(from - 2);
    }
    let reach = match first {
        // "it was late um it was fine": two sentences, unless the first was cut off.
        _ if faint && !is_cut_off(draft.key(from - 1)) => return None,
        _ if is_subject(first) && weight < 2 => return two_words(draft, lowest, marker),
        "to" | "of" | "and" | "not" | "that" | "it" if weight < 2 => return two_words(draft, lowest, marker),
        _ if is_conjunction(first) && !is_preposition(first) && weight < 3 => return two_words(draft, lowest, marker),
        _ if faint => return two_words(draft, lowest, marker),
        _ if is_determiner(first) || is_preposition(first) => {
            if weight >= 2 {
                8
            } else {
                6
            }
        }
        _ if is_auxiliary(first) => 6,
        _ if weight >= 2 => MAX_REPARANDUM,
        _ => 8,
    };
    let nearest = (lowest..from).rev().take(reach).find(|&i| draft.key(i) == first)?;
    // "the train is late I guess the snow is to blame": two sentences, each with its verb.
    let verb_in = |from: usize, to: usize| (from..to).any(|k| is_auxiliary(draft.key(k)));
    let repair_end = draft.len().min(to + 5);
    if weight < 2 && is_determiner(first) && verb_in(nearest, from) && verb_in(to, repair_end) {
        return None;
    }
    // "actually" says too little to lean on a little word.
    let weak = weight < 2 && is_function_word(first) && draft.key(from) == "actually";
    (!weak || draft.key(nearest + 1) == second).then_some(nearest)
}

/// The repair begins with two words of the reparandum.
fn two_words(draft: &Draft, lowest: usize, marker: &Marker) -> Option<usize> {
    let (first, second) = (draft.key(marker.to), draft.key(marker.to + 1));
    let same = |i: usize| draft.key(i) == first && draft.key(i + 1) == second && i + 1 < marker.from;
    (lowest..marker.from).rev().take(8).find(|&i| same(i)).filter(|_| !second.is_empty())
}

/// The repair comes to the word that the reparandum ended with: "get user sorry fetch user".
fn same_ending(draft: &Draft, lowest: usize, marker: &Marker) -> Option<usize> {
    let &Marker { from, to, faint, .. } = marker;
    let last = draft.key(from - 1);
    if faint || is_function_word(last) || last.is_empty() {
        return None;
    }
    // "claimed no not claimed": the repair adds a word.
    if draft.key(to) == "not" && draft.key(to + 1) == last {
        return Some(from - 1);
    }
    let length = (1..=3).find(|&k| draft.key(to + k) == last && draft.pause_within(to, to + k) == Pause::None)?;
    let first = (from - 1).checked_sub(length)?;
    // "it was cold I mean freezing cold": the repair adds a word, and the verb before it stays.
    let adds = |k: usize| is_auxiliary(draft.key(k)) || is_subject(draft.key(k)) || draft.key(k).ends_with("'s");
    let replaced = (first..from - 1).rev().take_while(|&k| !adds(k) || is_function_word(draft.key(to))).count();
    let first = from - 1 - replaced;
    (first >= lowest && draft.pause_within(first, from - 1) == Pause::None).then_some(first)
}

/// An article for an article, a preposition for a preposition, a verb's beginning for another.
fn same_part_of_speech(draft: &Draft, lowest: usize, marker: &Marker) -> Option<usize> {
    let &Marker { from, to, weight, .. } = marker;
    let repair = draft.key(to);
    let nearest =
        |class: fn(&str) -> bool, reach: usize| (lowest..from).rev().take(reach).find(|&i| class(draft.key(i)));
    fn plain_determiner(key: &str) -> bool {
        is_determiner(key) && !key.ends_with("'s") && !matches!(key, "that" | "this" | "what" | "which")
    }
    match repair {
        _ if weight < 2 || marker.faint => None,
        _ if is_auxiliary(repair) => nearest(is_auxiliary, 5),
        _ if weight < 3 => None,
        _ if plain_determiner(repair) => nearest(plain_determiner, 5),
        _ if is_preposition(repair) => nearest(is_preposition, 5),
        _ if is_subject(repair) => nearest(is_subject, 6),
        _ => None,
    }
}

/// A name for a name, where the recogniser writes capitals.
fn same_kind_of_name(draft: &Draft, lowest: usize, marker: &Marker) -> Option<usize> {
    let &Marker { from, to, faint, .. } = marker;
    let capital = |i: usize| {
        matches!(draft.word(i).shape, Shape::Capitalised | Shape::Upper | Shape::Mixed) && draft.key(i) != "i"
    };
    let starts_sentence = |i: usize| draft.sentence_start(i) == i;
    // "Cestida no sorry the Lobata".
    let named = to + usize::from(draft.key(to) == "the" && marker.weight >= 2);
    if faint || named >= draft.len() || !capital(named) || starts_sentence(to) && draft.pause(to - 1) == Pause::Strong {
        return None;
    }
    let run =
        (lowest..from).rev().take_while(|&i| capital(i) && !starts_sentence(i) && !is_function_word(draft.key(i)));
    run.last()
}
