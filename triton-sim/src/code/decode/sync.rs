//! Control, lanes of a warp, barriers and fences.

use super::words::{Ty, Words};
use super::{Decoded, Decoder};
use crate::code::{Bar, Bool, Fence, Op, Ordering, ProxySpaces, Scope, Shuffle, Vote};
use crate::num::{self, BitOp, IntOp};
use crate::parse::ast::Operand;

impl Decoder<'_> {
    pub(super) fn control(&self, words: &mut Words<'_>) -> Decoded {
        match words.first() {
            "bra" => {
                words.take("uni");
                let Operand::Label(label) = self.operand(0)? else { return self.error("a branch goes to a label") };
                Ok(Op::Branch(self.entry.labels[*label as usize].0 as u32))
            }
            "exit" => {
                self.count(0..=0)?;
                Ok(Op::Exit)
            }
            "ret" => {
                words.take("uni");
                self.count(0..=0)?;
                Ok(self.linked.around(self.index).map_or(Op::Exit, |frame| Op::Return(frame.return_address)))
            }
            "trap" => Ok(Op::Trap),
            "brkpt" | "nanosleep" | "griddepcontrol" | "pmevent" => {
                words.take_rest();
                Ok(Op::Nop)
            }
            "shfl" => self.shuffle(words),
            "vote" | "match" | "redux" | "activemask" | "elect" => self.warp(words),
            "bar" | "barrier" => self.barrier(words),
            "fence" | "membar" => self.fence(words),
            "setmaxnreg" => {
                self.count(1..=1)?;
                let increase = words.take("inc");
                if !increase && !words.take("dec") || words.take_rest() != ["sync", "aligned", "u32"] {
                    return self.unknown();
                }
                let count = self.immediate(0)?;
                if !(24..=256).contains(&count) || count % 8 != 0 {
                    return self.error(format!(
                        "the number of registers must be a multiple of 8 from 24 to 256, found {count}"
                    ));
                }
                Ok(Op::SetMaxRegisters { increase, count: count as u32 })
            }
            _ => self.unknown(),
        }
    }

    fn shuffle(&self, words: &mut Words<'_>) -> Decoded {
        self.count(5..=5)?;
        let kind = words.one_of(&[
            ("up", Shuffle::Up),
            ("down", Shuffle::Down),
            ("bfly", Shuffle::Bfly),
            ("idx", Shuffle::Idx),
        ]);
        let Some(kind) = kind else { return self.unknown() };
        if words.take_rest() != ["sync", "b32"] {
            return self.unknown();
        }
        let [dst, in_bounds] = self.pair(0)?;
        let Some(dst) = dst else { return self.error("a shuffle needs a register for its result") };
        Ok(Op::Shuffle {
            kind,
            dst,
            in_bounds,
            src: [self.word(1)?, self.word(2)?, self.word(3)?],
            members: self.word(4)?,
        })
    }

    /// Takes `.sync`: without it the instruction has another meaning, or none.
    fn synchronous(&self, words: &mut Words<'_>) -> Result<(), crate::ParseError> {
        if words.take("sync") { Ok(()) } else { self.error(format!("`{}` needs `.sync`", self.inst.opcode.join("."))) }
    }

    fn warp(&self, words: &mut Words<'_>) -> Decoded {
        match words.first() {
            "activemask" => {
                words.take("b32");
                Ok(Op::ActiveMask(self.dst(0)?))
            }
            "elect" => {
                self.synchronous(words)?;
                self.count(2..=2)?;
                let [dst, is_leader] = self.pair(0)?;
                Ok(Op::Elect { dst, is_leader, members: self.word(1)? })
            }
            "vote" => {
                self.count(3..=3)?;
                let kind = words.one_of(&[
                    ("all", Vote::All),
                    ("any", Vote::Any),
                    ("uni", Vote::Uni),
                    ("ballot", Vote::Ballot),
                ]);
                self.synchronous(words)?;
                let Some(kind) = kind else { return self.unknown() };
                if !words.take(if kind == Vote::Ballot { "b32" } else { "pred" }) {
                    return self.unknown();
                }
                Ok(Op::Vote { kind, dst: self.dst(0)?, src: self.pred(1)?, members: self.word(2)? })
            }
            "match" => {
                self.count(3..=3)?;
                self.synchronous(words)?;
                let Some(all) = words.one_of(&[("any", false), ("all", true)]) else { return self.unknown() };
                let Some(ty) = words.ty() else { return self.unknown() };
                let [dst, all_equal] = self.pair(0)?;
                let Some(dst) = dst else { return self.unknown() };
                Ok(Op::Match { all, dst, all_equal, src: self.src(1, ty)?, members: self.word(2)? })
            }
            _ => {
                self.count(3..=3)?;
                self.synchronous(words)?;
                let Some(int) = words.ty().and_then(Ty::int) else { return self.unknown() };
                let rest = words.take_rest();
                let function = match &rest[..] {
                    ["add"] => num::int_op(IntOp::Add, int),
                    ["min"] => num::int_op(IntOp::Min, int),
                    ["max"] => num::int_op(IntOp::Max, int),
                    ["and"] => num::bit_op(BitOp::And, int),
                    ["or"] => num::bit_op(BitOp::Or, int),
                    ["xor"] => num::bit_op(BitOp::Xor, int),
                    _ => None,
                };
                let Some(function) = function else { return self.unknown() };
                Ok(Op::Redux { function, dst: self.dst(0)?, src: self.word(1)?, members: self.word(2)? })
            }
        }
    }

    fn barrier(&self, words: &mut Words<'_>) -> Decoded {
        if words.take("warp") {
            self.synchronous(words)?;
            self.count(1..=1)?;
            return Ok(Op::WarpSync(self.word(0)?));
        }
        let aligned = words.take("aligned");
        if words.take("cluster") {
            let release = !words.take("relaxed");
            words.take_all(&["release", "acquire"]);
            return match words.take_rest()[..] {
                ["arrive"] => Ok(Op::ClusterArrive { aligned, release }),
                ["wait"] => Ok(Op::ClusterWait { aligned }),
                _ => self.unknown(),
            };
        }
        // `bar` is `barrier.aligned`.
        let aligned = aligned || words.first() == "bar";
        words.take("cta");
        if words.take("red") {
            let kind =
                words.one_of(&[("popc", Bar::Popc), ("and", Bar::Combine(Bool::And)), ("or", Bar::Combine(Bool::Or))]);
            words.take_all(&["u32", "pred"]);
            let Some(kind) = kind else { return self.unknown() };
            let count = self.count(3..=4)?;
            let threads = if count == 4 { Some(self.word(2)?) } else { None };
            let reduce = Some((self.dst(0)?, self.pred(count - 1)?));
            return Ok(Op::Bar { kind, aligned, id: self.word(1)?, count: threads, reduce });
        }
        let kind = words.one_of(&[("sync", Bar::Sync), ("arrive", Bar::Arrive)]);
        let Some(kind) = kind else { return self.unknown() };
        let least = if kind == Bar::Arrive { 2 } else { 1 };
        let count = if self.count(least..=2)? == 2 { Some(self.word(1)?) } else { None };
        Ok(Op::Bar { kind, aligned, id: self.word(0)?, count, reduce: None })
    }

    fn fence(&self, words: &mut Words<'_>) -> Decoded {
        if words.first() == "membar" {
            let scope = words.one_of(&[("cta", Scope::Cta), ("gl", Scope::Gpu), ("sys", Scope::Sys)]);
            if let Some(scope) = scope {
                return Ok(Op::Fence(Fence { scope, ordering: Ordering::AcqRel, restricted: false }));
            }
        }
        if words.take("mbarrier_init") {
            words.take_all(&["release", "cluster"]);
            return Ok(Op::MbarrierInitFence);
        }
        if words.left().first() == Some(&"proxy") {
            words.take("proxy");
            let rest = words.take_rest();
            let spaces = |shared, global| Ok(Op::ProxyFence(ProxySpaces { shared, global }));
            return match rest[..] {
                ["async"] => spaces(true, true),
                ["async", "global"] => spaces(false, true),
                ["async", "shared::cta" | "shared::cluster"] => spaces(true, false),
                // Maps in parameters and those that the host wrote need none.
                ["tensormap::generic", ..] | ["alias"] => Ok(Op::Nop),
                _ => self.unknown(),
            };
        }
        let scope = words.scope().unwrap_or(Scope::Sys);
        let orderings = [
            ("sc", Ordering::AcqRel),
            ("acq_rel", Ordering::AcqRel),
            ("acquire", Ordering::Acquire),
            ("release", Ordering::Release),
        ];
        let ordering = words.one_of(&orderings).unwrap_or(Ordering::AcqRel);
        let restriction = match ordering {
            Ordering::Acquire => "sync_restrict::shared::cluster",
            Ordering::Release | Ordering::AcqRel | Ordering::Relaxed => "sync_restrict::shared::cta",
        };
        let restricted = words.take(restriction);
        if restricted && (ordering == Ordering::AcqRel || scope != Scope::Cluster) {
            return self.unknown();
        }
        Ok(Op::Fence(Fence { scope, ordering, restricted }))
    }
}
