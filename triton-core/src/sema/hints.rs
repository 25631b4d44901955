//! `multiple_of`, `max_contiguous`, `max_constancy`: what a user promises of integers and pointers.

use super::Checker;
use super::value::{Known, Val};
use crate::ast::{Expr, ExprKind};
use crate::diag::{Code, Diagnostic};
use crate::ir::Value;
use crate::ops::Op;
use crate::ops::kinds::HintKind;
use crate::span::Span;
use crate::types::{Elem, Shape};

impl Checker<'_> {
    /// A promise along each axis; of a number or a tile with one axis it may be written without brackets.
    pub(super) fn hint(&mut self, kind: HintKind, x: &Expr, along: &Expr, span: Span) -> Option<Val> {
        let (value, promised) = (self.expr(x), self.promised(kind, along));
        let (value, promised) = (value?, promised?);
        let name = kind.name();
        let ty = value.ty(&self.func);
        let is_counted = ty.is_some_and(|ty| match ty.elem {
            Elem::Ptr { .. } => true,
            Elem::Num(dtype) => kind.accepts(dtype.class()),
        });
        let Some(ty) = ty.filter(|_| is_counted) else {
            let message =
                format!("`{name}` is a promise about integers and pointers, found `{}`", self.describe(&value));
            return self
                .report(Diagnostic::new(Code::T0104, x.span, message).help("write it around an index or a pointer"));
        };
        let axes = ty.shape.rank().max(1);
        if promised.rank() != axes {
            let message = format!(
                "`{name}` of `{}` takes a number for each axis: {axes}, found {}",
                ty.describe(),
                promised.rank()
            );
            let help = "promise something along each axis; 1 promises nothing";
            return self.report(Diagnostic::new(Code::T0123, along.span, message).help(help));
        }
        // A constant is known better.
        let Val::Ir(x) = value else { return Some(value) };
        self.hinted(kind, x, promised, span).map(Val::Ir)
    }

    /// Where runs are promised after multiples, the multiples are made to speak of these runs.
    fn hinted(&mut self, kind: HintKind, x: Value, along: Shape, span: Span) -> Option<Value> {
        if let (HintKind::MaxContiguous | HintKind::MaxConstancy, Some(inner)) = (kind, self.multiples(x)) {
            let x = self.append(Op::Hint { kind, x: inner.0, along }, span)?;
            return self.append(Op::Hint { kind: HintKind::MultipleOf, x, along: inner.1 }, span);
        }
        self.append(Op::Hint { kind, x, along }, span)
    }

    /// What multiples are promised of a value, if it is what such a promise has just yielded.
    fn multiples(&self, x: Value) -> Option<(Value, Shape)> {
        let insts = self.func.blocks[self.block].insts.iter().rev();
        let defined = insts.map(|&inst| &self.func.insts[inst]).find(|data| data.results.contains(&x))?;
        if let Op::Hint { kind: HintKind::MultipleOf, x, along } = defined.op { Some((x, along)) } else { None }
    }

    /// The numbers that are promised.
    fn promised(&mut self, kind: HintKind, along: &Expr) -> Option<Shape> {
        let numbers = if let ExprKind::Array(_) = along.kind {
            self.known_array(along, "a promise")?
        } else {
            let value = self.expr(along)?;
            let Some(number) = (if let Val::Known(number) = &value { Known::as_int(number) } else { None }) else {
                return self.not_known(&value, along.span, "a promise");
            };
            vec![number]
        };
        let is_wrong = |n: &i128| match kind {
            HintKind::MultipleOf => !u32::try_from(*n).is_ok_and(u32::is_power_of_two),
            HintKind::MaxContiguous | HintKind::MaxConstancy => !u32::try_from(*n).is_ok_and(|n| n > 0),
        };
        if let Some(wrong) = numbers.iter().find(|n| is_wrong(n)) {
            let message = format!("`{}` promises {wrong}", kind.name());
            let help = match kind {
                HintKind::MultipleOf if *wrong > 0 => {
                    format!("promise a power of two, such as {}", 1i128 << wrong.trailing_zeros().min(31))
                }
                HintKind::MultipleOf => "promise a power of two, such as 16".to_owned(),
                HintKind::MaxContiguous | HintKind::MaxConstancy => "promise a length of 1 or more".to_owned(),
            };
            return self.report(Diagnostic::new(Code::T0123, along.span, message).help(help));
        }
        Shape::new(&numbers.iter().map(|&n| n as u32).collect::<Vec<_>>())
    }
}
