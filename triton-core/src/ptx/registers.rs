//! Which registers an instruction reads and writes, whether it accesses shared memory, and the removal of instructions whose results nothing reads.

use super::{Inst, Op, Opcode, Operand, Reg};

impl Op {
    /// Calls `f` with each register that is read, without the guard.
    pub fn for_each_read(&self, mut f: impl FnMut(Reg)) {
        let mut operand = |operand: &Operand| match *operand {
            Operand::Reg(reg) => f(reg),
            Operand::Int(_) | Operand::Special(_) | Operand::Outer(..) => {}
        };
        match self {
            Op::Mov { src, .. } => operand(src),
            Op::MbarrierInit { address, .. }
            | Op::MbarrierExpectTx { address, .. }
            | Op::MbarrierArriveRelaxed { address } => f(address.base),
            Op::MbarrierTryWait { address, parity, .. } => {
                [address.base, *parity].into_iter().for_each(f);
            }
            Op::BulkLoad { dst, map, coordinates, barrier, .. } => {
                [dst.base, *map, barrier.base].into_iter().chain(coordinates.iter().copied()).for_each(f);
            }
            Op::Mapa { src, rank, .. } => {
                operand(rank);
                f(*src);
            }
            Op::StAsync { srcs, address, barrier, .. } => {
                srcs.iter().copied().chain([address.base, barrier.base]).for_each(f);
            }
            Op::Pack { lo, hi, .. } => [*lo, *hi].into_iter().for_each(f),
            Op::Unpack { src, .. }
            | Op::Cvt { src, .. }
            | Op::ToGlobal { src, .. }
            | Op::FromGlobal { src, .. }
            | Op::FromLocal { src, .. }
            | Op::FromParam { src, .. }
            | Op::ShflBfly { src, .. }
            | Op::StLocal { src, .. } => f(*src),
            Op::Prmt { a, b, .. } => {
                operand(b);
                f(*a);
            }
            Op::Arith { srcs, .. } => srcs.as_slice().iter().for_each(operand),
            Op::Setp { a, b, .. } => [a, b].into_iter().for_each(operand),
            Op::Selp { a, b, pred, .. } => {
                [a, b].into_iter().for_each(operand);
                f(*pred);
            }
            Op::Ld { address, .. }
            | Op::LdRelaxed { address, .. }
            | Op::LdShared { address, .. }
            | Op::LdMatrix { address, .. } => f(address.base),
            Op::St { srcs, address, .. } | Op::Atomic { srcs, address, .. } | Op::StShared { srcs, address, .. } => {
                srcs.iter().copied().chain([address.base]).for_each(f);
            }
            Op::ShflIdx { src, lane, .. } => {
                operand(lane);
                f(*src);
            }
            Op::CpAsync { dst, src, in_bounds, .. } => [dst.base, src.base, *in_bounds].into_iter().for_each(f),
            Op::StMatrix { srcs, address, .. } => srcs.iter().copied().chain([address.base]).for_each(f),
            Op::Wgmma { d, a, b, .. } => d.iter().chain(a).copied().chain([*b]).for_each(f),
            Op::Mma { a, b, c, .. } => a.iter().chain(b).chain(c).copied().for_each(f),
            Op::Bra { pred, .. } => pred.iter().copied().for_each(f),
            Op::StVolatile { srcs, address } => srcs.iter().copied().chain([*address]).for_each(f),
            Op::Printf { format, list } => [*format, *list].into_iter().for_each(f),
            Op::LdParam { .. }
            | Op::Label { .. }
            | Op::CpAsyncCommit
            | Op::CpAsyncWait { .. }
            | Op::WgmmaFence
            | Op::WgmmaCommit
            | Op::WgmmaWait { .. }
            | Op::FenceAcqRel
            | Op::FenceProxyAsync
            | Op::FenceMbarrierInit
            | Op::FenceMessages
            | Op::FenceRelease
            | Op::ClusterArrive
            | Op::ClusterWait
            | Op::Elect { .. }
            | Op::BarSync
            | Op::BarWarpSync
            | Op::Ret
            | Op::MembarSys
            | Op::Trap => {}
        }
    }

    /// Calls `f` with each register that is written.
    pub fn for_each_write(&self, mut f: impl FnMut(Reg)) {
        match self {
            Op::Mov { dst, .. }
            | Op::Pack { dst, .. }
            | Op::Prmt { dst, .. }
            | Op::Arith { dst, .. }
            | Op::Setp { dst, .. }
            | Op::Selp { dst, .. }
            | Op::Cvt { dst, .. }
            | Op::LdParam { dst, .. }
            | Op::ToGlobal { dst, .. }
            | Op::FromGlobal { dst, .. }
            | Op::FromLocal { dst, .. }
            | Op::FromParam { dst, .. }
            | Op::LdRelaxed { dst, .. }
            | Op::MbarrierTryWait { pred: dst, .. }
            | Op::Elect { pred: dst }
            | Op::Mapa { dst, .. }
            | Op::ShflBfly { dst, .. }
            | Op::ShflIdx { dst, .. } => f(*dst),
            Op::Unpack { lo, hi, .. } => [*lo, *hi].into_iter().for_each(f),
            Op::Ld { dsts, .. }
            | Op::LdShared { dsts, .. }
            | Op::LdMatrix { dsts, .. }
            | Op::Mma { d: dsts, .. }
            | Op::Wgmma { d: dsts, .. } => {
                dsts.iter().copied().for_each(f);
            }
            Op::Atomic { dst, .. } => dst.iter().copied().for_each(f),
            Op::St { .. }
            | Op::StShared { .. }
            | Op::Label { .. }
            | Op::Bra { .. }
            | Op::CpAsync { .. }
            | Op::CpAsyncCommit
            | Op::CpAsyncWait { .. }
            | Op::WgmmaFence
            | Op::WgmmaCommit
            | Op::WgmmaWait { .. }
            | Op::FenceAcqRel
            | Op::FenceProxyAsync
            | Op::StMatrix { .. }
            | Op::MbarrierInit { .. }
            | Op::FenceMbarrierInit
            | Op::MbarrierExpectTx { .. }
            | Op::BulkLoad { .. }
            | Op::MbarrierArriveRelaxed { .. }
            | Op::StAsync { .. }
            | Op::FenceMessages
            | Op::FenceRelease
            | Op::ClusterArrive
            | Op::ClusterWait
            | Op::BarSync
            | Op::BarWarpSync
            | Op::Ret
            | Op::StVolatile { .. }
            | Op::MembarSys
            | Op::Trap
            | Op::StLocal { .. }
            | Op::Printf { .. } => {}
        }
    }

    /// Whether it does nothing but write registers. A division is not: the simulator reports one by zero.
    fn is_pure(&self) -> bool {
        match self {
            Op::Arith { op, .. } => !matches!(op, Opcode::Div | Opcode::Rem),
            Op::Mov { .. }
            | Op::Pack { .. }
            | Op::Unpack { .. }
            | Op::Prmt { .. }
            | Op::Setp { .. }
            | Op::Selp { .. }
            | Op::Cvt { .. }
            | Op::LdParam { .. }
            | Op::ToGlobal { .. }
            | Op::FromGlobal { .. }
            | Op::FromLocal { .. }
            | Op::Mapa { .. }
            | Op::FromParam { .. } => true,
            Op::Ld { .. }
            | Op::LdRelaxed { .. }
            | Op::St { .. }
            | Op::Atomic { .. }
            | Op::LdShared { .. }
            | Op::StShared { .. }
            | Op::LdMatrix { .. }
            | Op::ShflBfly { .. }
            | Op::ShflIdx { .. }
            | Op::Mma { .. }
            | Op::Label { .. }
            | Op::Bra { .. }
            | Op::CpAsync { .. }
            | Op::CpAsyncCommit
            | Op::CpAsyncWait { .. }
            | Op::MbarrierInit { .. }
            | Op::FenceMbarrierInit
            | Op::MbarrierExpectTx { .. }
            | Op::MbarrierTryWait { .. }
            | Op::Elect { .. }
            | Op::StAsync { .. }
            | Op::FenceMessages
            | Op::FenceRelease
            | Op::ClusterArrive
            | Op::ClusterWait
            | Op::BulkLoad { .. }
            | Op::MbarrierArriveRelaxed { .. }
            | Op::Wgmma { .. }
            | Op::WgmmaFence
            | Op::WgmmaCommit
            | Op::WgmmaWait { .. }
            | Op::FenceAcqRel
            | Op::FenceProxyAsync
            | Op::StMatrix { .. }
            | Op::BarSync
            | Op::BarWarpSync
            | Op::Ret
            | Op::StVolatile { .. }
            | Op::MembarSys
            | Op::Trap
            | Op::StLocal { .. }
            | Op::Printf { .. } => false,
        }
    }
}

/// How often each register is read, by class and number.
struct Reads([Vec<i32>; 4]);

impl Reads {
    fn of(&self, reg: Reg) -> i32 {
        self.0[reg.class as usize].get(reg.index as usize).copied().unwrap_or(0)
    }

    fn add(&mut self, reg: Reg, more: i32) {
        if let Some(count) = self.0[reg.class as usize].get_mut(reg.index as usize) {
            *count += more;
        }
    }
}

/// Removes instructions that write registers which nothing reads, and then those that only they have read.
pub(super) fn remove_dead(body: &mut Vec<Inst>, registers: [u32; 4]) {
    let mut reads = Reads(registers.map(|count| vec![0; count as usize]));
    for inst in &*body {
        inst.op.for_each_read(|reg| reads.add(reg, 1));
        inst.guard.iter().for_each(|&guard| reads.add(guard, 1));
    }
    // What is read follows what writes it, but for what a loop carries, which stays.
    let mut kept = vec![true; body.len()];
    for (inst, kept) in body.iter().zip(&mut kept).rev() {
        let mut is_read = false;
        inst.op.for_each_write(|reg| is_read |= reads.of(reg) > 0);
        if is_read || !inst.op.is_pure() {
            continue;
        }
        *kept = false;
        inst.op.for_each_read(|reg| reads.add(reg, -1));
        inst.guard.iter().for_each(|&guard| reads.add(guard, -1));
    }
    let mut kept = kept.into_iter();
    body.retain(|_| kept.next().unwrap_or(true));
}
