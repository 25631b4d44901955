//! A device by its name, and a simulated one by its seed and its compute capability.

use super::Case;
use std::fmt;
use std::str::FromStr;
use triton::metadata::{ComputeCapability, Target};
use triton::sim::SimOptions;
use triton::{Device, Error, Stream};

/// Where cases run.
#[derive(Clone, Debug)]
pub struct Place {
    device: Device,
    /// Of a simulated device.
    options: SimOptions,
    /// The compute capability that its name says.
    capability: Option<ComputeCapability>,
}

impl FromStr for Place {
    type Err = String;

    fn from_str(name: &str) -> Result<Place, String> {
        if let Some(capability) = name.strip_prefix("sim ") {
            let unknown = || format!("`{name}`: expected a compute capability behind `sim`, as in `sim 8.6`");
            let capability = ComputeCapability::from_name(capability).ok_or_else(unknown)?;
            let options = SimOptions::new().with_compute_capability(capability);
            return Ok(Place { device: Device::sim_with(options), options, capability: Some(capability) });
        }
        let device = name.parse().map_err(|error: Error| error.to_string())?;
        let options = SimOptions::from_env().map_err(|error| error.to_string())?;
        Ok(Place { device, options, capability: None })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.capability {
            None => self.device.fmt(f),
            Some(capability) => write!(f, "{} of compute capability {capability}", self.device),
        }
    }
}

impl Place {
    /// Whether the host computes what kernels do there.
    pub fn is_on_host(&self) -> bool {
        self.device.is_cpu() || self.device.is_sim()
    }

    /// Whether the seed of a stream decides what happens on it.
    pub fn is_sim(&self) -> bool {
        self.device.is_sim()
    }

    /// Whether a case runs there.
    pub fn runs(&self, case: &impl Case) -> bool {
        !self.is_on_host() || !case.needs_gpu()
    }

    /// A stream, whose order a seed decides on the simulator.
    ///
    /// # Errors
    /// Of the device.
    pub fn stream(&self, seed: u64) -> Result<Stream, Error> {
        if self.is_sim() { Device::sim_with(self.options.with_seed(seed)).stream() } else { self.device.stream() }
    }

    /// Whether the code of a target does not run there: kernels and instances of that target alone do not.
    pub fn is_older(&self) -> bool {
        let runs_all = |capability| Target::ALL.iter().all(|target| target.runs_on(capability));
        self.device.compute_capability().is_some_and(|capability| !runs_all(capability))
    }
}
