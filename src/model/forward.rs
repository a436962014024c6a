//! The forward pass: from token ids to logits, in steps of bounded time.
//!
//! ```text
//! h = embedding[token]
//! for each layer:
//!     x = rms_norm(h)
//!     q, k, v = W_q x, W_k x, W_v x;  q, k = rope(q), rope(k);  cache k, v
//!     h += W_o · attention(q, all cached k, v up to this position)
//!     x = rms_norm(h)
//!     h += W_down · (silu(W_gate x) ∘ W_up x)
//! logits = W_head · rms_norm(h)
//! ```
//!
//! The real code adds two things. Tokens go through a layer in chunks, and a [`step`](Pass::step) is one chunk through
//! one layer, or one position through the head, so that whoever calls can stop, draw or answer in between. And where
//! only some positions' logits are wanted, the last layer and the head leave out the others.

use super::attention::Attention;
use super::kernels::Activations;
use super::kv::{KvCache, PassId};
use super::rope::Rope;
use super::weights::{Input, Layer, Model};
use super::{Config, math};
use crate::error::{Detail, Error, ErrorKind, Result};
use crate::tokenizer::TokenId;

// Tokens that go through a layer in one step, unless [`Pass::chunk`] says otherwise. A step should stay far below 100 ms,
// the time in which a cancel must be heard, and yet hold enough tokens to share the reading of the weights.

/// With kernels of ours, one token in one layer of SmolLM2-135M takes about 0.6 ms in WebAssembly: 10 ms a step.
const PACKED_CHUNK: usize = 16;
/// Through candle-core it takes about 7 ms, and tokens share nothing: 30 ms a step.
const BLOCKS_CHUNK: usize = 4;

/// What a step has come to.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// Call [`Pass::step`] again.
    More,
    /// The pass is done: the logits of the wanted positions, of shape (positions, vocab_size). By default that is the
    /// last position alone.
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
    /// Next: token `token` through the head.
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
        Self { tokens: tokens.to_vec(), chunk: None, wanted_from, stage: Stage::NotBegun }
    }

    /// Takes `tokens` at a time through a layer (at least one), in place of a number that suits the model. The result is the same for any number; a step's time
    /// grows with it.
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

    /// How many calls of [`step`](Self::step) the whole pass takes.
    pub fn steps(&self, model: &Model) -> usize {
        let chunks = self.tokens.len().div_ceil(self.chunk_for(model));
        model.layers.len() * chunks + self.tokens.len().saturating_sub(self.wanted_from)
    }

    fn chunk_for(&self, model: &Model) -> usize {
        self.chunk.unwrap_or(if model.is_packed() { PACKED_CHUNK } else { BLOCKS_CHUNK })
    }

    /// Does the next piece of work: one chunk of tokens through one layer, or one token through the head. The first step
    /// makes room for all tokens in the cache too, so a long text is better fed in several passes.
    ///
    /// Every call must be given the same model and cache.
    ///
    /// # Errors
    /// - `invalid-argument`: no tokens, none of which logits are wanted, a token outside the vocabulary, a cache that
    ///   changed since the pass began, or a pass that is over.
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
        run.layer(model, layer, token..end, only_cache, kv)?;

        let stage = if end < self.tokens.len() {
            Stage::Layers { run, layer, token: end }
        } else if !last_layer {
            Stage::Layers { run, layer: layer + 1, token: 0 }
        } else {
            Stage::Head { run, token: self.wanted_from, logits: Vec::new() }
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
        run.head(model, token, &mut logits)?;
        if token + 1 < self.tokens.len() {
            return Ok((Stage::Head { run, token: token + 1, logits }, Progress::More));
        }
        kv.commit(self.tokens.len());
        Ok((Stage::Over, Progress::Done(logits)))
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

/// A pass under way: the tokens' vectors, and room for what a chunk of them needs inside a layer.
struct Run {
    id: PassId,
    /// Position of the first token.
    start: usize,
    rope: Rope,
    /// (tokens, width): what the layers so far have made of the tokens, the "residual stream".
    hidden: Vec<f32>,
    // Of one chunk, each of shape (chunk, …):
    /// (chunk, width)
    normed: Vec<f32>,
    /// (chunk, n_heads, head_dim)
    queries: Vec<f32>,
    /// (chunk, n_kv_heads, head_dim)
    keys: Vec<f32>,
    /// (chunk, n_kv_heads, head_dim)
    values: Vec<f32>,
    /// (chunk, n_heads, head_dim)
    attended: Vec<f32>,
    /// (chunk, ffn_width)
    gate: Vec<f32>,
    /// (chunk, ffn_width)
    up: Vec<f32>,
    /// (chunk, width)
    update: Vec<f32>,
    attention: Attention,
    activations: Activations,
}

impl Run {
    fn begin(pass: &Pass, model: &Model, kv: &mut KvCache) -> Result<Self> {
        let (config, n) = (&model.config, pass.tokens.len());
        if pass.wanted_from >= n {
            return Err(invalid(format!("logits are wanted from token {} on, and the pass has {n}", pass.wanted_from)));
        }
        if let Some(&token) = pass.tokens.iter().find(|&&token| token as usize >= config.vocab_size) {
            let (requested, available) = (u64::from(token), config.vocab_size as u64);
            return Err(invalid(format!("token {token} is not one of the vocabulary's {available}"))
                .with_detail(Detail::Limit { requested, available }));
        }
        let start = kv.len();
        let id = kv.begin(n)?;

        let mut hidden = vec![0.0; n * config.width];
        for (&token, row) in pass.tokens.iter().zip(hidden.chunks_exact_mut(config.width)) {
            model.embedding.row(token, row)?;
        }
        let chunk = pass.chunk_for(model).min(n);
        let room = |width: usize| vec![0.0; chunk * width];
        Ok(Self {
            id,
            start,
            rope: Rope::new(config, model.rope_factors.as_deref(), start, n),
            hidden,
            normed: room(config.width),
            queries: room(config.query_width()),
            keys: room(config.kv_width()),
            values: room(config.kv_width()),
            attended: room(config.query_width()),
            gate: room(config.ffn_width),
            up: room(config.ffn_width),
            update: room(config.width),
            attention: Attention::default(),
            activations: Activations::default(),
        })
    }

    /// Takes the tokens with indices `tokens` through one layer; with `only_cache`, no further than into the cache.
    fn layer(
        &mut self,
        model: &Model,
        index: usize,
        tokens: std::ops::Range<usize>,
        only_cache: bool,
        kv: &mut KvCache,
    ) -> Result<()> {
        let Config { width, head_dim, norm_epsilon, ffn_width, .. } = model.config;
        let (query_width, kv_width) = (model.config.query_width(), model.config.kv_width());
        let Layer { attention_norm, query, key, value, attention_output, ffn_norm, gate, up, down } =
            &model.layers[index];
        let n = tokens.len();

        let hidden = &mut self.hidden[tokens.start * width..tokens.end * width]; // (n, width)
        let normed = &mut self.normed[..n * width]; //                              (n, width)
        let queries = &mut self.queries[..n * query_width]; //                      (n, n_heads, head_dim)
        let keys = &mut self.keys[..n * kv_width]; //                               (n, n_kv_heads, head_dim)
        let values = &mut self.values[..n * kv_width]; //                           (n, n_kv_heads, head_dim)
        let attended = &mut self.attended[..n * query_width]; //                    (n, n_heads, head_dim)
        let gated = &mut self.gate[..n * ffn_width]; //                             (n, ffn_width)
        let raised = &mut self.up[..n * ffn_width]; //                              (n, ffn_width)
        let update = &mut self.update[..n * width]; //                              (n, width)
        let activations = &mut self.activations;

        norm_rows(hidden, attention_norm, norm_epsilon, normed); //                 (n, width)
        let mut input = Input::new(normed, n, activations);
        key.matmul(&mut input, keys)?; //              (kv_width, width) · (n, width) → (n, kv_width)
        value.matmul(&mut input, values)?; //          (kv_width, width) · (n, width) → (n, kv_width)
        let rows = keys.chunks_exact_mut(kv_width).zip(values.chunks_exact(kv_width));
        for ((key, value), token) in rows.zip(tokens.clone()) {
            self.rope.turn(token, head_dim, key);
            kv.write(index, self.start + token, key, value);
        }
        if only_cache {
            return Ok(());
        }
        query.matmul(&mut input, queries)?; //   (query_width, width) · (n, width) → (n, query_width)
        for (row, token) in queries.chunks_exact_mut(query_width).zip(tokens.clone()) {
            self.rope.turn(token, head_dim, row);
        }
        self.attention.attend(queries, n, self.start + tokens.start, index, kv, attended);
        let mut input = Input::new(attended, n, activations);
        attention_output.matmul(&mut input, update)?; // (width, query_width) · (n, query_width) → (n, width)
        math::add(hidden, update);

        norm_rows(hidden, ffn_norm, norm_epsilon, normed); //                       (n, width)
        let mut input = Input::new(normed, n, activations);
        gate.matmul(&mut input, gated)?; //           (ffn_width, width) · (n, width) → (n, ffn_width)
        up.matmul(&mut input, raised)?; //            (ffn_width, width) · (n, width) → (n, ffn_width)
        math::silu_times(gated, raised); //                                         (n, ffn_width)
        let mut input = Input::new(gated, n, activations);
        down.matmul(&mut input, update)?; //       (width, ffn_width) · (n, ffn_width) → (n, width)
        math::add(hidden, update);
        Ok(())
    }

    /// Appends one token's logits.
    fn head(&mut self, model: &Model, token: usize, logits: &mut Vec<f32>) -> Result<()> {
        let Config { width, norm_epsilon, vocab_size, .. } = model.config;
        let hidden = &self.hidden[token * width..(token + 1) * width]; // (width)
        let normed = &mut self.normed[..width]; //                        (width)
        math::rms_norm(hidden, &model.output_norm, norm_epsilon, normed);
        let start = logits.len();
        logits.resize(start + vocab_size, 0.0);
        let head = model.head.as_ref().unwrap_or(&model.embedding);
        head.matmul(&mut Input::new(normed, 1, &mut self.activations), &mut logits[start..])
    }
}

fn norm_rows(x: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32]) {
    let width = weight.len();
    for (x, out) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
        math::rms_norm(x, weight, epsilon, out);
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}
