//! Random steps without control flow: elementwise operations, changes of shape, pairs, reductions, scans, products.

use super::program::{Gen, Tile, dims, elements, reshapes, ty};
use triton_core::types::{Class, DType};

/// Buffers after which a program takes no further step: a test launches at most 40 parameters.
const MOST_BUFFERS: usize = 24;

/// Elements of a sum.
const MOST_SUMS: u32 = 4096;

/// Multiplications of a matrix product: `ptxas` took a minute for three times as many by one warp.
const MOST_PRODUCTS: u32 = 1 << 17;

/// Elements of a tile that is joined with another.
const MOST_JOINED: u32 = 4096;

impl Gen<'_> {
    /// One more operation, or a few that belong together.
    pub fn step(&mut self) {
        if self.buffers.len() + self.axes.len() > MOST_BUFFERS {
            return;
        }
        match self.random.below(38) {
            0..6 => self.elementwise(),
            6..8 => self.compare(),
            8..10 => self.convert(),
            10..13 => self.permute(),
            13 => {
                let (tile, shape) = (self.tile(), self.shape());
                self.fit(&tile, &shape);
            }
            14..17 => self.reduce(),
            17 => {
                let (dtype, shape, small) = (self.any_type(), self.shape(), self.random.once_in(2));
                self.load(dtype, &shape, small);
            }
            18 => self.product(),
            19..22 => self.in_place(),
            22 => self.count(),
            23 if self.depth < 2 => self.branch(),
            24 if self.depth < 2 => self.repeat(),
            25 if self.depth < 2 => self.repeat_while(),
            26 => self.exponential(),
            27 => self.assertion(),
            28 if self.depth < 2 => self.walk(),
            29..34 => self.view(),
            34 | 35 => self.scan(),
            36 => self.join(),
            37 => self.split(),
            _ => self.elementwise(),
        }
    }

    fn elementwise(&mut self) {
        let a = self.tile();
        let (id, dtype, shape) = (a.id, a.dtype, a.shape.clone());
        let what = match (dtype.class(), self.random.below(8)) {
            (Class::Bool, 0) | (Class::Signed | Class::Unsigned, 1) => format!("not v{id}"),
            (Class::Signed | Class::Float, 0) => format!("{} v{id}", self.random.pick(&["abs", "neg"])),
            (Class::Signed | Class::Unsigned, 2) => {
                let by = self.divisor();
                let by = self.constant(by, dtype, &shape);
                format!("{} v{id}, v{by}", self.random.pick(&["div", "rem"]))
            }
            (Class::Float, 1) => {
                let (b, c) = (self.operand(dtype, &shape), self.operand(dtype, &shape));
                format!("fma v{id}, v{}, v{}", b.id, c.id)
            }
            (Class::Float, 2) => {
                // What is approximated differs between devices.
                let exact = ["sqrt", "floor", "ceil", "trunc", "sin", "cos", "log", "log2"];
                let words = if dtype == DType::F64 { &exact[..4] } else { &exact };
                format!("{} v{id}", self.random.pick(words))
            }
            (class, _) => {
                let words: &[&str] = match class {
                    Class::Bool => &["and", "or", "xor"],
                    Class::Signed | Class::Unsigned => {
                        &["add", "sub", "mul", "min", "max", "and", "or", "xor", "shl", "shr"]
                    }
                    Class::Float => &["add", "sub", "mul", "div", "min", "max"],
                };
                let (word, b) = (self.random.pick(words), self.other(&a));
                if self.random.once_in(2) {
                    format!("{word} v{id}, v{}", b.id)
                } else {
                    format!("{word} v{}, v{id}", b.id)
                }
            }
        };
        let result = self.op(&what, dtype, &shape);
        self.keep(result, dtype, &shape, None);
    }

    /// `exp` of small whole numbers. What is approximated differs between devices, but not by a quarter.
    fn exponential(&mut self) {
        let (dtype, shape) = (self.random.pick(&[DType::F16, DType::BF16, DType::F32]), self.shape());
        let there = self.tiles.iter().rev().find(|t| t.bound.is_some_and(|b| b <= super::SMALL) && t.dtype == dtype);
        let x = match there.cloned() {
            Some(tile) => tile,
            None => self.load(dtype, &shape, true),
        };
        let word = self.random.pick(&["exp", "exp2"]);
        let power = self.op(&format!("{word} v{}", x.id), dtype, &x.shape);
        let quarter = self.constant("0.25", dtype, &x.shape);
        let sum = self.op(&format!("add v{power}, v{quarter}"), dtype, &x.shape);
        let whole = self.op(&format!("trunc v{sum}"), dtype, &x.shape);
        self.keep(whole, dtype, &x.shape, Some(54));
    }

    /// An assertion that holds.
    fn assertion(&mut self) {
        let (tile, shape) = (self.tile(), self.shape());
        let value = self.fit(&tile, &shape).filter(|t| t.dtype.is_int()).map(|t| self.cast(&t, DType::I32));
        let value = value.unwrap_or_else(|| self.load(DType::I32, &shape, false));
        let most = self.constant("63", DType::I32, &value.shape);
        let low = self.op(&format!("and v{}, v{most}", value.id), DType::I32, &value.shape);
        let holds = self.op(&format!("le v{low}, v{most}"), DType::Bool, &value.shape);
        self.put(&format!("assert v{holds}, $0"));
        self.asserts = true;
    }

    /// Another tile of the same type, as far as it can be had cheaply.
    fn other(&mut self, a: &Tile) -> Tile {
        let b = self.operand(a.dtype, &a.shape);
        if b.id == a.id && !self.random.once_in(4) { self.load(a.dtype, &a.shape, false) } else { b }
    }

    /// What no number of an integer type fails to be divided by.
    fn divisor(&mut self) -> &'static str {
        self.random.pick(&["1", "2", "3", "7", "16", "100"])
    }

    fn compare(&mut self) {
        let a = self.tile();
        let b = self.other(&a);
        let words: &[&str] = if a.dtype == DType::Bool { &["eq", "ne"] } else { &["eq", "ne", "lt", "le", "gt", "ge"] };
        let word = self.random.pick(words);
        let cond = self.op(&format!("{word} v{}, v{}", a.id, b.id), DType::Bool, &a.shape);
        self.keep(cond, DType::Bool, &a.shape, None);
        if self.random.once_in(2) {
            let x = self.tile();
            if let Some(x) = self.fit(&x, &a.shape) {
                let y = self.operand(x.dtype, &a.shape);
                let id = self.op(&format!("select v{cond}, v{}, v{}", x.id, y.id), x.dtype, &a.shape);
                let bound = x.bound.zip(y.bound).map(|(x, y)| x.max(y));
                self.keep(id, x.dtype, &a.shape, bound);
            }
        }
    }

    fn convert(&mut self) {
        let (tile, dtype) = (self.tile(), self.any_type());
        if dtype != DType::Bool {
            self.cast(&tile, dtype);
        }
    }

    fn permute(&mut self) {
        let tile = self.tile();
        let mut order: Vec<u32> = (0..tile.shape.len() as u32).collect();
        if order.len() < 2 {
            return self.elementwise();
        }
        self.random.shuffle(&mut order);
        let shape: Vec<u32> = order.iter().map(|&k| tile.shape[k as usize]).collect();
        let id = self.op(&format!("permute v{}, {}", tile.id, dims(&order)), tile.dtype, &shape);
        self.keep(id, tile.dtype, &shape, tile.bound);
    }

    /// Two tiles as one, whose pairs may become neighbours.
    fn join(&mut self) {
        let a = self.tile();
        if a.shape.is_empty() || a.shape.len() == 5 || elements(&a.shape) > MOST_JOINED {
            return self.elementwise();
        }
        let (b, mut shape) = (self.other(&a), a.shape.clone());
        shape.push(2);
        let bound = a.bound.zip(b.bound).map(|(a, b)| a.max(b));
        let mut id = self.op(&format!("join v{}, v{}", a.id, b.id), a.dtype, &shape);
        if self.random.once_in(2) {
            shape.truncate(a.shape.len());
            shape[a.shape.len() - 1] *= 2;
            id = self.op(&format!("reshape v{id}, {}", dims(&shape)), a.dtype, &shape);
        }
        self.keep(id, a.dtype, &shape, bound);
    }

    /// The two halves of a tile: pairs of its last axis, neighbours, or the first half and the second.
    fn split(&mut self) {
        let tile = self.tile();
        let (mut id, count) = (tile.id, elements(&tile.shape));
        if count < 2 {
            return self.elementwise();
        }
        let mut shape = vec![count / 2, 2];
        let pairs = tile.shape.len() > 1 && tile.shape.ends_with(&[2]);
        let reshaped = reshapes(&tile.shape, &shape) && reshapes(&tile.shape, &[2, count / 2]);
        if !pairs && !reshaped {
            return self.elementwise();
        }
        if pairs && !(reshaped && self.random.once_in(4)) {
            shape.clone_from(&tile.shape);
        } else if self.random.once_in(2) {
            id = self.op(&format!("reshape v{id}, {}", dims(&shape)), tile.dtype, &shape);
        } else {
            id = self.op(&format!("reshape v{id}, [2,{}]", count / 2), tile.dtype, &[2, count / 2]);
            id = self.op(&format!("permute v{id}, [1,0]"), tile.dtype, &shape);
        }
        shape.pop();
        for index in 0..2 {
            let half = self.op(&format!("split v{id}, {index}"), tile.dtype, &shape);
            self.keep(half, tile.dtype, &shape, tile.bound);
        }
    }

    fn reduce(&mut self) {
        let a = self.tile();
        if a.shape.is_empty() {
            return self.elementwise();
        }
        let axis = self.random.below(a.shape.len());
        let more = self.random.pick(&[0, 0, 0, 1, 2]);
        // A NaN is never the largest: the order would decide.
        if more == 1 && a.dtype != DType::Bool && (a.dtype.is_int() || a.bound.is_some()) {
            return self.reduce_place(&a, axis);
        }
        let mut operands = vec![a.clone()];
        for _ in 0..more {
            let dtype = self.any_type();
            operands.push(self.operand(dtype, &a.shape));
        }
        let results: Vec<usize> = operands.iter().map(|_| self.id()).collect();
        let shape = without(&a.shape, axis);
        let (firsts, seconds) = self.open_fold("reduce", &operands, &results, axis, &shape);
        let mut combined = Vec::new();
        for (k, tile) in operands.iter().enumerate() {
            let words: &[&str] = match tile.dtype.class() {
                Class::Bool => &["and", "or", "xor"],
                Class::Signed | Class::Unsigned => &["add", "add", "mul", "min", "max", "and", "or", "xor"],
                Class::Float => &["add", "add", "mul", "min", "max"],
            };
            let word = self.random.pick(words);
            // Half types hold whole numbers up to 256.
            let exact = tile.bound.is_some_and(|b| word == "add" && b * a.shape[axis] <= 256);
            self.rounds |= tile.dtype.is_float() && (word == "add" || word == "mul") && !exact;
            combined.push(self.op(&format!("{word} v{}, v{}", firsts[k], seconds[k]), tile.dtype, &[]));
        }
        self.close_reduce(&operands, &results, &combined, axis);
    }

    /// The largest element and the lowest index where it is.
    fn reduce_place(&mut self, a: &Tile, axis: usize) {
        let n = a.shape[axis];
        let mut line = vec![1; a.shape.len()];
        line[axis] = n;
        let index = self.op(&format!("arange 0, {n}"), DType::I32, &[n]);
        let index = Tile { id: index, dtype: DType::I32, shape: vec![n], bound: None };
        let index = if line == a.shape {
            Tile {
                id: self.op(&format!("reshape v{}, {}", index.id, dims(&line)), DType::I32, &line),
                shape: line,
                ..index
            }
        } else {
            let id = self.op(&format!("reshape v{}, {}", index.id, dims(&line)), DType::I32, &line);
            let id = self.op(&format!("broadcast v{id}, {}", dims(&a.shape)), DType::I32, &a.shape);
            Tile { id, shape: a.shape.clone(), ..index }
        };
        let operands = [a.clone(), index];
        let results = [self.id(), self.id()];
        let shape = without(&a.shape, axis);
        let (x, y) = self.open_fold("reduce", &operands, &results, axis, &shape);
        let bool = |g: &mut Self, what: String| g.op(&what, DType::Bool, &[]);
        let word = self.random.pick(&["gt", "lt"]);
        let greater = bool(self, format!("{word} v{}, v{}", y[0], x[0]));
        let equal = bool(self, format!("eq v{}, v{}", y[0], x[0]));
        let lower = bool(self, format!("lt v{}, v{}", y[1], x[1]));
        let both = bool(self, format!("and v{equal}, v{lower}"));
        let other = bool(self, format!("or v{greater}, v{both}"));
        let value = self.op(&format!("select v{other}, v{}, v{}", y[0], x[0]), a.dtype, &[]);
        let place = self.op(&format!("select v{other}, v{}, v{}", y[1], x[1]), DType::I32, &[]);
        self.close_reduce(&operands, &results, &[value, place], axis);
    }

    /// A scan, whose order is the same in all layouts: so its combination is any.
    fn scan(&mut self) {
        let a = self.tile();
        if a.shape.is_empty() {
            return self.elementwise();
        }
        let (axis, shape) = (self.random.below(a.shape.len()), a.shape.clone());
        if !shape[axis].is_power_of_two() {
            return self.reduce();
        }
        let mut operands = vec![a];
        for _ in 0..self.random.pick(&[0, 0, 1, 2]) {
            let dtype = self.any_type();
            operands.push(self.operand(dtype, &shape));
        }
        let results: Vec<usize> = operands.iter().map(|_| self.id()).collect();
        let word = self.random.pick(&["scan", "scan_reverse"]);
        let (firsts, seconds) = self.open_fold(word, &operands, &results, axis, &shape);
        let mut combined = Vec::new();
        for (k, tile) in operands.iter().enumerate() {
            let words: &[&str] = match tile.dtype.class() {
                Class::Bool => &["and", "or", "xor"],
                Class::Signed | Class::Unsigned => &["add", "sub", "mul", "min", "max", "and", "or", "xor"],
                Class::Float => &["add", "sub", "mul", "min", "max"],
            };
            let word = self.random.pick(words);
            combined.push(self.op(&format!("{word} v{}, v{}", firsts[k], seconds[k]), tile.dtype, &[]));
        }
        self.close_fold(&combined);
        for (tile, &id) in operands.iter().zip(&results) {
            self.keep(id, tile.dtype, &shape, None);
        }
    }

    fn open_fold(
        &mut self,
        word: &str,
        operands: &[Tile],
        results: &[usize],
        axis: usize,
        shape: &[u32],
    ) -> (Vec<usize>, Vec<usize>) {
        let firsts: Vec<usize> = operands.iter().map(|_| self.id()).collect();
        let seconds: Vec<usize> = operands.iter().map(|_| self.id()).collect();
        let ids: Vec<usize> = operands.iter().map(|t| t.id).collect();
        let types: Vec<String> = operands.iter().map(|t| ty(t.dtype, shape)).collect();
        let params = firsts.iter().chain(&seconds).zip(operands.iter().chain(operands));
        let params: Vec<String> = params.map(|(v, t)| format!("v{v}: {}", t.dtype)).collect();
        self.put(&format!(
            "{} = {word} {axis}, any with {} : {} {{ |{}|",
            list(results),
            list(&ids),
            types.join(", "),
            params.join(", ")
        ));
        self.depth += 1;
        (firsts, seconds)
    }

    fn close_fold(&mut self, combined: &[usize]) {
        self.put(&format!("yield with {}", list(combined)));
        self.depth -= 1;
        self.put("}");
    }

    fn close_reduce(&mut self, operands: &[Tile], results: &[usize], combined: &[usize], axis: usize) {
        self.close_fold(combined);
        let shape = without(&operands[0].shape, axis);
        for (tile, &id) in operands.iter().zip(results) {
            self.keep(id, tile.dtype, &shape, None);
        }
        // Back to where it came from, as a softmax does.
        if self.random.once_in(2) && !shape.is_empty() {
            let (dtype, mut line) = (operands[0].dtype, operands[0].shape.clone());
            line[axis] = 1;
            let id = self.op(&format!("reshape v{}, {}", results[0], dims(&line)), dtype, &line);
            let id = self.op(&format!("broadcast v{id}, {}", dims(&operands[0].shape)), dtype, &operands[0].shape);
            self.keep(id, dtype, &operands[0].shape, None);
        }
    }

    /// A matrix of small whole numbers, made from what is there, or loaded one way or the other.
    fn matrix(&mut self, dtype: DType, rows: u32, columns: u32) -> usize {
        let shape = [rows, columns];
        let there: Vec<Tile> = self
            .tiles
            .iter()
            .filter(|t| t.bound.is_some_and(|b| b <= super::SMALL) && t.dtype != DType::Bool)
            .cloned()
            .collect();
        let there = there.iter().find(|t| elements(&t.shape) == rows * columns);
        if let Some(tile) = there.filter(|_| self.random.once_in(2)).and_then(|tile| self.fit(tile, &shape)) {
            return self.cast(&tile, dtype).id;
        }
        if self.random.once_in(2) {
            let tile = self.load(dtype, &[columns, rows], true);
            let id = self.op(&format!("permute v{}, [1,0]", tile.id), dtype, &shape);
            return self.keep(id, dtype, &shape, tile.bound).id;
        }
        self.load(dtype, &shape, true).id
    }

    /// Extents and types of a product that is exact.
    pub fn product_type(&mut self) -> ([u32; 3], DType, DType, &'static str) {
        use DType::*;
        let few = self.random.once_in(3);
        let extents: &[u32] = match (few, self.random.once_in(3)) {
            (true, false) => &[1, 2, 4, 8],
            (true, true) => &[1, 3, 4, 8, 10],
            (false, false) => &[16, 16, 32, 64],
            (false, true) => &[16, 24, 32, 40, 48, 80, 192],
        };
        let (dtype, sum, kind) = self.random.pick(&[
            (I8, I32, "any"),
            (I8, I32, "any"),
            (F16, F32, "any"),
            (F16, F32, "any"),
            (BF16, F32, "any"),
            (F32, F32, "any"),
            (F32, F32, "tf32"),
            (F64, F64, "any"),
        ]);
        let [m, n, k] = [(); 3].map(|()| self.random.pick(extents));
        // One warp may have all of the sums, and without tensor cores every product is an instruction.
        let n = if m * n > MOST_SUMS { 16 } else { n };
        ([m, n, if m * n * k > MOST_PRODUCTS { 16 } else { k }], dtype, sum, kind)
    }

    /// `acc` plus a product.
    pub fn add_product(&mut self, [m, n, k]: [u32; 3], dtype: DType, sum: DType, kind: &str, acc: usize) -> usize {
        let (mut a, mut b) = (self.matrix(dtype, m, k), self.matrix(dtype, k, n));
        if kind == "tf32" {
            a = self.op(&format!("tf32 v{a}"), dtype, &[m, k]);
            b = self.op(&format!("tf32 v{b}"), dtype, &[k, n]);
        }
        self.op(&format!("dot {kind}, v{a}, v{b}, v{acc}"), sum, &[m, n])
    }

    /// The products of the parts of two matrices along K, as a batch.
    fn divided_product(&mut self, [m, n, k]: [u32; 3], parts: u32, dtype: DType, sum: DType, kind: &str) {
        let (a, b) = (self.matrix(dtype, m, parts * k), self.matrix(dtype, parts * k, n));
        let rows = [m, parts, k];
        let a = self.op(&format!("reshape v{a}, {}", dims(&rows)), dtype, &rows);
        let a = self.op(&format!("permute v{a}, [1,0,2]"), dtype, &[parts, m, k]);
        let columns = [parts, k, n];
        let b = self.op(&format!("reshape v{b}, {}", dims(&columns)), dtype, &columns);
        let [a, b] = [(a, [parts, m, k]), (b, columns)]
            .map(|(x, shape)| if kind == "tf32" { self.op(&format!("tf32 v{x}"), dtype, &shape) } else { x });
        let shape = [parts, m, n];
        let acc = self.constant(if sum == DType::I32 { "0" } else { "0.0" }, sum, &shape);
        let id = self.op(&format!("dot {kind}, v{a}, v{b}, v{acc}"), sum, &shape);
        self.keep(id, sum, &shape, None);
    }

    fn product(&mut self) {
        let ([m, n, k], dtype, sum, kind) = self.product_type();
        if k > 1 && k.is_power_of_two() && self.random.once_in(3) {
            // No thread has registers for much more.
            let parts = if m * n <= 1024 { self.random.pick(&[2, k.min(8)]) } else { 2 };
            return self.divided_product([m, n, k / parts], parts, dtype, sum, kind);
        }
        let acc = if self.random.once_in(3) {
            self.matrix(sum, m, n)
        } else {
            self.constant(if sum == DType::I32 { "0" } else { "0.0" }, sum, &[m, n])
        };
        let id = self.add_product([m, n, k], dtype, sum, kind, acc);
        self.keep(id, sum, &[m, n], None);
    }
}

pub(super) fn without(shape: &[u32], axis: usize) -> Vec<u32> {
    shape.iter().enumerate().filter(|&(k, _)| k != axis).map(|(_, &d)| d).collect()
}

/// Values as the text form lists them.
pub(super) fn list(ids: &[usize]) -> String {
    let words: Vec<String> = ids.iter().map(|id| format!("v{id}")).collect();
    words.join(", ")
}
