//! Operations of elements: arithmetic, bounds, copies, choices, parts of a whole, and closures.

use super::order;
use crate::harness::hostile::Draw;
use crate::harness::{Case, Operand, Order, Outcome, Random, Scalar, refused, same, type_name};
use triton::prelude::*;
use triton_kernels::elementwise::{
    Arithmetic, CopyTo, Elements, Select, Term, add, clamp, concat, copy, div, maximum, minimum, mul, select, sub,
};

/// The extents of two operands, with fewer than five axes where the first ones are 1, and the result.
type Shapes = [[usize; 5]; 3];

const SHAPES: [Shapes; 27] = [
    [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1]],
    [[1, 1, 1, 1, 7], [1, 1, 1, 1, 7], [1, 1, 1, 1, 7]],
    [[1, 1, 1, 1, 2048], [1, 1, 1, 1, 2048], [1, 1, 1, 1, 2048]],
    [[1, 1, 1, 9, 256], [1, 1, 1, 9, 256], [1, 1, 1, 9, 256]],
    [[1, 1, 1, 1, 1500], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1500]],
    [[1, 1, 1, 20, 64], [1, 1, 1, 1, 64], [1, 1, 1, 20, 64]],
    [[1, 1, 1, 20, 64], [1, 1, 1, 20, 1], [1, 1, 1, 20, 64]],
    [[1, 1, 1, 20, 1], [1, 1, 1, 20, 64], [1, 1, 1, 20, 64]],
    [[1, 1, 1, 20, 1], [1, 1, 1, 1, 64], [1, 1, 1, 20, 64]],
    [[1, 1, 1, 300, 5], [1, 1, 1, 1, 5], [1, 1, 1, 300, 5]],
    [[1, 1, 1, 300, 3], [1, 1, 1, 300, 1], [1, 1, 1, 300, 3]],
    [[1, 1, 3, 4, 120], [1, 1, 1, 4, 1], [1, 1, 3, 4, 120]],
    [[1, 1, 3, 9, 50], [1, 1, 3, 1, 50], [1, 1, 3, 9, 50]],
    [[1, 2, 3, 7, 64], [1, 1, 3, 1, 1], [1, 2, 3, 7, 64]],
    [[1, 2, 3, 1, 64], [1, 2, 1, 5, 64], [1, 2, 3, 5, 64]],
    [[2, 1, 4, 1, 64], [1, 3, 1, 5, 1], [2, 3, 4, 5, 64]],
    [[2, 3, 2, 3, 9], [2, 1, 2, 1, 9], [2, 3, 2, 3, 9]],
    [[2, 3, 1, 3, 1], [1, 1, 2, 3, 4], [2, 3, 2, 3, 4]],
    [[3, 1, 5, 1, 2], [1, 4, 1, 3, 2], [3, 4, 5, 3, 2]],
    [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 2, 40, 33]],
    [[1, 1, 1, 0, 4], [1, 1, 1, 1, 4], [1, 1, 1, 0, 4]],
    [[1, 1, 1, 4, 1], [1, 1, 1, 1, 0], [1, 1, 1, 4, 0]],
    [[1, 1, 40, 70, 1], [1, 1, 40, 70, 1], [1, 1, 40, 70, 1]],
    [[1, 5, 1, 40, 56], [1, 5, 3, 1, 56], [1, 5, 3, 40, 56]],
    [[1, 1, 1, 70, 136], [1, 1, 1, 70, 136], [1, 1, 1, 70, 136]],
    [[1, 2, 17, 3, 64], [1, 2, 17, 3, 64], [1, 2, 17, 3, 64]],
    [[2, 16, 3, 2, 72], [2, 16, 1, 2, 72], [2, 16, 3, 2, 72]],
];

/// Of memory; some in turns.
const ORDERS: [Order; 5] = [Order::Rows, Order::Columns, Order::Odd, Order::Apart, Order::Planes];

/// A view without the axes of extent 1 in front.
fn elements<'a, T: Element>(view: View<'a, T, 5>, of: [usize; 5], most: usize) -> Outcome<Elements<'a, T>> {
    let front = of.iter().take_while(|extent| **extent == 1).count().min(4).min(most);
    Ok(match front {
        0 => view.into(),
        1 => view.select(0, 0)?.into(),
        2 => view.select(0, 0)?.select(0, 0)?.into(),
        3 => view.select(0, 0)?.select(0, 0)?.select(0, 0)?.into(),
        _ => view.select(0, 0)?.select(0, 0)?.select(0, 0)?.select(0, 0)?.into(),
    })
}

/// The element of an operand that is repeated to each element of the result.
fn repeated(values: &[f64], from: [usize; 5], to: [usize; 5]) -> Vec<f64> {
    let place = |mut at: usize| {
        let (mut place, mut step) = (0, 1);
        for axis in (0..5).rev() {
            let along = at % to[axis];
            at /= to[axis];
            place += if from[axis] == 1 { 0 } else { along * step };
            step *= from[axis];
        }
        place
    };
    (0..to.iter().product()).map(|at| values[place(at)]).collect()
}

/// Numbers at the edge, and some that are not finite.
fn hostile<T: Scalar>(shape: [usize; 5], order: Order, random: &mut Random) -> Operand<T, 5> {
    let drawn = Draw::ANY.numbers::<T>(random, shape.iter().product());
    let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0];
    let mut next = drawn.into_iter();
    Operand::new(shape, order, || {
        let number = next.next().unwrap_or(0.0);
        if random.u8(..16) == 0 { special[random.usize(..4)] } else { number }
    })
}

/// What two numbers become in `f32`.
fn combined(kind: &str, a: f64, b: f64) -> f64 {
    let value = match kind {
        "add" => a + b,
        "sub" => a - b,
        "mul" => a * b,
        "div" => a / b,
        "maximum" if a.is_nan() || b.is_nan() => f64::NAN,
        "maximum" => a.max(b),
        _ if a.is_nan() || b.is_nan() => f64::NAN,
        _ => a.min(b),
    };
    // `f64` has more than twice the digits: the result is that of one rounding.
    f64::from(value as f32)
}

const KINDS: [&str; 6] = ["add", "sub", "mul", "div", "maximum", "minimum"];

fn two<T: Arithmetic<Number = f32> + Scalar>(cases: &mut Vec<Case>) {
    for (i, shapes) in SHAPES.into_iter().enumerate() {
        for turn in 0..6 {
            let kind = KINDS[(i + turn) % 6];
            let orders = match turn {
                0 => [ORDERS[0]; 3],
                _ => [ORDERS[(i + turn) % 5], ORDERS[(i + 2 * turn) % 5], ORDERS[(i / 2 + turn) % 5]],
            };
            let name = format!("{kind} {} {shapes:?} {orders:?}", type_name::<T>());
            cases.push(Case::new(name, move |stream, random| {
                let (a, b) = (hostile::<T>(shapes[0], orders[0], random), hostile::<T>(shapes[1], orders[1], random));
                let y = Operand::<T, 5>::output(shapes[2], orders[2]);
                let (ma, mb, mut my) = (a.upload(stream)?, b.upload(stream)?, y.upload(stream)?);
                let (va, vb) = (elements(a.view(&ma)?, shapes[0], 4)?, b.view(&mb)?);
                let vy = y.view_mut(&mut my)?;
                let vb = vb.broadcast_front(shapes[1])?;
                match kind {
                    "add" => add(va, vb, vy).launch(stream)?,
                    "sub" => sub(va, vb, vy).launch(stream)?,
                    "mul" => mul(va, vb, vy).launch(stream)?,
                    "div" => div(va, vb, vy).launch(stream)?,
                    "maximum" => maximum(va, vb, vy).launch(stream)?,
                    _ => minimum(va, vb, vy).launch(stream)?,
                }
                let (a, b) = (repeated(&a.values(), shapes[0], shapes[2]), repeated(&b.values(), shapes[1], shapes[2]));
                let expected = a.iter().zip(&b).map(|(a, b)| T::of(combined(kind, *a, *b)).value());
                same("y", &y.download(stream, &my)?, &expected.collect::<Vec<_>>())
            }));
        }
        let number = [2.5f32, -0.0, f32::INFINITY, 1e-30][i % 4];
        let name = format!("a number {} {shapes:?}", type_name::<T>());
        cases.push(Case::new(name, move |stream, random| {
            let kind = KINDS[i % 6];
            let a = hostile::<T>(shapes[0], order(i), random);
            let y = Operand::<T, 5>::output(shapes[2], order(i / 3));
            let (ma, mut my) = (a.upload(stream)?, y.upload(stream)?);
            let (va, vy) = (elements(a.view(&ma)?, shapes[0], 4)?, y.view_mut(&mut my)?);
            match kind {
                "add" => add(va, Term::Number(number), vy).launch(stream)?,
                "sub" => sub(va, Term::Number(number), vy).launch(stream)?,
                "mul" => mul(va, Term::Number(number), vy).launch(stream)?,
                "div" => div(va, Term::Number(number), vy).launch(stream)?,
                "maximum" => maximum(va, Term::Number(number), vy).launch(stream)?,
                _ => minimum(va, Term::Number(number), vy).launch(stream)?,
            }
            let a = repeated(&a.values(), shapes[0], shapes[2]);
            let expected = a.iter().map(|a| T::of(combined(kind, *a, f64::from(number))).value());
            same("y", &y.download(stream, &my)?, &expected.collect::<Vec<_>>())
        }));
        let name = format!("clamp {} {shapes:?}", type_name::<T>());
        cases.push(Case::new(name, move |stream, random| {
            let a = hostile::<T>(shapes[0], order(i + 1), random);
            let y = Operand::<T, 5>::output(shapes[2], order(i / 2));
            let (ma, mut my) = (a.upload(stream)?, y.upload(stream)?);
            let [low, high] = [[-0.5f32, 1.0], [f32::NEG_INFINITY, 0.25], [0.0, f32::INFINITY], [2.0, 1.0]][i % 4];
            let va = elements(a.view(&ma)?, shapes[0], 4)?;
            clamp(va, low, high, y.view_mut(&mut my)?).launch(stream)?;
            let bounded = |x: f64| {
                let x = if x < f64::from(low) { f64::from(low) } else { x };
                T::of(if x > f64::from(high) { f64::from(high) } else { x }).value()
            };
            let expected: Vec<f64> = repeated(&a.values(), shapes[0], shapes[2]).into_iter().map(bounded).collect();
            same("y", &y.download(stream, &my)?, &expected)
        }));
    }
}

/// A view as an operand of all its axes, or of those that its extents say.
trait Front<'a, T> {
    fn broadcast_front(self, shape: [usize; 5]) -> Outcome<Term<'a, T>>
    where
        T: Arithmetic;
}

impl<'a, T: Element> Front<'a, T> for View<'a, T, 5> {
    fn broadcast_front(self, shape: [usize; 5]) -> Outcome<Term<'a, T>>
    where
        T: Arithmetic,
    {
        Ok(Term::Elements(elements(self, shape, 4)?))
    }
}

fn integers(cases: &mut Vec<Case>) {
    for (i, shapes) in SHAPES.into_iter().enumerate() {
        cases.push(Case::new(format!("arithmetic i32 {shapes:?}"), move |stream, random| {
            let whole = |shape, of, random: &mut Random| Operand::<i32, 5>::whole(shape, of, random, 1 << 14);
            let (a, b) = (whole(shapes[0], order(i), random), whole(shapes[1], order(i + 2), random));
            let (ma, mb) = (a.upload(stream)?, b.upload(stream)?);
            let (x, z) = (repeated(&a.values(), shapes[0], shapes[2]), repeated(&b.values(), shapes[1], shapes[2]));
            for kind in ["add", "sub", "mul", "maximum", "minimum"] {
                let y = Operand::<i32, 5>::output(shapes[2], order(i + 1));
                let mut my = y.upload(stream)?;
                let (va, vb) = (elements(a.view(&ma)?, shapes[0], 4)?, b.view(&mb)?);
                let vy = y.view_mut(&mut my)?;
                match kind {
                    "add" => add(va, vb, vy).launch(stream)?,
                    "sub" => sub(va, vb, vy).launch(stream)?,
                    "mul" => mul(va, vb, vy).launch(stream)?,
                    "maximum" => maximum(va, vb, vy).launch(stream)?,
                    _ => minimum(va, vb, vy).launch(stream)?,
                }
                let of = |(a, b): (&f64, &f64)| match kind {
                    "add" => a + b,
                    "sub" => a - b,
                    "mul" => a * b,
                    "maximum" => a.max(*b),
                    _ => a.min(*b),
                };
                same(kind, &y.download(stream, &my)?, &x.iter().zip(&z).map(of).collect::<Vec<_>>())?;
            }
            Ok(())
        }));
    }
}

fn copies<X: CopyTo<Y> + Scalar, Y: Scalar>(cases: &mut Vec<Case>, whole: bool) {
    for (i, shapes) in SHAPES.into_iter().enumerate() {
        let orders = if i % 3 == 0 { [ORDERS[0]; 2] } else { [ORDERS[i % 5], ORDERS[i / 2 % 5]] };
        let name = format!("copy {} to {} {shapes:?} {orders:?}", type_name::<X>(), type_name::<Y>());
        cases.push(Case::new(name, move |stream, random| {
            let x = match whole {
                true => Operand::<X, 5>::whole(shapes[0], orders[0], random, 100),
                false => hostile::<X>(shapes[0], orders[0], random),
            };
            let y = Operand::<Y, 5>::output(shapes[2], orders[1]);
            let (mx, mut my) = (x.upload(stream)?, y.upload(stream)?);
            copy(elements(x.view(&mx)?, shapes[0], 4)?, y.view_mut(&mut my)?).launch(stream)?;
            let expected = repeated(&x.values(), shapes[0], shapes[2]).into_iter().map(|x| Y::of(x).value());
            same("y", &y.download(stream, &my)?, &expected.collect::<Vec<_>>())
        }));
    }
}

fn choices<T: Select + Scalar>(cases: &mut Vec<Case>) {
    for (i, shapes) in SHAPES.into_iter().enumerate() {
        cases.push(Case::new(format!("select {} {shapes:?}", type_name::<T>()), move |stream, random| {
            let (a, b) = (hostile::<T>(shapes[0], order(i), random), hostile::<T>(shapes[1], order(i + 1), random));
            let which = shapes[i % 3];
            let mask: Vec<bool> = (0..which.iter().product()).map(|_| random.bool()).collect();
            let y = Operand::<T, 5>::output(shapes[2], order(i + 3));
            let (ma, mb, mut my) = (a.upload(stream)?, b.upload(stream)?, y.upload(stream)?);
            let condition = stream.tensor(&mask, which)?;
            let (va, vb) = (elements(a.view(&ma)?, shapes[0], 4)?, b.view(&mb)?);
            select(&condition, va, vb, y.view_mut(&mut my)?).launch(stream)?;
            let mask: Vec<f64> = mask.into_iter().map(|of| f64::from(u8::from(of))).collect();
            let mask = repeated(&mask, which, shapes[2]);
            let (a, b) = (repeated(&a.values(), shapes[0], shapes[2]), repeated(&b.values(), shapes[1], shapes[2]));
            let expected = (0..mask.len()).map(|at| if mask[at] == 1.0 { a[at] } else { b[at] });
            same("y", &y.download(stream, &my)?, &expected.collect::<Vec<_>>())
        }));
    }
}

fn wholes<T: CopyTo<T> + Scalar>(cases: &mut Vec<Case>) {
    for (turn, axis) in [0, 1, 2, 0, 1, 2].into_iter().enumerate() {
        cases.push(Case::new(format!("concat {} along {axis}, {turn}", type_name::<T>()), move |stream, random| {
            let mut shape = [3, 4, 65];
            let lengths = [[1, 0, 7], [64, 5, 64]][turn / 3];
            let parts: Vec<Operand<T, 3>> = lengths
                .into_iter()
                .enumerate()
                .map(|(i, length)| {
                    shape[axis] = length;
                    Operand::normal(shape, order(turn + i), random)
                })
                .collect();
            let memory = parts.iter().map(|part| part.upload(stream)).collect::<triton::Result<Vec<_>>>()?;
            let views = parts.iter().zip(&memory).map(|(part, memory)| part.view(memory));
            let views = views.collect::<triton::Result<Vec<_>>>()?;
            shape[axis] = lengths.iter().sum();
            let y = Operand::<T, 3>::output(shape, order(turn));
            let mut my = y.upload(stream)?;
            concat(&views, axis, y.view_mut(&mut my)?).launch(stream)?;
            let (outer, inner) = (shape[..axis].iter().product::<usize>(), shape[axis + 1..].iter().product::<usize>());
            let mut expected = Vec::new();
            for i in 0..outer {
                for (part, length) in parts.iter().zip(lengths) {
                    expected.extend_from_slice(&part.values()[i * length * inner..(i + 1) * length * inner]);
                }
            }
            same("y", &y.download(stream, &my)?, &expected)
        }));
    }
}

/// A closure is a kernel: `maximum` is the language's.
mod closure {
    use triton::prelude::*;
    use triton_kernels::elementwise::elementwise;

    elementwise!(
        /// Three operands of other types, and two numbers.
        pub(super) blend,
        |a: bf16, b: f32, count: i32; factor: f32, least: i32| -> f16 {
            let count = maximum(count, least).to::<f32>();
            a.to::<f32>() * factor + b * count
        }
    );
}

fn closures(cases: &mut Vec<Case>) {
    for (i, shapes) in SHAPES.into_iter().enumerate() {
        cases.push(Case::new(format!("a closure {shapes:?}"), move |stream, random| {
            let a = Operand::<bf16, 5>::whole(shapes[0], order(i), random, 16);
            let b = Operand::<f32, 5>::whole(shapes[1], order(i / 4), random, 16);
            let count = Operand::<i32, 5>::whole(shapes[i % 2], order(i / 2), random, 16);
            let y = Operand::<f16, 5>::output(shapes[2], order(i / 3));
            let (ma, mb, mc, mut my) = (a.upload(stream)?, b.upload(stream)?, count.upload(stream)?, y.upload(stream)?);
            let (va, vb) = (elements(a.view(&ma)?, shapes[0], 4)?, b.view(&mb)?);
            closure::blend(va, vb, count.view(&mc)?, 0.5, -3, y.view_mut(&mut my)?).launch(stream)?;
            let (a, b) = (repeated(&a.values(), shapes[0], shapes[2]), repeated(&b.values(), shapes[1], shapes[2]));
            let count = repeated(&count.values(), shapes[i % 2], shapes[2]);
            let expected = (0..a.len()).map(|at| a[at] * 0.5 + b[at] * count[at].max(-3.0));
            same("y", &y.download(stream, &my)?, &expected.collect::<Vec<_>>())
        }));
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    two::<f32>(&mut cases);
    two::<f16>(&mut cases);
    two::<bf16>(&mut cases);
    integers(&mut cases);
    copies::<f32, f32>(&mut cases, false);
    copies::<f32, f16>(&mut cases, false);
    copies::<f32, bf16>(&mut cases, false);
    copies::<f16, f32>(&mut cases, false);
    copies::<bf16, bf16>(&mut cases, false);
    copies::<bf16, f32>(&mut cases, false);
    copies::<f32, i32>(&mut cases, true);
    copies::<i32, f32>(&mut cases, true);
    copies::<i32, i32>(&mut cases, true);
    choices::<f32>(&mut cases);
    choices::<bf16>(&mut cases);
    choices::<i32>(&mut cases);
    wholes::<f32>(&mut cases);
    wholes::<bf16>(&mut cases);
    closures(&mut cases);
    errors(&mut cases);
    cases
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("add refuses extents that are not repeated", |stream, _| {
        let (a, b) = (stream.tensor_zeros::<f32, _>([2, 3])?, stream.tensor_zeros::<f32, _>([2])?);
        let mut y = stream.tensor_zeros::<f32, _>([2, 3])?;
        refused(add(&a, &b, &mut y).launch(stream), &["`add`: `b` has extent 2 along axis 0, but 3 is expected"])?;
        let mut y = stream.tensor_zeros::<f32, _>([1, 3])?;
        refused(add(&a, 1.0f32, &mut y).launch(stream), &["`add`: `a` has extent 2 along axis 0, but 1 is expected"])
    }));
    cases.push(Case::new("copy refuses more axes than the result has", |stream, _| {
        let (x, mut y) = (stream.tensor_zeros::<f32, _>([1, 3])?, stream.tensor_zeros::<f32, _>([3])?);
        refused(copy(&x, &mut y).launch(stream), &["`copy`: `x` has 2 axes, but 1 are expected"])
    }));
    cases.push(Case::new("concat refuses other extents", |stream, _| {
        let (a, b) = (stream.tensor_zeros::<f32, _>([2, 3])?, stream.tensor_zeros::<f32, _>([2, 2])?);
        let mut y = stream.tensor_zeros::<f32, _>([2, 4])?;
        let all = [a.as_view(), b.as_view()];
        refused(concat(&all, 1, &mut y).launch(stream), &["`concat`: `y` has extent 4 along axis 1, but 5 is expected"])?;
        refused(concat(&all, 0, &mut y).launch(stream), &["`concat`: `operands` has extent 3 along axis 1, but 4"])?;
        refused(concat(&all, 2, &mut y).launch(stream), &["`concat`: `axis` is 2"])
    }));
}
