//! Asynchronous copies and stores, mbarriers and matrix products.

use super::arith::combining;
use super::words::{Ty, Words};
use super::{Decoded, Decoder};
use crate::code::{
    Addr, AsyncStore, Bulk, BulkCopy, Extent, MapReduce, MbarrierOp, MbarrierOrder, MbarrierScope, Op,
    Operand as Matrix, Reduce, Scope, Src, WaitFor, WgmmaOp, Window,
};
use crate::matrix::{Mma, Wgmma};
use crate::num::{Float, Int, Num};
use crate::parse::ast::Operand;

impl Decoder<'_> {
    pub(super) fn engine(&self, words: &mut Words<'_>) -> Decoded {
        match words.first() {
            "mma" => self.mma(words),
            "wgmma" => self.wgmma(words),
            "mbarrier" => self.mbarrier(words),
            "cp" => self.copy(words),
            _ => self.error("device-side edits of tensor maps are not simulated"),
        }
    }

    fn mma(&self, words: &mut Words<'_>) -> Decoded {
        self.count(4..=4)?;
        words.take_rest();
        let opcode: Vec<&str> = self.inst.opcode.iter().map(String::as_str).collect();
        let form = match Mma::from_words(&opcode) {
            Ok(form) => form,
            Err(message) => return self.error(message),
        };
        let d = self.all_regs(0)?;
        let word = Ty::Bits(if form.d.bytes() == 8 { 8 } else { 4 });
        let abc = [self.srcs(1, word)?, self.srcs(2, word)?, self.srcs(3, word)?];
        let fragments = [form.accumulator(), form.a_fragment(), form.b_fragment(), form.accumulator()];
        for (i, (found, fragment)) in
            [d.len(), abc[0].len(), abc[1].len(), abc[2].len()].into_iter().zip(fragments).enumerate()
        {
            let expected = fragment.registers() as usize;
            if found != expected {
                return self.error(format!("operand {} must have {expected} registers, found {found}", i + 1));
            }
        }
        Ok(Op::Mma { form, d, abc })
    }

    fn wgmma(&self, words: &mut Words<'_>) -> Decoded {
        let rest = words.take_rest();
        match rest[..] {
            ["fence", "sync", "aligned"] => return Ok(Op::WgmmaFence),
            ["commit_group", "sync", "aligned"] => return Ok(Op::WgmmaCommit),
            ["wait_group", "sync", "aligned"] => {
                self.count(1..=1)?;
                return Ok(Op::WgmmaWait(self.immediate_in(0, 0..=7)?));
            }
            _ => {}
        }
        let opcode: Vec<&str> = self.inst.opcode.iter().map(String::as_str).collect();
        let form = match Wgmma::from_words(&opcode) {
            Ok(form) => form,
            Err(message) => return self.error(message),
        };
        let d = self.all_regs(0)?;
        let check = |what: &str, found: usize, expected: u32| {
            if found == expected as usize {
                Ok(())
            } else {
                self.error(format!("{what} must have {expected} registers, found {found}"))
            }
        };
        check("the accumulator", d.len(), form.accumulator().registers())?;
        let a = if matches!(self.operand(1)?, Operand::Vector(_)) {
            let registers = self.all_regs(1)?;
            check("the fragment of A", registers.len(), form.a_fragment().registers())?;
            Matrix::Registers(registers)
        } else {
            Matrix::Descriptor(self.src(1, Ty::Bits(8))?)
        };
        let b = self.src(2, Ty::Bits(8))?;
        let in_registers = matches!(a, Matrix::Registers(_));
        let scales = 2 * usize::from(form.has_scales());
        let transposes = if !form.has_transposes() { 0 } else { 2 - usize::from(in_registers) };
        self.count(4 + scales + transposes..=4 + scales + transposes)?;
        let scale_d = self.pred(3)?;
        let mut negate = [false; 2];
        let mut transposed = [false; 2];
        for (i, negate) in negate.iter_mut().enumerate().take(scales) {
            *negate = match self.immediate(4 + i)? as i64 {
                1 => false,
                -1 => true,
                found => return self.error(format!("the scale of an operand must be 1 or -1, found {found}")),
            };
        }
        for i in 0..transposes {
            transposed[i + 2 - transposes] = match self.immediate(4 + scales + i)? {
                0 => false,
                1 => true,
                found => return self.error(format!("the transposition of an operand must be 0 or 1, found {found}")),
            };
        }
        Ok(Op::Wgmma(Box::new(WgmmaOp { form, d, a, b, scale_d, negate, transposed })))
    }

    fn mbarrier(&self, words: &mut Words<'_>) -> Decoded {
        let window = self.window(words);
        let relaxed = words.take("relaxed");
        let scope = match words.scope() {
            Some(Scope::Cta) => MbarrierScope::Block,
            Some(Scope::Cluster | Scope::Gpu | Scope::Sys) | None => MbarrierScope::Cluster,
        };
        let order = MbarrierOrder { relaxed, scope };
        words.take_all(&["b64", "release", "acquire"]);
        let rest = words.take_rest();
        let op = match &rest[..] {
            ["init"] => {
                self.count(2..=2)?;
                MbarrierOp::Init(self.word(1)?)
            }
            ["inval"] => {
                self.count(1..=1)?;
                MbarrierOp::Inval
            }
            ["pending_count"] => {
                self.count(2..=2)?;
                let op = MbarrierOp::PendingCount(self.dst(0)?, self.src(1, Ty::Bits(8))?);
                return Ok(Op::Mbarrier(window, Addr { base: Src::Imm(0), offset: 0 }, op));
            }
            ["expect_tx"] => {
                self.count(2..=2)?;
                MbarrierOp::ExpectTx(self.word(1)?)
            }
            ["complete_tx"] => {
                self.count(2..=2)?;
                MbarrierOp::CompleteTx(self.word(1)?)
            }
            ["arrive" | "arrive_drop", more @ ..] => {
                // Only the plain form has a count of 1 where none is written.
                let count = self.count(if more.is_empty() { 2 } else { 3 }..=3)?;
                let state = self.sink(self.operand(0)?)?;
                let last = if count == 3 { Some(self.word(2)?) } else { None };
                let (count, expect) = match more {
                    [] | ["noComplete"] => (last, None),
                    ["expect_tx"] => (None, last),
                    _ => return self.unknown(),
                };
                let completes = more != ["noComplete"];
                let drop = rest[0] == "arrive_drop";
                let op = MbarrierOp::Arrive { state, count, expect, drop, completes, release: order };
                return Ok(Op::Mbarrier(window, self.addr(1)?, op));
            }
            [wait @ ("test_wait" | "try_wait"), more @ ..] => {
                // A time limit may follow `try_wait`.
                self.count(3..=3 + usize::from(*wait == "try_wait"))?;
                let phase = match more {
                    [] => WaitFor::State(self.src(2, Ty::Bits(8))?),
                    ["parity"] => WaitFor::Parity(self.word(2)?),
                    _ => return self.unknown(),
                };
                let op = MbarrierOp::Wait { done: self.dst(0)?, phase, blocking: *wait == "try_wait", acquire: order };
                return Ok(Op::Mbarrier(window, self.addr(1)?, op));
            }
            _ => return self.unknown(),
        };
        Ok(Op::Mbarrier(window, self.addr(0)?, op))
    }

    /// `st.async` and `red.async`, of those forms that complete on an mbarrier.
    pub(super) fn async_store(&self, words: &mut Words<'_>) -> Decoded {
        let reduces = words.first() == "red";
        if !words.take("mbarrier::complete_tx::bytes") {
            return self
                .error(format!("`{}.async` is only simulated with `.mbarrier::complete_tx::bytes`", words.first()));
        }
        self.count(3..=3)?;
        let window = self.window(words);
        if !matches!(window, Window::Generic | Window::Cluster) {
            return self.unknown();
        }
        let elements = if reduces { 1 } else { self.vector(words) };
        let Some(ty) = words.ty() else { return self.unknown() };
        let (known, reduce) = if reduces {
            match words.take_rest()[..] {
                ["relaxed", "cluster", name] => (reduces_async(name, ty), combining(name, ty, false)),
                _ => (false, None),
            }
        } else {
            words.take("weak");
            (matches!(ty.bytes(), 4 | 8) && ty.num().is_some_and(|num| num != Num::Float(Float::Tf32)), None)
        };
        if !known || elements * usize::from(ty.bytes()) > 16 {
            return self.unknown();
        }
        let src = self.srcs(1, ty)?;
        if src.len() != elements {
            return self.error(format!("{elements} values were expected, found {}", src.len()));
        }
        let (addr, mbarrier) = (self.addr(0)?, self.addr(2)?);
        Ok(Op::AsyncStore(Box::new(AsyncStore { window, addr, bytes: ty.bytes(), src, reduce, mbarrier })))
    }

    fn copy(&self, words: &mut Words<'_>) -> Decoded {
        let reduces = words.take("reduce");
        words.take("async");
        if words.take("bulk") {
            return self.bulk(words, reduces);
        }
        if words.take("commit_group") {
            return Ok(Op::CopyCommit);
        }
        if words.take("wait_all") {
            return Ok(Op::CopyWait(None));
        }
        if words.take("wait_group") {
            self.count(1..=1)?;
            return Ok(Op::CopyWait(Some(self.immediate_in(0, 0..=u32::MAX)?)));
        }
        if words.take("mbarrier") {
            self.count(1..=1)?;
            let noinc = words.take("noinc");
            let window = self.window(words);
            words.take_all(&["arrive", "b64"]);
            return Ok(Op::Mbarrier(window, self.addr(0)?, MbarrierOp::CopyArrive { noinc }));
        }
        let hint = words.take("L2::cache_hint");
        let whole = words.take("cg");
        words.take_all(&["ca", "shared", "shared::cta", "global", "L2::64B", "L2::128B", "L2::256B"]);
        let count = self.count(3..=5)? - usize::from(hint);
        let bytes = self.immediate(2)?;
        if !(bytes == 16 || !whole && (bytes == 4 || bytes == 8)) {
            return self.error(format!("a copy has 4, 8 or 16 bytes, with `.cg` 16, found {bytes}"));
        }
        let mut read = None;
        let mut ignore = None;
        if count >= 4 {
            let operand = self.operand(3)?;
            let predicate = matches!(operand, Operand::Register(r) if self.register_bytes(*r) == 1);
            if predicate || matches!(operand, Operand::Not(_)) {
                ignore = Some(self.pred(3)?);
            } else {
                read = Some(self.word(3)?);
            }
        }
        Ok(Op::CopyAsync { dst: self.addr(0)?, src: self.addr(1)?, bytes: bytes as u8, read, ignore })
    }

    fn bulk(&self, words: &mut Words<'_>, reduces: bool) -> Decoded {
        if words.take("commit_group") {
            return Ok(Op::BulkCommit);
        }
        if words.take("wait_group") {
            self.count(1..=1)?;
            let read = words.take("read");
            return Ok(Op::BulkWait { pending: self.immediate_in(0, 0..=u32::MAX)?, read });
        }
        if words.take("prefetch") {
            words.take_rest();
            return Ok(Op::Nop);
        }
        let tensor = words.take("tensor");
        let dimensions = words.one_of(&[("1d", 1), ("2d", 2), ("3d", 3), ("4d", 4), ("5d", 5)]);
        let hint = words.take("L2::cache_hint");
        let multicast = words.take("multicast::cluster");
        words.take_all(&["tile", "bulk_group", "noftz", "mbarrier::complete_tx::bytes"]);
        let map_reduce = if tensor && reduces {
            words.one_of(&[
                ("add", MapReduce::Add),
                ("min", MapReduce::Min),
                ("max", MapReduce::Max),
                ("and", MapReduce::And),
                ("or", MapReduce::Or),
                ("xor", MapReduce::Xor),
                ("inc", MapReduce::Inc),
                ("dec", MapReduce::Dec),
            ])
        } else {
            None
        };
        let mut rest = words.take_rest();
        let reduce = match (reduces, map_reduce) {
            (false, _) => None,
            (true, Some(op)) => Some(Reduce::OfMap(op)),
            (true, None) => {
                let (Some(ty), Some(name)) = (rest.pop().and_then(Ty::of), rest.pop()) else { return self.unknown() };
                let Some(function) = combining(name, ty, false) else { return self.unknown() };
                Some(Reduce::Typed(ty.bytes(), function))
            }
        };
        let kind = match rest[..] {
            ["shared::cluster" | "shared::cta", "global"] => Bulk::Load,
            ["global", "shared::cta"] => Bulk::Store,
            ["shared::cluster", "shared::cta"] => Bulk::Push,
            _ => return self.unknown(),
        };
        let mut expected = match (tensor, kind) {
            (true, Bulk::Load) => 3,
            (true, Bulk::Store) => 2,
            (false, Bulk::Load | Bulk::Push) => 4,
            (false, Bulk::Store) => 3,
            (true, Bulk::Push) => return self.unknown(),
        };
        let multicast = if multicast {
            expected += 1;
            Some(self.src(expected - 1, Ty::Bits(2))?)
        } else {
            None
        };
        expected += usize::from(hint);
        self.count(expected..=expected)?;
        let extent = |index: usize| {
            let Operand::Tensor { map, coordinates } = self.operand(index)? else {
                return self.error(format!("operand {} must be a tensor: `[map, {{x, y}}]`", index + 1));
            };
            if dimensions != Some(coordinates.len()) {
                let found = coordinates.len();
                return self.error(format!("the tensor needs as many coordinates as it has dimensions, found {found}"));
            }
            let coordinates = coordinates.iter().map(|c| self.value_of(c, Ty::Bits(4))).collect::<Result<_, _>>()?;
            Ok(Extent::Tensor { map: self.value_of(map, Ty::Bits(8))?, coordinates })
        };
        // The destination is written first.
        let (mine, theirs) = if kind == Bulk::Load { (0, 1) } else { (1, 0) };
        let shared = self.addr(mine)?;
        let (other, extent, last) = if tensor {
            (None, extent(theirs)?, 2)
        } else {
            (Some(self.addr(theirs)?), Extent::Bytes(self.word(2)?), 3)
        };
        let mbarrier = if kind == Bulk::Store { None } else { Some(self.addr(last)?) };
        let copy = BulkCopy { kind, shared, other, extent, mbarrier, multicast, reduce };
        Ok(Op::BulkCopy(Box::new(copy)))
    }
}

/// Whether `red.async` has this operation on this type.
fn reduces_async(name: &str, ty: Ty) -> bool {
    match name {
        "inc" | "dec" => ty == Ty::Num(Num::Int(Int::U32)),
        "min" | "max" => matches!(ty, Ty::Num(Num::Int(Int::U32 | Int::S32))),
        "and" | "or" | "xor" => ty == Ty::Bits(4),
        "add" => matches!(ty, Ty::Num(Num::Int(Int::U32 | Int::S32 | Int::U64))),
        _ => false,
    }
}
