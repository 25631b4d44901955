//! Assertions, and lines to print.

use super::Checker;
use super::builtins::BROADCAST;
use super::value::{Known, Val};
use crate::ast::Expr;
use crate::diag::{Code, Diagnostic};
use crate::ops::{Op, Text, Values};
use crate::span::Span;
use crate::types::{DType, Elem, Shape};

impl Checker<'_> {
    /// `assert!(cond, message)`.
    pub(super) fn assertion(&mut self, cond: &Expr, message: &str, span: Span) -> Option<()> {
        if !self.assertions {
            // Checked all the same; its result is discarded.
            let (block, scopes) = (self.block, self.scopes.clone());
            self.block = self.func.add_block(&[]);
            let found = self.asserted(cond);
            (self.block, self.scopes) = (block, scopes);
            return found.map(|_| ());
        }
        let cond = self.asserted(cond)?;
        if cond == Val::Known(Known::bool(true)) {
            return Some(());
        }
        let cond = self.materialise(cond, None, span)?;
        let message = self.text(message);
        self.append(Op::Assert { cond, message }, span);
        Some(())
    }

    /// The condition of an assertion: `bool`, or a tile of `bool`.
    fn asserted(&mut self, cond: &Expr) -> Option<Val> {
        let value = self.expr(cond)?;
        match value.ty(&self.func) {
            Some(ty) if ty.elem == Elem::Num(DType::Bool) => Some(value),
            _ => {
                let found = self.describe(&value);
                let message = format!("an assertion is of `bool` or a tile of `bool`, found `{found}`");
                self.report(Diagnostic::new(Code::T0105, cond.span, message).help("compare, as in `i < n`"))
            }
        }
    }

    /// `const { assert!(cond, message) }`.
    pub(super) fn const_assertion(&mut self, cond: &Expr, message: &str) -> Option<()> {
        match self.asserted(cond)? {
            Val::Known(Known::Typed(c)) if c.bits != 0 => Some(()),
            Val::Known(Known::Typed(_)) => {
                let message = format!("the assertion does not hold: {message}");
                self.report(Diagnostic::new(Code::T0122, cond.span, message))
            }
            other @ (Val::Known(_)
            | Val::Ir(_)
            | Val::Tuple(_)
            | Val::View(_)
            | Val::Struct(..)
            | Val::Function(_)
            | Val::Outer(_)
            | Val::Unit) => self.not_known(&other, cond.span, "the condition of `const { assert!(..) }`"),
        }
    }

    /// `println!`, its text with a `{}` between two pieces.
    pub(super) fn print(&mut self, pieces: &[String], args: &[Expr], span: Span) -> Option<()> {
        let mut values = Vec::new();
        let mut shape = Shape::SCALAR;
        let mut complete = true;
        for arg in args {
            let value = self.expr(arg).and_then(|v| self.not_unit(v, arg.span)).map(Val::with_default_type);
            match value.as_ref().and_then(|v| v.ty(&self.func)).map(|ty| (ty.elem, Shape::broadcast(shape, ty.shape))) {
                Some((Elem::Num(_), Some(common))) => {
                    shape = common;
                    values.extend(value.map(|v| (v, arg.span)));
                    continue;
                }
                Some((Elem::Num(_), None)) => {
                    let found = value.map(|v| self.describe(&v)).unwrap_or_default();
                    let message = format!("`{found}` in one line with a tile of shape {shape}");
                    let _: Option<()> = self.report(Diagnostic::new(Code::T0103, arg.span, message).help(BROADCAST));
                }
                Some((Elem::Ptr { .. }, _)) | None => {
                    if let Some(value) = value {
                        let found = self.describe(&value);
                        let message = format!("`println!` prints numbers, `bool` and tiles of these, found `{found}`");
                        let help = "print what is loaded through a pointer, and the parts of a tuple";
                        let _: Option<()> = self.report(Diagnostic::new(Code::T0104, arg.span, message).help(help));
                    }
                }
            }
            complete = false;
        }
        if !complete {
            return None;
        }
        let values = values.into_iter().map(|(value, at)| {
            let value = self.materialise(value, None, at)?;
            self.replicate(value, shape, at)
        });
        let values: Vec<_> = values.collect::<Option<_>>()?;
        let Some(values) = Values::new(&values) else {
            let message = format!("a line of {} values; the maximum is {}", args.len(), Values::MOST);
            return self.report(Diagnostic::new(Code::T0101, span, message).help("print several lines"));
        };
        let escaped: Vec<String> = pieces.iter().map(|p| p.replace('{', "{{").replace('}', "}}")).collect();
        let text = self.text(&escaped.join("{}"));
        self.append(Op::Print { text, values }, span);
        Some(())
    }

    /// A text of the kernel. Each has a number of its own, so that it identifies the span, too.
    fn text(&mut self, text: &str) -> Text {
        self.func.texts.push(text.to_string());
        Text(self.func.texts.len() as u32 - 1)
    }
}
