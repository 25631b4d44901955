//! A kernel to expand: what all of its expansions share, and how its instances are spelled.

use crate::read::instances::Instance;
use crate::read::signature::Signature;
use crate::read::tune::Tune;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{GenericParam, ItemFn, Type};
use triton_core::ast::{self, GenericArg, GenericKind};
use triton_core::types::DType;

/// The parts that all expansions of a kernel share.
pub(crate) struct Kernel<'a> {
    pub(crate) root: &'a TokenStream,
    pub(crate) function: &'a ItemFn,
    pub(crate) signature: &'a Signature,
    pub(crate) instances: &'a [Instance],
    /// The structs that its parameters have, once these are known.
    pub(crate) structs: &'a [ast::Struct],
    /// What is chosen at a launch, of a kernel with a pool.
    pub(crate) tune: Option<Tune>,
    /// Whether warnings are enabled, or disabled.
    pub(crate) warnings: Option<bool>,
    /// For an editor generated tokens must not lie on the user's, for rustc's messages they should.
    pub(crate) editor: bool,
    /// The trait of the instances that exist, which generic host code can name: of `add` it is `AddInstance`.
    pub(crate) compiled: Ident,
    /// `<T, BLOCK>`, empty without generics.
    pub(crate) arguments: TokenStream,
    /// `T, const BLOCK: i32`.
    pub(crate) declarations: TokenStream,
}

impl<'a> Kernel<'a> {
    /// Collects the parts.
    pub(crate) fn new(
        root: &'a TokenStream,
        function: &'a ItemFn,
        signature: &'a Signature,
        instances: &'a [Instance],
        editor: bool,
    ) -> Self {
        let name = function.sig.ident.unraw();
        let span = if editor { Span::call_site() } else { function.sig.ident.span() };
        let (mut names, mut declarations) = (Vec::new(), Vec::new());
        for param in &function.sig.generics.params {
            match param {
                GenericParam::Lifetime(_) => {}
                GenericParam::Type(ty) => {
                    names.push(ty.ident.clone());
                    declarations.push(ty.ident.to_token_stream());
                }
                GenericParam::Const(constant) => {
                    let (ident, ty) = (&constant.ident, constant_type(&constant.ty));
                    names.push(ident.clone());
                    declarations.push(quote!(const #ident: #ty));
                }
            }
        }
        Kernel {
            root,
            function,
            signature,
            instances,
            structs: &[],
            tune: None,
            warnings: None,
            editor,
            compiled: format_ident!("{}", type_name(&name.to_string(), "Instance"), span = span),
            arguments: if names.is_empty() { TokenStream::new() } else { quote!(<#(#names),*>) },
            declarations: quote!(#(#declarations),*),
        }
    }

    /// Where generated code finds what it needs.
    pub(crate) fn private(&self) -> TokenStream {
        let root = self.root;
        quote!(#root::__private)
    }

    /// Type and const parameters, as written.
    pub(crate) fn generic_params(&self) -> Vec<&GenericParam> {
        let params = self.function.sig.generics.params.iter();
        params.filter(|param| !matches!(param, GenericParam::Lifetime(_))).collect()
    }

    /// The kernel's name.
    pub(crate) fn name(&self) -> String {
        self.function.sig.ident.unraw().to_string()
    }

    /// An instance as the user writes it.
    pub(crate) fn spelling(&self, instance: &Instance) -> String {
        spelling(&self.name(), &instance.args, self.signature.kinds())
    }

    /// The values of the generic parameters, each with a span of its own.
    pub(crate) fn values(&self, instance: &Instance, span: impl Fn(usize) -> Span) -> Vec<TokenStream> {
        let pairs = instance.args.iter().zip(&self.signature.generics).enumerate();
        pairs.map(|(index, (arg, generic))| self.value(*arg, generic.kind, span(index))).collect()
    }

    /// A value as tokens that mean the same everywhere: `f16` is a type of the façade, and a user may have called
    /// something else `f32`.
    pub(crate) fn value(&self, arg: GenericArg, kind: GenericKind, span: Span) -> TokenStream {
        match (arg, kind) {
            (GenericArg::Type(dtype @ (DType::F16 | DType::BF16)), _) => {
                let (p, name) = (self.private(), Ident::new(dtype.name(), span));
                quote!(#p::#name)
            }
            (GenericArg::Type(dtype), _) => {
                let name = Ident::new(dtype.name(), span);
                quote_spanned!(span=> ::core::primitive::#name)
            }
            (GenericArg::Const(value), GenericKind::Const(DType::Bool)) => (value != 0).to_token_stream(),
            (GenericArg::Const(value), GenericKind::Const(_) | GenericKind::Type) => {
                let literal = Literal::u128_unsuffixed(value.unsigned_abs());
                if value < 0 { quote!(- #literal) } else { quote!(#literal) }
            }
        }
    }
}

/// The name of a type that belongs to a kernel: the kernel's own in camel case, and a suffix such as `Instance`.
pub(super) fn type_name(name: &str, suffix: &str) -> String {
    let words = name.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    });
    let words: String = words.collect();
    // A name of digits and underscores alone.
    let prefix = if words.starts_with(char::is_alphabetic) { "" } else { "Kernel" };
    format!("{prefix}{words}{suffix}")
}

/// An instance as the user writes it: `add::<f32, 1024>`.
pub(crate) fn spelling(name: &str, args: &[GenericArg], kinds: impl IntoIterator<Item = GenericKind>) -> String {
    if args.is_empty() {
        return name.to_owned();
    }
    let text = args.iter().zip(kinds).map(|(arg, kind)| match (arg, kind) {
        (GenericArg::Type(dtype), _) => dtype.name().to_owned(),
        (GenericArg::Const(value), GenericKind::Const(DType::Bool)) => (*value != 0).to_string(),
        (GenericArg::Const(value), _) => value.to_string(),
    });
    format!("{name}::<{}>", text.collect::<Vec<_>>().join(", "))
}

pub(crate) fn name_of(param: &GenericParam) -> Option<&Ident> {
    match param {
        GenericParam::Lifetime(_) => None,
        GenericParam::Type(ty) => Some(&ty.ident),
        GenericParam::Const(constant) => Some(&constant.ident),
    }
}

/// The type of a generic constant, or `i32` for one that no Rust function could have either: that is reported, and once
/// is enough.
pub(crate) fn constant_type(written: &Type) -> TokenStream {
    let known =
        ["i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "bool", "char"];
    let name = if let Type::Path(path) = written { path.path.get_ident() } else { None };
    if name.is_some_and(|name| known.iter().any(|k| name == k)) { written.to_token_stream() } else { quote!(i32) }
}
