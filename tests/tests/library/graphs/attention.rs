//! Attention and its gradients.

use super::form::{Form, Sizes, first, form};
use crate::harness::Scalar;
use triton::prelude::*;
use triton_kernels::FloatElement;
use triton_kernels::attention::{attention, attention_backward};

pub(super) fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    of::<f32>(&mut forms, [1, 2, 1, 20, 33], 16);
    of::<f32>(&mut forms, [2, 1, 1, 7, 17], 40);
    of::<bf16>(&mut forms, [1, 2, 2, 16, 16], 64);
    forms
}

#[derive(Clone, Copy, Debug)]
enum Sees {
    All,
    Causal,
    Window,
}

fn of<T: FloatElement + Scalar>(forms: &mut Vec<Form>, sizes: [usize; 5], depth: usize) {
    let [batch, heads, key_heads, queries, keys] = sizes;
    let (of_q, of_k, rows) = ([batch, heads, queries, depth], [batch, key_heads, keys, depth], [batch, heads, queries]);
    let (q, k) = (of_q.iter().product(), of_k.iter().product());
    let sums = rows.iter().product();
    for sees in [Sees::All, Sees::Causal, Sees::Window] {
        let name = format!("{sizes:?} by {depth}, {sees:?}");
        let forward = Sizes { x: vec![q, k, k], y: vec![q], z: vec![sums], ..Sizes::default() };
        forms.push(form::<T>(format!("attention {name}"), forward, move |d, s| {
            let (k, v) = (d.x[1].view(of_k)?, d.x[2].view(of_k)?);
            let call = attention(d.x[0].view(of_q)?, k, v, d.y[0].view_mut(of_q)?).scale(0.25);
            match sees {
                Sees::All => call.lse(d.z[0].view_mut(rows)?).launch(s),
                Sees::Causal => call.causal().launch(s),
                Sees::Window => call.window((5, 2)).launch(s),
            }
        }));
        let backward = Sizes { x: vec![q, k, k, q, q], f: vec![sums], y: vec![q, k, k], ..Sizes::default() };
        forms.push(form::<T>(format!("attention_backward {name}"), backward, move |d, s| {
            let [dq, dk, dv] = first(&mut d.y);
            let (q, k, v) = (d.x[0].view(of_q)?, d.x[1].view(of_k)?, d.x[2].view(of_k)?);
            let (dq, dk, dv) = (dq.view_mut(of_q)?, dk.view_mut(of_k)?, dv.view_mut(of_k)?);
            let (o, lse, d_o) = (d.x[3].view(of_q)?, d.f[0].view(rows)?, d.x[4].view(of_q)?);
            let call = attention_backward(q, k, v, o, lse, d_o, dq, dk, dv).scale(0.25);
            match sees {
                Sees::All => call.launch(s),
                Sees::Causal => call.causal().launch(s),
                Sees::Window => call.window((5, 2)).launch(s),
            }
        }));
    }
}
