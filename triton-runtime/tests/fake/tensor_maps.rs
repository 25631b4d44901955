//! Which tensor maps a launch passes, when they are encoded, and which views have none.

use super::{id, log};
use crate::support::{image, kernel, launch_of, made_of, param};
use triton_ir::metadata::{
    Config, Image, KernelMetadata, MapElements, MapSwizzle, ParamMetadata, ParamType, Specialization, Target, TensorMap,
};
use triton_ir::types::DType;
use triton_runtime::{Buffer, ComputeCapability, Device, Error, Kernel, LaunchArg, Result, Stream};

fn params() -> Vec<ParamMetadata> {
    vec![
        param("x", ParamType::Tensor { dtype: DType::F32, rank: 2, mutable: false }, 1),
        param("y", ParamType::Tensor { dtype: DType::BF16, rank: 1, mutable: false }, 1),
        param("n", ParamType::Scalar(DType::I32), 1),
    ]
}

/// An image with a box of `y`, and then one of `x`; one for the same target without maps.
fn images(rows: u32) -> Vec<Image> {
    let target = |mut image: Image| {
        image.target = Target::Sm90a;
        image
    };
    let mut mapped = target(image("mapped", "m\0", Specialization::UnitStride, 64));
    let (y, x) = ([64, 1, 1, 1, 1], [rows, 32, 1, 1, 1]);
    mapped.tensor_maps = vec![
        TensorMap::new(1, y, MapSwizzle::None, MapElements::Bits),
        TensorMap::new(0, x, MapSwizzle::B128, MapElements::Bits),
    ]
    .into();
    vec![mapped, target(image("plain", "p\0", Specialization::Generic, 32))]
}

type Buffers = (Buffer<f32>, Buffer<half::bf16>);

fn launch(kernel: &'static Kernel, (x, y): &Buffers, shape: [usize; 2], offset: usize, stream: &Stream) -> Result<()> {
    let x = x.view(shape)?.with_offset(offset)?;
    launch_of(kernel, [LaunchArg::tensor(x), LaunchArg::tensor(y.view([100])?), LaunchArg::scalar(-7)])
        .launch(stream, 1)
}

pub fn tensor_maps() -> Result<()> {
    let device = Device::cuda(0)?;
    let stream = device.stream()?;
    let buffers: Buffers = (stream.zeros(1000)?, stream.zeros(100)?);
    let (x, y, on) = (buffers.0.address(), buffers.1.address(), id(&stream));
    let of_y = |address: u64| format!("encode 9 at {address}: [100] [] box [64] by [1], 0 0 2 0");
    let of_x =
        |address: u64, rows: usize| format!("encode 7 at {address}: [32, {rows}] [128] box [32, 8] by [1, 1], 0 3 2 0");
    let launched = |x: u64| format!("launch 64 n = -7, maps {y} {x} on {on}");
    let k = kernel("mapped", params(), images(8));
    let launch = |shape, offset| launch(k, &buffers, shape, offset, &stream);

    log();
    launch([20, 32], 0)?;
    assert_eq!(log()[2..], [of_y(y), of_x(x, 20), launched(x)]);
    launch([20, 32], 0)?;
    assert_eq!(log(), [launched(x)], "the same views");
    launch([20, 32], 4)?;
    assert_eq!(log(), [of_x(x + 16, 20), launched(x + 16)], "another address");
    launch([21, 32], 4)?;
    assert_eq!(log(), [of_x(x + 16, 21), launched(x + 16)], "another extent");
    launch([21, 32], 4)?;
    assert_eq!(log(), [launched(x + 16)]);

    // What no map describes.
    let plain = |result: Result<()>, what: &str| {
        result?;
        let launched = format!("launch 32 n = -7 on {on}");
        assert_eq!(log().last(), Some(&launched), "{what}");
        Ok::<_, Error>(())
    };
    plain(launch([20, 32], 1), "an address of 4 bytes")?;
    plain(launch([20, 33], 0), "a pitch of 132 bytes")?;
    plain(launch([0, 32], 0), "no elements")?;
    plain(launch([20, 0], 0), "no elements")?;
    launch([21, 32], 4)?;
    assert_eq!(log(), [launched(x + 16)], "it is still encoded");

    // Both are loaded ahead, and others launch the one without maps alone.
    let args = || -> Result<[LaunchArg<'_>; 3]> {
        let x = LaunchArg::tensor(buffers.0.view([20, 32])?);
        Ok([x, LaunchArg::tensor(buffers.1.view([100])?), LaunchArg::scalar(1)])
    };
    let loaded: Vec<_> = launch_of(k, args()?).load(&device)?.iter().map(|info| info.specialization).collect();
    assert_eq!(loaded, [Specialization::Generic, Specialization::UnitStride]);
    let image = launch_of(k, args()?).image(ComputeCapability::new(9, 0), None)?;
    assert_eq!((&*image.entry, image.tensor_maps.len()), ("plain", 0));

    // A box that the driver does not take is an error of the launch; more maps than a launch passes are none.
    let large = kernel("large", params(), images(512));
    let error = launch_of(large, args()?).launch(&stream, 1).unwrap_err();
    assert!(matches!(error, Error::Driver { call: "cuTensorMapEncodeTiled", code: 1, .. }), "{error}");
    let mut many = images(8);
    many[0].tensor_maps = vec![many[0].tensor_maps[0]; 40].into();
    let many = kernel("many", params(), many);
    launch_of(many, args()?).launch(&stream, 1)?;
    assert_eq!(log().last(), Some(&format!("launch 32 n = 1 on {on}")), "40 maps");
    Ok(())
}

/// The slot of assertions follows the maps.
pub fn reported_tensor_maps() -> Result<()> {
    let stream = Device::cuda(0)?.stream()?;
    let buffers: Buffers = (stream.zeros(1000)?, stream.zeros(100)?);
    let mut images = images(8);
    images[0].has_assert_buffer = true;
    let config = Config::new(1, "kernel k() warps 1 {\n}\n".into(), images.into());
    let k = made_of(KernelMetadata::new("k".into(), "k".into(), params().into(), vec![config].into()));
    log();
    launch(k, &buffers, [20, 32], 0, &stream)?;
    let launched = format!("launch 64 n = -7, maps {} {}, a slot", buffers.1.address(), buffers.0.address());
    assert_eq!(log().last(), Some(&format!("{launched} on {}", id(&stream))));
    Ok(())
}
