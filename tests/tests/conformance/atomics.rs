//! Atomic updates: the new and the old values, through pointers and views, one by one and all at once.

use crate::case::{Case, Launch, Region, Run, Trial, launch};
use crate::float::Format;
use crate::inputs;
use crate::reference::{greater, lesser};
use crate::value::{Expected, float, from_f64, integer, round, wrap};
use triton_core::types::DType;
use triton_tests::numbers::Random;

/// What an update makes of an element and a value.
type Function = fn(DType, u64, u64) -> u64;

fn added(dtype: DType, a: u64, b: u64) -> u64 {
    match Format::of(dtype) {
        Some(_) => round(dtype, float(dtype, a) + float(dtype, b)),
        None => wrap(dtype, integer(dtype, a) + integer(dtype, b)),
    }
}

/// Whether an update adds floats.
fn rounds(name: &str, dtype: DType) -> bool {
    name == "atomic_add" && dtype.is_float()
}

/// Elements whose updates are exact on every device: a GPU may flush a subnormal `f32` to 0 when it adds.
fn elements(name: &str, dtype: DType, count: usize, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed);
    match rounds(name, dtype) {
        true => (0..count).map(|_| from_f64(dtype, random.within(1 << 20) as f64 / 1024.0)).collect(),
        false => inputs::elements(dtype, count, seed),
    }
}

/// Elements that are updated in any order to the same bits: sums of small whole numbers are exact.
fn in_any_order(name: &str, dtype: DType, count: usize, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed);
    match rounds(name, dtype) {
        true => (0..count).map(|_| from_f64(dtype, random.below(4) as f64)).collect(),
        false => inputs::elements(dtype, count, seed),
    }
}

/// Each element by itself, under a mask.
fn alone(name: &'static [&'static str], dtype: DType, [block, warps]: [usize; 2], f: Function, launch: Launch) -> Case {
    let text = format!("{} {dtype} [{block}] warps {warps}", name[0]);
    let seed = inputs::seed(&text);
    Case::new(text, name, move || {
        let programs = 1024 / block;
        let count = programs * block;
        let (before, x) = (elements(name[0], dtype, count, seed), elements(name[0], dtype, count, seed + 1));
        let mask: Vec<u64> = (0..count).map(|i| u64::from(i % 5 != 2)).collect();
        let each = |of: &dyn Fn(usize) -> u64| (0..count).map(|i| Expected::Bits(of(i))).collect::<Vec<_>>();
        let after = each(&|i| if mask[i] != 0 { f(dtype, before[i], x[i]) } else { before[i] });
        let old = each(&|i| if mask[i] != 0 { before[i] } else { 0 });
        let inputs = [Region::input(DType::Bool, mask.clone()), Region::input(dtype, x.clone())];
        let memory = [Region::update(dtype, before.clone(), after), Region::output(dtype, old)];
        let regions = inputs.into_iter().chain(memory).collect();
        Trial { regions, numbers: vec![], grid: [programs, 1, 1], launch }
    })
}

/// Programs and elements that contend for eight elements, and programs that contend for a ninth.
fn together(name: &'static [&'static str], dtype: DType, f: Function, launch: Launch) -> Case {
    let text = format!("{} {dtype} [128] warps 4, together", name[0]);
    let seed = inputs::seed(&text);
    Case::new(text, name, move || {
        let (x, before) = (in_any_order(name[0], dtype, 512, seed), in_any_order(name[0], dtype, 9, seed + 1));
        let mut after = before.clone();
        for (i, &value) in x.iter().enumerate() {
            after[i % 8] = f(dtype, after[i % 8], value);
            if i % 128 == 0 {
                after[8] = f(dtype, after[8], value);
            }
        }
        let after = after.into_iter().map(Expected::Bits).collect();
        let regions = vec![Region::input(dtype, x), Region::update(dtype, before, after)];
        Trial { regions, numbers: vec![], grid: [4, 1, 1], launch }
    })
}

/// Programs that update one row each, which is the same memory, through a view and through pointers. The old values are unused, so that
/// an instruction may update several elements.
fn rows(name: &'static [&'static str], dtype: DType, [block, n]: [usize; 2], f: Function, launch: Launch) -> Case {
    let text = format!("{} {dtype} [{block}] warps 1, rows of {n} together", name[0]);
    let seed = inputs::seed(&text);
    Case::new(text, name, move || {
        let x = in_any_order(name[0], dtype, 5 * n, seed);
        let updated = |seed: u64| {
            let before = in_any_order(name[0], dtype, n, seed);
            let after = (0..n).map(|j| (0..5).fold(before[j], |old, i| f(dtype, old, x[i * n + j])));
            let after = after.map(Expected::Bits).collect();
            Region::update(dtype, before, after)
        };
        let regions = vec![Region::input(dtype, x.clone()), updated(seed + 1), updated(seed + 2)];
        Trial { regions, numbers: vec![n as u64], grid: [5, 1, 1], launch }
    })
}

/// The edges of a matrix are not multiples of a tile.
fn viewed(name: &'static [&'static str], dtype: DType, [r, c, warps]: [usize; 3], f: Function, launch: Launch) -> Case {
    let text = format!("{} {dtype} of views [{r}x{c}] warps {warps}", name[0]);
    let seed = inputs::seed(&text);
    Case::new(text, name, move || {
        let (before, x) = (elements(name[0], dtype, 15 * 70, seed), elements(name[0], dtype, 15 * 70, seed + 1));
        let after = before.iter().zip(&x).map(|(&old, &value)| Expected::Bits(f(dtype, old, value))).collect();
        let old = before.iter().copied().map(Expected::Bits).collect();
        let regions = vec![Region::input(dtype, x), Region::update(dtype, before, after), Region::output(dtype, old)];
        Trial { regions, numbers: vec![], grid: [15usize.div_ceil(r), 70usize.div_ceil(c), 1], launch }
    })
}

/// At indices from memory, some of them out of bounds, under a mask: each element by itself.
fn listed(name: &'static [&'static str], dtype: DType, count: usize, f: Function, launch: Launch) -> Case {
    let text = format!("{}_at {dtype} [{count}] warps 2", name[0]);
    let seed = inputs::seed(&text);
    Case::new(text, name, move || {
        let (mut random, mut at) = (Random::new(seed), (-20..280).collect::<Vec<i64>>());
        random.shuffle(&mut at);
        at.truncate(count);
        let (before, x) = (elements(name[0], dtype, 260, seed), elements(name[0], dtype, count, seed + 1));
        let mask: Vec<u64> = (0..count).map(|i| u64::from(i % 5 != 2)).collect();
        let reached = |i: usize| usize::try_from(at[i]).ok().filter(|&at| at < 260 && mask[i] != 0);
        let mut after: Vec<u64> = before.clone();
        (0..count).filter_map(|i| Some((i, reached(i)?))).for_each(|(i, at)| after[at] = f(dtype, before[at], x[i]));
        let old = (0..count).map(|i| Expected::Bits(reached(i).map_or(0, |at| before[at]))).collect();
        let regions = vec![
            Region::input(DType::I32, at.iter().map(|&at| at as u64 & 0xffff_ffff).collect()),
            Region::input(DType::Bool, mask.clone()),
            Region::input(dtype, x.clone()),
            Region::update(dtype, before.clone(), after.into_iter().map(Expected::Bits).collect()),
            Region::output(dtype, old),
        ];
        Trial { regions, numbers: vec![], grid: [1; 3], launch }
    })
}

/// Under each order an update does the same.
fn ordered(name: &'static [&'static str], dtype: DType, f: Function, launch: Launch) -> Case {
    let text = format!("{} {dtype} [64] warps 2, ordered", name[0]);
    let seed = inputs::seed(&text);
    Case::new(text, name, move || {
        let x = elements(name[0], dtype, 64, seed);
        let before: Vec<Vec<u64>> = (1..4).map(|i| elements(name[0], dtype, 64, seed + i)).collect();
        let updated = |before: &Vec<u64>| {
            let after = before.iter().zip(&x).map(|(&old, &x)| Expected::Bits(f(dtype, old, x))).collect();
            Region::update(dtype, before.clone(), after)
        };
        let old = before.concat().into_iter().map(Expected::Bits).collect();
        let regions = [Region::input(dtype, x.clone())].into_iter().chain(before.iter().map(updated));
        let regions = regions.chain([Region::output(dtype, old)]).collect();
        Trial { regions, numbers: vec![], grid: [1; 3], launch }
    })
}

/// The launch of a kernel over indices, a mask, values and two views that are written.
macro_rules! launch_listed {
    ($t:ident, $kernel:expr, $n:literal) => {
        |run: &Run<'_>| {
            let (at, mask, x) = (run.buffer::<i32>(0), run.buffer::<bool>(1), run.buffer::<$t>(2));
            let (mut p, mut old) = (run.buffer_mut::<$t>(3), run.buffer_mut::<$t>(4));
            let (at, mask, x) = (at.slice(run.range(0))?, mask.slice(run.range(1))?, x.slice(run.range(2))?);
            let (mut p, mut old) = (p.slice_mut(run.range(3))?, old.slice_mut(run.range(4))?);
            let (at, mask, x) = (at.view([$n])?, mask.view([$n])?, x.view([$n])?);
            $kernel(at, mask, x, p.view_mut([260])?, old.view_mut([$n])?).launch(run.stream, run.grid())
        }
    };
}

/// The launch of a kernel over three views of as many rows and columns, of which it writes two.
macro_rules! launch_viewed {
    ($t:ident, $kernel:expr) => {
        |run: &Run<'_>| {
            let (x, mut p, mut old) = (run.buffer::<$t>(0), run.buffer_mut::<$t>(1), run.buffer_mut::<$t>(2));
            let x = x.slice(run.range(0))?;
            let (mut p, mut old) = (p.slice_mut(run.range(1))?, old.slice_mut(run.range(2))?);
            let shape = [15, 70];
            $kernel(x.view(shape)?, p.view_mut(shape)?, old.view_mut(shape)?).launch(run.stream, run.grid())
        }
    };
}

/// A table of updates: name, element types, and the function that each is.
macro_rules! updates {
    ($($name:ident $name_at:ident [$($t:ident)*] = $function:expr $(, $order_is_open:ident)?;)*) => {
        $(
            mod $name {
                //! One update.
                use super::*;
                use triton::prelude::*;

                #[triton::kernel(T = [$($t),*], configs = [
                    (N = 64, num_warps = 1), (N = 512, num_warps = 8), (N = 96, num_warps = 2),
                ])]
                fn alone<T: Num, const N: i32>(mask: Ptr<bool>, x: Ptr<T>, p: PtrMut<T>, old: PtrMut<T>) {
                    let i = program_id(0) * N + arange(0, N);
                    store(old + i, $name(p + i, load(x + i, true), load(mask + i, true)), true);
                }

                #[triton::kernel(T = [$($t),*], configs = [(R = 4, C = 32, num_warps = 4), (R = 12, C = 24, num_warps = 2)])]
                fn viewed<T: Num, const R: i32, const C: i32>(x: Tensor<T, 2>, p: TensorMut<T, 2>, old: TensorMut<T, 2>) {
                    let at = [program_id(0) * R, program_id(1) * C];
                    old.store(at, p.$name(at, x.load(at, [R, C])));
                }

                #[triton::kernel(T = [$($t),*], N = [256, 192], num_warps = 2)]
                fn listed<T: Num, const N: i32>(
                    at: Tensor<i32, 1>,
                    mask: Tensor<bool, 1>,
                    x: Tensor<T, 1>,
                    p: TensorMut<T, 1>,
                    old: TensorMut<T, 1>,
                ) {
                    let at = [at.load([0], [N])];
                    old.store([0], p.$name_at(at, x.load([0], [N]), mask.load([0], [N])));
                }

                /// Each order, on memory of its own.
                #[triton::kernel(T = [$($t),*], num_warps = 2)]
                fn ordered<T: Num>(
                    x: Tensor<T, 1>,
                    p: TensorMut<T, 1>,
                    q: TensorMut<T, 1>,
                    r: PtrMut<T>,
                    old: TensorMut<T, 2>,
                ) {
                    let x = x.load([0], [64]);
                    old.store([0, 0], p.order(Release).$name([0], x).expand_dims(0));
                    old.store([1, 0], q.order(Acquire).$name_at([arange(0, 64)], x, true).expand_dims(0));
                    old.store([2, 0], $name((r + arange(0, 64)).order(AcqRel), x, true).expand_dims(0));
                }

                updates!(@together $($order_is_open)? $name $($t)*);

                /// The cases of every element type.
                pub fn cases(into: &mut Vec<Case>) {
                    const NAME: &[&str] = &[stringify!($name)];
                    let f: Function = $function;
                    $({
                        let t = <$t>::DTYPE;
                        into.push(super::alone(NAME, t, [64, 1], f, |run| launch!(run, alone::<$t, 64>(
                            &run.ptr(), &run.ptr(), &mut run.ptr(), &mut run.ptr()
                        ))));
                        into.push(super::alone(NAME, t, [512, 8], f, |run| launch!(run, alone::<$t, 512>(
                            &run.ptr(), &run.ptr(), &mut run.ptr(), &mut run.ptr()
                        ))));
                        into.push(super::alone(NAME, t, [96, 2], f, |run| launch!(run, alone::<$t, 96>(
                            &run.ptr(), &run.ptr(), &mut run.ptr(), &mut run.ptr()
                        ))));
                        into.push(super::viewed(NAME, t, [4, 32, 4], f, launch_viewed!($t, viewed::<$t, 4, 32>)));
                        into.push(super::viewed(NAME, t, [12, 24, 2], f, launch_viewed!($t, viewed::<$t, 12, 24>)));
                        into.push(super::listed(NAME, t, 256, f, launch_listed!($t, listed::<$t, 256>, 256)));
                        into.push(super::listed(NAME, t, 192, f, launch_listed!($t, listed::<$t, 192>, 192)));
                        into.push(super::ordered(NAME, t, f, |run: &Run<'_>| {
                            let x = run.buffer::<$t>(0);
                            let [mut p, mut q, mut r, mut old] = [1, 2, 3, 4].map(|i| run.buffer_mut::<$t>(i));
                            let x = x.slice(run.range(0))?;
                            let (mut p, mut q) = (p.slice_mut(run.range(1))?, q.slice_mut(run.range(2))?);
                            let (mut r, mut old) = (r.slice_mut(run.range(3))?, old.slice_mut(run.range(4))?);
                            let views = (x.view([64])?, p.view_mut([64])?, q.view_mut([64])?, old.view_mut([3, 64])?);
                            let launch = ordered::<$t>(views.0, views.1, views.2, &mut r, views.3);
                            // SAFETY: the kernel updates the 64 elements behind the pointer.
                            unsafe { launch.launch(run.stream, run.grid()) }
                        }));
                    })*
                    together_cases(into, NAME, f);
                }
            }
        )*

        /// Every update on every element type that it is defined on.
        pub fn cases() -> Vec<Case> {
            let mut cases = Vec::new();
            $($name::cases(&mut cases);)*
            swaps::cases(&mut cases);
            fences::cases(&mut cases);
            cases
        }
    };
    (@together order_is_open $name:ident $($t:ident)*) => {
        /// What is left depends on the order.
        fn together_cases(_: &mut [Case], _: &'static [&'static str], _: Function) {}
    };
    (@together $name:ident $($t:ident)*) => {
        #[triton::kernel(T = [$($t),*], num_warps = 4)]
        fn together<T: Num>(x: Ptr<T>, p: PtrMut<T>) {
            let i = program_id(0) * 128 + arange(0, 128);
            $name(p + (i & 7), load(x + i, true), true);
            $name(p + 8, load(x + program_id(0) * 128, true), true);
        }

        #[triton::kernel(T = [$($t),*], N = [256, 384], num_warps = 1)]
        fn rows<T: Num, const N: i32>(x: Tensor<T, 2>, p: TensorMut<T, 1>, q: PtrMut<T>, n: i32) {
            let (x, i) = (x.load([program_id(0), 0], [1, N]).reshape([N]), arange(0, N));
            p.$name([0], x);
            $name(q + i, x, i < n);
        }

        fn together_cases(into: &mut Vec<Case>, name: &'static [&'static str], f: Function) {
            $({
                into.push(super::together(name, <$t>::DTYPE, f, |run| {
                    launch!(run, together::<$t>(&run.ptr(), &mut run.ptr()))
                }));
                // Of whole vectors; with one that is cut; with rows that begin anywhere.
                updates!(@rows into, name, f, $t, 256 [208, 248, 201]);
                updates!(@rows into, name, f, $t, 384 [336, 377]);
            })*
        }
    };
    (@rows $into:ident, $name:ident, $f:ident, $t:ident, $block:literal $lengths:expr) => {
        for n in $lengths {
            $into.push(super::rows($name, <$t>::DTYPE, [$block, n], $f, |run: &Run<'_>| {
                let (x, mut p, mut q) = (run.buffer::<$t>(0), run.buffer_mut::<$t>(1), run.buffer_mut::<$t>(2));
                let (x, n) = (x.slice(run.range(0))?, run.range(1).len());
                let (mut p, mut q) = (p.slice_mut(run.range(1))?, q.slice_mut(run.range(2))?);
                let (x, p) = (x.view([5, n])?, p.view_mut([n])?);
                let launch = rows::<$t, $block>(x, p, &mut q, run.scalar());
                // SAFETY: the kernel updates the n elements behind the pointer.
                unsafe { launch.launch(run.stream, run.grid()) }
            }));
        }
    };
}

updates! {
    atomic_add atomic_add_at [i32 i64 u32 u64 f16 bf16 f32 f64] = added;
    atomic_min atomic_min_at [i32 i64 u32 u64 f16 bf16 f32 f64] = lesser;
    atomic_max atomic_max_at [i32 i64 u32 u64 f16 bf16 f32 f64] = greater;
    atomic_and atomic_and_at [i32 i64 u32 u64] = |_, a, b| a & b;
    atomic_or atomic_or_at [i32 i64 u32 u64] = |_, a, b| a | b;
    atomic_xor atomic_xor_at [i32 i64 u32 u64] = |_, a, b| a ^ b;
    atomic_xchg atomic_xchg_at [i32 i64 u32 u64 f16 bf16 f32 f64] = |_, _, b| b, order_is_open;
}

mod swaps {
    //! `atomic_cas`.
    use super::*;
    use triton::prelude::*;

    #[triton::kernel(T = [i16, i32, i64, u16, u32, u64, f16, bf16, f32, f64], configs = [
        (N = 64, num_warps = 1), (N = 512, num_warps = 8), (N = 96, num_warps = 2),
    ])]
    fn alone<T: Num, const N: i32>(compare: Ptr<T>, x: Ptr<T>, p: PtrMut<T>, old: PtrMut<T>) {
        let i = program_id(0) * N + arange(0, N);
        store(old + i, atomic_cas(p + i, load(compare + i, true), load(x + i, true)), true);
    }

    #[triton::kernel(T = [i16, i32, i64, u16, u32, u64, f16, bf16, f32, f64], configs = [
        (R = 4, C = 32, num_warps = 4), (R = 12, C = 24, num_warps = 2),
    ])]
    fn viewed<T: Num, const R: i32, const C: i32>(
        compare: Tensor<T, 2>,
        x: Tensor<T, 2>,
        p: TensorMut<T, 2>,
        old: TensorMut<T, 2>,
    ) {
        let at = [program_id(0) * R, program_id(1) * C];
        old.store(at, p.atomic_cas(at, compare.load(at, [R, C]), x.load(at, [R, C])));
    }

    /// What is there is compared with: it is replaced.
    #[triton::kernel(T = [i16, i32, i64, u16, u32, u64, f16, bf16, f32, f64], N = [256, 192], num_warps = 2)]
    fn listed<T: Num, const N: i32>(
        at: Tensor<i32, 1>,
        mask: Tensor<bool, 1>,
        x: Tensor<T, 1>,
        p: TensorMut<T, 1>,
        old: TensorMut<T, 1>,
    ) {
        let at = [at.load([0], [N])];
        old.store([0], p.atomic_cas_at(at, p.gather(at, true), x.load([0], [N]), mask.load([0], [N])));
    }

    /// Every program adds its number by comparing and exchanging.
    #[triton::kernel(T = [i16, i32, i64, u16, u32, u64])]
    fn together<T: Num>(p: PtrMut<T>) {
        let mine = (program_id(0) + 1).to::<T>();
        let mut expected = atomic_cas(p, mine, mine);
        let mut found = atomic_cas(p, expected, expected + mine);
        while found != expected {
            expected = found;
            found = atomic_cas(p, expected, expected + mine);
        }
    }

    const NAME: &[&str] = &["atomic_cas"];

    /// Two of three comparisons hold; floats are compared by their bits, so all are allowed.
    fn trial(dtype: DType, count: usize, seed: u64, grid: [usize; 3], launch: Launch) -> Trial {
        let [before, x, _] = inputs::columns([dtype, dtype, DType::Bool], 2, count, seed, inputs::all);
        let compare: Vec<u64> =
            before.iter().zip(&x).enumerate().map(|(i, (&old, &x))| if i % 3 == 0 { x } else { old }).collect();
        let after =
            (0..count).map(|i| Expected::Bits(if compare[i] == before[i] { x[i] } else { before[i] })).collect();
        let old = before.iter().copied().map(Expected::Bits).collect();
        let inputs = [Region::input(dtype, compare), Region::input(dtype, x)];
        let memory = [Region::update(dtype, before, after), Region::output(dtype, old)];
        Trial { regions: inputs.into_iter().chain(memory).collect(), numbers: vec![], grid, launch }
    }

    macro_rules! each {
        ($into:ident, $($t:ident)*) => { $({
            let t = <$t>::DTYPE;
            $into.push(super::listed(NAME, t, 256, |_, _, x| x, launch_listed!($t, listed::<$t, 256>, 256)));
            $into.push(super::listed(NAME, t, 192, |_, _, x| x, launch_listed!($t, listed::<$t, 192>, 192)));
            let mut push = |what: &str, count: usize, grid: [usize; 3], launch: Launch| {
                let name = format!("atomic_cas {t} {what}");
                let seed = inputs::seed(&name);
                $into.push(Case::new(name, NAME, move || trial(t, count, seed, grid, launch)));
            };
            push("[64] warps 1", 1024, [16, 1, 1], |run| launch!(run, alone::<$t, 64>(
                &run.ptr(), &run.ptr(), &mut run.ptr(), &mut run.ptr()
            )));
            push("[512] warps 8", 1024, [2, 1, 1], |run| launch!(run, alone::<$t, 512>(
                &run.ptr(), &run.ptr(), &mut run.ptr(), &mut run.ptr()
            )));
            push("[96] warps 2", 960, [10, 1, 1], |run| launch!(run, alone::<$t, 96>(
                &run.ptr(), &run.ptr(), &mut run.ptr(), &mut run.ptr()
            )));
            push("of views [4x32] warps 4", 15 * 70, [4, 3, 1], each!(@viewed $t, 4, 32));
            push("of views [12x24] warps 2", 15 * 70, [2, 3, 1], each!(@viewed $t, 12, 24));
        })* };
        (@viewed $t:ident, $r:literal, $c:literal) => {
            |run| {
                let (compare, x) = (run.buffer::<$t>(0), run.buffer::<$t>(1));
                let (mut p, mut old) = (run.buffer_mut::<$t>(2), run.buffer_mut::<$t>(3));
                let (compare, x) = (compare.slice(run.range(0))?, x.slice(run.range(1))?);
                let (mut p, mut old) = (p.slice_mut(run.range(2))?, old.slice_mut(run.range(3))?);
                let shape = [15, 70];
                viewed::<$t, $r, $c>(compare.view(shape)?, x.view(shape)?, p.view_mut(shape)?, old.view_mut(shape)?)
                    .launch(run.stream, run.grid())
            }
        };
        (@together $into:ident, $($t:ident)*) => { $({
            let t = <$t>::DTYPE;
            $into.push(Case::new(format!("atomic_cas {t} warps 4, together"), NAME, move || {
                let after = vec![Expected::Bits(wrap(t, 300 * 301 / 2))];
                let launch: Launch = |run| launch!(run, together::<$t>(&mut run.ptr()));
                Trial { regions: vec![Region::update(t, vec![0], after)], numbers: vec![], grid: [300, 1, 1], launch }
            }));
        })* };
    }

    /// The cases of every element type.
    pub fn cases(into: &mut Vec<Case>) {
        each!(into, i16 i32 i64 u16 u32 u64 f16 bf16 f32 f64);
        each!(@together into, i16 i32 i64 u16 u32 u64);
    }
}

mod fences {
    //! `fence`: what is written before it is seen by the program that counts last.
    use super::*;
    use triton::prelude::*;

    /// Each program leaves a number; the last one adds them.
    #[triton::kernel(T = [i32, i64, u32, u64, f32, f64], num_warps = 4)]
    fn gathered<T: Num>(x: Tensor<T, 1>, left: TensorMut<T, 1>, count: TensorMut<i32, 1>, out: TensorMut<T, 1>) {
        let i = program_id(0);
        left.store([i * 64], x.load([i * 64], [64]));
        fence();
        let before = count.atomic_add_at([0], 1, true);
        fence();
        if before == num_programs(0) - 1 {
            let mut all = zeros::<T>([64]);
            for k in 0..num_programs(0) {
                all += left.load([k * 64], [64]);
            }
            out.store([0], all);
        }
    }

    fn trial(dtype: DType, seed: u64, launch: Launch) -> Trial {
        let mut random = Random::new(seed);
        // Sums of small whole numbers are exact.
        let x: Vec<u64> = (0..64 * 9).map(|_| from_f64(dtype, random.below(4) as f64)).collect();
        let sum = |i: usize| (1..9).fold(x[i], |sum, k| added(dtype, sum, x[k * 64 + i]));
        let sums = (0..64).map(|i| Expected::Bits(sum(i))).collect();
        let left = x.iter().copied().map(Expected::Bits).collect();
        let regions = vec![
            Region::input(dtype, x.clone()),
            Region::output(dtype, left),
            Region::update(DType::I32, vec![0], vec![Expected::Bits(9)]),
            Region::output(dtype, sums),
        ];
        Trial { regions, numbers: vec![], grid: [9, 1, 1], launch }
    }

    /// The cases of some element types.
    pub fn cases(into: &mut Vec<Case>) {
        macro_rules! each {
            ($($t:ident)*) => { $({
                let t = <$t>::DTYPE;
                let name = format!("fence {t} before and after a count");
                let seed = inputs::seed(&name);
                let launch: Launch = |run| {
                    let (x, mut left) = (run.buffer::<$t>(0), run.buffer_mut::<$t>(1));
                    let (mut count, mut out) = (run.buffer_mut::<i32>(2), run.buffer_mut::<$t>(3));
                    let (x, mut left) = (x.slice(run.range(0))?, left.slice_mut(run.range(1))?);
                    let (mut count, mut out) = (count.slice_mut(run.range(2))?, out.slice_mut(run.range(3))?);
                    let views = (x.view([576])?, left.view_mut([576])?, count.view_mut([1])?, out.view_mut([64])?);
                    gathered::<$t>(views.0, views.1, views.2, views.3).launch(run.stream, run.grid())
                };
                into.push(Case::new(name, &["fence"], move || trial(t, seed, launch)));
            })* };
        }
        each!(i32 i64 u32 u64 f32 f64);
    }
}
