//! A weight matrix in whatever format its file has, and what it multiplies.

use std::ops::Range;

use candle_core::quantized::GgmlDType;
use candle_core::quantized::k_quants::{BlockQ2K, BlockQ3K, GgmlType};

use super::kernels::{self, Activations, Packed};
use super::math;
use crate::error::{Error, ErrorKind, Result};
use crate::tokenizer::TokenId;

/// A matrix of shape (rows, columns): it takes a vector of `columns` values to one of `rows`.
pub(super) struct Matrix {
    rows: usize,
    columns: usize,
    weights: Weights,
}

enum Weights {
    /// In a format that has a kernel of ours.
    Packed(Packed),
    // Without a kernel: widened row by row and multiplied in full precision.
    Floats(Vec<f32>),
    /// Halves as their bits.
    F16(Vec<u16>),
    Bf16(Vec<u16>),
    // Rare formats, which candle-core reads. Its blocks are named one by one: its type for any of them would bring the
    // products of all formats into the module, a tenth of what a browser downloads.
    Q2K(Vec<BlockQ2K>),
    Q3K(Vec<BlockQ3K>),
}

impl Matrix {
    pub(super) fn packed(packed: Packed) -> Self {
        Self { rows: packed.rows(), columns: packed.columns(), weights: Weights::Packed(packed) }
    }

    /// A matrix in a format without a kernel, from its file's bytes.
    ///
    /// # Errors
    /// `corrupt-model` for floats that are not finite; `out-of-memory`; `unsupported-quant`.
    pub(super) fn from_ggml(dtype: GgmlDType, bytes: &[u8], rows: usize, columns: usize) -> Result<Self> {
        let halves = || -> Result<Vec<u16>> {
            let mut halves = reserved(rows * columns)?;
            halves.extend(bytes.as_chunks::<2>().0.iter().map(|&half| u16::from_le_bytes(half)));
            Ok(halves)
        };
        let weights = match dtype {
            GgmlDType::F32 => {
                let mut floats = reserved(rows * columns)?;
                floats.extend(bytes.as_chunks::<4>().0.iter().map(|&float| f32::from_le_bytes(float)));
                Weights::Floats(finite(floats, |float| float.is_finite())?)
            }
            GgmlDType::F16 => Weights::F16(finite(halves()?, |half| half & 0x7c00 != 0x7c00)?),
            GgmlDType::BF16 => Weights::Bf16(finite(halves()?, |half| half & 0x7f80 != 0x7f80)?),
            // Where a block has halves: `block_q2_K` and `block_q3_K` of ggml's `ggml-common.h`.
            GgmlDType::Q2K => Weights::Q2K(blocks(bytes, &[80, 82])?),
            GgmlDType::Q3K => Weights::Q3K(blocks(bytes, &[108])?),
            _ => return Err(Error::new(ErrorKind::UnsupportedQuant, format!("{dtype:?} is not a format of weights"))),
        };
        Ok(Self { rows, columns, weights })
    }

    /// Multiplications in one product.
    pub(super) fn size(&self) -> usize {
        self.rows * self.columns
    }

    /// Whether it has a kernel of ours, which is many times as fast as what has not.
    pub(super) fn is_packed(&self) -> bool {
        matches!(self.weights, Weights::Packed(_))
    }

    /// `input` (n, columns) → `out` (n, rows).
    pub(super) fn matmul(&self, input: &mut Input, out: &mut [f32]) {
        match &self.weights {
            Weights::Packed(packed) => kernels::matmul_range(packed, input.activations(), 0..self.rows, out),
            _ => self.widened(input, 0..self.rows as TokenId, out),
        }
    }

    /// [`matmul`](Self::matmul) of several matrices with the same input.
    pub(super) fn matmul_all<const N: usize>(matrices: [&Self; N], input: &mut Input, outs: [&mut [f32]; N]) {
        if matrices.iter().all(|matrix| matrix.is_packed()) {
            let packed = matrices.map(|matrix| match &matrix.weights {
                Weights::Packed(packed) => packed,
                _ => unreachable!("every matrix is packed"),
            });
            return kernels::matmul_all(packed, input.activations(), outs);
        }
        for (matrix, out) in matrices.iter().zip(outs) {
            matrix.matmul(input, out);
        }
    }

    /// The given rows of the product alone, in their order: `input` (n, columns) → `out` (n, wanted.len()). The same
    /// numbers as [`matmul`](Self::matmul)'s.
    pub(super) fn matmul_rows(&self, input: &mut Input, wanted: &[TokenId], out: &mut [f32]) {
        match &self.weights {
            _ if wanted.is_empty() => {}
            Weights::Packed(packed) => kernels::matmul_rows(packed, input.activations(), wanted, out),
            _ => self.widened(input, wanted.iter().copied(), out),
        }
    }

    /// Products with each wanted row, of which `out` has a column.
    fn widened(&self, input: &Input, wanted: impl ExactSizeIterator<Item = TokenId>, out: &mut [f32]) {
        let n_wanted = wanted.len();
        let mut weights = vec![0.0; self.columns];
        for (at, row) in wanted.enumerate() {
            self.row(row, &mut weights);
            for (x, out) in input.x.chunks_exact(self.columns).zip(out.chunks_exact_mut(n_wanted)) {
                out[at] = math::dot(&weights, x);
            }
        }
    }

    /// One row, dequantised, into `out` (columns). The row must exist.
    pub(super) fn row(&self, row: u32, out: &mut [f32]) {
        let range = row as usize * self.columns..(row as usize + 1) * self.columns;
        match &self.weights {
            Weights::Packed(packed) => packed.row(row as usize, out),
            Weights::Floats(floats) => out.copy_from_slice(&floats[range]),
            Weights::F16(halves) => {
                for (out, &half) in out.iter_mut().zip(&halves[range]) {
                    *out = kernels::widen_f16(half);
                }
            }
            Weights::Bf16(halves) => {
                for (out, &half) in out.iter_mut().zip(&halves[range]) {
                    *out = f32::from_bits(u32::from(half) << 16);
                }
            }
            Weights::Q2K(blocks) => widen(blocks, range, out),
            Weights::Q3K(blocks) => widen(blocks, range, out),
        }
    }
}

/// What goes into one or more products: `x` of shape (n, columns).
pub(super) struct Input<'a> {
    x: &'a [f32],
    n: usize,
    activations: &'a mut Activations,
    quantised: bool,
}

impl<'a> Input<'a> {
    /// `activations` lends its memory.
    pub(super) fn new(x: &'a [f32], n: usize, activations: &'a mut Activations) -> Self {
        Self { x, n, activations, quantised: false }
    }

    /// The input in the kernels' form, made on first use.
    fn activations(&mut self) -> &Activations {
        if !self.quantised {
            self.activations.quantise(self.x, self.n, self.x.len() / self.n);
            self.quantised = true;
        }
        self.activations
    }
}

/// A tensor of any format as floats.
///
/// # Errors
/// `corrupt-model` if one is not finite; `out-of-memory`; `unsupported-quant`.
pub(super) fn floats(dtype: GgmlDType, bytes: &[u8], elements: usize) -> Result<Vec<f32>> {
    let matrix = match Packed::from_ggml(dtype, bytes, 1, elements)? {
        Some(packed) => Matrix::packed(packed),
        None => Matrix::from_ggml(dtype, bytes, 1, elements)?,
    };
    let mut floats = reserved(elements)?;
    floats.resize(elements, 0.0);
    matrix.row(0, &mut floats);
    finite(floats, |float| float.is_finite())
}

fn finite<T: Copy>(values: Vec<T>, is_finite: fn(T) -> bool) -> Result<Vec<T>> {
    if values.iter().all(|&value| is_finite(value)) {
        return Ok(values);
    }
    Err(not_finite())
}

fn not_finite() -> Error {
    Error::new(ErrorKind::CorruptModel, "a weight is not finite")
}

/// A tensor's bytes as candle-core's blocks, which have halves at the given bytes.
///
/// # Errors
/// `corrupt-model` if one of them is not finite; `out-of-memory`.
fn blocks<T: GgmlType>(bytes: &[u8], halves: &[usize]) -> Result<Vec<T>> {
    let is_finite = |block: &[u8], at: usize| block[at + 1] & 0x7c != 0x7c;
    if !bytes.chunks_exact(size_of::<T>()).all(|block| halves.iter().all(|&at| is_finite(block, at))) {
        return Err(not_finite());
    }
    let n = bytes.len() / size_of::<T>();
    let mut blocks = reserved(n)?;
    blocks.resize(n, T::zeros());
    // SAFETY: a block is numbers laid out as in the file (`repr(C)`), of which any bits are a value, and there is room
    // for `n` of them.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), blocks.as_mut_ptr().cast(), n * size_of::<T>()) };
    Ok(blocks)
}

/// The weights in a range that begins and ends with blocks.
fn widen<T: GgmlType>(blocks: &[T], range: Range<usize>, out: &mut [f32]) {
    T::to_float(&blocks[range.start / T::BLCK_SIZE..range.end / T::BLCK_SIZE], out);
}

/// An empty vector with room for `n` values.
pub(super) fn reserved<T>(n: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let bytes = n.saturating_mul(size_of::<T>());
    let out_of_memory = |_| Error::new(ErrorKind::OutOfMemory, format!("no memory for {bytes} bytes of weights"));
    values.try_reserve_exact(n).map_err(out_of_memory)?;
    Ok(values)
}
