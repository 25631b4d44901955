//! A case: memory before a launch, the launch, and what memory must hold after it.

use crate::memory::Memory;
use crate::value::{Expected, mask, show};
use std::cell::{Cell, Ref, RefMut};
use triton::prelude::*;
use triton_core::types::DType;
use triton_tests::runner::Failure;

/// One operation on one element type in one configuration.
pub struct Case {
    /// The operation, its element types, its shape and warps, and how memory lies: unique.
    pub name: String,
    /// The functions of the language that it is there for.
    pub functions: &'static [&'static str],
    trial: Box<dyn Fn() -> Trial + Send + Sync>,
}

impl Case {
    /// A case; what it needs is made when it runs.
    pub fn new(
        name: String,
        functions: &'static [&'static str],
        trial: impl Fn() -> Trial + Send + Sync + 'static,
    ) -> Case {
        Case { name, functions, trial: Box::new(trial) }
    }

    /// Runs it.
    ///
    /// # Errors
    /// The first element that is not as expected, or the device's error.
    pub fn run(&self, stream: &Stream) -> Result<(), Failure> {
        (self.trial)().run(stream)
    }
}

/// How a kernel's instance is launched with what a [`Run`] has for it.
pub type Launch = fn(&Run<'_>) -> triton::Result<()>;

/// What happens in a case.
pub struct Trial {
    /// Memory, in the order in which the launch takes it.
    pub regions: Vec<Region>,
    /// Scalar arguments of the launch: the bits of scalars, extents, strides.
    pub numbers: Vec<u64>,
    /// Programs.
    pub grid: [usize; 3],
    /// The kernel.
    pub launch: Launch,
}

/// Some memory of a device.
pub struct Region {
    dtype: DType,
    before: Vec<u64>,
    /// `None`: as before.
    after: Option<Vec<Expected>>,
    /// Its offset from an aligned address, in elements.
    skip: usize,
}

/// Elements before and after each region, which must stay unchanged: a number whose bytes are a multiple of 16
/// for every element type.
const GUARD: usize = 16;

/// What uninitialized memory holds.
pub fn untouched(dtype: DType) -> u64 {
    0x5a5a_5a5a_5a5a_5a5b & mask(dtype)
}

impl Region {
    /// Elements that are read.
    pub fn input(dtype: DType, before: Vec<u64>) -> Region {
        Region { dtype, before, after: None, skip: 0 }
    }

    /// Elements that are written.
    pub fn output(dtype: DType, after: Vec<Expected>) -> Region {
        Region { dtype, before: vec![untouched(dtype); after.len()], after: Some(after), skip: 0 }
    }

    /// Elements that are read and written.
    pub fn update(dtype: DType, before: Vec<u64>, after: Vec<Expected>) -> Region {
        Region { dtype, before, after: Some(after), skip: 0 }
    }

    /// The same memory, at an offset of `elements` from an aligned address.
    pub fn skip(self, elements: usize) -> Region {
        Region { skip: elements, ..self }
    }

    fn start(&self) -> usize {
        GUARD + self.skip
    }

    fn upload(&self, stream: &Stream) -> triton::Result<Memory> {
        let guard = [untouched(self.dtype); GUARD];
        let front = guard.iter().chain(guard.iter().take(self.skip));
        let bits: Vec<u64> = front.chain(&self.before).chain(&guard).copied().collect();
        Memory::upload(stream, self.dtype, &bits)
    }

    /// The first element that is not as expected, as its index.
    fn difference(&self, found: &[u64]) -> Option<(isize, u64, Expected)> {
        let unchanged = Expected::Bits(untouched(self.dtype));
        found.iter().zip(0 - self.start() as isize..).find_map(|(&found, at)| {
            let expected = match usize::try_from(at).ok().filter(|&i| i < self.before.len()) {
                None => unchanged,
                Some(i) => self.after.as_ref().map_or(Expected::Bits(self.before[i]), |after| after[i]),
            };
            (!expected.admits(self.dtype, found)).then_some((at, found, expected))
        })
    }
}

impl Trial {
    fn run(&self, stream: &Stream) -> Result<(), Failure> {
        let memory = self.regions.iter().map(|region| region.upload(stream)).collect::<triton::Result<Vec<_>>>()?;
        let (pointers, scalars) = (Cell::new(0), Cell::new(0));
        (self.launch)(&Run { stream, trial: self, memory: &memory, pointers, scalars })?;
        for (number, (region, memory)) in self.regions.iter().zip(&memory).enumerate() {
            if let Some((at, found, expected)) = region.difference(&memory.download(stream)?) {
                return Err(Failure::Different(self.describe(number, at, found, expected)));
            }
        }
        Ok(())
    }

    fn describe(&self, number: usize, at: isize, found: u64, expected: Expected) -> String {
        let region = &self.regions[number];
        // Memory of one length is mostly worked through side by side.
        let beside = |region: &&Region| region.before.len() == self.regions[number].before.len();
        let inputs = self.regions.iter().filter(beside).filter_map(|region| {
            let bits = region.before.get(usize::try_from(at).ok()?)?;
            (*bits != untouched(region.dtype)).then(|| show(region.dtype, *bits))
        });
        let inputs: Vec<String> = inputs.collect();
        let beside = if inputs.is_empty() { String::new() } else { format!(" of inputs {}", inputs.join(", ")) };
        let place = match usize::try_from(at) {
            Ok(at) if at < region.before.len() => format!("element {at}{beside}"),
            Ok(at) => format!("{} elements past the end", at - region.before.len() + 1),
            Err(_) => format!("{} elements before the start", -at),
        };
        let (shown, wanted) = (show(region.dtype, found), expected.describe(region.dtype, found));
        format!("memory {number}, {place}: found {shown}, expected {wanted}")
    }
}

/// A trial on a device, for the launch to take from.
pub struct Run<'a> {
    /// Where it runs.
    pub stream: &'a Stream,
    trial: &'a Trial,
    memory: &'a [Memory],
    pointers: Cell<usize>,
    scalars: Cell<usize>,
}

fn next(count: &Cell<usize>) -> usize {
    count.replace(count.get() + 1)
}

impl Run<'_> {
    /// The programs.
    pub fn grid(&self) -> [usize; 3] {
        self.trial.grid
    }

    /// The address of the next region: the first call gives that of the first.
    pub fn ptr<T: Element>(&self) -> DevicePtrMut<'_, T> {
        let region = next(&self.pointers);
        let address = self.memory[region].address(self.trial.regions[region].start());
        // SAFETY: the memory lives as long as the trial, which waits for the launch; kernels keep to the regions.
        #[allow(unsafe_code, reason = "the type of the elements is known to the launch alone")]
        unsafe {
            DevicePtrMut::new(address)
        }
    }

    /// The next number: the first call gives the first.
    pub fn scalar<T: Element>(&self) -> T {
        T::from_bits(self.trial.numbers[next(&self.scalars)])
    }

    /// The next `R` numbers.
    pub fn sizes<const R: usize>(&self) -> [usize; R] {
        std::array::from_fn(|_| self.scalar::<u64>() as usize)
    }

    /// The buffer of a region, of which [`range`](Run::range) is the region.
    pub fn buffer<T: Element>(&self, region: usize) -> Ref<'_, Buffer<T>> {
        self.memory[region].typed()
    }

    /// As [`buffer`](Run::buffer), to be written.
    pub fn buffer_mut<T: Element>(&self, region: usize) -> RefMut<'_, Buffer<T>> {
        self.memory[region].typed_mut()
    }

    /// Where a region lies in its buffer.
    pub fn range(&self, region: usize) -> std::ops::Range<usize> {
        let region = &self.trial.regions[region];
        region.start()..region.start() + region.before.len()
    }
}

/// Launches a kernel over pointers with what a [`Run`] has for it.
macro_rules! launch {
    ($run:ident, $call:expr) => {
        // SAFETY: the kernels here keep to the regions that they are given.
        unsafe { $call.launch($run.stream, $run.grid()) }
    };
}

pub(crate) use launch;
