//! Attention in `f64`.

use super::number::{Number, Total, totals};

/// The extents and options of attention.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Z.
    pub batch: usize,
    /// H: heads of q.
    pub heads: usize,
    /// G: heads of k and v.
    pub key_heads: usize,
    /// L.
    pub queries: usize,
    /// S.
    pub keys: usize,
    /// D.
    pub depth: usize,
    /// Keys before and behind its own that a query sees.
    pub window: [Option<usize>; 2],
    /// What scores are multiplied by.
    pub scale: f64,
    /// The roundoff of the element type: probabilities and gradients of scores are rounded to it before they are factors.
    pub rounding: f64,
}

impl Shape {
    /// Elements of q.
    pub fn of_q(&self) -> usize {
        self.batch * self.heads * self.queries * self.depth
    }

    /// Elements of k.
    pub fn of_k(&self) -> usize {
        self.batch * self.key_heads * self.keys * self.depth
    }

    /// Each row of scores: where its query begins in q, where its keys begin in k, and for each key whether it is seen.
    fn rows(&self) -> impl Iterator<Item = (usize, usize, Vec<bool>)> {
        let shape = *self;
        (0..self.batch * self.heads * self.queries).map(move |row| {
            let (of, i) = (row / shape.queries, row % shape.queries);
            let (batch, head) = (of / shape.heads, of % shape.heads);
            let group = shape.heads / shape.key_heads;
            let keys = (batch * shape.key_heads + head / group) * shape.keys * shape.depth;
            let own = i as i64 + shape.keys as i64 - shape.queries as i64;
            let [left, right] = shape.window;
            let seen = |j: usize| {
                let ahead = j as i64 - own;
                left.is_none_or(|left| -ahead <= left as i64) && right.is_none_or(|right| ahead <= right as i64)
            };
            (row * shape.depth, keys, (0..shape.keys).map(seen).collect())
        })
    }

    fn inner(&self, a: &[f64], b: &[f64]) -> Number {
        let mut total = Total::default();
        a[..self.depth].iter().zip(b).for_each(|(a, b)| total.add_product(*a, *b));
        total.number()
    }

    /// The probabilities of a row, and the logarithm of its sum.
    fn probabilities(&self, q: &[f64], k: &[f64], seen: &[bool]) -> (Vec<Number>, Number) {
        let least = Number::from(f64::NEG_INFINITY);
        let score = |(j, seen): (usize, &bool)| {
            if *seen { self.inner(q, &k[j * self.depth..]) * self.scale } else { least }
        };
        let scores: Vec<Number> = seen.iter().enumerate().map(score).collect();
        let most = Number::from(scores.iter().map(|score| score.value).fold(f64::NEG_INFINITY, f64::max));
        if scores.iter().all(|score| *score == least) {
            return (vec![0.0.into(); seen.len()], most);
        }
        let total: Number = scores.iter().map(|score| (*score - most).exp()).sum();
        let lse = most + total.ln();
        (scores.iter().map(|score| (*score - lse).exp()).collect(), lse)
    }

    /// The row of o of probabilities, and keys that begin there.
    fn row(&self, p: &[Number], v: &[f64]) -> Vec<Number> {
        let mut o = vec![Total::default(); self.depth];
        for (j, p) in p.iter().enumerate().filter(|(_, p)| p.value != 0.0) {
            let p = p.stored(self.rounding);
            o.iter_mut().zip(&v[j * self.depth..]).for_each(|(o, v)| *o += p * *v);
        }
        totals(o)
    }

    /// o, and the logarithms of sums.
    pub fn forward(&self, q: &[f64], k: &[f64], v: &[f64]) -> [Vec<Number>; 2] {
        let (mut o, mut sums) = (Vec::new(), Vec::new());
        for (at, keys, seen) in self.rows() {
            let (p, lse) = self.probabilities(&q[at..], &k[keys..], &seen);
            o.extend(self.row(&p, &v[keys..]));
            sums.push(lse);
        }
        [o, sums]
    }

    /// dq, dk and dv, from o, which is rounded between.
    pub fn backward(&self, q: &[f64], k: &[f64], v: &[f64], d_o: &[f64]) -> [Vec<Number>; 3] {
        let [mut dq, mut dk, mut dv] = [self.of_q(), self.of_k(), self.of_k()].map(|n| vec![Total::default(); n]);
        for (at, keys, seen) in self.rows() {
            let (p, _) = self.probabilities(&q[at..], &k[keys..], &seen);
            let o = self.row(&p, &v[keys..]);
            let mean: Number = o.iter().zip(&d_o[at..]).map(|(o, d_o)| o.stored(self.rounding) * *d_o).sum();
            for j in (0..self.keys).filter(|&j| p[j].value != 0.0) {
                let key = keys + j * self.depth;
                let dp = self.inner(&d_o[at..], &v[key..]);
                let ds = (p[j] * (dp - mean)).stored(self.rounding) * self.scale;
                let p = p[j].stored(self.rounding);
                for d in 0..self.depth {
                    dv[key + d] += p * d_o[at + d];
                    dk[key + d] += ds * q[at + d];
                    dq[at + d] += ds * k[key + d];
                }
            }
        }
        [dq, dk, dv].map(totals)
    }
}
