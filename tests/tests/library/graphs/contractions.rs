//! Contractions: by products, by tiles, and with tables of the axes that arguments do not hold.

use super::form::{Form, Sizes, form};
use crate::harness::Scalar;
use triton::prelude::*;
use triton_kernels::FloatElement;
use triton_kernels::contract::contract;
use triton_kernels::contract::{Modes, ModesMut};

pub(super) fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    of::<f32>(&mut forms);
    of::<bf16>(&mut forms);
    forms
}

fn of<T: FloatElement + Scalar>(forms: &mut Vec<Form>) {
    for expression in [
        "ik,kj->ij",
        "bik,bkj->bij",
        "ik,k->i",
        "k,kj->j",
        "icaq,qbjk->abcijk",
        "abc,cb->a",
        "abc,abc->",
        "iikj,kj->i",
        // More axes than arguments hold, of the output and of K.
        "aebfck,khdil->abcdefhil",
        "acegb,bgeca->",
        "xacegb,bgecay->xy",
    ] {
        let (inputs, z) = expression.split_once("->").expect("an arrow");
        let (x, y) = inputs.split_once(',').expect("two operands");
        // Of many axes few elements.
        let extent = |letter: char| if expression.len() > 20 { 2 } else { 2 + letter as usize % 2 };
        let [x, y, z] = [x, y, z].map(|letters| letters.chars().map(extent).collect::<Vec<usize>>());
        let [of_x, of_y, of_z] = [&x, &y, &z].map(|shape| shape.iter().product());
        let sizes = Sizes { x: vec![of_x, of_y], y: vec![of_z], ..Sizes::default() };
        for beta in [0.0, 0.5] {
            let (x, y, z) = (x.clone(), y.clone(), z.clone());
            forms.push(form::<T>(format!("contract {expression} + {beta} z"), sizes.clone(), move |d, s| {
                // Axes the other way round in memory, so that none are one.
                let steps = |shape: &[usize]| -> [isize; 12] {
                    let mut next = 1;
                    std::array::from_fn(|axis| {
                        let step = next;
                        next *= shape.get(axis).copied().unwrap_or(1) as isize;
                        step
                    })
                };
                let (of_x, of_y) = (steps(&x), steps(&y));
                let (x_, y_) =
                    (Modes::new(&d.x[0], &x, Some(&of_x[..x.len()])), Modes::new(&d.x[1], &y, Some(&of_y[..y.len()])));
                contract(expression, x_, y_, ModesMut::new(&mut d.y[0], &z, None)).beta(beta).launch(s)
            }));
        }
    }
}
