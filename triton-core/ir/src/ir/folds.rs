//! Layouts of folds along an axis: those of the arguments and of the results follow from that of the tiles that are combined.

use crate::layout::Layout;
use crate::ops::fold::Part;
use crate::ops::{BitOrder, FoldKind};
use crate::types::Shape;

impl FoldKind {
    /// The layouts of the arguments, if the first tile has this layout and shape: as many arguments share each. `None` if it has no
    /// such axis.
    pub fn argument_layouts(self, layout: &Layout, shape: Shape, axis: usize, order: BitOrder) -> Option<Vec<Layout>> {
        let extent = *shape.dims().get(axis)?;
        match (self, self.part(order, extent)) {
            (FoldKind::Scan | FoldKind::ScanReverse, Some(Part::Across(block))) => {
                Some(vec![layout.clone(), of_totals(layout, shape, axis, extent >> block)?])
            }
            (FoldKind::Reduce | FoldKind::Scan | FoldKind::ScanReverse, _) => Some(vec![layout.clone()]),
        }
    }

    /// The same of the results.
    pub fn result_layouts(self, layout: &Layout, shape: Shape, axis: usize, order: BitOrder) -> Option<Vec<Layout>> {
        let bits = shape.dims().get(axis)?.trailing_zeros();
        match (self, self.part(order, 1 << bits)) {
            (FoldKind::Reduce, _) => Some(vec![layout.fold_axis(shape, axis, order.mask(bits))?]),
            (FoldKind::Scan | FoldKind::ScanReverse, Some(Part::Within(_))) => {
                Some(vec![layout.clone(), layout.fold_axis(shape, axis, order.mask(bits))?])
            }
            (FoldKind::Scan | FoldKind::ScanReverse, _) => Some(vec![layout.clone()]),
        }
    }

    /// The bits of an index along the axis, as a mask, such that threads which differ in one of them have to exchange elements.
    pub fn exchanged(self, order: BitOrder, extent: u32) -> u32 {
        match (self, self.part(order, extent)) {
            // Every thread is given the totals.
            (FoldKind::Scan | FoldKind::ScanReverse, Some(Part::Across(_))) => 0,
            (FoldKind::Reduce | FoldKind::Scan | FoldKind::ScanReverse, _) => order.mask(extent.trailing_zeros()),
        }
    }
}

/// The layout of this number of totals along an axis, if the tile has this one: every thread has all of those that it may need.
pub fn of_totals(layout: &Layout, shape: Shape, axis: usize, totals: u32) -> Option<Layout> {
    layout.slice_axis(shape, axis)?.insert_axis(shape.without(axis)?, axis, totals)
}
