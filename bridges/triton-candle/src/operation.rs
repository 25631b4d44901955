//! Operations as candle's: one trait for those of one, two and three tensors.

use crate::call::Call;
use crate::layout::ready;
use candle_core::backend::BackendStorage;
use candle_core::{
    CpuStorage, CudaStorage, CustomOp1, CustomOp2, CustomOp3, DType, Device, DeviceLocation, Layout, Result, Shape,
    Storage, Tensor,
};

/// Whose memory an operand is in.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    Cpu(&'a CpuStorage),
    #[cfg(feature = "cuda")]
    Cuda(&'a CudaStorage),
}

/// A tensor as candle passes it to an operation: its storage and its layout.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    pub(crate) place: Place<'a>,
    pub(crate) layout: &'a Layout,
}

impl<'a> Operand<'a> {
    /// The extents.
    pub fn dims(&self) -> &'a [usize] {
        self.layout.dims()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        match self.place {
            Place::Cpu(storage) => storage.dtype(),
            #[cfg(feature = "cuda")]
            Place::Cuda(storage) => storage.dtype(),
        }
    }

    fn of(storage: &'a Storage, layout: &'a Layout) -> Result<Operand<'a>> {
        match storage {
            Storage::Cpu(storage) => Ok(Operand { place: Place::Cpu(storage), layout }),
            #[cfg(feature = "cuda")]
            Storage::Cuda(storage) => Ok(Operand { place: Place::Cuda(storage), layout }),
            #[cfg(not(feature = "cuda"))]
            Storage::Cuda(_) => {
                candle_core::bail!("build triton-candle with the feature `cuda` for tensors on CUDA devices")
            }
            Storage::Metal(_) => {
                candle_core::bail!("kernels run on the CPU and on CUDA devices; move the tensor with `to_device`")
            }
        }
    }
}

/// What an operation has computed; made by [`Memory::into_output`](crate::Memory::into_output).
pub struct Output(pub(crate) Storage);

/// An operation of one to three tensors whose kernels are ours; [`candle_op!`](crate::candle_op) writes one.
pub trait Operation: Send + Sync + 'static {
    /// Its name in messages.
    fn name(&self) -> &'static str;

    /// Enqueues it.
    ///
    /// # Errors
    /// If an operand does not fit.
    fn forward(&self, call: &Call, of: &[Operand<'_>]) -> Result<(Output, Shape)>;

    /// The gradient of each tensor, of its result y and the gradient of that.
    ///
    /// # Errors
    /// If it has none, as without this method.
    fn gradients(&self, of: &[&Tensor], y: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let _ = (of, y, dy);
        Err(candle_core::Error::BackwardNotSupported { op: self.name() })
    }
}

/// An operation in candle's traits.
struct Custom<O>(O);

impl<O: Operation> Custom<O> {
    fn cpu(&self, of: &[(&CpuStorage, &Layout)]) -> Result<(CpuStorage, Shape)> {
        let of: Vec<_> = of.iter().map(|(storage, layout)| Operand { place: Place::Cpu(storage), layout }).collect();
        match self.0.forward(&Call::cpu()?, &of)? {
            (Output(Storage::Cpu(storage)), shape) => Ok((storage, shape)),
            (Output(Storage::Cuda(_) | Storage::Metal(_)), _) => {
                candle_core::bail!("`{}`: its result is on another device", self.0.name())
            }
        }
    }

    /// Each of them has its tensor's shape; candle would say so where it adds them, without a name.
    fn gradients(&self, of: &[&Tensor], y: &Tensor, dy: &Tensor) -> Result<Vec<Option<Tensor>>> {
        let gradients = self.0.gradients(of, y, dy)?;
        for (i, (gradient, x)) in gradients.iter().zip(of).enumerate() {
            if let Some(gradient) = gradient.as_ref().filter(|gradient| gradient.dims() != x.dims()) {
                let (op, found, expected) = (self.0.name(), gradient.dims(), x.dims());
                candle_core::bail!("`{op}`: gradient {i} has the shape {found:?}, but its tensor has {expected:?}");
            }
        }
        Ok(gradients)
    }

    #[cfg(feature = "cuda")]
    fn cuda(&self, of: &[(&CudaStorage, &Layout)]) -> Result<(CudaStorage, Shape)> {
        let call = Call::on_cuda(of[0].0.device())?;
        let of: Vec<_> = of.iter().map(|(storage, layout)| Operand { place: Place::Cuda(storage), layout }).collect();
        match self.0.forward(&call, &of)? {
            (Output(Storage::Cuda(storage)), shape) => Ok((storage, shape)),
            (Output(Storage::Cpu(_) | Storage::Metal(_)), _) => {
                candle_core::bail!("`{}`: its result is on another device", self.0.name())
            }
        }
    }

    #[cfg(not(feature = "cuda"))]
    fn cuda(&self, _: &[(&CudaStorage, &Layout)]) -> Result<(CudaStorage, Shape)> {
        candle_core::bail!(
            "`{}`: build triton-candle with the feature `cuda` for tensors on CUDA devices",
            self.0.name()
        )
    }
}

macro_rules! custom {
    ($($custom:ident($($s:ident $l:ident $arg:ident),+) -> $gradients:ty;)*) => {$(
        impl<O: Operation> $custom for Custom<O> {
            fn name(&self) -> &'static str {
                self.0.name()
            }

            fn cpu_fwd(&self, $($s: &CpuStorage, $l: &Layout),+) -> Result<(CpuStorage, Shape)> {
                self.cpu(&[$(($s, $l)),+])
            }

            fn cuda_fwd(&self, $($s: &CudaStorage, $l: &Layout),+) -> Result<(CudaStorage, Shape)> {
                self.cuda(&[$(($s, $l)),+])
            }

            #[allow(unused_parens, reason = "of one gradient candle takes no tuple")]
            fn bwd(&self, $($arg: &Tensor),+, y: &Tensor, dy: &Tensor) -> Result<$gradients> {
                let mut gradients = self.gradients(&[$($arg),+], y, dy)?.into_iter();
                Ok(($({ let _ = $arg; gradients.next().flatten() }),+))
            }
        }
    )*};
}

custom! {
    CustomOp1(s1 l1 a1) -> Option<Tensor>;
    CustomOp2(s1 l1 a1, s2 l2 a2) -> (Option<Tensor>, Option<Tensor>);
    CustomOp3(s1 l1 a1, s2 l2 a2, s3 l3 a3) -> (Option<Tensor>, Option<Tensor>, Option<Tensor>);
}

/// Applies an operation to tensors that it takes as views of these numbers of axes. One whose axes do not merge is copied
/// ([`copies`](crate::copies)).
///
/// # Errors
/// Those of the operation; four tensors of which one has a gradient, since an operation of candle has three.
pub fn apply(operation: impl Operation, of: &[(&Tensor, usize)]) -> Result<Tensor> {
    same_device(operation.name(), &of.iter().map(|(x, _)| *x).collect::<Vec<_>>())?;
    let of: Vec<Tensor> = of.iter().map(|(x, rank)| ready(x, *rank)).collect::<Result<_>>()?;
    match &of[..] {
        [x] => x.apply_op1(Custom(operation)),
        [x, y] => x.apply_op2(y, Custom(operation)),
        [x, y, z] => x.apply_op3(y, z, Custom(operation)),
        of if of.iter().any(Tensor::track_op) => {
            candle_core::bail!("`{}`: an operation of {} tensors has no gradient", operation.name(), of.len())
        }
        of => with(operation.name(), &of.iter().collect::<Vec<_>>(), |call, of| {
            let (Output(storage), shape) = operation.forward(call, of)?;
            Ok(Tensor::from_storage(storage, shape, candle_core::op::BackpropOp::none(), false))
        }),
    }
}

/// The device of tensors. candle's own check says neither where they are nor what helps.
fn same_device<'a>(op: &str, of: &[&'a Tensor]) -> Result<&'a Device> {
    let Some(first) = of.first() else { candle_core::bail!("`{op}`: an operation has a tensor") };
    let Some(other) = of.iter().find(|x| !x.device().same_device(first.device())) else { return Ok(first.device()) };
    match (first.device().location(), other.device().location()) {
        (DeviceLocation::Cuda { gpu_id }, DeviceLocation::Cuda { gpu_id: of_other }) if gpu_id == of_other => {
            candle_core::bail!(
                "`{op}`: its tensors are of two devices of GPU {gpu_id}, which have streams of their own; make the device once and \
                 clone it, or move one with `to_device`"
            )
        }
        (first, other) => {
            candle_core::bail!("`{op}`: its tensors are on {first:?} and {other:?}; move one with `to_device`")
        }
    }
}

/// Runs kernels over tensors of one device, outside an operation: gradients, which have several results.
pub(crate) fn with<R>(
    op: &'static str,
    of: &[&Tensor],
    work: impl FnOnce(&Call, &[Operand<'_>]) -> Result<R>,
) -> Result<R> {
    let first = same_device(op, of)?;
    let call = Call::of(first)?;
    let held: Vec<_> = of.iter().map(|x| x.storage_and_layout()).collect();
    let of = held.iter().map(|(storage, layout)| Operand::of(storage, layout)).collect::<Result<Vec<_>>>()?;
    work(&call, &of)
}

/// Runs a body with `T` as the element type of a tensor.
macro_rules! by_float {
    ($op:expr, $operand:expr, $dtype:expr, |$T:ident| $body:block) => {
        match $dtype {
            candle_core::DType::F32 => {
                type $T = f32;
                $body
            }
            candle_core::DType::F16 => {
                type $T = triton::f16;
                $body
            }
            candle_core::DType::BF16 => {
                type $T = triton::bf16;
                $body
            }
            other => {
                use candle_core::DType;
                Err($crate::error::dtype($op, $operand, other, &[DType::F32, DType::F16, DType::BF16]))
            }
        }
    };
}
pub(crate) use by_float;
