//! Statements and expressions of random programs.

use super::make::{Bound, Maker, ROWS, ZONE};
use super::tree::{Elem, Expr, Stmt, Ty};
use crate::random::program::reshapes;
use triton_core::types::DType;

const INTS: [DType; 5] = [DType::I32, DType::I32, DType::I64, DType::U32, DType::I8];

pub(super) fn boxed(x: Expr) -> Box<Expr> {
    Box::new(x)
}

pub(super) fn i32(x: i64) -> Expr {
    Expr::Literal(DType::I32, x, false)
}

impl Maker<'_> {
    fn fresh(&mut self) -> String {
        self.made += 1;
        // Names come back, so that they shadow others.
        let free = if self.depth == 0 || self.random.once_in(2) { self.made } else { self.made % 5 };
        format!("v{free}")
    }

    fn bind(&mut self, name: &str, ty: Ty, mutable: bool) {
        self.names.push(Bound { name: name.to_owned(), ty, mutable });
    }

    /// Visible names of which this holds.
    fn visible(&self, wanted: impl Fn(&Bound) -> bool) -> Vec<Bound> {
        let last = |at: usize| !self.names[at + 1..].iter().any(|later| later.name == self.names[at].name);
        let found = (0..self.names.len()).filter(|&at| last(at) && wanted(&self.names[at]));
        found.map(|at| self.names[at].clone()).collect()
    }

    pub fn one(&mut self, wanted: impl Fn(&Bound) -> bool) -> Option<Bound> {
        let found = self.visible(wanted);
        if found.is_empty() { None } else { Some(found[self.random.below(found.len())].clone()) }
    }

    fn shape(&mut self) -> Vec<u32> {
        if self.kernel {
            self.random
                .pick(&[
                    &[16][..],
                    &[64],
                    &[1],
                    &[4, 16],
                    &[8, 8],
                    &[16, 1],
                    &[2, 4, 8],
                    &[8, 2],
                    &[24],
                    &[12, 8],
                    &[4, 10],
                ])
                .to_vec()
        } else {
            self.random.pick(&[&[0][..], &[]]).to_vec()
        }
    }

    fn dtype(&mut self) -> DType {
        match self.random.below(8) {
            0 => DType::Bool,
            1..4 => DType::F32,
            _ => self.random.pick(&INTS),
        }
    }

    /// Some statements in a scope of their own.
    fn block(&mut self, most: usize) -> Vec<Stmt> {
        let outside = self.names.len();
        self.depth += 1;
        let mut stmts = Vec::new();
        for _ in 0..self.random.below(most + 1) {
            stmts.extend(self.stmt(false));
        }
        self.depth -= 1;
        self.names.truncate(outside);
        stmts
    }

    /// The body of a loop, and its label.
    pub(super) fn body(&mut self, most: usize, continues: bool) -> (String, Vec<Stmt>) {
        self.made += 1;
        let label = format!("'l{}", self.made);
        self.loops.push((label.clone(), continues));
        let body = self.block(most);
        self.loops.pop();
        (label, body)
    }

    /// A block with a value.
    fn valued(&mut self, ty: &Ty, depth: usize) -> (Vec<Stmt>, Expr) {
        let outside = self.names.len();
        self.depth += 1;
        // An exit is a statement.
        let (loops, value) = (std::mem::take(&mut self.loops), std::mem::replace(&mut self.inside_value, true));
        let stmts = if self.random.once_in(2) { self.stmt(false) } else { Vec::new() };
        (self.loops, self.inside_value) = (loops, value);
        let value = self.expr(ty, depth - 1);
        self.depth -= 1;
        self.names.truncate(outside);
        (stmts, value)
    }

    /// A statement, or a few. `top` is the kernel's own level, where a program may end.
    pub fn stmt(&mut self, top: bool) -> Vec<Stmt> {
        self.budget = self.budget.saturating_sub(1);
        let deep = self.depth >= 3;
        match self.random.below(16) {
            0 if self.kernel => vec![self.store()],
            1 if self.kernel => vec![self.update()],
            2 | 3 if !deep => {
                let cond = self.condition();
                let then = self.block(3);
                let otherwise = if self.random.once_in(2) { self.block(3) } else { Vec::new() };
                vec![Stmt::If(cond, then, otherwise)]
            }
            4 if !deep => {
                let name = self.fresh();
                let (start, step) = (i32(self.random.below(2) as i64), self.random.pick(&[1, 1, 2]));
                let end = self.bound();
                let unrolled = matches!(end, Expr::Literal(..)) && self.random.once_in(2);
                let outside = self.names.len();
                self.bind(&name, Ty::scalar(DType::I32), false);
                let (label, mut body) = self.body(3, true);
                self.names.truncate(outside);
                if unrolled && self.random.once_in(2) {
                    // Its shape is another one in each iteration.
                    let shape = Expr::Binary("<<", boxed(i32(1)), boxed(Expr::Name(name.clone())));
                    body.insert(0, Stmt::Let("u".into(), false, Expr::ArangeTo(boxed(shape))));
                }
                vec![Stmt::For(label, name, [start, end], step, unrolled, body)]
            }
            5 if !deep => {
                self.made += 1;
                let (name, end) = (format!("w{}", self.made), self.bound());
                self.bind(&name, Ty::scalar(DType::I32), false);
                // The counter is counted at the end of the body, which nothing may skip.
                let (label, body) = self.body(2, false);
                vec![Stmt::While(label, name, end, self.random.once_in(3), body)]
            }
            6 if top || !self.loops.is_empty() && self.kernel && !self.inside_value => {
                let cond = self.condition();
                let mut then = self.block(2);
                then.push(Stmt::Return);
                vec![Stmt::If(cond, then, Vec::new())]
            }
            11 | 12 if !self.loops.is_empty() => {
                let (label, continues) = self.loops[self.random.below(self.loops.len())].clone();
                let continues = continues && self.random.once_in(2);
                let exit = if continues { Stmt::Continue(label) } else { Stmt::Break(label) };
                let cond = self.condition();
                let (mut then, mut otherwise) = (self.block(2), self.block(1));
                if self.random.once_in(3) { &mut otherwise } else { &mut then }.push(exit);
                vec![Stmt::If(cond, then, otherwise)]
            }
            7 => {
                let a = self.any_type();
                let b = if self.random.once_in(3) { a.clone() } else { self.any_type() };
                let value = self.expr(&Ty::Tuple(vec![a.clone(), b.clone()]), 2);
                let mut stmts = Vec::new();
                let mut value = value;
                if self.random.once_in(2) {
                    let name = self.fresh();
                    self.bind(&name, Ty::Tuple(vec![a.clone(), b.clone()]), false);
                    stmts.push(Stmt::Let(name.clone(), false, value));
                    value = Expr::Name(name);
                }
                let names = [self.fresh() + "a", self.fresh() + "b"];
                self.bind(&names[0], a, false);
                self.bind(&names[1], b, false);
                stmts.push(Stmt::Unpack(names.to_vec(), value));
                stmts
            }
            8..11 => match self.one(|bound| bound.mutable) {
                Some(Bound { name, ty, .. }) => {
                    let number = matches!(&ty, Ty::Tile(Elem::Of(dtype), _) if *dtype != DType::Bool);
                    let op = if number { self.random.pick(&["=", "+=", "*="]) } else { "=" };
                    let value = self.expr(&ty, 2);
                    vec![Stmt::Assign(name, op, value)]
                }
                None => Vec::new(),
            },
            _ => {
                let (ty, mutable) = (self.any_type(), self.random.once_in(2));
                // What a function takes for every type has no literals.
                let value = self.expr(&ty, 3);
                let name = self.fresh();
                self.bind(&name, ty, mutable);
                vec![Stmt::Let(name, mutable, value)]
            }
        }
    }

    fn any_type(&mut self) -> Ty {
        let generic = self.visible(|bound| matches!(bound.ty, Ty::Tile(Elem::Generic, _)));
        if !generic.is_empty() && self.random.once_in(2) {
            return generic[0].ty.clone();
        }
        let shape = if self.random.once_in(3) { Vec::new() } else { self.shape() };
        Ty::Tile(Elem::Of(self.dtype()), shape)
    }

    /// How often a loop runs at most: a handful of times.
    fn bound(&mut self) -> Expr {
        match self.random.below(3) {
            0 if self.kernel => Expr::Name("n".into()),
            1 if self.kernel => Expr::Field(boxed(Expr::Name("settings".into())), "count".into()),
            _ => i32(self.random.below(4) as i64),
        }
    }

    pub(super) fn condition(&mut self) -> Expr {
        let cond = self.expr(&Ty::scalar(DType::Bool), 2);
        if self.random.once_in(4) {
            let other = self.expr(&Ty::scalar(DType::Bool), 1);
            return Expr::Binary(self.random.pick(&["&&", "||"]), boxed(cond), boxed(other));
        }
        cond
    }

    /// Where the program's own elements of `out` or `grid` are.
    fn own(&mut self, size: u32, rank: usize) -> Vec<Expr> {
        let zone = if rank == 1 { ZONE } else { ROWS };
        let start = Expr::Binary("*", boxed(Expr::Program), boxed(i32(zone.into())));
        let offset = i64::from(self.random.pick(&[0, zone - size, (zone - size) / 2]));
        let start = if offset == 0 { start } else { Expr::Binary("+", boxed(start), boxed(i32(offset))) };
        if rank == 1 { vec![start] } else { vec![start, i32(self.random.pick(&[0, 0, -3, 5]))] }
    }

    fn store(&mut self) -> Stmt {
        if self.random.once_in(3) {
            let (m, n) = (self.random.pick(&[4, 8, 16]), self.random.pick(&[8, 16]));
            let at = self.own(m, 2);
            let value = self.expr(&Ty::Tile(Elem::Of(DType::F32), vec![m, n]), 3);
            return Stmt::Store("grid".into(), at, value);
        }
        let size = self.random.pick(&[16, 64, 1]);
        let at = self.own(size, 1);
        let value = self.expr(&Ty::Tile(Elem::Of(DType::I32), vec![size]), 3);
        Stmt::Store("out".into(), at, value)
    }

    fn update(&mut self) -> Stmt {
        // All of them commute with themselves: one is used in a program, or elements would depend on the order.
        let at = vec![i32(self.random.pick(&[0, 0, -3, 30]))];
        let value = self.expr(&Ty::Tile(Elem::Of(DType::I32), vec![16]), 2);
        Stmt::Update("hist".into(), "atomic_add", at, value)
    }

    /// Variables that nothing has looked at are stored.
    pub fn stores(&mut self) -> Vec<Stmt> {
        let wanted = |bound: &Bound| matches!(&bound.ty, Ty::Tile(Elem::Of(dtype), _) if *dtype != DType::Bool);
        let mut stmts = Vec::new();
        for Bound { name, ty, .. } in self.visible(wanted) {
            let Ty::Tile(_, shape) = ty else { continue };
            let size = shape.iter().product::<u32>();
            let value = Expr::To(boxed(Expr::Name(name)), Elem::Of(DType::I32));
            let value = match shape.len() {
                0 => Expr::Full(vec![1], boxed(value)),
                1 => value,
                _ if reshapes(&[size], &shape) => Expr::Reshaped("reshape", boxed(value), vec![size]),
                rank => Expr::Reduce("sum", boxed(value), Some(rank - 1)),
            };
            let size = if shape.len() > 1 && !reshapes(&[size], &shape) { shape[0] } else { size };
            stmts.push(Stmt::Update("out".into(), "atomic_add", self.own(size, 1), value));
        }
        stmts
    }

    /// An expression of this type. `depth` operators are the most.
    pub fn expr(&mut self, ty: &Ty, depth: usize) -> Expr {
        let (of, shape) = match ty {
            Ty::Tuple(parts) => {
                if let Some(found) = self.one(|bound| bound.ty == *ty).filter(|_| self.random.once_in(2)) {
                    return Expr::Name(found.name);
                }
                if let Some(call) = self.call(ty, depth) {
                    return call;
                }
                if let [Ty::Tile(Elem::Of(dtype), shape), b] = &parts[..]
                    && *b == parts[0]
                    && self.kernel
                    && !shape.is_empty()
                {
                    let pairs = [&shape[..], &[2]].concat();
                    return Expr::Split(boxed(self.named(*dtype, &pairs, depth.max(1))));
                }
                return Expr::Tuple(parts.iter().map(|part| self.expr(part, depth.saturating_sub(1))).collect());
            }
            Ty::Params => return Expr::Name(self.one(|bound| bound.ty == Ty::Params).expect("settings").name),
            Ty::View(..) => return Expr::Name("x".into()),
            Ty::Tile(of, shape) => (*of, shape.clone()),
        };
        if depth == 0 || self.random.once_in(5) {
            return self.leaf(of, &shape);
        }
        let call = if self.random.once_in(6) { self.call(ty, depth) } else { None };
        if let Some(call) = call {
            return call;
        }
        if self.random.once_in(10) && self.depth < 3 {
            let cond = self.condition();
            let (before, a) = self.valued(ty, depth);
            let (otherwise, b) = self.valued(ty, depth);
            return Expr::If(boxed(cond), before, boxed(a), otherwise, boxed(b));
        }
        let Elem::Of(dtype) = of else {
            let (a, b) = (self.expr(ty, depth - 1), self.expr(ty, depth - 1));
            return match self.random.below(4) {
                0 => {
                    let cond = Expr::Binary("<", boxed(a.clone()), boxed(b.clone()));
                    Expr::Elementwise("select", vec![cond, a, b])
                }
                k => Expr::Binary(["+", "-", "*"][k - 1], boxed(a), boxed(b)),
            };
        };
        match self.random.below(12) {
            0 if !shape.is_empty() && shape != [0] => self.moved(dtype, &shape, depth),
            1 if dtype != DType::I8 && dtype != DType::F32 => self.reduced(dtype, &shape, depth),
            2 | 3 => {
                let cond = self.expr(&Ty::Tile(Elem::Of(DType::Bool), shape.clone()), depth - 1);
                let (a, b) = (self.operand(dtype, &shape, depth), self.operand(dtype, &shape, depth));
                Expr::Elementwise("select", vec![cond, a, b])
            }
            4 | 5 if dtype != DType::Bool => {
                let from = self.random.pick(&[DType::I32, DType::F32, DType::I64, DType::U32, DType::I8, DType::Bool]);
                let x = self.named(from, &shape, depth);
                Expr::To(boxed(x), of)
            }
            6 if self.kernel && !shape.is_empty() => self.load(dtype, &shape, depth),
            _ => self.operator(dtype, &shape, depth),
        }
    }

    /// An operand that is not a literal: its type is known without the others.
    pub(super) fn named(&mut self, dtype: DType, shape: &[u32], depth: usize) -> Expr {
        match self.operand(dtype, shape, depth) {
            Expr::Literal(dtype, value, _) => Expr::Literal(dtype, value, true),
            other => other,
        }
    }

    /// Of this shape, or of one that is repeated to it.
    fn operand(&mut self, dtype: DType, shape: &[u32], depth: usize) -> Expr {
        self.expr(&Ty::Tile(Elem::Of(dtype), shape.to_vec()), depth - 1)
    }

    fn operator(&mut self, dtype: DType, shape: &[u32], depth: usize) -> Expr {
        if dtype == DType::Bool {
            let of = self.random.pick(&[DType::I32, DType::F32, DType::I64, DType::U32, DType::Bool]);
            if of == DType::Bool {
                let (a, b) = (self.named(of, shape, depth), self.named(of, shape, depth));
                return match self.random.below(4) {
                    0 => Expr::Unary("!", boxed(a)),
                    k => Expr::Binary(["&", "|", "^"][k - 1], boxed(a), boxed(b)),
                };
            }
            let (a, b) = (self.named(of, shape, depth), self.other(of, shape, depth));
            return Expr::Binary(self.random.pick(&["==", "!=", "<", "<=", ">", ">="]), boxed(a), boxed(b));
        }
        let a = self.named(dtype, shape, depth);
        if dtype == DType::F32 {
            if self.random.once_in(6) {
                return Expr::Unary("-", boxed(a));
            }
            let b = self.other(dtype, shape, depth);
            return Expr::Binary(self.random.pick(&["+", "-", "*", "*", "/"]), boxed(a), boxed(b));
        }
        match self.random.below(8) {
            0 => {
                let amount = self.random.pick(&[0, 1, 3, 7, 31, 33]);
                Expr::Binary(self.random.pick(&["<<", ">>"]), boxed(a), boxed(Expr::Literal(dtype, amount, false)))
            }
            1 => {
                let by = self.random.pick(&[1, 2, 3, 7, 10, 100]);
                Expr::Binary(self.random.pick(&["/", "%"]), boxed(a), boxed(Expr::Literal(dtype, by, false)))
            }
            2 => {
                let b = self.other(dtype, shape, depth);
                Expr::Elementwise(self.random.pick(&["minimum", "maximum"]), vec![a, b])
            }
            3 if dtype.is_signed() => Expr::Unary("-", boxed(a)),
            4 => {
                let b = self.other(dtype, shape, depth);
                Expr::Binary(self.random.pick(&["&", "|", "^"]), boxed(a), boxed(b))
            }
            _ => {
                let b = self.other(dtype, shape, depth);
                Expr::Binary(self.random.pick(&["+", "-", "*"]), boxed(a), boxed(b))
            }
        }
    }

    /// The right operand: a literal takes its type from the left one, and a smaller shape is repeated.
    fn other(&mut self, dtype: DType, shape: &[u32], depth: usize) -> Expr {
        match self.random.below(5) {
            0 => {
                let (value, suffix) = (self.random.below(12) as i64, self.random.once_in(3));
                Expr::Literal(dtype, value, suffix)
            }
            1 => self.operand(dtype, &[], depth),
            2 if shape.len() == 2 => self.operand(dtype, &shape[1..], depth),
            _ => self.operand(dtype, shape, depth),
        }
    }

    fn load(&mut self, dtype: DType, shape: &[u32], depth: usize) -> Expr {
        let at = |maker: &mut Self| match maker.random.below(4) {
            0 => Expr::Name("n".into()),
            1 => Expr::Binary("*", boxed(Expr::Program), boxed(i32(16))),
            2 => i32(maker.random.pick(&[-2, 0, 40])),
            _ => maker.operand(DType::I32, &[], depth),
        };
        let (view, of, rank) = if shape.len() == 2 { ("y", DType::F32, 2) } else { ("x", DType::I32, 1) };
        if shape.len() > 2 {
            return self.leaf(Elem::Of(dtype), shape);
        }
        let at = (0..rank).map(|_| at(self)).collect();
        let other = self.random.once_in(3).then(|| boxed(Expr::Literal(of, self.random.below(9) as i64, false)));
        let load = Expr::Load(view.into(), at, shape.to_vec(), other);
        if of == dtype {
            load
        } else if dtype == DType::Bool {
            Expr::Binary(">", boxed(load), boxed(Expr::Literal(of, 1, false)))
        } else {
            Expr::To(boxed(load), Elem::Of(dtype))
        }
    }

    /// A call of a function whose result has this type.
    fn call(&mut self, ty: &Ty, depth: usize) -> Option<Expr> {
        let index = self.random.below(self.functions.len().max(1));
        let function = self.functions.get(index)?.clone();
        // What the function's shape and element type are here.
        let (mut shape, mut of) = (None, None);
        if !matches(&function.result, ty, &mut shape, &mut of) {
            return None;
        }
        let shape = match shape {
            Some(shape) => shape,
            None => self.shape(),
        };
        let of = match of {
            Some(of) => of,
            None if function.generic => Elem::Of(self.random.pick(&[DType::I32, DType::F32])),
            None => Elem::Of(DType::I32),
        };
        // A bound `Num` is not kept by `bool`; another function's parameter would have to say what it is.
        if function.generic && (of == Elem::Of(DType::Bool) || of == Elem::Generic) || shape.is_empty() {
            return None;
        }
        let views = function.params.iter().any(|(_, ty)| matches!(ty, Ty::View(..)));
        let settings = function.params.iter().any(|(_, ty)| *ty == Ty::Params);
        if (views && !self.kernel) || (settings && self.visible(|b| b.ty == Ty::Params).is_empty()) {
            return None;
        }
        let mut args = Vec::new();
        for (_, ty) in &function.params {
            let ty = concrete(ty, &shape, of);
            let arg = match &ty {
                Ty::Tile(Elem::Of(dtype), shape) => self.named(*dtype, shape, depth),
                _ => self.expr(&ty, depth.saturating_sub(1)),
            };
            args.push(arg);
        }
        let k = function.constant.then(|| self.random.below(9) as i64);
        Some(Expr::Call(index, k, args))
    }

    pub(super) fn leaf(&mut self, of: Elem, shape: &[u32]) -> Expr {
        let wanted = Ty::Tile(of, shape.to_vec());
        if let Some(found) = self.one(|bound| bound.ty == wanted).filter(|_| !self.random.once_in(4)) {
            return Expr::Name(found.name);
        }
        let Elem::Of(dtype) = of else {
            let found =
                self.one(|bound| matches!(bound.ty, Ty::Tile(Elem::Generic, _))).expect("a parameter of that type");
            return Expr::Name(found.name);
        };
        if shape.is_empty() {
            return self.scalar(dtype);
        }
        if shape == [0] {
            // Every function has a tile: what is made of it has its shape.
            let found = self.one(|bound| matches!(&bound.ty, Ty::Tile(_, shape) if *shape == [0])).expect("a tile");
            let tile = Expr::Name(found.name);
            if found.ty == wanted {
                return tile;
            }
            if dtype == DType::Bool {
                return Expr::Binary(
                    "!=",
                    boxed(tile.clone()),
                    boxed(Expr::Binary("*", boxed(tile.clone()), boxed(tile))),
                );
            }
            return Expr::To(boxed(tile), of);
        }
        match shape {
            [n] if dtype == DType::I32 && self.random.once_in(2) => {
                let start = self.random.below(4) as u32;
                Expr::Arange(start, start + n)
            }
            _ => {
                let value = match self.scalar(dtype) {
                    Expr::Literal(dtype, value, _) => Expr::Literal(dtype, value, true),
                    other => other,
                };
                Expr::Full(shape.to_vec(), boxed(value))
            }
        }
    }

    fn scalar(&mut self, dtype: DType) -> Expr {
        let settings = || boxed(Expr::Name("settings".into()));
        let known = self.kernel && self.random.once_in(2);
        match dtype {
            DType::I32 if known => match self.random.below(4) {
                0 => Expr::Program,
                1 => Expr::Field(settings(), "count".into()),
                2 => Expr::Dim("y".into(), 1),
                _ => Expr::Name("n".into()),
            },
            DType::F32 if known => Expr::Field(settings(), "scale".into()),
            DType::I64 if known => Expr::Field(settings(), "wide".into()),
            DType::Bool if known => Expr::Field(settings(), "flag".into()),
            DType::Bool => Expr::Literal(DType::Bool, self.random.below(2) as i64, false),
            _ => Expr::Literal(dtype, self.random.below(20) as i64, true),
        }
    }
}

/// Whether a function's type can be this one, and what its shape and element type are then.
fn matches(of: &Ty, ty: &Ty, shape: &mut Option<Vec<u32>>, elem: &mut Option<Elem>) -> bool {
    match (of, ty) {
        (Ty::Tile(a, x), Ty::Tile(b, y)) => {
            let fits = if *x == [0] { shape.get_or_insert_with(|| y.clone()) == y } else { x == y };
            fits && if *a == Elem::Generic { elem.get_or_insert(*b) == b } else { a == b }
        }
        (Ty::Tuple(a), Ty::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| matches(a, b, shape, elem)),
        (a, b) => a == b,
    }
}

fn concrete(ty: &Ty, shape: &[u32], elem: Elem) -> Ty {
    match ty {
        Ty::Tile(of, own) => {
            let of = if *of == Elem::Generic { elem } else { *of };
            Ty::Tile(of, if *own == [0] { shape.to_vec() } else { own.clone() })
        }
        Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(|part| concrete(part, shape, elem)).collect()),
        other => other.clone(),
    }
}
