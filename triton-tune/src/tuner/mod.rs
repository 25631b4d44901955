//! The tuner: it selects by what is known, and measures what is not.

mod bench;
mod compare;
mod tune;

use crate::error::{BoxError, Error, Result};
use crate::measure::{self, Measure};
use crate::mode::Mode;
use crate::store::{self, Store};
use bench::{OfCall, OfList};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use triton::cache::Cache;
use triton::selection::{Call, Explained, Selector};
use triton::{Device, Stream};
use triton_select::{Candidate, List, Members, Rank, Selection, Table, device_name};

/// Chooses the fastest of several instances, on one device: by what it has measured before, and by measuring.
///
/// It is a [`Selector`]: `KERNEL_tuned(..).with(&tuner)`. For anything else there is [`Tuner::select`]. It can be shared between threads.
///
/// The order of what it asks is that of [`Selection`]; where measuring is possible, a model's first candidates are measured instead of trusted,
/// and without a model all of them by successive halving. On the CPU and the simulator it measures by a [`CostModel`](crate::CostModel) or recorded
/// times alone. It never measures while a stream is captured, nor while another thread measures, nor where there is not enough memory to keep aside
/// what the launches change: then it guesses.
#[derive(Debug)]
pub struct Tuner {
    selection: Selection,
    mode: Mode,
    file: Option<PathBuf>,
    measure: Box<dyn Measure>,
    budget: Option<Duration>,
    top: usize,
    tolerance: Option<f64>,
    memory: usize,
    stream: OnceLock<Stream>,
    measuring: Mutex<()>,
}

impl Tuner {
    /// A tuner of a device. The environment says what it may do: `TRITON_DSL_TUNE` is `off`, `read` or `on` ([`Mode`]); the file of times is in the
    /// folder that `TRITON_DSL_CACHE_DIR` names, else in `~/.cache/triton-dsl`. A damaged line is skipped, and a file of another version is as good as none.
    ///
    /// # Errors
    /// [`Error::Mode`].
    pub fn new(device: &Device) -> Result<Tuner> {
        Tuner::from_vars(device, |name| std::env::var_os(name))
    }

    /// The same for given variables; `|_| None` reads no environment and keeps no file.
    ///
    /// # Errors
    /// [`Error::Mode`].
    pub fn from_vars(device: &Device, get: impl Fn(&str) -> Option<OsString>) -> Result<Tuner> {
        let mode: Mode = get("TRITON_DSL_TUNE").unwrap_or_default().to_string_lossy().parse()?;
        let cache = Cache::from_vars(get).filter(|_| mode != Mode::Off);
        let file = cache.map(|cache| store::path(cache.folder(), &device_name(device)));
        let selection = Selection::new(device);
        if let Some(file) = &file {
            store::start(&selection, file);
        }
        Ok(Tuner {
            selection,
            mode,
            file,
            measure: Box::new(measure::Device::new()),
            budget: None,
            top: 10,
            tolerance: None,
            memory: usize::MAX,
            stream: OnceLock::new(),
            measuring: Mutex::new(()),
        })
    }

    /// Adds a table that the program embeds: see [`Selection::table`].
    pub fn table(self, table: Table) -> Tuner {
        Tuner { selection: self.selection.table(table), ..self }
    }

    /// Adds a model: see [`Selection::model`].
    pub fn model(self, model: impl Rank + 'static) -> Tuner {
        Tuner { selection: self.selection.model(model), ..self }
    }

    /// Ends measuring for a key after this time, with the fastest so far. At least one candidate is measured, and loading its code takes its time.
    /// Without a budget all are.
    pub fn budget(self, budget: Duration) -> Tuner {
        Tuner { budget: Some(budget), ..self }
    }

    /// Measures the first `count` candidates of a model, 10 if this is not called. Without a model all are measured.
    pub fn top(self, count: usize) -> Tuner {
        Tuner { top: count.max(1), ..self }
    }

    /// Drops members of a pool whose outputs differ from those of the first one by more than `tolerance` times the largest number of the output. 0 is
    /// for members that add in the same order. The outputs of what [`Tuner::select`] launches are not known to it.
    pub fn check(self, tolerance: f64) -> Tuner {
        Tuner { tolerance: Some(tolerance), ..self }
    }

    /// Measures only where a copy of what the launches change takes at most this many bytes of the device.
    pub fn memory(self, bytes: usize) -> Tuner {
        Tuner { memory: bytes, ..self }
    }

    /// Says what measures, instead of [`measure::Device`](crate::Device).
    pub fn measure(self, measure: impl Measure + 'static) -> Tuner {
        Tuner { measure: Box::new(measure), ..self }
    }

    /// What it may do.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The device.
    pub fn device(&self) -> &Device {
        self.selection.device()
    }

    /// What was measured, and its file.
    pub fn store(&self) -> Store<'_> {
        Store::new(&self.selection, self.file.as_deref())
    }

    /// The fastest of several candidates for an operation, of the calls that a key describes. `launch` runs one; it is called many times while
    /// candidates are measured, and not at all if the choice is known. What it changes is not put back: give it memory whose contents do not
    /// matter, or that each launch overwrites.
    ///
    /// # Errors
    /// [`Error::NoCandidate`] of an empty list, [`Error::Candidates`] if every one failed, [`Error::Device`] if the device is broken.
    ///
    /// ```
    /// use std::borrow::Cow;
    /// use triton::Device;
    /// use triton_tune::{Candidate, Replay, Tuner};
    ///
    /// struct InParts(i32);
    /// impl Candidate for InParts {
    ///     fn name(&self) -> Cow<'_, str> {
    ///         format!("in {}", self.0).into()
    ///     }
    ///     fn fingerprint(&self) -> u64 {
    ///         1
    ///     }
    /// }
    ///
    /// // Without a GPU nothing is measured. Here recorded times take its place.
    /// let times = Replay::new().time("sum", &[1 << 20], "in 1", 90.0).time("sum", &[1 << 20], "in 8", 20.0);
    /// let tuner = Tuner::from_vars(&Device::cpu(), |_| None)?.measure(times);
    /// let parts = [InParts(1), InParts(8)];
    /// let best = tuner.select("sum", &[1 << 20], &parts, |parts, stream| {
    ///     // Launches the sum in `parts.0` parts on the stream.
    ///     Ok::<(), triton::Error>(())
    /// })?;
    /// assert_eq!(best.0, 8);
    /// # Ok::<(), triton_tune::Error>(())
    /// ```
    pub fn select<'c, C: Candidate, E: Into<BoxError>>(
        &self,
        op: &str,
        key: &[i64],
        candidates: &'c [C],
        mut launch: impl FnMut(&C, &Stream) -> Result<(), E>,
    ) -> Result<&'c C> {
        let index = self.select_index(&List::new(op, candidates), key, &mut |index, stream| {
            launch(&candidates[index], stream).map_err(Into::into)
        })?;
        candidates.get(index).ok_or_else(|| Error::NoCandidate { op: op.to_string() })
    }

    fn select_index<C: Candidate>(
        &self,
        list: &List<'_, C>,
        key: &[i64],
        launch: &mut bench::Launch<'_>,
    ) -> Result<usize> {
        let stream = self.stream()?;
        let can_measure = self.can_measure(stream);
        match self.selection.remembered(list, key, can_measure) {
            Some(index) => Ok(index),
            None => {
                let (known, snapshot) = self.snapshot(list);
                self.tune(&snapshot, &known, key, can_measure, &mut OfList { stream, launch })
            }
        }
    }

    /// A stream of its own, for what is not of a pool.
    fn stream(&self) -> Result<&Stream> {
        if let Some(stream) = self.stream.get() {
            return Ok(stream);
        }
        let stream = self.device().stream()?;
        Ok(self.stream.get_or_init(|| stream))
    }

    /// Whether it may measure on a stream.
    fn can_measure(&self, stream: &Stream) -> bool {
        self.mode == Mode::On && !stream.is_captured() && self.measure.can_measure(stream)
    }
}

impl Selector for Tuner {
    fn select(&self, call: &mut Call<'_>) -> triton::Result<Option<usize>> {
        if call.stream().device() != self.device() {
            return Ok(None);
        }
        let can_measure = self.can_measure(call.stream());
        if let Some(index) = self.selection.remembered(&Members(call), call.key(), can_measure) {
            return Ok(Some(index));
        }
        let key = call.key().to_vec();
        let chosen = self.tune_call(call, &key, can_measure);
        match chosen {
            Ok(index) => Ok(Some(index)),
            // The launch says that there is none, and which there are.
            Err(Error::NoCandidate { .. }) => Ok(None),
            Err(Error::Device(error)) => Err(error),
            Err(Error::Candidates { op, failures }) => {
                let failures = failures.into_iter().map(|(name, why)| format!("{name}: {why}")).collect();
                Err(triton::Error::selection(op, failures))
            }
            Err(error) => Err(triton::Error::selection(call.pool(), vec![error.to_string()])),
        }
    }

    fn failed(&self, call: &Call<'_>, index: usize, _: &triton::Error) {
        self.selection.fail(&Members(call), call.key(), index);
    }

    fn explain(&self, call: &Call<'_>) -> Option<Explained> {
        self.selection.explain(call)
    }
}

impl Tuner {
    fn tune_call(&self, call: &mut Call<'_>, key: &[i64], can_measure: bool) -> Result<usize> {
        let (known, snapshot) = self.snapshot(&Members(call));
        self.tune(&snapshot, &known, key, can_measure, &mut OfCall::new(call))
    }
}
