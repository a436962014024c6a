//! GGUF files written field by field, so that any field can lie, and an assembly that only collects.
#![allow(dead_code)]

use candle_core::quantized::GgmlDType;
use fairhand::Result;
use fairhand::gguf::{Assemble, Header, Loader, TensorInfo};

/// A GGUF file under construction.
#[derive(Clone)]
pub struct File(pub Vec<u8>);

impl File {
    /// Version 3, with the counts that it declares.
    pub fn new(tensors: u64, pairs: u64) -> Self {
        Self(b"GGUF".to_vec()).u32(3).u64(tensors).u64(pairs)
    }

    pub fn u8(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    pub fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub fn u64(mut self, value: u64) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub fn string(mut self, text: &str) -> Self {
        self = self.u64(text.len() as u64);
        self.0.extend(text.bytes());
        self
    }

    /// A pair's key and the number of its type; the value is to follow.
    pub fn key(self, key: &str, value_type: u32) -> Self {
        self.string(key).u32(value_type)
    }

    pub fn alignment(self, alignment: u32) -> Self {
        self.key("general.alignment", 4).u32(alignment)
    }

    /// A tensor's description; `dims` fastest first, as in the file.
    pub fn tensor(mut self, name: &str, dims: &[u64], type_number: u32, offset: u64) -> Self {
        self = self.string(name).u32(dims.len() as u32);
        for &dim in dims {
            self = self.u64(dim);
        }
        self.u32(type_number).u64(offset)
    }

    /// Fills up to a multiple of `alignment`.
    pub fn pad(mut self, alignment: usize) -> Self {
        self.0.resize(self.0.len().next_multiple_of(alignment), 0);
        self
    }

    /// `n` bytes that tell where they are from.
    pub fn data(mut self, n: usize) -> Self {
        self.0.extend((0..n).map(|i| (i * 7 + n) as u8));
        self
    }
}

/// Everything about a tensor.
pub type Collected = (String, GgmlDType, Vec<usize>, Vec<u8>);

/// Collects the tensors as they come.
pub struct Collect(Vec<Collected>);

impl Assemble for Collect {
    type Output = Vec<Collected>;

    fn begin(_: &mut Header) -> Result<Self> {
        Ok(Self(Vec::new()))
    }

    fn tensor(&mut self, info: &TensorInfo, offset: usize, bytes: &[u8]) -> Result<()> {
        if offset == 0 {
            self.0.push((info.name.clone(), info.dtype, info.dims.clone(), Vec::new()));
        }
        let (name, .., collected) = self.0.last_mut().expect("a tensor starts at its first byte");
        assert!(*name == info.name && collected.len() == offset && !bytes.is_empty());
        collected.extend_from_slice(bytes);
        assert!(collected.len() <= info.size);
        Ok(())
    }

    fn finish(self) -> Result<Self::Output> {
        Ok(self.0)
    }
}

/// Pushes `file` in pieces of the given sizes, over and over.
pub fn load_in_pieces<A: Assemble>(
    file: &[u8],
    announced: Option<u64>,
    sizes: &[usize],
) -> Result<(Header, A::Output)> {
    let mut loader = Loader::<A>::new(announced);
    let mut rest = file;
    for &size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at(size.min(rest.len()));
        loader.push(piece)?;
        rest = after;
    }
    loader.finish()
}
