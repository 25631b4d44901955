//! The output has fewer axes than letters.
use triton::{Stream, View, ViewMut};
use triton_kernels::{Result, contract::contract};

fn product(stream: &Stream, x: View<'_, f32, 2>, y: View<'_, f32, 2>, z: ViewMut<'_, f32, 2>) -> Result<()> {
    contract!("ik,kjl->ijl", x, y => z).launch(stream)
}

fn main() {}
