//! Products of packed weights and quantised activations.
//!
//! ```text
//! for each panel of eight rows:
//!     for each run of 32 columns:      # the order in which every output is summed, whatever n is
//!         acc[0..n] += scales * (integer dot products of the run with activation 0..n) …
//! ```
//!
//! With one activation (decoding) the weights go from memory through registers once. With more (a prompt, drafts to
//! be checked) the integers of a stretch of columns are first laid out as the pairs that the dot product takes, in a
//! buffer that stays in the first-level cache, and tiles of up to four activations read them from there.

use std::hint::black_box;
use std::ops::Range;

use super::Native;
use super::activations::{Activations, BLOCK, Block};
use super::dot::Dot;
use super::formats::Format;
use super::lanes::{Lanes, ROWS};
use super::packed::{Packed, with_panels};
use super::pool::{self, Disjoint};

/// Activations that share a load of weights: eight rows times four activations fill 16 vector registers.
const TILE: usize = 4;

/// Groups of eight columns in a run.
const PLANES: usize = BLOCK / 8;

/// Runs unpacked at a time: their pairs, 16 KiB, and a tile's activations, 10 KiB, fit a 32 KiB cache together.
const STRETCH: usize = 32;

/// `out (n, rows) = x (n, columns) · wᵀ`, row-major, quantising `x` into `acts`.
///
/// # Panics
/// If a shape does not fit.
pub fn matmul(w: &Packed, x: &[f32], n: usize, out: &mut [f32], acts: &mut Activations) {
    acts.quantise(x, n, w.columns());
    matmul_range(w, acts, 0..w.rows(), out);
}

/// Computes the columns `rows` of `out` (n, all rows of `w`) and leaves the others alone.
///
/// Each output is the same whatever the range, and whatever other activations are there. Ranges that begin and end at
/// multiples of eight waste nothing.
///
/// # Panics
/// If a shape does not fit.
pub fn matmul_range(w: &Packed, acts: &Activations, rows: Range<usize>, out: &mut [f32]) {
    assert!(rows.end <= w.rows(), "rows of the weights");
    share([Product::new(w, acts, rows, out)], acts);
}

/// Several products of the same activations: `outs[i]` (n, all rows of `weights[i]`). One hand-over to other threads is
/// cheaper than one for each.
///
/// # Panics
/// If a shape does not fit.
pub fn matmul_all<const N: usize>(weights: [&Packed; N], acts: &Activations, outs: [&mut [f32]; N]) {
    let mut outs = outs.into_iter();
    share(weights.map(|w| Product::new(w, acts, 0..w.rows(), outs.next().expect("an output for each matrix"))), acts);
}

/// Some rows of a product, and where they go.
struct Product<'a> {
    w: &'a Packed,
    rows: Range<usize>,
    panels: Range<usize>,
    out: Disjoint<'a, f32>,
}

impl<'a> Product<'a> {
    fn new(w: &'a Packed, acts: &Activations, rows: Range<usize>, out: &'a mut [f32]) -> Self {
        assert_eq!(Some(out.len()), acts.n().checked_mul(w.rows()), "shape of the product");
        let panels = if rows.is_empty() { 0..0 } else { rows.start / ROWS..rows.end.div_ceil(ROWS) };
        Self { w, rows, panels, out: Disjoint::new(out) }
    }

    /// # Safety
    /// No other thread may do any of these panels at the same time.
    unsafe fn compute(&self, acts: &Activations, panels: Range<usize>) {
        let (rows, stride) = (&self.rows, self.w.rows());
        multiply(self.w, acts, panels, |panel, j, values| {
            let base = panel * ROWS;
            let (from, to) = (rows.start.max(base), rows.end.min(base + ROWS));
            // SAFETY: this panel's columns belong to the caller.
            unsafe { self.out.write(j * stride + from, &values[from - base..to - base]) };
        });
    }
}

/// Computes products, their panels shared by all threads.
fn share<const N: usize>(products: [Product; N], acts: &Activations) {
    pool::share(products.iter().map(|product| product.panels.len()).sum(), &|piece| {
        let mut first = 0; // of this product's panels among all
        for product in &products {
            let panels = &product.panels;
            let within = |at: usize| panels.start + at.saturating_sub(first).min(panels.len());
            let ours = within(piece.start)..within(piece.end);
            if !ours.is_empty() {
                // SAFETY: pieces are disjoint, and so are different products' outputs.
                unsafe { product.compute(acts, ours) };
            }
            first += panels.len();
        }
    });
}

/// `out (n, rows.len())`: only the given rows of the product, in the order given.
///
/// A neighbour of eight costs as much as one of them, so ascending rows are cheapest.
///
/// # Panics
/// If a shape does not fit or a row is not one of `w`'s.
pub fn matmul_rows(w: &Packed, acts: &Activations, rows: &[u32], out: &mut [f32]) {
    assert!(rows.iter().all(|&row| (row as usize) < w.rows()), "rows of the weights");
    assert_eq!(Some(out.len()), acts.n().checked_mul(rows.len()), "shape of the product");
    let panel_of = |row: u32| row as usize / ROWS;
    let mut begin = 0;
    for group in rows.chunk_by(|&a, &b| panel_of(a) == panel_of(b)) {
        let panel = panel_of(group[0]);
        multiply(w, acts, panel..panel + 1, |_, j, values| {
            for (i, &row) in group.iter().enumerate() {
                out[j * rows.len() + begin + i] = values[row as usize % ROWS];
            }
        });
        begin += group.len();
    }
}

/// Calls `emit(panel, j, values)` with the eight outputs of each panel for each activation `j`.
fn multiply(w: &Packed, acts: &Activations, panels: Range<usize>, mut emit: impl FnMut(usize, usize, [f32; ROWS])) {
    assert_eq!(acts.columns(), w.columns(), "columns of the activations");
    with_panels!(w.panels(), blocks => multiply_panels::<_, Native>(blocks, acts, panels, &mut emit));
}

pub(super) fn multiply_panels<F: Format, L: Lanes>(
    blocks: &[F],
    acts: &Activations,
    panels: Range<usize>,
    emit: &mut dyn FnMut(usize, usize, [f32; ROWS]),
) {
    let width = acts.columns() / F::SIZE.0;
    let panel = |p: usize| &blocks[p * width..][..width];
    match acts.n() {
        0 => {}
        1 => {
            let half = panels.len() / 2;
            for p in panels.start..panels.start + half {
                let [a, b] = one::<F, L, 2>([panel(p), panel(p + half)], acts.row(0));
                emit(p, 0, L::store(a));
                emit(p + half, 0, L::store(b));
            }
            for p in panels.start + 2 * half..panels.end {
                let [a] = one::<F, L, 1>([panel(p)], acts.row(0));
                emit(p, 0, L::store(a));
            }
        }
        n => {
            let mut unpacked = Vec::with_capacity(STRETCH);
            let mut acc = Vec::with_capacity(n);
            for p in panels {
                acc.clear();
                acc.resize(n, L::floats(0.0));
                for (i, stretch) in panel(p).chunks(STRETCH / F::RUNS).enumerate() {
                    unpacked.clear();
                    unpacked.extend(
                        stretch.iter().flat_map(|block| (0..F::RUNS).map(|run| Unpacked::<F, L>::new(block, run))),
                    );
                    let columns = |j: usize| &acts.row(j)[i * STRETCH..][..unpacked.len()];
                    for (t, acc) in acc.chunks_mut(TILE).enumerate() {
                        match acc {
                            [a, b, c, d] => {
                                tile([a, b, c, d], &unpacked, std::array::from_fn(|j| columns(t * TILE + j)))
                            }
                            [a, b, c] => tile([a, b, c], &unpacked, std::array::from_fn(|j| columns(t * TILE + j))),
                            [a, b] => tile([a, b], &unpacked, std::array::from_fn(|j| columns(t * TILE + j))),
                            [a] => tile([a], &unpacked, [columns(t * TILE)]),
                            _ => unreachable!("chunks of a tile or less"),
                        }
                    }
                }
                for (j, &acc) in acc.iter().enumerate() {
                    emit(p, j, L::store(acc));
                }
            }
        }
    }
}

/// `S` panels times one activation, straight from the packed weights.
///
/// Two panels that are far apart come faster than one after the other: a processor fetches ahead within a page of memory
/// and stops at its end, and while one stream waits for its next page, the other goes on.
#[inline(never)]
fn one<F: Format, L: Lanes, const S: usize>(panels: [&[F]; S], acts: &[Block]) -> [L::Floats; S] {
    let parts = if F::SPLIT { 2 } else { 1 };
    let all = PLANES / parts;
    let group = (F::Dot::<L>::capacity(F::BITS) / F::Dot::<L>::PER_PLANE).clamp(1, all);
    let opaque = black_box(group).min(group); // see `tile`
    let width = acts.len() / F::RUNS;
    let panels = panels.map(|panel| &panel[..width]);
    let mut acc = [L::floats(0.0); S];
    for (i, acts) in acts.chunks_exact(F::RUNS).enumerate() {
        for (panel, acc) in panels.iter().zip(&mut acc) {
            let block = &panel[i];
            for (run, act) in acts.iter().enumerate() {
                let mut sums = [L::ints(0); 2];
                for part in 0..parts {
                    for first in (part * all..(part + 1) * all).step_by(group) {
                        let mut sum = F::Dot::<L>::zero();
                        for v in first..first + opaque {
                            block.weights::<L>(run, v, |step, weights| {
                                sum = F::Dot::<L>::add(sum, weights, act, v * F::Dot::<L>::PER_PLANE + step);
                            });
                        }
                        sums[part] = F::Dot::<L>::total(sums[part], sum);
                    }
                }
                *acc = F::finish::<L>(block.scales::<L>(run), sums, act, *acc);
            }
        }
    }
    acc
}

/// A run of eight rows, ready for the dot product.
struct Unpacked<F: Format, L: Lanes> {
    weights: <F::Dot<L> as Dot<L>>::Steps<L::Words>,
    scales: F::Scales<L>,
}

impl<F: Format, L: Lanes> Unpacked<F, L> {
    #[inline(always)]
    fn new(block: &F, run: usize) -> Self {
        let mut weights = F::Dot::<L>::steps(L::zero());
        for v in 0..PLANES {
            let steps = &mut weights.as_mut()[v * F::Dot::<L>::PER_PLANE..][..F::Dot::<L>::PER_PLANE];
            block.weights::<L>(run, v, |step, words| steps[step] = words);
        }
        Self { weights, scales: block.scales::<L>(run) }
    }
}

/// Adds the products of a stretch of columns to the accumulators of `N` activations.
///
/// A function of its own because the browser's compiler allocates registers well in small functions only: inlined into
/// one that handles every format, the same code ran at two thirds of the speed. It is as well that a run is a loop whose
/// length the compiler cannot see: unrolled, its loads move to the front and spill the sums.
#[inline(never)]
fn tile<F: Format, L: Lanes, const N: usize>(
    acc: [&mut L::Floats; N],
    stretch: &[Unpacked<F, L>],
    acts: [&[Block]; N],
) {
    let acts = acts.map(|row| &row[..stretch.len()]);
    let parts = if F::SPLIT { 2 } else { 1 };
    let all = F::Dot::<L>::steps(()).as_ref().len();
    let group = F::Dot::<L>::capacity(F::BITS).min(all / parts);
    let opaque = black_box(group).min(group);
    let mut local: [L::Floats; N] = std::array::from_fn(|j| *acc[j]);
    for (i, run) in stretch.iter().enumerate() {
        let acts = acts.map(|row| &row[i]);
        let weights = run.weights.as_ref();
        let mut sums = [[L::ints(0); 2]; N];
        for first in (0..all).step_by(group) {
            let mut group = [F::Dot::<L>::zero(); N];
            for step in first..first + opaque {
                for j in 0..N {
                    group[j] = F::Dot::<L>::add(group[j], weights[step], acts[j], step);
                }
            }
            for j in 0..N {
                let sum = &mut sums[j][first * parts / all];
                *sum = F::Dot::<L>::total(*sum, group[j]);
            }
        }
        for j in 0..N {
            local[j] = F::finish::<L>(run.scales, sums[j], acts[j], local[j]);
        }
    }
    for j in 0..N {
        *acc[j] = local[j];
    }
}
