//! What a kernel takes beside registers: a version of PTX, shared memory, and what bulk copies need.

use super::{Inst, Op, Reg};
use crate::ir::{Function, RingId};
use crate::metadata::{CLUSTER_PTX, Target, TensorMap, VECTOR_UPDATE_PTX};
use crate::ops;
use crate::span::Span;
use std::collections::HashMap;

/// What bulk copies need: made at the entry of the kernel.
pub(super) struct Bulk {
    /// Holds in the thread that issues copies.
    pub issuer: Reg,
    /// The address of each map.
    pub maps: HashMap<TensorMap, Reg>,
    /// The first mbarrier of each ring, as an offset in shared memory, and the parities of its slots' phases.
    pub rings: HashMap<RingId, (u32, Reg)>,
    /// Whether the other blocks of the cluster have not been waited for, to whom this one copies.
    pub alone: bool,
}

impl Default for Bulk {
    fn default() -> Bulk {
        Bulk { issuer: Reg::NONE, maps: HashMap::new(), rings: HashMap::new(), alone: false }
    }
}

/// The version of PTX that has all instructions of a kernel: older drivers load what needs no newer one.
pub(super) fn ptx_version(func: &Function, target: Target, body: &[Inst]) -> (u32, u32) {
    let adds_vectors = |inst: &Inst| matches!(&inst.op, Op::Atomic { dst: None, srcs, .. } if srcs.len() > 1);
    match target.info().ptx_version {
        _ if func.blocks_of_cluster() > 1 => CLUSTER_PTX,
        version if body.iter().any(adds_vectors) => version.max(VECTOR_UPDATE_PTX),
        version => version,
    }
}

/// Bytes that all buffers take together, with what the slots of rings need; the bytes of the largest one, and the operation that it is for.
pub(super) fn shared_memory(func: &Function) -> (u64, u64, Span) {
    let (mut total, mut largest, mut span) = (0, 0, Span::NONE);
    for inst in func.walk() {
        let data = &func.insts[inst];
        if let (ops::Op::SharedAlloc { at, .. }, &[buffer]) = (data.op, &data.results[..]) {
            let bytes = func.buffer_bytes(buffer);
            total = total.max(at.map_or(0, u64::from) + bytes);
            if bytes > largest {
                (largest, span) = (bytes, data.span);
            }
        }
    }
    (total, largest, span)
}
