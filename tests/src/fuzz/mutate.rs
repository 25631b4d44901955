//! Random token streams.

use crate::numbers::Random;
use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::quote;

/// Names that mean something in a kernel.
const WORDS: &[&str] = &[
    "load",
    "store",
    "load_or",
    "arange",
    "zeros",
    "unroll",
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
    "scan",
    "scan_reverse",
    "cumsum",
    "cumprod",
    "cummax",
    "cummin",
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
    "join",
    "split",
    "interleave",
    "broadcast_to",
    "to",
    "bitcast",
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
    "continue",
    "self",
    "super",
    "crate",
    "MAX",
    "PI",
    "num_warps",
    "configs",
    "deterministic",
    "num_stages",
    "stages",
    "max_registers",
    "cluster_k",
    "targets",
    "fast_math",
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

fn token(random: &mut Random) -> TokenTree {
    match random.below(8) {
        0..=3 => word(WORDS[random.below(WORDS.len())]),
        4..=5 => {
            let text = NUMBERS[random.below(NUMBERS.len())];
            text.parse::<Literal>().map_or_else(|_| word("n"), TokenTree::from)
        }
        _ => {
            let sign = SIGNS.as_bytes()[random.below(SIGNS.len())] as char;
            Punct::new(sign, if random.once_in(2) { Spacing::Joint } else { Spacing::Alone }).into()
        }
    }
}

fn word(text: &str) -> TokenTree {
    match text.strip_prefix("r#") {
        Some(raw) => Ident::new_raw(raw, Span::call_site()).into(),
        None => Ident::new(text, Span::call_site()).into(),
    }
}

fn delimiter(random: &mut Random) -> Delimiter {
    [Delimiter::Parenthesis, Delimiter::Brace, Delimiter::Bracket, Delimiter::None][random.below(4)]
}

/// Up to `most` tokens that mean nothing.
pub fn noise(random: &mut Random, most: usize) -> TokenStream {
    let count = random.below(most + 1);
    let mut tokens = Vec::new();
    let mut left = count;
    while left > 0 {
        left -= 1;
        if random.below(8) == 0 {
            let inside = random.below(left + 1);
            left -= inside;
            tokens.push(Group::new(delimiter(random), noise(random, inside)).into());
        } else {
            tokens.push(token(random));
        }
    }
    tokens.into_iter().collect()
}

/// A kernel with something in it that is deep or long.
pub fn nested(random: &mut Random) -> TokenStream {
    let depth = 1 + random.below(399);
    let start: TokenStream = token(random).into();
    let body = match random.below(6) {
        0 => (0..depth).fold(start, |inner, _| quote!((#inner))),
        1 => (0..depth).fold(quote!(1), |inner, _| quote!(#inner + n)),
        2 => (0..depth).fold(quote!(n), |inner, _| quote!(- #inner)),
        3 => (0..depth / 8).fold(quote!(n), |inner, _| quote!(if n > 0 { #inner } else { 1 })),
        4 => (0..depth).fold(quote!(n), |inner, _| quote!({ let m = #inner; m })),
        _ => (0..depth).fold(quote!(n), |inner, _| quote!(maximum(#inner, n))),
    };
    let statement =
        if random.once_in(2) { quote!(store(out, #body, true);) } else { quote!(let y = #body; store(out, y, true);) };
    quote!(fn kernel(out: PtrMut<i32>, n: i32) { #statement })
}

/// The tokens with one to six changes; `other` is where foreign pieces come from.
pub fn mutate(random: &mut Random, tokens: TokenStream, other: &TokenStream) -> TokenStream {
    let pieces = groups(other);
    let mut tokens = tokens;
    for _ in 0..1 + random.below(6) {
        let mut at = random.below(count(&tokens).max(1));
        tokens = change(random, tokens, &pieces, &mut at);
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
fn change(random: &mut Random, tokens: TokenStream, pieces: &[TokenTree], at: &mut usize) -> TokenStream {
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
                    let inner = change(random, group.stream(), pieces, at);
                    Group::new(group.delimiter(), inner).into()
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => tree,
            });
            continue;
        }
        *at = usize::MAX;
        match random.below(8) {
            0 => {}
            1 => out.extend([tree.clone(), tree]),
            2 => {
                out.extend(trees.next());
                out.push(tree);
            }
            3 => out.extend([tree, token(random)]),
            4 if !pieces.is_empty() => out.push(pieces[random.below(pieces.len())].clone()),
            5 => out.push(Group::new(delimiter(random), tree.into()).into()),
            6 => match tree {
                TokenTree::Literal(_) => {
                    let number = NUMBERS[random.below(NUMBERS.len())];
                    out.extend(number.parse::<TokenStream>().unwrap_or_default());
                }
                TokenTree::Group(group) => out.extend(group.stream()),
                TokenTree::Ident(_) | TokenTree::Punct(_) => out.push(token(random)),
            },
            _ => out.push(token(random)),
        }
    }
    out.into_iter().collect()
}
