//! The one product that the tagger and its training need: small, dense, row-major, f32.

/// Rows and columns computed at once; together they stay in registers.
const ROWS: usize = 4;
const LANES: usize = 16;

/// c (m,n) += a (m,k) @ b (k,n), with `a[i * strides.0 + p * strides.1]` as a's element (i,p). `n` is a multiple of 16.
pub fn add_product(c: &mut [f32], a: &[f32], strides: (usize, usize), b: &[f32], (m, k, n): (usize, usize, usize)) {
    assert!(n.is_multiple_of(LANES) && c.len() >= m * n && b.len() >= k * n);
    let mut i = 0;
    while i + ROWS <= m {
        add_rows::<ROWS>(c, a, strides, b, i, (k, n));
        i += ROWS;
    }
    for i in i..m {
        add_rows::<1>(c, a, strides, b, i, (k, n));
    }
}

/// The rows `i..i + R` of the product.
fn add_rows<const R: usize>(
    c: &mut [f32],
    a: &[f32],
    strides: (usize, usize),
    b: &[f32],
    i: usize,
    (k, n): (usize, usize),
) {
    for j in (0..n).step_by(LANES) {
        let mut sums = [[0.0_f32; LANES]; R];
        for p in 0..k {
            let row = &b[p * n + j..][..LANES];
            for (r, sums) in sums.iter_mut().enumerate() {
                let x = a[(i + r) * strides.0 + p * strides.1];
                for (sum, w) in sums.iter_mut().zip(row) {
                    *sum += x * w;
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            for (c, sum) in c[(i + r) * n + j..][..LANES].iter_mut().zip(sums) {
                *c += sum;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_definition() {
        let (m, k, n) = (7, 5, 32);
        let value = |i: usize| ((i * 37 % 101) as f32 - 50.0) / 50.0;
        let a: Vec<f32> = (0..m * k).map(value).collect();
        let b: Vec<f32> = (0..k * n).map(|i| value(i + 13)).collect();
        let mut c = vec![1.0; m * n];
        add_product(&mut c, &a, (k, 1), &b, (m, k, n));
        for i in 0..m {
            for j in 0..n {
                let sum: f32 = (0..k).map(|p| a[i * k + p] * b[p * n + j]).sum();
                assert!((c[i * n + j] - 1.0 - sum).abs() < 1e-5, "({i},{j})");
            }
        }
        // The transpose of a, read through its strides.
        let turned: Vec<f32> = (0..k * m).map(|at| a[(at % m) * k + at / m]).collect();
        let mut d = vec![1.0; m * n];
        add_product(&mut d, &turned, (1, m), &b, (m, k, n));
        assert_eq!(c, d);
    }
}
