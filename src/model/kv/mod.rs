//! What a model remembers of the tokens so far: their keys and values in every layer that attends, and of a layer that
//! convolves the rows that its kernel goes over. Those are kept of all tokens, not of the last few, so that a text can be
//! truncated, forked and continued in many ways at any place.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

mod words;

pub use self::words::KvType;
use self::words::{Half, Words};
use super::Config;
use crate::error::{Detail, Error, ErrorKind, Result};

/// Keys and values of a sequence of tokens, laid out as [attention](super::attention) reads them.
///
/// The memory grows with the tokens, not with the capacity: `2 · n_layers · kv_width` numbers each (in halves, 22.5 KiB for
/// SmolLM2-135M), added in blocks that never move, so that growing takes no longer for a long context than for a short
/// one. Forks share the blocks until one of them writes.
pub struct KvCache {
    len: usize,
    capacity: usize,
    kv_type: KvType,
    shape: Shape,
    /// In the order of their positions.
    blocks: Vec<Arc<Block>>,
    /// The pass that is writing beyond `len`, if any.
    writer: Option<PassId>,
}

/// What is remembered of [`BLOCK`] positions. Positions at and beyond the cache's length belong to a pass under way, or to
/// nobody. For each layer, one after another, of shape (n_kv_heads, 2, BLOCK / PANEL) panels, the keys' before the values'; or
/// (width / head_dim, BLOCK / PANEL) panels, laid out as values are, where the layer convolves.
type Block = Words;

/// Positions that attention takes at once.
pub(super) const PANEL: usize = 16;

/// Values of a head that attention sums up at once, over all positions of a panel.
pub(super) const TILE: usize = 16;

/// Positions that memory is added for at once.
const BLOCK: usize = 4 * PANEL;

#[derive(Clone)]
struct Shape {
    /// Where each layer's part of a block begins, and where the last one ends, in rows of BLOCK / PANEL panels.
    starts: Arc<[usize]>,
    /// Whether each layer convolves.
    convolves: Arc<[bool]>,
    n_kv_heads: usize,
    head_dim: usize,
}

impl Shape {
    fn new(config: &Config) -> Self {
        let &Config { n_layers, n_kv_heads, head_dim, width, .. } = config;
        let convolves: Arc<[bool]> = (0..n_layers).map(|layer| config.convolution_of(layer).is_some()).collect();
        let rows = convolves.iter().map(|&convolves| if convolves { width / head_dim } else { 2 * n_kv_heads });
        let ends = rows.scan(0usize, |end, rows| {
            *end = end.saturating_add(rows);
            Some(*end)
        });
        Self { starts: std::iter::once(0).chain(ends).collect(), convolves, n_kv_heads, head_dim }
    }

    /// Panels in a block, or `None` for more than can be counted.
    fn panels(&self) -> Option<usize> {
        self.starts.last()?.checked_mul(BLOCK / PANEL)
    }

    /// The panel of a block in which a position of a layer's row is.
    fn panel(&self, layer: usize, row: usize, position: usize) -> usize {
        (self.starts[layer] + row) * (BLOCK / PANEL) + position % BLOCK / PANEL
    }

    /// The same of a head's keys or values.
    fn panel_of_head(&self, layer: usize, head: usize, half: Half, position: usize) -> usize {
        self.panel(layer, 2 * head + half as usize, position)
    }
}

/// Tells one pass from every other, so that none goes on with a cache that has changed underneath it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PassId(u64);

impl KvCache {
    /// An empty cache for up to `capacity` tokens of a model, of the default type.
    ///
    /// # Errors
    /// As [`of_type`](Self::of_type).
    pub fn new(config: &Config, capacity: usize) -> Result<Self> {
        Self::of_type(KvType::default(), config, capacity)
    }

    /// An empty cache for up to `capacity` tokens of a model.
    ///
    /// # Errors
    /// `context-overflow` for a capacity beyond the model's context; `invalid-argument` for one of zero.
    pub fn of_type(kv_type: KvType, config: &Config, capacity: usize) -> Result<Self> {
        if capacity == 0 {
            return Err(Error::new(ErrorKind::InvalidArgument, "a context of zero tokens cannot hold anything"));
        }
        if capacity > config.context_length {
            return Err(overflow("the model was trained for contexts of", capacity, config.context_length));
        }
        Ok(Self { len: 0, capacity, kv_type, shape: Shape::new(config), blocks: Vec::new(), writer: None })
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
        let blocks = self.blocks[..self.len.div_ceil(BLOCK)].to_vec();
        Self { blocks, writer: None, shape: self.shape.clone(), ..*self }
    }

    /// The keys and values of the tokens remembered, in blocks, and of nothing else: what a block has room for beyond them
    /// is zero. [`from_bytes`](Self::from_bytes) takes them back.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut plain = self.fork();
        let Shape { starts, convolves, head_dim, .. } = &self.shape;
        for position in self.len..plain.blocks.len() * BLOCK {
            for (layer, &convolves) in convolves.iter().enumerate() {
                let zeros = vec![0.0; (starts[layer + 1] - starts[layer]) * head_dim];
                match convolves {
                    true => plain.write_row(layer, position, &zeros),
                    false => plain.write(layer, position, &zeros[..zeros.len() / 2], &zeros[zeros.len() / 2..]),
                }
            }
        }
        let mut bytes = Vec::new();
        plain.blocks.iter().for_each(|block| block.to_bytes(&mut bytes));
        bytes
    }

    /// A cache that remembers `len` tokens by the [`to_bytes`](Self::to_bytes) of a cache of the same type.
    ///
    /// # Errors
    /// As [`of_type`](Self::of_type); `invalid-argument` for bytes that are not those of `len` tokens of such a model.
    pub(crate) fn from_bytes(
        kv_type: KvType,
        config: &Config,
        capacity: usize,
        len: usize,
        mut bytes: &[u8],
    ) -> Result<Self> {
        let mut cache = Self::of_type(kv_type, config, capacity)?;
        cache.begin(len)?;
        let filled = cache.blocks.iter_mut().all(|block| Arc::make_mut(block).fill(&mut bytes).is_some());
        if !filled || !bytes.is_empty() {
            return Err(Error::new(ErrorKind::InvalidArgument, "the keys and values are not those of so many tokens"));
        }
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
            self.blocks.push(Arc::new(self.new_block()?));
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
        let shape = &self.shape;
        // A block that a fork reads too is copied first.
        let block = Arc::make_mut(&mut self.blocks[position / BLOCK]);
        for (half, heads) in [(Half::Keys, keys), (Half::Values, values)] {
            for (head, numbers) in heads.chunks_exact(shape.head_dim).enumerate() {
                block.write(shape.panel_of_head(layer, head, half, position), half, position % PANEL, numbers);
            }
        }
    }

    /// Stores what a layer that convolves remembers of one token, (width).
    pub(super) fn write_row(&mut self, layer: usize, position: usize, row: &[f32]) {
        let block = Arc::make_mut(&mut self.blocks[position / BLOCK]);
        for (i, numbers) in row.chunks_exact(self.shape.head_dim).enumerate() {
            block.write(self.shape.panel(layer, i, position), Half::Values, position % PANEL, numbers);
        }
    }

    /// Reads what a layer that convolves remembers of one token, (width).
    pub(super) fn row(&self, layer: usize, position: usize, out: &mut [f32]) {
        let block = &self.blocks[position / BLOCK];
        for (i, numbers) in out.chunks_exact_mut(self.shape.head_dim).enumerate() {
            block.read_values(self.shape.panel(layer, i, position), position % PANEL, numbers);
        }
    }

    /// Takes over the `n` tokens that a pass has written in every layer.
    pub(super) fn commit(&mut self, n: usize) {
        self.len += n;
        self.writer = None;
    }

    /// A panel of a head's keys, (head_dim, PANEL): where it lies, or put into `spare`.
    pub(super) fn keys<'a>(&'a self, layer: usize, head: usize, panel: usize, spare: &'a mut Vec<f32>) -> &'a [f32] {
        self.panel(layer, head, Half::Keys, panel, spare)
    }

    /// A panel of a head's values, (head_dim / TILE, PANEL, TILE): where it lies, or put into `spare`.
    pub(super) fn values<'a>(&'a self, layer: usize, head: usize, panel: usize, spare: &'a mut Vec<f32>) -> &'a [f32] {
        self.panel(layer, head, Half::Values, panel, spare)
    }

    fn panel<'a>(&'a self, layer: usize, head: usize, half: Half, panel: usize, spare: &'a mut Vec<f32>) -> &'a [f32] {
        let position = panel * PANEL;
        let place = self.shape.panel_of_head(layer, head, half, position);
        self.blocks[position / BLOCK].read(place, half, self.shape.head_dim, spare)
    }

    /// Appends a panel of a head's keys to `out`.
    pub(super) fn copy_keys(&self, layer: usize, head: usize, panel: usize, out: &mut Vec<f32>) {
        self.copy(layer, head, Half::Keys, panel, out);
    }

    /// Appends a panel of a head's values to `out`.
    pub(super) fn copy_values(&self, layer: usize, head: usize, panel: usize, out: &mut Vec<f32>) {
        self.copy(layer, head, Half::Values, panel, out);
    }

    fn copy(&self, layer: usize, head: usize, half: Half, panel: usize, out: &mut Vec<f32>) {
        let position = panel * PANEL;
        let place = self.shape.panel_of_head(layer, head, half, position);
        self.blocks[position / BLOCK].extend(place, half, self.shape.head_dim, out);
    }

    pub(super) fn kv_type(&self) -> KvType {
        self.kv_type
    }

    fn new_block(&self) -> Result<Block> {
        let block = self.shape.panels().and_then(|panels| Words::new(self.kv_type, panels, self.shape.head_dim));
        block.ok_or_else(|| Error::new(ErrorKind::OutOfMemory, format!("no memory for {BLOCK} more tokens of context")))
    }

    pub(super) fn n_kv_heads(&self) -> usize {
        self.shape.n_kv_heads
    }

    pub(super) fn head_dim(&self) -> usize {
        self.shape.head_dim
    }
}

/// Puts one position's keys, (head_dim), at their places in a panel.
pub(super) fn write_key(panel: &mut [f32], lane: usize, key: &[f32]) {
    words::scatter(panel, Half::Keys, lane, key.iter().copied());
}

/// Puts one position's values, (head_dim), at their places in a panel.
pub(super) fn write_value(panel: &mut [f32], lane: usize, value: &[f32]) {
    words::scatter(panel, Half::Values, lane, value.iter().copied());
}

pub(super) fn overflow(what: &str, requested: usize, available: usize) -> Error {
    Error::new(ErrorKind::ContextOverflow, format!("{what} {available} tokens, and {requested} are needed"))
        .with_detail(Detail::Limit { requested: requested as u64, available: available as u64 })
}
