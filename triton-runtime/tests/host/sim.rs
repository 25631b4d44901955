//! What the options of the simulated device do.

use crate::support::{fill_params, image, kernel, launch_of, tensor_maps};
use triton_ir::metadata::Specialization;
use triton_runtime::sim::{Fault, SimOptions};
use triton_runtime::{AsPtrMutArg, Device, Error, LaunchArg, Result};

/// A loop that counts, and so never repeats itself, ends at the limit.
#[test]
fn launches_stop_at_the_limit() -> Result<()> {
    let ptx = ".version 8.0\n.target sm_80\n.address_size 64\n\
               .visible .entry fill(.param .u64 out, .param .u32 n) .reqntid 32,1,1\n{\n\
               .reg .pred %p; .reg .b64 %d<2>;\n\
               mov.u64 %d1, 0;\n\
               AGAIN: add.s64 %d1, %d1, 1; setp.lt.u64 %p, %d1, 0x7fffffffffffffff; @%p bra AGAIN;\n\
               ret;\n}\n\0";
    let counts = kernel("fill", fill_params(), vec![image("fill", ptx, Specialization::Generic, 32)]);
    let device = Device::sim_with(SimOptions::new().with_instruction_limit(10_000));
    let stream = device.stream()?;
    let mut out = stream.zeros::<i32>(1)?;
    let launch = launch_of(counts, [out.as_ptr_mut_arg(), LaunchArg::scalar(1i32)]);
    let error = launch.launch(&stream, 1).unwrap_err();
    let Error::Simulation(findings) = &error else { panic!("{error}") };
    assert!(matches!(findings.reports[..], [_]) && matches!(findings.reports[0].fault, Fault::Limit { .. }), "{error}");
    Ok(())
}

/// Boxes of views of every rank, inside and across their bounds; code without maps takes the views that have none.
#[test]
fn boxes_are_copied_by_tensor_maps() -> Result<()> {
    tensor_maps::check_device(&Device::sim())
}
