//! The order in which what is known is asked, and what is passed over.

use std::borrow::Cow;
use std::collections::HashSet;
use triton::Device;
use triton_select::{Candidate, Candidates, List, Predict, Record, Selection, Source, Table, device_name};

/// A candidate of a test: its name, and the version of its code.
struct Version(&'static str, u64);

impl Candidate for Version {
    fn name(&self) -> Cow<'_, str> {
        self.0.into()
    }

    fn fingerprint(&self) -> u64 {
        self.1
    }
}

const ALL: [Version; 4] = [Version("a", 1), Version("b", 2), Version("c", 3), Version("d", 4)];

/// Candidates of which some do not fit.
struct Partly<'c>(List<'c, Version>, HashSet<usize>);

impl Candidates for Partly<'_> {
    fn op(&self) -> Cow<'_, str> {
        self.0.op()
    }
    fn id(&self) -> u64 {
        self.0.id()
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn name(&self, index: usize) -> Cow<'_, str> {
        self.0.name(index)
    }
    fn fingerprint(&self, index: usize) -> u64 {
        self.0.fingerprint(index)
    }
    fn fits(&self, index: usize) -> bool {
        !self.1.contains(&index)
    }
}

/// A model of keys with one number: the candidate of that number is the fastest.
struct Model;

impl Predict for Model {
    fn predict(&self, key: &[i64], times: &mut [f32]) -> bool {
        let [best] = key else { return false };
        times.iter_mut().enumerate().for_each(|(index, time)| *time = (index as i64 - best).abs() as f32);
        true
    }
}

fn model(_: &dyn Candidates) -> Option<Box<dyn Predict>> {
    Some(Box::new(Model))
}

fn table(device: &str, rows: &[(&[i64], &str, u64, f64)]) -> Table {
    let mut table = Table::new(device);
    for &(key, member, fingerprint, us) in rows {
        let (op, member) = ("op".into(), member.into());
        assert!(table.insert(Record { op, pool: 0, key: key.to_vec(), member, fingerprint, us }));
    }
    table
}

/// A case: what was measured, what is embedded, of another device, whether there is a model; the key, what does not fit; what is chosen.
struct Case {
    name: &'static str,
    store: &'static [(&'static [i64], &'static str, u64, f64)],
    embedded: &'static [(&'static [i64], &'static str, u64, f64)],
    foreign: &'static [(&'static [i64], &'static str, u64, f64)],
    model: bool,
    key: &'static [i64],
    unfit: &'static [usize],
    expected: Option<(usize, Source)>,
}

const CASE: Case = Case {
    name: "nothing is known",
    store: &[],
    embedded: &[],
    foreign: &[],
    model: false,
    key: &[3],
    unfit: &[],
    expected: Some((0, Source::First)),
};

const CASES: &[Case] = &[
    CASE,
    Case { name: "the first does not fit", unfit: &[0, 1], expected: Some((2, Source::First)), ..CASE },
    Case { name: "none fits", unfit: &[0, 1, 2, 3], expected: None, ..CASE },
    Case {
        name: "measured",
        store: &[(&[3], "c", 3, 2.0), (&[3], "b", 2, 3.0)],
        expected: Some((2, Source::Store)),
        ..CASE
    },
    Case {
        name: "measured before embedded",
        store: &[(&[3], "c", 3, 2.0)],
        embedded: &[(&[3], "d", 4, 1.0)],
        expected: Some((2, Source::Store)),
        ..CASE
    },
    Case {
        name: "embedded",
        embedded: &[(&[3], "d", 4, 1.0)],
        model: true,
        expected: Some((3, Source::Table)),
        ..CASE
    },
    Case { name: "a model", model: true, key: &[1], expected: Some((1, Source::Model)), ..CASE },
    Case {
        name: "the model's first does not fit",
        model: true,
        key: &[3],
        unfit: &[3],
        expected: Some((2, Source::Model)),
        ..CASE
    },
    Case {
        name: "a key that the model does not know",
        model: true,
        key: &[1, 2],
        embedded: &[(&[1, 3], "b", 2, 1.0)],
        expected: Some((1, Source::Nearest)),
        ..CASE
    },
    Case {
        name: "the nearest by logarithm",
        store: &[(&[64], "b", 2, 1.0)],
        embedded: &[(&[4096], "c", 3, 1.0)],
        key: &[1024],
        expected: Some((2, Source::Nearest)),
        ..CASE
    },
    Case {
        name: "the winner's code has changed",
        store: &[(&[3], "c", 99, 1.0), (&[3], "b", 2, 2.0)],
        expected: Some((1, Source::Store)),
        ..CASE
    },
    Case {
        name: "the winner does not exist any more",
        store: &[(&[3], "gone", 3, 1.0), (&[3], "d", 4, 2.0)],
        expected: Some((3, Source::Store)),
        ..CASE
    },
    Case {
        name: "the winner does not fit",
        store: &[(&[3], "b", 2, 1.0), (&[3], "c", 3, 2.0)],
        unfit: &[1],
        expected: Some((2, Source::Store)),
        ..CASE
    },
    Case {
        name: "the nearest winner does not fit",
        store: &[(&[4], "b", 2, 1.0), (&[400], "c", 3, 2.0)],
        unfit: &[1],
        expected: Some((2, Source::Nearest)),
        ..CASE
    },
    Case {
        name: "another device's winner is a hint",
        foreign: &[(&[3], "d", 4, 1.0)],
        expected: Some((3, Source::Nearest)),
        ..CASE
    },
    Case {
        name: "ours is nearer than another device's",
        foreign: &[(&[3], "d", 4, 1.0)],
        embedded: &[(&[3000], "b", 2, 1.0)],
        expected: Some((1, Source::Nearest)),
        ..CASE
    },
    Case {
        name: "another length of the key",
        store: &[(&[3, 3], "b", 2, 1.0)],
        expected: Some((0, Source::First)),
        ..CASE
    },
    Case { name: "an empty key", store: &[(&[], "b", 2, 1.0)], key: &[], expected: Some((1, Source::Store)), ..CASE },
];

#[test]
fn cases() {
    let device = Device::cpu();
    let name = device_name(&device);
    for case in CASES {
        let mut selection = Selection::new(&device)
            .table(table("NVIDIA X, 9.0, 1 multiprocessors", case.foreign))
            .table(table(&name, case.embedded));
        if case.model {
            selection = selection.model(model as fn(&dyn Candidates) -> Option<Box<dyn Predict>>);
        }
        assert!(selection.add_measured(&table(&name, case.store)), "{}", case.name);
        let candidates = Partly(List::new("op", &ALL), case.unfit.iter().copied().collect());
        let found = selection.choose(&candidates, case.key).map(|chosen| (chosen.index, chosen.source));
        assert_eq!(found, case.expected, "{}", case.name);
        let again = selection.choose(&candidates, case.key).map(|chosen| (chosen.index, chosen.source));
        assert_eq!(again, case.expected.map(|(index, _)| (index, Source::Memory)), "{}, again", case.name);
    }
}

#[test]
fn what_failed_is_not_chosen_again() {
    let device = Device::cpu();
    let selection = Selection::new(&device);
    selection.add_measured(&table(&device_name(&device), &[(&[3], "c", 3, 1.0), (&[3], "b", 2, 2.0)]));
    let candidates = List::new("op", &ALL);
    let mut chosen = Vec::new();
    while let Some(found) = selection.choose(&candidates, &[3]) {
        chosen.push(found.index);
        selection.fail(&candidates, &[3], found.index);
    }
    assert_eq!(chosen, [2, 1, 0, 3]);
    assert_eq!(selection.choose(&candidates, &[4]).map(|found| found.index), Some(2), "another key has not failed");
}

#[test]
fn a_table_of_another_device_is_not_what_was_measured_here() {
    let selection = Selection::new(&Device::cpu());
    assert!(!selection.add_measured(&table("NVIDIA X", &[(&[3], "c", 3, 1.0)])));
    assert!(selection.measured().is_empty());
}

#[test]
fn another_list_is_remembered_apart() {
    let selection = Selection::new(&Device::cpu());
    let (all, rest) = (List::new("op", &ALL), List::new("op", &ALL[1..]));
    selection.add_measured(&table("CPU", &[(&[3], "c", 3, 1.0)]));
    assert_eq!(selection.choose(&all, &[3]).map(|chosen| chosen.index), Some(2));
    assert_eq!(selection.choose(&rest, &[3]).map(|chosen| chosen.index), Some(1));
}
