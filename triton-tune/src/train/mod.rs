//! Networks that predict times from recorded data.
//!
//! [`Table`] has the columns of the data, [`split`] holds some rows out, [`Features`] transforms and standardises, a [`Trainer`] fits
//! the layers, and [`Fitted`] measures them and becomes a [`Model`]. The papers' networks are [`ARCHITECTURES`].
//!
//! What trains is behind a trait: [`Cpu`] needs nothing, and another one may run on a GPU.
//!
//! ```
//! use triton_tune::data::{Data, Row, Schema};
//! use triton_tune::train::{Cpu, Fitted, Options, Scale, Split, Table, TargetKind, split};
//!
//! // Times of a kernel that is bound by memory, with tiles that suit it more or less.
//! let mut data = Data { schema: Schema::new(["m"], ["BM"], []), ..Data::default() };
//! for (m, bm) in (1..=64).flat_map(|m| [16, 32, 64, 128].map(|bm| (m * 64, bm))) {
//!     let us = 2.0 + m as f64 / 100.0 * (1.0 + 16.0 / bm as f64);
//!     data.rows.push(Row { op: "copy".into(), context: vec![m], choice: vec![bm], us, ..Row::default() });
//! }
//!
//! let table = Table::new(&data, false)?;
//! let [train, test] = split(&table, Split::Context, 64, 1);
//! let options = Options { hidden: vec![16], epochs: 300, batch: 64, rates: [1e-2, 1e-4], seed: 1 };
//! let fitted = Fitted::train(&table, &train, (Scale::Log, TargetKind::Time), &Cpu, &options, &mut |_, _| {})?;
//! assert!(fitted.error(&table, &test) < 0.01);
//!
//! let model = fitted.model()?;
//! let ranking = model.ranking(&[[16.0], [32.0], [64.0], [128.0]])?;
//! let best = ranking.best(&[2000.0], &mut Default::default(), &mut [0.0; 4])?;
//! assert_eq!(best, Some(3));
//! # Ok::<(), triton_tune::Error>(())
//! ```

mod cpu;
mod features;
mod network;
mod outer;
mod split;
mod table;
mod taught;

pub use cpu::Cpu;
pub use features::{Features, Scale, TargetKind};
pub use network::{Network, Samples};
pub use split::{Split, split};
pub use table::{Column, Part, Table};
pub use taught::Lessons;

use crate::error::{Error, Result};
use triton_select::model::{Model, Target};

/// Hidden layers of the papers' networks, and their mean squared errors with and without logarithms (ISAAC, Table 2; thesis,
/// Table 4.1).
pub const ARCHITECTURES: [Architecture; 7] = [
    Architecture { hidden: &[64], paper: 0.17, paper_raw: Some(1.2) },
    Architecture { hidden: &[512], paper: 0.13, paper_raw: Some(1.0) },
    Architecture { hidden: &[32, 64, 32], paper: 0.088, paper_raw: Some(0.80) },
    Architecture { hidden: &[64, 128, 64], paper: 0.08, paper_raw: Some(0.75) },
    Architecture { hidden: &[32, 64, 128, 64, 32], paper: 0.073, paper_raw: None },
    Architecture { hidden: &[64, 128, 256, 128, 64], paper: 0.067, paper_raw: None },
    Architecture { hidden: &[64, 128, 192, 256, 192, 128, 64], paper: 0.062, paper_raw: None },
];

/// A network of the papers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Architecture {
    /// The units of its hidden layers.
    pub hidden: &'static [usize],
    /// Its error with logarithms. The papers do not state the unit: only ratios compare.
    pub paper: f64,
    /// Its error without them, where the papers have it.
    pub paper_raw: Option<f64>,
}

/// How a network is trained.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The units of the hidden layers.
    pub hidden: Vec<usize>,
    /// Passes over the samples.
    pub epochs: usize,
    /// Samples of a step.
    pub batch: usize,
    /// The learning rates of Adam at the start and at the end; between them it falls as a cosine does.
    pub rates: [f32; 2],
    /// What random numbers start from: the same seed gives the same network, on any number of threads.
    pub seed: u64,
}

impl Default for Options {
    /// 64-128-64, 100 epochs, batches of 1024, 10⁻³ to 10⁻⁵.
    fn default() -> Self {
        Self { hidden: vec![64, 128, 64], epochs: 100, batch: 1024, rates: [1e-3, 1e-5], seed: 1 }
    }
}

impl Options {
    fn check(&self) -> Result<()> {
        let fix = "use the default";
        if self.hidden.contains(&0) || self.hidden.iter().any(|&units| units > 4096) {
            let found = format!("{:?}", self.hidden);
            return Err(Error::value("the list of units of the hidden layers", found, "1 to 4096 units each", fix));
        }
        if self.epochs == 0 || self.batch == 0 {
            let found = format!("{} epochs, batches of {}", self.epochs, self.batch);
            return Err(Error::value("the schedule", found, "at least 1 of each", fix));
        }
        match self.rates.iter().find(|rate| !(rate.is_finite() && **rate > 0.0)) {
            Some(rate) => Err(Error::value("a learning rate", rate, "a positive number", fix)),
            None => Ok(()),
        }
    }
}

/// What fits layers to samples.
pub trait Trainer {
    /// Fits a network with a single output. `progress` is called after each epoch with its number, counted from 1, and the mean
    /// squared error of its steps.
    ///
    /// # Errors
    /// Options out of range, no samples, an error that grows without bound.
    fn fit(&self, samples: &Samples, options: &Options, progress: &mut dyn FnMut(usize, f64)) -> Result<Network>;
}

/// A network with what its inputs and its output stand for.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The features.
    pub features: Features,
    /// The layers.
    pub network: Network,
}

impl Fitted {
    /// Fits a network to rows of a table.
    ///
    /// # Errors
    /// Those of [`Features::new`] and of [`Trainer::fit`].
    pub fn train(
        table: &Table,
        rows: &[usize],
        (scale, target): (Scale, TargetKind),
        trainer: &dyn Trainer,
        options: &Options,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Self> {
        let features = Features::new(table, rows, scale, target)?;
        let network = trainer.fit(&features.samples(table, rows), options, progress)?;
        Ok(Self { features, network })
    }

    /// The mean squared error on rows of a table, in units of the standardised target: a network that predicts the mean has about 1.
    #[must_use]
    pub fn error(&self, table: &Table, rows: &[usize]) -> f64 {
        self.network.error(&self.features.samples(table, rows))
    }

    /// What programs embed.
    ///
    /// # Errors
    /// A target other than time or its factor, a column that depends on context and choice together.
    pub fn model(&self) -> Result<Model> {
        let features = &self.features;
        if features.target == TargetKind::Tflops {
            return Err(Error::value("the target", "TFLOPS", "the time", "train for `time`"));
        }
        if let Some((feature, _)) = features.list.iter().find(|(_, part)| *part == Part::Joint) {
            let fix = "leave it out: a program computes the candidates' part of the first layer once";
            return Err(Error::value("a feature", &feature.name, "one of the context or of the choice alone", fix));
        }
        let of = |wanted: Part| {
            let list = features.list.iter().filter(move |(_, part)| *part == wanted);
            list.map(|(feature, _)| feature.clone()).collect()
        };
        let target = Target { mean: features.output[0], scale: features.output[1] };
        Ok(Model::new(of(Part::Context), of(Part::Choice), self.network.layers.clone(), target)?)
    }
}
