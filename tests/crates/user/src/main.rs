//! Uses the functions, constants, structs and kernels of `ops` by every kind of path, and those of the library `triton-kernels`.
#![deny(warnings)]

use ops::activation::*;
use ops::{Sgd as Descent, WIDTH, gelu as g};
use tri::lang::exp as e;
use tri::prelude::*;
use triton_kernels::functions::gemm_tile;
use triton_kernels::Activation;
use triton_kernels::linear::gemm;

/// Only rustc knows its value.
const BIAS: f32 = 0.25 * OFFSETS[1];
const OFFSETS: [f32; 2] = [1.0, 2.0];


mod re_exported {
    pub use ops::scaled;
    pub mod of_types {
        /// Each type has its own.
        pub trait Margin {
            const MARGIN: Self;
        }
        impl Margin for f32 {
            const MARGIN: f32 = 0.5;
        }
        impl Margin for i32 {
            const MARGIN: i32 = 7;
        }
    }
}
use re_exported::of_types::Margin;

#[tri::kernel]
fn mixed(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let i = program_id(0) * WIDTH + arange(0, WIDTH);
    let v = load(x + i, i < n);
    let (most, _) = larger((g(v), silu(v)));
    let sum = most + ops::activation::all_of_them(v) + re_exported::scaled::<_, 3>(v);
    store(out + i, sum + e(v) + BIAS, i < n);
}

#[tri::kernel(T = [f32, i32])]
fn margins<T: Num + Margin>(x: PtrMut<T>) {
    let i = arange(0, 64);
    store(x + i, load(x + i, true) + T::MARGIN, true);
}

#[tri::kernel]
fn descend(weight: PtrMut<f32>, gradient: Ptr<f32>, velocity: PtrMut<f32>, options: Descent, n: i32) {
    let i = program_id(0) * 64 + arange(0, 64);
    let (w, v) =
        ops::kernels::step(load(weight + i, i < n), load(gradient + i, i < n), load(velocity + i, i < n), options);
    store(weight + i, w, i < n);
    store(velocity + i, v, i < n);
}

/// The product of `ops` by a tile that it does not ship, of another type, with an epilogue of its own: a function of a third place.
#[tri::kernel(configs = [(BM = 16, BN = 32, BK = 16, num_warps = 2)])]
fn activated<const BM: i32, const BN: i32, const BK: i32>(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let at = (program_id(0) * BM, program_id(1) * BN);
    let (i, j) = at;
    c.store([i, j], ops::kernels::product_tile::<f16, BM, BN, BK>(a, b, at, |acc| g(acc) + BIAS));
}

/// a · bᵀ by a tile of `triton-kernels` that it does not ship, with an epilogue of two crates: gelu of the products, no more than a limit.
#[tri::kernel(configs = [(BM = 16, BN = 8, BK = 64, num_warps = 1)])]
fn limited<const BM: i32, const BN: i32, const BK: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f32, 2>,
    limit: f32,
) {
    let (i, j) = (program_id(0) * BM, program_id(1) * BN);
    let sum = gemm_tile::<f16, f32, BM, BN, BK, false, true>(a, b, (i, j), (0, a.dim(1)));
    c.store([i, j], minimum(g(sum) + BIAS, limit));
}

/// The library's own instances of a product, around a function that calls one of a third place and reads a vector: gelu(v + bias), no more than a limit.
#[tri::function]
fn biased<const BM: i32, const BN: i32>(
    v: Tile<f32>,
    at: (i32, i32),
    bias: Tensor<f16, 1>,
    limit: f32,
) -> Tile<f32> {
    let (_, n) = at;
    minimum(g(v + bias.load([n], [BN]).to::<f32>().expand_dims(0)), limit)
}
triton_kernels::gemm_with!(
    /// gelu(a · b + bias), no more than a limit.
    pub biased_gemm, f16 => f16, crate::biased(bias: Tensor<f16, 1>, limit: f32)
);

/// Another library's `Tensor` in scope: in the parameters of kernels and of their functions the name is the language's.
mod shadowed {
    use ops::Tensor;
    use tri::prelude::*;

    #[tri::function]
    fn row(x: Tensor<f32, 2>, i: i32) -> Tile<f32> {
        x.load([i, 0], [1, 16])
    }

    #[tri::kernel]
    pub fn halved(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
        let i = program_id(0);
        y.store([i, 0], row(x, i) * 0.5);
    }

    /// The other one is what the program means elsewhere.
    pub fn other() -> Tensor {
        Tensor { rank: 2 }
    }
}

fn close(a: f32, b: f32) -> bool {
    (a - b).abs() <= 1e-5 * b.abs().max(1.0)
}

fn main() -> triton_kernels::Result<()> {
    /// A function inside a function.
    #[tri::function]
    fn twice(x: Tile<f32>) -> Tile<f32> {
        x + x
    }
    #[tri::kernel]
    fn local(x: PtrMut<f32>) {
        store(x + arange(0, 64), twice(load(x + arange(0, 64), true)), true);
    }


    let stream = Device::cpu().stream()?;
    let values: Vec<f32> = (0..200).map(|i| i as f32 / 50.0 - 2.0).collect();
    let x = stream.upload(&values)?;
    let mut out = stream.zeros::<f32>(200)?;
    // SAFETY: the masks keep every access below 200.
    unsafe { mixed(&x, &mut out, 200).launch(&stream, 2)? };
    let gelu = |x: f32| 0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh());
    let silu = |x: f32| x / (1.0 + (-x).exp());
    for (x, found) in values.iter().zip(stream.download(&out)?) {
        let all = gelu(*x) + silu(*x) + gelu(2.0 * x) + x * x * x;
        let expected = gelu(*x).max(silu(*x)) + all + 3.0 * x + x.exp() + BIAS;
        assert!(close(found, expected), "{x}: {found}, not {expected}");
    }
    // SAFETY: the masks keep every access below 200.
    unsafe { ops::kernels::gelu_of::<f32>(&x, &mut out, 200).launch(&stream, 2)? };
    assert!(values.iter().zip(stream.download(&out)?).all(|(x, found)| close(found, gelu(*x))));

    let (mut weight, gradient) = (stream.upload(&[1.0f32; 64])?, stream.upload(&[2.0f32; 64])?);
    let mut velocity = stream.upload(&[4.0f32; 64])?;
    let options = Descent { rate: 0.5, momentum: 0.25, on: true };
    let launch = descend(&mut weight, &gradient, &mut velocity, options, 64);
    let names: Vec<_> = launch.metadata().params.iter().map(|param| param.name.to_string()).collect();
    assert_eq!(names[3..6], ["options.rate", "options.momentum", "options.on"]);
    // SAFETY: the masks keep every access below 64.
    unsafe { launch.launch(&stream, 1)? };
    assert_eq!(stream.download(&weight)?, [-0.5; 64]);
    assert_eq!(stream.download(&velocity)?, [3.0; 64]);

    // SAFETY: every access is below 64.
    unsafe { local(&mut weight).launch(&stream, 1)? };
    // SAFETY: every access is below 64.
    unsafe { margins::<f32>(&mut weight).launch(&stream, 1)? };
    assert_eq!(stream.download(&weight)?, [-0.5; 64]);
    let mut counts = stream.upload(&[1i32; 64])?;
    // SAFETY: every access is below 64.
    unsafe { margins::<i32>(&mut counts).launch(&stream, 1)? };
    assert_eq!(stream.download(&counts)?, [8; 64]);

    // The host's tensors are arguments as they are; one without a shape gets it.
    let x = stream.tensor(&[2.0f32; 24], [2, 12])?;
    let mut y: Tensor<f32, 2> = stream.tensor_zeros(x.shape())?;
    shadowed::halved(&x, &mut y).launch(&stream, 2)?;
    assert_eq!((stream.download(&y)?, shadowed::other().rank), (vec![1.0; 24], 2));
    shadowed::halved(y.transpose(), stream.zeros(24)?.into_tensor([12, 2])?.as_view_mut()).launch(&stream, 12)?;

    let halves: Vec<f16> = (0..20 * 20).map(|i| f16::from_f32((i % 7) as f32 * 0.125)).collect();
    let singles: Vec<f32> = halves.iter().map(|v| v.to_f32()).collect();
    let (half, single) = (stream.upload(&halves)?, stream.upload(&singles)?);
    let (mut theirs, mut own) = (stream.zeros::<f32>(400)?, stream.zeros::<f32>(400)?);
    ops::kernels::product::<32, 32, 16>(single.view([20; 2])?, single.view([20; 2])?, theirs.view_mut([20; 2])?)
        .launch(&stream, (1, 1))?;
    activated::<16, 32, 16>(half.view([20; 2])?, half.view([20; 2])?, own.view_mut([20; 2])?)
        .launch(&stream, (2, 1))?;
    for (product, found) in stream.download(&theirs)?.into_iter().zip(stream.download(&own)?) {
        assert!(close(found, gelu(product) + BIAS), "{product}: {found}");
    }

    // 20 rows of 20, and 12 rows of 20 whose transpose is multiplied: no tile divides them.
    let (rows, columns, depth) = (20, 12, 20);
    let expected = |at: usize| {
        let (i, j) = (at / columns, at % columns);
        (0..depth).map(|k| singles[i * depth + k] * singles[j * depth + k]).sum::<f32>()
    };
    let (a, b) = (half.view([rows, depth])?, half.view([columns, depth])?);
    let bias = stream.upload(&(0..columns).map(|j| f16::from_f32(0.5 * j as f32 - 4.0)).collect::<Vec<_>>())?;
    let mut shipped = stream.uninit::<f16>(rows * columns)?;
    gemm(a, b.transpose(), shipped.view_mut([rows, columns])?)
        .bias(bias.view([columns])?)
        .activation(Activation::Relu)
        .launch(&stream)?;
    for (at, found) in stream.download(&shipped)?.into_iter().enumerate() {
        let exact = (expected(at) + 0.5 * (at % columns) as f32 - 4.0).max(0.0);
        assert_eq!(found, f16::from_f32(exact), "{at}");
    }
    let mut own = stream.uninit::<f32>(rows * columns)?;
    limited::<16, 8, 64>(a, b, own.view_mut([rows, columns])?, 4.0).launch(&stream, (2, 2))?;
    for (at, found) in stream.download(&own)?.into_iter().enumerate() {
        let exact = (gelu(expected(at)) + BIAS).min(4.0);
        assert!(close(found, exact), "{at}: {found}, not {exact}");
    }
    for splits in [1, 2] {
        let product = biased_gemm(a, b.transpose(), shipped.view_mut([rows, columns])?, bias.view([columns])?, 4.0);
        product.splits(splits).launch(&stream)?;
        for (at, found) in stream.download(&shipped)?.into_iter().enumerate() {
            let exact = gelu(expected(at) + 0.5 * (at % columns) as f32 - 4.0).min(4.0);
            assert!((found.to_f32() - exact).abs() <= 2e-3 * exact.abs().max(1.0), "{at}: {found}, not {exact}");
        }
    }
    println!("ok");
    Ok(())
}
