//! Which program a block runs ([`Function::raster`](crate::ir::Function::raster)).

use crate::ptx::lower::Lower;
use crate::ptx::{Cmp, Opcode, Operand, Reg, Special, Ty};

/// As many programs along the first axis may be mapped: along the second one there are fewer, so that their product is below 2³².
const MAPPED: i64 = 1 << 16;

impl Lower<'_> {
    /// The program's index along an axis.
    pub fn program_id(&mut self, axis: u8) -> Reg {
        match self.func.raster {
            Some(band) if axis < 2 => {
                let program = self.once(|entry| &mut entry.program, &(), |cx| cx.in_bands(band));
                program[usize::from(axis)]
            }
            None | Some(_) => {
                let special = if self.func.cluster > 1 { Special::ClusterId(axis) } else { Special::Ctaid(axis) };
                self.mov(Ty::U32, Operand::Special(special))
            }
        }
    }

    /// The number of programs along an axis: of blocks, or of clusters, but where a block runs several programs.
    pub fn num_programs(&mut self, axis: u8) -> Reg {
        match self.params.grid {
            Some(extents) => extents[usize::from(axis)],
            None => {
                let special = if self.func.cluster > 1 { Special::NclusterId(axis) } else { Special::Nctaid(axis) };
                self.mov(Ty::U32, Operand::Special(special))
            }
        }
    }

    /// The program's indices along the first two axes, if blocks walk them in bands of this width along the first.
    /// Blocks start in the order of their numbers, x first.
    fn in_bands(&mut self, width: u32) -> [Reg; 2] {
        let special = |cx: &mut Self, what| cx.mov(Ty::U32, Operand::Special(what));
        let (x, y) = (special(self, Special::Ctaid(0)), special(self, Special::Ctaid(1)));
        let (columns, rows) = (special(self, Special::Nctaid(0)), special(self, Special::Nctaid(1)));
        let shift = i64::from(width.trailing_zeros());
        let number = self.arith(Opcode::MadLo, Ty::U32, &[y.into(), columns.into(), x.into()]);
        let in_band = self.arith(Opcode::Shl, Ty::B32, &[rows.into(), shift.into()]);
        let band = self.arith(Opcode::Div, Ty::U32, &[number.into(), in_band.into()]);
        let before = self.arith(Opcode::MulLo, Ty::U32, &[band.into(), in_band.into()]);
        let number = self.arith(Opcode::Sub, Ty::U32, &[number.into(), before.into()]);
        let first = self.arith(Opcode::Shl, Ty::B32, &[band.into(), shift.into()]);
        // The last band may be narrower.
        let left = self.arith(Opcode::Sub, Ty::U32, &[columns.into(), first.into()]);
        let height = self.arith(Opcode::Min, Ty::U32, &[left.into(), i64::from(width).into()]);
        // Where the grid is too large to be mapped, this may have overflowed.
        let height = self.arith(Opcode::Max, Ty::U32, &[height.into(), 1.into()]);
        let second = self.arith(Opcode::Div, Ty::U32, &[number.into(), height.into()]);
        let before = self.arith(Opcode::MulLo, Ty::U32, &[second.into(), height.into()]);
        let inside = self.arith(Opcode::Sub, Ty::U32, &[number.into(), before.into()]);
        let first = self.arith(Opcode::Add, Ty::U32, &[first.into(), inside.into()]);
        let mapped = self.setp(Cmp::Lt, Ty::U32, columns, MAPPED);
        [(first, x), (second, y)].map(|(mapped_to, own)| self.selp(Ty::B32, mapped_to, own, mapped))
    }
}
