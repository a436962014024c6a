//! A weight matrix in packed form.

use candle_core::quantized::GgmlDType;

use super::activations::BLOCK;
use super::formats::{Format, Q4_0, Q4_1, Q4K, Q5_0, Q5_1, Q5K, Q6K, Q8_0};
use super::lanes::ROWS;
use super::scalar;
use crate::error::{Detail, Error, ErrorKind, Result};

/// A quantised weight matrix (rows, columns), eight rows interleaved; the only copy of these weights that is needed.
pub struct Packed {
    panels: Panels,
    rows: usize,
    columns: usize,
}

macro_rules! panels {
    ($($format:ident)*) => {
        /// Blocks in the order panel, block along the row.
        pub(super) enum Panels {
            $($format(Vec<$format>),)*
        }

        /// Evaluates an expression with the vector of blocks, whatever their format.
        macro_rules! with_panels {
            ($panels:expr, $blocks:ident => $body:expr) => {
                match $panels {
                    $($crate::model::kernels::packed::Panels::$format($blocks) => $body,)*
                }
            };
        }

        impl Panels {
            /// Room for `blocks` blocks. `None` for a format without a kernel.
            fn with_capacity(dtype: GgmlDType, blocks: usize) -> Option<Result<Self>> {
                $(if dtype == $format::DTYPE {
                    let mut panels = Vec::new();
                    let bytes = blocks.saturating_mul(size_of::<$format>()) as u64;
                    return Some(match panels.try_reserve_exact(blocks) {
                        Ok(()) => Ok(Self::$format(panels)),
                        Err(_) => Err(Error::new(ErrorKind::OutOfMemory, format!("no room for {bytes} bytes of weights"))),
                    });
                })*
                None
            }
        }
    };
}

panels!(Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q4K Q5K Q6K);
pub(super) use with_panels;

impl Packed {
    /// Packs a whole tensor of ggml blocks, row after row. `Ok(None)` if the format has no kernel here.
    ///
    /// # Errors
    /// As [`Packer::new`], [`Packer::push`] and [`Packer::finish`].
    pub fn from_ggml(dtype: GgmlDType, bytes: &[u8], rows: usize, columns: usize) -> Result<Option<Self>> {
        let Some(mut packer) = Packer::new(dtype, rows, columns)? else { return Ok(None) };
        packer.push(bytes)?;
        packer.finish().map(Some)
    }

    /// Outputs of a product.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Inputs of a product.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Memory that the weights take.
    pub fn bytes(&self) -> usize {
        with_panels!(&self.panels, blocks => size_of_val(blocks.as_slice()))
    }

    /// Dequantises row `i` into `out` (columns).
    ///
    /// # Panics
    /// If `i` is not a row or `out` is of another length.
    pub fn row(&self, i: usize, out: &mut [f32]) {
        assert!(i < self.rows && out.len() == self.columns, "shape of the row");
        with_panels!(&self.panels, blocks => dequantise(blocks, self.columns, i, out));
    }

    pub(super) fn panels(&self) -> &Panels {
        &self.panels
    }
}

fn dequantise<F: Format>(blocks: &[F], columns: usize, i: usize, out: &mut [f32]) {
    let width = columns / F::SIZE.0;
    let panel = &blocks[i / ROWS * width..][..width];
    for (b, out) in out.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
        let run = panel[b / F::RUNS].unpack(i % ROWS, b % F::RUNS);
        *out = std::array::from_fn(|k| run.weight(k));
    }
}

/// Packs a tensor as its bytes arrive, holding back less than eight rows of them.
pub struct Packer {
    packed: Packed,
    /// Bytes of one row.
    row: usize,
    /// Rows that are packed.
    done: usize,
    /// Bytes of the panel that is not complete yet.
    pending: Vec<u8>,
}

impl Packer {
    /// Makes room for a matrix of `rows` rows. `Ok(None)` if the format has no kernel here.
    ///
    /// # Errors
    /// `CorruptModel` if a row is not a whole number of blocks or the size overflows; `OutOfMemory`.
    pub fn new(dtype: GgmlDType, rows: usize, columns: usize) -> Result<Option<Self>> {
        let Some((block, bytes)) = scalar::block_size(dtype) else { return Ok(None) };
        if !columns.is_multiple_of(block) {
            let message = format!("{dtype:?} rows of {columns} weights are not whole blocks of {block}");
            return Err(Error::new(ErrorKind::CorruptModel, message));
        }
        let width = columns / block;
        let too_large = || Error::new(ErrorKind::CorruptModel, format!("a matrix of {rows} × {columns} is too large"));
        let row = width.checked_mul(bytes).ok_or_else(too_large)?;
        row.checked_mul(rows).ok_or_else(too_large)?;
        let blocks = rows.div_ceil(ROWS).checked_mul(width).ok_or_else(too_large)?;
        let Some(panels) = Panels::with_capacity(dtype, blocks) else { return Ok(None) };
        let packed = Packed { panels: panels?, rows, columns };
        Ok(Some(Self { packed, row, done: 0, pending: Vec::new() }))
    }

    /// Takes the next bytes of the tensor; any number at a time.
    ///
    /// # Errors
    /// `CorruptModel` if a scale is infinite or a NaN, or if there are more bytes than the matrix has (with both
    /// numbers).
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<()> {
        let expected = self.packed.rows * self.row;
        let given = (self.done * self.row + self.pending.len()).saturating_add(bytes.len());
        if given > expected {
            return Err(length(given, expected));
        }
        while !bytes.is_empty() {
            let panel = self.row * ROWS.min(self.packed.rows - self.done);
            if self.pending.is_empty() && bytes.len() >= panel {
                let (now, later) = bytes.split_at(panel);
                self.pack(now)?;
                bytes = later;
            } else {
                let (now, later) = bytes.split_at((panel - self.pending.len()).min(bytes.len()));
                self.pending.extend_from_slice(now);
                bytes = later;
                if self.pending.len() == panel {
                    let pending = std::mem::take(&mut self.pending);
                    self.pack(&pending)?;
                    self.pending = pending;
                    self.pending.clear();
                }
            }
        }
        Ok(())
    }

    /// The matrix, once all its bytes were pushed.
    ///
    /// # Errors
    /// `CorruptModel` if some are missing (with both numbers).
    pub fn finish(self) -> Result<Packed> {
        let given = self.done * self.row + self.pending.len();
        let expected = self.packed.rows * self.row;
        if given == expected { Ok(self.packed) } else { Err(length(given, expected)) }
    }

    /// Packs the next eight rows, or the fewer that are left.
    fn pack(&mut self, bytes: &[u8]) -> Result<()> {
        with_panels!(&mut self.packed.panels, blocks => pack_panel(blocks, bytes, self.row))?;
        self.done += bytes.len() / self.row;
        Ok(())
    }
}

fn pack_panel<F: Format>(blocks: &mut Vec<F>, bytes: &[u8], row: usize) -> Result<()> {
    // The longest block; rows past the last are zeros, which every format reads as zero weights.
    const PADDING: [u8; 210] = [0; 210];
    let size = F::SIZE.1;
    for at in (0..row).step_by(size) {
        let rows = std::array::from_fn(|r| bytes.get(r * row + at..r * row + at + size).unwrap_or(&PADDING[..size]));
        let block = F::pack(rows).ok_or_else(|| Error::new(ErrorKind::CorruptModel, "a weight scale is not finite"))?;
        blocks.push(block);
    }
    Ok(())
}

fn length(given: usize, expected: usize) -> Error {
    let detail = Detail::Limit { requested: expected as u64, available: given as u64 };
    Error::new(ErrorKind::CorruptModel, format!("{given} bytes of weights where {expected} belong")).with_detail(detail)
}
