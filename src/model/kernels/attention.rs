//! Attention of the query heads that share one head of keys and values.

use super::Native;
use super::lanes::{Lanes, ROWS};
use crate::model::math::{add_scaled, dot, softmax};

/// Query heads that are handled together: with eight lanes each, their sums fill eight vector registers of four.
const TILE: usize = 4;

/// Positions whose values are added before the next columns' turn: 64 rows of 64 floats stay in a 32 KiB cache.
const STRETCH: usize = 64;

/// `out[g] = Σ_p softmax_p(scale · queries[g] · keys[p]) · values[p]`, for queries and `out` of shape (heads, head_dim)
/// and keys and values of shape (positions, head_dim).
///
/// `scores` is room for (heads, positions). A head's result does not depend on the heads beside it.
///
/// # Panics
/// If the shapes do not fit one another, or there are no positions.
pub fn attend(
    queries: &[f32],
    keys: &[f32],
    values: &[f32],
    head_dim: usize,
    scale: f32,
    scores: &mut Vec<f32>,
    out: &mut [f32],
) {
    assert!(queries.len() == out.len() && queries.len().is_multiple_of(head_dim), "shape of the queries");
    assert!(!keys.is_empty() && keys.len() == values.len() && keys.len().is_multiple_of(head_dim), "shape of the keys");
    let positions = keys.len() / head_dim;
    scores.clear();
    scores.resize(queries.len() / head_dim * positions, 0.0);
    if head_dim.is_multiple_of(ROWS) {
        attend_lanes::<Native>(queries, keys, values, head_dim, scale, scores, out);
    } else {
        attend_plainly(queries, keys, values, head_dim, scale, scores, out);
    }
}

/// The definition, for heads of any size.
pub(super) fn attend_plainly(
    queries: &[f32],
    keys: &[f32],
    values: &[f32],
    head_dim: usize,
    scale: f32,
    scores: &mut [f32],
    out: &mut [f32],
) {
    let heads = queries.chunks_exact(head_dim).zip(out.chunks_exact_mut(head_dim));
    for ((query, out), scores) in heads.zip(scores.chunks_exact_mut(keys.len() / head_dim)) {
        for (score, key) in scores.iter_mut().zip(keys.chunks_exact(head_dim)) {
            *score = dot(query, key) * scale;
        }
        softmax(scores);
        out.fill(0.0);
        for (&weight, value) in scores.iter().zip(values.chunks_exact(head_dim)) {
            add_scaled(out, weight, value);
        }
    }
}

/// The same a tile of heads at a time, so that a key or value in registers serves all of them.
pub(super) fn attend_lanes<L: Lanes>(
    queries: &[f32],
    keys: &[f32],
    values: &[f32],
    head_dim: usize,
    scale: f32,
    scores: &mut [f32],
    out: &mut [f32],
) {
    let positions = keys.len() / head_dim;
    let (keys, values) = (keys.as_chunks().0, values.as_chunks().0);
    let tiles = queries.chunks(TILE * head_dim).zip(out.chunks_mut(TILE * head_dim));
    for ((queries, out), scores) in tiles.zip(scores.chunks_mut(TILE * positions)) {
        let (queries, out) = (queries.as_chunks().0, out.as_chunks_mut().0);
        match scores.len() / positions {
            4 => tile::<L, 4>(queries, keys, values, scale, scores, out),
            3 => tile::<L, 3>(queries, keys, values, scale, scores, out),
            2 => tile::<L, 2>(queries, keys, values, scale, scores, out),
            _ => tile::<L, 1>(queries, keys, values, scale, scores, out),
        }
    }
}

/// `G` heads; every row of `width` chunks.
#[inline(never)]
fn tile<L: Lanes, const G: usize>(
    queries: &[[f32; ROWS]],
    keys: &[[f32; ROWS]],
    values: &[[f32; ROWS]],
    scale: f32,
    scores: &mut [f32],
    out: &mut [[f32; ROWS]],
) {
    let (width, positions) = (queries.len() / G, scores.len() / G);
    let query: [&[[f32; ROWS]]; G] = std::array::from_fn(|g| &queries[g * width..][..width]);
    for (p, key) in keys.chunks_exact(width).enumerate() {
        let mut sums = [L::floats(0.0); G];
        for c in 0..width {
            let key = L::floats_from(&key[c]);
            for g in 0..G {
                sums[g] = L::add(sums[g], L::mul(L::floats_from(&query[g][c]), key));
            }
        }
        for g in 0..G {
            scores[g * positions + p] = L::total(sums[g]) * scale;
        }
    }

    for scores in scores.chunks_exact_mut(positions) {
        softmax(scores);
    }

    out.fill([0.0; ROWS]);
    for (s, stretch) in values.chunks(STRETCH * width).enumerate() {
        let n = stretch.len() / width;
        let weights: [&[f32]; G] = std::array::from_fn(|g| &scores[g * positions + s * STRETCH..][..n]);
        for c in 0..width {
            let mut sums: [L::Floats; G] = std::array::from_fn(|g| L::floats_from(&out[g * width + c]));
            for (p, value) in stretch[c..].iter().step_by(width).enumerate().take(n) {
                let value = L::floats_from(value);
                for g in 0..G {
                    sums[g] = L::add(sums[g], L::mul(L::floats(weights[g][p]), value));
                }
            }
            for g in 0..G {
                out[g * width + c] = L::store(sums[g]);
            }
        }
    }
}
