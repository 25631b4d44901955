//! Persistent programs, at stage 2: a block runs one program after the other, and its producer fills rings for the next one meanwhile.
//!
//! *Before:* a block runs one program, whose loop multiplies what a producer fills. Nothing is multiplied until the first item has
//! arrived, nor while the result is stored. *After:* as many blocks run as are resident together. Block `b` of `B` runs the programs
//! `b`, `b + B`, .. in the order of [`Function::raster`]; items are counted on from program to program. The producer runs ahead by itself: it
//! fills the first items of the next program while the consumers convert and store the result of this one.
//! (CUTLASS calls such a kernel persistent; Osama et al., "Stream-K", PPoPP 2023, section 3, names its schedule data-parallel.)
//!
//! It is done where a producer fills the rings of one loop, which is in the kernel's own block or in a branch there, and rings of an item a
//! program; and where the rings and all other buffers lie beside each other in shared memory. A program that may wait for another one is
//! left as it is (`map_programs`).
//!
//! Where the iterations of the loop follow from the program's index along the first axis, as under a causal mask, a block runs programs in pairs: one
//! from the beginning of the axis and one from its end, which have as many iterations together as any other pair. Neighbours along the other axes
//! stay together: they read the same. (Where blocks run one program each, the hardware begins the next one where one has ended.)
//!
//! Where [teams](Function::teams) of a warpgroup take turns, a block runs its programs as before, and each team every other one of them. `turn.wait`
//! stands before the loop, and `turn.pass` behind it: one team multiplies, while the other one converts and stores its result. Nothing is
//! carried from program to program: items follow from the number of programs before.
//!
//! What does not depend on the program is computed once, before the loop over programs. The rest is its body.

use crate::analysis::defs::Defs;
use crate::entity::SideTable;
use crate::hash::WordMap;
use crate::ir::{Block, BlockData, Function, Inst, Value, in_flight};
use crate::ops::kinds::{BinaryKind, CompareKind};
use crate::ops::{Effect, GridAxis, Op, RingStep};
use crate::passes::Env;
use crate::passes::memory::map_programs;
use crate::span::Span;
use crate::types::{Constant, DType, RingId, Type};

/// Fewest slots of a ring that is worth it where a product holds the item of the turn before: with two, it waits for its operands in every
/// turn.
pub(crate) const FEWEST_SLOTS: u32 = 3;

/// Most sums of a thread where threads store the result: of four images with 180, whose results are stored in a loop, too, the assembler has each
/// product wait for the one before (`ptxas` C7514). Where results leave by bulk copies, it does so of none with up to 208.
const MOST_SUMS: usize = 160;

/// See the [module's page](self).
///
/// # Errors
/// None for a function that the verifier accepts.
pub fn persist(func: &mut Function, env: &Env) -> Result<(), String> {
    let Some(main) = MainLoop::of(func, env).filter(|_| env.persistent && func.blocks_of_cluster() == 1) else {
        return if func.teams == 1 { Ok(()) } else { Err("teams without programs to take turns".into()) };
    };
    let span = func.insts[main.inst].span;
    Writer { func, main, span, insts: Vec::new() }.write()
}

/// Whether a block with a producer runs several programs.
pub(crate) fn applies(func: &Function, env: &Env) -> bool {
    env.persistent && func.blocks_of_cluster() == 1 && MainLoop::of(func, env).is_some()
}

/// Whether a ring and all buffers, of this many bytes, lie beside each other in shared memory, and as many blocks are
/// resident then as where other buffers share the bytes of the ring. Blocks that are resident together hide each
/// other's stores, too.
pub(crate) fn fits(func: &Function, env: &Env, of_ring: u64, of_all: u64) -> bool {
    let resident = |bytes: u64| env.target.resident_blocks(func.block_threads(), 0, bytes as u32);
    fits_beside(env, of_all) && resident(of_all + MBARRIERS) >= resident(of_ring)
}

/// Whether a ring and all buffers lie beside each other at all.
pub(crate) fn fits_beside(env: &Env, of_all: u64) -> bool {
    of_all + MBARRIERS <= env.target.shared_bytes().into()
}

/// Bytes of the mbarriers of a ring's slots, at most.
const MBARRIERS: u64 = 256;

/// What has the loop with the rings, in the kernel's own block: the loop, or a branch around it.
struct MainLoop {
    inst: Inst,
    /// The first item of a program, and the one after the last.
    first: Value,
    last: Value,
    /// The items of rings that are filled once a program.
    once: Vec<Value>,
    /// Whether how many turns there are depends on the program's index along the first axis.
    is_uneven: bool,
    /// Where teams take turns, what the items of a program follow from: the bounds of the loop, and its step.
    bounds: Option<[Value; 3]>,
    /// What asks for the program's index, anywhere.
    programs: Vec<Inst>,
    /// Of the values of the kernel's own block, what depends on the program, or is neither a scalar that nothing but arguments decide nor
    /// a buffer of the ring.
    varies: SideTable<Value, bool>,
}

impl MainLoop {
    fn of(func: &Function, env: &Env) -> Option<MainLoop> {
        func.producer?;
        let inside = |inst: Inst| {
            let mut inside = Vec::new();
            func.walk_inst(inst, &mut inside);
            inside
        };
        let waited = |inst: Inst| {
            let Some(RingStep::Wait(ring, item)) = func.insts[inst].op.ring_step() else { return None };
            Some((ring, item))
        };
        // Rings of one loop count the same items.
        let own = &func.blocks[func.body].insts;
        let mut around = own.iter().filter(|&&inst| {
            !func.insts[inst].regions.is_empty() && inside(inst).into_iter().any(|inst| waited(inst).is_some())
        });
        let (&inst, None) = (around.next()?, around.next()) else { return None };
        let data = &func.insts[inst];
        let first = if let Op::For { .. } = data.op {
            *data.args.last()?
        } else if let Op::If { .. } = data.op {
            // Where there is no turn, the next item is the first one still.
            *func.yielded(*data.regions.last()?).last()?
        } else {
            return None;
        };
        let last = *data.results.last()?;
        let is_loop = |inst: &Inst| matches!(func.insts[*inst].op, Op::For { .. });
        let loops: Vec<Inst> = inside(inst).into_iter().filter(is_loop).collect();
        let &[each] = &loops[..] else { return None };
        let once: Vec<Value> = own.iter().filter_map(|&inst| waited(inst)).map(|(_, item)| item).collect();

        // A product that goes on over the back edge holds its item.
        let body = func.insts[each].regions[0];
        let products = func.block(body).filter(|(_, data)| in_flight::is_product(&data.op));
        let sums = products.flat_map(|(_, data)| data.results.iter().copied());
        let held: Vec<Value> = sums.filter(|sum| func.yielded(body).contains(sum)).collect();
        let fewest = if held.is_empty() { FEWEST_SLOTS - 1 } else { FEWEST_SLOTS };
        let of_loop = |ring: RingId| inside(each).into_iter().filter_map(waited).any(|(of, _)| of == ring);
        let has_slots = func.rings.keys().filter(|&ring| of_loop(ring)).all(|ring| func.rings[ring].slots >= fewest);
        let is_drained = func.rings.keys().any(|ring| func.is_of_results(ring));
        let bytes = |&(_, buffer): &(Inst, Value)| func.buffer_bytes(buffer);
        let buffers = func.buffers();
        let of_rings = buffers.iter().filter(|&&(_, buffer)| func.is_bulk(buffer)).map(bytes).sum();
        let fits = fits(func, env, of_rings, buffers.iter().map(bytes).sum());
        let walk = func.walk();
        // Which program failed is not known of a block that runs several.
        let asserts = walk.iter().any(|&inst| matches!(func.insts[inst].op, Op::Assert { .. }));
        if !has_slots
            || !is_drained && held.iter().any(|&sum| func.registers(sum) > MOST_SUMS)
            || !fits
            || asserts
            || walk.iter().any(|&inst| map_programs::waits(func, inst))
        {
            return None;
        }
        let mut varies = SideTable::new(false);
        for (_, data) in func.block(func.body) {
            let mut fixed = data.op.effect() == Effect::Pure && !matches!(data.op, Op::ProgramId { .. });
            data.for_each_operand(|v| fixed &= !varies[v]);
            for &result in &data.results {
                varies[result] = (!fixed || func.place_of[result].is_some()) && func.ring_of(result).is_none();
            }
        }
        // The items of a program are counted without those before it, which another team runs.
        let is_fixed = |v: Value| !varies[v] && func.ty(v).elem.num() == Some(DType::I32);
        let mut bounds = None;
        if func.teams > 1 {
            let Op::For { start, end, step } = func.insts[inst].op else { return None };
            Defs::of(func).constant(func, step).filter(|_| is_fixed(start) && is_fixed(end))?;
            bounds = Some([start, end, step]);
        }
        let programs = walk.into_iter().filter(|&inst| matches!(func.insts[inst].op, Op::ProgramId { .. })).collect();
        let is_uneven = func.teams == 1 && func.raster.is_none() && turns_by_axis(func, each) == [true, false, false];
        Some(MainLoop { inst, first, last, once, is_uneven, bounds, programs, varies })
    }
}

/// By axis, whether the turns of a loop follow from the program's index along it: nowhere, if they also follow from what is read.
fn turns_by_axis(func: &Function, each: Inst) -> [bool; 3] {
    let mut axes: SideTable<Value, [bool; 3]> = SideTable::new([false; 3]);
    let mut read = SideTable::new(false);
    for inst in func.walk() {
        let data = &func.insts[inst];
        let (mut of, mut is_read) = ([false; 3], false);
        let mut follow = |v: Value| {
            is_read |= read[v];
            of.iter_mut().zip(axes[v]).for_each(|(of, by)| *of |= by);
        };
        if inst == each {
            // Not of what it carries.
            data.op.for_each_operand(&mut follow);
            return if is_read { [false; 3] } else { of };
        }
        data.for_each_operand(&mut follow);
        if let Op::ProgramId { axis } = data.op {
            of[usize::from(axis.0)] = true;
        }
        is_read |= data.op.effect() != Effect::Pure;
        data.results.iter().for_each(|&v| (axes[v], read[v]) = (of, is_read));
    }
    [false; 3]
}

/// A ring whose slots are stored and copied to global memory after the loop: the first item of a program, and how many it has.
#[derive(Clone, Copy)]
struct Results {
    ring: RingId,
    first: Value,
    items: i128,
}

/// The programs of a launch: how many along each axis, and in a plane of the first two.
struct Grid {
    extents: [Value; 3],
    plane: Value,
}

struct Writer<'a> {
    func: &'a mut Function,
    main: MainLoop,
    span: Span,
    /// What is written so far.
    insts: Vec<Inst>,
}

impl Writer<'_> {
    fn write(mut self) -> Result<(), String> {
        let (main, own) = (self.main.inst, self.func.body);
        let body = self.func.blocks[own].insts.clone();
        let at = body.iter().position(|&inst| inst == main).ok_or("a loop that is in no block")?;
        let (before, after) = (&body[..at], &body[at + 1..]);
        let (outside, inside): (Vec<Inst>, Vec<Inst>) = before.iter().partition(|&&inst| self.is_outside(inst));

        // Before the loop over programs.
        self.insts = outside;
        let (block, blocks) = (self.op(Op::BlockId {})?, self.op(Op::NumBlocks {})?);
        let mut extents = [block; 3];
        for (axis, extent) in (0..).zip(&mut extents) {
            *extent = self.op(Op::NumPrograms { axis: GridAxis(axis) })?;
        }
        let plane = self.binary(BinaryKind::Mul, extents[0], extents[1])?;
        let programs = self.binary(BinaryKind::Mul, plane, extents[2])?;
        let none = self.constant(0)?;
        let per_program = self.main.bounds.map(|bounds| self.items_of(bounds)).transpose()?;
        let prologue = std::mem::take(&mut self.insts);

        if let Some(per_program) = per_program {
            let grid = Grid { extents, plane };
            let region = self.turn([block, blocks, per_program], &grid, (&inside, after))?;
            self.func.blocks[own].insts = prologue;
            let each = Op::For { start: block, end: programs, step: blocks };
            self.func.append_structured(own, each, Vec::new(), vec![region], &[], self.span);
            return Ok(());
        }

        // Its body. A turn carries the item of the loop, those of results, how many programs the block has run, and which of a
        // pair the program is.
        let results = self.results(after)?;
        let (index, item) = (self.func.copy_value(block), self.func.copy_value(none));
        let (mut params, mut yields) = (vec![index, item], vec![self.main.last]);
        let mut items = WordMap::from_iter([(self.main.first, item)]);
        let mut number = index;
        if self.main.is_uneven {
            let second = self.func.copy_value(none);
            number = self.paired(index, second, [block, blocks, programs])?;
            params.push(second);
            let one = self.constant(1)?;
            yields.push(self.binary(BinaryKind::Sub, one, second)?);
        }
        let counted = results.iter().map(|of| (vec![of.first], of.items));
        let once = Some((self.main.once.clone(), 1)).filter(|(firsts, _)| !firsts.is_empty());
        let counted: Vec<(Vec<Value>, i128)> = counted.chain(once).collect();
        let first_of: Vec<Value> = counted.iter().map(|_| self.func.copy_value(none)).collect();
        params.extend(&first_of);
        let current = self.program(number, &Grid { extents, plane })?;
        self.insts.extend(inside);
        self.insts.push(main);
        // The first turn of the next program releases the item of the last product, as every turn does that of the one before.
        self.insts.extend(after);
        for ((firsts, count), item) in counted.into_iter().zip(first_of) {
            let count = self.constant(count)?;
            yields.push(self.binary(BinaryKind::Add, item, count)?);
            items.extend(firsts.into_iter().map(|first| (first, item)));
        }
        let inits = vec![none; yields.len()];
        let region = self.region(params, yields, &items, current);

        self.func.blocks[own].insts = prologue;
        let each = Op::For { start: block, end: programs, step: blocks };
        let types: Vec<Type> = inits.iter().map(|&v| self.func.ty(v)).collect();
        self.func.append_structured(own, each, inits, vec![region], &types, self.span);
        Ok(())
    }

    /// How many items of the ring a program has: the iterations of a loop with these bounds, and this step.
    fn items_of(&mut self, [start, end, step]: [Value; 3]) -> Result<Value, String> {
        let (one, none) = (self.constant(1)?, self.constant(0)?);
        let length = self.binary(BinaryKind::Sub, end, start)?;
        let length = self.binary(BinaryKind::Max, length, none)?;
        let less = self.binary(BinaryKind::Sub, step, one)?;
        let length = self.binary(BinaryKind::Add, length, less)?;
        self.binary(BinaryKind::Div, length, step)
    }

    /// The body of the loop over programs where teams take turns: nothing is carried, and items follow from the number of programs that the
    /// block has run. A team has its turn from the first item that it waits for until it has waited for the last one. Items of results alternate:
    /// those of a team are in every other slot.
    fn turn(
        &mut self,
        [block, blocks, per_program]: [Value; 3],
        grid: &Grid,
        (inside, after): (&[Inst], &[Inst]),
    ) -> Result<Block, String> {
        let teams = i128::from(self.func.teams);
        let results = self.results(after)?;
        let index = self.func.copy_value(block);
        let before = self.binary(BinaryKind::Sub, index, block)?;
        let round = self.binary(BinaryKind::Div, before, blocks)?;
        let first = self.binary(BinaryKind::Mul, round, per_program)?;
        let mut items = WordMap::from_iter([(self.main.first, first)]);
        let count = self.constant(teams)?;
        let (own, team) = self.divide(round, count)?;
        for of in &results {
            let per_turn = self.constant(teams * of.items)?;
            let first = self.binary(BinaryKind::Mul, own, per_turn)?;
            items.insert(of.first, self.binary(BinaryKind::Add, first, team)?);
        }
        let current = self.program(index, grid)?;
        self.insts.extend(inside);
        for of in results {
            self.alternate(of.ring, after)?;
        }
        let (wait, pass) = (self.func.make(Op::TurnWait {}, self.span)?, self.func.make(Op::TurnPass {}, self.span)?);
        self.insts.extend([wait, self.main.inst, pass]);
        self.insts.extend(after);
        Ok(self.region(vec![index], Vec::new(), &items, current))
    }

    /// The body of the loop over programs, of what is written so far: the program's indices, and the first items that it has, in place of those of one that
    /// runs alone.
    fn region(
        &mut self,
        params: Vec<Value>,
        yields: Vec<Value>,
        items: &WordMap<Value, Value>,
        current: [Value; 3],
    ) -> Block {
        let insts = std::mem::take(&mut self.insts);
        let region = self.func.blocks.push(BlockData { params, insts });
        self.rename(region, items);
        self.func.append_structured(region, Op::Yield {}, yields, Vec::new(), &[], self.span);
        self.rename(region, &self.of_program(current));
        for block in self.func.blocks.keys().collect::<Vec<_>>() {
            self.func.blocks[block].insts.retain(|inst| !self.main.programs.contains(inst));
        }
        region
    }

    /// Gives each team slots of its own in a ring of results: items, and those that they replace, are as many apart as there are teams.
    fn alternate(&mut self, ring: RingId, after: &[Inst]) -> Result<(), String> {
        let (teams, defs) = (self.func.teams, Defs::of(self.func));
        self.func.rings[ring].slots *= teams;
        let mut counted = Vec::new();
        for &inst in after {
            let item = match self.func.insts[inst].op.ring_step() {
                Some(RingStep::Drain(buffer, item)) if self.func.ring_of(buffer).is_some_and(|of| of.0 == ring) => item,
                Some(RingStep::Release(of, item)) if of == ring => item,
                Some(_) | None => continue,
            };
            counted.extend(defs.definition(item).filter(|inst| !counted.contains(inst)));
        }
        for inst in counted {
            let Op::Binary { kind: BinaryKind::Add, a, b } = self.func.insts[inst].op else {
                return Err(format!("items of {ring} that are not counted"));
            };
            let apart = defs.constant(self.func, b).and_then(Constant::as_int);
            let apart = apart.ok_or_else(|| format!("items of {ring} that are not a constant apart"))?;
            let b = self.constant(i128::from(teams) * apart)?;
            self.func.insts[inst].op = Op::Binary { kind: BinaryKind::Add, a, b };
        }
        Ok(())
    }

    /// The rings of what a program stores after its loop.
    fn results(&self, after: &[Inst]) -> Result<Vec<Results>, String> {
        let mut results: Vec<Results> = Vec::new();
        let item_of = |inst: &Inst| {
            let (buffer, item, _) = self.func.insts[*inst].op.takes()?;
            Some((self.func.ring_of(buffer)?.0, item))
        };
        for (ring, item) in after.iter().filter_map(item_of) {
            if let Some(of) = results.iter_mut().find(|of| of.ring == ring) {
                of.items += 1;
                continue;
            }
            let made = after.iter().find(|&&inst| self.func.insts[inst].results.first() == Some(&item));
            let Some(Op::Binary { a: first, .. }) = made.map(|&inst| self.func.insts[inst].op) else {
                return Err(format!("items of {ring} that are not counted from a first one"));
            };
            results.push(Results { ring, first, items: 1 });
        }
        Ok(results)
    }

    /// Whether an instruction is done once for all programs.
    fn is_outside(&self, inst: Inst) -> bool {
        let results = &self.func.insts[inst].results;
        !results.is_empty() && results.iter().all(|&v| !self.main.varies[v])
    }

    /// The indices of a program, by its number in the order of [`Function::raster`].
    fn program(&mut self, number: Value, grid: &Grid) -> Result<[Value; 3], String> {
        let Grid { extents: [columns, rows, _], plane } = *grid;
        let (third, number) = self.divide(number, plane)?;
        let Some(width) = self.func.raster else {
            let (second, first) = self.divide(number, columns)?;
            let first = if self.main.is_uneven { self.at_both_ends(first, columns)? } else { first };
            return Ok([first, second, third]);
        };
        let width = self.constant(width.into())?;
        let in_band = self.binary(BinaryKind::Mul, rows, width)?;
        let (band, number) = self.divide(number, in_band)?;
        let first = self.binary(BinaryKind::Mul, band, width)?;
        // The last band may be narrower.
        let left = self.binary(BinaryKind::Sub, columns, first)?;
        let width = self.binary(BinaryKind::Min, left, width)?;
        let (second, inside) = self.divide(number, width)?;
        Ok([self.binary(BinaryKind::Add, first, inside)?, second, third])
    }

    /// The number of a program of which a block runs two neighbours, one after the other: the first one in one round of blocks, the `second` one in the
    /// next. Where these two rounds have less than two programs a block, the blocks that have one follow those that have two.
    fn paired(&mut self, index: Value, second: Value, [block, blocks, programs]: [Value; 3]) -> Result<Value, String> {
        let before = self.binary(BinaryKind::Mul, second, blocks)?;
        let before = self.binary(BinaryKind::Add, before, block)?;
        let round = self.binary(BinaryKind::Sub, index, before)?;
        let left = self.binary(BinaryKind::Sub, programs, round)?;
        let (over, none) = (self.binary(BinaryKind::Sub, left, blocks)?, self.constant(0)?);
        let over = self.binary(BinaryKind::Max, over, none)?;
        let pairs = self.binary(BinaryKind::Min, over, blocks)?;
        let twice = self.binary(BinaryKind::Add, block, block)?;
        let (of_pair, alone) =
            (self.binary(BinaryKind::Add, twice, second)?, self.binary(BinaryKind::Add, block, pairs)?);
        let cond = self.op(Op::Compare { kind: CompareKind::Lt, a: block, b: pairs })?;
        let number = self.op(Op::Select { cond, a: of_pair, b: alone })?;
        self.binary(BinaryKind::Add, round, number)
    }

    /// The index along an axis of this extent that begins at both ends: 0, the last one, 1, ..
    fn at_both_ends(&mut self, number: Value, extent: Value) -> Result<Value, String> {
        let (one, none) = (self.constant(1)?, self.constant(0)?);
        let half = self.binary(BinaryKind::Shr, number, one)?;
        let odd = self.binary(BinaryKind::And, number, one)?;
        let cond = self.op(Op::Compare { kind: CompareKind::Eq, a: odd, b: none })?;
        let last = self.binary(BinaryKind::Sub, extent, one)?;
        let from_last = self.binary(BinaryKind::Sub, last, half)?;
        self.op(Op::Select { cond, a: half, b: from_last })
    }

    /// Quotient and remainder.
    fn divide(&mut self, a: Value, b: Value) -> Result<(Value, Value), String> {
        let quotient = self.binary(BinaryKind::Div, a, b)?;
        let whole = self.binary(BinaryKind::Mul, quotient, b)?;
        Ok((quotient, self.binary(BinaryKind::Sub, a, whole)?))
    }

    /// What each `program_id` is in the program of these indices.
    fn of_program(&self, indices: [Value; 3]) -> WordMap<Value, Value> {
        let of = |&inst: &Inst| {
            let Op::ProgramId { axis } = self.func.insts[inst].op else { return None };
            Some((self.func.insts[inst].results[0], indices[usize::from(axis.0)]))
        };
        self.main.programs.iter().filter_map(of).collect()
    }

    /// Gives values other names in a block and inside it.
    fn rename(&mut self, block: Block, names: &WordMap<Value, Value>) {
        let mut inside = Vec::new();
        self.func.blocks[block].insts.iter().for_each(|&inst| self.func.walk_inst(inst, &mut inside));
        inside.iter().for_each(|&inst| self.func.insts[inst].map_operands(|v| names.get(&v).copied().unwrap_or(v)));
    }

    fn constant(&mut self, value: i128) -> Result<Value, String> {
        self.op(Op::Const { value: Constant::int(DType::I32, value) })
    }

    fn binary(&mut self, kind: BinaryKind, a: Value, b: Value) -> Result<Value, String> {
        self.op(Op::Binary { kind, a, b })
    }

    fn op(&mut self, op: Op) -> Result<Value, String> {
        self.func.compute(op, self.span, &mut self.insts)
    }
}
