//! What is measured, in groups, and what the cost model says of it.

use super::text::{self, EACH, Lanes, Piece};
use triton_core::layout::cost;

/// One measurement.
pub struct Case {
    /// Of which it is one of several.
    pub group: &'static str,
    /// What is measured.
    pub what: String,
    /// The code.
    pub piece: Piece,
    /// The work beside it, alone.
    pub without: Option<Piece>,
    /// Warps of a block.
    pub warps: u32,
    /// Resident blocks of a multiprocessor.
    pub blocks: u32,
    /// What a multiprocessor does in one copy of the piece: its cycles are divided by this.
    pub count: u32,
    /// What the cost model says, where it has a number for this.
    pub model: Option<f64>,
    /// The constants that it has this from, with their values.
    pub constants: Vec<Constant>,
}

impl Case {
    /// One warp alone: the latency of a copy.
    fn alone(group: &'static str, what: &str, piece: Piece) -> Case {
        let what = what.to_owned();
        Case { group, what, piece, without: None, warps: 1, blocks: 1, count: 1, model: None, constants: Vec::new() }
    }

    /// Enough warps to hide latencies: the cycles that a multiprocessor needs for each of the `count` instructions of a copy.
    fn busy(group: &'static str, what: &str, piece: Piece, count: u32) -> Case {
        Case { warps: BUSY, count: count * BUSY, ..Case::alone(group, what, piece) }
    }

    /// Something that a block does once in a copy.
    fn of_blocks(group: &'static str, what: &str, piece: Piece, (warps, blocks): (u32, u32)) -> Case {
        Case { warps, blocks, count: blocks, ..Case::alone(group, what, piece) }
    }

    /// Beside work that is measured alone, too.
    fn beside(self, work: Piece) -> Case {
        Case { without: Some(work), ..self }
    }

    fn model(self, cycles: f64, constants: &[Constant]) -> Case {
        Case { model: Some(cycles), constants: constants.to_vec(), ..self }
    }
}

/// Name and value of a constant of the cost model.
type Constant = (&'static str, f64);

const BARRIER: Constant = ("BARRIER", cost::BARRIER);
const EXPONENTIAL: Constant = ("EXPONENTIAL", cost::EXPONENTIAL);
const ISSUE: Constant = ("ISSUE", cost::ISSUE);
const LINES: Constant = ("LINES", cost::LINES);
const ROUND_TRIP: Constant = ("ROUND_TRIP", cost::ROUND_TRIP);
const SECTORS: Constant = ("SECTORS", cost::SECTORS);
const SECTOR_REPEATED: Constant = ("SECTOR_REPEATED", cost::SECTOR_REPEATED);
const SHUFFLE: Constant = ("SHUFFLE", cost::SHUFFLE);
const WARP_ROUND_TRIP: Constant = ("WARP_ROUND_TRIP", cost::WARP_ROUND_TRIP);
const WAVEFRONT: Constant = ("WAVEFRONT", cost::WAVEFRONT);

/// Warps of a multiprocessor that is busy with one instruction.
const BUSY: u32 = 32;

/// Most warps of a multiprocessor.
const RESIDENT: u32 = 64;

/// Multiplications and additions of a thread between two barriers.
const WORK: u32 = 64;

/// All of them, in the order in which they are reported.
pub fn all() -> Vec<Case> {
    let groups = [barriers(), round_trips(), l1(), shuffles(), shared(), arithmetic()];
    groups.into_iter().flatten().collect()
}

/// Warps of a block and resident blocks.
fn residencies(warps: &'static [u32]) -> impl Iterator<Item = (u32, u32)> {
    let each = |&warps: &u32| (1..=3).map(move |blocks| (warps, blocks));
    warps.iter().flat_map(each).filter(|(warps, blocks)| warps * blocks <= RESIDENT)
}

fn barriers() -> Vec<Case> {
    let group = "Barrier of a block";
    let barrier = || text::once("bar.sync 0");
    let bare = residencies(&[4, 8, 16, 32])
        .map(|blocks| Case::of_blocks(group, "bar.sync", barrier(), blocks).model(cost::BARRIER, &[BARRIER]));
    let between = residencies(&[4, 8, 16, 32]).map(|blocks| {
        let what = format!("bar.sync between {WORK} FFMA a thread");
        Case::of_blocks(group, &what, text::work(WORK).then(barrier()), blocks)
            .beside(text::work(WORK))
            .model(cost::BARRIER + issue(WORK * blocks.0), &[BARRIER, ISSUE])
    });
    bare.chain(between).collect()
}

/// Cycles of this number of warp instructions.
fn issue(instructions: u32) -> f64 {
    f64::from(instructions) * cost::ISSUE
}

fn round_trips() -> Vec<Case> {
    let group = "Round trip through shared memory: st, barrier, ld";
    let forms = [(false, "bar.sync", ROUND_TRIP), (true, "bar.warp.sync", WARP_ROUND_TRIP)];
    let mut cases = vec![Case::alone(group, "bar.warp.sync, latency", text::round_trip(32, true))];
    for (within_warp, barrier, wait) in forms {
        let trip = |(warps, _)| text::round_trip(32 * warps, within_warp);
        let model = |(warps, _)| wait.1 + f64::from(2 * warps) * (cost::WAVEFRONT + cost::ISSUE);
        let constants = [wait, WAVEFRONT, ISSUE];
        cases.extend(
            residencies(&[4, 8, 16])
                .map(|blocks| Case::of_blocks(group, barrier, trip(blocks), blocks).model(model(blocks), &constants)),
        );
        let what = format!("{barrier}, between {WORK} FFMA a thread and their sum");
        let work = || text::dependent_work(WORK);
        cases.extend(residencies(&[4, 8, 16]).map(|blocks| {
            let cycles = model(blocks) + issue((WORK + text::SUMS) * blocks.0);
            let piece = trip(blocks).then(work());
            Case::of_blocks(group, &what, piece, blocks).beside(work()).model(cycles, &constants)
        }));
    }
    cases
}

/// Patterns that loads of global and of shared memory have in common: contiguous, all lanes at one address, strided.
fn patterns() -> [Lanes; 10] {
    [
        Lanes::apart(4, 4),
        Lanes::apart(8, 8),
        Lanes::apart(16, 16),
        Lanes::apart(0, 4),
        Lanes::apart(0, 16),
        Lanes::apart(8, 4),
        Lanes::apart(16, 4),
        Lanes::apart(32, 4),
        Lanes::apart(128, 4),
        // In shared memory eight lanes, which are served together, meet in pairs.
        Lanes::apart(32, 16),
    ]
}

fn l1() -> Vec<Case> {
    let group = "Loads of global memory that L1 holds";
    // Groups of neighbours, each in another line.
    let lines = |group: u32| Lanes { group, within: 4, stride: 128, bytes: 4 };
    let wide = [Lanes::apart(64, 4), Lanes::apart(128, 16), lines(16), lines(8), lines(4), lines(2)];
    let mut cases = vec![Case::alone(group, "ld.global.b64 and an addition, latency", text::chased(false))];
    cases.extend(patterns().into_iter().chain(wide).map(|lanes| {
        let (sectors, lines) = (lanes.touched(32), lanes.touched(128));
        let what = format!("ld.global.{}, {}: sectors {sectors}, lines {lines}", lanes.ty(), lanes.describe());
        let moved = f64::from(32 * lanes.bytes) / 128.0;
        let pipe = moved.max(f64::from(sectors) / cost::SECTORS).max(f64::from(lines) / cost::LINES).max(1.0);
        let model = pipe + f64::from(sectors) * cost::SECTOR_REPEATED;
        Case::busy(group, &what, text::loads(lanes, false), 1).model(model, &[SECTOR_REPEATED, SECTORS, LINES])
    }));
    cases
}

fn shuffles() -> Vec<Case> {
    let group = "Shuffle";
    let mut cases = vec![Case::alone(group, "shfl.sync.bfly, latency", text::once(SHUFFLED))];
    for fmas in [0, 1, 2, 4, 8] {
        let model = cost::SHUFFLE + f64::from(fmas) * cost::ISSUE;
        let what = format!("shfl.sync.bfly beside {fmas} FFMA");
        let case = Case::busy(group, &what, text::shuffles(fmas), EACH);
        let case = if fmas > 0 { case.beside(text::work(EACH * fmas)) } else { case };
        cases.push(case.model(model, &[SHUFFLE, ISSUE]));
    }
    cases
}

const SHUFFLED: &str = "shfl.sync.bfly.b32 %r0, %r0, 1, 31, 0xffffffff";

fn shared() -> Vec<Case> {
    let group = "Shared memory";
    let mut cases = vec![Case::alone(group, "ld.shared.b32 and an addition, latency", text::chased(true))];
    let name = |form: &str, lanes: Lanes| {
        format!("{form}.{}, {}: wavefronts {}", lanes.ty(), lanes.describe(), lanes.wavefronts())
    };
    let constants = [WAVEFRONT, ISSUE];
    let model = |lanes: Lanes| f64::from(lanes.wavefronts()) * cost::WAVEFRONT + cost::ISSUE;
    cases.extend(patterns().map(|lanes| {
        let what = name("ld.shared", lanes);
        Case::busy(group, &what, text::loads(lanes, true), 1).model(model(lanes), &constants)
    }));
    cases.extend([Lanes::apart(4, 4), Lanes::apart(8, 8), Lanes::apart(16, 16), Lanes::apart(8, 4)].map(|lanes| {
        let what = name("st.shared", lanes);
        Case::busy(group, &what, text::stores(lanes, BUSY), 1).model(model(lanes), &constants)
    }));
    cases
}

fn arithmetic() -> Vec<Case> {
    let group = "Arithmetic";
    let slot = [
        ("fma.rn.f32", "fma.rn.f32 %f{i}, %f{i}, %f8, %f9"),
        ("add.u32", "add.u32 %r{i}, %r{i}, %r{j}"),
        ("lop3.b32", "lop3.b32 %r{i}, %r{i}, %r{j}, %r{k}, 0xe8"),
        ("mad.lo.u32", "mad.lo.u32 %r{i}, %r{i}, %r{j}, %r{k}"),
    ];
    let exponential = [
        ("ex2.approx.ftz.f32", "ex2.approx.ftz.f32 %f{i}, %f{i}"),
        // The assembler knows that a result of `ex2` is not subnormal, of which it would need less.
        ("ex2.approx.f32 and mul.f32", "ex2.approx.f32 %x0, %f{i};\n    mul.f32 %f{i}, %x0, %f8"),
    ];
    let one = |(what, form)| Case::busy(group, what, text::each(form), EACH);
    let slots = slot.map(|form| one(form).model(cost::ISSUE, &[ISSUE]));
    let exponentials = exponential.map(|form| one(form).model(cost::EXPONENTIAL * cost::ISSUE, &[EXPONENTIAL, ISSUE]));
    slots.into_iter().chain(exponentials).collect()
}
