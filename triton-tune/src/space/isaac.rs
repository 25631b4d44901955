//! ISAAC's spaces (SC 2017, Table 1). Context and kernel are sampled together, as the paper does.

use super::{Parameter, Space};
use crate::legal::isaac::{Point, derived_rules, rules};

/// What is sampled of a call: the element's size, the order of both operands, the extents.
fn context() -> Vec<Parameter> {
    let extents = [4, 8, 16, 32, 128, 512, 1024, 2048, 4096];
    vec![
        Parameter::new("size", [2, 4, 8]),
        Parameter::new("a_along_m", [1, 0]),
        Parameter::new("b_along_n", [0, 1]),
        Parameter::new("m", extents),
        Parameter::new("n", extents),
        Parameter::new("k", [16, 32, 64, 256, 4096, 8192, 16382]),
    ]
}

fn kernel() -> Vec<Parameter> {
    let to_16 = |name| Parameter::powers(name, 1, 16);
    let to_8 = |name| Parameter::powers(name, 1, 8);
    vec![
        Parameter::powers("vec", 1, 4),
        to_16("b_m"),
        to_16("k_l"),
        to_16("b_n"),
        to_8("m_s"),
        Parameter::new("k_s", [1]),
        to_8("n_s"),
        to_16("a0"),
        to_16("a1"),
        to_16("b0"),
        to_16("b1"),
        to_8("r_s"),
        to_16("b_r"),
        to_16("grid_r"),
    ]
}

/// The kernel's parameters where the second lane count of each operand follows from the threads: all of them from 1 to 16.
fn derived_kernel() -> Vec<Parameter> {
    let names = ["vec", "b_m", "k_l", "b_n", "m_s", "n_s", "a0", "b0", "r_s", "b_r", "grid_r"];
    names.map(|name| Parameter::powers(name, 1, 16)).into()
}

fn point(values: &[i64]) -> Point {
    let v = |index: usize| values.get(index).copied().unwrap_or(1);
    Point {
        size: v(0),
        a_along_m: v(1) == 1,
        b_along_n: v(2) == 1,
        gathered: false,
        k: v(5),
        vec: v(6),
        b_m: v(7),
        k_l: v(8),
        b_n: v(9),
        m_s: v(10),
        k_s: v(11),
        n_s: v(12),
        a0: v(13),
        a1: v(14),
        b0: v(15),
        b1: v(16),
        r_s: v(17),
        b_r: v(18),
        grid_r: v(19),
    }
}

fn derived_point(values: &[i64]) -> Point {
    let v = |index: usize| values.get(index).copied().unwrap_or(1);
    let point = Point {
        size: v(0),
        a_along_m: v(1) == 1,
        b_along_n: v(2) == 1,
        gathered: false,
        k: v(5),
        vec: v(6),
        b_m: v(7),
        k_l: v(8),
        b_n: v(9),
        m_s: v(10),
        k_s: 1,
        n_s: v(11),
        a0: v(12),
        a1: 1,
        b0: v(13),
        b1: 1,
        r_s: v(14),
        b_r: v(15),
        grid_r: v(16),
    };
    // A remainder is what the rule `lanes` rejects.
    Point { a1: point.threads() / point.a0.max(1), b1: point.threads() / point.b0.max(1), ..point }
}

/// The convolution's context: the images' elements are gathered, channels first; filters are contiguous along their number.
fn images(point: Point) -> Point {
    Point { a_along_m: true, b_along_n: true, gathered: true, ..point }
}

/// The product, 14 parameters of the kernel, of which one has a single value in the published ranges.
#[must_use]
pub fn gemm() -> Space<Point> {
    let parameters = [context(), kernel()].concat();
    Space { title: "ISAAC GEMM, 14 parameters", parameters, read: point, rules: rules() }
}

/// The product, the second lane count of each operand derived and `k_s` fixed: 11 are sampled. The paper counts 10 parameters, and
/// this is the space whose acceptance is the paper's.
#[must_use]
pub fn gemm_derived() -> Space<Point> {
    let parameters = [context(), derived_kernel()].concat();
    Space { title: "ISAAC GEMM, 10 parameters", parameters, read: derived_point, rules: derived_rules() }
}

/// The convolution as an implicit product of N·P·Q rows, K columns and a reduction over C·R·S (I §3.3), 14 parameters.
///
/// The paper states neither ranges nor rules of its convolution: these are those of the product with the orders fixed, and without
/// vectors of gathered images. What is accepted is not a number to compare exactly.
#[must_use]
pub fn conv() -> Space<Point> {
    let read = |values: &[i64]| images(point(values));
    Space { title: "ISAAC CONV, 14 parameters", parameters: [context(), kernel()].concat(), read, rules: rules() }
}

/// The convolution, lane counts derived; [`conv`] says what is known of it.
#[must_use]
pub fn conv_derived() -> Space<Point> {
    let parameters = [context(), derived_kernel()].concat();
    let read = |values: &[i64]| images(derived_point(values));
    Space { title: "ISAAC CONV, 10 parameters", parameters, read, rules: derived_rules() }
}
