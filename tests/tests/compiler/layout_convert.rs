//! Conversion plans against their definition: executed element by element, and bank conflicts counted one by one.

use super::random_layouts::Layouts;
use triton_core::layout::access::{Access, Form};
use triton_core::layout::convert::{Plan, PlanKind, plan};
use triton_core::layout::linear::apply;
use triton_core::layout::{Layout, Mem};
use triton_tests::numbers::Random;

fn places(layout: &Layout) -> Vec<u32> {
    let threads = (0..32 << layout.warp.len()).map(|t| (t & 31, t >> 5));
    threads.flat_map(|(l, w)| (0..layout.registers()).map(move |r| layout.element(r, l, w))).collect()
}

/// The plan does what it says; returns it.
fn check(src: &Layout, dst: &Layout, bits: u32, stmatrix: bool) -> Plan {
    let p = plan(src, dst, bits, stmatrix).unwrap_or_else(|| panic!("no plan: {src} → {dst}"));
    assert_eq!(p.execute(&places(src)), Some(places(dst)), "{src} → {dst}: {p:?}");
    if let PlanKind::Shared(s) = &p.kind {
        for access in [&s.store, &s.load] {
            check_banks(access, &s.mem, src.warp.len());
        }
    }
    if let PlanKind::Shuffle(s) = &p.kind {
        let moved = (0..1 << s.rounds()).filter(|&round| !s.stays(round)).count() as u32;
        assert_eq!(s.shuffles(), moved * s.words.parts);
    }
    p
}

/// Counts the words asked for in each bank by the lanes that are served together.
fn check_banks(access: &Access, mem: &Mem, warps: usize) {
    let size = mem.bits() / 8;
    let (bytes, together) = match access.form {
        Form::Vector => (access.elements * size, (128 / (access.elements * size).max(4)).min(32)),
        Form::Matrix { .. } => (16, 8),
    };
    let mut worst = 1;
    for warp in 0..1 << warps {
        for instruction in 0..access.instructions() {
            for first in (0..32).step_by(together as usize) {
                let mut banks = vec![Vec::new(); 32];
                for lane in first..first + together {
                    let address = access.base(instruction, lane, warp) * size;
                    assert_eq!(address % bytes.max(size), 0, "misaligned: {access:?}");
                    for word in (address..address + bytes).map(|byte| byte / 4) {
                        let bank: &mut Vec<u32> = &mut banks[word as usize % 32];
                        if !bank.contains(&word) {
                            bank.push(word);
                        }
                    }
                }
                worst = worst.max(banks.iter().map(Vec::len).max().unwrap());
            }
        }
    }
    assert_eq!(worst, access.ways as usize, "{access:?}");
}

#[derive(Default)]
struct Seen {
    kinds: [usize; 5],
    conflicts: usize,
    matrices: usize,
}

impl Seen {
    fn add(&mut self, p: &Plan) {
        let kind = match &p.kind {
            PlanKind::None => 0,
            PlanKind::Rename { .. } => 1,
            PlanKind::Select(_) => 2,
            PlanKind::Shuffle(_) => 3,
            PlanKind::Shared(s) => {
                self.conflicts += usize::from(s.store.ways.max(s.load.ways) > 1);
                self.matrices += usize::from(s.store.form != Form::Vector || s.load.form != Form::Vector);
                4
            }
        };
        self.kinds[kind] += 1;
    }
}

#[test]
fn random_plans_do_what_they_say() {
    let mut random = Random::new(1);
    let (mut permutations, mut mixed) = (Seen::default(), Seen::default());
    for case in 0..3000 {
        let (n, warps) = (5 + random.below(6), random.below(3));
        let registers = n.saturating_sub(5 + warps) + random.below(2);
        let (mix_src, mix_dst) = (case % 2 == 0, case % 3 == 0);
        let src = random.layout(n, registers, warps, mix_src);
        let dst = random.layout(n, registers, warps, mix_dst);
        let (Some(src), Some(dst)) = (src, dst) else { continue };
        let p = check(&src, &dst, 8 << random.below(4), case % 5 == 0);
        if mix_src || mix_dst { mixed.add(&p) } else { permutations.add(&p) }
    }
    assert_eq!(permutations.conflicts, 0, "layouts that only permute bits need no conflicts");
    assert!(permutations.kinds[4] > 300 && mixed.kinds[4] > 600, "{:?} {:?}", permutations.kinds, mixed.kinds);
    assert!(permutations.kinds[3] > 100 && mixed.kinds[3] > 200, "{:?} {:?}", permutations.kinds, mixed.kinds);
    assert!(mixed.conflicts * 3 < mixed.kinds[4], "{} of {}", mixed.conflicts, mixed.kinds[4]);
}

/// Conversions that stay near: registers, lanes and warps of one layout, changed a little.
#[test]
fn random_changes_of_a_layout() {
    let mut random = Random::new(2);
    let mut seen = Seen::default();
    for case in 0..4000 {
        let (n, warps) = (6 + random.below(4), random.below(3));
        let Some(src) = random.layout(n, n.saturating_sub(5 + warps) + 1, warps, case % 2 == 0) else { continue };
        let mut dst = src.clone();
        for _ in 0..1 + random.below(4) {
            let registers = dst.reg.len();
            match random.below(4) {
                // A thread finds an element in another register.
                0 if registers > 1 => dst.reg.swap(0, registers - 1),
                1 if registers > 0 => dst.lane[random.below(5)] ^= src.reg[random.below(registers.min(src.reg.len()))],
                2 if registers > 0 && warps > 0 => dst.warp[0] ^= src.reg[0],
                _ => {
                    // A register bit and a lane bit are swapped.
                    let lane = random.below(5);
                    if registers > 0 {
                        let r = random.below(registers);
                        std::mem::swap(&mut dst.reg[r], &mut dst.lane[lane]);
                    } else {
                        dst.lane.swap(0, lane);
                    }
                    dst = dst.dedup();
                }
            }
        }
        if dst.covers(1 << n) {
            seen.add(&check(&src, &dst, 8 << random.below(4), true));
        }
    }
    assert!(seen.kinds.iter().all(|&n| n > 20), "{:?}", seen.kinds);
}

/// Larger than the scratch of one part.
#[test]
fn large_tiles_move_in_parts() {
    let mut random = Random::new(3);
    let mut parts = 0;
    for _ in 0..12 {
        let layouts = (random.layout(15, 8, 2, false), random.layout(15, 8, 2, false));
        let (Some(src), Some(dst)) = layouts else { continue };
        let p = check(&src, &dst, 32, true);
        if let PlanKind::Shared(s) = &p.kind {
            assert_eq!(s.bytes() << s.mem.parts(), 4 << 15);
            assert_eq!((s.store.ways, s.load.ways), (1, 1), "{src} → {dst}");
            parts += s.mem.parts();
        }
    }
    assert!(parts > 4, "{parts}");
}

/// Warps that hold the same elements store them, too: their partners must wait for them.
#[test]
fn warps_wait_alone_only_if_they_store_alone() {
    let own = Layout { reg: (0..5).map(|i| 1 << i).collect(), lane: [32, 64, 128, 256, 512], warp: vec![1024] };
    let lane =
        |l: &Layout| Layout { reg: l.lane.to_vec(), lane: l.reg.clone().try_into().unwrap(), warp: l.warp.clone() };
    let replicated = Layout { warp: vec![0], ..own.clone() };
    for (src, expected) in [(own, true), (replicated, false)] {
        let p = check(&src, &lane(&src), 32, true);
        let PlanKind::Shared(s) = p.kind else { panic!("{src}: {p:?}") };
        assert_eq!(s.warp_local, expected, "{src}");
    }
}

/// `ldmatrix` and `stmatrix` in every form, executed.
#[test]
fn matrices_move_what_they_say() {
    use triton_core::layout::{Atom, Swizzle, Tiling, access};
    use triton_core::types::Shape;
    let tiling = Tiling { atom: Atom::M16N8, warps_m: 2, warps_n: 2, groups: 1 };
    let mut forms = Vec::new();
    for (dims, bits) in
        [([64, 64], 16), ([8, 8], 16), ([32, 16], 16), ([64, 128], 8), ([64, 64], 8), ([64, 32], 32), ([16, 32], 32)]
    {
        let shape = Shape::new(&dims).unwrap();
        let a = Layout::mma_a(shape, bits, tiling).unwrap();
        let b = Layout::mma_b(shape, bits, tiling).unwrap();
        let d = Layout::mma_d(shape, tiling).unwrap();
        for layout in [a, b, d] {
            for (swizzle, major) in Swizzle::ALL.into_iter().flat_map(|s| [(s, 0), (s, 1)]) {
                let Some(mem) = Mem::swizzled(shape, bits, swizzle, major) else { continue };
                for trans in [false, true] {
                    let Some(access) = access::matrix(&layout, &mem, trans) else { continue };
                    check_matrix(&access, &layout, &mem);
                    let Form::Matrix { count, .. } = access.form else { continue };
                    forms.push((trans, count));
                }
            }
        }
    }
    for form in [(false, 1), (false, 2), (false, 4), (true, 2), (true, 4)] {
        assert!(forms.contains(&form), "{form:?} did not occur: {forms:?}");
    }
}

/// What the instruction is documented to give each thread is what the layout says it has.
fn check_matrix(access: &Access, layout: &Layout, mem: &Mem) {
    let Form::Matrix { trans, count, .. } = access.form else { return };
    let packed = access.elements / count;
    check_banks(access, mem, layout.warp.len());
    for (warp, lane) in (0..1 << layout.warp.len()).flat_map(|w| (0..32).map(move |l| (w, l))) {
        for instruction in 0..access.instructions() {
            for (matrix, part) in (0..count).flat_map(|m| (0..packed).map(move |p| (m, p))) {
                let own = packed * (lane % 4) + part;
                let (row, column) = if trans { (own, lane / 4) } else { (lane / 4, own) };
                let offset = access.base(instruction, 8 * matrix + row, warp) + column;
                let step = instruction * access.elements + matrix * packed + part;
                let register = apply(&access.order, step);
                let element = layout.element(register as usize, lane as usize, warp as usize);
                assert_eq!(mem.offset(element), offset, "{layout} in {mem}: {access:?}");
            }
        }
    }
}
