//! `#[cfg(..)]` on statements of a body.
//!
//! rustc configures an item before its attributes run, but not what is inside of it, and which predicates hold only rustc
//! knows. So the function is written twice, once with the first such statement and once without, each under `#[cfg(..)]` itself and
//! with its attribute again, until no statement is configured.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, Expr, Item, ItemFn, Stmt};

/// The function under `attribute` in both configurations, or `None` if no statement is configured.
pub(crate) fn both(function: &ItemFn, attribute: &TokenStream) -> Option<TokenStream> {
    let branch = |keep: bool| {
        let mut function = function.clone();
        let mut first = First { keep, predicate: None };
        first.visit_block_mut(&mut function.block);
        first.predicate.map(|predicate| (predicate, function))
    };
    let ((predicate, with), (_, without)) = (branch(true)?, branch(false)?);
    Some(quote! {
        #[cfg(#predicate)]
        #[#attribute]
        #with
        #[cfg(not(#predicate))]
        #[#attribute]
        #without
    })
}

/// Takes the first configured statement's attribute, or the whole statement, away.
struct First {
    keep: bool,
    predicate: Option<TokenStream>,
}

impl VisitMut for First {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let found = block.stmts.iter_mut().enumerate().find_map(|(index, stmt)| {
            let attrs = attributes(stmt)?;
            let at = attrs.iter().position(|attr| attr.path().is_ident("cfg"))?;
            let syn::Meta::List(list) = &attrs[at].meta else { return None };
            let predicate = list.tokens.clone();
            attrs.remove(at);
            Some((index, predicate))
        });
        match found {
            Some((index, predicate)) if self.predicate.is_none() => {
                self.predicate = Some(predicate);
                if !self.keep {
                    block.stmts.remove(index);
                }
            }
            _ => visit_mut::visit_block_mut(self, block),
        }
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if self.predicate.is_none() {
            visit_mut::visit_stmt_mut(self, stmt);
        }
    }
}

#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn attributes(stmt: &mut Stmt) -> Option<&mut Vec<Attribute>> {
    Some(match stmt {
        Stmt::Local(local) => &mut local.attrs,
        Stmt::Macro(call) => &mut call.attrs,
        Stmt::Item(Item::Const(item)) => &mut item.attrs,
        Stmt::Item(_) => return None,
        Stmt::Expr(expr, _) => match expr {
            Expr::Assign(e) => &mut e.attrs,
            Expr::Binary(e) => &mut e.attrs,
            Expr::Block(e) => &mut e.attrs,
            Expr::Call(e) => &mut e.attrs,
            Expr::Const(e) => &mut e.attrs,
            Expr::ForLoop(e) => &mut e.attrs,
            Expr::If(e) => &mut e.attrs,
            Expr::MethodCall(e) => &mut e.attrs,
            Expr::Return(e) => &mut e.attrs,
            Expr::While(e) => &mut e.attrs,
            _ => return None,
        },
    })
}
