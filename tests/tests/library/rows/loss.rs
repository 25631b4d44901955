//! Cross entropy.

use super::{gradient, normals, order, pairs};
use crate::harness::{Case, Failure, Operand, Scalar, compare, refused, same, type_name};
use crate::reference::loss as reference;
use triton::{bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::loss::cross_entropy;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    for (i, n) in [2, 3, 10, 33, 64].into_iter().enumerate() {
        cases.push(Case::new(format!("cross_entropy gradient of the reference {n}"), move |_, random| {
            let (smoothing, z) = ([0.0, 0.1][i % 2], [0.0, 0.01, 0.1][i % 3]);
            let (x, label) = (normals(random, n), random.usize(..n));
            let loss = |x: &[f64]| vec![reference::cross_entropy(x, label, smoothing, z).0];
            gradient("of logits", random, &x, loss, |x, dy| {
                reference::cross_entropy(x, label, smoothing, z).1.iter().map(|g| *g * dy[0]).collect()
            })
        }));
    }
    errors(&mut cases);
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let mut shapes = pairs(&[0, 1, 3, 7], &[1, 2, 10, 31, 33, 128, 129, 1000]);
    // Several programs of short rows, and rows that none of their tiles has.
    shapes.extend([[65, 1], [129, 10], [64, 16], [9, 17], [23, 100]]);
    shapes.extend([[2, 4095], [2, 4096], [2, 4097], [1, 8193], [2, 9001]]);
    // A part of a row in registers, and rows that begin at each place of a vector.
    shapes.extend([[1, 16399], [9, 16401], [2, 33000], [3, 32785]]);
    for (turn, shape) in shapes.into_iter().enumerate() {
        for i in 0..4 {
            let orders = [order(turn + i), order(turn / 2)];
            let name = format!("cross_entropy {} {shape:?} {orders:?} {i}", type_name::<T>());
            cases.push(Case::new(name, move |stream, random| {
                let [rows, classes] = shape;
                let smoothing = if i % 2 == 0 { 0.0 } else { 0.125 };
                let (z, scale) = (if i == 3 { 0.0625 } else { 0.0 }, if i == 2 { 0.25 } else { 1.0 });
                let ignored = (i > 1).then_some(if i == 2 { -100 } else { 0 });
                let logits = Operand::<T, 2>::new(shape, orders[0], || 2.0 * crate::harness::normal(random));
                let labels = Operand::<i32, 1>::new([rows], orders[1], || {
                    if i == 2 && random.u32(..3) == 0 { -100.0 } else { random.usize(..classes) as f64 }
                });
                let (xs, ids, of_loss) =
                    (logits.values(), labels.values(), Operand::<f32, 1>::output([rows], order(turn)));
                let (mut losses, mut gradients) = (Vec::new(), Vec::new());
                for (row, label) in xs.chunks(classes).zip(&ids) {
                    let skipped = ignored.is_some_and(|ignored| f64::from(ignored) == *label);
                    let (loss, gradient) = if skipped {
                        (0.0.into(), vec![0.0.into(); classes])
                    } else {
                        reference::cross_entropy(row, *label as usize, smoothing, z)
                    };
                    losses.push(loss);
                    gradients.extend(gradient.iter().map(|g| *g * scale));
                }
                let of_labels = labels.upload(stream)?;
                for backward in [false, true, true] {
                    let (mut memory, mut found) = (logits.upload(stream)?, of_loss.upload(stream)?);
                    let launch = cross_entropy(
                        logits.view_mut(&mut memory)?,
                        labels.view(&of_labels)?,
                        of_loss.view_mut(&mut found)?,
                    );
                    let launch = launch.label_smoothing(smoothing as f32).z_loss(z as f32).gradient_scale(scale as f32);
                    let launch = if let Some(label) = ignored { launch.ignore(label) } else { launch };
                    let launch = if backward { launch.gradient_in_place() } else { launch };
                    launch.launch(stream)?;
                    let found = of_loss.download(stream, &found)?;
                    compare::<f32>("loss", &found, &losses)?;
                    let after = logits.download(stream, &memory)?;
                    if !backward {
                        same("logits", &after, &xs)?;
                    } else {
                        compare::<T>("the gradient", &after, &gradients)?;
                    }
                }
                Ok(())
            }));
        }
    }
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("cross_entropy refuses other numbers", |stream, _| {
        let (mut x, labels, mut loss) = (stream.zeros::<f32>(12)?, stream.zeros::<i32>(3)?, stream.zeros::<f32>(3)?);
        for smoothing in [-0.5, 1.5, f32::NAN] {
            let launch = cross_entropy(x.view_mut([3, 4])?, labels.view([3])?, loss.view_mut([3])?);
            refused(launch.label_smoothing(smoothing).launch(stream), &["`label_smoothing` is", "from 0 to 1"])?;
        }
        let launch = cross_entropy(x.view_mut([3, 4])?, labels.view([3])?, loss.view_mut([3])?);
        refused(launch.z_loss(-1.0).launch(stream), &["`z_loss` is -1"])?;
        let launch = cross_entropy(x.view_mut([3, 4])?, labels.view([3])?, loss.view_mut([3])?);
        refused(launch.gradient_scale(f32::INFINITY).launch(stream), &["`gradient_scale` is inf"])
    }));
    for classes in [4, 20, 200] {
        cases.push(Case::new(format!("cross_entropy of labels that are out of range {classes}"), move |stream, _| {
            let mut x = stream.upload(&vec![1.0f32; 3 * classes])?;
            let (labels, mut loss) = (stream.upload(&[-1, classes as i32, 1])?, stream.zeros::<f32>(3)?);
            let launch = cross_entropy(x.view_mut([3, classes])?, labels.view([3])?, loss.view_mut([3])?);
            launch.gradient_in_place().launch(stream)?;
            let (loss, x) = (stream.download(&loss)?, stream.download(&x)?);
            let (wrong, right) = x.split_at(2 * classes);
            let near = |found: f32, expected: f32| (found - expected).abs() < 4e-7 * expected.abs().max(1.0);
            let share = 1.0 / classes as f32;
            let all = loss[0].is_nan() && loss[1].is_nan() && near(loss[2], (classes as f32).ln());
            let all = all && wrong.iter().all(|x| x.is_nan()) && near(right[0], share) && near(right[1], share - 1.0);
            if all { Ok(()) } else { Err(Failure(format!("{loss:?} {x:?}"))) }
        }));
        cases.push(Case::new(format!("cross_entropy of logits of −∞ {classes}"), move |stream, _| {
            let mut logits = vec![0.0f32; classes];
            logits[0] = f32::NEG_INFINITY;
            let (mut x, labels, mut loss) = (stream.upload(&logits)?, stream.upload(&[1])?, stream.zeros::<f32>(1)?);
            let launch = cross_entropy(x.view_mut([1, classes])?, labels.view([1])?, loss.view_mut([1])?);
            launch.gradient_in_place().launch(stream)?;
            let (loss, x) = (stream.download(&loss)?, stream.download(&x)?);
            let others = (classes - 1) as f32;
            let right = (loss[0] - others.ln()).abs() < 4e-7 * others.ln();
            let right = right && x[0] == 0.0 && (x[2] - 1.0 / others).abs() < 4e-7;
            if right { Ok(()) } else { Err(Failure(format!("{loss:?} {x:?}"))) }
        }));
    }
}
