//! The compiler's `run` cases on every device: what the interpreter says, bit for bit.
//!
//! Each case is compiled anew, optimised, for every specialization: the launcher picks the most specialized image, and
//! then only a weaker one is left.

use super::devices;
use std::borrow::Cow;
use triton::launch::mode::Unsafe;
use triton::prelude::*;
use triton::{DevicePtrMut, Kernel, Launch, LaunchArg};
use triton_core::ir::Function;
use triton_core::metadata::{Arg, Config, Image, KernelMetadata, ParamMetadata, ParamType, Promised, Specialization};
use triton_core::passes::{self, Env};
use triton_core::types::{DType, Elem};
use triton_tests::corpus::expected;
use triton_tests::run::{difference, meaning};
use triton_tests::setup::Setup;

macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        /// Name and text of each case; kept equal to the folder by a test of the repository.
        pub const CASES: &[(&str, &str)] = &[$((
            stringify!($name),
            include_str!(concat!("../../corpus/run/", stringify!($name), ".tir")),
        )),*];
    };
}

cases! {
    place_columns,
    place_two_layouts,
    place_hoist,
    place_branch,
    dot_fma,
    reduce_small,
    reduce_one_row,
    reduce_i64_rows,
    reduce_i32_whole,
    reduce_i32_columns,
    reduce_i16_middle,
    reduce_f32_max_rows,
    reduce_argmax,
    scan_small,
    scan_row_f32,
    scan_reverse_row_f32,
    scan_rows_i64,
    scan_columns_i32,
    scan_reverse_columns_u8,
    scan_middle_i16,
    scan_bool,
    scan_bf16,
    scan_pairs,
    scan_lowest_bit,
    swap,
    log,
    trig,
    raster,
    drain,
    odd_drain,
    turns,
    persist,
    persist_short,
    atomic_f16_scan,
    prefetch,
    prefetch_padding,
    ring_gathered,
    copied_matrices,
    atomic_acq_rel,
    prefetch_shared,
    producer,
    overlap,
    cluster_rows,
    cluster_argmax,
    cluster_moments,
    cluster_product,
    cluster_product_wide,
    multicast,
    multicast_epilogue,
    pointers_after,
    pointers_cut,
    pointers_strided,
    pointers_turned,
    pointers_wrapped,
    ring_converted,
    ring_division,
    ring_scaled,
    steps,
    steps_transposed,
    ring_product,
    ring_transposed,
    mma_f64,
    odd_columns,
    odd_cut,
    odd_fma,
    odd_mma,
    odd_mma_f64,
    odd_mma_transposed,
    odd_pairs,
    odd_rows,
    odd_scan,
    odd_transpose,
    odd_wgmma_columns,
    odd_wgmma_halves,
    odd_wgmma_halves_i8,
    odd_wgmma_i8,
    odd_wgmma_k,
    odd_wgmma_n,
    odd_wgmma_persist,
    odd_wgmma_rows,
    wgmma,
    wgmma_groups,
    wgmma_i8,
    wgmma_rows,
    wgmma_staged,
    wgmma_tf32,
    ring_tf32,
    ring_tf32_gram,
    wgmma_transposed,
    ring_short,
    ring_of_loop,
    fast_math_f32,
    fast_math_f64,
    fast_math_f16,
    fast_math_bf16,
    rounding,
    rsqrt,
    atomic_counters,
    atomic_extremes,
    atomic_floats,
    atomic_i32,
    atomic_i64,
    atomic_order,
    atomic_packed,
    atomic_u32,
    atomic_u64,
    half_rounding,
    join_split,
    loop_shift,
    loop_sum,
    same_address,
    view_element,
    view_reverse,
    while_reads,
    outer,
    tf32,
    dot_tf32,
    or_beside_and,
    widen_shift,
    wrap_i16,
    random_910000111,
    random_910004301,
    random_910007981,
    random_997000553,
    random_5000149,
    dot_tf32_small,
    dot_batch_f32,
    dot_batch_f16,
    dot_batch_f64,
    dot_groups_f32,
    dot_groups_bf16,
    dot_groups_tf32,
    dot_groups_i8,
    collatz,
    branches,
    add,
    broadcast,
    functions_f64,
    bitcast,
    mul_hi,
    wide_products,
    hints,
    hint_of_pointers,
    cast_bf16,
    cast_bool,
    cast_f16,
    cast_f32,
    cast_f64,
    cast_i16,
    cast_i32,
    cast_i64,
    cast_i8,
    cast_u16,
    cast_u32,
    cast_u64,
    cast_u8,
    elementwise_bf16,
    elementwise_bool,
    elementwise_f16,
    elementwise_f32,
    elementwise_f64,
    elementwise_i16,
    elementwise_i32,
    elementwise_i64,
    elementwise_i8,
    elementwise_u16,
    elementwise_u32,
    elementwise_u64,
    elementwise_u8,
    view_cut,
    view_cut_bf16,
    view_cut_bytes,
    view_cut_tile,
    view_negative,
    view_strided,
}

#[test]
fn every_case_on_every_device() -> Result<(), String> {
    let mut failures = Vec::new();
    for device in devices() {
        for (name, text) in CASES {
            let expected = expected(text);
            for &specialization in Specialization::ALL {
                match run(&device, text, specialization) {
                    Ok(found) if found == expected => {}
                    Ok(found) => failures.push(format!(
                        "{name} on {device}, {}:\n{}",
                        specialization.name(),
                        difference(&expected, &found)
                    )),
                    Err(error) => failures.push(format!("{name} on {device}, {}: {error}", specialization.name())),
                }
            }
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

fn run(device: &Device, text: &str, specialization: Specialization) -> Result<String, String> {
    let func = meaning(text)?;
    let mut images = images(&func)?;
    images.retain(|image| image.specialization <= specialization);
    execute(device, text, &func, metadata(&func, func.to_string(), images))
}

/// What a case's buffers hold after the device has run this code for it.
pub fn execute(device: &Device, text: &str, func: &Function, metadata: KernelMetadata) -> Result<String, String> {
    let setup = Setup::parse(text)?;
    let stream = device.stream().map_err(|e| e.to_string())?;
    let buffers = setup.buffers.iter().map(|b| stream.upload(&b.bytes())).collect::<triton::Result<Vec<_>>>();
    let buffers = buffers.map_err(|e| e.to_string())?;
    let addresses: Vec<u64> = buffers.iter().map(Buffer::address).collect();
    let args = setup.args(func, &addresses)?;
    // SAFETY: the compiler made the metadata. A kernel is a `static` in programs.
    let kernel: &'static Kernel = Box::leak(Box::new(unsafe { Kernel::new(metadata) }));
    launch(kernel, &args, &stream, setup.grid)?;
    let contents = buffers.iter().map(|b| stream.download(b)).collect::<triton::Result<Vec<_>>>();
    Ok(setup.render(&contents.map_err(|e| e.to_string())?))
}

/// Code for every specialization.
pub fn images(func: &Function) -> Result<Vec<Image>, String> {
    let mut optimised = func.clone();
    passes::run(passes::OPTIMISE, &mut optimised, &Env::portable().verified())?;
    triton_core::images(&optimised).map_err(|e| e.to_string())
}

/// What is embedded of a function: the CPU runs `ir`, other devices run the images.
pub fn metadata(func: &Function, ir: String, images: Vec<Image>) -> KernelMetadata {
    let params = func.params.iter().map(|param| {
        let ty = match func.ty(param.value).elem {
            Elem::Num(dtype) => ParamType::Scalar(dtype),
            Elem::Ptr { pointee, mutable: false } => ParamType::Ptr(pointee),
            Elem::Ptr { pointee, mutable: true } => ParamType::PtrMut(pointee),
        };
        let specialize = [&[param.promised], &param.orders[..]].concat().iter().any(|&of| of != Promised::Nothing);
        ParamMetadata::new(
            Cow::Owned(param.name.clone()),
            ty,
            param.multiple_of,
            specialize,
            param.promised,
            param.orders.clone().into(),
        )
    });
    let params: Vec<ParamMetadata> = params.collect();
    let config = Config::new(func.num_warps, ir.into(), images.into());
    let name = func.name.clone();
    KernelMetadata::new(name.clone().into(), name.into(), params.into(), vec![config].into())
}

/// The same with views as parameters, not with their addresses, extents and strides one by one: tensor maps are of those.
pub fn metadata_of_views(func: &Function, ir: String, images: Vec<Image>) -> KernelMetadata {
    let mut metadata = metadata(func, ir, images);
    let (mut params, mut word) = (Vec::new(), 0);
    while let Some(param) = metadata.params.get(word) {
        let mut param = param.clone();
        let view = func.views.iter().find(|view| view.base == func.params[word].value);
        if let (Some(view), ParamType::Ptr(dtype) | ParamType::PtrMut(dtype)) = (view, param.ty) {
            let mutable = matches!(param.ty, ParamType::PtrMut(_));
            param.ty = ParamType::Tensor { dtype, rank: view.extents.len() as u8, mutable };
        }
        word += param.ty.words();
        params.push(param);
    }
    metadata.params = params.into();
    metadata
}

/// Launches with as many arguments as there are: their number is part of a launch's type.
fn launch(kernel: &'static Kernel, args: &[Arg], stream: &Stream, grid: [u32; 3]) -> Result<(), String> {
    let (mut launched, mut rest) = (Vec::new(), args);
    for param in kernel.metadata().params.iter() {
        let (words, others) = rest.split_at_checked(param.ty.words()).ok_or("an argument is missing")?;
        launched.push(argument(stream.device(), param.ty, words)?);
        rest = others;
    }
    macro_rules! by_count {
        ($($n:literal)*) => {
            match launched.len() {
                $( $n => {
                    let args: [LaunchArg<'_>; $n] = launched.try_into().map_err(|_| "the count is known")?;
                    // SAFETY: the cases stay within their buffers, as the interpreter has checked.
                    unsafe { Launch::<Unsafe, $n>::new(kernel, args).launch(stream, grid) }.map_err(|e| e.to_string())
                } )*
                n => Err(format!("no case has {n} parameters yet")),
            }
        };
    }
    by_count!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48)
}

fn argument(device: &Device, ty: ParamType, words: &[Arg]) -> Result<LaunchArg<'static>, String> {
    macro_rules! typed {
        ($($dtype:ident $t:ty;)*) => {
            match ty {
                $(
                    // SAFETY: the address is of a buffer that lives until the launch has ended.
                    ParamType::Ptr(DType::$dtype) => Ok(Box::leak(Box::new(unsafe { DevicePtr::<$t>::new(words[0].bits()) })).as_ptr_arg()),
                    // SAFETY: as above.
                    ParamType::PtrMut(DType::$dtype) => Ok(Box::leak(Box::new(unsafe { DevicePtrMut::<$t>::new(words[0].bits()) })).as_ptr_mut_arg()),
                    ParamType::Scalar(DType::$dtype) => Ok(LaunchArg::scalar(<$t as triton::Element>::from_bits(words[0].bits()))),
                    ParamType::Tensor { dtype: DType::$dtype, rank: 1, mutable } => view::<$t, 1>(device, mutable, words),
                    ParamType::Tensor { dtype: DType::$dtype, rank: 2, mutable } => view::<$t, 2>(device, mutable, words),
                )*
                ParamType::Tensor { rank, .. } => Err(format!("no case passes a view of {rank} axes yet")),
                _ => unreachable!("the cases have pointers, scalars and views"),
            }
        };
    }
    typed! {
        Bool bool; I8 i8; I16 i16; I32 i32; I64 i64; U8 u8; U16 u16; U32 u32; U64 u64; F16 f16; BF16 bf16; F32 f32; F64 f64;
    }
}

/// The view whose address, extents and strides these are.
fn view<T: Element, const R: usize>(
    device: &Device,
    mutable: bool,
    words: &[Arg],
) -> Result<LaunchArg<'static>, String> {
    let device: &'static Device = Box::leak(Box::new(device.clone()));
    let shape: [usize; R] = std::array::from_fn(|axis| words[1 + axis].bits() as usize);
    let strides: [isize; R] = std::array::from_fn(|axis| words[1 + R + axis].bits() as isize);
    let last: usize = shape.iter().zip(strides).map(|(n, stride)| n.saturating_sub(1) * stride.unsigned_abs()).sum();
    let (address, len) = (words[0].bits(), if shape.contains(&0) { 0 } else { last + 1 });
    // SAFETY: the elements are of a buffer that lives until the launch has ended, and that nothing else accesses.
    let arg = unsafe {
        if mutable {
            ViewMut::<T, R>::from_raw_parts(device, address, len, shape, strides).map(LaunchArg::tensor_mut)
        } else {
            View::<T, R>::from_raw_parts(device, address, len, shape, strides).map(LaunchArg::tensor)
        }
    };
    arg.map_err(|e| e.to_string())
}
