//! Input that has brought other engines down: a clear error, or an answer in bounded time and memory.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use fairhand::error::Detail;
use fairhand::grammar::{Constraint, Dialect, Grammar};
use fairhand::tokenizer::{SpecialTokens, TokenTrie, Vocabulary};
use fairhand::{Error, ErrorKind};

use super::judge::World;

#[track_caller]
fn refused(grammar: &str, line: u32, column: u32) {
    let error = Grammar::parse(grammar).expect_err("the grammar is refused");
    assert_eq!(error.kind(), ErrorKind::InvalidGrammar);
    let Some(Detail::Position { line: at_line, column: at_column, expected }) = error.detail() else {
        panic!("no position: {error:?}")
    };
    assert_eq!((*at_line, *at_column), (line, column), "{error}");
    assert!(!expected.is_empty(), "{error}");
}

#[track_caller]
fn over_limit(grammar: &str) {
    let error = Grammar::parse(grammar).expect_err("the grammar is refused");
    assert_eq!(error.kind(), ErrorKind::InvalidGrammar);
    let Some(Detail::Limit { requested, available }) = error.detail() else { panic!("no limit: {error:?}") };
    assert!(requested > available, "{error}");
}

#[test]
fn every_fault_has_a_place() {
    refused("", 1, 1);
    refused("# nothing\n", 2, 1);
    refused("root ::= \"a\"\nroot ::= \"b\"", 2, 1);
    refused("root ::= \"a\"\r\nx ::= y", 2, 7);
    refused("root ::= \"a\"\rx ::= \"é\" §", 2, 11);
    refused("x ::= \"a\"", 1, 10);
    refused("root ::= (\"a\"\n\n", 1, 10);
    refused("root ::= \"a\n", 1, 10);
    refused("root ::= [a-\n", 1, 10);
    refused("root ::= \"a\"{3,2}", 1, 16);
    refused("root ::= \"a\"{2", 1, 15);
    refused("root ::= <think>", 1, 10);
    refused("root ::= \"\\q\"", 1, 11);
    refused("root ::= \"\"*", 1, 12);
    refused("root ::= \"a\"**", 1, 14);
    refused("root ::= \"a\" \0 \"b\"", 1, 14);
    refused("\n root ::= root \"a\" | \"b\"", 2, 2);
    refused("root ::= e root \"a\" | \"b\"\ne ::= f f\nf ::= \"x\" |", 1, 1);
    refused("root ::= \"x\" | \"a\" dead\ndead ::= \"b\" dead", 2, 1);
    refused("root ::= \"x\" | never\nnever ::= [z-a]", 2, 1);
    refused("root ::= [z-a]", 1, 1);
    refused("root = \"a\"", 1, 6);
    refused("root := \"a\"", 1, 6);
    refused("root", 1, 5);
    refused("$ ::= \"a\"", 1, 1);
    refused("root ::= []a]", 1, 13);
    refused("root ::= [a\\d]", 1, 12);
    refused("root ::= \"\\x4\"", 1, 11);
    refused("root ::= \"\\u00e\"", 1, 11);
    refused("root ::= \"\\U0001F60\"", 1, 11);
    refused("root ::= \"a\"{}", 1, 14);
    refused("root ::= \"a\"{,3}", 1, 14);
    refused("root ::= \"a\"{2,x}", 1, 16);
    refused("root ::= \"a\"{2;3}", 1, 15);
    refused("root ::= \"a\"{-1}", 1, 14);
    refused("root ::= []+", 1, 12);
    refused("root ::= \"a\" | *", 1, 16);
    refused("root ::= (|*)", 1, 12);
    refused("root ::= \"a\");", 1, 13);
    refused("root ::= \"a\";", 1, 13);
    refused("root ::= <[5>", 1, 13);
    refused("root ::= <[x]>", 1, 12);
    refused("root ::= <[]>", 1, 12);
    refused("root ::= <[99999999999]>", 1, 12);
    refused("root ::= <a", 1, 12);
    refused("root ::= !\"a\"", 1, 11);
    refused("root ::= \"a\"\r\r\nb ::= \u{A0}", 3, 7);
    refused("# one\r# two\r\n# three\nroot ::= (\"a\" # four)\n", 4, 10);
}

#[test]
fn no_user_text_in_errors() {
    for grammar in
        ["root ::= sesame", "sesame ::= \"a\"", "root ::= \"sesame", "root ::= <sesame>", "root ::= \"a\" $sesame"]
    {
        assert!(!Grammar::parse(grammar).unwrap_err().to_string().contains("sesame"), "{grammar}");
    }
}

#[test]
fn limits_are_told() {
    over_limit("root ::= \"a\"{5000}");
    over_limit("root ::= (((([^x]*){0,99}){0,99}){0,99}){0,99}");
    over_limit("root ::= \"a\"{0,2000000}");
    over_limit("root ::= \"a\"{99999999999}");
    over_limit(&format!("root ::= \"{}\"", "a".repeat(fairhand::grammar::MAX_TEXT_BYTES)));
    // Each rule twice in the one before it: the shortest sentence doubles with each.
    let mut doubling = String::from("root ::= r0\n");
    for i in 0..60 {
        writeln!(doubling, "r{i} ::= r{} r{}", i + 1, i + 1).unwrap();
    }
    over_limit(&format!(
        "{doubling}r60 ::= \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""
    ));
    over_limit(&format!("root ::= {}", "\"a\"? ".repeat(100_000)));
    // From each of many places to each one outside of it, by empty steps alone.
    over_limit(&format!("root ::= {}\"a\"{}", "(".repeat(50_000), " | \"b\")?".repeat(50_000)));
}

#[test]
fn an_upper_bound_beyond_two_thousand_is_counted() {
    let grammar = Grammar::parse("root ::= \"a\"{0,5001}").unwrap();
    assert!(grammar.matches(&[b'a'; 5001]) && !grammar.begins(&[b'a'; 5002]));
}

#[test]
fn nesting_has_no_limit() {
    let deep = 100_000;
    let grammar = Grammar::parse(&format!("root ::= {}\"a\"{}", "(".repeat(deep), ")".repeat(deep))).unwrap();
    assert!(grammar.matches(b"a"));
    let grammar = Grammar::parse(&format!("root ::= {}{}", "(\"a\" ".repeat(deep), ")".repeat(deep))).unwrap();
    assert!(grammar.matches(&vec![b'a'; deep]));
    refused(&format!("root ::= {}\"a\"", "(".repeat(deep)), 1, 9 + deep as u32);
}

#[test]
fn long_chains_of_rules() {
    let mut chain = String::from("root ::= r0\n");
    for i in 0..100_000 {
        writeln!(chain, "r{i} ::= r{}", i + 1).unwrap();
    }
    chain.push_str("r100000 ::= \"x\" | \"(\" root \")\"");
    assert!(Grammar::parse(&chain).unwrap().matches(b"((x))"));
    // Two ways at each of many levels: ambiguity that doubles with each.
    let mut levels = String::from("root ::= r0\n");
    for i in 0..2000 {
        writeln!(levels, "r{i} ::= r{} \"x\" | r{}", i + 1, i + 1).unwrap();
    }
    levels.push_str("r2000 ::= \"y\"");
    let grammar = Grammar::parse(&levels).unwrap();
    assert!(grammar.matches(b"y") && grammar.matches(b"yxxxxxxxxxxxxxxxx") && !grammar.begins(b"x"));
}

#[test]
fn a_megabyte_of_grammar() {
    let mut large = String::from("root ::= (w0 | w1)+\n");
    for i in 0..30_000 {
        writeln!(large, "w{i} ::= \"word number {i}\" | [a-z]").unwrap();
    }
    assert!(large.len() > 1_000_000);
    assert!(Grammar::parse(&large).unwrap().matches(b"word number 1z"));
}

#[test]
fn deep_and_ambiguous_input() {
    let grammar = Grammar::parse("root ::= \"(\" root? \")\"").unwrap();
    let deep = 200_000;
    let text = [vec![b'('; deep], vec![b')'; deep]].concat();
    assert!(grammar.matches(&text) && !grammar.matches(&text[1..]) && grammar.begins(&text[..deep]));

    let grammar = Grammar::parse("root ::= x x x x \".\"\nx ::= \"a\"* | \"a\" x").unwrap();
    assert!(grammar.matches(&[&[b'a'; 20_000][..], b"."].concat()));

    let grammar = Grammar::parse("root ::= \"a\" root | \"a\" root \"b\" |").unwrap();
    assert!(grammar.matches(&[[b'a'; 1000], [b'b'; 1000]].concat()) && !grammar.matches(b"abb"));

    let chained = format!("root ::= {}\nx ::= [a-z =-]", "x? ".repeat(20));
    let grammar = Arc::new(Grammar::parse(&chained).unwrap());
    let mut constraint = Constraint::new(grammar, World::new().trie).unwrap();
    assert!(constraint.mask(None).unwrap().count() > 26);
}

/// What is in use is kept, however much it is up to a limit; then it is told.
#[test]
fn places_in_rules_are_kept_up_to_a_limit() {
    let grammar = Grammar::parse("root ::= \"(\" root? \")\"").unwrap();
    let deep = 900_000;
    assert!(grammar.matches(&[vec![b'('; deep], vec![b')'; deep]].concat()));
    too_ambiguous(&grammar.judge(&vec![b'('; 4 * deep]).unwrap_err());
}

/// A token that is named by its text is looked for once.
#[test]
fn many_tokens_named_by_their_text() {
    let mut pieces: Vec<Vec<u8>> = (0..100_000).map(|i| format!("word {i}").into_bytes()).collect();
    pieces.extend([b"<p>".to_vec(), Vec::new()]);
    let (named, eos) = (pieces.len() as u32 - 2, pieces.len() as u32 - 1);
    let special = SpecialTokens { control: vec![("<eos>".into(), eos)], eos, ..SpecialTokens::default() };
    let vocabulary = Vocabulary::new(pieces, special).unwrap();
    let time = |item: &str| {
        let source = format!("root ::= {}", item.repeat(50_000));
        let begun = Instant::now();
        Grammar::parse_as(&source, Some(&vocabulary), Dialect::Free).unwrap();
        begun.elapsed()
    };
    let (by_text, by_id) = (time("<p> "), time(&format!("<[{named}]> ")));
    assert!(by_text < 20 * by_id, "{by_text:?} by text, {by_id:?} by id");
}

#[track_caller]
fn too_ambiguous(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::InvalidGrammar);
    assert!(matches!(error.detail(), Some(Detail::Limit { requested, available }) if requested > available), "{error}");
}

/// Each `a` may belong to any earlier one: more readings than can be followed for long.
#[test]
fn too_many_readings_are_a_limit_and_not_a_hang() {
    let grammar = Arc::new(Grammar::parse("root ::= \"a\" root root? root? | \"a\"").unwrap());
    too_ambiguous(&grammar.judge(&[b'a'; 5000]).unwrap_err());
    assert!(grammar.matches(&[b'a'; 40]) && !grammar.begins(b"ab"));

    let pieces = vec![b"a".to_vec(), b"aaa".to_vec(), vec![b'a'; 500], Vec::new()];
    let special = SpecialTokens { control: vec![("<eos>".into(), 3)], eos: 3, ..SpecialTokens::default() };
    let trie = Arc::new(TokenTrie::new(&Vocabulary::new(pieces, special).unwrap()));
    let mut constraint = Constraint::new(grammar, trie).unwrap();
    constraint.push(1).unwrap();
    too_ambiguous(&constraint.push(2).unwrap_err());
    too_ambiguous(&constraint.mask(None).unwrap_err());
    // Nothing has changed: it can go on, finish, or go back.
    assert!(constraint.is_complete() && constraint.min_tokens().unwrap() == 1);
    constraint.push(0).unwrap();
    constraint.push(3).unwrap();
    assert!(constraint.is_finished() && constraint.mask(None).unwrap().count() == 0);
    constraint.rollback(3);
    assert!(!constraint.is_complete() && constraint.min_tokens().unwrap() == 2);
}

/// What was found while there was too much to do is not kept: masks and pushes after it are those of a constraint that
/// never came there.
#[test]
fn a_limit_leaves_nothing_wrong_behind() {
    let source = "root ::= \"c\" r | \"b\" \"a\"{0,9} \"c\"?\nr ::= \"a\" r r? r? | \"a\"";
    let pieces = vec![b"a".to_vec(), b"b".to_vec(), b"c".to_vec(), b"aaaa".to_vec(), vec![b'a'; 500], Vec::new()];
    let tokens = pieces.len() as u32;
    let special = SpecialTokens { control: vec![("<eos>".into(), 5)], eos: 5, ..SpecialTokens::default() };
    let trie = Arc::new(TokenTrie::new(&Vocabulary::new(pieces, special).unwrap()));
    let new = || Constraint::new(Arc::new(Grammar::parse(source).unwrap()), trie.clone()).unwrap();
    let mut tried = new();
    for path in [&[1][..], &[2], &[], &[1], &[2, 3], &[1, 0], &[1, 3, 3], &[2, 0], &[1, 0, 2], &[]] {
        let mut fresh = new();
        for token in path {
            tried.push(*token).unwrap();
            fresh.push(*token).unwrap();
        }
        if path.first() == Some(&2) {
            too_ambiguous(&tried.mask(None).unwrap_err());
        } else {
            let mask: Vec<u32> = tried.mask(None).unwrap().iter().collect();
            assert_eq!(mask, fresh.mask(None).unwrap().iter().collect::<Vec<_>>(), "{path:?}");
            for token in 0..tokens {
                let pushed = tried.push(token).is_ok();
                tried.rollback(usize::from(pushed));
                assert_eq!(pushed, mask.contains(&token), "{token} after {path:?}");
            }
        }
        assert_eq!(tried.min_tokens().unwrap(), fresh.min_tokens().unwrap(), "{path:?}");
        tried.rollback(path.len());
    }
}

#[test]
fn token_items_are_whole_tokens() {
    let world = World::new();
    let mut constraint =
        Constraint::new(Arc::new(Grammar::parse("root ::= \"a\" !<[7]> \"b\"").unwrap()), world.trie.clone()).unwrap();
    let (a, ab) = (World::CONTROL + u32::from(b'a'), world.tokens(b"ab", |count| count - 1)[0]);
    assert!(
        constraint.mask(None).unwrap().allows(a) && !constraint.mask(None).unwrap().allows(ab),
        "an item begins where a token begins"
    );
    constraint.push(a).unwrap();
    let mask = constraint.mask(None).unwrap().clone();
    assert!(!mask.allows(7) && !mask.allows(World::EOS) && mask.allows(8) && mask.allows(ab));

    let named = Grammar::parse_as("root ::= <|5|> \"a\"", Some(&world.vocabulary), Default::default()).unwrap();
    let mut constraint = Constraint::new(Arc::new(named), world.trie.clone()).unwrap();
    assert_eq!(constraint.mask(None).unwrap().iter().collect::<Vec<_>>(), [5]);

    let beyond = Arc::new(Grammar::parse("root ::= <[99999]>").unwrap());
    assert_eq!(Constraint::new(beyond, world.trie).unwrap_err().kind(), ErrorKind::InvalidGrammar);
}

#[test]
fn nothing_moves_on_a_failed_push() {
    let world = World::new();
    let mut constraint =
        Constraint::new(Arc::new(Grammar::parse("root ::= \"ab\" \"c\"?").unwrap()), world.trie).unwrap();
    let [a, b, c] = [b'a', b'b', b'c'].map(|byte| World::CONTROL + u32::from(byte));
    constraint.push(a).unwrap();
    for wrong in [a, c, 5, World::EOS, 1_000_000, u32::MAX] {
        assert_eq!(constraint.push(wrong).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
    constraint.push(b).unwrap();
    constraint.push(World::EOS).unwrap();
    assert!(
        constraint.is_finished()
            && constraint.mask(None).unwrap().count() == 0
            && constraint.min_tokens().unwrap() == 0
    );
    assert!(
        constraint.push(c).is_err() && constraint.push(World::EOS).is_err() && constraint.forced().unwrap().is_empty()
    );
    constraint.rollback(2);
    assert!(!constraint.is_finished() && !constraint.is_complete() && constraint.push(b).is_ok());
    constraint.rollback(99);
    assert_eq!(constraint.forced().unwrap(), b"ab");
}

#[test]
fn vocabularies_without_a_byte() {
    let grammar = Arc::new(Grammar::parse("root ::= \"ab\" | \"é\"").unwrap());
    let vocabulary = |pieces: &[&[u8]]| {
        let pieces = pieces.iter().map(|piece| piece.to_vec()).chain([Vec::new()]).collect::<Vec<_>>();
        let eos = pieces.len() as u32 - 1;
        let special = SpecialTokens { control: vec![("<e>".into(), eos)], eos, ..SpecialTokens::default() };
        Arc::new(TokenTrie::new(&Vocabulary::new(pieces, special).unwrap()))
    };
    let missing = |pieces: &[&[u8]]| match Constraint::new(grammar.clone(), vocabulary(pieces))
        .map_err(|e| e.detail().cloned())
    {
        Err(Some(Detail::MissingBytes { missing_bytes })) => missing_bytes,
        other => panic!("{other:?}"),
    };
    assert_eq!(missing(&[b"a", "é".as_bytes(), b"\xC3", b"\xA9"]), [b'b']);
    assert_eq!(missing(&[]), [b'a', b'b', 0xA9, 0xC3]);
    assert!(Constraint::new(grammar.clone(), vocabulary(&[b"a", b"b", b"\xC3", b"\xA9"])).is_ok());
    // A byte that is one choice among others is not missed.
    let classes = Arc::new(Grammar::parse("root ::= [^x]").unwrap());
    assert!(Constraint::new(classes, vocabulary(&[b"a", b"\x80", b"\x90", b"\xA0"])).is_ok());
}

#[test]
fn blanks_never_break_a_grammar() {
    let compact = "root::=\"a\" b|[c]+\nb::=(\"x\"|\"y\"){2,3}";
    let spread = "\u{FEFF}\r\n\n  root \n ::= # to be\r\n\t\"a\"\r\n\n b # or not\n\n | \r [c] \n + \n\n\n b::=\n(\n\"x\" # to be\n|\"y\"\n)\n{ 2 ,\n3 }  # end";
    for grammar in [compact, spread] {
        let grammar = Grammar::parse(grammar).unwrap();
        for (text, sentence) in
            [("axy", true), ("ayyy", true), ("cc", true), ("ax", false), ("c a", false), ("", false)]
        {
            assert_eq!(grammar.matches(text.as_bytes()), sentence, "{text}");
        }
    }
}

/// An empty alternative may be the last before the next rule.
#[test]
fn empty_alternatives_end_where_a_rule_begins() {
    for grammar in ["root ::=\n\nx ::= \"a\"", "root ::= x |\nx ::= \"a\"", "root ::= x | # nothing\n\n x\n::= \"a\""] {
        let grammar = Grammar::parse(grammar).unwrap_or_else(|error| panic!("{grammar}: {error}"));
        assert!(grammar.matches(b"") && !grammar.begins(b"x"));
    }
}
