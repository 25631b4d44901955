//! The space of Tillet's thesis (2020), §4.2: a product without tensor cores, context and kernel sampled together.

use super::{Parameter, Space};
use crate::legal::thesis::{Point, rules};

/// The product on a device of this many multiprocessors.
///
/// The thesis had 80 (a V100) among its devices; an H200 has 132.
#[must_use]
pub fn gemm(cores: Cores) -> Space<Point> {
    let parameters = vec![
        Parameter::powers("m_l", 1, 256),
        Parameter::powers("m_s", 1, 16),
        Parameter::powers("n_l", 1, 256),
        Parameter::powers("n_s", 1, 16),
        Parameter::powers("u", 1, 16),
        Parameter::powers("k_g", 1, 128),
        Parameter::powers("m", 16, 4096),
        Parameter::powers("n", 16, 4096),
        Parameter::powers("k", 16, 131_072),
    ];
    let (title, read): (_, fn(&[i64]) -> Point) = match cores {
        Cores::V100 => ("thesis GEMM, 80 multiprocessors", |values| point(values, 80)),
        Cores::H200 => ("thesis GEMM, 132 multiprocessors", |values| point(values, 132)),
    };
    Space { title, parameters, read, rules: rules() }
}

/// The devices whose multiprocessors the rule of occupancy counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cores {
    /// 80, of a V100.
    V100,
    /// 132, of an H100 or H200.
    H200,
}

fn point(values: &[i64], cores: i64) -> Point {
    let v = |index: usize| values.get(index).copied().unwrap_or(1);
    Point { m_l: v(0), m_s: v(1), n_l: v(2), n_s: v(3), u: v(4), k_g: v(5), m: v(6), n: v(7), k: v(8), cores }
}
