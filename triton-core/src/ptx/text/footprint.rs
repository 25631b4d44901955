//! What a kernel takes beside registers: a version of PTX, and shared memory.

use crate::ir::Function;
use crate::metadata::{CLUSTER_PTX, INLINED_PTX, Target, VECTOR_UPDATE_PTX};
use crate::ops;
use crate::ptx::{Inst, Op};
use crate::span::Span;

/// The version of PTX that has all instructions and locations of a kernel: older drivers load what needs no newer one.
pub(crate) fn ptx_version(func: &Function, target: Target, body: &[Inst]) -> (u32, u32) {
    let adds_vectors = |inst: &Inst| matches!(&inst.op, Op::Atomic { dst: None, srcs, .. } if srcs.len() > 1);
    let is_inlined = |inst: &Inst| func.sources.call(inst.span).is_some();
    let needed = [
        (func.blocks_of_cluster() > 1, CLUSTER_PTX),
        (body.iter().any(adds_vectors), VECTOR_UPDATE_PTX),
        (body.iter().any(is_inlined), INLINED_PTX),
    ];
    let needed = needed.into_iter().filter(|&(is_needed, _)| is_needed);
    needed.map(|(_, version)| version).fold(target.info().ptx_version, Ord::max)
}

/// Bytes that all buffers take together, with what the slots of rings need; the bytes of the largest one, and the operation that it is for.
pub(crate) fn shared_memory(func: &Function) -> (u64, u64, Span) {
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
