//! Launches over views, of buffers and of memory of others: what the driver is given, and in which order.

use super::{id, log};
use crate::support::{image, kernel, launch_of, param};
use triton_ir::metadata::{ParamType, Specialization};
use triton_ir::types::DType;
use triton_runtime::{Buffer, Device, Error, LaunchArg, Result, Stream, View};

/// Views become parameters in a row, and their buffers are ordered as pointers' are.
pub fn views() -> Result<()> {
    let device = Device::cuda(0)?;
    let (a, b) = (device.stream()?, device.stream()?);
    let (ia, ib) = (id(&a), id(&b));
    let kernel = |mutable| {
        let params = vec![
            param("x", ParamType::Tensor { dtype: DType::F32, rank: 2, mutable }, 1),
            param("n", ParamType::Scalar(DType::I32), 1),
        ];
        kernel("v", params, vec![image("v", "v\0", Specialization::Generic, 32)])
    };
    let (reads, writes) = (kernel(false), kernel(true));
    let mut x = a.zeros::<f32>(100)?;
    for (k, view) in [(reads, x.view([3, 4])?), (writes, x.view([3, 4])?)] {
        let result = launch_of(k, [LaunchArg::tensor(view), LaunchArg::scalar(-7)]).launch(&a, 1);
        assert_eq!(result.is_ok(), std::ptr::eq(k, reads), "{result:?}");
    }
    launch_of(writes, [LaunchArg::tensor_mut(x.view_mut([3, 4])?), LaunchArg::scalar(0)]).launch(&a, 1)?;
    log();

    let read = |x: &Buffer<f32>, stream: &Stream| {
        let window = x.view([5, 6])?.with_strides([10, 1])?.with_offset(13)?.transpose();
        launch_of(reads, [LaunchArg::tensor(window), LaunchArg::scalar(-7)]).launch(stream, 1)
    };
    let launched = |stream| format!("launch [6, 5] [1, 10] -7 on {stream}");
    read(&x, &a)?;
    assert_eq!(log(), [launched(ia)]);
    read(&x, &b)?;
    assert_eq!(
        log(),
        [format!("record on {ia}"), format!("wait on {ib}"), launched(ib)],
        "a reader waits for the writer"
    );
    // Memory of another library is in no order of ours; its address is asked for where the view is made.
    #[allow(unsafe_code, reason = "what is tested")]
    // SAFETY: the fake library does not access the memory.
    let foreign = |device, address| unsafe { View::<f32, 2>::from_raw_parts(device, address, 30, [5, 6], [6, 1]) };
    let (first, second) = (Device::cuda(0)?, Device::cuda(1)?);
    launch_of(reads, [LaunchArg::tensor(foreign(&first, 0x3_0000)?), LaunchArg::scalar(-7)]).launch(&a, 1)?;
    assert_eq!(log(), [format!("launch [5, 6] [6, 1] -7 on {ia}")]);
    for (device, address, text) in [
        (&first, 0x1_0000, "the address is memory of CUDA device 1"),
        (&first, 0x2_0000, "the driver does not know the address"),
        (&second, 0x3_0000, "the address is memory of CUDA device 0"),
    ] {
        let error = foreign(device, address).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
    let other = foreign(&second, 0x1_0000)?;
    let error = launch_of(reads, [LaunchArg::tensor(other), LaunchArg::scalar(-7)]).launch(&a, 1).unwrap_err();
    assert!(matches!(&error, Error::WrongDevice { what, .. } if what == "argument `x` of `v`"), "{error}");

    let mut view = x.view_mut([100, 1])?;
    launch_of(writes, [LaunchArg::tensor_mut(&mut view), LaunchArg::scalar(1)]).launch(&a, 1)?;
    let waited = [format!("record on {ib}"), format!("wait on {ia}"), format!("launch [100, 1] [1, 1] 1 on {ia}")];
    assert_eq!(log(), waited, "a writer waits for the reader");

    let error = read(&x, &Device::cuda(1)?.stream()?).unwrap_err();
    assert!(matches!(&error, Error::WrongDevice { what, .. } if what == "argument `x` of `v`"), "{error}");
    Ok(())
}
