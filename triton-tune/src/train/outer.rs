//! Gradients of weights: sums over samples of products of an input and a gradient of an output.

use triton_select::model::{LANES, Lanes};

/// The inputs that are computed together.
const INPUTS: usize = 4;

/// Memory for the two operands in the order in which the loop reads them.
#[derive(Default)]
pub(super) struct Outer {
    /// For each four inputs, a row for each sample.
    inputs: Vec<[f32; INPUTS]>,
    /// For each eight outputs, a row for each sample.
    outputs: Vec<Lanes>,
}

/// Values of a layer: for each block of samples, `stride` rows of which the first `units` are used.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    pub rows: &'a [Lanes],
    pub stride: usize,
    pub units: usize,
}

impl Outer {
    /// Writes `weights[i · outputs + o] = Σ input[i] · gradient[o]` and `bias[o] = Σ gradient[o]` over all samples.
    pub fn sum(&mut self, input: Values, gradient: Values, weights: &mut [f32], bias: &mut [f32]) {
        let samples = input.rows.len() / input.stride.max(1) * LANES;
        let groups = |units: usize, of: usize| units.div_ceil(of) * samples;
        self.inputs.clear();
        self.inputs.resize(groups(input.units, INPUTS), [0.0; INPUTS]);
        for (block, rows) in input.rows.chunks_exact(input.stride).enumerate() {
            for (unit, row) in rows.iter().enumerate().take(input.units) {
                let target = &mut self.inputs[unit / INPUTS * samples + block * LANES..][..LANES];
                target.iter_mut().zip(row).for_each(|(target, &value)| target[unit % INPUTS] = value);
            }
        }
        self.outputs.clear();
        self.outputs.resize(groups(gradient.units, LANES), [0.0; LANES]);
        bias.fill(0.0);
        for (block, rows) in gradient.rows.chunks_exact(gradient.stride).enumerate() {
            for (unit, (row, bias)) in rows.iter().zip(&mut *bias).enumerate().take(gradient.units) {
                let target = &mut self.outputs[unit / LANES * samples + block * LANES..][..LANES];
                target.iter_mut().zip(row).for_each(|(target, &value)| target[unit % LANES] = value);
                *bias += row.iter().sum::<f32>();
            }
        }
        for (first_output, outputs) in (0..).step_by(LANES).zip(self.outputs.chunks_exact(samples)) {
            for (first_input, inputs) in (0..).step_by(INPUTS).zip(self.inputs.chunks_exact(samples)) {
                let sums = tile(inputs, outputs);
                for (input, sums) in (first_input..input.units).zip(&sums) {
                    let row = &mut weights[input * gradient.units..][..gradient.units][first_output..];
                    row.iter_mut().zip(sums).for_each(|(weight, &sum)| *weight = sum);
                }
            }
        }
    }
}

/// Four inputs by eight outputs, over samples.
#[inline(always)]
fn tile(inputs: &[[f32; INPUTS]], outputs: &[Lanes]) -> [Lanes; INPUTS] {
    let mut sums = [[0.0; LANES]; INPUTS];
    for (inputs, outputs) in inputs.iter().zip(outputs) {
        for (sums, input) in sums.iter_mut().zip(inputs) {
            for (sum, output) in sums.iter_mut().zip(outputs) {
                *sum += input * output;
            }
        }
    }
    sums
}
