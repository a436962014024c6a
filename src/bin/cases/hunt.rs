//! Looks for a grammar about which the judges differ.
//!
//! Makes grammars and texts at random and holds the engine against the naive recogniser: over bytes, by tokens through
//! the mask, each mask against a push of every token, and each budget against the promise that there is always a way to
//! finish in it. The seed of each round is the one before it plus one; a finding names its own, so that
//! `cases hunt 1 SEED` shows it again.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fairhand::error::Detail;
use fairhand::grammar::{Constraint, Grammar, Verdict};
use fairhand::tokenizer::TokenId;

use super::judge::{World, by_tokens};
use super::naive::{Input, Naive};

/// Hunts for some seconds, from a seed on.
pub fn hunt(numbers: &[String]) -> ExitCode {
    let mut numbers = numbers.iter().map(|number| number.parse::<u64>());
    let (Some(Ok(seconds)), seed) = (numbers.next(), numbers.next()) else {
        eprintln!("Give a number of seconds, and perhaps a seed: npm run cases -- hunt SECONDS [SEED]");
        return ExitCode::from(2);
    };
    let first = seed.and_then(Result::ok).unwrap_or(1);
    let world = World::new();
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut seed, mut grammars, mut masks, mut texts) = (first, 0u64, 0u64, 0u64);
    let (mut limits, mut findings) = (0, 0);
    let mut next_note = Instant::now() + Duration::from_secs(600);
    while seed == first || Instant::now() < end {
        let mut choices = Choices(seed);
        let source = random_grammar(&mut choices);
        if let Ok(grammar) = Grammar::parse(&source) {
            let mut round = Round { world: &world, source: &source, grammar: Arc::new(grammar), masks: 0, texts: 0 };
            if let Err(finding) = round.judge(&mut choices) {
                match finding {
                    Stop::Limit => {
                        println!("seed {seed}: a limit");
                        limits += 1;
                    }
                    Stop::Finding(finding) => {
                        println!("seed {seed}: {finding}\n{source}\n");
                        findings += 1;
                    }
                }
            }
            grammars += 1;
            masks += round.masks;
            texts += round.texts;
        }
        if Instant::now() > next_note {
            println!(
                "seed {seed}: {grammars} grammars, {texts} texts, {masks} masks, {limits} limits, {findings} findings so far"
            );
            next_note += Duration::from_secs(600);
        }
        seed += 1;
    }
    let last = seed - 1;
    println!(
        "seeds {first} to {last}: {grammars} grammars, {texts} texts, {masks} masks, {limits} limits, {findings} findings"
    );
    if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Round<'a> {
    world: &'a World,
    source: &'a str,
    grammar: Arc<Grammar>,
    masks: u64,
    texts: u64,
}

/// Why a grammar is left.
enum Stop {
    /// It can be read in too many ways.
    Limit,
    /// Something is wrong, and this is what.
    Finding(String),
}

impl From<fairhand::Error> for Stop {
    fn from(error: fairhand::Error) -> Self {
        match error.detail() {
            Some(Detail::Limit { .. }) => Self::Limit,
            _ => Self::Finding(error.to_string()),
        }
    }
}

fn found<T>(finding: String) -> Result<T, Stop> {
    Err(Stop::Finding(finding))
}

impl Round<'_> {
    fn judge(&mut self, choices: &mut Choices) -> Result<(), Stop> {
        let naive = Naive::parse(self.source);
        let naive = naive.ok_or_else(|| Stop::Finding("the judge cannot read what the engine can".into()))?;
        let mut constraint = Constraint::new(self.grammar.clone(), self.world.trie.clone())?;
        self.texts(&naive, &mut constraint, choices)?;
        self.masks(&naive, &mut constraint, choices)?;
        self.budgets(&mut constraint, choices)
    }

    fn texts(&mut self, naive: &Naive, constraint: &mut Constraint, choices: &mut Choices) -> Result<(), Stop> {
        for _ in 0..8 {
            let text: String = (0..choices.below(9)).map(|_| *choices.among(&TEXTS)).collect();
            let verdict = naive.judge(&Input::text(&text));
            let expected = (verdict.accepted, verdict.viable);
            let by_bytes = self.grammar.judge(text.as_bytes())?;
            let by_bytes = (by_bytes == Verdict::Sentence, by_bytes != Verdict::Nothing);
            let by_tokens = by_tokens(constraint, self.world, &[text.as_bytes()], |count| choices.below(count));
            let by_tokens = by_tokens.ok_or(Stop::Limit)?;
            if by_bytes != expected || by_tokens != expected {
                return found(format!("{text:?}: naive {expected:?}, bytes {by_bytes:?}, tokens {by_tokens:?}"));
            }
            self.texts += 1;
        }
        Ok(())
    }

    /// Along an output drawn from the masks.
    fn masks(&mut self, naive: &Naive, constraint: &mut Constraint, choices: &mut Choices) -> Result<(), Stop> {
        let vocabulary = &self.world.vocabulary;
        constraint.reset();
        let mut output: Vec<u8> = Vec::new();
        // Now and then far into a text, where counts come near their ends.
        let steps = if choices.below(4) == 0 { 60 } else { 10 };
        for _ in 0..steps {
            let mask = constraint.mask(None)?.clone();
            for id in 0..vocabulary.len() as TokenId {
                let pushed = match constraint.push(id) {
                    Err(error) if matches!(error.detail(), Some(Detail::Limit { .. })) => return Err(Stop::Limit),
                    pushed => pushed.is_ok(),
                };
                if pushed {
                    constraint.rollback(1);
                }
                if mask.allows(id) != pushed {
                    return found(format!("after {output:?}: token {id} allowed {}, pushed {pushed}", !pushed));
                }
            }
            self.masks += 1;
            if let Ok(text) = std::str::from_utf8(&output) {
                let id = choices.below(vocabulary.len()) as TokenId;
                let longer = std::str::from_utf8(vocabulary.bytes(id)).map(|piece| format!("{text}{piece}"));
                if let (Ok(longer), false) = (longer, vocabulary.bytes(id).is_empty()) {
                    let viable = naive.judge(&Input::text(&longer)).viable;
                    if mask.allows(id) != viable {
                        return found(format!("{longer:?}: naive viable {viable}, mask {}", !viable));
                    }
                }
            }
            let allowed: Vec<TokenId> = mask.iter().collect();
            if allowed.is_empty() {
                return found(format!("a dead end after {output:?}"));
            }
            let next = *choices.among(&allowed);
            constraint.push(next)?;
            if constraint.is_finished() {
                break;
            }
            output.extend_from_slice(vocabulary.bytes(next));
        }
        Ok(())
    }

    fn budgets(&mut self, constraint: &mut Constraint, choices: &mut Choices) -> Result<(), Stop> {
        constraint.reset();
        let mut left = constraint.min_tokens()? + choices.below(30);
        if left > 200 {
            return Ok(()); // long sentences take long, and show nothing new
        }
        let mut output = Vec::new();
        while !constraint.is_finished() {
            let allowed: Vec<TokenId> = constraint.mask(Some(left))?.iter().collect();
            self.masks += 1;
            if allowed.is_empty() {
                return found(format!("a dead end with {left} tokens left after {output:?}"));
            }
            let next = *choices.among(&allowed);
            constraint.push(next)?;
            output.extend_from_slice(self.world.vocabulary.bytes(next));
            left -= 1;
        }
        match self.grammar.judge(&output)? {
            Verdict::Sentence => Ok(()),
            _ => found(format!("no sentence: {output:?}")),
        }
    }
}

/// Pieces of texts.
const TEXTS: [&str; 12] = ["a", "b", "a", "ab", "é", "日", "😀", "1", "\"", ", ", "z", "aaa"];

const LEAVES: [&str; 22] = [
    "\"a\"",
    "\"b\"",
    "\"ab\"",
    "\"aa\"",
    "\"é\"",
    "\"日\"",
    "\"😀\"",
    "\"\"",
    "\", \"",
    "\"\\\"\"",
    "\"12\"",
    "[ab]",
    "[^a]",
    "[a-z]",
    ".",
    "[0-9]",
    "[^\\\"\\\\]",
    "[\\u3000-\\u9FFF]",
    "[^\\x00-\\x7F]",
    "[a😀]",
    "[xyz ]",
    "[a-zé-日]",
];

const REPETITIONS: [&str; 16] = [
    "*", "+", "?", "{2}", "{0,3}", "{1,4}", "{2,}", "{3,40}", "{0,90}", "{30,50}", "{25,}", "{70}", "{1,6}", "{0,12}",
    "{2,9}", "{1,24}",
];

fn random_grammar(choices: &mut Choices) -> String {
    let mut text = String::new();
    for rule in ["root", "r0", "r1", "r2", "r3"] {
        text += &format!("{rule} ::= {}\n", random_expression(choices, 4));
    }
    text
}

fn random_expression(choices: &mut Choices, depth: usize) -> String {
    let list = |choices: &mut Choices, separator: &str| {
        let items: Vec<String> = (0..1 + choices.below(3)).map(|_| random_expression(choices, depth - 1)).collect();
        format!("({})", items.join(separator))
    };
    match choices.below(if depth == 0 { 7 } else { 14 }) {
        0..=4 => (*choices.among(&LEAVES)).to_owned(),
        // Mostly with something before it, so that few grammars are left-recursive.
        5 => format!("(\"a\" r{})", choices.below(4)),
        6 => format!("r{}", choices.below(4)),
        7..=9 => list(choices, " "),
        10..=11 => list(choices, " | "),
        _ => format!("({}){}", random_expression(choices, depth - 1), choices.among(&REPETITIONS)),
    }
}

/// A stream of choices that depends on nothing but its seed (SplitMix64).
struct Choices(u64);

impl Choices {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % count as u64) as usize
    }

    fn among<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}
