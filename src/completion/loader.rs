//! A model file's bytes, as they arrive, into something that answers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::completion::engine::Engine;
use crate::completion::loaded::{Assembly, Loaded};
use crate::completion::provider::Provider;
use crate::error::Result;
use crate::gguf;
use crate::model::KvType;

/// How a model is set up.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EngineOptions {
    /// The most tokens that prompt and answer may have together. The default, and the most, is what the model was
    /// trained for. Memory is taken as tokens are read, not in advance.
    pub context_size: Option<usize>,
    /// The type of the numbers that are remembered of each token.
    pub kv_cache: KvType,
}

/// Reads a GGUF file as its bytes arrive.
pub struct Loader {
    loader: gguf::Loader<Assembly>,
    options: EngineOptions,
    digest: Digest,
}

/// How far loading has come, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadReport {
    pub phase: LoadPhase,
    pub loaded: u64,
    pub total: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadPhase {
    /// The header is not complete yet.
    Parse,
    /// Tensors are being taken in.
    Weights,
}

impl Loader {
    /// Starts at the first byte of a file of `total` bytes, if that is known.
    pub fn new(total: Option<u64>, options: EngineOptions) -> Self {
        Self { loader: gguf::Loader::new(total), options, digest: Digest::default() }
    }

    /// Takes the next bytes in, in pieces of any size. Once the header is there, tokenizer, template and token trie are set
    /// up.
    ///
    /// # Errors
    /// `corrupt-model`, `unsupported-model`, `unsupported-quant`, `out-of-memory`; `tokenizer` or `template` for a file
    /// whose tokenizer or chat template is of no use. The loader is of no use afterwards.
    pub fn push(&mut self, bytes: &[u8]) -> Result<LoadReport> {
        let progress = self.loader.push(bytes)?;
        self.digest.push(bytes);
        let phase = if self.loader.header().is_some() { LoadPhase::Weights } else { LoadPhase::Parse };
        Ok(LoadReport { phase, loaded: progress.received, total: progress.total })
    }

    /// Ends the file.
    ///
    /// # Errors
    /// As [`push`](Self::push), and `invalid-argument` for a context of no tokens.
    pub fn finish(self) -> Result<Engine> {
        Ok(Engine::new(self.provider()?))
    }

    /// Ends the file of a model that joins an [`Engine`] there is.
    ///
    /// # Errors
    /// As [`finish`](Self::finish), and [`Engine::add_model`].
    pub fn join(self, engine: &Engine, name: &str) -> Result<()> {
        engine.add_model(name, self.provider()?)
    }

    fn provider(self) -> Result<Arc<dyn Provider>> {
        let (_, (language, model)) = self.loader.finish()?;
        Ok(Arc::new(Loaded::new(language, model, self.options, self.digest.hex())?))
    }
}

/// A name for a file's exact bytes. It tells models apart as they arrive, at the pace of memory; it is no defence against
/// somebody who wants two files to share one.
///
/// The hash is that of the Firefox browser and the Rust compiler, over little-endian words of 64 bits:
/// `hash = (rotate_left(hash, 5) ^ word) * K`.
#[derive(Default)]
pub(super) struct Digest {
    hash: u64,
    /// The bytes of a word that is not whole yet.
    rest: [u8; 8],
    length: u64,
}

impl Digest {
    const K: u64 = 0x517c_c1b7_2722_0a95;

    /// The digest of bytes that are all there.
    pub(super) fn of(bytes: &[u8]) -> String {
        let mut digest = Self::default();
        digest.push(bytes);
        digest.hex()
    }

    fn push(&mut self, mut bytes: &[u8]) {
        let held = (self.length % 8) as usize;
        self.length += bytes.len() as u64;
        if held > 0 {
            let take = bytes.len().min(8 - held);
            self.rest[held..held + take].copy_from_slice(&bytes[..take]);
            bytes = &bytes[take..];
            if held + take < 8 {
                return;
            }
            self.word(self.rest);
        }
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.word(word.try_into().unwrap_or_default());
        }
        self.rest[..words.remainder().len()].copy_from_slice(words.remainder());
    }

    fn word(&mut self, word: [u8; 8]) {
        self.hash = (self.hash.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(Self::K);
    }

    /// 16 hexadecimal digits.
    fn hex(mut self) -> String {
        let held = (self.length % 8) as usize;
        self.rest[held..].fill(0);
        self.word(self.rest);
        self.word(self.length.to_le_bytes());
        format!("{:016x}", self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(pieces: &[&[u8]]) -> String {
        let mut digest = Digest::default();
        pieces.iter().for_each(|piece| digest.push(piece));
        digest.hex()
    }

    #[test]
    fn a_digest_is_of_the_bytes_however_they_arrive() {
        let bytes: Vec<u8> = (0..100u8).collect();
        let whole = digest(&[&bytes]);
        for size in 1..40 {
            assert_eq!(digest(&bytes.chunks(size).collect::<Vec<_>>()), whole, "in pieces of {size}");
        }
    }

    #[test]
    fn any_change_of_the_bytes_changes_the_digest() {
        let bytes: Vec<u8> = (0..64u8).collect();
        let whole = digest(&[&bytes]);
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x80;
            assert_ne!(digest(&[&changed]), whole, "byte {at}");
            assert_ne!(digest(&[&bytes[..at]]), whole, "the first {at} bytes");
        }
        assert_ne!(digest(&[&[0]]), digest(&[&[0, 0]]));
        // Two changes of the same bit must not cancel each other.
        let mut twice = bytes.clone();
        (twice[7], twice[15]) = (twice[7] ^ 0x80, twice[15] ^ 0x80);
        assert_ne!(digest(&[&twice]), whole);
    }
}
