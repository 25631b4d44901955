//! Linear algebra over GF(2) on machine words: the arithmetic of layouts.
//!
//! A vector is a `u32`, addition is exclusive or. A matrix is the list of its columns: column `j` is the image of bit `j`.
//! Everything here is Gaussian elimination on at most a few dozen words, so no structure is kept that would need building.
//!
//! Where a system has several solutions, the one that uses the *earliest* columns is taken. Callers order their columns by
//! price (registers, then lanes, then warps), so that is the cheapest one; and it is linear in the right hand side.

/// The image of `x`: the exclusive or of the columns of its set bits. Bits beyond the columns map to 0.
pub fn apply(columns: &[u32], x: impl Into<u64>) -> u32 {
    let (mut x, mut y) = (x.into(), 0);
    while x != 0 {
        y ^= columns.get(x.trailing_zeros() as usize).copied().unwrap_or(0);
        x &= x - 1;
    }
    y
}

/// `f ∘ g`, both given by columns.
pub fn compose(f: &[u32], g: &[u32]) -> Vec<u32> {
    g.iter().map(|&column| apply(f, column)).collect()
}

/// The unit vectors of `n` bits.
pub fn units(n: usize) -> impl Iterator<Item = u32> + Clone {
    (0..n).map(|i| 1 << i)
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// Its leading bit is set in no other row.
    vector: u32,
    combination: u64,
}

/// A basis in reduced echelon form that remembers how each of its vectors was made.
#[derive(Clone, Debug, Default)]
pub struct Basis {
    /// The first `rank` of them, by leading bit, highest first. A word has 32 leading bits.
    rows: [Row; 32],
    rank: usize,
}

impl Basis {
    /// A basis of the span of `vectors`; solutions are in terms of their numbers.
    pub fn of(vectors: impl IntoIterator<Item = u32>) -> Basis {
        let mut basis = Basis::default();
        basis.extend_numbered(vectors, 0);
        basis
    }

    /// Adds vectors whose numbers in solutions begin at `first`.
    pub fn extend_numbered(&mut self, vectors: impl IntoIterator<Item = u32>, first: usize) {
        for (i, vector) in vectors.into_iter().enumerate() {
            self.add_as(vector, 1u64.checked_shl((first + i) as u32).unwrap_or(0));
        }
    }

    /// Dimension of the span.
    pub fn rank(&self) -> usize {
        self.rank
    }

    fn rows(&self) -> &[Row] {
        &self.rows[..self.rank]
    }

    /// Adds a vector if it enlarges the span; whether it did.
    pub fn add(&mut self, vector: u32) -> bool {
        self.add_as(vector, 0)
    }

    fn add_as(&mut self, vector: u32, combination: u64) -> bool {
        let (vector, combination) = self.reduce(vector, combination);
        if vector == 0 {
            return false;
        }
        let leading = 1 << vector.ilog2();
        for row in &mut self.rows[..self.rank] {
            if row.vector & leading != 0 {
                row.vector ^= vector;
                row.combination ^= combination;
            }
        }
        let at = self.rows().partition_point(|row| row.vector > vector);
        self.rows.copy_within(at..self.rank, at + 1);
        self.rows[at] = Row { vector, combination };
        self.rank += 1;
        true
    }

    /// What is left of a vector modulo the span, and the combination that was added to it on the way.
    fn reduce(&self, mut vector: u32, mut combination: u64) -> (u32, u64) {
        for row in self.rows() {
            // The leading bit is set exactly if adding the row makes the number smaller.
            if vector ^ row.vector < vector {
                vector ^= row.vector;
                combination ^= row.combination;
            }
        }
        (vector, combination)
    }

    /// Whether the vector is in the span.
    pub fn has(&self, vector: u32) -> bool {
        self.reduce(vector, 0).0 == 0
    }

    /// The vectors, by number, whose sum is `vector`; earliest ones preferred.
    pub fn solve(&self, vector: u32) -> Option<u64> {
        match self.reduce(vector, 0) {
            (0, combination) => Some(combination),
            _ => None,
        }
    }

    /// The vectors of the reduced echelon form, lowest leading bit first: the same for equal spans.
    pub fn vectors(&self) -> impl Iterator<Item = u32> + '_ {
        self.rows().iter().rev().map(|row| row.vector)
    }
}

/// Dimension of the span of `vectors`.
pub fn rank(vectors: impl IntoIterator<Item = u32>) -> usize {
    let mut basis = Basis::default();
    vectors.into_iter().filter(|&v| basis.add(v)).count()
}

/// Those of `vectors`, in order, that enlarge the span of `within` and of those kept before.
pub fn independent(vectors: impl IntoIterator<Item = u32>, within: &[u32]) -> Vec<u32> {
    let mut basis = Basis::default();
    for &vector in within {
        basis.add(vector);
    }
    vectors.into_iter().filter(|&v| basis.add(v)).collect()
}

/// An `x` with `apply(columns, x) == y`, of the earliest columns.
pub fn solve(columns: &[u32], y: u32) -> Option<u64> {
    Basis::of(columns.iter().copied()).solve(y)
}

/// A basis of what `columns` map to 0.
pub fn kernel(columns: &[u32]) -> Vec<u64> {
    let mut basis = Basis::default();
    let mut found = Vec::new();
    for (i, &column) in columns.iter().enumerate() {
        let bit = 1u64.checked_shl(i as u32).unwrap_or(0);
        match basis.reduce(column, bit) {
            (0, combination) => found.push(combination),
            (_, _) => _ = basis.add_as(column, bit),
        }
    }
    found
}

/// A basis of the intersection of two spans (Zassenhaus: what `[a | b]` maps to 0 names a vector twice).
pub fn intersect(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut both = independent(a.iter().copied(), &[]);
    let of_a = both.len();
    both.extend(independent(b.iter().copied(), &[]));
    // The halves are independent, so every kernel vector touches both and its half of `a` is not 0.
    let found = kernel(&both).into_iter().map(|k| apply(&both[..of_a], k & ((1 << of_a) - 1)));
    independent(found, &[])
}

/// The inverse of a square matrix, or `None` if it has none.
pub fn invert(columns: &[u32]) -> Option<Vec<u32>> {
    let basis = Basis::of(columns.iter().copied());
    units(columns.len()).map(|unit| basis.solve(unit).map(|x| x as u32)).collect()
}
