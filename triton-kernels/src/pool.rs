//! Which instance of a pool a launch runs.

use crate::{Error, Result};

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
    let Some(name) = named else {
        let first = members.iter().position(|member| fits(member.choice()) && member.runs_on(stream));
        // The launch says that there is none, and which there are.
        return Ok(tuned.choose(first.unwrap_or(usize::MAX)));
    };
    let fitting = || members.iter().filter(|member| fits(member.choice())).map(|member| member.choice().to_string());
    if fitting().any(|of| of == name) {
        return Ok(tuned.named(name));
    }
    Err(Error::Instance { op, found: name.to_string(), expected: fitting().collect() })
}
