//! Lists that are nearly always short: up to N items lie in the value itself, and more on the heap.

use std::ops::Deref;

/// Items in order.
#[derive(Clone, Debug)]
pub(super) enum Few<T, const N: usize> {
    /// The first of these, as many as the number says.
    Inline([T; N], usize),
    /// More than N.
    Heap(Vec<T>),
}

impl<T: Copy + Default, const N: usize> FromIterator<T> for Few<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Few<T, N> {
        let (mut inline, mut count, mut items) = ([T::default(); N], 0, items.into_iter());
        for place in &mut inline {
            let Some(item) = items.next() else { return Few::Inline(inline, count) };
            (*place, count) = (item, count + 1);
        }
        match items.next() {
            None => Few::Inline(inline, count),
            Some(next) => Few::Heap(inline.into_iter().chain([next]).chain(items).collect()),
        }
    }
}

impl<T, const N: usize> Deref for Few<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Few::Inline(items, count) => &items[..*count],
            Few::Heap(items) => items,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Few;

    #[test]
    fn items_are_kept_in_order_however_many() {
        for count in 0..10 {
            let few: Few<usize, 4> = (0..count).collect();
            assert_eq!(*few, *(0..count).collect::<Vec<_>>());
            assert_eq!(matches!(few, Few::Inline(..)), count <= 4);
        }
    }
}
