//! Convolutions in `f64`, element by element.

use super::number::{Number, Total, totals};

/// The extents and options of a convolution: x is `[N, H, W, C]`, w is `[K, R, S, C / groups]`, y is `[N, P, Q, K]`.
#[derive(Clone, Copy, Debug)]
pub struct Conv {
    /// N, H, W, C.
    pub x: [usize; 4],
    /// K, R, S.
    pub w: [usize; 3],
    /// Of the places of the window.
    pub stride: [usize; 2],
    /// Zeros around the image.
    pub padding: [usize; 2],
    /// Of the elements of the window.
    pub dilation: [usize; 2],
    /// Of channels and filters.
    pub groups: usize,
}

impl Conv {
    /// P, Q.
    pub fn places(&self) -> [usize; 2] {
        [0, 1].map(|i| {
            // A window without elements is everywhere, as an empty sum is.
            let length = self.w[1 + i].saturating_sub(1) * self.dilation[i] + 1;
            (self.x[1 + i] + 2 * self.padding[i]).checked_sub(length).map_or(0, |free| free / self.stride[i] + 1)
        })
    }

    /// Every product of a convolution: the numbers of the elements of x, w and y that belong together.
    pub fn products(&self, mut each: impl FnMut(usize, usize, usize)) {
        let ([images, height, width, channels], [filters, r, s], [p, q]) = (self.x, self.w, self.places());
        let deep = channels / self.groups;
        let along = |place: usize, tap: usize, axis: usize, extent: usize| {
            let at = (place * self.stride[axis] + tap * self.dilation[axis]).checked_sub(self.padding[axis])?;
            (at < extent).then_some(at)
        };
        for place in 0..images * p * q {
            let (image, down, across) = (place / (p * q), place / q % p, place % q);
            for tap in 0..r * s {
                let h = along(down, tap / s, 0, height);
                let Some((h, w)) = h.zip(along(across, tap % s, 1, width)) else { continue };
                let pixel = (image * height + h) * width + w;
                for filter in 0..filters {
                    let first = filter / (filters / self.groups) * deep;
                    for channel in 0..deep {
                        let weight = (filter * r * s + tap) * deep + channel;
                        each(pixel * channels + first + channel, weight, place * filters + filter);
                    }
                }
            }
        }
    }

    /// y.
    pub fn forward(&self, x: &[f64], w: &[f64]) -> Vec<Number> {
        let [p, q] = self.places();
        let mut y = vec![Total::default(); self.x[0] * p * q * self.w[0]];
        self.products(|i, j, k| y[k].add_product(x[i], w[j]));
        totals(y)
    }

    /// dx.
    pub fn input_gradient(&self, dy: &[f64], w: &[f64]) -> Vec<Number> {
        let mut dx = vec![Total::default(); self.x.iter().product()];
        self.products(|i, j, k| dx[i].add_product(dy[k], w[j]));
        totals(dx)
    }

    /// dw.
    pub fn weight_gradient(&self, x: &[f64], dy: &[f64]) -> Vec<Number> {
        let mut dw = vec![Total::default(); self.w.iter().product::<usize>() * self.x[3] / self.groups];
        self.products(|i, j, k| dw[j].add_product(dy[k], x[i]));
        totals(dw)
    }
}

/// The shift-convolution of x `[N, H, W, C]` and w `[K, C]`.
pub fn shift_conv(
    x: &[f64],
    [images, height, width, channels]: [usize; 4],
    w: &[f64],
    shifts: &[(i32, i32)],
) -> Vec<Number> {
    let filters = w.len() / channels.max(1);
    let mut y = Vec::with_capacity(images * height * width * filters);
    for place in 0..images * height * width {
        let (image, p, q) = (place / (height * width), place / width % height, place % width);
        let moved: Vec<f64> = (0..channels)
            .map(|c| {
                let at = |place: usize, by: i32, extent: usize| {
                    usize::try_from(place as i64 + i64::from(by)).ok().filter(|at| *at < extent)
                };
                let pixel = at(p, shifts[c].0, height).zip(at(q, shifts[c].1, width));
                pixel.map_or(0.0, |(h, w)| x[((image * height + h) * width + w) * channels + c])
            })
            .collect();
        for filter in 0..filters {
            y.push((0..channels).map(|c| Number::from(moved[c]) * w[filter * channels + c]).sum());
        }
    }
    y
}
