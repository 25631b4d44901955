//! Scalars that the arguments of a launch say, and how often a loop runs for them.
//!
//! Operations in their order are given to [`Scalars::define`]; what depends on memory, or on a parameter without an
//! argument, is not known. The first program stands for all.

use crate::hash::WordMap;
use crate::interp::evaluate;
use crate::ir::{Function, Inst, InstData, Value};
use crate::metadata::Arg;
use crate::ops::Op;
use crate::types::{Constant, Elem};
use std::borrow::Cow;

/// The scalars of one launch.
pub struct Scalars<'f> {
    func: &'f Function,
    programs: Option<[u32; 3]>,
    known: WordMap<Value, Option<u64>>,
}

impl<'f> Scalars<'f> {
    /// Of these arguments, a value for each parameter of the function, and of a grid, if it is known.
    pub fn new(func: &'f Function, args: &[Arg], programs: Option<[u32; 3]>) -> Scalars<'f> {
        let known = func.params.iter().zip(args).map(|(param, arg)| (param.value, Some(arg.bits()))).collect();
        Scalars { func, programs, known }
    }

    /// Keeps the result of an operation, if it is a scalar that the arguments say.
    #[expect(clippy::wildcard_enum_match_arm, reason = "whatever only depends on operands is evaluated")]
    pub fn define(&mut self, inst: Inst, data: &InstData) {
        let &[result] = &data.results[..] else { return };
        let func = self.func;
        if func.ty(result).shape.rank() != 0 || !matches!(func.ty(result).elem, Elem::Num(_)) {
            return;
        }
        let known = &self.known;
        let operand = |value: Value| Some(Cow::Owned(vec![(*known.get(&value)?)?]));
        let found = match func.insts[inst].op {
            Op::ProgramId { .. } | Op::BlockId {} | Op::ClusterRank {} => Some(0),
            Op::NumPrograms { axis } => {
                self.programs.and_then(|sizes| sizes.get(usize::from(axis.0)).map(|&size| u64::from(size)))
            }
            ref op => {
                evaluate(func, op, Some(result), &operand).and_then(Result::ok).and_then(|bits| bits.first().copied())
            }
        };
        self.known.insert(result, found);
    }

    /// The bits of a scalar, if they are known.
    pub fn value(&self, value: Value) -> Option<u64> {
        self.known.get(&value).copied().flatten()
    }

    /// How often a loop from a start to an end in steps runs, if that is known.
    pub fn trips(&self, [start, end, step]: [Value; 3]) -> Option<f64> {
        let int = |value: Value| {
            let dtype = self.func.ty(value).elem.num()?;
            Constant { dtype, bits: self.value(value)? }.as_int()
        };
        Some(((int(end)? - int(start)?).max(0) as f64 / int(step)?.max(1) as f64).ceil())
    }
}
