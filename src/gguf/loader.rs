//! Reading a GGUF file as its bytes arrive, without ever holding the whole of it.

use super::{Header, Scan, TensorInfo, corrupt, scan, shown};
use crate::error::{Detail, Error, ErrorKind, Result};

/// What a [`Loader`] feeds: something that is put together from a header and then one tensor after another.
pub trait Assemble: Sized {
    type Output;

    /// Starts from a checked header, before any tensor has arrived: the place to refuse a file that cannot be used, and to
    /// take out of the header what nobody needs later, so that its memory serves the tensors.
    fn begin(header: &mut Header) -> Result<Self>;

    /// Takes the next bytes of a tensor, of which it has taken `offset`: some at least, of no particular alignment. Every
    /// tensor of the header comes, whole, in the order of their bytes.
    fn tensor(&mut self, info: &TensorInfo, offset: usize, bytes: &[u8]) -> Result<()>;

    /// Ends after the last tensor.
    fn finish(self) -> Result<Self::Output>;
}

/// How far a [`Loader`] has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadProgress {
    /// Bytes pushed so far.
    pub received: u64,
    /// Bytes of the whole file: as announced, else, once the header is read, the end of the last tensor.
    pub total: Option<u64>,
}

/// A GGUF reader that takes bytes in any pieces, as a download brings them.
///
/// A tensor's bytes are handed over as they come, and nothing but the header is ever kept. How the file is cut into pieces
/// changes neither the result nor the error.
///
/// ```text
/// Loader::new(size)  →  push(bytes)…  →  finish() = (Header, what was assembled)
/// ```
pub struct Loader<A: Assemble> {
    announced: Option<u64>,
    received: u64,
    /// The start of the file, until the header is complete.
    pending: Vec<u8>,
    stage: Stage<A>,
}

enum Stage<A> {
    /// Scan again when so many bytes wait.
    Header { scan_at: usize },
    /// `next` indexes the header's tensors; `taken` bytes of it are handed over.
    Tensors { header: Header, assembler: A, next: usize, taken: usize },
    /// An error has been returned.
    Failed,
}

impl<A: Assemble> Loader<A> {
    /// Starts at the first byte of a file of `size` bytes; without a size, lies about lengths are found later.
    pub fn new(size: Option<u64>) -> Self {
        Self { announced: size, received: 0, pending: Vec::new(), stage: Stage::Header { scan_at: 0 } }
    }

    /// Reads a whole file that is in memory.
    ///
    /// # Errors
    /// As [`push`](Self::push) and [`finish`](Self::finish).
    pub fn read(bytes: &[u8]) -> Result<(Header, A::Output)> {
        let mut loader = Self::new(Some(bytes.len() as u64));
        loader.push(bytes)?;
        loader.finish()
    }

    /// The header, once its bytes have arrived.
    pub fn header(&self) -> Option<&Header> {
        match &self.stage {
            Stage::Tensors { header, .. } => Some(header),
            Stage::Header { .. } | Stage::Failed => None,
        }
    }

    /// Takes the next bytes of the file.
    ///
    /// # Errors
    /// Those of [`scan`](super::scan()) and of what is being assembled; `corrupt-model` for more bytes than announced;
    /// `out-of-memory`. After an error every further call fails.
    pub fn push(&mut self, bytes: &[u8]) -> Result<LoadProgress> {
        if let Stage::Failed = self.stage {
            return Err(already_failed());
        }
        let start = self.received;
        self.received += bytes.len() as u64;
        let outcome = match self.announced {
            Some(size) if self.received > size => {
                Err(corrupt(format!("the file has more than the {size} bytes that were announced")))
            }
            _ => self.take_in(start, bytes),
        };
        self.failing(outcome)?;
        Ok(LoadProgress { received: self.received, total: self.announced.or(self.header().map(Header::data_end)) })
    }

    /// Ends the file.
    ///
    /// # Errors
    /// `corrupt-model` with the number of bytes for a file that was cut short, and those of what was being assembled.
    pub fn finish(mut self) -> Result<(Header, A::Output)> {
        if let Stage::Header { .. } = self.stage {
            // The next scan may have been put off to beyond the end of a small file.
            let bytes = std::mem::take(&mut self.pending);
            match scan(&bytes, self.announced)? {
                Scan::Header(header) => self.begin(header, &bytes)?,
                Scan::NeedMore(end) => return Err(self.cut_short("its header", end)),
            }
        }
        let Stage::Tensors { ref header, next, .. } = self.stage else { return Err(already_failed()) };
        if let Some(tensor) = header.tensors.get(next) {
            let what = format!("tensor `{}`", shown(&tensor.name));
            return Err(self.cut_short(&what, tensor.start + tensor.size as u64));
        }
        if let Some(size) = self.announced.filter(|&size| self.received < size) {
            return Err(self.cut_short("the file", size));
        }
        match self.stage {
            Stage::Tensors { header, assembler, .. } => Ok((header, assembler.finish()?)),
            Stage::Header { .. } | Stage::Failed => Err(already_failed()),
        }
    }

    fn cut_short(&self, what: &str, end: u64) -> Error {
        corrupt(format!("the file is cut short: {} bytes have arrived, and {what} ends at byte {end}", self.received))
            .with_detail(Detail::Limit { requested: end, available: self.received })
    }

    /// Remembers a failure, and lets go of the memory.
    fn failing<T>(&mut self, outcome: Result<T>) -> Result<T> {
        if outcome.is_err() {
            self.stage = Stage::Failed;
            self.pending = Vec::new();
        }
        outcome
    }

    /// Takes in `bytes`, which lie at `start` in the file.
    fn take_in(&mut self, mut start: u64, mut bytes: &[u8]) -> Result<()> {
        while let Stage::Header { scan_at } = &mut self.stage {
            let wanted = scan_at.saturating_sub(self.pending.len());
            let (taken, rest) = bytes.split_at(wanted.min(bytes.len()));
            self.pending.extend_from_slice(taken);
            (start, bytes) = (start + taken.len() as u64, rest);
            if self.pending.len() < *scan_at {
                return Ok(());
            }
            match scan(&self.pending, self.announced)? {
                // Each scan starts over; waiting for a quarter more each time keeps all scans together linear.
                Scan::NeedMore(end) => *scan_at = (end as usize).max(self.pending.len() / 4 * 5),
                Scan::Header(header) => {
                    let waited = std::mem::take(&mut self.pending);
                    self.begin(header, &waited)?;
                }
            }
        }
        self.tensors(start, bytes)
    }

    /// Goes from the header to the tensors; `bytes` are the file's start, which may hold some tensors' bytes too.
    fn begin(&mut self, mut header: Header, bytes: &[u8]) -> Result<()> {
        let assembler = A::begin(&mut header)?;
        self.stage = Stage::Tensors { header, assembler, next: 0, taken: 0 };
        self.tensors(0, bytes)
    }

    /// Hands over what `bytes`, which lie at `start` in the file, hold of tensors.
    fn tensors(&mut self, mut start: u64, mut bytes: &[u8]) -> Result<()> {
        let Stage::Tensors { header, assembler, next, taken } = &mut self.stage else { return Err(already_failed()) };
        while let Some(tensor) = header.tensors.get(*next) {
            // Padding in front of the tensor (or of the header, which came along).
            let padding = tensor.start.saturating_sub(start).min(bytes.len() as u64) as usize;
            let now = (tensor.size - *taken).min(bytes.len() - padding);
            if now == 0 {
                break;
            }
            assembler.tensor(tensor, *taken, &bytes[padding..padding + now])?;
            *taken += now;
            if *taken == tensor.size {
                (*next, *taken) = (*next + 1, 0);
            }
            (start, bytes) = (start + (padding + now) as u64, &bytes[padding + now..]);
        }
        Ok(())
    }
}

fn already_failed() -> Error {
    Error::new(ErrorKind::InvalidArgument, "this loader has already failed; start a new one")
}
