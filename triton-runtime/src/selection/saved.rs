//! What a launch may change, kept aside: so that it can be launched again.

use crate::allocation::Allocation;
use crate::args::LaunchArg;
use crate::error::Result;
use crate::stream::Stream;
use half::{bf16, f16};
use std::fmt;
use std::sync::Arc;
use triton_core::metadata::ParamType;
use triton_core::types::{Class, DType};

/// Bytes of a buffer that a mutable argument names.
struct Span {
    memory: Arc<Allocation>,
    dtype: DType,
    offset: usize,
    bytes: usize,
}

/// A copy on the device of all that the mutable arguments of a launch name.
///
/// **Invariant:** it is written back by the call that made it, which has the arguments alone.
pub(super) struct Saved {
    spans: Vec<(Span, Arc<Allocation>)>,
}

/// The elements that a mutable argument of a launch names, on the host: with the gaps between them, if a view has some.
#[derive(Clone, PartialEq, Eq)]
pub struct Output {
    dtype: DType,
    bytes: Vec<u8>,
}

/// From the first to the last element that an argument names, if it may be written. `Err` if nothing tells how many there are.
fn span(arg: &LaunchArg<'_>) -> Result<Option<Span>, ()> {
    if !arg.ty.is_mutable() {
        return Ok(None);
    }
    let (ParamType::PtrMut(dtype) | ParamType::Tensor { dtype, .. }) = arg.ty else { return Err(()) };
    let elements = elements(arg);
    let Some(memory) = arg.allocation else {
        // A view of nothing has none, and of another library's pointer the length is unknown.
        return if elements == Some(0) { Ok(None) } else { Err(()) };
    };
    let offset = usize::try_from(arg.bits().wrapping_sub(memory.address())).map_err(|_| ())?;
    let rest = memory.memory().len().saturating_sub(offset);
    let bytes = elements.map_or(rest, |count| (count * dtype.bytes() as usize).min(rest));
    Ok((bytes > 0).then(|| Span { memory: memory.clone(), dtype, offset, bytes }))
}

/// From the first element of a view to its last; `None` of what is not a view.
fn elements(arg: &LaunchArg<'_>) -> Option<usize> {
    let ParamType::Tensor { rank, .. } = arg.ty else { return None };
    let (extents, strides) = arg.words()[1..].split_at(usize::from(rank));
    if extents.contains(&0) {
        return Some(0);
    }
    let last: u64 = extents.iter().zip(strides).map(|(extent, stride)| (extent - 1) * stride).sum();
    Some(last as usize + 1)
}

fn spans(args: &[LaunchArg<'_>]) -> Option<Vec<Span>> {
    let spans: Result<Vec<Option<Span>>, ()> = args.iter().map(span).collect();
    Some(spans.ok()?.into_iter().flatten().collect())
}

/// How many bytes a copy of them takes; `None` if nothing tells.
pub(super) fn bytes(args: &[LaunchArg<'_>]) -> Option<usize> {
    Some(spans(args)?.iter().map(|span| span.bytes).sum())
}

/// What they hold now.
///
/// # Errors
/// A fault of earlier work.
pub(super) fn outputs(args: &[LaunchArg<'_>], stream: &Stream) -> Result<Vec<Output>> {
    let read = |span: Span| {
        let mut bytes = vec![0; span.bytes];
        span.memory.download(span.offset, &mut bytes, stream)?;
        Ok(Output { dtype: span.dtype, bytes })
    };
    spans(args).unwrap_or_default().into_iter().map(read).collect()
}

impl Saved {
    pub(super) fn of(args: &[LaunchArg<'_>], stream: &Stream) -> Result<Option<Saved>> {
        let Some(spans) = spans(args) else { return Ok(None) };
        let copy = |span: Span| {
            let copy = Arc::new(Allocation::new(stream, span.bytes, false)?);
            copy.copy(0, &span.memory, span.offset, span.bytes, stream)?;
            Ok((span, copy))
        };
        Ok(Some(Saved { spans: spans.into_iter().map(copy).collect::<Result<_>>()? }))
    }

    /// Enqueues writing everything back.
    ///
    /// # Errors
    /// A fault of earlier work.
    pub(super) fn restore(&self, stream: &Stream) -> Result<()> {
        let write = |(span, copy): &(Span, Arc<Allocation>)| span.memory.copy(span.offset, copy, 0, span.bytes, stream);
        self.spans.iter().try_for_each(write)
    }
}

impl Output {
    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The elements, as numbers.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        let number = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            number(self.dtype, u64::from_le_bytes(word))
        };
        self.bytes.chunks_exact(self.dtype.bytes() as usize).map(number)
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
        write!(f, "Output([{}; {}])", self.dtype, self.bytes.len() / self.dtype.bytes() as usize)
    }
}
