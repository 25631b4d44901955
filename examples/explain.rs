//! What the compiler chose for a kernel, and its estimated cost: `cargo run --features compiler --example explain`. Needs no GPU.

use triton::prelude::*;

/// out = xᵀ, a square of N by N a program.
#[triton::kernel(T = [f32, f16], N = [64])]
pub fn transpose<T: Num, const N: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let (i, j) = (program_id(1) * N, program_id(0) * N);
    out.store([j, i], x.load([i, j], [N, N]).transpose());
}

fn main() -> triton::Result<()> {
    let stream = Device::cpu().stream()?;
    for side in [1024, 1000] {
        let x = stream.tensor_zeros([side, side])?;
        let mut out = stream.tensor_zeros([side, side])?;
        let launch = transpose::<f16, 64>(&x, &mut out);
        println!("{}, {side} by {side}:\n{}", launch.metadata().instance, launch.explain()?);
    }
    Ok(())
}
