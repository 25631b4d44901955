//! Views of memory that another owner has, on the CPU device: what they reach, and what is refused.

use crate::support::copy::{call, copy};
use triton_runtime::{Device, Error, Result, Stream, View, ViewMut};

fn stream() -> Stream {
    Device::cpu().stream().expect("the CPU has streams")
}

fn address<T>(values: &mut [T]) -> u64 {
    values.as_mut_ptr().expose_provenance() as u64
}

#[test]
fn slices() -> Result<()> {
    let (stream, device) = (stream(), Device::cpu());
    let values: Vec<f32> = (0..24).map(|i| i as f32).collect();
    let mut out = vec![-1.0f32; 13];
    {
        // Parts of the slices, at addresses that are multiples of an element alone.
        let x = View::from_slice(&device, &values[1..], [5, 4])?.narrow(0, 1..3)?.transpose();
        let y = ViewMut::from_slice(&device, &mut out[1..], [4, 2])?;
        call(copy(), x, y).launch(&stream, 8)?;
    }
    assert_eq!(out, [-1., 5., 9., 6., 10., 7., 11., 8., 12., -1., -1., -1., -1.]);

    // Between a buffer and a slice, and between the parts of one slice.
    let x = stream.upload(&values)?;
    let mut all = vec![0.0f32; 8];
    let (front, back) = all.split_at_mut(4);
    call(copy(), x.view([2, 2])?, ViewMut::from_slice(&device, front, [2, 2])?).launch(&stream, 8)?;
    call(copy(), View::from_slice(&device, front, [2, 2])?, ViewMut::from_slice(&device, back, [2, 2])?)
        .launch(&stream, 8)?;
    assert_eq!(all, [0., 1., 2., 3., 0., 1., 2., 3.]);
    // A slice without elements has an address that nothing may access.
    call(copy(), View::from_slice(&device, &[], [0, 4])?, ViewMut::from_slice(&device, &mut [], [0, 4])?)
        .launch(&stream, 8)?;

    let refused = |error: Error, text: &str| {
        assert!(error.to_string().contains(text), "{error}");
    };
    refused(View::from_slice(&device, &values, [5, 5]).unwrap_err(), "needs 25 elements, but there are 24");
    let bools = ViewMut::from_slice(&device, &mut [true], [1]).unwrap_err();
    refused(bools, "a kernel may store any byte, but a `bool` of the host is 0 or 1");
    // A graph may be replayed when the slice is gone.
    let mut kept = vec![0.0f32; 4];
    let captured = stream.capture(|stream| {
        call(copy(), View::from_slice(&device, &values, [2, 2])?, ViewMut::from_slice(&device, &mut kept, [2, 2])?)
            .launch(stream, 1)
    });
    refused(captured.map(drop).unwrap_err(), "a view of a slice of the host");
    Ok(())
}

#[test]
#[allow(unsafe_code, reason = "what is tested")]
fn raw_parts() -> Result<()> {
    let (stream, device) = (stream(), Device::cpu());
    let mut values: Vec<f32> = (0..24).map(|i| i as f32).collect();
    let mut out = [0.0f32; 6];
    let (from, to) = (address(&mut values), address(&mut out));
    // Column-major, and a stride of 0.
    // SAFETY: both live until the end of the function, and nothing else accesses them meanwhile.
    let views = |from| unsafe {
        let x = View::<f32, 2>::from_raw_parts(&device, from, 24, [2, 3], [0, 4])?;
        let y = ViewMut::<f32, 2>::from_raw_parts(&device, to, 6, [2, 3], [1, 2])?;
        Ok::<_, Error>((x, y))
    };
    let (x, y) = views(from)?;
    call(copy(), x, y).launch(&stream, 8)?;
    assert_eq!(out, [0., 0., 4., 4., 8., 8.]);
    // The address of a buffer of ours is as good, and a graph uses the memory at each replay.
    let buffer = stream.upload(&values[12..])?;
    // SAFETY: as above.
    let own = unsafe { View::<f32, 2>::from_raw_parts(&device, buffer.address(), 12, [2, 3], [0, 4])? };
    let graph = stream.capture(|stream| call(copy(), own, views(from)?.1).launch(stream, 8))?;
    graph.launch(&stream)?;
    assert_eq!(out, [12., 12., 16., 16., 20., 20.]);

    let mut bytes = [0u64; 4];
    let odd = address(&mut bytes) + 2;
    // SAFETY: nothing accesses these, or they are refused.
    let cases = unsafe {
        [
            (View::<f32, 2>::from_raw_parts(&device, 0, 4, [2, 2], [2, 1]).err(), "null"),
            (View::<f32, 2>::from_raw_parts(&device, odd, 4, [2, 2], [2, 1]).err(), "not a multiple of the 4 bytes"),
            (View::<f32, 2>::from_raw_parts(&device, from, 24, [2, 3], [22, 1]).err(), "needs 25 elements"),
            (View::<f32, 2>::from_raw_parts(&device, from, 24, [2, 3], [-1, 1]).err(), "stride"),
            (View::<f32, 1>::from_raw_parts(&device, !3, 24, [24], [1]).err(), "reach past the last address"),
            (ViewMut::<f32, 2>::from_raw_parts(&device, from, 24, [2, 3], [0, 1]).err(), "alias"),
        ]
    };
    for (error, text) in cases {
        let error = error.map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(text), "{error:?} instead of {text}");
    }
    Ok(())
}
