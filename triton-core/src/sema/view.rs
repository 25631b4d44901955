//! Views: what `a.load(at, shape)` and `c.store(at, value)` are made of.
//!
//! A view arrives as its address, its extents and its strides, and stays one ([`Location::View`]). Elements out of bounds are
//! padding: 0 for a load, or the value given to `load_or`; a store skips them.

use super::Checker;
use super::memory::element_for;
use super::value::{Val, View};
use crate::ast::{Expr, Ident, Param as AstParam};
use crate::diag::{Code, Diagnostic};
use crate::ir::{self, Value};
use crate::metadata::Promised;
use crate::ops::{Location, MemoryOrder, Op, Values};
use crate::span::Span;
use crate::types::{DType, Elem, Shape, Type};

/// The methods of a view beside the atomic updates, and what they take.
const METHODS: &[(&str, &[&str])] = &[
    ("load", &["at", "shape"]),
    ("load_or", &["at", "shape", "other"]),
    ("store", &["at", "value"]),
    ("get", &["at"]),
    ("gather", &["at", "mask"]),
    ("gather_or", &["at", "mask", "other"]),
    ("scatter", &["at", "value", "mask"]),
    ("dim", &["axis"]),
    ("stride", &["axis"]),
];

impl Checker<'_> {
    /// The parameters that a view becomes, in the order in which a launch passes them.
    pub(super) fn view_param(&mut self, param: &AstParam, dtype: DType, rank: u8, mutable: bool) -> Val {
        let name = &param.name.name;
        let rank = rank as usize;
        let ty = Type { elem: Elem::Ptr { pointee: dtype, mutable }, shape: Shape::SCALAR };
        let promised = |promised: Promised| if param.general { Promised::Nothing } else { promised };
        let ptr = self.func.add_param(name, ty, param.multiple_of, promised(Promised::Divisible));
        let (last, elements) = (rank - 1, 16 / dtype.bytes());
        let extents = (0..rank).map(|axis| {
            let promised = promised(if axis == last { Promised::Extent(elements) } else { Promised::Nothing });
            self.func.add_param(format!("{name}.extent{axis}"), Type::scalar(DType::I32), 1, promised)
        });
        let extents: Vec<Value> = extents.collect();
        let strides = (0..rank).map(|axis| {
            let promised = promised(if axis == last { Promised::Unit } else { Promised::Pitch(elements) });
            self.func.add_param(format!("{name}.stride{axis}"), Type::scalar(DType::I64), 1, promised)
        });
        let strides: Vec<Value> = strides.collect();
        self.func.views.push(ir::View { base: ptr, extents: Vec::clone(&extents), strides: strides.clone() });
        Val::View(View { dtype, mutable, ptr, extents, strides })
    }

    /// A method of a view.
    pub(super) fn view_method(&mut self, view: &View, name: &Ident, args: &[Expr]) -> Option<Val> {
        if let Some(updated) = self.view_update(view, name, MemoryOrder::Relaxed, args) {
            return updated;
        }
        let Some((method, params)) = METHODS.iter().find(|(method, _)| *method == name.name) else {
            let names: Vec<String> = METHODS.iter().map(|(method, _)| format!("`{method}`")).collect();
            let methods = format!("a view has {}, and the atomic updates", names.join(", "));
            return self.unknown_method(&view.describe(), name, args, &methods);
        };
        match (*method, args) {
            ("dim", [axis]) => self.view_axis(view, axis).map(|axis| Val::Ir(view.extents[axis])),
            ("stride", [axis]) => self.view_axis(view, axis).map(|axis| Val::Ir(view.strides[axis])),
            ("load", [at, shape]) => self.view_load(view, [at, shape], None, name.span),
            ("load_or", [at, shape, other]) => self.view_load(view, [at, shape], Some(other), name.span),
            ("store", [at, value]) => self.view_store(view, [at, value], name.span),
            ("get", [_]) | ("gather", [_, _]) | ("gather_or", [_, _, _]) => self.gathered(view, name, args),
            ("scatter", [_, _, _]) => self.scattered(view, name, args),
            _ => self.wrong_count(name, params, args.len()),
        }
    }

    fn view_axis(&mut self, view: &View, axis: &Expr) -> Option<usize> {
        self.axis_below(axis, &view.describe(), view.extents.len())
    }

    fn view_load(&mut self, view: &View, [at, shape]: [&Expr; 2], other: Option<&Expr>, span: Span) -> Option<Val> {
        let (index, tile) = (self.view_index(view, at), self.shape(shape));
        let (at, tile) = (index?, tile?);
        self.check_rank(view, tile, true, shape.span)?;
        let other = match self.values(other)?.first() {
            Some(other) => Some(element_for(self, "the padding", other, view.dtype, tile)?),
            None => None,
        };
        let from = self.location(view, &at, tile)?;
        self.append(Op::Load { from, other }, span).map(Val::Ir)
    }

    fn view_store(&mut self, view: &View, [at, value]: [&Expr; 2], span: Span) -> Option<Val> {
        let at = self.view_index(view, at);
        if !view.mutable {
            return self.read_only_view(view, "a store", span);
        }
        let value = self.view_value(view, "the stored value", value);
        let (at, value) = (at?, value?);
        let shape = self.func.ty(value).shape;
        let to = self.location(view, &at, shape)?;
        self.append(Op::Store { to, value }, span);
        Some(Val::Unit)
    }

    pub(super) fn wrong_count<T>(&mut self, name: &Ident, params: &[&str], given: usize) -> Option<T> {
        let (n, s) = (params.len(), if params.len() == 1 { "" } else { "s" });
        let message = format!("`{}` takes {n} argument{s}, {given} given", name.name);
        let help = format!("write `{}({})`", name.name, params.join(", "));
        self.report(Diagnostic::new(Code::T0101, name.span, message).help(help))
    }

    pub(super) fn read_only_view<T>(&mut self, view: &View, what: &str, span: Span) -> Option<T> {
        let message = format!("{what} through `Tensor`, which is read-only");
        let help = format!("declare the parameter as `TensorMut<{}, {}>`", view.dtype, view.extents.len());
        self.report(Diagnostic::new(Code::T0109, span, message).help(help))
    }

    /// A tile for a view: of its element type, with as many dimensions.
    pub(super) fn view_value(&mut self, view: &View, what: &str, written: &Expr) -> Option<Value> {
        let span = written.span;
        let value = self.expr(written).and_then(|v| self.not_unit(v, span))?;
        let value = self.literal_as(value, Some(view.dtype), span)?;
        match value.ty(&self.func) {
            Some(ty) if ty.elem == Elem::Num(view.dtype) => {}
            _ => {
                let message = format!("{what} is `{}`, the view holds `{}`", self.describe(&value), view.dtype);
                return self.report(
                    Diagnostic::new(Code::T0110, span, message)
                        .help(format!("write `.to::<{}>()`", self.spelled(view.dtype))),
                );
            }
        }
        let value = self.materialise(value, None, span)?;
        self.check_rank(view, self.func.ty(value).shape, false, span)?;
        Some(value)
    }

    /// A tile has as many dimensions as its view; whether its shape is what was written, or follows from a value.
    fn check_rank(&mut self, view: &View, shape: Shape, written: bool, span: Span) -> Option<()> {
        if shape.rank() == view.extents.len() {
            return Some(());
        }
        let (found, wanted) = (shape.rank(), view.extents.len());
        let s = if found == 1 { "" } else { "s" };
        let message = format!("a tile with {found} dimension{s} for `{}`", view.describe());
        let help = match found {
            _ if written => "write an extent for each axis of the view: 1 for one that is fixed, as in `[1, 64]`",
            0 => "a number is stored as a tile of one element: `full([1], number)`, with an extent for each axis",
            _ if found < wanted => "a tile has as many dimensions as its view: add one of extent 1, `x.expand_dims(0)`",
            _ => "a tile has as many dimensions as its view: reduce it along an axis, or `x.reshape(shape)`",
        };
        self.report(Diagnostic::new(Code::T0123, span, message).help(help))
    }

    /// The first index along each axis: a scalar of `i32` or `i64`.
    pub(super) fn view_index(&mut self, view: &View, at: &Expr) -> Option<Vec<Value>> {
        let index = self.indices(view, at)?;
        for &(value, span) in &index {
            let ty = self.func.ty(value);
            if ty.shape != Shape::SCALAR {
                let message = format!("the first index of a tile is a scalar, found `{}`", ty.describe());
                let help = "for an index per element write `gather`, `scatter` or `atomic_.._at`";
                return self.report(Diagnostic::new(Code::T0102, span, message).help(help));
            }
        }
        Some(index.into_iter().map(|(value, _)| value).collect())
    }

    /// A tile of this shape in a view.
    pub(super) fn location(&self, view: &View, at: &[Value], shape: Shape) -> Option<Location> {
        Some(Location::View { base: view.ptr, at: Values::new(at)?, shape })
    }
}
