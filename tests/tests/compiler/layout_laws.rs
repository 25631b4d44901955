//! Laws of the linear algebra and of the operations on layouts, over every small case.

use triton_core::layout::linear::{Basis, apply, compose, independent, intersect, invert, kernel, rank, solve, units};
use triton_core::layout::{LANES, Layout, Mem};
use triton_core::types::Shape;

/// Every list of `count` vectors of `bits` bits.
fn lists(bits: usize, count: usize) -> impl Iterator<Item = Vec<u32>> {
    let mask = (1u32 << bits) - 1;
    (0..1u32 << (bits * count)).map(move |x| (0..count).map(|i| x >> (bits * i) & mask).collect())
}

/// The span of vectors, by adding up every choice of them.
fn span(vectors: &[u32]) -> Vec<u32> {
    let mut all: Vec<u32> = (0..1u32 << vectors.len()).map(|x| apply(vectors, x)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn every_small_matrix() {
    for (bits, count) in [(1, 3), (2, 4), (3, 3), (3, 4), (4, 3), (3, 5)] {
        for columns in lists(bits, count) {
            let all = span(&columns);
            assert_eq!(1 << rank(columns.iter().copied()), all.len(), "{columns:?}");
            let kept = independent(columns.iter().copied(), &[]);
            assert_eq!((span(&kept), 1 << kept.len()), (all.clone(), all.len()), "{columns:?}");
            let echelon: Vec<u32> = Basis::of(columns.iter().copied()).vectors().collect();
            assert_eq!(span(&echelon), all, "{columns:?}");

            let zeros: Vec<u64> = kernel(&columns);
            assert!(zeros.iter().all(|&k| k != 0 && apply(&columns, k) == 0), "{columns:?}");
            assert_eq!(zeros.len() + kept.len(), count, "{columns:?}");

            for y in 0..1 << bits {
                let found = solve(&columns, y);
                assert_eq!(found.is_some(), all.contains(&y), "{columns:?} {y}");
                if let Some(x) = found {
                    assert_eq!(apply(&columns, x), y, "{columns:?}");
                    // The earliest columns: no other solution has its last one earlier.
                    let best =
                        (0..1u64 << count).filter(|&x| apply(&columns, x) == y).map(|x| 64 - x.leading_zeros()).min();
                    assert_eq!(Some(64 - x.leading_zeros()), best, "{columns:?} {y}");
                }
            }
        }
    }
}

#[test]
fn solutions_are_linear() {
    for columns in lists(3, 4) {
        let basis = Basis::of(columns.iter().copied());
        for (a, b) in (0..64).map(|x| (x & 7, x >> 3)) {
            if let (Some(x), Some(y)) = (basis.solve(a), basis.solve(b)) {
                assert_eq!(basis.solve(a ^ b), Some(x ^ y), "{columns:?}");
            }
        }
    }
}

#[test]
fn inverses() {
    for n in 0..=4 {
        let identity: Vec<u32> = units(n).collect();
        let mut invertible = 0;
        for columns in lists(n, n) {
            match invert(&columns) {
                Some(inverse) => {
                    invertible += 1;
                    assert_eq!(compose(&columns, &inverse), identity, "{columns:?}");
                    assert_eq!(compose(&inverse, &columns), identity, "{columns:?}");
                }
                None => assert!(rank(columns.iter().copied()) < n, "{columns:?}"),
            }
        }
        // The order of the general linear group.
        assert_eq!(invertible, (0..n).map(|i| (1 << n) - (1 << i)).product::<usize>());
    }
}

#[test]
fn intersections() {
    for a in lists(3, 2) {
        for b in lists(3, 3) {
            let both: Vec<u32> = span(&a).into_iter().filter(|&v| span(&b).contains(&v)).collect();
            let found = intersect(&a, &b);
            assert_eq!((span(&found), 1 << found.len()), (both.clone(), both.len()), "{a:?} {b:?}");
        }
    }
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    let shorter = permutations(n - 1);
    shorter
        .iter()
        .flat_map(|p| {
            (0..n).map(move |at| {
                let mut p = p.clone();
                p.insert(at, n - 1);
                p
            })
        })
        .collect()
}

/// Shapes of up to three dimensions and 2^6 elements.
fn shapes() -> Vec<Shape> {
    let extents = [1, 2, 4, 8];
    let mut all = vec![];
    for a in extents {
        all.push(Shape::new(&[a]).unwrap());
        for b in extents {
            all.push(Shape::new(&[a, b]).unwrap());
            all.extend(extents.iter().filter_map(|&c| Shape::new(&[a, b, c])));
        }
    }
    all.into_iter().filter(|s| s.elements() <= 64).collect()
}

/// Layouts of a shape with up to two registers' bits of it, in several orders, some mixed.
fn layouts(shape: Shape) -> Vec<Layout> {
    let mut all = vec![];
    for order in permutations(shape.rank()) {
        for (vector, warps) in [(1, 1), (2, 1), (4, 2), (8, 4)] {
            let layout = Layout::blocked(shape, &order, [vector, 1], warps, &order);
            assert!(layout.covers(shape.elements()), "{shape} {layout}");
            let mut mixed = layout.clone();
            mixed.lane[0] ^= layout.reg.first().copied().unwrap_or(0);
            mixed.lane[1] ^= layout.lane[0];
            all.extend([layout, mixed]);
        }
    }
    all
}

fn coordinates(shape: Shape, element: u32) -> Vec<u32> {
    let mut rest = element;
    let mut all: Vec<u32> = shape
        .dims()
        .iter()
        .rev()
        .map(|&d| {
            let c = rest % d;
            rest /= d;
            c
        })
        .collect();
    all.reverse();
    all
}

fn element(dims: &[u32], coordinates: &[u32]) -> u32 {
    dims.iter().zip(coordinates).fold(0, |e, (&d, &c)| e * d + c)
}

fn places(layout: &Layout) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
    let (registers, warps) = (layout.registers(), 1 << layout.warp.len());
    (0..registers * LANES * warps).map(move |x| (x % registers, x / registers % LANES, x / registers / LANES))
}

#[test]
fn transpositions() {
    for shape in shapes() {
        for layout in layouts(shape) {
            for perm in permutations(shape.rank()) {
                let dims: Vec<u32> = perm.iter().map(|&p| shape.dims()[p]).collect();
                let moved = layout.trans(shape, &perm).unwrap();
                for (r, l, w) in places(&layout) {
                    let before = coordinates(shape, layout.element(r, l, w));
                    let after: Vec<u32> = perm.iter().map(|&p| before[p]).collect();
                    assert_eq!(moved.element(r, l, w), element(&dims, &after), "{layout} {shape} {perm:?}");
                }
                let mut back = vec![0; perm.len()];
                perm.iter().enumerate().for_each(|(i, &p)| back[p] = i);
                assert_eq!(moved.trans(Shape::new(&dims).unwrap(), &back), Some(layout.clone()));
            }
        }
    }
}

#[test]
fn axes_come_and_go() {
    for shape in shapes() {
        for layout in layouts(shape) {
            for axis in 0..=shape.rank() {
                for extent in [1, 2, 4] {
                    let mut dims = shape.dims().to_vec();
                    dims.insert(axis, extent);
                    let big = Shape::new(&dims).unwrap();
                    let wide = layout.insert_axis(shape, axis, extent).unwrap();
                    assert!(wide.covers(big.elements()), "{wide}");
                    for (r, l, w) in places(&wide) {
                        let mut c = coordinates(big, wide.element(r, l, w));
                        c.remove(axis);
                        let narrow = r / extent as usize;
                        assert_eq!(element(shape.dims(), &c), layout.element(narrow, l, w), "{layout} {axis}");
                    }
                    assert_eq!(wide.slice_axis(big, axis), Some(layout.clone()));
                }
            }
            assert_eq!(layout.insert_axis(shape, shape.rank() + 1, 2), None);
        }
    }
}

/// A thread holds the results of those elements that it holds.
#[test]
fn slices() {
    for shape in shapes() {
        for layout in layouts(shape) {
            for axis in 0..shape.rank() {
                let mut dims = shape.dims().to_vec();
                dims.remove(axis);
                let slice = layout.slice_axis(shape, axis).unwrap();
                assert!(slice.covers(dims.iter().map(|&d| u64::from(d)).product()), "{slice}");
                for (lane, warp) in [(0, 0), (5, 0), (31, (1 << layout.warp.len()) - 1)] {
                    let sorted = |mut all: Vec<u32>| {
                        all.sort_unstable();
                        all.dedup();
                        all
                    };
                    let of = |l: &Layout| (0..l.registers()).map(|r| l.element(r, lane, warp)).collect::<Vec<u32>>();
                    let expected = of(&layout).into_iter().map(|e| {
                        let mut c = coordinates(shape, e);
                        c.remove(axis);
                        element(&dims, &c)
                    });
                    assert_eq!(sorted(of(&slice)), sorted(expected.collect()), "{layout} {shape} {axis}");
                }
            }
        }
    }
}

#[test]
fn pairs_join_and_split() {
    for shape in shapes() {
        for layout in layouts(shape) {
            let joined = layout.join();
            assert!(joined.covers(2 * shape.elements()));
            assert_eq!(joined.split(), Some(layout.clone()));
            for (r, l, w) in places(&layout) {
                for half in 0..2 {
                    assert_eq!(joined.element(2 * r + half, l, w), 2 * layout.element(r, l, w) + half as u32);
                }
            }
        }
    }
}

/// Threads that the masks leave hold every element exactly once; and every element has the position that is asked for.
#[test]
fn replication_and_places() {
    for shape in shapes() {
        for layout in layouts(shape) {
            let (lanes, warps) = layout.replicated();
            let mut times = vec![0; shape.elements() as usize];
            for (r, l, w) in places(&layout) {
                if l as u32 & lanes == 0 && w as u32 & warps == 0 {
                    times[layout.element(r, l, w) as usize] += 1;
                }
            }
            assert!(times.iter().all(|&n| n == 1), "{layout}");
            let places = (layout.registers() * LANES) << layout.warp.len();
            assert_eq!(u64::from(layout.copies()) * shape.elements(), places as u64);
            for e in 0..shape.elements() as u32 {
                let position = layout.position_of(e).unwrap() as usize;
                let (r, thread) = (position % layout.registers(), position / layout.registers());
                assert_eq!(layout.element(r, thread % LANES, thread / LANES), e, "{layout}");
            }
            assert_eq!(layout.position_of(shape.elements() as u32), None);
        }
    }
}

/// Names of whole registers do not matter to the key; names of their halves do.
#[test]
fn canonical_keys() {
    let base = |reg: Vec<u32>| Layout { reg, lane: [16, 32, 64, 128, 256], warp: vec![] };
    for rest in permutations(3) {
        let reg: Vec<u32> = std::iter::once(1).chain(rest.iter().map(|&i| [2, 4, 8][i])).collect();
        let mut summed = reg.clone();
        summed[3] ^= summed[1];
        for bits in [16, 32, 64] {
            assert_eq!(base(reg.clone()).canonical(bits), base(vec![1, 2, 4, 8]));
            assert_eq!(base(summed.clone()).canonical(bits), base(vec![1, 2, 4, 8]));
        }
    }
    assert_ne!(base(vec![2, 1, 4, 8]).canonical(16), base(vec![1, 2, 4, 8]).canonical(16));
    assert_eq!(base(vec![2, 1, 4, 8]).canonical(32), base(vec![1, 2, 4, 8]).canonical(32));
}

#[test]
fn memories_are_inverses() {
    for off in lists(3, 3).filter(|off| invert(off).is_some()) {
        let mem = Mem::new(off.clone(), 32).unwrap();
        for offset in 0..8 {
            assert_eq!(mem.offset(apply(&off, offset)), offset, "{mem}");
        }
        assert_eq!(mem.bytes(), 32);
    }
}
