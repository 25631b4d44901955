//! The launch of an operation: checks that follow from its axes, and its body for each element type.

use super::axes::{Axes, Axis, names};
use super::declaration::{Declaration, Kind, Parameter};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use std::collections::BTreeSet;

/// The element types of operations.
const ELEMENTS: [(&str, &str); 3] =
    [("::std::primitive::f32", "of_f32"), ("triton::f16", "of_f16"), ("triton::bf16", "of_bf16")];

pub(super) fn launch(of: &Declaration) -> TokenStream {
    let (builder, element) = (&of.head.builder, &of.function.sig.generics.params);
    let (checks, docs) = (checks(of), errors(of));
    let fields: Vec<_> = of.parameters.iter().map(|of| &of.name).collect();
    let views = of.parameters.iter().filter(|of| of.axes.is_some()).map(|of| {
        let (name, mutability, title) = (&of.name, &of.mutability, of.name.to_string());
        match of.optional {
            true => quote!(let #mutability #name = #name.map(|of| of.take(call.op, #title)).transpose()?;),
            false => quote!(let #mutability #name = #name.take(call.op, #title)?;),
        }
    });
    let views: Vec<_> = views.collect();
    let ((call, of_call), body, output) = (&of.call, &of.function.block, &of.function.sig.output);
    let launches = ELEMENTS.map(|(element, method)| {
        let (element, method) = (syn::parse_str::<syn::Path>(element).ok(), format_ident!("{method}"));
        quote! {
            #[allow(clippy::too_many_lines, reason = "checked where it is written")]
            fn #method(operation: #builder<'_, #element>, call: #of_call<'_>) #output {
                #[allow(dead_code, reason = "the body may infer it")]
                type T = #element;
                let #builder { request: _, #(#fields),* } = operation;
                #(#views)*
                let #call = call;
                #body
            }
        }
    });
    let operands: Vec<_> = of.parameters.iter().filter(|of| of.axes.is_some()).collect();
    let names = operands.iter().map(|of| of.name.to_string());
    let letters = operands.iter().filter_map(|of| Some(of.axes.as_ref()?.text()));
    let shapes = operands.iter().map(|of| {
        let name = &of.name;
        if of.optional {
            quote!(self.#name.as_mut().map(|of| of.shape_mut()))
        } else {
            quote!(Some(self.#name.shape_mut()))
        }
    });
    quote! {
        impl<#element> #builder<'_, T> {
            /// Enqueues it.
            ///
            /// # Errors
            #[doc = #docs]
            pub fn launch(self, stream: &triton::Stream) -> crate::Result<()> {
                crate::operation::launch(self, stream)
            }
        }

        const _: () = {
            /// Names the operation where element types are told apart.
            struct Operation;

            impl<'a, #element> crate::operation::Declared for #builder<'a, T> {
                const OPERANDS: &'static [(&'static str, &'static str)] = &[#((#names, #letters)),*];

                fn shapes(&mut self) -> Vec<Option<&mut crate::operation::Extents>> {
                    vec![#(#shapes),*]
                }

                #[allow(unused_variables, non_snake_case, reason = "a letter that stands once is not compared")]
                fn check(&self) -> crate::Result<()> {
                    #checks
                    Ok(())
                }

                fn run(self, stream: &triton::Stream, asked: Option<&crate::operation::Asked>) -> crate::Result<()> {
                    let call = crate::operation::Call::new(self.request, stream, asked);
                    <T as crate::FloatElement>::run::<Operation>(self, call)
                }
            }

            impl crate::element::Launches for Operation {
                type Of<'a, T: crate::FloatElement> = #builder<'a, T>;

                #(#launches)*
            }
        };
    }
}

/// What `launch` may return.
fn errors(of: &Declaration) -> String {
    let mut text =
        format!("[`Error::Shape`](crate::Error::Shape) unless {}", of.text().replace('[', "\\[").replace(']', "\\]"));
    for parameter in &of.parameters {
        for check in &parameter.checks {
            text += &format!(
                "; [`Error::Value`](crate::Error::Value) unless `{}` is {}",
                parameter.name,
                check.expected.value()
            );
        }
    }
    if of.parameters.iter().any(|of| of.axes.as_ref().is_some_and(|axes| axes.rest().is_some() && axes.0.len() > 1)) {
        text += "; [`Error::Merge`](crate::Error::Merge) where the axes of `..` are not one in memory";
    }
    if of.head.tuned {
        text += "; [`Error::Instance`](crate::Error::Instance)";
    }
    text + "; errors of the device."
}

/// Compares the extents of the operands, and checks numbers.
fn checks(of: &Declaration) -> TokenStream {
    let text = of.text();
    let (mut known, mut has_rest) = (BTreeSet::new(), false);
    let plain = of.parameters.iter().filter(|plain| plain.axes.is_none() && is_read(of, plain)).map(|of| {
        let name = &of.name;
        quote!(let #name = self.#name;)
    });
    let mut checks = quote! {
        let checks = crate::operation::Checks::new(self.request.op, #text);
        #(#plain)*
    };
    // What a layout or a matrix of blocks says is not what is wrong.
    let is_given = |of: &&Parameter| matches!(of.kind, Kind::Reference);
    let (given, others): (Vec<&Parameter>, Vec<&Parameter>) = of.parameters.iter().partition(is_given);
    for parameter in given.into_iter().chain(others) {
        let Some(axes) = &parameter.axes else { continue };
        let (name, title) = (&parameter.name, parameter.name.to_string());
        let steps = operand(&title, axes, parameter.optional, &mut known, &mut has_rest);
        checks.extend(match parameter.optional {
            true => quote! {
                if let Some(operand) = &self.#name {
                    let shape = operand.shape();
                    #steps
                }
            },
            false => quote! {
                let shape = self.#name.shape();
                #steps
            },
        });
    }
    for parameter in &of.parameters {
        let (name, title) = (&parameter.name, parameter.name.to_string());
        for check in &parameter.checks {
            let (condition, expected, fix) = (&check.condition, &check.expected, &check.fix);
            let value = quote!(checks.value(#title, #name, #condition, #expected, #fix)?;);
            checks.extend(match parameter.optional {
                true => quote!(if let Some(#name) = self.#name { #value }),
                false => quote!(let #name = self.#name; #value),
            });
        }
    }
    checks
}

/// Whether an extent or a condition is computed from a number.
fn is_read(of: &Declaration, plain: &Parameter) -> bool {
    let in_axes = of.parameters.iter().filter_map(|of| of.axes.as_ref()).flat_map(|axes| &axes.0);
    let mut extents = in_axes.filter_map(|axis| match axis {
        Axis::Extent(extent) => Some(extent.to_token_stream()),
        Axis::Letter(letter) => Some(letter.to_token_stream()),
        Axis::Rest => None,
    });
    let conditions = of.parameters.iter().flat_map(|of| &of.checks).map(|check| check.condition.to_token_stream());
    extents.any(|extent| names(extent, &plain.name)) || conditions.into_iter().any(|of| names(of, &plain.name))
}

/// Compares the extents of one operand, the first of a letter with nothing.
fn operand(title: &str, axes: &Axes, optional: bool, known: &mut BTreeSet<String>, has_rest: &mut bool) -> TokenStream {
    let (rest, count) = (axes.rest(), axes.0.len());
    let mut steps = quote!(checks.size(#title, shape)?;);
    if let Some(before) = rest {
        let after = count - 1 - before;
        if !*has_rest && !optional {
            steps.extend(quote!(let rest = shape.rest(#before, #after);));
            *has_rest = true;
        } else if *has_rest {
            steps.extend(quote!(checks.rest(#title, shape, #before, #after, rest)?;));
        }
    }
    for (i, axis) in axes.0.iter().enumerate() {
        // Behind `..` axes are counted from the last one.
        let at = match rest.is_some_and(|rest| i > rest) {
            true => {
                let back = count - i;
                quote!(shape.rank() - #back)
            }
            false => quote!(#i),
        };
        match axis {
            Axis::Rest => {}
            Axis::Letter(letter) if known.insert(letter.to_string()) => {
                // What an operand that may be absent names first, no other one names.
                if !optional {
                    steps.extend(quote!(let #letter = shape.at(#at);));
                }
            }
            Axis::Letter(letter) => steps.extend(quote!(checks.extent(#title, shape, #at, #letter)?;)),
            Axis::Extent(extent) => steps.extend(quote!(checks.extent(#title, shape, #at, #extent)?;)),
        }
    }
    steps
}
