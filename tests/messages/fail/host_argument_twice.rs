//! A type of the user's that passes one mutable view to a kernel twice.

use triton::prelude::*;

#[triton::kernel]
fn exchange(x: TensorMut<i32, 1>, y: TensorMut<i32, 1>) {
    let i = program_id(0) * 64;
    y.store([63 - i], x.load([i], [64]));
}

struct Twice<'a>(ViewMut<'a, i32, 1>);

impl Clone for Twice<'_> {
    fn clone(&self) -> Self {
        Twice(self.0.clone())
    }
}

impl Copy for Twice<'_> {}

impl<'a> IntoViewMut<'a, i32, 1> for Twice<'a> {
    fn into_view_mut(self) -> ViewMut<'a, i32, 1> {
        self.0
    }
}

fn main() -> triton::Result<()> {
    let stream = Device::cpu().stream()?;
    let mut x = stream.zeros::<i32>(256)?;
    let twice = Twice(x.view_mut([256])?);
    exchange(twice, twice).launch(&stream, 4)
}
