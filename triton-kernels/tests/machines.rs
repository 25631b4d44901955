//! What is chosen on devices that nothing was measured on: every choice has code and shared memory there, and computes the same.
#![cfg(all(feature = "linear", feature = "attention", feature = "contract", feature = "conv", feature = "norm"))]

use std::collections::BTreeSet;
use std::fmt::Debug;
use triton::ComputeCapability;
use triton::prelude::*;
use triton::sim::SimOptions;
use triton_kernels::attention::attention;
use triton_kernels::contract::contract;
use triton_kernels::conv::{Shifts, conv2d, shift_conv};
use triton_kernels::linear::{GemmElement, gemm, gemm_grouped};
use triton_kernels::norm::layer_norm;
use triton_kernels::{Activation, Result};

/// Compute capability and multiprocessors of an A6000, an A100, an L40S, half of a Hopper GPU and an H200.
const MACHINES: [([u32; 2], u32); 5] = [([8, 6], 84), ([8, 0], 108), ([8, 9], 142), ([9, 0], 66), ([9, 0], 132)];

fn device(([major, minor], multiprocessors): ([u32; 2], u32)) -> Device {
    let options = SimOptions::new().with_compute_capability(ComputeCapability::new(major, minor));
    Device::sim_with(options.with_multiprocessors(multiprocessors))
}

/// Products from one tile to several waves.
const SHAPES: [[usize; 3]; 8] = [
    [16, 16, 16],
    [32, 32, 60_000],
    [256, 256, 8192],
    [2560, 16, 2560],
    [2560, 128, 2560],
    [1024, 1024, 1024],
    [1536, 1536, 1536],
    [2048, 2048, 512],
];

/// The instances that are chosen for the shapes, each of which the device runs.
fn chosen<T: GemmElement<T>>(stream: &Stream, [ta, tb]: [bool; 2], active: bool) -> Result<BTreeSet<String>> {
    let most = SHAPES.iter().flat_map(|[m, n, k]| [m * k, n * k, m * n]).max().unwrap_or(0);
    let (x, mut out) = (stream.zeros::<T>(most)?, stream.zeros::<T>(most)?);
    let activation = if active { Activation::Relu } else { Activation::Identity };
    let mut names = BTreeSet::new();
    for [m, n, k] in SHAPES {
        let a = if ta { x.view([k, m])?.transpose() } else { x.view([m, k])? };
        let b = if tb { x.view([n, k])?.transpose() } else { x.view([k, n])? };
        let all = gemm(a, b, out.view_mut([m, n])?).activation(activation).instances(stream)?;
        let of = gemm(a, b, out.view_mut([m, n])?).activation(activation).selected(stream)?;
        let name = of.split_once(" in ").map_or(of.as_str(), |(name, _)| name);
        assert!(all.iter().any(|one| one == name), "{} of {m}x{n}x{k}: {name} of {all:?}", stream.device());
        names.insert(name.to_string());
    }
    Ok(names)
}

/// Runs instances on a product of ones.
fn run<T: GemmElement<T> + PartialEq + Debug>(stream: &Stream, one: T, sum: T, names: &BTreeSet<String>) -> Result<()> {
    let ones = stream.tensor(&[one; 48 * 64], [48, 64])?;
    for name in names {
        let mut c = stream.tensor_uninit::<T, _>([48, 48])?;
        gemm(&ones, ones.as_view().transpose(), &mut c).instance(name).launch(stream)?;
        assert!(stream.download(&c)?.iter().all(|c| *c == sum), "{name}");
    }
    Ok(())
}

#[test]
fn products_are_of_instances_that_the_device_runs() -> Result<()> {
    for machine in MACHINES {
        let stream = device(machine).stream()?;
        for order in [[false, false], [false, true], [true, false], [true, true]] {
            for active in [false, true] {
                chosen::<f32>(&stream, order, active)?;
                chosen::<bf16>(&stream, order, active)?;
                chosen::<f16>(&stream, order, active)?;
            }
        }
    }
    Ok(())
}

#[test]
fn what_99_kib_of_shared_memory_have_room_for_runs() -> Result<()> {
    let stream = device(MACHINES[0]).stream()?;
    let order = [false, true];
    run(&stream, 1.0f32, 64.0, &chosen::<f32>(&stream, order, false)?)?;
    run(&stream, bf16::ONE, bf16::from_f32(64.0), &chosen::<bf16>(&stream, order, false)?)
}

#[test]
fn splits_follow_the_multiprocessors() -> Result<()> {
    let splits = |machine| -> Result<String> {
        let stream = device(machine).stream()?;
        let (x, mut c) = (stream.zeros::<f32>(64 * 60_000)?, stream.tensor_uninit::<f32, _>([64, 64])?);
        gemm(x.view([64, 60_000])?, x.view([60_000, 64])?, &mut c).selected(&stream)
    };
    let [small, large] = [([8, 6], 28), ([8, 6], 142)].map(splits);
    assert_ne!(small?, large?);
    Ok(())
}

#[test]
fn other_operations_run_where_they_are_chosen() -> Result<()> {
    for machine in MACHINES {
        let stream = device(machine).stream()?;
        let zeros = stream.zeros::<f16>(1 << 16)?;
        for depth in [32, 64, 128] {
            let shape = [1, 2, 128, depth];
            let mut out = stream.tensor_uninit::<f16, _>(shape)?;
            let [q, k, v] = [zeros.view(shape)?; 3];
            attention(q, k, v, &mut out).selected(&stream)?;
        }
        for channels in [3, 32, 128] {
            let mut y = stream.tensor_uninit::<f16, _>([1, 8, 8, channels])?;
            let (x, w) =
                (zeros.slice(..64 * channels)?.view([1, 8, 8, channels])?, zeros.view([channels, 1, 1, channels])?);
            conv2d(x, w, &mut y).selected(&stream)?;
        }
        // Groups of many rows, and many tiles of a shift-convolution, ask for the largest tiles.
        let (ends, mut c) = (stream.tensor(&[128, 256], [2])?, stream.tensor_uninit::<f16, _>([256, 128])?);
        let (a, b) = (zeros.slice(..256 * 64)?.view([256, 64])?, zeros.slice(..2 * 64 * 128)?.view([2, 64, 128])?);
        gemm_grouped(a, b, &ends, &mut c).selected(&stream)?;
        let shifts = Shifts::new(&stream, &[(0, 1); 8])?;
        let (x, mut y) = (stream.zeros::<f16>(18_432 * 8)?, stream.tensor_uninit::<f16, _>([2, 96, 96, 128])?);
        let w = zeros.slice(..128 * 8)?.view([128, 8])?;
        shift_conv(x.view([2, 96, 96, 8])?, w, &shifts, &mut y).selected(&stream)?;
        let mut z = stream.tensor_uninit::<f16, _>([16, 16, 16])?;
        let cube = zeros.view([16, 16, 16])?;
        contract("iqa,qja->ija", cube, cube, &mut z).selected(&stream)?;
        for columns in [64, 4096, 16_384] {
            let mut y = stream.tensor_uninit::<f16, _>([2, columns])?;
            let (x, weight) = (zeros.view([2, columns])?, zeros.slice(..columns)?.view([columns])?);
            layer_norm(x, weight, weight, &mut y).selected(&stream)?;
        }
    }
    Ok(())
}
