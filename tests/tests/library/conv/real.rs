//! Convolutions of real numbers: rounding, epilogues, gradients by finite differences, and the same bits in each launch.

use super::{ORDERS, name, output, weights};
use crate::harness::{Case, Failure, Operand, Outcome, Scalar, compare, gradient, normals, type_name};
use crate::reference::conv::Conv;
use crate::reference::gemm::narrow;
use crate::reference::number::Number;
use triton::prelude::*;
use triton_kernels::Activation;
use triton_kernels::FloatElement;
use triton_kernels::conv::conv2d;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of_type::<f32>(&mut cases);
    of_type::<f16>(&mut cases);
    of_type::<bf16>(&mut cases);
    let small = Conv { x: [2, 4, 3, 2], w: [2, 3, 2], stride: [2, 1], padding: [1, 1], dilation: [1, 2], groups: 1 };
    cases.push(Case::new(format!("gradients of the reference {}", name(&small)), move |_, random| {
        let (x, w) = (normals(random, small.x.iter().product()), normals(random, weights(&small).iter().product()));
        gradient("of x", random, &x, |x| small.forward(x, &w), |_, dy| small.input_gradient(dy, &w))?;
        gradient("of w", random, &w, |w| small.forward(&x, w), |_, dy| small.weight_gradient(&x, dy))
    }));
    cases
}

fn of_type<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let convs = [
        Conv { x: [2, 8, 9, 64], w: [48, 3, 3], stride: [1; 2], padding: [1; 2], dilation: [1; 2], groups: 1 },
        Conv { x: [1, 7, 6, 3], w: [66, 5, 3], stride: [2; 2], padding: [2, 1], dilation: [1; 2], groups: 1 },
        Conv { x: [2, 8, 8, 40], w: [24, 1, 1], stride: [1; 2], padding: [0; 2], dilation: [1; 2], groups: 1 },
    ];
    let activations = [
        Activation::Identity,
        Activation::Relu,
        Activation::Gelu,
        Activation::Silu,
        Activation::Tanh,
        Activation::Sigmoid,
    ];
    for (i, of) in convs.into_iter().enumerate() {
        for (j, kind) in activations.into_iter().enumerate() {
            for splits in [None, Some(4)] {
                let orders = [ORDERS[(i + j) % 4], ORDERS[j % 4]];
                let what = format!("{} {} {orders:?} {kind:?} splits {splits:?}", type_name::<T>(), name(&of));
                cases.push(Case::new(format!("conv2d with bias {what}"), move |stream, random| {
                    let x = Operand::<T, 4>::normal(of.x, orders[0], random);
                    let w = Operand::<T, 4>::normal(weights(&of), orders[1], random);
                    let bias = Operand::<T, 1>::normal([of.w[0]], orders[1], random);
                    let run = || -> Outcome<Vec<f64>> {
                        let y = Operand::<T, 4>::output(output(&of), orders[0]);
                        let (of_x, of_w, of_bias) = (x.upload(stream)?, w.upload(stream)?, bias.upload(stream)?);
                        let mut of_y = y.upload(stream)?;
                        let conv = conv2d(x.view(&of_x)?, w.view(&of_w)?, y.view_mut(&mut of_y)?)
                            .stride((of.stride[0], of.stride[1]))
                            .padding((of.padding[0], of.padding[1]))
                            .bias(bias.view(&of_bias)?)
                            .activation(kind);
                        splits.into_iter().fold(conv, |conv, splits| conv.splits(splits)).launch(stream)?;
                        y.download(stream, &of_y)
                    };
                    let found = run()?;
                    let (sums, bias) = (of.forward(&x.values(), &w.values()), bias.values());
                    let of = |(i, sum): (usize, &Number)| narrow(kind, *sum + bias[i % bias.len()], T::rounding());
                    let expected: Vec<Number> = sums.iter().enumerate().map(of).collect();
                    compare::<T>("y", &found, &expected)?;
                    match run()? == found {
                        true => Ok(()),
                        false => Err(Failure("two launches differ".to_string())),
                    }
                }));
            }
        }
    }
}
