//! Kernels of a text that is read while a program runs: for instances that no attribute lists.

use crate::context::{Context, Names};
use crate::link::library;
use crate::read::items::{self, Writer};
use crate::read::{body, signature};
use syn::{Attribute, Item};
use triton_core::ast;
use triton_core::diag::Diagnostic;

/// A text as a user would write it: kernels, and the functions, constants and structs that they use. Each item has its attribute, and is known by
/// its name; what the attributes list does not matter.
///
/// ```
/// use triton_core::ast::{GenericArg, Instance, Options};
///
/// let source = triton_syntax::Source::parse(&[
///     "#[triton::function] fn twice<T: Num>(x: Tile<T>) -> Tile<T> { x + x }
///      #[triton::kernel] fn double<const N: i32>(x: TensorMut<f32, 1>) {
///          let i = program_id(0) * N;
///          x.store([i], twice(x.load([i], [N])));
///      }",
/// ])
/// .expect("it is a text of kernels");
/// let kernel = source.kernel("double").expect("it is in the text");
/// let instance = Instance { args: vec![GenericArg::Const(64)], options: Options::default() };
/// let compiled = triton_core::compile(kernel, &instance).expect("64 is a power of two");
/// assert!(compiled.config.images[0].text().contains("add"));
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    kernels: Vec<ast::Kernel>,
}

impl Source {
    /// Reads texts, which know each other's items as those of one file. What they import is not looked at.
    ///
    /// # Errors
    /// What is not part of the language, in the order in which it was found.
    #[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
    pub fn parse(texts: &[&str]) -> Result<Source, Vec<Diagnostic>> {
        let mut cx = Context::default();
        let files: Vec<syn::File> = texts.iter().map(|text| file(text)).collect::<Result<_, _>>()?;
        let (mut used, mut structs, mut kernels) = (Vec::new(), Vec::new(), Vec::new());
        for item in files.iter().flat_map(|file| &file.items) {
            match item {
                Item::Fn(written) if has(&written.attrs, "kernel") => kernels.push(written),
                Item::Fn(written) if has(&written.attrs, "function") => used.push(item),
                Item::Const(written) if has(&written.attrs, "constant") => used.push(item),
                Item::Struct(written) if has(&written.attrs, "params") => structs.push(written),
                _ => {}
            }
        }
        let first = library::functions().len();
        let names = || Names {
            functions: used.iter().enumerate().map(|(index, item)| (name(item), first + index)).collect(),
            structs: structs.iter().enumerate().map(|(index, item)| (item.ident.to_string(), index)).collect(),
            ..Names::default()
        };
        cx.enter(names(), false);
        let functions: Vec<_> = used
            .iter()
            .filter_map(|item| match item {
                Item::Fn(written) => items::function(&mut cx, written, Writer::User),
                Item::Const(written) => items::constant(&mut cx, written),
                _ => None,
            })
            .collect();
        let structs: Vec<_> = structs.iter().filter_map(|written| items::structure(&mut cx, written)).collect();
        let functions: Vec<_> = library::functions().iter().cloned().chain(functions).collect();
        let mut read = Vec::new();
        for written in kernels {
            let Some(signature) = signature::read(&mut cx, written) else { continue };
            let params: Option<Vec<_>> = signature.params.iter().map(|param| param.ast.clone()).collect();
            let body = body::convert(&mut cx, &written.block);
            let name = cx.ident(&written.sig.ident);
            if let (Some(params), Some(body)) = (params, body) {
                read.push((name, signature.generics, params, body));
            }
        }
        if cx.failed() {
            return Err(cx.into_problems());
        }
        let kernels = read.into_iter().map(|(name, generics, params, body)| ast::Kernel {
            name,
            generics,
            params,
            body,
            functions: functions.clone(),
            structs: structs.clone(),
            outers: Vec::new(),
            sources: cx.sources(),
        });
        Ok(Source { kernels: kernels.collect() })
    }

    /// A kernel of the text.
    pub fn kernel(&self, name: &str) -> Option<&ast::Kernel> {
        self.kernels.iter().find(|kernel| kernel.name.name == name)
    }
}

fn file(text: &str) -> Result<syn::File, Vec<Diagnostic>> {
    syn::parse_file(text).map_err(|error| {
        let at = error.span().start();
        let message = format!("line {}, column {}: {error}", at.line, at.column + 1);
        vec![Diagnostic::new(triton_core::diag::Code::T0001, triton_core::span::Span::NONE, message)]
    })
}

/// Whether an item has an attribute, under whichever path.
fn has(attrs: &[Attribute], name: &str) -> bool {
    attrs.iter().any(|attr| attr.path().segments.last().is_some_and(|last| last.ident == name))
}

/// The name of a function or constant.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn name(item: &Item) -> String {
    match item {
        Item::Fn(written) => written.sig.ident.to_string(),
        Item::Const(written) => written.ident.to_string(),
        _ => String::new(),
    }
}
