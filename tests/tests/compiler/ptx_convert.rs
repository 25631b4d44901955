//! The code of conversions between layouts, on the simulator: every thread ends with the elements its layout names.

use super::random_layouts::Layouts;
use triton_core::ir::parse::parse;
use triton_core::layout::access::Form;
use triton_core::layout::convert::{Plan, PlanKind, plan};
use triton_core::layout::{Atom, Layout, Tiling};
use triton_core::metadata::{Specialization, Target};
use triton_core::passes::{Env, SYNCHRONIZE, run};
use triton_core::ptx::lower::lower;
use triton_core::ptx::text::print::print;
use triton_core::ptx::{Kernel, Op};
use triton_core::types::Shape;
use triton_sim::{Arg, Launch, Memory, Module, Options};
use triton_tests::numbers::Random;

/// What the code is made for.
const ENV: Env = Env::new(Target::Sm80, Specialization::Generic).verified();

/// A layout near another one: mostly the same, or at least in the same warp.
fn near(random: &mut Random, layout: &Layout) -> Layout {
    let mut dst = layout.clone();
    for _ in 0..1 + random.below(4) {
        let (registers, lane) = (dst.reg.len(), random.below(5));
        match random.below(4) {
            0 if registers > 1 => dst.reg.swap(0, registers - 1),
            1 if registers > 0 => dst.lane[lane] ^= dst.reg[random.below(registers)],
            2 if registers > 0 && !dst.warp.is_empty() => dst.warp[0] ^= dst.reg[0],
            _ if registers > 0 => {
                let r = random.below(registers);
                std::mem::swap(&mut dst.reg[r], &mut dst.lane[lane]);
            }
            _ => dst.lane.swap(0, lane),
        }
        dst = dst.dedup();
    }
    dst
}

/// What a tile is of: name, and bits that the planner is told.
const TYPES: &[(&str, u32)] = &[
    ("bool", 8),
    ("i8", 8),
    ("u8", 8),
    ("i16", 16),
    ("f16", 16),
    ("bf16", 16),
    ("f32", 32),
    ("i32", 32),
    ("f64", 64),
    ("i64", 64),
    ("ptr", 64),
];

/// An element of the first buffer.
fn element(ty: &str, index: u64, bytes: usize) -> u64 {
    let mixed = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    if ty == "bool" { mixed >> 40 & 1 } else { (mixed ^ mixed >> 29) & u64::MAX >> (64 - 8 * bytes) }
}

fn is_byte(ty: &str) -> bool {
    matches!(ty, "i8" | "u8")
}

/// The code of a kernel that loads a tile, converts it from each layout to the next, and stores it.
fn kernel(ty: &str, layouts: &[Layout]) -> Kernel {
    let (n, warps) = (1usize << layouts[0].bits(), 1 << layouts[0].warp.len());
    let mut text = String::new();
    layouts.iter().enumerate().for_each(|(i, layout)| text += &format!("layout #{i} = {layout}\n"));
    let (number, tile) = if ty == "ptr" { ("i32", "ptr<i32>") } else { (ty, ty) };
    let wide = if is_byte(ty) { "i32" } else { number };
    text += &format!("kernel convert(v0 x: ptr<{number}>, v1 out: ptr<mut {wide}>) warps {warps} {{\n");
    text += &format!("  v2 = arange 0, {n} : i32[{n}] #0\n  v3 = splat v0, [{n}] : ptr<{number}>[{n}] #0\n");
    text += &format!("  v4 = offset v3, v2 : ptr<{number}>[{n}] #0\n");
    let mut value = 4;
    if ty != "ptr" {
        text += &format!("  v5 = load v4, -, - : {tile}[{n}] #0\n");
        value = 5;
    }
    for i in 1..layouts.len() {
        text += &format!("  v{} = convert v{value} : {tile}[{n}] #{i}\n", value + 1);
        value += 1;
    }
    let last = layouts.len() - 1;
    if ty == "ptr" {
        text += &format!("  v{} = load v{value}, -, - : {number}[{n}] #{last}\n", value + 1);
        value += 1;
    }
    if is_byte(ty) {
        // Sees whether the register is extended as it should be.
        text += &format!("  v{} = cast v{value}, i32 : i32[{n}] #{last}\n", value + 1);
        value += 1;
    }
    let (index, splat, at) = (value + 1, value + 2, value + 3);
    text += &format!("  v{index} = arange 0, {n} : i32[{n}] #{last}\n");
    text += &format!("  v{splat} = splat v1, [{n}] : ptr<mut {wide}>[{n}] #{last}\n");
    text += &format!("  v{at} = offset v{splat}, v{index} : ptr<mut {wide}>[{n}] #{last}\n");
    text += &format!("  store v{at}, -, v{value}\n}}\n");
    let mut func = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    run(SYNCHRONIZE, &mut func, &ENV).unwrap_or_else(|e| panic!("{e}\n{text}"));
    lower(&func, ENV.target, ENV.specialization).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The bytes of elements that are made of this number of bytes.
fn contents(count: usize, bytes: usize, element: impl Fn(u64) -> u64) -> Vec<u8> {
    (0..count as u64).flat_map(|index| element(index).to_le_bytes().into_iter().take(bytes)).collect()
}

/// Lets every thread store every register, each instruction to a copy of the buffer: all that hold an element must hold it,
/// not only the one that stores it. Returns the number of copies.
fn observe_every_register(kernel: &mut Kernel, bytes_of_copy: usize) -> usize {
    let mut copies = 0;
    for inst in &mut kernel.body {
        if let Op::St { address, .. } = &mut inst.op {
            address.offset += (copies * bytes_of_copy) as i32;
            inst.guard = None;
            copies += 1;
        }
    }
    copies
}

/// Runs the kernel; every thread must hold what its layout says. Different values of two threads for one element are a race.
fn check(ty: &str, layouts: &[Layout]) -> Kernel {
    let kernel = kernel(ty, layouts);
    let show = || layouts.iter().map(|l| format!("{l}\n")).collect::<String>();
    let n = 1 << layouts[0].bits();
    let bytes = match ty {
        "bool" | "i8" | "u8" => 1,
        "i16" | "f16" | "bf16" => 2,
        "f32" | "i32" | "ptr" => 4,
        _ => 8,
    };
    let expected = match ty {
        "i8" => contents(n, 4, |index| element(ty, index, 1) as i8 as u64),
        "u8" => contents(n, 4, |index| element(ty, index, 1)),
        _ => contents(n, bytes, |index| element(ty, index, bytes)),
    };
    let mut observed = kernel.clone();
    let copies = observe_every_register(&mut observed, expected.len());
    let stored = |op: &Op| if let Op::St { srcs, .. } = op { srcs.len() } else { 0 };
    let stored: usize = kernel.body.iter().map(|inst| stored(&inst.op)).sum();
    assert_eq!(stored, layouts[layouts.len() - 1].registers(), "{ty}\n{}", show());

    let mut memory = Memory::new();
    let x = memory.alloc((n * bytes) as u64).unwrap();
    memory.write(x, &contents(n, bytes, |index| element(ty, index, bytes))).unwrap();
    // What nothing is stored to stays as it is.
    let untouched: Vec<u8> = expected.iter().map(|byte| !byte).collect();
    let out = memory.alloc((copies * expected.len()) as u64).unwrap();
    memory.write(out, &untouched.repeat(copies)).unwrap();
    let module = Module::parse(&print(&observed)).unwrap_or_else(|e| panic!("{ty}: {e}\n{}", show()));
    let launch = Launch {
        shared: kernel.shared_bytes,
        args: vec![Arg::Bits(x), Arg::Bits(out)],
        ..Launch::new(&kernel.entry, [1; 3], [kernel.threads, 1, 1])
    };
    let outcome = module.launch(&mut memory, &launch, &Options::default()).unwrap();
    if let Some(report) = outcome.reports.first() {
        panic!("{ty}: {report}\n{}", show());
    }
    let found = memory.read(out, (copies * expected.len()) as u64).unwrap();
    let width = expected.len() / n;
    let mut written = vec![false; n];
    for copy in found.chunks_exact(expected.len()) {
        // Most blocks of a copy are untouched, and compared at once.
        let blocks = (0..expected.len()).step_by(16 * width);
        for block in blocks.map(|start| start..expected.len().min(start + 16 * width)) {
            if copy[block.clone()] == untouched[block.clone()] {
                continue;
            }
            for start in block.step_by(width) {
                let element = start..start + width;
                if copy[element.clone()] != untouched[element.clone()] {
                    let index = start / width;
                    assert_eq!(copy[element.clone()], expected[element], "element {index} of {ty}\n{}", show());
                    written[index] = true;
                }
            }
        }
    }
    assert!(written.iter().all(|written| *written), "{ty}\n{}", show());
    kernel
}

fn count(kernel: &Kernel, f: impl Fn(&Op) -> bool) -> u32 {
    kernel.body.iter().filter(|inst| f(&inst.op)).count() as u32
}

/// One conversion has exactly the instructions that its plan was compared by.
fn check_cost(kernel: &Kernel, ty: &str, p: &Plan) {
    let shuffles = count(kernel, |op| matches!(op, Op::ShflBfly { .. } | Op::ShflIdx { .. }));
    let selects = count(kernel, |op| matches!(op, Op::Selp { .. }));
    let stores = count(kernel, |op| matches!(op, Op::StShared { .. }));
    let loads = count(kernel, |op| matches!(op, Op::LdShared { .. } | Op::LdMatrix { .. }));
    let (mut expected, mut bytes) = ([0; 4], 0);
    match &p.kind {
        PlanKind::None | PlanKind::Rename { .. } => {}
        // 64 bits are selected by one instruction of PTX.
        PlanKind::Select(s) => expected[1] = s.selects() / s.words.parts,
        PlanKind::Shuffle(s) => expected = [s.shuffles(), s.selects(), 0, 0],
        PlanKind::Shared(s) => {
            let parts = 1 << s.mem.parts();
            expected = [0, 0, parts * s.store.instructions(), parts * s.load.instructions()];
            bytes = s.bytes();
        }
    }
    // A bool is a number while it moves, which takes selects, too.
    let selects = if ty == "bool" { expected[1] } else { selects };
    assert_eq!([shuffles, selects, stores, loads], expected, "{ty}: {p:?}");
    assert_eq!(u64::from(kernel.shared_bytes), bytes);
}

#[derive(Default)]
struct Seen {
    kinds: [usize; 5],
    matrices: [usize; 2],
    warp_local: usize,
    packed: usize,
}

impl Seen {
    fn add(&mut self, p: &Plan) {
        let kind = match &p.kind {
            PlanKind::None => 0,
            PlanKind::Rename { .. } => 1,
            PlanKind::Select(s) => {
                self.packed += usize::from(s.words.pack > 0);
                2
            }
            PlanKind::Shuffle(s) => {
                self.packed += usize::from(s.words.pack > 0);
                3
            }
            PlanKind::Shared(s) => {
                if let Form::Matrix { trans, .. } = s.load.form {
                    self.matrices[usize::from(trans)] += 1;
                }
                self.warp_local += usize::from(s.warp_local);
                4
            }
        };
        self.kinds[kind] += 1;
    }
}

fn check_pair(seen: &mut Seen, (ty, bits): (&str, u32), src: Layout, dst: Layout) {
    let p = plan(&src, &dst, bits, false).unwrap_or_else(|| panic!("no plan: {src} → {dst}"));
    let kernel = check(ty, &[src, dst]);
    check_cost(&kernel, ty, &p);
    seen.add(&p);
}

#[test]
fn random_layouts() {
    let (mut random, mut seen) = (Random::new(1), Seen::default());
    for case in 0..1500 {
        let (n, warps) = (5 + random.below(6), random.below(3));
        let registers = n.saturating_sub(5 + warps) + random.below(2);
        let src = random.layout(n, registers, warps, case % 2 == 0);
        let dst = random.layout(n, registers, warps, case % 3 == 0);
        let (Some(src), Some(dst)) = (src, dst) else { continue };
        check_pair(&mut seen, TYPES[random.below(TYPES.len())], src, dst);
    }
    assert!(seen.kinds[3] > 100 && seen.kinds[4] > 300, "{:?}", seen.kinds);
}

#[test]
fn random_changes_of_a_layout() {
    let (mut random, mut seen) = (Random::new(2), Seen::default());
    for case in 0..1500 {
        let (n, warps) = (6 + random.below(5), random.below(3));
        let Some(src) = random.layout(n, n.saturating_sub(5 + warps) + 1, warps, case % 2 == 0) else { continue };
        let dst = near(&mut random, &src);
        if dst.covers(1 << n) {
            check_pair(&mut seen, TYPES[random.below(TYPES.len())], src, dst);
        }
    }
    assert!(seen.kinds.iter().all(|&n| n > 15), "{:?}", seen.kinds);
    assert!(seen.warp_local > 15 && seen.packed > 100, "{} {}", seen.warp_local, seen.packed);
}

/// Exchanges use the same bytes one after the other, block-wide ones and those within warps.
#[test]
fn chains_of_conversions() {
    let (mut random, mut exchanges) = (Random::new(3), 0);
    for case in 0..150 {
        let (n, warps) = (8 + random.below(4), random.below(3));
        let registers = n.saturating_sub(5 + warps);
        let Some(first) = random.layout(n, registers, warps, case % 2 == 0) else { continue };
        let mut layouts = vec![first];
        while layouts.len() < 5 {
            let last = &layouts[layouts.len() - 1];
            let next = if random.below(2) == 0 {
                Some(near(&mut random, last))
            } else {
                random.layout(n, registers, warps, false)
            };
            layouts.extend(next.filter(|l| l.covers(1 << n)));
        }
        let kernel = check(TYPES[random.below(TYPES.len())].0, &layouts);
        exchanges += count(&kernel, |op| matches!(op, Op::BarSync { .. } | Op::BarWarpSync));
    }
    assert!(exchanges > 150, "{exchanges}");
}

/// What the tensor cores want, from what memory wants: loads by `ldmatrix`.
#[test]
fn fragments() {
    let mut seen = Seen::default();
    let tiles: &[(&str, u32, [u32; 2])] = &[
        ("f16", 16, [64, 64]),
        ("f16", 16, [32, 128]),
        ("bf16", 16, [64, 32]),
        ("i16", 16, [32, 16]),
        ("i8", 8, [64, 128]),
        ("u8", 8, [64, 64]),
        ("f32", 32, [64, 32]),
        ("bool", 8, [64, 64]),
    ];
    for &(ty, bits, dims) in tiles {
        let shape = Shape::new(&dims).unwrap();
        let tiling = Tiling { atom: Atom::M16N8, warps_m: 2, warps_n: 2, groups: 1 };
        let (a, b) = (Layout::mma_a(shape, bits, tiling).unwrap(), Layout::mma_b(shape, bits, tiling).unwrap());
        let d = Layout::mma_d(shape, tiling).unwrap();
        // As loaded from global memory, along either dimension, up to 16 bytes at once.
        for vector in (0..=(128 / bits).ilog2()).map(|v| 1 << v) {
            let rows = Layout::blocked(shape, &[1, 0], [vector, 1], 4, &[1, 0]);
            let columns = Layout::blocked(shape, &[0, 1], [vector, 1], 4, &[0, 1]);
            for src in [&rows, &columns, &d] {
                for dst in [&a, &b, &d, &rows] {
                    check_pair(&mut seen, (ty, bits), src.clone(), dst.clone());
                }
            }
        }
    }
    assert!(seen.matrices.iter().all(|&n| n > 0), "{:?}", seen.matrices);
}

/// Larger than the scratch of one part.
#[test]
fn large_tiles_move_in_parts() {
    let (mut random, mut seen) = (Random::new(4), Seen::default());
    for _ in 0..2 {
        let layouts = (random.layout(15, 8, 2, false), random.layout(15, 8, 2, false));
        let (Some(src), Some(dst)) = layouts else { continue };
        check_pair(&mut seen, ("f32", 32), src, dst);
    }
    assert!(seen.kinds[4] > 0);
}

/// A block has no more shared memory than this.
#[test]
fn too_large_an_exchange_is_refused() {
    let n = 16;
    let unit = |i: u32| 1u32 << i;
    // No element is in registers of a thread on both sides: it cannot be done in parts.
    let src = Layout {
        reg: (0..8).map(unit).collect(),
        lane: std::array::from_fn(|i| unit(8 + i as u32)),
        warp: (13..n).map(unit).collect(),
    };
    let dst = Layout {
        reg: (8..n).map(unit).collect(),
        lane: std::array::from_fn(|i| unit(i as u32)),
        warp: (5..8).map(unit).collect(),
    };
    let text = format!(
        "layout #0 = {src}\nlayout #1 = {dst}\nkernel k() warps 8 {{\n  v0 = arange 0, 65536 : i32[65536] #0\n  v1 = convert v0 : i32[65536] #1\n}}\n"
    );
    let mut func = parse(&text).unwrap();
    run(SYNCHRONIZE, &mut func, &ENV).unwrap();
    let error = lower(&func, ENV.target, ENV.specialization).unwrap_err();
    assert_eq!(error.to_string(), "262144 bytes of shared memory");
}
