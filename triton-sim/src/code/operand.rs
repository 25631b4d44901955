//! Operands of instructions: sources, addresses, orders.

use super::Reg;
pub use crate::check::Scope;
use crate::faults::Space;

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Src {
    /// A register.
    Reg(Reg),
    /// The negation of a predicate.
    Not(Reg),
    /// A number.
    Imm(u64),
    /// The address of a variable in shared memory, which names the block where there are several in a cluster.
    Shared(u32),
    /// A variable of the module: its address in memory, by number, and bytes that are added.
    Variable(u32, i64),
    /// A special register.
    Special(Special),
}

/// A special register. Axes: 0 is x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    Clusterid(u8),
    Nclusterid(u8),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterCtarank,
    ClusterNctarank,
    IsExplicitCluster,
    Laneid,
    Warpid,
    Nwarpid,
    LanemaskEq,
    LanemaskLt,
    LanemaskLe,
    LanemaskGt,
    LanemaskGe,
    Smid,
    Nsmid,
    Gridid,
    /// Instructions that ran, as 64 bits.
    Clock,
    /// The lower half of [`Special::Clock`].
    ClockLow,
    /// The upper half of [`Special::Clock`].
    ClockHigh,
    DynamicSmemSize,
    TotalSmemSize,
}

/// An address: base and bytes.
#[derive(Clone, Copy, Debug)]
pub struct Addr {
    /// The base.
    pub base: Src,
    /// Added to it.
    pub offset: i64,
}

/// The space that an instruction names; generic addresses tell theirs by their value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Addresses of one space; shared ones are of the own block.
    Of(Space),
    /// Addresses of shared memory of any block of the cluster.
    Cluster,
    /// Generic addresses.
    Generic,
}

/// The memory order of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Weak: races with others.
    Weak,
    /// Strong, without order.
    Relaxed(Scope),
    /// Later accesses stay after it.
    Acquire(Scope),
    /// Earlier accesses stay before it.
    Release(Scope),
    /// Both.
    AcqRel(Scope),
}

/// Vector of registers that is loaded or stored.
pub type Regs = Box<[Option<Reg>]>;
