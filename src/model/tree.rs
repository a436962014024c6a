//! Many continuations of one text in one pass, each token of theirs once: the scores of a list of candidates.
//!
//! ```text
//! cached text ─▶ root ─┬─▶ a ─┬─▶ b        candidates: a b, a c d, e
//!                      │      └─▶ c ─▶ d
//!                      └─▶ e
//! ```
//!
//! The first node is the text's last token. Each stands at the position of its depth, and sees the cached text and its
//! own ancestors. What a node adds is its log-probability after its parent, so only nodes with children go through
//! the model and the head. Nothing goes into the cache.
//!
//! Every number is the same, bit for bit, as if the node's path had been fed token by token.

use std::collections::HashMap;
use std::ops::Range;

use super::attention::{Attention, Branches};
use super::forward::{check_tokens, chunk_for, embed, invalid};
use super::kv::{self, KvCache};
use super::layer::{Context, How, Workspace};
use super::math;
use super::rope::Rope;
use super::weights::Model;
use crate::error::{Detail, Result};
use crate::tokenizer::TokenId;

/// The most nodes in a tree: what they need in memory is then a fraction of any model.
const MAX_NODES: usize = 1 << 16;

/// Multiplications in the head in one step: in WebAssembly, some 50 ms.
const HEAD_STEP: usize = 400_000_000;
/// Positions that go through the head together; more gain no speed.
const HEAD_BATCH: usize = 16;

/// Texts that begin alike, as a tree of their tokens. A node is known by its index; a parent's is below its children's.
pub struct TokenTree {
    nodes: Vec<Node>,
    /// By parent and token.
    children: HashMap<(u32, TokenId), u32>,
}

struct Node {
    token: TokenId,
    /// The root's is itself.
    parent: u32,
}

impl TokenTree {
    /// A tree of a root alone: the last token of the text that everything continues.
    pub fn new(root: TokenId) -> Self {
        Self { nodes: vec![Node { token: root, parent: 0 }], children: HashMap::new() }
    }

    /// Adds a continuation; returns the node of each of its tokens.
    ///
    /// # Errors
    /// `invalid-argument`, with both numbers, if the tree gets too large.
    pub fn insert(&mut self, continuation: &[TokenId]) -> Result<Vec<u32>> {
        let mut parent = 0;
        let mut path = Vec::with_capacity(continuation.len());
        for &token in continuation {
            let next = self.nodes.len() as u32;
            let node = *self.children.entry((parent, token)).or_insert(next);
            if node == next {
                if self.nodes.len() == MAX_NODES {
                    let limit = MAX_NODES as u64;
                    return Err(invalid(format!("the candidates have more than {limit} different tokens"))
                        .with_detail(Detail::Limit { requested: limit + 1, available: limit }));
                }
                self.nodes.push(Node { token, parent });
            }
            path.push(node);
            parent = node;
        }
        Ok(path)
    }

    /// How many nodes there are, the root included.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
}

/// What a step has come to.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeProgress {
    /// Call [`TreePass::step`] again.
    More,
    /// The pass is done: for each node of the tree the natural logarithm of its probability after its parent, over the
    /// whole vocabulary. The root has 0.
    Done(Vec<f32>),
}

/// A [`TokenTree`] on its way through a model.
pub struct TreePass {
    /// What goes through the model: the nodes with children, and what follows them, as (node, token).
    inner: Vec<TokenId>,
    followers: Vec<Vec<(u32, TokenId)>>,
    /// For each of `inner` the path to it from the root, itself included, as indices of `inner`.
    paths: Vec<Vec<u32>>,
    scores: Vec<f32>,
    run: Option<Run>,
    /// Steps done.
    done: usize,
}

impl TreePass {
    pub fn new(tree: &TokenTree) -> Self {
        let mut followers: Vec<Vec<(u32, TokenId)>> = vec![Vec::new(); tree.len()];
        for (index, node) in (0..).zip(&tree.nodes).skip(1) {
            followers[node.parent as usize].push((index, node.token));
        }
        let mut inner = Vec::new();
        let mut inner_of = vec![0; tree.len()];
        let mut paths: Vec<Vec<u32>> = Vec::new();
        for (index, node) in tree.nodes.iter().enumerate().filter(|(index, _)| !followers[*index].is_empty()) {
            let this = inner.len() as u32;
            let mut path = if index == 0 { Vec::new() } else { paths[inner_of[node.parent as usize] as usize].clone() };
            path.push(this);
            paths.push(path);
            inner_of[index] = this;
            inner.push(node.token);
        }
        followers.retain(|followers| !followers.is_empty());
        Self { inner, followers, paths, scores: vec![0.0; tree.len()], run: None, done: 0 }
    }

    /// How many tokens go through the model: the nodes with children.
    pub fn tokens(&self) -> usize {
        self.inner.len()
    }

    /// How many calls of [`step`](Self::step) the whole pass takes.
    pub fn steps(&self, model: &Model) -> usize {
        let chunks = self.inner.len().div_ceil(chunk_for(model));
        (model.layers.len() * chunks + self.inner.len().div_ceil(head_batch(model))).max(1)
    }

    /// Does the next piece of work: a chunk of tokens through one layer, or some through the head.
    ///
    /// `kv` holds the text up to, and without, the tree's root. Every call must be given the same model and cache.
    ///
    /// # Errors
    /// - `invalid-argument`: a token outside the vocabulary, or a cache of another length than the pass began with.
    /// - `context-overflow`, with both numbers, if the longest path does not fit behind the text.
    pub fn step(&mut self, model: &Model, kv: &KvCache) -> Result<TreeProgress> {
        if self.inner.is_empty() {
            return Ok(TreeProgress::Done(self.scores.clone()));
        }
        let mut run = match self.run.take() {
            Some(run) if run.len == kv.len() => run,
            Some(_) => return Err(invalid("the KV cache has changed since the pass over a tree began")),
            None => Run::begin(self, model, kv)?,
        };
        let (n, chunk) = (self.inner.len(), chunk_for(model));
        let chunks = n.div_ceil(chunk);
        let in_layers = model.layers.len() * chunks;
        if self.done < in_layers {
            let (layer, start) = (self.done / chunks, self.done % chunks * chunk);
            run.layer(model, layer, start..n.min(start + chunk), &self.paths, kv);
        } else if self.done < self.steps(model) {
            let batch = head_batch(model);
            let start = (self.done - in_layers) * batch;
            run.head(model, start..n.min(start + batch), &self.followers, &mut self.scores);
        }
        self.run = Some(run);
        self.done = (self.done + 1).min(self.steps(model));
        let done = self.done == self.steps(model);
        Ok(if done { TreeProgress::Done(self.scores.clone()) } else { TreeProgress::More })
    }
}

fn head_batch(model: &Model) -> usize {
    if model.head().is_packed() { (HEAD_STEP / model.head().size()).clamp(1, HEAD_BATCH) } else { 1 }
}

/// A pass under way.
struct Run {
    /// Tokens in the cache.
    len: usize,
    /// (nodes, width)
    hidden: Vec<f32>,
    /// (nodes, n_kv_heads, head_dim), of one layer
    keys: Vec<f32>,
    /// (nodes, n_kv_heads, head_dim), of one layer
    values: Vec<f32>,
    /// (nodes, width), of one layer, where layers convolve
    rows: Vec<f32>,
    /// (positions, vocab_size)
    logits: Vec<f32>,
    workspace: Workspace,
}

impl Run {
    fn begin(pass: &TreePass, model: &Model, kv: &KvCache) -> Result<Self> {
        let depth = pass.paths.iter().map(Vec::len).max().unwrap_or(0);
        if kv.len() + depth > kv.capacity() {
            return Err(kv::overflow("the context holds", kv.len() + depth, kv.capacity()));
        }
        check_tokens(&model.config, pass.followers.iter().flatten().map(|(_, token)| token))?;
        let n = pass.inner.len();
        let rope = Rope::new(&model.config, &model.rope_factors, kv.capacity(), kv.len(), depth);
        Ok(Self {
            len: kv.len(),
            hidden: embed(model, &pass.inner)?,
            keys: vec![0.0; n * model.config.kv_width()],
            values: vec![0.0; n * model.config.kv_width()],
            rows: vec![0.0; if model.config.convolution.is_some() { n * model.config.width } else { 0 }],
            logits: Vec::new(),
            workspace: Workspace::new(&model.config, rope, chunk_for(model).min(n)),
        })
    }

    fn layer(&mut self, model: &Model, index: usize, nodes: Range<usize>, paths: &[Vec<u32>], kv: &KvCache) {
        let width = model.config.width;
        let hidden = &mut self.hidden[nodes.start * width..nodes.end * width]; // (n, width)
        let mut tree = Tree { kv, paths, keys: &mut self.keys, values: &mut self.values, rows: &mut self.rows };
        self.workspace.layer(model, index, hidden, nodes, &mut tree, false);
    }

    /// Scores what follows some of the nodes.
    fn head(&mut self, model: &Model, nodes: Range<usize>, followers: &[Vec<(u32, TokenId)>], scores: &mut [f32]) {
        let (width, vocab_size) = (model.config.width, model.config.vocab_size);
        self.logits.resize(nodes.len() * vocab_size, 0.0);
        let hidden = &self.hidden[nodes.start * width..nodes.end * width]; // (n, width)
        self.workspace.head(model, hidden, None, &mut self.logits);
        for (logits, followers) in self.logits.chunks_exact(vocab_size).zip(&followers[nodes]) {
            let total = math::log_sum_exp(logits);
            for &(node, token) in followers {
                scores[node as usize] = (f64::from(logits[token as usize]) - total) as f32;
            }
        }
    }
}

/// Nodes behind a cached text, each of which sees the text and its own path.
struct Tree<'a> {
    kv: &'a KvCache,
    paths: &'a [Vec<u32>],
    keys: &'a mut [f32],
    values: &'a mut [f32],
    rows: &'a mut [f32],
}

impl Context for Tree<'_> {
    fn place(&self, node: usize) -> usize {
        self.paths[node].len() - 1
    }

    fn store(&mut self, _layer: usize, nodes: Range<usize>, keys: &[f32], values: &[f32]) {
        for (stored, new) in [(&mut *self.keys, keys), (&mut *self.values, values)] {
            keep(stored, nodes.clone(), new, self.kv);
        }
    }

    fn attend(&self, attention: &mut Attention, how: How, nodes: Range<usize>, queries: &[f32], out: &mut [f32]) {
        let branches = Branches { keys: self.keys, values: self.values, paths: &self.paths[nodes] };
        attention.tree(how.view(self.kv), queries, branches, out);
    }

    fn store_rows(&mut self, _layer: usize, nodes: Range<usize>, rows: &[f32]) {
        keep(self.rows, nodes, rows, self.kv);
    }

    fn row(&self, layer: usize, node: usize, back: usize, out: &mut [f32]) -> bool {
        let path = &self.paths[node];
        if let Some(ancestor) = path.iter().nth_back(back) {
            out.copy_from_slice(&self.rows[*ancestor as usize * out.len()..][..out.len()]);
            return true;
        }
        let position = (self.kv.len() + path.len() - 1).checked_sub(back);
        position.inspect(|&position| self.kv.row(layer, position, out)).is_some()
    }
}

/// Stores what a layer has made of some nodes, as the cache would, so that a tree's scores are those of a line.
fn keep(stored: &mut [f32], nodes: Range<usize>, new: &[f32], kv: &KvCache) {
    let width = new.len() / nodes.len();
    let stored = &mut stored[nodes.start * width..nodes.end * width];
    stored.copy_from_slice(new);
    kv.kv_type().round(stored, kv.head_dim());
}
