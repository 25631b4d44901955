//! The first kernel: out = x + y, elementwise, over a length that no block divides.
//!
//! `cargo run --example add` uses the best device of this machine; `-- --device cpu`, `-- --device cuda` and
//! `-- --device sim` choose one.

mod support;

use triton::prelude::*;

/// out = x + y, elementwise.
#[triton::kernel(T = [f32, f16], BLOCK = [256, 1024])]
pub fn add<T: Num, const BLOCK: i32>(x: Ptr<T>, y: Ptr<T>, out: PtrMut<T>, n: i32) {
    let i = program_id(0) * BLOCK + arange(0, BLOCK);
    let mask = i < n;
    store(out + i, load(x + i, mask) + load(y + i, mask), mask);
}

fn main() -> std::process::ExitCode {
    support::run("add", run)
}

fn run(device: &Device) -> Result<(), Box<dyn std::error::Error>> {
    let stream = device.stream()?;

    const BLOCK: i32 = 1024;
    let n = 1_000_003;
    let x: Vec<f32> = (0..n).map(|i| i as f32 * 0.25).collect();
    let y: Vec<f32> = (0..n).map(|i| (n - i) as f32 * 0.5).collect();
    let (dx, dy) = (stream.upload(&x)?, stream.upload(&y)?);
    let mut out = stream.zeros::<f32>(x.len())?;

    let programs = x.len().div_ceil(BLOCK as usize);
    let launch = add::<f32, BLOCK>(&dx, &dy, &mut out, n);
    // SAFETY: the three buffers hold n elements each, and the mask keeps every access below n.
    #[allow(unsafe_code, reason = "a kernel over raw pointers")]
    unsafe {
        launch.launch(&stream, programs)?
    };

    let result = stream.download(&out)?;
    for (i, ((x, y), found)) in x.iter().zip(&y).zip(&result).enumerate() {
        let expected = x + y;
        if *found != expected {
            return Err(format!("element {i}: expected {expected}, found {found}").into());
        }
    }
    println!("add: {} elements correct on {device}", result.len());
    Ok(())
}
