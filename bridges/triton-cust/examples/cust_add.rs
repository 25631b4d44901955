//! A kernel of ours on a context, a stream and buffers of `cust`.
//!
//! Where there is no driver at all, the program does not start, because `cust` links `libcuda`; where there is one but no
//! GPU, it says so and fails.

use cust::memory::{CopyDestination, DeviceBuffer};
use cust::stream::{Stream, StreamFlags};
use std::error::Error;
use std::process::ExitCode;
use triton::prelude::*;
use triton_cust::{Modules, ptr, ptr_mut};

/// out = x + y, elementwise.
#[triton::kernel(T = [f32], BLOCK = [512])]
fn add<T: Num, const BLOCK: i32>(x: Ptr<T>, y: Ptr<T>, out: PtrMut<T>, n: i32) {
    let i = program_id(0) * BLOCK + arange(0, BLOCK);
    let mask = i < n;
    store(out + i, load(x + i, mask) + load(y + i, mask), mask);
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cust_add: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let _context = cust::quick_init().map_err(|e| format!("no CUDA device could be used through cust: {e:?}"))?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let modules = Modules::new()?;

    // The first length takes the code for multiples of 16, the second the general one.
    for n in [1_000_000, 1_000_003] {
        let x: Vec<f32> = (0..n).map(|i| i as f32 * 0.25).collect();
        let y: Vec<f32> = (0..n).map(|i| (n - i) as f32 * 0.5).collect();
        let (dx, dy) = (DeviceBuffer::from_slice(&x)?, DeviceBuffer::from_slice(&y)?);
        let mut out = DeviceBuffer::from_slice(&vec![f32::NAN; x.len()])?;

        let (px, py) = (ptr(&dx), ptr(&dy));
        let mut pout = ptr_mut(&mut out);
        let launch = add::<f32, 512>(&px, &py, &mut pout, n);
        // SAFETY: the three buffers hold n elements each and live until the stream is synchronised, the mask keeps every
        // access below n, and the context is current.
        #[allow(unsafe_code, reason = "a kernel over raw pointers")]
        unsafe {
            modules.launch(launch, &stream, x.len().div_ceil(512))?
        };
        stream.synchronize()?;

        let mut result = vec![0.0f32; x.len()];
        out.copy_to(&mut result)?;
        for (i, ((x, y), found)) in x.iter().zip(&y).zip(&result).enumerate() {
            let expected = x + y;
            if *found != expected {
                return Err(format!("element {i}: expected {expected}, found {found}").into());
            }
        }
        println!("cust: add of {n} elements correct");
    }
    Ok(())
}
