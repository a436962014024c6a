//! Masks over the default model's vocabulary, against those that llama.cpp computes.

use std::sync::Arc;

use fairhand::grammar::{Constraint, Grammar};
use fairhand::tokenizer::{TokenId, TokenTrie, Vocabulary};
use serde_json::Value;

use super::judge::Outcome;

/// The token that llama.cpp never allows as text, since its pieces end with a NUL.
const NUL_PIECE: &[u8] = b"\0";

/// Judges an entry of a file like `mask_oracle.json`: at each step of each document the set of allowed tokens is
/// llama.cpp's, but for the NUL, and so is the answer to whether the text may end. Also returns the number of steps.
pub fn judge_masks(vocabulary: &Vocabulary, trie: &Arc<TokenTrie>, entry: &Value) -> (Outcome, usize) {
    let (mut failures, mut steps, mut with_nul) = (Vec::new(), 0, 0);
    let grammar = match Grammar::parse(entry["grammar"].as_str().unwrap_or_default()) {
        Ok(grammar) => Arc::new(grammar),
        Err(error) => return (Outcome::Failed(vec![format!("the grammar is refused: {error}")]), 0),
    };
    for document in entry["docs"].as_array().into_iter().flatten() {
        let mut constraint = match Constraint::new(grammar.clone(), trie.clone()) {
            Ok(constraint) => constraint,
            Err(error) => return (Outcome::Failed(vec![format!("no constraint: {error}")]), steps),
        };
        for (step, token) in document["tokens"].as_array().into_iter().flatten().enumerate() {
            let mask = constraint.mask(None).unwrap();
            let ids: Vec<TokenId> = mask.iter().filter(|id| !vocabulary.is_control(*id)).collect();
            let theirs = document["sha1"][step].as_str().unwrap_or_default();
            let without_nul = ids.iter().copied().filter(|id| vocabulary.bytes(*id) != NUL_PIECE);
            match (digest(ids.iter().copied()) == theirs, digest(without_nul) == theirs) {
                (true, _) => {}
                (false, true) => with_nul += 1,
                (false, false) => {
                    failures.push(format!("step {step}: {} tokens, and not the expected ones", ids.len()))
                }
            }
            if document["eos"][step] != mask.allows(vocabulary.eos()) {
                failures.push(format!("step {step}: the text may end: {}", mask.allows(vocabulary.eos())));
            }
            let token = token.as_u64().unwrap_or(u64::MAX) as TokenId;
            if let Err(error) = constraint.push(token) {
                failures.push(format!("step {step}: {error}"));
                break;
            }
            steps += 1;
        }
        if !constraint.is_finished() {
            failures.push("the document does not end".into());
        }
    }
    let outcome = match (failures.is_empty(), with_nul) {
        (false, _) => Outcome::Failed(failures),
        (true, 0) => Outcome::Passed,
        (true, _) => Outcome::Deviates("the token of the NUL byte is allowed where the byte is"),
    };
    (outcome, steps)
}

fn digest(ids: impl Iterator<Item = TokenId>) -> String {
    let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
    sha1(ids.join(",").as_bytes())[..16].to_owned()
}

/// SHA-1 as in RFC 3174: the oracle's masks are kept as digests.
fn sha1(message: &[u8]) -> String {
    let mut state: [u32; 5] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0];
    let mut padded = [message, &[0x80]].concat();
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut words: Vec<u32> = block.chunks_exact(4).map(|w| u32::from_be_bytes([w[0], w[1], w[2], w[3]])).collect();
        for i in 16..80 {
            words.push((words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16]).rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (i, word) in words.iter().enumerate() {
            let (mixed, constant) = match i / 20 {
                0 => ((b & c) | (!b & d), 0x5A82_7999),
                1 => (b ^ c ^ d, 0x6ED9_EBA1),
                2 => ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC),
                _ => (b ^ c ^ d, 0xCA62_C1D6_u32),
            };
            let next = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e).wrapping_add(constant).wrapping_add(*word);
            (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
        }
        state.iter_mut().zip([a, b, c, d, e]).for_each(|(word, add)| *word = word.wrapping_add(add));
    }
    state.iter().map(|word| format!("{word:08x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::smollm2::SMOLLM2;
    use super::*;

    #[test]
    fn masks_are_llama_cpps() {
        let oracle: Value = serde_json::from_str(include_str!("../data/grammar/mask_oracle.json")).unwrap();
        let (tokenizer, trie) = &*SMOLLM2;
        let mut steps = 0;
        for entry in oracle["grammars"].as_array().unwrap() {
            let (outcome, taken) = judge_masks(tokenizer.vocabulary(), trie, entry);
            assert!(!matches!(outcome, Outcome::Failed(_)), "{}: {outcome:?}", entry["name"]);
            steps += taken;
        }
        assert_eq!(steps, 548);
    }

    #[test]
    fn sha1_of_abc() {
        assert_eq!(sha1(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d", "RFC 3174, 7.3");
    }
}
