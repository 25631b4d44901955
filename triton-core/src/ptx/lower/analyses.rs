//! What analyses say of the function: found before the first instruction, and never changed. It holds for the whole
//! kernel, since it is about values and not about registers.

use crate::analysis::axis::{self, AxisInfo};
use crate::entity::SideTable;
use crate::ir::in_flight::InFlight;
use crate::ir::{Function, Value};
use crate::metadata::Specialization;
use crate::ptx::lower::demand::{self, Demand};
use crate::ptx::lower::loop_carried::LoopCarried;

/// What is known of a function at stage 2. Lowering has it by a shared reference.
pub(crate) struct Analyses {
    /// Numbers and pointers: constants, divisibility, equal neighbours.
    pub facts: SideTable<Value, AxisInfo>,
    /// What is read of each value.
    pub demand: Demand,
    /// What loops carry for products.
    pub loop_carried: LoopCarried,
    /// Of what a wait for a product yields, how many began after that.
    pub newer: SideTable<Value, Option<u32>>,
}

impl Analyses {
    /// Those of a function, under what its launches promise.
    pub fn of(func: &Function, promise: Specialization) -> Analyses {
        let facts = axis::analyse(func, promise);
        let demand = demand::analyse(func, &facts);
        let loop_carried = LoopCarried::of(func, demand.defs());
        Analyses { facts, demand, loop_carried, newer: InFlight::of(func).newer }
    }
}
