//! The CPU device's memory: widths, masks, errors and their reasons, and buffers that are freed while kernels use them.

use super::CpuMemory;
use crate::{Device, Result, Stream};
use triton_ir::interp::Memory;

fn stream() -> Stream {
    Device::cpu().stream().expect("the CPU has streams")
}

#[test]
fn memory() -> Result<()> {
    let stream = stream();
    let x = stream.upload(&[1u32, 2, 3, 4])?;
    let y = stream.zeros::<u8>(3)?;
    let memory = CpuMemory::snapshot();
    let (a, b) = (x.address(), y.address());

    let mut out = [7; 5];
    let mask = [1, 1, 0, 1, 1];
    memory.load(4, &[a, a + 12, 1, a + 4, a], Some(&mask), &mut out).expect("inside");
    assert_eq!(out, [1, 4, 7, 2, 1]);
    memory.store(1, &[b + 2, 0, a], Some(&[1, 0, 1]), &[0x1ff, 0, 0xaa]).expect("inside");
    assert_eq!(stream.download(&y)?, [0, 0, 0xff], "only the element's width is written");
    assert_eq!(stream.download(&x.slice(..1)?)?, [0xaa]);
    memory.store(8, &[a + 8], None, &[u64::MAX]).expect("inside");
    memory.store(2, &[a + 8], None, &[0]).expect("inside");
    assert_eq!(stream.download(&x)?, [0xaa, 2, 0xffff_0000, 0xffff_ffff]);

    let cases: &[(u32, u64, &str)] = &[
        (4, a + 16, "just past the end of a buffer of 16 bytes"),
        (4, a + 24, "8 bytes past the end of a buffer of 16 bytes"),
        (1, b + 4, "1 byte past the end of a buffer of 3 bytes"),
        (8, a + 4, "not aligned to the 8 bytes of an element (byte 4 of a buffer of 16 bytes)"),
        (2, b + 2, "the last 1 of its 2 bytes lie past the end of a buffer of 3 bytes"),
    ];
    for (width, address, reason) in cases {
        let fault = memory.load(*width, &[a, *address], None, &mut [0, 0]).expect_err(reason);
        assert_eq!((fault.element, fault.address, fault.reason.as_str()), (1, *address, *reason));
        let fault = memory.store(*width, &[*address], None, &[0]).expect_err(reason);
        assert_eq!((fault.element, fault.reason.as_str()), (0, *reason));
    }
    for address in [0, u64::MAX, a.wrapping_sub(1 << 60)] {
        let fault = memory.load(1, &[address], None, &mut [0]).expect_err("far away");
        assert!(fault.reason.contains(" of a buffer of "), "{}", fault.reason);
    }
    assert!(memory.load(3, &[a], None, &mut [0]).is_err());

    drop(y);
    memory.load(1, &[b], None, &mut [0]).expect("a snapshot keeps what it saw");
    assert!(CpuMemory::snapshot().load(1, &[b], None, &mut [0]).is_err(), "it is gone now");
    Ok(())
}

#[test]
fn buffers_come_and_go_while_kernels_run() {
    std::thread::scope(|scope| {
        for n in 1..5u64 {
            scope.spawn(move || {
                let stream = stream();
                for i in 0..200 {
                    let x = stream.upload(&[n * 1000 + i; 100]).expect("memory");
                    let mut out = [0; 2];
                    let addresses = [x.address(), x.address() + 99 * 8];
                    CpuMemory::snapshot().load(8, &addresses, None, &mut out).expect("the buffer is alive");
                    assert_eq!(out, [n * 1000 + i; 2]);
                }
            });
        }
    });
}
