//! What lies outside a view: 0, or what `load_or` is given.

use super::devices;
use triton::prelude::*;

#[triton::kernel(T = [i32, u8, i64])]
fn quotients<T: Int>(a: Tensor<T, 1>, b: Tensor<T, 1>, out: TensorMut<T, 1>) {
    let i = program_id(0) * 64;
    out.store([i], a.load([i], [64]) / b.load_or([i], [64], 1));
}

/// The largest of each row, whose elements may all be negative.
#[triton::kernel]
fn row_maxima(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let i = program_id(0) * 4;
    out.store([i], max_axis(x.load_or([i, 0], [4, 16], f32::NEG_INFINITY), 1));
}

/// A tile as padding, and one that broadcasts.
#[triton::kernel]
fn indices(x: Tensor<i32, 2>, out: TensorMut<i32, 2>) {
    let j = arange(0, 8).expand_dims(0);
    out.store([0, 0], x.load_or([-1, -2], [4, 8], j));
}

#[triton::kernel]
fn fails(a: Tensor<i32, 2>, b: Tensor<i32, 2>, out: TensorMut<i32, 2>) {
    let divisor = b.load([0, 0], [8, 4]).to::<i64>().reshape([4, 8]);
    out.store([0, 0], (a.load([0, 0], [4, 8]).to::<i64>() / divisor).to::<i32>());
}

#[test]
fn a_view_is_padded() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let (a, b) = (stream.upload(&[7u8; 100])?, stream.upload(&[2u8; 100])?);
        let mut out = stream.zeros::<u8>(100)?;
        quotients(a.view([100])?, b.view([100])?, out.view_mut([100])?).launch(&stream, 2)?;
        assert_eq!(stream.download(&out)?, [3; 100], "{device}");

        let x = stream.upload(&(0..30).map(|i| -1.0 - i as f32).collect::<Vec<_>>())?;
        let mut largest = stream.zeros::<f32>(5)?;
        row_maxima(x.view([5, 6])?, largest.view_mut([5])?).launch(&stream, 2)?;
        assert_eq!(stream.download(&largest)?, [-1.0, -7.0, -13.0, -19.0, -25.0], "{device}");

        let x = stream.upload(&[10, 20, 30, 40])?;
        let mut out = stream.zeros::<i32>(32)?;
        indices(x.view([2, 2])?, out.view_mut([4, 8])?).launch(&stream, 1)?;
        let row = [0, 1, 2, 3, 4, 5, 6, 7];
        let rows = [row, [0, 1, 10, 20, 4, 5, 6, 7], [0, 1, 30, 40, 4, 5, 6, 7], row];
        assert_eq!(stream.download(&out)?, rows.concat(), "{device}");
    }
    Ok(())
}

#[test]
fn a_division_by_padding_says_so() -> triton::Result<()> {
    let stream = Device::cpu().stream()?;
    let x = stream.upload(&[1; 32])?;
    let mut out = stream.zeros::<i32>(32)?;
    let mut error = |divisor: Buffer<i32>, rows| {
        let launched = fails(x.view([4, 8])?, divisor.view([rows, 4])?, out.view_mut([4, 8])?).launch(&stream, 1);
        Ok::<_, triton::Error>(launched.and(stream.synchronize()).map_err(|e| e.to_string()))
    };
    let padding = error(stream.upload(&[1; 28])?, 7)?.unwrap_err();
    assert!(padding.contains("element 28: 1 is divided by 0, which is not in memory"), "{padding}");
    assert!(padding.contains("`load_or`"), "{padding}");
    let mut zero = [1; 32];
    zero[3] = 0;
    let data = error(stream.upload(&zero)?, 8)?.unwrap_err();
    assert!(data.contains("element 3: 1 is divided by 0") && !data.contains("not in memory"), "{data}");
    assert_eq!(error(stream.upload(&[1; 32])?, 8)?, Ok(()));
    Ok(())
}
