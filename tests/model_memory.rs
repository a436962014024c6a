//! What loading a model takes in memory, counted in the allocator.

mod model_support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use fairhand::model::Loader;
use model_support::{gemma_file, smollm2_file};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// One allocation may be let pass: the trial whether a model fits, which is given back untouched.
static LARGEST: AtomicUsize = AtomicUsize::new(usize::MAX);

// SAFETY: everything is the system allocator's; only sizes are added up beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if layout.size() < LARGEST.load(Relaxed) {
            NOW.fetch_sub(layout.size(), Relaxed);
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn count(bytes: usize) {
    if bytes < LARGEST.load(Relaxed) {
        PEAK.fetch_max(NOW.fetch_add(bytes, Relaxed) + bytes, Relaxed);
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The target is 1.3 × the file, with the engine around the model: its token tables, which grow with the vocabulary.
const MODEL_ALONE: f64 = 1.15;

#[test]
fn loading_takes_little_more_than_the_file() {
    for (name, file) in [("SmolLM2", Some(smollm2_file())), ("Gemma", gemma_file())] {
        let Some(file) = file else { continue };
        LARGEST.store(file.len() / 10 * 9, Relaxed);
        let before = NOW.load(Relaxed);
        PEAK.store(before, Relaxed);
        let mut loader = Loader::new(Some(file.len() as u64));
        for piece in file.chunks(1 << 16) {
            loader.push(piece).expect("a sound model");
        }
        let model = loader.finish().expect("a sound model");
        let (peak, left) = (PEAK.load(Relaxed) - before, NOW.load(Relaxed) - before);
        let of_file = |bytes: usize| bytes as f64 / file.len() as f64;
        println!("{name}: peak {:.3} and then {:.3} of the file", of_file(peak), of_file(left));
        assert!(of_file(peak) <= MODEL_ALONE, "{name}: {peak} bytes for a file of {}", file.len());
        drop(model);
        LARGEST.store(usize::MAX, Relaxed);
    }
}
