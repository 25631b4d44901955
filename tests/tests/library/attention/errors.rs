//! What attention refuses.

use crate::harness::{Case, refused};
use triton_kernels::attention::attention;

pub(super) fn cases() -> Vec<Case> {
    // q, k, v, o.
    let wrong: [([[usize; 4]; 4], &str); 3] = [
        (
            [[1, 3, 3, 16], [1, 2, 5, 16], [1, 2, 5, 16], [1, 3, 3, 16]],
            "`heads of q` is 3, but a multiple of the heads",
        ),
        (
            [[1, 3, 3, 16], [1, 0, 5, 16], [1, 0, 5, 16], [1, 3, 3, 16]],
            "`heads of q` is 3, but a multiple of the heads",
        ),
        ([[1, 1, 3, 257], [1, 1, 5, 257], [1, 1, 5, 257], [1, 1, 3, 257]], "a head of 257 elements is not supported"),
    ];
    let mut cases = Vec::new();
    for (i, (shapes, text)) in wrong.into_iter().enumerate() {
        cases.push(Case::new(format!("attention refuses {i}: {text}"), move |stream, _| {
            let x = stream.zeros::<f32>(4096)?;
            let mut o = stream.zeros::<f32>(4096)?;
            let [q, k, v] = [x.view(shapes[0])?, x.view(shapes[1])?, x.view(shapes[2])?];
            refused(attention(q, k, v, o.view_mut(shapes[3])?).launch(stream), &["`attention`", text])
        }));
    }
    cases
}
