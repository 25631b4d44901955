//! What hints promise of integers and pointers, and what is said of one that does not hold.

use triton_core::interp::check_hint;
use triton_core::ops::kinds::HintKind;
use triton_core::types::{DType, Elem, Shape, Type};

/// A kind, the elements in rows, and what is promised along each axis.
type Promise = (HintKind, Elem, &'static [&'static [i64]], &'static [u32]);

/// The message, or none.
fn found((kind, elem, rows, along): Promise) -> Result<(), String> {
    let elements: Vec<u64> = rows.iter().copied().flatten().map(|&n| n as u32 as u64).collect();
    let shape = match rows {
        [row] if row.len() == 1 => Shape::SCALAR,
        [row] => Shape::new(&[row.len() as u32]).unwrap(),
        _ => Shape::new(&[rows.len() as u32, rows[0].len() as u32]).unwrap(),
    };
    check_hint(kind, Type { elem, shape }, &elements, Shape::new(along).unwrap())
}

#[test]
fn promises_hold_or_are_reported() {
    use HintKind::{MaxConstancy, MaxContiguous, MultipleOf};
    let int = Elem::Num(DType::I32);
    let half = Elem::Ptr { pointee: DType::F16, mutable: false };
    let good: &[Promise] = &[
        (MultipleOf, int, &[&[48]], &[16]),
        (MultipleOf, int, &[&[-16]], &[16]),
        // Runs, equal numbers, and what is neither.
        (MultipleOf, int, &[&[8, 9, 10, 11]], &[4]),
        (MultipleOf, int, &[&[8, 8, 8, 8]], &[4]),
        (MultipleOf, int, &[&[3, 5, 1, 1]], &[4]),
        // Eight bytes of four neighbours.
        (MultipleOf, half, &[&[16, 18, 20, 22]], &[8]),
        (MultipleOf, half, &[&[16, 18], &[40, 42]], &[4, 4]),
        (MaxContiguous, int, &[&[5, 6, 1, 2]], &[2]),
        (MaxContiguous, int, &[&[2_147_483_647, -2_147_483_648]], &[2]),
        (MaxContiguous, half, &[&[6, 8, 10, 12]], &[4]),
        (MaxContiguous, int, &[&[1, 7], &[2, 8]], &[2, 1]),
        (MaxConstancy, int, &[&[5, 5, 1, 1]], &[2]),
        (MaxConstancy, int, &[&[1, 7], &[1, 7]], &[2, 1]),
    ];
    for &promise in good {
        assert_eq!(found(promise), Ok(()), "{promise:?}");
    }
    let broken: &[(Promise, &str)] = &[
        (
            (MultipleOf, int, &[&[40]], &[16]),
            "`multiple_of` promises 16 along axis 0, but the number is 40, which it does not divide",
        ),
        (
            (MultipleOf, int, &[&[4, 5, 6, 7]], &[8]),
            "`multiple_of` promises 8 along axis 0, but element [0] is 4, which it does not divide",
        ),
        (
            (MultipleOf, half, &[&[16, 18], &[42, 44]], &[1, 4]),
            "`multiple_of` promises 4 along axis 1, but element [1, 0] is 42, which it does not divide",
        ),
        (
            (MaxContiguous, int, &[&[5, 6, 1, 3]], &[2]),
            "`max_contiguous` promises 2 along axis 0, but element [3] is 3, after 1",
        ),
        (
            (MaxContiguous, half, &[&[6, 7]], &[2]),
            "`max_contiguous` promises 2 along axis 0, but element [1] is 7, after 6",
        ),
        (
            (MaxContiguous, int, &[&[1, 7], &[3, 8]], &[2, 1]),
            "`max_contiguous` promises 2 along axis 0, but element [1, 0] is 3, after 1",
        ),
        (
            (MaxConstancy, int, &[&[5, 5, 1, 0]], &[2]),
            "`max_constancy` promises 2 along axis 0, but element [3] is 0, after 1",
        ),
    ];
    for &(promise, message) in broken {
        assert_eq!(found(promise).unwrap_err(), message);
    }
}
