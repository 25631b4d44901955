//! The library over memory that is not a buffer's: slices of the host on the CPU device. On a GPU `tests/crates/cudarc` does the same.

#[path = "../../tests/crates/cudarc/src/operations.rs"]
mod operations;

use operations::{READ, WRITTEN, numbers};
use triton::prelude::*;
use triton_kernels::Result;

#[test]
fn slices_of_the_host_give_the_same_bits() -> Result<()> {
    let device = Device::cpu();
    let stream = device.stream()?;
    // Also at addresses that are a multiple of an element alone, for which operations choose other code.
    for shift in [0, 1] {
        let (mut read, mut written) = (vec![f32::NAN; shift], vec![0.0f32; shift + WRITTEN]);
        read.extend(numbers());
        let (x, mut y) = (stream.tensor(&read, [shift + READ])?, stream.tensor_zeros([shift + WRITTEN])?);
        operations::run(&stream, x.narrow(0, shift..)?, y.narrow_mut(0, shift..)?)?;
        let expected = stream.download(&y)?;

        let x = View::from_slice(&device, &read[shift..], [READ])?;
        operations::run(&stream, x, ViewMut::from_slice(&device, &mut written[shift..], [WRITTEN])?)?;
        let differs = (0..shift + WRITTEN).find(|&i| written[i].to_bits() != expected[i].to_bits());
        assert_eq!(differs, None, "shifted by {shift} elements");
        assert!(expected.iter().filter(|x| **x != 0.0).count() > WRITTEN / 2, "operations write");
    }
    Ok(())
}
