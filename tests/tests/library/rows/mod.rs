//! Cases of operations over rows.

use crate::harness::{Case, Family, Subject, gradient, normals, operand, order, pairs};
use crate::reference::number::Number;

/// Operations over rows.
pub const FAMILY: Family = Family::new("rows", cases);

/// Declares the files of the family, each of which has `cases`. Those behind `subjects` have `subjects`, too: what `declared`, `graphs` and `launches`
/// try of an operation.
macro_rules! files {
    ($($file:ident)*; subjects $($subject:ident)*) => {
        $(mod $file;)*
        $(mod $subject;)*

        fn cases() -> Vec<Case> {
            let files: &[fn() -> Vec<Case>] = &[$($file::cases,)* $($subject::cases,)*];
            files.iter().flat_map(|cases| cases()).collect()
        }

        /// What is tried of each operation of the family.
        pub fn subjects() -> Vec<Subject> {
            let files: &[fn() -> Vec<Subject>] = &[$($subject::subjects,)*];
            files.iter().flat_map(|subjects| subjects()).collect()
        }
    };
}

files! { column_sums softmax norm activation distance dropout elementwise loss optim groups; subjects adaptive along bag elementwise_loss lookup pad plain_norm pool recurrent reduce scan sharded shuffle upsample }

pub use reduce::{ALL, over};

/// A function of rows, applied to each.
fn by_rows<A>(x: &[A], columns: usize, f: impl Fn(usize, &[A]) -> Vec<Number>) -> Vec<Number> {
    x.chunks(columns.max(1)).enumerate().flat_map(|(i, row)| f(i, row)).collect()
}
