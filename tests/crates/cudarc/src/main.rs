//! Kernels over slices and on streams of cudarc, and cudarc's copies of our buffers. Without a GPU it says that it was skipped.

#[cfg(feature = "library")]
mod operations;

use cudarc::driver::{CudaContext, CudaStream};
use std::error::Error;
use std::sync::Arc;
use triton::interop::{self, CudarcSlice, CudarcSliceMut};
use triton::prelude::*;

#[triton::kernel]
fn double(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let at = [program_id(0) * 256];
    y.store(at, x.load(at, [256]) * 2.0);
}

#[triton::kernel]
fn transpose(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let at = [program_id(0) * 16, program_id(1) * 16];
    y.store(at, x.load(at, [16, 16]));
}

const N: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    if Device::cuda(0).is_err() {
        println!("SKIPPED: {}", Device::best());
        return Ok(());
    }
    let context = CudaContext::new(0)?;
    streams(&context)?;
    for theirs in [context.default_stream(), context.new_stream()?] {
        slices(&theirs)?;
        views(&theirs)?;
        buffers(&theirs)?;
        #[cfg(feature = "library")]
        library(&theirs)?;
    }
    println!("beside_cudarc: streams, slices and buffers agree on {}", Device::cuda(0)?);
    Ok(())
}

/// Operations of `triton-kernels` over slices of cudarc, over memory of `cuMemAlloc`, and over buffers: the same bits.
#[cfg(feature = "library")]
fn library(theirs: &Arc<CudaStream>) -> Result<(), Box<dyn Error>> {
    use cudarc::driver::result;
    use operations::{READ, WRITTEN, numbers};
    let stream = Stream::from_cudarc(theirs)?;
    // Of buffers whose elements begin at a multiple of 256 bytes, and one element later, where operations choose other code.
    let expected = |shift: usize| -> Result<Vec<u32>, Box<dyn Error>> {
        let (mut x, mut y) = (stream.tensor_zeros([shift + READ])?, stream.tensor_zeros([shift + WRITTEN])?);
        stream.copy_from_host(&numbers(), &mut x.buffer_mut().slice_mut(shift..)?)?;
        operations::run(&stream, x.narrow(0, shift..)?, y.narrow_mut(0, shift..)?)?;
        Ok(stream.download(&y.buffer().slice(shift..)?)?.into_iter().map(f32::to_bits).collect())
    };
    let same = |found: &[f32], expected: Vec<u32>| found.iter().map(|x| x.to_bits()).eq(expected);

    let (slice, mut out) = (theirs.clone_htod(&numbers())?, theirs.alloc_zeros::<f32>(WRITTEN)?);
    {
        // SAFETY: the launches are on this stream.
        let (slice, mut out) = unsafe { (CudarcSlice::new(&slice, theirs)?, CudarcSliceMut::new(&mut out, theirs)?) };
        operations::run(&stream, slice.view([READ])?, out.view_mut([WRITTEN])?)?;
    }
    assert!(same(&theirs.clone_dtoh(&out)?, expected(0)?), "a slice of cudarc");

    // At an address that is a multiple of an element alone.
    // SAFETY: the memory is freed after the last use of it was waited for.
    unsafe {
        let device = stream.device();
        let (read, written) = (result::malloc_sync(4 * READ + 4)?, result::malloc_sync(4 * WRITTEN + 4)?);
        result::memcpy_htod_sync(read + 4, &numbers())?;
        result::memset_d8_sync(written, 0, 4 * WRITTEN + 4)?;
        let x = View::<f32, 1>::from_raw_parts(device, read + 4, READ, [READ], [1])?;
        let y = ViewMut::<f32, 1>::from_raw_parts(device, written + 4, WRITTEN, [WRITTEN], [1])?;
        operations::run(&stream, x, y)?;
        stream.synchronize()?;
        let mut found = vec![0.0f32; WRITTEN];
        result::memcpy_dtoh_sync(&mut found, written + 4)?;
        assert!(same(&found, expected(1)?), "memory of cuMemAlloc");
        // Addresses that the driver knows better.
        let host = found.as_ptr().expose_provenance() as u64;
        assert!(matches!(
            View::<f32, 1>::from_raw_parts(device, host, 1, [1], [1]),
            Err(triton::Error::Foreign { .. })
        ));
        result::free_sync(read)?;
        result::free_sync(written)?;
    }
    println!("beside_cudarc: the library gives the same bits over slices, over memory of cuMemAlloc and over buffers");
    Ok(())
}

/// Each library on the other's stream.
fn streams(context: &Arc<CudaContext>) -> Result<(), Box<dyn Error>> {
    let theirs = context.new_stream()?;
    let stream = Stream::from_cudarc(&theirs)?;
    assert_eq!(stream.as_raw(), Some(theirs.cu_stream().cast()));
    // Ours lives on.
    drop(theirs);
    let mut x = stream.upload(&[1.5f32; N])?;
    let mut y = stream.zeros::<f32>(N)?;
    double(x.view([N])?, y.view_mut([N])?).launch(&stream, N.div_ceil(256))?;
    assert_eq!(stream.download(&y)?, [3.0; N]);
    stream.fill(&mut x, 0.0)?;

    let stream = Device::cuda(0)?.stream()?;
    // SAFETY: the stream is dropped after what cudarc makes with it.
    let theirs = unsafe { stream.to_cudarc(context)? };
    let copy = theirs.clone_htod(&[7i32; 100])?;
    assert_eq!(theirs.clone_dtoh(&copy)?, [7; 100]);
    // SAFETY: nothing is made with it.
    let refused = unsafe { Device::cpu().stream()?.to_cudarc(context) };
    assert!(matches!(refused, Err(triton::Error::WrongDevice { .. })));
    drop(copy);
    Ok(())
}

/// Kernels over slices of cudarc.
fn slices(theirs: &Arc<CudaStream>) -> Result<(), Box<dyn Error>> {
    let stream = Stream::from_cudarc(theirs)?;
    let values: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let x = theirs.clone_htod(&values)?;
    let mut y = theirs.alloc_zeros::<f32>(N)?;
    {
        // SAFETY: the launch is on this stream.
        let (x, mut y) = unsafe { (CudarcSlice::new(&x, theirs)?, CudarcSliceMut::new(&mut y, theirs)?) };
        assert_eq!((x.len(), x.is_empty(), x.device().ordinal()), (N, false, Some(0)));
        double(x.view([N])?, y.view_mut([N])?).launch(&stream, N.div_ceil(256))?;
        assert!(x.view([N + 1]).is_err(), "the view would reach past the slice");
    }
    let doubled = theirs.clone_dtoh(&y)?;
    assert!(doubled.iter().zip(&values).all(|(y, x)| *y == 2.0 * x));
    Ok(())
}

/// Parts of slices, and other strides.
fn views(theirs: &Arc<CudaStream>) -> Result<(), Box<dyn Error>> {
    let stream = Stream::from_cudarc(theirs)?;
    let values: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let (x, mut y) = (theirs.clone_htod(&values)?, theirs.alloc_zeros::<f32>(N)?);
    {
        let (part, mut whole) = (x.slice(100..100 + 32 * 48), y.as_view_mut());
        // SAFETY: the launch is on this stream.
        let (part, mut whole) = unsafe { (CudarcSlice::new(&part, theirs)?, CudarcSliceMut::new(&mut whole, theirs)?) };
        transpose(part.view([32, 48])?.transpose(), whole.view_mut([48, 32])?).launch(&stream, (3, 2))?;
    }
    let turned = theirs.clone_dtoh(&y)?;
    assert!((0..48 * 32).all(|i| turned[i] == values[100 + i % 32 * 48 + i / 32]));
    assert!(turned[48 * 32..].iter().all(|value| *value == 0.0));
    Ok(())
}

/// Copies of cudarc over buffers of ours, between uses on a stream of ours.
fn buffers(theirs: &Arc<CudaStream>) -> Result<(), Box<dyn Error>> {
    let stream = Device::cuda(0)?.stream()?;
    let (mut x, mut y) = (stream.zeros::<f32>(N)?, stream.zeros::<f32>(N)?);
    for round in 1..=20 {
        let value = round as f32;
        stream.fill(&mut x, value)?;
        // SAFETY: the copies are on this stream.
        let copy = unsafe { interop::lend(&x, theirs, |x| theirs.clone_dtod(&x))?? };
        stream.fill(&mut x, -1.0)?;
        // SAFETY: as above.
        unsafe { interop::lend_mut(&mut x.slice_mut(N / 2..)?, theirs, |mut half| theirs.memset_zeros(&mut half))?? };
        double(x.view([N])?, y.view_mut([N])?).launch(&stream, N.div_ceil(256))?;
        assert_eq!(theirs.clone_dtoh(&copy)?, [value; N]);
        let found = stream.download(&y)?;
        assert!(found[..N / 2].iter().all(|v| *v == -2.0) && found[N / 2..].iter().all(|v| *v == 0.0));
    }
    Ok(())
}
