//! Lowering of atomic updates.
//!
//! Several threads may hold one element: one of them updates it ([`Lower::store_guard`]). If the old value is unused,
//! which is so in most kernels, the update is a `red`, which does not wait, unless it acquires. One `red` may add a vector of neighbours
//! ([`axis::update_width`]), whose elements are updated each by itself.
//!
//! What the target has no instruction for is compared and exchanged until no other update came between. Where nothing is to be
//! changed, nothing is exchanged: most updates of a maximum that many threads share.
//!
//! Of an ordered update, the thread that makes it orders what all threads of the block did before the barrier that
//! [`crate::passes::memory::sync`] puts before it, and after the one behind it: causality is transitive across a
//! barrier of the block (PTX ISA, "Causality order").

use crate::analysis::axis;
use crate::ir::{InstData, Value};
use crate::layout::Layout;
use crate::ops::kinds::AtomicKind;
use crate::ops::{Location, MemoryOrder};
use crate::ptx::arithmetic::elementwise::arith_type;
use crate::ptx::code::emitter::{bits_type, class_of};
use crate::ptx::lower::Lower;
use crate::ptx::memory::view::Tile;
use crate::ptx::{Address, AtomicOp, Cmp, Op, Reg, Ty};
use crate::types::DType;

/// Where the elements are that a thread updates.
struct Elements<'a> {
    to: Location,
    /// Holds in the one thread that updates what several hold.
    once: Option<Reg>,
    /// Of a view.
    tile: Option<Tile<'a>>,
}

impl<'a> Elements<'a> {
    /// The elements at a location, of which each instruction updates this many.
    fn of(cx: &mut Lower<'a>, to: Location, value: Value, width: usize) -> Result<Elements<'a>, String> {
        let once = cx.store_guard(value);
        let tile = match to {
            Location::Pointers { .. } => None,
            Location::View { .. } => {
                let layout = cx.func.layout_id(value).ok_or("a tile without a layout")?;
                Some(Tile::new(cx, to, layout, width, once)?)
            }
        };
        Ok(Elements { to, once, tile })
    }

    /// The address of a register's element, and what guards the update of it and of those that go with it.
    fn at(&mut self, cx: &mut Lower<'a>, register: usize) -> Result<(Address, Option<Reg>), String> {
        match (self.to, &mut self.tile) {
            (_, Some(tile)) => Ok((tile.address(cx, register), Some(tile.guard(cx, register)))),
            (Location::Pointers { ptr, mask }, None) => {
                let guards: Vec<Reg> = mask.map(|m| cx.regs(m)[register]).into_iter().chain(self.once).collect();
                let guard = if guards.is_empty() { None } else { Some(cx.conjunction(&guards)) };
                Ok((Address { base: cx.regs(ptr)[register], offset: 0 }, guard))
            }
            (Location::View { .. }, None) => Err("a view without a tile".into()),
        }
    }
}

impl<'a> Lower<'a> {
    /// `atomic`, elementwise.
    pub fn atomic(
        &mut self,
        inst: &InstData,
        (kind, order): (AtomicKind, MemoryOrder),
        to: Location,
        value: Value,
    ) -> Result<Vec<Vec<Reg>>, String> {
        let dtype = self.dtype(value)?;
        match self.instruction(kind, dtype) {
            Some((op, ty)) => self.replace(inst, (op, order, ty, dtype), to, &[value]),
            None => self.replace_by_cas((kind, order, dtype), to, value),
        }
    }

    /// What updates an element in one step; `None` if the target has nothing that does.
    fn instruction(&self, kind: AtomicKind, dtype: DType) -> Option<(AtomicOp, Ty)> {
        let bits = bits_type(dtype);
        match kind {
            AtomicKind::Add if dtype == DType::BF16 && !self.target.info().bf16_arithmetic => None,
            // Signed addition is the unsigned one.
            AtomicKind::Add if dtype.is_int() => {
                Some((AtomicOp::Add, if dtype.bits() == 64 { Ty::U64 } else { Ty::U32 }))
            }
            AtomicKind::Add => Some((AtomicOp::Add, arith_type(dtype))),
            AtomicKind::Min | AtomicKind::Max if dtype.is_float() => None,
            AtomicKind::Min => Some((AtomicOp::Min, arith_type(dtype))),
            AtomicKind::Max => Some((AtomicOp::Max, arith_type(dtype))),
            AtomicKind::And => Some((AtomicOp::And, bits)),
            AtomicKind::Or => Some((AtomicOp::Or, bits)),
            AtomicKind::Xor => Some((AtomicOp::Xor, bits)),
            AtomicKind::Xchg if dtype.bits() == 16 => None,
            AtomicKind::Xchg => Some((AtomicOp::Exch, bits)),
        }
    }

    /// `atomic_cas`, elementwise.
    pub fn atomic_cas(
        &mut self,
        inst: &InstData,
        order: MemoryOrder,
        to: Location,
        [compare, value]: [Value; 2],
    ) -> Result<Vec<Vec<Reg>>, String> {
        let dtype = self.dtype(value)?;
        self.replace(inst, (AtomicOp::Cas, order, bits_type(dtype), dtype), to, &[compare, value])
    }

    fn replace(
        &mut self,
        inst: &InstData,
        (op, order, ty, dtype): (AtomicOp, MemoryOrder, Ty, DType),
        to: Location,
        operands: &[Value],
    ) -> Result<Vec<Vec<Reg>>, String> {
        let is_used = inst.results.iter().any(|&v| self.analyses.demand.defs().uses(v) > 0);
        // A `red` reads nothing, and so acquires nothing.
        let returns = is_used || order.acquires() || matches!(op, AtomicOp::Exch | AtomicOp::Cas);
        let value = operands[0];
        let layout = self.func.layout(value).map_or(1, Layout::vector);
        let width = axis::update_width(self.func, &self.analyses.facts, self.target.info(), (&inst.op, is_used));
        let width = width.min(layout.into()) as usize;
        let mut elements = Elements::of(self, to, value, width)?;
        let mut results = Vec::new();
        for r in (0..self.registers(value)).step_by(width) {
            let (address, guard) = elements.at(self, r)?;
            let (ty, srcs) = if width == 1 {
                (ty, operands.iter().map(|&v| self.regs(v)[r]).collect())
            } else {
                let run = self.regs(value)[r..r + width].to_vec();
                (packed(ty), self.pack(dtype, &run))
            };
            let dst = returns.then(|| match guard {
                // Masked-off elements keep the register's value.
                Some(_) => self.mov(bits_type(dtype), 0),
                None => self.reg(class_of(ty)),
            });
            self.emit_if(guard, Op::Atomic { op, order, ty, dst, address, srcs });
            results.extend(dst);
        }
        Ok(vec![results])
    }

    /// Updates elements by comparing and exchanging. All are loaded first, so that no load waits for another element's exchange.
    fn replace_by_cas(
        &mut self,
        (kind, order, dtype): (AtomicKind, MemoryOrder, DType),
        to: Location,
        value: Value,
    ) -> Result<Vec<Vec<Reg>>, String> {
        let ty = bits_type(dtype);
        let mut elements = Elements::of(self, to, value, 1)?;
        let mut loaded = Vec::new();
        for r in 0..self.registers(value) {
            let (address, guard) = elements.at(self, r)?;
            let dst = match guard {
                // Masked-off elements keep the register's value.
                Some(_) => self.mov(ty, 0),
                None => self.reg(class_of(ty)),
            };
            self.emit_if(guard, Op::LdRelaxed { ty, dst, address });
            loaded.push((address, guard, dst));
        }
        let values = self.regs(value).to_vec();
        for (&(address, guard, old), value) in loaded.iter().zip(values) {
            let (again, done) = (self.label(), self.label());
            if guard.is_some() {
                self.emit(Op::Bra { label: done, pred: guard, unless: true, uniform: false });
            }
            self.emit(Op::Label { label: again });
            let new = kind.function().map_or(value, |function| self.binary(function, dtype, old, value));
            // Where it orders other accesses, it is an update even if it changes nothing.
            if order == MemoryOrder::Relaxed {
                let same = self.setp(Cmp::Eq, ty, new, old);
                self.emit(Op::Bra { label: done, pred: Some(same), unless: false, uniform: false });
            }
            let expected = self.mov(ty, old);
            let srcs = vec![expected, new];
            self.emit(Op::Atomic { op: AtomicOp::Cas, order, ty, dst: Some(old), address, srcs });
            let changed = self.setp(Cmp::Ne, ty, old, expected);
            self.emit(Op::Bra { label: again, pred: Some(changed), unless: false, uniform: false });
            self.emit(Op::Label { label: done });
        }
        // PTX does not promise that threads meet again after a loop that they leave at different times, and `ptxas` takes lanes that a shuffle
        // has brought together to stay so up to the next barrier, which they then reach apart.
        self.emit(Op::BarWarpSync);
        Ok(vec![loaded.into_iter().map(|(_, _, old)| old).collect()])
    }
}

/// The type of the words of a vector.
fn packed(element: Ty) -> Ty {
    if element == Ty::F16 {
        return Ty::F16x2;
    }
    if element == Ty::BF16 { Ty::BF16x2 } else { element }
}
