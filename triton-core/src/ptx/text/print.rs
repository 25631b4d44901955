//! Writes PTX text: pieces are appended to one string, without the machinery of formatting, which takes five times as long.

use crate::metadata::ProgramMap;
use crate::ptx::code::emitter::class_type;
use crate::ptx::text::locations::{Location, Locations};
use crate::ptx::{
    Address, AtomicOp, Bounds, Class, Cmp, Inst, Kernel, Mma, Op, Opcode, Operand, Reg, Round, Special, Ty,
};
use crate::span::Loc;

/// Appends its text.
trait Print {
    fn print(&self, out: &mut String);
}

/// Appends pieces one after the other.
macro_rules! put {
    ($out:expr, $($piece:expr),+) => {{ $( $piece.print($out); )+ }};
}

impl Print for str {
    fn print(&self, out: &mut String) {
        out.push_str(self);
    }
}

impl Print for char {
    fn print(&self, out: &mut String) {
        out.push(*self);
    }
}

macro_rules! print_unsigned {
    ($($int:ty)*) => { $( impl Print for $int {
        fn print(&self, out: &mut String) {
            decimal(*self as u64, out);
        }
    } )* };
}

print_unsigned!(u8 u16 u32 usize);

impl Print for i64 {
    fn print(&self, out: &mut String) {
        if *self < 0 {
            out.push('-');
        }
        decimal(self.unsigned_abs(), out);
    }
}

impl Print for i32 {
    fn print(&self, out: &mut String) {
        i64::from(*self).print(out);
    }
}

fn decimal(number: u64, out: &mut String) {
    if number > 9 {
        decimal(number / 10, out);
    }
    out.push(char::from(b'0' + (number % 10) as u8));
}

/// Items with commas between them.
struct List<'a, T>(&'a [T]);

impl<T: Print> Print for List<'_, T> {
    fn print(&self, out: &mut String) {
        for (i, item) in self.0.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            item.print(out);
        }
    }
}

/// The registers of an access: braces around several.
struct Words<'a>(&'a [Reg]);

impl Print for Words<'_> {
    fn print(&self, out: &mut String) {
        match self.0 {
            [reg] => reg.print(out),
            regs => put!(out, "{", List(regs), "}"),
        }
    }
}

/// The suffix of an access to this many words.
struct Vector(usize);

impl Print for Vector {
    fn print(&self, out: &mut String) {
        if self.0 != 1 {
            put!(out, ".v", self.0);
        }
    }
}

/// The label of an inlined function's name.
struct Label(usize);

impl Print for Label {
    fn print(&self, out: &mut String) {
        put!(out, "$F", self.0);
    }
}

impl Print for Loc {
    fn print(&self, out: &mut String) {
        put!(out, usize::from(self.file) + 1, " ", self.line, " ", self.column);
    }
}

/// The kernel as a module.
pub fn print(kernel: &Kernel) -> String {
    // A line of an instruction has some forty bytes.
    let mut text = String::with_capacity(1024 + 48 * kernel.body.len());
    let out = &mut text;
    let (major, minor) = kernel.version;
    put!(out, ".version ", major, ".", minor, "\n.target ", kernel.target, "\n.address_size 64\n\n");
    if kernel.shared_bytes > 0 {
        put!(out, ".extern .shared .align ", kernel.shared_align, " .b8 shared[];\n\n");
    }
    for (i, text) in kernel.texts.iter().enumerate() {
        let bytes: Vec<u8> = text.bytes().chain([0]).collect();
        put!(out, ".global .align 1 .b8 text", i, "[", bytes.len(), "] = {", List(&bytes), "};\n\n");
    }
    if kernel.local_bytes > 0 {
        out.push_str(".extern .func (.param .b32 printed) vprintf(.param .b64 format, .param .b64 list);\n\n");
    }
    put!(out, ".visible .entry ", kernel.entry, "(");
    for (i, ty) in kernel.params.iter().enumerate() {
        put!(out, if i == 0 { ".param ." } else { ", .param ." }, ty, " p", i);
    }
    for i in kernel.params.len()..kernel.params.len() + kernel.maps.len() {
        put!(out, if i == 0 { ".param" } else { ", .param" }, " .align 64 .b8 p", i, "[128]");
    }
    let mut next = kernel.params.len() + kernel.maps.len();
    if kernel.programs != ProgramMap::Identity {
        for i in next..next + 3 {
            put!(out, if i == 0 { ".param ." } else { ", .param ." }, Ty::U32, " p", i);
        }
        next += 3;
    }
    if kernel.report {
        let i = next;
        put!(out, if i == 0 { ".param ." } else { ", .param ." }, Ty::U64, " p", i);
    }
    put!(out, ")\n.reqntid ", kernel.threads, "\n");
    if kernel.cluster > 1 {
        put!(out, ".explicitcluster\n.reqnctapercluster ", kernel.cluster, "\n");
    }
    match kernel.bounds {
        Bounds::None => {}
        Bounds::Blocks(blocks) => put!(out, ".minnctapersm ", blocks, "\n"),
        Bounds::Registers(registers) => put!(out, ".maxnreg ", registers, "\n"),
    }
    out.push_str("{\n");
    for (class, count) in [Class::Pred, Class::B16, Class::B32, Class::B64].into_iter().zip(kernel.registers) {
        if count > 0 {
            put!(out, "\t.reg .", class_type(class), " ", prefix(class), "<", count, ">;\n");
        }
    }
    if kernel.local_bytes > 0 {
        put!(out, "\t.local .align 8 .b8 args[", kernel.local_bytes, "];\n");
    }
    let mut locations = Locations::new(&kernel.sources);
    for inst in &kernel.body {
        for Location { loc, inlined } in locations.before(inst.span) {
            put!(out, "\t.loc ", loc);
            if let Some((function, at)) = inlined {
                put!(out, ", function_name ", Label(function), ", inlined_at ", at);
            }
            put!(out, "\n");
        }
        if matches!(inst.op, Op::Label { .. }) {
            put!(out, inst, ":\n");
        } else if matches!(inst.op, Op::Printf { .. }) {
            put!(out, "\t", inst, "\n");
        } else {
            put!(out, "\t", inst, ";\n");
        }
    }
    out.push_str("}\n");
    for (i, file) in kernel.sources.files.iter().enumerate() {
        put!(out, ".file ", i + 1, " ", format!("{file:?}"), "\n");
    }
    if !locations.functions().is_empty() {
        out.push_str(".section .debug_str {");
        for (i, name) in locations.functions().iter().enumerate() {
            let bytes: Vec<u8> = name.bytes().chain([0]).collect();
            put!(out, " ", Label(i), ": .b8 ", List(&bytes));
        }
        out.push_str(" }\n");
    }
    text
}

fn prefix(class: Class) -> &'static str {
    match class {
        Class::Pred => "%p",
        Class::B16 => "%h",
        Class::B32 => "%r",
        Class::B64 => "%d",
    }
}

impl Print for Reg {
    fn print(&self, out: &mut String) {
        put!(out, prefix(self.class), self.index)
    }
}

impl Print for Address {
    fn print(&self, out: &mut String) {
        let Address { base, offset } = self;
        if *offset == 0 { put!(out, "[", base, "]") } else { put!(out, "[", base, "+", offset, "]") }
    }
}

impl Print for Operand {
    fn print(&self, out: &mut String) {
        match self {
            Operand::Reg(reg) => reg.print(out),
            Operand::Int(int) => int.print(out),
            Operand::Outer(outer, digits) => out.push_str(&outer.digits(usize::from(*digits))),
            Operand::Special(Special::Tid) => out.push_str("%tid.x"),
            Operand::Special(Special::Ctaid(axis)) => put!(out, "%ctaid.", axis_name(*axis)),
            Operand::Special(Special::ClusterId(axis)) => put!(out, "%clusterid.", axis_name(*axis)),
            Operand::Special(Special::NclusterId(axis)) => put!(out, "%nclusterid.", axis_name(*axis)),
            Operand::Special(Special::ClusterRank) => out.push_str("%cluster_ctarank"),
            Operand::Special(Special::Shared) => out.push_str("shared"),
            Operand::Special(Special::Param(index)) => put!(out, "p", index),
            Operand::Special(Special::Local) => out.push_str("args"),
            Operand::Special(Special::Text(index)) => put!(out, "text", index),
            Operand::Special(Special::Nctaid(axis)) => put!(out, "%nctaid.", axis_name(*axis)),
        }
    }
}

fn axis_name(axis: u8) -> char {
    match axis {
        0 => 'x',
        1 => 'y',
        _ => 'z',
    }
}

impl Print for Ty {
    fn print(&self, out: &mut String) {
        out.push_str(match self {
            Ty::Pred => "pred",
            Ty::B8 => "b8",
            Ty::U8 => "u8",
            Ty::S8 => "s8",
            Ty::B16 => "b16",
            Ty::U16 => "u16",
            Ty::S16 => "s16",
            Ty::B32 => "b32",
            Ty::U32 => "u32",
            Ty::S32 => "s32",
            Ty::B64 => "b64",
            Ty::U64 => "u64",
            Ty::S64 => "s64",
            Ty::F16 => "f16",
            Ty::BF16 => "bf16",
            Ty::F16x2 => "f16x2",
            Ty::BF16x2 => "bf16x2",
            Ty::F32 => "f32",
            Ty::F64 => "f64",
        })
    }
}

impl Print for Opcode {
    fn print(&self, out: &mut String) {
        out.push_str(match self {
            Opcode::Add => "add",
            Opcode::AddRn => "add.rn",
            Opcode::Sub => "sub",
            Opcode::SubRn => "sub.rn",
            Opcode::MulLo => "mul.lo",
            Opcode::MulHi => "mul.hi",
            Opcode::MulRn => "mul.rn",
            Opcode::Div => "div",
            Opcode::DivRn => "div.rn",
            Opcode::Rem => "rem",
            Opcode::Min => "min",
            Opcode::Max => "max",
            Opcode::And => "and",
            Opcode::Or => "or",
            Opcode::Xor => "xor",
            Opcode::Not => "not",
            Opcode::Popc => "popc",
            Opcode::Shl => "shl",
            Opcode::Shr => "shr",
            Opcode::ShfL => "shf.l.wrap",
            Opcode::Neg => "neg",
            Opcode::Abs => "abs",
            Opcode::SqrtRn => "sqrt.rn",
            Opcode::RcpRn => "rcp.rn",
            Opcode::Rsqrt => "rsqrt.approx",
            Opcode::Ex2 => "ex2.approx",
            Opcode::Ex2Ftz => "ex2.approx.ftz",
            Opcode::TanhApprox => "tanh.approx",
            Opcode::CvtRnTf32 => "cvt.rn.tf32",
            Opcode::FmaRn => "fma.rn",
            Opcode::FmaRnSat => "fma.rn.sat",
            Opcode::FmaRm => "fma.rm",
            Opcode::MadLo => "mad.lo",
            Opcode::MadWide => "mad.wide",
        })
    }
}

impl Print for AtomicOp {
    fn print(&self, out: &mut String) {
        out.push_str(match self {
            AtomicOp::Add => "add",
            AtomicOp::Min => "min",
            AtomicOp::Max => "max",
            AtomicOp::And => "and",
            AtomicOp::Or => "or",
            AtomicOp::Xor => "xor",
            AtomicOp::Exch => "exch",
            AtomicOp::Cas => "cas",
        })
    }
}

impl Print for Cmp {
    fn print(&self, out: &mut String) {
        out.push_str(match self {
            Cmp::Eq => "eq",
            Cmp::Ne => "ne",
            Cmp::Lt => "lt",
            Cmp::Le => "le",
            Cmp::Gt => "gt",
            Cmp::Ge => "ge",
            Cmp::Neu => "neu",
            Cmp::Nan => "nan",
        })
    }
}

impl Print for Round {
    fn print(&self, out: &mut String) {
        out.push_str(match self {
            Round::None => "",
            Round::Rn => ".rn",
            Round::Rz => ".rz",
            Round::Rzi => ".rzi",
            Round::Rmi => ".rmi",
            Round::Rpi => ".rpi",
        })
    }
}

impl Print for Inst {
    fn print(&self, out: &mut String) {
        if let Some(guard) = self.guard {
            put!(out, "@", guard, " ");
        }
        match &self.op {
            Op::Mov { ty, dst, src } => put!(out, "mov.", ty, " ", dst, ", ", src),
            Op::Pack { dst, lo, hi } => put!(out, "mov.", class_type(dst.class), " ", dst, ", {", lo, ", ", hi, "}"),
            Op::Unpack { lo, hi, src } => put!(out, "mov.", class_type(src.class), " {", lo, ", ", hi, "}, ", src),
            Op::Prmt { dst, a, b, selector } => {
                put!(out, "prmt.b32 ", dst, ", ", a, ", ", b, ", ", format!("{selector:#06x}"))
            }
            Op::Arith { op, ty, dst, srcs } => put!(out, op, ".", ty, " ", dst, ", ", List(srcs.as_slice())),
            Op::Setp { cmp, ty, dst, a, b } => put!(out, "setp.", cmp, ".", ty, " ", dst, ", ", a, ", ", b),
            Op::Selp { ty, dst, a, b, pred } => put!(out, "selp.", ty, " ", dst, ", ", a, ", ", b, ", ", pred),
            Op::Cvt { round, to, from, dst, src } => put!(out, "cvt", round, ".", to, ".", from, " ", dst, ", ", src),
            Op::LdParam { ty, dst, param } => put!(out, "ld.param.", ty, " ", dst, ", [p", param, "]"),
            Op::ToGlobal { dst, src } => put!(out, "cvta.to.global.u64 ", dst, ", ", src),
            Op::Ld { ty, dsts, address } => {
                put!(out, "ld.global", Vector(dsts.len()), ".", ty, " ", Words(dsts), ", ", address)
            }
            Op::St { ty, srcs, address } => {
                put!(out, "st.global", Vector(srcs.len()), ".", ty, " ", address, ", ", Words(srcs))
            }
            Op::LdRelaxed { ty, dst, address } => put!(out, "ld.relaxed.gpu.global.", ty, " ", dst, ", ", address),
            Op::Atomic { op, order, ty, dst, address, srcs } => {
                // Subnormals of 16 bits are kept; PTX wants that written.
                let keep = if matches!(ty, Ty::F16 | Ty::BF16 | Ty::F16x2 | Ty::BF16x2) { ".noftz" } else { "" };
                put!(out, if dst.is_some() { "atom." } else { "red." }, order.name(), ".gpu.global.", op, keep);
                match (op, dst) {
                    (AtomicOp::Cas, Some(dst)) => put!(out, ".", ty, " ", dst, ", ", address, ", ", List(srcs)),
                    (_, Some(dst)) => put!(out, ".", ty, " ", dst, ", ", address, ", ", Words(srcs)),
                    (_, None) => put!(out, Vector(srcs.len()), ".", ty, " ", address, ", ", Words(srcs)),
                }
            }
            Op::LdShared { ty, dsts, address } => {
                put!(out, "ld.shared", Vector(dsts.len()), ".", ty, " ", Words(dsts), ", ", address)
            }
            Op::StShared { ty, srcs, address } => {
                put!(out, "st.shared", Vector(srcs.len()), ".", ty, " ", address, ", ", Words(srcs))
            }
            Op::LdMatrix { trans, dsts, address } => {
                let (count, trans) = (dsts.len(), if *trans { ".trans" } else { "" });
                put!(out, "ldmatrix.sync.aligned.m8n8.x", count, trans, ".shared.b16 {", List(dsts), "}, ", address)
            }
            Op::ShflBfly { dst, src, lanes } => {
                put!(out, "shfl.sync.bfly.b32 ", dst, ", ", src, ", ", lanes, ", 0x1f, 0xffffffff")
            }
            Op::ShflIdx { dst, src, lane } => {
                put!(out, "shfl.sync.idx.b32 ", dst, ", ", src, ", ", lane, ", 0x1f, 0xffffffff")
            }
            Op::Mma { atom, d, a, b, c } => {
                let [m, n, k] = atom.shape();
                put!(
                    out,
                    "mma.sync.aligned.m",
                    m,
                    "n",
                    n,
                    "k",
                    k,
                    ".row.col.",
                    atom.sum(),
                    ".",
                    atom.operand(),
                    ".",
                    atom.operand(),
                    ".",
                    atom.sum(),
                    " {",
                    List(d),
                    "}, {",
                    List(a),
                    "}, {",
                    List(b),
                    "}, {",
                    List(c),
                    "}"
                )
            }
            Op::Wgmma { kind, d, a, b, transposed } => wgmma(out, *kind, [d, a], *b, 1, *transposed),
            Op::WgmmaFirst { kind, d, a, b, transposed } => wgmma(out, *kind, [d, a], *b, 0, *transposed),
            Op::WgmmaFence => out.push_str("wgmma.fence.sync.aligned"),
            Op::WgmmaCommit => out.push_str("wgmma.commit_group.sync.aligned"),
            Op::WgmmaWait { groups } => put!(out, "wgmma.wait_group.sync.aligned ", groups),
            Op::MbarrierInit { address, count } => put!(out, "mbarrier.init.shared::cta.b64 ", address, ", ", count),
            Op::FenceMbarrierInit => out.push_str("fence.mbarrier_init.release.cluster"),
            Op::MbarrierExpectTx { address, bytes } => {
                put!(out, "mbarrier.arrive.expect_tx.shared::cta.b64 _, ", address, ", ", bytes)
            }
            Op::MbarrierArrive { address } => put!(out, "mbarrier.arrive.shared::cta.b64 _, ", address),
            Op::MbarrierTryWait { pred, address, parity, of_cluster } => {
                let order = if *of_cluster { ".relaxed.cluster" } else { "" };
                put!(out, "mbarrier.try_wait.parity", order, ".shared::cta.b64 ", pred, ", ", address, ", ", parity)
            }
            Op::Mapa { dst, src, rank } => put!(out, "mapa.shared::cluster.u32 ", dst, ", ", src, ", ", rank),
            Op::StAsync { ty, srcs, address, barrier } => {
                let vector = Vector(srcs.len());
                out.push_str("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes");
                put!(out, vector, ".", ty, " ", address, ", ", Words(srcs), ", ", barrier)
            }
            Op::FenceMessages => out.push_str("fence.acquire.sync_restrict::shared::cluster.cluster"),
            Op::FenceRelease => out.push_str("fence.release.sync_restrict::shared::cta.cluster"),
            Op::MbarrierArriveRelaxed { address } => {
                put!(out, "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, ", address)
            }
            Op::ClusterArrive => out.push_str("barrier.cluster.arrive.relaxed.aligned"),
            Op::ClusterWait => out.push_str("barrier.cluster.wait.aligned"),
            Op::BulkLoad { dst, map, coordinates, barrier, multicast } => {
                put!(
                    out,
                    "cp.async.bulk.tensor.",
                    coordinates.len(),
                    "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
                    if multicast.is_some() { ".multicast::cluster " } else { " " }
                );
                put!(out, dst, ", [", map, ", {", List(coordinates), "}], ", barrier);
                if let Some(blocks) = multicast {
                    put!(out, ", ", (1u32 << blocks) - 1)
                }
            }
            Op::BulkStore { src, map, coordinates } => {
                let rank = coordinates.len();
                put!(out, "cp.async.bulk.tensor.", rank, "d.global.shared::cta.tile.bulk_group ");
                put!(out, "[", map, ", {", List(coordinates), "}], ", src);
            }
            Op::BulkCommit => out.push_str("cp.async.bulk.commit_group"),
            Op::BulkWaitRead { groups } => put!(out, "cp.async.bulk.wait_group.read ", groups),
            Op::Elect { pred } => put!(out, "elect.sync _|", pred, ", 0xffffffff"),
            Op::FromParam { dst, src } => put!(out, "cvta.param.u64 ", dst, ", ", src),
            Op::FenceAcqRel => out.push_str("fence.acq_rel.gpu"),
            Op::FenceProxyAsync => out.push_str("fence.proxy.async.shared::cta"),
            Op::StMatrix { trans, srcs, address } => {
                let (count, trans) = (srcs.len(), if *trans { ".trans" } else { "" });
                put!(out, "stmatrix.sync.aligned.m8n8.x", count, trans, ".shared.b16 ", address, ", {", List(srcs), "}")
            }
            Op::Label { label } => put!(out, "$L", label),
            Op::Bra { label, pred, unless, uniform } => {
                if let Some(pred) = pred {
                    put!(out, "@", if *unless { "!" } else { "" }, pred, " ");
                }
                put!(out, "bra", if *uniform { ".uni" } else { "" }, " $L", label)
            }
            Op::CpAsync { bytes, dst, src, in_bounds } => {
                // Through L2 alone, which only whole vectors can be.
                let cache = if *bytes == 16 { "cg" } else { "ca" };
                put!(out, "cp.async.", cache, ".shared.global ", dst, ", ", src, ", ", bytes, ", ", in_bounds)
            }
            Op::CpAsyncCommit => out.push_str("cp.async.commit_group"),
            Op::CpAsyncWait { groups } => put!(out, "cp.async.wait_group ", groups),
            Op::BarSync { threads: None } => out.push_str("bar.sync 0"),
            Op::BarSync { threads: Some(threads) } => put!(out, "bar.sync 1, ", threads),
            Op::BarOf { number, threads, arrives } => {
                put!(out, "bar.", if *arrives { "arrive" } else { "sync" }, " ", number, ", ", threads)
            }
            Op::SetMaxRegisters { registers, more } => {
                put!(out, "setmaxnreg.", if *more { "inc" } else { "dec" }, ".sync.aligned.u32 ", registers)
            }
            Op::BarWarpSync => out.push_str("bar.warp.sync 0xffffffff"),
            Op::Ret => out.push_str("ret"),
            Op::FromGlobal { dst, src } => put!(out, "cvta.global.u64 ", dst, ", ", src),
            Op::FromLocal { dst, src } => put!(out, "cvta.local.u64 ", dst, ", ", src),
            Op::StVolatile { srcs, address } => {
                put!(out, "st.volatile.global", Vector(srcs.len()), ".b32 [", address, "], ", Words(srcs))
            }
            Op::MembarSys => out.push_str("membar.sys"),
            Op::Nanosleep => out.push_str("nanosleep.u32 1"),
            Op::Trap => out.push_str("trap"),
            Op::StLocal { src, offset } => put!(out, "st.local.b64 [args+", offset, "], ", src),
            Op::Printf { format, list } => {
                out.push_str("{ .param .b64 format; .param .b64 list; .param .b32 printed; ");
                put!(out, "st.param.b64 [format], ", format, "; st.param.b64 [list], ", list, "; ");
                out.push_str("call (printed), vprintf, (format, list); }")
            }
        }
    }
}

/// `wgmma.mma_async`, which multiplies `d` by `scale`, 1 or 0, before it adds. Scales of integer operands are not written; only 16-bit operands
/// in memory may be transposed.
fn wgmma(out: &mut String, kind: Mma, [d, a]: [&[Reg]; 2], b: Reg, scale: u32, transposed: [bool; 2]) {
    let [_, _, k] = kind.shape();
    let n = 2 * d.len();
    put!(
        out,
        "wgmma.mma_async.sync.aligned.m64n",
        n,
        "k",
        k,
        ".",
        kind.sum(),
        ".",
        kind.operand(),
        ".",
        kind.operand()
    );
    put!(out, " {", List(d), "}, ");
    match a {
        [descriptor] => descriptor.print(out),
        fragments => put!(out, "{", List(fragments), "}"),
    }
    put!(out, ", ", b, ", ", scale);
    if kind != Mma::S8 {
        out.push_str(", 1, 1");
    }
    if let Mma::F16 | Mma::BF16 = kind {
        let of_memory = if a.len() == 1 { &transposed[..] } else { &transposed[1..] };
        of_memory.iter().for_each(|&transposed| put!(out, ", ", usize::from(transposed)));
    }
}
