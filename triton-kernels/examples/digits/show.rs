//! Images as text.

use crate::data::{Digits, SIDE};
use std::fmt::Write;

/// Images beside each other, two rows of pixels to a line, and below them what the network says.
pub fn row(digits: &Digits, guess: &[i32], indices: &[usize]) -> String {
    let mut text = String::new();
    for line in 0..SIDE / 2 {
        for &index in indices {
            let dark = |x: usize, y: usize| digits.image(index)[y * SIDE + x] > 0.4;
            let pixels = (0..SIDE).map(|x| match (dark(x, 2 * line), dark(x, 2 * line + 1)) {
                (false, false) => ' ',
                (true, false) => '▀',
                (false, true) => '▄',
                (true, true) => '█',
            });
            text.extend(pixels.chain("  ".chars()));
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    for &index in indices {
        let (guess, label) = (guess[index], digits.labels[index]);
        let said = if guess == label { format!("{guess}") } else { format!("{guess}, not {label}") };
        // Writing to a `String` does not fail.
        let _ = write!(text, "{said:^SIDE$}  ");
    }
    text
}
