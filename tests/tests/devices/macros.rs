//! What `#[triton::kernel]` makes of a function: visibility, documentation, spans, inference, instances and options.
#![deny(warnings)]

use triton::prelude::*;

mod kernels {
    //! Kernels of every visibility.
    use triton::prelude::*;

    /// A documented kernel.
    ///
    /// With two paragraphs.
    #[triton::kernel(T = [f32, f16, bf16], BLOCK = [256, 1024])]
    pub fn public<T: Num, const BLOCK: i32>(x: Ptr<T>, out: PtrMut<T>, n: i32) {
        let i = program_id(0) * BLOCK + arange(0, BLOCK);
        store(out + i, load(x + i, i < n), i < n);
    }

    #[triton::kernel]
    pub(crate) fn of_the_crate(out: PtrMut<f32>) {
        store(out + arange(0, 32), 1.0, true);
    }

    #[triton::kernel]
    fn private(out: PtrMut<f32>) {
        store(out + arange(0, 32), 2.0, true);
    }

    /// Only this module can name `private`.
    pub fn private_launch(out: &mut Buffer<f32>) -> impl Sized {
        private(out)
    }
}

/// A module of the kernel's own name does not collide with it.
mod same_name {
    #[triton::kernel]
    pub fn same_name(out: triton::lang::PtrMut<i32>) {
        triton::lang::store(out, 1, true);
    }
}
use same_name::same_name;

/// Options only, of the same generic parameters.
#[triton::kernel(configs = [
    (BLOCK = 128, num_warps = 8),
    (BLOCK = 128, num_warps = 2),
    (BLOCK = 64),
], num_warps = 1)]
fn options<const BLOCK: i32>(out: PtrMut<i32>) {
    store(out + arange(0, BLOCK), BLOCK, true);
}

#[triton::kernel(T = [f32, f64], FAST = [false, true], configs = [(A = -1, B = 2), (A = 3, B = 4)])]
fn mixed<T: Float, const A: i64, const FAST: bool, const B: u32>(
    #[multiple_of(16)] x: PtrMut<T>,
    #[multiple_of(8)]
    #[no_specialize]
    n: i32,
    scale: T,
    flag: bool,
) {
    let i = arange(0, 32);
    let on = (i < n) & flag & FAST;
    store(x + i, load(x + i, on) * scale + (A as f32).to::<T>() + (B as i32).to::<T>(), on);
}

/// Everything this language has.
#[triton::kernel(T = [f16])]
fn everything<T: Float>(x: Ptr<T>, y: PtrMut<f32>, k: PtrMut<i32>, n: i32, p: bool) {
    const HALF: i32 = 64 / 2;
    let (i, _) = (program_id(0) * num_programs(1) + arange(0, 2 * HALF), 1);
    let mask = (i < n) & (p && n > 0 || !p);
    let mut v = load_or(x + i, mask, 1.0).to::<f32>();
    v += 2.0 * v;
    v -= 1.0;
    v *= v;
    v /= sqrt(abs(v));
    let w = {
        let t = -v;
        fma(t, 0.5, v)
    };
    let w = select(!(v > w) & mask | (v == 0.0), maximum(w, 0.0), minimum(1.0, v));
    let half = 0.5f16.to::<f32>() + (n as f32) * 1.5f32;
    store(y + i, w + half, mask);
    let mut j = (i << 2) % 7 ^ (i >> 1);
    j |= 1;
    j &= 0xff;
    store(k + i, 1 << j, mask);
}

/// Views alone, so that launching it is safe.
#[triton::kernel(T = [f16])]
fn viewed<T: Float>(x: Tensor<T, 2>, #[no_specialize] out: TensorMut<f32, 1>) {
    out.store([0], sum_axis(x.load([0, 0], [16, 16]).to::<f32>(), 1));
}

/// What is embedded for a launch.
fn metadata<S, const N: usize>(launch: triton::Launch<'_, S, N>) -> &'static triton::metadata::KernelMetadata {
    launch.metadata()
}

fn stream() -> Stream {
    Device::cpu().stream().expect("the CPU has streams")
}

#[test]
fn instances_are_told_apart() {
    let stream = stream();
    let x = stream.zeros::<f32>(8).expect("memory");
    let mut out = stream.zeros::<f32>(8).expect("memory");
    // The element type comes from the buffers.
    let found = metadata(kernels::public::<_, 256>(&x, &mut out, 8));
    assert_eq!((&*found.kernel, &*found.instance), ("public", "public::<f32, 256>"));
    assert_eq!(metadata(kernels::public::<f32, 1024>(&x, &mut out, 8)).instance, "public::<f32, 1024>");
    let (x, mut out) = (stream.zeros::<bf16>(8).expect("memory"), stream.zeros::<bf16>(8).expect("memory"));
    assert_eq!(metadata(kernels::public::<_, 256>(&x, &mut out, 8)).instance, "public::<bf16, 256>");
}

#[test]
fn kernels_stand_everywhere() {
    /// A kernel inside a function.
    #[triton::kernel]
    fn local(out: PtrMut<f32>) {
        store(out + arange(0, 16), 3.0, true);
    }
    let stream = stream();
    let mut out = stream.zeros::<f32>(32).expect("memory");
    assert_eq!(metadata(local(&mut out)).instance, "local");
    assert_eq!(metadata(kernels::of_the_crate(&mut out)).instance, "of_the_crate");
    let _launch = kernels::private_launch(&mut out);
    let mut out = stream.zeros::<i32>(32).expect("memory");
    assert_eq!(metadata(same_name(&mut out)).instance, "same_name");
}

#[test]
fn options_of_the_same_parameters_are_variants() {
    let mut out = stream().zeros::<i32>(128).expect("memory");
    let found = metadata(options::<128>(&mut out));
    assert_eq!(found.configs.iter().map(|v| v.num_warps).collect::<Vec<_>>(), [8, 2]);
    let found = metadata(options::<64>(&mut out));
    assert_eq!(found.configs.iter().map(|v| v.num_warps).collect::<Vec<_>>(), [1]);
}

#[test]
fn parameters_are_in_the_metadata() {
    use triton::metadata::ParamType;
    let mut x = stream().zeros::<f64>(32).expect("memory");
    let found = metadata(mixed::<f64, -1, true, 2>(&mut x, 32, 1.5, true));
    assert_eq!(found.instance, "mixed::<f64, -1, true, 2>");
    let params: Vec<_> = found.params.iter().map(|p| (&*p.name, p.ty, p.multiple_of, p.specialize)).collect();
    let f64 = <f64 as Element>::DTYPE;
    let expected = [
        ("x", ParamType::PtrMut(f64), 16, true),
        ("n", ParamType::Scalar(<i32 as Element>::DTYPE), 8, false),
        ("scale", ParamType::Scalar(f64), 1, false),
        ("flag", ParamType::Scalar(<bool as Element>::DTYPE), 1, false),
    ];
    assert_eq!(params, expected);
}

#[test]
fn a_type_fixes_the_rest() {
    // `everything` has one instance: nothing needs to be written out.
    let stream = stream();
    let x = stream.zeros::<f16>(64).expect("memory");
    let (mut y, mut k) = (stream.zeros::<f32>(64).expect("memory"), stream.zeros::<i32>(64).expect("memory"));
    assert_eq!(metadata(everything(&x, &mut y, &mut k, 64, true)).instance, "everything::<f16>");
}

#[test]
fn views_are_in_the_metadata() -> triton::Result<()> {
    use triton::metadata::ParamType;
    let stream = stream();
    let (x, mut out) = (stream.zeros::<f16>(256)?, stream.zeros::<f32>(16)?);
    let found = metadata(viewed(x.view([16, 16])?, out.view_mut([16])?));
    let params: Vec<_> = found.params.iter().map(|p| (&*p.name, p.ty, p.specialize)).collect();
    let x = ParamType::Tensor { dtype: <f16 as Element>::DTYPE, rank: 2, mutable: false };
    let out = ParamType::Tensor { dtype: <f32 as Element>::DTYPE, rank: 1, mutable: true };
    assert_eq!(params, [("x", x, true), ("out", out, false)]);
    Ok(())
}

#[triton::kernel]
fn turns(x: Tensor<f32, 2>, out: TensorMut<f32, 1>, skips: i32) {
    let mut sum = zeros::<f32>([64]);
    for i in skips..x.dim(0) {
        sum = sum + x.load([i, 0], [1, 64]).reshape([64]);
    }
    out.store([0], sum);
}

/// Loops are priced by the extents and the numbers of the launch.
#[test]
fn a_launch_explains_how_often_its_loops_run() -> triton::Result<()> {
    let stream = stream();
    let (x, mut out) = (stream.zeros::<f32>(64 * 64)?, stream.zeros::<f32>(64)?);
    let mut explained = |rows: usize, skips: i32| turns(x.view([rows, 64])?, out.view_mut([64])?, skips).explain();
    let cycles = |text: &str| -> f64 {
        let total = text.lines().find_map(|line| line.split_once(" cycles: ")).expect("a total").0;
        total.parse().expect("a number")
    };
    let (ten, fifty, none) = (explained(12, 2)?, explained(50, 0)?, explained(12, 12)?);
    for (text, executions) in [(&ten, "  x10 "), (&fifty, "  x50 "), (&none, "  x0 ")] {
        assert!(text.lines().any(|line| line.contains(executions) && line.contains(" load ")), "{text}");
        assert!(text.lines().any(|line| line.contains("  x1 ") && line.contains(" store ")), "{text}");
    }
    let (ten, fifty, none) = (cycles(&ten), cycles(&fifty), cycles(&none));
    assert!(((fifty - none) - 5.0 * (ten - none)).abs() < 1.0, "{none}, {ten} and {fifty}");
    Ok(())
}

#[test]
fn a_launch_explains_the_code_for_its_arguments() -> triton::Result<()> {
    let stream = stream();
    let (x, mut out) = (stream.zeros::<f32>(64)?, stream.zeros::<f32>(64)?);
    let wide = kernels::public::<f32, 1024>(&x, &mut out, 64).explain()?;
    assert!(wide.contains(": f32[1024] #0, 2 of 4 elements @tests/tests/devices/macros.rs:"), "{wide}");
    assert!(wide.lines().last().is_some_and(|total| total.contains("0 conversions")), "{wide}");
    let narrow = kernels::public::<f32, 1024>(&x.slice(1..)?, &mut out, 3).explain()?;
    assert!(narrow.contains(": f32[1024] #0, 8 of 1 elements"), "{narrow}");
    Ok(())
}
