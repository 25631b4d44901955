//! `st.async` and `red.async`: stores to shared memory of the cluster that are done at a seeded moment and complete on an
//! mbarrier.

use super::address::{LaneAccess, Location};
use super::copy::{combine, no_mbarrier};
use super::order::Asynchronous;
use super::warp::lanes;
use super::{Cluster, Cx, Pending, Run, Stop, Work};
use crate::code::{AsyncStore, Scalar};
use crate::faults::{AccessKind, Fault};

/// The store of one lane that was begun.
#[derive(Debug)]
pub(crate) struct PendingStore {
    /// Destination: rank of the block and address.
    to: (u32, u32),
    data: Vec<u8>,
    /// Bytes of an element and how it is combined with what is there.
    reduce: Option<(u8, Scalar)>,
    /// Address of an mbarrier in the same block.
    mbarrier: u32,
}

impl PendingStore {
    /// Whether it writes to the shared memory of a block.
    pub(super) fn writes_to(&self, rank: u32) -> bool {
        self.to.0 == rank
    }
}

impl Run<'_> {
    /// Performs a store.
    pub(super) fn complete_store(
        &mut self,
        cluster: &mut Cluster,
        pending: &Pending,
        store: &PendingStore,
    ) -> Result<(), Stop> {
        let &PendingStore { to: (rank, offset), ref data, reduce, mbarrier } = store;
        let (origin, bytes) = (pending.origin, data.len() as u32);
        let Some(stamp) = self.mbarrier_stamp(cluster, rank, mbarrier) else {
            return self.report_at_origin(cluster, origin, no_mbarrier(mbarrier));
        };
        let access = if reduce.is_some() { AccessKind::Atomic } else { AccessKind::Write };
        let by = Asynchronous { stamp, proxy: false };
        let to = Location::Shared(rank, offset);
        self.check_async_access(cluster, (&pending.snapshot, origin), to, bytes, access, by)?;
        let target = &mut cluster.blocks[rank as usize].shared[offset as usize..][..data.len()];
        match reduce {
            None => target.copy_from_slice(data),
            Some((size, f)) => combine(target, data, size.into(), |old, new| f(old, new, 0)),
        }
        self.statistics.copied += u64::from(bytes);
        self.complete_tx(cluster, origin, (rank, mbarrier), bytes, stamp, origin.rank != rank as usize)
    }
}

impl Cx<'_, '_> {
    pub(super) fn async_store(&mut self, store: &AsyncStore) -> Result<(), Stop> {
        let &AsyncStore { window, addr, bytes, ref src, reduce, mbarrier } = store;
        let (targets, mbarriers) = (self.addresses(addr)?, self.addresses(mbarrier)?);
        let mut values = Vec::with_capacity(src.len());
        for &part in src {
            values.push(self.read(part)?);
        }
        if self.cluster.blocks.len() == 1 {
            let problem = "an asynchronous store needs a cluster of at least two blocks".to_string();
            return Err(self.fatal(Fault::Operand { problem }));
        }
        let access = if reduce.is_some() { AccessKind::Atomic } else { AccessKind::Write };
        let lane_access = LaneAccess::natural(u32::from(bytes) * values.len() as u32, access);
        let all = self.mask;
        for lane in lanes(all) {
            self.mask = 1 << lane;
            let to = self.locate_shared(lane, window, targets[lane], lane_access)?;
            let mbarrier = self.completion_mbarrier(lane, window, mbarriers[lane], to.0, &[to.0])?;
            let data = values.iter().flat_map(|v| v[lane].to_le_bytes().into_iter().take(bytes.into())).collect();
            let reduce = reduce.map(|f| (bytes, f));
            self.enqueue(lane, Work::Store(PendingStore { to, data, reduce, mbarrier }))?;
        }
        self.mask = all;
        Ok(())
    }
}
