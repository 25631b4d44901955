//! Sets of targets: what there is code for.

use super::Target;

/// A set of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Targets(u32);

impl Targets {
    /// Every target.
    pub const ALL: Targets = Targets((1 << Target::ALL.len()) - 1);

    /// Whether a target is one of them.
    pub const fn contains(self, target: Target) -> bool {
        self.0 >> target as u32 & 1 != 0
    }

    /// Its members, best first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Target> {
        Target::ALL.iter().copied().filter(move |&target| self.contains(target))
    }

    /// Whether another one of them has code for every device of a target.
    pub fn has_fallback(self, target: Target) -> bool {
        self.iter().any(|other| other != target && other.runs_on(target.capability()))
    }
}

impl FromIterator<Target> for Targets {
    fn from_iter<I: IntoIterator<Item = Target>>(targets: I) -> Targets {
        Targets(targets.into_iter().fold(0, |all, target| all | 1 << target as u32))
    }
}
