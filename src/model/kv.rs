//! What attention remembers of the tokens so far: their keys and values in every layer.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Config;
use crate::error::{Detail, Error, ErrorKind, Result};

/// Keys and values of a sequence of tokens, in f32, laid out as [attention](super::attention) reads them.
///
/// The memory grows with the tokens, not with the capacity: `8 · n_layers · kv_width` bytes each (45 KiB for
/// SmolLM2-135M). Half floats would halve that, but WebAssembly converts them in software, and attention reads every one
/// of them for every token.
pub struct KvCache {
    len: usize,
    capacity: usize,
    head_dim: usize,
    n_kv_heads: usize,
    /// By layer, then by key and value head.
    heads: Vec<Head>,
    /// The pass that is writing rows beyond `len`, if any.
    writer: Option<PassId>,
}

/// One head of one layer, in whole panels; positions at and beyond the cache's length belong to a pass under way, or to
/// nobody.
#[derive(Clone, Default)]
struct Head {
    /// (panels, head_dim, PANEL)
    keys: Vec<f32>,
    /// (panels, PANEL, head_dim)
    values: Vec<f32>,
}

/// Positions that lie together in memory.
pub(super) const PANEL: usize = 16;

/// Tells one pass from every other, so that none goes on with a cache that has changed underneath it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PassId(u64);

/// Memory is added for so many positions at a time, at least.
const GROWTH: usize = 4 * PANEL;

impl KvCache {
    /// An empty cache for up to `capacity` tokens of a model.
    ///
    /// # Errors
    /// `context-overflow` for a capacity beyond the model's context; `invalid-argument` for one of zero.
    pub fn new(config: &Config, capacity: usize) -> Result<Self> {
        if capacity == 0 {
            return Err(Error::new(ErrorKind::InvalidArgument, "a context of zero tokens cannot hold anything"));
        }
        if capacity > config.context_length {
            return Err(overflow("the model was trained for contexts of", capacity, config.context_length));
        }
        let heads = vec![Head::default(); config.n_layers * config.n_kv_heads];
        Ok(Self { len: 0, capacity, head_dim: config.head_dim, n_kv_heads: config.n_kv_heads, heads, writer: None })
    }

    /// Tokens remembered.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Tokens that can be remembered.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Forgets all tokens from position `len` on; does nothing if there are none. A pass under way cannot go on.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
        self.writer = None;
    }

    /// A second cache with the same tokens, which from here on lives its own life.
    #[must_use]
    pub fn fork(&self) -> Self {
        let filled = self.len.next_multiple_of(PANEL) * self.head_dim;
        let copy = |head: &Head| Head { keys: head.keys[..filled].to_vec(), values: head.values[..filled].to_vec() };
        Self { heads: self.heads.iter().map(copy).collect(), writer: None, ..*self }
    }

    /// Makes room for `n` more tokens and for the one pass that may [`write`](Self::write) them.
    ///
    /// # Errors
    /// `context-overflow` beyond the capacity; `out-of-memory`. The cache is then as it was.
    pub(super) fn begin(&mut self, n: usize) -> Result<PassId> {
        let len = self.len.saturating_add(n);
        if len > self.capacity {
            return Err(overflow("the context holds", len, self.capacity));
        }
        self.grow(len)?;
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = PassId(NEXT.fetch_add(1, Ordering::Relaxed));
        self.writer = Some(id);
        Ok(id)
    }

    /// Sees to it that every head has room for `len` positions.
    fn grow(&mut self, len: usize) -> Result<()> {
        let target = len.max(self.len + self.len / 2).next_multiple_of(GROWTH).min(self.capacity);
        let out_of_memory =
            || Error::new(ErrorKind::OutOfMemory, format!("no memory for a context of {target} tokens"));
        let size = |len: usize| len.next_multiple_of(PANEL).checked_mul(self.head_dim).ok_or_else(out_of_memory);
        let (needed, wanted) = (size(len)?, size(target)?);
        for vector in self.heads.iter_mut().flat_map(|head| [&mut head.keys, &mut head.values]) {
            if vector.len() < needed {
                vector.try_reserve_exact(wanted - vector.len()).map_err(|_| out_of_memory())?;
                vector.resize(wanted, 0.0);
            }
        }
        Ok(())
    }

    /// # Errors
    /// `invalid-argument` if the cache is another one than the pass began with, or has changed since.
    pub(super) fn check(&self, id: PassId) -> Result<()> {
        if self.writer == Some(id) {
            return Ok(());
        }
        let message = "the KV cache is not the one that this pass began with, or has changed since";
        Err(Error::new(ErrorKind::InvalidArgument, message))
    }

    /// Stores one token's keys and values, of shape (n_kv_heads, head_dim), in a layer.
    pub(super) fn write(&mut self, layer: usize, position: usize, keys: &[f32], values: &[f32]) {
        let (panel, lane) = (position / PANEL * PANEL * self.head_dim, position % PANEL);
        let heads = &mut self.heads[layer * self.n_kv_heads..][..self.n_kv_heads];
        let new = keys.chunks_exact(self.head_dim).zip(values.chunks_exact(self.head_dim));
        for (head, (key, value)) in heads.iter_mut().zip(new) {
            for (slots, &key) in head.keys[panel..].chunks_exact_mut(PANEL).zip(key) {
                slots[lane] = key;
            }
            head.values[panel + lane * self.head_dim..][..self.head_dim].copy_from_slice(value);
        }
    }

    /// The keys (panels, head_dim, PANEL) and values (panels, PANEL, head_dim) of a head.
    pub(super) fn head(&self, layer: usize, head: usize) -> (&[f32], &[f32]) {
        let head = &self.heads[layer * self.n_kv_heads + head];
        (&head.keys, &head.values)
    }

    pub(super) fn n_kv_heads(&self) -> usize {
        self.n_kv_heads
    }

    pub(super) fn head_dim(&self) -> usize {
        self.head_dim
    }

    /// Takes over the `n` tokens that a pass has written in every layer.
    pub(super) fn commit(&mut self, n: usize) {
        self.len += n;
        self.writer = None;
    }
}

fn overflow(what: &str, requested: usize, available: usize) -> Error {
    Error::new(ErrorKind::ContextOverflow, format!("{what} {available} tokens, and {requested} are needed"))
        .with_detail(Detail::Limit { requested: requested as u64, available: available as u64 })
}
