//! What the simulator found in a launch, as an error.

use std::fmt;
use triton_sim::Report;

/// The simulator's reports on a launch: at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Findings {
    /// The device's seed ([`SimOptions::with_seed`](crate::sim::SimOptions::with_seed)): with it, the same launches give the
    /// same reports.
    pub seed: u64,
    /// In the order in which they were found.
    pub reports: Vec<Report>,
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reports.iter().try_for_each(|report| writeln!(f, "{report}"))?;
        write!(f, "found by the PTX simulator with seed {}", self.seed)
    }
}
