//! Written speech → words and the marks after them.
//!
//! A folder of transcripts may hold, at any depth: `.txt` with one turn a line; `.md` with turns like `**Name:** text`;
//! `.nlp`, tables with the columns `token`, `speaker` and `punctuation`, divided by `|`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::shape::{CASES, MARKS, rows_of};

/// A longer turn is cut, at the end of a sentence where there is one.
const MAX_WORDS: usize = 96;
const MIN_WORDS: usize = 20;

/// What one speaker said in one go.
#[derive(Clone)]
pub struct Turn {
    /// For each word its rows of the table.
    pub rows: Vec<[usize; 3]>,
    /// For each word the class of the mark after it.
    pub marks: Vec<u8>,
    /// For each word the class of its case, or [`UNKNOWN`].
    pub cases: Vec<u8>,
    /// The set that it is from.
    pub set: String,
}

impl Turn {
    fn new(set: &str, words: &[Said]) -> Self {
        Self {
            rows: words.iter().map(|word| rows_of(&word.key)).collect(),
            marks: words.iter().map(|word| word.mark).collect(),
            cases: words.iter().map(|word| word.case).collect(),
            set: set.to_owned(),
        }
    }
}

/// A case that says nothing: at the start of a sentence, of "I", and where capitals stand inside a word.
const UNKNOWN: u8 = u8::MAX;

/// A word of written speech.
#[derive(Clone)]
struct Said {
    /// In lower case.
    key: String,
    mark: u8,
    case: u8,
}

impl Said {
    /// A sound or half a word.
    fn slip(key: &str) -> Self {
        Self { key: key.to_owned(), mark: 0, case: 0 }
    }
}

/// A row of a set, as [`rows`] chooses them: what was said, and the same in writing.
pub struct Row {
    pub set: String,
    pub input: String,
    pub expected: String,
}

/// The rows of every `.jsonl` file in `folder` that write down what was said: `expected` ends like a sentence, and
/// `input` does not.
pub fn rows(folder: &Path) -> Result<Vec<Row>, String> {
    let ends = |text: &str| text.ends_with(['.', '?', '!', '"']);
    let mut rows = vec![];
    for path in files(folder, &["jsonl"])? {
        let set = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        for line in read(&path)?.lines().filter(|line| !line.trim().is_empty()) {
            let row: serde_json::Value =
                serde_json::from_str(line).map_err(|why| format!("{}: {why}", path.display()))?;
            let english = |name: &str| row[name].as_str().is_none_or(|tag| tag.starts_with("en") || tag == "auto");
            let (Some(input), Some(expected)) = (row["input"].as_str(), row["expected"].as_str()) else { continue };
            if ends(expected) && !ends(input) && !expected.contains('\n') && english("language") && english("lang") {
                rows.push(Row { set: set.clone(), input: input.to_owned(), expected: expected.to_owned() });
            }
        }
    }
    if rows.is_empty() { Err(format!("{} has no rows", folder.display())) } else { Ok(rows) }
}

impl Row {
    pub fn turn(&self) -> Turn {
        Turn::new(&self.set, &marked_words(&self.expected))
    }
}

/// A row a line of written speech.
pub fn said(set: &str, text: &str) -> Vec<Row> {
    let row = |line: &str| {
        let input = line.to_lowercase().replace(['.', ',', '?'], "");
        Row { set: set.to_owned(), input, expected: line.to_owned() }
    };
    text.lines().map(row).collect()
}

/// A turn a line.
pub fn lines(set: &str, text: &str) -> Vec<Turn> {
    text.lines().map(|line| Turn::new(set, &marked_words(line))).collect()
}

/// About `limit` words of the transcripts under `folder`, in turns that are shuffled and made as halting as speech is.
pub fn transcripts(folder: &Path, limit: usize) -> Result<Vec<Turn>, String> {
    let mut turns = vec![];
    for path in files(folder, &["txt", "md", "nlp"])? {
        let text = read(&path)?;
        match path.extension().and_then(|e| e.to_str()) {
            Some("md") => text.lines().filter_map(spoken_line).for_each(|line| push_cut(&mut turns, &line)),
            Some("nlp") => table_turns(&text).iter().for_each(|line| push_cut(&mut turns, line)),
            _ => text.lines().for_each(|line| push_cut(&mut turns, line)),
        }
    }
    let mut random = Random::new(2);
    random.shuffle(&mut turns);
    let mut words = 0;
    let mut halting = vec![];
    for turn in turns {
        let turn = with_slips(turn, &mut random);
        words += turn.len();
        halting.push(Turn::new("transcripts", &turn));
        if words >= limit {
            break;
        }
    }
    if halting.is_empty() { Err(format!("{} has no transcripts", folder.display())) } else { Ok(halting) }
}

fn files(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, String> {
    let listing = fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut found = vec![];
    for entry in listing.flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, extensions)?);
        } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| extensions.contains(&e)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))
}

/// What is said in a line of a transcript in Markdown: no name, no headings and tables, no remarks such as `\[laughs\]`.
fn spoken_line(line: &str) -> Option<String> {
    let said = match line.strip_prefix("**").and_then(|rest| rest.split_once(":**")) {
        Some((_, said)) => said,
        None => line,
    };
    if said.starts_with(['#', '|', '<']) {
        return None;
    }
    let mut plain = String::with_capacity(said.len());
    let mut rest = said;
    while let Some((before, after)) = rest.split_once('[') {
        plain.push_str(before.trim_end_matches('\\'));
        let (inside, after) = after.split_once(']').unwrap_or(("", after));
        // A link keeps its text; a remark goes.
        rest = match after.strip_prefix('(').and_then(|address| address.split_once(')')) {
            Some((_, after)) => {
                plain.push_str(inside);
                after
            }
            None => after,
        };
    }
    plain.push_str(rest);
    Some(plain.replace(['*', '`', '\\'], ""))
}

/// The turns of a table of tokens.
fn table_turns(text: &str) -> Vec<String> {
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap_or_default().split('|').collect();
    let column = |name: &str| head.iter().position(|title| *title == name);
    let (Some(token), Some(speaker), Some(mark)) = (column("token"), column("speaker"), column("punctuation")) else {
        return vec![];
    };
    let mut turns: Vec<String> = vec![];
    let mut last = None;
    for line in lines {
        let cells: Vec<&str> = line.split('|').collect();
        let (Some(token), Some(speaker), Some(mark)) = (cells.get(token), cells.get(speaker), cells.get(mark)) else {
            continue;
        };
        if last != Some(*speaker) {
            turns.push(String::new());
            last = Some(*speaker);
        }
        // A token in angle brackets is a remark.
        if let (Some(turn), false) = (turns.last_mut(), token.starts_with('<')) {
            turn.push_str(token);
            turn.push_str(mark.trim());
            turn.push(' ');
        }
    }
    turns
}

fn push_cut(turns: &mut Vec<Vec<Said>>, line: &str) {
    let words = marked_words(line);
    let mut rest = words.as_slice();
    while rest.len() >= 3 {
        let cut = if rest.len() <= MAX_WORDS {
            rest.len()
        } else {
            (MIN_WORDS..MAX_WORDS).rev().find(|&i| rest[i - 1].mark >= 2).unwrap_or(MAX_WORDS)
        };
        turns.push(rest[..cut].to_vec());
        rest = &rest[cut..];
    }
}

/// The words of written speech, each with the class of the mark after it: none, comma, full stop, question mark. Every
/// other mark counts as the one of these that is nearest to it; the end of the text is the end of a sentence.
fn marked_words(text: &str) -> Vec<Said> {
    let edge = |c: char| !c.is_alphanumeric() && !"%$£€#@&+".contains(c);
    let chunks: Vec<&str> = text.split_whitespace().collect();
    let mut words: Vec<Said> = Vec::with_capacity(chunks.len());
    for (i, chunk) in chunks.iter().enumerate() {
        let core = chunk.trim_matches(edge);
        let trail = chunk.trim_start_matches(edge).strip_prefix(core).unwrap_or(chunk);
        let capital_follows = || {
            let next = chunks.get(i + 1).map_or("", |next| next.trim_start_matches(edge));
            next.starts_with(char::is_uppercase)
        };
        let mark = match trail {
            _ if trail.contains('?') => 3,
            _ if trail.contains("..") || trail.contains('…') => 1 + u8::from(capital_follows()),
            _ if trail.contains(['.', '!', ';']) => 2,
            _ if trail.contains([',', ':']) => 1,
            _ => 0,
        };
        if !core.is_empty() {
            let begins = words.last().is_none_or(|last| last.mark >= 2) || chunk.starts_with(['"', '“']);
            words.push(Said { key: core.to_lowercase().replace('’', "'"), mark, case: case_of(core, begins) });
        } else if let Some(last) = words.last_mut() {
            let dash = matches!(*chunk, "-" | "–" | "—");
            last.mark = last.mark.max(mark).max(u8::from(dash));
        }
    }
    if let Some(last) = words.last_mut() {
        last.mark = last.mark.max(2);
    }
    words
}

fn case_of(word: &str, begins: bool) -> u8 {
    let base = word.trim_end_matches("'s").trim_end_matches("’s");
    let letters = base.chars().filter(|c| c.is_alphabetic()).count();
    let capitals = base.chars().filter(|c| c.is_uppercase()).count();
    let first_person = base == "I" || base.starts_with("I'") || base.starts_with("I’");
    match capitals {
        _ if begins || first_person || letters == 0 => UNKNOWN,
        0 => 0,
        n if n > 1 && n == letters => 2,
        _ if base.starts_with(char::is_uppercase) => 1,
        _ => UNKNOWN,
    }
}

/// Every other turn with sounds, fragments and repeats such as speakers make and transcripts leave out.
fn with_slips(words: Vec<Said>, random: &mut Random) -> Vec<Said> {
    if random.below(2) == 0 {
        return words;
    }
    // In a thousand words.
    let rate = 20 + random.below(40);
    let mut out: Vec<Said> = Vec::with_capacity(words.len() * 5 / 4);
    for (i, word) in words.iter().enumerate() {
        if random.below(1_000) < rate {
            out.push(Said::slip(["uh", "um", "uh", "mm", "er"][random.below(5)]));
        }
        let key = &word.key;
        let begins = i == 0 || words[i - 1].mark > 0;
        // Short words and beginnings are said twice more often.
        if random.below(2_000) < if begins || key.len() < 4 { rate * 3 } else { rate } {
            match (random.below(3), words.get(i + 1)) {
                (0, _) if key.len() > 3 && key.is_ascii() => {
                    out.push(Said::slip(&key[..1 + random.below(key.len() - 2)]))
                }
                (1, Some(next)) if word.mark == 0 => {
                    out.extend([word.clone(), Said { mark: 0, ..next.clone() }]);
                }
                _ => out.push(Said { mark: 0, ..word.clone() }),
            }
        }
        out.push(word.clone());
    }
    out
}

/// The class of the mark after each word of a turn, and of each word's case.
pub type Found = (Vec<u8>, Vec<u8>);

/// F1 of comma, full stop, question mark, all marks, the cases of names, and capitals, for each set and over all sets.
pub fn scores(found: &[(Turn, Found)]) -> String {
    let mut sets: BTreeMap<&str, Tally> = BTreeMap::new();
    for (turn, found) in found {
        for name in [turn.set.as_str(), "together"] {
            sets.entry(name).or_default().add(turn, found);
        }
    }
    let line = |(name, Tally { marks, names, capitals }): (&&str, &Tally)| {
        let [comma, stop, question] = [1, 2, 3].map(|class| marks.f1(class..class + 1));
        let [all, names, capitals] = [marks.f1(1..MARKS), names.f1(1..CASES), capitals.f1(1..2)];
        format!(
            "\n  {name:24} , {comma:.3}  . {stop:.3}  ? {question:.3}  all {all:.3}  names {names:.3}  capitals {capitals:.3}"
        )
    };
    sets.iter().map(line).collect()
}

#[derive(Default)]
struct Tally {
    marks: Counts<MARKS>,
    names: Counts<CASES>,
    /// Of words that begin sentences, and of names; "I" counts for nothing.
    capitals: Counts<2>,
}

impl Tally {
    fn add(&mut self, turn: &Turn, (marks, cases): &Found) {
        self.marks.add(marks, &turn.marks);
        self.names.add(cases, &turn.cases);
        let begins = |marks: &[u8], t: usize| t == 0 || marks[t - 1] >= 2;
        let n = turn.rows.len();
        let found: Vec<u8> = (0..n).map(|t| u8::from(begins(marks, t) || cases[t] > 0)).collect();
        let right = |t: usize| if begins(&turn.marks, t) { 1 } else { turn.cases[t] };
        let right: Vec<u8> = (0..n).map(|t| if right(t) == UNKNOWN { UNKNOWN } else { right(t).min(1) }).collect();
        self.capitals.add(&found, &right);
    }
}

/// For each class: hits, extras, misses.
struct Counts<const N: usize>([[f64; 3]; N]);

impl<const N: usize> Default for Counts<N> {
    fn default() -> Self {
        Self([[0.0; 3]; N])
    }
}

impl<const N: usize> Counts<N> {
    fn add(&mut self, found: &[u8], right: &[u8]) {
        for (&found, &right) in found.iter().zip(right).filter(|(_, right)| **right != UNKNOWN) {
            if found == right {
                self.0[usize::from(found)][0] += 1.0;
            } else {
                self.0[usize::from(found)][1] += 1.0;
                self.0[usize::from(right)][2] += 1.0;
            }
        }
    }

    fn f1(&self, classes: std::ops::Range<usize>) -> f64 {
        let [hits, extras, misses] =
            self.0[classes].iter().fold([0.0; 3], |sum, class| std::array::from_fn(|i| sum[i] + class[i]));
        2.0 * hits / (2.0 * hits + extras + misses).max(1.0)
    }
}

/// Numbers that look random and are the same every time: xorshift64*.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) * n as u64) >> 32) as usize
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// Between -`most` and `most`.
    pub fn within(&mut self, most: f32) -> f32 {
        (self.below(1 << 20) as f32 / (1 << 19) as f32 - 1.0) * most
    }
}
