//! Axis facts are true: random index arithmetic, every fact checked against the numbers themselves.

use std::borrow::Cow;
use triton_core::analysis::axis::{AxisInfo, analyse, assumes_dividends};
use triton_core::analysis::interval::{Launch, keeps_dividends, signed_remainder};
use triton_core::entity::Entity;
use triton_core::interp::{check_hint, evaluate};
use triton_core::ir::{Function, InstData, Value};
use triton_core::metadata::{Arg, Promise, Promised, Specialization};
use triton_core::ops::Op;
use triton_core::ops::kinds::{BinaryKind, CompareKind, HintKind, UnaryKind};
use triton_core::span::Span;
use triton_core::types::{Constant, DType, Elem, Shape, Type};
use triton_tests::numbers::Random;

#[test]
fn facts_hold_for_random_index_arithmetic() {
    let mut random = Random::new(1);
    let (mut informative, mut assumed, mut hinted) = (0, 0, 0);
    for case in 0..4000 {
        let (func, inputs) = function(&mut random);
        for &promise in Specialization::ALL {
            let facts = analyse(&func, promise);
            for _ in 0..4 {
                let values = run(&func, &inputs, promise, &mut random);
                match keeps_hints(&func, &values) {
                    Some(true) => hinted += 1,
                    Some(false) => continue,
                    None => {}
                }
                let (has_negative, proven) = dividends(&func, &values);
                assert!(!(has_negative && proven), "case {case}: a launch takes a dividend for positive in\n{func}");
                assumed += usize::from(proven && assumes_dividends(&func, promise));
                // Such a launch takes code that assumes nothing.
                if has_negative && promise > Specialization::Generic {
                    continue;
                }
                for value in func.types.keys() {
                    let Some(numbers) = &values[value.index()] else { continue };
                    let fact = facts[value];
                    informative += usize::from(fact.contiguity > 1 || fact.constancy > 1);
                    check(&func, value, fact, numbers, case);
                }
            }
        }
    }
    assert!(informative > 10_000, "the cases say too little: {informative}");
    assert!(hinted > 1000, "the cases say too little of hints: {hinted}");
    assert!(assumed > 100, "the cases say too little of remainders: {assumed}");
}

/// A chain of operations on integers and pointers of 32 elements.
fn function(random: &mut Random) -> (Function, Vec<Value>) {
    let shape = Shape::new(&[32]).unwrap();
    let mut func = Function::new("f", 1);
    let dtype = random.pick(&[DType::I32, DType::I64, DType::U32]);
    let inputs: Vec<Value> =
        (0..2).map(|i| func.add_param(format!("n{i}"), Type::scalar(dtype), 1, Promised::unless(i == 1))).collect();
    let element = random.pick(&[DType::F16, DType::F32, DType::I8, DType::F64]);
    let pointer = Type { elem: Elem::Ptr { pointee: element, mutable: false }, shape: Shape::SCALAR };
    let pointer = func.add_param("p", pointer, 1, Promised::Divisible);
    let body = func.body;
    let mut add = |op| func.append(body, op, Span::NONE).unwrap().unwrap();
    let mut pool = Vec::new();
    for &x in &inputs {
        pool.push(add(Op::Splat { x, shape }));
    }
    for start in [0, random.pick(&[0, 4, 7, 32, 256])] {
        let range = add(Op::Arange { start, end: start + 32 });
        pool.push(add(Op::Cast { x: range, to: dtype }));
    }
    for _ in 0..3 {
        let value = Constant::int(dtype, random.pick(&[0, 1, 2, 3, 4, 8, 12, 16, 32, 64, 100]));
        let x = add(Op::Const { value });
        pool.push(add(Op::Splat { x, shape }));
    }
    use BinaryKind as B;
    let kinds =
        [B::Add, B::Add, B::Add, B::Sub, B::Mul, B::Div, B::Rem, B::Shl, B::Shr, B::And, B::Or, B::Xor, B::Min, B::Max];
    for _ in 0..6 {
        let (a, b) = (random.pick(&pool), random.pick(&pool));
        let next = match random.below(10) {
            9 => add(hint(a, random)),
            0 if dtype.is_signed() => add(Op::Unary { kind: UnaryKind::Neg, x: a }),
            1 => {
                let cond = add(Op::Compare { kind: random.pick(CompareKind::ALL), a, b });
                add(Op::Select { cond, a: random.pick(&pool), b: random.pick(&pool) })
            }
            2 => {
                let halves = [a, b].map(|x| {
                    let x = add(Op::Reshape { x, shape: Shape::new(&[16, 2]).unwrap() });
                    add(Op::Split { x, index: random.below(2) as u32 })
                });
                let x = add(Op::Join { a: halves[0], b: halves[1] });
                add(Op::Reshape { x, shape })
            }
            _ => add(Op::Binary { kind: random.pick(&kinds), a, b }),
        };
        pool.push(next);
        add(Op::Compare { kind: random.pick(CompareKind::ALL), a: random.pick(&pool), b: random.pick(&pool) });
    }
    let mut ptr = add(Op::Splat { x: pointer, shape });
    for _ in 0..2 {
        ptr = add(Op::Offset { ptr, index: random.pick(&pool) });
        if random.once_in(4) {
            ptr = add(hint(ptr, random));
        }
    }
    (func, inputs)
}

fn hint(x: Value, random: &mut Random) -> Op {
    let along = Shape::new(&[random.pick(&[2, 4, 8, 16, 32])]).unwrap();
    Op::Hint { kind: random.pick(HintKind::ALL), x, along }
}

/// Whether all hints hold of the numbers, if there are any.
fn keeps_hints(func: &Function, values: &[Option<Vec<u64>>]) -> Option<bool> {
    let kept = |(_, inst): (_, &InstData)| {
        let Op::Hint { kind, x, along } = inst.op else { return None };
        Some(values[x.index()].as_ref().is_none_or(|numbers| check_hint(kind, func.ty(x), numbers, along).is_ok()))
    };
    func.block(func.body).filter_map(kept).reduce(|a, b| a && b)
}

/// The numbers of every value that can be computed, for random arguments that keep the promises.
fn run(func: &Function, inputs: &[Value], promise: Specialization, random: &mut Random) -> Vec<Option<Vec<u64>>> {
    let mut values: Vec<Option<Vec<u64>>> = vec![None; func.types.len()];
    for param in &func.params {
        let ty = func.ty(param.value);
        values[param.value.index()] = Some(vec![match ty.elem {
            Elem::Num(dtype) => {
                let number = random.pick(&[0i128, 1, 5, 16, 48, 100, -16, -7, 1 << 20]);
                Constant::int(dtype, kept(param.promised.under(promise, ty.elem), number)).bits
            }
            Elem::Ptr { pointee, .. } => {
                let offset = i128::from(pointee.bytes()) * random.below(9) as i128;
                16_000 + kept(param.promised.under(promise, ty.elem), offset) as u64
            }
        }]);
    }
    assert_eq!(inputs.len(), 2);
    for (_, inst) in func.block(func.body) {
        let operand = |v: Value| values[v.index()].clone().map(Cow::Owned);
        let result = inst.results[0];
        values[result.index()] = evaluate(func, &inst.op, Some(result), &operand).and_then(Result::ok);
    }
    values
}

/// Whether a remainder of tiles of signed integers has a negative dividend, and whether a launch can prove that none has.
fn dividends(func: &Function, values: &[Option<Vec<u64>>]) -> (bool, bool) {
    let is_negative = |a: Value| {
        let dtype = func.ty(a).elem.num().unwrap();
        let number = |&bits: &u64| Constant { dtype, bits }.as_int().unwrap();
        values[a.index()].iter().flatten().any(|bits| number(bits) < 0)
    };
    let of_inst = |inst| signed_remainder(func, &func.insts[inst]).is_some_and(is_negative);
    let args: Vec<Arg> =
        func.params.iter().map(|param| Arg::Scalar(values[param.value.index()].as_ref().unwrap()[0])).collect();
    (func.walk().into_iter().any(of_inst), keeps_dividends(func, Launch { args: &args, programs: [1; 3] }))
}

/// A number that keeps a promise.
fn kept(promise: Promise, number: i128) -> i128 {
    match promise {
        Promise::One => 1,
        Promise::Multiple(n) => number * i128::from(n),
    }
}

fn check(func: &Function, value: Value, fact: AxisInfo, bits: &[u64], case: usize) {
    let ty = func.ty(value);
    let (scale, dtype) = match ty.elem {
        Elem::Num(dtype) => (1, dtype),
        Elem::Ptr { pointee, .. } => (i128::from(pointee.bytes()), DType::I64),
    };
    let numbers: Vec<i128> = bits.iter().map(|&bits| Constant { dtype, bits }.as_int().unwrap()).collect();
    let context = || format!("case {case}: {value} has {fact:?}, but is {numbers:?} in\n{func}");
    for run in numbers.chunks(fact.contiguity as usize) {
        assert!(run.windows(2).all(|w| (w[1] - w[0] - scale) % (scale << 32) == 0), "contiguity: {}", context());
        assert!(run[0] % i128::from(fact.divisibility) == 0, "divisibility: {}", context());
    }
    for run in numbers.chunks(fact.constancy as usize) {
        assert!(run.windows(2).all(|w| w[1] == w[0]), "constancy: {}", context());
    }
    for run in numbers.chunks(fact.prefix as usize).filter(|run| run.len() > 1) {
        assert_eq!(dtype, DType::Bool, "a prefix: {}", context());
        assert!(run.windows(2).all(|w| w[1] <= w[0]), "prefix: {}", context());
    }
    if let Some(constant) = fact.constant {
        assert!(numbers.iter().all(|&n| n == constant), "constant: {}", context());
    }
}
