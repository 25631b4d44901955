//! When workspaces and constants are allocated, copied and freed, and what it costs to take them again.

use super::{id, log};
use triton_runtime::{Device, Result};

pub fn workspaces() -> Result<()> {
    let device = Device::cuda(0)?;
    let stream = device.stream()?;
    let me = id(&stream);
    log();
    drop((stream.workspace::<u32>(10)?, stream.workspace::<u32>(10)?));
    assert_eq!(log(), vec![format!("allocate on {me}"); 2], "nothing is cleared");
    drop((stream.workspace::<f64>(10)?, stream.workspace::<u32>(1024)?));
    assert_eq!(log(), [""; 0], "what was lent before is lent again");
    drop(stream.workspace::<u32>(1025)?);
    assert_eq!(log(), [format!("free on {me}"), format!("allocate on {me}")], "a larger one takes its place");

    drop(stream.constants(&[1, 2])?);
    let uploaded = ["allocate", "upload"].map(|what| format!("{what} on {me}"));
    assert_eq!(log(), [&uploaded[..], &[format!("synchronize {me}")]].concat());
    drop(stream.constants(&[1, 2])?);
    assert_eq!(log(), [""; 0], "what was uploaded is kept");

    // In a capture memory is made on the stream that it was asked of, and the graph frees it.
    let mut x = stream.zeros::<i32>(2)?;
    log();
    let mut captured = 0;
    let graph = stream.capture(|stream| {
        captured = id(stream);
        stream.copy(&stream.constants(&[3, 4])?, &mut x)?;
        for _ in 0..3 {
            let mut large = stream.workspace::<i32>(5000)?;
            stream.fill(&mut large, 1)?;
        }
        Ok(())
    })?;
    let fills = vec![format!("fill 5000 x 4 on {captured}"); 3];
    let before =
        [&uploaded[..], &[format!("synchronize {me}"), format!("copy on {captured}"), format!("free on {me}")]];
    let all =
        [&[format!("begin-capture 2 on {captured}")], &before.concat()[..], &[format!("allocate on {me}")], &fills];
    assert_eq!(log()[..10], all.concat());
    drop(graph);
    assert_eq!(log(), ["destroy-exec".to_string(), format!("free on {me}"), format!("free on {me}")]);
    stream.trim();
    assert_eq!(log(), vec![format!("free on {me}"); 2]);

    // A capture that fails gives back nothing that it has used.
    let failed = stream.capture(|captured| {
        captured.fill(&mut captured.workspace::<i32>(1)?, 1)?;
        captured.synchronize()
    });
    assert!(failed.is_err());
    assert_eq!(log().iter().filter(|line| **line == format!("free on {me}")).count(), 1);
    let work = || -> Result<()> { stream.workspace::<i32>(3000).and(stream.constants(&[7; 9])).map(drop) };
    work()?;
    let counted = {
        let mut again = Ok(());
        let info = allocation_counter::measure(|| again = work());
        again.map(|()| info.count_total)?
    };
    assert_eq!(counted, 0, "taking them again allocates nothing on the host");
    Ok(())
}

pub fn without_pools() -> Result<()> {
    let stream = Device::cuda(0)?.stream()?;
    let me = id(&stream);
    drop(stream.workspace::<u32>(10)?);
    log();
    drop(stream.workspace::<u32>(5000)?);
    let larger = [format!("synchronize {me}"), "free".to_string(), "allocate".to_string()];
    assert_eq!(log(), larger);
    drop(stream);
    assert_eq!(log(), [format!("synchronize {me}"), "free".to_string(), format!("destroy {me}")]);
    Ok(())
}
