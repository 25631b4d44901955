//! Launches whose member a selector chooses after it has run others: the arguments are as if one had run.

use super::devices;
use std::sync::Mutex;
use triton::prelude::*;
use triton::selection::{Call, Selector};

/// x = x + the previous element of row 0 of `by`, times `times`, in place: running it twice is seen.
#[triton::kernel(BLOCK = [32, 64], tune = [BLOCK, times], times = [1, 3])]
fn shifted<const BLOCK: i32>(
    x: TensorMut<i32, 2>,
    by: Tensor<bf16, 2>,
    #[no_specialize] other: i32,
    bias: i32,
    times: i32,
) {
    let (row, i) = (program_id(1), program_id(0) * BLOCK);
    let v = by.load([0, i], [1, BLOCK]).to::<i32>();
    x.store([row, i], x.load([row, i], [1, BLOCK]) + (v + bias + other) * times);
}

/// Runs all members that fit, in turn, on the arguments as they were; keeps what it was told.
#[derive(Default)]
struct Trying(Mutex<Vec<String>>);

impl Selector for Trying {
    fn select(&self, call: &mut Call<'_>) -> triton::Result<Option<usize>> {
        let mut told = self.0.lock().expect("no thread panics");
        told.push(format!("{} {:?}", call.pool(), call.key()));
        assert!(call.save()?, "the length of a view is known");
        let values = |call: &mut Call<'_>| -> triton::Result<Vec<Vec<f64>>> {
            call.outputs()?.iter().map(|output| output.values(call.stream())).collect()
        };
        let before = values(call)?;
        let mut last = None;
        for index in (0..call.members()).filter(|&index| call.fits(index)).collect::<Vec<_>>() {
            call.launch(index)?;
            assert_ne!(values(call)?, before);
            call.restore()?;
            assert_eq!(values(call)?, before);
            last = Some(index);
            told.push(call.name(index));
        }
        Ok(last)
    }
}

#[test]
fn members_run_in_turn_and_one_remains() -> triton::Result<()> {
    let (rows, columns) = (3usize, 70usize);
    let numbers: Vec<i32> = (0..2 * rows * columns).map(|i| i as i32).collect();
    for device in devices() {
        let stream = device.stream()?;
        let mut x = stream.upload(&numbers)?;
        let by = stream.upload(&vec![bf16::from_f32(2.0); columns])?;
        let trying = Trying::default();
        // Every second element: those between are written back to what they are.
        let view = x.view_mut([rows, columns])?.with_strides([2 * columns as isize, 2])?;
        shifted_tuned(view, by.view([1, columns])?, 10, 100)
            .legal(|choice| choice.BLOCK == 64)
            .with(&trying)
            .launch(&stream, |choice| (columns.div_ceil(choice.BLOCK as usize), rows))?;
        let expected: Vec<i32> = numbers.iter().map(|v| if v % 2 == 0 { v + 3 * 112 } else { *v }).collect();
        assert_eq!(stream.download(&x)?, expected, "{device}");
        let told = trying.0.into_inner().expect("no thread panicked");
        // Extents and the contiguous axis of each view, and the integers but the one that is not specialized.
        assert_eq!(told[0], "shifted [3, 70, -1, 1, 70, 1, 100, 0]", "{device}");
        assert_eq!(
            told[1..],
            [1, 3].map(|times| format!("BLOCK=64 times={times} num_warps=4 num_stages=3")),
            "{device}"
        );
    }
    Ok(())
}
