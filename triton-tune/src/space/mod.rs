//! Parameter spaces: a list of named parameters with their values, how a candidate of them is read, and the rules that it passes.
//!
//! | space | parameters | rules |
//! |---|---|---|
//! | [`isaac::gemm`] | ISAAC's product: the context, 14 of the kernel | [`crate::legal::isaac`] |
//! | [`isaac::gemm_derived`] | the same; two lane counts follow from the others, 11 are sampled (the paper counts 10) | and a range of threads |
//! | [`isaac::conv`], [`isaac::conv_derived`] | ISAAC's convolution as an implicit product | the same, gathered |
//! | [`thesis::gemm`] | the thesis' product | [`crate::legal::thesis`] |
//! | [`tensor::gemm`] | ours | [`crate::legal::tensor`] |

pub mod isaac;
pub mod tensor;
pub mod thesis;

use crate::legal::{Rejection, Rules};

/// A parameter and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name.
    pub name: &'static str,
    /// The values, in the order in which samplers count them.
    pub values: Vec<i64>,
}

impl Parameter {
    /// A parameter of these values.
    #[must_use]
    pub fn new(name: &'static str, values: impl Into<Vec<i64>>) -> Self {
        Self { name, values: values.into() }
    }

    /// A parameter of the powers of two from one to another.
    #[must_use]
    pub fn powers(name: &'static str, from: i64, to: i64) -> Self {
        let values = std::iter::successors(Some(from.max(1)), |value| value.checked_mul(2));
        Self { name, values: values.take_while(|value| *value <= to).collect() }
    }
}

/// A space whose candidates are read as points of one type.
#[derive(Clone, Debug)]
pub struct Space<P> {
    /// What it is a space of.
    pub title: &'static str,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The point of a candidate, which has a value for each parameter.
    pub read: fn(&[i64]) -> P,
    /// The rules of points.
    pub rules: Rules<P>,
}

/// A space of any type of points.
pub trait Candidates: Sync {
    /// What it is a space of.
    fn title(&self) -> &str;

    /// The parameters.
    fn parameters(&self) -> &[Parameter];

    /// Checks a candidate, which has a value for each parameter.
    ///
    /// # Errors
    /// The first rule that rejects it.
    fn check(&self, values: &[i64]) -> Result<(), Rejection>;

    /// The rules: name, source, and whether each is on.
    fn rules(&self) -> Vec<(&'static str, &'static str, bool)>;

    /// Switches a rule on or off.
    ///
    /// # Errors
    /// There is no rule of this name.
    fn set_rule(&mut self, name: &str, on: bool) -> crate::Result<()>;

    /// The number of candidates, legal or not.
    fn size(&self) -> f64 {
        self.parameters().iter().map(|parameter| parameter.values.len() as f64).product()
    }
}

impl<P> Candidates for Space<P> {
    fn title(&self) -> &str {
        self.title
    }

    fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    #[inline]
    fn check(&self, values: &[i64]) -> Result<(), Rejection> {
        self.rules.check(&(self.read)(values))
    }

    fn rules(&self) -> Vec<(&'static str, &'static str, bool)> {
        self.rules.iter().map(|(rule, on)| (rule.name, rule.source, on)).collect()
    }

    fn set_rule(&mut self, name: &str, on: bool) -> crate::Result<()> {
        self.rules.set(name, on)
    }
}

/// Calls a function with every candidate of some parameters, the last parameter changing fastest.
pub fn enumerate(parameters: &[Parameter], mut each: impl FnMut(&[i64])) {
    if parameters.iter().any(|parameter| parameter.values.is_empty()) {
        return;
    }
    let mut indices = vec![0; parameters.len()];
    let mut values: Vec<i64> = parameters.iter().map(|parameter| parameter.values[0]).collect();
    loop {
        each(&values);
        // Counts on, from the last parameter.
        let mut at = parameters.len();
        loop {
            if at == 0 {
                return;
            }
            at -= 1;
            indices[at] = (indices[at] + 1) % parameters[at].values.len();
            values[at] = parameters[at].values[indices[at]];
            if indices[at] != 0 {
                break;
            }
        }
    }
}
