//! What attention remembers of the tokens so far: their keys and values in every layer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Config;
use crate::error::{Detail, Error, ErrorKind, Result};

/// Keys and values of a sequence of tokens, in f32, laid out as [attention](super::attention) reads them.
///
/// The memory grows with the tokens, not with the capacity: `8 · n_layers · kv_width` bytes each (45 KiB for
/// SmolLM2-135M), added in blocks that never move, so that growing takes no longer for a long context than for a short
/// one. Forks share the blocks until one of them writes. Half floats would need half the memory, but WebAssembly
/// converts them in software, and attention reads every one of them for every token.
pub struct KvCache {
    len: usize,
    capacity: usize,
    shape: Shape,
    /// In the order of their positions.
    blocks: Vec<Arc<Block>>,
    /// The pass that is writing beyond `len`, if any.
    writer: Option<PassId>,
}

/// Keys and values of [`BLOCK`] positions. Positions at and beyond the cache's length belong to a pass under way, or to
/// nobody.
///
/// Shape: (n_layers, n_kv_heads, 2, BLOCK / PANEL) panels, where the keys' panels are (head_dim, PANEL) and the values' are
/// (head_dim / TILE, PANEL, TILE), with a narrower tile at the end if need be.
type Block = Vec<f32>;

/// Positions that attention takes at once.
pub(super) const PANEL: usize = 16;

/// Values of a head that attention sums up at once, over all positions of a panel.
pub(super) const TILE: usize = 16;

/// Positions that memory is added for at once.
const BLOCK: usize = 4 * PANEL;

#[derive(Clone, Copy)]
struct Shape {
    n_layers: usize,
    n_kv_heads: usize,
    head_dim: usize,
}

impl Shape {
    /// Values of one head's keys, or its values, in a block.
    fn half(self) -> usize {
        BLOCK * self.head_dim
    }

    /// Values of one layer in a block.
    fn layer(self) -> usize {
        self.n_kv_heads * 2 * self.half()
    }
}

/// Tells one pass from every other, so that none goes on with a cache that has changed underneath it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PassId(u64);

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
        let &Config { n_layers, n_kv_heads, head_dim, .. } = config;
        Ok(Self { len: 0, capacity, shape: Shape { n_layers, n_kv_heads, head_dim }, blocks: Vec::new(), writer: None })
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

    /// Forgets all tokens from position `len` on; does nothing if there are none. A pass under way cannot go on. The
    /// memory is kept for the tokens to come.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
        self.writer = None;
    }

    /// A second cache with the same tokens, which from here on lives its own life. It takes hardly any time or memory:
    /// what both remember is stored once.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self { blocks: self.blocks[..self.len.div_ceil(BLOCK)].to_vec(), writer: None, ..*self }
    }

    /// The keys and values of the tokens remembered, in blocks, and of nothing else: what a block has room for beyond them
    /// is zero. [`from_values`](Self::from_values) takes them back.
    pub(crate) fn to_values(&self) -> Vec<f32> {
        let mut plain = self.fork();
        let zeros = vec![0.0; self.shape.n_kv_heads * self.shape.head_dim];
        for position in self.len..plain.blocks.len() * BLOCK {
            for layer in 0..self.shape.n_layers {
                plain.write(layer, position, &zeros, &zeros);
            }
        }
        plain.blocks.iter().flat_map(|block| block.iter().copied()).collect()
    }

    /// A cache that remembers `len` tokens by their [`to_values`](Self::to_values).
    ///
    /// # Errors
    /// As [`new`](Self::new); `invalid-argument` for values that are not those of `len` tokens of such a model.
    pub(crate) fn from_values(config: &Config, capacity: usize, len: usize, values: &[f32]) -> Result<Self> {
        let mut cache = Self::new(config, capacity)?;
        cache.begin(len)?;
        let size = cache.blocks.first().map_or(1, |block| block.len());
        if values.len() != cache.blocks.len() * size {
            return Err(Error::new(ErrorKind::InvalidArgument, "the keys and values are not those of so many tokens"));
        }
        cache.blocks = values.chunks_exact(size).map(|block| Arc::new(block.to_vec())).collect();
        cache.commit(len);
        Ok(cache)
    }

    /// Makes room for `n` more tokens and for the one pass that may [`write`](Self::write) them.
    ///
    /// # Errors
    /// `context-overflow` beyond the capacity; `out-of-memory`. The tokens remembered are then as they were.
    pub(super) fn begin(&mut self, n: usize) -> Result<PassId> {
        let len = self.len.saturating_add(n);
        if len > self.capacity {
            return Err(overflow("the context holds", len, self.capacity));
        }
        while self.blocks.len() < len.div_ceil(BLOCK) {
            self.blocks.push(Arc::new(new_block(self.shape)?));
        }
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = PassId(NEXT.fetch_add(1, Ordering::Relaxed));
        self.writer = Some(id);
        Ok(id)
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
        let Shape { head_dim, .. } = self.shape;
        // A block that a fork reads too is copied first.
        let block = Arc::make_mut(&mut self.blocks[position / BLOCK]);
        let (panel, lane) = (position % BLOCK / PANEL * PANEL * head_dim, position % PANEL);
        let heads = block[layer * self.shape.layer()..].chunks_exact_mut(2 * self.shape.half());
        for (head, (key, value)) in heads.zip(keys.chunks_exact(head_dim).zip(values.chunks_exact(head_dim))) {
            let (keys, values) = head.split_at_mut(self.shape.half());
            for (slots, &key) in keys[panel..].chunks_exact_mut(PANEL).zip(key) {
                slots[lane] = key;
            }
            write_value(&mut values[panel..][..PANEL * head_dim], lane, value);
        }
    }

    /// Takes over the `n` tokens that a pass has written in every layer.
    pub(super) fn commit(&mut self, n: usize) {
        self.len += n;
        self.writer = None;
    }

    /// A panel of a head's keys, (head_dim, PANEL).
    pub(super) fn keys(&self, layer: usize, head: usize, panel: usize) -> &[f32] {
        self.panel(layer, 2 * head, panel)
    }

    /// A panel of a head's values, (head_dim / TILE, PANEL, TILE).
    pub(super) fn values(&self, layer: usize, head: usize, panel: usize) -> &[f32] {
        self.panel(layer, 2 * head + 1, panel)
    }

    fn panel(&self, layer: usize, half: usize, panel: usize) -> &[f32] {
        let size = PANEL * self.shape.head_dim;
        let start = layer * self.shape.layer() + half * self.shape.half() + panel % (BLOCK / PANEL) * size;
        &self.blocks[panel / (BLOCK / PANEL)][start..start + size]
    }

    pub(super) fn n_kv_heads(&self) -> usize {
        self.shape.n_kv_heads
    }

    pub(super) fn head_dim(&self) -> usize {
        self.shape.head_dim
    }
}

/// Puts one position's values, (head_dim), at their places in a panel.
pub(super) fn write_value(panel: &mut [f32], lane: usize, value: &[f32]) {
    for (tile, value) in panel.chunks_mut(PANEL * TILE).zip(value.chunks(TILE)) {
        tile[lane * value.len()..][..value.len()].copy_from_slice(value);
    }
}

fn new_block(shape: Shape) -> Result<Block> {
    let out_of_memory = || Error::new(ErrorKind::OutOfMemory, format!("no memory for {BLOCK} more tokens of context"));
    let size = [shape.n_layers, shape.n_kv_heads, 2, BLOCK, shape.head_dim].into_iter().try_fold(1, usize::checked_mul);
    let size = size.ok_or_else(out_of_memory)?;
    let mut block = Vec::new();
    block.try_reserve_exact(size).map_err(|_| out_of_memory())?;
    block.resize(size, 0.0);
    Ok(block)
}

pub(super) fn overflow(what: &str, requested: usize, available: usize) -> Error {
    Error::new(ErrorKind::ContextOverflow, format!("{what} {available} tokens, and {requested} are needed"))
        .with_detail(Detail::Limit { requested: requested as u64, available: available as u64 })
}
