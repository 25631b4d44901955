//! A layer applied to several columns at once, written so that the compiler vectorises it.
//!
//! Values of [`LANES`] candidates are adjacent: one unit of them is a row of floats. A tile of four units and eight lanes is
//! accumulated in registers, which fit the sixteen 128-bit registers of any x86-64, and wider ones where a program is built for them.

/// The candidates that are computed together.
pub const LANES: usize = 8;
/// The units that are computed together.
const UNITS: usize = 4;

/// One unit's values of some candidates.
pub type Lanes = [f32; LANES];

/// The weights and biases of a layer in the order in which the loop reads them.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    inputs: usize,
    /// Of four outputs, one row after another of an input's weights; padded with zeros.
    weights: Vec<[f32; UNITS]>,
    bias: Vec<[f32; UNITS]>,
}

impl Packed {
    /// A layer of `inputs · outputs` weights, read by `weight(input, output)`, and of a bias for each output, or none.
    pub fn new(inputs: usize, outputs: usize, bias: Option<&[f32]>, weight: impl Fn(usize, usize) -> f32) -> Self {
        let mut packed = Self::default();
        packed.assign(inputs, outputs, bias, weight);
        packed
    }

    /// As [`Packed::new`], in the memory of this one.
    pub fn assign(
        &mut self,
        inputs: usize,
        outputs: usize,
        bias: Option<&[f32]>,
        weight: impl Fn(usize, usize) -> f32,
    ) {
        self.inputs = inputs;
        self.weights.clear();
        self.bias.clear();
        for first in (0..outputs).step_by(UNITS) {
            let of = |unit: usize, value: &dyn Fn(usize) -> f32| {
                if first + unit < outputs { value(first + unit) } else { 0.0 }
            };
            for input in 0..inputs {
                self.weights.push(std::array::from_fn(|unit| of(unit, &|output| weight(input, output))));
            }
            self.bias.push(std::array::from_fn(|unit| {
                of(unit, &|output| bias.and_then(|bias| bias.get(output)).copied().unwrap_or(0.0))
            }));
        }
    }

    /// The rows that [`Packed::apply`] writes: the outputs, rounded up to a multiple of four.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.bias.len() * UNITS
    }

    /// Computes `output = weightsᵀ · input + bias`, and `max(0, ·)` of it if `relu`.
    ///
    /// Rows that are missing in `input` count as zero; rows past [`Packed::rows`] of `output` stay as they are.
    pub fn apply(&self, relu: bool, input: &[Lanes], output: &mut [Lanes]) {
        if self.inputs == 0 {
            return;
        }
        let tiles = self.weights.chunks_exact(self.inputs).zip(&self.bias);
        for ((weights, bias), output) in tiles.zip(output.chunks_exact_mut(UNITS)) {
            let mut sums = tile(weights, input, bias);
            if relu {
                for value in sums.as_flattened_mut() {
                    *value = value.max(0.0);
                }
            }
            output.copy_from_slice(&sums);
        }
    }
}

/// Four units of eight lanes.
#[inline(always)]
fn tile(weights: &[[f32; UNITS]], input: &[Lanes], bias: &[f32; UNITS]) -> [Lanes; UNITS] {
    let mut sums = bias.map(|bias| [bias; LANES]);
    for (weights, input) in weights.iter().zip(input) {
        for (sums, weight) in sums.iter_mut().zip(weights) {
            for (sum, value) in sums.iter_mut().zip(input) {
                *sum += weight * value;
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_agree_with_plain_sums() {
        for (inputs, outputs) in [(1, 1), (3, 4), (5, 6), (16, 33)] {
            let weight = |input: usize, output: usize| (input * 7 + output * 3) as f32 % 5.0 - 2.0;
            let bias: Vec<f32> = (0..outputs).map(|output| output as f32 - 2.0).collect();
            let packed = Packed::new(inputs, outputs, Some(&bias), weight);
            let input: Vec<Lanes> =
                (0..inputs).map(|input| std::array::from_fn(|lane| (input + lane) as f32 - 3.0)).collect();
            for relu in [false, true] {
                let mut output = vec![[0.0; LANES]; packed.rows()];
                packed.apply(relu, &input, &mut output);
                for (unit, found) in output.iter().take(outputs).enumerate() {
                    for (lane, found) in found.iter().enumerate() {
                        let sum: f32 = (0..inputs).map(|i| weight(i, unit) * input[i][lane]).sum();
                        let expected = if relu { (sum + bias[unit]).max(0.0) } else { sum + bias[unit] };
                        assert_eq!(*found, expected, "{inputs} inputs, unit {unit} of {outputs}, lane {lane}");
                    }
                }
            }
        }
    }
}
