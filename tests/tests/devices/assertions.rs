//! Assertions that fail, and lines that are printed. On a GPU each in a process of its own: a failed assertion makes
//! the device unusable for the process, and printed lines are searched in its output.

use std::process::Command;
use triton::Error;
use triton::prelude::*;

/// out = x where every index is inside; program 3 is given one that is not.
#[triton::kernel(configs = [(BLOCK = 64), (BLOCK = 512, num_warps = 2)])]
fn gather<const BLOCK: i32>(x: Ptr<i32>, index: Ptr<i32>, out: PtrMut<i32>, n: i32, programs: i32) {
    const { assert!(BLOCK % 64 == 0, "whole warps") }
    assert!(num_programs(0) == programs);
    let i = program_id(0) * BLOCK + arange(0, BLOCK);
    let at = load(index + i, true);
    assert!((at >= 0) & (at < n), "an index \"outside\" of x; {{100 %}}");
    store(out + i, load(x + at, true), true);
}

#[triton::kernel(assertions = false)]
fn unchecked(out: PtrMut<i32>, n: i32) {
    assert!(n < 0, "never checked");
    store(out, n, true);
}

#[triton::kernel]
fn tell(x: TensorMut<f32, 2>, n: i32) {
    let p = program_id(0);
    println!("program {} of {}: {{{}}} %d {}", p, num_programs(0), n > 0, n.to::<i64>() - 3);
    let v = x.load([p, 0], [2, 4]);
    if p == 1 {
        println!("{} {} {}", v, v > 1.0, p);
    }
    println!("done");
}

/// What the call reports that notices the assertion.
fn failure(device: &Device, programs: usize) -> triton::Result<()> {
    let stream = device.stream()?;
    let n = 64 * programs;
    let mut indices: Vec<i32> = (0..n as i32).rev().collect();
    let (x, mut out) = (stream.upload(&vec![7; n])?, stream.zeros::<i32>(n)?);
    let index = stream.upload(&indices)?;
    // SAFETY: indices are below n, and as many as elements of the output.
    unsafe { gather::<64>(&x, &index, &mut out, n as i32, programs as i32).launch(&stream, programs)? };
    assert_eq!(stream.download(&out)?, vec![7; n]);
    // SAFETY: one element.
    unsafe { unchecked(&mut out, 5).launch(&stream, 1)? };
    assert_eq!(stream.download(&out.slice(..1)?)?, [5]);
    indices[64 * 3 + 17] = n as i32;
    let index = stream.upload(&indices)?;
    // SAFETY: the index beyond x stops the kernel before it is used.
    unsafe { gather::<64>(&x, &index, &mut out, n as i32, programs as i32).launch(&stream, programs)? };
    stream.synchronize()
}

fn check(error: Error) {
    let text = error.to_string();
    let Error::DeviceAssert { kernel, file, line, program, message, .. } = error else { panic!("{text}") };
    assert_eq!((kernel.as_str(), line, program), ("gather", 15, [3, 0, 0]), "{text}");
    assert!(file.ends_with("assertions.rs"), "{text}");
    assert_eq!(message, "an index \"outside\" of x; {100 %}");
}

#[test]
fn a_failed_assertion_is_named() {
    check(failure(&Device::cpu(), 5).expect_err("an index is outside"));
    check(failure(&Device::sim(), 5).expect_err("an index is outside"));
    match Device::cuda(0) {
        Ok(_) => assert!(run_child("assertion").contains("reported"), "the child says what it saw"),
        Err(error) => println!("SKIPPED on a GPU: {error}"),
    }
}

#[test]
fn lines_are_printed() {
    // Libtest keeps what is printed from the pipe, so those of the CPU and the simulator come from a child, too.
    for device in ["cpu", "sim", "cuda"] {
        if device == "cuda"
            && let Err(error) = Device::cuda(0)
        {
            println!("SKIPPED on a GPU: {error}");
            continue;
        }
        let output = run_child(&format!("print-{device}"));
        let mut lines: Vec<&str> = output.lines().filter(|l| l.starts_with(['p', '(', 'd'])).collect();
        lines.sort();
        let mut expected: Vec<String> = (0..2).map(|p| format!("program {p} of 2: {{true}} %d -1")).collect();
        for k in 0..8 {
            // Row 1 of the view, and one past its end.
            let x = if k < 4 { 1.0 + 0.25 * k as f32 } else { 0.0 };
            expected.push(format!("(1, 0, 0)[{}, {}] {x} {} 1", k / 4, k % 4, x > 1.0));
        }
        expected.extend(["done".to_string(), "done".to_string()]);
        expected.sort();
        assert_eq!(lines, expected, "{device}:\n{output}");
    }
}

/// The output of this program, run again for one case.
fn run_child(case: &str) -> String {
    let program = std::env::current_exe().expect("this program");
    let child = Command::new(program)
        .args(["--exact", "assertions::child", "--nocapture", "--test-threads=1"])
        .env("TRITON_TEST_CHILD", case)
        .output()
        .expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (output, errors) = (text(&child.stdout), text(&child.stderr));
    assert!(child.status.success(), "{case}:\n{output}\n{errors}");
    output
}

/// The part of a child; without a case it does nothing.
#[test]
fn child() {
    let Ok(case) = std::env::var("TRITON_TEST_CHILD") else { return };
    let device = || Device::cuda(0).expect("the parent has found it");
    match case.as_str() {
        "assertion" => {
            check(failure(&device(), 5).expect_err("an index is outside"));
            // Whatever is called next reports the same.
            check(device().stream().and_then(|s| s.synchronize()).expect_err("the device is gone"));
            println!("reported");
        }
        _ => {
            let device = match case.as_str() {
                "print-cpu" => Device::cpu(),
                "print-sim" => Device::sim(),
                _ => device(),
            };
            let printed = || -> triton::Result<()> {
                let stream = device.stream()?;
                let mut x = stream.upload(&[9.0f32, 9.0, 9.0, 9.0, 1.0, 1.25, 1.5, 1.75])?;
                println!();
                tell(x.view_mut([2, 4])?, 2).launch(&stream, 2)?;
                stream.synchronize()
            };
            printed().expect("nothing fails");
        }
    }
}
