//! What bounds a launch: the roofline model (Williams, Waterman and Patterson, CACM 2009), with the compiler's estimate of each unit.

use crate::error::{Error, Result};
use crate::inspect::Inspection;
use crate::trace::Launch;
use serde::Serialize;
use triton_core::estimate::Estimate;
use triton_core::ir::Function;
use triton_core::metadata::Machine;
use triton_core::ops::Op;
use triton_core::types::{DType, Elem};

/// A device by its ceilings.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    /// Its name.
    pub name: &'static str,
    machine: Machine,
    /// TFLOP/s of tensor cores for products of 16-bit floats, and of `f32` without them.
    tensor: f64,
    scalar: f64,
    /// GB/s of device memory: the data sheet's, and what a large copy moves.
    peak_gbps: f64,
    sustained_gbps: f64,
}

/// The share of the tensor cores' peak that a product sustains before the power limit lowers the clock.
const SUSTAINED: f64 = 0.8;

impl Device {
    /// An H100 (SXM5, 80 GB): what images are shown for.
    pub fn assumed() -> Device {
        Device {
            name: "H100",
            machine: Machine::H200,
            tensor: 989.0,
            scalar: 67.0,
            peak_gbps: 3352.0,
            sustained_gbps: 3020.0,
        }
    }

    /// Multiprocessors.
    pub fn multiprocessors(&self) -> u32 {
        self.machine.multiprocessors
    }
}

/// A launch under its roofs.
#[derive(Debug, Serialize)]
pub struct Roofline {
    machine: &'static str,
    peak_tflops: f64,
    sustained_tflops: f64,
    peak_gbps: f64,
    sustained_gbps: f64,
    unit: String,
    flops: f64,
    bytes: f64,
    estimate_us: f64,
    bound: String,
    parts: Vec<(&'static str, f64)>,
    launch: String,
}

/// The roofline of a launch.
///
/// # Errors
/// The compiler contradicts itself.
pub fn of(inspection: &Inspection<'_>, launch: &Launch) -> Result<Roofline> {
    let (kernel, image) = (inspection.kernel, inspection.image());
    let device = Device::assumed();
    let estimate = Estimate::new(&kernel.func.in_order(image.order), image.target, image.specialization);
    let estimate = estimate.map_err(|why| Error::Compiler { instance: kernel.to_string(), why })?;
    let taken = estimate.taken(&launch.values(kernel), launch.programs, &device.machine);
    let bytes = bytes(&kernel.func, launch);
    let (peak, unit) = ceiling(&kernel.func, &device);
    let of_memory = bytes / device.sustained_gbps / 1e3;
    let parts = vec![
        ("tensor cores", taken.tensor_cores),
        ("schedulers", taken.schedulers),
        ("shared memory", taken.shared_memory),
        ("L2", taken.l2),
        ("DRAM", of_memory),
    ];
    let (most, us) = parts.iter().copied().fold(("", 0.0), |most, part| if part.1 > most.1 { part } else { most });
    let all = taken.us.max(of_memory);
    let bound = if us * 2.0 < all {
        format!(
            "Latency: no unit is busy for half of the {all:.1} µs. Blocks wait for what they load, or are too few: see Advice and Loops."
        )
    } else {
        format!("{most}: busy for {us:.1} of {all:.1} µs by the compiler's estimate.")
    };
    Ok(Roofline {
        machine: device.name,
        peak_tflops: peak,
        sustained_tflops: peak * SUSTAINED,
        peak_gbps: device.peak_gbps,
        sustained_gbps: device.sustained_gbps,
        unit,
        flops: taken.flops,
        bytes,
        estimate_us: all,
        bound,
        parts,
        launch: launch.to_string(),
    })
}

/// Bytes of the arguments' elements: what a launch moves that reads and writes each once.
fn bytes(func: &Function, launch: &Launch) -> f64 {
    let mut params = func.params.iter();
    let mut sum = 0.0;
    for arg in &launch.args {
        let Some(first) = params.next() else { break };
        params.by_ref().take(arg.words.len().saturating_sub(1)).for_each(drop);
        if let Elem::Ptr { pointee, .. } = func.ty(first.value).elem {
            let rank = arg.words.len() / 2;
            let elements: u64 = arg.words[1..].iter().take(rank).product();
            let of_view = elements as f64 * f64::from(pointee.bytes());
            sum += if rank > 0 { of_view } else { arg.memory.map_or(0.0, |(_, bytes)| bytes as f64) };
        }
    }
    sum
}

/// The highest rate of what a kernel computes, in TFLOP/s, and by which unit.
fn ceiling(func: &Function, device: &Device) -> (f64, String) {
    let operand = func
        .walk()
        .into_iter()
        .find_map(|inst| if let Op::Dot { a, .. } = func.insts[inst].op { func.ty(a).elem.num() } else { None });
    match operand {
        Some(DType::F32) => (device.tensor / 2.0, "tensor cores, tf32".into()),
        Some(DType::F64) => (device.scalar, "tensor cores, f64".into()),
        Some(DType::I8 | DType::U8) => (device.tensor * 2.0, "tensor cores, 8 bits".into()),
        Some(dtype) => (device.tensor, format!("tensor cores, {dtype}")),
        None => (device.scalar, "f32 without tensor cores".into()),
    }
}
