//! Our space of products on tensor cores: instances, which are compiled, and what a launch chooses.

use super::{Parameter, Space, enumerate};
use crate::data::Schema;
use crate::legal::Rules;
use crate::legal::tensor::{CONTEXT_RULES, Point, instance_rules, rules};

/// The parameters of an instance: 6,300 combinations.
#[must_use]
pub fn instance() -> Vec<Parameter> {
    vec![
        Parameter::powers("BM", 16, 256),
        Parameter::powers("BN", 16, 256),
        Parameter::powers("BK", 16, 128),
        Parameter::new("num_warps", [4, 8, 16]),
        Parameter::new("num_stages", [2, 3, 4, 5, 6, 7, 8]),
        Parameter::new("KL", [1, 2, 4]),
    ]
}

/// The parameters of a launch: 36 combinations.
#[must_use]
pub fn launch() -> Vec<Parameter> {
    vec![Parameter::powers("splits", 1, 256), Parameter::new("raster", [1, 4, 8, 16])]
}

/// A call: what is multiplied on which device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Rows, columns and extent of the reduction.
    pub extents: [i64; 3],
    /// Bytes of an element of the operands.
    pub size: i64,
    /// Multiprocessors.
    pub multiprocessors: i64,
    /// Bytes of shared memory that a block may have.
    pub shared: i64,
}

impl Call {
    /// A call on an H100 or H200: 132 multiprocessors, 227 KiB.
    #[must_use]
    pub fn hopper(extents: [i64; 3], size: i64) -> Self {
        Self { extents, size, multiprocessors: 132, shared: 227 * 1024 }
    }

    /// The point of a candidate, which has the values of [`instance`] and then those of [`launch`].
    #[must_use]
    pub fn point(&self, values: &[i64]) -> Point {
        let v = |index: usize| values.get(index).copied().unwrap_or(1);
        let [m, n, k] = self.extents;
        Point {
            m,
            n,
            k,
            size: self.size,
            bm: v(0),
            bn: v(1),
            bk: v(2),
            warps: v(3),
            stages: v(4),
            kl: v(5),
            splits: v(6),
            raster: v(7),
            multiprocessors: self.multiprocessors,
            shared: self.shared,
        }
    }
}

/// The legal instances for elements of this size, each with the values of [`instance`].
#[must_use]
pub fn instances(size: i64) -> Vec<Vec<i64>> {
    let (call, rules) = (Call::hopper([1; 3], size), instance_rules());
    let mut legal = Vec::new();
    enumerate(&instance(), |values| {
        if rules.check(&call.point(values)).is_ok() {
            legal.push(values.to_vec());
        }
    });
    legal
}

/// The candidates of a call that rules accept: an instance's values and a launch's.
///
/// A problem that is too small to fill the device has no candidate by the rule `occupancy`: it is left out for such a call, and
/// then `extent`.
///
/// ```
/// use triton_tune::{legal::tensor::rules, space::tensor::{Call, candidates, instances}};
///
/// let instances = instances(2);
/// let large = candidates(&Call::hopper([4096, 4096, 4096], 2), &instances, &rules());
/// let small = candidates(&Call::hopper([16, 16, 16], 2), &instances, &rules());
/// assert!(large.len() > 1000 && !small.is_empty());
/// ```
#[must_use]
pub fn candidates(call: &Call, instances: &[Vec<i64>], rules: &Rules<Point>) -> Vec<Vec<i64>> {
    let accepted = |rules: &Rules<Point>| {
        let (mut legal, launch) = (Vec::new(), launch());
        for instance in instances {
            enumerate(&launch, |values| {
                let candidate = [instance, values].concat();
                if rules.check(&call.point(&candidate)).is_ok() {
                    legal.push(candidate);
                }
            });
        }
        legal
    };
    let mut rules = rules.clone();
    let mut legal = accepted(&rules);
    for promising in ["occupancy", "extent"] {
        // A list without this rule stays as it is.
        if legal.is_empty() && rules.set(promising, false).is_ok() {
            legal = accepted(&rules);
        }
    }
    legal
}

/// The rule that rejects a choice in a context, if one does, by their recorded values.
pub type Judge = fn(&[i64], &[i64]) -> Option<&'static str>;

/// The rules of a context for recorded columns: those of a product, `m`, `n` and `k`, and those of
/// [`instance`] and the `splits` of [`launch`], which others may follow. Nothing, if the columns are other ones.
#[must_use]
pub fn judge(schema: &Schema) -> Option<Judge> {
    // What comes after the splits changes nothing here.
    let choice: Vec<String> =
        instance().iter().chain(launch().first()).map(|parameter| parameter.name.to_owned()).collect();
    if !(schema.context.starts_with(&["m", "n", "k"].map(str::to_owned)) && schema.choice.starts_with(&choice)) {
        return None;
    }
    Some(|context, choice| {
        let extents = std::array::from_fn(|axis| context.get(axis).copied().unwrap_or(1));
        let point = Call::hopper(extents, 2).point(choice);
        CONTEXT_RULES.iter().find(|rule| !(rule.check)(&point)).map(|rule| rule.name)
    })
}

/// Contexts, instances and launches sampled together, for bf16 on an H200.
#[must_use]
pub fn gemm() -> Space<Point> {
    let context =
        vec![Parameter::powers("m", 1, 8192), Parameter::powers("n", 1, 8192), Parameter::powers("k", 1, 131_072)];
    let read = |values: &[i64]| {
        let v = |index: usize| values.get(index).copied().unwrap_or(1);
        Call::hopper([v(0), v(1), v(2)], 2).point(values.get(3..).unwrap_or_default())
    };
    Space { title: "our GEMM, bf16, H200", parameters: [context, instance(), launch()].concat(), read, rules: rules() }
}
