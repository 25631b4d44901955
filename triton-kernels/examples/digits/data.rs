//! The handwritten digits: those to learn from, redrawn a little differently every time, and those to be tested with.

use std::error::Error;

/// Pixels along a side of an image.
pub const SIDE: usize = 8;

/// Pixels of an image.
pub const PIXELS: usize = SIDE * SIDE;

/// The digits from 0 to 9.
pub const CLASSES: usize = 10;

/// How many images, the last ones, nothing is learnt from. Other people wrote them.
const TEST: usize = 360;

/// `examples/data/README.md` says whose work this is.
const FILE: &[u8] = include_bytes!("../data/digits.csv.gz");

/// Images with their digits.
#[derive(Clone, Debug, Default)]
pub struct Digits {
    /// Row by row, 0 for paper and 1 for ink.
    pub pixels: Vec<f32>,
    /// What each image shows.
    pub labels: Vec<i32>,
}

impl Digits {
    /// The images to train with, and those to test with.
    pub fn load() -> Result<(Digits, Digits), Box<dyn Error + Send + Sync>> {
        let mut all = Digits::default();
        let mut rows = csv::ReaderBuilder::new().has_headers(false).from_reader(flate2::read::GzDecoder::new(FILE));
        for row in rows.deserialize() {
            let (pixels, label): (Vec<f32>, i32) = split(row?)?;
            all.pixels.extend(pixels.iter().map(|ink| ink / 16.0));
            all.labels.push(label);
        }
        let train = all.len().checked_sub(TEST).ok_or("too few images")?;
        let test = Digits { pixels: all.pixels.split_off(train * PIXELS), labels: all.labels.split_off(train) };
        Ok((all, test))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// The pixels of one image.
    pub fn image(&self, index: usize) -> &[f32] {
        &self.pixels[index * PIXELS..][..PIXELS]
    }

    /// The same images in another order, each as another hand might have drawn it.
    ///
    /// Without this, the network learns the hands of those who wrote the images for training, and reads nine tenths of the
    /// others' digits.
    pub fn redrawn(&self, random: &mut fastrand::Rng) -> Digits {
        let mut order: Vec<usize> = (0..self.len()).collect();
        random.shuffle(&mut order);
        Digits {
            pixels: order.iter().flat_map(|&index| redraw(self.image(index), random)).collect(),
            labels: order.iter().map(|&index| self.labels[index]).collect(),
        }
    }
}

/// A row of the file.
fn split(mut row: Vec<f32>) -> Result<(Vec<f32>, i32), String> {
    let label = row.pop().unwrap_or(-1.0) as i32;
    let valid = row.len() == PIXELS && (0..CLASSES as i32).contains(&label);
    if valid { Ok((row, label)) } else { Err(format!("a row of {} pixels for the digit {label}", row.len())) }
}

/// An image stretched, slanted and turned by a matrix near 1, moved by less than a pixel, and with some noise.
fn redraw(image: &[f32], random: &mut fastrand::Rng) -> [f32; PIXELS] {
    let mut about = |middle: f32, most: f32| middle + most * (2.0 * random.f32() - 1.0);
    let (xx, xy, yx, yy) = (about(1.0, 0.2), about(0.0, 0.2), about(0.0, 0.2), about(1.0, 0.2));
    let (right, down) = (about(0.0, 0.7), about(0.0, 0.7));
    let center = (SIDE - 1) as f32 / 2.0;
    std::array::from_fn(|pixel| {
        let (x, y) = ((pixel % SIDE) as f32 - center, (pixel / SIDE) as f32 - center);
        ink(image, xx * x + xy * y + right + center, yx * x + yy * y + down + center) + about(0.0, 0.2)
    })
}

/// The ink between the pixels, by linear interpolation; around the image is paper.
fn ink(image: &[f32], x: f32, y: f32) -> f32 {
    let (column, row) = (x.floor(), y.floor());
    let pixel = |column: f32, row: f32| {
        let inside = |i: f32| (0.0..SIDE as f32).contains(&i);
        if inside(column) && inside(row) { image[row as usize * SIDE + column as usize] } else { 0.0 }
    };
    let line = |row: f32| pixel(column, row) + (x - column) * (pixel(column + 1.0, row) - pixel(column, row));
    line(row) + (y - row) * (line(row + 1.0) - line(row))
}
