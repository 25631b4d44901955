//! Collecting without a GPU: instances are compiled and checked, by a measure that computes its times.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use triton::{Device, Stream};
use triton_tune::collect::{Complete, Options, Progress, Summary, run};
use triton_tune::data::read;
use triton_tune::jit::Instance;
use triton_tune::{Failure, Measure, Trial};

/// Tells times by the name and the key, and counts. After some it says that the device is lost.
struct Mock {
    count: AtomicUsize,
}

impl Measure for Mock {
    fn can_measure(&self, _: &Stream) -> bool {
        true
    }

    fn measure(&self, trial: &mut Trial<'_>) -> Result<f64, Failure> {
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(1.0 + trial.member().len() as f64 + trial.key()[0] as f64 / 100.0)
    }
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("triton-tune-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the folder of temporary files is writable");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn options(folder: &Folder) -> Options {
    Options {
        instances: 12,
        samples: 5,
        contexts: 40,
        limit: [128, 128, 256],
        time: Duration::from_secs(1000),
        out: folder.0.join("data.csv"),
        ..Options::default()
    }
}

fn collect(options: &Options) -> (Summary, usize) {
    let stream = Device::cpu().stream().expect("the CPU has streams");
    let mock = Mock { count: AtomicUsize::new(0) };
    let mut last = Progress::default();
    let summary = run(options, &stream, &mock, &mut |progress| last = progress.clone()).expect("it collects");
    if summary.complete && summary.measured > 0 {
        assert_eq!(last.done, last.all, "no sample is left out");
    }
    (summary, mock.count.load(Ordering::Relaxed))
}

#[test]
fn a_run_continues_where_the_last_one_ended() {
    let folder = Folder::new("resume");
    let options = options(&folder);
    let (summary, count) = collect(&options);
    assert!(
        summary.complete && summary.rows >= 40 && summary.measured == summary.rows && count == summary.rows,
        "{summary:?}"
    );
    // As a killed run leaves it: some rows, and half of one.
    let text = std::fs::read_to_string(&options.out).expect("it was written");
    let lines: Vec<&str> = text.lines().collect();
    let cut = lines[..lines.len() - 10].join("\n") + "\n1,cpu,gem";
    std::fs::write(&options.out, cut).expect("it is writable");
    let (again, count) = collect(&options);
    assert_eq!((again.rows, again.measured, count), (summary.rows, 10, 10), "{again:?}");
    let (nothing, count) = collect(&options);
    assert_eq!((nothing.measured, count, nothing.compiled.0), (0, 0, 0));

    let data = read(&options.out).expect("it is whole");
    assert_eq!(data.rows.len(), summary.rows);
    assert!(data.rows.iter().all(|row| row.estimates[0] > 0.0 && row.clock < 10_000), "the compiler estimates cycles");
}

#[test]
fn a_pool_is_measured_in_all_contexts_that_were_held_out() {
    let folder = Folder::new("complete");
    let sampled = options(&folder);
    collect(&sampled);
    let pool: Vec<Instance> = ["bf16 NT 32x32x32 warps 4 stages 3", "bf16 NT 16x32x64 warps 4 stages 2 groups 1 split"]
        .map(|name| name.parse().expect("it is an instance"))
        .to_vec();
    let whole = pool[0];
    let complete = Options {
        complete: Some(Complete { contexts: 7, pool }),
        out: folder.0.join("complete.csv"),
        ..sampled.clone()
    };
    collect(&complete);
    let [sampled, complete] = [&sampled.out, &complete.out].map(|path| read(path).expect("it is whole").rows);
    let of_whole = complete.iter().filter(|row| row.choice[..3] == whole.tile && row.choice[6] == 1);
    assert_eq!(of_whole.count(), 7);
    assert!(complete.iter().all(|row| sampled.iter().all(|other| other.context[..3] != row.context[..3])));
}

#[test]
fn a_run_ends_when_its_time_is_over() {
    let folder = Folder::new("time");
    let options = Options { time: Duration::ZERO, ..options(&folder) };
    let (summary, count) = collect(&options);
    assert!(!summary.complete && count == 0 && summary.rows == 0);
}
