//! Mistakes that a GPU does not detect: the CPU device and the simulator report them.

use triton::prelude::*;

#[triton::kernel]
fn steps(out: TensorMut<i32, 1>, step: i32) {
    let mut count = 0;
    for _ in (0..10).step_by(step) {
        count += 1;
    }
    out.store([0], full([1], count));
}

#[triton::kernel(T = [i8, i16, i32, i64])]
fn divide<T: Int>(out: TensorMut<T, 1>, a: T, b: T) {
    out.store([0], full([1], a / b));
    out.store([1], full([1], a % b));
}

#[test]
fn mistakes_that_a_gpu_does_not_notice_are_reported() -> triton::Result<()> {
    for device in [Device::cpu(), Device::sim()] {
        let stream = device.stream()?;
        let mut out = stream.zeros::<i32>(2)?;
        for (step, count) in [(1, Some(10)), (3, Some(4)), (0, None), (-1, None)] {
            let launched = steps(out.view_mut([2])?, step).launch(&stream, 1).and(stream.synchronize());
            assert_eq!(launched.is_ok(), count.is_some(), "{device}, a step of {step}: {launched:?}");
            if let Some(count) = count {
                assert_eq!(stream.download(&out)?[0], count, "{device}");
            }
        }
        let mut bytes = stream.zeros::<i8>(2)?;
        for (a, b) in [(-128, 1), (-127, -1), (127, -128), (-1, 2), (7, -2), (-128, -128)] {
            divide(bytes.view_mut([2])?, a, b).launch(&stream, 1)?;
            assert_eq!(stream.download(&bytes)?, [a / b, a % b], "{device}, {a} and {b}");
        }
        let error = divide(bytes.view_mut([2])?, i8::MIN, -1).launch(&stream, 1).and(stream.synchronize());
        assert!(error.is_err(), "{device}");
        let error = divide(out.view_mut([2])?, i32::MIN, -1).launch(&stream, 1).and(stream.synchronize());
        assert!(error.is_err(), "{device}");
    }
    Ok(())
}
