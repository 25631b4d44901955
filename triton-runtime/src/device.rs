//! Where kernels run.

use crate::driver::context::Context;
use crate::error::{Error, Result};
use crate::line_info;
use crate::replays::Replays;
use crate::sim::SimOptions;
use crate::threads;
use std::ffi::c_void;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::{Arc, LazyLock};
use triton_ir::metadata::{ComputeCapability, Machine, Target};

/// A device: the CPU, one GPU or, with the feature `sim`, a simulator of one. Cloning is cheap.
///
/// ```
/// use triton_runtime::Device;
///
/// let device = Device::best();
/// println!("running on {device}"); // `NVIDIA H200 (CUDA device 0)`, or `CPU (no CUDA driver: ..)`
/// ```
#[derive(Clone)]
pub struct Device {
    backend: Backend,
    /// Why it is the CPU, if that was not requested.
    fallback_reason: Option<Arc<str>>,
}

/// What a device is made of.
#[derive(Clone, Copy)]
pub(crate) enum Backend {
    Cpu,
    Cuda(&'static Context),
    /// Uninhabited if the feature `sim` is off.
    Sim(SimOptions),
}

impl Device {
    /// What is made of this.
    pub(crate) fn at(backend: Backend) -> Device {
        Device { backend, fallback_reason: None }
    }

    /// The CPU: exact and bounds-checked, for tests and for machines without a GPU.
    pub fn cpu() -> Device {
        Device::at(Backend::Cpu)
    }

    /// The CUDA device of this number, from 0. Its primary context is retained until the process ends.
    ///
    /// # Errors
    /// [`Error::NoDriver`], [`Error::DriverTooOld`], [`Error::NoDevice`], or what the driver says.
    pub fn cuda(index: usize) -> Result<Device> {
        Context::get(index).map(|context| Device::at(Backend::Cuda(context)))
    }

    /// CUDA device 0 if there is a driver and the device is supported, else the CPU; its `Display` says why.
    pub fn best() -> Device {
        let fall_back =
            |fallback_reason: String| Device { backend: Backend::Cpu, fallback_reason: Some(fallback_reason.into()) };
        match Device::cuda(0) {
            Ok(device) => match device.compute_capability() {
                Some(capability) if !Target::LEAST.runs_on(capability) => fall_back(format!(
                    "{device} has compute capability {capability}, but {} or newer is needed",
                    Target::LEAST.capability()
                )),
                _ => device,
            },
            Err(error) => fall_back(reason(&error)),
        }
    }

    /// All devices: the CUDA devices by their numbers, then the CPU. A CUDA device that cannot be opened is left out;
    /// [`Device::cuda`] says why. The simulator is not among them.
    ///
    /// ```
    /// use triton_runtime::Device;
    ///
    /// for device in Device::all() {
    ///     println!("{device}, {} multiprocessors", device.multiprocessors());
    /// }
    /// # assert!(Device::all().contains(&Device::cpu()));
    /// ```
    pub fn all() -> Vec<Device> {
        let cuda = (0..Context::count()).filter_map(|index| Device::cuda(index).ok());
        cuda.chain([Device::cpu()]).collect()
    }

    /// Whether it is the CPU.
    pub fn is_cpu(&self) -> bool {
        matches!(self.backend, Backend::Cpu)
    }

    /// Whether it is the simulator, `Device::sim()`, which is slow, so that a program may give it less work.
    pub fn is_sim(&self) -> bool {
        matches!(self.backend, Backend::Sim(_))
    }

    /// The CUDA device's number; `None` for the CPU and the simulator.
    pub fn ordinal(&self) -> Option<usize> {
        self.context().map(|c| c.ordinal)
    }

    /// The name, as the driver spells it: `NVIDIA H200`; `CPU` for the CPU, `PTX simulator` for the simulator.
    pub fn name(&self) -> &str {
        match &self.backend {
            Backend::Cpu => "CPU",
            Backend::Cuda(context) => &context.name,
            Backend::Sim(options) => options.name(),
        }
    }

    /// The generation of the GPU; `None` for the CPU. The simulator has that of a Hopper GPU, 9.0.
    pub fn compute_capability(&self) -> Option<ComputeCapability> {
        match &self.backend {
            Backend::Cpu => None,
            Backend::Cuda(context) => Some(context.gpu.capability),
            Backend::Sim(options) => Some(options.gpu().capability),
        }
    }

    /// Number of multiprocessors; of the CPU, the threads that run programs.
    pub fn multiprocessors(&self) -> u32 {
        match &self.backend {
            Backend::Cpu => std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(1)),
            Backend::Cuda(context) => context.gpu.multiprocessors,
            Backend::Sim(options) => options.gpu().multiprocessors,
        }
    }

    /// What the time of a launch depends on: for estimates, and for a choice that follows from them. The CPU and the simulator say what an H200 does,
    /// so that they run what it runs; the simulator says what its options say otherwise.
    pub fn machine(&self) -> Machine {
        match &self.backend {
            Backend::Cpu => Machine::H200,
            Backend::Cuda(context) => context.machine,
            Backend::Sim(options) => options.machine(),
        }
    }

    /// Memory in bytes; `None` for the CPU and the simulator, which have the system's.
    pub fn total_memory(&self) -> Option<u64> {
        self.context().map(|c| c.total_memory)
    }

    /// The driver's version, as `cuDriverGetVersion` counts (1000·major + 10·minor); `None` for the CPU and the simulator.
    pub fn driver_version(&self) -> Option<u32> {
        self.context().map(|c| c.driver.version)
    }

    /// The driver's `CUcontext`, the primary context of the GPU, for other libraries; `None` on the CPU and the simulator. It
    /// stays retained until the process ends.
    pub fn as_raw_context(&self) -> Option<*mut c_void> {
        self.context().map(Context::pointer)
    }

    /// Waits until no kernel is being compiled. A kernel's first launch takes code that will do, and where other code may be better, it is
    /// compiled behind the launch, for those after it. What measures launches waits for that; a [graph](crate::Graph) does by itself.
    ///
    /// ```
    /// use triton_runtime::Device;
    ///
    /// // Launches that warm up stand here.
    /// Device::best().finish_compiling();
    /// // Those that are measured stand here.
    /// ```
    pub fn finish_compiling(&self) {
        if let Backend::Cuda(_) = self.backend {
            threads::finish();
        }
    }

    /// Whether kernels that are loaded from now on have line tables: profilers and debuggers then name lines of the source, of functions that
    /// kernels call with the calls that led there. The instructions are the same. The environment variable `TRITON_DSL_LINE_INFO=1` asks for it
    /// from the start.
    ///
    /// It holds for every device of the process. What is loaded already stays as it is; the cache on disk keeps both.
    ///
    /// ```
    /// use triton_runtime::Device;
    ///
    /// Device::set_line_info(true);
    /// // Kernels that are launched here for the first time have them.
    /// ```
    pub fn set_line_info(asked: bool) {
        line_info::set(asked);
    }

    /// What keeps replays of its graphs apart from uses of its buffers.
    pub(crate) fn replays(&self) -> &'static Replays {
        static CPU: LazyLock<Replays> = LazyLock::new(Replays::default);
        static SIM: LazyLock<Replays> = LazyLock::new(Replays::default);
        match self.backend {
            Backend::Cpu => &CPU,
            Backend::Cuda(context) => &context.replays,
            Backend::Sim(_) => &SIM,
        }
    }

    pub(crate) fn backend(&self) -> Backend {
        self.backend
    }

    /// The CUDA device that it is, if it is one.
    pub(crate) fn context(&self) -> Option<&'static Context> {
        match self.backend {
            Backend::Cpu | Backend::Sim(_) => None,
            Backend::Cuda(context) => Some(context),
        }
    }
}

#[cfg(feature = "sim")]
impl Device {
    /// A simulator of the GPU: it runs the PTX that ships on the CPU, and reports what a GPU does not detect, such as
    /// races and uninitialized memory. It is slow.
    pub fn sim() -> Device {
        Device::sim_with(SimOptions::new())
    }

    /// The simulator with other options than the defaults.
    pub fn sim_with(options: SimOptions) -> Device {
        Device::at(Backend::Sim(options))
    }
}

/// An error as the end of the sentence "CPU, because".
fn reason(error: &Error) -> String {
    if let Error::NoDriver { reason } = error {
        format!("no CUDA driver: {reason}")
    } else if let Error::NoDevice { count: 0, .. } = error {
        "the CUDA driver sees no device".to_string()
    } else {
        error.to_string()
    }
}

/// Two devices are equal when their memory is the same.
impl PartialEq for Device {
    #[inline]
    fn eq(&self, other: &Device) -> bool {
        match (self.backend, other.backend) {
            (Backend::Cpu, Backend::Cpu) | (Backend::Sim(_), Backend::Sim(_)) => true,
            (Backend::Cuda(a), Backend::Cuda(b)) => std::ptr::eq(a, b),
            (Backend::Cpu | Backend::Cuda(_) | Backend::Sim(_), Backend::Cpu | Backend::Cuda(_) | Backend::Sim(_)) => {
                false
            }
        }
    }
}

impl Eq for Device {}

/// Equal devices have equal hashes.
impl Hash for Device {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.backend {
            Backend::Cpu => 0usize.hash(state),
            Backend::Sim(_) => 1usize.hash(state),
            Backend::Cuda(context) => (2 + context.ordinal).hash(state),
        }
    }
}

/// `cpu`, `cuda:0` (or any other number), `cuda` for the first, `sim`, and `best` for [`Device::best`].
///
/// ```
/// use triton_runtime::Device;
///
/// assert_eq!("cpu".parse(), Ok(Device::cpu()));
/// assert!("gpu".parse::<Device>().is_err());
/// ```
///
/// # Errors
/// [`Error::DeviceName`], or those of [`Device::cuda`].
impl FromStr for Device {
    type Err = Error;

    fn from_str(name: &str) -> Result<Device> {
        let unknown = || Error::DeviceName { found: name.to_string() };
        match name {
            "best" => Ok(Device::best()),
            "cpu" => Ok(Device::cpu()),
            "cuda" => Device::cuda(0),
            "sim" => Ok(Device::at(Backend::Sim(SimOptions::named()?.ok_or_else(unknown)?))),
            _ => {
                let index = name.strip_prefix("cuda:").filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
                Device::cuda(index.and_then(|digits| digits.parse().ok()).ok_or_else(unknown)?)
            }
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.backend, &self.fallback_reason) {
            (Backend::Cuda(context), _) => write!(f, "{context}"),
            (Backend::Cpu | Backend::Sim(_), None) => f.write_str(self.name()),
            (Backend::Cpu | Backend::Sim(_), Some(fallback_reason)) => write!(f, "{} ({fallback_reason})", self.name()),
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({self})")
    }
}
