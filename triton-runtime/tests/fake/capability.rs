//! Which images run on a GPU that has less shared memory than a newer one, and what the environment may make of a GPU.

use super::{log, run};
use crate::support::{fill_params, image, kernel, launch_of};
use std::fmt;
use std::sync::OnceLock;
use triton_ir::metadata::{Image, Specialization, Target};
use triton_runtime::pool::{Choice, Member};
use triton_runtime::{AsPtrMutArg, ComputeCapability, Device, Error, Kernel, LaunchArg, Result, Stream};

/// What a member of a pool is chosen by.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Only;

impl Choice for Only {
    fn get(&self, _: &str) -> Option<i128> {
        None
    }

    fn scalar(&self, _: &str) -> Option<LaunchArg<'static>> {
        None
    }
}

impl fmt::Display for Only {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("only")
    }
}

/// Code of a block with shared memory.
fn sized(entry: &'static str, specialization: Specialization, shared_bytes: u32) -> Image {
    let mut image = image(entry, "c\0", specialization, 128);
    image.shared_bytes = shared_bytes;
    image
}

/// Code for a Hopper GPU alone.
fn for_hopper(entry: &'static str) -> Image {
    let mut image = image(entry, "h\0", Specialization::Divisible16, 256);
    image.target = Target::Sm90a;
    image
}

/// One config of code for Hopper, of 100 KiB for aligned arguments, and of 64 bytes for any.
fn ranked() -> &'static Kernel {
    static RANKED: OnceLock<&'static Kernel> = OnceLock::new();
    let aligned = || sized("aligned", Specialization::Divisible16, 100 << 10);
    let images = || vec![for_hopper("hopper"), aligned(), sized("any", Specialization::Generic, 64)];
    RANKED.get_or_init(|| kernel("ranked", fill_params(), images()))
}

/// One config of more shared memory than compute capability 8.6 has.
fn large() -> &'static Kernel {
    static LARGE: OnceLock<&'static Kernel> = OnceLock::new();
    LARGE.get_or_init(|| kernel("large", fill_params(), vec![sized("large", Specialization::Generic, 100 << 10)]))
}

/// The entry that a launch over aligned arguments runs.
fn entry(kernel: &'static Kernel, stream: &Stream) -> Result<String> {
    let mut out = stream.zeros::<i32>(64)?;
    log();
    run(kernel, &mut out, 32, stream, 1)?;
    Ok(log().iter().find_map(|line| line.strip_prefix("function ").map(str::to_string)).unwrap_or_default())
}

/// What a GPU lacks the shared memory for is passed over, and is an error where there is nothing else.
pub fn shared_memory() -> Result<()> {
    let stream = Device::cuda(0)?.stream()?;
    let greedy = [300_000, 300_016].map(|bytes| sized("greedy", Specialization::Divisible16, bytes)).to_vec();
    let mut both = greedy.clone();
    both.push(sized("small", Specialization::Generic, 1000));
    assert_eq!(entry(kernel("both", fill_params(), both), &stream)?, "small");
    let error = entry(kernel("greedy", fill_params(), greedy), &stream).unwrap_err();
    assert!(matches!(error, Error::SharedMemory { needed: 300_000, limit: 232_448, .. }), "{error}");
    assert_eq!(entry(ranked(), &stream)?, "hopper");
    assert!(Member::new(Only, large, 0).runs_on(&stream));
    Ok(())
}

/// A GPU of compute capability 9.0 as one of 8.6: it has neither the instructions nor the shared memory.
pub fn older() -> Result<()> {
    let device = Device::cuda(0)?;
    let stream = device.stream()?;
    assert_eq!(device.compute_capability(), Some(ComputeCapability::new(8, 6)));
    assert_eq!(entry(ranked(), &stream)?, "any");
    assert!(!Member::new(Only, large, 0).runs_on(&stream));
    assert!(Member::new(Only, ranked, 0).runs_on(&stream));
    let mut out = stream.zeros::<i32>(64)?;
    let error = launch_of(large(), [out.as_ptr_mut_arg(), LaunchArg::scalar(0)]).load(&device).unwrap_err();
    let expected = "`large` needs 102400 bytes of shared memory a block, but a device of compute capability 8.6 has 101376; \
                    use smaller tiles or fewer stages";
    assert_eq!(error.to_string(), expected);
    let loaded = launch_of(ranked(), [out.as_ptr_mut_arg(), LaunchArg::scalar(0)]).load(&device)?;
    assert_eq!(loaded.iter().map(|info| info.specialization).collect::<Vec<_>>(), [Specialization::Generic]);
    Ok(())
}

/// The device is not opened.
pub fn unknown() -> Result<()> {
    let error = Device::cuda(0).unwrap_err();
    assert!(matches!(&error, Error::Capability { found, .. } if found == "sm_80"), "{error}");
    assert!(Device::best().to_string().contains("TRITON_DSL_CAPABILITY is `sm_80`"));
    Ok(())
}
