//! Evaluates straight-line PTX: all threads of one block in lock step, with a check that barriers order what they share.
//!
//! A guarded store to global memory happens in every thread: a guard chooses among threads that hold the same element, so
//! each of them has to have the right one. One to shared memory happens where its guard holds.

#![allow(clippy::wildcard_enum_match_arm, reason = "what conversions do not emit is refused")]

use triton_core::ops::Outer;
use triton_core::ptx::{Address, Class, Cmp, Inst, Kernel, Op, Opcode, Operand, Reg, Special, Ty};

/// Where shared memory begins.
const SHARED: u32 = 0x1230;

/// A byte of shared memory.
#[derive(Clone, Default)]
struct Byte {
    value: u8,
    /// Who stored it last, and who has loaded it since.
    writer: Option<Access>,
    readers: Vec<Access>,
}

/// A thread, and the number of barriers of its block and of its warp before.
#[derive(Clone, Copy)]
struct Access {
    thread: usize,
    block: usize,
    warp: usize,
}

impl Access {
    fn is_before(self, later: Access) -> bool {
        let same_warp = self.thread / 32 == later.thread / 32 && self.warp < later.warp;
        self.thread == later.thread || self.block < later.block || same_warp
    }
}

/// One block, while it runs.
pub struct Machine<'a> {
    threads: usize,
    params: &'a [u64],
    /// By class and number, and then by thread.
    regs: [Vec<Option<u64>>; 4],
    shared: Vec<Byte>,
    barriers: (usize, usize),
    load: &'a dyn Fn(u64, usize) -> u64,
    store: &'a mut dyn FnMut(u64, u64, usize),
}

fn bytes(ty: Ty) -> usize {
    match ty {
        Ty::Pred | Ty::B8 | Ty::U8 | Ty::S8 => 1,
        Ty::B16 | Ty::U16 | Ty::S16 | Ty::F16 | Ty::BF16 => 2,
        Ty::B32 | Ty::U32 | Ty::S32 | Ty::F32 => 4,
        Ty::B64 | Ty::U64 | Ty::S64 | Ty::F64 => 8,
    }
}

fn truncate(x: u64, bytes: usize) -> u64 {
    x & u64::MAX >> (64 - 8 * bytes)
}

/// A number of a type, as 64 bits of it: extended by its sign if it has one.
fn extend(ty: Ty, x: u64) -> u64 {
    let spare = 64 - 8 * bytes(ty);
    match ty {
        Ty::S8 | Ty::S16 | Ty::S32 | Ty::S64 => ((x << spare) as i64 >> spare) as u64,
        _ => truncate(x, bytes(ty)),
    }
}

fn width(class: Class) -> usize {
    match class {
        Class::Pred => 1,
        Class::B16 => 2,
        Class::B32 => 4,
        Class::B64 => 8,
    }
}

/// Runs one block. `load(address, bytes)` and `store(address, value, bytes)` are global memory.
pub fn run(
    kernel: &Kernel,
    params: &[u64],
    load: &dyn Fn(u64, usize) -> u64,
    store: &mut dyn FnMut(u64, u64, usize),
) -> Result<(), String> {
    let threads = kernel.threads as usize;
    let shared = vec![Byte::default(); kernel.shared_bytes as usize];
    let regs = kernel.registers.map(|count| vec![None; count as usize * threads]);
    let mut machine = Machine { threads, params, regs, shared, barriers: (0, 0), load, store };
    for inst in &kernel.body {
        machine.step(inst).map_err(|e| format!("{inst}: {e}"))?;
    }
    Ok(())
}

impl Machine<'_> {
    fn reg(&self, thread: usize, reg: Reg) -> Result<u64, String> {
        let value = self.regs[reg.class as usize][reg.index as usize * self.threads + thread];
        value.ok_or_else(|| format!("{reg} is not set"))
    }

    fn set(&mut self, thread: usize, reg: Reg, value: u64) {
        self.regs[reg.class as usize][reg.index as usize * self.threads + thread] =
            Some(truncate(value, width(reg.class)));
    }

    fn operand(&self, thread: usize, operand: Operand) -> Result<u64, String> {
        match operand {
            Operand::Reg(reg) => self.reg(thread, reg),
            Operand::Int(int) => Ok(int as u64),
            Operand::Special(Special::Tid) => Ok(thread as u64),
            Operand::Special(Special::Shared) => Ok(SHARED.into()),
            Operand::Special(_) => Ok(0),
            Operand::Outer(Outer::Known(bits), _) => Ok(bits),
            Operand::Outer(Outer::Open(index), _) => Err(format!("the constant {index} is not known")),
        }
    }

    /// Runs an instruction that every thread computes for itself.
    fn each(&mut self, dst: Reg, value: impl Fn(&Self, usize) -> Result<u64, String>) -> Result<(), String> {
        for thread in 0..self.threads {
            let value = value(self, thread)?;
            self.set(thread, dst, value);
        }
        Ok(())
    }

    fn access(&self, thread: usize) -> Access {
        Access { thread, block: self.barriers.0, warp: self.barriers.1 }
    }

    /// Where an access of `len` bytes begins.
    fn at(&self, thread: usize, address: Address, len: usize) -> Result<usize, String> {
        let address = self.reg(thread, address.base)? as u32 as i64 + i64::from(address.offset);
        if address % len as i64 != 0 {
            return Err(format!("thread {thread}: {address:#x} is not a multiple of {len}"));
        }
        let at = address - i64::from(SHARED);
        let inside = at >= 0 && at as usize + len <= self.shared.len();
        if inside { Ok(at as usize) } else { Err(format!("thread {thread}: {at} + {len} is outside")) }
    }

    fn read(&mut self, thread: usize, at: usize, len: usize) -> Result<u64, String> {
        let reader = self.access(thread);
        let mut value = 0;
        for i in (at..at + len).rev() {
            let byte = &mut self.shared[i];
            match byte.writer {
                None => return Err(format!("thread {thread} reads byte {i}, which was never stored")),
                Some(writer) if !writer.is_before(reader) => {
                    return Err(format!("thread {thread} reads byte {i} without waiting for thread {}", writer.thread));
                }
                Some(_) => byte.readers.push(reader),
            }
            value = value << 8 | u64::from(byte.value);
        }
        Ok(value)
    }

    fn write(&mut self, thread: usize, at: usize, len: usize, value: u64) -> Result<(), String> {
        let own = self.access(thread);
        for (i, byte) in self.shared[at..at + len].iter_mut().enumerate() {
            let new = (value >> (8 * i)) as u8;
            if let Some(reader) = byte.readers.iter().find(|reader| !reader.is_before(own)) {
                return Err(format!("thread {thread} stores what thread {} may still read", reader.thread));
            }
            if let Some(writer) = byte.writer.filter(|writer| !writer.is_before(own)) {
                return Err(format!("thread {thread} stores where thread {} does", writer.thread));
            }
            *byte = Byte { value: new, writer: Some(own), readers: Vec::new() };
        }
        Ok(())
    }

    fn step(&mut self, inst: &Inst) -> Result<(), String> {
        if inst.guard.is_some() && !matches!(inst.op, Op::St { .. } | Op::StShared { .. }) {
            return Err("a guard".into());
        }
        match &inst.op {
            Op::Mov { dst, src, .. } => self.each(*dst, |m, t| m.operand(t, *src)),
            Op::Pack { dst, lo, hi } => {
                let half = 8 * width(lo.class);
                assert_eq!((width(lo.class), width(hi.class)), (width(dst.class) / 2, width(dst.class) / 2));
                self.each(*dst, |m, t| Ok(m.reg(t, *lo)? | m.reg(t, *hi)? << half))
            }
            Op::Unpack { lo, hi, src } => {
                let half = 8 * width(lo.class);
                assert_eq!((width(lo.class), width(hi.class)), (width(src.class) / 2, width(src.class) / 2));
                self.each(*lo, |m, t| m.reg(t, *src))?;
                self.each(*hi, |m, t| Ok(m.reg(t, *src)? >> half))
            }
            Op::Prmt { dst, a, b, selector } => self.each(*dst, |m, t| {
                let source = m.reg(t, *a)? | m.operand(t, *b)? << 32;
                let byte = |i: u32| {
                    let digit = selector >> (4 * i) & 15;
                    let byte = (source >> (8 * (digit & 7))) as u8;
                    u64::from(if digit & 8 == 0 { byte } else { (byte as i8 >> 7) as u8 })
                };
                Ok((0..4).fold(0, |all, i| all | byte(i) << (8 * i)))
            }),
            Op::Arith { op, ty, dst, srcs } => self.each(*dst, |m, t| {
                let srcs: Vec<u64> = srcs.iter().map(|&s| m.operand(t, s)).collect::<Result<_, _>>()?;
                arith(*op, *ty, &srcs)
            }),
            Op::Setp { cmp, ty, dst, a, b } => self.each(*dst, |m, t| {
                let (a, b) = (extend(*ty, m.operand(t, *a)?), extend(*ty, m.operand(t, *b)?));
                match cmp {
                    Cmp::Eq => Ok(u64::from(a == b)),
                    Cmp::Ne => Ok(u64::from(a != b)),
                    _ => Err("not evaluated".into()),
                }
            }),
            Op::Selp { dst, a, b, pred, .. } => {
                self.each(*dst, |m, t| m.operand(t, if m.reg(t, *pred)? != 0 { *a } else { *b }))
            }
            Op::Cvt { to, from, dst, src, .. } => self.each(*dst, |m, t| {
                let of_integers = |ty: Ty| !matches!(ty, Ty::F16 | Ty::BF16 | Ty::F32 | Ty::F64);
                if of_integers(*to) && of_integers(*from) {
                    Ok(extend(*to, extend(*from, m.reg(t, *src)?)))
                } else {
                    Err("not evaluated".into())
                }
            }),
            Op::LdParam { ty, dst, param } => self.each(*dst, |m, _| Ok(truncate(m.params[*param], bytes(*ty)))),
            Op::ToGlobal { dst, src } => self.each(*dst, |m, t| m.reg(t, *src)),
            Op::Ld { ty, dsts, address } => {
                for (i, &dst) in dsts.iter().enumerate() {
                    let offset = i64::from(address.offset) + (i * bytes(*ty)) as i64;
                    self.each(dst, |m, t| {
                        let at = m.reg(t, address.base)?.wrapping_add(offset as u64);
                        Ok(extend(*ty, (m.load)(at, bytes(*ty))))
                    })?;
                }
                Ok(())
            }
            Op::St { ty, srcs, address } => {
                for thread in 0..self.threads {
                    for (i, &src) in srcs.iter().enumerate() {
                        let offset = i64::from(address.offset) + (i * bytes(*ty)) as i64;
                        let at = self.reg(thread, address.base)?.wrapping_add(offset as u64);
                        let value = truncate(self.reg(thread, src)?, bytes(*ty));
                        (self.store)(at, value, bytes(*ty));
                    }
                }
                Ok(())
            }
            Op::LdShared { ty, dsts, address } => {
                for thread in 0..self.threads {
                    let at = self.at(thread, *address, dsts.len() * bytes(*ty))?;
                    for (i, &dst) in dsts.iter().enumerate() {
                        let value = self.read(thread, at + i * bytes(*ty), bytes(*ty))?;
                        self.set(thread, dst, extend(*ty, value));
                    }
                }
                Ok(())
            }
            Op::StShared { ty, srcs, address } => {
                for thread in 0..self.threads {
                    let at = self.at(thread, *address, srcs.len() * bytes(*ty))?;
                    if inst.guard.map(|g| self.reg(thread, g)).transpose()? == Some(0) {
                        continue;
                    }
                    for (i, &src) in srcs.iter().enumerate() {
                        let value = self.reg(thread, src)?;
                        self.write(thread, at + i * bytes(*ty), bytes(*ty), value)?;
                    }
                }
                Ok(())
            }
            Op::LdMatrix { trans, dsts, address } => {
                for thread in 0..self.threads {
                    let (warp, lane) = (thread & !31, thread & 31);
                    for (matrix, &dst) in dsts.iter().enumerate() {
                        // Two pieces of 16 bits: row and column.
                        let piece = |half: usize| {
                            let own = 2 * (lane % 4) + half;
                            if *trans { (own, lane / 4) } else { (lane / 4, own) }
                        };
                        let mut word = 0;
                        for half in 0..2 {
                            let (row, column) = piece(half);
                            let at = self.at(warp + 8 * matrix + row, *address, 16)?;
                            word |= self.read(thread, at + 2 * column, 2)? << (16 * half);
                        }
                        self.set(thread, dst, word);
                    }
                }
                Ok(())
            }
            Op::ShflBfly { dst, src, lanes } => {
                self.shuffle(*dst, *src, |_, t| Ok((t as u64 & 31) ^ u64::from(*lanes)))
            }
            Op::ShflIdx { dst, src, lane } => self.shuffle(*dst, *src, |m, t| m.operand(t, *lane)),
            Op::BarSync => {
                self.barriers.0 += 1;
                Ok(())
            }
            Op::BarWarpSync => {
                self.barriers.1 += 1;
                Ok(())
            }
            Op::Ret => Ok(()),
            _ => Err("not evaluated".into()),
        }
    }

    fn shuffle(
        &mut self,
        dst: Reg,
        src: Reg,
        lane: impl Fn(&Self, usize) -> Result<u64, String>,
    ) -> Result<(), String> {
        assert_eq!((dst.class, src.class), (Class::B32, Class::B32));
        let read = |m: &Self, t: usize| m.reg(t & !31 | lane(m, t)? as usize & 31, src);
        let words: Vec<u64> = (0..self.threads).map(|t| read(self, t)).collect::<Result<_, String>>()?;
        words.into_iter().enumerate().for_each(|(thread, word)| self.set(thread, dst, word));
        Ok(())
    }
}

fn arith(op: Opcode, ty: Ty, srcs: &[u64]) -> Result<u64, String> {
    let x = |i: usize| extend(ty, srcs[i]);
    Ok(match op {
        Opcode::Add => x(0).wrapping_add(x(1)),
        Opcode::And => x(0) & x(1),
        Opcode::Or => x(0) | x(1),
        Opcode::Xor => x(0) ^ x(1),
        Opcode::Shl => x(0) << srcs[1],
        Opcode::Shr if ty != Ty::S32 => x(0) >> srcs[1],
        Opcode::Popc => x(0).count_ones().into(),
        Opcode::MadWide => x(0).wrapping_mul(x(1)).wrapping_add(srcs[2]),
        _ => return Err("not evaluated".into()),
    })
}
