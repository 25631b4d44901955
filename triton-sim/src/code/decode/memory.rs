//! Loads, stores, atomics, addresses, `ldmatrix`.

use super::arith::combining;
use super::words::{Ty, Words};
use super::{Decoded, Decoder};
use crate::code::{AtomOp, Cell, Op, Order, Scope, Src, Window};
use crate::faults::Space;
use crate::parse::ast::Operand;

/// Spaces by their words.
const SPACES: [(&str, Window); 9] = [
    ("global", Window::Of(Space::Global)),
    ("shared", Window::Of(Space::Shared)),
    ("shared::cta", Window::Of(Space::Shared)),
    ("shared::cluster", Window::Cluster),
    ("local", Window::Of(Space::Local)),
    ("param", Window::Of(Space::Param)),
    ("param::entry", Window::Of(Space::Param)),
    ("param::func", Window::Of(Space::Param)),
    ("const", Window::Of(Space::Const)),
];

/// Cache hints: they change no result.
const CACHES: [&str; 24] = [
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::evict_normal",
    "L2::evict_first",
    "L2::evict_last",
    "L2::cache_hint",
    "L2::64B",
    "L2::128B",
    "L2::256B",
    "noftz",
    "unified",
    "mmio",
    "L1",
    "L2",
];

impl Decoder<'_> {
    /// The space that an instruction names.
    pub(super) fn window(&self, words: &mut Words<'_>) -> Window {
        words.one_of(&SPACES).unwrap_or(Window::Generic)
    }

    /// The space that an instruction names, whichever block it is of.
    fn space(&self, words: &mut Words<'_>) -> Option<Space> {
        match self.window(words) {
            Window::Of(space) => Some(space),
            Window::Cluster => Some(Space::Shared),
            Window::Generic => None,
        }
    }

    pub(super) fn memory(&self, words: &mut Words<'_>) -> Decoded {
        match words.first() {
            "ld" | "ldu" => self.load(words),
            "st" => self.store(words),
            "atom" | "red" => self.atom(words),
            "cvta" => {
                self.count(2..=2)?;
                let to = words.take("to");
                let wide = words.take("u64") || words.take("u32");
                let Some(space) = self.space(words) else { return self.unknown() };
                let (dst, src) = (self.dst(0)?, self.src(1, Ty::Bits(8))?);
                match (wide, to) {
                    (false, _) => self.unknown(),
                    (true, true) => Ok(Op::FromGeneric(space, dst, src)),
                    (true, false) => Ok(Op::ToGeneric(space, dst, src)),
                }
            }
            "isspacep" => {
                self.count(2..=2)?;
                let Some(space) = self.space(words) else { return self.unknown() };
                Ok(Op::IsSpace(space, self.dst(0)?, self.src(1, Ty::Bits(8))?))
            }
            "mapa" => {
                self.count(3..=3)?;
                words.ty();
                let generic = self.window(words) == Window::Generic;
                Ok(Op::MapA { generic, dst: self.dst(0)?, addr: self.src(1, Ty::Bits(8))?, rank: self.word(2)? })
            }
            "getctarank" => {
                self.count(2..=2)?;
                words.ty();
                let generic = self.window(words) == Window::Generic;
                Ok(Op::GetRank { generic, dst: self.dst(0)?, addr: self.src(1, Ty::Bits(8))? })
            }
            "ldmatrix" | "stmatrix" => self.matrix(words),
            "movmatrix" => {
                self.count(2..=2)?;
                if words.take_rest() != ["sync", "aligned", "m8n8", "trans", "b16"] {
                    return self.unknown();
                }
                Ok(Op::MoveMatrix(self.dst(0)?, self.word(1)?))
            }
            "createpolicy" => {
                words.take_rest();
                // Cache hints change no result.
                Ok(Op::Alu(|_, _, _| 0, self.dst(0)?, [Src::Imm(0); 3]))
            }
            "call" => self.call(words),
            _ => {
                // `prefetch`, `discard`, `applypriority`
                words.take_rest();
                Ok(Op::Nop)
            }
        }
    }

    fn cell(&self, ty: Ty, register: Option<u32>) -> Cell {
        let register_bytes = register.map_or(8, |r| self.register_bytes(r));
        Cell { bytes: ty.bytes(), signed: ty.signed(), register_bytes }
    }

    /// The number of elements that `.v2` and the like say.
    pub(super) fn vector(&self, words: &mut Words<'_>) -> usize {
        words.one_of(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1)
    }

    fn load(&self, words: &mut Words<'_>) -> Decoded {
        let count = self.count(2..=3)?;
        let window = self.window(words);
        if count == 3 && !words.left().contains(&"L2::cache_hint") {
            return self.unknown();
        }
        words.take_all(&CACHES);
        let read_only = words.take("nc");
        let order = words.order();
        if read_only && (window != Window::Of(Space::Global) || order != Order::Weak) {
            return self.unknown();
        }
        if words.take("b128") {
            let (dst, addr) = (self.halves(0)?, self.addr(1)?);
            let window = self.of_variable(window, 1)?;
            return Ok(Op::Load { window, order, cell: self.cell(Ty::Bits(8), None), dst, addr, read_only });
        }
        let elements = self.vector(words);
        let Some(ty) = words.ty() else { return self.unknown() };
        let dst = self.regs(0)?;
        if dst.len() != elements {
            return self.error(format!("{elements} registers were expected, found {}", dst.len()));
        }
        let cell = self.cell(ty, dst.iter().flatten().next().copied());
        let addr = self.addr(1)?;
        let window = self.of_variable(window, 1)?;
        Ok(Op::Load { window, order, cell, dst, addr, read_only })
    }

    /// The space of an access: a variable that is named in brackets of a generic one lies in its own.
    fn of_variable(&self, window: Window, index: usize) -> Result<Window, crate::ParseError> {
        let Operand::Address { base, .. } = self.operand(index)? else { return Ok(window) };
        let space = if let Operand::ModuleVariable(v) = &**base {
            self.module.variables[*v as usize].space
        } else if let Operand::Variable(v) = &**base {
            self.entry.variables[*v as usize].space
        } else {
            return Ok(window);
        };
        Ok(match (window, space) {
            (Window::Generic, crate::parse::ast::Space::Shared) => Window::Of(Space::Shared),
            (Window::Generic, crate::parse::ast::Space::Local) => Window::Of(Space::Local),
            // Parameters of calls and functions are memory of the thread.
            (Window::Generic | Window::Of(Space::Param), crate::parse::ast::Space::Param) => Window::Of(Space::Local),
            (window, _) => window,
        })
    }

    fn store(&self, words: &mut Words<'_>) -> Decoded {
        if words.take("async") {
            return self.async_store(words);
        }
        self.count(2..=3)?;
        let window = self.window(words);
        words.take_all(&CACHES);
        let order = words.order();
        if words.take("b128") {
            let Some(src) = self.halves(1)?.iter().map(|half| half.map(Src::Reg)).collect() else {
                return self.error("operand 2 must be registers without `_`");
            };
            let (window, addr) = (self.of_variable(window, 0)?, self.addr(0)?);
            return Ok(Op::Store { window, order, cell: self.cell(Ty::Bits(8), None), src, addr });
        }
        let elements = self.vector(words);
        let Some(ty) = words.ty() else { return self.unknown() };
        let src = self.srcs(1, ty)?;
        if src.len() != elements {
            return self.error(format!("{elements} values were expected, found {}", src.len()));
        }
        let window = self.of_variable(window, 0)?;
        Ok(Op::Store { window, order, cell: self.cell(ty, None), src, addr: self.addr(0)? })
    }

    fn atom(&self, words: &mut Words<'_>) -> Decoded {
        if words.take("async") {
            return self.async_store(words);
        }
        let returns = words.first() == "atom";
        let window = self.window(words);
        words.take_all(&CACHES);
        let mut order = words.order();
        if order == Order::Weak {
            order = Order::Relaxed(Scope::Gpu);
        }
        let elements = self.vector(words);
        let ty = words.ty();
        let rest = words.take_rest();
        let (Some(ty), [name]) = (ty, &rest[..]) else { return self.unknown() };
        let first = usize::from(returns);
        let op = match *name {
            "exch" => AtomOp::Exchange,
            "cas" => AtomOp::Compare,
            name => match (combining(name, ty, false), combining(name, ty, true)) {
                (Some(shared), Some(other)) => AtomOp::Update(shared, other),
                _ => return self.unknown(),
            },
        };
        let compares = matches!(op, AtomOp::Compare);
        self.count(first + 2 + usize::from(compares)..=first + 3 + usize::from(compares))?;
        let dst = if returns { self.regs(0)? } else { Box::new([]) };
        if returns && dst.len() != elements {
            return self.error(format!("{elements} registers were expected, found {}", dst.len()));
        }
        let addr = self.addr(first)?;
        let (compare, src) = if compares {
            (Some(self.src(first + 1, ty)?), self.srcs(first + 2, ty)?)
        } else {
            (None, self.srcs(first + 1, ty)?)
        };
        if src.len() != elements {
            return self.error(format!("{elements} values were expected, found {}", src.len()));
        }
        let window = self.of_variable(window, first)?;
        Ok(Op::Atom { window, order, bytes: ty.bytes(), op, dst, src, compare, addr })
    }

    fn matrix(&self, words: &mut Words<'_>) -> Decoded {
        self.count(2..=2)?;
        let load = words.first() == "ldmatrix";
        let transposed = words.take("trans");
        let Some(count) = words.one_of(&[("x1", 1), ("x2", 2), ("x4", 4)]) else { return self.unknown() };
        let window = self.window(words);
        if words.take_rest() != ["sync", "aligned", "m8n8", "b16"] {
            return self.unknown();
        }
        let registers = usize::from(!load);
        let found = self.list(registers)?.len();
        if found != count {
            return self.error(format!("{count} registers were expected, found {found}"));
        }
        let addr = self.addr(usize::from(load))?;
        Ok(if load {
            Op::LoadMatrix { dst: self.all_regs(0)?, window, addr, transposed }
        } else {
            Op::StoreMatrix { src: self.srcs(1, Ty::Bits(4))?, window, addr, transposed }
        })
    }
}
