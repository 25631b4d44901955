//! Attention of one head in `f64`, dense: what is added to scores is −∞ where there is no block.

use super::number::{Number, Total, totals};
use super::softmax::softmax_of;

/// a · b of `[m, k]` and `[k, n]`.
pub fn product<A: Into<Number> + Copy>(a: &[A], b: &[f64], [m, k, n]: [usize; 3]) -> Vec<Number> {
    let mut c = vec![Total::default(); m * n];
    for (i, row) in c.chunks_mut(n.max(1)).enumerate() {
        let of_row = a[i * k..][..k].iter().map(|a| (*a).into()).enumerate();
        for (s, a) in of_row.filter(|(_, a): &(usize, Number)| a.value != 0.0) {
            row.iter_mut().zip(&b[s * n..]).for_each(|(c, b)| *c += a * *b);
        }
    }
    totals(c)
}

/// The transpose of x, `[m, n]`.
pub fn transposed<A: Copy>(x: &[A], [m, n]: [usize; 2]) -> Vec<A> {
    (0..n * m).map(|at| x[at % m * n + at / m]).collect()
}

/// q · kᵀ, 0 where `there` does not hold.
pub fn scores(q: &[f64], k: &[f64], depth: usize, there: impl Fn(usize, usize) -> bool) -> Vec<Number> {
    let [queries, keys] = [q, k].map(|x| x.len().checked_div(depth).unwrap_or(0));
    let dot = |i: usize, j: usize| {
        let mut total = Total::default();
        q[i * depth..][..depth].iter().zip(&k[j * depth..]).for_each(|(q, k)| total.add_product(*q, *k));
        total.number()
    };
    let of = |i: usize, j: usize| if there(i, j) { dot(i, j) } else { 0.0.into() };
    (0..queries).flat_map(|i| (0..keys).map(move |j| (i, j))).map(|(i, j)| of(i, j)).collect()
}

/// Softmax along rows of `keys` elements; 0 where all are −∞.
pub fn softmax(x: &[Number], keys: usize) -> Vec<Number> {
    x.chunks(keys.max(1)).flat_map(|row| softmax_of(row, false)).collect()
}

/// The gradient for x of p = softmax(scale · x).
pub fn softmax_backward(p: &[Number], dp: &[Number], keys: usize, scale: f64) -> Vec<Number> {
    let mut dx = Vec::with_capacity(p.len());
    for (p, dp) in p.chunks(keys.max(1)).zip(dp.chunks(keys.max(1))) {
        let total: Number = p.iter().zip(dp).map(|(p, dp)| *p * *dp).sum();
        dx.extend(p.iter().zip(dp).map(|(p, dp)| *p * (*dp - total) * scale));
    }
    dx
}

/// Operands of attention: q `[queries, depth]`, k and v `[keys, depth]`, and what is added to scores, `[queries, keys]`.
#[derive(Clone, Copy, Debug)]
pub struct Attention<'a> {
    /// Queries.
    pub q: &'a [f64],
    /// Keys.
    pub k: &'a [f64],
    /// Values.
    pub v: &'a [f64],
    /// What is added to scores: −∞ excludes.
    pub added: &'a [f64],
    /// Elements of a query.
    pub depth: usize,
    /// What scores are multiplied by.
    pub scale: f64,
    /// The roundoff of the element type, to which all is rounded that is stored between launches.
    pub rounding: f64,
}

/// Gradients of attention.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// For queries.
    pub q: Vec<Number>,
    /// For keys.
    pub k: Vec<Number>,
    /// For values.
    pub v: Vec<Number>,
    /// For what is added to scores.
    pub added: Vec<Number>,
}

impl Attention<'_> {
    fn tokens(&self) -> [usize; 2] {
        [self.q, self.k].map(|x| x.len() / self.depth.max(1))
    }

    fn stored(&self, x: Vec<Number>) -> Vec<Number> {
        x.into_iter().map(|x| x.stored(self.rounding)).collect()
    }

    /// The probabilities, `[queries, keys]`.
    pub fn probabilities(&self) -> Vec<Number> {
        let keys = self.tokens()[1];
        let is_seen = |i: usize, j: usize| self.added[i * keys + j] > f64::NEG_INFINITY;
        let x = self.stored(scores(self.q, self.k, self.depth, is_seen));
        let x: Vec<Number> = x.iter().zip(self.added).map(|(x, added)| *x * self.scale + *added).collect();
        self.stored(softmax(&x, keys))
    }

    /// The result, `[queries, depth]`.
    pub fn output(&self) -> Vec<Number> {
        let [queries, keys] = self.tokens();
        product(&self.probabilities(), self.v, [queries, keys, self.depth])
    }

    /// The gradients from that of the result.
    pub fn backward(&self, d_out: &[f64]) -> Gradients {
        let ([queries, keys], depth) = (self.tokens(), self.depth);
        let p = self.probabilities();
        let dp = self.stored(scores(d_out, self.v, depth, |i, j| p[i * keys + j].value != 0.0));
        let added = softmax_backward(&p, &dp, keys, 1.0);
        let dx = self.stored(added.iter().map(|dx| *dx * self.scale).collect());
        let down = transposed(&dx, [queries, keys]);
        Gradients {
            q: product(&dx, self.k, [queries, keys, depth]),
            k: product(&down, self.q, [keys, queries, depth]),
            v: product(&transposed(&p, [queries, keys]), d_out, [keys, queries, depth]),
            added,
        }
    }
}
