//! Checks that a function is what the IR's page says. Runs after every pass.
//!
//! Checked:
//! - every operand is defined, before its use, in the same block or one around it, exactly once;
//! - regions, their parameters and what they yield are those of the operation that owns them;
//! - the type of a result is what [`crate::ops::infer`] says;
//! - the number of warps is a power of two from 1 to 32;
//! - stage 0: no value has a layout, and there is no barrier;
//! - stage 1: every tile has a layout, no scalar has one; the layout has as many warp bits as the function, no zero column
//!   among its registers, and reaches every element; operands of an elementwise operation, of an access, and their result
//!   share one layout; so do what is carried into a loop, its parameter, what is yielded, and the result; a
//!   reshaped, permuted or reduced tile, and the sum of a product, have the layout that follows from the operand's; the order
//!   of a reduction and the instructions of a product are chosen.
//!
//! Not checked: that addresses are in bounds, that masks hide what they should, that a division succeeds. The interpreter
//! finds those.

use super::types::{DType, Shape, Type};
use super::{Block, Function, Inst, InstData, Stage, Value};
use crate::layout::Layout;
use crate::ops::{self, BitOrder, DotKind, Op, Tiles};
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
        verifier.report(None, format!("{} is no number of warps: 1, 2, 4, 8, 16 or 32", func.num_warps));
    }
    for param in &func.params {
        verifier.define(None, param.value);
    }
    verifier.block(func.body);
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

struct Verifier<'a> {
    func: &'a Function,
    /// What is defined where the walk stands, in order of definition.
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
                if let Err(message) = check_layouts(func, data) {
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
        // The values of a region are gone behind it.
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
        if data.op.regions() == 0 && data.op.tiles() != Tiles::Carried {
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
                    "an order of bits that {shape} has not along axis {axis}, or that names one twice"
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

fn check_layouts(func: &Function, data: &InstData) -> Result<(), String> {
    let params = data.regions.iter().flat_map(|&region| &func.blocks[region].params);
    for &value in data.results.iter().chain(params) {
        let is_tile = func.ty(value).shape != Shape::SCALAR;
        match (func.stage, is_tile, func.layout(value)) {
            (Stage::Tile, _, None) | (Stage::Laid, false, None) => {}
            (Stage::Laid, true, Some(layout)) => check_layout(func, func.ty(value).shape, layout)?,
            (Stage::Tile, _, Some(_)) => return Err(format!("{value} has a layout at stage 0")),
            (Stage::Laid, true, None) => return Err(format!("{value} has no layout")),
            (Stage::Laid, false, Some(_)) => return Err(format!("{value} is a scalar and has a layout")),
        }
    }
    if func.stage == Stage::Tile {
        let of_threads = matches!(data.op, Op::Barrier {} | Op::Convert { .. });
        return if of_threads {
            Err(format!("`{}` at stage 0, where no thread is known", data.op.mnemonic()))
        } else {
            Ok(())
        };
    }
    // Groups of values that share a layout.
    let mut groups: Vec<Vec<Value>> = Vec::new();
    match data.op.tiles() {
        Tiles::Apart | Tiles::Derived => {}
        Tiles::Together => {
            let mut group = data.results.clone();
            data.op.for_each_operand(|v| group.push(v));
            groups.push(group);
        }
        Tiles::Carried => {
            for (i, &result) in data.results.iter().enumerate() {
                let mut group = vec![result];
                group.extend(data.args.get(i));
                for (k, &region) in data.regions.iter().enumerate() {
                    let own = func.blocks[region].params.len().saturating_sub(data.args.len());
                    group.extend(func.blocks[region].params.get(own + i));
                    let is_condition = data.op == (Op::While {}) && k == 0;
                    group.extend(func.yielded(region).get(i).filter(|_| !is_condition));
                }
                groups.push(group);
            }
        }
    }
    check_moves(func, data)?;
    for group in groups {
        let first = func.layout_of[group[0]];
        if let Some(other) = group.iter().find(|&&v| func.layout_of[v] != first) {
            return Err(format!("{other} and {} meet in `{}` with different layouts", group[0], data.op.mnemonic()));
        }
    }
    Ok(())
}

/// What moves no element between threads: the result's layout follows from the operand's.
#[expect(clippy::wildcard_enum_match_arm, reason = "the table says in which operations layouts are derived")]
fn check_moves(func: &Function, data: &InstData) -> Result<(), String> {
    let own = |v: Value| func.layout(v);
    let result = data.results.first().and_then(|&v| own(v));
    let expected = match data.op {
        Op::Reshape { x, .. } => own(x).filter(|_| result.is_some()).cloned(),
        Op::Permute { x, order } => {
            let perm: Vec<usize> = order.dims().iter().map(|&d| d as usize).collect();
            own(x).and_then(|layout| layout.trans(func.ty(x).shape, &perm))
        }
        Op::Reduce { axis, order } => {
            if order == BitOrder::Any {
                return Err("a reduction whose order is not written".into());
            }
            let x = data.args[0];
            if data.args.iter().any(|&v| func.layout_of[v] != func.layout_of[x]) {
                return Err("a reduction of tiles in different layouts".into());
            }
            let shape = func.ty(x).shape;
            let folded = order.bits(20).iter().fold(0, |mask, &bit| mask | 1 << bit);
            own(x).and_then(|layout| layout.fold_axis(shape, axis as usize, folded)).filter(|_| result.is_some())
        }
        Op::Dot { kind: DotKind::Any, .. } => return Err("a product whose instructions are not chosen".into()),
        Op::Dot { acc, .. } => own(acc).cloned(),
        _ => None,
    };
    match expected {
        Some(expected) if result != Some(&expected) => {
            Err(format!("`{}` moves no element, its result has the layout {expected}", data.op.mnemonic()))
        }
        _ => Ok(()),
    }
}

fn check_layout(func: &Function, shape: Shape, layout: &Layout) -> Result<(), String> {
    if layout.warp.len() as u32 != func.num_warps.trailing_zeros() {
        return Err(format!("a layout with {} warp bits in a kernel of {} warps", layout.warp.len(), func.num_warps));
    }
    if layout.reg.contains(&0) {
        return Err("a layout whose registers hold an element twice".into());
    }
    let mut basis: Vec<u32> = Vec::new();
    for &column in layout.reg.iter().chain(&layout.lane).chain(&layout.warp) {
        if u64::from(column) >= shape.elements() {
            return Err(format!("a layout with a column {column} for {} elements", shape.elements()));
        }
        let rest = basis.iter().fold(column, |c, &b| c.min(c ^ b));
        if rest != 0 {
            basis.push(rest);
        }
    }
    if 1u64 << basis.len() != shape.elements() {
        return Err(format!("a layout that reaches {} of {} elements", 1u64 << basis.len(), shape.elements()));
    }
    Ok(())
}
