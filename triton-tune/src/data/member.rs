//! A recorded choice as a candidate.

use super::{Group, Schema};
use std::borrow::Cow;
use std::collections::HashSet;
use triton_select::Candidate;

/// A recorded choice as a candidate of a [`Tuner`](crate::Tuner) that measures by [`Replay::data`](crate::Replay::data). Its name has the
/// columns of the choice, as the names of a pool's members do.
///
/// ```
/// use triton_tune::Candidate;
/// use triton_tune::data::{Member, Schema};
///
/// let member = Member::new(&Schema::new(["m"], ["BM", "num_warps"], []), &[128, 8]);
/// assert_eq!((member.name().as_ref(), member.feature("BM")), ("BM=128 num_warps=8", Some(128.0)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    name: String,
}

impl Member {
    /// The choice of these values, one for each column.
    #[must_use]
    pub fn new(schema: &Schema, choice: &[i64]) -> Self {
        let fields: Vec<String> =
            schema.choice.iter().zip(choice).map(|(name, value)| format!("{name}={value}")).collect();
        Self { name: fields.join(" ") }
    }
}

impl Candidate for Member {
    fn name(&self) -> Cow<'_, str> {
        (&self.name).into()
    }

    /// 0: the code is not recorded.
    fn fingerprint(&self) -> u64 {
        0
    }
}

impl Group<'_> {
    /// The choices that were recorded in this context, each once.
    #[must_use]
    pub fn members(&self, schema: &Schema) -> Vec<Member> {
        let mut seen = HashSet::new();
        let choices = self.rows.iter().map(|row| row.choice.as_slice()).filter(|choice| seen.insert(*choice));
        choices.map(|choice| Member::new(schema, choice)).collect()
    }
}
