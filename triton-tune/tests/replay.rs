//! The whole way without a GPU: sampling, a file of recorded times, training, selecting by the tuner, its file.

mod support;

use std::collections::HashSet;
use std::path::Path;
use support::roofline::{recorded, sampled};
use support::{Folder, tuner};
use triton::Device;
use triton_select::model::Model;
use triton_tune::data::{Data, Member, Recorder, Row, group, read};
use triton_tune::regret::regret;
use triton_tune::sample::{Options as Sampling, fit};
use triton_tune::space::tensor::gemm;
use triton_tune::train::{Cpu, Fitted, Options, Scale, Table, TargetKind};
use triton_tune::{Candidate, List, Replay, Selection, Source, Tuner};

/// Times of an H200 that the crate ships, from the time on that it does.
const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/gemm-h200.csv.gz");
/// Contexts that are held out, those with the most rows, and the least rows of one.
const HELD_OUT: (usize, usize) = (60, 32);
/// Rows that are trained on, at most.
const ROWS: usize = 60_000;

/// Rows to train on, and complete ones of other contexts: of an H200, or of a made-up device if the crate has none.
fn data() -> [Data; 2] {
    if Path::new(RECORDED).exists() {
        let data = read(RECORDED).expect("the file is whole");
        return held_out(data);
    }
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

/// The contexts of one operation with the most rows apart from the others.
fn held_out(mut data: Data) -> [Data; 2] {
    let mut ops: Vec<(usize, &str)> = Vec::new();
    for row in &data.rows {
        match ops.iter_mut().find(|(_, op)| *op == row.op) {
            Some((count, _)) => *count += 1,
            None => ops.push((1, &row.op)),
        }
    }
    let op = ops.iter().max().expect("there are rows").1.to_owned();
    data.rows.retain(|row| row.op == op);
    let mut groups = group(&data.rows);
    groups.sort_by_key(|group| std::cmp::Reverse(group.rows.len()));
    groups.truncate(HELD_OUT.0);
    groups.retain(|group| group.rows.len() >= HELD_OUT.1);
    let contexts: HashSet<Vec<i64>> = groups.iter().map(|group| group.rows[0].context.clone()).collect();
    assert!(contexts.len() >= HELD_OUT.0 / 2, "{} complete contexts", contexts.len());
    let (complete, mut rows): (Vec<Row>, Vec<Row>) =
        data.rows.into_iter().partition(|row| contexts.contains(&row.context));
    fastrand::Rng::with_seed(1).shuffle(&mut rows);
    rows.truncate(ROWS);
    [rows, complete].map(|rows| Data { schema: data.schema.clone(), rows, dropped: false })
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

#[test]
fn a_trained_model_selects_and_the_tuner_measures_its_first_ten() {
    let [train, complete] = data();
    let table = Table::new(&train, false).expect("there are rows");
    let all: Vec<usize> = (0..table.len()).collect();
    let options = Options { epochs: 100, batch: 512, rates: [4e-3, 2e-5], ..Options::default() };
    let fitted = Fitted::train(&table, &all, (Scale::Log, TargetKind::Time), &Cpu, &options, &mut |_, _| {});
    let bytes = fitted.and_then(|fitted| fitted.model()).expect("the data is finite").to_bytes();
    let model = Model::parse(&bytes).expect("it was written");
    // The statistics of the command line say the same.
    let expected = regret(&model, &complete, 10, 1).expect("the data has the model's columns");

    let folder = Folder::new();
    let replay = Replay::new().data(&complete);
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
    println!("{} contexts, {} rows: first {first:.3}, best of ten {top:.3}", firsts.len(), train.rows.len());
    assert!(first <= 1.10 && top <= 1.03, "{first} {top}");

    // The next program reads what this one has measured.
    let reading = tuner(&folder.0, "read").expect("it is a mode");
    let measured: usize = winners.iter().map(|(_, _, members, _)| members.len().min(10)).sum();
    assert_eq!(reading.store().table().len(), measured);
    for (op, key, members, top) in winners {
        assert_eq!(chosen(&reading, op, key, &members).name(), top.name(), "{key:?}");
    }
}
