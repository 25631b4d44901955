//! Strides are true: random index arithmetic over matrices, every stride checked against the numbers themselves.

use std::borrow::Cow;
use triton_core::analysis::stride::analyse;
use triton_core::entity::Entity;
use triton_core::interp::evaluate;
use triton_core::ir::{Function, Value};
use triton_core::metadata::Promised;
use triton_core::ops::Op;
use triton_core::ops::kinds::BinaryKind;
use triton_core::span::Span;
use triton_core::types::{Constant, DType, Shape, Type};
use triton_tests::numbers::Random;

/// Rows and columns, parameters, constants, and what arithmetic makes of them.
fn function(random: &mut Random) -> Function {
    let square = Shape::new(&[8, 8]).unwrap();
    let mut func = Function::new("f", 1);
    let input = func.add_param("n", Type::scalar(DType::I64), 1, Promised::Divisible);
    let body = func.body;
    let mut add = |op| func.append(body, op, Span::NONE).unwrap().unwrap();
    let mut pool = vec![add(Op::Splat { x: input, shape: square })];
    for extents in [[8, 1], [1, 8]] {
        let range = add(Op::Arange { start: 3, end: 11 });
        let range = add(Op::Cast { x: range, to: DType::I64 });
        let line = add(Op::Reshape { x: range, shape: Shape::new(&extents).unwrap() });
        pool.push(add(Op::Broadcast { x: line, shape: square }));
    }
    for number in [1, 1 + random.below(40)] {
        let x = add(Op::Const { value: Constant::int(DType::I64, number as i128) });
        pool.push(add(Op::Splat { x, shape: square }));
    }
    use BinaryKind as B;
    for _ in 0..6 {
        let (a, b) = (pool[random.below(pool.len())], pool[random.below(pool.len())]);
        let kind = [B::Add, B::Add, B::Sub, B::Mul, B::Mul, B::Max, B::Xor][random.below(7)];
        let next = match random.below(6) {
            0 => add(Op::Permute { x: a, order: Shape::new(&[1, 0]).unwrap() }),
            1 => {
                let flat = add(Op::Reshape { x: a, shape: Shape::new(&[64]).unwrap() });
                add(Op::Reshape { x: flat, shape: square })
            }
            2 => {
                let x = add(Op::Join { a, b });
                add(Op::Split { x, index: random.below(2) as u32 })
            }
            _ => add(Op::Binary { kind, a, b }),
        };
        pool.push(next);
    }
    func
}

#[test]
fn strides_hold_for_random_index_arithmetic() {
    let mut random = Random::new(5);
    let mut known = 0;
    for case in 0..2000 {
        let func = function(&mut random);
        let strides = analyse(&func);
        let mut values: Vec<Option<Vec<u64>>> = vec![None; func.types.len()];
        values[func.params[0].value.index()] = Some(vec![random.below(1000) as u64]);
        for (_, inst) in func.block(func.body) {
            let operand = |v: Value| values[v.index()].clone().map(Cow::Owned);
            let result = inst.results[0];
            values[result.index()] = evaluate(&func, &inst.op, Some(result), &operand).and_then(Result::ok);
        }
        for value in func.types.keys() {
            let shape = func.ty(value).shape;
            let Some(numbers) = &values[value.index()] else { continue };
            for (d, &extent) in shape.dims().iter().enumerate() {
                let step: u32 = shape.dims()[d + 1..].iter().product();
                let Some(stride) = strides[value].along(d).filter(|_| extent > 1) else { continue };
                known += usize::from(stride != 0);
                for i in (0..shape.elements() as u32 - step).filter(|i| i / step % extent + 1 < extent) {
                    let difference = numbers[(i + step) as usize].wrapping_sub(numbers[i as usize]) as i64;
                    assert_eq!(difference, stride, "case {case}: {value} along {d} at {i}");
                }
                let contiguous = strides[value].contiguous(shape);
                assert!(stride != 1 || contiguous.is_some(), "case {case}: {value}");
            }
        }
    }
    assert!(known > 4000, "the cases say too little: {known}");
}
