//! Tests without a GPU: which launches `cust` can take, and the errors of the others.

#![allow(unsafe_code, reason = "kernels of records written by hand")]

use triton::launch::mode::Unsafe;
use triton::metadata::{
    Config, Image, KernelMetadata, ParamMetadata, ParamType, ProgramMap, Promised, Specialization, Target,
};
use triton::{ComputeCapability, Kernel, Launch, LaunchArg};
use triton_cust::{Error, Modules, image};

/// A kernel of one `i32`, in clusters of blocks.
fn kernel(cluster: [u32; 3]) -> &'static Kernel {
    let (target, programs) = (Target::Sm80, ProgramMap::Identity);
    let image = Image::new(
        target,
        Specialization::Generic,
        0,
        "entry".into(),
        "\0".into(),
        target.info().ptx_version,
        128,
        cluster,
        0,
        false,
        false,
        programs,
        0,
        None,
        std::borrow::Cow::Borrowed(&[]),
    );
    let param = ParamMetadata::new(
        "n".into(),
        ParamType::Scalar(<i32 as triton::Element>::DTYPE),
        16,
        true,
        Promised::Divisible,
        Vec::new().into(),
    );
    let config = Config::new(4, "".into(), vec![image].into());
    let metadata = KernelMetadata::new("k".into(), "k::<f32>".into(), vec![param].into(), vec![config].into());
    // SAFETY: it is never launched.
    Box::leak(Box::new(unsafe { Kernel::new(metadata) }))
}

/// Blocks of a cluster, the argument, the device, and whether it can be launched or how the error begins.
type Case<'a> = ([u32; 3], i32, (u32, u32), Result<(), &'a str>);

#[test]
fn launches() {
    let cases: &[Case<'_>] = &[
        ([1, 1, 1], 32, (9, 0), Ok(())),
        (
            [2, 1, 1],
            32,
            (9, 0),
            Err("`k::<f32>` needs clusters of 2 blocks, which cust 0.3.2 cannot launch; launch it"),
        ),
        ([2, 2, 1], 32, (9, 0), Err("`k::<f32>` needs clusters of 4 blocks")),
        ([1, 1, 1], 33, (9, 0), Err("`k::<f32>`: argument `n` is 33, which is not a multiple of 16")),
        ([1, 1, 1], 32, (7, 5), Err("`k::<f32>` was compiled for sm_80, which a device of compute capability 7.5")),
    ];
    for (cluster, n, capability, expected) in cases {
        // SAFETY: its mode is `Unsafe`.
        let launch = unsafe { Launch::<Unsafe, 1>::new(kernel(*cluster), [LaunchArg::scalar(*n)]) };
        match (image(&launch, ComputeCapability::new(capability.0, capability.1), None), expected) {
            (Ok(found), Ok(())) => assert_eq!(found.cluster, *cluster),
            (Err(error), Err(text)) => assert!(error.to_string().starts_with(text), "{error}\nexpected: {text}"),
            (found, expected) => panic!("{cluster:?} {n} {capability:?}: found {found:?}, expected {expected:?}"),
        }
    }
}

#[test]
fn without_context() {
    // Whether the library is a driver or a stand-in: no context is current.
    match Modules::new() {
        Err(Error::Cuda { what, .. }) => assert_eq!(what, "asking the current context for its device"),
        other => panic!("found {other:?}"),
    }
}
