//! Loads and stores through pointers, and what every access has: a mask, and values of the memory's element type.

use super::Checker;
use super::value::{Arg, Known, Val};
use crate::diag::{Code, Diagnostic};
use crate::ir::Value;
use crate::ops::{Location, Op};
use crate::span::Span;
use crate::types::{DType, Elem, Shape};

/// The pointers of an access, and what they point to.
pub(super) fn pointers(cx: &mut Checker<'_>, what: &str, (value, span): &Arg) -> Option<(Value, DType, bool)> {
    match value.ty(&cx.func).map(|t| t.elem) {
        Some(Elem::Ptr { pointee, mutable }) => Some((cx.materialise(value.clone(), None, *span)?, pointee, mutable)),
        Some(Elem::Num(_)) | None => {
            let found = cx.describe(value);
            let message = format!("`{what}` needs a pointer or a tile of pointers, found `{found}`");
            cx.report(Diagnostic::new(Code::T0111, *span, message).help("write `pointer + index`"))
        }
    }
}

/// The mask in the shape of the pointers; `Ok(None)` if it is `true`. The outer `None`: it was reported.
pub(super) fn mask(cx: &mut Checker<'_>, (value, span): &Arg, shape: Shape) -> Option<Option<Value>> {
    if *value == Val::Known(Known::bool(true)) {
        return Some(None);
    }
    match value.ty(&cx.func) {
        Some(ty) if ty.elem == Elem::Num(DType::Bool) => {
            if !ty.shape.broadcasts_to(shape) {
                return larger(cx, "the mask", ty.describe(), shape, *span);
            }
            let mask = cx.materialise(value.clone(), None, *span)?;
            cx.replicate(mask, shape, *span).map(Some)
        }
        _ => {
            let found = cx.describe(value);
            let message = format!("a mask is `bool` or a tile of `bool`, found `{found}`");
            cx.report(
                Diagnostic::new(Code::T0105, *span, message)
                    .help("compare, as in `i < n`; `true` selects every element"),
            )
        }
    }
}

fn larger<T>(cx: &mut Checker<'_>, what: &str, found: String, shape: Shape, span: Span) -> Option<T> {
    let (message, help) = if shape == Shape::SCALAR {
        let message = format!("{what} is `{found}`, but one element is accessed");
        (message, "give it one value, or access a tile, as by `p + arange(0, 64)`")
    } else {
        let message = format!("{what} is `{found}`, which does not broadcast to the shape {shape} of the access");
        (message, "give it that shape, or one that broadcasts to it, as by `x.expand_dims(1)`")
    };
    cx.report(Diagnostic::new(Code::T0117, span, message).help(help))
}

/// A value for memory of `dtype`, in the shape of the pointers.
pub(super) fn element_for(
    cx: &mut Checker<'_>,
    what: &str,
    (value, span): &Arg,
    dtype: DType,
    shape: Shape,
) -> Option<Value> {
    let value = cx.literal_as(value.clone(), Some(dtype), *span)?;
    match value.ty(&cx.func) {
        Some(ty) if ty.elem == Elem::Num(dtype) => {
            if !ty.shape.broadcasts_to(shape) {
                return larger(cx, what, ty.describe(), shape, *span);
            }
            let value = cx.materialise(value, None, *span)?;
            cx.replicate(value, shape, *span)
        }
        _ => {
            let message = format!("{what} is `{}`, the memory holds `{dtype}`", cx.describe(&value));
            cx.report(
                Diagnostic::new(Code::T0110, *span, message).help(format!("write `.to::<{}>()`", cx.spelled(dtype))),
            )
        }
    }
}

pub(super) fn load(cx: &mut Checker<'_>, ptr: &Arg, mask_arg: &Arg, other: Option<&Arg>, span: Span) -> Option<Val> {
    let (ptr, dtype, _) = pointers(cx, "load", ptr)?;
    let shape = cx.func.ty(ptr).shape;
    let mask = mask(cx, mask_arg, shape);
    let other = match other {
        Some(other) => Some(element_for(cx, "the value for masked-off elements", other, dtype, shape)?),
        None => None,
    };
    let mask = mask?;
    // Without a mask there is nothing to replace.
    let other = other.filter(|_| mask.is_some());
    cx.append(Op::Load { from: Location::Pointers { ptr, mask }, other }, span).map(Val::Ir)
}

pub(super) fn store(cx: &mut Checker<'_>, ptr: &Arg, value: &Arg, mask_arg: &Arg, span: Span) -> Option<Val> {
    let ptr_span = ptr.1;
    let (ptr, dtype, mutable) = pointers(cx, "store", ptr)?;
    if !mutable {
        let message = "a store through `Ptr`, which is read-only";
        let help = format!("declare the parameter as `PtrMut<{dtype}>`");
        return cx.report(Diagnostic::new(Code::T0109, ptr_span, message).help(help));
    }
    let shape = cx.func.ty(ptr).shape;
    let value = element_for(cx, "the stored value", value, dtype, shape);
    let mask = mask(cx, mask_arg, shape);
    let (value, mask) = (value?, mask?);
    cx.append(Op::Store { to: Location::Pointers { ptr, mask }, value }, span);
    Some(Val::Unit)
}
