//! A function whose programs a cluster runs, from one whose programs a block runs.

use super::axes::Axes;
use super::product::Product;
use crate::ir::{Function, Inst, InstData, Value};
use crate::ops::kinds::{BinaryKind, CompareKind};
use crate::ops::{BitOrder, FoldKind, Location, Op, Values, ring_ops, shared_ops, synchronizes};
use crate::span::Span;
use crate::types::{Constant, DType, Elem, Shape, Type};

/// Partitions rows among this many blocks.
///
/// # Errors
/// An operation that [`Axes`] has not understood.
pub(super) fn rows(func: &mut Function, axes: &Axes, blocks: u32) -> Result<(), String> {
    let old = func.blocks[func.body].insts.clone();
    shorten(func, axes, blocks);
    let mut writer = Writer::begin(func, blocks, &old)?;
    let segment = writer.segment(axes)?;
    old.into_iter().try_for_each(|inst| writer.instruction(inst, &segment))?;
    writer.end();
    Ok(())
}

/// Partitions a product along K among this many blocks.
///
/// # Errors
/// As [`rows`].
pub(super) fn product(func: &mut Function, product: &Product, blocks: u32) -> Result<(), String> {
    let old = func.blocks[func.body].insts.clone();
    let (sum, region) = (product.sum, func.insts[product.around].regions[0]);
    let ty = func.ty(sum);
    // What the blocks have added up takes the place of the loop's sum, which is of one block.
    let total = func.types.push(ty);
    let mut columns = Axes { extent: product.columns.extent, of: product.columns.of.clone() };
    let axis = columns.of[sum].take().ok_or("a sum that is not divided")?;
    columns.of[total] = Some(axis);
    for &inst in &old {
        func.insts[inst].map_operands(|v| if v == sum { total } else { v });
    }
    shorten(func, &product.depth, blocks);
    shorten(func, &columns, blocks);
    let mut writer = Writer::begin(func, blocks, &old)?;
    let depth = writer.segment(&product.depth)?;
    let columns = writer.segment(&columns)?;
    for inst in old {
        if inst != product.around {
            writer.instruction(inst, &columns)?;
            continue;
        }
        writer.span = writer.func.insts[inst].span;
        let zero =
            writer.op(Op::Const { value: Constant { dtype: ty.elem.num().ok_or("a sum of no numbers")?, bits: 0 } })?;
        writer.func.insts[inst].args = vec![writer.op(Op::Splat { x: zero, shape: ty.shape })?];
        let outside = std::mem::take(&mut writer.insts);
        for inst in writer.func.blocks[region].insts.clone() {
            writer.instruction(inst, &depth)?;
        }
        writer.func.blocks[region].insts = std::mem::replace(&mut writer.insts, outside);
        writer.insts.push(inst);
        writer.add_up(sum, total, axis)?;
    }
    writer.end();
    Ok(())
}

/// Gives values along an axis the extent of a block's segment.
fn shorten(func: &mut Function, axes: &Axes, blocks: u32) {
    for value in func.types.keys().collect::<Vec<_>>() {
        if let Some(axis) = axes.of[value] {
            let ty = func.types[value];
            let mut dims = ty.shape.dims().to_vec();
            dims[axis] = axes.extent / blocks;
            func.types[value] = ty.with_shape(Shape::new(&dims).unwrap_or(ty.shape));
        }
    }
}

/// A block's segment of an axis.
struct Segment<'a> {
    axes: &'a Axes,
    extent: u32,
    /// Its first index.
    first: Value,
}

struct Writer<'a> {
    func: &'a mut Function,
    blocks: u32,
    span: Span,
    /// The block's rank.
    rank: Value,
    insts: Vec<Inst>,
}

impl<'a> Writer<'a> {
    fn begin(func: &'a mut Function, blocks: u32, old: &[Inst]) -> Result<Writer<'a>, String> {
        func.cluster = blocks;
        let span = old.first().map_or(Span::NONE, |&inst| func.insts[inst].span);
        let mut writer = Writer { func, blocks, span, rank: Value(0), insts: Vec::new() };
        writer.rank = writer.op(Op::ClusterRank {})?;
        Ok(writer)
    }

    fn end(self) {
        let body = self.func.body;
        self.func.blocks[body].insts = self.insts;
    }

    fn segment<'b>(&mut self, axes: &'b Axes) -> Result<Segment<'b>, String> {
        let extent = axes.extent / self.blocks;
        let length = self.op(Op::Const { value: Constant::int(DType::I32, extent.into()) })?;
        let first = self.op(Op::Binary { kind: BinaryKind::Mul, a: self.rank, b: length })?;
        Ok(Segment { axes, extent, first })
    }

    /// An instruction as a block does it.
    fn instruction(&mut self, inst: Inst, segment: &Segment<'_>) -> Result<(), String> {
        self.span = self.func.insts[inst].span;
        let data = self.func.insts[inst].clone();
        let result = data.results.first().copied();
        let along = result.and_then(|v| segment.axes.of[v]);
        let mut op = data.op;
        match &mut op {
            Op::Fold { axis, .. } if data.args.iter().any(|&v| segment.axes.of[v] == Some(*axis as usize)) => {
                let axis = *axis as usize;
                return self.fold(inst, data, axis);
            }
            Op::Arange { start, end } if along.is_some() => {
                *end = *start + segment.extent as i32;
                return self.arange(op, data, segment);
            }
            Op::Splat { shape, .. } | Op::Broadcast { shape, .. } | Op::Reshape { shape, .. } => {
                *shape = result.map_or(*shape, |v| self.func.ty(v).shape);
            }
            Op::Load { from, .. } => *from = self.location(*from, result, segment)?,
            Op::Store { to, value } => {
                *to = self.location(*to, Some(*value), segment)?;
                let tile = match *to {
                    Location::Pointers { ptr, .. } => ptr,
                    Location::View { .. } => *value,
                };
                if segment.axes.of[tile].is_none() {
                    self.func.insts[inst].op = op;
                    return self.by_first(inst);
                }
            }
            Op::Atomic { to, value, .. } | Op::AtomicCas { to, value, .. } => {
                *to = self.location(*to, Some(*value), segment)?
            }
            // Groups that a segment has as a whole.
            Op::Hint { kind, x, along } => {
                if let Some(axis) = segment.axes.of[*x] {
                    let mut dims = along.dims().to_vec();
                    let unit = kind.unit(self.func.ty(*x).elem);
                    dims[axis] = gcd(dims[axis], segment.extent.saturating_mul(unit));
                    *along = Shape::new(&dims).ok_or("a promise for other axes")?;
                }
            }
            // These name no extent and no index along the axis.
            Op::Const { .. }
            | Op::Outer { .. }
            | Op::ProgramId { .. }
            | Op::NumPrograms { .. }
            | Op::ClusterRank { .. }
            | Op::Arange { .. }
            | Op::Permute { .. }
            | Op::Join { .. }
            | Op::Split { .. }
            | Op::Convert { .. }
            | Op::Dot { .. }
            | Op::Cast { .. }
            | Op::Bitcast { .. }
            | Op::Select { .. }
            | Op::Offset { .. }
            | Op::Fence {}
            | Op::Assert { .. }
            | Op::Print { .. }
            | Op::For { .. }
            | Op::While {}
            | Op::If { .. }
            | Op::Yield {}
            | Op::Fold { .. }
            | Op::Unary { .. }
            | Op::Binary { .. }
            | Op::Compare { .. }
            | Op::Ternary { .. } => {}
            // Not at stage 0, or of a cluster already: `Axes` refuses them.
            Op::ClusterGather { .. }
            | Op::ClusterScatter { .. }
            | Op::BlockId {}
            | Op::NumBlocks {}
            | shared_ops!()
            | synchronizes!()
            | ring_ops!() => return Err(format!("`{}` in a program that is not partitioned yet", op.mnemonic())),
        }
        self.func.insts[inst].op = op;
        self.insts.push(inst);
        Ok(())
    }

    /// A location of what a block has of a tile.
    fn location(&mut self, at: Location, tile: Option<Value>, segment: &Segment<'_>) -> Result<Location, String> {
        let (Location::View { base, at: indices, .. }, Some(tile)) = (at, tile) else { return Ok(at) };
        let Some(axis) = segment.axes.of[tile] else { return Ok(at) };
        let mut indices = indices.as_slice().to_vec();
        let index = indices.get_mut(axis).ok_or("an axis that a view does not have")?;
        let first = match self.func.ty(*index).elem {
            Elem::Num(DType::I32) => segment.first,
            Elem::Num(to) => self.op(Op::Cast { x: segment.first, to })?,
            Elem::Ptr { .. } => return Err("an index that is a pointer".into()),
        };
        *index = self.op(Op::Binary { kind: BinaryKind::Add, a: *index, b: first })?;
        let at = Values::new(&indices).ok_or("too many indices")?;
        Ok(Location::View { base, at, shape: self.func.ty(tile).shape })
    }

    /// Indices along the axis begin with those of the segment.
    fn arange(&mut self, op: Op, data: InstData, segment: &Segment<'_>) -> Result<(), String> {
        let local = self.op(op)?;
        let shape = self.func.ty(local).shape;
        let first = self.op(Op::Splat { x: segment.first, shape })?;
        let op = Op::Binary { kind: BinaryKind::Add, a: local, b: first };
        let inst = self.func.insts.push(InstData { op, ..data });
        self.insts.push(inst);
        Ok(())
    }

    /// A reduction along the axis: of the segment, then of what all blocks have.
    fn fold(&mut self, inst: Inst, data: InstData, axis: usize) -> Result<(), String> {
        let region = self.func.copy_block(data.regions[0]);
        let types: Vec<Type> = data.results.iter().map(|&v| self.func.ty(v)).collect();
        let parts: Vec<Value> = types.iter().map(|&ty| self.func.types.push(ty)).collect();
        let op = Op::Fold { kind: FoldKind::Reduce, axis: axis as i32, order: BitOrder::Any };
        let near = InstData { op, args: data.args, regions: vec![region], results: parts.clone(), span: data.span };
        self.insts.push(self.func.insts.push(near));
        let one = Shape::new(&[1]).ok_or("too many dimensions")?;
        let mut args = Vec::new();
        for part in parts {
            let scalar = self.func.ty(part).shape == Shape::SCALAR;
            let x = if scalar { self.op(Op::Reshape { x: part, shape: one })? } else { part };
            args.push(self.op(Op::ClusterGather { x, axis: axis as u32, blocks: self.blocks })?);
        }
        // Scalars are tiles of one element until they are combined.
        let tiles: Vec<Value> = types
            .iter()
            .zip(&data.results)
            .map(|(&ty, &result)| match ty.shape {
                Shape::SCALAR => self.func.types.push(ty.with_shape(one)),
                _ => result,
            })
            .collect();
        self.func.insts[inst] = InstData { op, args, regions: data.regions, results: tiles.clone(), span: data.span };
        self.insts.push(inst);
        for (tile, result) in tiles.into_iter().zip(data.results).filter(|(tile, result)| tile != result) {
            let op = Op::Reshape { x: tile, shape: Shape::SCALAR };
            let scalar = InstData { op, args: Vec::new(), regions: Vec::new(), results: vec![result], span: data.span };
            self.insts.push(self.func.insts.push(scalar));
        }
        Ok(())
    }

    /// What every block has, the first one stores.
    fn by_first(&mut self, inst: Inst) -> Result<(), String> {
        let zero = self.op(Op::Const { value: Constant::int(DType::I32, 0) })?;
        let cond = self.op(Op::Compare { kind: CompareKind::Eq, a: self.rank, b: zero })?;
        let mut regions = Vec::new();
        for own in [Some(inst), None] {
            let block = self.func.add_block(&[]);
            let end = InstData {
                op: Op::Yield {},
                args: Vec::new(),
                regions: Vec::new(),
                results: Vec::new(),
                span: self.span,
            };
            let end = self.func.insts.push(end);
            self.func.blocks[block].insts = own.into_iter().chain([end]).collect();
            regions.push(block);
        }
        let branch = InstData { op: Op::If { cond }, args: Vec::new(), regions, results: Vec::new(), span: self.span };
        self.insts.push(self.func.insts.push(branch));
        Ok(())
    }

    /// The sums of all blocks, of which each adds up its part along an axis, in the order of their ranks.
    fn add_up(&mut self, sum: Value, total: Value, axis: usize) -> Result<(), String> {
        let all = self.op(Op::ClusterScatter { x: sum, axis: axis as u32, blocks: self.blocks })?;
        let element = Type { shape: Shape::SCALAR, ..self.func.ty(sum) };
        let region = self.func.add_block(&[element, element]);
        let &[a, b] = &self.func.blocks[region].params[..] else { return Err("a region without parameters".into()) };
        let added = self.func.append(region, Op::Binary { kind: BinaryKind::Add, a, b }, self.span)?;
        let args = added.into_iter().collect();
        self.func.append_structured(region, Op::Yield {}, args, Vec::new(), &[], self.span);
        let op = Op::Fold { kind: FoldKind::Reduce, axis: axis as i32, order: BitOrder::Any };
        let fold = InstData { op, args: vec![all], regions: vec![region], results: vec![total], span: self.span };
        self.insts.push(self.func.insts.push(fold));
        Ok(())
    }

    fn op(&mut self, op: Op) -> Result<Value, String> {
        self.func.compute(op, self.span, &mut self.insts)
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
