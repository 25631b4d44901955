//! Checks that a function is what the IR's page says. Runs after every pass.
//!
//! Checked:
//! - every operand is defined, before its use, in the same block or one around it, exactly once;
//! - regions, their parameters and what they yield are those of the operation that owns them;
//! - the type of a result is what [`crate::ops::infer`] says;
//! - the parameters of a view are an address, and an extent and a stride for each axis; an access to a view has an index for each;
//! - the number of warps is a power of two from 1 to 32; the width of the bands of a raster from 2 to 16; the numbers
//!   of stages are from 1 to 8, and of the kernel or a `for`; a bound of registers is
//!   from 24 to 255, and the blocks that share K are 1, 2, 4 or 8;
//! - stage 0: no value has a layout;
//! - stage 1: every tile has a layout, no scalar has one; the layout has as many warp bits as the function, no zero column
//!   among its registers, and reaches every element; operands of an elementwise operation, of an access, and their result
//!   share one layout; so do what is carried into a loop, its parameter, what is yielded, and the result; a
//!   reshaped, permuted or reduced tile, and the sum of a product, have the layout that follows from the operand's; the order
//!   of a reduction and the instructions of a product are chosen;
//! - stage 2: the same of every tile that is not in shared memory; what is there has the memory's bits and elements, and only
//!   `smem.store` and `smem.load` take it, with layouts whose registers tell its parts apart, products, and fills of a ring, whose
//!   buffers are filled in order; no reduction is over a bit that warps hold; nothing takes the sum of a `wgmma` that is in flight, but the
//!   product that adds to it and the loop that carries it in its registers.
//! - in a cluster of blocks: these meet in the kernel's own block alone, and what is exchanged is of as many blocks; a buffer that receives
//!   messages does so once, nothing else writes it, and each block's part is in one piece.
//!
//! Not checked: that addresses are in bounds, that masks are right, that a division succeeds, that barriers are
//! between a thread's write and another's read. The interpreter finds those.

mod clusters;
mod layouts;
mod products;
mod rings;

use super::{Block, Function, Inst, InstData, RingId, Value, View};
use crate::entity::SideTable;
use crate::ops::{self, Given, Location, Memory, Op, Signature, Text};
use crate::types::{CLUSTER_K, DType, Elem, REGISTERS, STAGES, Type};

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
        Verifier { func, scope: Vec::new(), state: SideTable::new(State::Undefined), errors: Vec::new() };
    if !func.num_warps.is_power_of_two() || func.num_warps > 32 {
        verifier.report(None, format!("{} is not a number of warps: 1, 2, 4, 8, 16 or 32", func.num_warps));
    }
    if let Some(band) = func.raster.filter(|&band| !band.is_power_of_two() || band == 1 || band > 16) {
        verifier.report(None, format!("{band} is not a width of bands: 2, 4, 8 or 16"));
    }
    if let Err(message) = check_stages(func.num_stages) {
        verifier.report(None, message);
    }
    if let Some(registers) = func.max_registers.filter(|registers| !REGISTERS.contains(registers)) {
        verifier.report(None, format!("{registers} is not a bound of registers: 24 to 255"));
    }
    if !CLUSTER_K.contains(&func.cluster_k) {
        verifier.report(None, format!("{} is not a number of blocks that share K: 1, 2, 4 or 8", func.cluster_k));
    }
    for param in &func.params {
        verifier.define(None, param.value);
    }
    for view in &func.views {
        if let Err(message) = check_view(func, view) {
            verifier.report(None, message);
        }
    }
    if let Err(message) = check_teams(func) {
        verifier.report(None, message);
    }
    verifier.block(func.body);
    if let Err(message) = clusters::check_function(func) {
        verifier.report(None, message);
    }
    for ring in func.rings.keys() {
        if let Err(message) = rings::check_ring(func, ring) {
            verifier.report(None, message);
        }
    }
    // What it follows through loops is that of a function that is right otherwise.
    if verifier.errors.is_empty()
        && let Err((inst, message)) = products::check(func)
    {
        verifier.report(Some(inst), message);
    }
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

/// Teams take turns where a producer fills: each of them has slots of its own in rings of results, and nothing else in shared memory.
fn check_teams(func: &Function) -> Result<(), String> {
    let teams = func.teams;
    let takes_turns = func.contains(func.body, |op| matches!(op, Op::TurnWait {} | Op::TurnPass {}));
    if teams == 1 {
        return if takes_turns { Err("a turn where there is one team".into()) } else { Ok(()) };
    }
    if teams != 2 || func.producer.is_none() || func.blocks_of_cluster() > 1 {
        return Err(format!("{teams} is not a number of teams: 1, or 2 of a block with a producer"));
    }
    let is_whole = |&ring: &RingId| !func.is_of_results(ring) || func.rings[ring].slots.is_multiple_of(teams);
    if !func.rings.keys().all(|ring| is_whole(&ring)) || func.buffers().iter().any(|&(_, v)| func.ring_of(v).is_none())
    {
        return Err(format!("shared memory that {teams} teams do not divide"));
    }
    Ok(())
}

/// Of a value, at the point that is checked.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Undefined,
    InScope,
    OutOfScope,
}

struct Verifier<'a> {
    func: &'a Function,
    /// What is in scope at the current point, in order of definition.
    scope: Vec<Value>,
    state: SideTable<Value, State>,
    errors: Vec<VerifyError>,
}

impl Verifier<'_> {
    fn report(&mut self, inst: Option<Inst>, message: String) {
        self.errors.push(VerifyError { inst, message });
    }

    fn define(&mut self, inst: Option<Inst>, value: Value) {
        if self.state[value] != State::Undefined {
            self.report(inst, format!("{value} is defined twice"));
        }
        self.state[value] = State::InScope;
        self.scope.push(value);
    }

    fn block(&mut self, block: Block) {
        let func = self.func;
        let outer = self.scope.len();
        let insts = &func.blocks[block].insts;
        if let Err(message) = rings::check_fills(func, block) {
            self.report(insts.first().copied(), message);
        }
        for (i, &inst) in insts.iter().enumerate() {
            let data = &func.insts[inst];
            let errors = self.errors.len();
            data.for_each_operand(|v| {
                if self.state[v] != State::InScope {
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
                self.state[value] = State::OutOfScope;
            }
        }
    }

    fn check_types(&mut self, inst: Inst, data: &InstData) {
        let func = self.func;
        let checked = check_loop(func, inst)
            .and_then(|()| check_text(func, &data.op))
            .and_then(|()| check_location(func, &data.op))
            .and_then(|()| rings::check(func, data))
            .and_then(|()| check_signature(func, data));
        if let Err(message) = checked {
            self.report(Some(inst), message);
        }
    }
}

fn check_stages(stages: u32) -> Result<(), String> {
    if STAGES.contains(&stages) { Ok(()) } else { Err(format!("{stages} is not a number of stages: 1 to 8")) }
}

/// Nothing but a `for` has a number of stages.
fn check_loop(func: &Function, inst: Inst) -> Result<(), String> {
    let op = &func.insts[inst].op;
    match func.stages_of[inst] {
        Some(_) if !matches!(op, Op::For { .. }) => Err(format!("`{}` has no stages", op.mnemonic())),
        Some(stages) => check_stages(stages),
        None => Ok(()),
    }
}

/// A view is made of parameters of the right types.
fn check_view(func: &Function, View { base, extents, strides }: &View) -> Result<(), String> {
    let param = |v: &Value| func.params.iter().any(|param| param.value == *v);
    let are = |values: &[Value], dtype: DType| values.iter().all(|v| param(v) && func.ty(*v) == Type::scalar(dtype));
    let address = param(base) && matches!(func.ty(*base).elem, Elem::Ptr { .. });
    let axes = extents.len() == strides.len() && !extents.is_empty();
    if address && axes && are(extents, DType::I32) && are(strides, DType::I64) {
        return Ok(());
    }
    Err(format!(
        "the view {base} needs an address, and an i32 as the extent and an i64 as the stride of each axis, as parameters"
    ))
}

/// A view that is accessed is one, and has as many axes as the index.
fn check_location(func: &Function, op: &Op) -> Result<(), String> {
    let Some(Memory::Global(Location::View { base, at, .. })) = op.access().map(|access| access.memory) else {
        return Ok(());
    };
    let (view, given) = (func.view(base).ok_or_else(|| format!("{base} is not a view"))?, at.as_slice().len());
    if view.extents.len() == given {
        return Ok(());
    }
    Err(format!("{given} indices of the view {base}, which has {} axes", view.extents.len()))
}

/// The text of an assertion or a line to print exists, and has as many placeholders as there are values.
fn check_text(func: &Function, op: &Op) -> Result<(), String> {
    let (Op::Assert { message: text, .. } | Op::Print { text, .. }) = *op else { return Ok(()) };
    let known = func.texts.get(text.0 as usize).ok_or_else(|| format!("there is no text ${}", text.0))?;
    let Op::Print { values, .. } = op else { return Ok(()) };
    let (values, placeholders) = (values.as_slice().len(), Text::pieces(known).len() - 1);
    if values != placeholders {
        return Err(format!("{values} values for the {placeholders} placeholders of ${}", text.0));
    }
    Ok(())
}

/// Types of results, and of the parameters and yields of regions, are those that [`ops::infer`] says.
fn check_signature(func: &Function, data: &InstData) -> Result<(), String> {
    let types = |values: &[Value]| values.iter().map(|&v| func.ty(v)).collect::<Vec<_>>();
    let (name, args) = (data.op.mnemonic(), types(&data.args));
    let yielded = data.regions.first().map_or(Vec::new(), |&region| types(func.yielded(region)));
    let given = Given { args: &args, yielded: &yielded };
    let (results, regions) = match ops::infer(&data.op, &|v| func.ty(v), given)? {
        Signature::Structured { results, regions } => (results, regions),
        Signature::Plain(expected) => {
            let found = (data.results.first().map(|&v| func.ty(v)), data.results.len() < 2);
            if found != (expected, true) || !data.args.is_empty() || !data.regions.is_empty() {
                return Err(format!("`{name}` does not yield {:?}", types(&data.results)));
            }
            return Ok(());
        }
    };
    if data.regions.len() != data.op.regions() {
        return Err(format!("`{name}` has {} regions, not {}", data.regions.len(), data.op.regions()));
    }
    if types(&data.results) != results {
        return Err(format!("`{name}` yields {}, not {}", ops::list(&types(&data.results)), ops::list(&results)));
    }
    for (&region, [params, yielded]) in data.regions.iter().zip(regions) {
        if types(&func.blocks[region].params) != params {
            return Err(format!("a region of `{name}` needs parameters {}", ops::list(&params)));
        }
        let ends = func.blocks[region].insts.last().is_some_and(|&last| func.insts[last].op == Op::Yield {});
        if !ends || types(func.yielded(region)) != yielded {
            return Err(format!("a region of `{name}` has to yield {}", ops::list(&yielded)));
        }
    }
    Ok(())
}
