//! The walk over a GGUF header that checks every length before anything is sized by it.
//!
//! ```text
//! "GGUF"  version:u32  tensor_count:u64  pair_count:u64
//! pair_count   × ( key:string  type:u32  value )
//! tensor_count × ( name:string  n_dims:u32  dims:u64…  type:u32  offset:u64 )
//! padding to general.alignment, then the tensors' bytes
//! ```
//!
//! candle-core reads the same header, but trusts what this walk refuses: it divides by `general.alignment`, keeps the
//! last of two pairs with one name, and multiplies dimensions without looking. So the walk goes first, allocates only
//! in proportion to bytes that it has seen, and candle-core reads the values out of bytes that are known to be sound.

use std::collections::HashSet;
use std::io::Cursor;

use candle_core::quantized::gguf_file::Content;

use super::tensor_type::tensor_type;
use super::{Header, Metadata, TensorInfo, corrupt, shown};
use crate::error::{Detail, Error, ErrorKind, Result};

/// What a header may ask for, each limit far above any published model's.
pub mod limits {
    /// Bytes of the whole header. Vocabularies of 260,000 tokens with their merges take about 16 MiB.
    pub const HEADER_BYTES: u64 = 64 << 20;
    /// Key-value pairs. Published models have 20 to 80.
    pub const PAIRS: u64 = 1 << 14;
    /// Tensors. A model of 128 layers with a mixture of experts has about 3,000.
    pub const TENSORS: u64 = 1 << 16;
    /// Bytes of a key or of a tensor's name. GGUF itself says 65,535 and 64.
    pub const NAME_BYTES: u64 = 1 << 10;
    /// Bytes of a string value. Chat templates reach 20 KiB.
    pub const STRING_BYTES: u64 = 4 << 20;
    /// Elements of all arrays together, since one of a single byte becomes a value of 32 bytes in memory.
    pub const ARRAY_ELEMENTS: u64 = 4 << 20;
    /// Arrays within arrays.
    pub const ARRAY_DEPTH: u32 = 4;
    /// Dimensions of a tensor, as in ggml.
    pub const DIMENSIONS: u32 = 4;
    /// Bytes that tensors may be aligned to.
    pub const ALIGNMENT: u64 = 1 << 16;
}

/// What [`scan`] found.
#[derive(Clone, Debug)]
pub enum Scan {
    /// The header is sound so far; at least so many bytes from the start of the file are needed to go on.
    NeedMore(u64),
    Header(Header),
}

/// Reads the header that `bytes`, the start of a file, hold. `file_size` is the whole file's length, where known.
///
/// # Errors
/// - `corrupt-model`: not a GGUF, or one that contradicts itself, exceeds a [limit](limits), or speaks of bytes beyond
///   `file_size`.
/// - `unsupported-model`: version 1, or numbers in big-endian order.
/// - `unsupported-quant`: a tensor in a format that candle-core does not multiply.
/// - `out-of-memory`: a tensor that cannot be addressed on this machine.
pub fn scan(bytes: &[u8], file_size: Option<u64>) -> Result<Scan> {
    match Walk::new(bytes, file_size).header() {
        Ok(header) => Ok(Scan::Header(header)),
        Err(Stop::NeedMore(end)) => Ok(Scan::NeedMore(end)),
        Err(Stop::Refuse(error)) => Err(error),
    }
}

/// Why a walk ended before the end of the header.
enum Stop {
    NeedMore(u64),
    Refuse(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Refuse(error)
    }
}

type Step<T> = Result<T, Stop>;

fn refuse<T>(error: Error) -> Step<T> {
    Err(Stop::Refuse(error))
}

fn over(what: &str, requested: u64, available: u64) -> Error {
    corrupt(format!("the GGUF header declares {requested} {what}, and the limit is {available}"))
        .with_detail(Detail::Limit { requested, available })
}

struct Walk<'a> {
    bytes: &'a [u8],
    /// Bytes walked so far; never beyond `bytes.len()`.
    at: usize,
    file_size: Option<u64>,
    /// Array elements seen so far, over all arrays.
    elements: u64,
}

impl<'a> Walk<'a> {
    fn new(bytes: &'a [u8], file_size: Option<u64>) -> Self {
        Self { bytes, at: 0, file_size, elements: 0 }
    }

    fn header(mut self) -> Step<Header> {
        if self.take(4)? != b"GGUF" {
            return refuse(corrupt("this is not a GGUF file: its first four bytes are not `GGUF`"));
        }
        let version = self.u32()?;
        match version {
            2 | 3 => {}
            1 => return refuse(unsupported("GGUF version 1 is not supported; versions 2 and 3 are")),
            _ if version.swap_bytes() <= 3 => return refuse(unsupported("big-endian GGUF files are not supported")),
            _ => return refuse(unsupported(format!("GGUF version {version} is not supported; versions 2 and 3 are"))),
        }
        let tensor_count = self.u64()?;
        if tensor_count > limits::TENSORS {
            return refuse(over("tensors", tensor_count, limits::TENSORS));
        }
        let pair_count = self.u64()?;
        if pair_count > limits::PAIRS {
            return refuse(over("key-value pairs", pair_count, limits::PAIRS));
        }

        let alignment = self.pairs(pair_count)?;
        let (mut tensors, offsets) = self.tensors(tensor_count)?;
        let len = self.at as u64;
        let metadata = read_values(&self.bytes[..self.at])?;
        place(&mut tensors, &offsets, len.next_multiple_of(alignment), alignment, self.file_size)?;
        Ok(Header { metadata, tensors, len })
    }

    /// Walks the key-value pairs; returns `general.alignment` in bytes.
    fn pairs(&mut self, count: u64) -> Step<u64> {
        let mut alignment = 32;
        let mut keys = HashSet::new();
        for _ in 0..count {
            let key = self.name("key")?;
            if !keys.insert(key) {
                return refuse(corrupt(format!("the GGUF metadata has `{}` twice", shown(key))));
            }
            let value_type = self.u32()?;
            if key == "general.alignment" {
                if value_type != U32 {
                    return refuse(corrupt("the GGUF metadata's `general.alignment` is not a 32-bit unsigned integer"));
                }
                alignment = u64::from(self.u32()?);
                if !alignment.is_power_of_two() || alignment > limits::ALIGNMENT {
                    return refuse(corrupt(format!(
                        "the GGUF metadata's `general.alignment` is {alignment}, which is not a power of two up to {}",
                        limits::ALIGNMENT
                    )));
                }
            } else {
                self.value(value_type, 0)?;
            }
        }
        Ok(alignment)
    }

    /// Steps over one value; `depth` arrays stand around it.
    fn value(&mut self, value_type: u32, depth: u32) -> Step<()> {
        match value_type {
            BOOL => self.bools(1),
            STRING => self.string(),
            ARRAY => self.array(depth),
            _ => match number_size(value_type) {
                Some(size) => self.take(size).map(|_| ()),
                None => refuse(corrupt(format!("the GGUF metadata has a value of the unknown type {value_type}"))),
            },
        }
    }

    fn array(&mut self, depth: u32) -> Step<()> {
        if depth == limits::ARRAY_DEPTH {
            return refuse(corrupt(format!("the GGUF metadata nests arrays deeper than {}", limits::ARRAY_DEPTH)));
        }
        let element_type = self.u32()?;
        let count = self.u64()?;
        self.elements = self.elements.saturating_add(count);
        if self.elements > limits::ARRAY_ELEMENTS {
            return refuse(over("array elements", self.elements, limits::ARRAY_ELEMENTS));
        }
        match number_size(element_type) {
            Some(size) => self.take(count * size).map(|_| ()), // count is within its limit: no overflow
            None if element_type == BOOL => self.bools(count),
            None => {
                for _ in 0..count {
                    self.value(element_type, depth + 1)?;
                }
                Ok(())
            }
        }
    }

    fn bools(&mut self, count: u64) -> Step<()> {
        match self.take(count)?.iter().find(|&&byte| byte > 1) {
            Some(byte) => refuse(corrupt(format!("the GGUF metadata has a boolean of value {byte}"))),
            None => Ok(()),
        }
    }

    fn string(&mut self) -> Step<()> {
        let len = self.u64()?;
        if len > limits::STRING_BYTES {
            return refuse(over("bytes in one string", len, limits::STRING_BYTES));
        }
        self.take(len).map(|_| ())
    }

    /// A key or a tensor's name. Since candle-core drops trailing zeros and replaces what is not UTF-8, which could make
    /// two names one, neither is allowed.
    fn name(&mut self, what: &str) -> Step<&'a str> {
        let len = self.u64()?;
        if len > limits::NAME_BYTES {
            return refuse(over("bytes in one name", len, limits::NAME_BYTES));
        }
        match std::str::from_utf8(self.take(len)?) {
            Ok(name) if !name.is_empty() && !name.contains('\0') => Ok(name),
            _ => {
                refuse(corrupt(format!("the GGUF header has a {what} that is empty, not UTF-8, or holds a zero byte")))
            }
        }
    }

    /// Walks the tensors' descriptions; returns them with their offsets from the start of the tensor data.
    fn tensors(&mut self, count: u64) -> Step<(Vec<TensorInfo>, Vec<u64>)> {
        let mut names = HashSet::new();
        let mut tensors = Vec::new();
        let mut offsets = Vec::new();
        for _ in 0..count {
            let name = self.name("tensor name")?;
            if !names.insert(name) {
                return refuse(corrupt(format!("the GGUF file has two tensors named `{}`", shown(name))));
            }
            let n_dims = self.u32()?;
            if n_dims == 0 || n_dims > limits::DIMENSIONS {
                return refuse(corrupt(format!(
                    "tensor `{}` has {n_dims} dimensions, not 1 to {}",
                    shown(name),
                    limits::DIMENSIONS
                )));
            }
            let mut fastest_first = [1; limits::DIMENSIONS as usize];
            for dim in &mut fastest_first[..n_dims as usize] {
                *dim = self.u64()?;
            }
            let type_number = self.u32()?;
            offsets.push(self.u64()?);
            tensors.push(describe(name, &fastest_first[..n_dims as usize], type_number, self.file_size)?);
        }
        Ok((tensors, offsets))
    }

    fn u32(&mut self) -> Step<u32> {
        let bytes = self.take(4)?;
        Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte)))
    }

    fn u64(&mut self) -> Step<u64> {
        let low = u64::from(self.u32()?);
        let high = u64::from(self.u32()?);
        Ok(high << 32 | low)
    }

    /// The next `len` bytes, if they are there.
    fn take(&mut self, len: u64) -> Step<&'a [u8]> {
        let end = (self.at as u64).saturating_add(len);
        if let Some(size) = self.file_size.filter(|&size| end > size) {
            let message = format!("the GGUF header needs {end} bytes, and the file has {size}");
            return refuse(corrupt(message).with_detail(Detail::Limit { requested: end, available: size }));
        }
        if end > limits::HEADER_BYTES {
            return refuse(over("header bytes", end, limits::HEADER_BYTES));
        }
        match self.bytes.get(self.at..end as usize) {
            Some(taken) => {
                self.at = end as usize;
                Ok(taken)
            }
            None => Err(Stop::NeedMore(end)),
        }
    }
}

// Numbers of GGUF's value types.
const U32: u32 = 4;
const BOOL: u32 = 7;
const STRING: u32 = 8;
const ARRAY: u32 = 9;

/// Bytes of a value of a numeric type.
fn number_size(value_type: u32) -> Option<u64> {
    match value_type {
        0 | 1 => Some(1),   // u8, i8
        2 | 3 => Some(2),   // u16, i16
        4..=6 => Some(4),   // u32, i32, f32
        10..=12 => Some(8), // u64, i64, f64
        _ => None,
    }
}

/// A tensor's shape, checked, with its place still to be filled in by [`place`].
fn describe(name: &str, fastest_first: &[u64], type_number: u32, file_size: Option<u64>) -> Result<TensorInfo> {
    let dtype = tensor_type(type_number)?;
    let elements = fastest_first.iter().try_fold(1u64, |product, &dim| product.checked_mul(dim));
    let bytes = elements.and_then(|n| (n / dtype.block_size() as u64).checked_mul(dtype.type_size() as u64));
    let (Some(elements), Some(bytes)) = (elements, bytes) else {
        return Err(corrupt(format!("tensor `{}` has more elements than 64 bits can count", shown(name))));
    };
    if elements == 0 {
        return Err(corrupt(format!("tensor `{}` has a dimension of zero", shown(name))));
    }
    let (row, block) = (fastest_first[0], dtype.block_size());
    if !row.is_multiple_of(block as u64) {
        return Err(corrupt(format!(
            "tensor `{}` has rows of {row} elements, not a multiple of its format's block of {block}",
            shown(name)
        )));
    }
    if let Some(size) = file_size.filter(|&size| bytes > size) {
        let message = format!("tensor `{}` has {bytes} bytes, and the file has {size}", shown(name));
        return Err(corrupt(message).with_detail(Detail::Limit { requested: bytes, available: size }));
    }
    let addressable = |n: u64| isize::try_from(n).map(isize::unsigned_abs);
    let size = addressable(bytes);
    let dims: Result<Vec<usize>, _> = fastest_first.iter().rev().map(|&dim| addressable(dim)).collect();
    let (Ok(size), Ok(dims), Ok(_)) = (size, dims, addressable(elements)) else {
        let limit = Detail::Limit { requested: bytes.max(elements), available: isize::MAX as u64 };
        let message = format!("tensor `{}` of {bytes} bytes cannot be addressed on this machine", shown(name));
        return Err(Error::new(ErrorKind::OutOfMemory, message).with_detail(limit));
    };
    Ok(TensorInfo { name: name.to_owned(), dtype, dims, start: 0, size })
}

/// Puts the tensors where their offsets say, in the order of their bytes, and checks that they fit there.
fn place(
    tensors: &mut [TensorInfo],
    offsets: &[u64],
    data_start: u64,
    alignment: u64,
    file_size: Option<u64>,
) -> Result<()> {
    for (tensor, &offset) in tensors.iter_mut().zip(offsets) {
        if !offset.is_multiple_of(alignment) {
            return Err(corrupt(format!(
                "tensor `{}` lies at offset {offset}, not a multiple of the file's alignment of {alignment}",
                shown(&tensor.name)
            )));
        }
        let start = data_start.checked_add(offset);
        let end = start.and_then(|start| start.checked_add(tensor.size as u64));
        let (Some(start), Some(end)) = (start, end) else {
            return Err(corrupt(format!("tensor `{}` lies beyond what 64 bits can count", shown(&tensor.name))));
        };
        if let Some(size) = file_size.filter(|&size| end > size) {
            let message = format!("tensor `{}` ends at byte {end}, and the file has {size}", shown(&tensor.name));
            return Err(corrupt(message).with_detail(Detail::Limit { requested: end, available: size }));
        }
        tensor.start = start;
    }
    tensors.sort_by_key(|tensor| tensor.start);
    for pair in tensors.windows(2) {
        if pair[0].start + pair[0].size as u64 > pair[1].start {
            let (first, second) = (shown(&pair[0].name), shown(&pair[1].name));
            return Err(corrupt(format!("tensors `{first}` and `{second}` overlap")));
        }
    }
    Ok(())
}

/// The key-value pairs of a header that the walk found sound.
fn read_values(header: &[u8]) -> Result<Metadata> {
    match Content::read(&mut Cursor::new(header)) {
        Ok(content) => Ok(Metadata::new(content.metadata)),
        Err(error) => Err(corrupt(format!("candle-core cannot read the GGUF header: {error}"))),
    }
}

fn unsupported(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::UnsupportedModel, message)
}
