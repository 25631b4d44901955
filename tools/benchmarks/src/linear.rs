//! Linear layers of public models for language and vision, on which the selection of products is judged: y = x · wᵀ, x of tokens.
//!
//! The list, `linear.tsv`, was drawn once by a seed (`linear/draw.rs`). No product of it may be measured for what the selection is made of: `winners`
//! passes over them, and a test looks into the library's table.

#[cfg(test)]
mod draw;

use std::sync::LazyLock;

/// M, N and K of the list.
pub fn shapes() -> &'static [[usize; 3]] {
    static SHAPES: LazyLock<Vec<[usize; 3]>> = LazyLock::new(|| {
        let lines = include_str!("linear.tsv").lines().skip(1);
        let numbers =
            |line: &str| line.split('\t').skip(1).map(|side| side.parse().ok()).collect::<Option<Vec<usize>>>();
        lines.filter_map(|line| numbers(line)?.try_into().ok()).collect()
    });
    &SHAPES
}

/// Whether a product is in the list, with either operand first.
pub fn contains([m, n, k]: [usize; 3]) -> bool {
    shapes().iter().any(|shape| *shape == [m, n, k] || *shape == [n, m, k])
}
