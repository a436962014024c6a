//! Kinds of tokenizers besides the default model's, in made-up vocabularies, against llama.cpp's answers
//! (tests/oracle/tokens.mjs, which builds the same vocabularies); and files that contradict themselves.

use std::collections::HashMap;

use candle_core::quantized::gguf_file::Value;
use fairhand::ErrorKind;
use fairhand::gguf::Metadata;
use fairhand::tokenizer::{Special, TokenId, Tokenizer};
use proptest::prelude::*;
use serde::Deserialize;

type Entries = HashMap<String, Value>;

fn strings<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> Value {
    Value::Array(values.into_iter().map(|value| Value::String(value.as_ref().to_owned())).collect())
}

fn ints(values: impl IntoIterator<Item = i32>) -> Value {
    Value::Array(values.into_iter().map(Value::I32).collect())
}

fn floats(values: impl IntoIterator<Item = f32>) -> Value {
    Value::Array(values.into_iter().map(Value::F32).collect())
}

fn entries<const N: usize>(entries: [(&str, Value); N]) -> Entries {
    entries.into_iter().map(|(key, value)| (format!("tokenizer.ggml.{key}"), value)).collect()
}

fn tokenizer(entries: &Entries) -> Result<Tokenizer, fairhand::Error> {
    Tokenizer::from_metadata(&Metadata::new(entries.clone()))
}

/// The printable character that stands for each byte in byte-level BPE.
fn byte_characters() -> Vec<String> {
    let mut next = 0x100;
    let character = |byte: u32| match byte {
        0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF => char::from_u32(byte).unwrap(),
        _ => {
            next += 1;
            char::from_u32(next - 1).unwrap()
        }
    };
    (0..256).map(character).map(String::from).collect()
}

/// A permutation of the numbers below 65536, without a visible order.
fn shuffled(x: usize) -> usize {
    let mut x = (x as u32).wrapping_mul(0x9E3B) & 0xFFFF;
    x ^= x >> 7;
    x = x.wrapping_mul(0x85EB) & 0xFFFF;
    x ^= x >> 9;
    x as usize
}

fn pair_vocabulary(pre: &str) -> Entries {
    let bytes = byte_characters();
    let pairs: Vec<(&str, &str)> =
        (0..65536).map(shuffled).map(|pair| (&*bytes[pair >> 8], &*bytes[pair & 255])).collect();
    let mut tokens = bytes.clone();
    tokens.extend(pairs.iter().map(|(a, b)| [*a, *b].concat()));
    tokens.extend(["Hello", "Ġthe", "Ġworld", "123", "ĠĠĠ", "<|end|>"].map(String::from));
    let last = tokens.len() - 1;
    entries([
        ("model", Value::String("gpt2".into())),
        ("pre", Value::String(pre.into())),
        ("token_type", ints((0..tokens.len()).map(|id| if id == last { 3 } else { 1 }))),
        ("tokens", strings(&tokens)),
        ("merges", strings(pairs.iter().map(|(a, b)| format!("{a} {b}")))),
        ("bos_token_id", Value::U32(last as u32)),
        ("eos_token_id", Value::U32(last as u32)),
    ])
}

fn pieces_vocabulary(add_space: bool) -> Entries {
    let alphabet: Vec<String> = "▁abehlnorstw.'1é中🙂\n".chars().map(String::from).collect();
    let twos: Vec<String> = alphabet.iter().flat_map(|a| alphabet.iter().map(move |b| [&**a, b].concat())).collect();
    let mut pieces = [alphabet.clone(), twos.clone()].concat();
    for (i, a) in twos.iter().enumerate() {
        let second = twos.iter().enumerate().filter(|(j, _)| shuffled(i * 512 + j).is_multiple_of(97));
        pieces.extend(second.map(|(_, b)| [&**a, b].concat()));
    }
    let bytes: Vec<String> = (0..256).map(|byte| format!("<0x{byte:02X}>")).collect();
    let runs = ["<b>", "\t\t", "\t\t\t"].map(String::from);
    let tokens = [&["<unk>", "<s>", "</s>"].map(String::from)[..], &bytes, &runs, &pieces].concat();
    let scores = (0..pieces.len()).map(|i| -((shuffled(i) % 1024) as f32));
    let types = [2, 3, 3].into_iter().chain([6; 256]).chain([4; 3]).chain(pieces.iter().map(|_| 1));
    entries([
        ("model", Value::String("llama".into())),
        ("token_type", ints(types)),
        ("tokens", strings(&tokens)),
        ("scores", floats([0.0; 262].into_iter().chain(scores))),
        ("bos_token_id", Value::U32(1)),
        ("eos_token_id", Value::U32(2)),
        ("unknown_token_id", Value::U32(0)),
        ("add_space_prefix", Value::Bool(add_space)),
    ])
}

/// The texts that the oracle was asked.
fn texts() -> Vec<String> {
    #[derive(Deserialize)]
    struct Case {
        text: String,
    }
    let cases: Vec<Case> = serde_json::from_str(include_str!("data/tokenizer/smollm2.json")).unwrap();
    cases.into_iter().map(|case| case.text).collect()
}

/// FNV-1a of the ids as little-endian 32-bit numbers.
fn hash(ids: &[TokenId]) -> u32 {
    ids.iter()
        .flat_map(|id| id.to_le_bytes())
        .fold(0x811C_9DC5, |h, byte| (h ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[test]
fn pre_tokenizers_cut_as_llama_cpp_does() {
    #[derive(Deserialize)]
    struct Case {
        pre: String,
        hashes: Vec<u32>,
    }
    let cases: Vec<Case> = serde_json::from_str(include_str!("data/tokenizer/pre-tokenizers.json")).unwrap();
    let texts = texts();
    for Case { pre, hashes } in cases {
        let tokenizer = tokenizer(&pair_vocabulary(&pre)).unwrap();
        assert_eq!(hashes.len(), texts.len());
        let differs =
            |(text, expected): &(&String, &u32)| hash(&tokenizer.encode(text, Special::AsText).unwrap()) != **expected;
        let different: Vec<&String> = texts.iter().zip(&hashes).filter(differs).map(|(text, _)| text).collect();
        assert!(different.is_empty(), "{pre}: {} texts differ: {different:?}", different.len());
        for text in &texts {
            assert_eq!(&tokenizer.decode(&tokenizer.encode(text, Special::AsText).unwrap()), text, "{pre}");
        }
    }
}

#[test]
fn sentence_pieces_are_llama_cpps() {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Case {
        text: String,
        ids: Vec<TokenId>,
        without_space: Vec<TokenId>,
    }
    let cases: Vec<Case> = serde_json::from_str(include_str!("data/tokenizer/sentencepiece.json")).unwrap();
    let [spaced, bare] = [true, false].map(|add_space| tokenizer(&pieces_vocabulary(add_space)).unwrap());
    assert!(spaced.adds_bos());
    for Case { text, ids, without_space } in cases {
        for (tokenizer, ids) in [(&spaced, ids), (&bare, without_space)] {
            assert_eq!(tokenizer.encode(&text, Special::AsText).unwrap(), ids, "{text:?}");
            // After a token that was cut out of a text, the model puts a space that decoding cannot tell from others.
            if !ids.iter().any(|id| (259..262).contains(id)) {
                assert_eq!(tokenizer.decode(&ids), text);
            }
        }
    }
}

/// A small sound file of each model, to be broken.
fn sound_bpe() -> Entries {
    entries([
        ("model", Value::String("gpt2".into())),
        ("pre", Value::String("smollm".into())),
        ("tokens", strings(["a", "b", "ab", "<|im_end|>", "Ġ", "<|im_start|>", "", ""])),
        ("token_type", ints([1, 1, 1, 3, 1, 3, 5, 5])),
        ("merges", strings(["a b"])),
        ("bos_token_id", Value::U32(5)),
        ("eos_token_id", Value::U32(3)),
    ])
}

fn without(mut entries: Entries, key: &str) -> Entries {
    entries.remove(&format!("tokenizer.ggml.{key}")).unwrap();
    entries
}

fn with(mut entries: Entries, key: &str, value: Value) -> Entries {
    entries.insert(format!("tokenizer.ggml.{key}"), value);
    entries
}

#[test]
fn a_small_file_is_sound() {
    let tokenizer = tokenizer(&sound_bpe()).unwrap();
    assert_eq!(tokenizer.encode("ab ba<|im_end|>", Special::Parse).unwrap(), [2, 4, 1, 0, 3]);
    assert_eq!(tokenizer.encode("ab<|im_end|>", Special::AsText).unwrap(), [2], "no token spells the rest");
    assert_eq!(tokenizer.vocabulary().end_of_generation(), [3]);
}

#[test]
fn files_that_contradict_themselves_are_refused() {
    let text = |text: &str| Value::String(text.into());
    let pieces = || pieces_vocabulary(true);
    let cases: Vec<(&str, Entries, ErrorKind)> = vec![
        ("no model", without(sound_bpe(), "model"), ErrorKind::Tokenizer),
        ("`bert` is not known", with(sound_bpe(), "model", text("bert")), ErrorKind::Tokenizer),
        ("`klingon` is not known", with(sound_bpe(), "pre", text("klingon")), ErrorKind::Tokenizer),
        ("no tokens", without(sound_bpe(), "tokens"), ErrorKind::Tokenizer),
        ("empty tokens", with(sound_bpe(), "tokens", strings::<&str>([])), ErrorKind::Tokenizer),
        ("no merges", without(sound_bpe(), "merges"), ErrorKind::Tokenizer),
        ("no end", without(sound_bpe(), "eos_token_id"), ErrorKind::Tokenizer),
        ("end out of range", with(sound_bpe(), "eos_token_id", Value::U32(8)), ErrorKind::Tokenizer),
        ("beginning out of range", with(sound_bpe(), "bos_token_id", Value::U32(u32::MAX)), ErrorKind::Tokenizer),
        ("turn's end out of range", with(sound_bpe(), "eot_token_id", Value::U32(99)), ErrorKind::Tokenizer),
        (
            "beginning wanted",
            with(without(sound_bpe(), "bos_token_id"), "add_bos_token", Value::Bool(true)),
            ErrorKind::Tokenizer,
        ),
        ("few types", with(sound_bpe(), "token_type", ints([1, 1])), ErrorKind::Tokenizer),
        ("odd type", with(sound_bpe(), "token_type", ints([1, 1, 1, 3, 1, 3, 5, 9])), ErrorKind::Tokenizer),
        ("negative type", with(sound_bpe(), "token_type", ints([1, 1, 1, 3, 1, 3, 5, -1])), ErrorKind::Tokenizer),
        ("few scores", with(sound_bpe(), "scores", floats([1.0])), ErrorKind::Tokenizer),
        (
            "repeated token",
            with(sound_bpe(), "tokens", strings(["a", "a", "ab", "c", "d", "e", "", ""])),
            ErrorKind::Tokenizer,
        ),
        ("merge of one part", with(sound_bpe(), "merges", strings(["ab"])), ErrorKind::Tokenizer),
        ("merge of nothing", with(sound_bpe(), "merges", strings([""])), ErrorKind::Tokenizer),
        ("merge without right", with(sound_bpe(), "merges", strings(["a "])), ErrorKind::Tokenizer),
        ("merge of a stranger", with(sound_bpe(), "merges", strings(["a x"])), ErrorKind::Tokenizer),
        ("merge into a stranger", with(sound_bpe(), "merges", strings(["b a"])), ErrorKind::Tokenizer),
        ("long merge", with(sound_bpe(), "merges", strings(["<|im_start|> <|im_end|>"])), ErrorKind::Tokenizer),
        ("tokens of numbers", with(sound_bpe(), "tokens", ints([1, 2])), ErrorKind::CorruptModel),
        ("merges of numbers", with(sound_bpe(), "merges", ints([1, 2])), ErrorKind::CorruptModel),
        ("types of text", with(sound_bpe(), "token_type", strings(["1"])), ErrorKind::CorruptModel),
        ("end of text", with(sound_bpe(), "eos_token_id", text("3")), ErrorKind::CorruptModel),
        ("negative end", with(sound_bpe(), "eos_token_id", Value::I32(-1)), ErrorKind::CorruptModel),
        ("no scores", without(pieces(), "scores"), ErrorKind::Tokenizer),
        ("no byte tokens", with(pieces(), "token_type", ints(vec![1; types_of(&pieces())])), ErrorKind::Tokenizer),
        (
            "bytes that name none",
            with(pieces(), "token_type", ints(vec![6; types_of(&pieces())])),
            ErrorKind::Tokenizer,
        ),
        (
            "a score that is none",
            with(pieces(), "scores", floats(vec![f32::NAN; types_of(&pieces())])),
            ErrorKind::Tokenizer,
        ),
    ];
    for (name, entries, kind) in cases {
        let error = tokenizer(&entries).map(|_| ()).expect_err(name);
        assert_eq!(error.kind(), kind, "{name}: {error}");
        assert!(!name.starts_with('`') || error.message().contains(name), "{name}: {error}");
    }
}

fn types_of(entries: &Entries) -> usize {
    match &entries["tokenizer.ggml.token_type"] {
        Value::Array(types) => types.len(),
        _ => 0,
    }
}

#[test]
fn text_cannot_merge_into_a_control_token() {
    let tokens = strings(["<", "s", ">", "<s", "<s>", "</s>"]);
    let file = with(sound_bpe(), "tokens", tokens);
    let file = with(file, "token_type", ints([1, 1, 1, 1, 3, 3]));
    let file = with(file, "merges", strings(["< s", "<s >"]));
    let file = with(with(file, "eos_token_id", Value::U32(5)), "bos_token_id", Value::U32(4));
    for pre in ["smollm", "llama-bpe"] {
        let tokenizer = tokenizer(&with(file.clone(), "pre", Value::String(pre.into()))).unwrap();
        assert_eq!(tokenizer.encode("<s>", Special::AsText).unwrap().last(), Some(&2), "{pre}");
        assert_eq!(tokenizer.encode("<s>", Special::Parse).unwrap(), [4], "{pre}");
    }
}

#[test]
fn ends_are_found_by_name_and_key() {
    type Case = (&'static [&'static str], &'static [(&'static str, u32)], &'static [TokenId]);
    let cases: [Case; 6] = [
        (&["x", "<eos>"], &[("eos_token_id", 0)], &[0, 1]),
        (&["x", "y", "z"], &[("eos_token_id", 0), ("eot_token_id", 2)], &[0, 2]),
        (&["x", "y", "z"], &[("eos_token_id", 0), ("eom_token_id", 1), ("fim_sep_token_id", 2)], &[0, 1, 2]),
        (&["x", "<PAD>", "<fim-pad>", "<|repo_name|>"], &[("eos_token_id", 0)], &[0, 2, 3]),
        (&["<|return|>", "<|call|>", "<|end|>"], &[("eos_token_id", 0)], &[0, 1]),
        (&["<|tool_response>", "</s>", "<eos>"], &[("eos_token_id", 2)], &[0, 2]),
    ];
    for (tokens, ids, ends) in cases {
        let mut file = with(with(sound_bpe(), "tokens", strings(tokens)), "merges", strings::<&str>([]));
        file = without(without(file, "token_type"), "bos_token_id");
        for (key, id) in ids {
            file = with(file, key, Value::U32(*id));
        }
        assert_eq!(tokenizer(&file).unwrap().vocabulary().end_of_generation(), ends, "{tokens:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is in the file: a tokenizer or an error, no panic; and a tokenizer works.
    #[test]
    fn no_file_makes_it_panic(
        tokens in prop::collection::vec("[ab▁Ġ<0xA>]{0,3}", 0..8),
        types in prop::collection::vec(-1i32..8, 0..8),
        scores in prop::option::of(prop::collection::vec(any::<f32>(), 0..8)),
        merges in prop::collection::vec("[abĠ ]{0,4}", 0..4),
        eos in 0u32..9,
        model in prop::sample::select(&["gpt2", "llama"][..]),
        same in any::<bool>(),
    ) {
        let n = if same { tokens.len() } else { types.len() };
        let types = types.into_iter().chain(std::iter::repeat(1)).take(n);
        let mut file = entries([
            ("model", Value::String(model.into())),
            ("tokens", strings(&tokens)),
            ("token_type", ints(types)),
            ("merges", strings(&merges)),
            ("eos_token_id", Value::U32(eos)),
        ]);
        if let Some(scores) = scores {
            file = with(file, "scores", floats(scores));
        }
        if let Ok(tokenizer) = tokenizer(&file) {
            let ids = tokenizer.encode("ab a<0x0A>b▁é", Special::Parse).unwrap();
            prop_assert!(ids.iter().all(|id| (*id as usize) < tokens.len()));
            tokenizer.decode(&ids);
        }
    }
}
