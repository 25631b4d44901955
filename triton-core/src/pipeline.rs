//! From a kernel to what is embedded: the stages in order.

use crate::analysis::spills::{self, Spills};
use crate::analysis::{advice, axis, pressure, promises};
use crate::ast::{Instance, Kernel};
use crate::diag::{Code, Diagnostic, Failure};
use crate::ir::{Function, InstData, Layouts, Param, Value};
use crate::metadata::{Arg, Config, Image, Promise, Promised, Specialization, Target};
use crate::ops::{DotKind, Op};
use crate::passes::Env;
use crate::passes::layouts::partition;
use crate::ptx::lower::LowerError;
use crate::span::Span;
use crate::types::{DType, Elem, Type};
use crate::{ir, passes, ptx, sema};
use std::borrow::Cow;
use std::cmp::Reverse;

/// A compiled instance of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// Its meaning and its code. Where the kernel uses constants that only rustc can evaluate, the texts have
    /// [placeholders](crate::ops::outer).
    pub config: Config,
    /// The type that each of [`Kernel::outers`] has, unless the instance does not use it.
    pub outers: Vec<Option<DType>>,
    /// What the specializations promise of each parameter of the IR, and after it what they promise in each other order.
    pub promised: Vec<Vec<Promised>>,
    /// The warning that the tiles of a thread do not fit its registers, in the image that assumes most for the best target.
    pub spills: Option<Diagnostic>,
}

/// Type-checks one instance of a kernel and compiles it for its targets, in the order of [`Target::ALL`].
///
/// # Errors
/// Everything that is wrong with the kernel, in the order of the source.
pub fn compile(kernel: &Kernel, instance: &Instance) -> Result<Compiled, Failure> {
    let (mut func, mut compiled) = embedded(kernel, instance)?;
    let failure = |problem: Diagnostic| Failure { diagnostics: vec![problem], ..Failure::default() };
    passes::run(passes::OPTIMISE, &mut func, &Env::portable()).map_err(|message| failure(mistake(message)))?;
    let of_source = |problem| of_source(&func, problem);
    let (images, spills) = code(&func, &mut |_| {}).map_err(|problem| failure(of_source(problem)))?;
    (compiled.config.images, compiled.spills) = (images.into(), spills.map(of_source));
    Ok(compiled)
}

/// Type-checks one instance of a kernel and makes no code: what [`compile`] gives, without images.
///
/// # Errors
/// Everything that is wrong with the kernel but the size of its code.
pub fn check(kernel: &Kernel, instance: &Instance) -> Result<Compiled, Failure> {
    embedded(kernel, instance).map(|(_, compiled)| compiled)
}

/// An instance at stage 0 before passes, and what is embedded of it beside code.
fn embedded(kernel: &Kernel, instance: &Instance) -> Result<(Function, Compiled), Failure> {
    let (func, outers) = typed(kernel, instance)?;
    let compiled = Compiled {
        promised: func.params.iter().map(|param| [&[param.promised], &param.orders[..]].concat()).collect(),
        config: Config::new(func.num_warps, ir::print::print(&func).into(), Vec::new().into()),
        outers,
        spills: None,
    };
    Ok((func, compiled))
}

/// The meaning of an instance, relaxed if it has `fast_math`, with what the specializations promise of its parameters.
fn typed(kernel: &Kernel, instance: &Instance) -> Result<(Function, Vec<Option<DType>>), Failure> {
    let (mut func, outers) = sema::check(kernel, instance)?;
    let failure = |message| Failure { diagnostics: vec![mistake(message)], ..Failure::default() };
    if func.fast_math {
        passes::run(passes::RELAX, &mut func, &Env::portable()).map_err(failure)?;
    }
    if func.takes_pointers() {
        // What accesses gain is known of them as they are made.
        let mut optimised = func.clone();
        passes::run(passes::OPTIMISE, &mut optimised, &Env::portable()).map_err(failure)?;
        let promised = in_orders(&optimised).map_err(failure)?;
        for (index, param) in func.params.iter_mut().enumerate() {
            let mut orders = promised.iter().map(|order| order[index]);
            param.promised = orders.next().unwrap_or_default();
            param.orders = orders.collect();
            if param.orders.iter().all(|&other| other == param.promised) {
                param.orders.clear();
            }
        }
    }
    Ok((func, outers))
}

/// What the specializations are to promise of the parameters of an optimised function over pointers, in each order.
fn in_orders(func: &Function) -> Result<Vec<Vec<Promised>>, String> {
    let in_order = |(order, units): (usize, Vec<Value>)| {
        let mut promised = func.clone();
        let units = promised.params.iter_mut().filter(|param| units.contains(&param.value));
        units.for_each(|param| param.promised = Promised::Unit);
        if order > 0 {
            let env = Env { specialization: Specialization::Divisible16, ..Env::portable() };
            passes::run(passes::SPECIALISE, &mut promised, &env)?;
        }
        Ok(promises::promises(&promised))
    };
    promises::orders(func).into_iter().enumerate().map(in_order).collect()
}

/// What could be better about one instance of a kernel that compiles: see [`crate::analysis::advice`].
pub fn advise(kernel: &Kernel, instance: &Instance) -> Vec<Diagnostic> {
    let Ok((mut func, _)) = typed(kernel, instance) else { return Vec::new() };
    // Views are what launches mostly pass: their last axis runs along memory.
    let env = Env { specialization: Specialization::Divisible16, ..Env::portable() };
    let optimised = passes::run(passes::OPTIMISE, &mut func, &Env::portable());
    match optimised.and_then(|()| passes::run(passes::SPECIALISE, &mut func, &env)) {
        Ok(()) => advice::advice(&func).into_iter().map(|problem| of_source(&func, problem)).collect(),
        Err(_) => Vec::new(),
    }
}

/// What is said of a function, of its source: in a body that was inlined, where that was written, with the calls that led there.
fn of_source(func: &Function, problem: Diagnostic) -> Diagnostic {
    let sources = &func.sources;
    let calls = sources.calls_to(problem.span).map(|call| &sources.calls[call]);
    let mut calls: Vec<_> = calls.map(|call| (call.function.clone(), sources.origin(call.at))).collect();
    calls.reverse();
    Diagnostic { span: sources.origin(problem.span), calls, ..problem }
}

fn mistake(message: String) -> Diagnostic {
    Diagnostic::new(Code::T0199, Span::NONE, message).help("please report this kernel")
}

/// Code that is too large, most of it for an operation of this many instructions.
fn large(span: Span, instructions: usize) -> Diagnostic {
    let message = format!("the kernel's code is larger than {} MiB", ptx::MAX_TEXT >> 20);
    let most = format!("this operation alone expands to {instructions} instructions or more per thread");
    let help = "let a thread hold fewer elements: take smaller tiles, or more warps by `num_warps = ..`";
    Diagnostic::new(Code::T0126, span, message).note(most).help(help)
}

/// More shared memory than a block of the target has, most of it for one operation. `staged` if a loop asked for stages: no ring is made
/// otherwise where it does not fit.
fn shared_memory(target: Target, staged: bool, span: Span, needed: u64, largest: u64) -> Diagnostic {
    let (name, limit) = (target.name(), target.shared_bytes());
    let message = format!("the kernel needs {needed} bytes of shared memory; a block has at most {limit} on {name}");
    let most = format!("this operation alone passes {largest} bytes between threads");
    let help = if staged {
        "take smaller tiles, or load nothing ahead by `#[stages(1)]`"
    } else {
        "take smaller tiles, or fewer warps by `num_warps = ..`"
    };
    Diagnostic::new(Code::T0130, span, message).note(most).help(help)
}

/// The warning that tiles of a function at stage 2 do not fit the registers of a thread.
fn spills(func: &Function, env: &Env) -> Option<Diagnostic> {
    let facts = axis::analyse(func, env.specialization);
    let Spills { needed, limit, more_warps, span } = spills::spills(func, &facts, env.target)?;
    let (bound, help) = match func.max_registers {
        Some(most) if most == limit => {
            (format!("max_registers = {most}"), "take smaller tiles, or a higher `max_registers`")
        }
        Some(_) | None if more_warps => {
            (format!("num_warps = {}", func.num_warps), "take smaller tiles, or more warps")
        }
        Some(_) | None => (format!("num_warps = {}", func.num_warps), "take smaller tiles"),
    };
    let message = format!(
        "the tiles that are live here need {needed} registers of a thread, which has at most {limit} with `{bound}`: some are spilled to local memory"
    );
    Some(Diagnostic::new(Code::W0005, span, message).help(help))
}

/// Code for every target of a function, from optimised IR at stage 0; of each target one image for each specialization, the
/// strongest first. One that changes nothing gets none.
///
/// # Errors
/// Code that is too large, more shared memory than a block has, or an internal compiler error.
pub fn images(func: &Function) -> Result<Vec<Image>, Diagnostic> {
    images_with(func, &mut |_| {})
}

/// The same with an observer, as that of [`passes::run_with`]. It is told `lower` before PTX is generated and `print` before it is
/// printed, too.
///
/// # Errors
/// As [`images`].
pub fn images_with(func: &Function, observer: &mut dyn FnMut(&'static str)) -> Result<Vec<Image>, Diagnostic> {
    code(func, observer).map(|(images, _)| images)
}

/// Whether code for a target and a specialization can be better than that for a more general target. What the targets
/// that run on few devices have beyond the others is for products and for 16-bit floats, in views whose rows begin
/// aligned, for sums in memory that take vectors, and for rows that one block cannot keep.
fn is_profitable(func: &Function, target: Target, specialization: Specialization) -> bool {
    if partition::blocks(func, target) > 1 {
        return true;
    }
    let narrow = |ty: Type| matches!(ty.elem.num(), Some(DType::F16 | DType::BF16));
    // Without tensor cores a product is the same everywhere.
    let multiplies = |op: &Op| {
        let Op::Dot { kind, a, .. } = *op else { return false };
        kind == DotKind::Tf32 || func.ty(a).elem != Elem::Num(DType::F32)
    };
    let values = || func.walk().into_iter().flat_map(|inst| func.insts[inst].results.iter());
    specialization >= Specialization::Aligned16
        && (func.contains(func.body, multiplies)
            || values().any(|&v| narrow(func.ty(v)))
            || adds_more_at_once(func, target, specialization))
}

/// Whether an atomic update takes more elements by one instruction of a target than by those of every one.
fn adds_more_at_once(func: &Function, target: Target, specialization: Specialization) -> bool {
    if !func.contains(func.body, |op| matches!(op, Op::Atomic { .. })) {
        return false;
    }
    let (facts, used) = (axis::analyse(func, specialization), func.used());
    func.walk().into_iter().any(|inst| {
        let InstData { op, results, .. } = &func.insts[inst];
        let is_used = results.iter().any(|&result| used[result]);
        let [here, everywhere] =
            [target, Target::LEAST].map(|target| axis::update_width(func, &facts, target.info(), (op, is_used)));
        here > everywhere
    })
}

/// The images that a function may have for a target, from this specialization to the most. The first of a specialization says whether
/// the others are worth code ([`is_another`]).
fn variants(func: &Function, target: Target, least: Specialization) -> Vec<Env> {
    let alone = !func.targets.has_fallback(target);
    let worth = |&specialization: &Specialization| {
        specialization >= least && (alone || is_profitable(func, target, specialization))
    };
    let mut specializations: Vec<Specialization> = Specialization::ALL.iter().copied().filter(worth).collect();
    // What promises no more of any parameter gives the same code.
    specializations.dedup_by_key(|&mut specialization| promises(func, specialization));
    let modes = |specialization| {
        let several = Env::new(target, specialization);
        // Where fewer programs are launched than blocks are resident, each of these runs one.
        let one = Env { persistent: false, ..several };
        // What multicast peers share is worth more than the extents of views: a launch that promises these, too, prefers this image.
        let peers = Env { multicast: true, ..one };
        [several, one].into_iter().chain((specialization == Specialization::Aligned16).then_some(peers))
    };
    specializations.into_iter().flat_map(modes).collect()
}

/// What a specialization promises of each parameter.
fn promises(func: &Function, specialization: Specialization) -> Vec<Promise> {
    func.params.iter().map(|p: &Param| p.promised.under(specialization, func.ty(p.value).elem)).collect()
}

/// Whether code for a variant may differ from that for the first one of its specialization, which is made of this function at stage 2.
fn is_another(env: &Env, first: &Function) -> bool {
    if env.multicast { first.raster.is_some() } else { first.is_persistent() }
}

/// The images, and whether the strongest of the most general target spills. Other orders than the first have those that assume most: with
/// less, the order gains little.
fn code(
    func: &Function,
    observer: &mut dyn FnMut(&'static str),
) -> Result<(Vec<Image>, Option<Diagnostic>), Diagnostic> {
    let (mut images, spilled) = code_in_order(func, Specialization::Generic, observer)?;
    for order in 1..func.orders() {
        let (mut others, _) = code_in_order(&func.in_order(order), Specialization::Divisible16, observer)?;
        others.iter_mut().for_each(|image| image.order = order);
        images.append(&mut others);
    }
    Ok((images, spilled))
}

/// The same in one order, for this specialization and those above it.
fn code_in_order(
    func: &Function,
    least: Specialization,
    observer: &mut dyn FnMut(&'static str),
) -> Result<(Vec<Image>, Option<Diagnostic>), Diagnostic> {
    let (mut images, mut spilled) = (Vec::new(), None);
    // What is known of layouts is so for each image.
    let mut layouts = Layouts::default();
    // The most general one first: what does not fit it is said of it.
    for target in func.targets.iter().rev() {
        let mut of_target: Vec<(Env, Image)> = Vec::new();
        let mut first: Option<(Env, Function)> = None;
        let mut placed = Cow::Borrowed(func);
        let (mut ones, mut specialised) = (vec![false; func.params.len()], Cow::Borrowed(func));
        for env in variants(func, target, least) {
            let beside = first.as_ref().filter(|(of, _)| of.specialization == env.specialization);
            if beside.is_some_and(|(_, first)| !is_another(&env, first)) {
                continue;
            }
            // What has the same constants has the same IR.
            let is_one = |promise| promise == Promise::One;
            let now: Vec<bool> = promises(func, env.specialization).into_iter().map(is_one).collect();
            if ones != now {
                let mut constant = func.clone();
                passes::run_with(passes::SPECIALISE, &mut constant, &env, observer).map_err(mistake)?;
                (ones, specialised) = (now, Cow::Owned(constant));
            }
            let is_first = beside.is_none();
            // Layouts are for a target and a specialization, however many programs a block runs.
            if is_first {
                placed = Cow::Owned(laid_out(&specialised, std::mem::take(&mut layouts), &env, observer)?);
            }
            let (made, synchronized) = image(&specialised, &placed, &env, observer)?;
            // Peers that share nothing are none.
            if env.multicast == (synchronized.peers > 1) {
                of_target.push((env, made));
            }
            if is_first {
                layouts = synchronized.layouts.clone();
                first = Some((env, synchronized));
            }
        }
        // In the order in which a launch prefers them.
        of_target.sort_by_key(|(env, _)| Reverse((env.multicast, env.specialization, env.persistent)));
        if images.is_empty() {
            spilled = first.and_then(|(env, func)| spills(&func, &env));
        }
        images.splice(0..0, of_target.into_iter().map(|(_, image)| image));
    }
    Ok((without_copies(images), spilled))
}

/// Without each image whose code is that of the one which a launch takes without it: the next that assumes no more. Their first lines may
/// differ.
fn without_copies(images: Vec<Image>) -> Vec<Image> {
    let mut kept: Vec<Image> = Vec::new();
    for image in images.into_iter().rev() {
        let instead = kept.iter().rev().find(|other| other.specialization <= image.specialization);
        if !instead.is_some_and(|other| is_copy(&image, other)) {
            kept.push(image);
        }
    }
    kept.reverse();
    kept
}

fn is_copy(image: &Image, other: &Image) -> bool {
    let texts = [image.text(), other.text()];
    let [code, others] = texts.each_ref().map(|text| text.find(".visible").map(|at| &text[at..]));
    code == others
}

/// The layouts of a function at stage 0 for a target and a specialization, line by line with their cost; see
/// [`passes::layouts::place::explain`]. A last line names the tiles that do not fit the registers of a thread, if there are any.
///
/// # Errors
/// An internal compiler error.
pub fn explain(func: &Function, target: Target, specialization: Specialization) -> Result<String, String> {
    explain_launch(func, target, specialization, None)
}

/// The same for the arguments of a launch, which say how often loops run.
///
/// # Errors
/// An internal compiler error.
pub fn explain_launch(
    func: &Function,
    target: Target,
    specialization: Specialization,
    args: Option<&[Arg]>,
) -> Result<String, String> {
    let mut func = func.clone();
    passes::run(passes::OPTIMISE, &mut func, &Env::portable())?;
    let env = Env::new(target, specialization);
    let mut explained = passes::explain_launch(&func, &env, args)?;
    passes::run(passes::SPECIALISE, &mut func, &env)?;
    passes::run_lists(&passes::PER_IMAGE, &mut func, &env, &mut |_| {})?;
    if let Some(spilled) = spills(&func, &env) {
        let at = func.sources.describe(spilled.span).map_or(String::new(), |at| format!(" @{at}"));
        explained += &format!("{}{at}\n", spilled.message);
    }
    Ok(explained)
}

/// Prices of a register at which layouts are assigned again where they do not fit.
const DEARER: [u32; 2] = [10, 100];

/// A specialised function at stage 1.
fn laid_out(
    func: &Function,
    layouts: Layouts,
    env: &Env,
    observer: &mut dyn FnMut(&'static str),
) -> Result<Function, Diagnostic> {
    let mut func = Function { layouts, ..func.clone() };
    passes::run_with(passes::LAY_OUT, &mut func, env, observer).map_err(mistake)?;
    Ok(func)
}

/// What a function at stage 1 becomes at stage 2, and its code.
fn lowered(
    mut func: Function,
    env: &Env,
    observer: &mut dyn FnMut(&'static str),
) -> Result<(Function, ptx::Kernel), Diagnostic> {
    let Env { target, specialization, .. } = *env;
    passes::run_with(passes::SYNCHRONIZE, &mut func, env, observer).map_err(mistake)?;
    observer("lower");
    let kernel = generated(&func, target, specialization)?;
    Ok((func, kernel))
}

fn generated(func: &Function, target: Target, specialization: Specialization) -> Result<ptx::Kernel, Diagnostic> {
    ptx::lower::lower(func, target, specialization).map_err(|error| match error {
        LowerError::Large(span, instructions) => large(span, instructions),
        LowerError::SharedMemory { needed, largest, span } => {
            shared_memory(target, !func.rings.is_empty(), span, needed, largest)
        }
        LowerError::Mistake(message) => mistake(message),
    })
}

/// The image of a function at stage 2 as it is, be it with mistakes: for tests of what finds them.
///
/// # Errors
/// There is no code for it.
pub fn image_of(func: &Function, target: Target, specialization: Specialization) -> Result<Image, Diagnostic> {
    printed(func, generated(func, target, specialization)?, &Env::new(target, specialization))
}

/// The image of a specialised function, and the function at stage 2 that it is made of. `placed` is the function at stage 1, with
/// layouts of the least cost.
fn image(
    stage_0: &Function,
    placed: &Function,
    env: &Env,
    observer: &mut dyn FnMut(&'static str),
) -> Result<(Image, Function), Diagnostic> {
    let (mut func, mut kernel) = lowered(placed.clone(), env, observer)?;
    let limit = spills::of_function(&func, env.target).min(func.max_registers.unwrap_or(u32::MAX));
    // Layouts of fewer registers are looked for only where those of the least cost do not fit.
    let mut before = Cow::Borrowed(placed);
    for register_price in DEARER {
        if kernel.pressure <= limit {
            break;
        }
        let dearer = Env { register_price, ..*env };
        let now = laid_out(stage_0, before.layouts.clone(), &dearer, observer)?;
        let is_same = now.types.keys().all(|v| before.place_of[v] == now.place_of[v]);
        before = Cow::Owned(now);
        if is_same {
            continue;
        }
        let (other, code) = lowered(Function::clone(&before), &dearer, observer)?;
        // The estimate is of all registers; what is said to spill certainly does.
        let spills_more = spills(&other, env).is_some() && spills(&func, env).is_none();
        if code.pressure < kernel.pressure && !spills_more {
            (func, kernel) = (other, code);
        }
    }
    observer("print");
    Ok((printed(&func, kernel, env)?, func))
}

/// The image of a kernel that is made of a function at stage 2.
fn printed(func: &Function, kernel: ptx::Kernel, env: &Env) -> Result<Image, Diagnostic> {
    let mut text = ptx::text::print::print(&kernel);
    if text.len() > ptx::MAX_TEXT {
        let (instructions, span) = kernel.largest;
        return Err(large(span, instructions));
    }
    text.push('\0');
    Ok(Image::new(
        env.target,
        env.specialization,
        0,
        kernel.entry.into(),
        text.into(),
        kernel.version,
        func.block_threads(),
        [func.blocks_of_cluster(), 1, 1],
        kernel.shared_bytes,
        kernel.report,
        axis::assumes_dividends(func, env.specialization),
        kernel.programs,
        pressure::wanted_blocks(func, env.target),
        func.max_registers,
        kernel.maps.into(),
    ))
}
