//! A compiled instance as tokens: statics made of literals, so that embedding costs nothing at start-up and an instance
//! that is never launched leaves no trace in the program.

use crate::emit::kernel::Kernel;
use crate::read::instances::Instance;
use crate::read::signature::Parameter;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use triton_core::ast::{GenericArg, ParamKind};
use triton_core::metadata::Image;
use triton_core::types::{Class, DType};
use triton_core::{Compiled, embed};

/// The statics that an instance's kernels share: its parameters and texts.
pub(crate) fn shared(
    kernel: &Kernel<'_>,
    instance: &Instance,
    configs: &[Compiled],
    outers: &[TokenStream],
) -> TokenStream {
    let p = kernel.private();
    let mut strides = Strides(configs.first().map_or(&[][..], |compiled| &compiled.strides));
    let params: Vec<TokenStream> =
        kernel.signature.params.iter().flat_map(|param| params(kernel, instance, param, &mut strides)).collect();
    let count = params.len();
    let texts = configs.iter().enumerate().map(|(config, compiled)| {
        let (name, ir) = (ir_name(config), text(&p, &compiled.config.ir, compiled, outers));
        let images = compiled.config.images.iter().enumerate().map(|(image, of)| {
            let (name, ptx) = (ptx_name(config, image), text(&p, &of.ptx, compiled, outers));
            quote!(static #name: &str = #ptx;)
        });
        quote!(static #name: &str = #ir; #(#images)*)
    });
    quote!(static PARAMS: [#p::ParamMetadata; #count] = [#(#params),*]; #(#texts)*)
}

/// The body of the function that gives a kernel of an instance. It has the images that `keeps` says, of a config by its number.
pub(crate) fn kernel(
    kernel: &Kernel<'_>,
    instance: &Instance,
    configs: &[Compiled],
    keeps: impl Fn(usize, &Image) -> bool,
) -> TokenStream {
    let p = kernel.private();
    let name = kernel.name();
    let spelling = kernel.spelling(instance);
    let (images, rows): (Vec<_>, Vec<_>) =
        configs.iter().enumerate().map(|(index, compiled)| config(&p, index, compiled, &keeps)).unzip();
    let configs = rows.len();
    quote! {
        #(#images)*
        static CONFIGS: [#p::Config; #configs] = [#(#rows),*];
        // SAFETY: all of it comes from one run of the compiler.
        static KERNEL: #p::Kernel = unsafe { #p::Kernel::new(#p::KernelMetadata::new(
            #p::Cow::Borrowed(#name),
            #p::Cow::Borrowed(#spelling),
            #p::Cow::Borrowed(&PARAMS),
            #p::Cow::Borrowed(&CONFIGS),
        )) };
        &KERNEL
    }
}

/// Which of the parameters of the IR that are left are strides. Configs of one instance differ in their warps alone.
struct Strides<'a>(&'a [bool]);

impl Strides<'_> {
    /// Whether a scalar is one, and what stands for the next parameter of the user.
    fn next(&mut self, words: usize) -> bool {
        let (own, rest) = self.0.split_at_checked(words).unwrap_or_default();
        self.0 = rest;
        words == 1 && own.contains(&true)
    }
}

/// The metadata of a parameter: one, or one for each field of a struct.
fn params(kernel: &Kernel<'_>, instance: &Instance, param: &Parameter, strides: &mut Strides<'_>) -> Vec<TokenStream> {
    let structure = param.ast.as_ref().and_then(|ast| kernel.structs.get(ast.elem.structure?));
    let Some(structure) = structure else { return self::param(kernel, instance, param, strides).into_iter().collect() };
    let fields = structure.fields.iter().filter_map(|(name, ty)| {
        let (p, dtype) = (kernel.private(), DType::from_name(&ty.name)?);
        let general = param.ast.as_ref().is_some_and(|ast| ast.general);
        let specialize = matches!(dtype.class(), Class::Signed | Class::Unsigned) && !general;
        let (name, dtype) = (format!("{}.{name}", param.name), self::dtype(dtype));
        let ty = quote!(#p::ParamType::Scalar(#p::DType::#dtype));
        let stride = strides.next(1);
        Some(quote!(#p::ParamMetadata::new(#p::Cow::Borrowed(#name), #ty, 1, #specialize, #stride)))
    });
    fields.collect()
}

fn param(
    kernel: &Kernel<'_>,
    instance: &Instance,
    param: &Parameter,
    strides: &mut Strides<'_>,
) -> Option<TokenStream> {
    let p = kernel.private();
    let param = param.ast.as_ref()?;
    let elem = element(kernel, instance, &param.elem.name)?;
    let dtype = dtype(elem);
    let dtype = quote!(#p::DType::#dtype);
    let (ty, specializes) = match param.kind {
        ParamKind::Ptr => (quote!(Ptr(#dtype)), true),
        ParamKind::PtrMut => (quote!(PtrMut(#dtype)), true),
        ParamKind::Scalar | ParamKind::Struct => {
            (quote!(Scalar(#dtype)), matches!(elem.class(), Class::Signed | Class::Unsigned))
        }
        ParamKind::Tensor(rank) => (quote!(Tensor { dtype: #dtype, rank: #rank, mutable: false }), true),
        ParamKind::TensorMut(rank) => (quote!(Tensor { dtype: #dtype, rank: #rank, mutable: true }), true),
    };
    let (name, multiple_of, specialize) = (&param.name.name, param.multiple_of, specializes && !param.general);
    let words = match param.kind {
        ParamKind::Ptr | ParamKind::PtrMut | ParamKind::Scalar | ParamKind::Struct => 1,
        ParamKind::Tensor(rank) | ParamKind::TensorMut(rank) => 1 + 2 * usize::from(rank),
    };
    let stride = strides.next(words);
    let name = quote!(#p::Cow::Borrowed(#name));
    Some(quote!(#p::ParamMetadata::new(#name, #p::ParamType::#ty, #multiple_of, #specialize, #stride)))
}

/// The element type that a name stands for in this instance.
fn element(kernel: &Kernel<'_>, instance: &Instance, name: &str) -> Option<DType> {
    let generic = kernel.signature.generics.iter().position(|generic| generic.name.name == name);
    match generic.map(|index| instance.args[index]) {
        Some(GenericArg::Type(dtype)) => Some(dtype),
        Some(GenericArg::Const(_)) => None,
        None => DType::from_name(name),
    }
}

/// A text, its placeholders patched with the values of constants while rustc evaluates it.
fn text(p: &TokenStream, text: &str, compiled: &Compiled, outers: &[TokenStream]) -> TokenStream {
    let holes = embed::holes(text);
    if holes.is_empty() {
        return text.to_token_stream();
    }
    let (count, bytes) = (text.len(), Literal::byte_string(text.as_bytes()));
    let filled = holes.iter().filter_map(|hole| {
        let index = hole.index as usize;
        let dtype = compiled.outers.get(index).copied().flatten()?;
        let (at, digits, constant) = (hole.at, hole.digits, outers.get(index)?);
        let bits = Ident::new(dtype.name(), Span::call_site());
        Some(quote!((#at, #digits, #p::bits::#bits(#constant))))
    });
    quote!({
        const TEXT: [u8; #count] = #p::embed::fill(*#bytes, &[#(#filled),*]);
        #p::embed::text(&TEXT)
    })
}

fn ir_name(config: usize) -> Ident {
    format_ident!("IR_{}", config)
}

fn ptx_name(config: usize, image: usize) -> Ident {
    format_ident!("PTX_{}_{}", config, image)
}

fn config(
    p: &TokenStream,
    index: usize,
    compiled: &Compiled,
    keeps: impl Fn(usize, &Image) -> bool,
) -> (TokenStream, TokenStream) {
    let config = &compiled.config;
    let name = format_ident!("IMAGES_{}", index);
    let kept = config.images.iter().enumerate().filter(|(_, image)| keeps(index, image));
    let images: Vec<_> =
        kept.map(|(number, image)| self::image(p, image, ptx_name(index, number).to_token_stream())).collect();
    let count = images.len();
    let (num_warps, ir) = (config.num_warps, ir_name(index));
    let images = quote!(static #name: [#p::Image; #count] = [#(#images),*];);
    let row = quote!(#p::Config::new(#num_warps, #p::Cow::Borrowed(#ir), #p::Cow::Borrowed(&#name)));
    (images, row)
}

/// The call that makes an image, with each of its fields. Members of enums print as they are named.
fn image(p: &TokenStream, image: &Image, ptx: TokenStream) -> TokenStream {
    let (entry, threads, [x, y, z]) = (&image.entry, image.threads, image.cluster);
    let (shared_bytes, has_assert_buffer, wanted_blocks) =
        (image.shared_bytes, image.has_assert_buffer, image.wanted_blocks);
    let member = |value: &dyn std::fmt::Debug| Ident::new(&format!("{value:?}"), Span::call_site());
    let (target, specialization) = (member(&image.target), member(&image.specialization));
    let programs = member(&image.programs);
    let max_registers = match image.max_registers {
        Some(registers) => quote!(::core::option::Option::Some(#registers)),
        None => quote!(::core::option::Option::None),
    };
    let tensor_maps = image.tensor_maps.iter().map(|map| {
        let (param, extents, swizzle, elements) = (map.param, map.extents, member(&map.swizzle), member(&map.elements));
        quote!(#p::TensorMap::new(#param, [#(#extents),*], #p::MapSwizzle::#swizzle, #p::MapElements::#elements))
    });
    quote!(#p::Image::new(
        #p::Target::#target,
        #p::Specialization::#specialization,
        #p::Cow::Borrowed(#entry),
        #p::Cow::Borrowed(#ptx),
        #threads,
        [#x, #y, #z],
        #shared_bytes,
        #has_assert_buffer,
        #p::ProgramMap::#programs,
        #wanted_blocks,
        #max_registers,
        #p::Cow::Borrowed(&[#(#tensor_maps),*]),
    ))
}

fn dtype(dtype: DType) -> Ident {
    let name = match dtype {
        DType::Bool => "Bool",
        DType::I8 => "I8",
        DType::I16 => "I16",
        DType::I32 => "I32",
        DType::I64 => "I64",
        DType::U8 => "U8",
        DType::U16 => "U16",
        DType::U32 => "U32",
        DType::U64 => "U64",
        DType::F16 => "F16",
        DType::BF16 => "BF16",
        DType::F32 => "F32",
        DType::F64 => "F64",
    };
    Ident::new(name, Span::call_site())
}

#[cfg(test)]
mod tests {
    use super::image;
    use quote::quote;
    use std::borrow::Cow;
    use triton_core::metadata::{Image, MapElements, MapSwizzle, ProgramMap, Specialization, Target, TensorMap};

    #[test]
    fn images_are_constants_with_every_field() {
        // As the tokens below, so that they are known to be constant.
        static IMAGE: Image = Image::new(
            Target::Sm90a,
            Specialization::Aligned16,
            Cow::Borrowed("entry"),
            Cow::Borrowed("text\0"),
            128,
            [2, 1, 1],
            4096,
            true,
            ProgramMap::Identity,
            3,
            Some(168),
            Cow::Borrowed(&[
                TensorMap::new(0, [128, 64, 1, 1, 1], MapSwizzle::B128, MapElements::Tf32),
                TensorMap::new(2, [256, 1, 1, 1, 1], MapSwizzle::None, MapElements::Bits),
            ]),
        );
        let expected = quote!(p::Image::new(
            p::Target::Sm90a,
            p::Specialization::Aligned16,
            p::Cow::Borrowed("entry"),
            p::Cow::Borrowed("text\0"),
            128u32,
            [2u32, 1u32, 1u32],
            4096u32,
            true,
            p::ProgramMap::Identity,
            3u32,
            ::core::option::Option::Some(168u32),
            p::Cow::Borrowed(&[
                p::TensorMap::new(0u32, [128u32, 64u32, 1u32, 1u32, 1u32], p::MapSwizzle::B128, p::MapElements::Tf32),
                p::TensorMap::new(2u32, [256u32, 1u32, 1u32, 1u32, 1u32], p::MapSwizzle::None, p::MapElements::Bits)
            ]),
        ));
        assert_eq!(image(&quote!(p), &IMAGE, quote!("text\0")).to_string(), expected.to_string());
    }
}
