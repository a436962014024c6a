//! Grammars and texts made at random: whatever they are, all judges agree and every promise holds.

use std::sync::{Arc, LazyLock};

use fairhand::grammar::{Constraint, Grammar};
use fairhand::tokenizer::TokenId;
use proptest::prelude::*;

use super::judge::{World, by_tokens};
use super::naive::{Input, Naive};

static WORLD: LazyLock<World> = LazyLock::new(World::new);

/// How many rules a random grammar has besides `root`.
const RULES: usize = 3;

fn leaf() -> impl Strategy<Value = String> {
    let literals =
        ["\"a\"", "\"b\"", "\"ab\"", "\"aa\"", "\"é\"", "\"日\"", "\"😀\"", "\"\"", "\", \"", "\"\\\"\"", "\"12\""];
    let classes = [
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
    ];
    prop_oneof![
        3 => prop::sample::select(literals.to_vec()).prop_map(str::to_owned),
        3 => prop::sample::select(classes.to_vec()).prop_map(str::to_owned),
        // Mostly with something before it, so that few grammars are left-recursive.
        2 => (0..RULES).prop_map(|rule| format!("(\"a\" r{rule})")),
        1 => (0..RULES).prop_map(|rule| format!("r{rule}")),
    ]
}

fn expression() -> impl Strategy<Value = String> {
    let repetition = prop::sample::select(vec![
        "*", "+", "?", "{2}", "{0,3}", "{1,4}", "{2,}", "{3,40}", "{0,90}", "{30,50}", "{25,}", "{70}",
    ]);
    leaf().prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 1..4).prop_map(|items| format!("({})", items.join(" "))),
            2 => prop::collection::vec(inner.clone(), 1..4).prop_map(|items| format!("({})", items.join(" | "))),
            2 => (inner, repetition.clone()).prop_map(|(item, repetition)| format!("({item}){repetition}")),
        ]
    })
}

fn grammar() -> impl Strategy<Value = String> {
    (expression(), prop::collection::vec(expression(), RULES)).prop_map(|(root, rules)| {
        let rules = rules.iter().enumerate().map(|(i, rule)| format!("\nr{i} ::= {rule}")).collect::<String>();
        format!("root ::= {root}{rules}")
    })
}

/// A stream of choices that depends on nothing but its seed (SplitMix64).
pub struct Choices(pub u64);

impl Choices {
    pub fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % count as u64) as usize
    }
}

fn random_text(choices: &mut Choices) -> String {
    let alphabet = ["a", "b", "a", "ab", "é", "日", "😀", "1", "\"", ", ", "z", "aaa"];
    (0..choices.below(9)).map(|_| alphabet[choices.below(alphabet.len())]).collect()
}

/// Whole tokens after which the output so far is still text, or `None`.
fn text_of(tokens: &[TokenId]) -> Option<String> {
    let bytes = tokens.iter().flat_map(|id| WORLD.vocabulary.bytes(*id)).copied().collect();
    String::from_utf8(bytes).ok()
}

/// Repetitions of what may be empty, inside of one another and of the whole.
fn nested_counts() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["\"a\"", "\"aa\"", "[ab]", "(\"b\" root)"]).prop_map(str::to_owned);
    let counts = prop::sample::select(vec!["{0,2}", "{0,7}", "{2,12}", "{0,90}", "{3,40}", "{7}", "{25,}", "*"]);
    let nested = leaf.prop_recursive(4, 16, 2, move |inner| {
        (prop::collection::vec(inner, 1..3), prop::sample::select(vec![" ", " | ", " | | "]), counts.clone())
            .prop_map(|(items, between, counts)| format!("({}){counts}", items.join(between)))
    });
    nested.prop_map(|nested| format!("root ::= {nested}"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_judges_agree_about_texts(source in grammar(), seed: u64) {
        let Ok(grammar) = Grammar::parse(&source) else { return Ok(()) };
        let grammar = Arc::new(grammar);
        let naive = Naive::parse(&source).expect("the judge can read what the engine can");
        let mut constraint = Constraint::new(grammar.clone(), WORLD.trie.clone()).unwrap();
        let mut choices = Choices(seed);
        for _ in 0..12 {
            let text = random_text(&mut choices);
            let verdict = naive.judge(&Input::text(&text));
            prop_assert_eq!(grammar.matches(text.as_bytes()), verdict.accepted, "matches {:?} of {}", text, source);
            prop_assert_eq!(grammar.begins(text.as_bytes()), verdict.viable, "begins {:?} of {}", text, source);
            let by_tokens = by_tokens(&mut constraint, &WORLD, &[text.as_bytes()], |count| choices.below(count));
            prop_assert_eq!(by_tokens, Some((verdict.accepted, verdict.viable)), "tokens of {:?} of {}", text, source);
        }
    }

    #[test]
    fn nested_counts_are_counted(source in nested_counts(), seed: u64) {
        let Ok(grammar) = Grammar::parse(&source) else { return Ok(()) };
        let naive = Naive::parse(&source).expect("the judge can read what the engine can");
        let mut choices = Choices(seed);
        for _ in 0..6 {
            let text: String = (0..choices.below(30)).map(|_| if choices.below(8) == 0 { "b" } else { "a" }).collect();
            let verdict = naive.judge(&Input::text(&text));
            prop_assert_eq!(grammar.matches(text.as_bytes()), verdict.accepted, "matches {:?} of {}", text, source);
            prop_assert_eq!(grammar.begins(text.as_bytes()), verdict.viable, "begins {:?} of {}", text, source);
        }
    }

    #[test]
    fn masks_are_exact(source in grammar(), seed: u64) {
        let Ok(grammar) = Grammar::parse(&source) else { return Ok(()) };
        let naive = Naive::parse(&source).expect("the judge can read what the engine can");
        let mut constraint = Constraint::new(Arc::new(grammar), WORLD.trie.clone()).unwrap();
        let mut choices = Choices(seed);
        let mut output: Vec<TokenId> = Vec::new();
        for _ in 0..12 {
            let mask = constraint.mask(None).unwrap().clone();
            prop_assert_eq!(mask.count(), mask.iter().count());
            for id in 0..WORLD.vocabulary.len() as TokenId {
                let pushed = constraint.push(id).is_ok();
                prop_assert_eq!(mask.allows(id), pushed, "token {} after {:?} of {}", id, output, source);
                if pushed {
                    constraint.rollback(1);
                }
            }
            for _ in 0..8 {
                let id = World::CONTROL + choices.below(WORLD.vocabulary.len() - World::CONTROL as usize) as TokenId;
                let Some(text) = text_of(&[&output[..], &[id]].concat()) else { continue };
                let viable = naive.judge(&Input::text(&text)).viable;
                prop_assert_eq!(mask.allows(id), viable, "token {} after {:?} of {}", id, output, source);
            }
            let allowed: Vec<TokenId> = mask.iter().collect();
            prop_assert!(!allowed.is_empty(), "a dead end after {:?} of {}", output, source);
            let next = allowed[choices.below(allowed.len())];
            constraint.push(next).unwrap();
            if constraint.is_finished() {
                break;
            }
            output.push(next);
        }
    }

    #[test]
    fn every_budget_from_the_least_up_is_kept(source in grammar(), seed: u64, spare in 0usize..30) {
        let Ok(grammar) = Grammar::parse(&source) else { return Ok(()) };
        let grammar = Arc::new(grammar);
        let mut constraint = Constraint::new(grammar.clone(), WORLD.trie.clone()).unwrap();
        let mut choices = Choices(seed);
        let least = constraint.min_tokens().unwrap();
        // All tokens are tried at all steps: long sentences would take long and show nothing new.
        prop_assume!(least <= 100);
        prop_assert_eq!(constraint.mask(Some(0)).unwrap().count(), 0, "not even an end fits into nothing: {}", source);
        let mut left = least + spare;
        let mut output = Vec::new();
        while !constraint.is_finished() {
            let all = constraint.mask(None).unwrap().clone();
            let mask = constraint.mask(Some(left)).unwrap().clone();
            prop_assert!(mask.count() > 0, "a dead end with {} left after {:?} of {}", left, output, source);
            for id in all.iter() {
                constraint.push(id).unwrap();
                let fits = constraint.min_tokens().unwrap() < left;
                constraint.rollback(1);
                prop_assert_eq!(mask.allows(id), fits, "token {} with {} left after {:?} of {}", id, left, output, source);
            }
            let allowed: Vec<TokenId> = mask.iter().collect();
            let next = allowed[choices.below(allowed.len())];
            constraint.push(next).unwrap();
            output.push(next);
            left -= 1;
        }
        output.pop();
        let bytes: Vec<u8> = output.iter().flat_map(|id| WORLD.vocabulary.bytes(*id)).copied().collect();
        prop_assert!(grammar.matches(&bytes), "{:?} is no sentence of {}", output, source);
    }

    #[test]
    fn forced_text_is_in_every_continuation(source in grammar(), seed: u64) {
        let Ok(grammar) = Grammar::parse(&source) else { return Ok(()) };
        let mut constraint = Constraint::new(Arc::new(grammar), WORLD.trie.clone()).unwrap();
        let mut choices = Choices(seed);
        for _ in 0..12 {
            let forced = constraint.forced().unwrap();
            let allowed: Vec<TokenId> = constraint.mask(None).unwrap().iter().collect();
            if !forced.is_empty() {
                for id in &allowed {
                    let text = WORLD.vocabulary.bytes(*id);
                    let shared = text.len().min(forced.len());
                    prop_assert_eq!(&text[..shared], &forced[..shared], "{:?} of {}", forced, source);
                }
            }
            constraint.push(allowed[choices.below(allowed.len())]).unwrap();
            if constraint.is_finished() {
                break;
            }
        }
    }
}
