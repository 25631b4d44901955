//! Every collective on every element type, lengths and world sizes: equal, bit by bit, to a plain loop.

use crate::support::{How, LONG, options, world};
use half::{bf16, f16};
use triton::{Device, Element, Stream, Tensor};
use triton_collective::{Communicator, Error, Reduce, Result};

/// An element type with its values and reductions.
trait Number: Element {
    /// A value that is small and, of a float, not a NaN.
    fn of(random: u64) -> Self;
    fn reduce(reduce: Reduce, values: &[Self]) -> Option<Self>;
}

macro_rules! integer {
    ($($ty:ty)*) => {$(
        impl Number for $ty {
            fn of(random: u64) -> $ty {
                // All bits, so that sums and products overflow.
                random as $ty
            }

            fn reduce(reduce: Reduce, values: &[$ty]) -> Option<$ty> {
                match reduce {
                    Reduce::Sum => values.iter().copied().reduce(<$ty>::wrapping_add),
                    Reduce::Product => values.iter().copied().reduce(<$ty>::wrapping_mul),
                    Reduce::Max => values.iter().copied().max(),
                    Reduce::Min => values.iter().copied().min(),
                    Reduce::Average => None,
                }
            }
        }
    )*};
}

integer!(i8 i32 i64 u8 u32 u64);

macro_rules! moved {
    ($($ty:ty)*) => {$(
        impl Number for $ty {
            fn of(random: u64) -> $ty {
                random as $ty
            }

            fn reduce(_: Reduce, _: &[$ty]) -> Option<$ty> {
                None
            }
        }
    )*};
}

moved!(i16 u16);

macro_rules! float {
    ($($ty:ty, $sum:ty, |$x:ident| $wide:expr, |$y:ident| $narrow:expr;)*) => {$(
        impl Number for $ty {
            fn of(random: u64) -> $ty {
                // From ±0.5 to ±2, so that products stay finite; each bit of the mantissa counts.
                let $y = ((random % 1_500_001) as f64 / 1e6 + 0.5) as $sum * if random >> 63 == 0 { 1.0 } else { -1.0 };
                $narrow
            }

            fn reduce(reduce: Reduce, values: &[$ty]) -> Option<$ty> {
                let mut values = values.iter().map(|$x| $wide);
                let count = values.len() as $sum;
                let first: $sum = values.next()?;
                let $y = match reduce {
                    Reduce::Sum => values.fold(first, |a, b| a + b),
                    Reduce::Average => values.fold(first, |a, b| a + b) / count,
                    Reduce::Product => values.fold(first, |a, b| a * b),
                    Reduce::Max => values.fold(first, <$sum>::max),
                    Reduce::Min => values.fold(first, <$sum>::min),
                };
                Some($narrow)
            }
        }
    )*};
}

float! {
    f16, f32, |x| x.to_f32(), |y| f16::from_f32(y);
    bf16, f32, |x| x.to_f32(), |y| bf16::from_f32(y);
    f32, f32, |x| *x, |y| y;
    f64, f64, |x| *x, |y| y;
}

impl Number for bool {
    fn of(random: u64) -> bool {
        random.is_multiple_of(2)
    }

    fn reduce(reduce: Reduce, values: &[bool]) -> Option<bool> {
        match reduce {
            Reduce::Max => Some(values.contains(&true)),
            Reduce::Min => Some(!values.contains(&false)),
            Reduce::Sum | Reduce::Product | Reduce::Average => None,
        }
    }
}

/// The elements that a rank has.
fn elements<T: Number>(rank: usize, len: usize) -> Vec<T> {
    let mut random = fastrand::Rng::with_seed((rank * 10_000 + len) as u64);
    (0..len).map(|_| T::of(random.u64(..))).collect()
}

fn same<T: Number>(stream: &Stream, found: &Tensor<T, 1>, expected: &[T], what: &str) {
    let found = stream.download(found).expect("a download");
    let len = expected.len();
    assert_eq!(found.len(), expected.len(), "{what} of {}", T::DTYPE);
    let differs = found.iter().zip(expected).position(|(found, expected)| found.to_bits() != expected.to_bits());
    if let Some(at) = differs {
        let (found, expected) = (found[at].to_bits(), expected[at].to_bits());
        panic!("{what}, {} of {}: element {at} is {found:#x}, not {expected:#x}", len, T::DTYPE);
    }
}

fn check<T: Number>(communicator: &Communicator, stream: &Stream, len: usize) -> Result<()> {
    let (rank, world) = (communicator.rank(), communicator.world());
    // What each rank has: `len` elements for each rank.
    let all: Vec<Vec<T>> = (0..world).map(|rank| elements(rank, len * world)).collect();
    let long = stream.tensor(&all[rank], [len * world])?;
    let short = stream.tensor(&all[rank][..len], [len])?;
    let zeros = |len| stream.tensor_zeros::<T, _>([len]);

    let mut gathered = zeros(len * world)?;
    communicator.all_gather(stream, &short, &mut gathered)?;
    let expected: Vec<T> = all.iter().flat_map(|values| values[..len].to_vec()).collect();
    same(stream, &gathered, &expected, "all-gather");

    for root in [0, world - 1] {
        let mut x = stream.tensor(&all[rank][..len], [len])?;
        communicator.broadcast(stream, &mut x, root)?;
        same(stream, &x, &all[root][..len], "broadcast");
    }

    let (next, before) = ((rank + 1) % world, (rank + world - 1) % world);
    let mut received = zeros(len)?;
    communicator.group(stream, |group| {
        group.receive(&mut received, before)?;
        group.send(&short, next)
    })?;
    same(stream, &received, &all[before][..len], "ring");

    for reduce in Reduce::ALL {
        let mut part = zeros(len)?;
        if !reduce.is_defined(T::DTYPE) {
            assert!(T::reduce(reduce, &[T::of(0)]).is_none(), "{reduce} of {}", T::DTYPE);
            let error = communicator.all_reduce(stream, &mut part, reduce).unwrap_err();
            assert!(matches!(error, Error::Type { .. }), "{error}");
            continue;
        }
        // Those of the first part, and of this rank's.
        let mut values = Vec::new();
        let mut reduced = |part: usize| -> Vec<T> {
            let of = |at: usize| {
                values.clear();
                values.extend(all.iter().map(|elements| elements[at]));
                T::reduce(reduce, &values).expect("a reduction")
            };
            (part * len..(part + 1) * len).map(of).collect()
        };
        let (first, own) = (reduced(0), reduced(rank));
        let mut x = stream.tensor(&all[rank][..len], [len])?;
        communicator.all_reduce(stream, &mut x, reduce)?;
        same(stream, &x, &first, &format!("all-reduce to {reduce}"));

        communicator.all_reduce_into(stream, &short, &mut part, reduce)?;
        same(stream, &part, &first, &format!("all-reduce into another to {reduce}"));

        communicator.reduce_scatter(stream, &long, &mut part, reduce)?;
        same(stream, &part, &own, &format!("reduce-scatter to {reduce}"));
    }
    Ok(())
}

pub fn check_all(communicator: &Communicator, lengths: &[usize]) -> Result<()> {
    let stream = communicator.device().stream()?;
    for &len in lengths {
        check::<bool>(communicator, &stream, len)?;
        check::<i8>(communicator, &stream, len)?;
        check::<i16>(communicator, &stream, len)?;
        check::<i32>(communicator, &stream, len)?;
        check::<i64>(communicator, &stream, len)?;
        check::<u8>(communicator, &stream, len)?;
        check::<u16>(communicator, &stream, len)?;
        check::<u32>(communicator, &stream, len)?;
        check::<u64>(communicator, &stream, len)?;
        check::<f16>(communicator, &stream, len)?;
        check::<bf16>(communicator, &stream, len)?;
        check::<f32>(communicator, &stream, len)?;
        check::<f64>(communicator, &stream, len)?;
    }
    communicator.barrier(&stream)?;
    communicator.synchronize(&stream)?;
    communicator.check()
}

#[test]
fn every_collective_is_a_plain_loop() {
    for ranks in 1..=5 {
        for result in world(How::Together, ranks, options(LONG), |one| check_all(&one, &[0, 1, 7, 1023])) {
            result.expect("collectives of a world");
        }
    }
    for ranks in [2, 3] {
        for result in world(How::Id, ranks, options(LONG), |one| check_all(&one, &[4097])) {
            result.expect("collectives of a world");
        }
    }
}

#[test]
fn by_tcp_they_are_the_same() {
    for (how, ranks) in [(How::Address, 2), (How::File, 3)] {
        for result in world(how, ranks, options(LONG), |one| check_all(&one, &[0, 33, 4097])) {
            result.expect("collectives of a world");
        }
    }
}

#[test]
fn views_are_read_and_written_in_place() {
    for result in world(How::Together, 2, options(LONG), |communicator| -> Result<()> {
        let stream = communicator.device().stream()?;
        let mut x = stream.tensor(&[1, 2, 3, 4, 5, 6], [3, 2])?;
        // The middle row alone, and of another rank than the view of its elements.
        communicator.all_reduce(&stream, x.narrow_mut(0, 1..2)?, Reduce::Sum)?;
        assert_eq!(stream.download(&x)?, [1, 2, 6, 8, 5, 6]);
        let mut y = stream.tensor_zeros::<i32, _>([2, 2, 3])?;
        communicator.all_gather(&stream, &x, &mut y)?;
        assert_eq!(stream.download(&y)?, [1, 2, 6, 8, 5, 6, 1, 2, 6, 8, 5, 6]);
        Ok(())
    }) {
        result.expect("collectives of views");
    }
}

#[test]
fn the_simulator_is_a_device() {
    let communicators = Communicator::all_with(&[Device::sim(), Device::sim()], options(LONG)).expect("a world");
    let results = crate::support::threads(communicators, |communicator| -> Result<()> {
        let stream = communicator.device().stream()?;
        check::<f32>(&communicator, &stream, 7)?;
        check::<bool>(&communicator, &stream, 7)?;
        let mut x = stream.tensor(&[communicator.rank() as f32], [1])?;
        let other = Device::cpu().stream()?;
        let error = communicator.all_reduce(&other, &mut x, Reduce::Sum).unwrap_err();
        assert!(matches!(error, Error::Device { what: "the stream", .. }), "{error}");
        let mut y = other.tensor(&[1.0f32], [1])?;
        let error = communicator.all_reduce(&stream, &mut y, Reduce::Sum).unwrap_err();
        assert_eq!(error.to_string(), "x is on CPU, but the communicator is of PTX simulator; make it on that device");
        communicator.barrier(&stream)
    });
    for result in results {
        result.expect("collectives of the simulator");
    }
}
