//! Optimisers and the bound of a norm.

use super::{order, pairs};
use crate::harness::{Case, Failure, Operand, Order, Scalar, compare, refused, type_name};
use crate::reference::number::Number;
use crate::reference::optim as reference;
use triton::{bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::optim::{AdamWOptions, SgdOptions, adamw, clip_by_norm, sgd};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    errors(&mut cases);
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let mut shapes = pairs(&[0, 1, 2, 9], &[0, 1, 3, 127, 129]);
    shapes.extend([[1, 1025], [3, 1031], [8, 128]]);
    for (turn, shape) in shapes.into_iter().enumerate() {
        for i in 0..3 {
            step::<T>(cases, shape, i, turn);
        }
    }
    for (turn, count) in [0, 1, 2, 5].into_iter().enumerate() {
        for most in [0.0, 1.0, 1e6] {
            clip::<T>(cases, count, most, turn);
        }
    }
}

fn step<T: FloatElement + Scalar>(cases: &mut Vec<Case>, shape: [usize; 2], i: usize, turn: usize) {
    let name = format!("sgd and adamw {} {shape:?} {i} {turn}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        // Every second case has one order of all operands, which may be one row.
        let orders = [0, 1, 2, 3].map(|operand| order(turn / 2 + if turn.is_multiple_of(2) { operand } else { 0 }));
        let w = Operand::<T, 2>::new(shape, orders[0], || 3.0 + random.f64());
        let g = Operand::<T, 2>::normal(shape, orders[1], random);
        let m = Operand::<f32, 2>::new(shape, orders[2], || 3.0 + random.f64());
        let v = Operand::<f32, 2>::new(shape, orders[3], || 0.1 + random.f64());
        let (ws, gs, ms, vs) = (w.values(), g.values(), m.values(), v.values());
        let master = Operand::<f32, 2>::new(shape, orders[3], || 3.0 + random.f64());
        let (of_g, from) = (g.upload(stream)?, if i == 2 { master.values() } else { ws });

        let options = SgdOptions {
            rate: 0.25,
            momentum: if i == 0 { 0.0 } else { 0.9 },
            dampening: if i == 1 { 0.5 } else { 0.0 },
            decay: 0.125,
            nesterov: i == 2,
        };
        let expected: Vec<[Number; 2]> =
            (0..from.len()).map(|k| reference::sgd(from[k], gs[k] * 0.5, ms[k], options)).collect();
        let (mut mw, mut mm, mut of_master) = (w.upload(stream)?, m.upload(stream)?, master.upload(stream)?);
        let launch = sgd(w.view_mut(&mut mw)?, g.view(&of_g)?, options).unscale(0.5);
        let launch = if i == 0 { launch } else { launch.velocity(m.view_mut(&mut mm)?) };
        let launch = if i == 2 { launch.master(master.view_mut(&mut of_master)?) } else { launch };
        launch.launch(stream)?;
        let of = |k: usize| expected.iter().map(|of| of[k]).collect::<Vec<Number>>();
        compare::<T>("weight after sgd", &w.download(stream, &mw)?, &of(0))?;
        compare::<f32>("velocity", &m.download(stream, &mm)?, &of(1))?;
        if i == 2 {
            compare::<f32>("master after sgd", &master.download(stream, &of_master)?, &of(0))?;
        }

        let options = AdamWOptions { rate: 0.125, epsilon: 1e-3, step: [1, 10, 1000][i], ..AdamWOptions::default() };
        let expected: Vec<[Number; 3]> =
            (0..from.len()).map(|k| reference::adamw(from[k], gs[k] * 2.0, ms[k], vs[k], options)).collect();
        let (mut mw, mut mm, mut mv) = (w.upload(stream)?, m.upload(stream)?, v.upload(stream)?);
        let mut of_master = master.upload(stream)?;
        let (mean, square) = (m.view_mut(&mut mm)?, v.view_mut(&mut mv)?);
        let launch = adamw(w.view_mut(&mut mw)?, g.view(&of_g)?, mean, square, options).unscale(2.0);
        let launch = if i == 2 { launch.master(master.view_mut(&mut of_master)?) } else { launch };
        launch.launch(stream)?;
        let of = |k: usize| expected.iter().map(|of| of[k]).collect::<Vec<Number>>();
        compare::<T>("weight after adamw", &w.download(stream, &mw)?, &of(0))?;
        compare::<f32>("mean", &m.download(stream, &mm)?, &of(1))?;
        compare::<f32>("square", &v.download(stream, &mv)?, &of(2))?;
        if i == 2 {
            compare::<f32>("master after adamw", &master.download(stream, &of_master)?, &of(0))?;
        }
        Ok(())
    }));
}

fn clip<T: FloatElement + Scalar>(cases: &mut Vec<Case>, count: usize, most: f32, turn: usize) {
    let name = format!("clip_by_norm {} {count} views to {most}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let shapes = [[3, 5], [1, 4097], [70, 33], [0, 4], [2, 2050]];
        let views: Vec<Operand<T, 2>> =
            (0..count).map(|i| Operand::normal(shapes[(i + turn) % 5], order(i + turn), random)).collect();
        let of_norm = Operand::<f32, 1>::output([1], Order::Odd);
        let norm = views.iter().flat_map(Operand::values).map(|x| Number::from(x).square()).sum::<Number>().sqrt();
        let factor = if norm.value > f64::from(most) { f64::from(most) / norm } else { 1.0.into() };
        let mut first = None;
        for _ in 0..2 {
            let mut memory = views.iter().map(|view| view.upload(stream)).collect::<triton::Result<Vec<_>>>()?;
            let mut found = of_norm.upload(stream)?;
            let operands = views.iter().zip(&mut memory).map(|(view, memory)| view.view_mut(memory));
            let operands = operands.collect::<triton::Result<Vec<_>>>()?;
            clip_by_norm(most, of_norm.view_mut(&mut found)?).gradients(operands).launch(stream)?;
            let found = of_norm.download(stream, &found)?;
            compare::<f32>("norm", &found, &[norm])?;
            let mut bits = found;
            for (view, memory) in views.iter().zip(&memory) {
                let expected: Vec<Number> = view.values().iter().map(|x| factor * *x).collect();
                let found = view.download(stream, memory)?;
                compare::<T>("a gradient", &found, &expected)?;
                bits.extend(found);
            }
            if first.get_or_insert_with(|| bits.clone()) != &bits {
                return Err(Failure("a second run gives other bits".to_string()));
            }
        }
        Ok(())
    }));
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("sgd refuses a momentum alone", |stream, _| {
        let (mut w, g) = (stream.zeros::<f32>(12)?, stream.zeros::<f32>(12)?);
        let options = SgdOptions { momentum: 0.9, ..SgdOptions::default() };
        refused(sgd(w.view_mut([3, 4])?, g.view([3, 4])?, options).launch(stream), &["`momentum` is 0.9", "`velocity`"])
    }));
    cases.push(Case::new("adamw refuses other numbers", |stream, _| {
        let (mut w, g) = (stream.zeros::<f32>(12)?, stream.zeros::<f32>(12)?);
        let (mut m, mut v) = (stream.zeros::<f32>(12)?, stream.zeros::<f32>(12)?);
        let good = AdamWOptions::default();
        let wrong = [
            (AdamWOptions { step: 0, ..good }, "`step` is 0"),
            (AdamWOptions { beta1: 1.0, ..good }, "`beta1` is 1"),
            (AdamWOptions { beta2: -0.5, ..good }, "`beta2` is -0.5"),
        ];
        for (options, text) in wrong {
            let (mean, square) = (m.view_mut([3, 4])?, v.view_mut([3, 4])?);
            refused(adamw(w.view_mut([3, 4])?, g.view([3, 4])?, mean, square, options).launch(stream), &[text])?;
        }
        Ok(())
    }));
    cases.push(Case::new("clip_by_norm refuses a negative bound", |stream, _| {
        let (mut x, mut norm) = (stream.zeros::<f32>(12)?, stream.zeros::<f32>(1)?);
        let launch = clip_by_norm(-1.0, norm.view_mut([1])?).gradient(x.view_mut([3, 4])?);
        refused(launch.launch(stream), &["`most` is -1"])
    }));
}
