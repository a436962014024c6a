//! Whether there is room for a model, before any of it is taken.

use crate::error::{Detail, Error, ErrorKind, Result};

/// # Errors
/// `out-of-memory`, with the bytes needed and those there are, if `bytes` more cannot be had.
pub(super) fn check(bytes: u64) -> Result<()> {
    let available = available(bytes);
    if available >= bytes {
        return Ok(());
    }
    let message = format!("the model needs {bytes} bytes of memory, and {available} can be had");
    Err(Error::new(ErrorKind::OutOfMemory, message).with_detail(Detail::Limit { requested: bytes, available }))
}

/// How much of `wanted` bytes can be had: the system is asked, and what it gives is given back untouched. If that is not
/// all, the rest of the answer is a guess that is below it.
fn available(wanted: u64) -> u64 {
    if fits(wanted) { wanted } else { less_than(wanted) }
}

fn fits(bytes: u64) -> bool {
    usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}

/// In WebAssembly, what is left of the address space: to ask for less would keep it, since memory only ever grows.
#[cfg(target_arch = "wasm32")]
fn less_than(wanted: u64) -> u64 {
    const PAGE: u64 = 1 << 16;
    const ADDRESSABLE: u64 = 1 << 32;
    (ADDRESSABLE - core::arch::wasm32::memory_size::<0>() as u64 * PAGE).min(wanted.saturating_sub(1))
}

#[cfg(not(target_arch = "wasm32"))]
fn less_than(wanted: u64) -> u64 {
    std::iter::successors(Some(wanted / 2), |bytes| Some(bytes / 2)).find(|&bytes| fits(bytes)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_refused_with_numbers() {
        check(1 << 20).expect("a megabyte");
        let error = check(1 << 60).expect_err("an exabyte");
        assert_eq!(error.kind(), ErrorKind::OutOfMemory);
        let Some(&Detail::Limit { requested, available }) = error.detail() else { panic!("no numbers: {error}") };
        assert_eq!(requested, 1 << 60);
        assert!(available < requested);
    }
}
