//! Steps of recurrent layers, sequences, and their gradients.

use super::{gradient, normals, operand, order, pairs};
use crate::harness::{Case, Failure, Operand, Outcome, Random, Scalar, Subject, compare, refused, same, subject, type_name};
use crate::reference::number::{Number, values};
use crate::reference::recurrent::{self as reference, Gradients, Layer};
use triton::{Stream, bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::recurrent::{gru, gru_backward, gru_cell, gru_cell_backward};
use triton_kernels::recurrent::{lstm, lstm_backward, lstm_cell, lstm_cell_backward};

pub(super) fn subjects() -> Vec<Subject> {
    vec![
        subject!(
            "lstm_cell", lstm_cell(&gates, &mut c, &mut h).biases(&a, &b).statistics(&mut v, &mut p);
            gates: f32 [3, 20], c: f32 [3, 5], h [3, 5], a [20], b [20], v: f32 [3, 20], p: f32 [3, 5],
        ),
        subject!(
            "lstm_cell_backward", lstm_cell_backward(&v, &c, &dh, &mut dc, &mut dgates).dy(&dy);
            v: f32 [3, 20], c: f32 [3, 5], dh: f32 [3, 5], dc: f32 [3, 5], dgates [3, 20], dy [3, 5],
        ),
        subject!(
            "gru_cell", gru_cell(&gx, &gh, &mut h).biases(&a, &b).statistics(&mut v, &mut p);
            gx: f32 [3, 15], gh: f32 [3, 15], h [3, 5], a [15], b [15], v: f32 [3, 20], p [3, 5],
        ),
        subject!(
            "gru_cell_backward", gru_cell_backward(&v, &h, &mut dh, &mut dx, &mut dgates).dy(&dy);
            v: f32 [3, 20], h [3, 5], dh: f32 [3, 5], dx [3, 15], dgates [3, 15], dy [3, 5],
        ),
        subject!(
            "lstm", lstm(&x, &w, &u, &mut h, &mut c, &mut y).biases(&a, &b).statistics(&mut v, &mut p, &mut q);
            x [2, 3, 7], w [20, 7], u [20, 5], h [3, 5], c: f32 [3, 5], y [2, 3, 5], a [20], b [20],
            v: f32 [2, 3, 20], p [2, 3, 5], q: f32 [2, 3, 5],
        ),
        subject!(
            "lstm_backward",
            lstm_backward(&x, &w, &u, &v, &p, &q, &dy, &mut dh, &mut dc, &mut dx).dw(&mut dw, &mut du).db(&mut db);
            x [2, 3, 7], w [20, 7], u [20, 5], v: f32 [2, 3, 20], p [2, 3, 5], q: f32 [2, 3, 5], dy [2, 3, 5],
            dh: f32 [3, 5], dc: f32 [3, 5], dx [2, 3, 7], dw [20, 7], du [20, 5], db [20],
        ),
        subject!(
            "gru", gru(&x, &w, &u, &mut h, &mut y).biases(&a, &b).statistics(&mut v, &mut p);
            x [2, 3, 7], w [15, 7], u [15, 5], h [3, 5], y [2, 3, 5], a [15], b [15], v: f32 [2, 3, 20], p [2, 3, 5],
        ),
        subject!(
            "gru_backward", gru_backward(&x, &w, &u, &v, &p, &dy, &mut dh, &mut dx).dw(&mut dw, &mut du).db(&mut da, &mut db);
            x [2, 3, 7], w [15, 7], u [15, 5], v: f32 [2, 3, 20], p [2, 3, 5], dy [2, 3, 5], dh: f32 [3, 5],
            dx [2, 3, 7], dw [15, 7], du [15, 5], da: f32 [15], db: f32 [15],
        ),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    for gates in [3, 4] {
        for shape in [[1, 1, 2, 3], [3, 2, 3, 2]] {
            let name = format!("recurrent gradients of the reference, {gates} gates, {shape:?}");
            cases.push(Case::new(name, move |_, random| gradients(random, shape, gates)));
        }
    }
    errors(&mut cases);
    cases
}

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    let mut turn = 0;
    let mut shapes = pairs(&[0, 1, 3], &[0, 1, 7, 255, 256, 257]);
    shapes.push([5, 40]);
    for shape in shapes {
        for op in ["lstm_cell", "gru_cell"] {
            turn += 1;
            let name = format!("{op} {} {shape:?} {turn}", type_name::<T>());
            cases.push(Case::new(name, move |stream, random| match op {
                "lstm_cell" => of_lstm_cell::<T>(stream, random, shape, turn),
                _ => of_gru_cell::<T>(stream, random, shape, turn),
            }));
        }
    }
    // Steps, rows, inputs, units.
    let shapes = [
        [0, 2, 3, 4],
        [1, 1, 1, 1],
        [4, 1, 5, 7],
        [3, 2, 5, 4],
        [2, 3, 0, 5],
        [2, 0, 3, 4],
        [2, 3, 4, 0],
        [5, 4, 17, 33],
        [2, 1, 64, 64],
        [3, 33, 9, 16],
    ];
    for shape in shapes {
        for gates in [3, 4] {
            for _ in 0..2 {
                turn += 1;
                let op = if gates == 4 { "lstm" } else { "gru" };
                let name = format!("{op} {} {shape:?} {:?} {turn}", type_name::<T>(), order(turn));
                cases.push(Case::new(name, move |stream, random| sequence::<T>(stream, random, shape, gates, turn)));
                let name = format!("{op}_backward {} {shape:?} {:?} {turn}", type_name::<T>(), order(turn));
                cases.push(Case::new(name, move |stream, random| back::<T>(stream, random, shape, gates, turn)));
            }
        }
    }
}

/// Gate k of unit j in row n.
fn at([n, j]: [usize; 2], units: usize, gates: usize, k: usize) -> usize {
    (n * gates + k) * units + j
}

/// The rows and units of a shape, one after another.
fn places([rows, units]: [usize; 2]) -> impl Iterator<Item = [usize; 2]> {
    (0..rows).flat_map(move |n| (0..units).map(move |j| [n, j]))
}

/// Values of each unit, by rows and gates.
fn by_gates<const K: usize>(of: &[[Number; K]], [rows, units]: [usize; 2]) -> Vec<Number> {
    let order = (0..rows).flat_map(|n| (0..K).flat_map(move |k| (0..units).map(move |j| (n * units + j, k))));
    order.map(|(place, k)| of[place][k]).collect()
}

fn of_lstm_cell<T: FloatElement + Scalar>(stream: &Stream, random: &mut Random, shape: [usize; 2], turn: usize) -> Outcome {
    let [rows, units] = shape;
    let (wide, biased, kept) = ([rows, 4 * units], !turn.is_multiple_of(3), turn % 2 == 1);
    let gates = Operand::<f32, 2>::new(wide, order(turn), || 2.0 * crate::harness::normal(random));
    let c = Operand::<f32, 2>::normal(shape, order(turn + 1), random);
    let [a, b] = [2, 3].map(|i| Operand::<T, 1>::normal([4 * units], order(turn + i), random));
    let h = Operand::<T, 2>::output(shape, order(turn / 2));
    let (v, p) = (Operand::<f32, 2>::output(wide, order(turn / 3)), Operand::<f32, 2>::output(shape, order(turn / 4)));
    let (mg, mut mc, ma, mb) = (gates.upload(stream)?, c.upload(stream)?, a.upload(stream)?, b.upload(stream)?);
    let (mut mh, mut mv, mut mp) = (h.upload(stream)?, v.upload(stream)?, p.upload(stream)?);
    let launch = lstm_cell(gates.view(&mg)?, c.view_mut(&mut mc)?, h.view_mut(&mut mh)?);
    let launch = if biased { launch.biases(a.view(&ma)?, b.view(&mb)?) } else { launch };
    let launch = if kept { launch.statistics(v.view_mut(&mut mv)?, p.view_mut(&mut mp)?) } else { launch };
    launch.launch(stream)?;
    let (sums, cs, bias_a, bias_b) = (gates.values(), c.values(), a.values(), b.values());
    let sum = |place, k: usize| {
        let [_, j] = place;
        let bias = Number::from(bias_a[k * units + j]) + bias_b[k * units + j];
        let sum = Number::from(sums[at(place, units, 4, k)]);
        if biased { sum + bias } else { sum }
    };
    let cell = |place: [usize; 2]| {
        let c = cs[place[0] * units + place[1]];
        reference::lstm_cell([0, 1, 2, 3].map(|k| sum(place, k)), c.into())
    };
    let cells: Vec<_> = places(shape).map(cell).collect();
    compare::<T>("h", &h.download(stream, &mh)?, &cells.iter().map(|of| of.2).collect::<Vec<_>>())?;
    compare::<f32>("c", &c.download(stream, &mc)?, &cells.iter().map(|of| of.1).collect::<Vec<_>>())?;
    if kept {
        let activated: Vec<_> = cells.iter().map(|of| of.0).collect();
        compare::<f32>("activated", &v.download(stream, &mv)?, &by_gates(&activated, shape))?;
        same("c_before", &p.download(stream, &mp)?, &cs)?;
    }

    let v = Operand::<f32, 2>::new(wide, order(turn), || random.f64());
    let [dh, dc] = [1, 2].map(|i| Operand::<f32, 2>::normal(shape, order(turn + i), random));
    let (dy, dgates) = (Operand::<T, 2>::normal(shape, order(turn + 3), random), Operand::<T, 2>::output(wide, order(turn / 2)));
    let (mv, mc, mdh, mut mdc) = (v.upload(stream)?, c.upload(stream)?, dh.upload(stream)?, dc.upload(stream)?);
    let (mdy, mut mdg) = (dy.upload(stream)?, dgates.upload(stream)?);
    let (of_v, of_dc, of_dgates) = (v.view(&mv)?, dc.view_mut(&mut mdc)?, dgates.view_mut(&mut mdg)?);
    let launch = lstm_cell_backward(of_v, c.view(&mc)?, dh.view(&mdh)?, of_dc, of_dgates);
    let launch = if kept { launch.dy(dy.view(&mdy)?) } else { launch };
    launch.launch(stream)?;
    let (vs, dhs, dcs, dys) = (v.values(), dh.values(), dc.values(), dy.values());
    let back = |(i, place): (usize, [usize; 2])| {
        let d = Number::from(dhs[i]);
        let d = if kept { d + dys[i] } else { d };
        reference::lstm_cell_backward([0, 1, 2, 3].map(|k| vs[at(place, units, 4, k)]), cs[i], d, dcs[i].into())
    };
    let (of_gates, of_c): (Vec<_>, Vec<_>) = places(shape).enumerate().map(back).unzip();
    compare::<T>("dgates", &dgates.download(stream, &mdg)?, &by_gates(&of_gates, shape))?;
    compare::<f32>("dc", &dc.download(stream, &mdc)?, &of_c)
}

fn of_gru_cell<T: FloatElement + Scalar>(stream: &Stream, random: &mut Random, shape: [usize; 2], turn: usize) -> Outcome {
    let [rows, units] = shape;
    let (wide, biased, kept) = ([rows, 3 * units], !turn.is_multiple_of(3), turn % 4 < 2);
    let [gx, gh] = [0, 1].map(|i| Operand::<f32, 2>::normal(wide, order(turn + i), random));
    let h = Operand::<T, 2>::normal(shape, order(turn + 2), random);
    let [a, b] = [2, 3].map(|i| Operand::<T, 1>::normal([3 * units], order(turn + i), random));
    let v = Operand::<f32, 2>::output([rows, 4 * units], order(turn / 3));
    let p = Operand::<T, 2>::output(shape, order(turn / 4));
    let (mx, mg, mut mh) = (gx.upload(stream)?, gh.upload(stream)?, h.upload(stream)?);
    let (ma, mb, mut mv, mut mp) = (a.upload(stream)?, b.upload(stream)?, v.upload(stream)?, p.upload(stream)?);
    let launch = gru_cell(gx.view(&mx)?, gh.view(&mg)?, h.view_mut(&mut mh)?);
    let launch = if biased { launch.biases(a.view(&ma)?, b.view(&mb)?) } else { launch };
    let launch = if kept { launch.statistics(v.view_mut(&mut mv)?, p.view_mut(&mut mp)?) } else { launch };
    launch.launch(stream)?;
    let (of_x, of_h, hs, bias_a, bias_b) = (gx.values(), gh.values(), h.values(), a.values(), b.values());
    let sum = |sums: &[f64], bias: &[f64], place: [usize; 2], k: usize| {
        let sum = Number::from(sums[at(place, units, 3, k)]);
        if biased { sum + bias[k * units + place[1]] } else { sum }
    };
    let cell = |(i, place): (usize, [usize; 2])| {
        let [x, h] = [(&of_x, &bias_a), (&of_h, &bias_b)].map(|(of, bias)| [0, 1, 2].map(|k| sum(of, bias, place, k)));
        reference::gru_cell(x, h, hs[i].into())
    };
    let (activated, expected): (Vec<_>, Vec<_>) = places(shape).enumerate().map(cell).unzip();
    compare::<T>("h", &h.download(stream, &mh)?, &expected)?;
    if kept {
        compare::<f32>("activated", &v.download(stream, &mv)?, &by_gates(&activated, shape))?;
        same("h_before", &p.download(stream, &mp)?, &hs)?;
    }

    let v = Operand::<f32, 2>::new([rows, 4 * units], order(turn), || random.f64());
    let dh = Operand::<f32, 2>::normal(shape, order(turn + 1), random);
    let dy = Operand::<T, 2>::normal(shape, order(turn + 3), random);
    let [dx, dg] = [0, 1].map(|i| Operand::<T, 2>::output(wide, order(turn / 2 + i)));
    let (mv, mh, mut mdh, mdy) = (v.upload(stream)?, h.upload(stream)?, dh.upload(stream)?, dy.upload(stream)?);
    let (mut mdx, mut mdg) = (dx.upload(stream)?, dg.upload(stream)?);
    let (of_v, of_dh, of_dx) = (v.view(&mv)?, dh.view_mut(&mut mdh)?, dx.view_mut(&mut mdx)?);
    let launch = gru_cell_backward(of_v, h.view(&mh)?, of_dh, of_dx, dg.view_mut(&mut mdg)?);
    let launch = if kept { launch.dy(dy.view(&mdy)?) } else { launch };
    launch.launch(stream)?;
    let (vs, dhs, dys) = (v.values(), dh.values(), dy.values());
    let back = |(i, place): (usize, [usize; 2])| {
        let d = Number::from(dhs[i]);
        let d = if kept { d + dys[i] } else { d };
        reference::gru_cell_backward([0, 1, 2, 3].map(|k| vs[at(place, units, 4, k)]), hs[i], d)
    };
    let all: Vec<_> = places(shape).enumerate().map(back).collect();
    let [of_x, of_h] = [0, 1].map(|part| all.iter().map(|of| if part == 0 { of.0 } else { of.1 }).collect::<Vec<_>>());
    compare::<T>("dgates_x", &dx.download(stream, &mdx)?, &by_gates(&of_x, shape))?;
    compare::<T>("dgates_h", &dg.download(stream, &mdg)?, &by_gates(&of_h, shape))?;
    compare::<f32>("dh", &dh.download(stream, &mdh)?, &all.iter().map(|of| of.2).collect::<Vec<_>>())
}

/// The operands of a layer: weights of x and of h, and biases, which may be absent.
struct Weights<T> {
    w: [Operand<T, 2>; 2],
    b: Option<[Operand<T, 1>; 2]>,
}

impl<T: Scalar> Weights<T> {
    fn new(random: &mut Random, [_, _, inputs, units]: [usize; 4], gates: usize, turn: usize) -> Weights<T> {
        let count = gates * units;
        let w = [inputs, units].map(|width| {
            let scale = 1.0 / (width.max(1) as f64).sqrt();
            Operand::new([count, width], order(turn + width), || scale * crate::harness::normal(random))
        });
        let b = [0, 1].map(|i| Operand::normal([count], order(turn + i), random));
        Weights { w, b: (!turn.is_multiple_of(3)).then_some(b) }
    }

    /// The numbers, for the reference.
    fn values(&self) -> [Vec<f64>; 4] {
        let bias = |i: usize| self.b.as_ref().map_or(Vec::new(), |b| b[i].values());
        [self.w[0].values(), self.w[1].values(), bias(0), bias(1)]
    }
}

fn layer<T: Scalar>(shape: [usize; 4], gates: usize, of: &[Vec<f64>; 4]) -> Layer<'_> {
    let [w, u, a, b] = of;
    Layer { shape, gates, weights: [w, u], biases: [a, b], rounding: T::rounding() }
}

fn sequence<T: FloatElement + Scalar>(
    stream: &Stream,
    random: &mut Random,
    shape: [usize; 4],
    gates: usize,
    turn: usize,
) -> Outcome {
    let [steps, rows, inputs, units] = shape;
    let (weights, kept) = (Weights::<T>::new(random, shape, gates, turn), turn % 4 < 2);
    let x = Operand::<T, 3>::normal([steps, rows, inputs], order(turn), random);
    let h = Operand::<T, 2>::normal([rows, units], order(turn + 1), random);
    let c = Operand::<f32, 2>::normal([rows, units], order(turn + 2), random);
    let y = Operand::<T, 3>::output([steps, rows, units], order(turn / 2));
    let v = Operand::<f32, 3>::output([steps, rows, 4 * units], order(turn / 3));
    let p = Operand::<T, 3>::output([steps, rows, units], order(turn / 4));
    let q = Operand::<f32, 3>::output([steps, rows, units], order(turn));
    let [mw, mu] = [0, 1].map(|i| weights.w[i].upload(stream));
    let (mx, mw, mu, mut mh, mut mc) = (x.upload(stream)?, mw?, mu?, h.upload(stream)?, c.upload(stream)?);
    let (mut my, mut mv) = (y.upload(stream)?, v.upload(stream)?);
    let (mut mp, mut mq) = (p.upload(stream)?, q.upload(stream)?);
    let biases = match &weights.b {
        Some([a, b]) => Some((a, b, a.upload(stream)?, b.upload(stream)?)),
        None => None,
    };
    let of_x = x.view(&mx)?;
    let (w, u, of_h) = (weights.w[0].view(&mw)?, weights.w[1].view(&mu)?, h.view_mut(&mut mh)?);
    if gates == 4 {
        let launch = lstm(of_x, w, u, of_h, c.view_mut(&mut mc)?, y.view_mut(&mut my)?);
        let launch = match &biases {
            Some((a, b, ma, mb)) => launch.biases(a.view(ma)?, b.view(mb)?),
            None => launch,
        };
        let (v, p, q) = (v.view_mut(&mut mv)?, p.view_mut(&mut mp)?, q.view_mut(&mut mq)?);
        if kept { launch.statistics(v, p, q) } else { launch }.launch(stream)?;
    } else {
        let launch = gru(of_x, w, u, of_h, y.view_mut(&mut my)?);
        let launch = match &biases {
            Some((a, b, ma, mb)) => launch.biases(a.view(ma)?, b.view(mb)?),
            None => launch,
        };
        let (v, p) = (v.view_mut(&mut mv)?, p.view_mut(&mut mp)?);
        if kept { launch.statistics(v, p) } else { launch }.launch(stream)?;
    }
    let of_weights = weights.values();
    let expected = layer::<T>(shape, gates, &of_weights).run(&x.values(), &h.values(), &c.values());
    compare::<T>("y", &y.download(stream, &my)?, &expected.y)?;
    compare::<T>("h", &h.download(stream, &mh)?, &expected.h)?;
    if gates == 4 {
        compare::<f32>("c", &c.download(stream, &mc)?, &expected.c)?;
    }
    if kept && rows * units > 0 {
        compare::<f32>("activated", &v.download(stream, &mv)?, &expected.activated)?;
        compare::<T>("h_before", &p.download(stream, &mp)?, &expected.h_before)?;
        if gates == 4 {
            compare::<f32>("c_before", &q.download(stream, &mq)?, &expected.c_before)?;
        }
    }
    Ok(())
}

fn back<T: FloatElement + Scalar>(
    stream: &Stream,
    random: &mut Random,
    shape: [usize; 4],
    gates: usize,
    turn: usize,
) -> Outcome {
    let [steps, rows, inputs, units] = shape;
    let (weights, asks, count) = (Weights::<T>::new(random, shape, gates, turn), turn % 4 < 3, gates * units);
    let x = Operand::<T, 3>::normal([steps, rows, inputs], order(turn), random);
    let of_weights = weights.values();
    let of = layer::<T>(shape, gates, &of_weights);
    let run = of.run(&x.values(), &normals(random, rows * units), &normals(random, rows * units));
    let narrow = [steps, rows, units];
    let v = operand::<f32, 3>([steps, rows, 4 * units], order(turn / 2), &values(&run.activated));
    let p = operand::<T, 3>(narrow, order(turn / 3), &values(&run.h_before));
    let q = operand::<f32, 3>(narrow, order(turn + 1), &values(&run.c_before));
    let dy = Operand::<T, 3>::normal(narrow, order(turn + 2), random);
    let [dh, dc] = [0, 1].map(|i| Operand::<f32, 2>::normal([rows, units], order(turn + i), random));
    let dx = Operand::<T, 3>::output([steps, rows, inputs], order(turn + 3));
    let dw = [inputs, units].map(|width| Operand::<T, 2>::output([count, width], order(turn / 2)));
    let db = [0, 1].map(|i| Operand::<f32, 1>::output([count], order(turn + i)));
    let [mw, mu] = [0, 1].map(|i| weights.w[i].upload(stream));
    let (mx, mw, mu, mv, mp, mq) =
        (x.upload(stream)?, mw?, mu?, v.upload(stream)?, p.upload(stream)?, q.upload(stream)?);
    let (w, u) = (weights.w[0].view(&mw)?, weights.w[1].view(&mu)?);
    let (of_x, of_v, of_p, mdy) = (x.view(&mx)?, v.view(&mv)?, p.view(&mp)?, dy.upload(stream)?);
    let mut first = None;
    for _ in 0..2 {
        let (mut mdh, mut mdc, mut mdx) = (dh.upload(stream)?, dc.upload(stream)?, dx.upload(stream)?);
        let ([mw, mu], [ma, mb]) = ([0, 1].map(|i| dw[i].upload(stream)), [0, 1].map(|i| db[i].upload(stream)));
        let (mut mw, mut mu, mut ma, mut mb) = (mw?, mu?, ma?, mb?);
        let (of_dy, of_dh, of_dx) = (dy.view(&mdy)?, dh.view_mut(&mut mdh)?, dx.view_mut(&mut mdx)?);
        let (dw_ih, dw_hh) = (dw[0].view_mut(&mut mw)?, dw[1].view_mut(&mut mu)?);
        let (db_ih, db_hh) = (db[0].view_mut(&mut ma)?, db[1].view_mut(&mut mb)?);
        if gates == 4 {
            let launch = lstm_backward(of_x, w, u, of_v, of_p, q.view(&mq)?, of_dy, of_dh, dc.view_mut(&mut mdc)?, of_dx);
            if asks { launch.dw(dw_ih, dw_hh).db(db_ih) } else { launch }.launch(stream)?;
        } else {
            let launch = gru_backward(of_x, w, u, of_v, of_p, of_dy, of_dh, of_dx);
            if asks { launch.dw(dw_ih, dw_hh).db(db_ih, db_hh) } else { launch }.launch(stream)?;
        }
        let stored = [v.values(), p.values(), q.values()];
        let stored = [&stored[0][..], &stored[1], &stored[2]];
        let Gradients { dx: of_x, dh: of_h, dc: of_c, dw: of_w, db: of_b } =
            of.backward(&x.values(), stored, &dy.values(), &dh.values(), &dc.values());
        let found = dx.download(stream, &mdx)?;
        compare::<T>("dx", &found, &of_x)?;
        compare::<f32>("dh", &dh.download(stream, &mdh)?, &of_h)?;
        let mut bits = found;
        if gates == 4 {
            compare::<f32>("dc", &dc.download(stream, &mdc)?, &of_c)?;
        }
        if asks {
            for (i, memory) in [&mw, &mu].into_iter().enumerate() {
                let found = dw[i].download(stream, memory)?;
                compare::<T>(["dw_ih", "dw_hh"][i], &found, &of_w[i])?;
                bits.extend(found);
            }
            compare::<f32>("db_ih", &db[0].download(stream, &ma)?, &of_b[0])?;
            if gates == 3 {
                compare::<f32>("db_hh", &db[1].download(stream, &mb)?, &of_b[1])?;
            }
        }
        if first.get_or_insert_with(|| bits.clone()) != &bits {
            return Err(Failure("a second run gives other bits".to_string()));
        }
    }
    Ok(())
}

/// Through time, for each operand, of y and the last state.
fn gradients(random: &mut Random, shape: [usize; 4], gates: usize) -> Outcome {
    let [steps, rows, inputs, units] = shape;
    let counts = [steps * rows * inputs, gates * units * inputs, gates * units * units, gates * units, gates * units];
    let mut all: Vec<Vec<f64>> = counts.iter().map(|count| normals(random, *count)).collect();
    all.extend([rows * units; 2].map(|count| normals(random, count)));
    let of = |all: &[Vec<f64>]| {
        let layer = Layer { shape, gates, weights: [&all[1], &all[2]], biases: [&all[3], &all[4]], rounding: 0.0 };
        layer.run(&all[0], &all[5], &all[6])
    };
    let names = ["for x", "for w_ih", "for w_hh", "for b_ih", "for b_hh", "for h", "for c"];
    for (which, name) in names.into_iter().enumerate().take(if gates == 4 { 7 } else { 6 }) {
        let with = |values: &[f64]| {
            let mut all = all.clone();
            all[which] = values.to_vec();
            all
        };
        let result = |values: &[f64]| {
            let run = of(&with(values));
            let of_c = if gates == 4 { run.c } else { Vec::new() };
            [run.y, run.h, of_c].concat()
        };
        let back = |at: &[f64], d: &[f64]| {
            let all = with(at);
            let run = of(&all);
            let stored = [values(&run.activated), values(&run.h_before), values(&run.c_before)];
            let (of_y, of_state) = d.split_at(steps * rows * units);
            let (of_h, of_c) = of_state.split_at(rows * units);
            let of_c = if gates == 4 { of_c.to_vec() } else { vec![0.0; rows * units] };
            let layer = Layer { shape, gates, weights: [&all[1], &all[2]], biases: [&all[3], &all[4]], rounding: 0.0 };
            let stored = [&stored[0][..], &stored[1], &stored[2]];
            let Gradients { dx, dh, dc, dw: [w, u], db: [a, b] } = layer.backward(&all[0], stored, of_y, of_h, &of_c);
            [dx, w, u, a, b, dh, dc].into_iter().nth(which).unwrap_or_default()
        };
        gradient(name, random, &all[which], result, back)?;
    }
    Ok(())
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("recurrent refuses gates of no units", |stream, _| {
        let (mut a, mut b) = (stream.zeros::<f32>(60)?, stream.zeros::<f32>(60)?);
        let (x, mut d) = (stream.zeros::<f32>(60)?, stream.zeros::<f32>(60)?);
        let launch = lstm_cell(x.view([3, 6])?, a.view_mut([3, 1])?, b.view_mut([3, 1])?);
        refused(launch.launch(stream), &["`lstm_cell`: `the number of gates` is 6", "a multiple of 4"])?;
        let launch = gru_cell(x.view([3, 7])?, x.view([3, 7])?, b.view_mut([3, 2])?);
        refused(launch.launch(stream), &["`gru_cell`: `the number of gates` is 7", "a multiple of 3"])?;
        let of_b = b.view_mut([3, 3])?;
        let launch = gru_cell_backward(x.view([3, 5])?, x.view([3, 1])?, a.view_mut([3, 1])?, d.view_mut([3, 3])?, of_b);
        refused(launch.launch(stream), &["`gru_cell_backward`: `the number of values` is 5", "a multiple of 4"])?;
        let (w, u) = (x.view([6, 2])?, x.view([6, 1])?);
        let of_c = b.view_mut([3, 1])?;
        let launch = lstm(x.view([2, 3, 2])?, w, u, a.view_mut([3, 1])?, of_c, d.view_mut([2, 3, 1])?);
        refused(launch.launch(stream), &["`lstm`: `the number of gates` is 6"])
    }));
    // What is longer than one product, in two parts.
    cases.push(Case::new("lstm goes on where it was", |stream, random| {
        let shape = [6, 2, 5, 8];
        let weights = Weights::<f32>::new(random, shape, 4, 0);
        let [w, u] = [0, 1].map(|i| weights.w[i].upload(stream));
        let (w, u) = (w?, u?);
        let (w, u) = (weights.w[0].view(&w)?, weights.w[1].view(&u)?);
        let x = stream.tensor(&normals(random, 60).iter().map(|x| *x as f32).collect::<Vec<f32>>(), [6, 2, 5])?;
        let (mut h, mut c) = (stream.tensor_zeros::<f32, _>([2, 8])?, stream.tensor_zeros::<f32, _>([2, 8])?);
        let mut y = stream.tensor_uninit::<f32, _>([6, 2, 8])?;
        for part in [0..2, 2..6] {
            let (of_x, of_y) = (x.narrow(0, part.clone())?, y.as_view_mut().narrow(0, part)?);
            lstm(of_x, w, u, &mut h, &mut c, of_y).launch(stream)?;
        }
        let of_weights = weights.values();
        let xs: Vec<f64> = stream.download(&x)?.into_iter().map(f64::from).collect();
        let expected = layer::<f32>(shape, 4, &of_weights).run(&xs, &[0.0; 16], &[0.0; 16]);
        let found: Vec<f64> = stream.download(&y)?.into_iter().map(f64::from).collect();
        compare::<f32>("y", &found, &expected.y)
    }));
}
