//! Training: the same network on any number of threads, and columns by what they depend on.

use crate::support::roofline::recorded;
use triton_tune::train::{Cpu, Fitted, Lessons, Options, Part, Scale, Split, Table, TargetKind, Trainer, split};

fn options() -> Options {
    Options { hidden: vec![16, 8], epochs: 3, batch: 300, rates: [1e-3, 1e-5], seed: 1 }
}

#[test]
fn networks_do_not_depend_on_threads() {
    let data = recorded(60, 20, 50, 0.02, 1);
    let table = Table::new(&data, false).expect("there are rows");
    let rows: Vec<usize> = (0..table.len()).collect();
    let train = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        let (kind, options) = ((Scale::Log, TargetKind::Time), Options { seed, ..options() });
        pool.install(|| Fitted::train(&table, &rows, kind, &Cpu, &options, &mut |_, _| {}).expect("finite data"))
    };
    assert_eq!(train(1, 1), train(3, 1));
    assert_ne!(train(1, 1), train(1, 2));
}

#[test]
fn columns_are_sorted_by_what_they_depend_on() {
    let data = recorded(60, 20, 50, 0.02, 1);
    let table = Table::new(&data, true).expect("there are rows");
    let part = |name: &str| table.columns.iter().find(|column| column.name == name).map(|column| column.part);
    for (name, expected) in [
        ("m", Part::Context),
        ("flops", Part::Context),
        ("BM", Part::Choice),
        ("registers", Part::Choice),
        ("blocks", Part::Joint),
    ] {
        assert_eq!(part(name), Some(expected), "{name}");
    }
    let rows: Vec<usize> = (0..table.len()).collect();
    let fitted = |target: TargetKind, table: &Table| {
        Fitted::train(table, &rows, (Scale::Log, target), &Cpu, &options(), &mut |_, _| {}).expect("finite data")
    };
    let joint = fitted(TargetKind::Time, &table).model().expect_err("a joint column").to_string();
    assert!(joint.contains("a feature is blocks, but one of the context or of the choice alone"), "{joint}");
    let plain = Table::new(&data, false).expect("there are rows");
    let tflops = fitted(TargetKind::Tflops, &plain).model().expect_err("TFLOPS").to_string();
    assert!(tflops.contains("train for `time`"), "{tflops}");
    let model = fitted(TargetKind::Time, &plain).model().expect("times of context and choice");
    let names = ["BM", "BN", "BK", "num_warps", "num_stages", "KL", "splits", "raster"];
    assert_eq!(model.check_features(&["m", "n", "k"], &names), Ok(()));
}

/// A model predicts what its network does.
#[test]
fn models_predict_as_their_networks() {
    let data = recorded(30, 20, 50, 0.02, 1);
    let table = Table::new(&data, false).expect("there are rows");
    let rows: Vec<usize> = (0..table.len()).collect();
    let kind = (Scale::Log, TargetKind::Time);
    let fitted = Fitted::train(&table, &rows, kind, &Cpu, &options(), &mut |_, _| {}).expect("finite data");
    let model = fitted.model().expect("times of context and choice");
    let network = fitted.network.predict(&fitted.features.samples(&table, &rows));
    let mut scratch = triton_select::model::Scratch::default();
    for (row, network) in data.rows.iter().zip(network) {
        let floats = |values: &[i64]| values.iter().map(|&value| value as f32).collect::<Vec<f32>>();
        let ranking = model.ranking(&[floats(&row.choice)]).expect("a value for each feature");
        let mut time = [0.0];
        ranking.times(&floats(&row.context), &mut scratch, &mut time).expect("a value for each feature");
        let expected = model.target().mean + model.target().scale * network;
        assert!((time[0] - expected).abs() < 1e-3, "{} and {expected}", time[0]);
    }
}

#[test]
fn splits_hold_out_rows_or_contexts() {
    let data = recorded(50, 20, 50, 0.02, 1);
    let table = Table::new(&data, false).expect("there are rows");
    for (by, shared) in [(Split::Sample, true), (Split::Context, false)] {
        let [train, test] = split(&table, by, 200, 1);
        let mut all = [train.clone(), test.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..table.len()).collect::<Vec<_>>(), "{by:?}");
        assert!((200..220).contains(&test.len()), "{by:?}: {}", test.len());
        let seen = |row: &usize| train.iter().any(|other| table.contexts[*other] == table.contexts[*row]);
        assert_eq!(test.iter().any(seen), shared, "{by:?}");
        assert_eq!(split(&table, by, 200, 1), [train, test]);
    }
}

#[test]
fn what_cannot_be_trained_is_an_error() {
    let data = recorded(5, 20, 50, 0.02, 1);
    let table = Table::new(&data, false).expect("there are rows");
    let rows: Vec<usize> = (0..table.len()).collect();
    let kind = (Scale::Log, TargetKind::Time);
    for options in [
        Options { hidden: vec![0], ..options() },
        Options { epochs: 0, ..options() },
        Options { batch: 0, ..options() },
        Options { rates: [f32::NAN, 1.0], ..options() },
        Options { rates: [1e30, 1e30], ..options() },
    ] {
        let result = Fitted::train(&table, &rows, kind, &Cpu, &options, &mut |_, _| {});
        assert!(result.is_err(), "{options:?}");
    }
    assert!(Fitted::train(&table, &[], kind, &Cpu, &options(), &mut |_, _| {}).is_err());
    assert!(Cpu.fit(&Default::default(), &options(), &mut |_, _| {}).is_err());
    assert!(Table::new(&Default::default(), false).is_err());
    // A network without a hidden layer is a linear one.
    let linear = Options { hidden: vec![], epochs: 300, rates: [5e-2, 1e-3], ..options() };
    let fitted = Fitted::train(&table, &rows, kind, &Cpu, &linear, &mut |_, _| {}).expect("finite data");
    assert!(fitted.error(&table, &rows) < 0.7, "{}", fitted.error(&table, &rows));
}

/// A network that is taught has the features of a program, and teachers are asked for.
#[test]
fn networks_are_taught_by_others() {
    let data = recorded(100, 20, 50, 0.02, 1);
    let teaching = Options { hidden: vec![32, 32], epochs: 40, batch: 128, rates: [4e-3, 4e-5], seed: 1 };
    let lessons = Lessons { teachers: 2, options: teaching.clone(), calls: 4000 };
    let fitted = Fitted::taught(&data, &lessons, &Cpu, &teaching, &mut |_, _| {}).expect("there are rows");
    let table = Table::new(&data, false).expect("there are rows");
    let all: Vec<usize> = (0..table.len()).collect();
    assert!(fitted.error(&table, &all) < 0.05, "{}", fitted.error(&table, &all));
    assert!(fitted.model().is_ok());
    let none = Lessons { teachers: 0, ..lessons };
    assert!(Fitted::taught(&data, &none, &Cpu, &teaching, &mut |_, _| {}).is_err());
    let empty = Lessons { teachers: 1, ..none };
    assert!(Fitted::taught(&Default::default(), &empty, &Cpu, &teaching, &mut |_, _| {}).is_err());
}
