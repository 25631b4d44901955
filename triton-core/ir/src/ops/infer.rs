//! The typing rules: one for each operation, used by the checker, the builder, the parser and the verifier.

use super::cluster::{Exchange, gathered, scattered};
use super::kinds;
use super::{DotKind, Location, Op};
use crate::types::{DType, Elem, MAX_ODD, MAX_TILE, Shape, Slice, Type, Value};

/// The types of an instruction: what it yields, and what its regions are given and yield.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signature {
    /// Of an operation without arguments and regions: the type of its result, `None` if it yields nothing.
    Plain(Option<Type>),
    /// Of an operation with arguments or regions.
    Structured {
        /// Types of its results.
        results: Vec<Type>,
        /// Types of each region's parameters, and of what the region yields.
        regions: Vec<[Vec<Type>; 2]>,
    },
}

/// What an instruction has beside the operands of its operation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Given<'a> {
    /// Types of its arguments.
    pub args: &'a [Type],
    /// Types of what its first region yields: those of an `if`'s results.
    pub yielded: &'a [Type],
}

/// The types of an instruction, or why its operands and arguments do not fit. Exhaustive: an operation is typed here and nowhere else.
///
/// # Errors
/// A message for the reader of IR; the checker reports its own before.
pub fn infer(op: &Op, ty: &dyn Fn(Value) -> Type, given: Given<'_>) -> Result<Signature, String> {
    let structured = |results: &[Type], regions: Vec<[Vec<Type>; 2]>| {
        Ok(Signature::Structured { results: results.to_vec(), regions })
    };
    let args = given.args;
    let result = match *op {
        Op::Const { value } => Type::scalar(value.dtype),
        Op::Outer { dtype, .. } => Type::scalar(dtype),
        Op::ProgramId { axis } | Op::NumPrograms { axis } => {
            if axis.0 > 2 {
                return Err(format!("the grid has no axis {}", axis.0));
            }
            Type::scalar(DType::I32)
        }
        Op::BlockId {} | Op::NumBlocks {} | Op::ClusterRank {} => Type::scalar(DType::I32),
        Op::ClusterGather { x, axis, blocks } => {
            let x = ty(x);
            let shape = gathered(x.shape, axis, blocks)
                .ok_or_else(|| format!("{x} of {blocks} blocks along a new axis {axis}"))?;
            check_shape(shape)?;
            x.with_shape(shape)
        }
        Op::ClusterScatter { x, axis, blocks } => {
            let x = ty(x);
            let shape = scattered(x.shape, axis, blocks)
                .ok_or_else(|| format!("{x} divided among {blocks} blocks along axis {axis}"))?;
            check_shape(shape)?;
            x.with_shape(shape)
        }
        Op::ClusterSend { buffer, value, axis } => {
            let (buffer, value) = (ty(buffer), ty(value));
            if buffer.elem != value.elem || Exchange::of(value.shape, buffer.shape, axis).is_none() {
                return Err(format!("{value} sent along axis {axis} of {buffer}"));
            }
            return Ok(Signature::Plain(None));
        }
        Op::ClusterArrive {} | Op::ClusterWait {} | Op::ClusterReceive { .. } => return Ok(Signature::Plain(None)),
        Op::TurnWait {} | Op::TurnPass {} => return Ok(Signature::Plain(None)),
        Op::Arange { start, end } => {
            let length = i64::from(end) - i64::from(start);
            let length = u32::try_from(length).map_err(|_| format!("{start}..{end} is not a range"))?;
            tile(DType::I32, Shape::new(&[length]).ok_or("too many dimensions")?)?
        }
        Op::Splat { x, shape } => {
            let x = ty(x);
            if x.shape != Shape::SCALAR {
                return Err(format!("splat of {x}, which is not a scalar"));
            }
            check_shape(shape)?;
            x.with_shape(shape)
        }
        Op::Broadcast { x, shape } => {
            let x = ty(x);
            check_shape(shape)?;
            if x.shape == Shape::SCALAR || !x.shape.broadcasts_to(shape) {
                return Err(format!("{x} does not broadcast to {shape}"));
            }
            x.with_shape(shape)
        }
        Op::Reshape { x, shape } => {
            let x = ty(x);
            if shape != Shape::SCALAR {
                check_shape(shape)?;
            }
            if x.shape.elements() != shape.elements() {
                return Err(format!("{x} reshaped to {shape}"));
            }
            if !x.shape.has_digits_of(shape) {
                return Err(format!("{x} reshaped to {shape}, across the odd factor of an extent"));
            }
            x.with_shape(shape)
        }
        Op::Permute { x, order } => {
            let x = ty(x);
            let shape = x.shape.permute(order).ok_or_else(|| format!("{x} permuted by {order}"))?;
            x.with_shape(shape)
        }
        Op::Join { a, b } => {
            let a = ty(a);
            same(a, ty(b))?;
            let shape = Shape::new(&[a.shape.dims(), &[2]].concat()).filter(|_| a.shape != Shape::SCALAR);
            let shape = shape.ok_or_else(|| format!("a join of {a}"))?;
            check_shape(shape)?;
            a.with_shape(shape)
        }
        Op::Split { x, index } => {
            let x = ty(x);
            match x.shape.dims() {
                [rest @ .., 2] if !rest.is_empty() && index < 2 => {
                    x.with_shape(Shape::new(rest).ok_or("too many dimensions")?)
                }
                _ => return Err(format!("the elements of index {index} along the last axis of {x}")),
            }
        }
        Op::Dot { kind, a, b, acc } => {
            let (a, b, acc) = (ty(a), ty(b), ty(acc));
            let sum = accumulator(num(a)?).ok_or_else(|| format!("a product of {a}"))?;
            if a.elem != b.elem || product(a.shape, b.shape) != Some(acc.shape) || acc.elem != Elem::Num(sum) {
                return Err(format!("a product of {a}, {b} and {acc}"));
            }
            if kind == DotKind::Tf32 && num(a)? != DType::F32 {
                return Err(format!("a product of {a} as tf32"));
            }
            acc
        }
        Op::Convert { x } => ty(x),
        Op::Cast { x, to } => {
            let x = ty(x);
            num(x)?;
            if to == DType::Bool && x.elem != Elem::Num(DType::Bool) {
                return Err(format!("no cast from {x} to bool"));
            }
            x.with_elem(Elem::Num(to))
        }
        Op::Bitcast { x, to } => {
            let x = ty(x);
            if !bitcasts(num(x)?, to) {
                return Err(format!("no bitcast from {x} to {to}"));
            }
            x.with_elem(Elem::Num(to))
        }
        Op::Hint { kind, x, along } => {
            let x = ty(x);
            let is_counted = match x.elem {
                Elem::Ptr { .. } => true,
                Elem::Num(dtype) => kind.accepts(dtype.class()),
            };
            if !is_counted || along.rank() != x.shape.rank().max(1) {
                return Err(format!("`{}` of {x} by {along}", kind.name()));
            }
            x
        }
        Op::Select { cond, a, b } => {
            let (cond, a) = (ty(cond), ty(a));
            same(a, ty(b))?;
            same(cond, a.with_elem(Elem::Num(DType::Bool)))?;
            a
        }
        Op::Offset { ptr, index } => {
            let (ptr, index) = (ty(ptr), ty(index));
            pointee(ptr)?;
            if !num(index)?.is_int() {
                return Err(format!("an offset of {index}"));
            }
            if ptr.shape != index.shape {
                return Err(format!("an offset of {index} on {ptr}"));
            }
            ptr
        }
        Op::Load { from, other } => {
            let (result, _) = located(from, ty)?;
            if let Some(other) = other {
                if matches!(from, Location::Pointers { mask: None, .. }) {
                    return Err("a load without a mask has no `other`".into());
                }
                same(result, ty(other))?;
            }
            result
        }
        Op::Store { to, value } => {
            written("a store", to, ty(value), ty)?;
            return Ok(Signature::Plain(None));
        }
        Op::Atomic { kind, to, value, .. } => {
            let result = written("an atomic update", to, ty(value), ty)?;
            accepts(&format!("atomic {}", kind.name()), kind.defined_on(num(result)?), result)?;
            result
        }
        Op::AtomicCas { to, compare, value, .. } => {
            let result = written("an atomic update", to, ty(value), ty)?;
            same(result, ty(compare))?;
            accepts("atomic_cas", kinds::compares(num(result)?), result)?;
            result
        }
        Op::Assert { cond, .. } => {
            let cond = ty(cond);
            same(cond.with_elem(Elem::Num(DType::Bool)), cond)?;
            return Ok(Signature::Plain(None));
        }
        Op::Print { values, .. } => {
            let shape = values.as_slice().first().map_or(Shape::SCALAR, |&v| ty(v).shape);
            for &value in values.as_slice() {
                num(ty(value))?;
                same(ty(value).with_shape(shape), ty(value))?;
            }
            return Ok(Signature::Plain(None));
        }
        Op::For { start, end, step } => {
            let counter = ty(start);
            if !num(counter)?.is_int() || num(counter)?.bits() < 32 || counter.shape != Shape::SCALAR {
                return Err(format!("a loop that counts in {counter}"));
            }
            same(counter, ty(end))?;
            same(counter, ty(step))?;
            return structured(args, vec![[[&[counter], args].concat(), args.to_vec()]]);
        }
        Op::While {} => {
            let condition = vec![Type::scalar(DType::Bool)];
            return structured(args, vec![[args.to_vec(), condition], [args.to_vec(), args.to_vec()]]);
        }
        Op::If { cond } => {
            same(Type::scalar(DType::Bool), ty(cond))?;
            let branch = [Vec::new(), given.yielded.to_vec()];
            return structured(given.yielded, vec![branch.clone(), branch]);
        }
        Op::Yield {} => return structured(&[], Vec::new()),
        Op::Fold { kind, axis, order } => {
            let (elements, results) = kind.infer(axis, order, args)?;
            return structured(&results, vec![[[&elements[..], &elements].concat(), elements]]);
        }
        Op::SharedAlloc { ty, .. } => {
            check_shape(ty.shape)?;
            ty
        }
        Op::SharedStore { buffer, value, .. } => {
            same(ty(buffer), ty(value))?;
            return Ok(Signature::Plain(None));
        }
        Op::SharedLoad { buffer, rest, .. } => {
            rest.map_or(Ok(()), |rest| same(ty(buffer), ty(rest)))?;
            ty(buffer)
        }
        Op::SharedSlice { buffer, axis, start, extent, when, rest } => {
            let buffer = ty(buffer);
            let slice = Slice::new(buffer.shape, axis as usize, start, extent);
            let slice =
                slice.ok_or_else(|| format!("elements {start} to {start} + {extent} along axis {axis} of {buffer}"))?;
            let slice = buffer.with_shape(slice.shape());
            match (when, rest) {
                (None, None) => {}
                (Some(when), Some(rest)) => {
                    same(Type::scalar(DType::Bool), ty(when))?;
                    same(slice, ty(rest))?;
                }
                (Some(_), None) | (None, Some(_)) => return Err("a condition without a rest, or the other way".into()),
            }
            slice
        }
        Op::RingFill { buffer, item, from, when } => {
            same(ty(buffer), located(from, ty)?.0)?;
            same(Type::scalar(DType::I32), ty(item))?;
            same(Type::scalar(DType::Bool), ty(when))?;
            return Ok(Signature::Plain(None));
        }
        Op::RingDrain { buffer, item, to } => {
            let part = located(to, ty)?.0;
            same(Type { shape: part.shape, ..ty(buffer) }, part)?;
            same(Type::scalar(DType::I32), ty(item))?;
            return Ok(Signature::Plain(None));
        }
        Op::RingSlot { buffer, item } => {
            same(Type::scalar(DType::I32), ty(item))?;
            ty(buffer)
        }
        Op::RingWait { item, .. } | Op::RingRelease { item, first: None, .. } => {
            same(Type::scalar(DType::I32), ty(item))?;
            return Ok(Signature::Plain(None));
        }
        Op::RingRelease { item, first: Some(first), .. } => {
            same(Type::scalar(DType::I32), ty(item))?;
            same(Type::scalar(DType::I32), ty(first))?;
            return Ok(Signature::Plain(None));
        }
        Op::DotWait { sum } => ty(sum),
        Op::Fence {} | Op::Sync { .. } => return Ok(Signature::Plain(None)),
        Op::Unary { kind, x } => {
            let x = ty(x);
            accepts(kind.name(), kind.defined_on(num(x)?), x)?;
            x
        }
        Op::Binary { kind, a, b } => {
            let a = ty(a);
            same(a, ty(b))?;
            accepts(kind.name(), kind.accepts(num(a)?.class()), a)?;
            a
        }
        Op::Compare { kind, a, b } => {
            let a = ty(a);
            same(a, ty(b))?;
            accepts(kind.name(), kind.accepts(num(a)?.class()), a)?;
            a.with_elem(Elem::Num(DType::Bool))
        }
        Op::Ternary { kind, a, b, c } => {
            let a = ty(a);
            same(a, ty(b))?;
            same(a, ty(c))?;
            accepts(kind.name(), kind.accepts(num(a)?.class()), a)?;
            a
        }
    };
    Ok(Signature::Plain(Some(result)))
}

/// Types as the text form lists them.
pub(crate) fn list(types: &[Type]) -> String {
    format!("({})", types.iter().map(Type::to_string).collect::<Vec<_>>().join(", "))
}

/// The type in which products of this one are added.
pub fn accumulator(dtype: DType) -> Option<DType> {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 => Some(DType::F32),
        DType::F64 => Some(DType::F64),
        DType::I8 => Some(DType::I32),
        DType::Bool | DType::I16 | DType::I32 | DType::I64 | DType::U8 | DType::U16 | DType::U32 | DType::U64 => None,
    }
}

/// Whether the bits of a number of one type are those of one of the other.
pub fn bitcasts(from: DType, to: DType) -> bool {
    from.bits() == to.bits() && from != DType::Bool && to != DType::Bool
}

/// The shape of a product of tiles of these: `[M, K]` and `[K, N]`, or both with one more axis before these; `None` if there is none.
pub fn product(a: Shape, b: Shape) -> Option<Shape> {
    let fits = |[m, k]: [u32; 2], [k2, n]: [u32; 2]| Some([m, n]).filter(|_| k == k2);
    if let (&[m, k], &[k2, n]) = (a.dims(), b.dims()) {
        return Shape::new(&fits([m, k], [k2, n])?);
    }
    let (&[count, m, k], &[count2, k2, n]) = (a.dims(), b.dims()) else { return None };
    let [m, n] = fits([m, k], [k2, n]).filter(|_| count == count2)?;
    Shape::new(&[count, m, n])
}

/// Extents are powers of two times an odd number of at most [`MAX_ODD`], and their product is at most [`MAX_TILE`].
pub(crate) fn check_shape(shape: Shape) -> Result<(), String> {
    if shape == Shape::SCALAR {
        return Err("a tile needs at least one dimension".into());
    }
    if shape.dims().contains(&0) || shape.copies().dims().iter().any(|&odd| odd > MAX_ODD) {
        return Err(format!("an extent of {shape} is not a power of two times an odd number of at most {MAX_ODD}"));
    }
    if shape.elements() > MAX_TILE {
        return Err(format!("{shape} has more than {MAX_TILE} elements"));
    }
    Ok(())
}

fn tile(dtype: DType, shape: Shape) -> Result<Type, String> {
    check_shape(shape)?;
    Ok(Type::scalar(dtype).with_shape(shape))
}

fn num(ty: Type) -> Result<DType, String> {
    ty.elem.num().ok_or_else(|| format!("{ty} is not a number"))
}

fn pointee(ty: Type) -> Result<(DType, bool), String> {
    match ty.elem {
        Elem::Ptr { pointee, mutable } => Ok((pointee, mutable)),
        Elem::Num(_) => Err(format!("{ty} is not a pointer")),
    }
}

fn same(a: Type, b: Type) -> Result<(), String> {
    if a == b { Ok(()) } else { Err(format!("{b} where {a} is needed")) }
}

/// The type of the elements at a location, and whether they may be written.
fn located(at: Location, ty: &dyn Fn(Value) -> Type) -> Result<(Type, bool), String> {
    let (element, mutable) = pointee(ty(at.pointer()))?;
    let elem = Elem::Num(element);
    let result = match at {
        Location::Pointers { ptr, mask } => {
            let ptr = ty(ptr);
            mask.map_or(Ok(()), |mask| same(ptr.with_elem(Elem::Num(DType::Bool)), ty(mask)))?;
            ptr.with_elem(elem)
        }
        Location::View { base, at, shape } => {
            check_shape(shape)?;
            if ty(base).shape != Shape::SCALAR || at.as_slice().len() != shape.rank() {
                return Err(format!("{shape} from {} indices on in {}", at.as_slice().len(), ty(base)));
            }
            for &index in at.as_slice() {
                if ![DType::I32, DType::I64].map(Type::scalar).contains(&ty(index)) {
                    return Err(format!("an index of a view that is {}", ty(index)));
                }
            }
            Type::scalar(element).with_shape(shape)
        }
    };
    Ok((result, mutable))
}

/// The same where a value is written.
fn written(what: &str, to: Location, value: Type, ty: &dyn Fn(Value) -> Type) -> Result<Type, String> {
    let (elements, mutable) = located(to, ty)?;
    if !mutable {
        return Err(format!("{what} through {}", ty(to.pointer())));
    }
    same(elements, value)?;
    Ok(elements)
}

fn accepts(name: &str, yes: bool, ty: Type) -> Result<(), String> {
    if yes { Ok(()) } else { Err(format!("{name} is not defined on {ty}")) }
}
