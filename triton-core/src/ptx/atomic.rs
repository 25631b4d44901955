//! Lowering of atomic updates.
//!
//! Several threads may hold one element: one of them updates it ([`Lower::store_guard`]). If the old value is unused,
//! which is so in most kernels, the update is a `red`, which does not wait, unless it acquires.
//!
//! Of an ordered update, the thread that makes it orders what all threads of the block did before the barrier that [`crate::passes::sync`]
//! puts before it, and after the one behind it: causality is transitive across a barrier of the block (PTX ISA, "Causality order").

use super::elementwise::arith_type;
use super::lower::{Lower, bits_type, class_of};
use super::view::Tile;
use super::{Address, Op, Reg, Ty};
use crate::ir::{InstData, Value};
use crate::ops::kinds::AtomicKind;
use crate::ops::{Location, MemoryOrder};
use crate::types::DType;

/// What an atomic update does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is PTX's operation of that name")]
pub enum AtomicOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exch,
    Cas,
}

impl Lower<'_> {
    /// `atomic`, elementwise.
    pub fn atomic(
        &mut self,
        inst: &InstData,
        (kind, order): (AtomicKind, MemoryOrder),
        to: Location,
        value: Value,
    ) -> Result<Vec<Vec<Reg>>, String> {
        let dtype = self.dtype(value)?;
        let bits = bits_type(dtype);
        let (op, ty) = match kind {
            // Signed addition is the unsigned one.
            AtomicKind::Add if dtype.is_int() => (AtomicOp::Add, if dtype.bits() == 64 { Ty::U64 } else { Ty::U32 }),
            AtomicKind::Add => (AtomicOp::Add, arith_type(dtype)),
            AtomicKind::Min => (AtomicOp::Min, arith_type(dtype)),
            AtomicKind::Max => (AtomicOp::Max, arith_type(dtype)),
            AtomicKind::And => (AtomicOp::And, bits),
            AtomicKind::Or => (AtomicOp::Or, bits),
            AtomicKind::Xor => (AtomicOp::Xor, bits),
            AtomicKind::Xchg => (AtomicOp::Exch, bits),
        };
        self.replace(inst, (op, order, ty, dtype), to, &[value])
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
        let asked = inst.results.iter().any(|&v| self.used[v]);
        // A `red` reads nothing, and so acquires nothing.
        let returns = asked || order.acquires() || matches!(op, AtomicOp::Exch | AtomicOp::Cas);
        let value = operands[0];
        let once = self.store_guard(value);
        let mut tile = match to {
            Location::Pointers { .. } => None,
            Location::View { .. } => {
                let layout = self.func.layout_id(value).ok_or("a tile without a layout")?;
                Some(Tile::new(self, to, layout, 1, once)?)
            }
        };
        let mut results = Vec::new();
        for r in 0..self.registers(value) {
            let (address, guard) = match (to, &mut tile) {
                (_, Some(tile)) => (tile.address(self, r), Some(tile.guard(self, r))),
                (Location::Pointers { ptr, mask }, None) => {
                    let guards: Vec<Reg> = mask.map(|m| self.regs(m)[r]).into_iter().chain(once).collect();
                    let guard = if guards.is_empty() { None } else { Some(self.conjunction(&guards)) };
                    (Address { base: self.regs(ptr)[r], offset: 0 }, guard)
                }
                (Location::View { .. }, None) => return Err("a view without a tile".into()),
            };
            let srcs = operands.iter().map(|&v| self.regs(v)[r]).collect();
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
}
