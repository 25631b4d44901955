//! Where an access is: the address of each element of its tile, and which elements are accessed.

use super::Machine;
use crate::ops::Location;
use crate::types::{Constant, DType};
use std::borrow::Cow;

/// What an access reaches, element by element.
pub(super) struct Reached<'a> {
    /// The addresses; any number of an element that is not accessed.
    pub addresses: Cow<'a, [u64]>,
    /// 0 of the elements that are not accessed; `None` if all are.
    pub mask: Option<Cow<'a, [u64]>>,
}

impl Machine<'_> {
    /// The elements at a location.
    pub(super) fn reach(&self, location: Location) -> Result<Reached<'_>, String> {
        let (base, at, shape) = match location {
            Location::Pointers { ptr, mask } => {
                let mask = mask.map(|mask| Cow::Borrowed(self.value(mask)));
                return Ok(Reached { addresses: Cow::Borrowed(self.value(ptr)), mask });
            }
            Location::View { base, at, shape } => (base, at, shape),
        };
        let pointee = self.func.pointee(location).ok_or_else(|| format!("{base} is not a pointer"))?;
        let view = self.func.view(base).ok_or_else(|| format!("{base} is not a view"))?;
        // Axis after axis, from one element to all of the tile.
        let (mut addresses, mut mask) = (vec![self.value(base)[0]], vec![1]);
        for (axis, &start) in at.as_slice().iter().enumerate() {
            let number = |value, dtype| Constant { dtype, bits: self.value(value)[0] }.as_int().unwrap_or(0);
            let dtype = self.func.ty(start).elem.num().unwrap_or(DType::I32);
            let first = number(start, dtype);
            let (extent, stride) = (number(view.extents[axis], DType::I32), number(view.strides[axis], DType::I64));
            let along = (0..i128::from(shape.dims()[axis])).map(|i| {
                let index = Constant::int(dtype, first + i).as_int().unwrap_or(0);
                let offset = index.wrapping_mul(stride).wrapping_mul(pointee.bytes().into());
                (offset as u64, u64::from((0..extent).contains(&index)))
            });
            let along: Vec<(u64, u64)> = along.collect();
            addresses = addresses.iter().flat_map(|a| along.iter().map(|(o, _)| a.wrapping_add(*o))).collect();
            mask = mask.iter().flat_map(|m| along.iter().map(move |(_, inside)| m & inside)).collect();
        }
        let mask = mask.contains(&0).then(|| mask.into());
        Ok(Reached { addresses: addresses.into(), mask })
    }
}
