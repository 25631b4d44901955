//! An estimate by waves of the time of a product of 16 bits or of `f64`: the prior of the model of times, and alone what chooses where there is no model.
//!
//! The fullest of M multiprocessors has ⌈blocks / M⌉ blocks. Their shared memory limits how many of them are resident. For one block, an iteration over
//! K takes the time of its arithmetic or of its operand traffic, whichever is longer. Traffic is slower the more multiprocessors load. Resident
//! blocks take turns, but no iteration is shorter than the latency of a load and a product. Reading and writing the whole product takes memory
//! time, some of which overlaps with the rest.
//!
//! The constants were fitted to 70,000 times of 1,500 products of 16 bits on an H200, by their logarithms. On another device arithmetic and loads take
//! longer as its clock is slower, arithmetic also as its tensor cores are, and memory as it moves fewer bytes a second: see [`Machine`]. Those of `f64`
//! follow from the size of its numbers and from 17 products.

use super::{Instance, Kernel, Kind, Plan, Problem};
use triton::selection::Machine;

/// Microseconds of a launch.
const LAUNCH: f64 = 4.17;
/// Of the load of 16 bits of an operand to a multiprocessor.
const LOAD: f64 = 1.31e-5;
/// The same where all multiprocessors load from L2.
const LOAD_BESIDE_ALL: f64 = 1.73e-5;
/// Of the first loads of blocks that are resident together.
const PROLOGUE: f64 = 0.587;
/// Of the store of 16 bits of a tile.
const STORE: f64 = 3.85e-5;
/// Of a byte of memory.
const BYTE: f64 = 2.46e-7;
/// The part of the shorter of both, a multiprocessor's time and memory's, that is not beside the longer.
const APART: f64 = 0.721;
/// Of blocks that share K in a cluster: they wait for one another, and add their sums.
const CLUSTER: f64 = 1.0;
/// Of programs that share K: the second launch, or the wait for the last one.
const SPLIT: f64 = 2.02;
/// Of 32 bits of the sums that they add.
const SUM: f64 = 1.65e-6;

/// Multiprocessors that have blocks of clusters of more than two: a cluster lies in one group of multiprocessors (GPC), whose number is not a multiple of
/// four. On an H200 the thirty-first cluster of four blocks waits for a second wave.
fn in_clusters(multiprocessors: usize) -> usize {
    (multiprocessors * 10 / 11 / 4 * 4).max(1)
}

/// The most blocks that are resident together, by their registers.
const RESIDENT: usize = 8;

/// What differs from type to type.
struct Rates {
    /// Bytes of a number.
    bytes: usize,
    /// Of the parts of a split.
    bytes_of_sum: usize,
    /// Microseconds of a product of numbers for an element of a tile.
    multiply: f64,
    /// Of a number that a warp loads from shared memory for its products: `wgmma` reads it by itself.
    fragment: f64,
    /// The least of an iteration: the latency of a load and a product.
    iteration: f64,
    /// The part of an iteration's arithmetic that is not beside that latency: `wgmma` goes on while its warps wait, `mma.sync` does not.
    apart: f64,
    /// Rows of a product: fewer take as long.
    rows: usize,
}

/// Of 16 bits, by `wgmma`.
const HALF: Rates =
    Rates { bytes: 2, bytes_of_sum: 4, multiply: 2.61e-7, fragment: 0.0, iteration: 0.207, apart: 0.0, rows: 64 };
/// Of `f64`, by `mma.sync`: what the instruction takes at its full rate, and what 64x64x16 takes beside that. 2048³ is 0.34 µs an iteration, where several
/// blocks are resident, 512³ 0.5, where one is.
const DOUBLE: Rates =
    Rates { bytes: 8, bytes_of_sum: 8, multiply: 3.94e-6, fragment: 2.1e-5, iteration: 0.15, apart: 1.0, rows: 16 };

/// Microseconds of a product by an instance, as a plan divides it; `None` of other types than those of 16 bits and `f64`.
pub(super) fn estimate(instance: &Instance, plan: &Plan, problem: &Problem) -> Option<f64> {
    let machine = &problem.machine;
    let (multiprocessors, shared) = (problem.multiprocessors(), machine.shared_bytes as usize);
    let slower = |of: fn(&Machine) -> u32| f64::from(of(&Machine::H200)) / f64::from(of(machine));
    let (clock, byte) = (slower(|of| of.mhz), BYTE * slower(|of| of.gigabytes));
    let (rates, arithmetic) = match problem.kind {
        Kind::Bf16 | Kind::F16 => (HALF, clock * slower(Machine::half_products)),
        Kind::F64 => (DOUBLE, clock * slower(Machine::double_products)),
        Kind::F32 | Kind::Tf32 | Kind::I8 => return None,
    };
    let (of_16_bits, of_32_bits) = ((rates.bytes / 2) as f64, (rates.bytes_of_sum / 4) as f64);
    let ([m, n, k], [rows, columns, depth], cluster) = (problem.shape, instance.tile, instance.cluster as usize);
    let (blocks, depth) = (plan.programs(problem) * cluster, depth / cluster);
    let on_fullest = blocks.div_ceil(if cluster > 2 { in_clusters(multiprocessors) } else { multiprocessors });
    let ring = instance.stages as usize * (rows + columns) * depth * rates.bytes;
    let resident = (shared / ring.max(1)).clamp(1, RESIDENT).min(on_fullest);
    let area = match instance.kernel {
        Kernel::Transposed => rows * columns.max(rates.rows),
        Kernel::Whole | Kernel::Split { .. } => rows.max(rates.rows) * columns,
    };
    let busy = blocks.min(multiprocessors) as f64 / multiprocessors as f64;
    let load = clock * LOAD.max(LOAD_BESIDE_ALL * busy) * of_16_bits * (rows + columns) as f64;
    // Warps have parts of a tile that are as high as wide, or nearly.
    let fragments = 2.0 * ((area * instance.warps as usize) as f64).sqrt();
    let one = depth as f64 * load.max(arithmetic * rates.multiply * area as f64 + clock * rates.fragment * fragments);
    let iteration = f64::max(one * resident as f64, rates.iteration + rates.apart * one);
    let iterations = plan.chunk.div_ceil(instance.tile[2]) as f64;
    let rounds = on_fullest.div_ceil(resident.max(1)) as f64;
    let computed = rounds * (iterations * iteration + PROLOGUE) + on_fullest as f64 * STORE * of_16_bits * area as f64;
    let memory = byte * (problem.batch * rates.bytes * (m * k + n * k + m * n)) as f64;
    let shared = match instance.kernel {
        Kernel::Split { .. } => SPLIT + SUM * of_32_bits * (blocks * rows * columns) as f64,
        Kernel::Whole | Kernel::Transposed if cluster > 1 => CLUSTER,
        Kernel::Whole | Kernel::Transposed => 0.0,
    };
    Some(LAUNCH + computed.max(memory) + APART * computed.min(memory) + shared)
}

#[cfg(test)]
mod tests {
    use super::super::Order;
    use super::*;

    fn of(instance: Instance, shape: [usize; 3]) -> f64 {
        of_kind(Kind::Bf16, instance, shape)
    }

    fn of_kind(kind: Kind, instance: Instance, shape: [usize; 3]) -> f64 {
        let problem = Problem { kind, order: Order::NT, batch: 1, shape, machine: Machine::H200 };
        let plan = Plan::new(&problem, instance.kernel, instance.tile, "");
        estimate(&instance, &plan, &problem).expect("a type that has one")
    }

    fn whole(tile: [usize; 3], warps: u32, stages: u32) -> Instance {
        Instance { kernel: Kernel::Whole, tile, warps, stages, cluster: 1 }
    }

    #[test]
    fn a_full_wave_is_the_shortest() {
        let [large, fitting] = [whole([128, 256, 64], 8, 4), whole([128, 144, 64], 8, 6)];
        // 72 tiles of 128 x 256 leave 60 multiprocessors idle; of 128 x 144 there are 132.
        assert!(of(fitting, [1536; 3]) < 0.8 * of(large, [1536; 3]));
        assert!(of(large, [4096; 3]) < of(fitting, [4096; 3]));
    }

    #[test]
    fn longer_products_take_longer() {
        let tile = whole([128, 128, 64], 8, 6);
        let times = [64, 512, 4096, 32768].map(|k| of(tile, [1024, 1024, k]));
        assert!(times.is_sorted(), "{times:?}");
        assert!(of(tile, [1; 3]) > LAUNCH);
    }

    #[test]
    fn few_tiles_of_f64_are_split() {
        let split = |programs| Instance { kernel: Kernel::Split { groups: 1, programs }, ..whole([64, 64, 16], 4, 3) };
        let [one, two] = [1, 2].map(|programs| of_kind(Kind::F64, split(programs), [2560, 64, 2560]));
        let whole = of_kind(Kind::F64, whole([64, 64, 16], 4, 3), [2560, 64, 2560]);
        assert!(two < one && one < 0.6 * whole, "{two} {one} {whole}");
    }

    #[test]
    fn other_types_have_none() {
        let problem = Problem { kind: Kind::F32, order: Order::NN, batch: 1, shape: [64; 3], machine: Machine::H200 };
        let plan = Plan::new(&problem, Kernel::Whole, [64, 64, 32], "");
        assert_eq!(estimate(&whole([64, 64, 32], 4, 3), &plan, &problem), None);
    }
}
