//! Products with a function of the user's in the place of the epilogue: [`gemm_with!`](crate::gemm_with) makes its kernels, with the library's
//! instances, and [`GemmWith`] selects and launches them.

mod builder;
mod macros;

use super::pools::{GemmElement, Told, is_tile, sides};
use crate::select::{Instance, Kernel, Order, Plan};
use triton::launch::mode::Safe;
use triton::{Choice, Element, Pool, Stream, Tuned, View, ViewMut};

pub use builder::GemmWith;

/// What [`gemm_with!`](crate::gemm_with) makes. Not to be implemented otherwise.
pub trait Product: 'static {
    /// The element type of a and b.
    type T: GemmElement<Self::C>;
    /// That of c.
    type C: Element;
    /// What the function reads beside the product.
    type Operands<'a>: Copy;
    /// The name of the operation.
    const NAME: &'static str;

    /// Tells the instances for an order of operands.
    fn each(order: Order, is: Told<'_>);

    /// Enqueues an instance.
    ///
    /// # Errors
    /// Those of a launch.
    fn enqueue<'a: 'b, 'b>(
        order: Order,
        arguments: Arguments<'b, Self::T, Self::C>,
        operands: Self::Operands<'a>,
        run: &Run<'_>,
    ) -> triton::Result<()>;
}

/// What every product of this kind takes; of one whose K is not divided, what stands before `parts`.
#[derive(Debug)]
pub struct Arguments<'a, T, C> {
    /// \[M, K\], or stored transposed.
    pub a: View<'a, T, 2>,
    /// \[K, N\], or stored transposed.
    pub b: View<'a, T, 2>,
    /// \[M, N\].
    pub c: ViewMut<'a, C, 2>,
    /// Columns before those of c.
    pub first: i32,
    /// Sums of the programs of a tile.
    pub parts: ViewMut<'a, f32, 3>,
    /// How many programs of each tile have arrived.
    pub done: ViewMut<'a, i32, 1>,
    /// The K of a program, in units of 32.
    pub steps: i32,
    /// Whether the parts are added in one order.
    pub ordered: bool,
}

/// Which instance is launched over which grid.
#[derive(Debug)]
pub struct Run<'a> {
    pub(super) plan: Plan,
    /// Rows and columns of c.
    pub(super) shape: [usize; 2],
    pub(super) stream: &'a Stream,
}

impl Run<'_> {
    /// Whether K is divided among programs.
    pub fn is_split(&self) -> bool {
        matches!(self.plan.kernel, Kernel::Split { .. })
    }

    /// Enqueues the member of a pool whose tile is the one that was selected.
    ///
    /// # Errors
    /// Those of a launch.
    pub fn launch<const N: usize, C: Choice>(
        &self,
        kernel: Tuned<'_, Safe, N, C>,
        tile: impl Fn(&C) -> [i32; 3],
    ) -> triton::Result<()> {
        let [m, n] = self.shape;
        kernel.find(|of| is_tile(tile(of), self.plan.tile)).launch(self.stream, |of| {
            let [rows, columns, _] = sides(tile(of));
            (m.div_ceil(rows), n.div_ceil(columns), self.plan.splits)
        })
    }
}

/// Tells the members of a pool: tile, warps, stages.
pub fn tell<C: Choice>(pool: &'static Pool<C>, kernel: Kernel, of: impl Fn(&C) -> ([i32; 3], u32, u32), is: Told<'_>) {
    for member in pool.members() {
        let (tile, warps, stages) = of(member.choice());
        let instance = Instance { kernel, tile: sides(tile), warps, stages, cluster: 1 };
        is(&|stream| member.runs(stream), instance);
    }
}
