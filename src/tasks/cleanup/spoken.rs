//! Dictated marks, lines and paragraphs, and the same words where they are meant as words.

use super::draft::{Action, Draft, Pause, Proposal};
use super::edit::EditKind;
use super::language::Language;
use super::lexicon::{
    holds, is_auxiliary, is_determiner, is_function_word, is_number_word, is_preposition, is_pronoun, is_subject, words,
};
use super::numbers::french;
use super::words::Shape;

/// A mark that people dictate.
#[derive(Debug, PartialEq)]
pub(super) struct SpokenMark {
    /// What is written.
    pub text: &'static str,
    /// No space before it.
    pub left: bool,
    /// No space after it.
    pub right: bool,
    /// Takes the place of a mark that the recogniser put on either side.
    pub absorbs: bool,
    /// How much it separates.
    pub pause: Pause,
}

impl SpokenMark {
    /// Whether it is the second of a pair.
    pub fn closes(&self) -> bool {
        self.left && !self.right && !self.absorbs
    }
}

const fn closing(text: &'static str, pause: Pause) -> SpokenMark {
    SpokenMark { text, left: true, right: false, absorbs: true, pause }
}

const fn joining(text: &'static str, pause: Pause) -> SpokenMark {
    SpokenMark { text, left: true, right: true, absorbs: false, pause }
}

const fn opener(text: &'static str) -> SpokenMark {
    SpokenMark { text, left: false, right: true, absorbs: false, pause: Pause::None }
}

const fn closer(text: &'static str) -> SpokenMark {
    SpokenMark { text, left: true, right: false, absorbs: false, pause: Pause::None }
}

static COMMA: SpokenMark = closing(",", Pause::Weak);
static PERIOD: SpokenMark = closing(".", Pause::Strong);
static QUESTION: SpokenMark = closing("?", Pause::Strong);
static EXCLAMATION: SpokenMark = closing("!", Pause::Strong);
static COLON: SpokenMark = closing(":", Pause::Weak);
static SEMICOLON: SpokenMark = closing(";", Pause::Weak);
static ELLIPSIS: SpokenMark = closing("…", Pause::Weak);
static LINE: SpokenMark = joining("\n", Pause::Strong);
static PARAGRAPH: SpokenMark = joining("\n\n", Pause::Strong);
static HYPHEN: SpokenMark = joining("-", Pause::None);
static SLASH: SpokenMark = joining("/", Pause::None);
static DASH: SpokenMark = joining(" — ", Pause::Weak);

/// The pairs: the names of a mark, how it opens, how it closes.
static PAIRS: [(&[&str], SpokenMark, SpokenMark); 4] = [
    (&["quote", "quotes", "quotation mark", "quotation marks"], opener("\""), closer("\"")),
    (&["paren", "parens", "parenthesis", "parentheses"], opener("("), closer(")")),
    (&["bracket", "brackets", "square bracket", "square brackets"], opener("["), closer("]")),
    (&["brace", "braces", "curly brace", "curly braces", "curly bracket", "curly brackets"], opener("{"), closer("}")),
];

/// How far apart the two marks of a pair may be.
const PAIR_WORDS: usize = 60;

/// A dictated mark outside pairs: its words, and what they must not follow or precede.
struct Dictated {
    phrase: &'static [&'static str],
    mark: &'static SpokenMark,
    /// Words before the phrase with which it names a thing.
    not_after: &'static str,
    /// Words after the phrase with which it names a thing.
    not_before: &'static str,
}

const fn dictated(
    phrase: &'static [&'static str],
    mark: &'static SpokenMark,
    not_after: &'static str,
    not_before: &'static str,
) -> Dictated {
    Dictated { phrase, mark, not_after, not_before }
}

/// What names a key, a character or a place in a text, whichever the mark.
const NAMED_AFTER: &str = "key button character symbol sign goes placement usage splice splices separated delimited";

/// What introduces the name of a mark, whichever it is.
const NAMED_BEFORE: &str = "type typed press pressed insert use using word words called named character symbol say saying literal \
        literally around of with without by from between per or and than like missing extra double single \
        remove delete forgot actual";

static DICTATED: [Dictated; 20] = [
    dictated(&["comma"], &COMMA, "oxford serial inverted trailing leading", "or"),
    dictated(&["period"], &PERIOD, PERIOD_COMPOUNDS, PERIOD_PHRASES),
    dictated(&["full", "stop"], &PERIOD, "to into", ""),
    dictated(&["question", "mark"], &QUESTION, "big huge", "over hangs hanging"),
    dictated(&["exclamation", "point"], &EXCLAMATION, "", ""),
    dictated(&["exclamation", "mark"], &EXCLAMATION, "", ""),
    dictated(
        &["colon"],
        &COLON,
        "sigmoid transverse ascending descending spastic irritable semi",
        "cancer cancers polyp polyps cleanse screening screenings surgery health infection issues",
    ),
    dictated(&["semicolon"], &SEMICOLON, "", ""),
    dictated(&["semi", "colon"], &SEMICOLON, "", ""),
    dictated(&["new", "line"], &LINE, LINE_PHRASES, "of item items manager"),
    dictated(&["newline"], &LINE, LINE_PHRASES, "characters"),
    dictated(&["new", "paragraph"], &PARAGRAPH, LINE_PHRASES, "about on that"),
    dictated(&["ellipsis"], &ELLIPSIS, "", ""),
    dictated(&["dot", "dot", "dot"], &ELLIPSIS, "dot", "dot"),
    dictated(&["hyphen"], &HYPHEN, "", ""),
    dictated(&["em", "dash"], &DASH, "", ""),
    dictated(&["slash"], &SLASH, "", ""),
    dictated(&["open", "inverted", "commas"], &PAIRS[0].1, "", ""),
    dictated(&["close", "inverted", "commas"], &PAIRS[0].2, "", ""),
    dictated(&["end", "of", "paragraph"], &PARAGRAPH, "at before", ""),
];

/// The same in French, which has a narrow space before its two-part marks.
static FRENCH: [Dictated; 9] = [
    dictated(&["point", "d'interrogation"], &FRENCH_QUESTION, "", ""),
    dictated(&["point", "d'exclamation"], &FRENCH_EXCLAMATION, "", ""),
    dictated(&["point", "virgule"], &FRENCH_SEMICOLON, "", ""),
    dictated(&["point-virgule"], &FRENCH_SEMICOLON, "", ""),
    dictated(&["virgule"], &COMMA, "", "et"),
    dictated(&["à", "la", "ligne"], &LINE, "va vais va-t-en pêche", ""),
    dictated(&["nouvelle", "ligne"], &LINE, "", "de"),
    dictated(&["nouveau", "paragraphe"], &PARAGRAPH, "", "sur"),
    dictated(&["points", "de", "suspension"], &ELLIPSIS, "", ""),
];
static FRENCH_QUESTION: SpokenMark = closing("\u{202f}?", Pause::Strong);
static FRENCH_EXCLAMATION: SpokenMark = closing("\u{202f}!", Pause::Strong);
static FRENCH_SEMICOLON: SpokenMark = closing("\u{202f};", Pause::Weak);
static GUILLEMETS: (SpokenMark, SpokenMark) = (opener("«\u{202f}"), closer("\u{202f}»"));

/// What makes the name of a mark a thing: "une virgule sépare".
const FRENCH_DETERMINERS: &str =
    "le la les l un une des de du cette ce ces chaque quelques aucune aucun notre votre deux trois d'une";

const PERIOD_COMPOUNDS: &str = "grace trial notice cooling cooling-off waiting time rest long short longer shorter free class lunch \
        reporting probation probationary transition transitional review comment accounting historical blackout \
        quiet recovery warranty retention refund billing payment fiscal holding incubation gestation \
        evaluation election exam holiday first second third fourth final whole entire given limited extended \
        interim contract guarantee colonial medieval victorian roman ice peak test testing training crunch \
        adjustment settling off notice-period menstrual pay tax year month week day hour minute";

const PERIOD_PHRASES: &str = "of from between during costume piece drama dramas pain pains furniture instrument instruments ends \
        ended starts started begins began expires expired lasts lasted property";

/// After these, a verb begins a new sentence rather than goes on about a period of time.
const PERIOD_VERBS: &str = "is was has had will for in when where that";

const LINE_PHRASES: &str = "brand whole start begin entire add our launch launched";

/// Pairs of words that people join with a slash.
const SLASHED: [(&str, &str); 10] = [
    ("and", "or"),
    ("he", "she"),
    ("his", "her"),
    ("him", "her"),
    ("she", "he"),
    ("yes", "no"),
    ("on", "off"),
    ("true", "false"),
    ("pass", "fail"),
    ("either", "or"),
];

/// Proposes dictated marks.
pub(super) fn propose(draft: &Draft) -> Vec<Proposal> {
    match draft.language {
        Language::English => {}
        Language::French => return propose_french(draft),
        _ => return vec![],
    }
    let mut proposals = vec![];
    let mut i = 0;
    while i < draft.len() {
        let from = i;
        i += 1;
        if let Some((mark, to)) = pair_opening(draft, from).map(|(kind, to)| (&PAIRS[kind].1, to)) {
            let kind = PAIRS.iter().position(|pair| &pair.1 == mark).unwrap_or_default();
            if let Some((close_from, close_to)) = pair_closing(draft, kind, from, to + 1) {
                proposals.push(proposal(draft, from, to, mark));
                proposals.push(proposal(draft, close_from, close_to, &PAIRS[kind].2));
            }
            i = to + 1;
        } else if let Some(proposal) = all_caps(draft, from) {
            proposals.push(proposal);
            i = from + 3;
        } else if let Some(dictated) = dictated_at(draft, from) {
            let to = from + dictated.phrase.len() - 1;
            if is_meant_as_mark(draft, dictated, from, to) {
                proposals.push(proposal(draft, from, to, dictated.mark));
                i = to + 1;
            }
        }
    }
    proposals.sort_by_key(|proposal| proposal.first);
    proposals
}

fn propose_french(draft: &Draft) -> Vec<Proposal> {
    let guillemets = |i: usize, verbs: &str| {
        holds(verbs, draft.key(i)) && draft.key(i + 1) == "les" && draft.key(i + 2) == "guillemets"
    };
    let mut proposals = vec![];
    let mut i = 0;
    while i < draft.len() {
        let from = i;
        i += 1;
        if guillemets(from, "ouvrez ouvrir ouvre") {
            let close = (from + 3..draft.len().min(from + PAIR_WORDS)).find(|&k| guillemets(k, "fermez fermer ferme"));
            if let Some(close) = close.filter(|close| *close > from + 3) {
                proposals.push(proposal(draft, from, from + 2, &GUILLEMETS.0));
                proposals.push(proposal(draft, close, close + 2, &GUILLEMETS.1));
            }
            i = from + 3;
        } else if let Some(dictated) = FRENCH.iter().find(|dictated| draft.says(from, dictated.phrase)) {
            let (to, before) = (from + dictated.phrase.len() - 1, draft.key_before(from));
            let after = draft.key_after(to);
            let named = holds(FRENCH_DETERMINERS, before) || holds(dictated.not_after, before);
            let decimal = french::is_number_word(before) && french::is_number_word(after);
            if from > 0 && !before.is_empty() && !named && !decimal && !holds(dictated.not_before, after) {
                proposals.push(proposal(draft, from, to, dictated.mark));
                i = to + 1;
            }
        }
    }
    proposals.sort_by_key(|proposal| proposal.first);
    proposals
}

/// "all caps urgent" at the beginning of a sentence.
fn all_caps(draft: &Draft, i: usize) -> Option<Proposal> {
    let begins = i == 0 || draft.pause(i - 1) == Pause::Strong;
    let commands = begins
            && i + 2 < draft.len()
            && draft.says(i, &["all", "caps"])
            && draft.word(i + 2).shape == Shape::Lower
            // "all caps is rude" speaks of them.
            && !is_function_word(draft.key(i + 2));
    let action = || Action::Write(draft.word(i + 2).text(draft.raw).to_uppercase());
    commands.then(|| Proposal {
        first: draft.at(i),
        last: draft.at(i + 2),
        action: action(),
        kind: EditKind::SpokenMark,
        confidence: 0.9,
    })
}

fn proposal(draft: &Draft, from: usize, to: usize, mark: &'static SpokenMark) -> Proposal {
    let (first, last) = (draft.at(from), draft.at(to));
    Proposal { first, last, action: Action::Mark(mark), kind: EditKind::SpokenMark, confidence: 0.95 }
}

fn dictated_at(draft: &Draft, i: usize) -> Option<&'static Dictated> {
    let key = draft.key(i);
    DICTATED.iter().find(|dictated| dictated.phrase[0] == key && draft.says(i, dictated.phrase))
}

fn is_meant_as_mark(draft: &Draft, dictated: &Dictated, from: usize, to: usize) -> bool {
    let Some(before) = from.checked_sub(1) else { return false };
    let (pause_before, pause_after) = (draft.pause(before), draft.pause(to));
    let breaks_line = std::ptr::eq(dictated.mark, &LINE) || std::ptr::eq(dictated.mark, &PARAGRAPH);
    // The recogniser heard pauses on both sides: "Hello, comma, how". A comma or colon cannot end a sentence.
    if pause_before > Pause::None && pause_after > Pause::None {
        return true;
    }
    if pause_before == Pause::Strong && !breaks_line {
        return false;
    }
    if is_in_address(draft, from) {
        return false;
    }
    let (previous, next) = (draft.key(before), draft.key_after(to));
    if std::ptr::eq(dictated.mark, &SLASH) {
        return SLASHED.contains(&(previous, next));
    }
    // Among words in lower case, "Period" with a capital is part of a name.
    if pause_before == Pause::None && dictated.phrase.len() == 1 && draft.word(from).shape == Shape::Capitalised {
        return false;
    }
    // "I want that period": a pronoun at the end; "that period was long": a determiner.
    let determined = is_determiner(previous) && !(is_pronoun(previous) && next.is_empty());
    if pause_before == Pause::None
        && (determined
            || holds(NAMED_BEFORE, previous)
            || holds(dictated.not_after, previous) && !counted(draft, before) && !ends_with_a_time(draft, before, next))
    {
        return false;
    }
    if holds(NAMED_AFTER, next) || holds(dictated.not_before, next) {
        return false;
    }
    if std::ptr::eq(dictated.mark, &PERIOD) && dictated.phrase.len() == 1 && is_noun_phrase(draft, before) {
        return false;
    }
    if std::ptr::eq(dictated.mark, &PERIOD) && dictated.phrase.len() == 1 && holds(PERIOD_VERBS, next) {
        return ends_a_sentence(previous);
    }
    if std::ptr::eq(dictated.mark, &HYPHEN) {
        return !next.is_empty();
    }
    true
}

/// Whether live word `i` is a colon or a slash of "http colon slash slash localhost colon three thousand".
fn is_in_address(draft: &Draft, i: usize) -> bool {
    let slashes = |k: usize| draft.key(k) == "slash" && draft.key(k + 1) == "slash";
    match draft.key(i) {
        "colon" => slashes(i + 1) || is_number_word(draft.key(i + 1)) && (i.saturating_sub(12)..i).any(slashes),
        "slash" => (i.saturating_sub(16)..=i).any(slashes),
        _ => false,
    }
}

/// Whether live word `i` is a unit that stands alone ("one more day period"), not one of a compound ("thirty day period").
fn counted(draft: &Draft, i: usize) -> bool {
    let unit = words!("year month week day hour minute off time long free second").contains(draft.key(i));
    let before = draft.key_before(i);
    unit && !is_number_word(before) && !is_determiner(before)
}

/// Whether "an hour" at live word `i` is how long something takes and `next` begins a sentence: "it takes an hour period I
/// would start at nine".
fn ends_with_a_time(draft: &Draft, i: usize, next: &str) -> bool {
    let unit = words!("year month week day hour minute").contains(draft.key(i));
    let single = i >= 2 && words!("a an one the next last this every each").contains(draft.key(i - 1));
    let within = i >= 2 && words!("within over during through throughout").contains(draft.key(i - 2));
    let takes = i >= 2 && words!("takes take took lasts last lasted needs need us me").contains(draft.key(i - 2));
    let phrase = words!("of from for to between during in").contains(next);
    let stem = next.split('\'').next().unwrap_or(next);
    let begins = is_subject(stem) || words!("then so and but after please also there let what how").contains(stem);
    unit && single && !within && (begins || next.is_empty() || takes && !phrase)
}

/// Whether an article and an adjective (or a noun made like one) before live word `i + 1` make it a noun: "this difficult
/// period". "send the report period" is no such phrase.
fn is_noun_phrase(draft: &Draft, i: usize) -> bool {
    const ENDINGS: [&str; 15] =
        ["al", "ic", "ive", "ous", "ful", "ing", "ary", "ory", "ent", "able", "ible", "tion", "sion", "ment", "less"];
    let describes = |key: &str| {
        key.len() > 4 && ENDINGS.iter().any(|ending| key.ends_with(ending))
            || key.contains('-')
            || words!(
                "difficult busy hard bad good great strange early late new old dark key specific reasonable \
                certain"
            )
            .contains(key)
    };
    let determined = (1..=3)
        .filter_map(|back| i.checked_sub(back))
        .take_while(|&k| draft.pause(k) == Pause::None && !is_pronoun(draft.key(k + 1)));
    let stops = |key: &str| is_auxiliary(key) || is_preposition(key) || is_subject(key);
    let mut before = determined.take_while(|&k| !stops(draft.key(k)));
    describes(draft.key(i)) && before.any(|k| is_determiner(draft.key(k)))
}

/// Words with which sentences end and compounds do not begin.
fn ends_a_sentence(key: &str) -> bool {
    is_pronoun(key) || words!("later now today tomorrow yesterday here there again soon done late ready").contains(key)
}

/// The kind of the pair that opens at live word `i`, and the last word of the phrase.
fn pair_opening(draft: &Draft, i: usize) -> Option<(usize, usize)> {
    let opens = matches!(draft.key(i), "open" | "opened" | "left" | "begin");
    if !opens {
        // "quote … unquote" needs no "open"; "openparen" comes as one word.
        let one_word = match draft.key(i) {
            "quote" if !is_determiner(draft.key_before(i)) => Some(0),
            "openparen" => Some(1),
            "openbracket" => Some(2),
            _ => None,
        };
        return one_word.map(|kind| (kind, i));
    }
    name_of_pair(draft, i + 1)
}

/// Where the pair `kind` that opened before live word `from` closes; none if another closes first.
fn pair_closing(draft: &Draft, kind: usize, opening: usize, from: usize) -> Option<(usize, usize)> {
    for i in from..draft.len().min(from + PAIR_WORDS) {
        let closes = matches!(draft.key(i), "close" | "closed" | "closing" | "end" | "right");
        let found = if closes {
            name_of_pair(draft, i + 1).map(|(found, to)| (found, i, to))
        } else {
            match draft.key(i) {
                "unquote" | "endquote" => Some((0, i, i)),
                "closeparen" => Some((1, i, i)),
                "closebracket" => Some((2, i, i)),
                _ => None,
            }
        };
        match found {
            // "quote unquote" is a phrase of its own.
            Some((found, at, to)) if found == kind => return (at > from || opening + 1 < from).then_some((at, to)),
            Some(_) => return None,
            None => {}
        }
    }
    None
}

/// The pair that is named at live word `i`, and the last word of its name; the longest name counts.
fn name_of_pair(draft: &Draft, i: usize) -> Option<(usize, usize)> {
    (1..=2).rev().find_map(|words| {
        let kind = PAIRS.iter().position(|(names, ..)| {
            names.iter().any(|name| {
                name.split(' ').count() == words
                    && name.split(' ').enumerate().all(|(k, part)| draft.key(i + k) == part)
            })
        })?;
        Some((kind, i + words - 1))
    })
}
