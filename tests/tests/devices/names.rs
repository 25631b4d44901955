//! Names: a variable shadows a function, and a `#[triton::constant]` has its type in kernels and in functions alike.

use super::devices;
use triton::prelude::*;

#[triton::function]
fn scale(x: Tile<f32>) -> Tile<f32> {
    x * 2.0
}

#[triton::function]
fn half(x: f32) -> f32 {
    x * 0.5
}

/// A variable, a counter and a parameter of functions' names.
#[triton::function]
fn shadowed(x: Tile<f32>, half: f32) -> Tile<f32> {
    let y = scale(x);
    let scale = 3.0;
    y * scale * half
}

#[triton::kernel]
fn shadows(x: TensorMut<f32, 1>) {
    let first = half(4.0);
    let v = scale(x.load([0], [16]));
    let scale = v + first;
    for half in 0..1 {
        x.store([half], shadowed(scale, 0.5));
    }
}

#[test]
fn a_variable_shadows_a_function() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let mut x = stream.upload(&[1.0f32; 16])?;
        shadows(x.view_mut([16])?).launch(&stream, 1)?;
        // ((1 · 2) + 2) · 2 · 3 · 0.5.
        assert_eq!(stream.download(&x)?, [12.0; 16], "{device}");
    }
    Ok(())
}

#[triton::constant]
const STEP: f32 = 0.75;

#[triton::function]
fn of_constants(x: Tile<f32>) -> Tile<f32> {
    let mut sum = STEP;
    for _ in 0..3 {
        sum += 1.0;
    }
    x * (STEP * STEP) + (maximum(STEP, STEP) + -STEP + STEP.to::<f64>().to::<f32>() + sum)
}

#[triton::kernel]
fn constants(x: Tensor<f32, 1>, out: TensorMut<f32, 2>) {
    let v = x.load([0], [16]);
    let mut sum = STEP;
    for _ in 0..3 {
        sum += 1.0;
    }
    let own = v * (STEP * STEP) + (maximum(STEP, STEP) + -STEP + STEP.to::<f64>().to::<f32>() + sum);
    out.store([0, 0], own.expand_dims(0));
    out.store([1, 0], of_constants(v).expand_dims(0));
}

#[test]
fn a_constant_has_its_type_in_kernels_and_functions() -> triton::Result<()> {
    for device in devices() {
        let stream = device.stream()?;
        let (x, mut out) = (stream.upload(&[16.0f32; 16])?, stream.zeros::<f32>(32)?);
        constants(x.view([16])?, out.view_mut([2, 16])?).launch(&stream, 1)?;
        // 16 · 0.5625 + 0.75 + 3.75.
        assert_eq!(stream.download(&out)?, [13.5; 32], "{device}");
    }
    Ok(())
}
