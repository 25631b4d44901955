//! Lowering of what the blocks of a cluster tell one another: messages by `st.async`, and an mbarrier for each buffer that receives some.
//!
//! The barrier of the cluster says no more than that all blocks run, and that their mbarriers are initialized: it is
//! arrived at, relaxed, at the start, and waited for before the first message, so that the loads between hide it. An
//! mbarrier has one phase. It expects the bytes of all blocks' messages before any of them may be sent. The wait for
//! them is relaxed, and a fence for shared memory alone follows: as one, at the scope of a cluster, they would wait for
//! global memory, too. A block ends only after all messages to it have arrived, and so there is no barrier at the end.
//! (PTX ISA, "Asynchronous store", "barrier.cluster", "mapa".)

use crate::ir::Value;
use crate::layout::Mem;
use crate::layout::access;
use crate::layout::linear::apply;
use crate::ops::cluster::Exchange;
use crate::ptx::arithmetic::words::Held;
use crate::ptx::lower::Lower;
use crate::ptx::text::footprint::shared_memory;
use crate::ptx::{Address, Class, Op, Opcode, Operand, Reg, Special, Ty};

impl Lower<'_> {
    /// The block's rank in its cluster.
    pub(crate) fn cluster_rank(&mut self) -> Reg {
        self.once(|entry| &mut entry.rank, &(), |cx| cx.mov(Ty::U32, Operand::Special(Special::ClusterRank)))
    }

    /// Initializes the mbarriers of the buffers that receive messages, behind those of rings, and says that the block runs.
    pub(crate) fn cluster_arrive(&mut self) -> Result<(), String> {
        let func = self.func;
        let rings: u64 = func.rings.keys().map(|ring| func.mbarrier_bytes(ring)).sum();
        let mut at = (shared_memory(func).0.next_multiple_of(8) + rings) as u32;
        let base = self.mov(Ty::U32, Operand::Special(Special::Shared));
        let one = self.one_thread();
        for &buffer in &func.mailboxes() {
            self.emit_if(one, Op::MbarrierInit { address: Address { base, offset: at as i32 }, count: 1 });
            self.buffers.put_mailbox(buffer, at);
            at += 8;
        }
        self.buffers.reach(at);
        self.emit_if(one, Op::FenceMbarrierInit);
        for buffer in func.mailboxes() {
            let address = Address { base, offset: self.mailbox(buffer)? };
            let bytes = func.mem(buffer).map_or(0, Mem::bytes) as u32;
            self.emit_if(one, Op::MbarrierExpectTx { address, bytes });
        }
        self.emit(Op::ClusterArrive);
        Ok(())
    }

    fn mailbox(&self, buffer: Value) -> Result<i32, String> {
        self.buffers.mailbox(buffer).map(|at| at as i32).ok_or_else(|| format!("{buffer} receives no messages"))
    }

    /// Sends a tile's parts to the blocks. Of threads that hold the same element one sends it; where all lanes of a
    /// warp do, each lane sends to another block.
    pub(crate) fn cluster_send(&mut self, buffer: Value, value: Value, axis: u32) -> Result<(), String> {
        let func = self.func;
        let (tile, result) = (func.ty(value).shape, func.ty(buffer).shape);
        let exchange = Exchange::of(tile, result, axis).ok_or("messages of other tiles")?;
        let (layout, mem) = func.layout(value).zip(func.mem(buffer)).ok_or("a tile without a layout")?;
        let part =
            exchange.part_layout(layout, tile, axis).ok_or("a tile whose threads have parts of several blocks")?;
        let of_part = exchange.part_memory(mem).ok_or("a buffer in which blocks' parts are not apart")?;
        let access = access::vector(&part, &of_part).ok_or("a layout that its memory does not fit")?;
        let held = Held::of(func.ty(value).elem);
        let before = self.regs(value).to_vec();
        let before = self.numbers(held, &before);
        // Of which part a register is, beside which element of it.
        let (bits, mut of_receiver, mut own) = (exchange.receiver_bits(), Vec::new(), Vec::new());
        for (bit, &column) in layout.reg.iter().enumerate() {
            if column & bits != 0 { of_receiver.push((column, 1u32 << bit)) } else { own.push(1u32 << bit) }
        }
        of_receiver.sort_unstable();
        let of_receiver: Vec<u32> = of_receiver.into_iter().map(|(_, register)| register).collect();
        // Where this block's part is.
        let bytes = of_part.bytes() as i64;
        let rank = self.cluster_rank();
        let offset = self.arith(Opcode::MulLo, Ty::S32, &[rank.into(), bytes.into()]);
        let addresses = self.addresses_from(buffer, Some(offset), &access, held.bits() / 8, 0);
        let base = self.mov(Ty::U32, Operand::Special(Special::Shared));
        let barrier = self.mailbox(buffer)?;
        let (lanes, warps) = layout.replicated();
        let by_lanes = exchange.blocks - 1;
        if bits == 0 && lanes & by_lanes == by_lanes && by_lanes <= 31 {
            let guard = self.one_of((lanes | warps << 5) & !by_lanes);
            let tid = self.mov(Ty::U32, Operand::Special(Special::Tid));
            let to = self.arith(Opcode::And, Ty::B32, &[tid.into(), i64::from(by_lanes).into()]);
            return self.send(
                guard,
                to.into(),
                (base, barrier),
                &addresses,
                |instruction| access.registers(instruction, 0).map(|r| before[r as usize]).collect(),
                held,
            );
        }
        let guard = self.one_of(lanes | warps << 5);
        for to in 0..exchange.blocks {
            let first = apply(&of_receiver, to);
            self.send(
                guard,
                i64::from(to).into(),
                (base, barrier),
                &addresses,
                |instruction| {
                    access.registers(instruction, 0).map(|r| before[(apply(&own, r) ^ first) as usize]).collect()
                },
                held,
            )?;
        }
        Ok(())
    }

    /// The messages to one block, or of each lane to the block that it says.
    fn send(
        &mut self,
        guard: Option<Reg>,
        to: Operand,
        (base, mailbox): (Reg, i32),
        addresses: &[Address],
        numbers: impl Fn(u32) -> Vec<Reg>,
        held: Held,
    ) -> Result<(), String> {
        let remote = |cx: &mut Self, src: Reg| {
            let dst = cx.reg(Class::B32);
            cx.emit(Op::Mapa { dst, src, rank: to });
            dst
        };
        let barrier = Address { base: remote(self, base), offset: mailbox };
        let mut bases: Vec<(Reg, Reg)> = Vec::new();
        for (instruction, &Address { base, offset }) in (0..).zip(addresses) {
            let known = bases.iter().find(|known| known.0 == base).map(|known| known.1);
            let mapped = known.unwrap_or_else(|| remote(self, base));
            bases.push((base, mapped));
            let numbers = numbers(instruction);
            let (ty, words) = held.words(numbers.len());
            if !matches!(ty, Ty::B32 | Ty::B64) {
                return Err("a message of less than 32 bits".into());
            }
            let srcs = numbers.chunks(numbers.len().div_ceil(words)).map(|some| self.pack_word(held, some)).collect();
            self.emit_if(guard, Op::StAsync { ty, srcs, address: Address { base: mapped, offset }, barrier });
        }
        Ok(())
    }

    /// Every thread waits until all messages to a buffer have arrived.
    pub(crate) fn cluster_receive(&mut self, buffer: Value) -> Result<(), String> {
        let base = self.mov(Ty::U32, Operand::Special(Special::Shared));
        let address = Address { base, offset: self.mailbox(buffer)? };
        let parity = self.mov(Ty::B32, 0);
        self.wait_for_phase(address, parity, true);
        self.emit(Op::FenceMessages);
        Ok(())
    }
}
