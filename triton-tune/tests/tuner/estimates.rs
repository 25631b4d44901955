//! What the compiler estimates, beside what was measured, and as what a tuner measures by.

use crate::support::Folder;
use std::path::Path;
use triton::prelude::*;
use triton::selection::Machine;
use triton_tune::data::read;
use triton_tune::jit::{Form, Instance};
use triton_tune::report::estimates::correlations;
use triton_tune::{CostModel, Tuner};

/// Recorded on an H200: every candidate of a pool, in all orders of operands.
#[test]
fn estimates_rank_products_as_measuring_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/gemm-h200-complete.csv.gz");
    let data = read(path).expect("the file is whole");
    for op in ["gemm-bf16", "gemm-f32"] {
        let found = correlations(&data, op, 8, Machine::H200).expect("it is an operation of products");
        assert_eq!((found.contexts.len(), found.refused), (24, 0), "{op}");
        assert!(found.mean() >= 0.7, "{op}: {}", found.mean());
        assert!(found.first.mean <= 1.4, "{op}: {:?}", found.first);
    }
    let error = correlations(&data, "conv", 1, Machine::H200).expect_err("it is not a product").to_string();
    assert!(error.contains("one like `gemm-bf16`"), "{error}");
}

#[test]
fn an_estimate_follows_the_arguments() {
    let instance: Instance = "bf16 NN 128x128x64 warps 8 stages 4".parse().expect("an instance");
    let estimated = instance.estimate(Machine::H200, true).expect("it compiles");
    let us = |extents| estimated.us(extents, 1);
    // Four times the work of all multiprocessors, along each axis. A launch is 2.5 us of it.
    for extents in [[16384, 4096, 4096], [4096, 16384, 4096], [4096, 4096, 16384]] {
        let ratio = us(extents) / us([4096; 3]);
        assert!((3.6..4.4).contains(&ratio), "{extents:?}: {ratio}");
    }
    // At most what the tensor cores do, and no less than a third of it.
    let flops = 2.0 * 8192f64.powi(3) / us([8192; 3]) * 1e-6;
    assert!((330.0..990.0).contains(&flops), "{flops} TFLOPS");
    // As many blocks as multiprocessors run at once.
    let ratio = us([128 * 11, 128 * 12, 4096]) / us([128, 128, 4096]);
    assert!((1.0..2.0).contains(&ratio), "{ratio}");
    // Half of the multiprocessors take twice the time, where L2 has room for what they ask for.
    let with = |multiprocessors| {
        let machine = Machine { multiprocessors, ..Machine::H200 };
        instance.estimate(machine, true).expect("it compiles").us([4096; 3], 1)
    };
    let ratio = with(32) / with(64);
    assert!((1.8..2.2).contains(&ratio), "{ratio}");
    assert!(with(64) > us([4096; 3]), "{}", with(64));

    let split = Instance { form: Form::Split, ..instance }.estimate(Machine::H200, true).expect("it compiles");
    assert!(split.us([128, 128, 1 << 17], 64) < 0.1 * us([128, 128, 1 << 17]), "parts of K at once");
}

/// x += 1, by pieces of BLOCK for each program, `times` of them.
#[triton::kernel(BLOCK = [32, 1024], tune = [BLOCK, times], times = [1, 64])]
fn increment<const BLOCK: i32>(x: TensorMut<f32, 1>, times: i32) {
    for i in 0..times {
        let at = [(program_id(0) * times + i) * BLOCK];
        x.store(at, x.load(at, [BLOCK]) + 1.0);
    }
}

#[test]
fn a_tuner_measures_by_estimates_where_there_is_no_gpu() -> triton::Result<()> {
    let device = Device::cpu();
    let stream = device.stream()?;
    let tuner = Tuner::from_vars(&device, |_| None).expect("no mode is asked for");
    let tuner = tuner.measure(CostModel::new(Machine::H200)).check(0.0);
    for (elements, expected) in [(32, (32, 1)), (1 << 16, (1024, 1))] {
        let mut x = stream.zeros::<f32>(elements)?;
        let mut chosen = None;
        increment_tuned(x.view_mut([elements])?).with(&tuner).launch(&stream, |choice| {
            chosen = Some((choice.BLOCK, choice.times));
            elements.div_ceil((choice.BLOCK * choice.times) as usize)
        })?;
        assert_eq!(chosen, Some(expected), "{elements}");
        assert!(stream.download(&x)?.iter().all(|value| *value == 1.0), "it ran once");
    }
    let folder = Folder::new();
    let variables = |name: &str| (name == "TRITON_DSL_CACHE_DIR").then(|| folder.0.clone().into_os_string());
    let tuner = Tuner::from_vars(&device, variables).expect("no mode is asked for");
    let tuner = tuner.measure(CostModel::new(Machine::H200));
    let mut x = stream.zeros::<f32>(32)?;
    increment_tuned(x.view_mut([32])?)
        .with(&tuner)
        .launch(&stream, |choice| 32usize.div_ceil(choice.BLOCK as usize))?;
    let kept = tuner.store().path().is_some_and(Path::exists);
    assert!(!kept, "an estimate is not a time of this device");
    // Lists are of anything.
    let error = tuner.select("op", &[1], &["a", "b"].map(Named), |_, _| Ok::<(), triton::Error>(())).map(|_| ());
    let error = error.expect_err("nothing is known of them").to_string();
    assert!(error.contains("the compiler makes them for members of pools"), "{error}");
    Ok(())
}

/// A candidate that is a name.
#[derive(Debug)]
struct Named(&'static str);

impl triton_tune::Candidate for Named {
    fn name(&self) -> std::borrow::Cow<'_, str> {
        self.0.into()
    }

    fn fingerprint(&self) -> u64 {
        0
    }
}
