//! Products of few rows or columns, split along K twice: among programs, and in each of them among groups of warps.
//!
//! A small tile of the result has too few elements for the warps that hide the latency of memory. So KL groups of warps multiply parts of
//! the K of an iteration, a batch of KL products, and their sums are added once, after the loop.

use crate::case::Case;
use crate::selection::Plan;
use triton::prelude::*;

/// As in [`slices`](crate::products::slices), which divides K among programs alone: the program at (i, j, s) writes the partial sums of
/// tile (i, j) over `steps` times BK to the workspace `parts`, \[S, M, N\].
#[triton::kernel(configs = [
    (T = f32, BM = 32, BN = 16, BK = 64, KL = 4, TX = false, TY = false, num_stages = 3),
    (T = f32, BM = 32, BN = 32, BK = 64, KL = 4, TX = false, TY = true, num_stages = 3),
    (T = f32, BM = 32, BN = 32, BK = 64, KL = 8, TX = false, TY = true, num_warps = 8, num_stages = 3),
    (T = f32, BM = 64, BN = 64, BK = 32, KL = 2, TX = false, TY = false, num_stages = 4),
], tune = [BM, BN, BK, KL, TX, TY])]
pub fn grouped_slices<
    T: Float,
    const BM: i32,
    const BN: i32,
    const BK: i32,
    const KL: i32,
    const TX: bool,
    const TY: bool,
>(
    x: Tensor<T, 2>,
    y: Tensor<T, 2>,
    parts: TensorMut<f32, 3>,
    #[no_specialize] steps: i32,
) {
    let (m, n, s) = (program_id(0) * BM, program_id(1) * BN, program_id(2));
    let depth = if TX { x.dim(0) } else { x.dim(1) };
    let first = s * steps * BK;
    let mut acc = zeros::<f32>([KL, BM, BN]);
    for k in (first..minimum(first + steps * BK, depth)).step_by(BK) {
        let a = if TX { x.load([k, m], [BK, BM]).transpose() } else { x.load([m, k], [BM, BK]) };
        let b = if TY { y.load([n, k], [BN, BK]).transpose() } else { y.load([k, n], [BK, BN]) };
        acc = dot(a.reshape([BM, KL, BK / KL]).permute([1, 0, 2]), b.reshape([KL, BK / KL, BN]), acc);
    }
    parts.store([s, m, n], sum_axis(acc, 0).expand_dims(0));
}

/// Whether an instance is a plan's, in this many groups.
pub fn is<'a>(case: &'a Case, plan: &'a Plan, groups: usize) -> impl Fn(&GroupedSlicesChoice) -> bool + 'a {
    move |of| plan.is(case, [of.BM, of.BN, of.BK], [of.TX, of.TY]) && of.KL as usize == groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Layouts, cases};
    use crate::kernels::Operands;
    use crate::selection::Kernel;
    use crate::{data, products, reference};

    /// Every instance, with the addition of its slices, on a shape of whole tiles and on one that cuts them.
    fn grouped_on(device: Device) {
        let stream = device.stream().expect("a stream");
        let found = cases(1 << 27, &["matmul f32 2560x64x2560".to_string()]);
        for member in grouped_slices_pool::<f32>().members() {
            let of = member.choice();
            let (tile, groups) = ([of.BM, of.BN, of.BK].map(|side| side as usize), of.KL as usize);
            let layouts = Layouts::of([of.TX, of.TY]);
            for shape in [[tile[0], tile[1], 4 * tile[2]], [tile[0] + 7, tile[1] + 5, 3 * tile[2] + 11]] {
                let [m, n, k] = shape;
                let case = Case { shape, n: m * n, layouts, pitch: n, ..found[0].clone() };
                let total = k.div_ceil(tile[2]);
                let steps = total.div_ceil(2);
                let kernel = Kernel::Groups { groups, programs: 1 };
                let plan = Plan { kernel, tile, slices: total.div_ceil(steps), steps, reason: "a test" };
                let (x, y): (Vec<f32>, Vec<f32>) = (data::random(m * k, 1), data::random(k * n, 2));
                let (device_x, device_y) = (stream.upload(&x).expect("memory"), stream.upload(&y).expect("memory"));
                let mut out = stream.zeros(m * n).expect("memory");
                let mut workspace = stream.zeros(plan.workspace(&case)).expect("memory");
                let operands = Operands { x: &device_x, y: &device_y, out: &mut out, workspace: &mut workspace };
                products::f32s(&case, &plan, &stream, operands).expect("it runs");
                let error = reference::error(&case, &x, &y, &stream.download(&out).expect("a result"));
                assert!(error <= case.bound, "{plan}, {layouts:?}, {shape:?}: {error}");
            }
        }
    }

    #[test]
    fn grouped_products_on_the_cpu() {
        grouped_on(Device::cpu());
    }

    #[test]
    fn grouped_products_on_the_simulator() {
        grouped_on(Device::sim());
    }
}
