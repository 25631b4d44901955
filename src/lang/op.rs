//! Operators as rustc sees them in a kernel's body. Not for people.
//!
//! `a + b` becomes `op::add(a) | b` there: a carrier and the native operator, so that a mismatch is one error at the
//! operator itself. The traits are our own, so generic bodies type-check, and literals have types of their own, which
//! every element type goes with.

use super::{Bitwise, Condition, Float, Int, Mask, Num, Ptr, PtrMut, Tile, Value, stub};
use crate::Element;

/// A literal with a fraction.
#[derive(Clone, Copy, Debug)]
pub struct FloatLiteral;

/// A literal integer.
#[derive(Clone, Copy, Debug)]
pub struct IntLiteral;

/// Makes a literal one that takes the other operand's type.
#[inline]
pub fn float_literal(value: f64) -> FloatLiteral {
    let _ = value;
    stub()
}

/// Makes a literal one that takes the other operand's type.
#[inline]
pub fn int_literal(value: i128) -> IntLiteral {
    let _ = value;
    stub()
}

/// What stands beside a literal with a fraction. The bound is here and not that of a carrier, whose name would be shown.
#[inline]
pub fn float_operand<A: Value>(value: A) -> A
where
    A::Elem: Float,
{
    let _ = value;
    stub()
}

/// `1.5f16`, and a literal of a type that is given elsewhere.
#[inline]
pub fn literal<T: Float>(value: f64) -> T {
    let _ = value;
    stub()
}

/// An integer literal of a type that is given elsewhere.
#[inline]
pub fn integer<T: Num>(value: i128) -> T {
    let _ = value;
    stub()
}

/// `-x`.
#[inline]
pub fn neg<A: Value>(x: A) -> A
where
    A::Elem: Num,
{
    let _ = x;
    stub()
}

/// `!x`.
#[inline]
pub fn not<A: Value>(x: A) -> A
where
    A::Elem: Bitwise,
{
    let _ = x;
    stub()
}

/// `x as U`.
#[inline]
pub fn cast<U: Element, A: Element>(x: A) -> U {
    let _ = x;
    stub()
}

/// `assert!(c)`.
#[inline]
pub fn check(condition: impl Mask) {
    let _ = condition;
    stub()
}

/// What `println!` prints.
#[diagnostic::on_unimplemented(
    message = "`println!` prints numbers, `bool` and tiles of these, not `{Self}`",
    label = "cannot be printed"
)]
pub trait Printed {}

#[diagnostic::do_not_recommend]
impl<T: Element> Printed for T {}
#[diagnostic::do_not_recommend]
impl<T: Element> Printed for Tile<T> {}

/// An argument of `println!`.
#[inline]
pub fn printed<A: Printed>(value: A) -> A {
    let _ = value;
    stub()
}

/// `println!` with its arguments.
#[inline]
pub fn print<A>(values: A) {
    let _ = values;
    stub()
}

macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident, $message:literal, $bound:literal;)*) => { $(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "`{Self}` with `{B}`",
            note = "there is no implicit conversion between element types: convert one side with `.to::<..>()`",
            note = $bound
        )]
        pub trait $class<B> {
            /// What comes of it.
            type Out;
        }
    )* };
}

classes! {
    /// `+ - * / %`.
    Arith, "no arithmetic between `{Self}` and `{B}`",
        "a type parameter needs the bound `Num`";
    /// `== != < <= > >=`.
    Cmp, "cannot compare `{Self}` with `{B}`",
        "a type parameter needs the bound `Num`";
    /// `& | ^`.
    Bits, "no bitwise operation between `{Self}` and `{B}`", "a type parameter needs the bound `Int`";
    /// `<< >>`.
    Shift, "cannot shift `{Self}` by `{B}`", "a type parameter needs the bound `Int`";
}

/// The same element type on both sides, scalar or tile.
macro_rules! alike {
    ($class:ident<$bound:ident> = $scalar:ty, $tile:ty) => {
        #[diagnostic::do_not_recommend]
        impl<T: $bound> $class<T> for T {
            type Out = $scalar;
        }
        #[diagnostic::do_not_recommend]
        impl<T: $bound> $class<Tile<T>> for Tile<T> {
            type Out = $tile;
        }
        #[diagnostic::do_not_recommend]
        impl<T: $bound> $class<T> for Tile<T> {
            type Out = $tile;
        }
        #[diagnostic::do_not_recommend]
        impl<T: $bound> $class<Tile<T>> for T {
            type Out = $tile;
        }
    };
}

/// A literal on one side.
macro_rules! literals {
    ($class:ident<$bound:ident>, $literal:ident = $scalar:ty, $tile:ty) => {
        #[diagnostic::do_not_recommend]
        impl<T: $bound> $class<$literal> for T {
            type Out = $scalar;
        }
        #[diagnostic::do_not_recommend]
        impl<T: $bound> $class<T> for $literal {
            type Out = $scalar;
        }
        #[diagnostic::do_not_recommend]
        impl<T: $bound> $class<$literal> for Tile<T> {
            type Out = $tile;
        }
        #[diagnostic::do_not_recommend]
        impl<T: $bound> $class<Tile<T>> for $literal {
            type Out = $tile;
        }
    };
}

alike!(Arith<Num> = T, Tile<T>);
literals!(Arith<Num>, FloatLiteral = T, Tile<T>);
literals!(Arith<Num>, IntLiteral = T, Tile<T>);
alike!(Cmp<Element> = bool, Tile<bool>);
literals!(Cmp<Num>, FloatLiteral = bool, Tile<bool>);
literals!(Cmp<Num>, IntLiteral = bool, Tile<bool>);
alike!(Bits<Bitwise> = T, Tile<T>);
literals!(Bits<Int>, IntLiteral = T, Tile<T>);
alike!(Shift<Int> = T, Tile<T>);
literals!(Shift<Int>, IntLiteral = T, Tile<T>);

macro_rules! pointers {
    ($($pointer:ident)*) => { $(
        #[diagnostic::do_not_recommend]
        impl<T, I: Int> Arith<I> for $pointer<T> {
            type Out = $pointer<T>;
        }
        #[diagnostic::do_not_recommend]
        impl<T, I: Int> Arith<Tile<I>> for $pointer<T> {
            type Out = Tile<$pointer<T>>;
        }
        #[diagnostic::do_not_recommend]
        impl<T, I: Int> Arith<I> for Tile<$pointer<T>> {
            type Out = Tile<$pointer<T>>;
        }
        #[diagnostic::do_not_recommend]
        impl<T, I: Int> Arith<Tile<I>> for Tile<$pointer<T>> {
            type Out = Tile<$pointer<T>>;
        }
        #[diagnostic::do_not_recommend]
        impl<T> Arith<IntLiteral> for $pointer<T> {
            type Out = $pointer<T>;
        }
        #[diagnostic::do_not_recommend]
        impl<T> Arith<IntLiteral> for Tile<$pointer<T>> {
            type Out = Tile<$pointer<T>>;
        }
    )* };
}

pointers!(Ptr PtrMut);

macro_rules! carriers {
    ($($name:ident $carrier:ident $class:ident;)*) => { $(
        /// The left operand.
        #[derive(Clone, Copy, Debug)]
        pub struct $carrier<A>(A);

        /// Takes the left operand.
        #[inline]
        pub fn $name<A>(left: A) -> $carrier<A> {
            let _ = left;
            stub()
        }

        // Not `do_not_recommend`: the unmet bound `A: $class<B>` is the message.
        impl<A: $class<B>, B> std::ops::BitOr<B> for $carrier<A> {
            type Output = A::Out;
            #[inline]
            fn bitor(self, right: B) -> A::Out {
                let _ = right;
                stub()
            }
        }

        // With an unknown name on the right rustc takes the whole for a carrier. The name is reported, and that is enough.
        #[diagnostic::do_not_recommend]
        impl<A> Condition for $carrier<A> {}
        #[diagnostic::do_not_recommend]
        impl<A> Printed for $carrier<A> {}
        #[diagnostic::do_not_recommend]
        impl<A> Mask for $carrier<A> {
            type Chosen<V: Value> = V;
        }
    )* };
}

carriers! {
    add Add Arith;
    sub Sub Arith;
    mul Mul Arith;
    div Div Arith;
    rem Rem Arith;
    and And Bits;
    or Or Bits;
    xor Xor Bits;
    shl Shl Shift;
    shr Shr Shift;
    eq Eq Cmp;
    ne Ne Cmp;
    lt Lt Cmp;
    le Le Cmp;
    gt Gt Cmp;
    ge Ge Cmp;
}
