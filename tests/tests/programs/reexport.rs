//! The façade under another path.
#![allow(unused_qualifications, reason = "the long paths are the point")]
mod vendored {
    pub mod inner {
        pub use triton;
    }
}
use vendored::inner::triton as dsl;

#[dsl::kernel(crate = crate::reexport::vendored::inner::triton)]
fn one(x: dsl::lang::PtrMut<f32>) {
    dsl::lang::store(x, 1.0, true);
}

pub(crate) fn main() {}
