//! What a kernel uses, once its tokens have arrived: functions, constants and structs, numbered, in the compiler's tree.

use crate::context::{Context, Names};
use crate::environment;
use crate::link::{self, Linked, Part};
use crate::read::items::{self, Writer};
use syn::Item;
use triton_core::ast;

/// What a kernel uses.
#[derive(Default)]
pub(crate) struct Parts {
    /// Functions and constants.
    pub(crate) functions: Vec<ast::Function>,
    /// Structs of its parameters.
    pub(crate) structs: Vec<ast::Struct>,
}

/// Reads what a kernel uses, functions numbered from `first`. `None` if something has errors, which were reported where it
/// stands.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
pub(crate) fn read(cx: &mut Context, linked: &Linked, first: usize) -> Option<Parts> {
    let is_struct = |part: &&Part| matches!(part.item, Item::Struct(_));
    let numbers = |wanted: bool| linked.parts.iter().filter(move |part| is_struct(part) == wanted);
    let functions: Vec<&Part> = numbers(false).collect();
    let structs: Vec<&Part> = numbers(true).collect();
    let names = |paths: &link::Paths| {
        let mut names = Names::default();
        for (path, id) in paths {
            if let Some(index) = functions.iter().position(|part| part.id == *id) {
                names.functions.insert(path.clone(), first + index);
            } else if let Some(index) = structs.iter().position(|part| part.id == *id) {
                names.structs.insert(path.clone(), index);
            } else if let Some(name) = id.strip_prefix(link::BUILT_IN) {
                names.built_ins.insert(path.clone(), name.to_owned());
            }
        }
        names
    };
    let mut parts = Parts::default();
    for part in &linked.parts {
        cx.enter(names(&part.paths), part.home != environment::home());
        match &part.item {
            Item::Fn(item) => parts.functions.push(items::function(cx, item, Writer::User)?),
            Item::Const(item) => parts.functions.push(items::constant(cx, item)?),
            Item::Struct(item) => parts.structs.push(items::structure(cx, item)?),
            _ => return None,
        }
    }
    cx.enter(names(&linked.paths), false);
    Some(parts)
}
