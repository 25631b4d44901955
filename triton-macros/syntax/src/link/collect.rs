//! The external items that a body names: functions, constants, structs.

use crate::read::path::{is_built_in, key, may_be_function, names_constant};
use crate::read::stages;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, ExprCall, ExprPath, Macro, Pat, PatIdent, Path};

/// The external items of one body.
#[derive(Default)]
pub(crate) struct Mentioned {
    /// The paths that are called and are not functions of the language, each once.
    pub(crate) calls: Vec<Path>,
    /// The paths that may be constants, each once.
    pub(crate) constants: Vec<Path>,
    /// The paths that are arguments of these calls, and may be functions, too.
    passed: Vec<Path>,
    /// The names that the body binds.
    bound: Vec<String>,
}

impl Mentioned {
    /// Looks through a body. `bound` are the names it is given: generic and other parameters.
    pub(crate) fn in_block(block: &Block, bound: impl IntoIterator<Item = String>) -> Mentioned {
        let mut found = Mentioned { bound: bound.into_iter().collect(), ..Mentioned::default() };
        found.visit_block(block);
        found.with_passed()
    }

    /// What is not bound among the arguments of functions is a function. Of a number that is misspelled rustc says that there is none.
    fn with_passed(self) -> Mentioned {
        let mut found = self.without_bound();
        let passed = std::mem::take(&mut found.passed);
        passed.iter().for_each(|path| Mentioned::add(&mut found.calls, path));
        found
    }

    /// The same for a kernel. A constant may belong to one of its generic types: `T::BIAS`.
    pub(crate) fn of_kernel(block: &Block, bound: impl IntoIterator<Item = String>, types: &[String]) -> Mentioned {
        let mut found = Mentioned::default();
        found.visit_block(block);
        let own = |path: &Path| {
            let [ty, name] = &path.segments.iter().map(|s| s.ident.to_string()).collect::<Vec<_>>()[..] else {
                return false;
            };
            types.contains(ty) && !triton_core::sema::is_associated(name)
        };
        let of_types: Vec<Path> = found.constants.iter().filter(|path| own(path)).cloned().collect();
        found.bound.extend(bound);
        let mut found = found.without_bound();
        found.constants.extend(of_types);
        found
    }

    /// Looks through an expression that stands alone.
    pub(crate) fn in_expr(expr: &Expr) -> Mentioned {
        let mut found = Mentioned::default();
        found.visit_expr(expr);
        found.without_bound()
    }

    /// The same of an expression that stands in tokens.
    fn inside(&mut self, expr: &Expr) {
        let inner = Mentioned::in_expr(expr);
        inner.calls.iter().for_each(|path| Mentioned::add(&mut self.calls, path));
        inner.constants.iter().for_each(|path| Mentioned::add(&mut self.constants, path));
        inner.passed.iter().for_each(|path| Mentioned::add(&mut self.passed, path));
    }

    fn without_bound(mut self) -> Mentioned {
        let bound = std::mem::take(&mut self.bound);
        let inside =
            |path: &Path| path.segments.first().is_some_and(|first| bound.iter().any(|name| first.ident == name));
        self.constants.retain(|path| !inside(path));
        self.passed.retain(|path| !inside(path));
        self
    }

    fn add(list: &mut Vec<Path>, path: &Path) {
        let mut path = path.clone();
        path.segments.iter_mut().for_each(|segment| segment.arguments = syn::PathArguments::None);
        if !list.iter().any(|known| key(known) == key(&path)) {
            list.push(path);
        }
    }
}

impl<'a> Visit<'a> for Mentioned {
    fn visit_expr_call(&mut self, call: &'a ExprCall) {
        if let Expr::Path(ExprPath { path, qself: None, .. }) = &*call.func {
            if !is_built_in(path) {
                Mentioned::add(&mut self.calls, path);
                let names = call.args.iter().filter_map(|arg| if let Expr::Path(arg) = arg { Some(arg) } else { None });
                let plain =
                    names.filter(|arg| arg.qself.is_none() && !is_built_in(&arg.path) && may_be_function(&arg.path));
                plain.for_each(|arg| Mentioned::add(&mut self.passed, &arg.path));
            }
            path.segments.iter().for_each(|segment| self.visit_path_arguments(&segment.arguments));
        } else {
            self.visit_expr(&call.func);
        }
        call.args.iter().for_each(|arg| self.visit_expr(arg));
    }

    fn visit_expr_path(&mut self, expr: &'a ExprPath) {
        if expr.qself.is_none() && names_constant(&expr.path) {
            Mentioned::add(&mut self.constants, &expr.path);
        }
        visit::visit_expr_path(self, expr);
    }

    fn visit_pat_ident(&mut self, pat: &'a PatIdent) {
        self.bound.push(pat.ident.to_string());
    }

    fn visit_pat(&mut self, pat: &'a Pat) {
        visit::visit_pat(self, pat);
    }

    fn visit_item_const(&mut self, item: &'a syn::ItemConst) {
        self.bound.push(item.ident.to_string());
        self.visit_expr(&item.expr);
    }

    fn visit_macro(&mut self, call: &'a Macro) {
        // The text of a message is not an expression of the language, but it does no harm.
        crate::read::body::macros::arguments(call)
            .unwrap_or_default()
            .iter()
            .for_each(|argument| self.inside(argument));
    }

    fn visit_attribute(&mut self, attr: &'a Attribute) {
        if let Some(number) = stages::number(attr).filter(|_| stages::is_stages(attr)) {
            self.inside(&number);
        }
    }
}
