//! What attention refuses.

use crate::harness::{Case, Outcome, refused};
use triton_kernels::attention::{attention, attention_backward};

pub(super) fn cases() -> Vec<Case> {
    // q, k, v, o.
    let wrong: [([[usize; 4]; 4], &str); 8] = [
        ([[2, 2, 3, 16], [1, 2, 5, 16], [1, 2, 5, 16], [2, 2, 3, 16]], "`k` has extent 1 along axis 0, but 2"),
        ([[1, 2, 3, 16], [1, 2, 5, 8], [1, 2, 5, 8], [1, 2, 3, 16]], "`k` has extent 8 along axis 3, but 16"),
        ([[1, 2, 3, 16], [1, 2, 5, 16], [1, 1, 5, 16], [1, 2, 3, 16]], "`v` has extent 1 along axis 1, but 2"),
        ([[1, 2, 3, 16], [1, 2, 5, 16], [1, 2, 4, 16], [1, 2, 3, 16]], "`v` has extent 4 along axis 2, but 5"),
        ([[1, 2, 3, 16], [1, 2, 5, 16], [1, 2, 5, 16], [1, 2, 4, 16]], "`o` has extent 4 along axis 2, but 3"),
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
    cases.push(Case::new("attention refuses another lse", |stream, _| -> Outcome {
        let x = stream.zeros::<f32>(64)?;
        let (mut o, mut lse) = (stream.zeros::<f32>(64)?, stream.zeros::<f32>(8)?);
        let view = x.view([1, 1, 4, 16])?;
        let call = attention(view, view, view, o.view_mut([1, 1, 4, 16])?).lse(lse.view_mut([1, 2, 4])?);
        refused(call.launch(stream), &["`lse` has extent 2 along axis 1, but 1 is expected; it is [Z, H, L]"])
    }));
    cases.push(Case::new("attention_backward refuses another dk", |stream, _| -> Outcome {
        let (x, lse) = (stream.zeros::<f32>(64)?, stream.zeros::<f32>(4)?);
        let (mut dq, mut dk, mut dv) = (stream.zeros::<f32>(64)?, stream.zeros::<f32>(64)?, stream.zeros::<f32>(64)?);
        let (shape, view) = ([1, 1, 4, 16], x.view([1, 1, 4, 16])?);
        let (dq, dk, dv) = (dq.view_mut(shape)?, dk.view_mut([1, 1, 2, 16])?, dv.view_mut(shape)?);
        let call = attention_backward(view, view, view, view, lse.view([1, 1, 4])?, view, dq, dk, dv);
        refused(call.launch(stream), &["`attention_backward`", "`dk` has extent 2 along axis 2, but 4"])
    }));
    cases
}
