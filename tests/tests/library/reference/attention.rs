//! Attention in `f64`.

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

    fn inner(&self, a: &[f64], b: &[f64]) -> f64 {
        a[..self.depth].iter().zip(b).map(|(a, b)| a * b).sum()
    }

    /// The probabilities of a row, and the logarithm of its sum.
    fn probabilities(&self, q: &[f64], k: &[f64], seen: &[bool]) -> (Vec<f64>, f64) {
        let score = |(j, seen): (usize, &bool)| {
            if *seen { self.scale * self.inner(q, &k[j * self.depth..]) } else { f64::NEG_INFINITY }
        };
        let scores: Vec<f64> = seen.iter().enumerate().map(score).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if scores.iter().all(|score| *score == f64::NEG_INFINITY) {
            return (vec![0.0; seen.len()], most);
        }
        let total: f64 = scores.iter().map(|score| (score - most).exp()).sum();
        let lse = most + total.ln();
        (scores.iter().map(|score| (score - lse).exp()).collect(), lse)
    }

    /// o, and the logarithms of sums.
    pub fn forward(&self, q: &[f64], k: &[f64], v: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut o, mut sums) = (vec![0.0; self.of_q()], Vec::new());
        for (at, keys, seen) in self.rows() {
            let (p, lse) = self.probabilities(&q[at..], &k[keys..], &seen);
            for (j, p) in p.iter().enumerate().filter(|(_, p)| **p != 0.0) {
                (0..self.depth).for_each(|d| o[at + d] += p * v[keys + j * self.depth + d]);
            }
            sums.push(lse);
        }
        (o, sums)
    }

    /// dq, dk and dv.
    pub fn backward(&self, q: &[f64], k: &[f64], v: &[f64], d_o: &[f64]) -> [Vec<f64>; 3] {
        let (mut dq, mut dk, mut dv) = (vec![0.0; self.of_q()], vec![0.0; self.of_k()], vec![0.0; self.of_k()]);
        for (at, keys, seen) in self.rows() {
            let (p, _) = self.probabilities(&q[at..], &k[keys..], &seen);
            let dp: Vec<f64> = (0..self.keys).map(|j| self.inner(&d_o[at..], &v[keys + j * self.depth..])).collect();
            let mean: f64 = p.iter().zip(&dp).filter(|(p, _)| **p != 0.0).map(|(p, dp)| p * dp).sum();
            for j in (0..self.keys).filter(|&j| p[j] != 0.0) {
                let (key, ds) = (keys + j * self.depth, p[j] * (dp[j] - mean) * self.scale);
                for d in 0..self.depth {
                    dv[key + d] += p[j] * d_o[at + d];
                    dk[key + d] += ds * q[at + d];
                    dq[at + d] += ds * k[key + d];
                }
            }
        }
        [dq, dk, dv]
    }
}
