//! A kernel that copies a view of two dimensions to another one: on the CPU by its code, elsewhere by what the driver is asked for.

use super::{image, kernel, launch_of, made_of, param};
use triton_ir::metadata::{ParamType, Specialization};
use triton_ir::types::DType;
use triton_runtime::launch::mode::Safe;
use triton_runtime::{IntoView, IntoViewMut, Kernel, Launch, LaunchArg};

/// `copy(a: Tensor<f32, 2>, o: TensorMut<f32, 2>)`: a program for each row of up to 8 columns.
const COPY: &str = "\
kernel copy(v0 a: ptr<f32>, v1 a0: i32, v2 a1: i32, v3 sa0: i64, v4 sa1: i64, \
v5 o: ptr<mut f32>, v6 o0: i32, v7 o1: i32, v8 so0: i64, v9 so1: i64) warps 1 {
  v10 = program_id 0 : i32
  v11 = cast v10, i64 : i64
  v12 = arange 0, 8 : i32[8]
  v13 = cast v12, i64 : i64[8]
  v14 = lt v10, v1 : bool
  v15 = splat v14, [8] : bool[8]
  v16 = splat v2, [8] : i32[8]
  v17 = lt v12, v16 : bool[8]
  v18 = and v15, v17 : bool[8]
  v20 = mul v11, v3 : i64
  v21 = offset v0, v20 : ptr<f32>
  v22 = splat v21, [8] : ptr<f32>[8]
  v23 = splat v4, [8] : i64[8]
  v24 = mul v13, v23 : i64[8]
  v25 = offset v22, v24 : ptr<f32>[8]
  v26 = load v25, v18, - : f32[8]
  v30 = lt v10, v6 : bool
  v31 = splat v30, [8] : bool[8]
  v32 = splat v7, [8] : i32[8]
  v33 = lt v12, v32 : bool[8]
  v34 = and v31, v33 : bool[8]
  v35 = mul v11, v8 : i64
  v36 = offset v5, v35 : ptr<mut f32>
  v37 = splat v36, [8] : ptr<mut f32>[8]
  v38 = splat v9, [8] : i64[8]
  v39 = mul v13, v38 : i64[8]
  v40 = offset v37, v39 : ptr<mut f32>[8]
  store v40, v34, v26
}
";

pub fn tensor(rank: u8, mutable: bool) -> ParamType {
    ParamType::Tensor { dtype: DType::F32, rank, mutable }
}

pub fn copy() -> &'static Kernel {
    let images = vec![
        image("special", "s\0", Specialization::Divisible16, 32),
        image("aligned", "a\0", Specialization::Aligned16, 32),
        image("unit", "u\0", Specialization::UnitStride, 32),
        image("general", "g\0", Specialization::Generic, 32),
    ];
    let params = vec![param("a", tensor(2, false), 1), param("o", tensor(2, true), 1)];
    let mut metadata = kernel("copy", params, images).metadata().clone();
    metadata.configs.to_mut()[0].ir = COPY.into();
    made_of(metadata)
}

/// The call that a kernel of these parameters has.
pub fn call<'a>(
    k: &'static Kernel,
    a: impl IntoView<'a, f32, 2>,
    o: impl IntoViewMut<'a, f32, 2>,
) -> Launch<'a, Safe, 2> {
    launch_of(k, [LaunchArg::tensor(a), LaunchArg::tensor_mut(o)])
}
