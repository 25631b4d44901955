//! A kernel that copies a box of a view through shared memory, by a tensor map where the view has one: what it gives is computed
//! here from the view's extents and strides.

use super::{image, kernel, launch_of, param};
use std::time::Instant;
use triton_ir::metadata::{Image, MapElements, MapSwizzle, ParamType, Specialization, Target, TensorMap};
use triton_ir::types::DType;
use triton_runtime::{AsPtrArg, AsPtrMutArg, Device, Kernel, LaunchArg, Result, Stream, View};

/// Elements of a box.
const BOX: usize = 256;

/// What the code without a tensor map writes.
const PLAIN: f32 = -1.0;

/// The box of a view with this many axes: 128 bytes along the last one.
fn extents(rank: usize) -> Vec<u32> {
    match rank {
        1 => vec![256],
        2 => vec![8, 32],
        3 => vec![2, 4, 32],
        4 => vec![2, 2, 2, 32],
        _ => vec![2, 1, 2, 2, 32],
    }
}

/// The words of the parameters as PTX declares them: a view, a pointer to elements and a pointer to the first index of the box.
fn parameters(rank: usize) -> String {
    let extents: String = (0..rank).map(|axis| format!(".param .u32 e{axis}, ")).collect();
    let strides: String = (0..rank).map(|axis| format!(".param .u64 s{axis}, ")).collect();
    format!(".param .u64 x, {extents}{strides}.param .u64 out, .param .u64 at")
}

/// Copies the box, and writes its bytes as they lie in shared memory. Of views with one axis it takes a slot for assertions, too, after
/// the map, and writes nothing where that is not aligned.
fn mapped(rank: usize, swizzle: MapSwizzle) -> Image {
    // Coordinates have the last axis first.
    let coordinates: Vec<String> = (0..rank).rev().map(|axis| format!("%c{axis}")).collect();
    let loads: String = (0..rank).map(|axis| format!("ld.global.b32 %c{axis}, [%at+{}];\n", axis * 4)).collect();
    let stores: String = (0..BOX / 32)
        .map(|i| format!("ld.shared.b32 %v, [%from+{}]; st.global.b32 [%out+{}], %v;\n", i * 128, i * 128))
        .collect();
    let (slot, check) = match rank {
        1 => (
            ", .param .u64 slot",
            "ld.param.u64 %o, [slot]; and.b64 %o, %o, 15; setp.ne.u64 %done, %o, 0; @%done exit;\n",
        ),
        _ => ("", ""),
    };
    let ptx = format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n\
         .visible .entry mapped({}, .param .align 64 .b8 map[128]{slot}) .reqntid 32,1,1\n{{\n\
         .shared .align 1024 .b8 tile[1024];\n.shared .align 8 .b8 barrier[8];\n\
         .reg .pred %first, %done; .reg .b32 %t, %tile, %from, %bar, %v, %c<5>; .reg .b64 %map, %out, %at, %o;\n\
         {check}mov.u32 %t, %tid.x; mov.u32 %tile, tile; mov.u32 %bar, barrier; setp.eq.u32 %first, %t, 0;\n\
         @%first mbarrier.init.shared::cta.b64 [%bar], 1;\n\
         @%first fence.mbarrier_init.release.cluster;\n\
         bar.sync 0;\n\
         mov.b64 %map, map; cvta.param.u64 %map, %map;\n\
         ld.param.u64 %at, [at]; cvta.to.global.u64 %at, %at; ld.param.u64 %out, [out]; cvta.to.global.u64 %out, %out;\n\
         {loads}\
         @%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 1024;\n\
         @%first cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes \
         [%tile], [%map, {{{}}}], [%bar];\n\
         WAIT: mbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], 0; @!%done bra WAIT;\n\
         shl.b32 %v, %t, 2; add.u32 %from, %tile, %v; cvt.u64.u32 %o, %v; add.u64 %out, %out, %o;\n\
         {stores}ret;\n}}\n\0",
        parameters(rank),
        coordinates.join(", ")
    );
    let mut boxes = [1; 5];
    boxes[..rank].copy_from_slice(&extents(rank));
    let mut image = image("mapped", ptx, Specialization::UnitStride, 32);
    image.target = Target::Sm90a;
    image.has_assert_buffer = rank == 1;
    image.tensor_maps = vec![TensorMap::new(0, boxes, swizzle, MapElements::Bits)].into();
    image
}

/// Writes a number that is in no view.
fn plain(rank: usize) -> Image {
    let stores: String = (0..BOX / 32).map(|i| format!("st.global.f32 [%out+{}], 0fBF800000;\n", i * 128)).collect();
    let ptx = format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry plain({}) .reqntid 32,1,1\n{{\n\
         .reg .b32 %t; .reg .b64 %out, %o;\n\
         mov.u32 %t, %tid.x; ld.param.u64 %out, [out]; cvta.to.global.u64 %out, %out;\n\
         mul.wide.u32 %o, %t, 4; add.u64 %out, %out, %o;\n\
         {stores}ret;\n}}\n\0",
        parameters(rank)
    );
    image("plain", ptx, Specialization::Generic, 32)
}

fn copies(rank: usize, swizzle: MapSwizzle) -> &'static Kernel {
    let params = vec![
        param("x", ParamType::Tensor { dtype: DType::F32, rank: rank as u8, mutable: false }, 1),
        param("out", ParamType::PtrMut(DType::F32), 1),
        param("at", ParamType::Ptr(DType::I32), 1),
    ];
    kernel("copies", params, vec![mapped(rank, swizzle), plain(rank)])
}

/// What a copy of the box from `at` on leaves in shared memory. The element `i` of the buffer is `i + 1`; outside the view there
/// are zeros.
fn expected<const R: usize>(view: &View<'_, f32, R>, offset: usize, at: [i32; R], swizzle: MapSwizzle) -> Vec<f32> {
    let boxes = extents(R);
    let mut tile = vec![f32::NAN; BOX];
    for number in 0..BOX {
        let (mut rest, mut element) = (number, Some(offset));
        for axis in (0..R).rev() {
            let index = i64::from(at[axis]) + (rest % boxes[axis] as usize) as i64;
            rest /= boxes[axis] as usize;
            let inside = (0..view.shape()[axis] as i64).contains(&index);
            let stride = view.stride(axis).expect("an axis");
            element = element.filter(|_| inside).map(|element| element + index as usize * stride as usize);
        }
        let byte = number * 4;
        let swizzled = match swizzle {
            MapSwizzle::None => byte,
            MapSwizzle::B32 => byte ^ ((byte >> 7 & 1) << 4),
            MapSwizzle::B64 => byte ^ ((byte >> 7 & 3) << 4),
            MapSwizzle::B128 => byte ^ ((byte >> 7 & 7) << 4),
        };
        tile[swizzled / 4] = element.map_or(0.0, |element| (element + 1) as f32);
    }
    tile
}

/// Copies a box of the view, twice, by code with a tensor map or by code without one.
fn check<const R: usize>(
    stream: &Stream,
    view: View<'_, f32, R>,
    offset: usize,
    at: [i32; R],
    map: bool,
) -> Result<()> {
    // The rows of the box are too long for the other swizzles, and those of one axis for all.
    for swizzle in [MapSwizzle::None, MapSwizzle::B128].into_iter().take(if R == 1 { 1 } else { 2 }) {
        let kernel = copies(R, swizzle);
        for _ in 0..2 {
            let mut out = stream.zeros::<f32>(BOX)?;
            let start = stream.upload(&at)?;
            let args = [LaunchArg::tensor(view), out.as_ptr_mut_arg(), start.as_ptr_arg()];
            launch_of(kernel, args).launch(stream, 1)?;
            let expected = if map { expected(&view, offset, at, swizzle) } else { vec![PLAIN; BOX] };
            assert_eq!(stream.download(&out)?, expected, "{view:?} at {at:?}, {swizzle:?}");
        }
    }
    Ok(())
}

/// Launches on a device of compute capability 9.0. The last index of a box is a multiple of 16 bytes: others are illegal.
pub fn check_device(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let host: Vec<f32> = (1..=40_000u16).map(f32::from).collect();
    let x = stream.upload(&host)?;
    let view = |offset: usize| x.view([13, 44])?.with_strides([48, 1])?.with_offset(offset);

    check(&stream, view(0)?, 0, [0, 0], true)?;
    check(&stream, view(8)?, 8, [3, 4], true)?;
    check(&stream, view(8)?, 8, [8, 32], true)?;
    check(&stream, view(8)?, 8, [-3, -8], true)?;
    check(&stream, view(8)?, 8, [1000, i32::MIN], true)?;
    check(&stream, x.view([1, 44])?, 0, [0, 16], true)?;
    check(&stream, x.view([5, 1])?.with_strides([4, 7])?, 0, [0, 0], true)?;

    check(&stream, x.view([300])?, 0, [100], true)?;
    check(&stream, x.view([5, 6, 40])?, 0, [4, 3, 16], true)?;
    check(&stream, x.view([3, 3, 3, 36])?, 0, [1, 2, 1, 8], true)?;
    check(&stream, x.view([2, 3, 3, 3, 36])?, 0, [1, 1, 2, 1, 0], true)?;
    check(&stream, x.view([1, 3, 1, 3, 36])?, 0, [0, 1, 0, 1, 8], true)?;
    // Strides that do not decrease, and rows that overlap.
    check(&stream, x.view([5, 6, 40])?.with_strides([40, 200, 1])?, 0, [1, 2, 4], true)?;
    check(&stream, x.view([5, 6, 40])?.with_strides([100, 36, 1])?, 0, [1, 2, 4], true)?;
    check(&stream, x.view([30, 64])?.with_strides([4, 1])?, 0, [3, 8], true)?;

    // A start that is not aligned, a pitch that is not, a stride of 0, no elements, an axis that is not contiguous.
    check(&stream, view(1)?, 1, [0, 0], false)?;
    check(&stream, x.view([13, 45])?, 0, [0, 0], false)?;
    check(&stream, x.view([13, 44])?.with_strides([0, 1])?, 0, [0, 0], false)?;
    check(&stream, x.view([0, 44])?, 0, [0, 0], false)?;
    check(&stream, x.view([13, 0])?, 0, [0, 0], false)?;
    check(&stream, x.view([64, 64])?.transpose(), 0, [0, 0], false)
}

/// Nanoseconds of host time of a launch: without a map, with one that is encoded already, and with one that is not.
pub fn times(stream: &Stream) -> Result<[(&'static str, f64); 3]> {
    const BATCH: usize = 200;
    let kernel = copies(2, MapSwizzle::None);
    let x = stream.zeros::<f32>(4096)?;
    let (mut out, at) = (stream.zeros::<f32>(BOX)?, stream.upload(&[0, 0])?);
    let mut median = |shapes: [[usize; 2]; 2]| -> Result<f64> {
        let mut times = Vec::new();
        for _ in 0..101 {
            let start = Instant::now();
            for number in 0..BATCH {
                let view = LaunchArg::tensor(x.view(shapes[number % 2])?);
                launch_of(kernel, [view, out.as_ptr_mut_arg(), at.as_ptr_arg()]).launch(stream, 1)?;
            }
            times.push(start.elapsed().as_secs_f64() / BATCH as f64 * 1e9);
            stream.synchronize()?;
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    };
    Ok([
        ("no tensor map", median([[16, 33]; 2])?),
        ("a tensor map", median([[16, 32]; 2])?),
        ("a tensor map of another view", median([[16, 32], [17, 32]])?),
    ])
}
