//! What is chosen from: members of a pool, or a list of anything that can be launched.

use crate::hash;
use std::borrow::Cow;
use triton::selection::Call;

/// One of several ways to compute the same: an instance of a kernel, an algorithm of several launches, a call of a library.
///
/// ```
/// use std::borrow::Cow;
/// use triton_select::Candidate;
///
/// struct Split(u32);
///
/// impl Candidate for Split {
///     fn name(&self) -> Cow<'_, str> {
///         format!("in {}", self.0).into()
///     }
///     fn fingerprint(&self) -> u64 {
///         // No code of its own: the version of the algorithm.
///         1
///     }
/// }
/// assert_eq!(Split(4).name(), "in 4");
/// ```
pub trait Candidate {
    /// Its name, which is in tables: unique in a list, of one line, without tabs. It is asked for by every selection, which allocates nothing if
    /// the name is borrowed.
    fn name(&self) -> Cow<'_, str>;

    /// A number that describes it to a model, which asks for it by its name: if this is not implemented, that of `NAME=value` in the
    /// candidate's name, where `true` is 1 and `false` is 0.
    fn feature(&self, name: &str) -> Option<f32> {
        number(&self.name(), name)
    }

    /// A number that changes when its code does: a time that was measured counts no longer then.
    fn fingerprint(&self) -> u64;
}

/// Several candidates, numbered from 0.
pub trait Candidates {
    /// The operation, which is in tables.
    fn op(&self) -> Cow<'_, str>;
    /// A number that no other list of this program has.
    fn id(&self) -> u64;
    /// How many there are.
    fn len(&self) -> usize;
    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// See [`Candidate::name`].
    fn name(&self, index: usize) -> Cow<'_, str>;
    /// See [`Candidate::feature`].
    fn feature(&self, index: usize, name: &str) -> Option<f32> {
        number(&self.name(index), name)
    }
    /// See [`Candidate::fingerprint`].
    fn fingerprint(&self, index: usize) -> u64;
    /// Whether it may run for this call.
    fn fits(&self, index: usize) -> bool;

    /// What the library that launches chooses by itself, if it does.
    fn prior(&self) -> Option<usize> {
        None
    }
}

/// A list of candidates for an operation. All of them fit.
#[derive(Debug)]
pub struct List<'c, C> {
    op: &'c str,
    candidates: &'c [C],
    id: u64,
}

impl<'c, C: Candidate> List<'c, C> {
    /// Candidates for an operation.
    pub fn new(op: &'c str, candidates: &'c [C]) -> List<'c, C> {
        // The numbers of candidates are remembered, so that another list is another one.
        let of_op = hash::bytes(op.as_bytes());
        let id = candidates.iter().fold(of_op, |id, candidate| hash::add(id, candidate.fingerprint()));
        let id = candidates.iter().fold(id, |id, candidate| hash::add(id, hash::bytes(candidate.name().as_bytes())));
        List { op, candidates, id }
    }
}

impl<C: Candidate> Candidates for List<'_, C> {
    fn op(&self) -> Cow<'_, str> {
        self.op.into()
    }

    fn id(&self) -> u64 {
        self.id
    }

    fn len(&self) -> usize {
        self.candidates.len()
    }

    fn name(&self, index: usize) -> Cow<'_, str> {
        self.candidates.get(index).map(Candidate::name).unwrap_or_default()
    }

    fn feature(&self, index: usize, name: &str) -> Option<f32> {
        self.candidates.get(index)?.feature(name)
    }

    fn fingerprint(&self, index: usize) -> u64 {
        self.candidates.get(index).map_or(0, Candidate::fingerprint)
    }

    fn fits(&self, index: usize) -> bool {
        index < self.candidates.len()
    }
}

/// The members of the pool of a call, whose names are `BM=128 BN=64 num_warps=8 num_stages=3`.
#[derive(Debug)]
pub struct Members<'c, 'd>(pub &'c Call<'d>);

impl Candidates for Members<'_, '_> {
    fn op(&self) -> Cow<'_, str> {
        self.0.pool().into()
    }

    #[inline]
    fn id(&self) -> u64 {
        self.0.pool_id() as u64
    }

    fn len(&self) -> usize {
        self.0.members()
    }

    fn name(&self, index: usize) -> Cow<'_, str> {
        self.0.name(index).into()
    }

    fn fingerprint(&self, index: usize) -> u64 {
        self.0.fingerprint(index)
    }

    #[inline]
    fn fits(&self, index: usize) -> bool {
        self.0.fits(index)
    }

    fn prior(&self) -> Option<usize> {
        self.0.prior()
    }
}

/// The value of `NAME=value` in the name of a candidate.
fn number(candidate: &str, name: &str) -> Option<f32> {
    // By bytes: a model asks for some eight numbers of each candidate, which is half of the time of a first choice.
    let mut rest = candidate.as_bytes();
    loop {
        let end = rest.iter().position(|&byte| byte == b' ').unwrap_or(rest.len());
        let (field, after) = rest.split_at(end);
        if let Some((before, value)) = field.split_at_checked(name.len() + 1)
            && before.starts_with(name.as_bytes())
            && before.ends_with(b"=")
        {
            return match value {
                b"true" => Some(1.0),
                b"false" => Some(0.0),
                value => str::from_utf8(value).ok()?.parse().ok(),
            };
        }
        rest = after.get(1..)?;
    }
}

#[test]
fn numbers_of_names() {
    let cases = [
        ("BM", Some(128.0)),
        ("LOOP", Some(1.0)),
        ("TB", Some(0.0)),
        ("type", Some(-1.0)),
        ("num_stages", Some(3.0)),
        ("M", None),
        ("op", None),
        ("bf16", None),
    ];
    for (name, expected) in cases {
        let found = number("bf16 BM=128 LOOP=true TB=false type=-1 op=max num_warps=8 num_stages=3", name);
        assert_eq!(found, expected, "{name}");
    }
}
