//! Registers, shared memory and occupancy of an image.

use crate::error::Result;
use crate::inspect::{self, Inspection};
use crate::lines::{At, Line, of_ptx};
use crate::machine_code::{Assembled, Tools};
use crate::roofline::Device;
use serde::Serialize;
use std::path::PathBuf;
use triton_core::metadata::Target;
use triton_core::ops::Op;

/// What a block of an image takes, and how many are resident together.
#[derive(Clone, Debug, Serialize)]
pub struct Resources {
    /// The device that occupancy is of.
    pub machine: &'static str,
    /// Registers of a thread.
    pub registers: u32,
    /// Who counted them.
    pub registers_by: &'static str,
    /// Bytes that a thread spills, if an assembler said.
    pub spill_bytes: Option<u32>,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// What they are for.
    pub shared: Vec<Buffer>,
    /// Blocks that are resident on a multiprocessor.
    pub blocks: u32,
    /// What bounds them.
    pub limited_by: &'static str,
    /// Resident threads of those that there may be.
    pub occupancy: f64,
}

/// A buffer in shared memory.
#[derive(Clone, Debug, Serialize)]
pub struct Buffer {
    name: String,
    what: String,
    first: u64,
    bytes: u64,
    at: Option<At>,
}

/// The resources of an image, and its machine code if there is an assembler.
///
/// # Errors
/// The assembler fails.
pub fn of(inspection: &Inspection<'_>, tools: &Tools) -> Result<(Resources, Option<PathBuf>)> {
    let (image, func) = (inspection.image(), &inspection.scheduled);
    let safe = format!("{}-{}", inspection.kernel, inspect::name(image));
    let assembled = tools.assemble(&image.text(), image.target.name(), &safe)?;
    let (code, cubin) = assembled.unzip();
    let registers = code.map_or(inspection.registers, |code: Assembled| code.registers);
    // What an H100 has, whatever the code is for.
    let (target, info) = (Target::Sm90a, Target::Sm90a.info());
    let (threads, shared) = (image.threads, image.shared_bytes);
    let blocks = target.resident_blocks(threads, registers, shared);
    let limits = [
        ("threads", info.threads / threads),
        ("blocks", info.blocks),
        ("registers", target.blocks_by_registers(threads, registers)),
        ("shared memory", (info.shared_bytes + 1024) / (shared + 1024)),
    ];
    let limited_by = limits.iter().min_by_key(|(_, blocks)| *blocks).map_or("", |(name, _)| name);
    let mut buffers: Vec<Buffer> = Vec::new();
    for (inst, value) in func.buffers() {
        let Op::SharedAlloc { ty, at } = func.insts[inst].op else { continue };
        let what = match func.ring_of(value) {
            Some((ring, _)) => format!("{} slots of {ty}", func.rings[ring].slots),
            None if func.cluster > 1 && func.mailboxes().contains(&value) => format!("messages of {ty}"),
            None => ty.to_string(),
        };
        let place = func.sources.loc(func.insts[inst].span);
        buffers.push(Buffer {
            name: value.to_string(),
            what,
            first: at.unwrap_or(0).into(),
            bytes: func.buffer_bytes(value),
            at: place.map(|loc| (usize::from(loc.file), loc.line, loc.column)),
        });
    }
    buffers.sort_by_key(|buffer| buffer.first);
    let resources = Resources {
        machine: Device::assumed().name,
        registers,
        registers_by: if code.is_some() { "ptxas" } else { "estimate" },
        spill_bytes: code.map(|code| code.spilled),
        threads,
        shared_bytes: shared,
        shared: buffers,
        blocks,
        limited_by,
        occupancy: f64::from(blocks * threads) / f64::from(info.threads),
    };
    Ok((resources, cubin))
}

/// The PTX of an image.
pub fn ptx(inspection: &Inspection<'_>) -> Vec<Line> {
    of_ptx(&inspection.image().text(), &inspection.scheduled.sources.files)
}
