//! `elementwise!`: an operation of elements is a closure, of which two kernels are made: of tiles, and of elements that are found one by one.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Block, Ident, Path, Token, Visibility};

/// `name: type` between the bars.
struct Argument {
    name: Ident,
    of: Ident,
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Argument> {
        let name: Ident = input.parse()?;
        if name.to_string().starts_with("elementwise_") {
            return Err(syn::Error::new(name.span(), "names that begin with `elementwise_` are the macro's own"));
        }
        if !input.peek(Token![:]) {
            let found = format!("`{name}` has no type; write that of its elements: `{name}: f32`");
            return Err(syn::Error::new(name.span(), found));
        }
        input.parse::<Token![:]>()?;
        Ok(Argument { name, of: input.parse()? })
    }
}

/// What is written between the parentheses.
pub(crate) struct Elementwise {
    library: Option<Path>,
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    operands: Vec<Argument>,
    numbers: Vec<Argument>,
    result: Ident,
    body: Block,
}

/// Arguments up to what ends them, which is left.
fn arguments(input: ParseStream<'_>) -> syn::Result<Vec<Argument>> {
    let mut all = Vec::new();
    while !input.peek(Token![;]) && !input.peek(Token![|]) {
        all.push(input.parse()?);
        if !input.peek(Token![,]) {
            break;
        }
        input.parse::<Token![,]>()?;
    }
    Ok(all)
}

impl Parse for Elementwise {
    fn parse(input: ParseStream<'_>) -> syn::Result<Elementwise> {
        let mut library = None;
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            library = Some(input.call(Path::parse_mod_style)?);
            input.parse::<Token![,]>()?;
        }
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let name: Ident = input.parse()?;
        input.parse::<Token![,]>()?;
        if input.peek(Token![||]) {
            return Err(input.error("an operand is expected: `|x: f32| -> f32 { .. }`"));
        }
        input.parse::<Token![|]>()?;
        let operands = arguments(input)?;
        let numbers = if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
            arguments(input)?
        } else {
            Vec::new()
        };
        if operands.is_empty() {
            return Err(input.error("an operand is expected before `;`: `|x: f32; factor: f32| -> f32 { .. }`"));
        }
        input.parse::<Token![|]>()?;
        if !input.peek(Token![->]) {
            return Err(input.error("the type of the result is expected after `->`: `|x: f32| -> f32 { .. }`"));
        }
        input.parse::<Token![->]>()?;
        let (result, body) = (input.parse()?, input.parse()?);
        input.parse::<Option<Token![,]>>()?;
        Ok(Elementwise { library, attributes, visibility, name, operands, numbers, result, body })
    }
}

impl Elementwise {
    pub(crate) fn expand(&self) -> TokenStream {
        let Elementwise { library, attributes, visibility, name, operands, numbers, result, body } = self;
        let library = match library {
            Some(path) => quote!(#path),
            None => quote!(::triton_kernels),
        };
        let linear = format_ident!("{name}_linear");
        let tuned = format_ident!("{name}_tuned");
        let (x, of): (Vec<&Ident>, Vec<&Ident>) = operands.iter().map(|operand| (&operand.name, &operand.of)).unzip();
        let (number, of_number): (Vec<&Ident>, Vec<&Ident>) = numbers.iter().map(|of| (&of.name, &of.of)).unzip();
        let each: Vec<Ident> = x.iter().map(|name| format_ident!("elementwise_each_{name}")).collect();
        let text = x.iter().map(ToString::to_string);
        let index = 0..x.len();
        let [y, i, j, at, row, of_all] = ["y", "i", "j", "at", "row", "value"]
            .map(|name| Ident::new(&format!("elementwise_{name}"), Span::call_site()));
        let [magic, shift] =
            ["magic", "shift"].map(|name| Ident::new(&format!("elementwise_{name}"), Span::call_site()));
        // Host code has names that are not those of operands, whatever these are.
        let [to, call, operand, walk, part, out, by, right] =
            ["y", "call", "operands", "walk", "part", "out", "magic", "shift"]
                .map(|name| Ident::new(name, Span::mixed_site()));
        quote! {
            #(#attributes)*
            #[allow(clippy::too_many_arguments, reason = "operands are arguments")]
            #visibility fn #name<'a>(
                #(#x: impl ::core::convert::Into<#library::elementwise::Elements<'a, #of>>,)*
                #(#number: #of_number,)*
                #to: impl ::core::convert::Into<#library::elementwise::ElementsMut<'a, #result>>,
            ) -> #library::elementwise::Elementwise<
                impl for<'c> ::core::ops::FnOnce(#library::operation::Call<'c>) -> #library::Result<()> + 'a
            > {
                #[#library::__private::triton::kernel(configs = [
                    (R = 1, N = 2048, num_warps = 4, general = true), (R = 16, N = 128, num_warps = 4),
                ], targets = ["sm_80"], tune = [R, N])]
                fn #name<const R: i32, const N: i32>(
                    #(#x: Tensor<#of, 4>, #[no_specialize] #each: Tensor<#of, 3>,)*
                    #(#number: #of_number,)*
                    #y: TensorMut<#result, 4>,
                ) {
                    let (#i, #j) = #library::__private::corner::<R, N>(#y.dim(3).to::<i32>());
                    let #at = [program_id(2), program_id(1), #i, #j];
                    #(
                        let #x = if #each.dim(2).to::<i32>() > 0 {
                            let #row = #each.load([program_id(2), program_id(1), #i], [1, 1, R]);
                            #row.expand_dims(3).broadcast_to([1, 1, R, N])
                        } else {
                            #x.load(#at, [1, 1, R, N])
                        };
                    )*
                    let #of_all = #body;
                    #y.store(#at, #of_all.to::<#result>());
                }

                #[#library::__private::triton::kernel(targets = ["sm_80"], warnings = false, num_warps = 4)]
                fn #linear(
                    #(#[no_specialize] #x: Tensor<#of, 4>,)*
                    #(#number: #of_number,)*
                    #[no_specialize] #y: TensorMut<#result, 4>,
                    #[no_specialize] #magic: u32,
                    #[no_specialize] #shift: u32,
                ) {
                    let #i = program_id(0) * 1024 + arange(0, 1024);
                    let #row = #library::__private::quotient(#i, #magic, #shift);
                    let #j = #i - #row * #y.dim(3).to::<i32>();
                    let #at = (program_id(2), program_id(1), #row, #j);
                    #(let #x = #x.gather(#at, true);)*
                    let #of_all = #body;
                    #y.scatter(#at, #of_all.to::<#result>(), true);
                }

                #(let #x = #x.into();)*
                let mut #to: #library::elementwise::ElementsMut<'a, #result> = #to.into();
                #library::elementwise::Elementwise::new(::core::stringify!(#name), move |#call| {
                    let #operand = [#(#x.layout(#text)),*];
                    let ::core::option::Option::Some(#walk) =
                        #library::elementwise::Walk::new(#call, #to.layout("y"), #operand)?
                    else {
                        return ::core::result::Result::Ok(());
                    };
                    for #part in #walk.parts() {
                        #(let (#x, #each) = #part.operand(#index, #x)?;)*
                        let #out = #part.output(&mut #to)?;
                        if #walk.is_linear {
                            let (#by, #right) = #part.divisor();
                            #part.linear(#call, #linear(#(#x,)* #(#number,)* #out, #by, #right), 1024)?;
                        } else {
                            #part.tiles(#call, #tuned(#(#x, #each,)* #(#number,)* #out), |of| [of.R, of.N])?;
                        }
                    }
                    ::core::result::Result::Ok(())
                })
            }
        }
    }
}
