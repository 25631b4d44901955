//! Products of every shape, order, type and epilogue against the reference.

use crate::harness::{Case, Failure, Operand, Order, Outcome, Random, Scalar, compare, same, type_name};
use crate::reference::gemm::Product;
use triton::{Buffer, Stream, View, bf16, f16};
use triton_kernels::Activation;
use triton_kernels::linear::{GemmElement, Precision, Scale};
use triton_kernels::linear::{gemm, gemm_batched};

/// What a case does beside the product.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    alpha: Option<f64>,
    beta: Option<f64>,
    bias: bool,
    row_bias: bool,
    residual: bool,
    scales: Option<bool>,
    sums: bool,
    activation: Activation,
    pub(super) precision: Precision,
    pub(super) splits: Option<usize>,
    pub(super) deterministic: bool,
    pub(super) instance: Option<&'static str>,
}

impl Options {
    /// For an instance: without an epilogue, or with one that is exact.
    pub(super) fn of_instance(instance: &'static str, precision: Precision, plain: bool) -> Options {
        let options = Options { precision, instance: Some(instance), ..Options::default() };
        if plain { options } else { Options { beta: Some(1.0), bias: true, residual: true, ..options } }
    }
}

/// Epilogues by their names.
fn epilogues() -> Vec<(String, Options)> {
    let of = |name: &str, options| (name.to_string(), options);
    let plain = Options::default();
    let mut list = vec![
        of("plain", plain),
        of("alpha", Options { alpha: Some(-0.5), ..plain }),
        of("beta", Options { beta: Some(1.0), ..plain }),
        of("alpha beta", Options { alpha: Some(0.25), beta: Some(-0.5), ..plain }),
        of("bias", Options { bias: true, ..plain }),
        of("row bias, residual", Options { row_bias: true, residual: true, ..plain }),
        of("scales", Options { scales: Some(false), ..plain }),
        of("one scale", Options { scales: Some(true), bias: true, ..plain }),
        of("sums", Options { sums: true, bias: true, ..plain }),
    ];
    for activation in Activation::ALL {
        let all = Options { alpha: Some(0.5), beta: Some(0.5), bias: true, row_bias: true, residual: true, ..plain };
        list.push((format!("{activation:?}"), Options { activation, bias: true, ..plain }));
        list.push((format!("all {activation:?}"), Options { activation, scales: Some(false), sums: true, ..all }));
    }
    list
}

/// Shapes: each extent is 1, 2, a tile, one less, one more, a prime.
fn shapes() -> Vec<[usize; 3]> {
    let sides = [1, 2, 15, 16, 33, 64, 65, 127];
    let depths = [0, 1, 7, 32, 33, 130];
    let mut list: Vec<[usize; 3]> =
        (0..96).map(|i| [sides[i % 8], sides[i * 3 / 8 % 8], depths[(i * 5 + i / 6) % 6]]).collect();
    list.extend([[0, 5, 3], [5, 0, 3], [0, 0, 0], [129, 257, 64], [257, 40, 257], [128, 256, 128], [3, 1, 500]]);
    list
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of_types::<f32, f32>(&mut cases);
    of_types::<bf16, bf16>(&mut cases);
    of_types::<f16, f16>(&mut cases);
    of_types::<bf16, f32>(&mut cases);
    of_types::<f16, f32>(&mut cases);
    of_types::<i8, f32>(&mut cases);
    of_types::<i8, bf16>(&mut cases);
    of_types::<f64, f64>(&mut cases);
    rounded(&mut cases);
    integers(&mut cases);
    split(&mut cases);
    batched(&mut cases);
    cases
}

/// Every shape with an epilogue and orders that change from one to the next.
fn of_types<T: GemmElement<C> + Scalar, C: Scalar>(cases: &mut Vec<Case>) {
    let epilogues = epilogues();
    for (i, shape) in shapes().into_iter().chain(shapes()).enumerate() {
        let (epilogue, options) = epilogues[(i * 7 + i / 23) % epilogues.len()].clone();
        let orders = [Order::ALL[i % 4], Order::ALL[i / 4 % 4], Order::ALL[i / 7 % 4]];
        let [m, n, k] = shape;
        let title = format!("gemm {}→{} {m}x{n}x{k} {orders:?} {epilogue} #{i}", type_name::<T>(), type_name::<C>());
        let whole = i % 3 == 0;
        cases.push(Case::new(title, move |stream, random| {
            one::<T, C>(stream, random, 1, shape, orders, &options, whole).map(drop)
        }));
    }
}

/// `f32` by way of TF32, of whole numbers, which are exact in it.
fn rounded(cases: &mut Vec<Case>) {
    for (i, shape) in shapes().into_iter().enumerate() {
        let (epilogue, options) = epilogues()[i * 5 % 9].clone();
        let options = Options { precision: Precision::Tf32, ..options };
        let orders = [Order::ALL[i % 4], Order::ALL[i / 3 % 4], Order::ALL[i / 5 % 4]];
        let [m, n, k] = shape;
        cases.push(Case::new(format!("gemm tf32 {m}x{n}x{k} {orders:?} {epilogue}"), move |stream, random| {
            one::<f32, f32>(stream, random, 1, shape, orders, &options, true).map(drop)
        }));
    }
}

/// `i8` stored as `i32`.
fn integers(cases: &mut Vec<Case>) {
    for (i, shape) in shapes().into_iter().enumerate() {
        let orders = [Order::ALL[i % 4], Order::ALL[i / 3 % 4], Order::ALL[i / 5 % 4]];
        let [m, n, k] = shape;
        cases.push(Case::new(format!("gemm i8→i32 {m}x{n}x{k} {orders:?}"), move |stream, random| {
            one::<i8, i32>(stream, random, 1, shape, orders, &Options::default(), true).map(drop)
        }));
    }
}

/// A long K in parts: right, and if deterministic the same in each launch.
fn split(cases: &mut Vec<Case>) {
    fn of_types<T: GemmElement<C> + Scalar, C: Scalar>(cases: &mut Vec<Case>) {
        // The last two have less of K than a split, and none.
        let long = [[16, 16, 1000], [33, 65, 1024], [1, 1, 4096], [70, 30, 777], [64, 128, 600]];
        let shapes = long.into_iter().chain([[40, 70, 19], [35, 66, 0]]);
        for (i, shape) in shapes.enumerate() {
            for splits in [1, 2, 7, 128] {
                for deterministic in [false, true] {
                    let (epilogue, of) = epilogues()[(i * 5 + splits) % 20].clone();
                    let options = Options { splits: Some(splits), deterministic, ..of };
                    let orders = [Order::ALL[(i + splits) % 4], Order::ALL[i % 4], Order::ALL[i * splits % 4]];
                    let [m, n, k] = shape;
                    let kind = if deterministic { "ordered" } else { "any order" };
                    let types = format!("{}→{}", type_name::<T>(), type_name::<C>());
                    let title = format!("gemm {types} {m}x{n}x{k} {orders:?} {splits} splits, {kind}, {epilogue}");
                    cases.push(Case::new(title, move |stream, random| {
                        let again = random.clone();
                        let found = one::<T, C>(stream, random, 1, shape, orders, &options, false)?;
                        let other = one::<T, C>(stream, &mut again.clone(), 1, shape, orders, &options, false)?;
                        match deterministic && found != other {
                            true => Err(Failure("two launches differ".to_string())),
                            false => Ok(()),
                        }
                    }));
                }
            }
        }
    }
    of_types::<f32, f32>(cases);
    of_types::<bf16, bf16>(cases);
    of_types::<f16, f16>(cases);
    of_types::<bf16, f32>(cases);
    of_types::<f16, f32>(cases);
    of_types::<f64, f64>(cases);
}

/// Batches, with operands of their own and with one for all.
fn batched(cases: &mut Vec<Case>) {
    fn of_types<T: GemmElement<C> + Scalar, C: Scalar>(cases: &mut Vec<Case>) {
        for (i, shape) in [[5, 7, 3], [64, 64, 64], [33, 20, 65], [1, 40, 17], [65, 1, 0]].into_iter().enumerate() {
            for (j, batch) in [0, 1, 2, 5].into_iter().enumerate() {
                let (epilogue, of) = epilogues()[(i * 4 + j) % 8].clone();
                let splits = (shape[2] == 65 && batch == 5).then_some(2);
                let options = Options { splits, ..of };
                let orders = [Order::ALL[(i + j) % 4], Order::ALL[i % 4], Order::ALL[j % 4]];
                let [m, n, k] = shape;
                let types = format!("{}→{}", type_name::<T>(), type_name::<C>());
                let title = format!("gemm {types} {batch} of {m}x{n}x{k} {orders:?} {epilogue}");
                cases.push(Case::new(title, move |stream, random| {
                    one::<T, C>(stream, random, batch, shape, orders, &options, false).map(drop)
                }));
            }
        }
    }
    of_types::<f32, f32>(cases);
    of_types::<bf16, bf16>(cases);
    of_types::<f16, f16>(cases);
    of_types::<bf16, f32>(cases);
    of_types::<f64, f64>(cases);
}

/// An operand of a case, if there is one.
fn uploaded<C: Scalar, const R: usize>(
    stream: &Stream,
    operand: &Option<Operand<C, R>>,
) -> triton::Result<Option<Buffer<C>>> {
    operand.as_ref().map(|operand| operand.upload(stream)).transpose()
}

/// The view of such an operand.
fn viewed<'a, C: Scalar, const R: usize>(
    operand: &Option<Operand<C, R>>,
    buffer: &'a Option<Buffer<C>>,
) -> triton::Result<Option<View<'a, C, R>>> {
    operand.as_ref().zip(buffer.as_ref()).map(|(operand, buffer)| operand.view(buffer)).transpose()
}

/// Runs one product and compares; gives the result. A batch of 1 is a product of matrices.
pub(super) fn one<T: GemmElement<C> + Scalar, C: Scalar>(
    stream: &Stream,
    random: &mut Random,
    batch: usize,
    [m, n, k]: [usize; 3],
    [of_a, of_b, of_c]: [Order; 3],
    options: &Options,
    whole: bool,
) -> Outcome<Vec<f64>> {
    let whole = whole || size_of::<T>() == 1;
    let shared = batch > 1 && random.bool();
    let of_b_batch = if shared { 1 } else { batch };
    let (a, b): (Operand<T, 3>, Operand<T, 3>) = if whole {
        (Operand::whole([batch, m, k], of_a, random, 3), Operand::whole([of_b_batch, k, n], of_b, random, 3))
    } else {
        (Operand::normal([batch, m, k], of_a, random), Operand::normal([of_b_batch, k, n], of_b, random))
    };
    // Where the old c counts, it is made of numbers, else of poison.
    let c: Operand<C, 3> = match options.beta {
        Some(_) => Operand::whole([batch, m, n], of_c, random, 3),
        None => Operand::output([batch, m, n], of_c),
    };
    let mut vector = |wanted: bool, len: usize| {
        let order = if random.bool() { Order::Rows } else { Order::Apart };
        wanted.then(|| Operand::<C, 1>::whole([len], order, random, 4))
    };
    let (bias, row_bias) = (vector(options.bias, n), vector(options.row_bias, m));
    let residual = options.residual.then(|| Operand::<C, 3>::whole([batch, m, n], Order::any(random), random, 4));
    let mut scale = |len| {
        let len = if options.scales == Some(true) { 1 } else { len };
        options.scales.map(|_| Operand::<f32, 1>::new([len], Order::Rows, || f64::from(random.u32(1..=4)) / 2.0))
    };
    let (row_scales, column_scales) = (scale(m), scale(n));
    let sums = (options.sums && batch == 1).then(|| Operand::<f32, 1>::output([n], Order::Apart));

    let each = |operand: &Option<Operand<f32, 1>>, len: usize| {
        let values = operand.as_ref().map_or(Vec::new(), Operand::values);
        if values.len() == 1 { vec![values[0]; len] } else { values }
    };
    let of = |operand: &Option<Operand<C, 1>>| operand.as_ref().map_or(Vec::new(), Operand::values);
    let repeated = |values: Vec<f64>| if shared { values.repeat(batch) } else { values };
    let reference = Product {
        shape: [batch, m, n, k],
        a: a.values(),
        b: repeated(b.values()),
        c: c.values(),
        bias: of(&bias),
        row_bias: of(&row_bias),
        residual: residual.as_ref().map_or(Vec::new(), Operand::values),
        row_scales: each(&row_scales, m),
        column_scales: each(&column_scales, n),
        alpha: options.alpha.unwrap_or(1.0),
        beta: options.beta.unwrap_or(0.0),
        activation: options.activation,
        rounding: C::rounding(),
    };

    let (on_a, on_b, mut on_c) = (a.upload(stream)?, b.upload(stream)?, c.upload(stream)?);
    let (on_bias, on_row_bias) = (uploaded(stream, &bias)?, uploaded(stream, &row_bias)?);
    let on_residual = uploaded(stream, &residual)?;
    let (on_rows, on_columns) = (uploaded(stream, &row_scales)?, uploaded(stream, &column_scales)?);
    let mut on_sums = uploaded(stream, &sums)?;
    {
        let (a, b, c) = (a.view(&on_a)?, b.view(&on_b)?, c.view_mut(&mut on_c)?);
        let mut product =
            if batch == 1 { gemm(a.select(0, 0)?, b.select(0, 0)?, c.select(0, 0)?) } else { gemm_batched(a, b, c) };
        product = product.precision(options.precision).deterministic(options.deterministic);
        product = product.activation(options.activation);
        if let Some(alpha) = options.alpha {
            product = product.alpha(alpha);
        }
        if let Some(beta) = options.beta {
            product = product.beta(beta);
        }
        if let Some(bias) = viewed(&bias, &on_bias)? {
            product = product.bias(bias);
        }
        if let Some(bias) = viewed(&row_bias, &on_row_bias)? {
            product = product.row_bias(bias);
        }
        if let Some(residual) = viewed(&residual, &on_residual)? {
            product = if batch == 1 { product.residual(residual.select(0, 0)?) } else { product.residual(residual) };
        }
        let scale = |view| if options.scales == Some(true) { Scale::Tensor(view) } else { Scale::Each(view) };
        if let Some(view) = viewed(&row_scales, &on_rows)? {
            product = product.scale_a(scale(view));
        }
        if let Some(view) = viewed(&column_scales, &on_columns)? {
            product = product.scale_b(scale(view));
        }
        if let (Some(sums), Some(buffer)) = (&sums, &mut on_sums) {
            product = product.column_sums(sums.view_mut(buffer)?);
        }
        if let Some(splits) = options.splits {
            product = product.splits(splits);
        }
        if let Some(name) = options.instance {
            product = product.instance(name);
        }
        product.launch(stream)?;
    }
    let expected = reference.result();
    let found = c.download(stream, &on_c)?;
    // Sums of whole numbers are exact, and so is what a power of 2 makes of them; rounding to C is left.
    let is_exact = whole && options.activation == Activation::Identity && options.scales.is_none();
    if is_exact {
        same("c", &found, &expected.iter().map(|v| C::of(v.value).value()).collect::<Vec<f64>>())?;
    } else {
        compare::<C>("c", &found, &expected)?;
    }
    if let (Some(sums), Some(buffer)) = (&sums, &on_sums) {
        compare::<f32>("the sums of columns", &sums.download(stream, buffer)?, &reference.column_sums(&expected))?;
    }
    Ok(found)
}
