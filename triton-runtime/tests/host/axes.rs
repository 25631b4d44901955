//! Changes of the axes of views: every element is where the definition says, and what is refused is said.

use crate::support::{image, kernel, launch_of, param};
use triton_ir::metadata::{Arg, ParamType, Specialization};
use triton_ir::types::DType;
use triton_runtime::{Buffer, ComputeCapability, Device, Error, LaunchArg, Result, View, ViewMut};

fn buffer(len: usize) -> Buffer<f32> {
    Device::cpu().stream().and_then(|stream| stream.zeros(len)).expect("the CPU has memory")
}

/// Each index of an array, the last axis fastest.
fn indices<const R: usize>(shape: [usize; R]) -> Vec<[usize; R]> {
    let count = shape.iter().product();
    let index = |mut number: usize| {
        let mut index = [0; R];
        for axis in (0..R).rev() {
            index[axis] = number % shape[axis];
            number /= shape[axis];
        }
        index
    };
    (0..count).map(index).collect()
}

/// Which element of the buffer an index of a view names.
fn element<const R: usize>(x: &Buffer<f32>, view: View<'_, f32, R>, index: [usize; R]) -> usize {
    let steps: usize = index.iter().zip(view.strides()).map(|(i, stride)| i * stride.unsigned_abs()).sum();
    let element = ((view.address() - x.address()) / 4) as usize + steps;
    assert!(element < x.len(), "{view:?} at {index:?}");
    element
}

/// Compares a view with the view it was made of: `from` says which index of that one an index stands for.
fn check<const R: usize, const M: usize>(
    x: &Buffer<f32>,
    before: View<'_, f32, R>,
    after: View<'_, f32, M>,
    count: usize,
    from: impl Fn([usize; M]) -> [usize; R],
) {
    let all = indices(after.shape());
    assert_eq!(all.len(), count, "{before:?} to {after:?}");
    for index in all {
        assert_eq!(element(x, after, index), element(x, before, from(index)), "{before:?} to {after:?} at {index:?}");
    }
}

/// Views of all kinds: dense, with gaps, transposed, with axes of one element, of none, and repeated ones.
fn views(x: &Buffer<f32>) -> Result<Vec<View<'_, f32, 3>>> {
    Ok(vec![
        x.view([2, 3, 4])?,
        x.view([4, 6, 2])?.with_offset(5)?,
        x.view([2, 3, 4])?.with_strides([40, 10, 2])?.with_offset(3)?,
        x.view([2, 3, 4])?.transpose(),
        x.view([1, 6, 4])?,
        x.view([6, 1, 4])?.with_strides([4, 77, 1])?,
        x.view([6, 4, 1])?.with_strides([4, 1, 0])?,
        x.view([6, 4, 2])?.with_strides([0, 0, 1])?,
        x.view([6, 0, 2])?.with_offset(100)?,
        x.view([0, 3, 4])?.with_strides([1000, 50, 1])?,
    ])
}

#[test]
fn elements_are_where_the_definition_says() -> Result<()> {
    let x = buffer(100);
    for view in views(&x)? {
        let shape = view.shape();
        let count = |shape: [usize; 3]| shape.iter().product::<usize>();
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            check(&x, view, view.permute(order)?, count(shape), |index| {
                let mut from = [0; 3];
                order.iter().zip(index).for_each(|(axis, i)| from[*axis] = i);
                from
            });
        }
        for axis in 0..3 {
            for start in 0..=shape[axis] {
                for end in start..=shape[axis] {
                    let mut part = shape;
                    part[axis] = end - start;
                    check(&x, view, view.narrow(axis, start..end)?, count(part), |mut index| {
                        index[axis] += start;
                        index
                    });
                }
            }
            let mut others = shape;
            others[axis] = 1;
            for at in 0..shape[axis] {
                check(&x, view, view.select(axis, at)?, count(others), |index| {
                    let mut left = index.into_iter();
                    std::array::from_fn(|i| if i == axis { at } else { left.next().unwrap_or_default() })
                });
            }
            for outer in (1..=shape[axis]).filter(|outer| shape[axis].is_multiple_of(*outer)) {
                let inner = shape[axis] / outer;
                check(&x, view, view.split(axis, [outer, inner])?, count(shape), |index: [usize; 4]| {
                    let mut from: [usize; 3] = std::array::from_fn(|i| index[if i <= axis { i } else { i + 1 }]);
                    from[axis] = index[axis] * inner + index[axis + 1];
                    from
                });
                // What was split merges again.
                let again = view.split(axis, [outer, inner])?.merge(axis)?;
                check(&x, view, again, count(shape), |index| index);
            }
            if shape[axis] == 1 {
                let mut repeated = shape;
                repeated[axis] = 5;
                check(&x, view, view.broadcast(axis, 5)?, count(repeated), |mut index| {
                    index[axis] = 0;
                    index
                });
            }
        }
    }
    Ok(())
}

/// Two axes merge exactly where one stride leads through them.
#[test]
fn axes_merge_where_a_stride_leads_through_them() -> Result<()> {
    let x = buffer(64);
    let mut merged = 0;
    for [a, b] in indices([4, 4]) {
        for [s, t] in indices([9, 5]) {
            let view = x.view([a, b])?.with_strides([s as isize, t as isize])?;
            let places: Vec<usize> = indices([a, b]).into_iter().map(|index| element(&x, view, index)).collect();
            let even = places.windows(3).all(|w| w[2] + w[0] == 2 * w[1]) && places.is_sorted();
            match view.merge(0) {
                Ok(line) => {
                    merged += 1;
                    check(&x, view, line, a * b, |[i]| [i / b, i % b]);
                }
                Err(Error::Merge { axis: 0, extents, strides, .. }) => {
                    assert!(!even, "{view:?} has one stride");
                    assert_eq!((extents, strides), ([a, b], [s as isize, t as isize]));
                }
                Err(error) => return Err(error),
            }
        }
    }
    assert!(merged > 300, "only {merged} were merged");
    Ok(())
}

#[test]
fn what_is_refused() -> Result<()> {
    let x = buffer(24);
    let view = x.view([2, 3, 4])?;
    let text = |view: Result<View<'_, f32, 3>>| view.unwrap_err().to_string();
    let range = "does not lie in axis 1 of the view, which has 3 elements";
    let cases: &[(String, &str)] = &[
        (text(view.permute([0, 1, 1])), "[0, 1, 1] is not an order of the axes of the view; name each of 0 to 2 once"),
        (text(view.permute([1, 2, 3])), "[1, 2, 3] is not an order of the axes of the view; name each of 0 to 2 once"),
        (text(view.narrow(3, ..)), "the view has no axis 3: it has 3, numbered from 0"),
        (text(view.narrow(1, 2..4)), &format!("the range 2..4 {range}")),
        (text(view.narrow(1, ..=usize::MAX)), &format!("the range 0..{} {range}", usize::MAX)),
        (text(view.narrow(1, std::ops::Range { start: 2, end: 1 })), &format!("the range 2..1 {range}")),
        (view.select(1, 3).unwrap_err().to_string(), &format!("the range 3..4 {range}")),
        (view.select(3, 0).unwrap_err().to_string(), "the view has no axis 3: it has 3, numbered from 0"),
        (
            view.split(2, [3, 2]).unwrap_err().to_string(),
            "axis 2 of the view has 4 elements, and does not split into 3 times 2; the product of the two must be 4",
        ),
        (view.split(4, [1, 1]).unwrap_err().to_string(), "the view has no axis 4: it has 3, numbered from 0"),
        (view.merge(2).unwrap_err().to_string(), "the view has no axis 3: it has 3, numbered from 0"),
        (view.merge(9).unwrap_err().to_string(), "the view has no axis 9: it has 3, numbered from 0"),
        (
            view.transpose().merge(1).unwrap_err().to_string(),
            "axes 1 and 2 of the view, with extents [4, 3] and strides [1, 4], do not merge: the first stride must be the \
             second one times the second extent; copy the elements to a buffer in which they are dense",
        ),
        (
            text(view.broadcast(0, 7)),
            "axis 0 of the view has 2 elements, but an axis is repeated only if it has 1; narrow it first",
        ),
        (text(view.broadcast(3, 7)), "the view has no axis 3: it has 3, numbered from 0"),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }

    // Products that wrap around to the extent, and extents that kernels cannot count.
    let none = x.view([0, 1])?;
    assert!(matches!(none.split(0, [1 << 33, 1 << 33]), Err(Error::Split { extent: 0, .. })));
    assert!(matches!(none.split(0, [0, 1 << 33]), Err(Error::Extent { axis: 1, .. })));
    assert_eq!(none.split(0, [0, 7])?.shape(), [0, 7, 1]);
    let one = x.view([1, 1])?;
    assert!(matches!(one.broadcast(1, 1 << 31), Err(Error::Extent { axis: 1, .. })));
    let many = one.broadcast(0, i32::MAX as usize)?.broadcast(1, i32::MAX as usize)?;
    assert!(matches!(many.merge(0), Err(Error::Extent { axis: 0, .. })));
    assert_eq!(one.broadcast(0, 8)?.broadcast(1, 4)?.merge(0)?.strides(), [0]);
    // Strides that fit no buffer are those of axes without a second element.
    let far = x.view([6, 1])?.with_strides([4, isize::MAX])?.split(1, [1, 1])?;
    assert_eq!(far.merge(0)?.merge(0)?.shape(), [6]);
    Ok(())
}

/// A mutable view is changed as one for reading is, stays without aliases, and is used again where it was borrowed.
#[test]
fn mutable_views() -> Result<()> {
    fn bits<const R: usize>(view: ViewMut<'_, f32, R>) -> Vec<u64> {
        LaunchArg::tensor_mut::<f32, R, _>(view).values().map(Arg::bits).collect()
    }
    let mut x = buffer(48);
    let first = x.address();
    let mut view = x.view_mut([4, 12])?;
    assert_eq!(bits(view.reborrow().permute([1, 0])?), [first, 12, 4, 1, 12]);
    assert_eq!(bits(view.reborrow().narrow(1, 3..)?.select(0, 2)?), [first + (2 * 12 + 3) * 4, 9, 1]);
    assert_eq!(bits(view.reborrow().split(1, [3, 4])?), [first, 4, 3, 4, 12, 4, 1]);
    assert_eq!(bits(view.reborrow().merge(0)?), [first, 48, 1]);
    assert!(matches!(view.reborrow().narrow(1, ..6)?.merge(0), Err(Error::Merge { .. })));
    // What a change gives is checked as ever.
    let part = view.reborrow().narrow(1, ..6)?.split(1, [2, 3])?;
    assert!(matches!(part.with_strides([12, 1, 1]), Err(Error::Overlap { .. })));
    assert_eq!(bits(view), [first, 4, 12, 12, 1]);
    Ok(())
}

/// The code follows from where the view is, however it came there.
#[test]
fn promises() -> Result<()> {
    let images = ["special", "aligned", "unit", "general"].into_iter().zip([
        Specialization::Divisible16,
        Specialization::Aligned16,
        Specialization::UnitStride,
        Specialization::Generic,
    ]);
    let images = images.map(|(entry, assumed)| image(entry, "\0", assumed, 32)).collect();
    let ty = ParamType::Tensor { dtype: DType::F32, rank: 2, mutable: false };
    let reads = kernel("reads", vec![param("x", ty, 1)], images);
    let x = buffer(64 * 64);
    let view = x.view([64, 64])?;
    let device = Device::cpu();
    let cases: &[(View<'_, f32, 2>, &str)] = &[
        (view.narrow(0, 3..7)?, "special"),
        (view.narrow(1, 4..20)?, "special"),
        (view.narrow(1, 4..21)?, "aligned"),
        (view.narrow(1, 1..17)?, "unit"),
        (view.narrow(1, 2..)?, "unit"),
        (view.split(1, [8, 8])?.select(1, 3)?, "special"),
        (view.split(1, [8, 8])?.select(2, 4)?, "general"),
        (view.split(0, [32, 2])?.select(1, 1)?, "special"),
        (view.permute([1, 0])?, "general"),
        (x.view([1, 64])?.broadcast(0, 9)?, "special"),
        (x.view([64, 1])?.broadcast(1, 16)?, "general"),
        (View::none(&device), "special"),
    ];
    for (view, entry) in cases {
        let launch = launch_of(reads, [LaunchArg::tensor(view)]);
        assert_eq!(launch.image(ComputeCapability::new(8, 0), None)?.entry, *entry, "{view:?}");
    }
    Ok(())
}

#[test]
fn absent_operands() -> Result<()> {
    let device = Device::cpu();
    let none = View::<f32, 3>::none(&device);
    assert_eq!((none.shape(), none.address(), none.device()), ([0; 3], 0, &device));
    let values = |arg: LaunchArg<'_>| arg.values().collect::<Vec<_>>();
    let scalars = [0, 0, 0, 0, 0, 1].map(Arg::Scalar);
    let expected: Vec<Arg> = [Arg::Ptr(0)].into_iter().chain(scalars).collect();
    assert_eq!(values(LaunchArg::tensor(none)), expected);
    assert_eq!(values(LaunchArg::tensor_mut(ViewMut::<f32, 3>::none(&device))), expected);
    assert!(matches!(none.with_offset(1), Err(Error::View { len: 0, .. })));
    assert_eq!(none.select(0, 0).map(drop).unwrap_err(), none.narrow(0, 0..1).map(drop).unwrap_err());
    assert_eq!(format!("{none:?}"), "View(f32 [0, 0, 0] with strides [0, 0, 0] from element 0 on, on CPU)");
    Ok(())
}

/// Both parts may be written at once: neither may come to have an element of the other, whatever is done to its axes.
#[test]
fn parts_of_a_view_keep_to_their_elements() -> Result<()> {
    let mut x = buffer(4 * 6);
    let halves = |x: &mut Buffer<f32>| -> Result<[Vec<usize>; 2]> {
        let first = x.address();
        let (left, right) = x.view_mut([4, 6])?.split_at(1, 2)?;
        let own = |view: &ViewMut<'_, f32, 2>| {
            let start = ((view.address() - first) / 4) as usize;
            let steps = |[i, j]: [usize; 2]| i * view.strides()[0] as usize + j * view.strides()[1] as usize;
            indices(view.shape()).into_iter().map(|index| start + steps(index)).collect::<Vec<_>>()
        };
        Ok([own(&left), own(&right)])
    };
    let [left, right] = halves(&mut x)?;
    let mut all: Vec<usize> = left.into_iter().chain(right).collect();
    all.sort_unstable();
    assert_eq!(all, (0..24).collect::<Vec<_>>());

    fn part(x: &mut Buffer<f32>) -> Result<ViewMut<'_, f32, 2>> {
        Ok(x.view_mut([4, 6])?.split_at(1, 2)?.0)
    }
    assert_eq!(part(&mut x)?.with_strides([6, 3]).unwrap_err(), Error::Part);
    assert_eq!(part(&mut x)?.with_offset(2).unwrap_err(), Error::Part);
    assert_eq!(part(&mut x)?.as_strided([24], [1]).unwrap_err(), Error::Part);
    // It is of the elements, not of the axes that they have.
    assert_eq!(part(&mut x)?.permute([1, 0])?.select(0, 1)?.as_strided([6], [1]).unwrap_err(), Error::Part);
    assert_eq!(part(&mut x)?.split(0, [2, 2])?.with_offset(0).unwrap_err(), Error::Part);
    assert_eq!(part(&mut x)?.as_view().with_strides([0, 0]).unwrap_err(), Error::Part);
    assert_eq!(part(&mut x)?.split_at(0, 1)?.1.shape(), [3, 2]);
    Ok(())
}

/// A reshape exists exactly where strides do, and has the elements in the same order.
#[test]
fn reshapes_are_found_where_strides_are() -> Result<()> {
    let x = buffer(64);
    let mut shapes = Vec::new();
    for a in [1, 2, 3, 4, 6, 8, 12, 24] {
        for b in [1, 2, 3, 4, 6, 8, 12, 24] {
            if 24 % (a * b) == 0 {
                shapes.push([a, b, 24 / (a * b)]);
            }
        }
    }
    // The element at each index in row-major order, from the first on.
    let order = |shape: [usize; 3], strides: [isize; 3]| -> Vec<isize> {
        let index = |i: usize| [i / (shape[1] * shape[2]), i / shape[2] % shape[1], i % shape[2]];
        (0..24).map(|i| index(i).iter().zip(strides).map(|(i, stride)| *i as isize * stride).sum()).collect()
    };
    let mut found = [0, 0];
    for &from in &shapes {
        for strides in [[24, 4, 1], [1, 2, 8], [12, 4, 1], [4, 2, 1], [0, 4, 1], [2, 0, 0], [6, 2, 1], [1, 6, 2]] {
            for order_of in [[0, 1, 2], [2, 0, 1], [1, 0, 2]] {
                let Ok(view) = x.view([64])?.as_strided(from, strides) else { continue };
                let view = view.permute(order_of)?;
                let elements = order(view.shape(), view.strides());
                for &to in &shapes {
                    // The strides that it would have to have.
                    let at = |axis: usize| to[axis + 1..].iter().product::<usize>();
                    let strides = [0, 1, 2].map(|axis| if to[axis] > 1 { elements[at(axis)] } else { 0 });
                    let exists = order(to, strides) == elements;
                    let reshaped = view.reshape(to);
                    found[usize::from(exists)] += 1;
                    assert_eq!(reshaped.is_ok(), exists, "{view:?} to {to:?}");
                    if let Ok(reshaped) = reshaped {
                        assert_eq!(order(to, reshaped.strides()), elements, "{view:?} to {to:?}");
                    }
                }
            }
        }
    }
    assert!(found.iter().all(|count| *count > 1000), "{found:?}");
    let error = x.view([4, 6])?.permute([1, 0])?.reshape([24]).unwrap_err().to_string();
    assert!(error.contains("cannot be reshaped to [24]: its elements lie in another order"), "{error}");
    let error = x.view([4, 6])?.reshape([5, 5]).unwrap_err().to_string();
    assert!(error.contains("it has 24 elements, and the shape 25"), "{error}");
    assert_eq!(x.view([0, 6])?.reshape([3, 0])?.shape(), [3, 0]);
    Ok(())
}
