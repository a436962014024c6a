//! Cutting a text into the words that byte pairs are merged within, one table row for each kind of pre-tokenizer.
//!
//! A row lists stages; each stage cuts the pieces of the stage before it. The patterns are those of the models'
//! published tokenizers as llama.cpp reads them, since its reading is what GGUF files are made and tested with, but with
//! two rewrites that keep every pattern within regular expressions proper, which are matched in linear time whatever
//! the text:
//!
//! - `\s+(?!\S)|\s+` (white space leaves its last character to the word that follows) is `\s+` and a step back; see
//!   [`Stage::Words`].
//! - `(?=[\p{L}])([^a-z])` is a class difference.

use tokenizers::utils::SysRegex;

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
    Isolate(&'static str),
    /// As `Isolate`, but white space that is matched before something else in the piece leaves its last character to
    /// it, unless it has only one.
    Words(&'static str),
    /// As `Words`, but white space that ends a line is matched with its lines and leaves nothing.
    WordsByLine(&'static str),
}

const NUMBER: Stage = Stage::Isolate(r"\p{N}");
const NUMBERS: Stage = Stage::Isolate(r"\p{N}+");
const UP_TO_THREE_NUMBERS: Stage = Stage::Isolate(r"\p{N}{1,3}");
const THREE_DIGITS: Stage = Stage::Isolate("[0-9][0-9][0-9]");
const KANA_AND_HAN: Stage = Stage::Isolate("[一-龥぀-ゟ゠-ヿ]+");
const GPT2: Stage = Stage::Words(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+");

macro_rules! contractions {
    () => {
        r"'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"
    };
}

macro_rules! lines {
    () => {
        r"\s*[\r\n]+|\s+"
    };
}

macro_rules! punctuation_or_lines {
    () => {
        concat!(r" ?[^\s\p{L}\p{N}]+[\r\n]*|", lines!())
    };
}

const ROWS: &[Row] = &[
    Row {
        names: &["smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"],
        stages: &[NUMBER, GPT2],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["gpt-2", "phi-2", "mpt", "olmo", "jais", "trillion", "granite-docling", "exaone4", "gigachat"],
        stages: &[GPT2],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "lfm2"],
        stages: &[Stage::WordsByLine(concat!(
            contractions!(),
            r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|",
            punctuation_or_lines!()
        ))],
        ignores_merges: true,
        adds_bos: true,
    },
    Row {
        names: &["dbrx", "smaug-bpe", "chatglm-bpe", "glm4"],
        stages: &[Stage::WordsByLine(concat!(
            contractions!(),
            r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|",
            punctuation_or_lines!()
        ))],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["qwen2", "deepseek-r1-qwen", "stablelm2", "hunyuan", "megrez"],
        stages: &[Stage::WordsByLine(concat!(
            contractions!(),
            r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|",
            punctuation_or_lines!()
        ))],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["qwen35"],
        stages: &[Stage::WordsByLine(concat!(
            contractions!(),
            r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|",
            lines!()
        ))],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["seed-coder"],
        stages: &[Stage::WordsByLine(concat!(
            contractions!(),
            r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|",
            lines!()
        ))],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["deepseek-v3", "hunyuan-dense"],
        stages: &[
            UP_TO_THREE_NUMBERS,
            KANA_AND_HAN,
            Stage::WordsByLine(concat!(
                r"[!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|",
                lines!()
            )),
        ],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["deepseek-coder"],
        stages: &[
            Stage::Isolate(r"[\r\n]"),
            Stage::Isolate(r"\s?\p{L}+"),
            Stage::Isolate(r"\s?\p{P}+"),
            Stage::Isolate(r"[[一-龥ࠀ-一가-퟿]--\s]+"),
            NUMBER,
        ],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["falcon"],
        stages: &[Stage::Isolate(r"[\p{P}$+<=>^~|`]+"), GPT2, THREE_DIGITS],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["tekken"],
        stages: &[Stage::WordsByLine(concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{L}--[a-z]]*[\p{L}--[A-Z]]+|[^\r\n\p{L}\p{N}]?[\p{L}--[a-z]]+[\p{L}--[A-Z]]*",
            r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|",
            lines!()
        ))],
        ignores_merges: true,
        adds_bos: true,
    },
    Row {
        names: &["gpt-4o", "llama4"],
        stages: &[Stage::WordsByLine(concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{L}--[a-z]]*[\p{L}--[A-Z]]+(?:",
            contractions!(),
            r")?|[^\r\n\p{L}\p{N}]?[\p{L}--[a-z]]+[\p{L}--[A-Z]]*(?:",
            contractions!(),
            r")?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|",
            lines!()
        ))],
        ignores_merges: false,
        adds_bos: false,
    },
    Row {
        names: &["default"],
        stages: &[Stage::Isolate(r"[\p{P}$+<=>^~|]+"), GPT2, NUMBERS, THREE_DIGITS],
        ignores_merges: false,
        adds_bos: false,
    },
];

/// A pre-tokenizer, compiled.
#[derive(Debug)]
pub(super) struct PreTokenizer {
    stages: Vec<(Stage, SysRegex)>,
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
        let compile = |stage: &Stage| {
            let (Stage::Isolate(pattern) | Stage::Words(pattern) | Stage::WordsByLine(pattern)) = stage;
            let regex = SysRegex::new(pattern)
                .map_err(|e| Error::new(ErrorKind::Internal, format!("the pattern of `{name}`: {e}")))?;
            Ok((*stage, regex))
        };
        let stages = row.stages.iter().map(compile).collect::<Result<_>>()?;
        Ok(Self { stages, ignores_merges: row.ignores_merges, adds_bos: row.adds_bos })
    }

    /// Calls `word` with each word of the text, in order. Together they are the text.
    pub(super) fn words<'t>(&self, text: &'t str, word: &mut impl FnMut(&'t str) -> Result<()>) -> Result<()> {
        cut(&self.stages, text, word)
    }
}

fn cut<'t>(stages: &[(Stage, SysRegex)], text: &'t str, word: &mut impl FnMut(&'t str) -> Result<()>) -> Result<()> {
    let Some(((stage, regex), later)) = stages.split_first() else {
        return if text.is_empty() { Ok(()) } else { word(text) };
    };
    let mut rest = text;
    // A new search for each match, since a step back moves where the next one begins.
    while let Some((start, end)) = regex.find_iter(rest).next().filter(|(start, end)| start < end) {
        let end = step_back(*stage, rest, start, end);
        cut(later, &rest[..start], word)?;
        cut(later, &rest[start..end], word)?;
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
