//! Atomic updates, through pointers and through views.

use super::Checker;
use super::memory::{element_for, mask, pointers};
use super::value::{Arg, Val, View};
use crate::ast::{Expr, Ident};
use crate::diag::{Code, Diagnostic};
use crate::ir::Value;
use crate::ops::kinds::{AtomicKind, compares};
use crate::ops::{Location, MemoryOrder, Op};
use crate::span::Span;
use crate::types::{DType, Shape};

/// What an atomic function of the language does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Update {
    /// Replaces by a function of the element and a value.
    With(AtomicKind),
    /// Compares and exchanges.
    Cas,
}

impl Update {
    /// By the name of the function or method: `atomic_add`.
    fn named(name: &str) -> Option<Update> {
        match name.strip_prefix("atomic_")? {
            "cas" => Some(Update::Cas),
            kind => AtomicKind::from_name(kind).map(Update::With),
        }
    }

    fn defined_on(self, dtype: DType) -> bool {
        match self {
            Update::With(kind) => kind.defined_on(dtype),
            Update::Cas => compares(dtype),
        }
    }
}

impl Checker<'_> {
    /// `atomic_add(p, value, mask)` and its siblings.
    pub(super) fn atomic(
        &mut self,
        name: &str,
        (kind, order): (AtomicKind, MemoryOrder),
        [ptr, value, mask_arg]: [&Arg; 3],
        span: Span,
    ) -> Option<Val> {
        let (ptr, dtype) = self.updated(name, Update::With(kind), ptr)?;
        let shape = self.func.ty(ptr).shape;
        let value = element_for(self, "the value of the update", value, dtype, shape);
        let mask = mask(self, mask_arg, shape);
        let (value, mask) = (value?, mask?);
        self.append_update((Update::With(kind), order), Location::Pointers { ptr, mask }, None, value, span)
    }

    /// `atomic_cas(p, compare, value)`.
    pub(super) fn atomic_cas(
        &mut self,
        name: &str,
        order: MemoryOrder,
        [ptr, compare, value]: [&Arg; 3],
        span: Span,
    ) -> Option<Val> {
        let (ptr, dtype) = self.updated(name, Update::Cas, ptr)?;
        let shape = self.func.ty(ptr).shape;
        let compare = element_for(self, "the compared value", compare, dtype, shape);
        let value = element_for(self, "the value of the update", value, dtype, shape);
        let (compare, value) = (compare?, value?);
        self.append_update((Update::Cas, order), Location::Pointers { ptr, mask: None }, Some(compare), value, span)
    }

    /// The pointers of an update, through which it may happen.
    fn updated(&mut self, name: &str, update: Update, ptr: &Arg) -> Option<(Value, DType)> {
        let span = ptr.1;
        let (ptr, dtype, mutable) = pointers(self, name, ptr)?;
        if !mutable {
            let help = format!("declare the parameter as `PtrMut<{dtype}>`");
            let message = format!("`{name}` through `Ptr`, which is read-only");
            return self.report(Diagnostic::new(Code::T0109, span, message).help(help));
        }
        self.check_update(name, update, dtype, span)?;
        Some((ptr, dtype))
    }

    fn check_update(&mut self, name: &str, update: Update, dtype: DType, span: Span) -> Option<()> {
        if self.deterministic && dtype.is_float() && matches!(update, Update::With(AtomicKind::Add)) {
            let message = format!("`{name}` on memory of `{dtype}` in a `deterministic` kernel");
            let problem = Diagnostic::new(Code::T0125, span, message);
            let problem = problem.note("programs add in an unspecified order, and every order rounds differently");
            return self
                .report(problem.help("let every program store its own partial sum, and add those in a second launch"));
        }
        if update.defined_on(dtype) {
            return Some(());
        }
        let types: Vec<String> =
            DType::ALL.iter().filter(|&&d| update.defined_on(d)).map(|d| format!("`{d}`")).collect();
        let message = format!("`{name}` is not defined on memory of `{dtype}`");
        let help = format!("the memory may hold {}", types.join(", "));
        self.report(Diagnostic::new(Code::T0104, span, message).help(help))
    }

    /// `view.atomic_add(at, value)` and its siblings; the outer `None` if the method is another one.
    pub(super) fn view_update(
        &mut self,
        view: &View,
        name: &Ident,
        order: MemoryOrder,
        args: &[Expr],
    ) -> Option<Option<Val>> {
        if let Some(update) = name.name.strip_suffix("_at").and_then(Update::named) {
            return Some(self.view_updated_at(view, name, (update, order), args));
        }
        let update = Update::named(&name.name)?;
        Some(self.view_updated(view, name, (update, order), args))
    }

    /// What `order(..)` was called on, and the order, if an expression is such a call. The outer `None`: it was reported.
    pub(super) fn ordered<'e>(&mut self, expr: &'e Expr) -> Option<Option<(&'e Expr, MemoryOrder)>> {
        let marked = self.marked(expr, "order", &MemoryOrder::ALL.map(MemoryOrder::spelling))?;
        Some(marked.map(|(of, number)| (of, MemoryOrder::ALL[number])))
    }

    /// `order` where no update follows.
    pub(super) fn order_of_nothing(&mut self, name: &Ident) -> Option<Val> {
        let message = "`order` is of an atomic update";
        let help = "write `counts.order(AcqRel).atomic_add([i], v)`, or `atomic_add(p.order(AcqRel), v, true)`";
        self.report(Diagnostic::new(Code::T0001, name.span, message).help(help))
    }

    /// `view.atomic_add_at(at, value, mask)` and its siblings.
    fn view_updated_at(
        &mut self,
        view: &View,
        name: &Ident,
        (update, order): (Update, MemoryOrder),
        args: &[Expr],
    ) -> Option<Val> {
        let params: &[&str] = match update {
            Update::With(_) => &["at", "value", "mask"],
            Update::Cas => &["at", "compare", "value", "mask"],
        };
        self.check_view_update(view, name, update, params, args)?;
        let at = self.indices(view, &args[0]);
        let rest = self.values(&args[1..])?;
        let reached = self.reached(view, &at?, rest.last(), name.span)?;
        let [operands @ .., _] = &rest[..] else { return None };
        let (value, compare) = operands.split_last()?;
        let compare = self.compared(view, compare.first(), reached.shape);
        let value = element_for(self, "the value of the update", value, view.dtype, reached.shape);
        self.append_update((update, order), reached.location(), compare?, value?, name.span)
    }

    /// `view.atomic_add(at, value)` and its siblings.
    fn view_updated(
        &mut self,
        view: &View,
        name: &Ident,
        (update, order): (Update, MemoryOrder),
        args: &[Expr],
    ) -> Option<Val> {
        let params: &[&str] = match update {
            Update::With(_) => &["at", "value"],
            Update::Cas => &["at", "compare", "value"],
        };
        self.check_view_update(view, name, update, params, args)?;
        let at = self.view_index(view, &args[0]);
        let compare = self.values(&args[1..args.len() - 1])?;
        let value = self.view_value(view, "the value of the update", args.last()?);
        let (at, value) = (at?, value?);
        let shape = self.func.ty(value).shape;
        let compare = self.compared(view, compare.first(), shape)?;
        let to = self.location(view, &at, shape)?;
        self.append_update((update, order), to, compare, value, name.span)
    }

    /// Whether an update through a view has the arguments that it takes, and may happen.
    fn check_view_update(
        &mut self,
        view: &View,
        name: &Ident,
        update: Update,
        params: &[&str],
        args: &[Expr],
    ) -> Option<()> {
        if args.len() != params.len() {
            return self.wrong_count(name, params, args.len());
        }
        if !view.mutable {
            return self.read_only_view(view, &format!("`{}`", name.name), name.span);
        }
        self.check_update(&name.name, update, view.dtype, name.span)
    }

    /// What an exchange compares with, in the shape of the access. The outer `None`: it was reported.
    fn compared(&mut self, view: &View, compare: Option<&Arg>, shape: Shape) -> Option<Option<Value>> {
        let Some(compare) = compare else { return Some(None) };
        element_for(self, "the compared value", compare, view.dtype, shape).map(Some)
    }

    fn append_update(
        &mut self,
        (update, order): (Update, MemoryOrder),
        to: Location,
        compare: Option<Value>,
        value: Value,
        span: Span,
    ) -> Option<Val> {
        let op = match update {
            Update::With(kind) => Op::Atomic { kind, order, to, value },
            Update::Cas => Op::AtomicCas { order, to, compare: compare?, value },
        };
        self.append(op, span).map(Val::Ir)
    }
}
