//! What is chosen for a product, why, and that a product which was seen before is chosen for without allocating.
#![cfg(feature = "linear")]

use triton::prelude::*;
use triton_kernels::linear::gemm;

#[test]
fn a_known_product_is_chosen_without_allocating() -> triton_kernels::Result<()> {
    let stream = Device::cpu().stream()?;
    let (x, mut y) = (stream.zeros::<f32>(1 << 16)?, stream.zeros::<f32>(1 << 16)?);
    let mut bytes = || {
        let product = gemm(x.view([256, 256])?, x.view([256, 64])?, y.view_mut([256, 64])?);
        product.scratch_bytes(&stream)
    };
    let first = bytes()?;
    let mut again = Ok(0);
    let info = allocation_counter::measure(|| again = bytes());
    assert_eq!((again?, info.count_total), (first, 0));
    Ok(())
}

/// What is chosen for a · bᵀ of `bf16`, whose a begins at an element, and why.
fn chosen(
    stream: &Stream,
    offset: usize,
    [m, n, k]: [usize; 3],
    instance: Option<&str>,
) -> triton_kernels::Result<(String, String)> {
    let (x, mut y) = (stream.zeros::<bf16>(m * k + n * k + offset)?, stream.zeros::<bf16>(m * n)?);
    let mut answer = (String::new(), String::new());
    for asks_why in [false, true] {
        let (a, b) = (x.slice(offset..)?.view([m, k])?, x.view([n, k])?.transpose());
        let product = gemm(a, b, y.view_mut([m, n])?);
        let product = if let Some(name) = instance { product.instance(name) } else { product };
        if asks_why {
            answer.1 = product.reason(stream)?;
        } else {
            answer.0 = product.selected(stream)?;
        }
    }
    Ok(answer)
}

#[test]
fn choices_and_their_reasons() -> triton_kernels::Result<()> {
    let stream = Device::cpu().stream()?;
    let (instance, reason) = chosen(&stream, 0, [1024, 16, 1024], None)?;
    assert_eq!(
        (instance.as_str(), reason.as_str()),
        ("64x16x256", "measured: 1 wave of 132 programs, 0.12 of them used")
    );
    // Rows that do not begin at multiples of 16 bytes run other code, of which nothing was measured.
    for (offset, shape) in [(1, [1024, 16, 1024]), (0, [1024, 16, 1023])] {
        let (_, reason) = chosen(&stream, offset, shape, None)?;
        assert!(!reason.starts_with("measured") && !reason.starts_with("by the model"), "{offset} {shape:?}: {reason}");
    }
    let asked_for = chosen(&stream, 0, [1024, 16, 1024], Some("64x64x64"))?;
    let reason = "asked for: 1 wave of 132 programs, 0.03 of them used";
    assert_eq!(asked_for, ("64x64x64".to_string(), reason.to_string()));
    Ok(())
}
