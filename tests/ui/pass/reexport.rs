//! The façade under another path.
mod vendored {
    pub mod inner {
        pub use triton;
    }
}
use vendored::inner::triton as dsl;

#[dsl::kernel(crate = crate::vendored::inner::triton)]
fn one(x: dsl::lang::PtrMut<f32>) {
    dsl::lang::store(x, 1.0, true);
}

fn main() {}
