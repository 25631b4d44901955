//! Elementwise operations: a row of a table for each, from which its kernels and its cases come.
//!
//! A row says its kind (`op`, or `fn` for a function of the language), its name, the bound of its type parameter, its element
//! types, what it yields, how a kernel spells it, its reference, and which operands are valid if not all are. A kernel is given
//! rows of elements; every row is compiled for four shapes.

use crate::case::{Case, Launch, Region, Trial};
use crate::inputs::{self, Operands};
use crate::reference::Reference;
use triton_core::types::DType;

/// What the cases of a row for one element type have in common.
#[derive(Clone, Copy)]
pub struct Row<R> {
    /// The operation.
    pub name: &'static str,
    /// The functions of the language that it is.
    pub functions: &'static [&'static str],
    /// How many operands it has.
    pub arity: usize,
    /// Their element type.
    pub dtype: DType,
    /// The element type of the result.
    pub result: DType,
    /// What it yields.
    pub reference: R,
    /// Of which operands.
    pub valid: fn(Operands, [u64; 3]) -> bool,
}

/// How much of memory a launch covers, and its alignment.
struct Span {
    name: &'static str,
    /// Blocks, the last of which lacks `missing` elements.
    missing: usize,
    skip: usize,
}

/// What each specialization assumes: lengths and addresses divisible by 16, addresses only, nothing.
const SPANS: [Span; 3] = [
    Span { name: "whole blocks", missing: 0, skip: 0 },
    Span { name: "tail", missing: 37, skip: 0 },
    Span { name: "misaligned", missing: 5, skip: 1 },
];

/// Elements of a launch.
const FEW: usize = 2048;

/// The most that a launch covers to leave no operand out.
const ALL: usize = 1 << 16;

/// The cases of one instance, whose programs have `rows` × `columns` elements.
pub fn cases<R: Reference>(into: &mut Vec<Case>, row: Row<R>, rows: usize, columns: usize, warps: u32, launch: Launch) {
    let block = rows * columns;
    // One element is one element, wherever it lies.
    let spans = if block == 1 { &SPANS[1..2] } else { &SPANS[..] };
    for span in spans {
        let name = format!("{} {} [{rows}x{columns}] warps {warps}, {}", row.name, row.dtype, span.name);
        let seed = inputs::seed(&name);
        let most = match row.dtype.bits() as usize * row.arity {
            _ if block == 1 => 300,
            // All that there are; of one operand of more bits as many.
            bits if (bits <= 16 || row.arity == 1) && span.missing == 0 => ALL,
            _ => FEW,
        };
        let count = most.next_multiple_of(block) - span.missing;
        into.push(Case::new(name, row.functions, move || {
            let operands: Operands = std::array::from_fn(|k| if k < row.arity { row.dtype } else { DType::Bool });
            let columns = inputs::columns(operands, row.arity, count, seed, row.valid);
            let of = |i: usize| [0, 1, 2].map(|k: usize| columns[k][i]);
            let expected = (0..count).map(|i| (row.reference)(row.dtype, of(i))).collect();
            let inputs =
                columns.clone().into_iter().take(row.arity).map(|bits| Region::input(row.dtype, bits).skip(span.skip));
            let output = Region::output(row.result, expected).skip(span.skip);
            Trial {
                regions: inputs.chain([output]).collect(),
                numbers: vec![count as u64],
                grid: [count.div_ceil(block), 1, 1],
                launch,
            }
        }));
    }
}

/// A table of elementwise operations; defines `fn cases() -> Vec<Case>`.
macro_rules! elementwise {
    ($(
        $kind:ident $name:ident $bound:ident $types:tt -> $result:ident,
        |$($x:ident),+| $body:expr, $reference:expr $(, $valid:expr)?;
    )*) => {
        $(
            mod $name {
                //! One row.
                #[allow(unused_imports, reason = "some rows bring their bound with them")]
                use super::*;
                use triton::prelude::*;
                #[allow(unused_imports, reason = "not every row needs all of them")]
                use $crate::{elementwise::Row, inputs, reference};
                use triton_core::types::DType;

                $crate::elementwise::elementwise!(@kernel $bound $types -> $result, ($($x)+) $body);

                /// The cases of every element type.
                pub fn cases(into: &mut Vec<$crate::case::Case>) {
                    let row = Row {
                        name: stringify!($name),
                        functions: $crate::elementwise::elementwise!(@functions $kind $name),
                        arity: [$(stringify!($x)),+].len(),
                        dtype: DType::Bool,
                        result: DType::Bool,
                        reference: $reference,
                        valid: $crate::elementwise::elementwise!(@valid $($valid)?),
                    };
                    $crate::elementwise::elementwise!(@types into, row, $types -> $result, ($($x)+));
                }
            }
        )*

        /// The cases of every row.
        pub fn cases() -> Vec<$crate::case::Case> {
            let mut cases = Vec::new();
            $($name::cases(&mut cases);)*
            cases
        }
    };
    (@kernel $bound:ident [$($t:ident)*] -> $result:ident, ($($x:ident)+) $body:expr) => {
        #[triton::kernel(T = [$($t),*], configs = [
            (R = 1, C = 1, num_warps = 1), (R = 4, C = 64, num_warps = 2), (R = 256, C = 1, num_warps = 8),
            (R = 12, C = 8, num_warps = 1),
        ])]
        fn kernel<T: $bound, const R: i32, const C: i32>($($x: Ptr<T>,)+ out: PtrMut<$result>, n: i32) {
            let row = (program_id(0) * R + arange(0, R)).expand_dims(1);
            let i = row * C + arange(0, C).expand_dims(0);
            $(let $x = load($x + i, i < n);)+
            store(out + i, $body, i < n);
        }
    };
    (@types $into:ident, $row:ident, [$($t:ident)*] -> $result:ident, $arguments:tt) => {
        $({
            type T = $t;
            let row = Row { dtype: T::DTYPE, result: <$result>::DTYPE, ..$row };
            $crate::elementwise::elementwise!(@shape $into, row, $t, $arguments, 1, 1, 1);
            $crate::elementwise::elementwise!(@shape $into, row, $t, $arguments, 4, 64, 2);
            $crate::elementwise::elementwise!(@shape $into, row, $t, $arguments, 256, 1, 8);
            $crate::elementwise::elementwise!(@shape $into, row, $t, $arguments, 12, 8, 1);
        })*
    };
    (@shape $into:ident, $row:ident, $t:ident, ($($x:ident)+), $r:literal, $c:literal, $warps:literal) => {
        $crate::elementwise::cases($into, $row, $r, $c, $warps, |run| {
            $crate::case::launch!(run, kernel::<$t, $r, $c>(
                $($crate::elementwise::elementwise!(@pointer run $x),)+ &mut run.ptr(), run.scalar(),
            ))
        })
    };
    (@pointer $run:ident $x:ident) => { &$run.ptr() };
    (@functions op $name:ident) => { &[] };
    (@functions fn $name:ident) => { &[stringify!($name)] };
    (@valid) => { inputs::all };
    (@valid $valid:expr) => { $valid };
}

pub(crate) use elementwise;
