//! Cases of operations over rows.

mod column_sums;

use super::{Case, Family, Order, Scalar};

/// Operations over rows.
pub const FAMILY: Family = Family { name: "rows", cases };

fn cases() -> Vec<Case> {
    let files = [column_sums::cases];
    files.iter().flat_map(|cases| cases()).collect()
}

/// The short name of an element type.
fn type_name<T>() -> &'static str {
    let name = std::any::type_name::<T>();
    name.rsplit("::").next().unwrap_or(name)
}

/// What a result of type `T` may differ by, of sums of `terms` numbers in `f32`.
fn bound<T: Scalar>(terms: usize) -> f64 {
    let single = (1.0 + 2.0 * (terms as f64).sqrt()) * f32::rounding();
    if T::rounding() > f32::rounding() { 1.25 * T::rounding() + single } else { single }
}

/// Orders in turns, so that neighbouring cases have others.
fn order(turn: usize) -> Order {
    Order::ALL[turn % Order::ALL.len()]
}

/// All pairs of extents.
fn pairs(rows: &[usize], columns: &[usize]) -> Vec<[usize; 2]> {
    rows.iter().flat_map(|&m| columns.iter().map(move |&n| [m, n])).collect()
}
