//! Activations, gated ones, and their gradients.

use super::{gradient, normals, order, pairs};
use crate::harness::{Case, Operand, Scalar, compare, type_name};
use crate::reference::activation::{self as reference, derivative};
use crate::reference::number::Number;
use triton::{bf16, f16};
use triton_kernels::Activation;
use triton_kernels::FloatElement;
use triton_kernels::activation::{activation, activation_backward, gated, gated_backward};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    gradients(&mut cases);
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let mut shapes = pairs(&[0, 1, 2, 7, 9], &[0, 1, 2, 31, 127, 128, 129]);
    shapes.extend([[1, 1023], [1, 1024], [1, 1025], [8, 128], [3, 1031], [16, 64]]);
    for (turn, shape) in shapes.into_iter().enumerate() {
        for i in 0..2 {
            let kind = Activation::ALL[(turn + 5 * i) % Activation::ALL.len()];
            // Every second case has one order of all operands, which may be one row.
            let orders = [0, 1, 2, 3, 4].map(|operand| order(turn / 2 + if turn % 2 == i { operand } else { 0 }));
            let name = format!("activation {kind:?} {} {shape:?} {orders:?}", type_name::<T>());
            cases.push(Case::new(name, move |stream, random| {
                let x = Operand::<T, 2>::normal(shape, orders[0], random);
                let dy = Operand::<T, 2>::normal(shape, orders[1], random);
                let gate = Operand::<T, 2>::normal(shape, orders[2], random);
                let (xs, dys, gates) = (x.values(), dy.values(), gate.values());
                let (mx, mdy, mg) = (x.upload(stream)?, dy.upload(stream)?, gate.upload(stream)?);
                let (of_x, of_dy, of_gate) = (x.view(&mx)?, dy.view(&mdy)?, gate.view(&mg)?);
                let [y, other] = [3, 4].map(|i| Operand::<T, 2>::output(shape, orders[i]));
                let each = |f: &dyn Fn(usize) -> Number| (0..xs.len()).map(f).collect::<Vec<Number>>();

                let (mut my, mut mo) = (y.upload(stream)?, other.upload(stream)?);
                activation(of_x, kind, y.view_mut(&mut my)?).launch(stream)?;
                let expected = each(&|i| reference::activation(kind, xs[i]));
                compare::<T>("y", &y.download(stream, &my)?, &expected)?;

                activation_backward(of_x, of_dy, kind, y.view_mut(&mut my)?).launch(stream)?;
                let expected = each(&|i| derivative(kind, xs[i]) * dys[i]);
                compare::<T>("dx", &y.download(stream, &my)?, &expected)?;

                gated(of_x, of_gate, kind, y.view_mut(&mut my)?).launch(stream)?;
                let expected = each(&|i| reference::activation(kind, xs[i]) * gates[i]);
                compare::<T>("gated", &y.download(stream, &my)?, &expected)?;

                let (dx, dgate) = (y.view_mut(&mut my)?, other.view_mut(&mut mo)?);
                gated_backward(of_x, of_gate, of_dy, kind, dx, dgate).launch(stream)?;
                let expected = each(&|i| derivative(kind, xs[i]) * gates[i] * dys[i]);
                compare::<T>("dx of gated", &y.download(stream, &my)?, &expected)?;
                let expected = each(&|i| reference::activation(kind, xs[i]) * dys[i]);
                compare::<T>("dgate", &other.download(stream, &mo)?, &expected)
            }));
        }
    }
    for kind in Activation::ALL {
        cases.push(Case::new(
            format!("activation {kind:?} {} of large numbers", type_name::<T>()),
            move |stream, _| {
                let numbers = [-3e4, -300.0, -88.0, -20.0, -5.0, 0.0, 5.0, 20.0, 88.0, 300.0, 3e4];
                let x = super::operand::<T, 2>([1, numbers.len()], order(0), &numbers);
                let y = Operand::<T, 2>::output(x.shape(), order(0));
                let (mx, mut my) = (x.upload(stream)?, y.upload(stream)?);
                let xs = x.values();
                activation(x.view(&mx)?, kind, y.view_mut(&mut my)?).launch(stream)?;
                let expected: Vec<Number> = xs.iter().map(|x| reference::activation(kind, *x)).collect();
                compare::<T>("y", &y.download(stream, &my)?, &expected)?;
                activation_backward(x.view(&mx)?, x.view(&mx)?, kind, y.view_mut(&mut my)?).launch(stream)?;
                let expected: Vec<Number> = xs.iter().map(|x| derivative(kind, *x) * *x).collect();
                compare::<T>("dx", &y.download(stream, &my)?, &expected)
            },
        ));
    }
}

fn gradients(cases: &mut Vec<Case>) {
    for kind in Activation::ALL {
        cases.push(Case::new(format!("activation gradient of the reference {kind:?}"), move |_, random| {
            // Beside the kink of relu.
            let x: Vec<f64> = normals(random, 64).iter().map(|x| x + 1e-3f64.copysign(*x)).collect();
            let f = |x: &[f64]| x.iter().map(|x| reference::activation(kind, *x)).collect::<Vec<Number>>();
            gradient("for x", random, &x, f, |x, dy| {
                x.iter().zip(dy).map(|(x, dy)| derivative(kind, *x) * *dy).collect()
            })
        }));
    }
}
