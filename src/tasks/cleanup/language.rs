//! Which language's rules apply: from the caller's tag, or else from the words themselves.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::lexicon::{holds, is_common_word, is_function_word};
use super::words::Word;

/// A language with words of its own here. All others are [`Language::Other`] and get the universal rules alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::tasks) enum Language {
    English,
    German,
    French,
    Spanish,
    Portuguese,
    Italian,
    Dutch,
    Other,
}

struct Profile {
    language: Language,
    subtag: &'static str,
    /// Sounds that fill pauses and are no words of the language.
    fillers: &'static str,
    /// Frequent little words; what two languages share counts for both.
    function_words: &'static str,
    /// Words that open a question; after them a final mark is a guess.
    interrogatives: &'static str,
    /// Little words that nobody means twice in a row; those of English are many more and have rules of their own.
    stutters: &'static str,
}

const PROFILES: [Profile; 7] = [
    Profile {
        language: Language::English,
        subtag: "en",
        fillers: "um uh er erm uhm hm",
        function_words: "the and of to is that it you was for are with he be this have from or had not but what all were \
                         we when your can there she do how their if will then them would so these some her him has more \
                         could my been who its now did get just i i'm it's don't they about our me an on at",
        interrogatives: "",
        stutters: "",
    },
    Profile {
        language: Language::German,
        subtag: "de",
        fillers: "äh ähm öh öhm hm",
        function_words: "der die das und ist nicht ich du er sie es wir ihr den dem des ein eine einen einem einer mit auf \
                         für von zu im am auch noch nur wenn aber oder dass war sind hat habe haben wird werden kann mein \
                         meine sich bei nach wie aus uns mich dich schon sehr hier jetzt doch um uhr kommt",
        interrogatives: "wer was wann wo warum wieso weshalb wie welche welcher welches wohin woher",
        stutters: "ich und wir ein eine einen einem einer dem den des zu mit auf von für ist im am nicht aber \
                   oder dass wenn auch kann habe hat",
    },
    Profile {
        language: Language::French,
        subtag: "fr",
        fillers: "euh heu hm",
        function_words: "le la les des du un une et est que qui pas ne je tu il elle nous vous ils on ce cette ces dans \
                         pour sur avec au aux mais ou où donc sont été être avoir fait plus très bien tout son sa ses mon \
                         ma mes j'ai c'est qu'on qu'il d'un d'une y de en à l'on peut faut avant on a ai deux trois fois",
        interrogatives: "qui que quoi quand où pourquoi comment combien quel quelle quels quelles est-ce qu'est-ce",
        stutters: "je tu il elle on le la les un une des du de et est que dans pour sur avec au aux mais ce \
                   cette mon ma mes son sa ses ne",
    },
    Profile {
        language: Language::Spanish,
        subtag: "es",
        fillers: "ehm",
        function_words: "el la los las de que y en un una es por con para no se lo su al del como más pero sus le ya o \
                         este sí porque esta entre cuando muy sin sobre también me hasta hay donde quien desde todo nos \
                         está estoy tengo eso yo tú él",
        interrogatives: "qué quién quiénes cuándo dónde por cómo cuánto cuánta cuál cuáles",
        stutters: "el los las un una y de en que por para con yo es se mi su pero al del como",
    },
    Profile {
        language: Language::Portuguese,
        subtag: "pt",
        fillers: "hm",
        function_words: "o a os as de que e do da em um uma é com não para por se na dos das mais como mas foi ao ele \
                         ela seu sua ou ser quando muito já eu você está também só pelo pela até isso entre era depois \
                         sem mesmo tem vi minha meu estou",
        interrogatives: "quem quando onde como quanto qual quais por",
        stutters: "o os um uma e de em que por para com eu é não no na do da mas ao meu minha",
    },
    Profile {
        language: Language::Italian,
        subtag: "it",
        fillers: "ehm",
        function_words: "il lo la i gli le di che e è un una per con non si del della dei in da al alla sono ho ha hai \
                         abbiamo come più ma se anche io tu lui lei noi voi questo questa quello c'è mi ti ci molto nel \
                         nella sul fatto",
        interrogatives: "chi cosa quando dove perché come quanto quale quali che",
        stutters: "il lo gli un una e di in per con io è non del della che ma al alla ho mi si",
    },
    Profile {
        language: Language::Dutch,
        subtag: "nl",
        fillers: "eh euh ehm",
        function_words: "de het een en van is dat ik je niet op te in die met voor zijn er maar om hij ze wij aan ook als \
                         naar dan bij nog wel zo heeft hebben heb ben wordt door kan geen mijn deze dit worden uit over \
                         moet gaan wat",
        interrogatives: "wie wat wanneer waar waarom hoe welke hoeveel",
        stutters: "ik het een en van in op met voor niet maar je we ze is de naar om",
    },
];

impl Language {
    /// The language of a BCP 47 tag.
    pub fn of_tag(tag: &str) -> Self {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        let known = PROFILES.iter().find(|profile| primary.eq_ignore_ascii_case(profile.subtag));
        known.map_or(Self::Other, |profile| profile.language)
    }

    /// The language whose function words are the most frequent in `words`. English wins where there is too little to
    /// tell, unless letters that English does not use stand against it.
    pub fn detect(words: &[Word]) -> Self {
        // "um uh er hmm": nothing but sounds, in whatever language, though some are words of one or another.
        if !words.is_empty() && words.iter().all(|word| Self::English.is_filler(&word.key)) {
            return Self::English;
        }
        // A word counts once: a stutter is no evidence.
        let keys: HashSet<&str> = words.iter().map(|word| word.key.as_str()).collect();
        let mut hits = [0_usize; PROFILES.len()];
        for profile in keys.iter().filter_map(|key| EVIDENCE.get(key)).flatten() {
            hits[*profile] += 1;
        }
        let english = keys.iter().filter(|key| is_function_word(key) || is_common_word(key)).count().max(hits[0]);
        let (other, language) = (1..PROFILES.len())
            .map(|i| (hits[i], PROFILES[i].language))
            .max_by_key(|&(count, _)| count)
            .unwrap_or((0, Self::Other));
        let foreign = words.iter().filter(|word| word.key.chars().any(|c| c.is_alphabetic() && !c.is_ascii())).count();
        if foreign * 2 > words.len() && english == 0 && other == 0 {
            return Self::Other;
        }
        // "um" alone is a filler before it is a Portuguese article.
        let sure = other >= 2 || foreign > 0 || !(keys.contains("um") || keys.contains("er"));
        match other > english {
            true if sure => language,
            // "um filme": a word beside it that is not English, and not enough to tell whose it is.
            true if words_in(&keys) > 1 && english == 0 => Self::Other,
            _ => Self::English,
        }
    }

    /// Whether `key` is a sound that no speaker of the language means as a word. Drawn-out forms count: "ummm".
    pub fn is_filler(self, key: &str) -> bool {
        if !key.starts_with(['u', 'e', 'h', 'ä', 'ö']) {
            return false;
        }
        let drawn = squeeze(key);
        let known = |list: &str| holds(list, key) || (key.len() > 2 && holds(list, &drawn));
        match self.profile() {
            Some(profile) => known(profile.fillers),
            // Only what is a word in none of the languages above.
            None => ["äh", "ähm", "euh", "uhm", "ehm"].contains(&drawn.as_str()),
        }
    }

    /// Whether `key` opens questions in a language other than English, where these rules cannot tell the final mark.
    pub fn is_interrogative(self, key: &str) -> bool {
        self.profile().is_some_and(|profile| holds(profile.interrogatives, key))
    }

    /// Whether `key` said twice in a row is a slip in a language other than English.
    pub fn is_stutter(self, key: &str) -> bool {
        self.profile().is_some_and(|profile| holds(profile.stutters, key))
    }

    fn profile(self) -> Option<&'static Profile> {
        PROFILES.iter().find(|profile| profile.language == self)
    }
}

/// How many of the keys are words, and not pictures or signs.
fn words_in(keys: &HashSet<&str>) -> usize {
    keys.iter().filter(|key| key.contains(char::is_alphabetic)).count()
}

/// Word → the profiles that it speaks for.
static EVIDENCE: LazyLock<HashMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut evidence: HashMap<_, Vec<usize>> = HashMap::new();
    for (i, profile) in PROFILES.iter().enumerate() {
        // "um" and "er" are words elsewhere, so they say nothing.
        let fillers = if profile.language == Language::English { "uh erm uhm" } else { profile.fillers };
        for word in profile.function_words.split_ascii_whitespace().chain(fillers.split_ascii_whitespace()) {
            evidence.entry(word).or_default().push(i);
        }
    }
    evidence
});

/// `key` with every run of one letter cut to one: "uhhh" → "uh".
fn squeeze(key: &str) -> String {
    let mut out = String::with_capacity(key.len());
    for c in key.chars() {
        if !out.ends_with(c) {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::words::Scanner;
    use super::*;

    fn detect(text: &str) -> Language {
        let mut scanner = Scanner::new(0);
        Language::detect(&std::iter::from_fn(|| scanner.next(text)).collect::<Vec<_>>())
    }

    #[test]
    fn tags() {
        assert_eq!(Language::of_tag("en-GB"), Language::English);
        assert_eq!(Language::of_tag("DE"), Language::German);
        assert_eq!(Language::of_tag("xx"), Language::Other);
    }

    #[test]
    fn words_tell_the_language() {
        let table = [
            ("yes", Language::English),
            ("um buy bread", Language::English),
            ("um uh er hmm", Language::English),
            ("let's meet at the gare du nord around noon", Language::English),
            ("euh je pense qu'on devrait attendre lundi", Language::French),
            ("er kommt um zehn uhr", Language::German),
            ("eu vi um carro vermelho na rua", Language::Portuguese),
            ("nous nous sommes perdus hier", Language::French),
            ("мы поедем завтра утром", Language::Other),
        ];
        for (text, language) in table {
            assert_eq!(detect(text), language, "{text}");
        }
    }

    #[test]
    fn fillers_of_one_language_are_words_of_another() {
        assert!(Language::English.is_filler("um") && Language::English.is_filler("uhhh"));
        assert!(!Language::German.is_filler("um") && !Language::German.is_filler("er"));
        assert!(!Language::Portuguese.is_filler("um") && !Language::Other.is_filler("um"));
        assert!(Language::German.is_filler("ähm"));
    }
}
