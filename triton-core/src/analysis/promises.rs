//! Which promises of integer parameters make accesses through pointers better: what the specializations are to promise of them.
//!
//! A kernel over pointers takes extents and strides as integers, and nothing says which is which. An argument that breaks a promise
//! demotes the whole launch to code that assumes less. So nothing is promised that no access gains from; what is promised is the least that
//! gives all of it; and the alignment of rows is promised apart from their lengths, as it is of views:
//!
//! | the parameter | promise | under |
//! |---|---|---|
//! | the stride of the last axis of pointers ([`stride::unit_candidates`]) | it is 1 | `unit_stride` |
//! | without its promise, addresses are less aligned: another stride | a multiple of the elements in an access | `aligned16` |
//! | without it, runs of neighbours or of masks are shorter: an extent, or what an index wraps around | likewise | `divisible16` |
//! | others | nothing | |
//!
//! Which stride of an operand of a product is 1 a caller decides: weights of a linear layer are \[N, K\], and column-major where the product
//! takes \[K, N\]. So there are further orders, of which each has promises of its own. Triton specializes integers that are 1 in the
//! launch that it compiles for; here images are made before any launch.

use super::axis::{self, AxisInfo};
use super::stride;
use crate::entity::SideTable;
use crate::ir::{Function, Value};
use crate::metadata::{Promised, Specialization};
use crate::ops::{Location, Memory};
use crate::types::DType;

/// The multiples that an integer may be promised to be, least first.
const MULTIPLES: [u32; 4] = [2, 4, 8, 16];

/// The strides that are 1, by which the orders of an optimised function's operands differ: first as is expected, where all of them are row-major, and
/// after it the [others](crate::metadata::Image::order).
pub fn orders(func: &Function) -> Vec<Vec<Value>> {
    let units = stride::unit_candidates(func);
    let columns = stride::column_major(func, &units);
    let other = |turned: &Vec<[Value; 2]>| -> Vec<Value> {
        let stride = |unit: &Value| turned.iter().find(|[row, _]| row == unit).map_or(*unit, |[_, column]| *column);
        units.iter().map(stride).collect()
    };
    let others: Vec<Vec<Value>> = turned(&columns).iter().map(other).collect();
    [vec![units], others].concat()
}

/// The most operands of which each may be in either order, whatever the others are in.
const FREE: usize = 2;

/// The operands that are column-major together: each alone, and where they are few, as those of one product, both.
fn turned(columns: &[[Value; 2]]) -> Vec<Vec<[Value; 2]>> {
    let alone = columns.iter().map(|&of| vec![of]);
    alone.chain((columns.len() == FREE).then(|| columns.to_vec())).collect()
}

/// What is to be promised of each parameter of an optimised function, whose integers are promised to be divisible, but for strides that are
/// promised to be 1. Of what is known along the last axis of a tile alone this finds what accesses gain: a tile that runs along memory along
/// another axis is to be turned.
pub fn promises(func: &Function) -> Vec<Promised> {
    let mut promised = func.clone();
    for index in 0..promised.params.len() {
        let param = &promised.params[index];
        let is_int = func.ty(param.value).elem.num().is_some_and(DType::is_int);
        if is_int && param.promised == Promised::Divisible {
            promised.params[index].promised = of_integer(&mut promised, index);
        }
    }
    promised.params.into_iter().map(|param| param.promised).collect()
}

/// What is to be promised of an integer, whose promise is tried out.
fn of_integer(func: &mut Function, index: usize) -> Promised {
    let most = gains(func);
    let mut with = |promised: Promised| {
        func.params[index].promised = promised;
        gains(func)
    };
    let without = with(Promised::Nothing);
    if without == most {
        return Promised::Nothing;
    }
    let multiple = MULTIPLES.into_iter().find(|&multiple| with(Promised::Extent(multiple)) == most).unwrap_or(16);
    let is_longer = |(with, without): (&Gain, &Gain)| with.run != without.run || with.mask != without.mask;
    match most.iter().zip(&without).any(is_longer) {
        true => Promised::Extent(multiple),
        false => Promised::Pitch(multiple),
    }
}

/// What an access gains from promises.
#[derive(PartialEq, Eq)]
struct Gain {
    /// The elements of a vector.
    width: u64,
    /// The neighbours in memory, up to the widest vector.
    run: u64,
    /// The neighbours that are masked alike and those of which a prefix is, likewise.
    mask: (u64, u64),
}

/// What each access gains under the strongest specialization.
fn gains(func: &Function) -> Vec<Gain> {
    let facts = axis::analyse(func, Specialization::Divisible16);
    accesses(func).map(|at| gain(func, &facts, at)).collect()
}

fn gain(func: &Function, facts: &SideTable<Value, AxisInfo>, at: Location) -> Gain {
    let width = axis::vector_width(func, facts, at);
    let widest = func.pointee(at).map_or(1, axis::widest);
    match at {
        Location::Pointers { ptr, mask } => {
            let mask = mask.map(|mask| (facts[mask].constancy.min(widest), facts[mask].prefixes().min(widest)));
            Gain { width, run: facts[ptr].contiguity.min(widest), mask: mask.unwrap_or_default() }
        }
        Location::View { .. } => {
            let whole = if axis::is_cut(func, facts, at, width) { 1 } else { width };
            Gain { width, run: widest, mask: (whole, width) }
        }
    }
}

/// The accesses of a function to global memory.
fn accesses(func: &Function) -> impl Iterator<Item = Location> {
    func.walk().into_iter().filter_map(|inst| match func.insts[inst].op.access()?.memory {
        Memory::Global(at) => Some(at),
        Memory::Shared(_) => None,
    })
}
