//! In which order memory that a stream lends is allocated, cleared and freed, and how elements are filled.

use super::{id, log};
use triton_runtime::{Device, Result};

pub fn scratch() -> Result<()> {
    let device = Device::cuda(0)?;
    let (stream, other) = (device.stream()?, device.stream()?);
    let (me, them) = (id(&stream), id(&other));
    log();
    drop(stream.scratch::<u32>(10)?);
    assert_eq!(log(), [format!("allocate on {me}"), format!("clear on {me}")]);
    drop(stream.scratch::<u32>(1024)?);
    assert_eq!(log(), [""; 0], "what was lent before is lent again, and nothing clears it");

    let mut scratch = stream.scratch::<u32>(1024)?;
    other.fill(&mut scratch, 0)?;
    drop(scratch);
    let waits = |on: usize, after: usize| [format!("record on {after}"), format!("wait on {on}")];
    let [first, second] = [waits(them, me), waits(me, them)];
    assert_eq!(
        log(),
        [&first[..], &[format!("fill 1024 x 4 on {them}")], &second].concat(),
        "the other stream's work comes first"
    );

    drop(stream.scratch::<u32>(1025)?);
    let larger = [format!("free on {me}"), format!("allocate on {me}"), format!("clear on {me}")];
    assert_eq!(log(), larger, "a larger one takes its place");
    drop(stream);
    assert_eq!(log(), [format!("free on {me}"), format!("destroy {me}")]);
    Ok(())
}

pub fn scratch_without_pools() -> Result<()> {
    let stream = Device::cuda(0)?.stream()?;
    let me = id(&stream);
    drop(stream.scratch::<u32>(10)?);
    log();
    drop(stream);
    assert_eq!(log(), [format!("synchronize {me}"), "free".to_string(), format!("destroy {me}")]);
    Ok(())
}

pub fn fills() -> Result<()> {
    let stream = Device::cuda(0)?.stream()?;
    let me = id(&stream);
    let (mut words, mut halves) = (stream.zeros::<u64>(100)?, stream.zeros::<u16>(100)?);
    log();
    stream.fill(&mut halves.slice_mut(3..7)?, 9)?;
    stream.fill(&mut words, 0x0000_0007_0000_0007)?;
    assert_eq!(log(), [format!("fill 4 x 2 on {me}"), format!("fill 200 x 4 on {me}")]);
    stream.fill(&mut words.slice_mut(1..)?, 7)?;
    let one = format!("fill 1 x 4 on {me}");
    let copies = vec![format!("copy on {me}"); 7];
    assert_eq!(log(), [&[one.clone(), one][..], &copies].concat(), "each copy doubles what is filled");
    stream.fill(&mut words.slice_mut(..0)?, 7)?;
    assert_eq!(log(), [""; 0]);
    assert_eq!(stream.download(&words)?[1..], [7; 99]);
    Ok(())
}
