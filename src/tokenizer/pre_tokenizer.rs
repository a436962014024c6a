//! Cutting a text into the words that byte pairs are merged within, one table row for each kind of pre-tokenizer.
//!
//! A row lists stages; each stage cuts the pieces of the stage before it. The patterns are those of the models'
//! published tokenizers as llama.cpp reads them, since its reading is what GGUF files are made and tested with. They
//! are written as tables and not as regular expressions: a few dozen lines match them, in linear time whatever the
//! text, where a library for all regular expressions would be a third of what a browser downloads. Two are rewritten:
//!
//! - `\s+(?!\S)|\s+` (white space leaves its last character to the word that follows) is `\s+` and a step back; see
//!   [`Stage::Words`].
//! - `(?=[\p{L}])([^a-z])` is a letter that is not one of those.

use super::pattern::{
    ASCII_MARK, CAPITAL, CJK, Class, DIGIT, GRAVE, KANA_OR_HAN, LETTER, LINE_END, MARK, NUMBER, PUNCTUATION, Part,
    Pattern, SLASH, SMALL, SPACE, SYMBOL, WHITE, any, contraction, exactly, find, maybe, of, other_than, some, up_to,
};
use crate::error::{Error, ErrorKind, Result};
use crate::gguf::shown;

/// One kind of pre-tokenizer.
#[derive(Debug)]
struct Row {
    /// The names that `tokenizer.ggml.pre` gives it.
    names: &'static [&'static str],
    stages: &'static [Stage],
    /// Whether a word that is a token is that token, even where merges would not lead there.
    ignores_merges: bool,
    /// Whether a text starts with the beginning-of-text token where the file does not say.
    adds_bos: bool,
}

/// One round of cutting. What a pattern matches is a piece, and so is what lies between two matches.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Isolate(Pattern),
    /// As `Isolate`, but white space that is matched before something else in the piece leaves its last character to
    /// it, unless it has only one.
    Words(Pattern),
    /// As `Words`, but white space that ends a line is matched with its lines and leaves nothing.
    WordsByLine(Pattern),
}

// The parts of patterns, each with the regular expression that it stands for.

/// `\p{L}+`
const LETTERS: Part = some(of(LETTER));
/// `[^\r\n\p{L}\p{N}]?`
const LEAD: Part = maybe(other_than(LINE_END | LETTER | NUMBER));
/// ` ?`
const MAYBE_SPACE: Part = maybe(of(SPACE));
/// `[\p{L}--[a-z]]`
const NOT_SMALL: Class = of(LETTER).but(SMALL);
/// `[\p{L}--[A-Z]]`
const NOT_CAPITAL: Class = of(LETTER).but(CAPITAL);
/// `[^\s\p{L}\p{N}]+`
const OTHERS: Part = some(other_than(WHITE | LETTER | NUMBER));
/// `\s+`
const WHITES: &[Part] = &[some(of(WHITE))];
/// `\s*[\r\n]+`
const LINE_ENDS: &[Part] = &[any(of(WHITE)), some(of(LINE_END))];
/// `'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]`
const CONTRACTION: &[Part] = &[contraction(1)];
/// `[^\r\n\p{L}\p{N}]?\p{L}+`
const LED_LETTERS: &[Part] = &[LEAD, LETTERS];
/// ` ?[^\s\p{L}\p{N}]+[\r\n]*`
const OTHERS_TO_LINE_END: &[Part] = &[MAYBE_SPACE, OTHERS, any(of(LINE_END))];
/// ` ?[^\s\p{L}\p{N}]+[\r\n/]*`
const OTHERS_TO_SLASH: &[Part] = &[MAYBE_SPACE, OTHERS, any(of(LINE_END | SLASH))];

const A_NUMBER: Pattern = &[&[exactly(1, of(NUMBER))]];
const NUMBERS: Pattern = &[&[some(of(NUMBER))]];
const UP_TO_THREE_NUMBERS: Pattern = &[&[up_to(3, of(NUMBER))]];
const THREE_DIGITS: Pattern = &[&[exactly(3, of(DIGIT))]];
/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+`
const GPT2: Pattern = &[
    &[Part::SmallContraction],
    &[MAYBE_SPACE, LETTERS],
    &[MAYBE_SPACE, some(of(NUMBER))],
    &[MAYBE_SPACE, OTHERS],
    WHITES,
];
const LLAMA3: Pattern = &[CONTRACTION, LED_LETTERS, UP_TO_THREE_NUMBERS[0], OTHERS_TO_LINE_END, LINE_ENDS, WHITES];

const ROWS: &[Row] = &[
    Row {
        names: &["smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"],
        stages: &[Stage::Isolate(A_NUMBER), Stage::Words(GPT2)],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "granite-docling", "exaone4", "gigachat"],
        stages: &[Stage::Words(GPT2)],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "lfm2"],
        stages: &[Stage::WordsByLine(LLAMA3)],
        ignores_merges: true,
        adds_bos: true,
    },
    Row {
        names: &["dbrx", "smaug-bpe", "chatglm-bpe", "glm4"],
        stages: &[Stage::WordsByLine(LLAMA3)],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["qwen2", "deepseek-r1-qwen", "stablelm2", "hunyuan", "megrez"],
        stages: &[Stage::WordsByLine(&[CONTRACTION, LED_LETTERS, A_NUMBER[0], OTHERS_TO_LINE_END, LINE_ENDS, WHITES])],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["qwen35"],
        stages: &[Stage::WordsByLine(&[
            CONTRACTION,
            &[LEAD, some(of(LETTER | MARK))],
            A_NUMBER[0],
            &[MAYBE_SPACE, some(other_than(WHITE | LETTER | MARK | NUMBER)), any(of(LINE_END))],
            LINE_ENDS,
            WHITES,
        ])],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["seed-coder"],
        // White space holds the ends of lines, so that nothing else has to shut them out.
        stages: &[Stage::WordsByLine(&[
            CONTRACTION,
            LED_LETTERS,
            A_NUMBER[0],
            &[MAYBE_SPACE, OTHERS],
            LINE_ENDS,
            WHITES,
        ])],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["deepseek-v3", "hunyuan-dense"],
        stages: &[
            Stage::Isolate(UP_TO_THREE_NUMBERS),
            Stage::Isolate(&[&[some(of(KANA_OR_HAN))]]),
            Stage::WordsByLine(&[
                &[exactly(1, of(ASCII_MARK)), some(of(SMALL | CAPITAL))],
                &[maybe(other_than(LINE_END | LETTER | PUNCTUATION | SYMBOL)), some(of(LETTER | MARK))],
                &[MAYBE_SPACE, some(of(PUNCTUATION | SYMBOL)), any(of(LINE_END))],
                LINE_ENDS,
                WHITES,
            ]),
        ],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["deepseek-coder"],
        stages: &[
            Stage::Isolate(&[&[exactly(1, of(LINE_END))]]),
            Stage::Isolate(&[&[maybe(of(WHITE)), LETTERS]]),
            Stage::Isolate(&[&[maybe(of(WHITE)), some(of(PUNCTUATION))]]),
            Stage::Isolate(&[&[some(of(CJK).but(WHITE))]]),
            Stage::Isolate(A_NUMBER),
        ],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["falcon"],
        // `[\p{P}$+<=>^~|`]+`: among the ASCII characters all that are printed and neither letter nor digit.
        stages: &[
            Stage::Isolate(&[&[some(of(PUNCTUATION | ASCII_MARK))]]),
            Stage::Words(GPT2),
            Stage::Isolate(THREE_DIGITS),
        ],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["tekken"],
        stages: &[Stage::WordsByLine(&[
            &[LEAD, any(NOT_SMALL), some(NOT_CAPITAL)],
            &[LEAD, some(NOT_SMALL), any(NOT_CAPITAL)],
            A_NUMBER[0],
            OTHERS_TO_SLASH,
            LINE_ENDS,
            WHITES,
        ])],
        ignores_merges: true,
        adds_bos: true,
    },
    Row {
        names: &["gpt-4o", "llama4"],
        stages: &[Stage::WordsByLine(&[
            &[LEAD, any(NOT_SMALL), some(NOT_CAPITAL), contraction(0)],
            &[LEAD, some(NOT_SMALL), any(NOT_CAPITAL), contraction(0)],
            UP_TO_THREE_NUMBERS[0],
            OTHERS_TO_SLASH,
            LINE_ENDS,
            WHITES,
        ])],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["default"],
        // As `falcon`, without the grave accent.
        stages: &[
            Stage::Isolate(&[&[some(of(PUNCTUATION | ASCII_MARK).but(GRAVE))]]),
            Stage::Words(GPT2),
            Stage::Isolate(NUMBERS),
            Stage::Isolate(THREE_DIGITS),
        ],
        ignores_merges: false,
        adds_bos: false,
    },
];

/// One of the kinds.
#[derive(Debug)]
pub(super) struct PreTokenizer {
    stages: &'static [Stage],
    pub(super) ignores_merges: bool,
    pub(super) adds_bos: bool,
}

impl PreTokenizer {
    /// The pre-tokenizer that `tokenizer.ggml.pre` names.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Tokenizer`] for a name that is not in the table.
    pub(super) fn new(name: &str) -> Result<Self> {
        let row = ROWS.iter().find(|row| row.names.contains(&name)).ok_or_else(|| {
            Error::new(ErrorKind::Tokenizer, format!("the pre-tokenizer `{}` is not known", shown(name)))
        })?;
        Ok(Self { stages: row.stages, ignores_merges: row.ignores_merges, adds_bos: row.adds_bos })
    }

    /// Calls `word` with each word of the text, in order. Together they are the text.
    pub(super) fn words<'t>(&self, text: &'t str, word: &mut impl FnMut(&'t str) -> Result<()>) -> Result<()> {
        cut(self.stages, text, word)
    }
}

fn cut<'t>(stages: &[Stage], text: &'t str, word: &mut impl FnMut(&'t str) -> Result<()>) -> Result<()> {
    let Some((stage, later)) = stages.split_first() else {
        return if text.is_empty() { Ok(()) } else { word(text) };
    };
    let (Stage::Isolate(pattern) | Stage::Words(pattern) | Stage::WordsByLine(pattern)) = stage;
    let mut rest = text;
    // A new search for each match, since a step back moves where the next one begins.
    while let Some(found) = find(pattern, rest) {
        let end = step_back(*stage, rest, found.start, found.end);
        cut(later, &rest[..found.start], word)?;
        cut(later, &rest[found.start..end], word)?;
        rest = &rest[end..];
    }
    cut(later, rest, word)
}

/// Where a match ends once white space has left its last character to what follows.
fn step_back(stage: Stage, text: &str, start: usize, end: usize) -> usize {
    let by_line = match stage {
        Stage::Isolate(_) => return end,
        Stage::Words(_) => false,
        Stage::WordsByLine(_) => true,
    };
    let matched = &text[start..end];
    let white = end < text.len() && matched.chars().all(char::is_whitespace);
    let last = matched.char_indices().next_back().map_or(0, |(at, _)| at);
    if !white || last == 0 || by_line && matched.ends_with(['\r', '\n']) { end } else { start + last }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tokenizers::utils::SysRegex;

    /// The published patterns, one name of each row with the regular expression of each stage.
    const PUBLISHED: &str = include_str!("../../tests/data/tokenizer/pre_tokenizers.json");

    fn published() -> Vec<(String, Vec<SysRegex>)> {
        let rows: serde_json::Map<String, serde_json::Value> = serde_json::from_str(PUBLISHED).unwrap();
        let regexes = |row: serde_json::Value| serde_json::from_value::<Vec<String>>(row).unwrap();
        rows.into_iter()
            .map(|(name, row)| (name, regexes(row).iter().map(|regex| SysRegex::new(regex).unwrap()).collect()))
            .collect()
    }

    fn agree(rows: &[(String, Vec<SysRegex>)], text: &str) {
        for (name, regexes) in rows {
            let PreTokenizer { stages, .. } = PreTokenizer::new(name).unwrap();
            assert_eq!(stages.len(), regexes.len(), "stages of {name}");
            for (stage, regex) in stages.iter().zip(regexes) {
                let (Stage::Isolate(pattern) | Stage::Words(pattern) | Stage::WordsByLine(pattern)) = stage;
                let first = regex.find_iter(text).next().filter(|(start, end)| start < end);
                assert_eq!(find(pattern, text).map(|found| (found.start, found.end)), first, "{name} in {text:?}");
            }
        }
    }

    #[test]
    fn every_row_is_judged() {
        let rows = published();
        for row in ROWS {
            assert!(rows.iter().any(|(name, _)| row.names.contains(&&**name)), "{:?}", row.names);
        }
    }

    /// A library for regular expressions as the judge: each character alone, and between letters.
    #[test]
    fn every_character_is_classed_as_by_regular_expressions() {
        let rows = published();
        for c in '\0'..=char::MAX {
            // Beyond the planes with letters there are too many that are all alike.
            if u32::from(c) < 0x3_2400 || u32::from(c).is_multiple_of(977) {
                agree(&rows, &format!("{c}"));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn patterns_match_what_regular_expressions_match(
            text in proptest::collection::vec(proptest::sample::select(
                " \t\r\n  'sStTrReEvVmMlLdDaZÀßʰǅ中かカ가\u{301}\u{1680}19²Ⅷ٣.,!-/`$€|~\"\u{7f}\u{200d}🙂".chars().collect::<Vec<_>>()
            ), 0..12)
        ) {
            agree(&published(), &text.into_iter().collect::<String>());
        }
    }
}
