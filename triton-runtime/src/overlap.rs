//! Aliasing: whether two indices of a strided array are the same element.

use std::fmt;

/// Arrays of up to this many elements are checked exhaustively if nothing faster decides.
const SMALL: usize = 1 << 20;

/// Why an array cannot be mutable.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Overlap<const R: usize> {
    /// Two indices of one element, in order.
    Found([usize; R], [usize; R]),
    /// Unknown: deciding would take too long.
    Unknown,
}

impl<const R: usize> fmt::Display for Overlap<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Overlap::Found(a, b) => write!(f, "its elements {a:?} and {b:?} alias"),
            Overlap::Unknown => write!(
                f,
                "the strides do not tell whether elements alias, and more than {SMALL} of them are too many to try"
            ),
        }
    }
}

/// Looks for two indices of one element, where every element's offset fits `u64` and no stride is negative.
///
/// Exact for up to two axes of more than one element, for strides that nest, and for small arrays; else it may answer
/// [`Overlap::Unknown`].
pub(crate) fn find<const R: usize>(extents: [usize; R], strides: [isize; R]) -> Option<Overlap<R>> {
    if extents.contains(&0) {
        return None;
    }
    // (stride, extent, axis), the axes of extent 1 after the others.
    let mut axes = [(u64::MAX, 1, 0); R];
    for (i, axis) in axes.iter_mut().enumerate().filter(|(i, _)| extents[*i] > 1) {
        *axis = (strides[i].unsigned_abs() as u64, extents[i] as u64, i);
    }
    axes.sort_unstable();
    let axes = &axes[..extents.iter().filter(|e| **e > 1).count()];

    // Nested: a step along each axis passes all that the axes before it reach.
    let mut reach = 0;
    let nested = axes.iter().all(|&(stride, extent, _)| {
        let clear = stride > reach;
        reach += (extent - 1) * stride;
        clear
    });
    if nested {
        return None;
    }
    let along = |axis: usize, n: u64| {
        let mut index = [0; R];
        index[axis] = n as usize;
        index
    };
    if let Some(&(0, _, axis)) = axes.first() {
        return Some(Overlap::Found([0; R], along(axis, 1)));
    }
    // Two axes meet first at their strides' least common multiple.
    for (i, &(stride, extent, axis)) in axes.iter().enumerate() {
        for &(other_stride, other_extent, other_axis) in &axes[i + 1..] {
            let g = gcd(stride, other_stride);
            let (steps, other_steps) = (other_stride / g, stride / g);
            if steps < extent && other_steps < other_extent {
                return Some(found(along(axis, steps), along(other_axis, other_steps)));
            }
        }
    }
    if axes.len() <= 2 {
        return None;
    }
    match extents.iter().try_fold(1usize, |n, e| n.checked_mul(*e)) {
        Some(count) if count <= SMALL => collide(extents, strides, count),
        Some(_) | None => Some(Overlap::Unknown),
    }
}

/// The most axes of an array that [`aliasing`] takes: more than there are letters for.
const MOST_AXES: usize = 64;

/// Why two indices of an array may be the same element, if they may: for arrays of more axes than views have. Every element's offset fits `u64`.
pub fn aliasing(shape: &[usize], strides: &[usize]) -> Option<String> {
    let (mut extents, mut steps) = ([1; MOST_AXES], [0; MOST_AXES]);
    let axes = shape.iter().zip(strides);
    if shape.len() > MOST_AXES {
        return Some(format!("it has more than {MOST_AXES} axes"));
    }
    for (axis, (extent, stride)) in axes.enumerate() {
        (extents[axis], steps[axis]) = (*extent, isize::try_from(*stride).unwrap_or(isize::MAX));
    }
    match find(extents, steps)? {
        Overlap::Found(a, b) => Some(format!("its elements {:?} and {:?} alias", &a[..shape.len()], &b[..shape.len()])),
        unknown @ Overlap::Unknown => Some(unknown.to_string()),
    }
}

fn found<const R: usize>(a: [usize; R], b: [usize; R]) -> Overlap<R> {
    Overlap::Found(a.min(b), a.max(b))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Computes every element's offset, sorts, and compares neighbours.
fn collide<const R: usize>(extents: [usize; R], strides: [isize; R], count: usize) -> Option<Overlap<R>> {
    let index = |mut number: usize| {
        let mut index = [0; R];
        for axis in (0..R).rev() {
            index[axis] = number % extents[axis];
            number /= extents[axis];
        }
        index
    };
    let offset = |number: usize| -> u64 {
        index(number).iter().zip(strides).map(|(i, stride)| *i as u64 * stride.unsigned_abs() as u64).sum()
    };
    let mut offsets: Vec<(u64, usize)> = (0..count).map(|number| (offset(number), number)).collect();
    offsets.sort_unstable();
    let same = offsets.windows(2).find(|pair| pair[0].0 == pair[1].0)?;
    Some(found(index(same[0].1), index(same[1].1)))
}

#[cfg(test)]
mod tests {
    use super::{Overlap, collide, find};

    /// Every small shape, against trying out.
    #[test]
    fn agrees_with_trying_out() {
        let mut overlapping = 0;
        for number in 0..(4usize * 8).pow(3) {
            let mut n = number;
            let mut digit = |base: usize| {
                let digit = n % base;
                n /= base;
                digit
            };
            let extents = [digit(4), digit(4), digit(4)];
            let strides = [digit(8) as isize, digit(8) as isize, digit(8) as isize];
            let exact = collide(extents, strides, extents.iter().product());
            let found = find(extents, strides);
            assert_eq!(found.is_some(), exact.is_some(), "{extents:?} {strides:?}: {found:?}, but {exact:?}");
            if let Some(Overlap::Found(a, b)) = found {
                let offset = |i: [usize; 3]| i.iter().zip(strides).map(|(i, s)| *i as isize * s).sum::<isize>();
                assert!(a < b && offset(a) == offset(b), "{extents:?} {strides:?}: {a:?} {b:?}");
                assert!((0..3).all(|i| a[i].max(b[i]) < extents[i]), "{extents:?}: {a:?} {b:?}");
                overlapping += 1;
            }
        }
        assert!(overlapping > 1000);
    }

    /// Large arrays: two axes exactly, more only where the strides nest.
    #[test]
    fn large() {
        const BIG: usize = 1 << 30;
        assert_eq!(find([BIG, BIG], [BIG as isize, 1]), None);
        assert_eq!(find([BIG, 3], [3, BIG as isize]), None, "{BIG} is not a multiple of 3 in reach");
        assert_eq!(find([BIG, 4], [2, 6]), Some(Overlap::Found([0, 1], [3, 0])));
        assert_eq!(find([BIG, 2, 2], [4, 1, 2]), None);
        assert_eq!(find([BIG, 2, 2], [6, 2, 3]), None);
        assert_eq!(find([2, 2, BIG], [2, 3, 5]), Some(Overlap::Unknown));
    }
}
