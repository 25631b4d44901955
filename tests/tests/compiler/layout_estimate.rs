//! What conversions are estimated to cost, against their plans.

use triton_core::layout::convert::plan;
use triton_core::layout::estimate::cycles;
use triton_core::layout::{Atom, Layout, Tiling};
use triton_core::types::Shape;

/// Layouts that placement considers for a tile.
fn considered(shape: Shape, bits: u32, warps: u32) -> Vec<Layout> {
    let mut all = Vec::new();
    for vector in [1, 2, 4, 8] {
        for (order, along) in [([1, 0], [1, 0]), ([1, 0], [0, 1]), ([0, 1], [0, 1])] {
            all.push(Layout::blocked(shape, &order, [vector, 1], warps, &along));
        }
    }
    for warps_n in (0..=warps.trailing_zeros()).map(|log| 1 << log) {
        let tiling = Tiling { atom: Atom::M16N8, warps_m: warps / warps_n, warps_n, groups: 1 };
        all.extend(Layout::mma_d(shape, tiling));
        if bits < 64 {
            all.extend(Layout::mma_a(shape, bits, tiling));
            all.extend(Layout::mma_b(shape, bits, tiling));
        }
    }
    all
}

#[test]
fn estimates_are_near_the_plans() {
    let (mut pairs, mut near, mut equal) = (0, 0, 0);
    for (m, n) in [(16, 16), (32, 64), (64, 64), (128, 32)] {
        let shape = Shape::new(&[m, n]).unwrap();
        for (bits, warps) in [(8, 4), (16, 1), (16, 4), (16, 8), (32, 4), (64, 2)] {
            let all = considered(shape, bits, warps);
            for (src, dst) in all.iter().flat_map(|src| all.iter().map(move |dst| (src, dst))) {
                let (plan, estimate) = (plan(src, dst, bits, false).unwrap(), cycles(src, dst, bits, false));
                let ratio = if plan.cost == estimate { 1.0 } else { estimate / plan.cost };
                assert!((0.5..=2.0).contains(&ratio), "{estimate}, not {}: {bits} bits, {src} to {dst}", plan.cost);
                pairs += 1;
                near += usize::from((0.75..=1.34).contains(&ratio));
                equal += usize::from((ratio - 1.0).abs() < 1e-9);
            }
        }
    }
    assert!(near * 100 >= pairs * 98 && equal * 100 >= pairs * 90, "of {pairs} {near} are near, {equal} equal");
}
