//! An operation of candle whose kernel is ours: it takes candle's memory and stream as they are. Checked, not linked: candle links CUDA.

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, CudaStorage, CustomOp1, Layout, Shape};
use triton::interop::{CudarcSlice, CudarcSliceMut};
use triton::prelude::*;

#[triton::kernel]
fn double(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let at = [program_id(0) * 256];
    y.store(at, x.load(at, [256]) * 2.0);
}

/// Twice the elements of a contiguous tensor.
pub struct Double;

impl CustomOp1 for Double {
    fn name(&self) -> &'static str {
        "double"
    }

    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout) -> candle_core::Result<(CpuStorage, Shape)> {
        candle_core::bail!("double runs on CUDA")
    }

    fn cuda_fwd(&self, x: &CudaStorage, layout: &Layout) -> candle_core::Result<(CudaStorage, Shape)> {
        let (device, len) = (x.device(), layout.shape().elem_count());
        let (theirs, x) = (device.cuda_stream(), x.as_cuda_slice::<f32>()?);
        let mut y = device.alloc_zeros::<f32>(len)?;
        let run = |y| {
            let stream = Stream::from_cudarc(&theirs)?;
            // SAFETY: the launch is on candle's stream, and not captured.
            let (x, mut y) = unsafe { (CudarcSlice::new(x, &theirs)?, CudarcSliceMut::new(y, &theirs)?) };
            let x = x.view([len])?.with_offset(layout.start_offset())?;
            double(x, y.view_mut([len])?).launch(&stream, len.div_ceil(256))
        };
        run(&mut y).map_err(candle_core::Error::wrap)?;
        Ok((CudaStorage::wrap_cuda_slice(y, device.clone()), layout.shape().clone()))
    }
}
