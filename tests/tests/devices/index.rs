//! Indices beyond 2³¹ elements: 64-bit index arithmetic reaches them, 32-bit arithmetic wraps as the language says.

use super::devices;
use triton::prelude::*;

/// out[base + i] = i + 1, with a base of 64 bits.
#[triton::kernel]
fn fill_at(out: PtrMut<u8>, base: i64, n: i32) {
    let i = program_id(0) * 256 + arange(0, 256);
    store(out + (i.to::<i64>() + base), (i + 1).to::<u8>(), i < n);
}

/// out[base + i] = 1, in 32 bits: the sum wraps.
#[triton::kernel]
fn fill_wrapped(out: PtrMut<u8>, base: i32) {
    let i = arange(0, 256) + base;
    store(out + i, 1_u8, true);
}

#[test]
fn indices_beyond_32_bits() -> triton::Result<()> {
    const BASE: usize = (1 << 31) + (1 << 20) + 5;
    for device in devices() {
        let stream = device.stream()?;
        let mut out = stream.zeros::<u8>(BASE + 300)?;
        // SAFETY: the kernel writes n elements from BASE on, which the buffer has.
        unsafe { fill_at(&mut out, BASE as i64, 300).launch(&stream, 2)? };
        let tail = stream.download(&out.slice(BASE - 8..)?)?;
        let expected: Vec<u8> = (0..308).map(|i: i32| if i < 8 { 0 } else { (i - 7) as u8 }).collect();
        assert_eq!(tail, expected, "{device}");
    }
    Ok(())
}

/// `i32::MAX + 1` is `i32::MIN`: two gigabytes before the buffer, which the CPU device reports.
#[test]
fn wrapped_indices_are_out_of_bounds() -> triton::Result<()> {
    let stream = Device::cpu().stream()?;
    let mut out = stream.zeros::<u8>(512)?;
    // SAFETY: the CPU device checks every access.
    let error = unsafe { fill_wrapped(&mut out, i32::MAX - 100).launch(&stream, 1) };
    let text = error.map(|()| String::new()).unwrap_or_else(|e| e.to_string());
    assert!(text.contains("store of 1 bytes") && text.contains("index.rs"), "{text}");
    Ok(())
}

/// A remainder has the sign of its dividend: from −8 on, those of 8 are 0, −7, −6, .. and no run of neighbours.
#[triton::kernel(num_warps = 1)]
fn remainders(x: Ptr<i32>, out: PtrMut<i32>, n: i32) {
    let i = arange(0, 256);
    store(out + i, load(x + 8 + (i - n) % 8, true), true);
}

#[test]
fn remainders_of_negative_indices() -> triton::Result<()> {
    let x: Vec<i32> = (0..16).collect();
    for device in devices() {
        let stream = device.stream()?;
        let dx = stream.upload(&x)?;
        for n in [0, 16, 256] {
            let mut out = stream.zeros::<i32>(256)?;
            // SAFETY: remainders are above −8 and below 8; `out` has 256 elements.
            unsafe { remainders(&dx, &mut out, n).launch(&stream, 1)? };
            let expected: Vec<i32> = (0..256).map(|i| 8 + (i - n) % 8).collect();
            assert_eq!(stream.download(&out)?, expected, "{device}, {n}");
        }
    }
    Ok(())
}
