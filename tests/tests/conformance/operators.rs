//! Operators, and the functions whose results are exact.

/// `+ - * / %`, bits, shifts and comparisons of integers.
pub mod integers {
    crate::elementwise::elementwise! {
        op add Num [i8 i16 i32 i64 u8 u16 u32 u64] -> T, |a, b| a + b, reference::integers(|a, b| a + b);
        op sub Num [i8 i16 i32 i64 u8 u16 u32 u64] -> T, |a, b| a - b, reference::integers(|a, b| a - b);
        op mul Num [i8 i16 i32 i64 u8 u16 u32 u64] -> T, |a, b| a * b, reference::integers(i128::wrapping_mul);
        // Elements past the end are 0, by which nothing divides.
        op div Num [i8 i16 i32 i64 u8 u16 u32 u64] -> T, |a, b| a / select(b == 0, 1, b), reference::integers(|a, b| a / b), inputs::divides;
        op rem Num [i8 i16 i32 i64 u8 u16 u32 u64] -> T, |a, b| a % select(b == 0, 1, b), reference::integers(|a, b| a % b), inputs::divides;
        op neg Num [i8 i16 i32 i64] -> T, |a| -a, reference::integers(|a, _| -a);
        op not Int [i8 i16 i32 i64 u8 u16 u32 u64] -> T, |a| !a, reference::bits(|a, _| !a);
        op and Int [i8 i16 i32 i64 u8 u16 u32 u64] -> T, |a, b| a & b, reference::bits(|a, b| a & b);
        op or Int [i8 i16 i32 i64 u8 u16 u32 u64] -> T, |a, b| a | b, reference::bits(|a, b| a | b);
        op xor Int [i8 i16 i32 i64 u8 u16 u32 u64] -> T, |a, b| a ^ b, reference::bits(|a, b| a ^ b);
        op shl Int [i8 i16 i32 i64 u8 u16 u32 u64] -> T, |a, b| a << b, reference::shifts(|a, amount| if amount < 64 { a << amount } else { 0 });
        op shr Int [i8 i16 i32 i64 u8 u16 u32 u64] -> T, |a, b| a >> b, reference::shifts(|a, amount| a >> amount);
        op eq Num [i8 i16 i32 i64 u8 u16 u32 u64] -> bool, |a, b| a == b, reference::ordered(|o| o.is_some_and(|o| o.is_eq()));
        op ne Num [i8 i16 i32 i64 u8 u16 u32 u64] -> bool, |a, b| a != b, reference::ordered(|o| o.is_none_or(|o| o.is_ne()));
        op lt Num [i8 i16 i32 i64 u8 u16 u32 u64] -> bool, |a, b| a < b, reference::ordered(|o| o.is_some_and(|o| o.is_lt()));
        op le Num [i8 i16 i32 i64 u8 u16 u32 u64] -> bool, |a, b| a <= b, reference::ordered(|o| o.is_some_and(|o| o.is_le()));
        op gt Num [i8 i16 i32 i64 u8 u16 u32 u64] -> bool, |a, b| a > b, reference::ordered(|o| o.is_some_and(|o| o.is_gt()));
        op ge Num [i8 i16 i32 i64 u8 u16 u32 u64] -> bool, |a, b| a >= b, reference::ordered(|o| o.is_some_and(|o| o.is_ge()));
        fn minimum Num [i8 i16 i32 i64 u8 u16 u32 u64] -> T, |a, b| minimum(a, b), reference::one_of(reference::lesser);
        fn maximum Num [i8 i16 i32 i64 u8 u16 u32 u64] -> T, |a, b| maximum(a, b), reference::one_of(reference::greater);
        fn mul_hi Num [i8 i16 i32 i64 u8 u16 u32 u64] -> T, |a, b| mul_hi(a, b), reference::upper_half();
        fn abs Num [i8 i16 i32 i64] -> T, |a| abs(a), reference::integers(|a, _| a.abs());
    }
}

/// Operators of floats, and the functions that IEEE defines.
pub mod floats {
    crate::elementwise::elementwise! {
        op add Float [f16 bf16 f32 f64] -> T, |a, b| a + b, reference::floats(|[a, b, _]| a + b);
        op sub Float [f16 bf16 f32 f64] -> T, |a, b| a - b, reference::floats(|[a, b, _]| a + -b);
        op mul Float [f16 bf16 f32 f64] -> T, |a, b| a * b, reference::floats(|[a, b, _]| a * b);
        op div Float [f16 bf16 f32 f64] -> T, |a, b| a / b, reference::floats(|[a, b, _]| a / b);
        op neg Float [f16 bf16 f32 f64] -> T, |a| -a, reference::floats(|[a, _, _]| -a);
        op eq Float [f16 bf16 f32 f64] -> bool, |a, b| a == b, reference::ordered(|o| o.is_some_and(|o| o.is_eq()));
        op ne Float [f16 bf16 f32 f64] -> bool, |a, b| a != b, reference::ordered(|o| o.is_none_or(|o| o.is_ne()));
        op lt Float [f16 bf16 f32 f64] -> bool, |a, b| a < b, reference::ordered(|o| o.is_some_and(|o| o.is_lt()));
        op le Float [f16 bf16 f32 f64] -> bool, |a, b| a <= b, reference::ordered(|o| o.is_some_and(|o| o.is_le()));
        op gt Float [f16 bf16 f32 f64] -> bool, |a, b| a > b, reference::ordered(|o| o.is_some_and(|o| o.is_gt()));
        op ge Float [f16 bf16 f32 f64] -> bool, |a, b| a >= b, reference::ordered(|o| o.is_some_and(|o| o.is_ge()));
        fn minimum Float [f16 bf16 f32 f64] -> T, |a, b| minimum(a, b), reference::one_of(reference::lesser);
        fn maximum Float [f16 bf16 f32 f64] -> T, |a, b| maximum(a, b), reference::one_of(reference::greater);
        fn abs Float [f16 bf16 f32 f64] -> T, |a| abs(a), reference::exactly(f64::abs);
        fn sqrt Float [f16 bf16 f32 f64] -> T, |a| sqrt(a), reference::floats(|[a, _, _]| a.sqrt());
        fn fma Float [f16 bf16 f32 f64] -> T, |a, b, c| fma(a, b, c), reference::floats(|[a, b, c]| a * b + c);
    }
}

/// Operators of `bool`.
pub mod bools {
    use triton::lang::Bitwise;
    crate::elementwise::elementwise! {
        op not Bitwise [bool] -> T, |a| !a, reference::bits(|a, _| !a);
        op and Bitwise [bool] -> T, |a, b| a & b, reference::bits(|a, b| a & b);
        op or Bitwise [bool] -> T, |a, b| a | b, reference::bits(|a, b| a | b);
        op xor Bitwise [bool] -> T, |a, b| a ^ b, reference::bits(|a, b| a ^ b);
        op eq Bitwise [bool] -> bool, |a, b| a == b, reference::bits(|a, b| !(a ^ b));
        op ne Bitwise [bool] -> bool, |a, b| a != b, reference::bits(|a, b| a ^ b);
    }
}

/// Choosing between elements of any type.
pub mod choice {
    use triton::Element;
    crate::elementwise::elementwise! {
        fn select Element [bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64] -> T, |a, b, c| select(a != c, a, b),
            |dtype, [a, b, c]: [u64; 3]| reference::chosen(reference::order(dtype, a, c).is_none_or(|o| o.is_ne()), a, b);
        fn clamp Num [i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64] -> T, |x, lo, hi| clamp(x, lo, hi),
            reference::one_of_three(|dtype, [x, lo, hi]| reference::lesser(dtype, reference::greater(dtype, x, lo), hi));
    }
}
