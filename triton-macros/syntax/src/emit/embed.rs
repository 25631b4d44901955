//! A compiled instance as tokens: statics made of literals, so that embedding costs nothing at start-up and an instance
//! that is never launched leaves no trace in the program.

use crate::emit::kernel::Kernel;
use crate::read::instances::Instance;
use crate::read::signature::Parameter;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};
use triton_core::ast::{GenericArg, ParamKind};
use triton_core::embed::Header;
use triton_core::metadata::{Image, Promised, Text};
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
    let mut promises = Promises(configs.first().map_or(&[][..], |compiled| &compiled.promised));
    let params: Vec<TokenStream> =
        kernel.signature.params.iter().flat_map(|param| params(kernel, instance, param, &mut promises)).collect();
    let count = params.len();
    let spelling = kernel.spelling(instance);
    let texts = configs.iter().enumerate().map(|(config, compiled)| {
        let header = |len, stored| header(&spelling, config, len, stored);
        let ir = text(&p, ir_name(config), &header, &compiled.config.ir, compiled, outers);
        let images = compiled.config.images.iter().enumerate();
        let images = images.map(|(image, of)| text(&p, ptx_name(config, image), &none, &of.ptx, compiled, outers));
        quote!(#ir #(#images)*)
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
        configs.iter().enumerate().map(|(index, compiled)| config(&p, &spelling, index, compiled, &keeps)).unzip();
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

/// What is promised of the parameters of the IR that are left. Configs of one instance differ in their warps alone.
struct Promises<'a>(&'a [Vec<Promised>]);

impl Promises<'_> {
    /// What is promised of the first word of what stands for the next parameter of the user, in each order.
    fn next(&mut self, words: usize) -> &[Promised] {
        let (own, rest) = self.0.split_at_checked(words).unwrap_or_default();
        self.0 = rest;
        own.first().map_or(&[], Vec::as_slice)
    }
}

/// The arguments for what is promised of a parameter: in the first order, and in the others.
fn promised(p: &TokenStream, in_orders: &[Promised]) -> TokenStream {
    let (first, others) =
        in_orders.split_first().map_or((Promised::default(), &[][..]), |(first, rest)| (*first, rest));
    let (first, others) = (member(p, first), others.iter().map(|&other| member(p, other)));
    quote!(#first, #p::Cow::Borrowed(&[#(#others),*]))
}

fn member(p: &TokenStream, promised: Promised) -> TokenStream {
    match promised {
        Promised::Divisible => quote!(#p::Promised::Divisible),
        Promised::Unit => quote!(#p::Promised::Unit),
        Promised::Pitch(multiple) => quote!(#p::Promised::Pitch(#multiple)),
        Promised::Extent(multiple) => quote!(#p::Promised::Extent(#multiple)),
        Promised::Nothing => quote!(#p::Promised::Nothing),
    }
}

/// The metadata of a parameter: one, or one for each field of a struct.
fn params(
    kernel: &Kernel<'_>,
    instance: &Instance,
    param: &Parameter,
    promises: &mut Promises<'_>,
) -> Vec<TokenStream> {
    let structure = param.ast.as_ref().and_then(|ast| kernel.structs.get(ast.elem.structure?));
    let Some(structure) = structure else {
        return self::param(kernel, instance, param, promises).into_iter().collect();
    };
    let fields = structure.fields.iter().filter_map(|(name, ty)| {
        let (p, dtype) = (kernel.private(), DType::from_name(&ty.name)?);
        let general = param.ast.as_ref().is_some_and(|ast| ast.general);
        let specialize = matches!(dtype.class(), Class::Signed | Class::Unsigned) && !general;
        let (name, dtype) = (format!("{}.{name}", param.name), self::dtype(dtype));
        let ty = quote!(#p::ParamType::Scalar(#p::DType::#dtype));
        let promised = promised(&p, promises.next(1));
        Some(quote!(#p::ParamMetadata::new(#p::Cow::Borrowed(#name), #ty, 1, #specialize, #promised)))
    });
    fields.collect()
}

fn param(
    kernel: &Kernel<'_>,
    instance: &Instance,
    param: &Parameter,
    promises: &mut Promises<'_>,
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
    let promised = promised(&p, promises.next(words));
    let name = quote!(#p::Cow::Borrowed(#name));
    Some(quote!(#p::ParamMetadata::new(#name, #p::ParamType::#ty, #multiple_of, #specialize, #promised)))
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

/// What tools find the IR of a config by, as it is stored.
fn header(instance: &str, config: usize, len: usize, stored: usize) -> String {
    Header { instance, config, len, stored }.to_string()
}

/// What stands before PTX, which tools make of the IR.
fn none(_: usize, _: usize) -> String {
    String::new()
}

/// What makes a text of its static, of this many bytes with the header.
fn taken(p: &TokenStream, name: &Ident, header: usize, text: &Text) -> TokenStream {
    let len = text.len();
    match (matches!(text, Text::Deflated { .. }), header > 0) {
        (true, true) => quote!(#p::Text::deflated(#p::embed::behind(#name, #header), #len, #p::inflate)),
        (true, false) => quote!(#p::Text::deflated(#name, #len, #p::inflate)),
        (false, true) => quote!(#p::Text::plain(#p::embed::text_behind(#name, #header))),
        (false, false) => quote!(#p::Text::plain(#name)),
    }
}

/// The static of a text behind its header, which is told how many bytes the text has, and how many are stored. It is deflated, or its
/// placeholders are patched with the values of constants while rustc evaluates it.
fn text(
    p: &TokenStream,
    name: Ident,
    header: &dyn Fn(usize, usize) -> String,
    text: &Text,
    compiled: &Compiled,
    outers: &[TokenStream],
) -> TokenStream {
    if let Text::Deflated { bytes, .. } = text {
        let bytes = Literal::byte_string(&[header(text.len(), bytes.len()).as_bytes(), &**bytes].concat());
        return quote!(static #name: &[u8] = #bytes;);
    }
    let text = header(text.len(), text.len()) + &text.get();
    let holes = embed::holes(&text);
    if holes.is_empty() {
        return quote!(static #name: &str = #text;);
    }
    let (count, bytes) = (text.len(), Literal::byte_string(text.as_bytes()));
    let filled = holes.iter().filter_map(|hole| {
        let index = hole.index as usize;
        let dtype = compiled.outers.get(index).copied().flatten()?;
        let (at, digits, constant) = (hole.at, hole.digits, outers.get(index)?);
        let bits = Ident::new(dtype.name(), Span::call_site());
        Some(quote!((#at, #digits, #p::bits::#bits(#constant))))
    });
    quote!(static #name: &str = {
        const TEXT: [u8; #count] = #p::embed::fill(*#bytes, &[#(#filled),*]);
        #p::embed::text(&TEXT)
    };)
}

fn ir_name(config: usize) -> Ident {
    format_ident!("IR_{}", config)
}

fn ptx_name(config: usize, image: usize) -> Ident {
    format_ident!("PTX_{}_{}", config, image)
}

fn config(
    p: &TokenStream,
    instance: &str,
    index: usize,
    compiled: &Compiled,
    keeps: impl Fn(usize, &Image) -> bool,
) -> (TokenStream, TokenStream) {
    let config = &compiled.config;
    let name = format_ident!("IMAGES_{}", index);
    let kept = config.images.iter().enumerate().filter(|(_, image)| keeps(index, image));
    let images: Vec<_> =
        kept.map(|(number, image)| self::image(p, image, taken(p, &ptx_name(index, number), 0, &image.ptx))).collect();
    let count = images.len();
    let header = header(instance, index, 0, 0).len();
    let (num_warps, ir) = (config.num_warps, taken(p, &ir_name(index), header, &config.ir));
    let images = quote!(static #name: [#p::Image; #count] = [#(#images),*];);
    let row = quote!(#p::Config::new(#num_warps, #ir, #p::Cow::Borrowed(&#name)));
    (images, row)
}

/// The call that makes an image, with each of its fields. Members of enums print as they are named.
fn image(p: &TokenStream, image: &Image, ptx: TokenStream) -> TokenStream {
    let (entry, threads, [x, y, z]) = (&image.entry, image.threads, image.cluster);
    let (major, minor) = image.ptx_version;
    let (shared_bytes, has_assert_buffer, wanted_blocks) =
        (image.shared_bytes, image.has_assert_buffer, image.wanted_blocks);
    let (order, assumes_dividends) = (image.order, image.assumes_dividends);
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
        #order,
        #p::Cow::Borrowed(#entry),
        #ptx,
        (#major, #minor),
        #threads,
        [#x, #y, #z],
        #shared_bytes,
        #has_assert_buffer,
        #assumes_dividends,
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
    use super::{header, image, none, taken};
    use crate::deflate::deflated;
    use proc_macro2::TokenTree;
    use quote::{format_ident, quote};
    use std::borrow::Cow;
    use triton_core::Compiled;
    use triton_core::metadata::{
        Config, Image, MapElements, MapSwizzle, ProgramMap, Specialization, Target, TensorMap, Text,
    };
    use triton_core::types::DType;

    #[test]
    fn images_are_constants_with_every_field() {
        // As the tokens below, so that they are known to be constant.
        static IMAGE: Image = Image::new(
            Target::Sm90a,
            Specialization::Aligned16,
            2,
            Cow::Borrowed("entry"),
            Text::plain("text\0"),
            (8, 6),
            128,
            [2, 1, 1],
            4096,
            true,
            false,
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
            2u8,
            p::Cow::Borrowed("entry"),
            p::Text::plain("text\0"),
            (8u32, 6u32),
            128u32,
            [2u32, 1u32, 1u32],
            4096u32,
            true,
            false,
            p::ProgramMap::Identity,
            3u32,
            ::core::option::Option::Some(168u32),
            p::Cow::Borrowed(&[
                p::TensorMap::new(0u32, [128u32, 64u32, 1u32, 1u32, 1u32], p::MapSwizzle::B128, p::MapElements::Tf32),
                p::TensorMap::new(2u32, [256u32, 1u32, 1u32, 1u32, 1u32], p::MapSwizzle::None, p::MapElements::Bits)
            ]),
        ));
        assert_eq!(image(&quote!(p), &IMAGE, quote!(p::Text::plain("text\0"))).to_string(), expected.to_string());
    }

    /// A long text is deflated; a short one, and one with placeholders, stands as it is.
    #[test]
    fn texts() {
        let compiled = Compiled {
            config: Config::new(1, "".into(), Vec::new().into()),
            outers: vec![Some(DType::I32)],
            promised: Vec::new(),
            spills: None,
        };
        let of = |text: &str| {
            let text = deflated(&Text::from(text.to_owned()));
            let tokens = super::text(&quote!(p), format_ident!("T"), &none, &text, &compiled, &[quote!(N)]);
            let kernel = taken(&quote!(p), &format_ident!("T"), 0, &text).to_string();
            (tokens, kernel)
        };
        let long = "    add.s32 %r1, %r1, %r2;\n".repeat(100);
        let (tokens, kernel) = of(&long);
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let bytes = syn::parse2::<syn::LitByteStr>(trees[6].clone().into()).expect("bytes").value();
        assert!(bytes.len() < 100, "{} bytes", bytes.len());
        assert!(miniz_oxide::inflate::decompress_to_vec(&bytes).is_ok_and(|text| text == long.as_bytes()));
        assert_eq!(kernel, quote!(p::Text::deflated(T, 2700usize, p::inflate)).to_string());

        let (tokens, kernel) = of("ret;");
        assert_eq!(
            tokens.to_string(),
            quote!(
                static T: &str = "ret;";
            )
            .to_string()
        );
        assert_eq!(kernel, quote!(p::Text::plain(T)).to_string());
        // The number of constant 0, in eight digits.
        let (tokens, kernel) = of(&format!("{long}mov.u32 %r1, 0x@@@@@000;"));
        assert!(tokens.to_string().contains("p :: embed :: fill"), "{tokens}");
        assert_eq!(kernel, quote!(p::Text::plain(T)).to_string());

        // IR, behind a header of a length that is known without it.
        let of_header = |len, stored| header("k::<f32>", 1, len, stored);
        let ret = Text::from("ret;");
        let tokens = super::text(&quote!(p), format_ident!("T"), &of_header, &ret, &compiled, &[]).to_string();
        assert!(tokens.contains("k::<f32>\\n1\\n00000004\\n00000004\\nret;"), "{tokens}");
        let header = of_header(4, 4).len();
        let kernel = taken(&quote!(p), &format_ident!("T"), header, &ret).to_string();
        assert_eq!(kernel, quote!(p::Text::plain(p::embed::text_behind(T, #header))).to_string());
    }
}
