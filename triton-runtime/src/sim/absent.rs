//! The simulator without the feature `sim`: uninhabited types, so that no code of it remains.

use crate::error::Result;
use crate::gpu::Gpu;
use std::convert::Infallible;
use triton_ir::metadata::{Image, KernelMetadata, Machine};

#[derive(Clone, Copy)]
pub(crate) struct SimOptions(Infallible);

#[derive(Debug)]
pub(crate) struct SimStream(Infallible);

#[derive(Debug)]
pub(crate) struct SimMemory(Infallible);

impl SimOptions {
    pub(crate) fn named() -> Result<Option<SimOptions>> {
        Ok(None)
    }

    pub(crate) fn name(&self) -> &'static str {
        match self.0 {}
    }

    pub(crate) fn machine(&self) -> Machine {
        match self.0 {}
    }

    pub(crate) fn gpu(&self) -> Gpu {
        match self.0 {}
    }

    pub(crate) fn load(&self, _kernel: &KernelMetadata, _image: &'static Image) -> Result<()> {
        match self.0 {}
    }
}

impl SimStream {
    pub(crate) fn new(options: SimOptions) -> SimStream {
        match options.0 {}
    }

    pub(crate) fn gpu(&self) -> Gpu {
        match self.0 {}
    }

    pub(crate) fn allocate(&self, _bytes: usize) -> Result<SimMemory> {
        match self.0 {}
    }

    pub(crate) fn run<const N: usize>(
        &self,
        _kernel: &KernelMetadata,
        _config: usize,
        _image: &'static Image,
        _grid: [u32; 3],
        _values: [&[u64]; N],
        _programs: Option<[u64; 3]>,
    ) -> Result<()> {
        match self.0 {}
    }
}

impl SimMemory {
    pub(crate) fn address(&self) -> u64 {
        match self.0 {}
    }

    pub(crate) fn len(&self) -> usize {
        match self.0 {}
    }

    pub(crate) fn read(&self, _offset: usize, _target: &mut [u8]) -> bool {
        match self.0 {}
    }

    pub(crate) fn write(&self, _offset: usize, _source: &[u8]) -> bool {
        match self.0 {}
    }

    pub(crate) fn copy(&self, _offset: usize, _source: &SimMemory, _source_offset: usize, _bytes: usize) -> bool {
        match self.0 {}
    }
}
