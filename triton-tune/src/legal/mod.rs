//! What candidates are legal, and promising: rules with a name and a source, each of which can be switched off.
//!
//! A rule is a function of a point, which is one candidate together with its context. A rejected candidate says which rule rejected
//! it: the first one in the order of the list.
//!
//! ```
//! use triton_tune::legal::thesis;
//!
//! let mut point = thesis::Point { m_l: 64, m_s: 4, n_l: 64, n_s: 4, u: 8, k_g: 1, m: 4096, n: 4096, k: 1024, cores: 132 };
//! let mut rules = thesis::rules();
//! assert!(rules.check(&point).is_ok());
//!
//! point.m = 64;
//! assert_eq!(rules.check(&point).unwrap_err().rule, "occupancy");
//! rules.set("occupancy", false)?;
//! assert!(rules.check(&point).is_ok());
//! # Ok::<(), triton_tune::Error>(())
//! ```

pub mod isaac;
pub mod tensor;
pub mod thesis;

use crate::error::{Error, Result};

/// A rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule<P> {
    /// The name, which a rejection states and which switches the rule off.
    pub name: &'static str,
    /// The paper and section, or `ours`.
    pub source: &'static str,
    /// Whether a point passes.
    pub check: fn(&P) -> bool,
}

/// The rule that rejected a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rejection {
    /// The rule's name.
    pub rule: &'static str,
}

/// A list of rules, each on or off.
#[derive(Clone, Debug)]
pub struct Rules<P> {
    rules: Vec<(Rule<P>, bool)>,
}

impl<P> Rules<P> {
    /// These rules, all of them on. They are checked in this order.
    #[must_use]
    pub fn new(rules: Vec<Rule<P>>) -> Self {
        Self { rules: rules.into_iter().map(|rule| (rule, true)).collect() }
    }

    /// Checks a point.
    ///
    /// # Errors
    /// The first rule that rejects it.
    #[inline]
    pub fn check(&self, point: &P) -> Result<(), Rejection> {
        match self.rules.iter().find(|(rule, on)| *on && !(rule.check)(point)) {
            Some((rule, _)) => Err(Rejection { rule: rule.name }),
            None => Ok(()),
        }
    }

    /// Switches a rule on or off.
    ///
    /// # Errors
    /// There is no rule of this name.
    pub fn set(&mut self, name: &str, on: bool) -> Result<()> {
        match self.rules.iter_mut().find(|(rule, _)| rule.name == name) {
            Some((_, state)) => {
                *state = on;
                Ok(())
            }
            None => Err(Error::name("rule", name, self.rules.iter().map(|(rule, _)| rule.name))),
        }
    }

    /// The rules, and whether each is on.
    pub fn iter(&self) -> impl Iterator<Item = (&Rule<P>, bool)> {
        self.rules.iter().map(|(rule, on)| (rule, *on))
    }
}

/// Whether a number is a multiple of another, which may be zero: then it is not.
#[inline]
fn multiple(number: i64, of: i64) -> bool {
    of != 0 && number % of == 0
}

/// The tiles that cover an extent.
#[inline]
fn tiles(extent: i64, tile: i64) -> i64 {
    let tile = tile.max(1);
    extent / tile + i64::from(extent % tile != 0)
}
