//! The expansion of a kernel: launcher, instance trait, and the two forms of the twin.
//!
//! Only functions, types and traits are emitted, never a module of the kernel's name, so that a module may well be called
//! like its kernel.

use crate::context::Context;
use crate::emit::kernel::{Kernel, constant_type};
use crate::emit::types::{Qualifier, respan};
use crate::emit::{embed, twin};
use crate::link::Linked;
use crate::link::collect::Mentioned;
use crate::read::instances::Instance;
use crate::read::path::key;
use crate::read::signature::Parameter;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{FnArg, GenericParam, PathArguments, Type};
use triton_core::ast::{self, GenericArg, GenericKind, ParamKind};
use triton_core::{Compiled, embed::MOST_CONSTANTS};

impl Kernel<'_> {
    /// The launcher with its instance trait.
    pub(crate) fn launcher(&self) -> TokenStream {
        let Kernel { root, function, compiled, .. } = self;
        let marker = self.marker();
        let p = self.private();
        let (vis, fn_token, name) = (&function.vis, &function.sig.fn_token, &function.sig.ident);
        let attrs = function.attrs.iter().filter(|attr| !attr.path().is_ident("expect"));
        let bounds = function.sig.generics.params.iter().filter_map(|param| match param {
            GenericParam::Lifetime(_) => None,
            GenericParam::Type(ty) => Some(ty.to_token_stream()),
            GenericParam::Const(constant) => {
                let (ident, ty) = (&constant.ident, constant_type(&constant.ty));
                Some(quote!(const #ident: #ty))
            }
        });
        let (params, args): (Vec<_>, Vec<_>) = self
            .typed_inputs()
            .zip(&self.signature.params)
            .map(|(input, param)| self.launch_param(input, param))
            .unzip();
        let args: Vec<_> = args.into_iter().flatten().collect();
        let count = self.count(&args);
        let mode = self.mode();
        let args = self.gathered(args);
        let predicates = function.sig.generics.where_clause.as_ref().map(|clause| &clause.predicates);
        let tuned = self.tuned();
        if self.editor {
            // An editor only needs the signature: the instances would be offered as completions.
            return quote! {
                #(#attrs)*
                #[allow(non_snake_case)]
                #vis #fn_token #name<'a #(, #bounds)*>(#(#params),*) -> #root::Launch<'a, #root::launch::mode::#mode, #count>
                where #predicates {
                    let _: [#p::LaunchArg<'a>; #count] = #args;
                    #p::not_compiled()
                }
                #tuned
            };
        }
        let (trait_declarations, trait_arguments) = self.trait_generics();
        let pooled = self.declared_pooled();
        let unlisted = self.unlisted();
        // On one token of the user's, or rustc would underline the whole attribute when the bound is not met.
        // An item begins where its first token stands, and lints of the user's are about items that begin in their code.
        let generated = respan(vis.to_token_stream(), Span::call_site());
        let listed = respan(quote!(#marker: #compiled #trait_arguments), compiled.span());
        let doc = format!(
            "The instances of the kernel `{0}`. Generic host code asks for one: `where triton::Compiled: {compiled}<..>`, with the \
             generic arguments of `{0}`.\n\n# Safety\nFor the attribute alone: the kernel is that of these arguments.",
            self.name()
        );
        quote! {
            #(#attrs)*
            #[allow(non_snake_case, clippy::too_many_arguments)]
            #vis #fn_token #name<'a #(, #bounds)*>(#(#params),*) -> #root::Launch<'a, #root::launch::mode::#mode, #count>
            where #listed, #predicates {
                let (kernel, args) = (<#marker as #compiled #trait_arguments>::kernel(), #args);
                // SAFETY: the mode in the signature is that of the parameters.
                unsafe { #p::Launch::new(kernel, args) }
            }
            #[doc = #doc]
            #[allow(non_camel_case_types, clippy::missing_safety_doc)]
            #unlisted
            #generated unsafe trait #compiled #trait_declarations {
                #[doc(hidden)]
                fn kernel() -> &'static #p::Kernel;
                #pooled
            }
            #tuned
        }
    }

    /// Who vouches for accesses: a member of `launch::mode`.
    pub(super) fn mode(&self) -> Ident {
        let raw = |param: &ast::Param| matches!(param.kind, ParamKind::Ptr | ParamKind::PtrMut);
        let raw = self.signature.params.iter().flat_map(|param| &param.ast).any(raw);
        Ident::new(if raw { "Unsafe" } else { "Safe" }, Span::call_site())
    }

    fn struct_types(&self) -> impl Iterator<Item = &Type> {
        let params = self.typed_inputs().zip(&self.signature.params);
        let is_struct = |param: &Parameter| param.ast.as_ref().is_some_and(|param| param.kind == ParamKind::Struct);
        params.filter(move |(_, param)| is_struct(param)).map(|(input, _)| &*input.ty)
    }

    /// How many arguments a launch has.
    pub(super) fn count(&self, args: &[TokenStream]) -> TokenStream {
        let p = self.private();
        let structs: Vec<_> = self.struct_types().collect();
        let plain = args.len() - structs.len();
        if structs.is_empty() { quote!(#plain) } else { quote!({ #plain #(+ <#structs as #p::Params>::COUNT)* }) }
    }

    /// The arguments as an array.
    pub(super) fn gathered(&self, args: Vec<TokenStream>) -> TokenStream {
        if self.struct_types().next().is_none() {
            return quote!([#(#args),*]);
        }
        let p = self.private();
        let params = self.signature.params.iter().filter(|param| param.ast.is_some());
        let puts = params.zip(args).map(|(param, arg)| {
            let is_struct = param.ast.as_ref().is_some_and(|param| param.kind == ParamKind::Struct);
            if is_struct { quote!(#p::Params::pass(#arg, slots);) } else { quote!(slots.put(#arg);) }
        });
        quote!(#p::Slots::gather(|slots| { #(#puts)* }))
    }

    /// The external items of the kernel: functions, and structs of its parameters. Constants are not among them:
    /// which of them can be known at compile time cannot be told yet.
    pub(crate) fn uses(&self) -> Vec<syn::Path> {
        let generics = self.signature.generics.iter().map(|generic| generic.name.name.clone());
        let params = self.signature.params.iter().map(|param| param.name.unraw().to_string());
        let mut uses = Mentioned::in_block(&self.function.block, generics.chain(params)).calls;
        for ty in self.struct_types() {
            let Type::Path(path) = ty else { continue };
            if !uses.iter().any(|known| key(known) == key(&path.path)) {
                uses.push(path.path.clone());
            }
        }
        uses
    }

    /// The external constants.
    pub(crate) fn outers(&self, linked: &Linked) -> Vec<syn::Path> {
        let generics = self.signature.generics.iter().map(|generic| generic.name.name.clone());
        let params = self.signature.params.iter().map(|param| param.name.unraw().to_string());
        let types = self.signature.generics.iter().filter(|generic| generic.kind == GenericKind::Type);
        let types: Vec<String> = types.map(|generic| generic.name.name.clone()).collect();
        let mut outers = Mentioned::of_kernel(&self.function.block, generics.chain(params), &types).constants;
        outers.retain(|path| !linked.paths.contains_key(&key(path)));
        outers.truncate(MOST_CONSTANTS);
        outers
    }

    pub(super) fn typed_inputs(&self) -> impl Iterator<Item = &syn::PatType> {
        self.function
            .sig
            .inputs
            .iter()
            .filter_map(|input| if let FnArg::Typed(input) = input { Some(input) } else { None })
    }

    /// A parameter of the launcher, and the argument made of it.
    pub(super) fn launch_param(&self, input: &syn::PatType, param: &Parameter) -> (TokenStream, Option<TokenStream>) {
        let p = self.private();
        let (name, ty) = (&param.name, &input.ty);
        let span = if self.editor { Span::call_site() } else { ty.span() };
        let Some(kind) = param.ast.as_ref().map(|param| param.kind) else {
            return (quote!(#[allow(unused_variables)] #name: impl ::core::marker::Sized), None);
        };
        let element = element(ty);
        // Not through `__private`: an editor shows the path.
        let host = respan(self.root.clone(), span);
        match kind {
            // `&mut impl`, not a value: a variable that holds `&mut Buffer` is then borrowed again, not moved.
            ParamKind::Ptr => (
                quote_spanned!(span=> #name: &'a impl #host::AsPtrArg<#element>),
                Some(quote!(#p::AsPtrArg::<#element>::as_ptr_arg(#name))),
            ),
            ParamKind::PtrMut => {
                let arg = quote!(#p::AsPtrMutArg::<#element>::as_ptr_mut_arg(#name));
                (quote_spanned!(span=> #name: &'a mut impl #host::AsPtrMutArg<#element>), Some(arg))
            }
            // By value: a view is made for the call; a tensor, and a view that is kept, is passed as a reference to it.
            ParamKind::Tensor(_) => (
                quote_spanned!(span=> #name: impl #host::IntoView<'a, #element>),
                Some(quote!(#p::LaunchArg::tensor::<#element, _>(#name))),
            ),
            ParamKind::TensorMut(_) => (
                quote_spanned!(span=> #name: impl #host::IntoViewMut<'a, #element>),
                Some(quote!(#p::LaunchArg::tensor_mut::<#element, _>(#name))),
            ),
            ParamKind::Scalar => (quote!(#name: #ty), Some(quote!(#p::LaunchArg::scalar(#name)))),
            ParamKind::Struct => (quote!(#name: #ty), Some(name.to_token_stream())),
        }
    }

    /// The twin and the code of every instance.
    pub(crate) fn compiled(&self, outers: &[syn::Path], compiled: &[Vec<Compiled>]) -> TokenStream {
        let all = || self.instances.iter().zip(compiled);
        if outers.is_empty() {
            let impls = all().map(|(instance, configs)| self.instance(instance, configs, &[]));
            let (twin, pools) = (self.twin(&[]), self.pools());
            return quote!(#twin #(#impls)* #pools);
        }
        // One use of each constant for rustc to check: the twin and the code use another name for it.
        let (mut renamed, mut declared) = (Vec::new(), TokenStream::new());
        for (index, path) in outers.iter().enumerate() {
            let dtype = compiled.iter().flatten().find_map(|compiled| compiled.outers.get(index).copied().flatten());
            let own = self.signature.generics.iter().any(|generic| path.segments[0].ident == generic.name.name);
            let (Some(dtype), false) = (dtype, own) else { continue };
            let name = format_ident!("CONSTANT_{}", index);
            let ty = self.value(GenericArg::Type(dtype), GenericKind::Type, path.span());
            declared.extend(quote_spanned!(path.span()=> const #name: #ty = #path;));
            renamed.push((path.clone(), name));
        }
        let twin = self.twin(&renamed);
        let constants: Vec<TokenStream> = outers
            .iter()
            .map(|path| match renamed.iter().find(|(known, _)| key(known) == key(path)) {
                Some((_, name)) => name.to_token_stream(),
                None => path.to_token_stream(),
            })
            .collect();
        let impls = all().map(|(instance, configs)| self.instance(instance, configs, &constants));
        let pools = self.pools();
        quote!(const _: () = { #declared #twin #(#impls)* #pools };)
    }

    /// The implementation for one instance, with its code. `outers` are the names of its external constants.
    fn instance(&self, instance: &Instance, configs: &[Compiled], outers: &[TokenStream]) -> TokenStream {
        let (marker, compiled) = (self.marker(), &self.compiled);
        let p = self.private();
        let values = self.values(instance, |_| Span::call_site());
        let shared = embed::shared(self, instance, configs, outers);
        let body = embed::kernel(self, instance, configs, |_, _| true);
        let pooled = self.pooled(instance, configs);
        let generics = self.signature.generics.iter().zip(&values).filter(|_| !outers.is_empty());
        let aliases = generics.filter(|(generic, _)| generic.kind == GenericKind::Type).map(|(generic, value)| {
            let name = Ident::new(&generic.name.name, Span::call_site());
            quote!(#[allow(dead_code)] type #name = #value;)
        });
        let lifetime = if values.is_empty() { quote!(<'a>) } else { TokenStream::new() };
        let arguments = if values.is_empty() { quote!(<'a>) } else { quote!(<#(#values),*>) };
        quote!(const _: () = {
            #(#aliases)*
            #shared
            #[diagnostic::do_not_recommend]
            // SAFETY: this is the code of the instance.
            unsafe impl #lifetime #compiled #arguments for #marker {
                fn kernel() -> &'static #p::Kernel { #body }
                #pooled
            }
        };)
    }

    /// An implementation for every instance at once: with an error in the kernel, its callers have nothing to add.
    pub(crate) fn accept_every_instance(&self) -> TokenStream {
        let (marker, compiled) = (self.marker(), &self.compiled);
        let p = self.private();
        let (declarations, arguments) = self.trait_generics();
        let (head, pools, pooled) = (self.head(), self.accept_every_pool(), self.no_pooled());
        quote! {
            #[diagnostic::do_not_recommend]
            // SAFETY: it has no kernel.
            unsafe impl #declarations #compiled #arguments for #marker {
                fn kernel() -> &'static #p::Kernel { #p::not_compiled() }
                #pooled
            }
            #pools
            #head
        }
    }

    /// The kernel's head with nothing in it, which replaces the twin: without it an import that only the kernel
    /// needs would be reported as unused, beside the error.
    pub(crate) fn head(&self) -> TokenStream {
        let (generics, clause) = (self.twin_generics(), &self.function.sig.generics.where_clause);
        let types = self.typed_inputs().zip(&self.signature.params).filter(|(_, param)| param.ast.is_some());
        let types = types.map(|(input, _)| self.qualifier().of(&input.ty));
        quote!(const _: () = {
            #[allow(dead_code, non_snake_case, clippy::too_many_arguments)]
            fn head #generics(#(_: #types),*) #clause {}
        };)
    }

    fn twin_generics(&self) -> TokenStream {
        let params = self.generic_params();
        if params.is_empty() { TokenStream::new() } else { quote!(<#(#params),*>) }
    }

    fn twin_params(&self) -> impl Iterator<Item = TokenStream> {
        self.typed_inputs().map(|input| {
            let (pat, colon, ty) = (&input.pat, &input.colon_token, self.qualifier().of(&input.ty));
            quote!(#pat #colon #ty)
        })
    }

    fn qualifier(&self) -> Qualifier<'_> {
        Qualifier { root: self.root, editor: self.editor }
    }

    /// The twin, with the kernel's name and generic parameters.
    pub(crate) fn twin(&self, renamed: &[(syn::Path, Ident)]) -> TokenStream {
        let sig = &self.function.sig;
        let (fn_token, mut name, clause) = (&sig.fn_token, sig.ident.clone(), &sig.generics.where_clause);
        if self.editor {
            // The user's name is the launcher's.
            name.set_span(Span::call_site());
        }
        let levels = ["allow", "expect", "warn", "deny"];
        let attrs = self.function.attrs.iter().filter(|attr| levels.iter().any(|level| attr.path().is_ident(level)));
        let (generics, params) = (self.twin_generics(), self.twin_params());
        let twin = twin::of(&self.function.block, self.root, self.editor, renamed);
        let checks = if self.editor { TokenStream::new() } else { self.checks(&twin.called) };
        let body = &twin.block;
        let root = self.root;
        quote!(const _: () = {
            // The functions of the language are in scope here, and not in the user's module. A parameter may have one's name.
            #[allow(unused_imports)]
            use #root::lang::functions::*;
            #(#attrs)*
            // Which literals fit is for the checker to say: a stub's literal has a type of its own.
            #[allow(dead_code, overflowing_literals, clippy::all, clippy::pedantic, clippy::nursery)]
            #fn_token #name #generics(#(#params),*) #clause #body
            #checks
        };)
    }

    /// What rustc checks besides the body.
    ///
    /// The compiler knows a built-in by its name. If the user has another function of that name in scope, then that is
    /// what the body seems to call, so it is rejected: two imports by `*` of different things are ambiguous.
    fn checks(&self, called: &[syn::Path]) -> TokenStream {
        let (root, mut checks) = (self.root, self.bound_checks());
        for (index, path) in called.iter().enumerate() {
            let module = format_ident!("built_in_{}", index);
            let name = path.segments.last();
            let modules: Vec<_> = path.segments.iter().take(path.segments.len() - 1).collect();
            let (alias, seen) = match modules.split_first() {
                None => (TokenStream::new(), quote!(super::super)),
                Some((first, rest)) => {
                    let leading = &path.leading_colon;
                    // The check stands one module further in than the kernel.
                    let from = match first.ident.to_string().as_str() {
                        "self" => quote!(super #(::#rest)*),
                        "super" => quote!(super #(::#modules)*),
                        _ => quote!(#leading #first #(::#rest)*),
                    };
                    (quote!(use #from as seen;), quote!(super::seen))
                }
            };
            checks.extend(quote! {
                #[allow(unused_imports)]
                mod #module {
                    use super::*;
                    use #root::lang as known;
                    #alias
                    mod check {
                        use #seen::*;
                        use super::known::*;
                        use self::#name as _;
                    }
                }
            });
        }
        checks
    }

    /// Instantiates the twin with the listed types, so that rustc reports one that does not satisfy the bounds.
    fn bound_checks(&self) -> TokenStream {
        let name = &self.function.sig.ident;
        let mut seen: Vec<Vec<GenericArg>> = Vec::new();
        let mut checks = TokenStream::new();
        for instance in self.instances {
            let types: Vec<GenericArg> =
                instance.args.iter().copied().filter(|arg| matches!(arg, GenericArg::Type(_))).collect();
            if types.is_empty() || seen.contains(&types) {
                continue;
            }
            let values = self.values(instance, |index| instance.spans[index]);
            checks.extend(quote!(let _ = #name::<#(#values),*>;));
            seen.push(types);
        }
        checks
    }

    /// The twin as a closure over one instance, followed by a panic that is reached only if rustc accepts the closure.
    pub(crate) fn twin_of(
        &self,
        cx: &Context,
        instance: &Instance,
        text: &str,
        span: triton_core::span::Span,
    ) -> TokenStream {
        let generics = self.generic_params().into_iter();
        let values = generics.zip(self.values(instance, |_| Span::call_site())).map(|(generic, value)| match generic {
            GenericParam::Const(constant) => {
                let (name, ty) = (&constant.ident, &constant.ty);
                quote!(const #name: #ty = #value;)
            }
            GenericParam::Type(ty) => {
                let name = &ty.ident;
                quote!(type #name = #value;)
            }
            GenericParam::Lifetime(_) => TokenStream::new(),
        });
        let (params, body) = (self.twin_params(), twin::of(&self.function.block, self.root, false, &[]).block);
        let (first, last) = cx.tokens(span);
        let mut message = proc_macro2::Group::new(proc_macro2::Delimiter::Parenthesis, quote!("{}", #text));
        message.set_span(last);
        let panic = quote_spanned!(first=> ::core::panic!);
        let root = self.root;
        quote!(
            #[allow(dead_code, unused_imports, unused_variables, non_camel_case_types, non_upper_case_globals, clippy::all)]
            const _: () = {
                use #root::lang::functions::*;
                #(#values)*
                let _twin = |#(#params),*| #body;
                #panic #message
            };
        )
    }
}

/// The `T` of `Ptr<T>`, the `T, 2` of `Tensor<T, 2>`.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
fn element(written: &Type) -> TokenStream {
    let path = match written {
        Type::Path(path) => &path.path,
        Type::Group(group) => return element(&group.elem),
        Type::Paren(paren) => return element(&paren.elem),
        _ => return TokenStream::new(),
    };
    match path.segments.last().map(|segment| &segment.arguments) {
        Some(PathArguments::AngleBracketed(list)) => list.args.to_token_stream(),
        Some(PathArguments::None | PathArguments::Parenthesized(_)) | None => TokenStream::new(),
    }
}
