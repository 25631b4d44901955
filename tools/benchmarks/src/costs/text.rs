//! PTX texts that measure: one frame around a loop of copies of a [`Piece`].
//!
//! The frame hands a piece these registers; each of the accumulators starts as a zero from memory, which the assembler does
//! not know, and all of them are used at the end.
//!
//! | registers | what they are |
//! |---|---|
//! | `%r0` … `%r7`, `%f0` … `%f7` | accumulators |
//! | `%f8`, `%f9` | operands, zero likewise |
//! | `%thread`, `%lane`, `%memory` | the thread's indices, and the address of [`FOOTPRINT`] zeros |
//! | `%t0` … `%t31`, `%d0`, `%a0`, `%a1`, `%flip`, `%w0`, `%w1`, `%x0` … `%x3` | a piece's own: of 64 bits are `%d0`, `%w0` and `%w1`, `%x` are `f32` |

use std::fmt::Write;

/// Bytes that loads of one loop touch: L1 holds them.
pub const FOOTPRINT: u32 = 2 * HALF;

/// Bytes that one iteration touches. The next one touches the other half: loads that repeat themselves would be moved out of
/// the loop.
const HALF: u32 = 16 * 1024;

/// Name of the entry.
pub const ENTRY: &str = "costs";

/// Accumulators of each type.
const ACCUMULATORS: u32 = 8;

/// Most copies of a piece in the shorter loop: in the longer one, all addresses of loads still differ.
const COPIES: u32 = 16;

/// Instructions of the shorter loop, about: the longer one is far smaller than the caches of instructions.
const INSTRUCTIONS: usize = 256;

/// Instructions that are measured.
pub struct Piece {
    /// What is done before the loop.
    setup: String,
    /// The copy of this number in the loop.
    step: Box<dyn Fn(u32) -> String>,
    /// Bytes of shared memory, cleared before the loop.
    pub shared: u32,
}

impl Piece {
    fn new(step: impl Fn(u32) -> String + 'static) -> Piece {
        Piece { setup: String::new(), step: Box::new(step), shared: 0 }
    }

    /// This piece and then another one; at most one of them has a setup.
    pub fn then(self, other: Piece) -> Piece {
        let (first, second) = (self.step, other.step);
        Piece {
            setup: self.setup + &other.setup,
            step: Box::new(move |copy| first(copy) + &second(copy)),
            shared: self.shared.max(other.shared),
        }
    }

    /// Copies in the shorter loop; the longer one has twice as many. A power of two, so that pieces may alternate between two
    /// buffers.
    pub fn copies(&self) -> u32 {
        let instructions = (self.step)(1).matches(';').count();
        let fit = u32::try_from(INSTRUCTIONS / instructions.max(1)).unwrap_or(COPIES).clamp(2, COPIES);
        1 << fit.ilog2()
    }
}

/// Launch bounds of a text.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// Threads of a block.
    pub threads: u32,
    /// Blocks that a multiprocessor has to have room for.
    pub blocks: u32,
}

/// The kernel: parameters are the addresses of three `u64` for each block (the clock before and after the loop, and the
/// multiprocessor), of [`FOOTPRINT`] zeros and of four bytes, and the number of iterations.
pub fn kernel(piece: &Piece, copies: u32, Bounds { threads, blocks }: Bounds) -> String {
    // Of each lane its own: a shuffle of what all lanes have alike would be removed.
    let load = |ty, name, i, at| format!("    ld.global.{ty} {name}{i}, [%d0+{}];\n", 128 * at);
    let integers = (0..ACCUMULATORS).map(|i| load("b32", "%r", i, i));
    let floats = (0..ACCUMULATORS + 2).map(|i| load("f32", "%f", i, ACCUMULATORS + i));
    let loads: String = integers.chain(floats).collect();
    let fold: String = (0..2 * ACCUMULATORS)
        .map(|i| match i.checked_sub(ACCUMULATORS) {
            None => format!("    xor.b32 %t0, %t0, %r{i};\n"),
            Some(float) => format!("    mov.b32 %t1, %f{float};\n    xor.b32 %t0, %t0, %t1;\n"),
        })
        .collect();
    let mut steps = String::new();
    for copy in 0..copies {
        steps += &(piece.step)(copy);
    }
    format!(
        r#".version 7.0
.target sm_80
.address_size 64
.extern .shared .align 128 .b8 tile[];
.visible .entry {ENTRY}(.param .u64 out, .param .u64 memory, .param .u64 sink, .param .u32 reps)
.maxntid {threads}, 1, 1
.minnctapersm {blocks}
{{
    .reg .b32 %r<8>, %t<32>, %a<2>, %thread, %lane, %left, %flip;
    .reg .f32 %f<10>, %x<4>;
    .reg .b64 %d<2>, %w<2>, %out, %memory, %sink, %start, %end;
    .reg .pred %p;
    ld.param.u64 %out, [out];
    ld.param.u64 %memory, [memory];
    ld.param.u64 %sink, [sink];
    ld.param.u32 %left, [reps];
    cvta.to.global.u64 %out, %out;
    cvta.to.global.u64 %memory, %memory;
    cvta.to.global.u64 %sink, %sink;
    mov.u32 %thread, %tid.x;
    and.b32 %lane, %thread, 31;
    mad.wide.u32 %d0, %lane, 4, %memory;
{loads}    shl.b32 %t1, %thread, 2;
    mov.u32 %t0, tile;
    add.u32 %t0, %t0, %t1;
    mov.u32 %t2, 0;
clear:
    setp.ge.u32 %p, %t1, {shared};
    @%p bra cleared;
    st.shared.b32 [%t0], %t2;
    add.u32 %t0, %t0, {bytes};
    add.u32 %t1, %t1, {bytes};
    bra clear;
cleared:
{setup}    bar.sync 0;
    mov.u64 %start, %clock64;
measured:
    .pragma "nounroll";
{steps}    sub.u32 %left, %left, 1;
    setp.ne.u32 %p, %left, 0;
    @%p bra measured;
    bar.sync 0;
    mov.u64 %end, %clock64;
    mov.u32 %t0, 0;
{fold}    // Never equal; the assembler has to keep what the value is made of.
    setp.ne.u32 %p, %t0, 0x5eed;
    @%p bra stored;
    st.global.b32 [%sink], %t0;
stored:
    setp.ne.u32 %p, %thread, 0;
    @%p bra done;
    mov.u32 %t0, %ctaid.x;
    mov.u32 %t1, %smid;
    cvt.u64.u32 %w0, %t1;
    mad.wide.u32 %d0, %t0, 24, %out;
    st.global.u64 [%d0], %start;
    st.global.u64 [%d0+8], %end;
    st.global.u64 [%d0+16], %w0;
done:
    ret;
}}
"#,
        shared = piece.shared,
        bytes = 4 * threads,
        setup = piece.setup,
    )
}

/// Instructions of this form, `{i}` being the number of an accumulator, `{j}` and `{k}` the next ones.
pub fn each(form: &'static str) -> Piece {
    let at = |form: &str, i: u32| {
        let number = |next: u32| ((i + next) % ACCUMULATORS).to_string();
        form.replace("{i}", &number(0)).replace("{j}", &number(1)).replace("{k}", &number(2))
    };
    Piece::new(move |_| (0..ACCUMULATORS).map(|i| format!("    {};\n", at(form, i))).collect())
}

/// Instructions of one [`each`].
pub const EACH: u32 = ACCUMULATORS;

/// One instruction.
pub fn once(instruction: &'static str) -> Piece {
    Piece::new(move |_| format!("    {instruction};\n"))
}

/// Multiplications and additions of a thread that depend on nothing but their own accumulators.
pub fn work(count: u32) -> Piece {
    Piece::new(move |_| (0..count).map(|n| fma(n, "%f8")).collect())
}

/// Additions of a [`dependent_work`].
pub const SUMS: u32 = ACCUMULATORS - 1;

/// The same with `%r0`, which then is the sum of all: between two conversions of a tile, a warp computes with what it got, and
/// what it passes on needs all of it.
pub fn dependent_work(count: u32) -> Piece {
    let sum = |to: u32, from: [String; 2]| format!("    add.f32 %x{to}, {}, {};\n", from[0], from[1]);
    let pairs = (0..4).map(|i| sum(i, [2 * i, 2 * i + 1].map(|f| format!("%f{f}"))));
    let rest = [(0, 1), (2, 3), (0, 2)].map(|(a, b)| sum(a, [a, b].map(|x| format!("%x{x}"))));
    let sums: String = pairs.chain(rest).collect();
    Piece::new(move |_| {
        let all: String = (0..count).map(|n| fma(n, "%x0")).collect();
        format!("    mov.b32 %x0, %r0;\n{all}{sums}    mov.b32 %r0, %x0;\n")
    })
}

fn fma(n: u32, factor: &str) -> String {
    let f = n % ACCUMULATORS;
    format!("    fma.rn.f32 %f{f}, %f{f}, {factor}, %f9;\n")
}

/// A shuffle of each accumulator, with this many multiplications and additions after each.
pub fn shuffles(fmas: u32) -> Piece {
    Piece::new(move |_| {
        let mut text = String::new();
        for i in 0..ACCUMULATORS {
            let _ = writeln!(text, "    shfl.sync.bfly.b32 %r{i}, %r{i}, {}, 31, 0xffffffff;", 1 << (i % 5));
            text.extend((0..fmas).map(|n| fma(i * fmas + n, "%f8")));
        }
        text
    })
}

/// `%r0` through shared memory: a store, a barrier, and a load of what another thread stored. Two buffers alternate, so that one
/// barrier a round trip is enough.
pub fn round_trip(threads: u32, within_warp: bool) -> Piece {
    let (barrier, partner) = if within_warp {
        ("bar.warp.sync 0xffffffff", "    xor.b32 %t1, %thread, 1;\n".to_owned())
    } else {
        ("bar.sync 0", format!("    add.u32 %t1, %thread, 32;\n    and.b32 %t1, %t1, {};\n", threads - 1))
    };
    let setup = format!(
        "    mov.u32 %t0, tile;\n    mad.lo.u32 %a0, %thread, 4, %t0;\n{partner}    mad.lo.u32 %a1, %t1, 4, %t0;\n"
    );
    let step = move |copy| {
        let at = copy % 2 * 4 * threads;
        format!("    st.shared.b32 [%a0+{at}], %r0;\n    {barrier};\n    ld.shared.b32 %r0, [%a1+{at}];\n")
    };
    Piece { setup, step: Box::new(step), shared: 8 * threads }
}

/// Where the lanes of a warp access memory: groups of lanes some bytes apart, and lanes of a group some bytes apart.
#[derive(Clone, Copy)]
pub struct Lanes {
    /// Lanes of a group, a power of two.
    pub group: u32,
    /// Bytes from a lane of a group to the next.
    pub within: u32,
    /// Bytes from a group to the next.
    pub stride: u32,
    /// Bytes that a lane accesses: 4, 8 or 16.
    pub bytes: u32,
}

impl Lanes {
    /// Each lane this many bytes after the one before.
    pub fn apart(stride: u32, bytes: u32) -> Lanes {
        Lanes { group: 1, within: 0, stride, bytes }
    }

    fn address(&self, lane: u32) -> u32 {
        lane / self.group * self.stride + lane % self.group * self.within
    }

    /// Different units of this many bytes that an instruction touches.
    pub fn touched(&self, unit: u32) -> u32 {
        let mut all: Vec<u32> = self.units(unit).collect();
        all.sort_unstable();
        all.dedup();
        all.len() as u32
    }

    /// Times that shared memory has to serve an instruction: the most words in one of its 32 banks.
    pub fn wavefronts(&self) -> u32 {
        let mut words: Vec<u32> = self.units(4).collect();
        words.sort_unstable();
        words.dedup();
        let of_bank = |bank: u32| words.iter().filter(|word| **word % 32 == bank).count() as u32;
        (0..32).map(of_bank).max().unwrap_or(0)
    }

    fn units(&self, unit: u32) -> impl Iterator<Item = u32> + '_ {
        (0..32).flat_map(move |lane| (0..self.bytes / 4).map(move |word| (self.address(lane) + 4 * word) / unit))
    }

    /// Sets `%t0` to the lane's address.
    fn place(&self) -> String {
        let Lanes { group, within, stride, .. } = *self;
        format!(
            "    and.b32 %t0, %lane, {};\n    mul.lo.u32 %t0, %t0, {within};\n    shr.u32 %t1, %lane, {};\n    \
             mad.lo.u32 %t0, %t1, {stride}, %t0;\n",
            group - 1,
            group.ilog2()
        )
    }

    /// The type of the access, and its registers for a copy.
    fn operand(&self, copy: u32) -> (&'static str, String) {
        let register = |word: u32| format!("%t{}", copy % 8 * 4 + word);
        match self.bytes {
            16 => ("v4.b32", format!("{{{}, {}, {}, {}}}", register(0), register(1), register(2), register(3))),
            8 => ("v2.b32", format!("{{{}, {}}}", register(0), register(1))),
            _ => ("b32", register(0)),
        }
    }

    /// How its type is written.
    pub fn ty(&self) -> &'static str {
        self.operand(0).0
    }

    /// Where its lanes are.
    pub fn describe(&self) -> String {
        let Lanes { group, within, stride, .. } = *self;
        match (group, stride) {
            (1, 0) => "all lanes at one address".to_owned(),
            (1, _) => format!("lanes {stride} B apart"),
            _ => format!("{} groups of lanes {within} B apart, {stride} B apart", 32 / group),
        }
    }

    /// Moves a copy away from the others by what leaves the numbers of sectors, lines and wavefronts as they are; and not
    /// to where another one ends, for two of them would become one wider access.
    fn offset(&self, copy: u32) -> u32 {
        let total = copy * (self.address(31) + self.bytes).next_multiple_of(128);
        total % HALF + total / HALF * 16
    }
}

/// Loads whose values are accumulated, from global memory that L1 holds or from shared memory.
pub fn loads(lanes: Lanes, shared: bool) -> Piece {
    let setup = if shared {
        "    mov.u32 %a0, tile;\n    add.u32 %a0, %a0, %t0;\n    mov.u32 %flip, 0;\n"
    } else {
        "    cvt.u64.u32 %w1, %t0;\n    add.u64 %w1, %w1, %memory;\n    mov.u64 %w0, 0;\n"
    };
    let setup = lanes.place() + setup;
    let step = move |copy: u32| {
        let (ty, registers) = lanes.operand(copy);
        let (space, at) = if shared { ("shared", "%a1") } else { ("global", "%d0") };
        let mut text = String::new();
        if copy == 0 {
            text += &flip(shared);
        }
        let _ = writeln!(text, "    ld.{space}.{ty} {registers}, [{at}+{}];", lanes.offset(copy));
        let words = lanes.bytes / 4;
        for word in 0..words {
            let to = (copy * words + word) % ACCUMULATORS;
            let _ = writeln!(text, "    xor.b32 %r{to}, %r{to}, %t{};", copy % 8 * 4 + word);
        }
        text
    };
    Piece { setup, step: Box::new(step), shared: if shared { FOOTPRINT } else { 0 } }
}

/// The address of the other half.
fn flip(shared: bool) -> String {
    if shared {
        format!("    xor.b32 %flip, %flip, {HALF};\n    add.u32 %a1, %a0, %flip;\n")
    } else {
        format!("    xor.b64 %w0, %w0, {HALF};\n    add.u64 %d0, %w1, %w0;\n")
    }
}

/// Stores to shared memory, of each warp to its own place.
pub fn stores(lanes: Lanes, warps: u32) -> Piece {
    let region = (lanes.address(31) + lanes.bytes).next_multiple_of(128);
    let setup = format!(
        "{}    mov.u32 %a0, tile;\n    add.u32 %a0, %a0, %t0;\n    shr.u32 %t1, %thread, 5;\n    \
         mad.lo.u32 %a0, %t1, {region}, %a0;\n",
        lanes.place()
    );
    let registers = match lanes.bytes {
        16 => "{%r0, %r1, %r2, %r3}",
        8 => "{%r0, %r1}",
        _ => "%r0",
    };
    let ty = lanes.ty();
    // Volatile: otherwise the last one alone is kept.
    let step = move |_| format!("    st.volatile.shared.{ty} [%a0], {registers};\n");
    Piece { setup, step: Box::new(step), shared: region * warps }
}

/// A load whose address is that of the load before plus what it loaded, a zero.
pub fn chased(shared: bool) -> Piece {
    let (setup, step) = if shared {
        (
            "    mov.u32 %a0, tile;\n",
            "    ld.shared.b32 %t0, [%a0];\n    add.u32 %a0, %a0, %t0;\n    xor.b32 %r0, %r0, %t0;\n",
        )
    } else {
        (
            "    mov.u64 %d0, %memory;\n",
            "    ld.global.b64 %w0, [%d0];\n    add.u64 %d0, %d0, %w0;\n    cvt.u32.u64 %t0, %w0;\n    xor.b32 %r0, %r0, %t0;\n",
        )
    };
    Piece {
        setup: setup.to_owned(),
        step: Box::new(move |_| step.to_owned()),
        shared: if shared { FOOTPRINT } else { 0 },
    }
}
