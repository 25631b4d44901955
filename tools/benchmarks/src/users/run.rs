//! The rows on a device: their operands, the launches of their kernels, and what the results should be.

mod attention;
mod elementwise;
mod layer_norm;
mod mixed;
mod others;
mod products;
mod rows;

use super::cases::{Case, Kernel};
use super::operands::Row;
use crate::Outcome;
use elementwise::{Elementwise, Function};
use products::{Grouped, Kind, Product};
use triton::Stream;

/// A row with inputs from a seed.
///
/// # Errors
/// Of the device, mostly because memory runs out.
pub fn prepare(case: &Case, stream: &Stream, seed: u64) -> Outcome<Box<dyn Row>> {
    Ok(match case.kernel {
        Kernel::Add => Box::new(Elementwise::new(Function::Add, case, stream, seed)?),
        Kernel::Dropout => Box::new(Elementwise::new(Function::Dropout, case, stream, seed)?),
        Kernel::Asin => Box::new(Elementwise::new(Function::Asin, case, stream, seed)?),
        Kernel::Softmax => Box::new(rows::Softmax::new(case, stream, seed)?),
        Kernel::Top => Box::new(rows::Top::new(case, stream, seed)?),
        Kernel::GroupNorm => Box::new(rows::GroupNorm::new(case, stream, seed)?),
        Kernel::LayerNorm => Box::new(layer_norm::Forward::new(case, stream, seed)?),
        Kernel::LayerNormBackward => Box::new(layer_norm::Backward::new(case, stream, seed)?),
        Kernel::Attention | Kernel::CausalAttention => Box::new(attention::Attention::new(case, stream, seed)?),
        Kernel::Matmul => Box::new(Product::new(Kind::Plain, case, stream, seed)?),
        Kernel::LeakyMatmul => Box::new(Product::new(Kind::Leaky, case, stream, seed)?),
        Kernel::PersistentMatmul => Box::new(Product::new(Kind::Persistent, case, stream, seed)?),
        Kernel::PlainMatmul => Box::new(Product::new(Kind::Tiled, case, stream, seed)?),
        Kernel::GroupedMatmul => Box::new(Grouped::new(case, stream, seed)?),
        Kernel::W8a16 => Box::new(mixed::Linear::new(case, stream, seed)?),
        Kernel::MixedMatmul => Box::new(mixed::Mixed::new(case, stream, seed)?),
        Kernel::Rotary => Box::new(others::Rotary::new(case, stream, seed)?),
        Kernel::Scan => Box::new(others::Scan::new(case, stream, seed)?),
        Kernel::Fft => Box::new(others::Fft::new(case, stream, seed)?),
        Kernel::Histogram => Box::new(others::Histogram::new(case, stream, seed)?),
    })
}

/// The names of a pool's instances.
macro_rules! names {
    ($pool:expr) => {
        $pool.members().iter().map(|member| member.choice().to_string()).collect::<Vec<String>>()
    };
}
use names;

/// Programs of this many elements each.
fn programs(count: usize, each: i32) -> usize {
    count.div_ceil(each as usize)
}
