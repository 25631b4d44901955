//! Loops around products of tiles of views: those whose loads a ring takes, and those that only look like it.

use super::make::{Bound, Maker};
use super::operands::{OWN, Operands};
use super::steps::{boxed, i32};
use super::tree::{Elem, Expr, Stmt, Ty};
use triton_core::types::DType;

/// Most multiplications of a loop: what the simulator does in a fraction of a second.
const MOST: u32 = 2_000_000;

/// How a loop counts.
struct Turns {
    start: Expr,
    end: Expr,
    step: u32,
    /// The most turns.
    most: u32,
    /// Whether it counts tiles, not their elements.
    tiles: bool,
    /// What the counter has beyond that.
    base: i64,
}

/// A loop in parts.
struct Loop {
    /// What it adds to.
    sums: Vec<Stmt>,
    /// The loop, and what stores its sums.
    rest: Vec<Stmt>,
    /// Sums that other statements may take.
    results: Vec<Bound>,
}

/// A product in a loop.
struct Product {
    sum: String,
    extents: [u32; 3],
    /// The columns of `c` that are its own.
    column: u32,
}

fn name(of: &str) -> Expr {
    Expr::Name(of.into())
}

fn binary(op: &'static str, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, boxed(a), boxed(b))
}

fn plus(a: Expr, b: i64) -> Expr {
    match b {
        0 => a,
        1.. => binary("+", a, i32(b)),
        _ => binary("-", a, i32(-b)),
    }
}

/// The first row that a program has to itself, and some more.
fn own(rows: u32, shift: u32) -> Expr {
    plus(binary("*", Expr::Program, i32(rows.into())), shift.into())
}

fn count() -> Expr {
    Expr::Field(boxed(name("settings")), "count".into())
}

impl Maker<'_> {
    /// A loop around products; two, one after the other; one in a branch, or in another loop.
    pub fn products(&mut self) -> Vec<Stmt> {
        let Some(mut operands) = self.operands.take() else { return Vec::new() };
        let stmts = match self.random.below(6) {
            0 => {
                let mut stmts = self.product_loop(&mut operands, None).at_once(self);
                stmts.extend(self.product_loop(&mut operands, None).at_once(self));
                stmts
            }
            1 => {
                let (outside, cond) = (self.names.len(), self.condition());
                let then = self.product_loop(&mut operands, None).at_once(self);
                self.names.truncate(outside);
                vec![Stmt::If(cond, then, Vec::new())]
            }
            2 | 3 => self.nested(&mut operands),
            _ => self.product_loop(&mut operands, None).at_once(self),
        };
        self.operands = Some(operands);
        stmts
    }

    fn numbered(&mut self, letter: &str) -> String {
        self.made += 1;
        format!("{letter}{}", self.made)
    }

    /// In another loop, beside other statements; its sums may go on from turn to turn.
    fn nested(&mut self, operands: &mut Operands) -> Vec<Stmt> {
        let end = if self.random.once_in(3) { count() } else { i32(self.random.pick(&[1, 2, 2, 3])) };
        let (counter, outside) = (self.numbered("r"), self.names.len());
        self.names.push(Bound { name: counter.clone(), ty: Ty::scalar(DType::I32), mutable: false });
        let (label, mut body) = self.body(1, true);
        let Loop { mut sums, rest, results } = self.product_loop(operands, Some(&counter));
        self.names.truncate(outside);
        let carried = self.random.once_in(2);
        if !carried {
            body.append(&mut sums);
        }
        body.extend(rest);
        sums.push(Stmt::For(label, counter, [i32(0), end], 1, false, body));
        if carried {
            self.names.extend(results);
        }
        sums
    }

    /// The loop, in a loop that counts with this name.
    fn product_loop(&mut self, operands: &mut Operands, around: Option<&str>) -> Loop {
        let (counter, outside) = (self.numbered("k"), self.names.len());
        let width = self.random.pick(&[16, 32, 32, 64, 64]);
        let turns = self.turns(width);
        self.names.push(Bound { name: counter.clone(), ty: Ty::scalar(DType::I32), mutable: false });
        let most = self.random.pick(&[0, 0, 0, 2]);
        let (label, others) = self.body(most, true);
        self.names.truncate(outside);
        let (mut before, mut body) = if self.random.once_in(2) { (others, Vec::new()) } else { (Vec::new(), others) };
        let mut made = Loop { sums: Vec::new(), rest: Vec::new(), results: Vec::new() };
        // Tiles with a name, and their rows.
        let mut named: Vec<(String, u32)> = Vec::new();
        // The first operand of the first product, and its rows.
        let mut first: Option<(u32, Expr)> = None;
        for _ in 0..self.random.pick(&[1, 1, 1, 2]) {
            let again = first.clone().filter(|_| self.random.once_in(2));
            let product = self.product(operands, &turns, [again.as_ref().map_or(0, |(m, _)| *m), width], &mut made);
            let at = plus(name(&counter), -turns.base);
            let along = self.along(&at, width, &turns, around);
            let [m, n, k] = product.extents;
            let invariant = self.random.below(12);
            let mut factor = |maker: &mut Self, left: bool, across: u32| {
                let along = if invariant == usize::from(left) {
                    i32(maker.random.pick(&[0, 16, 8]))
                } else if maker.random.once_in(8) {
                    maker.along(&at, width, &turns, around)
                } else {
                    along.clone()
                };
                let (mut load, turned) = maker.operand_load(operands, left, [across, k], along);
                if !maker.random.once_in(3) {
                    let bound = maker.numbered("t");
                    let value = std::mem::replace(&mut load, name(&bound));
                    before.push(Stmt::Let(bound.clone(), false, value));
                    named.push((bound, if left == turned { k } else { across }));
                }
                if turned { Expr::Transpose(boxed(load)) } else { load }
            };
            let left = match again {
                Some((_, left)) => left,
                None => factor(self, true, m),
            };
            let right = if m == n && self.random.once_in(16) {
                Expr::Transpose(boxed(left.clone()))
            } else {
                factor(self, false, n)
            };
            first.get_or_insert((m, left.clone()));
            let tf32 = operands.dtype == DType::F32 && self.random.once_in(2);
            let dot = Expr::Dot(boxed(left), boxed(right), boxed(name(&product.sum)), tf32);
            before.push(Stmt::Assign(product.sum.clone(), "=", dot));
            if self.random.once_in(8) {
                before.push(product.store(operands));
            }
            made.rest.push(product.store(operands));
        }
        before.append(&mut body);
        if let Some((tile, rows)) = named.first() {
            before.extend(self.otherwise_used(tile, *rows, &mut made));
        }
        if self.random.once_in(14) {
            let past = binary(">", plus(name(&counter), -turns.base), i32(if turns.tiles { 2 } else { 60 }));
            let cond = if self.random.once_in(2) { binary("==", name("n"), i32(2)) } else { past };
            let exit = if self.random.once_in(2) { Stmt::Break(label.clone()) } else { Stmt::Continue(label.clone()) };
            before.insert(self.random.below(before.len() + 1), Stmt::If(cond, vec![exit], Vec::new()));
        }
        let Turns { start, end, step, .. } = turns;
        made.rest.insert(0, Stmt::For(label, counter, [start, end], step, false, before));
        made
    }

    /// What else a loop does with a tile of this many rows, if anything: it sums them, or stores them in `w`.
    fn otherwise_used(&mut self, tile: &str, rows: u32, made: &mut Loop) -> Option<Stmt> {
        match self.random.below(10) {
            0 => {
                let (sum, wide) = (self.numbered("s"), Expr::To(boxed(name(tile)), Elem::Of(DType::I32)));
                made.sums.push(Stmt::Let(sum.clone(), true, Expr::Zeros(DType::I32, vec![rows])));
                let ty = Ty::Tile(Elem::Of(DType::I32), vec![rows]);
                made.results.push(Bound { name: sum.clone(), ty, mutable: false });
                Some(Stmt::Assign(sum, "+=", Expr::Reduce("sum", boxed(wide), Some(1))))
            }
            1 | 2 => {
                let at = vec![own(OWN, 0), i32(self.random.pick(&[0, 8, 16]))];
                Some(Stmt::Store("w".into(), at, name(tile)))
            }
            _ => None,
        }
    }

    /// A product that a loop adds up, with what it begins with: of this many rows unless that is 0.
    fn product(&mut self, operands: &mut Operands, turns: &Turns, [rows, width]: [u32; 2], made: &mut Loop) -> Product {
        let mut extents = [rows.max(16), 16, width];
        for _ in 0..6 {
            let m = if rows > 0 { rows } else { self.random.pick(&[16, 32, 48, 64, 64, 64]) };
            let n = self.random.pick(&[16, 24, 32, 40, 64, 64, 64]);
            if m <= operands.rows && m * n * width * turns.most <= MOST {
                extents = [m, n, width];
                break;
            }
        }
        let ([m, n, _], sum) = (extents, self.numbered("p"));
        let column = operands.columns;
        operands.columns += n;
        let shape = vec![m, n];
        let first = if self.random.once_in(6) {
            Expr::Load("c".into(), vec![own(operands.rows, 0), i32(column.into())], shape.clone(), None)
        } else {
            Expr::Zeros(operands.sum, shape.clone())
        };
        made.sums.push(Stmt::Let(sum.clone(), true, first));
        // Others know these types, and have this much of `out`.
        if m * n <= super::make::ZONE && matches!(operands.sum, DType::F32 | DType::I32) {
            let ty = Ty::Tile(Elem::Of(operands.sum), shape);
            made.results.push(Bound { name: sum.clone(), ty, mutable: false });
        }
        Product { sum, extents, column }
    }

    /// From where to where, and how far at a time: no turn, fewer than there are stages, more.
    fn turns(&mut self, width: u32) -> Turns {
        let tiles = self.random.once_in(3);
        let step = match self.random.below(10) {
            k if tiles => 1 + u32::from(k == 0),
            0 => self.random.pick(&[1, 8, 24]),
            1 => self.random.pick(&[2 * width, width + 8]),
            2 => 16,
            _ => width,
        };
        let start: i64 =
            if tiles { self.random.pick(&[0, 0, 1]) } else { self.random.pick(&[0, 0, 0, 0, 0, 16, 8, -8, -32, 5]) };
        let plain = |end: Expr, most| Turns { start: i32(start), end, step, most, tiles, base: 0 };
        match self.random.below(10) {
            0 => plain(plus(binary("*", name("n"), i32(step.into())), start), 4),
            1 => plain(plus(binary("*", count(), i32(step.into())), start), 3),
            2 | 3 if !tiles && step >= 16 => {
                let (view, axis) = self.random.pick(&[("a", 1), ("b", 0)]);
                plain(Expr::Dim(view.into(), axis), 264 / step + 1)
            }
            _ => {
                let most = self.random.pick(&[0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 9]);
                let end = start + i64::from(step * most) - self.random.below(step as usize) as i64;
                // Counters at the end of their range.
                let base = match self.random.below(16) {
                    0 => i64::from(i32::MAX) - end.max(start).max(0),
                    1 => -i64::from(i32::MAX) - start.min(end).min(0),
                    _ => 0,
                };
                Turns { start: i32(start + base), end: i32(end + base), step, most, tiles, base }
            }
        }
    }

    /// Where a turn's operands begin along the axis that a product sums over.
    fn along(&mut self, counter: &Expr, width: u32, turns: &Turns, around: Option<&str>) -> Expr {
        let (counter, wide) = (counter.clone(), i32(width.into()));
        let mut at = match self.random.below(8) {
            0 if turns.tiles => binary("*", binary("/", counter, i32(self.random.pick(&[2, 3]))), wide),
            1 if turns.tiles => binary("*", binary("%", counter, i32(3)), wide),
            // What it is divided by may be 0 for all that the compiler knows.
            2 if turns.tiles => binary("*", binary("/", counter, plus(count(), 1)), wide),
            _ if turns.tiles => binary("*", counter, wide),
            0 => binary("*", binary("/", counter, wide.clone()), wide),
            _ => counter,
        };
        at = plus(at, self.random.pick(&[0, 0, 0, 0, 0, 0, 0, 8, 16, -8, 3]));
        match around {
            Some(around) if self.random.once_in(2) => binary("+", at, binary("*", name(around), i32(16))),
            Some(_) | None if self.random.once_in(8) => binary("+", at, binary("*", name("n"), i32(8))),
            Some(_) | None => at,
        }
    }

    /// A load of this many indices of the one axis and of the other, and whether the product takes it transposed.
    fn operand_load(&mut self, operands: &Operands, left: bool, extents: [u32; 2], along: Expr) -> (Expr, bool) {
        let written = self.random.once_in(14);
        let (view, turned) = match (written, left != self.random.once_in(6)) {
            // A program's own part of `w` is of its first axis.
            (true, _) => ("w", !left),
            (false, true) => ("a", self.random.once_in(4)),
            (false, false) => ("b", self.random.once_in(4)),
        };
        let across = match self.random.below(4) {
            _ if written => own(OWN, self.random.pick(&[0, OWN - extents[0]])),
            0 => binary("*", Expr::Program, i32(extents[0].into())),
            1 => i32(self.random.pick(&[8, 16, 3, -3])),
            _ => i32(0),
        };
        let (mut at, mut shape) = (vec![across, along], extents.to_vec());
        if left == turned {
            at.reverse();
            shape.reverse();
        }
        let filled = matches!(operands.dtype, DType::F32 | DType::I8) && self.random.once_in(16);
        let other = filled.then(|| boxed(Expr::Literal(operands.dtype, 4, false)));
        (Expr::Load(view.into(), at, shape, other), turned)
    }
}

impl Loop {
    /// All of it, whose sums are bound from here on.
    fn at_once(mut self, maker: &mut Maker<'_>) -> Vec<Stmt> {
        maker.names.append(&mut self.results);
        self.sums.append(&mut self.rest);
        self.sums
    }
}

impl Product {
    fn store(&self, operands: &Operands) -> Stmt {
        Stmt::Store("c".into(), vec![own(operands.rows, 0), i32(self.column.into())], name(&self.sum))
    }
}
