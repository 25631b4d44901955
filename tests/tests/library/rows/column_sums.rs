//! Sums of columns.

use super::{order, pairs};
use crate::harness::{Case, Operand, Order, Scalar, compare, same, type_name};
use crate::reference::column_sums as reference;
use crate::reference::number::values;
use triton::{bf16, f16};
use triton_kernels::linear::column_sums;
use triton_kernels::{FloatElement, SumOf};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32, f32>(&mut cases);
    of::<f16, f16>(&mut cases);
    of::<f16, f32>(&mut cases);
    of::<bf16, bf16>(&mut cases);
    of::<bf16, f32>(&mut cases);
    cases
}

fn of<T: FloatElement + Scalar, U: SumOf<T> + Scalar>(cases: &mut Vec<Case>) {
    let shapes = pairs(&[0, 1, 2, 127, 128, 129, 1031], &[0, 1, 2, 63, 64, 65, 128, 131]);
    for (turn, shape) in shapes.into_iter().enumerate() {
        let (order, out_order) = (order(turn), [Order::Rows, Order::Odd, Order::Apart][turn % 3]);
        let name = format!("column_sums {} to {} {shape:?} {order:?}", type_name::<T>(), type_name::<U>());
        cases.push(Case::new(name, move |stream, random| {
            // Sums of whole numbers are exact, in `f16` and `bf16` too if they are small.
            let whole = random.bool() && (U::rounding() < 1e-6 || shape[0] < 100);
            let x = if whole {
                Operand::<T, 2>::whole(shape, order, random, 2)
            } else {
                Operand::normal(shape, order, random)
            };
            let out = Operand::<U, 1>::output([shape[1]], out_order);
            let memory = x.upload(stream)?;
            let expected = reference::column_sums(&x.values(), shape[1]);
            for _ in 0..2 {
                let mut found = out.upload(stream)?;
                column_sums(x.view(&memory)?, out.view_mut(&mut found)?).launch(stream)?;
                let found = out.download(stream, &found)?;
                if whole {
                    same("out", &found, &values(&expected))?;
                } else {
                    compare::<U>("out", &found, &expected)?;
                }
            }
            Ok(())
        }));
    }
}
