//! Every operation over every layout and element type, beside candle's own operations; and its gradients beside candle's.

#[path = "common/mod.rs"]
mod common;
#[path = "common/table.rs"]
mod table;

use candle_core::{DType, Result, Tensor, Var};
use common::{Random, assert_near, layouts, tolerance};
use table::{Case, cases};

/// The layout of each tensor in case number `i`: every layout of the first one, others of the rest.
fn lies(case: &Case, i: usize) -> Vec<common::Lies> {
    let of = |(k, shape): (usize, &Vec<usize>)| {
        let layouts = layouts(shape.len());
        layouts[(i + 5 * k) % layouts.len()].clone()
    };
    case.shapes.iter().enumerate().map(of).collect()
}

fn count(case: &Case) -> usize {
    layouts(case.shapes[0].len()).len()
}

#[test]
fn results_are_candles() -> Result<()> {
    let (mut random, mut ran) = (Random::new(1), 0);
    for case in cases() {
        for i in 0..count(&case) {
            for dtype in [DType::F32, DType::F16, DType::BF16] {
                let lies = lies(&case, i);
                let of: Vec<Tensor> = lies
                    .iter()
                    .zip(&case.shapes)
                    .map(|(lies, shape)| lies.of(&random.tensor(&lies.base(shape), dtype)?, shape))
                    .collect::<Result<_>>()?;
                let single = of.iter().map(|x| x.to_dtype(DType::F32)?.contiguous()).collect::<Result<Vec<_>>>()?;
                let what = format!("{} of {dtype:?}, {lies:?}", case.name);
                let (ours, theirs) = ((case.ours)(&of)?, (case.theirs)(&single)?);
                let expected = if case.name.starts_with("cross_entropy") { DType::F32 } else { dtype };
                assert_eq!(ours.dtype(), expected, "{what}");
                assert_near(&what, &ours, &theirs, tolerance(dtype))?;
                ran += 1;
            }
        }
    }
    println!("{ran} results");
    assert!(ran >= 1000, "{ran} cases ran");
    Ok(())
}

/// The gradients of a weighted sum of a result, of the memory that the tensors are views of.
fn gradients(
    run: &dyn Fn(&[Tensor]) -> Result<Tensor>,
    bases: &[Tensor],
    lies: &[common::Lies],
    shapes: &[Vec<usize>],
) -> Result<Vec<Tensor>> {
    let bases: Vec<Var> = bases.iter().map(|base| Var::from_tensor(&base.copy()?)).collect::<Result<_>>()?;
    let of = bases.iter().zip(lies).zip(shapes).map(|((base, lies), shape)| lies.of(base, shape));
    let y = run(&of.collect::<Result<Vec<_>>>()?)?.to_dtype(DType::F32)?;
    let weights = Random::new(77).tensor(y.dims(), DType::F32)?;
    let gradients = (y * weights)?.sum_all()?.backward()?;
    let of = |base: &Var| gradients.get(base).cloned().ok_or_else(|| candle_core::Error::msg("it has a gradient"));
    bases.iter().map(of).collect()
}

#[test]
fn gradients_are_candles() -> Result<()> {
    let (mut random, mut ran) = (Random::new(2), 0);
    for case in cases() {
        for i in 0..count(&case) {
            // Half precisions over a part of the layouts: the layout is the same code for all.
            let dtypes: &[DType] = if i % 6 == 0 { &[DType::F32, DType::F16, DType::BF16] } else { &[DType::F32] };
            for &dtype in dtypes {
                let lies = lies(&case, i);
                let bases: Vec<Tensor> = lies
                    .iter()
                    .zip(&case.shapes)
                    .map(|(lies, shape)| random.tensor(&lies.base(shape), dtype))
                    .collect::<Result<_>>()?;
                let single = bases.iter().map(|x| x.to_dtype(DType::F32)).collect::<Result<Vec<_>>>()?;
                let ours = gradients(&case.ours, &bases, &lies, &case.shapes)?;
                let theirs = gradients(&case.theirs, &single, &lies, &case.shapes)?;
                for (k, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
                    let what = format!("gradient {k} of {} of {dtype:?}, {lies:?}", case.name);
                    // The gradient of an element that is repeated is a sum of rounded ones, which may cancel.
                    let repeats = case.shapes[k].iter().product::<usize>() as f32 / ours.elem_count() as f32;
                    assert_near(&what, ours, theirs, 3.0 * tolerance(dtype) * repeats.sqrt().max(1.0))?;
                }
                ran += 1;
            }
        }
    }
    println!("{ran} gradients");
    assert!(ran >= 500, "{ran} cases ran");
    Ok(())
}
