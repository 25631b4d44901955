//! What Rust programmers write without thinking: stray semicolons, attributes on statements, tuples.
#![allow(redundant_semicolons, reason = "that they build is the point")]
#![allow(unsafe_code, reason = "kernels over raw pointers")]

use triton::prelude::*;

#[triton::kernel]
#[rustfmt::skip]
fn statements(out: TensorMut<i32, 1>, n: i32) {
    ;
    {
        ;
    }
    let (mut a, mut b) = if n > 0 { (n, 1) } else { (-n, 2) };
    (a, b) = (b, a);;
    let mut c = 0;
    (c, _) = (c + a, b);
    #[allow(unused_variables)]
    let unused = 3;
    #[cfg(any())]
    let a = nothing_of_this_exists(a);
    #[cfg(all())]
    {
        c += 100;
    }
    #[cfg(not(all()))]
    if c > 0 {
        return;
    }
    const SCALE: i32 = if 1 > 0 { 10 } else { 20 };
    out.store([0], full([1], a));
    out.store([1], full([1], b));
    out.store([2], full([1], c));
    out.store([3], full([1], SCALE));
}

#[triton::function]
fn swapped<T: Num>(pair: (T, T)) -> (T, T) {
    #[cfg(any())]
    let pair = 1;
    let (mut a, mut b) = pair;
    (a, b) = (b, a);
    (a, b)
}

#[triton::kernel(T = [u8, i8, u16, i16, u64])]
fn offsets<T: Int>(index: Ptr<T>, out: PtrMut<i32>) {
    let i = load(index + arange(0, 4), true);
    store(out + i, arange(0, 4), true);
    let (first, second) = swapped((load(index, true), load(index + 1, true)));
    println!("{first} {{}} {}", second);
    store(out + first + second, 9, true);
}

#[triton::kernel(T = [f32, f16, i8, u64])]
fn constants<T: Num>(out: TensorMut<T, 1>) {
    out.store([0], full([1], T::ZERO));
    out.store([1], full([1], T::ONE + T::ONE));
    out.store([2], full([1], T::MAX));
    out.store([3], full([1], T::MIN));
}

#[triton::kernel(T = [f32, bf16])]
fn floats<T: Float>(out: TensorMut<T, 1>) {
    let largest = max(full::<T>([4], T::NEG_INFINITY));
    out.store([0], full([1], maximum(largest, T::ONE)));
    out.store([1], full([1], T::INFINITY));
}

macro_rules! of_type {
    ($name:ident, $ty:ty, $size:literal, $more:expr) => {
        #[triton::kernel(T = [$ty], N = [$size, $more])]
        fn $name<T: Num, const N: i32>(out: PtrMut<T>) {
            store(out + arange(0, N), full([N], T::ONE), true);
        }
    };
}

of_type!(ones, f32, 4, 8);

pub(crate) fn main() -> triton::Result<()> {
    for device in [Device::cpu(), Device::sim()] {
        let stream = device.stream()?;
        let mut out = stream.zeros::<i32>(4)?;
        for (n, expected) in [(5, [1, 5, 101, 10]), (-7, [2, 7, 102, 10])] {
            statements(out.view_mut([4])?, n).launch(&stream, 1)?;
            assert_eq!(stream.download(&out)?, expected, "{device}");
        }
        let index = stream.upload(&[3u8, 0, 1, 2])?;
        // SAFETY: every index, and the sum of the first two, is below 4.
        unsafe { offsets(&index, &mut out).launch(&stream, 1)? };
        assert_eq!(stream.download(&out)?, [1, 2, 3, 9], "{device}");
        let mut bytes = stream.zeros::<i8>(4)?;
        constants(bytes.view_mut([4])?).launch(&stream, 1)?;
        assert_eq!(stream.download(&bytes)?, [0, 2, 127, -128], "{device}");
        let mut out = stream.zeros::<f32>(8)?;
        constants(out.view_mut([8])?).launch(&stream, 1)?;
        assert_eq!(stream.download(&out)?[..4], [0.0, 2.0, f32::MAX, f32::MIN], "{device}");
        floats(out.view_mut([8])?).launch(&stream, 1)?;
        assert_eq!(stream.download(&out)?[..2], [1.0, f32::INFINITY], "{device}");
        // SAFETY: `out` has 8 elements.
        unsafe { ones::<f32, 8>(&mut out).launch(&stream, 1)? };
        assert_eq!(stream.download(&out)?, [1.0; 8]);
    }
    Ok(())
}
