//! `tune = [..]`: which generic constants and scalar parameters are chosen at a launch, among the listed.

use crate::context::{Context, spell};
use crate::read::instances::{example, value};
use crate::read::options::Options;
use crate::read::signature::Signature;
use crate::read::suggest::nearest;
use proc_macro2::Ident;
use triton_core::ast::{GenericArg, GenericKind, ParamKind};
use triton_core::diag::Code;
use triton_core::types::DType;

/// What is chosen.
#[derive(Debug, Default)]
pub(crate) struct Tune {
    /// The numbers of generic constants.
    pub(crate) generics: Vec<usize>,
    /// Scalar parameters.
    pub(crate) scalars: Vec<Scalar>,
}

/// A scalar parameter that is chosen.
#[derive(Debug)]
pub(crate) struct Scalar {
    /// Its number.
    pub(crate) param: usize,
    /// Its type.
    pub(crate) dtype: DType,
    /// Its values.
    pub(crate) values: Vec<GenericArg>,
}

impl Tune {
    /// Reads the names. `None` without the option, and after an error.
    pub(crate) fn read(cx: &mut Context, options: &Options, signature: &Signature, kernel: &Ident) -> Option<Tune> {
        let names = options.tune.as_ref()?;
        let mut tune = Tune::default();
        let mut complete = true;
        for name in names {
            let generic = signature.generics.iter().position(|generic| name == &generic.name.name);
            if let Some(index) = generic {
                if let GenericKind::Const(_) = signature.generics[index].kind {
                    tune.generics.push(index);
                    continue;
                }
                complete = false;
                let message = format!("`{name}` is an element type, which the arguments decide");
                let problem = cx.diagnostic(Code::T0008, name, message);
                cx.report(problem.help(format!("leave it out: `{kernel}_tuned::<{name}>` is called for one")));
                continue;
            }
            match scalar(cx, options, signature, name, kernel) {
                Some(scalar) => tune.scalars.push(scalar),
                None => complete = false,
            }
        }
        complete.then_some(tune)
    }
}

fn scalar(cx: &mut Context, options: &Options, signature: &Signature, name: &Ident, kernel: &Ident) -> Option<Scalar> {
    let Some(param) = signature.params.iter().position(|param| param.name == *name) else {
        if signature.wrong_generics.iter().any(|wrong| name == wrong) {
            return None;
        }
        let message = format!("`{kernel}` has neither a generic constant nor a scalar parameter `{name}`");
        let problem = cx.diagnostic(Code::T0010, name, message);
        let params: Vec<String> = signature.params.iter().map(|param| param.name.to_string()).collect();
        let known = signature.generic_names().into_iter().chain(params.iter().map(String::as_str));
        let help = match nearest(&name.to_string(), known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name what may be chosen at a launch, as in `tune = [BLOCK]`".into(),
        };
        cx.report(problem.help(help));
        return None;
    };
    // A parameter that cannot be read has been reported.
    let ast = signature.params[param].ast.as_ref()?;
    let dtype = DType::from_name(&ast.elem.name).filter(|dtype| dtype.is_int() && ast.kind == ParamKind::Scalar);
    let Some(dtype) = dtype else {
        let message = format!("`{name}` cannot be chosen: it is not an integer");
        let problem = cx.diagnostic(Code::T0008, name, message);
        cx.report(problem.help("`tune` names generic constants and integer parameters"));
        return None;
    };
    let Some((_, list)) = options.lists.iter().find(|(listed, _)| listed == name) else {
        let problem =
            cx.diagnostic(Code::T0009, name, format!("`{name}` has no values among which it could be chosen"));
        cx.report(problem.help(format!("write them beside `tune`: `{name} = [1, 2, 4]`")));
        return None;
    };
    let mut values: Vec<GenericArg> = Vec::new();
    let mut complete = !list.is_empty();
    if list.is_empty() {
        let problem = cx.diagnostic(Code::T0009, name, format!("the list of `{name}` is empty"));
        let example = example(GenericKind::Const(dtype));
        cx.report(problem.help(format!("write values between the brackets, as in `{name} = [{example}]`")));
    }
    for written in list {
        let Some((value, _)) = value(cx, written, &name.to_string(), GenericKind::Const(dtype)) else {
            complete = false;
            continue;
        };
        if values.contains(&value) {
            complete = false;
            let message = format!("`{}` is listed twice for `{name}`", spell(written));
            let problem = cx.diagnostic(Code::T0011, written, message);
            cx.report(problem.help("leave it out"));
        }
        values.push(value);
    }
    complete.then_some(Scalar { param, dtype, values })
}
