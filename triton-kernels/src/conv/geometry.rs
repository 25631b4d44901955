//! The numbers that the kernels of convolutions find their elements by.

use crate::divisor::Divisor;
use crate::grid::MOST;

/// The most parts of a reduction: the last program to arrive adds them one by one.
const MOST_SPLITS: usize = 32;

/// Fewest steps of a part, of which the first few only fill the ring of loads.
const LEAST_STEPS: usize = 8;

/// How many places a window has along an axis.
pub(super) fn places(extent: usize, window: usize, stride: usize, padding: usize, dilation: usize) -> usize {
    // A window without elements is everywhere, as an empty sum is.
    let reach = dilation * window.saturating_sub(1) + 1;
    (extent + 2 * padding).checked_sub(reach).map_or(0, |free| free / stride + 1)
}

/// The places of a window along one axis that an output sees: element i of the window's `count` is at `first + i · step` of the weights, and
/// reads `from + i · by` beyond the output's own place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taps {
    pub(super) count: usize,
    pub(super) first: i32,
    pub(super) step: i32,
    pub(super) from: i32,
    pub(super) by: i32,
}

impl Taps {
    /// Those of a convolution.
    pub(super) fn of_output(window: usize, padding: usize, dilation: usize) -> Taps {
        Taps { count: window, first: 0, step: 1, from: -(padding as i32), by: dilation as i32 }
    }

    /// Those of its transpose, for the inputs `phase + i · stride`: outputs (phase + i · stride + padding − r · dilation) / stride, for each r that
    /// gives a whole number. They are every stride / gcd(stride, dilation)-th.
    pub(super) fn of_input(window: usize, stride: usize, padding: usize, dilation: usize, phase: usize) -> Taps {
        let at = |r: usize| phase as i64 + padding as i64 - (r * dilation) as i64;
        let Some(first) = (0..window.min(stride)).find(|&r| at(r) % stride as i64 == 0) else {
            return Taps { count: 0, first: 0, step: 0, from: 0, by: 0 };
        };
        let step = stride / gcd(stride, dilation);
        Taps {
            count: (window - first).div_ceil(step),
            first: first as i32,
            step: step as i32,
            from: (at(first) / stride as i64) as i32,
            by: -((step * dilation / stride) as i32),
        }
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// How many programs share the reduction of a tile so that they fill the multiprocessors, and the steps of each. All of them have some.
pub(super) fn splits(asked: Option<usize>, tiles: usize, steps: usize, multiprocessors: usize) -> (usize, usize) {
    let wanted = asked.unwrap_or_else(|| {
        let free = (2 * multiprocessors / tiles.max(1)).clamp(1, MOST_SPLITS);
        free.min((steps / LEAST_STEPS).max(1))
    });
    chunks(wanted, steps)
}

/// The same of small tiles whose sums are cheap to add: as many programs as leave the fewest multiprocessors idle in the last wave, two of them on
/// each at least, and each split for a share of the time that adding it takes.
pub(super) fn even_splits(asked: Option<usize>, tiles: usize, steps: usize, multiprocessors: usize) -> (usize, usize) {
    let most = (steps / LEAST_STEPS).clamp(1, MOST_SPLITS);
    let share = |count: usize| {
        let programs = tiles.max(1) * count;
        let full = programs as f64 / programs.next_multiple_of(multiprocessors) as f64;
        let resident = (programs as f64 / (1.8 * multiprocessors as f64)).min(1.0);
        full * resident * (1.0 - 0.003 * count as f64)
    };
    let best = || (1..=most).max_by(|a, b| share(*a).total_cmp(&share(*b)));
    chunks(asked.or_else(best).unwrap_or(1), steps)
}

fn chunks(wanted: usize, steps: usize) -> (usize, usize) {
    let chunk = steps.div_ceil(wanted.clamp(1, MOST)).max(1);
    (steps.div_ceil(chunk).max(1), chunk)
}

/// The numbers of a kernel of convolutions.
#[triton::params]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    /// Places of an image.
    pub area: i32,
    pub area_magic: u32,
    pub area_shift: u32,
    /// Places of a row.
    pub width: i32,
    pub width_magic: u32,
    pub width_shift: u32,
    /// What a place is multiplied by.
    pub stride_h: i32,
    pub stride_w: i32,
    /// Steps along the channels, or the channels, that each element of the window has.
    pub deep: i32,
    pub deep_magic: u32,
    pub deep_shift: u32,
    /// Elements of a row of the window.
    pub across: i32,
    pub across_magic: u32,
    pub across_shift: u32,
    /// As [`Taps`].
    pub from_h: i32,
    pub by_h: i32,
    pub first_h: i32,
    pub step_h: i32,
    pub from_w: i32,
    pub by_w: i32,
    pub first_w: i32,
    pub step_w: i32,
    /// Where the place (0, 0) is in the output, and how far apart places are.
    pub out_h: i32,
    pub out_w: i32,
    pub out_step_h: i32,
    pub out_step_w: i32,
    /// Terms of an output: channels of all elements of the window.
    pub terms: i32,
    /// All steps of the reduction, and those of one program.
    pub steps: i32,
    pub chunk: i32,
}

impl Window {
    /// Of places `[P, Q]`, taps along both axes, and what each element of the window has of depth.
    pub(super) fn new(places: [usize; 2], stride: [usize; 2], taps: [Taps; 2], deep: usize) -> Window {
        let (area, width, across) = (places[0] * places[1], places[1], taps[1].count);
        let [by_area, by_width, by_deep, by_across] = [area, width, deep, across].map(Divisor::new);
        let [h, w] = taps;
        Window {
            area: area as i32,
            area_magic: by_area.magic,
            area_shift: by_area.shift,
            width: width as i32,
            width_magic: by_width.magic,
            width_shift: by_width.shift,
            stride_h: stride[0] as i32,
            stride_w: stride[1] as i32,
            deep: deep as i32,
            deep_magic: by_deep.magic,
            deep_shift: by_deep.shift,
            across: across as i32,
            across_magic: by_across.magic,
            across_shift: by_across.shift,
            from_h: h.from,
            by_h: h.by,
            first_h: h.first,
            step_h: h.step,
            from_w: w.from,
            by_w: w.by,
            first_w: w.first,
            step_w: w.step,
            out_h: 0,
            out_w: 0,
            out_step_h: 1,
            out_step_w: 1,
            terms: 0,
            steps: 0,
            chunk: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Taps, even_splits, places, splits};

    #[test]
    fn taps_of_inputs_are_those_of_outputs_the_other_way() {
        for (window, stride, padding, dilation) in (1..5).flat_map(|r| {
            (1..4).flat_map(move |st| (0..4).flat_map(move |pad| (1..4).map(move |dil| (r, st, pad, dil))))
        }) {
            let extent = 11;
            let forward = Taps::of_output(window, padding, dilation);
            let mut expected = Vec::new();
            for p in 0..places(extent, window, stride, padding, dilation) as i32 {
                for i in 0..window as i32 {
                    let h = p * stride as i32 + forward.from + i * forward.by;
                    if (0..extent as i32).contains(&h) {
                        expected.push((h, p, i));
                    }
                }
            }
            let mut found = Vec::new();
            for phase in 0..stride {
                let taps = Taps::of_input(window, stride, padding, dilation, phase);
                for (i, h) in (phase..extent).step_by(stride).enumerate() {
                    for tap in 0..taps.count as i32 {
                        let p = i as i32 + taps.from + tap * taps.by;
                        let r = taps.first + tap * taps.step;
                        assert!((0..window as i32).contains(&r));
                        if (0..places(extent, window, stride, padding, dilation) as i32).contains(&p) {
                            found.push((h as i32, p, r));
                        }
                    }
                }
            }
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "window {window} stride {stride} padding {padding} dilation {dilation}");
        }
    }

    #[test]
    fn even_splits_fill_the_multiprocessors() {
        // 144 tiles are two waves of one program each; 1584 programs are twelve full ones.
        assert_eq!(even_splits(None, 144, 1000, 132).0, 11);
        assert_eq!(even_splits(None, 18, 6272, 132).0, 22);
        assert_eq!(even_splits(None, 9, 1458, 132).0, 29);
        assert_eq!(even_splits(None, 528, 100, 132).0, 1);
        // 12 programs of each of 7 tiles fill 84.
        assert_eq!(even_splits(None, 7, 1000, 84).0, 24);
    }

    #[test]
    fn every_part_of_a_reduction_has_steps() {
        for (asked, tiles, steps) in
            [(None, 1, 1000), (None, 500, 10), (Some(7), 3, 20), (Some(64), 1, 5), (None, 1, 0)]
        {
            for (count, chunk) in [splits(asked, tiles, steps, 108), even_splits(asked, tiles, steps, 108)] {
                assert!(count >= 1 && count * chunk >= steps && (count - 1) * chunk <= steps.saturating_sub(1));
            }
        }
    }
}
