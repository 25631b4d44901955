//! Buffers, which have no shape, where a kernel takes tensors.
use triton::prelude::*;

#[triton::kernel]
fn double(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    out.store([0, 0], x.load([0, 0], [16, 16]) * 2.0);
}

fn main() -> triton::Result<()> {
    let stream = Device::cpu().stream()?;
    let x = stream.zeros::<f32>(256)?;
    let mut out = stream.tensor_zeros::<f32, 1>([256])?;
    double(&x, &mut out).launch(&stream, 1)
}
