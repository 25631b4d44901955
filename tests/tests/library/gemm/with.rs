//! Products with functions of this file in the place of the epilogue: without operands, with a second tensor, with a tensor and a number.

use crate::harness::{Case, Failure, Operand, Order, Outcome, Random, Scalar, compare, refused};
use crate::reference::gemm as reference;
use crate::reference::number::Number;
use triton::Selector;
use triton::prelude::*;
use triton::selection::Call;
use triton_kernels::__private::Product;
use triton_kernels::linear::{GemmWith, gemm};
use triton_kernels::{Activation, gemm_with};

#[triton::function]
fn hard_swish<const BM: i32, const BN: i32>(v: Tile<f32>, _at: (i32, i32)) -> Tile<f32> {
    v * minimum(maximum(v + 3.0, 0.0), 6.0) * (1.0 / 6.0)
}

#[triton::function]
fn gated<const BM: i32, const BN: i32>(v: Tile<f32>, at: (i32, i32), gate: Tensor<bf16, 2>) -> Tile<f32> {
    let (m, n) = at;
    v * gate.load([m, n], [BM, BN]).to::<f32>()
}

/// With the number of each row and column, which the place says, and a vector that is read by columns.
#[triton::function]
fn placed<const BM: i32, const BN: i32>(v: Tile<f32>, at: (i32, i32), bias: Tensor<f32, 1>, scale: f32) -> Tile<f32> {
    let (m, n) = at;
    let rows = (arange(0, BM) + m).to::<f32>().expand_dims(1);
    v * scale + rows + bias.load([n], [BN]).expand_dims(0)
}

gemm_with!(hard_swish_f32, f32 => f32, hard_swish);
gemm_with!(hard_swish_bf16, bf16 => bf16, hard_swish);
gemm_with!(hard_swish_f16, f16 => f32, hard_swish);
gemm_with!(gated_f32, f32 => f32, gated(gate: Tensor<bf16, 2>));
gemm_with!(gated_bf16, bf16 => f32, gated(gate: Tensor<bf16, 2>));
gemm_with!(gated_f16, f16 => f16, self::gated(gate: Tensor<bf16, 2>));
gemm_with!(
    /// With the places of its elements.
    pub(crate) placed_bf16, bf16 => bf16, placed(bias: Tensor<f32, 1>, scale: f32)
);

/// How a case asks for its instance.
#[derive(Clone, Copy, Debug)]
enum By {
    Selection,
    Splits(usize, bool),
    /// Each that there is.
    Name,
}

/// Operands of a case.
struct Operands<T, C> {
    a: Operand<T, 2>,
    b: Operand<T, 2>,
    c: Operand<C, 2>,
    gate: Operand<bf16, 2>,
    bias: Operand<f32, 1>,
}

impl<T: Scalar, C: Scalar> Operands<T, C> {
    fn new(random: &mut Random, [m, n, k]: [usize; 3], [of_a, of_b, of_c]: [Order; 3]) -> Operands<T, C> {
        Operands {
            a: Operand::normal([m, k], of_a, random),
            b: Operand::normal([k, n], of_b, random),
            c: Operand::output([m, n], of_c),
            gate: Operand::whole([m, n], Order::any(random), random, 3),
            bias: Operand::whole([n], Order::Rows, random, 4),
        }
    }

    /// What the functions above are given.
    fn sums(&self) -> Vec<Number> {
        let ([m, k], [_, n]) = (self.a.shape(), self.b.shape());
        let (a, b) = (self.a.values(), self.b.values());
        reference::Product { shape: [1, m, n, k], a, b, alpha: 1.0, ..reference::Product::default() }.result()
    }

    fn hard_swish(&self) -> Vec<Number> {
        let gate = |v: Number| (v + 3.0).clamp(0.0, 6.0) * (1.0 / 6.0);
        self.sums().into_iter().map(|v| v * gate(v)).collect()
    }

    fn gated(&self) -> Vec<Number> {
        self.sums().into_iter().zip(self.gate.values()).map(|(v, gate)| v * gate).collect()
    }

    fn placed(&self) -> Vec<Number> {
        let (bias, n) = (self.bias.values(), self.c.shape()[1].max(1));
        self.sums().into_iter().enumerate().map(|(i, v)| v * 0.5 + (i / n) as f64 + bias[i % n]).collect()
    }
}

const SHAPES: [[usize; 3]; 11] = [
    [1, 1, 1],
    [33, 65, 40],
    [64, 64, 64],
    [130, 70, 33],
    [128, 192, 128],
    [7, 300, 0],
    [0, 5, 3],
    [5, 0, 3],
    [16, 16, 1000],
    [65, 127, 300],
    [3, 1, 500],
];

/// A product of [`Operands`].
type Make<T, C, P> =
    for<'v> fn([View<'v, T, 2>; 2], ViewMut<'v, C, 2>, View<'v, bf16, 2>, View<'v, f32, 1>) -> GemmWith<'v, P>;

/// Cases of one function: every shape, in every order of a and b.
fn of<T: Scalar, C: Scalar, P: Product>(
    cases: &mut Vec<Case>,
    make: Make<T, C, P>,
    expected: fn(&Operands<T, C>) -> Vec<Number>,
) {
    for (i, shape) in SHAPES.into_iter().enumerate() {
        for (j, [a, b]) in Order::ALL.into_iter().flat_map(|a| Order::ALL.map(|b| [a, b])).enumerate() {
            let by = match (i + j) % 4 {
                0 => By::Name,
                1 => By::Splits(1, false),
                2 => By::Splits(3, j % 3 == 0),
                _ => By::Selection,
            };
            let orders = [a, b, Order::ALL[(i + j / 4) % 4]];
            cases.push(Case::new(
                format!("gemm_with {} {shape:?} {orders:?} {by:?}", P::NAME),
                move |stream, random| {
                    let operands = Operands::new(random, shape, orders);
                    let expected = expected(&operands);
                    if !matches!(by, By::Name) {
                        return operands.compare(stream, make, &expected, |product| match by {
                            By::Splits(splits, ordered) => product.splits(splits).deterministic(ordered),
                            By::Selection | By::Name => product,
                        });
                    }
                    let names = operands.with(stream, make, |product| Ok(product.instances(stream)?))?.0;
                    names.into_iter().try_for_each(|name| {
                        let name: &'static str = name.leak();
                        operands.compare(stream, make, &expected, move |of| of.instance(name))
                    })
                },
            ));
        }
    }
}

impl<T: Scalar, C: Scalar> Operands<T, C> {
    /// What becomes of a product of the operands, and c after it.
    fn with<P: Product, R>(
        &self,
        stream: &Stream,
        make: Make<T, C, P>,
        run: impl FnOnce(GemmWith<'_, P>) -> Outcome<R>,
    ) -> Outcome<(R, Vec<f64>)> {
        let (a, b, mut c) = (self.a.upload(stream)?, self.b.upload(stream)?, self.c.upload(stream)?);
        let (gate, bias) = (self.gate.upload(stream)?, self.bias.upload(stream)?);
        let sides = [self.a.view(&a)?, self.b.view(&b)?];
        let done = run(make(sides, self.c.view_mut(&mut c)?, self.gate.view(&gate)?, self.bias.view(&bias)?))?;
        Ok((done, self.c.download(stream, &c)?))
    }

    /// Launches a product with options, and compares.
    fn compare<P: Product>(
        &self,
        stream: &Stream,
        make: Make<T, C, P>,
        expected: &[Number],
        options: impl for<'v> FnOnce(GemmWith<'v, P>) -> GemmWith<'v, P>,
    ) -> Outcome {
        let ((), found) = self.with(stream, make, |product| Ok(options(product).launch(stream)?))?;
        compare::<C>("c", &found, expected)
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    of::<f32, f32, _>(&mut cases, |[a, b], c, _, _| hard_swish_f32(a, b, c), Operands::hard_swish);
    of::<bf16, bf16, _>(&mut cases, |[a, b], c, _, _| hard_swish_bf16(a, b, c), Operands::hard_swish);
    of::<f16, f32, _>(&mut cases, |[a, b], c, _, _| hard_swish_f16(a, b, c), Operands::hard_swish);
    of::<f32, f32, _>(&mut cases, |[a, b], c, gate, _| gated_f32(a, b, c, gate), Operands::gated);
    of::<bf16, f32, _>(&mut cases, |[a, b], c, gate, _| gated_bf16(a, b, c, gate), Operands::gated);
    of::<f16, f16, _>(&mut cases, |[a, b], c, gate, _| gated_f16(a, b, c, gate), Operands::gated);
    of::<bf16, bf16, _>(&mut cases, |[a, b], c, _, bias| placed_bf16(a, b, c, bias, 0.5), Operands::placed);
    errors(&mut cases);
    selections(&mut cases);
    cases
}

/// Chooses the last member that fits, after it has launched each.
struct Last;

impl Selector for Last {
    fn select(&self, call: &mut Call<'_>) -> triton::Result<Option<usize>> {
        let fitting: Vec<usize> = (0..call.members()).filter(|index| call.fits(*index)).collect();
        fitting.iter().try_for_each(|index| call.launch(*index).map(drop))?;
        Ok(fitting.last().copied())
    }
}

fn errors(cases: &mut Vec<Case>) {
    cases.push(Case::new("gemm_with: a selector chooses", |stream, random| {
        let o = Operands::<bf16, bf16>::new(random, [40, 30, 600], [Order::Rows; 3]);
        let make: Make<_, _, _> = |[a, b], c, _, bias| placed_bf16(a, b, c, bias, 0.5);
        let (selected, _) = o.with(stream, make, |product| Ok(product.with(&Last).selected(stream)?))?;
        let (default, _) = o.with(stream, make, |product| Ok(product.selected(stream)?))?;
        if selected == default {
            return Err(Failure(format!("{selected} is selected by both")));
        }
        o.compare(stream, make, &o.placed(), |product| product.with(&Last))
    }));
    cases.push(Case::new("gemm_with: refuses shapes", |stream, _| {
        let (x, mut y) = (stream.zeros::<f32>(64)?, stream.zeros::<f32>(64)?);
        let product = hard_swish_f32(x.view([4, 16])?, x.view([8, 8])?, y.view_mut([4, 8])?);
        let b = ["`hard_swish_f32`", "`b` has extent 8 along axis 0", "16 is expected", "b is [k, n]"];
        refused(product.launch(stream), &b)?;
        let product = hard_swish_f32(x.view([4, 8])?, x.view([8, 8])?, y.view_mut([5, 8])?);
        refused(product.launch(stream), &["`c` has extent 5 along axis 0", "4 is expected"])?;
        let product = hard_swish_f32(x.view([4, 8])?, x.view([8, 8])?, y.view_mut([4, 7])?);
        refused(product.selected(stream), &["`c` has extent 7 along axis 1", "8 is expected"])
    }));
    cases.push(Case::new("gemm_with: refuses an instance", |stream, _| {
        let (x, mut y) = (stream.zeros::<f32>(64)?, stream.zeros::<f32>(64)?);
        let product = hard_swish_f32(x.view([4, 8])?, x.view([8, 8])?, y.view_mut([4, 8])?);
        refused(product.instance("3x3x3").launch(stream), &["no instance `3x3x3`", "64x64x32", "64x64x32 split"])
    }));
    cases.push(Case::new("gemm_with: refuses extents beyond all memory", |stream, _| {
        let (x, mut y) = (stream.zeros::<f32>(64)?, stream.zeros::<f32>(64)?);
        let far = x.view([1, 1])?.broadcast(0, i32::MAX as usize)?.broadcast(1, i32::MAX as usize)?;
        let product = hard_swish_f32(far, x.view([8, 8])?, y.view_mut([1, 8])?);
        refused(product.launch(stream), &["`hard_swish_f32`", "less than 2⁵⁶"])
    }));
    cases.push(Case::new("gemm_with: in a graph", |stream, random| {
        let o = Operands::<bf16, bf16>::new(random, [40, 30, 600], [Order::Rows; 3]);
        for splits in [1, 3] {
            let (a, b, mut c) = (o.a.upload(stream)?, o.b.upload(stream)?, o.c.upload(stream)?);
            let bias = o.bias.upload(stream)?;
            let graph = stream.capture(|stream| {
                let product =
                    placed_bf16(o.a.view(&a)?, o.b.view(&b)?, o.c.view_mut(&mut c)?, o.bias.view(&bias)?, 0.5);
                Ok(product.splits(splits).launch(stream)?)
            })?;
            for _ in 0..2 {
                graph.launch(stream)?;
            }
            drop(graph);
            compare::<bf16>("c", &o.c.download(stream, &c)?, &o.placed())?;
        }
        Ok(())
    }));
    cases.push(Case::new("gemm_with: in the same order twice", |stream, random| {
        let o = Operands::<bf16, bf16>::new(random, [40, 30, 2000], [Order::Rows; 3]);
        let (on_a, on_b, mut on_c) = (o.a.upload(stream)?, o.b.upload(stream)?, o.c.upload(stream)?);
        let mut found = Vec::new();
        for _ in 0..2 {
            let product = hard_swish_bf16(o.a.view(&on_a)?, o.b.view(&on_b)?, o.c.view_mut(&mut on_c)?);
            product.splits(7).deterministic(true).launch(stream)?;
            found.push(o.c.download(stream, &on_c)?);
        }
        if found[0] == found[1] { Ok(()) } else { Err(Failure("two launches differ".to_string())) }
    }));
}

/// What is selected is what an epilogue of the library's has.
fn selections(cases: &mut Vec<Case>) {
    cases.push(Case::new("gemm_with: selects as gemm does", |stream, _| {
        for [m, n, k] in [[4096, 4096, 64], [1024, 1024, 1024], [2560, 16, 2560], [128, 3072, 64], [16, 16, 4096]] {
            let one = stream.zeros::<bf16>(8)?;
            let across = |rows: usize, columns: usize| {
                one.view([1, 8])?.broadcast(0, rows)?.narrow(1, ..1)?.broadcast(1, columns)
            };
            for transposed in [false, true] {
                let (a, b) = (across(m, k)?, if transposed { across(n, k)?.transpose() } else { across(k, n)? });
                let mut c = stream.zeros::<bf16>(m * n)?;
                let ours = hard_swish_bf16(a, b, c.view_mut([m, n])?).selected(stream)?;
                let librarys = gemm(a, b, c.view_mut([m, n])?).activation(Activation::Relu).selected(stream)?;
                if ours != librarys {
                    return Err(Failure(format!("{m}x{n}x{k}: {ours}, not {librarys}")));
                }
            }
        }
        Ok(())
    }));
}
