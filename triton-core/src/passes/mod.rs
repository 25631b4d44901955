//! The passes and their order.
//!
//! A pass is a function in a file of its own; its module docs state the pattern before and after, what it requires and
//! what it guarantees. [`OPTIMISE`], [`SPECIALISE`], [`LAY_OUT`] and [`SYNCHRONIZE`] are the pipeline, by the stages they lead to.
//!
//! **Invariant:** passes never see PTX, and the interpreter gives the same result before and after each of them; but for [`RELAX`], which
//! is before all of them, and what a kernel with `fast_math` means.

pub mod layouts;
pub mod memory;
pub mod values;

use self::layouts::{partition, place, split};
use self::memory::{allocate, exchange, map_programs, multicast, persist, schedule, stage_rows, sync, wait};
use self::values::{combine, cse, dce, fold, induct, licm, orient, relax, sink, specialise};
use crate::ir::{Function, verify};
use crate::metadata::{Arg, Specialization, Target};

/// What passes may ask about the code that is made, beside the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Env {
    /// What the code is for.
    pub target: Target,
    /// What it may assume of the arguments.
    pub specialization: Specialization,
    /// The price of a register in layout assignment, in that of the cost table: higher where layouts have been found that do not fit.
    pub register_price: u32,
    /// Whether a block may run several programs one after the other, where [`persist`] can tell how.
    pub persistent: bool,
    /// Whether multicast peers may share what they load, as a cluster: see [`multicast`].
    pub multicast: bool,
    /// Whether the function is verified after each pass, and not only after the last one of a list: to find the pass that broke it.
    pub verify: bool,
}

impl Env {
    /// A target and a specialization.
    pub const fn new(target: Target, specialization: Specialization) -> Env {
        Env { target, specialization, register_price: 1, persistent: true, multicast: false, verify: false }
    }

    /// That of [`OPTIMISE`], whose result is for every target and every launch.
    pub const fn portable() -> Env {
        Env::new(Target::LEAST, Specialization::Generic)
    }

    /// The same, verified after each pass.
    pub const fn verified(self) -> Env {
        Env { verify: true, ..self }
    }
}

/// A pass, by the name that tests and dumps use.
pub struct Pass {
    /// The name.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// The pass.
    pub run: fn(&mut Function, &Env) -> Result<(), String>,
}

macro_rules! passes {
    ($($name:ident: $doc:literal, $run:expr;)*) => { &[$(Pass { name: stringify!($name), doc: $doc, run: $run }),*] };
}

/// Stage 0, on what the checker made: what is embedded.
pub const RELAX: &[Pass] = passes! {
    relax: "contracts and divides as `fast_math` allows", |func, _| relax::relax(func);
};

/// Stage 0, in the order in which they run: what holds for every target and every launch.
pub const OPTIMISE: &[Pass] = passes! {
    fold: "evaluates compile-time constants", |func, _| { fold::fold(func); Ok(()) };
    combine: "simplifies operations on the results of others", |func, _| combine::combine(func);
    cse: "eliminates common subexpressions", |func, _| { cse::cse(func); Ok(()) };
    licm: "hoists loop invariants", |func, _| { licm::licm(func); Ok(()) };
    induct: "derives stepped pointers from the loop's counter", |func, _| induct::induct(func);
    orient: "turns accesses along memory", |func, _| orient::orient(func);
    dce: "removes dead code", |func, _| { dce::dce(func); Ok(()) };
    sink: "moves widening casts to their first use", |func, _| { sink::sink(func); Ok(()) };
};

/// Stage 0 still, for a specialization.
pub const SPECIALISE: &[Pass] = passes! {
    specialise: "applies the facts of a specialization", specialise::specialise;
};

/// Stage 0 → 1: which blocks, then which threads have which elements, for a target and a specialization.
pub const LAY_OUT: &[Pass] = passes! {
    partition: "partitions rows and products among the blocks of a cluster", partition::partition;
    place: "assigns a layout to every tile", place::place;
    split: "splits reductions between warps", |func, _| split::split(func);
};

/// Stage 1 → 2: exchanges through shared memory, the order of programs, loads ahead of their use, how many programs a
/// block or a cluster runs, barriers, and where the memory is.
pub const SYNCHRONIZE: &[Pass] = passes! {
    exchange: "lowers exchanges between threads to shared memory", exchange::exchange;
    map_programs: "maps blocks to programs", |func, env| { map_programs::map_programs(func, env); Ok(()) };
    schedule: "fills rings ahead of products", schedule::schedule;
    stage_rows: "copies rows ahead of reductions", stage_rows::stage_rows;
    persist: "runs several programs a block", persist::persist;
    multicast: "shares tiles between multicast peers", |func, _| multicast::multicast(func);
    wait: "waits for products when their sums are taken", |func, _| { wait::wait(func); Ok(()) };
    sync: "writes barriers", sync::sync;
    allocate: "allocates shared memory", |func, env| allocate::allocate(func, env).map(drop);
};

/// The lists that run for each image, from specialised IR of stage 0 to what code is generated from.
pub const PER_IMAGE: [&[Pass]; 2] = [LAY_OUT, SYNCHRONIZE];

/// What an observer of [`run_with`] is told before the function is verified.
pub const VERIFY: &str = "verify";

/// Runs passes, and verifies the function after the last of them, or after each ([`Env::verify`]).
///
/// # Errors
/// The name of the pass that broke the IR, and how: an internal compiler error. Where only the last one is followed by the
/// verifier, a pass before it may be the one.
pub fn run(passes: &[Pass], func: &mut Function, env: &Env) -> Result<(), String> {
    run_with(passes, func, env, &mut |_| {})
}

/// The same with an observer, which is told the name of each pass before it runs, and [`VERIFY`] before the verifier does. It may read
/// the clock, which the compiler does not.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    passes: &[Pass],
    func: &mut Function,
    env: &Env,
    observer: &mut dyn FnMut(&'static str),
) -> Result<(), String> {
    run_lists(&[passes], func, env, observer)
}

/// The same of several lists, one after the other; without [`Env::verify`] the verifier runs after the last one alone.
///
/// # Errors
/// As [`run`].
pub fn run_lists(
    lists: &[&[Pass]],
    func: &mut Function,
    env: &Env,
    observer: &mut dyn FnMut(&'static str),
) -> Result<(), String> {
    lists.iter().try_for_each(|passes| each(passes, func, env, observer))?;
    match lists.iter().rev().find_map(|passes| passes.last()) {
        Some(last) if !env.verify => verified(func, last, observer),
        Some(_) | None => Ok(()),
    }
}

/// Without the verifier at the end, for a pass that runs others.
fn each(passes: &[Pass], func: &mut Function, env: &Env, observer: &mut dyn FnMut(&'static str)) -> Result<(), String> {
    for pass in passes {
        observer(pass.name);
        (pass.run)(func, env).map_err(|message| format!("in `{}`: {message}", pass.name))?;
        if env.verify {
            verified(func, pass, observer)?;
        }
    }
    Ok(())
}

fn verified(func: &Function, after: &Pass, observer: &mut dyn FnMut(&'static str)) -> Result<(), String> {
    observer(VERIFY);
    verify::verify(func).map_err(|errors| {
        let all: Vec<String> = errors.into_iter().map(|e| e.message).collect();
        format!("after `{}`: {}", after.name, all.join("; "))
    })
}

/// Which layouts `place` chooses for optimised IR of stage 0, and their cost: see [`place::explain`]; then the rings of the code, and the
/// order of programs.
///
/// # Errors
/// As [`run`].
pub fn explain(func: &Function, env: &Env) -> Result<String, String> {
    explain_launch(func, env, None)
}

/// The same for the arguments of a launch.
///
/// # Errors
/// As [`run`].
pub fn explain_launch(func: &Function, env: &Env, args: Option<&[Arg]>) -> Result<String, String> {
    let mut func = func.clone();
    run(SPECIALISE, &mut func, env)?;
    let clusters = partition::explain(&func, env.target);
    partition::partition(&mut func, env)?;
    let layouts = place::explain(&func, env, args)?;
    LAY_OUT.iter().chain(SYNCHRONIZE).try_for_each(|pass| (pass.run)(&mut func, env))?;
    Ok(clusters + &layouts + &schedule::explain(&func, env) + &map_programs::explain(&func))
}
