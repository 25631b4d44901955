//! The builder of an operation, the function that returns it, and the builder's methods.

use super::declaration::{Declaration, How, Kind, Parameter};
use super::launch;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use std::collections::BTreeMap;
use syn::{Ident, Lifetime, Type, visit_mut};

pub(super) fn expand(of: &Declaration) -> TokenStream {
    [builder(of), constructor(of), methods(of), launch::launch(of)].into_iter().collect()
}

/// A type with the lifetime of the operands.
fn borrowed(of: &Type) -> Type {
    struct Lifetimes;
    impl visit_mut::VisitMut for Lifetimes {
        fn visit_path_segment_mut(&mut self, segment: &mut syn::PathSegment) {
            let lifetime = syn::GenericArgument::Lifetime(Lifetime::new("'a", Span::call_site()));
            match &mut segment.arguments {
                syn::PathArguments::AngleBracketed(arguments) => arguments.args.insert(0, lifetime),
                none @ syn::PathArguments::None => {
                    *none = syn::PathArguments::AngleBracketed(syn::parse_quote!(<#lifetime>));
                }
                syn::PathArguments::Parenthesized(_) => {}
            }
        }
    }
    let mut of = of.clone();
    if let Type::Path(path) = &mut of
        && let Some(last) = path.path.segments.last_mut()
    {
        visit_mut::VisitMut::visit_path_segment_mut(&mut Lifetimes, last);
    }
    of
}

impl Parameter {
    fn is_operand(&self) -> bool {
        !matches!(self.kind, Kind::Plain)
    }

    /// The type of the builder's field.
    fn field(&self) -> TokenStream {
        let of = &self.of;
        let of = if self.is_operand() {
            let of = borrowed(of);
            quote!(crate::operation::Operand<#of>)
        } else {
            quote!(#of)
        };
        if self.optional { quote!(Option<#of>) } else { of }
    }

    /// The axes of a view beside `..`, if there is one.
    fn fixed(&self) -> Option<usize> {
        let axes = self.axes.as_ref().filter(|_| matches!(self.kind, Kind::View(..) | Kind::ViewMut(..)))?;
        axes.rest().map(|_| axes.0.len() - 1)
    }

    /// The type of the argument. The constants are the ranks of operands by their fixed axes.
    fn argument(&self, ranks: &BTreeMap<usize, Ident>) -> TokenStream {
        let rank = |rank: &usize| match self.fixed().and_then(|fixed| ranks.get(&fixed)) {
            Some(constant) => constant.to_token_stream(),
            None => rank.to_token_stream(),
        };
        match &self.kind {
            Kind::View(element, of) => {
                let rank = rank(of);
                quote!(impl triton::IntoView<'a, #element, #rank>)
            }
            Kind::ViewMut(element, of) => {
                let rank = rank(of);
                quote!(impl triton::IntoViewMut<'a, #element, #rank>)
            }
            Kind::Other => {
                let of = borrowed(&self.of);
                quote!(impl Into<#of>)
            }
            Kind::Reference | Kind::Plain => self.of.to_token_stream(),
        }
    }

    /// The field's value from the argument, but for `Some`.
    fn value(&self) -> TokenStream {
        let name = &self.name;
        let view = match &self.kind {
            Kind::View(..) => quote!(triton::IntoView::into_view(#name)),
            Kind::ViewMut(..) => quote!(triton::IntoViewMut::into_view_mut(#name)),
            Kind::Other => return quote!(crate::operation::Operand::new(#name.into())),
            Kind::Reference => return quote!(crate::operation::Operand::new(#name)),
            Kind::Plain => return name.to_token_stream(),
        };
        match self.axes.as_ref().and_then(|axes| axes.rest()) {
            Some(at) => quote!(crate::operation::Operand::merged(#view, #at)),
            None => quote!(crate::operation::Operand::new(#view)),
        }
    }
}

/// Constants for the ranks of what a function takes.
fn ranks<'a>(parameters: impl Iterator<Item = &'a Parameter>) -> BTreeMap<usize, Ident> {
    let mut ranks = BTreeMap::new();
    for fixed in parameters.filter_map(Parameter::fixed) {
        let next = ["R", "S", "Q", "P"][ranks.len().min(3)];
        ranks.entry(fixed).or_insert_with(|| format_ident!("{next}"));
    }
    ranks
}

fn builder(of: &Declaration) -> TokenStream {
    let (vis, builder, element) = (&of.function.vis, &of.head.builder, &of.function.sig.generics.params);
    let docs = format!("Builder of [`{}`].", of.function.sig.ident);
    let fields = of.parameters.iter().map(|of| {
        let (name, field) = (&of.name, of.field());
        quote!(#name: #field)
    });
    quote! {
        #[doc = #docs]
        #[must_use = "nothing is enqueued until `.launch(..)`"]
        #[derive(Debug)]
        #vis struct #builder<'a, #element> {
            request: crate::operation::Request<'a>,
            #(#fields,)*
        }
    }
}

fn constructor(of: &Declaration) -> TokenStream {
    let (vis, builder, name) = (&of.function.vis, &of.head.builder, &of.function.sig.ident);
    let docs = &of.function.attrs;
    let element = &of.function.sig.generics.params;
    let required: Vec<&Parameter> = of.parameters.iter().filter(|of| matches!(of.how, How::Required)).collect();
    let ranks = ranks(required.iter().copied());
    let constants = ranks.values();
    let arguments = required.iter().map(|of| {
        let (name, argument) = (&of.name, of.argument(&ranks));
        quote!(#name: #argument)
    });
    let values = of.parameters.iter().map(|of| {
        let name = &of.name;
        let value = match &of.how {
            How::Required => of.value(),
            How::Option(value) | How::Preset(value) => value.to_token_stream(),
            How::Beside(_) => quote!(None),
            How::Flag => quote!(false),
        };
        quote!(#name: #value)
    });
    let title = name.to_string();
    quote! {
        #(#docs)*
        #[allow(clippy::too_many_arguments, reason = "they are the operands")]
        #vis fn #name<'a, #element, #(const #constants: usize),*>(#(#arguments),*) -> #builder<'a, T> {
            #builder { request: crate::operation::Request::new(#title), #(#values,)* }
        }
    }
}

fn methods(of: &Declaration) -> TokenStream {
    let (builder, element) = (&of.head.builder, &of.function.sig.generics.params);
    let setters = of.parameters.iter().map(|parameter| setter(of, parameter));
    let tuned = of.head.tuned.then(|| {
        quote! {
            /// Runs the instance of this name, instead of the one that is chosen: [`selected`](Self::selected) and errors tell names.
            pub fn instance(self, name: &'a str) -> Self {
                Self { request: self.request.instance(name), ..self }
            }

            /// Lets a selector choose the instance: a table, a model, a tuner that measures.
            pub fn with(self, selector: &'a dyn triton::Selector) -> Self {
                Self { request: self.request.with(selector), ..self }
            }

            /// The name of the instance that a launch would run. Nothing is enqueued but what a selector measures.
            ///
            /// # Errors
            /// As of [`launch`](Self::launch).
            pub fn selected(self, stream: &triton::Stream) -> crate::Result<String> {
                crate::operation::selected(self, stream)
            }
        }
    });
    quote! {
        impl<'a, #element> #builder<'a, T> {
            #(#setters)*
            #tuned
        }
    }
}

/// The method of an option.
fn setter(of: &Declaration, parameter: &Parameter) -> TokenStream {
    let (docs, name, method) = (&parameter.docs, &parameter.name, &parameter.setter);
    let (vis, unused) = match parameter.how {
        How::Required | How::Beside(_) => return TokenStream::new(),
        How::Option(_) | How::Flag => (quote!(pub), None),
        How::Preset(_) => {
            (TokenStream::new(), Some(quote!(#[allow(dead_code, reason = "not every value is asked for")])))
        }
    };
    if matches!(parameter.how, How::Flag) {
        return quote! {
            #(#docs)*
            #vis fn #method(self) -> Self {
                Self { #name: true, ..self }
            }
        };
    }
    let is_beside = |of: &&Parameter| matches!(&of.how, How::Beside(other) if other == name);
    let all: Vec<&Parameter> = std::iter::once(parameter).chain(of.parameters.iter().filter(is_beside)).collect();
    let ranks = ranks(all.iter().copied());
    let constants = ranks.values();
    let arguments = all.iter().map(|of| {
        let (name, argument) = (&of.name, of.argument(&ranks));
        quote!(#name: #argument)
    });
    let values = all.iter().map(|of| {
        let (name, value) = (&of.name, of.value());
        if of.optional { quote!(#name: Some(#value)) } else { quote!(#name: #value) }
    });
    quote! {
        #(#docs)*
        #unused
        #vis fn #method<#(const #constants: usize),*>(self, #(#arguments),*) -> Self {
            Self { #(#values,)* ..self }
        }
    }
}
