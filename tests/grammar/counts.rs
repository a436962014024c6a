//! Masks inside of counted repetitions, where they come from the mask of the same place without its counts.

use std::sync::Arc;

use fairhand::grammar::{Constraint, Grammar, Verdict};
use fairhand::tokenizer::TokenId;

use super::judge::World;
use super::random::Choices;

/// Grammars in which two readings differ in how often they have gone round, a round begins with a call, counts of one
/// rule stand inside of one another, a round has two characters, and more rules are counted than there are lanes.
const GRAMMARS: [&str; 10] = [
    "root ::= [a-z]{1,24} (\" \" [a-z]{1,24}){0,15}",
    "root ::= ([^\"\\\\]{0,12}){2,9}",
    "root ::= first [^\"\\\\]{0,12} \"a\" \"é\"*\nfirst ::= [^a] | . |",
    "root ::= ([^\"\\\\] | \"a\" other | other){0,12} | \"b\"\nother ::= (\", \" | [ab]){1,24}",
    "root ::= \"(\" root{0,9} \")\" | [a-z(]{2,40}",
    "root ::= ([a-z]{0,30} | [a-j]{5,20} \"x\"){1,7} \".\"",
    "root ::= (a b c d e f g h i j){0,20}\na ::= [a-z]{0,11}\nb ::= [a-y]{0,11}\nc ::= [a-x]{0,11}\nd ::= [a-w]{0,11}\n\
     e ::= [a-v]{0,11}\nf ::= [a-u]{0,11}\ng ::= [a-t]{0,11}\nh ::= [a-s]{0,11}\ni ::= [a-r]{0,11}\nj ::= [a-q]{0,11}",
    "root ::= [0-9] \"aa\" ([a-zé-日] [a-z]){2,9}",
    "root ::= \"\\\"\" ([^\"\\\\] | \"\\\\\" [\"n]){1,80} \"\\\"\"",
    "root ::= (\"a\" rest){7} \".\"\nrest ::= ((\"aa\"){0,90} | \"a\" rest \"b\"){0,12} [^b]{0,12}",
];

#[test]
fn masks_follow_counts_to_their_ends() {
    let world = World::new();
    for source in GRAMMARS {
        let grammar = Arc::new(Grammar::parse(source).unwrap());
        let mut constraint = Constraint::new(grammar, world.trie.clone()).unwrap();
        let mut choices = Choices(29);
        for _ in 0..6 {
            constraint.reset();
            for step in 0..60 {
                let mask = constraint.mask(None).unwrap().clone();
                for id in 0..world.vocabulary.len() as TokenId {
                    let pushed = constraint.push(id).is_ok();
                    constraint.rollback(usize::from(pushed));
                    assert_eq!(mask.allows(id), pushed, "token {id} at step {step} of {source}");
                }
                // An end only where there is nothing else, so that counts fill up.
                let mut allowed: Vec<TokenId> = mask.iter().collect();
                allowed.retain(|id| *id != World::EOS || mask.count() == 1);
                constraint.push(allowed[choices.below(allowed.len())]).unwrap();
                if constraint.is_finished() {
                    break;
                }
            }
        }
    }
}

/// Three counts of what may be empty, inside of one another and of themselves: as many readings as there are triples.
#[test]
fn nested_counts_of_what_may_be_empty() {
    let source = "root ::= (\"a\" r1){2} r1 [^\"\\\\] \"aa12\" \"12b\"\nr1 ::= (\"a\" r2){70}\n\
                  r2 ::= r0{0,12} (. | \"é\" | [^a]{0,12} | \"\\\"\")\n\
                  r0 ::= [^\\x00-\\x7F] | \"a\" r1 \"ab\\\"\" [\\u3000-\\u9FFF] | (\"aa\"){0,90}";
    let world = World::new();
    let grammar = Arc::new(Grammar::parse(source).unwrap());
    assert_eq!(grammar.judge(&[b'a'; 100]).unwrap(), Verdict::Beginning);
    let shortest = [&[b'a'; 212][..], b"xaa1212b"].concat();
    assert_eq!(grammar.judge(&shortest).unwrap(), Verdict::Sentence);
    assert!(!grammar.begins(b"ab\"\"\"\"\"\"\"\"\"\"\"\"\"\""));
    let mut constraint = Constraint::new(grammar, world.trie.clone()).unwrap();
    // Seventy times three letters in tokens of three, and the eight that are left.
    assert_eq!(constraint.min_tokens().unwrap(), 77);
    for _ in 0..20 {
        let mask = constraint.mask(None).unwrap();
        assert!(mask.allows(World::CONTROL + u32::from(b'a')) && !mask.allows(World::EOS));
        constraint.push(World::CONTROL + u32::from(b'a')).unwrap();
    }
}

/// What one constraint has learnt serves the next one, and changes no answer.
#[test]
fn a_grammar_is_warm_the_second_time() {
    let world = World::new();
    let grammar = Arc::new(Grammar::parse(GRAMMARS[0]).unwrap());
    let masks = || {
        let mut constraint = Constraint::new(grammar.clone(), world.trie.clone()).unwrap();
        let tokens = world.tokens(b"hello work the abc ing", |count| count - 1);
        tokens.iter().fold(Vec::new(), |mut masks, token| {
            masks.push(constraint.mask(None).unwrap().iter().collect::<Vec<_>>());
            constraint.push(*token).unwrap();
            masks
        })
    };
    let first = masks();
    assert_eq!(first, masks());
    // Two at once: the second has to learn by itself.
    let held = Constraint::new(grammar.clone(), world.trie.clone()).unwrap();
    assert_eq!(first, masks());
    drop(held);
    assert_eq!(first, masks());
    // Over another vocabulary nothing that is known can serve.
    let other = World::new();
    let mut constraint = Constraint::new(grammar.clone(), other.trie.clone()).unwrap();
    assert_eq!(constraint.mask(None).unwrap().iter().collect::<Vec<_>>(), first[0]);
}
