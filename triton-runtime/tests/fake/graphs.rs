//! What the driver is asked for when a stream is captured, when a graph is launched, and when either goes.

use super::{fill, id, log, run};
use crate::support::launch_of;
use triton_runtime::{AsPtrMutArg, Device, Error, LaunchArg, Result};

pub fn graphs() -> Result<()> {
    let device = Device::cuda(0)?;
    let (a, b) = (device.stream()?, device.stream()?);
    let (ia, ib) = (id(&a), id(&b));
    let (mut x, mut y) = (a.zeros::<i32>(100)?, b.zeros::<i32>(100)?);
    log();
    let mut captured = 0;
    let graph = a.capture(|stream| {
        captured = id(stream);
        // Its first launch: it is loaded meanwhile.
        run(fill(), &mut x, 5, stream, 3)?;
        stream.copy(&x, &mut y)
    })?;
    let on = |what: &str, id: usize| format!("{what} on {id}");
    let expected = [
        on("begin-capture 2", captured),
        "link".to_string(),
        "function general".to_string(),
        format!("launch 3 1 1 x 32 + 0, n = 5 on {captured}"),
        on("copy", captured),
        on("end-capture", captured),
        "instantiate".to_string(),
        "destroy-graph".to_string(),
        format!("destroy {captured}"),
    ];
    assert_eq!(log(), expected);

    // One launch is one use of both buffers: it waits for what the last ones were on, and is waited for.
    graph.launch(&a)?;
    assert_eq!(log(), [on("record", ib), on("wait", ia), on("launch-graph", ia)]);
    graph.launch(&a)?;
    assert_eq!(log(), [on("launch-graph", ia)]);
    graph.launch(&b)?;
    let waits = [on("record", ia), on("wait", ib)];
    assert_eq!(log(), [&waits[..], &waits, &[on("launch-graph", ib)]].concat());
    a.fill(&mut x, 1)?;
    assert_eq!(log(), [on("record", ib), on("wait", ia), on("fill 100 x 4", ia)]);

    // The buffers are freed when the graph is gone, in the order of their last uses.
    drop((x, y));
    assert_eq!(log(), [""; 0]);
    drop(graph);
    assert_eq!(log(), ["destroy-exec".to_string(), on("free", ia), on("free", ib)]);
    Ok(())
}

pub fn captures_that_fail() -> Result<()> {
    let stream = Device::cuda(0)?.stream()?;
    let mut x = stream.zeros::<i32>(100)?;
    log();
    let failed = stream.capture(|captured| {
        captured.fill(&mut x, 1)?;
        captured.zeros::<f32>(7).map(drop)
    });
    assert!(matches!(failed, Err(Error::Capture { what: "a new buffer", .. })));
    let text = log().join("; ").replace(|c: char| c.is_ascii_digit(), "");
    assert_eq!(text, "begin-capture  on ; fill  x  on ; end-capture on ; destroy-graph; destroy ");

    // The launch is refused before the driver sees it, and the capture goes on.
    let graph = stream.capture(|captured| {
        let wrong = launch_of(fill(), [x.as_ptr_mut_arg(), LaunchArg::scalar(1u8)]).launch(captured, 1);
        assert!(matches!(wrong, Err(Error::Argument { index: 1, .. })));
        captured.fill(&mut x, 2)
    })?;
    graph.launch(&stream)
}

/// A driver that ends the capture with an error, as it does when what was captured is invalid.
pub fn invalid_captures() -> Result<()> {
    let stream = Device::cuda(0)?.stream()?;
    let mut x = stream.zeros::<i32>(100)?;
    let failed = stream.capture(|captured| captured.fill(&mut x, 1));
    assert!(matches!(&failed, Err(Error::Driver { call: "cuStreamEndCapture", code: 901, .. })), "{failed:?}");
    log();
    stream.fill(&mut x, 1)?;
    assert_eq!(log(), [format!("fill 100 x 4 on {}", id(&stream))]);
    Ok(())
}
