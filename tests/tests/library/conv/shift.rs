//! Shift-convolutions of whole numbers, which are exact.

use super::ORDERS;
use crate::harness::{Case, Operand, Scalar, refused, same, type_name};
use crate::reference::conv as reference;
use crate::reference::number::values;
use triton::prelude::*;
use triton_kernels::FloatElement;
use triton_kernels::conv::{Shifts, shift_conv};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of_type::<f32>(&mut cases);
    of_type::<f16>(&mut cases);
    of_type::<bf16>(&mut cases);
    cases.push(Case::new("Shifts::grouped of no window", |stream, _| {
        refused(Shifts::grouped(stream, 4, 0), &["Shifts::grouped", "`window` is 0"])
    }));
    cases
}

fn of_type<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    for (i, channels) in [1, 3, 9, 16, 64, 144, 576].into_iter().enumerate() {
        for (j, filters) in [1, 17, 64].into_iter().enumerate() {
            for grouped in [false, true] {
                let shape = [1 + j % 2, 4 + i % 3, 5, channels];
                let orders = [ORDERS[(i + j) % 4], ORDERS[i % 4]];
                let what = format!("{} {shape:?} to {filters} {orders:?} grouped {grouped}", type_name::<T>());
                cases.push(Case::new(format!("shift_conv {what}"), move |stream, random| {
                    let shifts = if grouped {
                        Shifts::grouped(stream, channels, 3)?
                    } else {
                        let any: Vec<(i32, i32)> =
                            (0..channels).map(|_| (random.i32(-6..7), random.i32(-2..3))).collect();
                        Shifts::new(stream, &any)?
                    };
                    let x = Operand::<T, 4>::whole(shape, orders[0], random, 1);
                    let w = Operand::<T, 2>::whole([filters, channels], orders[1], random, 1);
                    let y = Operand::<T, 4>::output([shape[0], shape[1], shape[2], filters], orders[1]);
                    let (of_x, of_w, mut of_y) = (x.upload(stream)?, w.upload(stream)?, y.upload(stream)?);
                    shift_conv(x.view(&of_x)?, w.view(&of_w)?, &shifts, y.view_mut(&mut of_y)?).launch(stream)?;
                    let expected = reference::shift_conv(&x.values(), shape, &w.values(), shifts.shifts());
                    same("y", &y.download(stream, &of_y)?, &values(&expected))
                }));
            }
        }
    }
}
