//! Reports as text: one line each, the source location first.

use crate::faults::{AccessKind, Fault, MbarrierProblem, Repeats, Report, Space, Wait};
use std::fmt;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, line, column)) = &self.site.source {
            write!(f, "{file}:{line}:{column}: ")?;
        }
        let Report { fault, kernel, site, block: [x, y, z], warp, lane, repeats } = self;
        write!(f, "kernel `{kernel}`, block ({x}, {y}, {z}), warp {warp}, lane {lane}: {fault}; ")?;
        write!(f, "at `{}`, {}:{} of the PTX{repeats}", site.short(), site.pos.line, site.pos.column)
    }
}

impl fmt::Display for Repeats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Repeats { times, instructions, blocks } = *self;
        if times == 0 {
            return Ok(());
        }
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        write!(f, "; found {times} time{} more", plural(times))?;
        if instructions > 0 {
            let plural = plural(instructions.into());
            write!(f, ", in {instructions} other instruction{plural} of this source location")?;
        }
        if blocks > 0 {
            write!(f, ", in {blocks} other block{}", plural(blocks.into()))?;
        }
        Ok(())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::OutOfBounds { space, address, bytes, access, near } => {
                write!(f, "{access} of {bytes} bytes of {space} memory at {address:#x}, outside every allocation")?;
                if near.is_empty() { Ok(()) } else { write!(f, ": {near}") }
            }
            Fault::UseAfterFree { address, bytes, access } => {
                write!(f, "{access} of {bytes} bytes at {address:#x}, which were freed")
            }
            Fault::Misaligned { space, address, needed } => {
                write!(f, "the address {address:#x} in {space} memory is not a multiple of {needed}")
            }
            Fault::UninitializedRegister { register } => write!(f, "`{register}` is read, but was never written"),
            Fault::UninitializedMemory { space, address } => {
                write!(f, "{space} memory at {address:#x} is read, but was never written")
            }
            Fault::Race { space, address, access, other, site, thread: ([x, y, z], warp, lane) } => write!(
                f,
                "a race at {address:#x} of {space} memory: nothing orders this {access} and the {other} by block \
                 ({x}, {y}, {z}), warp {warp}, lane {lane} in {site}"
            ),
            Fault::ProxyFence { space, address, site } => write!(
                f,
                "the async proxy uses {space} memory at {address:#x}, and no proxy fence follows its write in {site}"
            ),
            Fault::ReadOnly { address, access, other, site, thread: ([x, y, z], warp, lane) } => write!(
                f,
                "{access} of global memory at {address:#x} and {other} by block ({x}, {y}, {z}), warp {warp}, lane {lane} in \
                 {site}: what a launch writes must not be read with `.nc`; use a plain `ld.global`"
            ),
            Fault::Divergence { here, needed, why } => {
                write!(f, "lanes {needed:#010x} must be together, but only {here:#010x} are: {why}")
            }
            Fault::Barrier { barrier, problem } => write!(f, "barrier {barrier}: {problem}"),
            Fault::Mbarrier { address, problem } => write!(f, "the mbarrier at {address:#x} {problem}"),
            Fault::Deadlock { waits } => list(f, "deadlock: no warp can make progress", waits),
            Fault::Livelock { waits } => {
                let what = "a livelock, loops that can never end: registers repeat after some iterations, and no memory changes";
                list(f, what, waits)
            }
            Fault::Limit { option, limit, idle, ran, waits } => {
                let what = format!(
                    "stopped at the limit `{option}` of {limit} warp instructions, with the end unknown: {ran} have run, and of \
                     them {idle} since anything changed that another warp can see; raise `{option}` if the launch ends"
                );
                list(f, &what, waits)
            }
            Fault::RegisterInFlight { register } => {
                write!(f, "`{register}` is in use by an unfinished `wgmma`")
            }
            Fault::Wgmma { problem } => write!(f, "wgmma: {problem}"),
            Fault::Descriptor { bits, problem } => write!(f, "the matrix descriptor {bits:#018x}: {problem}"),
            Fault::TensorMap { problem } => write!(f, "tensor map: {problem}"),
            Fault::UnfinishedAtExit { what } => write!(f, "the block ended without waiting for {what}"),
            Fault::Operand { problem } => write!(f, "an operand: {problem}"),
            Fault::Trap => f.write_str("trap"),
            Fault::Assertion { message } => write!(f, "assertion failed: {message}"),
        }
    }
}

impl fmt::Display for MbarrierProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MbarrierProblem::NotInitialised => f.write_str("is not initialised"),
            MbarrierProblem::InitialisedTwice => f.write_str("is initialised a second time"),
            MbarrierProblem::Overwritten => f.write_str("is accessed by ordinary instructions"),
            MbarrierProblem::Count { count } => write!(f, "has a count of {count}, which is not in 1 to 2^20 - 1"),
            MbarrierProblem::TooManyArrivals { expected } => {
                write!(f, "has more arrivals than the {expected} of its phase")
            }
            MbarrierProblem::Bytes { pending } => write!(f, "expects {pending} bytes, which is out of range"),
            MbarrierProblem::Completes => {
                f.write_str("completes its phase by an arrival with `.noComplete`; the last arrival must be without it")
            }
            MbarrierProblem::NotFenced => f.write_str("is used before `fence.mbarrier_init` makes it visible"),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, what: &str, waits: &[Wait]) -> fmt::Result {
    f.write_str(what)?;
    for (i, Wait { block: [x, y, z], warp, lanes, site, reason }) in waits.iter().enumerate() {
        let separator = if i == 0 { ": " } else { ", " };
        write!(f, "{separator}block ({x}, {y}, {z}), warp {warp}, lanes {lanes:#010x} at {site}: {reason}")?;
    }
    Ok(())
}

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Atomic => "atomic update",
        })
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Param => "parameter",
            Space::Const => "constant",
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::faults::{AccessKind, Fault, MbarrierProblem, Repeats, Report, Site, Space, Wait};
    use crate::parse::ast::Pos;

    fn site(instruction: &str, source: Option<(String, u32, u32)>) -> Site {
        Site { instruction: instruction.into(), pos: Pos { line: 30, column: 2 }, source }
    }

    #[test]
    fn reports_name_their_location() {
        let check = |fault: Fault, source: Option<(String, u32, u32)>, expected: &str| {
            let site = site("st.global.b32 [%rd1], %r1", source);
            let (kernel, repeats) = ("add".into(), Repeats::default());
            let report = Report { fault, kernel, site, block: [1, 2, 0], warp: 3, lane: 4, repeats };
            assert_eq!(report.to_string(), expected);
        };
        let (location, code) =
            ("kernel `add`, block (1, 2, 0), warp 3, lane 4: ", "; at `st.global.b32 [%rd1], %r1`, 30:2 of the PTX");
        check(Fault::Trap, None, &format!("{location}trap{code}"));
        let near = "4 bytes past the end".into();
        let (space, access) = (Space::Global, AccessKind::Write);
        check(
            Fault::OutOfBounds { space, address: 0x1004, bytes: 4, access, near },
            Some(("src/k.rs".into(), 7, 5)),
            &format!(
                "src/k.rs:7:5: {location}write of 4 bytes of global memory at 0x1004, outside every allocation: 4 bytes \
                 past the end{code}"
            ),
        );
        check(
            Fault::Race {
                space: Space::Shared,
                address: 16,
                access,
                other: AccessKind::Read,
                site: site("ld.shared.b32 %r2, [%rd2]", None),
                thread: ([1, 2, 0], 0, 9),
            },
            None,
            &format!(
                "{location}a race at 0x10 of shared memory: nothing orders this write and the read by block (1, 2, 0), warp 0, \
                 lane 9 in `ld.shared.b32 %r2, [%rd2]` at 30:2{code}"
            ),
        );
        let problem = MbarrierProblem::TooManyArrivals { expected: 2 };
        let text = "the mbarrier at 0x8 has more arrivals than the 2 of its phase";
        check(Fault::Mbarrier { address: 8, problem }, None, &format!("{location}{text}{code}"));
        let wait = |warp: u32| {
            let site = site("bar.sync 0", None);
            Wait { block: [0; 3], warp, lanes: 1, site, reason: "3 warps".into() }
        };
        let at = |warp: u32| format!("block (0, 0, 0), warp {warp}, lanes 0x00000001 at `bar.sync 0` at 30:2: 3 warps");
        let text = format!("{location}deadlock: no warp can make progress: {}, {}{code}", at(0), at(1));
        check(Fault::Deadlock { waits: vec![wait(0), wait(1)] }, None, &text);
    }
}
