//! Launches that are made again: what was kept of an earlier one is never taken for another.

use super::{id, log};
use crate::support::{image, kernel, launch_of, param};
use triton_ir::metadata::{ParamType, Specialization};
use triton_ir::types::DType;
use triton_runtime::{Buffer, Device, Error, LaunchArg, Result, Stream};

/// Every launch but the first two of the same arguments is a kept one. All of them tell the driver what they were asked for.
pub fn prepared() -> Result<()> {
    let device = Device::cuda(0)?;
    let (a, b) = (device.stream()?, device.stream()?);
    let params = || {
        vec![
            param("x", ParamType::Tensor { dtype: DType::F32, rank: 2, mutable: false }, 1),
            param("n", ParamType::Scalar(DType::I32), 1),
        ]
    };
    let reads = kernel("v", params(), vec![image("v", "v\0", Specialization::Generic, 32)]);
    let (x, y) = (a.zeros::<f32>(100)?, a.zeros::<f32>(100)?);
    let read = |x: &Buffer<f32>, [rows, columns]: [usize; 2], n: i32, stream: &Stream, grid: i32| {
        let view = x.view([rows, columns])?;
        launch_of(reads, [LaunchArg::tensor(view), LaunchArg::scalar(n)]).launch(stream, grid)
    };
    let launched = |[rows, columns]: [usize; 2], n: i32, stream: usize| {
        format!("launch [{rows}, {columns}] [{columns}, 1] {n} on {stream}")
    };
    read(&x, [5, 6], 1, &a, 1)?;
    log();
    // Arguments that differ in one thing each: what one word is, the buffer, the grid.
    for round in 0..6 {
        for (buffer, shape, n) in [(&x, [5, 6], 1), (&x, [5, 6], -1), (&x, [6, 5], 1), (&y, [5, 6], 1)] {
            for grid in [1, 2] {
                read(buffer, shape, n, &a, grid)?;
                assert_eq!(log(), [launched(shape, n, id(&a))], "{round}");
            }
        }
        // A grid without programs launches nothing, whatever is kept.
        read(&x, [5, 6], 1, &a, 0)?;
        assert!(log().is_empty());
    }
    // A kept launch waits for the writer as any other.
    for round in 0..4 {
        read(&x, [5, 6], 1, &b, 1)?;
        let all = log();
        assert_eq!(all.last(), Some(&launched([5, 6], 1, id(&b))));
        assert_eq!(all.len(), if round == 0 { 3 } else { 1 }, "{all:?}");
    }
    // Of more launches than are kept.
    for _ in 0..3 {
        for n in 0..200 {
            read(&x, [5, 6], n, &a, 1)?;
            assert_eq!(log(), [launched([5, 6], n, id(&a))]);
        }
    }
    let other = Device::cuda(1)?.stream()?;
    for _ in 0..3 {
        let error = read(&x, [5, 6], 1, &other, 1).unwrap_err();
        assert!(matches!(&error, Error::WrongDevice { what, .. } if what == "argument `x` of `v`"), "{error}");
    }
    // What is wrong stays wrong, though its words are those of a kept launch.
    let word = LaunchArg::scalar(1u32);
    for _ in 0..3 {
        read(&x, [5, 6], 1, &a, 1)?;
    }
    let view = LaunchArg::tensor(x.view([5, 6])?);
    let error = launch_of(reads, [view, word]).launch(&a, 1).unwrap_err();
    assert!(matches!(error, Error::Argument { index: 1, .. }), "{error}");
    Ok(())
}
