//! The tile IR: one kernel instance between the surface language and PTX. This page is its specification.
//!
//! # Structure
//! A [`Function`] has parameters and a body [`Block`]; a block has parameters and a list of instructions, each one operation
//! of [`crate::ops`] with its results. Control flow is structured: `for`, `while` and `if` own blocks (*regions*), which end
//! in a `yield`. Values are in SSA form and scoped lexically: defined once, used after their definition in the same block or
//! in a block inside it (no CFG, no dominator tree). Parts are named by `u32` ids that print as in the text form; facts
//! about values live in side tables.
//!
//! | operation | arguments | regions | results |
//! |---|---|---|---|
//! | `for start, end, step` | initial values | body(counter, carried) yields carried | final values |
//! | `while` | initial values | condition(carried) yields a `bool`; body(carried) yields carried | final values |
//! | `if cond` | none | two, without parameters; both yield the results | what the branch that ran yields |
//!
//! A `for` counts up by a positive step while the counter is below `end`; it never wraps.
//!
//! # Meaning
//! A kernel runs as a grid of *programs*; each executes the body once, in order, over tiles. Elementwise operations act
//! on operands of equal shape; nothing is converted or broadcast implicitly. Integers wrap; division by zero is an error
//! of the program; shifts by the width or more give 0 (or the sign). Float arithmetic is IEEE, subnormals kept, a NaN
//! result is any NaN; comparisons are ordered except `ne`; `min`/`max` return the number when one side is NaN, and −0 <
//! +0. Memory is global and addressed by bytes. An access is through pointers, under a mask, or to a view from an index on: along each
//! axis the indices are the first one and those after it, in its type, and an element is in bounds if each index is at least 0 and
//! below the extent. Elements that are masked off or out of bounds are neither read nor written.
//! [`crate::interp`] is this meaning as a program.
//!
//! # Stages
//! | stage | what holds |
//! |---|---|
//! | [`Stage::Tile`] | a value has a [`Type`] and nothing else |
//! | [`Stage::LaidOut`] | every tile has a [`Layout`]: which thread's register holds which element |
//! | [`Stage::Synchronized`] | a tile has a layout, or is in shared memory and has a [`Mem`]; every barrier is written, and loads ahead of their use are fills of a [`Ring`] |
//!
//! **Invariant:** the verifier tells the stages apart; no operation exists twice for two stages.
//!
//! # Text
//! ```text
//! source "src/main.rs"
//! kernel add(v0 x: ptr<f32>, v1 out: ptr<mut f32>, v2 n: i32) warps 4 {
//!   v3 = arange 0, 128 : i32[128] @0:4:13
//!   v4 = splat v2, [128] : i32[128]
//!   v5 = lt v3, v4 : bool[128]
//! }
//! ```
//! A line `view v0 [v1,v2] [v3,v4]` before the instructions says that parameters are a view: its address, extents and
//! strides. A line `ring r0 slots 3 lead 2 [v5,v6] [#0,#1]` says that buffers are a ring, and which threads fill
//! them, this many items ahead; `bulk` in place of `lead 2` that one thread does, `stored` that threads store to it, `v5.tf32` that it rounds, `v5.padding=0xff80` what elements
//! out of bounds are, and `v5.shared` that the blocks of a cluster fill it together. Attributes follow the number of
//! warps: `producer warp` or `producer warpgroup` is who fills rings, if not one of them, `cluster 8` is how many blocks run a program together, `peers 2` how many programs are a cluster, `stages 3`
//! the most slots that a ring may have (after the operands of a `for`, one of that loop), `raster 8` the width of the
//! bands in which blocks walk the grid, `registers 64` the most registers of a thread, `cluster_k 4` how many blocks
//! are to share the K of a product, `targets sm_90a` what there is code for, and `fast_math` relaxes float arithmetic.
//! A parameter may end in `multiple_of N`, and in what is promised of it, `general`, `unit`, `pitch N` or `extent N`, and behind an `or` in
//! what is promised of it in each other order of operands; a
//! position is `@file:line:column`; behind it ` in c0` says that it is in the body of an inlined function, and a line
//! `call c0 = gelu @0:4:13` before the kernel where that is called; from stage 1 on a result's type is followed by its layout, `#0`, declared before
//! the kernel; at stage 2, which a line `synchronized` announces, in shared memory by `%0`, declared likewise. `;`
//! begins a comment. `print ∘ parse` is the identity. Arguments follow `with`, regions stand in braces with their
//! parameters between bars:
//! ```text
//!   v9 = for v1, v2, v3 with v4 : f32[128] { |v5: i32, v6: f32[128]|
//!     v7 = add v6, v6 : f32[128]
//!     yield with v7
//!   }
//!   v12 = if v10 : i32 {
//!     yield with v1
//!   } {
//!     yield with v2
//!   }
//! ```

mod clusters;
mod copies;
pub mod folds;
pub mod in_flight;
mod layouts;
mod operands;
mod orders;
pub mod parse;
pub mod print;
mod programs;
pub mod rings;
pub mod roles;
mod shapes;
pub mod verify;

use crate::entity::{Arena, Interner, SideTable, entity};
use crate::hash::WordMap;
use crate::layout::{Layout, Mem};
use crate::metadata::{Promised, Targets};
use crate::ops::{self, Given, LayoutRule, Location, Op, Signature};
use crate::span::{Sources, Span};
use crate::types::{DType, Elem, Type};

pub use crate::types::{RingId, Stage, Value};
pub use layouts::Layouts;
pub use rings::{Fill, Item, Mbarrier, Ring, RingBuffer};
pub use roles::{Producer, Role};

entity!(
    /// An instruction.
    Inst,
    "i"
);
entity!(
    /// A list of instructions.
    Block,
    "b"
);
entity!(
    /// A layout of the function's table.
    LayoutId,
    "#"
);
entity!(
    /// A layout of shared memory, of the function's table.
    MemId,
    "%"
);

/// Where a tile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In registers of threads.
    Registers(LayoutId),
    /// In shared memory.
    Shared(MemId),
}

/// A kernel instance in tile IR.
#[derive(Clone, Debug)]
pub struct Function {
    /// The kernel's name.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// The views among them.
    pub views: Vec<View>,
    /// Warps of a block, among which layouts divide tiles.
    pub num_warps: u32,
    /// Teams of this many warps in a block, which run its programs in turns: 1, or 2 where a producer fills what each of them multiplies.
    /// See [`roles`].
    pub teams: u32,
    /// Further warps of a block, which fill its rings; `None` if one of the others does. See [`roles`].
    pub producer: Option<Producer>,
    /// Blocks that run one program together, as a *cluster*, a power of two: see `passes::layouts::partition`.
    /// What an operation yields is then a block's own.
    pub cluster: u32,
    /// Peers along the first axis that run as one cluster, a block each, and share what they load: see
    /// `passes::memory::multicast`. Where they do not divide the programs, a block has an index past the last
    /// one: it stores nothing. 1 if there is no such cluster.
    pub peers: u32,
    /// The most slots of a ring, of [`STAGES`](crate::types::STAGES); 1 if there are to be none.
    pub num_stages: u32,
    /// The same of a `for` that says so itself.
    pub stages_of: SideTable<Inst, Option<u32>>,
    /// The width of the bands along the first axis in which blocks walk the grid of programs (grouped raster), a power of two: band after
    /// band, and in a band all along the first axis before the next index along the second one. `None` if block (x, y, z) runs
    /// program (x, y, z), first axis first.
    pub raster: Option<u32>,
    /// The most registers of a thread, of [`REGISTERS`](crate::types::REGISTERS), if it is not for the assembler to choose.
    pub max_registers: Option<u32>,
    /// Blocks that are to share the K of the product in its loop, of [`CLUSTER_K`](crate::types::CLUSTER_K), on targets
    /// with clusters; 1 if one block has all of it. See `passes::layouts::partition`.
    pub cluster_k: u32,
    /// What it has code for.
    pub targets: Targets,
    /// Whether float arithmetic may be relaxed (`passes::values::relax`).
    pub fast_math: bool,
    /// The instructions.
    pub body: Block,
    /// The stage it is in.
    pub stage: Stage,
    /// Where the instructions' spans lie.
    pub sources: Sources,
    /// Messages of assertions, and lines to print.
    pub texts: Vec<String>,
    /// Blocks.
    pub blocks: Arena<Block, BlockData>,
    /// Instructions. One that is in no block is dead.
    pub insts: Arena<Inst, InstData>,
    /// The type of each value.
    pub types: Arena<Value, Type>,
    /// Layouts of registers, from stage 1 on.
    pub layouts: Layouts,
    /// Layouts of shared memory, at stage 2.
    pub mems: Interner<MemId, Mem>,
    /// Buffers that are filled ahead, at stage 2.
    pub rings: Arena<RingId, Ring>,
    /// Where each tile is, from stage 1 on.
    pub place_of: SideTable<Value, Option<Place>>,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// The value it is in the body.
    pub value: Value,
    /// Its name.
    pub name: String,
    /// A precondition of the launch: the value, or the address in bytes, is a multiple of this.
    pub multiple_of: u32,
    /// What the specializations promise of it.
    pub promised: Promised,
    /// What they promise of it in each other [order](crate::metadata::Image::order); nothing where that is the same.
    pub orders: Vec<Promised>,
}

/// A view: the parameters that it arrives as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The address of its first element.
    pub base: Value,
    /// Its extent along each axis, in elements; `i32`.
    pub extents: Vec<Value>,
    /// Elements between neighbours along each axis; `i64`.
    pub strides: Vec<Value>,
}

/// A block: what it is given, and what it does.
#[derive(Clone, Debug, Default)]
pub struct BlockData {
    /// Parameters, given by the operation that owns the block.
    pub params: Vec<Value>,
    /// The instructions, in order.
    pub insts: Vec<Inst>,
}

/// An instruction: an operation, what it takes and yields, and where it came from.
#[derive(Clone, Debug)]
pub struct InstData {
    /// What it does, with the operands every instance of the operation has.
    pub op: Op,
    /// Further operands, as many as the operation needs: loop-carried values, the results of a `yield`.
    pub args: Vec<Value>,
    /// The blocks it owns.
    pub regions: Vec<Block>,
    /// Its results.
    pub results: Vec<Value>,
    /// The expression it was made from.
    pub span: Span,
}

impl InstData {
    /// Calls `f` with every operand: those of the operation, then the arguments.
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        self.op.for_each_operand(&mut f);
        self.args.iter().copied().for_each(f);
    }

    /// The tile whose layout says which threads make its access to memory, if it makes one.
    pub fn accessed_tile(&self) -> Option<Value> {
        self.op.access()?.tile.or(self.results.first().copied())
    }

    /// Replaces every operand.
    pub fn map_operands(&mut self, mut f: impl FnMut(Value) -> Value) {
        self.op.map_operands(&mut f);
        self.args.iter_mut().for_each(|arg| *arg = f(*arg));
    }
}

/// One position of what a loop or a branch carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The value after the loop or the branch.
    pub result: Value,
    /// The initial value; a branch has none.
    pub init: Option<Value>,
    /// The parameter of each region; a branch has none.
    pub params: [Option<Value>; 2],
    /// What each region yields for it; the condition of a loop yields nothing.
    pub yields: [Option<Value>; 2],
}

impl Carried {
    /// All of its values.
    pub fn values(self) -> impl Iterator<Item = Value> {
        [Some(self.result), self.init].into_iter().chain(self.params).chain(self.yields).flatten()
    }
}

impl Function {
    /// A function without parameters and instructions.
    pub fn new(name: impl Into<String>, num_warps: u32) -> Function {
        let mut blocks = Arena::default();
        let body = blocks.push(BlockData::default());
        Function {
            name: name.into(),
            params: Vec::new(),
            views: Vec::new(),
            num_warps,
            teams: 1,
            producer: None,
            cluster: 1,
            peers: 1,
            num_stages: 1,
            stages_of: SideTable::new(None),
            raster: None,
            max_registers: None,
            cluster_k: 1,
            targets: Targets::ALL,
            fast_math: false,
            body,
            stage: Stage::Tile,
            sources: Sources::default(),
            texts: Vec::new(),
            blocks,
            insts: Arena::default(),
            types: Arena::default(),
            layouts: Layouts::default(),
            mems: Interner::default(),
            rings: Arena::default(),
            place_of: SideTable::new(None),
        }
    }

    /// Adds a parameter.
    pub fn add_param(&mut self, name: impl Into<String>, ty: Type, multiple_of: u32, promised: Promised) -> Value {
        let value = self.types.push(ty);
        self.params.push(Param { value, name: name.into(), multiple_of, promised, orders: Vec::new() });
        value
    }

    /// Whether a parameter is a raw pointer, and not the address of a view: then nothing says which of its integers are extents and strides.
    pub fn takes_pointers(&self) -> bool {
        let is_raw =
            |param: &Param| matches!(self.ty(param.value).elem, Elem::Ptr { .. }) && self.view(param.value).is_none();
        self.params.iter().any(is_raw)
    }

    /// Appends an instruction to a block. Its result types are those of [`crate::ops::infer`].
    ///
    /// # Errors
    /// The operands do not fit the operation; the sentence says why.
    pub fn append(&mut self, block: Block, op: Op, span: Span) -> Result<Option<Value>, String> {
        let inst = self.make(op, span)?;
        self.blocks[block].insts.push(inst);
        Ok(self.insts[inst].results.first().copied())
    }

    /// Appends an instruction with arguments and regions. `results` are the types of its results.
    pub fn append_structured(
        &mut self,
        block: Block,
        op: Op,
        args: Vec<Value>,
        regions: Vec<Block>,
        results: &[Type],
        span: Span,
    ) -> Vec<Value> {
        let results: Vec<Value> = results.iter().map(|&ty| self.types.push(ty)).collect();
        let inst = self.insts.push(InstData { op, args, regions, results: results.clone(), span });
        self.blocks[block].insts.push(inst);
        results
    }

    /// A new block with parameters of these types.
    pub fn add_block(&mut self, params: &[Type]) -> Block {
        let params = params.iter().map(|&ty| self.types.push(ty)).collect();
        self.blocks.push(BlockData { params, insts: Vec::new() })
    }

    /// Makes an instruction that is in no block yet.
    ///
    /// # Errors
    /// As [`Function::append`].
    pub fn make(&mut self, op: Op, span: Span) -> Result<Inst, String> {
        let results = match ops::infer(&op, &|v| self.types[v], Given::default())? {
            Signature::Plain(ty) => ty.into_iter().map(|ty| self.types.push(ty)).collect(),
            Signature::Structured { .. } => return Err(format!("`{}` without arguments and regions", op.mnemonic())),
        };
        Ok(self.insts.push(InstData { op, args: Vec::new(), regions: Vec::new(), results, span }))
    }

    /// Makes an instruction, adds it to some that a block will have, and yields its result.
    ///
    /// # Errors
    /// As [`Function::make`], or an operation that yields nothing.
    pub fn compute(&mut self, op: Op, span: Span, insts: &mut Vec<Inst>) -> Result<Value, String> {
        let inst = self.make(op, span)?;
        insts.push(inst);
        self.insts[inst].results.first().copied().ok_or_else(|| format!("`{}` yields nothing", op.mnemonic()))
    }

    /// A value of the same type, in the same place.
    pub fn copy_value(&mut self, value: Value) -> Value {
        let copy = self.types.push(self.types[value]);
        self.place_of[copy] = self.place_of[value];
        copy
    }

    /// Gives values other names, in all instructions but those that yield these.
    pub fn replace_uses(&mut self, renamed: &WordMap<Value, Value>) {
        for inst in self.walk() {
            let data = &mut self.insts[inst];
            let yields = data.results.clone();
            data.map_operands(|v| renamed.get(&v).copied().filter(|to| !yields.contains(to)).unwrap_or(v));
        }
    }

    /// An instruction without regions once more, with results of its own, in no block yet.
    pub fn copy_inst(&mut self, inst: Inst) -> Inst {
        let mut data = self.insts[inst].clone();
        data.results = data.results.into_iter().map(|v| self.copy_value(v)).collect();
        self.insts.push(data)
    }

    /// A block of the same instructions, with values of its own.
    pub fn copy_block(&mut self, block: Block) -> Block {
        self.copy_renamed(block, &mut WordMap::default())
    }

    fn copy_renamed(&mut self, block: Block, renamed: &mut WordMap<Value, Value>) -> Block {
        let BlockData { params, insts } = self.blocks[block].clone();
        let params = params.into_iter().map(|v| self.renamed(v, renamed)).collect();
        let copy = self.blocks.push(BlockData { params, insts: Vec::new() });
        for inst in insts {
            let (mut data, stages) = (self.insts[inst].clone(), self.stages_of[inst]);
            data.map_operands(|v| renamed.get(&v).copied().unwrap_or(v));
            data.regions = data.regions.into_iter().map(|region| self.copy_renamed(region, renamed)).collect();
            let results = std::mem::take(&mut data.results);
            data.results = results.into_iter().map(|v| self.renamed(v, renamed)).collect();
            let inst = self.insts.push(data);
            if stages.is_some() {
                self.stages_of[inst] = stages;
            }
            self.blocks[copy].insts.push(inst);
        }
        copy
    }

    fn renamed(&mut self, value: Value, renamed: &mut WordMap<Value, Value>) -> Value {
        let copy = self.copy_value(value);
        renamed.insert(value, copy);
        copy
    }

    /// The view whose elements begin at this parameter.
    pub fn view(&self, base: Value) -> Option<&View> {
        self.views.iter().find(|view| view.base == base)
    }

    /// The type of the elements at a location; `None` where there is no pointer to them.
    pub fn pointee(&self, at: Location) -> Option<DType> {
        match self.ty(at.pointer()).elem {
            Elem::Ptr { pointee, .. } => Some(pointee),
            Elem::Num(_) => None,
        }
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.types[value]
    }

    /// The layout of a tile in registers, by its id.
    pub fn layout_id(&self, value: Value) -> Option<LayoutId> {
        match self.place_of[value]? {
            Place::Registers(id) => Some(id),
            Place::Shared(_) => None,
        }
    }

    /// The layout of a tile in registers.
    pub fn layout(&self, value: Value) -> Option<&Layout> {
        self.layout_id(value).map(|id| &self.layouts[id])
    }

    /// Sets the layout of a tile in registers.
    pub fn set_layout(&mut self, value: Value, layout: Layout) {
        let id = self.layouts.intern(layout);
        self.place_of[value] = Some(Place::Registers(id));
    }

    /// The layout of a tile in shared memory, by its id.
    pub fn mem_id(&self, value: Value) -> Option<MemId> {
        match self.place_of[value]? {
            Place::Registers(_) => None,
            Place::Shared(id) => Some(id),
        }
    }

    /// The layout of a tile in shared memory; `None` if it is not there.
    pub fn mem(&self, value: Value) -> Option<&Mem> {
        self.mem_id(value).map(|id| &self.mems[id])
    }

    /// Sets the layout of a tile in shared memory.
    pub fn set_mem(&mut self, value: Value, mem: Mem) {
        let id = self.mems.intern(mem);
        self.place_of[value] = Some(Place::Shared(id));
    }

    /// The instructions of a block, in order.
    pub fn block(&self, block: Block) -> impl Iterator<Item = (Inst, &InstData)> {
        self.blocks[block].insts.iter().map(|&i| (i, &self.insts[i]))
    }

    /// Every instruction that can run, in the order of the text: an instruction before those of its regions.
    pub fn walk(&self) -> Vec<Inst> {
        let mut order = Vec::with_capacity(self.insts.len());
        self.walk_block(self.body, &mut order);
        order
    }

    fn walk_block(&self, block: Block, order: &mut Vec<Inst>) {
        self.blocks[block].insts.iter().for_each(|&inst| self.walk_inst(inst, order));
    }

    /// Adds an instruction and those inside it, in the order of the program.
    pub fn walk_inst(&self, inst: Inst, order: &mut Vec<Inst>) {
        order.push(inst);
        self.insts[inst].regions.iter().for_each(|&region| self.walk_block(region, order));
    }

    /// Every value that instructions and blocks define, without the parameters.
    pub fn defined(&self) -> Vec<Value> {
        let of = |inst: Inst| {
            let data = &self.insts[inst];
            let params = data.regions.iter().flat_map(|&region| self.blocks[region].params.iter());
            data.results.iter().chain(params).copied().collect::<Vec<_>>()
        };
        self.walk().into_iter().flat_map(of).collect()
    }

    /// Which values an instruction that can run has as an operand.
    pub fn used(&self) -> SideTable<Value, bool> {
        let mut used = SideTable::new(false);
        for inst in self.walk() {
            self.insts[inst].for_each_operand(|v| used[v] = true);
        }
        used
    }

    /// What a block yields to the operation that owns it.
    pub fn yielded(&self, block: Block) -> &[Value] {
        self.blocks[block].insts.last().map_or(&[], |&last| &self.insts[last].args)
    }

    /// What a loop or a branch carries, position by position: none of other instructions.
    pub fn carried(&self, inst: &InstData) -> impl Iterator<Item = Carried> {
        let results = if inst.op.layout_rule() == LayoutRule::Carried { &inst.results[..] } else { &[] };
        results.iter().enumerate().map(move |(i, &result)| {
            let (mut params, mut yields) = ([None; 2], [None; 2]);
            for (k, &region) in inst.regions.iter().enumerate().take(2) {
                // A counter comes before what is carried.
                let given = &self.blocks[region].params;
                params[k] = given.len().checked_sub(inst.args.len()).and_then(|own| given.get(own + i).copied());
                let tests = inst.op == Op::While {} && k == 0;
                yields[k] = self.yielded(region).get(i).copied().filter(|_| !tests);
            }
            Carried { result, init: inst.args.get(i).copied(), params, yields }
        })
    }

    /// Which values blocks define, and those inside them.
    pub fn defined_in(&self, blocks: &[Block]) -> SideTable<Value, bool> {
        let mut inside = SideTable::new(false);
        let mut open = blocks.to_vec();
        while let Some(block) = open.pop() {
            self.blocks[block].params.iter().for_each(|&v| inside[v] = true);
            for (_, data) in self.block(block) {
                data.results.iter().for_each(|&v| inside[v] = true);
                open.extend(&data.regions);
            }
        }
        inside
    }

    /// Whether any instruction of a block, or inside one, is of this kind.
    pub fn contains(&self, block: Block, mut is: impl FnMut(&Op) -> bool) -> bool {
        let mut order = Vec::new();
        self.walk_block(block, &mut order);
        order.into_iter().any(|inst| is(&self.insts[inst].op))
    }
}
