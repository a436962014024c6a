//! The forward pass: from token ids to logits, in steps of bounded time.
//!
//! ```text
//! h = embedding[token]                     (scaled, in Gemma)
//! for each layer:
//!     h = layer(h, cache)                  # see `layer`
//! logits = W_head · rms_norm(h)
//! ```
//!
//! The real code adds two things. Tokens go through a layer in chunks, and a [`step`](Pass::step) is one chunk through
//! one layer, or a few positions through the head, so that whoever calls can stop, draw or answer in between. And where
//! only some positions' logits are wanted, or only some tokens' of the vocabulary, the last layer and the head leave out
//! the others.

use std::ops::Range;
use std::sync::Arc;

use super::Config;
use super::attention::Attention;
use super::kv::{KvCache, PassId};
use super::layer::{Context, How, Workspace};
use super::rope::Rope;
use super::weights::Model;
use crate::error::{Detail, Error, ErrorKind, Result};
use crate::tokenizer::TokenId;

// Tokens that go through a layer in one step, unless [`Pass::chunk`] says otherwise. A step should stay far below 100 ms,
// the time in which a cancel must be heard, and yet hold enough tokens to share the reading of the weights.

/// With kernels of ours, one token in one layer of SmolLM2-135M takes about 0.6 ms in WebAssembly: 10 ms a step.
const PACKED_CHUNK: usize = 16;
/// Through candle-core it takes about 7 ms, and tokens share nothing: 30 ms a step.
const BLOCKS_CHUNK: usize = 4;

/// Positions that go through the head in one step: as many as its kernel multiplies at once.
const HEAD_CHUNK: usize = 4;

/// Tokens that go through a layer in one step.
pub(super) fn chunk_for(model: &Model) -> usize {
    if model.is_packed() { PACKED_CHUNK } else { BLOCKS_CHUNK }
}

/// What a step has come to.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// Call [`Pass::step`] again.
    More,
    /// The pass is done: the logits of the wanted positions, of shape (positions, vocab_size), or with
    /// [`Pass::rows`] (positions, rows). By default that is the last position alone.
    Done(Vec<f32>),
}

/// Some tokens on their way through a model.
///
/// The tokens stand at the positions after those that the [`KvCache`] holds, and belong to it once the pass is done.
/// Until then, dropping the pass leaves the cache as it was.
pub struct Pass {
    tokens: Vec<TokenId>,
    /// Tokens in a step, where the caller has set it.
    chunk: Option<usize>,
    /// Index of the first token whose logits are wanted.
    wanted_from: usize,
    /// The tokens of the vocabulary whose logits are wanted, if not all.
    rows: Option<Arc<[TokenId]>>,
    stage: Stage,
}

enum Stage {
    NotBegun,
    /// Next: the chunk from token `token` on, through layer `layer`.
    Layers {
        run: Run,
        layer: usize,
        token: usize,
    },
    /// Next: the tokens from `token` on through the head.
    Head {
        run: Run,
        token: usize,
        logits: Vec<f32>,
    },
    Over,
}

impl Pass {
    /// A pass of `tokens`, wanting the last one's logits.
    pub fn new(tokens: &[TokenId]) -> Self {
        let wanted_from = tokens.len().saturating_sub(1);
        Self { tokens: tokens.to_vec(), chunk: None, wanted_from, rows: None, stage: Stage::NotBegun }
    }

    /// Takes `tokens` at a time through a layer (at least one), in place of a number that suits the model. The result is
    /// the same for any number; a step's time grows with it.
    #[must_use]
    pub fn chunk(mut self, tokens: usize) -> Self {
        self.chunk = Some(tokens.max(1));
        self
    }

    /// Wants the logits of every token from index `first` on, as scoring does.
    #[must_use]
    pub fn logits_from(mut self, first: usize) -> Self {
        self.wanted_from = first;
        self
    }

    /// Wants no logits: the tokens only go into the cache.
    #[must_use]
    pub fn without_logits(self) -> Self {
        let n = self.tokens.len();
        self.logits_from(n)
    }

    /// Wants the logits of the given tokens of the vocabulary alone: those of each position are of shape (rows.len()),
    /// in the order given, and the same numbers as without this.
    #[must_use]
    pub fn rows(mut self, rows: Arc<[TokenId]>) -> Self {
        self.rows = Some(rows);
        self
    }

    /// How many calls of [`step`](Self::step) the whole pass takes.
    pub fn steps(&self, model: &Model) -> usize {
        let chunks = self.tokens.len().div_ceil(self.chunk_for(model));
        model.layers.len() * chunks + self.tokens.len().saturating_sub(self.wanted_from).div_ceil(HEAD_CHUNK)
    }

    fn chunk_for(&self, model: &Model) -> usize {
        self.chunk.unwrap_or_else(|| chunk_for(model))
    }

    /// Does the next piece of work: one chunk of tokens through one layer, or a few tokens through the head. The first step
    /// makes room for all tokens in the cache too, so a long text is better fed in several passes.
    ///
    /// Every call must be given the same model and cache.
    ///
    /// # Errors
    /// - `invalid-argument`: no tokens, logits wanted of tokens that are not there, a token outside the vocabulary, a
    ///   cache that changed since the pass began, or a pass that is over.
    /// - `context-overflow`, with both numbers, if the tokens do not fit in the cache.
    /// - `out-of-memory`.
    ///
    /// After an error the pass is over, and the cache is as it was before the pass.
    pub fn step(&mut self, model: &Model, kv: &mut KvCache) -> Result<Progress> {
        let (stage, progress) = match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::NotBegun => self.layer_step(Run::begin(self, model, kv)?, 0, 0, model, kv)?,
            Stage::Layers { run, layer, token } => self.layer_step(run, layer, token, model, kv)?,
            Stage::Head { run, token, logits } => self.head_step(run, token, logits, model, kv)?,
            Stage::Over => return Err(invalid("this pass is over")),
        };
        self.stage = stage;
        Ok(progress)
    }

    fn layer_step(
        &self,
        mut run: Run,
        layer: usize,
        token: usize,
        model: &Model,
        kv: &mut KvCache,
    ) -> Result<(Stage, Progress)> {
        kv.check(run.id)?;
        let end = self.tokens.len().min(token + self.chunk_for(model));
        let last_layer = layer + 1 == model.layers.len();
        let only_cache = last_layer && end <= self.wanted_from;
        run.layer(model, layer, token..end, only_cache, kv);

        let stage = if end < self.tokens.len() {
            Stage::Layers { run, layer, token: end }
        } else if !last_layer {
            Stage::Layers { run, layer: layer + 1, token: 0 }
        } else if self.wanted_from < self.tokens.len() {
            Stage::Head { run, token: self.wanted_from, logits: Vec::new() }
        } else {
            return Ok((Stage::Over, self.done(Vec::new(), kv)));
        };
        Ok((stage, Progress::More))
    }

    fn head_step(
        &self,
        mut run: Run,
        token: usize,
        mut logits: Vec<f32>,
        model: &Model,
        kv: &mut KvCache,
    ) -> Result<(Stage, Progress)> {
        kv.check(run.id)?;
        let end = self.tokens.len().min(token + HEAD_CHUNK);
        run.head(model, token..end, self.rows.as_deref(), &mut logits);
        if end < self.tokens.len() {
            return Ok((Stage::Head { run, token: end, logits }, Progress::More));
        }
        Ok((Stage::Over, self.done(logits, kv)))
    }

    fn done(&self, logits: Vec<f32>, kv: &mut KvCache) -> Progress {
        kv.commit(self.tokens.len());
        Progress::Done(logits)
    }
}

impl Model {
    /// Takes `tokens` through the model without a stop; returns the last one's logits (vocab_size).
    ///
    /// # Errors
    /// Those of [`Pass::step`].
    pub fn forward(&self, tokens: &[TokenId], kv: &mut KvCache) -> Result<Vec<f32>> {
        let mut pass = Pass::new(tokens);
        loop {
            if let Progress::Done(logits) = pass.step(self, kv)? {
                return Ok(logits);
            }
        }
    }
}

/// A pass under way.
struct Run {
    id: PassId,
    /// Position of the first token.
    start: usize,
    /// (tokens, width): what the layers so far have made of the tokens, the "residual stream".
    hidden: Vec<f32>,
    workspace: Workspace,
}

impl Run {
    fn begin(pass: &Pass, model: &Model, kv: &mut KvCache) -> Result<Self> {
        let n = pass.tokens.len();
        if n == 0 || pass.wanted_from > n {
            return Err(invalid(format!("logits are wanted from token {} on, and the pass has {n}", pass.wanted_from)));
        }
        check_tokens(&model.config, pass.rows.iter().flat_map(|rows| rows.iter()))?;
        let hidden = embed(model, &pass.tokens)?;
        let start = kv.len();
        let rope = Rope::new(&model.config, &model.rope_factors, kv.capacity(), start, n);
        Ok(Self {
            id: kv.begin(n)?,
            start,
            hidden,
            workspace: Workspace::new(&model.config, rope, pass.chunk_for(model).min(n)),
        })
    }

    /// Takes the tokens with indices `tokens` through one layer; with `only_cache`, no further than into the cache.
    fn layer(&mut self, model: &Model, index: usize, tokens: Range<usize>, only_cache: bool, kv: &mut KvCache) {
        let width = model.config.width;
        let hidden = &mut self.hidden[tokens.start * width..tokens.end * width]; // (n, width)
        let mut line = Line { kv, start: self.start };
        self.workspace.layer(model, index, hidden, tokens, &mut line, only_cache);
    }

    /// Appends the logits of the tokens with indices `tokens`.
    fn head(&mut self, model: &Model, tokens: Range<usize>, rows: Option<&[TokenId]>, logits: &mut Vec<f32>) {
        let width = model.config.width;
        let start = logits.len();
        logits.resize(start + tokens.len() * rows.map_or(model.config.vocab_size, <[_]>::len), 0.0);
        let hidden = &self.hidden[tokens.start * width..tokens.end * width];
        self.workspace.head(model, hidden, rows, &mut logits[start..]);
    }
}

/// Tokens one after another, from position `start` on.
struct Line<'a> {
    kv: &'a mut KvCache,
    start: usize,
}

impl Context for Line<'_> {
    fn place(&self, token: usize) -> usize {
        token
    }

    fn store(&mut self, layer: usize, tokens: Range<usize>, keys: &[f32], values: &[f32]) {
        let width = keys.len() / tokens.len();
        for (token, (key, value)) in tokens.zip(keys.chunks_exact(width).zip(values.chunks_exact(width))) {
            self.kv.write(layer, self.start + token, key, value);
        }
    }

    fn attend(&self, attention: &mut Attention, how: How, tokens: Range<usize>, queries: &[f32], out: &mut [f32]) {
        attention.line(how.view(self.kv), queries, tokens.len(), self.start + tokens.start, out);
    }

    fn store_rows(&mut self, layer: usize, tokens: Range<usize>, rows: &[f32]) {
        let width = rows.len() / tokens.len();
        for (token, row) in tokens.zip(rows.chunks_exact(width)) {
            self.kv.write_row(layer, self.start + token, row);
        }
    }

    fn row(&self, layer: usize, token: usize, back: usize, out: &mut [f32]) -> bool {
        let position = (self.start + token).checked_sub(back);
        position.inspect(|&position| self.kv.row(layer, position, out)).is_some()
    }
}

/// The vectors with which tokens enter the first layer, (tokens, width).
///
/// # Errors
/// `invalid-argument` for a token outside the vocabulary.
pub(super) fn embed(model: &Model, tokens: &[TokenId]) -> Result<Vec<f32>> {
    let Config { width, embedding_scale, .. } = model.config;
    check_tokens(&model.config, tokens)?;
    let mut hidden = vec![0.0; tokens.len() * width];
    for (&token, row) in tokens.iter().zip(hidden.chunks_exact_mut(width)) {
        model.embedding.row(token, row);
    }
    if embedding_scale != 1.0 {
        hidden.iter_mut().for_each(|x| *x *= embedding_scale);
    }
    Ok(hidden)
}

/// # Errors
/// `invalid-argument` for a token outside the vocabulary.
pub(super) fn check_tokens<'a>(config: &Config, tokens: impl IntoIterator<Item = &'a TokenId>) -> Result<()> {
    match tokens.into_iter().find(|&&token| token as usize >= config.vocab_size) {
        None => Ok(()),
        Some(&token) => {
            let (requested, available) = (u64::from(token), config.vocab_size as u64);
            Err(invalid(format!("token {token} is not one of the vocabulary's {available}"))
                .with_detail(Detail::Limit { requested, available }))
        }
    }
}

pub(super) fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}
