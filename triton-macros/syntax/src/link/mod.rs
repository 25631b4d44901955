//! Linking: how a kernel gets the tokens of the functions it calls, from other modules and crates, while it is compiled.
//!
//! Each `#[triton::function]` leaves beside the function a macro of the same name, which passes on its own
//! tokens, and those of everything that it needs in turn. A path like `math::gelu` names both, so that `use`, `pub use`,
//! renames and privacy work by themselves. A kernel asks one macro after the other, each of which adds its part and calls the
//! next, and the last calls [`crate::link()`] with all of them:
//!
//! ```text
//! a! { v1 [finish] [[b] [c]] [a] {head} {} }  ⇒  b! { v1 [finish] [[c]] [b] {head} {a's part} }  ⇒  ..  ⇒  finish! { v1 {head} {parts} }
//! ```
//!
//! A part is `(path => "id")`, what the path meant, and for each function that comes with it
//! `["id" "crate" {item} {(path => "id") ..}]`, with what its own paths mean. Another version of the protocol has another
//! first word, and the macro then reports it.

pub(crate) mod collect;
pub(crate) mod library;
pub(crate) mod parts;

use crate::environment;
use crate::read::path::key;
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Item, Path, Visibility};
use triton_core::hash::fnv1a;

/// What the number of a function of the language begins with.
pub(crate) const BUILT_IN: &str = "built-in ";

/// The word that all calls of these macros begin with. A change of what stands between them needs another one.
const PROTOCOL: &str = "v1";

/// What the functions that a kernel or function mentions are, and what comes with them.
#[derive(Default)]
pub(crate) struct Linked {
    /// What each path means.
    pub(crate) paths: Paths,
    /// Every function, constant and struct that is needed, each once.
    pub(crate) parts: Vec<Part>,
}

/// Paths as they are spelled, each with the number of what it means.
pub(crate) type Paths = BTreeMap<String, String>;

/// One function, constant or struct.
pub(crate) struct Part {
    /// The number it is known by.
    pub(crate) id: String,
    /// The crate it comes from.
    pub(crate) home: String,
    /// The function.
    pub(crate) item: Item,
    /// What its paths mean.
    pub(crate) paths: Paths,
    /// All of it, to be passed on.
    tokens: TokenStream,
}

/// A kernel whose code waits for what it uses.
#[derive(Clone)]
pub(crate) struct Request {
    /// Constants that turned out to be needed at compile time.
    pub(crate) asked: Vec<Path>,
    /// The options of its attribute.
    pub(crate) args: TokenStream,
    /// The function.
    pub(crate) item: TokenStream,
}

impl Request {
    /// Asks for these, and then continues with the kernel.
    pub(crate) fn ask(&self, root: &TokenStream, uses: &[Path]) -> TokenStream {
        let Request { asked, args, item } = self;
        let link = ask(root, uses, quote!(kernel [#([#asked])*] { #args } { #item }));
        // In scope of the language's functions rustc finds one near a misspelled name.
        quote! {
            const _: () = {
                #[allow(unused_imports)]
                use #root::lang::functions::*;
                #link
            };
        }
    }
}

/// What is being linked.
pub(crate) enum Head {
    /// A kernel.
    Kernel(Request),
    /// A function, constant or struct.
    Function(TokenStream),
}

/// The continuation of [`ask`].
pub(crate) fn head(tokens: TokenStream) -> Option<Head> {
    match &list(tokens)[..] {
        [TokenTree::Ident(word), TokenTree::Group(item)] if *word == "function" => Some(Head::Function(item.stream())),
        [TokenTree::Ident(word), TokenTree::Group(asked), TokenTree::Group(args), TokenTree::Group(item)]
            if *word == "kernel" =>
        {
            let path = |tree: TokenTree| {
                if let TokenTree::Group(path) = tree { syn::parse2(path.stream()).ok() } else { None }
            };
            let asked = asked.stream().into_iter().map(path).collect::<Option<_>>()?;
            Some(Head::Kernel(Request { asked, args: args.stream(), item: item.stream() }))
        }
        _ => None,
    }
}

/// The first call: asks for all of `paths`, and ends at `link!` with `head` and what they gave.
pub(crate) fn ask(root: &TokenStream, paths: &[Path], head: TokenStream) -> TokenStream {
    let word = format_ident!("{PROTOCOL}");
    let finish = quote!(#root::__private::link);
    let Some((first, rest)) = paths.split_first() else { return quote!(#finish! { #word { #head } { } }) };
    // If the name is wrong, rustc should point at it.
    let call = quote_spanned!(first.span()=> !);
    quote!(#first #call { #word [#finish] [#([#rest])*] [#first] { #head } { } })
}

/// The macro that passes on a function, constant or struct, and what it needs.
pub(crate) fn macro_of(vis: &Visibility, name: &Ident, item: &TokenStream, linked: &Linked) -> TokenStream {
    let (number, home) = (identity(name, item), environment::home());
    let id = format!("{home} {number}");
    let paths = linked.paths.iter().map(|(path, id)| quote!((#path => #id)));
    let closure = linked.parts.iter().map(|part| &part.tokens);
    let parts = quote!(#(#closure)* [#id #home { #item } { #(#paths)* }]);
    hidden_macro(vis, name, &id, &format!("{}_{number}", name.unraw()), &parts)
}

/// The macros of the functions of the language: a kernel that calls one by another name asks it what it is, and rustc finds
/// it near a misspelled name.
pub(crate) fn macros_of_built_ins() -> TokenStream {
    let names = triton_core::sema::BUILTINS.iter().map(|builtin| format_ident!("{}", builtin.name));
    let public = Visibility::Public(Default::default());
    let macros = names
        .map(|name| hidden_macro(&public, &name, &format!("{BUILT_IN}{name}"), &name.to_string(), &TokenStream::new()));
    macros.collect()
}

/// A macro that adds `(path => "id")` and these parts.
fn hidden_macro(vis: &Visibility, name: &Ident, id: &str, unique: &str, parts: &TokenStream) -> TokenStream {
    let word = format_ident!("{PROTOCOL}");
    let hidden = format_ident!("for_kernels_{}_{}", PROTOCOL, unique);
    let export = if matches!(vis, Visibility::Public(_)) { quote!(#[macro_export]) } else { TokenStream::new() };
    let confused = format!(
        "`{name}` is a function, constant or struct for kernels, not a macro; if this is a kernel or a function for \
         kernels, then `{name}` was made by another version of `triton-dsl`: let both crates depend on the same version"
    );
    quote! {
        #[doc(hidden)]
        #export
        macro_rules! #hidden {
            (#word [$($finish:tt)*] [] [$($path:tt)*] $head:tt { $($parts:tt)* }) => {
                $($finish)* ! { #word $head { $($parts)* ($($path)* => #id) #parts } }
            };
            (#word [$($finish:tt)*] [[$($next:tt)*] $($rest:tt)*] [$($path:tt)*] $head:tt { $($parts:tt)* }) => {
                $($next)* ! { #word [$($finish)*] [$($rest)*] [$($next)*] $head { $($parts)* ($($path)* => #id) #parts } }
            };
            ($($other:tt)*) => { ::core::compile_error! { #confused } };
        }
        #[doc(hidden)]
        #[allow(unused_imports)]
        #vis use #hidden as #name;
    }
}

/// A number that no other item of the crate has: of its location and its tokens, and, since an item that a macro of the
/// user's repeats has the same location, of how often it was seen.
fn identity(name: &Ident, item: &TokenStream) -> String {
    static SEEN: Mutex<BTreeMap<u64, u32>> = Mutex::new(BTreeMap::new());
    let text = format!("{}:{item}", environment::location(name.span()));
    let hash = fnv1a(text.bytes());
    let mut seen = SEEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let count = seen.entry(hash).and_modify(|count| *count += 1).or_insert(0);
    if *count == 0 { format!("{hash:016x}") } else { format!("{hash:016x}_{count}") }
}

/// What `link!` is called with: the head, and the parts. `None` for what no macro of ours has written.
pub(crate) fn read(tokens: TokenStream) -> Option<(TokenStream, Linked)> {
    let [TokenTree::Ident(word), TokenTree::Group(head), TokenTree::Group(parts)] = &list(tokens)[..] else {
        return None;
    };
    if *word != PROTOCOL {
        return None;
    }
    let (mut linked, mut seen) = (Linked::default(), HashSet::new());
    for tree in parts.stream() {
        let TokenTree::Group(group) = &tree else { return None };
        if group.delimiter() == Delimiter::Parenthesis {
            let (path, id) = meaning(group.stream())?;
            linked.paths.insert(path, id);
            continue;
        }
        let [id, home, TokenTree::Group(item), TokenTree::Group(paths)] = &list(group.stream())[..] else {
            return None;
        };
        let id = text(id)?;
        if !seen.insert(id.clone()) {
            continue;
        }
        let paths = paths.stream().into_iter().map(|tree| match tree {
            TokenTree::Group(group) => meaning(group.stream()),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
        });
        let (paths, item) = (paths.collect::<Option<Paths>>()?, syn::parse2(item.stream()).ok()?);
        linked.parts.push(Part { id, home: text(home)?, item, paths, tokens: tree.into() });
    }
    Some((head.stream(), linked))
}

/// `path => "id"`; a path that was passed on is a string.
fn meaning(tokens: TokenStream) -> Option<(String, String)> {
    let trees = list(tokens);
    let (id, path) = trees.split_last()?;
    let path = path.get(..path.len().checked_sub(2)?)?;
    let path = match path {
        [TokenTree::Literal(_)] => text(&path[0])?,
        _ => key(&syn::parse2(path.iter().cloned().collect()).ok()?),
    };
    Some((path, text(id)?))
}

fn text(tree: &TokenTree) -> Option<String> {
    syn::parse2::<syn::LitStr>(tree.clone().into()).ok().map(|literal| literal.value())
}

fn list(tokens: TokenStream) -> Vec<TokenTree> {
    tokens.into_iter().collect()
}
