//! The whole way without a GPU: sampling, a file of recorded times, training, selecting by the tuner, its file.

use crate::support::roofline::{recorded, sampled};
use crate::support::{Folder, tuner};
use std::collections::HashSet;
use std::path::Path;
use triton::Device;
use triton_select::model::Model;
use triton_tune::data::{Data, Member, Recorder, group, read};
use triton_tune::prune::{Losses, prune};
use triton_tune::regret::regret;
use triton_tune::sample::{Options as Sampling, fit};
use triton_tune::space::tensor::gemm;
use triton_tune::train::{Cpu, Fitted, Options, Scale, Split, Table, TargetKind, split};
use triton_tune::{Candidate, List, Replay, Selection, Source, Tuner};

/// Recorded times that the crate ships: of an H200, for each type samples, and every candidate of a pool in other contexts.
fn shipped(file: &str, op: &str) -> Data {
    let mut data = read(Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(file)).expect("the file is whole");
    data.rows.retain(|row| row.op == op);
    data
}

/// The types with their shipped model.
const SHIPPED: [&str; 2] = ["gemm-bf16", "gemm-f32"];

/// Rows to train on, and complete ones of other contexts, of a made-up device.
fn made_up() -> [Data; 2] {
    let space = gemm();
    let mut accepted = Vec::new();
    let options = Sampling { uniform: 100_000, fitted: 20_000, accepted: 500, ..Sampling::default() };
    let sampler =
        fit(&space, &options, |round| accepted.push(round.acceptance)).expect("the space has legal candidates");
    assert!(accepted.last() > accepted.first(), "{accepted:?}");
    let data = sampled(&sampler, 3000, 20, 0.02, 1);
    // As a collector records: a row at a time, by two runs.
    let folder = Folder::new();
    let path = folder.0.join("gemm.csv");
    let (first, second) = data.rows.split_at(data.rows.len() / 2);
    for rows in [first, second] {
        let mut recorder = Recorder::open(&path, &data.schema).expect("the folder is writable");
        rows.iter().for_each(|row| recorder.append(row).expect("the folder is writable"));
    }
    let again = read(&path).expect("it was written");
    assert_eq!(again.rows.len(), data.rows.len());
    [again, recorded(40, usize::MAX, 60, 0.0, 2)]
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

#[test]
fn a_trained_model_selects_and_the_tuner_measures_its_first_ten() {
    let [train, complete] = made_up();
    let table = Table::new(&train, false).expect("there are rows");
    let all: Vec<usize> = (0..table.len()).collect();
    let options = Options { epochs: 100, batch: 512, rates: [4e-3, 2e-5], ..Options::default() };
    let fitted = Fitted::train(&table, &all, (Scale::Log, TargetKind::Time), &Cpu, &options, &mut |_, _| {});
    let bytes = fitted.and_then(|fitted| fitted.model()).expect("the data is finite").to_bytes();
    selects_well(&Model::parse(&bytes).expect("it was written"), &complete);
}

#[test]
fn shipped_models_select_well_in_contexts_that_were_held_out() {
    for op in SHIPPED {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(op).with_extension("model");
        let bytes = std::fs::read(path).expect("it is shipped");
        assert!(bytes.len() <= 100_000, "{op}: {} bytes", bytes.len());
        let [samples, complete] = ["gemm-h200.csv.gz", "gemm-h200-complete.csv.gz"].map(|file| shipped(file, op));
        let known: HashSet<&[i64]> = samples.rows.iter().map(|row| row.context.as_slice()).collect();
        assert!(
            samples.rows.len() >= 45_000 && !complete.rows.iter().any(|row| known.contains(row.context.as_slice()))
        );
        let contexts = selects_well(&Model::parse(&bytes).expect("it is of this version"), &complete);
        assert!(contexts >= 180, "{op}: {contexts} contexts");
    }
}

/// A small network on a part of the shipped rows is as good as it was when it was recorded.
#[test]
fn a_small_network_learns_shipped_times() {
    for (op, recorded) in SHIPPED.into_iter().zip([0.0185, 0.0149]) {
        let data = shipped("gemm-h200.csv.gz", op);
        let table = Table::new(&data, false).expect("there are rows");
        let [mut train, test] = split(&table, Split::Context, 5000, 1);
        train.truncate(20_000);
        let options =
            Options { hidden: vec![32, 64, 32], epochs: 40, batch: 256, rates: [4e-3, 2e-5], ..Options::default() };
        let fitted = Fitted::train(&table, &train, (Scale::Log, TargetKind::Time), &Cpu, &options, &mut |_, _| {});
        let error = fitted.expect("the data is finite").error(&table, &test);
        println!("{op}: {error:.4}");
        assert!(error <= 1.1 * recorded, "{op}: {error}, {recorded} before");
    }
}

/// Twelve instances of each order are nearly as fast as all.
#[test]
fn pruned_pools_of_shipped_times_lose_little() {
    for op in SHIPPED {
        let complete = shipped("gemm-h200-complete.csv.gz", op);
        let mut orders: Vec<&[i64]> = complete.rows.iter().map(|row| &row.context[3..5]).collect();
        orders.sort_unstable();
        orders.dedup();
        assert_eq!(orders.len(), 3);
        for order in orders {
            let rows = complete.rows.iter().filter(|row| row.context[3..5] == *order).cloned().collect();
            let data = Data { schema: complete.schema.clone(), rows, dropped: false };
            let losses = Losses::recorded(&data, &["splits"]).expect("there are rows");
            let pool = prune(&losses, 12);
            let loss = pool.losses.last().expect("there are instances");
            println!("{op} {order:?}: {loss:?}");
            assert!(loss.mean <= 1.03 && loss.worst <= 1.15 && loss.unmeasured == 0, "{op} {order:?}: {loss:?}");
        }
    }
}

/// What a model chooses, by the selection of a program and by a tuner that measures its first ten, in contexts that were completely measured: the
/// number of contexts.
fn selects_well(model: &Model, complete: &Data) -> usize {
    // The statistics of the command line say the same.
    let expected = regret(model, complete, 10, 1).expect("the data has the model's columns");

    let folder = Folder::new();
    let replay = Replay::new().data(complete);
    let measuring = tuner(&folder.0, "on").expect("it is a mode").model(model.clone()).top(10).measure(replay);
    let groups = group(&complete.rows);
    let chosen = |tuner: &Tuner, op: &str, key: &[i64], members: &[Member]| {
        tuner.select(op, key, members, |_, _| Ok::<(), triton::Error>(())).expect("times were recorded").clone()
    };
    let (mut firsts, mut tops, mut winners) = (Vec::new(), Vec::new(), Vec::new());
    for (group, expected) in groups.iter().zip(&expected.choices) {
        let (op, key) = (group.rows[0].op.as_str(), group.rows[0].context.as_slice());
        let members = group.members(&complete.schema);
        let us = |member: &Member| {
            let rows = group.rows.iter().filter(|row| Member::new(&complete.schema, &row.choice) == *member);
            rows.map(|row| row.us).fold(f64::INFINITY, f64::min)
        };
        let first = Selection::new(&Device::cpu()).model(model.clone()).choose(&List::new(op, &members), key);
        let first = first.expect("all fit");
        let top = chosen(&measuring, op, key, &members);
        assert_eq!(first.source, Source::Model);
        assert_eq!([us(&members[first.index]), us(&top)], [expected.first, expected.top], "{key:?}");
        firsts.push(expected.first / group.best());
        tops.push(us(&top) / group.best());
        winners.push((op, key, members, top));
    }
    let (first, top) = (geometric_mean(&firsts), geometric_mean(&tops));
    println!("{} contexts: first {first:.3}, best of ten {top:.3}", firsts.len());
    assert!(first <= 1.10 && top <= 1.03, "{first} {top}");

    // The next program reads what this one has measured.
    let reading = tuner(&folder.0, "read").expect("it is a mode");
    let measured: usize = winners.iter().map(|(_, _, members, _)| members.len().min(10)).sum();
    assert_eq!(reading.store().table().len(), measured);
    for (op, key, members, top) in winners {
        assert_eq!(chosen(&reading, op, key, &members).name(), top.name(), "{key:?}");
    }
    firsts.len()
}
