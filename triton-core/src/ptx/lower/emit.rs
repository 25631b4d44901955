//! How lowering emits: instructions under a name for each kind, at the cursor or at the entry of the kernel.

use crate::ptx::code::emitter::{class_of, class_type};
use crate::ptx::lower::Lower;
use crate::ptx::lower::at_entry::{AtEntry, Memo};
use crate::ptx::{Class, Cmp, Op, Opcode, Operand, Operands, Reg, Ty};
use crate::span::Span;
use std::hash::Hash;

impl Lower<'_> {
    pub fn emit(&mut self, op: Op) {
        self.code.emit(None, op);
    }

    pub fn emit_if(&mut self, guard: Option<Reg>, op: Op) {
        self.code.emit(guard, op);
    }

    /// Emits at the entry of the kernel, where what is computed reaches every use. There, it emits where it is.
    pub fn at_entry<T>(&mut self, emit: impl FnOnce(&mut Self) -> T) -> T {
        if self.code.is_at_entry() {
            return emit(self);
        }
        let span = self.code.swap(Span::NONE);
        let result = emit(self);
        self.code.swap(span);
        result
    }

    /// What `compute` emits at the entry for a key, at the first time; what is known at each later one.
    pub fn once<Q, V>(
        &mut self,
        memo: fn(&mut AtEntry) -> &mut Memo<Q::Owned, V>,
        key: &Q,
        compute: impl FnOnce(&mut Self) -> V,
    ) -> V
    where
        Q: ToOwned<Owned: Eq + Hash> + Eq + Hash + ?Sized,
        V: Copy,
    {
        if let Some(known) = memo(&mut self.entry).get(key) {
            return known;
        }
        let computed = self.at_entry(compute);
        memo(&mut self.entry).insert(key.to_owned(), computed);
        computed
    }

    pub fn label(&mut self) -> u32 {
        self.code.label()
    }

    pub fn reg(&mut self, class: Class) -> Reg {
        self.code.reg(class)
    }

    /// Emits a predicate, number or address that is in another register as one of its own: what follows may change it.
    pub fn copy(&mut self, reg: Reg) -> Reg {
        self.mov(class_type(reg.class), reg)
    }

    /// A new register with the result of an arithmetic instruction.
    pub fn arith(&mut self, op: Opcode, ty: Ty, srcs: &[Operand]) -> Reg {
        let dst = self.reg(if op == Opcode::MadWide { Class::B64 } else { class_of(ty) });
        self.emit(Op::Arith { op, ty, dst, srcs: Operands::new(srcs) });
        dst
    }

    pub fn mov(&mut self, ty: Ty, src: impl Into<Operand>) -> Reg {
        let dst = self.reg(class_of(ty));
        self.emit(Op::Mov { ty, dst, src: src.into() });
        dst
    }

    pub fn setp(&mut self, cmp: Cmp, ty: Ty, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let dst = self.reg(Class::Pred);
        self.emit(Op::Setp { cmp, ty, dst, a: a.into(), b: b.into() });
        dst
    }

    pub fn selp(&mut self, ty: Ty, a: impl Into<Operand>, b: impl Into<Operand>, pred: Reg) -> Reg {
        let dst = self.reg(class_of(ty));
        self.emit(Op::Selp { ty, dst, a: a.into(), b: b.into(), pred });
        dst
    }
}
