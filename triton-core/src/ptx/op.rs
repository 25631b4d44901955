//! The instructions, each declared once.
//!
//! A row of `instructions!` is data: whether it is pure, its modifiers, the registers that it writes, updates and reads, doc. From it come
//! the variant of [`Op`] and what follows registers through a kernel. An address, an operand or a list stands for the registers in it
//! ([`Registers`]). Text is an exhaustive match in [`text::print`](mod@super::text::print).

use super::{Address, AtomicOp, Cmp, Mma, Opcode, Operand, Operands, Reg, Round, Ty};
use crate::ops::MemoryOrder;

/// What an instruction does besides writing registers.
enum Purity {
    /// Nothing: it can be dropped where nothing reads them.
    Pure,
    /// It has to be executed.
    Impure,
}

/// A field with registers.
trait Registers {
    /// Calls `f` with each of them.
    fn each(&self, f: &mut impl FnMut(Reg));
    /// Replaces each of them.
    fn map(&mut self, f: &mut impl FnMut(Reg) -> Reg);
}

impl Registers for Reg {
    fn each(&self, f: &mut impl FnMut(Reg)) {
        f(*self);
    }

    fn map(&mut self, f: &mut impl FnMut(Reg) -> Reg) {
        *self = f(*self);
    }
}

impl Registers for Operand {
    fn each(&self, f: &mut impl FnMut(Reg)) {
        match *self {
            Operand::Reg(reg) => f(reg),
            Operand::Int(_) | Operand::Special(_) | Operand::Outer(..) => {}
        }
    }

    fn map(&mut self, f: &mut impl FnMut(Reg) -> Reg) {
        match self {
            Operand::Reg(reg) => reg.map(f),
            Operand::Int(_) | Operand::Special(_) | Operand::Outer(..) => {}
        }
    }
}

impl Registers for Operands {
    fn each(&self, f: &mut impl FnMut(Reg)) {
        self.as_slice().iter().for_each(|operand| operand.each(f));
    }

    fn map(&mut self, f: &mut impl FnMut(Reg) -> Reg) {
        self.as_mut_slice().iter_mut().for_each(|operand| operand.map(f));
    }
}

/// The register of an address is read, whatever is done there.
impl Registers for Address {
    fn each(&self, f: &mut impl FnMut(Reg)) {
        f(self.base);
    }

    fn map(&mut self, f: &mut impl FnMut(Reg) -> Reg) {
        self.base.map(f);
    }
}

impl Registers for Option<Reg> {
    fn each(&self, f: &mut impl FnMut(Reg)) {
        self.iter().copied().for_each(f);
    }

    fn map(&mut self, f: &mut impl FnMut(Reg) -> Reg) {
        self.iter_mut().for_each(|reg| reg.map(f));
    }
}

impl Registers for Vec<Reg> {
    fn each(&self, f: &mut impl FnMut(Reg)) {
        self.iter().copied().for_each(f);
    }

    fn map(&mut self, f: &mut impl FnMut(Reg) -> Reg) {
        self.iter_mut().for_each(|reg| reg.map(f));
    }
}

macro_rules! instructions {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident = $purity:ident $({ $($field:ident: $ty:ty),* }
            $(writes { $($write:ident: $wty:ty),* })?
            $(updates { $($update:ident: $uty:ty),* })?
            $(reads { $($read:ident: $rty:ty),* })?
            $(unless $fails:expr)?)?;
    )*) => {
        /// What an instruction does.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "fields are named as in the PTX manual")]
        pub enum Op {
            $( $(#[doc = $doc])* $name $({
                $($field: $ty,)* $($($write: $wty,)*)? $($($update: $uty,)*)? $($($read: $rty,)*)?
            })?, )*
        }

        impl Op {
            /// Calls `f` with each register that is read, without the guard.
            pub fn for_each_read(&self, mut f: impl FnMut(Reg)) {
                match self { $( Op::$name $({ $($($update,)*)? $($($read,)*)? .. })? => {
                    $( $($($update.each(&mut f);)*)? $($($read.each(&mut f);)*)? )?
                } )* }
            }

            /// Calls `f` with each register that is written.
            pub fn for_each_write(&self, mut f: impl FnMut(Reg)) {
                match self { $( Op::$name $({ $($($write,)*)? $($($update,)*)? .. })? => {
                    $( $($($write.each(&mut f);)*)? $($($update.each(&mut f);)*)? )?
                } )* }
            }

            /// Replaces each register, without the guard.
            pub(super) fn map_registers(&mut self, mut f: impl FnMut(Reg) -> Reg) {
                match self { $( Op::$name $({ $($($write,)*)? $($($update,)*)? $($($read,)*)? .. })? => {
                    $( $($($write.map(&mut f);)*)? $($($update.map(&mut f);)*)? $($($read.map(&mut f);)*)? )?
                } )* }
            }

            /// Whether it does nothing but write registers.
            pub(super) fn is_pure(&self) -> bool {
                match self { $( Op::$name $({ $($field,)* .. })? => {
                    $( $(let _ = $field;)* )?
                    matches!(Purity::$purity, Purity::Pure) $($(&& !$fails)?)?
                } )* }
            }
        }
    };
}

instructions! {
    Mov = Pure { ty: Ty } writes { dst: Reg } reads { src: Operand };
    /// `mov.b32 r, {lo, hi}`, or `mov.b64` of two halves of 32 bits.
    Pack = Pure {} writes { dst: Reg } reads { lo: Reg, hi: Reg };
    /// `mov.b32 {lo, hi}, r`, or `mov.b64`.
    Unpack = Pure {} writes { lo: Reg, hi: Reg } reads { src: Reg };
    /// Byte `i` is the one that the selector's hexadecimal digit `i` names: 0 to 3 of `a`, 4 to 7 of `b`; with 8 added, its
    /// sign in all bits.
    Prmt = Pure { selector: u16 } writes { dst: Reg } reads { a: Reg, b: Operand };
    /// A division is executed though nothing reads it: the simulator reports one by zero.
    Arith = Pure { op: Opcode, ty: Ty } writes { dst: Reg } reads { srcs: Operands } unless matches!(op, Opcode::Div | Opcode::Rem);
    Setp = Pure { cmp: Cmp, ty: Ty } writes { dst: Reg } reads { a: Operand, b: Operand };
    Selp = Pure { ty: Ty } writes { dst: Reg } reads { a: Operand, b: Operand, pred: Reg };
    Cvt = Pure { round: Round, to: Ty, from: Ty } writes { dst: Reg } reads { src: Reg };
    LdParam = Pure { ty: Ty, param: usize } writes { dst: Reg };
    /// A generic address made one of global memory.
    ToGlobal = Pure {} writes { dst: Reg } reads { src: Reg };
    /// A generic address of global memory.
    FromGlobal = Pure {} writes { dst: Reg } reads { src: Reg };
    /// A generic address of local memory.
    FromLocal = Pure {} writes { dst: Reg } reads { src: Reg };
    /// The generic address of a parameter.
    FromParam = Pure {} writes { dst: Reg } reads { src: Reg };
    /// One access to global memory, of as many words as there are registers: 1, 2 or 4.
    Ld = Impure { ty: Ty } writes { dsts: Vec<Reg> } reads { address: Address };
    St = Impure { ty: Ty } reads { srcs: Vec<Reg>, address: Address };
    /// A word of global memory that other threads of the device update meanwhile.
    LdRelaxed = Impure { ty: Ty } writes { dst: Reg } reads { address: Address };
    /// `atom`; `red` where the old value has no register, of as many words as there are operands. At device scope.
    Atomic = Impure { op: AtomicOp, order: MemoryOrder, ty: Ty } writes { dst: Option<Reg> } reads { address: Address, srcs: Vec<Reg> };
    /// One access to shared memory, of 1, 2 or 4 words; the address is of 32 bits.
    LdShared = Impure { ty: Ty } writes { dsts: Vec<Reg> } reads { address: Address };
    StShared = Impure { ty: Ty } reads { srcs: Vec<Reg>, address: Address };
    /// `ldmatrix`: as many matrices of eight rows of 16 bytes as there are registers. Lane `8·m + r` gives the address of row
    /// `r` of matrix `m`.
    LdMatrix = Impure { trans: bool } writes { dsts: Vec<Reg> } reads { address: Address };
    /// `stmatrix`: the reverse of `ldmatrix`.
    StMatrix = Impure { trans: bool } reads { srcs: Vec<Reg>, address: Address };
    /// `shfl.sync.bfly.b32`: the word of the lane whose index differs in these bits.
    ShflBfly = Impure { lanes: u32 } writes { dst: Reg } reads { src: Reg };
    /// `shfl.sync.idx.b32`: the word of a lane.
    ShflIdx = Impure {} writes { dst: Reg } reads { src: Reg, lane: Operand };
    /// `mma.sync` on one atom.
    Mma = Impure { atom: Mma } writes { d: Vec<Reg> } reads { a: Vec<Reg>, b: Vec<Reg>, c: Vec<Reg> };
    /// `wgmma.mma_async` of a warpgroup: `d` is added to. `a` is four registers, or a descriptor as `b` is; `transposed`: the operand is
    /// not contiguous along K.
    Wgmma = Impure { kind: Mma, transposed: [bool; 2] } updates { d: Vec<Reg> } reads { a: Vec<Reg>, b: Reg };
    /// The same where the sums are 0 before: `d` is written.
    WgmmaFirst = Impure { kind: Mma, transposed: [bool; 2] } writes { d: Vec<Reg> } reads { a: Vec<Reg>, b: Reg };
    /// Registers that were written before may be read by `wgmma`.
    WgmmaFence = Impure;
    /// Ends a group of products.
    WgmmaCommit = Impure;
    /// Waits for all groups of products but the newest.
    WgmmaWait = Impure { groups: u32 };
    /// Makes an mbarrier whose phases end when this many threads have arrived, and the bytes that they expect.
    MbarrierInit = Impure { count: u32 } reads { address: Address };
    /// What `MbarrierInit` wrote comes before what bulk copies do.
    FenceMbarrierInit = Impure;
    /// Arrives at an mbarrier, and lets its phase wait for this many bytes.
    MbarrierExpectTx = Impure { bytes: u32 } reads { address: Address };
    /// Arrives at an mbarrier of the block: what this thread did comes before what follows the end of the phase.
    MbarrierArrive = Impure {} reads { address: Address };
    /// Whether the phase of this parity has ended; of one for which other blocks count, at the scope of the cluster, that orders nothing.
    MbarrierTryWait = Impure { of_cluster: bool } writes { pred: Reg } reads { address: Address, parity: Reg };
    /// The address in a block of the cluster that is this one in its own shared memory.
    Mapa = Pure {} writes { dst: Reg } reads { src: Reg, rank: Operand };
    /// `st.async`: words to shared memory of a block of the cluster, which its mbarrier counts when they have arrived.
    StAsync = Impure { ty: Ty } reads { srcs: Vec<Reg>, address: Address, barrier: Address };
    /// What messages wrote that have arrived comes before what this thread reads.
    FenceMessages = Impure;
    /// What this thread knows of its shared memory comes before what it tells another block of the cluster.
    FenceRelease = Impure;
    /// Arrives at an mbarrier of a block of the cluster, and orders nothing.
    MbarrierArriveRelaxed = Impure {} reads { address: Address };
    /// Arrives at the barrier of the cluster, and orders nothing.
    ClusterArrive = Impure;
    /// Waits at the barrier of the cluster.
    ClusterWait = Impure;
    /// `cp.async.bulk.tensor` from global to shared memory: the box of a map that begins at these coordinates, the contiguous one first;
    /// `multicast`: to this many blocks, all of the cluster, at the same address, and not to this one alone.
    BulkLoad = Impure { multicast: Option<u32> } reads { dst: Address, map: Reg, coordinates: Vec<Reg>, barrier: Address };
    /// `cp.async.bulk.tensor` from shared to global memory: the box of a map that begins at these coordinates, what is in bounds of it.
    BulkStore = Impure {} reads { src: Address, map: Reg, coordinates: Vec<Reg> };
    /// Ends a group of bulk copies of the thread to global memory.
    BulkCommit = Impure;
    /// Waits until all of the thread's groups but the newest have read shared memory.
    BulkWaitRead = Impure { groups: u32 };
    /// Holds in one thread of a warp.
    Elect = Impure {} writes { pred: Reg };
    /// Orders the thread's accesses as other threads of the device see them.
    FenceAcqRel = Impure;
    /// Accesses of this thread to shared memory come before those of `wgmma` and of bulk copies that follow a barrier.
    FenceProxyAsync = Impure;
    /// A jump target.
    Label = Impure { label: u32 };
    /// Jumps where the predicate holds (`unless`: where it does not), or always. `uniform`: all threads of a warp agree.
    Bra = Impure { label: u32, unless: bool, uniform: bool } reads { pred: Option<Reg> };
    /// `cp.async`: 4, 8 or 16 bytes from global to shared memory, of which those in bounds are read; the others are 0.
    CpAsync = Impure { bytes: u32 } reads { dst: Address, src: Address, in_bounds: Reg };
    /// Ends a group of copies.
    CpAsyncCommit = Impure;
    /// Waits for all of the thread's groups but the newest.
    CpAsyncWait = Impure { groups: u32 };
    /// A barrier of all threads of the block, or of this many of its first ones.
    BarSync = Impure { threads: Option<u32> };
    /// The barrier of this number, of this many threads: waits for them, or arrives there alone.
    BarOf = Impure { threads: u32, arrives: bool } reads { number: Reg };
    /// Has each thread of a warpgroup have this many registers, of those that others have given back (`more`), or gives back others.
    SetMaxRegisters = Impure { registers: u32, more: bool };
    /// A barrier of all threads of the warp, which makes their stores visible.
    BarWarpSync = Impure;
    /// Does nothing, for a nanosecond.
    Nanosleep = Impure;
    Ret = Impure;
    /// Stores four words to global memory at once, visible to the host.
    StVolatile = Impure {} reads { srcs: Vec<Reg>, address: Reg };
    /// A fence at system scope: earlier writes are visible to all.
    MembarSys = Impure;
    /// Stops the launch.
    Trap = Impure;
    /// Stores 64 bits to the thread's local memory.
    StLocal = Impure { offset: u32 } reads { src: Reg };
    /// A call of `vprintf` with generic addresses.
    Printf = Impure {} reads { format: Reg, list: Reg };
}
