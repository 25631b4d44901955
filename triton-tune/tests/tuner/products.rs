//! Products whose instance a selector of the caller's chooses: a tuner, what it has written, and one that tries each.

use std::cell::{Cell, RefCell};
use triton::Selector;
use triton::prelude::*;
use triton::selection::{Call, Machine};
use triton_kernels::gemm_with;
use triton_kernels::linear::gemm;
use triton_kernels::{Activation, Result};
use triton_tune::{CostModel, Replay, Selection, Table, Tuner};

/// c += a · b of ones, where c starts at 5.
struct Product {
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    c: Tensor<f32, 2>,
}

const SHAPE: [usize; 3] = [64, 64, 512];
const KEY: [i64; 6] = [64, 64, 512, 0, 0, 1];

impl Product {
    fn new(stream: &Stream) -> Result<Product> {
        let [m, n, k] = SHAPE;
        let (a, b) = (stream.tensor(&vec![1.0; m * k], [m, k])?, stream.tensor(&vec![1.0; k * n], [k, n])?);
        Ok(Product { a, b, c: stream.tensor(&vec![5.0; m * n], [m, n])? })
    }

    fn selected(&mut self, stream: &Stream, selector: &dyn Selector) -> Result<String> {
        gemm(&self.a, &self.b, &mut self.c).beta(1.0).with(selector).selected(stream)
    }
}

/// What is chosen without a selector.
fn by_default(stream: &Stream) -> Result<String> {
    let Product { a, b, mut c } = Product::new(stream)?;
    gemm(&a, &b, &mut c).beta(1.0).selected(stream)
}

#[test]
fn what_a_tuner_measures_is_kept_and_chosen_again() -> Result<()> {
    let device = Device::cpu();
    let stream = device.stream()?;
    let fast = "64x64x32 split in 3";
    assert_ne!(by_default(&stream)?, fast);
    let times = [("64x64x32", 9.0), (fast, 4.0), ("64x64x32 split in 2", 8.0)];
    let replay = times.into_iter().fold(Replay::new(), |all, (name, us)| all.time("gemm-f32 fused", &KEY, name, us));
    let tuner = Tuner::from_vars(&device, |_| None).map_err(triton::Error::other)?.measure(replay);
    let mut product = Product::new(&stream)?;
    gemm(&product.a, &product.b, &mut product.c).beta(1.0).with(&tuner).launch(&stream)?;
    // Once, however many were measured.
    assert_eq!(stream.download(&product.c)?, vec![517.0; 64 * 64]);
    assert_eq!(product.selected(&stream, &tuner)?, fast);

    let table = tuner.store().table().winners().to_string();
    let (table, damaged) = Table::parse(&table).expect("the tuner's table is one");
    assert_eq!((damaged, table.len()), (0, 1), "{table}");
    let selection = Selection::new(&device).table(table);
    assert_eq!(product.selected(&stream, &selection)?, fast);
    // Of a product that is not in the table the library knows more than the nearest line.
    let [m, n, k] = [SHAPE[0], SHAPE[1], SHAPE[2] / 2];
    let (a, b) = (stream.tensor(&vec![1.0f32; m * k], [m, k])?, stream.tensor(&vec![1.0; k * n], [k, n])?);
    let mut other = |selector: Option<&dyn Selector>| -> Result<String> {
        let of = gemm(&a, &b, &mut product.c).beta(1.0);
        if let Some(selector) = selector { of.with(selector).selected(&stream) } else { of.selected(&stream) }
    };
    assert_eq!(other(Some(&selection))?, other(None)?);
    Ok(())
}

/// Launches every member that fits on the arguments of the call, and remembers their names.
#[derive(Default)]
struct Trying {
    names: RefCell<Vec<String>>,
    asked: Cell<usize>,
}

impl Selector for Trying {
    fn select(&self, call: &mut Call<'_>) -> triton::Result<Option<usize>> {
        self.asked.set(self.asked.get() + 1);
        let fitting: Vec<usize> = (0..call.members()).filter(|index| call.fits(*index)).collect();
        assert!(call.save()?, "c is a whole tensor");
        for &index in &fitting {
            call.launch(index)?;
            call.restore()?;
        }
        self.names.replace(fitting.iter().map(|index| call.name(*index)).collect());
        Ok(None)
    }
}

#[test]
fn every_candidate_computes_the_product_and_none_is_named_twice() -> Result<()> {
    let stream = Device::cpu().stream()?;
    let trying = Trying::default();
    let mut product = Product::new(&stream)?;
    gemm(&product.a, &product.b, &mut product.c)
        .beta(1.0)
        .activation(Activation::Relu)
        .with(&trying)
        .launch(&stream)?;
    assert_eq!(stream.download(&product.c)?, vec![517.0; 64 * 64]);
    let mut names = trying.names.take();
    let count = names.len();
    names.sort();
    names.dedup();
    assert!(names.len() == count && count > 3, "{names:?}");
    // Where it has no answer the library chooses.
    assert_eq!(product.selected(&stream, &trying)?, by_default(&stream)?);
    Ok(())
}

#[test]
fn what_was_asked_for_is_not_chosen() -> Result<()> {
    let stream = Device::cpu().stream()?;
    let (trying, mut product) = (Trying::default(), Product::new(&stream)?);
    gemm(&product.a, &product.b, &mut product.c).instance("64x64x32").with(&trying).launch(&stream)?;
    assert_eq!(trying.asked.get(), 0);
    // Of a number of splits the candidates are those in as many.
    gemm(&product.a, &product.b, &mut product.c).splits(2).with(&trying).launch(&stream)?;
    let names = trying.names.take();
    assert!(!names.is_empty() && names.iter().all(|name| name.ends_with(" in 2")), "{names:?}");
    Ok(())
}

#[test]
fn an_estimate_chooses_for_a_device_that_is_not_there() -> Result<()> {
    let device = Device::cpu();
    let stream = device.stream()?;
    let (x, mut c) = (stream.zeros::<bf16>(1024 * 1024)?, stream.tensor_uninit::<bf16, _>([1024, 1024])?);
    let square = || x.view([1024, 1024]);
    let mut of = |multiprocessors| -> Result<String> {
        let machine = Machine { multiprocessors, ..Machine::H200 };
        let tuner = Tuner::from_vars(&device, |_| None).map_err(triton::Error::other)?.measure(CostModel::new(machine));
        gemm(square()?, square()?, &mut c).with(&tuner).selected(&stream)
    };
    // 16 tiles of 256 x 256 are a wave of 16 multiprocessors, and leave most of 132 idle.
    assert_ne!(of(132)?, of(16)?);
    Ok(())
}

#[triton::function]
fn negated<const BM: i32, const BN: i32>(v: Tile<f32>, _at: (i32, i32)) -> Tile<f32> {
    -v
}
gemm_with!(negated_gemm, f32 => f32, negated);

#[test]
fn a_product_with_a_function_of_the_users_is_tuned_alike() -> Result<()> {
    let stream = Device::cpu().stream()?;
    let (trying, mut product) = (Trying::default(), Product::new(&stream)?);
    negated_gemm(&product.a, &product.b, &mut product.c).with(&trying).launch(&stream)?;
    assert_eq!(stream.download(&product.c)?, vec![-512.0; 64 * 64]);
    let names = trying.names.take();
    assert!(names.iter().any(|name| name.contains(" split in ")), "{names:?}");
    let times = Replay::new().time("gemm-f32 with negated_gemm", &KEY, "64x64x32 split in 3", 4.0);
    let tuner = Tuner::from_vars(stream.device(), |_| None).map_err(triton::Error::other)?.measure(times);
    let chosen = negated_gemm(&product.a, &product.b, &mut product.c).with(&tuner).selected(&stream)?;
    assert_eq!(chosen, "64x64x32 split in 3");
    Ok(())
}
