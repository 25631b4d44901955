//! Pooling by windows and its gradients.

use super::{gradient, normals, operand, order};
use crate::harness::hostile::{Draw, SPECIALS};
use crate::harness::{Case, Operand, Order, Scalar, Subject, compare, refused, same, subject, type_name};
use crate::reference::number::{Number, Total, exact, totals};
use triton::{bf16, f16};
use triton_kernels::FloatElement;
use triton_kernels::pool::{avg_pool, avg_pool_backward, max_pool, max_pool_backward, output_shape};

pub(super) fn subjects() -> Vec<Subject> {
    vec![
        subject!("max_pool", max_pool(&x, (2, 2), &mut y); x [2, 4, 7, 5], y [2, 2, 3, 5]),
        subject!(
            "max_pool_backward", max_pool_backward(&x, &dy, (3, 2), &mut dx).stride((1, 2)).padding((1, 1));
            x [2, 3, 5, 5], dy [2, 3, 3, 5], dx [2, 3, 5, 5],
        ),
        subject!("avg_pool", avg_pool(&x, (2, 3), &mut y); x [2, 4, 7, 5], y [2, 2, 2, 5]),
        subject!("avg_pool_backward", avg_pool_backward(&dy, (2, 3), &mut dx); dy [2, 2, 2, 5], dx [2, 4, 7, 5]),
    ]
}

/// Windows along the axes: numbers of elements, stride, padding, dilation.
#[derive(Clone, Copy, Debug)]
struct Windows([usize; 2], [usize; 2], [usize; 2], [usize; 2]);

const WINDOWS: [Windows; 7] = [
    Windows([2, 2], [2, 2], [0, 0], [1, 1]),
    Windows([3, 3], [2, 2], [1, 1], [1, 1]),
    Windows([3, 2], [1, 1], [1, 0], [1, 1]),
    Windows([1, 1], [1, 2], [0, 0], [1, 1]),
    Windows([2, 4], [3, 5], [1, 2], [1, 1]),
    Windows([3, 2], [1, 2], [2, 1], [2, 3]),
    Windows([2, 3], [3, 1], [1, 2], [3, 2]),
];

const SHAPES: [[usize; 4]; 9] = [
    [1, 1, 1, 1],
    [2, 5, 7, 3],
    [1, 6, 37, 8],
    [1, 3, 18, 72],
    [2, 4, 5, 64],
    [0, 3, 4, 2],
    [2, 0, 4, 3],
    [1, 4, 0, 3],
    [1, 3, 4, 0],
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32>(&mut cases);
    of::<f16>(&mut cases);
    of::<bf16>(&mut cases);
    for (i, windows) in WINDOWS.into_iter().enumerate() {
        let shape = [2, 5, 6, 2];
        cases.push(Case::new(format!("max_pool gradient of the reference {windows:?}"), move |_, random| {
            let f = |x: &[f64]| exact(&greatest(x, shape, windows).0);
            let back = |x: &[f64], dy: &[f64]| greatest_backward(dy, &greatest(x, shape, windows).1, x.len());
            let x = normals(random, 120);
            gradient("for x", random, &x, f, back)
        }));
        if i < 5 {
            for padded in [true, false] {
                let name = format!("avg_pool gradient of the reference {windows:?} {padded}");
                cases.push(Case::new(name, move |_, random| {
                    let f = |x: &[f64]| mean(x, shape, windows, padded);
                    let back = |_: &[f64], dy: &[f64]| mean_backward(dy, shape, windows, padded);
                    let x = normals(random, 120);
                    gradient("for x", random, &x, f, back)
                }));
            }
        }
    }
    errors(&mut cases);
    cases
}

/// The output's shape.
fn result([n, h, w, c]: [usize; 4], Windows(window, stride, padding, dilation): Windows) -> [usize; 4] {
    let pairs = [window, stride, padding, dilation].map(|[down, across]| (down, across));
    output_shape([n, h, w, c], pairs[0], pairs[1], pairs[2], pairs[3])
}

/// The pixels of x that each output sees, in the order of rows, and its divisor with the padding and without.
fn windows_of(shape: [usize; 4], of: Windows) -> Vec<(Vec<usize>, [usize; 2])> {
    let ([_, height, width, channels], Windows(window, stride, padding, dilation)) = (shape, of);
    let [n, p, q, _] = result(shape, of);
    let mut all = Vec::new();
    let places = (0..n * p * q * channels).map(|at| (at / channels, at % channels));
    for (place, channel) in places {
        let (image, down, across) = (place / (p * q), place / q % p, place % q);
        let inside = |axis: usize, place: usize, extent: usize| -> Vec<usize> {
            let at = (0..window[axis]).map(|i| place * stride[axis] + i * dilation[axis]);
            at.filter_map(|at| at.checked_sub(padding[axis]).filter(|at| *at < extent)).collect()
        };
        let (rows, columns) = (inside(0, down, height), inside(1, across, width));
        let pixels = rows.iter().flat_map(|row| columns.iter().map(move |column| (row, column)));
        let pixels = pixels.map(|(row, column)| ((image * height + row) * width + column) * channels + channel);
        all.push((pixels.collect(), [window[0] * window[1], rows.len() * columns.len()]));
    }
    all
}

/// The greatest of each window, and where it is: the first one of several, and the last NaN before all numbers.
fn greatest(x: &[f64], shape: [usize; 4], of: Windows) -> (Vec<f64>, Vec<Option<usize>>) {
    let of_window = |(pixels, _): (Vec<usize>, _)| {
        let mut found: Option<usize> = None;
        for at in pixels {
            if found.is_none_or(|found| x[at] > x[found] || x[at].is_nan()) {
                found = Some(at);
            }
        }
        (found.map_or(f64::NEG_INFINITY, |at| x[at]), found)
    };
    windows_of(shape, of).into_iter().map(of_window).unzip()
}

fn greatest_backward(dy: &[f64], places: &[Option<usize>], count: usize) -> Vec<Number> {
    let mut dx = vec![Total::default(); count];
    places.iter().zip(dy).for_each(|(place, dy)| place.iter().for_each(|at| dx[*at] += *dy));
    totals(dx)
}

fn mean(x: &[f64], shape: [usize; 4], of: Windows, padded: bool) -> Vec<Number> {
    let of_window = |(pixels, [all, inside]): (Vec<usize>, [usize; 2])| {
        let sum: Number = pixels.into_iter().map(|at| exact(&x[at..=at])[0]).sum();
        sum / (if padded { all } else { inside }).max(1) as f64
    };
    windows_of(shape, of).into_iter().map(of_window).collect()
}

fn mean_backward(dy: &[f64], shape: [usize; 4], of: Windows, padded: bool) -> Vec<Number> {
    let mut dx = vec![Total::default(); shape.iter().product()];
    for ((pixels, [all, inside]), dy) in windows_of(shape, of).into_iter().zip(dy) {
        let share = Number::from(*dy) / (if padded { all } else { inside }).max(1) as f64;
        pixels.into_iter().for_each(|at| dx[at] += share);
    }
    totals(dx)
}

const ORDERS: [Order; 5] = [Order::Rows, Order::Columns, Order::Odd, Order::Apart, Order::Planes];

fn of<T: FloatElement + Scalar>(cases: &mut Vec<Case>) {
    for (i, shape) in SHAPES.into_iter().enumerate() {
        for (j, windows) in WINDOWS.into_iter().enumerate() {
            let empty = result(shape, windows).contains(&0);
            if empty && (j > 1 || !shape.contains(&0)) {
                continue;
            }
            let orders = if j % 2 == 0 { [ORDERS[0]; 2] } else { [ORDERS[(i + j) % 5], ORDERS[(i + 2 * j) % 5]] };
            maxima::<T>(cases, shape, windows, orders);
            if windows.3 == [1, 1] {
                means::<T>(cases, shape, windows, orders, (i + j) % 2 == 0);
                means::<T>(cases, shape, windows, [ORDERS[(i + 2 * j + 1) % 5], order(i)], (i + j) % 2 == 1);
            }
        }
    }
}

/// Numbers at the edge, some of which are the same, and some that are not finite.
fn hostile<T: Scalar>(random: &mut crate::harness::Random, count: usize) -> Vec<f64> {
    let mut numbers = Draw::ANY.numbers::<T>(random, count);
    for value in SPECIALS.into_iter().chain([f64::NAN, f64::NEG_INFINITY, 0.0, -0.0]).filter(|_| count > 0) {
        let (at, other) = (random.usize(..count), random.usize(..count));
        numbers[at] = value;
        numbers[random.usize(..count)] = numbers[other];
    }
    numbers
}

fn maxima<T: FloatElement + Scalar>(cases: &mut Vec<Case>, shape: [usize; 4], of: Windows, orders: [Order; 2]) {
    let name = format!("max_pool {} {shape:?} {of:?} {orders:?}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let Windows(window, stride, padding, dilation) = of;
        let [window, stride, padding, dilation] = [window, stride, padding, dilation].map(<(usize, usize)>::from);
        let count = shape.iter().product();
        // Of few different numbers many are the greatest; windows of −∞ alone have a first pixel, too.
        let few: Vec<f64> = (0..count).map(|_| f64::from(random.i32(0..3))).collect();
        for numbers in [hostile::<T>(random, count), few, vec![f64::NEG_INFINITY; count], vec![f64::NAN; count]] {
            let x = operand::<T, 4>(shape, orders[0], &numbers);
            let y = Operand::<T, 4>::output(result(shape, of), orders[1]);
            let (mx, mut my) = (x.upload(stream)?, y.upload(stream)?);
            let launch = max_pool(x.view(&mx)?, window, y.view_mut(&mut my)?).stride(stride);
            launch.padding(padding).dilation(dilation).launch(stream)?;
            let (expected, places) = greatest(&numbers, shape, of);
            same("y", &y.download(stream, &my)?, &expected)?;

            let dy = Operand::<T, 4>::normal(result(shape, of), orders[1], random);
            let mut values = dy.values();
            if let Some(first) = values.first_mut() {
                *first = f64::NAN;
            }
            let (dy, dx) = (operand::<T, 4>(dy.shape(), orders[1], &values), Operand::<T, 4>::output(shape, orders[0]));
            let (my, mut md) = (dy.upload(stream)?, dx.upload(stream)?);
            let launch = max_pool_backward(x.view(&mx)?, dy.view(&my)?, window, dx.view_mut(&mut md)?).stride(stride);
            launch.padding(padding).dilation(dilation).launch(stream)?;
            compare::<T>("dx", &dx.download(stream, &md)?, &greatest_backward(&values, &places, count))?;
        }
        Ok(())
    }));
}

fn means<T: FloatElement + Scalar>(
    cases: &mut Vec<Case>,
    shape: [usize; 4],
    of: Windows,
    orders: [Order; 2],
    padded: bool,
) {
    let name = format!("avg_pool {} {shape:?} {of:?} {padded} {orders:?}", type_name::<T>());
    cases.push(Case::new(name, move |stream, random| {
        let Windows(window, stride, padding, _) = of;
        let [window, stride, padding] = [window, stride, padding].map(<(usize, usize)>::from);
        for special in [None].into_iter().chain(SPECIALS.into_iter().map(Some)) {
            let mut plant = |operand: Operand<T, 4>, order: Order| {
                let mut values = operand.values();
                if let (Some(special), false) = (special, values.is_empty()) {
                    let at = random.usize(..values.len());
                    values[at] = special;
                }
                (super::operand::<T, 4>(operand.shape(), order, &values), values)
            };
            let mut numbers = crate::harness::Random::with_seed(7);
            let (x, values) = plant(Operand::normal(shape, orders[0], &mut numbers), orders[0]);
            let y = Operand::<T, 4>::output(result(shape, of), orders[1]);
            let (mx, mut my) = (x.upload(stream)?, y.upload(stream)?);
            let launch = avg_pool(x.view(&mx)?, window, y.view_mut(&mut my)?).stride(stride).padding(padding);
            launch.count_include_pad(padded).launch(stream)?;
            compare::<T>("y", &y.download(stream, &my)?, &mean(&values, shape, of, padded))?;

            let (dy, values) = plant(Operand::normal(result(shape, of), orders[1], &mut numbers), orders[1]);
            let dx = Operand::<T, 4>::output(shape, orders[0]);
            let (my, mut mx) = (dy.upload(stream)?, dx.upload(stream)?);
            let launch = avg_pool_backward(dy.view(&my)?, window, dx.view_mut(&mut mx)?).stride(stride);
            launch.padding(padding).count_include_pad(padded).launch(stream)?;
            compare::<T>("dx", &dx.download(stream, &mx)?, &mean_backward(&values, shape, of, padded))?;
        }
        Ok(())
    }));
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("max_pool and avg_pool refuse other extents and windows", |stream, _| {
        let (x, mut y) = (stream.zeros::<f32>(256)?, stream.zeros::<f32>(256)?);
        let image = [1, 6, 8, 2];
        for (places, window, stride, padding, texts) in [
            ([1, 2, 4, 2], (2, 2), (2, 2), (0, 0), ["y` has extent 2 along axis 1", "3 is expected"]),
            ([1, 3, 5, 2], (2, 2), (2, 2), (0, 0), ["y` has extent 5 along axis 2", "4 is expected"]),
            ([1, 3, 4, 2], (0, 2), (2, 2), (0, 0), ["`window` is [0, 2]", "from 1"]),
            ([1, 3, 4, 2], (2, 2), (2, 0), (0, 0), ["`stride` is [2, 0]", "from 1"]),
            ([1, 3, 4, 2], (2, 2), (2, 2), (0, 2), ["`padding` is [0, 2]", "half of the window"]),
            ([1, 3, 4, 2], (2, usize::MAX), (2, 2), (0, 0), ["`window` is", "2³⁰"]),
            ([1, 3, 4, 2], (1 << 29, 2), (2, 2), (0, 0), ["an index up to", "2³⁰"]),
            ([1, 3, 4, 2], (2, 2), (2, 2), (usize::MAX, 0), ["`padding` is", "half of the window"]),
        ] {
            let of_dy = texts.map(|text| text.replace("y` has", "dy` has"));
            let of_dy = [of_dy[0].as_str(), of_dy[1].as_str()];
            let launch = max_pool(x.view(image)?, window, y.view_mut(places)?).stride(stride);
            refused(launch.padding(padding).launch(stream), &texts)?;
            let launch = avg_pool(x.view(image)?, window, y.view_mut(places)?).stride(stride);
            refused(launch.padding(padding).launch(stream), &texts)?;
            let (x_of, dy) = (x.view(image)?, x.view(places)?);
            let launch = max_pool_backward(x_of, dy, window, y.view_mut(image)?).stride(stride);
            refused(launch.padding(padding).launch(stream), &of_dy)?;
            let launch = avg_pool_backward(dy, window, y.view_mut(image)?).stride(stride);
            refused(launch.padding(padding).launch(stream), &of_dy)?;
        }
        let launch = max_pool(x.view(image)?, (2, 2), y.view_mut([1, 3, 4, 2])?).dilation((1, 0));
        refused(launch.launch(stream), &["`dilation` is [1, 0]"])
    }));
}
