//! Random token streams.

use fastrand::Rng;
use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::quote;

/// Names that mean something in a kernel.
const WORDS: &[&str] = &[
    "load",
    "store",
    "load_or",
    "arange",
    "zeros",
    "full",
    "dot",
    "sum",
    "sum_axis",
    "maximum",
    "minimum",
    "max",
    "min",
    "exp",
    "log",
    "select",
    "reduce",
    "reduce_axis",
    "clamp",
    "sigmoid",
    "program_id",
    "num_programs",
    "atomic_add",
    "atomic_cas",
    "argmax",
    "any",
    "all",
    "fma",
    "sqrt",
    "abs",
    "expand_dims",
    "reshape",
    "transpose",
    "permute",
    "broadcast_to",
    "to",
    "dim",
    "stride",
    "precision",
    "Tf32",
    "T",
    "BLOCK",
    "x",
    "out",
    "n",
    "i",
    "acc",
    "if",
    "else",
    "for",
    "in",
    "while",
    "let",
    "mut",
    "const",
    "fn",
    "return",
    "as",
    "true",
    "false",
    "step_by",
    "f16",
    "bf16",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u32",
    "u64",
    "bool",
    "usize",
    "Tile",
    "Ptr",
    "PtrMut",
    "Tensor",
    "TensorMut",
    "Num",
    "Float",
    "assert",
    "println",
    "unsafe",
    "match",
    "struct",
    "loop",
    "break",
    "self",
    "super",
    "crate",
    "MAX",
    "PI",
    "num_warps",
    "configs",
    "deterministic",
    "assertions",
    "multiple_of",
    "general",
    "_",
    "r#type",
    "impl",
    "where",
    "async",
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "7",
    "8",
    "16",
    "32",
    "64",
    "128",
    "1024",
    "4096",
    "1048576",
    "2097152",
    "2147483647",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "340282366920938463463374607431768211455",
    "0.0",
    "1.0",
    "0.5",
    "1e38",
    "1e39",
    "1e400",
    "1e-46",
    "2.0f16",
    "3i64",
    "0u8",
    "256u8",
    "1_000",
    "0x10",
    "0b11",
    "1f32",
    "\"text {}\"",
    "\"{\"",
    "'c'",
    "b\"x\"",
];

const SIGNS: &str = "+-*/%&|^!<>=.,;:?#@$~";

fn token(rng: &mut Rng) -> TokenTree {
    match rng.u8(..8) {
        0..=3 => word(WORDS[rng.usize(..WORDS.len())]),
        4..=5 => {
            let text = NUMBERS[rng.usize(..NUMBERS.len())];
            text.parse::<Literal>().map_or_else(|_| word("n"), TokenTree::from)
        }
        _ => {
            let sign = SIGNS.as_bytes()[rng.usize(..SIGNS.len())] as char;
            Punct::new(sign, if rng.bool() { Spacing::Joint } else { Spacing::Alone }).into()
        }
    }
}

fn word(text: &str) -> TokenTree {
    match text.strip_prefix("r#") {
        Some(raw) => Ident::new_raw(raw, Span::call_site()).into(),
        None => Ident::new(text, Span::call_site()).into(),
    }
}

fn delimiter(rng: &mut Rng) -> Delimiter {
    [Delimiter::Parenthesis, Delimiter::Brace, Delimiter::Bracket, Delimiter::None][rng.usize(..4)]
}

/// Up to `most` tokens that mean nothing.
pub fn noise(rng: &mut Rng, most: usize) -> TokenStream {
    let count = rng.usize(..most + 1);
    let mut tokens = Vec::new();
    let mut left = count;
    while left > 0 {
        left -= 1;
        if rng.u8(..8) == 0 {
            let inside = rng.usize(..left + 1);
            left -= inside;
            tokens.push(Group::new(delimiter(rng), noise(rng, inside)).into());
        } else {
            tokens.push(token(rng));
        }
    }
    tokens.into_iter().collect()
}

/// A kernel with something in it that is deep or long.
pub fn nested(rng: &mut Rng) -> TokenStream {
    let depth = rng.usize(1..400);
    let start: TokenStream = token(rng).into();
    let body = match rng.u8(..6) {
        0 => (0..depth).fold(start, |inner, _| quote!((#inner))),
        1 => (0..depth).fold(quote!(1), |inner, _| quote!(#inner + n)),
        2 => (0..depth).fold(quote!(n), |inner, _| quote!(- #inner)),
        3 => (0..depth / 8).fold(quote!(n), |inner, _| quote!(if n > 0 { #inner } else { 1 })),
        4 => (0..depth).fold(quote!(n), |inner, _| quote!({ let m = #inner; m })),
        _ => (0..depth).fold(quote!(n), |inner, _| quote!(maximum(#inner, n))),
    };
    let statement =
        if rng.bool() { quote!(store(out, #body, true);) } else { quote!(let y = #body; store(out, y, true);) };
    quote!(fn kernel(out: PtrMut<i32>, n: i32) { #statement })
}

/// The tokens with one to six changes; `other` is where foreign pieces come from.
pub fn mutate(rng: &mut Rng, tokens: TokenStream, other: &TokenStream) -> TokenStream {
    let pieces = groups(other);
    let mut tokens = tokens;
    for _ in 0..rng.usize(1..7) {
        let mut at = rng.usize(..count(&tokens).max(1));
        tokens = change(rng, tokens, &pieces, &mut at);
    }
    tokens
}

fn count(tokens: &TokenStream) -> usize {
    tokens
        .clone()
        .into_iter()
        .map(|tree| if let TokenTree::Group(group) = tree { 1 + count(&group.stream()) } else { 1 })
        .sum()
}

fn groups(tokens: &TokenStream) -> Vec<TokenTree> {
    let mut found = Vec::new();
    for tree in tokens.clone() {
        if let TokenTree::Group(group) = &tree {
            found.extend(groups(&group.stream()));
        }
        found.push(tree);
    }
    found
}

/// Changes the token `at` further on, counted in depth.
fn change(rng: &mut Rng, tokens: TokenStream, pieces: &[TokenTree], at: &mut usize) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        if *at == usize::MAX {
            out.push(tree);
            continue;
        }
        if *at > 0 {
            *at -= 1;
            out.push(match tree {
                TokenTree::Group(group) => {
                    let inner = change(rng, group.stream(), pieces, at);
                    Group::new(group.delimiter(), inner).into()
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => tree,
            });
            continue;
        }
        *at = usize::MAX;
        match rng.u8(..8) {
            0 => {}
            1 => out.extend([tree.clone(), tree]),
            2 => {
                out.extend(trees.next());
                out.push(tree);
            }
            3 => out.extend([tree, token(rng)]),
            4 if !pieces.is_empty() => out.push(pieces[rng.usize(..pieces.len())].clone()),
            5 => out.push(Group::new(delimiter(rng), tree.into()).into()),
            6 => match tree {
                TokenTree::Literal(_) => {
                    let number = NUMBERS[rng.usize(..NUMBERS.len())];
                    out.extend(number.parse::<TokenStream>().unwrap_or_default());
                }
                TokenTree::Group(group) => out.extend(group.stream()),
                TokenTree::Ident(_) | TokenTree::Punct(_) => out.push(token(rng)),
            },
            _ => out.push(token(rng)),
        }
    }
    out.into_iter().collect()
}
