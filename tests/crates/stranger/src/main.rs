//! A program outside the workspace, in edition 2021 and with default profiles, that knows the façade as `tri`.

mod kernels {
    //! Kernels in a module of their own.
    use tri::prelude::*;

    /// out = x + y, elementwise.
    #[tri::kernel(T = [f32, f16, i64], BLOCK = [64, 256])]
    pub fn add<T: Num, const BLOCK: i32>(x: Ptr<T>, y: Ptr<T>, out: PtrMut<T>, n: i32) {
        let i = program_id(0) * BLOCK + arange(0, BLOCK);
        let mask = i < n;
        store(out + i, load(x + i, mask) + load(y + i, mask), mask);
    }
}

use tri::prelude::*;

fn main() -> tri::Result<()> {
    const N: usize = 1000;
    let stream = Device::cpu().stream()?;
    if std::env::args().any(|arg| arg == "--dump") {
        return dump(&stream);
    }

    let x = stream.upload(&(0..N).map(|i| i as f32).collect::<Vec<_>>())?;
    let y = stream.upload(&vec![0.5f32; N])?;
    let mut out = stream.zeros::<f32>(N)?;
    // SAFETY: the buffers hold N elements, and the mask keeps every access below N.
    unsafe { kernels::add::<_, 256>(&x, &y, &mut out, N as i32).launch(&stream, N.div_ceil(256))? };
    let result = stream.download(&out)?;
    assert_eq!(result.len(), N);
    assert!(result.iter().enumerate().all(|(i, v)| *v == i as f32 + 0.5));

    let x = stream.upload(&vec![f16::from_f32(0.25); N])?;
    let y = stream.upload(&vec![f16::from_f32(1.5); N])?;
    let mut out = stream.zeros::<f16>(N)?;
    // SAFETY: as above.
    unsafe { kernels::add::<_, 64>(&x, &y, &mut out, N as i32).launch(&stream, N.div_ceil(64))? };
    assert!(stream.download(&out)?.iter().all(|v| v.to_f32() == 1.75));

    println!("stranger: {N} elements correct");
    Ok(())
}

/// Prints what the kernels embed, to be compared between builds.
fn dump(stream: &Stream) -> tri::Result<()> {
    let x = stream.zeros::<f32>(1)?;
    let mut out = stream.zeros::<f32>(1)?;
    let launch = kernels::add::<f32, 256>(&x, &x, &mut out, 1);
    for config in launch.metadata().configs.iter() {
        println!("{}", config.ir);
        config.images.iter().for_each(|image| println!("{}", image.text()));
    }
    Ok(())
}
