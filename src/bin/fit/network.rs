//! The network forwards, keeping what its gradient needs, and backwards. `shape` says what it computes.

use crate::corpus::{Found, Random, Turn};
use crate::matrix::add_product;
use crate::shape::{CASES, E, GATES, H, Layout, MARKS, PADDED, Tensor, neighbour, nth, sigmoid, tanh};

/// Parameters before any training.
pub fn random(layout: &Layout, random: &mut Random) -> Vec<f32> {
    let mut parameters = vec![0.0; layout.len];
    let mut fill = |tensor: &Tensor, most: f32| {
        parameters[tensor.range.clone()].iter_mut().for_each(|x| *x = random.within(most));
    };
    fill(&layout.table, 0.1);
    for tensor in layout.gates.iter().flatten() {
        fill(tensor, (3.0 / tensor.rows as f32).sqrt());
    }
    // Cells that remember from the start.
    for bias in layout.gate_biases.iter().flatten() {
        parameters[bias.range.start + H..bias.range.start + 2 * H].fill(1.0);
    }
    parameters
}

/// The likeliest mark after each word of `turn`, and the likeliest case; after the last one, the likelier sentence end.
pub fn best(parameters: &[f32], layout: &Layout, turn: &Turn) -> Found {
    let mut workspace = Workspace::default();
    workspace.forward(parameters, layout, &turn.rows);
    let n = turn.rows.len();
    let best = |p: &[f32], from: usize| (from..p.len()).max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap_or(from) as u8;
    let marks = workspace.logits.chunks_exact(PADDED).enumerate();
    let marks = marks.map(|(t, out)| best(&out[..MARKS], if t + 1 == n { 2 } else { 0 })).collect();
    let cases = workspace.logits.chunks_exact(PADDED).map(|out| best(&out[MARKS..MARKS + CASES], 0)).collect();
    (marks, cases)
}

/// The log-probability of each mark after each word of `turn`.
pub fn mark_scores(parameters: &[f32], layout: &Layout, turn: &Turn) -> Vec<[f32; MARKS]> {
    let mut workspace = Workspace::default();
    workspace.forward(parameters, layout, &turn.rows);
    let scores = |out: &[f32]| {
        let most = out[..MARKS].iter().copied().fold(f32::MIN, f32::max);
        let sum: f32 = out[..MARKS].iter().map(|x| (x - most).exp()).sum();
        std::array::from_fn(|mark| out[mark] - most - sum.ln())
    };
    workspace.logits.chunks_exact(PADDED).map(scores).collect()
}

/// The activations of one turn and the gradients on their way back; kept for the next turn's.
#[derive(Default)]
pub struct Workspace {
    words: Vec<f32>,      // (n,E)
    pairs: [Vec<f32>; 2], // (n,2E) for each direction
    layers: [Layer; 2],
    sides: Vec<f32>,  // (n,2H)
    logits: Vec<f32>, // (n,PADDED)
    d_logits: Vec<f32>,
    d_sides: Vec<f32>,
    d_gates: Vec<f32>, // (n,GATES)
    d_pairs: Vec<f32>,
    d_words: Vec<f32>,
}

#[derive(Default)]
struct Layer {
    gates: [Vec<f32>; 2], // (n,GATES), activated
    cells: [Vec<f32>; 2], // (n,H)
    out: Vec<f32>,        // (n,2H)
    d_out: Vec<f32>,
}

fn clear(values: &mut Vec<f32>, len: usize) {
    values.clear();
    values.resize(len, 0.0);
}

fn get<'a>(parameters: &'a [f32], tensor: &Tensor) -> &'a [f32] {
    &parameters[tensor.range.clone()]
}

/// out (n,columns) = inputs (n,rows) @ weights + bias
fn product(parameters: &[f32], weights: &Tensor, bias: &Tensor, inputs: &[f32], out: &mut Vec<f32>) {
    let n = inputs.len() / weights.rows;
    out.clear();
    (0..n).for_each(|_| out.extend_from_slice(get(parameters, bias)));
    add_product(out, inputs, (weights.rows, 1), get(parameters, weights), (n, weights.rows, weights.columns));
}

impl Workspace {
    pub fn forward(&mut self, parameters: &[f32], layout: &Layout, rows: &[[usize; 3]]) {
        let n = rows.len();
        clear(&mut self.words, n * E);
        let table = get(parameters, &layout.table);
        for (word, rows) in self.words.chunks_exact_mut(E).zip(rows) {
            for row in rows {
                word.iter_mut().zip(&table[row * E..][..E]).for_each(|(x, w)| *x += w);
            }
        }
        let [first, second] = &mut self.layers;
        clear(&mut first.out, n * 2 * H);
        clear(&mut second.out, n * 2 * H);
        for direction in 0..2 {
            let pairs = &mut self.pairs[direction];
            clear(pairs, n * 2 * E);
            for (t, pair) in pairs.chunks_exact_mut(2 * E).enumerate() {
                pair[..E].copy_from_slice(&self.words[t * E..][..E]);
                if let Some(beside) = neighbour(t, n, direction) {
                    pair[E..].copy_from_slice(&self.words[beside * E..][..E]);
                }
            }
            first.forward(parameters, layout, 0, direction, pairs);
        }
        for direction in 0..2 {
            second.forward(parameters, layout, 1, direction, &first.out);
        }
        clear(&mut self.sides, n * 2 * H);
        for (t, side) in self.sides.chunks_exact_mut(2 * H).enumerate() {
            side[..H].copy_from_slice(&second.out[t * 2 * H..][..H]);
            if t + 1 < n {
                side[H..].copy_from_slice(&second.out[(t + 1) * 2 * H + H..][..H]);
            }
        }
        product(parameters, &layout.output, &layout.output_bias, &self.sides, &mut self.logits);
    }
}

/// The gradient of the cross-entropy of `label` under the softmax of `logits`, into `d`; returns the cross-entropy.
/// A label that is none of the classes is unknown.
fn cross_entropy(logits: &[f32], label: u8, d: &mut [f32]) -> f32 {
    let label = usize::from(label);
    if label >= logits.len() {
        return 0.0;
    }
    let most = logits.iter().copied().fold(f32::MIN, f32::max);
    let sum: f32 = logits.iter().map(|x| (x - most).exp()).sum();
    for (d, x) in d.iter_mut().zip(logits) {
        *d = (x - most).exp() / sum;
    }
    let p = d[label];
    d[label] -= 1.0;
    -p.max(1e-9).ln()
}

impl Layer {
    fn forward(&mut self, parameters: &[f32], layout: &Layout, layer: usize, direction: usize, inputs: &[f32]) {
        let (gates, cells) = (&mut self.gates[direction], &mut self.cells[direction]);
        let (weights, bias) = (&layout.gates[layer][direction], &layout.gate_biases[layer][direction]);
        product(parameters, weights, bias, inputs, gates);
        let n = gates.len() / GATES;
        clear(cells, n * H);
        let mut cell = [0.0_f32; H];
        for step in 0..n {
            let t = nth(step, n, direction);
            let (x, rest) = gates[t * GATES..][..GATES].split_at_mut(H);
            let (keep, open) = rest.split_at_mut(H);
            let out = &mut self.out[t * 2 * H + direction * H..][..H];
            for j in 0..H {
                (x[j], keep[j], open[j]) = (tanh(x[j]), sigmoid(keep[j]), sigmoid(open[j]));
                cell[j] = keep[j] * cell[j] + (1.0 - keep[j]) * x[j];
                out[j] = open[j] * cell[j];
            }
            cells[t * H..][..H].copy_from_slice(&cell);
        }
    }

    /// From `d_out` to the gradient `d_gates` before the activations.
    fn backward(&self, direction: usize, d_gates: &mut Vec<f32>) {
        let (gates, cells) = (&self.gates[direction], &self.cells[direction]);
        let n = gates.len() / GATES;
        clear(d_gates, n * GATES);
        let mut d_cell = [0.0_f32; H];
        for step in (0..n).rev() {
            let t = nth(step, n, direction);
            let before = step.checked_sub(1).map(|step| nth(step, n, direction));
            for j in 0..H {
                let (x, keep, open) = (gates[t * GATES + j], gates[t * GATES + H + j], gates[t * GATES + 2 * H + j]);
                let (cell, before) = (cells[t * H + j], before.map_or(0.0, |before| cells[before * H + j]));
                let d = self.d_out[t * 2 * H + direction * H + j];
                let dc = d_cell[j] + d * open;
                d_gates[t * GATES + j] = dc * (1.0 - keep) * (1.0 - x * x);
                d_gates[t * GATES + H + j] = dc * (before - x) * keep * (1.0 - keep);
                d_gates[t * GATES + 2 * H + j] = d * cell * open * (1.0 - open);
                d_cell[j] = dc * keep;
            }
        }
    }
}

/// The weights turned, for gradients of inputs.
pub struct Transposed {
    gates: [[Vec<f32>; 2]; 2],
    output: Vec<f32>,
}

impl Transposed {
    pub fn new(parameters: &[f32], layout: &Layout) -> Self {
        let turned = |tensor: &Tensor| {
            let weights = get(parameters, tensor);
            let mut out = vec![0.0; weights.len()];
            for (i, row) in weights.chunks_exact(tensor.columns).enumerate() {
                row.iter().enumerate().for_each(|(j, w)| out[j * tensor.rows + i] = *w);
            }
            out
        };
        Self {
            gates: layout.gates.each_ref().map(|layer| layer.each_ref().map(turned)),
            output: turned(&layout.output),
        }
    }
}

/// The gradient of the cross-entropy, summed over words, and the cross-entropy.
pub struct Gradients {
    pub sums: Vec<f32>,
    pub loss: f32,
}

impl Gradients {
    pub fn new(layout: &Layout) -> Self {
        Self { sums: vec![0.0; layout.len], loss: 0.0 }
    }

    pub fn add(
        &mut self,
        parameters: &[f32],
        layout: &Layout,
        transposed: &Transposed,
        turn: &Turn,
        space: &mut Workspace,
    ) {
        let n = turn.rows.len();
        space.forward(parameters, layout, &turn.rows);

        let mut d_logits = std::mem::take(&mut space.d_logits);
        clear(&mut d_logits, n * PADDED);
        let outputs = d_logits.chunks_exact_mut(PADDED).zip(space.logits.chunks_exact(PADDED));
        for ((d, out), (&mark, &case)) in outputs.zip(turn.marks.iter().zip(&turn.cases)) {
            self.loss += cross_entropy(&out[..MARKS], mark, &mut d[..MARKS]);
            let cases = MARKS..MARKS + CASES;
            self.loss += cross_entropy(&out[cases.clone()], case, &mut d[cases]);
        }
        self.add_weights(&layout.output, &layout.output_bias, &space.sides, &d_logits);
        clear(&mut space.d_sides, n * 2 * H);
        add_product(&mut space.d_sides, &d_logits, (PADDED, 1), &transposed.output, (n, PADDED, 2 * H));
        space.d_logits = d_logits;

        let [first, second] = &mut space.layers;
        clear(&mut second.d_out, n * 2 * H);
        for (t, d) in space.d_sides.chunks_exact(2 * H).enumerate() {
            second.d_out[t * 2 * H..][..H].copy_from_slice(&d[..H]);
            if t + 1 < n {
                second.d_out[(t + 1) * 2 * H + H..][..H].copy_from_slice(&d[H..]);
            }
        }
        clear(&mut first.d_out, n * 2 * H);
        for direction in 0..2 {
            second.backward(direction, &mut space.d_gates);
            let (weights, bias) = (&layout.gates[1][direction], &layout.gate_biases[1][direction]);
            self.add_weights(weights, bias, &first.out, &space.d_gates);
            let turned = &transposed.gates[1][direction];
            add_product(&mut first.d_out, &space.d_gates, (GATES, 1), turned, (n, GATES, 2 * H));
        }
        clear(&mut space.d_words, n * E);
        for direction in 0..2 {
            first.backward(direction, &mut space.d_gates);
            let (weights, bias) = (&layout.gates[0][direction], &layout.gate_biases[0][direction]);
            self.add_weights(weights, bias, &space.pairs[direction], &space.d_gates);
            clear(&mut space.d_pairs, n * 2 * E);
            let turned = &transposed.gates[0][direction];
            add_product(&mut space.d_pairs, &space.d_gates, (GATES, 1), turned, (n, GATES, 2 * E));
            for (t, d) in space.d_pairs.chunks_exact(2 * E).enumerate() {
                let mut add = |t: usize, d: &[f32]| {
                    space.d_words[t * E..][..E].iter_mut().zip(d).for_each(|(sum, d)| *sum += d);
                };
                add(t, &d[..E]);
                if let Some(beside) = neighbour(t, n, direction) {
                    add(beside, &d[E..]);
                }
            }
        }
        let table = &mut self.sums[layout.table.range.clone()];
        for (rows, d) in turn.rows.iter().zip(space.d_words.chunks_exact(E)) {
            for row in rows {
                table[row * E..][..E].iter_mut().zip(d).for_each(|(sum, d)| *sum += d);
            }
        }
    }

    /// For out = inputs @ weights + bias, and `d` the gradient of out: weights += inputsᵀ @ d, bias += Σ d.
    fn add_weights(&mut self, weights: &Tensor, bias: &Tensor, inputs: &[f32], d: &[f32]) {
        let n = d.len() / weights.columns;
        let sums = &mut self.sums[weights.range.clone()];
        add_product(sums, inputs, (1, weights.rows), d, (weights.rows, n, weights.columns));
        let sums = &mut self.sums[bias.range.clone()];
        for d in d.chunks_exact(weights.columns) {
            sums.iter_mut().zip(d).for_each(|(sum, d)| *sum += d);
        }
    }
}
