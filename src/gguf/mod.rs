//! GGUF bytes, checked before they are used.
//!
//! ```text
//! bytes ──push──▶ Loader ──▶ scan ──▶ Header { Metadata, TensorInfo… } ──▶ Assemble::begin
//!                       └──▶ each tensor's bytes, as they come ──▶ Assemble::tensor
//! ```
//!
//! The format is described in <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>. Values are read by
//! candle-core; what stands here is the distrust: [`scan`] walks the header first, so that no length, count, offset or
//! shape of a file is believed before the bytes that it speaks of are there.

mod header;
mod loader;
mod metadata;
mod scan;
mod tensor_type;

pub use header::{Header, TensorInfo};
pub use loader::{Assemble, LoadProgress, Loader};
pub use metadata::Metadata;
pub use scan::{Scan, limits, scan};

use crate::error::{Error, ErrorKind};

fn corrupt(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::CorruptModel, message)
}

/// A name out of a file, made fit for an error message: escaped, and of bounded length.
pub(crate) fn shown(name: &str) -> String {
    const MOST: usize = 80;
    let mut text: String = name.chars().take(MOST).flat_map(char::escape_debug).collect();
    if name.chars().nth(MOST).is_some() {
        text.push('…');
    }
    text
}
