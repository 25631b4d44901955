//! Matrix products of the library, [`triton_kernels`], as the cases have them; and a kernel of a product for what measures kernels.

use crate::Outcome;
use crate::case::{Case, DType, Layouts};
use crate::kernels::{Operands, Value};
use triton::prelude::*;
use triton_kernels::linear::{Gemm, GemmElement, Precision, gemm};
use triton_kernels::select::{self, Candidates, Kernel, Kind, Order, Plan, Problem};

/// out = x · y, sums in `f32`; products of `f32` are as exact as the type.
#[triton::kernel(configs = [
    (T = f32, BM = 64, BN = 64, BK = 32),
    (T = bf16, BM = 128, BN = 256, BK = 64, num_warps = 8, num_stages = 4),
    (T = bf16, BM = 64, BN = 64, BK = 32),
    (T = f16, BM = 64, BN = 64, BK = 32),
])]
pub fn matmul<T: Float, const BM: i32, const BN: i32, const BK: i32>(
    x: Tensor<T, 2>,
    y: Tensor<T, 2>,
    out: TensorMut<T, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..x.dim(1)).step_by(BK) {
        acc = dot(x.load([m, k], [BM, BK]), y.load([k, n], [BK, BN]), acc);
    }
    out.store([m, n], acc.to::<T>());
}

/// A product of the cases, in the library's words.
pub fn problem(case: &Case) -> Problem {
    let kind = match case.dtype {
        DType::F32 if case.tf32 => Kind::Tf32,
        DType::F32 => Kind::F32,
        DType::F16 => Kind::F16,
        DType::Bf16 => Kind::Bf16,
        DType::F64 => Kind::F64,
        DType::I8 => Kind::I8,
    };
    let order = match case.layouts {
        Layouts::NN => Order::NN,
        Layouts::NT => Order::NT,
        Layouts::TN => Order::TN,
        Layouts::TT => Order::TT,
    };
    Problem { kind, order, batch: 1, shape: case.shape, machine: Device::cpu().machine() }
}

/// What the library chooses among for a product without an epilogue, on a device that has code of every instance.
///
/// # Errors
/// Of the CPU device, and for a type that has no such choice.
pub fn candidates(problem: &Problem) -> Outcome<Candidates> {
    fn of<T: GemmElement<T>>(problem: &Problem, zero: T) -> Outcome<Candidates> {
        const SIDE: usize = 16;
        let stream = Device::cpu().stream()?;
        let (x, mut out) = (stream.upload(&[zero; SIDE * SIDE])?, stream.upload(&[zero; SIDE * SIDE])?);
        let of = |is: bool| x.view([SIDE; 2]).map(|view| if is { view.transpose() } else { view });
        let [a, b] = problem.order.transposed();
        let small = gemm(of(a)?, of(b)?, out.view_mut([SIDE; 2])?).candidates(&stream)?;
        Ok(Candidates::new(*problem, small.instances()))
    }
    match problem.kind {
        Kind::F32 => of(problem, 0.0f32),
        Kind::Bf16 => of(problem, bf16::ZERO),
        Kind::F16 => of(problem, f16::ZERO),
        Kind::F64 => of(problem, 0.0f64),
        Kind::Tf32 | Kind::I8 => Err(format!("the table's rows choose products of {:?}", problem.kind).into()),
    }
}

/// What the library chooses for a product whose operands begin at multiples of 16 bytes, on a device that has code of every instance.
///
/// # Errors
/// If the table has no row for it.
pub fn plan(case: &Case) -> Outcome<Plan> {
    let problem = problem(case);
    let ([m, n, k], [a, b]) = (problem.shape, problem.order.transposed());
    let bytes = case.dtype.bytes();
    let aligned = [if a { m } else { k }, if b { k } else { n }, n].iter().all(|row| (row * bytes).is_multiple_of(16));
    if aligned
        && let Ok(candidates) = candidates(&problem)
        && let Some(plan) = select::learned(&candidates, &Device::cpu())
    {
        return Ok(plan);
    }
    row(case)
}

/// What the rows of the library's table choose for a product on a device that has code of every instance.
///
/// # Errors
/// If the table has no row for it.
pub fn row(case: &Case) -> Outcome<Plan> {
    let first = select::plans(&problem(case)).next();
    first.ok_or_else(|| format!("`{}`: no row of the table of instances is for it", case.name).into())
}

/// An instance and a number of splits, for what is not to be chosen by the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The name of the instance.
    pub instance: Option<String>,
    /// How many programs share a tile.
    pub splits: Option<usize>,
    /// Whether their sums are added in one order.
    pub deterministic: bool,
}

impl Asked {
    /// What a plan says.
    pub fn plan(plan: &Plan) -> Asked {
        let is_split = matches!(plan.kernel, Kernel::Split { .. });
        Asked { instance: Some(plan.instance()), splits: is_split.then_some(plan.splits), deterministic: false }
    }

    /// The product with it.
    pub fn of<'a, T: GemmElement<C>, C: Element>(&'a self, product: Gemm<'a, T, C>) -> Gemm<'a, T, C> {
        let product = match &self.instance {
            Some(instance) => product.instance(instance),
            None => product,
        };
        let product = match self.splits {
            Some(splits) => product.splits(splits),
            None => product,
        };
        product.deterministic(self.deterministic)
    }
}

/// The product of a case on operands that begin with its elements.
///
/// # Errors
/// If they are too short.
pub fn product<'a, T>(case: &Case, operands: Operands<'a, T>) -> Outcome<Gemm<'a, T, T::Out>>
where
    T: Value + GemmElement<T::Out>,
{
    let Operands { x, y, out } = operands;
    let [m, n, k] = case.shape;
    let x = if case.layouts.transposes_x() { x.view([k, m])?.transpose() } else { x.view([m, k])? };
    let y = if case.layouts.transposes_y() { y.view([n, k])?.transpose() } else { y.view([k, n])? };
    let precision = if case.tf32 { Precision::Tf32 } else { Precision::Ieee };
    Ok(gemm(x, y, out.view_mut([m, n])?).precision(precision))
}
