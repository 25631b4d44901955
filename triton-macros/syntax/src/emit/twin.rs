//! The twin: the kernel's body as a function that rustc type-checks and nothing calls.
//!
//! Names, types, lints and the editor's help come from it. Its `Tensor` is written by its path ([`Qualifier`]). Operators work elementwise, so they become calls of the
//! façade's stubs: `a + b` ⇒ `lang::op::add(a) | b`. The native `|` carries the span of `+`, and a mismatch is then one
//! error at the user's operator; a plain call of two arguments would be reported twice. A condition and a range become
//! calls too, so that errors in them have our messages.
//!
//! Spans: generated tokens take the user's context, from the first token of the left operand (any other span makes
//! rustc underline the whole attribute). In an editor they must *not* lie on the user's tokens, or hovering over `load`
//! would show `op` and `add` as well.

use crate::emit::types::{Qualifier, respan};
use crate::read::body::control::{Counted, binds};
use crate::read::body::macros::{self, Known};
use crate::read::body::operator;
use crate::read::path::{is_built_in, key};
use crate::read::stages::{self, is_stages};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprCast, Item, Lit, Local, Macro, Pat, Path, Stmt, UnOp};
use triton_core::ast::BinaryOp;

/// The body as rustc sees it.
pub(crate) struct Twin {
    /// The rewritten block.
    pub(crate) block: Block,
    /// What it calls by a name or a path that can mean a built-in, each once.
    pub(crate) called: Vec<Path>,
}

/// Makes the twin of a body. The paths of `renamed` are constants that have other names there.
pub(crate) fn of(block: &Block, root: &TokenStream, editor: bool, renamed: &[(Path, Ident)]) -> Twin {
    let mut block = block.clone();
    let mut rewriter = Rewriter { root, editor, renamed, called: Vec::new() };
    rewriter.visit_block_mut(&mut block);
    Twin { block, called: rewriter.called }
}

struct Rewriter<'a> {
    root: &'a TokenStream,
    editor: bool,
    renamed: &'a [(Path, Ident)],
    called: Vec<Path>,
}

impl Rewriter<'_> {
    fn generated(&self, span: Span) -> Span {
        if self.editor { Span::call_site() } else { span }
    }

    /// `root::lang::name`, lying on one token.
    fn stub(&self, name: &str, span: Span) -> TokenStream {
        let span = self.generated(span);
        let root = respan(self.root.clone(), span);
        let name = Ident::new(name, span);
        quote_spanned!(span=> #root::lang::#name)
    }

    fn binary(&self, name: &str, op: Span, left: &Expr, right: &Expr) -> TokenStream {
        let first = self.generated(first_token(left));
        let root = respan(self.root.clone(), first);
        let name = Ident::new(name, first);
        let (left, right) = match (literal(bare(left)), literal(bare(right))) {
            (None, Some(Number::Float)) => {
                (self.unary("float_operand", first_token(left), left), self.right_operand(right, op))
            }
            (Some(Number::Float), None) => (self.operand(left), self.unary("float_operand", first_token(right), right)),
            (_, _) => (self.operand(left), self.right_operand(right, op)),
        };
        let op = self.generated(op);
        let head = quote_spanned!(first=> #root::lang::op::#name(#left));
        let bar = quote_spanned!(op=> |);
        quote!(#head #bar #right)
    }

    /// An operand without parentheses, a literal as one that takes the other side's type.
    fn operand(&self, operand: &Expr) -> TokenStream {
        let operand = bare(operand);
        let literal = match literal(operand) {
            Some(Number::Float) => "float_literal",
            Some(Number::Int) => "int_literal",
            None => return operand.to_token_stream(),
        };
        let span = first_token(operand);
        let stub = self.stub(literal, span);
        let span = self.generated(span);
        quote_spanned!(span=> #stub(#operand))
    }

    fn right_operand(&self, operand: &Expr, op: Span) -> TokenStream {
        let tokens = self.operand(operand);
        let operand = bare(operand);
        let simple = literal(operand).is_some()
            || matches!(operand, Expr::Path(_) | Expr::Call(_) | Expr::MethodCall(_) | Expr::Lit(_));
        if simple {
            return tokens;
        }
        let op = self.generated(op);
        quote_spanned!(op=> (#tokens))
    }

    /// In `full::<T>(shape, 1.0)` the literal is of type `T`, which for rustc no literal is.
    fn typed_literals(&self, call: &mut syn::ExprCall) {
        let Expr::Path(function) = &*call.func else { return };
        let last = function.path.segments.last().filter(|last| last.ident == "full" && !last.arguments.is_none());
        let (Some(_), Some(value)) = (last, call.args.iter_mut().nth(1)) else { return };
        let stub = match literal(value) {
            Some(Number::Float) => "literal",
            Some(Number::Int) => "integer",
            None => return,
        };
        *value = Expr::Verbatim(self.unary(stub, first_token(value), value));
    }

    /// A literal that is passed to a function of the user's takes the type of the parameter, which for rustc no literal
    /// does where that is `f16` or a generic one.
    fn literal_arguments(&mut self, call: &mut syn::ExprCall) {
        for value in &mut call.args {
            let stub = match literal(value) {
                Some(Number::Float) => "literal",
                Some(Number::Int) => "integer",
                None => continue,
            };
            *value = Expr::Verbatim(self.unary(stub, first_token(value), value));
        }
    }

    fn semicolon(&self, span: Span) -> syn::token::Semi {
        syn::token::Semi { spans: [self.generated(span)] }
    }

    /// A call of a macro of the language, as calls of functions: rustc's own would not take tiles and generic numbers.
    fn macro_call(&mut self, call: &Macro) -> Option<TokenStream> {
        match Known::of(call)? {
            Known::Assert => self.assertion(call, false),
            Known::Println => {
                let (span, values) = (call.bang_token.span, macros::values(call)?);
                let values = values.into_iter().map(|mut value| {
                    let span = first_token(&value);
                    self.visit_expr_mut(&mut value);
                    self.unary("printed", span, &value)
                });
                let values: Vec<_> = values.collect();
                let stub = self.stub("print", span);
                let span = self.generated(span);
                Some(quote_spanned!(span=> #stub((#(#values,)*))))
            }
        }
    }

    /// `lang::check(c)` for `assert!(c)`, which in a `const` block is one `bool`.
    fn assertion(&mut self, call: &Macro, constant: bool) -> Option<TokenStream> {
        let mut cond = macros::arguments(call).ok()?.into_iter().next()?;
        let span = first_token(&cond);
        self.visit_expr_mut(&mut cond);
        if constant {
            cond = Expr::Verbatim(self.unary("cond", span, &cond));
        }
        Some(self.unary("check", span, &cond))
    }

    /// `lang::cond(c)`.
    fn condition(&mut self, cond: &mut Expr) {
        if binds(cond) {
            return;
        }
        let span = first_token(cond);
        self.visit_expr_mut(cond);
        *cond = Expr::Verbatim(self.unary("cond", span, cond));
    }

    /// Remembers the path to a function that a built-in has to be.
    fn call_of(&mut self, path: &Path) {
        let mut path = path.clone();
        path.segments.iter_mut().for_each(|segment| segment.arguments = syn::PathArguments::None);
        let spelled = path.to_token_stream().to_string();
        if !self.called.iter().any(|known| known.to_token_stream().to_string() == spelled) {
            self.called.push(path);
        }
    }

    /// `lang::range(lo, hi)` for `lo..hi`, followed by `.step_by(step)`, and in `unroll(..)` as it is written.
    fn range(&mut self, written: &Expr) -> Option<TokenStream> {
        let Counted { range, step, unroll } = Counted::of(written)?;
        let (mut lo, mut hi) = (range.start.as_deref()?.clone(), range.end.as_deref()?.clone());
        let span = first_token(&lo);
        self.visit_expr_mut(&mut lo);
        self.visit_expr_mut(&mut hi);
        let (stub, lo, hi) = (self.stub("range", span), self.operand(&lo), self.operand(&hi));
        let span = self.generated(span);
        let range = quote_spanned!(span=> #stub(#lo, #hi));
        let range = match step.cloned() {
            Some(mut step) => {
                self.visit_expr_mut(&mut step);
                let step = bare(&step);
                quote_spanned!(span=> #range.step_by(#step))
            }
            None => range,
        };
        let Some(unroll) = unroll else { return Some(range) };
        self.call_of(unroll);
        Some(quote_spanned!(span=> #unroll(#range)))
    }

    /// `#[stages(n)]` is not an attribute of Rust: its number is looked at in the body, where names that it uses are used.
    fn stages(&mut self, expr: &mut syn::ExprForLoop) {
        let number = expr.attrs.iter().find(|attr| is_stages(attr)).and_then(stages::number);
        expr.attrs.retain(|attr| !is_stages(attr));
        let Some(mut number) = number.filter(|number| literal(number).is_none()) else { return };
        let span = self.generated(first_token(&number));
        self.visit_expr_mut(&mut number);
        expr.body.stmts.insert(0, Stmt::Expr(Expr::Verbatim(quote_spanned!(span=> let _ = #number;)), None));
    }

    /// `name(operand)` for an operator before it or a conversion after it.
    fn unary(&self, name: &str, span: Span, operand: &Expr) -> TokenStream {
        let stub = self.stub(name, span);
        let span = self.generated(span);
        let operand = bare(operand);
        quote_spanned!(span=> #stub(#operand))
    }
}

impl VisitMut for Rewriter<'_> {
    #[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let tokens = match expr {
            Expr::Binary(binary) => {
                let (op, assigns) = operator(&binary.op);
                let folds = literal(&binary.left).is_some() && literal(&binary.right).is_some() && !assigns;
                let name = op.and_then(stub_of);
                // Two literals are left to rustc, and so are `&&` and `||`, which take one `bool` each.
                let (Some(name), false) = (name, folds) else { return visit_mut::visit_expr_mut(self, expr) };
                // The spans are those of the user's tokens: taken before the operands are rewritten.
                visit_mut::visit_expr_binary_mut(self, binary);
                let span = binary.op.span();
                let value = self.binary(name, span, &binary.left, &binary.right);
                if assigns {
                    let target = &binary.left;
                    let span = self.generated(span);
                    let equals = quote_spanned!(span=> =);
                    quote!(#target #equals #value)
                } else {
                    value
                }
            }
            Expr::Unary(unary) if literal_unary(unary).is_none() => {
                visit_mut::visit_expr_unary_mut(self, unary);
                match unary.op {
                    UnOp::Neg(op) => self.unary("neg", op.span, &unary.expr),
                    UnOp::Not(op) => self.unary("not", op.span, &unary.expr),
                    _ => return,
                }
            }
            // `as` to an element type that is not a primitive type of Rust, or to a generic one, would be an error.
            Expr::Cast(ExprCast { expr, ty, .. }) => {
                self.visit_expr_mut(expr);
                let span = first_token(expr);
                let stub = self.stub("cast", span);
                let span = self.generated(span);
                let operand = bare(expr);
                quote_spanned!(span=> #stub::<#ty, _>(#operand))
            }
            Expr::Path(path) if !self.renamed.is_empty() => {
                let written = key(&path.path);
                match self.renamed.iter().find(|(path, _)| key(path) == written) {
                    Some((_, name)) => {
                        let name = Ident::new(&name.to_string(), path.span());
                        quote!(#name)
                    }
                    None => return,
                }
            }
            Expr::Lit(lit) => match half_literal(&lit.lit) {
                Some((name, digits)) => {
                    let stub = self.stub("literal", lit.lit.span());
                    let span = self.generated(lit.lit.span());
                    let root = respan(self.root.clone(), span);
                    let name = Ident::new(name, span);
                    quote_spanned!(span=> #stub::<#root::#name>(#digits))
                }
                None => return,
            },
            Expr::Macro(call) => match self.macro_call(&call.mac) {
                Some(tokens) => tokens,
                None => return,
            },
            Expr::Const(block) => {
                match macros::const_assert(&block.block).and_then(|call| self.assertion(call, true)) {
                    Some(tokens) => tokens,
                    None => return visit_mut::visit_expr_mut(self, expr),
                }
            }
            _ => return visit_mut::visit_expr_mut(self, expr),
        };
        *expr = Expr::Verbatim(tokens);
    }

    fn visit_expr_if_mut(&mut self, expr: &mut syn::ExprIf) {
        self.condition(&mut expr.cond);
        self.visit_block_mut(&mut expr.then_branch);
        if let Some((_, other)) = &mut expr.else_branch {
            self.visit_expr_mut(other);
        }
    }

    fn visit_expr_while_mut(&mut self, expr: &mut syn::ExprWhile) {
        self.condition(&mut expr.cond);
        self.visit_block_mut(&mut expr.body);
    }

    fn visit_expr_for_loop_mut(&mut self, expr: &mut syn::ExprForLoop) {
        match self.range(&expr.expr) {
            Some(range) => *expr.expr = Expr::Verbatim(range),
            None => self.visit_expr_mut(&mut expr.expr),
        }
        self.visit_block_mut(&mut expr.body);
        self.stages(expr);
    }

    fn visit_type_path_mut(&mut self, ty: &mut syn::TypePath) {
        visit_mut::visit_type_path_mut(self, ty);
        Qualifier { root: self.root, editor: self.editor }.qualify(ty);
    }

    fn visit_expr_call_mut(&mut self, call: &mut syn::ExprCall) {
        self.typed_literals(call);
        if let Expr::Path(expr) = &*call.func
            && !is_built_in(&expr.path)
        {
            self.literal_arguments(call);
        }
        if let Expr::Path(expr) = &*call.func
            && is_built_in(&expr.path)
        {
            self.call_of(&expr.path);
        }
        visit_mut::visit_expr_call_mut(self, call);
    }

    /// A `const` may use the kernel's generic parameters, which a Rust item could not: here it is a `let`. A macro and a
    /// `const` block become calls, which need a semicolon.
    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if let Stmt::Item(Item::Const(item)) = stmt {
            self.visit_expr_mut(&mut item.expr);
            let (name, ty, value) = (&item.ident, &item.ty, &item.expr);
            let pat = Pat::Verbatim(quote!(#name: #ty));
            let init = Some(syn::LocalInit {
                eq_token: item.eq_token,
                expr: Box::new(Expr::Verbatim(quote!(#value))),
                diverge: None,
            });
            let allow = vec![syn::parse_quote!(#[allow(non_snake_case)])];
            let let_token = syn::token::Let { span: self.generated(item.const_token.span) };
            *stmt = Stmt::Local(Local {
                attrs: allow,
                let_token,
                modifiers: Default::default(),
                pat,
                init,
                semi_token: item.semi_token,
            });
            return;
        }
        if let Stmt::Macro(call) = stmt {
            let Some(tokens) = self.macro_call(&call.mac) else { return };
            let semicolon = call.semi_token.unwrap_or_else(|| self.semicolon(call.mac.bang_token.span));
            *stmt = Stmt::Expr(Expr::Verbatim(tokens), Some(semicolon));
            return;
        }
        if let Stmt::Expr(Expr::Const(block), semi @ None) = stmt {
            *semi = Some(self.semicolon(block.const_token.span));
        }
        visit_mut::visit_stmt_mut(self, stmt);
    }
}

/// The stub that stands for an operator, unless the native one serves.
fn stub_of(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "sub",
        BinaryOp::Mul => "mul",
        BinaryOp::Div => "div",
        BinaryOp::Rem => "rem",
        BinaryOp::BitAnd => "and",
        BinaryOp::BitOr => "or",
        BinaryOp::BitXor => "xor",
        BinaryOp::Shl => "shl",
        BinaryOp::Shr => "shr",
        BinaryOp::Eq => "eq",
        BinaryOp::Ne => "ne",
        BinaryOp::Lt => "lt",
        BinaryOp::Le => "le",
        BinaryOp::Gt => "gt",
        BinaryOp::Ge => "ge",
        BinaryOp::And | BinaryOp::Or => return None,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    Float,
    Int,
}

/// Whether an expression is a number without a type of its own: `2`, `-0.5`, `(1 + 2)`.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn literal(expr: &Expr) -> Option<Number> {
    match expr {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Float(number) if number.suffix().is_empty() => Some(Number::Float),
            Lit::Int(number) if number.suffix().is_empty() => Some(Number::Int),
            _ => None,
        },
        Expr::Paren(paren) => literal(&paren.expr),
        Expr::Group(group) => literal(&group.expr),
        Expr::Unary(unary) => literal_unary(unary),
        Expr::Binary(binary) => {
            // A comparison of literals is a `bool`.
            let arithmetic = matches!(
                operator(&binary.op),
                (Some(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem), false)
            );
            let left = literal(&binary.left).filter(|_| arithmetic)?;
            (literal(&binary.right)? == left).then_some(left)
        }
        _ => None,
    }
}

fn literal_unary(unary: &syn::ExprUnary) -> Option<Number> {
    if let UnOp::Neg(_) = unary.op { literal(&unary.expr) } else { None }
}

/// `1.5f16`: rustc does not take the suffix yet.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn half_literal(lit: &Lit) -> Option<(&'static str, TokenStream)> {
    let (suffix, digits, span) = match lit {
        Lit::Float(number) => (number.suffix(), number.base10_digits(), number.span()),
        Lit::Int(number) => (number.suffix(), number.base10_digits(), number.span()),
        _ => return None,
    };
    let name = ["f16", "bf16"].into_iter().find(|name| *name == suffix)?;
    let mut value = proc_macro2::Literal::f64_unsuffixed(digits.parse().ok()?);
    value.set_span(span);
    Some((name, quote!(#value)))
}

/// An expression without parentheses round it: as an argument it needs none, and rustc would say so.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn bare(mut expr: &Expr) -> &Expr {
    loop {
        expr = match expr {
            Expr::Paren(paren) => &paren.expr,
            Expr::Group(group) => &group.expr,
            _ => return expr,
        };
    }
}

fn first_token(expr: &Expr) -> Span {
    let token = bare(expr).to_token_stream().into_iter().next();
    token.map_or_else(Span::call_site, |token| token.span())
}
