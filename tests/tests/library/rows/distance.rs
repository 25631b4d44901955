//! Mean squares of differences, and divergences.

use super::{gradient, normals, order, pairs};
use crate::harness::{Case, Failure, Operand, Order, Scalar, compare, type_name};
use crate::reference::distance as reference;
use triton::{bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::loss::{kl_div, mse};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    for kl in [false, true] {
        cases.push(Case::new(format!("distance gradient of the reference {kl}"), move |_, random| {
            let target: Vec<f64> = normals(random, 30).iter().map(|x| x.abs()).collect();
            let x = normals(random, 30);
            let loss = |x: &[f64]| vec![reference::distance(x, &target, 7.0, kl).0];
            gradient("for x", random, &x, loss, |x, dy| {
                reference::distance(x, &target, 7.0, kl).1.iter().map(|g| *g * dy[0]).collect()
            })
        }));
    }
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let mut shapes = pairs(&[0, 1, 2, 7], &[0, 1, 3, 128, 1023]);
    shapes.extend([[1, 1025], [3, 2050], [70, 33]]);
    for (turn, shape) in shapes.into_iter().enumerate() {
        for kl in [false, true] {
            let name = format!("{} {} {shape:?}", if kl { "kl_div" } else { "mse" }, type_name::<T>());
            cases.push(Case::new(name, move |stream, random| {
                let turned = |operand: usize| order(turn + if turn.is_multiple_of(2) { operand } else { 0 });
                let x = Operand::<T, 2>::new(shape, turned(0), || -0.5 - random.f64());
                let target = Operand::<T, 2>::new(shape, turned(1), || f64::from(random.u32(..4)) / 4.0);
                let (loss, dx) =
                    (Operand::<f32, 1>::output([1], Order::Odd), Operand::<T, 2>::output(shape, turned(2)));
                let count = if kl { shape[0] as f64 } else { (shape[0] * shape[1]) as f64 };
                let (expected, gradient) = reference::distance(&x.values(), &target.values(), count, kl);
                let (of_x, of_target) = (x.upload(stream)?, target.upload(stream)?);
                let mut first = None;
                for backward in [false, true, true] {
                    let (mut memory, mut found) = (loss.upload(stream)?, dx.upload(stream)?);
                    let (x, target) = (x.view(&of_x)?, target.view(&of_target)?);
                    let of_loss = loss.view_mut(&mut memory)?;
                    let launch = if kl { kl_div(x, target, of_loss) } else { mse(x, target, of_loss) };
                    let launch = if backward { launch.dx(dx.view_mut(&mut found)?) } else { launch };
                    launch.launch(stream)?;
                    let of_loss = loss.download(stream, &memory)?;
                    compare::<f32>("loss", &of_loss, &[expected])?;
                    if backward {
                        compare::<T>("dx", &dx.download(stream, &found)?, &gradient)?;
                    }
                    if first.get_or_insert(of_loss[0].to_bits()) != &of_loss[0].to_bits() {
                        return Err(Failure("a second run gives other bits".to_string()));
                    }
                }
                Ok(())
            }));
        }
    }
}
