//! A weight matrix in whatever format its file has, and what it multiplies.

use std::borrow::Cow;

use candle_core::CpuStorage;
use candle_core::quantized::{GgmlDType, QuantizedType};

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
    /// Floats of full precision, or of half as their bits; multiplied in full precision.
    Floats(Vec<f32>),
    F16(Vec<u16>),
    Bf16(Vec<u16>),
    /// In a rare format, through candle-core.
    Blocks(Box<dyn QuantizedType>),
}

impl Matrix {
    pub(super) fn packed(packed: Packed) -> Self {
        Self { rows: packed.rows(), columns: packed.columns(), weights: Weights::Packed(packed) }
    }

    /// A matrix in a format without a kernel, from its file's bytes.
    ///
    /// # Errors
    /// `corrupt-model` for floats that are not finite; `out-of-memory`.
    pub(super) fn from_ggml(dtype: GgmlDType, bytes: &[u8], rows: usize, columns: usize) -> Result<Self> {
        let halves = || -> Result<Vec<u16>> {
            let mut halves = reserved(rows * columns)?;
            halves.extend(bytes.as_chunks::<2>().0.iter().map(|&half| u16::from_le_bytes(half)));
            Ok(halves)
        };
        let weights = match dtype {
            GgmlDType::F32 => Weights::Floats(floats(dtype, bytes, rows * columns)?),
            GgmlDType::F16 => Weights::F16(finite(halves()?, |half| half & 0x7c00 != 0x7c00)?),
            GgmlDType::BF16 => Weights::Bf16(finite(halves()?, |half| half & 0x7f80 != 0x7f80)?),
            _ => Weights::Blocks(blocks(dtype, bytes)?),
        };
        if !scales_are_finite(dtype, bytes) {
            return Err(not_finite());
        }
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
    pub(super) fn matmul(&self, input: &mut Input, out: &mut [f32]) -> Result<()> {
        let Self { rows, columns, .. } = *self;
        match &self.weights {
            Weights::Packed(packed) => kernels::matmul_range(packed, input.activations(), 0..rows, out),
            Weights::Blocks(blocks) => {
                return blocks.matmul_t((input.n, columns, rows), input.x, out).map_err(internal);
            }
            Weights::Floats(_) | Weights::F16(_) | Weights::Bf16(_) => {
                let mut weights = vec![0.0; columns];
                for row in 0..rows {
                    self.row(row as u32, &mut weights)?;
                    for (x, out) in input.x.chunks_exact(columns).zip(out.chunks_exact_mut(rows)) {
                        out[row] = math::dot(&weights, x);
                    }
                }
            }
        }
        Ok(())
    }

    /// [`matmul`](Self::matmul) of several matrices with the same input.
    pub(super) fn matmul_all<const N: usize>(
        matrices: [&Self; N],
        input: &mut Input,
        outs: [&mut [f32]; N],
    ) -> Result<()> {
        if matrices.iter().all(|matrix| matrix.is_packed()) {
            let packed = matrices.map(|matrix| match &matrix.weights {
                Weights::Packed(packed) => packed,
                _ => unreachable!("every matrix is packed"),
            });
            kernels::matmul_all(packed, input.activations(), outs);
            return Ok(());
        }
        matrices.iter().zip(outs).try_for_each(|(matrix, out)| matrix.matmul(input, out))
    }

    /// The given rows of the product alone, in their order: `input` (n, columns) → `out` (n, wanted.len()). The same
    /// numbers as [`matmul`](Self::matmul)'s.
    pub(super) fn matmul_rows(&self, input: &mut Input, wanted: &[TokenId], out: &mut [f32]) -> Result<()> {
        if wanted.is_empty() {
            return Ok(());
        }
        if let Weights::Packed(packed) = &self.weights {
            kernels::matmul_rows(packed, input.activations(), wanted, out);
            return Ok(());
        }
        let mut all = vec![0.0; input.n * self.rows];
        self.matmul(input, &mut all)?;
        for (all, out) in all.chunks_exact(self.rows).zip(out.chunks_exact_mut(wanted.len())) {
            for (out, &row) in out.iter_mut().zip(wanted) {
                *out = all[row as usize];
            }
        }
        Ok(())
    }

    /// One row, dequantised, into `out` (columns). The row must exist.
    pub(super) fn row(&self, row: u32, out: &mut [f32]) -> Result<()> {
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
            Weights::Blocks(blocks) => {
                let values = blocks.embedding(&[row], self.rows, self.columns).map_err(internal)?;
                out.copy_from_slice(&of_storage(values)?);
            }
        }
        Ok(())
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
/// `corrupt-model` if one is not finite; `out-of-memory`.
pub(super) fn floats(dtype: GgmlDType, bytes: &[u8], elements: usize) -> Result<Vec<f32>> {
    if dtype == GgmlDType::F32 {
        let mut floats = reserved(elements)?;
        floats.extend(bytes.as_chunks::<4>().0.iter().map(|&float| f32::from_le_bytes(float)));
        return finite(floats, |float| float.is_finite());
    }
    let blocks = blocks(dtype, bytes)?;
    reserved::<f32>(elements)?;
    finite(of_storage(blocks.dequantize(elements).map_err(internal)?)?, |float| float.is_finite())
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

/// Looks at the scales of the formats that candle-core multiplies; the others are looked at as they are read.
fn scales_are_finite(dtype: GgmlDType, bytes: &[u8]) -> bool {
    // Where a block has halves: `block_q2_K` and `block_q3_K` of ggml's `ggml-common.h`.
    let halves: &[usize] = match dtype {
        GgmlDType::Q2K => &[80, 82],
        GgmlDType::Q3K => &[108],
        _ => &[],
    };
    let is_finite = |block: &[u8], at: usize| block[at + 1] & 0x7c != 0x7c;
    bytes.chunks_exact(dtype.type_size()).all(|block| halves.iter().all(|&at| is_finite(block, at)))
}

/// A tensor's bytes as candle-core's blocks.
///
/// # Errors
/// `out-of-memory`, found by asking for the memory first: candle-core would end the program.
fn blocks(dtype: GgmlDType, bytes: &[u8]) -> Result<Box<dyn QuantizedType>> {
    reserved::<u8>(bytes.len())?;
    // candle-core reads the bytes as a slice of blocks, which must be aligned as their widest field, at most 8 bytes.
    const ALIGNMENT: usize = 8;
    if bytes.as_ptr().align_offset(ALIGNMENT) == 0 {
        return Ok(dtype.from_data(Cow::Borrowed(bytes)));
    }
    let mut copy = vec![0; bytes.len() + ALIGNMENT];
    let start = copy.as_ptr().align_offset(ALIGNMENT);
    let aligned = &mut copy[start..start + bytes.len()];
    aligned.copy_from_slice(bytes);
    Ok(dtype.from_data(Cow::Borrowed(aligned)))
}

fn of_storage(storage: CpuStorage) -> Result<Vec<f32>> {
    match storage {
        CpuStorage::F32(values) => Ok(values),
        _ => Err(Error::new(ErrorKind::Internal, "candle-core dequantised to something other than f32")),
    }
}

/// An empty vector with room for `n` values.
pub(super) fn reserved<T>(n: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let bytes = n.saturating_mul(size_of::<T>());
    let out_of_memory = |_| Error::new(ErrorKind::OutOfMemory, format!("no memory for {bytes} bytes of weights"));
    values.try_reserve_exact(n).map_err(out_of_memory)?;
    Ok(values)
}

fn internal(error: candle_core::Error) -> Error {
    Error::new(ErrorKind::Internal, format!("candle-core: {error}"))
}
