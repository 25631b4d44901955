//! Promises of users about integers and pointers, checked at stage 0. Later, passes may have moved them to where the program would not come.

use super::Machine;
use crate::ir::{Stage, Value};
use crate::ops::kinds::HintKind;
use crate::types::{Constant, Elem, Shape, Type};

impl Machine<'_> {
    /// Fails with a message if a value is not as promised.
    pub(super) fn hint(&self, kind: HintKind, x: Value, along: Shape) -> Result<(), String> {
        if self.func.stage == Stage::Tile { check(kind, self.func.ty(x), self.value(x), along) } else { Ok(()) }
    }
}

/// Whether elements of a type are as promised along each axis.
///
/// # Errors
/// The first element that is not.
pub fn check(kind: HintKind, ty: Type, elements: &[u64], along: Shape) -> Result<(), String> {
    (0..along.rank()).try_for_each(|axis| along_axis(kind, ty, elements, axis, along.dims()[axis]))
}

fn along_axis(kind: HintKind, ty: Type, elements: &[u64], axis: usize, promised: u32) -> Result<(), String> {
    let dims = ty.shape.dims();
    let extent = dims.get(axis).copied().unwrap_or(1) as usize;
    let stride: usize = dims.iter().skip(axis + 1).map(|&d| d as usize).product();
    let unit = match ty.elem {
        Elem::Ptr { pointee, .. } => pointee.bytes(),
        Elem::Num(_) => 1,
    };
    let int = |bits: u64| match ty.elem {
        Elem::Ptr { .. } => i128::from(bits),
        Elem::Num(dtype) => Constant { dtype, bits }.as_int().unwrap_or(0),
    };
    // As many as an element is after the one before it, in the width of its type.
    let apart = |at: usize, by: u32| match ty.elem {
        Elem::Ptr { .. } => elements[at - stride].wrapping_add(by.into()) == elements[at],
        Elem::Num(dtype) => Constant::int(dtype, int(elements[at - stride]) + i128::from(by)).bits == elements[at],
    };
    let group = (promised / kind.unit(ty.elem)).max(1) as usize;
    let place = |at: usize| at / stride % extent;
    let broken = |at: usize, what: String| {
        let index: Vec<String> = (0..dims.len())
            .map(|d| at / dims[d + 1..].iter().product::<u32>() as usize % dims[d] as usize)
            .map(|i| i.to_string())
            .collect();
        let element =
            if index.is_empty() { "the number".to_owned() } else { format!("element [{}]", index.join(", ")) };
        Err(format!("`{}` promises {promised} along axis {axis}, but {element} is {what}", kind.name()))
    };
    for at in 0..elements.len() {
        let first = place(at).is_multiple_of(group);
        match kind {
            HintKind::MultipleOf if first => {
                let rest = || (1..group.min(extent - place(at))).map(|i| at + i * stride);
                let runs = rest().all(|i| apart(i, unit)) || rest().all(|i| apart(i, 0));
                if runs && int(elements[at]) % i128::from(promised) != 0 {
                    return broken(at, format!("{}, which it does not divide", int(elements[at])));
                }
            }
            HintKind::MaxContiguous if !first && !apart(at, unit) => {
                return broken(at, format!("{}, after {}", int(elements[at]), int(elements[at - stride])));
            }
            HintKind::MaxConstancy if !first && !apart(at, 0) => {
                return broken(at, format!("{}, after {}", int(elements[at]), int(elements[at - stride])));
            }
            HintKind::MultipleOf | HintKind::MaxContiguous | HintKind::MaxConstancy => {}
        }
    }
    Ok(())
}
