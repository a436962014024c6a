//! Products of quantised weights and vectors: where nearly all of a token's time goes.
//!
//! ```text
//! ggml blocks ─▶ Packer ─▶ Packed (eight rows interleaved, the only copy)
//!                             │
//! x (f32) ─▶ Activations ─────┴─▶ matmul, matmul_range, matmul_rows ─▶ out (f32)
//! ```
//!
//! - `scalar` is the definition: what each format means and what a product is, one weight at a time.
//! - `formats` and `planes` say how eight rows lie in memory; a format adds its scales, its offset or its minimum.
//! - `lanes` is the vocabulary of vector operations, in which `matmul` is written once; `simd128`, `avx2` and `portable`
//!   spell it. `dot` has the two ways to multiply: pairs of 16-bit integers everywhere, and bytes where the instruction
//!   set has a product of bytes (relaxed SIMD, AVX2) and the weights fit seven bits.
//! - `pool` shares a product's rows among threads.
//!
//! A product is the same to the last bit on every instruction set, for any number of activations beside one another and
//! for any cut of the rows: integer sums are exact, and the float operations have one order. Weights are used as they
//! are; the one loss is the rounding of activations to 8 bits ([`Activations`]), by which a product is off by at most
//! `Σ |w| · scale / 2`.
//!
//! The unsafe code of the crate is in `simd128` and `avx2`: loads and stores through pointers made from references to
//! arrays of the very size, and intrinsics that the build's target features promise; and in `pool` and `matmul`: what
//! threads share, each with the reason why it is theirs alone.

mod activations;
#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
mod avx2;
mod dot;
mod f16;
mod formats;
mod lanes;
mod matmul;
mod packed;
mod planes;
pub mod pool;
#[cfg(any(
    test,
    not(any(
        all(target_arch = "wasm32", target_feature = "simd128"),
        all(target_arch = "x86_64", target_feature = "avx2")
    ))
))]
mod portable;
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(test)]
mod tests;

pub use self::activations::Activations;
pub(super) use self::f16::{narrow as narrow_f16, widen as widen_f16};
pub use self::matmul::{matmul, matmul_all, matmul_range, matmul_rows};
pub use self::packed::{Packed, Packer};
pub use self::scalar::defined_product;

#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
use self::avx2::Avx2 as Native;
#[cfg(not(any(
    all(target_arch = "wasm32", target_feature = "simd128"),
    all(target_arch = "x86_64", target_feature = "avx2")
)))]
use self::portable::Portable as Native;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use self::simd128::Simd128 as Native;
