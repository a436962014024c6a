//! The kernels as a WebAssembly module of numbers, for `run.mjs` to time and check in a browser. Shapes and formats
//! come as arguments, and weights are made up.

use std::cell::RefCell;

use candle_core::quantized::GgmlDType;
use fairhand::model::kernels::{Activations, Packed, Packer, defined_product, matmul_range};

/// In the order in which `run.mjs` names them, with the bytes of a block and where its halves are.
const FORMATS: [(GgmlDType, usize, usize, &[usize]); 8] = [
    (GgmlDType::Q4_0, 32, 18, &[0]),
    (GgmlDType::Q4_1, 32, 20, &[0, 2]),
    (GgmlDType::Q5_0, 32, 22, &[0]),
    (GgmlDType::Q5_1, 32, 24, &[0, 2]),
    (GgmlDType::Q8_0, 32, 34, &[0]),
    (GgmlDType::Q4K, 256, 144, &[0, 2]),
    (GgmlDType::Q5K, 256, 176, &[0, 2]),
    (GgmlDType::Q6K, 256, 210, &[208]),
];

/// Rows that are different before they repeat.
const DISTINCT: usize = 64;

struct Case {
    dtype: GgmlDType,
    /// ggml's bytes of the first rows.
    sample: Vec<u8>,
    weights: Packed,
    acts: Activations,
    out: Vec<f32>,
}

thread_local! {
    static CASE: RefCell<Option<Case>> = const { RefCell::new(None) };
}

/// Makes up weights (rows, columns) and `n` rows of activations; returns the bytes that the packed weights take.
#[unsafe(no_mangle)]
pub extern "C" fn prepare(format: usize, rows: usize, columns: usize, n: usize) -> f64 {
    let (dtype, block, size, halves) = FORMATS[format];
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let mut sample: Vec<u8> = (0..DISTINCT.min(rows) * columns / block * size).map(|_| random()).collect();
    for block in sample.chunks_mut(size) {
        for &at in halves {
            block[at + 1] = block[at + 1] & 0x83 | 0x20; // a magnitude between 2⁻⁷ and 2⁻⁶
        }
    }
    let mut packer = Packer::new(dtype, rows, columns).expect("a shape that fits").expect("a format with a kernel");
    let row = columns / block * size;
    for first in (0..rows).step_by(DISTINCT) {
        packer.push(&sample[..row * DISTINCT.min(rows - first)]).expect("finite scales");
    }
    let weights = packer.finish().expect("all rows");
    let x: Vec<f32> = (0..n * columns).map(|_| f32::from(random()) / 128.0 - 1.0).collect();
    let mut acts = Activations::default();
    acts.quantise(&x, n, columns);
    let bytes = weights.bytes() as f64;
    CASE.set(Some(Case { dtype, sample, weights, acts, out: vec![0.0; n * rows] }));
    bytes
}

/// Multiplies `times` times.
#[unsafe(no_mangle)]
pub extern "C" fn multiply(times: usize) {
    CASE.with_borrow_mut(|case| {
        let case = case.as_mut().expect("a case was prepared");
        for _ in 0..times {
            matmul_range(&case.weights, &case.acts, 0..case.weights.rows(), &mut case.out);
        }
    });
}

/// Whether the last product equals the definition, bit for bit.
#[unsafe(no_mangle)]
pub extern "C" fn is_right() -> bool {
    CASE.with_borrow(|case| {
        let case = case.as_ref().expect("a case was prepared");
        let expected = defined_product(case.dtype, &case.sample, &case.acts).expect("finite scales");
        let distinct = expected.len() / case.acts.n();
        let rows = case.out.chunks_exact(case.weights.rows()).zip(expected.chunks_exact(distinct));
        rows.into_iter().all(|(out, expected)| {
            out.iter().enumerate().all(|(r, value)| value.to_bits() == expected[r % distinct].to_bits())
        })
    })
}
