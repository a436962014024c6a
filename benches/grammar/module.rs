//! The measurement as a WebAssembly module, for `run.mjs` to run in a browser: a text of JSON in, a text of JSON out.

mod measure;

use std::cell::RefCell;

#[link(wasm_import_module = "bench")]
unsafe extern "C" {
    /// The browser's clock, in milliseconds.
    safe fn now() -> f64;
}

thread_local! {
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes room for the text of a [`measure::Work`], and says where.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(bytes: usize) -> *mut u8 {
    TEXT.with_borrow_mut(|text| {
        *text = vec![0; bytes];
        text.as_mut_ptr()
    })
}

/// Measures what the text asks for. Returns the length of the report.
#[unsafe(no_mangle)]
pub extern "C" fn run() -> usize {
    let work = TEXT.with_borrow(|text| serde_json::from_slice(text).expect("a text of work"));
    let report = measure::measure(&work, &|| now() * 1e3).expect("grammars and documents that fit");
    TEXT.set(serde_json::to_vec(&report).expect("numbers and names"));
    TEXT.with_borrow(Vec::len)
}

/// Where the report is.
#[unsafe(no_mangle)]
pub extern "C" fn report() -> *const u8 {
    TEXT.with_borrow(|text| text.as_ptr())
}
