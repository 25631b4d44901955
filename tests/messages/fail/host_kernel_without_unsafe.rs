//! A kernel of the user's own metadata, and a launch of a raw kernel that calls itself safe.

use triton::prelude::*;
use triton::launch::mode::Safe;
use triton::metadata::KernelMetadata;
use triton::{Kernel, Launch, LaunchArg};

#[triton::kernel]
fn poke(p: PtrMut<i32>, value: i32) {
    store(p, value, true);
}

fn forged(metadata: KernelMetadata) -> &'static Kernel {
    Box::leak(Box::new(Kernel::new(metadata)))
}

fn main() -> triton::Result<()> {
    let stream = Device::cpu().stream()?;
    let mut x = stream.zeros::<i32>(1)?;
    let kernel = <triton::Compiled as PokeInstance>::kernel();
    let launch: Launch<'_, Safe, 2> = Launch::new(kernel, [x.as_ptr_mut_arg(), LaunchArg::scalar(9)]);
    launch.launch(&stream, 1)
}
