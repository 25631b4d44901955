//! Which instance of a pool a launch runs.

use crate::{Error, Result};

use triton::pool::Member;
use triton::{Choice, Stream, Tuned};

/// Chooses the first member that fits the operands and has code for the stream's device, or the one of a name.
pub(crate) fn choose<'a, S, C: Choice, const N: usize>(
    op: &'static str,
    tuned: Tuned<'a, S, N, C>,
    named: Option<&str>,
    stream: &Stream,
    fits: impl Fn(&C) -> bool,
) -> Result<Tuned<'a, S, N, C>> {
    let members = tuned.pool().members();
    let is_fitting = |member: &Member<C>| fits(member.choice()) && member.runs_on(stream);
    let Some(name) = named else {
        // The launch says that there is none, and which there are.
        return Ok(tuned.choose(members.iter().position(is_fitting).unwrap_or(usize::MAX)));
    };
    let fitting = || members.iter().filter(|member| is_fitting(member)).map(|member| member.choice().to_string());
    if fitting().any(|of| of == name) {
        return Ok(tuned.named(name));
    }
    Err(Error::Instance { op, found: name.to_string(), expected: fitting().collect() })
}
