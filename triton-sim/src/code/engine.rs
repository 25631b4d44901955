//! Operations of the asynchronous engines: bulk copies, mbarriers, `wgmma`.

use super::{Addr, Reg, Scalar, Src, Window};

/// A proxy fence orders accesses to these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProxySpaces {
    /// Shared memory.
    pub shared: bool,
    /// Global memory.
    pub global: bool,
}

/// Direction of a bulk copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bulk {
    /// Global to shared memory of the cluster, completing on an mbarrier.
    Load,
    /// Shared to global memory, completing in a bulk group.
    Store,
    /// Shared memory of the block to that of the cluster, completing on an mbarrier.
    Push,
}

/// A number of bytes, or a tensor map and coordinates.
#[derive(Clone, Debug)]
pub enum Extent {
    /// Bytes.
    Bytes(Src),
    /// Through a tensor map.
    Tensor {
        /// Its generic address.
        map: Src,
        /// Innermost first.
        coordinates: Box<[Src]>,
    },
}

/// A copy by the asynchronous engine.
#[derive(Clone, Debug)]
pub struct BulkCopy {
    /// Where to.
    pub kind: Bulk,
    /// Shared memory of this side: the destination of a load, the source of a store or a push.
    pub shared: Addr,
    /// The other side, unless it is a tensor: global memory, or the destination of a push.
    pub other: Option<Addr>,
    /// How much.
    pub extent: Extent,
    /// The mbarrier of a load or a push.
    pub mbarrier: Option<Addr>,
    /// The blocks of the cluster that receive it.
    pub multicast: Option<Src>,
    /// Combines with what is there, instead of overwriting it: element bytes and function; `None` if the map says the type.
    pub reduce: Option<Reduce>,
}

/// How a bulk reduction combines.
#[derive(Clone, Copy, Debug)]
pub enum Reduce {
    /// Elements of this many bytes by this function.
    Typed(u8, Scalar),
    /// By the type of the tensor map.
    OfMap(MapReduce),
}

/// A reduction through a tensor map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum MapReduce {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Inc,
    Dec,
}

/// `st.async`, `red.async`: a store to shared memory of the cluster that completes on an mbarrier.
#[derive(Clone, Debug)]
pub struct AsyncStore {
    /// The space of both addresses.
    pub window: Window,
    /// The destination.
    pub addr: Addr,
    /// Bytes of an element.
    pub bytes: u8,
    /// The elements.
    pub src: Box<[Src]>,
    /// Combines with what is there, instead of overwriting it.
    pub reduce: Option<Scalar>,
    /// The mbarrier.
    pub mbarrier: Addr,
}

/// How an arrival at an mbarrier releases, or a wait for it acquires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MbarrierOrder {
    /// `.relaxed`: only what fences order.
    pub relaxed: bool,
    /// With whom.
    pub scope: MbarrierScope,
}

/// The scope that an arrival releases to, or a wait acquires from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierScope {
    /// Threads of the own block: `.cta` that is written.
    Block,
    /// Threads of the cluster: wider scopes, and where none is written.
    Cluster,
}

/// An operation on an mbarrier.
#[derive(Clone, Debug)]
pub enum MbarrierOp {
    /// With a count.
    Init(Src),
    /// Invalidates it.
    Inval,
    /// Expect bytes, then arrive this often; the state goes to a register.
    Arrive {
        /// The state before.
        state: Option<Reg>,
        /// How often; 1 if none.
        count: Option<Src>,
        /// Expected bytes.
        expect: Option<Src>,
        /// Whether the barrier's own count of arrivals sinks for good.
        drop: bool,
        /// Whether it may complete the phase: not with `.noComplete`.
        completes: bool,
        /// How it releases.
        release: MbarrierOrder,
    },
    /// Expect bytes.
    ExpectTx(Src),
    /// Bytes that arrived.
    CompleteTx(Src),
    /// Whether a phase has completed.
    Wait {
        /// The answer.
        done: Reg,
        /// Parity of the phase, or its state.
        phase: WaitFor,
        /// Whether it may block.
        blocking: bool,
        /// How it acquires.
        acquire: MbarrierOrder,
    },
    /// `mbarrier.pending_count`: of a state, no memory.
    PendingCount(Reg, Src),
    /// `cp.async.mbarrier.arrive`: when the thread's copies are done.
    CopyArrive {
        /// The count of the barrier includes these arrivals.
        noinc: bool,
    },
}

/// What `mbarrier.test_wait` waits for.
#[derive(Clone, Copy, Debug)]
pub enum WaitFor {
    /// The phase of this parity.
    Parity(Src),
    /// The phase in which an arrival returned this state.
    State(Src),
}

/// Where a matrix operand comes from.
#[derive(Clone, Debug)]
pub enum Operand {
    /// Fragments in registers.
    Registers(Box<[Reg]>),
    /// A descriptor of shared memory.
    Descriptor(Src),
}

/// `wgmma.mma_async`
#[derive(Clone, Debug)]
pub struct WgmmaOp {
    /// Shape and types.
    pub form: crate::matrix::Wgmma,
    /// Accumulators.
    pub d: Box<[Reg]>,
    /// Left operand.
    pub a: Operand,
    /// Descriptor of the right operand.
    pub b: Src,
    /// Whether the old accumulators count.
    pub scale_d: Src,
    /// Whether each operand is negated.
    pub negate: [bool; 2],
    /// Whether each operand is MN-major.
    pub transposed: [bool; 2],
}
