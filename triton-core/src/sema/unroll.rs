//! `for i in unroll(lo..hi)`: the body is checked once for each number, which is a compile-time constant in it.
//!
//! What a variable holds after an iteration, the next one starts with, so that constants stay constants. An iteration that an exit may
//! skip is a branch of an `if` on its flags; where these are constants, the loop ends here.

use super::Checker;
use super::assigned::{Assigned, Flag};
use super::value::{Known, Val};
use crate::ast::{Pattern, Stmt};
use crate::diag::{Code, Diagnostic};
use crate::span::Span;

/// Iterations of all unrolled loops of a kernel.
pub(super) const MAX_ITERATIONS: usize = 4096;

impl Checker<'_> {
    /// `range` is the start, the end and the step, which one type holds.
    pub(super) fn unrolled(&mut self, var: &Pattern, range: [(Val, Span); 3], body: &[Stmt], span: Span) -> Option<()> {
        let dtype = range.iter().find_map(|(value, _)| value.ty(&self.func)).and_then(|ty| ty.elem.num());
        let dtype = dtype.unwrap_or(crate::types::DType::I32);
        let mut numbers = [0; 3];
        for (number, (value, at)) in numbers.iter_mut().zip(range) {
            let known = if let Val::Known(known) = &value { known.as_int() } else { None };
            let Some(known) = known else {
                return self.not_known(&value, at, "a bound of `unroll`");
            };
            *number = known;
        }
        let [start, end, step] = numbers;
        let count = if start < end { (end - start - 1) / step + 1 } else { 0 };
        let most = MAX_ITERATIONS - self.iterations;
        if count > most as i128 {
            let message = format!("{count} iterations of an unrolled loop; a kernel has {MAX_ITERATIONS} in all");
            let help = "write `for i in lo..hi`, which is not unrolled";
            return self.report(Diagnostic::new(Code::T0121, span, message).help(help));
        }
        self.iterations += count as usize;
        let exits = self.exits(body);
        self.scopes.push(Default::default());
        let flag = Flag::Break(self.loops).name();
        if exits.contains(&flag) {
            self.bind(flag, Some(Val::Known(Known::bool(false))));
        }
        for turn in 0..count {
            let (number, before) = (start + turn * step, self.failure.diagnostics.len() + self.failure.deferred.len());
            let counter = Val::Known(Known::int(dtype, number));
            let Some(left) = self.stopped(&exits, span) else { break };
            if left == Val::Known(Known::bool(true)) {
                break;
            }
            let mut assigned = Assigned::inside(self.loops + 1);
            assigned.block(body, None);
            let run = |cx: &mut Checker<'_>| {
                cx.body(body, |cx| cx.bind_pattern(var, Some(counter)));
                Some(Val::Unit)
            };
            self.branch(left, &assigned.names, span, |_| Some(Val::Unit), run);
            // The next iteration would have the same errors.
            if self.failure.diagnostics.len() + self.failure.deferred.len() > before {
                break;
            }
        }
        self.scopes.pop();
        Some(())
    }
}
