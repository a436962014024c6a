//! Rotary position embedding: each pair of a head's values turns by an angle that grows with the position.
//! <https://arxiv.org/abs/2104.09864>

use std::f64::consts::TAU;

use super::Config;

/// How RoPE turns a model's queries and keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Rotation {
    /// Pair `i` of a head turns by `position · base^(−2i / dims)` radians, before any scaling.
    pub base: f32,
    /// How many of a head's values are turned, from its start; an even number.
    pub dims: usize,
    pub pairing: Pairing,
    pub scaling: Scaling,
    /// The context that the model was trained for before its RoPE was scaled, in tokens.
    pub original_context: usize,
    /// What the turned values are multiplied by besides (`rope.scaling.attn_factor`).
    pub magnitude: f32,
}

/// Which two of a head's values turn together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// `2i` and `2i + 1`
    Neighbours,
    /// `i` and `i + dims / 2`
    Halves,
}

/// How angles are made smaller for contexts longer than those of the first training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scaling {
    None,
    /// All angles are divided. <https://arxiv.org/abs/2306.15595>
    Linear {
        factor: f32,
    },
    /// Slow pairs' angles are divided, fast ones' are not, and those between are mixed. <https://arxiv.org/abs/2309.00071>
    Yarn {
        factor: f32,
        original_context: usize,
        /// How far the rule above is followed; 0 is linear.
        ramp: f32,
        /// Turns within the original context from which on a pair is fast.
        fast: f32,
        /// Turns up to which a pair is slow.
        slow: f32,
    },
}

/// Divisors of the frequencies, one for each pair, that came with the file's tensors.
#[derive(Default)]
pub(super) struct Factors {
    /// For contexts of any length (Llama 3).
    pub all: Option<Vec<f32>>,
    /// For contexts no longer than the original one (Phi 3).
    pub short: Option<Vec<f32>>,
    /// For longer ones.
    pub long: Option<Vec<f32>>,
}

/// Cosines and sines for some positions in a row.
pub(super) struct Rope {
    global: Table,
    /// Of layers with a window, where these turn otherwise.
    local: Option<Table>,
}

impl Rope {
    /// Angles for positions `start..start + n` in a context of up to `capacity` tokens.
    pub(super) fn new(config: &Config, factors: &Factors, capacity: usize, start: usize, n: usize) -> Self {
        let rotation = &config.rotation;
        let by_length = if capacity > rotation.original_context { &factors.long } else { &factors.short };
        let factors = factors.all.as_deref().or(by_length.as_deref());
        let local = config.window.and_then(|window| window.rope_base).map(|base| {
            let rotation = Rotation { base, scaling: Scaling::None, ..rotation.clone() };
            Table::new(&rotation, None, start, n)
        });
        Self { global: Table::new(rotation, factors, start, n), local }
    }

    /// The table of a layer; `None` for a layer that turns nothing.
    pub(super) fn of_layer(&self, config: &Config, layer: usize) -> Option<&Table> {
        let local = self.local.as_ref().filter(|_| config.window_of(layer).is_some());
        config.has_rope(layer).then_some(local.unwrap_or(&self.global))
    }
}

/// Cosines and sines of shape (positions, pairs).
pub(super) struct Table {
    pairing: Pairing,
    pairs: usize,
    cos: Vec<f32>,
    sin: Vec<f32>,
}

impl Table {
    fn new(rotation: &Rotation, factors: Option<&[f32]>, start: usize, n: usize) -> Self {
        let pairs = rotation.dims / 2;
        // In f64: at position 8,000 an f32 angle would be off by up to half a thousandth of a radian.
        let frequencies: Vec<f64> =
            (0..pairs).map(|pair| frequency(rotation, pair, factors.map_or(1.0, |factors| factors[pair]))).collect();
        let magnitude = f64::from(rotation.magnitude) * yarn_magnitude(rotation.scaling);
        let angles = || (start..start + n).flat_map(|position| frequencies.iter().map(move |f| position as f64 * f));
        Self {
            pairing: rotation.pairing,
            pairs,
            cos: angles().map(|angle| (angle.cos() * magnitude) as f32).collect(),
            sin: angles().map(|angle| (angle.sin() * magnitude) as f32).collect(),
        }
    }

    /// Turns `heads`, of shape (heads, head_dim), as the token in row `row` of this table.
    pub(super) fn turn(&self, row: usize, head_dim: usize, heads: &mut [f32]) {
        let cos = &self.cos[row * self.pairs..][..self.pairs];
        let sin = &self.sin[row * self.pairs..][..self.pairs];
        let turned = |x: f32, y: f32, cos: f32, sin: f32| (x * cos - y * sin, x * sin + y * cos);
        for head in heads.chunks_exact_mut(head_dim) {
            match self.pairing {
                Pairing::Neighbours => {
                    for (pair, (&cos, &sin)) in head.as_chunks_mut::<2>().0.iter_mut().zip(cos.iter().zip(sin)) {
                        (pair[0], pair[1]) = turned(pair[0], pair[1], cos, sin);
                    }
                }
                Pairing::Halves => {
                    let (first, second) = head.split_at_mut(self.pairs);
                    for ((x, y), (&cos, &sin)) in first.iter_mut().zip(second).zip(cos.iter().zip(sin)) {
                        (*x, *y) = turned(*x, *y, cos, sin);
                    }
                }
            }
        }
    }
}

/// Radians by which a pair turns from one position to the next.
fn frequency(rotation: &Rotation, pair: usize, divisor: f32) -> f64 {
    let (base, dims) = (f64::from(rotation.base), rotation.dims as f64);
    let frequency = base.powf(-2.0 * pair as f64 / dims) / f64::from(divisor);
    match rotation.scaling {
        Scaling::None => frequency,
        Scaling::Linear { factor } => frequency / f64::from(factor),
        Scaling::Yarn { factor, original_context, ramp, fast, slow } => {
            // The pair that turns so many times within the original context.
            let pair_of =
                |turns: f32| dims * (original_context as f64 / (f64::from(turns) * TAU)).ln() / (2.0 * base.ln());
            let low = pair_of(fast).floor().max(0.0);
            let high = pair_of(slow).ceil().min(dims - 1.0);
            let slowness = ((pair as f64 - low) / (high - low).max(0.001)).clamp(0.0, 1.0);
            let unscaled = (1.0 - slowness) * f64::from(ramp);
            frequency / f64::from(factor) * (1.0 - unscaled) + frequency * unscaled
        }
    }
}

/// YaRN multiplies queries and keys, so that attention stays as sharp over longer contexts (section 3.4 of its paper).
fn yarn_magnitude(scaling: Scaling) -> f64 {
    match scaling {
        Scaling::Yarn { factor, ramp, .. } if ramp != 0.0 => 1.0 + 0.1 * f64::from(factor).ln(),
        _ => 1.0,
    }
}
