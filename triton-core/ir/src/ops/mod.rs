//! The operations of the tile IR, each declared once.
//!
//! A row of `ops!` is data: name, mnemonic, typed fields, effect, how layouts meet in it, the first stage that it is
//! for, how many blocks it owns, doc. From it come the variant of [`Op`], its operands, printer, parser and the row of
//! [`OPS`]. Behaviour is a few exhaustive matches with a line for each operation: [`infer`] (typing: used by the
//! checker, the builder and the verifier), [`crate::interp`] (meaning), `passes::layouts::place` (layouts) and
//! `ptx::lower` (code); one that does the same for all operations of a group, such as those of a ring, names the group. Elementwise operations are rows of the smaller tables in [`kinds`]; what combines the elements
//! along an axis is a row of [`FoldKind`].
//!
//! **Invariant:** an operation knows its operands and their types, but not the function that it is in.

mod acts;
pub mod cluster;
pub mod double;
pub mod eval;
mod field;
pub mod fold;
mod infer;
pub mod kinds;
pub mod log;
mod memory;
mod order;
pub mod outer;
pub mod steps;
pub mod trig;

pub use acts::{Agent, Control, RingOp, RingStep};
pub use field::{GridAxis, Reader};
pub(crate) use infer::list;
pub use infer::{Given, Signature, accumulator, bitcasts, infer, product};
pub use memory::{Access, AccessEffect, Memory};
pub use order::MemoryOrder;
pub use outer::Outer;

use crate::types::{Constant, DType, RingId, Shape, Stage, Type, Value};
use field::Field;
pub use field::{DotKind, Location, Scope, Text, Values};
pub use fold::{BitOrder, FoldKind};
use kinds::{AtomicKind, BinaryKind, CompareKind, HintKind, TernaryKind, UnaryKind};

/// What an operation does besides yielding a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it can be shared, moved and dropped. (An integer division that fails is not an effect one may rely on.)
    Pure,
    /// Reads memory: it can be dropped, but not moved over a write.
    Read,
    /// Writes memory.
    Write,
    /// The effects of the blocks it owns; or it ends one.
    Control,
}

/// How the layouts of an operation's operands and of its result are related, as far as they are tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutRule {
    /// It is given no tile; one that it yields may be made in any layout.
    Unconstrained,
    /// All of them share one: elementwise.
    Elementwise,
    /// No element moves between threads: a change of shape of one tile ([`ShapeChange`]), or of a scalar.
    ShapeChange,
    /// By a rule of the operation's own.
    Own,
    /// The arguments and results of its blocks keep one layout throughout.
    Carried,
}

/// A row of the table, for documentation and tests.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The variant's name.
    pub name: &'static str,
    /// The word of the text form; for families, the words of all members.
    pub mnemonics: &'static [&'static str],
    /// Names of the fields, in the order of the text form.
    pub fields: &'static [&'static str],
    /// The effect.
    pub effect: Effect,
    /// The first stage that it is for.
    pub stage: Stage,
    /// For families, how exact each member is, in the order of `mnemonics`: the bound in ulp, where 0
    /// stands for exact or correctly rounded. Other operations have none.
    pub ulps: &'static [u32],
    /// The doc comment.
    pub doc: &'static str,
}

macro_rules! ops {
    (
        operations { $( $(#[doc = $doc:literal])* $name:ident = $mnemonic:literal { $($field:ident : $fty:ty),* } $effect:ident $layouts:ident $stage:ident $regions:literal; )* }
        families { $( $(#[doc = $fdoc:literal])* $fname:ident of $kind:ident { $($ffield:ident : $ffty:ty),* } $flayouts:ident $fregions:literal; )* }
    ) => {
        /// An operation with its operands.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "fields are documented by the operation's sentence")]
        pub enum Op {
            $( $(#[doc = $doc])* $name { $($field: $fty),* }, )*
            $( $(#[doc = $fdoc])* $fname { kind: $kind, $($ffield: $ffty),* }, )*
        }

        /// Every row of the table.
        pub const OPS: &[OpInfo] = &[
            $( OpInfo { name: stringify!($name), mnemonics: &[$mnemonic], fields: &[$(stringify!($field)),*],
                effect: Effect::$effect, stage: Stage::$stage, ulps: &[], doc: concat!($($doc),*) }, )*
            $( OpInfo { name: stringify!($fname), mnemonics: $kind::NAMES, fields: &[$(stringify!($ffield)),*],
                effect: Effect::Pure, stage: Stage::Tile, ulps: $kind::ULPS, doc: concat!($($fdoc),*) }, )*
        ];

        impl Op {
            /// The word of the text form.
            pub fn mnemonic(&self) -> &'static str {
                match self { $( Op::$name { .. } => $mnemonic, )* $( Op::$fname { kind, .. } => kind.name(), )* }
            }

            /// What it does besides yielding a value.
            pub fn effect(&self) -> Effect {
                match self { $( Op::$name { .. } => Effect::$effect, )* $( Op::$fname { .. } => Effect::Pure, )* }
            }

            /// How the layouts of its operands and its result are related.
            pub fn layout_rule(&self) -> LayoutRule {
                match self { $( Op::$name { .. } => LayoutRule::$layouts, )* $( Op::$fname { .. } => LayoutRule::$flayouts, )* }
            }

            /// The first stage that it is for.
            pub fn stage(&self) -> Stage {
                match self { $( Op::$name { .. } => Stage::$stage, )* $( Op::$fname { .. } => Stage::Tile, )* }
            }

            /// How many blocks it owns.
            pub fn regions(&self) -> usize {
                match self { $( Op::$name { .. } => $regions, )* $( Op::$fname { .. } => $fregions, )* }
            }

            /// Calls `f` with every operand, in order.
            pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
                let f: &mut dyn FnMut(Value) = &mut f;
                match self {
                    $( Op::$name { $($field),* } => { $( $field.each_value(f); )* } )*
                    $( Op::$fname { $($ffield,)* .. } => { $( $ffield.each_value(f); )* } )*
                }
                let _ = f;
            }

            /// Replaces every operand.
            pub fn map_operands(&mut self, mut f: impl FnMut(Value) -> Value) {
                let f: &mut dyn FnMut(Value) -> Value = &mut f;
                match self {
                    $( Op::$name { $($field),* } => { $( $field.map_values(f); )* } )*
                    $( Op::$fname { $($ffield,)* .. } => { $( $ffield.map_values(f); )* } )*
                }
                let _ = f;
            }

            /// The same, until a replacement fails.
            pub fn try_map_operands<E>(&mut self, mut f: impl FnMut(Value) -> Result<Value, E>) -> Result<(), E> {
                let mut failed = None;
                self.map_operands(|v| match (&failed, f(v)) {
                    (None, Ok(replaced)) => replaced,
                    (None, Err(error)) => {
                        failed = Some(error);
                        v
                    }
                    (Some(_), _) => v,
                });
                failed.map_or(Ok(()), Err)
            }

            /// Writes the fields, separated by commas.
            pub(crate) fn print_fields(&self, out: &mut String) {
                match self {
                    $( Op::$name { $($field),* } => { let _all: &[&dyn Field] = &[$($field as &dyn Field),*]; field::print(_all, out); } )*
                    $( Op::$fname { $($ffield,)* .. } => field::print(&[$($ffield as &dyn Field),*], out), )*
                }
            }

            /// Reads the fields of the operation with this mnemonic.
            pub(crate) fn parse(mnemonic: &str, _reader: &mut Reader<'_>) -> Result<Op, String> {
                match mnemonic {
                    $( $mnemonic => Ok(Op::$name { $($field: Field::read(_reader)?),* }), )*
                    _ => {
                        $( if let Some(kind) = $kind::from_name(mnemonic) {
                            return Ok(Op::$fname { kind, $($ffield: Field::read(_reader)?),* });
                        } )*
                        Err(format!("`{mnemonic}` is not an operation"))
                    }
                }
            }
        }
    };
}

ops! {
    operations {
        /// The number itself.
        Const = "const" { value: Constant } Pure Unconstrained Tile 0;
        /// A number that is known only where the kernel is embedded: an external constant.
        Outer = "outer" { dtype: DType, value: Outer } Pure Unconstrained Tile 0;
        /// The index of the running program along an axis, `i32`.
        ProgramId = "program_id" { axis: GridAxis } Pure Unconstrained Tile 0;
        /// The number of programs along an axis, `i32`.
        NumPrograms = "num_programs" { axis: GridAxis } Pure Unconstrained Tile 0;
        /// The rank of the running block in its cluster, `i32`, where a [cluster](crate::ir::Function::cluster) of blocks runs a program.
        ClusterRank = "cluster.rank" { } Pure Unconstrained Tile 0;
        /// What all blocks of the cluster have for a tile: along a new axis of as many, block `i`'s at index `i`. Every block runs it.
        ClusterGather = "cluster.gather" { x: Value, axis: u32, blocks: u32 } Pure Own Tile 0;
        /// What all blocks of the cluster have for one part of a tile: an axis is divided into as many parts, of which block `i` is
        /// given part `i`; before it is a new axis, with block `j`'s at index `j`. Every block runs it.
        ClusterScatter = "cluster.scatter" { x: Value, axis: u32, blocks: u32 } Pure Own Tile 0;
        /// The integers `start..end` in order, as a tile of `i32`.
        Arange = "arange" { start: i32, end: i32 } Pure Unconstrained Tile 0;
        /// A scalar in every element of a tile.
        Splat = "splat" { x: Value, shape: Shape } Pure Unconstrained Tile 0;
        /// NumPy's broadcast: extents of 1 are replicated, missing ones are added on the left.
        Broadcast = "broadcast" { x: Value, shape: Shape } Pure ShapeChange Tile 0;
        /// The same elements, in row-major order, in another shape of as many elements; a scalar for one of them.
        Reshape = "reshape" { x: Value, shape: Shape } Pure ShapeChange Tile 0;
        /// The axes in another order: axis `i` of the result is axis `order[i]` of the operand.
        Permute = "permute" { x: Value, order: Shape } Pure ShapeChange Tile 0;
        /// Two tiles of one type as one with a new last axis of 2: the first where its index is 0.
        Join = "join" { a: Value, b: Value } Pure Own Tile 0;
        /// One of the two tiles that are joined along a last axis of 2: the elements of this index.
        Split = "split" { x: Value, index: u32 } Pure Own Tile 0;
        /// The same tile in another layout.
        Convert = "convert" { x: Value } Pure Own LaidOut 0;
        /// The matrix product `acc + a · b` of `[M, K]`, `[K, N]` and `[M, N]`, or with one more axis before these of as many products
        /// (a *batch*): half types and `f32` are added in `f32`, `f64` in `f64`, `i8` in `i32`. Products are added in any order, and need
        /// not be rounded first.
        /// At stage 1 the instructions are chosen; at stage 2 `a` and `b` may be in shared memory.
        Dot = "dot" { kind: DotKind, a: Value, b: Value, acc: Value } Pure Own Tile 0;
        /// A number in another type: int → int wraps, int → float and float → float round to nearest even, float → int
        /// truncates, saturates, and takes NaN to 0; `bool` is 0 or 1.
        Cast = "cast" { x: Value, to: DType } Pure Elementwise Tile 0;
        /// The bits of a number as a number of another type of as many bits; not of `bool`.
        Bitcast = "bitcast" { x: Value, to: DType } Pure Elementwise Tile 0;
        /// `a` where the condition holds, else `b`.
        Select = "select" { cond: Value, a: Value, b: Value } Pure Elementwise Tile 0;
        /// The address `index` elements after `ptr`; the index is an integer of any type and is extended before it is scaled.
        Offset = "offset" { ptr: Value, index: Value } Pure Elementwise Tile 0;
        /// The elements at a location; those that are masked off or out of bounds are `other`, or 0 without one.
        Load = "load" { from: Location, other: Option<Value> } Read Elementwise Tile 0;
        /// Writes the elements at a location, but for those that are masked off or out of bounds.
        Store = "store" { to: Location, value: Value } Write Elementwise Tile 0;
        /// Replaces each element at a location by a function of it and the value, in one atomic step that nothing on the device comes
        /// between, and yields the old value; nothing is done, and 0 is yielded, where an element is masked off or out of bounds.
        /// The order in which elements that alias are replaced is unspecified, and so is the order among programs. At
        /// stage 2, of the threads that hold an element, only the one that would store it knows the old value.
        Atomic = "atomic" { kind: AtomicKind, order: MemoryOrder, to: Location, value: Value } Write Elementwise Tile 0;
        /// As `atomic`: the value where the element has the bits of `compare`, else the old value.
        AtomicCas = "atomic_cas" { order: MemoryOrder, to: Location, compare: Value, value: Value } Write Elementwise Tile 0;
        /// Orders accesses to global memory, as other programs see them: those of this program before it come before those after it.
        Fence = "fence" { } Write Unconstrained Tile 0;
        /// Stops the launch unless every element holds.
        Assert = "assert" { cond: Value, message: Text } Write Elementwise Tile 0;
        /// Prints a line: the format string with a value for each `{}`; of tiles, a line for each element.
        Print = "print" { text: Text, values: Values } Write Elementwise Tile 0;
        /// A buffer in shared memory for a tile, at offset `at` in bytes; in memory of its own until that is allocated. Nothing but
        /// `smem.store`, `smem.load` and `smem.slice` takes it, and `dot` as an operand.
        SharedAlloc = "smem.alloc" { ty: Type, at: Option<u32> } Write Unconstrained Synchronized 0;
        /// Writes the elements of one part of a tile.
        SharedStore = "smem.store" { buffer: Value, part: u32, value: Value } Write Own Synchronized 0;
        /// Reads the elements of one part of a tile; the others are those of `rest`, or 0 without one.
        SharedLoad = "smem.load" { buffer: Value, part: u32, rest: Option<Value> } Read Own Synchronized 0;
        /// Reads the elements of a tile whose indices along an axis are from `start` up to before `start + extent`: if there is a condition
        /// and it does not hold, they are those of `rest`.
        SharedSlice = "smem.slice" { buffer: Value, axis: u32, start: u32, extent: u32, when: Option<Value>, rest: Option<Value> } Read Own Synchronized 0;
        /// Begins to copy the tile at a location into the slot of an item, if the condition holds, with 0 where it is out of bounds. The
        /// ring says which thread copies which elements. What it wrote may be read once the item was waited for, and a barrier
        /// stands between, if other threads copied it. The buffers of a ring are filled in order, for one item at a time: the last one's
        /// fill ends the item.
        RingFill = "ring.fill" { buffer: Value, item: Value, from: Location, when: Value } Write Own Synchronized 0;
        /// Each thread waits until its own copies of an item are done, and of all items before it; where one thread fills the ring by bulk
        /// copies, until all copies are.
        RingWait = "ring.wait" { ring: RingId, item: Value } Write Unconstrained Synchronized 0;
        /// The tile of an item in shared memory: one that was waited for, or that threads store to.
        RingSlot = "ring.slot" { buffer: Value, item: Value } Read Unconstrained Synchronized 0;
        /// The index of the running block, `i32`, where blocks run one program after the other: there is one axis of blocks.
        BlockId = "block_id" { } Pure Unconstrained Synchronized 0;
        /// The number of blocks, `i32`, likewise.
        NumBlocks = "num_blocks" { } Pure Unconstrained Synchronized 0;
        /// Waits for the product by `wgmma` that a sum is of, and yields the sum. Until then the product reads its
        /// operands in shared memory, and the sum is in flight: nothing takes it but another product, which adds to the
        /// same registers, and the loop that carries it. Where such a product has begun, the wait is for the operands
        /// alone, and nothing takes what it yields.
        DotWait = "dot.wait" { sum: Value } Write Elementwise Synchronized 0;
        /// Tells the other blocks of the cluster that this one runs, and that messages may be sent to it.
        ClusterArrive = "cluster.arrive" { } Write Unconstrained Synchronized 0;
        /// Waits until all blocks of the cluster have arrived.
        ClusterWait = "cluster.wait" { } Write Unconstrained Synchronized 0;
        /// Sends a tile to the blocks of the cluster, as messages that this buffer of theirs receives: `cluster.gather` or
        /// `cluster.scatter` along an axis, whichever has the buffer's shape. Nothing else writes the buffer.
        ClusterSend = "cluster.send" { buffer: Value, value: Value, axis: u32 } Write Own Synchronized 0;
        /// Each thread waits until the buffer has received the messages of all blocks of the cluster.
        ClusterReceive = "cluster.receive" { buffer: Value } Write Own Synchronized 0;
        /// Waits until the team of the program before has passed its turn on: the rings' items are this program's from here on.
        TurnWait = "turn.wait" { } Write Unconstrained Synchronized 0;
        /// Passes the turn on to the team of the next program: this program waits for no further item.
        TurnPass = "turn.pass" { } Write Unconstrained Synchronized 0;
        /// Begins to copy a slot that threads have stored to a location, what is in bounds of it. A thread of each warp copies what its warp has
        /// stored, and reads the slot until the item is released, or the program ends; what it writes is there at the end of the program.
        RingDrain = "ring.drain" { buffer: Value, item: Value, to: Location } Write Unconstrained Synchronized 0;
        /// The item's slots are not read any more, and may be filled, or stored to, for another one. Before item 0 there is none, and before
        /// `first` none that is not released.
        RingRelease = "ring.release" { ring: RingId, item: Value, first: Option<Value> } Write Unconstrained Synchronized 0;
        /// Orders accesses of the threads of each warp, or of the whole program: writes before it are visible after it.
        /// Changes no value.
        Sync = "sync" { scope: Scope } Write Unconstrained Synchronized 0;
        /// Runs its region for every number from `start` up to before `end`, a positive `step` apart.
        For = "for" { start: Value, end: Value, step: Value } Control Carried Tile 1;
        /// Runs its second region while its first one yields true.
        While = "while" { } Control Carried Tile 2;
        /// Runs its first region if the condition holds, else its second.
        If = "if" { cond: Value } Control Carried Tile 2;
        /// Ends a region: its arguments go to the operation that owns it.
        Yield = "yield" { } Control Carried Tile 0;
    }
    families {
        /// Combines the elements of its arguments, tiles of one shape, along an axis. The region combines two elements: it is
        /// given one of each argument, then another one of each, and yields one of each. The order is one of the bits of an
        /// index along the axis, one after the other; which elements are combined, and what is yielded, the kind says.
        Fold of FoldKind { axis: i32, order: BitOrder } Own 1;
        /// A function of one number, elementwise.
        Unary of UnaryKind { x: Value } Elementwise 0;
        /// A function of two numbers of one type, elementwise.
        Binary of BinaryKind { a: Value, b: Value } Elementwise 0;
        /// A comparison of two numbers of one type, elementwise; yields `bool`.
        Compare of CompareKind { a: Value, b: Value } Elementwise 0;
        /// A function of three numbers of one type, elementwise.
        Ternary of TernaryKind { a: Value, b: Value, c: Value } Elementwise 0;
        /// The operand itself, of which its user promises what the kind says, with a number for each axis; of a scalar, one. At stage 0
        /// it fails if the promise does not hold. Code relies on it.
        Hint of HintKind { x: Value, along: Shape } Elementwise 0;
    }
}

// Groups of operations, as patterns. A match that does the same for all of a group names the group, and is still exhaustive: a new operation
// is a line of its group here, and an arm only where its group has one for each.

/// Yields a number or a tile, and does nothing else.
#[macro_export]
#[doc(hidden)]
macro_rules! computes {
    () => {
        $crate::ops::Op::Const { .. }
            | $crate::ops::Op::Outer { .. }
            | $crate::ops::Op::ProgramId { .. }
            | $crate::ops::Op::NumPrograms { .. }
            | $crate::ops::Op::ClusterRank { .. }
            | $crate::ops::Op::ClusterGather { .. }
            | $crate::ops::Op::ClusterScatter { .. }
            | $crate::ops::Op::BlockId { .. }
            | $crate::ops::Op::NumBlocks { .. }
            | $crate::ops::Op::Arange { .. }
            | $crate::ops::Op::Splat { .. }
            | $crate::ops::Op::Broadcast { .. }
            | $crate::ops::Op::Reshape { .. }
            | $crate::ops::Op::Permute { .. }
            | $crate::ops::Op::Join { .. }
            | $crate::ops::Op::Split { .. }
            | $crate::ops::Op::Convert { .. }
            | $crate::ops::Op::Cast { .. }
            | $crate::ops::Op::Bitcast { .. }
            | $crate::ops::Op::Select { .. }
            | $crate::ops::Op::Offset { .. }
            | $crate::ops::Op::Fold { .. }
            | $crate::ops::Op::Unary { .. }
            | $crate::ops::Op::Binary { .. }
            | $crate::ops::Op::Compare { .. }
            | $crate::ops::Op::Ternary { .. }
            | $crate::ops::Op::Hint { .. }
    };
}

/// Owns blocks, or ends one.
#[macro_export]
#[doc(hidden)]
macro_rules! controls {
    () => {
        $crate::ops::Op::For { .. }
            | $crate::ops::Op::While { .. }
            | $crate::ops::Op::If { .. }
            | $crate::ops::Op::Yield { .. }
    };
}

/// Is for the threads of a block alone, at stage 2: no buffer of theirs, no ring, no memory order, no control flow.
#[macro_export]
#[doc(hidden)]
macro_rules! synchronizes {
    () => {
        $crate::ops::Op::DotWait { .. }
            | $crate::ops::Op::TurnWait { .. }
            | $crate::ops::Op::TurnPass { .. }
            | $crate::ops::Op::ClusterArrive { .. }
            | $crate::ops::Op::ClusterWait { .. }
            | $crate::ops::Op::ClusterSend { .. }
            | $crate::ops::Op::ClusterReceive { .. }
            | $crate::ops::Op::Sync { .. }
    };
}

/// Is for a buffer in shared memory, at stage 2.
#[macro_export]
#[doc(hidden)]
macro_rules! shared_ops {
    () => {
        $crate::ops::Op::SharedAlloc { .. }
            | $crate::ops::Op::SharedStore { .. }
            | $crate::ops::Op::SharedLoad { .. }
            | $crate::ops::Op::SharedSlice { .. }
    };
}

/// Is a step of a ring, at stage 2: [`Op::ring`](crate::ops::Op::ring) says what it does.
#[macro_export]
#[doc(hidden)]
macro_rules! ring_ops {
    () => {
        $crate::ops::Op::RingFill { .. }
            | $crate::ops::Op::RingWait { .. }
            | $crate::ops::Op::RingSlot { .. }
            | $crate::ops::Op::RingDrain { .. }
            | $crate::ops::Op::RingRelease { .. }
    };
}

/// Is of no ring.
#[macro_export]
#[doc(hidden)]
macro_rules! beside_rings {
    () => {
        $crate::ops::computes!()
            | $crate::ops::controls!()
            | $crate::ops::synchronizes!()
            | $crate::ops::shared_ops!()
            | $crate::ops::Op::Dot { .. }
            | $crate::ops::Op::Load { .. }
            | $crate::ops::Op::Store { .. }
            | $crate::ops::Op::Atomic { .. }
            | $crate::ops::Op::AtomicCas { .. }
            | $crate::ops::Op::Fence { .. }
            | $crate::ops::Op::Assert { .. }
            | $crate::ops::Op::Print { .. }
    };
}

#[doc(hidden)]
pub use {beside_rings, computes, controls, ring_ops, shared_ops, synchronizes};

/// A change of shape: which element of the operand an element of the result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeChange {
    /// [`Op::Broadcast`] to this shape.
    Broadcast(Shape),
    /// [`Op::Reshape`] to this shape.
    Reshape(Shape),
    /// [`Op::Permute`] by this order.
    Permute(Shape),
}

impl Op {
    /// The tile that a change of shape is of: of the operations with [`LayoutRule::ShapeChange`].
    pub fn shape_change(&self) -> Option<(Value, ShapeChange)> {
        if let Op::Broadcast { x, shape } = *self {
            return Some((x, ShapeChange::Broadcast(shape)));
        }
        if let Op::Reshape { x, shape } = *self {
            return Some((x, ShapeChange::Reshape(shape)));
        }
        if let Op::Permute { x, order } = *self { Some((x, ShapeChange::Permute(order))) } else { None }
    }

    /// Whether no operands make it fail: an integer division fails by 0, and by −1. Then it may be speculated, that is,
    /// computed where the program would not.
    pub fn cannot_fail(&self, constant: impl Fn(Value) -> Option<Constant>) -> bool {
        let Op::Binary { kind: BinaryKind::Div | BinaryKind::Rem, b, .. } = *self else { return true };
        // Floats never fail, and have no integer value.
        constant(b).is_some_and(|c| c.as_int().is_none_or(|d| d != 0 && d != -1))
    }

    /// The kind of an atomic update that commutes with others of its kind: its old value is unused.
    pub fn commutes(&self, is_used: bool) -> Option<AtomicKind> {
        if let Op::Atomic { kind, .. } = *self {
            Some(kind).filter(|&k| !is_used && k != AtomicKind::Xchg)
        } else {
            None
        }
    }
}
