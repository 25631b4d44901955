//! What the parameters of the function declare.

use super::axes::Axes;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Expr, FnArg, GenericArgument, Ident, ItemFn, LitStr, Pat, PathArguments, Result, Token, Type,
};

/// `#[operation(Builder)]`, or, where an instance is chosen, `#[operation(Builder, tuned)]`.
pub(crate) struct Head {
    pub(crate) builder: Ident,
    /// Whether an instance of a pool is chosen.
    pub(crate) tuned: bool,
}

impl Parse for Head {
    fn parse(input: ParseStream<'_>) -> Result<Head> {
        let builder = input.parse()?;
        if input.parse::<Option<Token![,]>>()?.is_none() {
            return Ok(Head { builder, tuned: false });
        }
        let flag: Ident = input.parse()?;
        if flag == "tuned" {
            Ok(Head { builder, tuned: true })
        } else {
            Err(Error::new(flag.span(), "expected `tuned`"))
        }
    }
}

/// A condition on a number: `#[check(epsilon >= 0.0, "0 or more", "it keeps a root from 0")]`.
pub(crate) struct Check {
    pub(crate) condition: Expr,
    pub(crate) expected: LitStr,
    pub(crate) fix: LitStr,
}

impl Parse for Check {
    fn parse(input: ParseStream<'_>) -> Result<Check> {
        let condition = input.parse()?;
        input.parse::<Token![,]>()?;
        let expected = input.parse()?;
        input.parse::<Token![,]>()?;
        Ok(Check { condition, expected, fix: input.parse()? })
    }
}

/// How a parameter gets its value.
pub(crate) enum How {
    /// By the function.
    Required,
    /// By a method, else it is this: `#[default(1e-5)]`, or `None` of an `Option`.
    Option(Expr),
    /// By the method of another parameter, `#[beside(residual)]`.
    Beside(Ident),
    /// By a method without arguments, which makes it true: `#[flag]`.
    Flag,
    /// By functions of the module alone: `#[preset(false)]`.
    Preset(Expr),
}

/// What a parameter holds.
pub(crate) enum Kind {
    /// `View<T, 2>`.
    View(Type, usize),
    /// `ViewMut<T, 2>`.
    ViewMut(Type, usize),
    /// Another type of operands, which is made of arguments by `Into`.
    Other,
    /// A reference to one.
    Reference,
    /// A number.
    Plain,
}

/// A parameter.
pub(crate) struct Parameter {
    pub(crate) docs: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) mutability: Option<Token![mut]>,
    /// Without `Option`.
    pub(crate) of: Type,
    pub(crate) optional: bool,
    pub(crate) kind: Kind,
    pub(crate) axes: Option<Axes>,
    pub(crate) checks: Vec<Check>,
    pub(crate) how: How,
    /// The name of the method, if it is another one: `#[setter(statistics)]`.
    pub(crate) setter: Ident,
}

/// An operation.
pub(crate) struct Declaration {
    pub(crate) head: Head,
    pub(crate) function: ItemFn,
    /// The name of the call in the body, and its type.
    pub(crate) call: (Ident, Type),
    pub(crate) parameters: Vec<Parameter>,
}

const CALL: &str = "the first parameter is the call: `call: Call`";

impl Declaration {
    pub(crate) fn new(head: Head, function: ItemFn) -> Result<Declaration> {
        let mut inputs = function.sig.inputs.iter();
        let Some(FnArg::Typed(first)) = inputs.next() else {
            return Err(Error::new(function.sig.ident.span(), CALL));
        };
        let Pat::Ident(name) = &*first.pat else { return Err(Error::new(first.pat.span(), CALL)) };
        let call = (name.ident.clone(), (*first.ty).clone());
        let parameters = inputs.map(Parameter::new).collect::<Result<Vec<_>>>()?;
        for parameter in &parameters {
            if let How::Beside(other) = &parameter.how
                && !parameters.iter().any(|of| of.name == *other)
            {
                return Err(Error::new(other.span(), "there is no parameter of this name"));
            }
        }
        Ok(Declaration { head, function, call, parameters })
    }

    /// Each operand with its axes, as messages have it: `x is [.., c], y is [.., c]`.
    pub(crate) fn text(&self) -> String {
        let text = |of: &Parameter| Some(format!("{} is {}", of.name, of.axes.as_ref()?.text()));
        self.parameters.iter().filter_map(text).collect::<Vec<_>>().join(", ")
    }
}

impl Parameter {
    fn new(input: &FnArg) -> Result<Parameter> {
        let FnArg::Typed(typed) = input else {
            return Err(Error::new(input.span(), "an operation is not a method"));
        };
        let Pat::Ident(pattern) = &*typed.pat else {
            return Err(Error::new(typed.pat.span(), "expected the name of an operand or an option"));
        };
        let inside = inside(&typed.ty, "Option");
        let (of, optional) = (inside.unwrap_or(&typed.ty).clone(), inside.is_some());
        let (mut docs, mut axes, mut checks, mut how) = (Vec::new(), None, Vec::new(), None);
        let mut setter = pattern.ident.clone();
        for attribute in &typed.attrs {
            let path = attribute.path();
            if path.is_ident("doc") {
                docs.push(attribute.clone());
            } else if path.is_ident("axes") {
                axes = Some(attribute.parse_args::<Axes>()?);
            } else if path.is_ident("check") {
                checks.push(attribute.parse_args::<Check>()?);
            } else if path.is_ident("default") {
                how = Some(How::Option(attribute.parse_args()?));
            } else if path.is_ident("preset") {
                how = Some(How::Preset(attribute.parse_args()?));
            } else if path.is_ident("beside") {
                how = Some(How::Beside(attribute.parse_args()?));
            } else if path.is_ident("flag") {
                how = Some(How::Flag);
            } else if path.is_ident("setter") {
                setter = attribute.parse_args()?;
            } else {
                let expected =
                    "expected `axes`, `check`, `default`, `preset`, `beside`, `flag`, `setter` or documentation";
                return Err(Error::new(path.span(), expected));
            }
        }
        let none = || How::Option(syn::parse_quote!(None));
        let how = how.unwrap_or_else(|| if optional { none() } else { How::Required });
        let kind = kind(&of, axes.as_ref())?;
        let (name, mutability) = (pattern.ident.clone(), pattern.mutability);
        Ok(Parameter { docs, name, mutability, of, optional, kind, axes, checks, how, setter })
    }
}

/// The last segment of a type's path.
fn last(of: &Type) -> Option<&syn::PathSegment> {
    if let Type::Path(path) = of { path.path.segments.last() } else { None }
}

/// The argument of a type of one argument, if it has this name.
fn inside<'a>(of: &'a Type, name: &str) -> Option<&'a Type> {
    let segment = last(of).filter(|segment| segment.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    arguments.args.iter().find_map(|argument| if let GenericArgument::Type(of) = argument { Some(of) } else { None })
}

/// What a type is. The rank of a view is that of its axes.
fn kind(of: &Type, axes: Option<&Axes>) -> Result<Kind> {
    if axes.is_some() && matches!(of, Type::Reference(_)) {
        return Ok(Kind::Reference);
    }
    let name = last(of).map(|segment| segment.ident.to_string()).unwrap_or_default();
    let (Some(axes), true) = (axes, name == "View" || name == "ViewMut") else {
        return Ok(if axes.is_some() { Kind::Other } else { Kind::Plain });
    };
    let element = inside(of, &name).ok_or_else(|| Error::new(of.span(), "expected `View<T, 2>`"))?;
    let rank = last(of).and_then(|segment| match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.last(),
        PathArguments::None | PathArguments::Parenthesized(_) => None,
    });
    let rank = match rank {
        Some(GenericArgument::Const(Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(rank), .. }))) => {
            rank.base10_parse::<usize>()?
        }
        _ => return Err(Error::new(of.span(), "expected the rank, as in `View<T, 2>`")),
    };
    if rank != axes.0.len() {
        let text = format!("{} is of rank {}, `..` counting as one axis", axes.text(), axes.0.len());
        return Err(Error::new(of.span(), text));
    }
    Ok(if name == "View" { Kind::View(element.clone(), rank) } else { Kind::ViewMut(element.clone(), rank) })
}
