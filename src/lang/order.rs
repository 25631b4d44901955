//! The order of atomic updates and of other accesses, as other programs see it.

use super::{PtrMut, TensorMut, Tile};
use crate::Element;

/// Orders nothing but the update itself: what updates do without an [order](TensorMut::order).
#[derive(Clone, Copy, Debug)]
pub struct Relaxed;

/// What the program does after the update comes after it: if it reads what a [`Release`] wrote, the program sees what came before that.
/// [`TensorMut::order`] has an example.
#[derive(Clone, Copy, Debug)]
pub struct Acquire;

/// What the program did before the update comes before it: a program that [acquires](Acquire) what it wrote sees that.
/// [`TensorMut::order`] has an example.
#[derive(Clone, Copy, Debug)]
pub struct Release;

/// Both [`Acquire`] and [`Release`]. [`TensorMut::order`] has an example.
#[derive(Clone, Copy, Debug)]
pub struct AcqRel;

impl<T: Element, const RANK: usize> TensorMut<T, RANK> {
    /// The same view, for one atomic update that orders other accesses of its program: [`Relaxed`], [`Acquire`], [`Release`] or
    /// [`AcqRel`], as in C++ and in `std::sync::atomic`, at device scope.
    ///
    /// By it a program publishes what it wrote: accesses of all elements of all tiles before a releasing update come before it, and
    /// those after an acquiring one after it. So the last program of several to count itself sees what all of them wrote.
    ///
    /// # Compile errors
    /// Something else than an atomic update follows; the order is not one of these names.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// The sum of x. Every program adds 1024 elements; the last one that is done adds what all of them found, in their order. `count` is 0
    /// /// before, and again after.
    /// #[triton::kernel]
    /// fn total(x: Tensor<f32, 1>, parts: TensorMut<f32, 1>, count: TensorMut<i32, 1>, out: TensorMut<f32, 1>) {
    ///     let i = program_id(0);
    ///     parts.store([i], full([1], sum(x.load([i * 1024], [1024]))));
    ///     let before = count.order(AcqRel).atomic_add_at([0], 1, true);
    ///     if before == num_programs(0) - 1 {
    ///         let mut all = zeros::<f32>([128]);
    ///         for k in (0..num_programs(0)).step_by(128) {
    ///             all += parts.load([k], [128]);
    ///         }
    ///         out.store([0], full([1], sum(all)));
    ///         count.store([0], zeros::<i32>([1]));
    ///     }
    /// }
    ///
    /// # fn main() -> triton::Result<()> {
    /// let stream = Device::cpu().stream()?;
    /// let x = stream.tensor(&[0.5f32; 5000], [5000])?;
    /// let (mut parts, mut count) = (stream.tensor_zeros::<f32, _>([5])?, stream.zeros::<i32>(1)?);
    /// let mut out = stream.tensor_zeros::<f32, _>([1])?;
    /// total(&x, &mut parts, count.view_mut([1])?, &mut out).launch(&stream, 5)?;
    /// assert_eq!(stream.download(&out)?, [2500.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn order(self, order: impl Order) -> Self {
        let _ = order;
        self
    }
}

impl<T: Element> PtrMut<T> {
    /// The same pointer, for one atomic update that orders other accesses of its program: see [`TensorMut::order`].
    ///
    /// # Compile errors
    /// It is not the first operand of an atomic update; the order is not `Relaxed`, `Acquire`, `Release` or `AcqRel`.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// /// Publishes a value to programs that acquire the flag.
    /// #[triton::kernel]
    /// fn publish(value: PtrMut<f32>, flag: PtrMut<i32>) {
    ///     store(value, 1.5, true);
    ///     atomic_xchg(flag.order(Release), 1, true);
    /// }
    /// ```
    #[inline]
    pub fn order(self, order: impl Order) -> Self {
        let _ = order;
        self
    }
}

impl<T: Element> Tile<PtrMut<T>> {
    /// The same pointers, for one atomic update: see [`TensorMut::order`].
    ///
    /// # Compile errors
    /// Those of [`PtrMut::order`].
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// #[triton::kernel]
    /// fn publish(values: PtrMut<f32>, flags: PtrMut<i32>) {
    ///     let i = arange(0, 64);
    ///     store(values + i, full([64], 1.5), true);
    ///     atomic_xchg((flags + i).order(Release), 1, true);
    /// }
    /// ```
    #[inline]
    pub fn order(self, order: impl Order) -> Self {
        let _ = order;
        self
    }
}

/// Orders accesses to memory, as other programs see them: those of this program before it come before those after it.
///
/// With it, relaxed updates publish and observe: `fence(); p.atomic_add(..)` releases, and `p.atomic_add(..); fence();` acquires. One fence
/// serves several updates; for one update an [order](TensorMut::order) is shorter, and orders the updated element itself, too: between
/// fences, that is to be accessed by updates alone. It is a fence of acquire and release at device scope.
///
/// # Compile errors
/// It is given an argument.
///
/// ```
/// use triton::prelude::*;
///
/// /// Publishes a value by two flags.
/// #[triton::kernel]
/// fn publish(value: TensorMut<f32, 1>, flags: TensorMut<i32, 1>) {
///     value.store([0], full([1], 1.5));
///     fence();
///     flags.atomic_xchg([0], full([2], 1));
/// }
/// ```
#[inline]
pub fn fence() {}

/// An order of an atomic update.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a memory order",
    label = "not a memory order",
    note = "write `Relaxed`, `Acquire`, `Release` or `AcqRel`"
)]
pub trait Order {}

macro_rules! orders {
    ($($name:ident)*) => { $(
        #[diagnostic::do_not_recommend]
        impl Order for $name {}
    )* };
}

orders!(Relaxed Acquire Release AcqRel);
