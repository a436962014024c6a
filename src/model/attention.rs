//! Grouped-query attention: `out[h] = Σ_j softmax_j(scale · q[h] · k[j]) · v[j]`, where the query heads `h` of one group
//! share the keys `k` and the values `v`. <https://arxiv.org/abs/2305.13245>
//!
//! ```text
//! for each key and value head:
//!     rows = the queries of its group, of all tokens at hand
//!     for each panel of keys:      scores[row] = row · panel       # while the panel is in the first-level cache
//!     for each row:                softmax(scores[row])
//!     for each panel of values:    out[row] += scores[row] · panel
//! ```
//!
//! A panel is [`PANEL`] positions. Keys lie in it with the position as the fastest dimension, so that products with a
//! query need no sum across a SIMD register. Every row is computed as if it were alone, one position after another in
//! their order: its result depends neither on the tokens beside it nor on where a chunk of them begins.
//!
//! What the code adds are the last positions of a token in a [tree](super::tree): those that it shares with no cache
//! are gathered into panels of its own, which lie where a cache's would, and so give the same bits.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::kernels::pool::{self, Disjoint};
use super::kv::{self, KvCache, PANEL, TILE};
use super::math;

/// Rows that share one reading of a panel: their sums fill eight 128-bit registers.
const ROWS: usize = 2;

/// Memory that attention works in.
#[derive(Default)]
pub(super) struct Attention {
    /// The positions that each token sees.
    spans: Vec<Range<usize>>,
    /// One for each part of the work, so that threads can do them side by side.
    parts: Vec<Mutex<Part>>,
}

/// Memory for one key and value head, of some tokens.
#[derive(Default)]
struct Part {
    /// (rows, head_dim): the queries of one group, scaled.
    queries: Vec<f32>,
    /// (rows, panels, PANEL)
    scores: Vec<f32>,
    /// (rows, head_dim): what comes out.
    outs: Vec<f32>,
    /// A panel that was put together for one token, or that the cache stores in another form.
    spare: Vec<f32>,
}

/// How one layer attends.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub kv: &'a KvCache,
    pub layer: usize,
    /// How many positions a token sees, itself included, if not all up to its own.
    pub window: Option<usize>,
    /// What products of queries and keys are multiplied by.
    pub scale: f32,
}

/// Tokens that do not stand in one line: each sees the whole cache, and then its own path.
#[derive(Clone, Copy)]
pub(super) struct Branches<'a> {
    /// (nodes, n_kv_heads, head_dim)
    pub keys: &'a [f32],
    /// (nodes, n_kv_heads, head_dim)
    pub values: &'a [f32],
    /// For each token at hand the nodes at the positions from the cache's end on; itself is the last.
    pub paths: &'a [Vec<u32>],
}

/// Where the scores of a part lie.
#[derive(Clone, Copy)]
struct Layout<'a> {
    /// The positions that each token sees.
    spans: &'a [Range<usize>],
    head_dim: usize,
    /// Rows of one token.
    group: usize,
    /// The first panel that any token sees.
    first: usize,
    /// Scores of one row.
    stride: usize,
}

impl Attention {
    /// Attends from `n` tokens at positions `first..`, whose keys and values are in the cache. `queries` and `out` are
    /// of shape (n, n_heads, head_dim).
    pub(super) fn line(&mut self, view: View, queries: &[f32], n: usize, first: usize, out: &mut [f32]) {
        self.see(view.window, (first..first + n).map(|position| position + 1));
        self.attend(view, queries, None, out);
    }

    /// Attends from tokens in a tree that grows from the end of the cache. `queries` and `out` are of shape
    /// (paths.len(), n_heads, head_dim).
    pub(super) fn tree(&mut self, view: View, queries: &[f32], branches: Branches, out: &mut [f32]) {
        self.see(view.window, branches.paths.iter().map(|path| view.kv.len() + path.len()));
        self.attend(view, queries, Some(branches), out);
    }

    fn see(&mut self, window: Option<usize>, ends: impl Iterator<Item = usize>) {
        self.spans.clear();
        self.spans.extend(ends.map(|end| window.map_or(0, |window| end.saturating_sub(window))..end));
    }

    fn attend(&mut self, view: View, queries: &[f32], branches: Option<Branches>, out: &mut [f32]) {
        let (n_kv_heads, head_dim, n) = (view.kv.n_kv_heads(), view.kv.head_dim(), self.spans.len());
        let token_width = queries.len() / n;
        let group = token_width / n_kv_heads / head_dim;
        // One part for each key and value head reads each panel once. Threads want some more parts, so that all are done
        // about together: of fewer tokens, or where there are too few tokens, of fewer query heads.
        let wanted = if pool::threads() == 1 { 1 } else { (2 * pool::threads()).div_ceil(n_kv_heads) };
        let block = n.div_ceil(wanted.min(n));
        let heads = if wanted > n { ROWS.min(group) } else { group };
        let (blocks, subgroups) = (n.div_ceil(block), group.div_ceil(heads));
        let parts = n_kv_heads * blocks * subgroups;
        if self.parts.len() < parts {
            self.parts.resize_with(parts, Mutex::default);
        }
        let out = Disjoint::new(out);
        pool::share(parts, &|range| {
            for i in range {
                let (subgroup, kv_head, first) =
                    (i % subgroups, i / subgroups % n_kv_heads, i / subgroups / n_kv_heads * block);
                let tokens = first..n.min(first + block);
                let first_head = kv_head * group + subgroup * heads;
                let of_token = first_head * head_dim..(first_head + heads.min(group - subgroup * heads)) * head_dim;
                let branches = branches.map(|branches| Branches { paths: &branches.paths[tokens.clone()], ..branches });
                let queries = &queries[tokens.start * token_width..tokens.end * token_width];
                // Each part is taken by one thread, so the lock is only what says so.
                let mut part = self.parts[i].lock().unwrap_or_else(PoisonError::into_inner);
                let queries = queries.chunks_exact(token_width).map(|token| &token[of_token.clone()]);
                let outs = part.attend(view, kv_head, &self.spans[tokens.clone()], queries, branches);
                for (token, outs) in tokens.zip(outs.chunks_exact(of_token.len())) {
                    // SAFETY: no other part has this token and these heads.
                    unsafe { out.write(token * token_width + of_token.start, outs) };
                }
            }
        });
    }
}

impl Part {
    /// Attends with queries that share a key and value head; `queries` gives each token's (heads, head_dim). Returns
    /// (spans.len(), heads, head_dim).
    fn attend<'a>(
        &mut self,
        view: View,
        kv_head: usize,
        spans: &[Range<usize>],
        queries: impl Iterator<Item = &'a [f32]>,
        branches: Option<Branches>,
    ) -> &[f32] {
        let head_dim = view.kv.head_dim();
        self.queries.clear();
        self.queries.extend(queries.flatten().map(|query| query * view.scale));
        let group = self.queries.len() / spans.len() / head_dim;
        let first = spans.iter().map(|span| span.start).min().unwrap_or(0) / PANEL;
        let end = spans.iter().map(|span| span.end).max().unwrap_or(0).div_ceil(PANEL);
        let layout = Layout { spans, head_dim, group, first, stride: (end - first) * PANEL };
        // In a tree, the panel in which the cache ends and those behind it are each token's own.
        let shared = first..if branches.is_some() { view.kv.len() / PANEL } else { end };

        let rows = spans.len() * layout.group;
        self.scores.resize(rows * layout.stride, 0.0);
        self.outs.clear();
        self.outs.resize(rows * head_dim, 0.0);
        let mut spare = std::mem::take(&mut self.spare);
        for panel in shared.clone() {
            self.score(layout, 0..rows, panel, view.kv.keys(view.layer, kv_head, panel, &mut spare));
        }
        self.spare = spare;
        self.each_own_panel(view, layout, branches, |part, branches, token, panel| {
            let mut keys = std::mem::take(&mut part.spare);
            gather_keys(&mut keys, view, branches, kv_head, token, panel);
            part.score(layout, token * layout.group..(token + 1) * layout.group, panel, &keys);
            part.spare = keys;
        });
        for (row, scores) in self.scores.chunks_exact_mut(layout.stride).take(rows).enumerate() {
            let span = &spans[row / layout.group];
            math::softmax(&mut scores[span.start - first * PANEL..span.end - first * PANEL]);
        }
        let mut spare = std::mem::take(&mut self.spare);
        for panel in shared {
            self.weigh(layout, 0..rows, panel, view.kv.values(view.layer, kv_head, panel, &mut spare));
        }
        self.spare = spare;
        self.each_own_panel(view, layout, branches, |part, branches, token, panel| {
            let mut values = std::mem::take(&mut part.spare);
            gather_values(&mut values, view, branches, kv_head, token, panel);
            part.weigh(layout, token * layout.group..(token + 1) * layout.group, panel, &values);
            part.spare = values;
        });
        &self.outs
    }

    /// Calls `visit(part, branches, token, panel)` for the panels that a token in a tree sees alone.
    fn each_own_panel(
        &mut self,
        view: View,
        layout: Layout,
        branches: Option<Branches>,
        mut visit: impl FnMut(&mut Self, Branches, usize, usize),
    ) {
        let Some(branches) = branches else { return };
        for token in 0..branches.paths.len() {
            for panel in layout.first.max(view.kv.len() / PANEL)..layout.spans[token].end.div_ceil(PANEL) {
                visit(self, branches, token, panel);
            }
        }
    }

    /// Scores of `rows` for the keys of a panel, (head_dim, PANEL).
    fn score(&mut self, layout: Layout, rows: Range<usize>, panel: usize, keys: &[f32]) {
        let Layout { head_dim, first, stride, .. } = layout;
        for row in rows.clone().step_by(ROWS) {
            let pair = row..rows.end.min(row + ROWS);
            if !pair.clone().any(|row| !layout.seen(row, panel).is_empty()) {
                continue;
            }
            let queries = &self.queries[pair.start * head_dim..pair.end * head_dim];
            let products = match pair.len() {
                ROWS => multiply::<ROWS>(queries, keys),
                _ => {
                    let [products] = multiply::<1>(queries, keys);
                    [products; ROWS]
                }
            };
            for (row, products) in pair.zip(products) {
                self.scores[row * stride + (panel - first) * PANEL..][..PANEL].copy_from_slice(&products);
            }
        }
    }

    /// Adds the values of a panel, (head_dim / TILE, PANEL, TILE), to the outs of `rows`, weighted by their scores.
    fn weigh(&mut self, layout: Layout, rows: Range<usize>, panel: usize, values: &[f32]) {
        let Layout { head_dim, first, stride, .. } = layout;
        for row in rows.clone().step_by(ROWS) {
            let pair = row..rows.end.min(row + ROWS);
            let seen = layout.seen(row, panel);
            let scores = |row: usize| {
                self.scores[row * stride + (panel - first) * PANEL..].first_chunk().unwrap_or(&[0.0; PANEL])
            };
            if pair.len() == ROWS && layout.seen(row + 1, panel) == seen {
                let outs = &mut self.outs[row * head_dim..][..ROWS * head_dim];
                add_weighted::<ROWS>(outs, std::array::from_fn(|i| scores(row + i)), values, seen);
            } else {
                for row in pair {
                    let seen = layout.seen(row, panel);
                    add_weighted(&mut self.outs[row * head_dim..][..head_dim], [scores(row)], values, seen);
                }
            }
        }
    }
}

impl Layout<'_> {
    /// Which positions of a panel, counted from its start, a row sees.
    fn seen(&self, row: usize, panel: usize) -> Range<usize> {
        let span = &self.spans[row / self.group];
        let within = |position: usize| position.saturating_sub(panel * PANEL).min(PANEL);
        within(span.start)..within(span.end)
    }
}

/// `queries` (R, head_dim) · `keys` (head_dim, PANEL)
fn multiply<const R: usize>(queries: &[f32], keys: &[f32]) -> [[f32; PANEL]; R] {
    let head_dim = queries.len() / R;
    let rows: [&[f32]; R] = std::array::from_fn(|row| &queries[row * head_dim..][..head_dim]);
    let mut products = [[0.0; PANEL]; R];
    for (i, keys) in keys.as_chunks::<PANEL>().0[..head_dim].iter().enumerate() {
        for row in 0..R {
            let query = rows[row][i];
            for position in 0..PANEL {
                products[row][position] += query * keys[position];
            }
        }
    }
    products
}

/// `outs` (R, head_dim) `+= Σ_j weights[..][j] · values[j]`, one position `j` of `seen` after another; `values` are a panel.
fn add_weighted<const R: usize>(outs: &mut [f32], weights: [&[f32; PANEL]; R], values: &[f32], seen: Range<usize>) {
    if seen == (0..PANEL) {
        add_positions(outs, weights, values, 0..PANEL); // nearly always: a loop of known length
    } else {
        add_positions(outs, weights, values, seen);
    }
}

#[inline(always)]
fn add_positions<const R: usize>(outs: &mut [f32], weights: [&[f32; PANEL]; R], values: &[f32], seen: Range<usize>) {
    let head_dim = outs.len() / R;
    let (tiles, rest) = values.as_chunks::<{ PANEL * TILE }>();
    for (tile, values) in tiles.iter().enumerate() {
        let values = values.as_chunks::<TILE>().0;
        let place = |row: usize| row * head_dim + tile * TILE..row * head_dim + (tile + 1) * TILE;
        let mut sums = [[0.0; TILE]; R]; // with two rows, eight 128-bit registers
        for row in 0..R {
            sums[row].copy_from_slice(&outs[place(row)]);
        }
        for j in seen.clone() {
            for row in 0..R {
                let weight = weights[row][j];
                for i in 0..TILE {
                    sums[row][i] += weight * values[j][i];
                }
            }
        }
        for row in 0..R {
            outs[place(row)].copy_from_slice(&sums[row]);
        }
    }
    let width = rest.len() / PANEL;
    for row in 0..R {
        let outs = &mut outs[(row + 1) * head_dim - width..(row + 1) * head_dim];
        for j in seen.clone() {
            for (out, value) in outs.iter_mut().zip(&rest[j * width..]) {
                *out += weights[row][j] * value;
            }
        }
    }
}

/// A panel of keys as a token in a tree sees it: the cache's last positions, then the token's path.
fn gather_keys(out: &mut Vec<f32>, view: View, branches: Branches, kv_head: usize, token: usize, panel: usize) {
    let (len, head_dim) = (view.kv.len(), view.kv.head_dim());
    out.clear();
    if panel * PANEL < len {
        view.kv.copy_keys(view.layer, kv_head, panel, out);
    } else {
        out.resize(head_dim * PANEL, 0.0);
    }
    for (lane, node) in own_lanes(branches.paths[token].as_slice(), len, panel) {
        let key = head_of(branches.keys, node, view.kv, kv_head);
        kv::write_key(out, lane, key);
    }
}

/// As [`gather_keys`], for values.
fn gather_values(out: &mut Vec<f32>, view: View, branches: Branches, kv_head: usize, token: usize, panel: usize) {
    let (len, head_dim) = (view.kv.len(), view.kv.head_dim());
    out.clear();
    if panel * PANEL < len {
        view.kv.copy_values(view.layer, kv_head, panel, out);
    } else {
        out.resize(PANEL * head_dim, 0.0);
    }
    for (lane, node) in own_lanes(branches.paths[token].as_slice(), len, panel) {
        kv::write_value(out, lane, head_of(branches.values, node, view.kv, kv_head));
    }
}

/// The nodes of a path, which begins at position `len`, that stand in a panel, with their places in it.
fn own_lanes(path: &[u32], len: usize, panel: usize) -> impl Iterator<Item = (usize, u32)> {
    let nodes = (len..).zip(path.iter().copied());
    nodes.filter_map(move |(position, node)| (position / PANEL == panel).then_some((position % PANEL, node)))
}

fn head_of<'a>(of_nodes: &'a [f32], node: u32, kv: &KvCache, kv_head: usize) -> &'a [f32] {
    &of_nodes[(node as usize * kv.n_kv_heads() + kv_head) * kv.head_dim()..][..kv.head_dim()]
}
