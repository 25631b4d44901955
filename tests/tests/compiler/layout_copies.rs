//! Laws of tiles of several copies of a base tile: shape operations rename copies and elements alike, and memory has one copy after the other.

use triton_core::layout::hopper::{tma_box, wgmma_mem, wgmma_operand};
use triton_core::layout::{Mem, Swizzle};
use triton_core::ops::ShapeChange;
use triton_core::types::Shape;

fn shape(dims: &[u32]) -> Shape {
    Shape::new(dims).expect("a shape")
}

/// Shapes of up to three axes, with copies along none, some and all of them.
fn shapes() -> Vec<Shape> {
    let extents = [1, 2, 3, 4, 6, 12, 20];
    let one = extents.iter().map(|&a| vec![a]);
    let two = extents.iter().flat_map(|&a| extents.iter().map(move |&b| vec![a, b]));
    let three = [1, 2, 3, 6].into_iter().flat_map(|a| [1, 2, 6].into_iter().map(move |b| vec![a, b, 4]));
    one.chain(two).chain(three).map(|dims| shape(&dims)).collect()
}

/// Every copy and element of its base tile.
fn places(shape: Shape) -> impl Iterator<Item = (usize, u32)> {
    let elements = shape.base().elements() as u32;
    (0..shape.num_copies()).flat_map(move |copy| (0..elements).map(move |element| (copy, element)))
}

#[test]
fn permutations_rename_copies_and_elements() {
    for from in shapes() {
        let orders: &[&[u32]] = match from.rank() {
            1 => &[&[0]],
            2 => &[&[0, 1], &[1, 0]],
            _ => &[&[0, 1, 2], &[0, 2, 1], &[1, 0, 2], &[1, 2, 0], &[2, 0, 1], &[2, 1, 0]],
        };
        for order in orders.iter().map(|order| shape(order)) {
            let (to, change) = (from.permute(order).expect("a permutation"), ShapeChange::Permute(order));
            let copies = change.operand_copies(from, to);
            assert_eq!(change.keeps_copies(from, to), copies.iter().copied().eq(0..copies.len()));
            for (copy, element) in places(from) {
                let of_result = copies.iter().position(|&of| of == copy).expect("a copy");
                let renamed = from.base().permute_index(order, element.into()) as u32;
                let index = from.permute_index(order, from.index(copy, element));
                assert_eq!(to.index(of_result, renamed), index, "{from} by {order}");
            }
        }
    }
}

#[test]
fn broadcasts_repeat_copies_and_elements() {
    for (from, to) in shapes().into_iter().flat_map(|from| shapes().into_iter().map(move |to| (from, to))) {
        if !from.broadcasts_to(to) {
            continue;
        }
        let copies = ShapeChange::Broadcast(to).operand_copies(from, to);
        for (copy, element) in places(to) {
            let of = from.base().broadcast_index(to.base(), element.into()) as u32;
            assert_eq!(
                from.index(copies[copy], of),
                from.broadcast_index(to, to.index(copy, element)),
                "{from} to {to}"
            );
        }
    }
}

#[test]
fn reshapes_that_move_nothing() {
    let mut found = 0;
    for (from, to) in shapes().into_iter().flat_map(|from| shapes().into_iter().map(move |to| (from, to))) {
        if from.elements() != to.elements() {
            continue;
        }
        let same = from.num_copies() == to.num_copies()
            && places(from).all(|(copy, element)| from.index(copy, element) == to.index(copy, element));
        assert_eq!(from.has_digits_of(to), same, "{from} to {to}");
        found += usize::from(same && from != to && from.num_copies() > 1);
    }
    assert!(found > 20, "{found}");
}

/// In every part each element has an offset of its own, and no offset is beyond the memory.
#[test]
fn memory_has_one_copy_after_the_other() {
    for shape in [shape(&[12, 8]), shape(&[24, 20]), shape(&[48, 64]), shape(&[3])] {
        let whole = Mem::row_major(shape, 16).expect("memory");
        let copies = shape.num_copies();
        assert!(whole.is_whole(copies) && whole.bytes() == shape.elements() * 2);
        for (at_once, parts) in [(copies as u32, 0), (1, 0), (2, 0), (1, 1)] {
            let Some(mem) = whole.clone().with_copies(at_once).in_parts(parts) else { continue };
            let mut taken = vec![Vec::new(); mem.parts_of(copies) as usize];
            for (copy, element) in places(shape) {
                let (offset, part) = mem.place(copy, element);
                assert!(mem.copies_of_part(part, copies).contains(&copy), "{mem}");
                taken[part as usize].push(offset);
            }
            for (part, mut offsets) in (0..).zip(taken) {
                let held = mem.copies_of_part(part, copies).len() as u64 * mem.copy_bytes() / 2;
                offsets.sort_unstable();
                assert!(offsets.into_iter().eq(0..held as u32) && held * 2 <= mem.bytes(), "{mem} part {part}");
            }
        }
    }
}

/// Where an instruction begins to read is where the element is, and groups of rows, or panels, are as far apart in all copies.
#[test]
fn descriptors_and_boxes_of_copies() {
    let mut found = 0;
    for (mn, k) in [(144, 64), (40, 64), (192, 64), (208, 32), (48, 64), (96, 128), (64, 96), (128, 48)] {
        // [M, K] and [K, N], contiguous along either dimension.
        for (dims, of_k) in [([mn, k], 1), ([k, mn], 0)] {
            let shape = shape(&dims);
            for along in 0..2 {
                let Some(mem) = wgmma_mem(shape, 16, of_k, along, mn) else { continue };
                let operand = wgmma_operand(&mem, shape, of_k).expect("an operand");
                let element = |mn: u32, k: u32| if of_k == 1 { [mn, k] } else { [k, mn] };
                let byte = |at: [u32; 2]| {
                    let base = shape.base();
                    let digit = |axis: usize| at[axis] / base.dims()[axis];
                    let copy = (digit(0) * shape.copies().dims()[1] + digit(1)) as usize;
                    let within = [at[0] % base.dims()[0], at[1] % base.dims()[1]];
                    mem.place(copy, within[0] * base.dims()[1] + within[1]).0 * 2
                };
                let unit = if operand.k_major { 8 } else { operand.swizzle.bytes() / 2 };
                for first in (0..mn).step_by(unit as usize) {
                    for step in (0..k).step_by(16) {
                        assert_eq!(
                            operand.start(first, step, 16),
                            byte(element(first, step)),
                            "{dims:?} along {along}"
                        );
                    }
                    if shape.copies().dims()[1 - of_k] > 1 && first > 0 {
                        let apart = if operand.k_major { operand.sbo } else { operand.lbo };
                        assert_eq!(operand.start(first, 0, 16), operand.start(first - unit, 0, 16) + apart);
                    }
                }
                let Some(boxes) = tma_box(&mem, shape) else { continue };
                let [across, rows] = boxes.extent;
                let panel = rows * boxes.swizzle.bytes();
                assert_eq!(u64::from(boxes.boxes * panel), mem.bytes());
                for (number, row) in (0..boxes.boxes).flat_map(|b| (0..rows).step_by(8).map(move |row| (b, row))) {
                    let at = if boxes.major == 1 { [row, number * across] } else { [number * across, row] };
                    assert_eq!(byte(at), number * panel + row * boxes.swizzle.bytes(), "{dims:?} along {along}");
                }
                found += 1;
            }
        }
    }
    assert!(found > 10, "{found}");
    // Along K in panels, copies along M would be apart by another distance than rows within one.
    assert_eq!(wgmma_mem(shape(&[192, 128]), 16, 1, 1, 64), None);
    assert!(Mem::swizzled(shape(&[192, 128]), 16, Swizzle::B128, 1).is_some());
}
