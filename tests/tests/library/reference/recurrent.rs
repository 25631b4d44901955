//! Recurrent layers in `f64`: steps of LSTM and GRU, sequences, and their gradients.

use super::activation::sigmoid;
use super::number::{Number, Total, exact, totals};

/// The gates i, f, g, o of a unit, c and h, from the sums of its gates.
pub fn lstm_cell(sums: [Number; 4], c: Number) -> ([Number; 4], Number, Number) {
    let [i, f, g, o] = sums;
    let (i, f, g, o) = (sigmoid(i), sigmoid(f), g.tanh(), sigmoid(o));
    let c = f * c + i * g;
    ([i, f, g, o], c, o * c.tanh())
}

/// The gradients for the sums of gates and for c, from those for h and for c after the step.
pub fn lstm_cell_backward(activated: [f64; 4], c: f64, d: Number, dc: Number) -> ([Number; 4], Number) {
    let [i, f, g, o] = activated.map(Number::from);
    let one = Number::from(1.0);
    let t = (f * c + i * g).tanh();
    let cell = dc + d * o * (one - t * t);
    let gates =
        [cell * g * (i * (one - i)), cell * c * (f * (one - f)), cell * i * (one - g * g), d * t * (o * (one - o))];
    (gates, cell * f)
}

/// The gates r, z, n of a unit and the part of n that r multiplies, and h, from the sums of the gates of x and of h.
pub fn gru_cell(of_x: [Number; 3], of_h: [Number; 3], h: Number) -> ([Number; 4], Number) {
    let (r, z) = (sigmoid(of_x[0] + of_h[0]), sigmoid(of_x[1] + of_h[1]));
    let n = (of_x[2] + r * of_h[2]).tanh();
    ([r, z, n, of_h[2]], n + z * (h - n))
}

/// The gradients for the sums of the gates of x and of h, and for h but for its product.
pub fn gru_cell_backward(activated: [f64; 4], h: f64, d: Number) -> ([Number; 3], [Number; 3], Number) {
    let [r, z, n, of_h] = activated.map(Number::from);
    let one = Number::from(1.0);
    let dz = d * (Number::from(h) - n) * (z * (one - z));
    let dn = d * (one - z) * (one - n * n);
    let dr = dn * of_h * (r * (one - r));
    ([dr, dz, dn], [dr, dz, dn * r], d * z)
}

/// A layer, whose weights have `gates` rows for each unit.
#[derive(Clone, Copy)]
pub struct Layer<'a> {
    /// Steps, rows, inputs, units.
    pub shape: [usize; 4],
    /// Of a unit: 4 of an LSTM, 3 of a GRU.
    pub gates: usize,
    /// Of x and of h.
    pub weights: [&'a [f64]; 2],
    /// Of x and of h, or empty ones.
    pub biases: [&'a [f64]; 2],
    /// The roundoff of the type in which h and the gradients of gates are stored.
    pub rounding: f64,
}

/// What a sequence gives: each step's output, the last state, and of each step the gates, h and c before it.
#[derive(Default)]
pub struct Run {
    pub y: Vec<Number>,
    pub h: Vec<Number>,
    pub c: Vec<Number>,
    pub activated: Vec<Number>,
    pub h_before: Vec<Number>,
    pub c_before: Vec<Number>,
}

/// The gradients of a sequence. Those of a GRU have no dc.
pub struct Gradients {
    pub dx: Vec<Number>,
    pub dh: Vec<Number>,
    pub dc: Vec<Number>,
    pub dw: [Vec<Number>; 2],
    pub db: [Vec<Number>; 2],
}

impl Layer<'_> {
    /// Row `row` of the weights of x or of h, times a vector.
    fn product(&self, which: usize, row: usize, x: &[Number]) -> Number {
        let weights = &self.weights[which][row * x.len()..][..x.len()];
        let sum: Number = x.iter().zip(weights).map(|(x, w)| *x * *w).sum();
        self.biases[which].get(row).map_or(sum, |bias| sum + *bias)
    }

    /// A sequence from a state.
    pub fn run(&self, x: &[f64], h: &[f64], c: &[f64]) -> Run {
        let [steps, rows, inputs, units] = self.shape;
        let mut run = Run { h: exact(h), c: exact(c), ..Run::default() };
        for place in 0..steps * rows {
            let n = place % rows;
            let x = exact(&x[place * inputs..][..inputs]);
            let past = run.h[n * units..][..units].to_vec();
            run.h_before.extend(&past);
            let mut of_step = vec![Number::default(); 4 * units];
            for j in 0..units {
                let of_x = |k: usize| self.product(0, k * units + j, &x);
                let of_h = |k: usize| self.product(1, k * units + j, &past);
                let at = n * units + j;
                let (activated, h) = if self.gates == 4 {
                    run.c_before.push(run.c[at]);
                    let (activated, c, h) = lstm_cell([0, 1, 2, 3].map(|k| of_x(k) + of_h(k)), run.c[at]);
                    run.c[at] = c;
                    (activated, h)
                } else {
                    gru_cell([0, 1, 2].map(of_x), [0, 1, 2].map(of_h), past[j])
                };
                (0..4).for_each(|k| of_step[k * units + j] = activated[k]);
                run.y.push(h);
                run.h[at] = h.stored(self.rounding);
            }
            run.activated.extend(of_step);
        }
        run
    }

    /// The gradients, from what a sequence stored: gates, h and c before each step.
    pub fn backward(&self, x: &[f64], stored: [&[f64]; 3], dy: &[f64], dh: &[f64], dc: &[f64]) -> Gradients {
        let ([steps, rows, inputs, units], [activated, h_before, c_before]) = (self.shape, stored);
        let (mut dh, mut dc) = (exact(dh), exact(dc));
        let count = self.gates * units;
        let [mut of_x, mut of_h] = [(); 2].map(|()| vec![Number::default(); steps * rows * count]);
        for place in (0..steps * rows).rev() {
            let n = place % rows;
            let mut next = vec![Number::default(); units];
            for j in 0..units {
                let (at, from) = (place * units + j, n * units + j);
                let values = [0, 1, 2, 3].map(|k| activated[(place * 4 + k) * units + j]);
                let d = dh[from] + dy[at];
                let mut put = |k: usize, x: Number, h: Number| {
                    of_x[place * count + k * units + j] = x.stored(self.rounding);
                    of_h[place * count + k * units + j] = h.stored(self.rounding);
                };
                if self.gates == 4 {
                    let (gates, of_c) = lstm_cell_backward(values, c_before[at], d, dc[from]);
                    (0..4).for_each(|k| put(k, gates[k], gates[k]));
                    dc[from] = of_c;
                } else {
                    let (gates_x, gates_h, direct) = gru_cell_backward(values, h_before[at], d);
                    (0..3).for_each(|k| put(k, gates_x[k], gates_h[k]));
                    next[j] = direct;
                }
            }
            let dgates = &of_h[place * count..][..count];
            for (j, direct) in next.into_iter().enumerate() {
                let through: Number = dgates.iter().enumerate().map(|(k, d)| *d * self.weights[1][k * units + j]).sum();
                dh[n * units + j] = direct + through;
            }
        }
        let dx_of = |place: usize, i: usize| {
            let dgates = &of_x[place * count..][..count];
            dgates.iter().enumerate().map(|(k, d)| *d * self.weights[0][k * inputs + i]).sum::<Number>()
        };
        let dx =
            (0..steps * rows).flat_map(|place| (0..inputs).map(move |i| (place, i))).map(|(place, i)| dx_of(place, i));
        let dw = |dgates: &[Number], x: &[f64], width: usize| {
            let mut sums = vec![Total::default(); count * width];
            for place in 0..steps * rows {
                for (k, i) in (0..count).flat_map(|k| (0..width).map(move |i| (k, i))) {
                    sums[k * width + i] += dgates[place * count + k] * x[place * width + i];
                }
            }
            totals(sums)
        };
        let db = |dgates: &[Number]| {
            let mut sums = vec![Total::default(); count];
            dgates.iter().enumerate().for_each(|(at, d)| sums[at % count] += *d);
            totals(sums)
        };
        let (dw, db) = ([dw(&of_x, x, inputs), dw(&of_h, h_before, units)], [db(&of_x), db(&of_h)]);
        Gradients { dx: dx.collect(), dh, dc, dw, db }
    }
}
