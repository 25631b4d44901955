//! Checks that a function is what the IR's page says. Runs after every pass.
//!
//! Checked:
//! - every operand is defined, before its use, in the same block or one around it, exactly once;
//! - regions, their parameters and what they yield are those of the operation that owns them;
//! - the type of a result is what [`crate::ops::infer`] says;
//! - the number of warps is a power of two from 1 to 32;
//! - stage 0: no value has a layout;
//! - stage 1: every tile has a layout, no scalar has one; the layout has as many warp bits as the function, no zero column
//!   among its registers, and reaches every element; operands of an elementwise operation, of an access, and their result
//!   share one layout; so do what is carried into a loop, its parameter, what is yielded, and the result; a
//!   reshaped, permuted or reduced tile, and the sum of a product, have the layout that follows from the operand's; the order
//!   of a reduction and the instructions of a product are chosen;
//! - stage 2: the same of every tile that is not in shared memory; what is there has the memory's bits and elements, and only
//!   `smem.store` and `smem.load` take it, with layouts whose registers tell its parts apart; no reduction is over a bit that
//!   warps hold.
//!
//! Not checked: that addresses are in bounds, that masks are right, that a division succeeds, that barriers are
//! between a thread's write and another's read. The interpreter finds those.

mod layouts;

use super::{Block, Function, Inst, InstData, Value};
use crate::ops::{self, LayoutRule, Op, Text};
use crate::types::{DType, Shape, Type};
use std::collections::HashSet;

/// A rule that is broken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyError {
    /// Where, if at an instruction.
    pub inst: Option<Inst>,
    /// Which rule, and by what.
    pub message: String,
}

/// Checks every rule.
///
/// # Errors
/// All that are broken.
pub fn verify(func: &Function) -> Result<(), Vec<VerifyError>> {
    let mut verifier =
        Verifier { func, scope: Vec::new(), known: HashSet::new(), ever: HashSet::new(), errors: Vec::new() };
    if !func.num_warps.is_power_of_two() || func.num_warps > 32 {
        verifier.report(None, format!("{} is not a number of warps: 1, 2, 4, 8, 16 or 32", func.num_warps));
    }
    for param in &func.params {
        verifier.define(None, param.value);
    }
    verifier.block(func.body);
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

struct Verifier<'a> {
    func: &'a Function,
    /// What is in scope at the current point, in order of definition.
    scope: Vec<Value>,
    known: HashSet<Value>,
    /// What was defined anywhere.
    ever: HashSet<Value>,
    errors: Vec<VerifyError>,
}

impl Verifier<'_> {
    fn report(&mut self, inst: Option<Inst>, message: String) {
        self.errors.push(VerifyError { inst, message });
    }

    fn define(&mut self, inst: Option<Inst>, value: Value) {
        if !self.ever.insert(value) {
            self.report(inst, format!("{value} is defined twice"));
        }
        self.known.insert(value);
        self.scope.push(value);
    }

    fn block(&mut self, block: Block) {
        let func = self.func;
        let outer = self.scope.len();
        let insts = &func.blocks[block].insts;
        for (i, &inst) in insts.iter().enumerate() {
            let data = &func.insts[inst];
            let errors = self.errors.len();
            data.for_each_operand(|v| {
                if !self.known.contains(&v) {
                    self.report(Some(inst), format!("{v} is not defined before this line"));
                }
            });
            let is_last = i + 1 == insts.len();
            if (data.op == Op::Yield {}) && (block == func.body || !is_last) {
                self.report(Some(inst), "a `yield` that does not end a region".into());
            }
            if self.errors.len() == errors {
                self.check_types(inst, data);
                if let Err(message) = layouts::check(func, data) {
                    self.report(Some(inst), message);
                }
            }
            for &region in &data.regions {
                let inner = self.scope.len();
                func.blocks[region].params.iter().for_each(|&param| self.define(Some(inst), param));
                self.block(region);
                self.leave(inner);
            }
            data.results.iter().for_each(|&result| self.define(Some(inst), result));
        }
        // The values of a region are out of scope after it.
        if block != func.body {
            self.leave(outer);
        }
    }

    fn leave(&mut self, outer: usize) {
        while self.scope.len() > outer {
            if let Some(value) = self.scope.pop() {
                self.known.remove(&value);
            }
        }
    }

    fn check_types(&mut self, inst: Inst, data: &InstData) {
        let func = self.func;
        let types = |values: &[Value]| values.iter().map(|&v| func.ty(v)).collect::<Vec<_>>();
        let results = types(&data.results);
        let expected = match ops::infer(&data.op, &|v| func.ty(v)) {
            Err(message) => return self.report(Some(inst), message),
            Ok(ty) => ty,
        };
        if let Op::Assert { message: text, .. } | Op::Print { text, .. } = data.op {
            let counts = match (func.texts.get(text.0 as usize), data.op) {
                (None, _) => return self.report(Some(inst), format!("there is no text ${}", text.0)),
                (Some(text), Op::Print { values, .. }) => (Text::pieces(text).len() - 1, values.as_slice().len()),
                (Some(_), _) => (0, 0),
            };
            if counts.0 != counts.1 {
                self.report(
                    Some(inst),
                    format!("{} values for the {} placeholders of ${}", counts.1, counts.0, text.0),
                );
            }
        }
        if data.op.regions() == 0 && data.op.layout_rule() != LayoutRule::Carried {
            if expected.into_iter().collect::<Vec<_>>() != results || !data.args.is_empty() || !data.regions.is_empty()
            {
                self.report(Some(inst), format!("`{}` does not yield {results:?}", data.op.mnemonic()));
            }
            return;
        }
        if let Err(message) = check_structure(func, data, &results, &types(&data.args)) {
            self.report(Some(inst), message);
        }
    }
}

/// Parameters and yields of the regions of a structured operation.
#[expect(clippy::wildcard_enum_match_arm, reason = "the table says which operations own regions")]
fn check_structure(func: &Function, data: &InstData, results: &[Type], args: &[Type]) -> Result<(), String> {
    let types = |values: &[Value]| values.iter().map(|&v| func.ty(v)).collect::<Vec<_>>();
    // Parameters and yielded types of each region.
    let expected: Vec<(Vec<Type>, Vec<Type>)> = match data.op {
        Op::For { start, .. } => {
            let params = [&[func.ty(start)], args].concat();
            vec![(params, args.to_vec())]
        }
        Op::While {} => vec![(args.to_vec(), vec![Type::scalar(DType::Bool)]), (args.to_vec(), args.to_vec())],
        Op::If { .. } => vec![(Vec::new(), results.to_vec()), (Vec::new(), results.to_vec())],
        Op::Reduce { axis, order } => {
            let scalars: Vec<Type> = args.iter().map(|t| t.with_shape(Shape::SCALAR)).collect();
            let shape = args.first().map_or(Shape::SCALAR, |t| t.shape);
            if args.iter().any(|t| t.shape != shape) || usize::try_from(axis).map_or(true, |axis| axis >= shape.rank())
            {
                return Err(format!("a reduction of {} along axis {axis}", show(args)));
            }
            let Some(reduced) = order.fold(shape, axis as usize) else {
                return Err(format!(
                    "an order of bits that {shape} does not have along axis {axis}, or that names one twice"
                ));
            };
            let expected: Vec<Type> = args.iter().map(|t| t.with_shape(reduced)).collect();
            if results != expected {
                return Err(format!("a reduction that yields {}, not {}", show(results), show(&expected)));
            }
            vec![([scalars.clone(), scalars.clone()].concat(), scalars)]
        }
        _ => Vec::new(),
    };
    let name = data.op.mnemonic();
    if data.regions.len() != data.op.regions() {
        return Err(format!("`{name}` has {} regions, not {}", data.regions.len(), data.op.regions()));
    }
    let carried = matches!(data.op, Op::For { .. } | Op::While {});
    if carried && results != args {
        return Err(format!("`{name}` carries {}, and yields {}", show(args), show(results)));
    }
    for (&region, (params, yielded)) in data.regions.iter().zip(expected) {
        if types(&func.blocks[region].params) != params {
            return Err(format!("a region of `{name}` needs parameters {}", show(&params)));
        }
        let ends = func.blocks[region].insts.last().is_some_and(|&last| func.insts[last].op == Op::Yield {});
        if !ends || types(func.yielded(region)) != yielded {
            return Err(format!("a region of `{name}` has to yield {}", show(&yielded)));
        }
    }
    Ok(())
}

fn show(types: &[Type]) -> String {
    format!("({})", types.iter().map(Type::to_string).collect::<Vec<_>>().join(", "))
}
