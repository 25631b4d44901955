//! Every instance of every pool, on a shape of whole tiles and on one that cuts them.

use super::products::{Options, one};
use crate::harness::{Case, Order, Scalar, type_name};
use triton::{bf16, f16};
use triton_kernels::linear::{Form, GemmElement, Precision, instances_of};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of_types::<f32, f32>(&mut cases, Precision::Ieee);
    of_types::<f32, f32>(&mut cases, Precision::Tf32);
    of_types::<bf16, bf16>(&mut cases, Precision::Ieee);
    of_types::<f16, f16>(&mut cases, Precision::Ieee);
    of_types::<bf16, f32>(&mut cases, Precision::Ieee);
    of_types::<i8, i32>(&mut cases, Precision::Ieee);
    of_types::<i8, f32>(&mut cases, Precision::Ieee);
    of_types::<f64, f64>(&mut cases, Precision::Ieee);
    cases
}

fn of_types<T: GemmElement<C> + Scalar, C: Scalar>(cases: &mut Vec<Case>, precision: Precision) {
    let orders = [[false; 2], [false, true], [true, false], [true; 2]];
    for transposed in orders {
        for form in [Form::Plain, Form::Fused] {
            for (instance, [m, n, k]) in instances_of::<T, C>(precision, transposed, form) {
                let instance: &'static str = instance.leak();
                // Whole tiles and vectors, and neither.
                let k = k.min(256);
                for shape in [[m, n, 2 * k], [m + 7, n + 5, k + 11]] {
                    let of = |is: bool| if is { Order::Columns } else { Order::Rows };
                    let orders = [of(transposed[0]), of(transposed[1]), Order::Rows];
                    let epilogue = Options::of_instance(instance, precision, form == Form::Plain);
                    let types = format!("{}→{}", type_name::<T>(), type_name::<C>());
                    let title =
                        format!("gemm instance {types} {precision:?} {transposed:?} {instance} {shape:?} {form:?}");
                    let case = Case::new(title, move |stream, random| {
                        one::<T, C>(stream, random, 1, shape, orders, &epilogue, true).map(drop)
                    });
                    cases.push(case.of_instance(instance));
                }
            }
        }
    }
}
