//! `join`, `interleave` and `split`: two tiles as one with a last axis of 2, and back.

use super::Checker;
use super::builtins::BROADCAST;
use super::value::{Arg, Val};
use crate::diag::{Code, Diagnostic};
use crate::ir::Value;
use crate::ops::Op;
use crate::span::Span;
use crate::types::{MAX_RANK, MAX_TILE, Shape, Type};

impl Checker<'_> {
    /// `join(a, b)`.
    pub(super) fn join(&mut self, name: &str, a: &Arg, b: &Arg, span: Span) -> Option<Value> {
        let [ta, tb] = [self.tile_of(name, a)?, self.tile_of(name, b)?];
        if ta.elem != tb.elem {
            let message = format!("`{name}` of `{}` and `{}`", ta.describe(), tb.describe());
            let problem = Diagnostic::new(Code::T0102, b.1, message);
            return self.report(match ta.elem.num().filter(|_| tb.elem.num().is_some()) {
                Some(dtype) => problem.help(format!("write `.to::<{}>()` here", self.spelled(dtype))),
                None => problem.help("join tiles of one element type"),
            });
        }
        let Some(shape) = Shape::broadcast(ta.shape, tb.shape) else {
            let message = format!("`{name}` of shape {} and `{}`", ta.shape, tb.describe());
            return self.report(Diagnostic::new(Code::T0103, b.1, message).help(BROADCAST));
        };
        if shape.rank() == MAX_RANK {
            let problem = Diagnostic::new(Code::T0123, span, format!("a tile with more than {MAX_RANK} dimensions"));
            return self.report(problem.help("remove an axis with `reshape` before"));
        }
        if 2 * shape.elements() > MAX_TILE {
            let problem = Diagnostic::new(Code::T0108, span, format!("a tile of more than {MAX_TILE} elements"));
            return self.report(problem.help("let several programs share the work"));
        }
        let (a, b) = (self.materialise(a.0.clone(), None, a.1)?, self.materialise(b.0.clone(), None, b.1)?);
        let (a, b) = (self.replicate(a, shape, span)?, self.replicate(b, shape, span)?);
        self.append(Op::Join { a, b }, span)
    }

    /// `interleave(a, b)`: a join whose last two axes are one.
    pub(super) fn interleave(&mut self, name: &str, a: &Arg, b: &Arg, span: Span) -> Option<Val> {
        let x = self.join(name, a, b, span)?;
        let mut dims = self.func.ty(x).shape.dims().to_vec();
        let pairs = dims.pop()?;
        *dims.last_mut()? *= pairs;
        let shape = Shape::new(&dims)?;
        self.append(Op::Reshape { x, shape }, span).map(Val::Ir)
    }

    /// `split(x)`.
    pub(super) fn split(&mut self, x: &Arg, span: Span) -> Option<Val> {
        let ty = self.tile_of("split", x)?;
        let [.., last] = *ty.shape.dims() else { return None };
        if last != 2 {
            let message = format!("`split` takes a tile whose last axis has 2 elements, found `{}`", ty.describe());
            let help = "make the pairs the last axis with `reshape` or `permute`";
            return self.report(Diagnostic::new(Code::T0123, x.1, message).help(help));
        }
        if ty.shape.rank() == 1 {
            let message = format!("`split` of `{}` would be two numbers", ty.describe());
            return self
                .report(Diagnostic::new(Code::T0123, x.1, message).help("insert an axis with `x.expand_dims(0)`"));
        }
        let x = self.materialise(x.0.clone(), None, x.1)?;
        let halves = [0, 1].map(|index| self.append(Op::Split { x, index }, span).map(Val::Ir));
        halves.into_iter().collect::<Option<_>>().map(Val::Tuple)
    }

    /// The type of an argument that has to be a tile.
    fn tile_of(&mut self, name: &str, (value, at): &Arg) -> Option<Type> {
        let ty = value.ty(&self.func).filter(|ty| ty.shape != Shape::SCALAR);
        if ty.is_some() {
            return ty;
        }
        let message = format!("`{name}` is for tiles, found `{}`", self.describe(value));
        let help = "make a tile of a number with `full(shape, number)`";
        self.report(Diagnostic::new(Code::T0104, *at, message).help(help))
    }
}
