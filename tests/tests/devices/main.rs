//! Kernels on every device there is: CPU and simulator always, the GPU where a driver and a GPU are.
//!
//! The binary needs nothing of the source tree, so that it can be carried to a GPU host.

#![allow(unsafe_code, reason = "kernels over raw pointers; each launch says why its pointers are in bounds")]

mod add;
mod assertions;
mod atomics;
mod batches;
mod closures;
mod clusters;
mod control;
mod corpus;
mod exits;
mod exp;
mod gathers;
mod graphs;
mod index;
mod logic;
mod macros;
mod major;
mod matmul;
mod names;
mod padding;
mod pairs;
mod persist;
mod pools;
mod programs;
mod random;
mod raster;
mod reduce;
mod replacements;
mod scan;
mod scratch;
mod selecting;
mod sim;
mod targets;
mod undefined;
mod unroll;
mod views;

use triton::prelude::*;

/// Every device of this machine that can run kernels; says so if there is no GPU.
fn devices() -> Vec<Device> {
    let mut devices = vec![Device::cpu(), Device::sim()];
    match Device::cuda(0) {
        Ok(gpu) => devices.push(gpu),
        Err(error) => println!("SKIPPED on a GPU: {error}"),
    }
    devices
}
