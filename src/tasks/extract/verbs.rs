//! Which words can be the first of a task.

use std::collections::HashMap;
use std::sync::LazyLock;

/// How much a word is a verb of doing when nothing else is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tasks) enum Verb {
    Clear,
    /// As often a noun: "book", "call".
    Ambiguous,
}

static VERBS: LazyLock<HashMap<String, Verb>> = LazyLock::new(|| {
    let lines = include_str!("words/verbs.txt").lines().filter(|line| !line.starts_with('#'));
    let mut verbs = HashMap::new();
    for word in lines.flat_map(str::split_ascii_whitespace) {
        let ambiguous = word.bytes().any(|b| b.is_ascii_uppercase());
        let verb = if ambiguous { Verb::Ambiguous } else { Verb::Clear };
        // Listed both ways, a word is ambiguous.
        verbs.entry(word.to_lowercase()).and_modify(|old| *old = Verb::Ambiguous).or_insert(verb);
    }
    verbs
});

/// What kind of verb of doing `key` can be, if any.
pub(in crate::tasks) fn verb(key: &str) -> Option<Verb> {
    VERBS.get(key).copied()
}

/// Whether the past of verb `key` is another word, so that the bare word tells nothing that was: "pick", and not "put".
pub(in crate::tasks) fn has_own_past(key: &str) -> bool {
    let alike =
        matches!(key, "put" | "cut" | "set" | "let" | "read" | "shut" | "hit" | "quit" | "split" | "spread" | "bet");
    verb(key) == Some(Verb::Clear) && !alike
}

/// Every verb of doing, in the order of the alphabet.
pub(in crate::tasks) fn all() -> Vec<&'static str> {
    let mut verbs: Vec<_> =
        VERBS.keys().map(String::as_str).filter(|verb| verb.bytes().all(|b| b.is_ascii_lowercase())).collect();
    verbs.sort_unstable();
    verbs
}

/// Verbs that make a sentence without an object.
pub(in crate::tasks) fn is_intransitive(key: &str) -> bool {
    matches!(
        key,
        "rehearse"
            | "practise"
            | "exercise"
            | "stretch"
            | "meditate"
            | "hoover"
            | "vacuum"
            | "pack"
            | "tidy"
            | "shower"
            | "jog"
            | "swim"
            | "revise"
    )
}

/// Whether `verb` takes `preposition` without an object: "look for", "talk to".
pub(in crate::tasks) fn takes(verb: &str, preposition: &str) -> bool {
    match preposition {
        "to" => matches!(
            verb,
            "talk"
                | "speak"
                | "reply"
                | "respond"
                | "write"
                | "go"
                | "listen"
                | "subscribe"
                | "apologise"
                | "apologize"
                | "apply"
                | "switch"
                | "get"
                | "head"
                | "nip"
                | "pop"
        ),
        "for" => {
            matches!(verb, "look" | "apply" | "search" | "hunt" | "register" | "pay" | "ask" | "prepare" | "practise")
        }
        "about" => matches!(verb, "ask" | "talk" | "think" | "write" | "see" | "speak"),
        "with" => matches!(verb, "meet" | "speak" | "talk" | "check" | "chat" | "help"),
        "by" => matches!(verb, "swing" | "stop" | "drop" | "come" | "go" | "pop" | "run"),
        "into" => matches!(verb, "look"),
        "at" => matches!(verb, "look"),
        "on" => matches!(verb, "check" | "follow"),
        _ => false,
    }
}

/// Verbs of getting in touch or going, whose purpose may follow after "and": "ring the bank and ask about the fee".
pub(in crate::tasks) fn leads_to_purpose(key: &str) -> bool {
    matches!(
        key,
        "call"
            | "ring"
            | "phone"
            | "email"
            | "text"
            | "message"
            | "contact"
            | "go"
            | "visit"
            | "write"
            | "come"
            | "try"
            | "ask"
    )
}

/// Verbs that say such a purpose.
pub(in crate::tasks) fn is_purpose(key: &str) -> bool {
    matches!(
        key,
        "get" | "ask" | "see" | "tell" | "let" | "say" | "find" | "check" | "explain" | "thank" | "look" | "wish"
    )
}

/// Verbs after which a whole clause may stand: "tell mum the party is off".
pub(in crate::tasks) fn takes_clause(key: &str) -> bool {
    matches!(
        key,
        "tell"
            | "remind"
            | "let"
            | "check"
            | "say"
            | "confirm"
            | "explain"
            | "make"
            | "see"
            | "ask"
            | "find"
            | "decide"
            | "warn"
            | "figure"
    )
}

/// Verbs of speech in the past or of a third person: what follows may be quoted.
pub(in crate::tasks) fn is_speech(key: &str) -> bool {
    matches!(
        key,
        "said"
            | "says"
            | "saying"
            | "joked"
            | "jokes"
            | "shouted"
            | "shouts"
            | "yelled"
            | "wrote"
            | "writes"
            | "asked"
            | "replied"
            | "whispered"
            | "quoted"
            | "reads"
            | "goes"
            | "told"
            | "texted"
            | "announced"
            | "laughed"
            | "muttered"
            | "screamed"
            | "sang"
            | "sings"
            | "called"
            | "titled"
            | "named"
            | "quote"
            | "lyric"
            | "lyrics"
    )
}

/// What one does not plan although one says "I'll" or "I have to" before it: remarks, feelings and states.
pub(in crate::tasks) fn is_remark(key: &str) -> bool {
    matches!(
        key,
        "admit"
            | "say"
            | "bet"
            | "guess"
            | "know"
            | "have"
            | "miss"
            | "love"
            | "hate"
            | "never"
            | "not"
            | "wonder"
            | "feel"
            | "wait"
            | "die"
            | "scream"
            | "cry"
            | "live"
            | "survive"
            | "forget"
            | "believe"
            | "hope"
            | "understand"
            | "agree"
            | "regret"
            | "like"
            | "want"
            | "enjoy"
            | "always"
            | "confess"
            | "laugh"
            | "vent"
            | "breathe"
            | "relax"
            | "see"
            | "disagree"
            | "imagine"
            | "assume"
            | "suppose"
            | "remain"
            | "stay"
            | "end"
            | "happen"
            | "look"
            | "sound"
            | "seem"
            | "own"
            | "deal"
            | "cope"
            | "accept"
    )
}
