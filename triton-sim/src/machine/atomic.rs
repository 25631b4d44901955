//! Atomic updates: one lane after another.

use super::access::number;
use super::address::{LaneAccess, Location};
use super::order::WarpAccess;
use super::warp::lanes;
use super::{Cx, Stop};
use crate::code::{Addr, AtomOp, Order, Reg, Scope, Src, Window};
use crate::faults::AccessKind;

impl Cx<'_, '_> {
    #[allow(clippy::too_many_arguments, reason = "the fields of one operation")]
    pub(super) fn atom(
        &mut self,
        window: Window,
        order: Order,
        bytes: u8,
        op: AtomOp,
        dst: &[Option<Reg>],
        src: &[Src],
        compare: Option<Src>,
        addr: Addr,
    ) -> Result<(), Stop> {
        let size = u32::from(bytes);
        let whole = size * src.len() as u32;
        let addresses = self.addresses(addr)?;
        let mut values = Vec::with_capacity(src.len());
        for &part in src {
            values.push(self.read(part)?);
        }
        let expected = match compare {
            Some(src) => self.read(src)?,
            None => [0; 32],
        };
        let locations = self.locations(window, &addresses, LaneAccess::natural(whole, AccessKind::Atomic))?;
        let scope = Some(order.scope().unwrap_or(Scope::Gpu));
        let access = AccessKind::Atomic;
        self.check_warp_access(
            &locations,
            WarpAccess { bytes: whole, access, scope, same: false, repeats: 0, read_only: false },
        )?;
        self.count_access(&locations, whole, true);
        let mut old = vec![[0; 32]; src.len()];
        // Which lane comes first is unspecified.
        let mut sequence: Vec<usize> = lanes(self.mask).collect();
        self.run.rng.shuffle(&mut sequence);
        let mut changed = false;
        for lane in sequence {
            self.order_atomic(lane, locations[lane], order);
            for (i, operand) in values.iter().enumerate() {
                let location = locations[lane].plus(i as u32 * size);
                let before = number(self.peek(lane, location, size));
                let after = match op {
                    AtomOp::Update(shared, other) => match location {
                        Location::Shared(..) => shared(before, operand[lane], 0),
                        Location::Global(..) | Location::Local(_) | Location::Param(_) => {
                            other(before, operand[lane], 0)
                        }
                    },
                    AtomOp::Exchange => operand[lane],
                    AtomOp::Compare if before == expected[lane] & (u64::MAX >> (64 - 8 * size)) => operand[lane],
                    AtomOp::Compare => before,
                };
                old[i][lane] = before;
                changed |= before != after;
                self.poke(lane, location, size).copy_from_slice(&after.to_le_bytes()[..size as usize]);
            }
        }
        if changed {
            self.run.progress();
        }
        for (register, value) in dst.iter().zip(&old) {
            if let Some(register) = register {
                self.write(*register, value)?;
            }
        }
        Ok(())
    }
}

impl Location {
    /// The address this many bytes further on.
    pub(super) fn plus(self, bytes: u32) -> Location {
        match self {
            Location::Global(index, offset) => Location::Global(index, offset + bytes as usize),
            Location::Shared(rank, offset) => Location::Shared(rank, offset + bytes),
            Location::Local(offset) => Location::Local(offset + bytes),
            Location::Param(offset) => Location::Param(offset + bytes),
        }
    }
}
