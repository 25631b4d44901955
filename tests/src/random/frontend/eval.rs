//! What a program of the language means, independent of the checker and of the interpreter: trees are walked, and numbers
//! are Rust's.

use super::tree::{Elem, Expr, Function, Stmt};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use triton_core::types::DType;

/// A value.
#[derive(Clone, Debug)]
pub enum Val {
    /// A number or a tile, row-major.
    Tile(DType, Vec<u32>, Vec<Num>),
    /// A tuple, or the struct.
    Tuple(Vec<Val>),
    /// A view by its name.
    View(String),
}

/// An element.
#[derive(Clone, Copy, Debug)]
pub enum Num {
    /// An integer or a `bool`, in the range of its type.
    Int(i128),
    /// A float.
    Float(f32),
}

/// A view of a buffer.
#[derive(Clone, Debug)]
pub struct View {
    /// Of its elements.
    pub dtype: DType,
    /// Lengths of the axes.
    pub extents: Vec<i64>,
    /// Distances along them.
    pub strides: Vec<i64>,
    /// All elements.
    pub data: Vec<Num>,
}

/// What a program runs on.
pub struct Machine<'a> {
    /// Functions, by their numbers.
    pub functions: &'a [Function],
    /// Buffers, by the names of the kernel's parameters.
    pub views: BTreeMap<String, View>,
    /// The names of the struct's fields.
    pub fields: Vec<String>,
    /// The program that runs.
    pub program: i128,
}

/// The names in scope.
#[derive(Clone, Default)]
pub struct Scope {
    /// Each with its value, the innermost last.
    pub names: Vec<(String, Val)>,
    /// What the type parameter is.
    generic: Option<DType>,
}

impl Scope {
    fn get(&self, name: &str) -> &Val {
        let found = self.names.iter().rev().find(|(known, _)| known == name);
        found.map_or_else(|| panic!("no `{name}`"), |(_, value)| value)
    }

    fn set(&mut self, name: &str, value: Val) {
        let slot = self.names.iter_mut().rev().find(|(known, _)| known == name);
        slot.unwrap_or_else(|| panic!("no `{name}`")).1 = value;
    }
}

/// A number of this type, wrapped.
pub fn wrap(dtype: DType, x: i128) -> Num {
    Num::Int(match dtype {
        DType::Bool => i128::from(x != 0),
        DType::I8 => (x as i8).into(),
        DType::U8 => (x as u8).into(),
        DType::I32 => (x as i32).into(),
        DType::U32 => (x as u32).into(),
        DType::I64 => (x as i64).into(),
        other => panic!("numbers of {other} are not made"),
    })
}

fn int(x: Num) -> i128 {
    match x {
        Num::Int(x) => x,
        Num::Float(x) => panic!("{x} is not an integer"),
    }
}

impl Val {
    /// The element of a number.
    pub fn number(&self) -> i128 {
        let (_, _, data) = self.tile();
        int(data[0])
    }

    fn tile(&self) -> (DType, &[u32], &[Num]) {
        match self {
            Val::Tile(dtype, shape, data) => (*dtype, shape, data),
            Val::Tuple(_) | Val::View(_) => panic!("not a tile"),
        }
    }
}

fn strides(shape: &[u32]) -> Vec<usize> {
    (0..shape.len()).map(|k| shape[k + 1..].iter().product::<u32>() as usize).collect()
}

/// The coordinates of each element.
fn coordinates(shape: &[u32]) -> impl Iterator<Item = Vec<u32>> + '_ {
    let count = shape.iter().product::<u32>();
    (0..count).map(move |at| {
        let strides = strides(shape);
        shape.iter().zip(strides).map(|(n, stride)| at / stride as u32 % n).collect()
    })
}

/// The shape that two have together, as NumPy has it.
pub fn together(a: &[u32], b: &[u32]) -> Vec<u32> {
    let rank = a.len().max(b.len());
    let length = |shape: &[u32], k: usize| (k + shape.len()).checked_sub(rank).map_or(1, |k| shape[k]);
    (0..rank).map(|k| length(a, k).max(length(b, k))).collect()
}

fn broadcast(shape: &[u32], from: &[u32], data: &[Num]) -> Vec<Num> {
    let steps = strides(from);
    let element = |at: Vec<u32>| {
        let skip = shape.len() - from.len();
        let parts = (0..from.len()).map(|k| if from[k] == 1 { 0 } else { at[k + skip] as usize * steps[k] });
        data[parts.sum::<usize>()]
    };
    coordinates(shape).map(element).collect()
}

fn compare<T: PartialOrd>(op: &str, a: T, b: T) -> Option<bool> {
    Some(match op {
        "==" => a == b,
        "!=" => a != b,
        "<" => a < b,
        "<=" => a <= b,
        ">" => a > b,
        ">=" => a >= b,
        _ => return None,
    })
}

fn binary(op: &str, dtype: DType, a: Num, b: Num) -> Num {
    let bool = |x: bool| Num::Int(x.into());
    let compared = match (a, b) {
        (Num::Float(a), Num::Float(b)) => compare(op, a, b),
        (Num::Int(a), Num::Int(b)) => compare(op, a, b),
        (Num::Int(_), Num::Float(_)) | (Num::Float(_), Num::Int(_)) => None,
    };
    if let Some(compared) = compared {
        return bool(compared);
    }
    match (a, b) {
        (Num::Float(a), Num::Float(b)) => match op {
            "+" => Num::Float(a + b),
            "-" => Num::Float(a - b),
            "*" => Num::Float(a * b),
            "/" => Num::Float(a / b),
            _ => panic!("`{op}` of floats"),
        },
        (Num::Int(a), Num::Int(b)) => {
            let width = i128::from(dtype.bits());
            match op {
                "+" | "sum" => wrap(dtype, a + b),
                "-" => wrap(dtype, a - b),
                "*" => wrap(dtype, a * b),
                "/" => wrap(dtype, a / b),
                "%" => wrap(dtype, a % b),
                "&" => wrap(dtype, a & b),
                "|" => wrap(dtype, a | b),
                "^" => wrap(dtype, a ^ b),
                "<<" if b >= width => wrap(dtype, 0),
                "<<" => wrap(dtype, a << b),
                ">>" => wrap(dtype, a >> b.min(width - 1 + i128::from(a >= 0))),
                "minimum" | "min" => Num::Int(a.min(b)),
                "maximum" | "max" => Num::Int(a.max(b)),
                "any" => bool(a != 0 || b != 0),
                "all" => bool(a != 0 && b != 0),
                _ => panic!("`{op}` of integers"),
            }
        }
        (Num::Int(_), Num::Float(_)) | (Num::Float(_), Num::Int(_)) => panic!("`{op}` of two types"),
    }
}

fn convert(x: Num, to: DType) -> Num {
    match (x, to) {
        (Num::Float(x), DType::F32) => Num::Float(x),
        (Num::Float(x), DType::Bool) => Num::Int((x != 0.0).into()),
        (Num::Float(x), DType::I8) => Num::Int((x as i8).into()),
        (Num::Float(x), DType::U8) => Num::Int((x as u8).into()),
        (Num::Float(x), DType::I32) => Num::Int((x as i32).into()),
        (Num::Float(x), DType::U32) => Num::Int((x as u32).into()),
        (Num::Float(x), DType::I64) => Num::Int((x as i64).into()),
        (Num::Float(_), other) => panic!("a float to {other}"),
        (Num::Int(x), DType::F32) => Num::Float(x as f32),
        (Num::Int(x), to) => wrap(to, x),
    }
}

/// What follows a block.
#[derive(PartialEq, Eq)]
pub enum Flow {
    /// The next statement.
    On,
    /// What follows the loop with a label.
    Broken(String),
    /// Its next iteration.
    Continued(String),
    /// Nothing: the program has ended.
    Returned,
}

impl Flow {
    /// What follows the body of the loop with a label: another iteration, or this.
    fn around(self, label: &str) -> ControlFlow<Flow> {
        match self {
            Flow::On => ControlFlow::Continue(()),
            Flow::Continued(of) if of == label => ControlFlow::Continue(()),
            Flow::Broken(of) if of == label => ControlFlow::Break(Flow::On),
            other => ControlFlow::Break(other),
        }
    }
}

impl Machine<'_> {
    /// Binds a constant of the file.
    pub fn global(&mut self, scope: &mut Scope, name: &str, value: &Expr) {
        let value = self.expr(scope, value);
        scope.names.push((name.to_owned(), value));
    }

    /// Runs statements as a scope of their own.
    pub fn block(&mut self, scope: &mut Scope, stmts: &[Stmt]) -> Flow {
        let outside = scope.names.len();
        let flow = self.stmts(scope, stmts);
        scope.names.truncate(outside);
        flow
    }

    fn stmts(&mut self, scope: &mut Scope, stmts: &[Stmt]) -> Flow {
        for stmt in stmts {
            match stmt {
                Stmt::Let(name, _, value) | Stmt::Const(name, value) => {
                    let value = self.expr(scope, value);
                    scope.names.push((name.clone(), value));
                }
                Stmt::Unpack(names, value) => {
                    let Val::Tuple(parts) = self.expr(scope, value) else { panic!("not a tuple") };
                    scope.names.extend(names.iter().cloned().zip(parts));
                }
                Stmt::Assign(name, op, value) => {
                    let mut value = self.expr(scope, value);
                    if let Some(op) = op.strip_suffix('=').filter(|op| !op.is_empty()) {
                        value = between(op, scope.get(name), &value);
                    }
                    scope.set(name, value);
                }
                Stmt::If(cond, then, otherwise) => {
                    let taken = self.expr(scope, cond).number() != 0;
                    match self.block(scope, if taken { then } else { otherwise }) {
                        Flow::On => {}
                        other => return other,
                    }
                }
                Stmt::For(label, name, [start, end], step, _, body) => {
                    let (mut at, end) = (self.expr(scope, start).number(), self.expr(scope, end).number());
                    while at < end {
                        scope.names.push((name.clone(), number(DType::I32, at)));
                        let flow = self.block(scope, body);
                        scope.names.pop();
                        match flow.around(label) {
                            ControlFlow::Continue(()) => at += i128::from(*step),
                            ControlFlow::Break(Flow::On) => break,
                            ControlFlow::Break(other) => return other,
                        }
                    }
                }
                Stmt::While(label, name, end, _, body) => {
                    scope.names.push((name.clone(), number(DType::I32, 0)));
                    while scope.get(name).number() < self.expr(scope, end).number() {
                        match self.block(scope, body).around(label) {
                            ControlFlow::Continue(()) => {}
                            ControlFlow::Break(Flow::On) => break,
                            ControlFlow::Break(other) => return other,
                        }
                        let next = scope.get(name).number() + 1;
                        scope.set(name, number(DType::I32, next));
                    }
                }
                Stmt::Store(view, at, value) => self.update(scope, view, at, value, |_, new, _| new),
                Stmt::Update(view, op, at, value) => {
                    let op = op.trim_start_matches("atomic_");
                    let op = if op == "add" { "+" } else { op };
                    self.update(scope, view, at, value, |old, new, dtype| binary(op, dtype, old, new));
                }
                Stmt::Break(label) => return Flow::Broken(label.clone()),
                Stmt::Continue(label) => return Flow::Continued(label.clone()),
                Stmt::Return => return Flow::Returned,
            }
        }
        Flow::On
    }

    fn at(&mut self, scope: &mut Scope, at: &[Expr]) -> Vec<i128> {
        at.iter().map(|at| self.expr(scope, at).number()).collect()
    }

    fn update(&mut self, scope: &mut Scope, view: &str, at: &[Expr], value: &Expr, f: impl Fn(Num, Num, DType) -> Num) {
        let (at, value) = (self.at(scope, at), self.expr(scope, value));
        let (dtype, shape, data) = value.tile();
        let view = self.views.get_mut(view).expect("a view");
        for (coordinate, new) in coordinates(shape).zip(data) {
            if let Some(element) = view.element(&at, &coordinate) {
                view.data[element] = f(view.data[element], *new, dtype);
            }
        }
    }

    fn expr(&mut self, scope: &mut Scope, of: &Expr) -> Val {
        match of {
            Expr::Name(name) => scope.get(name).clone(),
            Expr::Literal(DType::F32, value, _) => Val::Tile(DType::F32, vec![], vec![Num::Float(*value as f32 / 4.0)]),
            Expr::Literal(dtype, value, _) => number(*dtype, (*value).into()),
            Expr::Unary(op, x) => {
                let value = self.expr(scope, x);
                let (dtype, shape, data) = value.tile();
                let each = |x: &Num| match (*op, *x) {
                    ("-", Num::Float(x)) => Num::Float(-x),
                    ("-", Num::Int(x)) => wrap(dtype, -x),
                    (_, Num::Int(x)) if dtype == DType::Bool => Num::Int(1 - x),
                    (_, Num::Int(x)) => wrap(dtype, !x),
                    (op, x) => panic!("`{op}` of {x:?}"),
                };
                Val::Tile(dtype, shape.to_vec(), data.iter().map(each).collect())
            }
            Expr::Binary("&&", a, b) => {
                if self.expr(scope, a).number() == 0 {
                    number(DType::Bool, 0)
                } else {
                    self.expr(scope, b)
                }
            }
            Expr::Binary("||", a, b) => {
                if self.expr(scope, a).number() != 0 {
                    number(DType::Bool, 1)
                } else {
                    self.expr(scope, b)
                }
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.expr(scope, a), self.expr(scope, b));
                between(op, &a, &b)
            }
            Expr::Elementwise("select", args) => {
                let args: Vec<Val> = args.iter().map(|x| self.expr(scope, x)).collect();
                let shape = args.iter().fold(Vec::new(), |shape, x| together(&shape, x.tile().1));
                let [cond, a, b] = [0, 1, 2].map(|k| broadcast(&shape, args[k].tile().1, args[k].tile().2));
                let chosen = (0..cond.len()).map(|i| if int(cond[i]) != 0 { a[i] } else { b[i] });
                Val::Tile(args[1].tile().0, shape.clone(), chosen.collect())
            }
            Expr::Elementwise(name, args) => {
                let (a, b) = (self.expr(scope, &args[0]), self.expr(scope, &args[1]));
                between(name, &a, &b)
            }
            Expr::Reduce(name, x, axis) => reduce(name, &self.expr(scope, x), *axis),
            Expr::Scan(name, x, axis) => scan(name, &self.expr(scope, x), *axis),
            Expr::To(x, to) => {
                let to = match to {
                    Elem::Of(dtype) => *dtype,
                    Elem::Generic => scope.generic.expect("a type argument"),
                };
                let value = self.expr(scope, x);
                let (_, shape, data) = value.tile();
                Val::Tile(to, shape.to_vec(), data.iter().map(|&x| convert(x, to)).collect())
            }
            Expr::Reshaped("broadcast_to", x, shape) => {
                let value = self.expr(scope, x);
                let (dtype, from, data) = value.tile();
                Val::Tile(dtype, shape.clone(), broadcast(shape, from, data))
            }
            Expr::Reshaped(_, x, shape) => {
                let value = self.expr(scope, x);
                Val::Tile(value.tile().0, shape.clone(), value.tile().2.to_vec())
            }
            Expr::Expand(x, axis) => {
                let value = self.expr(scope, x);
                let mut shape = value.tile().1.to_vec();
                shape.insert(*axis, 1);
                Val::Tile(value.tile().0, shape, value.tile().2.to_vec())
            }
            Expr::Transpose(x) => {
                let value = self.expr(scope, x);
                let (dtype, shape, data) = value.tile();
                let [m, n] = shape else { panic!("a matrix") };
                let turned = (0..*n).flat_map(|j| (0..*m).map(move |i| data[(i * n + j) as usize]));
                Val::Tile(dtype, vec![*n, *m], turned.collect())
            }
            Expr::Arange(start, end) => {
                Val::Tile(DType::I32, vec![end - start], (*start..*end).map(|x| Num::Int(x.into())).collect())
            }
            Expr::Pairs(name, a, b) => pairs(name, &self.expr(scope, a), &self.expr(scope, b)),
            Expr::Split(x) => {
                let value = self.expr(scope, x);
                let (dtype, shape, data) = value.tile();
                let half = |index| data.iter().copied().skip(index).step_by(2).collect();
                let shape = &shape[..shape.len() - 1];
                Val::Tuple([0, 1].map(|index| Val::Tile(dtype, shape.to_vec(), half(index))).to_vec())
            }
            Expr::ArangeTo(end) => {
                let end = self.expr(scope, end).number();
                Val::Tile(DType::I32, vec![end as u32], (0..end).map(Num::Int).collect())
            }
            Expr::Dot(a, b, acc, _) => {
                let [a, b, acc] = [a, b, acc].map(|x| self.expr(scope, x));
                dot(&a, &b, &acc)
            }
            Expr::Zeros(dtype, shape) => {
                Val::Tile(*dtype, shape.clone(), vec![zero(*dtype); shape.iter().product::<u32>() as usize])
            }
            Expr::Full(shape, x) => {
                let value = self.expr(scope, x);
                let count = shape.iter().product::<u32>() as usize;
                Val::Tile(value.tile().0, shape.clone(), vec![value.tile().2[0]; count])
            }
            Expr::Program => number(DType::I32, self.program),
            Expr::Call(index, k, args) => self.call(scope, *index, *k, args),
            Expr::Field(x, name) => {
                let Val::Tuple(parts) = self.expr(scope, x) else { panic!("no struct") };
                let index = self.fields.iter().position(|field| field == name);
                parts[index.expect("a field")].clone()
            }
            Expr::Tuple(parts) => Val::Tuple(parts.iter().map(|x| self.expr(scope, x)).collect()),
            Expr::Load(view, at, shape, other) => {
                let name = match scope.names.iter().rev().find(|(known, _)| known == view) {
                    Some((_, Val::View(name))) => name.clone(),
                    Some(_) | None => view.clone(),
                };
                let at = self.at(scope, at);
                let other = other.as_ref().map(|x| self.expr(scope, x).tile().2[0]);
                let view = &self.views[&name];
                let padding = other.unwrap_or(zero(view.dtype));
                let load = |k: Vec<u32>| view.element(&at, &k).map_or(padding, |element| view.data[element]);
                Val::Tile(view.dtype, shape.clone(), coordinates(shape).map(load).collect())
            }
            Expr::Dim(view, axis) => number(DType::I32, self.views[view].extents[*axis].into()),
            Expr::If(cond, before, a, otherwise, b) => {
                let taken = self.expr(scope, cond).number() != 0;
                let (stmts, value) = if taken { (before, a) } else { (otherwise, b) };
                let outside = scope.names.len();
                self.stmts(scope, stmts);
                let value = self.expr(scope, value);
                scope.names.truncate(outside);
                value
            }
        }
    }

    fn call(&mut self, scope: &mut Scope, index: usize, k: Option<i64>, args: &[Expr]) -> Val {
        let function = &self.functions[index];
        let mut inner = Scope::default();
        for ((name, ty), arg) in function.params.iter().zip(args) {
            let value = match (ty, arg) {
                (super::tree::Ty::View(..), Expr::Name(view)) => Val::View(view.clone()),
                _ => self.expr(scope, arg),
            };
            if let (super::tree::Ty::Tile(Elem::Generic, _), Val::Tile(dtype, ..)) = (ty, &value) {
                inner.generic = Some(*dtype);
            }
            inner.names.push((name.clone(), value));
        }
        inner.names.extend(k.map(|k| ("K".to_owned(), number(DType::I32, k.into()))));
        // Constants are seen from everywhere.
        let constants = scope.names.iter().filter(|(name, _)| name.starts_with("GLOBAL"));
        inner.names.splice(0..0, constants.cloned().collect::<Vec<_>>());
        let (body, value) = (function.body.clone(), function.value.clone());
        self.stmts(&mut inner, &body);
        self.expr(&mut inner, &value)
    }
}

impl View {
    fn element(&self, at: &[i128], coordinate: &[u32]) -> Option<usize> {
        let mut element = 0;
        for axis in 0..at.len() {
            let index = at[axis] + i128::from(coordinate[axis]);
            if index < 0 || index >= self.extents[axis].into() {
                return None;
            }
            element += index as i64 * self.strides[axis];
        }
        Some(element as usize)
    }
}

/// A scalar.
pub fn number(dtype: DType, x: i128) -> Val {
    Val::Tile(dtype, Vec::new(), vec![wrap(dtype, x)])
}

fn between(op: &str, a: &Val, b: &Val) -> Val {
    let ((dtype, x, xs), (_, y, ys)) = (a.tile(), b.tile());
    let shape = together(x, y);
    let (xs, ys) = (broadcast(&shape, x, xs), broadcast(&shape, y, ys));
    let data = xs.into_iter().zip(ys).map(|(x, y)| binary(op, dtype, x, y)).collect();
    let compares = matches!(op, "==" | "!=" | "<" | "<=" | ">" | ">=");
    Val::Tile(if compares { DType::Bool } else { dtype }, shape, data)
}

fn zero(dtype: DType) -> Num {
    if dtype.is_float() { Num::Float(0.0) } else { Num::Int(0) }
}

/// Of whole numbers: in any order, and with any precision.
fn dot(a: &Val, b: &Val, acc: &Val) -> Val {
    let ((_, x, xs), (_, _, ys), (dtype, shape, sums)) = (a.tile(), b.tile(), acc.tile());
    let (k, n) = (x[1] as usize, shape[1] as usize);
    let whole = |x: &Num| match *x {
        Num::Int(x) => x as i64,
        Num::Float(x) => x as i64,
    };
    let [xs, ys] = [xs, ys].map(|tile| tile.iter().map(whole).collect::<Vec<i64>>());
    let mut products = vec![0; sums.len()];
    for (at, &x) in xs.iter().enumerate().filter(|(_, x)| **x != 0) {
        let (row, line) = (&mut products[at / k * n..][..n], &ys[at % k * n..][..n]);
        row.iter_mut().zip(line).for_each(|(sum, y)| *sum += x * y);
    }
    let add = |(sum, product): (&Num, &i64)| match *sum {
        Num::Int(sum) => wrap(dtype, sum + i128::from(*product)),
        Num::Float(sum) => Num::Float(sum + *product as f32),
    };
    Val::Tile(dtype, shape.to_vec(), sums.iter().zip(&products).map(add).collect())
}

/// Elements of two tiles in turns.
fn pairs(name: &str, a: &Val, b: &Val) -> Val {
    let ((dtype, x, xs), (_, y, ys)) = (a.tile(), b.tile());
    let mut shape = together(x, y);
    let data = broadcast(&shape, x, xs).into_iter().zip(broadcast(&shape, y, ys)).flat_map(|(x, y)| [x, y]).collect();
    match (name, shape.last_mut()) {
        ("interleave", Some(last)) => *last *= 2,
        _ => shape.push(2),
    }
    Val::Tile(dtype, shape, data)
}

/// Of whole numbers: in any order.
fn scan(name: &str, value: &Val, axis: usize) -> Val {
    let (dtype, shape, data) = value.tile();
    let (name, step) = (name.strip_prefix("cum").unwrap_or(name), strides(shape)[axis]);
    let mut scanned = data.to_vec();
    for at in 0..data.len() {
        if at / step % shape[axis] as usize != 0 {
            scanned[at] = binary(name, dtype, scanned[at - step], data[at]);
        }
    }
    Val::Tile(dtype, shape.to_vec(), scanned)
}

fn reduce(name: &str, value: &Val, axis: Option<usize>) -> Val {
    let (dtype, shape, data) = value.tile();
    let Some(axis) = axis else {
        let first = data[0];
        let all = data[1..].iter().fold(first, |a, &b| binary(name, dtype, a, b));
        return Val::Tile(dtype, Vec::new(), vec![all]);
    };
    let mut rest = shape.to_vec();
    let length = rest.remove(axis);
    let steps = strides(shape);
    let along = |mut at: Vec<u32>| {
        at.insert(axis, 0);
        let first: usize = at.iter().zip(&steps).map(|(&k, step)| k as usize * step).sum();
        let line = (0..length as usize).map(|k| data[first + k * steps[axis]]);
        line.reduce(|a, b| binary(name, dtype, a, b)).expect("a line is not empty")
    };
    let results = coordinates(&rest).map(along).collect();
    Val::Tile(dtype, rest, results)
}
