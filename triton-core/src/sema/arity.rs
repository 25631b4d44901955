//! A function of the language with another number of arguments than it takes: what was meant, by what was written.

use super::Checker;
use super::builtins::Builtin;
use crate::ast::{Expr, ExprKind, UnaryOp};
use crate::diag::{Code, Diagnostic};
use crate::span::Span;

/// The reductions of a whole tile, of which each has a twin along an axis, `sum_axis`.
pub(super) const REDUCTIONS: &[&str] = &["sum", "max", "min", "argmax", "argmin", "any", "all"];

impl Checker<'_> {
    /// Reports a call with another number of arguments.
    pub(super) fn wrong_arity<T>(&mut self, builtin: &Builtin, args: &[Expr], span: Span) -> Option<T> {
        let (name, n) = (builtin.name, builtin.params.len());
        let s = if n == 1 { "" } else { "s" };
        let message = format!("`{name}` takes {n} argument{s}, {} given", args.len());
        let help = meant(builtin, args);
        self.report(Diagnostic::new(Code::T0101, span, message).help(help))
    }
}

fn meant(builtin: &Builtin, args: &[Expr]) -> String {
    let usual = || format!("write `{}({})`", builtin.name, builtin.params.join(", "));
    match (builtin.name, args) {
        (name, [_, second, ..]) if REDUCTIONS.contains(&name) => second_argument(name, second)
            .unwrap_or_else(|| format!("{}, or along an axis `{name}_axis(x, 1)`", usual())),
        ("load", [_]) => "write `load(p, mask)`; `load(p, true)` reads every element".to_owned(),
        ("load", [_, _, _]) => "write `load_or(p, mask, other)`".to_owned(),
        ("store", [_, _]) => "write `store(p, value, mask)`; the mask `true` writes every element".to_owned(),
        ("arange", [_]) => "write `arange(0, n)`".to_owned(),
        ("dot", [_, _]) => {
            "write `dot(a, b, acc)`; without a sum before it, `acc` is `zeros::<f32>([M, N])`".to_owned()
        }
        ("cumsum" | "cumprod" | "cummax" | "cummin", [_]) => format!("{}; the only axis of a row is 0", usual()),
        _ => usual(),
    }
}

/// What a second argument of a reduction means: an axis, or another operand.
pub(super) fn second_argument(name: &str, second: &Expr) -> Option<String> {
    let elementwise = matches!(name, "max" | "min").then(|| format!("`{name}imum(a, b)`"));
    match axis(second) {
        Some(Axis::At(axis)) => {
            let along = format!("along an axis it is `{name}_axis(x, {axis})`");
            Some(elementwise.map_or(along.clone(), |it| format!("{along}; element by element {it}")))
        }
        Some(Axis::FromTheEnd) => {
            Some(format!("along an axis it is `{name}_axis(x, axis)`; axes are counted from 0, outermost first"))
        }
        None => elementwise.map(|it| format!("element by element it is {it}")),
    }
}

enum Axis {
    At(u128),
    FromTheEnd,
}

fn axis(written: &Expr) -> Option<Axis> {
    if let ExprKind::Int(axis, None) = &written.kind {
        return Some(Axis::At(*axis));
    }
    let ExprKind::Unary(UnaryOp::Neg, operand) = &written.kind else { return None };
    matches!(operand.kind, ExprKind::Int(_, None)).then_some(Axis::FromTheEnd)
}

#[cfg(test)]
mod tests {
    use super::REDUCTIONS;
    use crate::sema::BUILTINS;

    #[test]
    fn each_reduction_has_one_along_an_axis() {
        let known = |name: &str| BUILTINS.iter().any(|builtin| builtin.name == name);
        for name in REDUCTIONS {
            assert!(known(name) && known(&format!("{name}_axis")), "{name}");
        }
        for builtin in BUILTINS.iter().filter_map(|builtin| builtin.name.strip_suffix("_axis")) {
            assert!(builtin == "reduce" || REDUCTIONS.contains(&builtin), "{builtin} is not listed");
        }
    }
}
