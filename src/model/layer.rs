//! What one layer, and the head, make of some tokens' vectors.
//!
//! ```text
//! x = rms_norm(h)
//! q, k, v = W_q x, W_k x, W_v x              (+ biases; q and k each normed, in some families)
//! q, k = rope(q), rope(k)                    (but for layers without)
//! h += W_o · attention(q, all k, v that the token sees)       (normed first, in Gemma)
//! x = rms_norm(h)
//! h += W_down · (activation(W_gate x) ∘ W_up x)               (normed first, in Gemma)
//! ```
//!
//! Most layers of LFM 2 convolve where the others attend:
//!
//! ```text
//! x = rms_norm(h)
//! before, behind, through = W_in x
//! m = before ∘ through
//! h += W_out · (behind ∘ Σ_k kernel[k] ∘ m of the token (length - 1 - k) positions back)
//! ```

use std::ops::Range;

use super::attention::{Attention, View};
use super::config::Activation;
use super::kernels::{Activations, pool};
use super::matrix::{Input, Matrix};
use super::rope::{Rope, Table};
use super::weights::{Mixer, Model, Projection, ShortConvolution};
use super::{Config, math};
use crate::tokenizer::TokenId;

/// What the tokens of a pass see of one another and of what was before them.
pub(super) trait Context {
    /// Row of token `token` in the tables of RoPE.
    fn place(&self, token: usize) -> usize;

    /// Takes the keys and values, of shape (tokens.len(), n_kv_heads, head_dim), that a layer has made of some tokens.
    fn store(&mut self, layer: usize, tokens: Range<usize>, keys: &[f32], values: &[f32]);

    /// Attends from some tokens, whose keys and values are stored. `queries` and `out` are of shape
    /// (tokens.len(), n_heads, head_dim).
    fn attend(&self, attention: &mut Attention, how: How, tokens: Range<usize>, queries: &[f32], out: &mut [f32]);

    /// Takes what a layer that convolves remembers of some tokens, of shape (tokens.len(), width).
    fn store_rows(&mut self, layer: usize, tokens: Range<usize>, rows: &[f32]);

    /// Puts into `out` what is stored of the token `back` positions before `token`, (width). Returns `false`, and leaves `out`
    /// as it is, where the text had not begun by then.
    fn row(&self, layer: usize, token: usize, back: usize, out: &mut [f32]) -> bool;
}

/// How a layer attends: a [`View`] that has no cache yet.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub layer: usize,
    pub window: Option<usize>,
    pub scale: f32,
}

impl How {
    pub(super) fn view(self, kv: &super::KvCache) -> View<'_> {
        let Self { layer, window, scale } = self;
        View { kv, layer, window, scale }
    }
}

/// What a pass works with besides the model: RoPE's tables for its positions, and room for what a chunk of its tokens
/// needs inside a layer, each of shape (chunk, …).
pub(super) struct Workspace {
    rope: Rope,
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
    /// (chunk, 3, width), where layers convolve
    gates: Vec<f32>,
    /// (width), where layers convolve
    row: Vec<f32>,
    /// (chunk, ffn_width)
    gate: Vec<f32>,
    /// (chunk, ffn_width)
    up: Vec<f32>,
    /// (chunk, width)
    update: Vec<f32>,
    attention: Attention,
    activations: Activations,
}

impl Workspace {
    /// Room for `chunk` tokens at a time.
    pub(super) fn new(config: &Config, rope: Rope, chunk: usize) -> Self {
        let room = |width: usize| vec![0.0; chunk * width];
        Self {
            rope,
            normed: room(config.width),
            queries: room(config.query_width()),
            keys: room(config.kv_width()),
            values: room(config.kv_width()),
            attended: room(config.query_width()),
            gates: room(if config.convolution.is_some() { 3 * config.width } else { 0 }),
            row: vec![0.0; if config.convolution.is_some() { config.width } else { 0 }],
            gate: room(config.ffn_width),
            up: room(config.ffn_width),
            update: room(config.width),
            attention: Attention::default(),
            activations: Activations::default(),
        }
    }

    /// Takes the tokens with indices `tokens` through one layer; `hidden` (tokens.len(), width) are their vectors. With
    /// `only_store`, goes no further than to what later tokens see of these.
    pub(super) fn layer(
        &mut self,
        model: &Model,
        index: usize,
        hidden: &mut [f32],
        tokens: Range<usize>,
        context: &mut impl Context,
        only_store: bool,
    ) {
        let (config, layer, n) = (&model.config, &model.layers[index], tokens.len());
        let (width, ffn_width, epsilon) = (config.width, config.ffn_width, config.norm_epsilon);

        norm_rows(hidden, &layer.attention_norm, epsilon, &mut self.normed[..n * width]);
        match &layer.mixer {
            Mixer::Attention { query, key, value, output } => {
                self.attend(config, index, [query, key, value, output], tokens, context, only_store);
            }
            Mixer::Convolution(weights) => self.convolve(config, index, weights, tokens, context, only_store),
        }
        if only_store {
            return;
        }
        let update = &mut self.update[..n * width]; //         (n, width)
        add_update(hidden, update, layer.attention_post_norm.as_deref(), epsilon);

        let normed = &mut self.normed[..n * width]; //         (n, width)
        let gated = &mut self.gate[..n * ffn_width]; //        (n, ffn_width)
        let raised = &mut self.up[..n * ffn_width]; //         (n, ffn_width)
        norm_rows(hidden, &layer.ffn_norm, epsilon, normed);
        let mut input = Input::new(normed, n, &mut self.activations);
        // (ffn_width, width) · (n, width) → (n, ffn_width), twice
        Matrix::matmul_all([&layer.gate, &layer.up], &mut input, [&mut *gated, &mut *raised]);
        let activate = match config.activation {
            Activation::Silu => math::silu_times,
            Activation::Gelu => math::gelu_times,
        };
        pool::share_rows(gated, 1, math::EXP_COST, &|first, gate| activate(gate, &raised[first..]));
        let mut input = Input::new(gated, n, &mut self.activations);
        layer.down.matmul(&mut input, update); //             (width, ffn_width) · (n, ffn_width) → (n, width)
        add_update(hidden, update, layer.ffn_post_norm.as_deref(), epsilon);
    }

    /// From the normed vectors of some tokens to what attention adds to them, in `update`.
    fn attend(
        &mut self,
        config: &Config,
        layer: usize,
        [query, key, value, output]: [&Projection; 4],
        tokens: Range<usize>,
        context: &mut impl Context,
        only_store: bool,
    ) {
        let (n, epsilon) = (tokens.len(), config.norm_epsilon);
        let (query_width, kv_width) = (config.query_width(), config.kv_width());
        let queries = &mut self.queries[..n * query_width]; // (n, n_heads, head_dim)
        let keys = &mut self.keys[..n * kv_width]; //          (n, n_kv_heads, head_dim)
        let values = &mut self.values[..n * kv_width]; //      (n, n_kv_heads, head_dim)
        let attended = &mut self.attended[..n * query_width]; // (n, n_heads, head_dim)
        let update = &mut self.update[..n * config.width]; //  (n, width)
        let rope = self.rope.of_layer(config, layer);
        let turn = |heads: &mut [f32], context: &_| turn(config, rope, tokens.clone(), heads, context);

        let mut input = Input::new(&self.normed[..n * config.width], n, &mut self.activations);
        // key and value: (kv_width, width) · (n, width) → (n, kv_width); query: → (n, query_width)
        if only_store {
            Matrix::matmul_all([&key.matrix, &value.matrix], &mut input, [keys, values]);
        } else {
            Matrix::matmul_all(
                [&key.matrix, &value.matrix, &query.matrix],
                &mut input,
                [&mut *keys, &mut *values, &mut *queries],
            );
        }
        key.finish(keys, epsilon);
        value.finish(values, epsilon);
        turn(keys, context);
        context.store(layer, tokens.clone(), keys, values);
        if only_store {
            return;
        }
        query.finish(queries, epsilon);
        turn(queries, context);
        let window = config.window_of(layer).map(|window| window.length);
        let how = How { layer, window, scale: config.attention_scale };
        context.attend(&mut self.attention, how, tokens.clone(), queries, attended);
        let mut input = Input::new(attended, n, &mut self.activations);
        output.matrix.matmul(&mut input, update); //           (width, query_width) · (n, query_width) → (n, width)
        output.finish(update, epsilon);
    }

    /// From the normed vectors of some tokens to what a convolution adds to them, in `update`.
    ///
    /// What is remembered of a token is read back from where it is stored, of this pass's tokens too: it may have been rounded.
    fn convolve(
        &mut self,
        config: &Config,
        layer: usize,
        weights: &ShortConvolution,
        tokens: Range<usize>,
        context: &mut impl Context,
        only_store: bool,
    ) {
        let (n, width) = (tokens.len(), config.width);
        let gates = &mut self.gates[..n * 3 * width]; //       (n, 3, width)
        let update = &mut self.update[..n * width]; //         (n, width)
        let normed = &mut self.normed[..n * width]; //         (n, width)
        let mut input = Input::new(normed, n, &mut self.activations);
        weights.input.matmul(&mut input, gates); //            (3 · width, width) · (n, width) → (n, 3 · width)
        for (row, gates) in normed.chunks_exact_mut(width).zip(gates.chunks_exact(3 * width)) {
            let (before, through) = (&gates[..width], &gates[2 * width..]);
            row.iter_mut().zip(before).zip(through).for_each(|((row, before), through)| *row = before * through);
        }
        context.store_rows(layer, tokens.clone(), normed);
        if only_store {
            return;
        }
        let length = weights.kernel.len() / width;
        let row = &mut self.row[..]; //                       (width)
        for ((token, sum), gates) in tokens.zip(normed.chunks_exact_mut(width)).zip(gates.chunks_exact(3 * width)) {
            sum.fill(0.0);
            for (k, kernel) in weights.kernel.chunks_exact(width).enumerate() {
                if context.row(layer, token, length - 1 - k, row) {
                    sum.iter_mut().zip(kernel).zip(&*row).for_each(|((sum, weight), row)| *sum += weight * row);
                }
            }
            let behind = &gates[width..2 * width];
            sum.iter_mut().zip(behind).for_each(|(sum, behind)| *sum *= behind);
        }
        let mut input = Input::new(normed, n, &mut self.activations);
        weights.output.matmul(&mut input, update); //          (width, width) · (n, width) → (n, width)
    }

    /// Logits of `n` tokens with vectors `hidden` (n, width), into `logits`: of shape (n, vocab_size), or with `rows`
    /// (n, rows.len()), the logits of those tokens of the vocabulary alone.
    pub(super) fn head(&mut self, model: &Model, hidden: &[f32], rows: Option<&[TokenId]>, logits: &mut [f32]) {
        let n = hidden.len() / model.config.width;
        self.normed.resize(self.normed.len().max(hidden.len()), 0.0);
        let normed = &mut self.normed[..hidden.len()]; //      (n, width)
        norm_rows(hidden, &model.output_norm, model.config.norm_epsilon, normed);
        let mut input = Input::new(normed, n, &mut self.activations);
        match rows {
            None => model.head().matmul(&mut input, logits), // (vocab_size, width) · (n, width) → (n, vocab_size)
            Some(rows) => model.head().matmul_rows(&mut input, rows, logits),
        }
    }
}

impl Projection {
    /// What follows the product, in the families that have it.
    fn finish(&self, out: &mut [f32], epsilon: f32) {
        if let Some(bias) = &self.bias {
            out.chunks_exact_mut(bias.len()).for_each(|row| math::add(row, bias));
        }
        if let Some(norm) = &self.norm {
            out.chunks_exact_mut(norm.len()).for_each(|head| math::rms_norm_in_place(head, norm, epsilon));
        }
    }
}

/// Turns the heads of all tokens, (tokens.len(), heads, head_dim).
fn turn(config: &Config, rope: Option<&Table>, tokens: Range<usize>, heads: &mut [f32], context: &impl Context) {
    let Some(table) = rope else { return };
    let of_token = heads.len() / tokens.len();
    for (heads, token) in heads.chunks_exact_mut(of_token).zip(tokens) {
        table.turn(context.place(token), config.head_dim, heads);
    }
}

fn add_update(hidden: &mut [f32], update: &mut [f32], norm: Option<&[f32]>, epsilon: f32) {
    if let Some(norm) = norm {
        update.chunks_exact_mut(norm.len()).for_each(|row| math::rms_norm_in_place(row, norm, epsilon));
    }
    math::add(hidden, update);
}

fn norm_rows(x: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32]) {
    let width = weight.len();
    pool::share_rows(out, width, 1, &|first, out| {
        let rows = out.chunks_exact_mut(width).zip(x[first * width..].chunks_exact(width));
        rows.for_each(|(out, x)| math::rms_norm(x, weight, epsilon, out));
    });
}
