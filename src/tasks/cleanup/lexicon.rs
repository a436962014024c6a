//! Closed classes of English words that several rules ask about.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The set of the words in a text.
macro_rules! words {
    ($text:literal) => {{
        static WORDS: std::sync::LazyLock<std::collections::HashSet<&'static str>> =
            std::sync::LazyLock::new(|| $text.split_ascii_whitespace().collect());
        &*WORDS
    }};
}
pub(in crate::tasks) use words;

/// Whether the blank-separated `list` holds `key`: for short lists that are seldom asked.
pub(in crate::tasks) fn holds(list: &str, key: &str) -> bool {
    list.split_ascii_whitespace().any(|word| word == key)
}

/// Articles, demonstratives, possessives and quantifiers: what comes after names a thing.
pub(in crate::tasks) fn is_determiner(key: &str) -> bool {
    words!(
        "a an the this that these those each every no any some one another my your his her its our their whose \
        which what same other either"
    )
    .contains(key)
        || (key.ends_with("'s") && !is_contraction_with_is(key))
}

fn is_contraction_with_is(key: &str) -> bool {
    words!("it's that's there's here's what's who's he's she's let's where's how's when's everything's everyone's")
        .contains(key)
}

/// Words that can stand for a thing alone.
pub(in crate::tasks) fn is_pronoun(key: &str) -> bool {
    words!(
        "it me you him her us them this that these those mine yours his hers ours theirs one some any everything \
        nothing something anything everyone myself yourself himself herself itself ourselves themselves each \
        what which"
    )
    .contains(key)
}

/// Subject pronouns: what comes next is a verb.
pub(in crate::tasks) fn is_subject(key: &str) -> bool {
    matches!(key, "i" | "you" | "he" | "she" | "it" | "we" | "they")
}

/// Words that ask, at the start of a question.
pub(in crate::tasks) fn is_wh(key: &str) -> bool {
    words!("what when where which who whom whose why how").contains(key)
}

/// Auxiliary and modal verbs, contracted negations included.
pub(in crate::tasks) fn is_auxiliary(key: &str) -> bool {
    matches!(
        key.strip_suffix("n't").unwrap_or(key),
        "is" | "are"
            | "was"
            | "were"
            | "am"
            | "do"
            | "does"
            | "did"
            | "have"
            | "has"
            | "had"
            | "can"
            | "could"
            | "will"
            | "would"
            | "shall"
            | "should"
            | "may"
            | "might"
            | "must"
            | "ca"
            | "wo"
            | "ai"
    )
}

/// Number words of any kind: cardinals, ordinals, "oh" for zero excepted.
pub(in crate::tasks) fn is_number_word(key: &str) -> bool {
    is_cardinal(key) || is_ordinal(key)
}

/// "zero" to "nineteen", the tens and the large units, also joined by a hyphen, and digits.
pub(in crate::tasks) fn is_cardinal(key: &str) -> bool {
    let simple = |key: &str| {
        words!(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
            sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred \
            thousand million billion"
        )
        .contains(key)
    };
    simple(key)
        || key.split_once('-').is_some_and(|(tens, units)| simple(tens) && simple(units))
        || (key.starts_with(|c: char| c.is_ascii_digit())
            && key.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | ':')))
}

/// "first" to "thirty-first" and their digits.
pub(in crate::tasks) fn is_ordinal(key: &str) -> bool {
    let simple = |key: &str| {
        words!(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth \
            fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth fortieth \
            fiftieth hundredth"
        )
        .contains(key)
    };
    simple(key)
        || key.split_once('-').is_some_and(|(_, units)| simple(units))
        || ["st", "nd", "rd", "th"].iter().any(|suffix| {
            key.strip_suffix(suffix)
                .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        })
}

pub(in crate::tasks) fn is_weekday(key: &str) -> bool {
    matches!(key, "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday")
}

pub(in crate::tasks) fn is_colour(key: &str) -> bool {
    words!("red blue green yellow white black brown grey gray orange purple pink beige turquoise").contains(key)
}

pub(in crate::tasks) fn is_month(key: &str) -> bool {
    words!("january february march april may june july august september october november december").contains(key)
}

/// Prepositions.
pub(in crate::tasks) fn is_preposition(key: &str) -> bool {
    words!(
        "of in on at to for with from by about into over under after before between during through against \
        without within towards toward across behind near until till onto upon around along beside besides than \
        as per like"
    )
    .contains(key)
}

/// Words that join clauses.
pub(in crate::tasks) fn is_conjunction(key: &str) -> bool {
    words!("and but or so because if that when while since then well as although though whether plus").contains(key)
}

/// Words with little content of their own: a copy of one right after it is a slip far more often than meant.
pub(in crate::tasks) fn is_function_word(key: &str) -> bool {
    is_determiner(key)
        || is_subject(key)
        || is_pronoun(key)
        || is_preposition(key)
        || is_conjunction(key)
        || is_auxiliary(key)
        || is_wh(key)
        || words!(
            "be been being not just i'm i'll i've i'd it's that's we're we'll we've you're they're there's there \
            he's she's let's what's who's gonna"
        )
        .contains(key)
}

static COMMON_WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| entries(include_str!("words/common.txt")).collect());

static NAMES: LazyLock<HashMap<String, &'static str>> =
    LazyLock::new(|| entries(include_str!("words/names.txt")).map(|name| (name.to_lowercase(), name)).collect());

/// The entries of a word list: separated by blanks; a line that begins with `#` is a remark.
fn entries(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_ascii_whitespace)
}

/// Whether a longer word may follow `key` by chance although it begins with it.
pub(in crate::tasks) fn is_common_word(key: &str) -> bool {
    COMMON_WORDS.contains(key)
}

/// `key` in the case of the name that it can hardly fail to be.
pub(in crate::tasks) fn name(key: &str) -> Option<&'static str> {
    NAMES.get(key).copied()
}
