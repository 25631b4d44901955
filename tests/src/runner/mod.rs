//! Runs cases on devices, on all cores, with a line for each that fails. `conformance` and `library` give it theirs.

mod options;
mod place;

pub use options::{Options, sample};
pub use place::Place;

use crate::parallel;
use std::fmt;
use std::ops::{AddAssign, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use triton::Stream;

/// The most streams of a GPU that cases are on at once.
const STREAMS: usize = 16;

/// Why a case failed.
#[derive(Debug)]
pub enum Failure {
    /// Memory holds something else than it should.
    Different(String),
    /// The launch, or a copy, failed.
    Device(triton::Error),
}

impl From<triton::Error> for Failure {
    fn from(error: triton::Error) -> Failure {
        Failure::Device(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Different(text) => f.write_str(text),
            Failure::Device(error) => error.fmt(f),
        }
    }
}

/// What is run on a stream.
pub trait Case: Sync {
    /// Its name, which no other has.
    fn name(&self) -> &str;

    /// What `--family` calls it and others.
    fn family(&self) -> &str {
        ""
    }

    /// Whether a GPU alone runs it in time.
    fn needs_gpu(&self) -> bool {
        false
    }

    /// Runs it; the seed decides its random numbers.
    ///
    /// # Errors
    /// What went wrong.
    fn run(&self, stream: &Stream, seed: u64) -> Result<(), Failure>;

    /// Whether it failed as the device has no code of a kernel that it is of.
    fn has_no_code(&self, failure: &Failure) -> bool;
}

/// How the cases of a test run.
#[derive(Clone, Debug)]
pub struct Runner {
    /// The name of the test, which lines begin with.
    pub name: &'static str,
    /// The seeds of each case.
    pub seeds: Range<u64>,
    /// Whether cases have random numbers, so that a seed decides something on every device, not on the simulator alone.
    pub has_numbers: bool,
    /// Whether each thread keeps a stream for its cases, which find the memory that others have left there. Else, on the host, each has a
    /// stream of its own, and does not depend on others; on a GPU all are on one stream, one after another.
    pub keeps_streams: bool,
}

/// How many cases passed, and how many did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Those that passed.
    pub passed: usize,
    /// Those that failed, and those that a lost device did not run.
    pub failed: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        *self = Tally { passed: self.passed + other.passed, failed: self.failed + other.failed };
    }
}

impl Tally {
    /// Whether cases passed, and none failed.
    pub fn is_good(self) -> bool {
        self.failed == 0 && self.passed > 0
    }
}

/// The streams of a thread, by their seeds.
type Streams = Vec<(u64, Stream)>;

/// What happens to the cases of a set.
#[derive(Default)]
struct Course {
    /// A device that a kernel has broken runs nothing more in this process.
    is_lost: AtomicBool,
    without_code: AtomicUsize,
}

impl Runner {
    /// Runs cases on a device, with a line for each that fails. What they are follows their number: ` of gemm`.
    pub fn run<C: Case>(&self, cases: &[&C], of: &str, place: &Place) -> Tally {
        println!("{} on {place}: {} cases{of}, --seed {}", self.name, cases.len(), self.seeds.start);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = match (place.is_on_host(), self.keeps_streams) {
            (true, _) => cores,
            (false, true) => cores.min(STREAMS),
            (false, false) => 1,
        };
        let course = Course::default();
        let passes = |streams: &mut Streams, case: &&C| {
            if place.is_on_host() && !self.keeps_streams {
                streams.clear();
            }
            self.passes(*case, place, streams, &course)
        };
        let passed = parallel::map_on(threads, cases, Streams::new, passes);
        if course.is_lost.into_inner() {
            println!("the device is lost: the cases after this one were not run, and count as failed");
        }
        let without_code = course.without_code.into_inner();
        if without_code > 0 {
            println!("{without_code} cases are of kernels for newer devices alone");
        }
        let failed = passed.iter().filter(|passed| !**passed).count();
        Tally { passed: cases.len() - failed - without_code, failed }
    }

    /// Runs one from each seed, and says whether it passed.
    fn passes<C: Case>(&self, case: &C, place: &Place, streams: &mut Streams, course: &Course) -> bool {
        let count = if self.has_numbers || place.is_sim() { usize::MAX } else { 1 };
        for seed in self.seeds.clone().take(count) {
            if course.is_lost.load(Ordering::Relaxed) {
                return false;
            }
            // On other devices no order depends on the seed.
            let of_stream = if place.is_sim() { seed } else { 0 };
            let failed = match stream(streams, place, of_stream) {
                Err(error) => Err((error.into(), false)),
                Ok(stream) => case.run(stream, seed).map_err(|failure| {
                    let is_lost = !place.is_on_host() && stream.synchronize().is_err();
                    (failure, is_lost)
                }),
            };
            let Err((failure, is_lost)): Result<(), (Failure, bool)> = failed else { continue };
            if place.is_older() && case.has_no_code(&failure) {
                course.without_code.fetch_add(1, Ordering::Relaxed);
                return true;
            }
            println!("FAILED {}: {failure}", case.name());
            course.is_lost.fetch_or(is_lost, Ordering::Relaxed);
            return false;
        }
        true
    }

    /// Prints the last line.
    pub fn close(&self, tally: Tally) {
        println!("{}: {} passed, {} failed", self.name, tally.passed, tally.failed);
    }
}

/// The stream of a seed.
fn stream<'a>(streams: &'a mut Streams, place: &Place, seed: u64) -> triton::Result<&'a Stream> {
    let at = match streams.iter().position(|(of, _)| *of == seed) {
        Some(at) => at,
        None => {
            streams.push((seed, place.stream(seed)?));
            streams.len() - 1
        }
    };
    Ok(&streams[at].1)
}
