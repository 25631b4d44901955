//! Lowering of atomic updates.
//!
//! Several threads may hold one element: one of them updates it ([`Lower::store_guard`]). If the old value is unused,
//! which is so in most kernels, the update is a `red`, which does not wait.

use super::elementwise::arith_type;
use super::lower::{Lower, bits_type, class_of};
use super::{Address, AtomicOp, Op, Reg, Ty};
use crate::ir::{InstData, Value};
use crate::ops::kinds::AtomicKind;
use crate::types::DType;

impl Lower<'_> {
    /// `atomic`, elementwise.
    pub fn atomic(
        &mut self,
        inst: &InstData,
        kind: AtomicKind,
        ptr: Value,
        value: Value,
        mask: Option<Value>,
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
        self.replace(inst, (op, ty, dtype), ptr, &[value], mask)
    }

    /// `atomic_cas`, elementwise.
    pub fn atomic_cas(
        &mut self,
        inst: &InstData,
        ptr: Value,
        [compare, value]: [Value; 2],
        mask: Option<Value>,
    ) -> Result<Vec<Vec<Reg>>, String> {
        let dtype = self.dtype(value)?;
        self.replace(inst, (AtomicOp::Cas, bits_type(dtype), dtype), ptr, &[compare, value], mask)
    }

    fn replace(
        &mut self,
        inst: &InstData,
        (op, ty, dtype): (AtomicOp, Ty, DType),
        ptr: Value,
        operands: &[Value],
        mask: Option<Value>,
    ) -> Result<Vec<Vec<Reg>>, String> {
        let asked = inst.results.iter().any(|&v| self.used[v]);
        let returns = asked || matches!(op, AtomicOp::Exch | AtomicOp::Cas);
        let once = self.store_guard(ptr);
        let mut results = Vec::new();
        for r in 0..self.regs(ptr).len() {
            let address = Address { base: self.regs(ptr)[r], offset: 0 };
            let srcs = operands.iter().map(|&v| self.regs(v)[r]).collect();
            let guards: Vec<Reg> = mask.map(|m| self.regs(m)[r]).into_iter().chain(once).collect();
            let guard = if guards.is_empty() { None } else { Some(self.conjunction(&guards)) };
            let dst = returns.then(|| match guard {
                // Masked-off elements keep the register's value.
                Some(_) => self.mov(bits_type(dtype), 0),
                None => self.reg(class_of(ty)),
            });
            self.emit_if(guard, Op::Atomic { op, ty, dst, address, srcs });
            results.extend(dst);
        }
        Ok(vec![results])
    }
}
