//! Views: shapes, strides and offsets, what is refused, what a kernel receives, and safe launches on the CPU.

use crate::support::copy::{call, copy, tensor};
use crate::support::{image, kernel, launch_of, made_of, param};
use triton_ir::metadata::{Arg, ParamType, Specialization};
use triton_runtime::{
    Buffer, ComputeCapability, Device, Error, Kernel, LaunchArg, Operand, Region, Result, Stream, View, ViewMut,
};

fn stream() -> Stream {
    Device::cpu().stream().expect("the CPU has streams")
}

fn buffer(len: usize) -> Buffer<f32> {
    stream().zeros(len).expect("memory")
}

const MAX: usize = i32::MAX as usize;

/// One dimension more than the extents of a view can count.
const MANY: usize = 1 << 31;

/// What a view is or why it is refused, in one line.
fn shown<const R: usize>(x: &Buffer<f32>, view: Result<View<'_, f32, R>>) -> String {
    match view {
        Err(error) => error.to_string(),
        Ok(v) => {
            let strides: Vec<isize> = (0..R).filter_map(|axis| v.stride(axis)).collect();
            assert_eq!(v.stride(R), None);
            assert_eq!(v.device(), x.device());
            format!("{:?} {strides:?} from {}", v.shape(), (v.address() - x.address()) / 4)
        }
    }
}

#[test]
fn shapes_strides_and_offsets() -> Result<()> {
    let x = buffer(24);
    let part = x.slice(4..16)?;
    let cases: &[(String, &str)] = &[
        (shown(&x, x.view([24])), "[24] [1] from 0"),
        (shown(&x, x.view([5])), "[5] [1] from 0"),
        (shown(&x, x.view([4, 6])), "[4, 6] [6, 1] from 0"),
        (shown(&x, x.view([2, 3, 4])), "[2, 3, 4] [12, 4, 1] from 0"),
        (shown(&x, x.view([1, 2, 1, 3, 4])), "[1, 2, 1, 3, 4] [24, 12, 12, 4, 1] from 0"),
        (shown(&x, x.view([24]).map(View::transpose)), "[24] [1] from 0"),
        (shown(&x, x.view([4, 6]).map(View::transpose)), "[6, 4] [1, 6] from 0"),
        (shown(&x, x.view([2, 3, 4]).map(View::transpose)), "[2, 4, 3] [12, 1, 4] from 0"),
        (shown(&x, x.view([2, 2])?.with_strides([6, 1])?.with_offset(7)?.with_offset(9)), "[2, 2] [6, 1] from 16"),
        (shown(&x, x.view([4, 6])?.with_strides([0, 1])), "[4, 6] [0, 1] from 0"),
        (shown(&x, x.view([4, 4])?.with_strides([1, 1])?.with_offset(17)), "[4, 4] [1, 1] from 17"),
        (
            shown(&x, x.view([1, 1])?.with_strides([isize::MAX, isize::MAX])),
            "[1, 1] [9223372036854775807, 9223372036854775807] from 0",
        ),
        (shown(&x, part.view([3, 4])), "[3, 4] [4, 1] from 4"),
        (shown(&x, part.view([2, 2])?.with_offset(8)), "[2, 2] [2, 1] from 12"),
        // Nothing is reachable, wherever it points.
        (shown(&x, x.view([0])), "[0] [1] from 0"),
        (shown(&x, x.view([0, 7])?.with_offset(24)), "[0, 7] [7, 1] from 24"),
        (shown(&x, x.view([MAX, 0])), "[2147483647, 0] [0, 1] from 0"),
        (shown(&x, x.view([0, 2])?.with_strides([5, 1000])), "[0, 2] [5, 1000] from 0"),
        (
            shown(&x, x.view([0, MAX, MAX, MAX, MAX])),
            "[0, 2147483647, 2147483647, 2147483647, 2147483647] \
             [9223372036854775807, 9223372036854775807, 4611686014132420609, 2147483647, 1] from 0",
        ),
        // Outside.
        (
            shown(&x, x.view([5, 5])),
            "a view [5, 5] with strides [5, 1] from element 0 on needs 25 elements, but there are 24; use smaller extents or \
             strides, or a larger buffer",
        ),
        (
            shown(&x, x.view([2, 2])?.with_strides([23, 1])),
            "a view [2, 2] with strides [23, 1] from element 0 on needs 25 elements, but there are 24; use smaller extents \
             or strides, or a larger buffer",
        ),
        (
            shown(&x, x.view([4, 6])?.with_offset(1)),
            "a view [4, 6] with strides [6, 1] from element 1 on needs 25 elements, but there are 24; use smaller extents or \
             strides, or a larger buffer",
        ),
        (
            shown(&x, part.view([4, 4])),
            "a view [4, 4] with strides [4, 1] from element 0 on needs 16 elements, but there are 12; use smaller extents or \
             strides, or a larger buffer",
        ),
        (
            shown(&x, x.view([0])?.with_offset(25)),
            "a view [0] with strides [1] from element 25 on needs 25 elements, but there are 24; use smaller extents or \
             strides, or a larger buffer",
        ),
        (
            shown(&x, x.view([MANY])),
            "axis 0 of the view has 2147483648 elements, but an extent is at most 2147483647; use several views",
        ),
        (
            shown(&x, x.view([1, usize::MAX])),
            "axis 1 of the view has 18446744073709551615 elements, but an extent is at most 2147483647; use several views",
        ),
        (
            shown(&x, x.view([2, 2])?.with_strides([2, -1])),
            "the stride of axis 1 of the view is -1, but strides are not negative; order the axis forwards",
        ),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }

    // Numbers beyond 64 bits do not wrap around into the buffer.
    let beyond = [
        x.view([MAX, MAX, MAX]).err(),
        x.view([3, 2])?.with_strides([isize::MAX, 2]).err(),
        x.view([2, 2])?.with_offset(usize::MAX).err(),
        x.view([0])?.with_offset(usize::MAX).err(),
    ];
    for error in beyond {
        assert!(matches!(error, Some(Error::View { needed: u64::MAX, len: 24, .. })), "{error:?}");
    }
    let empty = buffer(0);
    assert!(empty.view([0, 4]).is_ok() && empty.view([1]).is_err());
    assert_eq!(
        format!("{:?}", x.view([2, 3])?.with_offset(1)?),
        "View(f32 [2, 3] with strides [3, 1] from element 1 on, on CPU)"
    );
    Ok(())
}

/// (extents, strides, what is said).
type Overlapping = ([usize; 3], [isize; 3], Option<&'static str>);

#[test]
fn mutable_views_do_not_overlap() -> Result<()> {
    let cases: &[Overlapping] = &[
        ([2, 3, 4], [12, 4, 1], None),
        ([2, 3, 4], [1, 2, 6], None),
        ([2, 3, 4], [20, 5, 1], None),
        ([1, 3, 4], [0, 4, 1], None),
        ([0, 3, 4], [0, 0, 0], None),
        ([2, 2, 2], [6, 2, 3], None),
        // 5, 10 and 4, 8, 12 meet nowhere, though they interleave.
        ([3, 1, 4], [5, 0, 4], None),
        ([2, 3, 4], [12, 4, 0], Some("its elements [0, 0, 0] and [0, 0, 1] alias")),
        ([1, 4, 4], [0, 1, 1], Some("its elements [0, 0, 1] and [0, 1, 0] alias")),
        ([1, 4, 4], [9, 2, 6], Some("its elements [0, 0, 1] and [0, 3, 0] alias")),
        ([2, 2, 2], [3, 1, 2], Some("its elements [0, 1, 1] and [1, 0, 0] alias")),
    ];
    let mut x = buffer(200);
    for (shape, strides, expected) in cases {
        let view = x.view_mut(*shape)?.with_strides(*strides);
        match (view, expected) {
            (Ok(view), None) => assert_eq!((view.shape(), view.stride(2)), (*shape, Some(strides[2]))),
            (Err(error @ Error::Overlap { .. }), Some(text)) => assert!(error.to_string().contains(text), "{error}"),
            (found, _) => panic!("{shape:?} {strides:?}: {found:?}"),
        }
        assert!(x.view(*shape)?.with_strides(*strides).is_ok(), "reading may overlap");
    }
    let view = x.slice_mut(8..)?.view_mut([2, 3])?.with_strides([8, 2])?.with_offset(4)?.transpose().address();
    assert_eq!(view - x.address(), 12 * 4);
    assert!(x.slice_mut(8..)?.view([192]).is_ok());
    assert!(matches!(x.view_mut([4, 51]), Err(Error::View { needed: 204, len: 200, .. })));

    // Too many to try: what does not nest is refused.
    let mut x = stream().zeros::<u8>(1 << 21)?;
    let shape = [2, 2, (1 << 18) + 1];
    let error = x.view_mut(shape)?.with_strides([2, 3, 6]).map(drop);
    assert_eq!(error, Ok(()));
    let error = x.view_mut(shape)?.with_strides([2, 3, 5]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a mutable view [2, 2, 262145] with strides [2, 3, 5]: the strides do not tell whether elements alias, and more \
         than 1048576 of them are too many to try; no two of its elements may alias: use larger strides, or a \
         read-only view"
    );
    Ok(())
}

#[test]
fn safe_launches() -> Result<()> {
    let stream = stream();
    let copy = copy();
    let values: Vec<f32> = (0..24).map(|i| i as f32).collect();
    let x = stream.upload(&values)?;
    let mut y = stream.zeros::<f32>(12)?;
    call(copy, x.view([6, 4])?.transpose(), y.view_mut([2, 6])?).launch(&stream, 8)?;
    assert_eq!(stream.download(&y)?, [0., 4., 8., 12., 16., 20., 1., 5., 9., 13., 17., 21.]);

    let mut y = stream.zeros::<f32>(12)?;
    let window = x.view([2, 2])?.with_strides([6, 3])?.with_offset(7)?;
    {
        // A view is copied, a mutable one that is kept is passed as a reference.
        let mut out = y.view_mut([2, 3])?.with_strides([1, 2])?.with_offset(6)?;
        for grid in [2, 0, 100] {
            call(copy, window, &mut out).launch(&stream, grid)?;
        }
    }
    assert_eq!(stream.download(&y)?, [0., 0., 0., 0., 0., 0., 7., 13., 10., 16., 0., 0.]);

    // A mutable view is read as well.
    let mut z = stream.zeros::<f32>(4)?;
    let mut out = y.view_mut([2, 2])?.with_offset(6)?;
    call(copy, &out, z.view_mut([2, 2])?).launch(&stream, 2)?;
    call(copy, out.as_view(), z.view_mut([2, 2])?).launch(&stream, 2)?;
    assert_eq!(stream.download(&z)?, [7., 13., 10., 16.]);
    call(copy, z.view([2, 1])?, &mut out).launch(&stream, 2)?;
    call(copy, out, z.view_mut([1, 1])?).launch(&stream, 2)?;
    assert_eq!(stream.download(&z)?[0], 7.);

    // Without elements nothing is touched.
    let empty = stream.zeros::<f32>(0)?;
    call(copy, empty.view([0, 8])?, z.view_mut([0, 0])?).launch(&stream, 8)?;
    assert_eq!(stream.download(&z)?, [7., 13., 10., 16.]);
    Ok(())
}

#[test]
fn values_of_a_launch() -> Result<()> {
    let (x, mut y) = (buffer(64), buffer(64));
    let at = x.address();
    let one = LaunchArg::tensor(x.view([3, 4])?.with_offset(5)?);
    let expected = [Arg::Ptr(at + 20), Arg::Scalar(3), Arg::Scalar(4), Arg::Scalar(4), Arg::Scalar(1)];
    assert_eq!(one.values().collect::<Vec<_>>(), expected);
    assert_eq!(LaunchArg::scalar(-1i32).values().collect::<Vec<_>>(), [Arg::Scalar(0xffff_ffff)]);

    let to = y.address();
    let launch = call(copy(), x.view([8, 8])?, y.view_mut([2, 32])?.transpose());
    let bits: Vec<u64> = launch.args().map(Arg::bits).collect();
    assert_eq!(bits, [at, 8, 8, 8, 1, to, 32, 2, 1, 32]);
    let addresses: Vec<usize> =
        launch.args().enumerate().filter(|(_, a)| matches!(a, Arg::Ptr(_))).map(|(i, _)| i).collect();
    assert_eq!(addresses, [0, 5]);
    assert!(format!("{launch:?}").contains("a `TensorMut<f32, 2>`: "), "{launch:?}");

    let full = LaunchArg::tensor(x.view([1, 1, 1, 1, 1])?);
    assert_eq!(full.values().count(), tensor(5, false).words());
    assert_eq!(tensor(5, true).words(), ParamType::MAX_WORDS);
    Ok(())
}

#[test]
fn promises_of_views() -> Result<()> {
    let mut y = buffer(16 * 16);
    let x = buffer(64 * 64);
    let rows = |shape: [usize; 2], strides| x.view(shape)?.with_strides(strides);
    let general = x.view([16, 16])?;
    let cases: &[(View<'_, f32, 2>, &str)] = &[
        (general, "special"),
        (x.view([3, 32])?, "special"),
        (rows([3, 16], [48, 1])?, "special"),
        (rows([3, 16], [0, 1])?, "special"),
        (general.with_offset(4)?, "special"),
        (x.view([16, 20])?, "special"),
        (x.view([16, 8])?, "special"),
        (rows([16, 8], [16, 1])?, "special"),
        // The rows are aligned, whatever their length.
        (rows([16, 18], [20, 1])?, "aligned"),
        (rows([16, 7], [20, 1])?, "aligned"),
        (rows([16, 1], [16, 1])?, "aligned"),
        (rows([16, 16], [20, 1])?, "special"),
        (rows([16, 16], [24, 1])?, "special"),
        // They are not, or the first is not.
        (rows([16, 16], [18, 1])?, "unit"),
        (x.view([16, 15])?, "unit"),
        (general.with_offset(1)?, "unit"),
        (general.with_offset(2)?, "unit"),
        (rows([16, 16], [64, 2])?, "general"),
        (general.transpose(), "general"),
        // One row, or one column, has no stride.
        (x.view([1, 15])?, "aligned"),
        (rows([1, 16], [5, 1])?, "special"),
        (rows([16, 0], [16, 5])?, "special"),
        (rows([16, 1], [16, 5])?, "aligned"),
    ];
    let copy = copy();
    for (view, entry) in cases {
        assert_eq!(
            call(copy, view, y.view_mut([16, 16])?).image(ComputeCapability::new(8, 0), None)?.entry,
            *entry,
            "{view:?}"
        );
    }
    // The worst argument decides, unless it takes no part.
    assert_eq!(call(copy, general, y.view_mut([8, 7])?).image(ComputeCapability::new(8, 0), None)?.entry, "unit");
    let mut metadata = copy.metadata().clone();
    metadata.params.to_mut()[0].specialize = false;
    metadata.params.to_mut()[1].multiple_of = 32;
    let asks: &'static Kernel = made_of(metadata);
    assert_eq!(
        call(asks, general.with_offset(1)?, y.view_mut([16, 16])?).image(ComputeCapability::new(8, 0), None)?.entry,
        "special"
    );
    assert!(call(asks, general, y.view_mut([2, 2])?.with_offset(8)?).image(ComputeCapability::new(8, 0), None).is_ok());
    let error =
        call(asks, general, y.view_mut([2, 2])?.with_offset(4)?).image(ComputeCapability::new(8, 0), None).unwrap_err();
    assert!(matches!(&error, Error::MultipleOf { param, multiple_of: 32, .. } if param == "o"), "{error}");

    // One dimension has no other strides.
    let line = kernel(
        "line",
        vec![param("x", tensor(1, false), 1)],
        vec![
            image("special", "s\0", Specialization::Divisible16, 32),
            image("unit", "u\0", Specialization::UnitStride, 32),
            image("general", "g\0", Specialization::Generic, 32),
        ],
    );
    for (len, stride, entry) in
        [(16, 1, "special"), (16, 2, "general"), (17, 1, "unit"), (0, 3, "special"), (1, 3, "unit")]
    {
        let launch = launch_of(line, [LaunchArg::tensor(x.view([len])?.with_strides([stride])?)]);
        assert_eq!(launch.image(ComputeCapability::new(8, 0), None)?.entry, entry, "{len} {stride}");
    }
    Ok(())
}

#[test]
fn wrong_views_are_refused() -> Result<()> {
    let stream = stream();
    let (x, mut y) = (buffer(16), buffer(16));
    let doubles = stream.zeros::<f64>(16)?;
    let cases = [
        (LaunchArg::tensor(x.view([16])?), "argument 0 is a `Tensor<f32, 1>`, but the kernel takes a `Tensor<f32, 2>`"),
        (LaunchArg::tensor(doubles.view([4, 4])?), "argument 0 is a `Tensor<f64, 2>`"),
        (LaunchArg::tensor_mut(y.view_mut([4, 4])?), "argument 0 is a `TensorMut<f32, 2>`"),
        (LaunchArg::scalar(1i32), "argument 0 is a scalar `i32`"),
    ];
    for (arg, text) in cases {
        let mut out = buffer(16);
        let args = [arg, LaunchArg::tensor_mut(out.view_mut([4, 4])?)];
        let error = launch_of(copy(), args).launch(&stream, 1).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    }
    Ok(())
}

/// A kernel's call borrows what its views borrow, no longer and no shorter.
#[test]
fn lifetimes() {
    fn narrowed<'a>(wide: View<'static, f32, 2>, near: &'a ViewMut<'_, f32, 2>) -> [LaunchArg<'a>; 2] {
        [LaunchArg::tensor::<f32, 2, _>(wide), LaunchArg::tensor::<f32, 2, _>(near)]
    }
    let wide: &'static Buffer<f32> = Box::leak(Box::new(buffer(4)));
    let mut near = buffer(4);
    let view = near.view_mut([2, 2]).expect("it fits");
    assert_eq!(narrowed(wide.view([2, 2]).expect("it fits"), &view).map(|a| a.values().count()), [5, 5]);
}

/// What a captured external call does is done at each replay.
#[test]
fn external_work_is_replayed() -> Result<()> {
    let stream = Device::cpu().stream()?;
    let x = stream.tensor(&[1u8, 2, 3, 4], [4])?;
    let mut y = stream.tensor_zeros::<u8, 1>([3])?;
    let work = |on: &Stream, regions: &[Region]| {
        assert!(matches!(regions[0].write(on, &[0; 3]), Err(Error::Foreign { .. })), "it was lent to be read");
        assert!(matches!(regions[0].copy_from(on, &regions[1]), Err(Error::Foreign { .. })));
        assert!(matches!(regions[1].read(on, &mut [0; 2]), Err(Error::Length { source_len: 2, len: 3, .. })));
        let mut bytes = [0; 3];
        regions[1].read(on, &mut bytes)?;
        regions[1].copy_from(on, &regions[0])?;
        let mut sums = [0; 3];
        regions[1].read(on, &mut sums)?;
        sums.iter_mut().zip(bytes).for_each(|(sum, byte)| *sum += byte);
        regions[1].write(on, &sums)
    };
    let graph =
        stream.capture(|on| on.external(&[Operand::read(x.narrow(0, 1..)?)?, Operand::write(&mut y)?], work))?;
    assert_eq!(stream.download(&y)?, [0, 0, 0], "nothing has run");
    graph.launch(&stream)?;
    graph.launch(&stream)?;
    assert_eq!(stream.download(&y)?, [4, 6, 8]);
    let slice = [1u8];
    let view = View::from_slice(stream.device(), &slice, [1])?;
    assert!(matches!(Operand::read(view), Err(Error::Foreign { .. })));
    assert!(Operand::read(View::<u8, 2>::none(stream.device()))?.is_empty());
    Ok(())
}
