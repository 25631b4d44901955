//! Loop scheduling at stage 2: loads of a product's operands become fills of a ring, ahead of the products.
//!
//! *Before:* a loop loads tiles from views, stores them to shared memory, and multiplies them. *After:* the first items are filled before
//! the loop; each turn waits for its item, fills the slot of a later one, and multiplies what it waited for. Loads are never peeled: a
//! fill is issued only if the loop comes to its item.
//!
//! With `slots` slots, `slots − 1` items are in flight when a turn waits. Each turn has one barrier, between the wait and the fill: it
//! publishes the item, and ends the reads of the one before, whose slot is filled next. This is software pipelining by `cp.async` as
//! Triton does it, without a second barrier; the order is that of CUTLASS's multistage mainloop. For a product of tensor cores `carry`
//! moves the wait and the barrier before the last step along K. A product of warpgroups goes on over the back edge: the fill follows when
//! the one before it is done, and a second barrier, behind the wait, publishes what threads copied. Where threads compute and store an operand
//! of it, they store to a ring, too, beside the product of the turn before. The one barrier stands before the product then, with the fill behind it:
//! the slot that is filled is that of the product before the last, so the ring of copies has one slot more.
//!
//! Where a producer fills ([`Function::producer`], `roles`), an item is filled in its own turn, without a condition and with nothing ahead: the
//! producer runs ahead by itself, and no barrier is in the loop. What other products read is in a ring of its own then, and
//! `overlap` may rotate the loop. So is what products read in every turn, which is loaded before the loop: an item a program.
//!
//! A load is taken if nothing but a store to shared memory uses it, and nothing but products what was stored; if its
//! indices follow from the loop's counter, from what the loop does not change, and from views that nothing writes, such
//! as a table of blocks; if out of bounds it yields 0; and if nothing writes the view
//! ([`ReadOnly`](crate::analysis::read_only::ReadOnly)). So is a gather by whole vectors: its addresses are computed
//! again for the item that is filled. A rounding to tf32 may be between load and store, which bulk copies do. A tile
//! whose axes are permuted, or that is reshaped, is filled as it is loaded, and products see the slot in the other
//! shape. A ring has as many slots as `num_stages`, or the number of stages of its loop, and the memory of a block
//! allow, and is not made for less than two. A loop that asks for two or more itself has two where they do not fit:
//! that is then an error.
//!
//! An operand that is converted, scaled or combined with others before a product takes it is loaded ahead as it is in memory: `conversions`
//! finds such loads, and threads that convert elements read from the ring what they would have loaded.
//!
//! Three steps with data between: `candidates` are the loops and loads that rings could take, a `Plan` says which of
//! them do and how many slots each ring has, and `write` makes it so.

mod candidates;
mod conversions;
mod explain;
mod overlap;
mod plan;
mod readers;
mod roles;
mod write;

use crate::ir::{Block, Function, Inst, LayoutId, Producer, Value};
use crate::ops::{Location, Op};
use crate::passes::Env;
use conversions::Conversions;
pub(crate) use explain::explain;

/// See the [module's page](self).
///
/// # Errors
/// None for a function that the verifier accepts.
pub fn schedule(func: &mut Function, env: &Env) -> Result<(), String> {
    if let Some((mut staged, plan)) = converted(func, env)? {
        write::write(&mut staged, &plan)?;
        *func = staged;
        return Ok(());
    }
    let candidates = candidates::candidates(func, env, &Kept::default());
    if candidates.is_empty() {
        return Ok(());
    }
    let plan = Plan::of(func, env, candidates)?;
    write::write(func, &plan)
}

/// The function with loads of converted operands stored as they are, and the rings that take them: those that no ring takes stay as they
/// were. `None` if there are none, or no room.
fn converted(func: &Function, env: &Env) -> Result<Option<(Function, Plan)>, String> {
    let mut conversions = conversions::find(func);
    if let Some(found) = by_bulk_copies(func, env, &conversions)? {
        return Ok(Some(found));
    }
    while !conversions.is_empty() {
        let mut staged = func.clone();
        let made = conversions::stage(&mut staged, &conversions, false)?.unwrap_or_default();
        let candidates = candidates::candidates(
            &staged,
            env,
            &Kept { staged: [&made[..], &conversions.buffers].concat(), bulk: false },
        );
        let is_in = |loops: &[Loop], buffer: Value| loops.iter().any(|of| of.copies.iter().any(|c| c.buffer == buffer));
        let all = |loops: &[Loop]| made.iter().chain(&conversions.buffers).all(|&buffer| is_in(loops, buffer));
        if all(&candidates) {
            let plan = Plan::of(&staged, env, candidates)?;
            return Ok(all(&plan.loops).then_some((staged, plan)));
        }
        let mut taken = made.iter().map(|&buffer| is_in(&candidates, buffer));
        conversions.loads.retain(|_| taken.next() == Some(true));
        conversions.buffers.retain(|&buffer| is_in(&candidates, buffer));
    }
    Ok(None)
}

/// The function with loads of converted operands stored as they are by bulk copies, whose loops have slots that threads store to.
fn by_bulk_copies(func: &Function, env: &Env, conversions: &Conversions) -> Result<Option<(Function, Plan)>, String> {
    if conversions.loads.is_empty() || !conversions.buffers.is_empty() || !env.target.info().bulk_copies {
        return Ok(None);
    }
    let mut staged = func.clone();
    let Some(made) = conversions::stage(&mut staged, conversions, true)? else { return Ok(None) };
    let kept = Kept { staged: made, bulk: true };
    let candidates = candidates::candidates(&staged, env, &kept);
    let has = |of: &Loop, buffer: Value| of.copies.iter().any(|copy| copy.bulk && copy.buffer == buffer);
    let all = |loops: &[Loop]| kept.staged.iter().all(|&v| loops.iter().any(|of| has(of, v) && !of.stored.is_empty()));
    if !all(&candidates) {
        return Ok(None);
    }
    let plan = Plan::of(&staged, env, candidates)?;
    Ok(all(&plan.loops).then_some((staged, plan)))
}

/// What is made for rings before they are.
#[derive(Default)]
struct Kept {
    /// Buffers from which threads read, and not products.
    staged: Vec<Value>,
    /// Whether bulk copies fill them.
    bulk: bool,
}

/// Every `for`, and the block it is in.
fn loops(func: &Function) -> Vec<(Block, Inst)> {
    let of = |block: Block| func.blocks[block].insts.iter().map(move |&inst| (block, inst));
    func.blocks.keys().flat_map(of).filter(|&(_, inst)| matches!(func.insts[inst].op, Op::For { .. })).collect()
}

/// The most slots of the rings of any loop.
fn most_stages(func: &Function) -> u32 {
    loops(func).into_iter().map(|(_, inst)| func.stages(inst)).max().unwrap_or(1)
}

/// Which rings there are to be.
struct Plan {
    loops: Vec<Loop>,
    /// The slots of each ring, if its loop asks for as many.
    slots: u32,
    /// As of [`Function::peers`].
    peers: u32,
    /// As of [`Function::producer`].
    producer: Option<Producer>,
    /// As of [`Function::teams`].
    teams: u32,
    /// Whether loops are rotated, where they can be: see [`overlap`].
    overlaps: bool,
    /// The slots of what is filled once a program.
    once: u32,
}

/// A loop with loads that a ring can take.
#[derive(Clone)]
struct Loop {
    /// The block that it is in, and its instruction.
    block: Block,
    inst: Inst,
    copies: Vec<Copy>,
    /// Its product that goes on over the back edge, if there is one.
    in_flight: Option<Flight>,
    /// Operands of that product that threads compute and store: while it goes on they store those of the next turn.
    stored: Vec<Stored>,
    /// Loads before the loop that nothing but its products read: a producer fills them once a program.
    once: Vec<Copy>,
}

/// A buffer that threads store an operand to.
#[derive(Clone, Copy)]
struct Stored {
    alloc: Inst,
    buffer: Value,
    /// Of the tile that is stored.
    layout: LayoutId,
}

impl Loop {
    /// Whether fills, rings and slots stand for an instruction.
    fn replaces(&self, inst: &Inst) -> bool {
        let Loop { copies, stored, .. } = self;
        copies.iter().any(|c| [c.load, c.store, c.alloc].contains(inst) || c.rounding == Some(*inst))
            || stored.iter().any(|of| of.alloc == *inst)
    }

    /// Slots that a ring has beside those of its stages: a product that goes on holds its item until the next one has begun, if threads
    /// store an operand meanwhile.
    fn held(&self) -> u32 {
        u32::from(!self.stored.is_empty())
    }
}

/// The slots of what threads store: one is stored to, while a product reads the one before, and another thread's product may still read
/// the one before that.
const STORED: u32 = 3;

/// A load whose tile goes to a buffer that products read.
#[derive(Clone)]
struct Copy {
    load: Inst,
    /// What rounds the tile to tf32 before it is stored: bulk copies do so, too.
    rounding: Option<Inst>,
    store: Inst,
    alloc: Inst,
    from: Location,
    /// What computes the location for another iteration.
    slice: Vec<Inst>,
    buffer: Value,
    layout: LayoutId,
    /// Whether bulk copies can fill the buffer.
    bulk: bool,
    /// Whether threads can, by copies that are wide enough.
    wide: bool,
    /// Whether multicast peers share it.
    shared: bool,
}

/// A product that goes on over the back edge of its loop.
#[derive(Clone, Copy)]
struct Flight {
    /// The wait for it, and what that yields.
    wait: Inst,
    done: Value,
    /// What it adds to, a parameter of the loop.
    acc: Value,
    sum: Value,
    /// The sum after the loop.
    last: Value,
}
