//! Attention of one head in `f64`, dense: what is added to scores is −∞ where there is no block.

/// a · b of `[m, k]` and `[k, n]`.
pub fn product(a: &[f64], b: &[f64], [m, k, n]: [usize; 3]) -> Vec<f64> {
    let mut c = vec![0.0; m * n];
    for (i, row) in c.chunks_mut(n.max(1)).enumerate() {
        for (s, a) in a[i * k..][..k].iter().enumerate().filter(|(_, a)| **a != 0.0) {
            row.iter_mut().zip(&b[s * n..]).for_each(|(c, b)| *c += a * b);
        }
    }
    c
}

/// The transpose of x, `[m, n]`.
pub fn transposed(x: &[f64], [m, n]: [usize; 2]) -> Vec<f64> {
    (0..n * m).map(|at| x[at % m * n + at / m]).collect()
}

/// q · kᵀ, 0 where `there` does not hold.
pub fn scores(q: &[f64], k: &[f64], depth: usize, there: impl Fn(usize, usize) -> bool) -> Vec<f64> {
    let [queries, keys] = [q, k].map(|x| x.len().checked_div(depth).unwrap_or(0));
    let dot = |i: usize, j: usize| q[i * depth..][..depth].iter().zip(&k[j * depth..]).map(|(q, k)| q * k).sum();
    let of = |i: usize, j: usize| if there(i, j) { dot(i, j) } else { 0.0 };
    (0..queries).flat_map(|i| (0..keys).map(move |j| (i, j))).map(|(i, j)| of(i, j)).collect()
}

/// Softmax along rows of `keys` elements; 0 where all are −∞.
pub fn softmax(x: &[f64], keys: usize) -> Vec<f64> {
    let mut y = Vec::with_capacity(x.len());
    for row in x.chunks(keys.max(1)) {
        let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = row.iter().map(|x| if *x > f64::NEG_INFINITY { (x - most).exp() } else { 0.0 }).sum();
        y.extend(row.iter().map(|x| if *x > f64::NEG_INFINITY { (x - most).exp() / total } else { 0.0 }));
    }
    y
}

/// The gradient for x of p = softmax(scale · x).
pub fn softmax_backward(p: &[f64], dp: &[f64], keys: usize, scale: f64) -> Vec<f64> {
    let mut dx = Vec::with_capacity(p.len());
    for (p, dp) in p.chunks(keys.max(1)).zip(dp.chunks(keys.max(1))) {
        let total: f64 = p.iter().zip(dp).map(|(p, dp)| p * dp).sum();
        dx.extend(p.iter().zip(dp).map(|(p, dp)| scale * p * (dp - total)));
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
}

/// Gradients of attention.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// For queries.
    pub q: Vec<f64>,
    /// For keys.
    pub k: Vec<f64>,
    /// For values.
    pub v: Vec<f64>,
    /// For what is added to scores.
    pub added: Vec<f64>,
}

impl Attention<'_> {
    fn tokens(&self) -> [usize; 2] {
        [self.q, self.k].map(|x| x.len() / self.depth.max(1))
    }

    /// The probabilities, `[queries, keys]`.
    pub fn probabilities(&self) -> Vec<f64> {
        let keys = self.tokens()[1];
        let is_seen = |i: usize, j: usize| self.added[i * keys + j] > f64::NEG_INFINITY;
        let x = scores(self.q, self.k, self.depth, is_seen);
        softmax(&x.iter().zip(self.added).map(|(x, added)| x * self.scale + added).collect::<Vec<_>>(), keys)
    }

    /// The result, `[queries, depth]`.
    pub fn output(&self) -> Vec<f64> {
        let [queries, keys] = self.tokens();
        product(&self.probabilities(), self.v, [queries, keys, self.depth])
    }

    /// The gradients from that of the result.
    pub fn backward(&self, d_out: &[f64]) -> Gradients {
        let ([queries, keys], depth) = (self.tokens(), self.depth);
        let p = self.probabilities();
        let dp = scores(d_out, self.v, depth, |i, j| p[i * keys + j] != 0.0);
        let added = softmax_backward(&p, &dp, keys, 1.0);
        let dx: Vec<f64> = added.iter().map(|dx| dx * self.scale).collect();
        let down = transposed(&dx, [queries, keys]);
        Gradients {
            q: product(&dx, self.k, [queries, keys, depth]),
            k: product(&down, self.q, [keys, queries, depth]),
            v: product(&transposed(&p, [queries, keys]), d_out, [keys, queries, depth]),
            added,
        }
    }
}
