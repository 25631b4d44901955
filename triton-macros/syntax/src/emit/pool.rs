//! Pools: what `tune = [..]` adds to a kernel.
//!
//! Of `matmul` the struct `MatmulChoice`, with a field for each name and for the options of configs; the trait `MatmulPool` of the pools
//! that exist, which generic host code can name; and the functions `matmul_pool` and `matmul_tuned`, whose generic parameters are those that are
//! not chosen. A pool is a static with a pointer to the function that gives a member's kernel, so that a program that does not mention it
//! has none of its members.

use crate::emit::embed;
use crate::emit::kernel::{Kernel, constant_type, name_of, spelling, type_name};
use crate::emit::types::respan;
use crate::read::instances::Instance;
use crate::read::tune::{Scalar, Tune};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{GenericParam, WherePredicate};
use triton_core::Compiled;
use triton_core::ast::{GenericArg, GenericKind};
use triton_core::metadata::{Image, Specialization};
use triton_core::types::DType;

/// A kernel that has pools.
struct Pools<'k, 'a> {
    kernel: &'k Kernel<'a>,
    tune: &'k Tune,
    choice: Ident,
    of: Ident,
    pool: Ident,
    tuned: Ident,
}

/// A member: its instance, the number of the config, and the values of scalars.
struct Member<'i> {
    instance: &'i Instance,
    config: usize,
    scalars: Vec<GenericArg>,
}

impl Kernel<'_> {
    fn tuning(&self) -> Option<Pools<'_, '_>> {
        let tune = self.tune.as_ref()?;
        let (name, span) = (self.name(), self.compiled.span());
        Some(Pools {
            kernel: self,
            tune,
            choice: Ident::new(&type_name(&name, "Choice"), span),
            of: Ident::new(&type_name(&name, "Pool"), span),
            pool: format_ident!("{name}_pool", span = span),
            tuned: format_ident!("{name}_tuned", span = span),
        })
    }

    /// What is declared beside the launcher.
    pub(super) fn tuned(&self) -> TokenStream {
        self.tuning().map_or(TokenStream::new(), |pools| pools.declared())
    }

    /// The method of the instance trait that gives the kernel in a pool.
    pub(super) fn declared_pooled(&self) -> TokenStream {
        let p = self.private();
        self.tune.as_ref().map_or(TokenStream::new(), |_| quote!(#[doc(hidden)] fn pooled() -> &'static #p::Kernel;))
    }

    /// The same of a kernel that did not compile.
    pub(super) fn no_pooled(&self) -> TokenStream {
        let p = self.private();
        let body = quote!(fn pooled() -> &'static #p::Kernel { #p::not_compiled() });
        self.tune.as_ref().map_or(TokenStream::new(), |_| body)
    }

    /// The same of an instance. Where a member is `general`, the others have images for what is aligned alone.
    pub(super) fn pooled(&self, instance: &Instance, configs: &[Compiled]) -> TokenStream {
        let Some(pools) = self.tuning() else { return TokenStream::new() };
        let p = self.private();
        if general(&pools.members(&pools.kept(instance))).is_none() {
            let instance = self.implementation(instance);
            return quote!(fn pooled() -> &'static #p::Kernel { #instance::kernel() });
        }
        let general = instance.general;
        let keeps = |config: usize, image: &Image| {
            let aligned = |of: &Image| of.specialization >= Specialization::Aligned16;
            let of_target = configs[config].config.images.iter().filter(|of| of.target == image.target);
            general == Some(config) || aligned(image) || !of_target.into_iter().any(aligned)
        };
        let body = embed::kernel(self, instance, configs, keeps);
        quote!(fn pooled() -> &'static #p::Kernel { #body })
    }

    /// The implementation of the instance trait, as the path of its methods.
    fn implementation(&self, instance: &Instance) -> TokenStream {
        let (marker, compiled) = (self.marker(), &self.compiled);
        let values = self.values(instance, |_| Span::call_site());
        let arguments = if values.is_empty() { quote!(<'static>) } else { quote!(<#(#values),*>) };
        quote!(<#marker as #compiled #arguments>)
    }

    /// The pools.
    pub(super) fn pools(&self) -> TokenStream {
        let Some(pools) = self.tuning() else { return TokenStream::new() };
        let mut groups: Vec<Vec<GenericArg>> = Vec::new();
        for instance in self.instances {
            let kept = pools.kept(instance);
            if !groups.contains(&kept) {
                groups.push(kept);
            }
        }
        groups.iter().map(|kept| pools.implemented(kept)).collect()
    }

    /// All pools at once, of a kernel that did not compile.
    pub(super) fn accept_every_pool(&self) -> TokenStream {
        let Some(pools) = self.tuning() else { return TokenStream::new() };
        let (marker, p, of, choice) = (self.marker(), self.private(), &pools.of, &pools.choice);
        let (declarations, arguments) = pools.trait_generics();
        quote! {
            #[diagnostic::do_not_recommend]
            // SAFETY: it has no member.
            unsafe impl #declarations #of #arguments for #marker {
                fn pool() -> &'static #p::Pool<#choice> { #p::not_compiled() }
            }
        }
    }
}

/// The number of the member that is `general`.
fn general(members: &[Member<'_>]) -> Option<usize> {
    members.iter().position(|member| member.instance.general == Some(member.config))
}

impl Pools<'_, '_> {
    fn is_chosen(&self, generic: usize) -> bool {
        self.tune.generics.contains(&generic)
    }

    /// The generic arguments that are not chosen.
    fn kept(&self, instance: &Instance) -> Vec<GenericArg> {
        let args = instance.args.iter().enumerate().filter(|(index, _)| !self.is_chosen(*index));
        args.map(|(_, arg)| *arg).collect()
    }

    /// The generic parameters that are not chosen.
    fn kept_params(&self) -> Vec<&GenericParam> {
        let params = self.kernel.generic_params().into_iter().enumerate();
        params.filter(|(index, _)| !self.is_chosen(*index)).map(|(_, param)| param).collect()
    }

    /// The generic parameters of the trait, and its arguments: see [`Kernel::trait_generics`].
    fn trait_generics(&self) -> (TokenStream, TokenStream) {
        let params = self.kept_params();
        if params.is_empty() {
            return (quote!(<'a>), quote!(<'a>));
        }
        let names: Vec<_> = params.iter().filter_map(|param| name_of(param)).collect();
        let declared = params.iter().map(|param| match param {
            GenericParam::Const(constant) => {
                let (ident, ty) = (&constant.ident, constant_type(&constant.ty));
                quote!(const #ident: #ty)
            }
            GenericParam::Type(_) | GenericParam::Lifetime(_) => name_of(param).to_token_stream(),
        });
        (quote!(<#(#declared),*>), quote!(<#(#names),*>))
    }

    /// The members with these arguments, in order.
    fn members(&self, kept: &[GenericArg]) -> Vec<Member<'_>> {
        let mut scalars: Vec<Vec<GenericArg>> = vec![Vec::new()];
        for scalar in &self.tune.scalars {
            let longer = |row: &Vec<GenericArg>| {
                let row = row.clone();
                scalar.values.iter().map(move |value| row.iter().copied().chain([*value]).collect())
            };
            scalars = scalars.iter().flat_map(longer).collect();
        }
        let mut members = Vec::new();
        for instance in self.kernel.instances.iter().filter(|instance| self.kept(instance) == kept) {
            for config in 0..instance.configs.len() {
                members.extend(scalars.iter().map(|row| Member { instance, config, scalars: row.clone() }));
            }
        }
        members
    }

    /// The constants and scalars that are chosen: names and types.
    fn fields(&self) -> Vec<(Ident, TokenStream)> {
        let params = self.kernel.generic_params();
        let constants = self.tune.generics.iter().filter_map(|&index| {
            match (name_of(params[index]), self.kernel.signature.generics[index].kind) {
                (Some(name), GenericKind::Const(dtype)) => Some((name.clone(), dtype)),
                (_, _) => None,
            }
        });
        let scalars = self.tune.scalars.iter().map(|scalar| (self.scalar(scalar).clone(), scalar.dtype));
        let field = |(name, dtype): (Ident, DType)| {
            let ty = Ident::new(dtype.name(), Span::call_site());
            (name, quote!(::core::primitive::#ty))
        };
        constants.chain(scalars).map(field).collect()
    }

    /// The parameter.
    fn scalar(&self, scalar: &Scalar) -> &Ident {
        &self.kernel.signature.params[scalar.param].name
    }

    /// Struct, trait and functions.
    fn declared(&self) -> TokenStream {
        let Kernel { root, function, .. } = self.kernel;
        let Pools { choice, of, pool, tuned, .. } = self;
        let (p, marker, name) = (self.kernel.private(), self.kernel.marker(), self.kernel.name());
        let vis = &function.vis;
        let fields = self.fields();
        let (names, types): (Vec<_>, Vec<_>) = fields.iter().cloned().unzip();
        let docs = names.iter().map(|name| format!("What `{}` is chosen to be.", name.unraw()));
        let format: Vec<String> = names.iter().map(|name| format!("{}={{}} ", name.unraw())).collect();
        let format = format.concat() + "num_warps={} num_stages={}";
        let scalars = self.tune.scalars.iter().map(|scalar| {
            let (field, name) = (self.scalar(scalar), self.scalar(scalar).unraw().to_string());
            quote!(#name => ::core::option::Option::Some(#p::LaunchArg::scalar(self.#field)),)
        });
        let texts = names.iter().map(|name| name.unraw().to_string());
        let (declarations, arguments) = self.trait_generics();
        let bounds: Vec<TokenStream> = self.kept_params().iter().map(|param| param.to_token_stream()).collect();
        let listed = respan(quote!(#marker: #of #arguments), self.kernel.compiled.span());
        let (params, count, args, mode) = self.arguments();
        let predicates: Vec<&WherePredicate> = self.predicates();
        let pool_bounds = if bounds.is_empty() { quote!(<'a>) } else { quote!(<#(#bounds),*>) };
        let body = if self.kernel.editor {
            quote! { let _: [#p::LaunchArg<'a>; #count] = #args; #p::not_compiled() }
        } else {
            quote! {
                let (pool, args) = (<#marker as #of #arguments>::pool(), #args);
                // SAFETY: the mode in the signature is that of the parameters.
                unsafe { #p::Tuned::new(pool, args) }
            }
        };
        let doc_choice =
            format!("What the members of a pool of the kernel `{name}` differ in. It prints as a member's name.");
        let doc_of = format!(
            "The pools of the kernel `{name}`. Generic host code asks for one: `where triton::Compiled: {of}<..>`.\n\n# Safety\n\
             For the attribute alone: the members are those of these arguments."
        );
        let doc_pool = format!("The listed instances of the kernel `{name}`.");
        let doc_tuned = format!("The kernel `{name}`, of which a launch runs one of the listed instances.");
        let unlisted = self.unlisted();
        let attrs =
            function.attrs.iter().filter(|attr| !attr.path().is_ident("expect") && !attr.path().is_ident("doc"));
        let attrs: Vec<_> = attrs.collect();
        let pool_fn = quote! {
            #[doc = #doc_pool]
            #[allow(dead_code)]
            #vis fn #pool #pool_bounds() -> &'static #root::Pool<#choice> where #listed, #(#predicates),* {
                <#marker as #of #arguments>::pool()
            }
        };
        let pool_fn = if self.kernel.editor { TokenStream::new() } else { pool_fn };
        let listed = if self.kernel.editor { TokenStream::new() } else { quote!(#listed,) };
        quote! {
            #[doc = #doc_choice]
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            #[allow(non_snake_case, dead_code, missing_docs)]
            #vis struct #choice {
                #(#[doc = #docs] #vis #names: #types,)*
                /// Warps of a program.
                #vis num_warps: ::core::primitive::u32,
                /// The most tiles that a loop loads at a time.
                #vis num_stages: ::core::primitive::u32,
                /// The bound of a thread's registers, if there is one.
                #vis max_registers: ::core::option::Option<::core::primitive::u32>,
                /// Blocks of a cluster that share the K of a product.
                #vis cluster_k: ::core::primitive::u32,
            }
            impl ::core::fmt::Display for #choice {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    ::core::write!(f, #format, #(self.#names,)* self.num_warps, self.num_stages)?;
                    if let ::core::option::Option::Some(most) = self.max_registers {
                        ::core::write!(f, " max_registers={most}")?;
                    }
                    if self.cluster_k > 1 {
                        ::core::write!(f, " cluster_k={}", self.cluster_k)?;
                    }
                    ::core::result::Result::Ok(())
                }
            }
            impl #choice {
                /// What is chosen under this name; of a `bool` 0 or 1. `None` if nothing has this name.
                #[allow(dead_code)]
                #vis fn get(&self, name: &::core::primitive::str) -> ::core::option::Option<::core::primitive::i128> {
                    let value: ::core::primitive::i128 = match name {
                        #(#texts => ::core::convert::Into::into(self.#names),)*
                        "num_warps" => ::core::convert::Into::into(self.num_warps),
                        "num_stages" => ::core::convert::Into::into(self.num_stages),
                        "cluster_k" => ::core::convert::Into::into(self.cluster_k),
                        "max_registers" => return self.max_registers.map(::core::convert::Into::into),
                        _ => return ::core::option::Option::None,
                    };
                    ::core::option::Option::Some(value)
                }
            }
            impl #root::Choice for #choice {
                fn get(&self, name: &::core::primitive::str) -> ::core::option::Option<::core::primitive::i128> {
                    #choice::get(self, name)
                }
                fn scalar(&self, name: &str) -> ::core::option::Option<#p::LaunchArg<'static>> {
                    match name {
                        #(#scalars)*
                        _ => ::core::option::Option::None,
                    }
                }
            }
            #[doc = #doc_of]
            #[allow(non_camel_case_types, clippy::missing_safety_doc)]
            #unlisted
            #vis unsafe trait #of #declarations {
                #[doc(hidden)]
                fn pool() -> &'static #p::Pool<#choice>;
            }
            #pool_fn
            #(#attrs)*
            #[doc = #doc_tuned]
            #[allow(non_snake_case, clippy::too_many_arguments, dead_code)]
            #vis fn #tuned<'a #(, #bounds)*>(#(#params),*) -> #root::Tuned<'a, #root::launch::mode::#mode, #count, #choice>
            where #listed #(#predicates),* {
                #body
            }
        }
    }

    /// Parameters of the function, their number in the kernel, the arguments as an array, and the mode.
    fn arguments(&self) -> (Vec<TokenStream>, TokenStream, TokenStream, Ident) {
        let (kernel, p) = (self.kernel, self.kernel.private());
        let (mut params, mut args) = (Vec::new(), Vec::new());
        for (index, (input, param)) in kernel.typed_inputs().zip(&kernel.signature.params).enumerate() {
            if self.tune.scalars.iter().any(|scalar| scalar.param == index) {
                let ty = &input.ty;
                args.push(quote!(#p::LaunchArg::scalar(<#ty as ::core::default::Default>::default())));
                continue;
            }
            let (declared, arg) = kernel.launch_param(input, param);
            params.push(declared);
            args.extend(arg);
        }
        let count = kernel.count(&args);
        (params, count, kernel.gathered(args), kernel.mode())
    }

    /// Those of the `where` clause that say nothing of what is chosen.
    fn predicates(&self) -> Vec<&WherePredicate> {
        let chosen: Vec<&str> =
            self.tune.generics.iter().map(|&g| &*self.kernel.signature.generics[g].name.name).collect();
        let mentions = |predicate: &&WherePredicate| {
            let mut open: Vec<_> = predicate.to_token_stream().into_iter().collect();
            while let Some(tree) = open.pop() {
                match tree {
                    proc_macro2::TokenTree::Group(group) => open.extend(group.stream()),
                    proc_macro2::TokenTree::Ident(ident) if chosen.contains(&&*ident.to_string()) => return true,
                    proc_macro2::TokenTree::Ident(_)
                    | proc_macro2::TokenTree::Punct(_)
                    | proc_macro2::TokenTree::Literal(_) => {}
                }
            }
            false
        };
        let clause = self.kernel.function.sig.generics.where_clause.as_ref();
        clause.into_iter().flat_map(|clause| &clause.predicates).filter(|predicate| !mentions(predicate)).collect()
    }

    /// A pool.
    fn implemented(&self, kept: &[GenericArg]) -> TokenStream {
        let signature = self.kernel.signature;
        let Pools { choice, of, .. } = self;
        let (p, marker) = (self.kernel.private(), self.kernel.marker());
        let generics = signature.generics.iter().enumerate().filter(|(index, _)| !self.is_chosen(*index));
        let values: Vec<TokenStream> = generics
            .zip(kept)
            .map(|((_, generic), &arg)| self.kernel.value(arg, generic.kind, Span::call_site()))
            .collect();
        let lifetime = if values.is_empty() { quote!(<'a>) } else { TokenStream::new() };
        let arguments = if values.is_empty() { quote!(<'a>) } else { quote!(<#(#values),*>) };
        let members = self.members(kept);
        let general = match general(&members) {
            Some(number) => quote!(::core::option::Option::Some(#number)),
            None => quote!(::core::option::Option::None),
        };
        let rows = members.iter().map(|member| {
            let all = self.kernel.values(member.instance, |_| Span::call_site());
            let instance = self.kernel.implementation(member.instance);
            let constants = self.tune.generics.iter().map(|&index| all[index].clone());
            let scalars = self.tune.scalars.iter().zip(&member.scalars);
            let scalars =
                scalars.map(|(of, &value)| self.kernel.value(value, GenericKind::Const(of.dtype), Span::call_site()));
            let chosen: Vec<TokenStream> = constants.chain(scalars).collect();
            let names = self.fields().into_iter().map(|(name, _)| name);
            let options = member.instance.configs[member.config];
            let (num_warps, num_stages, cluster_k) = (options.num_warps, options.num_stages, options.cluster_k);
            let max_registers = match options.max_registers {
                Some(most) => quote!(::core::option::Option::Some(#most)),
                None => quote!(::core::option::Option::None),
            };
            let config = member.config;
            quote!(#p::Member::new(
                #choice {
                    #(#names: #chosen,)*
                    num_warps: #num_warps,
                    num_stages: #num_stages,
                    max_registers: #max_registers,
                    cluster_k: #cluster_k,
                },
                #instance::pooled,
                #config,
            ))
        });
        let count = members.len();
        let name = self.spelling(kept);
        quote! {
            #[diagnostic::do_not_recommend]
            // SAFETY: these are the instances with these arguments.
            unsafe impl #lifetime #of #arguments for #marker {
                fn pool() -> &'static #p::Pool<#choice> {
                    static MEMBERS: [#p::Member<#choice>; #count] = [#(#rows),*];
                    static POOL: #p::Pool<#choice> = #p::Pool::new(#name, &MEMBERS, #general);
                    &POOL
                }
            }
        }
    }

    /// A pool's name: the kernel with the arguments that are not chosen.
    fn spelling(&self, kept: &[GenericArg]) -> String {
        if kept.is_empty() {
            return self.kernel.name();
        }
        let generics = &self.kernel.signature.generics;
        let generics = generics.iter().enumerate().filter(|(index, _)| !self.is_chosen(*index));
        spelling(&self.kernel.name(), kept, generics.map(|(_, generic)| generic.kind))
    }

    /// rustc's message for a pool that does not exist.
    fn unlisted(&self) -> TokenStream {
        let name = self.kernel.name();
        let message = format!("kernel `{name}` has no instance for these arguments");
        if self.kept_params().is_empty() {
            return quote!(#[diagnostic::on_unimplemented(message = #message)]);
        }
        let names: Vec<String> =
            self.kept_params().iter().filter_map(|param| name_of(param)).map(|name| format!("{{{name}}}")).collect();
        let label = format!("`{}::<{}>` is not in the list", self.tuned, names.join(", "));
        let plain: Vec<String> =
            self.kept_params().iter().filter_map(|param| name_of(param)).map(ToString::to_string).collect();
        let extend = format!("add it to the list in `#[triton::kernel(..)]` on `{name}`");
        let generic =
            format!("generic code asks for it by a bound: `where triton::Compiled: {}<{}>`", self.of, plain.join(", "));
        quote!(#[diagnostic::on_unimplemented(message = #message, label = #label, note = #extend, note = #generic)])
    }
}
