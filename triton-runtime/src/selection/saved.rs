//! What a launch may change, kept aside: so that it can be launched again.

use crate::allocation::Allocation;
use crate::args::LaunchArg;
use crate::element::Element;
use crate::error::Result;
use crate::stream::Stream;
use crate::view::View;
use half::{bf16, f16};
use std::fmt;
use std::sync::Arc;
use triton_ir::metadata::ParamType;
use triton_ir::types::{Class, DType};

/// The most pieces that one argument is copied in: more cost more than a choice earns.
const PIECES: usize = 4096;

/// The bytes that a mutable argument names, in pieces of one length. What lies between them is of other views of the buffer, which another thread
/// may use meanwhile.
struct Region {
    memory: Arc<Allocation>,
    dtype: DType,
    /// Where each piece is.
    offsets: Vec<usize>,
    /// Bytes of a piece.
    piece: usize,
}

/// A copy on the device of all that the mutable arguments of a launch name.
///
/// **Invariant:** it is written back by the call that made it, which has the arguments alone.
pub(super) struct Saved {
    regions: Vec<(Region, Arc<Allocation>)>,
}

/// A copy, on the device, of the elements that a mutable argument of a launch names, in the order of memory.
pub struct Output {
    dtype: DType,
    memory: Arc<Allocation>,
    bytes: usize,
}

/// Why an argument cannot be saved: nothing tells how many elements it names, or they are too scattered.
struct Unknown;

/// What an argument names, if it may be written.
fn region(arg: &LaunchArg<'_>) -> Result<Option<Region>, Unknown> {
    if !arg.ty.is_mutable() {
        return Ok(None);
    }
    let (ParamType::PtrMut(dtype) | ParamType::Tensor { dtype, .. }) = arg.ty else { return Err(Unknown) };
    let pieces = pieces(arg, dtype.bytes() as usize)?;
    let Some(memory) = arg.allocation() else {
        // A view of nothing has none, and of another library's pointer the length is unknown.
        return if pieces.is_some_and(|(offsets, _)| offsets.is_empty()) { Ok(None) } else { Err(Unknown) };
    };
    let start = usize::try_from(arg.bits().wrapping_sub(memory.address())).map_err(|_| Unknown)?;
    // A pointer has its buffer, or slice, alone.
    let rest = || (vec![0], memory.memory().len().saturating_sub(start));
    let (offsets, piece) = pieces.unwrap_or_else(rest);
    let offsets: Vec<usize> = offsets.into_iter().map(|offset| start + offset).collect();
    let is_empty = offsets.is_empty() || piece == 0;
    Ok((!is_empty).then(|| Region { memory: memory.clone(), dtype, offsets, piece }))
}

/// The pieces of a view: where they start, in bytes from its address, and how long each is. `None` of what is not a view.
fn pieces(arg: &LaunchArg<'_>, element: usize) -> Result<Option<(Vec<usize>, usize)>, Unknown> {
    let ParamType::Tensor { rank, .. } = arg.ty else { return Ok(None) };
    let (extents, strides) = arg.words()[1..].split_at(usize::from(rank));
    if extents.contains(&0) {
        return Ok(Some((Vec::new(), 0)));
    }
    let mut axes: Vec<(usize, usize)> =
        extents.iter().zip(strides).map(|(&extent, &stride)| (extent as usize, stride as usize)).collect();
    axes.retain(|(extent, _)| *extent > 1);
    axes.sort_by_key(|(_, stride)| *stride);
    let (mut piece, mut offsets) = (1, vec![0]);
    for (extent, stride) in axes {
        if offsets.len() == 1 && stride == piece {
            piece *= extent;
            continue;
        }
        if offsets.len().checked_mul(extent).is_none_or(|count| count > PIECES) {
            return Err(Unknown);
        }
        let steps = (0..extent).map(|i| i * stride * element);
        offsets = steps.flat_map(|step| offsets.iter().map(move |offset| offset + step).collect::<Vec<_>>()).collect();
    }
    Ok(Some((offsets, piece * element)))
}

fn regions(args: &[LaunchArg<'_>]) -> Option<Vec<Region>> {
    let regions: Result<Vec<Option<Region>>, Unknown> = args.iter().map(region).collect();
    Some(regions.ok()?.into_iter().flatten().collect())
}

/// How many bytes a copy of them takes; `None` if they cannot be copied.
pub(super) fn bytes(args: &[LaunchArg<'_>]) -> Option<usize> {
    Some(regions(args)?.iter().map(Region::bytes).sum())
}

/// What they hold after the work that was enqueued before.
///
/// # Errors
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), or a fault of earlier work.
pub(super) fn outputs(args: &[LaunchArg<'_>], stream: &Stream) -> Result<Vec<Output>> {
    let copy = |region: Region| Ok(Output { dtype: region.dtype, memory: region.copy(stream)?, bytes: region.bytes() });
    regions(args).unwrap_or_default().into_iter().map(copy).collect()
}

impl Region {
    fn bytes(&self) -> usize {
        self.offsets.len() * self.piece
    }

    /// Where each piece is in the buffer, and in a copy of them in a row.
    fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        self.offsets.iter().enumerate().map(|(index, offset)| (*offset, index * self.piece))
    }

    /// The elements, without what lies between them, in memory of its own.
    fn copy(&self, stream: &Stream) -> Result<Arc<Allocation>> {
        let copy = Arc::new(Allocation::new(stream, self.bytes(), false)?);
        self.places().try_for_each(|(at, of)| copy.copy(of, &self.memory, at, self.piece, stream))?;
        Ok(copy)
    }
}

impl Saved {
    pub(super) fn of(args: &[LaunchArg<'_>], stream: &Stream) -> Result<Option<Saved>> {
        let Some(regions) = regions(args) else { return Ok(None) };
        let copy = |region: Region| {
            let copy = region.copy(stream)?;
            Ok((region, copy))
        };
        Ok(Some(Saved { regions: regions.into_iter().map(copy).collect::<Result<_>>()? }))
    }

    /// Enqueues writing everything back.
    ///
    /// # Errors
    /// A fault of earlier work.
    pub(super) fn restore(&self, stream: &Stream) -> Result<()> {
        self.regions.iter().try_for_each(|(region, copy)| {
            region.places().try_for_each(|(at, of)| region.memory.copy(at, copy, of, region.piece, stream))
        })
    }
}

impl Output {
    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// How many elements there are.
    #[expect(clippy::len_without_is_empty, reason = "an argument that names none has no output")]
    pub fn len(&self) -> usize {
        self.bytes / self.dtype.bytes() as usize
    }

    /// The elements, for a kernel; `None` if they are of another type than `T`, or more than an extent may be.
    pub fn view<T: Element>(&self) -> Option<View<'_, T, 1>> {
        let len = self.len();
        (T::DTYPE == self.dtype).then(|| View::new(&self.memory, 0, len, [len]).ok()).flatten()
    }

    /// The elements as numbers, on the host.
    ///
    /// # Errors
    /// A fault of earlier work.
    pub fn values(&self, stream: &Stream) -> Result<Vec<f64>> {
        let mut bytes = vec![0; self.bytes];
        self.memory.download(0, &mut bytes, stream)?;
        let number = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            number(self.dtype, u64::from_le_bytes(word))
        };
        Ok(bytes.chunks_exact(self.dtype.bytes() as usize).map(number).collect())
    }
}

/// The number of an element's bits.
fn number(dtype: DType, bits: u64) -> f64 {
    let unused = 64 - dtype.bits();
    match (dtype.class(), dtype.bits()) {
        (Class::Bool, _) => f64::from(u8::from(bits != 0)),
        (Class::Signed, _) => ((bits << unused) as i64 >> unused) as f64,
        (Class::Unsigned, _) => bits as f64,
        (Class::Float, 64) => f64::from_bits(bits),
        (Class::Float, 32) => f64::from(f32::from_bits(bits as u32)),
        (Class::Float, _) if dtype == DType::BF16 => bf16::from_bits(bits as u16).to_f64(),
        (Class::Float, _) => f16::from_bits(bits as u16).to_f64(),
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Output([{}; {}])", self.dtype, self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::view::ViewMut;

    /// Offsets and bytes of the pieces of a view of `f32`; none if they are too many.
    fn of<const R: usize>(view: ViewMut<'_, f32, R>) -> Option<(Vec<usize>, usize)> {
        region(&LaunchArg::tensor_mut(view))
            .ok()
            .map(|region| region.map_or((Vec::new(), 0), |of| (of.offsets, of.piece)))
    }

    #[test]
    fn pieces_of_views() -> Result<()> {
        let mut x = Device::cpu().stream()?.zeros::<f32>(1 << 14)?;
        assert_eq!(of(x.view_mut([64, 256])?), Some((vec![0], 1 << 16)));
        assert_eq!(of(x.view_mut([64, 256])?.transpose()), Some((vec![0], 1 << 16)));
        assert_eq!(of(x.view_mut([2, 3, 4])?.with_offset(8)?), Some((vec![32], 96)));
        assert_eq!(of(x.view_mut([0, 4])?), Some((vec![], 0)));
        assert_eq!(of(x.view_mut([3])?.with_strides([2])?), Some((vec![0, 8, 16], 4)));
        // Columns of a matrix, and what is left of it.
        let (left, right) = x.view_mut([3, 10])?.split_at(1, 4)?;
        assert_eq!(of(left), Some((vec![0, 40, 80], 16)));
        assert_eq!(of(right), Some((vec![16, 56, 96], 24)));
        let (_, planes) = x.view_mut([2, 2, 8])?.split_at(2, 6)?;
        assert_eq!(of(planes), Some((vec![24, 56, 88, 120], 8)));
        assert_eq!(of(x.view_mut([8192])?.with_strides([2])?), None);
        Ok(())
    }
}
