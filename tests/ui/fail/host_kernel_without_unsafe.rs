//! A kernel of the user's own record, and a launch of a raw kernel that calls itself safe.

use triton::prelude::*;
use triton::{Kernel, Launch, LaunchArg, Safe, record::Record};

#[triton::kernel]
fn poke(p: PtrMut<i32>, value: i32) {
    store(p, value, true);
}

fn forged(record: Record) -> &'static Kernel {
    Box::leak(Box::new(Kernel::new(record)))
}

fn main() -> triton::Result<()> {
    let stream = Device::cpu().stream()?;
    let mut x = stream.zeros::<i32>(1)?;
    let kernel = <the_kernel_poke as poke_was_compiled_for>::kernel();
    let launch: Launch<'_, Safe, 2> = Launch::new(kernel, [x.arg_mut(), LaunchArg::scalar(9)]);
    launch.launch(&stream, 1)
}
