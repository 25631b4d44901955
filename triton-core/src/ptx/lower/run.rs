//! How a tile of pointers is accessed: in runs of elements that are contiguous and aligned, under a mask of which facts tell what
//! it may be on a run.

use crate::analysis::axis::{self, AxisInfo};
use crate::entity::SideTable;
use crate::ir::{Function, Value};
use crate::layout::{Layout, access};
use crate::ops::{self, Location};
use crate::ptx::{Address, Reg};
use crate::types::{DType, Elem};
use std::ops::Range;

/// Elements of a run of a selection for which a branch pays.
const LEAST: u64 = 4;

/// How a tile of pointers is accessed: runs of `width` elements, and what is known of the mask on a run.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub dtype: DType,
    pub width: usize,
    pub mask: MaskForm,
    pub padding: Padding,
}

/// What is known of the padding of a load on the elements of one run.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Padding {
    /// It is one number, if so is this mask.
    Uniform(Option<Value>),
    /// A number for each element.
    Any,
}

/// What is known of a mask on the elements of one run.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum MaskForm {
    /// It is the same for all of them, or there is none.
    Uniform,
    /// Those for which it holds come first: whether it is uniform, its first and its last element tell.
    Prefix,
    /// Nothing.
    Any,
}

impl Run {
    /// How a tile of pointers is accessed under a mask.
    pub fn of(
        func: &Function,
        facts: &SideTable<Value, AxisInfo>,
        ptr: Value,
        mask: Option<Value>,
    ) -> Result<Run, String> {
        let Elem::Ptr { pointee, .. } = func.ty(ptr).elem else { return Err(format!("{ptr} is not a pointer")) };
        let layout = func.layout(ptr).map_or(1, Layout::vector);
        let width = axis::vector_width(func, facts, Location::Pointers { ptr, mask }).min(layout.into());
        let mask = match mask.map(|m| facts[m]) {
            Some(facts) if facts.constancy < width && facts.prefix < width => MaskForm::Any,
            Some(facts) if facts.constancy < width => MaskForm::Prefix,
            Some(_) | None => MaskForm::Uniform,
        };
        Ok(Run { dtype: pointee, width: width as usize, mask, padding: Padding::Uniform(None) })
    }

    /// The registers that decide for all of a selection whose condition is a prefix of every run ([`Run::ends`]); `None` if its elements
    /// are selected one by one.
    pub fn ends_of_selection(
        func: &Function,
        facts: &SideTable<Value, AxisInfo>,
        cond: Value,
        result: Value,
    ) -> Option<Vec<usize>> {
        let Elem::Num(dtype) = func.ty(result).elem else { return None };
        let width = u64::from(func.layout(result).map_or(1, Layout::vector)).min(facts[cond].prefix);
        let pays = width >= LEAST && facts[cond].constancy < width && dtype != DType::Bool;
        let run = Run { dtype, width: width as usize, mask: MaskForm::Prefix, padding: Padding::Uniform(None) };
        run.ends(func, facts, cond, 0..func.registers(result)).filter(|_| pays)
    }

    /// How a load with this padding, which is made by that operation, is accessed.
    pub fn with_padding(self, facts: &SideTable<Value, AxisInfo>, padding: Value, made: Option<ops::Op>) -> Run {
        let width = self.width as u64;
        let same = |v: Value| facts[v].constancy >= width;
        let padding = match made {
            _ if same(padding) => Padding::Uniform(None),
            Some(ops::Op::Select { cond, a, b })
                if self.mask == MaskForm::Prefix && same(a) && same(b) && facts[cond].prefix >= width =>
            {
                Padding::Uniform(Some(cond))
            }
            Some(_) | None => Padding::Any,
        };
        Run { padding, ..self }
    }

    /// The `index`th element from an address on: a run is contiguous.
    pub fn at(&self, base: Reg, index: usize) -> Address {
        Address { base, offset: index as i32 * self.dtype.bytes() as i32 }
    }

    /// Whether a run of which a prefix is accessed goes by words, of one element or two.
    pub fn is_by_words(&self) -> bool {
        self.mask == MaskForm::Prefix && self.dtype.bytes() > 1
    }

    /// Of these registers those whose masks, if they hold, tell that all do: a mask that is a prefix of each row holds for all that a
    /// thread has of a row if it does for the last of it. `None` where they are as many as the runs, since a thread has one of each
    /// row, where the mask is not such a prefix, or where which element comes last depends on the thread.
    pub fn ends(
        &self,
        func: &Function,
        facts: &SideTable<Value, AxisInfo>,
        mask: Value,
        registers: Range<usize>,
    ) -> Option<Vec<usize>> {
        let layout = func.layout(mask).filter(|_| self.mask == MaskForm::Prefix)?;
        let or = |columns: &[u32]| columns.iter().fold(0, |all, column| all | column);
        if or(&layout.reg) & (or(&layout.lane) | or(&layout.warp)) != 0 {
            return None;
        }
        let runs = registers.len() / self.width;
        let element = |r: usize| layout.register_element(layout.copy_of(r).1);
        let row = |r: usize| (layout.copy_of(r).0, u64::from(element(r)) / facts[mask].prefixes().max(1));
        let mut ends: Vec<usize> = Vec::new();
        for r in registers {
            match ends.iter_mut().find(|end| row(**end) == row(r)) {
                Some(end) if element(*end) < element(r) => *end = r,
                Some(_) => {}
                None => ends.push(r),
            }
        }
        Some(ends).filter(|ends| ends.len() < runs)
    }

    /// The registers of a tile in groups whose runs share a branch.
    pub fn groups(&self, registers: usize) -> impl Iterator<Item = Range<usize>> {
        let size = if self.mask == MaskForm::Prefix { registers } else { self.width };
        (0..registers).step_by(size.max(1)).map(move |first| first..first + size)
    }
}

/// The copies that fill a buffer of a ring, of at most `widest` elements each: fewer where the buffer has neighbours elsewhere.
pub(crate) fn copies(func: &Function, buffer: Value, widest: usize) -> Result<access::Access, String> {
    let (ring, number) = func.ring_of(buffer).ok_or("a fill of no ring")?;
    let (layout, mem) =
        (func.rings[ring].buffers[number].layout, func.mem(buffer).ok_or("a ring without a layout of memory")?);
    access::copies(&func.layouts[layout], mem, widest as u32).ok_or_else(|| "a ring of other elements".into())
}
