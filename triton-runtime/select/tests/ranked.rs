//! A network that selects: which candidates it is for, and how often it is asked.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use triton::prelude::*;
use triton_select::model::{Feature, Layer, Model, Target, Transform};
use triton_select::{Candidate, Candidates, List, Predict, Rank, Record, Selection, Source, Table};

/// A candidate of a test.
struct Named(String);

impl Candidate for Named {
    fn name(&self) -> Cow<'_, str> {
        (&self.0).into()
    }

    fn fingerprint(&self) -> u64 {
        1
    }
}

fn named<const COUNT: usize>(names: [&str; COUNT]) -> [Named; COUNT] {
    names.map(|name| Named(name.into()))
}

fn features(names: &[&str]) -> Vec<Feature> {
    let feature = |name: &&str| Feature { name: (*name).into(), transform: Transform::Log2, mean: 0.0, scale: 1.0 };
    names.iter().map(feature).collect()
}

/// log₂ µs = |log₂ m − log₂ BM|: the tile as large as the matrix is the fastest.
fn nearest() -> Model {
    let layers = vec![
        Layer { inputs: 2, outputs: 2, weights: vec![1.0, -1.0, -1.0, 1.0], bias: vec![0.0; 2] },
        Layer { inputs: 2, outputs: 1, weights: vec![1.0; 2], bias: vec![0.0] },
    ];
    Model::new(features(&["m"]), features(&["BM"]), layers, Target { mean: 0.0, scale: 1.0 }).expect("it is whole")
}

/// The papers' network of 17 thousand weights, or another one, with eight numbers of the context and ten of the choice.
fn large(hidden: &[usize]) -> Model {
    let context: Vec<String> = (0..8).map(|index| format!("extent{index}")).collect();
    let choice: Vec<String> = (0..10).map(|index| format!("P{index}")).collect();
    let names = |names: &[String]| features(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let (mut layers, mut inputs) = (Vec::new(), 18);
    for &outputs in hidden.iter().chain(&[1]) {
        let weights = (0..inputs * outputs).map(|index| ((index * 7919) % 101) as f32 / 500.0 - 0.1).collect();
        layers.push(Layer { inputs, outputs, weights, bias: vec![0.01; outputs] });
        inputs = outputs;
    }
    Model::new(names(&context), names(&choice), layers, Target { mean: 0.0, scale: 1.0 }).expect("it is whole")
}

#[test]
fn a_model_is_asked_by_names() {
    let all = named(["BM=16 num_warps=4", "BM=64 num_warps=4", "BM=256 num_warps=8"]);
    let cases: [(&[Named], &[i64], usize, Source); 6] = [
        (&all, &[10], 0, Source::Model),
        (&all, &[60], 1, Source::Model),
        (&all, &[4000], 2, Source::Model),
        // Another count of numbers in the key, no `BM` in one of the candidates, one that is not a number.
        (&all, &[4000, 1], 0, Source::First),
        (&named(["BM=16", "BN=64"]), &[60], 0, Source::First),
        (&named(["BM=16", "BM=large"]), &[60], 0, Source::First),
    ];
    let missing = Model::parse(b"not a model").ok();
    let selection = Selection::new(&Device::cpu()).model(missing).model(nearest());
    for (candidates, key, index, source) in cases {
        let chosen = selection.choose(&List::new("op", candidates), key).expect("all fit");
        assert_eq!((chosen.index, chosen.source), (index, source), "{key:?}");
    }
}

/// What a library embeds: times that were measured come first, the model answers what was not.
#[test]
fn a_table_comes_before_a_model() {
    let all = named(["BM=16", "BM=64", "BM=256"]);
    let list = List::new("op", &all);
    let device = Device::cpu();
    let mut table = Table::new(triton_select::device_name(&device));
    let record = |key: i64, member: &str| Record {
        op: "op".into(),
        pool: 0,
        key: vec![key],
        member: member.into(),
        fingerprint: 1,
        us: 1.0,
    };
    table.insert(record(64, "BM=256"));
    let model = Model::parse(&nearest().to_bytes()).ok();
    let selection = Selection::new(&device).table(Table::embedded(&table.to_string())).model(model);
    for (key, index, source) in [
        (64, 2, Source::Table),
        (65, 1, Source::Model),
        (20, 0, Source::Model),
        (64, 2, Source::Memory),
        (65, 1, Source::Memory),
    ] {
        let chosen = selection.choose(&list, &[key]).expect("all fit");
        assert_eq!((chosen.index, chosen.source), (index, source), "{key}");
    }
    // A model is not for candidates of another operation if it is told so.
    let other = move |candidates: &dyn Candidates| {
        if candidates.op() == "another" { nearest().rank(candidates) } else { None }
    };
    let chosen = Selection::new(&device).model(other).choose(&list, &[64]).expect("all fit");
    assert_eq!(chosen.source, Source::First);
}

/// x = BM, so that the result tells which member ran.
#[triton::kernel(BM = [16, 64, 256], tune = [BM])]
fn mark<const BM: i32>(x: TensorMut<i32, 1>) {
    x.store([program_id(0) * BM], full([BM], BM));
}

/// The members of a pool have the names of their constants.
#[test]
fn a_launch_is_selected_by_a_model() -> triton::Result<()> {
    let device = Device::cpu();
    let (stream, selection) = (device.stream()?, Selection::new(&device).model(nearest()));
    for (length, expected) in [(20usize, 16), (100, 64), (1000, 256), (100, 64)] {
        let mut x = stream.zeros::<i32>(length)?;
        let grid = |choice: &MarkChoice| length.div_ceil(choice.BM as usize);
        mark_tuned(x.view_mut([length])?).key([length]).with(&selection).launch(&stream, grid)?;
        assert_eq!(stream.download(&x)?, vec![expected; length]);
    }
    Ok(())
}

/// A model that counts what it is asked.
struct Counted {
    model: Model,
    lists: Arc<AtomicUsize>,
    keys: Arc<AtomicUsize>,
}

struct CountedPredict {
    ranked: Box<dyn Predict>,
    keys: Arc<AtomicUsize>,
}

impl Rank for Counted {
    fn rank(&self, candidates: &dyn Candidates) -> Option<Box<dyn Predict>> {
        self.lists.fetch_add(1, Ordering::Relaxed);
        let (ranked, keys) = (self.model.rank(candidates)?, self.keys.clone());
        Some(Box::new(CountedPredict { ranked, keys }))
    }
}

impl Predict for CountedPredict {
    fn predict(&self, key: &[i64], times: &mut [f32]) -> bool {
        self.keys.fetch_add(1, Ordering::Relaxed);
        self.ranked.predict(key, times)
    }
}

/// 64 candidates: the model is made ready once for all keys, asked once for a key, without allocating, and never for one that was seen.
/// `triton-tune bench inference` measures what an answer takes.
#[test]
fn the_model_is_asked_once_for_a_key() {
    let value = |candidate: usize, feature: usize| 1 << ((candidate * 5 + feature * 3) % 8);
    let name = |candidate: usize| {
        (0..10).map(|feature| format!("P{feature}={}", value(candidate, feature))).collect::<Vec<_>>().join(" ")
    };
    let all: Vec<Named> = (0..64).map(|candidate| Named(name(candidate))).collect();
    for hidden in [&[32, 64, 32][..], &[64, 128, 64]] {
        let [lists, keys] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
        let model = Counted { model: large(hidden), lists: lists.clone(), keys: keys.clone() };
        let selection = Selection::new(&Device::cpu()).model(model);
        let list = List::new("op", &all);
        let choose = |m: i64| selection.choose(&list, &[m, 1, 2, 3, 4, 5, 6, 7]).map(|chosen| chosen.source);
        for m in 1..200 {
            assert_eq!(choose(m), Some(Source::Model));
        }
        let asked = || (lists.load(Ordering::Relaxed), keys.load(Ordering::Relaxed));
        assert_eq!(asked(), (1, 199));
        let counted = allocation_counter::measure(|| assert_eq!(choose(100), Some(Source::Memory)));
        assert_eq!(counted.count_total, 0);
        assert_eq!(asked(), (1, 199));

        let ranked = large(hidden).rank(&list).expect("it is for these candidates");
        let mut times = [0.0; 64];
        let counted = allocation_counter::measure(|| assert!(ranked.predict(&[1, 1, 2, 3, 4, 5, 6, 7], &mut times)));
        assert_eq!(counted.count_total, 0);
    }
}
