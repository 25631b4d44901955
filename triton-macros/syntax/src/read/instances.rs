//! From lists and configurations to the instances that are compiled.

use crate::context::{Context, spell};
use crate::read::options::{Config, OF_CONFIGS, Options, Resources};
use crate::read::signature::Signature;
use crate::read::suggest::{nearest, quoted};
use proc_macro2::{Ident, Span};
use syn::{Expr, Lit, UnOp};
use triton_core::ast::{self, GenericArg, GenericKind};
use triton_core::diag::Code;
use triton_core::types::DType;

/// How many instances a kernel may have, counting each choice of options.
const MOST: usize = 512;

/// One choice of the generic parameters.
pub(crate) struct Instance {
    /// Their values, in order.
    pub(crate) args: Vec<GenericArg>,
    /// Where each value was written.
    pub(crate) spans: Vec<Span>,
    /// The options it is compiled with; the first is the default.
    pub(crate) configs: Vec<ast::Options>,
    /// Which of them is `general`.
    pub(crate) general: Option<usize>,
}

/// The values of one generic parameter: from a list, or from the configurations.
enum Values {
    List(Vec<(GenericArg, Span)>),
    Configs,
}

/// Every instance, in the order of the lists. Empty after a reported error.
pub(crate) fn list(cx: &mut Context, options: &Options, signature: &Signature, kernel: &Ident) -> Vec<Instance> {
    let before = cx.failed();
    let values = values(cx, options, signature, kernel);
    let configs = read_configs(cx, options.configs.as_deref().unwrap_or_default(), signature, &values);
    let (Some(values), Some(configs), false) = (values, configs, before) else { return Vec::new() };
    let length = |v: &Values| if let Values::List(list) = v { list.len() } else { 1 };
    let count = values.iter().map(length).fold(configs.len().max(1), usize::saturating_mul);
    if count > MOST {
        let message = format!("`{kernel}` would have {count} instances, more than {MOST}");
        let problem = cx.diagnostic(Code::T0012, kernel, message);
        cx.report(problem.help("list fewer values, or write the combinations that are used as `configs = [(..), ..]`"));
        return Vec::new();
    }
    let (instances, marked) = combine(cx, options, &values, &configs);
    if has_one_general(cx, options, signature, &marked) { instances } else { Vec::new() }
}

/// Where a configuration is `general`: an instance's arguments, and the number of the configuration.
type Marked = (Vec<GenericArg>, usize);

/// Reports `general` where there is no pool, and a second one of a pool.
fn has_one_general(cx: &mut Context, options: &Options, signature: &Signature, marked: &[Marked]) -> bool {
    let configs = options.configs.as_deref().unwrap_or_default();
    let mut pools: Vec<Vec<GenericArg>> = Vec::new();
    for (args, config) in marked {
        let Some(name) = configs.get(*config).and_then(|config| config.general.as_ref()) else { continue };
        let Some(tune) = &options.tune else {
            let problem =
                cx.diagnostic(Code::T0007, name, "`general` without `tune`: there is no pool that it could be of");
            cx.report(problem.help("leave it out: every instance has code for any arguments"));
            return false;
        };
        // Instances that agree in what is not chosen are a pool.
        let kept = signature.generics.iter().zip(args).filter(|(of, _)| !tune.iter().any(|name| *name == of.name.name));
        let pool: Vec<GenericArg> = kept.map(|(_, arg)| *arg).collect();
        if pools.contains(&pool) {
            let problem = cx.diagnostic(Code::T0007, name, "a second configuration is `general`");
            cx.report(problem.help("leave it out: one is enough for arguments that the others have no code for"));
            return false;
        }
        pools.push(pool);
    }
    true
}

/// The values of each generic parameter, or `None` after an error.
fn values(cx: &mut Context, options: &Options, signature: &Signature, kernel: &Ident) -> Option<Vec<Values>> {
    let names = signature.generic_names();
    let mut complete = signature.wrong_generics.is_empty();
    let tuned = |name: &Ident| options.tune.iter().flatten().any(|tuned| tuned == name);
    for (name, _) in options.lists.iter().filter(|(name, _)| !names.iter().any(|n| name == n) && !tuned(name)) {
        complete = false;
        let problem = cx.diagnostic(Code::T0010, name, format!("`{kernel}` has no generic parameter `{name}`"));
        let known = names.iter().copied().chain(["configs", "tune"]);
        let is_param = signature.params.iter().any(|param| param.name == *name);
        cx.report(match nearest(&name.to_string(), known) {
            _ if is_param => problem.help(format!("to choose a parameter at the launch, name it: `tune = [{name}]`")),
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem,
        });
    }
    let values = signature.generics.iter().map(|generic| {
        let name = &generic.name.name;
        let list = options.lists.iter().find(|(n, _)| n == name);
        let Some((ident, list)) = list else {
            if options.configs.is_some() {
                return Some(Values::Configs);
            }
            if options.refused.iter().any(|refused| refused == name) {
                return None;
            }
            let example = example(generic.kind);
            let message = format!("`{name}` has no values: the kernel is compiled for a list of them");
            let mut problem = cx.diagnostic(Code::T0009, kernel, message);
            problem.span = generic.name.span;
            cx.report(problem.help(format!("write `#[triton::kernel({name} = [{example}])]`")));
            return None;
        };
        if list.is_empty() {
            let message = format!("the list of `{name}` is empty: the kernel would never be compiled");
            let problem = cx.diagnostic(Code::T0009, ident, message);
            cx.report(
                problem
                    .help(format!("write values between the brackets, as in `{name} = [{}]`", example(generic.kind))),
            );
            return None;
        }
        let mut values: Vec<(GenericArg, Span)> = Vec::new();
        let mut complete = true;
        for written in list {
            let Some(value) = value(cx, written, name, generic.kind) else {
                complete = false;
                continue;
            };
            if values.iter().any(|(v, _)| *v == value.0) {
                let text = spell(written);
                let problem = cx.diagnostic(Code::T0011, written, format!("`{text}` is listed twice for `{name}`"));
                cx.report(problem.help("leave it out"));
                complete = false;
            }
            values.push(value);
        }
        complete.then_some(Values::List(values))
    });
    let values: Vec<Option<Values>> = values.collect();
    values.into_iter().collect::<Option<Vec<_>>>().filter(|_| complete)
}

/// The values of a configuration's parameters: one for each generic parameter that has no list.
type ConfigValues = Vec<Option<(GenericArg, Span)>>;

fn read_configs<'a>(
    cx: &mut Context,
    configs: &'a [Config],
    signature: &Signature,
    values: &Option<Vec<Values>>,
) -> Option<Vec<(&'a Config, ConfigValues)>> {
    let read: Vec<Option<_>> = configs.iter().map(|config| read_config(cx, config, signature, values)).collect();
    read.into_iter().collect()
}

fn read_config<'a>(
    cx: &mut Context,
    config: &'a Config,
    signature: &Signature,
    values: &Option<Vec<Values>>,
) -> Option<(&'a Config, ConfigValues)> {
    let names = signature.generic_names();
    let mut complete = true;
    for (name, _) in config.values.iter().filter(|(name, _)| !names.iter().any(|n| name == n)) {
        complete = false;
        let known: Vec<&str> = names.iter().copied().chain(OF_CONFIGS).collect();
        let message = format!("`{name}` is neither a generic parameter nor an option of a configuration");
        let problem = cx.diagnostic(Code::T0007, name, message).note(format!("known are {}", quoted(known.clone())));
        let is_parameter = signature.params.iter().any(|param| param.name == *name);
        cx.report(match nearest(&name.to_string(), known) {
            _ if is_parameter => problem.help(format!("list its values beside `tune`: `{name} = [1, 2, 4]`")),
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem,
        });
    }
    let mut row = ConfigValues::new();
    for (index, generic) in signature.generics.iter().enumerate() {
        let name = &generic.name.name;
        let listed = values.as_ref().is_some_and(|v| matches!(v[index], Values::List(_)));
        match config.values.iter().find(|(n, _)| n == name) {
            Some((ident, _)) if listed => {
                complete = false;
                cx.error(Code::T0007, ident, format!("`{name}` is given twice: it has a list of its own"));
            }
            Some((_, written)) => {
                let value = value(cx, written, name, generic.kind);
                complete &= value.is_some();
                row.push(value);
                continue;
            }
            None if !listed && values.is_some() => {
                complete = false;
                cx.error(Code::T0009, &config.tokens, format!("this configuration gives no value for `{name}`"));
            }
            None => {}
        }
        row.push(None);
    }
    complete.then_some((config, row))
}

/// Values that a generic parameter may have.
pub(crate) fn example(kind: GenericKind) -> &'static str {
    match kind {
        GenericKind::Type => "f32, f16",
        GenericKind::Const(DType::Bool) => "false, true",
        GenericKind::Const(_) => "256, 1024",
    }
}

/// Reads one value of a parameter.
pub(crate) fn value(cx: &mut Context, written: &Expr, name: &str, kind: GenericKind) -> Option<(GenericArg, Span)> {
    let text = spell(written);
    let span = syn::spanned::Spanned::span(written);
    match kind {
        GenericKind::Type => {
            let found = if let Expr::Path(path) = written {
                path.path.segments.last().map(|s| s.ident.to_string())
            } else {
                None
            };
            if let Some(dtype) = found.as_deref().and_then(DType::from_name) {
                return Some((GenericArg::Type(dtype), span));
            }
            let known: Vec<&str> = DType::ALL.iter().map(|d| d.name()).collect();
            let problem =
                cx.diagnostic(Code::T0011, written, format!("`{text}` is not an element type, as `{name}` must be"));
            let problem = problem.note(format!("the element types are {}", quoted(known.clone())));
            cx.report(match found.as_deref().and_then(|f| nearest(f, known)) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem.help(format!("write element types, as in `{name} = [f32, f16]`")),
            });
            None
        }
        GenericKind::Const(dtype) => {
            let Some(number) = constant(written, dtype) else {
                let what = if dtype == DType::Bool {
                    "`true` or `false`".into()
                } else {
                    format!("an integer literal of `{dtype}`")
                };
                let message = format!("`{text}` is not a value of `{name}`, which takes {what}");
                let problem = cx.diagnostic(Code::T0011, written, message);
                cx.report(problem.help(format!("write literals, as in `{name} = [{}]`", example(kind))));
                return None;
            };
            Some((GenericArg::Const(number), span))
        }
    }
}

/// The number that a literal stands for, if it is one of this type.
fn constant(written: &Expr, dtype: DType) -> Option<i128> {
    let (negative, literal) = if let Expr::Unary(syn::ExprUnary { op: UnOp::Neg(_), expr, .. }) = written {
        (true, &**expr)
    } else {
        (false, written)
    };
    let Expr::Lit(syn::ExprLit { lit, .. }) = literal else { return None };
    if let (Lit::Bool(value), DType::Bool, false) = (lit, dtype, negative) {
        return Some(i128::from(value.value));
    }
    let Lit::Int(number) = lit else { return None };
    if !dtype.is_int() || !(number.suffix().is_empty() || number.suffix() == dtype.name()) {
        return None;
    }
    let number = number.base10_parse::<i128>().ok()?;
    let number = if negative { -number } else { number };
    let (low, high) = if dtype.is_signed() {
        (-(1i128 << (dtype.bits() - 1)), (1i128 << (dtype.bits() - 1)) - 1)
    } else {
        (0, (1i128 << dtype.bits()) - 1)
    };
    (low..=high).contains(&number).then_some(number)
}

/// The product of lists and configurations; equal parameters with other options are configs of one instance.
fn combine(
    cx: &mut Context,
    options: &Options,
    values: &[Values],
    configs: &[(&Config, ConfigValues)],
) -> (Vec<Instance>, Vec<Marked>) {
    let mut rows: Vec<Vec<Option<(GenericArg, Span)>>> = vec![Vec::new()];
    for value in values {
        let choices: Vec<Option<(GenericArg, Span)>> = match value {
            Values::List(list) => list.iter().copied().map(Some).collect(),
            Values::Configs => vec![None],
        };
        let longer =
            |row: Vec<_>| choices.iter().map(move |c| row.iter().copied().chain([*c]).collect()).collect::<Vec<_>>();
        rows = rows.into_iter().flat_map(longer).collect();
    }
    let mut instances: Vec<Instance> = Vec::new();
    let mut repeated: Vec<usize> = Vec::new();
    let mut marked = Vec::new();
    let default = ast::Options::default();
    for row in &rows {
        let configs = configs.iter().map(|(of, values)| (of.resources, of.general.is_some(), values.as_slice()));
        let configs: Vec<(Resources, bool, &[_])> =
            if options.configs.is_some() { configs.collect() } else { vec![(Resources::default(), false, &[])] };
        for (number, (resources, general, given)) in configs.into_iter().enumerate() {
            let pairs =
                row.iter().enumerate().filter_map(|(i, listed)| listed.or_else(|| given.get(i).copied().flatten()));
            let (args, spans): (Vec<_>, Vec<_>) = pairs.unzip();
            if general {
                marked.push((args.clone(), number));
            }
            let Resources { num_warps, num_stages, max_registers, cluster_k, targets } =
                resources.or(options.resources);
            let config = ast::Options {
                num_warps: num_warps.unwrap_or(default.num_warps),
                num_stages: num_stages.unwrap_or(default.num_stages),
                max_registers,
                cluster_k: cluster_k.unwrap_or(default.cluster_k),
                targets: targets.unwrap_or(default.targets),
                assertions: options.assertions.unwrap_or(default.assertions),
                deterministic: options.deterministic.unwrap_or(default.deterministic),
                fast_math: options.fast_math.unwrap_or(default.fast_math),
            };
            match instances.iter_mut().find(|instance| instance.args == args) {
                Some(same) if same.configs.contains(&config) => repeated.push(number),
                Some(same) => {
                    same.general = same.general.or(general.then_some(same.configs.len()));
                    same.configs.push(config);
                }
                None => instances.push(Instance { args, spans, configs: vec![config], general: general.then_some(0) }),
            }
        }
    }
    repeated.sort_unstable();
    repeated.dedup();
    for number in repeated {
        cx.error(Code::T0008, &configs[number].0.tokens, "this configuration repeats an earlier one");
    }
    (instances, marked)
}
