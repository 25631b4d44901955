//! The checker: one instance of a kernel → tile IR at stage 0, or what is wrong with it in the user's terms.
//!
//! It knows shapes; rustc, which sees the same body over stub types, knows names, mutability and inference. Either
//! reports or the other does, never both: what only rustc can judge (an unknown name, an unknown method) is *deferred*
//! to it ([`Failure::deferred`]), and everything here assumes that rustc accepts the rest.
//!
//! All errors of a body are collected: an expression that was reported is `None` from then on, and everything made from it
//! stays silent.
//!
//! **Invariant:** typing rules are in [`crate::ops::infer`]. The checker words the errors for the user and inserts the
//! splats and broadcasts that the language leaves out.

mod arity;
mod assertions;
mod assigned;
mod assoc;
mod atomic;
mod builtins;
mod call;
mod closure;
mod control;
mod convert;
mod expr;
mod gather;
mod hints;
mod loops;
mod memory;
mod operator;
mod pairs;
mod reduce;
mod shape;
mod unknown;
mod unroll;
mod value;
mod view;

pub use assoc::is_associated;
pub use builtins::BUILTINS;
pub use unknown::{replacement, replacements, reserved};

use crate::ast::{
    Expr, ExprKind, Function as AstFunction, GenericArg, GenericKind, Ident, Instance, Kernel, ParamKind, Path,
    Pattern, Stmt, Struct as AstStruct, Target, Type as AstType,
};
use crate::diag::{Code, Diagnostic, Failure};
use crate::ir::{Function, Value};
use crate::metadata::Promised;
use crate::ops::{Op, Outer};
use crate::span::{CallId, Span};
use crate::types::{DType, Elem, Shape, Type};
use call::Call;
use std::collections::HashMap;
use value::{Known, Val};

/// Checks one instance of a kernel. Comes with the types of its external constants.
///
/// # Errors
/// Everything that is wrong, in the order of the source.
pub fn check(kernel: &Kernel, instance: &Instance) -> Result<(Function, Vec<Option<DType>>), Failure> {
    let mut checker = Checker {
        func: Function {
            num_stages: instance.options.num_stages,
            max_registers: instance.options.max_registers,
            cluster_k: instance.options.cluster_k,
            targets: instance.options.targets,
            fast_math: instance.options.fast_math,
            ..Function::new(&kernel.name.name, instance.options.num_warps)
        },
        types: HashMap::new(),
        scopes: vec![HashMap::new()],
        failure: Failure::default(),
        depth: 0,
        combining: false,
        functions: &kernel.functions,
        structs: &kernel.structs,
        outers: kernel.outers.iter().map(|text| (text.as_str(), None)).collect(),
        calls: Vec::new(),
        inlined: None,
        loops: 0,
        iterations: 0,
        assertions: instance.options.assertions,
        deterministic: instance.options.deterministic,
        block: crate::ir::Block(0),
    };
    checker.block = checker.func.body;
    checker.func.sources = kernel.sources.clone();
    for (generic, arg) in kernel.generics.iter().zip(&instance.args) {
        let name = generic.name.name.clone();
        match (generic.kind, arg) {
            (GenericKind::Const(dtype), &GenericArg::Const(value)) => {
                checker.bind(name, Some(Val::Known(Known::int(dtype, value))));
            }
            (_, &GenericArg::Type(dtype)) => {
                checker.types.insert(name, dtype);
            }
            (GenericKind::Type, GenericArg::Const(_)) => {}
        }
    }
    for param in &kernel.params {
        if param.kind == ParamKind::Struct {
            let value = checker.struct_param(param);
            checker.bind(param.name.name.clone(), value);
            continue;
        }
        let Some(dtype) = checker.dtype(&param.elem) else { continue };
        let elem = match param.kind {
            ParamKind::Ptr => Elem::Ptr { pointee: dtype, mutable: false },
            ParamKind::PtrMut => Elem::Ptr { pointee: dtype, mutable: true },
            ParamKind::Scalar | ParamKind::Struct => Elem::Num(dtype),
            ParamKind::Tensor(rank) | ParamKind::TensorMut(rank) => {
                let mutable = matches!(param.kind, ParamKind::TensorMut(_));
                let view = checker.view_param(param, dtype, rank, mutable);
                checker.bind(param.name.name.clone(), Some(view));
                continue;
            }
        };
        let ty = Type { elem, shape: Shape::SCALAR };
        let value = checker.func.add_param(&param.name.name, ty, param.multiple_of, Promised::unless(param.general));
        checker.bind(param.name.name.clone(), Some(Val::Ir(value)));
    }
    checker.top_level(&kernel.body, &[]);
    let failure = checker.failure;
    let outers = checker.outers.into_iter().map(|(_, dtype)| dtype).collect();
    if failure.diagnostics.is_empty() && failure.deferred.is_empty() {
        Ok((checker.func, outers))
    } else {
        Err(failure)
    }
}

struct Checker<'a> {
    func: Function,
    functions: &'a [AstFunction],
    structs: &'a [AstStruct],
    /// The user's external constants, with their types once these are known.
    outers: Vec<(&'a str, Option<DType>)>,
    /// The calls that the checker is in, outermost first.
    calls: Vec<Call<'a>>,
    /// The innermost call whose body has spans of its own: those of the language's functions and of the kernel have none.
    inlined: Option<CallId>,
    /// How many loops of the innermost function it is in.
    loops: usize,
    /// Iterations of unrolled loops so far.
    iterations: usize,
    /// Type parameters.
    types: HashMap<String, DType>,
    /// Variables, innermost scope last. `None`: its expression was reported.
    scopes: Vec<HashMap<String, Option<Val>>>,
    failure: Failure,
    depth: usize,
    /// Whether it is in the closure of a `reduce`, which has no control flow.
    combining: bool,
    assertions: bool,
    deterministic: bool,
    /// Where operations are appended.
    block: crate::ir::Block,
}

impl Checker<'_> {
    /// Reports an error; `None` so that callers can return it.
    fn report<T>(&mut self, mut diagnostic: Diagnostic) -> Option<T> {
        // An error in a function of the language is an error of its call.
        let library = self.calls.iter().position(|call| call.function.library);
        if let Some(at) = library {
            diagnostic.span = self.calls[at].span;
        }
        let calls = &self.calls[..library.map_or(self.calls.len(), |at| at + 1)];
        diagnostic.calls = calls.iter().map(|call| (call.function.name.name.clone(), call.span)).collect();
        self.failure.diagnostics.push(diagnostic);
        None
    }

    /// Leaves a judgement to rustc; the message is shown if rustc accepts the code.
    fn defer<T>(&mut self, span: Span, message: String) -> Option<T> {
        self.failure.deferred.push(Diagnostic::new(Code::T0001, span, message));
        None
    }

    fn bind(&mut self, name: String, value: Option<Val>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, value);
        }
    }

    /// What was reported of a variable is not reported again.
    fn forget(&mut self, expr: &Expr) {
        let ExprKind::Path(Path { segments, target: Target::Name, .. }) = &expr.kind else { return };
        if let [name] = &segments[..]
            && let Some(value) = self.scopes.iter_mut().rev().find_map(|scope| scope.get_mut(name))
        {
            *value = None;
        }
    }

    /// Appends an operation that the checker knows to be well typed.
    fn append(&mut self, op: Op, span: Span) -> Option<Value> {
        match self.func.append(self.block, op, span) {
            Ok(result) => result,
            Err(message) => {
                self.report(Diagnostic::new(Code::T0199, span, format!("the checker let through: {message}")))
            }
        }
    }

    /// An element type by its name: a type parameter or a built-in.
    fn dtype(&mut self, ty: &AstType) -> Option<DType> {
        match self.types.get(&ty.name).copied().or_else(|| DType::from_name(&ty.name)) {
            Some(dtype) if ty.args.is_empty() => Some(dtype),
            _ => self.defer(ty.span, format!("`{}` is not an element type of the kernel language", ty.name)),
        }
    }

    /// An element type as the user would write it: by the name of the type parameter that stands for it, if there is one.
    fn spelled(&self, dtype: DType) -> &str {
        let names = self.types.iter().filter(|(_, own)| **own == dtype).map(|(name, _)| name.as_str());
        names.min().unwrap_or(dtype.name())
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let { pattern, ty, init } => {
                let value = self.expr(init).and_then(|v| self.not_unit(v, init.span));
                let value = match ty {
                    Some(ty) => value.and_then(|v| self.annotated(v, ty, init.span)),
                    None => value.map(Val::with_default_type),
                };
                self.bind_pattern(pattern, value);
            }
            Stmt::Assign { target, op, value: expr } => self.assign(target, *op, expr),
            Stmt::Const { name, ty, value: expr } => {
                let value = self.expr(expr).and_then(|v| self.annotated(v, ty, expr.span));
                let value = match value {
                    Some(Val::Known(known)) => Some(Val::Known(known)),
                    Some(other) => self.not_known(&other, expr.span, "the value of a `const`"),
                    None => None,
                };
                self.bind(name.name.clone(), value);
            }
            Stmt::For { var, start, end, step, turns, body, span } => {
                self.for_loop(var, [start, end], step.as_ref(), turns, body, *span)
            }
            Stmt::While { cond, body, span } => self.while_loop(cond, body, *span),
            Stmt::Exit(exit, span) => self.misplaced_exit(*exit, *span),
            Stmt::Assert { cond, message, span } => {
                self.assertion(cond, message, *span);
            }
            Stmt::ConstAssert { cond, message, .. } => {
                self.const_assertion(cond, message);
            }
            Stmt::Print { pieces, args, span } => {
                self.print(pieces, args, *span);
            }
            Stmt::Expr(expr) => {
                self.expr(expr);
            }
        }
    }

    fn assign(&mut self, target: &Ident, op: Option<(crate::ast::BinaryOp, Span)>, expr: &Expr) {
        let new = self.expr(expr).and_then(|v| self.not_unit(v, expr.span));
        let Some(slot) = self.scopes.iter().rposition(|s| s.contains_key(&target.name)) else {
            let _: Option<()> = self.defer(target.span, format!("`{}` is not a variable of the kernel", target.name));
            return;
        };
        let old = self.scopes[slot][&target.name].clone();
        let value = old.zip(new).and_then(|(old, new)| {
            let new = match op {
                Some((op, span)) => {
                    self.assignable(op, span, &old, &new, &target.name)?;
                    self.binary(op, span, (old.clone(), target.span), (new, expr.span))?
                }
                None => new,
            };
            self.like_variable(&old, new, target, expr.span)
        });
        self.scopes[slot].insert(target.name.clone(), value);
    }

    /// The value as one of the variable's type: a variable keeps element type and shape.
    fn like_variable(&mut self, old: &Val, new: Val, target: &Ident, span: Span) -> Option<Val> {
        let Some(ty) = old.ty(&self.func) else { return Some(new) };
        let new = self.literal_as(new, ty.elem.num(), span)?;
        match new.ty(&self.func) {
            Some(found) if found == ty => Some(new),
            Some(found) => {
                let name = &target.name;
                let message = format!("`{name}` is `{}`, it cannot become `{}`", ty.describe(), found.describe());
                let inside = self.scopes.last().is_some_and(|scope| !scope.contains_key(name));
                let help = match (found.elem == ty.elem, found.elem.num().zip(ty.elem.num())) {
                    (false, Some((_, dtype))) if inside => format!("write `.to::<{}>()`", self.spelled(dtype)),
                    (false, Some((_, dtype))) => {
                        format!("write `.to::<{}>()`, or bind a new one with `let {name} = ..`", self.spelled(dtype))
                    }
                    // In a branch or a loop a new variable would end with it.
                    (_, _) if inside => {
                        format!("a variable keeps its element type and shape: give `{name}` the final one at first")
                    }
                    (_, _) => {
                        format!("a variable keeps its element type and shape: bind a new one with `let {name} = ..`")
                    }
                };
                self.report(Diagnostic::new(Code::T0115, span, message).help(help))
            }
            None => {
                let problem = Diagnostic::new(Code::T0115, span, format!("`{}` is `{}`", target.name, ty.describe()));
                self.report(problem.help("assign one value; destructure a tuple with `(a, b) = ..`"))
            }
        }
    }

    /// The value of a `let` or `const` with a type.
    fn annotated(&mut self, value: Val, ty: &AstType, span: Span) -> Option<Val> {
        let (elem, is_tile) = match (ty.name.as_str(), &ty.args[..]) {
            ("Tile", [elem]) => (elem, true),
            _ => (ty, false),
        };
        let dtype = self.dtype(elem)?;
        let value = self.literal_as(value, Some(dtype), span)?;
        match value.ty(&self.func) {
            Some(found) if found.elem == Elem::Num(dtype) && (found.shape != Shape::SCALAR) == is_tile => Some(value),
            found => {
                let found = found.map_or("several values".to_string(), |t| t.describe());
                let wanted = if is_tile { format!("tile of {dtype}") } else { dtype.to_string() };
                let message = format!("this is `{found}`, the annotation says `{wanted}`");
                let help = format!("leave the annotation out, or write `.to::<{}>()`", self.spelled(dtype));
                self.report(Diagnostic::new(Code::T0115, span, message).help(help))
            }
        }
    }

    fn bind_pattern(&mut self, pattern: &Pattern, value: Option<Val>) {
        match (pattern, value) {
            (Pattern::Wild, _) => {}
            (Pattern::Name { name, .. }, value) => self.bind(name.name.clone(), value),
            (Pattern::Tuple(parts, _), Some(Val::Tuple(values))) if parts.len() == values.len() => {
                for (part, value) in parts.iter().zip(values) {
                    self.bind_pattern(part, Some(value));
                }
            }
            (Pattern::Tuple(parts, span), value) => {
                if let Some(value) = value {
                    let found = match &value {
                        Val::Tuple(values) => format!("a tuple of {}", values.len()),
                        Val::Ir(_)
                        | Val::Known(_)
                        | Val::View(_)
                        | Val::Struct(..)
                        | Val::Function(_)
                        | Val::Outer(_)
                        | Val::Unit => "a single value".to_string(),
                    };
                    let message = format!("{} names for {found}", parts.len());
                    let help = "write as many names as there are values, with `_` for one that is not needed";
                    let _: Option<()> = self.report(Diagnostic::new(Code::T0115, *span, message).help(help));
                }
                for part in parts {
                    self.bind_pattern(part, None);
                }
            }
        }
    }

    /// Rejects what has no value.
    fn not_unit(&mut self, value: Val, span: Span) -> Option<Val> {
        match value {
            Val::Unit => self.report(Diagnostic::new(Code::T0116, span, "this call yields no value")),
            Val::Ir(_)
            | Val::Known(_)
            | Val::Tuple(_)
            | Val::View(_)
            | Val::Struct(..)
            | Val::Function(_)
            | Val::Outer(_) => Some(value),
        }
    }

    /// Rejects a value that is not a compile-time constant.
    fn not_known<T>(&mut self, value: &Val, span: Span, what: &str) -> Option<T> {
        let needed = self.outers_in(value);
        self.failure.needed.extend(needed);
        let mut diagnostic = Diagnostic::new(Code::T0107, span, format!("{what} must be a compile-time constant"));
        if value.ty(&self.func).is_some() || matches!(value, Val::Outer(_)) {
            diagnostic = diagnostic.note(format!("found `{}`", self.describe(value)));
        }
        let help = "use a literal, a `const` of the kernel, a const parameter, or a `#[triton::constant]`";
        self.report(diagnostic.help(help))
    }

    /// An error is about the type of this value, which may be an external constant.
    fn untyped(&mut self, value: &Val) {
        self.failure.untyped.extend(if let Val::Outer(index) = value { Some(*index) } else { None });
    }

    /// The external constants that a value was computed with.
    fn outers_in(&self, value: &Val) -> Vec<usize> {
        let mut found = Vec::new();
        let mut open = match value {
            Val::Outer(index) => return vec![*index],
            Val::Ir(value) => vec![*value],
            Val::Known(_) | Val::Tuple(_) | Val::View(_) | Val::Struct(..) | Val::Function(_) | Val::Unit => Vec::new(),
        };
        let insts = || (0..self.func.insts.len()).map(|i| &self.func.insts[crate::ir::Inst(i as u32)]);
        while let Some(value) = open.pop() {
            let Some(inst) = insts().find(|inst| inst.results.contains(&value)) else { continue };
            if let Op::Outer { value: Outer::Open(index), .. } = inst.op {
                found.push(index as usize);
            }
            inst.for_each_operand(|operand| open.push(operand));
        }
        found
    }
}
