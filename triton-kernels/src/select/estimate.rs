//! An estimate by waves of the time of a 16-bit product: the prior of the model of times.
//!
//! The fullest multiprocessor has ⌈blocks / 132⌉ blocks. Their shared memory limits how many of them are resident. For one block, an iteration over
//! K takes the time of its arithmetic or of its operand traffic, whichever is longer. Traffic is slower the more multiprocessors load. Resident
//! blocks take turns, but no iteration is shorter than the latency of a load and a product. Reading and writing the whole product takes memory
//! time, some of which overlaps with the rest.
//!
//! The constants were fitted to 70,000 times of 1,500 products on an H200, by their logarithms. They are specific to that device. The choice of a tile
//! depends on their ratios alone, and an H100 has the same ratios.

use super::{Instance, Kernel, Kind, MULTIPROCESSORS, Plan, Problem};

/// Microseconds of a launch.
const LAUNCH: f64 = 4.17;
/// Of a product of numbers for an element of a tile.
const MULTIPLY: f64 = 2.61e-7;
/// Of the load of a number of an operand to a multiprocessor.
const LOAD: f64 = 1.31e-5;
/// The same where all multiprocessors load from L2.
const LOAD_BESIDE_ALL: f64 = 1.73e-5;
/// The least of an iteration: the latency of a load and a product.
const ITERATION: f64 = 0.207;
/// Of the first loads of blocks that are resident together.
const PROLOGUE: f64 = 0.587;
/// Of the store of an element of a tile.
const STORE: f64 = 3.85e-5;
/// Of a byte of memory.
const BYTE: f64 = 2.46e-7;
/// The part of the shorter of both, a multiprocessor's time and memory's, that is not beside the longer.
const APART: f64 = 0.721;
/// Of blocks that share K in a cluster: they wait for one another, and add their sums.
const CLUSTER: f64 = 1.0;
/// Of programs that share K: the second launch, or the wait for the last one.
const SPLIT: f64 = 2.02;
/// Of an element of the sums that they add.
const SUM: f64 = 1.65e-6;

/// Multiprocessors that have blocks of clusters of more than two: a cluster lies in one group of multiprocessors (GPC), whose number is not a multiple of
/// four. The thirty-first cluster of four blocks waits for a second wave.
const IN_CLUSTERS: usize = 120;
/// Bytes of shared memory of a multiprocessor.
const SHARED: usize = 227 << 10;
/// The most blocks that are resident together, by their registers.
const RESIDENT: usize = 8;
/// Bytes of a number.
const BYTES: usize = 2;
/// Rows of a product of a warpgroup: fewer take as long.
const ROWS: usize = 64;

/// Microseconds of a product by an instance, as a plan divides it; `None` of other types than those of 16 bits.
pub(super) fn estimate(instance: &Instance, plan: &Plan, problem: &Problem) -> Option<f64> {
    if !matches!(problem.kind, Kind::Bf16 | Kind::F16) {
        return None;
    }
    let ([m, n, k], [rows, columns, depth], cluster) = (problem.shape, instance.tile, instance.cluster as usize);
    let (blocks, depth) = (plan.programs(problem) * cluster, depth / cluster);
    let on_fullest = blocks.div_ceil(if cluster > 2 { IN_CLUSTERS } else { MULTIPROCESSORS });
    let ring = instance.stages as usize * (rows + columns) * depth * BYTES;
    let resident = (SHARED / ring.max(1)).clamp(1, RESIDENT).min(on_fullest);
    let area = match instance.kernel {
        Kernel::Transposed => rows * columns.max(ROWS),
        Kernel::Whole | Kernel::Split { .. } => rows.max(ROWS) * columns,
    };
    let busy = blocks.min(MULTIPROCESSORS) as f64 / MULTIPROCESSORS as f64;
    let load = LOAD.max(LOAD_BESIDE_ALL * busy) * (rows + columns) as f64;
    let one = depth as f64 * load.max(MULTIPLY * area as f64);
    let iteration = f64::max(one * resident as f64, ITERATION);
    let iterations = plan.chunk.div_ceil(instance.tile[2]) as f64;
    let rounds = on_fullest.div_ceil(resident.max(1)) as f64;
    let computed = rounds * (iterations * iteration + PROLOGUE) + on_fullest as f64 * STORE * area as f64;
    let memory = BYTE * (problem.batch * BYTES * (m * k + n * k + m * n)) as f64;
    let shared = match instance.kernel {
        Kernel::Split { .. } => SPLIT + SUM * (blocks * rows * columns) as f64,
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
        let problem = Problem { kind: Kind::Bf16, order: Order::NT, batch: 1, shape };
        let plan = Plan::new(&problem, instance.kernel, instance.tile, "");
        estimate(&instance, &plan, &problem).expect("of 16 bits")
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
    fn other_types_have_none() {
        let problem = Problem { kind: Kind::F32, order: Order::NN, batch: 1, shape: [64; 3] };
        let plan = Plan::new(&problem, Kernel::Whole, [64, 64, 32], "");
        assert_eq!(estimate(&whole([64, 64, 32], 4, 3), &plan, &problem), None);
    }
}
