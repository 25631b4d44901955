//! Raw identifiers.
use triton::prelude::*;

#[triton::kernel]
pub fn r#gen(r#type: PtrMut<f32>, r#match: i32) {
    store(r#type + r#match, 1.0, true);
}

pub(crate) fn main() {}
