//! Convolutions of volumes.

use crate::harness::{Case, Operand, Order, Scalar, Subject, refused, same, subject, type_name};
use crate::reference::number::{Total, totals, values};
use triton::prelude::*;
use triton_kernels::FloatElement;
use triton_kernels::conv::{conv3d, conv3d_backward_input, conv3d_backward_weight};

pub(super) fn subjects() -> Vec<Subject> {
    vec![
        subject!(
            "conv3d", conv3d(&x, &w, &mut y).bias(&b); x [2, 4, 5, 6, 3], w [4, 2, 3, 3, 3], b [4], y [2, 3, 3, 4, 4],
        ),
        subject!(
            "conv3d_backward_input", conv3d_backward_input(&dy, &w, &mut dx);
            dy [2, 3, 3, 4, 4], w [4, 2, 3, 3, 3], dx [2, 4, 5, 6, 3],
        ),
        subject!(
            "conv3d_backward_weight", conv3d_backward_weight(&x, &dy, &mut dw);
            x [2, 4, 5, 6, 3], dy [2, 3, 3, 4, 4], dw [4, 2, 3, 3, 3],
        ),
    ]
}

/// x is \[N, D, H, W, C\], w is \[K, T, R, S, C\]; the rest is along D, H and W.
#[derive(Clone, Copy, Debug)]
struct Volume {
    x: [usize; 5],
    w: [usize; 4],
    stride: [usize; 3],
    padding: [usize; 3],
    dilation: [usize; 3],
}

impl Volume {
    fn output(&self) -> [usize; 5] {
        let places = [0, 1, 2].map(|i| {
            let reach = (self.w[1 + i] - 1) * self.dilation[i] + 1;
            (self.x[1 + i] + 2 * self.padding[i]).checked_sub(reach).map_or(0, |free| free / self.stride[i] + 1)
        });
        [self.x[0], places[0], places[1], places[2], self.w[0]]
    }

    fn weights(&self) -> [usize; 5] {
        let [k, t, r, s] = self.w;
        [k, t, r, s, self.x[4]]
    }

    /// The numbers of the elements of x, w and y that belong together.
    fn products(&self, mut each: impl FnMut(usize, usize, usize)) {
        let ([n, d, h, w, c], [k, t, r, s], [_, o, p, q, _]) = (self.x, self.w, self.output());
        for place in 0..n * o * p * q {
            let at = [place / (p * q) % o, place / q % p, place % q];
            for tap in 0..t * r * s {
                let of = [tap / (r * s), tap / s % r, tap % s];
                let along = |axis: usize, extent: usize| {
                    let at = (at[axis] * self.stride[axis] + of[axis] * self.dilation[axis])
                        .checked_sub(self.padding[axis])?;
                    (at < extent).then_some(at)
                };
                let (Some(z), Some(y), Some(x)) = (along(0, d), along(1, h), along(2, w)) else { continue };
                let pixel = ((place / (o * p * q) * d + z) * h + y) * w + x;
                for filter in 0..k {
                    for channel in 0..c {
                        each(pixel * c + channel, (filter * t * r * s + tap) * c + channel, place * k + filter);
                    }
                }
            }
        }
    }
}

const VOLUMES: [Volume; 9] = [
    Volume { x: [2, 5, 6, 7, 3], w: [4, 3, 3, 3], stride: [1; 3], padding: [1; 3], dilation: [1; 3] },
    Volume { x: [1, 7, 6, 5, 16], w: [8, 3, 3, 3], stride: [2; 3], padding: [1; 3], dilation: [1; 3] },
    Volume { x: [2, 6, 5, 4, 8], w: [5, 2, 1, 3], stride: [3, 1, 2], padding: [2, 0, 1], dilation: [1, 1, 2] },
    Volume { x: [1, 8, 3, 4, 2], w: [3, 3, 2, 2], stride: [2, 1, 1], padding: [0, 1, 0], dilation: [2, 1, 1] },
    Volume { x: [2, 1, 5, 5, 4], w: [4, 1, 3, 3], stride: [1; 3], padding: [0, 1, 1], dilation: [1; 3] },
    Volume { x: [1, 4, 3, 3, 24], w: [17, 1, 1, 1], stride: [1; 3], padding: [0; 3], dilation: [1; 3] },
    Volume { x: [1, 2, 3, 3, 4], w: [4, 5, 1, 1], stride: [1; 3], padding: [4, 0, 0], dilation: [1; 3] },
    Volume { x: [0, 4, 3, 3, 4], w: [4, 3, 1, 1], stride: [1; 3], padding: [0; 3], dilation: [1; 3] },
    Volume { x: [2, 3, 3, 3, 0], w: [4, 2, 2, 2], stride: [1; 3], padding: [0; 3], dilation: [1; 3] },
];

const ORDERS: [Order; 5] = [Order::Rows, Order::Columns, Order::Odd, Order::Apart, Order::Planes];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (i, of) in VOLUMES.into_iter().enumerate() {
        case::<f32>(&mut cases, of, i);
        case::<f16>(&mut cases, of, i + 1);
        case::<bf16>(&mut cases, of, i + 2);
    }
    cases.push(Case::new("conv3d refuses another depth", |stream, _| {
        let (x, w) = (stream.tensor_zeros::<f32, _>([1, 4, 3, 3, 2])?, stream.tensor_zeros::<f32, _>([2, 2, 1, 1, 2])?);
        let mut y = stream.tensor_zeros::<f32, _>([1, 4, 3, 3, 2])?;
        refused(conv3d(&x, &w, &mut y).launch(stream), &["`conv3d`: `y` has extent 4 along axis 1, but 3"])?;
        let mut y = stream.tensor_zeros::<f32, _>([1, 3, 3, 2, 2])?;
        refused(conv3d(&x, &w, &mut y).launch(stream), &["`conv3d`: `y` has extent 2 along axis 3, but 3"])?;
        refused(conv3d(&x, &w, &mut y).stride((0, 1, 1)).launch(stream), &["`conv3d`: `stride` is 0"])
    }));
    cases
}

fn case<T: FloatElement + Scalar>(cases: &mut Vec<Case>, of: Volume, turn: usize) {
    let orders =
        if turn.is_multiple_of(3) { [ORDERS[0]; 3] } else { [turn, turn / 2, turn / 3].map(|i| ORDERS[i % 5]) };
    let triple = |[d, h, w]: [usize; 3]| (d, h, w);
    let [stride, padding, dilation] = [of.stride, of.padding, of.dilation].map(triple);
    cases.push(Case::new(format!("conv3d {} {of:?} {orders:?}", type_name::<T>()), move |stream, random| {
        let x = Operand::<T, 5>::whole(of.x, orders[0], random, 1);
        let w = Operand::<T, 5>::whole(of.weights(), orders[1], random, 1);
        let dy = Operand::<T, 5>::whole(of.output(), orders[2], random, 1);
        let y = Operand::<T, 5>::output(of.output(), orders[2]);
        let dx = Operand::<T, 5>::output(of.x, orders[0]);
        let dw = Operand::<T, 5>::output(of.weights(), orders[1]);
        let (mx, mw, mdy) = (x.upload(stream)?, w.upload(stream)?, dy.upload(stream)?);
        let (mut my, mut mdx, mut mdw) = (y.upload(stream)?, dx.upload(stream)?, dw.upload(stream)?);
        let conv = conv3d(x.view(&mx)?, w.view(&mw)?, y.view_mut(&mut my)?);
        conv.stride(stride).padding(padding).dilation(dilation).launch(stream)?;
        let back = conv3d_backward_input(dy.view(&mdy)?, w.view(&mw)?, dx.view_mut(&mut mdx)?);
        back.stride(stride).padding(padding).dilation(dilation).launch(stream)?;
        let back = conv3d_backward_weight(x.view(&mx)?, dy.view(&mdy)?, dw.view_mut(&mut mdw)?);
        back.stride(stride).padding(padding).dilation(dilation).launch(stream)?;
        let (xs, ws, dys) = (x.values(), w.values(), dy.values());
        let [mut ey, mut edx, mut edw] = [&dys, &xs, &ws].map(|of| vec![Total::default(); of.len()]);
        of.products(|i, j, k| {
            ey[k].add_product(xs[i], ws[j]);
            edx[i].add_product(dys[k], ws[j]);
            edw[j].add_product(dys[k], xs[i]);
        });
        let rounded = |of| values(&totals(of)).into_iter().map(|value| T::of(value).value()).collect::<Vec<_>>();
        same("y", &y.download(stream, &my)?, &rounded(ey))?;
        same("dx", &dx.download(stream, &mdx)?, &rounded(edx))?;
        same("dw", &dw.download(stream, &mdw)?, &rounded(edw))
    }));
}
