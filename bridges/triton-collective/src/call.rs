//! What is enqueued: calls of collectives, and how ranks compare theirs.

use crate::error::{Error, Result};
use crate::reduce::Reduce;
use std::fmt;
use triton::DType;

/// Which collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    AllReduce(Reduce),
    AllGather,
    ReduceScatter(Reduce),
    Broadcast { root: usize },
    Send { peer: usize },
    Receive { peer: usize },
    Barrier,
}

/// One call. Operands are numbers in the list that they are enqueued with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) kind: Kind,
    pub(crate) dtype: DType,
    /// Elements, as NCCL counts: of all-gather and broadcast those that one rank sends, of reduce-scatter those that one rank receives.
    pub(crate) count: usize,
    /// What is read; of a call in place it is the output.
    pub(crate) input: Option<usize>,
    /// What is written.
    pub(crate) output: Option<usize>,
}

impl Kind {
    /// Its name, as the communicator's method has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::AllReduce(_) => "`all_reduce`",
            Kind::AllGather => "`all_gather`",
            Kind::ReduceScatter(_) => "`reduce_scatter`",
            Kind::Broadcast { .. } => "`broadcast`",
            Kind::Send { .. } => "`send`",
            Kind::Receive { .. } => "`receive`",
            Kind::Barrier => "`barrier`",
        }
    }

    /// Its number, and what of it ranks have to agree on besides.
    fn words(self) -> [u64; 2] {
        let number = |rank: usize| rank as u64;
        match self {
            Kind::AllReduce(reduce) => [0, code(reduce)],
            Kind::AllGather => [1, 0],
            Kind::ReduceScatter(reduce) => [2, code(reduce)],
            Kind::Broadcast { root } => [3, number(root)],
            Kind::Send { peer } => [4, number(peer)],
            Kind::Receive { peer } => [5, number(peer)],
            Kind::Barrier => [6, 0],
        }
    }

    fn of(words: [u64; 2]) -> Option<Kind> {
        let reduce = || Reduce::ALL.into_iter().find(|reduce| code(*reduce) == words[1]);
        let rank = || usize::try_from(words[1]).ok();
        Some(match words[0] {
            0 => Kind::AllReduce(reduce()?),
            1 => Kind::AllGather,
            2 => Kind::ReduceScatter(reduce()?),
            3 => Kind::Broadcast { root: rank()? },
            4 => Kind::Send { peer: rank()? },
            5 => Kind::Receive { peer: rank()? },
            6 => Kind::Barrier,
            _ => return None,
        })
    }
}

fn code(reduce: Reduce) -> u64 {
    match reduce {
        Reduce::Sum => 0,
        Reduce::Product => 1,
        Reduce::Max => 2,
        Reduce::Min => 3,
        Reduce::Average => 4,
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::AllReduce(reduce) => write!(f, "`all_reduce` to {reduce}"),
            Kind::AllGather => f.write_str("`all_gather`"),
            Kind::ReduceScatter(reduce) => write!(f, "`reduce_scatter` to {reduce}"),
            Kind::Broadcast { root } => write!(f, "`broadcast` from rank {root}"),
            Kind::Send { peer } => write!(f, "`send` to rank {peer}"),
            Kind::Receive { peer } => write!(f, "`receive` from rank {peer}"),
            Kind::Barrier => f.write_str("`barrier`"),
        }
    }
}

/// What ranks compare of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    kind: Kind,
    dtype: DType,
    count: u64,
    /// The number of the call, from 0, among those that ranks compare.
    number: u64,
}

impl Descriptor {
    /// Bytes of one.
    pub(crate) const LEN: usize = 40;

    pub(crate) fn new(call: &Call, number: u64) -> Descriptor {
        Descriptor { kind: call.kind, dtype: call.dtype, count: call.count as u64, number }
    }

    pub(crate) fn to_bytes(self) -> [u8; Self::LEN] {
        let [kind, of] = self.kind.words();
        let dtype = DType::ALL.iter().position(|dtype| *dtype == self.dtype).unwrap_or(usize::MAX) as u64;
        let mut bytes = [0; Self::LEN];
        for (word, place) in [kind, of, dtype, self.count, self.number].into_iter().zip(bytes.chunks_exact_mut(8)) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// A descriptor and the bytes after it; `None` if they begin with none.
    pub(crate) fn split(bytes: &[u8]) -> Option<(Descriptor, &[u8])> {
        let (own, rest) = bytes.split_at_checked(Self::LEN)?;
        let mut words = own.chunks_exact(8).map(|word| word.try_into().map_or(u64::MAX, u64::from_le_bytes));
        let kind = Kind::of([words.next()?, words.next()?])?;
        let dtype = *DType::ALL.get(usize::try_from(words.next()?).ok()?)?;
        Some((Descriptor { kind, dtype, count: words.next()?, number: words.next()? }, rest))
    }

    /// Refuses what a peer sent, unless it is what is received.
    pub(crate) fn check_sent(self, sent: Option<Descriptor>, from: usize) -> Result<()> {
        let Kind::Receive { .. } = self.kind else { return Ok(()) };
        let fits = |sent: &Descriptor| (sent.dtype, sent.count) == (self.dtype, self.count);
        if sent.as_ref().is_some_and(fits) { Ok(()) } else { Err(mismatch(from, sent, self)) }
    }
}

/// Refuses calls of ranks that differ from this rank's.
pub(crate) fn agree(rank: usize, all: &[Option<Descriptor>], ours: Descriptor) -> Result<()> {
    match all.iter().enumerate().find(|(other, theirs)| *other != rank && **theirs != Some(ours)) {
        None => Ok(()),
        Some((other, theirs)) => Err(mismatch(other, *theirs, ours)),
    }
}

fn mismatch(rank: usize, found: Option<Descriptor>, expected: Descriptor) -> Error {
    let found = found.map_or_else(|| "what this version does not know".to_string(), |found| found.to_string());
    Error::Mismatch { rank, found, expected: expected.to_string() }
}

impl fmt::Display for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Descriptor { kind, dtype, count, number } = self;
        match kind {
            Kind::Barrier => write!(f, "{kind} (call {number})"),
            Kind::Send { .. } | Kind::Receive { .. } => write!(f, "{kind} with {count} elements of {dtype}"),
            Kind::AllReduce(_) | Kind::AllGather | Kind::ReduceScatter(_) | Kind::Broadcast { .. } => {
                write!(f, "{kind} with {count} elements of {dtype} (call {number})")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_read_as_they_are_written() {
        let reductions = Reduce::ALL.into_iter().flat_map(|r| [Kind::AllReduce(r), Kind::ReduceScatter(r)]);
        let others = [Kind::AllGather, Kind::Barrier, Kind::Broadcast { root: 3 }];
        let kinds = reductions.chain(others).chain([Kind::Send { peer: 1 }, Kind::Receive { peer: 2 }]);
        for (kind, &dtype) in kinds.zip(DType::ALL.iter().cycle()) {
            let written = Descriptor { kind, dtype, count: 12345, number: 7 };
            let bytes = [&written.to_bytes()[..], &[9]].concat();
            assert_eq!(Descriptor::split(&bytes), Some((written, &[9][..])));
        }
        assert_eq!(Descriptor::split(&[0; Descriptor::LEN - 1]), None);
        assert_eq!(Descriptor::split(&[0xff; Descriptor::LEN]), None);
    }

    #[test]
    fn each_rank_learns_of_another_call() {
        let sum = |count| Descriptor { kind: Kind::AllReduce(Reduce::Sum), dtype: DType::F32, count, number: 2 };
        assert_eq!(agree(0, &[Some(sum(3)); 3], sum(3)), Ok(()));
        let all = [Some(sum(3)), Some(sum(4)), Some(sum(3))];
        for rank in 0..3 {
            let Err(Error::Mismatch { rank: other, .. }) = agree(rank, &all, all[rank].expect("a descriptor")) else {
                panic!("rank {rank} does not know");
            };
            assert_eq!(other, usize::from(rank != 1));
        }
        let error = agree(0, &all, sum(3)).unwrap_err().to_string();
        let start = "rank 1 called `all_reduce` to the sum with 4 elements of f32 (call 2), but this rank called `all_reduce` to the sum with 3";
        assert!(error.starts_with(start), "{error}");
    }
}
