//! Addresses, and products that addresses are computed from, which loops step ([`crate::analysis::stepped`]).
//!
//! A step is one of the 64 bits of the address, whatever becomes of an index in 32 bits: where it wraps, no element is accessed.

use crate::analysis::stepped;
use crate::ir::{Block, Value};
use crate::ops::Location;
use crate::ptx::lower::Lower;
use crate::ptx::memory::view::Tile;
use crate::ptx::{Op, Opcode, Operand, Operands, Reg, Round, Ty};
use crate::types::{DType, Elem};

impl Lower<'_> {
    /// The addresses that a loop over this region steps, and the products that addresses are computed from: registers that hold what they are
    /// in the first turn, and by how much.
    pub(crate) fn step_addresses(
        &mut self,
        region: Block,
        first: Reg,
        step: Value,
    ) -> Result<Vec<(Reg, Operand)>, String> {
        let func = self.func;
        let counter = func.blocks[region].params[0];
        self.set(counter, vec![first]);
        let mut stepped = Vec::new();
        let ahead = stepped::ahead(func, region);
        for tile in stepped::stepped(func, region) {
            if let Location::View { at: starts, .. } = tile.at {
                for &start in starts.as_slice() {
                    if let Some(distance) = ahead[start] {
                        let sum = self.ahead(first, distance);
                        self.set(start, vec![sum]);
                    }
                }
            }
            let mut accessed = Tile::new(self, tile.at, tile.layout, usize::MAX, None)?;
            let (Some(origin), Location::View { at: starts, .. }) = (accessed.thread_origin(self), tile.at) else {
                continue;
            };
            let address = self.copy(origin);
            let moves = |v: Value| v == counter || ahead[v].is_some();
            let axes = (0..starts.as_slice().len()).filter(|&axis| moves(starts.as_slice()[axis]));
            let by = self.bytes_of_step(&accessed, axes, step);
            self.loops.step(tile, address);
            stepped.push((address, by));
        }
        for product in stepped::products(func, region) {
            let index = ahead[product.index].map_or(first, |distance| self.ahead(first, distance));
            let by = self.regs(product.by)[0];
            let by = self.arith(Opcode::MulLo, Ty::S64, &[by.into(), i64::from(product.size).into()]);
            let [value, by] = [index, self.regs(step)[0]].map(|number| {
                let number = self.wide(number, step);
                self.arith(Opcode::MulLo, Ty::S64, &[number.into(), by.into()])
            });
            let value = self.copy(value);
            self.loops.step_product(product.result, value);
            stepped.push((value, by.into()));
        }
        Ok(stepped)
    }

    /// The sum of a loop's counter and a distance, which has its type.
    fn ahead(&mut self, counter: Reg, distance: Value) -> Reg {
        let ty = if self.is_wide(distance) { Ty::S64 } else { Ty::S32 };
        let distance = self.regs(distance)[0];
        self.arith(Opcode::Add, ty, &[counter.into(), distance.into()])
    }

    fn is_wide(&self, number: Value) -> bool {
        self.func.ty(number).elem == Elem::Num(DType::I64)
    }

    /// 64 bits of a number of a value's type.
    fn wide(&mut self, reg: Reg, of: Value) -> Reg {
        if self.is_wide(of) { reg } else { self.cvt(Round::None, Ty::S64, Ty::S32, reg) }
    }

    /// The bytes by which one step of the counter moves a tile along these axes.
    fn bytes_of_step(&mut self, tile: &Tile<'_>, axes: impl Iterator<Item = usize>, step: Value) -> Operand {
        let size = i64::from(tile.dtype.bytes());
        let bytes: Operand = match self.analyses.facts[step].constant {
            Some(step) => (step as i64 * size).into(),
            None => {
                let step = self.wide(self.regs(step)[0], step);
                self.arith(Opcode::MulLo, Ty::S64, &[step.into(), size.into()]).into()
            }
        };
        let mut sum: Option<Reg> = None;
        for axis in axes {
            let stride = tile.stride(self, axis);
            let of_axis = self.arith(Opcode::MulLo, Ty::S64, &[stride.into(), bytes]);
            sum = Some(match sum {
                Some(others) => self.arith(Opcode::Add, Ty::S64, &[others.into(), of_axis.into()]),
                None => of_axis,
            });
        }
        sum.map_or(Operand::Int(0), Operand::Reg)
    }

    /// Steps addresses at the end of a turn.
    pub(crate) fn step(&mut self, stepped: &[(Reg, Operand)]) {
        for &(address, by) in stepped {
            let srcs = Operands::new(&[address.into(), by]);
            self.emit(Op::Arith { op: Opcode::Add, ty: Ty::S64, dst: address, srcs });
        }
    }
}
