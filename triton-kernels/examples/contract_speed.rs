//! Times contractions on a GPU: `cargo run --release -p triton-kernels --example contract_speed`. With `--list` it prints the rows instead, as
//! `contract_speed.py` reads them to time the same by PyTorch.
//!
//! `sd1_7` and `sd2_3` are terms of coupled-cluster methods, over the four data sets of the thesis on tensor contractions in Futhark (2024, chapter 5):
//! extents of 32; 31 where they are summed over; 31 everywhere; 16, with a long sum. `MM0` to `MM3` are the orders of one product. For each row
//! there are the time of what the library selects, and of the best of its tiles.

mod timer;

use timer::{Timer, numbers};
use triton::{Device, bf16};
use triton_kernels::FloatElement;
use triton_kernels::Result;
use triton_kernels::contract::contract;
use triton_kernels::contract::{Computed, Modes, ModesMut};

/// A contraction: its name, its notation, and its letters with their extents.
struct Row {
    name: String,
    text: &'static str,
    extents: Vec<(char, usize)>,
}

impl Row {
    fn new(name: impl Into<String>, text: &'static str, extent: impl Fn(char) -> usize) -> Row {
        let mut extents: Vec<(char, usize)> = Vec::new();
        for letter in text.chars().filter(|c| c.is_alphabetic()) {
            if !extents.iter().any(|(of, _)| *of == letter) {
                extents.push((letter, extent(letter)));
            }
        }
        Row { name: name.into(), text, extents }
    }

    /// The shapes of x, y and z.
    fn shapes(&self) -> [Vec<usize>; 3] {
        let of = |letter: char| self.extents.iter().find(|(of, _)| *of == letter).map(|(_, extent)| *extent);
        let mut parts = self.text.split([',', '>']);
        std::array::from_fn(|_| parts.next().unwrap_or_default().chars().filter_map(of).collect())
    }

    /// Additions and multiplications.
    fn operations(&self) -> f64 {
        2.0 * self.extents.iter().map(|(_, extent)| *extent as f64).product::<f64>()
    }
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, text) in [("sd1_7", "icaq,qbjk->abcijk"), ("sd2_3", "kiaq,bcjq->abcijk")] {
        for (i, [free, summed]) in [[32, 32], [32, 31], [31, 31], [16, 2048]].into_iter().enumerate() {
            let extent = move |letter| if letter == 'q' { summed } else { free };
            rows.push(Row::new(format!("{name} d{}", i + 1), text, extent));
        }
    }
    for (i, text) in ["aq,bq->ab", "aq,qb->ab", "qa,bq->ab", "qa,qb->ab"].into_iter().enumerate() {
        rows.push(Row::new(format!("MM{i}"), text, |_| 4096));
    }
    rows.push(Row::new("two sums", "acbd,dbec->ae", |letter| if "ae".contains(letter) { 4096 } else { 16 }));
    rows.push(Row::new("batched", "abik,jkba->abij", |letter| if "ab".contains(letter) { 16 } else { 256 }));
    rows.push(Row::new("vector", "abcd,b->acd", |letter| if letter == 'b' { 64 } else { 160 }));
    rows
}

fn time<T: FloatElement>(timer: &mut Timer, kind: &str, row: &Row, of: fn(f32) -> T) -> Result<()> {
    let stream = timer.stream.clone();
    let [of_x, of_y, of_z] = row.shapes();
    let size = |shape: &[usize]| shape.iter().product::<usize>();
    let (x, y) = (numbers(&stream, [size(&of_x)], of)?, numbers(&stream, [size(&of_y)], of)?);
    let mut z = stream.zeros::<T>(size(&of_z))?;
    let mut run = |tile: Option<[usize; 3]>| {
        timer.time(|stream| {
            let (x, y) = (Modes::new(x.buffer(), &of_x, None), Modes::new(y.buffer(), &of_y, None));
            let launch = contract(row.text, x, y, ModesMut::new(&mut z, &of_z, None));
            if let Some(tile) = tile { launch.tile(tile).launch(stream) } else { launch.launch(stream) }
        })
    };
    let selected = run(None)?;
    let mut out = stream.uninit::<T>(size(&of_z))?;
    let launch = contract(
        row.text,
        Modes::new(x.buffer(), &of_x, None),
        Modes::new(y.buffer(), &of_y, None),
        ModesMut::new(&mut out, &of_z, None),
    );
    let (plan, tiles) = (launch.plan(&stream)?, launch.tiles(&stream)?);
    let mut timed = Vec::new();
    for tile in tiles {
        timed.push((run(Some(tile))?, tile));
    }
    let by = match &plan {
        Computed::Tile(plan) => plan.instance.to_string(),
        Computed::Product(_) => "gemm".to_string(),
        Computed::Nothing => "nothing".to_string(),
    };
    let rate = |ms: f64| row.operations() / ms / 1e9;
    print!("{:10} {kind:4} {selected:9.3} ms {:7.1} TFLOPS by {by}", row.name, rate(selected));
    if let Some((best, [m, n, k])) = timed.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)) {
        print!("; best tile {m}x{n}x{k} {best:.3} ms, {:.2} of it", best / selected);
    }
    println!("\n    {plan}");
    Ok(())
}

fn main() -> Result<()> {
    if std::env::args().any(|arg| arg == "--list") {
        for Row { name, text, extents } in rows() {
            let extents: Vec<String> = extents.iter().map(|(letter, extent)| format!("{letter}={extent}")).collect();
            println!("{name}\t{text}\t{}", extents.join(" "));
        }
        return Ok(());
    }
    let device: Device = "cuda".parse()?;
    println!("{device}");
    let mut timer = Timer::new(&device)?;
    for row in rows() {
        time::<f32>(&mut timer, "f32", &row, |x| x)?;
        time::<bf16>(&mut timer, "bf16", &row, bf16::from_f32)?;
    }
    Ok(())
}
