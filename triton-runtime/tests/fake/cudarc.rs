//! What is shared with cudarc, which finds the same library: handles, the order of the work, and that cudarc frees nothing of ours.

use super::{id, log};
use cudarc::driver::{CudaContext, CudaSlice, DevicePtr};
use std::sync::Arc;
use triton_runtime::interop::{self, CudarcSlice, CudarcSliceMut};
use triton_runtime::{Device, Error, Result, Stream};

/// Turns cudarc's errors into ours.
fn ok<T>(result: std::result::Result<T, cudarc::driver::DriverError>) -> Result<T> {
    result.map_err(Error::other)
}

pub fn streams() -> Result<()> {
    let context = ok(CudaContext::new(0))?;
    let theirs = ok(context.new_stream())?;
    let (stream, handle) = (Stream::from_cudarc(&theirs)?, theirs.cu_stream().addr());
    assert_eq!((id(&stream), stream.device()), (handle, &Device::cuda(0)?));
    let x = stream.upload(&[1.0f32; 4])?;
    drop((theirs, stream));
    log();
    drop(x);
    assert_eq!(log(), [format!("free on {handle}"), format!("destroy {handle}")], "the buffer kept cudarc's stream");

    let stream = Device::cuda(0)?.stream()?;
    // SAFETY: the stream is dropped last.
    let theirs = unsafe { stream.to_cudarc(&context)? };
    assert_eq!(theirs.cu_stream().addr(), id(&stream));
    log();
    drop(theirs);
    assert_eq!(log(), [""; 0], "it is not cudarc's to destroy");
    for other in [Device::cpu().stream()?, Device::cuda(1)?.stream()?] {
        // SAFETY: as above.
        let refused = unsafe { other.to_cudarc(&context) };
        assert!(matches!(refused, Err(Error::WrongDevice { .. })));
    }
    Ok(())
}

pub fn slices() -> Result<()> {
    let context = ok(CudaContext::new(0))?;
    let (one, two) = (ok(context.new_stream())?, ok(context.new_stream())?);
    let (first, second) = (one.cu_stream().addr(), two.cu_stream().addr());
    let mut x: CudaSlice<f32> = ok(one.clone_htod(&[1.0, 2.0, 3.0, 4.0]))?;
    log();
    // SAFETY: nothing is launched.
    let borrowed = unsafe { CudarcSlice::new(&x, &two)? };
    assert_eq!(log(), [format!("wait on {second}")], "for the last write");
    assert_eq!((borrowed.len(), borrowed.is_empty(), borrowed.device()), (4, false, &Device::cuda(0)?));
    let address = borrowed.address();
    assert!(format!("{borrowed:?}").contains("f32, 4 elements from 0x"), "{borrowed:?}");
    let view = borrowed.view([2, 2])?;
    assert_eq!((view.address(), view.strides()), (address, [2, 1]));
    assert!(matches!(borrowed.view([5]), Err(Error::View { .. })));
    drop(borrowed);
    assert_eq!(log(), [format!("record on {second}")], "cudarc is told of the reads");

    // SAFETY: as above.
    let part = unsafe { CudarcSlice::new(&x.slice(1..3), &one).map(|part| (part.address(), part.len())) };
    assert_eq!(part, Ok((address + 4, 2)));
    log();
    // SAFETY: as above.
    let mut borrowed = unsafe { CudarcSliceMut::new(&mut x, &one)? };
    assert_eq!(borrowed.view_mut([2, 1, 2])?.strides(), [2, 2, 1]);
    drop(borrowed);
    let waits = vec![format!("wait on {first}"); 2];
    assert_eq!(log(), [&waits[..], &[format!("record on {first}")]].concat(), "after reads and writes");

    let other = ok(CudaContext::new(1))?;
    // SAFETY: as above.
    let refused = unsafe { CudarcSlice::new(&x, &other.default_stream()).map(drop) };
    assert!(matches!(refused, Err(Error::Driver { code: 201, .. })), "{refused:?}");
    Ok(())
}

pub fn lends() -> Result<()> {
    let context = ok(CudaContext::new(0))?;
    let theirs = ok(context.new_stream())?;
    let stream = Device::cuda(0)?.stream()?;
    let (me, them) = (id(&stream), theirs.cu_stream().addr());
    let mut x = stream.upload(&[1i32, 2, 3, 4])?;
    let address = x.address();
    log();
    // SAFETY: the copy is on `theirs`.
    let copy = unsafe { interop::lend(&x, &theirs, |x| ok(theirs.clone_dtod(&x)))?? };
    assert_eq!(ok(theirs.clone_dtoh(&copy))?, [1, 2, 3, 4]);
    let seen = log();
    assert_eq!(seen[..2], [format!("record on {me}"), format!("wait on {them}")], "our write comes first");
    assert!(!seen.iter().any(|line| line.starts_with("free")), "{seen:?}");

    // SAFETY: as above.
    unsafe { interop::lend_mut(&mut x.slice_mut(2..)?, &theirs, |mut half| ok(theirs.memset_zeros(&mut half)))?? };
    log();
    assert_eq!(stream.download(&x)?, [1, 2, 0, 0]);
    let seen = log();
    assert_eq!(seen[..2], [format!("record on {them}"), format!("wait on {me}")], "their write comes first");

    // SAFETY: as above.
    let found = unsafe { interop::lend(&x, &theirs, |view| (view.device_ptr(&theirs).0, view.len()))? };
    assert_eq!(found, (address, 4));
    // SAFETY: nothing is enqueued.
    let panicked = std::panic::catch_unwind(|| unsafe { interop::lend(&x, &theirs, |_| panic!("work that fails")) });
    assert!(panicked.is_err() && !log().iter().any(|line| line.starts_with("free")), "cudarc frees nothing");

    let host = Device::cpu().stream()?.zeros::<i32>(4)?;
    // SAFETY: as above.
    let refused = unsafe { interop::lend(&host, &theirs, |_| ()) };
    assert!(matches!(refused, Err(Error::WrongDevice { .. })));
    let kept = Arc::strong_count(&theirs);
    drop((x, stream));
    assert!(Arc::strong_count(&theirs) < kept, "a buffer keeps the stream of its last use");
    Ok(())
}
