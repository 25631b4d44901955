//! The rules of stages 1 and 2: the layouts of tiles, and which layouts an operation accepts.

use crate::ir::{Function, InstData, Stage, Value};
use crate::layout::{Layout, Mem, access};
use crate::ops::{BitOrder, DotKind, LayoutRule, Op};
use crate::types::{Shape, Type};

/// Checks the layouts of what an instruction takes and yields.
#[expect(clippy::wildcard_enum_match_arm, reason = "all others are for every stage")]
pub(super) fn check(func: &Function, data: &InstData) -> Result<(), String> {
    let params = data.regions.iter().flat_map(|&region| &func.blocks[region].params);
    for &value in data.results.iter().chain(params) {
        let ty = func.ty(value);
        let allocated = matches!(data.op, Op::SharedAlloc { .. });
        match (func.stage, func.layout(value), func.mem(value)) {
            (Stage::Tile, None, None) => {}
            (Stage::Tile, _, _) => return Err(format!("{value} has a layout at stage 0")),
            (Stage::LaidOut | Stage::Synchronized, None, None) if ty.shape == Shape::SCALAR => {}
            (Stage::LaidOut | Stage::Synchronized, Some(layout), None) if ty.shape != Shape::SCALAR && !allocated => {
                check_layout(func, ty.shape, layout)?;
            }
            (Stage::Synchronized, None, Some(mem)) if allocated => check_mem(ty, mem)?,
            (_, None, None) => return Err(format!("{value} has no layout")),
            (_, Some(_), _) if ty.shape == Shape::SCALAR => {
                return Err(format!("{value} is a scalar and has a layout"));
            }
            (_, Some(_), _) => return Err(format!("{value} is in shared memory and has a layout of registers")),
            (_, None, Some(_)) => return Err(format!("{value} has a layout of shared memory and is not there")),
        }
    }
    let needed = match data.op {
        Op::SharedAlloc { .. } | Op::SharedStore { .. } | Op::SharedLoad { .. } | Op::Sync { .. } => {
            Stage::Synchronized
        }
        Op::Convert { .. } => Stage::LaidOut,
        _ => Stage::Tile,
    };
    if func.stage < needed {
        return Err(format!("`{}` at stage {}, where {}", data.op.mnemonic(), func.stage as u8, missing(func.stage)));
    }
    check_shared(func, data)?;
    if func.stage == Stage::Tile {
        return Ok(());
    }
    // Groups of values that share a layout.
    let mut groups: Vec<Vec<Value>> = Vec::new();
    match data.op.layout_rule() {
        LayoutRule::Unconstrained | LayoutRule::Derived => {}
        LayoutRule::Elementwise => {
            let mut group = data.results.clone();
            data.op.for_each_operand(|v| group.push(v));
            groups.push(group);
        }
        LayoutRule::Carried => {
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
        let Some(&first) = group.first() else { continue };
        if let Some(other) = group.iter().find(|&&v| func.layout_of[v] != func.layout_of[first]) {
            return Err(format!("{other} and {first} meet in `{}` with different layouts", data.op.mnemonic()));
        }
    }
    Ok(())
}

/// What a stage does not know yet.
fn missing(stage: Stage) -> &'static str {
    match stage {
        Stage::Tile => "no thread is known",
        Stage::LaidOut | Stage::Synchronized => "no thread waits for another",
    }
}

/// Shared memory is where `smem.store` and `smem.load` expect it, and nowhere else.
fn check_shared(func: &Function, data: &InstData) -> Result<(), String> {
    let (mut operands, mut wrong) = (Vec::new(), None);
    data.for_each_operand(|v| operands.push(v));
    if let Op::SharedStore { buffer, part, .. } | Op::SharedLoad { buffer, part, .. } = data.op {
        let mem = func.mem(buffer).ok_or_else(|| format!("{buffer} is not in shared memory"))?;
        if part >> mem.parts() != 0 {
            return Err(format!("there is no part {part}: the tile has {}", 1u32 << mem.parts()));
        }
        operands.remove(0);
        let moved = operands.iter().chain(&data.results).filter_map(|&v| func.layout(v));
        wrong = moved.into_iter().find(|layout| access::shared(layout, mem, true).is_none());
    }
    if let Some(value) = operands.into_iter().find(|&v| func.mem(v).is_some()) {
        return Err(format!("{value} is in shared memory; `{}` needs it in registers", data.op.mnemonic()));
    }
    if let Op::SharedLoad { rest: Some(rest), .. } = data.op
        && func.layout(rest) != func.layout(data.results[0])
    {
        return Err(format!("{rest} has another layout than the tile that it is the rest of"));
    }
    wrong.map_or(Ok(()), |layout| Err(format!("registers of {layout} do not tell the parts of the tile apart")))
}

fn check_mem(ty: Type, mem: &Mem) -> Result<(), String> {
    let bits = ty.elem.bits();
    let elements = 1u64 << mem.off().len();
    if mem.bits() != bits || elements != ty.shape.elements() {
        return Err(format!("shared memory of {elements} elements of {} bits for {ty}", mem.bits()));
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
            let inner: u32 = shape.dims()[axis as usize + 1..].iter().product();
            let fields = (folded & (shape.dims()[axis as usize] - 1)) * inner;
            if func.stage == Stage::Synchronized && own(x).is_some_and(|l| l.warp.iter().any(|c| c & fields != 0)) {
                return Err("a reduction between warps at stage 2".into());
            }
            own(x).and_then(|layout| layout.fold_axis(shape, axis as usize, folded)).filter(|_| result.is_some())
        }
        Op::Dot { kind: DotKind::Any | DotKind::Tf32, .. } => {
            return Err("a product whose instructions are not chosen".into());
        }
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
