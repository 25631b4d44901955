//! Layouts, memories, conversions and instruction choices that are known: each case is a line of a table.

use triton_core::layout::access::{self, Form};
use triton_core::layout::convert::{Plan, PlanKind, plan};
use triton_core::layout::gather::Gather;
use triton_core::layout::hopper::{tma_box, wgmma_operand};
use triton_core::layout::linear::apply;
use triton_core::layout::{Atom, Layout, Mem, Swizzle, Tiling};
use triton_core::types::Shape;

fn shape(dims: &[u32]) -> Shape {
    Shape::new(dims).unwrap()
}

fn mma(warps_m: u32, warps_n: u32) -> Tiling {
    Tiling { atom: Atom::M16N8, warps_m, warps_n, groups: 1 }
}

fn wgmma(n: u32, warps_m: u32) -> Tiling {
    Tiling { atom: Atom::Wgmma { n }, warps_m, warps_n: 1, groups: 1 }
}

fn mma_d(dims: &[u32], tiling: Tiling) -> Layout {
    Layout::mma_d(shape(dims), tiling).unwrap()
}

fn mma_a(dims: &[u32], bits: u32, tiling: Tiling) -> Layout {
    Layout::mma_a(shape(dims), bits, tiling).unwrap()
}

fn mma_b(dims: &[u32], bits: u32, tiling: Tiling) -> Layout {
    Layout::mma_b(shape(dims), bits, tiling).unwrap()
}

/// Coalesced along the last dimension first.
fn rows(dims: &[u32], vector: u32, warps: u32) -> Layout {
    let order: Vec<usize> = (0..dims.len()).rev().collect();
    Layout::blocked(shape(dims), &order, [vector, 1], warps, &order)
}

/// Coalesced along the first dimension first.
fn columns(dims: &[u32], vector: u32, warps: u32) -> Layout {
    let order: Vec<usize> = (0..dims.len()).collect();
    Layout::blocked(shape(dims), &order, [vector, 1], warps, &order)
}

fn layout(reg: &[u32], lane: [u32; 5]) -> Layout {
    Layout { reg: reg.to_vec(), lane, warp: vec![] }
}

fn swizzled(dims: &[u32], bits: u32, swizzle: Swizzle, major: usize) -> Mem {
    Mem::swizzled(shape(dims), bits, swizzle, major).unwrap()
}

#[test]
fn layouts() {
    let d = mma_d(&[16, 8], mma(1, 1));
    let sums = d.slice_axis(shape(&[16, 8]), 1).unwrap();
    let f64s = Tiling { atom: Atom::M8N8, warps_m: 1, warps_n: 1, groups: 1 };
    let cases = [
        (Layout::coalesced(1024, 4, 4), "reg [1,2,512] lane [4,8,16,32,64] warp [128,256]"),
        (rows(&[1024], 4, 4), "reg [1,2,512] lane [4,8,16,32,64] warp [128,256]"),
        (rows(&[128, 64], 8, 4), "reg [1,2,4,1024,2048,4096] lane [8,16,32,64,128] warp [256,512]"),
        (
            Layout::blocked(shape(&[4, 1024]), &[1, 0], [8, 1], 4, &[0, 1]),
            "reg [1,2,4,256,512] lane [8,16,32,64,128] warp [1024,2048]",
        ),
        (d.clone(), "reg [1,64] lane [2,4,8,16,32] warp []"),
        (mma_a(&[16, 16], 16, mma(1, 1)), "reg [1,128,8] lane [2,4,16,32,64] warp []"),
        (mma_b(&[16, 8], 16, mma(1, 1)), "reg [8,64] lane [16,32,1,2,4] warp []"),
        (mma_a(&[16, 32], 8, mma(1, 1)), "reg [1,2,256,16] lane [4,8,32,64,128] warp []"),
        (mma_a(&[16, 8], 32, mma(1, 1)), "reg [64,4] lane [1,2,8,16,32] warp []"),
        (mma_a(&[16, 16], 64, mma(1, 1)), "reg [128,4,8] lane [1,2,16,32,64] warp []"),
        (mma_d(&[8, 8], f64s), "reg [1] lane [2,4,8,16,32] warp []"),
        (mma_a(&[8, 4], 64, f64s), "reg [] lane [1,2,4,8,16] warp []"),
        (mma_b(&[4, 8], 64, f64s), "reg [] lane [8,16,1,2,4] warp []"),
        (mma_d(&[64, 64], mma(2, 2)), "reg [1,512,16,32,2048] lane [2,4,64,128,256] warp [1024,8]"),
        (mma_d(&[2, 16, 8], mma(1, 1)), "reg [1,64,128] lane [2,4,8,16,32] warp []"),
        (mma_d(&[64, 64], wgmma(64, 4)), "reg [1,512,8,16,32] lane [2,4,64,128,256] warp [1024,2048]"),
        (mma_a(&[64, 64], 16, wgmma(64, 4)), "reg [1,512,8,16,32] lane [2,4,64,128,256] warp [1024,2048]"),
        (sums.clone(), "reg [8] lane [0,0,1,2,4] warp []"),
        (d.slice_axis(shape(&[16, 8]), 0).unwrap(), "reg [1] lane [2,4,0,0,0] warp []"),
        (
            rows(&[16, 64], 8, 1).trans(shape(&[16, 64]), &[1, 0]).unwrap(),
            "reg [16,32,64,4,8] lane [128,256,512,1,2] warp []",
        ),
        (sums.join(), "reg [1,16] lane [0,0,2,4,8] warp []"),
        (sums.join().split().unwrap(), "reg [8] lane [0,0,1,2,4] warp []"),
        (
            layout(&[1], [2, 4, 8, 16, 32]).insert_axis(shape(&[64]), 1, 4).unwrap(),
            "reg [1,2,4] lane [8,16,32,64,128] warp []",
        ),
        (Layout::coalesced(32, 1, 4), "reg [] lane [1,2,4,8,16] warp [0,0]"),
        (layout(&[1, 2, 12, 4], [16, 32, 64, 128, 256]).canonical(16), "reg [1,2,4,8] lane [16,32,64,128,256] warp []"),
        (layout(&[1, 8, 2, 4], [16, 32, 64, 128, 256]).canonical(8), "reg [1,8,2,4] lane [16,32,64,128,256] warp []"),
    ];
    for (layout, expected) in cases {
        assert_eq!(layout.to_string(), expected);
    }
    assert_eq!(Layout::coalesced(64, 1, 1).split(), None, "the lowest bit is a lane");
    let whole = Layout::coalesced(32, 1, 4);
    assert_eq!((whole.replicated(), whole.copies()), ((0, 3), 4));
    assert_eq!(d.trans(shape(&[16, 8]), &[0, 0]), None);
    assert_eq!(d.trans(shape(&[16, 8]), &[0]), None);
    assert_eq!(d.slice_axis(shape(&[16, 8]), 2), None);
}

/// The published maps from register and lane to row and column, by `g = lane / 4` and `t = lane % 4`.
#[test]
fn fragments_are_the_published_ones() {
    type Published = fn(usize, usize, usize) -> (usize, usize);
    let cases: [(Layout, usize, Published); 9] = [
        (mma_d(&[16, 8], mma(1, 1)), 8, |i, g, t| (g + 8 * (i >> 1), 2 * t + (i & 1))),
        (mma_a(&[16, 16], 16, mma(1, 1)), 16, |i, g, t| (g + 8 * (i >> 1 & 1), 2 * t + (i & 1) + 8 * (i >> 2))),
        (mma_a(&[16, 8], 16, mma(1, 1)), 8, |i, g, t| (g + 8 * (i >> 1), 2 * t + (i & 1))),
        (mma_b(&[16, 8], 16, mma(1, 1)), 8, |i, g, t| (2 * t + (i & 1) + 8 * (i >> 1), g)),
        (mma_a(&[16, 32], 8, mma(1, 1)), 32, |i, g, t| (g + 8 * (i >> 2 & 1), 4 * t + (i & 3) + 16 * (i >> 3))),
        (mma_b(&[32, 8], 8, mma(1, 1)), 8, |i, g, t| (4 * t + (i & 3) + 16 * (i >> 2), g)),
        (mma_a(&[16, 8], 32, mma(1, 1)), 8, |i, g, t| (g + 8 * (i & 1), t + 4 * (i >> 1))),
        (mma_b(&[8, 8], 32, mma(1, 1)), 8, |i, g, t| (t + 4 * i, g)),
        (mma_b(&[16, 8], 64, mma(1, 1)), 8, |i, g, t| (t + 4 * i, g)),
    ];
    for (layout, width, published) in cases {
        for lane in 0..32 {
            for i in 0..layout.registers() {
                let element = layout.element(i, lane, 0) as usize;
                assert_eq!((element / width, element % width), published(i, lane >> 2, lane & 3), "{layout}");
            }
        }
    }
    let layout = mma_d(&[64, 256], wgmma(256, 4));
    for (warp, lane, i) in (0..4 * 32 * 128).map(|x| (x >> 12, x >> 7 & 31, x & 127)) {
        let row = 16 * warp + (lane >> 2) + 8 * (i >> 1 & 1);
        let column = 8 * (i >> 2) + 2 * (lane & 3) + (i & 1);
        assert_eq!(layout.element(i, lane, warp) as usize, row * 256 + column);
    }
}

#[test]
fn address_maps() {
    let cases = [
        (swizzled(&[64, 64], 16, Swizzle::B128, 1), vec![1, 2, 4, 8, 16, 32, 72, 144, 288, 512, 1024, 2048]),
        (swizzled(&[64, 32], 16, Swizzle::B64, 1), vec![1, 2, 4, 8, 16, 32, 72, 144, 256, 512, 1024]),
        (swizzled(&[64, 16], 16, Swizzle::B32, 1), vec![1, 2, 4, 8, 16, 32, 72, 128, 256, 512]),
        (swizzled(&[16, 128], 16, Swizzle::B128, 1), vec![1, 2, 4, 8, 16, 32, 1024, 72, 144, 288, 512]),
        (swizzled(&[64, 64], 16, Swizzle::B128, 0), vec![72, 144, 288, 512, 1024, 2048, 1, 2, 4, 8, 16, 32]),
        (swizzled(&[8, 32], 32, Swizzle::B128, 1), vec![1, 2, 4, 8, 16, 36, 72, 144]),
        (Mem::row_major(shape(&[4, 4]), 8).unwrap(), vec![1, 2, 4, 8]),
    ];
    for (mem, inv) in cases {
        assert_eq!(mem.inv(), inv, "{mem}");
    }
    // The formula of the hardware: chunks of a row exchanged by the number of the line.
    for (swizzle, height, width) in
        [(Swizzle::B128, 64, 64), (Swizzle::B64, 32, 32), (Swizzle::B32, 32, 16), (Swizzle::B128, 16, 128)]
    {
        let (mem, w) = (swizzled(&[height, width], 16, swizzle, 1), swizzle.bytes());
        for (row, column) in (0..height * width).map(|x| (x / width, x % width)) {
            let (panel, inside) = (column * 2 / w, column * 2 % w);
            let raw = panel * height * w + row * w + inside;
            let address = raw ^ (raw >> 7 & (w / 16 - 1)) << 4;
            assert_eq!(mem.offset(row * width + column) * 2, address, "{mem}");
        }
    }
    let square = swizzled(&[64, 64], 16, Swizzle::B128, 1);
    assert_eq!(square.trans(shape(&[64, 64]), &[1, 0]), Some(swizzled(&[64, 64], 16, Swizzle::B128, 0)));
    assert_eq!(Mem::new(vec![1, 3, 2], 32), None, "singular");
    assert_eq!(Mem::new(vec![1, 4], 32), None, "not square");
    assert_eq!(Mem::swizzled(shape(&[2, 64, 64]), 16, Swizzle::B128, 0), None);
}

/// φ in terms of registers.
fn phi(p: &Plan) -> Option<[u32; 5]> {
    match &p.kind {
        PlanKind::Shuffle(s) => Some(s.phi.map(|word| apply(&s.words.to, word << s.words.pack))),
        PlanKind::None | PlanKind::Rename { .. } | PlanKind::Select(_) | PlanKind::Shared(_) => None,
    }
}

fn describe(p: &Plan) -> String {
    match &p.kind {
        PlanKind::None => "none".into(),
        PlanKind::Rename { .. } => "rename".into(),
        PlanKind::Select(s) => format!("select {}", s.selects()),
        PlanKind::Shuffle(s) => format!("shuffle {} + {} selects", s.shuffles(), s.selects()),
        PlanKind::Shared(s) => {
            let (store, load) = (&s.store, &s.load);
            let scope = if s.warp_local { "warp" } else { "cta" };
            let ways = format!("{}/{}-way", store.ways, load.ways);
            let waves = store.wavefronts + load.wavefronts;
            format!("{scope} x{} -> x{}, {ways}, {waves} wavefronts", store.elements, load.elements)
        }
    }
}

#[test]
fn conversions() {
    let d64 = mma_d(&[64, 64], wgmma(64, 4));
    let d22 = mma_d(&[64, 64], mma(2, 2));
    let own = [8, 16, 32, 64, 128];
    let square = [64, 64];
    let cases = [
        (d64.clone(), mma_a(&square, 16, wgmma(64, 4)), 16, "none"),
        (d64.clone(), mma_a(&square, 8, wgmma(64, 4)), 8, "shuffle 8 + 16 selects"),
        (mma_d(&[16, 16], mma(1, 1)), rows(&[16, 16], 4, 1), 32, "shuffle 8 + 16 selects"),
        (rows(&[128], 4, 1), rows(&[128], 1, 1), 32, "shuffle 4 + 16 selects"),
        (rows(&[128], 2, 1), rows(&[128], 1, 1), 64, "shuffle 8 + 16 selects"),
        (rows(&[1024], 4, 4), rows(&[1024], 1, 4), 32, "cta x4 -> x4, 1/1-way, 16 wavefronts"),
        (rows(&square, 4, 4), columns(&square, 4, 4), 32, "cta x1 -> x4, 1/1-way, 64 wavefronts"),
        (rows(&square, 8, 4), columns(&square, 8, 4), 16, "cta x1 -> x8, 1/1-way, 48 wavefronts"),
        (d22.clone(), rows(&square, 8, 4), 16, "cta x8 -> x8, 1/1-way, 32 wavefronts"),
        (d22, mma_a(&square, 16, mma(2, 2)), 16, "cta x8 -> x8, 1/1-way, 48 wavefronts"),
        (mma_d(&[128, 256], wgmma(256, 8)), rows(&[128, 256], 8, 8), 16, "cta x8 -> x8, 1/1-way, 128 wavefronts"),
        (layout(&[1, 2, 4], own), layout(&[4, 1, 2], own), 32, "rename"),
        (layout(&[1, 2], [4, 8, 16, 32, 64]), layout(&[1, 2], [5, 8, 16, 32, 64]), 32, "select 4"),
        (layout(&[1], [2, 4, 8, 16, 32]), layout(&[1], [4, 2, 8, 16, 32]), 32, "shuffle 2 + 0 selects"),
        (layout(&[1, 2], [4, 8, 16, 32, 64]), layout(&[4, 2], [1, 8, 16, 32, 64]), 32, "shuffle 2 + 8 selects"),
        (layout(&[1], [2, 4, 8, 0, 0]), layout(&[1], [2, 4, 8, 0, 0]), 32, "none"),
        (layout(&[], [1, 0, 0, 0, 0]), layout(&[1], [0; 5]), 32, "shuffle 2 + 0 selects"),
    ];
    for (src, dst, bits, expected) in &cases {
        let p = plan(src, dst, *bits, true).unwrap();
        assert_eq!(describe(&p), *expected, "{src} → {dst}");
    }
    let gathered = |i: usize| Gather::new(&cases[i].0, &cases[i].1).unwrap().columns;
    let planned = |i: usize| plan(&cases[i].0, &cases[i].1, cases[i].2, true).unwrap();
    assert_eq!(phi(&planned(1)), Some([0, 2, 0, 0, 0]));
    assert_eq!(gathered(2), [1, 8, 2, 16, 4, 32, 64, 128]);
    assert_eq!(phi(&planned(2)), Some([0, 2, 0, 0, 0]));
    assert_eq!(planned(2).cost, 12.0);
    assert_eq!(gathered(3), [32, 64, 1, 2, 4, 8, 16]);
    assert_eq!(phi(&planned(3)), Some([1, 2, 0, 0, 0]));
    assert_eq!(gathered(12), [1, 2, 5, 8, 16, 32, 64]);
    assert_eq!(phi(&planned(14)), Some([1, 0, 0, 0, 0]));
    assert_eq!(gathered(16), [1, 0, 2, 4, 8, 16]);
    let memory = |i: usize| match planned(i).kind {
        PlanKind::Shared(s) => s.mem.off().to_vec(),
        PlanKind::None | PlanKind::Rename { .. } | PlanKind::Select(_) | PlanKind::Shuffle(_) => vec![],
    };
    assert_eq!(memory(5), [1, 2, 4, 8, 16, 512, 256, 128, 64, 32]);
    assert_eq!(memory(6), [64, 8, 256, 512, 1024, 128, 2, 1, 2048, 260, 528, 1056]);
    assert_eq!(memory(7), [64, 128, 16, 512, 1024, 2048, 256, 4, 2, 1, 520, 1056]);
    assert_eq!(memory(8), [1, 2, 4, 8, 16, 32, 2048, 1024, 512, 72, 144, 288]);
}

/// Elements that share a register, and are swapped with those of another.
#[test]
fn renaming_halves_of_registers_costs() {
    let own = [8, 16, 32, 64, 128];
    for (from, to, bits, cost) in [
        ([1, 2, 4], [4, 1, 2], 32, 0.0),
        ([1, 2, 4], [4, 1, 2], 16, 1.0),
        ([1, 2, 4], [1, 4, 2], 16, 0.0),
        ([1, 2, 4], [1, 4, 2], 8, 0.5),
    ] {
        assert_eq!(plan(&layout(&from, own), &layout(&to, own), bits, true).unwrap().cost, cost, "{to:?} b{bits}");
    }
}

#[test]
fn layouts_of_different_tiles_have_no_plan() {
    let a = Layout::coalesced(256, 1, 2);
    for b in [Layout::coalesced(128, 1, 2), Layout::coalesced(256, 1, 4), layout(&[1, 1], [2, 4, 8, 16, 32])] {
        assert_eq!(plan(&a, &b, 32, true), None);
        assert_eq!(plan(&b, &a, 32, true), None);
    }
    assert_eq!(plan(&a, &a, 24, true), None);
}

#[test]
fn instructions() {
    use Swizzle::{B32, B64, B128};
    let d = |k: u32| mma_d(&[64, k], wgmma(k, 4));
    let cases = [
        (mma_a(&[128, 64], 16, mma(2, 2)), swizzled(&[128, 64], 16, B128, 1), Some(1), None),
        (mma_b(&[64, 128], 16, mma(2, 2)), swizzled(&[64, 128], 16, B128, 1), None, Some(1)),
        (mma_b(&[64, 128], 16, mma(2, 2)), swizzled(&[64, 128], 16, B128, 0), Some(1), None),
        (mma_a(&[64, 32], 16, mma(2, 2)), swizzled(&[64, 32], 16, B64, 1), Some(1), None),
        (mma_a(&[64, 16], 16, mma(2, 2)), swizzled(&[64, 16], 16, B32, 1), Some(1), None),
        (mma_a(&[64, 128], 8, mma(2, 2)), swizzled(&[64, 128], 8, B128, 1), Some(1), None),
        (mma_a(&[64, 32], 32, mma(2, 2)), swizzled(&[64, 32], 32, B128, 1), Some(1), None),
        (mma_a(&[64, 64], 16, mma(2, 2)), Mem::row_major(shape(&[64, 64]), 16).unwrap(), Some(8), None),
        (d(64), swizzled(&[64, 64], 16, B128, 1), Some(1), None),
        (d(32), swizzled(&[64, 32], 16, B64, 1), Some(1), None),
        (d(16), swizzled(&[64, 16], 16, B32, 1), Some(1), None),
        (d(64), swizzled(&[64, 64], 16, B128, 0), None, Some(1)),
        (mma_a(&[16, 16], 64, mma(1, 1)), swizzled(&[16, 16], 64, B128, 1), None, None),
    ];
    for (layout, mem, plain, trans) in &cases {
        let ways = |trans| access::matrix(layout, mem, trans).map(|a| a.ways);
        assert_eq!((ways(false), ways(true)), (*plain, *trans), "{layout} in {mem}");
    }
    let form = |case: usize, matrices| access::shared(&cases[case].0, &cases[case].1, matrices).unwrap();
    assert!(matches!(form(0, true).form, Form::Matrix { trans: false, count: 4, .. }));
    assert!(matches!(form(1, true).form, Form::Matrix { trans: true, count: 4, .. }));
    assert!(matches!(form(0, false).form, Form::Vector));
    // Matches, but the bank conflicts cost more than narrow loads do.
    assert!(matches!(form(7, true).form, Form::Vector));
    let x2 = access::matrix(&mma_b(&[16, 8], 16, mma(1, 1)), &swizzled(&[16, 8], 16, B32, 0), false).unwrap();
    assert!(matches!(x2.form, Form::Matrix { count: 2, .. }));

    let copy = rows(&[128, 64], 8, 4);
    assert_eq!(access::vector_ways(&copy, &swizzled(&[128, 64], 16, B128, 1), 8), 1);
    let down = columns(&[64, 64], 1, 4);
    assert_eq!(access::vector_ways(&down, &Mem::row_major(shape(&[64, 64]), 32).unwrap(), 1), 32);
    assert_eq!(access::vector_ways(&mma_a(&[64, 32], 32, mma(4, 1)), &swizzled(&[64, 32], 32, B128, 1), 1), 1);
}

#[test]
fn operands_of_wgmma_and_boxes() {
    let a = (swizzled(&[128, 64], 16, Swizzle::B128, 1), shape(&[128, 64]));
    let o = wgmma_operand(&a.0, a.1, 1).unwrap();
    assert_eq!((o.k_major, o.swizzle, o.sbo, o.step, o.panel), (true, Swizzle::B128, 1024, 32, 16384));
    let t = tma_box(&a.0, a.1).unwrap();
    assert_eq!((t.swizzle, t.major, t.extent, t.boxes), (Swizzle::B128, 1, [64, 128], 1));

    let b = (swizzled(&[64, 256], 16, Swizzle::B128, 1), shape(&[64, 256]));
    let o = wgmma_operand(&b.0, b.1, 0).unwrap();
    assert_eq!((o.k_major, o.sbo, o.lbo, o.step), (false, 1024, 8192, 2048));
    let t = tma_box(&b.0, b.1).unwrap();
    assert_eq!((t.extent, t.boxes), ([64, 64], 4));

    let refused = [
        (swizzled(&[64, 128], 8, Swizzle::B128, 1), shape(&[64, 128])),
        (Mem::row_major(shape(&[64, 64]), 16).unwrap(), shape(&[64, 64])),
    ];
    for (mem, of) in refused {
        assert_eq!(wgmma_operand(&mem, of, 0), None, "{mem}");
    }
}

/// Sectors and lines of global accesses of one warp.
#[test]
fn global_accesses() {
    let cases = [
        // Contiguous: 32 lanes of 16 bytes are 16 sectors, 4 lines.
        (Layout::coalesced(1024, 4, 4), 0, 10, 4, 4, (4, 16, 4)),
        (Layout::coalesced(1024, 1, 4), 0, 10, 4, 4, (1, 4, 1)),
        // Rows of 64 bytes: each is two sectors of a line of its own.
        (rows(&[64, 16], 4, 1), 0, 4, 4, 4, (4, 16, 8)),
        // Columns: every lane has a sector of its own.
        (columns(&[64, 64], 1, 4), 0, 6, 4, 4, (1, 32, 32)),
        // The same, where columns are contiguous.
        (columns(&[64, 64], 4, 4), 6, 6, 4, 4, (4, 16, 4)),
        // All lanes at one address.
        (layout(&[1], [0; 5]), 0, 1, 1, 4, (1, 1, 1)),
    ];
    for (layout, first, run, vector, bytes, expected) in cases {
        let t = access::global(&layout, first, run, vector, bytes);
        assert_eq!((t.vector, t.sectors, t.lines), expected, "{layout}");
    }
}
