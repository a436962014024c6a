//! Gradient descent.

use crate::corpus::{Random, Turn};
use crate::network::{Gradients, Transposed, Workspace};
use crate::shape::Layout;

/// Gradients are computed side by side in so many threads, and added in their order.
const THREADS: usize = 2;
/// Adam's decay of the mean and of the mean square (Kingma and Ba, 2015).
const DECAY: (f32, f32) = (0.9, 0.99);
/// A longer step is cut to this length.
const MAX_NORM: f32 = 1.0;

pub struct Schedule {
    /// The highest rate; it rises over the first hundred steps and falls to nothing at the end.
    pub rate: f32,
    pub turns_per_step: usize,
    pub passes: usize,
}

/// Fits `parameters` to `turns`.
pub fn train(parameters: &mut [f32], layout: &Layout, turns: &[Turn], schedule: &Schedule) {
    let mut random = Random::new(3);
    let mut order: Vec<usize> = (0..turns.len()).collect();
    let mut moments = vec![(0.0_f32, 0.0_f32); layout.len];
    let steps = schedule.passes * turns.len().div_ceil(schedule.turns_per_step);
    let mut step = 0;
    let (mut loss, mut words) = (0.0, 0);
    for _ in 0..schedule.passes {
        random.shuffle(&mut order);
        for batch in order.chunks(schedule.turns_per_step) {
            step += 1;
            let (gradient, batch_loss) = gradient(parameters, layout, turns, batch);
            let batch_words: usize = batch.iter().map(|&i| turns[i].rows.len()).sum();
            let length = gradient.iter().map(|g| g * g).sum::<f32>().sqrt() / batch_words as f32;
            let scale = (MAX_NORM / length.max(MAX_NORM)) / batch_words as f32;
            let rise = (step as f32 / 100.0).min(1.0);
            let rate = schedule.rate * rise * (1.0 - step as f32 / (steps + 1) as f32);
            let young = (1.0 - DECAY.0.powi(step), 1.0 - DECAY.1.powi(step));
            for ((x, g), (mean, square)) in parameters.iter_mut().zip(gradient).zip(&mut moments) {
                let g = g * scale;
                *mean += (1.0 - DECAY.0) * (g - *mean);
                *square += (1.0 - DECAY.1) * (g * g - *square);
                *x -= rate * (*mean / young.0) / ((*square / young.1).sqrt() + 1e-8);
            }
            loss += batch_loss;
            words += batch_words;
            if steps >= 1_000 && (step as usize).is_multiple_of(steps / 20) {
                println!("  step {step} of {steps}: loss {:.4} a word", loss / words as f32);
                (loss, words) = (0.0, 0);
            }
        }
    }
}

/// The gradient of the loss over the turns of `batch`, and that loss.
fn gradient(parameters: &[f32], layout: &Layout, turns: &[Turn], batch: &[usize]) -> (Vec<f32>, f32) {
    let transposed = Transposed::new(parameters, layout);
    let part = |part: &[usize]| {
        let mut gradients = Gradients::new(layout);
        let mut workspace = Workspace::default();
        for &i in part {
            gradients.add(parameters, layout, &transposed, &turns[i], &mut workspace);
        }
        gradients
    };
    let parts: Vec<Gradients> = std::thread::scope(|scope| {
        let part = &part;
        let running: Vec<_> =
            batch.chunks(batch.len().div_ceil(THREADS)).map(|chunk| scope.spawn(move || part(chunk))).collect();
        running.into_iter().map(|thread| thread.join().expect("a thread that only computes")).collect()
    });
    let mut parts = parts.into_iter();
    let Gradients { mut sums, mut loss } = parts.next().unwrap_or_else(|| Gradients::new(layout));
    for other in parts {
        sums.iter_mut().zip(other.sums).for_each(|(sum, g)| *sum += g);
        loss += other.loss;
    }
    (sums, loss)
}
