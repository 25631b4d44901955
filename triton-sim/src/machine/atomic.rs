//! Atomic updates: one lane after another.

use super::access::number;
use super::address::{Reach, Spot};
use super::order::Touch;
use super::warp::lanes;
use super::{Cx, Stop};
use crate::code::{Addr, AtomOp, Order, Reg, Scope, Src, Window};
use crate::report::Access;

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
        let spots = self.spots(window, &addresses, Reach::natural(whole, Access::Atomic))?;
        let scope = Some(order.scope().unwrap_or(Scope::Gpu));
        let access = Access::Atomic;
        self.touch(&spots, Touch { bytes: whole, access, scope, same: false, repeats: 0, read_only: false })?;
        self.count_access(&spots, whole, true);
        let mut old = vec![[0; 32]; src.len()];
        // Which lane comes first is unspecified.
        let mut turn: Vec<usize> = lanes(self.mask).collect();
        self.run.rng.shuffle(&mut turn);
        let mut changed = false;
        for lane in turn {
            self.order_atomic(lane, spots[lane], order);
            for (i, operand) in values.iter().enumerate() {
                let spot = spots[lane].plus(i as u32 * size);
                let before = number(self.peek(lane, spot, size));
                let after = match op {
                    AtomOp::Update(shared, other) => match spot {
                        Spot::Shared(..) => shared(before, operand[lane], 0),
                        Spot::Global(..) | Spot::Local(_) | Spot::Param(_) => other(before, operand[lane], 0),
                    },
                    AtomOp::Exchange => operand[lane],
                    AtomOp::Compare if before == expected[lane] & (u64::MAX >> (64 - 8 * size)) => operand[lane],
                    AtomOp::Compare => before,
                };
                old[i][lane] = before;
                changed |= before != after;
                self.poke(lane, spot, size).copy_from_slice(&after.to_le_bytes()[..size as usize]);
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

impl Spot {
    /// The address this many bytes further on.
    pub(super) fn plus(self, bytes: u32) -> Spot {
        match self {
            Spot::Global(index, offset) => Spot::Global(index, offset + bytes as usize),
            Spot::Shared(rank, offset) => Spot::Shared(rank, offset + bytes),
            Spot::Local(offset) => Spot::Local(offset + bytes),
            Spot::Param(offset) => Spot::Param(offset + bytes),
        }
    }
}
