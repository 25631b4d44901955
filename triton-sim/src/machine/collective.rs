//! Warp-level collectives: shuffles, votes, `match`, `redux`, `elect`, `bar.warp.sync`.

use super::schedule::Flow;
use super::warp::{Waiting, lanes};
use super::{Cx, Stop};
use crate::code::{Reg, Scalar, Shuffle, Src, Vote};
use crate::faults::Fault;

impl Cx<'_, '_> {
    /// The member mask of a `.sync` instruction, and what to wait for if its lanes are not all here.
    fn members(&mut self, mask: Src) -> Result<(u32, Option<Flow>), Stop> {
        let members = self.read(mask)?[self.mask.trailing_zeros() as usize] as u32;
        if let Some(split) = self.same_mask(mask, members)? {
            return Ok((members, Some(split)));
        }
        Ok((members, self.together(members)?))
    }

    /// The lanes that name the same members as the first one, if not all do.
    fn same_mask(&mut self, mask: Src, members: u32) -> Result<Option<Flow>, Stop> {
        let values = self.read(mask)?;
        let same = lanes(self.mask).filter(|&lane| values[lane] as u32 == members).fold(0, |set, lane| set | 1 << lane);
        Ok((same != self.mask).then_some(Flow::Split(same)))
    }

    pub(super) fn shuffle(
        &mut self,
        kind: Shuffle,
        dst: Reg,
        found: Option<Reg>,
        [value, index, clamp]: [Src; 3],
        mask: Src,
    ) -> Result<Flow, Stop> {
        let (_, wait) = self.members(mask)?;
        if let Some(wait) = wait {
            return Ok(wait);
        }
        let (values, index, clamp) = (self.read(value)?, self.read(index)?, self.read(clamp)?);
        let mut out = [0; 32];
        let mut inside = 0;
        for lane in lanes(self.mask) {
            // PTX ISA, `shfl.sync`: the segment mask and the clamp are fields of one operand.
            let (b, c, at) = (index[lane] as u32 & 31, clamp[lane] as u32, lane as u32);
            let segment = c >> 8 & 31;
            let most = at & segment | c & 31 & !segment;
            let least = at & segment;
            let (from, ok) = match kind {
                Shuffle::Up => (at.wrapping_sub(b), at as i64 - i64::from(b) >= i64::from(most)),
                Shuffle::Down => (at + b, at + b <= most),
                Shuffle::Bfly => (at ^ b, at ^ b <= most),
                Shuffle::Idx => (least | b & !segment, (least | b & !segment) <= most),
            };
            let from = if ok { from & 31 } else { at };
            if self.mask >> from & 1 == 0 {
                let problem = format!("lane {lane} reads from lane {from}, which takes no part");
                self.report(lane, Fault::Operand { problem })?;
            }
            out[lane] = values[from as usize];
            inside |= u32::from(ok) << lane;
        }
        self.write(dst, &out)?;
        if let Some(found) = found {
            self.write_mask(found, inside)?;
        }
        Ok(Flow::Next)
    }

    pub(super) fn vote(&mut self, kind: Vote, dst: Reg, src: Src, mask: Src) -> Result<Flow, Stop> {
        let (_, wait) = self.members(mask)?;
        if let Some(wait) = wait {
            return Ok(wait);
        }
        let set = self.truth(src)?;
        let all = set == self.mask;
        let out = match kind {
            Vote::All => u64::from(all),
            Vote::Any => u64::from(set != 0),
            Vote::Uni => u64::from(all || set == 0),
            Vote::Ballot => u64::from(set),
        };
        self.write(dst, &[out; 32])?;
        Ok(Flow::Next)
    }

    pub(super) fn matching(
        &mut self,
        all: bool,
        dst: Reg,
        found: Option<Reg>,
        src: Src,
        mask: Src,
    ) -> Result<Flow, Stop> {
        let (_, wait) = self.members(mask)?;
        if let Some(wait) = wait {
            return Ok(wait);
        }
        let values = self.read(src)?;
        let mut out = [0; 32];
        for lane in lanes(self.mask) {
            let equal = lanes(self.mask).filter(|&i| values[i] == values[lane]).fold(0u32, |set, i| set | 1 << i);
            out[lane] = u64::from(if all && equal != self.mask { 0 } else { equal });
        }
        self.write(dst, &out)?;
        if let Some(found) = found {
            let set = if out[self.mask.trailing_zeros() as usize] == 0 { 0 } else { self.mask };
            self.write_mask(found, set)?;
        }
        Ok(Flow::Next)
    }

    pub(super) fn redux(&mut self, f: Scalar, dst: Reg, src: Src, mask: Src) -> Result<Flow, Stop> {
        let (_, wait) = self.members(mask)?;
        if let Some(wait) = wait {
            return Ok(wait);
        }
        let values = self.read(src)?;
        let out = lanes(self.mask).map(|lane| values[lane]).reduce(|a, b| f(a, b, 0)).unwrap_or(0);
        self.write(dst, &[out; 32])?;
        Ok(Flow::Next)
    }

    pub(super) fn elect(&mut self, dst: Option<Reg>, found: Option<Reg>, mask: Src) -> Result<Flow, Stop> {
        let (members, wait) = self.members(mask)?;
        if let Some(wait) = wait {
            return Ok(wait);
        }
        if members == 0 {
            let problem = "the member mask must name a lane".to_string();
            return Err(self.fatal(Fault::Operand { problem }));
        }
        let leader = self.mask.trailing_zeros();
        if let Some(dst) = dst {
            self.write(dst, &[u64::from(leader); 32])?;
        }
        if let Some(found) = found {
            self.write_mask(found, 1 << leader)?;
        }
        Ok(Flow::Next)
    }

    /// Arrives at a `bar.warp.sync`: any other one with the same mask counts.
    pub(super) fn warp_sync_arrive(&mut self, mask: Src) -> Result<Flow, Stop> {
        let members = self.read(mask)?[self.mask.trailing_zeros() as usize] as u32;
        if let Some(split) = self.same_mask(mask, members)? {
            return Ok(split);
        }
        if self.mask & !members != 0 {
            self.together(members)?;
        }
        let members = members & self.warp.launched;
        if self.mask == members & self.warp.live() {
            self.synchronise(self.mask);
            return Ok(Flow::Next);
        }
        Ok(Flow::Then(Waiting::WarpSync(members)))
    }

    /// Whether every lane of a mask waits at a `bar.warp.sync` for the others.
    pub(super) fn warp_sync_complete(&self, members: u32) -> bool {
        let here = self.warp.fragments.iter().filter(|f| f.wait == Some(Waiting::WarpSync(members)));
        here.fold(0, |set, f| set | f.lanes) == members & self.warp.live()
    }

    /// Resumes them.
    pub(super) fn warp_sync(&mut self, members: u32) {
        self.synchronise(members & self.warp.live());
        for fragment in &mut self.warp.fragments {
            if fragment.wait == Some(Waiting::WarpSync(members)) {
                fragment.wait = None;
                fragment.pc += 1;
            }
        }
    }
}
