//! `plot`: a run of `compare` as a chart, a bar for each case: our rate over the fastest peer's, with its range over the blocks.

use crate::case::{Case, Op};
use crate::stats::Spread;
use crate::{Outcome, state};
use clap::Args;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde::Deserialize;
use std::path::PathBuf;

/// Options of `plot`.
#[derive(Args, Debug)]
pub struct Options {
    /// What `compare --json` wrote
    from: PathBuf,
    /// File for the chart, as SVG
    to: PathBuf,
}

/// What a chart needs of a run.
#[derive(Deserialize)]
struct Run {
    sides: Vec<Side>,
    seed: u64,
    blocks: usize,
    /// Distribution of the inputs.
    #[serde(default)]
    inputs: String,
    gpu_state: Vec<String>,
    cases: Vec<Case>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Side {
    side: String,
    device: String,
}

#[derive(Deserialize)]
struct Row {
    case: String,
    of_peer: Option<(String, Spread)>,
}

/// A bar.
struct Bar {
    case: String,
    peer: String,
    ratio: Spread,
}

/// Bars under one heading.
struct Family {
    name: String,
    bars: Vec<Bar>,
}

/// Draws a run.
///
/// # Errors
/// If a file cannot be read or written, is not a run, or has no row with a peer.
pub fn plot(options: &Options) -> Outcome {
    let at = |error: &dyn std::fmt::Display| format!("{}: {error}", options.from.display());
    let text = std::fs::read_to_string(&options.from).map_err(|e| at(&e))?;
    let run: Run = serde_json::from_str(&text).map_err(|e| at(&format!("not what `compare --json` writes: {e}")))?;
    let families = families(&run);
    if families.is_empty() {
        return Err(at(&"no row of ours has a peer").into());
    }
    let svg = svg(&run, &families).map_err(|e| format!("{}: {e}", options.to.display()))?;
    std::fs::write(&options.to, svg).map_err(|e| format!("{}: {e}", options.to.display()))?;
    let bars: usize = families.iter().map(|family| family.bars.len()).sum();
    println!("written: {}, {bars} bars", options.to.display());
    Ok(())
}

/// The rows that have a peer, in families in the order of their first cases.
fn families(run: &Run) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for row in &run.rows {
        let (Some((peer, ratio)), Some(case)) = (&row.of_peer, run.cases.iter().find(|case| case.name == row.case))
        else {
            continue;
        };
        let bar = Bar { case: row.case.clone(), peer: peer.clone(), ratio: *ratio };
        let name = family(case);
        match families.iter_mut().find(|family| family.name == name) {
            Some(family) => family.bars.push(bar),
            None => families.push(Family { name, bars: vec![bar] }),
        }
    }
    families
}

fn family(case: &Case) -> String {
    let kind = if case.tf32 { "tf32" } else { case.dtype.name() };
    match case.op {
        Op::Copy | Op::Add => "elementwise".to_string(),
        Op::Softmax | Op::Cumsum | Op::LayerNorm | Op::RmsNorm => "rows".to_string(),
        Op::Transpose => "transposes".to_string(),
        Op::Matmul => format!("matrix products of {kind}"),
        Op::Linear | Op::Attention => "products with more in them".to_string(),
    }
}

/// Pixels: the width, the part of it for names, that for numbers, the height of a line, of the title, and of the scale.
const WIDTH: u32 = 1000;
const NAMES: i32 = 260;
const NUMBERS: i32 = 130;
const LINE: i32 = 18;
const TITLE: i32 = 82;
const SCALE: i32 = 34;

/// Of the bars of each family in turn: dark enough for whiskers in grey and for a white page.
const COLOURS: [RGBColor; 6] = [
    RGBColor(66, 133, 180),
    RGBColor(222, 143, 62),
    RGBColor(95, 160, 95),
    RGBColor(170, 110, 170),
    RGBColor(190, 95, 95),
    RGBColor(120, 120, 120),
];

const INK: RGBColor = RGBColor(34, 34, 34);
const GRID: RGBColor = RGBColor(216, 216, 216);

/// The largest ratio of the scale: bars end there, and their numbers say how long they are.
const MOST: f64 = 2.0;

/// The chart's text.
fn svg(run: &Run, families: &[Family]) -> Result<String, Box<dyn std::error::Error>> {
    let lines: i32 = families.iter().map(|family| 1 + i32::try_from(family.bars.len()).unwrap_or(0)).sum();
    let height = TITLE + LINE * lines + SCALE;
    let bars = || families.iter().flat_map(|family| &family.bars);
    let longest = bars().map(|bar| bar.ratio.max).fold(1.0, f64::max);
    // A scale of whole quarters, with room after the longest bar.
    let most = ((longest * 1.02 * 4.0).ceil() / 4.0).min(MOST);
    let (left, right) = (NAMES, WIDTH as i32 - NUMBERS);
    let x = |ratio: f64| left + (ratio.clamp(0.0, most) / most * f64::from(right - left)).round() as i32;

    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height.unsigned_abs())).into_drawing_area();
        area.fill(&WHITE)?;
        let write = |words: &str, at: (i32, i32), size: i32, side: HPos| {
            let style = ("sans-serif", size).into_font().color(&INK).pos(Pos::new(side, VPos::Center));
            area.draw(&Text::new(words.to_string(), at, style))
        };
        let device = run.sides.iter().find(|side| side.side == "ours").map_or("", |side| side.device.as_str());
        write(&format!("Rate of ours over that of the fastest peer, {device}"), (12, 18), 21, HPos::Left)?;
        let mut about = format!("median and range over {} blocks, seed {}", run.blocks, run.seed);
        if !run.inputs.is_empty() {
            about += &format!(", inputs {}", run.inputs);
        }
        write(&about, (12, 42), 15, HPos::Left)?;
        write(&state::summary(&run.gpu_state).unwrap_or_default(), (12, 60), 15, HPos::Left)?;

        let bottom = height - SCALE;
        let vertical = |ratio: f64, colour: &RGBColor, width: u32| {
            let points = vec![(x(ratio), TITLE - 6), (x(ratio), bottom)];
            area.draw(&PathElement::new(points, colour.stroke_width(width)))
        };
        for quarter in 0..=(most * 4.0) as u32 {
            let ratio = f64::from(quarter) / 4.0;
            vertical(ratio, &GRID, 1)?;
            write(&format!("{ratio:.2}"), (x(ratio), bottom + 14), 15, HPos::Center)?;
        }
        let mut y = TITLE;
        for (family, colour) in families.iter().zip(COLOURS.iter().cycle()) {
            write(&family.name, (12, y + LINE / 2), 17, HPos::Left)?;
            y += LINE;
            for bar in &family.bars {
                let (middle, Spread { median, min, max }) = (y + LINE / 2, bar.ratio);
                write(&bar.case, (left - 8, middle), 15, HPos::Right)?;
                area.draw(&Rectangle::new([(left, y + 3), (x(median), y + LINE - 3)], colour.filled()))?;
                let whisker = INK.stroke_width(1);
                area.draw(&PathElement::new(vec![(x(min), middle), (x(max), middle)], whisker))?;
                for end in [min, max] {
                    let points = vec![(x(end), middle - 3), (x(end), middle + 3)];
                    area.draw(&PathElement::new(points, whisker))?;
                }
                write(&format!("{median:.3} {}", bar.peer), (right + 8, middle), 15, HPos::Left)?;
                y += LINE;
            }
        }
        // Over the bars, since it is what they are compared with.
        vertical(1.0, &INK, 2)?;
        area.present()?;
    }
    Ok(text)
}
