//! Writes PTX text.

use super::lower::class_type;
use super::{Address, AtomicOp, Class, Cmp, Inst, Kernel, Mma, Op, Opcode, Operand, Reg, Round, Special, Ty};
use std::fmt::{self, Display, Write};

/// The kernel as a module.
pub fn print(kernel: &Kernel) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = module(kernel, &mut out);
    out
}

fn module(kernel: &Kernel, out: &mut String) -> fmt::Result {
    let (major, minor) = kernel.version;
    writeln!(out, ".version {major}.{minor}\n.target {}\n.address_size 64\n", kernel.target)?;
    if kernel.shared_bytes > 0 {
        writeln!(out, ".extern .shared .align 16 .b8 shared[];\n")?;
    }
    for (i, text) in kernel.texts.iter().enumerate() {
        let bytes: Vec<String> = text.bytes().chain([0]).map(|b| b.to_string()).collect();
        writeln!(out, ".global .align 1 .b8 text{i}[{}] = {{{}}};\n", bytes.len(), bytes.join(", "))?;
    }
    if kernel.local_bytes > 0 {
        writeln!(out, ".extern .func (.param .b32 printed) vprintf(.param .b64 format, .param .b64 list);\n")?;
    }
    let params: Vec<String> = kernel.params.iter().enumerate().map(|(i, ty)| format!(".param .{ty} p{i}")).collect();
    writeln!(out, ".visible .entry {}({})\n.reqntid {}", kernel.entry, params.join(", "), kernel.threads)?;
    if let Some(blocks) = kernel.blocks {
        writeln!(out, ".minnctapersm {blocks}")?;
    }
    out.write_str("{\n")?;
    for (class, count) in [Class::Pred, Class::B16, Class::B32, Class::B64].into_iter().zip(kernel.registers) {
        if count > 0 {
            writeln!(out, "\t.reg .{} {}<{count}>;", class_type(class), prefix(class))?;
        }
    }
    if kernel.local_bytes > 0 {
        writeln!(out, "\t.local .align 8 .b8 args[{}];", kernel.local_bytes)?;
    }
    let mut line = None;
    for inst in &kernel.body {
        if let Some(loc) = inst.loc.filter(|loc| line != Some((loc.file, loc.line))) {
            line = Some((loc.file, loc.line));
            writeln!(out, "\t.loc {} {} {}", loc.file + 1, loc.line, loc.column)?;
        }
        if matches!(inst.op, Op::Label { .. }) {
            writeln!(out, "{inst}:")?;
        } else if matches!(inst.op, Op::Printf { .. }) {
            writeln!(out, "\t{inst}")?;
        } else {
            writeln!(out, "\t{inst};")?;
        }
    }
    writeln!(out, "}}")?;
    for (i, file) in kernel.files.iter().enumerate() {
        writeln!(out, ".file {} {file:?}", i + 1)?;
    }
    Ok(())
}

fn prefix(class: Class) -> &'static str {
    match class {
        Class::Pred => "%p",
        Class::B16 => "%h",
        Class::B32 => "%r",
        Class::B64 => "%d",
    }
}

impl Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", prefix(self.class), self.index)
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Address { base, offset } = self;
        if *offset == 0 { write!(f, "[{base}]") } else { write!(f, "[{base}+{offset}]") }
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Reg(reg) => reg.fmt(f),
            Operand::Int(int) => int.fmt(f),
            Operand::Outer(outer, digits) => f.write_str(&outer.digits(usize::from(*digits))),
            Operand::Special(Special::Tid) => f.write_str("%tid.x"),
            Operand::Special(Special::Ctaid(axis)) => write!(f, "%ctaid.{}", axis_name(*axis)),
            Operand::Special(Special::Shared) => f.write_str("shared"),
            Operand::Special(Special::Local) => f.write_str("args"),
            Operand::Special(Special::Text(index)) => write!(f, "text{index}"),
            Operand::Special(Special::Nctaid(axis)) => write!(f, "%nctaid.{}", axis_name(*axis)),
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

impl Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
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
            Ty::F32 => "f32",
            Ty::F64 => "f64",
        })
    }
}

impl Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Opcode::Add => "add",
            Opcode::AddRn => "add.rn",
            Opcode::Sub => "sub",
            Opcode::SubRn => "sub.rn",
            Opcode::MulLo => "mul.lo",
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
            Opcode::CvtRnaTf32 => "cvt.rna.tf32",
            Opcode::FmaRn => "fma.rn",
            Opcode::FmaRnSat => "fma.rn.sat",
            Opcode::FmaRm => "fma.rm",
            Opcode::MadLo => "mad.lo",
            Opcode::MadWide => "mad.wide",
        })
    }
}

impl Display for AtomicOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
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

impl Display for Cmp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
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

impl Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Round::None => "",
            Round::Rn => ".rn",
            Round::Rz => ".rz",
            Round::Rzi => ".rzi",
            Round::Rmi => ".rmi",
            Round::Rpi => ".rpi",
        })
    }
}

impl Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(guard) = self.guard {
            write!(f, "@{guard} ")?;
        }
        match &self.op {
            Op::Mov { ty, dst, src } => write!(f, "mov.{ty} {dst}, {src}"),
            Op::Pack { dst, lo, hi } => write!(f, "mov.{} {dst}, {{{lo}, {hi}}}", class_type(dst.class)),
            Op::Unpack { lo, hi, src } => write!(f, "mov.{} {{{lo}, {hi}}}, {src}", class_type(src.class)),
            Op::Prmt { dst, a, b, selector } => write!(f, "prmt.b32 {dst}, {a}, {b}, {selector:#06x}"),
            Op::Arith { op, ty, dst, srcs } => write!(f, "{op}.{ty} {dst}, {}", list(srcs)),
            Op::Setp { cmp, ty, dst, a, b } => write!(f, "setp.{cmp}.{ty} {dst}, {a}, {b}"),
            Op::Selp { ty, dst, a, b, pred } => write!(f, "selp.{ty} {dst}, {a}, {b}, {pred}"),
            Op::Cvt { round, to, from, dst, src } => write!(f, "cvt{round}.{to}.{from} {dst}, {src}"),
            Op::LdParam { ty, dst, param } => write!(f, "ld.param.{ty} {dst}, [p{param}]"),
            Op::ToGlobal { dst, src } => write!(f, "cvta.to.global.u64 {dst}, {src}"),
            Op::Ld { ty, dsts, address } => {
                write!(f, "ld.global{}.{ty} {}, {address}", vector(dsts.len()), words(dsts))
            }
            Op::St { ty, srcs, address } => {
                write!(f, "st.global{}.{ty} {address}, {}", vector(srcs.len()), words(srcs))
            }
            Op::Atomic { op, ty, dst, address, srcs } => {
                // Subnormals of `f16` are kept; PTX wants that written.
                let keep = if *ty == Ty::F16 { ".noftz" } else { "" };
                let operation = format!("relaxed.gpu.global.{op}{keep}.{ty}");
                match dst {
                    Some(dst) => write!(f, "atom.{operation} {dst}, {address}, {}", list(srcs)),
                    None => write!(f, "red.{operation} {address}, {}", list(srcs)),
                }
            }
            Op::LdShared { ty, dsts, address } => {
                write!(f, "ld.shared{}.{ty} {}, {address}", vector(dsts.len()), words(dsts))
            }
            Op::StShared { ty, srcs, address } => {
                write!(f, "st.shared{}.{ty} {address}, {}", vector(srcs.len()), words(srcs))
            }
            Op::LdMatrix { trans, dsts, address } => {
                let (count, trans) = (dsts.len(), if *trans { ".trans" } else { "" });
                write!(f, "ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{}}}, {address}", list(dsts))
            }
            Op::ShflBfly { dst, src, lanes } => write!(f, "shfl.sync.bfly.b32 {dst}, {src}, {lanes}, 0x1f, 0xffffffff"),
            Op::ShflIdx { dst, src, lane } => write!(f, "shfl.sync.idx.b32 {dst}, {src}, {lane}, 0x1f, 0xffffffff"),
            Op::Mma { atom, d, a, b, c } => {
                let [m, n, k] = atom.shape();
                let types = match atom {
                    Mma::F16 => "f32.f16.f16.f32",
                    Mma::BF16 => "f32.bf16.bf16.f32",
                    Mma::S8 => "s32.s8.s8.s32",
                    Mma::F64 => "f64.f64.f64.f64",
                    Mma::Tf32 => "f32.tf32.tf32.f32",
                };
                let (d, a, b, c) = (list(d), list(a), list(b), list(c));
                write!(f, "mma.sync.aligned.m{m}n{n}k{k}.row.col.{types} {{{d}}}, {{{a}}}, {{{b}}}, {{{c}}}")
            }
            Op::Label { label } => write!(f, "$L{label}"),
            Op::Bra { label, pred, unless, uniform } => {
                if let Some(pred) = pred {
                    write!(f, "@{}{pred} ", if *unless { "!" } else { "" })?;
                }
                write!(f, "bra{} $L{label}", if *uniform { ".uni" } else { "" })
            }
            Op::BarSync => f.write_str("bar.sync 0"),
            Op::BarWarpSync => f.write_str("bar.warp.sync 0xffffffff"),
            Op::Ret => f.write_str("ret"),
            Op::FromGlobal { dst, src } => write!(f, "cvta.global.u64 {dst}, {src}"),
            Op::FromLocal { dst, src } => write!(f, "cvta.local.u64 {dst}, {src}"),
            Op::StVolatile { srcs, address } => {
                write!(f, "st.volatile.global{}.b32 [{address}], {}", vector(srcs.len()), words(srcs))
            }
            Op::MembarSys => f.write_str("membar.sys"),
            Op::Trap => f.write_str("trap"),
            Op::StLocal { src, offset } => write!(f, "st.local.b64 [args+{offset}], {src}"),
            Op::Printf { format, list } => {
                f.write_str("{ .param .b64 format; .param .b64 list; .param .b32 printed; ")?;
                write!(f, "st.param.b64 [format], {format}; st.param.b64 [list], {list}; ")?;
                f.write_str("call (printed), vprintf, (format, list); }")
            }
        }
    }
}

fn list<T: Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

fn vector(words: usize) -> String {
    if words == 1 { String::new() } else { format!(".v{words}") }
}

fn words(regs: &[Reg]) -> String {
    if regs.len() == 1 { regs[0].to_string() } else { format!("{{{}}}", list(regs)) }
}
