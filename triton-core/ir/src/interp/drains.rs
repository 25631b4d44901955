//! Bulk copies from shared to global memory at stage 2.
//!
//! A thread of each warp issues those of the rows that its warp has stored, in their order, and each reads its slot until that thread has waited for
//! it: where the item is released, or at the end of the program. So the slot is read at both moments, and what is stored to it between them, or
//! without a barrier after the release, is unordered with one of these reads. The wait is as weak as code makes it: it leaves as many of the newest
//! copies in flight as the ring has other slots, whichever item it names. What a copy writes is there at the end of the program, and nothing that the
//! program does follows it.

use super::Machine;
use super::copies::{Drain, Source};
use super::location::Reached;
use super::positions::{By, Tile};
use super::shadow::AccessKind;
use super::threads::check_agent;
use crate::ir::Value;
use crate::layout::LANES;
use crate::ops::Location;
use std::collections::HashMap;

impl Machine<'_> {
    /// Begins to copy a slot.
    pub(super) fn drain(&mut self, buffer: Value, item: i128, to: Location) -> Result<(), String> {
        let missing = || format!("{buffer} has no panel of a tile");
        self.landed(buffer, item, "copied")?;
        let (mem, base) = (self.func.mem(buffer).ok_or_else(missing)?, self.func.ty(buffer).shape.base());
        let (Location::View { shape, .. }, Some(columns)) = (to, base.dims().last()) else { return Err(missing()) };
        let (across, width) = (*shape.dims().last().ok_or_else(missing)?, mem.bits() / 8);
        let start = self.value(buffer)[0] + u64::from(self.slot_of(buffer, item)?) * mem.bytes();
        // Which warp has stored an element: the same one in every panel.
        let (layout, place) = (self.func.fill_layout(buffer), self.func.mem_id(buffer));
        let tile = Tile { shape: self.func.ty(buffer).shape, layout, mem: place, by: By::One };
        let positions = self.threads.positions.of(self.func, tile);
        let of_panel = positions.iter().filter(|position| position.part == 0);
        let threads: HashMap<u32, u32> = of_panel.map(|position| (position.offset, position.thread)).collect();
        let read = |element: u32| {
            let (offset, _) = mem.offset_in_part(element / across * columns + element % across);
            let thread = threads.get(&offset).ok_or_else(missing)? / LANES as u32 * LANES as u32;
            let first = start + u64::from(offset * width);
            Ok((thread, first..first + u64::from(width)))
        };
        let reads = (0..shape.elements() as u32).map(read).collect::<Result<Vec<_>, String>>()?;
        let issuers: Vec<u32> = reads.iter().map(|&(thread, _)| thread).collect();
        let drain = Drain { source: Source { buffer, item }, team: self.threads.clocks.first_warp(), reads };
        let values = self.read(&drain)?;
        self.threads.rings.drains.push(drain);

        let Reached { addresses, mask } = self.reach(to)?;
        self.memory
            .store(width, &addresses, mask.as_deref(), &values)
            .map_err(|fault| super::access_error("copy", width, &fault))?;
        let included = |&i: &usize| mask.as_ref().is_none_or(|mask| mask[i] != 0);
        let written: Vec<(u32, u64)> =
            (0..addresses.len()).filter(included).map(|i| (issuers[i], addresses[i])).collect();
        self.threads.rings.items += 1;
        for (issuer, address) in written {
            let now = self.threads.clocks.copying(issuer, self.threads.rings.items);
            let bytes = address..address.wrapping_add(width.into());
            check_agent(&self.threads.clocks, &mut self.threads.global, &now, bytes.clone(), AccessKind::Write)
                .map_err(|why| format!("what is copied to {address:#x}: {why}"))?;
            self.threads.global.remember(bytes, &now, AccessKind::Write);
        }
        Ok(())
    }

    /// Waits until an item has been read, if it is copied.
    pub(super) fn drained(&mut self, source: Source) -> Result<(), String> {
        let drains = &self.threads.rings.drains;
        let Some(at) = drains.iter().position(|drain| drain.source == source) else { return Ok(()) };
        let Source { buffer, item } = source;
        // Of those that the same team has begun.
        let newer = drains[at + 1..].iter().filter(|drain| drain.team == drains[at].team).count();
        let left = (self.func.slots(buffer) / self.func.teams) as usize - 1;
        if newer < left {
            return Err(format!("item {item} of {buffer} is still copied after a wait that leaves {left}"));
        }
        let drain = self.threads.rings.drains.remove(at);
        self.read(&drain).map(drop)
    }

    /// What the issuing threads read.
    fn read(&mut self, drain: &Drain) -> Result<Vec<u64>, String> {
        let mut values = vec![0; drain.reads.len()];
        let accesses = drain.reads.iter().enumerate().map(|(i, (thread, bytes))| (*thread, i as u32, bytes.clone()));
        self.threads.load(drain.source, accesses, &mut values)?;
        Ok(values)
    }
}
