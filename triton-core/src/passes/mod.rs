//! The passes and their order.
//!
//! A pass is a function in a file of its own; its page says the pattern before and after, what it requires and what it
//! guarantees. [`PASSES`] names each for dumps and tests, [`optimise`], [`lay_out`] and
//! [`schedule`] are the pipeline.
//!
//! **Invariant:** passes never see PTX, and the interpreter gives the same result before and after each of them.

pub mod cse;
pub mod dce;
pub mod fold;
pub mod licm;
pub mod pbqp;
pub mod place;
mod products;
pub mod share;
pub mod specialise;
pub mod split;
pub mod sync;

use crate::ir::{Function, verify};
use crate::record::Promise;

/// A pass of stage 0, by the name that tests and dumps use.
pub struct Pass {
    /// The name.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// The pass.
    pub run: fn(&mut Function),
}

/// The passes of stage 0, in the order in which they run.
pub const PASSES: &[Pass] = &[
    Pass { name: "fold", doc: "computes what is known while compiling", run: fold::fold },
    Pass { name: "cse", doc: "computes equal things once", run: cse::cse },
    Pass { name: "licm", doc: "computes before a loop what does not change in it", run: licm::licm },
    Pass { name: "dce", doc: "drops what nothing needs", run: dce::dce },
];

/// Runs [`PASSES`].
///
/// # Errors
/// The name of the pass that broke the IR, and how: a mistake of the compiler.
pub fn optimise(func: &mut Function) -> Result<(), String> {
    for pass in PASSES {
        (pass.run)(func);
        check(func, pass.name)?;
    }
    Ok(())
}

/// Stage 0 → 1: chooses layouts for what the caller promises.
///
/// # Errors
/// As [`optimise`].
pub fn lay_out(func: &mut Function, promise: Promise) -> Result<(), String> {
    if specialise::specialise(func, promise)? {
        optimise(func)?;
    }
    place::place(func, promise)?;
    check(func, "place")?;
    split::split(func)?;
    check(func, "split")
}

/// Stage 1 → 2: what goes through shared memory, and who waits for whom.
///
/// # Errors
/// As [`optimise`].
pub fn schedule(func: &mut Function) -> Result<(), String> {
    share::share(func)?;
    check(func, "share")?;
    sync::sync(func)?;
    check(func, "sync")
}

fn check(func: &Function, pass: &str) -> Result<(), String> {
    verify::verify(func).map_err(|errors| {
        let all: Vec<String> = errors.into_iter().map(|e| e.message).collect();
        format!("after `{pass}`: {}", all.join("; "))
    })
}
