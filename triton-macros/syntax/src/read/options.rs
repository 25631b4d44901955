//! The options between the parentheses of `#[triton::kernel(..)]`, as written.
//!
//! Everything is read as expressions of Rust: `[f32, f16]`, `[(A = 1, num_warps = 8)]`, `path::to::triton`.

use crate::context::{Context, spell};
use crate::read::suggest::{nearest, quoted};
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Token};
use triton_core::diag::Code;
use triton_core::metadata::{Target, Targets};
use triton_core::types::{CLUSTER_K, REGISTERS, STAGES};

/// Options that stand for one value.
const NAMES: [&str; 12] = [
    "configs",
    "tune",
    "num_warps",
    "num_stages",
    "max_registers",
    "cluster_k",
    "targets",
    "assertions",
    "deterministic",
    "fast_math",
    "warnings",
    "crate",
];

/// Options of a configuration, beside values of generic parameters.
pub(crate) const OF_CONFIGS: [&str; 6] =
    ["num_warps", "num_stages", "max_registers", "cluster_k", "targets", "general"];

/// The options of one kernel.
#[derive(Default)]
pub(crate) struct Options {
    /// `NAME = [values]`.
    pub(crate) lists: Vec<(Ident, Vec<Expr>)>,
    /// `configs = [(..), ..]`.
    pub(crate) configs: Option<Vec<Config>>,
    /// `tune = [NAMES]`.
    pub(crate) tune: Option<Vec<Ident>>,
    /// Those that a configuration may have, too.
    pub(crate) resources: Resources,
    /// `assertions = false`.
    pub(crate) assertions: Option<bool>,
    /// `deterministic = true`.
    pub(crate) deterministic: Option<bool>,
    /// `fast_math = true`.
    pub(crate) fast_math: Option<bool>,
    /// `warnings = true`.
    pub(crate) warnings: Option<bool>,
    /// `crate = path`.
    pub(crate) root: Option<TokenStream>,
    /// Names that were rejected: consequential errors are suppressed.
    pub(crate) refused: Vec<Ident>,
}

/// One parenthesis of `configs`.
pub(crate) struct Config {
    /// As written, for errors.
    pub(crate) tokens: TokenStream,
    /// Values of generic parameters.
    pub(crate) values: Vec<(Ident, Expr)>,
    /// Its own options.
    pub(crate) resources: Resources,
    /// `general = true`: the one of a pool that has images for any arguments.
    pub(crate) general: Option<Ident>,
}

/// The options that a configuration may give, as far as they are given.
#[derive(Clone, Copy, Default)]
pub(crate) struct Resources {
    /// `num_warps = 8`.
    pub(crate) num_warps: Option<u32>,
    /// `num_stages = 4`.
    pub(crate) num_stages: Option<u32>,
    /// `max_registers = 64`.
    pub(crate) max_registers: Option<u32>,
    /// `cluster_k = 4`.
    pub(crate) cluster_k: Option<u32>,
    /// `targets = ["sm_80"]`.
    pub(crate) targets: Option<Targets>,
}

impl Resources {
    /// Reads one of them; `false` if the option is another one.
    fn read(&mut self, cx: &mut Context, name: &Ident, value: &Expr) -> bool {
        if name == "num_warps" {
            self.num_warps = num_warps(cx, value);
        } else if name == "num_stages" {
            self.num_stages = num_stages(cx, value);
        } else if name == "max_registers" {
            self.max_registers = max_registers(cx, value);
        } else if name == "cluster_k" {
            self.cluster_k = cluster_k(cx, value);
        } else if name == "targets" {
            self.targets = targets(cx, value);
        } else {
            return false;
        }
        true
    }

    /// What is not given is that of the kernel.
    pub(crate) fn or(self, kernel: Resources) -> Resources {
        Resources {
            num_warps: self.num_warps.or(kernel.num_warps),
            num_stages: self.num_stages.or(kernel.num_stages),
            max_registers: self.max_registers.or(kernel.max_registers),
            cluster_k: self.cluster_k.or(kernel.cluster_k),
            targets: self.targets.or(kernel.targets),
        }
    }
}

/// Reads the options; what is wrong is reported and left out.
pub(crate) fn read(cx: &mut Context, args: TokenStream) -> Options {
    let mut options = Options::default();
    let args = ungroup(args);
    let entries = match (|input: ParseStream<'_>| input.parse_terminated(entry, Token![,])).parse2(args) {
        Ok(entries) => entries,
        Err(error) => {
            let span = cx.span(error.span(), error.span());
            let problem =
                triton_core::diag::Diagnostic::new(Code::T0008, span, format!("cannot read the options: {error}"));
            cx.report(problem.help("options are written `NAME = value`, separated by commas"));
            return options;
        }
    };
    let mut seen: Vec<Ident> = Vec::new();
    for (name, value) in entries {
        if seen.contains(&name) {
            cx.error(Code::T0007, &name, format!("`{name}` is given twice"));
            continue;
        }
        seen.push(name.clone());
        if options.resources.read(cx, &name, &value) {
            continue;
        }
        if name == "assertions" {
            options.assertions = flag(cx, &name, &value);
        } else if name == "deterministic" {
            options.deterministic = flag(cx, &name, &value);
        } else if name == "fast_math" {
            options.fast_math = flag(cx, &name, &value);
        } else if name == "warnings" {
            options.warnings = flag(cx, &name, &value);
        } else if name == "crate" {
            options.root = root(cx, &value);
        } else if name == "configs" {
            options.configs = configs(cx, value);
        } else if name == "tune" {
            options.tune = names(cx, &value);
        } else if let Expr::Array(list) = value {
            options.lists.push((name, list.elems.into_iter().collect()));
        } else {
            options.refused.push(name.clone());
            let known = quoted(NAMES);
            let problem = cx.diagnostic(Code::T0007, &name, format!("`#[triton::kernel]` has no option `{name}`"));
            let problem =
                problem.note(format!("the options are {known}, and `NAME = [..]` for each generic parameter"));
            cx.report(match nearest(&name.to_string(), NAMES) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem.help(format!("if `{name}` is a generic parameter, write its values in brackets")),
            });
        }
    }
    options
}

/// The tokens without the invisible delimiters of a `macro_rules!` fragment: in `T = [$t]` the type stands between two of them.
fn ungroup(tokens: TokenStream) -> TokenStream {
    let trees = tokens.into_iter().flat_map(|tree| match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => ungroup(group.stream()),
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), ungroup(group.stream()));
            inner.set_span(group.span());
            TokenTree::Group(inner).into()
        }
        tree @ (TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) => tree.into(),
    });
    trees.collect()
}

fn entry(input: ParseStream<'_>) -> syn::Result<(Ident, Expr)> {
    let name = Ident::parse_any(input)?;
    input.parse::<Token![=]>()?;
    Ok((name, input.parse()?))
}

fn number(value: &Expr) -> Option<u32> {
    let Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(number), .. }) = value else { return None };
    number.base10_parse::<u32>().ok()
}

fn num_stages(cx: &mut Context, value: &Expr) -> Option<u32> {
    if let Some(number) = number(value).filter(|number| STAGES.contains(number)) {
        return Some(number);
    }
    let found = spell(value);
    let (least, most) = (STAGES.start(), STAGES.end());
    let message = format!("`num_stages` is a number from {least} to {most}, not `{found}`");
    let problem = cx.diagnostic(Code::T0008, value, message);
    cx.report(problem.help("write `num_stages = 3`, or leave it out; 1 loads nothing ahead"));
    None
}

fn max_registers(cx: &mut Context, value: &Expr) -> Option<u32> {
    if let Some(number) = number(value).filter(|number| REGISTERS.contains(number)) {
        return Some(number);
    }
    let found = spell(value);
    let (least, most) = (REGISTERS.start(), REGISTERS.end());
    let message = format!("`max_registers` is a number from {least} to {most}, not `{found}`");
    let problem = cx.diagnostic(Code::T0008, value, message);
    cx.report(problem.help("write `max_registers = 128`, or leave it out: then the compiler decides"));
    None
}

fn cluster_k(cx: &mut Context, value: &Expr) -> Option<u32> {
    if let Some(number) = number(value).filter(|number| CLUSTER_K.contains(number)) {
        return Some(number);
    }
    let found = spell(value);
    let problem = cx.diagnostic(Code::T0008, value, format!("`cluster_k` is 1, 2, 4 or 8, not `{found}`"));
    cx.report(problem.help("write `cluster_k = 4`, or leave it out: then one block has all of K"));
    None
}

fn num_warps(cx: &mut Context, value: &Expr) -> Option<u32> {
    if let Some(number @ (1 | 2 | 4 | 8 | 16 | 32)) = number(value) {
        return Some(number);
    }
    let found = spell(value);
    let problem = cx.diagnostic(Code::T0008, value, format!("`num_warps` is 1, 2, 4, 8, 16 or 32, not `{found}`"));
    cx.report(problem.help("write `num_warps = 4`, or leave it out"));
    None
}

/// The targets of a list of their names.
fn targets(cx: &mut Context, value: &Expr) -> Option<Targets> {
    let names = || Target::ALL.iter().map(|target| target.name());
    let help = format!("write `targets = [\"{}\"]`, or leave it out for all of them", Target::LEAST.name());
    let known = format!("the targets are {}", quoted(names()));
    let Expr::Array(list) = value else {
        let message = format!("`targets` is a list of names, not `{}`", spell(value));
        let problem = cx.diagnostic(Code::T0008, value, message);
        cx.report(problem.note(known).help(help));
        return None;
    };
    if list.elems.is_empty() {
        let problem = cx.diagnostic(Code::T0008, value, "`targets` is empty: there would be no code for a GPU");
        cx.report(problem.note(known).help(help));
        return None;
    }
    let mut targets = Vec::new();
    for element in &list.elems {
        let name = if let Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(name), .. }) = element {
            name.value()
        } else {
            String::new()
        };
        let Some(target) = Target::from_name(&name) else {
            let message = format!("`{}` is not a target", spell(element));
            let problem = cx.diagnostic(Code::T0008, element, message).note(known.clone());
            cx.report(match nearest(&name, names()) {
                Some(near) => problem.help(format!("did you mean `\"{near}\"`?")),
                None => problem.help(help.clone()),
            });
            continue;
        };
        if targets.contains(&target) {
            let problem = cx.diagnostic(Code::T0008, element, format!("`{name}` is listed twice"));
            cx.report(problem.help("leave it out"));
        }
        targets.push(target);
    }
    Some(targets.into_iter().collect())
}

/// The names of `tune`.
fn names(cx: &mut Context, value: &Expr) -> Option<Vec<Ident>> {
    let help = "write the names of generic constants and integer parameters: `tune = [BM, BN, splits]`";
    let Expr::Array(list) = value else {
        let message = format!("`tune` is a list of names, not `{}`", spell(value));
        let problem = cx.diagnostic(Code::T0008, value, message);
        cx.report(problem.help(help));
        return None;
    };
    if list.elems.is_empty() {
        let problem = cx.diagnostic(Code::T0008, value, "`tune` is empty: nothing would be chosen");
        cx.report(problem.help(help));
        return None;
    }
    let mut names: Vec<Ident> = Vec::new();
    for element in &list.elems {
        let name = if let Expr::Path(path) = element { path.path.get_ident() } else { None };
        let Some(name) = name else {
            let problem = cx.diagnostic(Code::T0008, element, format!("`{}` is not a name", spell(element)));
            cx.report(problem.help(help));
            continue;
        };
        if names.contains(name) {
            cx.error(Code::T0007, name, format!("`{name}` is given twice"));
            continue;
        }
        names.push(name.clone());
    }
    Some(names)
}

fn flag(cx: &mut Context, name: &Ident, value: &Expr) -> Option<bool> {
    if let Expr::Lit(syn::ExprLit { lit: syn::Lit::Bool(value), .. }) = value {
        return Some(value.value);
    }
    let found = spell(value);
    cx.error(Code::T0008, value, format!("`{name}` is `true` or `false`, not `{found}`"));
    None
}

fn root(cx: &mut Context, value: &Expr) -> Option<TokenStream> {
    if let Expr::Path(path) = value {
        return Some(path.to_token_stream());
    }
    let problem = cx.diagnostic(Code::T0008, value, "`crate` is the path of the façade, such as `my_library::triton`");
    cx.report(problem);
    None
}

fn configs(cx: &mut Context, value: Expr) -> Option<Vec<Config>> {
    let help = "write `configs = [(BLOCK = 256, num_warps = 4), ..]`";
    let Expr::Array(list) = value else {
        let problem = cx.diagnostic(Code::T0008, &value, "`configs` is a list of parentheses").help(help);
        cx.report(problem);
        return None;
    };
    if list.elems.is_empty() {
        let problem =
            cx.diagnostic(Code::T0008, &list, "`configs` is empty: the kernel would never be compiled").help(help);
        cx.report(problem);
        return None;
    }
    Some(list.elems.into_iter().filter_map(|element| config(cx, element, help)).collect())
}

fn config(cx: &mut Context, element: Expr, help: &str) -> Option<Config> {
    let tokens = element.to_token_stream();
    let entries: Vec<Expr> = if let Expr::Tuple(tuple) = element {
        tuple.elems.into_iter().collect()
    } else if let Expr::Paren(paren) = element {
        vec![*paren.expr]
    } else {
        let problem = cx.diagnostic(Code::T0008, &element, "an element of `configs` is a parenthesis").help(help);
        cx.report(problem);
        return None;
    };
    let mut config = Config { tokens, values: Vec::new(), resources: Resources::default(), general: None };
    let mut seen: Vec<Ident> = Vec::new();
    for entry in entries {
        let Some((name, value)) = assignment(&entry) else {
            let problem = cx.diagnostic(Code::T0008, &entry, "expected `NAME = value`").help(help);
            cx.report(problem);
            continue;
        };
        if seen.contains(&name) {
            cx.error(Code::T0007, &name, format!("`{name}` is given twice in one configuration"));
            continue;
        }
        seen.push(name.clone());
        if name == "general" {
            config.general = flag(cx, &name, &value).filter(|&general| general).map(|_| name);
        } else if !config.resources.read(cx, &name, &value) {
            config.values.push((name, value));
        }
    }
    Some(config)
}

fn assignment(entry: &Expr) -> Option<(Ident, Expr)> {
    let Expr::Assign(assign) = entry else { return None };
    let Expr::Path(path) = &*assign.left else { return None };
    Some((path.path.get_ident()?.clone(), (*assign.right).clone()))
}
