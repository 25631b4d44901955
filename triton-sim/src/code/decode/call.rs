//! Calls, of functions of the text and of system functions.

use super::words::{Ty, Words};
use super::{Decoded, Decoder, describe};
use crate::ParseError;
use crate::code::{Call, CallOperand, Op, Src};
use crate::parse::ast::{Formal, Operand, Space, Type};

impl Decoder<'_> {
    /// `call (result), function, (arguments)`
    pub(super) fn call(&self, words: &mut Words<'_>) -> Decoded {
        words.take("uni");
        let [Operand::Name(name), Operand::List(results), Operand::List(arguments)] = &self.inst.operands[..] else {
            return self.unknown();
        };
        if let Some(frame) = self.linked.frame(name) {
            let formals = |list: &[Formal]| -> Vec<Formal> { list.iter().map(|f| frame.formal(*f)).collect() };
            let to = formals(&frame.function.params);
            let from = formals(&frame.function.results);
            let arguments = self.transfers("argument", arguments, &to)?;
            let mut returned = self.transfers("result", results, &from)?;
            for (actual, formal) in &mut returned {
                if matches!(
                    actual,
                    CallOperand::Value(
                        Src::Imm(_) | Src::Special(_) | Src::Shared(_) | Src::Variable(..) | Src::Not(_)
                    )
                ) {
                    return self.error("a result of a call must be a register or a parameter variable");
                }
                std::mem::swap(actual, formal);
            }
            let memory = frame.variables.clone().filter_map(|v| match self.operand_of(v) {
                CallOperand::Memory(at, bytes) => Some((at, bytes)),
                CallOperand::Value(_) => None,
            });
            return Ok(Op::Call(Box::new(Call {
                target: frame.instructions.start as u32,
                return_address: frame.return_address,
                arguments,
                results: returned,
                registers: frame.registers.clone(),
                memory: memory.collect(),
            })));
        }
        let all = |list: &[Operand]| list.iter().map(|o| self.actual(o, Ty::Bits(8))).collect::<Result<Vec<_>, _>>();
        let (results, arguments) = (all(results)?, all(arguments)?);
        match (name.as_str(), &results[..], &arguments[..]) {
            ("vprintf", [] | [_], [format, list]) => {
                Ok(Op::Print { src: [format.clone(), list.clone()], dst: results.first().cloned() })
            }
            ("__assertfail", [], [message, file, line, ..]) => {
                Ok(Op::AssertFail(Box::new([message.clone(), file.clone(), line.clone()])))
            }
            ("vprintf" | "__assertfail", ..) => {
                self.error(format!("the arguments and results do not fit the function `{name}` of the system"))
            }
            _ => self.error(format!(
                "the function `{name}` has no body: of those without one, `vprintf` and `__assertfail` are simulated"
            )),
        }
    }

    /// Pairs of what the call passes and what the function declares.
    fn transfers(
        &self,
        what: &str,
        actual: &[Operand],
        formal: &[Formal],
    ) -> Result<Box<[(CallOperand, CallOperand)]>, ParseError> {
        if actual.len() != formal.len() {
            return self.error(format!("{} {what}s were expected, found {}", formal.len(), actual.len()));
        }
        let pair = |(i, (operand, formal)): (usize, (&Operand, &Formal))| {
            let (parameter, ty) = match *formal {
                Formal::Register(register) => {
                    let ty = self.entry.registers[register as usize].ty;
                    (CallOperand::Value(Src::Reg(register)), ty)
                }
                Formal::Variable(variable) => (self.operand_of(variable), self.entry.variables[variable as usize].ty),
            };
            let actual = self.actual(operand, of(ty))?;
            let (found, expected) = (self.operand_bytes(&actual), self.operand_bytes(&parameter));
            match (found, expected) {
                (Some(found), Some(expected)) if found != expected => {
                    self.error(format!("{what} {} must have {expected} bytes, found {found}", i + 1))
                }
                _ => Ok((actual, parameter)),
            }
        };
        actual.iter().zip(formal).enumerate().map(pair).collect()
    }

    /// The operands in the list of a call.
    fn actual(&self, operand: &Operand, ty: Ty) -> Result<CallOperand, ParseError> {
        match operand {
            Operand::Variable(variable) => match self.operand_of(*variable) {
                memory @ CallOperand::Memory(..) => Ok(memory),
                CallOperand::Value(_) => {
                    self.error(format!("a call takes parameter variables and values, found {}", describe(operand)))
                }
            },
            Operand::Register(_)
            | Operand::Not(_)
            | Operand::Special(_)
            | Operand::Number(_)
            | Operand::ModuleVariable(_)
            | Operand::Param(_)
            | Operand::Label(_)
            | Operand::Vector(_)
            | Operand::List(_)
            | Operand::Pair(..)
            | Operand::Address { .. }
            | Operand::Tensor { .. }
            | Operand::Sink
            | Operand::Name(_) => Ok(CallOperand::Value(self.value_of(operand, ty)?)),
        }
    }

    /// Where a variable of the thread is; those of others have no address.
    fn operand_of(&self, variable: u32) -> CallOperand {
        let (at, v) = (self.layout.kernel[variable as usize], &self.entry.variables[variable as usize]);
        match v.space {
            Space::Param | Space::Local => CallOperand::Memory(at, v.bytes.unwrap_or(0) as u32),
            Space::Global | Space::Shared | Space::Const => CallOperand::Value(Src::Imm(0)),
        }
    }

    /// Bytes; none for numbers, which fit everywhere.
    fn operand_bytes(&self, operand: &CallOperand) -> Option<u32> {
        match operand {
            CallOperand::Memory(_, bytes) => Some(*bytes),
            CallOperand::Value(Src::Reg(register)) => Some(self.register_bytes(*register).into()),
            CallOperand::Value(Src::Not(_)) => Some(1),
            CallOperand::Value(Src::Imm(_) | Src::Shared(_) | Src::Variable(..) | Src::Special(_)) => None,
        }
    }
}

/// The type of a number that is given for a parameter.
fn of(ty: Type) -> Ty {
    let float = match ty {
        Type::F(16) => Ty::of("f16"),
        Type::F(32) => Ty::of("f32"),
        Type::F(64) => Ty::of("f64"),
        Type::Bf16 => Ty::of("bf16"),
        Type::Pred => Some(Ty::Pred),
        Type::B(_) | Type::U(_) | Type::S(_) | Type::F(_) | Type::F16x2 | Type::Bf16x2 => None,
    };
    float.unwrap_or(Ty::Bits(8))
}
