//! Views: what `a.load(at, shape)` and `c.store(at, value)` are made of.
//!
//! A view arrives as its address, its extents and its strides, and stays one ([`Location::View`]). Elements out of bounds are
//! padding: 0 for a load, or the value given to `load_or`; a store skips them.

use super::Checker;
use super::memory::element_for;
use super::value::{Val, View};
use crate::ast::{Expr, Ident, Param as AstParam};
use crate::diag::{Code, Diagnostic};
use crate::ir::{self, Promised, Value};
use crate::ops::{Location, MemoryOrder, Op, Values};
use crate::span::Span;
use crate::types::{DType, Elem, Shape, Type};

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
        let params: &[&str] = match name.name.as_str() {
            "dim" | "stride" => &["axis"],
            "load" => &["at", "shape"],
            "load_or" => &["at", "shape", "other"],
            "store" => &["at", "value"],
            "get" => &["at"],
            "gather" => &["at", "mask"],
            "gather_or" => &["at", "mask", "other"],
            "scatter" => &["at", "value", "mask"],
            _ => {
                let methods = "a view has `load`, `load_or`, `store`, `get`, `gather`, `gather_or`, `scatter`, `dim`, `stride`, and the atomic updates";
                return self.unknown_method(&view.describe(), name, methods);
            }
        };
        if args.len() != params.len() {
            return self.wrong_count(name, params, args.len());
        }
        match name.name.as_str() {
            "dim" | "stride" => {
                let axis = self.axis_below(&args[0], &view.describe(), view.extents.len())?;
                return Some(Val::Ir(if name.name == "dim" { view.extents[axis] } else { view.strides[axis] }));
            }
            "get" | "gather" | "gather_or" => return self.gathered(view, name, args),
            "scatter" => return self.scattered(view, name, args),
            _ => {}
        }
        let at = self.view_index(view, &args[0]);
        if name.name == "load" || name.name == "load_or" {
            let shape = self.shape(&args[1]);
            let (at, shape) = (at?, shape?);
            self.check_rank(view, shape, args[1].span)?;
            let other = match args.get(2) {
                Some(written) => {
                    let value = self.expr(written).and_then(|v| self.not_unit(v, written.span))?;
                    Some(element_for(self, "the padding", &(value, written.span), view.dtype, shape)?)
                }
                None => None,
            };
            let from = self.location(view, &at, shape)?;
            return self.append(Op::Load { from, other }, name.span).map(Val::Ir);
        }
        if !view.mutable {
            return self.read_only_view(view, "a store", name.span);
        }
        let value = self.view_value(view, "the stored value", &args[1]);
        let (at, value) = (at?, value?);
        let shape = self.func.ty(value).shape;
        let to = self.location(view, &at, shape)?;
        self.append(Op::Store { to, value }, name.span);
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
        self.check_rank(view, self.func.ty(value).shape, span)?;
        Some(value)
    }

    fn check_rank(&mut self, view: &View, shape: Shape, span: Span) -> Option<()> {
        if shape.rank() == view.extents.len() {
            return Some(());
        }
        let message = format!("a tile with {} dimensions for `{}`", shape.rank(), view.describe());
        self.report(
            Diagnostic::new(Code::T0123, span, message)
                .help("a tile has as many dimensions as its view; an extent may be 1"),
        )
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
