//! Kinds of tokenizers besides the default model's, in made-up vocabularies, against llama.cpp's answers
//! (tests/oracle/tokens.mjs, which builds the same vocabularies); and files that contradict themselves.

use std::collections::HashMap;

use candle_core::quantized::gguf_file::Value;
use fairhand::gguf::Metadata;
use fairhand::tokenizer::{Special, TokenId, Tokenizer};
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
        let second = twos.iter().enumerate().filter(|(j, _)| shuffled(i * 512 + j) % 97 == 0);
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
