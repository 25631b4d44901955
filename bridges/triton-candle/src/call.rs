//! Where an operation runs: candle's device and stream as ours.
//!
//! The stream of `Device::new_cuda` is that of the calling thread: its handle is the same number in every thread, and names another stream in
//! each. So streams are kept by thread, and none passes to another.

use crate::error::wrap;
#[cfg(feature = "cuda")]
use candle_core::cuda::cudarc::driver::CudaStream;
use candle_core::{Device, Result};
use std::cell::RefCell;
#[cfg(feature = "cuda")]
use std::sync::Arc;
use triton::Stream;

thread_local! {
    static HOST: RefCell<Option<Stream>> = const { RefCell::new(None) };
}

#[cfg(feature = "cuda")]
thread_local! {
    /// Streams of this thread, by candle's devices. What they lend is kept between operations.
    static CUDA: RefCell<Vec<(candle_core::cuda_backend::DeviceId, Arc<CudaStream>, Stream)>> = const { RefCell::new(Vec::new()) };
}

/// Where an operation runs: a stream of ours that is candle's, on the calling thread.
pub struct Call {
    stream: Stream,
    #[cfg(feature = "cuda")]
    cuda: Option<(candle_core::CudaDevice, Arc<CudaStream>)>,
}

impl Call {
    /// On the CPU device.
    ///
    /// # Errors
    /// As the runtime has.
    pub fn cpu() -> Result<Call> {
        let stream = HOST.with_borrow_mut(|kept| {
            if let Some(stream) = kept {
                return Ok(stream.clone());
            }
            let stream = triton::Device::cpu().stream().map_err(wrap)?;
            Ok::<_, candle_core::Error>(kept.insert(stream).clone())
        })?;
        Ok(Call {
            stream,
            #[cfg(feature = "cuda")]
            cuda: None,
        })
    }

    /// On candle's stream of a CUDA device.
    ///
    /// # Errors
    /// If the driver has none of our device.
    #[cfg(feature = "cuda")]
    pub fn on_cuda(device: &candle_core::CudaDevice) -> Result<Call> {
        let (theirs, stream) = CUDA.with_borrow_mut(|kept| {
            if let Some((_, theirs, stream)) = kept.iter().find(|(id, ..)| *id == device.id()) {
                return Ok((theirs.clone(), stream.clone()));
            }
            let theirs = device.cuda_stream();
            let stream = Stream::from_cudarc(&theirs).map_err(wrap)?;
            kept.push((device.id(), theirs.clone(), stream.clone()));
            Ok::<_, candle_core::Error>((theirs, stream))
        })?;
        Ok(Call { stream, cuda: Some((device.clone(), theirs)) })
    }

    /// On the device of a tensor.
    ///
    /// # Errors
    /// For a device on which there are no kernels of ours.
    pub(crate) fn of(device: &Device) -> Result<Call> {
        match device {
            Device::Cpu => Call::cpu(),
            #[cfg(feature = "cuda")]
            Device::Cuda(device) => Call::on_cuda(device),
            #[cfg(not(feature = "cuda"))]
            Device::Cuda(_) => {
                candle_core::bail!("build triton-candle with the feature `cuda` for tensors on CUDA devices")
            }
            Device::Metal(_) => {
                candle_core::bail!("kernels run on the CPU and on CUDA devices; move the tensor with `to_device`")
            }
        }
    }

    /// The stream on which kernels are launched.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }
}

#[cfg(feature = "cuda")]
#[allow(clippy::expect_used, reason = "memory of candle's pool is reached by a call on its device alone")]
impl Call {
    pub(crate) fn is_cuda(&self) -> bool {
        self.cuda.is_some()
    }

    pub(crate) fn cuda(&self) -> &candle_core::CudaDevice {
        &self.cuda.as_ref().expect("the call is on a CUDA device").0
    }

    pub(crate) fn theirs(&self) -> &CudaStream {
        &self.cuda.as_ref().expect("the call is on a CUDA device").1
    }
}
