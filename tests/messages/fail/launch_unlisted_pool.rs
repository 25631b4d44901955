//! A pool of a type that no list has.
use triton::prelude::*;

#[triton::kernel(T = [f32, f16], BLOCK = [256, 1024], tune = [BLOCK])]
fn copy<T: Num, const BLOCK: i32>(x: Tensor<T, 1>, out: TensorMut<T, 1>) {
    let i = program_id(0) * BLOCK;
    out.store([i], x.load([i], [BLOCK]));
}

fn generic<T: Num>(stream: &Stream, x: &Buffer<T>, out: &mut Buffer<T>) {
    let tuned = copy_tuned(x.view([4]).unwrap(), out.view_mut([4]).unwrap());
    tuned.launch(stream, |choice| 4 / choice.BLOCK as usize).unwrap();
}

fn main() {
    let stream = Device::cpu().stream().unwrap();
    let x = stream.zeros::<f64>(4).unwrap();
    let mut out = stream.zeros::<f64>(4).unwrap();
    let _ = copy_tuned(x.view([4]).unwrap(), out.view_mut([4]).unwrap());
    let _ = copy_tuned::<f32>(1.0, out.view_mut([4]).unwrap());
}
