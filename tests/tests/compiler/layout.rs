//! Laws of layouts, over every small case.

use triton_core::layout::Layout;

/// Every element has a position, registers of a thread never hold one twice, and columns are what the map is made of.
#[test]
fn coalesced_layouts_cover_the_tile() {
    for elements in (0..13).map(|b| 1u32 << b) {
        for vector in (0..5).map(|b| 1u32 << b).filter(|&v| v <= elements) {
            for num_warps in [1, 2, 4, 8, 16, 32] {
                let layout = Layout::coalesced(elements, vector, num_warps);
                check(&layout, elements, num_warps);
                if vector > 1 {
                    assert!(layout.vector() >= vector, "{layout}");
                }
            }
        }
    }
}

fn check(layout: &Layout, elements: u32, num_warps: u32) {
    let mut places = vec![0u32; elements as usize];
    for warp in 0..num_warps as usize {
        for lane in 0..32 {
            let mut seen = Vec::new();
            for register in 0..layout.registers() {
                let element = layout.element(register, lane, warp);
                let parts = layout.register_element(register) ^ layout.element(0, lane, 0) ^ layout.element(0, 0, warp);
                assert_eq!(element, parts, "{layout}");
                assert!(!seen.contains(&element), "{layout}");
                seen.push(element);
                places[element as usize] += 1;
            }
        }
    }
    let (lanes, warps) = layout.replicated();
    let copies = 1 << (lanes.count_ones() + warps.count_ones());
    assert!(places.iter().all(|&n| n == copies), "{layout}: {copies} copies of each element");
}

/// Runs of registers, where every thread's run starts at a multiple of its length.
#[test]
fn vectors_are_aligned_runs() {
    for columns in [[1, 2, 4], [2, 1, 4], [1, 4, 2], [1, 2, 8]] {
        let layout = Layout { reg: columns.to_vec(), lane: [16, 32, 64, 128, 256], warp: vec![512, 1024] };
        let width = layout.vector() as usize;
        for warp in 0..4 {
            for lane in 0..32 {
                for first in (0..layout.registers()).step_by(width) {
                    let start = layout.element(first, lane, warp);
                    assert_eq!(start as usize % width, 0, "{layout}");
                    for k in 0..width {
                        assert_eq!(layout.element(first + k, lane, warp), start + k as u32, "{layout}");
                    }
                }
            }
        }
    }
    // A lane that moves by less than the run spoils it.
    let layout = Layout { reg: vec![1, 4], lane: [2, 8, 16, 32, 64], warp: vec![] };
    assert_eq!(layout.vector(), 2);
}
