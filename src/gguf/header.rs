//! What a GGUF header says, after [`scan`](super::scan()) has checked it.

use candle_core::quantized::GgmlDType;

use super::Metadata;

/// A checked header: the key-value pairs, and where each tensor lies in the file.
///
/// Sound by construction: names are unique, sizes follow from shapes without overflow, and tensors are aligned, do not
/// overlap, and lie inside the file where its length is known.
#[derive(Clone, Debug)]
pub struct Header {
    pub metadata: Metadata,
    /// In the order of their bytes in the file.
    pub tensors: Vec<TensorInfo>,
    /// Length of the header in bytes, without the padding that follows it.
    pub len: u64,
}

impl Header {
    pub fn tensor(&self, name: &str) -> Option<&TensorInfo> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }

    /// The first byte after the last tensor: no sound file is shorter.
    pub fn data_end(&self) -> u64 {
        self.tensors.last().map_or(self.len, |tensor| tensor.start + tensor.size as u64)
    }
}

/// One tensor's place and shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    pub name: String,
    pub dtype: GgmlDType,
    /// Slowest dimension first, as in `(rows, columns)`; GGUF itself writes the fastest first.
    pub dims: Vec<usize>,
    /// Offset of the first byte, from the start of the file.
    pub start: u64,
    /// Length in bytes.
    pub size: usize,
}
