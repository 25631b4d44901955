//! Two devices in one process, and work of other libraries.

use super::{id, log};
use triton_runtime::{Device, Error, Operand, Region, Result, Stream, View};

fn both() -> Result<[Device; 2]> {
    Ok([Device::cuda(0)?, Device::cuda(1)?])
}

/// A copy is ordered with the uses of both buffers, and the target's streams stay those of its own device.
pub fn peers() -> Result<()> {
    let [first, second] = both()?;
    assert!(first.can_access_peer(&second) && first.can_access_peer(&first));
    log();
    first.enable_peer_access(&second)?;
    first.enable_peer_access(&second)?;
    first.enable_peer_access(&first)?;
    assert_eq!(log(), ["device 0 accesses device 1", "pool for 1: 1 0 3"], "once");
    // SAFETY: the fake driver does not look at the address, which is of the second device.
    #[allow(unsafe_code, reason = "an address of a peer")]
    let view =
        |device| unsafe { View::<f32, 1>::from_raw_parts(device, 0x1_0000, 4, [4], [1]) }.map(|view| view.shape());
    assert_eq!(view(&first)?, [4]);

    let (a, b, c) = (first.stream()?, second.stream()?, second.stream()?);
    let (ia, ib, ic) = (id(&a), id(&b), id(&c));
    let x = a.upload(&[1i32, 2])?;
    let mut y = b.zeros::<i32>(2)?;
    c.download(&y)?;
    log();
    a.copy_to_peer(&x, &mut y)?;
    let expected = [
        // After the write and the read, and before what follows.
        format!("record on {ib}"),
        format!("wait on {ia}"),
        format!("record on {ic}"),
        format!("wait on {ia}"),
        format!("copy from 0 to 1 on {ia}"),
        format!("record on {ia}"),
        format!("wait on {ib}"),
    ];
    assert_eq!(log(), expected);
    assert_eq!(b.download(&y)?, [1, 2]);
    drop(y);
    let freed: Vec<String> =
        log().into_iter().filter(|line| line.starts_with("free") || line.starts_with("wait")).collect();
    assert_eq!(freed, [format!("free on {ib}")]);

    let mut same = a.zeros::<i32>(2)?;
    a.copy_to_peer(&x, &mut same)?;
    assert!(log().contains(&format!("copy on {ia}")), "on one device it is a copy");
    // On a stream of the target it is a read of the source, whose next work comes after it.
    let mut y = b.zeros::<i32>(2)?;
    log();
    b.copy_to_peer(&x, &mut y)?;
    let expected = [
        format!("record on {ia}"),
        format!("wait on {ib}"),
        format!("copy from 0 to 1 on {ib}"),
        format!("record on {ib}"),
        format!("wait on {ia}"),
    ];
    assert_eq!(log(), expected);
    let refused = [
        a.copy_to_peer(&x, &mut Device::cpu().stream()?.zeros::<i32>(2)?),
        Device::cpu().stream()?.copy_to_peer(&x, &mut y),
    ];
    assert!(refused.iter().all(|result| matches!(result, Err(Error::WrongDevice { .. }))), "{refused:?}");
    assert!(matches!(a.copy_to_peer(&x, &mut b.zeros::<i32>(3)?), Err(Error::Length { source_len: 2, len: 3, .. })));
    let captured = a.capture(|stream| stream.copy_to_peer(&x, &mut y));
    assert!(matches!(captured, Err(Error::Capture { .. })), "{captured:?}");

    log();
    first.high_priority_stream()?;
    assert_eq!(log()[0], "stream of priority -5, flags 1");
    Ok(())
}

pub fn no_peers() -> Result<()> {
    let [first, second] = both()?;
    assert!(!first.can_access_peer(&second) && !first.can_access_peer(&Device::cpu()));
    for peer in [second, Device::cpu()] {
        let error = first.enable_peer_access(&peer).unwrap_err();
        assert!(matches!(error, Error::Peer { .. }), "{error}");
    }
    Ok(())
}

/// Work of another library gets addresses, in the order of a buffer's uses.
pub fn external() -> Result<()> {
    let device = Device::cuda(0)?;
    let (a, b) = (device.stream()?, device.stream()?);
    let (ia, ib) = (id(&a), id(&b));
    let x = a.tensor(&[1i32, 2, 3, 4], [2, 2])?;
    let mut y = b.tensor_zeros::<i32, 1>([2])?;
    let expected = (x.buffer().address() + 8, y.buffer().address());
    let work = move |stream: &Stream, regions: &[Region]| {
        assert_eq!((regions[0].address(), regions[1].address()), expected);
        assert_eq!((regions[0].bytes(), regions[1].len()), (8, 2));
        let mut row = [0; 8];
        let captured = stream.is_captured();
        let read = regions[0].read(stream, &mut row);
        assert_eq!(matches!(read, Err(Error::Capture { .. })), captured, "{read:?}");
        Ok(())
    };
    log();
    b.external(&[Operand::read(x.narrow(0, 1..)?)?, Operand::write(&mut y)?], work)?;
    let found = log();
    assert_eq!(found[..2], [format!("record on {ia}"), format!("wait on {ib}")]);
    assert_eq!(found[2], format!("download on {ib}"));
    let graph =
        a.capture(|stream| stream.external(&[Operand::read(x.narrow(0, 1..)?)?, Operand::write(&mut y)?], work))?;
    log();
    graph.launch(&a)?;
    assert!(log().contains(&format!("wait on {ia}")), "a replay comes after the use on the other stream");
    let other = Device::cuda(1)?.stream()?;
    let error = other.external(&[Operand::read(&x)?], |_, _| Ok(())).unwrap_err();
    assert!(error.to_string().contains("operand 0 is on Fake GPU (CUDA device 0)"), "{error}");
    Ok(())
}
