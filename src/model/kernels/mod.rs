//! Matrix products of quantised weights, and the vector operations around them.

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
pub use self::matmul::{matmul, matmul_range, matmul_rows};
pub use self::packed::{Packed, Packer};

#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
use self::avx2::Avx2 as Native;
#[cfg(not(any(
    all(target_arch = "wasm32", target_feature = "simd128"),
    all(target_arch = "x86_64", target_feature = "avx2")
)))]
use self::portable::Portable as Native;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use self::simd128::Simd128 as Native;
