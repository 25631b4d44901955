//! Operands: registers, numbers, addresses of variables.

use super::Decoder;
use super::words::Ty;
use crate::ParseError;
use crate::code::{Addr, Reg, Regs, Special, Src};
use crate::num::{self, Float, Num, Round};
use crate::parse::ast::{Number, Operand, Register, Space, Type};
use std::ops::RangeInclusive;

/// Special registers without extents.
const SPECIALS: [(&str, Special); 23] = [
    ("laneid", Special::Laneid),
    ("warpid", Special::Warpid),
    ("nwarpid", Special::Nwarpid),
    ("smid", Special::Smid),
    ("nsmid", Special::Nsmid),
    ("gridid", Special::Gridid),
    ("is_explicit_cluster", Special::IsExplicitCluster),
    ("cluster_ctarank", Special::ClusterCtarank),
    ("cluster_nctarank", Special::ClusterNctarank),
    ("lanemask_eq", Special::LanemaskEq),
    ("lanemask_le", Special::LanemaskLe),
    ("lanemask_lt", Special::LanemaskLt),
    ("lanemask_ge", Special::LanemaskGe),
    ("lanemask_gt", Special::LanemaskGt),
    ("clock", Special::ClockLow),
    ("clock_hi", Special::ClockHigh),
    ("clock64", Special::Clock),
    ("globaltimer", Special::Clock),
    ("globaltimer_lo", Special::ClockLow),
    ("globaltimer_hi", Special::ClockHigh),
    ("total_smem_size", Special::TotalSmemSize),
    ("aggr_smem_size", Special::TotalSmemSize),
    ("dynamic_smem_size", Special::DynamicSmemSize),
];

/// A special register by the number of an axis.
type Axis = fn(u8) -> Special;

/// Special registers with extents.
const EXTENTS: [(&str, Axis); 8] = [
    ("tid", Special::Tid),
    ("ntid", Special::Ntid),
    ("ctaid", Special::Ctaid),
    ("nctaid", Special::Nctaid),
    ("clusterid", Special::Clusterid),
    ("nclusterid", Special::Nclusterid),
    ("cluster_ctaid", Special::ClusterCtaid),
    ("cluster_nctaid", Special::ClusterNctaid),
];

impl Decoder<'_> {
    /// Bytes of a register; a predicate has 1.
    pub(super) fn register_bytes(&self, register: Reg) -> u8 {
        match self.entry.registers[register as usize].ty {
            Type::Pred => 1,
            Type::B(bits) | Type::U(bits) | Type::S(bits) | Type::F(bits) => bits / 8,
            Type::F16x2 | Type::Bf16x2 => 4,
            Type::Bf16 => 2,
        }
    }

    /// A register of at most 64 bits: those of 128 are only moved, loaded and stored as a whole.
    fn narrow(&self, register: Reg) -> Result<Reg, ParseError> {
        match &self.entry.registers[register as usize] {
            Register { ty: Type::B(128), name } => {
                self.error(format!("`{name}` has 128 bits, which only `.b128` instructions take"))
            }
            Register { .. } => Ok(register),
        }
    }

    /// A register that is written, `_` being none.
    pub(super) fn sink(&self, operand: &Operand) -> Result<Option<Reg>, ParseError> {
        if let Operand::Register(register) = operand {
            Ok(Some(self.narrow(*register)?))
        } else if matches!(operand, Operand::Sink) {
            Ok(None)
        } else {
            self.error(format!("a register was expected, found {}", describe(operand)))
        }
    }

    /// A register that is written, by the operand's number.
    pub(super) fn dst(&self, index: usize) -> Result<Reg, ParseError> {
        match self.sink(self.operand(index)?)? {
            Some(register) => Ok(register),
            None => self.error(format!("operand {} must be a register", index + 1)),
        }
    }

    /// The elements of a vector, or the operand itself.
    pub(super) fn list(&self, index: usize) -> Result<&[Operand], ParseError> {
        let operand = self.operand(index)?;
        Ok(if let Operand::Vector(list) = operand { list } else { std::slice::from_ref(operand) })
    }

    /// The parts of a pair `d|p`, or the operand alone.
    pub(super) fn pair(&self, index: usize) -> Result<[Option<Reg>; 2], ParseError> {
        let operand = self.operand(index)?;
        if let Operand::Pair(first, second) = operand {
            Ok([self.sink(first)?, self.sink(second)?])
        } else {
            Ok([self.sink(operand)?, None])
        }
    }

    /// The registers of a vector, or one.
    pub(super) fn regs(&self, index: usize) -> Result<Regs, ParseError> {
        self.list(index)?.iter().map(|o| self.sink(o)).collect()
    }

    /// The halves of a register of 128 bits, or a vector of both. The lower half has the number of the register, the upper
    /// ones follow all registers.
    pub(super) fn halves(&self, index: usize) -> Result<Regs, ParseError> {
        let all = &self.entry.registers;
        let is_wide = |register: &Register| register.ty == Type::B(128);
        let operand = self.operand(index)?;
        if let Operand::Register(low) = operand
            && is_wide(&all[*low as usize])
        {
            let before = all[..*low as usize].iter().filter(|r| is_wide(r)).count();
            return Ok(Box::new([Some(*low), Some((all.len() + before) as Reg)]));
        }
        match self.list(index)?.len() {
            2 => self.regs(index),
            _ => self.error(format!("a register of 128 bits was expected, found {}", describe(operand))),
        }
    }

    /// The registers of a vector that are all there.
    pub(super) fn all_regs(&self, index: usize) -> Result<Box<[Reg]>, ParseError> {
        let list = self.regs(index)?;
        match list.iter().copied().collect::<Option<Box<[Reg]>>>() {
            Some(list) => Ok(list),
            None => self.error(format!("operand {} must be registers without `_`", index + 1)),
        }
    }

    /// A value of a type, by the operand's number.
    pub(super) fn src(&self, index: usize, ty: Ty) -> Result<Src, ParseError> {
        self.value_of(self.operand(index)?, ty)
    }

    /// Values of a vector, or one.
    pub(super) fn srcs(&self, index: usize, ty: Ty) -> Result<Box<[Src]>, ParseError> {
        self.list(index)?.iter().map(|o| self.value_of(o, ty)).collect()
    }

    /// A predicate, or its negation.
    pub(super) fn pred(&self, index: usize) -> Result<Src, ParseError> {
        self.src(index, Ty::Pred)
    }

    /// A word of 32 bits.
    pub(super) fn word(&self, index: usize) -> Result<Src, ParseError> {
        self.src(index, Ty::Bits(4))
    }

    /// A number that must be a literal.
    pub(super) fn immediate(&self, index: usize) -> Result<u64, ParseError> {
        let operand = self.operand(index)?;
        if let Operand::Number(Number::Int(value)) = operand {
            Ok(*value)
        } else {
            self.error(format!("operand {} must be an integer, found {}", index + 1, describe(operand)))
        }
    }

    /// A number of the text in a range.
    pub(super) fn immediate_in(&self, index: usize, range: RangeInclusive<u32>) -> Result<u32, ParseError> {
        let value = self.immediate(index)?;
        match u32::try_from(value).ok().filter(|value| range.contains(value)) {
            Some(value) => Ok(value),
            None => self.error(format!(
                "operand {} must be an integer from {} to {}, found {}",
                index + 1,
                range.start(),
                range.end(),
                value as i64
            )),
        }
    }

    pub(super) fn value_of(&self, operand: &Operand, ty: Ty) -> Result<Src, ParseError> {
        let bytes = ty.bytes();
        Ok(match operand {
            Operand::Register(register) => Src::Reg(self.narrow(*register)?),
            Operand::Not(register) => Src::Not(self.narrow(*register)?),
            Operand::Number(number) => Src::Imm(self.number(*number, ty) & (u64::MAX >> (64 - 8 * u32::from(bytes)))),
            Operand::Special(name) => Src::Special(self.special(name)?),
            Operand::ModuleVariable(_) | Operand::Variable(_) | Operand::Param(_) => self.address_of(operand)?,
            Operand::Address { base, offset } => match self.address_of(base)? {
                Src::Imm(address) => Src::Imm(address.wrapping_add_signed(*offset)),
                Src::Shared(address) => Src::Shared(address.wrapping_add_signed(*offset as i32)),
                Src::Variable(index, _) => Src::Variable(index, *offset),
                Src::Reg(_) | Src::Not(_) | Src::Special(_) => {
                    return self.error("an address with an offset must be in brackets");
                }
            },
            Operand::Label(_)
            | Operand::Vector(_)
            | Operand::List(_)
            | Operand::Pair(..)
            | Operand::Tensor { .. }
            | Operand::Sink
            | Operand::Name(_) => return self.error(format!("a value was expected, found {}", describe(operand))),
        })
    }

    fn number(&self, number: Number, ty: Ty) -> u64 {
        let float = match ty {
            Ty::Num(Num::Float(float)) => Some(float),
            Ty::Num(Num::Int(_)) | Ty::Pred | Ty::Bits(_) | Ty::Packed(_) => None,
        };
        match (number, float) {
            (Number::Int(value), _) => value,
            (Number::F32(bits), Some(Float::F64)) => f64::from(f32::from_bits(bits)).to_bits(),
            (Number::F32(bits), _) => u64::from(bits),
            (Number::F64(bits), Some(Float::F64) | None) => bits,
            (Number::F64(bits), Some(float)) => num::from_f64(float, f64::from_bits(bits), Round::Nearest),
        }
    }

    fn special(&self, name: &str) -> Result<Special, ParseError> {
        if let Some((_, special)) = SPECIALS.iter().find(|(n, _)| *n == name) {
            return Ok(*special);
        }
        let axis = |c: &str| ["x", "y", "z"].iter().position(|a| *a == c);
        let found = name.split_once('.').and_then(|(n, c)| {
            let (_, make) = EXTENTS.iter().find(|(e, _)| *e == n)?;
            Some(make(axis(c)? as u8))
        });
        match found {
            Some(special) => Ok(special),
            None => self.error(format!("the special register `%{name}` is not simulated")),
        }
    }

    /// The address of a variable or a parameter in its space, or a register.
    fn address_of(&self, operand: &Operand) -> Result<Src, ParseError> {
        Ok(match operand {
            Operand::Register(register) => Src::Reg(self.narrow(*register)?),
            Operand::Number(Number::Int(value)) => Src::Imm(*value),
            Operand::ModuleVariable(index) => match self.module.variables[*index as usize].space {
                Space::Shared => Src::Shared(self.layout.module[*index as usize]),
                Space::Global | Space::Const | Space::Local | Space::Param => Src::Variable(*index, 0),
            },
            Operand::Variable(index) => {
                let address = self.layout.kernel[*index as usize];
                match self.entry.variables[*index as usize].space {
                    Space::Shared => Src::Shared(address),
                    Space::Global | Space::Const | Space::Local | Space::Param => Src::Imm(address.into()),
                }
            }
            Operand::Param(index) => Src::Imm(u64::from(self.params[*index as usize].offset)),
            Operand::Number(Number::F32(_) | Number::F64(_))
            | Operand::Not(_)
            | Operand::Special(_)
            | Operand::Label(_)
            | Operand::Vector(_)
            | Operand::List(_)
            | Operand::Pair(..)
            | Operand::Address { .. }
            | Operand::Tensor { .. }
            | Operand::Sink
            | Operand::Name(_) => return self.error(format!("an address was expected, found {}", describe(operand))),
        })
    }

    /// `[base+offset]`
    pub(super) fn addr(&self, index: usize) -> Result<Addr, ParseError> {
        let operand = self.operand(index)?;
        if let Operand::Address { base, offset } = operand {
            Ok(Addr { base: self.address_of(base)?, offset: *offset })
        } else {
            let found = describe(operand);
            self.error(format!("operand {} must be an address in brackets, found {found}", index + 1))
        }
    }
}

/// A description of an operand.
pub(super) fn describe(operand: &Operand) -> &'static str {
    match operand {
        Operand::Register(_) => "a register",
        Operand::Not(_) => "a negated predicate",
        Operand::Special(_) => "a special register",
        Operand::Number(_) => "a number",
        Operand::ModuleVariable(_) | Operand::Variable(_) => "a variable",
        Operand::Param(_) => "a parameter",
        Operand::Label(_) => "a label",
        Operand::Vector(_) => "a vector",
        Operand::List(_) => "a list",
        Operand::Pair(..) => "a pair",
        Operand::Address { .. } => "an address",
        Operand::Tensor { .. } => "a tensor address",
        Operand::Sink => "`_`",
        Operand::Name(_) => "a name",
    }
}
