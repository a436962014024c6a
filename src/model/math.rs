//! Arithmetic on vectors of f32, written so that a compiler turns it into SIMD on any target.
//!
//! Every function's result depends on its arguments alone, in a fixed order of additions: so a token's logits do not
//! depend on the tokens that happen to be computed beside it.

/// Independent partial sums in a reduction. Sixteen fill four 128-bit registers, which hides an addition's latency.
const LANES: usize = 16;

/// `Σ a[i] · b[i]`, over the shorter length.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    total(sums) + rest
}

/// `out[i] += x[i]`, over the shorter length.
pub(super) fn add(out: &mut [f32], x: &[f32]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += x;
    }
}

/// RMS norm: `out[i] = weight[i] · x[i] / √(mean(x²) + ε)`. <https://arxiv.org/abs/1910.07467>
pub(super) fn rms_norm(x: &[f32], weight: &[f32], epsilon: f32, out: &mut [f32]) {
    let scale = 1.0 / (dot(x, x) / x.len() as f32 + epsilon).sqrt();
    for ((out, x), weight) in out.iter_mut().zip(x).zip(weight) {
        *out = weight * (x * scale);
    }
}

/// [`rms_norm`], in place.
pub(super) fn rms_norm_in_place(x: &mut [f32], weight: &[f32], epsilon: f32) {
    let scale = 1.0 / (dot(x, x) / x.len() as f32 + epsilon).sqrt();
    for (x, weight) in x.iter_mut().zip(weight) {
        *x = weight * (*x * scale);
    }
}

/// `ln Σ exp(x[i])`, without overflow, in f64 where it matters.
pub(super) fn log_sum_exp(x: &[f32]) -> f64 {
    /// Powers that are added as f32 before their sum goes into an f64.
    const RUN: usize = 256;
    let max = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut powers = [0.0; RUN];
    let run = |x: &[f32]| {
        for (power, x) in powers.iter_mut().zip(x) {
            *power = exp(x - max);
        }
        f64::from(sum(&powers[..x.len()]))
    };
    f64::from(max) + x.chunks(RUN).map(run).sum::<f64>().ln()
}

/// Softmax in place: `x[i] = exp(x[i] − max) / Σ exp(x[j] − max)`.
pub(super) fn softmax(x: &mut [f32]) {
    let max = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    for x in x.iter_mut() {
        *x = exp(*x - max);
    }
    let scale = 1.0 / sum(x);
    for x in x.iter_mut() {
        *x *= scale;
    }
}

/// What a value of [`silu_times`] or [`gelu_times`] takes, in additions.
pub(super) const EXP_COST: usize = 16;

/// The gate of a SwiGLU network, in place: `gate[i] = silu(gate[i]) · up[i]`, where `silu(x) = x / (1 + exp(−x))`.
/// <https://arxiv.org/abs/2002.05202>
pub(super) fn silu_times(gate: &mut [f32], up: &[f32]) {
    for (gate, up) in gate.iter_mut().zip(up) {
        *gate = *gate / (1.0 + exp(-*gate)) * up;
    }
}

/// The gate of a GeGLU network, in place: `gate[i] = gelu(gate[i]) · up[i]`, where
/// `gelu(x) = x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))`. <https://arxiv.org/abs/1606.08415>
pub(super) fn gelu_times(gate: &mut [f32], up: &[f32]) {
    /// 2 √(2/π): (1 + tanh(y)) / 2 is 1 / (1 + exp(−2y)).
    const TWICE_ROOT: f32 = 1.595_769;
    for (gate, up) in gate.iter_mut().zip(up) {
        let x = *gate;
        *gate = x / (1.0 + exp(-TWICE_ROOT * (x + 0.044_715 * x * x * x))) * up;
    }
}

fn sum(x: &[f32]) -> f32 {
    let (blocks, rest) = x.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for block in blocks {
        for lane in 0..LANES {
            sums[lane] += block[lane];
        }
    }
    total(sums) + rest.iter().sum::<f32>()
}

fn total(sums: [f32; LANES]) -> f32 {
    // Halves added pairwise, as registers are.
    let mut half = LANES / 2;
    let mut sums = sums;
    while half > 0 {
        for lane in 0..half {
            sums[lane] += sums[lane + half];
        }
        half /= 2;
    }
    sums[0]
}

/// `e^x` to within 2 units in the last place, without a branch or a table so that loops over it become SIMD, which the
/// platform's own `exp` prevents. Where `e^x` is not a normal f32 the result is the nearest normal one or so: `exp(−∞)`
/// is about 1e-38, and `exp(∞)` about 2e38.
///
/// `e^x = 2^n · e^r` with `n` whole and `|r| ≤ ln 2 / 2`; `e^r` is its Taylor series, whose next term is below 6e-9.
#[inline]
fn exp(x: f32) -> f32 {
    // Adding 1.5 · 2^23 rounds to a whole number and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts, the first with zeros at its end so that n · LN2_HIGH is exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;

    let x = x.clamp(-87.0, 88.0);
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = x - n * LN2_HIGH - n * LN2_LOW;
    let series = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    let e_r = series.iter().fold(1.0 / 5040.0, |value, coefficient| value * r + coefficient);
    let two_n = f32::from_bits((rounded.to_bits() << 23).wrapping_add(1f32.to_bits()));
    e_r * two_n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_close_to_the_exact_one() {
        let mut worst = 0f64;
        for step in -87_000..=88_000 {
            let x = step as f32 / 1000.0;
            let exact = f64::from(x).exp();
            worst = worst.max(((f64::from(exp(x)) - exact) / exact).abs());
        }
        assert!(worst < 2.0 * f64::from(f32::EPSILON), "relative error of {worst:e}");
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f32::NEG_INFINITY) < 1e-37 && exp(f32::INFINITY) > 1e38 && exp(f32::NAN).is_nan());
    }

    #[test]
    fn dot_and_sum_take_every_element_at_any_length() {
        for n in 0..100 {
            let ones: Vec<f32> = vec![1.0; n];
            let counting: Vec<f32> = (0..n).map(|i| i as f32).collect();
            let expected = (n * n.saturating_sub(1) / 2) as f32;
            assert_eq!(dot(&ones, &counting), expected, "dot of {n}");
            assert_eq!(sum(&counting), expected, "sum of {n}");
        }
    }

    #[test]
    fn softmax_adds_up_to_one_and_survives_large_scores() {
        let mut x = vec![1e30, 1e30, -1e30];
        softmax(&mut x);
        assert_eq!(&x[..2], &[0.5, 0.5]);
        assert!(x[2] < 1e-37);
    }

    #[test]
    fn rms_norm_by_hand() {
        let mut out = [0.0; 2];
        rms_norm(&[3.0, 4.0], &[1.0, 2.0], 0.0, &mut out); // mean square 12.5
        let root = 12.5f32.sqrt();
        assert!((out[0] - 3.0 / root).abs() < 1e-6 && (out[1] - 8.0 / root).abs() < 1e-6, "{out:?}");
    }

    #[test]
    fn silu_by_hand() {
        let mut gate = [0.0, 1.0, -100.0];
        silu_times(&mut gate, &[5.0, 2.0, 1.0]);
        assert_eq!(gate[0], 0.0);
        assert!((gate[1] - 2.0 * 0.731_058_6).abs() < 1e-6);
        assert!(gate[2].abs() < 1e-35);
    }

    #[test]
    fn gelu_by_hand() {
        let mut gate = [0.0, 1.0, -1.0, 50.0, -50.0];
        gelu_times(&mut gate, &[5.0, 2.0, 1.0, 1.0, 1.0]);
        assert_eq!((gate[0], gate[3]), (0.0, 50.0));
        assert!((gate[1] - 2.0 * 0.841_192).abs() < 1e-5 && (gate[2] + 0.158_808).abs() < 1e-5, "{gate:?}");
        assert!(gate[4].abs() < 1e-35);
    }

    #[test]
    fn log_sum_exp_is_exact_enough_and_does_not_overflow() {
        let x: Vec<f32> = (0..1000).map(|i| (i * 37 % 100) as f32 / 10.0 + 200.0).collect();
        let exact = 200.0 + x.iter().map(|&x| (f64::from(x) - 200.0).exp()).sum::<f64>().ln();
        assert!((log_sum_exp(&x) - exact).abs() < 1e-6);
        assert_eq!(log_sum_exp(&[3.0]), 3.0);
    }
}
