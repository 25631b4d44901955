//! What can go wrong: each trouble ends in the right winner, or in an error that says what happened.

use crate::support::{Folder, tuner};
use std::borrow::Cow;
use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;
use triton::Device;
use triton_tune::{Candidate, Candidates, Error, Failing, Predict, Record, Replay, Table, Trouble, Tuner};

/// A candidate of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Version(&'static str, u64);

impl Candidate for Version {
    fn name(&self) -> Cow<'_, str> {
        self.0.into()
    }

    fn fingerprint(&self) -> u64 {
        self.1
    }
}

const ALL: &[Version] = &[Version("a", 1), Version("b", 2), Version("c", 3), Version("d", 4), Version("e", 5)];
const KEY: &[i64] = &[4096, 7];

/// How long they take: `b` is the fastest, then `c`.
fn times() -> Replay {
    let us = [4.0, 2.0, 3.0, 5.0, 6.0];
    ALL.iter().zip(us).fold(Replay::new(), |replay, (of, us)| replay.time("op", KEY, of.0, us))
}

fn table_of(device: &str, rows: &[(&str, u64, f64)]) -> Table {
    let mut table = Table::new(device);
    for &(member, fingerprint, us) in rows {
        let (op, member) = ("op".into(), member.into());
        assert!(table.insert(Record { op, pool: 0, key: KEY.to_vec(), member, fingerprint, us }));
    }
    table
}

/// What a tuner has found before, of this device.
const MEASURED: &[(&str, u64, f64)] = &[("a", 1, 4.0), ("b", 2, 2.0), ("c", 3, 3.0), ("d", 4, 5.0), ("e", 5, 6.0)];

fn measured() -> String {
    table_of("CPU", MEASURED).to_string()
}

/// The same after a change of the line of `b`.
fn changed(change: impl Fn(&str) -> String) -> Vec<u8> {
    let text = measured();
    let lines = text.lines().map(|line| if line.contains("\tb\t") { change(line) } else { line.to_string() });
    lines.collect::<Vec<_>>().join("\n").into_bytes()
}

/// A model that says of candidates how slow they are.
struct Says(&'static [f32]);

impl Predict for Says {
    fn predict(&self, _: &[i64], times: &mut [f32]) -> bool {
        let known = times.len() == self.0.len();
        times.iter_mut().zip(self.0).for_each(|(time, says)| *time = *says);
        known
    }
}

fn model(says: &'static [f32]) -> impl triton_tune::Rank {
    move |_: &dyn Candidates| Some(Box::new(Says(says)) as Box<dyn Predict>)
}

/// A trouble: the file of times, the mode, the tuner, the candidates; the winner or a part of the error, and which candidates are measured.
struct Planted {
    name: &'static str,
    file: fn() -> Option<Vec<u8>>,
    mode: &'static str,
    tuner: fn(Tuner) -> Tuner,
    all: &'static [Version],
    expected: Result<&'static str, &'static str>,
    measured: &'static str,
}

/// Nothing goes wrong.
const NONE: Planted = Planted {
    name: "nothing is known",
    file: || None,
    mode: "on",
    tuner: |tuner| tuner.measure(times()),
    all: ALL,
    expected: Ok("b"),
    measured: "abcde",
};

/// Everything was measured before.
const KNOWN: Planted = Planted { name: "everything is known", file: || Some(measured().into()), measured: "", ..NONE };

const TROUBLES: &[Planted] = &[
    NONE,
    KNOWN,
    Planted { name: "reading alone", mode: "read", ..KNOWN },
    Planted { name: "reading what is not there", mode: "read", expected: Ok("a"), measured: "", ..NONE },
    Planted { name: "off", mode: "off", expected: Ok("a"), ..KNOWN },
    Planted { name: "an unknown mode", mode: "yes", expected: Err("TRITON_DSL_TUNE is `yes`"), measured: "", ..NONE },
    // The file.
    Planted {
        name: "the winner's code has changed",
        file: || Some(changed(|_| table_of("CPU", &[("b", 9, 1.0)]).to_string().lines().last().unwrap_or("").into())),
        measured: "b",
        ..NONE
    },
    Planted {
        name: "the winner's line is cut off",
        file: || Some(changed(|line| line[..20].into())),
        measured: "b",
        ..NONE
    },
    Planted {
        name: "a digit of the winner's time",
        file: || Some(changed(|line| line.replace("\t2\t", "\t9\t"))),
        measured: "b",
        ..NONE
    },
    Planted { name: "the winner's line is gone", file: || Some(changed(|_| String::new())), measured: "b", ..NONE },
    Planted {
        name: "damage, reading alone",
        file: || Some(changed(|line| line[..20].into())),
        mode: "read",
        expected: Ok("c"),
        measured: "",
        ..NONE
    },
    Planted {
        name: "a truncated file",
        file: || Some(measured()[..measured().len() / 2].into()),
        measured: "cde",
        ..NONE
    },
    Planted { name: "a truncated header", file: || Some(b"triton-tu".to_vec()), ..NONE },
    Planted { name: "an empty file", file: || Some(Vec::new()), ..NONE },
    Planted { name: "binary rubbish", file: || Some((0..=255).collect()), ..NONE },
    Planted { name: "another format", file: || Some(b"{\"op\": \"op\"}\n".to_vec()), ..NONE },
    Planted {
        name: "another version",
        file: || Some(measured().replace("triton-tune 1", "triton-tune 99").into()),
        ..NONE
    },
    Planted {
        name: "another device",
        file: || Some(table_of("NVIDIA X, 9.0, 1 multiprocessors", MEASURED).to_string().into()),
        ..NONE
    },
    Planted {
        name: "the winner does not exist any more",
        file: || Some(table_of("CPU", &[("gone", 2, 0.5)]).to_string().into()),
        ..NONE
    },
    Planted {
        name: "the winner failed before",
        file: || {
            Some(changed(|_| {
                table_of("CPU", &[("b", 2, f64::INFINITY)]).to_string().lines().last().unwrap_or("").into()
            }))
        },
        expected: Ok("c"),
        measured: "",
        ..NONE
    },
    Planted {
        name: "a candidate was added",
        file: || Some(table_of("CPU", &MEASURED[2..]).to_string().into()),
        measured: "ab",
        ..NONE
    },
    // Candidates.
    Planted {
        name: "the best cannot be loaded",
        tuner: |t| t.measure(Failing::new(times()).with("b", Trouble::Load)),
        expected: Ok("c"),
        measured: "acde",
        ..NONE
    },
    Planted {
        name: "the best is refused",
        tuner: |t| t.measure(Failing::new(times()).with("b", Trouble::Launch)),
        expected: Ok("c"),
        measured: "acde",
        ..NONE
    },
    Planted {
        name: "the best does not end",
        tuner: |t| t.measure(Failing::new(times()).with("b", Trouble::TimeOut)),
        expected: Ok("c"),
        measured: "acde",
        ..NONE
    },
    Planted {
        name: "one lies: 0",
        tuner: |t| t.measure(Failing::new(times()).with("d", Trouble::Lie(0.0))),
        measured: "abce",
        ..NONE
    },
    Planted {
        name: "one lies: not a number",
        tuner: |t| t.measure(Failing::new(times()).with("d", Trouble::Lie(f64::NAN))),
        measured: "abce",
        ..NONE
    },
    Planted {
        name: "one lies: negative",
        tuner: |t| t.measure(Failing::new(times()).with("d", Trouble::Lie(-1.0))),
        measured: "abce",
        ..NONE
    },
    Planted {
        name: "one lies: infinite",
        tuner: |t| t.measure(Failing::new(times()).with("b", Trouble::Lie(f64::INFINITY))),
        expected: Ok("c"),
        measured: "acde",
        ..NONE
    },
    Planted {
        name: "one was not recorded",
        tuner: |t| t.measure(Replay::new().time("op", KEY, "d", 5.0)),
        expected: Ok("d"),
        measured: "d",
        ..NONE
    },
    Planted {
        name: "all fail, each in its own way",
        tuner: |t| {
            let failing = Failing::new(Replay::new()).with("a", Trouble::Load).with("b", Trouble::Launch);
            t.measure(failing.with("c", Trouble::TimeOut).with("d", Trouble::Lie(0.0)))
        },
        expected: Err("every candidate of `op` failed: "),
        measured: "",
        ..NONE
    },
    Planted {
        name: "no candidates",
        all: &[],
        expected: Err("`op` has no candidate for the call"),
        measured: "",
        ..NONE
    },
    Planted { name: "one candidate", all: &[Version("d", 4)], expected: Ok("d"), measured: "", ..NONE },
    Planted {
        name: "a name that no line can hold",
        all: &[Version("a\tb", 1), Version("d", 4)],
        expected: Ok("d"),
        measured: "d",
        ..NONE
    },
    // Models and budgets.
    Planted {
        name: "a model that is nearly right",
        tuner: |t| t.measure(times()).model(model(&[3.0, 2.0, 1.0, 4.0, 5.0])).top(2),
        measured: "bc",
        ..NONE
    },
    Planted {
        name: "the model's first fail",
        tuner: |t| {
            let failing = Failing::new(times()).with("a", Trouble::Load).with("e", Trouble::Launch);
            t.measure(failing).model(model(&[1.0, 4.0, 3.0, 5.0, 2.0])).top(2)
        },
        measured: "bc",
        ..NONE
    },
    Planted {
        name: "a model that says not a number",
        tuner: |t| t.measure(times()).model(model(&[f32::NAN; 5])).top(2),
        measured: "ab",
        ..NONE
    },
    Planted { name: "a model of other candidates", tuner: |t| t.measure(times()).model(model(&[1.0])).top(2), ..NONE },
    Planted {
        name: "a model, reading alone",
        mode: "read",
        tuner: |t| t.model(model(&[3.0, 2.0, 4.0, 1.0, 5.0])),
        expected: Ok("d"),
        measured: "",
        ..NONE
    },
    Planted {
        name: "no time at all",
        tuner: |t| t.measure(times()).model(model(&[3.0, 2.0, 1.0, 4.0, 5.0])).budget(Duration::ZERO),
        expected: Ok("c"),
        measured: "c",
        ..NONE
    },
    Planted {
        name: "an embedded table",
        tuner: |t| t.measure(times()).table(table_of("CPU", &[("d", 4, 1.0)])),
        expected: Ok("d"),
        measured: "",
        ..NONE
    },
    Planted {
        name: "an embedded table whose code has changed",
        tuner: |t| t.measure(times()).table(table_of("CPU", &[("d", 9, 1.0)])),
        ..NONE
    },
    Planted { name: "measuring on the CPU", tuner: |t| t, expected: Ok("a"), measured: "", ..NONE },
];

/// What a tuner chooses, and which candidates it has times of that the file did not have.
fn run(planted: &Planted, folder: &Folder) -> (Result<String, Error>, String) {
    let before = Table::parse(&folder.read()).map(|(table, _)| table).unwrap_or_default();
    let tuner = match tuner(&folder.0, planted.mode) {
        Ok(tuner) => (planted.tuner)(tuner),
        Err(error) => return (Err(error), String::new()),
    };
    let select = || tuner.select("op", KEY, planted.all, |_, _| Ok::<(), triton::Error>(()));
    let chosen = select().map(|version| version.0.to_string());
    if let Ok(first) = &chosen {
        let again = select().map(|version| version.0.to_string());
        assert_eq!(again.ok().as_ref(), Some(first), "{}: again", planted.name);
    }
    let known = |record: &Record| {
        before.is_of("CPU")
            && before.records().any(|of| of.member == record.member && of.fingerprint == record.fingerprint)
    };
    let new = tuner.store().table();
    let new = new.records().filter(|record| !known(record) && record.us.is_finite()).map(|record| record.member);
    (chosen, new.collect())
}

#[test]
fn troubles() {
    assert!(TROUBLES.len() >= 30);
    let mut failures = Vec::new();
    for planted in TROUBLES {
        let folder = Folder::new();
        if let Some(file) = (planted.file)() {
            folder.write(&file);
        }
        let (chosen, measured) = run(planted, &folder);
        let as_expected = match (&chosen, planted.expected) {
            (Ok(found), Ok(expected)) => found == expected,
            (Err(error), Err(expected)) => error.to_string().contains(expected),
            (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
        };
        if !as_expected || measured != planted.measured {
            let (name, expected) = (planted.name, planted.expected);
            failures
                .push(format!("{name}: {chosen:?} after {measured:?}, not {expected:?} after {:?}", planted.measured));
            continue;
        }
        // A second process that must not measure finds the same in the file, unless the file is not for it.
        let is_ours = !folder.read().starts_with("triton-tune 99");
        if planted.mode == "on"
            && !planted.measured.is_empty()
            && is_ours
            && planted.name != "a name that no line can hold"
        {
            let (again, _) = run(&Planted { mode: "read", tuner: |tuner| tuner, ..NONE }, &folder);
            assert_eq!(again.ok(), chosen.ok(), "{}: a second process", planted.name);
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn an_error_names_each_reason() {
    let folder = Folder::new();
    let all_fail = TROUBLES.iter().find(|planted| planted.name.starts_with("all fail")).expect("it is planted");
    let message = run(all_fail, &folder).0.expect_err("all fail").to_string();
    for reason in [
        "a: the code cannot be loaded",
        "b: the launch is refused",
        "c: it ran for more than 50000 us",
        "d: its time is 0 us",
        "e: no time of it was recorded for this key",
        "; fix one of them, or list another",
    ] {
        assert!(message.contains(reason), "{reason}: {message}");
    }
    assert_eq!(folder.read(), "", "what fails for all is not kept");
}

#[test]
fn a_file_of_another_version_stays() {
    let folder = Folder::new();
    let text = measured().replace("triton-tune 1", "triton-tune 99");
    folder.write(text.as_bytes());
    let tuner = tuner(&folder.0, "on").expect("it is a mode").measure(times());
    assert_eq!(tuner.select("op", KEY, ALL, |_, _| Ok::<(), triton::Error>(())).map(|of| of.0).ok(), Some("b"));
    let error = tuner.store().save().expect_err("it is of another version").to_string();
    assert!(error.contains("the table has version `99`, but 1 is expected") && error.contains("cpu.tsv"), "{error}");
    assert_eq!(folder.read(), text);
}

#[test]
fn folders_that_cannot_be_written() {
    let file = Folder::new();
    let blocked = file.0.join("file");
    std::fs::write(&blocked, "").expect("the folder is writable");
    // The file of times is a folder.
    let directory = Folder::new();
    std::fs::create_dir_all(directory.file()).expect("the folder is writable");
    for folder in [blocked.as_path(), Path::new("/dev/null/x"), Path::new("/proc/x"), directory.0.as_path()] {
        let tuner = tuner(folder, "on").expect("it is a mode").measure(times());
        let chosen = tuner.select("op", KEY, ALL, |_, _| Ok::<(), triton::Error>(()));
        assert_eq!(chosen.map(|of| of.0).ok(), Some("b"), "{folder:?}");
        let error = tuner.store().save().expect_err("it cannot be written").to_string();
        assert!(error.contains("cannot be used") && error.contains("check the path and its permissions"), "{error}");
    }
    let tuner = Tuner::from_vars(&Device::cpu(), |_| None).expect("nothing is set").measure(times());
    assert_eq!(tuner.select("op", KEY, ALL, |_, _| Ok::<(), triton::Error>(())).map(|of| of.0).ok(), Some("b"));
    let error = tuner.store().save().expect_err("there is no folder").to_string();
    assert_eq!(error, "there is no folder to keep times in; set TRITON_DSL_CACHE_DIR or HOME");
}

#[test]
fn a_lock_that_was_left_is_given_up() {
    let folder = Folder::new();
    let tuner = tuner(&folder.0, "on").expect("it is a mode").measure(times());
    std::fs::create_dir_all(folder.0.join("tune")).expect("the folder is writable");
    std::fs::write(folder.file().with_extension("lock"), "").expect("the folder is writable");
    // It returns, though no other process removes the lock.
    tuner.store().save().expect("the lock is given up");
    assert!(folder.read().starts_with("triton-tune 1\tCPU\n"));
}

/// The keys that a process of the next test tunes for.
const KEYS: i64 = 20;

/// Several tuners write one file at once: as threads here, which share no more than processes do.
#[test]
fn two_processes_at_once() {
    let folder = Folder::new();
    std::thread::scope(|scope| {
        for process in 0..3 {
            let folder = &folder.0;
            scope.spawn(move || {
                let replay = (0..KEYS).fold(Replay::new(), |replay, key| {
                    replay.time("op", &[process, key], "a", 2.0).time("op", &[process, key], "b", 1.0)
                });
                let tuner = tuner(folder, "on").expect("it is a mode").measure(replay);
                for key in 0..KEYS {
                    let chosen = tuner.select("op", &[process, key], &ALL[..2], |_, _| Ok::<(), triton::Error>(()));
                    assert_eq!(chosen.map(|of| of.0).ok(), Some("b"));
                }
            });
        }
    });
    let (table, damaged) = Table::parse(&folder.read()).expect("the file is whole");
    assert_eq!((table.len() as i64, damaged), (3 * KEYS * 2, 0));
    let left: Vec<_> = std::fs::read_dir(folder.0.join("tune")).expect("the folder").flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

/// A launch that selects does not wait for the tuner that measures it.
#[test]
fn a_candidate_may_select_itself() {
    let tuner = Tuner::from_vars(&Device::cpu(), |_| None).expect("nothing is set").measure(times().launching());
    let inner = RefCell::new(Vec::new());
    let chosen = tuner.select("op", KEY, ALL, |_, _| {
        let of = tuner.select("op", &[1], ALL, |_, _| Ok::<(), Error>(()))?;
        inner.borrow_mut().push(of.0);
        Ok::<(), Error>(())
    });
    assert_eq!(chosen.map(|of| of.0).ok(), Some("b"));
    assert!(inner.borrow().len() >= ALL.len() && inner.borrow().iter().all(|of| *of == "a"));
}

#[test]
fn tables_are_merged_and_shipped() {
    let (here, there) = (Folder::new(), Folder::new());
    let tuner = tuner(&here.0, "on").expect("it is a mode").measure(times());
    tuner.store().merge(&table_of("CPU", &[("d", 4, 0.5)])).expect("it is of this device");
    let error = tuner.store().merge(&table_of("NVIDIA X", &[("d", 4, 0.5)])).expect_err("it is of another").to_string();
    assert!(error.contains("the times are of `NVIDIA X`, but this is `CPU`"), "{error}");
    let shipped = there.0.join("shipped.tsv");
    tuner.store().write_to(&shipped).expect("the folder is writable");
    tuner.store().load(&shipped).expect("it was just written");
    let error = tuner.store().load(there.0.join("none.tsv")).expect_err("there is none").to_string();
    assert!(error.contains("none.tsv"), "{error}");
    let text = std::fs::read_to_string(shipped).expect("it was just written");
    assert_eq!(Table::embedded(&text).len(), 1);
}

#[test]
fn a_tuner_is_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Tuner>();
}
