//! What a kernel is given: its parameters, in the order in which a launch passes them.

use crate::metadata::{ProgramMap, TensorMap};
use crate::ops;
use crate::ptx::code::emitter::class_of_dtype;
use crate::ptx::lower::Lower;
use crate::ptx::{Class, Cmp, Op, Ty};
use crate::types::{self, DType, Elem};

impl Lower<'_> {
    /// Loads the kernel's own parameters, and gives their types and the tensor maps that follow them.
    pub(crate) fn params(&mut self) -> (Vec<Ty>, Vec<TensorMap>) {
        let mut types = Vec::new();
        for (i, param) in self.func.params.iter().enumerate() {
            let reg = match self.func.ty(param.value).elem {
                Elem::Ptr { .. } => {
                    types.push(Ty::U64);
                    let (src, dst) = (self.reg(Class::B64), self.reg(Class::B64));
                    self.emit(Op::LdParam { ty: Ty::U64, dst: src, param: i });
                    self.emit(Op::ToGlobal { dst, src });
                    dst
                }
                Elem::Num(dtype) => {
                    let ty = param_type(dtype);
                    types.push(ty);
                    let dst = self.reg(if dtype == DType::Bool { Class::B16 } else { class_of_dtype(dtype) });
                    self.emit(Op::LdParam { ty, dst, param: i });
                    if dtype == DType::Bool { self.setp(Cmp::Ne, Ty::U16, dst, 0) } else { dst }
                }
            };
            self.set(param.value, vec![reg]);
        }
        let maps = self.begin_bulk();
        let mut next = types.len() + maps.len();
        if self.func.program_map() != ProgramMap::Identity {
            self.params.grid = Some([0, 1, 2].map(|axis| {
                let dst = self.reg(Class::B32);
                self.emit(Op::LdParam { ty: Ty::U32, dst, param: next + axis });
                dst
            }));
            next += 3;
        }
        if self.func.contains(self.func.body, |op| matches!(op, ops::Op::Assert { .. })) {
            self.params.report = Some(self.report_param(next));
        }
        (types, maps)
    }
}

/// The type of a scalar parameter in parameter space.
fn param_type(dtype: DType) -> Ty {
    match (dtype.class(), dtype.bits()) {
        (types::Class::Signed, 8) => Ty::S8,
        (_, 8) => Ty::U8,
        (_, 16) => Ty::B16,
        (_, 32) => Ty::B32,
        _ => Ty::B64,
    }
}
