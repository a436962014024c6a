//! Grouped-query attention over the cache: `out[h] = Σ_j softmax_j(q[h] · k[j] / √head_dim) · v[j]`, where the query heads
//! `h` of one group share the keys `k` and the values `v`. <https://arxiv.org/abs/2305.13245>
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
//! query need no sum across a SIMD register. Every row is computed as if it were alone: its result depends neither on the
//! tokens beside it nor on where a chunk of them begins.

use super::kv::{KvCache, PANEL};
use super::math;

/// Rows that share one reading of a panel of keys: their sums fill eight 128-bit registers.
const ROWS: usize = 2;

/// Memory that attention works in.
#[derive(Default)]
pub(super) struct Attention {
    /// (rows, head_dim), with rows in whole [`ROWS`]: the queries of one group, scaled.
    queries: Vec<f32>,
    /// (rows, positions), both in whole [`ROWS`] and [`PANEL`]s.
    scores: Vec<f32>,
}

impl Attention {
    /// Attends from `n` tokens at positions `first..` of a layer, whose keys and values are cached, to all positions up
    /// to their own. `queries` and `out` are of shape (n, n_heads, head_dim).
    pub(super) fn attend(
        &mut self,
        queries: &[f32],
        n: usize,
        first: usize,
        layer: usize,
        kv: &KvCache,
        out: &mut [f32],
    ) {
        let (n_kv_heads, head_dim) = (kv.n_kv_heads(), kv.head_dim());
        let token_width = queries.len() / n;
        let group_width = token_width / n_kv_heads;
        let group = group_width / head_dim;

        let rows = n * group; // one for each token and, within it, head of the group
        let positions = |row: usize| first + row / group + 1; // that a row attends to
        let panels = positions(rows - 1).div_ceil(PANEL);
        // Rows before this one belong to tokens that stand before the panel.
        let first_row = |panel: usize| (panel * PANEL).saturating_sub(first) * group;
        let stride = panels * PANEL;
        let scale = 1.0 / (head_dim as f32).sqrt();

        self.queries.resize(rows.next_multiple_of(ROWS) * head_dim, 0.0);
        self.scores.resize(rows.next_multiple_of(ROWS) * stride, 0.0);
        out.fill(0.0);
        for kv_head in 0..n_kv_heads {
            let of_group =
                queries.chunks_exact(token_width).flat_map(|token| &token[kv_head * group_width..][..group_width]);
            for (scaled, query) in self.queries.iter_mut().zip(of_group) {
                *scaled = query * scale;
            }
            for (panel, keys) in kv.keys(layer, kv_head).take(panels).enumerate() {
                for row in (first_row(panel) / ROWS * ROWS..rows).step_by(ROWS) {
                    let queries = &self.queries[row * head_dim..][..ROWS * head_dim];
                    let scores = &mut self.scores[row * stride..][..ROWS * stride];
                    for (scores, products) in scores.chunks_exact_mut(stride).zip(multiply(queries, keys)) {
                        scores[panel * PANEL..][..PANEL].copy_from_slice(&products);
                    }
                }
            }
            for row in 0..rows {
                math::softmax(&mut self.scores[row * stride..][..positions(row)]);
            }
            for (panel, values) in kv.values(layer, kv_head).take(panels).enumerate() {
                for row in first_row(panel)..rows {
                    let attended = PANEL.min(positions(row) - panel * PANEL);
                    let weights = &self.scores[row * stride + panel * PANEL..][..attended];
                    let head = kv_head * group + row % group;
                    let out = &mut out[row / group * token_width + head * head_dim..][..head_dim];
                    math::add_weighted(out, weights, values);
                }
            }
        }
    }
}

/// `queries` (ROWS, head_dim) · `keys` (head_dim, PANEL)
fn multiply(queries: &[f32], keys: &[f32]) -> [[f32; PANEL]; ROWS] {
    let (a, b) = queries.split_at(queries.len() / ROWS);
    let mut products = [[0.0; PANEL]; ROWS];
    for ((a, b), keys) in a.iter().zip(b).zip(keys.as_chunks::<PANEL>().0) {
        for position in 0..PANEL {
            products[0][position] += a * keys[position];
            products[1][position] += b * keys[position];
        }
    }
    products
}
