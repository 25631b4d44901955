//! The rules of stages 1 and 2: the layouts of tiles, and which layouts an operation accepts.

use crate::ir::{Function, InstData, Stage, Value};
use crate::layout::hopper::wgmma_operand;
use crate::layout::{Layout, Mem, access};
use crate::ops::{BitOrder, DotKind, FoldKind, LayoutRule, Op, RingStep};
use crate::types::{Shape, Type};

/// Checks the layouts of what an instruction takes and yields.
pub(super) fn check(func: &Function, data: &InstData) -> Result<(), String> {
    let params = data.regions.iter().flat_map(|&region| &func.blocks[region].params);
    for &value in data.results.iter().chain(params) {
        let ty = func.ty(value);
        let allocated = matches!(data.op, Op::SharedAlloc { .. } | Op::RingSlot { .. }) || func.aliased(data).is_some();
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
    if func.stage < data.op.stage() {
        return Err(format!("`{}` at stage {}, where {}", data.op.mnemonic(), func.stage as u8, missing(func.stage)));
    }
    check_shared(func, data)?;
    if func.stage == Stage::Tile {
        return Ok(());
    }
    match data.op.layout_rule() {
        LayoutRule::Unconstrained => Ok(()),
        LayoutRule::Elementwise => {
            let mut first = data.results.first().copied();
            let mut other = None;
            data.op.for_each_operand(|v| {
                // A location is given by scalars, too.
                if func.ty(v).shape != Shape::SCALAR {
                    let first = *first.get_or_insert(v);
                    other = other.or(Some(v).filter(|&v| func.place_of[v] != func.place_of[first]));
                }
            });
            other.zip(first).map_or(Ok(()), |(v, first)| Err(differ(data, v, first)))
        }
        LayoutRule::Carried => func.carried(data).try_for_each(|position| {
            let other = position.values().find(|&v| func.place_of[v] != func.place_of[position.result]);
            other.map_or(Ok(()), |v| Err(differ(data, v, position.result)))
        }),
        LayoutRule::ShapeChange => {
            let (x, change) = data.op.shape_change().ok_or("a change of shape of no tile")?;
            if let Some(mem) = func.mem(x) {
                let alias = data.results.first().and_then(|&v| func.mem(v));
                let expected = change.result_mem(func.ty(x).shape, mem).filter(|mem| alias == Some(mem));
                return expected.map(|_| ()).ok_or_else(|| format!("{x} is in shared memory that is not the result's"));
            }
            let expected = func.layout(x).and_then(|layout| change.result_layout(func.ty(x).shape, layout));
            follows(func, data, expected)
        }
        LayoutRule::Own => check_own(func, data),
    }
}

fn differ(data: &InstData, value: Value, other: Value) -> String {
    format!("{value} and {other} meet in `{}` with different layouts", data.op.mnemonic())
}

/// What a stage does not know yet.
fn missing(stage: Stage) -> &'static str {
    match stage {
        Stage::Tile => "no thread is known",
        Stage::LaidOut | Stage::Synchronized => "no thread waits for another",
    }
}

/// Shared memory is where `smem.store`, `smem.load`, `smem.slice` and `dot` expect it, and nowhere else.
fn check_shared(func: &Function, data: &InstData) -> Result<(), String> {
    let (mut operands, mut wrong) = (Vec::new(), None);
    data.for_each_operand(|v| operands.push(v));
    if let Op::SharedStore { buffer, part, .. } | Op::SharedLoad { buffer, part, .. } = data.op {
        let mem = func.mem(buffer).ok_or_else(|| format!("{buffer} is not in shared memory"))?;
        let parts = mem.parts_of(func.copies(buffer));
        if part >= parts {
            return Err(format!("there is no part {part}: the tile has {parts}"));
        }
        operands.remove(0);
        let moved = operands.iter().chain(&data.results).filter_map(|&v| func.layout(v));
        wrong = moved.into_iter().find(|layout| access::shared(layout, mem, true).is_none());
    }
    if let Op::SharedSlice { buffer, rest, .. } = data.op {
        operands.retain(|&v| v != buffer);
        let mem = func.mem(buffer).filter(|mem| mem.is_whole(func.copies(buffer)));
        let fits = mem.zip(func.slice(data)).and_then(|(mem, (_, layout))| access::shared(&layout, mem, true));
        if fits.is_none() {
            return Err(format!("{buffer} is not in shared memory from which threads can read this slice"));
        }
        if let Some(rest) = rest.filter(|&rest| func.layout(rest) != func.layout(data.results[0])) {
            return Err(format!("{rest} has another layout than the tile that it is the rest of"));
        }
    }
    if let Some(buffer) = data.op.ring_step().and_then(RingStep::buffer) {
        operands.retain(|&v| v != buffer);
    }
    if let Op::ClusterSend { buffer, .. } | Op::ClusterReceive { buffer } = data.op {
        operands.retain(|&v| v != buffer);
        super::clusters::check_buffer(func, data, buffer)?;
    }
    if let Some((x, _)) = data.op.shape_change() {
        operands.retain(|&v| v != x);
    }
    if let Op::Dot { kind: DotKind::Wgmma, a, b, .. } = data.op
        && func.stage == Stage::Synchronized
    {
        for (k, operand) in [(1, a), (0, b)] {
            let readable = |mem: &Mem| wgmma_operand(mem, func.ty(operand).shape, k).is_some();
            if func.mem(operand).map_or(operand == b, |mem| !readable(mem)) {
                return Err(format!("{operand} is not in shared memory from which `wgmma` can read it"));
            }
        }
    }
    for (operand, layout) in func.shared_operands(&data.op) {
        operands.retain(|&v| v != operand);
        let mem = func.mem(operand).filter(|mem| mem.is_whole(func.copies(operand)));
        if mem.is_none_or(|mem| access::shared(&layout, mem, true).is_none()) {
            return Err(format!("the memory of {operand} does not fit the layout {layout} of a product"));
        }
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
    let (elements, copies) = (1u64 << mem.off().len(), ty.shape.num_copies());
    if mem.bits() != bits || elements != ty.shape.base().elements() {
        return Err(format!("shared memory of {elements} elements of {} bits for {ty}", mem.bits()));
    }
    if mem.copies() as usize > copies {
        return Err(format!("shared memory of {} copies of a base tile for {ty}, which has {copies}", mem.copies()));
    }
    Ok(())
}

/// What moves no element between threads: the result's layout follows from the operand's. A scalar has none.
fn follows(func: &Function, data: &InstData, expected: Option<Layout>) -> Result<(), String> {
    let result = data.results.first().and_then(|&v| func.layout(v));
    let scalar = data.results.first().is_some_and(|&v| func.ty(v).shape == Shape::SCALAR);
    match expected.filter(|_| !scalar) {
        Some(expected) if result != Some(&expected) => {
            Err(format!("`{}` moves no element, its result has the layout {expected}", data.op.mnemonic()))
        }
        Some(_) | None => Ok(()),
    }
}

/// Operations with a rule of their own.
fn check_own(func: &Function, data: &InstData) -> Result<(), String> {
    let own = |v: Value| func.layout(v);
    if let Op::Fold { kind, axis, order } = data.op {
        return check_fold(func, data, kind, axis as usize, order);
    }
    if let Op::Dot { kind, acc, .. } = data.op {
        return match kind {
            DotKind::Any | DotKind::Tf32 => Err("a product whose instructions are not chosen".into()),
            DotKind::Fma | DotKind::Mma | DotKind::MmaM8 | DotKind::Wgmma => follows(func, data, own(acc).cloned()),
        };
    }
    if let Op::Join { a, b } = data.op {
        if func.place_of[a] != func.place_of[b] {
            return Err(differ(data, b, a));
        }
        return follows(func, data, own(a).map(Layout::join));
    }
    if let Op::Split { x, .. } = data.op {
        let halves = own(x).and_then(Layout::split);
        return follows(func, data, Some(halves.ok_or("a split of pairs that are not in registers of one thread")?));
    }
    if let (Op::ClusterGather { x, .. } | Op::ClusterScatter { x, .. }, Some((exchange, axis))) =
        (data.op, func.exchange(data))
    {
        let expected = own(x).and_then(|layout| exchange.result_layout(layout, func.ty(x).shape, axis));
        return follows(func, data, Some(expected.ok_or("an exchange whose threads have parts of several blocks")?));
    }
    // A conversion is from any layout to any other; `check_shared` knows the accesses to shared memory.
    if let Op::Convert { .. }
    | Op::SharedStore { .. }
    | Op::SharedLoad { .. }
    | Op::SharedSlice { .. }
    | Op::ClusterSend { .. }
    | Op::ClusterReceive { .. }
    | Op::RingFill { .. } = data.op
    {
        return Ok(());
    }
    Err(format!("`{}` has no rule for layouts", data.op.mnemonic()))
}

/// The order is written, the tiles share one layout, and those of the results follow from it.
fn check_fold(func: &Function, data: &InstData, kind: FoldKind, axis: usize, order: BitOrder) -> Result<(), String> {
    let (x, noun) = (data.args[0], kind.noun());
    if order == BitOrder::Any {
        return Err(format!("a {noun} whose order is not written"));
    }
    let (shape, Some(layout)) = (func.ty(x).shape, func.layout(x)) else { return Ok(()) };
    let alike = |values: &[Value], layouts: Option<Vec<Layout>>| {
        let layouts = layouts.unwrap_or_default();
        let share = (values.len() / layouts.len().max(1)).max(1);
        let mut pairs = values.chunks(share).zip(layouts);
        let differ = |layout: &Layout, v: Value| func.layout(v).is_some_and(|other| other != layout);
        pairs.find(|(values, layout)| values.iter().any(|&v| differ(layout, v))).map(|(_, layout)| layout)
    };
    if alike(&data.args, kind.argument_layouts(layout, shape, axis, order)).is_some() {
        return Err(format!("a {noun} of tiles in different layouts"));
    }
    let base = shape.base();
    let inner: u32 = base.dims()[axis + 1..].iter().product();
    let fields = kind.exchanged(order, base.dims()[axis]) * inner;
    if func.stage == Stage::Synchronized && layout.warp.iter().any(|c| c & fields != 0) {
        return Err(format!("a {noun} between warps at stage 2"));
    }
    match alike(&data.results, kind.result_layouts(layout, shape, axis, order)) {
        Some(expected) => {
            Err(format!("`{}` moves no element, its result has the layout {expected}", data.op.mnemonic()))
        }
        None => Ok(()),
    }
}

fn check_layout(func: &Function, shape: Shape, layout: &Layout) -> Result<(), String> {
    let elements = shape.base().elements();
    if layout.warp.len() as u32 != func.num_warps.trailing_zeros() {
        return Err(format!("a layout with {} warp bits in a kernel of {} warps", layout.warp.len(), func.num_warps));
    }
    if layout.reg.contains(&0) {
        return Err("a layout whose registers hold an element twice".into());
    }
    let mut basis: Vec<u32> = Vec::new();
    for &column in layout.reg.iter().chain(&layout.lane).chain(&layout.warp) {
        if u64::from(column) >= elements {
            return Err(format!("a layout with a column {column} for {} elements", elements));
        }
        let rest = basis.iter().fold(column, |c, &b| c.min(c ^ b));
        if rest != 0 {
            basis.push(rest);
        }
    }
    if 1u64 << basis.len() != elements {
        return Err(format!("a layout that reaches {} of {} elements", 1u64 << basis.len(), elements));
    }
    Ok(())
}
