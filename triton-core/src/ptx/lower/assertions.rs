//! Lowering of assertions and of lines to print.
//!
//! A kernel with assertions has one parameter more than its IR, the last: the address of 16 bytes of memory that the host sees,
//! or 0. A thread that finds an assertion broken writes there which one it is (its text's number plus 1) and the program's
//! index, and stops the launch by a trap. Several may write; as the 16 bytes go at once, what is found is of one of them.
//!
//! Lines are printed by the driver's `vprintf`: a format as for C's `printf`, and a list of arguments, all of them brought to
//! 64 bits. One of the threads that hold an element prints its line.

use crate::ir::Value;
use crate::ops::Text;
use crate::ptx::code::emitter::class_of;
use crate::ptx::lower::Lower;
use crate::ptx::{Class, Cmp, Op, Opcode, Operand, Reg, Round, Special, Ty};
use crate::types::{self, DType, Shape};

impl Lower<'_> {
    pub fn assertion(&mut self, cond: Value, message: Text) {
        let preds = self.regs(cond).to_vec();
        let all = self.conjunction(&preds);
        let done = self.label();
        self.emit(Op::Bra { label: done, pred: Some(all), unless: false, uniform: false });
        if let Some((given, address)) = self.params.report {
            let is_there = self.setp(Cmp::Ne, Ty::U64, given, 0);
            let number = self.mov(Ty::B32, i64::from(message.0) + 1);
            let mut srcs = vec![number];
            srcs.extend((0..3).map(|axis| self.program_id(axis)));
            self.emit_if(Some(is_there), Op::StVolatile { srcs, address });
        }
        self.emit(Op::MembarSys);
        self.emit(Op::Trap);
        self.emit(Op::Label { label: done });
    }

    pub fn print(&mut self, text: Text, values: &[Value]) -> Result<(), String> {
        let text = self.func.texts.get(text.0 as usize).ok_or("a line without a text")?;
        let pieces = Text::pieces(text);
        let first = values.first().copied();
        let layout = first.and_then(|v| self.func.layout(v)).cloned();
        let shape = first.map_or(Shape::SCALAR, |v| self.func.ty(v).shape);
        let mut format = match &layout {
            None => String::new(),
            Some(_) => format!("(%llu, %llu, %llu)[{}] ", vec!["%llu"; shape.rank()].join(", ")),
        };
        for (i, piece) in pieces.iter().enumerate() {
            format.push_str(&piece.replace('%', "%%"));
            if let Some(&value) = values.get(i) {
                format.push_str(conversion(self.dtype(value)?));
            }
        }
        format.push('\n');
        let format = self.lines.text(format);
        let once = match first {
            Some(value) => self.store_guard(value),
            None => self.one_thread(),
        };
        for r in 0..first.map_or(1, |v| self.registers(v)) {
            let skip = self.label();
            // Where all need it, all have to compute it.
            let thread = layout.as_ref().map(|layout| self.thread_element(layout));
            if let Some(once) = once {
                self.emit(Op::Bra { label: skip, pred: Some(once), unless: true, uniform: false });
            }
            let mut args = Vec::new();
            if let Some((layout, thread)) = layout.as_ref().zip(thread) {
                for axis in 0..3 {
                    let id = self.program_id(axis);
                    args.push(self.cvt(Round::None, Ty::U64, Ty::U32, id));
                }
                let (copy, r) = layout.copy_of(r);
                let own = i64::from(layout.register_element(r));
                let element = self.arith(Opcode::Xor, Ty::B32, &[thread.into(), own.into()]);
                args.extend(self.index(element, shape, copy));
            }
            for &value in values {
                let reg = self.regs(value)[r];
                let dtype = self.dtype(value)?;
                args.push(self.argument(dtype, reg));
            }
            for (i, &src) in args.iter().enumerate() {
                self.emit(Op::StLocal { src, offset: 8 * i as u32 });
            }
            self.lines.reserve(8 * args.len().max(1) as u32);
            let (format, list) = (self.address_of(Special::Text(format)), self.address_of(Special::Local));
            self.emit(Op::Printf { format, list });
            self.emit(Op::Label { label: skip });
        }
        // What follows may need the whole warp.
        self.emit(Op::BarWarpSync);
        Ok(())
    }

    /// The index of an element of a copy along each axis, in 64 bits.
    fn index(&mut self, element: Reg, shape: Shape, copy: usize) -> Vec<Reg> {
        let mut inner = 0;
        let mut index: Vec<Reg> = Vec::new();
        for (axis, &extent) in shape.base().dims().iter().enumerate().rev() {
            let along = self.arith(Opcode::Shr, Ty::U32, &[element.into(), inner.into()]);
            let mut along = self.arith(Opcode::And, Ty::B32, &[along.into(), i64::from(extent - 1).into()]);
            let origin = shape.origin(copy, axis);
            if origin > 0 {
                along = self.arith(Opcode::Add, Ty::U32, &[along.into(), i64::from(origin).into()]);
            }
            index.push(self.cvt(Round::None, Ty::U64, Ty::U32, along));
            inner += i64::from(extent.trailing_zeros());
        }
        index.reverse();
        index
    }

    /// A number as an argument of 64 bits; a `bool` as the address of its name.
    fn argument(&mut self, dtype: DType, reg: Reg) -> Reg {
        match dtype.class() {
            types::Class::Bool => {
                let (yes, no) = (self.lines.text("true".into()), self.lines.text("false".into()));
                let (yes, no) = (self.address_of(Special::Text(yes)), self.address_of(Special::Text(no)));
                self.selp(Ty::B64, yes, no, reg)
            }
            types::Class::Signed => self.cast(dtype, DType::I64, reg),
            types::Class::Unsigned => self.cast(dtype, DType::U64, reg),
            types::Class::Float => self.cast(dtype, DType::F64, reg),
        }
    }

    fn address_of(&mut self, what: Special) -> Reg {
        let src = self.mov(Ty::U64, Operand::Special(what));
        let dst = self.reg(class_of(Ty::U64));
        self.emit(if what == Special::Local { Op::FromLocal { dst, src } } else { Op::FromGlobal { dst, src } });
        dst
    }

    /// The parameter of a kernel with assertions, as it was given and as an address in global memory.
    pub fn report_param(&mut self, param: usize) -> (Reg, Reg) {
        let (given, address) = (self.reg(Class::B64), self.reg(Class::B64));
        self.emit(Op::LdParam { ty: Ty::U64, dst: given, param });
        self.emit(Op::ToGlobal { dst: address, src: given });
        (given, address)
    }
}

/// How `printf` writes a number of 64 bits: floats with as many digits as tell those of their type apart.
fn conversion(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "%s",
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => "%lld",
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => "%llu",
        DType::F16 => "%.5g",
        DType::BF16 => "%.4g",
        DType::F32 => "%.9g",
        DType::F64 => "%.17g",
    }
}
